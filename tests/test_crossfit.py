"""Who judges whom: the folds of a cross-fitted teacher, row by row."""

from __future__ import annotations

import dataclasses
import json
import threading

import numpy as np
import pytest
import xgboost as xgb
from hypothesis import given, settings
from hypothesis import strategies as st

import pi_xgb
from pi_xgb._core.crossfit import (
    LEFT_OUT,
    SHARED,
    Folds,
    check_crossfit,
    check_groups_apart,
    deal_labelled,
    default_crossfit,
    out_of_fold,
    whole_queries,
)
from pi_xgb._core.folds import SharedFolds
from pi_xgb._core.learners.features import Features
from pi_xgb._core.losses import LOSSES
from pi_xgb._stats.folds import deal_folds, deal_groups

N = 30
LABEL = np.random.default_rng(0).integers(0, 2, N).astype(np.float32)
LABELLED = np.arange(N) % 3 > 0
GROUPS = np.array(list("edcba"))[np.arange(N) // 6]


@pytest.mark.parametrize("labelled", [None, LABELLED])
def test_as_many_folds_as_labelled_rows_or_groups(labelled):
    n_rows, name = (N, "30 rows") if labelled is None else (20, "20 labelled rows")
    for crossfit in (0, 2, n_rows):
        check_crossfit(crossfit, labelled, N)
    for crossfit in (-1, 1, n_rows + 1):
        with pytest.raises(ValueError, match=f"between 2 and the {name}, got {crossfit}$"):
            check_crossfit(crossfit, labelled, N)
    with pytest.raises(TypeError, match=r"crossfit.*whole number"):
        check_crossfit(2.0, labelled, N)
    check_crossfit(2, None, 2)
    check_crossfit(2, np.arange(N) < 2, N)
    with pytest.raises(ValueError, match=r"requires at least 2 rows, got 1: add rows$"):
        check_crossfit(2, None, 1)
    check_crossfit(5, labelled, N, GROUPS)
    with pytest.raises(ValueError, match=r"5 distinct.*6 folds"):
        check_crossfit(6, labelled, N, GROUPS)


def test_the_default_number_of_folds_is_what_the_rarest_class_and_the_groups_fill():
    three_ones = (np.arange(N) < 3).astype(np.float32)
    assert default_crossfit(LABEL, None, None, classes=True) == 5
    assert default_crossfit(three_ones, None, None, classes=True) == 3
    assert default_crossfit(three_ones, None, None, classes=False) == 5
    assert default_crossfit(three_ones / 2, None, None, classes=True) == 5  # probabilities, not classes
    assert default_crossfit(np.column_stack([three_ones, LABEL]), None, None, classes=True) == 3
    assert default_crossfit(three_ones, np.arange(N) != 1, None, classes=True) == 2
    assert default_crossfit(three_ones, np.arange(N) > 1, None, classes=True) == 2  # never fewer
    assert default_crossfit(LABEL, np.isin(GROUPS, list("abc")), GROUPS, classes=True) == 3


def test_groups_without_a_labelled_row_fill_no_fold():
    known = np.isin(GROUPS, list("abc"))
    check_crossfit(3, known, N, GROUPS)
    with pytest.raises(ValueError, match=r"3 distinct.*4 folds"):
        check_crossfit(4, known, N, GROUPS)
    check_groups_apart(GROUPS)  # one worker alone tears none apart


def test_queries_stay_whole_and_groups_may_join_them():
    query = np.repeat(np.arange(10), 3)
    matrix = xgb.DMatrix(np.zeros((N, 1)), np.zeros(N), qid=query)
    ranking, numbers = LOSSES["rank:pairwise"], LOSSES["reg:squarederror"]
    np.testing.assert_array_equal(whole_queries(ranking, matrix, None), query)
    assert whole_queries(ranking, matrix, GROUPS) is GROUPS  # two queries each
    assert whole_queries(numbers, matrix, None) is None
    assert whole_queries(numbers, matrix, query[::-1] % 7).tolist() == (query[::-1] % 7).tolist()
    for torn_in, torn in (((1,), 1), ((2,), 1), ((0, 29), 2), ((4, 5), 1)):
        groups = np.zeros(N)
        groups[list(torn_in)] = 1
        with pytest.raises(ValueError, match=f"crossfit_groups.*{torn} queries"):
            whole_queries(ranking, matrix, groups)


@pytest.mark.parametrize("labelled", [None, LABELLED])
@pytest.mark.parametrize("groups", [None, GROUPS])
@pytest.mark.parametrize("targets", [1, 2])
def test_every_labelled_row_is_in_the_fold_that_it_is_dealt_to(labelled, groups, targets):
    known = np.arange(N) if labelled is None else np.flatnonzero(labelled)
    label = LABEL if targets == 1 else np.stack([LABEL, np.arange(N)], axis=1)
    fold_of = deal_labelled(label, labelled, groups, 3, 7, classes=True)
    folds = (
        deal_folds(LABEL[known], 3, 7)
        if groups is None
        else deal_groups(LABEL[known], groups[known], 3, 7, classes=True)
    )
    for fold, (_, out) in enumerate(folds):
        np.testing.assert_array_equal(known[out], np.flatnonzero((fold_of == fold) & np.isin(np.arange(N), known)))
    if labelled is not None:
        # A row without a label goes with its group; where there is none, all may judge it.
        expected = -1 if groups is None else [fold_of[known][groups[known] == item][0] for item in groups[~labelled]]
        np.testing.assert_array_equal(fold_of[~labelled], expected)


@given(seed=st.integers(0, 10**6), classes=st.booleans())
@settings(max_examples=30, deadline=None)
def test_groups_without_a_label_may_be_judged_by_all(seed, classes):
    rng = np.random.default_rng(seed)
    groups, labelled, label = rng.integers(0, 9, N), rng.random(N) < 0.4, rng.random(N).round(int(classes))
    labelled[np.unique(groups, return_index=True)[1][:3]] = True
    fold_of = deal_labelled(label, labelled, groups, 2, seed, classes=classes)
    for group in np.unique(groups):
        (fold,) = np.unique(fold_of[groups == group])
        assert (fold == -1) == (not labelled[groups == group].any())
    assert set(fold_of[labelled]) == {0, 1}


def test_numbers_are_dealt_by_their_size():
    # As classes these would be ten kinds of three; as numbers each fold has small and large ones.
    label = np.repeat(np.arange(10.0), 3).astype(np.float32)
    groups = np.arange(N)
    for classes in (True, False):
        fold_of = deal_labelled(label, None, groups, 3, 1, classes=classes)
        for fold, (_, out) in enumerate(deal_groups(label, groups, 3, 1, classes=classes)):
            np.testing.assert_array_equal(np.flatnonzero(fold_of == fold), out)


def test_two_folds_share_a_model():
    folds = SharedFolds(np.array([0, 1, -1, 2]), 3)
    trained = []

    def fit():
        trained.append(object())
        return trained[-1]

    def model(shared, fold, member="boosted"):
        with shared.fitted_on(np.ones(4, bool)).model(member, fold, fit) as found:
            return found

    held_out = {k: dataclasses.replace(folds, held_out=k, way="all") for k in (0, 1)}
    assert model(held_out[0], 1) is model(held_out[1], 0) is trained[0]
    assert folds.subset(np.array([3, 0])).fold_of.tolist() == [2, 0]
    # Of nothing held out, of another view and of another kind there are others; two selections share none.
    nothing_out = dataclasses.replace(folds, way="all")
    other_view = dataclasses.replace(folds, held_out=0, way="privileged")
    for fold, other in (
        (0, nothing_out),
        (1, nothing_out),
        (1, other_view),
        (1, SharedFolds(folds.fold_of, 3, 0, "all")),
    ):
        assert model(other, fold) is trained[-1]
    assert model(held_out[0], 1, "forest") is trained[-1]
    assert len(trained) == 6


@given(seed=st.integers(0, 10**6), n_folds=st.integers(2, 4), jobs=st.integers(1, 3))
@settings(max_examples=30, deadline=None)
def test_no_model_predicts_a_row_that_it_was_fitted_on(seed, n_folds, jobs):
    rng = np.random.default_rng(seed)
    fold_of, learnable = rng.integers(LEFT_OUT, n_folds, N), rng.random(N) < 0.7
    fold_of[:n_folds] = np.arange(n_folds)
    folds = Folds(fold_of, learnable)
    # A model is the rows that it was fitted on; it predicts which they are.
    fit = {
        "rows": lambda rows: np.isin(np.arange(N), rows).astype(float),
        "others": lambda rows: 1 - np.isin(np.arange(N), rows),
    }
    found = out_of_fold(fit, lambda model, rows: np.tile(model, (len(rows), 1)), folds, jobs)
    predicted, models = found["rows"]
    assert len(models) == len(folds.numbers)
    dealt = fold_of != LEFT_OUT
    np.testing.assert_allclose(found["others"][0][dealt], 1 - predicted[dealt], atol=1e-12)
    for row, seen in enumerate(predicted):
        if fold_of[row] >= 0:
            np.testing.assert_array_equal(seen, learnable & (fold_of != fold_of[row]))
        else:
            expected = np.mean(models, axis=0) if fold_of[row] == SHARED else np.zeros(N)
            np.testing.assert_allclose(seen, expected)
    whole = Folds(np.zeros(N, int), learnable, in_sample=True)
    found = out_of_fold({"rows": np.size}, lambda model, rows: np.full(len(rows), model), whole, jobs)
    assert set(found["rows"][0]) == {learnable.sum()}


@pytest.mark.parametrize("kind", ["boosted", "forest", "linear", "mixed"])
@pytest.mark.parametrize("labelled", [None, np.arange(90) % 3 > 0])
def test_folds_side_by_side_give_the_teacher_of_one_thread(kind, labelled, monkeypatch):
    made = pi_xgb.datasets.make_privileged(90, seed=2)
    dprivileged = xgb.DMatrix(made.z, made.y)
    threads = set()
    monkeypatch.setattr("pi_xgb._xgb.threads.usable_cores", lambda: 3)
    subset = Features.subset
    monkeypatch.setattr(Features, "subset", lambda *rows: threads.add(threading.get_ident()) or subset(*rows))

    def values(**params):
        params |= {"objective": "binary:logistic", "max_depth": 2}
        teacher = pi_xgb.fit_teacher(params, dprivileged, 5, teacher=kind, crossfit=4, labelled=labelled)
        settings = [json.loads(booster.save_config())["learner"]["generic_param"] for booster in teacher.boosters]
        assert {item["nthread"] for item in settings} <= {"1"}
        return teacher.values

    side_by_side = values()
    assert threads
    assert threading.get_ident() not in threads
    threads.clear()
    np.testing.assert_array_equal(values(nthread=1), side_by_side)
    assert threads == {threading.get_ident()}


@pytest.mark.parametrize(
    ("verbose_eval", "crossfit", "few", "steps"),
    [(True, 4, 89, 12), (True, 4, 90, 0), (False, 4, 89, 0), (True, None, 89, 15)],
)
def test_long_trainings_of_a_teacher_show_their_progress(verbose_eval, crossfit, few, steps, monkeypatch, capsys):
    made = pi_xgb.datasets.make_privileged(90, seed=2)
    monkeypatch.setattr("pi_xgb._core.learned.FEW_ROWS", few)
    monkeypatch.setattr("pi_xgb._progress._SECONDS", 0.0)  # a line after each model but the last
    params, matrix = {"objective": "binary:logistic"}, xgb.DMatrix(made.z, made.y)
    pi_xgb.fit_teacher(params, matrix, 2, teacher="mixed", crossfit=crossfit, verbose_eval=verbose_eval)
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == max(0, steps - 1)
    assert not lines or lines[0].startswith(f"teacher: 1 of {steps}, ")
