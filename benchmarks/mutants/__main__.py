"""Which mistakes would the tests not notice? Each mutant is the package with one small mistake in it.

    python -m benchmarks.mutants --reach              which tests reach which line: the suite once, some 10 minutes
    python -m benchmarks.mutants --reach tests/test_cv.py          the same for files that have changed
    python -m benchmarks.mutants --minutes 10         mutants drawn at random from the whole package, added to the table
    python -m benchmarks.mutants --files _core/blend  those of some files
    python -m benchmarks.mutants --again killed       those that lived, by all tests of the files that come near them
    python -m benchmarks.mutants --again closed       the same once tests were written for them
    python -m benchmarks.mutants --page               MUTANTS.md from the table and the judgements
    python -m benchmarks.mutants --smoke              one that is killed

A mutant meets the tests that reach its line, quickest first, in a process that has XGBoost loaded already, until the
first of them fails. One that lives is either no mistake at all (the same models, the same messages), which somebody has
to judge, or a hole in the tests. Judgements stand in `results/mutants_judged.csv` next to the table.
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd

from benchmarks.command_line import command
from benchmarks.mutants import page
from benchmarks.mutants.reach import elsewhere, files_run_here, measured, read_reach
from benchmarks.mutants.running import ROOT, copied_tree, in_child, load_libraries, outcome, outcome_of_files
from benchmarks.mutants.source import Mutant, drawn, mutants_of

REACH = ROOT / "build" / "mutants_reach.json"
AGAIN_SECONDS = 240


def main() -> None:
    parser = command("mutants", __doc__)
    parser.add_argument("--reach", nargs="*")
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--files", nargs="*", default=[""])
    parser.add_argument("--first", type=int, help="the beginning of the draw, of which --files takes a part")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--draw", type=int, default=1, help="a number for this draw, such as 2 once holes are closed")
    parser.add_argument("--again", choices=["killed", "closed"], help="what to call those that are killed now")
    parser.add_argument("--control", action="store_true", help="the same tests meet the package as it is")
    parser.add_argument("--page", action="store_true")
    parser.add_argument("--smoke", action="store_true")
    options = parser.parse_args()
    if options.page:
        page.write(page.TABLE, page.JUDGED, page.PAGE)
        return
    chosen = [mutant for mutant in drawn(options.seed)[: options.first] if mutant.file.startswith(tuple(options.files))]
    load_libraries()
    os.environ.update(OMP_NUM_THREADS="1", CI="1", MPLBACKEND="Agg")
    with tempfile.TemporaryDirectory() as folder:
        tree = copied_tree(Path(folder))
        os.environ["PYTHONPATH"] = str(tree)
        sys.path[:] = [path for path in sys.path if Path(path or ".").resolve() != ROOT]
        if options.smoke:
            smoke(tree)
        elif options.reach is not None:
            measure_reach(tree, options.reach)
        elif options.control:
            control(tree, chosen, options.minutes)
        elif options.again:
            try_again(tree, chosen, options.minutes, options.again)
        else:
            try_new(tree, chosen, options.minutes, options.draw)


def measure_reach(tree: Path, files: list[str]) -> None:
    child = os.fork()
    if not child:
        in_child(tree, lambda: _write_reach(tree, files), silent=False)
    os.waitpid(child, 0)


def _write_reach(tree: Path, files: list[str]) -> int:
    found = measured(tree, files or files_run_here(tree))
    (read_reach(REACH).updated(found) if files and REACH.exists() else found).write(REACH)
    print(f"{len(found.seconds)} tests in {sum(found.seconds.values()):.0f} s, {len(found.lines)} files")
    return 0


def try_new(tree: Path, chosen: list[Mutant], minutes: float, draw: int) -> None:
    """As many of the mutants as the time allows, without those that the table has."""
    reach = read_reach(REACH)
    known = page.read_table(page.TABLE)
    done = set(known[page.SAME].itertuples(index=False, name=None))

    def ended(mutant: Mutant) -> str:
        if tests := reach.of(mutant):
            return outcome(mutant, tree, tests, reach.seconds)
        return outcome_of_files(mutant, tree, elsewhere(mutant), AGAIN_SECONDS)

    _try([mutant for mutant in chosen if key(mutant) not in done], ended, minutes, draw)


def control(tree: Path, chosen: list[Mutant], minutes: float) -> None:
    """What is killed without a mistake would be killed by the tester itself."""
    reach = read_reach(REACH)
    until = time.monotonic() + 60 * minutes
    lived = [outcome(None, tree, reach.of(mutant), reach.seconds) for mutant in chosen if time.monotonic() < until]
    print(f"{len(lived)} controls, {lived.count('lived')} lived")
    if lived.count("lived") < len(lived):
        raise SystemExit("the tests fail without a mistake")


def try_again(tree: Path, chosen: list[Mutant], minutes: float, word: str) -> None:
    """Those that lived and are mistakes."""
    reach = read_reach(REACH)
    known = page.read_table(page.TABLE)
    scored = page.with_judgements(known, page.JUDGED)
    waiting = scored[(scored["outcome"] == "lived") & ~scored["judgement"].str.startswith(page.EQUAL)]
    keys = set(waiting[page.SAME].itertuples(index=False, name=None))

    def ended(mutant: Mutant) -> str:
        found = outcome_of_files(mutant, tree, reach.files(mutant), AGAIN_SECONDS)
        return "lived" if found == "lived" else word

    _try([mutant for mutant in dict.fromkeys(chosen) if key(mutant) in keys], ended, minutes, draw=0)


def _try(mutants: list[Mutant], ended: Callable[[Mutant], str], minutes: float, draw: int) -> None:
    """Each is written into the table as it ends."""
    until = time.monotonic() + 60 * minutes
    for mutant in mutants:
        if time.monotonic() > until:
            break
        began = time.monotonic()
        found = ended(mutant)
        print(f"{found:<7}{mutant.file}:{mutant.line}  {mutant.before}  ->  {mutant.after}", flush=True)
        row = [*key(mutant), found, round(time.monotonic() - began, 1), draw]
        _add(dict(zip(page.COLUMNS, row, strict=True)))


def _add(row: dict[str, Any]) -> None:
    """To the table; who stands there already keeps the number of the draw."""
    known = page.read_table(page.TABLE)
    same = (known[page.SAME] == [row[name] for name in page.SAME]).all(axis=1)
    if same.any():
        row = row | {"draw": known.loc[same, "draw"].max()}
    pd.concat([known[~same], pd.DataFrame([row])]).sort_values(page.SAME).to_csv(page.TABLE, index=False)


def key(mutant: Mutant) -> tuple[str, int, str, str]:
    return mutant.file, mutant.line, mutant.before, mutant.after


def smoke(tree: Path) -> None:
    """The package passes, and a mistake is noticed."""
    tests = ["tests/test_files.py::test_what_arrives_in_part_is_an_error"]
    mutants = [mutant for mutant in mutants_of("_files.py") if "len(content)" in mutant.before][:1]
    found = [outcome(mutant, tree, tests, {}) for mutant in [None, *mutants]]
    if found != ["lived", "killed"]:
        raise SystemExit(f"expected a package that passes and a mutant that is killed, got {found}")
    print("the mutant is killed")


if __name__ == "__main__":
    main()
