"""What a constraint costs on rows held out: against folds trained by hand, fresh data, and words for bad input."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import xgboost as xgb

import pi_xgb
from pi_xgb import metrics
from pi_xgb._frontier.frontier import Frontier, _warn_apart
from pi_xgb._frontier.measured import HeldOut
from pi_xgb._rows.groups import Groups
from pi_xgb.constraints import DemographicParity, EqualizedOdds, Meritocracy, PredictiveParity, TruePositiveRateParity

PARAMS = {"objective": "binary:logistic", "max_depth": 3, "eta": 0.2, "nthread": 1}


def made(n=1200, seed=0):
    """Rows whose second feature stands in for the group, on which y depends as well."""
    rng = np.random.default_rng(seed)
    group = rng.integers(0, 2, n)
    x = np.column_stack([rng.normal(size=n), group + rng.normal(0, 0.4, n), rng.normal(size=n)])
    y = (rng.random(n) < 1 / (1 + np.exp(-(2 * x[:, 0] + 1.5 * group - 1)))).astype(np.int64)
    return pd.DataFrame(x, columns=["a", "b", "c"]), y, np.where(group == 1, "f", "m")


def found(constraint=DemographicParity, n=1200, **keywords):
    x, y, sex = made(n)
    options = {"kl_weight": [3, 30], "nfold": 3, "n_boot": 200, **keywords}
    return pi_xgb.frontier(PARAMS, xgb.DMatrix(x, y), 30, constraint=constraint(sex), **options)


def held_out_scores(kl_weight, folds, n=1200):
    """The scores of the folds, each trained by hand."""
    (x, y, sex), scores = made(n), np.empty(n, np.float32)
    for rest, out in folds:
        dtrain = xgb.DMatrix(x.iloc[rest], y[rest])
        taught = {"teacher": DemographicParity(sex[rest]), "kl_weight": kl_weight} if kl_weight else {}
        scores[out] = pi_xgb.train(PARAMS, dtrain, 30, **taught).predict(xgb.DMatrix(x.iloc[out]))
    return scores


@pytest.mark.slow
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


@pytest.mark.filterwarnings("ignore:.*overfitted")
@pytest.mark.parametrize("constraint", [EqualizedOdds, PredictiveParity])
@pytest.mark.slow
def test_each_constraint_has_its_gap(constraint):
    frontier = found(constraint)
    assert frontier.gap == constraint.gap
    plain, *under_it = frontier.table[frontier.gap]
    assert min(under_it) < plain
    for name in ("accuracy", "cost", frontier.gap):
        assert (frontier.table[f"{name}_low"] <= frontier.table[name]).all()
        assert (frontier.table[name] <= frontier.table[f"{name}_high"]).all()


def test_groups_may_be_those_of_two_columns():
    by_two = found(lambda sex: DemographicParity(pd.DataFrame({"sex": sex, "half": np.arange(1200) % 2})), n_boot=0)
    assert by_two.table["statistical_parity"].notna().all()


def test_rows_without_a_group_count_in_the_accuracy_alone():
    x, y, sex = made()
    # They are selected so often that as a group of their own they would make the gap.
    unknown = (y == 1) & (np.arange(1200) % 2 == 0)
    group = np.where(unknown, None, sex.astype(object))
    order = np.random.default_rng(1).permutation(1200)
    folds = [(np.setdiff1d(order, part), np.sort(part)) for part in np.array_split(order, 3)]
    row = found(lambda _: DemographicParity(group), folds=folds).table.iloc[0]  # plain XGBoost
    decided = held_out_scores(0.0, folds) > 0.5
    assert row["accuracy"] == pytest.approx((decided == y).mean())

    def gap(decided, rows):
        return metrics.statistical_parity(y[rows], decided, sensitive_features=sex[rows])

    known = np.flatnonzero(~unknown)
    assert row["statistical_parity"] == pytest.approx(gap(decided[known], known))
    train_gaps = []
    for rest, _ in folds:
        booster, taught = xgb.train(PARAMS, xgb.DMatrix(x.iloc[rest], y[rest]), 30), np.intersect1d(rest, known)
        train_gaps.append(gap(booster.predict(xgb.DMatrix(x.iloc[taught])) > 0.5, taught))
    assert row["statistical_parity_train"] == pytest.approx(np.mean(train_gaps))


def test_what_a_frontier_says():
    columns = [f"{name}{end}" for name in ("accuracy", "parity", "cost") for end in ("", "_low", "_high")]
    numbers = [[0.9, 0.8, 0.95, 0.3, 0.2, 0.4, 0, 0, 0], [0.85, 0.8, 0.9, 0.1, 0.05, 0.15, 0.05, 0.01, 0.09]]
    table = pd.DataFrame(numbers, index=pd.Index([0.0, 2.5], name="kl_weight"), columns=columns)
    table = table.assign(parity_train=[0.28, 0.02], hessian=["none", "full"], degenerate=False, positive=0.3)
    found = Frontier(table, "parity", {}, 3, [0.3, 0.1, 0.01])
    assert str(found).splitlines() == [
        "parity of at most 0.3: kl_weight 0 has 0.300 (0.200 to 0.400), on training rows 0.280, and costs 0.000 (0.000 "
        "to 0.000) of the accuracy of plain XGBoost, 0.900",
        'parity of at most 0.1: kl_weight 2.5 with hessian="full" has 0.100 (0.050 to 0.150), on training rows 0.020, '
        "and costs 0.050 (0.010 to 0.090) of the accuracy of plain XGBoost, 0.900",
        "parity of at most 0.01: not reached, the smallest is 0.100",
    ]
    assert repr(found) == f"<Frontier: {found}>"
    assert found.choices.index.name == "wanted"
    assert found.choices["kl_weight"].tolist()[:2] == [0, 2.5]
    assert found.choices.loc[0.01].isna().all()
    assert found.at(0.2).name == 2.5
    assert str(Frontier(table, "parity", {}, 3, [])) == (
        "parity from 0.300 (plain XGBoost) to 0.100, accuracy from 0.900 to 0.850"
    )
    without = table.assign(parity_low=np.nan, parity_high=np.nan)
    assert str(Frontier(without, "parity", {}, 3, [0.3])) == (
        "parity of at most 0.3: kl_weight 0 has 0.300, on training rows 0.280, and costs 0.000 (0.000 to 0.000) of the "
        "accuracy of plain XGBoost, 0.900"
    )
    advice = "try other weights, more rows, or shallower trees$"
    with pytest.raises(ValueError, match=rf"parity.*0\.05.*0\.1000.*2\.5.*{advice}"):
        found.at(0.05)


@pytest.mark.slow
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
    with pytest.raises(ValueError, match=r"kl_weight.*statistical_parity.*0"):
        frontier.at(0)


def two_steps(**columns):
    """A table of two steps at two weights; the full step is more accurate at a gap of 0.2, the damped one at 0.1."""
    made_up = {
        "accuracy": [0.9, 0.85, 0.86, 0.84, 0.7],
        "equalized_odds": [0.5, 0.2, 0.15, 0.05, 0.04],
        "hessian": ["none", "damped", "full", "damped", "full"],
        "positive": [0.3, 0.3, 0.3, 0.3, 0.02],
        "degenerate": False,
        **columns,
    }
    return pd.DataFrame(made_up, index=pd.Index([0.0, 5.0, 5.0, 9.0, 9.0], name="kl_weight"))


def test_of_two_steps_that_reach_a_gap_the_more_accurate_is_chosen():
    frontier = Frontier(two_steps(), "equalized_odds", PARAMS, 3, [0.5, 0.2, 0.1, 0.04, 0.01])
    assert frontier.choices["hessian"].tolist()[:4] == ["none", "full", "damped", "full"]
    assert frontier.choices["kl_weight"].tolist()[:4] == [0, 5, 9, 9]
    assert frontier.choices.loc[0.01].isna().all()
    assert (frontier.at(0.1).name, frontier.at(0.1)["hessian"]) == (9, "damped")
    # Plain XGBoost needs no constraint, whatever the accuracy of the others.
    worse = Frontier(two_steps(accuracy=[0.6, 0.85, 0.86, 0.84, 0.7]), "equalized_odds", PARAMS, 3, [])
    assert worse.at(0.5).name == 0


@pytest.mark.parametrize(
    ("scores", "plain", "degenerate"),
    [
        ([0.1] * 8, [0.9, 0.9, 0.9, 0.1, 0.9, 0.1, 0.1, 0.1], True),  # for nobody
        ([0.9] * 8, [0.9, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1], True),  # for more than five times as many
        ([0.9, 0.1, 0.1, 0.9, 0.1, 0.1, 0.1, 0.1], [0.9, 0.9] + [0.1] * 6, True),  # as accurate as for nobody
        ([0.9, 0.9, 0.9, 0.1, 0.1, 0.1, 0.1, 0.1], [0.9] * 4 + [0.1] * 4, False),
        ([0.9, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1], [0.9] * 4 + [0.1] * 4, False),  # a quarter as many
        # Plain XGBoost decides for nobody: compared at the base rate, 0.375.
        ([0.4, 0.4, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1], [0.45] * 3 + [0.1] * 5, False),
        ([0.1] * 8, [0.45] * 3 + [0.1] * 5, True),
    ],
)
def test_a_model_is_degenerate_if_it_decides_the_same_for_nearly_all(scores, plain, degenerate):
    label, groups = np.array([1, 1, 1, 0, 0, 0, 0, 0]), Groups(np.arange(8) % 2, pd.Index(["f", "m"]))
    held_out = HeldOut(label == 1, np.ones(8), groups, "statistical_parity", 0.5, {"n_boot": 0, "confidence": 0.95})
    row = held_out.measure(np.array(scores), np.array(plain), 0.0)
    assert row["degenerate"] is degenerate
    assert row["positive"] == (np.array(scores) > 0.5).mean()
    assert held_out.measure(np.array(plain), np.array(plain), 0.0)["degenerate"] is False


def test_a_degenerate_model_is_marked_and_never_chosen():
    table = two_steps(degenerate=[False, False, False, False, True], equalized_odds_train=0.01)
    table = table.assign(
        **{f"{name}{end}": 0.5 for name in ("accuracy", "equalized_odds") for end in ("_low", "_high")}
    )
    frontier = Frontier(table, "equalized_odds", PARAMS, 3, [])
    assert frontier.at(0.05)["hessian"] == "damped"
    with pytest.raises(ValueError, match=r"equalized_odds of 0\.04 .*smallest is 0\.0500 at 9"):
        frontier.at(0.04)
    assert str(frontier).splitlines()[-1] == (
        "degenerate, and never chosen: kl_weight 9 (2.0% to 2.0% positive decisions, plain XGBoost 30.0%)"
    )
    pytest.importorskip("matplotlib")
    from matplotlib.figure import Figure

    ax = frontier.plot(Figure().subplots())
    assert ax.lines[-1].get_marker() == "x"
    assert ax.lines[-1].get_xdata().tolist() == [0.04]


def test_the_trained_model_has_the_chosen_step(monkeypatch):
    frontier = Frontier(two_steps(equalized_odds_train=0.01), "equalized_odds", PARAMS, 3, [])
    odds = EqualizedOdds(SEX)
    for gap, step in ((0.1, "damped"), (0.2, "full")):
        booster = frontier.train(DTRAIN, odds, gap=gap)
        weight = float(frontier.at(gap).name)
        teacher = EqualizedOdds(SEX, hessian=step)
        by_hand = pi_xgb.train(PARAMS, DTRAIN, 3, teacher=teacher, kl_weight=weight)
        assert booster.get_dump(with_stats=True) == by_hand.get_dump(with_stats=True)
    assert odds.hessian == "damped"  # the constraint of the user


@pytest.mark.filterwarnings("ignore:.*overfitted")
@pytest.mark.parametrize("constraint", [EqualizedOdds, TruePositiveRateParity])
@pytest.mark.slow
def test_constraints_within_labels_are_measured_with_both_steps(constraint):
    frontier, alone = found(constraint, n=200, n_boot=0), {}
    for step in ("full", "adaptive"):
        alone[step] = found(lambda sex, step=step: constraint(sex, hessian=step), n=200, n_boot=0)
    assert frontier.table["hessian"].tolist() == ["none", "damped", "full", "damped", "full"]
    assert frontier.table.index.tolist() == [0, 3, 3, 30, 30]
    assert alone["adaptive"].table["hessian"].tolist() == ["none", "adaptive", "adaptive"]
    of_full = frontier.table[frontier.table["hessian"].isin(["none", "full"])]
    pd.testing.assert_frame_equal(of_full, alone["full"].table)
    assert found(n=200, n_boot=0).table["hessian"].tolist() == ["none", "damped", "damped"]


@pytest.mark.filterwarnings("ignore:.*overfitted")
@pytest.mark.slow
def test_the_gap_on_training_rows_is_that_of_folds_trained_by_hand():
    x, y, sex = made()
    weight = np.random.default_rng(3).integers(1, 4, 1200).astype(float)
    order = np.random.default_rng(1).permutation(1200)
    folds = [(np.setdiff1d(order, part), np.sort(part)) for part in np.array_split(order, 3)]
    keywords = {"kl_weight": 30, "folds": folds, "n_boot": 0, "threshold": 0.4}
    frontier = pi_xgb.frontier(PARAMS, xgb.DMatrix(x, y, weight=weight), 30, constraint=EqualizedOdds(sex), **keywords)
    for (kl_weight, row), step in zip(frontier.table.iterrows(), ("none", "damped", "full"), strict=True):
        gaps = []
        for rest, _ in folds:
            part = xgb.DMatrix(x.iloc[rest], y[rest], weight=weight[rest])
            teacher = EqualizedOdds(sex[rest], hessian=step) if kl_weight else None
            scores = pi_xgb.train(PARAMS, part, 30, teacher=teacher, kl_weight=kl_weight).predict(part)
            groups = {"sensitive_features": sex[rest], "sample_weight": weight[rest]}
            gaps.append(metrics.equalized_odds(y[rest], scores > 0.4, **groups))
        assert row["equalized_odds_train"] == pytest.approx(np.mean(gaps))


@pytest.mark.slow
def test_a_warning_says_where_training_and_held_out_gap_part(recwarn):
    data = pi_xgb.datasets.make_privileged(1500, group_gap=1.5, seed=0)
    keywords = {"constraint": DemographicParity(data.group), "kl_weight": 100, "nfold": 3}
    dtrain, params = xgb.DMatrix(data.x, data.y), {**PARAMS, "max_depth": 4}
    with pytest.warns(UserWarning, match=r"statistical_parity.*1 of 1.*kl_weight 100.*damped.*overfitted") as warned:
        table = pi_xgb.frontier(params, dtrain, 30, **keywords, n_boot=200).table
    assert table["statistical_parity_low"].iloc[1] > table["statistical_parity_train"].iloc[1] + 0.01
    assert f"{table['statistical_parity'].iloc[1]:.3f} against" in str(warned[0].message)
    with pytest.warns(UserWarning, match="overfitted"):  # a wanted gap that is out of reach
        pi_xgb.frontier(params, dtrain, 30, **keywords, n_boot=200, gap=0.0)
    recwarn.clear()
    pi_xgb.frontier(params, dtrain, 30, **keywords, n_boot=200, gap=1.0)  # chosen by held-out rows
    # Without intervals nothing is beyond chance, and plain XGBoost is no constraint.
    pi_xgb.frontier(params, dtrain, 30, **keywords, n_boot=0)
    train_gaps = [0.0, 0.03, 0.021, 0.04, 0.025]
    _warn_apart(two_steps(equalized_odds_low=0.03, equalized_odds_train=train_gaps), "equalized_odds", [])
    assert not recwarn


@pytest.mark.slow
def test_the_model_of_a_gap_is_that_of_train_and_holds_on_fresh_rows():
    frontier = found(gap=0.12, n=2000)
    x, y, sex = made(2000)
    dtrain = xgb.DMatrix(x, y)
    booster = frontier.train(dtrain, DemographicParity(sex), gap=0.12, verbose_eval=False)
    weight = float(frontier.at(0.12).name)
    by_hand = pi_xgb.train(PARAMS, dtrain, 30, teacher=DemographicParity(sex), kl_weight=weight)
    row = frontier.at(0.12)
    gaps = f"{row['statistical_parity']:.3f} on held-out rows, {row['statistical_parity_train']:.3f} on training rows"
    assert booster.attr("pi_xgb_gap") == f"statistical_parity {gaps}"
    booster.set_attr(pi_xgb_gap=None)
    assert booster.save_raw("json") == by_hand.save_raw("json")
    plain = frontier.train(dtrain, DemographicParity(sex), gap=1.0)
    assert plain.save_raw("json") == xgb.train(PARAMS, dtrain, 30).save_raw("json")
    # On rows that nobody has seen the numbers are within the intervals, made wider by their own error.
    x, y, sex = made(20000, seed=7)
    decided = booster.predict(xgb.DMatrix(x)) > 0.5
    row, slack = frontier.at(0.12), 0.01
    assert row["accuracy_low"] - slack < (decided == y).mean() < row["accuracy_high"] + slack
    gap = metrics.statistical_parity(y, decided, sensitive_features=sex)
    assert row["statistical_parity_low"] - slack < gap < row["statistical_parity_high"] + slack


@pytest.mark.parametrize("gap", [0.3, 0.1])
def test_a_model_is_trained_as_it_was_measured(gap, monkeypatch):
    table = pd.DataFrame(
        {"accuracy": [0.9, 0.8], "statistical_parity": [0.2, 0.1], "hessian": ["none", "damped"], "degenerate": False},
        index=pd.Index([0.0, 5.0], name="kl_weight"),
    )
    frontier = Frontier(table, "statistical_parity", PARAMS, 3, [])
    monkeypatch.setattr(xgb, "train", lambda *args, **kwargs: pytest.fail("trained before the error"))
    for chosen in ({"teacher": Y}, {"kl_weight": 3}, {"params": {}}, {"num_boost_round": 9}):
        with pytest.raises(TypeError, match=f"multiple values for .*argument '{next(iter(chosen))}'"):
            frontier.train(DTRAIN, PARITY, gap=gap, **chosen)
    with pytest.raises(ValueError, match="privileged and teacher were both given"):
        frontier.train(DTRAIN, PARITY, gap=gap, privileged=DTRAIN)
    with pytest.raises(ValueError, match=r"sensitive_features.*150 for 200 rows"):
        frontier.train(DTRAIN, DemographicParity(SEX[:150]), gap=gap)
    with pytest.raises(TypeError, match=r"dtrain.*xgboost\.DMatrix.*DataFrame"):
        frontier.train(X, PARITY, gap=gap)


X, Y, SEX = made(200)
DTRAIN, PARITY = xgb.DMatrix(X, Y), DemographicParity(SEX)
ROWS = np.arange(200)
HALVES = [(ROWS[:100], ROWS[100:150]), (ROWS[:100], ROWS[150:])]
MANY = {
    "dtrain": xgb.DMatrix(np.zeros((6000, 1)), np.arange(6000) % 2),
    "constraint": DemographicParity(np.arange(6000) // 5),
}


def weighted(weight):
    return xgb.DMatrix(X, Y, weight=weight.astype(float))


@pytest.mark.parametrize(
    ("keywords", "error", "words"),
    [
        ({"gap": 1.2}, ValueError, r"gap.*0.*1.*1.2.*0.05"),
        ({"gap": [0.1, -0.1]}, ValueError, r"between 0.*1.*-0.1"),
        ({"gap": "0.1"}, ValueError, "got '0.1'"),
        ({"kl_weight": [1, -1]}, ValueError, "kl_weight"),
        ({"constraint": DemographicParity("sex")}, TypeError, "constraint must .*, got ByColumn"),
        (
            {"constraint": Meritocracy(np.arange(200))},
            TypeError,
            "constraint must .*DemographicParity, .*got Meritocracy",
        ),
        ({"constraint": DemographicParity(SEX[:-1])}, ValueError, r"sensitive_features.*199 for 200 rows"),
        ({"constraint": SEX}, TypeError, "got ndarray"),
        ({"threshold": 3}, ValueError, r"threshold.*0.*1"),
        ({"params": {"objective": "reg:squarederror"}}, ValueError, "params.*binary:logistic.*squarederror"),
        ({"dtrain": xgb.DMatrix(X, np.where(Y == 1, 0.9, 0.1))}, ValueError, r"labels 0 and 1.*got labels of 0\.1"),
        ({"dtrain": xgb.DMatrix(X, Y + 1)}, ValueError, r"labels of dtrain .*0, 1.*from 1\.0 to 2\.0"),
        ({"dtrain": xgb.DMatrix(X)}, ValueError, r"label of dtrain must .* got 0"),
        ({"dtrain": xgb.DMatrix(X, np.arange(200) < 2)}, ValueError, r"class 1.*2 rows.*5 folds"),
        ({"dtrain": xgb.QuantileDMatrix(X, Y)}, TypeError, "QuantileDMatrix: build a DMatrix"),
        ({"dtrain": weighted(ROWS < 100), "folds": HALVES}, ValueError, "hold out must have weights above 0"),
        ({"dtrain": weighted(ROWS >= 100), "folds": HALVES}, ValueError, r"fold 0 must train on .*, got \[\]: use"),
        ({"dtrain": weighted(ROWS == 0), "folds": HALVES}, ValueError, rf"fold .* got \[{Y[0]}\.0\]"),
        ({"folds": [*HALVES, (np.flatnonzero(Y[:100]), ROWS[100:])]}, ValueError, r"fold 2 .*labels 0 and 1"),
        (
            {"dtrain": xgb.DMatrix(X, np.column_stack([Y, Y]))},
            ValueError,
            "dtrain must have one target for frontier, got 2 columns",
        ),
        (
            {"constraint": DemographicParity(ROWS < 100), "folds": HALVES},
            ValueError,
            "at least two groups to compare, got False",
        ),
        (MANY, ValueError, "makes 1200 groups of 6000 rows, at most 1000"),
    ],
    ids=lambda value: str(value)[:30],
)
def test_bad_input_is_refused_before_any_training(keywords, error, words, monkeypatch):
    def no_training(*arguments, **more):
        raise AssertionError("a training began")

    monkeypatch.setattr(xgb, "train", no_training)
    options = {"params": PARAMS, "dtrain": DTRAIN, "num_boost_round": 5, "constraint": PARITY, **keywords}
    with pytest.raises(error, match=words):
        pi_xgb.frontier(**options)
