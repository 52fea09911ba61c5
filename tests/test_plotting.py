import subprocess
import sys
import warnings
from itertools import combinations

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
from pi_xgb._plots.groups import MIN_ROWS, MOST_POINTS, bin_edges, calibration, path, roc_picture, scored_rows, wilson
from pi_xgb._plots.series import weight_path
from pi_xgb._plots.style import LINES, LONGEST_NAME, MARKERS, MOST, PALETTE, short
from pi_xgb._stats.paired import student


@pytest.fixture(autouse=True)
def no_figure_left():
    yield
    plt.close("all")


def new_axes(width=4.8, height=3.8):
    return Figure(figsize=(width, height), layout="constrained").subplots()


def rows(n=400, n_groups=2, seed=0):
    rng = np.random.default_rng(seed)
    group = rng.integers(0, n_groups, n)
    y = (rng.random(n) < 0.4).astype(int)
    p = np.clip(0.5 + 0.25 * (y - 0.5) * (1 + group) + rng.normal(0, 0.2, n), 0, 1)
    return y, np.round(p, 2), np.array([f"group {c}" for c in "abcdefghijklm"])[group]


def frontier_table(n_folds=5, seed=0):
    rng = np.random.default_rng(seed)
    table = [
        {"method": m, "kl_weight": k, "statistical_parity": 0.2 / (1 + k), "accuracy": 0.8 - 0.01 * k - 0.02 * i}
        for i, m in enumerate(["ours", "theirs"])
        for k in (2.0, 0.0, 0.5)
        for _ in range(n_folds)
    ]
    table += [{"method": "a point", "statistical_parity": 0.05, "accuracy": 0.7} for _ in range(n_folds)]
    frame = pd.DataFrame(table)
    frame[["statistical_parity", "accuracy"]] += rng.normal(0, 0.004, (len(frame), 2))
    return frame.sample(frac=1, random_state=seed)


def cv_table(metric="auc", n_rounds=6, kl_weights=(0.0, 0.5, 10.0), seed=0):
    rng = np.random.default_rng(seed)
    index = pd.MultiIndex.from_product([kl_weights, range(n_rounds)], names=["kl_weight", "round"])
    table = pd.DataFrame(index=index)
    for part in ("train", "test"):
        table[f"{part}-{metric}-mean"] = 0.7 + 0.1 * rng.random(len(index))
        table[f"{part}-{metric}-std"] = 0.01 * rng.random(len(index))
    return table


def importances(n=6):
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"fair_importance": rng.normal(size=n), "gain": rng.random(n), "total_gain": rng.random(n)})
    return (table / table.abs().sum()).set_axis([f"feature {i}" for i in range(n)])


def draw_roc(ax, **data):
    y, p, groups = rows(**data)
    return plotting.plot_roc(y, p, sensitive_features=groups, ax=ax)


def draw_calibration(ax, **data):
    y, p, groups = rows(**data)
    return plotting.plot_calibration(y, p, sensitive_features=groups, ax=ax)


def draw_scores(ax, **data):
    _, p, groups = rows(**data)
    return plotting.plot_scores(p, sensitive_features=groups, threshold=0.5, ax=ax)


DRAW = {
    "plot_roc": draw_roc,
    "plot_calibration": draw_calibration,
    "plot_scores": draw_scores,
    "plot_frontier": lambda ax: plotting.plot_frontier(frontier_table(), ax=ax),
    "plot_importance": lambda ax: plotting.plot_importance(importances(), ax=ax),
    "plot_kl_weight_path": lambda ax: plotting.plot_kl_weight_path(cv_table(), ax=ax),
}
OF_GROUPS = ("plot_roc", "plot_calibration", "plot_scores")


def texts(ax):
    return [text.get_text() for text in ax.get_legend().get_texts()]


# --- what all of them promise -----------------------------------------------------------------------------------


def test_every_public_function_is_drawn_here():
    # A new picture cannot escape the tests below.
    assert sorted(DRAW) == sorted(plotting.__all__)


@pytest.mark.parametrize("name", DRAW)
def test_the_users_axes_are_drawn_on_and_returned(name):
    ax = new_axes()
    # What comes back is the Axes that was given, with something on it, and pyplot never heard of it.
    assert DRAW[name](ax) is ax
    assert ax.has_data()
    assert not plt.get_fignums()


@pytest.mark.parametrize("name", DRAW)
def test_without_axes_a_figure_is_opened(name):
    ax = DRAW[name](None)
    # The new Axes lives in the one figure that pyplot now has.
    assert plt.get_fignums() == [ax.figure.number]


@pytest.mark.parametrize("name", DRAW)
def test_axes_are_labelled_and_explained(name):
    ax = DRAW[name](new_axes())
    # Each picture says what runs to the right; what runs upwards is said too, or is a list of names.
    assert ax.get_xlabel()
    assert ax.get_ylabel() or name == "plot_importance"
    assert texts(ax)


@pytest.mark.parametrize("size", [(3.0, 2.4), (4.8, 3.8), (9.0, 6.0)])
@pytest.mark.parametrize("name", DRAW)
def test_no_text_is_cut_off(name, size):
    ax = DRAW[name](new_axes(*size))
    ax.figure.draw_without_rendering()
    inches = ax.figure.get_tightbbox()
    # All that is drawn, legends and labels included, lies within the figure.
    assert min(inches.x0, inches.y0) >= -0.01
    assert inches.x1 <= size[0] + 0.01
    assert inches.y1 <= size[1] + 0.01


@pytest.mark.parametrize("n_groups", [5, 13])
@pytest.mark.parametrize("name", OF_GROUPS)
def test_many_groups_fit_as_well(name, n_groups):
    ax = DRAW[name](None, n_groups=n_groups, n=600)
    ax.figure.draw_without_rendering()
    inches, size = ax.figure.get_tightbbox(), ax.figure.get_size_inches()
    # A longer legend makes the figure of our own taller, and stays within it.
    assert inches.x1 <= size[0] + 0.01
    assert inches.y1 <= size[1] + 0.01
    assert size[1] > 3.8
    # Ten have a look of their own, the others share one, and the legend counts them.
    named = [text for text in texts(ax) if text.startswith("group ")]
    assert len(named) == min(n_groups, MOST)
    assert any(text.startswith(f"{n_groups - MOST} smaller group") for text in texts(ax)) == (n_groups > MOST)


def test_looks_differ_without_colour():
    # In greyscale, lines and markers still tell all looks apart.
    assert len(set(LINES)) == len(set(MARKERS)) == len(set(PALETTE)) == MOST


def test_the_legend_of_scores_hides_nothing():
    for size in ((3.0, 2.4), (4.8, 3.8)):
        ax = draw_scores(new_axes(*size))
        ax.figure.draw_without_rendering()
        lowest = ax.transData.inverted().transform(ax.get_legend().get_window_extent())[0, 1]
        # The lower end of the legend is above the highest bin.
        assert lowest >= max(patch.get_data().values.max() for patch in ax.patches)


@pytest.mark.parametrize("n_groups", [2, 5, 10])
@pytest.mark.parametrize("name", ["plot_roc", "plot_calibration"])
def test_the_legend_of_curves_hides_nothing(name, n_groups):
    ax = DRAW[name](None, n_groups=n_groups, n=600)
    ax.figure.draw_without_rendering()
    highest = ax.get_legend().get_window_extent().y1
    # The upper end of the legend is below the axis and its name.
    assert highest <= ax.xaxis.get_tightbbox().y0 + 1


@pytest.mark.parametrize("name", ["$a$", "_a", "a" * 60, ("women", "$east$"), 1, float("nan")])
def test_names_are_never_mathematics_nor_hidden(name):
    ax = new_axes()
    legend = ax.legend([ax.plot([0, 1], [0, 1])[0]], [short(name)])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ax.figure.draw_without_rendering()
    text = legend.get_texts()[0]
    # What a reader sees is the name, or its beginning if it is long.
    seen = matplotlib.cbook.strip_math(text.get_text()).replace(r"\$", "$").strip().rstrip("…")
    words = ", ".join(map(str, name)) if isinstance(name, tuple) else str(name)
    assert words.startswith(seen)
    assert min(len(words), 20) <= len(seen) <= 24


def test_without_matplotlib_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    for name, draw in DRAW.items():
        # Each function says what to install.
        with pytest.raises(ImportError, match=r'pip install "pi-xgb\[plot\]"'):
            draw(None)
        assert name in plotting.__all__


@pytest.mark.parametrize(
    ("scores", "ends"), [([0.2, 0.7], (0, 1)), ([0, 1], (0, 1)), ([-0.1, 0.7], (-0.1, 0.7)), ([3, 3], (2.5, 3.5))]
)
def test_bins_are_equal_parts_of_where_scores_may_be(scores, ends):
    np.testing.assert_allclose(bin_edges(np.array(scores, float), 5), np.linspace(*ends, 6))


@pytest.mark.parametrize("name", ["plot_roc", "plot_calibration"])
def test_shares_are_drawn_from_0_to_1_on_a_grid(name):
    ax = DRAW[name](new_axes())
    assert ax.get_xlim() == ax.get_ylim() == (-0.02, 1.02)
    assert all(line.get_visible() for line in [*ax.get_xgridlines(), *ax.get_ygridlines()])


def test_the_longest_name_is_not_cut():
    assert short("a" * LONGEST_NAME) == "a" * LONGEST_NAME
    assert short("a" * (LONGEST_NAME + 1)) == "a" * (LONGEST_NAME - 1) + "…"


def test_importing_the_module_does_not_import_matplotlib():
    code = "import sys, pi_xgb.plotting, pi_xgb._report.report; sys.exit('matplotlib' in sys.modules)"
    # matplotlib is loaded when something is drawn, not before.
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: plotting.plot_roc([0, 1], [0.1, 0.2, 0.3], sensitive_features=[0, 1]), "one value per row"),
        (lambda: plotting.plot_roc([0, 1], [0.1, np.nan], sensitive_features=[0, 1]), "NaN"),
        (lambda: plotting.plot_roc([0, 1], [0.1, np.inf], sensitive_features=[0, 1]), "infinite"),
        (lambda: plotting.plot_roc([0, 1], [0.1, 0.2], sensitive_features=[0, 0]), "one group only"),
        (lambda: plotting.plot_calibration([0, 1], [0.1, 1.2], sensitive_features=[0, 1]), "probabilities"),
        (lambda: plotting.plot_calibration([0, 2], [0.1, 0.2], sensitive_features=[0, 1]), "0 and 1 only"),
        (lambda: plotting.plot_calibration([0, 1], [0.1, 0.2], sensitive_features=[0, 1], n_bins=0), "n_bins"),
        (lambda: plotting.plot_scores([0.1, 0.2], sensitive_features=[0, 1, 1]), "one value per row"),
        (lambda: plotting.plot_scores([0.1, 0.2], sensitive_features=[0, 1], bins=0), "bins must be at least 1"),
        (lambda: plotting.plot_scores([0.1, 0.2], sensitive_features=[0, 1], threshold=np.nan), "threshold is NaN"),
        (lambda: plotting.plot_frontier(frontier_table().drop(columns="accuracy")), "lacks 'accuracy'"),
        (lambda: plotting.plot_frontier(frontier_table().iloc[:0]), "no rows"),
        (lambda: plotting.plot_frontier(frontier_table(), confidence=95), "between 0 and 1"),
        (
            lambda: plotting.plot_frontier(pd.concat([frontier_table().assign(method=i) for i in range(11)])),
            "at most 10",
        ),
        (lambda: plotting.plot_importance(importances()[["gain"]]), "lacks 'fair_importance'"),
        (lambda: plotting.plot_importance(importances(), plain="weight"), "lacks 'weight'"),
        (lambda: plotting.plot_importance(importances(), max_features=0), "max_features"),
        (lambda: plotting.plot_kl_weight_path(cv_table().loc[0.0]), "kl_weight in its index"),
        (lambda: plotting.plot_kl_weight_path(cv_table(), metric="logloss"), r"one of \['auc'\]"),
        (lambda: plotting.plot_kl_weight_path(cv_table().join(cv_table("error"))), "must be one of"),
        (lambda: plotting.plot_kl_weight_path(cv_table(), nfold=1), "nfold must be at least 2"),
    ],
)
def test_bad_input_is_told_before_a_figure_is_opened(call, message):
    with pytest.raises(ValueError, match=message):
        call()
    # No empty figure is left behind.
    assert not plt.get_fignums()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: draw_roc(plt.figure()), "ax must be a matplotlib Axes"),
        (lambda: draw_roc(np.array([1])), "got ndarray"),
        (lambda: plotting.plot_frontier([1, 2]), "pandas.DataFrame"),
        (lambda: plotting.plot_scores([0.1, 0.2], sensitive_features=[0, 1], bins=2.5), "whole number"),
    ],
)
def test_things_of_another_kind_are_refused(call, message):
    with pytest.raises(TypeError, match=message):
        call()


def test_what_the_user_gave_stays_as_it_was():
    y, p, groups = rows()
    frames = [frontier_table(), importances(), cv_table()]
    before = [y.copy(), p.copy(), groups.copy(), *(frame.copy() for frame in frames)]
    plotting.plot_roc(y, p, sensitive_features=groups, ax=new_axes())
    plotting.plot_calibration(y, p, sensitive_features=groups, ax=new_axes())
    plotting.plot_scores(p, sensitive_features=groups, ax=new_axes())
    plotting.plot_frontier(frames[0], ax=new_axes())
    plotting.plot_importance(frames[1], ax=new_axes())
    plotting.plot_kl_weight_path(frames[2], ax=new_axes())
    # Arrays and tables are only read.
    for was, array in zip(before, (y, p, groups), strict=False):
        np.testing.assert_array_equal(was, array)
    for was, frame in zip(before[3:], frames, strict=True):
        pd.testing.assert_frame_equal(was, frame)


# --- ROC --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("weighted", [False, True])
def test_roc_curves_are_those_of_scikit_learn(weighted):
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
        # The legend tells the area under it.
        area = roc_auc_score(y[chosen], p[chosen], sample_weight=w)
        assert f"{name}, AUC {area:.2f}" in texts(ax)


def shaded_area(ax):
    """The area of the filling, by the shoelace formula over its outline, with the sign of each piece."""
    outline = ax.collections[0].get_paths()[0].vertices
    half = (len(outline) - 3) // 2
    one, other = outline[1 : half + 1], outline[half + 2 : -1][::-1]
    gap = one[:, 1] - other[:, 1]
    grid = np.linspace(0, 1, 200_001)[1:-1]
    # Vertical steps are double points: a hair to the right makes them functions.
    x = one[:, 0] + 1e-12 * np.arange(len(one))
    return np.abs(np.interp(grid, x, gap)).mean()


@pytest.mark.parametrize("n_groups", [2, 4])
def test_the_shaded_area_is_abroca(n_groups):
    y, p, groups = rows(n_groups=n_groups, n=300)
    ax = plotting.plot_roc(y, p, sensitive_features=groups, ax=new_axes())
    value = metrics.abroca(y, p, sensitive_features=groups)
    pairs = {
        pair: metrics.abroca(y[chosen], p[chosen], sensitive_features=groups[chosen])
        for pair in combinations(np.unique(groups), 2)
        if (chosen := np.isin(groups, pair)).any()
    }
    widest = max(pairs, key=pairs.get)
    # The legend has the number of pi_xgb.metrics, and the names of the two groups if there are more.
    expected = f"ABROCA {value:.3f}" + (f"\n{widest[0]} – {widest[1]}" if n_groups > 2 else "")
    assert expected in texts(ax)
    # What is shaded has that very area.
    assert shaded_area(ax) == pytest.approx(value, abs=1e-4)


def test_long_curves_are_thinned_for_drawing_only():
    rng = np.random.default_rng(0)
    y, p, groups = rng.integers(0, 2, 20_000), rng.random(20_000), rng.integers(0, 2, 20_000)
    picture = roc_picture(scored_rows(y, p, groups, None), stacklevel=1)
    full = picture.curves[0]
    x, height = path(full)
    # A picture holds a bounded number of points ...
    assert full.fpr.size > MOST_POINTS
    assert x.size == 2 * MOST_POINTS
    # ... which lie on the curve, while the area is that of the whole curve.
    np.testing.assert_allclose(height[::2], full.at(x[::2])[0])
    assert picture.area == metrics.abroca(y, p, sensitive_features=groups)


def test_a_group_without_positives_has_no_curve_and_a_warning():
    y, p, groups = rows(n_groups=3)
    y[groups == "group b"] = 0
    with pytest.warns(metrics.UndefinedRateWarning, match="group b") as caught:
        ax = plotting.plot_roc(y, p, sensitive_features=groups, ax=new_axes())
    # The warning points to the line that called.
    assert caught[0].filename == __file__
    # The other two are compared, and the third is not in the legend.
    rest = groups != "group b"
    value = metrics.abroca(y[rest], p[rest], sensitive_features=groups[rest])
    assert f"ABROCA {value:.3f}\ngroup a – group c" in texts(ax)
    assert not any(text.startswith("group b,") for text in texts(ax))


def test_one_curve_alone_is_not_shaded():
    y, p, groups = rows()
    y[groups == "group b"] = 1
    with pytest.warns(metrics.UndefinedRateWarning, match="group b"):
        ax = plotting.plot_roc(y, p, sensitive_features=groups, ax=new_axes())
    # There is no area between one curve and nothing.
    assert not ax.collections
    assert len(texts(ax)) == 1


# --- calibration ------------------------------------------------------------------------------------------------


def test_calibration_bins_are_those_of_a_loop():
    rng = np.random.default_rng(0)
    p = np.round(rng.random(157), 1)
    y = rng.random(157) < p
    weight = rng.random(157)
    bins = calibration(p, y, weight, 10)
    # Rows of equal score are in the same bin, so the bins are runs of the distinct scores.
    assert np.all(np.diff(bins.score) > 0)
    values = np.unique(p)
    expected, start = [], 0
    ordered = np.sort(p)
    cuts = sorted({int(np.flatnonzero(ordered == ordered[i * 157 // 10])[0]) for i in range(10)})
    for first, last in zip(cuts, [*cuts[1:], 157], strict=True):
        chosen = np.isin(p, np.unique(ordered[first:last]))
        start += chosen.sum()
        w = weight[chosen]
        expected.append((np.average(p[chosen], weights=w), np.average(y[chosen], weights=w)))
    # Each row is in exactly one bin, and a bin shows the weighted means.
    assert start == 157
    assert len(values) >= len(expected)
    np.testing.assert_allclose(np.c_[bins.score, bins.share], expected)


@pytest.mark.parametrize(("n", "expected"), [(5, 1), (19, 1), (20, 2), (95, 9), (1000, 10)])
def test_no_bin_has_fewer_than_ten_rows(n, expected):
    rng = np.random.default_rng(0)
    bins = calibration(rng.random(n), rng.random(n) < 0.5, np.ones(n), 10)
    # A small group has fewer points, not noisier ones, and no row can be read off the picture.
    assert bins.score.size == expected
    assert n // expected >= min(n, MIN_ROWS)


@pytest.mark.parametrize(("k", "n"), [(0, 10), (3, 10), (10, 10), (250, 1000)])
def test_intervals_are_wilsons(k, n):
    low, high = wilson(np.array([k / n]), np.array([float(n)]))
    expected = stats.binomtest(k, n).proportion_ci(method="wilson")
    # The same as scipy's.
    np.testing.assert_allclose([low[0], high[0]], [expected.low, expected.high], atol=1e-6)


def test_weights_of_zero_do_not_make_bins():
    y, p, groups = rows()
    ax = plotting.plot_calibration(
        y, p, sensitive_features=groups, sample_weight=(p > 0.5).astype(float), ax=new_axes()
    )
    # Bins without weight have no share; the curves start where the weight does.
    assert min(line.get_xdata().min() for line in ax.lines[1:]) > 0.5
    assert all(np.isfinite(line.get_ydata()).all() for line in ax.lines)


# --- scores -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("weighted", [False, True])
def test_bins_of_scores_are_shares_of_each_group(weighted):
    y, p, groups = rows()
    weight = np.random.default_rng(1).random(y.size) if weighted else None
    ax = plotting.plot_scores(p, sensitive_features=groups, sample_weight=weight, threshold=0.4, ax=new_axes())
    rates = metrics.selection_rate(None, p > 0.4, sensitive_features=groups, sample_weight=weight)
    for patch in ax.patches:
        # The bins of a group add up to all of it.
        assert patch.get_data().values.sum() == pytest.approx(100)
    # The legend has the selection rates of pi_xgb.metrics.
    assert texts(ax)[:2] == [f"{name} ({100 * rate:.0f} % above)" for name, rate in rates.items()]


def test_scores_of_any_scale_are_drawn():
    _, p, groups = rows()
    ax = plotting.plot_scores(10 * p - 5, sensitive_features=groups, ax=new_axes())
    # Margins get bins over their own range; probabilities over [0, 1], whatever part of it they fill.
    assert ax.get_xlim() == pytest.approx((10 * p.min() - 5, 10 * p.max() - 5))
    assert plotting.plot_scores(p / 2, sensitive_features=groups, ax=new_axes()).get_xlim() == (0, 1)
    assert plotting.plot_scores([7, 7], sensitive_features=[0, 1], ax=new_axes()).get_xlim() == (6.5, 7.5)


# --- frontier ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n_folds", [2, 5])
def test_repeats_become_means_with_students_interval(n_folds):
    table = frontier_table(n_folds=n_folds)
    ax = plotting.plot_frontier(table, confidence=0.9, ax=new_axes())
    for name, line, bars in zip(table["method"].unique(), ax.lines[0::1], ax.containers, strict=False):
        rows_of = table[table["method"] == name]
        means = rows_of.groupby("kl_weight", dropna=False)[["statistical_parity", "accuracy"]].mean()
        # A line runs along kl_weight, whatever the order of the rows.
        np.testing.assert_allclose(np.c_[line.get_data()], means.to_numpy())
        group = rows_of.groupby("kl_weight", dropna=False)["accuracy"]
        low, high = stats.t.interval(0.9, n_folds - 1, loc=group.mean(), scale=group.sem())
        drawn = np.array([segment[:, 1] for segment in bars[2][1].get_segments()])
        # Upwards the bars are scipy's interval of the mean.
        np.testing.assert_allclose(drawn, np.c_[low, high])


def test_given_intervals_are_drawn_as_they_are():
    table = pd.DataFrame(
        {
            "name": ["a", "b"],
            "gap": [0.1, 0.2],
            "auc": [0.8, 0.9],
            "auc_low": [0.7, 0.85],
            "auc_high": [0.85, 0.95],
        }
    )
    ax = plotting.plot_frontier(table, fairness="gap", performance="auc", method="name", ax=new_axes())
    drawn = [bars[2][0].get_segments()[0][:, 1].tolist() for bars in ax.containers]
    # Columns named _low and _high are the ends of the bars.
    np.testing.assert_allclose(drawn, [[0.7, 0.85], [0.85, 0.95]])
    # Without kl_weight there are points and no lines.
    assert all(line.get_linestyle() == "None" for line in ax.lines)
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("gap", "AUC")


def test_single_rows_without_intervals_have_no_bars():
    table = frontier_table(n_folds=1)
    ax = plotting.plot_frontier(table, ax=new_axes())
    # What is not known is not drawn.
    assert not [segment for bars in ax.containers for part in bars[2] for segment in part.get_segments()]
    # The ends of each line tell their kl_weight.
    assert sorted(text.get_text() for text in ax.texts) == ["0", "0", "2", "2"]


@pytest.mark.parametrize("confidence", [0.5, 0.9, 0.95, 0.999])
@pytest.mark.parametrize("freedom", [1, 2, 3, 4, 5, 9, 10, 29, 100])
def test_students_quantiles_are_scipys(freedom, confidence):
    # P(|T| <= x) = confidence, for odd and even degrees of freedom.
    assert student(freedom, confidence) == pytest.approx(stats.t.ppf(0.5 + confidence / 2, freedom), rel=1e-6)


@pytest.mark.parametrize("confidence", [0.1, 0.5, 0.95, 0.999])
def test_students_quantiles_of_one_and_two_degrees_have_formulas(confidence):
    assert student(1, confidence) == pytest.approx(np.tan(np.pi * confidence / 2))
    assert student(2, confidence) == pytest.approx(confidence * np.sqrt(2 / (1 - confidence**2)))


# --- importance -------------------------------------------------------------------------------------------------


def bars_of(ax):
    return [[bar.get_width() for bar in container] for container in ax.containers]


def test_bars_are_the_table_in_falling_order():
    table = importances()
    ax = plotting.plot_importance(table, plain="total_gain", max_features=4, ax=new_axes())
    order = table[["fair_importance", "total_gain"]].abs().max(axis=1).sort_values(ascending=False).index[:4]
    # The features with the longest bars, from the top.
    assert [label.get_text() for label in ax.get_yticklabels()] == list(order)
    fair, plain = bars_of(ax)
    np.testing.assert_allclose(fair, table.loc[order, "fair_importance"])
    np.testing.assert_allclose(plain, table.loc[order, "total_gain"])
    bottom, top = ax.get_ylim()
    assert bottom > top


def test_raw_scores_are_drawn_like_normalised_ones():
    table = importances()
    raw = table * [300, 0.02, 7]
    # A table made with normalize=False gives the same picture.
    np.testing.assert_allclose(
        bars_of(plotting.plot_importance(raw, ax=new_axes())), bars_of(plotting.plot_importance(table, ax=new_axes()))
    )


def test_undefined_fair_importance_is_said():
    table = importances().assign(fair_importance=np.nan)
    ax = plotting.plot_importance(table, ax=new_axes())
    # Gain is still drawn, and the legend says what is missing.
    assert "fair importance (undefined)" in texts(ax)
    assert np.nanmax(bars_of(ax)[1]) == pytest.approx(table["gain"].max())
    zeros = plotting.plot_importance(importances() * 0, ax=new_axes())
    assert np.abs(bars_of(zeros)).max() == 0


# --- kl_weight path ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("metric", "maximised"), [("auc", True), ("logloss", False), ("aucpr", True), ("map", True)])
def test_each_kl_weight_stands_at_its_best_round(metric, maximised):
    table = cv_table(metric)
    found = weight_path(table, None, None, None, 0.95)
    grouped = table[f"test-{metric}-mean"].groupby("kl_weight")
    best = grouped.max() if maximised else grouped.min()
    # XGBoost's rule says which metrics are to be large.
    assert found.maximised is maximised
    np.testing.assert_allclose(found.mean, best)
    assert found.kl_weight[found.best] == (best.idxmax() if maximised else best.idxmin())
    # maximize= overrules the name.
    turned = weight_path(table, metric, not maximised, None, 0.95)
    np.testing.assert_allclose(turned.mean, grouped.min() if maximised else grouped.max())


def test_bars_are_the_spread_or_the_interval_of_the_mean():
    scores = np.random.default_rng(0).random((2, 5))
    index = pd.MultiIndex.from_product([[0.0, 1.0], [0]], names=["kl_weight", "round"])
    # As xgboost.cv writes it: the deviation over the folds, divided by their number.
    table = pd.DataFrame({"test-auc-mean": scores.mean(axis=1), "test-auc-std": scores.std(axis=1)}, index=index)
    np.testing.assert_allclose(weight_path(table, None, None, None, 0.95).half, scores.std(axis=1))
    low, high = stats.t.interval(0.95, 4, loc=scores.mean(axis=1), scale=stats.sem(scores, axis=1))
    # With the number of folds, it is scipy's interval from the scores of the folds.
    np.testing.assert_allclose(weight_path(table, None, None, 5, 0.95).half, (high - low) / 2)


def test_zero_has_a_place_and_a_line_of_its_own():
    ax = plotting.plot_kl_weight_path(cv_table(), ax=new_axes())
    # 0 is the first value under the axis, at the same distance as the others.
    assert [label.get_text() for label in ax.get_xticklabels()] == ["0", "0.5", "10"]
    np.testing.assert_allclose(np.diff(ax.get_xticks()), 1)
    assert "without teacher" in texts(ax)
    # Without 0 in the grid there is nothing to compare with, and no such line.
    other = plotting.plot_kl_weight_path(cv_table(kl_weights=(0.5, 1.0)), ax=new_axes())
    assert "without teacher" not in texts(other)


def test_of_a_long_grid_some_values_are_named_and_the_best_always():
    grid = np.round(np.linspace(0, 5, 41), 3)
    table = cv_table(kl_weights=grid)
    best = weight_path(table, None, None, None, 0.95)
    ax = plotting.plot_kl_weight_path(table, ax=new_axes())
    labels = [label.get_text() for label in ax.get_xticklabels()]
    # Labels do not run into each other, and the best value is among them.
    assert len(labels) <= 11
    assert f"{best.kl_weight[best.best]:g}" in labels
    assert np.diff(ax.get_xticks()).min() >= 4
