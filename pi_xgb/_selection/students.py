"""The students of a search: on all its rows, and on the rows of one fold."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

import numpy as np
import xgboost
from numpy.typing import NDArray

from .._arrays import Array
from .._core.crossfit import whole_queries
from .._core.engines import choose
from .._core.folds import SharedFolds, Split, training_rows
from .._core.keywords import Keywords, check_engine, with_fitted_teachers
from .._core.losses import Loss
from .._core.teachers import check_kl_weight, is_list_of_pairs
from .._core.train import train
from .._core.training import Boosting, Guide, Spec, Teacher, Training
from .._rows.matrix_checks import check_is_dmatrix
from .._rows.supervision import checked_groups, read_labelled, read_teacher_weight, weight_of_known
from .._xgb.matrix import exclusive, query_of_row, rows_without_values, side_by_side, slice_rows
from .._xgb.params import objective_name, user_params
from .._xgb.threads import on_one_thread
from .candidates import PLAIN, Candidate
from .scores import Score, score_of_mean
from .splits import splits_of

Values = NDArray[np.float64]


@dataclasses.dataclass(frozen=True)
class Students:
    """All rows of a search, with what its students share."""

    params: dict[str, Any]
    num_boost_round: int
    """The maximum for students, and the number of rounds of KbPIB teachers."""
    dtrain: xgboost.DMatrix
    config: Keywords
    """The privileged features, ``teacher_params``, and by row ``labelled``, ``teacher_weight``, ``crossfit_groups``."""
    both: Any
    """Classifier and privileged features side by side, None if no model sees both."""
    groups: Array | None
    """Rows that stay together in the folds of the search."""
    constraints: Sequence[tuple[Teacher, float]]
    """Constraints of every candidate."""
    name: str = ""
    """The name of the features, where several share the folds."""
    _trainings: dict[str, Training] = dataclasses.field(default_factory=dict)

    @classmethod
    def read(
        cls,
        params: dict[str, Any],
        num_boost_round: int,
        dtrain: xgboost.DMatrix,
        config: Keywords,
        name: str,
        *,
        groups: Any = None,
        constraints: Any = (),
        sees_all: bool,
    ) -> Students:
        """Return the students of these rows, checked before any training.

        ``name`` is the calling function. ``sees_all``: a teacher or a student sees all features.
        """
        spec, privileged = Spec.read(params), config.privileged
        for matrix, role in ((dtrain, "dtrain"), (privileged, "privileged")):
            if matrix is None and role == "privileged":
                continue
            check_is_dmatrix(matrix, role)
            if isinstance(matrix, (xgboost.QuantileDMatrix, xgboost.ExtMemQuantileDMatrix)):
                raise TypeError(
                    f"{role} must be a DMatrix for {name}, got a {type(matrix).__name__}, which cannot be cut into "
                    "folds: build a DMatrix"
                )
        label, n_rows = spec.loss.label_of(dtrain), dtrain.num_row()
        if label.ndim == 2:
            raise ValueError(
                f"dtrain must have one target for {name}, got {label.shape[1]} columns of labels: pass one target at "
                "a time, or score all of them with pi_xgb.cv(..., kl_weight=[0.0, 1.0, 10.0])"
            )
        groups = whole_queries(spec.loss, dtrain, checked_groups(groups, n_rows), "groups")
        check_constraints(constraints)
        weight = read_teacher_weight(config.teacher_weight, n_rows)
        if config.teacher_weight is None and privileged is not None:
            weight = weight_of_known(privileged, besides=dtrain)
        elif weight is None and privileged is not None and rows_without_values(privileged).any():
            weight = np.ones(n_rows)  # the user's weights also teach rows without privileged values
        own_groups = checked_groups(config.crossfit_groups, n_rows, "crossfit_groups")
        teacher_params = config.teacher_params
        config = dataclasses.replace(
            config,
            teacher=None if privileged is None else "boosted",
            teacher_params=None if teacher_params is None else on_one_thread(teacher_params, n_rows),
            labelled=read_labelled(config.labelled, n_rows),
            teacher_weight=weight,
            crossfit_groups=groups if own_groups is None else own_groups,
        )
        training = config.read(spec, Boosting(dtrain, num_boost_round))
        training.check_labelled_rows()
        for constraint, _ in constraints:
            constraint.start(training)
        if query_of_row(dtrain) is not None and not spec.loss.by_query:
            raise ValueError(
                f"dtrain must have no queries for {spec.objective}, since {name} reads them for ranking objectives "
                "only: build it without qid, and pass groups=qid"
            )
        both = side_by_side(dtrain, privileged) if sees_all and privileged is not None else None
        own = on_one_thread(params, n_rows)
        return cls(own, num_boost_round, dtrain, config, both, groups, tuple(constraints))

    @property
    def loss(self) -> Loss:
        """The loss of the student."""
        return Spec.read(self.params).loss

    @property
    def labelled(self) -> Array | None:
        """Which rows have a label; None where all have."""
        labelled: Array | None = self.config.labelled
        return labelled

    @property
    def labelled_rows(self) -> str:
        """The name of the rows in folds, for messages."""
        return "training rows" if self.labelled is None else "labelled training rows"

    @property
    def idle(self) -> Array:
        """Which rows have neither a label nor a teacher."""
        if self.labelled is None or self.config.teacher_weight is None:
            return np.zeros(self.dtrain.num_row(), bool)
        return ~self.labelled & (self.config.teacher_weight == 0)

    @property
    def inputs(self) -> dict[str, Any]:
        """The inputs of its trainings, by keyword."""
        rows = {"dtrain": self.dtrain, "groups": self.groups, "constraints": self.constraints}
        return {"params": self.params, "num_boost_round": self.num_boost_round, **vars(self.config), **rows}

    def with_privileged(self, privileged: xgboost.DMatrix | None, both: Any, name: str) -> Students:
        """The same rows with other features for the teachers."""
        config = dataclasses.replace(self.config, privileged=privileged)
        return dataclasses.replace(self, config=config, both=both, name=name, _trainings={})

    def check(self, candidates: Sequence[Candidate]) -> None:
        """Raise, before any training, if the teacher of a candidate cannot teach these rows."""
        constraints = [Guide(constraint, weight) for constraint, weight in self.constraints]
        for candidate in candidates:
            if candidate != PLAIN:
                training = self.training(candidate)
                choose("auto", training.spec, [*training.guides, *constraints], is_uniform=True, dtrain=self.dtrain)

    def training(self, candidate: Candidate) -> Training:
        """The training of all rows with the candidate's teacher, not fitted; the same for every ``kl_weight``."""
        if candidate.way not in self._trainings:
            config = self._config_of(candidate)
            config.check()
            boosting = Boosting(self.dtrain, self.num_boost_round)
            self._trainings[candidate.way] = config.read(Spec.read(self.params), boosting)
        return self._trainings[candidate.way]

    def _config_of(self, candidate: Candidate) -> Keywords:
        """Return the keywords of the candidate's teacher, with the joined features if it sees all."""
        privileged = self.config.privileged if candidate.sees_privileged else None
        sees = candidate.seen_features(has_privileged=privileged is not None)
        crossfits = candidate.crossfits(has_privileged=privileged is not None)
        return dataclasses.replace(
            self.config,
            privileged=privileged,
            method=candidate.method,
            teacher=candidate.teacher,
            teacher_sees=sees if privileged is not None and candidate.learns_first else None,
            crossfit=candidate.crossfit,
            crossfit_groups=self.config.crossfit_groups if crossfits else None,
            all_features=self.both if privileged is not None and sees == "all" else None,
        )

    def features_of(self, candidate: Candidate) -> xgboost.DMatrix:
        """The features that the candidate's teacher sees."""
        config = self._config_of(candidate)
        return next(matrix for matrix in (config.all_features, config.privileged, self.dtrain) if matrix is not None)

    def engine(self, candidate: Candidate) -> str:
        """The native engine, the fastest, where its model is that of others up to rounding; else "auto"."""
        if not candidate.learns_first or self.constraints:
            return "auto"
        uniform = self.labelled is None and self.config.teacher_weight is None
        try:
            check_engine("native", Spec.read(self.params), self._config_of(candidate), is_uniform=uniform)
        except ValueError:
            return "auto"
        return "native"

    def splits(self, nfold: int, repeats: int, folds: Any, seed: int, names: Any = None) -> list[Split]:
        """The folds of the labelled rows; ``names`` are the user's names of the classes."""
        rows: dict[str, Any] = {"groups": self.groups, "labelled": self.labelled}
        label, classes = self.loss.label_of(self.dtrain), self.loss.probabilities
        splits = splits_of(label, nfold, repeats, folds, seed, classes=classes, names=names, **rows)
        if not self.loss.by_query:
            return splits
        return [split._replace(train=np.sort(split.train), test=np.sort(split.test)) for split in splits]

    def in_folds(self, splits: Sequence[Split]) -> list[SharedFolds | None]:
        """The folds of each split, if cross-fitted teachers can share them: not with groups of their own."""
        own: Any = self.config.crossfit_groups
        if not np.array_equal(own, self.groups):  # type: ignore[arg-type]
            return [None] * len(splits)
        return SharedFolds.of_splits(splits, self.dtrain.num_row(), self.labelled, self.groups)

    def take(self, rows: Array, held_out: Array, folds: SharedFolds | None = None) -> FoldStudents:
        """The students of some labelled rows, in their order, and of all unlabelled ones but those held out."""
        unlabelled = None if self.labelled is None else ~self.labelled & ~self.idle
        rows = training_rows(rows, held_out, unlabelled, self.groups, by_query=self.loss.by_query)
        with exclusive(self.dtrain):
            part, test = slice_rows(self.dtrain, rows), slice_rows(self.dtrain, held_out)
        return FoldStudents(self, rows, part, held_out, test, None if folds is None else folds.subset(rows))


@dataclasses.dataclass(frozen=True)
class FoldStudents:
    """The training and held-out rows of one fold, with the teachers that were trained on it."""

    all: Students
    rows: Array | None
    """Training rows; None for all rows."""
    dtrain: xgboost.DMatrix
    test: Array
    held_out: Any
    folds: SharedFolds | None = None
    _teachers: dict[str, Any] = dataclasses.field(default_factory=dict)

    @classmethod
    def of_all_rows(cls, students: Students, dtrain: xgboost.DMatrix) -> FoldStudents:
        """The students of all rows, trained on ``dtrain``."""
        return cls(students, None, dtrain, np.arange(0), None)

    @property
    def labelled(self) -> Array | None:
        """Which training rows have a label; None where all have."""
        labelled: Array | None = self._cut(self.all.labelled)
        return labelled

    def teacher_of(self, candidate: Candidate) -> Any:
        """The teacher that :func:`pi_xgb.train` would make; one that learns first serves several students."""
        if candidate.way in self._teachers and candidate.learns_first:
            return self._teachers[candidate.way]
        training = self.all.training(candidate)
        with exclusive(self.all.dtrain, *self.all.config.matrices, *([] if self.all.both is None else [self.all.both])):
            if self.rows is not None:
                training = training.subset(self.rows)
        way = f"{self.all.name} {candidate.way}"
        folds = None if self.folds is None else dataclasses.replace(self.folds, way=way)
        fitted = with_fitted_teachers(training, folds=folds)
        self._teachers[candidate.way] = fitted.guides[0].teacher
        return self._teachers[candidate.way]

    def fit(self, candidate: Candidate, rounds: int, **keywords: Any) -> xgboost.Booster:
        """The candidate's student."""
        params, labelled = keywords.pop("params", self.all.params), self.labelled
        constraints = self.all.constraints
        if self.rows is not None:
            constraints = [(constraint.subset(self.rows), weight) for constraint, weight in constraints]
        if candidate == PLAIN and not constraints:
            return train(params, labelled_part(self.dtrain, labelled), rounds, **keywords)
        per_row, weight = self._cut(self.all.config.teacher_weight), candidate.kl_weight
        if candidate == PLAIN:
            keywords |= {"teacher": list(constraints)}
        elif not constraints:
            keywords |= {"teacher": self.teacher_of(candidate), "kl_weight": weight, "teacher_weight": per_row}
        else:
            pair = (self.teacher_of(candidate), weight if per_row is None else weight * per_row)
            keywords |= {"teacher": [pair, *constraints]}
        return train(params, self.dtrain, rounds, labelled=labelled, **keywords)

    def _cut(self, values: Any) -> Any:
        return values if values is None or self.rows is None else values[self.rows]

    def curve(self, candidate: Candidate, score: Score) -> Values:
        """The score on held-out rows after each round."""
        log: dict[str, dict[str, list[float]]] = {}
        self.fit(
            candidate,
            self.all.num_boost_round,
            params=score.applied_to(self.all.params),
            engine=self.all.engine(candidate),
            evals=[(self.held_out, "test")],
            evals_result=log,
            verbose_eval=False,
            custom_metric=score.custom,
        )
        values = np.array(list(log["test"].values())[-1])
        undefined = values[~np.isfinite(values)]
        if undefined.size:
            raise ValueError(
                f"{score.name} must be finite in every fold, got {undefined[0]} on {self.held_out.num_row()} held-out "
                "rows: choose another metric or other folds"
            )
        return values

    def teacher_score(self, candidate: Candidate, score: Score) -> float:
        """The score of the teacher's own predictions on the held-out rows."""
        matrix, loss = self.all.features_of(candidate), self.all.loss
        with exclusive(matrix):
            seen = slice_rows(matrix, self.test)
        teacher = self._teachers[candidate.way] if candidate.way in self._teachers else self.teacher_of(candidate)
        if candidate.learns_first:
            mean = teacher.predict(seen)
        else:
            mean = loss.mean(teacher.booster.predict(seen, output_margin=True))
        return score_of_mean(score, mean, self.held_out, self.all.params, loss)


def labelled_part(matrix: xgboost.DMatrix, labelled: Array | None) -> xgboost.DMatrix:
    """Return the labelled rows; the matrix itself if all rows have labels."""
    if labelled is None:
        return matrix
    with exclusive(matrix):
        return slice_rows(matrix, np.flatnonzero(labelled))


def check_constraints(constraints: Any) -> None:
    """Raise unless the constraints are pairs of a teacher of these rows and its weight."""
    is_empty = isinstance(constraints, (list, tuple)) and not constraints
    if not (is_empty or is_list_of_pairs(constraints)):
        raise TypeError(
            "constraints must be a list of (constraint, weight), as in constraints=[(DemographicParity(sex), 5.0)], "
            f"got {constraints!r}"
        )
    for constraint, weight in constraints:
        if not isinstance(constraint, Teacher):
            raise TypeError(f"a constraint must be one of pi_xgb.constraints, got {type(constraint).__name__}")
        check_kl_weight(weight, "the weight of a constraint")


def settled(params: Any) -> dict[str, Any]:
    """Return the params under unambiguous names, since otherwise every training would warn."""
    own = user_params(params)
    own["objective"] = objective_name(own)
    if "alpha" in own and "reg_alpha" not in own:
        own["reg_alpha"] = own.pop("alpha")
    return own
