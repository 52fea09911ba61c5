"""The folds of ``cv`` by row numbers: what they are made of, row by row."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.model_selection import GroupKFold, KFold, StratifiedGroupKFold, StratifiedKFold

from pi_xgb._rows.folds import row_folds, with_unlabelled

N = 24
LABEL = np.arange(N) % 3 == 0
LABELLED = np.arange(N) % 4 > 0
QUERY = np.repeat(np.arange(8), 3)
rows_known = pytest.mark.parametrize("labelled", [None, LABELLED])


def dealt(labelled=None, query=None, nfold=4, stratified=False, folds=None, shuffle=True, seed=5):
    how = {"nfold": nfold, "stratified": stratified, "folds": folds, "shuffle": shuffle, "seed": seed}
    return row_folds(how, LABEL.astype(np.float32), labelled, query)


def assert_same(ours, theirs):
    assert len(ours) == len(theirs)
    for pair, expected in zip(ours, theirs, strict=True):
        for part, wanted in zip(pair, expected, strict=True):
            np.testing.assert_array_equal(part, wanted)


@rows_known
@pytest.mark.parametrize("shuffle", [True, False])
def test_folds_are_those_of_xgboost_among_the_labelled_rows(labelled, shuffle):
    known = np.arange(N) if labelled is None else np.flatnonzero(labelled)
    np.random.seed(5)  # noqa: NPY002 - as XGBoost does it
    order = np.random.permutation(len(known)) if shuffle else np.arange(len(known))  # noqa: NPY002
    parts = [known[part] for part in np.array_split(order, 4)]
    expected = [(np.concatenate(parts[:k] + parts[k + 1 :]), parts[k]) for k in range(4)]
    assert_same(dealt(labelled, shuffle=shuffle), expected)


@rows_known
def test_stratified_folds_and_splitters_are_scikit_learns(labelled):
    known = np.arange(N) if labelled is None else np.flatnonzero(labelled)
    for splitter, keywords in (
        (StratifiedKFold(4, shuffle=True, random_state=5), {"stratified": True}),
        (StratifiedKFold(3), {"folds": StratifiedKFold(3)}),
        (KFold(3), {"folds": KFold(3), "nfold": 99}),  # nfold is of the folds that are made here
    ):
        expected = [(known[rest], known[out]) for rest, out in splitter.split(known, LABEL[known])]
        assert_same(dealt(labelled, **keywords), expected)


def test_folds_of_the_user_are_taken_as_they_are():
    given = [(np.arange(10, N), np.arange(5)), (np.array([1, 2, 3]), np.array([0, 7]))]
    assert_same(dealt(folds=given), given)
    masks = [(np.isin(np.arange(N), rest), np.isin(np.arange(N), out)) for rest, out in given]
    assert_same(dealt(folds=masks), [(np.sort(rest), np.sort(out)) for rest, out in given])
    # Rows without a label do not train as if they had one, and cannot be held out.
    held = [(rest, out[LABELLED[out]]) for rest, out in given]
    assert_same(dealt(LABELLED, folds=held), [(rest[LABELLED[rest]], out) for rest, out in held])
    with pytest.raises(ValueError, match=r"hold out.*2 held-out rows"):
        dealt(LABELLED, folds=given)


REST = np.arange(10, N)


@pytest.mark.parametrize(
    ("folds", "error", "message"),
    [
        ([(REST, [N])], ValueError, rf"fold 0 .*from 0 to {N - 1} .*{N} rows, got \[{N}\]"),
        ([(REST, [0]), ([-1], [0])], ValueError, r"fold 1.*got \[-1\]"),
        ([(REST, np.ones(N - 1, bool))], ValueError, f"fold 0.*truth.*{N} rows"),
        ([(REST, [])], ValueError, r"fold 0.*row numbers.*sides"),
        ([(REST, [0.5])], ValueError, r"fold 0.*row numbers.*sides"),
        ([(1, 2)], ValueError, r"fold 0.*1"),
        ([REST], TypeError, r"folds.*ndarray.*fold 0"),
        ([3], TypeError, r"folds.*pairs.*int.*fold 0"),
        (5, TypeError, r"folds.*pairs.*5"),
        ("abc", TypeError, r"folds.*pairs.*splitter.*str as fold 0"),
        ([], ValueError, r"folds.*pair.*empty"),
    ],
)
def test_folds_of_rows_that_are_not_there(folds, error, message):
    for query in (None, QUERY):
        with pytest.raises(error, match=message):
            dealt(None, query, folds=folds)


@pytest.mark.parametrize(
    ("labelled", "query", "most"),
    [(None, None, "24 labelled rows"), (LABELLED, None, "18 labelled rows"), (None, QUERY, "8 queries")],
)
def test_bad_nfold_raises(labelled, query, most):
    for nfold, error, message in (
        (1, ValueError, "nfold must be at least 2, got 1"),
        ("3", TypeError, "nfold .*'3'"),
        (N + 1, ValueError, f"nfold must be at most the {most}, got 25"),
    ):
        with pytest.raises(error, match=message):
            dealt(labelled, query, nfold=nfold)


@rows_known
@pytest.mark.parametrize("shuffle", [True, False])
def test_queries_are_dealt_as_a_whole(labelled, shuffle):
    known = np.ones(N, bool) if labelled is None else labelled
    order = np.random.RandomState(5).permutation(8) if shuffle else np.arange(8)
    parts = np.array_split(order, 3)

    def rows(queries):
        return np.concatenate([np.flatnonzero(known & (item == QUERY)) for item in queries])

    expected = [(rows(np.concatenate(parts[:k] + parts[k + 1 :])), rows(parts[k])) for k in range(3)]
    assert_same(dealt(labelled, QUERY, nfold=3, shuffle=shuffle), expected)


@rows_known
def test_queries_of_a_splitter_and_of_the_user_stay_whole(labelled):
    known = np.arange(N) if labelled is None else np.flatnonzero(labelled)
    expected = [(known[rest], known[out]) for rest, out in GroupKFold(4).split(known, groups=QUERY[known])]
    assert_same(dealt(labelled, QUERY, folds=GroupKFold(4)), expected)
    by_label = StratifiedGroupKFold(3)
    of_labels = [(known[rest], known[out]) for rest, out in by_label.split(known, LABEL[known], QUERY[known])]
    assert_same(dealt(labelled, QUERY, folds=by_label), of_labels)
    assert_same(dealt(labelled, QUERY, folds=[(rest[::-1], out[::-1]) for rest, out in expected]), expected)
    with pytest.raises(ValueError, match="both sides"):
        dealt(labelled, QUERY, folds=[(np.array([1]), np.array([2]))])
    with pytest.raises(ValueError, match=r"stratified.*queries"):
        dealt(labelled, QUERY, stratified=True)


def test_unlabelled_rows_train_in_every_fold_and_queries_stay_side_by_side():
    folds = [(np.array([5, 1, 2]), np.array([3])), (np.array([3]), np.array([5, 1, 2]))]
    assert with_unlabelled(folds, None, QUERY) is folds
    others = np.flatnonzero(~LABELLED)
    found = [(np.concatenate([rest, others]), out) for rest, out in folds]
    assert_same(with_unlabelled(folds, LABELLED, None), found)
    assert_same(with_unlabelled(folds, LABELLED, QUERY), [(np.sort(rest), out) for rest, out in found])
