"""Take one file out of what a publisher ships: zip, tar and gzip, also one inside another."""

from __future__ import annotations

import gzip
import io
import tarfile
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import PurePosixPath

GZIP_MAGIC = b"\x1f\x8b"
ARCHIVE_SUFFIXES = (".zip", ".tar", ".tgz", ".gz")
BROKEN = (EOFError, OSError, tarfile.TarError, zipfile.BadZipFile, zlib.error)
"""What `find_member` raises for an archive that is not whole."""


def is_archive(content: bytes) -> bool:
    return content.startswith(GZIP_MAGIC) or zipfile.is_zipfile(io.BytesIO(content)) or _is_tar(content)


def find_member(content: bytes, name: str) -> bytes | None:
    """The file called ``name`` in whatever folder or inner archive it lies; None when it is not there."""
    inner = []
    for entry, data in members(content):
        if entry == name:
            return data
        if entry.endswith(ARCHIVE_SUFFIXES):
            inner.append((entry, data))
    for entry, data in inner:
        plain = entry == f"{name}.gz"
        found = gzip.decompress(data) if plain else find_member(data, name)
        if found is not None:
            return found
    return None


def members(content: bytes) -> Iterator[tuple[str, bytes]]:
    """Names (without folders) and contents of the files in an archive; nothing if it is none."""
    if content.startswith(GZIP_MAGIC):
        content = gzip.decompress(content)
    if zipfile.is_zipfile(io.BytesIO(content)):
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            for info in archive.infolist():
                if not info.is_dir():
                    yield PurePosixPath(info.filename).name, archive.read(info)
    elif _is_tar(content):
        with tarfile.open(fileobj=io.BytesIO(content)) as tar:
            for member in tar:
                file = tar.extractfile(member)
                if file is not None:
                    yield PurePosixPath(member.name).name, file.read()


def _is_tar(content: bytes) -> bool:
    return tarfile.is_tarfile(io.BytesIO(content))
