"""``pi-xgb train``: train a model on the rows of a file."""

from __future__ import annotations

import argparse
import contextlib
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import xgboost
from xgboost.callback import TrainingCallback

from .._core.config import DEFAULT_METHOD, METHODS
from .._core.learners import DEFAULT_TEACHER
from .._core.losses import LOSSES
from .._core.teachers import DEFAULT_KL_WEIGHT
from .._core.train import train
from .._progress import progress_bar
from .._xgb.booster import best_round, recorded_teachers
from .model import new_model_file, write_model
from .options import add_dates_of_labels, add_teacher, add_training, at_least, new_command, weight_or_auto
from .output import add_out
from .rows import Rows, constraints_of, read_training, read_validation, set_aside
from .source import Log, Source
from .tune import choose

_Fit = tuple[int, Callable[..., xgboost.Booster]]

EXAMPLE = """example, with lab and score known for the training rows only:
  pi-xgb train patients.csv --label ill --privileged lab,score --kl-weight 1 --crossfit 5 --out model.ubj
results ranked within each search, with the time that users spent on them known for the past only:
  pi-xgb train shown.csv --label relevance --query search --objective rank:ndcg --params ndcg_exp_gain=false \\
      --privileged seconds --crossfit 5 --out model.ubj
readmissions within 180 days, with the rows of the last 180 days without a label:
  pi-xgb train stays.csv --label readmitted --observed-at left --outcome-at returned --horizon 180D \\
      --as-of 2024-12-31 --privileged lab --teacher mixed --unlabelled teach --out model.ubj
times until an event, with an empty upper bound if the event is unknown:
  pi-xgb train parts.csv --lower-bound hours --upper-bound end --objective survival:aft --privileged wear \\
      --out model.ubj

The model is an XGBoost file. It holds the names of features and classes, but no name or value of the privileged
columns. Text becomes categories. An empty field is missing. NA, ?, - and the like are missing in columns of numbers or
booleans, with a note, and text in columns of text. A column with a few texts among many numbers is an error that names
the first text."""


_TEACHER_OPTIONS = ("teacher", "teacher_sees", "crossfit")


def add(commands: Any) -> None:
    """Add the command and its options."""
    command = new_command(commands, "train", "train a model, with or without privileged columns", EXAMPLE)
    add_training(command)
    add_dates_of_labels(command)
    add_out(command, required=True, metavar="MODEL", help="the model to write, .ubj or .json")
    command.add_argument(
        "--method", choices=METHODS, default=DEFAULT_METHOD, help="the training method (default: %(default)s)"
    )
    command.add_argument(
        "--kl-weight",
        type=weight_or_auto,
        default=DEFAULT_KL_WEIGHT,
        metavar="NUMBER",
        help="the teacher's weight, against 1 for the labels: 0 for plain XGBoost, auto for a choice by cross-"
        "validation (default: %(default)s)",
    )
    add_teacher(command, several=False)
    command.add_argument(
        "--crossfit",
        type=at_least(0),
        metavar="FOLDS",
        help="folds of the cross-fitted teacher, 0 for a teacher of all rows (default: by its kind)",
    )
    command.add_argument("--valid", metavar="FILE|SHARE", help="validation rows: a file, or a share of DATA, as in 0.2")
    command.add_argument(
        "--early-stopping", type=at_least(1), metavar="ROUNDS", help="stop after ROUNDS rounds without gain on --valid"
    )
    command.set_defaults(run=run)


def run(arguments: argparse.Namespace, log: Log) -> None:
    """Train, then write the model."""
    path = new_model_file(arguments)
    share = _share(arguments.valid) if arguments.valid else None
    valid_source = Source(arguments.valid, arguments.missing, log) if arguments.valid and share is None else None
    training = read_training(arguments, log)
    rows, params, valid = training.rows, training.params, None
    if valid_source is not None:
        valid = read_validation(valid_source, training, log)
    elif share is not None:
        rows, valid = set_aside(rows, share, arguments.seed)
    if valid is not None and params["objective"] in LOSSES:  # XGBoost lacks a default metric for binary:logitraw
        params.setdefault("eval_metric", LOSSES[params["objective"]].with_params(params).default_metric)
    history: dict[str, Any] = {}
    rounds, fit = (_chosen if arguments.kl_weight == "auto" else _given)(arguments, params, rows, valid, log)
    with _monitor(rounds, valid, history) as monitoring:
        booster = fit(**monitoring)
    write_model(path, booster, training, arguments)
    log(f"{path}: {_summary(booster)}{_scores(booster, history)}")


def _share(text: str) -> float | None:
    """Return the share of --valid, or None if it names a file."""
    try:
        share = None if Path(text).exists() else float(text)
    except ValueError:
        share = None
    if share is not None and not 0 < share < 1:
        raise ValueError(f"--valid must be a file, or a share of the rows between 0 and 1, got {text!r}")
    return share


def _given(arguments: argparse.Namespace, params: dict[str, Any], rows: Rows, valid: Rows | None, _: Log) -> _Fit:
    """Return the rounds and the training with the given kl_weight."""
    keywords: dict[str, Any] = {}
    if arguments.privileged or arguments.teacher:
        keywords = {**_teacher_keywords(arguments, valid), **rows.supervision, "privileged": rows.privileged()}
    dtrain, rounds, stopping = rows.student(), arguments.rounds, arguments.early_stopping
    if arguments.constraint:
        constraints = constraints_of(arguments.constraint, rows)
        if keywords:
            weight, per_row = keywords.pop("kl_weight"), keywords.pop("teacher_weight", None)
            teacher = keywords["teacher"] or DEFAULT_TEACHER
            constraints = [(teacher, weight if per_row is None else weight * per_row), *constraints]
        keywords |= {"teacher": constraints, "labelled": rows.labelled}
    return rounds, partial(train, params, dtrain, rounds, early_stopping_rounds=stopping, **keywords)


def _chosen(arguments: argparse.Namespace, params: dict[str, Any], rows: Rows, _: Rows | None, log: Log) -> _Fit:
    """Return the rounds and the training with the kl_weight of a cross-validation."""
    constraints = constraints_of(arguments.constraint, rows)
    selection = choose(
        params,
        rows,
        arguments.rounds,
        seed=arguments.seed,
        method=arguments.method,
        constraints=constraints,
        **{name: value for name, value in vars(arguments).items() if name in _TEACHER_OPTIONS and value is not None},
    )
    log(f"--kl-weight auto: {selection}")
    keywords = {"privileged": rows.privileged(), "constraints": constraints, **rows.supervision}
    return selection.choice["num_boost_round"], partial(selection.train, rows.student(), **keywords)


class _Steps(TrainingCallback):
    """Calls a function after every round."""

    def __init__(self, step: Callable[[], None]) -> None:
        self._step = step

    def after_iteration(self, model: Any, epoch: int, evals_log: Any) -> bool:
        self._step()
        return False


@contextlib.contextmanager
def _monitor(rounds: int, valid: Rows | None, history: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the keywords of ``xgboost.train`` for evaluation, with a progress bar on a terminal."""
    evals = [] if valid is None else [(valid.student(), "valid")]
    with progress_bar(rounds, "rounds", None) as step:
        yield {"evals": evals, "evals_result": history, "verbose_eval": False, "callbacks": [_Steps(step)]}


def _scores(booster: xgboost.Booster, history: dict[str, Any]) -> str:
    best = best_round(booster)
    at = -1 if best is None else best
    scores = [f"{name} {values[at]:.5g}" for name, values in history.get("valid", {}).items()]
    return f"; on --valid: {', '.join(scores)}" if scores else ""


def _teacher_keywords(arguments: argparse.Namespace, valid: Rows | None) -> dict[str, Any]:
    """Return the keywords of ``train`` for the teacher, without its rows."""
    boosted = arguments.teacher in (None, "boosted") and arguments.teacher_sees != "all" and arguments.privileged
    stops = arguments.early_stopping and boosted and arguments.method == "kbpib" and arguments.kl_weight != 0
    evals = None
    if stops and valid is not None:
        if valid.z is not None:
            evals = [(valid.privileged(), "valid")]
        elif not arguments.crossfit:
            raise ValueError(
                f"--early-stopping needs the privileged columns in {arguments.valid} to stop the teacher: add them to "
                "it, or add --crossfit 5"
            )
    return {
        "method": arguments.method,
        "kl_weight": arguments.kl_weight,
        "teacher": arguments.teacher,
        "teacher_sees": arguments.teacher_sees,
        "crossfit": arguments.crossfit,
        "privileged_evals": evals,
    }


def _summary(booster: xgboost.Booster) -> str:
    rounds = booster.num_boosted_rounds()
    best = best_round(booster)
    trained = f"{rounds} rounds" if best is None else f"{rounds} rounds, the best is {best + 1}"
    teachers = [f"{kind} with kl_weight {weight:g}" for kind, weight in recorded_teachers(booster)]
    return f"{trained}; {', '.join([booster.attr('pi_xgb_method') or '', *teachers]) if teachers else 'no teacher'}"
