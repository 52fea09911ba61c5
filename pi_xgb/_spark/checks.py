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

    @property
    def privileged_names(self) -> list[str]:
        """The privileged columns of the DataFrame."""
        return _listed(self.privileged)


def check_columns(dataset: DataFrame, columns: Columns, *, allow_overlap: bool) -> None:
    """Raise if columns are absent, not numeric, or both privileged and the student's."""
    for name, parameter in [
        *((name, "privileged_cols") for name in columns.privileged_names),
        *((name, "features_col") for name in _listed(columns.features)),
        (columns.label, "label_col"),
        (columns.weight, "weight_col"),
        (columns.validation, "validation_indicator_col"),
        (columns.teacher_weight, "teacher_weight_col"),
        (columns.crossfit_groups, "crossfit_groups_col"),
        (columns.query, "qid_col"),
    ]:
        if name and name not in dataset.columns:
            raise ValueError(
                f"{parameter} must name columns of the DataFrame ({', '.join(dataset.columns)}), got {name!r}: "
                "check its spelling"
            )
    if columns.privileged == []:
        raise ValueError("privileged_cols must name the columns that the teacher sees, got an empty list: add names")
    if len(set(columns.privileged_names)) < len(columns.privileged_names):
        raise ValueError(
            f"privileged_cols must have distinct names, got {columns.privileged_names}: drop the duplicates"
        )
    if columns.query in columns.privileged_names:
        raise ValueError(f"privileged_cols must not have qid_col, got {columns.query!r}: drop it, it is no feature")
    for name in (columns.label, columns.validation):
        if name in columns.privileged_names:
            raise ValueError(
                f"privileged_cols must not have the label or the validation indicator, got {name!r}: drop it from "
                "the list"
            )
    for name in columns.privileged_names:
        kind = dataset.schema[name].dataType
        if not (_is_number(kind) or is_vector(dataset, columns.privileged)):
            raise TypeError(
                f"privileged_cols must be columns of numbers, or one column of vectors, got {name!r} of type "
                f"{kind.simpleString()}: encode strings with pyspark.ml.feature.StringIndexer"
            )
    kind = dataset.schema[columns.label].dataType
    if not _is_number(kind):
        raise TypeError(
            f"label_col must be numbers, got {columns.label!r} of type {kind.simpleString()}: encode classes as 0, 1, "
            "... with pyspark.ml.feature.StringIndexer"
        )
    if columns.teacher_weight and not _is_number(kind := dataset.schema[columns.teacher_weight].dataType):
        raise TypeError(
            f"teacher_weight_col must be numbers of at least 0, got {columns.teacher_weight!r} of type "
            f"{kind.simpleString()}"
        )
    if columns.validation and not isinstance(dataset.schema[columns.validation].dataType, BooleanType):
        raise TypeError(
            f"validation_indicator_col must be of type boolean, got {columns.validation!r}: use true in validation rows"
        )
    if not allow_overlap:
        _check_no_overlap(dataset, columns)


def _check_no_overlap(dataset: DataFrame, columns: Columns) -> None:
    shared = _names_inside(dataset, columns.features) & _names_inside(dataset, columns.privileged_names)
    if shared:
        raise ValueError(
            f"columns {sorted(shared)} are in features_col and in privileged_cols: drop them from one of the two, or "
            "set allow_overlap=True if the teacher should see classifier features"
        )


def _names_inside(dataset: DataFrame, names: str | list[str]) -> set[str]:
    """Return the names of columns, and of the columns inside a vector from a VectorAssembler."""
    found = set(_listed(names))
    for name in _listed(names):
        attributes = dataset.schema[name].metadata.get("ml_attr", {}).get("attrs", {})
        found.update(attribute["name"] for kind in attributes.values() for attribute in kind if "name" in attribute)
    return found


@dataclasses.dataclass(frozen=True)
class Rows:
    """The result of one pass over the labels."""

    n_labelled: int
    """The number of labelled training rows."""
    n_unlabelled: int
    n_validation: int
    labels: tuple[float, float]
    """The smallest and the largest label."""


def check_rows(dataset: DataFrame, columns: Columns, *, classes: bool, teach_unlabelled: bool = False) -> Rows:
    """Check labels, weights and validation indicators in one pass; XGBoost would accept some of these errors."""
    known = is_labelled(columns)
    label = F.when(known, _column(columns.label).cast("double"))
    validation = F.lit(False) if columns.validation is None else _column(columns.validation)
    vectors = is_vector(dataset, columns.privileged)
    null_vector = _column(columns.privileged_names[0]).isNull() if vectors else F.lit(False)
    counted = {
        "train": ~validation,
        "validation": validation,
        "bad_label": ~known & validation if teach_unlabelled else ~known,
        "unlabelled": ~known & ~validation,
        "bad_validation": validation.isNull(),
        "bad_weight": _is_bad_weight(columns.weight),
        "bad_teacher_weight": _is_bad_weight(columns.teacher_weight),
        "null_group": _is_null(columns.crossfit_groups),
        "null_query": _is_null(columns.query),
        "null_vector": null_vector,
        "bad_number": F.abs(label) > _LARGEST,
        "not_whole": label != F.rint(label),
    }
    found: Any = dataset.agg(
        *(F.count(F.when(condition, 1)).alias(name) for name, condition in counted.items()),
        F.min(label).alias("low"),
        F.max(label).alias("high"),
        *([F.count_distinct(label).alias("distinct")] if classes else []),  # needs a shuffle
    ).collect()[0]
    for number, problem in [
        (found.bad_label, f"no label in {columns.label!r} (null or NaN): {_label_remedy(teach_unlabelled)}"),
        (found.bad_number, f"a label in {columns.label!r} that is not finite in float32: drop these rows"),
        (found.bad_validation, f"null in {columns.validation!r}: set true or false in every row"),
        (found.bad_weight, f"a weight in {columns.weight!r} that is null, NaN, infinite or negative"),
        (found.bad_teacher_weight, f"a weight in {columns.teacher_weight!r} that is null, NaN, infinite or negative"),
        (found.null_group, f"null in {columns.crossfit_groups!r}: give each of them its own group"),
        (found.null_query, f"null in {columns.query!r}: set the number of the query in every row"),
        (found.null_vector, f"no vector in {columns.privileged!r}: drop or fill these rows"),
    ]:
        if number:
            raise ValueError(f"{number} rows have {problem}")
    if found.train == 0:
        raise ValueError(f"DataFrame must have training rows, got {found.validation} validation rows only: add some")
    if found.train == found.unlabelled:
        raise no_labelled_row(f"label_col {columns.label!r}")
    if classes:
        _check_classes(columns.label, found)
    return Rows(found.train - found.unlabelled, found.unlabelled, found.validation, (found.low, found.high))


def _label_remedy(teach_unlabelled: bool) -> str:
    if teach_unlabelled:
        return "validation rows need labels, drop these rows"
    return "drop these rows, or set unlabelled='teach' to train on them with the teacher alone"


def _is_null(name: str | None) -> Column:
    return F.lit(False) if name is None else _column(name).isNull()


def _is_bad_weight(name: str | None) -> Column:
    """Return whether a weight is missing, negative or not finite."""
    if name is None:
        return F.lit(False)
    weight = _column(name).cast("double")
    return weight.isNull() | F.isnan(weight) | (weight < 0) | (weight > _LARGEST)


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


def _check_classes(name: str, found: Any) -> None:
    if found.not_whole or found.low != 0 or found.high != found.distinct - 1:
        raise ValueError(
            f"the classes in {name!r} must be 0, 1, ... without a gap, got {found.distinct} different labels from "
            f"{found.low:g} to {found.high:g}: encode them with pyspark.ml.feature.StringIndexer"
        )
    if found.distinct < 2:
        raise ValueError(f"{name!r} must have at least two classes, got one: add rows of another class")


def privileged_columns(dataset: DataFrame, names: str | list[str] | None, prefix: str) -> list[Column]:
    """Return the privileged columns as float32, with unique names."""
    if isinstance(names, str) and is_vector(dataset, names):
        if isinstance(dataset.schema[names].dataType, ArrayType):
            return [_column(names).cast(ArrayType(FloatType())).alias(prefix)]
        return [vector_to_array(_column(names), dtype="float32").alias(prefix)]
    return [_column(name).cast(FloatType()).alias(f"{prefix}{i}") for i, name in enumerate(_listed(names))]


def is_vector(dataset: DataFrame, names: str | Sequence[str] | None) -> bool:
    """Return whether this is the name of one column of vectors, or of arrays of numbers."""
    if not isinstance(names, str):
        return False
    kind = dataset.schema[names].dataType
    return isinstance(kind, VectorUDT) or (isinstance(kind, ArrayType) and _is_number(kind.elementType))


def _is_number(kind: DataType) -> bool:
    return isinstance(kind, (NumericType, BooleanType))


def _listed(names: str | Sequence[str] | None) -> list[str]:
    return [names] if isinstance(names, str) else list(names or ())


def _column(name: str) -> Column:
    """Return a column by its name, which may have dots."""
    return F.col("`" + name.replace("`", "``") + "`")
