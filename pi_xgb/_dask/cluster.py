"""One training on a Dask cluster: match the rows here, then call ``pi_xgb.train`` on each worker."""

from __future__ import annotations

import concurrent.futures
import contextlib
import dataclasses
from collections.abc import Sequence
from typing import Any

import distributed
import xgboost
from xgboost import collective
from xgboost.compat import concat

from .._core.keywords import PER_ROW, SETTINGS, Keywords
from .._core.teachers import is_trained_here
from .._core.train import train
from .._rows.matrix_checks import check_evals
from .._xgb.collective import all_or_none
from .._xgb.params import objective_name, user_params
from .queries import check_queries
from .rows import Assignment, Part, assign, check_same_parts, parts_of_matrix, parts_per_row
from .teachers import for_worker, of_rows, read_teachers

try:
    from xgboost.dask import CommunicatorContext, _get_dask_config, _get_rabit_args
    from xgboost.dask.data import _get_dmatrices
    from xgboost.dask.utils import get_n_threads
except ImportError as error:
    raise RuntimeError(
        f"xgboost must be 3.1 to 3.4, the versions tested with pi_xgb.dask, got {xgboost.__version__}: {error}. "
        "Install one of these"
    ) from error

Named = Sequence[tuple[Any, str]]
MatrixArguments = tuple[list[Any], dict[str, Any]]
"""Positional and named arguments of XGBoost's function that builds the matrices of a worker."""


@dataclasses.dataclass(frozen=True)
class Settings:
    """The settings shared by all workers."""

    params: dict[str, Any]
    keywords: dict[str, Any]
    """The keywords of ``pi_xgb.train`` other than rows and teachers, ``num_boost_round`` among them."""
    coll_cfg: Any
    global_config: dict[str, Any]
    """XGBoost's global configuration."""
    splits_queries: bool
    """Whether each worker may rank its own part of a query."""


async def train_async(
    client: Any,
    params: Any,
    dtrain: Any,
    config: Keywords,
    *,
    evals: Named | None,
    coll_cfg: Any = None,
    splits_queries: bool = False,
    **keywords: Any,
) -> dict[str, Any]:
    """Run :func:`pi_xgb.dask.train` with a teacher; ``config`` is checked already."""
    keywords |= {name: getattr(config, name) for name in SETTINGS}
    # The other part of a query would leak into a fold.
    splits_queries = splits_queries and not config.naming_teacher(objective_name(user_params(params))).is_crossfitted
    settings = Settings(user_params(params), keywords, coll_cfg, xgboost.get_config(), splits_queries)
    evals = check_evals(evals or (), "evals")
    privileged_evals = check_evals(config.privileged_evals or (), "privileged_evals")
    parts = await parts_of_matrix(client, dtrain, "dtrain")
    assignment = assign(parts)

    student = await _matrix_arguments(client, assignment, dtrain, parts, evals, "evals")
    privileged: dict[str, MatrixArguments] = {}
    if config.privileged is not None:
        privileged_parts = await parts_of_matrix(client, config.privileged, "privileged")
        check_same_parts(parts, privileged_parts, "dtrain", "privileged")
        privileged = await _matrix_arguments(
            client, assignment, config.privileged, privileged_parts, privileged_evals, "privileged_evals"
        )
    teachers = await read_teachers(client, config.teacher, parts)
    columns = {
        name: await parts_per_row(client, values, parts, name)
        for name in PER_ROW
        if (values := getattr(config, name)) is not None
    }

    loads = {
        worker: (
            student[worker],
            privileged.get(worker),
            [[for_worker(value, assignment, parts, worker) for value in pair] for pair in teachers],
            {name: assignment.futures(values, worker) for name, values in columns.items()},
        )
        for worker in assignment.workers
    }
    return await _train_together(client, settings, loads)


async def _matrix_arguments(
    client: Any, assignment: Assignment, matrix: Any, parts: list[Part], evals: Named, keyword: str
) -> dict[str, MatrixArguments]:
    """Return the arguments by worker that build its training matrix and its evaluation matrices."""
    placed = [(matrix, {worker: assignment.futures(parts, worker) for worker in assignment.workers})]
    for other, label in evals:
        name = f"{keyword} {label!r}"
        other_parts = await parts_of_matrix(client, other, name)
        # A teacher that stops early evaluates rows on every worker.
        everywhere = keyword == "privileged_evals"
        placed.append((other, assignment.other_futures(other_parts, name, everywhere=everywhere)))
    # XGBoost compares identities to see whether the training rows are evaluated.
    names = {"evals_id": [id(other) for other, _ in evals], "evals_name": [label for _, label in evals]}
    arguments = {
        worker: [{**one._create_fn_args(worker), "parts": futures[worker] or None} for one, futures in placed]
        for worker in assignment.workers
    }
    return {worker: ([own, id(matrix), *others], names) for worker, (own, *others) in arguments.items()}


async def _train_together(client: Any, settings: Settings, loads: dict[str, tuple[Any, ...]]) -> dict[str, Any]:
    """Train on every worker with its load, in one communicator."""
    workers = list(loads)
    # Two simultaneous trainings on one worker would deadlock.
    async with distributed.MultiLock(workers, client):
        communicator = await _get_rabit_args(
            client, len(workers), dconfig=_get_dask_config(), coll_cfg=settings.coll_cfg
        )
        futures = [
            client.submit(
                _work,
                worker,
                settings,
                communicator,
                *load,
                workers=[worker],
                # If its worker is lost the task must fail elsewhere instead of waiting for ever.
                allow_other_workers=True,
                pure=False,
            )
            for worker, load in loads.items()
        ]
        return await _result(futures)


def _work(
    address: str,
    settings: Settings,
    communicator: dict[str, Any],
    student: MatrixArguments,
    privileged: MatrixArguments | None,
    teachers: list[list[Any]],
    columns: dict[str, list[Any]],
) -> dict[str, Any] | None:
    """Build the matrices on a worker and train; rank 0 returns the result."""
    worker = distributed.get_worker()
    if worker.address != address:
        raise ConnectionError(
            f"the worker {address} was lost during the training: restart it, rebuild the DaskDMatrix and train again "
            "(xgb_model= continues from a saved model)"
        )
    n_threads = get_n_threads(settings.params, worker)
    params = {**settings.params, "nthread": n_threads}
    params.pop("n_jobs", None)
    if hasattr(settings.coll_cfg, "update_worker_args"):  # since XGBoost 3.3
        communicator = settings.coll_cfg.update_worker_args(communicator)

    history: dict[str, Any] = {}
    with (
        CommunicatorContext(**communicator),
        xgboost.config_context(**{**settings.global_config, "nthread": n_threads}),
    ):
        by_row = [not is_trained_here(teacher) or isinstance(weight, list) for teacher, weight in teachers]
        has_row_values = bool(columns) or any(by_row)
        check_queries(student[0][0]["parts"], may_split=settings.splits_queries, has_row_values=has_row_values)
        dtrain, evals = _matrices(student, n_threads, settings.keywords["xgb_model"])
        supervision: dict[str, Any] = {}
        if privileged is not None:
            matrix, privileged_evals = _matrices(privileged, n_threads, None)
            supervision = {"privileged": matrix, "privileged_evals": privileged_evals or None}
        with all_or_none("making the teachers"):
            supervision |= {name: concat(values) for name, values in columns.items()}
            if teachers:
                pairs = [(of_rows(teacher), of_rows(weight)) for teacher, weight in teachers]
                supervision["teacher"] = pairs[0][0] if pairs[0][1] is None else pairs
        booster = train(params, dtrain, evals=evals, evals_result=history, **supervision, **settings.keywords)
        is_first = collective.get_rank() == 0
    return {"booster": booster, "history": history} if is_first else None


def _matrices(arguments: MatrixArguments, n_threads: int, model: Any) -> Any:
    positional, names = arguments
    return _get_dmatrices(*positional, **names, n_threads=n_threads, model=model)


async def _result(futures: list[Any]) -> dict[str, Any]:
    """Return the model, or raise the error that names the cause."""
    # In turn, since a wait for all raises as soon as a future is lost with its data.
    wait: Any = distributed.wait
    for future in futures:
        with contextlib.suppress(concurrent.futures.CancelledError):
            await wait([future])
    errors = [await future.exception() for future in futures if future.status == "error"]
    if any(future.status not in ("finished", "error") for future in futures):
        errors.append(
            ConnectionError(
                "a worker was lost during the training together with its rows: reload the data, rebuild the "
                "DaskDMatrix and train again"
            )
        )
    if errors:
        raise min(errors, key=_is_consequence)
    results: list[dict[str, Any] | None] = [await future for future in futures]
    return next(result for result in results if result is not None)


def _is_consequence(error: BaseException) -> bool:
    """Return whether an error follows from the error or the loss of another worker."""
    if isinstance(error, xgboost.core.XGBoostError):
        return "collective" in str(error)
    return "other worker(s) of this distributed training" in str(error)
