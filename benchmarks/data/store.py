"""Where the raw bytes of a data set come from: the user's folder, the cache, or the publisher.

What leaves this file has been checked: the sha256 of the uncompressed content is that of the record.
"""

from __future__ import annotations

import gzip
import hashlib
import os
import zlib
from collections.abc import Callable
from pathlib import Path

from benchmarks.data.records import RawFile

FOLDER_VARIABLE = "PI_XGB_DATA"
CACHE_VARIABLE = "PI_XGB_CACHE"


class ChecksumError(ValueError):
    """A raw file is not, byte for byte, the one that the recipe was written for."""


def cache_folder() -> Path:
    """``PI_XGB_CACHE`` if set, else a folder of the user's own cache."""
    named = os.environ.get(CACHE_VARIABLE)
    if named:
        return Path(named)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "pi_xgb"


def user_folder() -> Path | None:
    """The folder that ``PI_XGB_DATA`` names, or None when the variable is not set."""
    named = os.environ.get(FOLDER_VARIABLE)
    if not named:
        return None
    folder = Path(named)
    if not folder.is_dir():
        raise FileNotFoundError(
            f"expected {FOLDER_VARIABLE} to name a folder with the raw data files, got {named!r}, which is "
            "none; correct it, or unset it to download the files"
        )
    return folder


def local_path(raw: RawFile, folder: Path) -> Path | None:
    """The file in this folder, plain or gzip; None when it is not there."""
    for path in (folder / raw.name, folder / f"{raw.name}.gz"):
        if path.is_file():
            return path
    return None


def read_plain(raw: RawFile, path: Path) -> bytes:
    """The content of a file, uncompressed if its name ends in ``.gz``."""
    content = path.read_bytes()
    if path.suffix != ".gz":
        return content
    try:
        return gzip.decompress(content)
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise ChecksumError(
            f"{raw.name} from {path}: expected a whole gzip file, got one that cannot be uncompressed ({error}); "
            + how_to_mend(raw)
        ) from error


def sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def how_to_mend(raw: RawFile) -> str:
    """What a user can do about a file with the wrong content."""
    return (
        f"remove that file to download it again, or place the right {raw.name} (or {raw.name}.gz) in the "
        f"folder that {FOLDER_VARIABLE} names"
    )


def check_sha256(raw: RawFile, content: bytes, source: str) -> None:
    """Raise unless this is the content that the record names."""
    got = sha256(content)
    if got != raw.sha256:
        raise ChecksumError(
            f"{raw.name} from {source}: expected sha256 {raw.sha256} of the uncompressed content, got {got}; "
            + how_to_mend(raw)
        )


def raw_content(raw: RawFile, fetch: Callable[[RawFile], bytes]) -> bytes:
    """The verified content of a raw file, fetched only when neither folder has it."""
    for folder in (user_folder(), cache_folder()):
        path = local_path(raw, folder) if folder is not None else None
        if path is not None:
            content = read_plain(raw, path)
            check_sha256(raw, content, str(path))
            return content
    content = fetch(raw)
    check_sha256(raw, content, raw.url)
    write_whole(cache_folder() / raw.name, content)
    return content


def write_whole(path: Path, content: bytes) -> None:
    """Write so that a reader sees the whole file or none, even if two processes write at once."""
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(f"{path.name}.{os.getpid()}.writing")
    partial.write_bytes(content)
    partial.replace(path)
