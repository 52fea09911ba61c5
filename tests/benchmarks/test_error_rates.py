"""Error rates, average ranks and the critical distance: tables of the literature, and a page that its results made."""

from __future__ import annotations

import dataclasses
import math

import numpy as np
import pandas as pd
import pytest
from helpers_benchmark import SMALL
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("sklearn", reason="the benchmarks need scikit-learn")
pytest.importorskip("matplotlib", reason="the pictures need matplotlib")

from benchmarks.error_rates import __main__ as error_rates
from benchmarks.error_rates import cells, page
from benchmarks.error_rates.ranks import Ranking, critical_distance, ranking
from benchmarks.run.cells import MADE, made_set

# Table 6 of Demsar, "Statistical Comparisons of Classifiers over Multiple Data Sets", JMLR 2006, as places.
DEMSAR = """
4 3 2 1 / 1 2 3 4 / 4 1 2 3 / 4 1 3 2 / 4 2 3 1 / 1 2.5 4 2.5 / 3 2 4 1
2.5 2.5 4 1 / 4 3 2 1 / 2.5 2.5 2.5 2.5 / 4 2.5 1 2.5 / 3 2 4 1 / 4 1 2 3 / 3 1 4 2
"""


def test_ranks_and_distance_are_those_of_demsars_example():
    rows = [[float(place) for place in row.split()] for row in DEMSAR.replace("\n", "/").split("/") if row.strip()]
    losses = pd.DataFrame(rows, columns=["C4.5", "C4.5+m", "C4.5+cf", "C4.5+m+cf"]) / 10
    found = ranking(losses)
    assert found.ranks.round(3).to_dict() == {"C4.5+m+cf": 1.964, "C4.5+m": 2.0, "C4.5+cf": 2.893, "C4.5": 3.143}
    assert found.critical == pytest.approx(1.25, abs=0.005)
    # The paper has 9.28, without the correction for ties, which makes it a little larger.
    assert 9.28 < found.statistic < 10.5
    assert 0.015 < found.p_value < 0.026
    # "the difference between the best and the worst is 1.18 < 1.25"
    assert found.cliques() == [(0, 3)]


@pytest.mark.parametrize(
    ("methods", "quantile"),
    [(2, 1.960), (3, 2.343), (4, 2.569), (5, 2.728), (6, 2.850), (7, 2.949), (8, 3.031), (9, 3.102), (10, 3.164)],
)
def test_the_quantiles_are_those_of_his_table(methods, quantile):
    assert critical_distance(methods, 7) == pytest.approx(quantile * math.sqrt(methods * (methods + 1) / 42), abs=0.001)


@given(st.lists(st.integers(10, 90), min_size=2, max_size=9), st.integers(1, 40))
def test_bars_join_what_is_not_told_apart_and_nothing_else(places, critical):
    ranks = pd.Series(sorted(places), index=list(range(len(places))), dtype=float)
    joined = Ranking(ranks, 0.0, 1.0, float(critical)).cliques()
    for i in range(len(ranks)):
        for j in range(i + 1, len(ranks)):
            together = any(first <= i and j <= last for first, last in joined)
            assert together == (ranks[j] - ranks[i] <= critical)
    # No bar lies within another.
    assert all(a == b or not (b[0] <= a[0] and a[1] <= b[1]) for a in joined for b in joined)


@pytest.mark.parametrize(("rows", "sizes"), [(2000, (200, 200, 1600)), (300, (150, 75, 75)), (9000, (200, 200, 5000))])
def test_draws_are_as_large_as_the_paper_has_them(rows, sizes):
    made = made_set()
    where = np.random.default_rng(0).integers(0, len(made.y), rows)
    dataset = dataclasses.replace(made, X=made.X.iloc[where], y=made.y[where], protected=())
    first, second = (cells.drawn(dataset, draw) for draw in range(2))
    assert tuple(map(len, (first.train, first.valid, first.test))) == sizes
    everybody = np.concatenate([first.train, first.valid, first.test])
    assert len(set(everybody)) == len(everybody)
    for part in (first.train, first.valid):
        assert dataset.y[part].mean() == pytest.approx(dataset.y.mean(), abs=0.01)
    assert not np.array_equal(first.train, second.train)


def test_an_error_is_a_probability_on_the_wrong_side(monkeypatch):
    monkeypatch.setattr(cells, "CURRENT", SMALL["current"])
    lines = cells.lines_of(MADE, 0, ("NF", "KbPIB"))
    work = cells.FoldWork(made_set(), cells.drawn(made_set(), 0), SMALL["current"])
    wrong = (work.plain("x").test > 0.5).astype(int) != work.labels("test")
    assert 0 < wrong.mean() < 0.5
    assert lines[0]["error"] == wrong.mean()
    assert [(line["method"], line["train"], line["test"]) for line in lines] == [("NF", 150, 75), ("KbPIB", 150, 75)]


def made_lines():
    """Of three sets and two draws: GPC+ is always best, and GPC next."""
    errors = {name: 0.1 + 0.02 * place for place, name in enumerate(["GPC+", "GPC", *cells.NAMES[2:]])}
    return pd.DataFrame(
        [
            {"set": name, "draw": draw, "method": method, "error": error + 0.01 * draw, "seconds": 1.0}
            for name in ("one", "two", "three")
            for draw in range(2)
            for method, error in errors.items()
        ]
    )


def test_the_page_says_who_differs_from_whom():
    text = page.text_of(made_lines())
    assert "Means over 2 draws." in text
    assert "| one | 0.1250 | 0.1050 |" in text
    sentence = " ".join(text.split())
    assert "The best average rank is that of GPC+, the worst that of KbPIB all features." in sentence
    assert "| GPC+ for GPC | +0.0200 | 3 / 0 / 0 | +1.00 | no |" in text
    assert "| KbPIB all features for NF | -0.0600 | 0 / 0 / 3 | -3.00 | no |" in text
    assert f"more than {critical_distance(8, 3):.2f} apart" in sentence


def test_the_picture_has_every_method_with_its_rank(monkeypatch, tmp_path):
    drawn = []
    monkeypatch.setattr(page, "save", lambda figure, path: drawn.append((figure, path)))
    found = Ranking(pd.Series({"a": 1.2, "b": 1.9, "c": 2.9}), 4.0, 0.1, 1.0)
    page.draw(found, tmp_path / "figure.png")
    ((figure, path),) = drawn
    texts = {text.get_text().strip() for text in figure.axes[0].texts}
    assert {"a (1.20)", "b (1.90)", "c (2.90)", "critical distance 1.00"} <= texts
    bars = [line for line in figure.axes[0].lines if line.get_linewidth() == 4]
    assert [list(line.get_xdata().round(2)) for line in bars] == [[1.14, 1.96], [1.84, 2.96]]
    assert path == tmp_path / "figure.png"


def test_what_is_there_is_not_done_again(monkeypatch, tmp_path):
    asked = []
    line = {"set": "one", "draw": 0, "method": "NF", "error": 0.25}
    monkeypatch.setattr(error_rates, "lines_of", lambda *cell: asked.append(cell) or [{**line, "draw": cell[1]}])
    for draws in (1, 2):
        error_rates.run(tmp_path / "out.csv", [("one", draw) for draw in range(draws)])
    assert asked == [("one", 0), ("one", 1)]
    assert pd.read_csv(tmp_path / "out.csv")["draw"].tolist() == [0, 1]
