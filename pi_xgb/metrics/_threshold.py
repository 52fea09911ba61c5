"""Choosing the score above which rows are selected."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from .._rows.names import describe
from .._rows.per_row import ANY_NUMBER, SHARE, per_row
from .._rows.scores import Bools, Floats, as_scored, as_scores
from ._rates import Values, as_function

Rule = Callable[[Values, Values, Values, Values], Any]

PAPER_GRID = np.arange(1, 1000) / 1000
"""The thresholds .001, .002, ..., .999."""

_TIE = 1e-12


# Of balanced accuracy twice the value, which has the same best threshold.
RULES: dict[str, Rule] = {
    "f1": lambda tn, fp, fn, tp: tp / (tp + fp / 2 + fn / 2),
    "accuracy": lambda tn, fp, fn, tp: (tn + tp) / (tn + fp + fn + tp),
    "balanced_accuracy": lambda tn, fp, fn, tp: tp / (tp + fn) + tn / (tn + fp),
}


def choose_threshold(
    y_true: Any,
    y_score: Any,
    *,
    rule: Literal["f1", "accuracy", "balanced_accuracy"] | Rule = "f1",
    grid: Any = None,
    folds: Any = None,
    sample_weight: Any = None,
) -> float:
    """The threshold that maximizes a rule; rows with ``y_score > threshold`` are selected.

    Call it on validation rows, then report on test rows. A threshold chosen on the reported rows makes every rate look
    better than it is. A threshold chosen on training rows is usually useless. Ties go to the smallest threshold.

    Parameters
    ----------
    y_true : array-like
    y_score : array-like of float
        Labels, 0 or 1 (every fold needs both), and scores of any scale, higher for label 1.
    rule : str or callable, default="f1"
        The quantity to maximize: "f1", "accuracy", "balanced_accuracy" (equivalent to Youden's J), or a
        function ``rule(tn, fp, fn, tp)`` of four arrays, one entry per threshold, that returns one value each.
        NaN counts as the worst value.
    grid : array-like or "paper", default=None
        The thresholds to try. None tries every cut that the scores allow: half-way between neighbours, and one at each
        end. "paper" is .001 to .999 in steps of .001, which needs probabilities. An array is used unchanged.
    folds : array-like, default=None
        One fold label per row: the rule is evaluated in each fold and averaged, and one threshold is returned
        for all. ``rule="f1", grid="paper"`` with the validation rows of all folds is the procedure of the
        paper on privileged information: with the predictions of plain boosting it gives the thresholds of the
        authors' released models on the sets where those can be rebuilt (heart .481, car .516, spam .438).
    sample_weight : array-like of float, default=None
        Weight of each row.

    Examples
    --------
    >>> from pi_xgb import metrics
    >>> metrics.choose_threshold([0, 0, 1, 1], [0.1, 0.2, 0.6, 0.8])
    0.4
    >>> metrics.choose_threshold([0, 0, 1, 1], [0.1, 0.2, 0.6, 0.8], grid="paper")
    0.2

    The most selective threshold that still finds nine in ten positives:

    >>> def nine_in_ten(tn, fp, fn, tp):
    ...     return (tp / (tp + fn) >= 0.9) + tn / (tn + fp)
    >>> metrics.choose_threshold([0, 0, 1, 1], [0.1, 0.7, 0.6, 0.8], rule=nine_in_ten)
    0.35
    """
    function: Rule = as_function("rule", rule, RULES)
    if isinstance(grid, str) and grid != "paper":
        raise ValueError(f"grid must be None, 'paper' or an array of thresholds, got {grid!r}")
    within = SHARE if isinstance(grid, str) else ANY_NUMBER
    read = partial(as_scores, within=within, hint="grid='paper' takes probabilities, grid=None scores of any scale")
    labels, scores, weights = as_scored(y_true, y_score, None, sample_weight, read)
    candidates = _candidates(grid, scores)
    by_fold = [
        _rule_values(function, labels[rows], scores[rows], weights[rows], candidates)
        for rows in _folds(folds, labels, weights)
    ]
    values = np.mean(by_fold, axis=0)
    if not (values > -np.inf).any():
        raise ValueError("rule must be defined for at least one threshold, got NaN at every threshold")
    return float(candidates[np.flatnonzero(values >= values.max() - _TIE)[0]])


def _candidates(grid: Any, scores: Floats) -> Values:
    """Return the thresholds to try, in rising order."""
    if isinstance(grid, str):
        return PAPER_GRID
    if grid is not None:
        thresholds = per_row("grid", grid, np.size(grid), missing="keep")
        if not thresholds.size or np.isnan(thresholds).any():
            raise ValueError(f"grid must be None, 'paper' or an array of thresholds, got {grid!r:.60}: pass numbers")
        return np.unique(thresholds)
    values = np.unique(scores)
    below, above = values[:-1], values[1:]
    with np.errstate(invalid="ignore"):  # between -inf and inf
        middle = below / 2 + above / 2
    # Adjacent floats have no middle: the lower value separates them too.
    middle = np.where(middle < above, middle, below)
    ends = np.nextafter(values[:1], values.dtype.type(-np.inf)), values[-1:]
    return np.concatenate([ends[0], middle, ends[1]]).astype(np.float64)


def _folds(folds: Any, labels: Bools, weights: Values) -> Iterator[NDArray[np.intp]]:
    """Yield the rows of each fold, all rows without folds."""
    names = np.zeros(labels.size) if folds is None else per_row("folds", folds, labels.size, "values", table="y_true")
    for name in pd.unique(names):
        rows = np.flatnonzero(names == name)
        for kind, side in (("positives", labels[rows]), ("negatives", ~labels[rows])):
            if not weights[rows[side]].any():
                where = "y_true" if folds is None else f"fold {describe([name])}"
                raise ValueError(f"{where} has no {kind}: pass rows with both labels")
        yield rows


def _rule_values(function: Rule, labels: Bools, scores: Floats, weights: Values, candidates: Values) -> Values:
    order = np.argsort(scores)
    # Compare in the precision of the scores, as numpy does for an array and a scalar.
    not_selected = np.searchsorted(scores[order], candidates.astype(scores.dtype), side="right")
    negatives = np.append(0.0, np.cumsum(np.where(labels, 0.0, weights)[order]))
    positives = np.append(0.0, np.cumsum(np.where(labels, weights, 0.0)[order]))
    tn, fn = negatives[not_selected], positives[not_selected]
    with np.errstate(invalid="ignore", divide="ignore"):
        values = np.asarray(function(tn, negatives[-1] - tn, fn, positives[-1] - fn), dtype=float)
    if values.shape != candidates.shape:
        raise ValueError(f"rule must return one value per threshold, shape {candidates.shape}, got {values.shape}")
    return np.where(np.isnan(values), -np.inf, values)
