"""Accuracy against fairness: constraints as teachers over kl_weight, with their peers on the same folds.

    python -m benchmarks.frontier                   five public sets, five folds: the table of FRONTIER.md
    python -m benchmarks.frontier --steps           only what the Hessian should count, for the section on the step
    python -m benchmarks.frontier --heavy           only the step at heavy weights, for the section on it
    python -m benchmarks.frontier --groups          only the step with many groups, for the section on them
    python -m benchmarks.frontier --rows            only the step row by row and from a model, for the section on it
    python -m benchmarks.frontier --rates           only each constraint on two sets, for the section on them
    python -m benchmarks.frontier --report          make FRONTIER.md and its pictures from the CSVs again
    python -m benchmarks.frontier --smoke           a tiny run on made data that shows that it works

Results are appended to ``benchmarks/results/frontier.csv``, one line per (set, fold, method, level, measure); a run
that was stopped goes on where it was. Nobody sees the sensitive column at prediction.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd
from tqdm import tqdm

from benchmarks import FOLDER
from benchmarks.command_line import command
from benchmarks.frontier.cells import SETS, Split, cells, made_split, public_split, run_cell
from benchmarks.frontier.groups import measured_groups
from benchmarks.frontier.heavy import MADE, in_part, made_rows, measured_heavy
from benchmarks.frontier.page import write_page
from benchmarks.frontier.rates import KINDS, adult_halves, made_halves, measured_peers, measured_rates
from benchmarks.frontier.rows import measured_rows
from benchmarks.frontier.steps import measured_steps

RESULTS = FOLDER / "results" / "frontier.csv"
STEPS = FOLDER / "results" / "frontier_steps.csv"
HEAVY = FOLDER / "results" / "frontier_heavy.csv"
GROUPS = FOLDER / "results" / "frontier_groups.csv"
BY_ROW = FOLDER / "results" / "frontier_rows.csv"
RATES = FOLDER / "results" / "frontier_rates.csv"
SECTIONS = (RATES, STEPS, HEAVY, GROUPS, BY_ROW)
STEP_SETS = ("adult", "bank")
PAGE = FOLDER / "FRONTIER.md"
FOLDS = 5


def run(sets: list[str], folds: int, results: Path, split_of: Any) -> None:
    results.parent.mkdir(parents=True, exist_ok=True)
    done = set()
    if results.exists():
        table = pd.read_csv(results)
        done = set(zip(table.dataset, table.fold, table.method, table.level, strict=True))
    todo = [(s, f, m, v) for s in sets for f in range(folds) for m, v in cells(s) if (s, f, m, v) not in done]
    split, source = None, None
    for name, number, method, level in tqdm(todo, disable=None):
        if source != (name, number):
            split, source = split_of(name, number), (name, number)
        try:
            found: dict[str, Any] = run_cell(split, method, level)
        except ImportError as error:
            found = {"error": str(error).splitlines()[0]}
        lines = [
            {"dataset": name, "method": method, "level": level, "fold": number, "measure": measure, "value": value}
            for measure, value in found.items()
        ]
        pd.DataFrame(lines).to_csv(results, mode="a", header=not results.exists(), index=False)


def run_rates(splits: Mapping[tuple[str, int], Callable[[], Split]], results: Path, **sizes: Any) -> None:
    """Append the lines of each split and constraint that the file lacks."""
    done = set()
    if results.exists():
        found = pd.read_csv(results).fillna({"constraint": ""})
        done = set(zip(found.dataset, found.fold, found.constraint, strict=True))
    for (name, fold), split_of in splits.items():
        todo = [constraint for constraint in ("", *KINDS) if (name, fold, constraint) not in done]
        if todo:
            split = split_of()
            ours = measured_rates(name, fold, split, **sizes, constraints=todo)
            lines = pd.concat([ours, measured_peers(name, fold, split, todo)])
            lines.to_csv(results, mode="a", header=not results.exists(), index=False, float_format="%.8g")


RATE_SETS = {"made": made_halves, "adult": adult_halves}


def main() -> None:
    parser = command("frontier", __doc__)
    parser.add_argument("--sets", default=",".join(SETS), help="comma-separated (default: %(default)s)")
    parser.add_argument("--folds", type=int, default=FOLDS, help="how many of the ten folds (default: %(default)s)")
    parser.add_argument("--steps", action="store_true", help="only measure the rules for the Hessian")
    parser.add_argument("--heavy", action="store_true", help="only measure the step at heavy weights")
    parser.add_argument("--groups", action="store_true", help="only measure the step with many groups")
    parser.add_argument("--rows", action="store_true", help="only measure the step row by row and from a model")
    parser.add_argument("--rates", action="store_true", help="only measure each constraint on two sets")
    parser.add_argument("--report", action="store_true", help="only make the page from the results")
    parser.add_argument("--smoke", action="store_true", help="tiny sizes, in a folder that is thrown away")
    arguments = parser.parse_args()
    if arguments.smoke:
        with tempfile.TemporaryDirectory() as folder:
            names = ("frontier.csv", "rates.csv", "steps.csv", "heavy.csv", "groups.csv", "rows.csv")
            results, *sections = (Path(folder) / name for name in names)
            rates, steps, heavy, groups, by_row = sections
            run(["made"], 2, results, made_split)
            run_rates({("made", 0): partial(made_split, "made", 0)}, rates, weights=[10.0], rounds=[10, 20])
            measured_steps("made", made_split("made", 0)).to_csv(steps, index=False)
            measured_heavy("made", made_split("made", 0), [50.0], [10, 20]).to_csv(heavy, index=False)
            measured_groups([200], [2], [30.0]).to_csv(groups, index=False)
            measured_rows(200, [30.0], 5).to_csv(by_row, index=False)
            write_page(results, sections, Path(folder) / "FRONTIER.md")
            print((Path(folder) / "FRONTIER.md").read_text())
        return
    if arguments.steps:
        pd.concat([measured_steps(name, public_split(name, 0)) for name in STEP_SETS]).to_csv(STEPS, index=False)
    elif arguments.heavy:
        splits = {name: in_part(public_split(name, 0)) for name in STEP_SETS}
        splits |= {name: made_rows(rows) for name, rows in MADE.items()}
        pd.concat(map(measured_heavy, splits, splits.values())).to_csv(HEAVY, index=False)
    elif arguments.groups:
        measured_groups().to_csv(GROUPS, index=False)
    elif arguments.rows:
        measured_rows().to_csv(BY_ROW, index=False)
    elif arguments.rates:
        run_rates(
            {
                (name, i): partial(lambda source, i: source()[i], source, i)
                for name, source in RATE_SETS.items()
                for i in (0, 1)
            },
            RATES,
        )
    elif not arguments.report:
        run(arguments.sets.split(","), arguments.folds, RESULTS, public_split)
    write_page(RESULTS, SECTIONS, PAGE)


if __name__ == "__main__":
    main()
