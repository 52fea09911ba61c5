"""compare: models on the same held-out rows, everything chosen without them, and what to deploy."""

from __future__ import annotations

import dataclasses
import decimal

import numpy as np
import pandas as pd
import pytest
import xgboost as xgb
from helpers_selection import COMPARED as FEW
from helpers_selection import PARAMS, ROUNDS
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import t
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import KFold

import pi_xgb
from pi_xgb._core.config import SEES
from pi_xgb._rows.labels import read_target
from pi_xgb._selection.candidates import PLAIN, candidates_of, without_privileged
from pi_xgb._selection.comparison import Comparison
from pi_xgb._selection.scores import Score
from pi_xgb._selection.verdict import Evidence
from pi_xgb._stats.paired import Interval, corrected_interval
from pi_xgb.constraints import DemographicParity
from pi_xgb.selection import compare, select

pytestmark = pytest.mark.filterwarnings("ignore:the teacher of:UserWarning")
MODELS = ["plain XGBoost", "z known at prediction", "student", "self-distillation", "shuffled"]
ROWS = [*MODELS, "best rival", "teacher"]
AUC = Score("auc", maximised=True)


def rows(n=160, seed=0):
    made = pi_xgb.datasets.make_privileged(n, n_features=4, n_privileged=2, seed=seed)
    return made.x, made.z, made.y


RARE = pd.Series(["rare", *["usual"] * 159])
KNOWS_Z = FrozenEstimator(LogisticRegression().fit(*rows()[1:]))


def folds_of(n=160):
    return list(KFold(2, shuffle=True, random_state=0).split(np.zeros(n)))


def wave_rows(n):
    """x determines the chance of y in a way that 0/1 labels hardly show; z is that chance."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=(n, 8))
    chance = 1 / (1 + np.exp(-0.75 * np.sin(2 * x).sum(axis=1)))
    return x, chance.reshape(-1, 1), (rng.random(n) < chance).astype(int)


@pytest.mark.filterwarnings("ignore:.*have no privileged value:UserWarning")
def test_rows_with_neither_label_nor_teacher_are_said():
    x, z, y = rows()
    z.iloc[:20], y = np.nan, y.where(np.arange(160) >= 20)
    with pytest.warns(UserWarning, match="20 of 160 rows have neither a label nor a teacher") as caught:
        compare(x, y, z, **FEW)
    assert {warning.filename for warning in caught} == {__file__}


# --- the table ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("metric", ["auc", "logloss"])
def test_the_table_is_that_of_a_loop_written_by_hand(metric):
    x, z, y = rows()
    settings = {**FEW, "teacher": "boosted", "standard_errors": 0.0}
    found = compare(x, y, z, folds=folds_of(), metric=metric, **settings)
    inner = {
        "teacher": "boosted",
        "kl_weight": 5.0,
        "crossfit": 2,
        "nfold": 2,
        "standard_errors": 0.0,
        "metric": metric,
    }
    inner |= {"repeats": 1, "progress": False}
    sign = 1 if metric == "auc" else -1
    for fold, (train, test) in enumerate(folds_of()):
        label = y.to_numpy()
        both = x.join(z)
        order = np.random.default_rng([0, 0, fold]).permutation(len(train))

        def shown(table, label):
            return None if table is None else xgb.DMatrix(table, label)

        def score(selection, student_x, privileged_x, train=train, test=test, label=label):
            dtrain = xgb.DMatrix(student_x.iloc[train], label[train])
            booster = selection.train(dtrain, privileged=shown(privileged_x, label[train]))
            return float(
                booster.eval(xgb.DMatrix(student_x.iloc[test], label[test])).split(":")[-1]
                if metric == "logloss"
                else xgb_auc(booster, student_x.iloc[test], label[test])
            )

        def chosen(student_x, privileged_x, train=train, label=label, **more):
            return select(
                PARAMS,
                xgb.DMatrix(student_x.iloc[train], label[train]),
                ROUNDS,
                privileged=shown(privileged_x, label[train]),
                **{**inner, "method": "kbpib", **more},
            )

        never = {"standard_errors": 1e6}
        copy = x.iloc[train].rename(columns=lambda c: f"copy of {c}")
        expected = {
            "plain XGBoost": (chosen(x, z.iloc[train], **never), x, z.iloc[train]),
            "z known at prediction": (chosen(both, copy, **never), both, copy),
            "student": (chosen(x, z.iloc[train]), x, z.iloc[train]),
            "self-distillation": (chosen(x, None), x, None),
            "shuffled": (chosen(x, z.iloc[train].iloc[order]), x, z.iloc[train].iloc[order]),
        }
        own = found.table[found.table.fold == fold].set_index("model")
        for model, (selection, student_x, privileged_x) in expected.items():
            # Chosen on the training rows, trained on them, judged on rows that had no say.
            assert own.chosen[model] == selection.candidate
            assert own.rounds[model] == selection.choice["num_boost_round"]
            assert own.score[model] == pytest.approx(score(selection, student_x, privileged_x), abs=2e-6)
            assert own.gain[model] == pytest.approx(sign * (own.score[model] - own.score["plain XGBoost"]), abs=1e-12)
    # The summary is the corrected interval of these gains.
    for model in MODELS:
        gains = found.table[found.table.model == model].gain.to_numpy()
        row = found.summary.loc[80, model]
        assert (row.gain, row.gain_se, row.low, row.high) == pytest.approx(tuple(corrected_interval(gains, 1.0)))


def test_constraints_hold_for_all_five():
    x, z, y = rows()
    group = (x.iloc[:, 0] > 0).to_numpy()
    constrained = [(DemographicParity(group), 20.0)]
    found = compare(x, y, z, folds=folds_of(), constraints=constrained, **{**FEW, "standard_errors": 1e6}).table
    # Rivals know nothing of constraints.
    assert set(found.model) == {*MODELS, "teacher"}
    label, both = y.to_numpy(), x.join(z)
    for fold, (train, test) in enumerate(folds_of()):
        own = found[found.fold == fold].set_index("model")
        for model, table in (("plain XGBoost", x), ("z known at prediction", both)):
            dtrain = xgb.DMatrix(table.iloc[train], label[train])
            by_hand = pi_xgb.train(PARAMS, dtrain, own.rounds[model], teacher=[(DemographicParity(group[train]), 20.0)])
            loss = float(by_hand.eval(xgb.DMatrix(table.iloc[test], label[test])).split(":")[-1])
            assert own.score[model] == pytest.approx(loss, abs=2e-6)
    # Students too: with standard_errors of 0 one is chosen, and a fold's is a train with teacher and constraint.
    found = compare(x, y, z, folds=folds_of(), constraints=constrained, **{**FEW, "standard_errors": 0.0}).table
    taught = found[(found.model == "student") & (found.chosen != "plain")]
    assert len(taught)
    for row in taught.itertuples():
        train, test = folds_of()[row.fold]
        dtrain, privileged = xgb.DMatrix(x.iloc[train], label[train]), xgb.DMatrix(z.iloc[train], label[train])
        inner = {"kl_weight": 5.0, "crossfit": 2, "nfold": 2, "standard_errors": 0.0, "repeats": 1, "progress": False}
        keywords = {"privileged": privileged, "constraints": [(DemographicParity(group[train]), 20.0)]}
        student = select(PARAMS, dtrain, ROUNDS, method="kbpib", **keywords, **inner).train(dtrain, **keywords)
        loss = float(student.eval(xgb.DMatrix(x.iloc[test], label[test])).split(":")[-1])
        assert row.score == pytest.approx(loss, abs=2e-6)
    with pytest.raises(ValueError, match="got 80 for 160 rows"):
        compare(x, y, z, constraints=[(DemographicParity(group[:80]), 20.0)], **FEW)
    with pytest.raises(TypeError, match=r"list.*\(constraint, weight\)"):
        compare(x, y, z, constraints=DemographicParity(group), **FEW)


def xgb_auc(booster, x, label):
    return roc_auc_score(label, booster.predict(xgb.DMatrix(x)))


@pytest.mark.parametrize("standard_errors", [0.0, 1e6])
def test_the_teacher_is_judged_on_the_rows_of_its_student(standard_errors):
    x, z, y = rows()
    settings = {**FEW, "teacher": "boosted", "standard_errors": standard_errors}
    found = compare(x, y, z, folds=folds_of(), metric="auc", **settings)
    table, label = found.table.set_index(["fold", "model"]), y.to_numpy()
    for fold, (train, test) in enumerate(folds_of()):
        shown = xgb.DMatrix(z.iloc[train], label[train])
        boosters = pi_xgb.fit_teacher(PARAMS, shown, ROUNDS, crossfit=2).boosters
        result = np.mean([booster.predict(xgb.DMatrix(z.iloc[test])) for booster in boosters], axis=0)
        row = table.loc[(fold, "teacher")]
        # Where nobody taught, the best of those that were tried: there is one.
        assert row.score == pytest.approx(roc_auc_score(label[test], result), abs=1e-6)
        assert row.gain == pytest.approx(row.score - table.loc[(fold, "plain XGBoost")].score, abs=1e-12)
        assert row.chosen == table.loc[(fold, "student")].chosen


def test_a_teacher_beside_its_student_is_judged_where_plain_was_chosen():
    x, z, y = rows()
    settings = {**FEW, "method": "jpib", "teacher": None, "crossfit": None, "standard_errors": 1e6}
    found = compare(x, y, z, folds=folds_of(), metric="auc", **settings)
    table, label = found.table.set_index(["fold", "model"]), y.to_numpy()
    for fold, (train, test) in enumerate(folds_of()):
        row = table.loc[(fold, "teacher")]
        assert row.chosen == "plain"
        teacher = pi_xgb.JointTeacher(xgb.DMatrix(z.iloc[train], label[train]), PARAMS)
        pi_xgb.train(PARAMS, xgb.DMatrix(x.iloc[train], label[train]), row.rounds, teacher=teacher, kl_weight=5.0)
        assert row.score == pytest.approx(xgb_auc(teacher.booster, z.iloc[test], label[test]), abs=1e-6)


@pytest.mark.parametrize("standard_errors", [0.0, 1e6])
def test_a_joint_teacher_is_judged_after_the_rounds_of_its_student(standard_errors):
    x, z, y = rows()
    settings = {**FEW, "method": "jpib", "standard_errors": standard_errors}
    table = compare(x, y, z, folds=folds_of(), **settings).table.set_index(["fold", "model"])
    label = y.to_numpy()
    for fold, (train, test) in enumerate(folds_of()):
        row = table.loc[(fold, "teacher")]
        joint = pi_xgb.JointTeacher(xgb.DMatrix(z.iloc[train], label[train]), PARAMS)
        pi_xgb.train(PARAMS, xgb.DMatrix(x.iloc[train], label[train]), row.rounds, teacher=joint, kl_weight=5.0)
        loss = float(joint.booster.eval(xgb.DMatrix(z.iloc[test], label[test])).split(":")[-1])
        assert row.score == pytest.approx(loss, abs=2e-6)


@pytest.mark.parametrize("standard_errors", [1e6, 0.0])
def test_the_cost_is_what_it_has_to_be(standard_errors, monkeypatch):
    calls = []
    original = xgb.train
    monkeypatch.setattr(xgb, "train", lambda *args, **how: calls.append(1) or original(*args, **how))
    x, z, y = rows()
    found = compare(x, y, z, **{**FEW, "teacher": "boosted", "standard_errors": standard_errors}).table
    # In each of two inner folds plain XGBoost once for all but the ceiling, and three times a student and its teacher's
    # two boosters; then both plain models, every taught model with its teacher, and the teacher that might have been.
    # A forest is one more.
    assert (found.rounds[found.model == "best rival"] == 0).all()
    forests = 2 * 2 + (found.chosen[found.model == "best rival"] == "forest").sum()
    is_taught = found.chosen[found.model.isin(["student", "self-distillation", "shuffled"])] != "plain"
    plain_students = (found.chosen[found.model == "student"] == "plain").sum()
    assert len(calls) == 2 * (2 * (2 + 3 * 3) + 2) + 3 * is_taught.sum() + 2 * plain_students + forests
    if standard_errors:
        assert not is_taught.any()
        assert not np.signbit(found.gain[found.model.isin(["plain XGBoost", "student"])]).any()
    else:
        assert plain_students < 2


def test_held_out_privileged_values_matter_to_the_ceiling_alone():
    x, z, y = rows()
    train, test = folds_of()[0]
    changed = z.copy()
    changed.iloc[test] = -7.0
    settings = {**FEW, "folds": folds_of(), "standard_errors": 0.0}
    before, after = (compare(x, y, table, **settings).table for table in (z, changed))
    same = {model: before[(before.fold == 0) & (before.model == model)].score.item() for model in MODELS}
    now = {model: after[(after.fold == 0) & (after.model == model)].score.item() for model in MODELS}
    # In the fold that holds these rows out, only the model that sees z at prediction can notice.
    assert {model for model in MODELS if same[model] != now[model]} == {"z known at prediction"}
    assert set(train).isdisjoint(test)
    # There was something to leak: the students of that fold had teachers.
    assert (before[(before.fold == 0) & (before.model == "student")].chosen != "plain").all()


def test_the_number_of_jobs_changes_nothing():
    x, z, y = rows()
    assert compare(x, y, z, n_jobs=2, **FEW).table.equals(compare(x, y, z, **FEW).table)


def test_a_learning_curve():
    from matplotlib import pyplot

    x, z, y = rows(240)
    found = compare(x, y, z, sizes=[60, 40], **FEW)
    assert found.summary.index.unique("size").tolist() == [40, 60, 120]
    table = found.table
    # Every size is judged on all held-out rows of the fold, and trained on as many rows as it says.
    assert (table.n_train == table["size"]).all()
    assert (table.n_test == 120).all()
    ax = found.plot()
    assert ax.get_xlabel() == "training rows"
    assert [t.get_text() for t in ax.get_legend().get_texts()] == ["plain XGBoost", *ROWS[1:]]
    # The largest size is the comparison without a curve.
    assert table[table["size"] == 120].reset_index(drop=True).equals(compare(x, y, z, **FEW).table)
    pyplot.close("all")


def test_the_picture_of_one_size():
    from matplotlib import pyplot

    x, z, y = rows()
    ax = compare(x, y, z, **FEW).plot()
    assert [t.get_text() for t in ax.get_yticklabels()] == ROWS[1:]
    assert ax.get_xlabel() == "log loss lower by, against plain XGBoost"
    pyplot.close("all")


def test_the_control_is_cross_fitted_whatever_the_student_is():
    x, z, y = rows()
    found = compare(x, y, z, **{**FEW, "teacher": "boosted", "crossfit": 0, "standard_errors": 0.0})
    chosen = found.table.groupby("model")["chosen"].unique()
    assert set(chosen["student"]) <= {"plain", "boosted in-sample 5"}
    assert set(chosen["self-distillation"]) <= {"plain", "boosted 5"}
    for crossfit, folds in ((0, [None]), (3, [3]), ((0, 2, 4), [None, 2, 4])):
        plain, *controls = without_privileged(candidates_of(PARAMS, "kbpib", "boosted", "privileged", crossfit, 5.0))
        assert plain == PLAIN
        assert [control.crossfit for control in controls] == folds
        # Whatever privileged features they saw, they see the student's; None is no in-sample then.
        assert {(control.teacher, control.sees, control.kl_weight) for control in controls} == {("boosted", None, 5.0)}
        assert all(control.crossfits(has_privileged=False) for control in controls)


def test_the_control_has_the_kinds_of_teachers_that_the_student_has():
    kinds = ["mixed", LinearRegression(), "boosted"]
    controls = without_privileged(candidates_of(PARAMS, ("kbpib", "jpib"), kinds, SEES, None, 5.0))
    # Of JPIB, whose teacher is boosted, too; and one of each is enough.
    assert [control.teacher for control in controls] == [None, *kinds]


def test_teacher_params_are_those_of_the_boosted_teacher_alone():
    x, z, y = rows()
    boosted = {**FEW, "teacher": "boosted", "teacher_sees": "all", "crossfit": 2}
    found = [compare(x, y, z, **boosted, teacher_params=params) for params in (None, {**PARAMS, "eta": 0.01})]
    gains = [item.table.set_index("model").groupby(level=0)["score"].mean() for item in found]
    assert gains[0]["best rival"] == gains[1]["best rival"]
    assert gains[0]["teacher"] != gains[1]["teacher"]


# --- the verdict --------------------------------------------------------------------------------------------


MUST_BEAT = ("plain XGBoost", "self-distillation", "shuffled", "best rival")


def interval(mean, half):
    return Interval(mean, half / 2, mean - half, mean + half)


def evidence(student=0.0, alone=0.0, rival=0.0, teacher=0.1, half=0.01, **more):
    """The results of models with these gains over plain XGBoost, and of a student that is as much better than them."""
    gains = {"plain XGBoost": 0.0, "student": student, "self-distillation": alone, "shuffled": 0.0}
    gains |= {"best rival": rival, "teacher": teacher}
    over = {other: interval(student - gains[other], half) for other in MUST_BEAT}
    known = {
        "means": {model: 0.8 + gain for model, gain in gains.items()},
        "gains": {model: interval(gain, half) for model, gain in gains.items()},
        "over": over,
        "critical": dict.fromkeys(over, 2.0),
        "better": dict.fromkeys(gains, "7 of 10"),
    }
    return Evidence(AUC, 0.9, **{**known, **more}, rival="forest", n_labelled=200)


@pytest.mark.parametrize(
    ("gains", "model", "words"),
    [
        (
            {"student": 0.05, "alone": 0.01},
            "student",
            "Deploy the student taught with privileged features: AUC 0.8500 against 0.8000 of plain XGBoost, a gain of "
            "0.0500 (90 % CI 0.0400 to 0.0600), in 7 of 10 folds.",
        ),
        # A teacher without z does as well.
        (
            {"student": 0.05, "alone": 0.05},
            "self-distillation",
            "Deploy the student taught without privileged features (self-distillation): AUC 0.8500",
        ),
        # The rival is better than both.
        ({"student": 0.05, "alone": 0.02, "rival": 0.06}, "best rival", "Deploy the best rival (forest): AUC 0.8600"),
        ({"teacher": 0.0}, "plain XGBoost", "Deploy plain XGBoost: no other model is shown to be better."),
        ({"student": -0.05, "teacher": 0.0}, "plain XGBoost", "with privileged features -0.0500 (90 % CI -0.0600 to"),
        # A tenth of the teacher's gain is 0.02: the student's cannot be as large.
        ({"student": 0.005, "teacher": 0.2}, "plain XGBoost", "Deploy plain XGBoost"),
        (
            {"student": 0.005, "teacher": 0.1},
            "undecided",
            "teacher is significantly better than plain XGBoost (AUC 0.90",
        ),
        ({"student": 0.009, "teacher": 0.0}, "undecided", "is not significantly better than plain XGBoost (AUC 0.8000"),
        # An interval that ends at 0 shows nothing, whosever it is.
        ({"student": 0.01}, "undecided", "Its gains that are not significant: plain XGBoost 0.0100 (90 % CI 0.0000 to"),
        ({"rival": 0.01, "student": 0.015}, "undecided", "Until then deploy plain XGBoost, since no model without"),
        (
            {"student": -0.02, "teacher": 0.01},
            "undecided",
            "the teacher is not significantly better than plain XGBoost",
        ),
        # Nor does a gain of half a standard error, which select does not choose.
        ({"student": 0.005, "teacher": 0.0, "half": 0.02}, "plain XGBoost", "Deploy plain XGBoost: no other model"),
        # A teacher that is better may have a student that is.
        ({"teacher": 0.001}, "undecided", "is not significantly better than plain XGBoost (AUC 0.8010 against 0.8000)"),
        ({"rival": 0.02, "student": 0.015, "teacher": 0.03}, "undecided", "Until then deploy the best rival (forest)."),
        ({"rival": 0.02, "student": 0.015, "teacher": 0.01}, "best rival", "Deploy the best rival (forest)"),
        # That of the control is better than its student as well.
        ({"alone": 0.02, "student": 0.015, "teacher": 0.03}, "self-distillation", "Deploy the student taught without"),
        ({"teacher": -0.001}, "plain XGBoost", "the teacher -0.0010 (90 % CI -0.0110 to 0.0090)"),
        # Nobody is shown to be better than plain XGBoost, but one may be.
        ({"rival": 0.009, "teacher": 0.0}, "undecided", "Until then deploy plain XGBoost, since no model without"),
        # Both students are better than plain XGBoost, and one may be better than the other.
        ({"student": 0.059, "alone": 0.05}, "undecided", "Until then deploy the student taught without privileged"),
    ],
)
def test_the_verdict(gains, model, words):
    found = evidence(**gains)
    assert found.recommendation == model
    assert words in found.sentence


def test_the_verdict_names_what_it_rests_on():
    result = evidence(student=0.05).sentence
    assert all(words in result for words in ("of plain XGBoost", "(self-distillation)", "(shuffled)", "(forest)"))
    # An undecided one, whatever is in doubt.
    result = evidence(student=0.059, alone=0.05).sentence
    assert "self-distillation) 0.0090 (90 % CI -0.0010 to 0.0190). If the gains stay as large and" in result
    assert "It is better than plain XGBoost in 7 of 10 folds." in result
    # Without a rival, as under constraints, there is none to beat.
    found = evidence(student=0.05, rival=0.06)
    without = {name: dict(getattr(found, name)) for name in ("gains", "over", "critical")}
    for known in without.values():
        known.pop("best rival", None)
    assert dataclasses.replace(found, **without).recommendation == "student"


@settings(max_examples=50, deadline=None)
@given(st.floats(0.0011, 0.0099), st.floats(0.0, 0.05))
def test_an_undecided_verdict_names_the_rows_that_would_decide(lead, alone):
    result = evidence(student=alone + lead, alone=alone)
    doubts = [other for other in MUST_BEAT if not result.is_shown(other)]
    words = result._needed(doubts)
    named = words.partition("about ")[2].split()[0].replace(",", "")
    assert len(named.rstrip("0")) <= 2  # no more digits than a measured spread is worth
    needed = float(named)
    # The standard error falls with the root of the rows: at that number all is shown, at 10 % less it is not.
    for rows, is_shown in ((needed, True), (0.9 * needed, False)):
        factor = np.sqrt(200 / rows)
        over = {other: gain._replace(error=gain.error * factor * 0.9999) for other, gain in result.over.items()}
        assert all(dataclasses.replace(result, over=over).is_shown(other) for other in doubts) is is_shown


def test_rows_that_are_out_of_reach_have_no_number():
    assert "more than 20,000 labelled rows would show" in evidence(student=0.0006, rival=-0.1).sentence
    assert "rows, about 20,000 labelled rows would show" in evidence(student=0.001, rival=-0.1).sentence
    # Nor has a student that is behind.
    assert "more rows cannot show it" in evidence(student=0.02, rival=0.009, alone=0.021, half=0.05).sentence


@pytest.mark.parametrize(("confidence", "maximised"), [(0.4, False), (0.8, True), (0.95, False)])
def test_evidence_is_an_interval_and_two_one_sided_tests(confidence, maximised):
    rng, found, way = np.random.default_rng(0), [], 1 if maximised else -1
    score = Score("auc" if maximised else "logloss", maximised)
    for _ in range(12):
        cells = [(size, repeat, fold) for size in (20, 80) for repeat in range(2) for fold in range(4)]
        scores = pd.DataFrame(rng.normal(0.5, 0.02, (len(cells), len(ROWS))), columns=ROWS)
        better = rng.uniform(0.02, 0.1)
        scores["student"] += way * better
        scores[["self-distillation", "shuffled"]] += way * better / 2
        index = pd.MultiIndex.from_tuples(cells, names=["size", "repeat", "fold"])
        scores["best rival"] -= way  # which is no obstacle
        table = scores.set_index(index).rename_axis("model", axis=1).stack().rename("score").reset_index()
        table["gain"] = way * (table["score"] - np.repeat(scores["plain XGBoost"].to_numpy(), len(ROWS)))
        table["chosen"] = "linear"
        result = Comparison(table, score, 0.25, confidence, 100)
        larger = scores[-8:]
        beyond = []
        for other in ("self-distillation", "shuffled"):
            difference = way * (larger["student"] - larger[other])
            error = np.sqrt(1 / 8 + 0.25) * difference.std(ddof=1)
            # Below one half a better mean is enough.
            beyond.append(t.sf(difference.mean() / error, 7) < min(1 - confidence, 0.5))
        gain = corrected_interval((way * (larger["student"] - larger["plain XGBoost"])).to_numpy(), 0.25, confidence)
        assert result.evidence == (gain.low > 0 and all(beyond))
        assert (
            result.difference("student", "plain XGBoost")
            == result.difference("student", "plain XGBoost", 80)
            == pytest.approx(gain)
        )
        smaller = (way * (scores["student"] - scores["plain XGBoost"]))[:8].to_numpy()
        assert result.difference("student", "plain XGBoost", 20) == pytest.approx(
            corrected_interval(smaller, 0.25, confidence)
        )
        assert result.summary.loc[(20, "student"), "score"] == pytest.approx(scores["student"][:8].mean())
        found.append(result.evidence)
        assert (result.recommendation == "student") == result.evidence
        share = (way * (larger["student"] - larger["plain XGBoost"]) > 0).mean()
        assert result.summary.loc[(80, "student"), "better"] == share
        if result.evidence:
            assert f"in {8 * share:.0f} of 8 folds" in result.verdict
        # Of equal scores none is better, however little.
        assert (result.summary["better"].xs("plain XGBoost", level="model") == 0).all()
        assert not np.signbit(result.difference("plain XGBoost", "plain XGBoost")).any()
    assert any(found)


def test_a_gain_that_never_varies_is_no_evidence():
    same = corrected_interval(np.full(3, 0.1), 0.5)
    # A tenth has no exact mean of three; that is no variation.
    assert same.error == 0
    found = evidence(student=0.05)
    for other in MUST_BEAT:
        doubtful = dataclasses.replace(found, over={**found.over, other: same})
        assert doubtful.recommendation != "student"
        assert doubtful.is_earned == (other == "best rival")
    # Nor is a rival whose gain never varies a model to fall back on.
    assert dataclasses.replace(found, gains={**found.gains, "best rival": same}).fallback == "plain XGBoost"


def test_a_gain_that_privileged_rows_of_others_give_as_well_is_not_deployed():
    found = evidence(student=0.02)
    equal = dataclasses.replace(found, over={**found.over, "shuffled": interval(0.001, 0.005)})
    assert equal.recommendation == "undecided"
    assert "(shuffled) 0.0010" in equal.sentence


def test_it_finds_a_gain_that_is_there_and_none_in_noise():
    x, z, y = wave_rows(1600)
    quick = {"num_boost_round": 12, "params": {**PARAMS, "eta": 0.6, "max_depth": 3}}
    settings = {**FEW, **quick, "teacher": "boosted", "standard_errors": 0.0, "confidence": 0.8}
    found = compare(x, y, z, **{**settings, "nfold": 6})
    assert found.evidence
    assert found.verdict.startswith("Deploy the student taught with privileged features: log loss")
    assert found.verdict in repr(found)
    assert found.difference("student", "plain XGBoost").mean == found.summary.gain.loc[1333, "student"]
    noise = compare(x, y, z[::-1].copy(), **settings)
    assert not noise.evidence
    assert noise.recommendation != "student"


# --- what it takes ------------------------------------------------------------------------------------------


def test_privileged_columns_inside_x_are_the_same():
    x, z, y = rows()
    inside = compare(x.join(z), y, privileged_features=list(z.columns), **FEW)
    assert inside.table.equals(compare(x, y, z, **FEW).table)


@pytest.mark.slow
def test_names_of_classes_weights_and_categories():
    x, z, y = rows()
    weight = np.random.default_rng(0).uniform(0.5, 2, len(y))
    numbers = compare(x, y, z, sample_weight=weight, **FEW)
    named = compare(x, y.map({0: "healthy", 1: "ill"}), z, sample_weight=weight, **FEW)
    # Classes by another name are the same classes.
    assert named.table.equals(numbers.table)
    # Weights count.
    assert not numbers.table.equals(compare(x, y, z, **FEW).table)
    coded = x.assign(kind=pd.Categorical(np.where(x.iloc[:, 0] > 0, "a", "b")))
    assert len(compare(coded, y, z, **FEW).table) == 2 * len(ROWS)


@pytest.mark.parametrize(
    ("y", "metric"),
    [
        (lambda q: q, "rmse"),
        (lambda q: pd.qcut(q, 3, labels=["low", "mid", "high"]), "mlogloss"),
        (lambda q: q > 0.5, "logloss"),
    ],
)
def test_the_objective_follows_from_y(y, metric):
    made = pi_xgb.datasets.make_privileged(160, n_features=4, n_privileged=2)
    settings = {**FEW, "params": {"max_depth": 2, "nthread": 1}}
    found = compare(made.x, y(made.q), made.z, **settings)
    assert found.metric == metric
    # A smaller loss is a gain, in every cell.
    scores = found.table.pivot(index="fold", columns="model", values="score")
    gains = found.table.pivot(index="fold", columns="model", values="gain")
    assert np.allclose(gains["z known at prediction"], scores["plain XGBoost"] - scores["z known at prediction"])


@pytest.mark.parametrize(
    ("y", "objective", "warns"),
    [
        ([-1, 0, 1], None, True),
        ([-1, 0, 1], "multi:softprob", True),
        (["-1", "a", "b"], None, True),
        ([-1, 0, 1], "reg:squarederror", False),
        ([-1, 0, 1, 2], None, False),  # which may as well be numbers
    ],
)
def test_the_mark_of_scikit_learn_for_no_label_is_pointed_out(y, objective, warns, recwarn):
    x, z, _ = rows()
    params = {"objective": objective, "num_class": 3} if objective == "multi:softprob" else {"objective": objective}
    with pytest.raises(ValueError, match="wrong"):
        compare(x, np.resize(y, len(x)), z, params={k: v for k, v in params.items() if v}, metric="wrong")
    assert any("-1 beside 2 others" in str(warning.message) for warning in recwarn) == warns


@pytest.mark.slow
def test_numbers_are_numbers_in_whatever_they_come():
    made = pi_xgb.datasets.make_privileged(160, n_features=4, n_privileged=2)
    settings = {**FEW, "params": {"max_depth": 2, "nthread": 1}, "nfold": 2}
    tenths = (made.q * 10).round().astype(int)
    found = compare(made.x, tenths, made.z, **settings)
    assert found.metric == "rmse"
    # The container of a number says nothing about it.
    for y in (tenths.astype(object), tenths.map(decimal.Decimal), tenths.tolist(), tenths.to_frame()):
        assert compare(made.x, y, made.z, **settings).table.equals(found.table)


def test_categories_may_have_any_letters():
    # XGBoost keeps one byte of each of these names, of which two are equal.
    x, z, y = rows()
    codes = np.random.default_rng(0).integers(0, 4, len(y))

    def table(names):
        found = compare(x.assign(kind=pd.Categorical.from_codes(codes, names)), (codes % 2).astype(int), z, **FEW)
        return found.table

    assert table(["丁", "一", "三", "七"]).equals(table(["a", "b", "c", "d"]))


def test_categories_that_are_numbers_are_classes():
    target = read_target(pd.Series([3, 5, 4] * 3).astype("category"))
    assert target.params == {"objective": "multi:softprob", "num_class": 3}
    assert target.values.tolist() == [0, 2, 1] * 3
    assert list(target.classes) == [3, 4, 5]
    # Unless the objective wants numbers.
    target = read_target(pd.Series([3, 5]).astype("category"), "reg:squarederror")
    assert target.values.tolist() == [3, 5]
    assert target.classes is None


@pytest.mark.slow
def test_one_size_needs_no_list():
    x, z, y = rows()
    found = compare(x, y, z, sizes=40, **FEW)
    assert found.table.equals(compare(x, y, z, sizes=[40], **FEW).table)
    with pytest.raises(ValueError, match=r"size.*40.*80.*7"):
        found.difference("student", "plain XGBoost", size=7)
    assert found.difference("student", "plain XGBoost", size=80) == found.difference("student", "plain XGBoost")


@pytest.mark.parametrize(
    ("wrong", "error", "message"),
    [
        ({"privileged": None}, ValueError, "needs privileged features"),
        ({"privileged": rows(100)[1]}, ValueError, "must describe the rows of X"),
        ({"privileged": rows()[0]}, ValueError, "privileged must have no columns of X"),
        ({"y": rows()[2].where(rows()[2] > 0)}, ValueError, "y has the same value in every labelled row, 1.0"),
        ({"y": np.full(160, np.nan)}, ValueError, "y has no row with a label"),
        ({"y": np.ones(160)}, ValueError, "y has the same value in every row, 1.0"),
        ({"y": np.zeros(160), "params": {"max_depth": 2}}, ValueError, "the same value in every row, 0.0"),
        ({"y": np.zeros(160, bool)}, ValueError, "the same value in every row, False"),
        ({"y": pd.Series(["ill"] * 160)}, ValueError, "the same value in every row, 'ill'"),
        ({"y": RARE, "params": {}, "nfold": 3}, ValueError, "class 'rare' has 1 rows for 3 folds"),
        ({"y": pd.Series([f"case {i}" for i in range(160)]), "params": {}}, ValueError, "has 1 rows for 2 folds"),
        (
            {"y": np.where(np.arange(160) == 7, np.inf, np.arange(160)), "params": {}},
            ValueError,
            "y must be finite .* got inf in row 7",
        ),
        ({"y": np.arange(320).reshape(160, 2), "params": {}}, ValueError, "y must be one column, got 2"),
        ({"y": rows()[2][:-1]}, ValueError, "y must .* each of the 160 rows of X, got 159"),
        ({"y": rows()[2][::-1]}, ValueError, "y and X have the same index in another order"),
        ({"sample_weight": pd.Series(np.ones(160))[::-1]}, ValueError, "sample_weight and X have the same index"),
        ({"sample_weight": -np.ones(160)}, ValueError, "sample_weight must be .* got -1 in row 0"),
        ({"sample_weight": np.full(160, np.nan)}, ValueError, "sample_weight must .* 160 missing"),
        ({"sample_weight": np.zeros(160)}, ValueError, "sample_weight must .* got 0 in every row"),
        ({"sample_weight": np.ones(7)}, ValueError, "sample_weight must .* the 160 rows of X, got 7"),
        ({"sample_weight": ["heavy"] * 160}, TypeError, "sample_weight must be .* got 'heavy' in row 0"),
        ({"X": rows()[0].assign(town="Rome")}, ValueError, r"X\['town'\]\.astype\('category'\)"),
        ({"privileged": rows()[1].assign(town="Rome")}, ValueError, r"privileged\['town'\]\.astype\('category'\)"),
        ({"sizes": 80}, ValueError, "sizes must be below the 80 training rows"),
        ({"sizes": "40"}, TypeError, "sizes must be a whole number, got '40'"),
        ({"folds": folds_of()[:1] * 2}, ValueError, "fold 1 holds out the same rows as fold 0"),
        ({"maximize": True}, ValueError, "maximize is read with custom_metric only"),
        ({"n_jobs": -2}, ValueError, "n_jobs must be at least 1, or -1 for all cores"),
        ({"y": pd.Series(list("abc") * 53 + ["a"])}, ValueError, r"y must have two classes.* 3"),
        (
            {"params": {"objective": "reg:squarederror"}, "y": pd.Series(["a", "b"] * 80)},
            TypeError,
            "y must be finite numbers .* got 'a' in row 0",
        ),
        ({"sizes": [80]}, ValueError, "sizes must be below the 80 training rows"),
        ({"sizes": [1]}, ValueError, "sizes must be at least 2, got 1"),
        ({"sizes": [2]}, ValueError, "every label is 0|has 1 rows for 2 folds"),
        ({"y": RARE.where(RARE.index != 1, "rare"), "params": {}}, ValueError, "class 'rare' has 1 rows for 2 folds"),
        ({"params": {"objective": "multi:unknown"}}, ValueError, "objective"),
        ({"sizes": [3]}, ValueError, r"2 folds|crossfit.*at most"),
        ({"confidence": 1.0}, ValueError, "confidence must lie"),
        ({"inner_nfold": 1}, ValueError, r"inner_nfold.*least 2"),
        ({"crossfit": 41}, ValueError, "of an inner fold"),
        ({"metric": "r2_score"}, ValueError, "metric must be one of"),
        # The control has the same kind of teacher, which cannot predict from X.
        (
            {"teacher": KNOWS_Z, "teacher_sees": "privileged", "crossfit": 0},
            ValueError,
            "the 2 columns that it was fitted on, it would see 4",
        ),
    ],
)
def test_wrong_input(monkeypatch, wrong, error, message):
    monkeypatch.setattr(xgb, "train", lambda *args, **kwargs: pytest.fail("trained before the error"))
    x, z, y = rows()
    with pytest.raises(error, match=message):
        compare(**{"X": x, "y": y, "privileged": z, **FEW, **wrong})


def test_a_model_that_is_none():
    x, z, y = rows()
    with pytest.raises(ValueError, match=r"model.*'plain XGBoost'.*'z known at prediction'"):
        compare(x, y, z, **FEW).difference("student", "tutor")
