"""The plots: drawn numbers against scikit-learn, scipy, pi_xgb.metrics and loops; bad input."""

from __future__ import annotations

import re
import sys

import matplotlib

matplotlib.use("Agg")

import numpy as np
import pandas as pd
import pytest
from matplotlib import pyplot as plt
from matplotlib.figure import Figure
from scipy import stats
from sklearn.metrics import roc_auc_score, roc_curve

from pi_xgb import metrics, plotting


@pytest.fixture(autouse=True)
def no_figure_left():
    yield
    plt.close("all")


def new_axes():
    return Figure(figsize=(4.8, 3.8), layout="constrained").subplots()


def rows(n=400, n_groups=2, seed=0):
    rng = np.random.default_rng(seed)
    group = rng.integers(0, n_groups, n)
    y = (rng.random(n) < 0.4).astype(int)
    p = np.clip(0.5 + 0.25 * (y - 0.5) * (1 + group) + rng.normal(0, 0.2, n), 0, 1)
    return y, np.round(p, 2), np.array([f"group {c}" for c in "abcdefghijklm"])[group]


def frontier_table(n_folds=5, n_methods=2):
    rng = np.random.default_rng(0)
    places = [(f"method {i}", kl_weight) for i in range(n_methods) for kl_weight in (2.0, 0.0, 0.5)]
    table = pd.DataFrame([*places, ("a point", None)] * n_folds, columns=["method", "kl_weight"])
    return table.assign(statistical_parity=rng.random(len(table)), accuracy=rng.random(len(table)))


def cv_table(metric="auc", kl_weights=(0.0, 0.5, 10.0)):
    rng = np.random.default_rng(0)
    index = pd.MultiIndex.from_product([kl_weights, range(6)], names=["kl_weight", "round"])
    names = [f"{part}-{metric}-{kind}" for part in ("train", "test") for kind in ("mean", "std")]
    return pd.DataFrame(rng.random((len(index), 4)), index=index, columns=names)


def importances(n=6):
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"fair_importance": rng.normal(size=n), "gain": rng.random(n), "total_gain": rng.random(n)})
    return (table / table.abs().sum()).set_axis([f"feature {i}" for i in range(n)])


def by_group(plot, *columns):
    def draw(ax, **data):
        y, p, groups = rows(**data)
        return plot(*[{"y": y, "p": p}[name] for name in columns], sensitive_features=groups, ax=ax)

    return draw


DRAW = {
    "plot_roc": by_group(plotting.plot_roc, "y", "p"),
    "plot_calibration": by_group(plotting.plot_calibration, "y", "p"),
    "plot_scores": by_group(plotting.plot_scores, "p"),
    "plot_frontier": lambda ax: plotting.plot_frontier(frontier_table(), ax=ax),
    "plot_importance": lambda ax: plotting.plot_importance(importances(), ax=ax),
    "plot_kl_weight_path": lambda ax: plotting.plot_kl_weight_path(cv_table(), ax=ax),
}


def texts(ax):
    return [text.get_text() for text in ax.get_legend().get_texts()]


def segments(ax, axis, container, part=-1):
    """The ends of the error bars of a container along an axis (0: x, 1: y)."""
    return np.array([segment[:, axis] for segment in ax.containers[container][2][part].get_segments()])


def test_every_public_function_is_drawn_here():
    assert sorted(DRAW) == sorted(plotting.__all__)


@pytest.mark.parametrize("name", DRAW)
def test_plot_draws_on_the_given_axes_or_opens_one_figure(name, monkeypatch):
    ax = new_axes()
    assert DRAW[name](ax) is ax
    assert ax.has_data()
    assert ax.get_xlabel()
    assert not plt.get_fignums()
    ax = DRAW[name](None)
    assert plt.get_fignums() == [ax.figure.number]
    ax.figure.draw_without_rendering()
    inches, (width, height) = ax.figure.get_tightbbox(), ax.figure.get_size_inches()
    assert min(inches.x0, inches.y0, width - inches.x1, height - inches.y1) > -0.01  # nothing is cut off
    with pytest.raises(TypeError, match="ax must be a matplotlib Axes or None, got ndarray"):
        DRAW[name](np.array([1]))
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(ImportError, match=r'pip install "\.\[plot\]"'):
        DRAW[name](None)


@pytest.mark.parametrize(
    ("name", "given", "error", "message"),
    [
        ("plot_roc", ([0, 1], [0.1, 0.2, 0.3], [0, 1, 1]), ValueError, "y_true must .* got 2"),
        ("plot_roc", ([0, 1], [0.1, np.nan], [0, 1]), ValueError, "y_score must .* 1 missing"),
        ("plot_roc", ([0, 1], [0.1, np.inf], [0, 1]), ValueError, "y_score must be finite .* inf in row 1"),
        ("plot_roc", ([0, 1], [0.1, 0.2], [0, 0]), ValueError, "one group only"),
        ("plot_calibration", ([0, 1], [0.1, 1.2], [0, 1]), ValueError, "y_prob must be .* from 0 to 1, got 1.2"),
        ("plot_calibration", ([0, 2], [0.1, 0.2], [0, 1]), ValueError, "y_true must be .* got 2"),
        ("plot_calibration", ([0, 1], [0.1, 0.2], [0, 1], {"n_bins": 0}), ValueError, "n_bins"),
        ("plot_scores", ([0.1, 0.2], [0, 1, 1]), ValueError, "sensitive_features must .* 2 rows, got 3"),
        ("plot_scores", ([0.1, 0.2], [0, 1], {"bins": 0}), ValueError, "bins. must be positive"),
        ("plot_scores", ([0.1, 0.2], [0, 1], {"bins": 2.5}), TypeError, "bins. must be an integer"),
        ("plot_scores", ([0.1, 0.2], [0, 1], {"threshold": np.nan}), ValueError, "threshold is NaN"),
        ("plot_frontier", (frontier_table().drop(columns="accuracy"),), ValueError, "lacks 'accuracy'"),
        ("plot_frontier", (frontier_table().iloc[:0],), ValueError, "table must have rows"),
        ("plot_frontier", (frontier_table(), {"confidence": 95}), ValueError, "between 0 and 1"),
        ("plot_frontier", (frontier_table(n_methods=10),), ValueError, "at most 10 methods, got 11"),
        ("plot_frontier", ([1, 2],), TypeError, "pandas.DataFrame"),
        ("plot_importance", (importances()[["gain"]],), ValueError, "lacks 'fair_importance'"),
        ("plot_importance", (importances(), {"plain": "weight"}), ValueError, "lacks 'weight'"),
        ("plot_importance", (importances(), {"max_features": 0}), ValueError, "max_features"),
        ("plot_kl_weight_path", (cv_table().loc[0.0],), ValueError, "kl_weight in its index"),
        ("plot_kl_weight_path", (cv_table(), {"metric": "logloss"}), ValueError, r"one of \['auc'\]"),
        ("plot_kl_weight_path", (cv_table().join(cv_table("error")),), ValueError, "must be one of"),
        ("plot_kl_weight_path", (cv_table(), {"nfold": 1}), ValueError, r"nfold.*least 2"),
        ("plot_kl_weight_path", (cv_table(), {"confidence": 95}), ValueError, "between 0 and 1"),
    ],
)
def test_bad_input_raises_before_a_figure_is_opened(name, given, error, message):
    keywords = given[-1] if isinstance(given[-1], dict) else {}
    values = list(given[: len(given) - bool(keywords)])
    if name in ("plot_roc", "plot_calibration", "plot_scores"):
        keywords = {**keywords, "sensitive_features": values.pop()}
    with pytest.raises(error, match=message):
        getattr(plotting, name)(*values, **keywords)
    assert not plt.get_fignums()


@pytest.mark.parametrize("weighted", [False, True])
def test_roc_curves_equal_scikit_learn(weighted):
    y, p, groups = rows()
    weight = np.random.default_rng(1).random(y.size) if weighted else None
    ax = plotting.plot_roc(y, p, sensitive_features=groups, sample_weight=weight, ax=new_axes())
    for name, line in zip(np.unique(groups), ax.lines[1:], strict=True):
        chosen = groups == name
        w = None if weight is None else weight[chosen]
        fpr, tpr, _ = roc_curve(y[chosen], p[chosen], sample_weight=w, drop_intermediate=False)
        x, height = line.get_data()
        # Every corner of the other library's curve lies on ours: found by x + y, which grows along both.
        np.testing.assert_allclose(np.interp(fpr + tpr, x + height, x), fpr, atol=1e-12)
        assert f"{name}, AUC {roc_auc_score(y[chosen], p[chosen], sample_weight=w):.2f}" in texts(ax)


@pytest.mark.parametrize("n_groups", [2, 4])
def test_shaded_area_is_abroca_of_the_widest_pair(n_groups):
    y, p, groups = rows(n_groups=n_groups, n=300)
    ax = plotting.plot_roc(y, p, sensitive_features=groups, ax=new_axes())
    value = metrics.abroca(y, p, sensitive_features=groups)
    entry = texts(ax)[-1]
    assert entry.startswith(f"ABROCA {value:.3f}")
    pair = entry.partition("\n")[2].split(" – ") if n_groups > 2 else list(np.unique(groups))
    chosen = np.isin(groups, pair)
    assert metrics.abroca(y[chosen], p[chosen], sensitive_features=groups[chosen]) == pytest.approx(value)
    outline = ax.collections[0].get_paths()[0].vertices
    half = (len(outline) - 3) // 2
    first, other = outline[1 : half + 1], outline[half + 2 : -1][::-1]
    gap = np.abs(first[:, 1] - other[:, 1])
    assert (np.diff(first[:, 0]) * (gap[1:] + gap[:-1]) / 2).sum() == pytest.approx(value, abs=5e-3)


@pytest.mark.parametrize("n_groups", [2, 3])
def test_group_without_positives_has_no_curve_and_a_warning(n_groups):
    y, p, groups = rows(n_groups=n_groups)
    y[groups == "group b"] = 0
    with pytest.warns(metrics.UndefinedRateWarning, match="group b") as caught:
        ax = plotting.plot_roc(y, p, sensitive_features=groups, ax=new_axes())
    assert caught[0].filename == __file__
    # One curve alone is not shaded.
    assert len(ax.collections) == n_groups - 2
    assert not any(text.startswith("group b,") for text in texts(ax))


@pytest.mark.parametrize("name", ["plot_roc", "plot_calibration", "plot_scores"])
def test_groups_of_long_names_stay_distinct_and_in_the_order_of_the_rows(name):
    y, p, _ = rows()
    parts = [["African-American", "Caucasian"], ["Female", "Male"], ["above 25 years", "above 45 years"], range(50)]
    groups = pd.MultiIndex.from_product(parts).to_frame(index=False).iloc[:, :3]
    draw, given = getattr(plotting, name), [*map(pd.Series, [p] if name == "plot_scores" else [y, p])]
    shown = texts(draw(*given, sensitive_features=groups, ax=new_axes()))
    assert len({re.split(", AUC| [(]", text)[0] for text in shown if text.startswith(("Afr", "Cau"))}) == 8
    with pytest.raises(ValueError, match="in another order"):
        draw(*[values.rename(str) for values in given], sensitive_features=groups[::-1].rename(str), ax=new_axes())


@pytest.mark.parametrize("weighted", [False, True])
def test_calibration_equals_a_loop_over_bins(weighted):
    rng = np.random.default_rng(0)
    p = np.round(rng.random(157), 1)
    y, weight = rng.random(157) < p, rng.integers(0, 4, 157) / 2 if weighted else np.ones(157)
    ax = plotting.plot_calibration(y, p, sensitive_features=["a"] * 157, sample_weight=weight, ax=new_axes())
    ordered = np.sort(p)
    # Ten cuts, each moved to the start of its run of equal scores.
    cuts = sorted({int(np.flatnonzero(ordered == ordered[i * 157 // 10])[0]) for i in range(10)})
    ends = ax.collections[0].get_segments()
    assert len(ax.lines[1].get_xdata()) == len(cuts) == len(ends)
    for point, bar, first, last in zip(ax.lines[1].get_xydata(), ends, cuts, [*cuts[1:], 157], strict=True):
        chosen = np.isin(p, ordered[first:last])
        w = weight[chosen]
        np.testing.assert_allclose(point, [np.average(p[chosen], weights=w), np.average(y[chosen], weights=w)])
        if not weighted:  # Wilson's interval, as scipy has it
            expected = stats.binomtest(int(y[chosen].sum()), int(chosen.sum())).proportion_ci(method="wilson")
            np.testing.assert_allclose(bar[:, 1], [expected.low, expected.high], atol=1e-9)


@pytest.mark.parametrize(("n", "expected"), [(5, 1), (19, 1), (20, 2), (95, 9), (1000, 10)])
def test_no_calibration_bin_has_fewer_than_ten_rows(n, expected):
    rng = np.random.default_rng(0)
    ax = plotting.plot_calibration(rng.random(n) < 0.5, rng.random(n), sensitive_features=["a"] * n, ax=new_axes())
    assert len(ax.lines[1].get_xdata()) == expected


@pytest.mark.parametrize("weighted", [False, True])
def test_scores_are_shares_of_each_group_and_the_legend_has_selection_rates(weighted):
    y, p, groups = rows()
    weight = np.random.default_rng(1).random(y.size) if weighted else None
    how = {"sensitive_features": groups, "sample_weight": weight}
    ax = plotting.plot_scores(p, threshold=0.4, ax=new_axes(), **how)
    assert [patch.get_data().values.sum() for patch in ax.patches] == pytest.approx([100] * 2)
    rates = metrics.selection_rate(None, p > 0.4, **how)
    assert texts(ax) == [*(f"{name} ({100 * rate:.0f} % above)" for name, rate in rates.items()), "threshold 0.4"]
    # A group without weight has no distribution.
    alone = plotting.plot_scores(p, ax=new_axes(), sensitive_features=groups, sample_weight=groups == "group a")
    assert texts(alone) == [f"group a (n = {(groups == 'group a').sum()})"]


@pytest.mark.parametrize("n_folds", [2, 5])
def test_frontier_repeats_become_means_with_students_interval(n_folds):
    table = frontier_table(n_folds=n_folds)
    ax = plotting.plot_frontier(table, confidence=0.9, ax=new_axes())
    for i, (_, own) in enumerate(table.groupby("method", sort=False)):
        groups = own.groupby("kl_weight", dropna=False)
        for axis, column in enumerate(["statistical_parity", "accuracy"]):
            mean = groups[column].mean()
            np.testing.assert_allclose(ax.lines[i].get_xydata()[:, axis], mean)
            ends = stats.t.interval(0.9, n_folds - 1, loc=mean, scale=groups[column].sem())
            np.testing.assert_allclose(segments(ax, axis, i, part=axis), np.transpose(ends))
    assert texts(ax) == ["method 0", "method 1", "a point"]
    assert sorted(text.get_text() for text in ax.texts) == ["0", "0", "2", "2"]


def test_importance_bars_are_shares_in_falling_order():
    table = importances(20)
    widths = []
    for given in (table, table * [300, 0.02, 7]):  # as made with normalize=False
        ax = plotting.plot_importance(given, plain="total_gain", max_features=4, ax=new_axes())
        order = table[["fair_importance", "total_gain"]].abs().max(axis=1).sort_values(ascending=False).index[:4]
        assert [label.get_text() for label in ax.get_yticklabels()] == list(order)
        widths.append([[bar.get_width() for bar in container] for container in ax.containers])
    np.testing.assert_allclose(widths[0], table.loc[order, ["fair_importance", "total_gain"]].T)
    np.testing.assert_allclose(widths[1], widths[0])
    undefined = plotting.plot_importance(table.assign(fair_importance=np.nan), ax=new_axes())
    assert "fair importance (undefined)" in texts(undefined)
    assert len(undefined.get_yticklabels()) == 15


@pytest.mark.parametrize(("metric", "maximised"), [("auc", True), ("logloss", False), ("map", True), ("mape", False)])
def test_each_kl_weight_stands_at_its_best_round(metric, maximised):
    table = cv_table(metric)
    grouped = table[f"test-{metric}-mean"].groupby("kl_weight")
    for maximize in (None, not maximised):
        best = grouped.max() if maximised == (maximize is None) else grouped.min()
        ax = plotting.plot_kl_weight_path(table, maximize=maximize, ax=new_axes())
        np.testing.assert_array_equal(ax.lines[0].get_xydata(), np.c_[[0, 1, 2], best])
        chosen = best.idxmax() if maximised == (maximize is None) else best.idxmin()
        assert texts(ax) == [f"best: {chosen:g}", "without teacher", "± 1 SD over folds"]
    assert [label.get_text() for label in ax.get_xticklabels()] == ["0", "0.5", "10"]


def test_bars_of_a_kl_weight_path_are_the_spread_or_the_interval_of_the_mean():
    scores = np.random.default_rng(0).random((2, 5))
    index = pd.MultiIndex.from_product([[0.5, 1.0], [0]], names=["kl_weight", "round"])
    # As xgboost.cv writes it: the deviation over the folds, divided by their number.
    mean, std = scores.mean(axis=1), scores.std(axis=1)
    table = pd.DataFrame({"test-auc-mean": mean, "test-auc-std": std}, index=index)
    ax = plotting.plot_kl_weight_path(table, ax=new_axes())
    np.testing.assert_allclose(segments(ax, 1, 0), np.c_[mean - std, mean + std])
    ends = stats.t.interval(0.95, 4, loc=mean, scale=stats.sem(scores, axis=1))
    ax = plotting.plot_kl_weight_path(table, nfold=5, ax=new_axes())
    np.testing.assert_allclose(segments(ax, 1, 0), np.transpose(ends))
    assert "without teacher" not in texts(ax)
