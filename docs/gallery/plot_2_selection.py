"""
What a selection found
======================

All candidates of :func:`pi_xgb.select` with their difference to plain XGBoost on the same folds.
"""

import xgboost as xgb

import pi_xgb

data = pi_xgb.datasets.make_privileged(300, x_noise=2.0, seed=0)
selection = pi_xgb.select(
    {"objective": "binary:logistic", "max_depth": 2, "eta": 0.2, "nthread": 1},
    xgb.DMatrix(data.x, data.y),
    25,
    privileged=xgb.DMatrix(data.z, data.y),
    method=("kbpib", "jpib"),
    teacher=("boosted", "forest", "mixed"),
    repeats=1,
    progress=False,
)
print(selection)
selection.plot()
