"""What the library writes is there as a whole, or not at all."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest
import xgboost as xgb

import pi_xgb
from pi_xgb._files import new_file, write_file

CHECKPOINTS = """
import resource, sys
import pi_xgb, xgboost as xgb
data = pi_xgb.datasets.make_privileged(300, seed=0)
params = {"objective": "binary:logistic", "nthread": 1}
teacher = pi_xgb.JointTeacher(xgb.DMatrix(data.z, data.y), params)
keep = pi_xgb.JointCheckPoint(sys.argv[1], teacher, interval=1)
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[2]), resource.RLIM_INFINITY))
pi_xgb.train(params, xgb.DMatrix(data.x, data.y), 30, teacher=teacher, callbacks=[keep])
"""


@pytest.mark.slow
@pytest.mark.parametrize("room", [0, 20_000])
def test_a_disk_that_is_full_leaves_no_checkpoint_that_looks_complete(tmp_path, room):
    pytest.importorskip("resource", reason="limits of files are POSIX")
    found = subprocess.run(
        [sys.executable, "-c", CHECKPOINTS, str(tmp_path), str(room)], capture_output=True, text=True, timeout=120
    )
    # The training says so and ends.
    assert found.returncode != 0
    assert "File too large" in found.stderr
    # What was written before can be read, and nothing else is there.
    for file in tmp_path.iterdir():
        rounds = int(file.stem.rpartition("-")[2])
        assert xgb.Booster(model_file=file).num_boosted_rounds() == rounds - file.name.startswith("teacher")


@pytest.mark.parametrize("links", [True, False])
def test_a_new_file_takes_no_name_that_is_taken_while_the_work_goes_on(tmp_path, monkeypatch, links):
    def no_links(*how):
        raise OSError("a file system without links")

    if not links:
        monkeypatch.setattr(os, "link", no_links)
    target = tmp_path / "model.UBJ"
    keywords = {"overwrite": False, "endings": (".json", ".ubj")}
    write_file(new_file(target, "out", **keywords), b"first", overwrite=False)
    assert target.read_bytes() == b"first"
    for again in (lambda: new_file(target, "out", **keywords), lambda: write_file(target, b"second", overwrite=False)):
        with pytest.raises(FileExistsError, match=r"choose.*overwrite=True$"):
            again()
    with pytest.raises(FileExistsError, match="or say --force"):
        write_file(target, b"second", overwrite=False, anyway="say --force")
    assert target.read_bytes() == b"first"
    write_file(new_file(target, "out", overwrite=True), b"second", overwrite=True)
    assert target.read_bytes() == b"second"
    assert list(tmp_path.iterdir()) == [target]  # no drafts


def test_a_name_that_no_file_can_have(tmp_path):
    for name, kind, message in (
        ("model.txt", ValueError, r"end.*.json.*.ubj"),
        (".json/model.json", FileNotFoundError, r"folder.*exist"),
    ):
        with pytest.raises(kind, match=message):
            new_file(tmp_path / name, "out", overwrite=True, endings=(".json", ".ubj"))
    with pytest.raises(IsADirectoryError, match="out must name a file"):
        new_file(tmp_path, "out", overwrite=True)


@pytest.mark.skipif(os.name != "posix", reason="links and pipes of POSIX")
def test_links_are_followed_and_pipes_stay_pipes(tmp_path):
    file, link, pipe = (tmp_path / name for name in ("file", "link", "pipe"))
    file.write_bytes(b"old")
    link.symlink_to(file)
    write_file(new_file(link, "--out", overwrite=True), b"new", overwrite=True)
    assert link.is_symlink()
    assert file.read_bytes() == b"new"
    os.mkfifo(pipe)
    read: list[bytes] = []
    reader = threading.Thread(target=lambda: read.append(pipe.read_bytes()), daemon=True)
    reader.start()
    write_file(new_file(pipe, "--out", overwrite=True), b"through", overwrite=True)
    reader.join(20)
    assert read == [b"through"]
    assert pipe.is_fifo()


# --- what a program leaves that could not write, or was killed --------------------------------------------------------

WRITERS = {
    "train": ["train", "rows.csv", "--label", "y", "--privileged", "z0", "--rounds", "40", "--out", "out.ubj"],
    "predict": ["predict", "rows.csv", "--model", "model.ubj", "--out", "out.csv"],
    "tune": ["tune", "rows.csv", "--label", "y", "--privileged", "z0", "--rounds", "3", "--resume", "out.json"],
}


@pytest.fixture
def folder(tmp_path):
    """Rows and a model."""
    data = pi_xgb.datasets.make_privileged(300, n_features=2, n_privileged=1, seed=0)
    data.x.join(data.z).assign(y=data.y).to_csv(tmp_path / "rows.csv", index=False)
    dtrain = xgb.DMatrix(data.x, data.y)
    xgb.train({"objective": "binary:logistic", "nthread": 1}, dtrain, 2).save_model(tmp_path / "model.ubj")
    return tmp_path


def command(folder, arguments, prelude=""):
    code = f"import sys; from pi_xgb.__main__ import main; {prelude}\nsys.exit(main({arguments!r}))"
    path = f"{Path(pi_xgb.__file__).parents[1]}"
    environment = {**os.environ, "PYTHONPATH": path, "OMP_NUM_THREADS": "1"}
    return subprocess.Popen(
        [sys.executable, "-c", code],
        **{"cwd": folder, "env": environment, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True},
    )


def is_whole(path):
    if path.suffix == ".ubj":
        return xgb.Booster(model_file=path).num_boosted_rounds() == 40
    return len(path.read_text().splitlines()) == 301 if path.suffix == ".csv" else bool(json.loads(path.read_text()))


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")
@pytest.mark.parametrize("name", ["train", "tune"])
def test_a_program_that_is_killed_leaves_whole_files_or_none(folder, name):
    out = folder / WRITERS[name][-1]
    # Killed where the file is written and not on disk yet, and where it is and has not its name yet.
    for moment in ("os.fsync", "os.link" if name == "train" else "os.replace"):
        kill = f"import os, secrets, signal; {moment} = lambda *how, **more: os.kill(os.getpid(), signal.SIGKILL)"
        process = command(folder, WRITERS[name], kill)
        process.communicate(timeout=120)
        if out.exists():
            assert is_whole(out)
            out.unlink()
    # What is left of a draft is in nobody's way.
    process = command(folder, WRITERS[name])
    _, err = process.communicate(timeout=120)
    assert process.returncode == 0, err
    assert is_whole(out)
