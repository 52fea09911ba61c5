"""What privacy costs: the draws, the choice of kl_weight, the attacks, the run that goes on, and the page."""

import itertools
import sys
import types

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
from benchmarks.privacy import __main__ as privacy
from benchmarks.privacy import attacks, central, cost, ebm, few, page
from benchmarks.privacy.sets import MADE, SPLITS, drawn


@pytest.fixture(autouse=True)
def quick(monkeypatch):
    monkeypatch.setattr(cost, "ROUNDS", 4)


def made_cost(repeats=3):
    random = np.random.default_rng(0)
    methods = [(cost.PLAIN, np.inf), (cost.OPEN, np.inf), *itertools.product(cost.MODELS, cost.EPSILONS)]
    return pd.DataFrame(
        [
            {"dataset": name, "labels": labels, "rows": 4000, "labelled": 4000 if labels == "all" else 100}
            | {
                "repeat": repeat,
                "method": method,
                "epsilon": epsilon,
                "kl_weight": 0.2,
                "auc": random.uniform(0.6, 0.9),
            }
            for name in SPLITS
            for labels in cost.LABELS
            for repeat in range(repeats)
            for method, epsilon in methods
        ]
    )


def made_sizes(costs):
    """Plain at .6, open at .7, private at .7 less what is said of each size."""
    methods = [(cost.PLAIN, np.inf, 0.6), (cost.OPEN, np.inf, 0.7)]
    return pd.DataFrame(
        [
            {"dataset": MADE, "labels": "all", "rows": size, "repeat": repeat, "method": method}
            | {"epsilon": epsilon, "auc": auc + 0.0001 * repeat}
            for size, price in costs.items()
            for repeat in range(3)
            for method, epsilon, auc in [*methods, ("histogram", 1.0, 0.7 - price), ("histogram", 4.0, 0.7)]
        ]
    )


def made_few():
    """Plain at .6, all else at .7."""
    private = itertools.product([*few.PLANS, few.RESPONSE, few.ALONE], few.EPSILONS)
    methods = [(cost.PLAIN, np.inf), (cost.OPEN, np.inf), (few.SELF, np.inf), *private]
    return pd.DataFrame(
        [
            {"labelled": 100, "repeat": repeat, "method": method, "epsilon": epsilon, "kl_weight": 0.2}
            | {"auc": (0.6 if method == cost.PLAIN else 0.7) + 0.001 * repeat}
            for repeat in range(3)
            for method, epsilon in methods
        ]
    )


def made_central():
    """Plain at .6, noise in each prediction at .7, noise in sums at .75."""
    private = itertools.product([(central.EACH_ROW, 0.7), (central.SUMS, 0.75)], few.EPSILONS)
    methods = [((cost.PLAIN, 0.6), np.inf), ((cost.OPEN, 0.8), np.inf), *private]
    return pd.DataFrame(
        [
            {"dataset": name, "labelled": 100, "repeat": repeat, "method": method, "epsilon": epsilon, "auc": auc}
            for name in (central.STRAIGHT, central.CURVED)
            for repeat in range(3)
            for (method, auc), epsilon in methods
        ]
    )


def test_every_plan_and_rival_is_measured_on_one_draw(monkeypatch):
    monkeypatch.setattr(few, "private_on_x", lambda train, epsilon, test: np.arange(test.y.size))
    lines = pd.DataFrame(few.lines(200, 0))
    assert set(lines["method"]) == {cost.PLAIN, cost.OPEN, few.SELF, few.RESPONSE, few.ALONE, *few.PLANS}
    assert (lines.groupby("epsilon").size() == 5).loc[list(few.EPSILONS)].all()


def test_noise_in_sums_is_measured_beside_the_default():
    lines = pd.DataFrame(central.lines(central.CURVED, 100, 0))
    assert lines["method"].value_counts().to_dict() == {
        cost.PLAIN: 1,
        cost.OPEN: 1,
        central.EACH_ROW: 3,
        central.SUMS: 3,
    }
    part, _, _ = drawn(MADE, 60, 10, 10, 0)
    bent = central.curved(part)
    assert np.allclose(bent.x["x1"], np.abs(part.x["x1"] - 0.5))
    assert np.allclose(bent.x["x3"], np.sin(3 * part.x["x3"]))
    assert bent.x[["x0", "x2"]].equals(part.x[["x0", "x2"]])


def test_dp_ebm_reads_no_names_or_ranges_from_the_rows():
    """A nominal column, or one without bounds, would read them without privacy."""
    from benchmarks.data import PreparedSet

    names = [*ebm.RANGES, *ebm.CATEGORIES]
    dataset = PreparedSet("adult", pd.DataFrame(np.zeros((3, 13)), columns=names), np.zeros(3), ("q",) * 13, (), ())
    found = ebm.options(dataset, (0, 5, 12), 1.0, 1e-6, "gdp")
    assert found["feature_types"] == ["continuous"] * 3
    assert found["privacy_bounds"] == {0: (17, 90), 1: (-0.5, 7.5), 2: (-0.5, 40.5)}


def test_the_bounds_of_the_dp_ebm_on_x_hold_the_made_rows(monkeypatch):
    train, _, test = drawn(MADE, 400, 10, 50, 0)
    seen = {}

    class Model:
        def __init__(self, **options):
            seen.update(options)

        def fit(self, x, y):
            return self

        def predict_proba(self, x):
            return np.full((len(x), 2), 0.5)

    fake = types.SimpleNamespace(DPExplainableBoostingClassifier=Model)
    monkeypatch.setitem(sys.modules, "interpret", types.SimpleNamespace(privacy=fake))
    monkeypatch.setitem(sys.modules, "interpret.privacy", fake)
    assert few.private_on_x(train, 0.3, test).shape == (50,)
    assert (seen["epsilon"], seen["delta"], seen["feature_types"]) == (0.3, few.DELTA, ["continuous"] * 8)
    for position, (low, high) in seen["privacy_bounds"].items():
        column = train.x.iloc[:, position]
        assert ((column > low) & (column < high)).mean() > 0.98


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


def test_a_line_of_plain_can_be_had_by_hand():
    (line,) = [
        item
        for item in cost.lines(MADE, "all", 0, training=200, epsilons=(), models=())
        if item["method"] == cost.PLAIN
    ]
    train, _, test = drawn(MADE, 200, cost.APART["all"], cost.TEST, 0)
    booster = xgb.train(cost.PARAMS, train.matrix(), cost.ROUNDS)
    assert line["auc"] == roc_auc_score(test.y, booster.predict(test.matrix()))


def test_what_privacy_costs_is_read_off_the_larger_sizes():
    text = page.sizes(made_sizes({500: 0.001, 1000: 0.03, 2000: 0.001, 4000: 0.0}))
    assert "- all labels, epsilon 1: from 2,000 rows on" in text
    assert "- all labels, epsilon 4: from 500 rows on" in text
    assert "- all labels, epsilon 1: not with 1,000 rows" in page.sizes(made_sizes({500: 0.0, 1000: 0.1}))


def test_gains_are_paired_by_repeat():
    lines = made_cost()
    here = lines[(lines["dataset"] == "bank") & (lines["labels"] == "few")].set_index(["method", "epsilon", "repeat"])
    by_hand = np.mean([here.loc[("dp-ebm", 1.0, r)].auc - here.loc[(cost.OPEN, np.inf, r)].auc for r in range(3)])
    gain = page.Wide(lines, page.PLACE).gain(("bank", "few"), "dp-ebm", 1.0, cost.OPEN)
    assert gain.mean == pytest.approx(by_hand)
    shared = page.Wide(lines, page.PLACE).gain((MADE, "few"), "dp-ebm", 1.0)
    assert gain.folds == shared.folds == 3


def test_a_broken_promise_is_said():
    line = {"teacher": "histogram", "sees": "the student", "attack": "values", "accuracy": 0.9, "runs": 100}
    kept, broken = ([{**line, "stated": 1.0, "bound": bound}] for bound in (0.5, 1.5))
    assert "No bound is above" in "\n".join(page.found(pd.DataFrame(kept)))
    assert "1 bounds are above what is stated" in "\n".join(page.found(pd.DataFrame(broken)))


def test_every_way_of_training_can_be_attacked(monkeypatch):
    monkeypatch.setattr(attacks, "ROUNDS", 2)
    settings = [item for item in attacks.settings() if item.teacher != "DP-EBM"]
    assert {item.teacher for item in settings} > set(attacks.OTHERS)
    for setting in settings:
        if setting.epsilon in (None, 1.0):
            (line,) = attacks.lines(setting, "values", runs=20)
            assert line["runs"] == 20
            assert np.isfinite(line["bound"])


def test_a_run_goes_on_where_it_was(tmp_path):
    calls = []

    def units():
        for repeat in (0, 1):
            key = {"dataset": MADE, "stated": np.inf, "repeat": repeat}
            yield key, lambda key=key: calls.append(key) or [{**key, "auc": 0.5}]

    privacy.run("cost", itertools.islice(units(), 1), tmp_path)
    privacy.run("cost", units(), tmp_path)
    assert [key["repeat"] for key in calls] == [0, 1]
    assert len(pd.read_csv(privacy.csv_of("cost", tmp_path))) == 2


@pytest.mark.slow
def test_the_page_shows_every_part(tmp_path):
    folds = itertools.product(range(2), ebm.EPSILONS, [*ebm.COMPOSITIONS, "x alone", "x, blended targets"])
    lines = [
        {"fold": fold, "epsilon": epsilon, "auc": 0.8 + 0.01 * fold}
        | (
            {"method": "all features", "composition": what}
            if what in ebm.COMPOSITIONS
            else {"method": what, "composition": "gdp"}
        )
        for fold, epsilon, what in folds
    ]
    attack = {"teacher": "JPIB", "sees": "the student", "attack": "values", "accuracy": 1.0, "runs": 600}
    parts = {
        "cost": made_cost(),
        "sizes": made_sizes({500: 0.1, 1000: 0.0}),
        "few": made_few(),
        "central": made_central(),
        "attacks": pd.DataFrame([{**attack, "stated": np.inf, "bound": 3.0}]),
        "ebm": pd.DataFrame(lines),
    }
    for part, table in parts.items():
        table.to_csv(privacy.csv_of(part, tmp_path), index=False)
    page.write_page(tmp_path, tmp_path / "PRIVACY.md")
    text = (tmp_path / "PRIVACY.md").read_text()
    assert [line for line in text.splitlines() if line.startswith("## ")] == [
        *("## The sets", "## AUC against epsilon", "## From how many rows on"),
        *("## Few labels: which budget plan", "## Few labels: noise in each prediction or in sums", "## Attacks"),
        "## DP-EBM as in its paper, and a bridge",
    ]
    assert "| 0.5 | 0.805 (0.007)" in text
    gain = "+0.100 (0.100 to 0.100)"
    assert f"| 100 | 0.601 | split 0.5, 8 bins | {gain} | {gain} | {gain} |" in text
    assert "| made | 100 | 0.600 | +0.200 (0.200 to 0.200) | difference | +0.050" in text
    assert {file.name for file in (tmp_path / "figures").iterdir()} == {"privacy_cost.png", "privacy_sizes.png"}
    with pytest.raises(SystemExit, match="there are none"):
        page.write_page(tmp_path / "figures", tmp_path / "other.md")


def test_the_bridge_divides_its_budget(monkeypatch):
    requested = []

    class Model:
        def fit(self, values, target):
            self.mean = float(np.mean(target))
            return self

        def predict(self, values):
            return np.full(len(values), self.mean)

        def predict_proba(self, values):
            return np.column_stack([1 - self.predict(values), self.predict(values)])

    monkeypatch.setattr(ebm, "classifier", lambda dataset, where, *rest: requested.append((where, rest[:2])) or Model())
    monkeypatch.setattr(ebm, "regressor", lambda dataset, where, *rest: requested.append((where, rest)) or Model())
    part, _, _ = drawn(MADE, 60, 10, 10, 0)
    from benchmarks.data import PreparedSet

    whole = pd.concat([part.x, part.z], axis=1)
    dataset = PreparedSet(MADE, whole, part.y, ("q",) * 10, (8, 9), ())
    ebm.bridged(dataset, np.arange(40), np.arange(40, 60), 2.0)
    (z, (single, half)), (x, (other, rest)) = requested
    assert (z, x) == ((8, 9), tuple(range(8)))
    assert single + other == 2.0
    assert half + rest == ebm.DELTA
