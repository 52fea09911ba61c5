"""Error rates, average ranks and the critical distance: tables of the literature, and a page that its results made."""

from __future__ import annotations

import dataclasses
import itertools
import math

import numpy as np
import pandas as pd
import pytest

pytest.importorskip("sklearn", reason="the benchmarks need scikit-learn")
pytest.importorskip("matplotlib", reason="the pictures need matplotlib")

from scipy.spatial.distance import pdist
from sklearn.datasets import load_digits
from sklearn.preprocessing import StandardScaler

from benchmarks.data import PreparedSet, made_set
from benchmarks.error_rates import cells, digits, machines
from benchmarks.error_rates.ranks import critical_distance, ranking
from benchmarks.peers._base import Encoder

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
