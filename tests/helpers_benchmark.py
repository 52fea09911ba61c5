"""The runner of the benchmarks on made data, with few rounds and in this process."""

from __future__ import annotations

import dataclasses

import pandas as pd

from benchmarks import cells
from benchmarks import run as runner
from benchmarks.cells import MADE, made_set
from benchmarks.fold_work import MODES, FoldWork
from benchmarks.methods import METHODS, Method

REAL = dict(MODES)
SMALL = {mode.name: dataclasses.replace(mode, rounds=12, early_stopping_rounds=4) for mode in REAL.values()}


def use_few_rounds(monkeypatch):
    for name, mode in SMALL.items():
        monkeypatch.setitem(cells.MODES, name, mode)


def fold_work(mode="current", dataset=None, fold=0):
    dataset = made_set() if dataset is None else dataset
    return FoldWork(dataset, dataset.folds()[fold], SMALL[mode])


def run_here(out, methods, folds=(0, 1), mode="current", datasets=(MADE,), **options):
    return runner.run(list(datasets), list(methods), mode, list(folds), out, jobs=0, **options)


def measured(out, measure, **where):
    """The values of a measure, fold by fold."""
    table = pd.read_csv(out)
    for column, value in {**where, "measure": measure}.items():
        table = table[table[column] == value]
    return table.sort_values("fold")["value"].to_numpy()


def with_method(monkeypatch, name, function, **record):
    monkeypatch.setitem(METHODS, name, Method(name, function, "for a test", **record))
