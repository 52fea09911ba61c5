"""The best of ours against the best peer, and fixed methods of ours against every peer."""

from __future__ import annotations

import math
from collections.abc import Sequence

from benchmarks.report_current import MODE, difference_cell, mean_cell
from benchmarks.report_intervals import verdict, wins_ties_losses
from benchmarks.report_paper import printed
from benchmarks.report_results import OURS, Results
from benchmarks.report_text import number, signed, table, with_spread

FIXED = ("KbPIB chosen", "JPIB chosen")

ABOUT = """\
The best is the one with the highest mean AUC on the test folds themselves. Picking it there flatters both sides, and
most of all the side with more methods to pick from; the interval knows nothing of it. The rank is that of our best
among itself and all peers. The comparison without that fault is below: one fixed method of ours against each peer."""

PURPOSE = """\
AUC is not what every peer is after: the Fairlearn reductions, FairGBM and MFC give AUC away for fairness, and DP-EBM
for privacy."""

PRINTED_PEER = """\
The one peer that the paper has. Its kernels, its search and its rows are not told, so that the numbers are not
comparable beyond their size; ours trains on the rows and with the choices that section 4 notes."""
PRINTED, RELATED = "SVM+", ("SVM", "SVM+", "L2-SVM+")


def peers_section(results: Results) -> list[str]:
    lines = ["## 3. The best of ours against the best peer", ""]
    sets = results.datasets(MODE)
    if not any(best(results, dataset, results.peers(MODE)) for dataset in sets):
        return [*lines, "No results of peers in current mode yet.", ""]
    lines += [ABOUT, "", *best_table(results, sets)]
    lines += ["### One method of ours against each peer (AUC): wins, ties and losses", "", PURPOSE, ""]
    lines += fixed_table(results, sets)
    for method in FIXED:
        rows = [[dataset, *pair_cells(results, dataset, method)] for dataset in sets]
        lines += [f"{method} less the peer:", "", *table(["set", *results.peers(MODE)], rows)]
    return [*lines, "### SVM+ beside table 2", "", PRINTED_PEER, "", *printed_table(results, sets)]


def best(results: Results, dataset: str, methods: Sequence[str]) -> str | None:
    """The method with the highest mean AUC; None where none has run."""
    means = {method: results.mean(MODE, dataset, method, "auc") for method in methods}
    means = {method: mean for method, mean in means.items() if mean == mean}
    return max(means, key=means.__getitem__) if means else None


def best_table(results: Results, sets: Sequence[str]) -> list[str]:
    rows = []
    for dataset in sets:
        peers = [name for name in results.peers(MODE) if len(results.folds(MODE, dataset, name, "auc"))]
        our_best, best_peer = best(results, dataset, OURS), best(results, dataset, peers)
        if our_best is None or best_peer is None:
            continue
        ours, theirs = (results.mean(MODE, dataset, method, "auc") for method in (our_best, best_peer))
        rank = 1 + sum(results.mean(MODE, dataset, peer, "auc") > ours for peer in peers)
        difference = results.difference(MODE, dataset, our_best, best_peer, "auc")
        row = [dataset, our_best, number(ours), best_peer, number(theirs), f"{rank} of {len(peers) + 1}"]
        rows.append([*row, difference_cell(difference)])
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


def pair_cells(results: Results, dataset: str, method: str) -> list[str]:
    return [difference_cell(results.difference(MODE, dataset, method, peer, "auc")) for peer in results.peers(MODE)]
