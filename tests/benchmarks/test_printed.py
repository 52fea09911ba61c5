"""DP-EBM beside the numbers of its paper: the splits, what the models are given, and the table."""

import sys
from types import SimpleNamespace
from typing import ClassVar

import numpy as np
import pandas as pd
import pytest

pytest.importorskip("sklearn", reason="the benchmarks need scikit-learn")
pytest.importorskip("matplotlib", reason="the pictures need matplotlib")

from sklearn.metrics import roc_auc_score

from benchmarks.privacy import printed


def table(regression):
    rng = np.random.default_rng(0)
    x = rng.normal(size=100)
    label = 100 * x if regression else (x + rng.normal(size=100) > 0).astype(int)
    return pd.DataFrame({"kind": np.where(x > 1, "a", "b"), "x": x, "label": label})


class Model:
    """Answers with the column x, and keeps what it was given."""

    made: ClassVar[list] = []

    def __init__(self, **options):
        self.options = options
        self.made.append(self)

    def fit(self, x, y):
        self.rows = set(x.index)
        assert "label" not in x.columns
        return self

    def predict(self, x):
        self.tested = set(x.index)
        return x["x"].to_numpy()

    def predict_proba(self, x):
        return np.column_stack([-self.predict(x), self.predict(x)])


@pytest.mark.parametrize("regression", [False, True])
def test_a_split_tests_a_fifth_with_each_budget(monkeypatch, regression):
    names = ("ExplainableBoostingClassifier", "ExplainableBoostingRegressor")
    for module, prefix in (("glassbox", ""), ("privacy", "DP")):
        models = SimpleNamespace(**{prefix + name: Model for name in names})
        monkeypatch.setitem(sys.modules, f"interpret.{module}", models)
    monkeypatch.setitem(sys.modules, "interpret", SimpleNamespace())
    monkeypatch.setattr(Model, "made", [])
    made = printed.Printed(lambda: table(regression), "label", {}, {}, regression)
    monkeypatch.setitem(printed.SETS, "made", made)
    lines = list(printed.lines("made", 1))
    assert [(line["method"], line["epsilon"]) for line in lines] == [
        (printed.OPEN, np.inf),
        *((composition, epsilon) for epsilon in (0.5, 1, 2, 4, 8) for composition in ("classic", "gdp")),
    ]
    for model in Model.made:
        assert (len(model.rows), len(model.tested)) == (80, 20)
        assert not model.rows & model.tested
    whole = table(regression)
    here = whole.loc[sorted(Model.made[0].tested)]
    rmse = np.sqrt(np.mean((here["label"] - here["x"]) ** 2))
    expected = rmse if regression else roc_auc_score(here["label"], here["x"])
    assert [line["score"] for line in lines] == pytest.approx([expected] * 11)
    given = Model.made[1].options
    assert (given["epsilon"], given["delta"], given["composition"]) == (0.5, 1e-5, "classic")
    assert given["feature_types"] == ["nominal", "continuous"]
    assert given["privacy_bounds"] == {1: (whole["x"].min(), whole["x"].max())}
    target = (given.get("privacy_target_min"), given.get("privacy_target_max"))
    assert target == ((whole["label"].min(), whole["label"].max()) if regression else (None, None))


def test_rows_of_the_private_regression_are_no_longer_than_its_norm(monkeypatch):
    class Regression(Model):
        def fit(self, x, y):
            lengths = np.linalg.norm(x, axis=1)
            assert 1 <= lengths.max() <= self.options["data_norm"] == np.sqrt(2)
            assert (x.min().min(), x.max().max()) == (0, 1)
            return super().fit(x, y)

    monkeypatch.setitem(sys.modules, "diffprivlib", SimpleNamespace())
    monkeypatch.setitem(sys.modules, "diffprivlib.models", SimpleNamespace(LogisticRegression=Regression))
    monkeypatch.setattr(Model, "made", [])
    monkeypatch.setitem(printed.SETS, "made", printed.Printed(lambda: table(regression=False), "label", {}, {}))
    lines = list(printed.logistic_lines("made", 0))
    assert (
        [model.options["epsilon"] for model in Model.made] == [line["epsilon"] for line in lines] == [0.5, 1, 2, 4, 8]
    )


def test_what_is_there_is_not_done_again(monkeypatch, tmp_path):
    calls = []

    def of_split(name, split):
        calls.append((name, split))
        yield {"set": name, "split": split, "method": printed.OPEN, "epsilon": 1.0, "score": 0.5}

    for splits in (1, 2):
        monkeypatch.setattr(printed, "SPLITS", splits)
        printed.run(tmp_path / "out.csv", of_split, ["a", "b"])
    assert calls == [("a", 0), ("b", 0), ("a", 1), ("b", 1)]


def test_printed_and_measured_stand_side_by_side():
    found = [
        {"set": name, "split": split, "method": method, "epsilon": epsilon, "score": score + split * step}
        for name, score, step in (("adult", 0.8, 0.01), ("housing", 80000, 100))
        for split in range(3)
        for method, epsilon in (("EBM", np.inf), ("classic", 0.5), ("gdp", 0.5))
    ]
    found += [
        {"set": "adult", "split": split, "method": printed.LOGISTIC, "epsilon": 8, "score": 0.7 + split * 0.01}
        for split in range(3)
    ]
    text = "\n".join(printed.section(pd.DataFrame(found)))
    assert "| adult | 0.5 | 0.874 (0.004) | 0.810 (0.010) | 0.810 (0.010) | - |" in text
    assert "| adult | 8 | 0.893 (0.004) | - | - | 0.710 (0.010) |" in text
    assert "| adult | none | 0.928 | 0.810 (0.010) | 0.810 (0.010) | - |" in text
    assert "| telco | 2 | 0.829 | - | - | - |" in text
    assert "| housing | 0.5 | 79479 | 80100 (100) | 80100 (100) | - |" in text
    assert "delta 1e-05. Here they are\nover 3 splits" in text
