"""What the commands share: a usage as it was typed, and names out of those that there are."""

from __future__ import annotations

from argparse import ArgumentParser, RawDescriptionHelpFormatter
from collections.abc import Iterable, Sequence


def command(name: str, about: str | None) -> ArgumentParser:
    """The parser of ``python -m benchmarks.<name>``; ``about`` is the module's docstring."""
    return ArgumentParser(
        prog=f"python -m benchmarks.{name}", description=about, formatter_class=RawDescriptionHelpFormatter
    )


def asked(names: str, known: Iterable[str], what: str, unlisted: Sequence[str] = ()) -> list[str]:
    """The names of a comma-separated list. SystemExit lists what there is, but for what is only made for tests."""
    listed = list(known)
    chosen = [name.strip() for name in names.split(",") if name.strip()]
    unknown = [name for name in chosen if name not in (*listed, *unlisted)]
    if unknown or not chosen:
        raise SystemExit(f"no {what} is called {', '.join(unknown) or repr(names)}; there are: {', '.join(listed)}")
    return list(dict.fromkeys(chosen))
