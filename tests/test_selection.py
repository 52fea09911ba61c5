"""select: a hand-written loop of pi_xgb.train, cell by cell, and the rule by which it chooses."""

from __future__ import annotations

import itertools
import pickle

import numpy as np
import pandas as pd
import pytest
import xgboost as xgb
from helpers_selection import guiding
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import StratifiedKFold

import pi_xgb
from pi_xgb._core.keywords import METHODS, SEES
from pi_xgb._selection.scores import Score
from pi_xgb._selection.splits import splits_of
from pi_xgb._selection.verdict import Measurement, Verdict
from pi_xgb._stats.intervals import Interval
from pi_xgb.constraints import DemographicParity
from pi_xgb.selection import Selection, select

ROUNDS = 5
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


@pytest.mark.parametrize("objective", ["binary:logistic", "multi:softprob"])
def test_the_table_is_that_of_a_loop_written_by_hand(objective):
    params, dtrain, privileged, both = data(objective, weighted=True)
    order = np.random.default_rng(3).permutation(150)
    folds = [(np.delete(order, np.arange(i, 150, 3)), order[i::3]) for i in range(3)]
    metric = {"binary:logistic": "auc", "multi:softprob": "mlogloss"}[objective]
    selection = select(params, dtrain, ROUNDS, privileged=privileged, folds=folds, metric=metric, **FEW)
    # Plain XGBoost, two weights of each way, and the recommended kind of teacher without privileged features.
    assert len(selection.summary) == 1 + 2 * (3 + 1) + 1

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


def test_a_selection_changes_nothing_of_the_users_and_keeps_nothing_of_the_data():
    params, dtrain, privileged, _ = data(weighted=True)
    before = dict(params), dtrain.get_label(), dtrain.get_weight(), privileged.get_label()
    settings = {**FEW, "kl_weight": 1.0, "crossfit": 2}
    first = select(params, dtrain, ROUNDS, privileged=privileged, **settings)
    kept = pickle.dumps(first)
    for value in np.concatenate([privileged.get_data().data[:50], dtrain.get_data().data[:50]]):
        assert np.float32(value).tobytes() not in kept
    assert params == before[0]
    for now, then in zip((dtrain.get_label(), dtrain.get_weight(), privileged.get_label()), before[1:], strict=True):
        assert np.array_equal(now, then)
    assert select(params, dtrain, ROUNDS, privileged=privileged, **settings).table.equals(first.table)


@pytest.mark.parametrize(("sees", "crossfit"), [("privileged", 0), ("all", 2)])
def test_a_teacher_scores_as_the_mean_of_its_boosters(sees, crossfit):
    params, dtrain, privileged, both = data()
    folds = list(StratifiedKFold(3).split(np.zeros(150), dtrain.get_label()))
    how = {"teacher_sees": sees, "crossfit": crossfit, "method": "kbpib"}
    found = select(params, dtrain, ROUNDS, privileged=privileged, folds=folds, metric="auc", **{**FEW, **how})
    shown, expected = both if sees == "all" else privileged, []
    for train, test in folds:
        learned = pi_xgb.fit_teacher(params, shown.slice(train), ROUNDS, teacher="boosted", crossfit=crossfit)
        boosters = learned.boosters
        result = np.mean([booster.predict(shown.slice(test)) for booster in boosters], axis=0)
        expected.append(roc_auc_score(dtrain.get_label()[test], result))
    # On rows that it has not seen, those of the student; the same for every kl_weight.
    assert found.summary["teacher_score"].iloc[1:3].tolist() == pytest.approx([np.mean(expected)] * 2, abs=1e-6)
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


def test_a_metric_of_the_users_own():
    def share(predictions, matrix):
        return "share", float((predictions > 0.5).mean())

    selection = quick(custom_metric=share, maximize=False, method="jpib")
    assert selection.metric == "share"
    # It sees probabilities, as in pi_xgb.train: half of the rows or so lie above 1/2, none of the margins' would.
    assert selection.curves["plain"].between(0.2, 0.8).all()


@pytest.mark.parametrize(("sees", "crossfit"), [("privileged", 0), ("all", 2)])
def test_the_model_is_the_candidate_that_was_judged(sees, crossfit):
    params, dtrain, privileged, both = data()
    how = {"teacher_sees": sees, "crossfit": crossfit, "method": "kbpib", "kl_weight": 10.0, "standard_errors": 1e9}
    selection = select(params, dtrain, 20, privileged=privileged, **{**FEW, **how})
    how = {"teacher": "boosted", "crossfit": crossfit}
    learned = pi_xgb.fit_teacher(params, both if sees == "all" else privileged, 20, **how)
    rounds = selection.choice["num_boost_round"]
    expected = pi_xgb.train(params, dtrain, rounds, teacher=learned, kl_weight=10.0)
    assert selection.choice["kl_weight"] == 10.0
    # The teacher has the rounds of the search, the student those that were chosen.
    trained = selection.train(dtrain, privileged=privileged)
    assert trained.get_dump() == expected.get_dump()
    assert f"teacher_sees={sees!r}" in trained.attr("pi_xgb_teacher_settings")
    # The choice is made of keywords of train, where the teacher has the rounds of the student.
    learned = pi_xgb.fit_teacher(params, both if sees == "all" else privileged, rounds, **how)
    expected = pi_xgb.train(params, dtrain, rounds, teacher=learned, kl_weight=10.0)
    by_keywords = pi_xgb.train(params, dtrain, privileged=privileged, **selection.choice)
    assert by_keywords.get_dump() == expected.get_dump()


def test_the_model_of_plain_is_xgboosts():
    params, dtrain, privileged, _ = data()
    keywords = {**FEW, "method": "jpib", "kl_weight": 1.0, "custom_metric": spread, "maximize": True}
    selection = select(params, dtrain, 9, privileged=privileged, **keywords)
    log = {}
    booster = selection.train(dtrain, evals=[(dtrain, "train")], evals_result=log, verbose_eval=False)
    assert selection.choice == {"kl_weight": 0.0, "num_boost_round": 9}
    assert booster.save_raw() == xgb.train(params, dtrain, 9).save_raw()
    assert len(log["train"]["logloss"]) == 9
    assert pi_xgb.train(params, dtrain, privileged=privileged, **selection.choice).num_boosted_rounds() == 9


def test_a_jpib_choice_and_its_pickle():
    params, dtrain, privileged, _ = data()
    settings = {**FEW, "method": "jpib", "kl_weight": 1.0, "standard_errors": 0.0}
    selection = pickle.loads(pickle.dumps(select(params, dtrain, 20, privileged=privileged, **settings)))
    rounds = selection.choice["num_boost_round"]
    expected = pi_xgb.train(params, dtrain, rounds, privileged=privileged, method="jpib", kl_weight=1.0)
    assert selection.train(dtrain, privileged=privileged).get_dump() == expected.get_dump()
    with pytest.raises(ValueError, match="privileged must be passed"):
        selection.train(dtrain)
    with pytest.raises(TypeError, match=r"dtrain must be an xgboost\.DMatrix, got ndarray"):
        selection.train(np.ones((3, 2)), privileged=privileged)
    with pytest.raises(TypeError, match="multiple values for argument 'num_boost_round'"):
        selection.train(dtrain, privileged=privileged, num_boost_round=3)


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
        learned = pi_xgb.fit_teacher(params, privileged.slice(train), ROUNDS, teacher="boosted", crossfit=2)
        weight = 2.0 if per_row is None else 2.0 * per_row[train]
        both = [(learned, weight), (DemographicParity(groups[train]), 5.0)]
        booster = pi_xgb.train(params, dtrain.slice(train), ROUNDS, teacher=both)
        scores.append(float(booster.eval(dtrain.slice(test)).split(":")[-1]))
    assert found.curves.iloc[-1, 1] == pytest.approx(np.mean(scores), abs=2e-6)


def test_the_picture_shows_every_way_and_rings_the_choice():
    from matplotlib import pyplot

    ax = quick(standard_errors=0.0).plot()
    texts = {text.get_text() for text in ax.get_legend().get_texts()}
    assert texts >= {"plain XGBoost", "chosen", *WAYS, "jpib"}
    assert texts <= {"plain XGBoost", "chosen", *WAYS, "jpib", "boosted without privileged features (2 folds)"}
    assert ax.get_xlabel() == "kl_weight"
    assert ax.get_ylabel() == "log loss lower by, against plain XGBoost"
    pyplot.close("all")


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


@settings(max_examples=15, deadline=None)
@given(st.integers(2, 5), st.integers(0, 9), st.sampled_from([1, 2, 3]), st.booleans())
def test_the_folds_are_a_partition_of_whole_groups(nfold, seed, repeats, classes):
    rng = np.random.default_rng(seed)
    groups = rng.integers(0, 12, 90)
    label = rng.integers(0, 2, 90) if classes else rng.normal(size=90)
    splits = splits_of(label.astype(np.float32), nfold, repeats, None, seed, classes=classes, groups=groups)
    assert len(splits) == nfold * repeats
    for repeat in range(repeats):
        held_out = np.concatenate([split.test for split in splits if split.repeat == repeat])
        assert sorted(held_out) == list(range(90))
    # Also where a draw gives the folds of an earlier repeat, no two repeats are the same.
    assert len({frozenset(s.test.tobytes() for s in splits if s.repeat == r) for r in range(repeats)}) == repeats
    for split in splits:
        # What is not held out is trained on, and shares no group with it.
        assert sorted([*split.train, *split.test]) == list(range(90))
        assert not set(groups[split.train]) & set(groups[split.test])


@pytest.mark.parametrize("sees", SEES)
def test_a_teacher_without_two_folds_serves_both(sees):
    params, dtrain, privileged, both = data(weighted=True)
    how = {"nfold": 4, "repeats": 2, "teacher": "boosted", "teacher_sees": sees, "kl_weight": 3.0, "seed": 5}
    table, of_other_folds = (
        select(params, dtrain, ROUNDS, privileged=privileged, n_jobs=2, crossfit=crossfit, **how).table
        for crossfit in (4, 5)
    )
    assert (table["score"] != of_other_folds["score"]).any()
    features, label = both if sees == "all" else privileged, dtrain.get_label()
    features.set_weight(dtrain.get_weight())
    for repeat in range(2):
        splits = splits_of(label, 4, 2, None, 5, classes=True)[4 * repeat : 4 * repeat + 4]
        fold_of = np.empty(len(label), int)
        for split in splits:
            fold_of[split.test] = split.fold
        own = table[(table["repeat"] == repeat) & (table["teacher_sees"] == sees)].set_index("fold")
        if own.rounds.iloc[0] < ROUNDS:
            continue  # the table has the score after fewer rounds
        for fold, score in taught_by_hand(params, fold_of, features, dtrain, label, 3.0):
            assert own.score[fold] == pytest.approx(score, abs=2e-6)


def test_few_rows_are_dealt_more_often():
    params, dtrain, privileged, _ = data(n=300)
    settings = {"privileged": privileged, "teacher": "boosted", "crossfit": 0, "nfold": 2}
    assert select(params, dtrain, 1, **settings).table["repeat"].nunique() == 3
    # Groups may be too few to be dealt anew.
    assert select(params, dtrain, 1, **settings, groups=np.arange(300) // 15).table["repeat"].nunique() == 1


def spread(predictions, matrix):
    """A metric in which plain XGBoost is best: teachers narrow the predictions."""
    return "spread", float(predictions.std())


@pytest.mark.parametrize(
    ("leads", "bar", "chosen"),
    [
        ([(0, 0), (0.02, 0.01), (0.01, 0.001)], 1, 1),  # the best mean, if it is convincing
        ([(0, 0), (0.02, 0.03), (0.01, 0.001)], 1, 2),  # another that is, if the best is not
        ([(0, 0), (0.02, 0.03)], 0, 1),  # 0 accepts any lead
        ([(0, 0), (0.02, 0.0)], 0.25, 0),  # an error of 0 is an unknown one
        ([(0, 0), (0.01, 0.01)], 1, 0),  # more than one standard error, not one
        ([(0.02, 0.01), (0, 0), (0.03, 0.02)], 1, 2),
        ([(0.02, 0.03), (0, 0), (0.01, 0.02)], 1, 1),
    ],
)
def test_choose_keeps_the_recommended_model_unless_another_leads_by_the_bar(leads, bar, chosen):
    recommended, intervals = leads.index((0, 0)), [Interval(mean, error, 0, 0) for mean, error in leads]
    measurement = Measurement(Score("rmse", False), 0.25, 100, bar)
    verdict = Verdict(measurement, ["model"] * len(leads), intervals, intervals, recommended)
    assert verdict.chosen == chosen


def test_the_bar_grows_with_the_number_of_candidates():
    # One of n equal independent candidates passes it with probability 0.2, by Bonferroni.
    measurement = Measurement(Score("rmse", False), 0.25, 100)
    bars = [Verdict(measurement, ["model"] * (n + 1), [], [], 1).bar for n in (1, 2, 6)]
    assert bars == pytest.approx(stats.norm.ppf([0.8, 0.9, 1 - 0.2 / 6]))


def test_select_starts_from_the_mixed_teacher_and_tries_plain_and_a_teacher_on_x():
    params, dtrain, privileged, _ = data()
    kept = select(params, dtrain, ROUNDS, privileged=privileged, repeats=1, nfold=2, standard_errors=1e9)
    assert kept.summary.index.tolist() == ["plain", "mixed 2", "mixed without privileged features 2"]
    assert kept.candidate == "mixed 2"
    first, second, blank, *_ = str(kept).splitlines()
    assert first == f"Deploy the student of a mixed teacher with {kept.choice['num_boost_round']} rounds."
    assert second.startswith("Expected gain over plain XGBoost in log loss: ")
    assert second.endswith(", which speak against it within chance, 0.052 on public data sets with about 150 labels.")
    assert blank == ""


def test_select_chooses_the_best_mean_without_a_bar():
    params, dtrain, privileged, _ = data()
    keywords = {"privileged": privileged, "repeats": 1, "nfold": 3, "custom_metric": spread, "maximize": True}
    found = select(params, dtrain, ROUNDS, teacher="linear", standard_errors=0.0, **keywords)
    instruction, expectation, *_ = str(found).splitlines()
    assert instruction == f"Deploy plain XGBoost with {found.choice['num_boost_round']} rounds."
    assert expectation.startswith("Expected gain over the student of a linear teacher in spread: ")
    assert found.train(dtrain).save_raw() == xgb.train(params, dtrain, found.choice["num_boost_round"]).save_raw()


@pytest.mark.slow
def test_a_choice_without_privileged_features_is_trained_without_them():
    params, dtrain, _, _ = data()
    noise = xgb.DMatrix(np.random.default_rng(0).normal(size=(150, 40)), dtrain.get_label())
    keywords = {"privileged": noise, "repeats": 1, "nfold": 3, "standard_errors": 0.0, "kl_weight": 5.0}
    keywords["teacher"] = "linear"

    def as_without(predictions, matrix):
        return "as_without", -abs(float(predictions.std()) - target)

    curves = select(params, dtrain, 1, **keywords, custom_metric=spread, maximize=True).curves
    target = float(curves["linear without privileged features 5"].iloc[0])
    chosen = select(params, dtrain, 1, **keywords, custom_metric=as_without, maximize=True)
    assert chosen.candidate == "linear without privileged features 5"
    assert chosen.choice["privileged"] is None
    by_keywords = pi_xgb.train(params, dtrain, **chosen.choice)
    assert by_keywords.num_boosted_rounds() == chosen.choice["num_boost_round"]
    assert chosen.train(dtrain, privileged=noise).get_dump() == chosen.train(dtrain).get_dump()
