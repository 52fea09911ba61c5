"""select and compare with several kinds of teachers, estimators, and teachers that see no privileged features."""

from __future__ import annotations

import numpy as np
import pytest
import xgboost as xgb
from helpers_selection import PARAMS, ROUNDS
from sklearn.linear_model import LogisticRegression

import pi_xgb

pytestmark = pytest.mark.filterwarnings("ignore:the teacher of:UserWarning")
N = 80
MADE = pi_xgb.datasets.make_privileged(N, n_features=3, n_privileged=2, seed=0)
FOLDS = [(np.arange(N)[np.arange(N) % 2 == i], np.arange(N)[np.arange(N) % 2 != i]) for i in range(2)]
FEW = {"kl_weight": 5.0, "folds": FOLDS, "standard_errors": 0.0, "progress": False}
KINDS = {"kinds": ["boosted", "mixed"], "both": ["linear", LogisticRegression()]}


def matrices(rows=slice(None)):
    label = MADE.y.to_numpy()[rows]
    return xgb.DMatrix(MADE.x.iloc[rows], label), xgb.DMatrix(MADE.z.iloc[rows], label)


def kinds_of(teacher):
    return teacher if isinstance(teacher, list) else [teacher]


@pytest.mark.parametrize("has_privileged", [True, False])
@pytest.mark.parametrize("teacher", KINDS.values(), ids=KINDS)
@pytest.mark.slow
def test_each_kind_of_teacher_is_tried_as_train_would_train_it(teacher, has_privileged):
    dtrain, privileged = matrices()
    shown = {"privileged": privileged} if has_privileged else {}
    found = pi_xgb.select(PARAMS, dtrain, ROUNDS, teacher=teacher, **shown, **FEW)
    own = len(kinds_of(teacher))
    assert len(found.summary) == 1 + own + (has_privileged and isinstance(kinds_of(teacher)[0], str))
    for name, kind in zip(found.curves.columns[1 : own + 1], kinds_of(teacher), strict=True):
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


def test_estimators_of_one_class_cannot_be_told_apart():
    both = [LogisticRegression(C=0.1), LogisticRegression(C=10.0)]
    with pytest.raises(ValueError, match=r"teacher.*two of LogisticRegression"):
        pi_xgb.select(PARAMS, matrices()[0], ROUNDS, teacher=both, **FEW)
