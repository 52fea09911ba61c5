"""The result of ``frontier``: a table, choices for wanted gaps, a plot, and the training of a choice."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
import xgboost

from .._core.train import train
from .._plots.by_table import plot_frontier
from .._rows.checks import several

NO_STEP = "none"
"""The step of plain XGBoost in the table."""
LARGEST = {"equalized_odds": 2}
"""The maxima of gaps that are sums of differences; the maximum of others is 1."""


class Frontier:
    """The result of :func:`frontier`. It holds numbers only, no data.

    Attributes
    ----------
    table
        A row for each ``kl_weight``, 0 being plain XGBoost, and each step: ``accuracy``, the gap by its name, and
        ``cost``, the loss of accuracy against plain XGBoost. Columns ending in ``_low`` and ``_high`` have their
        intervals; the gap's name with ``_train`` has the gap on the training rows, mean over the folds; ``hessian`` has
        the step, "none" for plain XGBoost. ``positive`` is the share of positive decisions. ``degenerate`` marks models
        that decide the same for nearly all rows: their share of positive decisions is below 0.2 or above 5 times that
        of plain XGBoost, or their accuracy is that of one decision for all. No gap chooses them.
    gap
        The name of the gap.
    choices
        For each wanted gap the row of the smallest weight that reaches it on held-out rows, with the more accurate
        step; NaN if it is not reached.

    Examples
    --------
    >>> import pi_xgb, xgboost as xgb
    >>> data = pi_xgb.datasets.make_privileged(600, group_gap=1.0, seed=0)
    >>> dtrain, parity = xgb.DMatrix(data.x, data.y), pi_xgb.constraints.DemographicParity(data.group)
    >>> params = {"objective": "binary:logistic", "max_depth": 2, "nthread": 1}
    >>> found = pi_xgb.frontier(params, dtrain, 10, constraint=parity, kl_weight=[10, 1000], nfold=2, n_boot=0)
    >>> list(found.table.index), found.gap
    ([0.0, 10.0, 1000.0], 'statistical_parity')
    >>> bool(found.at(0.25)["statistical_parity"] <= 0.25)
    True
    """

    def __init__(
        self, table: pd.DataFrame, gap: str, params: dict[str, Any], rounds: int, wanted: Sequence[float]
    ) -> None:
        self.table, self.gap = table, gap
        self._params, self._rounds, self._wanted = params, rounds, list(wanted)

    @property
    def choices(self) -> pd.DataFrame:
        """A row for each wanted gap."""
        rows = self.table.reset_index().reindex([self._reaching(gap) for gap in self._wanted])
        return rows.set_index(pd.Index(self._wanted, name="wanted"))

    def at(self, gap: float) -> pd.Series[Any]:
        """The row of the smallest ``kl_weight`` whose held-out gap is at most this; its name is the weight.

        Where two steps were measured, it is the more accurate of their two rows.
        """
        gaps = wanted_gaps(gap, self.gap)
        if len(gaps) != 1:
            raise ValueError(f"gap must be one number, got {gap!r}: pass a number such as gap=0.05")
        if undefined := self._undefined:
            raise ValueError(undefined)
        place = self._reaching(gaps[0])
        if place < 0:
            real = self._real[self.gap]
            raise ValueError(
                f"no kl_weight reached a {self.gap} of {gaps[0]:g} on held-out rows with a model that still decides, "
                f"the smallest is {real.min():.4f} at {real.idxmin():g}: try other weights, more rows, or shallower "
                "trees"
            )
        row: pd.Series[Any] = self.table.iloc[place]
        return row

    @property
    def _real(self) -> pd.DataFrame:
        """The rows of models that are not degenerate; plain XGBoost never is."""
        return self.table[~self.table["degenerate"].astype(bool)]

    def _reaching(self, gap: float) -> int:
        """Return the position of the row of a gap, or -1: of each step's smallest weight the most accurate."""
        reached = np.flatnonzero((self.table[self.gap] <= gap) & ~self.table["degenerate"].astype(bool))
        steps = self.table["hessian"].iloc[reached]
        if not len(reached) or steps.iloc[0] == NO_STEP:
            return int(reached[0]) if len(reached) else -1
        first = reached[~steps.duplicated().to_numpy()]
        return int(first[self.table["accuracy"].iloc[first].to_numpy().argmax()])

    @property
    def _undefined(self) -> str:
        """Why there is no gap at all; empty where some model has one."""
        if self._real[self.gap].notna().any():
            return ""
        return (
            f"{self.gap} is undefined on held-out rows at every kl_weight, since a rate of some group is (no row is "
            "selected, or no row has the label): use more rows, another threshold or fewer groups"
        )

    def train(self, dtrain: xgboost.DMatrix, constraint: Any, *, gap: float, **keywords: Any) -> xgboost.Booster:
        """Train on all rows the student that :meth:`at` names for a gap.

        Its attribute ``pi_xgb_gap`` has the gap on held-out rows and on training rows, as measured over the folds;
        :func:`pi_xgb.report` shows it under its own gaps.

        Parameters
        ----------
        dtrain, constraint : as for :func:`frontier`
        gap : float
            The wanted gap.
        **keywords
            Other keywords of :func:`pi_xgb.train`: evals, callbacks, verbose_eval and so on.
        """
        if getattr(constraint, "gap", None) != self.gap:
            raise ValueError(f"constraint must reduce {self.gap}, the gap of this frontier, got {constraint!r}")
        row = self.at(gap)
        weight, teacher = float(str(row.name)), copy.copy(constraint)
        teacher.hessian = row["hessian"] if weight else constraint.hessian
        booster = train(self._params, dtrain, self._rounds, teacher=teacher, kl_weight=weight, **keywords)
        if not weight:
            return booster
        gaps = f"{row[self.gap]:.3f} on held-out rows, {row[f'{self.gap}_train']:.3f} on training rows"
        booster.set_attr(pi_xgb_gap=f"{self.gap} {gaps}")
        return booster

    def plot(self, ax: Any = None) -> Any:
        """Accuracy against the gap along ``kl_weight``, with intervals; needs matplotlib."""
        table = self.table.reset_index()
        steps = [step for step in table["hessian"].unique() if step != NO_STEP]
        # Every line begins at plain XGBoost.
        lines = [table[table["hessian"].isin([step, NO_STEP])].assign(method=f"{step} steps") for step in steps]
        ax = plot_frontier(pd.concat(lines), fairness=self.gap, ax=ax)
        marked = table[table["degenerate"].astype(bool)]
        if len(marked):
            ax.plot(marked[self.gap], marked["accuracy"], "kx", markersize=12)
            ax.set_title("x: decides the same for nearly all", fontsize="small")
        return ax

    def __str__(self) -> str:
        if undefined := self._undefined:
            return undefined
        plain: Any = self.table.iloc[0]
        fairest: Any = self._real.sort_values(self.gap).iloc[0]
        lines = [self._sentence(gap) for gap in self._wanted] or [
            f"{self.gap} from {plain[self.gap]:.3f} (plain XGBoost) to {fairest[self.gap]:.3f}, "
            f"accuracy from {plain['accuracy']:.3f} to {fairest['accuracy']:.3f}"
        ]
        marked = self.table[self.table["degenerate"].astype(bool)]
        if len(marked):
            weights = ", ".join(f"{weight:.4g}" for weight in marked.index.unique())
            shares = f"{marked['positive'].min():.1%} to {marked['positive'].max():.1%} positive decisions"
            lines.append(
                f"degenerate, and never chosen: kl_weight {weights} ({shares}, plain XGBoost {plain['positive']:.1%})"
            )
        return "\n".join(lines)

    def _sentence(self, gap: float) -> str:
        place = self._reaching(gap)
        if place < 0:
            return f"{self.gap} of at most {gap:g}: not reached, the smallest is {self._real[self.gap].min():.3f}"
        row: Any = self.table.iloc[place]
        step = "" if row["hessian"] == NO_STEP else f' with hessian="{row["hessian"]}"'
        reached, cost = (f"{row[c]:.3f}{_interval(row, c)}" for c in (self.gap, "cost"))
        return (
            f"{self.gap} of at most {gap:g}: kl_weight {row.name:.4g}{step} has {reached}, on training rows "
            f"{row[f'{self.gap}_train']:.3f}, and costs {cost} of the accuracy of plain XGBoost, "
            f"{self.table['accuracy'].iloc[0]:.3f}"
        )

    def __repr__(self) -> str:
        return f"<Frontier: {self}>"


def _interval(row: Any, column: str) -> str:
    """Return the interval of a column in words; nothing without draws."""
    low, high = row[f"{column}_low"], row[f"{column}_high"]
    return "" if np.isnan(low) else f" ({low:.3f} to {high:.3f})"


def wanted_gaps(gap: Any, name: str) -> list[float]:
    """Return the wanted values of this gap: none, one or several."""
    values, largest = [] if gap is None else several(gap), LARGEST.get(name, 1)
    for value in values:
        if isinstance(value, (bool, str)) or not 0 <= value <= largest:
            raise ValueError(f"gap must be numbers between 0 and {largest}, got {value!r}: write 5 % as 0.05")
    return [float(value) for value in values]
