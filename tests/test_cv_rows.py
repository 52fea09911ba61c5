"""``cv`` where something is said of each row: every number is that of trainings written out by hand."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import xgboost as xgb
from sklearn.model_selection import GroupKFold

import pi_xgb

N, ROUNDS = 120, 3
RNG = np.random.default_rng(0)
X, Z = RNG.normal(size=(N, 3)), RNG.normal(size=(N, 2))
Y = (X[:, 0] + Z[:, 0] + 0.5 * RNG.normal(size=N) > 0).astype(np.float32)
Q = 1 / (1 + np.exp(-Z[:, 0]))
WEIGHT, COUNTS = RNG.uniform(0.2, 3, N), RNG.choice([0.25, 1.0, 2.0], N)
LABELLED = RNG.random(N) < 0.6
# Fewer bins than values, so that weights move the cuts.
PARAMS = {"objective": "binary:logistic", "max_depth": 3, "max_bin": 8, "nthread": 1, "eval_metric": "logloss"}
FOLD_OF = np.where(LABELLED, np.arange(N) % 3, -1)
FOLDS = [(np.flatnonzero(LABELLED & (k != FOLD_OF)), np.flatnonzero(k == FOLD_OF)) for k in range(3)]


def dtrain(weighted=True):
    return xgb.DMatrix(X, Y, weight=WEIGHT if weighted else None)


def privileged():
    return xgb.DMatrix(Z, Y)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("how", ["kbpib", "crossfit", "jpib", "q", "list"])
@pytest.mark.filterwarnings("ignore:rows of one group of crossfit_groups")
def test_every_fold_is_a_training_on_its_own_rows(how, weighted):
    group = np.arange(N)[::-1] // 4

    def told(rows):
        own = {"labelled": LABELLED[rows]}
        if how != "list":
            own |= {"teacher_weight": COUNTS[rows], "kl_weight": 2.0}
        if how == "list":
            return own | {"teacher": [(Q[rows], COUNTS[rows]), (1 - Q[rows], 0.5)]}
        if how == "q":
            return own | {"teacher": Q[rows]}
        own |= {"privileged": privileged().slice(rows), "teacher": "boosted"}
        own |= {"method": "jpib"} if how == "jpib" else {"crossfit": 0}
        return own | ({"crossfit": 2, "crossfit_groups": group[rows]} if how == "crossfit" else {})

    logs = []
    for rest, out in FOLDS:
        rows, log = np.concatenate([rest, np.flatnonzero(~LABELLED)]), {}
        evals = [(dtrain(weighted).slice(part), name) for part, name in ((rest, "train"), (out, "test"))]
        watched = {"evals": evals, "evals_result": log, "verbose_eval": False}
        pi_xgb.train(PARAMS, dtrain(weighted).slice(rows), ROUNDS, **watched, **told(rows))
        logs.append([log[name]["logloss"] for name in ("train", "test")])
    found = pi_xgb.cv(PARAMS, dtrain(weighted), ROUNDS, folds=FOLDS, **told(np.arange(N)))
    expected = np.mean(logs, axis=0)
    for name, curve in zip(("train", "test"), expected, strict=True):
        np.testing.assert_allclose(found[f"{name}-logloss-mean"], curve, rtol=1e-5)
    if how == "list":
        return
    # A grid has the same numbers, whichever other weights stand in it; 0 is XGBoost's of the labelled rows.
    grid = pi_xgb.cv(PARAMS, dtrain(weighted), ROUNDS, folds=FOLDS, **told(np.arange(N)) | {"kl_weight": [0, 1, 2]})
    pd.testing.assert_frame_equal(grid.loc[2.0], found, check_exact=True, check_names=False)
    plain = xgb.cv(PARAMS, dtrain(weighted), ROUNDS, folds=FOLDS)
    pd.testing.assert_frame_equal(grid.loc[0.0], plain, check_exact=True, check_names=False)


@pytest.mark.parametrize("crossfit", [0, 2])
def test_one_teacher_serves_every_weight_of_its_fold(crossfit, monkeypatch):
    trained, train = [], xgb.train
    monkeypatch.setattr(xgb, "train", lambda *args, **kwargs: trained.append(1) or train(*args, **kwargs))
    keywords = {"privileged": privileged(), "teacher": "boosted", "crossfit": crossfit, "folds": FOLDS}
    pi_xgb.cv(PARAMS, dtrain(), ROUNDS, kl_weight=[0.0, 0.5, 1.0, 2.0], **keywords)
    assert len(trained) == len(FOLDS) * max(crossfit, 1)


def test_a_grid_weighs_one_teacher():
    for keywords in ({}, {"teacher": [(Q, 1.0)]}):
        with pytest.raises(ValueError, match="several values of kl_weight"):
            pi_xgb.cv(PARAMS, dtrain(), 2, kl_weight=[0.0, 1.0], **keywords)


def test_a_printed_line_is_the_one_that_was_asked_for(capsys):
    for show_stdv in (True, False):
        pi_xgb.cv(PARAMS, dtrain(), 4, teacher=Q, kl_weight=[0.0, 5.0], verbose_eval=2, show_stdv=show_stdv)
        lines = capsys.readouterr().out.splitlines()
        heads = [f"kl_weight {weight} [{round_}]" for weight in (0, 5) for round_ in (0, 2, 3)]
        assert [line.split("\t")[0] for line in lines] == heads
        assert all(("+" in line) is show_stdv for line in lines)
    pi_xgb.cv(PARAMS, dtrain(), 2, teacher=Q, kl_weight=1.0, verbose_eval=True)
    assert capsys.readouterr().out.startswith("[0]\ttrain-logloss")


# --- copies -----------------------------------------------------------------------------------------------------------


def test_masks_are_folds():
    masks = [(k != FOLD_OF, k == FOLD_OF) for k in range(3)]
    numbers = [(np.flatnonzero(train), np.flatnonzero(test)) for train, test in masks]
    keywords = {"teacher": Q, "kl_weight": 1.0}
    tables = [pi_xgb.cv(PARAMS, dtrain(), ROUNDS, folds=folds, **keywords) for folds in (masks, numbers)]
    pd.testing.assert_frame_equal(*tables)


MEDIAN = {"objective": "reg:absoluteerror", "max_depth": 2, "nthread": 1}
QUERY = np.arange(N) // 6
RANKING = {"objective": "rank:ndcg", "ndcg_exp_gain": False, "nthread": 1}


def ranked():
    return xgb.DMatrix(X, Y, qid=QUERY)


def test_a_splitter_deals_the_labelled_rows_of_a_ranking():
    known = np.flatnonzero(LABELLED)
    by_hand = [(known[rest], known[out]) for rest, out in GroupKFold(3).split(known, groups=QUERY[known])]
    keywords = {"teacher": Q, "labelled": LABELLED, "kl_weight": 1.0}
    tables = [pi_xgb.cv(RANKING, ranked(), 2, folds=folds, **keywords) for folds in (GroupKFold(3), by_hand)]
    pd.testing.assert_frame_equal(*tables)


def test_fpreproc_decides_about_the_folds_that_are_copied():
    def heavier(train, test, params):
        train.set_weight(np.linspace(1, 5, train.num_row()))
        return train, test, {**params, "max_depth": 1, "eval_metric": "rmse"}

    folds = [(np.flatnonzero(np.arange(N) % 3 != k), np.flatnonzero(np.arange(N) % 3 == k)) for k in range(3)]
    found = pi_xgb.cv(MEDIAN, dtrain(False), ROUNDS, folds=folds, fpreproc=heavier, teacher=Q, kl_weight=2.0)
    logs = []
    for rest, out in folds:
        train, test, params = heavier(dtrain(False).slice(rest), dtrain(False).slice(out), MEDIAN)
        log = {}
        watched = {"evals": [(train, "train"), (test, "test")], "evals_result": log, "verbose_eval": False}
        pi_xgb.train(params, train, ROUNDS, teacher=Q[rest], kl_weight=2.0, **watched)
        logs.append([log[name]["rmse"] for name in ("train", "test")])
    expected = np.mean(logs, axis=0)
    np.testing.assert_allclose(found["train-rmse-mean"], expected[0], rtol=1e-6)
    np.testing.assert_allclose(found["test-rmse-mean"], expected[1], rtol=1e-6)
