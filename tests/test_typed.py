"""What a type checker tells a user: what is right passes, and a misspelt word or keyword is found."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import pi_xgb

SETUP = """
import xgboost as xgb
import pi_xgb
from pi_xgb import dask as pid
from pi_xgb import metrics
data = pi_xgb.datasets.make_privileged(100)
dtrain, privileged = xgb.DMatrix(data.x, data.y), xgb.DMatrix(data.z, data.y)
params = {"objective": "binary:logistic"}
"""
RIGHT = """
booster: xgb.Booster = pi_xgb.train(params, dtrain, 10, privileged=privileged, method="jpib", engine="auto")
pi_xgb.cv(params, dtrain, privileged=privileged, kl_weight=[0.0, 1.0], nfold=3)
pi_xgb.select(params, dtrain, privileged=privileged, method="kbpib", crossfit=(0, 5)).train(dtrain)
pi_xgb.PrivilegedXGBClassifier(max_depth=3, crossfit=5, eta=0.1, monotone_constraints=(1, 0)).fit(data.x, data.y)
pi_xgb.PrivilegedXGBRegressorCV(n_estimators=10, kl_weight=(1.0, 3.0), method=("kbpib", "jpib"), nfold=3)
metrics.equalized_odds([1], [1], sensitive_features=[0], agg="max")
"""
# Each line is wrong, for the reason behind it.
WRONG = """
pi_xgb.trian(params, dtrain)  # has no attribute "trian"
pi_xgb.train(params, dtrain, method="typo")  # incompatible type "Literal['typo']"
pi_xgb.train(params, dtrain, kl_wieght=3)  # Unexpected keyword argument "kl_wieght"
pi_xgb.cv(params, dtrain, kl_wieght=3)  # Unexpected keyword argument "kl_wieght"
pi_xgb.select(params, dtrain, privileged=privileged, method="typo")  # Argument "method" to "select"
pi_xgb.compare(data.x, data.y, data.z, kl_wieght=3)  # Unexpected keyword argument "kl_wieght"
pi_xgb.fit_teacher(params, privileged, crosfit=3)  # Unexpected keyword argument "crosfit"
pi_xgb.PrivilegedXGBClassifier(method="typo")  # incompatible type "Literal['typo']"
pi_xgb.PrivilegedXGBClassifier().fit(data.x, data.y, priviledged=data.z)  # Unexpected keyword argument "priviledged"
pid.train(None, params, None, method="typo")  # incompatible type "Literal['typo']"
pi_xgb.KLObjective(kl_wieght=3)  # Unexpected keyword argument "kl_wieght"
metrics.equalized_odds([1], [1], sensitive_features=[0], agg="typo")  # incompatible type "Literal['typo']"
"""


@pytest.mark.slow
def test_mypy_finds_what_is_misspelt_in_a_user_script(tmp_path):
    pytest.importorskip("mypy", reason="the extra lint brings mypy")
    script = tmp_path / "script.py"
    script.write_text(SETUP + RIGHT + WRONG)
    config = tmp_path / "mypy.ini"
    home = Path(pi_xgb.__file__).parents[1]
    # Where it is installed mypy finds it by py.typed, and refuses to be told.
    path = "" if home.name == "site-packages" else f"mypy_path = {home}\n"
    config.write_text(f"[mypy]\nfollow_imports = silent\nignore_missing_imports = True\n{path}")
    command = [sys.executable, "-m", "mypy", "--config-file", str(config), script.name]
    output = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True).stdout
    lines = script.read_text().splitlines()
    expected = {number: line.split("  # ")[1] for number, line in enumerate(lines, 1) if "  # " in line}
    found = {int(line.split(":")[1]): line for line in output.splitlines() if " error: " in line}
    assert found.keys() == expected.keys(), output
    assert [words for number, words in expected.items() if words not in found[number]] == [], output
