"""One Spark training: XGBoost's own barrier job, in which each task also keeps its privileged rows and has a teacher.

``xgboost.spark`` has no public way into its tasks. Everything here that it does not promise stands in this file, and is
looked for before it is used.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import pandas as pd
import pyspark  # noqa: F401 (without it the error below would blame XGBoost)
import xgboost

from .._core.train import train
from .._rows.groups import on_several_workers
from .._xgb.rebind import rebind

try:
    from xgboost.spark.core import _SparkXGBEstimator
    from xgboost.spark.data import alias, create_dmatrix_from_partitions
except ImportError as error:
    raise RuntimeError(
        f"xgboost.spark of XGBoost {xgboost.__version__} is built differently from the versions that pi_xgb.spark was "
        f"tested with (3.1 to 3.4): {error}. Use one of those"
    ) from error

SparkEstimator: Any = _SparkXGBEstimator
"""The base of XGBoost's own estimators, which it does not export."""

# Called by its tasks.
_MATRICES, _TRAIN = "create_dmatrix_from_partitions", "worker_train"

PREFIX = "pi_xgb privileged "
"""What the privileged columns are called on their way, so that none is taken for a feature, a label or a weight."""


PER_ROW = "pi_xgb row "
"""What precedes the name of a keyword in the columns with one value per row."""


def calling(fit: Callable[..., Any], worker: Worker) -> Callable[..., Any]:
    """XGBoost's own ``_fit``, whose tasks build their matrices and train as ``worker`` does."""
    return rebind(fit, **{_MATRICES: worker.matrices, _TRAIN: worker.train})


class Worker:
    """What a task does besides XGBoost's own work. It travels to the tasks, each of which has one to itself.

    Parameters
    ----------
    names
        The privileged columns, in the order of the columns that begin with :data:`PREFIX`; None if there is one such
        column, of vectors; empty if there is none.
    stops
        Whether the teacher stops early, on the privileged columns of the validation rows.
    reads_privileged, reads_features
        Whether the teacher reads values of the privileged columns, or of the features, which no matrix of quantiles
        keeps.
    exposed
        Whether the margins of rows are exposures, which the teacher has to know as well.
    ranks
        Whether rows are ranked within queries.
    keywords
        The teaching keywords of :func:`pi_xgb.train`.
    """

    def __init__(
        self,
        names: Sequence[str] | None,
        *,
        stops: bool,
        reads_privileged: bool,
        reads_features: bool,
        exposed: bool,
        ranks: bool,
        keywords: dict[str, Any],
    ) -> None:
        self._names = None if names is None else list(names)
        self._stops, self._reads_privileged, self._reads_features = stops, reads_privileged, reads_features
        margin = [alias.margin] if exposed else []
        self._fields = [alias.label, alias.weight, alias.valid, alias.qid, *margin]
        self._ranks, self._keywords = ranks, keywords
        self._privileged: tuple[Any, Any] = (None, None)
        self._per_row: dict[str, Any] = {}
        self._queries: list[pd.Series[Any]] = []

    def matrices(self, *, iterator: Iterator[pd.DataFrame], **arguments: Any) -> tuple[Any, Any]:
        """The student's matrices, for training and validation, made by XGBoost; the teacher's are kept for later."""
        kept: list[pd.DataFrame] = []

        def student_parts() -> Iterator[pd.DataFrame]:
            for part in iterator:
                own = [name for name in part.columns if name.startswith((PREFIX, PER_ROW))]
                fields = [name for name in self._fields if name in part.columns]
                kept.append(part[[*own, *fields]])
                yield _without_trap(part.drop(columns=own))

        student = _unquantised(arguments) if self._reads_features else arguments
        matrices: tuple[Any, Any] = create_dmatrix_from_partitions(iterator=student_parts(), **student)
        if self._names != []:
            self._privileged = create_dmatrix_from_partitions(**self._privileged_arguments(kept, arguments))
        self._per_row = _training_values(kept)
        self._queries = [part[alias.qid] for part in kept if alias.qid in part.columns]
        return matrices

    def _privileged_arguments(self, kept: list[pd.DataFrame], arguments: dict[str, Any]) -> dict[str, Any]:
        # A matrix of quantiles serves no params that bin otherwise.
        if self._reads_privileged or self._keywords["teacher_params"] is not None:
            arguments = _unquantised(arguments)
        # Without arguments about the student's columns.
        about_values = ("nthread", "missing", "max_bin")
        kwargs = {name: value for name, value in arguments["kwargs"].items() if name in about_values}
        if self._names is None:
            parts, columns = [part.rename(columns={PREFIX: alias.data}) for part in kept], None
        else:
            parts, columns = [_without_trap(part) for part in kept], [f"{PREFIX}{i}" for i in range(len(self._names))]
            kwargs["feature_names"] = self._names
        return {
            **arguments,
            "iterator": iter(parts),
            "feature_cols": columns,
            "kwargs": kwargs,
            "enable_sparse_data_optim": False,
        }

    def train(
        self,
        params: dict[str, Any],
        dtrain: xgboost.DMatrix,
        *,
        evals: list[tuple[xgboost.DMatrix, str]],
        **keywords: Any,
    ) -> xgboost.Booster:
        """:func:`pi_xgb.train` on the rows of this task, among the other tasks."""
        privileged, validation = self._privileged
        queries = pd.concat(self._queries) if self._queries else np.empty(0)
        n_split = on_several_workers(queries) if self._ranks else 0
        if n_split:
            raise ValueError(
                f"{n_split} queries have rows in several partitions, each of which ranks its own: set "
                "force_repartition=True, which deals the rows out anew in whole queries"
            )
        own = dict(self._keywords)
        if own["teacher_params"] is not None:
            # Threads and devices belong to the task.
            of_task = {name: params[name] for name in ("nthread", "device") if name in params}
            own["teacher_params"] = {**own["teacher_params"], **of_task}
        if own["engine"] == "native" or "labelled" in self._per_row:
            evals = [(matrix, name) for matrix, name in evals if matrix is not dtrain]
        return train(
            params,
            dtrain,
            privileged=privileged,
            privileged_evals=[(validation, "validation")] if self._stops else None,
            evals=evals,
            **self._per_row,
            **own,
            **keywords,
        )


def _unquantised(arguments: dict[str, Any]) -> dict[str, Any]:
    """The same for a matrix that keeps all values."""
    kwargs = {name: value for name, value in arguments["kwargs"].items() if name != "max_bin"}
    return {**arguments, "use_qdm": False, "kwargs": kwargs}


def _training_values(parts: Sequence[pd.DataFrame]) -> dict[str, Any]:
    """The keywords of :func:`pi_xgb.train` with one value per row, in the order of the rows of the matrices."""
    parts = [part[~part[alias.valid].astype(bool)] if alias.valid in part.columns else part for part in parts]
    names = [name for name in (parts[0].columns if parts else ()) if name.startswith(PER_ROW)]
    return {name.removeprefix(PER_ROW): pd.concat([part[name] for part in parts]).to_numpy() for name in names}


def _without_trap(part: pd.DataFrame) -> pd.DataFrame:
    """Rows that XGBoost can divide into training and validation rows also where there are none of one kind.

    For these it asks for a column of vectors even where features are columns of numbers.
    """
    return part if alias.data in part.columns else part.assign(**{alias.data: 0})
