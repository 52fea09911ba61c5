"""Which mistakes would the tests not notice? Each mutant is the package with one small mistake in it.

    python -m benchmarks.mutants --minutes 15         mutants drawn at random from the whole package, added to the table
    python -m benchmarks.mutants --files _core/blend  every mutant of some files
    python -m benchmarks.mutants --page               MUTANTS.md from the table and the judgements
    python -m benchmarks.mutants --smoke              one that is killed

A mutant runs the tests of its room (`TESTS`) in a process that has XGBoost loaded already, until the first of them
fails. One that lives is either no mistake at all (the same models, the same messages), which somebody has to judge, or
a hole in the tests. Judgements stand in `results/mutants_judged.csv` next to the table.
"""

from __future__ import annotations

import ast
import dataclasses
import os
import random
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pandas as pd

from benchmarks import FOLDER
from benchmarks.command_line import command
from benchmarks.text import table

ROOT = FOLDER.parent
TABLE = FOLDER / "results" / "mutants.csv"
JUDGED = FOLDER / "results" / "mutants_judged.csv"
PAGE = FOLDER / "MUTANTS.md"
SECONDS = 90
"""A mutant whose tests take longer hangs, which is noticed as well."""

# The tests of a room, or of a file in it: the longest name that the file begins with counts. Quick ones first.
TESTS = {
    "__init__": "public_names house",
    "__main__": "cli cli_process cli_unlabelled",
    "_arrays": "metrics",
    "_files": "files",
    "_warnings": "bad_input labels",
    "_cli": "cli cli_answers cli_choice cli_input cli_unlabelled",
    "_cli/demo": "cli",
    "_constraints": "constraints seldom",
    "_core": "supervision losses train bad_input teachers",
    "_core/attached": "objective cv supervision",
    "_core/checkpoint": "continuation",
    "_core/cv": "cv supervision seldom",
    "_core/joint": "joint supervision continuation",
    "_core/native": "native supervision",
    "_core/objective": "objective losses bad_input supervision",
    "_core/target": "target labels sklearn_unlabelled",
    "_importance": "importance",
    "_plots": "plotting",
    "_report": "report",
    "_rows": "groups target supervision metrics bad_input",
    "_rows/alongside": "labels sklearn",
    "_rows/tables": "sklearn sklearn_unlabelled importance",
    "_rows/views": "sklearn",
    "_rows/words": "cli_input cli_unlabelled",
    "_selection": "selection selection_input selection_groups selection_unlabelled compare seldom",
    "_sklearn": "sklearn sklearn_unlabelled labels",
    "_sklearn/cv": "sklearn_cv",
    "_sklearn/splitters": "sklearn_unlabelled",
    "_stats": "selection metrics_report teachers selection_groups",
    "_xgb": "train native supervision continuation bad_input",
    "_xgb/model_file": "continuation cli_choice",
    "_xgb/signature": "train sklearn",
    "_xgb/trees": "importance",
    "datasets": "selection_input train cli",
    "metrics": "metrics metrics_report metrics_abroca",
    "metrics/_watch": "metrics_watch",
}
# Their tests start clusters.
LEFT_OUT = ("_dask", "_spark", "constraints.py", "dask.py", "spark.py")

_SWAPS: dict[type, type] = {
    **{ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq},
    **{ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In, ast.And: ast.Or, ast.Or: ast.And},
    **{ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult, ast.BitAnd: ast.BitOr},
    **{ast.BitOr: ast.BitAnd, ast.USub: ast.UAdd, ast.FloorDiv: ast.Mult},
}


@dataclasses.dataclass(frozen=True)
class Mutant:
    """A file with another expression between two offsets."""

    file: str
    line: int
    before: str
    after: str
    begin: int
    end: int

    def source(self, original: bytes) -> bytes:
        return original[: self.begin] + f"({self.after})".encode() + original[self.end :]


def mutants_of(path: Path) -> Iterator[Mutant]:
    """Every mutant of a file; annotations, messages and documentation are no code."""
    source = path.read_bytes()
    starts = [0]
    for line in source.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    name = path.relative_to(ROOT / "pi_xgb").as_posix()
    for node in _code(ast.parse(source)):
        for changed in _changed(node):
            begin = starts[node.lineno - 1] + node.col_offset
            end = starts[node.end_lineno - 1] + node.end_col_offset
            yield Mutant(name, node.lineno, ast.unparse(node), ast.unparse(changed), begin, end)


def _code(node: ast.AST) -> Iterator[ast.expr]:
    if isinstance(node, (ast.Raise, ast.JoinedStr, ast.ImportFrom, ast.Import)):
        return
    if isinstance(node, ast.expr) and not (isinstance(node, ast.Call) and _only_tells(node)):
        yield node
    elif isinstance(node, ast.expr):
        return
    for field, value in ast.iter_fields(node):
        if field in ("annotation", "returns", "decorator_list"):
            continue
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.AST):
                yield from _code(child)


def _only_tells(call: ast.Call) -> bool:
    named = ast.unparse(call.func)
    return named in ("warn_user", "say", "_say", "show", "TypeVar") or named.endswith(".add_argument")


def _changed(node: ast.expr) -> Iterator[ast.expr]:
    if isinstance(node, ast.Compare):
        for i, operator in enumerate(node.ops):
            if type(operator) in _SWAPS:
                operators = [*node.ops[:i], _SWAPS[type(operator)](), *node.ops[i + 1 :]]
                yield ast.Compare(node.left, operators, node.comparators)
    elif isinstance(node, ast.BinOp) and type(node.op) in _SWAPS:
        yield ast.BinOp(node.left, _SWAPS[type(node.op)](), node.right)
    elif isinstance(node, ast.BoolOp):
        yield ast.BoolOp(_SWAPS[type(node.op)](), node.values)
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, (ast.Not, ast.Invert)):
        yield node.operand
    elif isinstance(node, ast.UnaryOp) and type(node.op) in _SWAPS:
        yield ast.UnaryOp(_SWAPS[type(node.op)](), node.operand)
    elif isinstance(node, ast.IfExp):
        yield ast.IfExp(ast.UnaryOp(ast.Not(), node.test), node.body, node.orelse)
    elif isinstance(node, ast.Constant) and isinstance(node.value, bool):
        yield ast.Constant(not node.value)
    elif isinstance(node, ast.Constant) and isinstance(node.value, (int, float)):
        yield ast.Constant(node.value + 1)


def tests_of(file: str) -> list[str]:
    """The test files that should notice a mistake in this one."""
    stem = file.removesuffix(".py")
    found = max((name for name in TESTS if stem == name or stem.startswith(f"{name}/")), key=len, default="")
    names = TESTS.get(found, "public_names house train")
    if found and "/" not in found and stem != found:
        own = stem.rpartition("/")[2].strip("_")
        names += f" {own}" * (f"test_{own}.py" in os.listdir(ROOT / "tests") and own not in names.split())
    return [f"tests/test_{name}.py" for name in names.split()]


def outcome(mutant: Mutant | None, tree: Path, tests: list[str]) -> str:
    """killed, hung, or lived; ``None`` is the package as it is."""
    path = tree / "pi_xgb" / (mutant.file if mutant else "__init__.py")
    original = path.read_bytes()
    path.write_bytes(mutant.source(original) if mutant else original)
    try:
        child = os.fork()
        if not child:
            _run_tests(tree, tests)
        return _awaited(child)
    finally:
        path.write_bytes(original)


def _run_tests(tree: Path, tests: list[str]) -> None:
    """In the child: the first failure ends it, and what it prints is nobody's."""
    status = 1
    try:
        os.setsid()
        os.chdir(tree)
        sys.path.insert(0, str(tree))
        for number in (1, 2):
            os.dup2(os.open(os.devnull, os.O_WRONLY), number)
        import pytest

        status = int(pytest.main(["-x", "-q", "-p", "no:cacheprovider", *tests]))
    finally:
        os._exit(min(status, 100))


def _awaited(child: int) -> str:
    until = time.monotonic() + SECONDS
    while time.monotonic() < until:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            return "lived" if status == 0 else "killed"
        time.sleep(0.02)
    os.killpg(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return "hung"


def copied_tree(folder: Path) -> Path:
    """The package and its tests, to be broken."""
    for name in ("pi_xgb", "tests", "benchmarks"):
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__", "results", "figures"))
    shutil.copy(ROOT / "pyproject.toml", folder)
    return folder


def drawn(files: list[str], seed: int) -> list[Mutant]:
    """The mutants of these files (of all), in random order."""
    paths = sorted((ROOT / "pi_xgb").rglob("*.py"))
    names = {path: path.relative_to(ROOT / "pi_xgb").as_posix() for path in paths}
    wanted = [
        path
        for path in paths
        if not names[path].startswith(LEFT_OUT) and (not files or any(names[path].startswith(file) for file in files))
    ]
    found = [mutant for path in wanted for mutant in mutants_of(path)]
    random.Random(seed).shuffle(found)
    return found


def main() -> None:
    parser = command("mutants", __doc__)
    parser.add_argument("--minutes", type=float, default=15)
    parser.add_argument("--files", nargs="*", default=[])
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--page", action="store_true")
    parser.add_argument("--smoke", action="store_true")
    options = parser.parse_args()
    if options.page:
        PAGE.write_text(page())
        return
    import pytest
    import scipy.special
    import sklearn.model_selection
    import xgboost

    assert all((pytest, scipy, sklearn, xgboost))  # loaded once, for all children
    os.environ.update(OMP_NUM_THREADS="1", PYTHONDONTWRITEBYTECODE="1", CI="1")
    chosen = drawn(options.files, options.seed)
    with tempfile.TemporaryDirectory() as folder:
        tree = copied_tree(Path(folder))
        os.environ["PYTHONPATH"] = str(tree)
        sys.path[:] = [path for path in sys.path if Path(path or ".").resolve() != ROOT]
        if options.smoke:
            smoke(tree)
            return
        told = run(chosen, tree, options.minutes)
    known = pd.read_csv(TABLE) if TABLE.exists() else told.iloc[:0]
    keys = ["file", "before", "after", "line"]
    pd.concat([known, told]).drop_duplicates(keys, keep="last").sort_values(keys).to_csv(TABLE, index=False)
    print(told["outcome"].value_counts().to_string())


def run(chosen: list[Mutant], tree: Path, minutes: float) -> pd.DataFrame:
    """As many of the mutants as the time allows."""
    known = pd.read_csv(TABLE) if TABLE.exists() else pd.DataFrame(columns=["file", "line", "before", "after"])
    done = set(known[["file", "line", "before", "after"]].itertuples(index=False, name=None))
    until = time.monotonic() + 60 * minutes
    rows = []
    for mutant in chosen:
        if time.monotonic() > until:
            break
        if (mutant.file, mutant.line, mutant.before, mutant.after) in done:
            continue
        began = time.monotonic()
        ended = outcome(mutant, tree, tests_of(mutant.file))
        row = {name: getattr(mutant, name) for name in ("file", "line", "before", "after")}
        rows.append({**row, "outcome": ended, "seconds": round(time.monotonic() - began, 1)})
        print(f"{ended:<7}{mutant.file}:{mutant.line}  {mutant.before}  ->  {mutant.after}", flush=True)
    return pd.DataFrame(rows, columns=["file", "line", "before", "after", "outcome", "seconds"])


def smoke(tree: Path) -> None:
    """The package passes, and a mistake is noticed."""
    tests = ["tests/test_files.py::test_what_arrives_in_part_is_an_error"]
    mutants = [mutant for mutant in mutants_of(ROOT / "pi_xgb" / "_files.py") if "len(content)" in mutant.before]
    told = [outcome(mutant, tree, tests) for mutant in [None, *mutants]]
    if told != ["lived", "killed"]:
        raise SystemExit(f"expected a package that passes and a mutant that is killed, got {told}")
    print("the mutant is killed")


def page() -> str:
    """MUTANTS.md."""
    told = pd.read_csv(TABLE)
    judged = pd.read_csv(JUDGED) if JUDGED.exists() else pd.DataFrame(columns=["file", "before", "after", "judgement"])
    keys = ["file", "before", "after"]
    living = told[told["outcome"] == "lived"].merge(judged.drop_duplicates(keys), on=keys, how="left")
    living["judgement"] = living["judgement"].fillna("not judged")
    equal = int(living["judgement"].str.startswith("no mistake").sum())
    closed = int(living["judgement"].str.startswith("a hole, closed").sum())
    real = len(told) - equal
    score = 100 * (real - (len(living) - equal)) / real
    after = 100 * (real - (len(living) - equal - closed)) / real
    told["room"] = told["file"].str.partition("/")[0]
    rooms = [
        [room, *(str(n) for n in (len(its), (its["outcome"] != "lived").sum(), (its["outcome"] == "lived").sum()))]
        for room, its in told.groupby("room")
    ]
    lines = [
        [f"`{row.file}:{row.line}`", f"`{row.before}` -> `{row.after}`", row.judgement] for row in living.itertuples()
    ]
    return f"""# Mutants: which mistakes the tests would not notice

Made by `python -m benchmarks.mutants --page` from `results/mutants.csv` and `results/mutants_judged.csv`. A mutant is
the package with one operator, constant or condition changed; it runs the tests of its room until one fails. Files of
the clusters (`_dask`, `_spark`) are left out, for their tests start processes.

{len(told)} mutants were drawn at random, {len(told) - len(living)} of them killed. Of the {len(living)} that lived
{equal} are no mistakes; of the {real} others {score:.1f} % were killed, and {after:.1f} % are now that {closed} holes
are closed. A test of another room may kill a mutant that lives here: the whole suite was not run.

## By room

{chr(10).join(table(["room", "mutants", "killed", "lived"], rooms))}
## Those that lived

{chr(10).join(table(["where", "mutant", "judgement"], lines))}"""


if __name__ == "__main__":
    main()
