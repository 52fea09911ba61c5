"""The scale benchmark: its plan, its file that survives a kill, its fits and its page, and a run of small cells."""

import json
import subprocess
import sys

import numpy as np
import pytest

from benchmarks.scale import __main__ as scale
from benchmarks.scale import cell as scale_cell
from benchmarks.scale import page as scale_page
from benchmarks.scale.rows import BATCH, MadeRows, rows_of_batch


def line(cell, seconds=1.0, build_seconds=1.0, peak_mib=400.0):
    measured = {"seconds": seconds, "repeats": 3.0, "build_seconds": build_seconds, "peak_mib": peak_mib}
    return {
        **cell._asdict(),
        **measured,
        "libraries_mib": 200.0,
        "machine": "m",
        "versions": "v",
        "date": "2026-01-01",
    }


def whole_plan():
    """Every cell as if measured: a microsecond per row, column and 1000 rounds, and 200 bytes per row."""
    return [
        line(cell, seconds=cell.rows * cell.columns * cell.rounds * 1e-9, peak_mib=200 + cell.rows * 200 / 2**20)
        for cell in scale.cells()
    ]


def test_the_plan_is_what_the_page_promises():
    plan = scale.cells()
    assert len(set(plan)) == len(plan)
    methods = {(cell.method, cell.engine) for cell in plan if cell.rows == 10_000_000}
    assert methods == set(scale_page.SHOWN)
    # Ten thousand to ten million rows, by about three.
    assert {cell.rows for cell in plan} >= {10_000, 100_000, 1_000_000, 10_000_000}
    # Small cells first: an interrupted run has the most to show.
    work = [cell.rows * cell.columns * cell.rounds for cell in plan]
    assert work == sorted(work)


def test_a_run_goes_on_where_it_was_killed(tmp_path, monkeypatch):
    requested = []

    def measure(cell):
        requested.append(cell)
        if cell.rows == 30_000:
            raise subprocess.CalledProcessError(-9, "cell", stderr="out of memory")
        return line(cell)

    monkeypatch.setattr(scale, "measure", measure)
    plan, results = scale.cells()[:12], tmp_path / "results" / "scale.csv"
    troubles = scale.run(plan, results)
    assert requested == plan
    # A cell that died takes nothing with it and is named.
    assert len(troubles) == sum(cell.rows == 30_000 for cell in plan) > 0
    assert "out of memory" in troubles[0]

    # The last line is cut short by a kill: that cell is measured again, no other.
    whole = results.read_bytes().splitlines(keepends=True)
    results.write_bytes(b"".join(whole[:-1]) + whole[-1][:20])
    lost = [cell for cell in plan if cell.rows != 30_000][-1]
    monkeypatch.setattr(scale, "measure", lambda cell: requested.append(cell) or line(cell))
    requested.clear()
    assert scale.run(plan, results) == []
    assert requested == [cell for cell in plan if cell.rows == 30_000 or cell == lost]
    kept = scale.read(results)
    assert {scale.Cell(*(found[name] for name in scale.Cell._fields)) for found in kept} == set(plan)
    assert all(found["seconds"] == 1.0 for found in kept)


def test_slopes_are_exponents():
    rows = np.array([1e5, 1e6, 1e7])
    for exponent in (0.8, 1.0, 1.3):
        assert scale_page.log_log_slope(rows, 3e-6 * rows**exponent) == pytest.approx(exponent)


def test_sweeps_differ_in_one_field():
    lines = whole_plan()
    for over, values in [("rows", scale.ROWS), ("columns", scale.COLUMNS), ("rounds", scale.ROUNDS)]:
        swept = scale_page.lines_of(scale_page.sweep(lines, over), "JPIB", "native")
        # Each value once, in order, and all else as in the usual cell.
        assert [found[over] for found in swept] == list(values)
        others = {"rows", "columns", "rounds", "workers", "threads"} - {over}
        for field in others:
            assert {found[field] for found in swept} == {getattr(scale.USUAL, field)}
    workers = scale_page.lines_of(scale_page.sweep(lines, "workers"), "plain", "")
    assert [(found["workers"], found["threads"]) for found in workers] == list(scale.WORKERS)


def test_the_page_says_what_the_lines_say(tmp_path):
    pytest.importorskip("matplotlib", reason="the picture needs matplotlib")
    found = {
        "rows": 1000,
        "columns": 7,
        "rounds": 2,
        "data_mib": 900.0,
        "limited": {"limit_mib": 300.0, "peak_mib": 250.0, "seconds": {"build": 2.0}},
        "free": {"seconds": {"build": 1.0}},
        "in_memory_under_the_limit": "failed",
        "largest_difference_of_margins": 0.0,
    }
    page, picture = tmp_path / "SCALE.md", tmp_path / "figures" / "scale.png"
    scale_page.write_page(whole_plan(), page, picture, external=found)
    text = page.read_text()
    assert picture.stat().st_size > 10_000
    assert "(figures/scale.png)" in text
    # Made lines that are linear in the rows have slope 1.
    assert "| JPIB native | 1.000 |" in text
    assert "| 10,000,000 | 6 | 6 | 6 (1.00) |" in text
    assert "3.0\ntimes the limit" in text or "3.0 times the limit" in text.replace("\n", " ")
    with pytest.raises(ValueError, match="nothing is measured yet"):
        scale_page.write_page([], page, picture)


def test_both_sides_have_the_same_labels_and_their_own_features():
    x, label = rows_of_batch(3, 500, 8, privileged=False)
    z, same = rows_of_batch(3, 500, 8, privileged=True)
    assert np.array_equal(label, same)
    assert 0.3 < label.mean() < 0.7
    assert not np.array_equal(x, z)
    # The privileged side tells more about the label.
    found = [abs(np.corrcoef(side[:, :5].sum(axis=1), label)[0, 1]) for side in (x, z)]
    assert found[1] > found[0] > 0.1


def test_workers_have_rows_of_their_own_that_are_all_rows():
    def taken(n_rows, first):
        batches = []
        made = MadeRows(n_rows, 7, privileged=False, first=first)
        while made.next(lambda data, label: batches.append(data)):
            pass
        return np.concatenate(batches)

    share = BATCH + 10
    single, two = taken(share, 0), taken(share, 2)
    assert len(single) == len(two) == share
    # Neither the columns that tell of the label nor the others come twice.
    for columns in (slice(0, 5), slice(5, 7)):
        assert len(np.unique(np.concatenate([single, two])[:, columns], axis=0)) > 2 * share - 10


@pytest.mark.slow
def test_the_smoke_run_measures_and_writes_a_page():
    answer = subprocess.run(
        [sys.executable, "-m", "benchmarks.scale", "--smoke"], capture_output=True, text=True, check=False, timeout=300
    )
    assert answer.returncode == 0, answer.stderr
    for heading in ("# Time and memory at scale", "## Rows", "## Workers"):
        assert heading in answer.stdout


def test_a_cell_says_its_seconds_and_its_peak():
    cell = scale.USUAL._replace(rows=300, columns=3, rounds=1, threads=1, method="KbPIB", engine="callback")
    found = scale_cell.measured(cell)
    assert json.loads(json.dumps(found)) == found
    assert found["repeats"] == scale_cell.REPEATS
    assert 0 < found["seconds"] < 60
    assert found["peak_mib"] >= found["libraries_mib"] > 10
