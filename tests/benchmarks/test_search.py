"""The search for alpha gives the numbers of `pi_xgb.train` in paper mode, and loses nothing when it is stopped."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import xgboost as xgb
from hypothesis import given, settings
from hypothesis import strategies as st

import pi_xgb

pytest.importorskip("sklearn")
pytest.importorskip("tqdm")
pytest.importorskip("matplotlib")

from sklearn.metrics import roc_auc_score

from benchmarks.modes.paper import EARLY_STOPPING_ROUNDS, NUM_BOOST_ROUND, paper_fold
from benchmarks.search import __main__ as command
from benchmarks.search import chunks, search
from benchmarks.search.booster import LeanBooster, library
from benchmarks.search.engine import LOSS, METHODS, FoldSearch, Point, RankedRows, search_params
from benchmarks.search.paths import COLUMNS, HEADER, PathFile, mean_path, paper_grid, summary_of

ROOT = Path(__file__).parents[2]
ALPHAS = (0.001, 0.3, 0.96)
SETTINGS = ("exact", xgb.__version__)


def by_the_plain_path(dataset, fold, method, alpha, *, as_paper):
    data = paper_fold(dataset, fold)
    guidance = {
        "NF": {},
        "KbPIB": {"privileged": data.train_privileged, "privileged_evals": [(data.valid_privileged, "valid")]},
        "JPIB": {"privileged": data.train_privileged, "method": "jpib"},
    }[method]
    booster = pi_xgb.train(
        search_params(dataset, as_paper=as_paper),
        data.train,
        NUM_BOOST_ROUND,
        evals=[(data.valid, "valid")],
        early_stopping_rounds=EARLY_STOPPING_ROUNDS,
        verbose_eval=False,
        # The paper teaches rows without privileged values as well.
        **({**guidance, "kl_weight": alpha, "teacher_weight": np.ones(data.train.num_row())} if guidance else {}),
    )
    best = booster[: booster.best_iteration + 1]
    return Point(booster.best_score, float(best.eval(data.test).split(":")[-1]), booster.best_iteration + 1)


@pytest.mark.parametrize("method", list(METHODS))
@pytest.mark.parametrize(("name", "as_paper"), [("made_exact", True), ("made_approx", True), ("made_approx", False)])
def test_the_numbers_are_those_of_the_plain_path(name, as_paper, method):
    dataset = chunks.made_set(name)
    engine = FoldSearch(dataset, 1, as_paper=as_paper)
    rounds = set()
    for alpha in ALPHAS:
        found = engine.train(method, alpha)
        # Best round and both AUCs are those of pi_xgb.train to the last bit, one alpha after the other.
        assert found == by_the_plain_path(dataset, 1, method, alpha, as_paper=as_paper)
        rounds.add(found.best_round)
    # Early stopping stopped something, or the rounds would prove nothing.
    assert min(rounds) < NUM_BOOST_ROUND - EARLY_STOPPING_ROUNDS


def test_an_alpha_does_not_depend_on_those_before_it():
    dataset = chunks.made_set("made_exact")
    forth, back = FoldSearch(dataset, 0), FoldSearch(dataset, 0)
    for method in command.GUIDED:
        # Nothing of one training is left in the matrices that the next one shares.
        assert [forth.train(method, a) for a in ALPHAS] == [back.train(method, a) for a in ALPHAS[::-1]][::-1]


@pytest.mark.parametrize("method", command.GUIDED)
def test_hist_stands_in_for_approx_where_every_value_has_a_bin(method):
    dataset = chunks.made_set("made_approx")
    hist, approx = FoldSearch(dataset, 0), FoldSearch(dataset, 0, as_paper=True)
    assert (hist.params["tree_method"], approx.params["tree_method"]) == ("hist", "approx")
    for alpha in ALPHAS:
        # With the same cuts the two grow the same trees.
        assert hist.train(method, alpha) == approx.train(method, alpha)


def test_approx_stays_where_a_column_has_more_values_than_bins():
    dataset = chunks.made_set("made_approx")
    dataset.X["x0"] = np.linspace(0, 1, chunks.MADE_ROWS)
    # 300 values do not fit 256 bins.
    assert search_params(dataset)["tree_method"] == "approx"


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 1), st.integers(0, 6)), min_size=2, max_size=40))
def test_the_auc_is_the_share_of_pairs_in_order(rows):
    label, score = (np.array(column) for column in zip(*rows, strict=True))
    scores = (score / 7).astype(np.float32)
    if label.min() == label.max():
        with pytest.raises(ValueError, match="both labels"):
            RankedRows(label)
        return
    # Ties count half, in ours as in scikit-learn's.
    assert RankedRows(label).auc(scores) == pytest.approx(roc_auc_score(label, scores), abs=1e-12)


def grown(direct):
    data = paper_fold(chunks.made_set("made_exact"), 0)
    params = search_params(chunks.made_set("made_exact"))
    booster = LeanBooster(params, data.train, data.valid, direct=direct)
    label = data.train.get_label()
    seen = []
    for _ in range(4):
        mean = LOSS.mean(booster.margins())
        booster.grow(*LOSS.gradient(mean, label, np.float32(1)))
        seen.append(booster.probabilities(data.valid))
    return booster, [*seen, booster.probabilities(data.test, 2), booster.probabilities(data.test)]


@pytest.mark.skipif(library() is None, reason="this XGBoost does not show its library")
def test_the_direct_calls_are_the_public_ones():
    (direct, found), (public, expected) = grown(True), grown(False)
    # Trees and predictions are the same to the bit, and what was predicted stays as it was.
    assert direct.booster.get_dump(with_stats=True) == public.booster.get_dump(with_stats=True)
    for ours, theirs in zip(found, expected, strict=True):
        np.testing.assert_array_equal(ours, theirs)
    assert not np.array_equal(found[0], found[3])


@pytest.mark.skipif(library() is None, reason="this XGBoost does not show its library")
def test_an_error_of_the_library_is_raised():
    booster, _ = grown(True)
    # Four trees are there, nine were asked for.
    with pytest.raises(xgb.core.XGBoostError):
        booster.probabilities(booster._train, 9)


def test_the_grid_is_the_papers():
    assert paper_grid(999) == [round(0.001 * i, 3) for i in range(1, 1000)]
    # A smaller grid is a part of it, ends included.
    assert paper_grid(3) == [0.001, 0.5, 0.999]
    assert set(paper_grid(40)) < set(paper_grid(999))
    with pytest.raises(ValueError, match="999 values"):
        paper_grid(1000)


def small_search(out, **more):
    return search.Search(["made_exact"], ["KbPIB", "JPIB"], [0, 2], paper_grid(4), out, **more)


@pytest.fixture(scope="module")
def in_one_go(tmp_path_factory):
    """The files of a search that nothing disturbed."""
    folder = tmp_path_factory.mktemp("whole")
    small_search(folder).run()
    return texts(folder)


@pytest.fixture
def without_pictures(monkeypatch):
    monkeypatch.setattr(search, "plot", lambda *arguments: None)


def texts(folder):
    return {path.name: sorted(path.read_text().splitlines()) for path in folder.glob("*.csv")}


@pytest.mark.usefixtures("without_pictures")
def test_a_run_that_was_killed_goes_on_where_it_stopped(tmp_path, monkeypatch, in_one_go):
    small_search(tmp_path).run()
    path = tmp_path / "made_exact_JPIB.csv"
    lines = path.read_text().splitlines(keepends=True)
    path.write_text("".join(lines[:5]) + lines[5][:20])

    requested = []
    monkeypatch.setattr(search, "CHUNK", 2)
    work = chunks.work_on
    monkeypatch.setattr(chunks, "work_on", lambda chunk: requested.extend(chunk.alphas) or work(chunk))
    small_search(tmp_path).run()
    # Only what is not in the file is trained again, and in the end the files are those of the run in one go.
    assert len(requested) == 2 * 4 - 4
    assert texts(tmp_path) == in_one_go
    # Once more, and there is nothing to do.
    requested.clear()
    small_search(tmp_path).run()
    assert requested == []


@pytest.mark.slow
@pytest.mark.usefixtures("without_pictures")
def test_two_processes_find_what_one_finds(tmp_path, in_one_go):
    small_search(tmp_path).run(jobs=2)
    # The order of the lines may differ, nothing else.
    assert texts(tmp_path) == in_one_go


def test_settings_are_not_mixed_in_one_file(tmp_path):
    file = PathFile(tmp_path, "made_exact", "KbPIB", SETTINGS)
    assert file.open() == set()
    file.append(0, [(0.5, Point(0.8, 0.7, 3))])
    assert file.open() == {(0, 0.5)}
    with pytest.raises(SystemExit, match="--out"):
        PathFile(tmp_path, "made_exact", "KbPIB", ("approx", xgb.__version__)).open()
    (tmp_path / "made_exact_JPIB.csv").write_text("a,b\n1,2\n")
    with pytest.raises(SystemExit, match=r"made_exact_JPIB\.csv.*file.*search"):
        PathFile(tmp_path, "made_exact", "JPIB", SETTINGS).open()


def test_the_summary_reads_the_path():
    lines = pd.DataFrame(
        [
            (fold, alpha, valid + shift, test + shift)
            for fold, shift in ((0, -0.1), (1, 0.1))
            for alpha, valid, test in ((0.016, 0.7, 0.6), (0.5, 0.8, 0.5), (0.9, 0.6, 0.7))
        ]
        + [(0, 0.95, 0.9, 0.9)],
        columns=["fold", "alpha", "valid_auc", "test_auc"],
    )
    path = mean_path(lines)
    # An alpha that not all folds have has no mean; the error is that of a mean of two.
    assert path.index.tolist() == [0.016, 0.5, 0.9]
    assert path.valid_auc_error.tolist() == pytest.approx([0.1] * 3)
    plain = pd.DataFrame({"valid_auc": [0.7], "test_auc": [0.55]})
    row = summary_of("heart", "KbPIB", path, plain)
    # .016 is the paper's alpha for heart: second of three by validation and by test.
    assert (row["paper_alpha"], row["valid_auc_rank"], row["test_auc_rank"]) == (0.016, 2, 2)
    assert (row["alpha_of_highest_valid"], row["alpha_of_highest_test"]) == (0.5, 0.9)
    assert row["test_at_highest_valid"] == pytest.approx(0.5)
    assert row["share_above_plain"] == pytest.approx(2 / 3)


@pytest.mark.slow
def test_the_smoke_run_and_the_report(tmp_path, capsys):
    command.main(["--smoke", "--out", str(tmp_path)])
    first = capsys.readouterr().out
    # The run itself has made the pictures.
    assert all((tmp_path / f"{name}.png").stat().st_size > 0 for name in chunks.MADE)
    command.main(["--datasets", "made_exact,made_approx", "--out", str(tmp_path), "--report"])
    # The report reads the same table off the files.
    assert capsys.readouterr().out == first
    assert len(first.splitlines()) == 5


@pytest.mark.usefixtures("without_pictures")
def test_a_report_compares_methods_on_the_folds_that_all_of_them_have(tmp_path):
    search.Search(["made_exact"], ["KbPIB"], [0, 1, 2], [0.5], tmp_path).run()
    both = search.Search(["made_exact"], ["KbPIB", "JPIB"], [1, 2], [0.5], tmp_path)
    both.run()
    summary = both.report(pictures=())
    engine = [FoldSearch(chunks.made_set("made_exact"), fold) for fold in (1, 2)]
    # Fold 0 has no JPIB, so no mean takes it in.
    assert summary.folds.tolist() == [2, 2]
    assert summary.plain_test[0] == pytest.approx(np.mean([fold.plain().test_auc for fold in engine]))
    assert summary.test_median[0] == pytest.approx(np.mean([fold.kbpib(0.5).test_auc for fold in engine]))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--datasets", "hart", "--out", "x"], r"data set.*'?hart"),
        (["--methods", "NF", "--out", "x"], "no method is called '?NF"),
        (["--folds", "10", "--out", "x"], "no fold is called '?10"),
        (["--jobs", "0", "--out", "x"], r"--jobs.*least 1.*0"),
        (["--alphas", "0", "--out", "x"], r"--alphas.*paper's.*999 values.*0"),
        (["--out", __file__], r"--out expects.*test_search.py"),
        (["--out", "x", "--report"], r"nothing to report.* x"),
    ],
)
def test_wrong_arguments_say_what_is_expected(arguments, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(search.Search, "run", lambda *arguments: pytest.fail("a search was begun"))
    with pytest.raises(SystemExit, match=message):
        command.main(arguments)
    # Not even a folder is made.
    assert list(tmp_path.iterdir()) == []


def test_without_out_the_folder_is_that_of_the_benchmarks():
    given = command.parser().parse_args([])
    assert command.search_of(given).out == ROOT / "benchmarks" / "results" / "search"


def test_a_search_that_was_stopped_at_once_has_nothing_to_report(tmp_path):
    for method, text in (("NF", ""), ("KbPIB", ",".join(COLUMNS)[:9]), ("JPIB", HEADER)):
        (tmp_path / f"made_exact_{method}.csv").write_text(text)
    with pytest.raises(SystemExit, match="nothing to report yet"):
        command.main(["--datasets", "made_exact", "--out", str(tmp_path), "--report"])
    assert not (tmp_path / "summary.csv").exists()
    # The run goes on from such files.
    assert PathFile(tmp_path, "made_exact", "NF", SETTINGS).open() == set()
    assert (tmp_path / "made_exact_NF.csv").read_text() == HEADER


@pytest.mark.usefixtures("without_pictures")
def test_a_set_whose_data_cannot_be_had_does_not_stop_the_others(tmp_path, monkeypatch, capsys):
    def damaged(name):
        raise ValueError("processed.cleveland.data.gz is damaged")

    monkeypatch.setattr(chunks, "load", damaged)
    wanted = ["--datasets", "heart,made_exact", "--folds", "0", "--alphas", "2", "--out", str(tmp_path)]
    with pytest.raises(SystemExit, match=r"not searched.*heart"):
        command.main(wanted)
    output = capsys.readouterr()
    # The one is named with its reason, the other is searched.
    assert "heart is left out: processed.cleveland.data.gz is damaged" in output.err
    assert [line.split()[:2] for line in output.out.splitlines()[1:]] == [["made_exact", m] for m in command.GUIDED]
    assert not list(tmp_path.glob("heart*"))


@pytest.mark.usefixtures("without_pictures")
def test_a_search_of_one_set_leaves_the_others_in_the_summary(tmp_path):
    for name, folds in (("made_exact", [0]), ("made_approx", [0]), ("made_exact", [0, 1])):
        search.Search([name], ["KbPIB"], folds, [0.5], tmp_path).run()
    summary = pd.read_csv(tmp_path / "summary.csv")
    assert list(zip(summary.dataset, summary.folds, strict=True)) == [("made_approx", 1), ("made_exact", 2)]


@pytest.mark.usefixtures("without_pictures")
def test_ctrl_c_says_how_to_go_on(tmp_path, monkeypatch, capsys):
    def interrupted(chunk):
        raise KeyboardInterrupt

    monkeypatch.setattr(chunks, "work_on", interrupted)
    with pytest.raises(SystemExit) as ended:
        command.main(["--datasets", "made_exact", "--out", str(tmp_path)])
    assert ended.value.code == 130
    assert capsys.readouterr().err.endswith("stopped; the same command goes on where it was\n")


@pytest.mark.slow
def test_ctrl_c_stops_both_processes_at_once_and_loses_nothing(tmp_path):
    command = [sys.executable, "-m", "benchmarks.search", "--datasets", "made_exact", "--jobs", "2"]
    # A session of its own, so that the interrupt reaches the workers too, as it does from a terminal.
    # Tests that run in the background inherit interrupts that are ignored, and would hand that on.
    run = subprocess.Popen(
        [*command, "--out", str(tmp_path)],
        stderr=subprocess.PIPE,
        text=True,
        cwd=ROOT,
        start_new_session=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    try:
        path = tmp_path / "made_exact_NF.csv"
        until = time.monotonic() + 120
        while not (path.exists() and path.read_text().count("\n") > 1) and time.monotonic() < until:
            time.sleep(0.05)
        os.killpg(run.pid, signal.SIGINT)
        result = run.communicate(timeout=30)[1]
    finally:
        run.kill()
    assert run.returncode == 130
    assert "Traceback" not in result
    # What was written is whole chunks.
    assert len(PathFile(tmp_path, "made_exact", "KbPIB", SETTINGS).open()) % search.CHUNK == 0
