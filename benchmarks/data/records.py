"""What has to be written down to add a data set."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import pandas as pd


@dataclass(frozen=True)
class RawFile:
    """A file as its publisher has it.

    Attributes
    ----------
    name : str
        Name in the cache and, with or without ``.gz``, in the folder that ``PI_XGB_DATA`` names.
    sha256 : str
        Of the uncompressed content.
    url : str
        The file itself, or an archive (zip, tar or gzip, also one within another) that holds it.
    member : str, optional
        Name of the file inside the archive, where it is not ``name``.
    from_excel : bool
        The member is a spreadsheet, and ``name`` is its semicolon-separated text.
    """

    name: str
    sha256: str
    url: str
    member: str = ""
    from_excel: bool = False


@dataclass(frozen=True)
class Table:
    """What a recipe returns: the kept rows in file order, before the categories are encoded."""

    frame: pd.DataFrame
    numeric: list[str]
    categorical: list[str]
    label: pd.Series[bool]


def names(text: str) -> list[str]:
    """Column names, written one after the other."""
    return text.split()


Recipe = Callable[[Mapping[str, bytes]], Table]
Group = Callable[["pd.Series[int]"], "pd.Series[bool]"]


@dataclass(frozen=True)
class DataSet:
    """The record of a data set: where it comes from, how it is prepared, and what must come out.

    Attributes
    ----------
    recipe : function
        From the raw files, by name, to a `Table`.
    privileged : tuple of str
        Names of the privileged columns.
    rows, neg_pos_ratio
        Rows after the recipe and negatives per positive (three decimals). Anything else is an error.
    protected : dict
        For each privileged column a function from the column to its protected rows.
    """

    name: str
    publisher: str
    files: tuple[RawFile, ...]
    recipe: Recipe
    privileged: tuple[str, ...]
    rows: int
    neg_pos_ratio: float
    protected: Mapping[str, Group] = field(default_factory=dict)
