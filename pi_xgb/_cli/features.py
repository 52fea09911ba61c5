"""Columns of a file as XGBoost takes them: numbers, truth values, and text as categories."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Any

import numpy as np
import pandas as pd
import xgboost

from .._rows.names import describe as some
from .._rows.words import first_text, place_of

Categories = Mapping[str, "pd.Index[Any]"]


def learned_features(frame: pd.DataFrame, file: str) -> pd.DataFrame:
    """Training columns: text becomes categories in alphabetical order."""
    changed = {name: _learned(frame[name], name, file) for name in frame if not _is_plain(frame[name])}
    return _finite(_replaced(frame, changed), file)


def categories_of(frame: pd.DataFrame) -> dict[str, pd.Index[Any]]:
    """The categories of each column that has some."""
    return {
        str(name): frame[name].cat.categories for name in frame if isinstance(frame[name].dtype, pd.CategoricalDtype)
    }


def known_features(
    frame: pd.DataFrame,
    categories: Categories,
    file: str,
    say: Callable[[str], None],
    pieces: Collection[str] = (),
) -> pd.DataFrame:
    """Columns of later rows, with the training's categories; what was not among them is missing, and said.

    An error where the names of categories may be ``pieces`` of what they were.
    """
    changed: dict[Any, Any] = {}
    for name in frame:
        column = frame[name]
        if name in categories:
            changed[name] = _known(column, str(name), categories[str(name)], name in pieces, file, say)
        elif not _is_plain(column):
            changed[name] = _as_numbers(column, str(name), file)
    return _finite(_replaced(frame, changed), file)


def _is_plain(column: pd.Series[Any]) -> bool:
    """Numbers or truth values, which XGBoost takes as they are."""
    return pd.api.types.is_numeric_dtype(column.dtype)


def _finite(frame: pd.DataFrame, file: str) -> pd.DataFrame:
    """The same; an error where a number is infinite in the single precision of XGBoost, which names no column."""
    for name in frame:
        column = frame[name]
        if getattr(column.dtype, "kind", "") != "f":
            continue
        with np.errstate(over="ignore"):
            infinite = np.isinf(column.to_numpy(np.float32, na_value=np.nan))
        if infinite.any():
            row = int(infinite.argmax())
            raise ValueError(
                f"the column {name!r} of {file} has {column.iloc[row]} in {place_of(int(frame.index[row]), file)}, "
                "which is infinite or too large for XGBoost, whose numbers end at 3.4e38: leave the field empty where "
                "the number is missing, or write a smaller one"
            )
    return frame


def spelled(column: pd.Series[Any]) -> pd.Series[Any]:
    """Every value as text, but for those that are missing."""
    return column.astype(object).where(column.notna(), None).map(str, na_action="ignore")


def _learned(column: pd.Series[Any], name: Any, file: str) -> Any:
    if pd.api.types.infer_dtype(column) in ("date", "datetime", "datetime64"):
        column = spelled(column)
    if pd.api.types.infer_dtype(column) == "string":
        column = column.astype("category")
    if isinstance(column.dtype, pd.CategoricalDtype):
        if any(isinstance(category, bytes) for category in column.cat.categories):
            return _as_numbers(column, name, file)  # which says that they are none
        if any("\0" in str(text) for text in column.cat.categories):
            raise ValueError(
                f"the column {name!r} of {file} has a text with a NUL character, which XGBoost cannot keep: mend it "
                "or leave it out with --drop"
            )
        return column
    return _as_numbers(column, name, file)


def _as_numbers(column: pd.Series[Any], name: Any, file: str) -> Any:
    """Truth values with gaps, exact decimals, a column without any value; else an error."""
    if isinstance(column.dtype, pd.CategoricalDtype):
        column = column.astype(column.cat.categories.dtype)
    kind = pd.api.types.infer_dtype(column)
    if kind in ("boolean", "decimal", "floating", "integer", "empty"):
        return column.astype(object).where(column.notna(), np.nan).astype(np.float64)
    if kind == "string":
        raise ValueError(
            f"the column {name!r} of {file} has text, such as {first_text(column, file)}, where the model learned from "
            "numbers: make it numbers, with nothing in the place of a missing one"
        )
    raise ValueError(
        f"the column {name!r} of {file} has values such as {column.dropna().iloc[0]!r} ({kind}), which are "
        "neither numbers nor text: turn it into one of the two, or leave it out with --drop"
    )


def _known(
    column: pd.Series[Any],
    name: str,
    categories: pd.Index[Any],
    in_pieces: bool,
    file: str,
    say: Callable[[str], None],
) -> Any:
    missing = column.isna().to_numpy()
    values = column.astype(object)
    sought = _numbers_in(values) if pd.api.types.is_numeric_dtype(categories.dtype) else values.map(str)
    codes = categories.get_indexer(pd.Index(sought))
    codes[missing] = -1
    unseen = (codes < 0) & ~missing
    if unseen.any():
        new = some(pd.unique(values[unseen]).tolist())
        if in_pieces:
            raise ValueError(
                f"the column {name!r} of {file} has values in {int(unseen.sum())} rows that the model does not know "
                f"({new}), and of names with letters beyond ASCII XGBoost {xgboost.__version__} keeps pieces only "
                "where they come from pandas: train the model with pi-xgb train, or with XGBoost 3.4 or later"
            )
        say(
            f"note: the column {name!r} of {file} has values in {int(unseen.sum())} rows that the training did not "
            f"have ({new}): they count as missing"
        )
    return pd.Categorical.from_codes(codes, categories=categories)


def _numbers_in(values: pd.Series[Any]) -> pd.Series[Any]:
    """With numbers in the place of texts: of a CSV file the columns of categories are read letter by letter."""
    is_text = values.map(lambda value: isinstance(value, str)).astype(bool)
    return values.where(~is_text, pd.to_numeric(values[is_text], errors="coerce"))


def _replaced(frame: pd.DataFrame, columns: Mapping[Any, Any]) -> pd.DataFrame:
    return frame.assign(**{str(name): column for name, column in columns.items()}) if columns else frame
