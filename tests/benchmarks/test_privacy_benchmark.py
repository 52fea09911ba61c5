"""What privacy costs: the draws, the choice of kl_weight, the attacks, the run that goes on, and the page."""

import sys
from types import SimpleNamespace
from typing import ClassVar

import numpy as np
import pandas as pd
import pytest

pytest.importorskip("sklearn", reason="the benchmarks need scikit-learn")
pytest.importorskip("matplotlib", reason="the pictures need matplotlib")
pytest.importorskip("tqdm", reason="the benchmarks need tqdm")
pytest.importorskip("opendp", reason="private teachers need OpenDP")

import xgboost as xgb
from sklearn.metrics import log_loss, roc_auc_score

import pi_xgb
from benchmarks.data import MADE
from benchmarks.privacy import cost, few, printed
from benchmarks.privacy.sets import drawn


@pytest.fixture(autouse=True)
def quick(monkeypatch):
    monkeypatch.setattr(cost, "ROUNDS", 4)


@pytest.mark.parametrize("epsilon", [0.5, 20.0])
def test_randomised_response_keeps_a_cell_with_its_chance(epsilon):
    z = np.tile([-2.5, 2.5], (20_000, 1))
    kept = (few.randomised(z, epsilon, 0) == [0, few.CELLS - 1]).all(axis=1).mean()
    n_cells = few.CELLS**2
    assert kept == pytest.approx(np.exp(epsilon) / (np.exp(epsilon) + n_cells - 1), abs=0.01)


def test_the_three_parts_of_a_draw_share_no_row():
    parts = drawn(MADE, 100, 30, 40, 0)
    assert [part.y.size for part in parts] == [100, 30, 40]
    rows = np.vstack([part.z.to_numpy() for part in parts])
    assert len(np.unique(rows, axis=0)) == 170


def test_each_class_gets_its_share_of_labels():
    y = np.repeat([0, 1], [900, 100])
    known = cost.labelled_rows(y, 0.1, 0)
    assert (known[:900].sum(), known[900:].sum()) == (90, 10)
    assert cost.labelled_rows(y, 1.0, 0).all()
    assert cost.labelled_rows(y, 0.01, 0)[900:].sum() == 5  # never too few to learn from


def test_kl_weight_is_chosen_by_log_loss_apart_with_plain_among_the_choices():
    train, apart, _ = drawn(MADE, 300, 100, 50, 1)
    known = np.ones(300, bool)
    plain = xgb.train(cost.PARAMS, train.matrix(), cost.ROUNDS)
    q = np.asarray(train.y, float)
    booster, weight = cost.chosen(plain, 1 - q, train, known, apart)  # a teacher that is always wrong
    assert (booster, weight) == (plain, 0.0)
    losses = {0.0: plain}
    for item in cost.KL_WEIGHTS:
        losses[item] = pi_xgb.train(cost.PARAMS, train.matrix(), cost.ROUNDS, teacher=q, kl_weight=item)
    losses = {item: log_loss(apart.y, model.predict(apart.matrix()).astype(float)) for item, model in losses.items()}
    assert cost.chosen(plain, q, train, known, apart)[1] == min(losses, key=losses.get)


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
