"""A file of training rows: the columns of the student and the teacher, the target and the weights."""

from __future__ import annotations

import argparse
import dataclasses
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
import xgboost

from .._arrays import Array
from .._labels.maturity import mature
from .._rows.names import describe
from .._rows.supervision import read_groups, row_weights
from .._xgb.categories import matrix_of
from .._xgb.matrix import set_queries
from .features import Categories, categories_of, known_features, learned_features
from .labels import has_text_names, later_labels, training_labels
from .options import CONSTRAINTS, check_target, option_of, params_of
from .table import MARKS, Log, Source, place_of

TARGETS = ("label", "lower_bound", "upper_bound")
PER_ROW = ("weight", "teacher_weight", "crossfit_groups", "query")
"""The options that name a column with a value per row, which is not a feature then."""
_DATES = ("observed_at", "outcome_at")
AS_TEXT = {"constraint", "groups", "crossfit_groups", "query", *_DATES}
"""The options that name columns of names, which are compared as text."""

Columns = dict[str, list[str]]
"""The columns to read, by the option that names them; those of the student are ``features``."""


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
    def labelled(self) -> Array:
        """Which rows have a label."""
        return self.per_row.get("labelled", np.ones(len(self.y), bool))

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
class TrainingRows:
    """The input of a training."""

    rows: Rows
    params: dict[str, Any]
    """The params of the options, and those that depend on the labels."""
    classes: Array | None
    columns: Columns


def constraints_of(options: Sequence[tuple[str, str, Any]], rows: Rows) -> list[tuple[Any, float | None]]:
    """Return the constraints of these rows, with their weights."""
    from .. import constraints

    groups: Any = rows.compared
    return [
        (getattr(constraints, CONSTRAINTS[kind])(groups[column].astype(object)), weight)
        for kind, column, weight in options
    ]


def columns_of(source: Source, arguments: argparse.Namespace) -> Columns:
    """Assign the columns of a file to roles; columns without an option are features of the student."""
    given = vars(arguments)
    named = {dest: [given[dest]] for dest in (*TARGETS, *PER_ROW, *_DATES) if given.get(dest)}
    named |= {dest: list(dict.fromkeys(given.get(dest, ()))) for dest in ("privileged", "drop", "categories")}
    named["constraint"] = compared = [column for _, column, _ in arguments.constraint]
    # One column may be both bounds, and groups that a constraint compares may be privileged.
    shared = [column for column in named["privileged"] if compared.count(column) == 1]
    free = {"constraint": shared, "upper_bound": named.get("lower_bound", []), "categories": source.columns}
    taken = dict.fromkeys(source.row_names, "")
    for dest, names in named.items():
        source.check_has(names, f"{option_of(dest)} names")
        for column in [name for name in names if name not in free.get(dest, ())]:
            if taken.get(column):
                options = " and by ".join(dict.fromkeys([taken[column], option_of(dest)]))
                raise ValueError(f"the column {column!r} is named by {options}: name it once")
            taken[column] = option_of(dest)
    features = [column for column in source.columns if column not in taken]
    if not features:
        raise ValueError(f"{source.name} has no column left for the student besides {describe(sorted(taken))}: add one")
    return {dest: columns for dest, columns in named.items() if dest != "drop"} | {"features": features}


def targets_of(columns: Columns) -> list[str]:
    """Return the column of the label, or those of both bounds, which may be the same."""
    return [column for dest in TARGETS for column in columns.get(dest, ())]


def _read(source: Source, columns: Columns, as_text: Sequence[str]) -> pd.DataFrame:
    """Read the columns; names, dates and groups stay text, where 7 and 007 differ, unless they are features as well."""
    texts = {column for dest in AS_TEXT & columns.keys() for column in columns[dest]}
    others = {column for dest in columns.keys() - AS_TEXT for column in columns[dest]}
    return source.read(texts | others, as_text={*as_text, *columns.get("categories", ()), *(texts - others)})


def read_training(arguments: argparse.Namespace, log: Log) -> TrainingRows:
    """Read the training rows."""
    params = params_of(arguments)
    check_target(arguments, params["objective"])
    source = Source(arguments.data, arguments.missing, log)
    columns, file = columns_of(source, arguments), source.name
    targets = targets_of(columns)
    frame = _read(source, columns, columns.get("label", ()))
    if "observed_at" in columns:
        frame = _without_early_labels(frame, targets[0], arguments, source, log)
    target = training_labels(frame[targets], params["objective"], file, as_names=targets[0] in columns["categories"])
    n_classes = target.params.get("num_class", 1)
    if params.get("num_class", n_classes) not in (0, n_classes):
        raise ValueError(
            f"--params num_class must be left out, got {params['num_class']}: the label {targets[0]!r} of {file} makes "
            f"it {n_classes} for {target.objective}"
        )
    n_gaps = 0 if target.labelled is None else int((~target.labelled).sum())
    if target.labelled is not None and arguments.unlabelled != "teach":
        if arguments.unlabelled == "refuse":
            advice = "add --unlabelled drop to leave them out"
            if columns["privileged"]:
                advice += ", or --unlabelled teach to train on what the teacher predicts for them"
            raise ValueError(
                f"the {'label' if len(targets) == 1 else 'lower bound'} {targets[0]!r} of {file} has {n_gaps} missing "
                f"values in {len(frame)} rows: {advice}"
            )
        log(f"note: {n_gaps} of {len(frame)} rows of {file} have no label and are left out")
        frame = frame[target.labelled]
        target = target._replace(values=target.values[target.labelled], labelled=None)
    x = learned_features(frame[columns["features"]], file, columns["categories"])
    z = learned_features(frame[columns["privileged"]], file, columns["categories"]) if columns["privileged"] else None
    per_row = {} if target.labelled is None else {"labelled": target.labelled}
    per_row |= _per_row(frame, columns, file)
    rows = Rows(x, z, target.values, per_row, frame[columns["constraint"]]).by_query()
    n_rows = f"{len(rows.y)} rows" + f" ({n_gaps} without a label)" * (target.labelled is not None)
    n_columns = f"{len(columns['features'])} features, {len(columns['privileged'])} privileged columns"
    log(f"{file}: {n_rows}, {n_columns}, {target.objective} for {' and '.join(dict.fromkeys(targets))}")
    return TrainingRows(rows, {**params, **target.params}, target.classes, columns)


def _without_early_labels(
    frame: pd.DataFrame, label: str, arguments: argparse.Namespace, source: Source, log: Log
) -> pd.DataFrame:
    """Return the rows without the labels of rows whose horizon has not passed."""
    dates = [frame[vars(arguments)[name]].astype(object) for name in _DATES]
    observed_at, outcome_at = (column.mask(column.isin(MARKS), None) for column in dates)
    found = mature(observed_at, outcome_at, arguments.horizon, arguments.as_of)
    kept, early, by = found.labelled.sum(), found.set_aside.sum(), f"{arguments.horizon} and --as-of {arguments.as_of}"
    log(f"note: by --horizon {by} the label of {kept} of {len(frame)} rows counts; {early} others have an early event")
    y = pd.to_numeric(frame[label], errors="coerce").where(found.labelled)
    is_wrong = (y.notna() & (y != found.y)).to_numpy()
    if is_wrong.any() and y.dropna().isin([0, 1]).all():  # amounts and other classes are not the event itself
        at = int(is_wrong.argmax())
        raise ValueError(
            f"the label {label!r} of {source.name} must be 1 if --outcome-at is within --horizon, else 0, got "
            f"{is_wrong.sum()} others, first {y.iloc[at]:g} in {place_of(at, source.name)}: correct labels or dates"
        )
    return frame.assign(**{label: frame[label].where(found.labelled)})


def _per_row(frame: pd.DataFrame, columns: Columns, file: str) -> dict[str, Array]:
    """Return the weights, groups and queries of rows."""
    found = {}
    for dest, (name,) in [(dest, columns[dest]) for dest in PER_ROW if dest in columns]:
        read: Any = row_weights if dest.endswith("weight") else read_groups
        found[dest] = read(frame[name], len(frame), name=f"{option_of(dest)} names {name!r}, which in {file}")
    return found


def later_rows(
    source: Source, columns: Columns, log: Log, categories: Categories, classes: Any, objective: str, pieces: Any = ()
) -> tuple[Rows, pd.DataFrame]:
    """Return rows for a trained model, and the columns of the file; privileged columns are optional."""
    targets, privileged = targets_of(columns), columns.get("privileged", [])
    for dest in [dest for dest in columns if dest not in ("privileged", "categories")]:
        source.check_has(columns[dest], "the model needs" if dest == "features" else f"{option_of(dest)} names")
    frame = _read(source, columns, [*categories, *(targets if has_text_names(classes) else [])])
    x, z = known_features(frame[columns["features"]], categories, source.name, log, pieces), None
    if privileged and set(privileged).issubset(source.columns):
        z = known_features(frame[privileged], categories, source.name, log)
    y = later_labels(frame[targets], classes, objective, source.name)
    return Rows(x, z, y, _per_row(frame, columns, source.name)).by_query(), frame


def read_validation(source: Source, training: TrainingRows, log: Log) -> Rows:
    """Read validation rows with the training's columns and categories."""
    rows, file = training.rows, source.name
    if "observed_at" in training.columns:
        raise ValueError(f"--valid must be a share of the rows, such as 0.2, with --observed-at, got {file}")
    left_out = ("teacher_weight", "crossfit_groups", "constraint")
    columns = {dest: names for dest, names in training.columns.items() if dest not in left_out}
    known = {**categories_of(rows.x), **({} if rows.z is None else categories_of(rows.z))}
    valid, _ = later_rows(source, columns, log, known, training.classes, training.params["objective"])
    if shared := sorted(set(valid.per_row.get("query", ())) & set(rows.per_row.get("query", ()))):
        raise ValueError(
            f"{file} must not have queries of the training, got {len(shared)}, such as {shared[0]!r}: leave them out"
        )
    return valid


def set_aside(rows: Rows, share: float, seed: int) -> tuple[Rows, Rows]:
    """Split off a share of the labelled rows for validation, by groups or queries, else stratified by label."""
    known, is_aside = np.flatnonzero(rows.labelled), np.zeros(len(rows.y), bool)
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
    return rows.take(np.flatnonzero(~is_aside)), rows.take(np.flatnonzero(is_aside & rows.labelled))
