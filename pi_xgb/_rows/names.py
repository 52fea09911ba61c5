"""Names of groups and columns, as they should read in a message or a picture."""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterable
from typing import Any

import numpy as np

_UNPRINTABLE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")


def printable(text: str) -> str:
    """Text that a page, a picture or a file can hold: a mark in the place of control characters and lone surrogates."""
    return _UNPRINTABLE.sub("\ufffd", text)


def describe(names: Iterable[Hashable], most: int = 8) -> str:
    """A few names for a message."""
    listed = list(names)
    shown = ", ".join(repr(plain(name)) for name in listed[:most])
    return shown + (f" and {len(listed) - most} more" if len(listed) > most else "")


def plain(name: Any) -> Any:
    """A name without numpy's types."""
    if isinstance(name, tuple):
        return tuple(plain(part) for part in name)
    return name.item() if isinstance(name, np.generic) else name


def in_words(name: Hashable) -> str:
    """The name of a group as text; the parts of an intersection are joined."""
    return ", ".join(map(str, name)) if isinstance(name, tuple) else str(name)
