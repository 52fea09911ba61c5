"""The estimators: those of XGBoost, whose ``fit`` calls ``pi_xgb.train``."""

from __future__ import annotations

from typing import Any, Literal, Self

import numpy as np
import pandas as pd
import xgboost
from sklearn.utils import column_or_1d
from sklearn.utils.multiclass import check_classification_targets

from .._arrays import Array
from .._core.engines import Engine
from .._core.keywords import MethodName
from .._core.losses import LOSSES, NUMBERS, SHARES, check_labels_alone
from .._core.teachers import FixedTeacher
from .._core.training import Teacher
from .._rows.labels import encode_labels, numbers_of, read_target, read_targets, warn_of_odd_classes
from .._rows.matrix_checks import check_evals
from .._rows.per_row import on_host, per_row
from .._rows.supervision import row_weights
from .._rows.tables import as_table, check_orders, row_count, take_rows
from .._rows.views import divide, student_part
from .._xgb.classes import read_classes, write_classes
from .._xgb.rebind import rebind
from .._xgb.signature import called_like, keyword_names, warn_of_misspelt
from .trainer import Trainer


class PrivilegedXGBModel(xgboost.XGBModel):
    """Base of the estimators: that of XGBoost, whose ``fit`` calls ``pi_xgb.train``."""

    _classes: Any = None
    """The sorted classes of y; None for a regressor."""
    teacher_: Any
    """The teacher of the last ``fit``, for inspection."""
    _trainer_class = Trainer
    _by_row: tuple[str, ...] = ("sample_weight", "base_margin")
    """The keywords of XGBoost's ``fit`` with a value per row; each has another with ``_eval_set``."""

    @called_like(xgboost.XGBRegressor.__init__)
    def __init__(
        self,
        *,
        method: MethodName = "kbpib",
        kl_weight: float | None = None,
        teacher: Any = None,
        teacher_sees: Literal["privileged", "all"] | None = None,
        crossfit: int | None = None,
        teacher_params: Any = None,
        engine: Engine = "auto",
        privileged_features: Any = None,
        constraints: Any = None,
        **kwargs: Any,
    ) -> None:
        warn_of_misspelt(type(self).__name__, kwargs, self._own_parameters)
        self.method = method
        self.kl_weight = kl_weight
        self.teacher = teacher
        self.teacher_sees = teacher_sees
        self.crossfit = crossfit
        self.teacher_params = teacher_params
        self.engine = engine
        self.privileged_features = privileged_features
        self.constraints = constraints
        super().__init__(**kwargs)

    _own_parameters = frozenset(keyword_names(__init__))
    """The parameters that XGBoost's estimator lacks."""

    @called_like(xgboost.XGBModel.fit)
    def fit(
        self,
        X: Any,
        y: Any,
        *,
        privileged: Any = None,
        teacher: Any = None,
        teacher_weight: Any = None,
        crossfit_groups: Any = None,
        sample_weight: Any = None,
        base_margin: Any = None,
        eval_set: Any = None,
        eval_privileged: Any = None,
        verbose: bool | int | None = True,
        xgb_model: Any = None,
        sample_weight_eval_set: Any = None,
        base_margin_eval_set: Any = None,
        feature_weights: Any = None,
    ) -> Self:
        """Fit the student on X and y, guided by a teacher that sees the privileged columns.

        Parameters
        ----------
        X
            As for XGBoost's estimators. It may hold the columns named in ``privileged_features``.
        y
            As for XGBoost's estimators. Rows where it is missing (NaN, None, NaT, NA) are unlabelled. The teacher
            learns from the labelled rows and guides the student on all; with ``kl_weight=0`` beside privileged columns,
            or a ``teacher_weight`` of 0 in every row, unlabelled rows are ignored. With several columns, a row has
            all labels or none. None with ``teacher``: no row has a label.
        privileged
            The privileged columns of the rows of X, in the same order; any type of table that X supports. The
            teacher's weight is 0 in rows without any value, unless ``teacher_weight`` is given.
        teacher
            Soft labels, in place of the teacher of the estimator: one probability per row (a column per class, in the
            order of the classes) or one number, predicted by a model that did not learn from this row. Or a
            :class:`pi_xgb.Teacher` for these rows.
        teacher_weight
            One number of at least 0 per row: the teacher's weight there, relative to ``kl_weight``; 1 by default.
            Constraints have their own weights.
        crossfit_groups
            One value per row: rows with the same value (the visits of a patient) are in the same fold of
            ``crossfit``. Ignored without such folds: with ``crossfit=0``, by default with a boosted teacher that sees
            the privileged columns alone, and with ``method="jpib"``.
        eval_set
            A list of (X, y), as for XGBoost's estimators; every row needs a label.
        eval_privileged
            The privileged columns of the rows of ``eval_set``: a list with one table (or None) for each. The
            teacher stops on them if ``early_stopping_rounds`` is set. Ignored without ``early_stopping_rounds``,
            with ``method="jpib"``, ``kl_weight=0`` or an estimator as teacher, which do not stop early.
        sample_weight, base_margin, verbose, xgb_model, sample_weight_eval_set, base_margin_eval_set, feature_weights
            As for XGBoost's estimators. Weights apply to the teacher too, as does ``base_margin`` for counts and costs;
            for others it applies to the student only, as does ``xgb_model``.
        """
        return self._fit(**{name: value for name, value in locals().items() if name not in ("self", "__class__")})

    def _soft_labels(self, X: Any, y: Any, q: Any, weight: Any) -> FixedTeacher:
        """Return the teacher of soft labels, with the ``teacher_weight`` that says where they count."""
        check_orders({"X": X, "teacher": q})
        if isinstance(q, pd.DataFrame) and np.ndim(y) == 1 and set(pd.unique(pd.Series(y).dropna())) == set(q.columns):
            q = q[sorted(q.columns)]  # named by class
        needed = None if weight is None else on_host(weight, "teacher_weight") > 0
        within = LOSSES[self.objective].range if self.objective in LOSSES else NUMBERS
        if isinstance(self, xgboost.XGBClassifier) and np.ndim(y) < 2:
            within = SHARES
        return FixedTeacher(q, within, needed=needed)

    def _fit(
        self,
        X: Any,
        y: Any,
        privileged: Any,
        teacher: Any,
        eval_set: Any,
        eval_privileged: Any,
        teacher_weight: Any,
        crossfit_groups: Any,
        **others: Any,
    ) -> Self:
        """Fit with ``others``, the keywords of XGBoost."""
        if teacher is None:
            teacher = self.teacher
        elif not isinstance(teacher, Teacher):
            teacher = self._soft_labels(X, y, teacher, teacher_weight)
        if is_soft := isinstance(teacher, FixedTeacher) and (y is None or bool(pd.isna(on_host(y)).all())):
            y = self._stand_ins(teacher.values)
        if y is None:
            raise ValueError(
                f"{type(self).__name__} requires y to be passed, but the target y is None: give one label per row, or "
                "soft labels as teacher= of fit"
            )
        pairs = None if eval_set is None else check_evals(eval_set, "eval_set", "(X, y)")
        views = divide(X, pairs, privileged, eval_privileged, self.privileged_features)
        keywords = {name: value for name, value in others.items() if value is not None}
        row_values = {name: keywords[name] for name in self._by_row if name in keywords}
        _check_rows(X, y, {"teacher_weight": teacher_weight, "crossfit_groups": crossfit_groups, **row_values})
        for i, (X_i, y_i) in enumerate(views.eval_set or ()):
            sets = {name: keywords.get(f"{name}_eval_set", ())[i : i + 1] for name in self._by_row}
            _check_rows(X_i, y_i, {f"{name}_eval_set": values[0] for name, values in sets.items() if values}, f"[{i}]")
        evaluates = bool(self.early_stopping_rounds) and any(table is not None for table in eval_privileged or ())
        trainer = self._trainer_class(self, views, teacher, teacher_weight, crossfit_groups, evaluates=evaluates)
        if trainer.has_teacher and not isinstance(self, xgboost.XGBRanker):
            check_labels_alone(self.objective, "PrivilegedXGBRanker")
        if is_soft and trainer.is_plain:
            raise ValueError("kl_weight and teacher_weight must be above 0 where no row has a label, got 0")
        label, keywords["eval_set"], classes, labelled = self._encode(y, views.eval_set)
        labelled = np.zeros(len(y), bool) if is_soft else labelled
        row_weights(row_values.get("sample_weight"), row_count(X), labelled=labelled, table="X")
        trainer.read_labels(classes, labelled)
        self._classes = None  # XGBoost's fit compares classes_ with the encoded labels.
        if labelled is not None and trainer.is_plain and not isinstance(self, xgboost.XGBRanker):
            rows = np.flatnonzero(labelled)
            keywords |= {name: on_host(values, name)[rows] for name, values in row_values.items()}
            super().fit(take_rows(as_table(views.student, "X"), rows), label[rows], **keywords)
        else:
            rebind(super().fit, train=trainer)(self, views.student, label, **keywords)
        self._classes = classes
        self.teacher_ = next(iter(trainer.teachers), None)
        return self

    def __getstate__(self) -> dict[str, Any]:
        """Return the state without the teacher, which holds privileged values."""
        state: dict[str, Any] = super().__getstate__()
        return {name: value for name, value in state.items() if name != "teacher_"}

    @called_like(xgboost.XGBModel.predict)
    def predict(
        self,
        X: Any,
        *,
        output_margin: bool = False,
        validate_features: bool = True,
        base_margin: Any = None,
        iteration_range: Any = None,
    ) -> Any:
        """Predict as XGBoost's estimator does, with the class names of y.

        Privileged columns in X are optional and ignored.
        """
        predicted = super().predict(
            self._student_part(X),
            output_margin=output_margin,
            validate_features=validate_features,
            base_margin=base_margin,
            iteration_range=iteration_range,
        )
        is_class = not (output_margin or self._classes is None or predicted.ndim > 1)
        return self._classes[predicted] if is_class else predicted

    def apply(self, X: Any, iteration_range: Any = None) -> Any:
        """Return the leaf of each row in each tree, as XGBoost's estimator does; privileged columns are ignored."""
        return super().apply(self._student_part(X), iteration_range)

    def get_xgb_params(self) -> dict[str, Any]:
        """Return the parameters of the booster, which are those of XGBoost's estimator."""
        params: dict[str, Any] = super().get_xgb_params()
        return {key: value for key, value in params.items() if key.partition("__")[0] not in self._own_parameters}

    def set_params(self, **params: Any) -> Self:
        """Set parameters; ``teacher__x`` sets the parameter x of an estimator as teacher."""
        nested = {key.removeprefix("teacher__"): params.pop(key) for key in list(params) if key[:9] == "teacher__"}
        super().set_params(**params)
        if nested and not hasattr(self.teacher, "set_params"):
            raise ValueError(f"teacher__{next(iter(nested))} needs an estimator, got teacher={self.teacher!r:.60}")
        if nested:
            self.teacher.set_params(**nested)
        return self

    def _stand_ins(self, q: Array) -> Array:
        """Return labels, never read, for rows that a given teacher alone supervises."""
        return np.ones(len(q), np.float32)

    def _encode(self, y: Any, eval_set: Any) -> tuple[Any, Any, Array | None, Array | None]:
        """Return y and the evaluation sets for XGBoost, the names of the classes, and which rows have a label, if any.

        XGBoost converts numbers but rejects missing values.
        """
        for i, (_, y_i) in enumerate(eval_set or ()):
            numbers_of(y_i, f"eval_set[{i}]")
        values, labelled = read_targets(y)
        return (y, eval_set, None, None) if labelled.all() else (values, eval_set, None, labelled)

    def _student_part(self, X: Any) -> Any:
        return X if self.privileged_features is None else student_part(X, self.privileged_features, self.n_features_in_)


class PrivilegedXGBClassifier(PrivilegedXGBModel, xgboost.XGBClassifier):
    """``XGBClassifier`` with a teacher that sees features which exist at training time only.

    It works with scikit-learn's pipelines, searches, calibration and stacking. Parameters, attributes and methods of
    ``xgboost.XGBClassifier`` keep their meaning. Without a teacher, or with ``kl_weight=0`` and no ``constraints``, the
    model equals XGBoost's to the bit; a y of one class is an error. Class names may have any type that can be sorted;
    scikit-learn's own scores support text, numbers, booleans and datetime64 only.

    Parameters
    ----------
    method, kl_weight, teacher_sees, crossfit, teacher_params, engine : as for :func:`pi_xgb.train`
    teacher : {"boosted", "forest", "linear", "mixed"}, estimator or Teacher, default=None
        ``"mixed"`` (the default where there are privileged columns), ``"boosted"``, ``"forest"`` or ``"linear"``, as
        for :func:`pi_xgb.train`. Or an estimator with scikit-learn's interface and ``predict_proba``, whose clones are
        fitted on X and the privileged columns, or on the latter only with ``teacher_sees="privileged"``. A
        ``sklearn.frozen.FrozenEstimator`` is not refitted, and its classes must be those of y. Or a
        :class:`pi_xgb.Teacher` for the rows of one ``fit``. Without privileged columns, a named kind or an estimator
        learns from X.
    privileged_features : list of str or int, default=None
        Names of the privileged columns in X, or their positions if X is an array; a mask is an error. The student does
        not see them; at ``predict`` they are optional and ignored.
    constraints : list of (constraint, weight), default=None
        A list of (constraint, weight), see :mod:`pi_xgb.constraints`: ``[(DemographicParity("sex"), 5.0)]``. A name is
        looked up in the privileged columns (or in X, for constraints without groups). For several columns, or
        positions in an array, use :func:`pi_xgb.sklearn.by_column`. Only its constraint reads a group column:
        neither the student nor the teacher sees it. The values of the training rows may replace a name, for one
        ``fit``.
    **kwargs
        The parameters of ``xgboost.XGBClassifier``. Those that name columns refer to the student's.

    Attributes
    ----------
    classes_
        The sorted classes of y.
    feature_names_in_, n_features_in_
        The student's features, which X must have at ``predict``.
    teacher_
        A :class:`pi_xgb.LearnedTeacher`, whose text has its score, a :class:`pi_xgb.JointTeacher`, the q of an
        estimator, or None without a teacher. It is not part of pickles and copies.

    Notes
    -----
    A saved, pickled or copied estimator holds no privileged value, and no privileged column name except those in its
    own parameters. In memory ``teacher_`` holds them; ``del model.teacher_`` releases them. Values in parameters stay
    there and in every pickle: values given to a constraint, a :class:`pi_xgb.Teacher`, a frozen estimator. Use column
    names instead where that matters.

    The teacher trains for as many rounds as the student. With more rounds it reproduces the labels more closely, unless
    ``crossfit`` or early stopping (``eval_privileged``) prevents it. It takes as much time as the student, ``crossfit``
    times as much with ``crossfit``.

    A row with a missing y is unlabelled. A teacher gains most where few rows have labels and many more have privileged
    values. Use ``crossfit=5``, a ``kl_weight`` of 1 to 10, and in searches and cross-validation ``cv=``
    :class:`pi_xgb.sklearn.LabelledKFold`. The assumption: which labels are missing depends on the features alone. An
    outcome that is still unknown is missing, not 0.

    A search or cross-validation splits ``privileged``, ``teacher_weight`` and ``crossfit_groups`` along with the rows.
    A pipeline passes them on: ``pipe.fit(X, y, model__privileged=Z)``. Metadata routing needs
    ``set_fit_request(privileged=True)`` and so on; ``privileged_features`` needs no routing. A stack in scikit-learn
    1.9 also routes ``privileged`` to its final estimator, which must then accept it.

    ``save_model`` writes the classes, and ``load_model`` reads them, if they are strings, numbers or booleans. The
    parameters of the estimator are not in the file, as with all estimators of scikit-learn.

    Examples
    --------
    >>> import pi_xgb
    >>> from pi_xgb.sklearn import PrivilegedXGBClassifier
    >>> data = pi_xgb.datasets.make_privileged(400, seed=0)
    >>> outcome = data.y.map({0: "healthy", 1: "ill"})
    >>> model = PrivilegedXGBClassifier(n_estimators=20, max_depth=3, kl_weight=2.0, crossfit=5)
    >>> bool(model.fit(data.x, outcome, privileged=data.z).score(data.x, outcome) > 0.7)
    True

    The privileged columns inside X:

    >>> both = data.x.join(data.z)
    >>> model = PrivilegedXGBClassifier(n_estimators=20, privileged_features=["z0", "z1", "z2"], kl_weight=2.0)
    >>> bool((model.fit(both, outcome).predict(both) == model.predict(data.x)).all())
    True

    The outcome of the first hundred is known so far:

    >>> so_far = outcome.where(outcome.index < 100)
    >>> model = PrivilegedXGBClassifier(n_estimators=20, max_depth=3, kl_weight=10.0, crossfit=5)
    >>> model.fit(data.x, so_far, privileged=data.z).classes_.tolist()
    ['healthy', 'ill']
    """

    def predict_proba(
        self, X: Any, validate_features: bool = True, base_margin: Any = None, iteration_range: Any = None
    ) -> Any:
        """Return the probability of each class; privileged columns in X are optional and ignored."""
        return super().predict_proba(self._student_part(X), validate_features, base_margin, iteration_range)

    @property
    def classes_(self) -> Any:
        """The sorted classes of y."""
        return super().classes_ if self._classes is None else self._classes

    def save_model(self, fname: Any) -> None:
        """Write the booster, as XGBoost's estimator does, with the names of the classes."""
        write_classes(self.get_booster(), self._classes)
        try:
            super().save_model(fname)
        finally:
            write_classes(self.get_booster(), None)

    def load_model(self, fname: Any) -> None:
        """Read a booster, as XGBoost's estimator does, and any names of classes."""
        super().load_model(fname)
        booster = self.get_booster()
        self._classes = read_classes(booster)
        write_classes(booster, None)

    def _stand_ins(self, q: Array) -> Array:
        # XGBoost counts the classes, which are those of the columns of q.
        return np.arange(len(q)) % (q.shape[1] if q.ndim == 2 else 2)

    def _encode(self, y: Any, eval_set: Any) -> tuple[Any, Any, Array | None, Array | None]:
        column = on_host(y)
        if column.ndim == 2 and column.shape[1] > 1:  # XGBoost encodes several labels per row.
            return super()._encode(y, eval_set)
        target = read_target(column_or_1d(column, warn=True), classes=True)
        warn_of_odd_classes(target)
        classes, codes = np.asarray(target.classes), target.values
        if classes.dtype.kind in "iufc":  # Rejects amounts; it supports few other types.
            known = codes if target.labelled is None else codes[target.labelled]
            check_classification_targets(classes[known.astype(np.intp)])
        # XGBoost recognises the training rows in eval_set by the identity of the labels.
        sets = [
            (X_i, codes if y_i is y and target.labelled is None else encode_labels(y_i, classes, name=f"eval_set[{i}]"))
            for i, (X_i, y_i) in enumerate(eval_set or ())
        ]
        return codes, None if eval_set is None else sets, classes, target.labelled


class PrivilegedXGBRegressor(PrivilegedXGBModel, xgboost.XGBRegressor):
    """``XGBRegressor`` with a teacher that sees features which exist at training time only.

    Parameters, attributes and methods of ``xgboost.XGBRegressor`` keep their meaning. Without a teacher, or with
    ``kl_weight=0`` and no ``constraints``, the model equals XGBoost's to the bit. With one target or several, a teacher
    supports ``objective="reg:squarederror"``, the default, ``"count:poisson"``, ``"reg:gamma"``, ``"reg:tweedie"``,
    ``"reg:logistic"``, ``"binary:logistic"`` and ``"binary:logitraw"``. With one target, it also supports
    ``"reg:absoluteerror"``, ``"reg:quantileerror"``, ``"reg:pseudohubererror"`` and ``"reg:squaredlogerror"``. For
    counts and costs the ``base_margin`` of ``fit``, the logarithm of an exposure, also applies to a trained teacher.
    ``"survival:aft"`` has bounds in place of y: use :func:`pi_xgb.train`.

    Parameters
    ----------
    method, kl_weight, teacher, teacher_sees, crossfit, teacher_params, engine : as for :class:`PrivilegedXGBClassifier`
    privileged_features, constraints : as for :class:`PrivilegedXGBClassifier`
        An estimator as teacher needs ``predict``.
    **kwargs
        The parameters of ``xgboost.XGBRegressor``.

    Examples
    --------
    >>> import pi_xgb
    >>> from pi_xgb.sklearn import PrivilegedXGBRegressor
    >>> data = pi_xgb.datasets.make_privileged(400, seed=0)
    >>> model = PrivilegedXGBRegressor(n_estimators=20, max_depth=3, kl_weight=1.0, method="jpib")
    >>> model.fit(data.x, data.q, privileged=data.z).predict(data.x).shape
    (400,)
    """


def _check_rows(X: Any, y: Any, values: dict[str, Any], of_set: str = "") -> None:
    """Raise if values are not those of the rows of X, in their order; XGBoost's own messages name no keyword."""
    X_name, y_name = (f"{name} of eval_set{of_set}" if of_set else name for name in ("X", "y"))
    named = {f"{name}{of_set}": value for name, value in values.items()}
    check_orders({X_name: X, y_name: y, **named})
    per_row(y_name, y, row_count(X), "values", missing="keep", several=True, table=X_name)
    if of_set:
        weight = f"sample_weight_eval_set{of_set}"
        row_weights(named.get(weight), row_count(X), name=weight, table=X_name)
