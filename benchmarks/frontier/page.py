"""FRONTIER.md and its pictures: ours against each peer at the peer's own gap."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from benchmarks.cells import read
from benchmarks.frontier.cells import CONSTRAINTS, KL_WEIGHTS, ONLY_ON, peers
from benchmarks.frontier.rates import rates_section
from benchmarks.intervals import Interval, corrected_interval, with_bounds
from benchmarks.pictures import PALETTE, panels, save
from benchmarks.text import joined, number, paragraphs, table

FAIRNESS = {name: "SP" if name.startswith("DemographicParity") else "EO" for name in CONSTRAINTS}
TABULATED = "Constraints on distributions"
FORMS = {
    TABULATED: ("DemographicParity", "EqualizedOdds"),
    "Constraints on decisions at 1/2": ("DemographicParity, counted", "EqualizedOdds, counted"),
    "Equalized odds of means": ("EqualizedOdds, means",),
}
OPTIMISED = {
    "ExponentiatedGradient, parity": "SP",
    "ExponentiatedGradient, odds": "EO",
    "FairGBM": "EO",
    "MFC, c = 0": "SP",
    "MFC, c chosen": "SP",
}
READING = """
## Reading it

Every kl_weight has the rounds and the eta of plain XGBoost; more rounds change the accuracy of heavy weights, in either
direction. Constraints on distributions pull whole scores together, so that groups are treated alike at every threshold.
The table evaluates one threshold, 1/2, and ExponentiatedGradient and FairGBM optimise the decision itself.
Distributions lose accuracy against {losses}.
Equalized odds of means cost less accuracy, but their gap stays up to {apart:.3f} above that of the peer. The
constraints on decisions at 1/2 do not close it either: where a gap of decisions should be small, distributions are the
better constraint. ExponentiatedGradient draws each decision at random: two applicants with the same file can get
different decisions. Ours is one booster with one probability per row, and needs no group at prediction.
"""
ABOUT = """\
# Accuracy against fairness

`python -m benchmarks.frontier` on {folds} of the paper's folds per set (train on eight tenths, test on one).
The sensitive column is available in training only. Decisions are taken at 1/2. Those of
ExponentiatedGradient are random, so its numbers are expectations. SP is the gap in the rate of positive decisions, EO
the sum of the gaps within each label.

[frontier.csv.gz](results/frontier.csv.gz) has accuracy, AUC, gaps and seconds of every set, method, kl_weight and fold.
"""
AT_THE_GAP = """
## At the peer's own gap

Each peer is compared in the criterion that it optimises: SP for ExponentiatedGradient with parity and MFC, EO for
ExponentiatedGradient with odds and FairGBM. Ours is at the kl_weight where the line between two values of the grid
reaches the peer's gap. The difference is our accuracy less the peer's, with its corrected resampled 95 % interval over
the folds. "Gap not reached": no kl_weight of the grid comes within .005
of the peer's gap, and the comparison is at our smallest gap. Where the peer's gap is at least that of plain XGBoost no
constraint is needed: kl_weight is 0, and the row does not count for the constraint. MFC with two parameters that give
one model is one row. Read with care: our weight is read off the held-out gap itself, which nobody can do before
deployment, while a peer has one setting; and no difference shown on {folds} folds is not equality.
"""
COMPARED = (
    *("set", "gap", "peer", "peer's gap", "our gap", "kl_weight"),
    *("peer's accuracy", "our accuracy", "difference", "half width"),
)
COLOURS = (PALETTE[1], PALETTE[4], PALETTE[2], PALETTE[3], "#555555")
NAMES = {"SP": "statistical parity", "EO": "equalized odds"}


def per_fold(results: pd.DataFrame, dataset: str, method: str, level: float, measure: str) -> np.ndarray:
    there = (results.dataset == dataset) & (results.method == method) & (results.level == level)
    return results[there & (results.measure == measure)].sort_values("fold")["value"].astype(float).to_numpy()


def ours_at(results: pd.DataFrame, dataset: str, constraint: str, gap: float) -> tuple[np.ndarray, float, float]:
    """Our accuracy per fold at the kl_weight whose mean gap is ``gap``, that gap, and that kl_weight.

    Between two values of the grid, accuracy and gap are read off the line between them.
    """
    fairness = FAIRNESS[constraint]
    steps = [("NF", 0.0)] + [(constraint, a) for a in KL_WEIGHTS]
    gaps = np.array([per_fold(results, dataset, m, a, fairness).mean() for m, a in steps])
    accuracy = np.array([per_fold(results, dataset, m, a, "accuracy") for m, a in steps])
    if gap >= gaps[0]:
        return accuracy[0], gaps[0], 0.0
    for i in range(1, len(steps)):
        if gaps[i] <= gap <= gaps[i - 1]:
            share = (gaps[i - 1] - gap) / max(gaps[i - 1] - gaps[i], 1e-12)
            weight = steps[i - 1][1] + share * (steps[i][1] - steps[i - 1][1])
            return accuracy[i - 1] + share * (accuracy[i] - accuracy[i - 1]), gap, weight
    lowest = int(gaps.argmin())
    return accuracy[lowest], gaps[lowest], steps[lowest][1]


def comparison(results: pd.DataFrame, constraints: Sequence[str]) -> pd.DataFrame:
    """Ours against each peer at the peer's own gap: set by set, for parity and for odds."""
    lines = []
    for dataset in results.dataset.unique():
        for constraint in constraints:
            fairness = FAIRNESS[constraint]
            if dataset not in ONLY_ON.get(constraint, (dataset,)):
                continue
            for peer, same in distinct_peers(results, dataset).items():
                if OPTIMISED.get(same[0], fairness) != fairness:
                    continue
                peer_accuracy = per_fold(results, dataset, same[0], 0.0, "accuracy")
                gap = per_fold(results, dataset, same[0], 0.0, fairness).mean()
                ours, our_gap, kl_weight = ours_at(results, dataset, constraint, gap)
                found = corrected_interval(ours - peer_accuracy)
                line = [dataset, fairness, peer, gap, our_gap, kl_weight, peer_accuracy.mean(), ours.mean()]
                lines.append([*line, found.mean, found.half])
    compared = pd.DataFrame(lines, columns=list(COMPARED))
    return compared.assign(verdict=compared.apply(verdict, axis=1))


def distinct_peers(results: pd.DataFrame, dataset: str) -> dict[str, list[str]]:
    """What to call each peer, and its names in the results: several where they made one model."""
    found: dict[tuple[float, ...], list[str]] = {}
    for peer in (m for m in results.method.unique() if m != "NF" and m not in CONSTRAINTS):
        accuracy, auc = (per_fold(results, dataset, peer, 0.0, measure) for measure in ("accuracy", "AUC"))
        if len(accuracy):
            found.setdefault((*accuracy, *auc), []).append(peer)
    return {" = ".join(same): same for same in found.values()}


def verdict(row: pd.Series) -> str:
    ours = "plain XGBoost" if row["kl_weight"] == 0 else "the constraint"
    if row["our gap"] > row["peer's gap"] + 0.005:
        return "gap not reached"
    if row["difference"] + row["half width"] < 0:
        return f"peer better than {ours}"
    if row["difference"] - row["half width"] > 0:
        return f"{ours} better"
    return f"no difference from {ours} shown"


def compared_section(forms: dict[str, pd.DataFrame]) -> list[str]:
    """How often which verdict, by form; the table of one form."""
    lines = []
    for title, compared in forms.items():
        lines += [f"### {title}", ""]
        if title == TABULATED:
            rows = []
            for *names, gap, own, _, _, _, mean, half, _ in compared.itertuples(index=False):
                rows.append([*names, number(gap), number(own), with_bounds(Interval(mean, half, 0))])
            lines += table([*COMPARED[:5], "difference in accuracy"], rows)
        counts = ", ".join(f"{name} {count}" for name, count in compared.verdict.value_counts().items())
        lines += [f"Of {len(compared)} distinct comparisons: {counts}.", ""]
    return lines


def reading(forms: dict[str, pd.DataFrame]) -> str:
    lost = forms[TABULATED]
    lost = lost[lost["verdict"] == "peer better than the constraint"]
    losses = [f"{row['peer']} on {row['set']} ({row['gap']}, {-row['difference']:.3f})" for _, row in lost.iterrows()]
    means = forms["Equalized odds of means"]
    apart = float((means["our gap"] - means["peer's gap"]).max()) if len(means) else 0.0
    return READING.format(losses=joined(losses) if losses else "no peer", apart=apart)


def draw(results: pd.DataFrame, fairness: str, path: Path) -> None:
    """A panel per set: the path of each form of the constraint over kl_weight, and a mark for each peer."""
    sets = list(results.dataset.unique())
    constraints = [name for name, source in FAIRNESS.items() if source == fairness]
    figure, axes = panels(len(sets), len(sets), 4.2, 4.2)
    for ax, dataset in zip(axes, sets, strict=True):
        for constraint, stroke in zip(constraints, ("-o", "--o", ":o", "-.s", ":s"), strict=False):
            if dataset not in ONLY_ON.get(constraint, (dataset,)):
                continue
            steps = [("NF", 0.0)] + [(constraint, a) for a in KL_WEIGHTS]
            gaps = [per_fold(results, dataset, m, a, fairness).mean() for m, a in steps]
            accuracy = [per_fold(results, dataset, m, a, "accuracy").mean() for m, a in steps]
            label = f"{constraint}, kl_weight 0 to {steps[-1][1]:g}"
            ax.plot(gaps, accuracy, stroke, color=PALETTE[0], ms=4, label=label)
        for marker, colour, peer in zip("s^DvP", COLOURS, peers(), strict=True):
            found = per_fold(results, dataset, peer, 0.0, "accuracy")
            if len(found):
                x = per_fold(results, dataset, peer, 0.0, fairness).mean()
                ax.plot(x, found.mean(), marker, color=colour, ms=7, label=peer)
        ax.set(title=dataset, xlabel=f"gap in {NAMES[fairness]}", ylabel="accuracy" if ax is axes[0] else "")
        ax.set_xlim(left=0)
        ax.grid(alpha=0.3)
    figure.legend(*axes[0].get_legend_handles_labels(), fontsize=9, loc="outside lower center", ncols=6)
    save(figure, path, dpi=110)


def text(folder: Path, figures: Path) -> str:
    """The section, and its pictures."""
    results = read("frontier", folder)
    results = results[results.measure != "error"]
    for fairness in NAMES:
        draw(results, fairness, figures / f"frontier_{fairness}.png")
    folds = results.fold.nunique()
    forms = {title: comparison(results, constraints) for title, constraints in FORMS.items()}
    lines = [paragraphs(ABOUT.format(folds=folds)), ""]
    lines += [f"![{NAMES[fairness]}](figures/frontier_{fairness}.png)" for fairness in NAMES]
    lines += ["", paragraphs(AT_THE_GAP.format(folds=folds)), "", *compared_section(forms), paragraphs(reading(forms))]
    return "\n".join([*lines, "", *rates_section(read("frontier_rates", folder))])
