"""Learning curves with all rows labelled: what privileged features are worth from 100 rows to 5,000.

    python -m benchmarks.curves --jobs 2
    python -m benchmarks.curves --only dataset=heart,car --tables curves
    python -m benchmarks.curves --smoke

One repeat draws a test part at random and then, for each step of the curve, n of the other rows. A fifth of these n
rows stops the training and chooses kl_weight, the rest trains: n is all that somebody has. Settings and methods are
those of current mode. Each line is one model with its scores on validation and test rows; kl_weight is chosen when the
page is written, so that no other choice is lost.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss, roc_auc_score
from sklearn.model_selection import GridSearchCV, train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from benchmarks.cells import Cell, Line, Table, exists, main, read
from benchmarks.data import DATASETS, MADE, PreparedSet, load
from benchmarks.data.folds import Fold
from benchmarks.intervals import Interval, corrected_interval, verdict, wins_ties_losses
from benchmarks.methods import boosted
from benchmarks.modes import MODES
from benchmarks.modes.fold_work import FoldWork, Scores
from benchmarks.text import paragraph, paragraphs, signed, table
from benchmarks.unlabelled.cell import FOREST, FOREST_RIVAL, INNER_FOLDS, RIDGE_C, RIDGE_RIVAL, measured, one_hot

STEPS = (100, 200, 500, 1000, 2000, 5000)
SMOKE_STEPS = (100, 150)
TEST_SHARE, VALID_SHARE = 0.25, 0.2
OVER_TRAIN = TEST_SHARE / (1 - TEST_SHARE)
REPEATS, RIVAL_REPEATS, RIVAL_ROWS = 20, 5, 1000
CAP = 5000
KL_WEIGHTS = (0.3, 1.0, 10.0)
NF = "NF"
TEACHERS = {
    "KbPIB": boosted.in_sample,
    "KbPIB cross-fitted": boosted.cross_fitted,
    "KbPIB all features": boosted.all_features,
    "self-distillation": boosted.self_distilled,
    "shuffled q": boosted.shuffled,
}
METHODS = ("KbPIB", "KbPIB cross-fitted", "KbPIB all features", "JPIB", "self-distillation", "shuffled q")
# The rule stands in the text; adult misses it by a thousandth, and is the set that everybody knows.
SETS = ("heart", "car", "spam", "adult", "dutch", "compas_violent")
CELL = ["dataset", "rows", "repeat"]
SHOWN = ("KbPIB", "KbPIB all features", "JPIB", "self-distillation")

ABOUT = """\
All rows have a label here (`python -m benchmarks.curves`). A repeat draws a quarter of the set for testing and, of the
rest, n rows: a fifth of these stops the training and chooses kl_weight ({weights}), four fifths train. Every method is
compared with plain XGBoost on the same rows, repeat by repeat ([curves.csv.gz](results/curves.csv.gz)). Sets: those
where a booster on the privileged features alone reaches a test AUC of .6 and the privileged features, known at the test
too, add .005 to x (adult misses it by a thousandth); large sets stop at {cap} rows.

Tables have the mean gain in AUC over the sets with so many rows; in brackets stands on how many the corrected resampled
t interval at 95 % (Nadeau and Bengio 2003) excludes 0. A cross-fitted teacher on x (self-distillation)
holds no privileged information: its gain is smoothing."""

RIVALS = """\
Ridge regression and a random forest on x learn from all n rows of the same draws; {repeats} repeats of each set. With
{rows} rows and on the same draws {best}, the best of the taught boosters above, gains {gain} AUC, {rival} {lead}."""


def steps_of(n_rows: int) -> list[int]:
    """The sizes of a curve: round numbers, and at the end all rows that are not for testing, or the cap."""
    last = min(n_rows - int(np.ceil(TEST_SHARE * n_rows)), CAP)
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


@lru_cache(maxsize=2)
def loaded(name: str) -> PreparedSet:
    return load(name)


def measure(dataset: str, rows: int, repeat: int, small: bool = False) -> Iterator[Line]:
    """All models of one step of one repeat."""
    work = FoldWork(loaded(dataset), draw(loaded(dataset), rows, repeat), MODES["current"])
    weights = KL_WEIGHTS[:1] if small else KL_WEIGHTS
    yield line(work, NF, 0.0, lambda: work.plain("x"))
    for method, q_of in TEACHERS.items():
        for kl_weight in weights:
            yield line(work, method, kl_weight, lambda q_of=q_of, a=kl_weight: guided(work, a, teacher=q_of(work)))
    for kl_weight in weights:
        joint = {"privileged": work.matrix("z", "train"), "method": "jpib"}
        yield line(work, "JPIB", kl_weight, lambda joint=joint, a=kl_weight: guided(work, a, **joint))


def guided(work: FoldWork, kl_weight: float, **guidance: Any) -> Scores:
    """The student that the callback would give, without its price in a round, which counts on few rows."""
    engine = "callback" if guidance.get("method") == "jpib" else "native"
    return work.scored(work.boost(kl_weight=kl_weight, engine=engine, **guidance), kl_weight=kl_weight)


def line(work: FoldWork, method: str, kl_weight: float, train: Callable[[], Scores]) -> Line:
    """Seconds hold the teacher's time in the first line that needs it."""
    start = time.perf_counter()
    scores = train()
    seconds = time.perf_counter() - start
    found: Line = {"method": method, "kl_weight": kl_weight}
    for rows, result in (("valid", scores.valid), ("test", scores.test)):
        found[f"{rows}_auc"] = roc_auc_score(work.labels(rows), result)
        found[f"{rows}_logloss"] = log_loss(work.labels(rows), np.asarray(result, dtype=np.float64), labels=[0, 1])
    return {**found, "trees": scores.trees, "seconds": seconds}


def measure_rivals(dataset: str, rows: int, repeat: int, small: bool = False) -> Iterator[Line]:
    """Ridge regression, whose penalty is chosen by cross-validation, and a random forest."""
    data = loaded(dataset)
    part, (columns, types) = draw(data, rows, repeat), data.student()
    x, train = columns.to_numpy(np.float32), np.concatenate([part.train, part.valid])
    how = {"scoring": "neg_log_loss", "cv": INNER_FOLDS, "error_score": "raise"}
    search = GridSearchCV(LogisticRegression(max_iter=1000), {"C": RIDGE_C}, **how)
    forest = RandomForestClassifier(**FOREST, random_state=repeat)
    models = {
        RIDGE_RIVAL: make_pipeline(one_hot(x, types), StandardScaler(), search),
        FOREST_RIVAL: make_pipeline(one_hot(x, types), forest),
    }
    for method, model in models.items():
        chance = model.fit(x[train], data.y[train]).predict_proba(x[part.test])[:, 1]
        yield {"method": method, **measured(data.y[part.test], chance)}


def cells(repeats: int, most: int = CAP) -> list[Cell]:
    """The small steps of all sets first."""
    places = [(name, step) for name in SETS for step in steps_of(DATASETS[name].rows) if step <= most]
    ordered = sorted(places, key=lambda place: place[1])
    return [(*place, repeat) for place in ordered for repeat in range(repeats)]


def chosen(lines: pd.DataFrame) -> pd.DataFrame:
    """Per cell and method the line of the best AUC on the validation rows, kl_weight 0 (NF) among them.

    Of equally good weights it is the smallest.
    """
    plain = lines[lines["method"] == NF]
    with_nf = [lines] + [plain.assign(method=method) for method in lines["method"].unique() if method != NF]
    ordered = pd.concat(with_nf).sort_values(
        [*CELL, "method", "valid_auc", "kl_weight"], ascending=[True] * 4 + [False, True]
    )
    return ordered.drop_duplicates([*CELL, "method"])


def gains_of(lines: pd.DataFrame) -> pd.DataFrame:
    """AUC of the chosen students less that of NF, on the repeats where all of them are there."""
    wide = chosen(lines).pivot(index=CELL, columns="method", values="test_auc")
    return wide.sub(wide[NF], axis=0).dropna().reindex(lines["dataset"].unique(), level="dataset")


def intervals(gains: pd.DataFrame, method: str, places: Sequence[tuple[str, int]]) -> list[Interval]:
    return [corrected_interval(gains.loc[place][method].dropna().to_numpy(), OVER_TRAIN) for place in places]


def mean_and_tally(found: Sequence[Interval]) -> str:
    """The mean over sets, and how many wins and losses among them if there are any."""
    mean = signed(float(np.mean([item.mean for item in found])), 4)
    wins, _, losses = wins_ties_losses(map(verdict, found))
    counts = [f"{count} {word}" for count, word in ((wins, "won"), (losses, "lost")) if count]
    return f"{mean} ({', '.join(counts)})" if counts else mean


def summary(gains: pd.DataFrame, methods: Sequence[str], *, last_apart: bool) -> list[str]:
    """By number of rows; with ``last_apart`` the largest of each set together."""
    places = gains.index.droplevel("repeat").unique()
    most = {dataset: max(rows for name, rows in places if name == dataset) for dataset, _ in places}
    steps: dict[str, list[tuple[str, int]]] = {}
    for dataset, rows in sorted(places, key=lambda place: (place[1], SETS.index(place[0]) if place[0] in SETS else 0)):
        last = last_apart and rows == most[dataset]
        steps.setdefault("all or the cap" if last else str(rows), []).append((dataset, rows))
    if last_apart:
        steps["all or the cap"] = steps.pop("all or the cap")
    rows_ = [
        [step, str(len(here)), *(mean_and_tally(intervals(gains, method, here)) for method in methods)]
        for step, here in steps.items()
    ]
    return table(["rows", "sets", *methods], rows_)


def rivals_section(lines: pd.DataFrame, rivals: pd.DataFrame) -> list[str]:
    """The rivals on their draws, and who is ahead with the fewest rows."""
    plain = lines[lines["method"] == NF].set_index(CELL)["test_auc"]
    own = rivals.pivot(index=CELL, columns="method", values="auc").sub(plain, axis=0).dropna()
    fewest = rivals["rows"].min()
    both = (
        gains_of(lines)[list(METHODS)].join(own, how="inner").xs(fewest, level="rows").groupby("dataset").mean().mean()
    )
    best, rival = both[list(METHODS)].idxmax(), both[list(own)].idxmax()
    words = {"best": best, "gain": signed(both[best]), "rival": rival, "lead": signed(both[rival])}
    about = RIVALS.format(repeats=rivals["repeat"].nunique(), rows=fewest, **words)
    return ["## Simple rivals", "", paragraph(about), "", *summary(own, list(own), last_apart=False)]


def text(folder: Path, figures: Path) -> str:
    """The section."""
    lines = read("curves", folder)
    weights = ", ".join(f"{weight:g}" for weight in sorted(lines["kl_weight"].unique()))
    out = ["# Learning curves", "", paragraphs(ABOUT.format(weights=weights, cap=f"{CAP:,}")), ""]
    out += summary(gains_of(lines), SHOWN, last_apart=True)
    if exists("curves_rivals", folder):
        out += rivals_section(lines, read("curves_rivals", folder))
    return "\n".join(out)


SMOKE = [(MADE, step, repeat) for step in SMOKE_STEPS for repeat in (0, 1)]
TABLES = [
    Table("curves", tuple(CELL), lambda: cells(REPEATS), measure, SMOKE),
    Table("curves_rivals", tuple(CELL), lambda: cells(RIVAL_REPEATS, RIVAL_ROWS), measure_rivals, SMOKE),
]

if __name__ == "__main__":
    main("curves", __doc__, TABLES, text)
