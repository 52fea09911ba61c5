"""Few labels, many rows: the splits, the draws, the methods, the run that goes on, and the page."""

import itertools

import numpy as np
import pandas as pd
import pytest

pytest.importorskip("sklearn", reason="the benchmarks need scikit-learn")
pytest.importorskip("scipy", reason="the intervals need scipy")
pytest.importorskip("matplotlib", reason="the pictures need matplotlib")
pytest.importorskip("tqdm", reason="the benchmarks need tqdm")

import xgboost as xgb
from sklearn.metrics import log_loss, roc_auc_score

import pi_xgb
from benchmarks.data import DATASETS, LOAD_ERRORS
from benchmarks.data.store import local_path, user_folder
from benchmarks.intervals import corrected_interval, with_bounds
from benchmarks.unlabelled import __main__ as unlabelled
from benchmarks.unlabelled import breach, cell, kinds, page, rivals, runner, splits

SHARED = ("dataset", "labelled", "repeat", "method")
SELECTS = (cell.SELECT, cell.SELECT_BOOSTED)


@pytest.fixture
def quick(monkeypatch):
    """Few rounds, two budgets."""
    monkeypatch.setattr(cell, "ROUNDS", 5)
    monkeypatch.setattr(breach, "ROUNDS", 5)
    monkeypatch.setattr(cell, "BUDGETS", (50,))
    monkeypatch.setattr(breach, "SETTINGS", {name: breach.SETTINGS[name] for name in ("by chance", "by z")})


def skip_without_the_ebm(*methods):
    if {cell.EBM_RIVAL, cell.CHOSEN_BY_AUC, cell.CHOSEN_BY_LOSS} & set(methods):
        pytest.importorskip("interpret", reason="one of the rivals is its EBM")


@pytest.fixture
def draw():
    return cell.Draw(splits.made_set("made"), 3)


def made_lines(repeats=4):
    random = np.random.default_rng(0)
    methods = [method for method in cell.METHODS if method not in SELECTS]
    lines = [
        {"dataset": name, "labelled": labelled, "training": 200, "repeat": repeat, "method": method}
        for name in ("spam", "heart")
        for labelled in (50, 200)
        for repeat in range(repeats)
        for method in methods
    ]
    scores = {name: random.uniform(0.6, 0.9, len(lines)) for name in ("auc", "logloss")}
    return pd.DataFrame(lines).assign(**scores, seconds=0.1)


def made_breach():
    random = np.random.default_rng(1)
    lines = [
        {"setting": setting, "repeat": repeat, "method": method, "truth": 0.28, "labels": 190}
        for setting in breach.SETTINGS
        for repeat in range(3)
        for method in breach.METHODS
    ]
    names = ("auc", "logloss", "mean", "calibration")
    return pd.DataFrame(lines).assign(**{name: random.uniform(0.1, 0.9, len(lines)) for name in names})


# --- splits -----------------------------------------------------------------------------------------------------------


def has_files(name):
    folder = user_folder()
    return folder is not None and all(local_path(raw, folder) for raw in DATASETS[name].files)


@pytest.mark.parametrize("name", splits.SPLITS)
def test_z_is_not_in_x_and_both_are_there(name):
    if not has_files(name):
        pytest.skip(f"the raw files of {name} are not there: PI_XGB_DATA names no folder that has them")
    dataset, split = splits.split_set(name), splits.SPLITS[name]
    (x, _), (z, _) = dataset.student(), dataset.teacher()
    assert not set(x.columns) & set(z.columns)
    assert len(x.columns) + len(z.columns) == dataset.X.shape[1]
    assert tuple(z.columns) == (split.privileged or DATASETS[name].privileged)
    assert set(np.unique(dataset.y)) == {0, 1}
    # What is predicted is among neither.
    assert not {"G3", "y"} & set(dataset.X.columns)
    assert split.why


@pytest.mark.parametrize("name", ["student_mat", "student_por"])
def test_a_good_grade_is_rarer_than_the_papers_pass(name):
    if not has_files(name):
        pytest.skip(f"the raw files of {name} are not there: PI_XGB_DATA names no folder that has them")
    good, passed = splits.split_set(name).y, splits.load(name).y
    assert not (good > passed).any()
    assert 0.3 < good.mean() < 0.7


# --- draws ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n_rows", [297, 395, 649, 4015, 45211])
def test_budgets_double_up_to_all_training_rows(n_rows):
    budgets = cell.budgets_of(n_rows)
    assert budgets[0] == 50
    assert budgets[-1] == cell.training_rows(n_rows) <= cell.MOST_TRAINING
    assert budgets[:-1] == [50 * 2**step for step in range(len(budgets) - 1)]
    assert budgets[-1] >= 2 * budgets[-2]


def test_a_draw_keeps_test_rows_out_of_training_and_labels_each_class_its_share():
    dataset = splits.made_set("made")
    draw = cell.Draw(dataset, 3)
    rows = {part: {row.tobytes() for row in getattr(draw, part).x} for part in ("train", "test")}
    assert not rows["train"] & rows["test"]
    assert len(rows["train"]) + len(rows["test"]) == dataset.y.size
    known = draw.labelled_rows(50)
    assert known.sum() == 50
    assert abs(draw.train.y[known].mean() - draw.train.y.mean()) < 0.02
    # The same seed draws the same rows, another one others.
    assert (cell.Draw(dataset, 3).train.x == draw.train.x).all()
    assert not (cell.Draw(dataset, 4).train.x == draw.train.x).all()
    assert draw.labelled_rows(len(draw.train.y)).all()


@pytest.mark.slow
@pytest.mark.parametrize("method", [name for name in cell.METHODS if name not in page.CEILINGS])
def test_no_method_sees_a_label_that_is_not_known(draw, method, quick):
    skip_without_the_ebm(method)
    before = cell.METHODS[method](cell.Work(draw, 50))
    other = cell.Draw(splits.made_set("made"), 3)
    # The labelled rows of a draw are dealt by class: they are found before the other labels are turned over.
    known = other.labelled_rows(50)
    other.labelled_rows = lambda budget: known
    other.train.y[~known] = 1 - other.train.y[~known]
    np.testing.assert_array_equal(cell.METHODS[method](cell.Work(other, 50)), before)


@pytest.mark.slow
@pytest.mark.parametrize("method", [name for name in cell.METHODS if name != page.CEILINGS[1]])
def test_no_method_sees_z_of_the_test_rows(draw, method, quick):
    skip_without_the_ebm(method)
    before = cell.METHODS[method](cell.Work(draw, 50))
    other = cell.Draw(splits.made_set("made"), 3)
    other.test.z[:] = 0
    np.testing.assert_array_equal(cell.METHODS[method](cell.Work(other, 50)), before)


# --- methods ----------------------------------------------------------------------------------------------------------


def by_hand(draw, known):
    """KbPIB with unlabelled rows: the mean of teachers, and a custom objective on the blended target."""
    train = draw.train
    xz, label = np.hstack([train.x, train.z]), np.where(known, train.y, 0)
    teacher = pi_xgb.fit_teacher(
        cell.PARAMS, xgb.DMatrix(xz, label, nthread=1), cell.ROUNDS, crossfit=5, labelled=known
    )
    result = [booster.predict(xgb.DMatrix(xz, nthread=1)) for booster in teacher.boosters]
    np.testing.assert_allclose(teacher.values[~known], np.mean(result, axis=0)[~known], rtol=1e-5)
    factor = known + 10.0
    target = (known * label + 10 * teacher.values) / factor

    def objective(margin, _):
        p = 1 / (1 + np.exp(-margin.astype(np.float64)))
        return factor * (p - target), factor * p * (1 - p)

    params = {**cell.PARAMS, "base_score": float(np.average(target, weights=factor))}
    booster = xgb.train(params, xgb.DMatrix(train.x, label, nthread=1), cell.ROUNDS, obj=objective)
    return 1 / (1 + np.exp(-booster.predict(xgb.DMatrix(draw.test.x, nthread=1), output_margin=True)))


def test_kbpib_is_what_it_is_by_hand(draw):
    work = cell.Work(draw, 50)
    np.testing.assert_allclose(cell.kbpib(work), by_hand(draw, work.known), atol=2e-4)


def test_a_line_holds_the_scores_of_plain_xgboost(draw):
    (line,) = cell.lines(draw, 50, [cell.PLAIN])
    known = draw.labelled_rows(50)
    booster = xgb.train(cell.PARAMS, xgb.DMatrix(draw.train.x[known], draw.train.y[known]), cell.ROUNDS)
    result = booster.predict(xgb.DMatrix(draw.test.x))
    assert line["auc"] == roc_auc_score(draw.test.y, result)
    assert line["logloss"] == pytest.approx(log_loss(draw.test.y, result.astype(float)))


def test_a_rival_is_chosen_on_the_labelled_rows_alone(draw):
    work = cell.Work(draw, 50)
    held = np.flatnonzero(work.known)[::5]
    part = work.without(held)
    assert not part.known[held].any()
    assert part.known.sum() == 40
    np.testing.assert_array_equal(part.draw.test.y, draw.train.y[held])
    # All that differs is who is asked: a rival that has seen the labels of the held-out rows is found out.
    worlds = {
        "knows": lambda source: np.where(source.draw.test.y == 1, 0.9, 0.1),
        "guesses": lambda source: np.full(10, 0.5),
    }
    scores = rivals.cross_validated(work, worlds)
    assert scores["knows"] == {"auc": 1.0, "logloss": pytest.approx(np.log(0.9))}
    assert scores["guesses"] == {"auc": 0.5, "logloss": pytest.approx(np.log(0.5))}
    work.rival_scores = {cell.PLAIN: {"auc": 0.6, "logloss": -0.4}, cell.TUNED: {"auc": 0.5, "logloss": -0.3}}
    np.testing.assert_array_equal(cell.chosen_rival("auc", work), cell.plain(work))
    np.testing.assert_array_equal(cell.chosen_rival("logloss", work), cell.tuned_depth_and_rounds(work))


def test_with_all_labels_the_unlabelled_rows_are_none(draw):
    skip_without_the_ebm(*unlabelled.QUICK)
    found = {line["method"]: line["auc"] for line in cell.lines(draw, len(draw.train.y), unlabelled.QUICK)}
    assert found[cell.KBPIB] == pytest.approx(found[cell.KBPIB_LABELLED], abs=2e-3)
    assert found[cell.ALL_LABELS] == found[cell.PLAIN] == pytest.approx(found[cell.SELF_TRAINING], abs=2e-3)


# --- the run ----------------------------------------------------------------------------------------------------------


def test_a_killed_run_goes_on_to_the_same_results(tmp_path, quick):
    whole, killed = tmp_path / "whole.csv", tmp_path / "killed.csv"
    methods = [cell.PLAIN, cell.KBPIB]
    runner.run(["made"], methods, 2, whole)
    lines = whole.read_text().splitlines()
    assert len(lines) == 1 + 2 * 2 * 2
    for left in ([*lines[:4], lines[4][:20]], lines[:1], [lines[0][:9]], [*lines[:-1], lines[-1][:-3]], []):
        killed.write_text("\n".join(left))
        runner.run(["made"], methods, 2, killed)
        key = list(SHARED)
        expected, found = (
            pd.read_csv(file).sort_values(key).drop(columns="seconds").reset_index(drop=True)
            for file in (whole, killed)
        )
        pd.testing.assert_frame_equal(found, expected)
        # What was whole was not done again.
        kept = [line for line in left[:-1] if line]
        assert killed.read_text().splitlines()[: len(kept)] == kept


def test_a_finished_run_does_nothing_and_a_further_method_is_added(tmp_path, quick, monkeypatch):
    out = tmp_path / "unlabelled.csv"
    runner.run(["made"], [cell.PLAIN], 1, out, only=[50])
    before = out.read_text()
    runner.run(["made"], [cell.PLAIN, "z imputed"], 1, out, only=[50])
    assert out.read_text().startswith(before)
    assert list(pd.read_csv(out)["method"]) == [cell.PLAIN, "z imputed"]
    before = out.read_text()
    monkeypatch.setattr(runner, "work", lambda unit: pytest.fail("a cell was done again"))
    runner.run(["made"], [cell.PLAIN, "z imputed"], 1, out, only=[50])
    assert out.read_text() == before


@pytest.mark.slow
def test_two_processes_do_what_one_does(tmp_path):
    alone, both = tmp_path / "alone.csv", tmp_path / "both.csv"
    for out, jobs in ((alone, 1), (both, 2)):
        runner.run(["made"], [cell.PLAIN, cell.KBPIB], 2, out, jobs=jobs, only=[50])
    tables = [pd.read_csv(out).drop(columns="seconds").sort_values(list(SHARED)) for out in (alone, both)]
    pd.testing.assert_frame_equal(*(table.reset_index(drop=True) for table in tables))


@pytest.mark.slow
def test_smoke_prints_the_page(capsys, quick):
    skip_without_the_ebm(*unlabelled.QUICK)
    unlabelled.main(["--smoke"])
    out = capsys.readouterr().out
    assert out.startswith("# Few labels, many rows")
    assert "| predicts better than x | 50 | 1 |" in out
    assert "| by z | holds | KbPIB |" in out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--datasets", "hart"], r"data set.*hart"),
        (["--methods", "magic"], "^no method is called magic"),
        (["--repeats", "0"], r"--repeats.*least 1.*0"),
        (["--jobs", "0"], r"--jobs.*least 1.*0"),
        (["--out", "."], r"--out expects.*CSV"),
        (["--out", "nope.csv", "--page"], r"CSV.*sets.*nope.csv"),
        (["--out", "foreign.csv", "--page"], r"foreign.csv.*empty"),
        (["--out", "foreign.csv"], r"foreign.csv.*CSV.*benchmarks.unlabelled"),
    ],
)
def test_wrong_arguments_say_what_is_expected(arguments, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(runner, "split_set", splits.made_set)
    (tmp_path / "foreign.csv").write_text("a,b\n1,2\n")
    with pytest.raises(SystemExit, match=message):
        unlabelled.main(arguments)
    assert (tmp_path / "foreign.csv").read_text() == "a,b\n1,2\n"


def test_a_set_whose_data_cannot_be_had_is_named(monkeypatch):
    def damaged(name):
        raise LOAD_ERRORS[0]("student-mat.csv is damaged")

    monkeypatch.setattr(runner, "split_set", damaged)
    with pytest.raises(SystemExit, match=r"student_mat: student-mat\.csv is damaged"):
        runner.loaded("student_mat")


# --- made data --------------------------------------------------------------------------------------------------------


def test_what_is_in_the_file_follows_its_setting():
    rows = breach.made(0, 4000)
    seen = {name: seen_by(rows, np.random.default_rng(1)) for name, (seen_by, _) in breach.SETTINGS.items()}
    # Where the assumption holds, no label is wrong, and the labelled rows have the truth's chance given x and z.
    for name in ("by chance", "by z", "bad ones early"):
        assert (seen[name].label == rows.y)[seen[name].known].all(), name
    known = seen["bad ones early"].known
    assert rows.y[known].mean() > rows.y.mean() + 0.2
    assert rows.chance[seen["by z"].known].mean() > rows.chance.mean() + 0.1
    for name in ("not yet taken for no", "and some watched closely"):
        # No bad outcome is made up, most are missing, and nothing says so.
        assert seen[name].known.all()
        assert not (seen[name].label > rows.y).any()
        assert 0.2 < seen[name].label.sum() / rows.y.sum() < 0.5


def test_the_truth_has_no_calibration_error():
    rows = breach.made(1, 4000)
    assert breach.calibration_error(rows.chance, rows.chance) == 0
    assert breach.calibration_error(rows.chance / 2, rows.chance) == pytest.approx(rows.chance.mean() / 2)
    assert abs(rows.y.mean() - rows.chance.mean()) < 0.02


def test_the_labels_that_are_not_known_are_not_learned_from():
    rows = breach.made(0, 400)
    known = np.arange(400) < 100
    seen = breach.Seen(rows.y, known)
    other = breach.Seen(np.where(known, rows.y, 1 - rows.y), known)
    for model in (breach.plain, breach.kbpib):
        assert model(rows, seen).save_raw() == model(rows, other).save_raw()


# --- the page ---------------------------------------------------------------------------------------------------------


def test_the_page_says_what_the_lines_say(tmp_path):
    lines = made_lines()
    # A repeat that lacks a method is left out where that one is compared, and nowhere else.
    lines = lines[~((lines["dataset"] == "heart") & (lines["repeat"] == 3) & (lines["method"] == cell.JPIB))]
    lines.to_csv(tmp_path / "unlabelled.csv", index=False)
    made_breach().to_csv(tmp_path / "unlabelled_breach.csv", index=False)
    unlabelled.main(["--page", "--out", str(tmp_path / "unlabelled.csv")])
    text = (tmp_path / "UNLABELLED.md").read_text()
    # Both sets have 200 training rows; 50 labels are few.
    wide = lines[lines["labelled"] == 50].pivot(index=["dataset", "repeat"], columns="method", values="auc")
    gains = wide.sub(wide[cell.PLAIN], axis=0).groupby("dataset").mean().mean()
    row = next(line for line in text.splitlines() if line.startswith("| predicts better than x | 50 | 2 |")).split(
        " | "
    )
    header = next(line for line in text.splitlines() if line.startswith("| z | labels | sets |")).split(" | ")
    found = dict(zip(header, row, strict=True))
    for method in (cell.KBPIB, cell.MIXED, cell.JPIB, cell.ON_X):
        assert found[method] == f"{gains[method]:+.3f}"
    for name in ("unlabelled_gain.png", "unlabelled_breach.png", "unlabelled_kinds.png"):
        assert f"(figures/{name})" in text
        assert (tmp_path / "figures" / name).stat().st_size > 10_000


def cells_of(line):
    return [entry.strip() for entry in line.strip("|").split("|")] if line.startswith("|") else []


def rows_below(out, heading):
    """The cells of the first table below a line that begins so."""
    start = next(i for i, line in enumerate(out) if line.startswith(heading))
    table = itertools.takewhile(bool, itertools.dropwhile(lambda line: not line.startswith("|"), out[start:]))
    return [cells_of(line) for line in table][2:]


def by_kind(lines, measure):
    return lines.pivot(index=["dataset", "labelled", "repeat"], columns="method", values=measure)


def test_kinds_of_teachers_are_compared_by_number_of_labels():
    lines = made_lines()
    out = kinds.section(lines)
    auc, loss = (by_kind(lines, measure).xs(50, level="labelled") for measure in ("auc", "logloss"))
    gains = auc.sub(auc[cell.PLAIN], axis=0).groupby("dataset").mean()
    few, most = rows_below(out, "Gain in AUC over plain XGBoost")
    # 200 of 200 training rows are all of them.
    assert (few[:3], most[:3]) == (["50", "2", "4"], ["all", "2", "4"])
    for method, found in zip(kinds.KINDS, few[3:], strict=True):
        interval = corrected_interval(gains[method], 0.0)
        assert found == with_bounds(interval), method
    less = (auc[cell.MIXED] - auc[cell.KBPIB]).groupby("dataset").mean()
    assert rows_below(out, "### Mixed less boosted")[0][2:4] == [
        with_bounds(corrected_interval(less, 0.0)),
        str((less > 0).sum()),
    ]
    means = loss.groupby("dataset").mean()
    relative = means[cell.MIXED] / means[list(kinds.MEMBERS)].min(axis=1) - 1
    found = rows_below(out, "### Mixed against the member")[0]
    assert found[2].startswith(f"{relative.mean():+.1%} (")
    assert found[3] == f"{relative.max():+.1%} ({relative.idxmax()})"
    means = auc.groupby("dataset").mean()
    lead = means[cell.MIXED] - means[list(kinds.RIVALS)].max(axis=1)
    chosen = means[cell.MIXED] - means[cell.CHOSEN_BY_AUC]
    found = rows_below(out, "### Mixed against the best rival")[0]
    assert found[3] == with_bounds(corrected_interval(chosen, 0.0))
    assert found[7].startswith(f"{lead.mean():+.3f} (")


def test_a_set_where_the_mixture_is_worse_than_its_best_member_is_named():
    lines = made_lines()
    heart, mixed = lines["dataset"] == "heart", lines["method"] == cell.MIXED
    member = lines["method"].isin(kinds.MEMBERS)
    lines.loc[member, "logloss"] = 0.5
    lines.loc[mixed, "logloss"] = 0.51
    lines.loc[mixed & heart, "logloss"] = 0.52
    rows = rows_below(kinds.section(lines), "### Mixed ag")
    assert [row[2:] for row in rows] == [["+3.0% (-9.7% to +15.7%)", "+4.0% (heart)", "heart"]] * 2


def test_what_select_chooses_is_compared_with_what_it_chose_before():
    lines = made_lines(repeats=8)
    plain = lines[lines["method"] == cell.PLAIN]
    noise = np.random.default_rng(0).normal(scale=0.01, size=len(plain))
    loss = np.where(plain["dataset"] == "heart", 0.1, 0.0)
    now = plain.assign(method=cell.SELECT, auc=plain["auc"] + noise - loss)
    before = plain.assign(method=cell.SELECT_BOOSTED, auc=plain["auc"] + noise)
    lines = pd.concat([lines, now, before])
    out = kinds.section(lines)
    # All labels are no few labels; one of the two sets is worse.
    assert rows_below(out, "### Choosing") == [
        ["50", "2", "8", "-0.050 (-0.685 to 0.585)", "0.000 (0.000 to 0.000)"],
        ["all of these", "2", "8", "-0.050 (-0.685 to 0.585)", "0.000 (0.000 to 0.000)"],
    ]
    assert [row[3:] for row in rows_below(out, "| `select` | measure")] == [
        ["1 / 1", "0 / 0"],  # by its defaults, AUC
        ["0 / 0", "0 / 0"],
        ["0 / 0", "0 / 0"],
        ["0 / 0", "0 / 0"],
    ]


def test_a_repeat_without_a_mixed_teacher_is_in_no_table_of_kinds():
    lines = made_lines()
    here = (lines["dataset"] == "heart") & (lines["repeat"] == 3)
    without = kinds.section(lines[~(here & (lines["method"] == cell.MIXED))])
    assert rows_below(without, "Gain in AUC over plain XGBoost")[0][:3] == ["50", "2", "3 to 4"]
    assert (
        rows_below(without, "Gain in AUC over plain XGBoost")[0][3:]
        == rows_below(kinds.section(lines[~here]), "Gain in AUC over plain XGBoost")[0][3:]
    )


def test_without_a_mixed_teacher_there_is_no_section_on_kinds():
    lines = made_lines()
    lines = lines[lines["method"] != cell.MIXED]
    assert kinds.section(lines) == []


@pytest.mark.slow
def test_the_repositorys_page_comes_from_the_repositorys_csv(tmp_path):
    for results in (unlabelled.RESULTS, unlabelled.breach_of(unlabelled.RESULTS)):
        (tmp_path / results.name).write_bytes(results.read_bytes())
    unlabelled.main(["--page", "--out", str(tmp_path / unlabelled.RESULTS.name)])
    assert (tmp_path / "UNLABELLED.md").read_text() == unlabelled.PAGE.read_text()
    # The README's picture needs sets that made lines lack.
    assert (tmp_path / "figures" / "headline.png").stat().st_size > 10_000
