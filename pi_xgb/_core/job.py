"""A training as one value: its task, teachers, rows and keywords of XGBoost."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

import xgboost
from xgboost.callback import TrainingCallback

from .._arrays import Array
from .._xgb.rebind import train_in_place_of
from .checks import check_evals
from .losses import Loss
from .spec import Spec
from .supervision import Supervision
from .task import Task

Evals = Sequence[tuple[xgboost.DMatrix, str]]


@dataclasses.dataclass(frozen=True)
class Boosting:
    """The user's keywords of ``xgboost.train``, but for params and matrix."""

    num_boost_round: int = 10
    evals: Evals = ()
    callbacks: Sequence[TrainingCallback] | None = None
    xgb_model: Any = None
    early_stopping_rounds: int | None = None
    maximize: bool | None = None
    custom_metric: Any = None
    keywords: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    """All others, passed on unread."""

    @classmethod
    def from_keywords(cls, num_boost_round: int, keywords: Mapping[str, Any]) -> Boosting:
        """Return the keywords of a call of ``xgboost.train``, without its objective."""
        known = {field.name for field in dataclasses.fields(cls)} - {"num_boost_round", "keywords"}
        own = {name: value for name, value in keywords.items() if name in known}
        others = {name: value for name, value in keywords.items() if name not in known and name != "obj"}
        own["evals"] = check_evals(own.get("evals") or (), "evals")
        return cls(num_boost_round, keywords=others, **own)

    def run(
        self,
        params: Any,
        dtrain: xgboost.DMatrix,
        *,
        stands_for: xgboost.DMatrix | None = None,
        callbacks: Sequence[TrainingCallback] = (),
        **changed: Any,
    ) -> xgboost.Booster:
        """Call ``xgboost.train``. A ``dtrain`` that ``stands_for`` another matrix uses the cuts of that matrix."""
        train = xgboost.train if stands_for is None else train_in_place_of(stands_for)
        own = {
            "evals": self.evals,
            "xgb_model": self.xgb_model,
            "early_stopping_rounds": self.early_stopping_rounds,
            "maximize": self.maximize,
            "custom_metric": self.custom_metric,
            "callbacks": [*(self.callbacks or ()), *callbacks] if callbacks else self.callbacks,
        }
        booster: xgboost.Booster = train(params, dtrain, self.num_boost_round, **{**own, **self.keywords, **changed})
        return booster


@dataclasses.dataclass(frozen=True, kw_only=True)
class Plan:
    """A training before its teachers are trained, to choose an engine."""

    spec: Spec
    supervision: Supervision
    is_uniform: bool = True
    """Whether label and teacher weights are the same in all rows of all workers."""
    dtrain: xgboost.DMatrix | None = None
    """None on the driver of a cluster, where each worker checks its own rows."""
    boosting: Boosting = dataclasses.field(default_factory=Boosting)


@dataclasses.dataclass(frozen=True, kw_only=True)
class Job:
    """A training that an engine carries out."""

    task: Task
    supervision: Supervision
    """With teachers that are trained, or grow with the student."""
    dtrain: xgboost.DMatrix
    boosting: Boosting


def shown_predictions(metric: Any, loss: Loss) -> Any:
    """Return a user's custom_metric that sees predictions, as with XGBoost's own objective.

    Under a custom objective XGBoost passes margins, but the user of this library gave no objective.
    """
    if metric is None:
        return None

    def on_predictions(margin: Array, matrix: xgboost.DMatrix) -> Any:
        return metric(loss.predict(margin), matrix)

    return on_predictions
