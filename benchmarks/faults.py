"""What befalls programs that write: kill -9, a full disk, a folder that goes away. For `benchmarks.fuzz` and tests.

A case draws a program and what happens to it. Then every file that is there must be whole, the same command must go on
or begin again, and what it ends with must be, to the byte, that of a run that nothing happened to. Programs run in
processes that were forked from one that has imported everything, so that a moment is one of their work.
"""

from __future__ import annotations

import dataclasses
import functools
import json
import multiprocessing
import os
import random
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import xgboost

import pi_xgb
from pi_xgb.__main__ import main as command_line

TIME_LIMIT = 120.0
"""Seconds after which a program hangs."""
SAID = "said.txt"
PARAMS = {"objective": "binary:logistic", "max_depth": 2, "nthread": 1}
QUICK = ["--label", "y", "--params", "nthread=1", "max_depth=2", "--rounds"]
GUIDED = ["--privileged", "z0", *QUICK]
FEW = ["--folds", "2", "--repeats", "1", "--teacher", "boosted", "--crossfit", "0", "--kl-weight", "1"]
FRONTIER = ["frontier", "rows.csv", "--drop", "z0", "--constraint", "parity:g", *QUICK, "4", "--folds", "2"]
FRONTIER += ["--kl-weight", "5", "--n-boot", "20"]
CHANGES = {"open", "os.link", "os.rename", "os.remove", "os.truncate"}


class Unsound(AssertionError):
    """What no fault may end in."""


@dataclasses.dataclass(frozen=True)
class Program:
    """What writes files, and those that it ends with."""

    run: Callable[[], int]
    ends_with: tuple[str, ...]
    told: Callable[[Path], Any] = Path.read_bytes
    """What has to be the same whatever happened, of a file that it ends with."""
    speaks: bool = True
    """Whether an error is a message, or an exception where Python runs it."""


def _command(*arguments: str) -> Callable[[], int]:
    return functools.partial(command_line, list(arguments))


def _matrices() -> tuple[xgboost.DMatrix, xgboost.DMatrix]:
    rows = pd.read_csv("rows.csv")
    return xgboost.DMatrix(rows[["x0", "x1"]], rows["y"]), xgboost.DMatrix(rows[["z0"]], rows["y"])


def checkpoints() -> int:
    """JPIB with a checkpoint after each round; goes on after the newest one."""
    dtrain, privileged = _matrices()
    Path("kept").mkdir(exist_ok=True)
    newest = pi_xgb.JointCheckPoint.latest("kept")
    done, student, its_teacher = newest or (0, None, None)
    if done < 12:
        teacher = pi_xgb.JointTeacher(privileged, PARAMS, xgb_model=its_teacher)
        keep = pi_xgb.JointCheckPoint("kept", teacher, interval=1)
        pi_xgb.train(PARAMS, dtrain, 12 - done, teacher=teacher, xgb_model=student, callbacks=[keep])
    return 0


def cross_validation() -> int:
    """``cv`` that keeps its state."""
    dtrain, privileged = _matrices()
    keywords = {"privileged": privileged, "nfold": 2, "kl_weight": [0.0, 0.5, 1.0, 2.0], "resume": "state.json"}
    pi_xgb.cv(PARAMS, dtrain, 5, **keywords)
    return 0


def selection() -> int:
    """``select`` that keeps its state."""
    dtrain, privileged = _matrices()
    keywords = {"nfold": 2, "repeats": 2, "teacher": "boosted", "resume": "state.json", "progress": False}
    pi_xgb.select(PARAMS, dtrain, 4, privileged=privileged, **keywords)
    return 0


def benchmark() -> int:
    """``benchmarks.run`` on made data."""
    from benchmarks.run import __main__ as runner
    from benchmarks.run.cells import MADE, MODES

    MODES["current"] = dataclasses.replace(MODES["current"], rounds=4, early_stopping_rounds=2)
    return runner.run([MADE], ["NF", "KbPIB"], "current", [0, 1], Path("out.csv"), jobs=0, retry=True)


def _measured(path: Path) -> Any:
    """What a file of results says, but for the seconds."""
    table = pd.read_csv(path).sort_values(["method", "fold", "measure"])
    return table[["method", "fold", "measure", "value"]].round(12).to_csv(index=False)


def _finished(path: Path) -> Any:
    """What a state keeps, in whatever order it came."""
    return sorted(json.loads(path.read_text())["finished"].items())


def _rounds(path: Path) -> Any:
    """A model without what its continuation is called."""
    return xgboost.Booster(model_file=path).get_dump(with_stats=True)


PROGRAMS = {
    "train": Program(_command("train", "rows.csv", *GUIDED, "20", "--out", "out.ubj"), ("out.ubj",)),
    "predict": Program(_command("predict", "rows.csv", "--model", "model.ubj", "--out", "out.csv"), ("out.csv",)),
    "evaluate": Program(
        _command(
            *("evaluate", "rows.csv", "--model", "model.ubj", "--label", "y", "--groups", "g", "--n-boot", "20"),
            *("--no-pictures", "--html", "out.html"),
        ),
        ("out.html",),
    ),
    "tune": Program(
        _command("tune", "rows.csv", *GUIDED, "6", *FEW, "--resume", "state.json", "--out", "out.ubj"), ("out.ubj",)
    ),
    "compare": Program(
        _command("compare", "rows.csv", *GUIDED, "3", *FEW, "--resume", "state.json"), ("state.json",), _finished
    ),
    "frontier": Program(_command(*FRONTIER, "--gap", "0.5", "--out", "out.ubj"), ("out.ubj",)),
    "frontier --plot": Program(_command(*FRONTIER, "--plot", "out.png"), ("out.png",)),
    "demo": Program(_command("demo", "--seeds", "2", "--html", "out.html"), ("out.html",)),
    "JointCheckPoint": Program(checkpoints, ("kept/student-12.ubj", "kept/teacher-12.ubj"), _rounds, speaks=False),
    "cv": Program(cross_validation, ("state.json",), _finished, speaks=False),
    "select": Program(selection, ("state.json",), _finished, speaks=False),
    "benchmarks.run": Program(benchmark, ("out.csv",), _measured, speaks=False),
}


@dataclasses.dataclass(frozen=True)
class Fault:
    """What happens to a program."""

    after: float = float("inf")
    """Seconds until it is killed."""
    at_change: int = 0
    """It is killed as it opens, renames or removes a file for so many times; 0: not so."""
    room: int | None = None
    """How many bytes a file may have."""
    gone_after: float = float("inf")
    """Seconds until its folder is away."""


def _inside(name: str, folder: str, fault: Fault) -> None:
    """The program's own process."""
    if not os.path.isdir(folder):
        sys.exit(2)
    os.chdir(folder)
    result = os.open(os.devnull if fault.room is not None else SAID, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    for stream in (1, 2):
        os.dup2(result, stream)
    if fault.room is not None:
        import resource

        resource.setrlimit(resource.RLIMIT_FSIZE, (fault.room, resource.getrlimit(resource.RLIMIT_FSIZE)[1]))
    if fault.at_change:
        changes = 0

        def count(event: str, arguments: Any) -> None:
            nonlocal changes
            if event in CHANGES and not str(arguments[0]).startswith(("/", "rows.csv", "model.ubj")):
                changes += 1
                if changes == fault.at_change:
                    os.kill(os.getpid(), signal.SIGKILL)

        sys.addaudithook(count)
    sys.exit(PROGRAMS[name].run())


@functools.cache
def processes() -> Any:
    """How to start a process that has imported everything already, where the system can fork."""
    if "forkserver" not in multiprocessing.get_all_start_methods():
        return multiprocessing.get_context("spawn")
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload([__name__, "pi_xgb._cli.train", "pi_xgb._report.report", "benchmarks.run.__main__"])
    return context


def run(name: str, folder: Path, fault: Fault) -> tuple[int, float, str]:
    """The exit code of a program, the seconds that it took, and what it said."""
    process = processes().Process(target=_inside, args=(name, str(folder), fault), daemon=True)
    began = time.monotonic()
    process.start()
    process.join(min(fault.after, fault.gone_after, TIME_LIMIT))
    if process.is_alive() and fault.after < TIME_LIMIT:
        process.kill()
    elif process.is_alive() and fault.gone_after < TIME_LIMIT:
        # Not moved: it would stay the folder in which the program works.
        shutil.copytree(folder, f"{folder}.away", ignore=shutil.ignore_patterns(SAID, ".*"))
        if (folder / SAID).exists():
            (folder / SAID).replace(f"{folder}.said")
        while folder.exists():
            shutil.rmtree(folder, ignore_errors=True)  # the program may be writing still
    process.join(TIME_LIMIT)
    taken = time.monotonic() - began
    if process.is_alive():
        process.kill()
        raise Unsound(f"{name} hangs: nothing came of it in {TIME_LIMIT:g} seconds")
    result = next((file for file in (folder / SAID, Path(f"{folder}.said")) if file.exists()), None)
    return process.exitcode, taken, result.read_text(errors="replace") if result else ""


def fill(folder: Path) -> None:
    """Rows, and a model of some of their columns."""
    data = pi_xgb.datasets.make_privileged(120, n_features=2, n_privileged=1, seed=0)
    rows = data.x.join(data.z).assign(y=data.y, g=np.arange(120) % 2)
    rows.to_csv(folder / "rows.csv", index=False)
    booster = xgboost.train(PARAMS, xgboost.DMatrix(data.x, data.y), 3)
    booster.save_model(folder / "model.ubj")


@functools.cache
def uninterrupted(name: str) -> tuple[list[Any], float, int]:
    """What a program ends with where nothing happens to it, the seconds that it takes, and its largest file."""
    program = PROGRAMS[name]
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        fill(folder)
        code, seconds, result = run(name, folder, Fault())
        if code != 0:
            raise Unsound(f"{name} does not work at all: {result[-500:]}")
        files = [folder / file for file in program.ends_with]
        return [program.told(file) for file in files], seconds, max(file.stat().st_size for file in files)


def befall(name: str, faults: list[Fault]) -> str:
    """Faults one after the other, then nothing: "survived" if any of them came before the program had ended."""
    program, (expected, _, _) = PROGRAMS[name], uninterrupted(name)
    came = 0
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place) / "work"
        folder.mkdir()
        fill(folder)
        for fault in faults:
            code, _, result = run(name, folder, fault)
            if code != 0 and fault.after == float("inf") and not fault.at_change:
                _check_words(name, code, result)
            was_lost = not folder.exists()
            if was_lost:
                shutil.move(f"{folder}.away", folder)
            came += code != 0
            _check_whole(name, folder, expected)
            if code == 0 and not was_lost:  # what came back may be older than the end of the work
                break
        else:
            _begin_again(name, folder)
        found = [program.told(folder / file) for file in program.ends_with]
        if found != expected:
            raise Unsound(f"{name} ends with something else after {faults}")
    return "survived" if came else "worked"


def _check_words(name: str, code: int, result: str) -> None:
    """An error that is a message, where it is the command line that speaks."""
    if code < 0 or (PROGRAMS[name].speaks and ("Traceback" in result or code not in (1, 2))):
        raise Unsound(f"{name} ended with {code}: {result[-500:]}")


def _check_whole(name: str, folder: Path, expected: list[Any]) -> None:
    """Each file that it ends with is not there, or is whole; a state can be read."""
    program = PROGRAMS[name]
    known = {"rows.csv", "model.ubj", SAID, "state.json", *program.ends_with}
    for file, content in zip(program.ends_with, expected, strict=True):
        path = folder / file
        # What goes on from a part of its work has a file that is whole and says less.
        goes_on = file == "state.json" or name == "benchmarks.run"
        if path.exists() and not goes_on and program.told(path) != content:
            raise Unsound(f"{name} left {file} in part")
    if (folder / "state.json").exists():
        _finished(folder / "state.json")
    for path in folder.iterdir():
        is_draft = path.name.startswith(".") and path.name.endswith((".part", ".lock"))
        if path.is_file() and path.name not in known and not is_draft and name != "benchmarks.run":
            raise Unsound(f"{name} left {path.name}")


def _begin_again(name: str, folder: Path) -> None:
    """The same command once more; where its file is there already it says so, and leaves it."""
    code, _, result = run(name, folder, Fault())
    if code == 2 and "exists and was not changed" in result:
        return
    if code != 0:
        raise Unsound(f"{name} does not go on: {result[-500:]}")


def _drawn(rng: random.Random, names: tuple[str, ...]) -> tuple[str, float, int]:
    name = rng.choice(names or tuple(PROGRAMS))
    return name, *uninterrupted(name)[1:]


def kills(rng: random.Random, *names: str) -> str:
    """kill -9 at random moments, once or several times, the rest of the work each time."""
    name, seconds, _ = _drawn(rng, names)
    faults = [
        Fault(after=rng.uniform(0, seconds)) if rng.random() < 0.5 else Fault(at_change=rng.randint(1, 9))
        for _ in range(rng.choice([1, 1, 2, 3]))
    ]
    return befall(name, faults)


def full_disks(rng: random.Random, *names: str) -> str:
    """No file may have more than so many bytes, fewer than the largest has in the end."""
    name, _, size = _drawn(rng, names)
    return befall(name, [Fault(room=rng.randrange(size))])


def lost_folders(rng: random.Random, *names: str) -> str:
    """The folder goes away at a random moment, and comes back afterwards."""
    name, seconds, _ = _drawn(rng, names)
    return befall(name, [Fault(gone_after=rng.uniform(0, seconds))])


TARGETS = {"kills": kills, "full_disks": full_disks, "lost_folders": lost_folders}
