"""The section on kinds of teachers: tables by number of labels, and the picture."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy.stats import t

from benchmarks.curves.page import log_steps
from benchmarks.intervals import Interval, corrected_interval, with_bounds
from benchmarks.pictures import PALETTE, REFERENCE, finish, panels, save
from benchmarks.text import NOTHING, joined, paragraph, signed, table
from benchmarks.unlabelled.cell import (
    CHOSEN_AMONG,
    CHOSEN_BY_AUC,
    CHOSEN_BY_LOSS,
    DEPTH_TUNED,
    EBM_RIVAL,
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
    SELECT,
    SELECT_BOOSTED,
    SELF_TRAINING,
    SPREADING,
    TEST_SHARE,
    TUNED,
)
from benchmarks.unlabelled.rivals import FOLDS
from benchmarks.unlabelled.scores import Scores, with_all_of
from benchmarks.unlabelled.splits import SPLITS
from pi_xgb._stats.gaps import holm

Floats = npt.NDArray[np.float64]
Place = tuple[str, int]
ALL = "all"
OVER_TRAIN = TEST_SHARE / (1 - TEST_SHARE)
MEMBERS = (KBPIB, FOREST_TEACHER, LINEAR_TEACHER)
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
MARGIN, SURE = 0.03, 0.05
CHOSEN_AT = (50, 100, 200)
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
IN_HINDSIGHT = """\
Relative increase in log loss of the student of the mixed teacher, compared with the student of its best member: the one
of lowest mean log loss on that set and number of labels, unknown beforehand. The last column names the sets whose
corrected 95 % interval lies wholly above +{margin:.0%}."""
AGAINST_RIVALS = """\
The mixed teacher's student less the best rival. *Chosen*: on each draw the rival that has the best AUC in {folds}-fold
cross-validation on the labelled rows, as a user would choose; for the second table the lowest log loss. It is one of
{among}. *Best simple in hindsight*: plain XGBoost, ridge regression or the random
forest, on each set the one of the best test score, which favours the rival. *Best in hindsight*: likewise among all
rivals, which adds tuned depth and both kinds of self-training. "Better" counts the sets whose mean is higher. Draws are
the repeats of the chosen rival, the EBM and the tuned rounds, which take long; the other methods have more."""
CHOOSING = """\
`select` by its defaults, which include mixed teachers, less `select` among boosted teachers on x and z, its earlier
defaults. The last row averages each set over these numbers of labels. The second table compares both with plain
XGBoost: in how many of the {cells} sets and budgets they are significantly worse or better after Holm's correction
over all of these, by the corrected interval / by that for independent repeats."""


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
    out += ["### Mixed against the member that is best in hindsight", "", IN_HINDSIGHT.format(margin=MARGIN), ""]
    out += hindsight_table(by_labels, logloss)
    return [*out, *against_rivals(lines), *choices(lines)]


def against_rivals(lines: pd.DataFrame) -> list[str]:
    """Nothing where no rival was chosen by cross-validation."""
    by_labels = places_by_labels(with_all_of(lines, MIXED, CHOSEN_BY_AUC, CHOSEN_BY_LOSS))
    if not by_labels:
        return []
    taught = with_all_of(lines, MIXED)
    among = joined(NAMED.get(name, name) for name in CHOSEN_AMONG)
    out = ["### Mixed against the best rival", "", paragraph(AGAINST_RIVALS.format(folds=FOLDS, among=among)), ""]
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


def relative_loss(logloss: Scores, place: Place) -> Floats:
    """What the mixed teacher's student loses more than that of the best member, a share per repeat."""
    member = best(logloss, place, MEMBERS)
    return -logloss.gain(*place, MIXED, member) / -logloss.values(*place, member).mean()


def hindsight_table(by_labels: dict[str, list[Place]], logloss: Scores) -> list[str]:
    rows = []
    for labels, places in by_labels.items():
        found = {name: corrected_interval(relative_loss(logloss, (name, n)), OVER_TRAIN) for name, n in places}
        mean = corrected_interval([interval.mean for interval in found.values()], 0.0)
        most = max(found, key=lambda name: found[name].mean)
        high = ", ".join(name for name, interval in found.items() if interval.low > MARGIN) or "none"
        shares = [f"{mean.mean:+.1%} ({mean.low:+.1%} to {mean.high:+.1%})", f"{found[most].mean:+.1%} ({most})"]
        rows.append([labels, str(len(places)), *shares, high])
    return table(["labels", "sets", "relative loss", "highest set", f"interval above +{MARGIN:.0%}"], rows)


def choices(lines: pd.DataFrame) -> list[str]:
    """What `select` chooses, now and before."""
    few = lines[lines["labelled"].isin(CHOSEN_AT) & (lines["labelled"] < lines["training"])]
    chosen = with_all_of(few, SELECT, SELECT_BOOSTED)
    by_labels = places_by_labels(chosen)
    if not by_labels:
        return []
    places = [place for there in by_labels.values() for place in there]
    measures = dict(zip(("AUC", "log loss"), scores_of(chosen), strict=True))
    gains = pd.DataFrame(places, columns=["set", "labels"])
    for measure, scores in measures.items():
        gains[measure] = [mean_gain(scores, place, SELECT, SELECT_BOOSTED) for place in places]
    found = {labels: gains[gains["labels"] == int(labels)] for labels in by_labels}
    found["all of these"] = gains.groupby("set").mean()
    repeats = draws(measures["AUC"], places)
    rows = [
        [labels, str(len(here)), repeats, *(bounds_or_dash(over_sets(list(here[measure]))) for measure in measures)]
        for labels, here in found.items()
    ]
    out = ["### Choosing by cross-validation", "", CHOOSING.format(cells=len(places)), ""]
    return [*out, *table(["labels", "sets", "draws", *measures], rows), *against_plain(places, measures)]


def against_plain(places: Sequence[Place], measures: dict[str, Scores]) -> list[str]:
    rows = []
    for chosen, method in (("by its defaults", SELECT), ("among boosted teachers", SELECT_BOOSTED)):
        for measure, scores in measures.items():
            gains = [scores.gain(*place, method) for place in places]
            mean = signed(float(np.mean([gain.mean() for gain in gains])))
            (worse, better), (worse_apart, better_apart) = (holm_tally(gains, ratio) for ratio in (OVER_TRAIN, 0.0))
            rows.append([chosen, measure, mean, f"{worse} / {worse_apart}", f"{better} / {better_apart}"])
    return table(["`select`", "measure", "mean gain over plain", "worse", "better"], rows)


def p_value(interval: Interval) -> float:
    """Of a mean of 0, two-sided; repeats that agree to the last digit are no evidence where the mean is 0."""
    if interval.half == 0:
        return float(interval.mean == 0)
    error = interval.half / t.ppf(0.975, interval.folds - 1)
    return float(2 * t.sf(abs(interval.mean) / error, interval.folds - 1))


def holm_tally(gains: Sequence[Floats], over_train: float) -> tuple[int, int]:
    """How many are worse and how many better than nothing, corrected for having looked at all of them."""
    found = [corrected_interval(gain, over_train) for gain in gains]
    sure = holm(np.array([p_value(interval) for interval in found])) < SURE
    means = np.array([interval.mean for interval in found])
    return int((sure & (means < 0)).sum()), int((sure & (means > 0)).sum())


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
