"""The methods of the benchmarks, and what is measured of them."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

pytest.importorskip("sklearn", reason="the folds and measures of the benchmarks come from scikit-learn")
pytest.importorskip("tqdm", reason="the runner shows its progress with tqdm")

from helpers_benchmark import fold_work, use_few_rounds
from sklearn.metrics import f1_score, precision_score, recall_score, roc_auc_score

from benchmarks.data import made_set
from benchmarks.methods import METHODS, boosted, peers
from benchmarks.modes import MODES, current
from benchmarks.modes.fold_work import Scores
from benchmarks.peers import MFC
from benchmarks.run import Predictions, measure, paper_threshold, threshold_measures

BOOSTED = [method.name for method in boosted.BOOSTED]


@pytest.fixture(autouse=True)
def few_rounds(monkeypatch):
    use_few_rounds(monkeypatch)


def test_measures_are_those_of_scikit_learn_at_the_threshold_found_by_trying_all():
    rng, folds = np.random.default_rng(0), []
    for _ in range(3):
        label, group = rng.integers(0, 2, (2, 80))
        score = np.clip(0.5 * label + rng.normal(0.3, 0.3, 80), 0, 1).round(4)
        folds.append(Predictions(label, score, label[::-1], score[::-1], {"group": group}))
    grid = np.arange(1, 1000) / 1000
    f1 = np.array([np.mean([f1_at(fold, t) for fold in folds]) for t in grid])
    # The first of the best.
    threshold = paper_threshold(folds)
    best = int(np.flatnonzero(f1 >= f1.max() - 1e-12)[0])
    assert threshold == grid[best]
    there = [f1_score(fold.valid_label, fold.valid_score > threshold) for fold in folds]
    assert f1[best] == pytest.approx(np.mean(there))
    fold = folds[0]
    found, decision = threshold_measures(fold, threshold), fold.test_score > threshold
    assert found["precision"] == pytest.approx(precision_score(fold.test_label, decision))
    assert found["recall"] == pytest.approx(recall_score(fold.test_label, decision))
    member = fold.groups["group"] == 1
    rates = [[decision[side & (fold.test_label == v)].mean() for side in (member, ~member)] for v in (0, 1)]
    # Equalized odds is the sum over the labels, statistical parity the gap over all rows.
    assert found["eo:group"] == pytest.approx(sum(abs(a - b) for a, b in rates))
    assert found["sp:group"] == pytest.approx(abs(decision[member].mean() - decision[~member].mean()))
    assert found["abroca:group"] == pytest.approx(abroca(fold.test_label, fold.test_score, member), abs=2e-3)


def f1_at(fold, threshold):
    """scikit-learn's takes a millisecond, and there are 3,000."""
    selected, label = fold.valid_score > threshold, fold.valid_label == 1
    return 2 * (selected & label).sum() / (selected.sum() + label.sum())


def abroca(label, score, member):
    """The area between two ROC curves on a fine grid."""
    fpr = np.linspace(0, 1, 20_001)
    curves = []
    for rows in (member, ~member):
        cuts = np.concatenate([[np.inf], np.unique(score[rows])[::-1]])
        points = [[(score[rows & (label == v)] >= cut).mean() for cut in cuts] for v in (0, 1)]
        curves.append(np.interp(fpr, *points))
    return np.abs(curves[0] - curves[1]).mean()


def test_a_cell_has_every_fold_and_one_threshold(monkeypatch):
    lines = list(measure("made", "NF", "current", small=True))
    of = {name: [line["value"] for line in lines if line["measure"] == name] for name in ("auc", "threshold", "error")}
    assert [len(values) for values in of.values()] == [2, 2, 0]
    assert len(set(of["threshold"])) == 1
    work = fold_work()
    assert of["auc"][0] == roc_auc_score(work.labels("test"), work.plain("x").test)
    (refused,) = {line["note"] for line in measure_without_groups(monkeypatch)}
    assert "needs a sensitive attribute" in refused


def measure_without_groups(monkeypatch):
    monkeypatch.setattr("benchmarks.run.loaded", lambda name: dataclasses.replace(made_set(), protected=()))
    return list(measure("made", "MFC c=0", "current", small=True))


def test_a_rate_that_does_not_exist_is_nan():
    one_group = Predictions(
        *(np.array([0, 1, 1]), np.array([0.2, 0.7, 0.6]), np.array([0, 1, 1]), np.array([0.2, 0.7, 0.6])),
        {"nobody": np.zeros(3, int), "no negatives": np.array([0, 0, 1])},
    )
    found = threshold_measures(one_group, 0.5)
    assert np.isnan([found["eo:nobody"], found["sp:nobody"], found["abroca:nobody"], found["eo:no negatives"]]).all()
    # All rows of the other group are selected, and one of these two.
    assert found["sp:no negatives"] == 0.5


@pytest.mark.parametrize("mode", ["paper", "current"])
@pytest.mark.parametrize("name", BOOSTED)
def test_no_boosted_method_but_pf_sees_the_privileged_values_of_the_rows_it_is_judged_on(name, mode):
    method = METHODS[name]
    if mode not in method.modes:
        pytest.skip("not a method of this mode")
    data = made_set()
    test = data.folds()[0].test
    other = data.X.copy()
    other.iloc[test, list(data.privileged)] = other.iloc[test[::-1], list(data.privileged)].to_numpy()
    same, changed = (method.run(fold_work(mode, dataclasses.replace(data, X=table))).test for table in (data.X, other))
    # PF is there to show what z alone says; all the others must not notice.
    assert np.array_equal(same, changed) == (name != "PF")


def test_all_puts_the_most_frequent_training_value_in_the_place_of_z():
    data = made_set()
    coarse = data.X.round({"z0": 0, "z1": 0})
    data = dataclasses.replace(data, X=coarse)
    work = fold_work(dataset=data)
    train, test = coarse.iloc[work.rows.train], coarse.iloc[work.rows.test].copy()
    for name in ("z0", "z1", "group"):
        values, counts = np.unique(train[name], return_counts=True)
        test[name] = values[counts.argmax()]
    booster = work.boost("xz")
    matrix = work.as_matrix(test, list(data.feature_types), "test")
    expected = booster.predict(matrix, iteration_range=(0, booster.best_iteration + 1))
    assert np.array_equal(METHODS["All"].run(fold_work(dataset=data)).test, expected)


@pytest.mark.parametrize("name", ["self-distillation", "mixed without z"])
def test_a_teacher_without_z_never_touches_z(name):
    data = made_set()
    noise = data.X.copy()
    noise.iloc[:, list(data.privileged)] = np.nan
    runs = [METHODS[name].run(fold_work(dataset=dataclasses.replace(data, X=x))) for x in (data.X, noise)]
    # With nothing in the privileged columns it gives the same model.
    assert np.array_equal(runs[0].test, runs[1].test)
    assert np.array_equal(boosted.self_distilled(fold_work()), fold_work().teacher("x", 5))


def test_shuffled_q_is_a_permutation_of_q():
    work = fold_work()
    q, shuffled = boosted.all_features(work), boosted.shuffled(work)
    assert np.array_equal(np.sort(q), np.sort(shuffled))
    # It is no q of its row any more, and every student of the fold gets the same one.
    assert abs(np.corrcoef(q, shuffled)[0, 1]) < 0.2 < np.corrcoef(q, work.labels("train"))[0, 1]
    assert np.array_equal(shuffled, boosted.shuffled(work))


def test_the_chosen_weight_is_the_smallest_of_the_best_on_validation():
    work = fold_work()
    auc = {0.0: 0.6, 0.1: 0.8, 1.0: 0.8, 10.0: 0.7}
    labels = work.labels("valid")

    def train(_, kl_weight):
        # Scores whose AUC is what the table says: this share of the positives above all negatives.
        order = np.zeros(len(labels))
        positives = np.flatnonzero(labels == 1)
        order[positives[: round(auc[kl_weight] * len(positives))]] = 1.0
        return Scores(order, order, kl_weight)

    assert boosted.with_chosen_weight(train, work, (10.0, 1.0, 0.1, 0.0)).kl_weight == 0.1
    # 0 is on the grid, so that no teacher has to be followed.
    assert min(boosted.KL_WEIGHTS) == 0.0


def test_current_mode_keeps_zeros_and_paper_mode_does_not():
    data = made_set()
    zeros = data.X.mask(data.X.rank(pct=True) < 0.5, 0.0)
    data = dataclasses.replace(data, X=zeros)
    counts = {mode: fold_work(mode, data).matrix("x", "train").num_nonmissing() for mode in MODES}
    n_values = len(data.folds()[0].train) * len(data.classifier)
    assert counts["current"] == n_values
    assert counts["paper"] < 0.6 * n_values
    assert fold_work("current", data).matrix("xz", "train").feature_types == list(data.feature_types)
    assert "base_score" not in current.current_params(data)


def test_a_peer_is_fitted_on_the_rows_that_the_boosters_see():
    work = fold_work()
    seen = {}

    class Spy(MFC):
        def fit(self, X, y, Z, sensitive, **rest):
            seen.update(X=X, y=y, Z=Z, sensitive=sensitive, **rest)
            return super().fit(X, y, Z, sensitive, **rest)

    scores = peers.scores_of(Spy, work)
    data, rows = work.dataset, work.rows
    assert np.array_equal(seen["X"], data.X.iloc[rows.train, list(data.classifier)])
    assert np.array_equal(seen["Z"], data.X.iloc[rows.train, list(data.privileged)])
    assert np.array_equal(seen["sensitive"], np.column_stack(data.protected)[rows.train])
    assert np.array_equal(seen["X_valid"], data.X.iloc[rows.valid, list(data.classifier)])
    assert np.array_equal(seen["y_valid"], data.y[rows.valid])
    assert len(scores.test) == len(rows.test)
    assert scores.note == "c 0"
