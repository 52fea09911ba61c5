"""Tables on standard output, and output files."""

from __future__ import annotations

import argparse
import os
from pathlib import Path
from typing import Any

import pandas as pd

from .._files import new_file, write_file

FORMATS = ("text", "csv")

_ANYWAY = "add --force"
_INPUTS = {"data": "DATA", "model": "--model", "valid": "--valid", "resume": "--resume"}


def add_out(command: argparse.ArgumentParser, option: str = "--out", **how: Any) -> None:
    """Add an option for an output file, and --force to replace it."""
    command.add_argument(option, **how)
    command.add_argument("--force", action="store_true", help=f"replace an existing file of {option}")


def new_output(arguments: argparse.Namespace, option: str = "--out", endings: tuple[str, ...] = ()) -> Path:
    """Return the output file of an option, or raise if it is an input or must not be replaced."""
    name = vars(arguments)[option.removeprefix("--")]
    for dest, place in _INPUTS.items():
        given = getattr(arguments, dest, None)
        source: Any = 0 if given == "-" else given  # standard input may be a file, too
        is_there = given and os.path.isfile(name) and os.path.exists(source)
        # A file of --resume that is new will be written.
        if given and (
            os.path.samefile(name, source) if is_there else os.path.realpath(name) == os.path.realpath(given)
        ):
            raise ValueError(f"{option} must not be an input, got {name!r}, the file of {place}: name another file")
    return new_file(name, option, overwrite=arguments.force, anyway=_ANYWAY, endings=endings)


def write_output(path: Path, content: bytes, arguments: argparse.Namespace) -> None:
    """Write the whole content, or nothing."""
    write_file(path, content, overwrite=arguments.force, anyway=_ANYWAY)


def print_table(table: pd.DataFrame, how: str) -> None:
    """Print as text with intervals, or as CSV."""
    if how == "text":
        table = _with_intervals(table)
    text: Any = table.to_csv() if how == "csv" else table.to_string(float_format="{:.4f}".format) + "\n"
    print(text, end="")


def _with_intervals(table: pd.DataFrame) -> pd.DataFrame:
    """Merge each value and its two bounds into one column."""
    if "corrected" in table:
        table = table.rename(columns={"low": "corrected_low", "high": "corrected_high"})
    bounded = [name for name in table if f"{name}_low" in table and f"{name}_high" in table]
    shown = {
        name: [
            f"{value:.3f} ({low:.3f} to {high:.3f})"
            for value, low, high in table[[name, f"{name}_low", f"{name}_high"]].itertuples(index=False)
        ]
        for name in bounded
    }
    bounds = [f"{name}_{end}" for name in bounded for end in ("low", "high")]
    return table.assign(**{str(name): values for name, values in shown.items()}).drop(columns=bounds)
