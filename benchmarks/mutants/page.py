"""MUTANTS.md: how many of the mutants the tests noticed, and what is to be said of those that lived."""

from __future__ import annotations

import math
from pathlib import Path

import pandas as pd

from benchmarks import FOLDER
from benchmarks.text import table

TABLE = FOLDER / "results" / "mutants.csv"
JUDGED = FOLDER / "results" / "mutants_judged.csv"
PAGE = FOLDER / "MUTANTS.md"

COLUMNS = ["file", "line", "before", "after", "outcome", "seconds", "draw"]
SAME = ["file", "line", "before", "after"]
EQUAL, CLOSED = "no mistake", "closed"
KILLED = ("killed", "hung")
SHOWN = 90
"""Letters of an expression."""


def read_table(path: Path) -> pd.DataFrame:
    """What was tried so far; nothing is missing in it."""
    return pd.read_csv(path, keep_default_na=False) if path.exists() else pd.DataFrame(columns=COLUMNS)


def with_judgements(expected: pd.DataFrame, path: Path) -> pd.DataFrame:
    """With what somebody says of those that lived."""
    scored = pd.read_csv(path, keep_default_na=False) if path.exists() else pd.DataFrame(columns=[*SAME, "judgement"])
    both = expected.merge(scored.drop_duplicates(SAME), on=SAME, how="left")
    return both.assign(judgement=both["judgement"].fillna("not judged"), package=both["file"].str.split("[/.]").str[0])


def write(expected: Path, scored: Path, out: Path) -> None:
    out.write_text(page(with_judgements(read_table(expected), scored)), encoding="utf-8")


def page(expected: pd.DataFrame) -> str:
    newest = expected[expected["draw"] == expected["draw"].max()]
    lived = newest[~newest["outcome"].isin(KILLED)]
    equal = lived["judgement"].str.startswith(EQUAL)
    parts = {
        "Closed": lived[lived["outcome"] == CLOSED],
        "Left": lived[(lived["outcome"] != CLOSED) & ~equal],
        "No mistakes": lived[(lived["outcome"] != CLOSED) & equal],
    }
    lines = [
        "# Mutants: which mistakes the tests would not notice",
        "",
        "Made by `python -m benchmarks.mutants --page` from `results/mutants.csv` and `results/mutants_judged.csv`. A",
        "mutant is the package with one small mistake: another operator, constant or condition, a call or a keyword",
        "argument left out. It meets the tests that reach its line, quickest first, for seconds of tests; who lives",
        "meets those that should notice, and is judged by hand. Drawn at random, each package in proportion. Draws 1",
        "and 4 left out the clusters (`_dask`, `_spark`, 5 % of all mutants).",
        "",
        "## Score",
        "",
        "Of the mutants that are mistakes, how many the tests noticed before, with standard error and 95 % interval",
        "(Wilson); then how many they notice now that holes are closed, which flatters a draw that showed the holes. A",
        "draw with a higher number was made after the holes of those before it were closed: only such a one says what",
        "the tests are worth by then (`--seed 1 --draw 2`). The lines of older draws stand in files that have changed",
        "since: they have their scores alone, and the tables below are those of the newest.",
        "",
        *table(
            ["draw", "mutants", "killed", "no mistakes", "closed since", "left", "score, %", "95 %", "now, %"],
            [_scores(str(draw), own) for draw, own in expected.groupby("draw")],
        ),
        "## By package",
        "",
        *table(
            ["package", "mutants", "killed", "no mistakes", "closed since", "left"],
            [[f"`{package}`", *map(str, _counts(own))] for package, own in newest.groupby("package")],
        ),
        "## Those that lived",
        "",
    ]
    for title, own in parts.items():
        lines += [f"### {title}", "", *table(["where", "mutant", "judgement"], map(_line, own.itertuples()))]
    return "\n".join(lines)


def _counts(expected: pd.DataFrame) -> tuple[int, int, int, int, int]:
    """Mutants, killed, no mistakes, closed, left."""
    killed = expected["outcome"].isin(KILLED)
    closed = expected["outcome"] == CLOSED
    equal = ~killed & ~closed & expected["judgement"].str.startswith(EQUAL)
    return (
        len(expected),
        int(killed.sum()),
        int(equal.sum()),
        int(closed.sum()),
        int((~killed & ~closed & ~equal).sum()),
    )


def _scores(name: str, expected: pd.DataFrame) -> list[str]:
    n, killed, equal, closed, left = _counts(expected)
    real = n - equal
    share = killed / real
    low, high = wilson(killed, real)
    error = math.sqrt(share * (1 - share) / real)
    score = [f"{100 * share:.1f} ({100 * error:.1f})", f"{100 * low:.1f} to {100 * high:.1f}"]
    return [name, *map(str, (n, killed, equal, closed, left)), *score, f"{100 * (killed + closed) / real:.1f}"]


def wilson(hits: int, n: int, z: float = 1.959964) -> tuple[float, float]:
    """An interval for a share, which has a width where all were hit."""
    middle = (hits + z * z / 2) / (n + z * z)
    half = z / (n + z * z) * math.sqrt(hits * (n - hits) / n + z * z / 4)
    return middle - half, min(middle + half, 1.0)


def _line(row: tuple) -> list[str]:
    before, after = _shown(row.before, row.after)
    return [f"`{row.file}:{row.line}`", f"`{before}` → `{after}`", row.judgement]


def _shown(*texts: str) -> list[str]:
    """Long expressions from a little before the first letter that differs."""
    same = next((i for i, letters in enumerate(zip(*texts, strict=False)) if len(set(letters)) > 1), 0)
    start = max(same - SHOWN // 3, 0)
    start = start if max(map(len, texts)) > SHOWN else 0
    return ["..." * bool(start) + text[start : start + SHOWN] + "..." * (len(text) > start + SHOWN) for text in texts]
