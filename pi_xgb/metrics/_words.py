"""What a table of gaps says, in sentences that claim no more than it does."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

BEYOND, ALONE, CHANCE, UNDEFINED = "beyond chance", "unusual alone", "chance", "undefined"


def verdict(row: pd.Series[Any], confidence: float) -> str:
    """Beyond chance for all that was looked at; unusual by itself alone; chance; or nothing can be said."""
    if not np.isfinite(row["p_value"]):
        return UNDEFINED
    if row["p_adjusted"] <= 1 - confidence:
        return BEYOND
    return ALONE if row["p_value"] <= 1 - confidence else CHANCE


def sentence(what: str, row: pd.Series[Any], confidence: float) -> str:
    """One gap: who, how much, how sure."""
    found = verdict(row, confidence)
    if found == UNDEFINED:
        return f"{what}: cannot be told, since a group lacks what is compared."
    seen = f"{what}: {row['between']} differ by {row['value']:.3f}"
    up_to = f"up to {row['high']:.3f}" if "high" in row else "of some size"
    if found == BEYOND:
        true = f" (true gap {row['low']:.3f} to {row['high']:.3f})" if "high" in row else ""
        return (
            f"{seen}{true}, where chance alone gives {row['chance']:.3f}. More than chance (p {row['p_adjusted']:.3f})."
        )
    if found == ALONE:
        return (
            f"{seen}, where chance alone gives {row['chance']:.3f}. Unusual by itself (p {row['p_value']:.3f}), not "
            f"among all that was looked at (p {row['p_adjusted']:.3f}): look again on fresh rows."
        )
    return (
        f"{seen}, where chance alone gives {row['chance']:.3f}. No more than chance (p {row['p_value']:.3f}); a true "
        f"gap {up_to} is not ruled out."
    )
