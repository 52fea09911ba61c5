"""The search of ``select`` and ``compare``: every model on every fold."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from .._arrays import Array
from .._core.folds import Split, run_parts
from .._rows.checks import check_jobs, check_whole
from .._stats.paired import check_standard_errors
from .candidates import Candidate
from .scores import Score
from .students import FoldStudents, Students


def check_effort(num_boost_round: Any, standard_errors: Any, n_jobs: Any, progress: Any) -> int:
    """Check the search keywords of ``select`` and ``compare``; return the number of jobs, 0 if not set."""
    check_whole("num_boost_round", num_boost_round, 1)
    if standard_errors is not None:
        check_standard_errors(standard_errors)
    return check_jobs(n_jobs, progress)


def search(
    name: str,
    models: Mapping[str, tuple[Students, Candidate]],
    splits: Sequence[Split],
    score: Score,
    others: Callable[[FoldStudents], dict[str, Array]] | None = None,
    **effort: Any,
) -> list[dict[str, tuple[list[float], float]]]:
    """Return for each fold and model the score on held-out rows after each round, and that of its teacher.

    The first model is plain XGBoost. ``others`` returns the predictions of further models, by their names.
    """

    def evaluate(split: Split, step: Callable[[], None]) -> dict[str, tuple[list[float], float]]:
        parts: dict[str, FoldStudents] = {}
        found = {}
        for model, (students, candidate) in models.items():
            if students.name not in parts:
                parts[students.name] = students.take(split.train, split.test, split.shared)
            found[model] = parts[students.name].scores(candidate, score)
            step()
        if others is not None:
            found |= {model: ([parts[""].score_of(mean, score)], np.nan) for model, mean in others(parts[""]).items()}
            step()
        return found

    return run_parts(evaluate, splits, len(models) + (others is not None), name, **effort)
