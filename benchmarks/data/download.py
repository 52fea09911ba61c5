"""A download that leaves the whole file or none."""

from __future__ import annotations

import http.client
import shutil
import time
import urllib.error
import urllib.request
from pathlib import Path

ATTEMPTS, PAUSE_SECONDS, TIMEOUT_SECONDS = 3, 1.0, 60


class DownloadError(OSError):
    """The publisher did not deliver the file."""


def download(url: str, target: Path, advice: str = "") -> None:
    """Save ``url`` as ``target``; a transfer that broke off is tried again. DownloadError ends with ``advice``."""
    target.parent.mkdir(parents=True, exist_ok=True)
    part = target.with_name(f"{target.name}.part")
    request = urllib.request.Request(url, headers={"User-Agent": "pi-xgb benchmarks"})
    for attempt in range(1, ATTEMPTS + 1):
        try:
            with urllib.request.urlopen(request, timeout=TIMEOUT_SECONDS) as response, part.open("wb") as file:
                shutil.copyfileobj(response, file)
                expected = response.headers.get("Content-Length")
            if expected is not None and part.stat().st_size != int(expected):
                raise ConnectionError(f"expected {expected} bytes, the transfer ended after {part.stat().st_size}")
        except (OSError, http.client.HTTPException) as error:
            refused = isinstance(error, urllib.error.HTTPError) and error.code < 500 and error.code != 429
            if refused or attempt == ATTEMPTS:
                part.unlink(missing_ok=True)
                raise DownloadError(f"could not download {url}: {error!r}; {advice}") from error
            time.sleep(PAUSE_SECONDS * 2**attempt)
        else:
            part.replace(target)
            return
