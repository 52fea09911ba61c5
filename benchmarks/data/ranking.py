"""A small public ranking set: the example of LightGBM, queries with relevances of 0 to 4.

The files are those of https://github.com/microsoft/LightGBM (MIT), in the format of svmlight, with the sizes of the
queries in a file apart. Features have numbers for names, and most values are not there.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from benchmarks.data.fetch import fetch
from benchmarks.data.records import RawFile
from benchmarks.data.store import raw_content

_FOLDER = "https://raw.githubusercontent.com/microsoft/LightGBM/master/examples/lambdarank"
FILES = tuple(
    RawFile(name, sha256, f"{_FOLDER}/{name}")
    for name, sha256 in (
        ("rank.train", "a0c7201c89120879c14a5059e091f441cbf2a29b8aaef363885ccb1a530448df"),
        ("rank.train.query", "40cb5fef637229311cd30fab13cb7fb633b023e86a87ff04ec55db420143d6af"),
        ("rank.test", "3b1219ce117a0a36d2f76c02de7e7831c1d79af0d40f5195c03178bbe26c824b"),
        ("rank.test.query", "36dca82ba3bf99201bac3987b00a8fbf6fe5f563e9fa6d0da90e783710a32df4"),
    )
)
N_QUERIES, N_ROWS, N_FEATURES = 251, 3773, 300


class RankingSet(NamedTuple):
    """Rows of queries, one after another.

    ``X`` has NaN where the file says nothing; column i is feature i + 1.
    """

    X: npt.NDArray[np.float32]
    y: npt.NDArray[np.float32]
    qid: npt.NDArray[np.int64]


def load_ranking() -> RankingSet:
    """The training and the test file as one set; they are downloaded on first use."""
    content = {raw.name: raw_content(raw, fetch).decode() for raw in FILES}
    lines = [line for part in ("train", "test") for line in content[f"rank.{part}"].splitlines()]
    sizes = [int(size) for part in ("train", "test") for size in content[f"rank.{part}.query"].split()]
    X = np.full((len(lines), N_FEATURES), np.nan, np.float32)
    y = np.empty(len(lines), np.float32)
    for row, line in enumerate(lines):
        label, *values = line.split()
        y[row] = float(label)
        for value in values:
            feature, _, number = value.partition(":")
            X[row, int(feature) - 1] = float(number)
    qid = np.repeat(np.arange(len(sizes)), sizes)
    if (len(sizes), len(qid), len(y)) != (N_QUERIES, N_ROWS, N_ROWS):
        raise ValueError(f"expected {N_QUERIES} queries of {N_ROWS} rows, got {len(sizes)} of {len(qid)} for {len(y)}")
    return RankingSet(X, y, qid)
