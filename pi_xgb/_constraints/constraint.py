"""The base class of the constraints: row values, soft and counted form, several classes, several workers."""

from __future__ import annotations

import copy
import inspect
from contextlib import nullcontext
from typing import Any, ClassVar, Literal

import numpy as np
from xgboost import collective

from .._arrays import Array, array_module, to_host
from .._core.training import HESSIANS, About, Hessian, Teacher, Training
from .._rows.checks import check_choice
from .._rows.groups import Groups, shared_codes
from .._xgb.collective import all_or_none, global_sum
from .by_column import ROW_VALUES, as_keywords, by_column


class Constraint(Teacher):
    """A teacher whose q are the current predictions, moved until they satisfy a constraint.

    A kind gives its row values to ``__init__`` as codes and their names, and defines :meth:`_satisfied`.

    In distributed training :meth:`start` numbers groups, keys and levels alike on all workers, and statistics cover the
    rows of all workers. Without ``start``, q depends on the rows of this process alone.
    """

    is_adaptive = True
    _row_values_name: str
    _labels: ClassVar[Literal["whole numbers", "0 or 1", None]] = None
    _one_prediction = _probabilities = False
    """What the kind needs: which labels, one prediction per row, and that it is a probability."""
    __signature__: ClassVar[inspect.Signature]

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        # Otherwise help() and editors show the signature of __new__.
        cls.__signature__ = inspect.Signature(list(inspect.signature(cls.__init__).parameters.values())[1:])

    def __new__(cls, *arguments: Any, **options: Any) -> Any:
        """Return a ``ByColumn`` if a column name stands in place of the values: DemographicParity("sex")."""
        try:
            given = cls.__signature__.bind_partial(*arguments, **options).arguments
        except TypeError as error:
            hint = f"{', '.join(cls.__signature__.parameters)}; options by name, several groups as one table"
            raise TypeError(f"{cls.__name__}: {error}. It takes {hint}") from None
        if any(isinstance(given.get(name), str) for name in ROW_VALUES):
            return by_column(cls, **given)
        return super().__new__(cls)

    def __init__(self, own: Groups, *, soft: bool, hessian: Hessian) -> None:
        check_choice(hessian, HESSIANS, "hessian")
        if soft not in (True, False):
            raise TypeError(f"soft must be True (predictions) or False (counted decisions), got {soft!r}")
        self._own = self._rows = own
        """The code of each row: of this process, and as numbered in the training."""
        self._over_workers = False
        self._within = (-np.inf, np.inf)
        self.soft = bool(soft)
        self.hessian = hessian
        if not collective.is_distributed():
            self._check_values(own, len(own.codes))

    def _check_values(self, rows: Groups, n_rows: int) -> None:
        """Raise if the values of all ``n_rows`` rows constrain nothing."""

    def _satisfied(self, value: Array, label: Array, weight: Array | None) -> Array:
        """Return the float32 ``value`` of each row, moved to satisfy the constraint, in float64."""
        raise NotImplementedError

    def check(self, n_rows: int) -> None:
        """Raise, before any training, unless there are ``n_rows`` row values."""
        if n_rows != len(self._own.codes):
            raise ValueError(
                f"{self._row_values_name} of {type(self).__name__} must have one value per training row, got "
                f"{len(self._own.codes)} for {n_rows} rows: pass all in their order (names of several columns by "
                "pi_xgb.sklearn.by_column; in folds use pi_xgb.cv, since xgboost.cv does not report their rows)"
            )

    @property
    def about(self) -> About:  # type: ignore[override]  # it is read only
        """The kind that a model records."""
        return About(kind=self.kind)

    def start(self, training: Training) -> None:
        """Raise unless the values fit the rows; with a student, number them alike on all workers."""
        self.check(training.n_rows)
        self._within = training.spec.loss.range[:2]
        self._over_workers = training.student is not None and collective.is_distributed()
        self._rows = self._agree() if self._over_workers else self._own
        if self._over_workers:
            self._check_values(self._rows, int(global_sum(np.array([len(self._own.codes)]))[0]))

    def _agree(self) -> Groups:
        """Return the row values, numbered alike on all workers."""
        return shared_codes(self._own.codes, self._own.names.tolist())

    def subset(self, rows: Array) -> Teacher:
        part = copy.copy(self)
        part._own = part._rows = Groups(self._own.codes[rows], self._own.names)
        part._over_workers = False
        return part

    def q(self, mean: Array, label: Array, weight: Array | None) -> Array:
        xp = array_module(mean)
        mean, label, weight = to_host(mean), to_host(label), to_host(weight)
        p = np.asarray(mean, np.float32)
        # If one worker alone raised, the others would wait for its statistics.
        with all_or_none(f"a check of the predictions by {self.kind}") if self._over_workers else nullcontext():
            self._check_rows(p, label)
        columns = p[:, None] if p.ndim == 1 else p
        target = np.stack([self._target(column, label, weight) for column in columns.T], axis=1)
        if columns.shape[1] > 1:
            target = _rescale_rows(target, columns)
        # The shift of a group can leave the range of the predictions.
        return xp.asarray(target.astype(np.float32).reshape(p.shape).clip(*self._within))

    def _target(self, p: Array, label: Array, weight: Array | None) -> Array:
        if self.soft:
            return self._satisfied(p, label, weight)
        vote = self._vote(p, label, weight)
        return np.where((vote > 0.5) == (p > 0.5), p, vote)

    def _vote(self, p: Array, label: Array, weight: Array | None) -> Array:
        """Return a value per row: the constraint decides 1 above 1/2, and 0 below."""
        share = self._satisfied((p > 0.5).astype(np.float32), label, weight)
        return np.where(share == 0.5, self._satisfied(p, label, weight), share)

    def _check_rows(self, p: Array, label: Array) -> None:
        """Raise unless predictions and labels are what the constraint is defined for."""
        self.check(len(p))
        if not np.isfinite(p).all():
            raise ValueError(f"{self.kind} got NaN or infinite predictions: lower eta, or check labels and weights")
        several = p.ndim == 2 and p.shape[1] > 1
        if several and (np.ndim(label) == 2 or not np.allclose(p.sum(axis=1), 1.0, atol=1e-3)):
            raise ValueError(f"{self.kind} needs rows that sum to 1, got {p.shape[1]} targets: train a model each")
        shares = self._probabilities or not self.soft
        if (several and (shares or self._one_prediction)) or (shares and (p.min() < 0 or p.max() > 1)):
            raise ValueError(
                f"{self.kind} needs one {'probability' if shares else 'prediction'} per row, got shape {p.shape} from "
                f"{p.min()} to {p.max()}: use binary:logistic; for classes and regression DemographicParity, soft=True"
            )
        if self._labels is not None:
            label = np.asarray(label)
            known = label[~np.isnan(label)]
            is_odd = (known != 0) & (known != 1) if self._labels == "0 or 1" else known % 1 != 0
            if label.shape != self._own.codes.shape or is_odd.any():
                raise ValueError(
                    f"{self.kind} needs one label per row, {self._labels}, got {known[is_odd][:3].tolist()} among "
                    f"labels of shape {label.shape} for {len(p)} rows: use DemographicParity, for classes EqualizedOdds"
                )

    @property
    def kind(self) -> str:
        """Its class, with the options that are not the default: no value and no name of a column."""
        options = [one for one in self.__signature__.parameters.values() if one.name not in ROW_VALUES]
        values = {one.name: getattr(self, one.name) for one in options if getattr(self, one.name) != one.default}
        return f"{type(self).__name__}({', '.join(as_keywords(values))})" if values else type(self).__name__

    def __repr__(self) -> str:
        return f"<{self.kind} of {len(self._own.codes)} rows>"


def _rescale_rows(target: Array, p: Array) -> Array:
    """Return the rows of ``target`` with the sums of p; rows equal to p stay equal to the bit."""
    total = target.sum(axis=1, keepdims=True)
    rescaled = target * (p.sum(axis=1, keepdims=True, dtype=np.float64) / np.where(total > 0, total, 1.0))
    return np.where(total > 0, rescaled, p)
