"""Constraints as teachers: q is the student's current predictions, changed to satisfy the constraint.

Pass a constraint as a teacher, alone or with other teachers. The sensitive column is needed for the training rows only:
the model never sees it.

``kl_weight`` is the price of a violation against the labels. The violation shrinks with growing ``kl_weight``, but does
not vanish at a finite one. For ``DemographicParity`` and ``EqualizedOdds`` the best number of rounds of plain XGBoost
suits every ``kl_weight``, if it is forty or more. ``soft=True`` moves every prediction. ``soft=False`` moves only rows
whose decision at p > 1/2 the constraint would change: it needs probabilities of one class, changes less, and does not
reach small gaps. Row weights count, classes are treated one by one, and on several workers the statistics are those of
all rows. See docs/fairness.md.

Examples
--------
>>> import pi_xgb, xgboost as xgb
>>> from pi_xgb.constraints import DemographicParity
>>> data = pi_xgb.datasets.make_privileged(1000, seed=0, group_gap=2.0)
>>> dtrain, sex = xgb.DMatrix(data.x[:500], data.y[:500]), data.group[:500]
>>> dtest, group = xgb.DMatrix(data.x[500:]), data.group[500:]  # rows that were not trained on
>>> def gap(**teaching):
...     params = {"objective": "binary:logistic", "max_depth": 2, "nthread": 1}
...     p = pi_xgb.train(params, dtrain, 30, **teaching).predict(dtest)
...     return abs(p[group == 0].mean() - p[group == 1].mean())
>>> bool(gap(teacher=DemographicParity(sex), kl_weight=10.0) < gap() / 2)
True
"""

from __future__ import annotations

from ._constraints.groups import DemographicParity, EqualizedOdds, FalsePositiveRateParity, TruePositiveRateParity
from ._constraints.merit import Meritocracy
from ._constraints.precision import PredictiveParity
from ._constraints.similarity import IndividualFairness

__all__ = [
    "DemographicParity",
    "EqualizedOdds",
    "FalsePositiveRateParity",
    "IndividualFairness",
    "Meritocracy",
    "PredictiveParity",
    "TruePositiveRateParity",
]
