"""The fold engine of ``select``, ``compare`` and ``frontier``: the students of all rows, and those of one fold."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
import xgboost

from .._arrays import Array
from .._core.crossfit import whole_queries
from .._core.engines import choose
from .._core.joint import pairs_of
from .._core.keywords import Keywords, with_fitted_teachers
from .._core.teachers import as_guide, weighted
from .._core.train import train
from .._core.training import Boosting, Guide, Spec, Training
from .._progress import progress_bar
from .._rows.checks import check_jobs, check_whole
from .._rows.folds import warn_of_torn_groups
from .._rows.matrix_checks import check_is_dmatrix
from .._rows.supervision import check_evals_are_labelled, read_groups, read_teacher_weight, warn_of_idle_rows
from .._xgb.matrix import can_be_cut, exclusive, query_of_row, slice_rows
from .._xgb.params import objective_name, user_params
from .._xgb.threads import in_threads, jobs_side_by_side, on_one_thread
from .candidates import PLAIN, Candidate
from .resume_cache import ResumeCache
from .scores import Score
from .splits import SharedFolds, Split, splits_of


@dataclasses.dataclass(frozen=True)
class Students:
    """All rows of a search, with what its students share."""

    params: dict[str, Any]
    """The user's, with the objective by name."""
    spec: Spec
    """Of these params, with the threads of one of many trainings."""
    num_boost_round: int
    """The maximum for students, and the number of rounds of KbPIB teachers."""
    dtrain: xgboost.DMatrix
    config: Keywords
    """The privileged features, ``teacher_params``, and by row ``labelled``, ``teacher_weight``, ``crossfit_groups``."""
    labelled: Array | None
    """Which rows have a label; None where all have."""
    idle: Array
    """Which rows have neither a label nor a teacher."""
    groups: Array | None
    """Rows that stay together in the folds of the search."""
    constraints: Sequence[Guide]
    """Constraints of every candidate."""
    name: str = ""
    """The name of the features, where several share the folds."""
    _trainings: dict[str, Training] = dataclasses.field(default_factory=dict)

    @classmethod
    def read(
        cls,
        params: Any,
        num_boost_round: int,
        dtrain: xgboost.DMatrix,
        config: Keywords,
        search: str,
        *,
        groups: Any = None,
        constraints: Any = (),
    ) -> Students:
        """Return the students of these rows, checked before any training; ``search`` is the calling function."""
        check_whole("num_boost_round", num_boost_round, 1)
        params = {**(own := user_params(params)), "objective": objective_name(own)}
        spec, privileged = Spec.read(params), config.privileged
        given = {"dtrain": dtrain} | ({} if privileged is None else {"privileged": privileged})
        for role, matrix in given.items():
            check_is_dmatrix(matrix, role)
            if not can_be_cut(matrix):
                raise TypeError(f"{role} must be a DMatrix for {search}, got {type(matrix).__name__}: build a DMatrix")
        label, n_rows = spec.loss.label_of(dtrain), dtrain.num_row()
        if label.ndim == 2:
            raise ValueError(f"dtrain must have one target for {search}, got {label.shape[1]} columns: use pi_xgb.cv")
        groups = whole_queries(spec.loss, dtrain, read_groups(groups, n_rows), "groups")
        pairs = pairs_of(constraints, "constraints")
        guides = [as_guide(guide, spec.loss.range) for guide in weighted(pairs, None, None)] if pairs else []
        own_groups = read_groups(config.crossfit_groups, n_rows, "crossfit_groups")
        teacher_params = config.teacher_params
        config = dataclasses.replace(
            config,
            teacher=None if privileged is None else "boosted",
            teacher_params=None if teacher_params is None else on_one_thread(teacher_params, n_rows),
            crossfit_groups=groups if own_groups is None else own_groups,
        )
        training = config.read(spec, Boosting(dtrain, num_boost_round))
        training.check_labelled_rows()
        labelled, weight = training.labelled, read_teacher_weight(config.teacher_weight, n_rows)
        if config.teacher_weight is None and training.guides:
            # The weights that its own warning has named: later readings repeat none.
            weight = training.guides[0].per_row
            config = dataclasses.replace(config, teacher_weight=weight)
        idle = np.zeros(n_rows, bool) if labelled is None or weight is None else ~labelled & (weight == 0)
        for guide in guides:
            guide.teacher.start(training)
        if query_of_row(dtrain) is not None and not spec.loss.by_query:
            raise ValueError(f"dtrain must have no queries for {spec.objective}: build it without qid, pass groups=qid")
        spec = spec.with_params(**on_one_thread(spec.params, n_rows))
        return cls(params, spec, int(num_boost_round), dtrain, config, labelled, idle, groups, guides)

    @property
    def n_labelled(self) -> int:
        """The number of rows with a label."""
        return self.dtrain.num_row() if self.labelled is None else int(self.labelled.sum())

    def with_privileged(self, privileged: xgboost.DMatrix | None, name: str) -> Students:
        """The same rows with other features for the teachers."""
        config = dataclasses.replace(self.config, privileged=privileged)
        return dataclasses.replace(self, config=config, name=name, _trainings={})

    def check(self, candidates: Sequence[Candidate], splits: Sequence[Split]) -> None:
        """Raise, before any training, if a candidate cannot teach these rows, or the rows of a fold are too few."""
        for candidate in candidates:
            self.engine(candidate)
            if candidate.learns_first:
                for split in splits:
                    self.training(candidate).guides[0].teacher.check_crossfit(split.train)
        warn_of_idle_rows(self.idle)

    def training(self, candidate: Candidate) -> Training:
        """The training of all rows with the candidate's teacher, not fitted; the same for every ``kl_weight``."""
        if candidate.way not in self._trainings:
            keywords = candidate.keywords(self.config)
            keywords.check()
            boosting = Boosting(self.dtrain, self.num_boost_round)
            self._trainings[candidate.way] = keywords.read(self.spec, boosting)
        return self._trainings[candidate.way]

    def engine(self, candidate: Candidate) -> str:
        """The native engine, the fastest, where its model is that of others up to rounding; raise if none is exact."""
        if candidate == PLAIN:
            return "auto"
        training = self.training(candidate)
        guide = training.guides[0]._replace(kl_weight=candidate.kl_weight)
        training = training.replace(guides=(guide, *self.constraints))
        try:
            return choose("native", training, is_uniform=training.is_uniform)
        except ValueError:
            choose("auto", training, Boosting(self.dtrain, self.num_boost_round), is_uniform=True)
            return "auto"

    def features_of(self, candidate: Candidate) -> Any:
        """The features that the candidate's teacher sees."""
        teacher = self.training(candidate).guides[0].teacher
        return teacher.features.matrix if candidate.learns_first else self.config.privileged

    def splits(self, nfold: int, repeats: int, folds: Any, seed: int, names: Any = None) -> list[Split]:
        """The folds of the labelled rows; ``names`` are the user's names of the classes."""
        rows: dict[str, Any] = {"groups": self.groups, "labelled": self.labelled}
        loss = self.spec.loss
        label, classes = loss.label_of(self.dtrain), loss.probabilities
        splits = splits_of(label, nfold, repeats, folds, seed, classes=classes, names=names, **rows)
        if not np.array_equal(self.config.crossfit_groups, self.groups):  # type: ignore[arg-type]
            # Cross-fitted teachers have groups of their own.
            own: Any = self.config.crossfit_groups
            warn_of_torn_groups(own, [(split.train, split.test) for split in splits], "groups= as well")
            return splits
        shared = SharedFolds.of_splits(splits, self.dtrain.num_row(), self.labelled, self.groups)
        return [split._replace(shared=own) for split, own in zip(splits, shared, strict=True)]

    def take(self, rows: Array, held_out: Array, folds: SharedFolds | None = None) -> FoldStudents:
        """The students of some labelled rows, in their order, and of all unlabelled ones but those held out."""
        if self.labelled is not None:
            unlabelled = ~self.labelled & ~self.idle
            if self.groups is not None:
                unlabelled &= ~pd.Series(self.groups).isin(self.groups[held_out]).to_numpy()
            rows = np.concatenate([rows, np.flatnonzero(unlabelled)])
        if self.spec.loss.by_query:  # the rows of a query stay adjacent
            rows, held_out = np.sort(rows), np.sort(held_out)
        part, test = cut(self.dtrain, rows), cut(self.dtrain, held_out)
        return FoldStudents(self, rows, part, held_out, test, None if folds is None else folds.subset(rows))


@dataclasses.dataclass(frozen=True)
class FoldStudents:
    """The training and held-out rows of one fold, with the teachers that were trained on it."""

    all: Students
    rows: Array
    dtrain: xgboost.DMatrix
    test: Array
    held_out: Any
    folds: SharedFolds | None = None
    guides: dict[str, Guide] = dataclasses.field(default_factory=dict)
    """By the way of teaching."""

    @property
    def labelled(self) -> Array | None:
        """Which training rows have a label; None where all have."""
        return None if self.all.labelled is None else self.all.labelled[self.rows]

    def guide(self, candidate: Candidate) -> Guide:
        """The teacher that :func:`pi_xgb.train` would make; one that learns first serves several students."""
        if candidate.way not in self.guides or not candidate.learns_first:
            training = self.all.training(candidate)
            with exclusive(self.all.features_of(candidate)):
                training = training.subset(self.rows)
            way = f"{self.all.name} {candidate.way}"
            folds = None if self.folds is None else dataclasses.replace(self.folds, way=way)
            self.guides[candidate.way] = with_fitted_teachers(training, False, folds).guides[0]
        return self.guides[candidate.way]._replace(kl_weight=candidate.kl_weight)

    def fit(self, candidate: Candidate, rounds: int, **keywords: Any) -> xgboost.Booster:
        """The candidate's student."""
        params, labelled = keywords.pop("params", self.all.spec.params), self.labelled
        guides = [constraint.subset(self.rows) for constraint in self.all.constraints]
        if candidate != PLAIN:
            guides.insert(0, self.guide(candidate))
        if not guides:
            check_evals_are_labelled(labelled, self.dtrain, keywords.get("evals") or ())
            # Cut from the rows of the search, since the matrix of a caller may consist of quantiles.
            dtrain = self.dtrain if labelled is None else cut(self.all.dtrain, self.rows[labelled])
            return train(params, dtrain, rounds, **keywords)
        first = guides[0]
        teachers = {"teacher": first.teacher, "kl_weight": first.kl_weight, "teacher_weight": first.per_row}
        if len(guides) > 1:
            teachers = {"teacher": [(guide.teacher, guide.weight) for guide in guides]}
        return train(params, self.dtrain, rounds, labelled=labelled, **teachers, **keywords)

    def scores(self, candidate: Candidate, score: Score) -> tuple[list[float], float]:
        """The score on held-out rows after each round, and that of the teacher's predictions, NaN without a teacher."""
        log: dict[str, dict[str, list[float]]] = {}
        self.fit(
            candidate,
            self.all.num_boost_round,
            params=score.applied_to(self.all.spec.params),
            engine=self.all.engine(candidate),
            evals=[(self.held_out, "test")],
            evals_result=log,
            verbose_eval=False,
            custom_metric=score.custom,
        )
        curve = list(log["test"].values())[-1]
        if not np.isfinite(curve).all():
            undefined = next(value for value in curve if not np.isfinite(value))
            raise ValueError(f"{score.name} must be finite in every fold, got {undefined}: use another metric or folds")
        if candidate == PLAIN:
            return curve, np.nan
        teacher, seen = self.guides[candidate.way].teacher, cut(self.all.features_of(candidate), self.test)
        if candidate.learns_first:
            mean = teacher.predict(seen)
        else:
            mean = self.all.spec.loss.mean(teacher.booster.predict(seen, output_margin=True))
        return curve, score.of_mean(mean, self.held_out, self.all.spec)


def cut(matrix: xgboost.DMatrix, rows: Array) -> xgboost.DMatrix:
    """Return some rows of a matrix that other threads may read."""
    with exclusive(matrix):
        return slice_rows(matrix, rows)


def search(
    name: str,
    models: Mapping[str, tuple[Students, Candidate]],
    splits: Sequence[Split],
    score: Score,
    given: Mapping[str, Any],
    others: Callable[[Students], Callable[[FoldStudents], dict[str, Array]]] | None = None,
) -> list[dict[str, tuple[list[float], float]]]:
    """Return for each fold and model the score on held-out rows after each round, and that of its teacher.

    The first model is plain XGBoost. ``given`` are the keywords of the caller, the function ``name``. ``others`` reads
    all rows, and returns a function for the predictions of further models, by their names, in one fold.
    """
    students, _ = next(iter(models.values()))
    jobs = check_jobs(given["n_jobs"], given["progress"])
    jobs = jobs or jobs_side_by_side(given["params"], students.dtrain.num_row(), score.custom)
    bar = given["standard_errors"]
    if bar is not None and (isinstance(bar, (bool, str)) or not 0 <= bar < np.inf):
        raise ValueError(f"standard_errors must be finite, at least 0, got {bar!r}: 0.5 is usual")
    fields = ("params", "num_boost_round", "dtrain", "groups", "constraints")
    inputs = {**vars(students.config), **{field: getattr(students, field) for field in fields}}
    inputs |= {keyword: given[keyword] for keyword in ("metric", "custom_metric", "maximize", "seed")}
    inputs["folds"] = [getattr(given["folds"], "split", None), splits]
    inputs["candidates"] = [candidate for _, candidate in models.values()]
    cache = ResumeCache(given["resume"], given["resume_key"], name, inputs)
    n_left = sum(split.name not in cache for split in splits)
    means_of = others(students) if others and n_left else None

    def evaluate(split: Split) -> dict[str, tuple[list[float], float]]:
        parts: dict[str, FoldStudents] = {}
        found = {}
        for model, (students, candidate) in models.items():
            if students.name not in parts:
                parts[students.name] = students.take(split.train, split.test, split.shared)
            found[model] = parts[students.name].scores(candidate, score)
            step()
        if means_of is not None:
            part = parts[""]
            for model, mean in means_of(part).items():
                found[model] = [score.of_mean(mean, part.held_out, part.all.spec)], np.nan
            step()
        return found

    n_steps = len(models) + (others is not None)
    with progress_bar(n_left * n_steps, name, given["progress"]) as step:
        return in_threads(lambda split: cache.once(split.name, lambda: evaluate(split)), splits, jobs)
