"""The labels that each objective takes: those inside its domain train, those outside are named."""

from __future__ import annotations

import numpy as np
import pytest
import xgboost as xgb

import pi_xgb

X = np.arange(24.0).reshape(12, 2)
MORE = {
    "multi:softprob": {"num_class": 2},
    "reg:quantileerror": {"quantile_alpha": 0.3},
    "rank:ndcg": {"ndcg_exp_gain": False},
}
# The least and the greatest label inside, and labels outside.
DOMAINS = {
    "binary:logistic": ([0, 1], [-1e-3, 1.001]),
    "multi:softprob": ([0, 1], [-1, 2]),
    "reg:squarederror": ([-1e15, 1e15], []),
    "reg:absoluteerror": ([-1e15, 1e15], []),
    "reg:quantileerror": ([-1e15, 1e15], []),
    "reg:squaredlogerror": ([-0.9, 1e9], [-1]),
    "rank:ndcg": ([0, 31], [-1e-3]),
    "count:poisson": ([0, 1e6], [-1e-3]),
    "reg:gamma": ([1e-3, 1e6], [0]),
    "reg:tweedie": ([0, 1e6], [-1e-3]),
}


@pytest.mark.parametrize("objective", DOMAINS)
def test_labels_outside_the_domain_of_the_objective_raise(objective):
    inside, outside = DOMAINS[objective]

    def train(*labels):
        query = {"qid": np.repeat([0, 1], 6)} if objective.startswith("rank") else {}
        matrices = [xgb.DMatrix(part, np.resize(labels, 12), **query) for part in (X, X[::-1])]
        params = {"objective": objective, "nthread": 1, **MORE.get(objective, {})}
        pi_xgb.train(params, matrices[0], 1, privileged=matrices[1], teacher="boosted", allow_overlap=True)

    train(*inside)
    for label in outside:
        with pytest.raises(ValueError, match="label"):
            train(inside[0], label, inside[1])
