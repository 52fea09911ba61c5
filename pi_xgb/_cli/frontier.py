"""``pi-xgb frontier``: the cost of equal treatment of groups, on held-out rows."""

from __future__ import annotations

import argparse
import io
from typing import Any

from .._frontier.result import Frontier
from .model import new_model_file, write_model
from .options import add_decisions, add_training, at_least, constraint, new_command, params_of, several, weight
from .output import FORMATS, add_out, new_output, print_table, write_output
from .rows import constraints_of, read_training
from .source import Log

EXAMPLE = """example, the cost of a difference of at most 0.05 between the sexes in the share selected:
  pi-xgb frontier loans.csv --label repaid --constraint parity:sex --gap 0.05 --out fair.ubj

It prints a line for each weight of the constraint, 0 being plain XGBoost: accuracy, the gap, and the cost of the
constraint in accuracy, on held-out rows, with intervals; for odds, tpr and fpr a line for each step (hessian). With
--out it trains the model of the wanted gap on all rows. Every column but the label is a feature: leave privileged
columns out with --drop, since the constraint is the only teacher here. (pi-xgb train takes both --privileged and
--constraint, and evaluate measures the model.)"""


def add(commands: Any) -> None:
    """Add the command and its options."""
    command = new_command(commands, "frontier", "measure the cost of equal treatment of groups", EXAMPLE)
    add_training(command, has_teacher=False)
    command.add_argument(
        "--constraint",
        type=constraint,
        nargs=1,
        required=True,
        metavar="KIND:COLUMN",
        help="the groups, and the rate to equalise: parity:sex (the share selected), odds:sex (that among rows of "
        "each label), tpr:sex or fpr:sex (among rows of label 1 or 0) or precision:sex (the share of correct "
        "selections); the model does not see the column",
    )
    command.add_argument(
        "--kl-weight", type=several(weight), metavar="A,B", help="the weights to try (default: 1 to 100)"
    )
    command.add_argument(
        "--gap",
        type=several(weight),
        default=[],
        metavar="A,B",
        help="wanted gaps, such as 0.05",
    )
    add_decisions(command)
    command.add_argument("--folds", type=at_least(2), default=5, help="of the cross-validation (default: %(default)s)")
    command.add_argument("--jobs", type=at_least(1), default=1, help="folds in parallel (default: %(default)s)")
    command.add_argument("--format", choices=FORMATS, default="text", help="of the table (default: %(default)s)")
    command.add_argument("--plot", metavar="FILE", help="also draw the table (needs matplotlib)")
    add_out(command, metavar="MODEL", help="train the model of the one wanted gap on all rows, .ubj or .json")
    command.set_defaults(run=run)


def run(arguments: argparse.Namespace, log: Log) -> None:
    """Measure and print the table; draw and train as the options request."""
    from .._frontier.frontier import frontier

    path = new_model_file(arguments) if arguments.out else None
    picture = new_output(arguments, "--plot", endings=(".png", ".svg", ".pdf")) if arguments.plot else None
    if path is not None and len(arguments.gap) != 1:
        raise ValueError(f"--gap must be one number with --out, got {len(arguments.gap)}: name the wanted gap")
    objective = params_of(arguments)["objective"]
    if objective not in (None, "binary:logistic"):
        raise ValueError(f"--objective must be binary:logistic, got {objective}: frontier compares decisions")
    training = read_training(arguments, log)
    rows = training.rows
    ((equality, _),) = constraints_of(arguments.constraint, rows)
    result = frontier(
        training.params,
        rows.student(),
        arguments.rounds,
        constraint=equality,
        gap=arguments.gap or None,
        threshold=arguments.threshold,
        nfold=arguments.folds,
        seed=arguments.seed,
        n_boot=arguments.n_boot,
        n_jobs=arguments.jobs,
        **({"kl_weight": arguments.kl_weight} if arguments.kl_weight else {}),
    )
    print_table(result.table, arguments.format)
    log(str(result))
    if picture is not None:
        write_output(picture, drawn(result, picture.suffix[1:]), arguments)
    if path is not None:
        booster = result.train(rows.student(), equality, gap=arguments.gap[0])
        write_model(path, booster, training, arguments)
        log(f"{path}: written")


def drawn(result: Frontier, kind: str) -> bytes:
    """Return the picture as the content of a file."""
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise ImportError('--plot needs matplotlib: pip install ".[plot]" in a checkout') from error
    figure, content = Figure(layout="constrained"), io.BytesIO()
    result.plot(figure.subplots())
    figure.savefig(content, format=kind, dpi=150)
    return content.getvalue()
