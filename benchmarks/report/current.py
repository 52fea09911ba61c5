"""Current mode: every method on every set, and its difference from NF with an interval."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from benchmarks.data.folds import N_FOLDS
from benchmarks.intervals import LOSS, WIN, Interval, verdict, wins_ties_losses, with_bounds
from benchmarks.report.results import GROUP_MEASURES, NF, Results
from benchmarks.text import NOTHING, signed, table, with_spread

MODE = "current"
LOWER_IS_BETTER = ("logloss", *GROUP_MEASURES)
MARKS = {WIN: " (win)", LOSS: " (loss)"}

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
    for measure, title in (("auc", "AUC"), ("logloss", "Log loss")):
        lines += [f"### {title}, wins, ties and losses against plain XGBoost", "", *tally_table(results, sets, measure)]
    return [*lines, "The differences on each set follow from [current.csv.gz](results/current.csv.gz).", ""]


def mean_cell(results: Results, dataset: str, method: str, measure: str) -> str:
    mean, spread = (f(MODE, dataset, method, measure) for f in (results.mean, results.spread))
    return with_spread(mean, spread) + unless_ten(len(results.folds(MODE, dataset, method, measure)))


def difference_cell(difference: Interval | None, *, higher_is_better: bool = True) -> str:
    """+0.001 (-0.003 to 0.005), marked where the interval leaves out 0."""
    if difference is None:
        return NOTHING
    mark = MARKS.get(verdict(difference, higher_is_better=higher_is_better), "")
    return with_bounds(difference, 4) + mark + unless_ten(difference.folds)


def tally_table(results: Results, sets: Sequence[str], measure: str) -> list[str]:
    rows = []
    for method in results.methods(MODE, measure):
        found = [results.difference(MODE, dataset, method, NF, measure) for dataset in sets]
        differences = [difference for difference in found if difference is not None]
        if method == NF or not differences:
            continue
        higher = is_higher_better(measure)
        tally = wins_ties_losses(verdict(difference, higher_is_better=higher) for difference in differences)
        middle = float(np.median([difference.mean for difference in differences]))
        rows.append([method, *map(str, tally), str(len(differences)), signed(middle, 4)])
    return table(["method", "wins", "ties", "losses", "sets", "median difference"], rows)


def is_higher_better(measure: str) -> bool:
    return measure.split(":")[0] not in LOWER_IS_BETTER


def unless_ten(folds: int) -> str:
    """How many of the ten folds are there, when it is not all."""
    return "" if folds in (0, N_FOLDS) else f" [{folds}/{N_FOLDS}]"
