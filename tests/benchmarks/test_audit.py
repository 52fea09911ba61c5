"""The benchmarks of the audit: what they take for true is true, and they run."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from benchmarks import coverage, fair_importance
from pi_xgb import metrics


@pytest.mark.parametrize("design", coverage.DESIGNS)
def test_the_truth_of_a_cell_is_what_many_rows_show(design):
    cell = coverage.Cell("rates", design, 3, 400_000)
    rng = np.random.default_rng(0)
    group, y = rng.integers(0, 3, cell.rows), rng.random(cell.rows) < coverage.BASE_RATE
    negative, positive = coverage.means(cell)
    score = rng.normal(np.where(y, positive[group], negative[group]))
    for name, true in coverage.truth(cell).items():
        seen = getattr(metrics, name)(y, score if name == "abroca" else score > 0, sensitive_features=group)
        assert seen == pytest.approx(true, abs=0.012)


def test_a_cell_counts_what_was_covered(monkeypatch):
    cell = coverage.Cell("rates", "one apart", 2, 200)
    true = coverage.truth(cell)["statistical_parity"]
    bounds = [(0.0, true / 2), (true / 2, 2 * true), (2 * true, 3 * true), (0.0, true)]

    def drawn(cell, seed, n_boot):
        low, high = bounds[seed]
        told = {"value": true, "corrected": true, "low": low, "high": high, "p_value": 0.01 * (seed + 3)}
        return pd.DataFrame({**told, "p_adjusted": 0.2}, index=["statistical_parity"])

    monkeypatch.setattr(coverage, "drawn", drawn)
    (line,) = coverage.lines_of(cell, 4).to_dict("records")
    assert (line["covered"], line["below"], line["above"]) == (0.5, 0.25, 0.25)
    assert (line["rejected"], line["adjusted"], line["draws"]) == (0.75, 0.0, 4)


def test_coverage_runs(capsys):
    coverage.main(["--smoke"])
    told = capsys.readouterr().out
    assert "| abroca |" in told
    assert "| 3 | 150 | one apart |" in told


def test_fair_importance_runs(capsys):
    fair_importance.main(["--smoke"])
    told = capsys.readouterr().out
    # Every model and kind of feature.
    assert all(f"| {model} | {kind} |" in told for model in fair_importance.models(0) for kind in fair_importance.KINDS)
