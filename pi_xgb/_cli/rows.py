"""A file of training rows, divided among the student, the teacher, the label and the weights."""

from __future__ import annotations

import argparse
import dataclasses
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import xgboost

from .._core.target import Target
from .._xgb.matrix import matrix_of
from .features import categories_of, known_features, learned_features
from .labels import is_text, later_labels, training_labels
from .source import Source, some

Say = Callable[[str], None]

_MANY_CATEGORIES = 1000


@dataclasses.dataclass(frozen=True)
class Columns:
    """Which column is what."""

    features: list[str]
    privileged: list[str]
    label: str
    weight: str | None

    @property
    def read(self) -> list[str]:
        """Every column that is needed."""
        return [*self.features, *self.privileged, self.label, *([self.weight] if self.weight else [])]


@dataclasses.dataclass(frozen=True)
class Rows:
    """Rows as the parties of a training see them."""

    x: pd.DataFrame
    z: pd.DataFrame | None
    y: np.ndarray[Any, Any]
    weight: np.ndarray[Any, Any] | None

    def take(self, rows: np.ndarray[Any, Any]) -> Rows:
        """Some of the rows."""
        z = None if self.z is None else self.z.iloc[rows]
        return Rows(self.x.iloc[rows], z, self.y[rows], None if self.weight is None else self.weight[rows])

    def student(self) -> xgboost.DMatrix:
        """What the student learns from."""
        return matrix_of(self.x, self.y, weight=self.weight)

    def teacher(self, *, sees_all: bool) -> xgboost.DMatrix | None:
        """What the teacher learns from; None where nothing is privileged."""
        if self.z is None:
            return None
        seen = pd.concat([self.x, self.z], axis=1) if sees_all else self.z
        return matrix_of(seen, self.y, weight=self.weight)


def columns_of(source: Source, arguments: argparse.Namespace) -> Columns:
    """Divide the columns of a file as the options say; what no option names is a feature of the student."""
    named = {
        "--label": [arguments.label],
        "--privileged": arguments.privileged,
        "--weight": [arguments.weight] if arguments.weight else [],
        "--drop": arguments.drop,
    }
    for option, columns in named.items():
        source.check_has(columns, f"{option} names")
    used = [column for columns in named.values() for column in dict.fromkeys(columns)]
    twice = sorted({column for column in used if used.count(column) > 1})
    if twice:
        options = [option for option, columns in named.items() if twice[0] in columns]
        raise ValueError(f"the column {twice[0]!r} is named by {' and by '.join(options)}: it can be one thing only")
    features = [column for column in source.columns if column not in used]
    if not features:
        raise ValueError(
            f"{source.name} has no column left for the student: besides {some(used)} it needs at least one that will "
            "be there at prediction"
        )
    return Columns(features, list(dict.fromkeys(arguments.privileged)), arguments.label, arguments.weight)


def read_training(source: Source, columns: Columns, objective: str | None, say: Say) -> tuple[Rows, Target]:
    """The rows to learn from."""
    frame = source.read(columns.read)
    target = training_labels(frame[columns.label], objective, source.name)
    x = learned_features(frame[columns.features], source.name)
    z = learned_features(frame[columns.privileged], source.name) if columns.privileged else None
    for part in (x, z):
        _warn_of_identifiers(part, source.name, say)
    counted = f"{len(columns.features)} features, {len(columns.privileged)} privileged columns"
    say(f"{source.name}: {len(frame)} rows, {counted}, {target.objective} for {columns.label}")
    return Rows(x, z, target.values, weights_of(frame, columns.weight, source.name)), target


def read_validation(source: Source, columns: Columns, like: Rows, target: Target, say: Say) -> Rows:
    """Rows of another file, in the terms of the training's; the privileged columns may be missing there."""
    source.check_has(columns.features, "the student learns from")
    source.check_has([columns.label, *([columns.weight] if columns.weight else [])], "the training needs")
    has_z = bool(columns.privileged) and set(columns.privileged) <= set(source.columns)
    known = {**categories_of(like.x), **({} if like.z is None else categories_of(like.z))}
    frame = source.read(columns.read, as_text=[*known, *([columns.label] if is_text(target.classes) else [])])
    x = known_features(frame[columns.features], known, source.name, say)
    z = known_features(frame[columns.privileged], known, source.name, say) if has_z else None
    y = later_labels(frame[columns.label], target.classes, target.objective, source.name)
    return Rows(x, z, y, weights_of(frame, columns.weight, source.name))


def set_aside(rows: Rows, share: float, seed: int) -> tuple[Rows, Rows]:
    """Training rows and a share of others, drawn so that every label has its share in both."""
    shuffled = np.random.default_rng(seed).permutation(len(rows.y))
    by_label = shuffled[np.argsort(rows.y[shuffled], kind="stable")]
    steps = np.floor(np.arange(len(by_label) + 1) * share)
    is_aside = np.empty(len(by_label), bool)
    is_aside[by_label] = np.diff(steps) > 0
    if is_aside.all() or not is_aside.any():
        raise ValueError(f"--valid {share:g} of {len(by_label)} rows leaves no row on one side: give another share")
    return rows.take(np.flatnonzero(~is_aside)), rows.take(np.flatnonzero(is_aside))


def weights_of(frame: pd.DataFrame, name: str | None, file: str) -> np.ndarray[Any, Any] | None:
    """How much each row counts; None where no column says it."""
    if name is None:
        return None
    column = frame[name]
    if not pd.api.types.is_numeric_dtype(column.dtype) or not column.between(0, np.inf, inclusive="left").all():
        raise ValueError(f"--weight names {name!r}, which must have a number of at least 0 in each row of {file}")
    return column.to_numpy(np.float64)


def _warn_of_identifiers(frame: pd.DataFrame | None, file: str, say: Say) -> None:
    for name, categories in (categories_of(frame) if frame is not None else {}).items():
        if len(categories) > _MANY_CATEGORIES:
            say(
                f"note: the column {name!r} of {file} has {len(categories)} different texts; if they name rows rather "
                f"than kinds, leave it out: --drop {name}"
            )
