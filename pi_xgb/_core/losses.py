"""The registry of the objectives that a teacher can guide."""

from __future__ import annotations

import difflib
from typing import Any

from .blended import Gamma, Logistic, LogitRaw, Poisson, Softmax, SquaredError, Tweedie
from .copied import AFT, NDCG, AbsoluteError, PseudoHuber, QuantileError, Ranking, SquaredLogError
from .loss import KINDS, Loss

LOSSES: dict[str, Loss] = {
    "binary:logistic": Logistic("binary:logistic", "logloss"),
    "binary:logitraw": LogitRaw(),
    "reg:logistic": Logistic("reg:logistic", "rmse"),
    "multi:softprob": Softmax(predicts_class=False),
    "multi:softmax": Softmax(predicts_class=True),
    "reg:squarederror": SquaredError(),
    "reg:absoluteerror": AbsoluteError(),
    "reg:pseudohubererror": PseudoHuber(),
    "reg:quantileerror": QuantileError(),
    "reg:squaredlogerror": SquaredLogError(),
    "survival:aft": AFT(),
    "rank:ndcg": NDCG(),
    "rank:pairwise": Ranking(),
    "count:poisson": Poisson(),
    "reg:gamma": Gamma(),
    "reg:tweedie": Tweedie(),
}
"""Under the names that XGBoost has for them, with the default values of their params."""


OF_TARGETS = tuple(name for name, loss in LOSSES.items() if loss.takes_targets)
"""Those of which several columns of labels can be guided."""

NOT_GUIDED = {
    "binary:hinge": "has no mean that a teacher could name, only a side of the margin: binary:logistic has one",
    "reg:linear": "is the former name of reg:squarederror",
    "reg:expectileerror": "has several margins that are added up, and a gradient that is not linear in the label",
    "survival:cox": "is no sum over rows: a row as the teacher has it would join the risk sets of all others; "
    "survival:aft is one",
    "rank:map": "knows relevance as yes or no, and a teacher says more or less: rank:ndcg and rank:pairwise take it",
}
"""What XGBoost has besides, some of it in later versions, and why no teacher guides it."""


def loss_named(objective: Any) -> Loss:
    """The loss of an objective, or an error that lists those that a teacher can guide, by kind.

    It has the default params: :meth:`Loss.of` gives it others.
    """
    if objective not in LOSSES:
        raise ValueError(
            f"a teacher can guide the objectives {objectives_by_kind()}; got {objective!r}{_why_not(objective)}. "
            "Change params['objective'], or train without a teacher"
        )
    return LOSSES[objective]


def _why_not(objective: Any) -> str:
    if objective in NOT_GUIDED:
        return f", which {NOT_GUIDED[objective]}"
    close = difflib.get_close_matches(str(objective), LOSSES, cutoff=0.8)
    return f" (did you mean {close[0]!r}?)" if close else ""


def check_labels_alone(objective: Any, ranker: str) -> None:
    """Raise where rows need more than the y of an estimator; ``ranker`` is the one that has queries."""
    loss = LOSSES.get(objective)
    if loss is not None and loss.by_query:
        raise ValueError(f"{objective} needs queries, within which rows are ranked: use {ranker}")
    if loss is not None and loss.label_fields != ("label",):
        raise ValueError(
            f"{objective} needs two bounds per row in the place of y, for which estimators, XGBoost's own among them, "
            f"have no argument: use pi_xgb.train (on Dask pi_xgb.dask.train), {' and '.join(loss.label_fields)} given "
            "to the matrices"
        )


def loss_with_gradient(objective: Any) -> Loss:
    """The same for an objective in Python, which has only a gradient to teach by."""
    loss = loss_named(objective)
    if "callback" not in loss.engines:
        raise ValueError(
            f"an objective in Python can guide the objectives {objectives_by_kind('callback')}; {objective} is taught "
            "by copies of the rows: use pi_xgb.train, which makes them"
        )
    return loss


def objectives_by_kind(engine: str = "") -> str:
    """Those that a teacher can guide (by this engine), for a message."""
    named = {
        kind: [name for name, loss in LOSSES.items() if loss.kind == kind and engine in ("", *loss.engines)]
        for kind in KINDS
    }
    return "; ".join(f"{', '.join(names)} ({KINDS[kind]})" for kind, names in named.items() if names)
