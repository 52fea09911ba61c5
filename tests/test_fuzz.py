"""Calls that nobody thought of, with a fixed budget; `python -m benchmarks.fuzz --minutes N` goes on for longer."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks import fuzz

pytest.importorskip("polars")
pytest.importorskip("pyarrow")

pytestmark = pytest.mark.slow

CASES = {"estimators": 60, "functions": 60, "files": 60, "models": 40}


@pytest.mark.parametrize("target", fuzz.QUICK)
def test_every_call_ends_in_a_result_or_in_words(target):
    @settings(max_examples=CASES[target], deadline=None, database=None)
    @given(st.randoms(use_true_random=False))
    def check(rng):
        assert fuzz.TARGETS[target](rng) in ("worked", "refused")

    check()


def test_a_fault_is_one(monkeypatch):
    # The fuzzer itself: another error, and an array of the user's that was changed.
    with pytest.raises(fuzz.Fault, match="KeyError"):
        fuzz._ended({}.popitem)
    import numpy as np

    with pytest.raises(fuzz.Fault, match=r"array.*user's.*changed"):
        fuzz._check_unchanged([np.ones(2)], [np.zeros(2)])
