"""Finished parts of a long search, kept in a file, so that it goes on where it was interrupted."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import os
import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import xgboost

from .._files import new_file, write_file
from .._version import __version__
from .._xgb.matrix import told_of_rows
from .teachers import Teacher


class Kept:
    """The parts of one search by their names; without a file it keeps nothing."""

    def __init__(self, path: os.PathLike[str] | str | None, what: str, *told: Any) -> None:
        """Read what is there; ``told`` is all that the parts depend on."""
        self._path = None if path is None else new_file(path, "resume", overwrite=True)
        self._lock = threading.Lock()
        self._finished: dict[str, Any] = {}
        self._of = ""
        if self._path is not None:
            self._of = f"{what} {_digest((__version__, xgboost.__version__, *told))}"
            self._finished = _read(self._path, self._of) if self._path.exists() else {}

    def __contains__(self, name: str) -> bool:
        return name in self._finished

    def through(
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
            f"resume names {str(path)!r}, which keeps another search (other rows, folds, params, candidates or "
            "versions): name another file, or delete this one"
        )
    return finished


def _plain(value: Any) -> Any:
    return value.tolist()


def _digest(told: Any) -> str:
    digest = hashlib.sha256()
    _feed(digest, told)
    return digest.hexdigest()


def _feed(digest: Any, value: Any) -> None:
    if isinstance(value, xgboost.DMatrix):
        stored = value.get_data()
        rows = (stored.data, stored.indices, stored.indptr, stored.shape)
        value = (value.feature_names, value.feature_types, *rows, *told_of_rows(value))
    if isinstance(value, Teacher):
        value = (type(value).__name__, vars(value))
    if isinstance(value, xgboost.Booster):
        value = bytes(value.save_raw())
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        value = vars(value)
    if isinstance(value, Mapping):
        value = list(value.items())
    if isinstance(value, np.ndarray) and value.dtype.kind != "O":
        digest.update(f"{value.dtype}{value.shape}".encode())
        digest.update(np.ascontiguousarray(value).tobytes())
    elif isinstance(value, (tuple, list, np.ndarray)):
        digest.update(f"[{len(value)}".encode())
        for item in value:
            _feed(digest, item)
    elif callable(value):
        digest.update(getattr(value, "__qualname__", type(value).__name__).encode())
    else:
        digest.update(repr(value).encode())
