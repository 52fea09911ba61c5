"""Tables from CSV and Parquet files: only the columns that are needed, each as what it is."""

from __future__ import annotations

import contextlib
import gzip
import io
import re
import sys
import zipfile
import zlib
from collections import Counter
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from .._rows.names import describe as some
from .._rows.words import MISSING, PARQUET, is_text

_SAMPLE = 1000
_BROKEN: tuple[type[Exception], ...] = (EOFError, OSError, zlib.error, zipfile.BadZipFile)
"""What packed files say that are cut off, or packed in another way."""
with contextlib.suppress(ImportError):  # some Pythons are built without it
    from lzma import LZMAError

    _BROKEN += (LZMAError,)


class Source:
    """A file of rows, or standard input as ``-``, whose columns are known before its rows are read."""

    def __init__(self, name: str) -> None:
        self.name = "standard input" if name == "-" else name
        self._is_parquet = Path(name).suffix.lower() in PARQUET
        self._file: Any = name
        if name == "-":
            self._file = _kept(sys.stdin.buffer.read(), self.name)
        elif not Path(name).exists():
            raise FileNotFoundError(f"there is no file {name!r}")
        elif Path(name).is_dir():
            raise ValueError(f"{name!r} is a folder: name a CSV or Parquet file")
        elif not Path(name).is_file():  # a pipe, which can be read once
            self._file = _kept(Path(name).read_bytes(), self.name)
        self.row_names: set[str] = set()
        """Columns that are the index of a pandas frame in a Parquet file: they name rows, and are no features."""
        self.columns = self._header()
        if any("\0" in name for name in self.columns):
            raise ValueError(f"{self.name} has a NUL character in its line of column names: mend it")

    def check_has(self, columns: Collection[str], what: str) -> None:
        """Every one of these columns is there."""
        there = set(self.columns)
        missing = [column for column in columns if column not in there]
        if missing:
            raise ValueError(
                f"{self.name} has no column {some(missing)}, which {what}: its columns are {some(self.columns)}"
                f"{_semicolons(self.columns)}"
            )

    def read(
        self, columns: Collection[str], *, as_text: Collection[str] = (), copied: Collection[str] = ()
    ) -> pd.DataFrame:
        """These columns in the order of the file.

        Of a CSV file those of ``as_text`` letter by letter, those of ``copied`` too, and there an empty field is no
        missing value but an empty text.
        """
        asked = set(columns)
        wanted = [column for column in self.columns if column in asked]
        if self._is_parquet:
            frame = pd.read_parquet(self._file, columns=wanted)
            named = [name for name in frame.index.names if name in asked]
            frame = (frame.reset_index(named) if named else frame)[wanted].reset_index(drop=True)
        else:
            frame = self._read_csv(wanted, as_text, copied)
        if not len(frame):
            raise ValueError(f"{self.name} has a header and no rows")
        return frame

    def _read_csv(self, wanted: list[str], as_text: Collection[str], copied: Collection[str]) -> pd.DataFrame:
        """Words such as NA are missing in columns of numbers only, and a column is known when it was read.

        So a guess from the first rows comes first; where it was wrong, the column is read again.
        """
        letters = {name for name in wanted if name in as_text or name in copied}
        sample = self._csv(nrows=_SAMPLE)
        texts = letters | {name for name in wanted if is_text(sample[name])}
        frame = self._columns(wanted, letters, texts, copied)
        wrong = [name for name in wanted if name not in texts and is_text(frame[name])]
        if wrong:
            again = self._columns(wrong, set(), set(wrong), ())
            frame = frame.assign(**{name: again[name] for name in wrong})
        return frame

    def _columns(
        self, wanted: list[str], letters: Collection[str], texts: Collection[str], copied: Collection[str]
    ) -> pd.DataFrame:
        # With usecols pandas would cut off what a row has too much. A column that nobody wants costs next to nothing
        # where only a byte of it is kept.
        kept = set(wanted)
        types: dict[Any, Any] = {name: "str" if name in letters else "S1" for name in self.columns}
        types = {name: kind for name, kind in types.items() if name in letters or name not in kept}
        missing: dict[Any, Any] = {
            name: [""] if name in texts else ["", *MISSING] for name in wanted if name not in copied
        }
        # Without low_memory=False a long column may be read as numbers here and text there.
        return self._csv(dtype=types, keep_default_na=False, na_values=missing, low_memory=False)[wanted]

    def _header(self) -> list[str]:
        if self._is_parquet:
            schema = _parquet(self.name).read_schema(self._file)
            self.row_names = {
                name for name in (schema.pandas_metadata or {}).get("index_columns", ()) if name in schema.names
            }
            # An index without a name is in a column that pandas made up.
            return [name for name in schema.names if not name.startswith("__index_level_")]
        line: list[str] = self._csv(header=None, nrows=1, dtype=str, na_filter=False).iloc[0].tolist()
        twice = [name for name, times in Counter(line).items() if name and times > 1]
        if twice:
            raise ValueError(f"{self.name} has the column {twice[0]!r} twice: give each column a name of its own")
        first = self._csv(nrows=1)
        if not isinstance(first.index, pd.RangeIndex):
            raise ValueError(
                f"{self.name} has {first.shape[1]} column names and more values than that in line 2: give every "
                "column a name (row names of R: write.csv(..., row.names = FALSE)), put a value with a comma in "
                f"quotes, and end no line with a comma{_semicolons(line)}"
            )
        return [str(name) for name in first.columns]

    def _csv(self, **options: Any) -> pd.DataFrame:
        if isinstance(self._file, io.BytesIO):
            self._file.seek(0)
        try:
            frame: pd.DataFrame = pd.read_csv(self._file, **options)
        except pd.errors.EmptyDataError:
            raise ValueError(f"{self.name} is empty: a table begins with a line of column names") from None
        except UnicodeDecodeError as error:
            raise ValueError(f"{self.name} is no text in UTF-8 ({error}): save it as UTF-8") from error
        except pd.errors.ParserError as error:
            raise ValueError(f"{self.name} is no table in CSV format: {_told(error)}") from error
        except _BROKEN as error:
            if getattr(error, "errno", None) is not None:  # of the disk, not of what the file has
                raise
            raise ValueError(
                f"{self.name} cannot be unpacked ({error}): it is cut off or not packed as its ending says, so copy or "
                "pack it again, or name it by what it is"
            ) from error
        return frame


def _kept(content: bytes, name: str) -> io.BytesIO:
    """What can be read once only, to be read again; unpacked where gzip packed it."""
    try:
        return io.BytesIO(gzip.decompress(content) if content.startswith(b"\x1f\x8b") else content)
    except (EOFError, OSError, zlib.error) as error:
        raise ValueError(f"{name} begins as gzip begins, and cannot be unpacked: {error}") from error


def _told(error: pd.errors.ParserError) -> str:
    """What pandas found, in the terms of the file."""
    found = re.search(r"Expected (\d+) fields in line (\d+), saw (\d+)", str(error))
    if found is None:
        return str(error).strip()
    columns, line, values = found.groups()
    return f"line {line} has {values} values for {columns} columns; put a value with a comma in quotes"


def _semicolons(names: Sequence[str]) -> str:
    """A question for who has one column where several were meant."""
    if len(names) != 1 or ";" not in names[0]:
        return ""
    return "; is it separated by semicolons? Save it with commas, and with points in decimal numbers"


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
