"""Current mode: every method on every set, and its difference from NF with an interval."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from benchmarks.data.folds import N_FOLDS
from benchmarks.intervals import LOSS, WIN, Interval, verdict, wins_ties_losses, with_bounds
from benchmarks.methods.rivals import BEST_RIVAL, MOST_ROWS
from benchmarks.report.results import GROUP_MEASURES, NF, RIVALS, Results
from benchmarks.text import NOTHING, joined, paragraph, signed, table, with_spread
from benchmarks.unlabelled.cell import DEPTHS

MODE = "current"
LOWER_IS_BETTER = ("logloss", *GROUP_MEASURES)
MARKS = {WIN: " (win)", LOSS: " (loss)"}

ABOUT = """\
Today's XGBoost with the same settings for all boosted methods: zeros kept, margins from the intercept, `hist`, eta 0.1,
early stopping on the validation part. The peers choose on the same validation part. PF needs the privileged features
at prediction; it is here to show what they know. `All` is trained on both kinds and sees the most frequent value in
the place of each privileged feature at prediction. self-distillation, mixed without z and shuffled q are controls whose
teacher has no privileged feature of the row: their gain is smoothing. A mixed teacher is boosting, a forest
and a linear model on all features, or without z on the classifier features alone. Rivals on x follow where rows are
few. [CURVES.md](CURVES.md#simple-rivals) has two of them on up to 1,000 rows,
[UNLABELLED.md](UNLABELLED.md#mixed-against-the-best-rival) all of them where labels are few."""

ABOUT_RIVALS = """\
What a user would take without privileged features, on the sets of at most {most:,} rows: {sets}. Ridge regression and a
random forest have categories as 0/1 columns. XGBoost has tuned depth ({depths}) and rounds. They learn
from the training and validation rows together, nine parts of ten, and choose settings by cross-validation on them. The
best rival is the one with the lowest log loss in this cross-validation. Their columns are differences from
plain XGBoost, the last two are differences from the best rival."""
MIXED = ("mixed with z", "mixed without z")

INTERVALS = """\
Differences are the method less plain XGBoost, fold by fold. In brackets stands the
corrected resampled t interval at 95 % (Nadeau and Bengio 2003): the variance of the
mean over J folds is (1/J + n_test/n_train) s^2 with J - 1 degrees of
freedom, and n_test/n_train is 1/8 here, since a fold trains on eight parts and is tested on one. A win or a loss is an
interval that leaves out 0; all else is a tie. Sets are many and intervals are not adjusted for that: one in
twenty excludes 0 by chance alone."""


def current_section(results: Results) -> list[str]:
    sets = results.datasets(MODE)
    if not sets:
        return ["## 2. Current mode", "", "No results of this mode yet.", ""]
    lines = ["## 2. Current mode", "", ABOUT, "", INTERVALS, ""]
    for measure, title in (("auc", "AUC"), ("logloss", "Log loss")):
        lines += [f"### {title}, wins, ties and losses against plain XGBoost", "", *tally_table(results, sets, measure)]
    lines += ["The differences on each set are in [current.csv](results/current.csv).", ""]
    return [*lines, *rivals_section(results, sets)]


def rivals_section(results: Results, sets: Sequence[str]) -> list[str]:
    few = [dataset for dataset in sets if len(results.folds(MODE, dataset, BEST_RIVAL, "auc"))]
    if not few:
        return []
    about = ABOUT_RIVALS.format(most=MOST_ROWS, sets=joined(few), depths=joined(map(str, DEPTHS)))
    lines = ["### Few rows: rivals on x", "", paragraph(about), ""]
    for measure, title in (("auc", "AUC"), ("logloss", "Log loss")):
        pairs = {
            **{name: (name, NF) for name in RIVALS},
            **{f"{name} less best rival": (name, BEST_RIVAL) for name in MIXED},
        }
        found = {
            header: [results.difference(MODE, dataset, *pair, measure) for dataset in few]
            for header, pair in pairs.items()
        }
        higher = is_higher_better(measure)
        cells = [[difference_cell(item, higher_is_better=higher) for item in column] for column in found.values()]
        rows = [[dataset, *row] for dataset, *row in zip(few, *cells, strict=True)]
        lines += [f"{title}:", "", *table(["set", *found], rows), in_words(title, found, higher=higher), ""]
    return lines


def in_words(title: str, found: Mapping[str, Sequence[Interval | None]], *, higher: bool) -> str:
    """How often the mixed teachers' students are better and worse than the best rival."""
    told = []
    for header, differences in found.items():
        known = [item for item in differences if item is not None]
        if header.endswith(BEST_RIVAL) and header != BEST_RIVAL and known:
            wins, ties, losses = wins_ties_losses(verdict(item, higher_is_better=higher) for item in known)
            mean = signed(float(np.mean([item.mean for item in known])), 4)
            told.append(f"{header}: {wins} wins, {ties} ties, {losses} losses, on average {mean}")
    return paragraph(f"In words, {title}: {'; '.join(told) or 'no student of a mixed teacher ran here'}.")


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
