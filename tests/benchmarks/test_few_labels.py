"""Few labels, many rows: the splits, the draws, the methods, the run that goes on, and the page."""

import functools
import re

import numpy as np
import pytest

pytest.importorskip("sklearn", reason="the benchmarks need scikit-learn")
pytest.importorskip("scipy", reason="the intervals need scipy")
pytest.importorskip("matplotlib", reason="the pictures need matplotlib")
pytest.importorskip("tqdm", reason="the benchmarks need tqdm")

import xgboost as xgb

import pi_xgb
from benchmarks import FOLDER
from benchmarks.data import DATASETS, made_set
from benchmarks.data.store import local_path, user_folder
from benchmarks.labels import public
from benchmarks.unlabelled import cell, fresh, splits


@pytest.fixture
def quick(monkeypatch):
    """Few rounds, few trees, few folds."""
    for module in (cell, fresh):
        monkeypatch.setattr(module, "ROUNDS", 5)
        monkeypatch.setattr(module, "FOREST", {"n_estimators": 5})
    monkeypatch.setattr(cell, "MOST_ROUNDS", 10)
    monkeypatch.setattr(fresh, "select", functools.partial(pi_xgb.select, nfold=2, repeats=1))


ALL_METHODS = cell.METHODS | fresh.METHODS


def result_of(method, draw):
    if method == fresh.CATBOOST:
        pytest.importorskip("catboost", reason="one of the rivals")
    for cached in (fresh.on_x, fresh.imputed):
        cached.cache_clear()
    return ALL_METHODS[method](cell.Work(draw, 50))


@functools.cache
def known_result(method):
    """What a method says of the draw of these tests."""
    return result_of(method, cell.Draw(made_set(), 3))


@pytest.fixture
def draw():
    return cell.Draw(made_set(), 3)


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


def test_a_draw_keeps_test_rows_out_of_training_and_labels_each_class_its_share():
    dataset = made_set()
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


@pytest.mark.parametrize("method", [name for name in ALL_METHODS if name != cell.ALL_LABELS])
def test_no_method_sees_a_label_that_is_not_known(method, quick):
    before = known_result(method)
    other = cell.Draw(made_set(), 3)
    # The labelled rows of a draw are dealt by class: they are found before the other labels are turned over.
    known = other.labelled_rows(50)
    other.labelled_rows = lambda budget: known
    other.train.y[~known] = 1 - other.train.y[~known]
    np.testing.assert_array_equal(result_of(method, other), before)


@pytest.mark.parametrize("method", [name for name in ALL_METHODS if name not in (cell.Z_KNOWN, fresh.Z_KNOWN)])
def test_no_method_sees_z_of_the_test_rows(method, quick):
    before = known_result(method)
    other = cell.Draw(made_set(), 3)
    other.test.z[:] = 0
    np.testing.assert_array_equal(result_of(method, other), before)


def by_hand(draw, known):
    """KbPIB with unlabelled rows: the mean of teachers, and a custom objective on the blended target."""
    train = draw.train
    xz, label = np.hstack([train.x, train.z]), np.where(known, train.y, 0)
    teacher = pi_xgb.fit_teacher(
        cell.PARAMS, xgb.DMatrix(xz, label, nthread=1), cell.ROUNDS, teacher="boosted", crossfit=5, labelled=known
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
    np.testing.assert_allclose(cell.METHODS[cell.KBPIB](work), by_hand(draw, work.known), atol=2e-4)


def test_the_imputed_z_of_a_row_comes_from_other_rows(draw, monkeypatch):
    monkeypatch.setitem(fresh.IMPUTER, "n_estimators", 30)
    before, _ = fresh.imputed(draw)
    other = cell.Draw(made_set(), 3)
    fresh.imputed.cache_clear()
    other.train.z[0, :2] += 100.0  # the numbers
    after, _ = fresh.imputed(other)
    np.testing.assert_array_equal(after[0], before[0])
    assert not np.array_equal(after, before)


@pytest.mark.parametrize("in_time", [True, False])
def test_the_parts_of_a_set_share_no_row(in_time):
    dataset = made_set()
    old, new, test = public.parts(dataset, 3, in_time=in_time)
    rows = np.concatenate([old, new, test])
    assert sorted(rows) == list(range(dataset.y.size))
    assert (old.max() < new.min() and new.max() < test.min()) == in_time


def test_the_guide_quotes_the_tables():
    """Each number of the guide's tables stands in one line of the page, with the others of its line."""
    page = (FOLDER / "FEW_LABELS.md").read_text(encoding="utf-8").splitlines()
    text = (FOLDER.parent / "docs" / "few_labels.md").read_text(encoding="utf-8")
    lines = [line.split("|")[1:-1] for line in text.splitlines() if re.match(r"\|.*\d to \d", line)]
    assert len(lines) >= 15
    for cells in lines:
        assert any(all(cell.replace("`", "") in line for cell in cells) for line in page), cells
