"""``pi-xgb train``: from a file of rows to a model file."""

from __future__ import annotations

import argparse
import contextlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import xgboost
from xgboost.callback import TrainingCallback

from .._core.config import DEFAULT_METHOD, METHODS, SEES, TeacherConfig
from .._core.losses import LOSSES
from .._core.spec import Spec
from .._core.teachers import DEFAULT_KL_WEIGHT
from .._core.train import train
from .._selection.progress import progress_bar
from .._xgb.booster import best_round
from .features import categories_of
from .model import new_model_file, write_model
from .options import add_constraint, add_training, at_least, check_predicted, new_command, params_of, weight_or_auto
from .output import add_out
from .rows import Rows, Say, columns_of, constraints_of, read_training, read_validation, set_aside
from .source import Source
from .tune import choose

EXAMPLE = """example, with lab and score known for the training rows only:
  pi-xgb train patients.csv --label ill --privileged lab,score --kl-weight 1 --crossfit 5 --out model.ubj
results ranked within each search, in any order of rows, with the time that users spent on them for the past only:
  pi-xgb train shown.csv --label relevance --query search --objective rank:ndcg --params ndcg_exp_gain=false \\
      --privileged seconds --crossfit 5 --out model.ubj
times until an event, the upper bound empty where nobody saw it:
  pi-xgb train parts.csv --lower-bound hours --upper-bound end --objective survival:aft --privileged wear \\
      --out model.ubj

The model is a plain file of XGBoost. It holds the classifier features and the names of the classes, and neither a
name nor a value of the privileged columns. Text becomes categories. An empty field is missing; in a column of numbers
or truth values NA, NaN, null, None and the like are too, and in a column of text they are text."""


def add(commands: Any) -> None:
    """The command and its options."""
    command = new_command(commands, "train", "train a model, with or without privileged columns", EXAMPLE)
    add_training(command)
    add_constraint(command)
    add_out(command, required=True, metavar="MODEL", help="the model to write, .ubj or .json")
    command.add_argument(
        "--method", choices=METHODS, default=DEFAULT_METHOD, help="how the teacher teaches (default: %(default)s)"
    )
    command.add_argument(
        "--kl-weight",
        type=weight_or_auto,
        default=DEFAULT_KL_WEIGHT,
        metavar="NUMBER",
        help="how much the teacher counts against 1 for the labels, 0 for plain XGBoost, or auto for a choice by "
        "cross-validation (default: %(default)s)",
    )
    command.add_argument(
        "--teacher",
        choices=SEES,
        default="privileged",
        help="what the teacher sees: the privileged columns alone, or all (default: %(default)s)",
    )
    command.add_argument(
        "--crossfit",
        type=at_least(0),
        default=0,
        metavar="FOLDS",
        help="judge every row by a teacher that did not see it",
    )
    command.add_argument("--valid", metavar="FILE|SHARE", help="rows to watch: a file, or a share of DATA such as 0.2")
    command.add_argument(
        "--early-stopping", type=at_least(1), metavar="ROUNDS", help="stop after so many rounds without gain on --valid"
    )
    command.set_defaults(run=run)


def run(arguments: argparse.Namespace, say: Say) -> None:
    """Train, then write the model."""
    path = new_model_file(arguments)
    params = params_of(arguments)
    check_predicted(arguments, params["objective"])
    source = Source(arguments.data)
    columns = columns_of(source, arguments)
    share = _share(arguments.valid) if arguments.valid else None
    valid_source = Source(arguments.valid) if arguments.valid and share is None else None
    rows, target = read_training(source, columns, params["objective"], say)
    valid = None
    if valid_source is not None:
        valid = read_validation(valid_source, columns, rows, target, say)
    elif share is not None:
        rows, valid = set_aside(rows, share, arguments.seed)
    params = {**params, **target.params}
    if valid is not None and target.objective in LOSSES:  # XGBoost's own but for binary:logitraw, where it has none
        params.setdefault("eval_metric", LOSSES[target.objective].of(params).default_metric)
    booster, told = _train(arguments, params, rows, valid, say)
    write_model(path, booster, target.classes, categories_of(rows.x), arguments)
    say(f"{path}: {_summary(booster)}{told}")


def _share(text: str) -> float | None:
    """The share that --valid names, or None where it names a file."""
    try:
        share = float(text)
    except ValueError:
        return None
    if Path(text).exists():
        return None
    if not 0 < share < 1:
        raise ValueError(f"--valid must be a file, or a share of the rows between 0 and 1, got {text!r}")
    return share


def _train(
    arguments: argparse.Namespace, params: dict[str, Any], rows: Rows, valid: Rows | None, say: Say
) -> tuple[xgboost.Booster, str]:
    """The booster, and what there is to tell about it."""
    taught: dict[str, Any] = {}
    if arguments.kl_weight == "auto":
        return _chosen(arguments, params, rows, valid, say)
    if arguments.privileged:
        taught = {**_teaching(arguments, valid), **rows.supervision}
        taught["privileged"] = rows.teacher(sees_all=arguments.teacher == "all")
    history: dict[str, Any] = {}
    dtrain, stopping = rows.student(), arguments.early_stopping
    if arguments.constraint:
        spec = Spec.read(params)
        if "copies" in spec.loss.engines:
            check_copies(spec, dtrain, teaches=True, is_adaptive=True)
        teachers = TeacherConfig(**taught).taught(spec, dtrain, arguments.rounds, stopping)
        taught = {"teacher": teachers + constraints_of(arguments.constraint, rows), "labelled": rows.labelled}
    with _watching(arguments.rounds, valid, history) as watching:
        booster = train(params, dtrain, arguments.rounds, early_stopping_rounds=stopping, **taught, **watching)
    return booster, _told(booster, history)


def _chosen(
    arguments: argparse.Namespace, params: dict[str, Any], rows: Rows, valid: Rows | None, say: Say
) -> tuple[xgboost.Booster, str]:
    """The booster with a kl_weight, and rounds, chosen by cross-validation."""
    crossfit = arguments.crossfit or (5 if arguments.teacher == "all" else 0)
    constraints = constraints_of(arguments.constraint, rows)
    taught = {
        "method": arguments.method,
        "teacher": arguments.teacher,
        "crossfit": crossfit,
        "constraints": constraints,
    }
    selection = choose(params, rows, arguments.rounds, seed=arguments.seed, **taught)
    say(f"--kl-weight auto: {selection}")
    history: dict[str, Any] = {}
    rounds = selection.choice["num_boost_round"]
    with _watching(rounds, valid, history) as watching:
        privileged = rows.teacher(sees_all=False)
        supervision = {**rows.supervision, "constraints": constraints}
        booster = selection.train(rows.student(), privileged=privileged, **supervision, **watching)
    return booster, _told(booster, history)


class _Steps(TrainingCallback):
    """Counts the rounds, and changes nothing."""

    def __init__(self, step: Callable[[], None]) -> None:
        self._step = step

    def after_iteration(self, model: Any, epoch: int, evals_log: Any) -> bool:
        self._step()
        return False


@contextlib.contextmanager
def _watching(rounds: int, valid: Rows | None, history: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The keywords of ``xgboost.train`` that look on, with a bar for who watches a terminal."""
    evals = [] if valid is None else [(valid.student(), "valid")]
    with progress_bar(rounds, "rounds", None) as step:
        yield {"evals": evals, "evals_result": history, "verbose_eval": False, "callbacks": [_Steps(step)]}


def _told(booster: xgboost.Booster, history: dict[str, Any]) -> str:
    best = best_round(booster)
    at = -1 if best is None else best
    scores = [f"{name} {values[at]:.5g}" for name, values in history.get("valid", {}).items()]
    return f"; on --valid: {', '.join(scores)}" if scores else ""


def _teaching(arguments: argparse.Namespace, valid: Rows | None) -> dict[str, Any]:
    """The teaching keywords of ``train``, without the privileged rows."""
    sees_all = arguments.teacher == "all"
    stops = arguments.early_stopping and method_named(arguments.method).learns_first and arguments.kl_weight != 0
    evals = None
    if stops and valid is not None:
        if valid.z is not None:
            evals = [(valid.teacher(sees_all=sees_all), "valid")]
        elif not arguments.crossfit:
            raise ValueError(
                f"--early-stopping stops the student on {arguments.valid}, which lacks the privileged columns that "
                "would stop the teacher: add them to it, or add --crossfit 5, which does without"
            )
    return {
        "method": arguments.method,
        "kl_weight": arguments.kl_weight,
        "crossfit": arguments.crossfit,
        "privileged_evals": evals,
        "allow_overlap": sees_all,
    }


def _summary(booster: xgboost.Booster) -> str:
    rounds = booster.num_boosted_rounds()
    best = best_round(booster)
    trained = f"{rounds} rounds" if best is None else f"{rounds} rounds, the best is {best + 1}"
    weights = booster.attr("pi_xgb_kl_weight")
    if weights is None:
        return f"{trained}; no teacher"
    told = ", ".join(f"{float(weight):g}" for weight in weights.split(","))
    return f"{trained}; {booster.attr('pi_xgb_method')} with kl_weight {told}"
