"""The estimators of ``xgboost.dask`` with a teacher: XGBoost's ``fit`` with :func:`pi_xgb.dask.train` inside."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Sequence
from typing import Any, ClassVar, Literal, Self

import dask.array
import numpy as np
import xgboost
from xgboost.dask import DaskDMatrix, DaskXGBClassifier, DaskXGBRegressor

from .._core.config import DEFAULT_METHOD, SETTINGS, MethodName, TeacherConfig
from .._core.engines import Engine
from .._core.losses import LOSSES, check_labels_alone
from .._core.teachers import DEFAULT_KL_WEIGHT
from .._core.train import check_obj
from .._warnings import warn_user
from .._xgb.rebind import rebind
from .._xgb.signature import called_like, warn_of_misspelt
from .cluster import train_async
from .rows import check_as_many_parts, is_collection

Fields = dict[str, Any]
EvalRows = list[tuple[Any, Fields]]

# The base class of both, not exported by xgboost.dask.
_Base: Any = DaskXGBClassifier.__mro__[DaskXGBClassifier.__mro__.index(xgboost.XGBModel) - 1]


# Parameters of the estimators for one machine, which XGBoost would silently ignore here.
_ELSEWHERE = {
    "constraints": "fit(..., teacher=[(by_column(DemographicParity, table['sex']), 5.0)])",
    "privileged_features": "fit(..., privileged=table[names]), without these columns in X",
}


class DaskPrivilegedXGBModel(_Base):  # type: ignore[misc]
    """The base class of the Dask estimators."""

    _xgboost: ClassVar[Any]

    def __init__(
        self,
        *,
        method: MethodName = DEFAULT_METHOD,
        kl_weight: float = DEFAULT_KL_WEIGHT,
        teacher: Literal["boosted", "forest"] | None = None,
        teacher_sees: Literal["privileged", "all"] | None = None,
        crossfit: int | None = None,
        teacher_params: Any = None,
        allow_overlap: bool = False,
        engine: Engine = "auto",
        coll_cfg: Any = None,
        **kwargs: Any,
    ) -> None:
        warn_of_misspelt(type(self).__name__, kwargs, _OWN_PARAMETERS)
        self.method = method
        self.kl_weight = kl_weight
        self.teacher = teacher
        self.teacher_sees = teacher_sees
        self.crossfit = crossfit
        self.teacher_params = teacher_params
        self.allow_overlap = allow_overlap
        self.engine = engine
        super().__init__(coll_cfg=coll_cfg, **kwargs)

    @called_like(xgboost.XGBModel.fit)
    def fit(
        self,
        X: Any,
        y: Any,
        *,
        privileged: Any = None,
        teacher: Any = None,
        sample_weight: Any = None,
        base_margin: Any = None,
        eval_set: Sequence[tuple[Any, Any]] | None = None,
        eval_privileged: Sequence[Any] | None = None,
        teacher_weight: Any = None,
        crossfit_groups: Any = None,
        verbose: int | bool = True,
        xgb_model: Any = None,
        sample_weight_eval_set: Sequence[Any] | None = None,
        base_margin_eval_set: Sequence[Any] | None = None,
        feature_weights: Any = None,
    ) -> Self:
        """Fit the student on X and y, guided by a teacher that sees the privileged columns.

        Parameters
        ----------
        X, y
            Dask collections, as for ``xgboost.dask``'s estimators. With a teacher, a row whose y is missing (NaN, NA)
            has no label.
        privileged
            The privileged columns of the rows of X: a Dask array or DataFrame in the partitions of X.
        teacher
            A teacher with values per row: q, a constraint or a list, as for :func:`pi_xgb.dask.train`. It replaces the
            parameter ``teacher``.
        eval_set
            A list of (X, y), as for ``xgboost.dask``'s estimators.
        eval_privileged
            The privileged columns of the rows of ``eval_set``, a list with one collection (or None) for each. With
            ``early_stopping_rounds``, a boosted teacher that sees only these columns stops on them.
        teacher_weight, crossfit_groups
            As for :func:`pi_xgb.dask.train`.
        sample_weight, base_margin, verbose, xgb_model, sample_weight_eval_set, base_margin_eval_set, feature_weights
            As for ``xgboost.dask``'s estimators. Weights count for the teacher as well.
        """
        config = self._teacher_config(
            teacher, privileged=privileged, teacher_weight=teacher_weight, crossfit_groups=crossfit_groups
        )
        if config.is_given:
            check_labels_alone(self.objective, "DaskPrivilegedXGBRanker")
        _check_blocks(privileged, y, "privileged", "y")
        tables = checked_eval_privileged(eval_privileged, eval_set)
        exposed = self.objective in LOSSES and LOSSES[self.objective].has_exposure
        margins = (base_margin_eval_set if exposed else None) or [None] * len(tables)
        return self._fit_with_teacher(
            config,
            {"base_margin": base_margin if exposed else None},
            [(table, {"base_margin": margin}) for table, margin in zip(tables, margins, strict=True)],
            X=X,
            y=y,
            sample_weight=sample_weight,
            base_margin=base_margin,
            eval_set=eval_set,
            sample_weight_eval_set=sample_weight_eval_set,
            base_margin_eval_set=base_margin_eval_set,
            verbose=verbose,
            xgb_model=xgb_model,
            feature_weights=feature_weights,
        )

    def _teacher_config(self, teacher: Any, **rows: Any) -> TeacherConfig:
        """Return the checked configuration of the estimator and of one ``fit``."""
        for name in _ELSEWHERE.keys() & (getattr(self, "kwargs", None) or {}).keys():
            raise TypeError(f"{name} is no parameter of the Dask estimators: use {_ELSEWHERE[name]}")
        settings = {name: getattr(self, name) for name in SETTINGS}
        config = TeacherConfig(teacher=self.teacher if teacher is None else teacher, **settings, **rows)
        if config.is_given:
            config.check()
            config.check_distributed()
        return config

    def _fit_with_teacher(
        self, config: TeacherConfig, fields: Fields, evals: EvalRows, *, y: Any, eval_set: Any, **arguments: Any
    ) -> Self:
        """Run XGBoost's own ``fit`` with a teacher in the training.

        ``config`` has tables in place of matrices. ``fields`` are the other fields of the teacher's matrix, without
        labels: queries, and the ``base_margin`` of ``fit`` where it is the logarithm of an exposure. ``evals`` has the
        privileged columns (or None) of each evaluation set, and its fields.
        """
        xgboost_fit = self._xgboost._fit_async
        if config.is_given:
            y, labelled = labels_and_mask(y)
            config = dataclasses.replace(config, labelled=labelled)
            labels = [labels for _, labels in eval_set or ()]
            evals = [(table, own | {"label": label}) for (table, own), label in zip(evals, labels, strict=True)]
            train = functools.partial(self._train_with_teacher, config, fields | {"label": y}, evals)
            names: dict[str, Any] = {"_train_async": train}
            if config.sees_student:  # a matrix of quantiles has no feature values
                wrap = rebind(xgboost.dask._async_wrap_evaluation_matrices, _can_use_qdm=lambda *_: False)
                names["_async_wrap_evaluation_matrices"] = wrap
            xgboost_fit = rebind(xgboost_fit, **names)
        elif self.kl_weight != 0:
            warn_user(
                "kl_weight has no effect without a teacher, so this is plain XGBoost: pass privileged= or teacher= to "
                "fit, or set kl_weight=0"
            )
        return self._client_sync(  # type: ignore[no-any-return]
            functools.partial(xgboost_fit, self), y=y, eval_set=eval_set, **arguments
        )

    async def _train_with_teacher(
        self, config: TeacherConfig, fields: Fields, eval_rows: EvalRows, *, client: Any, evals: Any, **arguments: Any
    ) -> Any:
        """Train in place of XGBoost, with the matrices that XGBoost built for the student."""
        check_obj(arguments.pop("obj", None), config)
        privileged_evals = []
        if self.early_stopping_rounds and config.can_stop_early:
            for (table, own), (_, name) in zip(eval_rows, evals or (), strict=True):
                if table is not None:
                    privileged_evals.append((await self._matrix(client, table, own), name))
        privileged = await self._matrix(client, config.privileged, fields)
        config = dataclasses.replace(config, privileged=privileged, privileged_evals=privileged_evals or None)
        keywords = {name: value for name, value in arguments.items() if name not in ("global_config", "dconfig")}
        splits = getattr(self, "allow_group_split", False)
        return await train_async(
            client, config=config, evals=evals, engine=self.engine, splits_queries=splits, **keywords
        )

    async def _matrix(self, client: Any, table: Any, fields: dict[str, Any]) -> Any:
        if table is None:
            return None
        return await DaskDMatrix(
            client, table, missing=self.missing, enable_categorical=self.enable_categorical, **fields
        )

    def get_xgb_params(self) -> dict[str, Any]:
        """Return the parameters of the booster."""
        params: dict[str, Any] = super().get_xgb_params()
        return {name: value for name, value in params.items() if name not in _OWN_PARAMETERS}


_OWN_PARAMETERS = {*SETTINGS, "teacher", "engine", "coll_cfg"}


class DaskPrivilegedXGBClassifier(DaskPrivilegedXGBModel, DaskXGBClassifier):  # type: ignore[misc]
    """``DaskXGBClassifier`` with a teacher that sees features which exist at training time only.

    All parameters, attributes and methods of ``xgboost.dask.DaskXGBClassifier`` mean what they mean there. Classes are
    0, 1, ..., as there. ``predict`` and ``predict_proba`` need no privileged columns and give Dask collections.

    Parameters
    ----------
    method, kl_weight, teacher_sees, crossfit, teacher_params, allow_overlap, engine : as for :func:`pi_xgb.dask.train`
        A boosted teacher has as many rounds as the student. The longer it trains, the more it overfits the labels,
        unless ``crossfit`` or early stopping (``eval_privileged``) prevents it.
    teacher : {"boosted", "forest"}, default=None
        The kind of teacher: ``"boosted"`` by default if ``fit`` gets ``privileged``. Without ``privileged`` it learns
        from the columns of X.
    coll_cfg, **kwargs : as for ``xgboost.dask.DaskXGBClassifier``

    Examples
    --------
    >>> from pi_xgb.dask import DaskPrivilegedXGBClassifier
    >>> model = DaskPrivilegedXGBClassifier(n_estimators=20, max_depth=3, method="jpib", kl_weight=2.0)
    >>> model.get_params()["kl_weight"], "kl_weight" in model.get_xgb_params()
    (2.0, False)
    """

    _xgboost = DaskXGBClassifier


class DaskPrivilegedXGBRegressor(DaskPrivilegedXGBModel, DaskXGBRegressor):
    """``DaskXGBRegressor`` with a teacher that sees features which exist at training time only.

    All parameters, attributes and methods of ``xgboost.dask.DaskXGBRegressor`` mean what they mean there. A teacher can
    guide the objectives of :class:`pi_xgb.sklearn.PrivilegedXGBRegressor`.

    Parameters
    ----------
    method, kl_weight, teacher, teacher_sees, crossfit, teacher_params : as for :class:`DaskPrivilegedXGBClassifier`
    allow_overlap, engine : as for :class:`DaskPrivilegedXGBClassifier`
    coll_cfg, **kwargs : as for ``xgboost.dask.DaskXGBRegressor``

    Examples
    --------
    >>> from pi_xgb.dask import DaskPrivilegedXGBRegressor
    >>> DaskPrivilegedXGBRegressor(n_estimators=20, kl_weight=1.0).get_num_boosting_rounds()
    20
    """

    _xgboost = DaskXGBRegressor


def labels_and_mask(y: Any) -> tuple[Any, Any]:
    """Return y with missing values replaced by its smallest value, a valid class, and the mask of labelled rows.

    The mask is None if the type of y has no missing values, and for several targets, which must all be known.
    """
    if y.ndim == 2 and y.shape[1] > 1:
        return y, None
    dtype = getattr(y, "dtype", None)
    if isinstance(dtype, np.dtype) and dtype.kind not in "fO":
        return y, None
    if not isinstance(y, dask.array.Array):
        return y.fillna(y.min()).fillna(0), ~y.isna()
    known = ~dask.array.isnan(y)
    least = dask.array.where(known, y, np.inf).min()
    return dask.array.where(known, y, dask.array.where(least < np.inf, least, 0)).astype(y.dtype), known


def _check_blocks(table: Any, labels: Any, name: str, labels_name: str) -> None:
    if table is None:
        return
    if not is_collection(table):
        raise TypeError(f"{name} must be a Dask array or DataFrame, got {type(table).__name__}")
    check_as_many_parts(table.npartitions, name, labels.npartitions, labels_name)


def checked_eval_privileged(
    eval_privileged: Sequence[Any] | None, eval_set: Sequence[tuple[Any, Any]] | None
) -> list[Any]:
    n_sets = len(eval_set or ())
    tables = [None] * n_sets if eval_privileged is None else list(eval_privileged)
    if len(tables) != n_sets:
        raise ValueError(
            f"eval_privileged must have one table per pair of eval_set, got {len(tables)} for {n_sets}: pass None for "
            "a pair without one"
        )
    for i, (table, pair) in enumerate(zip(tables, eval_set or (), strict=True)):
        _check_blocks(table, pair[1], f"eval_privileged[{i}]", f"the y of eval_set[{i}]")
    return tables
