"""Differences between groups: how often their intervals hold the truth, and how often chance is called a gap."""

from __future__ import annotations

import warnings

import pandas as pd

from benchmarks.coverage.cells import PARTS, Cell, sample, truth
from pi_xgb import metrics
from pi_xgb.metrics import UndefinedRateWarning

FIRST = 50_000
"""The first seed: of rows that nobody had looked at when the methods were settled."""
DRAWS = {"rates": 300, "curves": 250}
DRAWS_OF_MANY = {"rates": 200, "curves": 150}
"""Of ten groups, which take three times as long."""
COUNTED = ("true", "value", "corrected", "width", "covered", "below", "above", "rejected", "adjusted", "value_outside")


def drawn(cell: Cell, seed: int, n_boot: int) -> pd.DataFrame:
    """What is said of one sample."""
    rows = sample(cell, seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UndefinedRateWarning)
        return metrics.disparity_report(
            rows.y,
            rows.score,
            sensitive_features=rows.group,
            metrics=PARTS[cell.part],
            n_boot=n_boot,
            n_null=199,
            undefined="skip",
            random_state=seed,
        )


def lines_of(cell: Cell, draws: int | None = None, n_boot: int = 200) -> pd.DataFrame:
    """How often each interval held the truth, and how often each p-value fell to 5 %."""
    draws = draws or (DRAWS if cell.groups < 10 else DRAWS_OF_MANY)[cell.part]
    result = pd.concat([drawn(cell, FIRST + i, n_boot) for i in range(draws)]).rename_axis("measure").reset_index()
    result["true"] = result["measure"].map(truth(cell))
    result["below"], result["above"] = result["high"] < result["true"], result["low"] > result["true"]
    result["covered"] = ~(result["below"] | result["above"])
    result["rejected"] = result["p_value"] <= 0.05
    result["adjusted"] = result["p_adjusted"] <= 0.05
    result["value_outside"] = (result["value"] < result["low"]) | (result["value"] > result["high"])
    result["width"] = result["high"] - result["low"]
    found = result.groupby("measure", sort=False)[list(COUNTED)].mean()
    return found.reset_index().assign(**cell._asdict(), draws=draws)
