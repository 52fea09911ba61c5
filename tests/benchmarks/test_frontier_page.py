"""The frontier's page counts each comparison once, and nothing for the constraint where plain XGBoost is compared."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from pi_xgb import metrics
from pi_xgb.constraints import EqualizedOdds

pytest.importorskip("sklearn", reason="the benchmarks need the extra bench")
pytest.importorskip("matplotlib", reason="the benchmarks need the extra bench")
pytest.importorskip("tqdm", reason="the benchmarks need the extra bench")
pytest.importorskip("scipy", reason="the benchmarks need the extra bench")

from benchmarks.frontier.cells import KL_WEIGHTS, Part, made_split
from benchmarks.frontier.groups import groups_section, measured_groups
from benchmarks.frontier.heavy import heavy_section, measured_heavy, share
from benchmarks.frontier.membership import SoftOdds
from benchmarks.frontier.page import FORMS, comparison, distinct_peers
from benchmarks.frontier.rates import (
    KINDS,
    Point,
    accuracy_at,
    counted,
    halves,
    is_apart,
    measured_peers,
    measured_rates,
    points,
    rates_section,
)
from benchmarks.frontier.rows import CONSTRAINTS as BY_ROW
from benchmarks.frontier.rows import STARTS, measured_rows, rows_section
from benchmarks.frontier.steps import KL_WEIGHTS as STEP_WEIGHTS
from benchmarks.frontier.steps import ROUNDS, RULES, measured_steps, steps_section

ODDS = FORMS["Constraints on distributions"]


def results(peers):
    """Two folds of made numbers: our gap is .7 of itself with every weight and costs .01; peers as (accuracy, gap)."""
    steps = [("NF", 0.0), *((name, a) for name in ODDS for a in KL_WEIGHTS)]
    found = {
        (m, a): (0.9 - 0.01 * ([0.0, *KL_WEIGHTS].index(a)), 0.2 * 0.7 ** [0.0, *KL_WEIGHTS].index(a)) for m, a in steps
    }
    found |= {(name, 0.0): values for name, values in peers.items()}
    lines = [
        {"dataset": "car", "method": m, "level": a, "fold": fold, "measure": measure, "value": value + 1e-4 * fold}
        for (m, a), (accuracy, gap) in found.items()
        for fold in range(2)
        for measure, value in (("accuracy", accuracy), ("AUC", accuracy), ("SP", gap), ("EO", gap))
    ]
    return pd.DataFrame(lines)


def test_plain_xgboost_is_no_win_of_the_constraint():
    compared = comparison(results({"unfair": (0.8, 0.3), "fair": (0.85, 0.05), "fairer": (0.5, 0.0)}), ODDS)
    found = compared.set_index(["gap", "peer"]).verdict
    for gap in ("SP", "EO"):
        # The peer's gap is larger than that of plain XGBoost: nobody needs a constraint.
        assert found[gap, "unfair"] == "plain XGBoost better"
        assert found[gap, "fair"] == "the constraint better"
        assert found[gap, "fairer"] == "gap not reached"
    strong = (
        comparison(results({"strong": (0.95, 0.05), "plain": (0.99, 0.2)}), ODDS).set_index(["gap", "peer"]).verdict
    )
    assert strong["SP", "strong"] == "peer better than the constraint"
    assert strong["SP", "plain"] == "peer better than plain XGBoost"


def test_peers_that_are_one_model_are_one_row():
    found = results({"MFC, c = 0": (0.8, 0.1), "MFC, c chosen": (0.8, 0.1), "other": (0.8, 0.1001)})
    found.loc[(found.method == "other") & (found.measure == "AUC"), "value"] += 0.1
    assert list(distinct_peers(found, "car")) == ["MFC, c = 0 = MFC, c chosen", "other"]
    # MFC in parity, which it optimises; the other peer in both.
    compared = comparison(found, ODDS)
    assert list(zip(compared["gap"], compared["peer"], strict=True)) == [
        ("SP", "MFC, c = 0 = MFC, c chosen"),
        ("SP", "other"),
        ("EO", "other"),
    ]


@pytest.mark.slow
def test_the_section_on_the_step_has_every_rule_and_weight(tmp_path):
    split = made_split("made", 0)
    found = measured_steps("made", split)
    assert len(found) == 1 + len(STEP_WEIGHTS) * len(RULES) * len(ROUNDS)
    found.to_csv(tmp_path / "steps.csv", index=False)
    text, plain = "\n".join(steps_section(tmp_path / "steps.csv")), found[found.rule == "plain"].iloc[0]
    assert "[steps.csv](results/steps.csv)" in text
    assert f"{plain.accuracy:.3f} and {plain.SP:.3f} on made." in text
    assert steps_section(tmp_path / "none.csv") == []


def test_the_section_on_heavy_weights_has_both_steps(tmp_path):
    found = measured_heavy("made", made_split("made", 0), [50.0, 500.0], [5, 10])
    found.to_csv(tmp_path / "heavy.csv", index=False)
    text, plain = (
        " ".join("\n".join(heavy_section(tmp_path / "heavy.csv")).split()),
        found[found.hessian == "plain"].iloc[0],
    )
    assert "[heavy.csv](results/heavy.csv) has the same after 5 and 10 rounds for weights of 50 and 500" in text
    assert f"{plain.accuracy:.3f} and {plain.SP:.3f} on made." in text
    assert 'a round of "adaptive" teaches 2% of the labels' in text
    assert share(9.0) == 1
    assert heavy_section(tmp_path / "none.csv") == []


@pytest.mark.slow
def test_the_section_on_groups_says_what_diverges(tmp_path):
    found = measured_groups([120], [3], [30.0, 1000.0])
    assert len(found) == 2 * (1 + 2 * 2 * 2)
    lost = (found.kl_weight == 1000) & (found.hessian == "damped") & (found.constraint == "odds")
    found.loc[lost, "loss"] = np.nan
    found.to_csv(tmp_path / "groups.csv", index=False)
    told = "Of the 8 trainings with the damped step, {} end more than 0.01 above {} at the same weight, and {} in NaN."
    text = " ".join("\n".join(groups_section(tmp_path / "groups.csv")).split())
    assert told.format("none", '"adaptive"', 2) in text
    found.loc[found.hessian == "damped", "loss"] = found.loss.max() + 0.02
    found.to_csv(tmp_path / "groups.csv", index=False)
    text = " ".join("\n".join(groups_section(tmp_path / "groups.csv")).split())
    assert told.format(8, '"adaptive"', "none") in text
    assert groups_section(tmp_path / "none.csv") == []


def test_the_section_row_by_row_has_loss_and_distance(tmp_path):
    found = measured_rows(150, [30.0, 100.0], 3)
    assert len(found) == len(BY_ROW) * len(STARTS) * 2 * 2
    found.to_csv(tmp_path / "rows.csv", index=False)
    assert "[rows.csv](results/rows.csv)" in "\n".join(rows_section(tmp_path / "rows.csv"))
    assert rows_section(tmp_path / "none.csv") == []


def drawn(n=400, seed=0):
    random = np.random.default_rng(seed)
    return Part(random.normal(size=(n, 2)), random.integers(0, 2, n), random.integers(0, 2, n)), random.random(n)


def test_rates_are_those_of_the_metrics_over_all_folds():
    parts = [drawn(seed=seed) for seed in (0, 1)]
    lines = pd.DataFrame(
        [
            {"method": "m", "kl_weight": 1.0, "rounds": 5, **counted(p, part, "train"), **counted(p, part, "test")}
            for part, p in parts
        ]
    )
    label, group, decided = (
        np.concatenate(values)
        for values in ([part.y for part, _ in parts], [part.group for part, _ in parts], [p > 0.5 for _, p in parts])
    )
    names = {
        "DemographicParity": "statistical_parity",
        "TruePositiveRateParity": "equal_opportunity",
        "EqualizedOdds": "equalized_odds",
    }
    for constraint, name in names.items():
        (point,) = points(lines, KINDS[constraint].rates)
        metric = getattr(metrics, name)
        assert point.accuracy == pytest.approx((decided == label).mean())
        assert point.gap == pytest.approx(metric(label, decided, sensitive_features=group))
        by_fold = [metric(part.y, p > 0.5, sensitive_features=part.group) for part, p in parts]
        assert point.train_gap == pytest.approx(np.mean(by_fold))
    (point,) = points(lines, KINDS["PredictiveParity"].rates)
    assert point.gap == pytest.approx(np.ptp(metrics.precision(label, decided, sensitive_features=group)))
    nobody = lines.assign(**{name: 0 for name in lines if "selected_1" in name})
    (point,) = points(nobody, KINDS["PredictiveParity"].rates)
    assert np.isnan([point.gap, point.train_gap]).all()  # nobody of a group is selected
    # The interval of a difference of two shares, written out.
    (point,) = points(lines, ("false positive",))
    shares = [decided[(label == 0) & (group == g)] for g in (0, 1)]
    assert point.half == pytest.approx(1.96 * np.sqrt(sum(s.mean() * (1 - s.mean()) / len(s) for s in shares)))
    # Random decisions count by their probability.
    part, p = parts[0]
    assert sum(counted(p, part, "x", randomised=True)[f"x_selected_{g}1"] for g in (0, 1)) == pytest.approx(
        p[part.y == 1].sum()
    )


def test_each_row_is_held_out_once():
    part, _ = drawn(101)
    first, second = halves(part, ["q", "q"])
    assert len(first.train.y) + len(first.test.y) == 101
    for item, other in ((first.train, second.test), (first.test, second.train)):
        np.testing.assert_array_equal(item.x, other.x)
    np.testing.assert_array_equal(
        np.sort(np.concatenate([first.test.x, second.test.x]), axis=0), np.sort(part.x, axis=0)
    )


def test_the_accuracy_at_a_gap_is_read_off_the_path():
    path = [
        Point("m", a, 5, accuracy, 0.0, gap, 0.0) for a, accuracy, gap in ((0, 0.9, 0.4), (1, 0.8, 0.2), (2, 0.7, 0.3))
    ]
    assert [accuracy_at(path, gap) for gap in (0.4, 0.3, 0.2)] == pytest.approx([0.9, 0.85, 0.8])
    assert np.isnan(accuracy_at(path, 0.1))
    assert not is_apart(path[0]._replace(train_gap=0.35, half=0.06))
    assert is_apart(path[0]._replace(train_gap=0.35, half=0.04))


def test_membership_that_is_sure_gives_equalized_odds():
    part, p = drawn(200)
    member = np.eye(4)[2 * part.y + part.group]
    soft, odds = SoftOdds(part.group, member=member), EqualizedOdds(part.group)
    scores, label = p.astype(np.float32), part.y.astype(np.float32)
    np.testing.assert_allclose(soft.q(scores, label, None), odds.q(scores, label, None), rtol=1e-6)
    found = SoftOdds.membership(part)
    np.testing.assert_allclose(found.sum(axis=1), 1)


@pytest.mark.slow
def test_the_section_on_each_constraint_has_every_method(tmp_path):
    split = made_split("made", 0)
    found = pd.concat([measured_rates("made", 0, split, [3.0, 30.0], [5, 10]), measured_peers("made", 0, split)])
    found.to_csv(tmp_path / "rates.csv", index=False)
    text = "\n".join(rates_section(tmp_path / "rates.csv"))
    for constraint, kind in KINDS.items():
        assert f"{constraint}, made:" in text
        own = points(found[found.constraint == constraint], kind.rates)
        default = kind.steps[0]
        damped = next(p for p in own if (p.method, p.kl_weight, p.rounds) == (default, 30, 10))
        assert f"| {default} | 30 | {damped.accuracy:.3f} | {damped.train_gap:.3f} | {damped.gap:.3f} |" in text
    assert "| ExponentiatedGradient | - |" in text
    assert "| damped or full, rounds chosen |" in text
    assert rates_section(tmp_path / "none.csv") == []
