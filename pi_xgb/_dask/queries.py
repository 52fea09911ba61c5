"""Queries on a cluster: the rows of a query must lie on one worker, side by side."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import dask.dataframe as dd
import numpy as np
import pandas as pd
from xgboost.dask.data import no_group_split

from .._core.teachers import is_trained_here
from .._rows.groups import on_several_workers
from .._rows.per_row import on_host
from .._xgb.collective import all_or_none
from .rows import check_as_many_parts


def with_whole_queries(collections: Mapping[str, Any], *, device: str | None) -> dict[str, Any]:
    """Return the collections with each query on one worker, as ``xgboost.dask`` distributes them.

    ``collections`` have the same rows in the same partitions, ``qid`` among them; None and teachers to be trained stay
    as they are.
    They are shuffled as one table, so that no row loses its values.
    """
    present = {name: one for name, one in collections.items() if not (one is None or is_trained_here(one))}
    for name, values in present.items():
        if not isinstance(values, (dd.DataFrame, dd.Series)):
            raise TypeError(
                f"{name} must be a Dask DataFrame or Series, which can be shuffled with the queries, got "
                f"{type(values).__name__}: convert it, or put each query on one worker and set allow_group_split=True"
            )
        check_as_many_parts(values.npartitions, name, present["qid"].npartitions, "qid")
    columns = {
        name: [f"{name}.{i}" for i in range(1 if values.ndim == 1 else len(values.columns))]
        for name, values in present.items()
    }
    map_partitions: Any = dd.map_partitions
    table = map_partitions(_side_by_side, columns, *present.values(), align_dataframes=False)
    qid = table["qid.0"]
    table, qid, *_ = no_group_split(device, table, qid, qid, None, None)
    shuffled = dict(collections)
    for name, values in present.items():
        shuffled[name] = table[columns[name]] if isinstance(values, dd.DataFrame) else table[columns[name][0]]
        if isinstance(values, dd.DataFrame):
            shuffled[name].columns = values.columns
    return {**shuffled, "qid": qid}


def _side_by_side(columns: Mapping[str, list[str]], *parts: Any) -> pd.DataFrame:
    """Return one partition of each as one table; rows are matched by order, not by index."""
    n_rows = {name: len(part) for name, part in zip(columns, parts, strict=True)}
    if len(set(n_rows.values())) > 1:
        found = ", ".join(f"{n} in {name}" for name, n in n_rows.items())
        raise ValueError(f"a partition must have equally many rows in all, got {found}: make all from one table")
    tables = [
        (part if part.ndim == 2 else part.to_frame()).reset_index(drop=True).set_axis(columns[name], axis=1)
        for name, part in zip(columns, parts, strict=True)
    ]
    table: pd.DataFrame = pd.concat(tables, axis=1)
    return table


def check_queries(parts: Sequence[Mapping[str, Any]], *, may_split: bool, has_row_values: bool) -> None:
    """Raise if a query is split or unsorted; call it on every worker with its partitions.

    XGBoost sorts the rows of a worker by qid, but not other values of the rows.
    """
    if "qid" not in parts[0]:
        return
    qid = np.concatenate([on_host(part["qid"], "qid") for part in parts])
    with all_or_none("looking at the queries"):
        if has_row_values and (qid[1:] < qid[:-1]).any():
            raise ValueError(
                "qid must rise from row to row with values per row (teacher, labelled, teacher_weight, "
                "crossfit_groups), since XGBoost would sort only its own rows: sort all of them by qid"
            )
    if not may_split and (n_split := on_several_workers(qid)):
        raise ValueError(
            f"{n_split} queries have rows on several workers: put all rows of a query on one worker, as "
            "DaskPrivilegedXGBRanker with allow_group_split=False does"
        )
