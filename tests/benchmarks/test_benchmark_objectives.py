"""Teachers on numbers, counts and classes: the draws, the smoke run, and the committed page."""

import numpy as np
import pandas as pd
import pytest

pytest.importorskip("sklearn", reason="the benchmarks need scikit-learn")
pytest.importorskip("matplotlib", reason="the pictures need matplotlib")

from benchmarks import objectives


def test_the_page_is_that_of_the_committed_csv():
    assert objectives.PAGE.read_text() == objectives.page_of(pd.read_csv(objectives.RESULTS)).rstrip() + "\n"


@pytest.mark.parametrize("name", objectives.PROBLEMS)
def test_no_method_reads_a_label_that_is_not_known(name, monkeypatch):
    monkeypatch.setattr(objectives, "ROUNDS", 3)
    draw = objectives.Draw(objectives.PROBLEMS[name], 0, smoke=True)
    assert not set(draw.train) & set(draw.test)
    monkeypatch.setattr(objectives, "KINDS", {"boosted": "xz", "mixed on x": "x"})
    before = draw.losses(100)
    unknown = draw.train[100:]
    draw.label = draw.label.copy()
    draw.label[unknown] = np.roll(draw.label[unknown], 7)
    assert draw.losses(100) == before


@pytest.mark.slow
def test_the_smoke_run_prints_the_page(capsys):
    objectives.main(["--smoke"])
    printed = capsys.readouterr().out
    for name in objectives.PROBLEMS:
        assert f"| {name} | 50 | " in printed
