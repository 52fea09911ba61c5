"""The report: its numbers against pi_xgb.metrics, scikit-learn and loops; one page; errors on bad input."""

from __future__ import annotations

import json
import re
import sys
import warnings
from html.parser import HTMLParser

import matplotlib

matplotlib.use("Agg")

import numpy as np
import pandas as pd
import pytest
import xgboost as xgb
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import accuracy_score, brier_score_loss, log_loss, roc_auc_score

import pi_xgb
from pi_xgb import metrics, report
from pi_xgb.constraints import DemographicParity, EqualizedOdds
from pi_xgb.importance import fair_importance, shap_gap
from pi_xgb.privacy import PrivateTeacher
from pi_xgb.sklearn import PrivilegedXGBClassifier, by_column

PARAMS = {"objective": "binary:logistic", "max_depth": 2, "eta": 0.3, "nthread": 1}
VOID = {"meta", "img", "br"}
SKLEARN = (log_loss, roc_auc_score, brier_score_loss)


class Page(HTMLParser):
    """What a browser would find: elements, their attributes, text, and tables by caption as dicts of rows."""

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.elements, self.stack, self.tables, self.text, self.source = [], [], {}, "", text
        self._caption, self._rows = "", None
        self.feed(text)
        self.close()

    def handle_starttag(self, name, attrs):
        self.elements.append((name, dict(attrs)))
        if name not in VOID:
            self.stack.append(name)
        if name == "figcaption":
            self._caption = ""
        elif name == "table":
            self._rows = []
        elif name == "tr":
            self._rows.append([])
        elif name in ("td", "th"):
            self._rows[-1].append("")
        elif name == "br":
            self._rows[-1][-1] += "\n"

    def handle_endtag(self, name):
        assert self.stack.pop() == name
        if name == "table":
            header, *rows = self._rows
            self.tables[self._caption] = {row[0]: dict(zip(header[1:], row[1:], strict=True)) for row in rows}
            self._rows = None

    def handle_data(self, data):
        if "style" in self.stack:
            return
        self.text += data
        if "figcaption" in self.stack:
            self._caption += data
        elif self._rows and self._rows[-1] and {"td", "th"} & set(self.stack):
            self._rows[-1][-1] += data

    def table(self, beginning):
        (found,) = [table for caption, table in self.tables.items() if caption.startswith(beginning)]
        return found


def booster_of(x, y, rounds=5, **params):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # XGBoost says which kinds of booster will go
        return xgb.train({**PARAMS, **params}, xgb.DMatrix(x, y), rounds)


@pytest.fixture(scope="module")
def data():
    made = pi_xgb.datasets.make_privileged(360, n_features=4, group_gap=1.0, group_share=0.4, seed=0)
    sex = pd.Series(np.where(made.group == 1, "women", "men"), name="sex")
    train, test = slice(0, 160), slice(160, None)
    dtrain = xgb.DMatrix(made.x[train], made.y[train])
    models = {
        "plain": pi_xgb.train(PARAMS, dtrain, 5),
        "guided": pi_xgb.train(PARAMS, dtrain, 5, privileged=xgb.DMatrix(made.z[train], made.y[train]), kl_weight=1.0),
    }
    return {"models": models, "x": made.x[test], "y": made.y[test], "sex": sex[test]}


@pytest.fixture
def write(data, tmp_path):
    """Write a report with quick settings; return the parsed page, and the numbers of the JSON file by model."""

    def written(models=None, x=None, y=None, sex=None, **options):
        page, cards = tmp_path / "report.html", tmp_path / "report.json"
        report(
            page,
            data["models"] if models is None else models,
            data["x"] if x is None else x,
            {"left out": None}.get(y, y) if isinstance(y, str) else data["y"] if y is None else y,
            sensitive_features=data["sex"] if sex is None else sex,
            **{"n_boot": 20, "pictures": False, "overwrite": True, "json": cards, **options},
        )
        return Page(page.read_text(encoding="utf-8")), numbers_of(cards)

    return written


def numbers_of(path):
    """The numbers of each model: (type, slice) -> [value, lower bound, upper bound]."""
    found = {}
    for component in json.loads(path.read_text())["components"]:
        entries = component["modelCard"]["quantitativeAnalysis"]["performanceMetrics"]
        found[component["name"]] = {
            (entry["type"], entry["slice"]): [
                float(value) for value in (entry["value"], *entry.get("confidenceInterval", {}).values())
            ]
            for entry in entries
        }
        assert len(found[component["name"]]) == len(entries)
    return found


@pytest.fixture(scope="module")
def full(data, tmp_path_factory):
    """A weighted report of two models with all pictures."""
    folder = tmp_path_factory.mktemp("page")
    weight = np.linspace(0.5, 1.5, len(data["y"]))
    thresholds = {"plain": 0.5, "guided": 0.4}
    path = report(
        folder / "full.html", data["models"], data["x"], data["y"], sensitive_features=data["sex"],
        sample_weight=weight, threshold=thresholds, n_boot=30, title="A & B", json=folder / "full.json",
    )  # fmt: skip
    scores = {name: booster.predict(xgb.DMatrix(data["x"])) for name, booster in data["models"].items()}
    return {
        "page": Page(path.read_text(encoding="utf-8")), "numbers": numbers_of(folder / "full.json"), "scores": scores,
        "document": json.loads((folder / "full.json").read_text()), "weight": weight, "thresholds": thresholds,
    }  # fmt: skip


# --- the page ---------------------------------------------------------------------------------------------------


def test_page_is_complete_well_nested_and_loads_nothing(full):
    page = full["page"]
    assert page.source.startswith("<!DOCTYPE html>")
    assert page.stack == []
    ids = {attributes["id"] for _, attributes in page.elements if "id" in attributes}
    links = {attributes["href"] for name, attributes in page.elements if name == "a"}
    assert links == {f"#{name}" for name in ids}
    # Two models with three pictures of groups and one of features.
    sources = [attributes["src"] for name, attributes in page.elements if name == "img"]
    assert len(sources) == 2 * 4
    assert all(source.startswith("data:image/svg+xml;base64,") for source in sources)
    assert not {name for name, _ in page.elements} & {"script", "link", "iframe", "object", "embed", "base"}
    assert not re.search(r"https?:|@import", page.source)
    assert "default-src 'none'" in page.source
    assert "no claim of compliance" in page.text


def test_json_has_the_fields_of_cyclonedx(full):
    document = full["document"]
    assert (document["bomFormat"], document["specVersion"]) == ("CycloneDX", "1.6")
    for component in document["components"]:
        assert component.keys() == {"type", "name", "modelCard"}
        assert component["type"] == "machine-learning-model"
        card = component["modelCard"]
        for entry in card["quantitativeAnalysis"]["performanceMetrics"]:
            assert entry.keys() <= {"type", "value", "slice", "confidenceInterval"}
            assert all(isinstance(entry[key], str) for key in ("type", "value", "slice"))
            ends = entry.get("confidenceInterval", {"lowerBound": "", "upperBound": ""})
            assert ends.keys() == {"lowerBound", "upperBound"}
            assert all(isinstance(value, str) for value in ends.values())
        assessments = card["considerations"]["fairnessAssessments"]
        assert len(assessments) == 4
        assert all(entry.keys() == {"groupAtRisk", "harms"} for entry in assessments)
        assert {"name": "pi_xgb:features", "value": "4"} in card["properties"]


# --- the numbers ------------------------------------------------------------------------------------------------


def test_performance_equals_scikit_learn(full, data):
    y, w = data["y"], full["weight"]
    for name, p in full["scores"].items():
        p = p.astype(float)
        expected = {
            "auc": roc_auc_score(y, p, sample_weight=w),
            "log_loss": log_loss(y, p, sample_weight=w),
            "accuracy": accuracy_score(y, p > full["thresholds"][name], sample_weight=w),
            "brier": brier_score_loss(y, p, sample_weight=w),
        }
        shown = full["page"].table("Performance on all rows")[name].values()
        for (metric, value), cell in zip(expected.items(), shown, strict=True):
            found = full["numbers"][name][metric, "all rows"]
            assert found[0] == pytest.approx(value, rel=1e-7)
            assert cell == "{:.4f}\n{:.4f} to {:.4f}".format(*found)


def arguments(full, data, name):
    return {
        "y_true": data["y"], "y_score": full["scores"][name], "sensitive_features": data["sex"],
        "threshold": full["thresholds"][name], "sample_weight": full["weight"], "n_boot": 30,
    }  # fmt: skip


def test_groups_equal_group_report(full, data):
    for name in data["models"]:
        expected = metrics.group_report(**arguments(full, data, name))
        shown = full["page"].table(f"Groups under {name}")
        assert list(shown) == list(expected.index)
        for group, row in expected.iterrows():
            for kind in [column for column in expected if f"{column}_low" in expected]:
                found = full["numbers"][name][kind, f"sex = {group}"]
                assert found == [row[kind], row[f"{kind}_low"], row[f"{kind}_high"]]
                head = {"auc": "AUC"}.get(kind, kind.replace("_", " "))
                assert shown[group][head] == "{:.3f}\n{:.3f} to {:.3f}".format(*found)
            assert shown[group]["rows"] == f"{row['rows']:.0f}"
            assert shown[group]["weight"] == f"{row['weight']:.1f}"


def test_gaps_equal_disparity_report(full, data):
    for name in data["models"]:
        expected = metrics.disparity_report(**arguments(full, data, name))
        shown = full["page"].table("Differences between groups by sex")[name].values()
        for (gap, row), cell in zip(expected.iterrows(), shown, strict=True):
            found = full["numbers"][name][gap, "between groups by sex"]
            assert found == [row["value"], row["low"], row["high"]]
            value, interval, chance, between = cell.split("\n")
            assert value.rstrip(" *") == f"{found[0]:.3f}"
            assert interval == "{:.3f} to {:.3f}".format(*found[1:])
            assert chance.startswith(f"by chance {row['chance']:.3f}, p ")
            assert between == row["between"]
            # Corrected for the gaps of both models, p is at least that of one table; a star marks small ones.
            adjusted = float(chance.rpartition(" ")[2])
            assert adjusted >= round(row["p_adjusted"], 3)
            assert value.endswith("*") == (adjusted <= 0.05)


def test_features_equal_fair_importance_and_shap_gap(full, data):
    options = {"sensitive_features": data["sex"], "sample_weight": full["weight"]}
    for name, booster in data["models"].items():
        fair = fair_importance(booster, data["x"], data["y"], confidence=0.95, **options)
        gaps = shap_gap(booster, data["x"], **options)
        shown = full["page"].table(f"The 4 features of {name}")
        longest = fair[["fair_importance", "gain"]].abs().max(axis=1)
        assert list(longest[list(shown)]) == sorted(longest, reverse=True)
        for feature, row in fair.join(gaps).iterrows():
            found = full["numbers"][name]
            for kind in ("fair_importance", "shap_gap"):
                expected = [row[f"{kind}{end}"] for end in ("", "_low", "_high")]
                assert found[kind, f"feature {feature}"] == expected
            assert found["gain", f"feature {feature}"] == [row["gain"]]
            # A star where the sign is supported.
            cell = next(text for head, text in shown[feature].items() if head.startswith("SHAP gap"))
            assert ("*" in cell) == (row["sign"] != "not supported")


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.slow
def test_differences_are_paired_and_their_intervals_are_those_of_a_loop(write, data, weighted):
    rng = np.random.default_rng(3)
    y, sex = data["y"].to_numpy(), data["sex"].to_numpy()
    weight = np.linspace(0.5, 2, y.size) if weighted else np.ones(y.size)
    scores = [booster.predict(xgb.DMatrix(data["x"])).astype(float) for booster in data["models"].values()]

    def difference(rows):
        w = {"sample_weight": weight[rows]}
        losses, areas, briers = ([of(y[rows], p[rows], **w) for p in scores] for of in SKLEARN)
        gaps = [metrics.statistical_parity(None, p[rows] > 0.5, sensitive_features=sex[rows], **w) for p in scores]
        return [float(other - first) for first, other in (losses, areas, briers, gaps)]

    loops = np.array([difference(rng.integers(y.size, size=y.size)) for _ in range(25)])
    how = {"n_boot": 25, "confidence": 0.8, "sample_weight": weight if weighted else None}
    _, numbers = write(random_state=3, **how)
    estimates = difference(np.arange(y.size))
    for i, name in enumerate(("log_loss", "auc", "brier", "statistical_parity")):
        expected = [estimates[i], *np.quantile(loops[:, i], [0.1, 0.9])]
        np.testing.assert_allclose(numbers["guided"][name, "all rows, less plain"], expected, atol=1e-7)
    # A generator stands for a seed, the same for every model.
    assert (
        write(random_state=np.random.default_rng(5), **how)[1] == write(random_state=np.random.default_rng(5), **how)[1]
    )


def test_without_resampling_there_are_no_intervals(write):
    page, numbers = write(n_boot=0)
    assert {len(values) for own in numbers.values() for (kind, _), values in own.items() if kind != "shap_gap"} == {1}
    assert page.table("Rows and settings")["intervals"]["value"] == "none"
    assert "n_boot is 0: large gaps may be chance" in page.text


def test_intersections_have_their_margins_and_a_table_for_each_feature(write, data):
    x, y, plain = data["x"], data["y"], data["models"]["plain"]
    sensitive = pd.DataFrame({"sex": data["sex"], "old": np.arange(len(y)) % 2 == 0, "all": "one"})
    page, numbers = write(plain, sex=sensitive)
    expected = metrics.group_report(y, plain.predict(xgb.DMatrix(x)), sensitive_features=sensitive, n_boot=0)
    for name, row in expected.iterrows():
        assert numbers["model"]["rows", f"sex, old, all = {', '.join(map(str, name))}"] == [row["rows"]]
    # All rows first, then coarse groups before fine ones.
    margins = [name.count("(all)") for name in page.table("Groups under model")]
    assert margins == sorted(margins, reverse=True)
    # A feature of one group has no gap of its own.
    found = [caption.split(" by ")[1].split(" (")[0] for caption in page.tables if caption.startswith("Differences")]
    assert found == ["sex", "old", "sex × old × all"]


# --- models -----------------------------------------------------------------------------------------------------


def test_estimators_boosters_and_matrices_give_the_same_numbers(write, data):
    x, y = data["x"], data["y"]
    model = xgb.XGBClassifier(n_estimators=5, max_depth=2, n_jobs=1).fit(x, y)
    first = write(model, n_boot=0)[1]
    assert list(first) == ["model"]
    assert write(model.get_booster(), n_boot=0)[1] == first
    assert write(model.get_booster(), x=x[x.columns[::-1]], n_boot=0)[1] == first
    assert write(model.get_booster(), x=x.to_numpy(), n_boot=0)[1] == first
    weight = np.linspace(0.5, 2, len(y), dtype=np.float32)
    weighted = write(model, sample_weight=weight, n_boot=0)[1]
    # Left out, labels and weights are those of the DMatrix; given, they count.
    own = xgb.DMatrix(x, y, weight=weight)
    assert write(model.get_booster(), x=own, y="left out", n_boot=0)[1] == weighted
    assert write(model.get_booster(), x=own, sample_weight=np.ones(len(y)), n_boot=0)[1] != weighted


def test_models_with_different_features_take_their_own_columns(write, data):
    x = data["x"].assign(extra=np.arange(len(data["y"])) % 7)
    more = booster_of(x[["extra", "x2"]], data["y"])
    page, numbers = write({"plain": data["models"]["plain"], "other": more}, x=x)
    assert sorted(page.table("The 2 features of other")) == ["extra", "x2"]
    expected = roc_auc_score(data["y"], more.predict(xgb.DMatrix(x[["extra", "x2"]])))
    assert numbers["other"]["auc", "all rows"][0] == pytest.approx(expected)
    assert len(write(max_features=3)[0].table("The 3 features of plain")) == 3


@pytest.mark.parametrize("classes", [(0, 1), ("no", "yes")])
def test_another_model_is_read_through_a_surrogate(write, data, classes):
    x, y = data["x"], data["y"]
    own = np.array(classes)[y.astype(int)]
    model = LogisticRegression().fit(x, own)
    page, numbers = write({"boosted": data["models"]["plain"], "linear": model})
    assert numbers["linear"]["auc", "all rows"][0] == pytest.approx(roc_auc_score(y, model.predict_proba(x)[:, 1]))
    fit = fair_importance(model, x, own, sensitive_features=data["sex"]).attrs["surrogate"]
    assert f"linear has no trees of XGBoost. A surrogate tree replaces it: it explains {fit['r2']:.1%}" in page.text
    assert "boosted has no trees" not in page.text


def test_early_stopping_and_raw_margins_are_scored_as_probabilities_of_the_best_round(write, data):
    x, y = data["x"], data["y"]
    matrix = xgb.DMatrix(x, y)
    evals = [(xgb.DMatrix(x[::-1].to_numpy(), y, feature_names=list(x)), "valid")]
    booster = xgb.train({**PARAMS, "eta": 1.0}, matrix, 30, evals=evals, early_stopping_rounds=3, verbose_eval=False)
    n = booster.best_iteration + 1
    assert n < booster.num_boosted_rounds()
    raw = booster_of(x, y, objective="binary:logitraw", base_score=0.0)
    page, numbers = write({"stopped": booster, "raw": raw})
    expected = roc_auc_score(y, booster.predict(matrix, iteration_range=(0, n)))
    assert numbers["stopped"]["auc", "all rows"][0] == pytest.approx(expected)
    made = page.table("How each model was trained")["rounds in use"]["stopped"]
    assert made.startswith(f"{n} of {booster.num_boosted_rounds()} (stopped early")
    sigmoid = 1 / (1 + np.exp(-raw.predict(matrix).astype(float)))
    assert numbers["raw"]["log_loss", "all rows"][0] == pytest.approx(log_loss(y, sigmoid), rel=1e-6)


# --- settings ---------------------------------------------------------------------------------------------------


def test_who_has_the_page_and_the_rows_can_repeat_the_training(write, data):
    x, y, sex = data["x"], data["y"], data["sex"].to_numpy()
    params = {**PARAMS, "eta": 0.2, "subsample": 0.5, "seed": 5}
    constraint = DemographicParity(sex, match="mean", hessian="full")
    booster = pi_xgb.train(params, xgb.DMatrix(x, y), 4, teacher=constraint, kl_weight=3.5355339059327378)
    booster.set_attr(trained_on="adult.csv, 32,561 rows")
    page, _ = write(booster, threshold=0.3, evaluated_on="test.csv, rows of 2025")
    made = {name: row["model"] for name, row in page.table("How each model was trained").items()}
    found = {name: row["model"] for name, row in page.table("Parameters that differ").items()}
    again = pi_xgb.train(
        {name: value for name, value in found.items() if name != "base_score"} | {"nthread": 1},
        xgb.DMatrix(x, y),
        int(made["rounds in use"].split()[0]),
        teacher=eval(made["pi_xgb_teacher"].replace("(", "(sex, ")),
        kl_weight=float(made["pi_xgb_kl_weight"]),
    )
    again.set_attr(trained_on=made["trained_on"])
    assert again.save_raw() == booster.save_raw()
    assert made["trained_on"] == "adult.csv, 32,561 rows"
    assert page.table("Rows and settings")["evaluated_on"]["value"] == "test.csv, rows of 2025"


def test_estimators_private_teachers_and_frontiers_are_recorded(write, data):
    x, y = data["x"], data["y"]
    z = pd.DataFrame({"z": np.arange(200) % 7, "sex": data["sex"].to_numpy() == "men", "race": np.arange(200) % 3})
    constraints = [(DemographicParity("sex"), 141), (by_column(EqualizedOdds, ["sex", "race"], soft=False), 2)]
    model = PrivilegedXGBClassifier(
        n_estimators=3, max_depth=2, n_jobs=1, teacher_sees="all", crossfit=2, kl_weight=5, constraints=constraints
    ).fit(x, y, privileged=z)
    teacher = PrivateTeacher(1.0, bounds={"z": (0, 6)})
    teacher.fit(z[["z"]], y)
    # The noise is another one in every run: with this weight the model selects rows under any of it.
    private = pi_xgb.train(PARAMS, xgb.DMatrix(x, y), 2, teacher=teacher, kl_weight=0.01)
    private.set_attr(pi_xgb_gap="statistical_parity 0.1 on held-out rows, 0.2 on training rows")
    page, _ = write({"estimator": model, "private": private}, n_boot=0)
    made = page.table("How each model was trained")
    assert made["constraints"]["estimator"] == (
        "DemographicParity('sex'), 141; EqualizedOdds(['sex', 'race'], soft=False), 2"
    )
    assert (made["teacher_sees"]["estimator"], made["crossfit"]["estimator"]) == ("all", "2")
    found = {name: made[f"pi_xgb_{name}"]["private"] for name in ("epsilon", "delta", "epsilon_scope")}
    scope = "a change of the privileged values of one row; not for x, y"
    assert found == {"epsilon": "1.0", "delta": "0.0", "epsilon_scope": scope}
    assert "Recorded with the model, private: statistical_parity 0.1 on held-out rows" in page.text


def test_no_value_of_a_row_is_on_the_page(data, tmp_path):
    rng = np.random.default_rng(0)
    x = pd.DataFrame({"age": rng.normal(size=60), "id": 1e6 + np.arange(60) * 1009.0})
    y = rng.integers(0, 2, 60)
    path = report(tmp_path / "p.html", booster_of(x, y), x, y, sensitive_features=rng.integers(0, 2, 60), n_boot=5)
    text = path.read_text(encoding="utf-8")
    assert not any(f"{value:.6g}" in text for value in x["id"])
    assert str(tmp_path) not in text


# --- names and warnings -----------------------------------------------------------------------------------------


@pytest.mark.slow
def test_names_are_shown_and_never_obeyed(data, tmp_path):
    nasty = '<script>alert("1")</script>'
    x = data["x"].rename(columns={"x0": "&lt;b&gt; 'income' \" > x", "x1": "日本", "x2": "$x$", "x3": "_hidden"})
    booster = booster_of(x, data["y"])  # XGBoost itself refuses names with "<"
    booster.set_attr(note=nasty + "'\"><img src=x onerror=alert(1)>")
    models = {nasty: booster, "</title>&amp;": LogisticRegression().fit(x, data["y"]), "one\x07\ud812": booster}
    groups = data["sex"].map({"men": "<i>men</i>\x01", "women": "women' onload='x"}).rename("</table><b>sex")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        path = report(
            tmp_path / "nasty.html", models, x, data["y"], sensitive_features=groups, title=f"{nasty}</title>\x0c",
            n_boot=5, json=tmp_path / "nasty.json",
        )  # fmt: skip
    page = Page(path.read_text(encoding="utf-8"))
    assert page.stack == []
    assert not {name for name, _ in page.elements} & {"script", "b", "i"}
    assert not [key for _, attributes in page.elements for key in attributes if key.startswith("on")]
    shown = (
        nasty,
        "</title>&amp;",
        "<i>men</i>\ufffd",
        "women' onload='x",
        "</table><b>sex",
        "&lt;b&gt; 'income' \" > x",
    )
    assert all(name in page.text for name in (*shown, "日本", "one\ufffd\ufffd"))
    assert not re.search("[\x00-\x08\x0b\x0c\x0e-\x1f]", page.source)
    assert list(numbers_of(tmp_path / "nasty.json")) == [nasty, "</title>&amp;", "one\ufffd\ufffd"]


@pytest.mark.slow
def test_undefined_rates_are_dashes_and_warnings(write, data):
    y = data["y"].where(data["sex"] == "men", 0)
    with pytest.warns(metrics.UndefinedRateWarning, match="women") as caught:
        page, numbers = write(y=y, n_boot=5, pictures=True)
    assert page.table("Groups under plain")["women"]["true positive rate"] == "–"
    assert np.isnan(numbers["plain"]["true_positive_rate", "sex = women"][0])
    assert "plain: true_positive_rate is undefined (NaN) in group 'women'" in page.text
    assert "Undefined gaps, because a group lacks the compared rate:" in page.text
    texts = [str(warning.message) for warning in caught]
    assert len(set(texts)) == len(texts)
    # Each warning names its model, and points to the line that called.
    assert all(text.startswith(("plain: ", "guided: ")) for text in texts)
    assert {warning.filename for warning in caught} == {__file__}


# --- files and errors -------------------------------------------------------------------------------------------


def test_existing_files_are_left_alone_unless_overwritten(data, tmp_path):
    page, cards = tmp_path / "report.html", tmp_path / "report.json"
    rest = {"sensitive_features": data["sex"], "n_boot": 0, "pictures": False}
    for file in (page, cards):
        file.write_text("mine")
        with pytest.raises(FileExistsError, match="overwrite=True"):
            report(page, {}, None, json=cards, **rest)  # found out before anything else
        assert file.read_text() == "mine"
        file.unlink()
    page.write_text("mine")
    assert report(str(page), data["models"], data["x"], data["y"], overwrite=True, json=str(cards), **rest) == page
    assert page.read_text(encoding="utf-8").startswith("<!DOCTYPE html>")
    assert sorted(tmp_path.iterdir()) == [page, cards]


def test_warnings_as_errors_leave_no_file(data, tmp_path):
    y = data["y"].where(data["sex"] == "men", 0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(metrics.UndefinedRateWarning):
            report(tmp_path / "r.html", data["models"], data["x"], y, sensitive_features=data["sex"], n_boot=0)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("changes", "error", "message"),
    [
        ({"models": {}}, ValueError, "models is empty"),
        ({"models": ["a"]}, TypeError, "dict from names to models"),
        ({"models": "booster"}, TypeError, "model 'model' must be a booster"),
        ({"models": lambda m: {1: m["plain"], "1": m["plain"]}}, ValueError, r"models.*same as text.*\['1', '1'\]"),
        ({"x": lambda x: x.drop(columns="x1")}, ValueError, "model 'plain'.*x1"),
        ({"x": lambda x: x.to_numpy()[:, :2]}, ValueError, "model 'plain'.*4 features of the booster, got 2"),
        ({"x": lambda x: x.iloc[:-1]}, ValueError, "y must .* 199 rows of X, got 200"),
        ({"x": lambda x: x["x1"]}, TypeError, "two dimensions"),
        ({"y": lambda y: y + 1}, ValueError, "y must be .* got 2 in row"),
        ({"y": lambda y: y.where(y == 0)}, ValueError, "y must .* missing"),
        ({"y": None}, TypeError, "y must have one value per row, got None"),
        ({"y": None, "x": lambda x: xgb.DMatrix(x)}, ValueError, "y must .* 200 rows of X, got 0"),
        ({"sex": lambda s: s[:-2]}, ValueError, "sensitive_features must .* 200 rows, got 198"),
        ({"sex": lambda s: s.map({"men": "all", "women": "all"})}, ValueError, "one group only"),
        ({"sex": lambda s: pd.Series([1, "1"] * 100, dtype=object)}, ValueError, "sensitive_features.*same as text"),
        ({"sex": lambda s: pd.DataFrame({1: s, "1": s})}, ValueError, "sensitive_features.*same as text"),
        ({"sample_weight": -np.ones(200)}, ValueError, "sample_weight must be .* got -1 in row 0"),
        ({"threshold": {"plain": 0.5}}, ValueError, r"threshold.*\['plain'\]"),
        ({"threshold": "high"}, TypeError, "threshold must be one number"),
        ({"importance_metric": "sp"}, ValueError, "importance_metric must be one of 'dp', 'eo'"),
        ({"max_features": 0}, ValueError, "max_features"),
        ({"n_boot": -1}, ValueError, "n_boot must be at least 0"),
        ({"confidence": 95}, ValueError, "confidence"),
        ({"path": "."}, IsADirectoryError, "folder"),
        ({"path": "nowhere/report.html"}, FileNotFoundError, "create it first"),
        ({"json": "r.html"}, ValueError, "json must name another file"),
        ({"json": "nowhere/r.json"}, FileNotFoundError, "json is .*create it first"),
    ],
)
def test_bad_input_raises_before_anything_is_computed_or_written(data, tmp_path, monkeypatch, changes, error, message):
    predict = xgb.Booster.predict

    def no_contributions(self, *args, pred_contribs=False, **more):
        return pytest.fail("computed before all was checked") if pred_contribs else predict(self, *args, **more)

    monkeypatch.setattr(xgb.Booster, "predict", no_contributions)
    monkeypatch.chdir(tmp_path)
    options = {"path": "r.html", "models": data["models"], "x": data["x"], "y": data["y"], "sex": data["sex"]}
    options |= {"n_boot": 0, "pictures": False}
    for name, change in changes.items():
        options[name] = change(options[name]) if callable(change) else change
    given = [options.pop(name) for name in ("path", "models", "x", "y")]
    with pytest.raises(error, match=f"(?s){message}"):
        report(*given, sensitive_features=options.pop("sex"), **options)
    assert list(tmp_path.iterdir()) == []


class Three:
    """A model of three classes."""

    def predict_proba(self, x):
        return np.full((len(x), 3), 1 / 3)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda x, y: booster_of(x, y, objective="reg:squarederror", base_score=5.0), "from 0 to 1, .*binary:logistic"),
        (lambda x, y: booster_of(x, y, objective="multi:softprob", num_class=2), "outputs.* 2"),
        (lambda x, y: booster_of(x, y, booster="gblinear"), "trees.*gblinear"),
        (lambda x, y: Three(), r"\(200, 3\)"),
    ],
)
@pytest.mark.filterwarnings("ignore:.*deprecated:UserWarning")
def test_models_of_another_kind_raise_with_their_name(write, data, make, message):
    with pytest.raises(ValueError, match=f"model 'strange'.*{message}"):
        write({"plain": data["models"]["plain"], "strange": make(data["x"], data["y"])})


def test_other_models_do_not_take_a_matrix(write, data):
    with pytest.raises(TypeError, match=r"model 'linear'.*DMatrix"):
        write({"linear": LogisticRegression().fit(data["x"], data["y"])}, x=xgb.DMatrix(data["x"]))


@pytest.mark.parametrize(("module", "extra"), [("matplotlib", "plot"), ("jinja2", "report")])
def test_without_an_optional_library_the_extra_is_named(data, tmp_path, monkeypatch, module, extra):
    monkeypatch.setitem(sys.modules, module, None)
    options = {"sensitive_features": data["sex"], "n_boot": 0}
    with pytest.raises(ImportError, match=rf'pip install "\.\[{extra}\]"'):
        report(tmp_path / "r.html", data["models"], data["x"], data["y"], **options)
    assert list(tmp_path.iterdir()) == []
    if module == "matplotlib":  # numbers need none
        path = report(tmp_path / "r.html", data["models"], data["x"], data["y"], pictures=False, **options)
        assert "<img" not in path.read_text(encoding="utf-8")


def test_objects_of_the_user_are_not_changed(data, write):
    x, y, sex = data["x"].copy(), data["y"].copy(), data["sex"].copy()
    matrix = xgb.DMatrix(x, y)
    raw = {name: bytes(booster.save_raw()) for name, booster in data["models"].items()}
    for rows in (x, matrix):
        write(x=rows, n_boot=0)
    pd.testing.assert_frame_equal(x, data["x"])
    pd.testing.assert_series_equal(y, data["y"])
    pd.testing.assert_series_equal(sex, data["sex"])
    assert matrix.feature_names == list(x)
    assert {name: bytes(booster.save_raw()) for name, booster in data["models"].items()} == raw
