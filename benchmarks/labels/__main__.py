"""Late labels, retraining, retired features and labelling functions, measured.

    python -m benchmarks.labels --jobs 2
    python -m benchmarks.labels --only part=late,weights
    python -m benchmarks.labels --smoke

Each line is one model: (part, setting, method, repeat) and its scores on test rows.
"""

from __future__ import annotations

from collections.abc import Iterator

from benchmarks.cells import Line, Table, main
from benchmarks.data import MADE
from benchmarks.labels import made, public
from benchmarks.labels.page import SECTIONS, text

REPEATS = 20


def measure(part: str, repeat: int, small: bool = False) -> Iterator[Line]:
    """Every model of a part, with all columns of the table."""
    sizes = (300, 300) if small else ()
    if part == "dated":
        found = public.dated(repeat, *(made.stays(repeat, 300) if small else public.published()))
    elif part in ("retraining", "retiring"):
        names = [MADE] if small else public.RETRAINED if part == "retraining" else public.RETIRED
        found = (row for name in names for row in getattr(public, part)(name, repeat))
    else:
        found = getattr(made, part)(repeat, *sizes)
    columns = ("setting", "method", "labels", "auc", "logloss", "bias", "shift", "flips", "right_to_wrong")
    return ({column: row.get(column) for column in columns} for row in found)


PARTS = [section[0] for section in SECTIONS]
TABLES = [
    Table(
        "labels",
        ("part", "repeat"),
        lambda: [(part, repeat) for repeat in range(REPEATS) for part in PARTS],
        measure,
        [(part, 0) for part in PARTS],
    )
]

if __name__ == "__main__":
    main("labels", __doc__, TABLES, text)
