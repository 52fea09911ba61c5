"""
Is privileged data worth anything?
==================================

The student beside its teacher, plain XGBoost, other models on x, and two controls, on the same held-out rows
(:func:`pi_xgb.compare`). The gain that counts is the one over the best of the other models.
"""

import pi_xgb

data = pi_xgb.datasets.make_privileged(300, x_noise=2.0, seed=0)
comparison = pi_xgb.compare(
    data.x,
    data.y,
    data.z,
    params={"max_depth": 2, "eta": 0.2, "nthread": 1},
    num_boost_round=25,
    teacher="forest",
    kl_weight=2.0,
    crossfit=3,
    nfold=3,
    repeats=2,
    progress=False,
)
print(comparison)
comparison.plot()
