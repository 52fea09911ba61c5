"""Every candidate on every fold, and the choice among them."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from .._arrays import Array
from .._rows.checks import check_jobs, check_whole
from .._rows.resume_cache import ResumeCache
from .._stats.paired import Interval, check_standard_errors, choose, corrected_interval
from .._xgb.matrix import exclusive, slice_rows
from .._xgb.threads import in_threads
from .candidates import PLAIN, Candidate
from .problem import Problem, Values
from .scores import Score, error_metrics_of
from .shared_folds import shared_folds
from .splits import Split

LEAST_WRONG = 10
"""With fewer errors of plain XGBoost on held-out rows, the folds cannot show whether a candidate makes fewer."""


def check_effort(num_boost_round: Any, standard_errors: Any, n_jobs: Any, progress: Any) -> int:
    """Check the search keywords of ``select`` and ``compare``; return the number of jobs, 0 if not set."""
    check_whole("num_boost_round", num_boost_round, 1)
    check_standard_errors(standard_errors)
    return check_jobs(n_jobs, progress)


def check_crossfit_fits(problem: Problem, candidates: Sequence[Candidate], parts: Sequence[Array], fold: str) -> None:
    """Raise if the training rows of some fold are too few for the folds of the cross-fitted teachers."""
    crossfit = max(candidate.crossfit or 0 for candidate in candidates)
    groups, rows = problem.config.crossfit_groups, f"{problem.adjective}training rows of {fold}"
    smallest = min(map(len, parts))
    fewest = smallest if groups is None else min(len(pd.unique(groups[part])) for part in parts)
    if crossfit > fewest:
        unit = f"groups in the {rows}" if fewest < smallest else rows
        raise ValueError(
            f"crossfit must be at most the {fewest} {unit}, got {crossfit}: use a smaller crossfit, more training rows "
            "in each fold, or finer groups"
        )


class FoldCurves(NamedTuple):
    """The results of one fold."""

    scores: Values
    """(candidates, rounds)"""
    wrong: Values
    """The number of held-out rows that plain XGBoost gets wrong; for numbers, all of them."""
    teachers: Values
    """The score of each candidate's teacher on these rows; NaN without a teacher."""


def fold_curves(
    problem: Problem,
    split: Split,
    candidates: Sequence[Candidate],
    score: Score,
    step: Callable[[], Any] = lambda: None,
    plain: FoldCurves | None = None,
) -> FoldCurves:
    """Return a curve per candidate, plain XGBoost first.

    The fold's matrices are cut and quantised once, and its teachers trained once. ``plain`` has the curve of plain
    XGBoost from another search on the same rows.
    """
    part, rounds = problem.take(split.train, split.test), problem.recipe.num_boost_round
    with exclusive(problem.dtrain):
        held_out = slice_rows(problem.dtrain, split.test)
    if plain is None:
        error_metrics = error_metrics_of(problem.loss)
        found = part.curves(PLAIN, rounds, held_out, score, besides=error_metrics)
        curves, wrong = [found[-1]], len(split.test) * (found[0] if error_metrics else np.ones(rounds))
    else:
        curves, wrong = [plain.scores[0]], plain.wrong
    step()
    teachers: dict[str, Any] = {}
    teacher_scores = [np.nan]
    for candidate in candidates[1:]:
        if not candidate.learns_first or candidate.way not in teachers:
            teachers[candidate.way] = part.teacher_of(candidate)
        teacher = teachers[candidate.way]
        curves.append(part.curves(candidate, rounds, held_out, score, teacher)[-1])
        teacher_scores.append(problem.teacher_score(candidate, teacher, split.test, held_out, score))
        step()
    return FoldCurves(np.array(curves), wrong, np.array(teacher_scores))


@dataclasses.dataclass(frozen=True)
class Found:
    """The outcome of a search."""

    candidates: list[Candidate]
    splits: list[Split]
    mean_curves: Values
    """(candidates, rounds)"""
    rounds: list[int]
    scores: Values
    """(candidates, splits), each after the rounds of its candidate."""
    gains: list[Interval]
    wrong: float
    """The number of labelled rows that plain XGBoost, after its rounds, gets wrong where they are held out."""
    is_decidable: bool
    """Whether plain XGBoost makes enough errors to show a gain."""
    chosen: int
    folds: list[FoldCurves]

    @property
    def teacher_scores(self) -> Values:
        """The mean over the folds, for each candidate; NaN for plain XGBoost."""
        mean: Values = np.mean([fold.teachers for fold in self.folds], axis=0)
        return mean

    @property
    def candidate(self) -> Candidate:
        """The candidate to train."""
        return self.candidates[self.chosen]

    @property
    def best_rounds(self) -> int:
        """The number of rounds of the candidate."""
        return self.rounds[self.chosen]


def search(
    problem: Problem,
    splits: Sequence[Split],
    candidates: Sequence[Candidate],
    score: Score,
    standard_errors: float,
    *,
    n_jobs: int,
    step: Callable[[], Any],
    plain: Found | None = None,
    cache: ResumeCache | None = None,
) -> Found:
    """Train every candidate on every fold, find the rounds of each, and choose.

    Folds in the ``cache`` are not trained again. ``plain`` is another search on the same rows and splits, whose curves
    of plain XGBoost are used again.
    """
    known = [None] * len(splits) if plain is None else plain.folds

    def curves_of(fold: tuple[Problem, Split, FoldCurves | None]) -> FoldCurves:
        return fold_curves(fold[0], fold[1], candidates, score, step, fold[2])

    work: Callable[[Any], FoldCurves] = curves_of
    if cache is not None:
        work = cache.memoize(curves_of, lambda fold: fold[1].name, lambda part: FoldCurves(*map(np.array, part)))
    folds = in_threads(work, list(zip(shared_folds(problem, splits), splits, known, strict=True)), n_jobs)
    curves = np.array([fold.scores for fold in folds])
    mean_curves = curves.mean(axis=0)  # of (splits, candidates, rounds)
    best = (score.sign * mean_curves).argmax(axis=1)
    scores = np.array([curves[:, i, round_] for i, round_ in enumerate(best)])
    gains = [corrected_interval(score.sign * (row - scores[0]), held_out_ratio(splits)) for row in scores]
    rounds = [int(round_) + 1 for round_ in best]
    wrong = sum(float(fold.wrong[best[0]]) for fold in folds) / len({split.repeat for split in splits})
    # With unlabelled rows, which only a teacher can use, gains are frequent enough to trust few errors.
    decidable = wrong >= LEAST_WRONG or problem.labelled is not None or standard_errors == 0
    chosen = choose(gains, standard_errors) if decidable else 0
    return Found(list(candidates), list(splits), mean_curves, rounds, scores, gains, wrong, decidable, chosen, folds)


def held_out_ratio(splits: Sequence[Split]) -> float:
    """Return the mean of n_test / n_train, for the corrected interval."""
    return float(np.mean([len(split.test) / len(split.train) for split in splits]))


def _columns(candidate: Candidate) -> dict[str, Any]:
    own = {"method": candidate.method, "teacher": candidate.kind, "teacher_sees": candidate.sees}
    return {"candidate": candidate.name, **own, "crossfit": candidate.crossfit, "kl_weight": candidate.kl_weight}


def table_of(found: Found, score: Score) -> pd.DataFrame:
    """Return one row per candidate, repeat and fold."""
    rows = [
        {
            **_columns(candidate),
            "repeat": split.repeat,
            "fold": split.fold,
            "rounds": found.rounds[i],
            "score": found.scores[i, j],
            "gain": score.sign * (found.scores[i, j] - found.scores[0, j]),
            "n_train": len(split.train),
            "n_test": len(split.test),
        }
        for i, candidate in enumerate(found.candidates)
        for j, split in enumerate(found.splits)
    ]
    return pd.DataFrame(rows)


def summary_of(found: Found) -> pd.DataFrame:
    """Return one row per candidate."""
    rows = [
        {
            **_columns(candidate),
            "rounds": found.rounds[i],
            "score": found.scores[i].mean(),
            "teacher_score": found.teacher_scores[i],
            "gain": gain.mean,
            "gain_se": gain.error,
            "low": gain.low,
            "high": gain.high,
            "chosen": i == found.chosen,
        }
        for i, (candidate, gain) in enumerate(zip(found.candidates, found.gains, strict=True))
    ]
    return pd.DataFrame(rows).set_index("candidate")
