"""The methods of the benchmarks, and what is measured of them."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

pytest.importorskip("sklearn", reason="the folds and measures of the benchmarks come from scikit-learn")
pytest.importorskip("tqdm", reason="the runner shows its progress with tqdm")

from helpers_benchmark import REAL, auc_of_one_fold, fold_work, measured, run_here, use_few_rounds, with_method
from sklearn.metrics import log_loss, precision_score, recall_score, roc_auc_score

import pi_xgb
from benchmarks.methods import METHODS, Refused, boosted, peers, rivals
from benchmarks.modes import MODES, current
from benchmarks.modes.fold_work import FoldWork, Scores
from benchmarks.modes.paper import paper_params
from benchmarks.peers import MFC
from benchmarks.run import cells, results_file
from benchmarks.run.cells import MADE, made_set
from benchmarks.run.measures import Predictions, finishing_measures, predictions_path
from benchmarks.run.results_file import Cell

BOOSTED = [method.name for method in boosted.BOOSTED]


@pytest.fixture(autouse=True)
def few_rounds(monkeypatch):
    use_few_rounds(monkeypatch)


@pytest.fixture
def out(tmp_path):
    return tmp_path / "results.csv"


# --- measures -----------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_the_measures_are_those_of_scikit_learn_at_the_threshold_found_by_trying_all(out):
    folds = [0, 1, 2]
    run_here(out, ["NF"], folds)
    saved = [Predictions.load(predictions_path(out, Cell(MADE, "NF", "current", fold))) for fold in folds]
    data = made_set()
    grid = np.arange(1, 1000) / 1000
    f1 = np.zeros(len(grid))
    for fold, part in zip(folds, saved, strict=True):
        rows = data.folds()[fold]
        # The labels beside the predictions are those of the fold's rows.
        assert (part.valid_label == data.y[rows.valid]).all()
        assert (part.test_label == data.y[rows.test]).all()
        score = part.valid_score.astype(np.float64)
        f1 += [harmonic_mean(part.valid_label == 1, score > t) / len(folds) for t in grid]
    # The first of the best, by trying all.
    threshold = grid[np.flatnonzero(f1 >= f1.max() - 1e-12)[0]]
    assert measured(out, "threshold").tolist() == [threshold] * 3
    for position, part in enumerate(saved):
        label, score = part.test_label, part.test_score.astype(np.float64)
        decision = score > threshold
        expected = {
            "auc": roc_auc_score(label, score),
            "logloss": log_loss(label, score),
            "precision": precision_score(label, decision),
            "recall": recall_score(label, decision),
        }
        for name, value in expected.items():
            assert measured(out, name)[position] == pytest.approx(value, abs=1e-6), name
        for number, column in enumerate(("z0", "z1", "group")):
            member = data.protected[number][data.folds()[folds[position]].test] == 1
            rates = [[decision[member & (label == v)].mean(), decision[~member & (label == v)].mean()] for v in (0, 1)]
            # Equalized odds is the sum over the labels, statistical parity the gap over all rows.
            assert measured(out, f"eo:{column}")[position] == pytest.approx(sum(abs(a - b) for a, b in rates))
            gap = abs(decision[member].mean() - decision[~member].mean())
            assert measured(out, f"sp:{column}")[position] == pytest.approx(gap)
            assert measured(out, f"abroca:{column}")[position] == pytest.approx(abroca(label, score, member), abs=2e-3)


def harmonic_mean(label, decision):
    """F1 from its definition."""
    if not (label & decision).any():
        return 0.0
    precision, recall = label[decision].mean(), decision[label].mean()
    return 2 / (1 / precision + 1 / recall)


def abroca(label, score, member):
    """The area between two ROC curves on a fine grid."""
    fpr = np.linspace(0, 1, 20_001)
    curves = []
    for rows in (member, ~member):
        cuts = np.concatenate([[np.inf], np.unique(score[rows])[::-1]])
        points = [[(score[rows & (label == v)] >= cut).mean() for cut in cuts] for v in (0, 1)]
        curves.append(np.interp(fpr, *points))
    return np.abs(curves[0] - curves[1]).mean()


def test_a_rate_that_does_not_exist_is_nan():
    one_group = Predictions(
        *(np.array([0, 1, 1]), np.array([0.2, 0.7, 0.6]), np.array([0, 1, 1]), np.array([0.2, 0.7, 0.6])),
        {"nobody": np.zeros(3, int), "no negatives": np.array([0, 0, 1])},
    )
    found = finishing_measures(one_group, 0.5)
    assert np.isnan([found["eo:nobody"], found["sp:nobody"], found["abroca:nobody"], found["eo:no negatives"]]).all()
    # All rows of the other group are selected, and one of these two.
    assert found["sp:no negatives"] == 0.5
    assert list(found)[-1] == results_file.LAST_OF_FINISHING


def test_peers_of_drawn_decisions_get_no_log_loss(out, monkeypatch):
    def drawn(work):
        return dataclasses.replace(work.plain("x"), probabilities=False, note="drawn")

    with_method(monkeypatch, "drawn", drawn)
    run_here(out, ["drawn"], [0])
    table = pd.read_csv(out)
    assert "logloss" not in set(table.measure)
    assert table[table.measure == "note"].note.tolist() == ["drawn"]


# --- methods ------------------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("method", ["NF", "KbPIB", "JPIB"])
def test_paper_mode_is_the_computation_of_the_paper_test(method, out, monkeypatch):
    data = dataclasses.replace(made_set(), name="heart")
    monkeypatch.setitem(cells.MODES, "paper", REAL["paper"])
    monkeypatch.setattr(cells, "load", lambda name: data)
    cells.prepared.cache_clear()
    run_here(out, [method], [0, 3], "paper", ["heart"])
    cells.prepared.cache_clear()
    expected = [auc_of_one_fold(data, {**paper_params(data), "nthread": 1}, method, fold) for fold in (0, 3)]
    # XGBoost prints six digits.
    assert measured(out, "auc") == pytest.approx(expected, abs=2e-6)


@pytest.mark.parametrize("mode", ["paper", "current"])
@pytest.mark.parametrize("name", BOOSTED)
def test_no_boosted_method_but_pf_sees_the_privileged_values_of_the_rows_it_is_judged_on(name, mode):
    method = METHODS[name]
    if mode not in method.modes:
        with pytest.raises(Refused, match="current only"):
            cells.do(method, fold_work(mode), Path("unused.npz"))
        return
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


def test_a_mixed_teacher_has_as_many_rounds_as_a_booster_that_stops_early():
    work = fold_work()
    teacher = pi_xgb.fit_teacher(
        work.params,
        work.matrix("xz", "train"),
        work.plain("xz").trees,
        teacher="mixed",
        crossfit=5,
        seed=work.mode.seed,
        teacher_weight=work.every_row,
    )
    assert np.array_equal(boosted.mixed("xz", work), teacher.values)


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


def test_a_student_of_weight_0_is_nf_and_asks_no_teacher():
    work = fold_work()
    plain = METHODS["NF"].run(fold_work()).test
    for student in (boosted.kbpib(None, work, 0.0), boosted.jpib(work, 0.0)):
        assert np.array_equal(student.test, plain)
        assert student.kl_weight == 0.0


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


def test_what_a_method_is_about_is_plain_text_and_its_own():
    about = [method.about for method in METHODS.values()]
    assert [text for text in about if "`" in text or ".;" in text] == []
    assert len(set(about) - {"the paper's alpha", "kl_weight chosen on validation"}) == len(METHODS) - 4


def test_rivals_read_neither_z_nor_labels_of_test_rows(monkeypatch):
    monkeypatch.setitem(rivals.FOREST, "n_estimators", 5)
    work, data = fold_work(), made_set()
    found = {name: METHODS[name].run(work) for name in (*rivals.RIVALS, rivals.BEST_RIVAL)}
    best = min(rivals.RIVALS, key=lambda name: rivals.scored(name, work)[1])
    assert found[rivals.BEST_RIVAL] is found[best]
    y, x = data.y.copy(), data.X.copy()
    y[work.part("test")] = 1 - y[work.part("test")]
    x.iloc[:, list(data.privileged)] = 0.0
    other = FoldWork(dataclasses.replace(data, y=y, X=x), work.rows, work.mode)
    for name in rivals.RIVALS:
        np.testing.assert_array_equal(METHODS[name].run(other).test, found[name].test)
    # The scores of validation rows are out of fold: labels that nobody can learn stay unknown.
    noise = dataclasses.replace(data, y=np.random.default_rng(0).integers(0, 2, len(data.y)))
    unknown = FoldWork(noise, work.rows, work.mode)
    assert roc_auc_score(unknown.labels("valid"), METHODS[rivals.FOREST_RIVAL].run(unknown).valid) < 0.8
    monkeypatch.setattr(rivals, "MOST_ROWS", len(data.y) - 1)
    with pytest.raises(Refused, match="takes sets of at most 299 rows"):
        METHODS[rivals.BEST_RIVAL].run(fold_work())


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
