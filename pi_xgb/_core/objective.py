"""``KLObjective`` and ``JointObjective``: custom objectives, from (margin, DMatrix) to the blended gradient."""

from __future__ import annotations

import copy
import dataclasses
import weakref
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import xgboost
from xgboost import collective

from .._arrays import Array
from .._rows.matrix_checks import check_is_dmatrix
from .._rows.supervision import no_labelled_row, read_labelled, read_teacher_weight
from .._xgb.booster import calling_booster, configuration_of
from .._xgb.matrix import labels_of
from .._xgb.params import check_scale_pos_weight, class_count, user_params
from .blend import Distillation
from .joint import JointTeacher, pairs_of
from .losses import NUMBERS, Loss, Params, loss_named
from .teachers import DEFAULT_KL_WEIGHT, as_guide, check_kl_weight, weighted
from .training import Spec, Student, Training


class KLObjective:
    """XGBoost's loss plus ``kl_weight`` times the divergence from a teacher, as an objective for ``xgboost.train``.

    Use it to add a teacher to a training script without changing the rest: pass it as ``obj=`` and keep
    ``params["objective"]``, so that predictions, metrics and the saved model stay probabilities.
    :func:`pi_xgb.train` does the same and three things more: it sets the intercept, checks keywords and rows
    before training starts, and shows probabilities to a ``custom_metric``.

    Parameters
    ----------
    teacher : array-like, Teacher or list of (Teacher, weight)
        An array with one q per training row (``(rows, K)`` for K classes), a :class:`Teacher`, or a list of
        (teacher, weight).
    kl_weight : float, default=None
        How much the teacher counts, against 1 for the labels. None is 0.5. With a list, the weights are in the list.
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
    ``custom_metric`` sees margins, as with any custom objective. For cross-validation use :func:`pi_xgb.cv`, which
    takes the objective and cuts it along with the rows.

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

    _callers: weakref.WeakKeyDictionary[xgboost.Booster, _Caller]
    _started: weakref.ref[xgboost.Booster] | None

    def __init__(
        self,
        teacher: Any,
        kl_weight: float | None = None,
        *,
        objective: str | None = None,
        scale_pos_weight: float = 1.0,
        device: str = "cpu",
        labelled: Any = None,
        teacher_weight: Any = None,
    ) -> None:
        self.objective = objective
        self.scale_pos_weight = check_scale_pos_weight(scale_pos_weight)
        self.kl_weight = DEFAULT_KL_WEIGHT if kl_weight is None else check_kl_weight(kl_weight)
        self.device = str(device)
        self._named = None if objective is None else loss_with_gradient(objective)
        within = NUMBERS if self._named is None else self._named.range
        self._labelled = read_labelled(labelled)
        every = weighted(teacher, kl_weight, read_teacher_weight(teacher_weight))
        self._guides = [guide for guide in (as_guide(each, within) for each in every) if guide.kl_weight > 0]
        self.__setstate__({})

    def __call__(self, margin: Array, dtrain: xgboost.DMatrix) -> tuple[Array, Array]:
        """Return gradient and Hessian for ``xgboost.train``."""
        if not isinstance(dtrain, xgboost.DMatrix):
            raise TypeError(
                f"{type(self).__name__} must be called with predictions and a DMatrix, got a {type(dtrain).__name__}: "
                "pass objective=pi_xgb.KLObjective(...).sklearn to XGBClassifier and XGBRegressor"
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
        self._check_agrees(spec.loss, spec.scale_pos_weight)
        check_is_dmatrix(dtrain, "dtrain")
        self._check_lengths(dtrain.num_row())
        if spec.loss.applies_scale_pos_weight:
            spec = dataclasses.replace(spec, scale_pos_weight=self.scale_pos_weight)
        training = Training.from_matrix(spec, dtrain, self._labelled)
        return Distillation(training.replace(guides=tuple(self._guides))).base_score()

    @property
    def labelled(self) -> Array | None:
        """Which rows have a label; None where all have."""
        return self._labelled

    def subset(self, rows: Array) -> KLObjective:
        """Return the objective of some of the rows, as :func:`pi_xgb.cv` needs it."""
        part = copy.copy(self)
        part._labelled = None if self._labelled is None else self._labelled[rows]
        part._guides = [guide.subset(rows) for guide in self._guides]
        return part

    def _gradient(
        self, margin: Array, label: Array, weight: Array, dtrain: xgboost.DMatrix | None
    ) -> tuple[Array, Array]:
        booster = calling_booster()
        caller = self._caller(booster)
        loss = caller.loss
        if (margin.ndim == 2) != (loss.multiclass or label.ndim == 2):
            raise ValueError(
                f"the objective {loss.objective!r} does not fit margins of shape {margin.shape}: "
                "KLObjective(objective=...) must name the objective in params"
            )
        # Repeated in every round, since the matrix may have changed; it costs two passes over the labels.
        self._check_lengths(len(margin))
        scale = self.scale_pos_weight if loss.applies_scale_pos_weight else 1.0
        spec = Spec({}, loss, margin.shape[1] if loss.multiclass else 0, scale, self.device)
        training = Training.from_arrays(
            spec, label, weight, self._labelled, n_rows=len(margin), name="the training matrix"
        )
        distillation = Distillation(training.replace(guides=tuple(self._guides)))
        if booster is None or self._started is None or self._started() is not booster:
            distillation.start(None if booster is None else Student(booster, dtrain))
            # Set after the start: if that raised, the next call must raise again.
            self._started = None if booster is None else weakref.ref(booster)
        distillation.take_steps(caller.settings, caller.averages)
        return distillation.gradient(margin)

    def _caller(self, booster: xgboost.Booster | None) -> _Caller:
        """Return objective and settings of a Booster; without a Booster those that are named."""
        if booster is None:
            if self._named is None:
                raise ValueError("objective must be named where no Booster calls: pass objective='binary:logistic'")
            return _Caller(self._named, {}, None)
        if booster not in self._callers:
            found = configuration_of(booster)
            loss = loss_with_gradient(found.objective, found.objective_params)
            self._check_agrees(loss, float(found.objective_params.get("scale_pos_weight", 1)))
            self._callers[booster] = _Caller(loss, found.settings, {})
        return self._callers[booster]

    def _check_agrees(self, loss: Loss, scale_pos_weight: float) -> None:
        """Raise unless the keywords fit the objective of the Booster and its ``scale_pos_weight``."""
        named, given = self.objective, self.scale_pos_weight
        if self._named is not None and not self._named.has_gradient_of(loss):
            raise ValueError(
                f"{type(self).__name__} has objective={named!r}, but the Booster trains {loss.objective!r}: set "
                f"params['objective'] = {named!r}, or leave objective out of KLObjective (JointObjective has it in its "
                "params). XGBoost's own estimators take no other with a function: use PrivilegedXGBRegressor"
            )
        if loss.applies_scale_pos_weight and scale_pos_weight not in (1, given):
            raise ValueError(
                f"params['scale_pos_weight'] is {scale_pos_weight:g}, which XGBoost ignores under a custom objective, "
                f"and KLObjective has {given:g}: give both the same value, or leave both out"
            )

    def _check_lengths(self, n_rows: int) -> None:
        """Raise unless values per row are as many as rows, and one row is labelled."""
        weights = (("teacher_weight", guide.per_row) for guide in self._guides)
        for name, values in [("labelled", self._labelled), *weights]:
            if values is not None and len(values) != n_rows:
                raise ValueError(f"{name} has {len(values)} rows, the matrix {n_rows}: for folds use pi_xgb.cv")
        learns = any(guide.teacher.about.learns for guide in self._guides) or not self._guides
        is_unlabelled = self._labelled is not None and not self._labelled.any()
        if is_unlabelled and learns and not collective.is_distributed():
            raise no_labelled_row("labelled")

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name not in ("_callers", "_started")}

    def __setstate__(self, state: dict[str, Any]) -> None:
        # Copies, also those of other processes, know no caller.
        self.__dict__.update(state)
        self._callers, self._started = weakref.WeakKeyDictionary(), None

    def __repr__(self) -> str:
        return f"{type(self).__name__}(kl_weight={self.kl_weight}, objective={self.objective!r})"


def loss_with_gradient(objective: Any, params: Params | None = None) -> Loss:
    """Return the loss of an objective; raise unless it has a gradient that a custom objective can compute."""
    loss = loss_named(objective, params)
    if not loss.has_gradient:
        raise ValueError(f"{objective} requires copies of the rows, which no objective can make: use pi_xgb.train")
    return loss


class _Caller(NamedTuple):
    """A Booster that calls the objective."""

    loss: Loss
    settings: Mapping[str, str]
    averages: dict[int, Array] | None
    """Per Booster, since trainings may interleave; without a Booster the training is unknown."""


class JointObjective(KLObjective):
    """JPIB as one objective for ``xgboost.train(obj=...)``.

    XGBoost calls the objective once per round, with the student's margin after the round before. The objective
    first grows the privileged booster's tree for that round. It then returns the gradient towards the new
    predictions of that booster: Algorithm 2 of the paper, without its last teacher tree, which would be unused.

    Parameters
    ----------
    dprivileged : xgboost.DMatrix
        The privileged features and labels of the training rows, in the same order.
    kl_weight : float, default=0.5
        The weight of the teacher in the student's loss, and of the student in the teacher's.
    params : dict, default=None
        The teacher's parameters, with the objective that both share (``binary:logistic`` if none is named and
        there is no ``num_class``).
    extra_teachers : list of (Teacher, weight), default=()
        More teachers of the student, constraints for example, as a list of (teacher, weight).
    labelled, teacher_weight : as for :func:`pi_xgb.train`
        Both boosters grow on all rows; without labels they learn from each other there.

    Notes
    -----
    A second training with the same object starts with a new teacher. A training that continues a student
    (``xgb_model=``) is an error unless the object still holds that student's teacher. ``teacher.booster`` is the
    privileged booster. Pickling carries the privileged data along.

    Examples
    --------
    >>> import pi_xgb, xgboost as xgb
    >>> data = pi_xgb.datasets.make_privileged(300, seed=0)
    >>> params = {"objective": "binary:logistic", "max_depth": 3}
    >>> objective = pi_xgb.JointObjective(xgb.DMatrix(data.z, data.y), kl_weight=0.5, params=params)
    >>> student = xgb.train(params, xgb.DMatrix(data.x, data.y), 10, obj=objective)
    >>> student.num_boosted_rounds(), objective.teacher.booster.num_boosted_rounds()
    (10, 9)
    """

    def __init__(
        self,
        dprivileged: xgboost.DMatrix,
        kl_weight: float = DEFAULT_KL_WEIGHT,
        params: Any = None,
        *,
        extra_teachers: Sequence[tuple[Any, Any]] = (),
        labelled: Any = None,
        teacher_weight: Any = None,
    ) -> None:
        kl_weight = check_kl_weight(kl_weight)
        own = user_params(params)
        defaults = {} if class_count(own) > 1 else {"objective": "binary:logistic"}
        teacher = JointTeacher(dprivileged, {**defaults, **own})
        per_row = read_teacher_weight(teacher_weight, dprivileged.num_row())
        super().__init__(
            [(teacher, kl_weight if per_row is None else kl_weight * per_row), *pairs_of(extra_teachers)],
            objective=teacher.spec.objective,
            scale_pos_weight=teacher.spec.scale_pos_weight,
            device=teacher.spec.device,
            labelled=labelled,
        )
        self.kl_weight = kl_weight

    @property
    def teacher(self) -> JointTeacher | None:
        """The teacher with the privileged booster; None at a ``kl_weight`` of 0."""
        return next((guide.teacher for guide in self._guides if isinstance(guide.teacher, JointTeacher)), None)
