"""Fixed methods of ours against every peer, and SVM+ beside the printed numbers."""

from __future__ import annotations

import math
from collections.abc import Sequence

from benchmarks.report.current import MODE, tally_cells
from benchmarks.report.paper import printed
from benchmarks.report.results import Results
from benchmarks.text import table, with_spread

FIXED = ("KbPIB chosen", "JPIB chosen")

PURPOSE = """\
AUC is not what every peer is after: the Fairlearn reductions, FairGBM and MFC give AUC away for fairness, and DP-EBM
for privacy."""

PRINTED_PEER = """\
The one peer that the paper has. Its kernels, its search and its rows are not stated, so that only the size of the
numbers is comparable; ours trains on the rows and with the choices that the notes in the table hold."""
PRINTED, RELATED = "SVM+", ("SVM", "SVM+", "L2-SVM+")


def peers_section(results: Results) -> list[str]:
    sets = results.datasets(MODE)
    lines = ["## One method of ours against each peer (AUC): wins, ties and losses", "", PURPOSE, ""]
    lines += fixed_table(results, sets)
    return [*lines, "### SVM+ beside table 2", "", PRINTED_PEER, "", *printed_table(results, sets)]


def fixed_table(results: Results, sets: Sequence[str]) -> list[str]:
    rows = []
    for peer in results.peers(MODE):
        row = [peer]
        for method in FIXED:
            row += tally_cells([results.difference(MODE, dataset, method, peer, "auc") for dataset in sets])
        rows.append(row)
    header = [text for method in FIXED for text in (method, "median difference")]
    return table(["peer", *header], rows)


def printed_table(results: Results, sets: Sequence[str]) -> list[str]:
    rows = []
    for dataset in sets:
        paper, spread = (printed("table_auc", column, dataset=dataset, method=PRINTED) for column in ("mean", "std"))
        has_run = len(results.folds(MODE, dataset, PRINTED, "auc")) > 0
        if has_run and paper is not None and not math.isnan(paper):
            found = [[f(MODE, dataset, name, "auc") for f in (results.mean, results.spread)] for name in RELATED]
            rows.append([dataset, with_spread(paper, spread), *(with_spread(*pair) for pair in found)])
    return table(["set", f"{PRINTED}, printed", *(f"{method}, here" for method in RELATED)], rows)
