"""JPIB: a teacher that is boosted in alternation with the student it teaches, and checkpoints of both."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import xgboost
from xgboost.callback import TrainingCallback

from .._arrays import Array, module_for, read_only, to_host
from .._files import check_folder, write_file
from .._rows.checks import check_whole
from .._rows.matrix_checks import check_labels_per_row, check_matrix, check_same_labels
from .._rows.supervision import row_weights
from .._warnings import warn_user
from .._xgb.booster import configuration_of, load_booster
from .._xgb.joined import freeze
from .._xgb.matrix import slice_rows
from .blend import Distillation, answer
from .teachers import as_guide, check_kl_weight, is_list_of_pairs, weighted
from .training import About, Guide, Spec, Student, Teacher, Training

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

    hessian = "full"

    def __init__(
        self,
        dprivileged: xgboost.DMatrix,
        params: Any,
        *,
        kl_weight: float | None = None,
        xgb_model: Any = None,
        extra_teachers: Sequence[tuple[Any, Any]] = (),
    ) -> None:
        self.spec = Spec.read(params)
        """Its params."""
        check_matrix(dprivileged, "privileged")
        self._label = self.spec.loss.label_of(dprivileged, "privileged")  # those of rows without a label may be any
        check_labels_per_row(self._label, dprivileged.num_row(), "privileged")
        if not self.spec.loss.by_query:  # whose weights are those of queries
            weight = dprivileged.get_weight()
            row_weights(weight if weight.size else None, len(self._label), name="the weights of privileged")
        own = self.spec.params
        if own.get("booster") == "dart" or any(float(own.get(name, 0)) > 0 for name in ("rate_drop", "one_drop")):
            raise ValueError("booster='dart' (rate_drop, one_drop) is not supported by JPIB: use method='kbpib'")
        self._dprivileged = dprivileged
        self._own_kl_weight = None if kl_weight is None else check_kl_weight(kl_weight)
        pairs = pairs_of(extra_teachers)
        extra = weighted(pairs, None, None) if pairs else []
        self._extra = [as_guide(guide, self.spec.loss.range) for guide in extra if guide.kl_weight > 0]
        self.settings: dict[str, Any] = {"teacher_params": self.spec.params}
        """The keywords of its training, which a model records."""
        self._continues = xgb_model is not None
        self._booster: xgboost.Booster | None = None
        if self._continues:
            if isinstance(xgb_model, (str, os.PathLike)):
                load_booster(xgb_model)  # raises for a broken file, on which XGBoost may hang
            # A base_score given again would overwrite the loaded one.
            own_params = {key: value for key, value in self.spec.params.items() if key != "base_score"}
            self._booster = xgboost.Booster(own_params, [dprivileged], model_file=xgb_model)
        self._own: Distillation | None = None
        """Its own loss: that of the labels, and the divergence from the student and the extra teachers."""
        self._base_score: Any = None
        self._q: Array | None = None
        self._student_seen: Array | None = None
        self._student_start: str | None = None

    @property
    def about(self) -> About:  # type: ignore[override]  # it is read only
        """What a training has to know of it."""
        return About(
            kind="boosted",
            learns=True,
            on_device=not self._extra,
            settings=self.settings,
            matrices=[self._dprivileged],
        )

    @property
    def booster(self) -> xgboost.Booster:
        """The teacher's current booster, one round behind the student."""
        if self._booster is None:
            raise ValueError("this teacher has not been trained yet: pass it to pi_xgb.train first")
        return self._booster

    def start(self, training: Training) -> None:
        if not training.spec.loss.has_gradient_of(self.spec.loss):
            raise ValueError("teacher and student of JPIB must share an objective: give both the same params")
        check_same_labels(training.label, self._label, training.labelled)
        student = training.student
        if student is None:
            self._own = None
            return
        if student.booster.num_boosted_rounds() == 0 and not self._continues:
            self._booster = None
            self._student_start = configuration_of(student.booster).base_score
        else:
            self._check_is_behind(student)
        own_weight = next((guide.weight for guide in training.guides if guide.teacher is self), 0.0)
        of_student = Guide(Teacher(), own_weight if self._own_kl_weight is None else self._own_kl_weight)
        own = training.replace(guides=(of_student, *self._extra), student=student._replace(matrix=None))
        for extra in self._extra:
            extra.teacher.start(own)
        own = own.replace(student=None)  # which would be kept alive
        self._own, self._base_score, self._q = Distillation(own), student.base_score, None

    def _check_is_behind(self, student: Student) -> None:
        """Raise unless the continued student is this teacher's own, one round ahead."""
        rounds = student.booster.num_boosted_rounds()
        teacher_rounds = 0 if self._booster is None else self._booster.num_boosted_rounds()
        if self._booster is None or teacher_rounds != rounds - 1:
            raise ValueError(
                f"a JPIB teacher must be one round behind its student, got a student of {rounds} rounds and a teacher "
                f"of {teacher_rounds}: save both with pi_xgb.JointCheckPoint and pass both, each as xgb_model"
            )
        if student.matrix is not None and not self._is_own_student(student.booster, student.matrix):
            raise ValueError("this JPIB teacher grew with another student than the continued one: pass its own")

    def _is_own_student(self, student: xgboost.Booster, matrix: xgboost.DMatrix) -> bool:
        """Return whether the student without its last round predicts as the student of this teacher did."""
        if self._student_seen is None:  # this teacher came from a file
            return True
        rounds = student.num_boosted_rounds() - 1
        if rounds == 0:
            return self._student_start == configuration_of(student).base_score
        # A copy, since XGBoost caches predictions on its training rows and would boost on from these.
        margin = student.copy().predict(matrix, output_margin=True, iteration_range=(0, rounds))
        before = self.spec.loss.mean(margin)[:_ROWS_REMEMBERED]
        return before.shape == self._student_seen.shape and np.allclose(before, self._student_seen, atol=1e-4)

    def q(self, mean: Array, label: Array, weight: Array | None) -> Array:
        if self._own is None:
            raise ValueError("a JPIB teacher has a q in the training of a Booster only: pass it to pi_xgb.train")
        if self._booster is None:
            self._booster = self._first_booster(mean, self._own.training)
        else:
            self._grow(self._booster, mean, self._own)
        self._q = self._mean(self._booster, self._own.training)
        self._student_seen = to_host(mean[:_ROWS_REMEMBERED]).copy()
        return self._q

    def subset(self, rows: Array) -> JointTeacher:
        part = JointTeacher(slice_rows(self._dprivileged, rows), self.spec.params, kl_weight=self._own_kl_weight)
        part._extra = [extra.subset(rows) for extra in self._extra]
        return part

    def _first_booster(self, mean: Array, training: Training) -> xgboost.Booster:
        base_score = self.spec.params.get("base_score", self._base_score)
        if base_score is None:
            # Both start at the same intercept; a student with a base_margin has none to share.
            if bool((mean == mean[0]).all()):
                base_score = self.spec.loss.base_score(mean[0])
            else:
                base_score = Distillation(training.replace(guides=())).base_score()
        return xgboost.Booster({**self.spec.params, "base_score": base_score}, [self._dprivileged])

    def _grow(self, booster: xgboost.Booster, mean: Array, distillation: Distillation) -> None:
        training = distillation.training
        own = self._mean(booster, training) if self._q is None else self._q  # None in a continued training
        xp = module_for(training.spec.device)
        shown = read_only(to_host(own)) if self._extra else own
        answers = [mean, *(answer(extra, training, shown) for extra in self._extra)]
        target = distillation.blended([xp.asarray(q) for q in answers])
        grad, hess = self.spec.loss.gradient(own, target, distillation.factor)
        del own, shown, answers, target
        self._q = None  # out of date, and the next line is where memory is highest
        booster.boost(self._dprivileged, booster.num_boosted_rounds(), grad=grad, hess=hess)

    def _mean(self, booster: xgboost.Booster, training: Training) -> Array:
        margin = booster.predict(self._dprivileged, output_margin=True)
        return self.spec.loss.mean(module_for(training.spec.device).asarray(margin))

    def __getstate__(self) -> dict[str, Any]:
        # Without the training that it was in: the next one starts it again.
        return {**self.__dict__, "_own": None, "_dprivileged": freeze(self._dprivileged)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state, _dprivileged=xgboost.DMatrix(**state["_dprivileged"]))


def pairs_of(extra_teachers: Any, name: str = "extra_teachers") -> list[tuple[Any, Any]]:
    """Return a list of (teacher, weight) pairs; raise unless it has these only."""
    if isinstance(extra_teachers, (list, tuple)) and (not extra_teachers or is_list_of_pairs(extra_teachers)):
        return list(extra_teachers)
    raise TypeError(f"{name} must be a list of (teacher, weight), got {type(extra_teachers).__name__}: pass pairs")


class JointCheckPoint(TrainingCallback):
    """Save student and teacher of a JPIB training every few rounds, so that it survives its process.

    Parameters
    ----------
    directory : str or path
        An existing folder, best an empty one, as :meth:`latest` takes the newest pair it finds. Each checkpoint is two
        files, ``student-R.ubj`` and ``teacher-R.ubj``, R being the student's rounds. They are written under another
        name and renamed when complete.
    teacher : JointTeacher
        The :class:`JointTeacher` of the training (``JointObjective(...).teacher`` has it too).
    interval : int, default=100
        Rounds between checkpoints.

    Notes
    -----
    To go on after the process was killed, read the newest complete pair with :meth:`latest` and train the
    remaining rounds with both. The model is that of the uninterrupted run to the bit, as far as XGBoost's own
    continuation is: not with ``subsample`` or ``colsample_*`` below 1, whose random state no model file holds.

    Examples
    --------
    >>> import tempfile, pi_xgb, xgboost as xgb
    >>> data = pi_xgb.datasets.make_privileged(300, seed=0)
    >>> dtrain, dpriv = xgb.DMatrix(data.x, data.y), xgb.DMatrix(data.z, data.y)
    >>> params = {"objective": "binary:logistic", "max_depth": 3}
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     teacher = pi_xgb.JointTeacher(dpriv, params)
    ...     keep = pi_xgb.JointCheckPoint(folder, teacher, interval=2)
    ...     _ = pi_xgb.train(params, dtrain, 5, teacher=teacher, callbacks=[keep])
    ...     rounds, student_file, teacher_file = pi_xgb.JointCheckPoint.latest(folder)
    ...     resumed = pi_xgb.JointTeacher(dpriv, params, xgb_model=teacher_file)
    ...     student = pi_xgb.train(params, dtrain, 5 - rounds, teacher=resumed, xgb_model=student_file)
    >>> rounds, student.num_boosted_rounds()
    (4, 5)
    """

    def __init__(self, directory: os.PathLike[str] | str, teacher: JointTeacher, *, interval: int = 100) -> None:
        self._directory = check_folder(directory)
        if not isinstance(teacher, JointTeacher):
            raise TypeError(f"teacher must be the JointTeacher of the training, got {type(teacher).__name__}")
        check_whole("interval", interval, 1, "the number of rounds between checkpoints")
        self._teacher = teacher
        self._interval = interval

    def after_iteration(self, model: Any, epoch: int, evals_log: Any) -> bool:
        rounds = model.num_boosted_rounds()
        if rounds % self._interval == 0:
            # The teacher first: a student on disk then always has its teacher beside it.
            for role, booster in (("teacher", self._teacher.booster), ("student", model)):
                # Not save_model, which does not report a full disk.
                write_file(self._directory / f"{role}-{rounds}.ubj", bytes(booster.save_raw("ubj")), overwrite=True)
        return False

    @staticmethod
    def latest(directory: os.PathLike[str] | str) -> tuple[int, Path, Path] | None:
        """The newest complete checkpoint as (rounds, student's file, teacher's file), or None.

        Both files are read. A checkpoint that cannot be loaded is skipped, with a warning that gives the reason.
        """
        folder = check_folder(directory)
        names = [file.name for file in folder.iterdir()]
        rounds = [int(found[1]) for name in names if (found := re.fullmatch(r"student-(0|[1-9][0-9]*)\.ubj", name))]
        for number in sorted(rounds, reverse=True):
            student, teacher = (folder / f"{role}-{number}.ubj" for role in ("student", "teacher"))
            if not teacher.exists():
                continue
            try:
                load_booster(teacher)
                n_rounds = load_booster(student).num_boosted_rounds()
                if n_rounds == number:
                    return number, student, teacher
                fault = f"{str(student)!r} has {n_rounds} rounds"
            except (OSError, ValueError) as error:
                fault = str(error)
            warn_user(f"the checkpoint of {number} rounds in {str(folder)!r} is skipped: {fault}")
        return None
