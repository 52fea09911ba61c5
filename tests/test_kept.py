"""What a long search keeps: its finished parts, and the digest of all that they depend on."""

from __future__ import annotations

import copy
import dataclasses
import itertools
import json

import numpy as np
import pytest
import xgboost as xgb

import pi_xgb
from pi_xgb._core.kept import Kept, _digest

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
]


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
        kept = Kept(path, "search", X)
        once = kept.through(work, "part {}".format)
        for item in (1, 2, 1):
            result = once(item)
            assert [*result["of"]] == [0, item, 2 * item]
        assert "part 2" in kept
        assert "part 3" not in kept
        state = json.loads(path.read_text())
        assert state["finished"] == {f"part {i}": {"of": [0, i, 2 * i], "mean": i} for i in (1, 2)}
    assert calls == [1, 2]
    read_back = Kept(path, "search", X).through(work, "part {}".format, read=lambda found: found["mean"])
    assert read_back(2) == 2
    for what, told in (("search", X + 1), ("other", X)):
        with pytest.raises(ValueError, match="keeps another search"):
            Kept(path, what, told)


def test_without_a_file_nothing_is_kept():
    kept, calls = Kept(None, "search", X), []
    once = kept.through(lambda item: calls.append(item) or item, str, written=None)
    assert [once(1), once(1)] == [1, 1]
    assert calls == [1, 1]
    assert "1" not in kept
