"""Writing files: completely or not at all, and never over another file unless requested."""

from __future__ import annotations

import os
import secrets
import shutil
from pathlib import Path


def check_folder(path: os.PathLike[str] | str) -> Path:
    """Return the path of an existing folder, or raise."""
    folder = Path(path)
    if not folder.is_dir():
        raise ValueError(f"checkpoints need an existing folder, got {str(path)!r}: create it first")
    return folder


def new_file(name: str | os.PathLike[str], what: str, *, overwrite: bool, endings: tuple[str, ...] = ()) -> Path:
    """Return the file that the argument ``what`` names, or raise if it cannot be written or exists."""
    path = Path(name)
    if endings and path.suffix.lower() not in endings:
        raise ValueError(f"{what} must end in {' or '.join(filter(None, endings))}, got {str(name)!r}")
    if path.is_dir():
        raise IsADirectoryError(f"{what} must name a file, got the folder {str(path)!r}: add a file name to it")
    folder = path.absolute().parent
    if not folder.is_dir():
        raise FileNotFoundError(f"{what} is {str(path)!r}, but its folder does not exist: create it first")
    if not os.access(folder, os.W_OK):
        raise PermissionError(f"{what} must be in a writable folder, got {str(path)!r} in {str(folder)!r}")
    if path.exists() and not overwrite:
        raise _exists(path)
    return path


def write_file(path: Path, content: bytes, *, overwrite: bool) -> None:
    """Write under another name in the same folder, then rename: readers see the complete file or none.

    A link is followed; a device or a pipe is written directly.
    """
    if overwrite:
        path = path.resolve()
        if path.exists() and not path.is_file():
            path.write_bytes(content)
            return
    draft = path.with_name(f".{path.name}.{secrets.token_hex(4)}.part")
    try:
        with draft.open("xb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        if overwrite:
            if path.exists():
                shutil.copymode(path, draft)
            os.replace(draft, path)
            return
        try:
            os.link(draft, path)
        except FileExistsError:  # somebody took the name since the work began
            raise _exists(path) from None
        except OSError:  # a file system without links
            os.replace(draft, path)
    finally:
        draft.unlink(missing_ok=True)


def _exists(path: Path) -> FileExistsError:
    again = "pass overwrite=True (--force in the command line)"
    return FileExistsError(f"{str(path)!r} exists and was not changed: choose another name, or {again}")
