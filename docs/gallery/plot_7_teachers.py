"""
Which teacher
=============

What each kind of teacher adds to plain XGBoost on held-out rows, against the number of labels: 1,000 training rows,
means of five draws of generated data. All teachers see all features, except one mixture without the
privileged ones (z).
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import xgboost as xgb
from sklearn.metrics import roc_auc_score

import pi_xgb

BUDGETS = [40, 80, 160, 320]
KINDS = {kind: {"teacher": kind} for kind in ("boosted", "forest", "linear", "mixed")} | {"mixed, without z": {}}
PARAMS = {"objective": "binary:logistic", "max_depth": 3, "eta": 0.1, "nthread": 1}

gains = []
for seed in range(5):
    data = pi_xgb.datasets.make_privileged(3000, x_noise=2.0, strength=4.0, seed=seed)
    dtrain, privileged = xgb.DMatrix(data.x[:1000], data.y[:1000]), xgb.DMatrix(data.z[:1000], data.y[:1000])
    test, truth = xgb.DMatrix(data.x[1000:]), data.y[1000:]
    for n_labels in BUDGETS:
        labelled = np.arange(1000) < n_labels
        plain = xgb.train(PARAMS, dtrain.slice(np.flatnonzero(labelled)), 60)
        least = roc_auc_score(truth, plain.predict(test))
        for name, who in KINDS.items():
            seen = {"privileged": privileged, "teacher_sees": "all"} if who else {"teacher": "mixed"}
            student = pi_xgb.train(PARAMS, dtrain, 60, labelled=labelled, kl_weight=5.0, **seen, **who)
            gains.append((name, n_labels, roc_auc_score(truth, student.predict(test)) - least))

table = pd.DataFrame(gains, columns=["teacher", "labels", "gain"]).groupby(["labels", "teacher"], sort=False).mean()
curves = table["gain"].unstack()
print(curves.round(3).to_string())
axes = curves.plot(marker="o", logx=True, xlabel="labelled rows of 1,000", ylabel="gain in AUC over plain XGBoost")
axes.set_xticks(BUDGETS, [str(n_labels) for n_labels in BUDGETS])
axes.minorticks_off()
axes.axhline(0, color="grey", linewidth=0.8)
plt.tight_layout()
