"""Learning curves: the draws, the run that goes on, the choice of kl_weight, and the page."""

import dataclasses

import numpy as np
import pandas as pd
import pytest

pytest.importorskip("sklearn", reason="the benchmarks need scikit-learn")
pytest.importorskip("scipy", reason="the intervals need scipy")
pytest.importorskip("matplotlib", reason="the pictures need matplotlib")
pytest.importorskip("tqdm", reason="the benchmarks need tqdm")

from benchmarks.curves import __main__ as curves
from benchmarks.curves import page as report_curves
from benchmarks.intervals import corrected_interval, verdict, wins_ties_losses
from benchmarks.methods import boosted
from benchmarks.modes.fold_work import FoldWork

MEASURED = ["valid_auc", "valid_logloss", "test_auc", "test_logloss", "trees"]


@pytest.fixture
def quick(monkeypatch):
    """One weight, few rounds."""
    mode = dataclasses.replace(curves.MODES["current"], rounds=4, early_stopping_rounds=2)
    monkeypatch.setitem(curves.MODES, "current", mode)
    monkeypatch.setattr(curves, "KL_WEIGHTS", (1.0,))
    monkeypatch.setattr(curves, "MODELS", 7)


def table_of(*rows):
    """Lines of the CSV from (dataset, rows, repeat, method, kl_weight, valid_auc, test_auc)."""
    names = [*report_curves.CELL, "method", "kl_weight", "valid_auc", "test_auc"]
    table = pd.DataFrame(rows, columns=names)
    return table.assign(valid_logloss=1 - table["valid_auc"], test_logloss=1 - table["test_auc"])


def made_lines(repeats=4):
    generator = np.random.default_rng(0)
    methods = [("NF", 0.0)] + [(method, weight) for method in report_curves.METHODS for weight in (0.3, 1.0)]
    return table_of(
        *(
            (dataset, rows, repeat, method, weight, *generator.uniform(0.6, 0.9, size=2))
            for dataset in ("spam", "heart")
            for rows in (100, 200)
            for repeat in range(repeats)
            for method, weight in methods
        )
    )


def as_written(lines):
    """The lines with all columns of the CSV, in its order."""
    return lines.assign(trees=3, seconds=0.1)[list(report_curves.COLUMNS)]


# --- draws ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n_rows", [180, 297, 1728, 30162])
@pytest.mark.parametrize("cap", [None, 150, 5000])
def test_steps_rise_to_all_rows_or_the_cap(n_rows, cap):
    steps = curves.steps_of(n_rows, cap)
    pool = n_rows - int(np.ceil(n_rows * curves.TEST_SHARE))
    assert steps[-1] == (pool if cap is None else min(pool, cap))
    assert steps == sorted(set(steps))
    assert len(steps) == 1 or steps[-1] >= 2 * steps[-2]
    # Without a reason to stop there, a curve starts at 100.
    assert steps[0] == 100 or steps[-1] < 200


def test_a_draw_takes_n_rows_and_leaves_the_test_alone():
    dataset = curves.made_set("made")
    tests = []
    for step in (100, 150, 300):
        rows = curves.draw(dataset, step, 3)
        # n is all that somebody has: what trains and what validates, four to one.
        assert len(rows.train) + len(rows.valid) == step
        assert len(rows.valid) == step // 5
        parts = [set(rows.train), set(rows.valid), set(rows.test)]
        assert len(set.union(*parts)) == sum(map(len, parts))
        # Each part has the set's share of the classes.
        for part in (rows.train, rows.valid):
            assert abs(dataset.y[part].mean() - dataset.y.mean()) < 0.03
        tests.append(sorted(rows.test))
    # All steps of a repeat are tested on the same rows, another repeat on others.
    assert tests[0] == tests[1] == tests[2]
    assert sorted(curves.draw(dataset, 100, 4).test) != tests[0]


# --- the run --------------------------------------------------------------------------------------------------------


def test_a_killed_run_goes_on_to_the_same_results(tmp_path, quick):
    whole, killed = tmp_path / "whole.csv", tmp_path / "killed.csv"
    for out in (whole, killed):
        curves.run(["made"], 2, out, 120, curves.made_set)
    lines = whole.read_text().splitlines()
    assert len(lines) == 1 + 2 * 7
    first_repeat = lines[:8]
    # Killed in the second cell, in the middle of a line.
    for left in ([*first_repeat, *lines[8:10], lines[10][:30]], [*lines[:-1], lines[-1][:-3]]):
        killed.write_text("\n".join(left))
        curves.run(["made"], 2, killed, 120, curves.made_set)
        expected, found = pd.read_csv(whole), pd.read_csv(killed)
        pd.testing.assert_frame_equal(found.drop(columns="seconds"), expected.drop(columns="seconds"))
        # What was complete was not done again.
        assert killed.read_text().splitlines()[:8] == first_repeat


def test_a_finished_run_does_nothing(tmp_path, quick, monkeypatch):
    out = tmp_path / "curves.csv"
    curves.run(["made"], 1, out, 120, curves.made_set)
    before = out.read_text()
    monkeypatch.setattr(curves, "models", lambda work: pytest.fail("a model was trained again"))
    curves.run(["made"], 1, out, 120, curves.made_set)
    assert out.read_text() == before


def test_the_students_are_those_of_current_mode(quick):
    dataset = curves.made_set("made")
    rows = curves.draw(dataset, 200, 0)
    lines = {line["method"]: line for line in curves.models(FoldWork(dataset, rows, curves.MODES["current"]))}
    work = FoldWork(dataset, rows, curves.MODES["current"])
    theirs = {method: boosted.kbpib(q_of, work, 1.0) for method, q_of in curves.TEACHERS.items()}
    theirs |= {"JPIB": boosted.jpib(work, 1.0), "NF": work.plain("x")}
    assert set(lines) == set(theirs) == {"NF", *report_curves.METHODS}
    for method, scores in theirs.items():
        # The native engine is the callback's model to rounding.
        auc = curves.roc_auc_score(work.labels("test"), scores.test)
        assert lines[method]["test_auc"] == pytest.approx(auc, abs=2e-3), method
        assert lines[method]["trees"] == scores.trees
        assert all(np.isfinite(lines[method][name]) for name in MEASURED)


def test_worth_is_where_z_adds_to_x(monkeypatch, capsys, quick):
    def made(name):
        dataset = curves.made_set("made")
        X = dataset.X.copy()
        if name == "noise":
            X.iloc[:, list(dataset.privileged)] = np.random.default_rng(0).normal(size=(len(X), 3))
        if name == "known":
            X.iloc[:, list(dataset.privileged)] = X.iloc[:, :3].to_numpy()
        return dataclasses.replace(dataset, X=X)

    monkeypatch.setattr(curves, "load", made)
    monkeypatch.setattr(curves, "DATASETS", dict.fromkeys(("useful", "noise", "known")))
    curves.main(["--worth"])
    rows = [line.split(" | ") for line in capsys.readouterr().out.splitlines()[-3:]]
    # z that says nothing, and z that says what x says already, are not worth a curve.
    assert [(row[0], row[-1]) for row in rows] == [("| useful", "yes |"), ("| noise", " |"), ("| known", " |")]
    assert float(rows[1][2]) < 0.6 < float(rows[2][2])


@pytest.mark.parametrize("left", ["", "dataset,rows", report_curves.HEADER])
def test_a_run_that_was_stopped_at_once_goes_on(tmp_path, quick, left):
    out = tmp_path / "curves.csv"
    out.write_text(left)
    curves.run(["made"], 1, out, 120, curves.made_set)
    lines = out.read_text().splitlines()
    assert lines[0] == report_curves.HEADER
    assert len(lines) == 1 + 7


def test_worth_is_shown_for_the_sets_that_are_asked_for(monkeypatch, capsys, quick):
    monkeypatch.setattr(curves, "load", curves.made_set)
    curves.main(["--worth", "--datasets", "heart"])
    assert [line.split()[1] for line in capsys.readouterr().out.splitlines()[2:]] == ["heart"]


# --- what cannot be done --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--datasets", "hart"], r"data set.*'?hart"),
        (["--repeats", "0"], r"--repeats.*least 1.*0"),
        (["--repeats", "-1"], r"--repeats.*least 1.*-1"),
        (["--cap", "5"], r"--cap.*least 100.*0.*5"),
        (["--cap", "-3"], r"--cap.*least 100.*-3"),
        (["--out", "."], r"--out expects.*CSV"),
        (["--out", "foreign.csv"], r"foreign.csv.*CSV.*'a,b'"),
        (["--out", "foreign.csv", "--page"], r"foreign.csv.*CSV.*dataset,rows"),
        (["--out", "binary.csv", "--page"], "binary.csv cannot be read"),
        (["--out", "nope.csv", "--page"], r"CSV.*benchmarks.curves.*nope.csv"),
        (["--out", "header.csv", "--page"], r"header.csv.*complete repeat"),
        (["--out", "foreign.csv/new.csv"], r"files.*--out.*foreign.csv/new.csv"),
    ],
)
def test_wrong_arguments_say_what_is_expected(arguments, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    files = {"foreign.csv": b"a,b\n1,2\n", "binary.csv": b"\xff\xfe\x00", "header.csv": report_curves.HEADER.encode()}
    for name, content in files.items():
        (tmp_path / name).write_bytes(content)
    with pytest.raises(SystemExit, match=message):
        curves.main(arguments)
    # Nothing is made, and what was there is as it was.
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == files


def test_a_set_whose_data_cannot_be_had_is_named(tmp_path):
    def damaged(name):
        raise ValueError("car.data.gz is damaged")

    with pytest.raises(SystemExit, match=r"car.*car\.data\.gz.*damaged"):
        curves.run(["car"], 1, tmp_path / "curves.csv", load_set=damaged)


def test_usage_is_what_was_typed(capsys):
    with pytest.raises(SystemExit):
        curves.main(["--help"])
    assert capsys.readouterr().out.startswith("usage: python -m benchmarks.curves ")


# --- the page -------------------------------------------------------------------------------------------------------


def test_kl_weight_is_chosen_on_validation_with_nf_among_the_choices():
    lines = table_of(
        ("heart", 100, 0, "NF", 0.0, 0.70, 0.60),
        ("heart", 100, 0, "JPIB", 0.3, 0.80, 0.50),
        ("heart", 100, 0, "JPIB", 1.0, 0.75, 0.90),
        ("heart", 100, 0, "KbPIB", 0.3, 0.65, 0.90),
        ("heart", 100, 0, "KbPIB", 1.0, 0.70, 0.95),
    )
    for measure in ("auc", "logloss"):
        chosen = report_curves.chosen(lines, measure).set_index("method")
        # The best on validation, however it does on the test.
        assert chosen.loc["JPIB", ["kl_weight", "test_auc"]].tolist() == [0.3, 0.50]
        # Of equally good ones the smaller weight; kl_weight 0 is NF.
        assert chosen.loc["KbPIB", ["kl_weight", "test_auc"]].tolist() == [0.0, 0.60]
        assert len(chosen) == 3
    gains = report_curves.gains_of(lines, "auc", "auc")
    assert gains.at("heart", 100, "JPIB") == pytest.approx([-0.10])
    assert gains.at("heart", 100, "KbPIB") == pytest.approx([0.0])


def test_smoothing_and_information_add_up_to_the_gain():
    gains = report_curves.gains_of(made_lines(), "auc", "auc")
    gain, smoothing, information = (gains.at("heart", 200, *part) for part in report_curves.PARTS)
    assert gain == pytest.approx(smoothing + information)
    assert min(abs(smoothing).max(), abs(information).max()) > 0.001


def test_the_page_says_what_the_lines_say(tmp_path):
    lines = made_lines()
    # A repeat that lacks a method is left out where methods are compared.
    lines = lines[~((lines["dataset"] == "heart") & (lines["repeat"] == 3) & (lines["method"] == "JPIB"))]
    as_written(lines).to_csv(tmp_path / "curves.csv", index=False)
    report_curves.write_page(tmp_path / "curves.csv", tmp_path / "CURVES.md", 0.25)
    text = (tmp_path / "CURVES.md").read_text()
    gains = report_curves.gains_of(lines, "auc", "auc")
    found = [corrected_interval(gains.at(name, 100, "JPIB"), 1 / 3) for name in ("spam", "heart")]
    mean, tally = np.mean([item.mean for item in found]), wins_ties_losses(map(verdict, found))
    row = next(line for line in text.splitlines() if line.startswith("| 100 | 2 |"))
    assert row.split(" | ")[5] == f"{mean:+.4f} ({' / '.join(map(str, tally))})"
    assert "chooses kl_weight (0, 0.3, 1)" in text
    # Log loss is turned so that more is better.
    worse = -report_curves.gains_of(lines, "logloss", "logloss").at("spam", 200, "JPIB").mean()
    worse -= report_curves.gains_of(lines, "logloss", "logloss").at("heart", 200, "JPIB").mean()
    rows = [line for line in text.splitlines() if line.startswith("| all or the cap | 2 |")]
    assert rows[1].split(" | ")[5].startswith(f"{worse / 2:+.4f} (")
    for name in ("curves_gain.png", "curves_split.png"):
        assert f"(figures/{name})" in text
        assert (tmp_path / "figures" / name).stat().st_size > 10_000


@pytest.mark.slow
def test_the_page_lies_beside_its_csv_unless_that_is_the_repositorys(tmp_path, monkeypatch):
    repository, other = tmp_path / "benchmarks", tmp_path / "other"
    monkeypatch.setattr(curves, "RESULTS", repository / "results" / "curves.csv")
    monkeypatch.setattr(curves, "PAGE", repository / "CURVES.md")
    for results, page in ((other / "X.csv", other / "CURVES.md"), (curves.RESULTS, curves.PAGE)):
        results.parent.mkdir(parents=True)
        # A run that was killed in a line: 10 became 1, which is another line's weight.
        torn = "heart,200,3,JPIB,1"
        results.write_text(as_written(made_lines()).to_csv(index=False) + torn)
        assert not page.exists()
        curves.main(["--page", "--out", str(results)])
        assert page.exists()
        assert (page.parent / "figures" / "curves_gain.png").exists()
    assert len(list(tmp_path.rglob("CURVES.md"))) == 2


@pytest.mark.slow
def test_smoke_prints_the_page(capsys, quick):
    curves.main(["--smoke"])
    out = capsys.readouterr().out
    assert "# Learning curves" in out
    assert "| all or the cap | 1 |" in out


def test_simple_rivals_are_compared_on_the_same_draws(tmp_path):
    lines = made_lines()
    plain = lines[lines["method"] == "NF"].rename(columns={"test_auc": "auc", "test_logloss": "logloss"})
    shared = plain[plain["repeat"] < 2]
    forest = shared.assign(method="forest", auc=shared["auc"] + 0.2, logloss=shared["logloss"] - 0.1)
    pd.concat([forest, shared.assign(method="ridge")]).to_csv(tmp_path / "rivals.csv", index=False)
    text = "\n".join(report_curves.rivals_section(lines, tmp_path / "rivals.csv", 1 / 3))
    row = next(line for line in text.splitlines() if line.startswith("| 100 | 2 |")).split(" | ")
    assert [cell.split(" (")[0] for cell in row[2:]] == ["+0.2000", "0.0000", "+0.1000", "0.0000"]
    assert "; 2 repeats of each set" in text
    assert "forest +0.200." in " ".join(text.split())
    assert report_curves.rivals_section(lines, tmp_path / "none.csv", 1 / 3) == []
