"""The paper's search for alpha: 999 values from .001 to .999 on ten folds, for KbPIB and JPIB, in paper mode.

    python -m benchmarks.search --only dataset=heart,car --jobs 2
    python -m benchmarks.search --summary        results/search/summary.csv and the pictures from the table
    python -m benchmarks.search --smoke

The table of all values is large and not committed; its summary and pictures are. Hours of a core: some for a small
set, days for the large ones.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import pi_xgb
from benchmarks.cells import RESULTS, Line, Table, exists, main, read
from benchmarks.data import DATASETS, MADE, PreparedSet, load
from benchmarks.data.folds import N_FOLDS
from benchmarks.modes.paper import (
    EARLY_STOPPING_ROUNDS,
    NUM_BOOST_ROUND,
    PaperFold,
    paper_alphas,
    paper_fold,
    paper_params,
)
from benchmarks.pictures import panels, save
from benchmarks.text import number, paragraph, table

METHODS = ("NF", "KbPIB", "JPIB")
ALPHAS = tuple(round(step / 1000, 3) for step in range(1, 1000))
SMOKE_ALPHAS = (0.1, 0.5, 0.9)
DEFAULT_BINS = 256
MEASURES = {"valid_auc": ("validation", "#e07b00"), "test_auc": ("test", "#0b5fa5")}

ABOUT = """\
All 999 values of alpha on the ten folds, in paper mode, for the sets where that is cheap
([summary.csv](results/search/summary.csv), pictures beside it). Where the paper's alpha was chosen is where the mean
validation AUC is highest: its rank there is 1 of 999 or near it. Its rank by the mean test AUC says what that choice is
worth. "Above plain" is the share of values whose mean test AUC exceeds that of plain XGBoost."""


def params_of(dataset: PreparedSet) -> dict[str, Any]:
    """The paper's, on one thread, with "hist" for "approx" where both have a cut between any two values.

    "approx" chooses its cuts anew in each round, at three times the price.
    """
    params = {**paper_params(dataset), "nthread": 1}
    numeric = [i for i, kind in enumerate(dataset.feature_types) if kind == "q"]
    most = max((dataset.X.iloc[:, i].nunique() for i in numeric), default=0)
    if params["tree_method"] == "approx" and most <= params.get("max_bin", DEFAULT_BINS):
        params["tree_method"] = "hist"
    return params


@lru_cache(maxsize=1)
def fold_of(name: str, fold: int) -> tuple[dict[str, Any], PaperFold]:
    dataset = load(name)
    return params_of(dataset), paper_fold(dataset, fold)


def measure(dataset: str, method: str, fold: int, small: bool = False) -> Iterator[Line]:
    """Validation and test AUC for each alpha."""
    params, data = fold_of(dataset, fold)
    every_row = np.ones(data.train.num_row())  # the paper teaches rows without privileged values as well
    how: dict[str, Any] = {"early_stopping_rounds": EARLY_STOPPING_ROUNDS, "verbose_eval": False}
    guidance: dict[str, Any] = {}
    if method == "KbPIB":
        stopped = {"evals": [(data.valid_privileged, "valid")], "early_stopping_rounds": EARLY_STOPPING_ROUNDS}
        teacher = pi_xgb.fit_teacher(
            params, data.train_privileged, NUM_BOOST_ROUND, teacher="boosted", teacher_weight=every_row, **stopped
        )
        guidance = {"teacher": teacher.values}
    elif method == "JPIB":
        guidance = {"privileged": data.train_privileged, "method": "jpib", "teacher_weight": every_row}
    for alpha in (0.0,) if method == "NF" else SMOKE_ALPHAS if small else ALPHAS:
        how["evals"] = [(data.valid, "valid")]
        booster = pi_xgb.train(params, data.train, NUM_BOOST_ROUND, kl_weight=alpha, **guidance, **how)
        best = booster[: booster.best_iteration + 1]
        yield {
            "alpha": alpha,
            "valid_auc": float(booster.best_score),
            "test_auc": float(best.eval(data.test).split(":")[-1]),
            "best_round": booster.best_iteration + 1,
        }


def mean_path(lines: pd.DataFrame) -> pd.DataFrame:
    """Mean and standard error over folds for each alpha."""
    by_alpha = lines.groupby("alpha")[list(MEASURES)]
    return by_alpha.mean().join(by_alpha.sem().add_suffix("_error"))


def summary_of(dataset: str, method: str, path: pd.DataFrame, plain: pd.DataFrame) -> dict[str, object]:
    """Where the mean path has its maxima and where the paper's alpha lies in it.

    ``*_rank`` is 1 where no other alpha has a higher mean; ``share_above_plain`` is the share of values of alpha
    whose mean test AUC exceeds that of plain boosting.
    """
    at_highest_valid = path.iloc[int(path.valid_auc.argmax())]
    row: dict[str, object] = {
        "dataset": dataset,
        "method": method,
        "folds": len(plain),
        "alphas": len(path),
        "plain_valid": plain.valid_auc.mean(),
        "plain_test": plain.test_auc.mean(),
        "test_lowest": path.test_auc.min(),
        "test_median": path.test_auc.median(),
        "test_highest": path.test_auc.max(),
        "share_above_plain": (path.test_auc > plain.test_auc.mean()).mean(),
        "alpha_of_highest_valid": at_highest_valid.name,
        "test_at_highest_valid": at_highest_valid.test_auc,
        "alpha_of_highest_test": path.test_auc.idxmax(),
    }
    alpha = paper_alphas().get((dataset, method))
    if alpha is not None and alpha in path.index:
        row["paper_alpha"] = alpha
        for measure_ in MEASURES:
            here = path[measure_][alpha]
            row[f"{measure_}_at_paper"] = here
            row[f"{measure_}_rank"] = 1 + int((path[measure_] > here).sum())
    return row


def summarise(folder: Path) -> None:
    """The summary of the sets in the table, beside those of earlier searches, and their pictures."""
    lines, rows, out = read("search", folder), [], folder / "search"
    for name, own in lines.groupby("dataset", sort=False):
        plain = own[own.method == "NF"]
        paths = {str(method): mean_path(found) for method, found in own.groupby("method") if method != "NF"}
        rows += [summary_of(str(name), method, path, plain) for method, path in paths.items()]
        draw(str(name), paths, plain, out / f"{name}.png")
    found = pd.DataFrame(rows)
    if (out / "summary.csv").exists():
        earlier = pd.read_csv(out / "summary.csv")
        found = pd.concat([earlier[~earlier.dataset.isin(found.dataset)], found])
    found.to_csv(out / "summary.csv", index=False, float_format="%.6g")


def draw(dataset: str, paths: dict[str, pd.DataFrame], plain: pd.DataFrame, out: Path) -> None:
    """One panel per method; bands are one standard error of the mean over the folds to either side."""
    figure, axes = panels(len(paths), len(paths), 5.5, 4, sharey=True, layout=None)
    for axis, (method, path) in zip(axes, paths.items(), strict=True):
        for measure_, (name, colour) in MEASURES.items():
            mean, error = path[measure_], path[f"{measure_}_error"]
            axis.fill_between(path.index, mean - error, mean + error, color=colour, alpha=0.15, linewidth=0)
            axis.plot(path.index, mean, color=colour, linewidth=0.8, label=name)
            axis.axhline(plain[measure_].mean(), color=colour, linestyle="--", label=f"{name}, NF")
        alpha = paper_alphas().get((dataset, method))
        if alpha is not None:
            axis.axvline(alpha, color="0.4", linestyle=":", label=f"the paper's alpha, {alpha:g}")
        axis.set(title=f"{dataset}, {method}", xlabel="alpha (kl_weight)", xlim=(0, 1))
        axis.legend(loc="upper center", bbox_to_anchor=(0.5, -0.15), ncols=3, fontsize="small", frameon=False)
    axes[0].set_ylabel("AUC, mean over folds")
    figure.tight_layout()
    save(figure, out, dpi=120)


def section(folder: Path) -> list[str]:
    """The table of the page."""
    found = pd.read_csv(folder / "search" / "summary.csv")
    rows = [
        [
            *(str(row.dataset), str(row.method), number(row.plain_test), number(row.test_highest)),
            *(f"{row.share_above_plain:.0%}", f"{row.paper_alpha:g}", number(row.test_auc_at_paper)),
            *(number(row.valid_auc_rank, 0), number(row.test_auc_rank, 0)),
        ]
        for row in found.itertuples()
    ]
    header = ["set", "method", "plain", "highest", "above plain", "paper's alpha", "AUC there"]
    header += ["rank, validation", "rank, test"]
    return ["## The paper's search for alpha", "", paragraph(ABOUT), "", *table(header, rows)]


TABLES = [
    Table(
        "search",
        ("dataset", "method", "fold"),
        lambda: [(name, method, fold) for name in DATASETS for fold in range(N_FOLDS) for method in METHODS],
        measure,
        [(MADE, method, fold) for method in METHODS for fold in (0, 1)],
    )
]


def smoke_text(folder: Path, figures: Path) -> str:
    summarise(folder)
    return (folder / "search" / "summary.csv").read_text(encoding="utf-8")


if __name__ == "__main__":
    if "--summary" in sys.argv:
        if not exists("search"):
            raise SystemExit("there is no table yet: python -m benchmarks.search makes it")
        summarise(RESULTS)
    else:
        main("search", __doc__, TABLES, smoke_text)
