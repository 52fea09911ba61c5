"""From a record to a prepared set: run the recipe, encode the categories, check the result."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pandas as pd

from benchmarks.data.prepared import PreparedSet
from benchmarks.data.records import DataSet, Table


def ordinal_codes(column: pd.Series[int]) -> npt.NDArray[np.float64]:
    """Codes 0..K-1 by sorted value: numbers sort as numbers, text as text."""
    codes, _ = pd.factorize(column, sort=True)
    if (codes < 0).any():
        raise ValueError(f"expected a category in every row of {column.name!r}, got missing values")
    return codes.astype(np.float64)


def encode(table: Table) -> pd.DataFrame:
    """All features as floats, numeric columns first."""
    columns: dict[str, npt.NDArray[np.float64]] = {}
    for name in table.numeric:
        columns[name] = table.frame[name].to_numpy(dtype=np.float64)
    for name in table.categorical:
        columns[name] = ordinal_codes(table.frame[name])
    return pd.DataFrame(columns)


def check_size(dataset: DataSet, y: npt.NDArray[np.int64]) -> None:
    """Raise unless the rows and the class ratio are those of the record."""
    positives = int(y.sum())
    ratio = (y.size - positives) / positives if positives else float("inf")
    if y.size != dataset.rows or abs(ratio - dataset.neg_pos_ratio) > 0.00051:
        raise ValueError(
            f"{dataset.name}: expected {dataset.rows} rows, {dataset.neg_pos_ratio} negatives per positive; "
            f"got {y.size} rows, {ratio:.3f}; the raw file or the recipe is not the paper's"
        )


def prepare(dataset: DataSet, contents: dict[str, bytes]) -> PreparedSet:
    """Apply the recipe of ``dataset`` to the contents of its raw files."""
    table = dataset.recipe(contents)
    y = table.label.to_numpy().astype(np.int64)
    check_size(dataset, y)
    names = [*table.numeric, *table.categorical]
    return PreparedSet(
        name=dataset.name,
        X=encode(table),
        y=y,
        feature_types=("q",) * len(table.numeric) + ("c",) * len(table.categorical),
        privileged=tuple(names.index(name) for name in dataset.privileged),
        protected=tuple(
            dataset.protected[name](table.frame[name]).to_numpy().astype(np.int64)
            for name in dataset.privileged
            if name in dataset.protected
        ),
    )
