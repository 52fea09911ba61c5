"""The benchmark of copies: its measures, the public ranking set, and a page that is what its results say."""

from __future__ import annotations

import os

import numpy as np
import pytest
import xgboost as xgb
from sklearn.metrics import ndcg_score

from benchmarks.copies.problems import PROBLEMS, hidden, ndcg
from benchmarks.data import LOAD_ERRORS
from benchmarks.data.ranking import load_ranking


def test_ndcg_is_scikit_learns():
    rng = np.random.default_rng(0)
    prediction, relevance, qid = rng.normal(size=120), rng.integers(0, 4, 120).astype(float), np.arange(120) // 8
    relevance[:8] = 0  # a query without a relevant row says nothing
    blocks = [slice(8 * i, 8 * i + 8) for i in range(1, 15)]
    theirs = np.mean([ndcg_score([relevance[block]], [prediction[block]], k=5) for block in blocks])
    assert ndcg(prediction, relevance, qid) == pytest.approx(theirs)


@pytest.mark.parametrize("problem", PROBLEMS.values(), ids=list(PROBLEMS))
def test_the_truth_is_what_no_model_beats(problem):
    rows = problem.draw(2000, 0)
    assert problem.loss(rows.truth, rows) < 1e-6 < problem.loss(np.full(2000, rows.truth.mean()), rows)
    # The labels are drawn with it.
    u = hidden(2000, 0)[0]
    label = next(iter(rows.fields.values()))
    assert np.corrcoef(u, np.log1p(label))[0, 1] > 0.4
    assert rows.matrix(rows.x, rows.z).num_col() == 11
    xgb.train(problem.params, rows.take(np.arange(100)).matrix(rows.x[:100]), 1)


@pytest.mark.skipif("PI_XGB_DATA" not in os.environ, reason="needs the raw files: set PI_XGB_DATA")
def test_the_public_set_is_read_as_xgboost_would_read_it(tmp_path):
    try:
        data = load_ranking()
    except LOAD_ERRORS as error:
        pytest.skip(str(error))
    assert data.X.shape == (3773, 300)
    assert np.bincount(data.y.astype(int)).tolist() == [851, 1467, 1110, 266, 79]
    assert data.qid[-1] == 250
    assert not (np.diff(data.qid) < 0).any()
    # A line of the file: 0 10:0.89 11:0.75 12:0.01 17:0.45 ...
    assert np.flatnonzero(~np.isnan(data.X[0]))[:4].tolist() == [9, 10, 11, 16]
    assert data.X[0, [9, 10, 11]].tolist() == np.float32([0.89, 0.75, 0.01]).tolist()
