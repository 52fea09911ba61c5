"""``pi-xgb frontier``: what equal treatment of groups costs, on rows held out."""

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

EXAMPLE = """example, what a difference of at most 0.05 between the sexes in the share selected costs:
  pi-xgb frontier loans.csv --label repaid --constraint parity:sex --gap 0.05 --out fair.ubj

It prints a line for each weight of the constraint, 0 being plain XGBoost: accuracy, the gap, and what the constraint
costs in accuracy, all on rows held out, with intervals. With --out it trains the model of the wanted gap, on all
rows. Every column but the label is a feature: leave privileged ones out with --drop, for no other teacher stands beside
the constraint here. (pi-xgb train takes both, --privileged and --constraint, and evaluate measures them.)"""


def add(commands: Any) -> None:
    """The command and its options."""
    command = new_command(commands, "frontier", "what equal treatment of groups costs", EXAMPLE)
    add_training(command, teaches=False)
    command.add_argument(
        "--constraint",
        type=constraint,
        nargs=1,
        required=True,
        metavar="KIND:COLUMN",
        help="which groups, and what is to be equal: parity:sex (the share selected), odds:sex (that among rows of "
        "each label) or precision:sex (how often a selection is right); the model does not see the column",
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
    command.add_argument("--jobs", type=at_least(1), default=1, help="folds side by side (default: %(default)s)")
    command.add_argument("--format", choices=FORMATS, default="text", help="of the table (default: %(default)s)")
    command.add_argument("--plot", metavar="FILE", help="draw it as well (needs matplotlib)")
    add_out(command, metavar="MODEL", help="train the model of the one wanted gap on all rows, .ubj or .json")
    command.set_defaults(run=run)


def run(arguments: argparse.Namespace, log: Log) -> None:
    """Measure, print the table, draw it and train where that is asked for."""
    from .._frontier.frontier import frontier

    path = new_model_file(arguments) if arguments.out else None
    picture = new_output(arguments, "--plot", endings=(".png", ".svg", ".pdf")) if arguments.plot else None
    if path is not None and len(arguments.gap) != 1:
        raise ValueError(f"--out trains the model of one wanted gap: add one with --gap, got {len(arguments.gap)}")
    objective = params_of(arguments)["objective"]
    if objective not in (None, "binary:logistic"):
        raise ValueError(f"--objective must be binary:logistic, got {objective}: frontier compares decisions")
    training = read_training(arguments, log)
    rows = training.rows
    ((made, _),) = constraints_of(arguments.constraint, rows)
    result = frontier(
        training.params,
        rows.student(),
        arguments.rounds,
        constraint=made,
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
        booster = result.train(rows.student(), made, gap=arguments.gap[0])
        write_model(path, booster, training, arguments)
        log(f"{path}: written")


def drawn(result: Frontier, kind: str) -> bytes:
    """The picture as a file."""
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise ImportError('--plot needs matplotlib: pip install "pi-xgb[plot]"') from error
    figure, content = Figure(layout="constrained"), io.BytesIO()
    result.plot(figure.subplots())
    figure.savefig(content, format=kind, dpi=150)
    return content.getvalue()
