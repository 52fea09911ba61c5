"""The keywords that configure the teachers, checked alone and then read with the training rows."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any, Literal, get_args

import xgboost

from .._arrays import Array
from .._rows.checks import check_choice, require
from .._rows.supervision import checked_groups, read_labelled, read_teacher_weight, weight_of_known
from .._xgb.matrix import side_by_side
from .._xgb.params import objective_name
from .checks import (
    check_dmatrix,
    check_is_dmatrix,
    check_kl_weight,
    check_no_overlap,
    check_same_exposure,
    check_same_rows,
)
from .job import Boosting
from .joint import JointTeacher
from .learned import TrainableTeacher
from .learners import DEFAULT_TEACHER, members_of
from .learners.estimator import is_estimator
from .learners.features import Features
from .learners.recipe import (
    Recipe,
    check_distributed,
    check_instance,
    check_readable,
    check_rounds,
    check_teacher_word,
    chosen_crossfit,
)
from .losses import LOSSES
from .spec import Spec
from .supervision import Supervision
from .task import Task
from .teachers import (
    DEFAULT_KL_WEIGHT,
    Teacher,
    WeightedTeacher,
    as_teacher,
    check_same_labelled,
    is_list_of_pairs,
    weighted,
    weighted_pairs,
)

MethodName = Literal["kbpib", "jpib"]
METHODS: tuple[MethodName, ...] = get_args(MethodName)
DEFAULT_METHOD: MethodName = "kbpib"
SEES = ("privileged", "all")


@dataclasses.dataclass(frozen=True)
class TeacherConfig:
    """The keywords that configure the teachers. :meth:`check` checks them alone, :meth:`read` with the rows."""

    privileged: xgboost.DMatrix | None = None
    method: str = DEFAULT_METHOD
    kl_weight: float = DEFAULT_KL_WEIGHT
    teacher: Any = None
    teacher_sees: str | None = None
    crossfit: int | None = None
    teacher_params: Any = None
    privileged_evals: Sequence[tuple[xgboost.DMatrix, str]] | None = None
    allow_overlap: bool = False
    labelled: Any = None
    teacher_weight: Any = None
    crossfit_groups: Any = None
    all_features: xgboost.DMatrix | None = None
    """All columns that a teacher may see, where the caller has joined them."""
    table: Any = None
    """The user's table of the columns that an estimator as teacher sees."""
    classes: Sequence[Any] | None = None
    """The names of the encoded classes, for frozen estimators as teachers."""

    @classmethod
    def from_keywords(cls, given: Mapping[str, Any]) -> TeacherConfig:
        """Return the config from the local variables of a function that takes these keywords."""
        return cls(**{field.name: given[field.name] for field in dataclasses.fields(cls) if field.name in given})

    @property
    def is_given(self) -> bool:
        """Whether there is a teacher."""
        return self.privileged is not None or self.teacher is not None

    @property
    def has_own_weights(self) -> bool:
        """Whether ``teacher`` is a list of pairs, whose weights take the place of ``kl_weight``."""
        return is_list_of_pairs(self.teacher)

    @property
    def weight_is_given(self) -> bool:
        """Whether the user set the weight of the teachers."""
        return self.has_own_weights or self._is_set("kl_weight")

    @property
    def learns_first(self) -> bool:
        """Whether a trained teacher learns before the student."""
        return self.method == "kbpib"

    @property
    def is_crossfitted(self) -> bool:
        """Whether a trained teacher learns without the rows that it predicts."""
        return any(self._crossfit(teacher) != 0 for teacher in self._trained)

    @property
    def sees_student(self) -> bool:
        """Whether a trained teacher reads the columns of ``dtrain``, from that matrix."""
        return not self.overlap_is_meant and any(self.sees(teacher) == "all" for teacher in self._trained)

    @property
    def can_stop_early(self) -> bool:
        """Whether ``privileged_evals`` can stop a trained teacher of positive weight."""
        counts = self.has_own_weights or self.kl_weight > 0
        return self.learns_first and counts and "boosted" in self._words and self.teacher_sees != "all"

    @property
    def _teachers(self) -> list[Any]:
        """Each teacher, or the name of its kind; the default kind for privileged features without ``teacher``."""
        if self.has_own_weights:
            return [teacher for teacher, _ in self.teacher]
        return [DEFAULT_TEACHER if self.teacher is None else self.teacher] if self.is_given else []

    @property
    def _trained(self) -> list[Any]:
        """The names and estimators among them, which are trained here."""
        return [teacher for teacher in self._teachers if is_trained_here(teacher)]

    def check(self, early_stopping_rounds: Any = None) -> None:
        """Raise for keywords that contradict each other or have no effect."""
        check_choice(self.method, METHODS, "method")
        check_kl_weight(self.kl_weight)
        if self.teacher_sees is not None:
            check_choice(self.teacher_sees, SEES, "teacher_sees")
        for teacher in self._teachers:
            check_instance(teacher)
        for teacher in self._trained:
            check_teacher_word(teacher)
            chosen_crossfit(self.crossfit, teacher, sees_student=False)
        if not self.is_given:
            self._check_without_teacher()
        elif not self._trained:
            self._check_given_teachers()
        else:
            self._check_trained(early_stopping_rounds)

    def check_distributed(self) -> None:
        """Raise for a teacher that cannot be trained on rows that are split over workers."""
        for teacher in self._trained:
            check_distributed(teacher)

    def _check_without_teacher(self) -> None:
        named = ["kl_weight"] * (self.kl_weight != 0 and self._is_set("kl_weight"))
        named += [name for name in (*_OF_TRAINED, "labelled", "teacher_weight") if self._is_set(name)]
        if named:
            raise ValueError(
                f"{require(named)} a teacher, and none is configured: pass privileged= or teacher=. To "
                "train on labelled rows alone build dtrain from them"
            )

    def _check_given_teachers(self) -> None:
        if self.privileged is not None:
            raise ValueError(
                "privileged and teacher were both given: teacher must be a name, an estimator, or a list of pairs such "
                f"as [('boosted', weight), (other, weight)] with one of these, got {type(self.teacher).__name__}. "
                "Leave privileged out for a trained teacher; ModelTeacher(function, rows) calls a function"
            )
        named = [name for name in _OF_TRAINED if self._is_set(name)]
        if named:
            raise ValueError(
                f"{require(named)} a trainable teacher, and none is configured: pass privileged=, or leave them out"
            )

    def _check_trained(self, early_stopping_rounds: Any) -> None:
        if self.privileged is None and (self._is_set("teacher_sees") or self.privileged_evals or self.allow_overlap):
            names = [n for n in ("teacher_sees", "privileged_evals", "allow_overlap") if self._is_set(n)]
            raise ValueError(f"{require(names)} privileged=, the DMatrix of privileged features: pass it")
        has_booster = any("boosted" in members_of(teacher) for teacher in self._words)
        if self._is_set("teacher_params") and not has_booster:
            raise ValueError(
                f"teacher_params require teacher='boosted' or 'mixed', got teacher={self._trained[0]!r}: leave them out"
            )
        if self.privileged_evals is not None and "boosted" not in self._words:
            raise ValueError(
                f"privileged_evals require teacher='boosted', got teacher={self._trained[0]!r}: leave them out"
            )
        if self.privileged_evals is not None and self.teacher_sees == "all" and self.all_features is None:
            raise ValueError(
                "privileged_evals are not supported with teacher_sees='all', which puts dtrain and privileged side by "
                "side: use crossfit, or pass all features as privileged with allow_overlap=True"
            )
        if self.method == "jpib":
            self._check_joint()
        if self.crossfit_groups is not None and not self.is_crossfitted:
            raise ValueError(
                f"crossfit_groups require crossfit of at least 2, got crossfit={self.crossfit}: set crossfit as well"
            )
        if self.privileged_evals and not early_stopping_rounds:
            raise ValueError("privileged_evals require early_stopping_rounds, which stop the teacher: pass them too")

    def _check_joint(self) -> None:
        unused = [name for name in ("crossfit", "crossfit_groups", "privileged_evals") if self._is_set(name)]
        if unused:
            raise ValueError(
                f"{', '.join(unused)} is not supported with method='jpib', whose teacher grows with the student and "
                "stops with it: leave it out"
            )
        others = [teacher for teacher in self._trained if teacher != "boosted"]
        if others or self.privileged is None:
            found = f"teacher={others[0]!r}" if others else "no privileged="
            raise ValueError(
                f"method='jpib' requires privileged= and teacher='boosted', got {found}: its teacher is boosted along "
                "with the student. Use method='kbpib'"
            )

    @property
    def _words(self) -> list[str]:
        return [teacher for teacher in self._trained if isinstance(teacher, str)]

    def _is_set(self, name: str) -> bool:
        value, default = getattr(self, name), _DEFAULTS[name]
        return value is not None if default is None else bool(value != default)

    @property
    def changes_nothing(self) -> bool:
        """Whether there is no teacher, or its weight is 0 and all rows have a label."""
        return not self.is_given or not (self.has_own_weights or self.kl_weight or self.labelled is not None)

    def leaves_to_xgboost(self, params: dict[str, Any], obj: Any) -> bool:
        """Whether plain XGBoost trains: without a teacher, or with weight 0 and an objective that none can guide."""
        return not self.is_given or (self.changes_nothing and (obj is not None or objective_name(params) not in LOSSES))

    @property
    def matrices(self) -> list[xgboost.DMatrix]:
        """Every matrix that the teachers are trained or evaluated on."""
        own = [matrix for matrix in (self.privileged, self.all_features) if matrix is not None]
        given = [matrix for teacher in self._teachers if isinstance(teacher, Teacher) for matrix in teacher.matrices]
        return [*own, *(matrix for matrix, _ in self.privileged_evals or ()), *given]

    def read(self, spec: Spec, dtrain: xgboost.DMatrix, boosting: Boosting) -> Supervision:
        """Return the supervision of these rows, after all checks that precede a training."""
        check_is_dmatrix(dtrain, "dtrain")
        n_rows = dtrain.num_row()
        labelled = read_labelled(self.labelled, n_rows)
        teacher_weight = read_teacher_weight(self.teacher_weight, n_rows)
        pairs = []
        if self.is_given:
            teacher = DEFAULT_TEACHER if self.teacher is None else self.teacher
            pairs = weighted_pairs(teacher, self.kl_weight, teacher_weight)
        task = Supervision(labelled=labelled).task(spec, dtrain)
        trained = _Trained(self, task, dtrain, boosting) if self._trained else None
        teachers = []
        for teacher, kl_weight, per_row in pairs:
            if trained is not None and is_trained_here(teacher):
                counts = _or(per_row, trained.known)
                teachers.append(weighted(trained.teacher(teacher, counts), kl_weight, counts))
            else:
                teachers.append(weighted(as_teacher(teacher, spec.loss.range, per_row), kl_weight, per_row))
        check_same_labelled(teachers, labelled)
        supervision = Supervision(tuple(teachers), labelled, self.has_own_weights)
        supervision.check(task)
        for entry in teachers:
            if not isinstance(entry.teacher, TrainableTeacher):
                for matrix in entry.teacher.matrices:
                    check_same_rows(dtrain, matrix, labelled)
        return supervision

    def _crossfit(self, teacher: Any) -> int | None:
        return chosen_crossfit(self.crossfit, teacher, sees_student=self.sees(teacher) == "all")

    def sees(self, teacher: Any) -> str:
        """What a trained teacher sees."""
        return seen_by(teacher, self.teacher_sees, has_privileged=self.privileged is not None)

    @property
    def overlap_is_meant(self) -> bool:
        """Whether ``privileged`` has all columns that a teacher is to see, those of dtrain among them."""
        return self.allow_overlap and self.teacher_sees != "all"

    def supervision_without_rows(self) -> Supervision:
        """Return the supervision before there are rows, to check an engine on the driver of a cluster."""
        placeholder = Teacher()
        placeholder.is_adaptive, placeholder.hessian = not self.learns_first, "full"
        teachers = [WeightedTeacher(placeholder, self.kl_weight)] if self.is_given and self.kl_weight > 0 else []
        return Supervision(tuple(teachers))

    def check_continues(self, xgb_model: Any) -> None:
        """Raise if method='jpib' would continue a student without its teacher."""
        if xgb_model is not None and self.privileged is not None and not self.learns_first:
            raise ValueError(
                "xgb_model cannot be continued by method='jpib' without its teacher: pass "
                "teacher=pi_xgb.JointTeacher(privileged, params, xgb_model=its_booster) in place of privileged"
            )


class _Trained:
    """The rows that all trained teachers share, checked once."""

    def __init__(self, config: TeacherConfig, task: Task, dtrain: xgboost.DMatrix, boosting: Boosting) -> None:
        self._config, self._task, self._dtrain, self._boosting = config, task, dtrain, boosting
        self._spec = spec = task.spec
        self._boosted_spec = spec.of_teacher(config.teacher_params)
        self._groups = checked_groups(config.crossfit_groups, dtrain.num_row(), "crossfit_groups")
        self._evals = list(config.privileged_evals or ())
        self._all = config.all_features
        self.known: Array | None = None
        """Their default weight per row: 0 where no privileged value is known."""
        privileged = config.privileged
        if privileged is None:
            return
        check_is_dmatrix(privileged, "privileged")
        if config.teacher_weight is None:
            self.known = weight_of_known(privileged, besides=dtrain)
        check_dmatrix(privileged, "privileged", spec.loss)
        check_same_rows(dtrain, privileged, task.labelled)
        check_same_exposure(dtrain, privileged, spec.loss)
        if config.all_features is None:
            check_no_overlap(dtrain, privileged, allow_overlap=config.overlap_is_meant)
        for matrix, name in self._evals:
            check_dmatrix(matrix, f"privileged_evals {name!r}", spec.loss)

    def teacher(self, teacher: Any, teacher_weight: Array | None) -> Teacher:
        """Return the teacher of a kind, to be trained first or to grow with the student."""
        config, boosting = self._config, self._boosting
        matrix = self._matrix(teacher)
        sees = "all" if config.overlap_is_meant else config.sees(teacher)
        if not config.learns_first:
            check_rounds(boosting.num_boost_round)
            self._spec.check_margins_stay()
            joint = JointTeacher(matrix, self._boosted_spec.params)
            joint.settings = {"teacher_sees": sees, **joint.settings}
            return joint
        # With a custom_metric, maximize applies to that metric, which the teacher never sees.
        maximize = boosting.maximize if boosting.custom_metric is None else None
        stopping = {
            "evals": self._evals,
            "early_stopping_rounds": boosting.early_stopping_rounds,
            "maximize": maximize,
        }
        recipe = Recipe(
            teacher=teacher,
            spec=self._spec,
            boosted_spec=self._boosted_spec,
            num_boost_round=boosting.num_boost_round,
            crossfit=config._crossfit(teacher),
            teacher_sees=sees,
            keywords={**(stopping if self._evals else {}), "verbose_eval": False},
            classes=config.classes,
        )
        features, weight = Features(matrix, config.table), self._dtrain.get_weight()
        return TrainableTeacher(
            recipe,
            features,
            self._task.label,
            weight,
            labelled=self._task.labelled,
            groups=self._groups,
            teacher_weight=teacher_weight,
        )

    def _matrix(self, teacher: Any) -> xgboost.DMatrix:
        config, privileged = self._config, self._config.privileged
        if privileged is not None and config.sees(teacher) == "privileged":
            return privileged
        if self._all is None and privileged is not None and config.overlap_is_meant:
            return privileged
        if self._all is None:
            if privileged is not None:
                check_readable(teacher, self._dtrain, privileged)
            self._all = self._dtrain if privileged is None else side_by_side(self._dtrain, privileged)
        return self._all


def seen_by(teacher: Any, teacher_sees: str | None, *, has_privileged: bool) -> str:
    """Return what a trained teacher sees: without privileged features all columns are those of dtrain."""
    if not has_privileged:
        return "all"
    by_default = "privileged" if teacher is None or teacher == "boosted" else "all"
    return by_default if teacher_sees is None else teacher_sees


def is_trained_here(teacher: Any) -> bool:
    """Whether ``teacher`` is the name of a kind of teacher or an estimator, to be trained here."""
    return isinstance(teacher, str) or (is_estimator(teacher) and not isinstance(teacher, (Teacher, xgboost.DMatrix)))


def _or(values: Array | None, default: Array | None) -> Array | None:
    return default if values is None else values


SETTINGS = ("method", "kl_weight", "teacher_sees", "crossfit", "teacher_params", "allow_overlap")
PER_ROW = ("labelled", "teacher_weight", "crossfit_groups")
"""The keywords with one value for all rows, and those with one value per row."""

_DEFAULTS = {field.name: field.default for field in dataclasses.fields(TeacherConfig)}
_OF_TRAINED = (
    "method",
    "teacher_sees",
    "crossfit",
    "crossfit_groups",
    "teacher_params",
    "privileged_evals",
    "allow_overlap",
)
