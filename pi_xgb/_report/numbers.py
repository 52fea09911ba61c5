"""The numbers of a report: performance, differences between groups and between models, importances."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from .._importance.fair_importance import fair_importance
from .._rows.groups import everyone
from .._stats.bootstrap import interval, resamples
from ..metrics import disparity_report, group_report
from ..metrics._disparities import GAPS, gap
from ..metrics._disparity_report import DISPARITIES
from ..metrics._scored import MEASURES, ScoredGroups
from .models import JudgedModel, JudgedRows

Values = NDArray[np.float64]

PERFORMANCE = ("auc", "log_loss", "accuracy", "brier")
COMPARED = (*PERFORMANCE, *GAPS)
FLOOR = 1e-16
"""Least probability in the log loss, as in XGBoost's own."""


@dataclass(frozen=True)
class Resampling:
    """How intervals are made."""

    n_boot: int
    confidence: float
    random_state: Any


@dataclass(frozen=True)
class Numbers:
    """All tables. Columns of the first three come as ``name``, ``name_low`` and ``name_high``; rows are models.

    ``differences`` compares every model but the first with the first, on the same resamples.
    """

    performance: pd.DataFrame
    differences: pd.DataFrame | None
    disparities: pd.DataFrame
    groups: dict[str, pd.DataFrame]
    importances: dict[str, pd.DataFrame]


def compute(models: Sequence[JudgedModel], rows: JudgedRows, how: Resampling, importance_metric: Any) -> Numbers:
    """Everything that the page shows as a number."""
    measured = [_measured(model, rows, how) for model in models]
    names = pd.Index([model.name for model in models])
    return Numbers(
        performance=_table(measured, names, how)[_with_ends(PERFORMANCE, how)],
        differences=_differences(measured, names, how) if len(models) > 1 else None,
        disparities=pd.concat([_disparities(model, rows, how) for model in models]).set_axis(names),
        groups={model.name: _groups(model, rows, how) for model in models},
        importances={model.name: _importance(model, rows, importance_metric) for model in models},
    )


def _measured(model: JudgedModel, rows: JudgedRows, how: Resampling) -> Values:
    """All of ``COMPARED``, first on the rows themselves and then on each resample, ``(1 + n_boot, m)``."""
    labels, selected = rows.labels, model.scores > model.threshold
    every = ScoredGroups(labels, model.scores, selected, rows.weights, everyone(labels.size))
    grouped = ScoredGroups(labels, model.scores, selected, rows.weights, rows.groups)
    weight = np.ones(labels.size) if rows.weights is None else rows.weights
    losses = weight[:, None] * np.stack([log_losses(labels, model.scores), squares(labels, model.scores)], axis=1)

    def values(multiplicity: Values) -> Values:
        whole = dict(zip(MEASURES, every.measures(multiplicity)[:, 0].T, strict=True))
        total = (multiplicity @ weight)[:, None]
        lost = np.divide(multiplicity @ losses, total, out=np.full((len(total), 2), np.nan), where=total > 0)
        found = {"auc": whole["auc"], "accuracy": whole["accuracy"], "log_loss": lost[:, 0], "brier": lost[:, 1]}
        cells = grouped.cells(multiplicity)
        gaps = {name: gap(cells, name, "between_groups", "nan") for name in GAPS}
        return np.stack([(found | gaps)[name] for name in COMPARED], axis=1)

    once = np.ones((1, labels.size))
    again = [values(multiplicity) for multiplicity in resamples(labels.size, how.n_boot, how.random_state)]
    return np.concatenate([values(once), *again])


def log_losses(labels: NDArray[np.bool_], scores: NDArray[Any]) -> Values:
    """The logarithmic loss of each row."""
    chance = np.where(labels, scores, 1 - scores.astype(np.float64))
    return -np.log(np.maximum(chance, FLOOR))


def squares(labels: NDArray[np.bool_], scores: NDArray[Any]) -> Values:
    """The squared error of each row's probability, whose mean is the Brier score."""
    return np.square(scores.astype(np.float64) - labels)


def _table(measured: list[Values], names: pd.Index, how: Resampling) -> pd.DataFrame:
    parts = {"": np.stack([values[0] for values in measured])}
    if how.n_boot:
        ends = np.stack([interval(values[1:], how.confidence) for values in measured])
        parts |= {"_low": ends[:, 0], "_high": ends[:, 1]}
    return pd.DataFrame(
        {name + end: part[:, j] for j, name in enumerate(COMPARED) for end, part in parts.items()}, index=names
    )


def _with_ends(names: Sequence[str], how: Resampling) -> list[str]:
    ends = ("", "_low", "_high") if how.n_boot else ("",)
    return [name + end for name in names for end in ends]


def _differences(measured: list[Values], names: pd.Index, how: Resampling) -> pd.DataFrame:
    return _table([values - measured[0] for values in measured[1:]], names[1:], how)


def _disparities(model: JudgedModel, rows: JudgedRows, how: Resampling) -> pd.DataFrame:
    report = disparity_report(
        rows.labels,
        model.scores,
        sensitive_features=rows.sensitive,
        threshold=model.threshold,
        sample_weight=rows.weights,
        n_boot=how.n_boot,
        confidence=how.confidence,
        random_state=how.random_state,
    )
    ends = {"": "value", "_low": "low", "_high": "high"} if how.n_boot else {"": "value"}
    return pd.DataFrame({name + end: [report.loc[name, of]] for name in DISPARITIES for end, of in ends.items()})


def _groups(model: JudgedModel, rows: JudgedRows, how: Resampling) -> pd.DataFrame:
    return group_report(
        rows.labels,
        model.scores,
        sensitive_features=rows.sensitive,
        threshold=model.threshold,
        sample_weight=rows.weights,
        n_boot=how.n_boot,
        confidence=how.confidence,
        random_state=how.random_state,
    )


def _importance(model: JudgedModel, rows: JudgedRows, metric: Any) -> pd.DataFrame:
    return fair_importance(
        model.model,
        model.features,
        rows.labels.astype(float) if model.booster is not None else _as_the_model_says(model, rows),
        sensitive_features=rows.sensitive,
        metric=metric,
        sample_weight=rows.weights,
    )


def _as_the_model_says(model: JudgedModel, rows: JudgedRows) -> NDArray[Any]:
    """Labels as the classes of a scikit-learn model, since a surrogate is told those."""
    classes = getattr(model.model, "classes_", None)
    codes = rows.labels.astype(int)
    return codes if classes is None else np.asarray(classes)[codes]
