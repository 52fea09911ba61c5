"""The custom objective: from (margin, DMatrix) to the blended gradient and Hessian."""

from __future__ import annotations

from typing import Any

import numpy as np
import xgboost
from xgboost import collective

from .._arrays import Array
from .._rows.supervision import no_labelled_row, read_labelled, read_teacher_weight
from .._xgb.matrix import labels_of
from .._xgb.params import check_scale_pos_weight
from .attached import attached_teacher
from .calling_booster import AskedLoss, NewTraining, calling_booster
from .checks import check_kl_weight
from .distillation import DistillationLoss
from .loss import NUMBERS
from .losses import loss_with_gradient
from .spec import Spec
from .task import Task
from .teachers import DEFAULT_KL_WEIGHT, WeightedTeacher, as_weighted_teachers


class KLObjective:
    """XGBoost's loss plus ``kl_weight`` times the divergence from a teacher, as an objective for ``xgboost.train``.

    Use it to add a teacher to a training script without changing the rest: pass it as ``obj=`` and keep
    ``params["objective"]``, so that predictions, metrics and the saved model stay probabilities.
    :func:`pi_xgb.train` does the same and three things more: it sets the intercept, checks everything before
    training starts, and shows probabilities to a ``custom_metric``.

    Parameters
    ----------
    teacher
        An array with one q per training row (``(rows, K)`` for K classes), a :class:`Teacher`, or a list of
        (teacher, weight). Without it the teacher is read from the training matrix, where
        :func:`attach_teacher` put it.
    kl_weight
        How much the teacher counts, against 1 for the labels. With a list, the weights are in the list.
    objective
        Mostly not needed: the loss is that of the Booster which asks, hence the one in ``params["objective"]`` with its
        params, or ``reg:squarederror`` where these name none, as in XGBoost. Name it to have q checked at once, and
        where no Booster asks; one that differs from the Booster's is an error.
    scale_pos_weight
        XGBoost ignores the parameter of that name under a custom objective: give it here instead, or as well. Where it
        stands in params alone, that is an error.
    labelled, teacher_weight
        As for :func:`pi_xgb.train`: which rows have a label, and how much the teacher counts in each.
    device
        ``"cuda"`` computes the gradient on the GPU if CuPy is installed, and in host memory if it is not. Give it
        what ``params["device"]`` says.

    Notes
    -----
    With a custom objective XGBoost does not estimate the intercept: margins start at 0 unless
    ``params["base_score"]`` says otherwise. A ``custom_metric`` sees margins, as with any custom objective.

    Objects are picklable, and can be used for any number of trainings on the rows of their teacher. Called by hand,
    outside of a Booster's training, they know of no rounds before: constraints have the step of ``hessian="adaptive"``.
    For ``XGBClassifier(objective=...)``, which calls its objective differently, pass :meth:`sklearn`.

    Examples
    --------
    >>> import pi_xgb, xgboost as xgb
    >>> data = pi_xgb.datasets.make_privileged(300, seed=0)
    >>> dtrain = xgb.DMatrix(data.x, data.y)
    >>> params = {"objective": "binary:logistic", "max_depth": 3, "base_score": float(data.y.mean())}
    >>> booster = xgb.train(params, dtrain, 10, obj=pi_xgb.KLObjective(data.q, kl_weight=2.0))
    >>> bool(booster.predict(dtrain).max() <= 1)
    True
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
        self._asked = AskedLoss()
        self._labelled = read_labelled(labelled)
        self._weighted: list[WeightedTeacher] | None = None
        if teacher is not None:
            within = NUMBERS if named is None else named.range
            per_row = read_teacher_weight(teacher_weight)
            self._weighted = [
                one for one in as_weighted_teachers(teacher, kl_weight, within, per_row) if one.kl_weight > 0
            ]
        elif labelled is not None or teacher_weight is not None:
            raise ValueError(
                "labelled and teacher_weight go with a teacher: where it travels with the matrix, pass them to "
                "attach_teacher as well"
            )
        self._round = NewTraining()

    def __call__(self, margin: Array, dtrain: xgboost.DMatrix) -> tuple[Array, Array]:
        """Gradient and Hessian, as ``xgboost.train`` and ``xgboost.cv`` ask for them."""
        if not isinstance(dtrain, xgboost.DMatrix):
            raise TypeError(
                f"{type(self).__name__} expects predictions and a DMatrix, as xgboost.train gives them, got a "
                f"{type(dtrain).__name__} for the DMatrix. XGBClassifier and XGBRegressor call their objective in "
                "another way: give them objective=pi_xgb.KLObjective(...).sklearn"
            )
        return self._gradient(margin, labels_of(dtrain), dtrain.get_weight(), dtrain)

    def sklearn(self, y_true: Array, y_pred: Array, sample_weight: Array | None = None) -> tuple[Array, Array]:
        """The same, in the order of ``XGBClassifier(objective=...)`` and ``XGBRegressor(objective=...)``.

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

    def _gradient(
        self, margin: Array, label: Array, weight: Array, dtrain: xgboost.DMatrix | None
    ) -> tuple[Array, Array]:
        spec = self._spec(margin, label)
        weighted, labelled = self._taught_by(spec, dtrain, label.shape[1] if label.ndim == 2 else 1)
        # Repeated in every round because nothing says whether the matrix is still the one seen last time;
        # it costs two passes over the labels.
        _check_lengths(len(margin), labelled, weighted)
        task = Task.of(spec, label, weight, labelled, n_rows=len(margin), name="the training matrix")
        distillation = DistillationLoss(task, weighted)
        self._round.start(distillation, dtrain)
        return distillation.gradient(margin, self._round.eta)

    def _spec(self, margin: Array, label: Array) -> Spec:
        objective, loss = self._asked.of(calling_booster(), self.objective, self.scale_pos_weight)
        if (margin.ndim == 2) != (loss.multiclass or label.ndim == 2):
            raise ValueError(
                f"the objective {objective!r} does not fit margins of shape {margin.shape}: "
                "KLObjective(objective=...) must name the objective in params"
            )
        n_classes = margin.shape[1] if loss.multiclass else 0
        return Spec({}, objective, loss, n_classes, self.scale_pos_weight, self.device)

    def _taught_by(
        self, spec: Spec, dtrain: xgboost.DMatrix | None, n_targets: int
    ) -> tuple[list[WeightedTeacher], Array | None]:
        if self._weighted is not None:
            return self._weighted, self._labelled
        if dtrain is None:
            raise ValueError(
                "KLObjective has no teacher: XGBoost's estimators hand over no DMatrix that could carry "
                "one, so pass it as KLObjective(q, ...)"
            )
        if n_targets > 1:
            raise ValueError(
                f"a matrix has room for a teacher of one target, and this one has {n_targets}: use pi_xgb.cv, or pass "
                "KLObjective(q, ...)"
            )
        teacher, labelled = attached_teacher(dtrain, spec.n_classes, spec.loss.range)
        return [WeightedTeacher(teacher, self.kl_weight, teacher.teacher_weight)], labelled

    def __repr__(self) -> str:
        return f"{type(self).__name__}(kl_weight={self.kl_weight}, objective={self.objective!r})"


def _check_lengths(n_rows: int, labelled: Array | None, weighted: list[WeightedTeacher]) -> None:
    """What was said of rows was said of these."""
    for name, values in [("labelled", labelled), *(("teacher_weight", one.per_row) for one in weighted)]:
        if values is not None and len(values) != n_rows:
            raise ValueError(
                f"{name} has {len(values)} rows, the training matrix has {n_rows}: it must be made for these very "
                "rows. (Inside xgboost.cv use attach_teacher, which lets it travel with them, or pi_xgb.cv)"
            )
    if labelled is not None and not labelled.any() and not collective.is_distributed():
        raise no_labelled_row("labelled")


class DistillationObjective:
    """The gradient of one distillation in one training: nothing to be checked anew in every round."""

    def __init__(self, distillation: DistillationLoss, base_score: Any = None) -> None:
        self._distillation, self._base_score = distillation, base_score
        self._round = NewTraining()

    def __call__(self, margin: Array, dtrain: xgboost.DMatrix) -> tuple[Array, Array]:
        self._round.start(self._distillation, dtrain, self._base_score)
        return self._distillation.gradient(margin, self._round.eta)
