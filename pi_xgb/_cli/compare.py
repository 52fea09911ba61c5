"""``pi-xgb compare``: the gain from privileged columns, with controls.

example:
  pi-xgb compare patients.csv --label ill --privileged lab,score --rounds 100
  pi-xgb compare parts.csv --lower-bound hours --upper-bound end --objective survival:aft --privileged wear

It prints held-out scores of plain XGBoost, a model of all columns, one student (by default of a mixed teacher) with its
teacher, and two controls. Where the objective has a mean and there is no --constraint, it also scores a linear model, a
forest, the mean of both, and that mean with imputed privileged columns. Standard error gets the verdict: the model to
deploy, the gain to expect, and what would change that. It is the student unless another model is clearly better on the
same folds; pi-xgb tune chooses among several students.
"""

from __future__ import annotations

import argparse

import numpy as np

from .output import print_table
from .rows import constraints_of, read_training
from .table import Log
from .tune import choosing_of


def run(arguments: argparse.Namespace, log: Log) -> None:
    """Compare, then print the table and the summary."""
    from ..selection import compare

    training = read_training(arguments, log)
    rows = training.rows
    y = rows.y.copy()
    y[~rows.labelled] = np.nan
    comparison = compare(
        rows.x,
        y,
        rows.z,
        params=training.params,
        num_boost_round=arguments.rounds,
        sample_weight=rows.per_row.get("weight"),
        teacher_weight=rows.per_row.get("teacher_weight"),
        crossfit_groups=rows.per_row.get("crossfit_groups"),
        groups=rows.per_row.get("query", rows.per_row.get("crossfit_groups")),
        constraints=constraints_of(arguments.constraint, rows),
        **choosing_of(arguments),
    )
    print_table(comparison.summary, arguments.format)
    log(str(comparison))
