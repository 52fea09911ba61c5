"""Every candidate on every fold, and the choice among them."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from typing import Any, TypeVar

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from .._arrays import Array
from .._rows.checks import check_jobs, check_whole
from .._stats.paired import Interval, check_standard_errors, choose, corrected_interval
from .._xgb.matrix import exclusive, slice_rows
from .candidates import Candidate
from .problem import Problem
from .scores import Score
from .splits import Split

Values = NDArray[np.float64]
T = TypeVar("T")
R = TypeVar("R")


def check_effort(num_boost_round: Any, standard_errors: Any, n_jobs: Any, progress: Any) -> int:
    """What ``select`` and ``compare`` ask alike of how to search; the number of jobs."""
    check_whole("num_boost_round", num_boost_round, 1)
    check_standard_errors(standard_errors)
    return check_jobs(n_jobs, progress)


def check_crossfit_fits(
    problem: Problem, candidates: Sequence[Candidate], parts: Sequence[Array], fold: str, hint: str = ""
) -> None:
    """Whether these training rows of every fold can be dealt into those of the cross-fitted teachers."""
    crossfit = max(candidate.crossfit for candidate in candidates)
    smallest, groups = min(map(len, parts)), problem.guidance.crossfit_groups
    if crossfit > smallest:
        raise ValueError(
            f"crossfit must be at most the {smallest} {problem.adjective}training rows of {fold}, got {crossfit}{hint}"
        )
    fewest = smallest if groups is None else min(len(pd.unique(groups[part])) for part in parts)
    if crossfit > fewest:
        raise ValueError(
            f"crossfit keeps groups together, and the {problem.adjective}training rows of {fold} are of {fewest} "
            f"groups, fewer than crossfit={crossfit}: use a smaller crossfit, or finer crossfit_groups{hint}"
        )


def fold_curves(
    problem: Problem,
    split: Split,
    candidates: Sequence[Candidate],
    score: Score,
    step: Callable[[], Any] = lambda: None,
) -> Values:
    """One curve per candidate. The fold's matrices are cut and quantised once, its teachers trained once."""
    part = problem.take(split.train, split.test)
    with exclusive(problem.dtrain):
        held_out = slice_rows(problem.dtrain, split.test)
    teachers: dict[str, Any] = {}
    curves = []
    for candidate in candidates:
        if candidate.learns_first and candidate.way not in teachers:
            teachers[candidate.way] = part.teacher_of(candidate)
        teacher = teachers.get(candidate.way)
        curves.append(part.curve(candidate, problem.recipe.num_boost_round, held_out, score, teacher))
        step()
    return np.array(curves)


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
    chosen: int

    @property
    def candidate(self) -> Candidate:
        """The one to train."""
        return self.candidates[self.chosen]

    @property
    def best_rounds(self) -> int:
        """How many rounds it is best with."""
        return self.rounds[self.chosen]


def search(
    problem: Problem,
    splits: Sequence[Split],
    candidates: Sequence[Candidate],
    score: Score,
    standard_errors: float,
    *,
    n_jobs: int = 1,
    step: Callable[[], Any] = lambda: None,
) -> Found:
    """Train every candidate on every fold, find the rounds of each, and choose."""
    curves = np.array(in_threads(lambda split: fold_curves(problem, split, candidates, score, step), splits, n_jobs))
    mean_curves = curves.mean(axis=0)  # of (splits, candidates, rounds)
    best = (score.sign * mean_curves).argmax(axis=1)
    scores = np.array([curves[:, i, round_] for i, round_ in enumerate(best)])
    gains = [corrected_interval(score.sign * (row - scores[0]), held_out_ratio(splits)) for row in scores]
    rounds = [int(round_) + 1 for round_ in best]
    return Found(
        list(candidates), list(splits), mean_curves, rounds, scores, gains, chosen=choose(gains, standard_errors)
    )


def held_out_ratio(splits: Sequence[Split]) -> float:
    """The mean of n_test / n_train, for the corrected interval."""
    return float(np.mean([len(split.test) / len(split.train) for split in splits]))


def _columns(candidate: Candidate) -> dict[str, Any]:
    own = dataclasses.asdict(candidate)
    return {"candidate": candidate.name, **{name: own[name] for name in ("method", "teacher", "crossfit", "kl_weight")}}


def table_of(found: Found, score: Score) -> pd.DataFrame:
    """One row per candidate, repeat and fold."""
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
    """One row per candidate."""
    rows = [
        {
            **_columns(candidate),
            "rounds": found.rounds[i],
            "score": found.scores[i].mean(),
            "gain": gain.mean,
            "error": gain.error,
            "low": gain.low,
            "high": gain.high,
            "chosen": i == found.chosen,
        }
        for i, (candidate, gain) in enumerate(zip(found.candidates, found.gains, strict=True))
    ]
    return pd.DataFrame(rows).set_index("candidate")


def in_threads(work: Callable[[T], R], items: Iterable[T], n_jobs: int) -> list[R]:
    """The results in order; XGBoost lets go of Python's lock while it boosts."""
    if n_jobs == 1:
        return [work(item) for item in items]
    pool = ThreadPoolExecutor(n_jobs)
    try:
        futures = [pool.submit(work, item) for item in items]
        for future in as_completed(futures):
            future.result()  # the first error ends it all
        return [future.result() for future in futures]
    finally:
        pool.shutdown(cancel_futures=True)
