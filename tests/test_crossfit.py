"""Out-of-fold teachers, rebuilt by hand: no model predicts a row that it was fitted on."""

from __future__ import annotations

import numpy as np
import pytest
import xgboost as xgb
from helpers_problems import (
    AMOUNTS,
    CLASSES,
    LOGISTIC,
    OBJECTIVES,
    RANKINGS,
    TARGETS,
    Problem,
    assert_same_model,
    mean_of,
)
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import roc_auc_score

import pi_xgb
from pi_xgb._core.crossfit import LEFT_OUT, SHARED, Folds, out_of_fold
from pi_xgb._rows.folds import deal_folds

ROUNDS = 4
HAVE_MEAN = (*LOGISTIC, *CLASSES, *AMOUNTS)


def says(objective: str, booster: xgb.Booster, matrix: xgb.DMatrix) -> np.ndarray:
    """The means that a booster predicts, for objectives that predict something else as well."""
    if objective in HAVE_MEAN:
        return mean_of(objective, booster.predict(matrix, output_margin=True))
    return booster.predict(matrix)


def by_hand(rows: Problem, params: dict, n_folds: int, labelled: np.ndarray, groups: np.ndarray | None, seed: int):
    """The predictions of fold boosters, and the boosters."""
    known = np.flatnonzero(labelled)
    label = rows.y[:, 0] if rows.y.ndim == 2 else rows.y
    groups = rows.qid if groups is None else groups
    classes = rows.objective in LOGISTIC + CLASSES
    own = None if groups is None else groups[known]
    dealt = deal_folds(label[known], n_folds, seed, own, classes=classes)
    whole, boosters = rows.dprivileged(weighted=True), []
    shown = np.zeros((n_folds, *rows.q.shape), np.float32)
    fold_of = np.full(rows.n, -1)
    for fold in range(n_folds):
        rest = dealt != fold
        part = whole.slice(known[rest], allow_groups=True)
        if rows.qid is not None:
            part = xgb.DMatrix(
                rows.z[known[rest]],
                rows.y[known[rest]],
                qid=rows.qid[known[rest]],
                weight=rows.weight[np.unique(rows.qid[known[rest]])],
                feature_names=whole.feature_names,
            )
        boosters.append(xgb.train(params, part, ROUNDS))
        shown[fold] = says(rows.objective, boosters[-1], whole)
        fold_of[known[~rest]] = fold
    if groups is not None:  # rows without a label go with their group
        for group in np.unique(groups[known]):
            fold_of[groups == group] = fold_of[known][groups[known] == group][0]
    q = np.where((fold_of < 0).reshape(-1, *[1] * (rows.q.ndim - 1)), shown.mean(axis=0), 0)
    for fold in range(n_folds):
        q[fold_of == fold] = shown[fold][fold_of == fold]
    return q, boosters


@pytest.mark.parametrize("name", [*(name for name in OBJECTIVES if name not in RANKINGS), *TARGETS])
@pytest.mark.parametrize(("labels", "grouped"), [("all", False), ("some", True)])
def test_a_crossfitted_teacher_is_a_loop_over_folds(name, labels, grouped):
    rows = Problem(name)
    labelled = rows.labelled if labels == "some" else np.ones(rows.n, bool)
    groups = np.arange(rows.n) // 5 if grouped else None
    keywords = {"crossfit": 3, "seed": 11, "crossfit_groups": groups}
    if labels == "some":
        keywords["labelled"] = labelled
    teacher = pi_xgb.fit_teacher(rows.params(), rows.dprivileged(weighted=True), ROUNDS, teacher="boosted", **keywords)
    q, boosters = by_hand(rows, rows.params(), 3, labelled, groups, seed=11)
    np.testing.assert_allclose(teacher.values, q, rtol=2e-5, atol=1e-6)
    for ours, theirs in zip(teacher.boosters, boosters, strict=True):
        assert_same_model(ours, theirs)
    with pytest.raises(ValueError, match=r"booster.*3"):
        _ = teacher.booster


@pytest.mark.parametrize("name", RANKINGS)
def test_queries_stay_whole_and_scores_become_relevances(name):
    rows = Problem(name)
    every = np.ones(rows.n, bool)
    teacher = pi_xgb.fit_teacher(
        rows.params(), rows.dprivileged(weighted=True), ROUNDS, teacher="boosted", crossfit=3, seed=11
    )
    score, _ = by_hand(rows, rows.params(), 3, every, None, seed=11)
    # The rising function of the score that is closest to the labels, by its definition.
    for item in np.unique(score)[::9]:
        at_least, at_most = np.unique(score[score >= item]), np.unique(score[score <= item])
        best = max(min(rows.y[(score >= a) & (score <= b)].mean() for b in at_least) for a in at_most)
        np.testing.assert_allclose(teacher.values[score == item], best, rtol=1e-4)
    torn = np.arange(rows.n) // 7
    with pytest.raises(ValueError, match=r"crossfit_groups must be equal within a query"):
        pi_xgb.fit_teacher(rows.params(), rows.dprivileged(), 2, teacher="boosted", crossfit=3, crossfit_groups=torn)


@pytest.mark.parametrize("name", OBJECTIVES)
@pytest.mark.parametrize("weighted", [False, True])
def test_a_teacher_in_sample_is_xgboost_train_and_predict(name, weighted):
    rows = Problem(name)
    dprivileged = rows.dprivileged(weighted=weighted)
    teacher = pi_xgb.fit_teacher(rows.params(), dprivileged, ROUNDS, crossfit=0)
    expected = xgb.train(rows.params(), dprivileged, ROUNDS)
    assert_same_model(teacher.booster, expected)
    if name not in RANKINGS:  # whose scores become relevances
        np.testing.assert_allclose(teacher.values, says(name, expected, dprivileged), rtol=1e-6)


@pytest.mark.parametrize("name", [*OBJECTIVES, *TARGETS])
@pytest.mark.parametrize("crossfit", [0, 3])
def test_train_teaches_what_fit_teacher_learns(name, crossfit):
    rows = Problem(name)
    keywords = {"labelled": rows.labelled, "crossfit": crossfit, "teacher": "boosted"}
    known = {"labelled": rows.labelled, "kl_weight": 1.7}
    dtrain = rows.dtrain()
    ours = pi_xgb.train(
        rows.params(),
        dtrain,
        ROUNDS,
        privileged=rows.dprivileged(),
        **keywords,
        kl_weight=1.7,
        teacher_sees="privileged",
    )
    teacher = pi_xgb.fit_teacher(rows.params(), rows.dprivileged(), ROUNDS, **keywords)
    assert_same_model(pi_xgb.train(rows.params(), dtrain, ROUNDS, teacher=teacher, **known), ours)
    assert_same_model(pi_xgb.train(rows.params(), dtrain, ROUNDS, teacher=teacher.values, **known), ours)
    low, high = rows.y[rows.labelled].min(), rows.y[rows.labelled].max()
    if name in RANKINGS:
        assert low <= teacher.values.min() < teacher.values.max() <= high


@pytest.mark.parametrize("kind", ["boosted", "forest", "linear", "mixed"])
@pytest.mark.slow
def test_a_row_does_not_hear_its_own_label(kind):
    aucs = []
    for seed in range(3):
        data = pi_xgb.datasets.make_privileged(200, seed=seed)
        noise = np.random.default_rng(seed).permutation(data.y)  # labels about which z says nothing
        params = {"objective": "binary:logistic", "eta": 1.0, "max_depth": 6, "nthread": 1}
        teacher = pi_xgb.fit_teacher(params, xgb.DMatrix(data.z, noise), 20, teacher=kind, crossfit=5)
        aucs.append(roc_auc_score(noise, teacher.values))
    # Chance, to three standard errors of three AUCs on 200 rows.
    assert abs(np.mean(aucs) - 0.5) < 0.08


def test_without_groups_the_teacher_recognises_patients():
    rng = np.random.default_rng(0)
    patient = np.repeat(np.arange(60), 6)
    z = rng.normal(size=(60, 6))[patient] + rng.normal(scale=0.01, size=(360, 6))  # marks that mean nothing
    y = rng.integers(0, 2, 60)[patient].astype(float)
    labelled = np.arange(360) % 6 < 4
    params = {"objective": "binary:logistic", "max_depth": 4, "nthread": 1}
    keywords = {"teacher": "boosted", "crossfit": 5, "labelled": labelled}
    apart = pi_xgb.fit_teacher(params, xgb.DMatrix(z, y), 40, **keywords).values
    together = pi_xgb.fit_teacher(params, xgb.DMatrix(z, y), 40, crossfit_groups=patient, **keywords).values
    for rows in (labelled, ~labelled):
        assert roc_auc_score(y[rows], apart[rows]) > 0.97
        assert 0.3 < roc_auc_score(y[rows], together[rows]) < 0.7


@given(
    seed=st.integers(0, 10**6),
    n_folds=st.integers(2, 4),
    jobs=st.integers(1, 3),
    member=st.sampled_from(["boosted", "forest"]),
)
@settings(max_examples=20, deadline=None)
def test_no_model_predicts_a_row_that_it_was_fitted_on(seed, n_folds, jobs, member):
    rng, n = np.random.default_rng(seed), 30
    fold_of, learnable = rng.integers(LEFT_OUT, n_folds, n), rng.random(n) < 0.7
    fold_of[:n_folds] = np.arange(n_folds)
    # A model is the rows that it was fitted on; it predicts which they are.
    fit = {member: lambda rows: np.isin(np.arange(n), rows).astype(float)}
    found = out_of_fold(
        fit, lambda model, rows: np.tile(model, (len(rows), 1)), Folds(fold_of, learnable), jobs, needs_whole=False
    )
    means, models, _ = found[member]
    for row, seen in enumerate(means):
        if fold_of[row] >= 0:
            np.testing.assert_array_equal(seen, learnable & (fold_of != fold_of[row]))
        elif fold_of[row] == SHARED:
            # The models of the folds of a booster predict such a row together; of others one model of all rows.
            np.testing.assert_allclose(seen, np.mean(models, axis=0) if member == "boosted" else learnable)
        else:
            np.testing.assert_array_equal(seen, np.zeros(n))


@pytest.mark.parametrize("n_folds", [2, 3, 7])
def test_folds_are_a_partition_with_each_class_spread_evenly(n_folds):
    label = np.random.default_rng(0).choice([0.0, 1.0, 2.0], size=101, p=[0.7, 0.25, 0.05]).astype(np.float32)
    folds = deal_folds(label, n_folds, 0)
    for kind in (label == 0, label == 1, label == 2, label >= 0):
        counts = np.bincount(folds[kind], minlength=n_folds)
        assert len(counts) == n_folds
        assert max(counts) - min(counts) <= 1
    assert deal_folds(label, n_folds, 1).tolist() != folds.tolist()


@pytest.mark.parametrize(("ones", "n_groups", "folds"), [(80, None, 5), (3, None, 3), (1, None, 2), (80, 4, 4)])
def test_the_default_number_of_folds_fits_the_rarest_class_and_the_groups(ones, n_groups, folds):
    rows = Problem("binary:logistic")
    rows.fields["label"][:] = np.random.default_rng(0).permutation(rows.n) < ones
    groups = None if n_groups is None else np.arange(rows.n) % n_groups
    teacher = pi_xgb.fit_teacher(rows.params(), rows.dprivileged(), 2, teacher="forest", crossfit_groups=groups)
    assert len(teacher.boosters) == folds


@pytest.mark.parametrize("kind", ["boosted", "forest", "linear", "mixed"])
def test_folds_side_by_side_give_the_teacher_of_one_thread(kind):
    rows = Problem("binary:logistic")
    params = {"objective": "binary:logistic", "max_depth": 2}
    keywords = {"teacher": kind, "crossfit": 4, "labelled": rows.labelled}
    values = [
        pi_xgb.fit_teacher({**params, **more}, rows.dprivileged(), 5, **keywords).values
        for more in ({}, {"nthread": 1})
    ]
    np.testing.assert_array_equal(*values)


@pytest.mark.parametrize("kind", ["boosted", "forest", "linear", "mixed"])
def test_rows_of_weight_0_fill_no_fold(kind):
    rows = Problem("binary:logistic")
    rows.fields["label"][:] = np.arange(rows.n) % 2
    rows.weight[:] = np.arange(rows.n) < 4
    teacher = pi_xgb.fit_teacher(rows.params(), rows.dprivileged(weighted=True), 5, teacher=kind, crossfit=2)
    assert [len(member.models) for member in teacher.members] == [2] * len(teacher.members)
    assert np.isfinite(teacher.values).all()


@pytest.mark.parametrize("objective", ["binary:logistic", "reg:gamma"])
def test_a_quantile_matrix_learns_from_labelled_rows_too(objective):
    # Rows that cannot be cut out are left out by weight; few distinct values leave no cuts to differ.
    rows = Problem(objective)
    keywords = {"teacher": "boosted", "crossfit": 0, "labelled": rows.labelled}
    found, expected = (
        pi_xgb.fit_teacher(rows.params(), rows.dprivileged(kind=kind), 5, **keywords).values
        for kind in (xgb.QuantileDMatrix, xgb.DMatrix)
    )
    np.testing.assert_allclose(found, expected, atol=1e-5)
