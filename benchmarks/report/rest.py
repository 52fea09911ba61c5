"""What did not run and why, and which peers were trained on fewer rows than there are."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence

from benchmarks.data.folds import N_FOLDS
from benchmarks.report.results import Results
from benchmarks.text import joined, number, paragraph, table

KINDS = {"refused": "not for this set", "error": "failed"}
NOTE_LENGTH = 160


def troubles_section(results: Results) -> list[str]:
    lines = ["## 4. What could not run, and why", ""]
    lines += table(["sets", "method", "mode", "folds", "what", "why"], troubles(results))
    if rows := incomplete(results):
        lines += [INCOMPLETE, "", *table(["mode", "set", "method", "folds", "seconds of a fold", "of the rest"], rows)]
        hours = sum(missing_seconds(results).values()) / 3600
        lines += [f"All that is missing would take {number(hours, 1)} hours of one core.", ""]
    else:
        lines += ["Every method that runs on a set ran on all of its folds.", ""]
    return [*lines, paragraph(NOTED.format(most=most_rows(results))), ""]


INCOMPLETE = """\
Not complete, and what it would take: the median seconds of a fold that is there, and so many for each that is not. The
threshold of a method needs the predictions of all folds, which are not committed: whoever adds folds runs all ten into
a file of their own (`python -m benchmarks.run --out mine.csv`) and puts them in the place of these (`--merge`)."""
NOTED = """\
The files have a note (measure `note`) for what must be known of a method that ran on a fold, such as the settings that
it chose. Some methods train on fewer rows than a large set has: {most}."""


def troubles(results: Results) -> list[list[str]]:
    """One row per method and reason."""
    rows = results.lines[results.lines["measure"].isin(KINDS)]
    keys = ["dataset", "method", "mode", "measure", "note"]
    return sharing(
        [*map(str, where[:3]), str(group["fold"].nunique()), KINDS[where[3]], shortened(where[4])]
        for where, group in rows.fillna({"note": ""}).groupby(keys, sort=False)
    )


def sharing(rows: Iterable[Sequence[str]]) -> list[list[str]]:
    """Rows that differ in nothing but the set become one."""
    sets: dict[tuple[str, ...], list[str]] = defaultdict(list)
    for dataset, *rest in rows:
        sets[tuple(rest)].append(dataset)
    return [[joined(names), *rest] for rest, names in sets.items()]


def incomplete(results: Results) -> list[list[str]]:
    """The sets and methods that lack folds."""
    missing = missing_seconds(results)
    return [
        [mode, dataset, method, f"{count} of {N_FOLDS}", number(seconds / (N_FOLDS - count), 1), number(seconds, 0)]
        for mode in sorted(set(results.lines["mode"]))
        for (dataset, method), count in results.unfinished(mode).items()
        for seconds in [missing[mode, dataset, method]]
    ]


def missing_seconds(results: Results) -> dict[tuple[str, str, str], float]:
    """What the missing folds of a mode, set and method would take, by the median of those that are there."""
    timed = results.lines[results.lines["measure"] == "auc"].groupby(["mode", "dataset", "method"])["seconds"].median()
    return {
        (mode, *where): float(timed[mode, *where]) * (N_FOLDS - count)
        for mode in sorted(set(results.lines["mode"]))
        for where, count in results.unfinished(mode).items()
    }


def most_rows(results: Results) -> str:
    """The most rows that the notes say of each method."""
    notes = results.lines[results.lines["measure"] == "note"]
    rows = notes["note"].astype(str).str.extract(r"trained on (\d+) of")[0].dropna().astype(int)
    most = rows.groupby(notes["method"].reindex(rows.index), sort=False).max()
    return joined(f"{method} {count:,}" for method, count in most.items()) if len(most) else "none here"


def shortened(text: str) -> str:
    words = str(text)
    return words if len(words) <= NOTE_LENGTH else words[: NOTE_LENGTH - 1].rstrip() + "…"
