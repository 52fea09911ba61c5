"""What every peer shares: its limits, its rows, its encoding, its search over a grid.

Shapes, once: X is ``(n, d)`` float, categorical columns as codes 0..K-1, missing values as NaN; y is ``(n,)`` in
{0, 1}; Z (the privileged columns, training only) is ``(n, e)`` in the same form; ``sensitive`` is ``(n,)`` or
``(n, k)``, one column of group codes per sensitive attribute. ``x_types`` and ``z_types`` hold one letter per
column, "q" for numbers and "c" for categories, as XGBoost writes them; without them all columns are numbers.
"""

from __future__ import annotations

import importlib
import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from threadpoolctl import threadpool_limits

Array = np.ndarray
Option = dict[str, float]
Grid = dict[str, tuple[float, ...]]
"""One combination of parameters, and the values that each may take."""

Merit = Callable[[Array, "Rows"], Any]
"""From decisions on rows to what a search maximises."""

VALIDATION_SHARE = 0.2
VALIDATION_ROWS = 2000
"""The share of the training rows that a peer sets aside when it gets no validation rows, and how many it reads."""


def require(module: str) -> Any:
    """Import an optional library, or say how to install it."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise ImportError(
            f'this peer needs {module.split(".")[0]}: pip install ".[peers]" in a checkout (the import said: {error})'
        ) from error


def _one_blas_thread() -> Any:
    # Thousands of products of a few hundred rows: with more threads they wait for each other 10 times longer.
    return threadpool_limits(limits=1, user_api="blas")


@dataclass(frozen=True)
class Limit:
    """Why a peer does not take a set as it is. ``runs``: on a stated subsample (True), or not at all (False)."""

    runs: bool
    reason: str


@dataclass(frozen=True)
class Rows:
    """Rows that belong together; ``z`` and ``groups`` may be missing."""

    x: Array
    y: Array
    z: Array | None = None
    groups: Array | None = None

    def __len__(self) -> int:
        return len(self.y)

    @property
    def signed(self) -> Array:
        """y in {-1, +1}."""
        return 2.0 * self.y - 1.0

    def take(self, index: Array) -> Rows:
        """The rows of the given numbers."""
        cut = (None if part is None else part[index] for part in (self.z, self.groups))
        return Rows(self.x[index], self.y[index], *cut)


@dataclass
class Peer:
    """A competitor: ``fit`` on (x, y, z, groups), then ``predict_proba`` on x alone.

    A peer derives from this and gives ``_fit(train, valid)``, which sees checked rows cut to ``max_rows``, and
    ``_score(X)``, the probability of label 1. After ``fit``, ``note_`` says what a table must mention (the
    subsample, the parameters chosen), and ``chosen_`` holds those parameters.
    """

    needs_privileged: ClassVar[bool] = False
    needs_groups: ClassVar[bool] = False
    randomised: ClassVar[bool] = False
    """Whether decisions are drawn: ``predict_proba`` is then the chance that the draw says 1."""
    module: ClassVar[str | None] = None
    """The optional library that does the work."""

    max_rows: int | None = None
    seed: int = 0
    note_: str = field(default="", init=False, repr=False)
    chosen_: dict[str, Any] = field(default_factory=dict, init=False, repr=False)

    def limit(self, n_rows: int, n_groups: int | Sequence[int] = ()) -> Limit | None:
        """What keeps this peer from a set of ``n_rows``; ``n_groups`` counts the values of each sensitive column."""
        sizes = group_sizes(n_groups)
        if self.needs_groups and not sizes:
            return Limit(False, "needs a sensitive attribute, and the set has none")
        if self.needs_groups and any(size < 2 for size in sizes):
            return Limit(False, "needs at least two groups, and one sensitive attribute has a single value")
        if self.max_rows is not None and n_rows > self.max_rows:
            return Limit(True, f"trained on {self.max_rows} of {n_rows} rows")
        return None

    def missing(self) -> str | None:
        """The message of the import that fails, or None when the peer can run here."""
        if self.module is not None:
            try:
                require(self.module)
            except ImportError as error:
                return str(error)
        return None

    def fit(
        self,
        X: Any,
        y: Any,
        Z: Any = None,
        sensitive: Any = None,
        *,
        X_valid: Any = None,
        y_valid: Any = None,
        sensitive_valid: Any = None,
        x_types: Sequence[str] | None = None,
        z_types: Sequence[str] | None = None,
    ) -> Peer:
        """Train. Parameters are chosen on the validation rows, or on a fifth of the training rows without them."""
        sensitive, sensitive_valid = (part if self.needs_groups else None for part in (sensitive, sensitive_valid))
        rows = as_rows(X, y, Z if self.needs_privileged else None, sensitive)
        sizes = [] if rows.groups is None else [len(np.unique(column)) for column in rows.groups.T]
        limit = self.limit(len(rows), sizes)
        if limit is not None and not limit.runs:
            raise ValueError(f"{type(self).__name__} cannot take these rows: it {limit.reason}")
        self.x_types = list(x_types or "q" * rows.x.shape[1])
        self.z_types = None if rows.z is None else list(z_types or "q" * rows.z.shape[1])
        if self.module is not None:
            require(self.module)

        train, valid = self._split(rows, X_valid, y_valid, sensitive_valid)
        notes = []
        if self.max_rows is not None and len(train) > self.max_rows:
            notes.append(f"trained on {self.max_rows} of {len(train)} rows")
            train = subsample(train, self.max_rows, self.seed)
        self.chosen_ = {}
        self.note_ = ""
        with _one_blas_thread():
            self._fit(train, subsample(valid, VALIDATION_ROWS, self.seed))
        chosen = ", ".join(f"{key} {value:.4g}" for key, value in self.chosen_.items())
        self.note_ = "; ".join(part for part in (*notes, self.note_, chosen) if part)
        return self

    def predict_proba(self, X: Any) -> Array:
        """The probabilities of label 0 and 1, ``(n, 2)``."""
        with _one_blas_thread():
            p = np.clip(self._score(np.asarray(X, dtype=float)), 0.0, 1.0)
        return np.column_stack([1.0 - p, p])

    def predict(self, X: Any) -> Array:
        """The decisions: p > 1/2, or one draw per row where the peer is randomised."""
        p = self.predict_proba(X)[:, 1]
        threshold = np.random.default_rng(self.seed).random(len(p)) if self.randomised else 0.5
        return (p > threshold).astype(int)

    def _split(self, rows: Rows, X_valid: Any, y_valid: Any, sensitive_valid: Any) -> tuple[Rows, Rows]:
        if X_valid is not None:
            return rows, as_rows(X_valid, y_valid, None, sensitive_valid)
        valid, train = split(rows, int(np.ceil(VALIDATION_SHARE * len(rows))), self.seed)
        return train, valid

    @staticmethod
    def _encoder_of(types: Sequence[str]) -> Encoder:
        """What turns columns into numbers for a kernel; a subclass may have its own."""
        return Encoder(types)

    def _fit(self, train: Rows, valid: Rows) -> None:
        raise NotImplementedError

    def _score(self, X: Array) -> Array:
        raise NotImplementedError


def as_rows(X: Any, y: Any, Z: Any, sensitive: Any) -> Rows:
    """Arrays of the shapes above; a set without a sensitive column has no groups."""
    groups = None if sensitive is None else np.asarray(sensitive).astype(int).reshape(len(y), -1)
    groups = None if groups is None or groups.shape[1] == 0 else groups
    z = None if Z is None else np.asarray(Z, dtype=float)
    return Rows(np.asarray(X, dtype=float), np.asarray(y, dtype=float).ravel(), z, groups)


def split(rows: Rows, size: int, seed: int) -> tuple[Rows, Rows]:
    """``size`` rows and the rest, with the labels in proportion where each has two rows at least."""
    stratify = rows.y if min(np.bincount(rows.y.astype(int))) >= 2 and size >= 2 else None
    first, rest = train_test_split(np.arange(len(rows)), train_size=size, stratify=stratify, random_state=seed)
    return rows.take(np.sort(first)), rows.take(np.sort(rest))


def subsample(rows: Rows, size: int, seed: int) -> Rows:
    """At most ``size`` rows."""
    return rows if len(rows) <= size else split(rows, size, seed)[0]


class Encoder:
    """Numbers imputed by the median and standardised, categories imputed by the most frequent and one-hot.

    The dummies stay 0 and 1: standardised, a rare category would outweigh everything in a distance.
    """

    def __init__(self, types: Sequence[str]) -> None:
        numbers = make_pipeline(SimpleImputer(strategy="median", keep_empty_features=True), StandardScaler())
        categories = make_pipeline(
            SimpleImputer(strategy="most_frequent", keep_empty_features=True),
            OneHotEncoder(handle_unknown="ignore", sparse_output=False),
        )
        columns = np.asarray(list(types))
        self._columns = ColumnTransformer(
            [("q", numbers, np.flatnonzero(columns == "q")), ("c", categories, np.flatnonzero(columns == "c"))]
        )

    def fit_transform(self, X: Array) -> Array:
        """Learn the encoding of X and apply it."""
        return np.asarray(self._columns.fit_transform(X))

    def transform(self, X: Array) -> Array:
        """Apply what was learned."""
        return np.asarray(self._columns.transform(X))


def squared_distances(A: Array, B: Array) -> Array:
    """All squared distances, none below 0."""
    return np.maximum((A * A).sum(1)[:, None] + (B * B).sum(1)[None, :] - 2.0 * A @ B.T, 0.0)


def median_squared_distance(X: Array, seed: int = 0) -> float:
    """The median over pairs of at most 500 rows; 1 where it is 0, so that a width can be divided by it."""
    rows = np.random.default_rng(seed).permutation(len(X))[:500]
    distances = squared_distances(X[rows], X[rows])[np.triu_indices(len(rows), 1)]
    return float(np.median(distances)) or 1.0


def best_on_grid(options: Grid, decide: Callable[[Option], Array], valid: Rows, merit: Merit | None = None) -> Option:
    """The combination whose decisions on the validation rows have the highest merit, without one the highest AUC."""
    merit = merit or validation_auc
    every = [dict(zip(options, values, strict=True)) for values in itertools.product(*options.values())]
    return max(every, key=lambda option: merit(decide(option), valid))


def best_by_coordinate(
    options: Grid, start: Option, decide: Callable[[Option], Array], valid: Rows, sweeps: int = 3
) -> Option:
    """As :func:`best_on_grid`, one parameter at a time from ``start`` until a sweep brings nothing.

    Ties stay with what was there before. For four parameters of five values this is some 40 fits instead of 625.
    """
    best, highest = start, validation_auc(decide(start), valid)
    for _ in range(sweeps):
        before = best
        for name, values in options.items():
            for value in values:
                if value == best[name]:
                    continue
                option = {**best, name: value}
                own = validation_auc(decide(option), valid)
                if own > highest:
                    best, highest = option, own
        if best == before:
            break
    return best


def validation_auc(decision: Array, valid: Rows) -> float:
    """The AUC that a search maximises which is given no merit of its own."""
    return float(roc_auc_score(valid.y, decision))


@dataclass(frozen=True)
class Sigmoid:
    """Platt's map of decisions to probabilities. It only rises, so that it never changes a ranking."""

    slope: float
    intercept: float

    @classmethod
    def fit(cls, decision: Array, y: Array) -> Sigmoid:
        """Logistic regression of y on the decision."""
        scale = float(np.std(decision)) or 1.0
        model = LogisticRegression(C=1e3).fit(decision[:, None] / scale, y)
        return cls(max(float(model.coef_[0, 0]), 1e-3) / scale, float(model.intercept_[0]))

    def __call__(self, decision: Array) -> Array:
        """The probability of label 1."""
        return 1.0 / (1.0 + np.exp(-np.clip(self.slope * decision + self.intercept, -500, 500)))


def group_sizes(n_groups: int | Sequence[int]) -> tuple[int, ...]:
    """One number or one per sensitive column as a tuple, empty where there is no sensitive column."""
    return tuple(int(size) for size in np.atleast_1d(n_groups) if size > 0)


def group_numbers(groups: Array) -> Array:
    """The sensitive columns joined into one, numbered from 0."""
    return np.unique(groups, axis=0, return_inverse=True)[1].ravel()
