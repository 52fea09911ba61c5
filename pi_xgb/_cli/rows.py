"""A file of training rows, divided among the student, the teacher, the label and the weights."""

from __future__ import annotations

import argparse
import dataclasses
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pandas as pd
import xgboost

from .._arrays import Array
from .._rows.labels import Target
from .._rows.names import describe as some
from .._rows.supervision import checked_groups
from .._xgb.matrix import matrix_of, set_queries
from .dates import refuse_dates, taken_apart, with_parts
from .features import categories_of, known_features, learned_features
from .labels import is_text, labelled_alone, later_labels, training_labels
from .options import Asked, check_compatible
from .source import Source

Say = Callable[[str], None]

_MANY_CATEGORIES = 1000
_FEW_ROWS = 20
"""Among fewer, columns of features look like numbers of rows by chance."""
_WEIGHTS = ("weight", "teacher_weight")
_NAMES = ("crossfit_groups", "query")
_OF_ROWS = (*_WEIGHTS, *_NAMES)
"""Options that each name a column about single rows, which is no feature then."""


@dataclasses.dataclass(frozen=True)
class Columns:
    """Which column is what."""

    features: list[str]
    privileged: list[str]
    labels: list[str]
    """The column of the label, or those of the lower and the upper bound."""
    of_rows: dict[str, str]
    """The column of each of ``_OF_ROWS`` that there is."""
    unlabelled: str
    """What becomes of rows without a label."""
    dates: str
    """What becomes of columns of dates."""
    compared: list[str]
    """Those of the groups that constraints compare, which may be privileged besides."""

    @property
    def read(self) -> list[str]:
        """Every column that is needed."""
        return [*self.features, *self.privileged, *self.labels, *self.of_rows.values(), *self.compared]


@dataclasses.dataclass(frozen=True)
class Rows:
    """Rows as the parties of a training see them; where nobody knows the label, y is 0 and ``labelled`` False."""

    x: pd.DataFrame
    z: pd.DataFrame | None
    y: Array
    """Labels, or two bounds for each row."""
    weight: Array | None = None
    labelled: Array | None = None
    teacher_weight: Array | None = None
    crossfit_groups: Array | None = None
    query: Array | None = None
    """Which rows are ranked together."""
    compared: pd.DataFrame | None = None
    """The groups that constraints compare, a column for each of theirs."""

    def take(self, rows: Array) -> Rows:
        """Some of the rows."""
        taken: dict[str, Any] = {name: part for name, part in vars(self).items() if part is not None}
        for name, part in taken.items():
            taken[name] = part.iloc[rows] if isinstance(part, pd.DataFrame) else part[rows]
        return dataclasses.replace(self, **taken)

    def by_query(self) -> Rows:
        """The rows of a query side by side, as XGBoost takes them; otherwise as they were."""
        return self if self.query is None else self.take(np.argsort(pd.factorize(self.query)[0], kind="stable"))

    @property
    def told_y(self) -> Array:
        """The labels, NaN where nobody knows them."""
        if self.labelled is None:
            return self.y
        known = self.labelled if self.y.ndim == 1 else self.labelled[:, None]
        return np.where(known, self.y, np.float32(np.nan))

    @property
    def supervision(self) -> dict[str, Any]:
        """The keywords of a training about single rows, those that say something."""
        given = {name: getattr(self, name) for name in ("labelled", "teacher_weight", "crossfit_groups")}
        return {name: values for name, values in given.items() if values is not None}

    def student(self) -> xgboost.DMatrix:
        """What the student learns from."""
        return self._matrix(self.x)

    def teacher(self, *, sees_all: bool) -> xgboost.DMatrix | None:
        """What the teacher learns from; None where nothing is privileged."""
        if self.z is None:
            return None
        seen = pd.concat([self.x, self.z], axis=1) if sees_all else self.z
        return self._matrix(seen)

    def _matrix(self, table: pd.DataFrame) -> xgboost.DMatrix:
        bounded = self.y.ndim == 2
        matrix = matrix_of(table, None if bounded else self.y, weight=self.weight if self.query is None else None)
        if bounded:
            matrix.set_info(label_lower_bound=self.y[:, 0], label_upper_bound=self.y[:, 1])
        if self.query is not None:
            set_queries(matrix, self.query, self.weight)
        return matrix


def constraints_of(asked: Sequence[Asked], rows: Rows) -> list[tuple[Any, float | None]]:
    """The constraints of these rows, with their weights."""
    from .. import constraints

    kinds = {
        "parity": constraints.DemographicParity,
        "odds": constraints.EqualizedOdds,
        "precision": constraints.PredictiveParity,
    }
    compared: Any = rows.compared
    return [(kinds[one.kind](compared[one.column].astype(object)), one.weight) for one in asked]


def columns_of(source: Source, arguments: argparse.Namespace) -> Columns:
    """Divide the columns of a file as the options say; what no option names is a feature of the student."""
    targets = (arguments.label or "").split(",")
    if arguments.label and arguments.label not in source.columns and set(targets) <= set(source.columns):
        raise ValueError(
            f"--label names one column, got {len(targets)}: train a model for each, with the others in --drop, or "
            "all in one model in Python, by pi_xgb.train with a matrix of labels"
        )
    of_rows = {name: column for name in _OF_ROWS if (column := getattr(arguments, name))}
    named = {
        **_predicted(arguments),
        "--privileged": arguments.privileged,
        **{_option(name): [column] for name, column in of_rows.items()},
        "--drop": arguments.drop,
    }
    asked = getattr(arguments, "constraint", None) or []
    asked = asked if isinstance(asked, list) else [asked]
    check_compatible(asked)
    compared = [one.column for one in asked]
    named["--constraint"] = [column for column in compared if column not in arguments.privileged]
    for option, columns in named.items():
        source.check_has(columns, f"{option} names")
    used = Counter(column for columns in named.values() for column in dict.fromkeys(columns))
    twice = sorted(column for column, times in used.items() if times > 1)
    if twice:
        options = [option for option, columns in named.items() if twice[0] in columns]
        raise ValueError(f"the column {twice[0]!r} is named by {' and by '.join(options)}: it can be one thing only")
    features = [column for column in source.columns if column not in used and column not in source.row_names]
    if not features:
        raise ValueError(
            f"{source.name} has no column left for the student: besides {some(list(used))} it needs at least one that "
            "will be there at prediction"
        )
    labels, privileged = labels_of(arguments), list(dict.fromkeys(arguments.privileged))
    return Columns(features, privileged, labels, of_rows, arguments.unlabelled, arguments.dates, compared)


def labels_of(arguments: argparse.Namespace) -> list[str]:
    """The column of the label, or those of both bounds, which may be one."""
    return [arguments.label] if arguments.label else [arguments.lower_bound, arguments.upper_bound]


def _predicted(arguments: argparse.Namespace) -> dict[str, list[str]]:
    """What is predicted, by the option that names it."""
    if arguments.label:
        return {"--label": [arguments.label]}
    lower, upper = labels_of(arguments)
    return {"--lower-bound": [lower], "--upper-bound": [upper] if upper != lower else []}


def read_training(source: Source, columns: Columns, objective: str | None, say: Say) -> tuple[Rows, Target]:
    """The rows to learn from."""
    # Letter by letter: 7 and 007 are two patients.
    frame = source.read(columns.read, as_text=_names_of(columns))
    frame, target = _labels_of(frame, columns, objective, source.name, say)
    x, z = (_learned(frame[names], columns.dates, source.name) for names in (columns.features, columns.privileged))
    for part in (x, z):
        _warn_of_identifiers(part, source.name, say)
    compared = frame[columns.compared] if columns.compared else None
    of_rows = _of_rows(frame, columns, source.name)
    rows = f"{len(frame)} rows"
    if of_rows["query"] is not None:
        rows += f" in {len(pd.unique(of_rows['query']))} queries"
    if target.labelled is not None:
        rows += f" ({int((~target.labelled).sum())} without a label)"
    counted = f"{len(columns.features)} features, {len(columns.privileged)} privileged columns"
    predicted = " and ".join(dict.fromkeys(columns.labels))
    say(f"{source.name}: {rows}, {counted}, {target.objective} for {predicted}")
    return Rows(x, z, target.values, labelled=target.labelled, compared=compared, **of_rows).by_query(), target


def _learned(frame: pd.DataFrame, dates: str, file: str) -> Any:
    """Columns of features as the training takes them, None where there are none."""
    if frame.columns.empty:
        return None
    if dates == "refuse":
        refuse_dates(frame, file)
    return learned_features(taken_apart(frame, file) if dates == "parts" else frame, file)


def _labels_of(
    frame: pd.DataFrame, columns: Columns, objective: str | None, file: str, say: Say
) -> tuple[pd.DataFrame, Target]:
    """What is to be predicted, and the rows to learn it from."""
    target = training_labels(frame[columns.labels], objective, columns.unlabelled, file)
    if target.labelled is None or columns.unlabelled != "drop":
        return frame, target
    say(f"note: {int((~target.labelled).sum())} of {len(frame)} rows of {file} have no label and are left out")
    return frame[target.labelled], labelled_alone(target)


def read_validation(source: Source, columns: Columns, like: Rows, target: Target, say: Say) -> Rows:
    """Rows of another file, in the terms of the training's; the privileged columns may be missing there."""
    source.check_has(columns.features, "the student learns from")
    weight, query = (columns.of_rows.get(name) for name in ("weight", "query"))
    source.check_has([*columns.labels, *(name for name in (weight, query) if name)], "the training needs")
    known = {**categories_of(like.x), **({} if like.z is None else categories_of(like.z))}
    as_text = [*known, *(columns.labels if is_text(target.classes) else []), *_names_of(columns)]
    frame = source.read(columns.read, as_text=as_text)
    x = known_features(with_parts(frame, like.x, source.name), known, source.name, say)
    z = None
    if like.z is not None and set(columns.privileged).issubset(source.columns):
        z = known_features(with_parts(frame, like.z, source.name), known, source.name, say)
    y = later_labels(frame[columns.labels], target.classes, target.objective, source.name)
    queries = names_of(frame, query, source.name)
    if queries is not None:
        _check_other_queries(queries, like.query, source.name)
    return Rows(x, z, y, weights_of(frame, weight, source.name), query=queries).by_query()


def _check_other_queries(queries: Array, trained: Any, file: str) -> None:
    """No query is in the training and among the rows to watch."""
    shared = pd.unique(queries[np.isin(queries, trained)]).tolist()
    if shared:
        raise ValueError(
            f"{file} has rows of {len(shared)} queries that the training has too, such as {shared[0]!r}: a query is "
            "learned from or watched, so leave it out of one file, or give other queries other names"
        )


def set_aside(rows: Rows, share: float, seed: int) -> tuple[Rows, Rows]:
    """Training rows and a share of those with a label: whole groups or queries, or with its share of every label."""
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
        raise ValueError(f"--valid {share:g} of {len(known)} rows leaves no row on one side: give another share")
    return rows.take(np.flatnonzero(~is_aside)), rows.take(np.flatnonzero(is_aside & is_known))


def weights_of(frame: pd.DataFrame, name: str | None, file: str, option: str = "--weight") -> Array | None:
    """How much each row, or the teacher there, counts; None where no column says it."""
    if name is None:
        return None
    column = frame[name]
    if not pd.api.types.is_numeric_dtype(column.dtype) or not column.between(0, np.inf, inclusive="left").all():
        raise ValueError(f"{option} names {name!r}, which must have a number of at least 0 in each row of {file}")
    return column.to_numpy(np.float64)


def _of_rows(frame: pd.DataFrame, columns: Columns, file: str) -> dict[str, Array | None]:
    """What the columns of single rows say, as the fields of :class:`Rows`."""
    found = {name: weights_of(frame, columns.of_rows.get(name), file, _option(name)) for name in _WEIGHTS}
    groups, query = (names_of(frame, columns.of_rows.get(name), file, _option(name)) for name in _NAMES)
    if groups is not None and query is not None:
        _check_whole(groups, query)
    return {**found, "crossfit_groups": groups, "query": query}


def names_of(frame: pd.DataFrame, name: str | None, file: str, option: str = "--query") -> Array | None:
    """Which rows belong together, for each a name; None where no column says it."""
    return (
        None if name is None else checked_groups(frame[name], len(frame), f"{option} names {name!r}, which in {file}")
    )


def _check_whole(groups: Array, query: Array) -> None:
    """All rows of a query are in one group."""
    parts = pd.Series(groups).groupby(query).nunique()
    if (parts > 1).any():
        raise ValueError(
            f"--crossfit-groups tears {int((parts > 1).sum())} queries apart, such as {parts.idxmax()!r}, whose rows "
            "are ranked together: give all rows of a query the same value, or leave it out, for queries stay whole by "
            "themselves"
        )


def _names_of(columns: Columns) -> list[str]:
    """Columns of names, which are read letter by letter; of groups those alone that no teacher learns from."""
    of_rows = [columns.of_rows[name] for name in _NAMES if name in columns.of_rows]
    return [*of_rows, *(name for name in columns.compared if name not in columns.privileged)]


def _option(name: str) -> str:
    return f"--{name.replace('_', '-')}"


def _is_count(column: pd.Series[Any]) -> bool:
    return bool(int(column.max()) - int(column.min()) == len(column) - 1 and column.is_unique)


def _warn_of_identifiers(frame: pd.DataFrame | None, file: str, say: Say) -> None:
    """Columns that name rows: texts that are all different, or very many, and 1, 2, 3... in any order."""
    if frame is None:
        return
    for name in frame:
        column = frame[name]
        told = ""
        if isinstance(column.dtype, pd.CategoricalDtype):
            n_texts = len(column.cat.categories)
            if n_texts > _MANY_CATEGORIES or (n_texts == len(column) and n_texts >= _FEW_ROWS):
                told = f"{n_texts} different texts; if they name rows rather than kinds"
        elif column.dtype.kind in "iu" and len(column) >= _FEW_ROWS and _is_count(column):
            told = f"each number from {column.min()} to {column.max()} once; if they number the rows"
        if told:
            say(f"note: the column {name!r} of {file} has {told}, leave it out: --drop {name}")
