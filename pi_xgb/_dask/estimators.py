"""The estimators of ``xgboost.dask`` with a teacher: XGBoost's ``fit`` with :func:`pi_xgb.dask.train` inside."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Sequence
from typing import Any, Literal, Self

import dask.array
import dask.dataframe
import numpy as np
import xgboost
from xgboost.dask import DaskDMatrix, DaskXGBClassifier, DaskXGBRegressor

from .._core.engines import Engine
from .._core.keywords import DEFAULT_METHOD, SETTINGS, Keywords, MethodName
from .._core.losses import LOSSES, check_labels_alone
from .._rows.names import describe
from .._warnings import warn_user
from .._xgb.rebind import rebind
from .._xgb.signature import called_like, keyword_names, warn_of_misspelt
from .cluster import train_async
from .rows import check_as_many_parts, is_collection

Columns = dict[str, Any]
"""The collections of the training rows or of an evaluation set, by their keyword of ``fit``."""

# The base class of both, not exported by xgboost.dask.
_Base: Any = DaskXGBClassifier.__mro__[DaskXGBClassifier.__mro__.index(xgboost.XGBModel) - 1]


class DaskPrivilegedXGBModel(_Base):  # type: ignore[misc]
    """The base class of the Dask estimators."""

    def __init__(
        self,
        *,
        method: MethodName = DEFAULT_METHOD,
        kl_weight: float | None = None,
        teacher: Any = None,
        teacher_sees: Literal["privileged", "all"] | None = None,
        crossfit: int | None = None,
        teacher_params: Any = None,
        allow_overlap: bool = False,
        engine: Engine = "auto",
        privileged_features: Sequence[str] | None = None,
        coll_cfg: Any = None,
        **kwargs: Any,
    ) -> None:
        given = locals()
        warn_of_misspelt(type(self).__name__, kwargs, _OWN_PARAMETERS)
        super().__init__(coll_cfg=coll_cfg, **kwargs)
        for name in _OWN_PARAMETERS:
            setattr(self, name, given[name])

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
            The privileged columns of the rows of X: a Dask array or DataFrame in the partitions of X. Or name columns
            of X in ``privileged_features``; ``eval_set`` may then have them too.
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
        return self._fit(**{name: value for name, value in locals().items() if name not in ("self", "__class__")})

    def _fit(
        self,
        *,
        teacher: Any,
        eval_set: Any,
        eval_privileged: Any,
        base_margin_eval_set: Any,
        eval_qid: Any = None,
        **given: Any,
    ) -> Self:
        """Run XGBoost's own ``fit`` with a teacher in the training; ``given`` are the other keywords of ``fit``."""
        if self.privileged_features is not None:
            if given["privileged"] is not None or eval_privileged is not None:
                raise ValueError("privileged and privileged_features were both given: drop one of the two")
            student, given["privileged"] = self._divided(given["X"], "X")
            divided = [
                (student, given["privileged"]) if X is given["X"] else self._divided(X, f"eval_set[{i}]")
                for i, (X, _) in enumerate(eval_set or ())
            ]
            eval_set = [(part, y) for (part, _), (_, y) in zip(divided, eval_set or (), strict=True)]
            given["X"], tables = student, [table for _, table in divided]
            eval_privileged = tables if any(table is not None for table in tables) else None
        rows = {name: given.pop(name) for name in ("privileged", "teacher_weight", "crossfit_groups")}
        if teacher is None and self.teacher is None and rows["privileged"] is not None and eval_privileged is not None:
            teacher = "boosted"  # the kind that stops on them
        config = self._teacher_config(teacher, **rows)
        columns: Columns = {name: given.pop(name) for name in ("X", "y", "qid", "base_margin") if name in given}
        columns |= rows | {"teacher": config.teacher}
        tables = checked_eval_privileged(eval_privileged, eval_set)
        check_partitions(columns["privileged"], columns["y"], "privileged", "y")
        more = {"qid": eval_qid, "base_margin": base_margin_eval_set, "privileged": tables}
        sets = [
            {"X": X, "y": y, **{name: None if values is None else values[i] for name, values in more.items()}}
            for i, (X, y) in enumerate(eval_set or ())
        ]
        columns, sets = self._arranged(columns, sets)
        arguments = {name: columns[name] for name in ("X", "y", "qid", "base_margin") if name in columns} | given
        arguments["eval_set"] = [(own["X"], own["y"]) for own in sets] or None
        arguments["base_margin_eval_set"] = base_margin_eval_set and [own["base_margin"] for own in sets]
        if "qid" in columns:
            arguments["eval_qid"] = [own["qid"] for own in sets] or None

        xgboost_fit = type(self)._fit_async
        taken = keyword_names(xgboost_fit)  # feature_weights only before XGBoost 3.5
        arguments = {name: value for name, value in arguments.items() if value is not None or name in taken}
        if config.is_given:
            arguments["y"], labelled = labels_and_mask(columns["y"])
            arranged = {name: columns[name] for name in ("teacher", *rows)}
            config = dataclasses.replace(config, labelled=labelled, **arranged)
            train = functools.partial(self._train_with_teacher, config, columns | {"y": arguments["y"]}, sets)
            names: dict[str, Any] = {"_train_async": train}
            if config.sees_student:  # a matrix of quantiles has no feature values
                wrap = rebind(xgboost.dask._async_wrap_evaluation_matrices, _can_use_qdm=lambda *_: False)
                names["_async_wrap_evaluation_matrices"] = wrap
            xgboost_fit = rebind(xgboost_fit, **names)
        else:
            xgboost_fit = functools.partial(_with_labels, xgboost_fit)
            if self.kl_weight != 0:
                warn_user("without a teacher this is plain XGBoost: pass privileged= or teacher=, or set kl_weight=0")
        return self._client_sync(functools.partial(xgboost_fit, self), **arguments)  # type: ignore[no-any-return]

    def _teacher_config(self, teacher: Any, **rows: Any) -> Keywords:
        """Return the checked configuration of the estimator and of one ``fit``."""
        if "constraints" in (getattr(self, "kwargs", None) or {}):  # XGBoost would silently ignore them
            instead = "fit(..., teacher=[(by_column(DemographicParity, table['sex']), 5.0)])"
            raise TypeError(f"constraints is no parameter of the Dask estimators: use {instead}")
        settings = {name: getattr(self, name) for name in SETTINGS}
        config = Keywords(teacher=self.teacher if teacher is None else teacher, **settings, **rows)
        if config.is_given:
            config.check()
            self._check_objective(config)
        return config

    def _check_objective(self, config: Keywords) -> None:
        """Raise for an objective that needs more than y."""
        check_labels_alone(self.objective, "DaskPrivilegedXGBRanker")

    def _arranged(self, columns: Columns, sets: list[Columns]) -> tuple[Columns, list[Columns]]:
        """Return the columns of the training rows and of the evaluation sets where they are to be trained on."""
        return columns, sets

    async def _train_with_teacher(
        self, config: Keywords, columns: Columns, sets: list[Columns], *, client: Any, evals: Any, **arguments: Any
    ) -> Any:
        """Train in place of XGBoost, with the matrices that XGBoost built for the student."""
        config.check(obj=arguments.pop("obj", None))
        privileged_evals = []
        if self.early_stopping_rounds and config.can_stop_early:
            for own, (_, name) in zip(sets, evals or (), strict=True):
                if own["privileged"] is not None:
                    privileged_evals.append((await self._matrix(client, own), name))
        privileged = None if config.privileged is None else await self._matrix(client, columns)
        config = dataclasses.replace(config, privileged=privileged, privileged_evals=privileged_evals or None)
        given = {name: value for name, value in arguments.items() if name not in ("global_config", "dconfig")}
        splits = getattr(self, "allow_group_split", False)
        return await train_async(client, config=config, evals=evals, engine=self.engine, splits_queries=splits, **given)

    def _divided(self, X: Any, name: str) -> tuple[Any, Any]:
        """Return the student's columns of a table, and its privileged columns; None where it has none of them."""
        features: Any = self.privileged_features
        if not isinstance(X, dask.dataframe.DataFrame):
            raise TypeError(
                f"privileged_features require Dask DataFrames, got {type(X).__name__} as {name}: pass privileged="
            )
        if isinstance(features, str) or not set(map(type, features)) <= {str} or not 0 < len(features) < X.shape[1]:
            raise ValueError(f"privileged_features must be a list of some names of columns of X, got {features!r}")
        absent = [column for column in features if column not in X.columns]
        if absent and (name == "X" or len(absent) < len(features)):
            raise ValueError(f"privileged_features must name columns of {name}, which lacks {describe(absent)}")
        return self._student_part(X), None if absent else X[list(features)]

    def _student_part(self, X: Any) -> Any:
        """Return X without privileged columns, which are optional at prediction."""
        names = [name for name in self.privileged_features or () if name in getattr(X, "columns", ())]
        return X.drop(columns=names) if names else X

    async def _predict_async(self, data: Any, **keywords: Any) -> Any:
        return await super()._predict_async(self._student_part(data), **keywords)

    async def _apply_async(self, X: Any, *args: Any, **keywords: Any) -> Any:
        return await super()._apply_async(self._student_part(X), *args, **keywords)

    async def _matrix(self, client: Any, columns: Columns) -> Any:
        """Return the matrix of privileged columns; a margin is the teacher's where it is an exposure."""
        exposed = self.objective in LOSSES and LOSSES[self.objective].has_exposure
        fields = {"label": columns["y"], "qid": columns.get("qid")}
        fields["base_margin"] = columns["base_margin"] if exposed else None
        settings = {"missing": self.missing, "enable_categorical": self.enable_categorical}
        return await DaskDMatrix(client, columns["privileged"], **settings, **fields)

    def get_xgb_params(self) -> dict[str, Any]:
        """Return the parameters of the booster."""
        params: dict[str, Any] = super().get_xgb_params()
        return {name: value for name, value in params.items() if name.partition("__")[0] not in _OWN_PARAMETERS}


_OWN_PARAMETERS = {*SETTINGS, "teacher", "engine", "privileged_features", "coll_cfg"}


class DaskPrivilegedXGBClassifier(DaskPrivilegedXGBModel, DaskXGBClassifier):  # type: ignore[misc]
    """``DaskXGBClassifier`` with a teacher that sees features which exist at training time only.

    All parameters, attributes and methods of ``xgboost.dask.DaskXGBClassifier`` mean what they mean there. Classes are
    0, 1, ..., as there. ``predict`` and ``predict_proba`` need no privileged columns and give Dask collections.

    Parameters
    ----------
    method, kl_weight, teacher_sees, crossfit, teacher_params, allow_overlap, engine : as for :func:`pi_xgb.dask.train`
        A boosted teacher has as many rounds as the student. The longer it trains, the more it overfits the labels,
        unless ``crossfit`` or early stopping (``eval_privileged``) prevents it.
    teacher : {"boosted", "forest", "linear", "mixed"} or estimator, default=None
        The teacher to be trained: None is that of :func:`pi_xgb.train` if there are privileged columns. Without them it
        learns from the columns of X. Limits and costs are those of :func:`pi_xgb.dask.train`.
    privileged_features : list of str, default=None
        The names of the privileged columns, where X is a Dask DataFrame that has them. The student does not see them;
        at ``predict`` they are optional and ignored.
    coll_cfg, **kwargs : as for ``xgboost.dask.DaskXGBClassifier``

    Examples
    --------
    >>> from pi_xgb.dask import DaskPrivilegedXGBClassifier
    >>> model = DaskPrivilegedXGBClassifier(n_estimators=20, max_depth=3, method="jpib", kl_weight=2.0)
    >>> model.get_params()["kl_weight"], "kl_weight" in model.get_xgb_params()
    (2.0, False)
    """

    async def _predict_proba_async(self, X: Any, *args: Any, **keywords: Any) -> Any:
        return await super()._predict_proba_async(self._student_part(X), *args, **keywords)


class DaskPrivilegedXGBRegressor(DaskPrivilegedXGBModel, DaskXGBRegressor):
    """``DaskXGBRegressor`` with a teacher that sees features which exist at training time only.

    All parameters, attributes and methods of ``xgboost.dask.DaskXGBRegressor`` mean what they mean there. A teacher can
    guide the objectives of :class:`pi_xgb.sklearn.PrivilegedXGBRegressor`.

    Parameters
    ----------
    method, kl_weight, teacher, teacher_sees, crossfit, teacher_params : as for :class:`DaskPrivilegedXGBClassifier`
    allow_overlap, engine, privileged_features : as for :class:`DaskPrivilegedXGBClassifier`
    coll_cfg, **kwargs : as for ``xgboost.dask.DaskXGBRegressor``

    Examples
    --------
    >>> from pi_xgb.dask import DaskPrivilegedXGBRegressor
    >>> DaskPrivilegedXGBRegressor(n_estimators=20, kl_weight=1.0).get_num_boosting_rounds()
    20
    """


async def _with_labels(fit: Callable[..., Any], *given: Any, **keywords: Any) -> Any:
    """Run XGBoost's own fit; explain its error about labels."""
    try:
        return await fit(*given, **keywords)
    except xgboost.core.XGBoostError as error:
        if "Label contains NaN" not in str(error):
            raise
        remedy = "pass privileged= or teacher=, or leave the other rows out"
        raise ValueError(f"y must have a finite label in every row without a teacher: {remedy}") from error


def labels_and_mask(y: Any) -> tuple[Any, Any]:
    """Return y with missing values replaced by its smallest value, a valid class, and the mask of labelled rows.

    The mask is None if the type of y has no missing values, and for several targets, which must all be known.
    """
    dtype = getattr(y, "dtype", None)
    if (y.ndim == 2 and y.shape[1] > 1) or (isinstance(dtype, np.dtype) and dtype.kind not in "fO"):
        return y, None
    if not isinstance(y, dask.array.Array):
        return y.fillna(y.min()).fillna(0), ~y.isna()
    known = ~dask.array.isnan(y)
    least = dask.array.where(known, y, np.inf).min()
    return dask.array.where(known, y, dask.array.where(least < np.inf, least, 0)).astype(y.dtype), known


def check_partitions(table: Any, labels: Any, name: str, labels_name: str) -> None:
    """Raise unless the table is a collection in the partitions of the labels; None is accepted."""
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
        raise ValueError(f"eval_privileged must have a table or None per eval_set pair, got {len(tables)} for {n_sets}")
    for i, (table, pair) in enumerate(zip(tables, eval_set or (), strict=True)):
        check_partitions(table, pair[1], f"eval_privileged[{i}]", f"the y of eval_set[{i}]")
    return tables
