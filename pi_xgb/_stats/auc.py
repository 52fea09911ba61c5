"""The area under the ROC curve."""

from __future__ import annotations

import numpy as np
import pandas as pd
from numpy.typing import NDArray


def area_under_curve(positive: NDArray[np.bool_], scores: NDArray[np.floating]) -> float:
    """Return the chance that a positive row has a higher score than a negative one; ties count half."""
    ranks = pd.Series(scores).rank().to_numpy()[positive]
    n_pairs = len(ranks) * (len(positive) - len(ranks))
    return float((ranks.sum() - len(ranks) * (len(ranks) + 1) / 2) / n_pairs)
