"""Ways of calling that are seldom taken, each against what it must equal."""

from __future__ import annotations

import threading
import time

import numpy as np
import pandas as pd
import pytest
import xgboost as xgb
from helpers_joint import assert_same_model
from helpers_selection import COMPARED, PARAMS
from xgboost import collective
from xgboost.tracker import RabitTracker

import pi_xgb
from pi_xgb._xgb.threads import in_threads
from pi_xgb.constraints import DemographicParity, IndividualFairness

N = 90
DATA = pi_xgb.datasets.make_privileged(N, x_noise=2.0, seed=3)


def matrices(label=DATA.y):
    return xgb.DMatrix(DATA.x, label), xgb.DMatrix(DATA.z, label)


# On both sides of 1, of 0, and of neither, where nothing leaves [0, 1] by the shift.
@pytest.mark.parametrize("values", [[0.5, 0.9, 0.2, 1.6], [0.1, 0.2, 0.3, 4.0], [-0.5, 0.5, 0.2, 0.9], [0, 0.2, 1, 1]])
def test_mean_parity_shifts_amounts(values):
    group = np.array(["a", "a", "b", "b"])
    mean = np.array(values, np.float32)
    q = DemographicParity(group, match="mean").q(mean, np.zeros(4, np.float32), None)
    wanted = np.concatenate([part - part.mean() + mean.mean() for part in (mean[:2], mean[2:])])
    np.testing.assert_allclose(q, wanted, atol=1e-6)


def test_mean_parity_at_the_edge_shifts_the_rest_further():
    # Both must come to 0.5; 0.9 has room for 0.1 only, so that 0.3 gets the rest.
    mean = np.array([0.3, 0.9, 0.0, 0.0, 0.0], np.float32)
    q = DemographicParity(np.array(list("aabbb")), match="mean").q(mean, np.zeros(5, np.float32), None)
    assert np.allclose([q[:2].mean(), q[2:].mean()], mean.mean())
    upper = DemographicParity(np.array(list("aabb")), match="mean").q(
        np.array([0.3, 0.98, 1.0, 1.0], np.float32), np.zeros(4, np.float32), None
    )
    np.testing.assert_allclose(upper, [0.64, 1.0, 0.82, 0.82], atol=1e-6)


def test_params_as_pairs_keep_both_metrics_beside_a_teacher():
    dtrain, privileged = matrices()
    params = [*PARAMS.items(), ("eval_metric", "auc"), ("eval_metric", "error")]
    history = {}
    keywords = {"evals": [(dtrain, "train")], "evals_result": history, "verbose_eval": False}
    pi_xgb.train(params, dtrain, 2, privileged=privileged, **keywords)
    assert list(history["train"]) == ["auc", "error"]
    table = pi_xgb.cv(params, dtrain, 2, privileged=privileged)
    assert {"test-auc-mean", "test-error-mean"} <= set(table)


def test_boolean_masks_are_folds():
    dtrain, privileged = matrices()
    fold_of = np.arange(N) % 3
    masks = [(fold_of != k, fold_of == k) for k in range(3)]
    numbers = [(np.flatnonzero(train), np.flatnonzero(test)) for train, test in masks]
    for labelled in (None, np.arange(N) % 5 > 0):
        kept = numbers if labelled is None else [(rest, out[labelled[out]]) for rest, out in numbers]
        # A mask of the test part is the rows that it marks, too.
        marked = masks if labelled is None else [(rest, out & labelled) for rest, out in masks]
        keywords = {"privileged": privileged, "labelled": labelled, "crossfit": 2}
        first, second = (pi_xgb.cv(PARAMS, dtrain, 3, folds=folds, **keywords) for folds in (kept, marked))
        pd.testing.assert_frame_equal(first, second)
        keywords = {**keywords, "teacher": "boosted", "kl_weight": 2.0, "method": "kbpib"}
        first, second = (pi_xgb.select(PARAMS, dtrain, 3, folds=folds, **keywords).table for folds in (kept, marked))
        pd.testing.assert_frame_equal(first, second)


def test_a_negative_number_of_standard_errors_is_refused(monkeypatch):
    monkeypatch.setattr(xgb, "train", None)
    with pytest.raises(ValueError, match=r"standard_errors.*least 0.*-1"):
        pi_xgb.compare(DATA.x, DATA.y, DATA.z, standard_errors=-1, **COMPARED)


def test_similar_rows_by_radius_on_one_worker_are_those_of_one_machine():
    features, mean = DATA.x.to_numpy()[:, :2], DATA.q.to_numpy(np.float32)

    def q():
        teacher = IndividualFairness(features=features, radius=0.5)
        params = {**PARAMS, "tree_method": "hist"}
        return pi_xgb.train(params, matrices()[0], 3, teacher=teacher, kl_weight=2.0), teacher.q(mean, mean, None)

    alone = q()
    tracker = RabitTracker(host_ip="127.0.0.1", n_workers=1)
    tracker.start()
    with collective.CommunicatorContext(**tracker.worker_args()):
        found = q()
    np.testing.assert_array_equal(found[1], alone[1])
    assert np.abs(alone[1] - mean).max() > 0.01
    assert_same_model(found[0], alone[0])


def test_as_many_folds_as_rows():
    few, params = 24, {**PARAMS, "objective": "reg:squarederror"}
    dtrain, privileged = xgb.DMatrix(DATA.x[:few], DATA.q[:few]), xgb.DMatrix(DATA.z[:few], DATA.q[:few])
    one_out = [(np.delete(np.arange(few), k), np.array([k])) for k in range(few)]
    keywords = {"privileged": privileged, "kl_weight": 1.0}
    by_number = pi_xgb.cv(params, dtrain, 2, nfold=few, shuffle=False, **keywords)
    pd.testing.assert_frame_equal(by_number, pi_xgb.cv(params, dtrain, 2, folds=one_out, **keywords))
    labelled = np.arange(few) > 3
    pi_xgb.cv(params, dtrain, 2, nfold=int(labelled.sum()), labelled=labelled, **keywords)
    with pytest.raises(ValueError, match=r"nfold.*20"):
        pi_xgb.cv(params, dtrain, 2, nfold=21, labelled=labelled, **keywords)
    keywords |= {"method": "jpib", "metric": "mae", "repeats": 1}
    assert len(pi_xgb.select(params, dtrain, 2, nfold=few, **keywords).table) == 3 * few
    with pytest.raises(ValueError, match=r"nfold.*24.*25"):
        pi_xgb.select(params, dtrain, 2, nfold=few + 1, **keywords)


def test_an_objective_of_ones_own_without_a_teacher_is_that_of_xgboost():
    def halved(margin, matrix):
        return (margin - matrix.get_label()) / 2, np.ones_like(margin)

    params, (dtrain, privileged) = {"max_depth": 2, "nthread": 1}, matrices()
    theirs = xgb.cv(params, dtrain, 3, obj=halved)
    for nobody in ({}, {"privileged": privileged, "kl_weight": 0.0}):
        pd.testing.assert_frame_equal(pi_xgb.cv(params, dtrain, 3, obj=halved, **nobody), theirs)
    assert (pi_xgb.cv(params, dtrain, 3) != theirs).any(axis=None)


@pytest.mark.parametrize("show_stdv", [True, False])
def test_cv_shows_deviations_or_not(show_stdv, capsys):
    dtrain, privileged = matrices()
    pi_xgb.cv(PARAMS, dtrain, 2, privileged=privileged, verbose_eval=True, show_stdv=show_stdv)
    lines = [line for line in capsys.readouterr().out.splitlines() if line.startswith("[")]
    assert len(lines) == 2
    assert all(("+" in line) is show_stdv for line in lines)


@pytest.mark.parametrize(("scorer", "metric", "sign"), [("accuracy", "merror", -1), ("neg_log_loss", "mlogloss", -1)])
def test_a_scorer_of_several_classes_is_the_metric_of_xgboost(scorer, metric, sign):
    label = pd.qcut(DATA.q, 3, labels=False)
    dtrain, privileged = matrices(label)
    params = {**PARAMS, "objective": "multi:softprob", "num_class": 3}
    keywords = {"privileged": privileged, "kl_weight": 2.0, "method": "jpib", "nfold": 3}
    ours = pi_xgb.select(params, dtrain, 4, metric=scorer, **keywords)
    theirs = pi_xgb.select(params, dtrain, 4, metric=metric, **keywords)
    assert (ours.maximize, theirs.maximize) == (True, False)
    offset = 1 if metric == "merror" else 0
    np.testing.assert_allclose(ours.table["score"], offset + sign * theirs.table["score"], atol=1e-6)
    assert (ours.table["rounds"] == theirs.table["rounds"]).all()


def test_work_goes_side_by_side_until_something_fails():
    both, begun = threading.Barrier(2, timeout=60), []
    assert set(in_threads(lambda item: both.wait(), range(2), 2)) == {0, 1}
    assert in_threads(lambda item: threading.current_thread(), [0], 1) == [threading.current_thread()]

    # XGBoost keeps its settings per thread.
    with xgb.config_context(verbosity=0):
        assert in_threads(lambda item: xgb.get_config()["verbosity"], range(2), 2) == [0, 0]

    def fails(item):
        begun.append(threading.current_thread())
        time.sleep(0.02)
        raise ValueError("the first error ends it all")

    with pytest.raises(ValueError, match="the first error"):
        in_threads(fails, range(200), 2)
    assert len(begun) < 200
    assert not any(thread.is_alive() for thread in begun)


def test_probabilities_are_labels_of_a_selection_too():
    dtrain, privileged = matrices(DATA.q)
    fold_of = np.arange(N) % 3
    folds = [(np.flatnonzero(fold_of != k), np.flatnonzero(fold_of == k)) for k in range(3)]
    chosen = pi_xgb.select(PARAMS, dtrain, 6, privileged=privileged, kl_weight=1.0, method="jpib", folds=folds)
    wanted = xgb.cv(PARAMS, dtrain, 6, folds=folds)["test-logloss-mean"].min()
    assert chosen.summary.loc["plain", "score"] == pytest.approx(wanted, abs=1e-6)
    # Dealt by the size of y, as numbers are: no class has to be in every fold.
    assert (
        len(pi_xgb.select(PARAMS, dtrain, 2, privileged=privileged, method="jpib", kl_weight=1.0, repeats=1).table)
        == 15
    )


@pytest.mark.filterwarnings("ignore:Using the default parameters for the polars")
@pytest.mark.parametrize("lazy", [False, True])
def test_polars_tables_are_joined_for_a_teacher_that_sees_all(lazy):
    polars = pytest.importorskip("polars")
    from pi_xgb.sklearn import PrivilegedXGBClassifier

    def model():
        return PrivilegedXGBClassifier(n_estimators=3, max_depth=2, n_jobs=1, teacher_sees="all", crossfit=2)

    x, z = (polars.from_dict({name: part[name].to_numpy() for name in part}) for part in (DATA.x, DATA.z))
    x, z = (x.lazy(), z.lazy()) if lazy else (x, z)
    found = model().fit(x, DATA.y.to_numpy(), privileged=z)
    assert_same_model(found.get_booster(), model().fit(DATA.x, DATA.y, privileged=DATA.z).get_booster())
