"""Learning curves: what privileged features are worth from 100 rows to all, and how much of that is smoothing.

    python -m benchmarks.curves --worth             whose privileged features say something at all
    python -m benchmarks.curves --out curves.csv    the curves; a run that was stopped goes on where it was
    python -m benchmarks.curves --page              CURVES.md and its pictures from the CSV; with --out beside that CSV
    python -m benchmarks.curves --smoke             a tiny run on made data that shows that it works

One repeat draws a test part at random and then, for each step of the curve, n of the other rows. A fifth of these n
rows stops the training and chooses kl_weight, the rest trains: n is all that somebody has. Settings and methods are
those of current mode. Each line of the CSV is one model, (set, rows, repeat, method, kl_weight), with its scores on
validation and test rows; kl_weight is chosen when the page is written, so that no other choice is lost.
"""

from __future__ import annotations

import argparse
import tempfile
import time
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.metrics import log_loss, roc_auc_score
from sklearn.model_selection import train_test_split
from tqdm import tqdm

import pi_xgb
from benchmarks import FOLDER
from benchmarks.command_line import asked, command
from benchmarks.curves.page import text_of, whole_lines, write_page
from benchmarks.data import DATASETS, LOAD_ERRORS, PreparedSet, load
from benchmarks.data.folds import Fold
from benchmarks.methods import boosted
from benchmarks.modes import MODES
from benchmarks.modes.fold_work import FoldWork, Scores
from benchmarks.processes import stopped_by_ctrl_c

RESULTS = FOLDER / "results" / "curves.csv"
PAGE = FOLDER / "CURVES.md"
STEPS = (100, 200, 500, 1000, 2000, 5000, 10_000, 20_000, 50_000, 100_000, 200_000)
TEST_SHARE, VALID_SHARE = 0.25, 0.2
REPEATS = 20
CAP = 5000
KL_WEIGHTS = (0.3, 1.0, 10.0)
TEACHERS = {
    "KbPIB": boosted.in_sample,
    "KbPIB cross-fitted": boosted.cross_fitted,
    "KbPIB all features": boosted.all_features,
    "self-distillation": boosted.self_distilled,
    "shuffled q": boosted.shuffled,
}
MODELS = 1 + len(KL_WEIGHTS) * (len(TEACHERS) + 1)
"""Lines per step and repeat: NF, the students of the teachers, JPIB."""

# The curves are drawn where a booster on z alone reaches WORTH_ALONE in test AUC and one on x and z, with z known at
# the test too, is better than one on x by WORTH_ADDED (--worth, three of the paper's folds). That holds for five sets;
# adult, which misses WORTH_ADDED by a thousandth (.004), is drawn as well: it is the set that everybody knows.
SETS = ("heart", "car", "spam", "adult", "dutch", "compas_violent")
WORTH_ALONE, WORTH_ADDED = 0.6, 0.005
WORTH_FOLDS, WORTH_ROWS = 3, 5000
CELL = ["dataset", "rows", "repeat"]


def made_set(name: str) -> PreparedSet:
    data = pi_xgb.datasets.make_privileged(400, seed=zlib.crc32(name.encode()) % 1000)
    X = pd.concat([data.x, data.z], axis=1)
    privileged = tuple(range(data.x.shape[1], X.shape[1]))
    return PreparedSet(name, X, data.y.to_numpy(), ("q",) * X.shape[1], privileged, ())


def loaded(name: str, load_set: Callable[[str], PreparedSet]) -> PreparedSet:
    """The set. SystemExit where its data cannot be had: the error says what to do, the way to it says nothing."""
    try:
        return load_set(name)
    except LOAD_ERRORS as error:
        raise SystemExit(f"{name}: {error}") from error


def steps_of(n_rows: int, cap: int | None = CAP) -> list[int]:
    """The sizes of a curve: round numbers, and at the end all rows that are not for testing, or the cap."""
    pool = n_rows - int(np.ceil(TEST_SHARE * n_rows))
    last = pool if cap is None else min(pool, cap)
    # Two steps close to the end would cost as much as the rest and say the same.
    return [*(step for step in STEPS if 2 * step <= last), last]


def draw(dataset: PreparedSet, step: int, repeat: int) -> Fold:
    """The test part depends on the repeat alone, so that all steps of a curve are tested on the same rows."""
    y = dataset.y
    rows, test = train_test_split(np.arange(y.size), test_size=TEST_SHARE, stratify=y, random_state=repeat)
    if step < rows.size:
        rows, _ = train_test_split(rows, train_size=step, stratify=y[rows], random_state=repeat)
    train, valid = train_test_split(rows, test_size=VALID_SHARE, stratify=y[rows], random_state=repeat)
    return Fold(repeat, train, valid, test)


def models(work: FoldWork) -> Iterator[dict[str, Any]]:
    """All models of one step of one repeat, each as a line of the CSV."""
    yield line(work, "NF", 0.0, lambda: work.plain("x"))
    for method, q_of in TEACHERS.items():
        for kl_weight in KL_WEIGHTS:
            yield line(work, method, kl_weight, lambda q_of=q_of, a=kl_weight: guided(work, a, teacher=q_of(work)))
    for kl_weight in KL_WEIGHTS:
        joint = {"privileged": work.matrix("z", "train"), "method": "jpib"}
        yield line(work, "JPIB", kl_weight, lambda joint=joint, a=kl_weight: guided(work, a, **joint))


def guided(work: FoldWork, kl_weight: float, **guidance: Any) -> Scores:
    """The student that the callback would give, without its price in a round, which counts on few rows."""
    return work.scored(work.boost(kl_weight=kl_weight, engine="native", **guidance), kl_weight=kl_weight)


def line(work: FoldWork, method: str, kl_weight: float, train: Callable[[], Scores]) -> dict[str, Any]:
    """Seconds hold the teacher's time in the first line that needs it."""
    start = time.perf_counter()
    scores = train()
    seconds = time.perf_counter() - start
    found: dict[str, Any] = {"method": method, "kl_weight": kl_weight}
    for rows, result in (("valid", scores.valid), ("test", scores.test)):
        found[f"{rows}_auc"] = roc_auc_score(work.labels(rows), result)
        found[f"{rows}_logloss"] = log_loss(work.labels(rows), np.asarray(result, dtype=np.float64), labels=[0, 1])
    return {**found, "trees": scores.trees, "seconds": seconds}


def run(
    names: Sequence[str],
    repeats: int,
    results: Path,
    cap: int | None = CAP,
    load_set: Callable[[str], PreparedSet] = load,
) -> None:
    """Append what is missing, a step of a repeat at a time, the small steps of all sets first."""
    results.parent.mkdir(parents=True, exist_ok=True)
    done = finished(results)
    sets = {name: loaded(name, load_set) for name in names}
    todo = [
        (name, step, repeat)
        for name in names
        for step in steps_of(sets[name].y.size, cap)
        for repeat in range(repeats)
        if (name, step, repeat) not in done
    ]
    for name, step, repeat in tqdm(sorted(todo, key=lambda cell: cell[1]), mininterval=5, desc="curves"):
        work = FoldWork(sets[name], draw(sets[name], step, repeat), MODES["current"])
        where = {"dataset": name, "rows": step, "repeat": repeat}
        lines = pd.DataFrame([{**where, **found} for found in models(work)])
        lines.to_csv(results, mode="a", header=not results.exists(), index=False, float_format="%.6g")


def finished(results: Path) -> set[tuple[str, int, int]]:
    """The steps whose lines are all there; what a killed run left of another is taken out of the file."""
    if not results.exists():
        return set()
    before = text_of(results)
    # A line without its end would grow together with the next one. As text, so that what stays is not changed.
    table = whole_lines(before, dtype=str).dropna()
    whole = table[table.groupby(CELL)["method"].transform("size") == MODELS]
    if whole.to_csv(index=False) != before:
        whole.to_csv(results, index=False)
    return {(name, int(rows), int(repeat)) for name, rows, repeat in whole[CELL].itertuples(index=False)}


def worth(name: str) -> dict[str, float]:
    """Mean test AUC of boosters on x, on z, and on both with z known at the test: the most there is to gain."""
    dataset, found = loaded(name, load), {"x": 0.0, "z": 0.0, "xz": 0.0}
    for fold in dataset.folds()[:WORTH_FOLDS]:
        train = np.random.default_rng(fold.number).permutation(fold.train)[:WORTH_ROWS]
        work = FoldWork(dataset, Fold(fold.number, train, fold.valid, fold.test), MODES["current"])
        for columns in found:
            found[columns] += roc_auc_score(work.labels("test"), work.plain(columns).test) / WORTH_FOLDS
    return found


def show_worth(names: Iterable[str]) -> None:
    print("| set | AUC of x | AUC of z | AUC of x and z | drawn |\n|---|---|---|---|---|")
    for name in names:
        found = worth(name)
        drawn = found["z"] >= WORTH_ALONE and found["xz"] - found["x"] >= WORTH_ADDED
        print("| " + " | ".join([name, *(f"{auc:.3f}" for auc in found.values()), "yes" if drawn else ""]) + " |")


def page_of(results: Path) -> Path:
    """The repository's page is made from the repository's CSV alone; any other CSV has its page beside it."""
    return PAGE if results.resolve() == RESULTS.resolve() else results.with_name(PAGE.name)


def parser() -> argparse.ArgumentParser:
    """The command line."""
    made = command("curves", __doc__)
    made.add_argument("--datasets", help=f"comma-separated (default: {','.join(SETS)}; with --worth all there are)")
    made.add_argument("--repeats", type=int, default=REPEATS, help="per step (default: %(default)s)")
    made.add_argument("--cap", type=int, default=CAP, help="most rows, 0 for all (default: %(default)s)")
    made.add_argument("--out", type=Path, default=RESULTS, help="the CSV (default: benchmarks/results/curves.csv)")
    made.add_argument(
        "--page",
        action="store_true",
        help="only write the page, of all sets in the CSV: benchmarks/CURVES.md from the default CSV, else CURVES.md "
        "and the folder figures beside the CSV",
    )
    made.add_argument("--worth", action="store_true", help="only show which sets are worth a curve")
    made.add_argument("--smoke", action="store_true", help="tiny sizes, in a folder that is thrown away")
    return made


def check(given: argparse.Namespace) -> None:
    """SystemExit for numbers that give no curve, and for a place that can hold no CSV."""
    if given.repeats < 1:
        raise SystemExit(f"--repeats must be at least 1, got {given.repeats}")
    if given.cap and given.cap < STEPS[0]:
        raise SystemExit(f"--cap must be at least {STEPS[0]}, where the curves begin, or 0 for all, got {given.cap}")
    if given.out.is_dir():
        raise SystemExit(f"--out expects a CSV file, got the folder {given.out}")


def smoke() -> None:
    """Two repeats on made data, in a folder that is thrown away."""
    with tempfile.TemporaryDirectory() as folder:
        results, page = Path(folder) / "curves.csv", Path(folder) / PAGE.name
        run(["made"], 2, results, 150, made_set)
        write_page(results, page, TEST_SHARE)
        print(page.read_text())


def main(arguments: Sequence[str] | None = None) -> None:
    given = parser().parse_args(arguments)
    check(given)
    names = None if given.datasets is None else asked(given.datasets, DATASETS, "data set")
    if given.smoke:
        smoke()
        return
    if given.worth:
        show_worth(names or DATASETS)
        return
    try:
        if given.page:
            write_page(given.out, page_of(given.out), TEST_SHARE)
        else:
            with stopped_by_ctrl_c():
                run(names or SETS, given.repeats, given.out, given.cap or None)
    except OSError as error:
        raise SystemExit(f"expected a place for files with --out, but {given.out} is none: {error}") from error


if __name__ == "__main__":
    main()
