"""The demonstration: what it prints, its oracles, and that nothing goes on after an error."""

from __future__ import annotations

import re
import sys
import threading
import time

import pytest
from sklearn.metrics import roc_auc_score

from pi_xgb.__main__ import main
from pi_xgb._cli import demo
from pi_xgb.datasets import make_privileged


def test_demo_prints_every_seed_and_the_means(monkeypatch, capsys):
    scores = {name: [0.5 + 0.1 * seed, 0.7] for seed, name in enumerate(demo.METHODS)}
    monkeypatch.setattr(demo, "scores_of", lambda seed: {name: values[seed] for name, values in scores.items()})
    assert main(["demo", "--seeds", "2"]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    assert "seed  1 of 2: AUC of plain XGBoost 0.5000, logistic regression 0.6000, mixed teacher 1.0000\n" in out
    # By hand: means of (.5, .7) and (.6, .7), and of their differences (.1, 0).
    assert "plain XGBoost                AUC 0.6000 (s.e. 0.1000)\n" in out
    assert "logistic regression          AUC 0.6500 (s.e. 0.0500)   gain +0.0500 (s.e. 0.0500)\n" in out
    assert "What z adds: mixed teacher less control: teacher on x, -0.0500 (s.e. 0.0500)\n" in out


def test_demo_scores_are_those_of_the_library(monkeypatch):
    monkeypatch.setattr(demo, "ROUNDS", 5)
    monkeypatch.setattr(demo, "ALL_ROWS", 200)
    scores = demo.scores_of(3)
    assert list(scores) == list(demo.METHODS)
    data = make_privileged(200 + demo.TEST_ROWS, seed=3)
    truth = data.y[200:]
    assert scores["ceiling: the true P(y|x, z)"] == pytest.approx(roc_auc_score(truth, data.q[200:]))
    assert all(0.5 < score <= 1 for score in scores.values())


@pytest.mark.slow
def test_demo_recipe_gains_more_than_its_rivals_and_its_control(capsys):
    assert main(["demo", "--seeds", "3"]) == 0
    out = capsys.readouterr().out
    gain = {name.strip(): float(value) for name, value in re.findall(r"^(\S.*?) AUC .* gain ([-+.\d]+)", out, re.M)}
    rivals = ("logistic regression", "random forest", "control: teacher on x")
    assert gain["mixed teacher"] > max(0.0, *(gain[name] for name in rivals))


def test_demo_starts_nothing_after_an_error_and_needs_the_base_install_only(monkeypatch, capsys):
    for extra in ("matplotlib", "sklearn"):
        monkeypatch.setitem(sys.modules, extra, None)
    begun, threads = [], threading.active_count()

    def failing(seed):
        begun.append(seed)
        time.sleep(0.01)
        raise ValueError("no more")

    monkeypatch.setattr(demo, "usable_cores", lambda: 1)
    monkeypatch.setattr(demo, "scores_of", failing)
    assert main(["demo", "--seeds", "30"]) == 2
    assert capsys.readouterr().err == "pi-xgb: no more\n"
    assert len(begun) < 30
    assert threading.active_count() == threads
