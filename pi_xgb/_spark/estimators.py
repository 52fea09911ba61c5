"""The estimators of ``xgboost.spark`` with a teacher."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

import numpy as np
from pyspark.ml.param import Param, Params, TypeConverters
from xgboost.spark import SparkXGBClassifier, SparkXGBRanker, SparkXGBRegressor

from .._core.crossfit import check_crossfit
from .._core.engines import ENGINES, Engine
from .._core.keywords import DEFAULT_METHOD, SETTINGS, Keywords, MethodName, check_engine
from .._core.learners.recipe import check_teacher_word
from .._core.losses import Loss, check_labels_alone
from .._core.teachers import is_list_of_pairs
from .._core.training import Spec
from .._rows.checks import check_choice
from .._xgb.signature import warn_of_misspelt
from .checks import (
    Columns,
    check_columns,
    check_rows,
    is_vector,
    listed,
    privileged_columns,
    row_columns,
    with_labels_filled,
)
from .worker import PER_ROW, PREFIX, SparkEstimator, Worker, calling


def _names(value: Any) -> str | list[str]:
    names = [value] if isinstance(value, str) else value
    if not isinstance(names, (list, tuple)) or not all(isinstance(name, str) for name in names):
        raise TypeError(f"privileged_cols must be a list of names, or that of one column of vectors, got {value!r}")
    return value if isinstance(value, str) else list(value)


def _params_or_none(value: Any) -> dict[str, Any]:
    if not isinstance(value, Mapping):
        raise TypeError(f"teacher_params must be a dict of XGBoost's parameters, got {value!r}")
    return dict(value)


def _teacher(value: Any) -> Any:
    members = [member for member, _ in value] if is_list_of_pairs(value) else [value]
    for member in members:
        check_teacher_word(member)
    return value


def _own(name: str, doc: str, converter: Any) -> Any:
    return Param(Params._dummy(), name, doc, typeConverter=converter)


class _PrivilegedSpark(SparkEstimator):  # type: ignore[misc]
    """The base class of the Spark estimators."""

    _classifies = False
    privileged_cols = _own("privileged_cols", "the columns that the teacher sees: names, or one of vectors", _names)
    method = _own("method", "kbpib or jpib", TypeConverters.toString)
    kl_weight = _own("kl_weight", "the weight of the teacher, with 1 for the labels", TypeConverters.toFloat)
    teacher = _own("teacher", "a kind, an estimator, or a list with weights", _teacher)
    teacher_sees = _own("teacher_sees", "privileged or all; by the kind of teacher if None", TypeConverters.toString)
    crossfit = _own("crossfit", "0, or the number of folds; by the kind of teacher if None", TypeConverters.toInt)
    teacher_params = _own("teacher_params", "the teacher's XGBoost parameters; the student's if None", _params_or_none)
    allow_overlap = _own("allow_overlap", "whether the teacher may see features", TypeConverters.toBoolean)
    engine = _own("engine", "callback, native or auto", TypeConverters.toString)
    unlabelled = _own("unlabelled", "refuse or teach rows without a label", TypeConverters.toString)
    teacher_weight_col = _own("teacher_weight_col", "the weight of the teacher in each row", TypeConverters.toString)
    crossfit_groups_col = _own("crossfit_groups_col", "rows of one value stay in one fold", TypeConverters.toString)

    def __init__(
        self,
        *,
        privileged_cols: str | list[str] | None = None,
        method: MethodName = DEFAULT_METHOD,
        kl_weight: float | None = None,
        teacher: Any = None,
        teacher_sees: Literal["privileged", "all"] | None = None,
        crossfit: int | None = None,
        teacher_params: dict[str, Any] | None = None,
        allow_overlap: bool = False,
        engine: Engine = "auto",
        unlabelled: Literal["refuse", "teach"] = "refuse",
        teacher_weight_col: str | None = None,
        crossfit_groups_col: str | None = None,
        **kwargs: Any,
    ) -> None:
        own = {name: value for name, value in locals().items() if name in _OWN_PARAMETERS}
        warn_of_misspelt(type(self).__name__, kwargs, _OWN_PARAMETERS)
        super().__init__(**kwargs)
        # None cannot be set: Spark cannot read it back from a file.
        self._setDefault(**{name: value for name, value in own.items() if value is None})
        self.setParams(**{name: value for name, value in own.items() if value is not None})

    def _fit(self, dataset: Any) -> Any:
        config, columns = self._teacher_config(), self._columns()
        check_columns(dataset, columns, allow_overlap=config.allow_overlap)
        teaches_unlabelled = self.getOrDefault("unlabelled") == "teach"
        rows = check_rows(dataset, columns, classes=self._classifies, teach_unlabelled=teaches_unlabelled)
        has_gradient, exposed = True, False
        if not self._classifies:
            loss = self._loss()
            loss.check_labels(np.array(rows.labels), 0, repr(columns.label))
            has_gradient, exposed = loss.has_gradient, loss.has_exposure
        if config.crossfit is not None:
            check_crossfit(config.crossfit, rows.n_labelled)
        if rows.n_unlabelled:
            dataset = with_labels_filled(dataset, columns, f"{PER_ROW}labelled")
        validated = self.getOrDefault("early_stopping_rounds") is not None and columns.validation is not None
        if validated and rows.n_validation == 0:
            raise ValueError(f"early_stopping_rounds needs validation: no row that is true in {columns.validation!r}")
        # Folds, and unlabelled rows that blending keeps, are slices of a matrix of values.
        cuts = config.is_crossfitted or bool(rows.n_unlabelled and not has_gradient)
        worker = Worker(
            names=None if is_vector(dataset, columns.privileged) else listed(columns.privileged),
            stops=validated and config.can_stop_early,
            reads_privileged=cuts or config.teacher not in (None, "boosted") or config.sees_student,
            reads_features=config.sees_student,
            exposed=exposed,
            ranks=columns.query is not None,
            keywords={name: self.getOrDefault(name) for name in ("teacher", "engine", *SETTINGS)},
        )
        return calling(SparkEstimator._fit, worker)(self, dataset)

    def _loss(self) -> Loss:
        """Return the loss of a regressor; raise if the objective needs queries or bounds."""
        objective = self.getOrDefault("objective")
        check_labels_alone(objective, "PrivilegedSparkXGBRanker, which has them in qid_col")
        return Spec.read({"objective": objective}).loss

    def _teacher_config(self) -> Keywords:
        """Return the checked configuration of the teacher, with names of columns in place of values."""
        own = {name: self.getOrDefault(name) for name in _OWN_PARAMETERS}
        config = Keywords(
            privileged=own["privileged_cols"],
            teacher=own["teacher"],
            teacher_weight=own["teacher_weight_col"],
            crossfit_groups=own["crossfit_groups_col"],
            **{name: own[name] for name in SETTINGS},
        )
        if not config.is_given:
            raise ValueError(
                "privileged_cols or teacher must be set, got neither: name the columns that the teacher sees, set "
                "teacher='forest' to learn from the features, or use xgboost.spark's own estimator"
            )
        config.check(xgb_model=self.getOrDefault("xgb_model"))
        check_choice(own["unlabelled"], ("refuse", "teach"), "unlabelled")
        check_choice(own["engine"], ENGINES, "engine")
        return config

    def _columns(self) -> Columns:
        def named(param: Any) -> str | None:
            return str(self.getOrDefault(param)) if self._col_is_defined_not_empty(param) else None

        return Columns(
            features=self.getOrDefault(self.features_cols) or self.getOrDefault(self.featuresCol),
            privileged=self.getOrDefault("privileged_cols"),
            label=self.getOrDefault(self.labelCol),
            weight=named(self.weightCol),
            validation=named(self.validationIndicatorCol),
            teacher_weight=self.getOrDefault("teacher_weight_col"),
            crossfit_groups=self.getOrDefault("crossfit_groups_col"),
            query=named(self.qid_col),
        )

    # The methods below override parts of XGBoost's ``_fit``.

    def _prepare_input_columns_and_feature_prop(self, dataset: Any) -> Any:
        selected, feature_prop = super()._prepare_input_columns_and_feature_prop(dataset)
        columns = self._columns()
        privileged = privileged_columns(dataset, columns.privileged, PREFIX)
        return [*selected, *privileged, *row_columns(dataset, columns, PER_ROW)], feature_prop

    def _get_xgb_parameters(self, dataset: Any) -> Any:
        params, keywords, of_matrices = super()._get_xgb_parameters(dataset)
        # The driver has no matrices, so the check is incomplete here.
        uniform = not {f"{PER_ROW}labelled", f"{PER_ROW}teacher_weight"} & set(dataset.columns)
        check_engine(self.getOrDefault("engine"), Spec.read(params), self._teacher_config(), is_uniform=uniform)
        return params, keywords, of_matrices

    def _gen_xgb_params_dict(self, gen_xgb_sklearn_estimator_param: bool = False) -> dict[str, Any]:
        params: dict[str, Any] = super()._gen_xgb_params_dict(gen_xgb_sklearn_estimator_param)
        return {name: value for name, value in params.items() if name not in _OWN_PARAMETERS}


_OWN_PARAMETERS = tuple(_PrivilegedSpark.__init__.__kwdefaults__ or ())


class PrivilegedSparkXGBClassifier(_PrivilegedSpark, SparkXGBClassifier):
    """``SparkXGBClassifier`` with a teacher that sees columns which exist at training time only.

    Use it where the rows are in Spark: alone, in a ``Pipeline``, in a ``CrossValidator``. All parameters of
    ``xgboost.spark.SparkXGBClassifier`` (columns, ``num_workers``, XGBoost's own) mean what they mean there. Classes
    are 0, 1, ..., as there. ``fit`` returns a ``xgboost.spark.SparkXGBClassifierModel``.

    Parameters
    ----------
    privileged_cols
        The columns that only the teacher sees: a list of names of columns of numbers, or the name of one column of
        vectors. Null, NaN and ``missing`` in a column of numbers are missing values. Without ``privileged_cols``,
        ``teacher`` learns from the features.
    method, kl_weight, engine
        As for :func:`pi_xgb.train`. ``xgboost.spark`` evaluates the training rows in every round.
        ``engine="native"`` cannot, so the summary of the model has no training history. ``"auto"`` keeps the history,
        and uses the callback.
    teacher : {"boosted", "forest", "linear", "mixed"}, estimator or list, default=None
        The teacher to be trained; None is that of :func:`pi_xgb.train`. XGBoost trains ``"boosted"`` and ``"forest"``
        over all tasks. For the others one task gathers the labelled rows, at most 200,000. A list has pairs (one of
        these, weight). With an estimator or a list the Spark estimator cannot be saved; its model can.
    teacher_sees
        As for :func:`pi_xgb.train`. A teacher that sees the features reads their values, so tasks hold two copies of
        them, without quantisation.
    crossfit
        As for :func:`pi_xgb.train`. For ``"boosted"`` and ``"forest"`` each worker assigns its own rows to K folds, so
        that the folds, the random draws of a forest, and the model depend on the workers of the rows. Gathered rows are
        dealt in an order of their values.
    teacher_params
        The teacher's params; by default the student's. Threads and device are always the student's.
    allow_overlap
        Whether ``privileged_cols`` may name classifier features. Columns inside a vector from a ``VectorAssembler``
        count by their names.
    unlabelled
        The treatment of training rows whose label is null or NaN. ``"refuse"`` raises an error with their number.
        ``"teach"`` trains the teacher on the other rows and the student on all (see ``labelled`` of
        :func:`pi_xgb.train`); the summary of the model then has no training history.
    teacher_weight_col
        A column of numbers of at least 0: the weight of the teacher in each row, relative to ``kl_weight``.
    crossfit_groups_col
        Rows with the same value stay in one fold of ``crossfit``. With ``"boosted"`` and ``"forest"`` they must lie in
        one partition: ``frame.repartition(num_workers, "patient")``.
    **kwargs
        The parameters of ``xgboost.spark.SparkXGBClassifier``: ``features_col``, ``label_col``, ``weight_col``,
        ``validation_indicator_col``, ``num_workers``, ``max_depth`` and so on.

    Notes
    -----
    Weights count for the teacher as well. With ``validation_indicator_col`` and ``early_stopping_rounds``, a boosted
    teacher of ``"kbpib"`` that sees only the privileged columns also stops early, on the same rows. Otherwise it trains
    for as many rounds as the student; the longer it trains, the more it overfits the labels, unless ``crossfit``
    prevents it.

    Before the training, one pass over labels, weights and validation indicators checks them on the driver: cache the
    DataFrame if it is costly to compute. The teacher costs as much as the student, or ``crossfit`` times as much. Tasks
    hold the privileged columns in memory beside the features.

    Every partition needs training rows (and validation rows, if the teacher stops early on them). XGBoost repartitions
    if there are more or fewer partitions than ``num_workers``, or with ``force_repartition=True``.

    The estimator can be saved; the saved model has no names of privileged columns.

    Examples
    --------
    >>> from pi_xgb.spark import PrivilegedSparkXGBClassifier
    >>> estimator = PrivilegedSparkXGBClassifier(
    ...     features_col=["age", "pulse"], privileged_cols=["biopsy"], label_col="ill", kl_weight=2.0, num_workers=2
    ... )
    >>> estimator.getOrDefault("kl_weight")
    2.0
    >>> model = estimator.fit(patients)  # doctest: +SKIP
    >>> model.transform(new_patients).select("probability")  # doctest: +SKIP
    """

    _classifies = True


class PrivilegedSparkXGBRegressor(_PrivilegedSpark, SparkXGBRegressor):
    """``SparkXGBRegressor`` with a teacher that sees columns which exist at training time only.

    All parameters of ``xgboost.spark.SparkXGBRegressor`` mean what they mean there. A teacher can guide
    the objectives of :class:`pi_xgb.sklearn.PrivilegedXGBRegressor`, one target each. ``fit`` returns a
    ``xgboost.spark.SparkXGBRegressorModel``.

    Parameters
    ----------
    privileged_cols, method, kl_weight, teacher, teacher_sees, crossfit, teacher_params, allow_overlap, engine,
    unlabelled
        As for :class:`PrivilegedSparkXGBClassifier`.
    teacher_weight_col, crossfit_groups_col
        As for :class:`PrivilegedSparkXGBClassifier`.
    **kwargs
        The parameters of ``xgboost.spark.SparkXGBRegressor``.

    Examples
    --------
    >>> from pi_xgb.spark import PrivilegedSparkXGBRegressor
    >>> estimator = PrivilegedSparkXGBRegressor(privileged_cols="measured", method="jpib", label_col="price")
    >>> estimator.getOrDefault("privileged_cols")
    'measured'
    >>> model = estimator.fit(sales)  # doctest: +SKIP
    """


class PrivilegedSparkXGBRanker(_PrivilegedSpark, SparkXGBRanker):
    """``SparkXGBRanker`` with a teacher that sees columns which exist at training time only: clicks, time spent, sales.

    All parameters of ``xgboost.spark.SparkXGBRanker`` mean what they mean there, but for ``weight_col``: XGBoost has a
    weight per query, and Spark one per row. A teacher can guide the objectives of
    :class:`pi_xgb.sklearn.PrivilegedXGBRanker`: ``"rank:ndcg"``, the default, with ``ndcg_exp_gain=False``, and
    ``"rank:pairwise"``. ``fit`` returns a ``xgboost.spark.SparkXGBRankerModel``.

    Parameters
    ----------
    qid_col
        The column with the number of the query of a row. All rows of a query must lie in one partition. XGBoost ensures
        it if there are more or fewer partitions than ``num_workers``, or with ``force_repartition=True``.
    privileged_cols, method, kl_weight, teacher, teacher_sees, crossfit, teacher_params, allow_overlap, engine,
    unlabelled
        As for :class:`PrivilegedSparkXGBClassifier`; the teacher is ``"boosted"`` or an estimator. Queries are
        cross-fitted as a whole.
    teacher_weight_col
        As there; the same in all rows of a query, or 0.
    crossfit_groups_col
        As there; the same in all rows of a query.
    **kwargs
        The parameters of ``xgboost.spark.SparkXGBRanker``.

    Examples
    --------
    >>> from pi_xgb.spark import PrivilegedSparkXGBRanker
    >>> estimator = PrivilegedSparkXGBRanker(
    ...     qid_col="query", privileged_cols=["clicks"], ndcg_exp_gain=False, force_repartition=True, num_workers=2
    ... )
    >>> estimator.getOrDefault("objective")
    'rank:ndcg'
    >>> model = estimator.fit(results)  # doctest: +SKIP
    """

    def _loss(self) -> Loss:
        spec = Spec.read({"objective": self.getOrDefault("objective")})
        if not spec.loss.by_query:
            raise ValueError(f"objective must be 'rank:ndcg' or 'rank:pairwise' in a ranker, got {spec.objective!r}")
        return spec.loss

    def _teacher_config(self) -> Keywords:
        columns = self._columns()
        if columns.query is None:
            raise ValueError("qid_col must be set to the column with the number of the query, got None: set qid_col")
        if columns.weight is not None:
            raise ValueError(
                f"weight_col must be left out in a ranker, got {columns.weight!r}: XGBoost weighs whole queries, and "
                "xgboost.spark has no column for that"
            )
        return super()._teacher_config()
