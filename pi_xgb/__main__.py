"""The command line: ``python -m pi_xgb`` and ``pi-xgb``."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from ._demo import run_demo
from ._version import __version__


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code.

    Examples
    --------
    >>> main(["demo", "--seeds", "2"])  # doctest: +ELLIPSIS
    300 training rows, ...
    0
    """
    parser = argparse.ArgumentParser(
        prog="pi-xgb", description="XGBoost with features that exist only at training time."
    )
    parser.add_argument("--version", action="version", version=f"pi-xgb {__version__}")
    commands = parser.add_subparsers(dest="command", required=True)
    demo = commands.add_parser("demo", help="train the methods on seeded data and explain the numbers")
    demo.add_argument("--seeds", type=_at_least_two, default=10, help="repetitions (default: %(default)s)")
    chosen = parser.parse_args(arguments)
    run_demo(chosen.seeds)
    return 0


def _at_least_two(text: str) -> int:
    try:
        number = int(text)
    except ValueError:
        number = 0
    if number < 2:
        raise argparse.ArgumentTypeError(f"must be a whole number of at least 2 for a standard error, got {text!r}")
    return number


if __name__ == "__main__":
    sys.exit(main())
