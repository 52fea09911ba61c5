"""The page of benchmark results: intervals, tallies, and that it says nothing that is not in the results."""

import dataclasses
import itertools
import math
import re

import numpy as np
import pandas as pd
import pytest

pytest.importorskip("sklearn", reason="the benchmarks need scikit-learn")
pytest.importorskip("matplotlib", reason="the pictures need matplotlib")
pytest.importorskip("tqdm", reason="the benchmarks need tqdm")
pytest.importorskip("scipy", reason="the intervals need scipy")

from scipy import stats

from benchmarks.intervals import Interval, corrected_interval, verdict, wins_ties_losses
from benchmarks.report import __main__ as report
from benchmarks.report import figures as report_figures
from benchmarks.report.against_peers import draw_against_peers
from benchmarks.report.current import current_section, difference_cell, tally_table
from benchmarks.report.paper import REFERENCE, WARNING, paper_section
from benchmarks.report.peers import peers_section
from benchmarks.report.questions import questions_section
from benchmarks.report.rest import missing_seconds, troubles_section
from benchmarks.report.results import GROUP_MEASURES, Results, in_order
from benchmarks.run.results_file import Line, write_whole
from benchmarks.text import joined, number, signed, table, with_spread


def lines_of(values, mode="current", measure="auc", **more):
    """Lines from {(dataset, method): values by fold}."""
    return [
        Line(dataset, method, mode, fold, measure, value, "a machine", "versions", 0, **more)
        for (dataset, method), folds in values.items()
        for fold, value in enumerate(folds)
    ]


def results_of(tmp_path, *groups):
    path = tmp_path / "results.csv"
    write_whole(path, list(itertools.chain(*groups)))
    return Results.from_files([path])


def cells(lines, first):
    """The cells of the rows of a markdown table whose first cell is this."""
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines if line.startswith("|")]
    return [row for row in rows if row[0] == first]


# --- intervals ------------------------------------------------------------------------------------------------------


def test_the_interval_is_the_formula_worked_by_hand():
    # Differences 1, 2, 3, 4: mean 2.5, s^2 = 5/3, variance (1/4 + 1/8) 5/3 = 0.625, t(.975, 3) = 3.18245.
    found = corrected_interval([1.0, 2.0, 3.0, 4.0])
    assert found.mean == 2.5
    assert found.half == pytest.approx(3.182446 * math.sqrt(0.625), rel=1e-6)
    assert (found.low, found.high, found.folds) == (found.mean - found.half, found.mean + found.half, 4)


def test_without_the_correction_it_is_the_interval_of_scipy():
    differences = np.random.default_rng(0).normal(size=10)
    there = stats.ttest_1samp(differences, 0.0).confidence_interval(0.95)
    found = corrected_interval(differences, test_over_train=0.0)
    assert (found.low, found.high) == pytest.approx((there.low, there.high))
    # With it, the half width of ten folds grows by sqrt(1 + 10 / 8).
    assert corrected_interval(differences).half == pytest.approx(found.half * 1.5)


def test_one_fold_has_no_interval_and_no_verdict():
    found = corrected_interval([0.1])
    assert found.mean == 0.1
    assert math.isnan(found.half)
    assert verdict(found) == "unknown"
    assert wins_ties_losses(["unknown", "win"]) == (1, 0, 0)


@pytest.mark.parametrize("differences", [[], [math.nan, 1.0], [[1.0], [2.0]]])
def test_differences_that_are_none_raise(differences):
    with pytest.raises(ValueError, match="one finite difference per fold"):
        corrected_interval(differences)


@pytest.mark.parametrize(
    ("mean", "half", "higher", "expected"),
    [
        (0.2, 0.1, True, "win"),
        (-0.2, 0.1, True, "loss"),
        (0.2, 0.1, False, "loss"),
        (-0.2, 0.1, False, "win"),
        (0.1, 0.1, True, "tie"),
        (0.0, 0.0, True, "tie"),
        (0.1, 0.0, True, "win"),
    ],
)
def test_a_win_is_an_interval_without_zero(mean, half, higher, expected):
    assert verdict(Interval(mean, half, 10), higher_is_better=higher) == expected


# --- tables ---------------------------------------------------------------------------------------------------------


def test_wins_ties_and_losses_of_hand_made_results(tmp_path):
    base = np.linspace(0.7, 0.8, 10)
    wobble = 0.01 * np.array([1, -1] * 5)
    values = {}
    for dataset in ("heart", "car", "spam"):
        values |= {(dataset, "NF"): base, (dataset, "KbPIB"): base + 0.05, (dataset, "SVM"): base - 0.05}
        values[dataset, "JPIB"] = base + wobble
    values["spam", "JPIB"] = base - 0.02 + wobble / 100
    results = results_of(tmp_path, lines_of(values), lines_of(values, measure="logloss"))
    sets = results.datasets("current")
    auc = tally_table(results, sets, "auc")
    assert cells(auc, "KbPIB") == [["KbPIB", "3", "0", "0", "3", "+0.0500"]]
    assert cells(auc, "JPIB") == [["JPIB", "0", "2", "1", "3", "0.0000"]]
    assert cells(auc, "SVM") == [["SVM", "0", "0", "3", "3", "-0.0500"]]
    assert not cells(auc, "NF")
    # A lower log loss is the better one.
    assert cells(tally_table(results, sets, "logloss"), "SVM") == [["SVM", "3", "0", "0", "3", "-0.0500"]]


def test_rivals_stand_where_they_ran_and_nowhere_else(tmp_path):
    values = {("heart", "NF"): [0.70] * 3, ("heart", "best rival"): [0.75] * 3, ("heart", "mixed with z"): [0.71] * 3}
    values |= {("car", "NF"): [0.7] * 3, ("car", "mixed with z"): [0.8] * 3, ("heart", "random forest on x"): [0.6] * 3}
    results = results_of(tmp_path, lines_of(values), lines_of(values, measure="logloss"))
    lines = current_section(results)
    start = lines.index("### Few rows: rivals on x")
    plus, minus, behind = "+0.0500 (0.0500 to 0.0500)", "-0.1000 (-0.1000 to -0.1000)", "-0.0400 (-0.0400 to -0.0400)"
    auc, loss = cells(lines[start:], "heart")
    assert auc == ["heart", "-", f"{minus} (loss) [3/10]", "-", f"{plus} (win) [3/10]", f"{behind} (loss) [3/10]", "-"]
    assert loss[2:5:2] == [f"{minus} (win) [3/10]", f"{plus} (loss) [3/10]"]
    assert not cells(lines[start:], "car")
    assert "In words, AUC: mixed with z less best rival: 0 wins, 0 ties, 1 losses, on average -0.0400." in lines
    # They are no peers, and no tally counts the sets on which they did not run.
    assert results.methods("current") == ["NF", "mixed with z"]
    assert results.peers("current") == []


def test_differences_use_the_folds_that_both_have(tmp_path):
    results = results_of(tmp_path, lines_of({("heart", "NF"): [0.5, 0.6, 0.7], ("heart", "KbPIB"): [0.6, 0.6]}))
    found = results.difference("current", "heart", "KbPIB", "NF", "auc")
    assert found.mean == pytest.approx(0.05)
    assert found.folds == 2
    assert results.difference("current", "heart", "JPIB", "NF", "auc") is None
    # A single fold has a difference and no interval.
    assert difference_cell(Interval(0.05, math.nan, 1)) == "+0.0500 [1/10]"
    assert difference_cell(None) == "-"


def test_best_against_best_is_picked_ranked_and_compared(tmp_path):
    values = {("heart", "NF"): [0.70] * 3, ("heart", "KbPIB"): [0.71, 0.72, 0.73]}
    values |= {("heart", "KbPIB chosen"): [0.74, 0.75, 0.76], ("heart", "shuffled q"): [0.99] * 3}
    values |= {("heart", "SVM"): [0.80, 0.81, 0.82], ("heart", "GPC"): [0.60] * 3, ("car", "KbPIB"): [0.9] * 3}
    lines = peers_section(results_of(tmp_path, lines_of(values)))
    # A control is no method of ours, and a set without a peer has no row.
    best = cells(lines, "heart")[0]
    assert best[:6] == ["heart", "KbPIB chosen", "0.750", "SVM", "0.810", "2 of 3"]
    assert best[6].startswith("-0.0600 (-0.0600 to -0.0600) (loss)")
    assert all(row[0] != "car" or set(row[1:]) == {"-"} for row in cells(lines, "car"))
    assert cells(lines, "SVM")[0] == ["SVM", "0 / 0 / 1", "1", "-0.060", "0 / 0 / 0", "0", "-"]
    assert "Nothing to show yet." in lines[lines.index("### SVM+ beside table 2") :]


def test_paper_tables_stand_beside_the_printed_and_the_released_numbers(tmp_path):
    released = pd.read_csv(REFERENCE / "saved_models_folds.csv")
    heart = released[released["dataset"] == "heart"]
    groups = [
        lines_of(
            {("heart", m): list(rows.sort_values("fold")[measure]) for m, rows in heart.groupby("method")},
            "paper",
            measure,
        )
        for measure in ("auc", "precision", "recall", "threshold")
    ]
    lines = paper_section(results_of(tmp_path, *groups))
    # The released boosters' own numbers give the printed table, to its last digit, and agree with themselves.
    assert cells(lines, "heart")[:3] == [
        ["heart", "NF", "10", "0.792 (0.075)", "0.792 (0.075)", "0.000"],
        ["heart", "KbPIB", "10", "0.810 (0.078)", "0.810 (0.078)", "0.000"],
        ["heart", "JPIB", "10", "0.798 (0.071)", "0.798 (0.071)", "0.000"],
    ]
    threshold = cells(lines, "heart")[3]
    assert threshold[2:] == ["0.682 (0.081)"] * 2 + ["0.000"] + ["0.786 (0.127)"] * 2 + ["0.000", "0.481", "0.481"]
    assert ["heart", "10 of 10", "10 of 10", "10 of 10"] in cells(lines, "heart")


def test_the_warning_stands_above_the_numbers_of_broken_boosters(tmp_path):
    values = {("adult", "NF"): [0.91, 0.92], ("adult", "KbPIB"): [0.91, 0.92], ("heart", "NF"): [0.7, 0.8]}
    text = "\n".join(paper_section(results_of(tmp_path, lines_of(values, "paper"))))
    # The three numeric sets come before it, the sets with categories after it.
    assert text.index("| heart | NF | 2 of 10 |") < text.index(WARNING) < text.index("| adult | NF | 2 of 10 |")
    assert "printed methods are apart on 1 of the 1 sets below" in text


def test_troubles_are_listed_and_peers_on_fewer_rows_named(tmp_path):
    def said(method, fold, measure, note):
        return Line("heart", method, "current", fold, measure, None, seconds=1.0, note=note)

    troubles = [said("GPC", fold, "error", "MemoryError: too large") for fold in range(3)]
    troubles += [said("SVM+", 0, "refused", "a | b"), said("SVM", 0, "note", "trained on 5 of 9 rows")]
    timed = [
        Line("heart", "SVM", "current", fold, "auc", 0.7, seconds=seconds) for fold, seconds in enumerate([1, 5, 30])
    ]
    results = results_of(tmp_path, troubles, timed)
    lines = troubles_section(results)
    assert ["heart", "GPC", "current", "3", "failed", "MemoryError: too large"] in cells(lines, "heart")
    assert ["heart", "SVM+", "current", "1", "not for this set", "a / b"] in cells(lines, "heart")
    assert " ".join(" ".join(lines).split()).endswith("fewer rows than a large set has: SVM 5.")
    # Seven folds are missing, of five seconds each.
    assert ["current", "heart", "SVM", "3 of 10", "5.0", "35"] in cells(lines, "current")
    assert missing_seconds(results) == {("current", "heart", "SVM"): 35.0}
    assert "All that is missing would take 0.0 hours of one core." in lines
    whole = results_of(tmp_path, [Line("heart", "SVM", "current", fold, "auc", 0.7) for fold in range(10)])
    assert "Every method that runs on a set ran on all of its folds." in troubles_section(whole)


# --- the page -------------------------------------------------------------------------------------------------------


@pytest.fixture
def no_pictures(monkeypatch):
    for name in ("draw_all", "draw_against_peers"):
        monkeypatch.setattr(report, name, lambda results, folder: [])


def test_no_number_of_the_page_is_not_in_the_results(tmp_path, no_pictures):
    generator = np.random.default_rng(3)
    methods = ("NF", "KbPIB chosen", "SVM")
    values = {("car", method): generator.uniform(0.6, 0.9, size=4) for method in methods}
    results = results_of(tmp_path, lines_of(values, seconds=7.0))
    report.write_report(results, tmp_path / "RESULTS.md")
    text = (tmp_path / "RESULTS.md").read_text()
    found = {
        token for line in text.splitlines() if line.startswith("|") for token in re.findall(r"[+-]?\d+\.\d+", line)
    }
    # Every decimal of every table, worked out again from the values by other means.
    frame = pd.DataFrame({method: values["car", method] for method in methods})
    allowed = {f"{x:.3f}" for x in [*frame.mean(), *frame.std()]} | {"7.00", "7.0"}
    for item, other in itertools.permutations(methods, 2):
        difference = frame[item] - frame[other]
        half = stats.t.ppf(0.975, 3) * difference.std() * math.sqrt(1 / 4 + 1 / 8)
        allowed |= {f"{difference.mean():+.4f}", f"{difference.mean():+.3f}", f"{difference.mean() - half:.4f}"}
        allowed.add(f"{difference.mean() + half:.4f}")
    assert found <= allowed
    assert {f"{frame[method].mean():.3f}" for method in ("KbPIB chosen", "SVM")} <= found
    # No method, set or mode that did not run has a column or a row.
    tables = "\n".join(line for line in text.splitlines() if line.startswith("|"))
    assert not re.search(r"JPIB \||GPC|heart|paper", tables.replace("JPIB chosen", ""))
    assert "No results of this mode yet." in text


def test_a_page_from_a_run_that_was_killed(tmp_path, no_pictures):
    path = tmp_path / "results.csv"
    write_whole(path, lines_of({("heart", "NF"): [0.7, 0.8, 0.9], ("heart", "KbPIB"): [0.75, 0.85]}))
    whole = path.read_text()
    path.write_text(whole + "heart,KbPIB,current,2,auc,0.9")
    report.write_report(Results.from_files([path]), tmp_path / "RESULTS.md")
    text = (tmp_path / "RESULTS.md").read_text()
    # The line that was cut is not taken for a result, and the page says how many folds there are.
    assert "| KbPIB | 1 | 0 | 0 | 1 | +0.0500 |" in text
    assert "| current | heart | KbPIB | 2 of 10 |" in text


def test_the_last_file_counts(tmp_path):
    for name, value in (("old", 0.5), ("new", 0.9)):
        write_whole(tmp_path / f"{name}.csv", lines_of({("heart", "NF"): [value]}))
    results = Results.from_files([tmp_path / "old.csv", tmp_path / "new.csv"])
    assert list(results.folds("current", "heart", "NF", "auc")) == [0.9]


def test_versions_are_told_once_and_by_name():
    texts = ["xgboost 3.1 numpy 2.4 python 3.11", "xgboost 3.2 numpy 2.4 clarabel - python 3.11"]
    lines = [Line("heart", "NF", "current", fold, "auc", 0.5, "2 cores", text) for fold, text in enumerate(texts)]
    reported = report.provenance(Results(pd.DataFrame(map(dataclasses.asdict, lines))))
    assert reported == ["Machine: 2 cores. Versions: numpy 2.4, python 3.11 and xgboost 3.1 or 3.2."]


def test_an_empty_run_gives_a_page(tmp_path):
    report.write_report(results_of(tmp_path, []), tmp_path / "RESULTS.md")
    text = (tmp_path / "RESULTS.md").read_text()
    assert text.count("No results of this mode yet.") == 2
    assert not (tmp_path / "figures").exists()


@pytest.mark.slow
def test_pictures_are_drawn_and_shown(tmp_path):
    path = tmp_path / "results.csv"
    write_whole(path, report.made_lines())
    pictures = report_figures.draw_all(Results.from_files([path]), tmp_path / "figures")
    from matplotlib import image

    expected = {"auc_paper.png", "auc.png", "gain_over_nf.png", *(f"fairness_{m}.png" for m in ("eo", "sp", "abroca"))}
    assert {picture.file for picture in pictures} == expected
    for picture in pictures:
        # Each has ink in more than one colour.
        pixels = image.imread(tmp_path / "figures" / picture.file)[..., :3].reshape(-1, 3)
        assert len(np.unique(pixels.round(1), axis=0)) > 10
        assert f"![{picture.caption}](figures/{picture.file})" in "\n".join(report.gallery(pictures))


def test_the_papers_questions_are_answered_from_the_folds(tmp_path):
    generator, methods = np.random.default_rng(1), ("NF", "PF", "KbPIB", "JPIB", "SVM+", "MFC c chosen")
    values = {(name, m): generator.uniform(0.6, 0.9, size=4) for name in ("car", "spam", "adult") for m in methods}
    gap = {"NF": 0.2, "KbPIB": 0.1, "JPIB": 0.3, "MFC c chosen": 0.05}
    lines = []
    for line in lines_of(values):
        if line.dataset == "adult" and line.method in gap:
            value = gap[line.method] + 0.001 * line.fold
            lines += [dataclasses.replace(line, measure=f"{short}:sex", value=value) for short in GROUP_MEASURES]
        lines.append(line)
    results = Results(pd.DataFrame(lines))
    text = "\n".join(questions_section(results))
    single = corrected_interval(values["spam", "JPIB"] - values["spam", "KbPIB"])
    assert f"| spam | {single.mean:+.4f} ({single.low:.4f} to {single.high:.4f})" in text
    # Each gap of the one column: KbPIB is fairer in all three, JPIB less fair.
    assert "| KbPIB | 1 / 0 / 0 | 1 / 0 / 0 | 1 / 0 / 0 |" in text
    assert "| JPIB | 0 / 0 / 1 | 0 / 0 / 1 | 0 / 0 / 1 |" in text
    assert "of 6 comparisons on 1 privileged columns with the paper's alpha 3 gaps are smaller" in text
    means = {m: np.array([values[name, m].mean() for name in ("car", "spam", "adult")]) for m in methods}
    alike = np.corrcoef(means["PF"], means["JPIB"])[0, 1]
    gain = np.corrcoef(means["PF"] - means["NF"], means["JPIB"] - means["NF"])[0, 1]
    assert f"| JPIB | {alike:.3f} | {gain:.3f} | 0.306 |" in text
    drawn = {picture.file for picture in draw_against_peers(results, tmp_path)}
    assert drawn == {"jpib_less_svm.png", "jpib_less_mfc.png"}


def test_every_method_looks_different():
    methods = ("NF", "KbPIB", "JPIB", "SVM", "GPC", "shuffled q", "EBM")
    looks = report_figures.looks_of(methods)
    assert len({(look["color"], look["marker"]) for look in looks.values()}) == len(methods)


def test_smoke_prints_a_page_and_leaves_nothing(capsys, monkeypatch, no_pictures):
    report.main(["--smoke"])
    out = capsys.readouterr().out
    for section in range(1, 6):
        assert f"\n## {section}. " in out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["none.csv"], r"none.csv.*python.*benchmarks.run"),
        (["foreign.csv"], r"foreign.csv.*results.*dataset"),
        (["binary.csv"], r"binary.csv.*results.*text"),
        (["."], r"files.*results.*directory"),
        (["good.csv", "--out", "."], r"--out expects.*page.*folder"),
        (["good.csv", "--out", "foreign.csv/PAGE.md"], r"--out.*page.*written"),
    ],
)
def test_wrong_files_say_what_is_expected(arguments, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "foreign.csv").write_text("a,b\n1,2\n")
    (tmp_path / "binary.csv").write_bytes(b"\xff\xfe\x00\n")
    write_whole(tmp_path / "good.csv", lines_of({("heart", "NF"): [0.7]}))
    with pytest.raises(SystemExit, match=message):
        report.main(arguments)


def test_usage_is_what_was_typed(capsys):
    with pytest.raises(SystemExit):
        report.main(["--help"])
    assert capsys.readouterr().out.startswith("usage: python -m benchmarks.report ")


def test_lines_that_are_not_understood_are_counted(tmp_path, capsys):
    results_of(tmp_path, lines_of({("heart", "NF"): [0.7, 0.8]}))
    assert capsys.readouterr().err == ""
    path = tmp_path / "results.csv"
    path.write_text(path.read_text() + "heart,NF,current,two,auc,0.9,,,0,0,\nheart,NF,curr")
    results = Results.from_files([path])
    # One is none of results, the other was cut off; what can be read counts.
    assert "results.csv: lines not understood and left out: 2 (one at the end is normal" in capsys.readouterr().err
    assert list(results.folds("current", "heart", "NF", "auc")) == [0.7, 0.8]


@pytest.mark.parametrize("measure", ["auc", "valid_auc"])
@pytest.mark.parametrize("value", [7.5, -0.1])
def test_an_auc_that_cannot_be_is_refused(tmp_path, measure, value):
    lines = lines_of({("heart", "NF"): [0.7, value]}, measure=measure)
    with pytest.raises(ValueError, match=rf"results.csv.*{measure}.*{value}.*heart, NF"):
        results_of(tmp_path, lines)
    # Another measure may be anything.
    assert results_of(tmp_path, lines_of({("heart", "NF"): [value]}, measure="logloss"))


def test_text_of_numbers():
    assert [number(None), number(math.nan), number(0.12345), number(2.0, 0)] == ["-", "-", "0.123", "2"]
    # What rounds to nothing has no sign.
    assert [signed(-0.0001), signed(0.0006), signed(-0.25, 2)] == ["0.000", "+0.001", "-0.25"]
    assert [with_spread(0.5, None), with_spread(math.nan, 1.0)] == ["0.500 (-)", "-"]
    assert [joined([]), joined(["a"]), joined(["a", "b", "c"])] == ["none", "a", "a, b and c"]
    assert in_order(["z", "b", "a", "z"], ["a", "b", "c"]) == ["a", "b", "z"]
    assert table(["a"], []) == ["Nothing to show yet.", ""]
    with pytest.raises(ValueError, match="2 cells"):
        table(["a", "b"], [["only one"]])


def test_svm_plus_stands_beside_its_printed_number(tmp_path):
    values = {("heart", "NF"): [0.7] * 3, ("heart", "SVM+"): [0.70, 0.71, 0.72], ("adult", "SVM+"): [0.8] * 3}
    lines = peers_section(results_of(tmp_path, lines_of(values)))
    shown = lines[lines.index("### SVM+ beside table 2") :]
    # The table prints .746 for heart, and nothing for adult.
    assert cells(shown, "heart") == [["heart", "0.746 (0.079)", "-", "0.710 (0.010) [3/10]", "-"]]
    assert cells(shown, "adult") == []


def test_group_measures_stand_beside_those_of_the_released_booster(tmp_path):
    folds = {("communities", "NF"): [0.5, 0.5]}
    groups = [
        *lines_of({("communities", "NF"): [0.25, 0.5]}, mode="paper", measure="eo:racepctblack"),
        *lines_of({("communities", "NF"): [0.75]}, mode="paper", measure="abroca:racepctblack"),
        *(line for last in ("threshold", "auc") for line in lines_of(folds, mode="paper", measure=last)),
    ]
    lines = paper_section(results_of(tmp_path, groups))
    shown = lines[lines.index("### Group measures beside the released boosters, fold by fold") :]
    assert cells(shown, "0") == [["0", "0.2500", "0.3232", "-", "0.0727", "0.7500", "0.4385"]]
    # The released booster has no equalized odds in fold 2: a group has no row with label 1.
    assert cells(shown, "2") == [["2", "-", "-", "-", "0.0728", "-", "-"]]


def test_means_over_other_folds_are_not_compared(tmp_path):
    values = {("heart", "NF"): [0.7] * 3, ("heart", "JPIB"): [0.70, 0.71, 0.72], ("heart", "SVM"): [0.6, 0.7, 0.8]}
    # Each has fewer folds than SVM, and would be the best by its mean.
    values |= {("heart", "KbPIB"): [0.9], ("heart", "GPC"): [0.95, 0.95]}
    lines = peers_section(results_of(tmp_path, lines_of(values)))
    assert cells(lines, "heart")[0][:6] == ["heart", "JPIB", "0.710", "SVM", "0.700", "1 of 2"]
