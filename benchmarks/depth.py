"""How much of a peer's lead over plain boosting is the depth of the trees: NF of current mode with stiffer trees.

    python -m benchmarks.depth                   the sets on which a peer is ahead
    python -m benchmarks.depth --datasets heart  others
    python -m benchmarks.depth --smoke           a tiny run on made data that shows that it works

Prints the mean test AUC over the paper's folds. A model of single splits (depth 1) is additive in the features, as an
EBM without pairs is; if it does as well as the peer, the peer wins by being stiffer.
"""

from __future__ import annotations

from collections.abc import Sequence
from statistics import mean

from sklearn.metrics import roc_auc_score

import pi_xgb
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


def test_auc(work: FoldWork, depth: int) -> float:
    """Plain boosting with trees of this depth, stopped early on the validation rows."""
    booster = pi_xgb.train(
        {**work.params, "max_depth": depth},
        work.matrix("x", "train"),
        ROUNDS,
        evals=[(work.matrix("x", "valid"), "valid")],
        early_stopping_rounds=work.mode.early_stopping_rounds,
        verbose_eval=False,
    )
    return float(roc_auc_score(work.labels("test"), best_scores(booster, work.matrix("x", "test"))))


def row(name: str) -> list[str]:
    """A set and the mean over its folds for each depth."""
    dataset, folds = prepared(name)
    works = [FoldWork(dataset, fold, CURRENT) for fold in folds]
    return [name, *(number(mean(test_auc(work, depth) for work in works), 4) for depth in DEPTHS)]


def main(arguments: Sequence[str] | None = None) -> None:
    parser = command("depth", __doc__)
    parser.add_argument("--datasets", default=",".join(SETS), help="comma-separated (default: %(default)s)")
    parser.add_argument("--smoke", action="store_true", help="a tiny run on made data")
    given = parser.parse_args(arguments)
    names = [MADE] if given.smoke else asked(given.datasets, DATASETS, "data set")
    try:
        lines = table(["set", *(f"depth {depth}" for depth in DEPTHS)], map(row, names))
    except LOAD_ERRORS as error:
        raise SystemExit(str(error)) from None
    print("\n".join(lines))


if __name__ == "__main__":
    main()
