"""Wilson's interval of a share: which true shares would make the one that was seen nothing unusual."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Values = NDArray[np.float64]


def wilson(share: Values, rows: Values, confidence: float) -> tuple[Values, Values]:
    """The ends of the interval of a share of so many rows, which need be no whole number; NaN where there is none.

    It asks the normal approximation of the true share, not of the seen one, so that it is as wide as it should be where
    0 or 1 was seen.

    Examples
    --------
    >>> low, high = wilson(np.array([0.0, 0.5, 1.0]), np.array([10.0, 10.0, 10.0]), 0.95)
    >>> low.round(2).tolist(), high.round(2).tolist()
    ([0.0, 0.24, 0.72], [0.28, 0.76, 1.0])
    """
    from scipy.special import ndtri

    z = float(ndtri((1 + confidence) / 2))
    known = rows + z**2
    middle = (share * rows + z**2 / 2) / known
    half = z / known * np.sqrt(share * (1 - share) * rows + z**2 / 4)
    return np.where(share <= 0, share, middle - half), np.where(share >= 1, share, middle + half)
