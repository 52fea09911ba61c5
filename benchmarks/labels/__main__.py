"""Late labels, retraining, retired features and labelling functions, measured.

    python -m benchmarks.labels                    what is not in the CSV yet, and the page
    python -m benchmarks.labels --parts late,weights --repeats 5
    python -m benchmarks.labels --page             only the page and its picture again, from the CSV
    python -m benchmarks.labels --smoke            a tiny run on made data, in a folder that is thrown away

Each line of the CSV is one model: (part, setting, method, repeat) and its scores on test rows. One process.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from benchmarks import FOLDER
from benchmarks.command_line import asked, command
from benchmarks.data import LOAD_ERRORS
from benchmarks.labels import made, public
from benchmarks.labels.page import write_page
from benchmarks.unlabelled.splits import MADE

RESULTS, PAGE = FOLDER / "results" / "labels.csv", FOLDER / "LABELS.md"
REPEATS = 20
COLUMNS = (
    *("part", "setting", "method", "repeat", "labels"),
    *("auc", "logloss", "bias", "shift", "flips", "right_to_wrong"),
)


def of_sets(measure: Callable[[str, int], Iterator[Any]], names: Sequence[str]) -> Callable[[int], Iterator[Any]]:
    return lambda repeat: (line for name in names for line in measure(name, repeat))


PARTS: dict[str, Callable[[int], Iterator[dict[str, Any]]]] = {
    "late": made.late,
    "dated": lambda repeat: public.dated(repeat, public.screened(), public.WINDOW, public.READ_ON),
    "weights": made.weights,
    "retraining": of_sets(public.retraining, list(public.RETRAINED)),
    "retiring": of_sets(public.retiring, public.RETIRED),
    "functions": made.functions,
}
SMOKE = {
    "late": lambda repeat: made.late(repeat, 300, 300),
    "dated": lambda repeat: public.dated(repeat, *made.stays(repeat, 300)),
    "weights": lambda repeat: made.weights(repeat, 300, 300),
    "retraining": of_sets(public.retraining, [MADE]),
    "retiring": of_sets(public.retiring, [MADE]),
    "functions": lambda repeat: made.functions(repeat, 300, 300),
}


def run(measures: dict[str, Callable[[int], Iterator[dict[str, Any]]]], repeats: int, results: Path) -> None:
    """Append the parts and repeats that are not in the file yet."""
    done = set()
    if results.exists():
        done = set(pd.read_csv(results)[["part", "repeat"]].itertuples(index=False, name=None))
    for repeat in range(repeats):
        for part, measure in measures.items():
            if (part, repeat) not in done:
                lines = [{"part": part, "repeat": repeat, **line} for line in measure(repeat)]
                table = pd.DataFrame(lines, columns=list(COLUMNS))
                table.to_csv(results, mode="a", header=not results.exists(), index=False, float_format="%.6g")
                print(part, repeat, flush=True)


def smoke() -> None:
    """Two repeats, in a folder that is thrown away."""
    with tempfile.TemporaryDirectory() as folder:
        results, page = Path(folder) / RESULTS.name, Path(folder) / PAGE.name
        run(SMOKE, 2, results)
        write_page(results, page)
        print(page.read_text(encoding="utf-8"))


def parser() -> argparse.ArgumentParser:
    """The command line."""
    parsed = command("labels", __doc__)
    parsed.add_argument("--parts", help=f"comma-separated (default: {','.join(PARTS)})")
    parsed.add_argument("--repeats", type=int, default=REPEATS, help="of each part (default: %(default)s)")
    parsed.add_argument("--page", action="store_true", help="only write the page again")
    parsed.add_argument("--smoke", action="store_true", help="a tiny run on made data")
    return parsed


def main(arguments: Sequence[str] | None = None) -> None:
    given = parser().parse_args(arguments)
    if given.repeats < 1:
        raise SystemExit(f"--repeats must be at least 1, got {given.repeats}")
    names = list(PARTS) if given.parts is None else asked(given.parts, PARTS, "part")
    if given.smoke:
        smoke()
        return
    if not given.page:
        try:
            run({name: PARTS[name] for name in names}, given.repeats, RESULTS)
        except LOAD_ERRORS as error:
            raise SystemExit(str(error)) from None
    write_page(RESULTS, PAGE)


if __name__ == "__main__":
    main()
