"""Finished parts of a long search, kept in a file, so that it goes on where it was interrupted."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import threading
import types
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import xgboost

from .._files import new_file, write_file
from .._version import __version__
from .._xgb.matrix import told_of_rows
from .teachers import Teacher


class ResumeCache:
    """The parts of one search by their names; without a file it keeps nothing."""

    def __init__(self, path: os.PathLike[str] | str | None, what: str, *told: Any) -> None:
        """Read what is there; ``told`` is all that the parts depend on."""
        if not (path is None or isinstance(path, (str, os.PathLike))):
            raise TypeError(f"resume must name a file, got {path!r}: pass its path")
        self._path = None if path is None else new_file(path, "resume", overwrite=True)
        self._lock = threading.Lock()
        self._finished: dict[str, Any] = {}
        self._of = ""
        if self._path is not None:
            self._of = f"{what} {_digest((__version__, xgboost.__version__, *told))}"
            self._finished = _read(self._path, self._of) if self._path.exists() else {}

    def __contains__(self, name: str) -> bool:
        return name in self._finished

    def memoize(
        self,
        work: Callable[[Any], Any],
        name_of: Callable[[Any], str],
        written: Callable[[Any], Any] = lambda result: result,
        read: Callable[[Any], Any] = lambda kept: kept,
    ) -> Callable[[Any], Any]:
        """``work``, unless its result is kept already; from any thread."""

        def once(item: Any) -> Any:
            name = name_of(item)
            if name in self._finished:
                return read(self._finished[name])
            result = work(item)
            if self._path is not None:
                with self._lock:
                    self._finished[name] = written(result)
                    content = json.dumps({"of": self._of, "finished": self._finished}, default=_plain)
                    write_file(self._path, content.encode(), overwrite=True)
            return result

        return once


def _read(path: Path, of: str) -> dict[str, Any]:
    try:
        state = json.loads(path.read_bytes())
        finished: dict[str, Any] = state["finished"]
        told = state["of"]
    except (ValueError, KeyError, TypeError) as error:
        raise ValueError(f"resume names {str(path)!r}, which keeps no search: name a file that is not there") from error
    if told != of:
        raise ValueError(
            f"resume names {str(path)!r}, which keeps another search (other rows, folds, params, candidates, "
            "functions, callbacks or versions): name another file, or delete this one"
        )
    return finished


def _plain(value: Any) -> Any:
    return value.tolist()


def _digest(told: Any) -> str:
    return _Feed().of(told)


class _Feed:
    """Feeds a digest with all of a value that a result may depend on, the same in every process.

    So no text that leaves something out or holds an address, and nothing in the order of a set.
    """

    def __init__(self, seen: Mapping[int, tuple[int, Any]] | None = None) -> None:
        self._digest = hashlib.sha256()
        self._seen = dict(seen or {})
        """Objects of other libraries, which may lead back to each other; held, so that no other gets their id."""
        self._path: list[int] = []

    def of(self, value: Any) -> str:
        """The digest with this value."""
        self._feed(value)
        return self._digest.hexdigest()

    def _say(self, text: str) -> None:
        # With an end, or 1 and 23 would be 12 and 3.
        self._digest.update(f"{text}\0".encode("utf-8", "backslashreplace"))

    def _feed(self, value: Any) -> None:
        if isinstance(value, _PLAIN):
            self._say(repr(value))
        elif isinstance(value, np.generic) or (isinstance(value, np.ndarray) and not value.dtype.hasobject):
            self._say(f"{value.dtype}{value.shape}")
            self._digest.update(np.ascontiguousarray(value).tobytes())
        elif id(value) in self._path or len(self._path) == _DEEPEST:
            self._say(f"again {_name(type(value))}")
        else:
            self._path.append(id(value))
            self._feed_parts(value)
            self._path.pop()

    def _feed_parts(self, value: Any) -> None:
        if isinstance(value, np.ndarray):
            self._feed((str(value.dtype), value.shape, value.tolist()))
        elif isinstance(value, Mapping):
            self._feed(list(value.items()))
        elif isinstance(value, (tuple, list)):
            self._say(f"[{len(value)}")
            for item in value:
                self._feed(item)
        elif isinstance(value, (set, frozenset)):
            known = [None if isinstance(item, _PLAIN) else self._seen for item in value]
            self._feed(["set", *sorted(_Feed(seen).of(item) for item, seen in zip(value, known, strict=True))])
        elif isinstance(value, (type, types.ModuleType)):
            self._say(_name(value))
        elif id(value) in self._seen:
            self._say(f"number {self._seen[id(value)][0]}")
        else:
            self._seen[id(value)] = len(self._seen), value
            self._feed((_name(type(value)), _parts(value)))


def _name(value: Any) -> str:
    return f"{getattr(value, '__module__', None)}.{getattr(value, '__qualname__', getattr(value, '__name__', None))}"


def _parts(value: Any) -> Any:
    """What a value is made of, in plain words, arrays and further values."""
    for kind, parts in _PARTS:
        if isinstance(value, kind):
            return parts(value)
    for parts in (_of_table, _of_pickle, vars):
        # Nothing of the user's must fail here that works elsewhere: what cannot be told is told by its type.
        with contextlib.suppress(Exception):
            return parts(value)
    return None


def _of_matrix(matrix: xgboost.DMatrix) -> Any:
    stored = matrix.get_data()
    rows = (stored.data, stored.indices, stored.indptr, stored.shape)
    return (matrix.feature_names, matrix.feature_types, *rows, *told_of_rows(matrix))


def _of_function(function: types.FunctionType) -> Any:
    """Closures share their name and their code, and differ in what they enclose."""
    held = [_of_cell(cell) for cell in function.__closure__ or ()]
    return (function.__qualname__, function.__code__, function.__defaults__, function.__kwdefaults__, held)


def _of_cell(cell: types.CellType) -> Any:
    try:
        return [cell.cell_contents]
    except ValueError:  # nothing is in it yet
        return []


def _of_table(value: Any) -> Any:
    """A column or a table with all its values, of which its text shows the first and the last."""
    values = value.to_numpy() if hasattr(value, "to_numpy") else value.__array__()
    columns = getattr(value, "columns", None)
    types_ = [getattr(value, "dtype", None)] if columns is None else value.dtypes
    index = value.index if isinstance(value, (pd.Series, pd.DataFrame)) else None
    return (index, columns, [str(one) for one in types_], values)


def _of_pickle(value: Any) -> Any:
    """What ``pickle`` would write of it: its attributes, or what it is called."""
    reduced = value.__reduce_ex__(2)
    if isinstance(reduced, str):
        return (_name(value), reduced)
    return [list(part) if isinstance(part, Iterator) else part for part in reduced]


_PLAIN = (types.NoneType, types.EllipsisType, bool, int, float, complex, str, bytes, range)
_DEEPEST = 100
_PARTS: tuple[tuple[type, Callable[[Any], Any]], ...] = (
    (xgboost.DMatrix, _of_matrix),
    (xgboost.Booster, lambda booster: bytes(booster.save_raw())),
    (Teacher, vars),
    (types.FunctionType, _of_function),
    (types.CodeType, lambda code: (code.co_code, code.co_names, code.co_consts)),
    (types.MethodType, lambda method: (method.__func__, method.__self__)),
)
