"""A download that goes on where it broke off."""

from __future__ import annotations

import http.client
import re
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

ATTEMPTS = 5
CHUNK = 1 << 16
TIMEOUT_SECONDS = 60
PAUSE_SECONDS = 1.0


class DownloadError(OSError):
    """The publisher did not deliver the file."""


def download(url: str, target: Path, advice: str = "") -> None:
    """Save ``url`` as ``target``.

    What has arrived is kept in ``<target>.part``; a broken transfer, also one of an earlier process, is
    resumed from there. ``target`` itself appears only when it is complete.

    Raises
    ------
    DownloadError
        When the server refuses, or the transfer broke off five times. The message ends with ``advice``.
    """
    target.parent.mkdir(parents=True, exist_ok=True)
    part = target.with_name(f"{target.name}.part")
    for attempt in range(ATTEMPTS):
        try:
            transfer(url, part)
        except (OSError, http.client.HTTPException) as error:
            if is_refusal(error) or attempt == ATTEMPTS - 1:
                raise DownloadError(f"could not download {url}: {error!r}; {advice}") from error
            time.sleep(PAUSE_SECONDS * 2**attempt)
        else:
            part.replace(target)
            return


def is_refusal(error: Exception) -> bool:
    """An answer that will not change by asking again: 4xx, except for "too many requests"."""
    return isinstance(error, urllib.error.HTTPError) and 400 <= error.code < 500 and error.code != 429


def transfer(url: str, part: Path) -> None:
    """Ask once for what is missing of ``part`` and append it; raise if the transfer ends early."""
    have = part.stat().st_size if part.exists() else 0
    request = urllib.request.Request(url, headers={"User-Agent": "pi-xgb benchmarks"})
    if have:
        request.add_header("Range", f"bytes={have}-")
    try:
        response = urllib.request.urlopen(request, timeout=TIMEOUT_SECONDS)
    except urllib.error.HTTPError as error:
        with error:
            if error.code == http.HTTPStatus.REQUESTED_RANGE_NOT_SATISFIABLE:
                if total_size(error.headers.get("Content-Range")) == have:
                    return  # all of it was there already
                part.unlink()
                raise ConnectionError(f"{part.name} was longer than the file; starting afresh") from error
            raise
    with response:
        start, total = placement(response, have)
        with part.open("r+b" if start else "wb") as file, progress(part.stem, start, total) as advance:
            file.seek(start)
            file.truncate()
            while chunk := response.read(CHUNK):
                file.write(chunk)
                advance(len(chunk))
    got = part.stat().st_size
    if total is not None and got != total:
        raise ConnectionError(f"expected {total} bytes, the transfer ended after {got}")


def placement(response: http.client.HTTPResponse, have: int) -> tuple[int, int | None]:
    """Where in the file the body begins, and the size of the whole file if the server says it."""
    if response.status == http.HTTPStatus.PARTIAL_CONTENT:
        content_range = response.headers.get("Content-Range", "")
        if not content_range.startswith(f"bytes {have}-"):
            raise ConnectionError(f"asked for bytes from {have}, got {content_range!r}")
        return have, total_size(content_range)
    length = response.headers.get("Content-Length")  # the server ignored the range and sends everything
    return 0, int(length) if length is not None else None


def total_size(content_range: str | None) -> int | None:
    """The size of the whole file out of ``bytes 5-9/10`` or ``bytes */10``."""
    match = re.search(r"/(\d+)$", content_range or "")
    return int(match.group(1)) if match else None


@contextmanager
def progress(name: str, start: int, total: int | None) -> Iterator[Callable[[int], object]]:
    """A progress bar on a terminal, and nothing anywhere else."""
    if not sys.stderr.isatty():
        yield lambda size: None
        return
    try:
        from tqdm import tqdm
    except ImportError as error:
        raise ImportError('the progress bar needs tqdm: pip install ".[bench]" in a checkout') from error
    with tqdm(desc=name, initial=start, total=total, unit="B", unit_scale=True) as bar:
        yield bar.update
