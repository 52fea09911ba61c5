"""
What fairness costs
===================

A constraint on the group, with a growing price: each point is a model, judged on rows that were kept apart.
"""

import pandas as pd
import xgboost as xgb

import pi_xgb
from pi_xgb import metrics, plotting
from pi_xgb.constraints import GroupParity

data = pi_xgb.datasets.make_privileged(3000, group_gap=1.0, seed=0)
train, test = slice(0, 1500), slice(1500, None)
dtrain, dtest = xgb.DMatrix(data.x[train], data.y[train]), xgb.DMatrix(data.x[test])
params = {"objective": "binary:logistic", "max_depth": 3, "eta": 0.2, "nthread": 1}
rows = []
for kl_weight in (0.0, 1.0, 3.0, 10.0, 30.0):
    # A large price slows learning: more rounds along with it.
    rounds = int(40 * (1 + kl_weight) ** 0.5)
    booster = pi_xgb.train(params, dtrain, rounds, teacher=GroupParity(data.group[train]), kl_weight=kl_weight)
    decisions = booster.predict(dtest) > 0.5
    rows.append(
        {
            "method": "GroupParity",
            "kl_weight": kl_weight,
            "accuracy": (decisions == data.y[test]).mean(),
            "statistical_parity": metrics.statistical_parity(None, decisions, sensitive_features=data.group[test]),
        }
    )
plotting.plot_frontier(pd.DataFrame(rows))
