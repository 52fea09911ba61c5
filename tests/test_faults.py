"""Programs that are killed, have no room on the disk, or lose their folder: few draws of `benchmarks.faults`."""

from __future__ import annotations

import random
import sys

import pytest

from benchmarks import faults

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform == "win32", reason="signals and limits of POSIX"),
]


# Those that take seconds and write one file, as others here do, are left to `benchmarks.fuzz`.
PROGRAMS = [name for name in faults.PROGRAMS if name not in ("demo", "frontier --plot")]


@pytest.mark.parametrize("name", PROGRAMS)
def test_kill_9_leaves_whole_files_and_the_same_command_goes_on(name):
    assert faults.kills(random.Random(name), name) in ("survived", "worked")


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_full_disk_is_an_error_and_leaves_nothing_in_part(name):
    assert faults.full_disks(random.Random(name), name) == "survived"


@pytest.mark.parametrize("name", ["train", "tune", "JointCheckPoint", "benchmarks.run"])
def test_a_folder_that_goes_away_is_an_error(name):
    assert faults.lost_folders(random.Random(name), name) in ("survived", "worked")


@pytest.mark.parametrize("at_change", range(1, 7))
def test_no_moment_of_writing_a_model_is_unsafe(at_change):
    # Opened, synchronised, linked, and the draft removed: killed before each of them.
    assert faults.befall("train", [faults.Fault(at_change=at_change)]) in ("survived", "worked")


def test_an_unsound_program_is_noticed(monkeypatch):
    # The program itself: files in part, another end, words that are no message, and what hangs.
    def torn():
        with open("out.csv", "w") as file:
            file.write("a,b\n1,")
            file.flush()
            file.write("2\n")
        return 0

    monkeypatch.setitem(faults.PROGRAMS, "torn", faults.Program(torn, ("out.csv",)))
    monkeypatch.setattr(faults, "run", lambda name, folder, fault: (torn_by(folder, fault), 0.1, "Traceback"))

    def torn_by(folder, fault):
        (folder / "out.csv").write_text("a,b\n1,2\n" if fault == faults.Fault() else "a,b\n1,")
        return 0 if fault == faults.Fault() else 1

    with pytest.raises(faults.Unsound, match=r"torn left out\.csv in part"):
        faults.befall("torn", [faults.Fault(after=0.1)])
    with pytest.raises(faults.Unsound, match="torn ended with 1: Traceback"):
        faults.befall("torn", [faults.Fault(room=3)])
