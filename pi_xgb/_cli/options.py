"""The options of all commands, one table for argparse, and what their values mean."""

from __future__ import annotations

import argparse
import csv
import json
import pkgutil
import re
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from .._core.keywords import METHODS, SEES
from .._core.learners import TEACHERS
from .._core.losses import LOSSES
from .._rows.checks import check_whole

CONSTRAINTS = {
    "parity": "DemographicParity",
    "odds": "EqualizedOdds",
    "tpr": "TruePositiveRateParity",
    "fpr": "FalsePositiveRateParity",
    "precision": "PredictiveParity",
}
"""The class of ``pi_xgb.constraints`` for each word of ``--constraint``."""
SINGLE = ("method", "kl_weight", "teacher", "teacher_sees", "crossfit")
"""The options of a teacher, of which tune and compare take several values."""


def _wrong(expected: str, text: str) -> argparse.ArgumentTypeError:
    return argparse.ArgumentTypeError(f"must {expected}, got {text!r}")


def names(text: str) -> list[str]:
    """Parse values separated by commas; a name with a comma is quoted as in a CSV file."""
    parts = next(csv.reader([text], skipinitialspace=True), [])
    if not parts or not all(parts):  # an unset variable of the shell gives an empty text
        raise _wrong("be separated by commas", text)
    return parts


def numbers(text: str, kind: type = float) -> list[Any]:
    """Parse numbers of a kind separated by commas."""
    try:
        return [kind(part) for part in names(text)]
    except ValueError:
        raise _wrong(f"be {'whole ' * (kind is int)}numbers separated by commas", text) from None


whole_numbers = partial(numbers, kind=int)


def parameter(text: str) -> tuple[str, Any]:
    """Parse ``key=value``, with numbers and booleans converted."""
    key, equals, value = text.partition("=")
    if not (key and equals and value):
        raise _wrong("look like max_depth=3", text)
    try:
        return key, json.loads(value)
    except ValueError:
        return key, value


def constraint(text: str) -> tuple[str, str, float | None]:
    """Parse ``parity:sex``, or with a weight ``parity:sex=5``: its kind, its column and its weight."""
    named, _, number = text.partition("=")
    kind, _, column = named.partition(":")
    if kind not in CONSTRAINTS or not column:
        raise _wrong(f"look like parity:sex, with one of {', '.join(CONSTRAINTS)}", text)
    if number and not 0 <= float(number) < float("inf"):
        raise _wrong("have a finite weight of at least 0, as parity:sex=5", text)
    return kind, column, float(number) if number else None


def teacher_kind(text: str) -> Any:
    """Parse a kind of teacher, or create the estimator of MODULE:FACTORY."""
    if text in TEACHERS:
        return text
    sys.path.insert(0, str(Path.cwd()))  # the folder of the user's scripts
    try:
        return pkgutil.resolve_name(text)()
    except (ImportError, AttributeError, TypeError, ValueError) as error:
        kinds = ", ".join(TEACHERS)
        raise _wrong(f"be {kinds} or MODULE:FACTORY, a function without arguments ({error})", text) from error
    finally:
        sys.path.remove(str(Path.cwd()))


_LEARN, _TEACH, _CHOOSE = "train tune compare frontier", "train tune compare", "tune compare"
_READ, _JUDGE = "train tune compare frontier predict evaluate", "train tune compare frontier evaluate"
_ONE = "; train and compare take one"
_Option = tuple[str, list[str], dict[str, Any]]


def _option(flag: str, commands: str, help: str, **how: Any) -> _Option:
    return flag, commands.split(), {"help": help + (" (default: %(default)s)" if how.get("default") else ""), **how}


def _column(flag: str, commands: str, help: str) -> _Option:
    return _option(flag, commands, help, metavar="COLUMN")


def _columns(flag: str, commands: str, help: str) -> _Option:
    return _option(flag, commands, help, metavar="A,B", type=names, action="extend", default=[])


def _repeated(flag: str, commands: str, help: str, **how: Any) -> _Option:
    return _option(flag, commands, help + "; may be repeated", action="append", **how)


def _listed(flag: str, commands: str, help: str, read: Callable[[str], Any]) -> _Option:
    return _option(flag, commands, help, metavar="N,N", type=read)


OPTIONS = (
    _option("data", _READ, "rows: CSV (also compressed) or Parquet; - reads CSV from standard input", metavar="DATA"),
    _repeated("--missing", _READ, "a text for missing values in a CSV file", metavar="TEXT", default=[]),
    _option("--model", "predict evaluate", "a model of train, or of XGBoost with feature names"),
    _column("--label", _JUDGE, "the target, except for survival:aft"),
    _column("--lower-bound", "train tune compare evaluate", "for survival:aft: the minimum time"),
    _column("--upper-bound", "train tune compare evaluate", "the maximum time, empty if unknown"),
    _column("--query", "train tune compare evaluate", "for rank:ndcg and rank:pairwise: rows that are ranked together"),
    _columns("--groups", "evaluate", "the group of each row"),
    _columns("--keep", "predict", "columns to copy unchanged"),
    _columns("--drop", _LEARN, "columns to ignore"),
    _column("--weight", _JUDGE, "the weight of each row"),
    _option("--unlabelled", _TEACH, "rows with an empty label", choices=("refuse", "teach", "drop"), default="refuse"),
    _option("--unlabelled", "frontier", "rows with an empty label", choices=("refuse", "drop"), default="refuse"),
    _columns("--categories", _LEARN, "columns of names, even if they look like numbers or dates, such as codes"),
    _option("--objective", _LEARN, "XGBoost's name of the loss (default: by the labels)"),
    _option("--rounds", _LEARN, "boosting rounds", type=int, default=100),
    _option(
        "--params", _LEARN, "of XGBoost, as max_depth=3 eta=0.1", type=parameter, nargs="+", action="extend", default=[]
    ),
    _columns("--privileged", _TEACH, "columns that are unknown at prediction; the teacher learns from them"),
    _repeated("--method", _TEACH, "the method (default: kbpib)" + _ONE, choices=METHODS),
    _listed("--kl-weight", _LEARN, "of the teacher, labels have 1; 0 is plain XGBoost" + _ONE, numbers),
    _repeated(
        "--teacher", _TEACH, f"{', '.join(TEACHERS)}, or MODULE:FACTORY" + _ONE, metavar="KIND", type=teacher_kind
    ),
    _repeated("--teacher-sees", _TEACH, "which columns (default: by its kind)" + _ONE, choices=SEES),
    _column("--teacher-weight", _TEACH, "the teacher's weight in each row (default: 1)"),
    _listed("--crossfit", _TEACH, "folds of the teacher, 0 for none (default: by its kind)" + _ONE, whole_numbers),
    _column("--crossfit-groups", _TEACH, "rows with the same value, such as a patient, stay in one fold"),
    _repeated("--constraint", _LEARN, "equal treatment of groups, as parity:sex=5", type=constraint, default=[]),
    _column("--observed-at", "train", "dates of the rows: labels are read if --horizon has passed by --as-of"),
    _column("--outcome-at", "train", "dates of outcomes, empty if none is known"),
    _option("--horizon", "train", "how long outcomes count, such as 180D or 12h", metavar="TIME"),
    _option("--as-of", "train", "the date on which the labels were read, such as 2024-12-31", metavar="DATE"),
    _option("--valid", "train", "validation rows: a file, or a share of DATA, as in 0.2", metavar="FILE|SHARE"),
    _option("--early-stopping", "train", "stop after N rounds without gain on --valid", type=int, metavar="N"),
    _option("--metric", _CHOOSE, "XGBoost's name of the metric (default: the loss)"),
    _listed("--gap", "frontier", "wanted gaps, such as 0.05", numbers),
    _option("--threshold", "evaluate frontier", "of the second class", type=float, default=0.5),
    _option("--n-boot", "evaluate frontier", "draws for intervals, 0 for none", type=int, default=1000),
    _option("--folds", "tune compare frontier", "of the cross-validation", type=int, default=5),
    _option("--repeats", _CHOOSE, "of the folds (default: 2 in compare, more with few rows in tune)", type=int),
    _option("--jobs", "tune compare frontier", "folds in parallel (default: by the rows)", type=int),
    _option("--resume", _CHOOSE, "keep finished folds in a file: the same command continues", metavar="FILE"),
    _option("--seed", _JUDGE, "of every random choice", type=int, default=0),
    _option("--seeds", "demo", "repetitions", type=int, default=10),
    _option("--format", "tune compare frontier evaluate", "of the table", choices=("text", "csv"), default="text"),
    _option("--html", "evaluate", "also write a page with tables and pictures (needs matplotlib)", metavar="FILE"),
    _option("--out", "train tune frontier", "the model to write, .ubj or .json", metavar="MODEL"),
    _option("--out", "predict", "CSV or Parquet; - is standard output", default="-", metavar="FILE"),
    _option("--force", "train tune frontier predict evaluate", "replace an existing output", action="store_true"),
)
"""Every option, in the order of the help: its name, its commands, and the keywords of ``add_argument``."""

REQUIRED = {("train", "--out"), ("predict", "--model"), ("evaluate", "--model"), ("frontier", "--label")}
REQUIRED |= {("tune", "--privileged"), ("compare", "--privileged"), ("frontier", "--constraint")}
"""Options that a command needs."""


LEAST = {"rounds": 1, "early_stopping": 1, "seeds": 2}
"""The smallest values of options; the library checks the others."""


def check_read(arguments: argparse.Namespace, default_of: Callable[[str], Any]) -> None:
    """Raise for an option that would be ignored, that lacks another one, or that is too small."""
    given = {name: value for name, value in vars(arguments).items() if value != default_of(name)}
    command = arguments.command
    for name in LEAST.keys() & given.keys():
        check_whole(option_of(name), given[name], LEAST[name])
    for name in SINGLE:
        if command in ("train", "compare") and len(given.get(name, ())) > 1:
            raise ValueError(f"{option_of(name)} must have one value in train and compare: tune compares several")
    weights = [weight for _, _, weight in given.get("constraint", ())]
    if weights and (weights != [None] if command == "frontier" else None in weights):
        raise ValueError("--constraint must look like parity:sex=5, with a weight; in frontier one, like parity:sex")
    if "early_stopping" in given and not arguments.valid:
        raise ValueError("--early-stopping requires --valid: add it with a file, or a share such as 0.2")
    dates = [option_of(name) for name in ("observed_at", "outcome_at", "horizon", "as_of") if name in given]
    if len(dates) not in (0, 4):
        every = "all of --observed-at, --outcome-at, --horizon and --as-of"
        raise ValueError(f"{', '.join(dates)} is incomplete: give {every}")
    ignored = [option_of(name) for name in ("html", "n_boot") if name in given]
    if ignored and command == "evaluate" and not arguments.groups:
        raise ValueError(f"{', '.join(ignored)} would be ignored: name columns with --groups")


def check_target(arguments: argparse.Namespace, objective: str | None) -> None:
    """Raise if the target options do not fit the objective, which is None if the labels decide it."""
    loss = LOSSES.get(str(objective))
    needed = ["--label", "--query"] if str(objective).startswith("rank:") else ["--label"]
    if loss is not None and loss.label_fields != ("label",):
        needed = ["--lower-bound", "--upper-bound"]
    targets = ("label", "lower_bound", "upper_bound", "query")
    given = [option_of(dest) for dest in targets if getattr(arguments, dest, None)]
    if given != needed:
        chosen, found = objective or "training without --objective", " and ".join(given) or "no such option"
        raise ValueError(f"{chosen} needs {' and '.join(needed)}, got {found}: name these, or another objective")


def params_of(arguments: argparse.Namespace) -> dict[str, Any]:
    """Return XGBoost's params, including the objective."""
    params = {"objective": arguments.objective, "seed": arguments.seed, **dict(arguments.params)}
    if arguments.objective not in (None, objective := params["objective"]):
        raise ValueError(f"--objective must be that of --params, {objective}, got {arguments.objective}: name it once")
    return params


_OTHER_NAMES = {
    "num_boost_round": "rounds",
    "early_stopping_rounds": "early_stopping",
    "sample_weight": "weight",
    "labelled": "unlabelled",
    "sensitive_features": "groups",
    "nfold": "folds",
    "n_jobs": "jobs",
    "random_state": "seed",
}
"""Options whose names differ from the keywords of the library."""
_KEYWORD = re.compile(
    r"^(\w+_\w+(?= )|\w+(?= (must|should|requires|is not supported) ))|\b\w+=(?=[\s,.:]|$)|\b\w+(?==)"
)
"""A keyword at the start of a message, where an English word is one only before these verbs, or before "="."""


def option_of(dest: str) -> str:
    """Return the option for an attribute of the arguments."""
    return f"--{dest.replace('_', '-')}"


def with_option(message: str, arguments: argparse.Namespace) -> str:
    """Return a message of the library with options in place of keywords."""

    def option(keyword: re.Match[str]) -> str:
        dest = _OTHER_NAMES.get(name := keyword[0].rstrip("="), name)
        return option_of(dest) if dest in arguments else keyword[0]

    return _KEYWORD.sub(option, message)
