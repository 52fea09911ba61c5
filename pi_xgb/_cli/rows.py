"""A file of training rows: the columns of the student and the teacher, the target and the weights."""

from __future__ import annotations

import argparse
import dataclasses
import shlex
from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
import xgboost

from .._arrays import Array
from .._labels.maturity import mature
from .._rows.labels import Target
from .._rows.names import describe
from .._rows.supervision import checked_groups
from .._rows.words import is_text
from .._xgb.matrix import matrix_of, set_queries
from .dates import texts_of, with_parts
from .features import categories_of, check_no_numbers, known_features, learned_features
from .labels import has_text_names, keep_names, later_labels, training_labels
from .options import ConstraintOption, check_predicted, option_of, params_of
from .source import Log, Source

_MANY_CATEGORIES = 1000
_FEW_ROWS = 20
"""With fewer rows, features look like row numbers by chance."""
_WEIGHTS = ("weight", "teacher_weight")
_NAMES = ("crossfit_groups", "query")
_DATES = ("observed_at", "outcome_at")
_PER_ROW = (*_WEIGHTS, *_NAMES, *_DATES)
"""Options that name a column with a value per row, which is not a feature then."""


@dataclasses.dataclass(frozen=True)
class Columns:
    """The columns of a file by role."""

    features: list[str]
    privileged: list[str]
    labels: list[str]
    """The column of the label, or those of the lower and the upper bound."""
    per_row: dict[str, str]
    """The column of each given option of ``_PER_ROW``."""
    compared: list[str]
    """The columns of groups that constraints compare; they may be privileged, too."""
    categories: list[str]
    """The columns of names, even if they look like numbers or dates."""

    @property
    def read(self) -> list[str]:
        """Every column to read."""
        return [*self.features, *self.privileged, *self.labels, *self.per_row.values(), *self.compared]

    @property
    def as_text(self) -> list[str]:
        """The columns to read as text, where 7 and 007 differ."""
        groups = [name for name in self.compared if name not in self.privileged]
        return [*self.categories, *groups, *(self.per_row[name] for name in (*_NAMES, *_DATES) if name in self.per_row)]


@dataclasses.dataclass(frozen=True)
class Training:
    """The input of a training."""

    rows: Rows
    params: dict[str, Any]
    """The params of the options, and those that depend on the labels."""
    classes: Array | None
    columns: Columns


@dataclasses.dataclass(frozen=True)
class Rows:
    """Training rows; without a label, y is 0 and ``labelled`` False."""

    x: pd.DataFrame
    z: pd.DataFrame | None
    y: Array
    """Labels, or two bounds for each row."""
    weight: Array | None = None
    labelled: Array | None = None
    teacher_weight: Array | None = None
    crossfit_groups: Array | None = None
    query: Array | None = None
    """The query of each row."""
    compared: pd.DataFrame | None = None
    """The groups that constraints compare, a column for each constraint."""

    def take(self, rows: Array) -> Rows:
        """Return some of the rows."""
        parts: dict[str, Any] = {name: part for name, part in vars(self).items() if part is not None}
        for name, part in parts.items():
            parts[name] = part.iloc[rows] if isinstance(part, pd.DataFrame) else part[rows]
        return dataclasses.replace(self, **parts)

    def by_query(self) -> Rows:
        """Return the rows grouped by query, as XGBoost requires; without queries, unchanged."""
        return self if self.query is None else self.take(np.argsort(pd.factorize(self.query)[0], kind="stable"))

    @property
    def y_with_gaps(self) -> Array:
        """The labels, NaN if missing."""
        if self.labelled is None:
            return self.y
        known = self.labelled if self.y.ndim == 1 else self.labelled[:, None]
        return np.where(known, self.y, np.float32(np.nan))

    @property
    def supervision(self) -> dict[str, Any]:
        """The keywords of a training with a value per row, without None."""
        given = {name: getattr(self, name) for name in ("labelled", "teacher_weight", "crossfit_groups")}
        return {name: values for name, values in given.items() if values is not None}

    def student(self) -> xgboost.DMatrix:
        """Return the matrix of the student."""
        return self._matrix(self.x)

    def privileged(self) -> xgboost.DMatrix | None:
        """Return the matrix of the privileged columns, or None."""
        return None if self.z is None else self._matrix(self.z)

    def _matrix(self, table: pd.DataFrame) -> xgboost.DMatrix:
        bounded = self.y.ndim == 2
        matrix = matrix_of(table, None if bounded else self.y, weight=self.weight if self.query is None else None)
        if bounded:
            matrix.set_info(label_lower_bound=self.y[:, 0], label_upper_bound=self.y[:, 1])
        if self.query is not None:
            set_queries(matrix, self.query, self.weight)
        return matrix


def constraints_of(options: Sequence[ConstraintOption], rows: Rows) -> list[tuple[Any, float | None]]:
    """Return the constraints of these rows, with their weights."""
    from .. import constraints

    kinds = {
        "parity": constraints.DemographicParity,
        "odds": constraints.EqualizedOdds,
        "tpr": constraints.TruePositiveRateParity,
        "fpr": constraints.FalsePositiveRateParity,
        "precision": constraints.PredictiveParity,
    }
    compared: Any = rows.compared
    return [(kinds[option.kind](compared[option.column].astype(object)), option.weight) for option in options]


def columns_of(source: Source, arguments: argparse.Namespace) -> Columns:
    """Assign the columns of a file to roles; columns without an option are features of the student."""
    per_row = {name: column for name in _PER_ROW if (column := getattr(arguments, name, None))}
    lower, upper = arguments.lower_bound, arguments.upper_bound
    compared = [constraint.column for constraint in arguments.constraint]
    if len(set(compared)) < len(compared):
        raise ValueError(
            f"--constraint must name each column once, got {', '.join(compared)}: choose one constraint for each"
        )
    named = {
        "--label": [arguments.label],
        "--lower-bound": [lower],
        "--upper-bound": [upper] if upper != lower else [],
        "--privileged": arguments.privileged,
        **{option_of(name): [column] for name, column in per_row.items()},
        "--drop": arguments.drop,
        "--constraint": [column for column in compared if column not in arguments.privileged],
    }
    named = {option: [column for column in columns if column] for option, columns in named.items()}
    for option, columns in {**named, "--categories": arguments.categories}.items():
        source.check_has(columns, f"{option} names")
    used = Counter(column for columns in named.values() for column in dict.fromkeys(columns))
    duplicates = sorted(column for column, times in used.items() if times > 1)
    if duplicates:
        options = [option for option, columns in named.items() if duplicates[0] in columns]
        raise ValueError(f"the column {duplicates[0]!r} is named by {' and by '.join(options)}: name it once")
    features = [column for column in source.columns if column not in used and column not in source.row_names]
    if not features:
        raise ValueError(
            f"{source.name} has no column left for the student: besides {describe(used)} it needs at least one known "
            "at prediction"
        )
    privileged = list(dict.fromkeys(arguments.privileged))
    return Columns(features, privileged, labels_of(arguments), per_row, compared, arguments.categories)


def labels_of(arguments: argparse.Namespace) -> list[str]:
    """Return the column of the label, or those of both bounds, which may be the same."""
    return [arguments.label] if arguments.label else [arguments.lower_bound, arguments.upper_bound]


def read_training(arguments: argparse.Namespace, log: Log) -> Training:
    """Read the training rows."""
    params = params_of(arguments)
    check_predicted(arguments, params["objective"])
    source = Source(arguments.data, arguments.missing, log)
    columns = columns_of(source, arguments)
    frame = source.read(columns.read, as_text=columns.as_text)
    if "observed_at" in columns.per_row:
        frame = _without_early_labels(frame, columns, arguments, log)
    target = _target_of(source, frame, columns, params["objective"])
    if target.labelled is not None and arguments.unlabelled != "teach":
        _check_drops(target.labelled, arguments, columns, source.name)
        n_gaps = int((~target.labelled).sum())
        log(f"note: {n_gaps} of {len(frame)} rows of {source.name} have no label and are left out")
        frame = frame[target.labelled]
        target = dataclasses.replace(target, values=target.values[target.labelled], labelled=None)
    how: dict[str, Any] = {"dates": arguments.dates, "categories": columns.categories}
    x = learned_features(frame[columns.features], source.name, **how)
    z = learned_features(frame[columns.privileged], source.name, **how) if columns.privileged else None
    for part in (x, z):
        _note_identifiers(part, source.name, log)
    compared = frame[columns.compared] if columns.compared else None
    per_row = _per_row(frame, columns, source.name)
    rows = Rows(x, z, target.values, labelled=target.labelled, compared=compared, **per_row).by_query()
    log(
        f"{source.name}: {_counts(rows, columns)}, {target.objective} for {' and '.join(dict.fromkeys(columns.labels))}"
    )
    return Training(rows, {**params, **target.params}, target.classes, columns)


def _without_early_labels(
    frame: pd.DataFrame, columns: Columns, arguments: argparse.Namespace, log: Log
) -> pd.DataFrame:
    """Return the rows without the labels of rows whose horizon has not passed."""
    observed_at, outcome_at = (texts_of(frame[columns.per_row[name]]) for name in _DATES)
    found = mature(observed_at, outcome_at, arguments.horizon, arguments.as_of)
    log(f"note: by --horizon {arguments.horizon} and --as-of {arguments.as_of} {found}")
    name = columns.labels[0]
    label = frame[name].where(found.labelled)
    codes, values = pd.factorize(label)
    n_other = min(np.bincount(found.y[codes >= 0] == codes[codes >= 0], minlength=2))  # either value may be the event
    if len(values) == 2 and n_other:
        log(f"note: the label {name!r} differs from the dates in {n_other} labelled rows and is used as it is")
    return frame.assign(**{name: label})


def _target_of(source: Source, frame: pd.DataFrame, columns: Columns, objective: str | None) -> Target:
    """Return the target; class names are spelled as in the file."""
    label = frame[columns.labels[0]]
    if len(columns.labels) == 1 and label.name not in columns.categories and is_text(label):
        check_no_numbers(label.dropna().unique().tolist(), label, source.name)
    target = training_labels(frame[columns.labels], objective, source.name)
    if target.classes is None or source.is_parquet:
        return target
    return keep_names(target, source.copy(columns.labels).iloc[:, 0], source.name)


def _check_drops(labelled: Array, arguments: argparse.Namespace, columns: Columns, file: str) -> None:
    """Raise for rows without a label, unless --unlabelled drops them."""
    if arguments.unlabelled == "drop":
        return
    label = f"the {'label' if len(columns.labels) == 1 else 'lower bound'} {columns.labels[0]!r} of {file}"
    teach = ", or --unlabelled teach to train on what the teacher predicts for them" if columns.privileged else ""
    raise ValueError(
        f"{label} has {int((~labelled).sum())} missing values in {len(labelled)} rows: add --unlabelled drop to leave "
        f"them out{teach}"
    )


def _counts(rows: Rows, columns: Columns) -> str:
    n_rows = f"{len(rows.y)} rows"
    if rows.query is not None:
        n_rows += f" in {len(pd.unique(rows.query))} queries"
    if rows.labelled is not None:
        n_rows += f" ({int((~rows.labelled).sum())} without a label)"
    n_columns = {"feature": len(columns.features), "privileged column": len(columns.privileged)}
    return ", ".join([n_rows, *(f"{n} {name}{'s' * (n != 1)}" for name, n in n_columns.items())])


def read_validation(source: Source, training: Training, log: Log) -> Rows:
    """Read validation rows with the training's columns and categories; privileged columns are optional."""
    columns, rows, classes = training.columns, training.rows, training.classes
    if "observed_at" in columns.per_row:
        raise ValueError(f"--valid must be a share of the rows, such as 0.2, with --observed-at, got {source.name}")
    source.check_has(columns.features, "the student learns from")
    weight, query = (columns.per_row.get(name) for name in ("weight", "query"))
    source.check_has([*columns.labels, *(name for name in (weight, query) if name)], "the training needs")
    known = {**categories_of(rows.x), **({} if rows.z is None else categories_of(rows.z))}
    as_text = [*known, *(columns.labels if has_text_names(classes) else []), *columns.as_text]
    frame = source.read(columns.read, as_text=as_text)
    x = known_features(with_parts(frame, rows.x, source.name), known, source.name, log)
    z = None
    if rows.z is not None and set(columns.privileged).issubset(source.columns):
        z = known_features(with_parts(frame, rows.z, source.name), known, source.name, log)
    y = later_labels(frame[columns.labels], classes, training.params["objective"], source.name)
    queries = names_of(frame, query, source.name)
    if queries is not None:
        _check_other_queries(queries, rows.query, source.name)
    return Rows(x, z, y, weights_of(frame, weight, source.name), query=queries).by_query()


def _check_other_queries(queries: Array, trained: Any, file: str) -> None:
    """Raise if a query is in both training and validation rows."""
    shared = pd.unique(queries[np.isin(queries, trained)]).tolist()
    if shared:
        raise ValueError(
            f"{file} must not have queries of the training, got {len(shared)}, such as {shared[0]!r}: leave them out "
            "of one file, or give different queries different names"
        )


def set_aside(rows: Rows, share: float, seed: int) -> tuple[Rows, Rows]:
    """Split off a share of the labelled rows for validation, by groups or queries, else stratified by label."""
    is_known = np.ones(len(rows.y), bool) if rows.labelled is None else rows.labelled
    known = np.flatnonzero(is_known)
    generator = np.random.default_rng(seed)
    is_aside = np.zeros(len(rows.y), bool)
    together = rows.query if rows.crossfit_groups is None else rows.crossfit_groups
    if together is None:
        shuffled, first = generator.permutation(known), rows.y if rows.y.ndim == 1 else rows.y[:, 0]
        by_label = shuffled[np.argsort(first[shuffled], kind="stable")]
        is_aside[by_label] = np.diff(np.floor(np.arange(len(known) + 1) * share)) > 0
    else:
        group = pd.factorize(together)[0]
        order = generator.permutation(np.unique(group))
        counts = np.bincount(group[known], minlength=len(order))
        is_aside = np.isin(group, order[np.cumsum(counts[order]) <= share * len(known)])
    if is_aside[known].all() or not is_aside[known].any():
        raise ValueError(f"--valid {share:g} of {len(known)} rows leaves no row on one side: choose another share")
    return rows.take(np.flatnonzero(~is_aside)), rows.take(np.flatnonzero(is_aside & is_known))


def weights_of(frame: pd.DataFrame, name: str | None, file: str, option: str = "--weight") -> Array | None:
    """Return the weights of rows or of the teacher; None without such a column."""
    if name is None:
        return None
    column = frame[name]
    if not pd.api.types.is_numeric_dtype(column.dtype) or not column.between(0, np.inf, inclusive="left").all():
        raise ValueError(f"{option} names {name!r}, which must have a number of at least 0 in each row of {file}")
    return column.to_numpy(np.float64)


def _per_row(frame: pd.DataFrame, columns: Columns, file: str) -> dict[str, Array | None]:
    """Return the columns with a value per row, as fields of :class:`Rows`."""
    weights = {name: weights_of(frame, columns.per_row.get(name), file, option_of(name)) for name in _WEIGHTS}
    names = {name: names_of(frame, columns.per_row.get(name), file, option_of(name)) for name in _NAMES}
    groups, query = names["crossfit_groups"], names["query"]
    if groups is not None and query is not None:
        n_torn = int((pd.Series(groups).groupby(query).nunique() > 1).sum())
        if n_torn:
            raise ValueError(
                f"--crossfit-groups must keep queries whole, got {n_torn} queries with rows in several groups: give "
                "all rows of a query the same value, or leave it out, since queries stay whole without it"
            )
    return weights | names


def names_of(frame: pd.DataFrame, name: str | None, file: str, option: str = "--query") -> Array | None:
    """Return the group or query of each row; None without such a column."""
    return (
        None if name is None else checked_groups(frame[name], len(frame), f"{option} names {name!r}, which in {file}")
    )


def _note_identifiers(frame: pd.DataFrame | None, file: str, log: Log) -> None:
    """Log columns that look like row names: distinct or very many texts, and 1, 2, 3, ... in any order."""
    if frame is None:
        return
    for name, dtype in frame.dtypes.items():
        reason = ""
        if isinstance(dtype, pd.CategoricalDtype):
            n_texts = len(dtype.categories)
            if n_texts > _MANY_CATEGORIES or (n_texts == len(frame) and n_texts >= _FEW_ROWS):
                reason = f"{n_texts} different texts; if they name rows rather than kinds"
        elif getattr(dtype, "kind", "O") in "iu" and len(frame) >= _FEW_ROWS and _is_count(frame[name]):
            reason = f"each number from {frame[name].min()} to {frame[name].max()} once; if they number the rows"
        if reason:
            log(f"note: the column {name!r} of {file} has {reason}, leave it out: --drop {shlex.quote(str(name))}")


def _is_count(column: pd.Series[Any]) -> bool:
    return bool(int(column.max()) - int(column.min()) == len(column) - 1 and column.is_unique)
