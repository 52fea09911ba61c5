"""The estimators: XGBoost's own, whose ``fit`` ends in ``pi_xgb.train``."""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Callable
from typing import Any, Literal, NamedTuple, Self, Unpack

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
from .._xgb.keywords import EstimatorKeywords
from .._xgb.rebind import rebind
from .._xgb.signature import called_like, warn_of_misspelt
from .settings import Settings
from .trainer import Trainer, direct_trainer


def keyword_names(init: Callable[..., None]) -> frozenset[str]:
    """The parameters that an estimator has on top of those of its base."""
    parameters = inspect.signature(init).parameters.values()
    return frozenset(parameter.name for parameter in parameters if parameter.kind is parameter.KEYWORD_ONLY)


class Labels(NamedTuple):
    """y and the evaluation sets as XGBoost takes them."""

    y: Any
    eval_set: Any
    classes: Array | None = None
    """The names of the classes, where they have some."""
    labelled: Array | None = None
    """Which rows of y have a label; None where all have."""


class PrivilegedXGBModel(xgboost.XGBModel):
    """What classifier and regressor share: XGBoost's estimator, its ``fit`` ending in ``pi_xgb.train``."""

    _classes: Any = None
    """The classes as they were in y."""
    teacher_: Any
    """Who taught, to look at."""

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
        **kwargs: Unpack[EstimatorKeywords],
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
            As for XGBoost's estimators. Where it is missing (NaN, None, NaT, NA) nobody knows the label (yet): the
            teacher, which learns from the labelled rows, teaches the others too; with ``kl_weight=0`` they take no
            part. Of several columns a row has all or none.
        privileged
            The privileged columns of the rows of X, in the same order; any kind of table that X could be. Rows
            without any value are not taught, unless ``teacher_weight`` says otherwise.
        teacher_weight
            One number of at least 0 per row: how much the teacher counts there, relative to ``kl_weight``; 1 by
            default. Constraints have weights of their own.
        crossfit_groups
            One value per row: rows of one value (the visits of a patient) stay together in the folds of ``crossfit``.
            Not read where ``crossfit=0``.
        eval_set
            A list of (X, y), as for XGBoost's estimators; every row with its label.
        eval_privileged
            The privileged columns of the rows of ``eval_set``: a list with one table (or None) for each. The
            teacher stops on them where ``early_stopping_rounds`` is set. Not read where no teacher could stop:
            without ``early_stopping_rounds``, with ``method="jpib"``, ``kl_weight=0`` or an estimator as teacher.
        sample_weight, base_margin, verbose, xgb_model, sample_weight_eval_set, base_margin_eval_set, feature_weights
            As for XGBoost's estimators. Weights count for the teacher as well, ``base_margin`` and ``xgb_model``
            are the student's.
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
        of_rows: dict[str, Any],
        of_row: dict[str, Any],
        of_eval_set: dict[str, Any],
        **further: Any,
    ) -> Self:
        """What ``fit`` does with what is said of each row, to the teacher and to XGBoost, and of evaluation sets."""
        self._check_lengths(X, y, of_row.get("base_margin"), views.eval_set, of_eval_set)
        check_orders(X, "X", {"y": y, **of_rows, **of_row})
        check_eval_orders(views.eval_set, of_eval_set)
        trainer = self._trainer(views)
        trainer.check_early_stopping(self.early_stopping_rounds, views.eval_set)
        if trainer.teaches:
            self._check_objective(y)
        labels = self._encode(y, views.eval_set)
        checked_weight(of_row.get("sample_weight"), X, labels.labelled)
        trainer = dataclasses.replace(trainer, classes=labels.classes, labelled=labels.labelled, **of_rows)
        trainer.check_rows()
        given = {**of_row, "eval_set": labels.eval_set, **of_eval_set, **further}
        keywords = {name: value for name, value in given.items() if value is not None}
        self._classes = None  # XGBoost's fit looks at classes_, and expects the numbers that it is given.
        if labels.labelled is not None and trainer.is_plain and not isinstance(self, xgboost.XGBRanker):
            rows = np.flatnonzero(labels.labelled)
            of_labelled = {name: on_host(keywords[name], name)[rows] for name in of_row if name in keywords}
            super().fit(take_rows(as_table(views.student, "X"), rows), labels.y[rows], **keywords | of_labelled)
        else:
            rebind(super().fit, train=trainer)(self, views.student, labels.y, **keywords)
        self._classes = labels.classes
        self.teacher_ = next(iter(trainer.taught), None)
        return self

    def __getstate__(self) -> dict[str, Any]:
        """What is pickled: not the teacher, who knows the privileged columns."""
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
        """Predict as XGBoost's estimator does, classes by their own names.

        Privileged columns in X are left out, and need not be there.
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
        """The leaf of each row in each tree, as XGBoost's estimator gives it; privileged columns are left out."""
        return super().apply(self._student_part(X), iteration_range)

    def get_xgb_params(self) -> dict[str, Any]:
        """The parameters of the booster: those of XGBoost's estimator."""
        params: dict[str, Any] = super().get_xgb_params()
        return {key: value for key, value in params.items() if key.partition("__")[0] not in self._own_parameters}

    def set_params(self, **params: Any) -> Self:
        """Set parameters; ``teacher__x`` is the parameter x of a teacher that is an estimator."""
        nested = {key.removeprefix("teacher__"): params.pop(key) for key in list(params) if key[:9] == "teacher__"}
        # Not by get_params, which draws from a random_state that is a generator.
        new = [key for key in params if "__" not in key and not hasattr(self, key)]
        warn_of_misspelt(type(self).__name__, new, self._own_parameters)
        super().set_params(**params)
        if nested:
            if not hasattr(self.teacher, "set_params"):
                raise ValueError(f"teacher__{next(iter(nested))} was set, but the teacher is {self.teacher!r:.60}")
            self.teacher.set_params(**nested)
        return self

    def _trainer(self, views: Views) -> Trainer:
        settings = Settings.of(self)
        settings.check(has_privileged=views.privileged is not None)
        return direct_trainer(settings, views)

    def _check_lengths(self, X: Any, y: Any, base_margin: Any, eval_set: Any, of_eval_set: dict[str, Any]) -> None:
        """XGBoost's own messages about lengths are those of its C++."""
        if y is None:
            raise ValueError(
                f"{type(self).__name__} requires y to be passed, but the target y is None: give one label per row"
            )
        check_one_label_each(y, X)
        check_one_margin_each(base_margin, X)
        for i, (X_i, y_i) in enumerate(eval_set or ()):
            where = f"eval_set[{i}]"
            check_one_label_each(y_i, X_i, f"y of {where}", f"X of {where}")
            given = {name: sets[i] for name, sets in of_eval_set.items() if sets is not None and i < len(sets)}
            check_one_margin_each(given.get("base_margin_eval_set"), X_i, f"base_margin_eval_set[{i}]", f"X of {where}")
            weight = given.get("sample_weight_eval_set")
            checked_weight(weight, X_i, name=f"sample_weight_eval_set[{i}]", X_name=f"X of {where}")

    def _encode(self, y: Any, eval_set: Any) -> Labels:
        """The labels as XGBoost takes them. It converts numbers by itself, and knows no gaps."""
        for i, (_, y_i) in enumerate(eval_set or ()):
            numbers_of(y_i, f"eval_set[{i}]")
        column = on_host(y)
        if not pd.isna(column).any():
            numbers_of(column, "y")
            return Labels(y, eval_set)
        if column.ndim == 2 and column.shape[1] > 1:
            values, labelled = read_targets(column)
            return Labels(values, eval_set, labelled=labelled)
        target = read_target(column, "reg:squarederror", missing="unlabelled")
        return Labels(target.values, eval_set, labelled=target.labelled)

    def _check_objective(self, y: Any) -> None:
        """A teacher guides as many targets as the objective lets it, which y and this estimator have room for."""
        n_targets = _number_of_targets(y)
        objective = self.get_xgb_params().get("objective") or "reg:squarederror"
        if not isinstance(self, xgboost.XGBRanker):
            check_labels_alone(objective, "PrivilegedXGBRanker")
        if n_targets > 1 and objective not in OF_TARGETS:
            raise ValueError(
                f"a teacher guides one target, y has {n_targets} columns, of which it guides several for "
                f"{', '.join(OF_TARGETS)} only: fit one estimator for each (sklearn.multioutput does it), or train "
                "without a teacher"
            )
        if n_targets > 1 and LOSSES[objective].probabilities and hasattr(self.teacher, "fit"):
            raise ValueError(
                f"an estimator as teacher says one probability per row, y has {n_targets} columns: use "
                "teacher='boosted', or fit one estimator for each (sklearn.multioutput does it)"
            )

    def _decoded(self, predicted: Any) -> Any:
        """What was predicted, as y had it."""
        return predicted

    def _student_part(self, X: Any) -> Any:
        return X if self.privileged_features is None else student_part(X, self.privileged_features, self.n_features_in_)


class PrivilegedXGBClassifier(PrivilegedXGBModel, xgboost.XGBClassifier):
    """``XGBClassifier`` with a teacher that sees features which exist at training time only.

    Use it where scikit-learn's tools are used: pipelines, searches, calibration, stacking. All parameters,
    attributes and methods of ``xgboost.XGBClassifier`` mean what they mean there, and without a teacher, or with
    ``kl_weight=0`` and no ``constraints``, the model is its model to the bit. In addition, classes may have names of
    any type that can be sorted, though scikit-learn's own scores take text, numbers, truth values and datetime64 only.

    Parameters
    ----------
    method, kl_weight, teacher_sees, crossfit, teacher_params, engine
        As for :func:`pi_xgb.train`.
    teacher
        ``"boosted"`` (the default where there are privileged columns), ``"forest"``, ``"linear"`` or ``"mixed"``, as
        for :func:`pi_xgb.train`. Or an estimator of scikit-learn's kind with ``predict_proba``, whose clones are fitted
        on X and the privileged columns, or on the latter alone with ``teacher_sees="privileged"``; wrapped in
        ``sklearn.frozen.FrozenEstimator`` it is taken as it is, and must know the classes by the names that they have
        in y. Or a :class:`pi_xgb.Teacher` for the rows of one ``fit``. A word or an estimator without privileged
        columns learns from X.
    privileged_features
        Names of the privileged columns inside X, or their positions where X is an array. The student does not see
        them; at ``predict`` X may have them, in which case they are left out, or not.
    constraints
        A list of (constraint, weight), see :mod:`pi_xgb.constraints`: ``[(DemographicParity("sex"), 5.0)]``. A name is
        looked up in the privileged columns (or in X, for constraints that are not about groups); several
        columns, and positions in an array, are named by :func:`pi_xgb.sklearn.by_column`. A group column is read
        by its constraint only: neither the student nor the teacher sees it. In the place of a name may stand
        the values of the training rows, which serve one ``fit``.
    **kwargs
        The parameters of ``xgboost.XGBClassifier``. Those that name columns speak of the student's.

    Attributes
    ----------
    classes_
        The classes, sorted, as they were in y.
    feature_names_in_, n_features_in_
        The student's features: what X must have at ``predict``.
    teacher_
        Who taught: a :class:`pi_xgb.LearnedTeacher`, whose text says its score, a :class:`pi_xgb.JointTeacher`, the q
        of an estimator, or None where nobody did. It is not in pickles, nor in copies.

    Notes
    -----
    Saved, pickled or copied, the estimator keeps nothing of the privileged columns: no value, and no name but those in
    its own parameters. In memory ``teacher_`` knows them; ``del model.teacher_`` lets it go. What you put into the
    parameters stays there, though, and in every pickle: values given to a
    constraint, a :class:`pi_xgb.Teacher`, a frozen estimator. Name the columns instead where that matters.

    The teacher is trained for as many rounds as the student, and the longer the more it repeats the labels, unless
    ``crossfit`` or early stopping (``eval_privileged``) prevents it. It costs as much time as the student, ``crossfit``
    times as much with ``crossfit``.

    A missing y is a row whose label nobody knows (yet). A teacher pays most where labels are few, and privileged values
    there for many rows more: give it ``crossfit=5`` and a ``kl_weight`` of 1 to 10, and searches and cross-validation
    ``cv=`` :class:`pi_xgb.sklearn.LabelledKFold`. The assumption: which labels are missing depends on the features
    alone. An outcome that has not come yet is missing, not a 0.

    In a search or in cross-validation ``privileged``, ``teacher_weight`` and ``crossfit_groups`` are cut along with the
    rows. Through metadata routing, say ``set_fit_request(privileged=True)`` and so on; ``privileged_features`` needs no
    routing at all. A stack in scikit-learn 1.9
    hands what is routed to its final estimator as well, which must then take ``privileged``.

    ``save_model`` writes the classes along, and ``load_model`` reads them, where they are strings, numbers or
    truth values. The parameters of the table above are not in the file, as those of scikit-learn's estimators never
    are.

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
        """The probability of each class; privileged columns in X are left out, and need not be there."""
        return super().predict_proba(self._student_part(X), validate_features, base_margin, iteration_range)

    @property
    def classes_(self) -> Any:
        """The classes, sorted, as they were in y."""
        return super().classes_ if self._classes is None else self._classes

    def save_model(self, fname: Any) -> None:
        """Write the booster, as XGBoost's estimator does, and the names of the classes."""
        with with_classes(self.get_booster(), self._classes):
            super().save_model(fname)

    def load_model(self, fname: Any) -> None:
        """Read a booster, as XGBoost's estimator does, and the names of the classes, if there are any."""
        super().load_model(fname)
        booster = self.get_booster()
        self._classes = read_classes(booster)
        write_classes(booster, None)

    def _decoded(self, predicted: Any) -> Any:
        return predicted if self._classes is None or predicted.ndim > 1 else self._classes[predicted]

    def _encode(self, y: Any, eval_set: Any) -> Labels:
        column = on_host(y)
        if column.ndim == 2 and column.shape[1] > 1:  # Several labels per row, which XGBoost encodes by itself.
            return super()._encode(y, eval_set)
        target = read_target(column_or_1d(column, warn=True), classes=True, missing="unlabelled")
        warn_of_odd_classes(target)
        classes, codes = np.asarray(target.classes), target.values
        if classes.dtype.kind in "iufc":  # About amounts in the place of classes; it knows few types of names.
            known = codes if target.labelled is None else codes[target.labelled]
            check_classification_targets(classes[known.astype(np.intp)])
        # The training labels again must stay one object, by which XGBoost recognises the training rows.
        sets = [
            (X_i, codes if y_i is y and target.labelled is None else encode_labels(y_i, classes, name=f"eval_set[{i}]"))
            for i, (X_i, y_i) in enumerate(eval_set or ())
        ]
        return Labels(codes, None if eval_set is None else sets, classes, target.labelled)


class PrivilegedXGBRegressor(PrivilegedXGBModel, xgboost.XGBRegressor):
    """``XGBRegressor`` with a teacher that sees features which exist at training time only.

    All parameters, attributes and methods of ``xgboost.XGBRegressor`` mean what they mean there, and without a
    teacher, or with ``kl_weight=0`` and no ``constraints``, the model is its model to the bit. A teacher can guide
    ``objective="reg:squarederror"``, the default, ``"count:poisson"``, ``"reg:gamma"``, ``"reg:tweedie"``,
    ``"reg:logistic"``, ``"binary:logistic"`` and ``"binary:logitraw"``, of one target or several, and of one target
    ``"reg:absoluteerror"``, ``"reg:quantileerror"``, ``"reg:pseudohubererror"`` and ``"reg:squaredlogerror"``. For
    counts and costs the ``base_margin`` of ``fit``, the logarithm of an exposure, counts for a teacher that is trained
    here, too. ``"survival:aft"`` has bounds in the place of y: :func:`pi_xgb.train` takes them.

    Parameters
    ----------
    method, kl_weight, teacher, teacher_sees, crossfit, teacher_params, engine, privileged_features, constraints
        As for :class:`PrivilegedXGBClassifier`; an estimator as teacher needs ``predict``.
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
