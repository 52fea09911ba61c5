"""The frontier's page counts each comparison once, and nothing for the constraint where plain XGBoost is compared."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from pi_xgb import metrics

pytest.importorskip("sklearn", reason="the benchmarks need the extra bench")
pytest.importorskip("matplotlib", reason="the benchmarks need the extra bench")
pytest.importorskip("tqdm", reason="the benchmarks need the extra bench")
pytest.importorskip("scipy", reason="the benchmarks need the extra bench")

from benchmarks.frontier.cells import KL_WEIGHTS, Part
from benchmarks.frontier.page import FORMS, comparison
from benchmarks.frontier.rates import KINDS, Point, accuracy_at, counted, halves, points

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
