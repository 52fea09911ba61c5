"""Late labels and what comes with them: the settings, the parts of a set, the run that goes on, and the page."""

import os
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

pytest.importorskip("sklearn", reason="the benchmarks need scikit-learn")
pytest.importorskip("matplotlib", reason="the pictures need matplotlib")

from benchmarks.labels import __main__ as labels
from benchmarks.labels import made, public
from benchmarks.labels.__main__ import PAGE
from benchmarks.unlabelled import splits
from benchmarks.unlabelled.breach import made as made_rows
from pi_xgb.labels import mature

RAW_FOLDER = Path(os.environ.get("PI_XGB_DATA") or Path(__file__).parents[3] / "shared" / "data")
needs_raw_files = pytest.mark.skipif(not RAW_FOLDER.is_dir(), reason="needs the raw data files, see PI_XGB_DATA")


def test_dates_show_events_within_the_horizon():
    rows = made_rows(0, 500)
    observed, came, now = made.dated(rows, np.random.default_rng(0))
    wait = (came - observed).dt.days
    assert (came.notna() == (rows.y == 1)).all()
    assert wait.min() >= 0
    assert wait.max() < made.HORIZON
    assert observed.max() < now


def test_votes_have_their_accuracies_and_abstain():
    y = np.random.default_rng(0).integers(0, 2, 40_000)
    result = made.votes(y, np.random.default_rng(1))
    given = ~np.isnan(result)
    right = [(result[rows, i] == y[rows]).mean() for i, rows in enumerate(given.T)]
    np.testing.assert_allclose(right, np.linspace(made.WORST, made.BEST, made.FUNCTIONS), atol=0.02)
    np.testing.assert_allclose(given.mean(axis=0), made.COVERAGE, atol=0.02)


@pytest.mark.parametrize("in_time", [True, False])
def test_the_parts_of_a_set_share_no_row(in_time):
    dataset = splits.made_set("made")
    old, new, test = public.parts(dataset, 3, in_time=in_time)
    rows = np.concatenate([old, new, test])
    assert sorted(rows) == list(range(dataset.y.size))
    assert (old.max() < new.min() and new.max() < test.min()) == in_time


@pytest.mark.parametrize("guide", ["late_labels", "retraining", "retiring", "labelling_functions"])
def test_guides_quote_the_tables(guide):
    """Each number of a guide's table stands in one line of the page, with the others of its line."""
    page = PAGE.read_text(encoding="utf-8").splitlines()
    text = (PAGE.parents[1] / "docs" / f"{guide}.md").read_text(encoding="utf-8")
    lines = [line.split("|")[1:-1] for line in text.splitlines() if line.startswith("|") and " to " in line]
    assert len(lines) >= 2
    for cells in lines:
        assert any(all(cell.replace("`", "") in line for cell in cells) for line in page), cells


@needs_raw_files
def test_the_window_of_some_people_of_compas_is_not_over(monkeypatch):
    monkeypatch.setenv("PI_XGB_DATA", str(RAW_FOLDER))
    people = public.screened()
    found = mature(people["observed"], people["came"], public.WINDOW, public.READ_ON)
    assert (len(people), int((~found.labelled).sum())) == (public.PEOPLE, public.EARLY)
    assert (found.set_aside == ~found.labelled).all()


@pytest.mark.slow
def test_a_run_goes_on_and_its_page_has_every_method(tmp_path, capsys):
    results, page = tmp_path / "labels.csv", tmp_path / "LABELS.md"
    labels.run(labels.SMOKE, 1, results)
    first = pd.read_csv(results)
    labels.run(labels.SMOKE, 2, results)
    both = pd.read_csv(results)
    pd.testing.assert_frame_equal(both.head(len(first)), first)
    assert set(both["repeat"]) == {0, 1}
    assert not both.duplicated(["part", "setting", "method", "repeat"]).any()
    assert capsys.readouterr().out.count("weights") == 2
    labels.write_page(results, page)
    text = page.read_text(encoding="utf-8")
    assert [method for method in both["method"].unique() if f"| {method} |" not in text] == []
    assert (tmp_path / "figures" / "labels_retraining.png").stat().st_size > 5000


def test_a_command_that_gives_no_run_says_why(tmp_path):
    with pytest.raises(SystemExit, match="--repeats must be at least 1"):
        labels.main(["--repeats", "0"])
    with pytest.raises(SystemExit, match="no part is called nothing"):
        labels.main(["--parts", "nothing"])
    with pytest.raises(SystemExit, match="expected a CSV"):
        labels.write_page(tmp_path / "none.csv", tmp_path / "LABELS.md")
