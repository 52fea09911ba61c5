"""Wilson's interval of a share: the true shares for which the observed share is not unusual."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Values = NDArray[np.float64]


def wilson(share: Values, rows: Values, confidence: float) -> tuple[Values, Values]:
    """Return the ends of the interval of a share of ``rows`` rows, which may be fractional; NaN where share is NaN.

    It uses the normal approximation at the true share, not at the observed one, so it keeps its width at observed
    shares of 0 and 1.

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
