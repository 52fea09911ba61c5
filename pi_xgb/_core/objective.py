"""The custom objective: from (margin, DMatrix) to the blended gradient and Hessian."""

from __future__ import annotations

import dataclasses
import weakref
from typing import Any

import numpy as np
import xgboost
from xgboost import collective

from .._arrays import Array
from .._rows.supervision import no_labelled_row, read_labelled, read_teacher_weight
from .._xgb.booster import calling_booster, configuration_of
from .._xgb.matrix import labels_of
from .._xgb.params import check_scale_pos_weight
from .attached import attached_teacher
from .checks import check_is_dmatrix, check_kl_weight
from .distillation import DistillationLoss
from .losses import NUMBERS, Loss, loss_with_gradient
from .spec import Spec
from .task import Task
from .teachers import DEFAULT_KL_WEIGHT, WeightedTeacher, as_weighted_teachers, check_same_labelled


class KLObjective:
    """XGBoost's loss plus ``kl_weight`` times the divergence from a teacher, as an objective for ``xgboost.train``.

    Use it to add a teacher to a training script without changing the rest: pass it as ``obj=`` and keep
    ``params["objective"]``, so that predictions, metrics and the saved model stay probabilities.
    :func:`pi_xgb.train` does the same and three things more: it sets the intercept, checks everything before
    training starts, and shows probabilities to a ``custom_metric``.

    Parameters
    ----------
    teacher : array-like, Teacher or list of (Teacher, weight), default=None
        An array with one q per training row (``(rows, K)`` for K classes), a :class:`Teacher`, or a list of
        (teacher, weight). Without it the teacher is read from the training matrix, where
        :func:`attach_teacher` put it.
    kl_weight : float, default=0.5
        How much the teacher counts, against 1 for the labels. With a list, the weights are in the list.
    objective : str, default=None
        Mostly not needed: the loss is that of the calling Booster, from ``params["objective"]`` with its params, or
        ``reg:squarederror`` by default, as in XGBoost. Name it to check q at once, and for calls without a Booster; it
        must agree with the Booster's.
    scale_pos_weight : float, default=1.0
        XGBoost ignores the parameter of that name under a custom objective: give it here instead, or as well. Where it
        stands in params alone, that is an error.
    labelled, teacher_weight : as for :func:`pi_xgb.train`
        Which rows have a label, and how much the teacher counts in each.
    device : str, default="cpu"
        ``"cuda"`` computes the gradient on the GPU if CuPy is installed, and in host memory if it is not. Pass the
        value of ``params["device"]``.

    Notes
    -----
    With a custom objective XGBoost does not estimate the intercept: margins start at 0 unless
    ``params["base_score"]`` is set. :meth:`base_score` returns the value that :func:`pi_xgb.train` sets. A
    ``custom_metric`` sees margins, as with any custom objective.

    Objects are picklable, and can be used for any number of trainings on the rows of their teacher. Called by hand,
    outside of a Booster's training, they have no earlier rounds: constraints use the steps of ``hessian="adaptive"``.
    For ``XGBClassifier(objective=...)``, which calls its objective differently, pass :meth:`sklearn`.

    Examples
    --------
    >>> import pi_xgb, xgboost as xgb
    >>> data = pi_xgb.datasets.make_privileged(300, seed=0)
    >>> dtrain = xgb.DMatrix(data.x, data.y)
    >>> params = {"objective": "binary:logistic", "max_depth": 3, "nthread": 1}
    >>> objective = pi_xgb.KLObjective(data.q, kl_weight=2.0)
    >>> params["base_score"] = objective.base_score(params, dtrain)
    >>> booster = xgb.train(params, dtrain, 10, obj=objective)
    >>> round(float(booster.predict(dtrain).mean()), 2)
    0.5
    """

    def __init__(
        self,
        teacher: Any = None,
        kl_weight: float = DEFAULT_KL_WEIGHT,
        *,
        objective: str | None = None,
        scale_pos_weight: float = 1.0,
        device: str = "cpu",
        labelled: Any = None,
        teacher_weight: Any = None,
    ) -> None:
        self.objective = objective
        self.scale_pos_weight = check_scale_pos_weight(scale_pos_weight)
        self.kl_weight = check_kl_weight(kl_weight)
        self.device = str(device)
        named = None if objective is None else loss_with_gradient(objective)
        self._callers_loss = CallersLoss()
        self._labelled = read_labelled(labelled)
        self._teachers: list[WeightedTeacher] | None = None
        if teacher is not None:
            within = NUMBERS if named is None else named.range
            per_row = read_teacher_weight(teacher_weight)
            teachers = as_weighted_teachers(teacher, kl_weight, within, per_row)
            check_same_labelled(teachers, self._labelled)
            self._teachers = [weighted for weighted in teachers if weighted.kl_weight > 0]
        elif labelled is not None or teacher_weight is not None:
            raise ValueError(
                "labelled and teacher_weight require teacher=: for a teacher attached to the matrix pass them to "
                "attach_teacher"
            )
        self._round = NewTraining()

    def __call__(self, margin: Array, dtrain: xgboost.DMatrix) -> tuple[Array, Array]:
        """Return gradient and Hessian for ``xgboost.train`` and ``xgboost.cv``."""
        if not isinstance(dtrain, xgboost.DMatrix):
            raise TypeError(
                f"{type(self).__name__} must be called with predictions and a DMatrix, as xgboost.train does, got a "
                f"{type(dtrain).__name__} for the DMatrix: pass objective=pi_xgb.KLObjective(...).sklearn to "
                "XGBClassifier and XGBRegressor"
            )
        return self._gradient(margin, labels_of(dtrain), dtrain.get_weight(), dtrain)

    def sklearn(self, y_true: Array, y_pred: Array, sample_weight: Array | None = None) -> tuple[Array, Array]:
        """The same, with the arguments of ``XGBClassifier(objective=...)`` and ``XGBRegressor(objective=...)``.

        Examples
        --------
        >>> import pi_xgb, xgboost as xgb
        >>> data = pi_xgb.datasets.make_privileged(300, seed=0)
        >>> objective = pi_xgb.KLObjective(data.q, kl_weight=2.0)
        >>> model = xgb.XGBClassifier(n_estimators=5, objective=objective.sklearn).fit(data.x, data.y)
        >>> model.predict_proba(data.x).shape
        (300, 2)
        """
        weight = np.empty(0, np.float32) if sample_weight is None else np.asarray(sample_weight, np.float32)
        return self._gradient(y_pred, np.asarray(y_true, np.float32), weight, None)

    def base_score(self, params: Any, dtrain: xgboost.DMatrix) -> Any:
        """Return the ``base_score`` with which ``xgboost.train`` gives the model of :func:`pi_xgb.train`.

        It is the weighted mean of what the student learns: the known labels and the teacher's predictions. The mean of
        the known labels differs from it where rows have no label. At ``kl_weight=0`` :func:`pi_xgb.train` removes rows
        without a label and a script does not, so their values still place splits, and the models differ.

        Parameters
        ----------
        params : dict
            The params of the training, with their objective. A ``base_score`` in them is ignored.
        dtrain : xgboost.DMatrix
            The training rows.

        Returns
        -------
        float or list of float
            The value for ``params["base_score"]``; a list for several classes or targets.

        Examples
        --------
        >>> import pi_xgb, xgboost as xgb
        >>> data = pi_xgb.datasets.make_privileged(300, seed=0)
        >>> dtrain, params = xgb.DMatrix(data.x, data.y), {"objective": "binary:logistic", "nthread": 1}
        >>> objective = pi_xgb.KLObjective(data.q, kl_weight=2.0, labelled=data.q > 0.5)
        >>> params["base_score"] = objective.base_score(params, dtrain)
        >>> round(params["base_score"], 3), round(float(data.y[data.q > 0.5].mean()), 3)
        (0.554, 0.752)
        >>> model = pi_xgb.train(params, dtrain, 5, teacher=data.q, kl_weight=2.0, labelled=data.q > 0.5)
        >>> float(abs(xgb.train(params, dtrain, 5, obj=objective).predict(dtrain) - model.predict(dtrain)).max())
        0.0
        """
        spec = Spec.read(params)
        loss_with_gradient(spec.objective)  # an error for an objective without one
        _check_agree(self.objective, spec.objective)
        if spec.loss.applies_scale_pos_weight:
            _check_scale(spec.scale_pos_weight, self.scale_pos_weight)
        spec = dataclasses.replace(spec, scale_pos_weight=self.scale_pos_weight)
        check_is_dmatrix(dtrain, "dtrain")
        label = labels_of(dtrain)
        teachers, labelled = self._teachers_for(spec, dtrain, label.shape[1] if label.ndim == 2 else 1)
        _check_lengths(dtrain.num_row(), labelled, teachers)
        return DistillationLoss(Task.from_matrix(spec, dtrain, labelled), teachers).base_score()

    def _gradient(
        self, margin: Array, label: Array, weight: Array, dtrain: xgboost.DMatrix | None
    ) -> tuple[Array, Array]:
        spec = self._spec(margin, label)
        teachers, labelled = self._teachers_for(spec, dtrain, label.shape[1] if label.ndim == 2 else 1)
        # Repeated in every round, since the matrix may have changed; it costs two passes over the labels.
        _check_lengths(len(margin), labelled, teachers)
        task = Task.from_arrays(spec, label, weight, labelled, n_rows=len(margin), name="the training matrix")
        distillation = DistillationLoss(task, teachers)
        self._round.start(distillation, dtrain)
        return distillation.gradient(margin)

    def _spec(self, margin: Array, label: Array) -> Spec:
        objective, loss = self._callers_loss.find(calling_booster(), self.objective, self.scale_pos_weight)
        if (margin.ndim == 2) != (loss.multiclass or label.ndim == 2):
            raise ValueError(
                f"the objective {objective!r} does not fit margins of shape {margin.shape}: "
                "KLObjective(objective=...) must name the objective in params"
            )
        n_classes = margin.shape[1] if loss.multiclass else 0
        return Spec({}, objective, loss, n_classes, self.scale_pos_weight, self.device)

    def _teachers_for(
        self, spec: Spec, dtrain: xgboost.DMatrix | None, n_targets: int
    ) -> tuple[list[WeightedTeacher], Array | None]:
        if self._teachers is not None:
            return self._teachers, self._labelled
        if dtrain is None:
            raise ValueError(
                "KLObjective has no teacher, and XGBoost's estimators pass no DMatrix with an attached one: use "
                "KLObjective(q, ...)"
            )
        if n_targets > 1:
            raise ValueError(
                f"a DMatrix has room for a teacher of one target, got {n_targets} targets: use pi_xgb.cv, or pass "
                "KLObjective(q, ...)"
            )
        teacher, labelled = attached_teacher(dtrain, spec.n_classes, spec.loss.range)
        return [WeightedTeacher(teacher, self.kl_weight, teacher.teacher_weight)], labelled

    def __repr__(self) -> str:
        return f"{type(self).__name__}(kl_weight={self.kl_weight}, objective={self.objective!r})"


def _check_lengths(n_rows: int, labelled: Array | None, teachers: list[WeightedTeacher]) -> None:
    """Raise unless values per row are as many as rows, and one row is labelled."""
    for name, values in [("labelled", labelled), *(("teacher_weight", weighted.per_row) for weighted in teachers)]:
        if values is not None and len(values) != n_rows:
            raise ValueError(
                f"{name} has {len(values)} rows, but the training matrix has {n_rows}: pass values for these rows "
                "(in xgboost.cv use attach_teacher, or pi_xgb.cv)"
            )
    if labelled is not None and not labelled.any() and not collective.is_distributed():
        raise no_labelled_row("labelled")


class _CallerState:
    """State about calling Boosters; copies and other processes start without it."""

    def __reduce__(self) -> Any:
        return type(self), ()


class CallersLoss(_CallerState):
    """The loss of the calling Booster, from its objective and params."""

    def __init__(self) -> None:
        self._known: tuple[weakref.ref[xgboost.Booster], tuple[str, Loss]] | None = None

    def find(self, booster: xgboost.Booster | None, named: str | None, scale_pos_weight: float) -> tuple[str, Loss]:
        """Return the objective and loss of a Booster; without a Booster those that are ``named``."""
        if booster is None:
            if named is None:
                raise ValueError(
                    "objective must be named where no Booster calls: KLObjective(q, objective='binary:logistic')"
                )
            return named, loss_with_gradient(named)
        known = self._known
        if known is None or known[0]() is not booster:
            found = configuration_of(booster)
            loss = loss_with_gradient(found.objective).with_params(found.objective_params)
            _check_agree(named, found.objective)
            if loss.applies_scale_pos_weight:
                _check_scale(float(found.objective_params["scale_pos_weight"]), scale_pos_weight)
            known = self._known = weakref.ref(booster), (found.objective, loss)
        return known[1]


def _check_agree(named: str | None, objective: str) -> None:
    if named is not None and not loss_with_gradient(named).has_gradient_of(loss_with_gradient(objective)):
        raise ValueError(
            f"KLObjective has objective={named!r}, but the Booster trains {objective!r}: set params['objective'] = "
            f"{named!r}, or leave objective out of KLObjective. With a function as objective XGBRegressor trains "
            "reg:squarederror and XGBClassifier its classes; for others pass objective= and teacher= to "
            "PrivilegedXGBRegressor"
        )


def _check_scale(in_params: float, given: float) -> None:
    if in_params not in (1, given):
        raise ValueError(
            f"params['scale_pos_weight'] is {in_params:g}, which XGBoost ignores under a custom objective, and "
            f"KLObjective has {given:g}: pass KLObjective(..., scale_pos_weight={in_params:g}), or leave it out"
        )


class NewTraining(_CallerState):
    """Detects the first round of a training, in which adaptive teachers must start."""

    def __init__(self) -> None:
        self._booster: weakref.ref[xgboost.Booster] | None = None
        self._averages: weakref.WeakKeyDictionary[xgboost.Booster, dict[int, Array]] = weakref.WeakKeyDictionary()
        self._settings: dict[str, str] = {}

    def start(self, distillation: DistillationLoss, dtrain: xgboost.DMatrix | None) -> None:
        """Start adaptive teachers, unless this is a later round of the training in which they were started."""
        if not distillation.is_adaptive:
            return
        booster = calling_booster()
        if booster is None or self._booster is None or self._booster() is not booster:
            distillation.start(booster, dtrain)
            self._settings = {} if booster is None else configuration_of(booster).settings
            # Set after the start: if that raised, the next call must raise again.
            self._booster = None if booster is None else weakref.ref(booster)
        distillation.use_steps_of(self._settings)
        # One dict per training, since the rounds of several may alternate; without a Booster the training is unknown.
        distillation.averages = None if booster is None else self._averages.setdefault(booster, {})
