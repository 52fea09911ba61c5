"""``train`` on a Dask cluster: check the keywords, then call :mod:`pi_xgb._dask.cluster`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import xgboost.dask

from .._core.engines import ENGINES, Engine
from .._core.keywords import DEFAULT_METHOD, Keywords, MethodName
from .._rows.checks import check_choice
from .._xgb.signature import keyword_names
from .cluster import train_async
from .rows import this_client

_XGBOOST_KEYWORDS = {"num_boost_round", *keyword_names(xgboost.dask.train)} - {"obj"}


def train(
    client: Any,
    params: Any,
    dtrain: Any,
    num_boost_round: int = 10,
    *,
    privileged: Any = None,
    method: MethodName = DEFAULT_METHOD,
    teacher: Any = None,
    teacher_sees: Literal["privileged", "all"] | None = None,
    crossfit: int | None = None,
    kl_weight: float | None = None,
    teacher_params: Any = None,
    privileged_evals: Sequence[tuple[Any, str]] | None = None,
    allow_overlap: bool = False,
    labelled: Any = None,
    teacher_weight: Any = None,
    crossfit_groups: Any = None,
    engine: Engine = "auto",
    evals: Sequence[tuple[Any, str]] | None = None,
    obj: Any = None,
    early_stopping_rounds: int | None = None,
    xgb_model: Any = None,
    verbose_eval: bool | int = True,
    callbacks: Sequence[Any] | None = None,
    custom_metric: Any = None,
    coll_cfg: Any = None,
) -> Any:
    """Train on a Dask cluster with a teacher that sees privileged columns.

    It is ``xgboost.dask.train`` with the teaching keywords of :func:`pi_xgb.train`. Without ``privileged`` and
    ``teacher`` it calls ``xgboost.dask.train``.

    Parameters
    ----------
    client : distributed.Client or None
        The ``distributed.Client``; None means the current one. With an asynchronous client the call is awaited.
    params, num_boost_round : as for :func:`pi_xgb.train`
        Each worker uses its Dask threads, unless ``nthread`` is set.
    dtrain : xgboost.dask.DaskDMatrix
        A ``DaskDMatrix`` or ``DaskQuantileDMatrix`` of the classifier features, with labels (and weights, or ``qid``,
        with all rows of a query on one worker).
    privileged : xgboost.dask.DaskDMatrix, default=None
        A ``DaskDMatrix`` of the privileged features and the same labels, in the same partitions.
    method, kl_weight, teacher_sees, teacher_params, allow_overlap, engine : as for :func:`pi_xgb.train`
    teacher : {"boosted", "forest", "linear", "mixed"}, estimator, collection, array-like, Teacher or list, default=None
        A teacher to be trained, on ``privileged`` or, without it, on the columns of ``dtrain``. XGBoost trains
        ``"boosted"`` and ``"forest"`` over all workers. For ``"linear"``, ``"mixed"`` and an estimator one worker
        gathers the labelled rows, at most 200,000, and matrices must be DaskDMatrix, not quantised. Or q as a Dask
        collection in the partitions of ``dtrain``. Or
        ``by_column(DemographicParity, sex)``, a constraint of :mod:`pi_xgb.constraints` with a Dask collection in place
        of its column. Or an array or a Teacher for all rows, in the order of the partitions, which the client splits
        and sends. Or a list of (teacher, weight), with one weight or one per row.
    crossfit : as for :func:`pi_xgb.train`
        For ``"boosted"`` and ``"forest"`` each worker assigns its own rows to K folds, so every worker needs at least K
        rows with a label, and the folds, the random draws of a forest, and so the model depend on the workers of the
        rows. Gathered rows are dealt in an order of their values, whichever workers they come from.
    labelled, teacher_weight, crossfit_groups : as for :func:`pi_xgb.train`
        A Dask collection each, partitioned like ``dtrain``, or an array of all rows in the order of the partitions.
        With ``"boosted"`` and ``"forest"`` all rows of a group must lie on one worker, as after
        ``table.shuffle(on="patient")``.
    privileged_evals : list of (DaskDMatrix, str), default=None
        A list of (DaskDMatrix, name) for early stopping of the teacher, with ``early_stopping_rounds``. Every worker
        needs rows: at least as many partitions as workers.
    evals : list of (DaskDMatrix, str), default=None
        A list of (DaskDMatrix, name). Partitions on workers that do not train go to a worker that trains.
    obj : callable, default=None
        A custom objective, only without a teacher.
    early_stopping_rounds, xgb_model, verbose_eval, callbacks, custom_metric, coll_cfg : as for ``xgboost.dask.train``

    Returns
    -------
    dict
        ``"booster"``, a plain ``xgboost.Booster`` on the features of ``dtrain``, and ``"history"``, the evaluations of
        the student. :func:`predict` takes both the dict and the booster.

    Notes
    -----
    A boosted teacher costs as much as the student; ``crossfit`` multiplies its cost by K. A gathered teacher is fitted
    on one worker while the others wait; its memory there does not grow with the number of unlabelled rows. Each
    round sends XGBoost's histograms. JPIB adds those of the teacher's tree; constraints add the traffic documented in
    :mod:`pi_xgb.constraints`. Before the training, one small task per partition compares the row counts, and
    partitions of ``privileged`` on other workers are moved.

    Examples
    --------
    >>> import dask.array, distributed, pi_xgb.dask
    >>> data = pi_xgb.datasets.make_privileged(300, seed=0)
    >>> x, z, y = (dask.array.from_array(t.to_numpy(), chunks=(100, *t.shape[1:])) for t in (data.x, data.z, data.y))
    >>> with distributed.Client(n_workers=1, threads_per_worker=1, processes=False, dashboard_address=":0") as client:
    ...     dtrain = pi_xgb.dask.DaskDMatrix(client, x, y)
    ...     privileged = pi_xgb.dask.DaskDMatrix(client, z, y)
    ...     params = {"objective": "binary:logistic", "max_depth": 3}
    ...     result = pi_xgb.dask.train(client, params, dtrain, 5, privileged=privileged, kl_weight=1.0)
    ...     pi_xgb.dask.predict(client, result, x).compute().shape
    (300,)
    """
    given = locals()
    client, config = this_client(client), Keywords.of(given)
    config.check(early_stopping_rounds, obj)
    check_choice(engine, ENGINES, "engine")
    shared = {name: given[name] for name in _XGBOOST_KEYWORDS if name in given}
    if not config.is_given:
        return xgboost.dask.train(client, params, dtrain, obj=obj, **shared)
    return client.sync(train_async, client, params, dtrain, config, engine=engine, **shared)
