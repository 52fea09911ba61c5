"""``pi-xgb compare``: whether the privileged columns are worth anything, for this model, at this size."""

from __future__ import annotations

import argparse
from typing import Any

from .options import add_constraint, add_training, at_least, check_predicted, names, new_command, params_of
from .output import print_table
from .rows import Say, columns_of, constraints_of, read_training
from .source import Source
from .tune import add_choosing, choosing_of, need_privileged

EXAMPLE = """example:
  pi-xgb compare patients.csv --label ill --privileged lab,score --rounds 100
  pi-xgb compare parts.csv --lower-bound hours --upper-bound end --objective survival:aft --privileged wear

It prints what plain XGBoost, the chosen student, a model that sees all columns and two controls reach on held-out rows,
and on standard error one sentence: is there a gain, and how much of it is more than smoothing?"""


def add(commands: Any) -> None:
    """The command and its options."""
    command = new_command(commands, "compare", "is the privileged data worth anything?", EXAMPLE)
    add_training(command)
    add_constraint(command)
    add_choosing(command, repeats=2)
    command.add_argument(
        "--sizes",
        type=sizes,
        default=[],
        metavar="N,N",
        help="for a learning curve: fewer training rows, as in 200,1000",
    )
    command.set_defaults(run=run)


def sizes(text: str) -> list[int]:
    """Numbers of rows with commas between them."""
    read = at_least(2)
    return [read(part) for part in names(text, "numbers")]


def run(arguments: argparse.Namespace, say: Say) -> None:
    """Compare, print the table and say the verdict."""
    from ..selection import compare

    need_privileged(arguments)
    params = params_of(arguments)
    check_predicted(arguments, params["objective"])
    source = Source(arguments.data)
    columns = columns_of(source, arguments)
    rows, target = read_training(source, columns, params["objective"], say)
    supervision = {name: values for name, values in rows.supervision.items() if name != "labelled"}
    supervision |= {"groups": rows.crossfit_groups if rows.query is None else rows.query}
    comparison = compare(
        rows.x,
        rows.told_y,
        rows.z,
        params={**params, **target.params},
        num_boost_round=arguments.rounds,
        sample_weight=rows.weight,
        sizes=arguments.sizes,
        constraints=constraints_of(arguments.constraint, rows),
        **supervision,
        **choosing_of(arguments),
    )
    print_table(comparison.summary, arguments.format)
    say(str(comparison))
