import subprocess
import sys
import warnings
from decimal import Decimal
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
from pi_xgb._plots.groups import MIN_ROWS, MOST_POINTS, _thinned, bin_edges, calibration, path, roc_picture, scored_rows
from pi_xgb._plots.selection import plot_comparison, plot_propensity, plot_selection
from pi_xgb._plots.series import weight_path
from pi_xgb._plots.style import (
    LINES,
    LONGEST_NAME,
    MARKERS,
    MOST,
    PALETTE,
    REFERENCE,
    largest,
    legend_below,
    legend_on_top,
    short,
)
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
    # It has room for a line of the legend for each group.
    width, height = ax.figure.get_size_inches()
    assert width == 4.8
    assert 0.1 < (height - 3.8) / (2 if name in OF_GROUPS else 1) < 0.3


@pytest.mark.parametrize("name", DRAW)
def test_axes_are_labelled_and_explained(name):
    ax = DRAW[name](new_axes())
    # Each picture says what runs to the right; what runs upwards is said too, or is a list of names.
    assert ax.get_xlabel()
    assert ax.get_ylabel() or name == "plot_importance"
    assert texts(ax)
    # What was measured lies above a faint grid, in a corner of two lines.
    faint = {line.get_alpha() for line in ax.get_xgridlines() if line.get_visible()}
    assert faint == {0.3}
    assert ax.get_axisbelow() is True
    assert [name for name, spine in ax.spines.items() if spine.get_visible()] == ["left", "bottom"]


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
    assert size[1] - 3.8 == pytest.approx(0.18 * min(n_groups, MOST + 1))
    # Ten have a look of their own, the others share one, and the legend counts them.
    named = [text for text in texts(ax) if text.startswith("group ")]
    assert len(named) == min(n_groups, MOST)
    assert any(text.startswith(f"{n_groups - MOST} smaller group") for text in texts(ax)) == (n_groups > MOST)


def test_looks_differ_without_colour():
    # In greyscale, lines and markers still tell all looks apart.
    assert len(set(LINES)) == len(set(MARKERS)) == len(set(PALETTE)) == MOST
    # Broken lines begin with a stroke.
    assert {line[0] for line in LINES[1:]} == {0}


def test_the_legend_of_scores_hides_nothing():
    for size in ((3.0, 2.4), (4.8, 3.8)):
        ax = draw_scores(new_axes(*size))
        ax.figure.draw_without_rendering()
        lowest = ax.transData.inverted().transform(ax.get_legend().get_window_extent())[0, 1]
        # The lower end of the legend is above the highest bin.
        highest = max(patch.get_data().values.max() for patch in ax.patches)
        assert 0 <= lowest - highest < 0.2 * ax.get_ylim()[1]
        box, axes = ax.get_legend().get_window_extent(), ax.get_window_extent()
        assert 0 <= axes.y1 - box.y1 < 10
        assert box.x0 + box.x1 == pytest.approx(axes.x0 + axes.x1, abs=2)
        # A title takes a line as well, of the same letters.
        titled = plotting.plot_frontier(frontier_table(), ax=new_axes(*size))
        title, *entries = [titled.get_legend().get_title(), *titled.get_legend().get_texts()]
        assert {text.get_fontsize() for text in entries} == {title.get_fontsize()}
        titled.figure.draw_without_rendering()
        lowest = titled.transData.inverted().transform(titled.get_legend().get_window_extent())[0, 1]
        assert lowest > max(line.get_ydata().max() for line in titled.lines)
        # Of an Axes without room it takes a part only.
        assert draw_scores(new_axes(3.0, 1.3)).get_ylim()[1] == pytest.approx(1.05 * highest / 0.4)


@pytest.mark.parametrize(("title", "n", "room"), [(None, 2, 40), ("title", 2, 55), (None, 6, 100), (None, 50, 180)])
def test_a_legend_on_top_has_fifteen_points_a_line_and_ten_and_not_all_there_is(title, n, room):
    # An Axes as high as its figure, 300 points, of which a legend may take 180.
    ax = Figure(figsize=(3, 300 / 72)).add_axes((0, 0, 1, 1))
    line = ax.plot([2, 5])[0]
    ax.set_ylim(2, 5)
    legend_on_top(ax, [(line, "a")] * n, title)
    assert ax.get_ylim() == pytest.approx((2, 2 + 3 * 300 / (300 - room)))


@pytest.mark.parametrize("highest", [0.97, 1.0, 1.4])
def test_the_room_for_a_legend_has_no_share_above_one(highest):
    table = pd.DataFrame({"method": list("abcdefgh"), "accuracy": np.linspace(0.2, highest, 8),
                          "statistical_parity": 0.1})  # fmt: skip
    ax = plotting.plot_frontier(table, ax=new_axes())
    ax.figure.draw_without_rendering()
    shown = [label.get_text() for label in ax.get_yticklabels()]
    assert len(shown) == len(ax.get_yticks()) > 2
    assert ax.get_ylim()[1] > 1.4
    # Numbers that are no share keep their ticks.
    assert (max(ax.get_yticks()) > 1) == (highest > 1)


@pytest.mark.parametrize("n_groups", [2, 5, 10])
@pytest.mark.parametrize("name", ["plot_roc", "plot_calibration"])
def test_the_legend_of_curves_hides_nothing(name, n_groups):
    ax = DRAW[name](None, n_groups=n_groups, n=600)
    ax.figure.draw_without_rendering()
    highest = ax.get_legend().get_window_extent().y1
    # The upper end of the legend is below the axis and its name.
    assert 0 <= ax.xaxis.get_tightbbox().y0 + 1 - highest < 25
    assert not ax.get_legend().get_frame_on()


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
        with pytest.raises(ImportError, match=r'pip install "\.\[plot\]"'):
            draw(None)
        assert name in plotting.__all__
        # Before it looks at what it was given.
        with pytest.raises(ImportError, match="plots need matplotlib"):
            getattr(plotting, name)(
                *[[7]] * (1 + (name in OF_GROUPS[:2])), **{"sensitive_features": []} if name in OF_GROUPS else {}
            )


@pytest.mark.parametrize("ax", [object(), pd.Series([1.0]), np.array([1])], ids=["object", "plots itself", "several"])
def test_what_is_no_axes_is_refused_by_all(ax):
    for draw in (
        *DRAW.values(),
        lambda ax: plot_selection(choice(), "", ax),
        lambda ax: plot_comparison(models(), "", ax),
        lambda ax: plot_propensity(np.array([0.1, 0.9]), np.array([True, False]), ax),
    ):
        with pytest.raises(TypeError, match=r"ax.*matplotlib Axes"):
            draw(ax)


@pytest.mark.parametrize(
    ("scores", "ends"),
    [
        *(([0.2, 0.7], (0, 1)), ([0, 0.7], (0, 1)), ([0.2, 1], (0, 1)), ([-0.1, 0.7], (-0.1, 0.7))),
        *(([0.2, 1.5], (0.2, 1.5)), ([3, 3], (2.5, 3.5))),
    ],
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
    assert short("a" * 25) == "a" * 23 + "…"


def test_of_many_groups_the_largest_have_looks_and_of_equals_the_first():
    sizes = 5 - np.arange(40) % 2
    assert largest(sizes) == list(range(0, 20, 2))
    assert largest(np.arange(20)) == list(range(10, 20))


@pytest.mark.parametrize(("n", "letters", "columns"), [(4, 5, 1), (5, 5, 2), (5, 22, 2), (5, 23, 1)])
def test_short_entries_of_a_legend_stand_in_two_columns(n, letters, columns):
    ax = new_axes()
    line = ax.plot([0, 1])[0]
    legend_below(ax, [(line, "a"), *[(line, "two lines:\n" + "m" * letters)] * (n - 1)])
    ax.figure.draw_without_rendering()
    assert len({round(text.get_window_extent().x0) for text in ax.get_legend().get_texts()}) == columns


@pytest.mark.slow
def test_importing_the_module_does_not_import_matplotlib():
    code = "import sys, pi_xgb.plotting, pi_xgb._report.report; sys.exit('matplotlib' in sys.modules)"
    # matplotlib is loaded when something is drawn, not before.
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: plotting.plot_roc([0, 1], [0.1, 0.2, 0.3], sensitive_features=[0, 1, 1]), "y_true must .* got 2"),
        (lambda: plotting.plot_roc([0, 1], [0.1, np.nan], sensitive_features=[0, 1]), "y_score must .* 1 missing"),
        (
            lambda: plotting.plot_roc([0, 1], [0.1, np.inf], sensitive_features=[0, 1]),
            "y_score must be finite .* inf in row 1",
        ),
        (lambda: plotting.plot_roc([0, 1], [0.1, 0.2], sensitive_features=[0, 0]), "one group only"),
        (
            lambda: plotting.plot_calibration([0, 1], [0.1, 1.2], sensitive_features=[0, 1]),
            "y_prob must be .* from 0 to 1, got 1.2",
        ),
        (lambda: plotting.plot_calibration([0, 2], [0.1, 0.2], sensitive_features=[0, 1]), "y_true must be .* got 2"),
        (lambda: plotting.plot_calibration([0, 1], [0.1, 0.2], sensitive_features=[0, 1], n_bins=0), "n_bins"),
        (
            lambda: plotting.plot_scores([0.1, 0.2], sensitive_features=[0, 1, 1]),
            "sensitive_features must .* 2 rows, got 3",
        ),
        (lambda: plotting.plot_scores([0.1, 0.2], sensitive_features=[0, 1], bins=0), "bins must be at least 1"),
        (lambda: plotting.plot_scores([0.1, 0.2], sensitive_features=[0, 1], threshold=np.nan), "threshold is NaN"),
        (lambda: plotting.plot_frontier(frontier_table().drop(columns="accuracy")), "lacks 'accuracy'"),
        (lambda: plotting.plot_frontier(frontier_table().iloc[:0]), "table must have rows"),
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
        (lambda: plotting.plot_kl_weight_path(cv_table(), nfold=1), r"nfold.*least 2"),
        (lambda: plotting.plot_kl_weight_path(cv_table(), confidence=95), "between 0 and 1"),
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
        (lambda: draw_roc(plt.figure()), r"ax.*matplotlib Axes"),
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
    single, other = outline[1 : half + 1], outline[half + 2 : -1][::-1]
    gap = single[:, 1] - other[:, 1]
    grid = np.linspace(0, 1, 200_001)[1:-1]
    # Vertical steps are double points: a hair to the right makes them functions.
    x = single[:, 0] + 1e-12 * np.arange(len(single))
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
    assert x.size == 2000
    assert (x[0], x[-1]) == (0, 1)
    few = np.sort(np.r_[0, rng.random(998), 1])
    assert _thinned(few) is few
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


@pytest.mark.parametrize("weight", [1.0, 1e-3])
def test_intervals_are_wilsons(weight):
    labels = np.repeat([0, 0, 1, 1], [10, 5, 5, 10]).astype(bool)
    scores = np.repeat([0.1, 0.2, 0.3], 10)
    bins = calibration(scores, labels, np.full(30, weight), 3)
    np.testing.assert_allclose(bins.score, [0.1, 0.2, 0.3])
    np.testing.assert_allclose(bins.share, [0, 0.5, 1])
    for i, seen in enumerate((0, 5, 10)):
        # The same as scipy's.
        expected = stats.binomtest(seen, 10).proportion_ci(method="wilson")
        np.testing.assert_allclose([bins.low[i], bins.high[i]], [expected.low, expected.high], atol=1e-9)
    # Rows without weight are none, and bins of no others are not there.
    subset = np.r_[np.zeros(10), np.tile([0, weight], 10)]
    fewer = calibration(scores, labels, subset, 3)
    alone = calibration(scores[subset > 0], labels[subset > 0], subset[subset > 0], 2)
    expected = stats.binomtest(int(labels[10:20][1::2].sum()), 5).proportion_ci(method="wilson")
    np.testing.assert_allclose([fewer.low[0], fewer.high[0]], [expected.low, expected.high], atol=1e-9)
    assert fewer.score.tolist() == pytest.approx([0.2, 0.3])
    assert alone.score.size == 1


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
        across = rows_of.groupby("kl_weight", dropna=False)["statistical_parity"]
        ends = stats.t.interval(0.9, n_folds - 1, loc=across.mean(), scale=across.sem())
        drawn = np.array([segment[:, 0] for segment in bars[2][0].get_segments()])
        np.testing.assert_allclose(drawn, np.transpose(ends))
    # Columns of objects hold the same numbers, as those of a data base do.
    objects = table.astype(object).assign(accuracy=table["accuracy"].map(Decimal))
    other = plotting.plot_frontier(objects, confidence=0.9, ax=new_axes())
    for line, same in zip(ax.lines, other.lines, strict=True):
        np.testing.assert_allclose(line.get_xydata(), same.get_xydata())
    # Each method has a colour and a marker of its own, its bars the same colour.
    assert [line.get_marker() for line in ax.lines] == list(MARKERS[:3])
    assert [line.get_color() for line in ax.lines] == list(PALETTE[:3])
    assert [line.get_linestyle() for line in ax.lines] == ["-", "--", "None"]
    assert ax.get_legend().get_title().get_text() == "line ends: kl_weight"


@pytest.mark.parametrize("size", [(3.0, 2.4), (4.8, 3.8)])
def test_what_the_ends_of_a_line_stand_for_is_written_within_the_axes(size):
    table = pd.DataFrame({"method": "a", "kl_weight": [0.0625, 0.125], "accuracy": [0.8, 0.7],
                          "statistical_parity": [0.0758, 0.624]})  # fmt: skip
    ax = plotting.plot_frontier(table, ax=new_axes(*size))
    ax.figure.draw_without_rendering()
    axes, points = ax.get_window_extent(), ax.transData.transform(ax.lines[0].get_xydata())
    for text, (x, _) in zip(ax.texts, points, strict=True):
        box = text.get_window_extent()
        assert axes.x0 < box.x0 < box.x1 < axes.x1
        assert axes.y0 < box.y0 < box.y1 < axes.y1
        # In the middle over its point, by the size of a marker; it moves nothing else.
        assert (box.x0 + box.x1) / 2 == pytest.approx(x, abs=1)
        assert text.xyann == (0, ax.lines[0].get_markersize())
        assert not text.get_in_layout()
    # The line has most of the room, and its axis six steps at most.
    assert np.ptp(points[:, 0]) > 0.7 * axes.width
    assert len(ax.get_xticks()) <= 7


def test_two_points_make_a_line_and_a_method_may_lack_a_name():
    table = pd.DataFrame({"method": ["a", "a", None], "kl_weight": [0.0, 1.0, None], "accuracy": [0.8, 0.7, 0.6],
                          "statistical_parity": [0.3, 0.1, 0.2]})  # fmt: skip
    ax = plotting.plot_frontier(table, ax=new_axes())
    assert [line.get_linestyle() for line in ax.lines] == ["-", "None"]
    assert sorted(text.get_text() for text in ax.texts) == ["0", "1"]
    assert [text.xy for text in ax.texts] == [(0.3, 0.8), (0.1, 0.7)]
    assert ax.get_legend().get_title().get_text() == "line ends: kl_weight"
    assert texts(ax)[0] == "a"
    assert len(texts(ax)) == 2
    points = plotting.plot_frontier(table.assign(method=list("abc")), ax=new_axes())
    assert points.get_legend().get_title().get_text() == ""
    # As many methods as looks.
    plotting.plot_frontier(pd.concat([table.assign(method=str(i)) for i in range(MOST)]), ax=new_axes())


def test_an_interval_need_not_hold_its_estimate():
    table = pd.DataFrame({"method": ["a"], "statistical_parity": [0.1], "accuracy": [0.8],
                          "accuracy_low": [0.82], "accuracy_high": [0.9]})  # fmt: skip
    bars = plotting.plot_frontier(table, ax=new_axes()).containers[0]
    np.testing.assert_allclose(bars[2][-1].get_segments()[0][:, 1], [0.8, 0.9])


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
    # The bars of a pair touch, a bare one above a hatched one, on both sides of a line at 0.
    for i, (item, other) in enumerate(zip(*ax.containers, strict=True)):
        edges = [edge for bar in (item, other) for edge in (bar.get_y(), bar.get_y() + bar.get_height())]
        np.testing.assert_allclose(edges, [i - 0.4, i, i, i + 0.4], atol=1e-12)
        assert (item.get_hatch(), other.get_hatch()) == (None, "////")
        assert item.get_facecolor() == matplotlib.colors.to_rgba(PALETTE[0])
        assert len({*other.get_facecolor()[:3]}) == len({*other.get_edgecolor()[:3]}) == 1
    assert (ax.lines[0].get_xdata(), ax.lines[0].get_color()) == ([0, 0], REFERENCE)
    assert not any(line.get_visible() for line in ax.get_ygridlines())
    # The legend stands above, in the middle, on one line.
    ax.figure.draw_without_rendering()
    box, axes = ax.get_legend().get_window_extent(), ax.get_window_extent()
    assert 0 <= box.y0 - axes.y1 < 15
    assert box.x0 + box.x1 == pytest.approx(axes.x0 + axes.x1, abs=2)
    assert box.height < 30
    assert not ax.get_legend().get_frame_on()


def test_of_many_features_fifteen_are_drawn_and_of_equals_the_first():
    table = importances(40) * 0 + 1
    alternating = table.mul(1 + np.arange(40) % 3, axis=0)
    assert [label.get_text() for label in plotting.plot_importance(alternating, ax=new_axes()).get_yticklabels()] == [
        f"feature {i}" for i in [*range(2, 40, 3), 1, 4]
    ]
    single = plotting.plot_importance(table.astype(object), max_features=1, ax=new_axes())
    assert bars_of(single) == [[1 / 40], [1 / 40]]
    # Also where the absolute values add up to little.
    small = plotting.plot_importance(importances() / 10, ax=new_axes())
    np.testing.assert_allclose(bars_of(small), bars_of(plotting.plot_importance(importances(), ax=new_axes())))


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
    # It is dashed, at the score of 0; the curve runs through all scores, with bars, and the best one is ringed.
    found = weight_path(cv_table(), None, None, None, 0.95)
    plain, curve, best = ax.lines
    assert (plain.get_ydata(), plain.get_linestyle(), plain.get_color()) == ([found.mean[0]] * 2, "--", REFERENCE)
    np.testing.assert_array_equal(curve.get_xydata(), np.c_[[0, 1, 2], found.mean])
    assert (curve.get_marker(), curve.get_color()) == (MARKERS[0], PALETTE[0])
    bars = ax.containers[0]
    segments = [segment[:, 1] for segment in bars[2][0].get_segments()]
    np.testing.assert_allclose(segments, np.c_[found.mean - found.half, found.mean + found.half])
    assert bars[0] is None
    assert bars[2][0].get_colors()[0].tolist() == list(matplotlib.colors.to_rgba(PALETTE[0]))
    np.testing.assert_array_equal(best.get_xydata(), [[found.best, found.mean[found.best]]])
    assert best.get_markersize() > curve.get_markersize()
    assert best.get_color() == PALETTE[1]
    assert texts(ax) == ["± 1 SD over folds", f"best: {found.kl_weight[found.best]:g}", "without teacher"]
    assert ax.get_ylabel() == "held-out auc (↑ better)"
    sure = plotting.plot_kl_weight_path(cv_table("logloss"), nfold=2, confidence=0.9, ax=new_axes())
    assert texts(sure)[0] == "90 % interval"
    assert sure.get_ylabel() == "held-out logloss (↓ better)"


@pytest.mark.parametrize("best", [0, 3, 11, 17, 40])
def test_the_values_next_to_the_best_one_give_way(best):
    grid = np.arange(41) / 4
    table = cv_table(kl_weights=grid, n_rounds=1)
    table["test-auc-mean"] = 0.5
    table.loc[(grid[best], 0), "test-auc-mean"] = 0.9
    kept = plotting.plot_kl_weight_path(table, ax=new_axes()).get_xticks()
    # Ten steps of equal length at most, and of them those that leave it room.
    assert kept.tolist() == sorted({i for i in range(0, 41, 5) if abs(i - best) >= 5} | {best})


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


# --- groups: looks, bars and fillings ---------------------------------------------------------------------------


def test_curves_of_few_groups_have_bars_or_fillings_in_their_colour():
    for n_groups in (3, 4):
        few = n_groups == 3
        curves = draw_calibration(new_axes(), n_groups=n_groups, n=400)
        lines = curves.lines[1:]
        assert [line.get_marker() for line in lines] == list(MARKERS[:n_groups])
        assert len(curves.collections) == (n_groups if few else 0)
        y, p, groups = rows(n_groups=n_groups, n=400)
        for line, bars, name in zip(lines, curves.collections, np.unique(groups), strict=False):
            bins = calibration(p[groups == name], y[groups == name].astype(bool), np.ones((groups == name).sum()), 10)
            np.testing.assert_array_equal(line.get_xydata(), np.c_[bins.score, bins.share])
            ends = np.array([segment.ravel() for segment in bars.get_segments()])
            np.testing.assert_array_equal(ends, np.c_[bins.score, bins.low, bins.score, bins.high])
            assert bars.get_color()[0].tolist() == list(matplotlib.colors.to_rgba(line.get_color()))
        scores = draw_scores(new_axes(), n_groups=n_groups, n=400)
        filled = [patch for patch in scores.patches if patch.get_fill()]
        outlines = [patch for patch in scores.patches if not patch.get_fill()]
        assert (len(outlines), len(filled)) == (n_groups, n_groups if few else 0)
        for outline, filling in zip(outlines, filled, strict=False):
            np.testing.assert_array_equal(outline.get_data().values, filling.get_data().values)
            assert outline.get_data().baseline is None
            assert filling.get_facecolor() == (*outline.get_edgecolor()[:3], 0.12)
        # A legend among few is on top, with room of its own, and one of many below.
        highest = max(patch.get_data().values.max() for patch in scores.patches)
        assert (scores.get_ylim()[1] == pytest.approx(1.05 * highest)) is not few
        assert scores.get_ylim()[0] == 0
        threshold = next(line for line in scores.lines if len(line.get_xdata()))
        assert (threshold.get_xdata(), threshold.get_color()) == ([0.5, 0.5], REFERENCE)
        # ROC curves of many are told apart by a few marks at other places.
        roc = draw_roc(new_axes(), n_groups=n_groups, n=2000).lines[1:]
        assert [line.get_marker() for line in roc] == (["None"] * 3 if few else list(MARKERS[:4]))
        if not few:
            every = [len(line.get_xdata()) // 5 for line in roc]
            assert [line.get_markevery() for line in roc] == [(n * i // MOST, n) for i, n in enumerate(every)]
            # On a curve of few points each has one.
            short_one = plotting.plot_roc([0, 1] * 4, np.arange(8), sensitive_features=list("aabbccdd"), ax=new_axes())
            assert {line.get_markevery() for line in short_one.lines[1:]} == {(0, 1)}


def test_the_diagonal_is_dotted_and_the_shading_lets_through():
    for name in ("plot_roc", "plot_calibration"):
        diagonal = DRAW[name](new_axes()).lines[0]
        assert diagonal.get_xydata().tolist() == [[0, 0], [1, 1]]
        assert (diagonal.get_linestyle(), diagonal.get_color()) == (":", REFERENCE)
    (shading,) = draw_roc(new_axes()).collections
    assert shading.get_facecolor()[0].tolist() == [*matplotlib.colors.to_rgb(REFERENCE), 0.35]


def test_groups_beyond_ten_share_a_faint_line_and_none_is_lost():
    _, _, groups = rows(n_groups=13, n=1300)
    names, sizes = np.unique(groups, return_counts=True)
    for name, data in (("plot_roc", True), ("plot_calibration", True), ("plot_scores", False)):
        ax = DRAW[name](new_axes(), n_groups=13, n=1300)
        drawn = [line for line in ax.lines[1:] if len(line.get_xdata())] if data else ax.patches
        color = [line.get_color() if data else line.get_edgecolor() for line in drawn]
        assert len(drawn) == 13
        assert sum(matplotlib.colors.to_hex(item) == REFERENCE for item in color) == 3
        assert [text.split()[1].strip(",") for text in texts(ax)[:10]] == [
            part.split()[1] for part in names[sorted(np.argsort(-sizes, kind="stable")[:10])]
        ]
        (others,) = (line for line in ax.lines if len(line.get_xdata()) == 0)
        assert others.get_color() == REFERENCE


def test_as_many_points_and_bins_as_the_signature_says():
    y, p, groups = rows(n=1200)
    exact = p + 1e-6 * np.arange(1200)
    exact /= exact.max()
    assert len(plotting.plot_calibration(y, exact, sensitive_features=groups, ax=new_axes()).lines[1].get_xdata()) == 10
    assert plotting.plot_scores(p, sensitive_features=groups, ax=new_axes()).patches[0].get_data().values.size == 20
    single = plotting.plot_calibration(y, p, sensitive_features=groups, n_bins=1, ax=new_axes())
    assert len(single.lines[1].get_xdata()) == 1
    assert plotting.plot_scores(p, sensitive_features=groups, bins=1, ax=new_axes()).get_xlim() == (0, 1)


def test_a_group_without_weight_has_no_distribution():
    weight = np.array([0.25, 0.75, 0, 0, 0.5, 0.5])
    ax = plotting.plot_scores([0.1, 0.2, 0.3, 0.4, 0.5, 0.6], sensitive_features=list("aabbcc"), sample_weight=weight,
                              threshold=0.5, ax=new_axes())  # fmt: skip
    # A weight of 1 in all is one like others; the threshold itself is not above it.
    assert texts(ax) == ["a (0 % above)", "c (50 % above)", "threshold 0.5"]


# --- selections and comparisons ---------------------------------------------------------------------------------


def choice(chosen="jpib 5"):
    index = pd.Index(["plain", "kbpib in-sample 1", "kbpib in-sample 5", "jpib 0.5", "jpib 5"], name="candidate")
    table = {
        "kl_weight": [0.0, 1.0, 5.0, 0.5, 5.0],
        "gain": [0.0, 0.1, 0.2, 0.3, 0.4],
        "gain_se": [0, 0.01, 0.02, 0.03, 0.04],
    }
    return pd.DataFrame(table, index=index).assign(chosen=index == chosen)


def test_the_gain_of_each_way_stands_over_its_weights():
    ax = plot_selection(choice(), "log loss lower by", new_axes())
    assert texts(ax) == ["plain XGBoost", "kbpib in-sample", "jpib", "chosen"]
    zero, *_, ring = ax.lines
    assert (zero.get_ydata(), zero.get_color()) == ([0, 0], REFERENCE)
    for position, (bars, own) in enumerate(zip(ax.containers, (choice().iloc[1:3], choice().iloc[3:]), strict=True)):
        # Side by side where the weights are the same, and hardly moved.
        along = own["kl_weight"] * (1, 1.04)[position]
        np.testing.assert_allclose(bars[0].get_xydata(), np.c_[along, own["gain"]])
        ends = [segment[:, 1] for segment in bars[2][0].get_segments()]
        np.testing.assert_allclose(ends, np.c_[own["gain"] - own["gain_se"], own["gain"] + own["gain_se"]])
        assert (bars[0].get_marker(), bars[0].get_color()) == (MARKERS[position], PALETTE[position])
    np.testing.assert_allclose(ring.get_xydata(), [[5 * 1.04, 0.4]])
    assert (ring.get_fillstyle(), ring.get_color()) == ("none", REFERENCE)
    assert ring.get_markersize() > 2 * bars[0].get_markersize()
    assert ax.get_xscale() == "log"
    assert [label.get_text() for label in ax.get_xticklabels()] == ["0.5", "1", "5"]
    assert ax.get_xticks(minor=True).size == 0
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("kl_weight", "log loss lower by, against plain XGBoost")
    # Where plain XGBoost is chosen nothing is ringed.
    assert "chosen" not in texts(plot_selection(choice("plain"), "", new_axes()))


def models(sizes=(100,)):
    index = pd.MultiIndex.from_product([sizes, ["plain XGBoost", "student", "teacher"]], names=["size", "model"])
    gain = 0.01 * np.arange(len(index))
    return pd.DataFrame({"gain": gain, "low": gain - 0.02, "high": gain + 0.05}, index=index)


def test_the_models_of_one_size_are_rows():
    ax = plot_comparison(models(), "AUC higher by", new_axes())
    assert [label.get_text() for label in ax.get_yticklabels()] == ["student", "teacher"]
    assert ax.get_ylim() == (1.5, -0.5)
    assert (ax.lines[0].get_xdata(), ax.lines[0].get_color()) == ([0, 0], REFERENCE)
    assert ax.get_xlabel() == "AUC higher by, against plain XGBoost"
    for i, bars in zip(range(2), ax.containers, strict=True):
        own = models().iloc[i + 1]
        np.testing.assert_allclose(bars[0].get_xydata(), [[own["gain"], i]])
        np.testing.assert_allclose(bars[2][0].get_segments()[0], [[own["low"], i], [own["high"], i]])
        assert (bars[0].get_marker(), bars[0].get_color()) == (MARKERS[i], PALETTE[i])


def test_the_models_of_several_sizes_are_lines():
    table = models((100, 2000))
    ax = plot_comparison(table, "AUC higher by", new_axes())
    assert texts(ax) == ["plain XGBoost", "student", "teacher"]
    assert [label.get_text() for label in ax.get_xticklabels()] == ["100", "2,000"]
    assert ax.get_xticks(minor=True).size == 0
    assert ax.get_xscale() == "log"
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("training rows", "AUC higher by, against plain XGBoost")
    zero, *lines = ax.lines
    assert (zero.get_ydata(), zero.get_color()) == ([0, 0], REFERENCE)
    for i, (line, band) in enumerate(zip(lines, ax.collections, strict=True)):
        own = table.xs(["student", "teacher"][i], level="model")
        np.testing.assert_allclose(line.get_xydata(), np.c_[[100, 2000], own["gain"]])
        assert (line.get_marker(), line.get_color()) == (MARKERS[i], PALETTE[i])
        box = band.get_paths()[0].get_extents()
        np.testing.assert_allclose([box.x0, box.x1, box.y0, box.y1], [100, 2000, own["low"].min(), own["high"].max()])
        assert band.get_facecolor()[0].tolist() == [*matplotlib.colors.to_rgb(PALETTE[i]), 0.12]
