"""Long searches that are interrupted go on where they were."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
import xgboost as xgb
from helpers_selection import COMPARED, PARAMS
from sklearn.model_selection import KFold

import pi_xgb
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
    return pi_xgb.compare(DATA.x, DATA.y, DATA.z, resume=path, **{**COMPARED, "teacher": "boosted", **more}).table


SEARCHES = {"select": (select, 3), "compare": (compare, 2)}
every_search = pytest.mark.parametrize(("search", "parts"), SEARCHES.values(), ids=SEARCHES)


class Interrupted:
    """Rounds of XGBoost, until Ctrl-C comes at one of them."""

    def __init__(self, monkeypatch, at):
        self.calls, update = 0, xgb.Booster.update

        def counted(*args, **kwargs):
            self.calls += 1
            if self.calls == at:
                raise KeyboardInterrupt
            return update(*args, **kwargs)

        monkeypatch.setattr(xgb.Booster, "update", counted)


@every_search
@pytest.mark.slow
def test_an_interrupted_search_goes_on_where_it_was(search, parts, tmp_path, monkeypatch):
    path = tmp_path / "state.json"
    with monkeypatch.context() as patch:
        counted = Interrupted(patch, at=-1)
        whole = search(None)
        calls = counted.calls
    with monkeypatch.context() as patch:
        Interrupted(patch, at=calls)
        with pytest.raises(KeyboardInterrupt):
            search(path, n_jobs=2)
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


@every_search
@pytest.mark.slow
def test_the_state_of_another_search_is_refused(search, parts, tmp_path, monkeypatch):
    path = tmp_path / "state.json"
    search(path)
    monkeypatch.setattr(xgb, "train", None)
    for more in ({"nfold": 4}, {"seed": 1}, {"method": "jpib"} if search is not select else {"method": "kbpib"}):
        with pytest.raises(ValueError, match="belongs to another search"):
            search(path, **more)
    monkeypatch.setitem(PARAMS, "max_depth", 3)
    with pytest.raises(ValueError, match="belongs to another search"):
        search(path)


@every_search
@pytest.mark.slow
def test_pairs_of_rows_are_part_of_the_search(search, parts, tmp_path):
    path, order = tmp_path / "state.json", np.random.default_rng(0).permutation(N)
    pairs = [(order[i:], order[:i]) for i in (40, 60)]
    search(path, folds=pairs)
    state = path.read_bytes()
    search(path, folds=iter(pairs))
    assert path.read_bytes() == state
    with pytest.raises(ValueError, match="belongs to another search"):
        search(path, folds=[*pairs[:1], (order[61:], order[:61])])


def test_constraints_are_part_of_the_search(tmp_path):
    path, group = tmp_path / "state.json", np.arange(N) % 2
    select(path, constraints=[(DemographicParity(group), 2.0)])
    kept = path.read_bytes()
    # The same by another object, whose rows are the same.
    select(path, constraints=[(DemographicParity(group.copy()), 2.0)])
    assert path.read_bytes() == kept
    for others in (
        [],
        [(DemographicParity(group), 3.0)],
        [(DemographicParity(np.roll(group, 1) * (np.arange(N) > 5)), 2.0)],
        [(EqualizedOdds(group), 2.0)],
        [(DemographicParity(group, match="mean"), 2.0)],
    ):
        with pytest.raises(ValueError, match="belongs to another search"):
            select(path, constraints=others)


def mine(predicted, matrix):
    return "mine", float(np.mean(np.abs(predicted - matrix.get_label())))


class Half(pi_xgb.Teacher):
    """A teacher of the user's own class."""

    def q(self, mean, label, weight):
        return np.full_like(mean, 0.5)

    def subset(self, rows):
        return self


OWN_CODE = {
    "select": [{"custom_metric": mine, "maximize": False}, {"folds": KFold(3)}, {"constraints": [(Half(), 1.0)]}],
    "compare": [{"custom_metric": mine, "maximize": False}],
}


@pytest.mark.parametrize(
    ("name", "code"),
    [(name, code) for name, codes in OWN_CODE.items() for code in codes],
    ids=lambda value: value if isinstance(value, str) else next(iter(value)),
)
@pytest.mark.slow
def test_code_of_the_users_needs_a_key(name, code, tmp_path, monkeypatch):
    path, search = tmp_path / "state.json", SEARCHES[name][0]
    with monkeypatch.context() as patch:
        patch.setattr(xgb, "train", None)
        with pytest.raises(ValueError, match=f"^resume_key .* code in {next(iter(code))}: "):
            search(path, **code)
    assert not path.exists()
    first = search(path, **code, resume_key="1")
    with monkeypatch.context() as patch:
        patch.setattr(xgb, "train", None)
        pd.testing.assert_frame_equal(search(path, **code, resume_key="1"), first)
        with pytest.raises(ValueError, match="belongs to another search"):
            search(path, **code, resume_key="2")


def test_a_metric_by_name_needs_no_key_and_is_part_of_the_search(tmp_path):
    path = tmp_path / "state.json"
    first = select(path, metric="auc")
    pd.testing.assert_frame_equal(select(path, metric="auc"), first)
    with pytest.raises(ValueError, match="belongs to another search"):
        select(path, metric="error")


@every_search
def test_files_that_keep_no_search(search, parts, tmp_path, monkeypatch):
    monkeypatch.setattr(xgb, "train", None)
    for content in (b"", b"[1]", b"\xff\x00", b'{"finished": 3}'):
        (tmp_path / "state.json").write_bytes(content)
        with pytest.raises(ValueError, match=r"resume must .*state.json', which is not a resume file"):
            search(tmp_path / "state.json")
        assert (tmp_path / "state.json").read_bytes() == content
    with pytest.raises(IsADirectoryError, match="resume must name a file"):
        search(tmp_path)
    with pytest.raises(FileNotFoundError, match="does not exist: create it first"):
        search(tmp_path / "absent" / "state.json")
