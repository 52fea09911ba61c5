"""Options that several commands share, and how they are read."""

from __future__ import annotations

import argparse
import contextlib
import csv
import dataclasses
import importlib
import json
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from .._core.config import SEES
from .._core.learners import TEACHERS
from .._core.learners.estimator import is_estimator
from .._core.losses import LOSSES

_Rule = tuple[tuple[str, ...], Callable[[argparse.Namespace], Any], str]
CONSTRAINTS = ("parity", "odds", "precision")
_IGNORED = "{} would be ignored: "

UNREAD: tuple[_Rule, ...] = (
    (("early_stopping",), lambda a: a.valid, "{} needs rows to watch: add --valid with a file, or a share such as 0.2"),
    (
        ("early_stopping",),
        lambda a: a.kl_weight != "auto",
        "--kl-weight auto chooses the number of rounds as well: leave {} out",
    ),
    (
        ("method", "kl_weight", "crossfit", "teacher_weight", "crossfit_groups"),
        lambda a: a.privileged or a.command == "frontier" or a.teacher,
        _IGNORED + "name the privileged columns with --privileged, or who teaches with --teacher",
    ),
    (("teacher_sees",), lambda a: a.privileged, _IGNORED + "name the privileged columns with --privileged"),
    (
        ("unlabelled",),
        lambda a: a.privileged or getattr(a, "teacher", None) or a.unlabelled != "teach",
        "{} teach needs a teacher: name the privileged columns with --privileged, or choose --unlabelled drop",
    ),
    (
        ("crossfit", "crossfit_groups"),
        lambda a: a.method not in ("jpib", ["jpib"]),
        "{} is not supported with --method jpib: its teacher grows with the student and stops with it",
    ),
    (
        ("html", "n_boot"),
        lambda a: getattr(a, "groups", True),
        _IGNORED + "name the columns of the groups with --groups",
    ),
    (("title", "no_pictures"), lambda a: a.html, _IGNORED + "name a file for the page, with --html"),
)
"""Options that nothing would read without other options, and the error for those that were given."""


def check_read(arguments: argparse.Namespace, default_of: Callable[[str], Any]) -> None:
    """No option was given that nothing would read."""
    given = {name: value for name, value in vars(arguments).items() if value != default_of(name)}
    if given.get("kl_weight") == 0:  # plain XGBoost, with or without privileged columns
        del given["kl_weight"]
    for options, is_read, message in UNREAD:
        named = [option_of(name) for name in options if name in given]
        if named and not is_read(arguments):
            raise ValueError(message.format(", ".join(named)))


_OTHER_NAMES = {
    "num_boost_round": "rounds",
    "early_stopping_rounds": "early_stopping",
    "sample_weight": "weight",
    "sensitive_features": "groups",
    "nfold": "folds",
    "n_jobs": "jobs",
    "random_state": "seed",
}
"""Keywords of the library whose options are not called the same."""
_KEYWORD = re.compile(r"(\w+_\w+|\w+(?= must ))(?= )")
"""A keyword that a message begins with; an English word counts as a keyword only before "must"."""


def with_option(message: str, arguments: argparse.Namespace) -> str:
    """A message of the library, with the option in the place of the keyword that it begins with."""
    found = _KEYWORD.match(message)
    dest = _OTHER_NAMES.get(found[1], found[1]) if found else ""
    return option_of(dest) + message[len(found[1]) :] if found and dest in arguments else message


def option_of(dest: str) -> str:
    """The option of an attribute of the arguments."""
    return f"--{dest.replace('_', '-')}"


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
        "An empty field is missing; in columns of numbers or truth values NA, NaN, null, None, ?, - and . are too",
    )
    command.add_argument(
        "--missing",
        action="append",
        default=[],
        metavar="TEXT",
        help="a further text that means a missing value in any column of a CSV file, such as unknown; again for more",
    )


def add_columns(command: argparse.ArgumentParser, option: str, help: str, *, required: bool = False) -> None:
    """An option that names columns, once or several times."""
    command.add_argument(option, type=names, action="extend", required=required, default=[], metavar="A,B", help=help)


def add_training(command: argparse.ArgumentParser, *, teaches: bool = True, chooses: bool = False) -> None:
    """Which column is what, and how a booster is trained.

    Privileged columns have a use if a teacher ``teaches``, and are needed if the command ``chooses`` how.
    """
    add_rows(command, data="the training rows")
    if teaches:
        add_predicted(command)
    else:
        command.add_argument("--label", required=True, metavar="COLUMN", help="what is to be predicted")
    add_columns(command, "--drop", "columns nobody sees")
    command.add_argument("--weight", metavar="COLUMN", help="how much each row counts")
    taught = "rows that the teacher alone teaches, from their privileged columns, " if teaches else ""
    command.add_argument(
        "--unlabelled",
        choices=("refuse", "teach", "drop") if teaches else ("refuse", "drop"),
        default="refuse",
        help=f"what becomes of rows with an empty label, of outcomes that come late: an error, {taught}or nothing "
        "(default: %(default)s)",
    )
    command.add_argument(
        "--dates",
        choices=("refuse", "parts"),
        default="refuse",
        help="what becomes of columns of dates: an error, or parts (year, month, day, weekday, and the hour where "
        "there are times), which predict takes out of the same column (default: %(default)s)",
    )
    add_columns(command, "--categories", "columns of names, also where these look like numbers or dates, such as codes")
    command.add_argument(
        "--objective",
        help="XGBoost's name of the loss. By default: binary:logistic for two different labels, multi:softprob for "
        "more of text, reg:squarederror for numbers with a fraction; it must be named for several whole numbers",
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
        _add_teaching(command, required=chooses)
    else:
        unused = ("lower_bound", "upper_bound", "teacher_weight", "crossfit_groups", "query")
        command.set_defaults(privileged=[], **dict.fromkeys(unused))


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
    needed = ["--label", "--query"] if str(objective).startswith("rank:") else ["--label"]
    if loss is not None and loss.label_fields != ("label",):
        needed = ["--lower-bound", "--upper-bound"]
    given = [option_of(dest) for dest in ("label", "lower_bound", "upper_bound", "query") if getattr(arguments, dest)]
    if given != needed:
        raise ValueError(
            f"{objective or 'training without --objective'} needs {' and '.join(needed)}, got "
            f"{' and '.join(given) or 'neither'}: --query is for rank:ndcg and rank:pairwise, the bounds are for "
            "survival:aft, and --label is for all others"
        )


def _add_teaching(command: argparse.ArgumentParser, *, required: bool) -> None:
    seen = "columns that will not be there at prediction; the teacher learns from them"
    add_columns(command, "--privileged", seen, required=required)
    command.add_argument(
        "--teacher-weight", metavar="COLUMN", help="how much the teacher counts in each row, against 1 by default"
    )
    command.add_argument(
        "--crossfit-groups",
        metavar="COLUMN",
        help="whose rows belong together, such as the visits of a patient: one fold of --crossfit has them all",
    )
    command.add_argument(
        "--constraint",
        type=weighed_constraint,
        action="append",
        default=[],
        metavar="KIND:COLUMN=WEIGHT",
        help="treat the groups of a column alike, as in parity:sex=5: parity (equal scores), odds (equal among rows of "
        "each label) or precision (equally often right where it predicts 1); again for more. The model does not "
        "see the column. pi-xgb frontier measures the cost",
    )


def add_decisions(command: argparse.ArgumentParser) -> None:
    """From where on a row is selected, and how intervals are drawn."""
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
    """XGBoost's params; the objective may stand among them."""
    params = dict(arguments.params)
    objective = params.setdefault("objective", arguments.objective)
    if arguments.objective not in (None, objective):
        raise ValueError(f"--objective must be that of --params, {objective}, got {arguments.objective}: name it once")
    return {**params, "seed": params.get("seed", arguments.seed)}


@dataclasses.dataclass(frozen=True)
class ConstraintOption:
    """A constraint as the command line names it."""

    kind: str
    column: str
    weight: float | None = None


def constraint(text: str) -> ConstraintOption:
    """``parity:sex`` without a weight."""
    kind, colon, column = text.partition(":")
    if kind not in CONSTRAINTS or not (colon and column):
        raise argparse.ArgumentTypeError(
            f"must look like parity:sex, with one of {', '.join(CONSTRAINTS)}, got {text!r}"
        )
    return ConstraintOption(kind, column)


def weighed_constraint(text: str) -> ConstraintOption:
    """``parity:sex=5``."""
    named, equals, number = text.rpartition("=")
    if not equals:
        raise argparse.ArgumentTypeError(f"must look like parity:sex=5, with the weight at its end, got {text!r}")
    return dataclasses.replace(constraint(named), weight=weight(number))


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


def teacher_kind(text: str) -> Any:
    """A word for a kind of teacher, or what MODULE:FACTORY makes: an estimator with scikit-learn's interface."""
    if text in TEACHERS:
        return text
    module, colon, factory = text.partition(":")
    if not (module and colon and factory):
        raise argparse.ArgumentTypeError(f"must be {', '.join(TEACHERS)} or MODULE:FACTORY, got {text!r}")
    with contextlib.ExitStack() as stack:
        sys.path.insert(0, str(Path.cwd()))  # where a script of the user's lies
        stack.callback(sys.path.remove, str(Path.cwd()))
        try:
            made = getattr(importlib.import_module(module), factory)()
        except (ImportError, AttributeError, TypeError) as error:
            raise argparse.ArgumentTypeError(
                f"must name a function without arguments, got {text!r}: {error}"
            ) from error
    if not is_estimator(made):
        raise argparse.ArgumentTypeError(f"must make an estimator with fit, got {type(made).__name__} from {text!r}")
    return made


def add_teacher(command: argparse.ArgumentParser, *, several: bool) -> None:
    """Who teaches, and what the teacher sees."""
    more: dict[str, Any] = {"action": "append"} if several else {}
    again, usual = ("; again for others", "mixed") if several else ("", "boosted with --privileged")
    command.add_argument(
        "--teacher",
        type=teacher_kind,
        metavar="KIND",
        help=f"{', '.join(TEACHERS)}, or MODULE:FACTORY for an estimator{again} (default: {usual})",
        **more,
    )
    command.add_argument(
        "--teacher-sees",
        choices=SEES,
        help=f"the privileged columns alone, or all{again} (default: privileged for boosted, else all)",
        **more,
    )


def at_least(smallest: int) -> Any:
    """A whole number that is not too small."""

    def read(text: str) -> int:
        with contextlib.suppress(ValueError):
            if (number := int(text)) >= smallest:
                return number
        raise argparse.ArgumentTypeError(f"must be a whole number of at least {smallest}, got {text!r}")

    return read


def several(read: Callable[[str], Any]) -> Any:
    """Values with commas between them."""
    return lambda text: [read(part) for part in names(text, "numbers")]


def _number(text: str, largest: float, what: str) -> float:
    with contextlib.suppress(ValueError):
        if 0 <= (number := float(text)) <= largest:
            return number
    raise argparse.ArgumentTypeError(f"must be a number {what}, got {text!r}")


def weight(text: str) -> float:
    """A kl_weight."""
    return _number(text, sys.float_info.max, "of at least 0")


def probability(text: str) -> float:
    """A probability."""
    return _number(text, 1.0, "between 0 and 1")


def weight_or_auto(text: str) -> float | str:
    """A kl_weight, or the word that asks for a choice."""
    return text if text == "auto" else _number(text, sys.float_info.max, "of at least 0, or auto")
