"""The smallest settings under which ``compare`` and ``select`` still do all that they do."""

from __future__ import annotations

from typing import Any

PARAMS = {"objective": "binary:logistic", "max_depth": 2, "eta": 0.3, "nthread": 1}
ROUNDS = 5
METHODS, SEES = ("kbpib", "jpib"), ("privileged", "all")
COMPARED: dict[str, Any] = {
    "params": PARAMS,
    "num_boost_round": ROUNDS,
    "kl_weight": 5.0,
    "method": "kbpib",
    "crossfit": 2,
    "nfold": 2,
    "repeats": 1,
    "progress": False,
}
