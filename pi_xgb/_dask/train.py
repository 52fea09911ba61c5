"""``train`` on a Dask cluster: keywords checked here, the work done by :mod:`pi_xgb._dask.cluster`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import xgboost.dask

from .._core.config import DEFAULT_METHOD, MethodName, TeacherConfig
from .._core.engines import ENGINES, Engine
from .._core.teachers import DEFAULT_KL_WEIGHT
from .._core.train import check_obj
from .._rows.checks import check_choice
from .._xgb.signature import keyword_names
from .cluster import train_async
from .rows import this_client

_OF_XGBOOST = set(keyword_names(xgboost.dask.train)) - {"obj"}


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
    kl_weight: float = DEFAULT_KL_WEIGHT,
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
    """Train on a Dask cluster, guided by a teacher that knows more.

    It is ``xgboost.dask.train`` with the teaching keywords of :func:`pi_xgb.train`. Without ``privileged`` and
    ``teacher`` it is ``xgboost.dask.train`` itself.

    Parameters
    ----------
    client
        The ``distributed.Client``; None means the current one. With an asynchronous client the call is awaited.
    params, num_boost_round
        As for :func:`pi_xgb.train`. Each worker uses the threads that Dask gave it, unless ``nthread`` says
        otherwise.
    dtrain
        A ``DaskDMatrix`` or ``DaskQuantileDMatrix`` of the classifier features, with labels (and weights, or ``qid``,
        which names each query on one worker alone).
    privileged
        A ``DaskDMatrix`` of the privileged features and the same labels, in the same partitions.
    method, kl_weight, teacher_sees, teacher_params, allow_overlap, engine
        As for :func:`pi_xgb.train`.
    teacher
        ``"boosted"`` or ``"forest"``, which XGBoost trains on the cluster, on ``privileged`` or without it on the
        columns of ``dtrain``. Instead of a word: q as a Dask collection in the partitions of ``dtrain``; or
        ``by_column(DemographicParity, sex)``, a constraint of :mod:`pi_xgb.constraints` with a Dask collection in the
        place of its column; or an array or a Teacher for all rows, in the order of the partitions, which is cut up on
        the client and sent out; or a list of (one of these, weight), whose weights may be one per row.
    crossfit
        As for :func:`pi_xgb.train`. Each worker deals its own rows to K folds, so every worker needs at least K rows
        with a label. The folds, and with them the model, depend on how rows lie on workers; so does what a forest
        draws.
    labelled, teacher_weight, crossfit_groups
        As for :func:`pi_xgb.train`: a Dask collection each, cut like ``dtrain``, or an array of all rows in the order
        of the partitions. All rows of a group must lie on one worker, as after ``table.shuffle(on="patient")`` where
        each partition stays whole.
    privileged_evals
        A list of (DaskDMatrix, name) that stops the teacher early, along with ``early_stopping_rounds``. Every worker
        needs some of its rows: at least as many partitions as workers.
    evals
        A list of (DaskDMatrix, name). Partitions on workers that do not train are sent to one that does.
    obj
        Only without a teacher.
    early_stopping_rounds, xgb_model, verbose_eval, callbacks, custom_metric, coll_cfg
        As for ``xgboost.dask.train``.

    Returns
    -------
    dict
        ``"booster"``, a plain ``xgboost.Booster`` on the features of ``dtrain``, and ``"history"``, the evaluations of
        the student. :func:`predict` takes either.

    Notes
    -----
    The teacher is trained on the cluster like the student and costs as much; ``crossfit`` costs that K times. What is
    sent around each round is XGBoost's histograms; JPIB adds those of the teacher's tree, constraints add what
    :mod:`pi_xgb.constraints` says. Before the training the row counts of the partitions are compared, one small task
    each, and partitions of ``privileged`` on other workers are sent over.

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
    client, config = this_client(client), TeacherConfig.from_keywords(given)
    config.check(early_stopping_rounds)
    config.check_distributed()
    check_choice(engine, ENGINES, "engine")
    shared = {name: given[name] for name in _OF_XGBOOST if name in given}
    if not config.is_given:
        return xgboost.dask.train(client, params, dtrain, num_boost_round, obj=obj, **shared)
    check_obj(obj, config)
    return client.sync(train_async, client, params, dtrain, num_boost_round, config, engine=engine, **shared)
