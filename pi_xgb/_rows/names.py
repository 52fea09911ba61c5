"""Names of groups and columns as text for messages and pictures."""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterable
from typing import Any

import numpy as np

_UNPRINTABLE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")

_SHOWN = 8


def printable(text: str) -> str:
    """Return text for a page, a picture or a file: control characters and lone surrogates are replaced by a mark."""
    return _UNPRINTABLE.sub("\ufffd", text)


def describe(names: Iterable[Hashable]) -> str:
    """Return the first names for a message, and the number of the others."""
    listed = list(names)
    shown = ", ".join(repr(plain(name)) for name in listed[:_SHOWN])
    return shown + (f" and {len(listed) - _SHOWN} more" if len(listed) > _SHOWN else "")


def plain(name: Any) -> Any:
    """Return a name without NumPy's types."""
    if isinstance(name, tuple):
        return tuple(plain(part) for part in name)
    return name.item() if isinstance(name, np.generic) else name


def in_words(name: Hashable) -> str:
    """Return the name of a group as text; the parts of an intersection are joined."""
    return ", ".join(map(str, name)) if isinstance(name, tuple) else str(name)
