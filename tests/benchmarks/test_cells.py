"""The engine: cells are measured once, in any number of processes, and every benchmark runs on tiny input."""

import gzip
import importlib
import os
import re
import runpy
import subprocess
import sys
import warnings

import pandas as pd
import pytest

pytest.importorskip("tqdm", reason="the engine shows its progress with tqdm")

from benchmarks import FOLDER, cells
from benchmarks.cells import Table


def measure(name, number, small=False):
    """For tests in other processes too."""
    if name == "broken":
        raise ValueError("no such set")
    yield {"measure": "square", "value": number**2}
    yield {"measure": "process", "value": float(os.getpid())}


CELLS = [(name, number) for name in ("a", "b") for number in (1.0, 0.1, float("inf"))]


def table(own=CELLS):
    return Table("numbers", ("name", "number"), lambda: own, measure)


def test_run_resumes_a_killed_run_without_measuring_again(tmp_path):
    assert cells.run(table(CELLS[:3]), tmp_path) == 0
    packed = tmp_path / "numbers.csv.gz"
    whole = gzip.decompress(packed.read_bytes()).decode()
    # Killed: the lines are not packed yet, and the last one has no end.
    packed.unlink()
    (tmp_path / "numbers.csv").write_text(whole + "b,1,squ")
    assert cells.run(table(), tmp_path) == 0
    assert [file.name for file in tmp_path.iterdir()] == [packed.name]
    found = cells.read("numbers", tmp_path)
    assert list(zip(found["name"], found["number"], strict=True))[::2] == CELLS
    # What was there stays as it was, and a run with nothing to do changes no byte.
    assert gzip.decompress(packed.read_bytes()).decode().startswith(whole)
    before = packed.read_bytes()
    assert cells.run(table(), tmp_path) == 0
    assert packed.read_bytes() == before


def test_two_processes_measure_what_one_does(tmp_path):
    for jobs in (1, 2):
        cells.run(table(), tmp_path / str(jobs), jobs=jobs)
    first, second = (cells.read("numbers", tmp_path / str(jobs)) for jobs in (1, 2))
    squares = [
        own[own["measure"] == "square"].sort_values(["name", "number"], ignore_index=True) for own in (first, second)
    ]
    pd.testing.assert_frame_equal(*squares)


def test_package_that_measures_in_its_main_module_takes_several_processes(tmp_path):
    (tmp_path / "own").mkdir()
    text = "from benchmarks.cells import Table, main\ndef measure(name, small=False):\n    yield {'value': 1}\n"
    run = "if __name__ == '__main__':\n    main('own', '', [Table('numbers', ('name',), lambda: [('a',)], measure)])\n"
    (tmp_path / "own" / "__main__.py").write_text(text + run)
    command, path = [sys.executable, "-m", "own", "--jobs", "2", "--out", "."], {"PYTHONPATH": str(FOLDER.parent)}
    subprocess.run(command, env=os.environ | path, check=True, cwd=tmp_path)
    assert len(cells.read("numbers", tmp_path)) == 1


def test_cell_that_fails_costs_neither_the_run_nor_a_line(tmp_path, capsys):
    assert cells.run(table([("a", 1.0), ("broken", 1.0), ("b", 1.0)]), tmp_path) == 1
    assert "no such set" in capsys.readouterr().err
    assert set(cells.read("numbers", tmp_path)["name"]) == {"a", "b"}


def test_only_takes_cells_with_one_of_the_values(tmp_path):
    cells.run(table(), tmp_path, only={"name": {"b"}, "number": {"0.1", "1.0"}})
    assert set(cells.read("numbers", tmp_path)[["name", "number"]].itertuples(index=False)) == {("b", 1.0), ("b", 0.1)}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--jobs", "0"], "jobs must be at least 1, got 0"),
        (["--tables", "letters"], "no table is called letters; there are: numbers"),
        (["--only", "colour=red"], "one of name, number, got 'colour=red'"),
    ],
)
def test_wrong_arguments_say_what_is_expected(arguments, message, tmp_path):
    with pytest.raises(SystemExit, match=re.escape(message)):
        cells.main("numbers", None, [table()], arguments=[*arguments, "--out", str(tmp_path)])


def test_lines_with_other_columns_than_the_file_are_refused(tmp_path):
    cells.append(tmp_path / "a.csv", [{"x": 1}])
    with pytest.raises(ValueError, match=r"expected the columns x as in a\.csv, got \['y'\] too"):
        cells.append(tmp_path / "a.csv", [{"x": 1, "y": 2}])


PROGRAMS = sorted(
    str(file.relative_to(FOLDER.parent).with_suffix("")).replace(os.sep, ".").removesuffix(".__main__")
    for file in FOLDER.rglob("*.py")
    if "\n    main(" in file.read_text(encoding="utf-8") or '\n        main("' in file.read_text(encoding="utf-8")
)


# The pages have tests of their own, and benchmarks.scale calls its cells.
SMOKED = [
    name for name in PROGRAMS if name not in ("benchmarks.pages", "benchmarks.scale.cell") and ".data" not in name
]


@pytest.mark.parametrize("program", SMOKED)
def test_smoke_run_prints_its_text(program, monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", [program, "--smoke"])
    # As python -m runs it, but with the libraries that are loaded: to load them takes longer than many a run.
    code = None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            runpy.run_module(program, run_name="__main__", alter_sys=True)
        except SystemExit as stopped:
            code = stopped.code
    assert not code
    assert len(capsys.readouterr().out) > 20


def test_committed_tables_have_the_keys_of_their_programs():
    for program in ("run", "curves", "unlabelled.__main__", "frontier.__main__", "objectives", "overhead"):
        for own in importlib.import_module(f"benchmarks.{program}").TABLES:
            found = cells.read(own.name)
            assert set(own.key) <= set(found.columns), own.name
