"""The section on kinds of teachers: tables by number of labels, and the picture."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from benchmarks.intervals import Interval, corrected_interval, with_bounds
from benchmarks.pictures import PALETTE, REFERENCE, finish, log_steps, panels, save
from benchmarks.text import NOTHING, joined, paragraph, table
from benchmarks.unlabelled.cell import (
    CHOSEN_AMONG,
    CHOSEN_BY_AUC,
    CHOSEN_BY_LOSS,
    DEPTH_TUNED,
    EBM_RIVAL,
    FOLDS,
    FOREST_RIVAL,
    FOREST_TEACHER,
    IMPUTED,
    KBPIB,
    LINEAR_TEACHER,
    MIXED,
    MIXED_ON_X,
    ON_X,
    PLAIN,
    RIDGE_RIVAL,
    SELF_TRAINING,
    SPREADING,
    TEST_SHARE,
    TUNED,
)
from benchmarks.unlabelled.scores import Scores, with_all_of
from benchmarks.unlabelled.splits import SPLITS

Place = tuple[str, int]
ALL = "all"
OVER_TRAIN = TEST_SHARE / (1 - TEST_SHARE)
KINDS = {
    KBPIB: "boosted",
    FOREST_TEACHER: "forest",
    LINEAR_TEACHER: "linear",
    MIXED: "mixed",
    ON_X: "boosted, x alone",
    MIXED_ON_X: "mixed, x alone",
    RIDGE_RIVAL: RIDGE_RIVAL,
    FOREST_RIVAL: FOREST_RIVAL,
}
SIMPLE = (PLAIN, RIDGE_RIVAL, FOREST_RIVAL)
RIVALS = (*SIMPLE, DEPTH_TUNED, TUNED, EBM_RIVAL, SELF_TRAINING, "self-training k best", SPREADING, IMPUTED)
NAMED = {PLAIN: "plain XGBoost", TUNED: "XGBoost with depth and rounds tuned", EBM_RIVAL: "an EBM on x"}
GROUPS = {"z predicts y better than x": True, "z predicts y little": False}
DRAWN = {
    MIXED: ("mixed", PALETTE[0], "o", "-"),
    FOREST_TEACHER: ("forest", PALETTE[2], "s", (0, (5, 1.5))),
    LINEAR_TEACHER: ("linear", PALETTE[1], "D", (0, (5, 1.5, 1.2, 1.5))),
    KBPIB: ("boosted", PALETTE[4], "v", (0, (1.2, 1.2))),
    MIXED_ON_X: ("mixed, without z", REFERENCE, "X", "-"),
}

ABOUT = """\
The same student with each kind of teacher: on x and z, cross-fitted, all rows, `kl_weight` 10. Beside them two controls
whose teachers see x alone, and two rivals trained on x of the labelled rows. Means over the sets, with 95 % intervals
over the sets in brackets. "all": every training row has its label."""
AGAINST_RIVALS = """\
The mixed teacher's student less a rival. *Chosen*: on each draw the rival that has the best AUC in {folds}-fold
cross-validation on the labelled rows, as a user would choose; for the second table the lowest log loss. It is one of
{among}. *Best simple in hindsight*: plain XGBoost, ridge regression or the random
forest, on each set the one of the best test score, which favours the rival. *Best in hindsight*: likewise among all
rivals, which adds tuned depth and both kinds of self-training. "Better" counts the sets whose mean is higher. Draws are
the repeats of the chosen rival. With few labels cross-validation chooses little better than chance, so that this rival
is weaker than a fixed one may be; the rivals' rounds and penalties were tuned on all labelled rows before it."""


def section(lines: pd.DataFrame) -> list[str]:
    """Nothing where no mixed teacher was run; all methods on the draws that have one."""
    taught = with_all_of(lines, MIXED)
    by_labels = places_by_labels(taught)
    if not by_labels:
        return []
    auc, logloss = scores_of(taught)
    out = [
        "## Which kind of teacher",
        "",
        ABOUT,
        "",
        "Gain in AUC over plain XGBoost:",
        "",
        *gain_table(by_labels, auc),
    ]
    out += ["Reduction of log loss compared with plain XGBoost:", "", *gain_table(by_labels, logloss)]
    out += ["![Gain over plain by kind of teacher](figures/unlabelled_kinds.png)", ""]
    out += ["### Mixed less boosted", "", *less_boosted(by_labels, auc, logloss)]
    return [*out, *against_rivals(lines)]


def against_rivals(lines: pd.DataFrame) -> list[str]:
    """Nothing where no rival was chosen by cross-validation."""
    by_labels = places_by_labels(with_all_of(lines, MIXED, CHOSEN_BY_AUC, CHOSEN_BY_LOSS))
    if not by_labels:
        return []
    taught = with_all_of(lines, MIXED)
    among = joined(NAMED.get(name, name) for name in CHOSEN_AMONG)
    out = [
        "### Mixed against the rival that cross-validation chooses",
        "",
        paragraph(AGAINST_RIVALS.format(folds=FOLDS, among=among)),
        "",
    ]
    chosen = (CHOSEN_BY_AUC, CHOSEN_BY_LOSS)
    for measure, scores, choice in zip(("AUC", "Log loss, as a reduction"), scores_of(taught), chosen, strict=True):
        rivals = {"chosen": (choice,), "best simple in hindsight": SIMPLE, "best in hindsight": RIVALS}
        rows = []
        for labels, places in by_labels.items():
            row = [labels, str(len(places)), draws(scores, places, choice)]
            for methods in rivals.values():
                gains = [mean_gain(scores, place, MIXED, best(scores, place, methods)) for place in places]
                row += [bounds_or_dash(over_sets(gains)), str(sum(gain > 0 for gain in gains))]
            rows.append(row)
        columns = [column for among_these in rivals for column in (among_these, "better")]
        out += [f"{measure}:", "", *table(["labels", "sets", "draws", *columns], rows)]
    return out


def scores_of(lines: pd.DataFrame) -> tuple[Scores, Scores]:
    """AUC and log loss, both higher for the better."""
    return Scores(lines, "auc"), Scores(lines, "logloss", -1)


def places_by_labels(lines: pd.DataFrame) -> dict[str, list[Place]]:
    """Set and labelled rows, by the number of labels or "all"."""
    found: dict[str, list[Place]] = {}
    for name, labelled, training in (
        lines[["dataset", "labelled", "training"]].drop_duplicates().itertuples(index=False)
    ):
        found.setdefault(ALL if labelled >= training else str(labelled), []).append((name, int(labelled)))
    return dict(sorted(found.items(), key=lambda item: np.inf if item[0] == ALL else int(item[0])))


def over_sets(values: Sequence[float]) -> Interval | None:
    """The mean of one value per set, its interval over the sets; None where there is none."""
    there = [value for value in values if np.isfinite(value)]
    return corrected_interval(there, 0.0) if there else None


def bounds_or_dash(found: Interval | None, digits: int = 3) -> str:
    return NOTHING if found is None else with_bounds(found, digits)


def mean_gain(scores: Scores, place: Place, method: str, less: str = PLAIN) -> float:
    gains = scores.gain(*place, method, less)
    return float(gains.mean()) if gains.size else np.nan


def draws(scores: Scores, places: Sequence[Place], method: str = PLAIN) -> str:
    """How many repeats of a method the sets have."""
    counts = sorted({scores.values(*place, method).size for place in places})
    return str(counts[0]) if len(counts) == 1 else f"{counts[0]} to {counts[-1]}"


def gain_table(by_labels: dict[str, list[Place]], scores: Scores) -> list[str]:
    rows = []
    for labels, places in by_labels.items():
        found = [over_sets([mean_gain(scores, place, method) for place in places]) for method in KINDS]
        rows.append([labels, str(len(places)), draws(scores, places), *map(bounds_or_dash, found)])
    return table(["labels", "sets", "draws", *KINDS.values()], rows)


def less_boosted(by_labels: dict[str, list[Place]], auc: Scores, logloss: Scores) -> list[str]:
    """The mixed teacher's student less that of the boosted one, and in how many sets it is better."""
    rows = []
    for labels, places in by_labels.items():
        row = [labels, str(len(places))]
        for scores in (auc, logloss):
            gains = [mean_gain(scores, place, MIXED, KBPIB) for place in places]
            row += [bounds_or_dash(over_sets(gains)), str(sum(gain > 0 for gain in gains))]
        rows.append(row)
    return table(["labels", "sets", "AUC", "better", "log loss", "better"], rows)


def best(scores: Scores, place: Place, methods: Sequence[str]) -> str:
    """The method of the best mean gain there, on the repeats that it has."""
    gains = {method: mean_gain(scores, place, method) for method in methods}
    return max((name for name, gain in gains.items() if np.isfinite(gain)), key=gains.__getitem__)


def draw_kinds(lines: pd.DataFrame, path: Path) -> None:
    """Mean gain by number of labels, a panel for the sets whose z says more than x and one for the others."""
    lines = with_all_of(lines, MIXED)
    by_labels, auc = places_by_labels(lines), Scores(lines, "auc")
    budgets = [labels for labels in by_labels if labels != ALL]
    groups = {
        title: telling for title, telling in GROUPS.items() if any(places_in(by_labels[n], telling) for n in budgets)
    }
    figure, axes = panels(len(groups), 1, 5.0, 3.1)
    for ax, (title, telling) in zip(axes, groups.items(), strict=True):
        ax.axhline(0, color="black", linewidth=0.8)
        there = {labels: places_in(by_labels[labels], telling) for labels in budgets}
        there = {int(labels): places for labels, places in there.items() if places}
        for method, (label, color, marker, style) in DRAWN.items():
            means = [np.nanmean([mean_gain(auc, place, method) for place in places]) for places in there.values()]
            ax.plot(list(there), means, color=color, marker=marker, linestyle=style, ms=5, lw=1.8, label=label)
        log_steps(ax, list(there))
        ax.set_title(title, fontsize="medium")
        finish(ax, "rows with a label", "gain in AUC over plain XGBoost")
    handles, labels = axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=3, fontsize="medium")
    save(figure, path)


def places_in(places: Sequence[Place], telling: bool) -> list[Place]:
    return [place for place in places if (place[0] not in SPLITS or SPLITS[place[0]].telling) == telling]
