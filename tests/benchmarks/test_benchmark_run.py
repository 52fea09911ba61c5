"""The runner of the benchmarks: what it records, and that a run that was killed loses nothing."""

from __future__ import annotations

import contextlib
import dataclasses
import multiprocessing
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

pytest.importorskip("sklearn", reason="the folds and measures of the benchmarks come from scikit-learn")
pytest.importorskip("tqdm", reason="the runner shows its progress with tqdm")

from helpers_benchmark import measured, run_here, use_few_rounds, with_method

from benchmarks import processes
from benchmarks.methods import METHODS, peers
from benchmarks.modes.fold_work import Scores
from benchmarks.peers import MFC
from benchmarks.run import __main__ as runner
from benchmarks.run import cells, finisher, listing, outcomes, results_file
from benchmarks.run.cells import MADE
from benchmarks.run.measures import Predictions, predictions_path
from benchmarks.run.results_file import COLUMNS, Cell, Line, append, opened

ROOT = Path(__file__).parents[2]


def table_of(out):
    """The results without what differs from run to run: the times, and the order of the lines."""
    table = pd.read_csv(out, keep_default_na=False).drop(columns="seconds")
    return table.sort_values(["dataset", "method", "mode", "fold", "measure"]).reset_index(drop=True)


@pytest.fixture(autouse=True)
def few_rounds(monkeypatch):
    use_few_rounds(monkeypatch)


@pytest.fixture
def out(tmp_path):
    return tmp_path / "results.csv"


# --- the file -----------------------------------------------------------------------------------------------------


def a_line(fold=0, measure="auc", value=0.5, method="NF", **rest):
    return Line("made", method, "current", fold, measure, value, **rest)


def test_the_columns_are_those_that_the_tables_are_made_from():
    # The order and the names are fixed: the report and people's own scripts read them.
    names = "dataset method mode fold measure value machine versions seed seconds note"
    assert " ".join(COLUMNS) == names


def test_what_is_written_is_read_again_to_the_last_bit(out):
    lines = [
        a_line(0, "logloss", 0.1 + 0.2, machine="2 cores", versions="a 1, b 2", seed=3, seconds=1.25, note='"," said'),
        a_line(0, "auc", 1 / 3),
        a_line(1, "error", None, note="first\nsecond \u2028 third"),
    ]
    opened(out)
    append(out, lines)
    expected = [*lines[:2], dataclasses.replace(lines[2], note="first second third")]
    # Numbers keep every digit, commas and quotes survive, and a note is one line.
    assert opened(out) == expected
    # Opening a sound file does not change it.
    assert opened(out) == expected


@pytest.mark.parametrize("cut", range(1, 60, 7))
def test_a_cell_that_a_kill_cut_short_is_dropped_as_a_whole(out, cut):
    opened(out)
    append(out, [a_line(0, "logloss", 0.4), a_line(0, "auc", 0.7)])
    append(out, [a_line(1, "logloss", 0.5), a_line(1, "auc", 0.8, machine="2 cores")])
    content = out.read_bytes()
    out.write_bytes(content[:-cut])
    # Whatever part of its last write is lost, the cell before is whole and the torn one is gone.
    assert [(line.fold, line.measure) for line in opened(out)] == [(0, "logloss"), (0, "auc")]
    append(out, [a_line(1, "auc", 0.9)])
    # What comes afterwards stands on lines of its own.
    assert [line.value for line in opened(out)] == [0.4, 0.7, 0.9]


def test_a_disk_that_takes_a_part_is_an_error(out, monkeypatch):
    opened(out)
    append(out, [a_line(0, "auc", 0.7)])
    monkeypatch.setattr(os, "write", lambda handle, content, write=os.write: write(handle, content[:20]))
    with pytest.raises(OSError, match=r"20 of \d+ bytes arrived"):
        append(out, [a_line(1, "auc", 0.8)])
    monkeypatch.undo()
    assert [line.fold for line in opened(out)] == [0]


def test_a_line_that_joins_two_broken_writes_is_dropped(out):
    opened(out)
    with out.open("a") as file:
        file.write('made,NF,current,0,auc,.5,"half a note' + "made,NF,current,1,auc,0.5,,,0,0.0,\n")
    append(out, [a_line(2)])
    # An open quotation mark does not swallow the lines that follow.
    assert [line.fold for line in opened(out)] == [2]


def test_a_measure_that_was_written_twice_counts_once(out):
    opened(out)
    append(out, [a_line(0, "auc", 0.7)])
    append(out, [a_line(0, "auc", 0.7)])
    assert [line.value for line in opened(out)] == [0.7]


def test_thresholds_that_do_not_cover_all_folds_are_dropped(out):
    opened(out)
    append(out, [a_line(0), a_line(1), a_line(0, "precision", 0.5), a_line(0, "threshold", 0.5)])
    # Half of a finishing step is none.
    assert [line.measure for line in opened(out)] == ["auc", "auc"]


def test_another_csv_is_left_alone(out):
    out.write_text("a,b\n1,2\n")
    with pytest.raises(ValueError, match="not a file of results"):
        opened(out)
    assert out.read_text() == "a,b\n1,2\n"


def test_bytes_that_no_csv_can_have_cost_one_line(out):
    opened(out)
    with out.open("ab") as file:
        file.write(b"made,NF,current,0,auc," + b"\x00" * 200_000 + b"\n")
    append(out, [a_line(2)])
    # As a computer that lost its power leaves them.
    assert [line.fold for line in opened(out)] == [2]


# --- a run that was killed ----------------------------------------------------------------------------------------

KILLED_METHODS = ("NF", "KbPIB", "JPIB", "All")
KILLED_SCRIPT = """
import dataclasses, multiprocessing, os, signal, sys, time
from pathlib import Path
from benchmarks.run import __main__ as run, cells, results_file

out = Path(sys.argv[1])
cells.MODES["current"] = dataclasses.replace(cells.MODES["current"], rounds=12, early_stopping_rounds=4)
appended = []

def append_until_killed(path, lines):
    appended.append(lines)
    if len(appended) < 6:
        return results_file.append(path, lines)
    with path.open("a") as file:
        file.write(results_file.text_of(lines)[:-30])
    out.with_suffix(".pid").write_text(str(os.getpid()))
    os.kill(multiprocessing.parent_process().pid, signal.SIGKILL)
    time.sleep(60)

cells.append = append_until_killed
if __name__ == "__main__":
    run.main(["--datasets", "made", "--methods", "NF,KbPIB,JPIB,All", "--folds", "0,1,2", "--out", str(out)])
"""


def is_alive(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="this system knows no SIGKILL")
def test_a_killed_run_goes_on_and_ends_with_the_same_rows(out, tmp_path, monkeypatch):
    script = tmp_path / "killed.py"
    script.write_text(KILLED_SCRIPT)
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"}
    command = [sys.executable, str(script), str(out)]
    # It is killed while the sixth cell is being written.
    assert subprocess.run(command, env=environment, stderr=subprocess.DEVNULL).returncode == -signal.SIGKILL
    worker = int(out.with_suffix(".pid").read_text())
    deadline = time.monotonic() + 20
    while is_alive(worker) and time.monotonic() < deadline:
        time.sleep(0.05)
    # The worker ends with the run, so that nobody else writes into the file.
    assert not is_alive(worker)

    done = []
    real = outcomes.outcomes
    monkeypatch.setattr(runner, "outcomes", lambda groups, *rest: done.extend(groups) or real(groups, *rest))
    run_here(out, KILLED_METHODS, range(3))
    # What was whole is not done again, and what was torn is.
    assert sum(len(group.methods) for group in done) == 3 * len(KILLED_METHODS) - 5

    other = tmp_path / "uninterrupted.csv"
    run_here(other, KILLED_METHODS, range(3))
    pd.testing.assert_frame_equal(table_of(out), table_of(other))


def test_a_second_run_does_nothing_and_says_so(out, monkeypatch, capsys):
    run_here(out, ["NF", "KbPIB"])
    before = out.read_bytes()
    assert capsys.readouterr().err.startswith("4 of 4 cells to do\n")
    monkeypatch.setattr(cells, "do", None)
    run_here(out, ["KbPIB", "NF"])
    assert out.read_bytes() == before
    assert capsys.readouterr().err == "0 of 4 cells to do\n"


@pytest.mark.slow
def test_a_further_fold_chooses_the_threshold_anew(out, tmp_path):
    run_here(out, ["NF"], [0])
    run_here(out, ["NF"], [0, 1, 2])
    other = tmp_path / "at_once.csv"
    run_here(other, ["NF"], [0, 1, 2])
    # It does not matter in how many runs the folds came together.
    pd.testing.assert_frame_equal(table_of(out), table_of(other))


def scored(method, folds, value, *, finished=True):
    """The lines of a method on folds, in the order of a run: the thresholds come last."""
    last = [a_line(fold, "threshold", value, method) for fold in folds] if finished else []
    return [a_line(fold, "auc", value, method) for fold in folds] + last


def test_merging_takes_finished_series_and_loses_no_fold(out, tmp_path, capsys):
    refused = [a_line(fold, "refused", None, "All", note="no groups") for fold in range(2)]
    failed = [a_line(2, "error", None, "MFC", note="ValueError")]
    shorter = scored("SVM", [0, 1, 2], 0.1)
    unfinished = scored("PF", [0], 0.1)
    broken = scored("MFC", [0, 1], 0.1)
    stays = [*shorter, *unfinished, *broken]
    results_file.write_whole(out, [*scored("NF", [0], 0.1), *stays, *refused[:1]])
    other = tmp_path / "other.csv"
    longer = scored("NF", [0, 1], 0.2)
    untaken = [*scored("SVM", [0, 1], 0.2), *scored("PF", [0, 1], 0.2, finished=False), *scored("MFC", [0, 1], 0.2)]
    results_file.write_whole(other, [*longer, *untaken, *failed, *refused])
    runner.main(["--merge", str(other), "--out", str(out)])
    assert opened(out) == [*stays, *longer, *refused]
    assert capsys.readouterr().out.splitlines() == ["2 series replaced", "made, NF, current", "made, All, current"]


def test_merging_what_is_not_there_changes_nothing(out, tmp_path):
    results_file.write_whole(out, scored("NF", [0], 0.1))
    before = out.read_bytes()
    with pytest.raises(SystemExit, match="expected a CSV of"):
        runner.main(["--merge", str(tmp_path / "none.csv"), "--out", str(out)])
    assert out.read_bytes() == before


def test_lost_predictions_are_made_again(out, tmp_path):
    run_here(out, ["NF"], [0, 1])
    expected = table_of(out)
    lines = [line for line in opened(out) if not results_file.is_finishing(line)]
    results_file.write_whole(out, lines)
    predictions_path(out, Cell(MADE, "NF", "current", 1)).unlink()
    # The threshold needs the predictions of both folds, and one is gone.
    run_here(out, ["NF"], [0])
    pd.testing.assert_frame_equal(table_of(out), expected)


def test_finished_series_need_no_predictions(out, monkeypatch):
    run_here(out, ["NF"])
    for fold in (0, 1):
        predictions_path(out, Cell(MADE, "NF", "current", fold)).unlink()
    monkeypatch.setattr(cells, "do", None)
    run_here(out, ["NF"])
    assert len(measured(out, "threshold")) == 2


@pytest.mark.slow
@pytest.mark.parametrize(
    "damage", [lambda old: b"not an archive", lambda old: b"", lambda old: old[:-100]], ids=["junk", "empty", "torn"]
)
def test_predictions_that_cannot_be_read_are_made_again(out, tmp_path, damage):
    run_here(out, ["NF"], [0, 1])
    path = predictions_path(out, Cell(MADE, "NF", "current", 1))
    path.write_bytes(damage(path.read_bytes()))
    # The further fold needs the predictions of all, and would take the old threshold away.
    run_here(out, ["NF"], [0, 1, 2])
    other = tmp_path / "undamaged.csv"
    run_here(other, ["NF"], [0, 1, 2])
    pd.testing.assert_frame_equal(table_of(out), table_of(other))


def test_predictions_that_cannot_be_read_are_no_reason_to_unpickle_them(tmp_path):
    path = tmp_path / "NF-current-0.npz"
    path.write_bytes(b"not an archive")
    with pytest.raises(ValueError, match=r"NF-current-0.npz.*read") as caught:
        Predictions.load(path)
    assert "pickle" not in str(caught.value)


@pytest.mark.slow
def test_a_threshold_that_cannot_be_had_costs_one_series(out, monkeypatch, capsys):
    choose = finisher.paper_threshold
    troubles = iter([RuntimeError("no luck")])

    def fails_once(folds):
        for trouble in troubles:
            raise trouble
        return choose(folds)

    monkeypatch.setattr(finisher, "paper_threshold", fails_once)
    run_here(out, ["NF", "PF"])
    assert len(measured(out, "threshold", method="NF")) == 0
    assert len(measured(out, "threshold", method="PF")) == 2
    assert "made, NF, current: no threshold, RuntimeError: no luck" in capsys.readouterr().err
    run_here(out, ["NF", "PF"])
    # The next run makes good for it.
    assert len(measured(out, "threshold", method="NF")) == 2


# --- Ctrl-C -------------------------------------------------------------------------------------------------------

ENDLESS_SCRIPT = """
import os, signal, sys, time
from pathlib import Path
from benchmarks.run import __main__ as run
from benchmarks.methods import METHODS, Method

out = Path(sys.argv[1])

def endless(work):
    out.with_name(f"{os.getpid()}.there").touch()
    time.sleep(60)

METHODS["endless"] = Method("endless", endless, "for a test")

if __name__ != "__main__" and sys.argv[3] == "importing":
    endless(None)
if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.default_int_handler)  # where the tests themselves run in the background
    run.main(["--datasets", "made", "--methods", "endless", "--out", str(out), "--jobs", sys.argv[2]])
"""


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "killpg"), reason="this system knows no process groups")
@pytest.mark.parametrize(("jobs", "at"), [(0, "work"), (1, "work"), (2, "work"), (1, "importing")])
def test_ctrl_c_stops_a_run_at_once_and_for_good(out, tmp_path, jobs, at):
    script = tmp_path / "endless.py"
    script.write_text(ENDLESS_SCRIPT)
    process = subprocess.Popen(
        [sys.executable, str(script), str(out), str(jobs), at],
        env={**os.environ, "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"},
        start_new_session=True,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        deadline = time.monotonic() + 60
        while len(list(tmp_path.glob("*.there"))) < max(jobs, 1) and time.monotonic() < deadline:
            time.sleep(0.05)
        workers = [int(path.stem) for path in tmp_path.glob("*.there")]
        assert len(workers) == max(jobs, 1)
        # Twice, as from a terminal that tells the whole group and a person or a tool that tells the run as well.
        process.send_signal(signal.SIGINT)
        os.killpg(process.pid, signal.SIGINT)
        result = process.communicate(timeout=10)[1]
    finally:
        process.kill()
        process.wait()
    assert process.returncode == 130
    # One line and no traceback, of nobody.
    assert result.splitlines() == ["10 of 10 cells to do", "stopped; the same command goes on where it was"]
    deadline = time.monotonic() + 10
    while any(map(is_alive, workers)) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not any(map(is_alive, workers))
    # A cell that was interrupted is no cell that failed.
    assert opened(out) == []


def test_what_leaves_a_pool_by_an_exception_leaves_no_workers():
    before, begun = set(multiprocessing.active_children()), time.monotonic()
    with contextlib.suppress(KeyboardInterrupt), processes.pool_of(1) as pool:
        pool.submit(time.sleep, 60)
        raise KeyboardInterrupt
    # The search has the same pools.
    assert time.monotonic() - begun < 30
    assert set(multiprocessing.active_children()) <= before


@pytest.mark.parametrize("wanted", [signal.default_int_handler, signal.SIG_IGN])
def test_an_interrupt_is_answered_as_before_once_the_run_is_over(wanted):
    before = signal.signal(signal.SIGINT, wanted)
    try:
        with processes.stopped_by_ctrl_c():
            # A run in the background, which a shell shields from Ctrl-C, stays shielded.
            assert (signal.getsignal(signal.SIGINT) is wanted) == (wanted is signal.SIG_IGN)
        assert signal.getsignal(signal.SIGINT) is wanted
    finally:
        signal.signal(signal.SIGINT, before)


# --- two runs on one file -----------------------------------------------------------------------------------------


@pytest.mark.skipif(results_file.fcntl is None, reason="this system has no locks of this kind")
def test_a_second_run_on_the_same_file_stops_at_once(out, tmp_path):
    with results_file.claimed(out):
        with pytest.raises(SystemExit, match=r"another run.*results.csv.*--out"):
            run_here(out, ["NF"], [0])
        assert not out.exists()
        # Another file is free.
        run_here(tmp_path / "other.csv", ["NF"], [0])
    run_here(out, ["NF"], [0])
    assert len(measured(out, "auc")) == 1


# --- cells that fail ----------------------------------------------------------------------------------------------


def test_a_cell_that_fails_is_recorded_and_the_rest_goes_on(out, monkeypatch, capsys):
    def fails(work):
        if work.rows.number == 1:
            raise RuntimeError("no luck\nin /home/somebody/secret/place.txt, see https://example.org/a/b")
        return work.plain("x")

    with_method(monkeypatch, "fragile", fails)
    run_here(out, ["fragile", "NF"], [0, 1, 2])
    table = pd.read_csv(out)
    errors = table[table.measure == "error"]
    # One line says which cell failed and why, without folders of this machine.
    assert errors[["method", "fold"]].to_numpy().tolist() == [["fragile", 1]]
    assert errors.value.isna().all()
    assert errors.note.item() == "RuntimeError: no luck in place.txt, see https://example.org/a/b"
    # The other folds and methods are there; a series with a hole gets no threshold.
    assert len(measured(out, "auc", method="fragile")) == 2
    assert len(measured(out, "threshold", method="NF")) == 3
    assert len(measured(out, "threshold", method="fragile")) == 0
    assert "fragile, fold 1: error: RuntimeError" in capsys.readouterr().err


@pytest.mark.slow
def test_errors_are_done_again_only_when_asked(out, monkeypatch, capsys):
    working = []

    def fails_once(work):
        if not working:
            raise RuntimeError("not yet")
        return work.plain("x")

    with_method(monkeypatch, "late", fails_once)
    assert run_here(out, ["late"]) == 2
    working.append(True)
    capsys.readouterr()
    assert run_here(out, ["late"]) == 0
    assert len(measured(out, "error")) == 2
    assert capsys.readouterr().err == "0 of 2 cells to do, 2 recorded as errors (--retry does them again)\n"
    run_here(out, ["late"], retry=True)
    # The error lines are gone, and the method is complete.
    assert len(measured(out, "error")) == 0
    assert len(measured(out, "threshold")) == 2


@pytest.mark.slow
def test_a_set_without_data_is_an_error_of_its_cells_alone(out, monkeypatch):
    tried = []

    def no_network(name):
        tried.append(name)
        raise OSError(f"could not download {name}")

    monkeypatch.setattr(cells, "load", no_network)
    monkeypatch.setattr(cells, "UNAVAILABLE", {})
    cells.prepared.cache_clear()
    run_here(out, ["NF", "PF"], datasets=["heart", MADE])  # PF costs more: heart comes twice
    table = pd.read_csv(out)
    assert table[table.measure == "error"].dataset.tolist() == ["heart"] * 4
    assert table[table.measure == "error"].note.str.contains("could not download heart").all()
    assert len(measured(out, "auc", dataset=MADE)) == 4
    # The download is tried once, not for every cell.
    assert tried == ["heart"]


def test_a_peer_that_does_not_take_a_set_is_recorded_with_its_reason(out):
    run_here(out, ["Fairlearn grid"], [0])
    table = pd.read_csv(out)
    assert table.measure.tolist() == ["refused"]
    assert "two groups" in table.note.item()


def test_a_peer_whose_library_is_not_here_says_which_extra_to_install(out, monkeypatch):
    @dataclasses.dataclass
    class Absent(MFC):
        module = "no_such_library"

    monkeypatch.setitem(METHODS, "Absent", peers.method("Absent", Absent))
    run_here(out, ["Absent", "NF"], [0])
    note = pd.read_csv(out).query("measure == 'error'").note.item()
    assert 'pip install ".[peers]" in a checkout' in note
    assert "no_such_library" in note
    assert len(measured(out, "auc", method="NF")) == 1
    assert "DOES NOT RUN HERE" in listing.method_in_words(METHODS["Absent"])


def test_scores_that_are_not_numbers_are_an_error(out, monkeypatch):
    with_method(monkeypatch, "nan", lambda work: Scores(np.array([np.nan]), np.array([0.5])))
    run_here(out, ["nan"], [0])
    assert "finite scores" in pd.read_csv(out).note.item()


def work_that_dies(group, out, nthread):
    for cell in group.cells:
        if cell.fold == 1 and cell.method == "JPIB":
            os._exit(9)
        append(out, [cells.line(cell, "auc", 0.5)])
    return []


@pytest.mark.slow
def test_a_process_that_dies_takes_one_cell_with_it(out, monkeypatch):
    monkeypatch.setattr(outcomes, "work_on", work_that_dies)
    before = set(multiprocessing.active_children())
    opened(out)
    groups = [cells.Group(MADE, "current", fold, ("NF", "JPIB")) for fold in range(3)]
    results = list(outcomes.outcomes(groups, out, 1, 1))
    # Every group comes out once, and all but one cell have a score.
    assert Counter(group for group, _ in results) == Counter(groups)
    dead = Cell(MADE, "JPIB", "current", 1)
    assert [trouble for _, troubles in results for trouble in troubles] == [(dead, f"error: {outcomes.DIED}")]
    recorded = Counter(line.cell for line in results_file.read(out))
    # What the process had done before it died is not done again.
    assert recorded == Counter(cell for group in groups for cell in group.cells)
    assert set(multiprocessing.active_children()) <= before


# --- the command --------------------------------------------------------------------------------------------------


def test_the_list_names_every_set_and_method(capsys):
    runner.main(["--list"])
    shown = capsys.readouterr().out
    assert [name for name in (*runner.DATASETS, *METHODS) if f"  {name} " not in shown] == []


def test_cheap_methods_come_first_and_small_sets_before_large_ones():
    wanted = [
        Cell(name, method, "current", 0)
        for name in ("kdd", "heart")
        for method in ("GPC+", "JPIB", "NF", "JPIB chosen")
    ]
    groups = runner.groups_of(wanted)
    assert [(group.dataset, group.methods) for group in groups] == [
        *(("heart", ("NF", "JPIB")), ("kdd", ("NF", "JPIB"))),
        *(("heart", ("JPIB chosen",)), ("kdd", ("JPIB chosen",))),
        *(("heart", ("GPC+",)), ("kdd", ("GPC+",))),
    ]


@pytest.mark.parametrize(
    "arguments",
    [
        *(["--datasets", "hart"], ["--methods", "NF,KbPBI"], ["--folds", "10"], ["--jobs", "-1"]),
        # From a shell variable that is not set.
        *(["--datasets", ""], ["--methods", ""], ["--folds", ""]),
    ],
)
def test_a_name_that_does_not_exist_is_an_error_before_any_work(arguments, out, monkeypatch):
    monkeypatch.setattr(runner, "run", None)
    with pytest.raises(SystemExit, match=r"there are|at least 1"):
        runner.main([*arguments, "--out", str(out)])
    assert not out.exists()


def test_the_message_names_the_sets_of_the_list():
    with pytest.raises(SystemExit, match=r"data.*hart.*heart"):
        runner.main(["--datasets", "hart"])


@pytest.mark.parametrize("folder", ["nowhere", "empty"])
@pytest.mark.parametrize("arguments", [["--datasets", "heart", "--methods", "NF"], ["--list"]])
def test_a_wrong_data_folder_stops_the_run_before_any_cell(arguments, folder, out, tmp_path, monkeypatch):
    (tmp_path / "empty").mkdir()
    monkeypatch.setenv("PI_XGB_DATA", str(tmp_path / folder))
    with pytest.raises(SystemExit, match=r"PI_XGB_DATA.*folder"):
        runner.main([*arguments, "--out", str(out)])
    assert not out.exists()


def test_a_data_folder_with_some_of_the_files_will_do(out, tmp_path, monkeypatch):
    monkeypatch.setenv("PI_XGB_DATA", str(tmp_path))
    (tmp_path / runner.DATASETS["kdd"].files[0].name).touch()
    # The others come from the cache or the publisher.
    runner.check_data_folder()


@pytest.mark.parametrize(
    "made",
    [
        *(b"a,b\n1,2\n", b'{"one": "line"}', b"\nfirst of all nothing\n"),
        *(b"\x89PNG\r\n\x1a\n\xff\xfe", results_file.HEADER.encode() + b"\n\xff\n"),
    ],
    ids=["other columns", "no line end", "empty line", "picture", "other bytes"],
)
def test_a_file_of_something_else_stays_as_it_is(made, out):
    out.write_bytes(made)
    with pytest.raises(SystemExit, match=r"results.csv.*results.*--out"):
        runner.main(["--datasets", "made", "--methods", "NF", "--out", str(out)])
    assert out.read_bytes() == made
    assert list(out.parent.iterdir()) == [out]


@pytest.mark.parametrize("name", ["", "file/results.csv", "file/folder/results.csv"])
def test_a_place_where_no_file_can_be_written_is_an_error_of_one_line(name, tmp_path):
    (tmp_path / "file").write_text("mine")
    with pytest.raises(SystemExit, match=r"CSV.*file.*--out"):
        runner.main(["--datasets", "made", "--methods", "NF", "--out", str(tmp_path / name)])
    assert (tmp_path / "file").read_text() == "mine"
    assert len(list(tmp_path.iterdir())) == 1


def test_the_exit_status_tells_errors_from_refusals(out, monkeypatch):
    def fails(work):
        raise RuntimeError("no luck")

    with_method(monkeypatch, "fails", fails)
    made = ["--datasets", "made", "--folds", "0", "--jobs", "0", "--out", str(out)]
    with pytest.raises(SystemExit, match="1 cells ended in errors"):
        runner.main([*made, "--methods", "NF,fails"])
    # A peer that does not take a set is as expected, and an old error is told and not counted again.
    runner.main([*made, "--methods", "NF,fails,Fairlearn grid"])
    assert len(measured(out, "refused")) == 1


def test_paper_mode_runs_the_boosted_methods_of_the_paper_unless_others_are_named(out, monkeypatch):
    requested = {}
    monkeypatch.setattr(
        runner, "run", lambda datasets, methods, mode, folds, path, **_: requested.update(methods=methods)
    )
    runner.main(["--mode", "paper", "--out", str(out)])
    assert requested["methods"] == ["NF", "KbPIB", "JPIB", "PF", "All"]
    runner.main(["--mode", "paper", "--methods", "SVM", "--out", str(out)])
    assert requested["methods"] == ["SVM"]
    runner.main(["--out", str(out)])
    assert requested["methods"] == list(METHODS)
