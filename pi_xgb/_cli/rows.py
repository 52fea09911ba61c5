"""A file of training rows: the columns of the student and the teacher, the target and the weights."""

from __future__ import annotations

import argparse
import dataclasses
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
import xgboost

from .._arrays import Array
from .._labels.maturity import mature
from .._rows.names import describe
from .._rows.supervision import checked_groups
from .._xgb.matrix import matrix_of, set_queries
from .features import Categories, categories_of, known_features, learned_features
from .labels import has_text_names, later_labels, training_labels
from .options import CONSTRAINTS, Constraint, check_target, option_of, params_of
from .table import MARKS, Log, Source

_WEIGHTS, _NAMES, _DATES = ("weight", "teacher_weight"), ("crossfit_groups", "query"), ("observed_at", "outcome_at")
"""Options that name a column with a value per row, which is not a feature then."""


@dataclasses.dataclass(frozen=True)
class Columns:
    """The columns of a file by role."""

    features: list[str]
    privileged: list[str]
    labels: list[str]
    """The column of the label, or those of the lower and the upper bound."""
    per_row: dict[str, str]
    """The column of each given option with a value per row."""
    compared: list[str]
    """The columns of groups that constraints compare; they may be privileged, too."""
    categories: list[str]
    """The columns of names, even if they look like numbers or dates."""

    @property
    def all(self) -> list[str]:
        """Every column to read."""
        return [*self.features, *self.privileged, *self.labels, *self.per_row.values(), *self.compared]

    @property
    def texts(self) -> list[str]:
        """The columns to read as text, where 7 and 007 differ."""
        per_row = [name for dest, name in self.per_row.items() if dest not in _WEIGHTS]
        others = {*self.features, *self.privileged, *self.labels, *self.per_row.values()}
        return [*self.categories, *per_row, *(name for name in self.compared if name not in others)]


@dataclasses.dataclass(frozen=True)
class Rows:
    """Training rows; without a label, y is 0 and ``labelled`` False."""

    x: pd.DataFrame
    z: pd.DataFrame | None
    y: Array
    """Labels, or two bounds for each row."""
    per_row: dict[str, Array] = dataclasses.field(default_factory=dict)
    """What is given of weight, labelled, teacher_weight, crossfit_groups and query."""
    compared: pd.DataFrame | None = None
    """The groups that constraints compare, a column for each constraint."""

    def take(self, rows: Array) -> Rows:
        """Return some of the rows."""
        z, compared = (table if table is None else table.take(rows) for table in (self.z, self.compared))
        per_row = {name: values[rows] for name, values in self.per_row.items()}
        return Rows(self.x.take(rows), z, self.y[rows], per_row, compared)

    def by_query(self) -> Rows:
        """Return the rows grouped by query, as XGBoost requires; without queries, unchanged."""
        query = self.per_row.get("query")
        return self if query is None else self.take(np.argsort(pd.factorize(query)[0], kind="stable"))

    @property
    def y_with_gaps(self) -> Array:
        """The labels, NaN if missing."""
        labelled = self.per_row.get("labelled", np.True_)
        return np.where(
            labelled[:, None] if self.y.ndim == 2 and labelled.ndim else labelled, self.y, np.float32("nan")
        )

    @property
    def supervision(self) -> dict[str, Any]:
        """The keywords of a training with a value per row."""
        return {name: values for name, values in self.per_row.items() if name not in ("weight", "query")}

    def student(self) -> xgboost.DMatrix:
        """Return the matrix of the student."""
        return self._matrix(self.x)

    def privileged(self) -> Any:
        """Return the matrix of the privileged columns, or None."""
        return None if self.z is None else self._matrix(self.z)

    def _matrix(self, table: pd.DataFrame) -> xgboost.DMatrix:
        bounded, weight, query = self.y.ndim == 2, self.per_row.get("weight"), self.per_row.get("query")
        matrix = matrix_of(table, None if bounded else self.y, weight=weight if query is None else None)
        if bounded:
            matrix.set_info(label_lower_bound=self.y[:, 0], label_upper_bound=self.y[:, 1])
        if query is not None:
            set_queries(matrix, query, weight)
        return matrix


@dataclasses.dataclass(frozen=True)
class Training:
    """The input of a training."""

    rows: Rows
    params: dict[str, Any]
    """The params of the options, and those that depend on the labels."""
    classes: Array | None
    columns: Columns


def constraints_of(options: Sequence[Constraint], rows: Rows) -> list[tuple[Any, float | None]]:
    """Return the constraints of these rows, with their weights."""
    from .. import constraints

    groups: Any = rows.compared
    kinds = {word: getattr(constraints, name) for word, name in CONSTRAINTS.items()}
    return [(kinds[kind](groups[column].astype(object)), weight) for kind, column, weight in options]


def columns_of(source: Source, arguments: argparse.Namespace) -> Columns:
    """Assign the columns of a file to roles; columns without an option are features of the student."""
    given = {name: value for name, value in vars(arguments).items() if value}
    privileged = list(dict.fromkeys(given.get("privileged", ())))
    per_row = {name: given[name] for name in (*_WEIGHTS, *_NAMES, *_DATES) if name in given}
    targets = {name: given[name] for name in ("label", "lower_bound", "upper_bound") if name in given}
    if targets.get("lower_bound") == targets.get("upper_bound"):
        targets.pop("upper_bound", None)
    compared = [option.column for option in arguments.constraint]
    if len(set(compared)) < len(compared):
        raise ValueError(f"--constraint must name each column once, got {', '.join(compared)}")
    named = {
        **{option_of(name): [column] for name, column in targets.items()},
        "--privileged": privileged,
        **{option_of(name): [column] for name, column in per_row.items()},
        "--drop": arguments.drop,
        "--constraint": [column for column in compared if column not in privileged],
    }
    for option, columns in {**named, "--categories": arguments.categories}.items():
        source.check_has(columns, f"{option} names")
    used = Counter(column for columns in named.values() for column in set(columns))
    duplicates = sorted(column for column, times in used.items() if times > 1)
    if duplicates:
        options = [option for option, columns in named.items() if duplicates[0] in columns]
        raise ValueError(f"the column {duplicates[0]!r} is named by {' and by '.join(options)}: name it once")
    features = [column for column in source.columns if column not in used and column not in source.row_names]
    if not features:
        needed = "it needs at least one that is known at prediction"
        raise ValueError(f"{source.name} has no column left for the student besides {describe(used)}: {needed}")
    forbidden = [column for column in (*features, *privileged) if set(column) & set("[]<\0")]
    if forbidden:
        raise ValueError(
            f"the column {forbidden[0]!r} of {source.name} must have no [, ], < and NUL in its name, which XGBoost "
            "cannot store: rename it, or leave it out with --drop"
        )
    return Columns(features, privileged, labels_of(arguments), per_row, compared, arguments.categories)


def labels_of(arguments: argparse.Namespace) -> list[str]:
    """Return the column of the label, or those of both bounds, which may be the same."""
    return [arguments.label] if arguments.label else [arguments.lower_bound, arguments.upper_bound]


def read_training(arguments: argparse.Namespace, log: Log) -> Training:
    """Read the training rows."""
    params = params_of(arguments)
    check_target(arguments, params["objective"])
    source = Source(arguments.data, arguments.missing, log)
    columns, file = columns_of(source, arguments), source.name
    labels = columns.labels
    frame = source.read(columns.all, as_text=[*columns.texts, *(labels if len(labels) == 1 else [])])
    if "observed_at" in columns.per_row:
        frame = _without_early_labels(frame, columns, arguments, log)
    target = training_labels(frame[labels], params["objective"], file, as_names=labels[0] in columns.categories)
    n_classes = target.params.get("num_class", 1)
    if params.get("num_class", n_classes) not in (0, n_classes):
        raise ValueError(
            f"--params num_class must be left out, got {params['num_class']}: the label {labels[0]!r} of {file} makes "
            f"it {n_classes} for {target.objective}"
        )
    if target.labelled is not None and arguments.unlabelled != "teach":
        n_gaps = int((~target.labelled).sum())
        if arguments.unlabelled == "refuse":
            teach = ", or --unlabelled teach to train on what the teacher predicts for them" * bool(columns.privileged)
            raise ValueError(
                f"the {'label' if len(labels) == 1 else 'lower bound'} {labels[0]!r} of {file} has {n_gaps} missing "
                f"values in {len(frame)} rows: add --unlabelled drop to leave them out{teach}"
            )
        log(f"note: {n_gaps} of {len(frame)} rows of {file} have no label and are left out")
        frame = frame[target.labelled]
        target = dataclasses.replace(target, values=target.values[target.labelled], labelled=None)
    x = learned_features(frame[columns.features], file, columns.categories)
    z = learned_features(frame[columns.privileged], file, columns.categories) if columns.privileged else None
    per_row = {} if target.labelled is None else {"labelled": target.labelled}
    per_row |= per_row_of(frame, columns.per_row, file)
    _check_whole_queries(per_row)
    rows = Rows(x, z, target.values, per_row, frame[columns.compared] if columns.compared else None).by_query()
    log(f"{file}: {_counts(rows)}, {target.objective} for {' and '.join(dict.fromkeys(labels))}")
    return Training(rows, {**params, **target.params}, target.classes, columns)


def _without_early_labels(
    frame: pd.DataFrame, columns: Columns, arguments: argparse.Namespace, log: Log
) -> pd.DataFrame:
    """Return the rows without the labels of rows whose horizon has not passed."""
    dates = [frame[columns.per_row[name]].astype(object) for name in _DATES]
    observed_at, outcome_at = (column.mask(column.isin(MARKS), None) for column in dates)
    found = mature(observed_at, outcome_at, arguments.horizon, arguments.as_of)
    log(f"note: by --horizon {arguments.horizon} and --as-of {arguments.as_of} {found}")
    name = columns.labels[0]
    label = frame[name].where(found.labelled)
    codes, values = pd.factorize(label.mask(label.isin(MARKS)))
    n_other = min(np.bincount(found.y[codes >= 0] == codes[codes >= 0], minlength=2))  # either value may be the event
    if len(values) == 2 and n_other:
        log(f"note: the label {name!r} differs from the dates in {n_other} labelled rows and is used as it is")
    return frame.assign(**{name: label})


def per_row_of(frame: pd.DataFrame, columns: Mapping[str, str], file: str) -> dict[str, Array]:
    """Return the weights, groups and queries of rows, by the options that name their columns."""
    found: dict[str, Array] = {}
    for dest, name in columns.items():
        column, what = frame[name], f"{option_of(dest)} names {name!r}, which"
        if dest in _NAMES:
            found[dest] = np.asarray(checked_groups(column, len(frame), f"{what} in {file}"))
        if dest in _WEIGHTS:
            is_number = pd.api.types.is_numeric_dtype(column.dtype)
            if not is_number or not column.between(0, np.inf, inclusive="left").all() or not column.any():
                raise ValueError(f"{what} must have a number of at least 0 in each row of {file}, and one above 0")
            found[dest] = column.to_numpy(np.float64)
    return found


def _check_whole_queries(per_row: Mapping[str, Array]) -> None:
    if "crossfit_groups" in per_row and "query" in per_row:
        n_torn = int((pd.Series(per_row["crossfit_groups"]).groupby(per_row["query"]).nunique() > 1).sum())
        if n_torn:
            raise ValueError(
                f"--crossfit-groups must keep queries whole, got {n_torn} queries with rows in several groups: give "
                "all rows of a query the same value, or leave it out, since queries stay whole without it"
            )


def _counts(rows: Rows) -> str:
    """Return the size of the input in words."""
    n_rows = f"{len(rows.y)} rows"
    if "query" in rows.per_row:
        n_rows += f" in {len(pd.unique(rows.per_row['query']))} queries"
    if "labelled" in rows.per_row:
        n_rows += f" ({int((~rows.per_row['labelled']).sum())} without a label)"
    n_columns = {"feature": rows.x.shape[1], "privileged column": 0 if rows.z is None else rows.z.shape[1]}
    return ", ".join([n_rows, *(f"{n} {name}{'s' * (n != 1)}" for name, n in n_columns.items())])


def later_rows(
    source: Source, columns: Columns, log: Log, categories: Categories, classes: Any, objective: str, pieces: Any = ()
) -> tuple[Rows, pd.DataFrame]:
    """Return rows for a trained model, and the columns of the file; privileged columns are optional."""
    labels = columns.labels if has_text_names(classes) else []
    frame = source.read(columns.all, as_text=[*categories, *labels, *columns.texts])
    x, z = known_features(frame[columns.features], categories, source.name, log, pieces), None
    if columns.privileged and set(columns.privileged).issubset(source.columns):
        z = known_features(frame[columns.privileged], categories, source.name, log)
    y = later_labels(frame[columns.labels], classes, objective, source.name)
    return Rows(x, z, y, per_row_of(frame, columns.per_row, source.name)).by_query(), frame


def read_validation(source: Source, training: Training, log: Log) -> Rows:
    """Read validation rows with the training's columns and categories."""
    rows, file = training.rows, source.name
    if "observed_at" in training.columns.per_row:
        raise ValueError(f"--valid must be a share of the rows, such as 0.2, with --observed-at, got {file}")
    per_row = {name: column for name, column in training.columns.per_row.items() if name in ("weight", "query")}
    columns = dataclasses.replace(training.columns, per_row=per_row)
    source.check_has(columns.features, "the student learns from")
    source.check_has([*columns.labels, *per_row.values()], "the training needs")
    known = {**categories_of(rows.x), **({} if rows.z is None else categories_of(rows.z))}
    valid, _ = later_rows(source, columns, log, known, training.classes, training.params["objective"])
    shared = sorted(set(valid.per_row.get("query", ())) & set(rows.per_row.get("query", ())))
    if shared:
        raise ValueError(
            f"{file} must not have queries of the training, got {len(shared)}, such as {shared[0]!r}: leave them out "
            "of one file, or give different queries different names"
        )
    return valid


def set_aside(rows: Rows, share: float, seed: int) -> tuple[Rows, Rows]:
    """Split off a share of the labelled rows for validation, by groups or queries, else stratified by label."""
    is_known = rows.per_row.get("labelled", np.ones(len(rows.y), bool))
    known, is_aside = np.flatnonzero(is_known), np.zeros(len(rows.y), bool)
    generator = np.random.default_rng(seed)
    together = rows.per_row.get("crossfit_groups", rows.per_row.get("query"))
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
