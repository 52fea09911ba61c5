"""The base class of the constraints: row values, soft and counted form, several classes, several workers."""

from __future__ import annotations

import contextlib
import copy
import inspect
from typing import Any, ClassVar

import numpy as np
from xgboost import collective

from .._arrays import Array, array_module, to_host
from .._core.step import HESSIANS, Hessian
from .._core.task import Task
from .._core.teachers import Start, Teacher
from .._rows.checks import check_choice
from .._rows.groups import Groups
from .._xgb.collective import all_or_none, global_sum, on_any_worker
from .by_column import ROW_VALUES, by_column


class Constraint(Teacher):
    """A teacher whose q are the current predictions, moved until they satisfy a constraint.

    In distributed training :meth:`start` numbers groups, keys and levels alike on all workers, and statistics cover the
    rows of all workers. Without ``start``, q depends on the rows of this process alone.
    """

    is_adaptive = True
    _row_values_name: str
    __signature__: ClassVar[inspect.Signature]

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        # Otherwise help() and editors show the signature of __new__.
        cls.__signature__ = inspect.Signature(list(inspect.signature(cls.__init__).parameters.values())[1:])

    def __new__(cls, *arguments: Any, **options: Any) -> Any:
        """Return a ``ByColumn`` if a column name stands in place of the values: DemographicParity("sex")."""
        cls._check_positions(len(arguments))
        if any(isinstance(value, str) for value in (*arguments, *(options.get(name) for name in ROW_VALUES))):
            return by_column(cls, *arguments, **options)
        return super().__new__(cls)

    @classmethod
    def _check_positions(cls, n_given: int) -> None:
        """Raise if there are too many positional arguments; Python's own message would name a base class."""
        parameters = cls.__signature__.parameters.values()
        positional = [param.name for param in parameters if param.kind is param.POSITIONAL_OR_KEYWORD]
        if n_given > len(positional):
            by_name = ", ".join(f"{param.name}=" for param in parameters if param.kind is param.KEYWORD_ONLY)
            raise TypeError(
                f"{cls.__name__} takes {' and '.join(positional) or 'nothing'} by position, got {n_given} values: pass "
                f"the others by name ({by_name}). Labels and weights come with the training rows. Further groups are "
                "further columns of one table"
            )

    def __init__(self, row_values: Array, *, soft: bool, hessian: Hessian) -> None:
        check_choice(hessian, HESSIANS, "hessian")
        if not isinstance(soft, (bool, np.bool_)):
            raise TypeError(
                f"soft must be True (predictions) or False (counted decisions), got {soft!r} of type "
                f"{type(soft).__name__}"
            )
        self._row_values = row_values
        self.soft = bool(soft)
        self.hessian = hessian
        self._agreed: Groups | None = None

    def _satisfied(self, value: Array, label: Array, weight: Array | None) -> Array:
        """Return the float32 ``value`` of each row, moved to satisfy the constraint, in float64."""
        raise NotImplementedError

    def _agree(self) -> Groups | None:
        """Return the row values, numbered alike on all workers; raise the same error on all of them."""

    @property
    def _over_workers(self) -> bool:
        return self._agreed is not None

    @property
    def _shared(self) -> Array:
        """The row values, numbered alike on all workers."""
        return self._row_values if self._agreed is None else self._agreed.codes

    def start(self, training: Start) -> None:
        """Begin a training: number the row values alike on all workers."""
        self._agreed = None
        if collective.is_distributed():
            self._agreed = self._agree()

    def q(self, mean: Array, label: Array, weight: Array | None) -> Array:
        xp = array_module(mean)
        mean, label, weight = to_host(mean), to_host(label), to_host(weight)
        p = np.asarray(mean, np.float32)
        name = type(self).__name__
        # If one worker alone raised, the others would wait for its statistics.
        with all_or_none(f"a check of the predictions by {name}") if self._over_workers else contextlib.nullcontext():
            self._check_rows(p, label)
        columns = p[:, None] if p.ndim == 1 else p
        target = np.stack([self._target(column, label, weight) for column in columns.T], axis=1)
        if columns.shape[1] > 1:
            target = _rescale_rows(target, columns)
        return xp.asarray(target.astype(np.float32).reshape(p.shape))

    def _requested(self, task: Task, mean: Array) -> Array:
        # The shift of a group can leave the range of the predictions.
        within = task.spec.loss.range
        return array_module(mean).clip(super()._requested(task, mean), within.low, within.high)

    def _target(self, p: Array, label: Array, weight: Array | None) -> Array:
        if self.soft:
            return self._satisfied(p, label, weight)
        vote = self._vote(p, label, weight)
        return np.where((vote > 0.5) == (p > 0.5), p, vote)

    def _vote(self, p: Array, label: Array, weight: Array | None) -> Array:
        """Return a value per row: the constraint decides 1 above 1/2, and 0 below."""
        share = self._satisfied((p > 0.5).astype(np.float32), label, weight)
        tie = share == 0.5
        has_ties = on_any_worker(tie.any()) if self._over_workers else tie.any()
        return np.where(tie, self._satisfied(p, label, weight), share) if has_ties else share

    def check(self, n_rows: int) -> None:
        if n_rows != len(self._row_values):
            raise ValueError(
                f"{self._row_values_name} of {type(self).__name__} must have one value per training row, got "
                f"{len(self._row_values)} for {n_rows} rows: pass all of them in the order of the rows. (Names of "
                "several columns need pi_xgb.sklearn.by_column. xgboost.cv does not report the rows of a fold: use "
                "pi_xgb.cv)"
            )

    def subset(self, rows: Array) -> Teacher:
        part = copy.copy(self)
        part._row_values = self._row_values[rows]
        part._agreed = None
        return part

    def _check_rows(self, p: Array, label: Array) -> None:
        self.check(len(p))
        if not np.isfinite(p).all():
            raise ValueError(
                f"{type(self).__name__} got predictions that are NaN or infinite: the training has diverged. Lower "
                "eta, or check the labels and weights"
            )
        several = p.ndim == 2 and p.shape[1] > 1
        if several and (np.ndim(label) == 2 or not np.allclose(p.sum(axis=1), 1.0, atol=1e-3)):
            raise ValueError(
                f"{type(self).__name__} needs probabilities of classes in several columns, got {p.shape[1]} targets or "
                "rows that do not sum to 1: train one model per target"
            )
        if not self.soft and (several or p.min() < 0 or p.max() > 1):
            raise ValueError(
                "soft=False needs one probability per row, got predictions of shape "
                f"{p.shape} from {p.min()} to {p.max()}: use soft=True for classes and for regression"
            )

    @property
    def kind(self) -> str:  # type: ignore[override]  # it is read only
        """Its class, with the options that are not the default: no value and no name of a column."""
        usual = {one.name: one.default for one in self.__signature__.parameters.values() if one.name not in ROW_VALUES}
        options = {name: getattr(self, name, None) for name in usual}
        changed = [
            f"{name}={value!r}"
            for name, value in options.items()
            if isinstance(value, (bool, int, float, str)) and value != usual[name]
        ]
        return f"{type(self).__name__}({', '.join(changed)})" if changed else type(self).__name__

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._describe()}{len(self._row_values)} rows, soft={self.soft})"

    def _describe(self) -> str:
        return ""


def rows_are_all() -> bool:
    """Return whether this process holds all rows, so that checks need no other worker."""
    return not collective.is_distributed()


def rows_of_all_workers(rows: Array) -> int:
    """Return the number of rows of all workers."""
    return int(global_sum(np.array([len(rows)], np.float64))[0])


def _rescale_rows(target: Array, p: Array) -> Array:
    """Return the rows of ``target`` with the sums of p; rows equal to p stay equal to the bit."""
    total = target.sum(axis=1, keepdims=True)
    rescaled = target * (p.sum(axis=1, keepdims=True, dtype=np.float64) / np.where(total > 0, total, 1.0))
    return np.where(total > 0, rescaled, p)
