"""One reader of groups: whatever holds them, whoever asks, rows fall into the same groups under the same names."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest
import xgboost as xgb
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pi_xgb import metrics
from pi_xgb._rows.groups import MISSING, as_groups
from pi_xgb.constraints import DemographicParity
from pi_xgb.importance import fair_importance

N_ROWS = 24
RNG = np.random.default_rng(0)
X = RNG.normal(size=(N_ROWS, 2))
Y = (X[:, 0] > 0).astype(int)
BOOSTER = xgb.train({"objective": "binary:logistic", "max_depth": 2, "nthread": 1}, xgb.DMatrix(X, Y), 2)

VALUES = {
    "text": st.sampled_from(["a", "b", None]),
    "whole": st.sampled_from([1, 2, None]),
    "float": st.sampled_from([0.5, 2.0, float("nan")]),
    "truth": st.booleans(),
}
CONTAINERS = {
    "list": list,
    "tuple": tuple,
    "objects": lambda column: np.array(column, dtype=object),
    "Series": lambda column: pd.Series(column, index=range(100, 100 + len(column))),
    "Categorical": pd.Categorical,
    "dict": lambda column: {"s": column},
    "polars": lambda column: pl.Series("s", column, strict=False),
}


@st.composite
def sensitive(draw):
    """One column in any container, or two in a table, a dict, a nested list or a polars table."""
    rows = [draw(st.lists(VALUES[draw(st.sampled_from(sorted(VALUES)))], min_size=N_ROWS, max_size=N_ROWS))]
    if draw(st.booleans()):
        return CONTAINERS[draw(st.sampled_from(sorted(CONTAINERS)))](rows[0])
    rows.append(draw(st.lists(VALUES["text"], min_size=N_ROWS, max_size=N_ROWS)))
    table = dict(zip(("name", "t"), rows, strict=True))  # a column like an attribute of pandas
    forms = (pd.DataFrame, dict, lambda t: [list(row) for row in zip(*t.values(), strict=True)], pl.DataFrame)
    return draw(st.sampled_from(forms))(table)


@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(sensitive())
@pytest.mark.slow
def test_metrics_constraints_and_importance_make_the_same_groups(features):
    groups = as_groups(features, N_ROWS)
    if groups.count < 2:
        for call in (
            lambda: metrics.statistical_parity(Y, Y, sensitive_features=features),
            lambda: DemographicParity(features),
            lambda: fair_importance(BOOSTER, X, Y, sensitive_features=features),
        ):
            with pytest.raises(ValueError, match=r"sensitive_features.*one group"):
                call()
        return
    rates = metrics.selection_rate(None, Y, sensitive_features=features)
    importance = fair_importance(BOOSTER, X, Y, sensitive_features=features)
    assert rates.index.tolist() == importance.attrs["groups"] == groups.names.tolist()
    assert rates.tolist() == [Y[groups.codes == code].mean() for code in range(groups.count)]
    by_code = fair_importance(BOOSTER, X, Y, sensitive_features=groups.codes)
    np.testing.assert_array_equal(importance["fair_importance"], by_code["fair_importance"])
    is_known = np.array([MISSING not in (name if isinstance(name, tuple) else [name]) for name in groups.names])
    if is_known.sum() < 2:
        with pytest.raises(ValueError, match=r"sensitive_features.*one group"):
            DemographicParity(features)
        return
    p = RNG.random(N_ROWS).astype(np.float32)
    parity, codes = DemographicParity(features), np.where(is_known[groups.codes], groups.codes, None)
    assert set(parity.groups) == set(groups.names)
    np.testing.assert_array_equal(parity.q(p, Y, None), DemographicParity(codes).q(p, Y, None))


def test_group_names_may_have_lone_surrogates():
    # The text of pandas holds none.
    half = ["a", "\ud800", "a", "\ud800"]
    for column in (half, np.array(half), pd.Series(half, dtype=object), {"s": half}):
        assert as_groups(column).names.tolist() == ["a", "\ud800"]


def test_columns_of_different_lengths_are_refused():
    with pytest.raises(ValueError, match=r"sensitive_features\['b'\] must .* 2 rows, got 3"):
        DemographicParity({"a": [1, 2], "b": [1, 2, 3]})
    with pytest.raises(TypeError, match=r"sensitive_features\['a'\] must have one value per row, got 1"):
        DemographicParity({"a": 1})
