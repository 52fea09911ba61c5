"""One Spark training: XGBoost's own barrier job, whose tasks also hold privileged rows and train a teacher.

``xgboost.spark`` has no public interface to its tasks. This file contains all uses of its private functions, and checks
that they exist.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import pandas as pd
import pyspark  # noqa: F401 (otherwise the error below would name XGBoost)
import xgboost

from .._core.train import train
from .._rows.groups import on_several_workers
from .._xgb.rebind import rebind

try:
    from xgboost.spark.core import _SparkXGBEstimator
    from xgboost.spark.data import alias, create_dmatrix_from_partitions
except ImportError as error:
    raise RuntimeError(
        f"xgboost must be 3.1 to 3.4, the versions tested with pi_xgb.spark, got {xgboost.__version__}: {error}. "
        "Install one of these"
    ) from error

SparkEstimator: Any = _SparkXGBEstimator
"""The base class of XGBoost's own estimators, not exported."""

PREFIX = "pi_xgb privileged "
"""The prefix of privileged columns in tasks, so that XGBoost reads none as feature, label or weight."""


PER_ROW = "pi_xgb row "
"""The prefix of columns with one value per row, before the name of the keyword."""


def calling(fit: Callable[..., Any], worker: Worker) -> Callable[..., Any]:
    """Return XGBoost's own ``_fit``, with tasks that build matrices and train through ``worker``."""
    return rebind(fit, create_dmatrix_from_partitions=worker.matrices, worker_train=worker.train)


@dataclasses.dataclass
class Worker:
    """The work of a task besides XGBoost's own. Each task gets its own copy."""

    names: list[str] | None
    """The privileged columns, in the order of the columns that begin with :data:`PREFIX`; None for one of vectors."""
    stops: bool
    """Whether the teacher stops early, on the privileged columns of the validation rows."""
    reads_privileged: bool
    """Whether the teacher reads values of the privileged columns, which a matrix of quantiles does not store."""
    reads_features: bool
    """The same of the features."""
    exposed: bool
    """Whether the margins of rows are exposures, which the teacher needs as well."""
    ranks: bool
    """Whether rows are ranked within queries."""
    keywords: dict[str, Any]
    """The teaching keywords of :func:`pi_xgb.train`."""
    _privileged: tuple[Any, Any] = (None, None)
    _per_row: dict[str, Any] = dataclasses.field(default_factory=dict)

    def matrices(self, *, iterator: Iterator[pd.DataFrame], **arguments: Any) -> tuple[Any, Any]:
        """Return the student's matrices, for training and validation; store the teacher's."""
        stored: list[pd.DataFrame] = []

        def student_parts() -> Iterator[pd.DataFrame]:
            for part in iterator:
                own = [name for name in part.columns if name.startswith((PREFIX, PER_ROW))]
                fields = [alias.label, alias.weight, alias.valid, alias.qid, *([alias.margin] if self.exposed else [])]
                stored.append(part[[*own, *(name for name in fields if name in part.columns)]])
                yield _with_data(part.drop(columns=own))

        student = _unquantised(arguments) if self.reads_features else arguments
        matrices: tuple[Any, Any] = create_dmatrix_from_partitions(iterator=student_parts(), **student)
        if self.names != []:
            self._privileged = create_dmatrix_from_partitions(**self._privileged_arguments(stored, arguments))
        self._per_row = _training_values(stored)
        if self.ranks:
            queries = np.concatenate([np.empty(0, object), *(part[alias.qid] for part in stored)])
            if n_split := on_several_workers(queries):
                raise ValueError(
                    f"{n_split} queries have rows in several partitions: set force_repartition=True, which puts all "
                    "rows of a query in one partition"
                )
        return matrices

    def _privileged_arguments(self, stored: list[pd.DataFrame], arguments: dict[str, Any]) -> dict[str, Any]:
        # A matrix of quantiles does not fit params with other bins.
        if self.reads_privileged or self.keywords["teacher_params"] is not None:
            arguments = _unquantised(arguments)
        # Without arguments about the student's columns.
        about_values = ("nthread", "missing", "max_bin")
        kwargs = {name: value for name, value in arguments["kwargs"].items() if name in about_values}
        if self.names is None:
            parts, columns = [part.rename(columns={PREFIX: alias.data}) for part in stored], None
        else:
            parts, columns = [_with_data(part) for part in stored], [f"{PREFIX}{i}" for i in range(len(self.names))]
            kwargs["feature_names"] = self.names
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
        """Run :func:`pi_xgb.train` on the rows of this task, together with the other tasks."""
        privileged, validation = self._privileged
        own = dict(self.keywords)
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
            privileged_evals=[(validation, "validation")] if self.stops else None,
            evals=evals,
            **self._per_row,
            **own,
            **keywords,
        )


def _unquantised(arguments: dict[str, Any]) -> dict[str, Any]:
    """Return the arguments for a matrix without quantisation."""
    kwargs = {name: value for name, value in arguments["kwargs"].items() if name != "max_bin"}
    return {**arguments, "use_qdm": False, "kwargs": kwargs}


def _training_values(parts: Sequence[pd.DataFrame]) -> dict[str, Any]:
    """Return the keywords of :func:`pi_xgb.train` with one value per row, in the order of the matrices."""
    parts = [part[~part[alias.valid].astype(bool)] if alias.valid in part.columns else part for part in parts]
    names = [name for name in (parts[0].columns if parts else ()) if name.startswith(PER_ROW)]
    return {name.removeprefix(PER_ROW): pd.concat([part[name] for part in parts]).to_numpy() for name in names}


def _with_data(part: pd.DataFrame) -> pd.DataFrame:
    """Return the rows with a column of vectors, which XGBoost reads if there are no training or no validation rows.

    XGBoost needs it even if features are columns of numbers.
    """
    return part if alias.data in part.columns else part.assign(**{alias.data: 0})
