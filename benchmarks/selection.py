"""What choosing and comparing are worth: select never hurts and mostly helps, compare is right about what it says.

    python -m benchmarks.selection --synthetic    select on made data of known truth: 3 strengths, 3 sizes, 20 seeds
    python -m benchmarks.selection --public       select on public sets, ten nested folds of at most 1,000 rows
    python -m benchmarks.selection --compare      compare on strong and on shuffled privileged data, 20 seeds each
    python -m benchmarks.selection --report       the tables again, from the CSV files
    python -m benchmarks.selection --smoke        a tiny run of every part that shows that it works

Each part appends to ``selection_<part>.csv`` in ``--out`` when a cell is finished; a run that was stopped goes on where
it was. One thread each.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterable
from inspect import signature
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import xgboost as xgb
from sklearn.metrics import roc_auc_score
from tqdm import tqdm

import pi_xgb
from benchmarks import FOLDER
from benchmarks.command_line import command
from benchmarks.data.folds import parts
from benchmarks.intervals import corrected_interval
from pi_xgb.selection import Selection, compare, select

OUT = FOLDER / "results"
PARAMS = {"objective": "binary:logistic", "max_depth": 3, "eta": 0.1, "nthread": 1}
ROUNDS = 60
SEEDS = 20
SIZES = (200, 1000, 5000)
TEST_ROWS = 5000
# How much the privileged features are blurred; the hidden score has standard deviation 1.
BLUR = {"strong": 0.0, "medium": 1.0, "weak": 4.0}
# Larger sets are cut to so many training rows: where rows are plentiful, nothing is to be gained.
MOST_ROWS = 1000
COMPARED_ROWS = 1000
DEFAULT = signature(select).parameters["standard_errors"].default
KEYS = {"synthetic": ["strength", "rows", "seed"], "public": ["set", "fold"], "compare": ["data", "seed"]}


class Rows(NamedTuple):
    """Rows of x, z and y, with the types of the columns."""

    x: Any
    z: Any
    y: Any
    x_types: list[str] | None = None
    z_types: list[str] | None = None

    def take(self, rows: Any) -> Rows:
        return self._replace(x=self.x[rows], z=self.z[rows], y=self.y[rows])

    @property
    def student(self) -> xgb.DMatrix:
        return xgb.DMatrix(self.x, self.y, feature_types=self.x_types, enable_categorical=True)

    @property
    def teacher(self) -> xgb.DMatrix:
        return xgb.DMatrix(self.z, self.y, feature_types=self.z_types, enable_categorical=True)

    @property
    def all(self) -> xgb.DMatrix:
        types = None if self.x_types is None else [*self.x_types, *(self.z_types or ())]
        return xgb.DMatrix(np.hstack([self.x, self.z]), self.y, feature_types=types, enable_categorical=True)


def made(rows: int, strength: str, seed: int) -> Rows:
    data = pi_xgb.datasets.make_privileged(rows, seed=seed)
    blur = BLUR[strength] * np.random.default_rng([seed, 1]).normal(size=data.z.shape)
    return Rows(data.x.to_numpy(), data.z.to_numpy() + blur, data.y.to_numpy())


def strong(rows: int, seed: int) -> Rows:
    """x determines the chance of y, by waves that 0/1 labels hardly show and z shows almost plainly."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(rows, 8))
    score = np.sin(2 * x).sum(axis=1) / 2
    y = (rng.random(rows) < 1 / (1 + np.exp(-1.5 * score))).astype(int)
    return Rows(x, score[:, None] + 0.1 * rng.normal(size=(rows, 3)), y)


def measures(booster: xgb.Booster, test: Rows) -> dict[str, float]:
    chance = booster.predict(test.student).astype(float)
    positive = test.y == 1
    kept = np.clip(np.where(positive, chance, 1 - chance), 1e-7, None)
    return {"auc": float(roc_auc_score(positive, chance)), "logloss": float(-np.log(kept).mean())}


def judged(selection: Selection, train: Rows, test: Rows, params: dict[str, Any], rounds: int) -> list[dict[str, Any]]:
    """Every candidate of a selection, trained as it was cross-validated, on rows that nobody has seen."""
    teachers: dict[str, Any] = {}
    dtrain, lines = train.student, []
    for name, row in selection.summary.iterrows():
        guiding: dict[str, Any] = {}
        if row.method == "jpib":
            guiding = {"privileged": train.teacher, "method": "jpib", "kl_weight": row.kl_weight}
        elif row.method == "kbpib":
            if row.teacher not in teachers:
                matrix = train.all if row.teacher == "all" else train.teacher
                crossfit = 5 * (row.teacher != "in-sample")
                teachers[row.teacher] = pi_xgb.fit_teacher(params, matrix, rounds, crossfit=crossfit)
            guiding = {"teacher": teachers[row.teacher], "kl_weight": row.kl_weight}
        booster = pi_xgb.train(params, dtrain, int(row.rounds), **guiding)
        cv = {"candidate": name, "rounds": row.rounds, "cv_gain": row.gain, "cv_error": row.error}
        lines.append({**cv, **measures(booster, test)})
    return lines


def selected(train: Rows, test: Rows, rounds: int = ROUNDS, **settings: Any) -> list[dict[str, Any]]:
    selection = select(PARAMS, train.student, rounds, privileged=train.teacher, progress=False, **settings)
    return judged(selection, train, test, PARAMS, rounds)


def synthetic(size: int, strength: str, seed: int, test_rows: int = TEST_ROWS, **settings: Any) -> list[dict[str, Any]]:
    rows = made(size + test_rows, strength, seed)
    return selected(rows.take(slice(0, size)), rows.take(slice(size, None)), **settings)


def public(name: str, fold: int) -> list[dict[str, Any]]:
    from benchmarks.data import load

    data = load(name)
    (x, x_types), (z, z_types) = data.student(), data.teacher()
    rows = Rows(x.to_numpy(), z.to_numpy(), data.y, x_types, z_types)
    test = parts(data.y)[fold]
    rest = np.setdiff1d(np.arange(len(data.y)), test)
    chosen = np.sort(np.random.default_rng(fold).permutation(rest)[:MOST_ROWS])
    return selected(rows.take(chosen), rows.take(test))


def compared(what: str, seed: int, size: int = COMPARED_ROWS, **settings: Any) -> list[dict[str, Any]]:
    rows = strong(size, seed)
    z = rows.z[np.random.default_rng([seed, 2]).permutation(size)] if what == "shuffled" else rows.z
    # One kind of teacher and few inner folds keep 40 comparisons affordable.
    cheap: dict[str, Any] = {"method": "kbpib", "teacher": "cross-fitted", "inner_nfold": 2, "crossfit": 3}
    cheap |= {"params": {**PARAMS, "eta": 0.3}, "num_boost_round": 40, "seed": seed, "progress": False}
    found = compare(rows.x, rows.y, z, **{**cheap, **settings})
    means = found.summary.droplevel("size")
    gains = {f"gain_{model}": means.loc[model, "gain"] for model in means.index}
    return [{"evidence": found.evidence, "verdict": found.verdict, **gains}]


def run(part: str, cells: Iterable[tuple[Any, ...]], work: Callable[..., list[dict[str, Any]]], out: Path) -> None:
    """Work on the cells that are not in the part's file yet, and append each when it is finished."""
    path, keys = out / f"selection_{part}.csv", KEYS[part]
    out.mkdir(parents=True, exist_ok=True)
    known = (
        {tuple(map(str, key)) for key in pd.read_csv(path)[keys].itertuples(index=False)} if path.exists() else set()
    )
    waiting = [cell for cell in cells if tuple(map(str, cell)) not in known]
    for cell in tqdm(waiting, desc=part):
        lines = pd.DataFrame([{**dict(zip(keys, cell, strict=True)), **line} for line in work(*cell)])
        lines.to_csv(path, mode="a", header=not path.exists(), index=False)


def rule(lines: pd.DataFrame, standard_errors: float) -> pd.Series:
    """The line that the rule would choose among the candidates of one cell."""
    best = lines.loc[lines["cv_gain"].idxmax()]
    return best if best.cv_gain > max(standard_errors * best.cv_error, 0) else lines.iloc[0]


def outcome(lines: pd.DataFrame, by: list[str], standard_errors: float, metric: str) -> pd.DataFrame:
    """Per setting: the gain of the choice, its 95 % interval, and the gain of the best fixed candidate.

    Seeds are independent; folds share training rows, for which their interval is corrected as for ten whole folds.
    """
    ratio = 0.0 if "seed" in lines else 1 / 9
    sign = 1 if metric == "auc" else -1
    cells = []
    for key, cell in lines.groupby(KEYS["synthetic" if "seed" in lines else "public"], sort=False):
        gains = sign * (cell.set_index("candidate")[metric] - cell[metric].iloc[0])
        choice = rule(cell, standard_errors)
        cells.append({**dict(zip(by, key, strict=False)), "choice": gains[choice.candidate], **gains.to_dict()})
    table = pd.DataFrame(cells)
    settings = table.groupby(by, sort=False)
    means = settings.mean(numeric_only=True)
    fixed = means.drop(columns=["choice", "plain"])
    intervals = settings["choice"].apply(lambda gains: corrected_interval(gains.to_numpy(), ratio))
    return pd.DataFrame(
        {
            "gain": means["choice"],
            "low": intervals.map(lambda interval: interval.low),
            "high": intervals.map(lambda interval: interval.high),
            "worst": settings["choice"].min(),
            "plain": settings["choice"].apply(lambda gains: (gains == 0).mean()),
            "best fixed": fixed.max(axis=1),
            "which": fixed.idxmax(axis=1),
            "kept": means["choice"] / fixed.max(axis=1).where(fixed.max(axis=1) > 0.005),
            "cells": settings.size(),
        }
    )


def report(out: Path) -> None:
    for part, by in (("synthetic", ["strength", "rows"]), ("public", ["set"])):
        path = out / f"selection_{part}.csv"
        if path.exists():
            lines = pd.read_csv(path)
            for standard_errors in (DEFAULT, 0.0, 0.5, 1.0, 2.0):
                print(f"\n{part}, a gain of {standard_errors:g} standard errors in logloss convinces; test AUC\n")
                table = outcome(lines, by, standard_errors, "auc")
                print(table.round(4).to_string())
                print(f"mean {table['gain'].mean():+.4f}")
    path = out / "selection_compare.csv"
    if path.exists():
        lines = pd.read_csv(path)
        print("\ncompare: seeds with evidence, and mean gains in logloss\n")
        gains = lines.groupby("data").mean(numeric_only=True).drop(columns="seed")
        print(gains.round(4).assign(seeds=lines.groupby("data").size()).to_string())


def smoke() -> None:
    """Every part on a few rows."""
    few: dict[str, Any] = {"rounds": 8, "nfold": 3, "crossfit": 3, "kl_weight": 1.0}
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder)
        cells = [("strong", 150, seed) for seed in range(2)]
        run("synthetic", cells, lambda strength, size, seed: synthetic(size, strength, seed, 300, **few), out)
        tiny: dict[str, Any] = {"nfold": 3, "kl_weight": 1.0, "crossfit": 3, "num_boost_round": 8}
        run("compare", [("strong", 0)], lambda what, seed: compared(what, seed, 150, **tiny), out)
        report(out)


def main() -> None:
    parser = command("selection", __doc__)
    parser.add_argument("--synthetic", action="store_true", help="made data of known truth")
    parser.add_argument("--public", action="store_true", help="public sets, which are downloaded once")
    parser.add_argument("--compare", action="store_true", help="is compare right about what it says?")
    parser.add_argument("--report", action="store_true", help="only print the tables again")
    parser.add_argument("--smoke", action="store_true", help="a tiny run of every part, without data files")
    parser.add_argument("--out", type=Path, default=OUT, help="folder of the CSV files")
    arguments = parser.parse_args()
    if arguments.smoke:
        smoke()
        return
    if arguments.synthetic:
        cells = [(strength, size, seed) for seed in range(SEEDS) for size in SIZES for strength in BLUR]
        run("synthetic", cells, lambda strength, size, seed: synthetic(size, strength, seed), arguments.out)
    if arguments.public:
        from benchmarks.data import DATASETS

        run("public", [(name, fold) for fold in range(10) for name in DATASETS], public, arguments.out)
    if arguments.compare:
        cells = [(what, seed) for seed in range(SEEDS) for what in ("strong", "shuffled")]
        run("compare", cells, compared, arguments.out)
    report(arguments.out)


if __name__ == "__main__":
    main()
