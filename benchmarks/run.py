"""Every method on the paper's public sets, on the paper's ten folds.

    python -m benchmarks.run --jobs 2                                        today's XGBoost
    python -m benchmarks.run --tables paper --only dataset=heart,car        the authors' settings to the letter
    python -m benchmarks.run --only dataset=heart --only method=KbPIB,JPIB
    python -m benchmarks.run --smoke

A cell is one method on all folds of a set, since its threshold is chosen on the validation rows of all of them.
``seconds`` is the wall time of a fold.
"""

from __future__ import annotations

import importlib.metadata
import os
import platform
import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.metrics import log_loss, roc_auc_score

import pi_xgb
from benchmarks.cells import Cell, Line, Table, main, usable_cores
from benchmarks.data import DATASETS, MADE, PreparedSet, load
from benchmarks.methods import METHODS, Refused
from benchmarks.modes import MODES
from benchmarks.modes.fold_work import FoldWork, Scores
from pi_xgb import metrics

Values = npt.NDArray[Any]
SMALLEST = 1e-15
SMOKE_FOLDS = 2
SMOKE_METHODS = ("NF", "KbPIB", "JPIB", "All", "KbPIB chosen", "shuffled q", "MFC c=0")


@dataclass(frozen=True)
class Predictions:
    """The scores of a fold with the labels and groups that they are measured against.

    ``groups`` holds 0 and 1 per test row for each protected column.
    """

    valid_label: Values
    valid_score: Values
    test_label: Values
    test_score: Values
    groups: Mapping[str, Values]


def predictions_of(work: FoldWork, scores: Scores) -> Predictions:
    """The scores of a fold beside its labels and groups."""
    test, data = work.part("test"), work.dataset
    names = [str(data.X.columns[i]) for i in data.privileged] if data.protected else []
    groups = {name: group[test] for name, group in zip(names, data.protected, strict=True)}
    return Predictions(work.labels("valid"), scores.valid, work.labels("test"), scores.test, groups)


def fold_measures(predictions: Predictions, scores: Scores) -> dict[str, float]:
    """What one fold tells by itself."""
    found: dict[str, float] = {}
    if scores.kl_weight is not None:
        found["kl_weight"] = scores.kl_weight
    if scores.trees is not None:
        found["trees"] = scores.trees
    if scores.probabilities:
        score = np.clip(predictions.test_score.astype(float), SMALLEST, 1 - SMALLEST)
        found["logloss"] = float(log_loss(predictions.test_label, score))
    found["valid_auc"] = float(roc_auc_score(predictions.valid_label, predictions.valid_score))
    found["auc"] = float(roc_auc_score(predictions.test_label, predictions.test_score))
    return found


def paper_threshold(folds: Sequence[Predictions]) -> float:
    """Of .001 to .999 the threshold with the highest F1 averaged over the folds' validation rows."""
    return metrics.choose_threshold(
        np.concatenate([fold.valid_label for fold in folds]),
        np.concatenate([fold.valid_score for fold in folds]),
        rule="f1",
        grid="paper",
        folds=np.repeat(np.arange(len(folds)), [len(fold.valid_label) for fold in folds]),
    )


def threshold_measures(fold: Predictions, threshold: float) -> dict[str, float]:
    """What a threshold tells on the test rows of a fold, and the groups' ROC curves."""
    label, score = fold.test_label.astype(int), fold.test_score
    decision = (score > score.dtype.type(threshold)).astype(int)
    found = {
        "precision": defined(metrics.precision, label, decision),
        "recall": defined(metrics.recall, label, decision),
    }
    for name, group in fold.groups.items():
        found[f"eo:{name}"] = defined(metrics.equalized_odds, label, decision, sensitive_features=group)
        found[f"sp:{name}"] = defined(metrics.statistical_parity, label, decision, sensitive_features=group)
        found[f"abroca:{name}"] = defined(metrics.abroca, label, score, sensitive_features=group)
    return {**found, "threshold": threshold}


def defined(metric: Callable[..., float], label: Values, answer: Values, **groups: Values) -> float:
    """The metric, NaN where it does not exist: a group that is not there, or has no such label."""
    if groups and len(np.unique(groups["sensitive_features"])) < 2:
        return float("nan")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", metrics.UndefinedRateWarning)  # NaN says it
        return float(metric(label, answer, **groups))


@lru_cache
def versions(library: str) -> str:
    """Short, for a column of the results."""
    found = [f"{name} {importlib.metadata.version(name)}" for name in ("xgboost", "numpy", library) if name]
    return " ".join([f"pi-xgb {pi_xgb.__version__}", *found, f"python {platform.python_version()}"])


@lru_cache(maxsize=1)
def loaded(name: str) -> PreparedSet:
    """Cells come set by set."""
    return load(name)


def measure(dataset: str, method: str, mode: str, small: bool = False) -> Iterator[Line]:
    """A line for each fold and measure; one that says why, where the method does not take the set."""
    record, data, seed = METHODS[method], loaded(dataset), MODES[mode].seed
    folds, found, machine = [], [], f"{os.cpu_count()} cores {platform.machine()}"
    for fold in data.folds()[: SMOKE_FOLDS if small else None]:
        started = time.perf_counter()
        work = FoldWork(data, fold, MODES[mode], usable_cores())
        shared = {"fold": fold.number, "machine": machine, "versions": versions(record.library), "seed": seed}
        try:
            scores = record.run(work)
        except Refused as refused:
            seconds = round(time.perf_counter() - started, 3)
            yield {**shared, "measure": "refused", "value": None, "seconds": seconds, "note": str(refused)}
            continue
        if not (np.isfinite(scores.valid).all() and np.isfinite(scores.test).all()):
            raise ValueError(f"expected finite scores, got others on fold {fold.number}")
        predictions = predictions_of(work, scores)
        shared["seconds"] = round(time.perf_counter() - started, 3)
        folds.append(predictions)
        found.append(shared)
        if scores.note:
            yield {**shared, "measure": "note", "value": None, "note": " ".join(scores.note.split())}
        for name, value in fold_measures(predictions, scores).items():
            yield {**shared, "measure": name, "value": value, "note": ""}
    threshold = paper_threshold(folds) if folds else None
    for shared, predictions in zip(found, folds, strict=True):
        for name, value in threshold_measures(predictions, threshold).items():
            yield {**shared, "measure": name, "value": value, "seconds": 0.0, "note": ""}


def cells(mode: str) -> list[Cell]:
    """Cheap methods first on all sets, small sets before large ones; in paper mode the boosted methods."""
    methods = [name for name, method in METHODS.items() if mode in method.modes and (mode != "paper" or method.boosted)]
    ordered = sorted(
        (METHODS[method].cost, DATASETS[name].rows, name, method) for name in DATASETS for method in methods
    )
    return [(name, method, mode) for _, _, name, method in ordered]


KEY = ("dataset", "method", "mode")
TABLES = [
    Table("paper", KEY, lambda: cells("paper"), measure, [(MADE, name, "paper") for name in SMOKE_METHODS[:4]], False),
    Table("current", KEY, lambda: cells("current"), measure, [(MADE, name, "current") for name in SMOKE_METHODS]),
]


def smoke_text(folder: Any, figures: Any) -> str:
    from benchmarks.cells import read

    found = read("current", folder)
    return found.pivot_table(index="method", columns="measure", values="value").round(3).to_string()


if __name__ == "__main__":
    main("run", __doc__, TABLES, smoke_text)
