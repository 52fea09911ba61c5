"""Rows that belong together stay together: no group trains and judges in the same fold, outer or inner."""

from __future__ import annotations

import types

import numpy as np
import pandas as pd
import pytest
import xgboost as xgb
from sklearn.model_selection import GroupKFold

import pi_xgb
from pi_xgb.selection import compare, select

PARAMS = {"objective": "binary:logistic", "max_depth": 2, "nthread": 1}
FEW = {"kl_weight": 5.0, "teacher": "boosted", "method": "kbpib", "crossfit": 2, "progress": False}
SMALL = {**FEW, "params": PARAMS, "num_boost_round": 3, "nfold": 2, "repeats": 1}
HALVES = [(range(60), range(60, 120)), (range(60, 120), range(60))]


def rows(n=120):
    made = pi_xgb.datasets.make_privileged(n, n_features=3, n_privileged=2, seed=0)
    return made.x, made.z, made.y


def patients(n=120):
    return pd.Series([f"patient {i % 20}" for i in range(n)])


@pytest.mark.slow
def test_select_takes_groups_and_hands_them_to_a_splitter():
    x, z, y = rows()
    dtrain, privileged = xgb.DMatrix(x, y), xgb.DMatrix(z, y)
    groups = patients()
    pairs = list(GroupKFold(3).split(x, y, groups))
    # The groups of the folds are those of cross-fitted teachers too.
    by_pairs = select(PARAMS, dtrain, 3, privileged=privileged, folds=pairs, crossfit_groups=groups, **FEW)
    by_splitter = select(PARAMS, dtrain, 3, privileged=privileged, folds=GroupKFold(3), groups=groups, **FEW)
    assert by_splitter.table.equals(by_pairs.table)
    # A splitter without groups is called as before.
    half = types.SimpleNamespace(split=lambda X, y: HALVES)
    assert len(select(PARAMS, dtrain, 3, privileged=privileged, folds=half, **FEW).table) == 3 * 2
    own = select(PARAMS, dtrain, 3, privileged=privileged, nfold=3, groups=groups, **FEW)
    assert not own.table.equals(select(PARAMS, dtrain, 3, privileged=privileged, nfold=3, **FEW).table)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"groups": patients()[:7]}, "one value for each of the 120 rows, got 7"),
        ({"groups": patients().where(lambda g: g != "patient 3")}, "groups must .* 6 missing"),
        ({"groups": [[1, 2]] * 60}, "groups must have one column"),
        ({"groups": np.zeros(120)}, r"groups.*1 distinct.*2 folds"),
        ({"groups": np.arange(120) % 20, "nfold": 21}, r"groups.*20 distinct.*21 fold"),
        ({"groups": rows()[2]}, r"class 0.*two groups.*got one"),
        ({"groups": patients(), "folds": HALVES}, r"fold 0.*'?patient"),
        ({"groups": patients()[::-1]}, r"groups.*index.*order"),
        ({"folds": GroupKFold(2)}, "groups"),
        ({"groups": np.arange(120) % 2, "repeats": 2}, "repeats must be at most 1 for so few groups, got 2"),
    ],
)
def test_wrong_groups(monkeypatch, wrong, message):
    monkeypatch.setattr(xgb, "train", lambda *args, **kwargs: pytest.fail("trained before the error"))
    x, z, y = rows()
    with pytest.raises(ValueError, match=message):
        compare(x, y, z, **{**SMALL, **wrong})
