"""
Which features make the difference between groups
=================================================

Fair importance next to gain: features on the left increase the difference, features on the right reduce it.
"""

import xgboost as xgb

import pi_xgb
from pi_xgb import importance, plotting

data = pi_xgb.datasets.make_privileged(1500, group_gap=1.0, seed=0)
table = data.x.assign(proxy=data.group + 0.3 * data.x["x0"])
params = {"objective": "binary:logistic", "max_depth": 3, "eta": 0.3, "nthread": 1}
booster = xgb.train(params, xgb.DMatrix(table, data.y), 30)
plotting.plot_importance(importance.fair_importance(booster, table, data.y, sensitive_features=data.group))
