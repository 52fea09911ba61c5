"""The command line: ``python -m pi_xgb`` and ``pi-xgb``."""

from __future__ import annotations

import os
import re
import sys
import warnings
from collections.abc import Sequence
from typing import Any

OK, FAILED, BAD_INPUT, INTERRUPTED, BROKEN_PIPE = 0, 1, 2, 130, 141


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code.

    Examples
    --------
    >>> main(["demo", "--seeds", "2"])  # doctest: +ELLIPSIS
    1000 training rows, ...
    0
    """
    chosen: Any = None
    try:
        # Imported here, so that Ctrl-C during the imports is handled.
        from ._cli.commands import new_parser
        from ._cli.options import check_read

        parser, commands = new_parser()
        chosen = parser.parse_args(arguments)
        with warnings.catch_warnings():
            warnings.showwarning = lambda message, *_, **__: _log(f"note: {_message(message, chosen)}")
            check_read(chosen, commands[chosen.command].get_default)
            chosen.run(chosen, _log)
        sys.stdout.flush()
    except KeyboardInterrupt:
        resume = getattr(chosen, "resume", None)
        is_kept = resume is not None and os.path.exists(resume)
        state = (
            f"finished parts are in {resume}; run the same command to continue" if is_kept else "nothing was written"
        )
        _log(f"\nstopped; {state}")
        # Python ends by signal, not with this exit code, if the last exec of a string was interrupted: imports do that.
        exec("")
        return INTERRUPTED
    except BrokenPipeError:
        # Python flushes standard output at exit, and would fail again.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return BROKEN_PIPE
    except (ImportError, OSError, MemoryError, ValueError, TypeError) as error:
        _log(f"pi-xgb: {_message(error, chosen)}")
        bad = (ValueError, TypeError, FileExistsError, FileNotFoundError, IsADirectoryError, PermissionError)
        return BAD_INPUT if isinstance(error, bad) else FAILED
    return OK


def _log(text: str) -> None:
    print(text, file=sys.stderr)


def _message(error: BaseException | str, arguments: Any) -> str:
    """Return the text of an error or a warning, without XGBoost's C++ trace, with options in place of keywords."""
    text = str(error).partition("\nStack trace:")[0].strip() or type(error).__name__
    text = re.sub(r"^\[\d\d:\d\d:\d\d\] (\w+: )?\S+:\d+: ", "", text)
    if arguments is None:
        return text
    from ._cli.options import with_option

    return with_option(text, arguments)


if __name__ == "__main__":
    sys.exit(main())
