"""Names of helpers_problems under which test_cli_dates and test_threads import them."""

from __future__ import annotations

from helpers_problems import Problem, assert_same_model

__all__ = ["assert_same_model", "problem"]


def problem(objective: str, n_rows: int = 200, seed: int = 0) -> Problem:
    return Problem(objective, seed, n_rows)
