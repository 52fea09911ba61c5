"""How rows with a label differ from rows without one in the features, and weights against the difference."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import xgboost
from numpy.typing import NDArray

from .._plots.by_group import plot_propensity
from .._rows.folds import deal_folds
from .._rows.per_row import per_row
from .._rows.tables import as_frame, as_table, beside, check_no_text, check_orders, names_of, side_by_side
from .._stats.intervals import Interval, Values, corrected_interval
from .._xgb.categories import matrix_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_PARAMS = {"objective": "binary:logistic", "max_depth": 3, "eta": 0.1}
_ROUNDS = 60
_FOLDS = 5
_LARGEST = 10.0
"""The largest weight, as a multiple of the mean; one row in a thousand should not decide."""
_PERMUTATIONS = 100
_EDGE = 0.01
"""The share of labelled rows with a smaller propensity than any row inside their range."""


@dataclass(frozen=True)
class Shift:
    """How labelled rows differ from unlabelled rows; the result of :func:`shift`.

    Attributes
    ----------
    auc : Interval
        How well a model recognises labelled rows that it was not trained on: ``mean``, ``low`` and ``high`` (95 %).
        0.5 means not at all, 1 means that no unlabelled row is like a labelled one.
    columns : pandas.DataFrame
        One row per column, the most different first. ``difference`` is the largest difference of the cumulative
        shares (for categories half the sum of the differences of the shares), from 0 to 1, with missing values as
        a value of their own. ``by_chance`` is what one column in twenty exceeds without a shift, more for many
        categories than for few. Then the means and the shares of missing values on both sides.
    outside : float
        The share of unlabelled rows that are less like labelled rows than 99 % of the labelled rows are: 0.01 without a
        shift. Nothing was observed about such rows.
    weights : numpy.ndarray of float
        One per row, for ``weight=`` of a DMatrix or ``sample_weight=``: 1 for unlabelled rows. A labelled row has the
        odds of being unlabelled, at most 10 times their mean, with mean 1. Weighted, labelled rows resemble the others.
    effective_rows : float
        How many labelled rows of equal weight have the information of the weighted ones (Kish).
    propensity : numpy.ndarray of float
        The probability of each row to be labelled, from models that did not see the row.
    labelled : numpy.ndarray of bool
        Which rows have a label.

    Examples
    --------
    >>> import pi_xgb
    >>> data = pi_xgb.datasets.make_privileged(500, seed=0)
    >>> found = pi_xgb.labels.shift(data.x[["x0", "x1"]], None, data.x["x0"] > 0.8)
    >>> print(f"AUC {found.auc.mean:.2f}, {found.outside:.0%} outside")
    AUC 1.00, 100% outside
    >>> found.columns["difference"].round(2).to_dict()
    {'x0': 1.0, 'x1': 0.34}
    """

    auc: Interval
    columns: pd.DataFrame
    outside: float
    weights: Values
    effective_rows: float
    propensity: Values = field(repr=False)
    labelled: NDArray[np.bool_] = field(repr=False)

    def __str__(self) -> str:
        first = self.columns.head(3).iterrows()
        largest = ", ".join(f"{name} {row['difference']:.2f} ({row['by_chance']:.2f})" for name, row in first)
        return (
            f"labelled against unlabelled rows: AUC {self.auc.mean:.2f} "
            f"(95 % CI {self.auc.low:.2f} to {self.auc.high:.2f})\n"
            f"largest differences (by chance): {largest}\n"
            f"{100 * self.outside:.0f} % of the unlabelled rows lie outside the labelled ones (1 % without a shift)\n"
            f"weighted, {int(self.labelled.sum())} labelled rows count as {self.effective_rows:.0f}"
        )

    def plot(self, ax: Axes | None = None) -> Axes:
        """Plot the propensities of labelled and unlabelled rows; needs matplotlib.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, default=None
            The Axes to draw on; None opens a figure.
        """
        return plot_propensity(self.propensity, self.labelled, ax)


def shift(x: Any, z: Any, labelled: Any) -> Shift:
    """Measure how labelled rows differ from unlabelled rows in the features.

    Use it before a training with ``labelled=``, which assumes that x and z alone decide which labels are missing. A
    difference in x and z does not break the assumption: the teacher learns from the labelled rows what x and z mean.
    Its knowledge ends where no labelled row is like the others, see ``outside``. The weights reduce the bias of a
    model that sees x alone, and cost accuracy, since few rows have most of the weight.

    No computation shows whether labels are missing because of the outcome itself: the outcome of unlabelled rows is
    unknown. Weights do not help there.

    Parameters
    ----------
    x : table
        The classifier features of all rows: a DataFrame, an array, or any table that XGBoost takes.
    z : table or None
        The privileged features of the same rows, or None.
    labelled : array-like of bool
        Which rows have a label, as for :func:`pi_xgb.train`.

    Returns
    -------
    Shift
        The measurements, the weights, and a plot.

    Examples
    --------
    Rows with a high z0 are labelled more often:

    >>> import numpy as np, pi_xgb, xgboost as xgb
    >>> from pi_xgb import labels
    >>> data = pi_xgb.datasets.make_privileged(2000, seed=0)
    >>> labelled = np.random.default_rng(0).random(2000) < 0.4 / (1 + np.exp(-2 * data.z["z0"]))
    >>> found = labels.shift(data.x, data.z, labelled)
    >>> print(found)  # doctest: +ELLIPSIS
    labelled against unlabelled rows: AUC 0.7... (95 % CI 0.6... to 0.7...)
    largest differences (by chance): z0 0.39 (0.08), z2 0.38 (0.08), z1 0.37 (0.08)
    ... % of the unlabelled rows lie outside the labelled ones (1 % without a shift)
    weighted, 399 labelled rows count as 1...
    >>> dtrain = xgb.DMatrix(data.x, data.y, weight=found.weights)
    """
    features, others = as_table(x, "x"), beside(x, z, "x", "z")
    check_no_text(features, "x")
    check_no_text(others, "z")
    table = as_frame(features if others is None else side_by_side(features, others))
    names_of(table, "x" if others is None else "the table of x and z")
    known = per_row("labelled", labelled, len(table), "truth values", table="x", hint="build it as y.notna()")
    check_orders({"x": x, "labelled": labelled})
    n_known, n_others = int(known.sum()), int((~known).sum())
    if min(n_known, n_others) < _FOLDS:
        raise ValueError(f"labelled must be true in {_FOLDS} rows and false in {_FOLDS}, got {n_known} and {n_others}")
    from scipy.stats import mannwhitneyu

    matrix, propensity, aucs = matrix_of(table, known), np.empty(len(known)), []
    fold_of = deal_folds(known, _FOLDS, 0)
    for fold in range(_FOLDS):
        train, test = np.flatnonzero(fold_of != fold), np.flatnonzero(fold_of == fold)
        propensity[test] = xgboost.train(_PARAMS, matrix.slice(train), _ROUNDS).predict(matrix.slice(test))
        with_label, without = propensity[test][known[test]], propensity[test][~known[test]]
        aucs.append(mannwhitneyu(with_label, without).statistic / (len(with_label) * len(without)))
    found = corrected_interval(np.array(aucs), 1 / (_FOLDS - 1))
    odds = (1 - propensity[known]) / propensity[known]
    clipped, weights = np.minimum(odds / odds.mean(), _LARGEST), np.ones(len(known))
    weights[known] = clipped / clipped.mean()
    return Shift(
        auc=found._replace(low=max(found.low, 0.0), high=min(found.high, 1.0)),
        columns=_columns(table, known),
        outside=float((propensity[~known] < np.quantile(propensity[known], _EDGE)).mean()),
        weights=weights,
        effective_rows=float(n_known**2 / (weights[known] ** 2).sum()),
        propensity=propensity,
        labelled=known,
    )


def _columns(table: pd.DataFrame, known: NDArray[np.bool_]) -> pd.DataFrame:
    """Return the difference of each column, with means and shares of missing values on both sides."""
    gaps = [_difference(column, known) for _, column in table.items()]
    columns = dict(pd.DataFrame(gaps, table.columns, ["difference", "by_chance"]).items())
    sides = {"labelled": table[known], "unlabelled": table[~known]}
    columns |= {side: rows.mean(numeric_only=True).reindex(table.columns) for side, rows in sides.items()}
    columns |= {f"missing_{side}": rows.isna().mean() for side, rows in sides.items()}
    found = pd.DataFrame(columns).astype("Float64").astype(float)  # whatever the dtypes of the columns
    return found.loc[(found["by_chance"] - found["difference"]).sort_values(kind="stable").index]


def _difference(column: pd.Series[Any], known: NDArray[np.bool_]) -> tuple[float, float]:
    """Return the difference of a column, and the difference that chance exceeds once in twenty times."""
    codes = pd.factorize(column, sort=True)[0] + 1  # 0 is missing
    if isinstance(column.dtype, pd.CategoricalDtype):
        random = np.random.default_rng(0)
        chances = [np.abs(_gaps(codes, random.permutation(known))).sum() / 2 for _ in range(_PERMUTATIONS)]
        return float(np.abs(_gaps(codes, known)).sum() / 2), float(np.quantile(chances, 0.95))
    by_chance = 1.36 * np.sqrt(1 / known.sum() + 1 / (~known).sum())  # the 5 % point of Kolmogorov and Smirnov
    return float(np.abs(np.cumsum(_gaps(codes, known))).max()), float(by_chance)


def _gaps(codes: NDArray[np.int64], known: NDArray[np.bool_]) -> Values:
    """Return the difference of the share of each value."""
    shares = [np.bincount(codes[rows], minlength=codes.max() + 1) / rows.sum() for rows in (known, ~known)]
    return np.asarray(shares[0] - shares[1])
