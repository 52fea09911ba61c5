"""What teachers are worth to counts, survival and ranking, and what copies of rows cost.

    python -m benchmarks.copies gains      made data with known truth
    python -m benchmarks.copies strength   how well a teacher knows the labels, and how well its student ranks
    python -m benchmarks.copies public     the public ranking set
    python -m benchmarks.copies cost       time and memory at 100,000 rows
    python -m benchmarks.copies page       COPIES.md from the results of these
    python -m benchmarks.copies --smoke    all of it, tiny, on made data; nothing is written

Each of the first four writes benchmarks/results/copies_<name>.csv; together they take about ten minutes of one core.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from benchmarks.command_line import command
from benchmarks.copies.cost import costs
from benchmarks.copies.gains import made_gains, strengths
from benchmarks.copies.page import page
from benchmarks.copies.public import splits
from benchmarks.data import LOAD_ERRORS
from benchmarks.data.ranking import RankingSet

HERE = Path(__file__).resolve().parents[1]
Lines = Callable[[], Iterator[dict[str, Any]]]
FULL: dict[str, Lines] = {
    "gains": partial(made_gains, 150, 1500, 20),
    "strength": partial(strengths, 60, 20),
    "public": partial(splits, (30, 80, 191), 10),
    "cost": partial(costs, 100_000, 20, 3),
}


def _made_set() -> RankingSet:
    rng = np.random.default_rng(0)
    x = rng.normal(size=(240, 12)).astype(np.float32)
    return RankingSet(x, rng.integers(0, 3, 240).astype(np.float32), np.arange(240) // 8)


SMOKE: dict[str, Lines] = {
    "gains": partial(made_gains, 60, 120, 1, 3),
    "strength": partial(strengths, 12, 1, 3),
    "public": lambda: splits((10, 20), 1, 3, _made_set()),
    "cost": partial(costs, 400, 2, 1, ("rank:ndcg",)),
}


def path_of(name: str) -> Path:
    """Where the results of a command are kept."""
    return HERE / "results" / f"copies_{name}.csv"


def main(arguments: Sequence[str] | None = None) -> None:
    parser = command("copies", __doc__)
    parser.add_argument("what", nargs="?", choices=[*FULL, "page"], default="page")
    parser.add_argument("--smoke", action="store_true", help="a tiny run on made data")
    given = parser.parse_args(arguments)
    if given.smoke:
        print("\n".join(page({name: pd.DataFrame(lines()) for name, lines in SMOKE.items()})))
    elif given.what == "page":
        found = {name: pd.read_csv(path_of(name)) for name in FULL}
        (HERE / "COPIES.md").write_text("\n".join(page(found)))
    else:
        try:
            pd.DataFrame(FULL[given.what]()).to_csv(path_of(given.what), index=False, float_format="%.6g")
        except LOAD_ERRORS as error:
            raise SystemExit(str(error)) from None


if __name__ == "__main__":
    main()
