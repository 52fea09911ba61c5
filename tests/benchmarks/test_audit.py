"""The benchmarks of the audit: what they take for true is true, and they run."""

from __future__ import annotations

import re

import pandas as pd
import pytest

from benchmarks import fair_importance
from benchmarks.coverage import cells, gaps, groups
from benchmarks.coverage.__main__ import main, run
from benchmarks.coverage.page import page
from pi_xgb import metrics


@pytest.mark.parametrize("design", [*cells.DESIGNS, cells.NEARLY_RIGHT])
def test_the_truth_of_a_cell_is_what_many_rows_show(design):
    cell = cells.Cell("rates", design, 3, 400_000)
    y, score, group = cells.sample(cell, 0)
    seen = metrics.disparity_report(y, score, sensitive_features=group, metrics=cells.MEASURES, n_boot=0)["value"]
    for name, true in cells.truth(cell).items():
        assert seen[name] == pytest.approx(true, abs=0.012)


def test_a_cell_counts_what_was_covered(monkeypatch):
    cell = cells.Cell("rates", "one apart", 2, 200)
    true = cells.truth(cell)["statistical_parity"]
    bounds = [(0.0, true / 2), (true / 2, 2 * true), (2 * true, 3 * true), (0.0, true)]

    def drawn(cell, seed, n_boot):
        low, high = bounds[seed - gaps.FIRST]
        found = {"value": true, "corrected": true, "low": low, "high": high, "p_value": 0.01 * (seed - gaps.FIRST + 3)}
        return pd.DataFrame({**found, "p_adjusted": 0.2}, index=["statistical_parity"])

    monkeypatch.setattr(gaps, "drawn", drawn)
    (line,) = gaps.lines_of(cell, 4).to_dict("records")
    assert (line["covered"], line["below"], line["above"]) == (0.5, 0.25, 0.25)
    assert (line["rejected"], line["adjusted"], line["draws"]) == (0.75, 0.0, 4)


@pytest.mark.parametrize("weighted", [False, True])
def test_rates_of_one_group_are_covered(weighted):
    for scores in groups.MEANS:
        cell = groups.Cell(scores, 20, weighted)
        lines = groups.lines_of(cell, 40).set_index("measure")
        # 160 intervals at most: what a percentile bootstrap gives, .15 to .9, is far away.
        assert (lines["covered"] > 0.82).all(), lines
        assert (lines["covered"] + lines["below"] + lines["above"]).to_numpy() == pytest.approx(1)
        # Many rows of a group show what is taken for true.
        seen = groups.drawn(cell._replace(rows=50_000), 0)
        for name, true in groups.truth(cell).items():
            assert seen[name].to_numpy() == pytest.approx(true, abs=0.02)


def line(measure, **keywords):
    zeros = dict.fromkeys((*gaps.COUNTED, "draws"), 0.0)
    return {**zeros, "part": "rates", "groups": 2, "rows": 200, "draws": 400, "measure": measure, **keywords}


def test_the_page_judges_by_the_counts():
    found = [
        line("statistical_parity", design="alike", covered=0.95, rejected=0.05),
        line("statistical_parity", design="ladder", covered=0.99),
        line("abroca", design="alike", covered=0.90, rejected=0.12),
        line("abroca", design="ladder", covered=0.91),
    ]
    words = page(pd.DataFrame(found), pd.DataFrame(), 4)
    assert (
        "- statistical_parity: coverage within and rejection without a gap within over all cells; above in 2 g" in words
    )
    assert "- abroca: coverage below and rejection without a gap above over all cells; below in 2 groups" in words
    assert "2 cells of 400 draws each. 2 cells are missing." in words
    assert "missing" not in page(pd.DataFrame(found), pd.DataFrame(), 2)
    # .95 of few draws is no proof of anything.
    few = [line("abroca", design="alike", covered=0.90, rejected=0.12, draws=20)]
    words = page(pd.DataFrame(few), pd.DataFrame(), 1)
    assert "- abroca: coverage within and rejection without a gap within over all cells; no cell is outside." in words


def test_coverage_runs_and_goes_on(capsys, tmp_path):
    main(["--smoke"])
    output = capsys.readouterr().out
    assert "| abroca |" in output
    assert "| 3 | 150 | one apart |" in output
    assert "Least of all" in output
    requested = []

    def lines_of(cell):
        requested.append(cell)
        return groups.lines_of(cell, 2)

    for chosen in (groups.cells()[:1], groups.cells()[:2]):
        run(tmp_path / "found.csv", chosen, lines_of)
    assert requested == groups.cells()[:2]


@pytest.mark.parametrize(
    ("kind", "right", "opposite", "power", "may", "may_not"),
    [
        ("biased, used", 1.0, 0.0, 1.0, "favours, where SHAP supports", "-"),
        ("biased, used", 0.6, 0.0, 0.6, "favours, where SHAP supports", "absence of an effect.*40%"),
        ("biased, unused", 0.3, 0.1, 1.0, "nothing", "direction.*wrong in 10%"),
        ("biased, unused", 0.0, 0.0, 1.0, "nothing", "anything from SHAP.*100%"),
        ("fair, used", 0.01, 0.02, 0.97, "no part.*SHAP is open", "-"),
        ("neither", 0.04, 0.05, 1.0, "nothing", "direction.*wrong in 9%"),
        ("neither", 0.0, 0.0, 0.0, "nothing", "absence of bias.*100%"),
    ],
)
def test_what_a_sign_is_worth_follows_from_how_often_it_is_right(kind, right, opposite, power, may, may_not):
    measure = fair_importance.Shares("SHAP", "it favours", right, opposite, power)
    found = fair_importance.conclusions(kind, [measure])
    for text, words in zip(found, (may, may_not), strict=True):
        assert re.search(words, text)
    # Several measures stand side by side.
    twice = fair_importance.conclusions(kind, [measure, measure._replace(measure="FairFIS")])
    assert [len(text.split("; ")) for text in twice] == [1 if text in ("nothing", "-") else 2 for text in found]


def test_fair_importance_runs(capsys):
    fair_importance.main(["--smoke"])
    output = capsys.readouterr().out
    # Every model and kind of feature.
    assert all(
        f"| {model} | {kind} |" in output for model in fair_importance.models(0) for kind in fair_importance.KINDS
    )
