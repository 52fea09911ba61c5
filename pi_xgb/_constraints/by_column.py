"""Constraints that name their columns; the estimator looks up the values in ``fit``."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any, NoReturn

from .._arrays import Array
from .._core.teachers import Teacher
from .._rows.tables import listed

# Keywords of the constraints that take one value per row.
ROW_VALUES = ("sensitive_features", "key", "features", "merit")


class ByColumn(Teacher):
    """A constraint with column names in place of values; ``DemographicParity("sex")`` and :func:`by_column` return it.

    The scikit-learn estimators look up the columns. Every other training raises TypeError.

    Examples
    --------
    >>> from pi_xgb.constraints import DemographicParity
    >>> DemographicParity("sex").columns
    {'sensitive_features': 'sex'}
    """

    def __init__(self, constraint: Callable[..., Teacher], columns: dict[str, Any], options: dict[str, Any]) -> None:
        self.constraint = constraint
        self.columns = columns
        self.options = options

    @property
    def privileged_columns(self) -> list[Any]:  # type: ignore[override]  # it is read only
        """The columns of ``sensitive_features``, which the student should not see."""
        return listed(self.columns.get("sensitive_features"))

    def resolve_columns(self, look_up: Callable[[Any], Any]) -> Teacher:
        """Return the constraint on the values of its columns."""
        values = {name: look_up(columns) for name, columns in self.columns.items()}
        return self.constraint(**values, **self.options)

    def q(self, mean: Array, label: Array, weight: Array | None) -> Array:
        self._refuse()

    def check(self, n_rows: int) -> None:
        """Raise before the training: the values are not known."""
        self._refuse()

    def subset(self, rows: Array) -> Teacher:
        """Raise: a subset needs values."""
        self._refuse()

    def _refuse(self) -> NoReturn:
        raise TypeError(
            f"{self!r} names columns, which only constraints= of the scikit-learn estimators looks up: "
            "pass the constraint one value per training row"
        )

    @property
    def kind(self) -> str:  # type: ignore[override]  # it is read only
        """The constraint with its columns, as a user writes it."""
        options = [f"{name}={value!r}" for name, value in self.options.items()]
        return f"{self._name}({', '.join([*map(repr, self.columns.values()), *options])})"

    @property
    def _name(self) -> str:
        return str(getattr(self.constraint, "__name__", self.constraint))

    def __repr__(self) -> str:
        named = ", ".join(f"{name}={value!r}" for name, value in {**self.columns, **self.options}.items())
        return f"by_column({self._name}, {named})"


def by_column(constraint: Callable[..., Teacher], /, *columns: Any, **options: Any) -> ByColumn:
    """Name the columns that a constraint reads, in place of their values.

    Use it in ``constraints=`` of the scikit-learn estimators, where ``DemographicParity("sex")`` is short for
    ``by_column(DemographicParity, "sex")``. Several columns, and positions in an array, need the long form. Values fit
    one data set only. A name also fits the rows of a fold, so searches and cross-validation work, and the estimator's
    parameters hold no data.

    Parameters
    ----------
    constraint : class
        A class of :mod:`pi_xgb.constraints`.
    *columns, **options
        The arguments of the class. Column names (positions for arrays) replace the values of ``sensitive_features``,
        ``merit``, ``key`` and ``features``. Several columns are a list.

    Examples
    --------
    >>> from pi_xgb.constraints import DemographicParity, IndividualFairness
    >>> from pi_xgb.sklearn import by_column
    >>> by_column(DemographicParity, "sex", match="mean")
    by_column(DemographicParity, sensitive_features='sex', match='mean')
    >>> by_column(IndividualFairness, features=["age", "income"], k=5)
    by_column(IndividualFairness, features=['age', 'income'], k=5)
    """
    arguments = inspect.signature(constraint).bind(*columns, **options).arguments
    named = {name: value for name, value in arguments.items() if name in ROW_VALUES and value is not None}
    if not named:
        raise ValueError(
            f"by_column needs a column for at least one of {', '.join(ROW_VALUES)}, got {sorted(arguments)}: "
            'for example by_column(DemographicParity, "sex")'
        )
    return ByColumn(constraint, named, {name: value for name, value in arguments.items() if name not in named})
