"""Queries on a cluster: the rows of one belong on one worker, side by side."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import dask.dataframe as dd
import numpy as np
import pandas as pd
from xgboost.dask.data import no_group_split

from .._rows.groups import on_several_workers
from .._rows.per_row import on_host
from .._xgb.collective import all_or_none


def with_whole_queries(collections: Mapping[str, Any], *, device: str | None) -> dict[str, Any]:
    """The rows dealt out anew as ``xgboost.dask`` does it, each query to one worker, with all their values.

    ``collections`` are of the same rows in the same partitions, ``qid`` among them; None and words stay as they are.
    They travel as one table, so that no row loses its values. That is a shuffle of all of it.
    """
    present = {name: values for name, values in collections.items() if not (values is None or isinstance(values, str))}
    for name, values in present.items():
        _check_can_travel(values, present["qid"], name)
    columns = {name: [f"{name}.{i}" for i in range(_width(values))] for name, values in present.items()}
    map_partitions: Any = dd.map_partitions
    table = map_partitions(_side_by_side, columns, *present.values(), align_dataframes=False)
    qid = table["qid.0"]
    table, qid, *_ = no_group_split(device, table, qid, qid, None, None)
    dealt = dict(collections)
    for name, values in present.items():
        dealt[name] = table[columns[name]] if isinstance(values, dd.DataFrame) else table[columns[name][0]]
        if isinstance(values, dd.DataFrame):
            dealt[name].columns = values.columns
    return {**dealt, "qid": qid}


def _check_can_travel(values: Any, qid: Any, name: str) -> None:
    if not isinstance(values, (dd.DataFrame, dd.Series)):
        raise TypeError(
            f"{name} must be a Dask DataFrame or Series, got {type(values).__name__}: queries are brought together on "
            "one worker each, and all values of their rows travel along. Or bring them together yourself and set "
            "allow_group_split=True"
        )
    if values.npartitions != qid.npartitions:
        raise ValueError(
            f"{name} has {values.npartitions} partitions, qid has {qid.npartitions}: both must be cut alike. Make both "
            "from one table, or repartition one as the other"
        )


def _width(values: Any) -> int:
    return len(values.columns) if isinstance(values, dd.DataFrame) else 1


def _side_by_side(columns: Mapping[str, list[str]], *parts: Any) -> pd.DataFrame:
    """One partition of each, as one table; rows meet by their order, whatever their index."""
    n_rows = {name: len(part) for name, part in zip(columns, parts, strict=True)}
    if len(set(n_rows.values())) > 1:
        found = ", ".join(f"{n} in {name}" for name, n in n_rows.items())
        raise ValueError(f"a partition has different numbers of rows: {found}. Make all from one table")
    tables = [
        (part if part.ndim == 2 else part.to_frame()).reset_index(drop=True).set_axis(columns[name], axis=1)
        for name, part in zip(columns, parts, strict=True)
    ]
    table: pd.DataFrame = pd.concat(tables, axis=1)
    return table


def check_queries(parts: Sequence[Mapping[str, Any]], *, may_split: bool, has_row_values: bool) -> None:
    """Where the queries of a matrix lie; to be asked on every worker, of the partitions that it has.

    XGBoost sorts the rows of a worker whose qid does not rise, and leaves other values of rows as they are.
    """
    if "qid" not in parts[0]:
        return
    qid = np.concatenate([on_host(part["qid"], "qid") for part in parts])
    with all_or_none("looking at the queries"):
        if has_row_values and (qid[1:] < qid[:-1]).any():
            raise ValueError(
                "qid does not rise from row to row, so XGBoost would sort the rows of a worker, and values of rows "
                "(teacher, labelled, teacher_weight, crossfit_groups) would go to other rows: sort all of it by qid"
            )
    n_split = 0 if may_split else on_several_workers(qid)
    if n_split:
        raise ValueError(
            f"{n_split} queries have rows on several workers, each of which ranks its own: put all rows of a query on "
            "one worker. DaskPrivilegedXGBRanker does so with allow_group_split=False"
        )
