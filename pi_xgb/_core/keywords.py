"""The keywords about teachers: checked alone, then read with params and rows into a :class:`Training`."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from numbers import Real
from typing import Any, Literal, get_args

import numpy as np
import xgboost
from xgboost import collective

from .._rows.checks import check_choice, check_whole, require
from .._rows.matrix_checks import check_is_dmatrix, check_matrix, check_metric, check_no_overlap, check_same_rows
from .._rows.supervision import check_evals_are_labelled, read_groups, read_labelled, read_teacher_weight, weight_beside
from .._warnings import warn_user
from .._xgb.collective import all_or_none, on_any_worker
from .._xgb.joined import side_by_side
from .._xgb.matrix import can_be_cut, rows_without_values
from .._xgb.params import check_by_xgboost, objective_name
from .blend import answer
from .crossfit import FoldModels
from .engines import choose
from .joint import JointTeacher
from .learners import DEFAULT_TEACHER, gathered
from .learners.cross_fitted import cross_fitted
from .learners.estimator import is_frozen
from .learners.features import Features
from .learners.gathered import fit_gathered, n_labelled_rows
from .learners.learned_teacher import LearnedTeacher
from .learners.recipe import Recipe, check_readable, check_teacher_word
from .losses import LOSSES
from .teachers import DEFAULT_KL_WEIGHT, as_guide, check_kl_weight, is_list_of_pairs, is_trained_here, weighted
from .training import Boosting, Guide, Spec, Teacher, Training

MethodName = Literal["kbpib", "jpib"]
METHODS: tuple[MethodName, ...] = get_args(MethodName)
DEFAULT_METHOD: MethodName = "kbpib"
SEES = ("privileged", "all")
SETTINGS = ("kl_weight", "method", "teacher_sees", "crossfit", "teacher_params", "allow_overlap")
PER_ROW = ("labelled", "teacher_weight", "crossfit_groups")
"""The keywords with one value for all rows, and those with one value per row."""
_OF_TRAINED = (*SETTINGS[1:], "crossfit_groups", "privileged_evals")


@dataclasses.dataclass
class Keywords:
    """The keywords about teachers. :meth:`check` checks them alone, :meth:`read` with the rows."""

    privileged: xgboost.DMatrix | None = None
    method: str = DEFAULT_METHOD
    kl_weight: float | None = None
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

    def __post_init__(self) -> None:
        self.is_given = self.privileged is not None or self.teacher is not None
        self.has_own_weights = is_list_of_pairs(self.teacher)
        """Whether ``teacher`` is a list of pairs, whose weights take the place of ``kl_weight``."""
        self._is_zero = isinstance(self.kl_weight, Real) and self.kl_weight == 0
        self.counts = self.is_given and (self.has_own_weights or not self._is_zero)
        """Whether there is a teacher, of a weight other than 0."""
        self.changes_nothing = not self.counts and self.labelled is None
        """Whether no teacher counts and all rows have a label."""
        self.weight_is_given = self.has_own_weights or self.kl_weight is not None
        teacher: Any = self.default_kind() if self.teacher is None else self.teacher
        self._teachers: list[Any] = [one for one, _ in teacher] if self.has_own_weights else [teacher] * self.is_given
        self._trained = [one for one in self._teachers if is_trained_here(one)]
        """The names and estimators among the teachers, which are trained here."""

    @classmethod
    def of(cls, given: Mapping[str, Any]) -> Keywords:
        """Return the keywords among the local variables of a function that takes them."""
        return cls(**{field.name: given[field.name] for field in dataclasses.fields(cls) if field.name in given})

    @property
    def is_crossfitted(self) -> bool:
        """Whether a trained teacher learns without the rows that it predicts."""
        return any(self._crossfit(teacher) != 0 for teacher in self._trained)

    def naming_teacher(self, objective: Any) -> Keywords:
        """Return these keywords with the kind that the objective asks for, where the user named none."""
        chooses = self.teacher is None and self.is_given
        return dataclasses.replace(self, teacher=self.default_kind(objective)) if chooses else self

    def default_kind(self, objective: Any = None) -> str:
        """Return the kind of teacher where the user named none.

        It is boosted with the keywords of the paper's methods, and for objectives that have no mean to learn.
        """
        is_papers = self.method == "jpib" or self.crossfit == 0 or self.privileged_evals is not None
        has_mean = not isinstance(objective, str) or objective not in LOSSES or LOSSES[objective].has_gradient
        return "boosted" if is_papers or not has_mean or self._is_zero else DEFAULT_TEACHER

    @property
    def sees_student(self) -> bool:
        """Whether a trained teacher sees the columns of ``dtrain``."""
        return any(self.sees(teacher) == "all" for teacher in self._trained)

    def _reads(self, dtrain: xgboost.DMatrix) -> bool:
        """Whether a trained teacher reads columns of ``dtrain`` from that matrix, not from another that has them."""
        return self.all_features is None and self.sees_student and not self._has_all_columns(dtrain)

    def _has_all_columns(self, dtrain: xgboost.DMatrix) -> bool:
        """Whether ``privileged`` is meant to have all columns that a teacher sees, those of ``dtrain`` among them."""
        own = getattr(self.privileged, "feature_names", None) or ()
        return self.allow_overlap and self.teacher_sees != "all" and set(dtrain.feature_names or ()) <= set(own)

    @property
    def can_stop_early(self) -> bool:
        """Whether ``privileged_evals`` can stop a trained teacher of positive weight."""
        return self.method == "kbpib" and self.counts and "boosted" in self._trained and self.teacher_sees != "all"

    def leaves_to_xgboost(self, params: dict[str, Any], obj: Any) -> bool:
        """Whether plain XGBoost trains: without a teacher, or with weight 0 and an objective that none can guide."""
        return self.changes_nothing and (not self.is_given or obj is not None or objective_name(params) not in LOSSES)

    @property
    def matrices(self) -> list[xgboost.DMatrix]:
        """Every matrix that the teachers are trained or evaluated on."""
        own = [matrix for matrix in (self.privileged, self.all_features) if matrix is not None]
        given = [matrix for one in self._teachers if isinstance(one, Teacher) for matrix in one.about.matrices]
        return [*own, *(matrix for matrix, _ in self.privileged_evals or ()), *given]

    def sees(self, teacher: Any) -> str:
        """What a trained teacher sees."""
        return seen_by(teacher, self.teacher_sees, has_privileged=self.privileged is not None)

    def _crossfit(self, teacher: Any) -> int | None:
        """Return ``crossfit`` if the user set it, 0 for a teacher that may predict its training rows, else None."""
        if self.crossfit is None:
            return 0 if (teacher == "boosted" and self.sees(teacher) != "all") or is_frozen(teacher) else None
        check_whole("crossfit", self.crossfit)
        if teacher == "mixed" and self.crossfit == 0:
            raise ValueError("crossfit must be at least 2 with teacher='mixed', whose weights need it: leave it out")
        if self.crossfit and is_frozen(teacher):
            raise ValueError(f"crossfit must be 0 with a frozen estimator, got {self.crossfit}: leave it out")
        return self.crossfit

    def _set(self, *names: str) -> list[str]:
        """Return which of these keywords the user set."""
        named = [name for name in names if getattr(self, name) is not None and getattr(self, name) is not False]
        return [name for name in named if name != "method" or self.method != DEFAULT_METHOD]

    def check(self, early_stopping_rounds: Any = None, obj: Any = None, xgb_model: Any = None) -> None:
        """Raise for keywords that contradict each other or have no effect."""
        if obj is not None and self.is_given and not self.changes_nothing:
            raise ValueError(
                "obj must be left out with a teacher, which works through an objective of its own: name the loss in "
                "params['objective'] (objective= of an estimator), or train without a teacher"
            )
        check_choice(self.method, METHODS, "method")
        if self.kl_weight is not None:
            check_kl_weight(self.kl_weight)
        if self.teacher_sees is not None:
            check_choice(self.teacher_sees, SEES, "teacher_sees")
        for teacher in self._trained:
            check_teacher_word(teacher)
            self._crossfit(teacher)
        if self._trained:
            self._check_trained(early_stopping_rounds, xgb_model)
            return
        if self.privileged is not None:
            raise ValueError(
                "privileged and teacher were both given: teacher must be a name, an estimator, or a list of pairs with "
                f"one of these, got {type(self.teacher).__name__}. Leave privileged out for arrays and fitted "
                "teachers; estimators take a constraint as constraints=[(constraint, weight)]"
            )
        named = self._set(*_OF_TRAINED)
        if not self.is_given:
            is_plain = self.kl_weight == 0 and obj is None
            rows = ("teacher_weight",) if is_plain else ("labelled", "teacher_weight")
            named = ["kl_weight"] * bool(self.kl_weight) + named + self._set(*rows)
        if named:
            raise ValueError(
                f"{require(named)} a {'trainable ' * self.is_given}teacher, and none is configured: pass privileged= "
                "or teacher=, or leave them out. kl_weight=0 trains XGBoost on the labelled rows alone"
            )

    def _check_trained(self, early_stopping_rounds: Any, xgb_model: Any) -> None:
        names, teacher = self._set("teacher_sees", "privileged_evals", "allow_overlap"), self._trained[0]
        if self.privileged is None and names:
            raise ValueError(f"{require(names)} privileged=, the DMatrix of privileged features: pass it")
        for name, kinds in {"teacher_params": ("boosted", "mixed"), "privileged_evals": ("boosted",)}.items():
            if self._set(name) and not any(kind in self._trained for kind in kinds):
                kind = " or ".join(map(repr, kinds))
                raise ValueError(f"{name} require teacher={kind}, got teacher={teacher!r}: leave them out")
        if self.privileged_evals is not None and self.teacher_sees == "all" and self.all_features is None:
            raise ValueError(
                "privileged_evals are not supported with teacher_sees='all': use crossfit, or pass all features as "
                "privileged with allow_overlap=True"
            )
        if self.method == "jpib":
            if unused := self._set("crossfit", "crossfit_groups", "privileged_evals"):
                raise ValueError(f"{', '.join(unused)} is not supported with method='jpib': leave it out")
            others = [f"teacher={teacher!r}" for teacher in self._trained if teacher != "boosted"]
            if others or self.privileged is None:
                found = [*others, "no privileged="][0]
                raise ValueError(f"method='jpib' requires privileged= and teacher='boosted', got {found}: use kbpib")
            if xgb_model is not None:
                raise ValueError(
                    "xgb_model cannot be continued by method='jpib' without its teacher: pass "
                    "teacher=pi_xgb.JointTeacher(privileged, params, xgb_model=its_booster) in place of privileged"
                )
        if self.privileged_evals and not early_stopping_rounds:
            raise ValueError("privileged_evals require early_stopping_rounds, which stop the teacher: pass them too")
        if self.crossfit_groups is not None and not self.is_crossfitted:
            raise ValueError(f"crossfit_groups require crossfit of at least 2, got crossfit={self.crossfit}: set it")

    def read(self, spec: Spec, boosting: Boosting, name: str = "dtrain") -> Training:
        """Return the training of these rows, after all checks that precede it; its teachers are not trained yet.

        Call it on every worker. ``name`` is that of the matrix, for messages.
        """
        dtrain, names_kind = boosting.dtrain, self.teacher is None and self.counts
        with all_or_none("a check of the training data"):
            check_metric(boosting.keywords.get("custom_metric"))
            check_whole("num_boost_round", boosting.num_boost_round)
            check_is_dmatrix(dtrain, name)
            labelled = read_labelled(self.labelled, dtrain.num_row())
            training = Training.from_matrix(spec, dtrain, labelled, name=name)
            check_evals_are_labelled(labelled, dtrain, boosting.evals)
            if self.teacher is None and not names_kind:  # nobody teaches, and nothing about a teacher is checked
                return training
            if self._trained:
                self._check_rows_of_teachers(training, boosting)
        named = self._naming_kind_for(training, dtrain) if names_kind else self
        all_columns = self.all_features or self.privileged or dtrain
        if self.privileged is not None and named._reads(dtrain):
            # XGBoost builds it on all workers together, which no check may do.
            all_columns = side_by_side(dtrain, self.privileged)
        with all_or_none("a check of the training data"):
            training = named._with_teachers(training, boosting, all_columns)
        if any(isinstance(guide.teacher, Recipe) and guide.kl_weight > 0 for guide in training.guides):
            # XGBoost would read these after the teachers are trained. Without any, nothing may touch its random state,
            # with which a continued training goes on.
            check_by_xgboost(spec.params, dtrain, boosting.xgb_model)
        return training

    def _naming_kind_for(self, training: Training, dtrain: xgboost.DMatrix) -> Keywords:
        """Return these keywords with the kind of teacher that rows and objective allow; call it on every worker."""
        boosted, n_labelled = dataclasses.replace(self, teacher="boosted"), n_labelled_rows(training)
        if self._trained == ["boosted"] or not training.spec.loss.has_gradient or n_labelled < 2:
            return boosted
        # The joined table of an estimator takes the place of dtrain, which XGBoost builds from quantiles.
        of_student = [dtrain] if self._reads(dtrain) else []
        if collective.is_distributed() and n_labelled > gathered.MOST_LABELLED:
            why = f"learns from at most {gathered.MOST_LABELLED} labelled rows in a distributed training"
        elif on_any_worker(not all(map(can_be_cut, [*of_student, *self.matrices]))):
            why = "reads values, which a QuantileDMatrix and external memory do not give back: build a DMatrix"
        else:
            return dataclasses.replace(self, teacher=DEFAULT_TEACHER)
        warn_user(f"the teacher is boosted, since a mixed one {why}, or name teacher='boosted'")
        return boosted

    def _check_rows_of_teachers(self, training: Training, boosting: Boosting) -> None:
        """Raise unless teachers can be trained on the privileged matrices, which have the rows of dtrain."""
        check_whole("num_boost_round", boosting.num_boost_round, 1, "set it higher, or train without a teacher")
        privileged, dtrain, spec = self.privileged, boosting.dtrain, training.spec
        if privileged is None:
            return
        check_matrix(privileged, "privileged")
        check_same_rows(dtrain, privileged, training.labelled)
        if spec.loss.has_exposure and not np.array_equal(dtrain.get_base_margin(), privileged.get_base_margin()):
            raise ValueError("privileged must have the base_margin of dtrain, an exposure: build it with that")
        for matrix, name in self.privileged_evals or ():
            Training.from_matrix(spec, matrix, name=f"privileged_evals {name!r}")
        if self.all_features is not None:
            return
        if not self.allow_overlap:
            check_no_overlap(dtrain, privileged)
        for teacher in self._trained if self.teacher is not None else ():  # a kind that is named here can read them
            if self.sees(teacher) == "all":
                check_readable(teacher, dtrain, privileged)

    def _with_teachers(self, training: Training, boosting: Boosting, all_columns: xgboost.DMatrix) -> Training:
        """Return the training with its teachers, checked and not trained yet."""
        dtrain, spec, labelled = boosting.dtrain, training.spec, training.labelled
        teacher_weight = known = read_teacher_weight(self.teacher_weight, training.n_rows)
        given = weighted(self.teacher, self.kl_weight, teacher_weight, training.n_rows)
        is_open = any(is_trained_here(one.teacher) and one.per_row is None for one in given)
        if is_open and self.teacher_weight is None and self.privileged is not None:
            others = () if self.privileged is dtrain else dtrain.feature_names or ()
            known = weight_beside(rows_without_values(self.privileged, others))
        guides: list[Guide] = []
        for one in given:
            if is_trained_here(one.teacher):
                one = one._replace(per_row=known if one.per_row is None else one.per_row)
                guides.append(one._replace(teacher=self._to_train(one, training, boosting, all_columns)))
            else:
                guides.append(as_guide(one, spec.loss.range))
        training = training.replace(guides=tuple(guides))
        for one in guides:
            if isinstance(one.teacher, Recipe):
                one.teacher.check()
                continue
            one.teacher.start(training)
            if not one.teacher.is_adaptive:
                answer(one, training, training.like)  # raises if q does not fit
            for matrix in one.teacher.about.matrices:
                check_same_rows(dtrain, matrix, labelled)
        return training

    def _to_train(
        self, guide: Guide, training: Training, boosting: Boosting, all_columns: xgboost.DMatrix
    ) -> JointTeacher | Recipe:
        """Return the teacher of a kind, to be trained first or to grow with the student."""
        teacher, boosted_spec = guide.teacher, training.spec.of_teacher(self.teacher_params)
        sees = self.sees(teacher)
        matrix = all_columns if sees == "all" or self.privileged is None else self.privileged
        sees = "all" if self._has_all_columns(boosting.dtrain) else sees
        if self.method == "jpib":
            joint = JointTeacher(matrix, boosted_spec.params)
            joint.settings = {"teacher_sees": sees, **joint.settings}
            return joint
        keywords: dict[str, Any] = {"verbose_eval": False}
        if self.privileged_evals:
            own = boosting.keywords
            keywords |= {
                "evals": list(self.privileged_evals),
                "early_stopping_rounds": own.get("early_stopping_rounds"),
                # With a custom_metric, maximize applies to that metric, which the teacher never sees.
                "maximize": own.get("maximize") if own.get("custom_metric") is None else None,
            }
        return Recipe(
            teacher=teacher,
            training=training,
            boosted_spec=boosted_spec,
            features=Features(matrix, self.table),
            own_weight=boosting.dtrain.get_weight(),
            num_boost_round=boosting.num_boost_round,
            crossfit=self._crossfit(teacher),
            teacher_sees=sees,
            groups=read_groups(self.crossfit_groups, training.n_rows, "crossfit_groups"),
            teacher_weight=guide.per_row,
            keywords=keywords,
            classes=self.classes,
        )


def check_engine(engine: str, spec: Spec, keywords: Keywords, *, is_uniform: bool) -> None:
    """Raise what ``train`` would raise for this engine, before a cluster moves rows."""
    stand_in = Teacher()
    stand_in.is_adaptive = keywords.method == "jpib"
    guides = () if keywords.kl_weight == 0 else (Guide(stand_in, keywords.kl_weight or DEFAULT_KL_WEIGHT),)
    training = Training(spec=spec, label=np.zeros(1), weight=None, guides=guides)
    choose(engine, training, is_uniform=is_uniform)


def with_fitted_teachers(training: Training, progress: bool | None, folds: FoldModels | None = None) -> Training:
    """Return the training with trained teachers, shared in these ``folds`` of a search.

    ``progress`` is as for ``select``.
    """
    guides = [
        one._replace(teacher=trained(one.teacher, progress, folds)) if isinstance(one.teacher, Recipe) else one
        for one in training.guides
    ]
    return training.replace(guides=tuple(guides))


def trained(recipe: Recipe, progress: bool | None, folds: FoldModels | None = None) -> LearnedTeacher:
    """Return the teacher that is trained by a recipe, with q out of fold where it is cross-fitted."""
    if recipe.is_gathered:
        return recipe.learned(fit_gathered(recipe))
    return recipe.learned(recipe.fit_in_sample() if recipe.crossfit == 0 else cross_fitted(recipe, progress, folds))


def seen_by(teacher: Any, teacher_sees: str | None, *, has_privileged: bool) -> str:
    """Return what a trained teacher sees: without privileged features all columns are those of dtrain."""
    if not has_privileged:
        return "all"
    return teacher_sees or ("privileged" if teacher == "boosted" else "all")
