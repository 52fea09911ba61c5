"""Checks of a Spark DataFrame on the driver, before the training."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

import numpy as np
from pyspark.ml.functions import vector_to_array
from pyspark.ml.linalg import VectorUDT
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import ArrayType, BooleanType, DataType, FloatType, NumericType

from .._rows.supervision import no_labelled_row

_LARGEST = float(np.finfo(np.float32).max)


@dataclasses.dataclass(frozen=True)
class Columns:
    """The columns of a DataFrame that a training reads."""

    features: str | list[str]
    privileged: str | list[str] | None
    label: str
    weight: str | None = None
    validation: str | None = None
    teacher_weight: str | None = None
    crossfit_groups: str | None = None
    query: str | None = None


def check_columns(dataset: DataFrame, columns: Columns, *, allow_overlap: bool) -> None:
    """Raise if columns are absent, of another type, or have two roles."""
    privileged = listed(columns.privileged)
    any_type, numbers, booleans = (DataType,), (NumericType, BooleanType), (BooleanType,)
    for parameter, names, types, expected in [
        ("features_col", listed(columns.features), any_type, ""),
        ("privileged_cols", privileged, numbers, "numbers, or one column of vectors"),
        ("label_col", [columns.label], numbers, "numbers"),
        ("weight_col", listed(columns.weight), any_type, ""),
        ("validation_indicator_col", listed(columns.validation), booleans, "of type boolean"),
        ("teacher_weight_col", listed(columns.teacher_weight), numbers, "numbers of at least 0"),
        ("crossfit_groups_col", listed(columns.crossfit_groups), any_type, ""),
        ("qid_col", listed(columns.query), any_type, ""),
    ]:
        for name in names:
            if name not in dataset.columns:
                raise ValueError(
                    f"{parameter} must name columns of the DataFrame ({', '.join(dataset.columns)}), got {name!r}: "
                    "check its spelling"
                )
            kind = dataset.schema[name].dataType
            if not (isinstance(kind, types) or (names is privileged and is_vector(dataset, columns.privileged))):
                raise TypeError(
                    f"{parameter} must be {expected}, got {name!r} of type {kind.simpleString()}: encode strings as 0, "
                    "1, ... with pyspark.ml.feature.StringIndexer"
                )
    if columns.privileged == []:
        raise ValueError("privileged_cols must name the columns that the teacher sees, got an empty list: add names")
    if len(set(privileged)) < len(privileged):
        raise ValueError(f"privileged_cols must have distinct names, got {privileged}: drop the duplicates")
    seen, of_teacher = (_names_inside(dataset, names) for names in (columns.features, privileged))
    for parameter, inside in {"features_col": seen, "privileged_cols": of_teacher}.items():
        if taken := inside & {columns.label, columns.weight, columns.validation, columns.query}:
            raise ValueError(
                f"{parameter} must not have the column of labels, weights, validation or queries: drop {sorted(taken)}"
            )
    if (shared := seen & of_teacher) and not allow_overlap:
        raise ValueError(
            f"columns {sorted(shared)} are in features_col and in privileged_cols: drop them from one of the two, or "
            "set allow_overlap=True if the teacher should see classifier features"
        )


def _names_inside(dataset: DataFrame, names: str | list[str]) -> set[str]:
    """Return the names of columns, and of the columns inside a vector from a VectorAssembler."""
    found = set(listed(names))
    for name in listed(names):
        attributes = dataset.schema[name].metadata.get("ml_attr", {}).get("attrs", {})
        found.update(attribute["name"] for kind in attributes.values() for attribute in kind if "name" in attribute)
    return found


@dataclasses.dataclass(frozen=True)
class RowCounts:
    """The result of one pass over the labels."""

    n_labelled: int
    """The number of labelled training rows."""
    n_unlabelled: int
    n_validation: int
    labels: tuple[float, float]
    """The smallest and the largest label."""


def check_rows(dataset: DataFrame, columns: Columns, *, classes: bool, teach_unlabelled: bool = False) -> RowCounts:
    """Check labels, weights and validation indicators in one pass; XGBoost would accept some of these errors."""
    known = is_labelled(columns)
    label = F.when(known, _column(columns.label).cast("double"))
    validation = F.lit(False) if columns.validation is None else _column(columns.validation)
    remedy = "drop these rows, or set unlabelled='teach' to train on them with the teacher alone"
    if teach_unlabelled:
        remedy = "validation rows need labels, drop these rows"
    vector = listed(columns.privileged)[0] if is_vector(dataset, columns.privileged) else None
    problems = [
        (~known & validation if teach_unlabelled else ~known, f"no label in {columns.label!r} (null or NaN): {remedy}"),
        (F.abs(label) > _LARGEST, f"a label in {columns.label!r} that is not finite in float32: drop these rows"),
        *(
            (_is_bad_weight(name), f"a weight in {name!r} that is null, NaN, infinite or negative")
            for name in (columns.weight, columns.teacher_weight)
            if name
        ),
        *(
            (_column(name).isNull(), f"null in {name!r}: {hint}")
            for name, hint in [
                (columns.validation, "set true or false in every row"),
                (columns.crossfit_groups, "give each of them its own group"),
                (columns.query, "set the number of the query in every row"),
                (vector, "drop or fill these rows"),
            ]
            if name
        ),
    ]
    counted = [condition for condition, _ in problems]
    counted += [~validation, validation, ~known & ~validation, label != F.rint(label)]
    n_distinct = [F.count_distinct(label)] if classes else []  # needs a shuffle
    counts = [F.count(F.when(condition, 1)) for condition in counted]
    found: Any = dataset.agg(F.min(label), F.max(label), *counts, *n_distinct).collect()[0]
    low, high, *n_bad = found[: 2 + len(problems)]
    n_train, n_validation, n_unlabelled, n_fractions, *distinct = found[2 + len(problems) :]
    for number, (_, problem) in zip(n_bad, problems, strict=True):
        if number:
            raise ValueError(f"{number} rows have {problem}")
    if n_train == 0:
        raise ValueError(f"DataFrame must have training rows, got {n_validation} validation rows only: add some")
    if n_train == n_unlabelled:
        raise no_labelled_row(f"label_col {columns.label!r}")
    if classes and (n_fractions or low != 0 or high != distinct[0] - 1 or high < 1):
        raise ValueError(
            f"the classes in {columns.label!r} must be two or more, 0, 1, ... without a gap, got {distinct[0]} "
            f"different labels from {low:g} to {high:g}: encode them with pyspark.ml.feature.StringIndexer"
        )
    return RowCounts(n_train - n_unlabelled, n_unlabelled, n_validation, (low, high))


def _is_bad_weight(name: str) -> Column:
    """Return whether a weight is missing, negative or not finite; NaN is the largest number in Spark."""
    return ~F.coalesce(_column(name).cast("double").between(0, _LARGEST), F.lit(False))


def is_labelled(columns: Columns) -> Column:
    """Return whether a row has a label."""
    label = _column(columns.label).cast("double")
    return ~(label.isNull() | F.isnan(label))


def with_labels_filled(dataset: DataFrame, columns: Columns, mask: str) -> DataFrame:
    """Return the dataset with label 0, valid for every task, where it is missing; ``mask`` is false there."""
    filled = F.when(is_labelled(columns), _column(columns.label).cast("double")).otherwise(F.lit(0.0))
    return dataset.withColumn(mask, is_labelled(columns)).withColumn(columns.label, filled)


def row_columns(dataset: DataFrame, columns: Columns, prefix: str) -> list[Column]:
    """Return the columns with a value per row, named by their keyword of :func:`pi_xgb.train`."""
    selected = [_column(name) for name in dataset.columns if name == f"{prefix}labelled"]
    if columns.teacher_weight:
        selected.append(_column(columns.teacher_weight).cast("double").alias(f"{prefix}teacher_weight"))
    if columns.crossfit_groups:
        selected.append(_column(columns.crossfit_groups).cast("string").alias(f"{prefix}crossfit_groups"))
    return selected


def privileged_columns(dataset: DataFrame, names: str | list[str] | None, prefix: str) -> list[Column]:
    """Return the privileged columns as float32, with unique names."""
    if isinstance(names, str) and is_vector(dataset, names):
        if isinstance(dataset.schema[names].dataType, ArrayType):
            return [_column(names).cast(ArrayType(FloatType())).alias(prefix)]
        return [vector_to_array(_column(names), dtype="float32").alias(prefix)]
    return [_column(name).cast(FloatType()).alias(f"{prefix}{i}") for i, name in enumerate(listed(names))]


def is_vector(dataset: DataFrame, names: str | Sequence[str] | None) -> bool:
    """Return whether this is the name of one column of vectors, or of arrays of numbers."""
    if not isinstance(names, str):
        return False
    kind = dataset.schema[names].dataType
    element = kind.elementType if isinstance(kind, ArrayType) else None
    return isinstance(kind, VectorUDT) or isinstance(element, (NumericType, BooleanType))


def listed(names: str | Sequence[str] | None) -> list[str]:
    """Return names of columns, one or several, as a list."""
    return [names] if isinstance(names, str) else list(names or ())


def _column(name: str) -> Column:
    """Return a column by its name, which may have dots."""
    return F.col("`" + name.replace("`", "``") + "`")
