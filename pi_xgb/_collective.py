"""Numbers that must be the same on every worker of a distributed training."""

from __future__ import annotations

from typing import Any

import numpy as np
from xgboost import collective


def global_sum(values: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """The sum of these values over all workers; the values themselves where there is one."""
    if not collective.is_distributed():
        return values
    return collective.allreduce(np.ascontiguousarray(values, dtype=np.float64), collective.Op.SUM)
