"""Teachers with a q that exists before the training, and the user's ways to pass teachers and weights."""

from __future__ import annotations

import copy
import dataclasses
from numbers import Real
from typing import Any, Self

import numpy as np
import xgboost

from .._arrays import Array, read_only
from .._rows.checks import check_choice
from .._rows.matrix_checks import check_same_labels
from .._rows.per_row import per_row
from .._rows.supervision import MOST_WEIGHT, read_teacher_weight
from .losses import NUMBERS, SHARES, Range
from .training import HESSIANS, About, Guide, Teacher, Training

DEFAULT_KL_WEIGHT = 0.5
TRAINED_KL_WEIGHT = 2.0
"""The default weight of a teacher that is trained here and not boosted: never more than .002 AUC from the best."""


class FixedTeacher(Teacher):
    """A teacher whose q exists before the training."""

    is_adaptive = False

    def __init__(self, q: Any, within: Range = SHARES, *, name: str = "teacher", needed: Array | None = None) -> None:
        """Read q, ``(n,)``, or ``(n, K)`` for classes. Values of rows that are not ``needed`` are not checked."""
        hint = "give one probability per row, or one for each class"
        if type(q) is np.ndarray and q.dtype.kind == "f" and q.ndim in (1, 2) and q.shape[-1] > 1:
            array = q.astype(np.float32)  # nothing to convert, and passes over many rows take as long as several rounds
        else:
            array = per_row(f"the q of {name}", q, missing="keep", several=True, dtype=np.float32, hint=hint)
        values = array
        if needed is not None and len(needed) == len(array):
            array[~needed] = 0
            values = array[needed]
        within.check(values, f"the q of {name}")
        self._q = array
        self.about = About(kind="array")

    def q(self, mean: Array, label: Array, weight: Array | None) -> Array:
        return read_only(self._q)

    @property
    def values(self) -> Array:
        """The q of every training row, read-only."""
        return read_only(self._q)

    def start(self, training: Training) -> None:
        self.check(training.n_rows)
        known = self.about.labelled
        if known is not None and not np.array_equal(known, training.known):
            given = "none" if training.labelled is None else "another one"
            raise ValueError(
                f"labelled must be that of the teacher, which has {int(known.sum())} labelled rows of {len(known)}, "
                f"got {given}: other rows would count as labelled. Pass the same labelled="
            )
        if self.about.label is not None:
            check_same_labels(training.label, self.about.label, training.labelled)

    def check(self, n_rows: int) -> None:
        """Raise unless there is a q for each of ``n_rows`` rows."""
        if len(self._q) != n_rows:
            raise ValueError(f"the q of the teacher has {len(self._q)} rows, dtrain has {n_rows}: compute it for these")

    def subset(self, rows: Array) -> Teacher:
        return self.shard(rows)

    def shard(self, rows: Array) -> Self:
        """This teacher for the rows of one worker of a cluster."""
        part = copy.copy(self)
        part._q = self._q[rows]
        own = {name: getattr(self.about, name) for name in ("weight", "labelled", "label")}
        own = {name: values[rows] for name, values in own.items() if values is not None}
        part.about = dataclasses.replace(self.about, **own)
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
            raise TypeError(f"model must give probabilities, got {type(classifier).__name__}.predict: pass the model")
        if hasattr(model, "predict_proba"):
            classes = getattr(model, "classes_", None)
            if classes is not None and np.ndim(classes[0]):
                raise TypeError(
                    f"model must have one output, got {len(classes)}: pass a function that joins their columns"
                )
            if classes is not None and list(classes) != list(range(len(classes))):
                # Columns of predict_proba in another order would invert the teacher.
                raise ValueError(
                    f"the classes of {name} are {list(classes)}, but must be the labels 0, 1, ...: fit the model on "
                    "these, or pass a function"
                )
            q = np.asarray(model.predict_proba(data))
            if q.ndim == 2 and q.shape[1] == 2:
                q = q[:, 1]
        elif callable(model):
            q = model(data)
        else:
            raise TypeError(f"model must have predict_proba or be callable, got {name}: pass model.predict")
        advice = f"{SHARES.advice}, or pass probabilities=False for numbers"
        super().__init__(q, SHARES._replace(advice=advice) if probabilities else NUMBERS, name=name)
        self.about = dataclasses.replace(self.about, kind=name if hasattr(model, "predict_proba") else "model")


def check_kl_weight(kl_weight: Any, name: str = "kl_weight") -> float:
    """Return the weight of a teacher, a finite number of at least 0."""
    if isinstance(kl_weight, (bool, np.bool_)) or not isinstance(kl_weight, Real):
        raise TypeError(
            f"{name} must be one number for all rows, got {kl_weight!r:.60} of type {type(kl_weight).__name__}: pass "
            "weights per row as teacher_weight="
        )
    if not 0 <= float(kl_weight) <= MOST_WEIGHT:
        raise ValueError(
            f"{name} must be finite, at least 0 and at most {MOST_WEIGHT:g}, got {kl_weight!r}: 0 trains without the "
            "teacher, 1 weighs teacher and labels alike"
        )
    return float(kl_weight)


def is_estimator(teacher: Any) -> bool:
    """Whether this is an object that can be fitted."""
    return hasattr(teacher, "fit") and not isinstance(teacher, type)


def is_trained_here(teacher: Any) -> bool:
    """Whether ``teacher`` is the name of a kind of teacher or an estimator, to be trained here."""
    # A class, too, for which the check asks for an instance.
    is_meant = isinstance(teacher, (str, type)) or is_estimator(teacher)
    return is_meant and not isinstance(teacher, (Teacher, xgboost.DMatrix))


def default_kl_weight(teacher: Any) -> float:
    """Return the weight of a teacher where the user gave none: more for one that is trained here, but for boosting."""
    return TRAINED_KL_WEIGHT if is_trained_here(teacher) and teacher != "boosted" else DEFAULT_KL_WEIGHT


def is_list_of_pairs(teacher: Any) -> bool:
    """Whether this is a list of (teacher, weight), and not q itself as a list of numbers."""
    return (
        isinstance(teacher, (list, tuple))
        and len(teacher) > 0
        and all(isinstance(item, tuple) and len(item) == 2 and not isinstance(item[0], Real) for item in teacher)
    )


def weighted(
    teacher: Any, kl_weight: float | None, teacher_weight: Array | None, n_rows: int | None = None
) -> list[Guide]:
    """Return each teacher as the user gave it, with its weight, also per row where that was given."""
    if not is_list_of_pairs(teacher):
        return [Guide(teacher, default_kl_weight(teacher) if kl_weight is None else kl_weight, teacher_weight)]
    if kl_weight is not None or teacher_weight is not None:
        keyword = "teacher_weight" if teacher_weight is not None else f"kl_weight={kl_weight!r}"
        raise ValueError(f"{keyword} is not supported with a list of (teacher, weight): use its own weights")
    guides, name = [], "the weight of a teacher in the list"
    for member, weight in teacher:
        if np.ndim(weight) == 0:
            guides.append(Guide(member, check_kl_weight(weight, name)))
        else:
            per_row = read_teacher_weight(weight, n_rows, name=name)
            # The model records the largest of them as the weight of this teacher.
            most = 1.0 if per_row is None or not per_row.any() else float(per_row.max())
            guides.append(Guide(member, most, None if per_row is None else per_row / most))
    return guides


def as_guide(guide: Guide, within: Range) -> Guide:
    """Return the user's teacher, checked; without weights per row its own default holds."""
    teacher = as_teacher(guide.teacher, within, guide.per_row)
    check_choice(teacher.hessian, HESSIANS, f"{type(teacher).__name__}.hessian")
    return Guide(teacher, guide.kl_weight, teacher.about.weight if guide.per_row is None else guide.per_row)


def as_teacher(teacher: Any, within: Range, per_row: Array | None) -> Teacher:
    """Return the user's Teacher, or a teacher of an array of q."""
    if isinstance(teacher, Teacher):
        return teacher
    advice = ""
    if isinstance(teacher, str) or callable(teacher) or hasattr(teacher, "predict"):
        advice = "train it first with pi_xgb.fit_teacher(..., teacher=...), or pass pi_xgb.ModelTeacher(model, data)"
    elif isinstance(teacher, (list, tuple)) and any(isinstance(item, (Teacher, tuple)) for item in teacher):
        advice = "write all pairs with the teacher first, teacher=[(q, 0.5), (DemographicParity(sex), 2.0)]"
    elif isinstance(teacher, xgboost.DMatrix):
        advice = "pass the matrix of privileged features as privileged="
    if advice:
        raise TypeError(
            "teacher must be an array of q, a Teacher or a list of pairs (teacher, weight), got "
            f"{repr(teacher) if isinstance(teacher, str) else type(teacher).__name__}: {advice}"
        )
    return FixedTeacher(teacher, within, needed=None if per_row is None else per_row > 0)
