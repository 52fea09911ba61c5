"""The registry of objectives, entry by entry: what each says of itself, and what it lets through."""

from __future__ import annotations

import numpy as np
import pytest

from pi_xgb._core.losses import LOSSES


@pytest.mark.parametrize(
    ("name", "inside", "outside"),
    [
        ("binary:logistic", [0, 1], [-1e-3, 1.001]),
        ("multi:softprob", [0, 1], [-1e-3, 1.001]),
        ("reg:squarederror", [-1e30, 1e30], []),
        ("reg:absoluteerror", [-1e30, 1e30], []),
        ("reg:squaredlogerror", [-1 + 1e-6, 1e30], [-1, -1 + 5e-7]),
        ("survival:aft", [1e-30, 1e30], [0]),
        ("rank:ndcg", [0, 31], [-1e-3]),
        ("rank:pairwise", [-5, 5], []),
        ("count:poisson", [0, 1e30], [-1e-3]),
        ("reg:gamma", [1e-30, 1e30], [0]),
        ("reg:tweedie", [0, 1e30], [-1e-3]),
    ],
)
def test_where_labels_and_q_may_lie(name, inside, outside):
    within = LOSSES[name].range
    assert within.holds(*inside)
    for value in [*outside, np.inf, -np.inf, np.nan]:
        low, high = (inside[0], value) if value > inside[0] else (value, inside[1])
        assert not within.holds(low, high)
        if value in outside and name not in ("multi:softprob", "survival:aft"):
            with pytest.raises(ValueError, match="the labels of dtrain must"):
                LOSSES[name].check_labels(np.array([low, high]), 2)


@pytest.mark.parametrize("alpha", [None, 0.3, "0.3", "[0.3]", [0.3], (0.3,), np.array([0.3])])
def test_one_quantile_can_be_taught(alpha):
    loss = LOSSES["reg:quantileerror"]
    assert loss.with_params({} if alpha is None else {"quantile_alpha": alpha}).obstacle is None


@pytest.mark.parametrize("alpha", ["[0.3, 0.7]", "0.3,0.7", [0.3, 0.7], (0.3, 0.7), np.array([0.3, 0.7])])
def test_several_quantiles_cannot(alpha):
    loss = LOSSES["reg:quantileerror"]
    assert "several quantiles" in loss.with_params({"quantile_alpha": alpha}).obstacle
    assert loss.obstacle is None


def test_gains_and_positions_of_rankings():
    for params, obstacle in (
        ({}, "exponential gain"),
        ({"ndcg_exp_gain": "true"}, "exponential gain"),
        ({"ndcg_exp_gain": 0}, None),
        ({"ndcg_exp_gain": "False", "lambdarank_unbiased": True}, "lambdarank_unbiased"),
        ({"ndcg_exp_gain": False, "lambdarank_unbiased": "0"}, None),
    ):
        for name in ("rank:ndcg", "rank:pairwise"):
            found = LOSSES[name].with_params(params).obstacle or ""
            if name == "rank:pairwise" and obstacle == "exponential gain":
                assert found == ""
            else:
                assert (obstacle or "") in found
                assert bool(found) == bool(obstacle)
