"""Tables from CSV and Parquet files: only the needed columns, each with its type."""

from __future__ import annotations

import io
import sys
import zipfile
import zlib
from collections.abc import Callable, Collection, Sequence
from lzma import LZMAError
from pathlib import Path
from typing import Any

import pandas as pd
from pandas.api.types import infer_dtype

from .._rows.labels import EMPTY, MISSING
from .._rows.names import describe

Log = Callable[[str], None]
"""A function that prints a message of a command."""

PARQUET = (".parquet", ".pq")
MARKS = frozenset(("", *EMPTY))
"""Common spellings of a missing value."""
_TRUTH = {spelling: word == "true" for word in ("true", "false") for spelling in (word, word.title(), word.upper())}
_FORM = (
    "it must be UTF-8 text (or packed as its ending says) with commas, not semicolons or tabs, between the values, "
    "points in decimal numbers, and a name for every column; a value with a comma needs quotes"
)


class Source:
    """A file of rows, or ``-`` for standard input; the columns of a CSV file are read before its rows.

    The texts ``missing`` mark missing values in every column of a CSV file.
    """

    def __init__(self, name: str, missing: Sequence[str], log: Log) -> None:
        self.name, self._log = name, log
        self._file: Any = name
        if name == "-":
            self.name, self._file = "standard input", io.BytesIO(sys.stdin.buffer.read())
        elif not Path(name).is_file():  # a pipe, which can be read once only, or an error
            self._file = io.BytesIO(Path(name).read_bytes())
        self.is_parquet = Path(name).suffix.lower() in PARQUET
        self.row_names: set[str] = set()
        """The index columns of a pandas frame: in a CSV file those without a name. They are not features."""
        if self.is_parquet:
            if missing:
                raise ValueError(f"--missing is for CSV files, got the Parquet file {name!r}: leave it out")
            self._frame = self._read_parquet()
            self.columns = [str(column) for column in self._frame]
            return
        self._marks = ["", *missing]
        # With the next line: if it were longer, pandas would read its first values as row names.
        head = self._csv(header=None, nrows=2, dtype=str, na_filter=False).iloc[0]
        if len(head) == 1 and (";" in head[0] or "\t" in head[0]):
            raise ValueError(f"{self.name} has one column, {head[0]!r}: {_FORM}")
        names = pd.Series([name or f"Unnamed: {i}" for i, name in enumerate(head)])  # as pandas will call them
        for name in names[names.duplicated()]:
            raise ValueError(f"{self.name} has the column {name!r} twice: give each column its own name")
        self.columns, self.row_names = names.tolist(), set(names[head == ""])
        if self.row_names:
            log(f"note: {self.name} has a column without a name, which is no feature: give it one if it is")

    def check_has(self, columns: Collection[str], what: str) -> None:
        """Raise if one of these columns is missing."""
        if missing := [column for column in columns if column not in self.columns]:
            known = describe(self.columns)
            raise ValueError(f"{self.name} has no column {describe(missing)}, which {what}: its columns are {known}")

    def read(self, columns: Collection[str], *, as_text: Collection[str] = ()) -> pd.DataFrame:
        """Read these columns in the order of the file; those in ``as_text`` stay text in a CSV file."""
        needed = set(columns)
        wanted = [column for column in self.columns if column in needed]
        if self.is_parquet:
            frame = self._frame[wanted]
        else:
            # With usecols pandas would silently cut surplus values of a row. Reading the other columns with one byte
            # per value costs little. Without low_memory=False a long column may be numbers here and text there.
            types: dict[str, Any] = {name: "S1" for name in self.columns if name not in needed}
            types |= {name: str for name in wanted if name in as_text}
            frame = self._csv(dtype=types, na_values=self._marks, keep_default_na=False, low_memory=False)[wanted]
            texts = [name for name in wanted if name not in as_text and infer_dtype(frame[name]) == "string"]
            read = {name: values for name in texts if (values := values_of(frame[name])) is not None}
            if marks := [mark for name, values in read.items() for mark in frame[name][values.isna()].dropna()]:
                found = describe(dict.fromkeys(marks))
                self._log(f"note: {self.name} has {found} in {describe(read)}: read as missing values")
            frame = frame.assign(**read)
        if not len(frame):
            raise ValueError(f"{self.name} has a header and no rows")
        return frame

    def copy(self, columns: list[str]) -> pd.DataFrame:
        """Read these columns; those of a CSV file stay text, with an empty text for an empty field."""
        frame = self._frame if self.is_parquet else self._csv(usecols=columns, dtype=str, na_filter=False)
        return frame[columns]

    def _csv(self, **options: Any) -> pd.DataFrame:
        if "header" not in options and len(self.columns) == 1:  # a blank line is a row
            options |= {"skip_blank_lines": False, "names": self.columns, "header": 0}
        if isinstance(self._file, io.BytesIO):
            self._file.seek(0)
        try:
            frame: pd.DataFrame = pd.read_csv(self._file, **options)
        except (ValueError, EOFError, OSError, zlib.error, zipfile.BadZipFile, LZMAError) as error:
            if getattr(error, "errno", None) is not None:  # an error of the disk, not of the content
                raise
            raise ValueError(f"{self.name} is not a readable CSV file, {str(error).strip()}: {_FORM}") from error
        return frame

    def _read_parquet(self) -> pd.DataFrame:
        try:
            frame = pd.read_parquet(self._file)
        except (OSError, ValueError) as error:  # pyarrow's errors are of these types
            raise ValueError(f"{self.name} is not a readable Parquet file ({error}): write it again") from error
        index = [name for name in frame.index.names if name is not None]
        self.row_names = {str(name) for name in index}
        return frame.reset_index(index).reset_index(drop=True).rename(columns=str)  # pandas may name by numbers


def values_of(texts: pd.Series[Any]) -> pd.Series[Any] | None:
    """Return a column of texts as numbers or booleans, NaN for marks; None if another text is in it."""
    codes, distinct = pd.factorize(texts)
    stripped = pd.Series(distinct.astype(object), dtype=object).str.strip()
    known = stripped[~stripped.isin(MARKS)]
    is_truth = len(known) > 0 and known.isin(_TRUTH).all()
    values = known.map(_TRUTH) if is_truth else pd.to_numeric(known, errors="coerce")
    return None if values.isna().any() else values.reindex(codes).set_axis(texts.index)


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
