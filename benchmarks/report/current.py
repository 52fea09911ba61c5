"""Current mode: every method on every set, and its difference from NF with an interval."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from benchmarks.intervals import Interval, verdict, wins_ties_losses
from benchmarks.report.results import BASELINES, CONTROLS, NF, OURS, Results
from benchmarks.text import NOTHING, signed, table

MODE = "current"

ABOUT = """\
Today's XGBoost with the same settings for all boosted methods: zeros kept, margins from the intercept, `hist`, eta 0.1,
early stopping on the validation part. The peers choose on the same validation part. PF needs the privileged features
at prediction; it is here to show what they know. `All` is trained on both kinds and sees the most frequent value in
the place of each privileged feature at prediction. self-distillation, mixed without z and shuffled q are controls whose
teacher has no privileged feature of the row: their gain is smoothing. A mixed teacher is boosting, a forest
and a linear model on all features, or without z on the classifier features alone. [Two simple
rivals](#simple-rivals) on up to 1,000 rows follow below; [few labels](FEW_LABELS.md) have a page of their own."""

INTERVALS = """\
Differences are the method less plain XGBoost, fold by fold. In brackets stands the
corrected resampled t interval at 95 % (Nadeau and Bengio 2003): the variance of the
mean over J folds is (1/J + n_test/n_train) s^2 with J - 1 degrees of
freedom, and n_test/n_train is 1/8 here, since a fold trains on eight parts and is tested on one. A win or a loss is an
interval that leaves out 0; all else is a tie. Sets are many and intervals are not adjusted for that: one in
twenty excludes 0 by chance alone."""


def current_section(results: Results) -> list[str]:
    sets = results.datasets(MODE)
    lines = ["## Today's settings", "", ABOUT, "", INTERVALS, ""]
    lines += ["### Wins, ties and losses against plain XGBoost", "", *tally_table(results, sets)]
    return [*lines, "The differences on each set follow from [current.csv.gz](results/current.csv.gz).", ""]


def tally_table(results: Results, sets: Sequence[str]) -> list[str]:
    """The boosted methods; the peers stand in a table of their own."""
    rows = []
    for method in (*BASELINES, *OURS, *CONTROLS):
        if method != NF and method in results.methods(MODE):
            row = [method]
            for measure in ("auc", "logloss"):
                found = [results.difference(MODE, dataset, method, NF, measure) for dataset in sets]
                row += tally_cells(found, higher_is_better=measure == "auc")
            rows.append(row)
    return table(["method", "AUC", "median difference", "log loss", "median difference"], rows)


def tally_cells(found: Sequence[Interval | None], *, higher_is_better: bool = True) -> list[str]:
    """Wins / ties / losses over the sets, and the median of the differences."""
    there = [item for item in found if item is not None]
    tally = wins_ties_losses(verdict(item, higher_is_better=higher_is_better) for item in there)
    return [
        " / ".join(map(str, tally)),
        signed(float(np.median([item.mean for item in there])), 4) if there else NOTHING,
    ]
