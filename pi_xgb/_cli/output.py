"""Tables on standard output."""

from __future__ import annotations

from typing import Any

import pandas as pd

FORMATS = ("text", "csv")


def print_table(table: pd.DataFrame, how: str) -> None:
    """For a person's eyes, or for another program."""
    if how == "text":
        table = _with_intervals(table)
    text: Any = table.to_csv() if how == "csv" else table.to_string(float_format="{:.4f}".format) + "\n"
    print(text, end="")


def _with_intervals(table: pd.DataFrame) -> pd.DataFrame:
    """A value and its two bounds as one column."""
    bounded = [name for name in table if f"{name}_low" in table and f"{name}_high" in table]
    shown = {
        name: [
            f"{value:.3f} [{low:.3f}, {high:.3f}]"
            for value, low, high in table[[name, f"{name}_low", f"{name}_high"]].itertuples(index=False)
        ]
        for name in bounded
    }
    bounds = [f"{name}_{end}" for name in bounded for end in ("low", "high")]
    return table.drop(columns=bounds).assign(**{str(name): values for name, values in shown.items()})
