"""Rows, files and calls for the tests of the command line."""

from __future__ import annotations

import io
import re
import shutil

import numpy as np
import pandas as pd
import pytest
from threadpoolctl import threadpool_limits

import pi_xgb
from pi_xgb.__main__ import main


@pytest.fixture(autouse=True)
def one_thread():
    with threadpool_limits(1, user_api="openmp"):
        yield


PARAMS = {"objective": "binary:logistic", "max_depth": 3, "nthread": 1, "seed": 0}
QUICK = ["--rounds", "6", "--params", "max_depth=3", "nthread=1"]
GUIDED = ["--label", "y", "--privileged", "z0,z1", *QUICK]


def table(n=200, seed=0):
    """Rows with gaps, text, truth values, a group and weights."""
    data = pi_xgb.datasets.make_privileged(n, n_features=3, n_privileged=2, group_gap=1.0, seed=seed)
    rng = np.random.default_rng(seed)
    frame = data.x.join(data.z).assign(
        colour=rng.choice(["red", "green", "blue"], n),
        flag=rng.random(n) > 0.5,
        sex=np.where(data.group == 1, "f", "m"),
    )
    frame.loc[rng.random(n) < 0.1, ["x0", "colour"]] = None
    return frame.assign(y=data.y, w=rng.uniform(0.5, 2, n).round(3), q=data.q, ill=np.where(data.y == 1, "ill", "well"))


FEATURES = ["x0", "x1", "x2", "colour", "flag"]
OTHERS = ["--drop", "sex,w,q,ill"]


@pytest.fixture
def files(tmp_path, monkeypatch):
    """A folder with training rows and others, and the rows as pandas reads them."""
    monkeypatch.chdir(tmp_path)
    table(300).iloc[:200].to_csv("train.csv", index=False)
    table(300).iloc[200:].to_csv("test.csv", index=False)
    return pd.read_csv("train.csv"), pd.read_csv("test.csv")


def works(*arguments):
    assert main([str(argument) for argument in arguments]) == 0


def has_parts(text, match):
    """Whether a text has these parts in this order; what stands between them is written as ``.*``."""
    return re.search(".*".join(map(re.escape, match.split(".*"))), text, flags=re.DOTALL) is not None


def refused(capsys, match, *arguments):
    capsys.readouterr()
    code = main([str(argument) for argument in arguments])
    out, err = capsys.readouterr()
    # Bad input is exit code 2, one message on standard error, and nothing on standard output.
    assert (code, out) == (2, "")
    assert has_parts(err, match), err
    assert "Traceback" not in err
    return err


def misused(capsys, match, *arguments):
    with pytest.raises(SystemExit) as stopped:
        main([str(argument) for argument in arguments])
    assert stopped.value.code == 2
    err = capsys.readouterr().err
    assert has_parts(err, match), err
    return err


def in_categories(frame):
    return frame.assign(colour=frame["colour"].astype("category"))


@pytest.fixture(scope="session")
def model_file(tmp_path_factory):
    """A model of the training rows."""
    folder = tmp_path_factory.mktemp("model")
    table(300).iloc[:200].to_csv(folder / "train.csv", index=False)
    works("train", folder / "train.csv", *GUIDED, *OTHERS, "--out", folder / "model.ubj")
    return folder / "model.ubj"


@pytest.fixture
def trained(files, model_file):
    shutil.copy(model_file, "model.ubj")
    return files


def predicted(capsys, *arguments):
    capsys.readouterr()
    works("predict", *arguments, "--model", "model.ubj")
    out, err = capsys.readouterr()
    return pd.read_csv(io.StringIO(out)), err
