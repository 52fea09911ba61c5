"""What constraints share: the rows they know, the soft and the counted form, columns of classes, workers."""

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
    """A teacher whose q is what a constraint would have the current predictions be.

    A training among workers begins with :meth:`start`, which settles what they call the same group, key or level.
    From then on statistics are those of the rows of all workers; q asked for without a start looks at its own rows.
    """

    is_adaptive = True
    kind = "constraint"
    _row_values_name: str
    __signature__: ClassVar[inspect.Signature]

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        # Tools would show what __new__ takes.
        cls.__signature__ = inspect.Signature(list(inspect.signature(cls.__init__).parameters.values())[1:])

    def __new__(cls, *arguments: Any, **options: Any) -> Any:
        """A name in the place of values is a column that an estimator looks up: DemographicParity("sex")."""
        cls._check_positions(len(arguments))
        if any(isinstance(value, str) for value in (*arguments, *(options.get(name) for name in ROW_VALUES))):
            return by_column(cls, *arguments, **options)
        return super().__new__(cls)

    @classmethod
    def _check_positions(cls, n_given: int) -> None:
        """Python's own message would name a base class and no way out."""
        parameters = cls.__signature__.parameters.values()
        places = [one.name for one in parameters if one.kind is one.POSITIONAL_OR_KEYWORD]
        if n_given > len(places):
            by_name = ", ".join(f"{one.name}=" for one in parameters if one.kind is one.KEYWORD_ONLY)
            raise TypeError(
                f"{cls.__name__} takes {' and '.join(places) or 'nothing'} by position, got {n_given} values: labels "
                f"and weights come with the training rows, everything else goes by name ({by_name}), and further "
                "groups are further columns of one table"
            )

    def __init__(self, row_values: Array, *, soft: bool, hessian: Hessian) -> None:
        check_choice(hessian, HESSIANS, "hessian")
        if not isinstance(soft, (bool, np.bool_)):
            raise TypeError(
                f"soft must be True (predictions) or False (decisions by counting), got {soft!r} of type "
                f"{type(soft).__name__}"
            )
        self._row_values = row_values
        self.soft = bool(soft)
        self.hessian = hessian
        self._agreed: Groups | None = None

    def _satisfied(self, value: Array, label: Array, weight: Array | None) -> Array:
        """One float32 value per row as the constraint would have them, in float64."""
        raise NotImplementedError

    def _agree(self) -> Groups | None:
        """The row values in numbers that all workers share, or an error that is the same on all of them."""

    @property
    def _over_workers(self) -> bool:
        return self._agreed is not None

    @property
    def _shared(self) -> Array:
        """The row values, as all workers number them if there are several."""
        return self._row_values if self._agreed is None else self._agreed.codes

    def start(self, training: Start) -> None:
        """Begin a training; among workers, agree on what the row values mean."""
        self._agreed = None
        if collective.is_distributed():
            self._agreed = self._agree()

    def q(self, mean: Array, label: Array, weight: Array | None) -> Array:
        xp = array_module(mean)
        mean, label, weight = to_host(mean), to_host(label), to_host(weight)
        p = np.asarray(mean, np.float32)
        name = type(self).__name__
        # An error on one worker alone would leave the others waiting for its part of the statistics.
        with all_or_none(f"a check of the predictions by {name}") if self._over_workers else contextlib.nullcontext():
            self._check_rows(p, label)
        columns = p[:, None] if p.ndim == 1 else p
        wanted = np.stack([self._wanted(column, label, weight) for column in columns.T], axis=1)
        if columns.shape[1] > 1:
            wanted = _rescale_rows(wanted, columns)
        return xp.asarray(wanted.astype(np.float32).reshape(p.shape))

    def _requested(self, task: Task, mean: Array) -> Array:
        # A group that is shifted to the mean of all may leave the amounts that there can be.
        within = task.spec.loss.range
        return array_module(mean).clip(super()._requested(task, mean), within.low, within.high)

    def _wanted(self, p: Array, label: Array, weight: Array | None) -> Array:
        if self.soft:
            return self._satisfied(p, label, weight)
        vote = self._vote(p, label, weight)
        return np.where((vote > 0.5) == (p > 0.5), p, vote)

    def _vote(self, p: Array, label: Array, weight: Array | None) -> Array:
        """On which side of 1/2 the constraint would have each row decided, and how surely."""
        share = self._satisfied((p > 0.5).astype(np.float32), label, weight)
        tie = share == 0.5
        asked = on_any_worker(tie.any()) if self._over_workers else tie.any()
        return np.where(tie, self._satisfied(p, label, weight), share) if asked else share

    def check(self, n_rows: int) -> None:
        if n_rows != len(self._row_values):
            raise ValueError(
                f"{type(self).__name__} was given {self._row_values_name} of {len(self._row_values)} rows for "
                f"{n_rows} training rows: give it one value per training row, in the same order. (Inside xgboost.cv "
                "the rows of a fold cannot be told: use pi_xgb.cv)"
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
                f"{type(self).__name__} was handed predictions that are NaN or infinite: the training has diverged; "
                "lower eta, or check the labels and weights"
            )
        several = p.ndim == 2 and p.shape[1] > 1
        if several and (np.ndim(label) == 2 or not np.allclose(p.sum(axis=1), 1.0, atol=1e-3)):
            raise ValueError(
                f"{type(self).__name__} takes several columns as the probabilities of classes, and these are "
                f"{p.shape[1]} targets, or do not sum to 1: train one model per target"
            )
        if not self.soft and (several or p.min() < 0 or p.max() > 1):
            raise ValueError(
                "soft=False decides at p > 1/2 and needs one probability per row, got predictions of shape "
                f"{p.shape} from {p.min()} to {p.max()}: use soft=True for classes and for regression"
            )

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._describe()}{len(self._row_values)} rows, soft={self.soft})"

    def _describe(self) -> str:
        return ""


def rows_are_all() -> bool:
    """Whether what this process holds is all there is, so that it can be judged without the other workers."""
    return not collective.is_distributed()


def rows_of_all_workers(rows: Array) -> int:
    """How many rows all workers have together."""
    return int(global_sum(np.array([len(rows)], np.float64))[0])


def _rescale_rows(wanted: Array, p: Array) -> Array:
    """Rows of wanted with the sums of p; a row that is p already stays p to the bit."""
    total = wanted.sum(axis=1, keepdims=True)
    rescaled = wanted * (p.sum(axis=1, keepdims=True, dtype=np.float64) / np.where(total > 0, total, 1.0))
    return np.where(total > 0, rescaled, p)
