"""pi-xgb COMMAND --help has an example of each command.

Answers go to standard output, messages to standard error. Exit codes: 0 it worked; 2 the command or its input was
wrong, and the message explains it; 1 anything else went wrong; 130 after Ctrl-C; 141 if the reader of a pipe went away.
A file is written when all of it is there, and never over another one without --force.
"""

from __future__ import annotations

import argparse

from .._version import __version__
from . import compare, demo, evaluate, frontier, predict, train, tune
from .options import OPTIONS, REQUIRED


def new_parser() -> tuple[argparse.ArgumentParser, dict[str, argparse.ArgumentParser]]:
    """Return the parser, and those of the commands, whose help texts are the docstrings of their modules."""
    keep_lines = argparse.RawDescriptionHelpFormatter
    description = "XGBoost with features that exist only at training time."
    parser = argparse.ArgumentParser("pi-xgb", description=description, epilog=__doc__, formatter_class=keep_lines)
    parser.add_argument("--version", action="version", version=f"pi-xgb {__version__}")
    subparsers = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for module in (demo, train, predict, evaluate, tune, compare, frontier):
        name = module.__name__.rpartition(".")[2]
        summary, _, epilog = (module.__doc__ or "").partition("\n\n")
        summary = summary.rpartition("``: ")[2].rstrip(".")
        command = subparsers.add_parser(name, help=summary, epilog=epilog, formatter_class=keep_lines)
        for flag, commands, how in OPTIONS:
            if name in commands:
                command.add_argument(flag, **(how | {"required": True} if (name, flag) in REQUIRED else how))
        command.set_defaults(run=module.run)
    return parser, subparsers.choices
