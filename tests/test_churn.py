"""Changed decisions, counted row by row."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pi_xgb import metrics

scores = st.floats(0, 1, width=16)
rows = st.lists(st.tuples(scores, scores, st.booleans(), st.sampled_from("abc")), min_size=6, max_size=30)


def plainly(drawn, cut):
    """The shares of one group of rows."""
    flips = [(o > cut, n > cut, y) for o, n, y in drawn if (o > cut) != (n > cut)]
    return {
        "rows": len(drawn),
        "flips": len(flips) / len(drawn),
        "to_1": sum(now for _, now, _ in flips) / len(drawn),
        "to_0": sum(was for was, _, _ in flips) / len(drawn),
        "right_to_wrong": sum(was == y for was, _, y in flips) / len(drawn),
        "wrong_to_right": sum(now == y for _, now, y in flips) / len(drawn),
    }


@given(rows, scores)
def test_shares_are_those_of_a_loop(drawn, cut):
    old, new, y, group = map(np.array, zip(*drawn, strict=True))
    found = metrics.churn(old, new, y, threshold=cut, groups=group)
    parts = {"(all)": drawn} | {name: [row for row in drawn if row[3] == name] for name in sorted(set(group))}
    expected = pd.DataFrame({name: plainly([row[:3] for row in part], cut) for name, part in parts.items()}).T
    pd.testing.assert_frame_equal(found, expected, check_dtype=False, check_names=False)
    without = metrics.churn(old, new, threshold=cut)
    pd.testing.assert_frame_equal(without, found.iloc[:1, :4], check_names=False)


def test_groups_of_several_columns_are_intersections():
    groups = pd.DataFrame({"sex": ["f", "m", "f", "m"] * 2, "old": [True, True, False, False] * 2})
    found = metrics.churn([0.2] * 8, [0.2, 0.9] * 4, groups=groups)
    assert found["rows"].tolist() == [8, 2, 2, 2, 2]
    assert found["flips"].tolist() == [0.5, 0, 0, 1, 1]


def test_bad_input_is_refused():
    p, series = [0.1, 0.9], pd.Series([0, 1], ["a", "b"])
    for arguments, match in [
        ((p, [0.5]), "old and new.*2 and 1"),
        (([2, 0.1], p), "old.*2"),
        ((p, [0.1, np.nan]), "new.*1 missing"),
        ((p, p, [1, 2]), "y must be truth values.*2"),
        ((p, p, [1]), "y.*2.*1: give as many"),
        ((p, p, [1, np.nan]), "y must have a value.*1 missing.*: leave out rows"),
        ((p, p, None, 50), "threshold.*50"),
        ((p, p, None, 0.5, ["a"]), "groups.*2.*1"),
        ((p * 2, p * 2, None, 0.5, ["(all)", "(all)", "b", "b"]), r"groups must not contain '\(all\)'"),
        ((p * 2, p * 2, None, 0.5, list("abcd")), "groups makes 4 groups of 4 rows"),
        ((series, series[::-1]), "new and old have the same index in another order"),
        ((series, p, series[::-1]), "y and old have the same index in another order"),
        ((p, p, series, 0.5, series[::-1]), "groups and y have the same index in another order"),
        ((series, p, None, 0.5, series[::-1]), "groups and old have the same index in another order"),
    ]:
        with pytest.raises(ValueError, match=match):
            metrics.churn(*arguments)
