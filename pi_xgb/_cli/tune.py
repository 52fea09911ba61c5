"""``pi-xgb tune``: choose method, teacher and weight by cross-validation, with plain XGBoost as a candidate."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from .._core.config import METHODS
from .model import new_model_file, write_model
from .options import add_teacher, add_training, at_least, new_command, several, weight
from .output import FORMATS, add_out, print_table
from .rows import Rows, constraints_of, read_training
from .source import Log

if TYPE_CHECKING:
    from ..selection import Selection

EXAMPLE = """example:
  pi-xgb tune patients.csv --label ill --privileged lab,score --kl-weight 0.5,1,2,5 --metric auc
  pi-xgb tune shown.csv --label relevance --query search --objective rank:ndcg --params ndcg_exp_gain=false \\
      --privileged seconds --metric ndcg@5

It prints a line for each candidate, and with --out trains the choice. Plain XGBoost is always a candidate, and is
chosen unless another is clearly better on the same folds. Queries stay whole in the folds."""


def add(commands: Any) -> None:
    """Add the command and its options."""
    command = new_command(commands, "tune", "choose method, teacher and weight by cross-validation", EXAMPLE)
    add_training(command, needs_privileged=True)
    add_choosing(command, repeats=None)
    add_out(command, metavar="MODEL", help="train the choice on all rows and write it, .ubj or .json")
    command.set_defaults(run=run)


def add_choosing(command: argparse.ArgumentParser, *, repeats: int | None) -> None:
    """Add the options for the candidates and their cross-validation."""
    command.add_argument(
        "--kl-weight", type=several(weight), metavar="A,B", help="weights to try (default: a short grid)"
    )
    command.add_argument("--method", choices=METHODS, action="append", help="may be repeated (default: kbpib)")
    add_teacher(command, several=True)
    command.add_argument(
        "--crossfit",
        type=several(at_least(0)),
        metavar="N,N",
        help="folds of the cross-fitted teacher, 0 for a teacher of all rows (default: by its kind)",
    )
    command.add_argument("--metric", help="XGBoost's or scikit-learn's name of the metric (default: the loss)")
    command.add_argument("--folds", type=at_least(2), default=5, help="of the cross-validation (default: %(default)s)")
    default = "more with few rows" if repeats is None else repeats
    command.add_argument(
        "--repeats", type=at_least(1), default=repeats, help=f"repetitions with other folds (default: {default})"
    )
    command.add_argument("--jobs", type=at_least(1), help="folds in parallel (default: one per core with few rows)")
    command.add_argument(
        "--resume",
        metavar="FILE",
        help="store every finished fold in a file: after Ctrl-C the same command continues",
    )
    command.add_argument("--format", choices=FORMATS, default="text", help="of the table (default: %(default)s)")


def run(arguments: argparse.Namespace, log: Log) -> None:
    """Choose, print the table, and with --out train the choice."""
    path = new_model_file(arguments) if arguments.out else None
    training = read_training(arguments, log)
    rows, constraints = training.rows, constraints_of(arguments.constraint, training.rows)
    selection = choose(training.params, rows, arguments.rounds, constraints=constraints, **choosing_of(arguments))
    print_table(selection.summary, arguments.format)
    log(str(selection))
    if path is None:
        log("to train it on all rows, add --out MODEL")
        return
    privileged = rows.privileged()
    booster = selection.train(rows.student(), privileged=privileged, constraints=constraints, **rows.supervision)
    write_model(path, booster, training, arguments)
    log(f"{path}: written")


def choosing_of(arguments: argparse.Namespace) -> dict[str, Any]:
    """Return the keywords of ``pi_xgb.select`` and ``pi_xgb.compare``."""
    given = {name: getattr(arguments, name) for name in ("kl_weight", "method", "teacher", "teacher_sees", "crossfit")}
    return {
        **{name: value for name, value in given.items() if value},
        "metric": arguments.metric,
        "nfold": arguments.folds,
        "repeats": arguments.repeats,
        "seed": arguments.seed,
        "n_jobs": arguments.jobs,
        "resume": arguments.resume,
    }


def choose(params: dict[str, Any], rows: Rows, rounds: int, **keywords: Any) -> Selection:
    """Call ``pi_xgb.select`` on rows of a file."""
    from ..selection import select

    privileged: Any = rows.privileged()
    keywords |= {"privileged": privileged, "groups": rows.crossfit_groups, **rows.supervision}
    return select(params, rows.student(), rounds, **keywords)
