"""Teachers: the mean that y should have in each training row.

Shapes, once for every teacher: ``n`` training rows, ``K`` classes or targets where there are several. ``mean`` is the
student's current prediction on the scale of y, float32, ``(n,)`` or ``(n, K)``; it is read, never written.
``label`` is ``(n,)``, or ``(n, K)`` for targets, ``weight`` is ``(n,)`` or None. q has the shape of ``mean`` and the
range of labels: probabilities in [0, 1], means of counts and costs at 0 or above, other numbers anywhere.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from numbers import Real
from typing import Any, NamedTuple

import numpy as np
import xgboost

from .._arrays import Array, read_only
from .._privacy_record import Privacy
from .._rows.checks import check_choice, check_no_mask
from .._rows.supervision import read_teacher_weight
from .._xgb.collective import on_any_worker
from .checks import check_answer, check_kl_weight, check_q, check_shape
from .losses import NUMBERS, SHARES, Loss, Range
from .step import HESSIANS
from .task import Task

DEFAULT_KL_WEIGHT = 0.5


class Start(NamedTuple):
    """The training that a teacher takes part in, at its start."""

    task: Task
    kl_weight: Any
    """The weight of the teacher, one number or one per row."""
    student: xgboost.Booster | None
    """With its rounds so far; None where no Booster calls the objective."""
    matrix: xgboost.DMatrix | None
    """The student's training rows, where the caller passes a matrix."""
    base_score: Any = None
    """The intercept of the student, where it is known."""

    @property
    def loss(self) -> Loss:
        """The student's loss."""
        return self.task.spec.loss


class Teacher:
    """The mean that y should have in each training row.

    Derive from it to write a teacher of your own: give the class a method ``q(mean, label, weight)`` and pass
    an instance wherever a teacher is taken (:func:`pi_xgb.train`, :class:`pi_xgb.KLObjective`). ``mean`` is the
    student's current prediction, so that a teacher can follow it; ``mean`` must not be written to.

    Examples
    --------
    A teacher that pulls every prediction half of the way towards the average one:

    >>> import numpy as np, pi_xgb, xgboost as xgb
    >>> class Timid(pi_xgb.Teacher):
    ...     def q(self, mean, label, weight):
    ...         return (mean + mean.mean()) / 2
    >>> data = pi_xgb.datasets.make_privileged(200, seed=0)
    >>> dtrain = xgb.DMatrix(data.x, data.y)
    >>> params = {"objective": "binary:logistic", "max_depth": 2}
    >>> timid = pi_xgb.train(params, dtrain, 20, teacher=Timid(), kl_weight=9.0)
    >>> bool(timid.predict(dtrain).std() < xgb.train(params, dtrain, 20).predict(dtrain).std())
    True
    """

    is_adaptive = True
    """Whether q depends on the student's current mean. Set it to False for a q that never changes: it then
    counts in the model's intercept."""

    hessian: str = "adaptive"
    """How much of the weight of an adaptive teacher counts in the Hessian. "adaptive": as much as a moving q needs.
    "full": all of it, as for a fixed q, which makes steps as short as 1 / (1 + kl_weight). "damped": nothing at any
    weight, where the target is in part averaged over rounds: for a q that differs from p by a few numbers, as between
    groups, not row by row."""

    matrices: Sequence[xgboost.DMatrix] = ()
    """The matrices of the student's rows on which the teacher trains."""

    privileged_columns: Sequence[Any] = ()
    """The columns that only this teacher should see."""

    recorded_method: str = "kbpib"
    """The method in the attributes of a model."""

    kind: str = "own"
    """The kind of teacher that a model's attributes name for it; "own" is replaced by the name of its class."""

    settings: Mapping[str, Any] = {}
    """The keywords that it was trained with, for the attributes of a model."""

    teacher_weight: Array | None = None
    """The default weight per row; None is 1 everywhere."""

    is_noisy = False
    """Whether q is noisy but unbiased, and may leave the range of means."""

    privacy: Privacy | None = None
    """The differential privacy that q keeps; None is no guarantee."""

    def q(self, mean: Array, label: Array, weight: Array | None) -> Array:
        """Return the mean that y should have in each row.

        Parameters
        ----------
        mean : array
            The student's current predictions on the training rows, one column per class.
        label : array
            The labels of these rows.
        weight : array or None
            The weights of these rows.
        """
        raise NotImplementedError(f"{type(self).__name__} needs a method q(mean, label, weight)")

    def check(self, n_rows: int) -> None:
        """Raise, before any training, if this teacher cannot teach ``n_rows`` rows."""

    def check_compatible(self, others: Sequence[Teacher]) -> None:
        """Raise, before any training, if it cannot be combined with these teachers."""

    def start(self, training: Start) -> None:
        """Begin a training. A teacher without state between rounds need not override it."""

    def subset(self, rows: Array) -> Teacher:
        """This teacher for the given rows alone, as cross-validation needs it."""
        raise TypeError(
            f"{type(self).__name__} cannot be cut into folds: give it a method subset(rows) that returns the "
            "teacher of those rows"
        )

    def shard(self, rows: Array) -> Teacher:
        """This teacher for the rows of one worker of a cluster."""
        return self.subset(rows)

    def resolve_columns(self, look_up: Callable[[Any], Any]) -> Teacher:
        """This teacher with the values of the columns that it names."""
        return self

    def answer(self, task: Task, mean: Array, weight: Any) -> Array:
        """Return q, checked where its weight is positive, since XGBoost does not check gradients."""
        name, loss = type(self).__name__, task.spec.loss
        if self.is_noisy and not loss.takes_noise:
            raise ValueError(
                f"{task.spec.objective} does not support the noisy q of {name}: use binary:logistic or reg:squarederror"
            )
        q = self._requested(task, mean)
        check_no_mask(q, f"the q of {name}")
        q = q if hasattr(q, "__cuda_array_interface__") else np.asarray(q)
        check_shape(q, mean, name)
        values = q if np.ndim(weight) == 0 else q[weight > 0]
        if values.size:
            check_answer(values, NUMBERS if self.is_noisy else loss.range, name)
        return q

    def check_answers(self, task: Task, weight: Any) -> None:
        """Raise, before any training, if a fixed q does not fit the task."""
        if not self.is_adaptive:
            # The method of the base class, since a FixedTeacher that was checked when it was made skips the check.
            Teacher.answer(self, task, task.like, weight)

    def _requested(self, task: Task, mean: Array) -> Array:
        return self.q(mean, task.teacher_label, task.weight)


def moves_freely(teacher: Teacher) -> bool:
    """Whether the Hessian counts less than the teacher's full weight."""
    return teacher.is_adaptive and teacher.hessian != "full"


class WeightedTeacher(NamedTuple):
    """A teacher and its weight, against 1 for the labels."""

    teacher: Teacher
    kl_weight: float
    per_row: Array | None = None
    """Its weight per row, relative to ``kl_weight``; None is 1 everywhere."""

    @property
    def weight(self) -> Any:
        """One number, or one number per row."""
        return self.kl_weight if self.per_row is None else self.kl_weight * self.per_row

    @property
    def counts(self) -> bool:
        """Whether its weight is positive in any row of any worker; call it on every worker."""
        return on_any_worker(np.any(self.weight > 0))


class FixedTeacher(Teacher):
    """A teacher whose q exists before the training."""

    is_adaptive = False
    kind = "array"
    labelled: Array | None = None
    """Which rows had a label when q was learned from labels; None where it is unknown."""

    def __init__(self, q: Any, within: Range = SHARES, *, name: str = "teacher", needed: Array | None = None) -> None:
        self._q, self._within = check_q(q, within, name=name, needed=needed), within

    def q(self, mean: Array, label: Array, weight: Array | None) -> Array:
        return self.values

    def answer(self, task: Task, mean: Array, weight: Any) -> Array:
        if self._within == task.spec.loss.range:  # then its values were checked when it was made
            check_shape(self._q, mean, type(self).__name__)
            return self._q
        return super().answer(task, mean, weight)

    @property
    def values(self) -> np.ndarray[Any, Any]:
        """The q of every training row, read-only."""
        values: np.ndarray[Any, Any] = read_only(self._q)
        return values

    def check(self, n_rows: int) -> None:
        if len(self._q) != n_rows:
            raise ValueError(
                f"the q of the teacher has {len(self._q)} rows, but dtrain has {n_rows} rows: compute it for these "
                "rows, in their order"
            )

    def subset(self, rows: Array) -> Teacher:
        return self.shard(rows)

    def shard(self, rows: Array) -> Teacher:
        part = FixedTeacher(self._q[rows], NUMBERS)
        part.kind, part.settings, part._within = self.kind, self.settings, self._within
        part.teacher_weight = None if self.teacher_weight is None else self.teacher_weight[rows]
        part.labelled = None if self.labelled is None else self.labelled[rows]
        return part


class ModelTeacher(FixedTeacher):
    """Any model you already have as the teacher: a domain expert's rule, a published score, another library.

    Parameters
    ----------
    model : object or callable
        An object with ``predict_proba``, or a callable that takes ``data`` and returns one value per row (one
        column per class for multi-class).
    data : object
        What the model reads, one row for each training row, in the same order. It is read once, now.
    probabilities : bool, default=True
        Set it to False for objectives of numbers, counts and costs, where q is a mean.

    Notes
    -----
    A model fitted on these rows repeats their labels, with too much confidence: prefer a model fitted elsewhere, or
    out-of-fold predictions.

    Examples
    --------
    >>> import numpy as np, pi_xgb
    >>> expert = pi_xgb.ModelTeacher(lambda z: 1 / (1 + 2.0 ** -z[:, 0]), np.array([[-1.0], [0.0], [1.0]]))
    >>> expert.values.round(3).tolist()
    [0.3330000042915344, 0.5, 0.6669999957084656]
    """

    def __init__(self, model: Any, data: Any, *, probabilities: bool = True) -> None:
        name = type(model).__name__
        classifier = getattr(model, "__self__", None)
        if probabilities and getattr(model, "__name__", "") == "predict" and hasattr(classifier, "predict_proba"):
            raise TypeError(
                f"model must give probabilities, got predict of {type(classifier).__name__}, which gives classes: pass "
                "the model itself"
            )
        if hasattr(model, "predict_proba"):
            _check_classes(model)
            q = np.asarray(model.predict_proba(data))
            if q.ndim == 2 and q.shape[1] == 2:
                q = q[:, 1]
        elif callable(model):
            q = model(data)
        else:
            raise TypeError(
                f"model must have predict_proba or be callable, got {name}: pass model.predict (and data as a DMatrix "
                "for a Booster)"
            )
        super().__init__(q, SHARES if probabilities else NUMBERS, name=name)
        self.kind = name if hasattr(model, "predict_proba") else "model"


def _check_classes(model: Any) -> None:
    """Raise unless classes_ are 0, 1, ...: columns of predict_proba in another order would invert the teacher."""
    classes = getattr(model, "classes_", None)
    if classes is not None and list(classes) != list(range(len(classes))):
        raise ValueError(
            f"the classes of {type(model).__name__} are {list(classes)}, but must be the labels 0, 1, ...: fit the "
            "model on these, or pass a function that returns the columns of its predict_proba in this order"
        )


def as_weighted_teachers(
    teacher: Any, kl_weight: float, within: Range, teacher_weight: Array | None = None
) -> list[WeightedTeacher]:
    """Return the user's teachers: an array of q, a :class:`Teacher`, or a list of pairs of these and a weight."""
    pairs = weighted_pairs(teacher, kl_weight, teacher_weight)
    return [weighted(as_teacher(member, within, per_row), weight, per_row) for member, weight, per_row in pairs]


def weighted_pairs(
    teacher: Any, kl_weight: float, teacher_weight: Array | None
) -> list[tuple[Any, float, Array | None]]:
    """Return each teacher with its weight, and its weight per row where the user gave one."""
    kl_weight = check_kl_weight(kl_weight)
    if not is_list_of_pairs(teacher):
        return [(teacher, kl_weight, teacher_weight)]
    if kl_weight != DEFAULT_KL_WEIGHT or teacher_weight is not None:
        given = "teacher_weight" if teacher_weight is not None else f"kl_weight={kl_weight!r}"
        raise ValueError(
            f"{given} is not supported with a list of (teacher, weight), which has its own weights: leave it out and "
            "put each weight in the list, one number or one per row"
        )
    pairs = []
    for member, weight in teacher:
        name = "the weight of a teacher in the list"
        if np.ndim(weight) == 0:
            pairs.append((member, check_kl_weight(weight, name), None))
        else:
            per_row = read_teacher_weight(weight, name=name)
            # The model records the largest of them as the weight of this teacher.
            most = 1.0 if per_row is None or not per_row.any() else float(per_row.max())
            pairs.append((member, most, None if per_row is None else per_row / most))
    return pairs


def weighted(teacher: Teacher, kl_weight: float, per_row: Array | None) -> WeightedTeacher:
    """Return a teacher with its weight; without weights per row its own ``teacher_weight`` holds."""
    check_choice(teacher.hessian, HESSIANS, f"{type(teacher).__name__}.hessian")
    return WeightedTeacher(teacher, kl_weight, teacher.teacher_weight if per_row is None else per_row)


def is_list_of_pairs(teacher: Any) -> bool:
    """Whether this is a list of (teacher, weight), and not q itself as a list of numbers."""
    return (
        isinstance(teacher, (list, tuple))
        and len(teacher) > 0
        and all(isinstance(item, tuple) and len(item) == 2 and not isinstance(item[0], Real) for item in teacher)
    )


def as_teacher(teacher: Any, within: Range, per_row: Array | None) -> Teacher:
    """Return the user's Teacher, or a teacher of an array of q."""
    if isinstance(teacher, Teacher):
        return teacher
    if isinstance(teacher, str):
        raise TypeError(
            f"teacher must be an array of q or a Teacher here, got {teacher!r}: train it first with "
            f"pi_xgb.fit_teacher(..., teacher={teacher!r})"
        )
    if callable(teacher) or hasattr(teacher, "predict_proba"):
        raise TypeError(
            f"teacher must come with its data, got {type(teacher).__name__}: pass pi_xgb.ModelTeacher(model, data), "
            "or train it first with pi_xgb.fit_teacher(..., teacher=model)"
        )
    if isinstance(teacher, (list, tuple)) and any(isinstance(item, (Teacher, tuple)) for item in teacher):
        raise TypeError(
            "a list of teachers must hold pairs (teacher, weight), each with the teacher first: "
            "teacher=[(q, 0.5), (DemographicParity(sex), 2.0)]"
        )
    if isinstance(teacher, xgboost.DMatrix):
        raise TypeError(
            "teacher must be an array of q, a Teacher or a list of (teacher, weight), got a DMatrix: pass the "
            "matrix of privileged features as privileged="
        )
    return FixedTeacher(teacher, within, needed=None if per_row is None else per_row > 0)


def check_same_labelled(teachers: Sequence[WeightedTeacher], labelled: Array | None) -> None:
    """Raise unless ``labelled`` is that with which the teacher was trained."""
    for weighted in teachers:
        known = getattr(weighted.teacher, "labelled", None)
        if known is not None and not np.array_equal(known, np.ones_like(known) if labelled is None else labelled):
            given = "none" if labelled is None else "another one"
            raise ValueError(
                f"labelled must be that of the teacher, which has {int(known.sum())} labelled rows of {len(known)}, "
                f"got {given}: other rows would count as labelled. Pass the same labelled="
            )
