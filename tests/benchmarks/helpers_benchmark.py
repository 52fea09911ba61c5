"""Folds of made data with few rounds, and the paper's computation in the package's public functions."""

from __future__ import annotations

import dataclasses

import numpy as np
import pandas as pd

import pi_xgb
from benchmarks import FOLDER
from benchmarks.data import made_set
from benchmarks.modes import MODES
from benchmarks.modes.fold_work import FoldWork
from benchmarks.modes.paper import EARLY_STOPPING_ROUNDS, NUM_BOOST_ROUND, paper_fold

REAL = dict(MODES)
SMALL = {mode.name: dataclasses.replace(mode, rounds=12, early_stopping_rounds=4) for mode in REAL.values()}


def use_few_rounds(monkeypatch):
    for name, mode in SMALL.items():
        monkeypatch.setitem(MODES, name, mode)


def fold_work(mode="current", dataset=None, fold=0):
    dataset = made_set() if dataset is None else dataset
    return FoldWork(dataset, dataset.folds()[fold], SMALL[mode])


def auc_of_one_fold(prepared, params, method, fold):
    """The paper's computation, written with the package's public functions alone."""
    data = paper_fold(prepared, fold)
    alphas = pd.read_csv(FOLDER / "reference" / "alphas.csv")
    alpha = alphas[(alphas.dataset == prepared.name) & (alphas.method == method)].alpha
    history = {}
    booster = pi_xgb.train(
        params,
        data.train,
        NUM_BOOST_ROUND,
        privileged=data.train_privileged,
        method="jpib" if method == "JPIB" else "kbpib",
        kl_weight=0.0 if method == "NF" else alpha.item(),
        teacher_weight=np.ones(data.train.num_row()),  # the paper teaches rows without privileged values as well
        privileged_evals=None if method == "JPIB" else [(data.valid_privileged, "valid")],
        evals=[(data.valid, "valid")],
        early_stopping_rounds=EARLY_STOPPING_ROUNDS,
        evals_result=history,
        verbose_eval=False,
    )
    best = booster[: booster.best_iteration + 1]
    return float(best.eval(data.test).split(":")[-1])
