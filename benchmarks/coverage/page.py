"""COVERAGE.md, whose verdicts follow from the counts."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import pandas as pd

from benchmarks.coverage.cells import MEASURES
from benchmarks.text import joined, number, table

COVERED, REJECTED = (0.93, 0.97), (0.03, 0.07)
ERRORS = 2
"""A share is outside where it is further from a bound than so many standard errors of a share like the bound."""
HEADER = (
    *("measure", "true gaps up to", "covered", "least cell", "most", "interval too low", "too high", "value outside"),
    "rejected, alike",
)
ABOUT = """\
# Coverage of the intervals of the audit

Made by `python -m benchmarks.coverage` on made rows whose true rates and gaps are known; the counts of all cells are
in `results/coverage.csv` and `results/coverage_groups.csv`. The standard error of a share stands in brackets. Wanted
are coverage from .93 to .97 and rejection without a gap from .03 to .07; what is beyond a bound by more than two of the
bound's standard errors is outside.

## Differences between groups

95 % intervals and 5 % tests of `pi_xgb.metrics.disparity_report` (200 draws at each true gap, 199 without a gap).
{cells}
In the design "nearly right" one group is decided and ranked without a mistake, and the others with few: rates of 0 and
1 have no noise to draw from, and intervals there are wider than they need be rather than too narrow.
"""
OF_GROUPS = """\
## Rates of one group

95 % intervals of `pi_xgb.metrics.group_report` by rows of the group, for a usual model, a good one (AUC .97) and one
that selects few (false positive rate .014), each with rows that count alike and with positives that count three times.
Below is the share of groups whose interval holds the truth: the least of the six, and in brackets the mean. Wilson's
interval holds .95 of the time on average over true shares, and less often for some of those near 0 and 1.
"""


def page(gaps: pd.DataFrame, groups: pd.DataFrame, wanted_cells: int) -> str:
    """The whole page."""
    gaps = gaps.sort_values(["groups", "rows"], kind="stable")
    found = [ABOUT.format(cells=_cells(gaps, wanted_cells)), *_summary(gaps)]
    found += ["### Covered, by design", ""]
    by = gaps.pivot_table(index=["groups", "rows", "design"], columns="measure", values="covered", sort=False)
    found += table(
        ["groups", "rows", "design", *MEASURES],
        [[*map(str, key), *(number(row.get(name)) for name in MEASURES)] for key, row in by.iterrows()],
    )
    found += ["### Without a gap: how often p is at most .05", ""]
    by = _alike(gaps).pivot_table(index=["groups", "rows"], columns="measure", values="rejected", sort=False)
    found += table(
        ["groups", "rows", *MEASURES],
        [[*map(str, key), *(number(row.get(name)) for name in MEASURES)] for key, row in by.iterrows()],
    )
    return "\n".join([*found, *_of_groups(groups)])


def _cells(gaps: pd.DataFrame, wanted: int) -> str:
    there = gaps[["part", "design", "groups", "rows"]].drop_duplicates()
    draws = sorted({int(item) for item in gaps["draws"]})
    missing = wanted - len(there)
    result = f"{len(there)} cells of {' or '.join(map(str, draws))} draws each."
    return result + (f" {missing} cells are missing." if missing > 0 else "")


class Share(NamedTuple):
    """Of all draws of some cells, each counting once."""

    value: float
    draws: float

    @property
    def error(self) -> float:
        """That of the share, or of .95 where the share is further out."""
        return math.sqrt(max(self.value * (1 - self.value), 0.95 * 0.05) / self.draws)

    def place(self, bounds: tuple[float, float]) -> str:
        """Below, within or above, as far as it can be told from the bounds."""
        low, high = (ERRORS * math.sqrt(bound * (1 - bound) / self.draws) for bound in bounds)
        if self.value < bounds[0] - low:
            return "below"
        return "above" if self.value > bounds[1] + high else "within"

    def __str__(self) -> str:
        return f"{number(self.value)} ({number(self.error)})"


def _summary(gaps: pd.DataFrame) -> list[str]:
    rows, result = [], []
    for name in MEASURES:
        lines = gaps[gaps["measure"] == name]
        if len(lines):
            ends = [number(lines["covered"].min()), number(lines["covered"].max())]
            further = [number(_share(lines, column).value) for column in ("below", "above", "value_outside")]
            covered, rejected = str(_share(lines, "covered")), str(_share(_alike(lines), "rejected"))
            rows.append([name, number(lines["true"].max()), covered, *ends, *further, rejected])
            result.append(_verdict(name, lines))
    return [*table(HEADER, rows), *result, ""]


def _verdict(name: str, lines: pd.DataFrame) -> str:
    """Of all cells together, and which single ones lie outside."""
    covered = _share(lines, "covered").place(COVERED)
    rejected = _share(_alike(lines), "rejected").place(REJECTED)
    outside: dict[str, list[str]] = {"below": [], "above": []}
    for line in lines.itertuples():
        place = Share(line.covered, line.draws).place(COVERED)
        if place in outside:
            outside[place].append(f"{line.groups} groups, {line.rows} rows, {line.design}")
    singles = [f"{place} in {_some(found, len(lines))}" for place, found in outside.items() if found]
    together = f"coverage {covered} and rejection without a gap {rejected}"
    return f"- {name}: {together} over all cells; {joined(singles) if singles else 'no cell is outside'}."


def _some(found: list[str], source: int) -> str:
    return joined(found) if len(found) < 4 else f"{len(found)} of {source} cells"


def _alike(gaps: pd.DataFrame) -> pd.DataFrame:
    return gaps[gaps["design"] == "alike"]


def _share(lines: pd.DataFrame, column: str) -> Share:
    return Share(float(np.average(lines[column], weights=lines["draws"])), float(lines["draws"].sum()))


def _of_groups(groups: pd.DataFrame) -> list[str]:
    if groups.empty:
        return []
    measures = list(dict.fromkeys(groups["measure"]))
    by = groups.groupby(["rows", "measure"])["covered"].agg(["min", "mean"])

    def shown(size: int, name: str) -> str:
        return f"{number(by.loc[(size, name), 'min'])} ({number(by.loc[(size, name), 'mean'])})"

    rows = [[str(size), *(shown(size, name) for name in measures)] for size in sorted(set(groups["rows"]))]
    lowest = groups.loc[groups["covered"].idxmin()]
    found = (
        f"Least of all: {lowest.measure} with {lowest.rows} rows, the {lowest.scores} model"
        f"{', weighted' if lowest.weighted else ''}, whose true value is {number(lowest.true)}: "
        f"{Share(lowest.covered, lowest.intervals)}."
    )
    return [OF_GROUPS, *table(["rows", *measures], rows), found]
