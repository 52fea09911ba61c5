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


def guiding(row, privileged, both):
    """The keywords of pi_xgb.train for a row of the tables."""
    if row.method == "plain":
        return {}
    if row.method == "jpib":
        return {"privileged": privileged, "method": "jpib", "kl_weight": row.kl_weight}
    how = {"teacher": row.teacher, "kl_weight": row.kl_weight, "crossfit": int(row.crossfit)}
    if row.teacher_sees == "student":
        return how
    sees_all = row.teacher_sees == "all"
    return {**how, "privileged": both if sees_all else privileged, "allow_overlap": sees_all}
