"""The estimators: those of XGBoost, whose ``fit`` calls ``pi_xgb.train``."""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Callable
from typing import Any, Literal, NamedTuple, Self

import numpy as np
import pandas as pd
import xgboost
from sklearn.utils import column_or_1d
from sklearn.utils.multiclass import check_classification_targets

from .._arrays import Array
from .._core.config import MethodName
from .._core.engines import Engine
from .._core.losses import LOSSES, OF_TARGETS, check_labels_alone
from .._core.teachers import DEFAULT_KL_WEIGHT
from .._rows.labels import encode_labels, numbers_of, read_target, read_targets, warn_of_odd_classes
from .._rows.per_row import on_host
from .._rows.row_alignment import (
    check_eval_orders,
    check_one_label_each,
    check_one_margin_each,
    check_orders,
    checked_weight,
    eval_pairs,
)
from .._rows.tables import as_table, take_rows
from .._rows.views import Views, divide, student_part
from .._xgb.classes import read_classes, with_classes, write_classes
from .._xgb.rebind import rebind
from .._xgb.signature import called_like, warn_of_misspelt
from .settings import Settings
from .splitters import check_folds_of_caller
from .trainer import Trainer, direct_trainer


def keyword_names(init: Callable[..., None]) -> frozenset[str]:
    """Return the keyword-only parameters, which XGBoost's estimator lacks."""
    parameters = inspect.signature(init).parameters.values()
    return frozenset(parameter.name for parameter in parameters if parameter.kind is parameter.KEYWORD_ONLY)


class Labels(NamedTuple):
    """y and the evaluation sets in the form that XGBoost expects."""

    y: Any
    eval_set: Any
    classes: Array | None = None
    """The names of the classes; None without names."""
    labelled: Array | None = None
    """True for rows with a label; None if all have one."""


class PrivilegedXGBModel(xgboost.XGBModel):
    """Base of the estimators: that of XGBoost, whose ``fit`` calls ``pi_xgb.train``."""

    _classes: Any = None
    """The sorted classes of y; None for a regressor."""
    teacher_: Any
    """The teacher of the last ``fit``, for inspection."""

    @called_like(xgboost.XGBRegressor.__init__)
    def __init__(
        self,
        *,
        method: MethodName = "kbpib",
        kl_weight: float = DEFAULT_KL_WEIGHT,
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

    _own_parameters = keyword_names(__init__)

    @called_like(xgboost.XGBModel.fit)
    def fit(
        self,
        X: Any,
        y: Any,
        *,
        privileged: Any = None,
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
            learns from the labelled rows and guides the student on all; with ``kl_weight=0``, or a
            ``teacher_weight`` of 0 in every row, unlabelled rows are ignored. With several columns, a row has
            all labels or none.
        privileged
            The privileged columns of the rows of X, in the same order; any type of table that X supports. The
            teacher's weight is 0 in rows without any value, unless ``teacher_weight`` is given.
        teacher_weight
            One number of at least 0 per row: the teacher's weight there, relative to ``kl_weight``; 1 by default.
            Constraints have their own weights.
        crossfit_groups
            One value per row: rows with the same value (the visits of a patient) are in the same fold of
            ``crossfit``. Ignored with ``crossfit=0``.
        eval_set
            A list of (X, y), as for XGBoost's estimators; every row needs a label.
        eval_privileged
            The privileged columns of the rows of ``eval_set``: a list with one table (or None) for each. The
            teacher stops on them if ``early_stopping_rounds`` is set. Ignored without ``early_stopping_rounds``,
            with ``method="jpib"``, ``kl_weight=0`` or an estimator as teacher, which do not stop early.
        sample_weight, base_margin, verbose, xgb_model, sample_weight_eval_set, base_margin_eval_set, feature_weights
            As for XGBoost's estimators. Weights apply to the teacher too, ``base_margin`` and ``xgb_model`` to the
            student only.
        """
        eval_set = eval_pairs(eval_set)
        return self._fit(
            X,
            y,
            divide(X, eval_set, privileged, eval_privileged, self.privileged_features),
            {"teacher_weight": teacher_weight, "crossfit_groups": crossfit_groups},
            {"sample_weight": sample_weight, "base_margin": base_margin},
            {"sample_weight_eval_set": sample_weight_eval_set, "base_margin_eval_set": base_margin_eval_set},
            verbose=verbose,
            xgb_model=xgb_model,
            feature_weights=feature_weights,
        )

    def _fit(
        self,
        X: Any,
        y: Any,
        views: Views,
        supervision: dict[str, Any],
        row_values: dict[str, Any],
        eval_values: dict[str, Any],
        **fit_keywords: Any,
    ) -> Self:
        """Fit with values per row for the teacher and for XGBoost, and values per evaluation set."""
        self._check_lengths(X, y, row_values.get("base_margin"), views.eval_set, eval_values)
        check_orders(X, "X", {"y": y, **supervision, **row_values})
        check_eval_orders(views.eval_set, eval_values)
        trainer = self._trainer(views)
        trainer.check_early_stopping(self.early_stopping_rounds, views.eval_set)
        if trainer.has_teacher:
            self._check_objective(y)
        labels = self._encode(y, views.eval_set)
        checked_weight(row_values.get("sample_weight"), X, labels.labelled)
        trainer = dataclasses.replace(trainer, classes=labels.classes, labelled=labels.labelled, **supervision)
        trainer.check_rows()
        given = {**row_values, "eval_set": labels.eval_set, **eval_values, **fit_keywords}
        keywords = {name: value for name, value in given.items() if value is not None}
        self._classes = None  # XGBoost's fit compares classes_ with the encoded labels.
        if labels.labelled is not None and trainer.is_plain and not isinstance(self, xgboost.XGBRanker):
            rows = np.flatnonzero(labels.labelled)
            labelled_values = {name: on_host(keywords[name], name)[rows] for name in row_values if name in keywords}
            super().fit(take_rows(as_table(views.student, "X"), rows), labels.y[rows], **keywords | labelled_values)
        else:
            rebind(super().fit, train=trainer)(self, views.student, labels.y, **keywords)
        self._classes = labels.classes
        self.teacher_ = next(iter(trainer.teachers), None)
        return self

    def __sklearn_tags__(self) -> Any:
        check_folds_of_caller()
        return super().__sklearn_tags__()

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
        return predicted if output_margin else self._decoded(predicted)

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
        # get_params would draw from a random_state that is a generator.
        new = [key for key in params if "__" not in key and not hasattr(self, key)]
        warn_of_misspelt(type(self).__name__, new, self._own_parameters)
        super().set_params(**params)
        if nested:
            if not hasattr(self.teacher, "set_params"):
                raise ValueError(f"teacher__{next(iter(nested))} needs an estimator, got teacher={self.teacher!r:.60}")
            self.teacher.set_params(**nested)
        return self

    def _trainer(self, views: Views) -> Trainer:
        settings = Settings.from_estimator(self)
        settings.check(has_privileged=views.privileged is not None)
        return direct_trainer(settings, views)

    def _check_lengths(self, X: Any, y: Any, base_margin: Any, eval_set: Any, eval_values: dict[str, Any]) -> None:
        """Raise if lengths differ; the messages of XGBoost come from C++ and name no keyword."""
        if y is None:
            raise ValueError(
                f"{type(self).__name__} requires y to be passed, but the target y is None: give one label per row"
            )
        check_one_label_each(y, X)
        check_one_margin_each(base_margin, X)
        for i, (X_i, y_i) in enumerate(eval_set or ()):
            where = f"eval_set[{i}]"
            check_one_label_each(y_i, X_i, f"y of {where}", f"X of {where}")
            given = {name: sets[i] for name, sets in eval_values.items() if sets is not None and i < len(sets)}
            check_one_margin_each(given.get("base_margin_eval_set"), X_i, f"base_margin_eval_set[{i}]", f"X of {where}")
            weight = given.get("sample_weight_eval_set")
            checked_weight(weight, X_i, name=f"sample_weight_eval_set[{i}]", X_name=f"X of {where}")

    def _encode(self, y: Any, eval_set: Any) -> Labels:
        """Return the labels for XGBoost, which converts numbers but rejects missing values."""
        for i, (_, y_i) in enumerate(eval_set or ()):
            numbers_of(y_i, f"eval_set[{i}]")
        column = on_host(y)
        if not pd.isna(column).any():
            numbers_of(column, "y")
            return Labels(y, eval_set)
        if column.ndim == 2 and column.shape[1] > 1:
            values, labelled = read_targets(column)
            return Labels(values, eval_set, labelled=labelled)
        target = read_target(column, "reg:squarederror")
        return Labels(target.values, eval_set, labelled=target.labelled)

    def _check_objective(self, y: Any) -> None:
        """Raise if the objective or the teacher does not support the columns of y."""
        n_targets = _number_of_targets(y)
        objective = self.get_xgb_params().get("objective") or "reg:squarederror"
        if not isinstance(self, xgboost.XGBRanker):
            check_labels_alone(objective, "PrivilegedXGBRanker")
        if n_targets > 1 and objective not in OF_TARGETS:
            raise ValueError(
                f"objective must be one of {', '.join(OF_TARGETS)} for a teacher of several targets, got {objective} "
                f"and y with {n_targets} columns: fit one estimator per column (sklearn.multioutput does it), or "
                "train without a teacher"
            )
        if n_targets > 1 and LOSSES[objective].probabilities and hasattr(self.teacher, "fit"):
            raise ValueError(
                f"teacher must not be an estimator for y with {n_targets} columns, as it predicts one probability per "
                "row: use teacher='boosted', or fit one estimator per column (sklearn.multioutput does it)"
            )

    def _decoded(self, predicted: Any) -> Any:
        """Return the prediction in the values of y."""
        return predicted

    def _student_part(self, X: Any) -> Any:
        return X if self.privileged_features is None else student_part(X, self.privileged_features, self.n_features_in_)


class PrivilegedXGBClassifier(PrivilegedXGBModel, xgboost.XGBClassifier):
    """``XGBClassifier`` with a teacher that sees features which exist at training time only.

    It works with scikit-learn's pipelines, searches, calibration and stacking. Parameters, attributes and methods of
    ``xgboost.XGBClassifier`` keep their meaning. Without a teacher, or with ``kl_weight=0`` and no ``constraints``, the
    model equals XGBoost's to the bit. Class names may have any type that can be sorted; scikit-learn's own scores
    support text, numbers, booleans and datetime64 only.

    Parameters
    ----------
    method, kl_weight, teacher_sees, crossfit, teacher_params, engine : as for :func:`pi_xgb.train`
    teacher : {"boosted", "forest", "linear", "mixed"}, estimator or Teacher, default=None
        ``"boosted"`` (the default where there are privileged columns), ``"forest"``, ``"linear"`` or ``"mixed"``, as
        for :func:`pi_xgb.train`. Or an estimator with scikit-learn's interface and ``predict_proba``, whose clones are
        fitted on X and the privileged columns, or on the latter only with ``teacher_sees="privileged"``. A
        ``sklearn.frozen.FrozenEstimator`` is not refitted, and its classes must be those of y. Or a
        :class:`pi_xgb.Teacher` for the rows of one ``fit``. Without privileged columns, a named kind or an estimator
        learns from X.
    privileged_features : list of str or int, default=None
        Names of the privileged columns in X, or their positions if X is an array. The student does not see them; at
        ``predict`` they are optional and ignored.
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
    Metadata routing needs ``set_fit_request(privileged=True)`` and so on; ``privileged_features`` needs no routing. A
    stack in scikit-learn 1.9 also routes ``privileged`` to its final estimator, which must then accept it.

    ``save_model`` writes the classes, and ``load_model`` reads them, if they are strings, numbers or booleans. The
    parameters of the estimator are not in the file, as with all estimators of scikit-learn.

    Examples
    --------
    >>> import pi_xgb
    >>> from pi_xgb.sklearn import PrivilegedXGBClassifier
    >>> data = pi_xgb.datasets.make_privileged(400, seed=0)
    >>> outcome = data.y.map({0: "healthy", 1: "ill"})
    >>> model = PrivilegedXGBClassifier(n_estimators=20, max_depth=3, kl_weight=2.0, crossfit=5)
    >>> model.fit(data.x, outcome, privileged=data.z).predict(data.x[:3]).tolist()
    ['healthy', 'healthy', 'ill']

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
        with with_classes(self.get_booster(), self._classes):
            super().save_model(fname)

    def load_model(self, fname: Any) -> None:
        """Read a booster, as XGBoost's estimator does, and any names of classes."""
        super().load_model(fname)
        booster = self.get_booster()
        self._classes = read_classes(booster)
        write_classes(booster, None)

    def _decoded(self, predicted: Any) -> Any:
        return predicted if self._classes is None or predicted.ndim > 1 else self._classes[predicted]

    def _encode(self, y: Any, eval_set: Any) -> Labels:
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
        return Labels(codes, None if eval_set is None else sets, classes, target.labelled)


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


def _number_of_targets(y: Any) -> int:
    shape = y.shape if hasattr(y, "shape") else np.asarray(y).shape
    return int(shape[1]) if len(shape) > 1 else 1
