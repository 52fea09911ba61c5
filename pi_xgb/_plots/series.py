"""The numbers of the plots of tables: means over repeats, the best round of each kl_weight."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from .._stats.paired import Values, student


def as_table(table: Any, name: str = "table") -> pd.DataFrame:
    """Return the table; raise unless it is a DataFrame with rows."""
    if not isinstance(table, pd.DataFrame):
        raise TypeError(f"{name} must be a pandas.DataFrame, got {type(table).__name__}")
    if table.empty:
        raise ValueError(f"{name} must have rows, got none")
    return table


def check_columns(table: pd.DataFrame, needed: Sequence[str], hint: str) -> None:
    """Raise if columns of a plot are missing."""
    lacking = [name for name in needed if name not in table.columns]
    if lacking:
        raise ValueError(f"table lacks {', '.join(map(repr, lacking))}, got {list(table.columns)}: {hint}")


@dataclass(frozen=True)
class Measured:
    """One number per point, and its error below and above (NaN: unknown)."""

    value: Values
    below: Values
    above: Values


@dataclass(frozen=True)
class Line:
    """The points of one method, in the order of ``along``."""

    method: Any
    along: Values
    fairness: Measured
    performance: Measured


def frontier_lines(
    table: pd.DataFrame, fairness: str, performance: str, method: str, along: str, confidence: float
) -> list[Line]:
    """Return the methods of a table, in order of appearance; several rows of one point are repeats."""
    keys = table[along].to_numpy(dtype=float) if along in table.columns else np.full(len(table), np.nan)
    codes, names = pd.factorize(table[method], use_na_sentinel=False)
    lines = []
    for code, name in enumerate(names):
        own, place = table[codes == code], keys[codes == code]
        values = np.unique(place)  # one NaN at most, at the end
        points = [own[np.isnan(place) if np.isnan(value) else place == value] for value in values]
        both = (_measured(points, column, confidence) for column in (fairness, performance))
        lines.append(Line(name, values, *both))
    return lines


def _measured(points: Sequence[pd.DataFrame], column: str, confidence: float) -> Measured:
    return Measured(*np.array([_estimate(rows, column, confidence) for rows in points]).T)


def _estimate(rows: pd.DataFrame, column: str, confidence: float) -> tuple[float, float, float]:
    values = rows[column].to_numpy(dtype=float)
    if len(values) > 1:
        half = student(len(values) - 1, confidence) * values.std(ddof=1) / math.sqrt(len(values))
        return float(values.mean()), half, half
    low, high = (
        float(rows[f"{column}{end}"].iloc[0]) if f"{column}{end}" in rows.columns else math.nan
        for end in ("_low", "_high")
    )
    # The interval need not contain the estimate, and an error cannot be negative.
    return float(values[0]), max(values[0] - low, 0.0), max(high - values[0], 0.0)


@dataclass(frozen=True)
class WeightPath:
    """The best round of each kl_weight."""

    metric: str
    maximised: bool
    kl_weight: Values
    mean: Values
    half: Values

    @property
    def best(self) -> int:
        """The position of the best kl_weight; the smallest of several."""
        return int(np.argmax(self.mean) if self.maximised else np.argmin(self.mean))


def weight_path(
    table: pd.DataFrame, metric: str | None, maximize: bool | None, nfold: int | None, confidence: float
) -> WeightPath:
    """Return one point per kl_weight from the table of ``pi_xgb.cv``."""
    if "kl_weight" not in table.index.names:
        raise ValueError(
            f"table must have kl_weight in its index, got {list(table.index.names)}: "
            "pass the table of pi_xgb.cv for several values of kl_weight"
        )
    name = _metric(table, metric)
    mean, spread = f"test-{name}-mean", f"test-{name}-std"
    more_is_better = name != "mape" and name.startswith(("auc", "pre", "map", "ndcg"))  # XGBoost's rule
    maximised = more_is_better if maximize is None else bool(maximize)
    kl_weights = np.unique(table.index.get_level_values("kl_weight"))
    means, halves = [], []
    for kl_weight in kl_weights:
        rows = table[table.index.get_level_values("kl_weight") == kl_weight]
        values = rows[mean].to_numpy()
        best = int(np.nanargmax(values) if maximised else np.nanargmin(values))
        means.append(values[best])
        halves.append(float(rows[spread].iloc[best]) if spread in rows.columns else math.nan)
    half = np.array(halves)
    if nfold is not None:  # xgboost.cv divides by the number of folds, not by one less.
        half = student(nfold - 1, confidence) * half / math.sqrt(nfold - 1)
    return WeightPath(name, maximised, kl_weights, np.array(means), half)


def _metric(table: pd.DataFrame, metric: str | None) -> str:
    begin, end = "test-", "-mean"
    known = [c[len(begin) : -len(end)] for c in table.columns if str(c).startswith(begin) and str(c).endswith(end)]
    if metric is None and len(known) == 1:
        return known[0]
    if metric is None or metric not in known:
        raise ValueError(f"metric must be one of {known}, the metrics of the table, got {metric!r}")
    return metric
