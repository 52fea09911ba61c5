"""HTML pages from the templates of this folder, and the tables of a report as text."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from .._rows.names import in_words, printable
from ..metrics._report import ALL
from ..metrics._scored import MEASURES
from .numbers import COMPARED, PERFORMANCE, Numbers, with_interval

COUNTS = ("rows", "weight", "positives", "selected")
UNDEFINED = "–"
BREAK = "\x1f"  # a new line in a cell: no name of a group or model contains it
NAMES = {name: name.replace("_", " ") for name in (*MEASURES, *COMPARED)}
NAMES |= {"auc": "AUC", "brier": "Brier score", "abroca": "ABROCA"}


def jinja() -> Any:
    """Return jinja2, an optional dependency."""
    try:
        import jinja2
    except ImportError as error:
        raise ImportError('pages need jinja2: pip install ".[report]" in a checkout') from error
    return jinja2


def render(numbers: Numbers, confidence: float, max_features: int, **content: Any) -> str:
    """Return the page; all text is escaped, also in tables."""
    loader = jinja().FileSystemLoader(Path(__file__).parent)
    environment = jinja().Environment(loader=loader, autoescape=True, trim_blocks=True)
    environment.filters |= {"table": _as_html, "settings": _settings}
    surrogates = {name: own.features.attrs["surrogate"] for name, own in numbers.items()}
    tables = _tables(numbers, confidence, max_features)
    page = environment.get_template("report.html").render(tables=tables, surrogates=surrogates, **content)
    return printable(page)


def _as_html(frame: pd.DataFrame) -> Any:
    with pd.option_context("display.max_colwidth", None):
        html = frame.to_html(border=0).replace(BREAK, "<br>")
    return jinja().utils.markupsafe.Markup(html)


def number(value: float, digits: int = 3, *, signed: bool = False) -> str:
    """Return a number as text; a rounded -0.00004 is 0.000."""
    return UNDEFINED if value != value else f"{value:{'+' if signed else ''}z,.{digits}f}"


def estimate(row: pd.Series[Any], name: str = "", digits: int = 3, *, signed: bool = False) -> str:
    """Return a number with its interval on a second line, if it has one, and a star if that excludes 0."""
    shown = partial(number, digits=digits, signed=signed)
    value, *ends = with_interval(row, name)
    star = " *" if signed and ends and not ends[0] <= 0 <= ends[1] else ""
    return f"{shown(value)}{star}" + (f"{BREAK}{shown(ends[0])} to {shown(ends[1])}" if ends else "")


def _tables(numbers: Numbers, confidence: float, max_features: int) -> dict[str, Any]:
    """Return the tables of numbers, with cells of text; models, groups and features are rows."""
    performance = {name: own.measured.loc[list(PERFORMANCE)] for name, own in numbers.items()}
    gap = partial(_gap, level=1 - confidence)
    views = next(iter(numbers.values())).gaps
    found = {
        "performance": _by_model(performance, partial(estimate, digits=4)),
        "gaps": {view: _by_model({name: own.gaps[view] for name, own in numbers.items()}, gap) for view in views},
        "groups": {name: _groups(own.groups) for name, own in numbers.items()},
        "features": {name: _features(own.features, max_features) for name, own in numbers.items()},
    }
    if len(numbers) > 1:
        differences = {name: own.difference for name, own in numbers.items() if own.difference is not None}
        found["differences"] = _by_model(differences, partial(estimate, digits=4, signed=True))
    return found


def _by_model(tables: dict[str, pd.DataFrame], cell: Callable[..., str]) -> pd.DataFrame:
    frame = pd.DataFrame({name: table.apply(cell, axis=1) for name, table in tables.items()}).T
    return frame.rename(columns=NAMES).rename_axis(columns="model")


def _gap(row: pd.Series[Any], level: float) -> str:
    """Return a gap with its interval, the gap expected by chance, and the two groups; a star if it is significant."""
    text = estimate(row)
    if "p_value" not in row or row["p_value"] != row["p_value"]:
        return text
    star = " *" if row["p_adjusted"] <= level else ""
    value, _, interval = text.partition(BREAK)
    chance = f"by chance {row['chance']:.3f}, p {row['p_adjusted']:.3f}"
    return BREAK.join([value + star, interval, chance, row["between"]])


def _groups(table: pd.DataFrame) -> pd.DataFrame:
    counts = {name: table[name].map(partial(number, digits=int(name == "weight"))) for name in COUNTS if name in table}
    frame = pd.DataFrame(counts | {NAMES[rate]: table.apply(estimate, axis=1, name=rate) for rate in MEASURES})
    names = [in_words(name) for name in table.index]
    # All rows first, then single features, then intersections.
    order = np.argsort(
        [-list(name).count(ALL) if isinstance(name, tuple) else 0 for name in table.index], kind="stable"
    )
    return frame.set_axis(names).iloc[order].rename_axis(columns=in_words(tuple(table.index.names)))


def _features(table: pd.DataFrame, max_features: int) -> pd.DataFrame:
    first, second = (in_words(name) for name in table.attrs["between"])
    columns = {"fair_importance": "fair importance", "shap_gap": f"SHAP gap, {first} over {second}"}
    columns |= {"gain": "gain (mean per split)", "total_gain": "total gain"}
    shown = table.head(max_features)
    cells = {head: shown.apply(estimate, axis=1, name=key, signed="gain" not in key) for key, head in columns.items()}
    return pd.DataFrame(cells).rename_axis(index=None, columns="feature")


def _settings(values: Mapping[str, Mapping[str, str]]) -> pd.DataFrame:
    """Return a table with a column for each of the mappings, and a row for each key."""
    frame = pd.concat({name: pd.Series(own, dtype=object) for name, own in values.items()}, axis=1)
    return frame.replace("", UNDEFINED).fillna(UNDEFINED).rename_axis(columns="setting")
