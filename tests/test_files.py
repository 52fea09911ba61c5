"""What the library writes is there as a whole, or not at all."""

from __future__ import annotations

import os
import subprocess
import sys
import threading

import pytest

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


@pytest.mark.parametrize("room", [0, 20_000])
def test_a_disk_that_is_full_leaves_no_checkpoint_that_looks_complete(tmp_path, room):
    pytest.importorskip("resource", reason="limits of files are POSIX")
    told = subprocess.run(
        [sys.executable, "-c", CHECKPOINTS, str(tmp_path), str(room)], capture_output=True, text=True, timeout=120
    )
    # The training says so and ends.
    assert told.returncode != 0
    assert "File too large" in told.stderr
    import xgboost as xgb

    # What was written before can be read, and nothing else is there.
    for file in tmp_path.iterdir():
        rounds = int(file.stem.rpartition("-")[2])
        assert xgb.Booster(model_file=file).num_boosted_rounds() == rounds - file.name.startswith("teacher")


def test_what_arrives_in_part_is_an_error(tmp_path, monkeypatch):
    target = tmp_path / "model.ubj"
    target.write_bytes(b"old")
    monkeypatch.setattr(os, "fsync", lambda file: os.ftruncate(file, 3))  # a file system that says nothing
    with pytest.raises(OSError, match="3 of 7 bytes arrived"):
        write_file(target, b"content", overwrite=True)
    assert target.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [target]


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
