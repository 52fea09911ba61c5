"""Checks of what a user gave to a constraint, one message each."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._arrays import Array
from .._xgb.collective import global_sum


def check_groups(n_groups: int, n_rows: int) -> None:
    """Several groups, and few enough to be groups."""
    if n_groups < 2:
        raise ValueError("sensitive_features has one group only: parity needs at least two groups to compare")
    if n_groups > max(2, n_rows // 2):
        raise ValueError(
            f"sensitive_features makes {n_groups} groups of {n_rows} rows, fewer than two rows per group: is it an "
            "identifier or a measurement? Cut measurements into bands first, for example with pandas.cut"
        )


def rows_of_all_workers(rows: Array) -> int:
    """How many rows all workers have together."""
    return int(global_sum(np.array([len(rows)], np.float64))[0])


def check_levels(levels: Array) -> None:
    """More than one level of merit."""
    if len(levels) < 2:
        raise ValueError(
            f"merit is {levels[0]} in every row: there is no order to respect; give it at least two values"
        )


def nobody_similar(n_rows: int, chosen: str) -> str:
    """What is wrong where no row has another that is similar."""
    return (
        f"no two of the {n_rows} rows are similar by {chosen}, so there is nothing to teach: "
        "give a coarser key, or a larger radius for features of this scale"
    )


def check_selectors(*, key: Any, radius: Any, k: Any, features: Any) -> None:
    """Exactly one way of saying which rows are similar."""
    given = [name for name, value in (("key", key), ("radius", radius), ("k", k)) if value is not None]
    if len(given) != 1:
        raise ValueError(
            f"MetricFairness takes exactly one of key=, radius= and k=, got {' and '.join(given) or 'none'}: "
            "say in one way which rows are similar"
        )
    if key is None and features is None:
        raise ValueError(f"{given[0]}= measures distances: give the columns to measure in as features=")
    if key is not None and features is not None:
        raise ValueError("features= is for radius= and k=, and would be ignored beside key=: leave one of them out")


def check_radius(radius: Any) -> float:
    """A finite distance."""
    if isinstance(radius, (bool, np.bool_)) or not isinstance(radius, (int, float, np.number)):
        raise TypeError(f"radius must be a number, got {radius!r} of type {type(radius).__name__}")
    if not (np.isfinite(radius) and radius >= 0):
        raise ValueError(f"radius must be a finite distance of at least 0, got {radius!r}")
    return float(radius)


def check_k(k: Any) -> int:
    """A number of neighbours."""
    if isinstance(k, (bool, np.bool_)) or not isinstance(k, (int, np.integer)):
        raise TypeError(f"k must be a whole number of neighbours, got {k!r} of type {type(k).__name__}")
    if k < 1:
        raise ValueError(f"k must be at least 1, got {k}: it counts the neighbours besides the row itself")
    return int(k)
