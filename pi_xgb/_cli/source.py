"""Tables from CSV and Parquet files: only the columns that are needed, each as what it is."""

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
"""Takes the messages of a command."""

_SEMICOLONS = "; is it separated by semicolons? Save it with commas, and with points in decimal numbers"
MARKS = frozenset(("", *EMPTY))
"""What programs write for a missing value."""
_SPELLINGS = [text for mark in sorted(MARKS) for text in (mark, f" {mark}", f"{mark} ", f" {mark} ")]
_SAMPLE = 20
_BROKEN: tuple[type[Exception], ...] = (EOFError, OSError, zlib.error, zipfile.BadZipFile)
"""The errors for packed files that are cut off, or packed in another way."""
with contextlib.suppress(ImportError):  # some Pythons are built without it
    from lzma import LZMAError

    _BROKEN += (LZMAError,)


class Source:
    """A file of rows, or standard input as ``-``, whose columns are known before its rows are read.

    The texts ``missing`` are missing values in every column of a CSV file.
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
        elif not Path(name).is_file():  # a pipe, which can be read once
            self._file = io.BytesIO(Path(name).read_bytes())
        if missing and self.is_parquet:
            raise ValueError(f"--missing is for CSV files, and {name!r} marks missing values by itself: leave it out")
        self.row_names: set[str] = set()
        """Columns that are the index of a pandas frame in a Parquet file: they name rows, and are no features."""
        self.columns = self._header()
        check_no_nul(self.columns, f"the line of column names of {self.name}")

    def check_has(self, columns: Collection[str], what: str) -> None:
        """Every one of these columns is there."""
        there = set(self.columns)
        missing = [column for column in columns if column not in there]
        if missing:
            raise ValueError(
                f"{self.name} has no column {describe(missing)}, which {what}: its columns are "
                f"{describe(self.columns)}{_SEMICOLONS * (len(self.columns) == 1 and ';' in self.columns[0])}"
            )

    def read(self, columns: Collection[str], *, as_text: Collection[str] = ()) -> pd.DataFrame:
        """These columns in the order of the file, those of ``as_text`` of a CSV file as they are written."""
        asked = set(columns)
        wanted = [column for column in self.columns if column in asked]
        if self.is_parquet:
            frame = pd.read_parquet(self._file, columns=wanted)
            named = [name for name in frame.index.names if name in asked]
            frame = (frame.reset_index(named) if named else frame)[wanted].reset_index(drop=True)
        else:
            frame = self._read_csv(wanted, as_text)
        if not len(frame):
            raise ValueError(f"{self.name} has a header and no rows")
        return frame

    def copy(self, columns: Sequence[str]) -> pd.DataFrame:
        """These columns, of a CSV file as they are written, with an empty text for an empty field."""
        if self.is_parquet:
            return self.read(columns)[columns]
        return self._csv(usecols=columns, dtype=str, na_filter=False)[columns]

    def _read_csv(self, wanted: list[str], as_text: Collection[str]) -> pd.DataFrame:
        """Marks of missing values, such as NA, count as such where the rest of a column is numbers or truth values."""
        # With usecols pandas would cut off what a row has too much. A column that nobody wants costs next to nothing
        # where only a byte of each value is kept.
        kept, as_text = set(wanted), set(as_text)
        types: dict[Any, Any] = {name: "S1" for name in self.columns if name not in kept}
        types |= dict.fromkeys(kept & as_text, str)
        # Without low_memory=False a long column may be read as numbers here and text there.
        how: dict[str, Any] = {"keep_default_na": False, "low_memory": False}
        frame = self._csv(dtype=types, na_values=["", *self._missing], **how)
        frame = frame if wanted == self.columns else frame[wanted]
        marked = [name for name in wanted if name not in as_text and is_text(frame[name])]
        for n_rows in (_SAMPLE, None):  # the sample leaves few columns of text
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
            # An index without a name is in a column that pandas made up.
            return [name for name in schema.names if not name.startswith("__index_level_")]
        # With the line below: were it longer, pandas would take what is too much for names of rows.
        line: list[str] = self._csv(header=None, nrows=2, dtype=str, na_filter=False).iloc[0].tolist()
        names = [name or f"Unnamed: {i}" for i, name in enumerate(line)]  # as pandas calls them
        twice = [name for name, times in Counter(names).items() if times > 1]
        if twice:
            raise ValueError(f"{self.name} has the column {twice[0]!r} twice: give each column a name of its own")
        return names

    def _csv(self, **options: Any) -> pd.DataFrame:
        if isinstance(self._file, io.BytesIO):
            self._file.seek(0)
            if self._file.getvalue()[:2] == b"\x1f\x8b":
                options["compression"] = "gzip"
        try:
            frame: pd.DataFrame = pd.read_csv(self._file, **options)
        except pd.errors.EmptyDataError:
            raise ValueError(f"{self.name} is empty: a table begins with a line of column names") from None
        except UnicodeDecodeError as error:
            raise ValueError(f"{self.name} is no text in UTF-8 ({error}): save it as UTF-8") from error
        except pd.errors.ParserError as error:
            raise ValueError(f"{self.name} is no table in CSV format: {_fault(error)}") from error
        except _BROKEN as error:
            if getattr(error, "errno", None) is not None:  # of the disk, not of what the file has
                raise
            raise ValueError(
                f"{self.name} cannot be unpacked ({error}): it is cut off or not packed as its ending promises, so "
                "copy or pack it again, or give it another ending"
            ) from error
        return frame


def check_no_nul(texts: Sequence[Any], place: str) -> None:
    """An error for texts that XGBoost and NumPy would cut off."""
    if any("\0" in str(text) for text in texts):
        raise ValueError(f"{place} must have no NUL character, where XGBoost ends a text: mend it, or leave it out")


def _fault(error: pd.errors.ParserError) -> str:
    """What pandas found, in the terms of the file."""
    found = re.search(r"Expected (\d+) fields in line (\d+), saw (\d+)", str(error))
    if found is None:
        return str(error).strip()
    columns, line, values = found.groups()
    return (
        f"line {line} has {values} values for {columns} columns; give every column a name (row names of R: "
        "write.csv(..., row.names = FALSE)), put a value with a comma in quotes, and end no line with a comma"
        f"{_SEMICOLONS * (columns == '1')}"
    )


def written(frame: pd.DataFrame, path: Path) -> bytes:
    """The table as the bytes of a file of this name."""
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
        raise ImportError(f'{name}: Parquet files need pyarrow: pip install "pi-xgb[parquet]"') from error
    return parquet
