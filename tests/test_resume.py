"""Long searches that are interrupted go on where they were; and what they say meanwhile."""

from __future__ import annotations

import contextlib
import functools
import json
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pandas as pd
import polars
import pytest
import xgboost as xgb
from helpers_selection import COMPARED, PARAMS
from sklearn.metrics import make_scorer
from sklearn.model_selection import KFold

import pi_xgb
from pi_xgb._core import cv as core_cv
from pi_xgb._progress import progress_bar
from pi_xgb.constraints import DemographicParity, EqualizedOdds

DATA = pi_xgb.datasets.make_privileged(120, seed=0)
N = len(DATA.y)
SELECTED = {"method": "jpib", "kl_weight": [1.0, 5.0], "nfold": 3, "repeats": 1, "progress": False}


def matrices(label=DATA.y):
    return xgb.DMatrix(DATA.x, label), xgb.DMatrix(DATA.z, label)


def select(path, **more):
    dtrain, privileged = matrices()
    return pi_xgb.select(PARAMS, dtrain, 4, privileged=privileged, resume=path, **{**SELECTED, **more}).table


def compare(path, **more):
    return pi_xgb.compare(DATA.x, DATA.y, DATA.z, resume=path, **{**COMPARED, **more}).table


def cv(path, **more):
    dtrain, privileged = matrices()
    keywords = {"privileged": privileged, "kl_weight": [0.0, 1.0, 5.0], "nfold": 3, **more}
    return pi_xgb.cv(PARAMS, dtrain, 4, resume=path, **keywords)


SEARCHES = {"select": (select, 3), "compare": (compare, 2), "cv": (cv, 3)}
every_search = pytest.mark.parametrize(("search", "parts"), SEARCHES.values(), ids=SEARCHES)


def instead_of_trainings(monkeypatch, changed):
    """Change ``xgboost.train`` and ``xgboost.cv``, and the ``xgboost.cv`` that the package has rebound."""
    for name in ("train", "cv"):
        monkeypatch.setattr(xgb, name, changed(getattr(xgb, name)))
    cv_on = core_cv.cv_on
    monkeypatch.setattr(core_cv, "cv_on", lambda folds: changed(cv_on(folds)))


class Interrupted:
    """``xgboost.train`` and ``xgboost.cv``, until Ctrl-C comes at one of their calls."""

    def __init__(self, monkeypatch, at):
        self.calls, self.at = 0, at
        instead_of_trainings(monkeypatch, self.instead_of)

    def instead_of(self, original):
        @functools.wraps(original)
        def called(*args, **kwargs):
            self.calls += 1
            if self.calls == self.at:
                raise KeyboardInterrupt
            return original(*args, **kwargs)

        return called


@every_search
@pytest.mark.parametrize("jobs", [1, 2])
def test_an_interrupted_search_goes_on_where_it_was(search, parts, jobs, tmp_path, monkeypatch):
    path = tmp_path / "state.json"
    with monkeypatch.context() as patch:
        counted = Interrupted(patch, at=-1)
        whole = search(None)
        calls = counted.calls
    with monkeypatch.context() as patch:
        Interrupted(patch, at=calls)
        with pytest.raises(KeyboardInterrupt):
            search(path, n_jobs=jobs)
    assert 1 <= len(json.loads(path.read_text())["finished"]) < parts
    with monkeypatch.context() as patch:
        counted = Interrupted(patch, at=-1)
        pd.testing.assert_frame_equal(search(path), whole)
        assert 0 < counted.calls < calls
        # All is there: nothing is trained any more.
        done = counted.calls
        pd.testing.assert_frame_equal(search(path), whole)
        assert counted.calls == done
    assert [file.name for file in tmp_path.iterdir()] == ["state.json"]


@pytest.mark.parametrize("name", ["select", "compare"])
def test_the_bar_has_a_step_for_each_training_that_is_left(name, tmp_path, monkeypatch):
    path, (search, parts), bars = tmp_path / "state.json", SEARCHES[name], []

    @contextlib.contextmanager
    def counted(total, what, wanted, telling):
        steps = []
        yield lambda: steps.append(1)
        bars.append((total, len(steps), what, wanted, telling))

    monkeypatch.setattr(f"pi_xgb._selection.{name}.progress_bar", counted)
    search(path)
    state = json.loads(path.read_text())
    state["finished"].pop(next(iter(state["finished"])))
    path.write_text(json.dumps(state))
    search(path)
    search(path)
    each = {"select": 3, "compare": 2 * (2 + 1 + 2 + 2 + 2)}[name]
    assert bars == [(left * each, left * each, name, False, each) for left in (parts, 1, 0)]


@every_search
def test_the_state_of_another_search_is_refused(search, parts, tmp_path, monkeypatch):
    path = tmp_path / "state.json"
    search(path)
    monkeypatch.setattr(xgb, "train", None)
    monkeypatch.setattr(xgb, "cv", None)
    for more in ({"nfold": 4}, {"seed": 1}, {"method": "jpib"} if search is not select else {"method": "kbpib"}):
        with pytest.raises(ValueError, match="belongs to another search"):
            search(path, **more)
    monkeypatch.setitem(PARAMS, "max_depth", 3)
    with pytest.raises(ValueError, match="belongs to another search"):
        search(path)


@every_search
def test_pairs_of_rows_are_part_of_the_search(search, parts, tmp_path):
    path, order = tmp_path / "state.json", np.random.default_rng(0).permutation(N)
    pairs = [(order[i:], order[:i]) for i in (40, 60)]
    search(path, folds=pairs)
    state = path.read_bytes()
    search(path, folds=iter(pairs))
    assert path.read_bytes() == state
    with pytest.raises(ValueError, match="belongs to another search"):
        search(path, folds=[*pairs[:1], (order[61:], order[:61])])


@every_search
def test_rows_are_part_of_the_search(search, parts, tmp_path, monkeypatch):
    path = tmp_path / "state.json"
    search(path)
    for part, changed in (("x", DATA.x + 1), ("z", DATA.z * 2), ("y", 1 - DATA.y)):
        with monkeypatch.context() as patch:
            patch.setitem(globals(), "DATA", DATA._replace(**{part: changed}))
            with pytest.raises(ValueError, match="belongs to another search"):
                search(path) if part != "y" or search is compare else search_with(search, path, changed)


def cv_of(path, constraints):
    grid = {"kl_weight": [0.0, 1.0], "nfold": 3}
    ((single, weight),) = constraints or [(DATA.y.to_numpy(np.float32), 1.0)]
    return pi_xgb.cv(PARAMS, matrices()[0], 4, teacher=single, teacher_weight=np.full(N, weight), resume=path, **grid)


def select_of(path, constraints):
    return select(path, constraints=constraints)


def compare_of(path, constraints):
    return compare(path, constraints=constraints)


@pytest.mark.parametrize("search", [select_of, compare_of, cv_of])
def test_constraints_are_part_of_the_search(search, tmp_path):
    path, group = tmp_path / "state.json", np.arange(N) % 2
    search(path, [(DemographicParity(group), 2.0)])
    kept = path.read_bytes()
    # The same by another object, whose rows are the same.
    search(path, [(DemographicParity(group.copy()), 2.0)])
    assert path.read_bytes() == kept
    for others in (
        [],
        [(DemographicParity(group), 3.0)],
        [(DemographicParity(np.roll(group, 1) * (np.arange(N) > 5)), 2.0)],
        [(EqualizedOdds(group), 2.0)],
        [(DemographicParity(group, match="mean"), 2.0)],
    ):
        with pytest.raises(ValueError, match="belongs to another search"):
            search(path, others)


def mine(predicted, matrix):
    return "mine", float(np.mean(np.abs(predicted - matrix.get_label())))


def scored(label, predicted):
    return float(np.mean(label == predicted))


class Half(pi_xgb.Teacher):
    """A teacher of the user's own class."""

    def q(self, mean, label, weight):
        return np.full_like(mean, 0.5)

    def subset(self, rows):
        return self


OWN_CODE = {
    "select": [
        {"custom_metric": mine, "maximize": False},
        {"metric": make_scorer(scored)},
        {"folds": KFold(3)},
        {"constraints": [(Half(), 1.0)]},
    ],
    "compare": [
        {"custom_metric": mine, "maximize": False},
        {"metric": make_scorer(scored)},
        {"folds": KFold(2)},
        {"constraints": [(Half(), 1.0)]},
    ],
    "cv": [
        {"custom_metric": mine},
        {"folds": KFold(3)},
        {"fpreproc": lambda dtrain, dtest, params: (dtrain, dtest, params)},
        {"callbacks": [xgb.callback.EarlyStopping(rounds=2)]},
        {"teacher": Half(), "privileged": None, "kl_weight": [0.0, 1.0]},
    ],
}


@pytest.mark.parametrize(
    ("name", "code"),
    [(name, code) for name, codes in OWN_CODE.items() for code in codes],
    ids=lambda value: value if isinstance(value, str) else next(iter(value)),
)
def test_code_of_the_users_needs_a_key(name, code, tmp_path, monkeypatch):
    path, search = tmp_path / "state.json", SEARCHES[name][0]
    with monkeypatch.context() as patch:
        patch.setattr(xgb, "train", None)
        patch.setattr(xgb, "cv", None)
        with pytest.raises(ValueError, match=f"^resume_key .* code in {next(iter(code))}: "):
            search(path, **code)
    assert not path.exists()
    first = search(path, **code, resume_key="1")
    with monkeypatch.context() as patch:
        patch.setattr(xgb, "train", None)
        patch.setattr(xgb, "cv", None)
        pd.testing.assert_frame_equal(search(path, **code, resume_key="1"), first)
        with pytest.raises(ValueError, match="belongs to another search"):
            search(path, **code, resume_key="2")


@every_search
def test_a_key_alone_is_refused(search, parts):
    with pytest.raises(ValueError, match=r"resume_key .*got '1' alone: pass resume"):
        search(None, resume_key="1")


@pytest.mark.parametrize("search", [select, compare])
def test_a_metric_by_name_needs_no_key_and_is_part_of_the_search(search, tmp_path):
    path = tmp_path / "state.json"
    first = search(path, metric="roc_auc")
    pd.testing.assert_frame_equal(search(path, metric="roc_auc"), first)
    with pytest.raises(ValueError, match="belongs to another search"):
        search(path, metric="neg_brier_score")


@pytest.mark.parametrize("kind", [pd.Series, polars.Series])
def test_every_value_of_a_teacher_is_part_of_the_search(kind, tmp_path):
    q = np.full(N, 0.5)
    keywords = {"privileged": None, "kl_weight": [0.0, 1.0]}
    cv(tmp_path / "state.json", teacher=kind(q), **keywords)
    cv(tmp_path / "state.json", teacher=kind(q.copy()), **keywords)
    q[N // 2] = 0.9
    with pytest.raises(ValueError, match="belongs to another search"):
        cv(tmp_path / "state.json", teacher=kind(q), **keywords)


@every_search
def test_a_state_is_kept_in_a_file(search, parts):
    with pytest.raises(TypeError, match=r"resume.*file.*3"):
        search(3)


def search_with(search, path, label):
    dtrain, privileged = matrices(label)
    if search is cv:
        return pi_xgb.cv(PARAMS, dtrain, 4, privileged=privileged, kl_weight=[0.0, 1.0, 5.0], nfold=3, resume=path)
    return pi_xgb.select(PARAMS, dtrain, 4, privileged=privileged, resume=path, **SELECTED)


@every_search
def test_files_that_keep_no_search(search, parts, tmp_path, monkeypatch):
    monkeypatch.setattr(xgb, "train", None)
    monkeypatch.setattr(xgb, "cv", None)
    for content in (b"", b"{}", b"[1]", b"\xff\x00", b'{"finished": 3}', b"3"):
        (tmp_path / "state.json").write_bytes(content)
        with pytest.raises(ValueError, match=r"resume must .*state.json', which is not a resume file"):
            search(tmp_path / "state.json")
        assert (tmp_path / "state.json").read_bytes() == content
    with pytest.raises(IsADirectoryError, match="resume must name a file"):
        search(tmp_path)
    with pytest.raises(FileNotFoundError, match="does not exist: create it first"):
        search(tmp_path / "absent" / "state.json")


def test_one_kl_weight_is_no_grid(tmp_path):
    with pytest.raises(ValueError, match="resume needs several values of kl_weight"):
        cv(tmp_path / "state.json", kl_weight=1.0)


def test_cv_says_which_kl_weight_it_is_at(capsys):
    cv(None, verbose_eval=2, show_stdv=False)
    lines = capsys.readouterr().out.split("\n")
    assert [line.split("\t")[0] for line in lines if line] == [
        f"kl_weight {weight} [{round_}]" for weight in (0, 1, 5) for round_ in (0, 2, 3)
    ]
    cv(None, verbose_eval=True, kl_weight=1.0)
    assert capsys.readouterr().out.startswith("[0]\ttrain-logloss")


@pytest.mark.parametrize("crossfit", [0, 2])
def test_the_training_of_a_teacher_can_be_watched(crossfit, capsys):
    dprivileged = matrices()[1]
    known = np.arange(N) < 90
    keywords = {"crossfit": crossfit, "labelled": known, "evals": [(dprivileged, "all")]}
    teacher = pi_xgb.fit_teacher(PARAMS, dprivileged, 3, verbose_eval=True, **keywords)
    lines = capsys.readouterr().out.strip().splitlines()
    assert [line.split("\t")[0] for line in lines[:-1]] == [f"[{i}]" for _ in range(max(crossfit, 1)) for i in range(3)]
    q, y = teacher.values[known].astype(float), DATA.y[known].to_numpy()
    logloss = -np.mean(np.where(y == 1, np.log(q), np.log(1 - q)))
    found, _, rest = lines[-1].removeprefix("teacher: q-logloss:").partition(" ")
    assert float(found) == pytest.approx(logloss, abs=2e-6)
    assert rest == "on 90 labelled rows, " + ("out of 2 folds" if crossfit else "its training rows")
    again = pi_xgb.fit_teacher(PARAMS, dprivileged, 3, **keywords)
    assert capsys.readouterr().out == ""
    np.testing.assert_array_equal(again.values, teacher.values)


@pytest.mark.parametrize("given", [{}, {"nthread": 2}, {"n_jobs": 2}])
@pytest.mark.parametrize("as_pairs", [False, True])
def test_few_rows_train_on_one_thread_unless_the_user_says_otherwise(given, as_pairs, monkeypatch):
    params = {name: value for name, value in PARAMS.items() if name != "nthread"} | given
    before = dict(params)
    seen = []

    def watched(original):
        @functools.wraps(original)
        def called(chosen, *args, **kwargs):
            seen.append(dict(chosen).get("nthread", dict(chosen).get("n_jobs")))
            return original(chosen, *args, **kwargs)

        return called

    instead_of_trainings(monkeypatch, watched)
    dtrain, privileged = matrices()
    found = params if not as_pairs else list(params.items())
    pi_xgb.cv(found, dtrain, 2, privileged=privileged, kl_weight=[0.0, 1.0])
    selection = pi_xgb.select(found, dtrain, 2, privileged=privileged, standard_errors=0.0, **SELECTED)
    pi_xgb.compare(DATA.x, DATA.y, DATA.z, **{**COMPARED, "params": found, "num_boost_round": 2})
    assert set(seen) == {2 if given else 1}
    seen.clear()
    # The model that is used later has the threads that it was asked for.
    selection.train(dtrain, privileged=privileged)
    assert seen[-1] == (2 if given else None)
    assert params == before
    monkeypatch.setattr("pi_xgb._xgb.threads.FEW_ROWS", N - 1)
    seen.clear()
    pi_xgb.cv(found, dtrain, 2, privileged=privileged, kl_weight=1.0)
    assert set(seen) == {2 if given else None}


def test_a_teacher_with_params_of_its_own_has_its_own_threads_too(monkeypatch):
    dtrain, privileged = matrices()
    original, seen, how = xgb.train, set(), {**SELECTED, "method": "kbpib", "teacher": "boosted"}
    monkeypatch.setattr(
        xgb,
        "train",
        lambda own, *args, **how: seen.add((own["eta"], own.get("nthread"))) or original(own, *args, **how),
    )
    for threads, of_teacher in ({}, 1), ({"nthread": 2}, 2):
        seen.clear()
        teacher_params = {"max_depth": 1, "eta": 0.9, **threads}
        pi_xgb.select(PARAMS, dtrain, 2, privileged=privileged, teacher_params=teacher_params, **how)
        assert seen == {(PARAMS["eta"], 1), (0.9, of_teacher)}


@pytest.mark.slow
@pytest.mark.parametrize("given", [{}, {"nthread": 1}])
def test_folds_of_few_rows_run_side_by_side_unless_the_user_says_otherwise(given, monkeypatch):
    params = {name: value for name, value in PARAMS.items() if name != "nthread"} | given
    dtrain, privileged = matrices()
    requested = []
    monkeypatch.setattr("pi_xgb._xgb.threads.usable_cores", lambda: 3)
    monkeypatch.setattr("pi_xgb._xgb.threads.ThreadPoolExecutor", lambda jobs: requested.append(jobs) or Pool(jobs))
    calls = {
        "select": lambda **more: pi_xgb.select(params, dtrain, 2, privileged=privileged, **SELECTED, **more).table,
        "compare": lambda **more: (
            pi_xgb.compare(DATA.x, DATA.y, DATA.z, **{**COMPARED, "params": params, "num_boost_round": 2}, **more).table
        ),
        "cv": lambda **more: pi_xgb.cv(params, dtrain, 2, privileged=privileged, kl_weight=[0.0, 1.0], **more),
    }
    for name, call in calls.items():
        requested.clear()
        by_default = call()
        assert requested == ([] if given else [3])
        pd.testing.assert_frame_equal(call(n_jobs=1), by_default)
        assert len(requested) == (not given)
        # A function of the user's is not called from several threads unasked.
        requested.clear()
        call(custom_metric=lambda predicted, matrix: ("mine", 0.5), **({} if name == "cv" else {"maximize": True}))
        assert requested == []
    for more in ({"callbacks": [xgb.callback.EvaluationMonitor(logger=lambda line: None)]}, {"verbose_eval": True}):
        calls["cv"](**more)
        assert requested == []
    monkeypatch.setattr("pi_xgb._xgb.threads.FEW_ROWS", 1)  # the rows of a fold are many as well
    for call in calls.values():
        call()
        assert requested == []


class Pool(ThreadPoolExecutor):
    """A pool that another stands in front of."""


def test_a_long_search_says_at_once_how_long_it_takes(capsys, monkeypatch):
    clock = [0.0]
    monkeypatch.setattr(time, "monotonic", lambda: clock[0])
    monkeypatch.setattr("sys.stderr.isatty", lambda: False)
    for seconds, result in ((1.0, ["search: 3 of 60, 3 s, about 57 s left"]), (0.5, []), (0.4, [])):
        with progress_bar(60, "search", None, 3) as step:
            for _ in range(20):
                clock[0] += seconds
                step()
        # The estimate comes with the first fold, and the next line half a minute later; short searches tell nothing.
        assert capsys.readouterr().err.splitlines() == result
