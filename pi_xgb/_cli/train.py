r"""``pi-xgb train``: train a model on the rows of a file.

example, with lab and score known for the training rows only:
  pi-xgb train patients.csv --label ill --privileged lab,score --kl-weight 1 --crossfit 5 --out model.ubj
results ranked within each search, with the time that users spent on them known for the past only:
  pi-xgb train shown.csv --label relevance --query search --objective rank:ndcg --params ndcg_exp_gain=false \
      --privileged seconds --crossfit 5 --out model.ubj
readmissions within 180 days, with the rows of the last 180 days without a label:
  pi-xgb train stays.csv --label readmitted --observed-at left --outcome-at returned --horizon 180D \
      --as-of 2024-12-31 --privileged lab --teacher mixed --unlabelled teach --out model.ubj
times until an event, with an empty upper bound if the event is unknown:
  pi-xgb train parts.csv --lower-bound hours --upper-bound end --objective survival:aft --privileged wear \
      --out model.ubj

Without --objective two labels mean binary:logistic, more text labels multi:softprob, numbers with a fraction
reg:squarederror; several whole numbers need it. --unlabelled teach lets the teacher alone supervise rows with an empty
label. --constraint asks for equal treatment of groups, with a weight: parity (equal scores), odds (among rows of each
label), tpr or fpr (among rows of label 1 or 0) or precision; the model does not see the column, and pi-xgb frontier
measures the cost.

The model is an XGBoost file. It holds the names of features and classes, but no name or value of the privileged
columns. Text becomes categories. An empty field is missing. NA, ?, - and the like are missing in columns of numbers or
booleans, with a note, and text in columns of text. A column with a few texts among many numbers is an error that names
the first text.
"""

from __future__ import annotations

import argparse
from typing import Any

import xgboost

from .._core.keywords import Keywords
from .._core.losses import LOSSES
from .._core.teachers import default_kl_weight
from .._core.train import lines_about, train_by
from .._core.training import Boosting
from .._xgb.booster import best_round
from .model import new_model_file, write_model
from .options import SINGLE
from .output import same_file
from .rows import Rows, constraints_of, read_training, read_validation, set_aside
from .table import Log, Source


def run(arguments: argparse.Namespace, log: Log) -> None:
    """Train, then write the model."""
    path, share, source = new_model_file(arguments), None, None
    if arguments.valid and (share := _share(arguments.valid)) is None:
        source = Source(arguments.valid, arguments.missing, log)
        if same_file(arguments.valid, arguments.data):
            log("note: --valid names the training file, which says nothing of new rows: name another, or a share")
    training = read_training(arguments, log)
    rows, params, valid = training.rows, training.params, None
    if source is not None:
        valid = read_validation(source, training, log)
    elif share is not None:
        rows, valid = set_aside(rows, share, arguments.seed)
    if valid is not None and params["objective"] in LOSSES:  # XGBoost lacks a default metric for binary:logitraw
        params.setdefault("eval_metric", LOSSES[params["objective"]].with_params(params).default_metric)
    history: dict[str, Any] = {}
    keywords = _teacher_keywords(arguments, params, rows, valid)
    evals = [] if valid is None else [(valid.student(), "valid")]
    own = {"evals_result": history, "early_stopping_rounds": arguments.early_stopping, "verbose_eval": False}
    boosting = Boosting(rows.student(), arguments.rounds, evals, own)
    booster, guides = train_by(Keywords.of(keywords), params, boosting, "auto")
    write_model(path, booster, training, arguments)
    log(f"{path}: {_summary(booster, history.get('valid', {}))}")
    for line in lines_about(guides):
        log(line)


def _share(text: str) -> float | None:
    """Return the share of --valid, or None if it names a file."""
    try:
        share = float(text)
    except ValueError:
        return None
    if not 0 < share < 1:
        raise ValueError(f"--valid must be a file, or a share of the rows between 0 and 1, got {text!r}")
    return share


def _teacher_keywords(
    arguments: argparse.Namespace, params: dict[str, Any], rows: Rows, valid: Rows | None
) -> dict[str, Any]:
    """Return the keywords of ``train`` for the teacher and the constraints."""
    keywords: dict[str, Any] = {name: value[0] for name in SINGLE if (value := getattr(arguments, name))}
    keywords |= {**rows.supervision, "privileged": rows.privileged()}
    stops = Keywords.of(keywords).can_stop_early and arguments.teacher == ["boosted"] and arguments.privileged
    if stops and arguments.early_stopping and valid is not None:
        if valid.z is not None:
            keywords["privileged_evals"] = [(valid.privileged(), "valid")]
        elif not keywords.get("crossfit"):
            raise ValueError(f"--early-stopping needs the privileged columns in {arguments.valid}, or add --crossfit 5")
    if arguments.constraint:
        constraints: list[tuple[Any, Any]] = list(constraints_of(arguments.constraint, rows))
        if arguments.privileged or arguments.teacher:
            teacher = Keywords.of(keywords).naming_teacher(params["objective"]).teacher
            weight = keywords.pop("kl_weight", default_kl_weight(teacher)) * keywords.pop("teacher_weight", 1)
            constraints = [(teacher, weight), *constraints]
        keywords["teacher"] = constraints
    return keywords


def _summary(booster: xgboost.Booster, history: dict[str, list[float]]) -> str:
    rounds, best = booster.num_boosted_rounds(), best_round(booster)
    trained = f"{rounds} rounds" if best is None else f"{rounds} rounds, the best is {best + 1}"
    method, teachers, weights = (booster.attr(f"pi_xgb_{name}") for name in ("method", "teacher", "kl_weight"))
    guided = f"{method}, {teachers} with kl_weight {weights}" if teachers else "no teacher"
    scores = [f"{name} {values[-1 if best is None else best]:.5g}" for name, values in history.items()]
    return f"{trained}; {guided}" + (f"; on --valid: {', '.join(scores)}" if scores else "")
