"""What the library writes is there as a whole, or not at all."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest
import xgboost as xgb

import pi_xgb
from pi_xgb.__main__ import main
from pi_xgb._files import new_file, write_file


@pytest.mark.parametrize("overwrite", [True, False])
def test_write_file_on_a_failing_disk_leaves_the_old_file_and_no_draft(tmp_path, monkeypatch, overwrite):
    target = tmp_path / "model.ubj"
    if overwrite:
        target.write_bytes(b"old")

    def fsync(file):
        raise OSError("3 of 7 bytes written")

    monkeypatch.setattr(os, "fsync", fsync)
    with pytest.raises(OSError, match="3 of 7 bytes written"):
        write_file(target, b"content", overwrite=overwrite)
    assert [file.read_bytes() for file in tmp_path.iterdir()] == [b"old"] * overwrite


def test_write_file_raises_for_a_file_created_in_between(tmp_path):
    target = tmp_path / "model.UBJ"
    keywords = {"overwrite": False, "endings": (".json", ".ubj")}
    write_file(new_file(target, "out", **keywords), b"first", overwrite=False)
    with pytest.raises(FileExistsError, match=r"choose.*overwrite=True "):
        new_file(target, "out", **keywords)
    with pytest.raises(FileExistsError, match=r"choose.*overwrite=True "):
        write_file(target, b"second", overwrite=False)
    assert target.read_bytes() == b"first"
    write_file(new_file(target, "out", overwrite=True), b"second", overwrite=True)
    assert target.read_bytes() == b"second"
    assert list(tmp_path.iterdir()) == [target]  # no drafts


def test_new_file_raises_where_no_file_can_be(tmp_path, monkeypatch):
    for name, kind, message in (
        ("model.txt", ValueError, r"end.*.json.*.ubj"),
        (".json/model.json", FileNotFoundError, r"folder.*exist"),
        ("", IsADirectoryError, "out must name a file"),
    ):
        with pytest.raises(kind, match=message):
            new_file(tmp_path / name, "out", overwrite=True, endings=(".json", ".ubj") if name else ())
    monkeypatch.setattr(os, "access", lambda folder, mode: not mode & os.W_OK)  # root may write everywhere
    with pytest.raises(PermissionError, match=r"out must be in a writable folder, got"):
        new_file(tmp_path / "model.ubj", "out", overwrite=True)
    # It is named before any work.
    data = pi_xgb.datasets.make_privileged(60, seed=0)
    matrices = xgb.DMatrix(data.x, data.y), xgb.DMatrix(data.z, data.y)
    monkeypatch.setattr(xgb, "train", None)
    with pytest.raises(PermissionError, match="resume must be in a writable folder"):
        pi_xgb.select({}, matrices[0], 2, privileged=matrices[1], resume=tmp_path / "state.json")


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


TRAIN = ["train", "rows.csv", "--label", "y", "--privileged", "z0", "--rounds", "40", "--out", "out.ubj"]


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")
@pytest.mark.parametrize("moment", ["fsync", "link"])
def test_killed_program_leaves_a_whole_file_or_none(tmp_path, monkeypatch, moment):
    data = pi_xgb.datasets.make_privileged(300, n_features=2, n_privileged=1, seed=0)
    data.x.join(data.z).assign(y=data.y).to_csv(tmp_path / "rows.csv", index=False)
    environment = {**os.environ, "PYTHONPATH": str(Path(pi_xgb.__file__).parents[1]), "OMP_NUM_THREADS": "1"}
    # Killed before the file is on disk, or before it has its name.
    kill = f"import os, signal; os.{moment} = lambda *_, **__: os.kill(os.getpid(), signal.SIGKILL)"
    command = [sys.executable, "-c", f"{kill}\nfrom pi_xgb.__main__ import main\nmain({TRAIN!r})"]
    found = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=120)
    assert found.returncode == -signal.SIGKILL, found.stderr
    assert not (tmp_path / "out.ubj").exists()
    # A draft is in nobody's way.
    monkeypatch.chdir(tmp_path)
    assert main(TRAIN) == 0
    assert xgb.Booster(model_file=tmp_path / "out.ubj").num_boosted_rounds() == 40
