"""The demonstration: its means, and that the recipe gains."""

from __future__ import annotations

import re
import sys

import numpy as np
import pytest
from helpers_cli import works


@pytest.mark.slow
def test_demo_recipe_gains_more_than_its_rivals_and_its_control(monkeypatch, capsys):
    for extra in ("matplotlib", "sklearn"):  # the base install is enough
        monkeypatch.setitem(sys.modules, extra, None)
    works("demo", "--seeds", "3")
    out = capsys.readouterr().out
    # The means are those of the seeds, which are shown.
    plain = [float(value) for value in re.findall(r"AUC of plain XGBoost ([.\d]+)", out)]
    assert len(plain) == 3
    assert float(re.search(r"^plain XGBoost +AUC ([.\d]+)", out, re.M)[1]) == pytest.approx(np.mean(plain), abs=2e-4)
    gain = {name.strip(): float(value) for name, value in re.findall(r"^(\S.*?) AUC .* gain ([-+.\d]+)", out, re.M)}
    rivals = ("logistic regression", "random forest", "control: teacher on x")
    assert gain["mixed teacher"] > max(0.0, *(gain[name] for name in rivals))
