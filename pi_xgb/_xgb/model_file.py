"""Checks of model files before XGBoost reads them: it may read past the end of a truncated file and crash."""

from __future__ import annotations

import os
import struct
from pathlib import Path

import xgboost

_SIZES = {b"i": 1, b"U": 1, b"C": 1, b"I": 2, b"l": 4, b"d": 4, b"L": 8, b"D": 8, b"T": 0, b"F": 0, b"Z": 0}


def load_booster(name: str | os.PathLike[str]) -> xgboost.Booster:
    """Return the booster in a file, or raise ``ValueError`` if it cannot be read."""
    path = Path(name)
    if path.is_dir():
        raise IsADirectoryError(f"{str(name)!r} is a folder: name a model file")
    content = path.read_bytes()
    if path.suffix.lower() != ".json" and content[:2] == b"{L" and not _is_whole(content):
        raise ValueError(f"{str(name)!r} is a damaged model of XGBoost: it was truncated or changed")
    try:
        return xgboost.Booster(model_file=os.fspath(name))
    except (xgboost.core.XGBoostError, UnicodeDecodeError) as error:
        raise ValueError(f"{str(name)!r} is not a model that this XGBoost ({xgboost.__version__}) can read") from error


def _is_whole(content: bytes) -> bool:
    """Return whether the content is exactly one UBJSON value."""
    try:
        return _end_of(content, 0) == len(content)
    except (KeyError, struct.error, RecursionError):
        return False


def _end_of(content: bytes, at: int) -> int:
    """Return the end of the value that begins at this position."""
    kind = content[at : at + 1]
    at += 1
    if kind == b"{":
        while content[at : at + 1] != b"}":
            at = _end_of(content, _end_of_text(content, at))
        return at + 1
    if kind == b"[":
        return _end_of_array(content, at)
    return _end_of_text(content, at) if kind == b"S" else at + _SIZES[kind]


def _end_of_array(content: bytes, at: int) -> int:
    size = None
    if content[at : at + 1] == b"$":
        size, at = _SIZES[content[at + 1 : at + 2]], at + 2
    if content[at : at + 1] == b"#":
        count, at = _count(content, at + 1)
        if size is not None:
            return at + count * size
        for _ in range(count):
            at = _end_of(content, at)
        return at
    while content[at : at + 1] != b"]":
        at = _end_of(content, at)
    return at + 1


def _end_of_text(content: bytes, at: int) -> int:
    length, at = _count(content, at)
    return at + length


def _count(content: bytes, at: int) -> tuple[int, int]:
    """Return a length, and the position after it."""
    if content[at : at + 1] != b"L":
        raise KeyError(at)
    (count,) = struct.unpack_from(">q", content, at + 1)
    if count < 0:
        raise KeyError(at)
    return count, at + 9
