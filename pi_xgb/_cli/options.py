"""Options that several commands share, and how they are read."""

from __future__ import annotations

import argparse
import contextlib
import csv
import dataclasses
import json
import re
import sys
from collections.abc import Callable, Sequence
from typing import Any

from .._core.config import METHODS
from .._core.losses import LOSSES

_Rule = tuple[tuple[str, ...], Callable[[argparse.Namespace], Any], str]
CONSTRAINTS = ("parity", "odds", "precision")
UNLABELLED = ("refuse", "teach", "drop")
DATES = ("refuse", "parts", "categories")
_IGNORED = "{} would be ignored: "

UNREAD: tuple[_Rule, ...] = (
    (("early_stopping",), lambda a: a.valid, "{} needs rows to watch: add --valid with a file, or a share such as 0.2"),
    (
        ("early_stopping",),
        lambda a: a.kl_weight != "auto",
        "--kl-weight auto chooses the number of rounds as well: leave {} out",
    ),
    (
        ("method", "kl_weight", "crossfit", "teacher", "teacher_weight", "crossfit_groups"),
        lambda a: a.privileged,
        _IGNORED + "say which columns are privileged, with --privileged",
    ),
    (
        ("unlabelled",),
        lambda a: a.privileged or a.unlabelled != "teach",
        "{} teach needs a teacher: say which columns are privileged, with --privileged, or --unlabelled drop",
    ),
    *(
        (
            method_named(name).unread,
            lambda a, name=name: a.method not in (name, [name]),
            f"--method {name} has no use for {{}}: {method_named(name).why_unread}",
        )
        for name in METHODS
    ),
    (
        ("crossfit_groups",),
        lambda a: a.crossfit not in (0, [0]) or (a.kl_weight == "auto" and a.teacher == "all"),
        "{} says which rows stay together in the folds of --crossfit: add --crossfit 5",
    ),
    (
        ("html",),
        lambda a: getattr(a, "groups", True),
        "{} is a page about groups: say which columns they are in, with --groups",
    ),
    (("n_boot",), lambda a: a.groups, _IGNORED + "say which columns groups are in, with --groups"),
    (("title", "no_pictures"), lambda a: a.html, _IGNORED + "name a file for the page, with --html"),
)
"""Options that nothing would read unless the others say so, and what is wrong with those that were given."""


def check_read(arguments: argparse.Namespace, default_of: Callable[[str], Any]) -> None:
    """No option was given that nothing would read."""
    given = {name: value for name, value in vars(arguments).items() if value != default_of(name)}
    if given.get("kl_weight") == 0:  # plain XGBoost, with or without privileged columns
        del given["kl_weight"]
    for options, is_read, message in UNREAD:
        named = [f"--{name.replace('_', '-')}" for name in options if name in given]
        if named and not is_read(arguments):
            raise ValueError(message.format(", ".join(named)))


# The library's keywords that are no words, by the option that stands for each.
_KEYWORDS = {
    "num_boost_round": "--rounds",
    "early_stopping_rounds": "--early-stopping",
    "sample_weight": "--weight",
    "kl_weight": "--kl-weight",
    "teacher_weight": "--teacher-weight",
    "crossfit_groups": "--crossfit-groups",
    "crossfit": "--crossfit",
    "nfold": "--folds",
    "n_jobs": "--jobs",
    "params['objective']": "--objective",
}
_WORDS = ("privileged", "method", "teacher", "metric", "repeats", "sizes", "seed")
"""Keywords only where "=" follows."""
_NAMED = re.compile(
    rf"(?<![\w'\"-])(?:({'|'.join(map(re.escape, _KEYWORDS))})(?![\w'\"])=?|({'|'.join(_WORDS)})=)"
    r"(?:(?<==)[\[(]([\d., ]+)[\])])?(?=([\w\[('\"])?)"
)
"""With the numbers of a list that follows, and whether any other value does."""


_PARAMETER = re.compile(r"params\['(\w+)'\] = (\w+)(?: \(of \w+: \w+=\w+\))?")
"""A parameter that a message advises, and how an estimator has it."""
_FIRST = re.compile(r"^(resume|metric|sizes|seed)(?= names | must be | has | ')")
"""Keywords that are words elsewhere, where a message begins with them."""
_OBJECTIVE = re.compile(r"params\['objective'\] = '([\w:]+)'")


def with_options(message: str) -> str:
    """What the library says of its keywords, said of the options; what stands in quotes is the user's own."""

    def option(found: re.Match[str]) -> str:
        name = _KEYWORDS[found[1]] if found[1] else f"--{found[2]}"
        if found[3]:
            return f"{name} {found[3].replace(' ', '').rstrip(',')}"
        return name + " " * bool(found[4] and found[0].endswith("="))

    message = _OBJECTIVE.sub(r"--objective \1", _FIRST.sub(r"--\1", message))
    return _NAMED.sub(option, _PARAMETER.sub(r"--params \1=\2", message))


def new_command(commands: Any, name: str, what: str, example: str) -> argparse.ArgumentParser:
    """A command, whose help ends with an example."""
    command: argparse.ArgumentParser = commands.add_parser(
        name, help=what, epilog=example, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    return command


def add_rows(command: argparse.ArgumentParser, *, data: str) -> None:
    """The file of rows."""
    command.add_argument(
        "data",
        metavar="DATA",
        help=f"{data}: CSV (also compressed) or Parquet; - reads CSV from standard input. "
        "An empty field is missing; in columns of numbers or truth values NA, NaN, null and None are too",
    )


def add_training(command: argparse.ArgumentParser, *, teaches: bool = True) -> None:
    """Which column is what, and how a booster is trained; ``teaches`` says whether privileged columns have a use."""
    add_rows(command, data="the training rows")
    if teaches:
        add_predicted(command)
    else:
        command.add_argument("--label", required=True, metavar="COLUMN", help="what is to be predicted")
    command.add_argument("--drop", type=names, action="extend", default=[], metavar="A,B", help="columns nobody sees")
    command.add_argument("--weight", metavar="COLUMN", help="how much each row counts")
    taught = "rows that the teacher alone teaches, from their privileged columns, " if teaches else ""
    command.add_argument(
        "--unlabelled",
        choices=[choice for choice in UNLABELLED if teaches or choice != "teach"],
        default="refuse",
        help=f"what becomes of rows with an empty label, of outcomes that come late: an error, {taught}or nothing "
        "(default: %(default)s)",
    )
    command.add_argument(
        "--dates",
        choices=DATES,
        default="refuse",
        help="what becomes of columns of dates: an error, their parts (year, month, day, weekday, and the hour where "
        "there are times), which predict takes out of the same column, or a category for each date (default: "
        "%(default)s)",
    )
    command.add_argument(
        "--objective",
        help="XGBoost's name of the loss. By default: binary:logistic for two different labels, multi:softprob for "
        "more of text, reg:squarederror for numbers with a fraction; for several whole numbers it must be said",
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
    if teaches:
        _add_privileged(command)
    else:
        command.set_defaults(privileged=[], teacher_weight=None, crossfit_groups=None, query=None)


def add_predicted(command: argparse.ArgumentParser) -> None:
    """What is predicted: a label, two bounds of a time, or a label that ranks the rows of a query."""
    command.add_argument("--label", metavar="COLUMN", help="what is predicted, but for survival:aft")
    command.add_argument(
        "--lower-bound", metavar="COLUMN", help="for survival:aft, in place of --label: how long a row lasted at least"
    )
    command.add_argument(
        "--upper-bound",
        metavar="COLUMN",
        help="and at most, empty where nobody saw the end; the column of --lower-bound where all ends were seen",
    )
    command.add_argument(
        "--query",
        metavar="COLUMN",
        help="for rank:ndcg and rank:pairwise: which rows are ranked together, wherever they stand in the file",
    )


def check_predicted(arguments: argparse.Namespace, objective: str | None) -> None:
    """What is predicted is named by the options of this objective, None for one that the labels decide."""
    loss = LOSSES.get(str(objective))
    has_bounds, ranks = loss is not None and loss.label_fields != ("label",), str(objective).startswith("rank:")
    bounds = [name for name in ("lower_bound", "upper_bound") if getattr(arguments, name)]
    if has_bounds and (arguments.label or len(bounds) < 2):
        raise ValueError(
            f"{objective} has no label but two bounds of a time: name their columns with --lower-bound and "
            "--upper-bound, in place of --label"
        )
    if bounds and not has_bounds:
        raise ValueError(
            f"--{bounds[0].replace('_', '-')} is for survival:aft, and the objective is {objective or 'not named'}: "
            "name what is predicted with --label, or add --objective survival:aft"
        )
    if not (has_bounds or arguments.label):
        raise ValueError("say what is predicted, with --label")
    if ranks and not arguments.query:
        raise ValueError(
            f"{objective} ranks the rows of a query: name the column that says of which query a row is, with --query"
        )
    if arguments.query and not ranks:
        raise ValueError(
            f"--query says which rows are ranked together, and the objective is {objective or 'not named'}: leave it "
            "out (--crossfit-groups keeps rows together), or add --objective rank:ndcg or rank:pairwise"
        )


def _add_privileged(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--privileged",
        type=names,
        action="extend",
        default=[],
        metavar="A,B",
        help="columns that will not be there at prediction; the teacher learns from them",
    )
    command.add_argument(
        "--teacher-weight", metavar="COLUMN", help="how much the teacher counts in each row, against 1 by default"
    )
    command.add_argument(
        "--crossfit-groups",
        metavar="COLUMN",
        help="whose rows belong together, such as the visits of a patient: one fold of --crossfit has them all",
    )


def add_constraint(command: argparse.ArgumentParser) -> None:
    """Constraints of given weights."""
    command.add_argument(
        "--constraint",
        type=weighed_constraint,
        action="append",
        default=[],
        metavar="KIND:COLUMN=WEIGHT",
        help="treat the groups of a column alike, as in parity:sex=5: parity (equal scores), odds (equal among rows of "
        "each label) or precision (equally often right where it says 1); again for more. The model does not see the "
        "column. pi-xgb frontier says what it costs",
    )


def params_of(arguments: argparse.Namespace) -> dict[str, Any]:
    """XGBoost's params; the objective may stand among them."""
    params = dict(arguments.params)
    objective = params.setdefault("objective", arguments.objective)
    if arguments.objective not in (None, objective):
        raise ValueError(f"--objective says {arguments.objective} and --params says {objective}: say it once")
    return {**params, "seed": params.get("seed", arguments.seed)}


@dataclasses.dataclass(frozen=True)
class Asked:
    """A constraint as the command line names it."""

    kind: str
    column: str
    weight: float | None = None

    @property
    def option(self) -> str:
        """As it was written."""
        return f"{self.kind}:{self.column}"


def constraint(text: str) -> Asked:
    """``parity:sex`` without a weight."""
    kind, colon, column = text.partition(":")
    if kind not in CONSTRAINTS or not (colon and column):
        raise argparse.ArgumentTypeError(
            f"must look like parity:sex, with one of {', '.join(CONSTRAINTS)}, got {text!r}"
        )
    return Asked(kind, column)


def weighed_constraint(text: str) -> Asked:
    """``parity:sex=5``."""
    named, equals, number = text.rpartition("=")
    if not equals:
        raise argparse.ArgumentTypeError(f"must look like parity:sex=5, with the weight at its end, got {text!r}")
    return dataclasses.replace(constraint(named), weight=weight(number))


def check_compatible(asked: Sequence[Asked]) -> None:
    """No column is asked to satisfy two constraints at once, which no model could."""
    kinds: dict[str, Asked] = {}
    for one in asked:
        before = kinds.setdefault(one.column, one)
        if before is one:
            continue
        if before.kind == one.kind:
            raise ValueError(f"--constraint names {one.option} twice: give it one weight")
        raise ValueError(
            f"--constraint names {before.option} and {one.option}, which contradict each other where the groups differ "
            "in how often the label is 1: choose one of them"
        )


def names(text: str, what: str = "column names") -> list[str]:
    """Column names with commas between them, quoted as in a CSV file where a name has a comma itself."""
    found = next(csv.reader([text], skipinitialspace=True), [])
    if not found or not all(found):  # an empty text is a variable of the shell that nobody set
        raise argparse.ArgumentTypeError(f"must be {what} with commas between them, got {text!r}")
    return found


def parameter(text: str) -> tuple[str, Any]:
    """``key=value``, the value a number or true or false where it looks like one."""
    key, equals, value = text.partition("=")
    if not (key and equals and value):
        raise argparse.ArgumentTypeError(f"must look like max_depth=3, got {text!r}")
    try:
        return key, json.loads(value)
    except ValueError:
        return key, value


def at_least(smallest: int) -> Any:
    """A whole number that is not too small."""

    def read(text: str) -> int:
        with contextlib.suppress(ValueError):
            if (number := int(text)) >= smallest:
                return number
        raise argparse.ArgumentTypeError(f"must be a whole number of at least {smallest}, got {text!r}")

    return read


def _number(text: str, largest: float, what: str) -> float:
    with contextlib.suppress(ValueError):
        if 0 <= (number := float(text)) <= largest:
            return number
    raise argparse.ArgumentTypeError(f"must be a number {what}, got {text!r}")


def weight(text: str) -> float:
    """A kl_weight."""
    return _number(text, sys.float_info.max, "of at least 0")


def gap(text: str) -> float:
    """A difference between groups."""
    return _number(text, 2.0, "between 0 and 1, for odds between 0 and 2")


def probability(text: str) -> float:
    """A probability."""
    return _number(text, 1.0, "between 0 and 1")


def weight_or_auto(text: str) -> float | str:
    """A kl_weight, or the word that asks for a choice."""
    try:
        return text if text == "auto" else weight(text)
    except argparse.ArgumentTypeError:
        raise argparse.ArgumentTypeError(f"must be a number of at least 0, or auto, got {text!r}") from None
