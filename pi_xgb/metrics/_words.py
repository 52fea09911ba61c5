"""The rows of a table of gaps as sentences."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

BEYOND, ALONE, CHANCE, UNDEFINED = "beyond chance", "unusual alone", "chance", "undefined"


def verdict(row: pd.Series[Any], confidence: float) -> str:
    """Return whether a gap is significant after Holm's correction, significant alone, not significant or undefined."""
    if not np.isfinite(row["p_value"]):
        return UNDEFINED
    if row["p_adjusted"] <= 1 - confidence:
        return BEYOND
    return ALONE if row["p_value"] <= 1 - confidence else CHANCE


def sentence(what: str, row: pd.Series[Any], confidence: float) -> str:
    """Return one gap with its groups, size and significance."""
    found = verdict(row, confidence)
    if found == UNDEFINED:
        return f"{what}: undefined, because a group lacks the compared rate."
    seen = f"{what}: {row['between']} differ by {row['value']:.3f}"
    chance = f", where chance alone gives {row['chance']:.3f}."
    if found == BEYOND:
        # A lower end of 0 must not contradict the test.
        from_low = f"{row['low']:.3f} to" if row.get("low") else "up to"
        true = f" (true gap {from_low} {row['high']:.3f})" if "high" in row else ""
        return f"{seen}{true}{chance} More than chance (p {row['p_adjusted']:.3f})."
    if found == ALONE:
        corrected = f"not after correction for all gaps (p {row['p_adjusted']:.3f}): repeat on new rows."
        return f"{seen}{chance} Significant alone (p {row['p_value']:.3f}), {corrected}"
    up_to = f"up to {row['high']:.3f}" if "high" in row else "of some size"
    return f"{seen}{chance} No more than chance (p {row['p_value']:.3f}); a true gap {up_to} is not ruled out."
