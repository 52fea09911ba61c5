"""The parts of a report by themselves: pieces of HTML, the first words, the numbers, the pictures' words."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd
import pytest
import xgboost as xgb
from sklearn.metrics import accuracy_score, brier_score_loss, roc_auc_score

from pi_xgb import metrics
from pi_xgb._report.css import CSS
from pi_xgb._report.html import count, estimate, number, table
from pi_xgb._report.models import ScoredModel, read_model, read_rows
from pi_xgb._report.numbers import COMPARED, Numbers, Resampling, View, _measured
from pi_xgb._report.page import _difference, _gap, _signed
from pi_xgb._report.pictures import draw_comparison, draw_importance, draw_views, picture
from pi_xgb._report.report import report
from pi_xgb._report.settings import INVERSION, WILSON, model_params, page_settings
from pi_xgb._report.summary import summary
from pi_xgb._stats.bootstrap import resamples
from pi_xgb._version import __version__
from pi_xgb.importance import fair_importance
from pi_xgb.metrics._report import ALL

# --- pieces of HTML -----------------------------------------------------------------------------------------


def test_a_table_says_what_heads_what_and_scrolls_if_it_is_wide():
    made = table("Wide & well", ["a", "b"], ["x", "y", "z"], [(["<1>", "2"], ["3", "4", "5"])])
    assert made == (
        '<div class="scroll wide" role="region" tabindex="0" aria-label="Wide &amp; well"><table>'
        "<caption><span>Wide &amp; well</span></caption><thead><tr>"
        '<th scope="col" class="name">a</th><th scope="col" class="name">b</th>'
        '<th scope="col">x</th><th scope="col">y</th><th scope="col">z</th></tr></thead>'
        '<tbody><tr><th scope="row">&lt;1&gt;</th><th scope="row">2</th><td>3</td><td>4</td><td>5</td></tr></tbody>'
        "</table></div>"
    )
    assert table("c", ["a"], ["x", "y", "z"], []).startswith('<div class="scroll" role')


def test_numbers_are_rounded_for_readers_and_whole_for_machines():
    assert number(0.12345) == '<data value="0.12345">0.123</data>'
    assert number(0.12345, 2, signed=True) == '<data value="0.12345">+0.12</data>'
    assert number(-1.0) == '<data value="-1.0">−1.000</data>'
    assert number(-0.0004, signed=True) == '<data value="-0.0004">0.000</data>'
    assert number(float("nan")) == '<span title="not defined on these rows">–</span>'
    assert count(1234567) == '<data value="1234567.0">1\u202f234\u202f567</data>'
    assert count(1234.54) == '<data value="1234.54">1\u202f234.5</data>'


@pytest.mark.parametrize(
    ("row", "signed", "text"),
    [
        ({"a": 0.5}, False, "0.500"),
        ({"a": 0.5, "a_low": np.nan, "a_high": np.nan}, False, "0.500"),
        ({"a": 0.5, "a_low": 0.25, "a_high": 0.75}, False, "0.500<small>0.250 to 0.750</small>"),
        ({"a": 0.5, "a_low": -0.25, "a_high": 0.75}, True, "+0.500<small>−0.250 to +0.750</small>"),
    ],
)
def test_an_interval_stands_beneath_its_value(row, signed, text):
    assert re.sub("</?data[^>]*>", "", estimate(pd.Series(row), "a", signed=signed)) == text


@pytest.mark.parametrize(
    ("value", "low", "high", "open_"),
    [(0.2, 0.1, 0.3, False), (-0.2, -0.3, -0.1, False), (0.2, -0.1, 0.3, True), (0.0, -0.1, 0.1, False),
     (0.2, 0.0, 0.3, True), (-0.2, -0.3, 0.0, True), (0.2, 0.5, 0.9, False), (-0.2, -0.9, -0.5, False)],
)  # fmt: skip
def test_a_sign_is_open_unless_the_interval_has_it(value, low, high, open_):
    found = _signed(pd.Series({"a": value, "a_low": low, "a_high": high}), "a")
    assert ("sign not supported" in found) is open_
    assert re.sub("</?data[^>]*>", "", found).startswith(f"{value:+.3f}<small>".replace("-", "−"))
    assert "sign" not in _signed(pd.Series({"a": value}), "a")


@pytest.mark.parametrize(
    ("low", "high", "expected"),
    [
        (0.01, 0.03, '<span class="sure">+0.0200<small>+0.0100 to +0.0300</small></span>'),
        (0.0, 0.03, "+0.0200<small>+0.0000 to +0.0300</small>"),
        (-0.03, -0.01, '<span class="sure">+0.0200<small>−0.0300 to −0.0100</small></span>'),
        (-0.03, 0.0, "+0.0200<small>−0.0300 to +0.0000</small>"),
        (None, None, "+0.0200"),
    ],
)
def test_a_difference_has_its_sign_and_is_bold_where_that_is_sure(low, high, expected):
    row = pd.Series({"auc": 0.02} if low is None else {"auc": 0.02, "auc_low": low, "auc_high": high})
    assert re.sub("</?data[^>]*>", "", _difference(row, "auc")) == expected


def test_a_gap_stands_beside_what_chance_gives_and_is_bold_where_it_is_more():
    row = {"value": 0.3, "low": 0.1, "high": 0.4, "chance": 0.0512, "between": "a, b"}
    surely = {"p_value": 0.01, "p_adjusted": 0.0204}
    value = "0.300<small>0.100 to 0.400</small>"
    words_ = '<small>by chance 0.051, p 0.020</small><small class="pair-of-groups">a, b</small>'
    for more, confidence, found in (
        (surely, 0.95, f'<span class="sure">{value}</span>{words_}'),
        (surely, 0.99, f"{value}{words_}"),
        ({"p_value": np.nan, "p_adjusted": np.nan}, 0.95, value),
        ({}, 0.95, value),
    ):
        assert re.sub("</?data[^>]*>", "", _gap(pd.Series(row | more), confidence)) == found


# --- rows and models ----------------------------------------------------------------------------------------

Y, GROUP = np.arange(24) % 2, np.arange(24) // 3 % 2


class Known:
    """A model of probabilities that it was told."""

    def __init__(self, p):
        self.p = np.asarray(p, dtype=float)

    def predict_proba(self, x):
        return np.column_stack([1 - self.p, self.p])


def test_what_is_given_counts_more_than_what_a_matrix_brings():
    x = np.zeros((24, 1))
    weight = np.linspace(1, 2, 24)
    bare = read_rows(xgb.DMatrix(x), Y, GROUP, None)
    assert bare.labels.tolist() == (Y == 1).tolist()
    assert bare.weights is None
    own = xgb.DMatrix(x, 1 - Y, weight=np.full(24, 3.0))
    assert read_rows(own, None, GROUP, None).labels.tolist() == (Y == 0).tolist()
    assert read_rows(own, Y, GROUP, weight).labels.tolist() == (Y == 1).tolist()
    np.testing.assert_array_equal(read_rows(own, Y, GROUP, weight).weights, weight)
    np.testing.assert_array_equal(read_rows(own, Y, GROUP, None).weights, np.full(24, 3.0))
    with pytest.raises(TypeError, match=r"dimensions.*DMatrix.*list"):
        read_rows(x.tolist(), Y, GROUP, None)


def test_columns_may_come_in_another_order():
    x = pd.DataFrame({"a": np.arange(24.0), "b": np.arange(24.0) % 5})
    booster = xgb.train({"objective": "binary:logistic", "nthread": 1}, xgb.DMatrix(x, Y), 2)
    single, other = (read_model("m", booster, rows, 24, 0.5).scores for rows in (x, x[["b", "a"]]))
    np.testing.assert_array_equal(single, other)


def test_certain_models_are_models():
    p = np.where(np.arange(24) % 3 == 0, 0.0, 1.0)
    np.testing.assert_array_equal(read_model("m", Known(p), np.zeros((24, 1)), 24, 0.5).scores, p)
    for wrong in (p + 0.001, p - 0.001):
        with pytest.raises(ValueError, match="its predictions must be numbers from 0 to 1, got"):
            read_model("m", Known(wrong), np.zeros((24, 1)), 24, 0.5)


@pytest.mark.parametrize(
    ("params", "expected"),
    [
        ({"objective": "reg:pseudohubererror"}, {}),
        ({"objective": "reg:pseudohubererror", "huber_slope": 2, "eta": 0.1}, {"huber_slope": "2", "eta": "0.1"}),
        # Of other objectives the defaults are told as well.
        ({"objective": "count:poisson"}, {"max_delta_step": "0.7"}),
    ],
)
def test_parameters_that_differ_from_those_of_their_objective(params, expected):
    booster = xgb.train({**params, "nthread": 1}, xgb.DMatrix(np.arange(24.0)[:, None], Y), 1)
    found = model_params(ScoredModel("m", booster, None, np.full(24, 0.5), 0.5, booster, (0, 1, 1)))
    assert found.pop("base_score")
    assert found == {"booster": "gbtree", "objective": params["objective"], **expected}


@pytest.mark.parametrize("weight", [None, np.ones(24)])
@pytest.mark.parametrize("n_boot", [0, 30])
def test_what_models_are_judged_on_is_counted(weight, n_boot):
    y, groups = np.arange(24) % 3 == 0, np.where(np.arange(24) < 5, "few", "many")
    found = page_settings(
        read_rows(np.zeros((24, 1)), y, pd.Series(groups, name="sex"), weight),
        Resampling(n_boot, 0.9, 7),
        "eo",
        "test.csv",
    )
    expected = {"evaluated_on": "test.csv", "rows": "24", "columns": "1"}
    expected |= {"positives (label 1)": "8", "weights": "none" if weight is None else "given"}
    expected |= {"sensitive features": "sex", "groups": "2", "rows in the smallest group": "5", "intervals": "none"}
    if n_boot:
        expected |= {"intervals": "90 % percentile bootstrap, 30 resamples"}
        expected |= {"rates of groups": WILSON, "differences between groups": INVERSION, "random_state": "7"}
    expected |= {"fair importance by": "eo", "pi_xgb": __version__, "xgboost": xgb.__version__}
    assert {name: found[name] for name in expected} == expected
    assert set(found) - set(expected) == {"made on", "numpy", "pandas", "Python"}


# --- numbers ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("weighted", ["no", "little", "one row", "some"])
def test_what_is_measured_is_measured_on_each_resample(weighted):
    rng = np.random.default_rng(0)
    p = np.round(rng.random(24), 1)
    p[:3] = 0.0, 0.5, 1.0
    weight = {"no": None, "little": np.full(24, 1e-4), "one row": np.r_[2.0, np.zeros(23)], "some": rng.random(24)}[
        weighted
    ]
    rows = read_rows(np.zeros((24, 1)), Y, GROUP, weight)
    found = _measured(ScoredModel("m", None, None, p, 0.5), rows, Resampling(6, 0.9, 3))
    draws = np.concatenate([np.ones((1, 24)), *resamples(24, 6, 3)])
    assert found.shape == (7, len(COMPARED))
    for draw, values in zip(draws, found, strict=True):
        w, result = draw * (np.ones(24) if weight is None else weight), dict(zip(COMPARED, values, strict=True))
        kept = w > 0
        if not kept.any():
            assert np.isnan([result["log_loss"], result["brier"], result["accuracy"]]).all()
            continue
        options = {"sample_weight": w[kept]}
        # A probability of 0 for what happened is taken for the least that XGBoost tells from it.
        safe = np.clip(p, 1e-16, None)
        losses = -np.log(np.where(Y == 1, safe, np.clip(1 - p, 1e-16, None)))
        assert result["log_loss"] == pytest.approx(np.average(losses, weights=w))
        assert result["brier"] == pytest.approx(brier_score_loss(Y[kept], p[kept], **options))
        assert result["accuracy"] == pytest.approx(accuracy_score(Y[kept], p[kept] > 0.5, **options))
        if len(set(Y[kept])) == 2:
            assert result["auc"] == pytest.approx(roc_auc_score(Y[kept], p[kept], **options))
        if len(set(GROUP[kept])) == 2:
            rates = [np.average(p[kept & (g == GROUP)] > 0.5, weights=w[kept & (g == GROUP)]) for g in (0, 1)]
            assert result["statistical_parity"] == pytest.approx(abs(np.subtract(*rates)))


# --- the first words ----------------------------------------------------------------------------------------


def view(name, models, p, **more):
    """Gaps of so many models, with their p-values in the order of ``metrics.disparity_report``."""
    gaps = ["statistical_parity", "equalized_odds", "equal_opportunity", "abroca"]
    index = pd.MultiIndex.from_product([models, gaps], names=["model", "gap"])
    found = {"value": 0.3, "low": 0.1, "high": 0.4, "chance": 0.05, "between": "a, b", **more}
    return View(name, 2, pd.DataFrame(found, index=index).assign(p_value=p, p_adjusted=p))


def words(models, views, differences=None, n_boot=100):
    scored = [ScoredModel(name, None, None, np.array([0.5]), 0.5) for name in models]
    performance = pd.DataFrame(index=pd.Index(models))
    rows = read_rows(np.zeros((24, 1)), Y, GROUP, None)
    return summary(scored, rows, Numbers(performance, differences, views, {}, {}, {}), Resampling(n_boot, 0.95, 0))


REST = "after correction for all gaps. This does not prove them 0: the intervals show possible sizes."


def test_gaps_beyond_chance_are_told_the_surest_and_largest_first():
    looked, *gaps, rest, _ = words(["m"], [view("sex", ["m"], [0.02, 0.01, 0.01, 0.9], low=[0.1, 0.2, 0.1, 0])])
    assert looked == "Evaluated: 24 rows, one model, groups by sex (2); 4 gaps between groups."
    assert [found.split(":")[0] for found in gaps] == [
        "equalized odds by sex",
        "equal opportunity by sex",
        "statistical parity by sex",
    ]
    assert rest == f"No more than chance: 1 other gaps, {REST}"


def test_no_more_than_six_gaps_are_told_one_by_one():
    models = ["m", "n"]
    for p, n_told, besides in ([0.9] * 2 + [0.01] * 6, 6, None), ([0.9] + [0.01] * 7, 6, 1):
        output = words(models, [view("sex", models, p)])
        gaps = [text for text in output if "by sex:" in text]
        assert len(gaps) == n_told
        assert gaps[0].startswith(("m, ", "n, "))
        further = [] if besides is None else [f"Further gaps that are more than chance: {besides}. See Fairness."]
        assert [text for text in output if text.startswith("Further")] == further
    assert output[0].startswith("Evaluated: 24 rows, 2 models, groups by sex (2); 8 gaps")


def test_what_cannot_be_told_is_counted():
    output = words(["m"], [view("sex", ["m"], [0.9, np.nan, np.nan, 0.9])])
    assert output[1] == f"No gap is more than chance, {REST}"
    assert output[2] == "Undefined gaps, because a group lacks the compared rate: 2."
    output = words(["m"], [view("sex", ["m"], [0.01, np.nan, np.nan, 0.01])])
    # Nothing is left besides those.
    assert not [text for text in output if "chance" in text and "other gaps" in text]
    assert len(output) == 5


def test_gains_are_sure_where_their_interval_is():
    ends = {"better": (0.1, 0.01, 0.2), "touching": (0.1, 0.0, 0.2), "unknown": (np.nan, np.nan, np.nan)}
    ends |= {"worse": (-0.1, -0.2, -0.01), "below": (-0.1, -0.2, 0.0)}
    differences = pd.DataFrame(ends, index=["auc", "auc_low", "auc_high"]).T
    output = words(["plain", *ends], [view("sex", ["plain", *ends], 0.9)], differences)[2:-1]
    assert output == [
        "better ranks better than plain: AUC +0.100 (+0.010 to +0.200).",
        "touching is not clearly better than plain: AUC +0.100 (+0.000 to +0.200).",
        "unknown is not clearly better than plain: AUC undefined (undefined to undefined).",
        "worse ranks worse than plain: AUC −0.100 (−0.200 to −0.010).",
        "below is not clearly better than plain: AUC −0.100 (−0.200 to +0.000).",
    ]


# --- pictures -----------------------------------------------------------------------------------------------


def box(drawn):
    return [float(part) for part in re.search('viewBox="([^"]*)"', drawn.svg)[1].split()]


def test_a_picture_has_its_size_and_room_for_its_words():
    pytest.importorskip("matplotlib")
    engines = []

    def draw(ax):
        engines.append(ax.figure.get_layout_engine())
        ax.set_title("größe", fontsize=17)

    drawn = picture(draw, "beneath", "in words", "one", (2.0, 1.0))
    assert box(drawn) == [0, 0, 144, 72]
    assert engines[0] is not None
    assert drawn.caption == "beneath"
    assert (drawn.svg[:5], drawn.svg[-6:]) == ("<svg ", "</svg>")
    # Text is text, of its size, in the page's letters and colour.
    assert re.search('style="font-size: 17px; text-anchor: middle; fill: currentColor"[^<]*>größe</text>', drawn.svg)
    # As wide as the page makes it, and with words for it.
    assert re.findall(' ([^ =]+)="', drawn.svg.partition(">")[0]) == ["viewBox", "role", "aria-label"]


def test_each_sensitive_feature_is_drawn_alone_and_then_all_together(monkeypatch):
    drawn = []

    def record(model, rows, table, prefix):
        drawn.append((prefix, list(rows.sensitive), list(rows.groups.names), table["n"].to_list()))
        return [prefix]

    monkeypatch.setattr("pi_xgb._report.pictures.draw_groups", record)
    sensitive = pd.DataFrame({"sex": list("ab" * 4), "age": list("xxyy" * 2)})
    names = [(ALL, ALL), ("a", ALL), ("b", ALL), (ALL, "x"), (ALL, "y"), ("a", "x"), ("b", "y")]
    table = pd.DataFrame({"n": range(7)}, index=pd.MultiIndex.from_tuples(names))
    rows = read_rows(np.zeros((8, 1)), [0, 1, 1, 0] * 2, sensitive, None)
    assert draw_views(None, rows, table, "m") == ["m-0", "m-1", "m"]
    both = [("a", "x"), ("a", "y"), ("b", "x"), ("b", "y")]
    assert drawn == [
        ("m-0", ["sex"], ["a", "b"], [1, 2]),
        ("m-1", ["age"], ["x", "y"], [3, 4]),
        ("m", ["sex", "age"], both, list(range(7))),
    ]
    # One feature needs no view of its own.
    alone = read_rows(np.zeros((8, 1)), [0, 1, 1, 0] * 2, sensitive[["sex"]], None)
    assert draw_views(None, alone, table, "m") == ["m"]


def importance(*fair):
    table = pd.DataFrame({"fair_importance": fair, "gain": 0.1}, index=[f"f{i}" for i in range(len(fair))])
    return draw_importance(ScoredModel("m", None, None, np.array([0.5]), 0.5), table, 15, "m")


def test_the_feature_that_adds_most_bias_is_named(monkeypatch):
    pytest.importorskip("matplotlib")
    monkeypatch.setattr("pi_xgb._report.pictures.picture", lambda _draw, _caption, text, *_size: text)
    for fair, found in (
        ((0.5, -0.2, -0.3), "Most bias is added by f2 (-0.300)."),
        ((0.5, 0.0), "No feature adds bias."),
        ((np.nan, np.nan), "It is undefined on these rows."),
    ):
        assert importance(*fair) == f"Bars of fair importance and gain by feature for m. {found}"


@pytest.mark.slow
def test_a_line_for_each_feature_up_to_those_that_are_drawn():
    pytest.importorskip("matplotlib")
    heights = [box(importance(*[0.1] * n))[3] for n in (1, 2, 8, 9, 15, 20)]
    assert heights[0] == heights[1]
    assert 14 < heights[3] - heights[2] < 36
    assert heights[4] == heights[5]
    assert importance(*[0.1] * 20).svg.count(">f1") == 6  # 1, 10 to 14


def test_up_to_ten_models_are_compared_where_their_gap_is_known():
    pytest.importorskip("matplotlib")

    def compared(n, gap=0.2):
        models = [f"m{i}" for i in range(n)]
        performance = pd.DataFrame({"accuracy": 0.8, "accuracy_low": 0.7, "accuracy_high": 0.9}, index=models)
        of_models = view("sex", models, 0.5, value=gap)
        return draw_comparison(Numbers(performance, None, [of_models], {}, {}, {}))

    assert compared(11) is None
    assert compared(2, np.nan) is None
    assert "m9 accuracy 0.800, difference 0.200." in compared(10).svg
    # Three in a row on the page, each some 400 pixels wide.
    assert box(compared(2)) == pytest.approx([0, 0, 72 * 4.2, 72 * 3.4])


# --- the page -----------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    x = pd.DataFrame(rng.normal(size=(120, 20)), columns=[f"f{i}" for i in range(20)])
    y = (x[["f0", "f5", "f9", "f14", "f19"]].sum(axis=1) > 0).astype(int)
    booster = xgb.train({"objective": "binary:logistic", "max_depth": 1, "nthread": 1}, xgb.DMatrix(x, y), 9)
    booster.set_attr(just="z" * 200)
    return booster, x, y


def page(rows, tmp_path, sensitive, **options):
    booster, x, y = rows
    options = {"n_boot": 0, "pictures": False, "overwrite": True, **options}
    return report(tmp_path / "p.html", booster, x, y, sensitive_features=sensitive, **options).read_text("utf-8")


def plain(text):
    return re.sub("<[^>]*>", "|", text)


def test_fifteen_features_are_shown_and_of_equals_the_first(rows, tmp_path):
    sex = np.arange(120) % 2
    text = page(rows, tmp_path, sex)
    shown = re.findall(r'<th scope="row">(f\d+)</th>', text)
    found = fair_importance(*rows, sensitive_features=sex)[["fair_importance", "gain"]].abs().max(axis=1)
    # In the table's order those that are in no tree.
    assert (found == 0).sum() > 10
    assert shown == sorted(found.index, key=lambda name: (-found[name], int(name[1:])))[:15]
    assert "; 5 more have shorter bars" in text
    assert len(re.findall(r'<th scope="row">(f\d+)</th>', page(rows, tmp_path, sex, max_features=1))) == 1
    # An attribute of two hundred letters is told whole.
    assert "z" * 200 in text


@pytest.mark.parametrize("n_boot", [0, 2])
@pytest.mark.parametrize("kind", ["trees", "another"])
def test_every_table_says_what_is_in_it_and_what_its_small_figures_are(rows, tmp_path, kind, n_boot):
    booster, x, y = rows
    model = booster if kind == "trees" else Known(np.linspace(0, 1, len(y)))
    sex = pd.Series(np.arange(120) % 2, name="sex")
    text = page((model, x, y), tmp_path, sex, n_boot=n_boot, confidence=0.8)
    small = ["80 % percentile bootstrap, 2 resamples", "interval of the true difference"]
    small += ["80 % Wilson intervals of each rate"]
    of_rates, of_gaps, of_groups = (f". Small figures: {words}" if n_boot else "" for words in small)
    assert re.findall("<caption><span>(.*?)</span>", text) == [
        f"Performance on all rows{of_rates}",
        f"Differences between groups by sex (0 = treated alike){of_gaps}",
        f"Groups under model, threshold 0.5{of_groups}",
        "Importances under model, by the longer of fair importance and gain; 5 more have shorter bars",
        "How each model was trained, as far as recorded",
        *["Parameters that differ from XGBoost&#x27;s defaults. A model loaded from a file lacks most of them"]
        * (kind == "trees"),
        "Rows and settings of the evaluation",
    ]
    assert ("This model has no trees of XGBoost" in text) is (kind == "another")
    # One model needs no headings of its own.
    assert "<h3>" not in text


def test_the_other_metric_is_that_of_rows_with_label_one(rows, tmp_path):
    booster, x, y = rows
    sex = np.arange(120) % 2
    for metric, compared in (("dp", "compared over all rows"), ("eo", "compared over the rows with label 1")):
        for n_boot, confidence in ((0, 0.95), (2, 0.8)):
            text = page(rows, tmp_path, sex, importance_metric=metric, n_boot=n_boot, confidence=confidence)
            assert compared in text
            found = fair_importance(booster, x, y, sensitive_features=sex, metric=metric,
                                   confidence=confidence if n_boot else None)  # fmt: skip
            row = found.loc["f0"]
            cell = re.search(r'<th scope="row">f0</th><td>(.*?)</td>', text)[1]
            values = [float(value) for value in re.findall('value="([^"]*)"', cell)]
            assert (
                values
                == row[["fair_importance", "fair_importance_low", "fair_importance_high"][: len(values)]].tolist()
            )
            assert len(values) == (3 if n_boot else 1)


def test_a_feature_of_one_group_has_no_gap_of_its_own(rows, tmp_path):
    sensitive = pd.DataFrame({"sex": np.arange(120) % 2, "all": "one"})
    text = page(rows, tmp_path, sensitive)
    assert (
        re.findall("Differences between groups by (.*?) \\(", text) == ["sex"] * 2 + ["sex × all"] * 2
    )  # label and caption


@pytest.mark.filterwarnings("ignore:.*undefined")
def test_many_intersections_keep_their_order(rows, tmp_path):
    sensitive = pd.DataFrame({"a": np.arange(120) % 6, "b": np.arange(120) // 6 % 5})
    text = page(rows, tmp_path, sensitive)
    booster, x, y = rows
    made = metrics.group_report(y, booster.predict(xgb.DMatrix(x)), sensitive_features=sensitive, n_boot=0)
    names = [tuple(map(str, name)) for name in made.index]
    expected = sorted(names, key=lambda name: -name.count("(all)"))
    shown = re.findall(r'<tr><th scope="row">([^<]*)</th><th scope="row">([^<]*)</th>', text)
    assert shown == expected


def test_a_group_of_ten_rows_is_not_small(rows, tmp_path):
    for n, is_small in ((9, True), (10, False)):
        text = page(rows, tmp_path, np.where(np.arange(120) < n, "few", "many"))
        assert ("Groups of fewer than 10 rows: few." in text) is is_small


def test_a_generator_is_a_seed(rows, tmp_path):
    sex = np.arange(120) % 2
    seed = int(np.random.default_rng(5).integers(2**63))
    single, other = (
        page(rows, tmp_path, sex, n_boot=3, random_state=source) for source in (np.random.default_rng(5), seed)
    )
    assert single == other


@pytest.mark.filterwarnings("ignore")
def test_notes_do_not_depend_on_what_the_user_hears(rows, tmp_path):
    text = page((rows[0], rows[1], rows[2] * (np.arange(120) % 2)), tmp_path, np.arange(120) % 2)
    assert '<section class="note"><h2>Warnings' in text
    assert "is undefined (NaN) in group '0'" in plain(text).replace("&#x27;", "'")


@pytest.mark.slow
def test_the_style_sheet_and_the_page_know_the_same_classes(rows, tmp_path):
    pytest.importorskip("matplotlib")
    booster, x, y = rows
    sensitive = pd.DataFrame({"sex": np.arange(120) % 2, "old": np.arange(120) // 2 % 2})
    turned = xgb.train({"objective": "binary:logistic", "nthread": 1}, xgb.DMatrix(x, 1 - y), 3)
    models, threshold = {"one": booster, "other": turned}, {"one": 0.5, "other": 0.4}
    report(tmp_path / "p.html", models, x, y, sensitive_features=sensitive, n_boot=30, threshold=threshold)
    text = (tmp_path / "p.html").read_text("utf-8")
    styled = set(re.findall(r"\.([a-z][a-z-]*)[^;{}]*\{", CSS))
    used = {name for classes in re.findall('class="([^"]*)"', text) for name in classes.split()}
    assert used <= styled
    assert styled - used <= {"note"}
    assert '<nav aria-label="Contents">' in text
    lead = plain(re.search('<p class="lead">(.*?)</p>', text)[1])
    beginning = (
        "2 models: one, other. 120 rows, groups by sex, old. Rows with a probability above the model's threshold are "
    )
    assert lead.replace("&#x27;", "'").startswith(f"{beginning}selected (one 0.5, other 0.4). Made on ")
    # Each feature by itself, then both: three pictures each, with the numbers of their own groups.
    captions = re.findall("<figcaption>ROC curve[^<]*Groups by ([^<]*)\\.</figcaption>", text)
    assert captions == ["sex", "old", "sex × old"] * 2
    spoken = [plain(label) for label in re.findall('aria-label="ROC curves of one by group. ([^"]*)"', text)]
    for words_, features in zip(spoken, (sensitive[["sex"]], sensitive[["old"]], sensitive), strict=True):
        made = metrics.group_report(y, booster.predict(xgb.DMatrix(x)), sensitive_features=features, n_boot=0)["auc"]
        found = [float(value) for value in re.findall(r"(\d\.\d{3})", words_)]
        groups = made[[("(all)" not in (name if isinstance(name, tuple) else (name,))) for name in made.index]]
        assert found == groups.round(3).tolist()
    assert ">threshold 0.4<" in text
    assert ">threshold 0.5<" in text
