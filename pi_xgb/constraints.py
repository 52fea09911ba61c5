"""Constraints as teachers: q is what the constraint would have the student's current predictions be.

Use one wherever a teacher is taken, alone, with others, or beside a privileged teacher. The sensitive column is needed
for the training rows only: the model never sees it.

``kl_weight`` is the price of a violation against the labels: it shrinks with growing ``kl_weight`` and does not vanish
at a finite one. For ``DemographicParity`` and ``EqualizedOdds`` the number of rounds that plain XGBoost wants is a good
number at every ``kl_weight``, from some forty rounds on. ``soft=True`` pulls every prediction, ``soft=False`` only the
rows whose decision at p > 1/2 the constraint would change: it needs probabilities of one class, changes less, and does
not get to small gaps. Row weights count, classes are taken one by one, and among workers the statistics are those of
all rows. docs/constraints.md tells all of this at length.

Examples
--------
>>> import pi_xgb, xgboost as xgb
>>> from pi_xgb.constraints import DemographicParity
>>> data = pi_xgb.datasets.make_privileged(1000, seed=0, group_gap=2.0)
>>> dtrain, sex = xgb.DMatrix(data.x[:500], data.y[:500]), data.group[:500]
>>> dtest, group = xgb.DMatrix(data.x[500:]), data.group[500:]  # not those that it was trained on
>>> def gap(**teaching):
...     params = {"objective": "binary:logistic", "max_depth": 2, "nthread": 1}
...     p = pi_xgb.train(params, dtrain, 30, **teaching).predict(dtest)
...     return abs(p[group == 0].mean() - p[group == 1].mean())
>>> bool(gap(teacher=DemographicParity(sex), kl_weight=10.0) < gap() / 2)
True
"""

from __future__ import annotations

from ._constraints.groups import DemographicParity, EqualizedOdds
from ._constraints.merit import Meritocracy
from ._constraints.precision import PredictiveParity
from ._constraints.similarity import IndividualFairness

__all__ = ["DemographicParity", "EqualizedOdds", "IndividualFairness", "Meritocracy", "PredictiveParity"]
