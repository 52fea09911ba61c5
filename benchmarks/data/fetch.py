"""From the publisher's address to the content of a raw file.

None of the addresses in the records could be tried when they were written down: they were noted on a machine
without a network, from what the publishers document. The checksums were taken from the files themselves, so a
wrong address can give an error but never wrong data. Should one fail, place the file by hand (the error says
which, and where).
"""

from __future__ import annotations

import hashlib
import http.client
import io
import shutil
import urllib.request
from pathlib import Path, PurePosixPath
from urllib.parse import unquote, urlsplit

import pandas as pd

from benchmarks.data import archives
from benchmarks.data.records import RawFile
from benchmarks.data.store import FOLDER_VARIABLE, cache_folder, check_sha256, sha256

TIMEOUT_SECONDS = 60


class DownloadError(OSError):
    """The publisher did not deliver the file."""


def fetch(raw: RawFile) -> bytes:
    """Download the file, or the archive that holds it, and return the verified content.

    The download is kept, because two raw files may share an archive; one that proves wrong is removed.
    """
    target = download_path(raw.url)
    if not target.exists():
        download(raw, target)
    try:
        content = extract(raw, target.read_bytes())
        check_sha256(raw, content, raw.url)
    except ImportError:
        raise  # the download is good; only a reader is missing
    except Exception:
        target.unlink()
        raise
    return content


def download(raw: RawFile, target: Path) -> None:
    """The whole file or none. One that broke off without an error has another checksum."""
    target.parent.mkdir(parents=True, exist_ok=True)
    part = target.with_name(f"{target.name}.part")
    request = urllib.request.Request(raw.url, headers={"User-Agent": "pi-xgb benchmarks"})
    try:
        with urllib.request.urlopen(request, timeout=TIMEOUT_SECONDS) as response, part.open("wb") as file:
            shutil.copyfileobj(response, file)
    except (OSError, http.client.HTTPException) as error:
        part.unlink(missing_ok=True)
        raise DownloadError(f"could not download {raw.url}: {error!r}; {how_to_do_without(raw)}") from error
    part.replace(target)


def download_path(url: str) -> Path:
    """Where a download is kept; the address decides, since file names such as "download" are not unique."""
    tail = unquote(PurePosixPath(urlsplit(url).path).name)
    return cache_folder() / "downloads" / f"{hashlib.sha256(url.encode()).hexdigest()[:12]}-{tail}"


def how_to_do_without(raw: RawFile) -> str:
    """What a user can do when the download fails."""
    return (
        f"get {raw.member or raw.name} from the publisher yourself and place {raw.name} (or {raw.name}.gz) "
        f"in a folder that the variable {FOLDER_VARIABLE} names"
    )


def extract(raw: RawFile, content: bytes) -> bytes:
    """The raw file out of what was downloaded, with the line ends of the recorded checksum."""
    if archives.is_archive(content):
        try:
            member = archives.find_member(content, raw.member or raw.name)
        except archives.BROKEN as error:
            raise ValueError(
                f"expected a whole archive from {raw.url}, got one that cannot be unpacked ({error}); "
                + how_to_do_without(raw)
            ) from error
        if member is None:
            raise ValueError(
                f"expected {raw.member or raw.name!r} in the archive {raw.url}, and it is not there; "
                + how_to_do_without(raw)
            )
        content = member
    if raw.from_excel:
        content = spreadsheet_text(raw, content)
    return with_recorded_line_ends(content, raw.sha256)


def with_recorded_line_ends(content: bytes, expected: str) -> bytes:
    """Copies of one file differ in line ends; take the form that has the recorded checksum, if one has."""
    unix = content.replace(b"\r\n", b"\n")
    for candidate in (content, unix, unix.replace(b"\n", b"\r\n")):
        if sha256(candidate) == expected:
            return candidate
    return content


def spreadsheet_text(raw: RawFile, content: bytes) -> bytes:
    """An .xls sheet as semicolon-separated text; its first row is a title, its second the column names."""
    try:
        sheet = pd.read_excel(io.BytesIO(content), header=1)
    except ImportError as error:
        raise ImportError(
            f"{raw.name} is published as a spreadsheet, and pandas needs xlrd to read it: pip install xlrd; "
            f"or save the sheet as semicolon-separated text without its first row, and place it as "
            f"{raw.name} in a folder that the variable {FOLDER_VARIABLE} names"
        ) from error
    text: str = sheet.to_csv(sep=";", index=False, lineterminator="\n")
    return text.encode()
