"""
How much weight for the teacher
===============================

Cross-validation over ``kl_weight``, plain XGBoost (0) among the candidates. Choose the best value, and plain XGBoost
where the intervals overlap.
"""

import xgboost as xgb

import pi_xgb
from pi_xgb import plotting

data = pi_xgb.datasets.make_privileged(400, x_noise=2.0, seed=0)
table = pi_xgb.cv(
    {"objective": "binary:logistic", "max_depth": 3, "eta": 0.1, "nthread": 1},
    xgb.DMatrix(data.x, data.y),
    30,
    privileged=xgb.DMatrix(data.z, data.y),
    teacher="mixed",
    kl_weight=[0.0, 0.5, 1.0, 2.0, 5.0, 10.0],
    nfold=5,
    seed=0,
)
plotting.plot_kl_weight_path(table, nfold=5)
