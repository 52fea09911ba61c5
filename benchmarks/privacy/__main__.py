"""What privacy costs, what it protects, and how DP-EBM does.

    python -m benchmarks.privacy                     all parts; a run that was stopped goes on where it was
    python -m benchmarks.privacy --parts cost,sizes  some of: cost, sizes, few, central, attacks, ebm
    python -m benchmarks.privacy --page              PRIVACY.md and its pictures from the CSV files
    python -m benchmarks.privacy --smoke             a tiny run on made data that shows that it works

cost: AUC against epsilon on public and made sets. sizes: the same on made data of many sizes. few: budget plans and
rivals where few rows have a label. central: noise in sums over rows, against noise in each prediction. attacks: the
package's audit on private and other teachers. ebm: DP-EBM on adult as in its paper. Needs the extras bench and private.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pandas as pd
from tqdm import tqdm

from benchmarks import FOLDER
from benchmarks.command_line import asked, command
from benchmarks.privacy import attacks, central, cost, ebm, few
from benchmarks.privacy.page import write_page
from benchmarks.privacy.sets import MADE, SPLITS, loaded
from benchmarks.processes import stopped_by_ctrl_c
from benchmarks.unlabelled.runner import append

RESULTS = FOLDER / "results"
PAGE = FOLDER / "PRIVACY.md"
REPEATS = 10
SIZE_REPEATS = 5
Unit = tuple[dict[str, Any], Callable[[], Any]]
"""What its lines have in common in the CSV, and what makes them."""


def of_cost(repeats: int = REPEATS, names: Sequence[str] = tuple(SPLITS)) -> Iterator[Unit]:
    for repeat in range(repeats):
        for name in names:
            for labels in cost.LABELS:
                key = {"dataset": name, "labels": labels, "repeat": repeat}
                yield key, lambda name=name, labels=labels, repeat=repeat: list(cost.lines(name, labels, repeat))


def of_sizes(repeats: int = SIZE_REPEATS) -> Iterator[Unit]:
    for repeat in range(repeats):
        for size in cost.SIZES:
            for labels, share in cost.SIZE_LABELS.items():
                key = {"labels": labels, "repeat": repeat, "rows": size}
                settings = {"training": size, "share": share, "epsilons": cost.SIZE_EPSILONS, "models": ("histogram",)}
                yield (
                    key,
                    lambda labels=labels, repeat=repeat, settings=settings: list(
                        cost.lines(MADE, labels, repeat, **settings)
                    ),
                )


def of_few(repeats: int = REPEATS) -> Iterator[Unit]:
    for repeat in range(repeats):
        for labels in few.LABELS:
            yield (
                {"labelled": labels, "repeat": repeat},
                lambda labels=labels, repeat=repeat: list(few.lines(labels, repeat)),
            )


def of_central(repeats: int = REPEATS) -> Iterator[Unit]:
    for repeat in range(repeats):
        for name in (central.STRAIGHT, central.CURVED):
            for labels in central.LABELS:
                key = {"dataset": name, "labelled": labels, "repeat": repeat}
                yield key, lambda given=(name, labels, repeat): list(central.lines(*given))


def of_attacks(runs: int | None = None) -> Iterator[Unit]:
    for setting in attacks.settings():
        for attack in ("neighbours", "values"):
            key = {"teacher": setting.teacher, "sees": setting.sees, "attack": attack}
            key["stated"] = float("inf") if setting.epsilon is None else setting.epsilon
            yield key, lambda setting=setting, attack=attack: attacks.lines(setting, attack, runs)


def of_ebm(folds: int = ebm.FOLDS) -> Iterator[Unit]:
    for fold in range(folds):
        yield {"fold": fold}, lambda fold=fold: ebm.without_warnings(loaded("adult"), fold)


PARTS: dict[str, Callable[[], Iterator[Unit]]] = {
    "cost": of_cost,
    "sizes": of_sizes,
    "few": of_few,
    "central": of_central,
    "attacks": of_attacks,
    "ebm": of_ebm,
}


def csv_of(part: str, folder: Path) -> Path:
    return folder / f"privacy_{part}.csv"


def run(part: str, units: Iterator[Unit], folder: Path) -> None:
    """Append what is missing, a unit at a time."""
    results = csv_of(part, folder)
    for key, work in tqdm(list(units), mininterval=5, desc=part):
        done = pd.read_csv(results) if results.exists() else pd.DataFrame(columns=list(key))
        if not len(done) or not (done[list(key)] == pd.Series(key)).all(axis=1).any():
            append(results, work())


def smoke() -> None:
    """A draw of made data and a short attack, in a folder that is thrown away."""
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        small = {"training": 300, "epsilons": (1.0,), "models": ("histogram",), "share": 0.5}
        both = ((labels, repeat) for labels in cost.LABELS for repeat in (0, 1))
        append(csv_of("cost", folder), [item for own in both for item in cost.lines(MADE, *own, **small)])
        append(csv_of("sizes", folder), [item for r in (0, 1) for item in cost.lines(MADE, "all", r, **small)])
        short = [(key, work) for key, work in of_attacks(40) if key["teacher"] in ("histogram", "JPIB")]
        run("attacks", iter(short[-4:]), folder)
        write_page(folder, folder / PAGE.name)
        print((folder / PAGE.name).read_text(encoding="utf-8"))


def main(arguments: Sequence[str] | None = None) -> None:
    parser = command("privacy", __doc__)
    parser.add_argument("--parts", help=f"comma-separated (default: {','.join(PARTS)})")
    parser.add_argument("--out", type=Path, default=RESULTS, help="folder of the CSV files (default: %(default)s)")
    parser.add_argument("--page", action="store_true", help="only write the page and its pictures, from the CSV files")
    parser.add_argument("--smoke", action="store_true", help="tiny sizes, in a folder that is thrown away")
    given: argparse.Namespace = parser.parse_args(arguments)
    parts = list(PARTS) if given.parts is None else asked(given.parts, PARTS, "part")
    if given.smoke:
        smoke()
        return
    if not given.page:
        with stopped_by_ctrl_c():
            for part in parts:
                run(part, PARTS[part](), given.out)
    write_page(given.out, PAGE if given.out.resolve() == RESULTS.resolve() else given.out / PAGE.name)


if __name__ == "__main__":
    main()
