"""What there is to run, and what would not run here."""

from __future__ import annotations

from benchmarks.data import DATASETS
from benchmarks.data.records import RawFile
from benchmarks.data.store import cache_folder, local_path, user_folder
from benchmarks.methods import METHODS, Method


def listing() -> str:
    """Data sets and methods, one line each."""
    width = max(map(len, METHODS)) + 2
    sets = [f"  {name:<{width}}{described(name)}" for name in DATASETS]
    methods = [f"  {name:<{width}}{method_in_words(method)}" for name, method in METHODS.items()]
    return "\n".join(["data sets", *sets, "", "methods", *methods])


def described(name: str) -> str:
    """Size, columns at training only, and where the raw files are."""
    dataset = DATASETS[name]
    absent = [raw.name for raw in dataset.files if not at_hand(raw)]
    source = f"to be downloaded: {', '.join(absent)}" if absent else "files at hand"
    groups = "no groups" if not dataset.protected else f"groups: {', '.join(dataset.protected)}"
    return f"{dataset.rows:>7} rows, {len(dataset.privileged)} privileged, {groups}; {source}"


def at_hand(raw: RawFile) -> bool:
    """Whether a raw file is in the user's folder or in the cache."""
    return any(folder is not None and local_path(raw, folder) for folder in (user_folder(), cache_folder()))


def method_in_words(method: Method) -> str:
    """What it is, the modes it runs in, and why it would not."""
    missing = method.missing()
    modes = " and ".join(method.modes)
    return f"{method.about} ({modes})" + (f"; DOES NOT RUN HERE: {missing}" if missing else "")
