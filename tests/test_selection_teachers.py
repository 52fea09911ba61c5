"""select and compare with several kinds of teachers, estimators, and teachers that see no privileged features."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
import xgboost as xgb
from helpers_selection import COMPARED, PARAMS, ROUNDS
from sklearn.linear_model import LogisticRegression

import pi_xgb
from pi_xgb._core.config import TeacherConfig
from pi_xgb._selection import search
from pi_xgb._selection.candidates import candidates_of
from pi_xgb._selection.problem import Recipe
from pi_xgb._selection.scores import Score
from pi_xgb._selection.shared_folds import shared_folds
from pi_xgb._selection.splits import splits_of

pytestmark = pytest.mark.filterwarnings("ignore:the teacher of:UserWarning")
N = 120
MADE = pi_xgb.datasets.make_privileged(N, n_features=3, n_privileged=2, seed=0)
FOLDS = [(np.arange(N)[np.arange(N) % 2 == i], np.arange(N)[np.arange(N) % 2 != i]) for i in range(2)]
FEW = {"kl_weight": 5.0, "folds": FOLDS, "standard_errors": 0.0, "progress": False}
KINDS = {"kinds": ["boosted", "mixed"], "estimator": LogisticRegression(), "both": ["linear", LogisticRegression()]}


def matrices(rows=slice(None)):
    label = MADE.y.to_numpy()[rows]
    return xgb.DMatrix(MADE.x.iloc[rows], label), xgb.DMatrix(MADE.z.iloc[rows], label)


def kinds_of(teacher):
    return teacher if isinstance(teacher, list) else [teacher]


@pytest.mark.parametrize("has_privileged", [True, False])
@pytest.mark.parametrize("teacher", KINDS.values(), ids=KINDS)
def test_each_kind_of_teacher_is_tried_as_train_would_train_it(teacher, has_privileged):
    dtrain, privileged = matrices()
    shown = {"privileged": privileged} if has_privileged else {}
    found = pi_xgb.select(PARAMS, dtrain, ROUNDS, teacher=teacher, **shown, **FEW)
    assert len(found.summary) == 1 + len(kinds_of(teacher))
    for name, kind in zip(found.curves.columns[1:], kinds_of(teacher), strict=True):
        losses = []
        for rest, out in FOLDS:
            part, part_privileged = matrices(rest)
            keywords = {"privileged": part_privileged} if has_privileged else {}
            student = pi_xgb.train(PARAMS, part, ROUNDS, teacher=kind, kl_weight=5.0, **keywords)
            losses.append(float(student.eval(matrices(out)[0]).split(":")[-1]))
        assert found.curves[name].iloc[-1] == pytest.approx(np.mean(losses), abs=2e-6)
    # The choice is made of keywords of train, and is what the selection trains, but for the rounds of the teacher.
    assert found.train(dtrain, **shown).num_boosted_rounds() == found.choice["num_boost_round"]
    assert pi_xgb.train(PARAMS, dtrain, **shown, **found.choice).num_boosted_rounds() == found.choice["num_boost_round"]


@pytest.mark.parametrize("teacher", KINDS.values(), ids=KINDS)
def test_each_kind_of_teacher_is_compared(teacher):
    how = {**COMPARED, "folds": FOLDS, "standard_errors": 0.0, "crossfit": 2, "teacher": teacher}
    found = pi_xgb.compare(MADE.x, MADE.y, MADE.z, **how)
    assert np.isfinite(found.table.score).all()
    chosen = set(found.table[found.table.model.isin(["student", "self-distillation"])].chosen)
    names = [kind if isinstance(kind, str) else type(kind).__name__ for kind in kinds_of(teacher)]
    assert chosen <= {"plain", *(f"{name} (2 folds) 5" for name in names)}


def test_teachers_in_shared_folds_are_those_of_folds_of_their_own():
    dtrain, privileged = matrices()
    problem = Recipe(PARAMS, ROUNDS, None).problem(dtrain, TeacherConfig(privileged), "select", sees_all=True)
    splits = splits_of(MADE.y.to_numpy(), 4, 1, None, 0, classes=True)
    _, *candidates, _ = candidates_of(PARAMS, "kbpib", ["boosted", "mixed"], ["privileged", "all"], 4, 5.0)
    assert [item.way for item in candidates] == [
        "boosted on privileged features (4 folds)",
        "boosted on all features (4 folds)",
        "mixed on privileged features (4 folds)",
    ]
    parts = [
        part.take(split.train, split.test) for part, split in zip(shared_folds(problem, splits), splits, strict=True)
    ]
    for part in parts:
        alone = dataclasses.replace(part, folds=dataclasses.replace(part.folds, _models={}))
        for candidate in candidates:
            # Whoever trained a model first: the other fold, or the booster of another kind on the same features.
            item, other = part.teacher_of(candidate), alone.teacher_of(candidate)
            np.testing.assert_array_equal(item.values, other.values)
            seen = part.both if candidate.sees == "all" else part.config.privileged
            np.testing.assert_array_equal(item.predict(seen), other.predict(seen))
            assert len(alone.folds._models) == 3 * len(item.members)
            alone.folds._models.clear()
    # Two boosters, a forest and a linear model for each pair of folds.
    assert len(parts[0].folds._models) == 4 * 6


def test_a_teacher_on_all_features_is_judged_on_all_features():
    dtrain, privileged = matrices()
    problem = Recipe(PARAMS, ROUNDS, None).problem(dtrain, TeacherConfig(privileged), "select", sees_all=True)
    rest, out = FOLDS[0]
    _, candidate = candidates_of(PARAMS, "kbpib", "mixed", None, None, 5.0)
    part, score = problem.take(rest, out), Score("logloss", maximised=False)
    teacher = part.teacher_of(candidate)
    q = teacher.predict(problem.both.slice(out))
    y = MADE.y.to_numpy()[out]
    expected = -np.mean(np.where(y == 1, np.log(q), np.log(1 - q)))
    found = search.fold_curves(
        problem,
        splits_of(MADE.y.to_numpy(), 2, 1, FOLDS, 0, classes=True)[0],
        [candidates_of(PARAMS, "kbpib", "mixed", None, None, 5.0)[0], candidate],
        score,
    )
    assert found.teachers[1] == pytest.approx(expected, abs=1e-6)


def test_estimators_of_one_class_cannot_be_told_apart():
    both = [LogisticRegression(C=0.1), LogisticRegression(C=10.0)]
    with pytest.raises(ValueError, match=r"teacher.*two of LogisticRegression"):
        pi_xgb.select(PARAMS, matrices()[0], ROUNDS, teacher=both, **FEW)


@pytest.mark.parametrize("teacher", ["boosted", "mixed"])
def test_crossfit_groups_are_needed_by_cross_fitted_teachers_alone(teacher):
    dtrain, privileged = matrices()
    groups = np.arange(N) // 2
    how = {"kl_weight": 5.0, "nfold": 2, "standard_errors": 0.0, "progress": False, "groups": groups}

    def spread(predictions, matrix):
        return "spread", -float(predictions.std())

    for standard_errors, candidate in ((0.0, f"{teacher} 5"), (1e9, "plain")):
        more = {**how, "standard_errors": standard_errors, "custom_metric": spread, "maximize": True}
        found = pi_xgb.select(PARAMS, dtrain, ROUNDS, privileged=privileged, teacher=teacher, **more)
        assert found.candidate == candidate
        if candidate == "mixed 5":
            with pytest.raises(ValueError, match=r"^crossfit_groups must be passed"):
                found.train(dtrain, privileged=privileged)
        else:
            found.train(dtrain, privileged=privileged)
