"""How much of a peer's lead over plain boosting is the depth of the trees: NF of current mode with stiffer trees.

    python -m benchmarks.depth                   the sets on which a peer is ahead
    python -m benchmarks.depth --datasets heart  others
    python -m benchmarks.depth --smoke           a tiny run on made data that shows that it works

Prints the mean test AUC over the paper's folds, for each depth and for the one that the validation rows of each fold
like best, and writes the AUCs of each fold to ``results/depth.csv``. A model of single splits
(depth 1) is additive in the features, as an EBM without pairs is; if it does as well as the peer, the peer wins by
being stiffer.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pandas as pd
from sklearn.metrics import roc_auc_score

import pi_xgb
from benchmarks import FOLDER
from benchmarks.command_line import asked, command
from benchmarks.data import DATASETS, LOAD_ERRORS
from benchmarks.modes import CURRENT
from benchmarks.modes.fold_work import FoldWork, best_scores
from benchmarks.run.cells import MADE, prepared
from benchmarks.text import number, table

SETS = ("car", "compas", "compas_violent", "communities", "oulad")
DEPTHS = (4, 3, 2, 1)
ROUNDS = 3000
"""More than current mode has: the stiffer a tree, the more of them it takes; early stopping ends all."""


def aucs(work: FoldWork, depth: int) -> dict[str, float]:
    """On validation and test rows. Plain boosting with trees of this depth, stopped early on the validation rows."""
    booster = pi_xgb.train(
        {**work.params, "max_depth": depth},
        work.matrix("x", "train"),
        ROUNDS,
        evals=[(work.matrix("x", "valid"), "valid")],
        early_stopping_rounds=work.mode.early_stopping_rounds,
        verbose_eval=False,
    )
    return {
        part: float(roc_auc_score(work.labels(part), best_scores(booster, work.matrix("x", part))))
        for part in ("valid", "test")
    }


def lines_of(name: str) -> list[dict[str, Any]]:
    """The folds of a set at each depth."""
    dataset, folds = prepared(name)
    works = [FoldWork(dataset, fold, CURRENT) for fold in folds]
    return [
        {"set": name, "fold": fold, "depth": depth, **aucs(work, depth)}
        for fold, work in enumerate(works)
        for depth in DEPTHS
    ]


def chosen(lines: pd.DataFrame) -> pd.Series[float]:
    """The test AUC of each set and fold at the depth that its validation rows like best."""
    best = lines.loc[lines.groupby(["set", "fold"], sort=False)["valid"].idxmax()]
    return best.set_index(["set", "fold"])["test"]


def row(lines: pd.DataFrame) -> list[str]:
    """A set and the means over its folds."""
    means = lines.groupby("depth")["test"].mean()
    return [lines["set"].iloc[0], *(number(means[depth], 4) for depth in DEPTHS), number(chosen(lines).mean(), 4)]


def main(arguments: Sequence[str] | None = None) -> None:
    parser = command("depth", __doc__)
    parser.add_argument("--datasets", default=",".join(SETS), help="comma-separated (default: %(default)s)")
    parser.add_argument("--smoke", action="store_true", help="a tiny run on made data")
    given = parser.parse_args(arguments)
    names = [MADE] if given.smoke else asked(given.datasets, DATASETS, "data set")
    try:
        found = pd.concat([pd.DataFrame(lines_of(name)) for name in names])
    except LOAD_ERRORS as error:
        raise SystemExit(str(error)) from None
    header = ["set", *(f"depth {depth}" for depth in DEPTHS), "chosen"]
    print("\n".join(table(header, [row(lines) for _, lines in found.groupby("set", sort=False)])))
    if not given.smoke:
        found.to_csv(FOLDER / "results" / "depth.csv", index=False, float_format="%.6f")


if __name__ == "__main__":
    main()
