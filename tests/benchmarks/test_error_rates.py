"""Error rates, average ranks and the critical distance: tables of the literature, and a page that its results made."""

from __future__ import annotations

import dataclasses
import itertools
import math

import numpy as np
import pandas as pd
import pytest
from helpers_benchmark import SMALL
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("sklearn", reason="the benchmarks need scikit-learn")
pytest.importorskip("matplotlib", reason="the pictures need matplotlib")

from scipy.spatial.distance import pdist
from sklearn.datasets import load_digits
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import StratifiedKFold
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from benchmarks.data import PreparedSet
from benchmarks.error_rates import __main__ as error_rates
from benchmarks.error_rates import cells, digits, machines, page
from benchmarks.error_rates.ranks import Ranking, critical_distance, ranking
from benchmarks.modes.fold_work import Scores
from benchmarks.peers._base import Encoder, median_squared_distance
from benchmarks.peers.svm_plus import PENALTIES, WIDTHS
from benchmarks.run.cells import MADE, made_set

# Table 6 of Demsar, "Statistical Comparisons of Classifiers over Multiple Data Sets", JMLR 2006, as places.
DEMSAR = """
4 3 2 1 / 1 2 3 4 / 4 1 2 3 / 4 1 3 2 / 4 2 3 1 / 1 2.5 4 2.5 / 3 2 4 1
2.5 2.5 4 1 / 4 3 2 1 / 2.5 2.5 2.5 2.5 / 4 2.5 1 2.5 / 3 2 4 1 / 4 1 2 3 / 3 1 4 2
"""


def test_ranks_and_distance_are_those_of_demsars_example():
    rows = [[float(place) for place in row.split()] for row in DEMSAR.replace("\n", "/").split("/") if row.strip()]
    losses = pd.DataFrame(rows, columns=["C4.5", "C4.5+m", "C4.5+cf", "C4.5+m+cf"]) / 10
    found = ranking(losses)
    assert found.ranks.round(3).to_dict() == {"C4.5+m+cf": 1.964, "C4.5+m": 2.0, "C4.5+cf": 2.893, "C4.5": 3.143}
    assert found.critical == pytest.approx(1.25, abs=0.005)
    # The paper has 9.28, without the correction for ties, which makes it a little larger.
    assert 9.28 < found.statistic < 10.5
    assert 0.015 < found.p_value < 0.026
    # "the difference between the best and the worst is 1.18 < 1.25"
    assert found.cliques() == [(0, 3)]


@pytest.mark.parametrize(
    ("methods", "quantile"),
    [(2, 1.960), (3, 2.343), (4, 2.569), (5, 2.728), (6, 2.850), (7, 2.949), (8, 3.031), (9, 3.102), (10, 3.164)],
)
def test_the_quantiles_are_those_of_his_table(methods, quantile):
    assert critical_distance(methods, 7) == pytest.approx(quantile * math.sqrt(methods * (methods + 1) / 42), abs=0.001)


@given(st.lists(st.integers(10, 90), min_size=2, max_size=9), st.integers(1, 40))
def test_bars_join_what_is_not_told_apart_and_nothing_else(places, critical):
    ranks = pd.Series(sorted(places), index=list(range(len(places))), dtype=float)
    joined = Ranking(ranks, 0.0, 1.0, float(critical)).cliques()
    for i in range(len(ranks)):
        for j in range(i + 1, len(ranks)):
            together = any(first <= i and j <= last for first, last in joined)
            assert together == (ranks[j] - ranks[i] <= critical)
    # No bar lies within another.
    assert all(a == b or not (b[0] <= a[0] and a[1] <= b[1]) for a in joined for b in joined)


@pytest.mark.parametrize(("rows", "sizes"), [(2000, (200, 200, 1600)), (300, (150, 75, 75)), (9000, (200, 200, 5000))])
def test_draws_are_as_large_as_the_paper_has_them(rows, sizes):
    made = made_set()
    where = np.random.default_rng(0).integers(0, len(made.y), rows)
    dataset = dataclasses.replace(made, X=made.X.iloc[where], y=made.y[where], protected=())
    first, second = (cells.drawn(dataset, draw, 200) for draw in range(2))
    assert tuple(map(len, (first.train, first.valid, first.test))) == sizes
    everybody = np.concatenate([first.train, first.valid, first.test])
    assert len(set(everybody)) == len(everybody)
    for part in (first.train, first.valid):
        assert dataset.y[part].mean() == pytest.approx(dataset.y.mean(), abs=0.01)
    assert not np.array_equal(first.train, second.train)


def test_an_error_is_a_probability_on_the_wrong_side(monkeypatch):
    monkeypatch.setattr(cells, "CURRENT", SMALL["current"])
    methods = {name: cells.PUBLIC.methods[name] for name in ("NF", "KbPIB")}
    lines = cells.lines_of(dataclasses.replace(cells.PUBLIC, methods=methods), MADE, 0)
    work = cells.FoldWork(made_set(), cells.drawn(made_set(), 0, 200), SMALL["current"])
    wrong = (work.plain("x").test > 0.5).astype(int) != work.labels("test")
    assert 0 < wrong.mean() < 0.5
    assert lines[0]["error"] == wrong.mean()
    assert [(line["method"], line["train"], line["test"]) for line in lines] == [("NF", 150, 75), ("KbPIB", 150, 75)]


def test_a_task_is_two_digits_and_their_blocks_are_means_of_pixels():
    assert len(digits.TASKS) == 45
    made = digits.task("3 or 8")
    bunch = load_digits()
    there = np.isin(bunch.target, (3, 8))
    np.testing.assert_array_equal(made.y, bunch.target[there] == 8)
    (x, _), (z, _) = made.student(), made.teacher()
    np.testing.assert_array_equal(z, bunch.data[there])
    pictures, blocks = z.to_numpy().reshape(-1, 8, 8), x.to_numpy().reshape(-1, 4, 4)
    for row, column in itertools.product(range(4), repeat=2):
        block = pictures[:, 2 * row : 2 * row + 2, 2 * column : 2 * column + 2]
        np.testing.assert_allclose(blocks[:, row, column], block.mean(axis=(1, 2)))


def test_the_weight_is_that_of_the_lowest_log_loss():
    work = cells.FoldWork(made_set(), cells.drawn(made_set(), 0, 200), SMALL["current"])
    truth = work.labels("valid")

    def train(_, kl_weight):
        share = 0.9 - 0.2 * abs(kl_weight - 3.0) / 10
        return Scores(np.where(truth == 1, share, 1 - share), np.full(5, kl_weight))

    assert digits.by_log_loss(train, work).tolist() == [3.0] * 5


def many_columns(n, d):
    """More columns than components, and a few of them twice."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=(n, d))
    x[:, 1] = x[:, 0]
    y = (x[:, 0] + rng.normal(size=n) > 0).astype(np.int64)
    names = [f"c{i}" for i in range(d)]
    return PreparedSet("many", pd.DataFrame(x, columns=names), y, ("q",) * d, tuple(range(d - 2, d)), ())


def test_components_are_taken_where_columns_are_many_and_from_the_training_rows():
    table = many_columns(300, 60).X.to_numpy()
    train, test = table[:200], table[200:]
    encoder = machines.Components(["q"] * 60)
    found, others = encoder.fit_transform(train), encoder.transform(test)
    assert (found.shape, others.shape) == ((200, 50), (100, 50))
    # Components of training rows are uncorrelated, the first the one of the largest variance: 2 of a doubled column.
    covariance = np.cov(found.T, ddof=0)
    np.testing.assert_allclose(covariance, np.diag(np.diag(covariance)), atol=1e-10)
    assert (np.diff(np.diag(covariance)) <= 1e-10).all()
    assert covariance[0, 0] > 2
    np.testing.assert_allclose(encoder.transform(train), found)
    # They keep what they can of the distances between standardised rows: all of them where rows are fewer.
    few = machines.Components(["q"] * 60).fit_transform(train[:30])
    scaled = StandardScaler().fit_transform(train[:30])
    np.testing.assert_allclose(pdist(few), pdist(scaled))
    # Columns that are not many stay as they are.
    encoder, plain = machines.Components(["q"] * 50), Encoder(["q"] * 50)
    np.testing.assert_array_equal(encoder.fit_transform(train[:, :50]), plain.fit_transform(train[:, :50]))
    np.testing.assert_array_equal(encoder.transform(test[:, :50]), plain.transform(test[:, :50]))


@pytest.mark.parametrize("name", machines.AS_MACHINES)
def test_every_machine_is_trained_on_components(monkeypatch, name):
    requested = []

    class Watched(machines.Components):
        def fit_transform(self, X):
            requested.append(X.shape[1])
            return super().fit_transform(X)

    monkeypatch.setattr(machines, "Components", Watched)
    for kind in (machines.ReducedGPC, machines.ReducedGPCPlus, machines.ErrorSVMPlus):
        monkeypatch.setattr(kind, "_encoder_of", Watched)
    dataset = many_columns(120, 8)
    work = cells.FoldWork(dataset, cells.drawn(dataset, 0, 30), SMALL["current"])
    machines.AS_MACHINES[name](work)
    assert requested == ([6, 2] if name.endswith("+") else [6])


def test_the_machines_are_tuned_by_error():
    dataset = many_columns(200, 6)
    work = cells.FoldWork(dataset, cells.drawn(dataset, 0, 60), SMALL["current"])
    x, y = {}, work.labels("train")
    for rows in ("train", "test"):
        x[rows] = work.features("x", rows)[0].to_numpy()
    scaler = StandardScaler().fit(x["train"])
    x = {rows: scaler.transform(table) for rows, table in x.items()}
    unit = median_squared_distance(x["train"])
    folds = list(StratifiedKFold(5, shuffle=True, random_state=0).split(x["train"], y))
    errors = {
        (C, width): np.mean(
            [
                SVC(C=C, gamma=width / unit).fit(x["train"][fit], y[fit]).score(x["train"][rest], y[rest])
                for fit, rest in folds
            ]
        )
        for C in PENALTIES
        for width in WIDTHS
    }
    C, width = max(errors, key=errors.get)
    expected = SVC(C=C, gamma=width / unit).fit(x["train"], y).predict(x["test"])
    np.testing.assert_array_equal(machines.AS_MACHINES["SVM"](work) > 0.5, expected == 1)


def test_svm_plus_takes_the_fewest_errors_of_all_combinations_and_of_equal_ones_the_highest_auc(monkeypatch):
    dataset = many_columns(200, 6)
    work = cells.FoldWork(dataset, cells.drawn(dataset, 0, 60), SMALL["current"])
    seen, peers = [], []

    few_errors = machines.few_errors

    def merit(decision, rows):
        seen.append((np.mean((decision > 0) == rows.y), roc_auc_score(rows.y, decision)))
        found = few_errors(decision, rows)
        assert found == pytest.approx(seen[-1])
        return found

    class Watched(machines.ErrorSVMPlus):
        def _fit(self, train, valid):
            super()._fit(train, valid)
            peers.append((self, valid))

    monkeypatch.setattr(machines, "few_errors", merit)
    answers = machines.tested(Watched, work)
    assert len(seen) == 5**4
    ((peer, valid),) = peers
    # Trained on the same rows as in the search, which has the choice among what it saw.
    assert few_errors(peer._decide(valid.x), valid) == pytest.approx(max(seen))
    assert set(answers) <= {0.0, 1.0}


def made_lines(names=page.NAMES):
    """Of three sets and two draws: GPC+ is always best, and GPC next."""
    errors = {name: 0.1 + 0.02 * place for place, name in enumerate(["GPC+", "GPC", *names[2:]])}
    return pd.DataFrame(
        [
            {"set": name, "draw": draw, "method": method, "error": error + 0.01 * draw, "seconds": 1.0}
            for name in ("one", "two", "three")
            for draw in range(2)
            for method, error in errors.items()
        ]
    )


def test_the_page_says_who_differs_from_whom():
    text = page.text_of(made_lines(), made_lines(page.DIGITS_NAMES))
    sentence = " ".join(text.split())
    assert "Each set was drawn 2 times. Not run: heart, car, spam" in sentence
    assert "kdd. A draw took 8 seconds" in sentence
    assert "| one | 0.1250 | 0.1050 |" in text
    assert "The best average rank is that of GPC+, the worst that of KbPIB all features." in sentence
    assert "The best average rank is that of GPC+, the worst that of mixed." in sentence
    assert "Friedman's test over 3 pairs" in sentence
    assert "| GPC+ for GPC | +0.0200 | 3 / 0 / 0 | +1.00 | no |" in text
    assert "| KbPIB all features for NF | -0.0600 | 0 / 0 / 3 | -3.00 | no |" in text
    assert f"more than {critical_distance(8, 3):.2f} apart" in sentence


def test_the_picture_has_every_method_with_its_rank(monkeypatch, tmp_path):
    drawn = []
    monkeypatch.setattr(page, "save", lambda figure, path: drawn.append((figure, path)))
    found = Ranking(pd.Series({"a": 1.2, "b": 1.9, "c": 2.9}), 4.0, 0.1, 1.0)
    page.draw(found, tmp_path / "figure.png")
    ((figure, path),) = drawn
    texts = {text.get_text().strip() for text in figure.axes[0].texts}
    assert {"a (1.20)", "b (1.90)", "c (2.90)", "critical distance 1.00"} <= texts
    bars = [line for line in figure.axes[0].lines if line.get_linewidth() == 4]
    assert [list(line.get_xdata().round(2)) for line in bars] == [[1.14, 1.96], [1.84, 2.96]]
    assert path == tmp_path / "figure.png"


def test_what_is_there_is_not_done_again(monkeypatch, tmp_path):
    requested = []
    line = {"set": "one", "draw": 0, "method": "NF", "error": 0.25}
    monkeypatch.setattr(
        error_rates,
        "lines_of",
        lambda part, name, draw: requested.append((name, draw)) or [{**line, "draw": draw}],
    )
    for draws in (1, 2):
        error_rates.run(cells.DIGITS, tmp_path / "out.csv", [("one", draw) for draw in range(draws)])
    assert requested == [("one", 0), ("one", 1)]
    assert pd.read_csv(tmp_path / "out.csv")["draw"].tolist() == [0, 1]
