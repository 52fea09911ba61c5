"""The paper's questions, from the results: JPIB against KbPIB (Q2), fairness (Q3), and what the gains follow."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from benchmarks.intervals import LOSS, TIE, WIN, Interval, verdict, wins_ties_losses
from benchmarks.report.current import MODE
from benchmarks.report.results import GROUP_MEASURES, NF, Results
from benchmarks.text import number, paragraph, signed, table

Pairs = Mapping[str, tuple[str, str]]
PAIRS: Pairs = {"the paper's alpha": ("JPIB", "KbPIB"), "weight chosen on validation": ("JPIB chosen", "KbPIB chosen")}

HEAD_TO_HEAD = """\
**Q2: is JPIB better than KbPIB?** JPIB less KbPIB in AUC on the same folds, with the corrected interval of
today's settings: """

FAIRNESS = """\
**Q3: are the models fairer?** Each privileged column of each set, the method's gap less that of NF on the same folds: a
win is a gap that is smaller by more than its interval. Nothing here asks for fairness: neither method knows which
column is sensitive, so a gap that shrinks is a by-product. Constraints ask for it
([FAIRNESS.md](FAIRNESS.md))."""

CORRELATION = """\
**Does a better PF make a better student?** Pearson's correlation over the sets, in current mode. The paper prints .237
for KbPIB and .306 for JPIB and does not say of what: of the AUCs themselves, which are alike on easy sets whoever is
taught by whom, or of the gains over NF. Both are here. Over {sets} sets a correlation below about {least} is what
chance gives."""


class Gap(NamedTuple):
    """One measure of one privileged column, as far as a method has it."""

    dataset: str
    column: str
    short: str
    difference: Interval


def questions_section(results: Results) -> list[str]:
    sets, known = results.datasets(MODE), set(results.methods(MODE))
    pairs = {name: pair for name, pair in PAIRS.items() if known >= set(pair)}
    if not pairs:
        return []
    lines = ["## The paper's questions", "", paragraph(HEAD_TO_HEAD + in_words(results, sets, pairs)), ""]
    lines += [FAIRNESS, "", *fairness_table(results, sets, pairs)]
    lines += [paragraph(fairness_in_words(results, sets)), ""]
    return [*lines, *correlations(results, sets)]


def in_words(results: Results, sets: Sequence[str], pairs: Pairs) -> str:
    result = []
    for name, pair in pairs.items():
        found = [item for dataset in sets if (item := results.difference(MODE, dataset, *pair, "auc")) is not None]
        wins, ties, losses = wins_ties_losses(map(verdict, found))
        middle = float(np.median([item.mean for item in found])) if found else float("nan")
        result.append(f"with {name} JPIB wins {wins}, loses {losses} and ties {ties} (median {signed(middle, 4)})")
    return f"{'; '.join(result)}."


def gaps_of(results: Results, sets: Sequence[str], method: str, other: str) -> Iterator[Gap]:
    for dataset in sets:
        for column in results.privileged_columns(MODE, dataset):
            for short in GROUP_MEASURES:
                difference = results.difference(MODE, dataset, method, other, f"{short}:{column}")
                if difference is not None:
                    yield Gap(dataset, column, short, difference)


def tally(gaps: Sequence[Gap]) -> dict[str, Counter[str]]:
    """By measure, how often which verdict."""
    found: dict[str, Counter[str]] = {short: Counter() for short in GROUP_MEASURES}
    for gap in gaps:
        found[gap.short][verdict(gap.difference, higher_is_better=False)] += 1
    return found


def fairness_table(results: Results, sets: Sequence[str], pairs: Pairs) -> list[str]:
    rows = []
    for method in (name for pair in pairs.values() for name in reversed(pair)):
        counts = tally(list(gaps_of(results, sets, method, NF)))
        rows.append([method, *(" / ".join(str(counts[s][v]) for v in (WIN, TIE, LOSS)) for s in GROUP_MEASURES)])
    return table(["method", *(f"{name}: fairer / no difference / less fair" for name in GROUP_MEASURES.values())], rows)


def fairness_in_words(results: Results, sets: Sequence[str]) -> str:
    """What the table above comes to, over both methods with the paper's alpha."""
    gaps = [gap for method in PAIRS["the paper's alpha"] for gap in gaps_of(results, sets, method, NF)]
    counts = sum(tally(gaps).values(), Counter())
    columns = len({(gap.dataset, gap.column) for gap in gaps})
    return (
        f"In words: of {sum(counts.values())} comparisons on {columns} privileged columns with the paper's alpha "
        f"{counts[WIN]} gaps are smaller than those of plain boosting by more than their interval, {counts[LOSS]} are "
        f"larger and {counts[TIE]} do not differ significantly. At 95 % about one in forty would be smaller, "
        "and one in forty larger, by chance alone."
    )


def correlations(results: Results, sets: Sequence[str]) -> list[str]:
    complete = [
        name for name in sets if all(len(results.folds(MODE, name, m, "auc")) for m in ("PF", NF, "KbPIB", "JPIB"))
    ]

    def means(method: str) -> np.ndarray:
        return np.array([results.mean(MODE, name, method, "auc") for name in complete])

    rows = []
    for method, in_paper in (("KbPIB", 0.237), ("JPIB", 0.306)):
        alike = np.corrcoef(means("PF"), means(method))[0, 1]
        gain = np.corrcoef(means("PF") - means(NF), means(method) - means(NF))[0, 1]
        rows.append([method, number(alike), number(gain), number(in_paper)])
    least = 1.96 / np.sqrt(len(complete) - 1)
    header = ["method", "AUC of PF and of the method", "gain of PF and of the method over NF", "printed"]
    return [CORRELATION.format(sets=len(complete), least=number(least, 1)), "", *table(header, rows)]
