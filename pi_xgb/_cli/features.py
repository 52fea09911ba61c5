"""Columns of a file for XGBoost: numbers, booleans, and text as categories."""

from __future__ import annotations

import re
import shlex
from collections.abc import Collection, Mapping
from typing import Any

import numpy as np
import pandas as pd
import xgboost

from .._rows.names import describe
from .._rows.tables import check_no_text
from .table import MARKS, Log, first_text, place_of

Categories = Mapping[str, "pd.Index[Any]"]

_MOST = 0.9
"""The share of numbers, dates and truth values, of the rows or of the distinct texts, above which other texts are
strays."""
_NUMBER = r"(?=.*\d)[^\w.]*(\d{1,3}(?P<mark>[.,'\s])\d{3}((?P=mark)\d{3})*|\d+)?([.,]\d*)?(e[-+]?\d+)?\W*"
"""A number in any spelling: 1.5, 5%, 1,5, $12.30, 1.234.567, and with a Unicode minus."""
_MONTH = (
    r"(jan(uary)?|feb(ruary)?|mar(ch)?|apr(il)?|may|june?|july?|aug(ust)?|sept?(ember)?|oct(ober)?|nov(ember)?|"
    r"dec(ember)?)\.?"
)
_IN_MONTH = r"(0?[1-9]|[12]\d|3[01])"
_DAY = (
    rf"\d{{4}}[-/.]\d{{1,2}}[-/.]\d{{1,2}}|{_IN_MONTH}[-/.]{_IN_MONTH}[-/.](\d{{4}}|\d{{2}})|"
    rf"{_IN_MONTH}[-/. ]*{_MONTH}[-/., ]*(\d{{4}}|\d{{2}})|{_MONTH} *{_IN_MONTH},? +\d{{4}}"
)
_DATE = rf"\s*({_DAY})([T ]\d{{1,2}}:\d{{2}}.*)?\s*"
_NO_NAME = re.compile(rf"{_NUMBER}|{_DATE}|\s*(true|false)\s*", re.IGNORECASE)


def learned_features(frame: pd.DataFrame, file: str, categories: Collection[str]) -> pd.DataFrame:
    """Return training columns: text as categories in alphabetical order.

    The columns ``categories`` become categories even if they look like numbers or dates.
    """
    columns = {str(name): _learned(column, file, name in categories) for name, column in frame.items()}
    return _checked(pd.DataFrame(columns, frame.index, copy=False), file)


def _learned(column: pd.Series[Any], file: str, is_category: bool) -> Any:
    if isinstance(column.dtype, pd.CategoricalDtype):
        names = column.cat.categories
        if pd.api.types.is_numeric_dtype(names.dtype) or pd.api.types.infer_dtype(names) == "string":
            return column
        column = column.astype(names.dtype)
    if column.isna().all():
        return pd.Series(np.nan, column.index)
    kind = pd.api.types.infer_dtype(column)
    if kind in ("date", "datetime", "datetime64") or (is_category and kind == "boolean"):
        column, kind = column.map(str, na_action="ignore"), "string"
    if kind == "string" and not is_category:
        check_names(column, file)
    if kind == "string" or is_category:
        return column.astype("category")
    return column if pd.api.types.is_numeric_dtype(column.dtype) else _as_numbers(column, file)


def check_names(column: pd.Series[Any], file: str) -> None:
    """Raise for a column of text that has mostly numbers, dates or truth values."""
    texts = column.where(~column.str.strip().isin(MARKS))
    n_rows = texts.value_counts()
    is_name = np.array([_NO_NAME.fullmatch(text) is None for text in n_rows.index], dtype=bool)
    least = 1 - _MOST
    if is_name.sum() < least * len(n_rows) or n_rows[is_name].sum() < least * n_rows.sum():
        text, name = first_text(texts, file), shlex.quote(str(column.name))
        raise ValueError(
            f"the column {column.name!r} of {file} has {text} among numbers, dates or truth values: write numbers with "
            "a point and without % or other signs, and days since an event for a date. If it means a missing value, "
            f"add --missing {text.rpartition(' in ')[0]}; if all values are names, add --categories {name}, or leave "
            f"the column out with --drop {name}"
        )


def categories_of(frame: pd.DataFrame) -> dict[str, pd.Index[Any]]:
    """Return the categories of each categorical column."""
    types = frame.dtypes.items()
    return {str(name): dtype.categories for name, dtype in types if isinstance(dtype, pd.CategoricalDtype)}


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
            columns[name], new = _as_categories(column, categories[name])
            where = f"the column {name!r} of {file} has values that the training did not have ({describe(new)})"
            if len(new) and name in pieces:
                raise ValueError(
                    f"{where}, but XGBoost {xgboost.__version__} stores incomplete names of categories with non-ASCII "
                    "characters from pandas: train the model with pi-xgb train, or with XGBoost 3.4 or later"
                )
            if len(new):
                log(f"note: {where}: treated as missing")
        elif not pd.api.types.is_numeric_dtype(column.dtype):
            columns[name] = _as_numbers(column, file)
    return _checked(pd.DataFrame(columns, frame.index, copy=False), file)


def _checked(frame: pd.DataFrame, file: str) -> pd.DataFrame:
    """Return the frame, or raise for a name or a number that XGBoost cannot store."""
    check_no_text(frame, file)
    numbers = frame.select_dtypes("number")
    with np.errstate(over="ignore"):
        rows, columns = np.isinf(numbers.to_numpy(np.float32, na_value=np.nan)).nonzero()
    if len(rows):
        value, line = float(numbers.iloc[rows[0], columns[0]]), place_of(int(frame.index[rows[0]]), file)
        raise ValueError(
            f"the column {numbers.columns[columns[0]]!r} of {file} has {value} in {line}, which is infinite or above "
            "XGBoost's limit of 3.4e38: leave the field empty if the number is missing, or write a smaller one"
        )
    return frame


def _as_numbers(column: pd.Series[Any], file: str) -> Any:
    """Return booleans with gaps, exact decimals or an empty column as numbers; raise for others."""
    if isinstance(column.dtype, pd.CategoricalDtype):
        column = column.astype(column.cat.categories.dtype)
    kind, what = pd.api.types.infer_dtype(column), f"the column {column.name!r} of {file} has"
    if kind in ("boolean", "decimal", "floating", "integer", "empty"):
        return column.astype(object).where(column.notna(), np.nan).astype(np.float64)
    if kind != "string":
        value = column.dropna().iloc[0]
        raise ValueError(f"{what} values such as {value!r} ({kind}): convert them to numbers or text, or add --drop")
    text = first_text(column, file)
    raise ValueError(
        f"{what} text, such as {text}, where the model expects numbers: write a number, or add "
        f"--missing {text.rpartition(' in ')[0]} if it means a missing value"
    )


def _as_categories(column: pd.Series[Any], categories: pd.Index[Any]) -> tuple[Any, pd.Series[Any]]:
    """Return the column with these categories, and the values that are none of them."""
    codes, distinct = pd.factorize(column)
    names: Any = pd.Series(distinct.astype(object), dtype=object)
    # A column of whole numbers with gaps is one of floats: 7.0 is the category 7, as a number and as text.
    if pd.api.types.is_numeric_dtype(categories.dtype):
        keys = pd.to_numeric(names, errors="coerce")
    else:
        keys = texts = names.map(str)
        for other in (texts.str.removesuffix(".0"), texts + ".0"):
            keys = keys.where(keys.isin(categories), other)
    places = categories.get_indexer(pd.Index(keys))
    known = np.append(places, -1)[codes]  # the last for missing values, of code -1
    return pd.Categorical.from_codes(known, categories=categories), names[places < 0]
