"""JPIB: a teacher that is boosted in alternation with the student it teaches."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

import numpy as np
import xgboost

from .._arrays import Array, module_for, read_only, to_host
from .._rows.supervision import read_teacher_weight
from .._xgb.booster import configuration_of, load_booster
from .._xgb.matrix import freeze, labels_of, slice_rows
from .._xgb.params import number_of_classes, user_params
from .blend import Blend
from .checks import check_as_many_rows, check_dmatrix, check_kl_weight, check_same_labels
from .distillation import DistillationLoss
from .objective import KLObjective
from .spec import Spec
from .teachers import DEFAULT_KL_WEIGHT, Start, Teacher, WeightedTeacher, as_weighted_teachers, is_list_of_pairs

# The number of rows whose last predictions identify the student.
_ROWS_REMEMBERED = 1000


class JointTeacher(Teacher):
    """The privileged booster of JPIB: it grows one tree after each tree of the student.

    ``pi_xgb.train(..., method="jpib")`` makes one for you. Make it yourself to keep the teacher's booster, to
    continue a training later, or to combine JPIB with other teachers in a list.

    Parameters
    ----------
    dprivileged : xgboost.DMatrix
        The privileged features and labels of the student's training rows, in the same order.
    params : dict
        The teacher's parameters, its objective among them.
    kl_weight : float, default=None
        The weight of the student in the teacher's loss; by default that of the teacher in the student's loss.
    xgb_model : Booster, str or path, default=None
        The teacher's booster, or its file, when a training is continued. It must be the continued student's own
        teacher, one round behind it, as :class:`JointCheckPoint` saves it; of a booster that was loaded, only the
        number of rounds can be checked.
    extra_teachers : list of (Teacher, weight), default=()
        More teachers of this booster, as a list of (teacher, weight): constraints that should hold in the teacher too.
        Those of the student are in the list of :func:`pi_xgb.train`.

    Examples
    --------
    Three rounds, then two more, equal five in one go:

    >>> import pi_xgb, xgboost as xgb
    >>> data = pi_xgb.datasets.make_privileged(300, seed=0)
    >>> dtrain, dpriv = xgb.DMatrix(data.x, data.y), xgb.DMatrix(data.z, data.y)
    >>> params = {"objective": "binary:logistic", "max_depth": 3}
    >>> whole = pi_xgb.train(params, dtrain, 5, privileged=dpriv, method="jpib")
    >>> teacher = pi_xgb.JointTeacher(dpriv, params)
    >>> student = pi_xgb.train(params, dtrain, 3, teacher=teacher)
    >>> resumed = pi_xgb.JointTeacher(dpriv, params, xgb_model=teacher.booster)
    >>> student = pi_xgb.train(params, dtrain, 2, teacher=resumed, xgb_model=student)
    >>> student.get_dump() == whole.get_dump()
    True
    """

    def __init__(
        self,
        dprivileged: xgboost.DMatrix,
        params: Any,
        *,
        kl_weight: float | None = None,
        xgb_model: Any = None,
        extra_teachers: Sequence[tuple[Any, Any]] = (),
    ) -> None:
        self._spec = Spec.read(params)
        self.settings = {"teacher_params": self._spec.params}
        check_dmatrix(dprivileged, "privileged", self._spec.loss)
        self._spec.check_margins_stay()
        self._dprivileged = dprivileged
        self._own_kl_weight = None if kl_weight is None else check_kl_weight(kl_weight)
        self._extra = _weighted_teachers(extra_teachers, self._spec)
        self._continues = xgb_model is not None
        self._booster: xgboost.Booster | None = None
        if self._continues:
            if isinstance(xgb_model, (str, os.PathLike)):
                load_booster(xgb_model)  # raises for a broken file, on which XGBoost may hang
            # A base_score given again would overwrite the loaded one.
            own_params = {key: value for key, value in self._spec.params.items() if key != "base_score"}
            self._booster = xgboost.Booster(own_params, [dprivileged], model_file=xgb_model)
        self._device = "cpu"
        self._begun: tuple[Start, Blend] | None = None
        self._q: Array | None = None
        self._student_seen: Array | None = None
        self._student_start: str | None = None

    @property
    def booster(self) -> xgboost.Booster:
        """The teacher's current booster, one round behind the student."""
        if self._booster is None:
            raise ValueError("this teacher has not been trained yet: pass it to pi_xgb.train first")
        return self._booster

    recorded_method = "jpib"
    kind = "boosted"
    hessian = "full"

    @property
    def matrices(self) -> Sequence[xgboost.DMatrix]:  # type: ignore[override]  # it is read only
        return [self._dprivileged]

    def check(self, n_rows: int) -> None:
        check_as_many_rows(n_rows, self._dprivileged)

    def start(self, training: Start) -> None:
        if type(training.loss) is not type(self._spec.loss):
            raise ValueError(
                "teacher and student of JPIB must share an objective: give JointTeacher the params of the student"
            )
        student = training.student
        if student is None:
            raise ValueError(
                "a JPIB teacher requires a Booster: call the objective by xgboost.train or Booster.update(fobj=...)"
            )
        task = training.task
        self.check(task.n_rows)
        check_same_labels(task.label, labels_of(self._dprivileged), task.labelled)
        rounds = student.num_boosted_rounds()
        if rounds == 0 and not self._continues:
            self._booster = None
            self._student_start = configuration_of(student).base_score
        else:
            self._check_is_behind(student, rounds, training.matrix)
        student_weight = training.kl_weight if self._own_kl_weight is None else self._own_kl_weight
        weights = [student_weight, *(extra.weight for extra in self._extra)]
        self._device = task.spec.device
        blend = Blend.of_task(task, weights, self._xp)
        for extra in self._extra:
            extra.teacher.check(task.n_rows)
            extra.teacher.start(training._replace(kl_weight=extra.weight, student=None, matrix=None))
        self._begun, self._q = (training._replace(student=None, matrix=None), blend), None

    def _check_is_behind(self, student: xgboost.Booster, rounds: int, matrix: xgboost.DMatrix | None) -> None:
        """Raise unless the continued student is this teacher's own, one round ahead."""
        teacher_rounds = 0 if self._booster is None else self._booster.num_boosted_rounds()
        if self._booster is None or teacher_rounds != rounds - 1:
            raise ValueError(
                f"a JPIB teacher must be one round behind its student, got a student of {rounds} rounds and a "
                f"teacher of {teacher_rounds}: save both with pi_xgb.JointCheckPoint, pass the teacher as "
                "JointTeacher(..., xgb_model=...) and the student as xgb_model"
            )
        if matrix is not None and not self._is_own_student(student, matrix):
            raise ValueError(
                f"this JPIB teacher grew with another student than the continued one of {rounds} rounds: pass that "
                "student's own teacher, or train with a new teacher"
            )

    def _is_own_student(self, student: xgboost.Booster, matrix: xgboost.DMatrix) -> bool:
        """Return whether the student without its last round predicts as the student of this teacher did."""
        if self._student_seen is None:  # this teacher came from a file
            return True
        rounds = student.num_boosted_rounds() - 1
        if rounds == 0:
            return self._student_start == configuration_of(student).base_score
        # A copy, since XGBoost caches predictions on its training rows and would boost on from these.
        margin = student.copy().predict(matrix, output_margin=True, iteration_range=(0, rounds))
        before = self._spec.loss.mean(margin)[:_ROWS_REMEMBERED]
        return before.shape == self._student_seen.shape and np.allclose(before, self._student_seen, atol=1e-4)

    def q(self, mean: Array, label: Array, weight: Array | None) -> Array:
        if self._begun is None:
            raise ValueError("a JPIB teacher has a q in a training only: pass it to pi_xgb.train as teacher=")
        if self._booster is None:
            self._booster = self._first_booster(mean, self._begun[0])
        else:
            self._grow(self._booster, mean, *self._begun)
        self._q = self._mean(self._booster)
        self._student_seen = mean[:_ROWS_REMEMBERED].copy()
        return self._q

    def subset(self, rows: Array) -> JointTeacher:
        pairs = [
            (extra.teacher.subset(rows), extra.weight if extra.per_row is None else extra.weight[rows])
            for extra in self._extra
        ]
        part = slice_rows(self._dprivileged, rows)
        return JointTeacher(part, self._spec.params, kl_weight=self._own_kl_weight, extra_teachers=pairs)

    def shard(self, rows: Array) -> JointTeacher:
        raise TypeError(
            "a JointTeacher holds a DMatrix of one process: for JPIB on a cluster pass privileged= and method='jpib'"
        )

    def _first_booster(self, mean: Array, training: Start) -> xgboost.Booster:
        base_score = self._spec.params.get("base_score", training.base_score)
        if base_score is None:
            # Both start at the same intercept; a student with a base_margin has none to share.
            if bool((mean == mean[0]).all()):
                base_score = self._spec.loss.base_score(mean[0])
            else:
                base_score = DistillationLoss(training.task, []).base_score()
        return xgboost.Booster({**self._spec.params, "base_score": base_score}, [self._dprivileged])

    @property
    def _xp(self) -> Any:
        """NumPy or CuPy; a module is no attribute, since it cannot be pickled."""
        return module_for(self._device)

    def _grow(self, booster: xgboost.Booster, mean: Array, training: Start, blend: Blend) -> None:
        own = self._mean(booster) if self._q is None else self._q  # None in a continued training
        shown = read_only(to_host(own))
        extra_answers = [extra.teacher.answer(training.task, shown, extra.weight) for extra in self._extra]
        answers = [self._xp.asarray(answer) for answer in (mean, *extra_answers)]
        grad, hess = self._spec.loss.gradient(own, blend.target(answers, own), blend.factor)
        del own, shown, extra_answers, answers
        self._q = None  # out of date, and the next line is where memory is highest
        booster.boost(self._dprivileged, booster.num_boosted_rounds(), grad=grad, hess=hess)

    def _mean(self, booster: xgboost.Booster) -> Array:
        margin = booster.predict(self._dprivileged, output_margin=True)
        return self._spec.loss.mean(self._xp.asarray(margin))

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_dprivileged": freeze(self._dprivileged)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state, _dprivileged=xgboost.DMatrix(**state["_dprivileged"]))


def _weighted_teachers(extra_teachers: Any, spec: Spec) -> list[WeightedTeacher]:
    """Return the teachers of the privileged booster besides labels and student."""
    pairs = _pairs(extra_teachers)
    teachers = as_weighted_teachers(pairs, DEFAULT_KL_WEIGHT, spec.loss.range) if pairs else []
    return [weighted for weighted in teachers if weighted.kl_weight > 0]


def _pairs(extra_teachers: Any) -> list[tuple[Any, Any]]:
    """Return extra_teachers as a list; raise unless it has (teacher, weight) pairs only."""
    if isinstance(extra_teachers, (list, tuple)) and (not extra_teachers or is_list_of_pairs(extra_teachers)):
        return list(extra_teachers)
    raise TypeError(
        f"extra_teachers must be a list of (teacher, weight), got {type(extra_teachers).__name__}: write "
        "extra_teachers=[(DemographicParity(sex), 2.0)]"
    )


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
        chosen = user_params(params)
        if "objective" not in chosen and number_of_classes(chosen) < 2:
            chosen["objective"] = "binary:logistic"
        spec = Spec.read(chosen)
        self.teacher = JointTeacher(dprivileged, chosen)
        per_row = read_teacher_weight(teacher_weight, dprivileged.num_row())
        super().__init__(
            [(self.teacher, kl_weight if per_row is None else kl_weight * per_row), *_pairs(extra_teachers)],
            objective=spec.objective,
            scale_pos_weight=spec.scale_pos_weight,
            device=spec.device,
            labelled=labelled,
        )
        self.kl_weight = kl_weight
