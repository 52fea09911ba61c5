import datetime
import os
import re
import sys
import warnings
from html.parser import HTMLParser
from pathlib import Path

import matplotlib

matplotlib.use("Agg")

import numpy as np
import pandas as pd
import pytest
import xgboost as xgb
from matplotlib import pyplot as plt
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import accuracy_score, brier_score_loss, log_loss, roc_auc_score

import pi_xgb
from pi_xgb import metrics
from pi_xgb._report import numbers
from pi_xgb._report.css import CSS
from pi_xgb._report.html import Html, joined, number, tag
from pi_xgb._report.report import report
from pi_xgb.constraints import DemographicParity, EqualizedOdds, IndividualFairness
from pi_xgb.importance import fair_importance, shap_gap
from pi_xgb.privacy import PrivateTeacher
from pi_xgb.sklearn import PrivilegedXGBClassifier, by_column

VOID = {"meta", "br", "img", "hr", "input", "link"}
NASTY = '<script>alert("1")</script>'
ENDS = ("", "_low", "_high")


class Page(HTMLParser):
    """What a browser would find: elements with their attributes, text, tables, and whether all is well nested."""

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.elements, self.stack, self.tables, self.ids = [], [], {}, []
        self.text, self.source = "", text
        self._caption, self._table = None, None
        self.feed(text)
        self.close()

    def handle_starttag(self, name, attrs):
        attributes = dict(attrs)
        self.elements.append((name, attributes))
        self.ids += [attributes["id"]] if "id" in attributes else []
        if name not in VOID:
            self.stack.append(name)
        if name == "table":
            self._table, self._caption = [], ""
        elif name == "tr" and self._table is not None:
            self._table.append([])
        elif name in ("td", "th") and self._table is not None:
            self._table[-1].append({"text": "", "values": [], "kind": name, "scope": attributes.get("scope")})
        elif name == "data":
            self._table[-1][-1]["values"].append(float(attributes["value"]))

    def handle_startendtag(self, name, attrs):
        self.elements.append((name, dict(attrs)))
        self.ids += [value for key, value in attrs if key == "id"]

    def handle_endtag(self, name):
        assert self.stack.pop() == name
        if name == "table":
            self.tables[self._caption] = self._table
            self._table = None

    def handle_data(self, data):
        if self.stack and self.stack[-1] in ("style", "script"):
            return
        self.text += data
        if self._table is not None and "caption" in self.stack:
            self._caption += data
        elif self._table and self._table[-1]:
            self._table[-1][-1]["text"] += data

    def table(self, beginning):
        """The only table whose caption begins so: its header, and its rows by name."""
        (found,) = [table for caption, table in self.tables.items() if caption.startswith(beginning)]
        header = [cell["text"] for cell in found[0]]
        rows = {}
        for row in found[1:]:
            names = tuple(cell["text"] for cell in row if cell["scope"] == "row")
            rows[names[0] if len(names) == 1 else names] = [cell for cell in row if cell["scope"] != "row"]
        return header, rows

    def named(self, name):
        return [attributes for element, attributes in self.elements if element == name]


def booster_of(x, y, rounds=5, **params):
    params = {"objective": "binary:logistic", "max_depth": 2, "eta": 0.3, "nthread": 1, **params}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # XGBoost says which kinds of booster will go
        return xgb.train(params, xgb.DMatrix(x, y), rounds)


@pytest.fixture(scope="module")
def data():
    made = pi_xgb.datasets.make_privileged(360, n_features=4, group_gap=1.0, group_share=0.4, seed=0)
    sex = pd.Series(np.where(made.group == 1, "women", "men"), name="sex")
    train, test = slice(0, 160), slice(160, None)
    params = {"objective": "binary:logistic", "max_depth": 2, "eta": 0.3, "nthread": 1}
    dtrain = xgb.DMatrix(made.x[train], made.y[train])
    models = {
        "plain": pi_xgb.train(params, dtrain, 5),
        "guided": pi_xgb.train(params, dtrain, 5, privileged=xgb.DMatrix(made.z[train], made.y[train]), kl_weight=1.0),
    }
    return {"models": models, "x": made.x[test], "y": made.y[test], "sex": sex[test]}


@pytest.fixture
def write(data, tmp_path):
    """Write a report with quick settings, and parse it."""

    def written(models=None, x=None, y=None, sex=None, **options):
        path = report(
            tmp_path / "report.html",
            data["models"] if models is None else models,
            data["x"] if x is None else x,
            data["y"] if y is None else y,
            sensitive_features=data["sex"] if sex is None else sex,
            **{"n_boot": 20, "pictures": False, "overwrite": True, **options},
        )
        return Page(path.read_text(encoding="utf-8"))

    return written


@pytest.fixture(scope="module")
def full(data, tmp_path_factory):
    """A report of two models with all pictures, as text."""
    index = pd.MultiIndex.from_product([[0.0, 1.0], range(3)], names=["kl_weight", "round"])
    table = pd.DataFrame({"test-auc-mean": np.linspace(0.7, 0.8, 6), "test-auc-std": 0.01}, index=index)
    path = tmp_path_factory.mktemp("page") / "full.html"
    weight = np.linspace(0.5, 1.5, len(data["y"]))
    report(
        path, data["models"], data["x"], data["y"], sensitive_features=data["sex"],
        sample_weight=weight, threshold={"plain": 0.5, "guided": 0.4}, cv_table=table, n_boot=30, title="A & B",
    )  # fmt: skip
    return {"text": path.read_text(encoding="utf-8"), "weight": weight, "thresholds": {"plain": 0.5, "guided": 0.4}}


# --- the page ---------------------------------------------------------------------------------------------------


def test_every_class_of_the_style_sheet_is_on_the_page(full):
    styled = set(re.findall(r"\.([a-z][a-z-]+)(?=[^{}]*\{)", CSS))
    used = {name for names in re.findall(r'class="([^"]*)"', full["text"]) for name in names.split()}
    assert styled == used | {"note"}  # of the warnings, of which this page has none


def test_the_page_is_sound(full):
    text = full["text"]
    page = Page(text)
    # Every element is closed where it should be, and no id is there twice.
    assert text.startswith("<!DOCTYPE html>")
    assert page.stack == []
    assert len(set(page.ids)) == len(page.ids)
    # Every link within the page, and every reference within a picture, has its target.
    targets = {attributes["href"][1:] for attributes in page.named("a") + page.named("use")}
    targets |= set(re.findall(r"url\(#([^)]+)\)", text))
    assert targets <= set(page.ids)
    assert {"performance", "fairness", "groups", "features", "settings"} <= targets


def test_the_page_loads_nothing(full):
    text = full["text"]
    page = Page(text)
    # No address of any kind, so nothing to fetch; and a policy that would forbid it.
    assert not re.search(r"https?:|//[a-z]|data:|@import", text)
    assert all(attributes["href"].startswith("#") for _, attributes in page.elements if "href" in attributes)
    assert not [attributes for _, attributes in page.elements if {"src", "srcset", "xlink:href"} & set(attributes)]
    assert not {name for name, _ in page.elements} & {"script", "link", "img", "iframe", "object", "embed", "base"}
    assert not [key for _, attributes in page.elements for key in attributes if key.startswith("on")]
    assert any(meta.get("content", "").startswith("default-src 'none'") for meta in page.named("meta"))


def test_the_page_is_for_phones_paper_and_the_dark(full):
    page = Page(full["text"])
    # The width is that of the device, and style sheets for the dark and for paper are there.
    assert {"name": "viewport", "content": "width=device-width, initial-scale=1"} in page.named("meta")
    assert "prefers-color-scheme: dark" in full["text"]
    assert "@media print" in full["text"]
    # A wide table scrolls in a box of its own that the keyboard reaches.
    boxes = [attributes for attributes in page.named("div") if attributes.get("class", "").startswith("scroll")]
    assert len(boxes) == len(page.named("table"))
    assert all(box["tabindex"] == "0" and box["aria-label"] for box in boxes)
    # On a phone those of many columns say that they scroll.
    assert sum(box["class"] == "scroll wide" for box in boxes) > 3
    assert "Scrolls sideways" in full["text"]


def test_the_page_can_be_heard(full):
    page = Page(full["text"])
    # Headings go down one step at a time from a single first one.
    levels = [int(name[1]) for name, _ in page.elements if re.fullmatch("h[1-6]", name)]
    assert levels.count(1) == 1
    assert levels[0] == 1
    assert max(np.diff(levels)) <= 1
    # Each table has a caption, and its header cells say what they head.
    assert len(page.named("caption")) == len(page.named("table"))
    assert all(attributes.get("scope") in ("col", "row") for attributes in page.named("th"))
    # Each picture has words in its place, with the numbers that it shows.
    pictures = page.named("svg")
    assert len(pictures) == 2 * 4 + 2
    assert all(attributes["role"] == "img" and len(attributes["aria-label"]) > 40 for attributes in pictures)
    assert page.named("html")[0]["lang"] == "en"


def test_pictures_follow_the_colours_of_the_page(full):
    svg = "".join(re.findall(r"<svg.*?</svg>", full["text"], flags=re.S))
    # Text and axes are drawn in the page's own colour, none in black, white or a placeholder.
    assert svg.count("currentColor") > 100
    # Places to a hundredth of a point, in half the letters.
    assert re.search(r' d="[^"]*\d\.\d\d\b', svg)
    assert not re.search(r' d="[^"]*(\d\.\d{3}|\n)', svg)
    assert not re.search(r"#000000|#010203|#ffffff|#fcfdfe|: black|: white", svg)
    assert all("fill: currentColor" in text for text in re.findall(r"<text[^>]*>", svg))


@pytest.mark.slow
def test_two_reports_of_the_same_are_the_same(write, data, tmp_path):
    paths = [
        report(tmp_path / f"{i}.html", data["models"]["plain"], data["x"], data["y"],
               sensitive_features=data["sex"], n_boot=5)
        for i in range(2)
    ]  # fmt: skip
    # Nothing on the page is left to chance.
    assert paths[0].read_bytes() == paths[1].read_bytes()


def test_drawing_leaves_matplotlib_as_it_was(data, tmp_path):
    def written(name):
        model, options = data["models"]["plain"], {"sensitive_features": data["sex"], "n_boot": 0}
        return report(tmp_path / name, model, data["x"], data["y"], **options).read_bytes()

    usual, figures = written("usual.html"), plt.get_fignums()
    with plt.style.context(["dark_background", {"font.size": 20, "lines.linewidth": 5}]):
        before = dict(plt.rcParams)
        own = written("own.html")
        # The user's style neither changes nor shows, and pyplot hears of no figure.
        assert dict(plt.rcParams) == before
    assert own == usual
    assert plt.get_fignums() == figures


# --- the numbers ------------------------------------------------------------------------------------------------


def test_performance_is_that_of_scikit_learn(full, data):
    header, rows = Page(full["text"]).table("Performance on all rows")
    assert header == ["model", "AUC", "log loss", "accuracy", "Brier score"]
    for name, booster in data["models"].items():
        p = booster.predict(xgb.DMatrix(data["x"])).astype(float)
        y, w = data["y"], full["weight"]
        expected = [
            roc_auc_score(y, p, sample_weight=w),
            log_loss(y, p, sample_weight=w),
            accuracy_score(y, p > full["thresholds"][name], sample_weight=w),
            brier_score_loss(y, p, sample_weight=w),
        ]
        # Weighted, at the model's own threshold.
        np.testing.assert_allclose([cell["values"][0] for cell in rows[name]], expected, rtol=1e-7)
        # What is read is the number rounded, with its interval beneath.
        for cell in rows[name]:
            low, high = cell["values"][1:]
            assert cell["text"] == f"{cell['values'][0]:.4f}{low:.4f} to {high:.4f}"
            assert low <= high


def test_groups_are_those_of_group_report(full, data):
    page = Page(full["text"])
    for name, booster in data["models"].items():
        expected = metrics.group_report(
            data["y"], booster.predict(xgb.DMatrix(data["x"])), sensitive_features=data["sex"],
            threshold=full["thresholds"][name], sample_weight=full["weight"], n_boot=30,
        )  # fmt: skip
        header, rows = page.table(f"Groups under {name}")
        assert header[:5] == ["sex", "rows", "weight", "positives", "selected"]
        assert list(rows) == list(expected.index)
        for group, cells in rows.items():
            row = expected.loc[group]
            found = [row[column] for column in ("rows", "weight", "positives", "selected")]
            found += [row[column + end] for column in _report_page_rates() for end in ENDS]
            # To the last digit: value, low and high.
            assert [value for cell in cells for value in cell["values"]] == found


def _report_page_rates():
    from pi_xgb._report.page import RATES

    return RATES


def test_disparities_are_those_of_disparity_report(full, data):
    header, rows = Page(full["text"]).table("Differences between groups")
    assert header == ["model", "statistical parity", "equalized odds", "equal opportunity", "ABROCA"]
    for name, booster in data["models"].items():
        expected = metrics.disparity_report(
            data["y"], booster.predict(xgb.DMatrix(data["x"])), sensitive_features=data["sex"],
            threshold=full["thresholds"][name], sample_weight=full["weight"], n_boot=30,
        )  # fmt: skip
        # To the last digit: value, low and high.
        assert [cell["values"] for cell in rows[name]] == expected[["value", "low", "high"]].to_numpy().tolist()


def test_importances_are_those_of_fair_importance(full, data):
    page = Page(full["text"])
    for name, booster in data["models"].items():
        expected = fair_importance(
            booster, data["x"], data["y"], sensitive_features=data["sex"], sample_weight=full["weight"]
        )
        drivers = shap_gap(booster, data["x"], sensitive_features=data["sex"], sample_weight=full["weight"])
        _, rows = page.table(f"Importances under {name}")
        # All features, the one with the longest bar first.
        assert sorted(rows) == sorted(expected.index)
        longest = expected[["fair_importance", "gain"]].abs().max(axis=1)
        assert list(longest[list(rows)]) == sorted(longest, reverse=True)
        for feature, cells in rows.items():
            found = expected.loc[feature, ["fair_importance", "gain", "total_gain"]].tolist()
            assert [cells[i]["values"][0] for i in (0, 2, 3)] == found
            # Beside it the gap of contributions, and a word where either leaves its sign open.
            gap = drivers.loc[feature]
            assert cells[1]["values"] == [gap["shap_gap"], gap["shap_gap_low"], gap["shap_gap_high"]]
            if gap["shap_gap"]:
                assert ("sign not supported" in cells[1]["text"]) == (gap["sign"] == "not supported")


def test_differences_are_paired(full, data):
    page = Page(full["text"])
    header, rows = page.table("Difference from plain")
    assert list(rows) == ["guided"]
    _, performance = page.table("Performance on all rows")
    _, disparities = page.table("Differences between groups")
    both = {name: [c["values"][0] for c in performance[name] + disparities[name][:3]] for name in performance}
    # The estimate is the second model's number less the first one's.
    np.testing.assert_allclose(
        [cell["values"][0] for cell in rows["guided"]], np.subtract(both["guided"], both["plain"]), atol=1e-12
    )
    assert header[-1] == "equal opportunity"


def test_a_model_does_not_differ_from_itself(write, data):
    plain = data["models"]["plain"]
    page = write({"one": plain, "other": plain.copy()})
    _, rows = page.table("Difference from one")
    # On the same resamples the difference is 0 each time: the interval has no width, and no sign.
    for cell in rows["other"]:
        assert cell["values"] == [0, 0, 0]
        assert "−" not in cell["text"]


def test_a_difference_is_bold_if_its_interval_leaves_out_zero(write, data):
    y = data["y"]
    turned = booster_of(data["x"], 1 - y)
    page = write({"plain": data["models"]["plain"], "turned": turned})
    _, rows = page.table("Difference from plain")
    bold = [low > 0 or high < 0 for _, low, high in (cell["values"] for cell in rows["turned"])]
    # A model of the opposite is surely worse, and as many cells are marked as have such an interval.
    assert bold[0]
    marked = re.search(r"Difference from plain.*?</table>", page.source, flags=re.S)[0].count('class="sure"')
    assert marked == sum(bold)


def test_intervals_of_differences_are_those_of_a_loop(data):
    rng = np.random.default_rng(3)
    y = data["y"].to_numpy()
    scores = [booster.predict(xgb.DMatrix(data["x"])) for booster in data["models"].values()]
    drawn = [rng.integers(y.size, size=y.size) for _ in range(25)]
    loops = [
        [
            log_loss(y[rows], scores[1][rows].astype(float)) - log_loss(y[rows], scores[0][rows].astype(float)),
            roc_auc_score(y[rows], scores[1][rows]) - roc_auc_score(y[rows], scores[0][rows]),
            np.subtract(
                *(
                    metrics.statistical_parity(None, s[rows] > 0.5, sensitive_features=data["sex"].to_numpy()[rows])
                    for s in reversed(scores)
                )
            ),
        ]
        for rows in drawn
    ]
    from pi_xgb._report.models import read_model, read_rows

    scored = read_rows(data["x"], data["y"], data["sex"], None)
    models = [read_model(n, m, data["x"], y.size, 0.5) for n, m in data["models"].items()]
    how = numbers.Resampling(25, 0.8, 3)
    found = numbers.compute(models, scored, how, "dp").differences.loc["guided"]
    # Percentiles over resamples, each of which both models see.
    for name, values in zip(("log_loss", "auc", "statistical_parity"), np.transpose(loops), strict=True):
        np.testing.assert_allclose(
            [found[f"{name}_low"], found[f"{name}_high"]], np.quantile(values, [0.1, 0.9]), atol=1e-7
        )


def test_without_resampling_there_are_no_intervals(write):
    page = write(n_boot=0)
    _, rows = page.table("Performance on all rows")
    # One number per cell, and the settings say so.
    assert all(len(cell["values"]) == 1 for cells in rows.values() for cell in cells)
    assert page.table("Rows and settings of the evaluation")[1]["intervals"][0]["text"] == "none"
    assert "Small figures" not in page.text


def test_intersections_have_their_margins(write, data):
    sensitive = pd.DataFrame({"sex": data["sex"], "old": np.arange(len(data["sex"])) % 2 == 0})
    page = write(data["models"]["plain"], sex=sensitive)
    _, rows = page.table("Groups under model")
    expected = metrics.group_report(
        data["y"], data["models"]["plain"].predict(xgb.DMatrix(data["x"])), sensitive_features=sensitive, n_boot=0
    )
    # The rows of the table are those of group_report, in words,
    found = {tuple(map(str, name)): row["rows"] for name, row in expected.iterrows()}
    assert {name: cells[0]["values"][0] for name, cells in rows.items()} == found
    # all rows first, then each feature by itself, then the intersections.
    assert [name.count("(all)") for name in rows] == [2, 1, 1, 1, 1, 0, 0, 0, 0]
    # Gaps as well: each feature by itself before the intersections.
    tables = [caption for caption in page.tables if caption.startswith("Differences between groups by")]
    assert [caption.split(" by ")[1].split(" (")[0] for caption in tables] == ["sex", "old", "sex × old"]


def test_names_that_no_page_can_hold(write, data):
    # Control characters break SVG, lone surrogates the file: a mark stands in their place.
    groups = pd.Series(
        np.array(["w\x01o", "m\ud83d", "x\x1b"])[np.arange(len(data["y"])) % 3], dtype=object, name="s\x02x"
    )
    page = write({"one\x07\ud812": data["models"]["plain"]}, sex=groups, pictures=True, title="T\x0c\udc00")
    _, rows = page.table("Groups under one")
    assert list(rows) == ["m\ufffd", "w\ufffdo", "x\ufffd", "(all)"]
    assert page.table("Differences between groups by s\ufffdx")
    assert not re.search("[\x00-\x08\x0b\x0c\x0e-\x1f]", page.source)


def test_the_page_begins_in_plain_words(write, data):
    page = write({"one": data["models"]["plain"]}, n_boot=200)
    result = [re.sub("<[^>]*>", "", item) for item in re.findall("<li>(.*?)</li>", page.source.split("In short")[1])]
    # What was looked at,
    assert result[0] == "Evaluated: 200 rows, one model, groups by sex (2); 4 gaps between groups."
    # what stands out and between whom, with what chance alone gives,
    found = " ".join(result)
    gaps = metrics.disparity_report(
        data["y"], data["models"]["plain"].predict(xgb.DMatrix(data["x"])), sensitive_features=data["sex"], n_boot=200
    )
    for name, row in gaps.iterrows():
        # named if it is more than chance for all that is on the page, and only then.
        assert (f"{name.replace('_', ' ')} by sex: {row['between']} differ" in found) == (row["p_adjusted"] <= 0.05)
    # how sure.
    assert "at most 5 % of reports" in found
    # Without draws it warns that gaps may be chance.
    assert "n_boot is 0: large gaps may be chance" in write({"one": data["models"]["plain"]}, n_boot=0).text


def test_groups_keep_their_order(write, data):
    page = write(data["models"]["plain"], sex=np.arange(len(data["y"])) % 11)
    _, rows = page.table("Groups under model")
    # Numbers come as numbers, 10 after 9 and not after 1.
    assert list(rows)[:-1] == [str(i) for i in range(11)]


# --- models -----------------------------------------------------------------------------------------------------


def test_one_model_needs_no_name(write, data):
    page = write(data["models"]["plain"])
    # It is called "model", and there is nobody to compare it with.
    assert list(page.table("Performance on all rows")[1]) == ["model"]
    assert not any(caption.startswith("Difference from") for caption in page.tables)


def test_the_single_model_has_no_comparison_picture(data, tmp_path):
    path = report(tmp_path / "one.html", data["models"]["plain"], data["x"], data["y"],
                  sensitive_features=data["sex"], n_boot=0)  # fmt: skip
    # ROC, calibration, scores and importance.
    assert len(Page(path.read_text(encoding="utf-8")).named("svg")) == 4


def test_estimators_boosters_and_matrices_agree(write, data):
    x, y = data["x"], data["y"]
    model = xgb.XGBClassifier(n_estimators=5, max_depth=2, n_jobs=1).fit(x, y)
    pages = [
        write(model, n_boot=0),
        write(model.get_booster(), n_boot=0),
        write(model.get_booster(), x=xgb.DMatrix(x, y), n_boot=0),
        write(model.get_booster(), x=x.to_numpy(), n_boot=0),
    ]
    for page in pages[1:]:
        # The same trees on the same rows give the same numbers, however they come.
        for beginning in ("Performance", "Differences between", "Groups", "Importances"):
            first, other = (p.table(beginning)[1] for p in (pages[0], page))
            assert {k: [c["values"] for c in v] for k, v in first.items()} == {
                k: [c["values"] for c in v] for k, v in other.items()
            }


def test_a_matrix_brings_labels_and_weights(data, tmp_path):
    weight = np.linspace(0.5, 2, len(data["y"]), dtype=np.float32)
    matrix = xgb.DMatrix(data["x"], data["y"], weight=weight)
    options = {"sensitive_features": data["sex"], "n_boot": 0, "pictures": False}
    own = report(tmp_path / "own.html", data["models"], matrix, **options)
    given = report(tmp_path / "given.html", data["models"], data["x"], data["y"], sample_weight=weight, **options)
    # Left out, they are those of the DMatrix.
    assert own.read_bytes() == given.read_bytes()


def test_models_with_different_features_stand_side_by_side(write, data):
    x = data["x"].assign(extra=np.arange(len(data["y"])) % 7)
    more = booster_of(x[["extra", "x2"]], data["y"])
    page = write({"plain": data["models"]["plain"], "other": more}, x=x)
    # Each under its name, with its groups and its features.
    assert re.findall("<h3>(.*?)</h3>", page.source) == ["Compared with plain", *["plain", "other"] * 2]
    # Each takes its own columns, in its own order, from the one table.
    assert sorted(page.table("Importances under other")[1]) == ["extra", "x2"]
    _, rows = page.table("Performance on all rows")
    expected = roc_auc_score(data["y"], more.predict(xgb.DMatrix(x[["extra", "x2"]])))
    assert rows["other"][0]["values"][0] == pytest.approx(expected)


def test_features_beyond_the_most_are_counted(write):
    caption = "Importances under plain, by the longer of fair importance and gain"
    assert len(write(max_features=4).table(caption)[1]) == 4
    assert len(write(max_features=3).table(f"{caption}; 1 more have shorter bars")[1]) == 3


@pytest.mark.parametrize("classes", [(0, 1), ("no", "yes")])
def test_another_model_is_read_through_a_surrogate(write, data, classes):
    x, y = data["x"], data["y"]
    own = np.array(classes)[y.astype(int)]
    model = LogisticRegression().fit(x, own)
    page = write({"boosted": data["models"]["plain"], "linear": model})
    _, rows = page.table("Performance on all rows")
    # Its scores are its own, and its importances are said to be those of another.
    assert rows["linear"][0]["values"][0] == pytest.approx(roc_auc_score(y, model.predict_proba(x)[:, 1]))
    fit = fair_importance(model, x, own, sensitive_features=data["sex"]).attrs["surrogate"]
    assert f"{fit['r2']:.1%} of the variance" in page.text
    assert page.text.count("surrogate") == 1


def test_models_stopped_early_are_judged_at_their_best(write, data):
    x, y = data["x"], data["y"]
    matrix = xgb.DMatrix(x, y)
    booster = xgb.train(
        {"objective": "binary:logistic", "eta": 1.0, "nthread": 1}, matrix, 30,
        evals=[(xgb.DMatrix(x[::-1].to_numpy(), y, feature_names=list(x)), "valid")],
        early_stopping_rounds=3, verbose_eval=False,
    )  # fmt: skip
    n = booster.best_iteration + 1
    assert n < booster.num_boosted_rounds()
    page = write(booster)
    expected = roc_auc_score(y, booster.predict(matrix, iteration_range=(0, n)))
    # As XGBoost's own estimators predict, and the page says how many rounds that is.
    assert page.table("Performance on all rows")[1]["model"][0]["values"][0] == pytest.approx(expected)
    found = page.table("How each model was trained")[1]["rounds in use"][0]["text"]
    assert found.startswith(f"{n} of {booster.num_boosted_rounds()} (stopped early")


def test_logitraw_is_turned_into_probabilities(write, data):
    matrix = xgb.DMatrix(data["x"], data["y"])
    raw = booster_of(data["x"], data["y"], objective="binary:logitraw", base_score=0.0)
    page = write(raw)
    p = 1 / (1 + np.exp(-raw.predict(matrix).astype(float)))
    # The log loss is that of the sigmoid of the margin.
    assert page.table("Performance")[1]["model"][1]["values"][0] == pytest.approx(log_loss(data["y"], p), rel=1e-6)


# --- settings ---------------------------------------------------------------------------------------------------


def test_settings_say_how_models_were_made(full, data):
    page = Page(full["text"])
    header, rows = page.table("How each model was trained")
    assert header == ["setting", "plain", "guided"]
    # What pi_xgb wrote into the booster, and a dash where it wrote nothing.
    assert [cell["text"] for cell in rows["teachers"]] == ["–", "boosted, kl_weight 1"]
    assert [cell["text"] for cell in rows["pi_xgb_method"]] == ["–", "kbpib"]
    assert [cell["text"] for cell in rows["rounds in use"]] == ["5 of 5", "5 of 5"]
    _, params = page.table("Parameters that differ")
    # As the user wrote them, and nothing that is a default (eta was 0.3) or that does not make the model.
    assert params["max_depth"][0]["text"] == "2"
    assert params["objective"][0]["text"] == "binary:logistic"
    assert set(params) == {"base_score", "booster", "max_depth", "objective"}
    _, scored = page.table("Rows and settings of the evaluation")
    assert scored["rows"][0]["text"] == "200"
    assert scored["columns"][0]["text"] == str(data["x"].shape[1])
    assert scored["evaluated_on"][0]["text"].startswith("file and dates not recorded")
    assert scored["threshold, guided"][0]["text"] == "0.4"
    assert scored["intervals"][0]["text"] == "95 % percentile bootstrap, 30 resamples"
    assert scored["random_state"][0]["text"] == "0"
    assert scored["fair importance by"][0]["text"] == "dp"
    assert scored["xgboost"][0]["text"] == xgb.__version__
    assert scored["pi_xgb"][0]["text"] == pi_xgb.__version__
    today = datetime.date.today().isoformat()
    assert scored["made on"][0]["text"] == today
    assert f"Made on {today} with pi_xgb {pi_xgb.__version__}." in page.text


def test_constraints_are_named_with_their_options_and_weights(write, data):
    group, x, y = np.arange(200) % 3, data["x"], data["y"]
    constraints = [
        (DemographicParity(group, match="mean", hessian="full"), 141),
        (IndividualFairness(features=x.to_numpy()[:, :1], k=3), 0.5),
        (EqualizedOdds(group), 2.0),
        (EqualizedOdds(group), 3.5355339059327378),
    ]
    params = {"objective": "binary:logistic", "max_depth": 2, "nthread": 1}
    booster = pi_xgb.train(params, xgb.DMatrix(x, y), 3, teacher=[(np.full(200, 0.4), 0.1), *constraints])
    page = write(booster, threshold=0.2).table("How each model was trained")[1]
    assert page["trained_on"][0]["text"] == "file and dates not recorded: booster.set_attr(trained_on=...) names them"
    assert page["training rows"][0]["text"] == "200, all with a label"
    booster.set_attr(trained_on="adult.csv, 32,561 rows")
    made = write(booster, threshold=0.1).table("How each model was trained")[1]
    assert made["teachers"][0]["text"] == (
        "array, kl_weight 0.1; DemographicParity(match='mean', hessian='full'), kl_weight 141; "
        "IndividualFairness(k=3), kl_weight 0.5; EqualizedOdds, kl_weight 2; "
        # All digits that it has, so that the page is enough to repeat the training.
        "EqualizedOdds, kl_weight 3.5355339059327378"
    )
    assert made["trained_on"][0]["text"] == "adult.csv, 32,561 rows"


def test_who_has_the_page_and_the_rows_can_repeat_the_training(write, data):
    x, y, sex = data["x"], data["y"], data["sex"].to_numpy()
    params = {"objective": "binary:logistic", "max_depth": 2, "eta": 0.2, "subsample": 0.5, "seed": 5, "nthread": 1}
    constraint = DemographicParity(sex, match="mean", hessian="full")
    booster = pi_xgb.train(params, xgb.DMatrix(x, y), 4, teacher=constraint, kl_weight=3.5)
    page = write(booster, threshold=0.3)
    made, found = (page.table(caption)[1] for caption in ("How each model was trained", "Parameters that differ"))
    kind, weight = made["teachers"][0]["text"].rsplit(", kl_weight ", 1)
    again = pi_xgb.train(
        {name: cells[0]["text"] for name, cells in found.items() if name != "base_score"} | {"nthread": 1},
        xgb.DMatrix(x, y),
        int(made["rounds in use"][0]["text"].split()[0]),
        teacher=eval(kind.replace("(", "(sex, ")),
        kl_weight=float(weight),
    )
    assert again.save_raw() == booster.save_raw()


def test_the_page_has_what_the_booster_records_of_its_teachers(write, data):
    x, y, labelled = data["x"], data["y"], np.arange(200) < 150
    params = {"objective": "binary:logistic", "max_depth": 2, "nthread": 1}
    keywords = {"teacher_params": {"max_depth": 1}, "crossfit": 2, "labelled": labelled}
    z = xgb.DMatrix(pd.DataFrame({"z": np.arange(200) % 7}), y)
    booster = pi_xgb.train(params, xgb.DMatrix(x, y), 2, privileged=z, **keywords)
    page = write(booster, evaluated_on="test.csv, rows of 2025")
    made = page.table("How each model was trained")[1]
    assert made["training rows"][0]["text"] == "200, 150 with a label"
    assert made["teacher settings"][0]["text"] == (
        "boosted: crossfit=2, teacher_sees='privileged', "
        "teacher_params={'max_depth': '1', 'objective': 'binary:logistic'}"
    )
    assert page.table("Rows and settings of the evaluation")[1]["evaluated_on"][0]["text"] == "test.csv, rows of 2025"
    with pytest.raises(TypeError, match="evaluated_on must be a string, got 2025"):
        write(booster, evaluated_on=2025)


def test_a_private_teacher_has_its_guarantee_on_the_page(write, data):
    x, y = data["x"], data["y"]
    teacher = PrivateTeacher(1.0, bounds={"z": (0, 6)})
    teacher.fit(pd.DataFrame({"z": np.arange(200) % 7}), y)
    params = {"objective": "binary:logistic", "max_depth": 2, "nthread": 1}
    # The noise is another one in every run: with this weight the model selects rows under any of it.
    booster = pi_xgb.train(params, xgb.DMatrix(x, y), 2, teacher=teacher, kl_weight=0.01)
    made = write(booster).table("How each model was trained")[1]
    assert made["teachers"][0]["text"] == "PrivateTeacher, kl_weight 0.01"
    assert {name: made[f"pi_xgb_{name}"][0]["text"] for name in ("epsilon", "delta", "epsilon_scope")} == {
        "epsilon": "1",
        "delta": "0",
        "epsilon_scope": "a change of the privileged values of one row; not for x, y",
    }
    assert made["pi_xgb_epsilon_source"][0]["text"]
    assert "teacher settings" not in made


def test_an_estimator_names_the_columns_of_its_constraints(write, data):
    x, y = data["x"], data["y"]
    z = pd.DataFrame({"z": np.arange(200) % 7, "sex": data["sex"].to_numpy() == "men", "race": np.arange(200) % 3})
    constraints = [(DemographicParity("sex"), 141), (by_column(EqualizedOdds, ["sex", "race"], soft=False), 2)]
    model = PrivilegedXGBClassifier(
        n_estimators=3, max_depth=2, n_jobs=1, teacher_sees="all", crossfit=2, kl_weight=5, constraints=constraints
    ).fit(x, y, privileged=z)
    made = write(model).table("How each model was trained")[1]
    assert made["teachers"][0]["text"] == (
        "boosted, kl_weight 5; DemographicParity('sex'), kl_weight 141; "
        "EqualizedOdds(['sex', 'race'], soft=False), kl_weight 2"
    )
    assert (made["teacher_sees"][0]["text"], made["crossfit"][0]["text"]) == ("all", "2")
    # Of the columns the booster itself has none.
    assert "sex" not in model.get_booster().attr("pi_xgb_teacher")


def test_the_gaps_of_a_frontier_stand_side_by_side_under_fairness(write, data):
    dtrain, parity = xgb.DMatrix(data["x"], data["y"]), DemographicParity(data["sex"])
    params = {"objective": "binary:logistic", "max_depth": 2, "nthread": 1}
    found = pi_xgb.frontier(params, dtrain, 3, constraint=parity, kl_weight=1000, nfold=2, n_boot=0)
    gap = float(found.table["statistical_parity"].iloc[1])
    fair = found.train(dtrain, parity, gap=gap)
    page = write({"plain": booster_of(data["x"], data["y"]), "fair & square": fair})
    assert found.at(gap).name == 1000
    train_gap = found.table["statistical_parity_train"].iloc[1]
    both = f"statistical_parity {gap:.3f} on held-out rows, {train_gap:.3f} on training rows"
    assert f"Recorded with the model, fair & square: {both}. A gap that is larger" in page.text
    fair.set_attr(pi_xgb_gap=None)
    assert "Recorded with the model" not in write({"fair": fair}).text


def test_parameters_are_told_as_they_were_given(write, data):
    given = {"eta": 0.1, "subsample": 0.7, "scale_pos_weight": 2.5, "rate_drop": 0.25, "gamma": 0.3, "seed": 7}
    page = write(booster_of(data["x"], data["y"], booster="dart", **given))
    _, params = page.table("Parameters that differ")
    # Each of them is there, with the digits that were typed, and under one name only.
    assert not {"learning_rate", "min_split_loss"} & set(params)
    assert {name: params[name][0]["text"] for name in given} == {name: str(value) for name, value in given.items()}


def test_no_value_of_a_row_is_on_the_page(data, tmp_path):
    rng = np.random.default_rng(0)
    x = pd.DataFrame({"age": rng.normal(size=60), "id": 1e6 + np.arange(60) * 1009.0})
    y = rng.integers(0, 2, 60)
    path = report(tmp_path / "p.html", booster_of(x, y), x, y, sensitive_features=rng.integers(0, 2, 60), n_boot=5)
    text = path.read_text(encoding="utf-8")
    # Neither a feature's value nor the folder where the page lies.
    assert not any(f"{value:.6g}" in text for value in x["id"])
    assert str(tmp_path) not in text


# --- names ------------------------------------------------------------------------------------------------------


def test_names_are_shown_and_never_obeyed(data, tmp_path):
    # XGBoost itself refuses names with "<".
    x = data["x"].rename(columns={"x0": "&lt;b&gt; 'income' \" > x", "x1": "日本", "x2": "$x$", "x3": "_hidden"})
    booster = booster_of(x, data["y"])
    booster.set_attr(note=NASTY + "'\"><img src=x onerror=alert(1)>", long="y" * 1000)
    model = LogisticRegression().fit(x, data["y"])
    groups = data["sex"].map({"men": "<i>men</i>", "women": "women' onload='x"}).rename("</table><b>sex")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        path = report(
            tmp_path / "nasty.html", {NASTY: booster, "</title>&amp;": model}, x, data["y"],
            sensitive_features=groups, title=f"{NASTY}</title>", n_boot=5,
        )  # fmt: skip
    text = path.read_text(encoding="utf-8")
    page = Page(text)
    # The page stays well nested, and no name has become an element or an attribute.
    assert page.stack == []
    assert not {name for name, _ in page.elements} & {"script", "img", "b", "i"}
    assert not [key for _, attributes in page.elements for key in attributes if key.startswith("on")]
    # Each name can be read as it is.
    for name in (
        NASTY,
        "</title>&amp;",
        "<i>men</i>",
        "women' onload='x",
        "</table><b>sex",
        "&lt;b&gt; 'income' \" > x",
    ):
        assert name in page.text
    assert "日本" in page.text
    # What would fill the page is cut.
    assert "y" * 199 + "…" in page.text
    assert "y" * 200 not in page.text


def test_html_is_escaped_unless_it_says_that_it_is_html():
    # Plain text never becomes an element, attributes never end early, and what is put together stays HTML.
    assert tag("p", "<b>", class_='x" y="') == '<p class="x&quot; y=&quot;">&lt;b&gt;</p>'
    assert tag("p", tag("b", "x")) == "<p><b>x</b></p>"
    assert isinstance(joined(["<", tag("b", "x")]), Html)
    assert number(float("nan")).startswith("<span")
    assert ">−0.500<" in number(-0.5)
    assert ">0.000<" in number(-0.0001)


# --- notes and warnings -----------------------------------------------------------------------------------------


def test_what_is_undefined_is_said_on_the_page_and_to_the_user(data, tmp_path):
    y = data["y"].where(data["sex"] == "men", 0)
    with pytest.warns(metrics.UndefinedRateWarning, match="women") as caught:
        path = report(tmp_path / "gaps.html", data["models"], data["x"], y, sensitive_features=data["sex"], n_boot=5)
    page = Page(path.read_text(encoding="utf-8"))
    header, rows = page.table("Groups under plain")
    # A rate that does not exist is a dash, never 0.
    assert rows["women"][header.index("true positive rate") - 1]["text"] == "–"
    assert "Warnings" in page.text
    assert "true_positive_rate is undefined (NaN) in group 'women'" in page.text
    # The user hears of each once, though there are two models, and from the line that called.
    texts = [str(warning.message) for warning in caught]
    assert len(set(texts)) == len(texts)
    assert {warning.filename for warning in caught} == {__file__}
    assert "undefined" in " ".join(attributes["aria-label"] for attributes in page.named("svg"))


def test_a_warning_names_its_model_where_another_model_has_none(data, tmp_path):
    thresholds = {"plain": 0.999, "guided": 0.2}
    with pytest.warns(metrics.UndefinedRateWarning) as caught:
        path = report(
            tmp_path / "one.html",
            data["models"],
            data["x"],
            data["y"],
            sensitive_features=data["sex"],
            threshold=thresholds,
            n_boot=0,
            pictures=False,
        )
    texts = [str(warning.message) for warning in caught]
    assert texts
    assert all(text.startswith("plain: precision is undefined") for text in texts)
    assert texts[0] in Page(path.read_text(encoding="utf-8")).text


def test_small_groups_are_named(write, data):
    groups = data["sex"].to_numpy().astype(object)
    groups[:6] = ["rare"] * 6
    page = write(data["models"]["plain"], sex=groups)
    # A reader is told that six rows are few.
    assert "Groups of fewer than 10 rows: rare." in page.text
    assert "Groups of fewer" not in write(data["models"]["plain"]).text


def test_missing_groups_are_a_group(write, data):
    groups = data["sex"].copy()
    groups.iloc[::4] = None
    _, rows = write(data["models"]["plain"], sex=groups).table("Groups under model")
    # No row disappears from view.
    assert set(rows) == {"men", "women", "missing", "(all)"}


# --- the file ---------------------------------------------------------------------------------------------------


def test_an_existing_file_is_left_alone(data, tmp_path):
    path = tmp_path / "report.html"
    path.write_text("mine")
    options = {"sensitive_features": data["sex"], "n_boot": 0, "pictures": False}
    # That is found out before anything else.
    with pytest.raises(FileExistsError, match="overwrite=True"):
        report(path, {}, None, **options)
    assert path.read_text() == "mine"
    # It is replaced on request, as a whole.
    assert report(str(path), data["models"], data["x"], data["y"], overwrite=True, **options) == path
    assert path.read_text(encoding="utf-8").startswith("<!DOCTYPE html>")
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("linking", [True, False])
def test_a_file_that_appears_meanwhile_is_left_alone(data, tmp_path, monkeypatch, linking):
    path = tmp_path / "report.html"
    if not linking:
        monkeypatch.setattr(os, "link", lambda *_: (_ for _ in ()).throw(OSError("no links here")))

    def slow(*args):
        path.write_text("somebody else's")
        return "page"

    monkeypatch.setattr("pi_xgb._report.report.page", slow)
    with pytest.raises(FileExistsError, match="overwrite=True"):
        report(path, data["models"], data["x"], data["y"], sensitive_features=data["sex"], n_boot=0, pictures=False)
    # Also when it was not there at the start; and no draft is left.
    assert path.read_text() == "somebody else's"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("overwrite", [False, True])
@pytest.mark.parametrize("linking", [True, False])
def test_an_error_leaves_no_file(data, tmp_path, monkeypatch, overwrite, linking):
    path = tmp_path / "report.html"
    options = {"sensitive_features": data["sex"], "n_boot": 0, "pictures": False, "overwrite": overwrite}

    def broken(*args, **kwargs):
        raise OSError("no space left")

    with monkeypatch.context() as patched:
        patched.setattr(os, "replace", broken)
        patched.setattr(os, "rename", broken)
        patched.setattr(os, "link", broken)
        with pytest.raises(OSError, match="no space left"):
            report(path, data["models"], data["x"], data["y"], **options)
    # Neither half a page nor a draft of it.
    assert list(tmp_path.iterdir()) == []
    if not linking:
        monkeypatch.setattr(os, "link", broken)
    # A file system without links does as well.
    report(path, data["models"], data["x"], data["y"], **options)
    assert list(tmp_path.iterdir()) == [path]
    # Others may read the page, as far as the user's own settings allow.
    plain = tmp_path / "plain"
    plain.touch()
    assert path.stat().st_mode == plain.stat().st_mode


def test_warnings_as_errors_leave_no_file(data, tmp_path):
    y = data["y"].where(data["sex"] == "men", 0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(metrics.UndefinedRateWarning):
            report(tmp_path / "r.html", data["models"], data["x"], y, sensitive_features=data["sex"], n_boot=0)
    assert list(tmp_path.iterdir()) == []


# --- bad input --------------------------------------------------------------------------------------------------


def bad(**changes):
    return changes


@pytest.mark.parametrize(
    ("changes", "error", "message"),
    [
        (bad(models={}), ValueError, "models is empty"),
        (bad(models=["a"]), TypeError, "dict from names to models"),
        (bad(models="booster"), TypeError, "model 'model' must be an xgboost.Booster"),
        (bad(models=lambda m: {1: m["plain"], "1": m["plain"]}), ValueError, r"models.*equal.*\['1', '1'\]"),
        (bad(x=lambda x: x.drop(columns="x1")), ValueError, "model 'plain'.*x1"),
        (bad(x=lambda x: x.rename(columns={"x1": "u"})), ValueError, "model 'plain'.*u"),
        (bad(x=lambda x: x.to_numpy()[:, :2]), ValueError, "model 'plain'.*4 features of the booster, got 2"),
        (bad(x=lambda x: x.iloc[:-1]), ValueError, "y must .* 199 rows of X, got 200"),
        (bad(x=lambda x: x["x1"]), TypeError, "two dimensions"),
        (bad(y=lambda y: y + 1), ValueError, "y must be .* got 2 in row"),
        (bad(y=lambda y: y.where(y == 0)), ValueError, "y must .* missing"),
        (bad(y=None), TypeError, "y must have one value per row, got None"),
        (bad(y=None, x=lambda x: xgb.DMatrix(x)), ValueError, "y must .* 200 rows of X, got 0"),
        (bad(sex=lambda s: s[:-2]), ValueError, "sensitive_features must .* 200 rows, got 198"),
        (bad(sex=lambda s: s.map({"men": "all", "women": "all"})), ValueError, "one group only"),
        (bad(sex=lambda s: pd.Series([1, "1"] * 100, dtype=object)), ValueError, "sensitive_features.*same as text"),
        (bad(sex=lambda s: pd.DataFrame({1: s, "1": s})), ValueError, "sensitive_features.*same name"),
        (bad(sample_weight=-np.ones(200)), ValueError, "sample_weight must be .* got -1 in row 0"),
        (bad(threshold={"plain": 0.5}), ValueError, r"threshold.*\['plain'\]"),
        (bad(threshold="high"), TypeError, "threshold must be one number"),
        (bad(title=None), TypeError, "title must be .*None"),
        (bad(importance_metric="sp"), ValueError, "importance_metric must be one of 'dp', 'eo'"),
        (bad(max_features=0), ValueError, "max_features"),
        (bad(n_boot=-1), ValueError, "n_boot must be at least 0"),
        (bad(confidence=95), ValueError, "confidence"),
        (bad(cv_table=pd.DataFrame({"a": [1]})), ValueError, "cv_table.*pictures=True"),
        (bad(cv_table=pd.DataFrame({"a": [1]}), pictures=True), ValueError, "kl_weight in its index"),
    ],
)
def test_bad_input_is_told_and_leaves_no_file(data, tmp_path, monkeypatch, changes, error, message):
    def never(*args):
        raise AssertionError("computed before everything was checked")

    monkeypatch.setattr("pi_xgb._report.report.compute", never)
    options = {
        "models": data["models"], "x": data["x"], "y": data["y"], "sex": data["sex"],
        "n_boot": 0, "pictures": False,
    }  # fmt: skip
    for name, change in changes.items():
        options[name] = change(options[name]) if callable(change) else change
    with pytest.raises(error, match=f"(?s){message}"):
        report(
            tmp_path / "r.html", options.pop("models"), options.pop("x"), options.pop("y"),
            sensitive_features=options.pop("sex"), **options,
        )  # fmt: skip
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"objective": "reg:squarederror", "base_score": 5.0}, "predictions must be .* from 0 to 1, .*binary:logistic"),
        ({"objective": "multi:softprob", "num_class": 2}, "outputs.* 2"),
        ({"booster": "gblinear"}, "trees.*gblinear"),
    ],
)
@pytest.mark.filterwarnings("ignore:.*deprecated:UserWarning")
def test_models_of_another_kind_are_refused_by_name(write, data, params, message):
    strange = booster_of(data["x"], data["y"], **params)
    with pytest.raises(ValueError, match=f"model 'strange'.*{message}"):
        write({"plain": data["models"]["plain"], "strange": strange})


def test_other_models_are_checked_as_well(write, data):
    class Three:
        def predict_proba(self, x):
            return np.full((len(x), 3), 1 / 3)

    with pytest.raises(ValueError, match=r"model 'three'.*\(200, 3\)"):
        write({"three": Three()})
    with pytest.raises(TypeError, match=r"model 'linear'.*DMatrix"):
        write({"linear": LogisticRegression().fit(data["x"], data["y"])}, x=xgb.DMatrix(data["x"]))


@pytest.mark.parametrize(
    ("path", "error", "message"),
    [(".", IsADirectoryError, "folder"), ("nowhere/report.html", FileNotFoundError, "create it first")],
)
def test_bad_paths_are_told_first(data, tmp_path, path, error, message):
    with pytest.raises(error, match=message):
        report(tmp_path / path, {}, None, sensitive_features=None)
    assert list(tmp_path.iterdir()) == []


def test_without_matplotlib_pages_have_no_pictures(data, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    options = {"sensitive_features": data["sex"], "n_boot": 0}
    with pytest.raises(ImportError, match=r'pip install "\.\[plot\]"'):
        report(tmp_path / "r.html", data["models"], data["x"], data["y"], **options)
    assert list(tmp_path.iterdir()) == []
    # Numbers need no matplotlib.
    path = report(tmp_path / "r.html", data["models"], data["x"], data["y"], pictures=False, **options)
    assert isinstance(path, Path)
    assert "<svg" not in path.read_text(encoding="utf-8")


def test_what_the_user_gave_stays_as_it_was(data, tmp_path):
    x, y, sex = data["x"].copy(), data["y"].copy(), data["sex"].copy()
    matrix = xgb.DMatrix(x, y)
    raw = {name: bytes(booster.save_raw()) for name, booster in data["models"].items()}
    for i, rows in enumerate((x, matrix)):
        report(tmp_path / f"{i}.html", data["models"], rows, y, sensitive_features=sex, n_boot=0, pictures=False)
    # Tables, matrices and models are only read.
    pd.testing.assert_frame_equal(x, data["x"])
    pd.testing.assert_series_equal(y, data["y"])
    pd.testing.assert_series_equal(sex, data["sex"])
    assert matrix.feature_names == list(x)
    assert {name: bytes(booster.save_raw()) for name, booster in data["models"].items()} == raw
