"""Changed decisions: rows that two models decide differently."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from .._rows.groups import as_groups, everyone
from .._rows.scores import as_cut, as_labels, as_probabilities
from .._rows.tables import check_orders
from ._report import ALL


def churn(old: Any, new: Any, y: Any = None, threshold: float = 0.5, groups: Any = None) -> pd.DataFrame:
    """Count the decisions that change from one model to the next.

    Use it before a retrained model replaces the old one: a better model still surprises its users where decisions
    change, above all where they were right.

    Parameters
    ----------
    old, new : array-like of float
        The probabilities of both models for the same rows, which neither was trained on; of several classes those of
        one class.
    y : array-like of 0 and 1, default=None
        The labels, to see which changes are errors.
    threshold : float, default=0.5
        Rows with a probability above it are decided as 1.
    groups : array-like or DataFrame, default=None
        A value per row, or several columns: a further line for each group or intersection.

    Returns
    -------
    pandas.DataFrame
        The line "(all)", then one for each group, with ``rows`` and shares of these: ``flips`` (decisions that
        change), ``to_1`` and ``to_0``. With ``y`` also ``right_to_wrong`` and ``wrong_to_right``.

    Examples
    --------
    >>> from pi_xgb import metrics
    >>> old, new, y = [0.2, 0.6, 0.7, 0.9], [0.6, 0.4, 0.8, 0.3], [1, 1, 1, 0]
    >>> metrics.churn(old, new, y, groups=["a", "a", "b", "b"])
           rows  flips  to_1  to_0  right_to_wrong  wrong_to_right
    (all)     4   0.75  0.25   0.5            0.25             0.5
    a         2   1.00  0.50   0.5            0.50             0.5
    b         2   0.50  0.00   0.5            0.00             0.5
    """
    cut, before, after = as_cut(threshold), as_probabilities(old, "old"), as_probabilities(new, "new")
    if len(before) != len(after):
        raise ValueError(f"old and new must be of the same rows, got {len(before)} and {len(after)} values")
    check_orders({"old": old, "new": new, "y": y, "groups": groups})
    was, now = before > cut, after > cut
    changes = {"flips": was != now, "to_1": ~was & now, "to_0": was & ~now}
    if y is not None:
        labels = as_labels(y, len(was), "y", "old")
        changes["right_to_wrong"] = changes["flips"] & (was == labels)
        changes["wrong_to_right"] = changes["flips"] & (now == labels)
    split = everyone(len(was)) if groups is None else as_groups(groups, len(was), name="groups")
    if ALL in split.names:
        raise ValueError(f"groups must not contain {ALL!r}, the name of the line of all rows: rename the group")
    of_groups = pd.DataFrame(changes).groupby(split.codes).mean().set_axis(split.names)
    of_groups.insert(0, "rows", np.bincount(split.codes))
    overall = pd.DataFrame({"rows": len(was), **{name: rows.mean() for name, rows in changes.items()}}, index=[ALL])
    return overall if groups is None else pd.concat([overall, of_groups])
