"""Files that the command line writes: never over another one unasked, and all of it or nothing."""

from __future__ import annotations

import os
import secrets
from pathlib import Path


def new_file(name: str, option: str, *, force: bool, endings: tuple[str, ...] = ()) -> Path:
    """The file that ``option`` names, checked before any work: it can be written and would destroy nothing."""
    path = Path(name)
    if endings and path.suffix.lower() not in endings:
        raise ValueError(f"{option} must end in {' or '.join(endings)}, got {name!r}")
    if path.is_dir():
        raise ValueError(f"{option} must name a file, and {name!r} is a folder: add a file name to it")
    folder = path.absolute().parent
    if not folder.is_dir():
        raise ValueError(f"{option} is {name!r}, and the folder {str(folder)!r} does not exist: create it first")
    if not os.access(folder, os.W_OK):
        raise ValueError(f"{option} is {name!r}, and nothing can be written to the folder {str(folder)!r}")
    if path.exists() and not force:
        raise _exists(path, option)
    return path


def write_file(path: Path, content: bytes, option: str, *, force: bool) -> None:
    """Write under another name in the same folder, then rename: whoever looks sees the whole file or none."""
    draft = path.with_name(f".{path.name}.{secrets.token_hex(4)}.part")
    try:
        with draft.open("xb") as file:
            file.write(content)
        if force:
            os.replace(draft, path)
        else:
            _rename_to_new(draft, path, option)
    finally:
        draft.unlink(missing_ok=True)


def _rename_to_new(draft: Path, path: Path, option: str) -> None:
    """Rename unless the name was taken while the work went on."""
    try:
        os.link(draft, path)
    except FileExistsError:
        raise _exists(path, option) from None
    except OSError:  # a file system without links
        if path.exists():
            raise _exists(path, option) from None
        os.rename(draft, path)


def _exists(path: Path, option: str) -> ValueError:
    return ValueError(f"{option} {str(path)!r} exists and is left as it is: choose another name, or add --force")
