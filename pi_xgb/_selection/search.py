"""Every candidate on every fold, and the choice among them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pandas as pd
from scipy.special import ndtri

from .._arrays import Array
from .._core.folds import Split, run_parts
from .._rows.checks import check_jobs, check_whole
from .._rows.resume_cache import ResumeCache
from .._stats.paired import Interval, check_standard_errors
from .candidates import PLAIN, Candidate
from .scores import Score
from .students import Students, Values

CHANCE = 0.2
"""The chance that folds of equal models replace the recommended one, at most. With 0.05, benchmarks/policy.py keeps a
student that misleading privileged features harm."""


def check_effort(num_boost_round: Any, standard_errors: Any, n_jobs: Any, progress: Any) -> int:
    """Check the search keywords of ``select`` and ``compare``; return the number of jobs, 0 if not set."""
    check_whole("num_boost_round", num_boost_round, 1)
    if standard_errors is not None:
        check_standard_errors(standard_errors)
    return check_jobs(n_jobs, progress)


def check_crossfit_fits(students: Students, candidates: Sequence[Candidate], parts: Sequence[Array]) -> None:
    """Raise if the training rows of some fold are too few for the folds of the cross-fitted teachers."""
    crossfit = max(candidate.crossfit or 0 for candidate in candidates)
    groups = students.config.crossfit_groups
    fewest = min(len(part if groups is None else pd.unique(groups[part])) for part in parts)
    if crossfit > fewest:
        unit = students.labelled_rows if groups is None else f"groups in the {students.labelled_rows}"
        raise ValueError(
            f"crossfit must be at most the {fewest} {unit} of a fold, got {crossfit}: use a smaller crossfit, more "
            "training rows in each fold, or finer groups"
        )


def choose(leads: Sequence[Interval], recommended: int, bar: float) -> int:
    """Return the best candidate by its lead over the recommended one, or that, unless the lead is large enough.

    ``bar`` is in standard errors. A lead that is equal in every fold has an unknown error, and is enough only at 0.
    """
    best = int(np.argmax([lead.mean for lead in leads]))
    lead = leads[best]
    return best if lead.mean > bar * lead.error and (lead.error > 0 or bar == 0) else recommended


def bar_of(n_candidates: int) -> float:
    """Return the bar that the best of so many equal candidates passes by chance with probability ``CHANCE``."""
    return float(ndtri(1 - CHANCE / max(n_candidates - 1, 1)))


def search(
    students: Students,
    splits: Sequence[Split],
    candidates: Sequence[Candidate],
    score: Score,
    *,
    jobs: int,
    progress: bool | None,
    cache: ResumeCache,
) -> tuple[Values, Values]:
    """Train every candidate on every fold.

    Return scores after each round, (folds, candidates, rounds), and the scores of teachers, (folds, candidates), NaN
    without a teacher.
    """
    folds = {split.name: shared for split, shared in zip(splits, students.in_folds(splits), strict=True)}

    def work(split: Split, step: Callable[[], None]) -> tuple[list[Any], list[float]]:
        part, curves, teachers = students.take(split.train, split.test, folds[split.name]), [], []
        for candidate in candidates:
            curves.append(part.curve(candidate, score).tolist())
            teachers.append(np.nan if candidate == PLAIN else part.teacher_score(candidate, score))
            step()
        return curves, teachers

    effort: dict[str, Any] = {"jobs": jobs, "progress": progress, "cache": cache}
    curves, teachers = zip(*run_parts(work, splits, len(candidates), "select", **effort), strict=True)
    return np.array(curves), np.array(teachers)


def held_out_ratio(splits: Sequence[Split]) -> float:
    """Return the mean of n_test / n_train, for the corrected interval."""
    return float(np.mean([len(split.test) / len(split.train) for split in splits]))
