"""select: a hand-written loop of pi_xgb.train, cell by cell, and a rule that needs to be convinced."""

from __future__ import annotations

import itertools
import pickle
import sys
import textwrap
import types
import warnings

import numpy as np
import pandas as pd
import pytest
import xgboost as xgb
from scipy import stats
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import make_scorer, roc_auc_score
from sklearn.model_selection import StratifiedKFold

import pi_xgb
from pi_xgb import _progress as progress
from pi_xgb._core.config import METHODS, SEES, TeacherConfig
from pi_xgb._selection import search
from pi_xgb._selection.candidates import KL_WEIGHTS, METHOD, PLAIN, candidates_of
from pi_xgb._selection.problem import Recipe, settled
from pi_xgb._selection.scores import Score
from pi_xgb._selection.search import LEAST_WRONG, fold_curves
from pi_xgb._selection.select import _warn_of_poor_teacher
from pi_xgb._selection.shared_folds import shared_folds
from pi_xgb._selection.splits import Split, check_classes, splits_of, subset, usual_repeats
from pi_xgb._selection.words import in_lines
from pi_xgb._stats.paired import Interval, choose, corrected_interval
from pi_xgb._xgb.matrix import side_by_side
from pi_xgb.constraints import DemographicParity
from pi_xgb.selection import Selection, select

ROUNDS = 5
# Teachers of a few rounds on a few rows are no better than their students, which is none of these tests' business.
pytestmark = pytest.mark.filterwarnings("ignore:the teacher of:UserWarning")
EVERY = {"method": METHODS, "teacher": "boosted", "teacher_sees": SEES, "crossfit": (0, 2), "kl_weight": [1.0, 5.0]}
FEW = {**EVERY, "nfold": 3, "repeats": 1, "progress": False}
EACH_OF_5 = ["privileged features (5 folds)", "all features (5 folds)"]
WAYS = [f"boosted on {what}" for what in ("privileged features in-sample", *(w.replace("5", "2") for w in EACH_OF_5))]


def data(objective="binary:logistic", n=150, weighted=False, seed=0):
    """params, dtrain, privileged and the matrix of all features."""
    made = pi_xgb.datasets.make_privileged(n, n_features=4, n_privileged=2, seed=seed)
    params = {"objective": objective, "max_depth": 2, "nthread": 1, "eta": 0.3}
    y = made.y
    if objective.startswith("multi"):
        params["num_class"], y = 3, pd.qcut(made.q, 3, labels=False)
    if objective.startswith("reg"):
        y = made.q
    weight = np.random.default_rng(1).uniform(0.5, 2, n).astype(np.float32) if weighted else None
    dtrain = xgb.DMatrix(made.x, y, weight=weight)
    return params, dtrain, xgb.DMatrix(made.z, y), xgb.DMatrix(made.x.join(made.z), y, weight=weight)


def quick(objective="binary:logistic", **keywords) -> Selection:
    params, dtrain, privileged, _ = data(objective)
    return select(params, dtrain, ROUNDS, privileged=privileged, **{**FEW, **keywords})


def waves(n):
    """x, and a chance of y that 0/1 labels hardly show."""
    x = np.random.default_rng(0).normal(size=(n, 8))
    return x, 1 / (1 + np.exp(-0.75 * np.sin(2 * x).sum(axis=1)))


def guiding(row, privileged, both):
    """The keywords of pi_xgb.train for a row of the tables."""
    if row.method == "plain":
        return {}
    if row.method == "jpib":
        return {"privileged": privileged, "method": "jpib", "kl_weight": row.kl_weight}
    sees_all = row.teacher_sees == "all"
    return {
        "privileged": both if sees_all else privileged,
        "kl_weight": row.kl_weight,
        "crossfit": int(row.crossfit),
        "allow_overlap": sees_all,
    }


# --- the table ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("objective", ["binary:logistic", "multi:softprob", "reg:squarederror"])
def test_the_table_is_that_of_a_loop_written_by_hand(objective):
    params, dtrain, privileged, both = data(objective, weighted=True)
    order = np.random.default_rng(3).permutation(150)
    folds = [(np.delete(order, np.arange(i, 150, 3)), order[i::3]) for i in range(3)]
    metric = {"binary:logistic": "auc", "multi:softprob": "mlogloss", "reg:squarederror": "rmse"}[objective]
    selection = select(params, dtrain, ROUNDS, privileged=privileged, folds=folds, metric=metric, **FEW)
    assert len(selection.summary) == 1 + 2 * (3 + 1)

    curves = {}
    for name, row in selection.summary.iterrows():
        for fold, (train, test) in enumerate(folds):
            log = {}
            pi_xgb.train(
                {**params, "eval_metric": metric},
                dtrain.slice(train),
                ROUNDS,
                **guiding(row, privileged.slice(train), both.slice(train)),
                evals=[(dtrain.slice(test), "test")],
                evals_result=log,
                verbose_eval=False,
            )
            curves[name, fold] = np.array(log["test"][metric])
    sign = 1 if metric == "auc" else -1
    for name, row in selection.summary.iterrows():
        mean = np.mean([curves[name, fold] for fold in range(3)], axis=0)
        # The rounds are those at which the mean over the folds is best, and every cell is its curve there.
        assert row.rounds == 1 + (sign * mean).argmax()
        cells = selection.table[selection.table.candidate == name]
        # The engine that is fast says the same to rounding.
        assert cells.score.tolist() == pytest.approx(
            [curves[name, fold][row.rounds - 1] for fold in range(3)], abs=1e-6
        )
        assert selection.curves[name].tolist() == pytest.approx(mean.tolist(), abs=1e-6)
        # A gain is against plain XGBoost in the same fold, positive for the better.
        plain = selection.table[selection.table.candidate == "plain"]
        assert cells.gain.tolist() == pytest.approx((sign * (cells.score.to_numpy() - plain.score.to_numpy())).tolist())
        assert row.gain == pytest.approx(cells.gain.mean())


def test_plain_is_xgboost_itself():
    params, dtrain, _, _ = data()
    folds = list(StratifiedKFold(3).split(np.zeros(150), dtrain.get_label()))
    selection = quick(folds=folds, method="jpib")
    expected = xgb.cv(params, dtrain, ROUNDS, folds=folds, metrics="logloss")["test-logloss-mean"]
    # Candidate 0 is xgboost.cv's model on the same folds, and kl_weight=0 need not be asked for.
    assert selection.curves["plain"].to_numpy() == pytest.approx(expected.to_numpy(), abs=1e-12)
    assert "plain" in selection.summary.index
    assert quick(kl_weight=[0.0, 1.0, 5.0]).table.equals(quick().table)


def test_the_number_of_jobs_changes_nothing():
    # Folds are independent: threads share no matrix, whatever they do at the same time.
    assert quick(n_jobs=2, repeats=2).table.equals(quick(repeats=2).table)


def test_repeats_are_stratified_partitions_that_differ():
    label = data()[1].get_label()
    splits = splits_of(label, 3, 2, None, 7, classes=True)
    assert [(s.repeat, s.fold) for s in splits] == [(r, f) for r in range(2) for f in range(3)]
    for repeat in (splits[:3], splits[3:]):
        # Within a repeat every row is held out once, and every fold has its share of positives.
        assert sorted(np.concatenate([s.test for s in repeat])) == list(range(150))
        assert all(set(s.train) | set(s.test) == set(range(150)) for s in repeat)
        assert np.ptp([label[s.test].sum() for s in repeat]) <= 1
    assert not np.array_equal(splits[0].test, splits[3].test)


def test_a_subset_keeps_the_share_of_each_class():
    label = np.r_[np.zeros(80), np.ones(40)]
    rows = subset(label, np.arange(120), 30, seed=1)
    # 30 different rows, in order, a third of them positive like the whole.
    assert len(set(rows)) == 30
    assert list(rows) == sorted(rows)
    assert label[rows].sum() == 10


def test_the_cost_is_what_the_documentation_says(monkeypatch):
    calls = []
    original = xgb.train
    monkeypatch.setattr(xgb, "train", lambda *args, **kwargs: calls.append(1) or original(*args, **kwargs))
    params, dtrain, privileged, _ = data()
    select(params, dtrain, ROUNDS, privileged=privileged, repeats=1)
    # Five of plain XGBoost, a booster and a forest for each pair of folds, and two students in each fold.
    assert len(calls) == 5 + 2 * 10 + 10
    calls.clear()
    quick(kl_weight=[1.0, 10.0], crossfit=(0, 5))
    # Where crossfit is not the number of folds: 22 boosters per fold, of which the two teachers of JPIB grow without a
    # call. Each teacher serves all weights.
    assert len(calls) == 3 * (22 - 2)


# --- no leak ------------------------------------------------------------------------------------------------


def test_held_out_rows_have_no_say_in_the_models_that_they_judge():
    def curves(flip):
        params, dtrain, privileged, _ = data()
        z, y = privileged.get_data().toarray(), dtrain.get_label()
        if flip:
            z[:50], y[:50] = -z[:50], 1 - y[:50]
            dtrain.set_label(y)
            privileged = xgb.DMatrix(z, y)
        problem = Recipe(params, ROUNDS, None).problem(dtrain, TeacherConfig(privileged), "select", sees_all=True)
        split = Split(0, 0, np.arange(50, 150), np.arange(50))
        # A score that does not look at the labels of held-out rows, so that only the models could have seen them.
        score = Score("mean", True, lambda predictions, matrix: ("mean", float(predictions.mean())))
        return fold_curves(
            problem, split, candidates_of({}, ("kbpib", "jpib"), "boosted", SEES, (0, 2), 5.0), score
        ).scores

    assert np.array_equal(curves(False), curves(True))


def test_the_mistakes_of_plain_xgboost_are_counted_on_held_out_rows():
    params, dtrain, privileged, _ = data()
    problem = Recipe(params, ROUNDS, None).problem(dtrain, TeacherConfig(privileged), "select", sees_all=False)
    split = Split(0, 0, np.arange(50, 150), np.arange(50))
    given = problem, split, candidates_of({}, "jpib", "boosted", None, None, 1.0), Score("logloss", False)
    found = fold_curves(*given)
    train, test = dtrain.slice(split.train), dtrain.slice(split.test)
    models = [xgb.train(params, train, rounds) for rounds in range(1, ROUNDS + 1)]
    assert found.wrong.tolist() == [((model.predict(test) > 0.5) != test.get_label()).sum() for model in models]
    again = fold_curves(*given, plain=found)  # a search that takes plain XGBoost from this one
    assert again.scores.tolist() == found.scores.tolist()
    assert again.wrong is found.wrong


def test_a_selection_keeps_nothing_of_the_data():
    params, dtrain, privileged, _ = data()
    kept = pickle.dumps(select(params, dtrain, ROUNDS, privileged=privileged, **FEW))
    for value in np.concatenate([privileged.get_data().data[:50], dtrain.get_data().data[:50]]):
        assert np.float32(value).tobytes() not in kept


def test_nothing_of_the_users_is_changed():
    params, dtrain, privileged, _ = data(weighted=True)
    before = dict(params), dtrain.get_label(), dtrain.get_weight(), privileged.get_label()
    first = select(params, dtrain, ROUNDS, privileged=privileged, **FEW)
    assert params == before[0]
    for now, then in zip((dtrain.get_label(), dtrain.get_weight(), privileged.get_label()), before[1:], strict=True):
        assert np.array_equal(now, then)
    # The same objects again give the same table.
    assert select(params, dtrain, ROUNDS, privileged=privileged, **FEW).table.equals(first.table)


# --- the rule -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("confidence", [0.8, 0.95])
def test_the_interval_is_nadeau_and_bengios(confidence):
    d, ratio = np.array([0.03, -0.01, 0.02, 0.04, 0.0, 0.01]), 0.25
    interval = corrected_interval(d, ratio, confidence)
    error = np.sqrt((1 / 6 + ratio) * d.var(ddof=1))
    low, high = stats.t.interval(confidence, 5, loc=d.mean(), scale=error)
    # variance (1/J + n_test/n_train) s^2, Student's t with J - 1 degrees of freedom
    assert interval == pytest.approx((d.mean(), error, low, high), rel=1e-9)


@pytest.mark.parametrize(
    ("gains", "standard_errors", "chosen"),
    [
        ([(0, 0), (0.02, 0.01), (0.01, 0.001)], 1, 1),  # the best mean, if it is convincing
        ([(0, 0), (0.02, 0.03), (0.01, 0.001)], 1, 0),  # plain, if the best is not
        ([(0, 0), (0.02, 0.03), (0.01, 0.001)], 0.5, 1),
        ([(0, 0), (0.02, 0.03)], 0, 1),  # 0 believes any gain
        ([(0, 0), (-0.02, 0.03)], 0, 0),
        ([(0, 0), (0.0, 0.0)], 1, 0),  # equals are no gain
        ([(0, 0), (0.02, 0.0)], 0.25, 0),  # an error of 0 is an unknown one
        ([(0, 0), (0.02, 0.0)], 0, 1),
        ([(0, 0), (0.01, 0.01)], 1, 0),  # more than one standard error, not one
    ],
)
def test_the_choice(gains, standard_errors, chosen):
    assert choose([Interval(mean, error, 0, 0) for mean, error in gains], standard_errors) == chosen


def test_noise_is_not_chosen_and_a_teacher_that_knows_is():
    params, dtrain, _, _ = data(n=300)
    noise = xgb.DMatrix(np.random.default_rng(0).normal(size=(300, 2)), dtrain.get_label())
    settings = {**FEW, "method": "kbpib", "teacher": "boosted", "teacher_sees": None, "crossfit": 2, "kl_weight": 10.0}
    fooled = select(params, dtrain, 20, privileged=noise, **settings)
    # Nothing is known about the labels: plain XGBoost, and the sentence says so.
    assert fooled.choice == {"kl_weight": 0.0, "num_boost_round": fooled.summary.rounds["plain"]}
    assert fooled.candidate == "plain"
    assert fooled.gain == 0
    assert "no gain in log loss is convincing" in str(fooled)
    x, chance = waves(600)
    y = np.random.default_rng(1).random(600) < chance
    dtrain, privileged = xgb.DMatrix(x, y), xgb.DMatrix(chance.reshape(-1, 1), y)
    informed = select(params, dtrain, 30, privileged=privileged, **settings)
    assert informed.candidate == "boosted (2 folds) 10"
    assert informed.gain > 0
    assert "boosted (2 folds) 10 (30 rounds)" in str(informed)
    assert str(informed).replace("\n", " ") in repr(informed)


def test_the_bar_stands_between_luck_and_a_choice():
    params, dtrain, _, _ = data(n=300)
    lucky = xgb.DMatrix(np.random.default_rng(7).normal(size=(300, 2)), dtrain.get_label())
    settings = {**FEW, "method": "kbpib", "teacher": "boosted", "teacher_sees": None, "crossfit": 2, "kl_weight": 0.1}
    row = select(params, dtrain, 20, privileged=lucky, **settings, standard_errors=0.0).summary.iloc[1]
    assert row.gain > 0
    for share, chosen in ((0.99, row.name), (1.01, "plain")):
        bar = share * row.gain / row.gain_se
        assert select(params, dtrain, 20, privileged=lucky, **settings, standard_errors=bar).candidate == chosen


# --- the teacher by itself ----------------------------------------------------------------------------------


@pytest.mark.parametrize(("sees", "crossfit"), [("privileged", 0), ("privileged", 2), ("all", 2)])
def test_a_teacher_scores_as_the_mean_of_its_boosters(sees, crossfit):
    params, dtrain, privileged, both = data()
    folds = list(StratifiedKFold(3).split(np.zeros(150), dtrain.get_label()))
    how = {"teacher_sees": sees, "crossfit": crossfit, "method": "kbpib"}
    found = select(params, dtrain, ROUNDS, privileged=privileged, folds=folds, metric="auc", **{**FEW, **how})
    shown, expected = both if sees == "all" else privileged, []
    for train, test in folds:
        boosters = pi_xgb.fit_teacher(params, shown.slice(train), ROUNDS, crossfit=crossfit).boosters
        result = np.mean([booster.predict(shown.slice(test)) for booster in boosters], axis=0)
        expected.append(roc_auc_score(dtrain.get_label()[test], result))
    # On rows that it has not seen, those of the student; the same for every kl_weight.
    assert found.summary["teacher_score"].iloc[1:].tolist() == pytest.approx([np.mean(expected)] * 2, abs=1e-6)
    assert np.isnan(found.summary["teacher_score"]["plain"])


def test_a_joint_teacher_scores_after_the_rounds_of_its_student():
    params, dtrain, privileged, _ = data()
    folds = list(StratifiedKFold(3).split(np.zeros(150), dtrain.get_label()))
    how = {"method": "jpib", "kl_weight": 1.0, "metric": "auc"}
    found = select(params, dtrain, ROUNDS, privileged=privileged, folds=folds, **{**FEW, **how})
    expected = []
    for train, test in folds:
        joint = pi_xgb.JointTeacher(privileged.slice(train), params)
        pi_xgb.train(params, dtrain.slice(train), ROUNDS, teacher=joint, kl_weight=1.0)
        expected.append(roc_auc_score(dtrain.get_label()[test], joint.booster.predict(privileged.slice(test))))
    assert found.summary["teacher_score"]["jpib 1"] == pytest.approx(np.mean(expected), abs=1e-6)


def test_a_teacher_that_is_no_better_than_its_student_is_told_of():
    params, dtrain, privileged, _ = data(n=300)
    noise = xgb.DMatrix(np.random.default_rng(0).normal(size=(300, 2)), dtrain.get_label())
    how = {
        **FEW,
        "method": "kbpib",
        "teacher": "boosted",
        "teacher_sees": None,
        "crossfit": 2,
        "kl_weight": 0.01,
        "standard_errors": 0.0,
    }
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        # One that knows says nothing, nor does one that was not chosen.
        informed = select(params, dtrain, 20, privileged=privileged, **{**how, "kl_weight": 1.0})
        never = select(params, dtrain, 20, privileged=noise, **{**how, "standard_errors": 1e6})
    assert informed.summary["teacher_score"].iloc[1] < informed.summary["score"].iloc[1]
    assert informed.candidate != "plain" == never.candidate
    with pytest.warns(UserWarning, match=r"teacher.*boosted.*0\.01") as found:
        fooled = select(params, dtrain, 20, privileged=noise, **how)
    teacher, student = fooled.summary.loc["boosted (2 folds) 0.01", ["teacher_score", "score"]]
    assert f"(log loss {teacher:.4f} and {student:.4f})" in str(found[0].message)
    assert "pi_xgb.compare" in str(found[0].message)
    assert [record.filename for record in found] == [__file__]


# --- scores -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("objective", "metric", "scorer", "turned"),
    [
        ("binary:logistic", "auc", "roc_auc", lambda s: s),
        ("binary:logistic", "logloss", "neg_log_loss", lambda s: -s),
        ("binary:logistic", "error", "accuracy", lambda s: 1 - s),
        ("multi:softprob", "merror", "accuracy", lambda s: 1 - s),
        ("multi:softprob", "mlogloss", "neg_log_loss", lambda s: -s),
        ("multi:softmax", "merror", "accuracy", lambda s: 1 - s),
        ("reg:squarederror", "rmse", "neg_root_mean_squared_error", lambda s: -s),
        ("binary:logistic", "auc", make_scorer(roc_auc_score, response_method="predict_proba"), lambda s: s),
    ],
)
def test_scorers_of_scikit_learn_agree_with_the_metrics_of_xgboost(objective, metric, scorer, turned):
    params, dtrain, privileged, _ = data(objective, weighted=True)
    settings = {**FEW, "method": "jpib"}
    ours = select(params, dtrain, ROUNDS, privileged=privileged, metric=metric, **settings)
    theirs = select(params, dtrain, ROUNDS, privileged=privileged, metric=scorer, **settings)
    # Two libraries, one number in every cell and round, weights included; XGBoost computes in float32 in places.
    assert turned(theirs.curves.to_numpy()) == pytest.approx(ours.curves.to_numpy(), abs=2e-6)
    assert theirs.maximize


def test_the_score_that_is_used_without_asking():
    few = {"method": "jpib", "kl_weight": 1.0}
    for objective, metric in {
        "binary:logistic": "logloss",
        "multi:softmax": "mlogloss",
        "reg:squarederror": "rmse",
    }.items():
        selection = quick(objective, **few)
        assert (selection.metric, selection.maximize) == (metric, False)
    params, dtrain, privileged, _ = data()
    wanted = select({**params, "eval_metric": ["logloss", "auc"]}, dtrain, 3, privileged=privileged, **{**FEW, **few})
    # The last eval_metric decides, as it does for early stopping.
    assert wanted.metric == "auc"
    assert wanted.maximize


def test_a_metric_of_the_users_own():
    def share(predictions, matrix):
        return "share", float((predictions > 0.5).mean())

    selection = quick(custom_metric=share, maximize=False)
    assert selection.metric == "share"
    # It sees probabilities, as in pi_xgb.train: half of the rows or so lie above 1/2, none of the margins' would.
    assert selection.curves["plain"].between(0.2, 0.8).all()


# --- the model ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("sees", "crossfit"), [("privileged", 0), ("privileged", 2), ("all", 2), ("all", 0)])
def test_the_model_is_the_candidate_that_was_judged(sees, crossfit):
    params, dtrain, privileged, both = data(n=300)
    how = {"teacher_sees": sees, "crossfit": crossfit, "method": "kbpib", "kl_weight": 10.0, "standard_errors": 0.0}
    selection = select(params, dtrain, 20, privileged=privileged, **{**FEW, **how})
    learned = pi_xgb.fit_teacher(params, both if sees == "all" else privileged, 20, crossfit=crossfit)
    rounds = selection.choice["num_boost_round"]
    expected = pi_xgb.train(params, dtrain, rounds, teacher=learned, kl_weight=10.0)
    assert selection.choice["kl_weight"] == 10.0
    # The teacher has the rounds of the search, the student those that were chosen.
    trained = selection.train(dtrain, privileged=privileged)
    assert trained.get_dump() == expected.get_dump()
    assert f"teacher_sees={sees!r}" in trained.attr("pi_xgb_teacher_settings")
    # The choice is made of keywords of train, where the teacher has the rounds of the student.
    learned = pi_xgb.fit_teacher(params, both if sees == "all" else privileged, rounds, crossfit=crossfit)
    expected = pi_xgb.train(params, dtrain, rounds, teacher=learned, kl_weight=10.0)
    by_keywords = pi_xgb.train(params, dtrain, privileged=privileged, **selection.choice)
    assert by_keywords.get_dump() == expected.get_dump()


def test_the_model_of_plain_is_xgboosts():
    params, dtrain, privileged, _ = data()
    selection = select(params, dtrain, 30, privileged=privileged, standard_errors=100.0, **FEW)
    log = {}
    booster = selection.train(dtrain, evals=[(dtrain, "train")], evals_result=log, verbose_eval=False)
    rounds = selection.choice["num_boost_round"]
    assert rounds < 30
    assert booster.save_raw() == xgb.train(params, dtrain, rounds).save_raw()
    assert len(log["train"]["logloss"]) == rounds
    assert pi_xgb.train(params, dtrain, privileged=privileged, **selection.choice).num_boosted_rounds() == rounds


def test_a_jpib_choice_and_its_pickle():
    params, dtrain, privileged, _ = data(n=300)
    settings = {**FEW, "method": "jpib", "kl_weight": 1.0, "standard_errors": 0.0}
    selection = pickle.loads(pickle.dumps(select(params, dtrain, 20, privileged=privileged, **settings)))
    rounds = selection.choice["num_boost_round"]
    expected = pi_xgb.train(params, dtrain, rounds, privileged=privileged, method="jpib", kl_weight=1.0)
    assert selection.train(dtrain, privileged=privileged).get_dump() == expected.get_dump()
    with pytest.raises(ValueError, match="privileged must be passed"):
        selection.train(dtrain)
    with pytest.raises(TypeError, match=r"dtrain must be an xgboost\.DMatrix, got ndarray"):
        selection.train(np.ones((3, 2)), privileged=privileged)
    with pytest.raises(ValueError, match="num_boost_round must not be passed"):
        selection.train(dtrain, privileged=privileged, num_boost_round=3)


@pytest.mark.parametrize("told", ["nothing", "labelled", "constraints"])
def test_plain_may_be_trained_on_another_matrix_of_the_same_rows(told):
    params, dtrain, _, _ = data()
    student = xgb.DMatrix(-(dtrain.get_data().toarray() ** 3), dtrain.get_label())
    labelled, constraints = None, [(DemographicParity(np.arange(150) % 2), 5.0)]
    if told == "labelled":
        labelled = np.arange(150) % 3 > 0
    given = {"constraints": constraints} if told == "constraints" else {}
    selection = Selection(Recipe(params, 2, None), Score("logloss", maximised=False), found_by_hand(0.0, 1.0, 0))
    for student_matrix, rows in ((student, student), (None, dtrain)):
        expected = {
            "nothing": lambda rows=rows: xgb.train(params, rows, 2),
            # Quantiles cannot be cut, so labelled rows are those of the other matrix.
            "labelled": lambda: xgb.train(params, dtrain.slice(np.flatnonzero(labelled)), 2),
            "constraints": lambda rows=rows: pi_xgb.train(params, rows, 2, teacher=constraints),
        }[told]()
        booster, teacher = selection.fit_matrices(dtrain, TeacherConfig(labelled=labelled), {}, student_matrix, **given)
        assert booster.get_dump() == expected.get_dump()
        assert teacher is None
    with pytest.raises(TypeError, match=r"constraints.*list.*\(constraint, weight\)"):
        selection.train(dtrain, constraints=DemographicParity(np.arange(150) % 2))


def test_a_choice_may_be_trained_on_another_matrix_of_the_same_rows():
    params, dtrain, privileged, _ = data()
    student = xgb.DMatrix(-(dtrain.get_data().toarray() ** 3), dtrain.get_label())
    selection = Selection(Recipe(params, 2, None), Score("logloss", maximised=False), found_by_hand(1.0, 0.1, 2))
    booster, teacher = selection.fit_matrices(dtrain, TeacherConfig(privileged), {}, student)
    joint = pi_xgb.JointTeacher(privileged, params)
    assert booster.get_dump() == pi_xgb.train(params, student, 2, teacher=joint, kl_weight=2.0).get_dump()
    assert teacher.booster.get_dump() == joint.booster.get_dump()
    constraint = (DemographicParity(np.arange(150) % 2), 5.0)
    booster, _ = selection.fit_matrices(dtrain, TeacherConfig(privileged), {}, constraints=[constraint])
    teachers = [(pi_xgb.JointTeacher(privileged, params), 2.0), constraint]
    assert booster.get_dump() == pi_xgb.train(params, dtrain, 2, teacher=teachers).get_dump()


@pytest.mark.parametrize("weighted", [False, True])
def test_constraints_stand_beside_a_teacher_that_counts_by_row(weighted):
    params, dtrain, privileged, _ = data()
    groups, per_row = np.arange(150) % 2, np.where(np.arange(150) % 3, 1.0, 4.0) if weighted else None
    folds = list(StratifiedKFold(3).split(np.zeros(150), dtrain.get_label()))
    how = {
        **FEW,
        "method": "kbpib",
        "teacher": "boosted",
        "teacher_sees": None,
        "crossfit": 2,
        "kl_weight": 2.0,
        "folds": folds,
    }
    keywords = {"constraints": [(DemographicParity(groups), 5.0)], "teacher_weight": per_row}
    found = select(params, dtrain, ROUNDS, privileged=privileged, **keywords, **how)
    scores = []
    for train, test in folds:
        learned = pi_xgb.fit_teacher(params, privileged.slice(train), ROUNDS, crossfit=2)
        weight = 2.0 if per_row is None else 2.0 * per_row[train]
        both = [(learned, weight), (DemographicParity(groups[train]), 5.0)]
        booster = pi_xgb.train(params, dtrain.slice(train), ROUNDS, teacher=both)
        scores.append(float(booster.eval(dtrain.slice(test)).split(":")[-1]))
    assert found.curves.iloc[-1, 1] == pytest.approx(np.mean(scores), abs=2e-6)


def test_params_are_called_by_names_that_mean_one_thing():
    assert settled({"alpha": 0.5}) == {"objective": "reg:squarederror", "reg_alpha": 0.5}
    both = {"objective": "binary:logistic", "alpha": 0.5, "reg_alpha": 0.7}
    assert settled(both) == both
    assert settled({"objective": "binary:logistic"}) == {"objective": "binary:logistic"}


# --- matrices, bars, pictures -------------------------------------------------------------------------------


def test_side_by_side_keeps_gaps_zeros_and_categories():
    x = pd.DataFrame({"a": [0.0, np.nan, 2.0, 1.0], "b": pd.Categorical(["u", "v", "u", "w"])})
    z = pd.DataFrame({"c": [np.nan, 0.0, 1.0, 3.0]})
    y, weight = [0, 1, 1, 0], [1.0, 2.0, 1.0, 0.5]
    both = side_by_side(xgb.DMatrix(x, y, weight=weight, enable_categorical=True), xgb.DMatrix(z, y))
    stored = both.get_data().tocoo()
    dense = np.full((4, 3), np.nan)
    dense[stored.row, stored.col] = stored.data
    expected = np.array([[0, 0, np.nan], [np.nan, 1, 0], [2, 0, 1], [1, 2, 3]])
    # Zeros are values and gaps are gaps, on both sides.
    assert np.array_equal(dense, expected, equal_nan=True)
    assert both.feature_types == ["float", "c", "float"]
    assert both.get_weight().tolist() == weight
    assert both.get_label().tolist() == y


def test_unnamed_columns_that_count_alike_are_no_overlap():
    params, dtrain, _, _ = data()
    x, z = np.random.default_rng(0).normal(size=(2, 150, 3))
    label = dtrain.get_label()
    selection = select(params, xgb.DMatrix(x, label), 3, privileged=xgb.DMatrix(z, label), **FEW)
    assert len(selection.summary) == 9


def test_a_bar_for_those_who_watch(capsys, monkeypatch):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    for wanted in (None, True):
        quick(progress=wanted)
        shown = capsys.readouterr()
        # 3 folds of 9 candidates, on standard error; nothing on standard output.
        assert "/27" in shown.err
        assert shown.out == ""


@pytest.mark.parametrize("place", ["a terminal", "a notebook"])
def test_the_bar_has_a_step_for_each_training_and_leaves_nothing(monkeypatch, place):
    seen = []

    class Bar:
        def __init__(self, **how):
            seen.append([how, 0])

        def __enter__(self):
            return self

        def __exit__(self, *error):
            pass

        def update(self):
            seen[-1][1] += 1

    name, other = ("tqdm", "tqdm.auto") if place == "a terminal" else ("tqdm.auto", "tqdm")
    monkeypatch.setitem(sys.modules, name, types.SimpleNamespace(tqdm=Bar))
    monkeypatch.setitem(sys.modules, other, types.SimpleNamespace())
    if place == "a notebook":
        monkeypatch.setitem(sys.modules, "ipykernel", types.SimpleNamespace())
    else:
        monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    quick(progress=None)
    assert seen == [[{"total": 27, "desc": "select", "leave": False}, 27]]
    with progress.progress_bar(0, "nothing", True) as step:
        step()
    assert len(seen) == 1


def test_lines_for_those_who_read_a_log(capsys, monkeypatch):
    quick(progress=None)
    assert capsys.readouterr().err == ""  # over before anybody wonders
    quick(progress=True)
    shown = capsys.readouterr()
    assert shown.err.startswith("select: 1 of 27, 0 s, about ")
    now = itertools.count(0, 20)
    # A clock of its own: other threads, such as Dask's, look at the real one.
    monkeypatch.setattr(progress, "time", types.SimpleNamespace(monotonic=lambda: next(now)))
    quick(progress=None)
    lines = capsys.readouterr().err.splitlines()
    # Every half minute of 27 steps of 20 s each; nothing after the last.
    assert lines[0] == "select: 2 of 27, 40 s, about 8 min left"
    assert lines[1] == "select: 4 of 27, 80 s, about 8 min left"
    assert len(lines) == 13
    now = itertools.count(0, 15)
    with progress.progress_bar(9, "search", None) as step:
        for _ in range(9):
            step()
    # On the half minute, from the beginning and from the line before; minutes from a hundred seconds on.
    found = [
        "2 of 9, 30 s, about 2 min",
        "4 of 9, 60 s, about 75 s",
        "6 of 9, 90 s, about 45 s",
        "8 of 9, 2 min, about 15 s",
    ]
    assert capsys.readouterr().err.splitlines() == [f"search: {line} left" for line in found]
    now = itertools.count(0, 100)
    with progress.progress_bar(2, "search", True) as step:
        step()
    assert capsys.readouterr().err == "search: 1 of 2, 2 min, about 2 min left\n"


@pytest.mark.parametrize(("seconds", "total", "expected"), [(3, 11, ["4 of 11, 12 s, about 21 s"]), (3, 10, [])])
def test_the_first_steps_that_are_like_all_others_tell_how_long_a_long_search_takes(
    capsys, monkeypatch, seconds, total, expected
):
    now = itertools.count(0, seconds)
    monkeypatch.setattr(progress, "time", types.SimpleNamespace(monotonic=lambda: next(now)))
    with progress.progress_bar(total, "search", None, 4) as step:
        for _ in range(9):
            step()
    # Half a minute in all is not long.
    assert capsys.readouterr().err.splitlines() == [f"search: {line} left" for line in expected]


def test_the_picture_shows_every_way_and_rings_the_choice():
    from matplotlib import pyplot

    ax = quick(standard_errors=0.0).plot()
    texts = [text.get_text() for text in ax.get_legend().get_texts()]
    assert texts[:5] == ["plain XGBoost", *WAYS, "jpib"]
    assert texts[5:] in (["chosen"], [])
    assert ax.get_xlabel() == "kl_weight"
    assert ax.get_ylabel() == "log loss lower by, against plain XGBoost"
    pyplot.close("all")


# --- names and Optuna ---------------------------------------------------------------------------------------


def test_names_are_for_readers():
    def names(*teaching):
        return [candidate.name for candidate in candidates_of({}, ("kbpib", "jpib"), *teaching, 2.5)]

    by_default = candidates_of({}, METHOD, None, None, None, KL_WEIGHTS)
    assert [item.name for item in by_default] == ["plain", "mixed 1", "mixed 10"]
    assert [(item.crossfit, item.kl_weight) for item in by_default] == [(None, 0.0), (None, 1.0), (None, 10.0)]
    three = [f"boosted on {what} 2.5" for what in ("privileged features in-sample", *EACH_OF_5)]
    assert names("boosted", SEES, (0, 5)) == ["plain", *three, "jpib 2.5"]
    assert PLAIN.train_keywords == {"kl_weight": 0.0}
    # A teacher that sees everything is in-sample where nothing else is asked for.
    alone = [f"boosted on {what} features in-sample 2.5" for what in SEES]
    assert names("boosted", SEES, 0) == ["plain", *alone, "jpib 2.5"]
    assert names("boosted", "all", (0, 5)) == ["plain", "boosted on all features (5 folds) 2.5", "jpib 2.5"]
    # Several numbers of folds are told apart.
    assert names("linear", None, (2, 5))[1:3] == ["linear (2 folds) 2.5", "linear (5 folds) 2.5"]
    # An estimator has the name of its class.
    assert names(["mixed", LogisticRegression()], None, None)[1:3] == ["mixed 2.5", "LogisticRegression 2.5"]


def test_several_numbers_of_folds_are_tried_apart():
    few = {"kl_weight": 1.0, "method": "kbpib", "nfold": 4}
    several = quick(crossfit=(0, 2, 4), **few).summary
    assert several["teacher"].tolist() == ["", *["boosted"] * 5]
    assert several["teacher_sees"].tolist()[1:] == [*["privileged"] * 3, *["all"] * 2]
    assert several["crossfit"].tolist()[1:] == [0, 2, 4, 2, 4]
    # Each as if it were the only one, in-sample and out of fold.
    for crossfit in (0, 2, 4):
        alone = quick(crossfit=crossfit, **few).summary
        together = several[several["crossfit"] == crossfit]
        alone = alone[alone["teacher_sees"].isin(together["teacher_sees"])].iloc[-len(together) :]
        assert together["score"].tolist() == alone["score"].tolist()
    # Folds that are those of the selection too serve those teachers alone who have as many.
    assert several["score"].nunique() == len(several)


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of Optuna's own dependencies
def test_an_optuna_study_that_prunes():
    optuna = pytest.importorskip("optuna", reason="the recipe in the documentation is for users of Optuna")
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    params, dtrain, privileged, _ = data()
    folds = list(StratifiedKFold(3, shuffle=True, random_state=0).split(np.zeros(150), dtrain.get_label()))

    def objective(trial):
        kl_weight, log, scores = trial.suggest_float("kl_weight", 0.0, 30.0), {}, []
        for step, (rest, out) in enumerate(folds):
            matrices = {"privileged": privileged.slice(rest), "evals": [(dtrain.slice(out), "test")]}
            more = {"kl_weight": kl_weight, "crossfit": 2, "evals_result": log, "verbose_eval": False}
            pi_xgb.train(params, dtrain.slice(rest), 5, **matrices, **more)
            scores.append(min(log["test"]["logloss"]))
            trial.report(float(np.mean(scores)), step)
            if trial.should_prune():
                raise optuna.TrialPruned
        return float(np.mean(scores))

    pruner = optuna.pruners.MedianPruner(n_startup_trials=2)
    study = optuna.create_study(pruner=pruner, sampler=optuna.samplers.RandomSampler(seed=0))
    study.enqueue_trial({"kl_weight": 0.0})
    study.optimize(objective, n_trials=6)
    # The first trial is plain XGBoost, and some trial was not worth finishing.
    assert study.trials[0].params == {"kl_weight": 0.0}
    assert any(trial.state == optuna.trial.TrialState.PRUNED for trial in study.trials)


# --- teachers that serve two folds --------------------------------------------------------------------------


def taught_by_hand(params, fold_of, features, dtrain, label, weight):
    """q of the rows outside each fold: of a row of fold j, from a booster that has seen neither fold j nor this one."""
    n_folds = fold_of.max() + 1
    without = {}
    for pair in itertools.combinations(range(n_folds), 2):
        rows = np.flatnonzero(~np.isin(fold_of, pair))
        without[frozenset(pair)] = xgb.train(params, features.slice(rows), ROUNDS)
    for out in range(n_folds):
        train, q = np.flatnonzero(fold_of != out), np.empty(len(label), np.float32)
        for fold in set(range(n_folds)) - {out}:
            rows = np.flatnonzero(fold_of == fold)
            q[rows] = without[frozenset({fold, out})].predict(features.slice(rows))
        student = pi_xgb.train(params, dtrain.slice(train), ROUNDS, teacher=q[train], kl_weight=weight)
        test = np.flatnonzero(fold_of == out)
        yield out, float(student.eval(dtrain.slice(test)).split(":")[-1])


@pytest.mark.parametrize("sees", SEES)
def test_a_teacher_without_two_folds_serves_both(sees):
    params, dtrain, privileged, both = data(weighted=True)
    how = {
        "nfold": 4,
        "crossfit": 4,
        "repeats": 2,
        "teacher": "boosted",
        "teacher_sees": sees,
        "kl_weight": 3.0,
        "seed": 5,
    }
    table = select(params, dtrain, ROUNDS, privileged=privileged, n_jobs=2, **how).table
    features, label = both if sees == "all" else privileged, dtrain.get_label()
    features.set_weight(dtrain.get_weight())
    for repeat in range(2):
        splits = splits_of(label, 4, 2, None, 5, classes=True)[4 * repeat : 4 * repeat + 4]
        fold_of = np.empty(len(label), int)
        for split in splits:
            fold_of[split.test] = split.fold
        own = table[(table.repeat == repeat) & (table.kl_weight > 0)].set_index("fold")
        if own.rounds.iloc[0] < ROUNDS:
            continue  # the table has the score after fewer rounds
        for fold, score in taught_by_hand(params, fold_of, features, dtrain, label, 3.0):
            assert own.score[fold] == pytest.approx(score, abs=2e-6)


def test_folds_that_do_not_part_the_rows_share_no_teacher():
    params, dtrain, privileged, _ = data()
    label = dtrain.get_label()
    recipe = Recipe(params, ROUNDS, None)

    def shared(splits, groups=None, **keywords):
        config = TeacherConfig(privileged, crossfit=4, **keywords)
        problem = recipe.problem(dtrain, config, "select", groups=groups, sees_all=False)
        return [part.folds is not None for part in shared_folds(problem, splits)]

    splits = splits_of(label, 4, 1, None, 0, classes=True)
    assert all(shared(splits))
    # Three folds leave too little, overlapping ones would leak, and so would other groups.
    assert not any(shared(splits_of(label, 3, 1, None, 0, classes=True)))
    assert not any(shared([*splits[:3], splits[0]]))
    assert not any(shared([*splits[:3], Split(0, 3, splits[3].train, splits[1].test[: len(splits[3].test)])]))
    assert not any(shared([Split(0, s.fold, s.train[:-1], s.test) for s in splits]))
    assert not any(shared(splits, crossfit_groups=np.arange(150) // 2))
    groups = np.arange(150) // 2
    together = splits_of(label, 4, 1, None, 0, classes=True, groups=groups)
    assert all(shared(together, groups=groups))


def test_unlabelled_rows_of_a_group_go_with_it():
    params, dtrain, privileged, _ = data()
    groups, labelled = np.arange(150) // 3, np.arange(150) % 3 == 0
    problem = Recipe(params, ROUNDS, None).problem(
        dtrain, TeacherConfig(privileged, labelled=labelled), "select", groups=groups, sees_all=False
    )
    splits = splits_of(dtrain.get_label(), 4, 1, None, 0, classes=True, groups=groups, labelled=labelled)
    first = shared_folds(problem, splits)[0].folds
    # A fold is that of the labelled row of the group.
    assert np.array_equal(first.fold_of, np.repeat(first.fold_of[labelled], 3))
    assert set(first.fold_of) == set(range(4))


# --- what the folds cannot tell -----------------------------------------------------------------------------


def test_plain_where_it_is_hardly_ever_wrong():
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(200, 3)), np.arange(200) % 2
    x[:, 0] += 4 * y
    dtrain, privileged = xgb.DMatrix(x, y), xgb.DMatrix(x[:, :1] + rng.normal(size=(200, 1)), y)
    params = {"max_depth": 2, "objective": "binary:logistic", "nthread": 1}
    how = {"privileged": privileged, "repeats": 2, "kl_weight": 1.0}
    found = select(params, dtrain, 10, **how, standard_errors=1e-9)
    # Wrong rows of one pass over the data, not of both.
    assert 0 < found.n_errors < LEAST_WRONG
    assert found.gain == 0
    assert found.candidate == "plain"
    assert "is chosen: plain XGBoost gets" in str(found)
    # Whoever wants to believes any gain.
    assert (select(params, dtrain, 10, **how, standard_errors=0).candidate == "plain") == (
        found.summary.gain.max() <= 0
    )


@pytest.mark.parametrize(
    ("objective", "decides"),
    [
        ("binary:logistic", None),
        ("binary:logistic", "error"),
        ("multi:softprob", None),
        ("multi:softprob", "merror"),
        ("reg:squarederror", None),
    ],
)
def test_mistakes_are_the_labelled_rows_that_plain_xgboost_gets_wrong(objective, decides):
    params, dtrain, privileged, _ = data(objective)
    folds = list(StratifiedKFold(3).split(np.zeros(150), data()[1].get_label()))
    # Its rounds are those at which the score is best, not the mistakes.
    jpib = {**FEW, "method": "jpib", "metric": decides}
    found = select(params, dtrain, ROUNDS, privileged=privileged, folds=folds, **jpib)
    metric = {"b": "error", "m": "merror"}.get(objective[0])
    wrong = 0
    for train, test in folds:
        booster = xgb.train(params, dtrain.slice(train), found.summary.rounds["plain"])
        booster.set_param({"eval_metric": metric or "rmse"})
        share = float(booster.eval(dtrain.slice(test)).split(":")[-1]) if metric else 1
        wrong += share * len(test)
    assert found.n_errors == pytest.approx(wrong, abs=1e-3)
    # The same rows dealt again are no more rows.
    more = {"nfold": 3, "repeats": 2}
    again = select(params, dtrain, ROUNDS, privileged=privileged, **{**FEW, "method": "jpib", **more})
    assert 0 < again.n_errors <= 150


@pytest.mark.parametrize(
    ("wrong", "expected", "candidate"),
    [
        (LEAST_WRONG, {}, "jpib 1"),
        (LEAST_WRONG - 1, {}, "plain"),
        (LEAST_WRONG - 1, {"standard_errors": 0}, "jpib 1"),
        (LEAST_WRONG - 1, {"labelled": np.arange(150) > 0}, "jpib 1"),
    ],
)
def test_ten_mistakes_are_enough_to_tell(monkeypatch, wrong, expected, candidate):
    def curves(problem, split, candidates, score, step, plain):
        # The second round is the better one of plain XGBoost, and has the mistakes.
        scores = np.array([[0.9, 0.8], [0.5, 0.6]]) - 0.01 * split.fold
        scores[1] -= 0.02 * split.fold
        return search.FoldCurves(scores, np.array([100.0, wrong / 3]), np.array([np.nan, 0.1]))

    monkeypatch.setattr(search, "fold_curves", curves)
    assert LEAST_WRONG == 10
    params, dtrain, privileged, _ = data()
    how = {"nfold": 3, "repeats": 1, "method": "jpib", "kl_weight": 1.0, "progress": False, **expected}
    found = select(params, dtrain, 2, privileged=privileged, **how)
    assert found.candidate == candidate
    assert found.n_errors == pytest.approx(wrong)
    assert found.summary["rounds"].tolist() == [2, 1]
    if candidate == "plain":
        assert str(found).replace("\n", " ") == (
            "Undecided, plain XGBoost (2 rounds) is chosen: plain XGBoost gets 9 rows wrong, 10 are needed to show a "
            "gain. Not tried, to save time: teachers without privileged features and rivals (a linear model, a "
            "forest). pi_xgb.compare tries them"
        )


def found_by_hand(mean, error, chosen, is_decidable=True):
    """A search of three candidates on two folds, whose second candidate gains so much."""
    candidates = candidates_of({}, "jpib", "boosted", None, None, [1.0, 2.0])
    splits = [Split(repeat, 1, np.arange(4), np.arange(2)) for repeat in range(2)]
    scores = np.array([[0.5, 0.7], [0.25, 0.5], [0.625, 0.75]])
    curves, teachers = np.arange(6.0).reshape(3, 2), np.array([np.nan, 0.25, 0.5])
    folds = [search.FoldCurves(curves, curves[0], teachers), search.FoldCurves(curves, curves[0], 2 * teachers)]
    gains = [Interval(0, 0, 0, 0), Interval(mean, error, mean - 2 * error, mean + 2 * error), Interval(-1, 1, -3, 1)]
    return search.Found(candidates, splits, curves, [2, 1, 2], scores, gains, 3.6, is_decidable, chosen, folds)


@pytest.mark.parametrize(
    ("objective", "needed", "others"),
    [
        (
            "binary:logistic",
            ["privileged"],
            "teachers without privileged features and rivals (a linear model, a forest)",
        ),
        ("binary:logistic", ["privileged", "constraints"], "teachers without privileged features"),
        ("rank:ndcg", ["privileged"], "teachers without privileged features"),
        ("binary:logistic", [], None),
    ],
)
@pytest.mark.parametrize("found", [(0.25, 0.0625, 1), (0.25, 0.125, 1), (0.25, 0.25, 0), (0.25, 0.25, 0, False)])
def test_a_selection_says_what_it_cannot_recommend(found, objective, needed, others):
    recipe, score = Recipe({"objective": objective}, 2, None), Score("logloss", maximised=False)
    alone, asked = (str(Selection(recipe, score, found_by_hand(*found), names)) for names in ([], needed))
    more = "" if others is None else f". Not tried, to save time: {others}. pi_xgb.compare tries them"
    assert asked.replace("\n", " ") == alone.replace("\n", " ") + more


@pytest.mark.parametrize(
    ("found", "sentence"),
    [
        (
            (0.25, 0.0625, 1),
            "Deploy jpib 1 (1 rounds): log loss 0.3750 against 0.6000 of plain XGBoost on held-out rows, a gain of "
            "0.2500 (95 % CI 0.1250 to 0.3750)",
        ),
        (
            (0.25, 0.125, 1),
            "Undecided, jpib 1 (1 rounds) is chosen: log loss 0.3750 against 0.6000 of plain XGBoost on held-out rows, "
            "a gain of 0.2500 (95 % CI 0.0000 to 0.5000), which may be chance",
        ),
        (
            (0.25, 0.25, 0),
            "Deploy plain XGBoost (2 rounds): no gain in log loss is convincing, the best is 0.2500 (95 % CI -0.2500 "
            "to 0.7500) by jpib 1",
        ),
        (
            (0.25, 0.25, 0, False),
            "Undecided, plain XGBoost (2 rounds) is chosen: plain XGBoost gets 4 rows wrong, 10 are needed to show a "
            "gain",
        ),
    ],
)
def test_a_selection_says_what_its_search_found(found, sentence):
    found = found_by_hand(*found)
    result = Selection(Recipe({}, 2, None), Score("logloss", maximised=False), found)
    assert str(result) == textwrap.fill(sentence, 100, break_on_hyphens=False)
    assert repr(result) == f"<Selection: {sentence}>"
    assert in_lines(f"{'word ' * 19}held-out rows") == f"{'word ' * 18}word\nheld-out rows"  # no break at a hyphen
    assert result.gain == found.gains[found.chosen].mean
    assert result.choice["num_boost_round"] == found.rounds[found.chosen]
    names = ["plain", "jpib 1", "jpib 2"]
    expected = pd.DataFrame(np.arange(6.0).reshape(3, 2).T, columns=names)
    pd.testing.assert_frame_equal(result.curves, expected.set_index(pd.RangeIndex(1, 3, name="rounds")))
    cells = [
        (name, method, teacher, None, None, weight, repeat, 1, rounds, score, plain - score, 4, 2)
        for name, method, teacher, weight, rounds, own in zip(
            names,
            ["plain", "jpib", "jpib"],
            ["", "boosted", "boosted"],
            [0.0, 1.0, 2.0],
            [2, 1, 2],
            found.scores,
            strict=True,
        )
        for repeat, (score, plain) in enumerate(zip(own, [0.5, 0.7], strict=True))
    ]
    columns = ["candidate", "method", "teacher", "teacher_sees", "crossfit", "kl_weight", "repeat", "fold", "rounds"]
    columns += ["score", "gain", "n_train", "n_test"]
    pd.testing.assert_frame_equal(result.table, pd.DataFrame(cells, columns=columns))
    assert result.summary.index.tolist() == names
    assert result.summary["score"].tolist() == pytest.approx([0.6, 0.375, 0.6875])
    assert result.summary["teacher_score"].tolist()[1:] == [0.375, 0.75]
    assert result.summary["gain"].tolist() == [gain.mean for gain in found.gains]
    assert result.summary[["gain_se", "low", "high"]].to_numpy().tolist() == [list(gain[1:]) for gain in found.gains]
    assert result.summary["chosen"].tolist() == [i == found.chosen for i in range(3)]


@pytest.mark.parametrize(("teacher", "warned"), [(0.4, False), (0.5, True), (0.6, True), (np.nan, False)])
def test_a_teacher_that_is_as_good_as_its_student_is_told_of(recwarn, teacher, warned):
    scores, teachers = np.array([[0.6], [0.5]]), np.array([np.nan, teacher])
    found = search.Found(
        [PLAIN, PLAIN], [], None, [1, 1], scores, [], 0, True, 1, [search.FoldCurves(None, None, teachers)]
    )
    _warn_of_poor_teacher(found, Score("logloss", maximised=False))
    assert len(recwarn) == warned


# --- the smallest that will do ------------------------------------------------------------------------------


def test_a_crossfit_may_have_a_fold_for_each_row_or_group():
    def check(crossfit, groups=None):
        source = types.SimpleNamespace(config=types.SimpleNamespace(crossfit_groups=groups), adjective="")
        candidates = candidates_of({}, "kbpib", "boosted", "privileged", crossfit, 1.0)
        search.check_crossfit_fits(source, candidates, [np.arange(6), np.arange(8)], "a fold")

    check(6)
    with pytest.raises(ValueError, match=r"6 training.*7"):
        check(7)
    pairs = np.arange(8) // 2
    check(3, pairs)
    with pytest.raises(ValueError, match="at most the 3 groups in the training rows of a fold, got 4"):
        check(4, pairs)


def test_a_class_may_have_a_row_for_each_fold_and_be_in_two_groups():
    label, groups = np.repeat([0.0, 1.0], [9, 3]), np.r_[np.arange(9) // 2, 7, 8, 8]
    check_classes(label, 3)
    with pytest.raises(ValueError, match=r"class 1.*3 rows.*4 folds.*most 3"):
        check_classes(label, 4)
    check_classes(label, 3, groups=groups)
    with pytest.raises(ValueError, match=r"class 1.*one group"):
        check_classes(label, 3, groups=np.where(groups == 7, 8, groups))


def test_a_row_may_be_a_fold():
    splits = splits_of(np.arange(5.0), 5, 1, None, 0, classes=False)
    assert sorted(split.test.tolist() for split in splits) == [[row] for row in range(5)]
    with pytest.raises(ValueError, match=r"nfold .* rows, 5, got 6"):
        splits_of(np.arange(5.0), 6, 1, None, 0, classes=False)


def test_folds_are_taken_as_they_are_given():
    label = np.arange(9.0)
    # As many row numbers as there are rows, one of them twice, are no mask.
    twice = np.r_[np.arange(8), 0]
    first, _ = splits_of(label, 2, 1, [(twice, [8]), (np.arange(1, 9), [0])], 0, classes=False)
    assert first.train.tolist() == twice.tolist()
    assert (first.repeat, first.fold) == (0, 0)
    # Nor is a mask of other rows.
    with pytest.raises(ValueError, match="fold 0"):
        splits_of(label, 2, 1, [(np.ones(7, bool), [8]), ([0], [1])], 0, classes=False)


def test_a_subset_is_drawn_among_equals():
    label, rows = np.r_[np.zeros(80), np.ones(40)], np.arange(120)
    order = np.random.default_rng(5).permutation(120)
    # Every fourth of one class in the order of chance, then of the other.
    by_hand = np.sort(np.concatenate([order[order < 80], order[order >= 80]])[::4])
    assert subset(label, rows, 30, seed=5).tolist() == by_hand.tolist()
    sizes = np.array([len(subset(label, rows, n, seed=0)) for n in range(2, 120)])
    assert (sizes == np.arange(2, 120)).all()


def test_few_rows_are_dealt_more_often():
    assert [usual_repeats(n) for n in (40, 200, 334, 500, 501, 100_000)] == [5, 5, 2, 2, 1, 1]
    params, dtrain, privileged, _ = data(n=300)
    assert select(params, dtrain, 2, privileged=privileged).table["repeat"].nunique() == 3
    # Groups may be too few to be dealt anew.
    assert select(params, dtrain, 2, privileged=privileged, groups=np.arange(300) // 15).table["repeat"].nunique() == 1
