"""Tables from CSV and Parquet files: only the needed columns, each with its type."""

from __future__ import annotations

import contextlib
import io
import re
import sys
import zipfile
import zlib
from collections import Counter
from collections.abc import Callable, Collection, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from .._rows.names import describe
from .._rows.words import EMPTY, PARQUET, is_text

Log = Callable[[str], None]
"""A function that prints a message of a command."""

_SEMICOLONS = "; is it separated by semicolons? Save it with commas, and with points in decimal numbers"
MARKS = frozenset(("", *EMPTY))
"""Common spellings of a missing value."""
_SPELLINGS = [text for mark in sorted(MARKS) for text in (mark, f" {mark}", f"{mark} ", f" {mark} ")]
_SAMPLE = 20
_BROKEN: tuple[type[Exception], ...] = (EOFError, OSError, zlib.error, zipfile.BadZipFile)
"""The errors for compressed files that are truncated, or compressed in another format."""
with contextlib.suppress(ImportError):  # some builds of Python lack it
    from lzma import LZMAError

    _BROKEN += (LZMAError,)


class Source:
    """A file of rows, or ``-`` for standard input; its columns are read before its rows.

    The texts ``missing`` mark missing values in every column of a CSV file.
    """

    def __init__(self, name: str, missing: Sequence[str], log: Log) -> None:
        self.name = "standard input" if name == "-" else name
        self._missing, self._log = missing, log
        self.is_parquet = Path(name).suffix.lower() in PARQUET
        self._file: Any = name
        if name == "-":
            self._file = io.BytesIO(sys.stdin.buffer.read())
        elif not Path(name).exists():
            raise FileNotFoundError(f"there is no file {name!r}")
        elif Path(name).is_dir():
            raise ValueError(f"{name!r} is a folder: name a CSV or Parquet file")
        elif not Path(name).is_file():  # a pipe can be read once only
            self._file = io.BytesIO(Path(name).read_bytes())
        if missing and self.is_parquet:
            raise ValueError(f"--missing is for CSV files, got the Parquet file {name!r}: leave it out")
        self.row_names: set[str] = set()
        """The index columns of a pandas frame in a Parquet file; these name rows and are not features."""
        self.columns = self._header()
        check_no_nul(self.columns, f"the line of column names of {self.name}")

    def check_has(self, columns: Collection[str], what: str) -> None:
        """Raise if one of these columns is missing."""
        present = set(self.columns)
        missing = [column for column in columns if column not in present]
        if missing:
            raise ValueError(
                f"{self.name} has no column {describe(missing)}, which {what}: its columns are "
                f"{describe(self.columns)}{_SEMICOLONS * (len(self.columns) == 1 and ';' in self.columns[0])}"
            )

    def read(self, columns: Collection[str], *, as_text: Collection[str] = ()) -> pd.DataFrame:
        """Read these columns in the order of the file; those in ``as_text`` stay text in a CSV file."""
        needed = set(columns)
        wanted = [column for column in self.columns if column in needed]
        if self.is_parquet:
            frame = pd.read_parquet(self._file, columns=wanted).rename(
                columns=str
            )  # pandas may have named them by numbers
            named = [name for name in frame.index.names if name in needed]
            frame = (frame.reset_index(named) if named else frame)[wanted].reset_index(drop=True)
        else:
            frame = self._read_csv(wanted, as_text)
        if not len(frame):
            raise ValueError(f"{self.name} has a header and no rows")
        return frame

    def copy(self, columns: Sequence[str]) -> pd.DataFrame:
        """Read these columns; those of a CSV file stay text, with an empty text for an empty field."""
        if self.is_parquet:
            return self.read(columns)[columns]
        return self._csv(usecols=columns, dtype=str, na_filter=False)[columns]

    def _read_csv(self, wanted: list[str], as_text: Collection[str]) -> pd.DataFrame:
        """Read the wanted columns; marks such as NA are missing values in columns of numbers or booleans."""
        # With usecols pandas would silently cut surplus values of a row. Reading the other columns with one byte per
        # value costs little.
        needed, as_text = set(wanted), set(as_text)
        types: dict[Any, Any] = {name: "S1" for name in self.columns if name not in needed}
        types |= dict.fromkeys(needed & as_text, str)
        # Without low_memory=False a long column may be read as numbers here and text there.
        how: dict[str, Any] = {"keep_default_na": False, "low_memory": False}
        frame = self._csv(dtype=types, na_values=["", *self._missing], **how)
        frame = frame if wanted == self.columns else frame[wanted]
        marked = [name for name in wanted if name not in as_text and is_text(frame[name])]
        for n_rows in (_SAMPLE, None):  # the sample excludes most columns of text
            if marked:
                again = self._csv(usecols=marked, nrows=n_rows, na_values=["", *self._missing, *_SPELLINGS], **how)
                marked = [name for name in marked if not is_text(again[name])]
        if marked:
            first = frame[marked[:5]]
            marks = pd.unique(first.to_numpy(object)[again[marked[:5]].isna() & first.notna()])
            self._log(f"note: {self.name} has {describe(marks)} in {describe(marked)}: read as missing values")
            numbers = {name: again[name] for name in marked}
            frame = pd.DataFrame({name: numbers.get(str(name), column) for name, column in frame.items()}, copy=False)
        return frame

    def _header(self) -> list[str]:
        if self.is_parquet:
            schema = _parquet(self.name).read_schema(self._file)
            self.row_names = {
                name for name in (schema.pandas_metadata or {}).get("index_columns", ()) if name in schema.names
            }
            # pandas stores an unnamed index in a column of this name.
            return [name for name in schema.names if not name.startswith("__index_level_")]
        # With the next line: if it were longer, pandas would read its first values as row names.
        line: list[str] = self._csv(header=None, nrows=2, dtype=str, na_filter=False).iloc[0].tolist()
        names = [name or f"Unnamed: {i}" for i, name in enumerate(line)]  # the names of pandas
        duplicates = [name for name, times in Counter(names).items() if times > 1]
        if duplicates:
            raise ValueError(f"{self.name} has the column {duplicates[0]!r} twice: give each column its own name")
        return names

    def _csv(self, **options: Any) -> pd.DataFrame:
        if isinstance(self._file, io.BytesIO):
            self._file.seek(0)
            if self._file.getvalue()[:2] == b"\x1f\x8b":
                options["compression"] = "gzip"
        try:
            frame: pd.DataFrame = pd.read_csv(self._file, **options)
        except pd.errors.EmptyDataError:
            raise ValueError(f"{self.name} is empty: write a line of column names and rows") from None
        except UnicodeDecodeError as error:
            raise ValueError(f"{self.name} is not UTF-8 text ({error}): save it as UTF-8") from error
        except pd.errors.ParserError as error:
            raise ValueError(f"{self.name} is not a CSV table: {_fault(error)}") from error
        except _BROKEN as error:
            if getattr(error, "errno", None) is not None:  # an error of the disk, not of the content
                raise
            raise ValueError(
                f"{self.name} cannot be unpacked ({error}): it is truncated or has the wrong ending, so copy or "
                "compress it again, or give it another ending"
            ) from error
        return frame


def check_no_nul(texts: Sequence[Any], place: str) -> None:
    """Raise for texts that XGBoost and NumPy would truncate."""
    if any("\0" in str(text) for text in texts):
        raise ValueError(f"{place} must have no NUL character, which ends texts in XGBoost: remove it, or leave it out")


def _fault(error: pd.errors.ParserError) -> str:
    """Return the error of pandas in terms of the file."""
    counts = re.search(r"Expected (\d+) fields in line (\d+), saw (\d+)", str(error))
    if counts is None:
        return str(error).strip()
    columns, line, values = counts.groups()
    return (
        f"line {line} has {values} values for {columns} columns; give every column a name (row names of R: "
        "write.csv(..., row.names = FALSE)), put a value with a comma in quotes, and end no line with a comma"
        f"{_SEMICOLONS * (columns == '1')}"
    )


def written(frame: pd.DataFrame, path: Path) -> bytes:
    """Return the table as CSV or Parquet, by the ending of the path."""
    if path.suffix.lower() in PARQUET:
        _parquet(str(path))
        buffer = io.BytesIO()
        frame.to_parquet(buffer)
        return buffer.getvalue()
    return frame.to_csv(index=False).encode()


def _parquet(name: str) -> Any:
    try:
        from pyarrow import parquet
    except ImportError as error:
        raise ImportError(f'{name}: Parquet files need pyarrow: pip install ".[parquet]" in a checkout') from error
    return parquet
