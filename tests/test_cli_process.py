"""The command line as a shell sees it: exit codes, pipes, Ctrl-C, what is left on disk."""

from __future__ import annotations

import os
import signal
import struct
import subprocess
import sys
import time
from pathlib import Path

import pandas as pd
import pytest
import xgboost as xgb

import pi_xgb

PI_XGB = [sys.executable, "-m", "pi_xgb"]
ENVIRONMENT = {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONPATH": str(Path(pi_xgb.__file__).parents[1])}

pytestmark = [pytest.mark.slow, pytest.mark.skipif(os.name == "nt", reason="signals and pipes of POSIX shells")]


@pytest.fixture
def folder(tmp_path):
    """Rows of numbers and a model."""
    data = pi_xgb.datasets.make_privileged(300, n_features=3, n_privileged=2, seed=0)
    data.x.join(data.z).assign(y=data.y).to_csv(tmp_path / "train.csv", index=False)
    booster = xgb.train({"objective": "binary:logistic", "nthread": 1}, xgb.DMatrix(data.x, data.y), 2)
    booster.save_model(tmp_path / "model.ubj")
    return tmp_path


def run(folder, *arguments, **options):
    return subprocess.run(
        [*PI_XGB, *arguments], cwd=folder, env=ENVIRONMENT, capture_output=True, text=True, timeout=120, **options
    )


def test_exit_codes_and_streams(folder):
    predict = ["predict", "train.csv", "--model", "model.ubj"]
    done = run(folder, *predict)
    # Answers on standard output and nothing else anywhere.
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.count("\n") == 301
    assert (
        run(folder, "predict", "-", "--model", "model.ubj", input=(folder / "train.csv").read_text()).stdout
        == done.stdout
    )

    done = run(folder, "predict", "absent.csv", "--model", "model.ubj")
    # Bad input: 2, a message, and no answer.
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "pi-xgb: [Errno 2] No such file or directory: 'absent.csv'\n"


def test_full_disk_is_1(folder):
    if not Path("/dev/full").exists():
        pytest.skip("no device that is always full")
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [*PI_XGB, "predict", "train.csv", "--model", "model.ubj"],
            cwd=folder, env=ENVIRONMENT, stdout=full, stderr=subprocess.PIPE, text=True, timeout=120,
        )  # fmt: skip
    assert done.returncode == 1
    assert "pi-xgb: " in done.stderr
    assert "No space left" in done.stderr
    assert "Traceback" not in done.stderr


def test_reader_of_a_pipe_that_goes_away_is_141_without_a_message(folder):
    rows = pd.read_csv(folder / "train.csv")
    # More than a pipe holds.
    pd.concat([rows] * 30).to_csv(folder / "many.csv", index=False)
    command = f"{sys.executable} -m pi_xgb predict many.csv --model model.ubj | head -1; echo ${{PIPESTATUS[0]}}"
    done = subprocess.run(
        ["bash", "-c", command], cwd=folder, env=ENVIRONMENT, capture_output=True, text=True, timeout=120
    )
    assert done.stdout == "prediction,probability_1\n141\n"
    assert done.stderr == ""


def start(arguments, folder):
    """The command in a process that hears Ctrl-C, which a shell's background jobs would inherit as ignored."""
    return subprocess.Popen(
        [*PI_XGB, *arguments],
        cwd=folder,
        env=ENVIRONMENT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )


def test_ctrl_c_during_training_is_130_and_leaves_nothing_behind(folder):
    before = sorted(os.listdir(folder))
    endless = ["--rounds", "1000000", "--params", "nthread=1", "--crossfit", "2"]
    arguments = ["train", "train.csv", "--label", "y", "--privileged", "z0,z1", *endless, "--out", "student.ubj"]
    started = start(arguments, folder)
    try:
        assert "300 rows" in started.stderr.readline()
        time.sleep(0.5)
        started.send_signal(signal.SIGINT)
        out, err = started.communicate(timeout=60)
    finally:
        started.kill()
    assert started.returncode == 130
    assert out == ""
    assert "stopped; nothing was written" in err
    assert "Traceback" not in err
    assert sorted(os.listdir(folder)) == before


@pytest.mark.parametrize("within", ["import", "exec"])
@pytest.mark.parametrize("module", ["numpy", "xgboost"])
def test_ctrl_c_during_the_imports_is_130(folder, module, within):
    code = "import os, signal, time\nos.kill(os.getpid(), signal.SIGINT)\ntime.sleep(9)\n"
    # Python ends by signal after an interruption within an exec of a string, even one that was handled.
    (folder / f"{module}.py").write_text(code if within == "import" else f"exec({code!r})")
    path = f"{folder}{os.pathsep}{ENVIRONMENT['PYTHONPATH']}"
    done = subprocess.run(
        [*PI_XGB, "predict", "train.csv", "--model", "model.ubj"],
        **{"cwd": folder, "env": {**ENVIRONMENT, "PYTHONPATH": path}, "capture_output": True, "timeout": 60},
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
        text=True,
    )
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "\nstopped; nothing was written\n")


def test_bar_is_drawn_on_a_terminal_only(folder):
    arguments = ["tune", "train.csv", "--label", "y", "--privileged", "z0,z1", "--rounds", "5", "--params", "nthread=1"]
    arguments += ["--teacher", "boosted", "--folds", "2", "--repeats", "1"]
    quiet = run(folder, *arguments, "--out", "quiet.ubj")
    assert quiet.returncode == 0
    assert "select:" not in quiet.stderr
    pytest.importorskip("tqdm", reason="draws the bar")
    pty, fcntl, termios = (pytest.importorskip(name, reason="needs a terminal") for name in ("pty", "fcntl", "termios"))
    reader, writer = pty.openpty()
    fcntl.ioctl(writer, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))  # a bar needs room
    watched = subprocess.Popen(
        [*PI_XGB, *arguments, "--out", "watched.ubj"],
        cwd=folder,
        env={**ENVIRONMENT, "TQDM_MININTERVAL": "0"},
        stdout=subprocess.DEVNULL,
        stderr=writer,
    )
    assert watched.wait(120) == 0
    os.close(writer)
    shown = os.read(reader, 100_000).decode()
    os.close(reader)
    assert "select:" in shown
    assert "6/6" in shown
    assert (folder / "quiet.ubj").read_bytes() == (folder / "watched.ubj").read_bytes()


def test_demo_prints_before_it_ends(folder):
    started = start(["demo"], folder)
    try:
        lines = [started.stdout.readline() for _ in range(5)]
        # Through a pipe, and long before the tenth seed.
        assert lines[4].startswith("seed  1 of 10: AUC of plain XGBoost")
        assert started.poll() is None
        started.send_signal(signal.SIGINT)
        started.communicate(timeout=60)
    finally:
        started.kill()
    assert started.returncode == 130
    assert sorted(os.listdir(folder)) == ["model.ubj", "train.csv"]
