"""Text in numeric columns: texts for a missing value, and texts out of place."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd

PARQUET = (".parquet", ".pq")

_OF_LANGUAGES = ("NA", "N/A", "n/a", "NaN", "nan", "-NaN", "-nan", "NULL", "null", "None", "<NA>")
_OF_SPREADSHEETS = ("#N/A", "#N/A N/A", "#NA", "1.#IND", "-1.#IND", "1.#QNAN", "-1.#QNAN")
MISSING = (*_OF_LANGUAGES, *_OF_SPREADSHEETS)
"""Texts that programs write for a missing number. In a text column each of them may be a name."""
EMPTY = (*MISSING, "NaT", "?", "-", ".")
"""Texts that programs write for a missing text."""


def is_text(column: pd.Series[Any]) -> bool:
    """Return whether a column of a CSV file has other values than numbers, truth values and gaps."""
    return not pd.api.types.is_numeric_dtype(column.dtype) and pd.api.types.infer_dtype(column) == "string"


def first_text(column: pd.Series[Any], file: str) -> str:
    """Return the first value that is not a number, and its place."""
    values = column.astype(object)
    wrong = values.notna() & ~values.isin(MISSING) & pd.to_numeric(values, errors="coerce").isna()
    stray = wrong & ~values.astype(str).str.lower().isin(["true", "false"])
    row = int((stray if stray.any() else wrong).to_numpy().argmax())
    return f"{values.iloc[row]!r} in {place_of(int(values.index[row]), file)}"


def place_of(row: int, file: str) -> str:
    """Return the place of a row, counted from 0, in its file; lines of text files begin with the column names."""
    return f"row {row + 1}" if Path(file).suffix.lower() in PARQUET else f"line {row + 2}"
