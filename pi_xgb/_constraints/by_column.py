"""Constraints that name their columns; the estimator looks up the values in ``fit``."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any, NoReturn

from .._core.training import Teacher, Training
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

    def __init__(self, constraint: type[Teacher], columns: dict[str, Any], options: dict[str, Any]) -> None:
        self.constraint = constraint
        self.columns = columns
        self.options = options
        # The columns of ``sensitive_features``, which the student should not see.
        self.privileged_columns = listed(columns.get("sensitive_features"))
        # The constraint with its columns, as a user writes it.
        self.kind = f"{constraint.__name__}({', '.join([*map(repr, columns.values()), *as_keywords(options)])})"

    def resolve_columns(self, look_up: Callable[[Any], Any]) -> Teacher:
        """Return the constraint on the values of its columns."""
        return self.constraint(**{name: look_up(columns) for name, columns in self.columns.items()}, **self.options)

    def start(self, training: Training) -> NoReturn:
        """Raise before the training: the values are not known."""
        raise TypeError(
            f"{self!r} names columns, which only constraints= of the scikit-learn estimators looks up: "
            "pass the constraint one value per training row"
        )

    q = subset = check = start  # type: ignore[assignment]

    def __repr__(self) -> str:
        named = as_keywords(self.columns | self.options)
        return f"by_column({', '.join([self.constraint.__name__, *named])})"


def as_keywords(options: dict[str, Any]) -> list[str]:
    """Return the options as a user writes them."""
    return [f"{name}={value!r}" for name, value in options.items()]


def by_column(constraint: type[Teacher], /, *columns: Any, **options: Any) -> ByColumn:
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
        raise ValueError(f"by_column needs a column for one of {', '.join(ROW_VALUES)}, got {sorted(arguments)}")
    return ByColumn(constraint, named, {name: value for name, value in arguments.items() if name not in named})
