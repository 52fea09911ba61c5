"""
What fairness costs
===================

A constraint between groups with growing ``kl_weight``: accuracy and the remaining gap on held-out rows
(:func:`pi_xgb.frontier`).
"""

import xgboost as xgb

import pi_xgb
from pi_xgb.constraints import DemographicParity

data = pi_xgb.datasets.make_privileged(2000, group_gap=1.0, seed=0)
found = pi_xgb.frontier(
    {"objective": "binary:logistic", "max_depth": 3, "eta": 0.2, "nthread": 1},
    xgb.DMatrix(data.x, data.y),
    40,
    constraint=DemographicParity(data.group),
    kl_weight=[1, 3, 10, 30],
    nfold=3,
    n_boot=200,
    progress=False,
)
print(found.table[["accuracy", "statistical_parity", "cost"]].round(3))
found.plot()
