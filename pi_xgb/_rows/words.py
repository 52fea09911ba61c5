"""Words in columns of numbers: those that stand for a missing value, and those that are out of place."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd

PARQUET = (".parquet", ".pq")

_OF_LANGUAGES = ("NA", "N/A", "n/a", "NaN", "nan", "-NaN", "-nan", "NULL", "null", "None", "<NA>")
_OF_SPREADSHEETS = ("#N/A", "#N/A N/A", "#NA", "1.#IND", "-1.#IND", "1.#QNAN", "-1.#QNAN")
MISSING = (*_OF_LANGUAGES, *_OF_SPREADSHEETS)
"""What programs write where a number is missing. In a column of text each of them may be a name."""
EMPTY = (*MISSING, "NaT", "?", "-", ".")
"""What they write where there is no text."""


def is_text(column: pd.Series[Any]) -> bool:
    """Whether a column of a CSV file has something besides numbers, truth values and gaps."""
    return not pd.api.types.is_numeric_dtype(column.dtype) and pd.api.types.infer_dtype(column) == "string"


def first_text(column: pd.Series[Any], file: str) -> str:
    """The first value that is no number, and where it is."""
    values = column.astype(object)
    present = values.notna() & ~values.isin(MISSING)
    is_number = pd.to_numeric(values, errors="coerce").notna()
    is_truth = values.astype(str).str.lower().isin(["true", "false"])
    suspects = [present & ~is_number & ~is_truth, present & ~is_number, present]
    row = int(next((odd for odd in suspects if odd.any()), values.notna()).to_numpy().argmax())
    return f"{values.iloc[row]!r} in {place_of(row, file)}"


def place_of(row: int, file: str) -> str:
    """Where a reader finds a row, the first of which is 0 here: below the names of columns in a file with lines."""
    return f"row {row + 1}" if Path(file).suffix.lower() in PARQUET else f"line {row + 2}"
