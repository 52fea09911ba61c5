"""From the columns of a prepared set to XGBoost's matrices."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pandas as pd
import xgboost as xgb

from benchmarks.data.prepared import zero_as_missing


def matrix(
    features: pd.DataFrame,
    types: Sequence[str],
    label: npt.NDArray[np.int64],
    *,
    zeros_missing: bool,
    nthread: int | None = None,
) -> xgb.DMatrix:
    """The rows of ``features`` with their names and types; with ``zeros_missing`` a zero is a missing value."""
    part = zero_as_missing(features) if zeros_missing else features
    return xgb.DMatrix(
        part.to_numpy(dtype=np.float32),
        label=label,
        feature_names=[str(name) for name in features.columns],
        feature_types=list(types),
        enable_categorical=True,
        nthread=nthread,
    )
