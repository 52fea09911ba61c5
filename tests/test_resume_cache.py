"""The file behind ``resume=``: what it depends on, when it needs a ``resume_key``, and how parts are read back."""

from __future__ import annotations

import datetime
import functools
import itertools
import json

import numpy as np
import pandas as pd
import polars
import pytest
import xgboost as xgb
from sklearn.metrics import make_scorer

import pi_xgb
from pi_xgb import constraints
from pi_xgb._selection.candidates import PLAIN, candidates_of
from pi_xgb._selection.resume_cache import ResumeCache, _digest

X, Y = np.arange(12.0).reshape(6, 2), np.arange(6.0)
PARAMS = {"objective": "binary:logistic", "max_depth": 1, "nthread": 1}


def digest(value, key=None):
    return _digest(key, {"value": value})


def long_array(middle):
    """Too long for its text to show every value."""
    values = np.zeros(3000)
    values[1500] = middle
    return values


def matrix(x=X, y=Y, **fields):
    made = xgb.DMatrix(x, y)
    made.set_info(**fields)
    return made


def teachers():
    group, truth = np.arange(6) // 2, np.arange(6) % 2
    privileged = xgb.DMatrix(X, truth)
    yield from (constraints.DemographicParity(item) for item in (group, truth))
    yield from (constraints.DemographicParity(group, soft=False), constraints.DemographicParity(group, match="mean"))
    yield from (constraints.EqualizedOdds(group), constraints.PredictiveParity(group))
    yield from (constraints.Meritocracy(Y), constraints.Meritocracy(Y % 3))
    yield from (constraints.IndividualFairness(features=X, k=k) for k in (1, 2))
    yield from (pi_xgb.ModelTeacher(lambda z: z[:, 0] / 20, item) for item in (X, X[::-1]))
    yield from (pi_xgb.fit_teacher(PARAMS, privileged, rounds, teacher="boosted", crossfit=0) for rounds in (1, 2))
    yield from (pi_xgb.JointTeacher(item, PARAMS) for item in (privileged, xgb.DMatrix(X + 1, truth)))


def values():
    """Values that all differ, made anew."""
    yield from (None, "None", True, "True", 1, "1", 1.5, float("nan"), "\ud800", b"a", {"a": "b"}, {"b": "b"})
    yield from (["a", "b"], [1, 23], [12, 3], [["a"], "b"], [["a"], ["b"]], [["a", "b"], ["c"]])
    yield from (np.zeros(2, np.float32), np.zeros(1), np.zeros((1, 2), np.float32), np.ones(2, np.float32))
    yield from (np.float32(1), np.array(["a", "b"]), np.array(["a", "c"], object), np.array(["a", 1], object))
    yield from (long_array(1), long_array(2), pd.Series(long_array(3)), pd.DataFrame(long_array(4)))
    yield from (long_array(6).astype(object), long_array(7).astype(object))
    yield from (polars.Series(long_array(5)), pd.Series(["a", "b", "b"], dtype="category"))
    yield from (np.array(["2020-01-01"], "M8[D]"), pd.Timestamp(0, tz="UTC"), datetime.date(2020, 1, 1), "2020-01-01")
    yield from (pd.Period("2020"), pd.Interval(0, 1), pd.Interval(0, 2))
    yield from (matrix(), matrix(X + (X == 3)), matrix(np.where(X == 3, np.nan, X)), matrix(y=Y + 1))
    yield from (matrix(feature_names=["a", "b"]), matrix(feature_types=["int", "int"]), matrix(weight=Y))
    yield from (matrix(base_margin=Y), matrix(label_lower_bound=Y), matrix(label_upper_bound=Y), matrix(group=[6]))
    yield from (xgb.train({"eta": eta, "nthread": 1}, matrix(), 1) for eta in (0.1, 0.2))
    yield from (PLAIN, *(candidates_of(PARAMS, "jpib", "boosted", None, None, weight) for weight in (1.0, 2.0)))
    yield from teachers()


def test_data_that_differ_have_another_digest_and_equal_data_the_same():
    digests = [digest(value) for value in values()]
    pairs = itertools.combinations(zip(digests, values(), strict=True), 2)
    assert not [(item, other) for (own, item), (others, other) in pairs if own == others]
    assert [digest(value) for value in values()] == digests
    # However it lies in memory, and whichever sequence holds it.
    assert digest(X[:, ::-1]) == digest(X[:, ::-1].copy())
    assert digest((1, [2])) == digest([1, (2,)])
    # The keyword and the key count as well.
    assert _digest(None, {"value": 1}) != _digest(None, {"other": 1})
    assert len({digest(1, key) for key in (None, "", "1", "2")}) == 4


@pytest.mark.parametrize("version", ["pi_xgb._selection.resume_cache.__version__", "xgboost.__version__"])
def test_file_of_another_version_is_refused(version, tmp_path, monkeypatch):
    path = tmp_path / "state.json"
    ResumeCache(path, None, "search", {"x": X}).once("part", lambda: 1)
    monkeypatch.setattr(version, "0.0")
    with pytest.raises(ValueError, match=r"belongs to another search .*versions.: pass another file"):
        ResumeCache(path, None, "search", {"x": X})


class Own(pi_xgb.Teacher):
    is_adaptive = False

    def q(self, mean, label, weight):
        return np.full_like(mean, 0.5)


class OwnParity(constraints.DemographicParity):
    """A constraint of the package with code of the user's."""


@pytest.mark.parametrize(
    "code",
    [
        long_array,
        functools.partial(long_array, middle=1),
        len,
        make_scorer(long_array),
        xgb.callback.EarlyStopping(rounds=2),
        Own(),
        OwnParity(["a", "b"] * 4),
        Own,
        iter("ab"),
    ],
    ids=lambda code: getattr(code, "__name__", type(code).__name__),
)
def test_code_needs_a_key_and_is_known_by_it_alone(code, tmp_path):
    for held in (code, [1, [code]], {"a": (code,)}):
        inputs = {"rows": X, "first": held, "second": code, "third": 1}
        with pytest.raises(ValueError, match=r"resume_key must be a text .* first, second: .*resume_key='1'"):
            ResumeCache(tmp_path / "state.json", None, "search", inputs)
        assert _digest("1", inputs) == _digest("1", inputs) != _digest("2", inputs)
        assert _digest("1", inputs) != _digest("1", {**inputs, "rows": X + 1})
    assert not list(tmp_path.iterdir())


def test_a_key_needs_a_file():
    with pytest.raises(ValueError, match=r"^resume_key .*got '1'"):
        ResumeCache(None, "1", "search", {})


def test_parts_are_worked_on_once_and_read_back(tmp_path):
    path, calls = tmp_path / "state.json", []
    for _ in range(2):
        cache = ResumeCache(path, None, "search", {"x": X})
        for item in (1, 2, 1):
            assert cache.once(f"part {item}", lambda item=item: calls.append(item) or [item, 0.1]) == [item, 0.1]
        assert "part 2" in cache
        assert "part 3" not in cache
        assert json.loads(path.read_text())["finished"] == {f"part {i}": [i, 0.1] for i in (1, 2)}
    assert calls == [1, 2]
    for search, x, key in (("search", X + 1, None), ("other", X, None), ("search", X, "1")):
        with pytest.raises(ValueError, match=r"belongs to another search"):
            ResumeCache(path, key, search, {"x": x})
