"""The finished parts of a long search, stored in a file, so that an interrupted search continues where it stopped."""

from __future__ import annotations

import functools
import hashlib
import json
import os
import threading
import types
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import xgboost

from .._files import new_file, write_file
from .._version import __version__
from .._xgb.matrix import row_fields


class ResumeCache:
    """The finished parts of one search by their names; without a path nothing is stored.

    ``inputs`` are the keywords on which the parts depend. Code among them cannot be compared; ``resume_key``
    represents it.
    """

    def __init__(self, path: Any, resume_key: Any, search: str, inputs: Mapping[str, Any]) -> None:
        if not isinstance(path, (str, os.PathLike, type(None))):
            raise TypeError(f"resume must name a file, got {path!r}: pass its path")
        if path is None and resume_key is not None:
            raise ValueError(f"resume_key is read with resume only, got {resume_key!r} alone: pass resume as well")
        self._path = None if path is None else new_file(path, "resume", overwrite=True)
        self._lock = threading.Lock()
        self._search = "" if self._path is None else f"{search} {_digest(resume_key, inputs)}"
        self._finished: dict[str, Any] = {} if self._path is None else _read(self._path, self._search)

    def __contains__(self, name: str) -> bool:
        return name in self._finished

    def once(self, name: str, work: Callable[[], Any]) -> Any:
        """The finished part of this name, or what ``work`` returns, which is stored; from any thread."""
        if name not in self._finished:
            part = work()
            with self._lock:
                self._finished[name] = part
                if self._path is not None:
                    content = json.dumps({"search": self._search, "finished": self._finished})
                    write_file(self._path, content.encode(), overwrite=True)
        return self._finished[name]


def _read(path: Path, search: str) -> dict[str, Any]:
    if not path.exists():
        return {}
    try:
        state = json.loads(path.read_bytes())
        stored, finished = state["search"], dict(state["finished"])
    except (ValueError, KeyError, TypeError) as error:
        raise ValueError(f"resume must be a new file, got {str(path)!r}, which is not a resume file") from error
    if stored != search:
        raise ValueError(
            f"resume must be a file of this search, got {str(path)!r}, which belongs to another search (other rows, "
            "keywords, resume_key or versions): pass another file, or delete this one"
        )
    return finished


def _digest(resume_key: str | None, inputs: Mapping[str, Any]) -> str:
    unread: dict[str, list[Any]] = {name: [] for name in inputs}
    texts = [json.dumps([__version__, xgboost.__version__, resume_key])]
    for name, value in inputs.items():
        texts.append(json.dumps([name, value], default=functools.partial(_parts, unread=unread[name])))
    code = [name for name, values in unread.items() if values]
    if code and resume_key is None:
        raise ValueError(
            f"resume_key must be a text where the search runs your own code, got None with code in {', '.join(code)}: "
            "pass resume_key='1', and another text after a change"
        )
    return hashlib.sha256("\n".join(texts).encode()).hexdigest()


def _parts(value: Any, unread: list[Any]) -> Any:
    """Return the value as JSON types, equal in every process; values that have no such form go to ``unread``."""
    if hasattr(value, "__array__"):  # of NumPy, pandas or polars
        array = np.asarray(value)
        content = array.tolist() if array.dtype.hasobject else hashlib.sha256(array.tobytes()).hexdigest()
        return [str(array.dtype), array.shape, content]
    if isinstance(value, xgboost.DMatrix):
        rows = value.get_data()
        stored = [rows.shape, rows.data, rows.indices, rows.indptr]
        return [value.feature_names, value.feature_types, *stored, row_fields(value)]
    if isinstance(value, xgboost.Booster):
        return hashlib.sha256(value.save_raw()).hexdigest()
    if pd.api.types.is_scalar(value):  # names of groups besides numbers and text: dates, intervals, bytes
        return [type(value).__name__, str(value)]
    if type(value).__module__.partition(".")[0] == __name__.partition(".")[0]:
        fields = {name: list(v.items()) if isinstance(v, dict) else v for name, v in vars(value).items()}
        return [type(value).__name__, fields]  # keys of such dicts may be numbers of NumPy
    if isinstance(value, types.FunctionType) and value.__closure__ is None and value.__module__.startswith("pi_xgb."):
        return [value.__module__, value.__qualname__, value.__code__.co_firstlineno]  # known by the version
    unread.append(value)
    return f"{type(value).__module__}.{type(value).__qualname__}"
