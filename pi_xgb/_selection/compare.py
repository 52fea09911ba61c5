"""``compare``: is privileged data worth anything, for this model, at this size?"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
import pandas as pd
import xgboost

from .._core.methods import METHODS
from .._core.target import read_target
from .._plots.selection import plot_comparison
from .._rows.checks import check_confidence, check_jobs, check_whole
from .._rows.views import check_same_order, divide
from .._stats.folds import checked_groups
from .._stats.paired import STANDARD_ERRORS, Interval, check_standard_errors, corrected_interval
from .._xgb.matrix import matrix_of, slice_rows
from .._xgb.params import user_params
from .candidates import CROSSFIT, KL_WEIGHTS, PLAIN, TEACHERS, Candidate, candidates_of
from .problem import Problem, Recipe, settled
from .progress import progress_bar
from .scores import Score, score_of
from .search import Found, held_out_ratio, in_threads, search
from .splits import Split, splits_of, subset
from .tables import check_no_text, check_one_label_each, checked_weight
from .verdict import verdict_on

NF, ALL, STUDENT, SELF, SHUFFLED = "NF", "All", "student", "self-distillation", "shuffled"
MODELS = (NF, ALL, STUDENT, SELF, SHUFFLED)


def compare(
    X: Any,
    y: Any,
    privileged: Any = None,
    *,
    privileged_features: Any = None,
    params: Any = None,
    num_boost_round: int = 100,
    kl_weight: Any = KL_WEIGHTS,
    method: Any = METHODS,
    teacher: Any = TEACHERS,
    crossfit: int = CROSSFIT,
    teacher_params: Any = None,
    metric: Any = None,
    custom_metric: Any = None,
    maximize: bool | None = None,
    standard_errors: float = STANDARD_ERRORS,
    sample_weight: Any = None,
    sizes: Sequence[int] | int = (),
    nfold: int = 5,
    repeats: int = 2,
    folds: Any = None,
    groups: Any = None,
    inner_nfold: int = 5,
    confidence: float = 0.95,
    seed: int = 0,
    n_jobs: int = 1,
    progress: bool | None = None,
) -> Comparison:
    """Find out whether privileged features are worth anything, before you build on them.

    Five models are judged on the same held-out rows:

    =================  ======================================================================================
    NF                 plain XGBoost on X: what you have today
    All                plain XGBoost on X and the privileged features, which it sees at prediction too: the ceiling
    student            what :func:`pi_xgb.select` chooses, by folds inside the training rows alone
    self-distillation  the same with a cross-fitted teacher that sees X only: what smoothing alone is worth
    shuffled           the same as the student with privileged rows that belong to others: guidance without information
    =================  ======================================================================================

    Privileged features have earned a gain only where the student is convincingly better than NF and than
    both controls; the verdict says so in one sentence.

    Parameters
    ----------
    X, y
        The classifier features and labels. Two values, strings or categories are classes, other numbers are
        numbers, unless ``params`` name an objective.
    privileged, privileged_features
        A table of the privileged features of the same rows, or the names of columns in X that are privileged.
    params, num_boost_round, kl_weight, method, teacher, crossfit, teacher_params, metric, custom_metric, maximize, \
standard_errors
        As for :func:`pi_xgb.select`.
    sample_weight
        One weight per row; counts in training and in every score.
    sizes
        For a learning curve: further numbers of training rows (one or several), drawn from those of each fold.
    nfold, repeats, folds, seed
        The outer folds, as for :func:`pi_xgb.select`.
    groups
        For rows that belong together (one patient, one day): one value per row. The folds, outer and inner, keep
        each group together; a splitter gets it, and pairs of row numbers are checked against it. The folds of
        cross-fitted teachers (``crossfit``) do not keep groups together.
    inner_nfold
        The folds inside each training part, by which the rounds of every model and the student are chosen.
    confidence
        Of the intervals, which are corrected for folds that share rows (Nadeau and Bengio).
    n_jobs, progress
        As for :func:`pi_xgb.select`.

    Returns
    -------
    Comparison

    Notes
    -----
    Everything is chosen anew within every outer training part, so that no held-out row has a say in what it judges.
    That costs about 280 trainings per outer fold and size by default, 2,800 in all; one ``method``, ``teacher`` or
    ``kl_weight`` less saves its share.

    Examples
    --------
    >>> import pi_xgb
    >>> data = pi_xgb.datasets.make_privileged(240, x_noise=2.0, seed=0)
    >>> comparison = pi_xgb.compare(
    ...     data.x, data.y, data.z, params={"max_depth": 2, "nthread": 1}, num_boost_round=20, kl_weight=10.0,
    ...     method="kbpib", teacher="cross-fitted", crossfit=3, nfold=3, repeats=1, inner_nfold=3,
    ... )
    >>> comparison.summary.loc[240 * 2 // 3].index.tolist()
    ['NF', 'All', 'student', 'self-distillation', 'shuffled']
    """
    check_whole("num_boost_round", num_boost_round, 1)
    check_whole("inner_nfold", inner_nfold, 2)
    check_whole("crossfit", crossfit, 2)
    jobs = check_jobs(n_jobs, progress)
    check_confidence(confidence)
    check_standard_errors(standard_errors)
    candidates = candidates_of(method, teacher, kl_weight)
    views = divide(X, None, privileged, None, privileged_features)
    if views.privileged is None:
        raise ValueError(
            "there are no privileged features: pass privileged=, or name columns of X in privileged_features"
        )
    for table, name in ((X, "X"), (privileged, "privileged")):
        check_no_text(table, name)
    for column, name in ((y, "y"), (groups, "groups")):
        check_same_order(X, column, "X", name)
    own = user_params(params)
    target = read_target(y, own.get("objective"))
    label = target.values
    recipe = Recipe(settled({**target.params, **own}), int(num_boost_round), int(crossfit), teacher_params)
    check_one_label_each(label, views.student)
    weight = checked_weight(sample_weight, X, len(label))
    dtrain = matrix_of(views.student, label, weight=weight)
    dprivileged = matrix_of(views.privileged, label)
    loss = recipe.check(dtrain, dprivileged, "compare")
    score = score_of(metric, custom_metric, maximize, recipe.params, loss, dtrain)
    together = checked_groups(groups, len(label))
    names = target.classes
    splits = splits_of(label, nfold, repeats, folds, seed, classes=loss.probabilities, names=names, groups=together)
    plan = _Plan(candidates, score, standard_errors, inner_nfold, seed, loss.probabilities, names, together)
    cells = _cells(splits, label, sizes, seed)
    plan.check(label, cells, crossfit)
    problem = recipe.problem(dtrain, dprivileged, sees_all=True)
    with progress_bar(len(cells) * plan.steps, "compare", progress) as tick:
        outcomes = in_threads(lambda cell: plan.run(problem, cell, tick), cells, jobs)
    table = pd.DataFrame([row for rows in outcomes for row in rows])
    return Comparison(table, score, held_out_ratio(splits), confidence)


class Comparison:
    """What :func:`compare` found.

    Attributes
    ----------
    table
        A row for each size, repeat, fold and model: its score, its gain over NF there, what was chosen, rounds.
    summary
        By size and model: mean score, mean gain over NF with its corrected interval, positive for the better
        whichever way the metric points.
    verdict
        One sentence on the largest size.
    evidence
        Whether the privileged features have earned a gain: the interval of the student's gain over NF lies above 0,
        and the student is better than each control by a one-sided test at the same level. All three must hold, so
        privileged features that say nothing pass no more often than one of them alone would let them.
    metric, maximize, confidence
        What was measured, whether more is better, and the confidence of the intervals.
    """

    def __init__(self, table: pd.DataFrame, score: Score, ratio: float, confidence: float) -> None:
        self.table, self.metric, self.maximize, self.confidence = table, score.name, score.maximised, confidence
        self._ratio = ratio
        gains = {size: self._intervals(rows) for size, rows in table.groupby("size")}
        means = table.groupby(["size", "model"])["score"].mean()
        self.summary = pd.DataFrame(
            [
                {"size": size, "model": model, "score": means[size, model], **gain._asdict()}
                for size, own in gains.items()
                for model, gain in own.items()
            ]
        )
        self.summary = self.summary.rename(columns={"mean": "gain"}).set_index(["size", "model"])
        largest = table["size"].max()
        self.evidence, self.verdict = verdict_on(
            self.metric,
            gains[largest][STUDENT],
            {control: gains[largest][control] for control in (SELF, SHUFFLED)},
            {control: self._beyond(control) for control in (SELF, SHUFFLED)},
        )

    def difference(self, model: str, other: str, size: int | None = None) -> Interval:
        """How much better one model is than another, on the same held-out rows; by default at the largest size."""
        for name in (model, other):
            if name not in MODELS:
                raise ValueError(f"model must be one of {', '.join(MODELS)}; got {name!r}")
        sizes = sorted(set(self.table["size"]))
        size = sizes[-1] if size is None else size
        if size not in sizes:
            raise ValueError(f"size must be one of {', '.join(map(str, sizes))}; got {size!r}")
        return corrected_interval(self._differences(model, other, size), self._ratio, self.confidence)

    def _beyond(self, control: str) -> Interval:
        """How much better the student is than a control; ``low`` is the bound of the one-sided test."""
        one_sided = max(2 * self.confidence - 1, 0.0)
        return corrected_interval(self._differences(STUDENT, control, self.table["size"].max()), self._ratio, one_sided)

    def plot(self, ax: Any = None) -> Any:
        """The gain of each model over NF with its interval, or along the size; needs matplotlib."""
        return plot_comparison(self.summary, self.metric, ax)

    def _intervals(self, rows: pd.DataFrame) -> dict[str, Interval]:
        gains = rows.pivot(index=["repeat", "fold"], columns="model", values="gain")
        return {model: corrected_interval(gains[model].to_numpy(), self._ratio, self.confidence) for model in MODELS}

    def _differences(self, model: str, other: str, size: int) -> Any:
        rows = self.table[self.table["size"] == size]
        scores = rows.pivot(index=["repeat", "fold"], columns="model", values="score")
        sign = 1.0 if self.maximize else -1.0
        return sign * (scores[model] - scores[other]).to_numpy()

    def __str__(self) -> str:
        return self.verdict

    def __repr__(self) -> str:
        return f"<Comparison: {self.verdict}>"


@dataclasses.dataclass(frozen=True)
class _Cell:
    """An outer fold at one number of training rows."""

    size: int
    split: Split
    rows: Any


def _cells(splits: Sequence[Split], label: Any, sizes: Any, seed: int) -> list[_Cell]:
    full = min(len(split.train) for split in splits)
    if isinstance(sizes, str) or not (isinstance(sizes, Iterable) or np.isscalar(sizes)):
        raise TypeError(f"sizes must be a list of whole numbers of training rows, got {sizes!r}")
    sizes = list(sizes) if isinstance(sizes, Iterable) else [sizes]
    for size in sizes:
        check_whole("a size", size, 2)
        if size >= full:
            raise ValueError(
                f"sizes must be below the {full} training rows of a fold, which are there anyway, got {size}"
            )
    cells = []
    for number, split in enumerate(splits):
        cells += [
            _Cell(int(size), split, subset(label, split.train, size, seed + number)) for size in sorted(set(sizes))
        ]
        # Folds differ by a row or so; the curve has one point for them.
        cells.append(_Cell(full, split, split.train))
    return cells


@dataclasses.dataclass(frozen=True)
class _Plan:
    """What is done in each cell."""

    candidates: list[Candidate]
    score: Score
    standard_errors: float
    inner_nfold: int
    seed: int
    classes: bool
    names: Any = None
    groups: Any = None

    @property
    def smoothers(self) -> list[Candidate]:
        """Self-distillation: a cross-fitted teacher, with every weight that the student may have."""
        weights = sorted({c.kl_weight for c in self.candidates} - {0.0})
        return [PLAIN, *(Candidate("kbpib", "cross-fitted", weight) for weight in weights)]

    @property
    def steps(self) -> int:
        """Of the progress bar, per cell."""
        return self.inner_nfold * (2 * len(self.candidates) + len(self.smoothers) + 1)

    def check(self, label: Any, cells: Sequence[_Cell], crossfit: int) -> None:
        """Whether every training part can be cut into the inner folds."""
        for cell in cells:
            inner = self._inner(label[cell.rows], cell.rows)
            smallest = min(len(split.train) for split in inner)
            if crossfit > smallest:
                raise ValueError(
                    f"crossfit must be at most the {smallest} training rows of an inner fold, got {crossfit}: use "
                    "fewer folds or larger sizes"
                )

    def run(self, problem: Problem, cell: _Cell, tick: Callable[[], Any]) -> list[dict[str, Any]]:
        """The five models of a cell."""
        part = problem.take(cell.rows)
        label = part.dtrain.get_label()
        inner = self._inner(label, cell.rows)
        test, test_both = (slice_rows(matrix, cell.split.test) for matrix in (problem.dtrain, _both(problem)))

        def found(own: Problem, candidates: Sequence[Candidate]) -> Found:
            return search(own, inner, candidates, self.score, self.standard_errors, tick=tick)

        with_all = dataclasses.replace(part, dtrain=_both(part), both=None)
        with_self = dataclasses.replace(part, privileged=part.dtrain, both=None)
        order = np.random.default_rng([self.seed, cell.split.repeat, cell.split.fold]).permutation(len(label))
        shuffled = part.recipe.problem(part.dtrain, _others_rows(part, order), sees_all=True)

        student = found(part, self.candidates)
        nf = dataclasses.replace(student, chosen=0)
        runs = {
            NF: (part, nf, test),
            ALL: (with_all, found(with_all, [PLAIN]), test_both),
            STUDENT: (part, student, test),
            SELF: (with_self, found(with_self, self.smoothers), test),
            SHUFFLED: (shuffled, found(shuffled, self.candidates), test),
        }
        rows: list[dict[str, Any]] = []
        for model, (own, its, held_out) in runs.items():
            # A student that is plain XGBoost is NF, trained already.
            known = rows[0]["score"] if rows and model != ALL and its.candidate == PLAIN else None
            score = (
                own.curve(its.candidate, its.rounds[its.chosen], held_out, self.score)[-1] if known is None else known
            )
            rows.append(
                {
                    "size": cell.size,
                    "repeat": cell.split.repeat,
                    "fold": cell.split.fold,
                    "model": model,
                    "score": float(score),
                    "gain": self.score.sign * float(score - (rows[0]["score"] if rows else score)) + 0.0,  # no -0
                    "chosen": its.candidate.name,
                    "rounds": its.rounds[its.chosen],
                    "n_train": len(label),
                    "n_test": len(cell.split.test),
                }
            )
        return rows

    def _inner(self, label: Any, rows: Any) -> list[Split]:
        groups = None if self.groups is None else self.groups[rows]
        return splits_of(
            label, self.inner_nfold, 1, None, self.seed, classes=self.classes, names=self.names, groups=groups
        )


def _both(problem: Problem) -> xgboost.DMatrix:
    if problem.both is None:
        raise ValueError("the ceiling needs classifier and privileged features side by side")
    return problem.both


def _others_rows(part: Problem, order: Any) -> xgboost.DMatrix:
    """The privileged features of other rows, next to the labels of these."""
    shuffled = slice_rows(part.privileged, order)
    shuffled.set_label(part.dtrain.get_label())
    return shuffled
