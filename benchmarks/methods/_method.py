"""What has to be written down to add a method."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from benchmarks.modes.fold_work import FoldWork, Scores


class Refused(Exception):
    """The method does not take this set; the message says why, for the table."""


def nothing_missing() -> str | None:
    """For methods that need no further library."""
    return None


@dataclass(frozen=True)
class Method:
    """A line of the tables.

    Attributes
    ----------
    run : function
        From a fold to `Scores`; raises `Refused` where the set is not for this method.
    cost : int
        Cheap methods run first on all sets. Methods of equal cost share matrices and teachers in a fold.
    modes : tuple of str
        The modes in which it runs.
    boosted : bool
        Whether it is boosted with the settings of the mode. The others are peers, whose settings are their own.
    missing : function
        The message of the import that fails, or None when it can run here.
    library : str
        The distribution whose version is recorded beside those of XGBoost and numpy.
    """

    name: str
    run: Callable[[FoldWork], Scores]
    cost: int = 0
    modes: tuple[str, ...] = ("current",)
    boosted: bool = True
    missing: Callable[[], str | None] = nothing_missing
    library: str = ""
