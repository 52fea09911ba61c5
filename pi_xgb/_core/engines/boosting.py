"""The call of ``xgboost.train`` with the user's own keywords."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

import xgboost
from xgboost.callback import TrainingCallback

from ..._arrays import Array
from ..._rows.matrix_checks import check_evals
from ..._xgb.rebind import train_in_place_of
from ..losses import Loss


@dataclasses.dataclass(frozen=True)
class Boosting:
    """The rows that are boosted, and the user's keywords of ``xgboost.train`` other than params."""

    dtrain: xgboost.DMatrix
    num_boost_round: int = 10
    evals: Sequence[tuple[xgboost.DMatrix, str]] = ()
    keywords: Mapping[str, Any] = dataclasses.field(default_factory=dict)

    @classmethod
    def of(cls, dtrain: xgboost.DMatrix, num_boost_round: int, keywords: Mapping[str, Any]) -> Boosting:
        """Return the call with these keywords, without an objective."""
        others = {name: value for name, value in keywords.items() if name not in ("evals", "obj")}
        return cls(dtrain, num_boost_round, check_evals(keywords.get("evals") or (), "evals"), others)

    @property
    def xgb_model(self) -> Any:
        """The model that the training continues."""
        return self.keywords.get("xgb_model")

    def run(
        self,
        params: Any,
        matrix: xgboost.DMatrix | None = None,
        callbacks: Sequence[TrainingCallback] = (),
        **changed: Any,
    ) -> xgboost.Booster:
        """Call ``xgboost.train``. A ``matrix`` in place of dtrain uses the cuts of dtrain."""
        stands_in = matrix is not None and matrix is not self.dtrain
        train = train_in_place_of(self.dtrain) if stands_in else xgboost.train
        keywords = {"evals": self.evals, **self.keywords, **changed}
        if callbacks:
            keywords["callbacks"] = [*(self.keywords.get("callbacks") or ()), *callbacks]
        booster: xgboost.Booster = train(
            params, self.dtrain if matrix is None else matrix, self.num_boost_round, **keywords
        )
        return booster


def shown_predictions(metric: Any, loss: Loss) -> Any:
    """Return a user's custom_metric that sees predictions, as with XGBoost's own objective.

    Under a custom objective XGBoost passes margins, but the user of this library gave no objective.
    """
    if metric is None:
        return None

    def on_predictions(margin: Array, matrix: xgboost.DMatrix) -> Any:
        return metric(loss.predict(margin), matrix)

    return on_predictions
