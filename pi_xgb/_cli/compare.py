"""``pi-xgb compare``: the gain from privileged columns, with controls."""

from __future__ import annotations

import argparse
from typing import Any

from .options import add_training, at_least, new_command, several
from .output import print_table
from .rows import constraints_of, read_training
from .source import Log
from .tune import add_choosing, choosing_of

EXAMPLE = """example:
  pi-xgb compare patients.csv --label ill --privileged lab,score --rounds 100
  pi-xgb compare parts.csv --lower-bound hours --upper-bound end --objective survival:aft --privileged wear

It prints held-out scores of plain XGBoost, the chosen student, a model of all columns, two controls and the best rival
(a linear model or a forest). Standard error gets the verdict: which model to deploy, and why."""


def add(commands: Any) -> None:
    """Add the command and its options."""
    command = new_command(commands, "compare", "measure the gain from privileged columns", EXAMPLE)
    add_training(command, needs_privileged=True)
    add_choosing(command, repeats=2)
    command.add_argument(
        "--sizes",
        type=several(at_least(2)),
        default=[],
        metavar="N,N",
        help="for a learning curve: fewer training rows, as in 200,1000",
    )
    command.set_defaults(run=run)


def run(arguments: argparse.Namespace, log: Log) -> None:
    """Compare, then print the table and the summary."""
    from ..selection import compare

    training = read_training(arguments, log)
    rows = training.rows
    supervision = {name: values for name, values in rows.supervision.items() if name != "labelled"}
    supervision |= {"groups": rows.crossfit_groups if rows.query is None else rows.query}
    comparison = compare(
        rows.x,
        rows.y_with_gaps,
        rows.z,
        params=training.params,
        num_boost_round=arguments.rounds,
        sample_weight=rows.weight,
        sizes=arguments.sizes,
        constraints=constraints_of(arguments.constraint, rows),
        **supervision,
        **choosing_of(arguments),
    )
    print_table(comparison.summary, arguments.format)
    log(str(comparison))
