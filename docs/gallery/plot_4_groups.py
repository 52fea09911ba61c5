"""
What a model does to groups
===========================

ROC curves, calibration and the distribution of scores, by group, on held-out rows.
"""

import matplotlib.pyplot as plt
import xgboost as xgb

import pi_xgb
from pi_xgb import plotting

data = pi_xgb.datasets.make_privileged(3000, group_gap=1.0, seed=0)
params = {"objective": "binary:logistic", "max_depth": 3, "eta": 0.2, "nthread": 1}
booster = xgb.train(params, xgb.DMatrix(data.x[:1500], data.y[:1500]), 40)
scores = booster.predict(xgb.DMatrix(data.x[1500:]))
group = data.group[1500:].map({0: "majority", 1: "minority"})

figure, axes = plt.subplots(1, 3, figsize=(15, 4.5), layout="constrained")
plotting.plot_roc(data.y[1500:], scores, sensitive_features=group, ax=axes[0])
plotting.plot_calibration(data.y[1500:], scores, sensitive_features=group, ax=axes[1])
plotting.plot_scores(scores, sensitive_features=group, threshold=0.5, ax=axes[2])
