"""Gains on made data: few labels, many rows; teachers on x and z against the control, teachers on x."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import xgboost as xgb

import pi_xgb
from benchmarks.copies.problems import PROBLEMS, RANKING, SIZE_OF_QUERY, Problem, Rows, lost_ndcg, ndcg, relevances

ROUNDS, TEST_ROWS = 60, 4000
TAUGHT = {"teacher": "boosted", "crossfit": 5, "kl_weight": 1.0}
STRENGTHS = (  # how blurred z is, and how much of the chance in the labels it knows
    *((noise, 0.0) for noise in (4.0, 2.0, 1.0, 0.5, 0.1)),
    *((0.1, told) for told in (0.25, 0.5, 1.0)),
)


def student(params: dict[str, Any], rows: Rows, rounds: int, seen: Any, **told: Any) -> xgb.Booster:
    """Taught by a teacher that sees these columns."""
    views = {"z": (rows.x, rows.z), "x": (rows.x,)}[seen]
    guided = {"privileged": rows.matrix(*views), "allow_overlap": True, **TAUGHT, **told}
    return pi_xgb.train(params, rows.matrix(rows.x), rounds, **guided)


def measure(problem: str, draw: int, small: bool = False) -> Iterator[dict[str, Any]]:
    """The loss of each way of training."""
    yield losses(PROBLEMS[problem], draw, *((60, 120, 3) if small else (150, 1500, ROUNDS)))


def losses(problem: Problem, seed: int, n_labelled: int, n_rows: int, rounds: int) -> dict[str, float]:
    rows, test = problem.draw(n_rows, seed), problem.draw(TEST_ROWS, 10_000 + seed)
    known = np.arange(n_rows) < n_labelled  # draws are in no order
    few, params = rows.take(np.flatnonzero(known)), problem.params

    def loss(booster: xgb.Booster) -> float:
        return problem.loss(booster.predict(xgb.DMatrix(test.x)).astype(float), test)

    return {
        "plain": loss(xgb.train(params, few.matrix(few.x), rounds)),
        "labelled": loss(student(params, few, rounds, "z")),
        "labelled_control": loss(student(params, few, rounds, "x")),
        "unlabelled": loss(student(params, rows, rounds, "z", labelled=known)),
        "unlabelled_control": loss(student(params, rows, rounds, "x", labelled=known)),
        "all_labels": loss(xgb.train(params, rows.matrix(rows.x), rounds)),
    }


def measure_strength(z_noise: float, told_chance: float, draw: int, small: bool = False) -> Iterator[dict[str, Any]]:
    """How well the teacher ranks the labels, how well its student ranks."""
    n_rows, rounds = (12 if small else 60) * SIZE_OF_QUERY, 3 if small else ROUNDS
    rows, test = relevances(n_rows, draw, z_noise, told_chance), relevances(TEST_ROWS, 10_000 + draw)
    shown = xgb.DMatrix(test.x)
    plain = xgb.train(RANKING, rows.matrix(rows.x), rounds)
    teacher = pi_xgb.fit_teacher(RANKING, rows.matrix(rows.x, rows.z), rounds, teacher="boosted", crossfit=5)
    taught = pi_xgb.train(RANKING, rows.matrix(rows.x), rounds, teacher=teacher, kl_weight=10.0)
    yield {
        "teacher_ndcg": ndcg(teacher.values, rows.fields["label"], rows.fields["qid"]),
        "plain": lost_ndcg(plain.predict(shown), test),
        "student": lost_ndcg(taught.predict(shown), test),
    }
