"""The demonstration: what it trains, what it prints, what it draws, and how it stops."""

from __future__ import annotations

import ast
import io
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import roc_auc_score

from pi_xgb.__main__ import main
from pi_xgb._cli import demo
from pi_xgb._cli.demo import ALL_LABELS, CONTROL, FEW_LABELS, _show, run_demo, run_experiment
from pi_xgb._cli.experiment import Experiment, Outcome
from pi_xgb.datasets import make_privileged

GUIDED = {"kl_weight": 5.0, "crossfit": 5}


def rows_of(matrix):
    return None if matrix is None else matrix.get_data().toarray()


class FirstFeature:
    """A booster that answers with the first feature, ties included."""

    def predict(self, matrix):
        return np.round(rows_of(matrix)[:, 0], 1)


@pytest.mark.parametrize("experiment", [ALL_LABELS, FEW_LABELS], ids=["all labels", "few labels"])
def test_every_method_is_trained_as_it_is_explained(monkeypatch, experiment):
    calls = []

    def noted(params, dtrain, rounds, **guidance):
        assert (params, rounds) == ({"objective": "binary:logistic", "max_depth": 3, "eta": 0.1, "nthread": 1}, 100)
        privileged = guidance.pop("privileged", None)
        known = guidance.pop("labelled", None)
        for matrix in filter(None, (dtrain, privileged)):
            assert np.array_equal(matrix.get_label(), dtrain.get_label())
        calls.append((rows_of(dtrain), dtrain.get_label(), rows_of(privileged), known, guidance))
        return FirstFeature()

    rivals = []

    def fitted(params, dtrain, rounds, *, teacher, crossfit):
        noted(params, dtrain, rounds)
        rivals.append((*calls.pop(), teacher, crossfit))
        return FirstFeature()

    monkeypatch.setattr(demo, "train", noted)
    monkeypatch.setattr(demo, "fit_teacher", fitted)
    scores = experiment.scores(3)
    assert list(scores) == list(experiment.explanations)
    n = 300 if experiment is ALL_LABELS else 1000
    data = make_privileged(n + 4000, seed=3)
    x, z, y = (part[:n].to_numpy(np.float32) for part in (data.x, data.z, data.y))
    # Judged on the last 4000 rows, here by scikit-learn.
    truth, late = data.y[n:], np.round(data.x[n:].to_numpy(np.float32)[:, 0], 1)
    others = [score for name, score in scores.items() if not name.startswith("ceiling")]
    assert others == pytest.approx([roc_auc_score(truth, late)] * len(others))
    if experiment is ALL_LABELS:
        assert scores["ceiling: the true P(y|x, z)"] == pytest.approx(roc_auc_score(truth, data.q[n:]))
        shuffled = calls[-1][2]
        assert np.array_equal(np.sort(shuffled, axis=0), np.sort(z, axis=0))
        assert (shuffled != z).any(axis=1).mean() > 0.9
        experiment.scores(3)
        assert np.array_equal(calls[-1][2], shuffled)
        expected = [(x, y, None, None, {}), (x, y, z, None, {"kl_weight": 5.0}), (x, y, z, None, GUIDED),
                    (x, y, z, None, {"kl_weight": 5.0, "method": "jpib"}),
                    (x, y, x, None, GUIDED | {"allow_overlap": True}), (x, y, shuffled, None, GUIDED)]  # fmt: skip
    else:
        known, few = np.arange(1000) < 60, slice(0, 60)
        label, mixed = np.where(known, y, 0), {"kl_weight": 5.0, "teacher": "mixed"}
        expected = [(x[few], y[few], None, None, {}), (x, label, z, known, GUIDED), (x, label, z, known, mixed),
                    (x, label, None, known, mixed), (x, y, None, None, {})]  # fmt: skip
        assert [rival[-2:] for rival in rivals] == [("linear", 0), ("forest", 0)]
        assert all(np.array_equal(rival[0], x[few]) and np.array_equal(rival[1], y[few]) for rival in rivals)
    for call, wanted in zip(calls, expected, strict=False):
        assert call[4] == wanted[4]
        assert all(np.array_equal(item, other) for item, other in zip(call[:4], wanted[:4], strict=True))
    assert len(calls) % len(expected) == 0


def small(scores):
    """An experiment with four methods that trains nothing."""
    explained = {"plain XGBoost": "plain", "A": "guided", "B": "guided otherwise", CONTROL: "guided by x"}
    return Experiment(
        "{n_seeds} seeds",
        explained,
        shown=("plain XGBoost", "A"),
        best="A",
        control=CONTROL,
        scores=scores,
        closing="the end",
    )


def scores_of(seed):
    return {"plain XGBoost": 0.5 + 0.1 * seed, "A": 0.7, "B": 0.4 + 0.1 * seed, CONTROL: 0.6}


PRINTED = f"""2 seeds
seed  1 of 2: AUC of plain XGBoost 0.5000, A 0.7000
seed  2 of 2: AUC of plain XGBoost 0.6000, A 0.7000

The means over the seeds:
plain XGBoost                    AUC 0.5500 (s.e. 0.0500)
    plain
A                                AUC 0.7000 (s.e. 0.0000)   gain +0.1500 (s.e. 0.0500)
    guided
B                                AUC 0.4500 (s.e. 0.0500)   gain -0.1000 (s.e. 0.0000)
    guided otherwise
{CONTROL}            AUC 0.6000 (s.e. 0.0000)   gain +0.0500 (s.e. 0.0500)
    guided by x
What z adds: A less {CONTROL}, +0.1000 (s.e. 0.0000)
the end"""


def test_an_experiment_is_printed_line_by_line(capsys):
    run_experiment(small(scores_of), 2)
    assert capsys.readouterr().out == f"{PRINTED}\n"


def test_a_line_is_there_at_once_in_a_pipe_as_well(monkeypatch):
    pipe = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(pipe))
    _show("seed 1")
    assert pipe.getvalue().split() == [b"seed", b"1"]


def test_two_experiments_are_separated_by_an_empty_line(monkeypatch, capsys):
    for name in ("ALL_LABELS", "FEW_LABELS"):
        monkeypatch.setattr(demo, name, small(scores_of))
    run_demo(2)
    assert capsys.readouterr().out == f"{PRINTED}\n\n{PRINTED}\n"


def test_what_was_not_begun_is_not_begun_after_a_failure(monkeypatch):
    monkeypatch.setattr(demo, "usable_cores", lambda: 1)
    begun, threads = [], threading.active_count()

    def failing(seed):
        begun.append(seed)
        time.sleep(0.01)
        raise ValueError("no more")

    with pytest.raises(ValueError, match="no more"):
        run_experiment(small(failing), 30)
    assert len(begun) < 30
    # Nor does anything go on.
    assert threading.active_count() == threads


def test_a_page_without_matplotlib_is_refused_before_anything_is_trained(monkeypatch, tmp_path, capsys):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    monkeypatch.setattr("pi_xgb._cli.demo.run_demo", lambda *_: pytest.fail("it trained"))
    assert main(["demo", "--html", str(tmp_path / "demo.html")]) == 1
    assert "need matplotlib" in capsys.readouterr().err


def test_without_a_page_nothing_is_written(monkeypatch, tmp_path, capsys):
    monkeypatch.chdir(tmp_path)
    requested = []
    monkeypatch.setattr(demo, "run_demo", requested.append)
    assert main(["demo", "--seeds", "3"]) == 0
    assert (requested, list(tmp_path.iterdir()), capsys.readouterr().err) == ([3], [], "")


def test_the_page_of_all_that_was_measured_is_written(monkeypatch, tmp_path, capsys):
    pytest.importorskip("matplotlib")
    monkeypatch.setattr(demo, "run_demo", lambda n_seeds: [n_seeds])
    monkeypatch.setattr("pi_xgb._cli.demo_page.demo_page", str)
    path = tmp_path / "demo.html"
    assert main(["demo", "--seeds", "3", "--html", str(path)]) == 0
    assert path.read_text() == "[3]"
    assert capsys.readouterr().err == f"{path}: written\n"


def test_the_picture_has_every_seed_and_the_means():
    pytest.importorskip("matplotlib")
    from matplotlib.colors import to_hex
    from matplotlib.figure import Figure

    from pi_xgb._cli.demo_page import _draw
    from pi_xgb._plots.style import PALETTE, REFERENCE

    outcome = Outcome(small(scores_of), pd.DataFrame([scores_of(seed) for seed in range(3)]))
    ax = Figure().subplots()
    _draw(outcome, ax)
    methods = ["A", "B", CONTROL]
    # From the top in the order of the explanations, around a line at no gain.
    assert [label.get_text() for label in ax.get_yticklabels()] == methods
    assert ax.get_yticks().tolist() == [0, 1, 2]
    assert ax.get_ylim() == (2.5, -0.5)
    zero, *lines = ax.lines
    assert (zero.get_xdata(), zero.get_color()) == ([0, 0], REFERENCE)
    assert ax.get_xlabel() == "gain in AUC over plain XGBoost"
    assert [axis.get_gridlines()[0].get_visible() for axis in (ax.xaxis, ax.yaxis)] == [True, False]
    points = [line for line in lines if len(line.get_xdata()) == 3]
    bars = [container.lines[2][0].get_segments()[0] for container in ax.containers]
    for i, name in enumerate(methods):
        gains = outcome.scores[name] - outcome.scores["plain XGBoost"]
        np.testing.assert_array_equal(points[i].get_xydata(), np.c_[gains, [i] * 3])
        assert points[i].get_alpha() < 1
        reach = 2 * gains.sem()
        np.testing.assert_allclose(bars[i], [[gains.mean() - reach, i], [gains.mean() + reach, i]], atol=1e-12)
        mean = ax.containers[i].lines[0]
        np.testing.assert_allclose(mean.get_xydata(), [[gains.mean(), i]])
        assert mean.get_marker() not in (points[i].get_marker(), "None")
        # What is set against the control stands out, and so does the control.
        wanted = {"A": PALETTE[0], CONTROL: PALETTE[1]}.get(name, REFERENCE)
        bar_color = to_hex(ax.containers[i].lines[2][0].get_color()[0])
        assert [points[i].get_color(), mean.get_color(), bar_color.upper()] == [wanted, wanted, wanted.upper()]


def test_the_page_tells_what_was_printed(monkeypatch):
    pytest.importorskip("matplotlib")
    from pi_xgb._cli.demo_page import demo_page

    page = demo_page([run_experiment(small(scores_of), 2)] * 2)
    assert page.count("<p>2 seeds</p>") == page.count("<img ") == 2
    # Gains have a sign, other numbers none; four digits, as printed.
    cells = [text for text in ("0.5500", "0.7000", "+0.1500", "−0.1000", "0.0500") if f">{text}<" in page]
    assert cells == ["0.5500", "0.7000", "+0.1500", "−0.1000", "0.0500"]
    assert ">+0.5500<" not in page


def test_no_module_of_the_command_line_imports_one_that_imports_it():
    folder = Path(demo.__file__).parent
    siblings = {file.stem: set() for file in folder.glob("*.py")}
    for name, imported in siblings.items():
        for node in ast.walk(ast.parse((folder / f"{name}.py").read_text())):
            if isinstance(node, ast.ImportFrom) and node.level == 1:
                imported |= {node.module} if node.module else {alias.name for alias in node.names}
    while siblings:
        free = {name for name, imported in siblings.items() if not imported & siblings.keys()}
        assert free, f"a circle among {sorted(siblings)}"
        siblings = {name: imported for name, imported in siblings.items() if name not in free}
