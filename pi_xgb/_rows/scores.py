"""What metrics judge: true labels, scores and weights of rows, and the threshold of decisions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from .per_row import ANY_NUMBER, SHARE, Span, per_row
from .supervision import row_weights
from .tables import check_orders

Floats = NDArray[np.floating[Any]]
Bools = NDArray[np.bool_]


def as_labels(y_true: Any, n_rows: int, name: str = "y_true", table: str = "y_score") -> Bools:
    """Return the true labels, 0 or 1."""
    hint = "leave out rows without a label, and recode the others, as in (y == positive_class).astype(int)"
    return per_row(name, y_true, n_rows, "truth values", table=table, hint=hint)


def as_scores(y_score: Any, within: Span = ANY_NUMBER, hint: str = "", name: str = "y_score") -> Floats:
    """Return scores of any scale; float32 stays float32, so that comparisons match the user's."""
    return per_row(name, y_score, within=within, dtype=None, hint=hint)


def as_probabilities(y_score: Any, name: str = "y_score") -> Floats:
    """Return scores that are probabilities."""
    return as_scores(y_score, SHARE, "margins become probabilities by 1 / (1 + exp(-margin))", name)


def as_scored(
    y_true: Any, y_score: Any, sensitive: Any, sample_weight: Any, read: Callable[[Any], Floats] = as_probabilities
) -> tuple[Bools, Floats, NDArray[np.float64]]:
    """Return labels, scores and weights of the same rows; raise if some are in another order."""
    check_scored_order(y_true, y_score, sensitive, sample_weight)
    scores = read(y_score)
    return as_labels(y_true, scores.size), scores, as_weights(sample_weight, scores.size)


def check_scored_order(y_true: Any, y_score: Any, sensitive_features: Any, sample_weight: Any) -> None:
    """Raise if values have one index in different orders; predictions with a default index go by position."""
    tables = {"y_true": y_true, "sensitive_features": sensitive_features, "sample_weight": sample_weight}
    if not isinstance(getattr(y_score, "index", None), pd.RangeIndex):
        tables["predictions"] = y_score
    check_orders(tables)


def as_weights(sample_weight: Any, n_rows: int) -> NDArray[np.float64]:
    """Return the weight of each row, 1 without weights."""
    weights = row_weights(sample_weight, n_rows)
    return np.ones(n_rows) if weights is None else weights


def as_threshold(threshold: Any) -> float:
    """Return a single threshold."""
    if np.ndim(threshold) != 0 or isinstance(threshold, (str, bool)) or threshold is None:
        raise TypeError(f"threshold must be one number, got {threshold!r}")
    if np.isnan(threshold):
        raise ValueError("threshold is NaN, which selects no row: pass a number")
    return float(threshold)


def as_cut(threshold: Any) -> float:
    """Return a single threshold of probabilities."""
    cut = as_threshold(threshold)
    # choose_threshold returns a value just below 0 to select every row when a probability is 0.
    if not -1e-6 <= cut <= 1:
        raise ValueError(f"threshold must lie between 0 and 1, as probabilities do, got {cut:g}: divide percent by 100")
    return cut
