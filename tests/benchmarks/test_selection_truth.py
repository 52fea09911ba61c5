"""What compare recommends on made data: the data, and the share of wrong verdicts."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

pytest.importorskip("sklearn", reason="the benchmarks need scikit-learn")

from benchmarks.selection import truth
from benchmarks.selection.truth_page import truth_section


@pytest.mark.parametrize("which", truth.TRUTHS)
def test_labels_and_privileged_features_are_as_named(which):
    x, z, y = truth.rows_of(which, seed=3)
    known = ~np.isnan(y)
    assert known.sum() == truth.LABELS.get(which, truth.ROWS)
    assert len(x) == len(z) == len(y) == known.sum() + truth.UNLABELLED.get(which, 0)
    correlation = abs(np.corrcoef(z[known, 0], y[known])[0, 1])
    assert correlation > 0.4 if which == truth.STRONG else correlation < 0.25


def test_the_wrong_verdicts_are_counted_by_truth():
    words = {
        truth.USELESS: ["student", *["plain XGBoost"] * 9],
        truth.STRONG: ["plain XGBoost", "best rival", *["student"] * 38],
        truth.SMOOTHING: [*["self-distillation"] * 5, *["undecided"] * 5],
    }
    lines = [
        {"truth": which, "seed": seed, "recommendation": word, "gain_student": 0.1}
        for which, own in words.items()
        for seed, word in enumerate(own)
    ]
    found = truth_section(pd.DataFrame(lines))
    assert [row.rpartition("| ")[2] for row in found[3:6]] == ["10.0% |", "5.0% |", "0.0% |"]
    assert found[7] == "The goal is missed where z useless. Mean gains in log loss over plain XGBoost:"
    assert (found[9], found[11]) == ("| data | student |", "| z useless | +0.100 |")
