"""What a constraint costs on rows held out: against folds trained by hand, fresh data, and words for bad input."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import xgboost as xgb

import pi_xgb
from pi_xgb import metrics
from pi_xgb.constraints import EqualizedOdds, GroupParity, Meritocracy, PrecisionParity

PARAMS = {"objective": "binary:logistic", "max_depth": 3, "eta": 0.2, "nthread": 1}


def made(n=1200, seed=0):
    """Rows whose second feature stands in for the group, on which y depends as well."""
    rng = np.random.default_rng(seed)
    group = rng.integers(0, 2, n)
    x = np.column_stack([rng.normal(size=n), group + rng.normal(0, 0.4, n), rng.normal(size=n)])
    y = (rng.random(n) < 1 / (1 + np.exp(-(2 * x[:, 0] + 1.5 * group - 1)))).astype(np.int64)
    return pd.DataFrame(x, columns=["a", "b", "c"]), y, np.where(group == 1, "f", "m")


def found(constraint=GroupParity, n=1200, **keywords):
    x, y, sex = made(n)
    told = {"kl_weight": [3, 30], "nfold": 3, "n_boot": 200, **keywords}
    return pi_xgb.frontier(PARAMS, xgb.DMatrix(x, y), 30, constraint=constraint(sex), **told)


def held_out_scores(kl_weight, folds, n=1200):
    """The scores of the folds, each trained by hand."""
    (x, y, sex), scores = made(n), np.empty(n, np.float32)
    for rest, out in folds:
        dtrain = xgb.DMatrix(x.iloc[rest], y[rest])
        taught = {"teacher": GroupParity(sex[rest]), "kl_weight": kl_weight} if kl_weight else {}
        scores[out] = pi_xgb.train(PARAMS, dtrain, 30, **taught).predict(xgb.DMatrix(x.iloc[out]))
    return scores


def test_the_table_is_that_of_folds_trained_by_hand():
    order = np.random.default_rng(1).permutation(1200)
    folds = [(np.setdiff1d(order, part), np.sort(part)) for part in np.array_split(order, 4)]
    frontier = found(folds=folds)
    _, y, sex = made()
    plain = held_out_scores(0.0, folds) > 0.5
    assert frontier.table.index.tolist() == [0.0, 3.0, 30.0]
    for kl_weight, row in frontier.table.iterrows():
        decided = held_out_scores(kl_weight, folds) > 0.5
        assert row["accuracy"] == pytest.approx((decided == y).mean())
        assert row["cost"] == pytest.approx((plain == y).mean() - (decided == y).mean())
        gap = metrics.statistical_parity(y, decided, sensitive_features=sex)
        assert row["statistical_parity"] == pytest.approx(gap)
        # The paired interval of the cost, written out.
        loss = (plain == y).astype(float) - (decided == y)
        half = 1.959964 * loss.std() / np.sqrt(1200)
        assert row["cost_high"] - row["cost"] == pytest.approx(half, rel=1e-5)
        assert row["cost"] - row["cost_low"] == pytest.approx(half, rel=1e-5)


@pytest.mark.parametrize("constraint", [GroupParity, EqualizedOdds, PrecisionParity])
def test_each_constraint_has_its_gap(constraint):
    frontier = found(constraint)
    assert frontier.gap == constraint.gap
    plain, strong = frontier.table[frontier.gap].iloc[[0, -1]]
    assert strong < plain
    for name in ("accuracy", "cost", frontier.gap):
        assert (frontier.table[f"{name}_low"] <= frontier.table[name]).all()
        assert (frontier.table[name] <= frontier.table[f"{name}_high"]).all()


def test_precision_is_that_of_the_metrics():
    x, y, sex = made()
    dtrain, rows = xgb.DMatrix(x, y), np.arange(1200)
    folds = [(rows[rows % 2 == 1], rows[rows % 2 == 0]), (rows[rows % 2 == 0], rows[rows % 2 == 1])]
    frontier = pi_xgb.frontier(
        PARAMS, dtrain, 30, constraint=PrecisionParity(sex), kl_weight=1.0, folds=folds, n_boot=0
    )
    decided = held_out_scores(0.0, folds) > 0.5
    by_group = [metrics.precision(y[sex == name], decided[sex == name]) for name in ("f", "m")]
    assert frontier.table["predictive_parity"].iloc[0] == pytest.approx(abs(by_group[0] - by_group[1]))


def test_wanted_gaps_are_closed_in_on():
    frontier = found(gap=[0.12, 0.999, 0.0])
    weights = frontier.table.index
    # Two further weights within the step of the grid where the gap falls to .12; none for what plain XGBoost has.
    assert len(weights) == 5
    assert frontier.choices.index.tolist() == [0.12, 0.999, 0.0]
    chosen = frontier.choices.loc[0.12]
    reached = frontier.table.index[frontier.table["statistical_parity"] <= 0.12]
    assert chosen["kl_weight"] == reached[0]
    assert chosen["accuracy"] == frontier.at(0.12)["accuracy"]
    assert frontier.choices.loc[0.999, "kl_weight"] == 0
    assert frontier.choices.loc[0.0].isna().all()
    assert "statistical_parity of at most 0.12: kl_weight" in str(frontier)
    assert "at most 0: not reached" in str(frontier)
    with pytest.raises(ValueError, match=r"no kl_weight reached a statistical_parity of 0 .*smallest is"):
        frontier.at(0)


def test_the_model_of_a_gap_is_that_of_train_and_holds_on_fresh_rows():
    frontier = found(gap=0.12, n=3000)
    x, y, sex = made(3000)
    dtrain = xgb.DMatrix(x, y)
    booster = frontier.train(dtrain, GroupParity(sex), gap=0.12, verbose_eval=False)
    weight = float(frontier.at(0.12).name)
    by_hand = pi_xgb.train(PARAMS, dtrain, 30, teacher=GroupParity(sex), kl_weight=weight)
    assert booster.save_raw("json") == by_hand.save_raw("json")
    plain = frontier.train(dtrain, GroupParity(sex), gap=1.0)
    assert plain.save_raw("json") == xgb.train(PARAMS, dtrain, 30).save_raw("json")
    # On rows that nobody has seen the numbers are within the intervals, made wider by their own error.
    x, y, sex = made(20000, seed=7)
    decided = booster.predict(xgb.DMatrix(x)) > 0.5
    row, slack = frontier.at(0.12), 0.01
    assert row["accuracy_low"] - slack < (decided == y).mean() < row["accuracy_high"] + slack
    gap = metrics.statistical_parity(y, decided, sensitive_features=sex)
    assert row["statistical_parity_low"] - slack < gap < row["statistical_parity_high"] + slack


def test_weights_threads_and_groups_of_rows():
    x, y, sex = made(600)
    weight, patients = np.random.default_rng(0).integers(1, 3, 600).astype(float), np.arange(600) // 2
    keywords = {"constraint": GroupParity(sex), "kl_weight": 5, "nfold": 3, "n_boot": 0, "groups": patients}
    weighted = xgb.DMatrix(x, y, weight=weight)
    one, other = (pi_xgb.frontier(PARAMS, weighted, 10, n_jobs=jobs, **keywords).table for jobs in (1, 3))
    pd.testing.assert_frame_equal(one, other)
    assert one["statistical_parity_low"].isna().all()
    unweighted = pi_xgb.frontier(PARAMS, xgb.DMatrix(x, y), 10, **keywords).table
    assert (one["accuracy"] != unweighted["accuracy"]).all()


def test_it_draws_itself():
    pytest.importorskip("matplotlib")
    from matplotlib.figure import Figure

    frontier = found()
    ax = frontier.plot(Figure().subplots())
    assert len(ax.lines) >= 1
    assert "parity" in ax.get_xlabel()


X, Y, SEX = made(200)
DTRAIN, PARITY = xgb.DMatrix(X, Y), GroupParity(SEX)


@pytest.mark.parametrize(
    ("keywords", "error", "words"),
    [
        ({"gap": 1.2}, ValueError, "gap must be numbers between 0 and 1, .*got 1.2: five percentage points are 0.05"),
        ({"gap": [0.1, -0.1]}, ValueError, "between 0 and 1, .*got -0.1"),
        ({"gap": "0.1"}, ValueError, "got '0.1'"),
        ({"gap": np.nan}, ValueError, "got nan"),
        ({"gap": True}, ValueError, "got True"),
        ({"kl_weight": 0}, ValueError, "no value above 0: plain XGBoost is always there"),
        ({"kl_weight": [1, -1]}, ValueError, "kl_weight"),
        ({"constraint": GroupParity("sex")}, TypeError, "names a column, which a DMatrix does not have"),
        ({"constraint": Meritocracy(np.arange(200))}, TypeError, "must be GroupParity, .*got Meritocracy"),
        ({"constraint": GroupParity(SEX[:-1])}, ValueError, "sensitive_features of 199 rows for 200"),
        ({"constraint": SEX}, TypeError, "got ndarray"),
        ({"n_boot": -1}, ValueError, "n_boot"),
        ({"threshold": 3}, ValueError, "threshold must lie between 0 and 1"),
        ({"params": {"objective": "reg:squarederror"}}, ValueError, "needs params.*binary:logistic"),
        ({"dtrain": xgb.DMatrix(X, np.where(Y == 1, 0.9, 0.1))}, ValueError, "labels 0 and 1, not probabilities"),
        ({"dtrain": xgb.DMatrix(X, np.arange(200) < 2)}, ValueError, "class 1 has 2 rows for 5 folds"),
        ({"dtrain": xgb.QuantileDMatrix(X, Y)}, TypeError, "QuantileDMatrix, which cannot be cut"),
    ],
    ids=lambda value: str(value)[:30],
)
def test_bad_input_is_refused_before_any_training(keywords, error, words, monkeypatch):
    def no_training(*arguments, **more):
        raise AssertionError("a training began")

    monkeypatch.setattr(xgb, "train", no_training)
    told = {"params": PARAMS, "dtrain": DTRAIN, "constraint": PARITY, **keywords}
    with pytest.raises(error, match=words):
        pi_xgb.frontier(told.pop("params"), told.pop("dtrain"), 5, **told)
