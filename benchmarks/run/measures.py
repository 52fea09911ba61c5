"""What is measured: on each fold by itself, and, once all folds are there, at the threshold that they chose."""

from __future__ import annotations

import io
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.metrics import log_loss, roc_auc_score

from benchmarks.data.store import write_whole
from benchmarks.modes.fold_work import FoldWork, Scores
from benchmarks.run.results_file import Cell
from pi_xgb import metrics

Values = npt.NDArray[Any]
SMALLEST = 1e-15


@dataclass(frozen=True)
class Predictions:
    """The scores of a cell with the labels and groups they are measured against: what finishing needs.

    ``groups`` holds 0 and 1 per test row for each protected column.
    """

    valid_label: Values
    valid_score: Values
    test_label: Values
    test_score: Values
    groups: Mapping[str, Values]

    def save(self, path: Path) -> None:
        """Write so that a reader sees the whole file or none."""
        file = io.BytesIO()
        np.savez_compressed(
            file,
            valid_label=self.valid_label.astype(np.int8),
            valid_score=self.valid_score,
            test_label=self.test_label.astype(np.int8),
            test_score=self.test_score,
            **{f"group:{name}": group.astype(np.int8) for name, group in self.groups.items()},
        )
        write_whole(path, file.getvalue())

    @classmethod
    def load(cls, path: Path) -> Predictions:
        """Read what `save` wrote. ValueError if the file is not there, or not whole."""
        try:
            with path.open("rb") as file, np.load(file) as saved:
                groups = {name.removeprefix("group:"): saved[name] for name in saved.files if name.startswith("group:")}
                names = ("valid_label", "valid_score", "test_label", "test_score")
                return cls(*(saved[name] for name in names), groups)
        except Exception as error:  # numpy, zip and zlib each have errors of their own, and unsafe advice
            raise ValueError(
                f"expected predictions in {path.name}, got a file that cannot be read ({type(error).__name__}): "
                "the same command makes it again"
            ) from error


def predictions_of(work: FoldWork, scores: Scores) -> Predictions:
    """The scores of a fold beside its labels and groups."""
    test = work.part("test")
    data = work.dataset
    names = [str(data.X.columns[i]) for i in data.privileged] if data.protected else []
    groups = {name: group[test] for name, group in zip(names, data.protected, strict=True)}
    return Predictions(work.labels("valid"), scores.valid, work.labels("test"), scores.test, groups)


def predictions_path(out: Path, cell: Cell) -> Path:
    """Where the predictions of a cell are kept, beside the CSV."""
    method = "".join(c if c.isalnum() else {"+": "plus"}.get(c, "_") for c in cell.method)
    return out.with_name(f"{out.name}.predictions") / cell.dataset / f"{method}-{cell.mode}-{cell.fold}.npz"


def fold_measures(predictions: Predictions, scores: Scores) -> dict[str, float]:
    """What one fold tells by itself; "auc" comes last."""
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


def paper_threshold(folds: list[Predictions]) -> float:
    """Of .001 to .999 the threshold with the highest F1 averaged over the folds' validation rows."""
    return metrics.choose_threshold(
        np.concatenate([fold.valid_label for fold in folds]),
        np.concatenate([fold.valid_score for fold in folds]),
        rule="f1",
        grid="paper",
        folds=np.repeat(np.arange(len(folds)), [len(fold.valid_label) for fold in folds]),
    )


def finishing_measures(fold: Predictions, threshold: float) -> dict[str, float]:
    """What a threshold tells on the test rows of a fold, and the groups' ROC curves; "threshold" comes last."""
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
