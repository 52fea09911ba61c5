"""The best of ours against the best peer, and fixed methods of ours against every peer."""

from __future__ import annotations

import math
from collections.abc import Sequence

import pandas as pd

from benchmarks.intervals import verdict, wins_ties_losses
from benchmarks.report.current import MODE, difference_cell, mean_cell
from benchmarks.report.paper import printed
from benchmarks.report.results import OURS, Results
from benchmarks.text import number, signed, table, with_spread

FIXED = ("KbPIB chosen", "JPIB chosen")

ABOUT = """\
The best is the one with the highest mean AUC on the test folds themselves. Picking it there flatters both sides, and
most of all the side with more methods to pick from; the interval ignores it. The rank is that of our best
among itself and the peers. The comparison without that fault is below: one fixed method of ours against each peer.
Only methods count here that have run on all the folds of the set's most complete peer."""

PURPOSE = """\
AUC is not what every peer is after: the Fairlearn reductions, FairGBM and MFC give AUC away for fairness, and DP-EBM
for privacy."""

PRINTED_PEER = """\
The one peer that the paper has. Its kernels, its search and its rows are not stated, so that only the size of the
numbers is comparable; ours trains on the rows and with the choices that the notes in the table hold."""
PRINTED, RELATED = "SVM+", ("SVM", "SVM+", "L2-SVM+")


def peers_section(results: Results) -> list[str]:
    lines = ["## The best of ours against the best peer", ""]
    sets = results.datasets(MODE)
    lines += [ABOUT, "", *best_table(results, sets)]
    lines += ["### One method of ours against each peer (AUC): wins, ties and losses", "", PURPOSE, ""]
    lines += fixed_table(results, sets)
    return [*lines, "### SVM+ beside table 2", "", PRINTED_PEER, "", *printed_table(results, sets)]


def most_folds(results: Results, dataset: str) -> pd.Index:
    """The folds of the peer that has most."""
    return max((results.folds(MODE, dataset, peer, "auc").index for peer in results.peers(MODE)), key=len)


def means_on(results: Results, dataset: str, methods: Sequence[str], folds: pd.Index) -> dict[str, float]:
    """The mean AUC on these folds, of the methods that have all of them: means over other folds are not comparable."""
    scores = {method: results.folds(MODE, dataset, method, "auc").reindex(folds) for method in methods}
    return {method: float(found.mean()) for method, found in scores.items() if len(found) and found.notna().all()}


def best_table(results: Results, sets: Sequence[str]) -> list[str]:
    rows = []
    for dataset in sets:
        peers = results.peers(MODE)
        folds = most_folds(results, dataset)
        ours, theirs = (means_on(results, dataset, methods, folds) for methods in (OURS, peers))
        if not ours or not theirs:
            continue
        our_best, best_peer = (max(means, key=means.__getitem__) for means in (ours, theirs))
        rank = 1 + sum(auc > ours[our_best] for auc in theirs.values())
        row = [dataset, our_best, number(ours[our_best]), best_peer, number(theirs[best_peer])]
        difference = difference_cell(results.difference(MODE, dataset, our_best, best_peer, "auc"))
        rows.append([*row, f"{rank} of {len(theirs) + 1}", difference])
    return table(["set", "best of ours", "AUC", "best peer", "AUC", "rank", "difference"], rows)


def fixed_table(results: Results, sets: Sequence[str]) -> list[str]:
    rows = []
    for peer in results.peers(MODE):
        row = [peer]
        for method in FIXED:
            found = [results.difference(MODE, dataset, method, peer, "auc") for dataset in sets]
            differences = [difference for difference in found if difference is not None]
            row += [" / ".join(map(str, wins_ties_losses(map(verdict, differences)))), str(len(differences))]
            row.append(signed(sum(d.mean for d in differences) / len(differences)) if differences else "-")
        rows.append(row)
    header = [text for method in FIXED for text in (method, "sets", "mean difference")]
    return table(["peer", *header], rows)


def printed_table(results: Results, sets: Sequence[str]) -> list[str]:
    rows = []
    for dataset in sets:
        paper, spread = (printed("table_auc", column, dataset=dataset, method=PRINTED) for column in ("mean", "std"))
        has_run = len(results.folds(MODE, dataset, PRINTED, "auc")) > 0
        if has_run and paper is not None and not math.isnan(paper):
            here = [mean_cell(results, dataset, method, "auc") for method in RELATED]
            rows.append([dataset, with_spread(paper, spread), *here])
    return table(["set", f"{PRINTED}, printed", *(f"{method}, here" for method in RELATED)], rows)
