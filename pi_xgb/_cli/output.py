"""Tables on standard output, and output files."""

from __future__ import annotations

import argparse
import os
from pathlib import Path
from typing import Any

import pandas as pd

from .._files import new_file

_INPUTS = {"data": "DATA", "model": "--model", "valid": "--valid", "resume": "--resume"}


def same_file(name: str, other: str) -> bool:
    """Return whether two names, of which the second may be ``-``, are of one file; it need not exist yet."""
    source: Any = 0 if other == "-" else other  # standard input may be a file, too
    if os.path.isfile(name) and os.path.exists(source):
        return os.path.samefile(name, source)
    return os.path.realpath(name) == os.path.realpath(other)


def new_output(arguments: argparse.Namespace, option: str = "--out", endings: tuple[str, ...] = ()) -> Path:
    """Return the output file of an option, or raise if it is an input or must not be replaced."""
    name = vars(arguments)[option.removeprefix("--")]
    for dest, place in _INPUTS.items():
        given = getattr(arguments, dest, None)
        if given and same_file(name, given):
            raise ValueError(f"{option} must not be an input, got {name!r}, the file of {place}: name another file")
    return new_file(name, option, overwrite=arguments.force, endings=endings)


def print_table(table: pd.DataFrame, how: str) -> None:
    """Print as CSV, or as text with each value and its two bounds in one column."""
    if how == "csv":
        print(table.to_csv(), end="")
        return
    if "corrected" in table:
        table = table.rename(columns={"low": "corrected_low", "high": "corrected_high"})
    for name in [str(name) for name in table if f"{name}_low" in table and f"{name}_high" in table]:
        bounds = [f"{name}_low", f"{name}_high"]
        values = table[[name, *bounds]].itertuples(index=False)
        texts = [f"{value:.3f} ({low:.3f} to {high:.3f})" for value, low, high in values]
        table = table.assign(**{name: texts}).drop(columns=bounds)
    print(table.to_string(float_format="{:.4f}".format))
