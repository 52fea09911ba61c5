"""What a long search keeps: its finished parts, and the digest of all that they depend on."""

from __future__ import annotations

import copy
import dataclasses
import functools
import itertools
import json
import os
import subprocess
import sys
import textwrap
import threading

import numpy as np
import pandas as pd
import polars
import pytest
import xgboost as xgb

import pi_xgb
from pi_xgb._core.resume_cache import ResumeCache, _digest

X, Y = np.arange(12.0).reshape(6, 2), np.arange(6.0)


@dataclasses.dataclass
class Part:
    rows: object


class Says(pi_xgb.Teacher):
    def __init__(self, value):
        self.value = value


def long_array(middle):
    """Too long to be shown in full."""
    values = np.zeros(3000)
    values[1500] = middle
    return values


def to_the(power, by=np.mean):
    """Closures of one name and one code."""
    return lambda told: by(told) ** power


def with_default(power):
    def metric(told, by=power, *, offset=-power):
        return told * by + offset

    return metric


class Scales:
    def __init__(self, by):
        self.by = by

    def __call__(self, told):
        return told * self.by

    def of(self, told):
        return self(told)


class Slotted:
    __slots__ = ("by",)

    def __init__(self, by):
        self.by = by


TOLD = [
    None,
    "None",
    True,
    1,
    1.5,
    "a",
    ["a"],
    [["a"]],
    ["a", "b"],
    [1, 23],
    [12, 3],
    [["a"], "b"],
    [["a"], ["b"]],
    [["a"], ["b", "c"]],
    [["a", "b"], ["c"]],
    {"a": "b"},
    {"a": "c"},
    {"b": "b"},
    np.zeros(2, np.float32),
    np.zeros(1, np.float64),
    np.zeros((1, 2), np.float32),
    np.ones(2, np.float32),
    np.array(["a", "b"]),
    np.array(["a", {"b": 1}], dtype=object),
    np.array(["a", {"b": 2}], dtype=object),
    long_array(1),
    long_array(2),
    Part(long_array(1)),
    Part(long_array(2)),
    Part,
    Says,
    Says(long_array(1)),
    Says(long_array(2)),
    len,
    long_array,
    *(kind(long_array(middle)) for kind in (pd.Series, pd.DataFrame, polars.Series) for middle in (1, 2)),
    pd.Series(long_array(1), np.arange(1, 3001)),
    pd.Series(long_array(1), dtype="float32"),
    pd.DataFrame({"other": long_array(1)}),
    polars.DataFrame({"a": long_array(1)}),
    polars.DataFrame({"b": long_array(1)}),
    pd.Series(["a", "b"], dtype="category"),
    pd.Series(["a", "c"], dtype="category"),
    Says(pd.Series(long_array(1))),
    Says(pd.Series(long_array(2))),
    *(kind(power) for kind in (to_the, with_default, Scales, Slotted) for power in (1, 4)),
    to_the(1, np.max),
    Scales(1).of,
    Scales(4).of,
    functools.partial(long_array, middle=1),
    functools.partial(long_array, middle=4),
    lambda told: told.mean(),
    lambda told: told.max(),
    lambda told: [one + 1 for one in told],
    lambda told: [one + 2 for one in told],
    lambda told: told in {"a", "b"},
    lambda told: told in {"a", "c"},
    {"a", "b"},
    {"a", "c"},
    xgb.callback.LearningRateScheduler(lambda step: 0.3),
    xgb.callback.LearningRateScheduler(lambda step: 0.001),
]


class Stubborn:
    """It cannot be pickled."""

    def __init__(self, by):
        self.by = by

    def __reduce_ex__(self, protocol):
        raise RuntimeError("not me")


def test_nothing_is_too_odd_to_be_told():
    def itself():
        return itself

    def empty():
        return later

    around = [1]
    around.append(around)
    both = Says(None), Says(None)
    both[0].value, both[1].value = both[::-1]
    surrogate = "\ud800"
    for one in (itself, empty, around, both, threading.Lock(), iter("ab"), surrogate, np.array({"a": 1}, object)):
        assert _digest(one) == _digest(one)
    records = [np.array([("a", held)], dtype=[("name", object), ("held", object)]) for held in ([1], [1], [2])]
    assert _digest(records[0]) == _digest(records[1]) != _digest(records[2])
    assert _digest(Stubborn(1)) == _digest(Stubborn(1)) != _digest(Stubborn(2))
    later = 0
    nested = []
    for _ in range(10_000):
        nested = [nested]
    assert _digest(nested)


@pytest.mark.slow
def test_another_process_tells_the_same():
    code = """
        import functools, threading, xgboost as xgb
        from sklearn.metrics import get_scorer
        from pi_xgb._core.resume_cache import _digest

        class Odd:
            def __init__(self):
                self.names, self.lock, self.inner = {"a", "b", "c", len, Odd}, threading.Lock(), object()

            def __call__(self, told, names=frozenset("defg")):
                return told in {"a", "b", "c"} or self.names

        odd = Odd()
        told = (odd, odd.__call__, functools.partial(odd), lambda: odd, get_scorer("accuracy"))
        print(_digest((told, xgb.callback.EvaluationMonitor(), xgb.callback.LearningRateScheduler(odd))))
    """
    digests = {
        subprocess.run(
            [sys.executable, "-c", textwrap.dedent(code)],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            check=True,
        ).stdout
        for seed in "12"
    }
    assert len(digests) == 1


def test_what_differs_has_another_digest_and_what_is_the_same_has_the_same():
    for one, other in itertools.combinations(TOLD, 2):
        assert _digest(one) != _digest(other), (one, other)
    for one in TOLD:
        assert _digest(one) == _digest(copy.deepcopy(one))
    # However it lies in memory, and whichever sort of sequence holds it.
    assert _digest(X[:, ::-1]) == _digest(X[:, ::-1].copy())
    assert _digest((1, [2])) == _digest([1, (2,)])


def test_matrices_and_boosters_are_told_apart_by_all_that_they_hold():
    def matrix(x=X, y=Y, **more):
        return xgb.DMatrix(x, y, **more)

    gap = np.where(X == 3, np.nan, X)
    made = [
        matrix(),
        matrix(X + (X == 3)),
        matrix(gap),
        matrix(X, Y + 1),
        matrix(feature_names=["a", "b"]),
        matrix(feature_types=["int", "int"]),
    ]
    digests = [_digest(one) for one in made]
    assert len(set(digests)) == len(made)
    assert _digest(matrix()) == digests[0]
    one, other = (xgb.train({"max_depth": depth, "nthread": 1}, made[0], 2) for depth in (1, 2))
    assert _digest(one) == _digest(one.copy()) != _digest(other)


def test_parts_are_worked_on_once_and_kept_as_they_come(tmp_path):
    path, calls = tmp_path / "state.json", []

    def work(item):
        calls.append(item)
        return {"of": np.arange(3) * item, "mean": np.float32(item)}

    for _ in range(2):
        cache = ResumeCache(path, "search", X)
        once = cache.memoize(work, "part {}".format)
        for item in (1, 2, 1):
            result = once(item)
            assert [*result["of"]] == [0, item, 2 * item]
        assert "part 2" in cache
        assert "part 3" not in cache
        state = json.loads(path.read_text())
        assert state["finished"] == {f"part {i}": {"of": [0, i, 2 * i], "mean": i} for i in (1, 2)}
    assert calls == [1, 2]
    read_back = ResumeCache(path, "search", X).memoize(work, "part {}".format, read=lambda found: found["mean"])
    assert read_back(2) == 2
    for what, told in (("search", X + 1), ("other", X)):
        with pytest.raises(ValueError, match="keeps another search"):
            ResumeCache(path, what, told)


def test_without_a_file_nothing_is_kept():
    cache, calls = ResumeCache(None, "search", X), []
    once = cache.memoize(lambda item: calls.append(item) or item, str, written=None)
    assert [once(1), once(1)] == [1, 1]
    assert calls == [1, 1]
    assert "1" not in cache
