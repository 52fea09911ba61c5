"""The command line: ``python -m pi_xgb`` and ``pi-xgb``."""

from __future__ import annotations

import argparse
import os
import re
import sys
import warnings
from collections.abc import Sequence
from typing import Any

from ._version import __version__

OK, FAILED, BAD_INPUT, INTERRUPTED, BROKEN_PIPE = 0, 1, 2, 130, 141

DESCRIPTION = "XGBoost with features that exist only at training time."
EPILOG = """pi-xgb COMMAND --help has an example of each command.

Answers go to standard output, messages to standard error. Exit codes: 0 it worked; 2 the command or its input was
wrong, and the message explains it; 1 anything else went wrong; 130 after Ctrl-C; 141 if the reader of a pipe went away.
A file is written when all of it is there, and never over another one without --force."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code.

    Examples
    --------
    >>> main(["demo", "--seeds", "2"])  # doctest: +ELLIPSIS
    300 training rows, ...
    0
    """
    _open_streams()
    chosen: Any = None
    try:
        from ._cli.options import check_read, unknown_arguments

        parser, commands = _parser()
        chosen, unknown = parser.parse_known_args(arguments)
        if unknown:
            commands[chosen.command].error(unknown_arguments(unknown, chosen))
        with warnings.catch_warnings():
            warnings.showwarning = lambda message, *_, **__: _log(f"note: {_message(message, chosen)}")
            check_read(chosen, commands[chosen.command].get_default)
            chosen.run(chosen, _log)
        sys.stdout.flush()
    except KeyboardInterrupt:
        resume = getattr(chosen, "resume", None)
        state = f"finished parts are in {resume}; run the same command to continue" if resume else "nothing was written"
        _log(f"\nstopped; {state}")
        return INTERRUPTED
    except BrokenPipeError:
        # Python flushes standard output at exit, and would fail again.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return BROKEN_PIPE
    except (ValueError, TypeError, FileExistsError, FileNotFoundError, IsADirectoryError, PermissionError) as error:
        _log(f"pi-xgb: {_message(error, chosen)}")
        return BAD_INPUT
    except (ImportError, OSError, MemoryError) as error:
        _log(f"pi-xgb: {_message(error, chosen)}")
        return FAILED
    return OK


def _open_streams() -> None:
    """Replace streams that the shell closed (``2>&-``) by the null device, so that no later file gets their number."""
    while (descriptor := os.open(os.devnull, os.O_RDWR)) <= 2:
        pass
    os.close(descriptor)
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: SIM115 - stays open, as the standard streams do


def _parser() -> tuple[argparse.ArgumentParser, dict[str, argparse.ArgumentParser]]:
    """Return the parser, and those of the commands."""
    # Imported here, so that Ctrl-C during the imports is handled.
    from ._cli import compare, demo, evaluate, frontier, predict, train, tune

    parser = argparse.ArgumentParser(
        prog="pi-xgb", description=DESCRIPTION, epilog=EPILOG, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--version", action="version", version=f"pi-xgb {__version__}")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for command in (demo, train, predict, evaluate, tune, compare, frontier):
        command.add(commands)
    return parser, commands.choices


def _log(text: str) -> None:
    print(text, file=sys.stderr)


def _message(error: BaseException | str, arguments: argparse.Namespace | None) -> str:
    """Return the text of an error or a warning, without XGBoost's C++ trace, with options in place of keywords."""
    from ._cli.options import with_option

    text = str(error).partition("\nStack trace:")[0].strip() or type(error).__name__
    text = re.sub(r"^\[\d\d:\d\d:\d\d\] (\w+: )?\S+:\d+: ", "", text)
    return text if arguments is None else with_option(text, arguments)


if __name__ == "__main__":
    sys.exit(main())
