"""One training on a Dask cluster: the rows are lined up here, each worker then calls ``pi_xgb.train`` on its own."""

from __future__ import annotations

import concurrent.futures
import contextlib
import dataclasses
from collections.abc import Sequence
from typing import Any

import distributed
import xgboost
from xgboost import collective

from .._core.checks import check_evals
from .._core.config import PER_ROW, SETTINGS, TeacherConfig
from .._core.train import train
from .._xgb.collective import all_or_none
from .._xgb.params import user_params
from .queries import check_queries
from .rows import Part, PerRow, Shares, check_lined_up, joined, parts_of_matrix, share_out, this_client
from .teachers import made_of, teachers_on_workers

try:
    from xgboost.dask import CommunicatorContext, _get_dask_config, _get_rabit_args
    from xgboost.dask.data import _get_dmatrices
    from xgboost.dask.utils import get_n_threads
except ImportError as error:
    raise RuntimeError(
        f"xgboost.dask of XGBoost {xgboost.__version__} is built differently from the versions that pi_xgb.dask was "
        f"tested with (3.1 to 3.4): {error}. Use one of those"
    ) from error

Named = Sequence[tuple[Any, str]]


@dataclasses.dataclass(frozen=True)
class Side:
    """The rows of the student, or of the teacher: a matrix to train on and others to evaluate."""

    matrix: Any
    parts: list[Part]
    evals: list[tuple[Any, str]]
    visiting: list[dict[str, list[Any]]]
    """The partitions of each of the others, by the worker that evaluates them."""

    def of(self, shares: Shares, worker: str) -> tuple[list[Any], dict[str, Any]]:
        """What this worker builds its matrices from, and how XGBoost tells them apart."""
        own = _described(self.matrix, worker, shares.of(self.parts, worker))
        others = [
            _described(matrix, worker, housed[worker])
            for (matrix, _), housed in zip(self.evals, self.visiting, strict=True)
        ]
        told_apart = {
            "train_id": id(self.matrix),
            "evals_id": [id(matrix) for matrix, _ in self.evals],
            "evals_name": [name for _, name in self.evals],
        }
        return [own, *others], told_apart


@dataclasses.dataclass(frozen=True)
class Order:
    """What every worker is told, whatever its rows."""

    params: dict[str, Any]
    num_boost_round: int
    xgb_model: Any
    keywords: dict[str, Any]
    """The keywords of ``pi_xgb.train`` that are neither rows nor teachers."""
    coll_cfg: Any
    config: dict[str, Any]
    may_be_torn: bool
    """Whether each worker may rank what it has of a query by itself."""


async def train_async(
    client: Any,
    params: Any,
    dtrain: Any,
    num_boost_round: int,
    teacher_config: TeacherConfig,
    *,
    evals: Named | None,
    xgb_model: Any = None,
    coll_cfg: Any = None,
    may_be_torn: bool = False,
    **keywords: Any,
) -> dict[str, Any]:
    """:func:`pi_xgb.dask.train` with somebody to teach; its keywords are checked already."""
    client = this_client(client)
    keywords |= {name: getattr(teacher_config, name) for name in SETTINGS}
    teacher = teacher_config.teacher
    if isinstance(teacher, str):  # what a teacher that is learned there sees
        keywords["teacher"], teacher = teacher, None
    may_be_torn = may_be_torn and not teacher_config.crossfit  # a fold would know the other part of a query
    config = xgboost.get_config()
    order = Order(user_params(params), num_boost_round, xgb_model, keywords, coll_cfg, config, may_be_torn)
    evals = check_evals(evals or (), "evals")
    privileged_evals = check_evals(teacher_config.privileged_evals or (), "privileged_evals")
    parts = await parts_of_matrix(client, dtrain, "dtrain")
    shares = share_out(parts)

    sides: list[Side | None] = [await _side(client, shares, dtrain, parts, evals, "evals"), None]
    if teacher_config.privileged is not None:
        of_teacher = await parts_of_matrix(client, teacher_config.privileged, "privileged")
        check_lined_up(parts, of_teacher, "dtrain", "privileged")
        sides[1] = await _side(
            client, shares, teacher_config.privileged, of_teacher, privileged_evals, "privileged_evals", everywhere=True
        )
    teachers = await teachers_on_workers(client, teacher, parts)
    told = {name: getattr(teacher_config, name) for name in PER_ROW}
    per_row = {
        name: await PerRow.of(client, values, parts, name) for name, values in told.items() if values is not None
    }

    def share(thing: Any, worker: str) -> Any:
        return thing.share(shares, parts, worker) if hasattr(thing, "share") else thing

    loads = {
        worker: (
            *(None if side is None else side.of(shares, worker) for side in sides),
            None if teachers is None else [(share(one, worker), share(weight, worker)) for one, weight in teachers],
            {name: share(values, worker) for name, values in per_row.items()},
        )
        for worker in shares.workers
    }
    return await _train_together(client, order, loads)


async def _side(
    client: Any, shares: Shares, matrix: Any, parts: list[Part], evals: Named, keyword: str, *, everywhere: bool = False
) -> Side:
    """The rows of a matrix and of those to evaluate; ``everywhere``: no worker may be without any of the latter."""
    visiting = []
    for other, label in evals:
        name = f"{keyword} {label!r}"
        visiting.append(shares.visiting(await parts_of_matrix(client, other, name), name, everywhere=everywhere))
    return Side(matrix, parts, list(evals), visiting)


async def _train_together(client: Any, order: Order, loads: dict[str, tuple[Any, ...]]) -> dict[str, Any]:
    """Every worker trains on its load, in one communicator."""
    workers = list(loads)
    # Two trainings at once on one worker would wait for each other's other half.
    async with distributed.MultiLock(workers, client):
        communicator = await _get_rabit_args(client, len(workers), dconfig=_get_dask_config(), coll_cfg=order.coll_cfg)
        futures = [
            client.submit(
                _work,
                worker,
                order,
                communicator,
                *load,
                workers=[worker],
                # Where its worker is gone the task must fail somewhere else, instead of waiting for ever.
                allow_other_workers=True,
                pure=False,
            )
            for worker, load in loads.items()
        ]
        return await _outcome(futures)


def _described(matrix: Any, worker: str, parts: list[Any]) -> dict[str, Any]:
    """What XGBoost sends to a worker to build its part of a matrix from, with partitions of our choice."""
    return {**matrix._create_fn_args(worker), "parts": parts or None}


def _work(
    address: str,
    order: Order,
    communicator: dict[str, Any],
    student: Any,
    privileged: Any,
    teachers: Any,
    per_row: dict[str, list[Any]],
) -> dict[str, Any] | None:
    """On a worker: build the matrices and train; the worker of rank 0 gives the answer of all."""
    worker = distributed.get_worker()
    if worker.address != address:
        raise ConnectionError(
            f"the worker {address} was lost during the training: start it again, build the DaskDMatrix anew and train "
            "once more (xgb_model= goes on from a model that was saved)"
        )
    n_threads = get_n_threads(order.params, worker)
    params = {**order.params, "nthread": n_threads}
    params.pop("n_jobs", None)
    if hasattr(order.coll_cfg, "update_worker_args"):  # since XGBoost 3.3
        communicator = order.coll_cfg.update_worker_args(communicator)

    history: dict[str, Any] = {}
    with CommunicatorContext(**communicator), xgboost.config_context(**{**order.config, "nthread": n_threads}):
        told_by_row = teachers is not None or bool(per_row)
        check_queries(student[0][0]["parts"], may_be_torn=order.may_be_torn, told_by_row=told_by_row)
        dtrain, evals = _matrices(student, n_threads, order.xgb_model)
        taught: dict[str, Any] = {}
        if privileged is not None:
            matrix, privileged_evals = _matrices(privileged, n_threads, None)
            taught = {"privileged": matrix, "privileged_evals": privileged_evals or None}
        with all_or_none("making the teachers"):
            taught |= {name: joined(values) for name, values in per_row.items()}
            if teachers is not None:
                pairs = [
                    (made_of(share), joined(weight) if isinstance(weight, list) else weight)
                    for share, weight in teachers
                ]
                taught["teacher"] = pairs[0][0] if pairs[0][1] is None else pairs
        booster = train(
            params,
            dtrain,
            order.num_boost_round,
            evals=evals,
            evals_result=history,
            xgb_model=order.xgb_model,
            **taught,
            **order.keywords,
        )
        answers_for_all = collective.get_rank() == 0
    return {"booster": booster, "history": history} if answers_for_all else None


def _matrices(side: tuple[list[Any], dict[str, Any]], n_threads: int, model: Any) -> Any:
    (own, *others), told_apart = side
    names = dict(told_apart)
    return _get_dmatrices(own, names.pop("train_id"), *others, **names, n_threads=n_threads, model=model)


async def _outcome(futures: list[Any]) -> dict[str, Any]:
    """The model, or of all the errors the one that says most."""
    # One by one, since waiting for all raises as soon as one of them is gone together with its data.
    wait: Any = distributed.wait
    for future in futures:
        with contextlib.suppress(concurrent.futures.CancelledError):
            await wait([future])
    errors = [await future.exception() for future in futures if future.status == "error"]
    if any(future.status not in ("finished", "error") for future in futures):
        errors.append(
            ConnectionError(
                "a worker was lost during the training, and with it rows that nobody else has: load the data again, "
                "build the DaskDMatrix anew and train once more"
            )
        )
    if errors:
        raise min(errors, key=_is_a_consequence)
    answers: list[dict[str, Any] | None] = [await future for future in futures]
    return next(answer for answer in answers if answer is not None)


def _is_a_consequence(error: BaseException) -> bool:
    """Whether an error follows from another worker's: one that was told, or one that found nobody to talk to."""
    if isinstance(error, xgboost.core.XGBoostError):
        return "collective" in str(error)
    return "other worker(s) of this distributed training" in str(error)
