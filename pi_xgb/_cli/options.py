"""Options that several commands share, and their parsers."""

from __future__ import annotations

import argparse
import contextlib
import csv
import dataclasses
import difflib
import importlib
import json
import re
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from .._core.config import SEES
from .._core.learners import TEACHERS
from .._core.learners.estimator import is_estimator
from .._core.losses import LOSSES

_Rule = tuple[tuple[str, ...], Callable[[argparse.Namespace], Any], str]
CONSTRAINTS = ("parity", "odds", "tpr", "fpr", "precision")
DATES = ("observed_at", "outcome_at", "horizon", "as_of")
"""The options of labels that come late."""
_IGNORED = "{} would be ignored: "

UNREAD: tuple[_Rule, ...] = (
    (("early_stopping",), lambda a: a.valid, "{} requires --valid: add it with a file, or a share such as 0.2"),
    (
        ("early_stopping",),
        lambda a: a.kl_weight != "auto",
        "{} is not supported with --kl-weight auto, which chooses the number of rounds: leave it out",
    ),
    (
        ("method", "kl_weight", "crossfit", "teacher_weight", "crossfit_groups"),
        lambda a: a.privileged or a.command == "frontier" or a.teacher,
        _IGNORED + "name the privileged columns with --privileged, or add --teacher",
    ),
    (
        DATES,
        lambda a: all(getattr(a, name) for name in DATES),
        "{} is incomplete: give all of --observed-at, --outcome-at, --horizon and --as-of",
    ),
    (("teacher_sees",), lambda a: a.privileged, _IGNORED + "name the privileged columns with --privileged"),
    (
        ("unlabelled",),
        lambda a: a.privileged or getattr(a, "teacher", None) or a.unlabelled != "teach",
        "{} teach needs a teacher: name the privileged columns with --privileged, or add --teacher mixed",
    ),
    (
        ("crossfit", "crossfit_groups"),
        lambda a: a.method not in ("jpib", ["jpib"]),
        "{} is not supported with --method jpib, which trains teacher and student together: leave it out",
    ),
    (
        ("html", "n_boot"),
        lambda a: getattr(a, "groups", True),
        _IGNORED + "name the columns of the groups with --groups",
    ),
    (("title", "no_pictures"), lambda a: a.html, _IGNORED + "name a file for the page, with --html"),
)
"""Options that are ignored without other options, and the error for passing them."""


def check_read(arguments: argparse.Namespace, default_of: Callable[[str], Any]) -> None:
    """Raise for an option that would be ignored."""
    given = {name: value for name, value in vars(arguments).items() if value != default_of(name)}
    if given.get("kl_weight") == 0:  # plain XGBoost, with or without privileged columns
        del given["kl_weight"]
    for options, is_read, message in UNREAD:
        ignored = [option_of(name) for name in options if name in given]
        if ignored and not is_read(arguments):
            raise ValueError(message.format(", ".join(ignored)))


_OTHER_NAMES = {
    "num_boost_round": "rounds",
    "early_stopping_rounds": "early_stopping",
    "sample_weight": "weight",
    "sensitive_features": "groups",
    "nfold": "folds",
    "n_jobs": "jobs",
    "random_state": "seed",
}
"""Options whose names differ from the keywords of the library."""
_KEYWORD = re.compile(r"(\w+_\w+|\w+(?= (must|should) ))(?= )")
"""The keyword at the start of a message; an English word is a keyword only before "must" or "should"."""


def with_option(message: str, arguments: argparse.Namespace) -> str:
    """Return a message of the library with its first keyword replaced by the option."""
    keyword = _KEYWORD.match(message)
    dest = _OTHER_NAMES.get(keyword[1], keyword[1]) if keyword else ""
    return option_of(dest) + message[len(keyword[1]) :] if keyword and dest in arguments else message


def option_of(dest: str) -> str:
    """Return the option for an attribute of the arguments."""
    return f"--{dest.replace('_', '-')}"


def unknown_arguments(unknown: Sequence[str], arguments: argparse.Namespace) -> str:
    """Return the error for arguments that a command lacks, with the nearest option of the command."""
    keyword = unknown[0].lstrip("-").partition("=")[0].replace("-", "_")
    options = [option_of(dest) for dest in vars(arguments) if dest not in ("command", "run", "data")]
    nearest = difflib.get_close_matches(option_of(_OTHER_NAMES.get(keyword, keyword)), options, n=1, cutoff=0.75)
    return f"unrecognized arguments: {' '.join(unknown)}" + "".join(f"; did you mean {option}?" for option in nearest)


class _Once(argparse.Action):
    """Stores the value of an option that other commands take several times; here it must not be repeated."""

    def __call__(self, parser: Any, namespace: Any, values: Any, option_string: str | None = None) -> None:
        if (before := getattr(namespace, self.dest)) is not None:
            raise argparse.ArgumentError(self, f"must be given once, got {values!r} after {before!r}")
        setattr(namespace, self.dest, values)


def new_command(commands: Any, name: str, what: str, example: str) -> argparse.ArgumentParser:
    """Return a new command, whose help ends with an example."""
    command: argparse.ArgumentParser = commands.add_parser(
        name, help=what, epilog=example, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    return command


def add_rows(command: argparse.ArgumentParser, *, data: str) -> None:
    """Add the file of rows."""
    command.add_argument(
        "data",
        metavar="DATA",
        help=f"{data}: CSV (also compressed) or Parquet; - reads CSV from standard input. "
        "An empty field is missing; in columns of numbers or booleans, NA, NaN, null, None, ?, - and . are too",
    )
    command.add_argument(
        "--missing",
        action="append",
        default=[],
        metavar="TEXT",
        help="an additional text for missing values in all columns of a CSV file, such as unknown; may be repeated",
    )


def add_columns(command: argparse.ArgumentParser, option: str, help: str, *, required: bool = False) -> None:
    """Add an option that names columns and may be repeated."""
    command.add_argument(option, type=names, action="extend", required=required, default=[], metavar="A,B", help=help)


def add_training(command: argparse.ArgumentParser, *, has_teacher: bool = True, needs_privileged: bool = False) -> None:
    """Add the options for the columns and for the training of a booster.

    Commands without a teacher do not support privileged columns.
    """
    add_rows(command, data="the training rows")
    if has_teacher:
        add_predicted(command)
    else:
        command.add_argument("--label", required=True, metavar="COLUMN", help="the target")
    add_columns(command, "--drop", "columns to ignore")
    command.add_argument("--weight", metavar="COLUMN", help="the weight of each row")
    learned = "rows that learn from the teacher only, through their privileged columns, " if has_teacher else ""
    command.add_argument(
        "--unlabelled",
        choices=("refuse", "teach", "drop") if has_teacher else ("refuse", "drop"),
        default="refuse",
        help=f"rows with an empty label, such as outcomes that come late: an error, {learned}or ignored "
        "(default: %(default)s)",
    )
    command.add_argument(
        "--dates",
        choices=("refuse", "parts"),
        default="refuse",
        help="columns of dates: an error, or parts (year, month, day, weekday, and the hour if there are times), which "
        "predict takes from the same column (default: %(default)s)",
    )
    add_columns(command, "--categories", "columns of names, even if they look like numbers or dates, such as codes")
    command.add_argument(
        "--objective",
        help="XGBoost's name of the loss. The default is binary:logistic for two labels, multi:softprob for more text "
        "labels, reg:squarederror for numbers with a fraction; it is required for several whole numbers",
    )
    command.add_argument("--rounds", type=at_least(1), default=100, help="boosting rounds (default: %(default)s)")
    command.add_argument(
        "--params",
        type=parameter,
        action="extend",
        nargs="+",
        default=[],
        metavar="KEY=VALUE",
        help="XGBoost's parameters, as in --params max_depth=3 eta=0.1",
    )
    command.add_argument("--seed", type=int, default=0, help="of every random choice (default: %(default)s)")
    if has_teacher:
        _add_teacher_columns(command, required=needs_privileged)
    else:
        unused = ("lower_bound", "upper_bound", "teacher_weight", "crossfit_groups", "query")
        command.set_defaults(privileged=[], **dict.fromkeys(unused))


def add_dates_of_labels(command: argparse.ArgumentParser) -> None:
    """Add the dates that decide which rows have a label."""
    command.add_argument(
        "--observed-at",
        metavar="COLUMN",
        help="dates on which rows were observed: a row has a label only if --horizon has passed by --as-of; the labels "
        "of other rows are not read, and --unlabelled chooses how these rows are used",
    )
    command.add_argument("--outcome-at", metavar="COLUMN", help="dates of outcomes, empty if none is known")
    command.add_argument("--horizon", metavar="TIME", help="how long outcomes count, such as 180D or 12h")
    command.add_argument("--as-of", metavar="DATE", help="the date on which the labels were read, such as 2024-12-31")


def add_predicted(command: argparse.ArgumentParser) -> None:
    """Add the target: a label, two bounds of a time, or a label with a query."""
    command.add_argument("--label", metavar="COLUMN", help="the target, except for survival:aft")
    command.add_argument(
        "--lower-bound", metavar="COLUMN", help="for survival:aft, in place of --label: the minimum time"
    )
    command.add_argument(
        "--upper-bound",
        metavar="COLUMN",
        help="the maximum time, empty if the end is unknown; the column of --lower-bound if all ends are known",
    )
    command.add_argument(
        "--query",
        metavar="COLUMN",
        help="for rank:ndcg and rank:pairwise: rows with the same value are ranked together, in any order",
    )


def check_predicted(arguments: argparse.Namespace, objective: str | None) -> None:
    """Raise if the target options do not fit the objective, which is None if the labels decide it."""
    loss = LOSSES.get(str(objective))
    needed = ["--label", "--query"] if str(objective).startswith("rank:") else ["--label"]
    if loss is not None and loss.label_fields != ("label",):
        needed = ["--lower-bound", "--upper-bound"]
    given = [option_of(dest) for dest in ("label", "lower_bound", "upper_bound", "query") if getattr(arguments, dest)]
    if given != needed:
        raise ValueError(
            f"{objective or 'training without --objective'} needs {' and '.join(needed)}, got "
            f"{' and '.join(given) or 'neither'}: --query is for rank:ndcg and rank:pairwise, bounds are for "
            "survival:aft, and --label is for all others"
        )


def _add_teacher_columns(command: argparse.ArgumentParser, *, required: bool) -> None:
    meaning = "columns that are unknown at prediction; the teacher learns from them"
    add_columns(command, "--privileged", meaning, required=required)
    command.add_argument("--teacher-weight", metavar="COLUMN", help="the teacher's weight in each row (default: 1)")
    command.add_argument(
        "--crossfit-groups",
        metavar="COLUMN",
        help="rows with the same value, such as the visits of a patient, stay in one fold of --crossfit",
    )
    command.add_argument(
        "--constraint",
        type=weighed_constraint,
        action="append",
        default=[],
        metavar="KIND:COLUMN=WEIGHT",
        help="equal treatment of the groups of a column, as in parity:sex=5: parity (equal scores), odds (equal among "
        "rows of each label), tpr or fpr (among rows of label 1 or 0) or precision (equal share of correct "
        "predictions of 1); may be repeated. The model does not see the column. pi-xgb frontier measures the cost",
    )


def add_decisions(command: argparse.ArgumentParser) -> None:
    """Add the decision threshold and the draws for intervals."""
    command.add_argument(
        "--threshold", type=probability, default=0.5, help="of the second class (default: %(default)s)"
    )
    command.add_argument(
        "--n-boot",
        type=at_least(0),
        default=1000,
        metavar="N",
        help="draws for the intervals, 0 for none (default: %(default)s)",
    )


def params_of(arguments: argparse.Namespace) -> dict[str, Any]:
    """Return XGBoost's params, including the objective."""
    params = dict(arguments.params)
    objective = params.setdefault("objective", arguments.objective)
    if arguments.objective not in (None, objective):
        raise ValueError(f"--objective must be that of --params, {objective}, got {arguments.objective}: name it once")
    return {**params, "seed": params.get("seed", arguments.seed)}


@dataclasses.dataclass(frozen=True)
class ConstraintOption:
    """A constraint of the command line."""

    kind: str
    column: str
    weight: float | None = None


def constraint(text: str) -> ConstraintOption:
    """Parse ``parity:sex``."""
    kind, colon, column = text.partition(":")
    if kind not in CONSTRAINTS or not (colon and column):
        raise argparse.ArgumentTypeError(
            f"must look like parity:sex, with one of {', '.join(CONSTRAINTS)}, got {text!r}"
        )
    return ConstraintOption(kind, column)


def weighed_constraint(text: str) -> ConstraintOption:
    """Parse ``parity:sex=5``."""
    kind, equals, number = text.rpartition("=")
    if not equals:
        raise argparse.ArgumentTypeError(f"must look like parity:sex=5, with the weight at its end, got {text!r}")
    return dataclasses.replace(constraint(kind), weight=weight(number))


def names(text: str, what: str = "column names") -> list[str]:
    """Parse column names separated by commas; quote a name with a comma as in a CSV file."""
    parts = next(csv.reader([text], skipinitialspace=True), [])
    if not parts or not all(parts):  # an unset variable of the shell gives an empty text
        raise argparse.ArgumentTypeError(f"must be {what} separated by commas, got {text!r}")
    return parts


def parameter(text: str) -> tuple[str, Any]:
    """Parse ``key=value``, with numbers and booleans converted."""
    key, equals, value = text.partition("=")
    if not (key and equals and value):
        raise argparse.ArgumentTypeError(f"must look like max_depth=3, got {text!r}")
    try:
        return key, json.loads(value)
    except ValueError:
        return key, value


def teacher_kind(text: str) -> Any:
    """Parse a kind of teacher, or create the estimator of MODULE:FACTORY."""
    if text in TEACHERS:
        return text
    module, colon, factory = text.partition(":")
    if not (module and colon and factory):
        raise argparse.ArgumentTypeError(f"must be {', '.join(TEACHERS)} or MODULE:FACTORY, got {text!r}")
    with contextlib.ExitStack() as stack:
        sys.path.insert(0, str(Path.cwd()))  # the folder of the user's scripts
        stack.callback(sys.path.remove, str(Path.cwd()))
        try:
            teacher = getattr(importlib.import_module(module), factory)()
        except (ImportError, AttributeError, TypeError) as error:
            raise argparse.ArgumentTypeError(
                f"must name a function without arguments, got {text!r}: {error}"
            ) from error
    if not is_estimator(teacher):
        raise argparse.ArgumentTypeError(f"must make an estimator with fit, got {type(teacher).__name__} from {text!r}")
    return teacher


def add_teacher(command: argparse.ArgumentParser, *, several: bool) -> None:
    """Add the teacher and its columns."""
    more: dict[str, Any] = {"action": "append" if several else _Once}
    repeated, default = ("; may be repeated", "mixed") if several else ("", "boosted with --privileged")
    command.add_argument(
        "--teacher",
        type=teacher_kind,
        metavar="KIND",
        help=f"{', '.join(TEACHERS)}, or MODULE:FACTORY for an estimator{repeated} (default: {default})",
        **more,
    )
    command.add_argument(
        "--teacher-sees",
        choices=SEES,
        help=f"the privileged columns only, or all{repeated} (default: privileged for boosted, else all)",
        **more,
    )


def at_least(smallest: int) -> Any:
    """Return a parser of whole numbers of at least ``smallest``."""

    def read(text: str) -> int:
        with contextlib.suppress(ValueError):
            if (number := int(text)) >= smallest:
                return number
        raise argparse.ArgumentTypeError(f"must be a whole number of at least {smallest}, got {text!r}")

    return read


def several(read: Callable[[str], Any]) -> Any:
    """Return a parser of values separated by commas."""
    return lambda text: [read(part) for part in names(text, "numbers")]


def _number(text: str, largest: float, what: str) -> float:
    with contextlib.suppress(ValueError):
        if 0 <= (number := float(text)) <= largest:
            return number
    raise argparse.ArgumentTypeError(f"must be a number {what}, got {text!r}")


def weight(text: str) -> float:
    """Parse a kl_weight."""
    return _number(text, sys.float_info.max, "of at least 0")


def probability(text: str) -> float:
    """Parse a probability."""
    return _number(text, 1.0, "between 0 and 1")


def weight_or_auto(text: str) -> float | str:
    """Parse a kl_weight, or auto for a choice."""
    return text if text == "auto" else _number(text, sys.float_info.max, "of at least 0, or auto")
