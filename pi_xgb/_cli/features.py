"""Columns of a file for XGBoost: numbers, booleans, and text as categories."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
import xgboost

from .._rows.names import describe
from .._rows.words import first_text, place_of
from .dates import are_dates, parts_of, refused_dates, spelled
from .source import MARKS, Log, check_no_nul

Categories = Mapping[str, "pd.Index[Any]"]

_FEW_NUMBERS = 20
_MOST = 0.9
"""The share of numbers among the distinct values of a column above which it counts as a column of numbers. Values count
once, since a mark for a missing value may be in many rows."""
_STRAYS = 0.01
"""The share of rows, or one row, up to which texts among numbers count as strays."""


def learned_features(frame: pd.DataFrame, file: str, *, dates: str, categories: Collection[str]) -> pd.DataFrame:
    """Return training columns: dates as parts or an error, other text as categories in alphabetical order.

    The columns ``categories`` become categories even if they look like numbers or dates.
    """
    columns: dict[str, Any] = {}
    for label, column in frame.items():
        name, texts = str(label), column
        columns[name] = column
        if column.isna().all() and not isinstance(column.dtype, pd.CategoricalDtype):
            columns[name] = pd.Series(np.nan, column.index)
            continue
        if pd.api.types.is_numeric_dtype(column.dtype):  # booleans too
            is_truth = pd.api.types.is_bool_dtype(column.dtype)
            if name in categories:
                column = (column.map(str, na_action="ignore") if is_truth else column).astype("category")
            columns[name] = column
            continue
        if pd.api.types.infer_dtype(column) in ("date", "datetime", "datetime64"):
            texts = spelled(column)
        if pd.api.types.infer_dtype(texts) == "string":
            codes, names = pd.factorize(texts, sort=True)
            values = [] if name in categories else [text for text in names.tolist() if text.strip() not in MARKS]
            if are_dates(values):
                if dates == "refuse":
                    raise refused_dates(texts, file)
                del columns[name]
                columns |= parts_of(texts, file, frame.columns)
                continue
            check_no_numbers(values, texts, file)
            columns[name] = _named(pd.Categorical.from_codes(codes, names), column, file)
        elif isinstance(column.dtype, pd.CategoricalDtype):
            columns[name] = _named(column.array, column, file)
        else:
            columns[name] = _as_numbers(texts, file)
    return _finite(pd.DataFrame(columns, frame.index, copy=False), file)


def categories_of(frame: pd.DataFrame) -> dict[str, pd.Index[Any]]:
    """Return the categories of each categorical column."""
    return {
        str(name): dtype.categories for name, dtype in frame.dtypes.items() if isinstance(dtype, pd.CategoricalDtype)
    }


def known_features(
    frame: pd.DataFrame, categories: Categories, file: str, log: Log, pieces: Collection[str] = ()
) -> pd.DataFrame:
    """Return columns of later rows with the training's categories; new values become missing, with a note.

    New values raise an error in the columns ``pieces``, where the model may hold incomplete names of categories.
    """
    columns: dict[str, Any] = {}
    for label, column in frame.items():
        columns[name := str(label)] = column
        if name in categories:
            columns[name] = _as_categories(column, categories[name], name in pieces, file, log)
        elif not pd.api.types.is_numeric_dtype(column.dtype):
            columns[name] = _as_numbers(column, file)
    return _finite(pd.DataFrame(columns, frame.index, copy=False), file)


def check_no_numbers(values: Sequence[str], column: pd.Series[Any], file: str) -> None:
    """Raise if the distinct ``values`` of a text column are mostly numbers, or all but a few rows numbers or truths."""
    # 5% and 1,5 count as numbers, too.
    n_numbers = int(_are_numbers([text.rstrip("% ").replace(",", ".") for text in values]).sum())
    fit, kind = _are_numbers(values), f"{n_numbers} different numbers: write numbers with a point and without %"
    is_truth = np.isin([text.lower() for text in values], ("true", "false"))
    if is_truth.sum() > n_numbers:
        n_numbers, fit, kind = int(is_truth.sum()), is_truth, "truth values: write True or False"
    others = np.asarray(values, object)[~fit]
    n_strays, n_rows = column.isin(others).sum(), column.isin(values).sum()
    has_strays = n_numbers > 1 and n_rows > _FEW_NUMBERS and 0 < n_strays <= max(1, _STRAYS * n_rows)
    if has_strays or n_numbers > max(_FEW_NUMBERS, _MOST * len(values)):
        text = first_text(column.mask(column.isin(MARKS)), file)
        raise ValueError(
            f"the column {column.name!r} of {file} has {text} among {kind}. If it means a missing value, add --missing "
            f"{text.partition(' in ')[0]}; if all values are names, add --categories {column.name}"
        )


def _are_numbers(texts: Sequence[str]) -> Any:
    """Return which texts are numbers."""
    return pd.to_numeric(pd.Series(texts, dtype=object), errors="coerce").notna().to_numpy()


def _finite(frame: pd.DataFrame, file: str) -> pd.DataFrame:
    """Return the frame, or raise if a number is infinite in XGBoost's single precision."""
    floats = [getattr(dtype, "kind", "") == "f" for dtype in frame.dtypes]
    numbers = frame if all(floats) else frame.loc[:, floats]
    with np.errstate(over="ignore"):
        infinite = np.isinf(numbers.to_numpy(np.float32, na_value=np.nan))
    if infinite.any():
        row, column = np.argwhere(infinite)[0]
        raise ValueError(
            f"the column {numbers.columns[column]!r} of {file} has {float(numbers.to_numpy()[row, column])} in "
            f"{place_of(int(frame.index[row]), file)}, which is infinite or above XGBoost's "
            "limit of 3.4e38: leave the field empty if the number is missing, or write a smaller one"
        )
    return frame


def _named(values: Any, column: pd.Series[Any], file: str) -> Any:
    """Return the values, or raise for categories that XGBoost cannot store."""
    names = values.categories.tolist()
    if any(isinstance(name, bytes) for name in names):
        return _as_numbers(column, file)  # which raises
    check_no_nul(names, f"the column {column.name!r} of {file}")
    return values


def _as_numbers(column: pd.Series[Any], file: str) -> Any:
    """Return booleans with gaps, exact decimals or an empty column as numbers; raise for others."""
    if isinstance(column.dtype, pd.CategoricalDtype):
        column = column.astype(column.cat.categories.dtype)
    kind = pd.api.types.infer_dtype(column)
    if kind in ("boolean", "decimal", "floating", "integer", "empty"):
        return column.astype(object).where(column.notna(), np.nan).astype(np.float64)
    if kind == "string":
        text = first_text(column, file)
        raise ValueError(
            f"the column {column.name!r} of {file} has text, such as {text}, where the model expects numbers: "
            f"write a number, or add --missing {text.partition(' in ')[0]} if it means a missing value"
        )
    raise ValueError(
        f"the column {column.name!r} of {file} has values such as {column.dropna().iloc[0]!r} ({kind}), which are "
        "neither numbers nor text: convert them to one of the two, or leave the column out with --drop"
    )


def _as_categories(column: pd.Series[Any], categories: pd.Index[Any], in_pieces: bool, file: str, log: Log) -> Any:
    codes, distinct = pd.factorize(column)
    names = pd.Series(distinct.astype(object), dtype=object)
    # A column of whole numbers with gaps is one of floats: 7.0 is the category 7, as a number and as text.
    is_number = pd.api.types.is_numeric_dtype(categories.dtype)
    spellings = pd.to_numeric(names, errors="coerce") if is_number else names.map(str)
    places = categories.get_indexer(pd.Index(spellings))
    if not is_number:
        whole = pd.Index([str(name).removesuffix(".0") for name in categories])
        if whole.is_unique:
            places = whole.get_indexer(pd.Index(spellings.str.removesuffix(".0")))
    places = np.append(places, -1)  # the last for missing values, of code -1
    known = places[codes]
    unseen = (known < 0) & (codes >= 0)
    if unseen.any():
        new = describe(names[places[:-1] < 0])
        where = f"the column {column.name!r} of {file} has values in {int(unseen.sum())} rows that"
        if in_pieces:
            raise ValueError(
                f"{where} the model does not have ({new}), but XGBoost {xgboost.__version__} stores incomplete "
                "names of categories with non-ASCII characters from pandas: train the model with pi-xgb train, or with "
                "XGBoost 3.4 or later"
            )
        log(f"note: {where} the training did not have ({new}): treated as missing")
    return pd.Categorical.from_codes(known, categories=categories)
