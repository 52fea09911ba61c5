"""The HTML page of a report from the template of this folder: tables as text, pictures as matplotlib's SVG."""

from __future__ import annotations

import io
import warnings
from base64 import b64encode
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from .._plots.by_group import plot_calibration, plot_roc, plot_scores
from .._plots.by_table import plot_importance
from .._plots.style import SIZE
from .._rows.names import in_words, printable
from ..metrics._report import ALL
from ..metrics._scored import MEASURES
from .models import ReportRows, ScoredModel
from .numbers import COMPARED, PERFORMANCE, Numbers, with_interval

COUNTS = ("rows", "weight", "positives", "selected")
UNDEFINED = "–"
BREAK = "\x1f"  # a new line in a cell: no name of a group or model contains it
NAMES = {name: name.replace("_", " ") for name in (*MEASURES, *COMPARED)}
NAMES |= {"auc": "AUC", "brier": "Brier score", "abroca": "ABROCA"}


def render(numbers: Numbers, confidence: float, max_features: int, **content: Any) -> str:
    """Return the page; all text is escaped, also in tables. Models, groups and features are rows of the tables."""
    from jinja2 import Environment, FileSystemLoader

    environment = Environment(loader=FileSystemLoader(Path(__file__).parent), autoescape=True, trim_blocks=True)
    environment.filters |= {"table": partial(pd.DataFrame.to_html, border=0), "settings": _settings, "groups": _groups}
    environment.filters["features"] = partial(_features, max_features=max_features)
    performance = {name: own.measured.loc[list(PERFORMANCE)] for name, own in numbers.items()}
    content["performance"] = _by_model(performance, partial(estimate, digits=4))
    differences = {name: own.difference for name, own in numbers.items() if len(own.difference)}
    content["differences"] = _by_model(differences, partial(estimate, digits=4, signed=True))
    gap = partial(_gap, level=1 - confidence)
    views = next(iter(numbers.values())).gaps
    content["gaps"] = {view: _by_model({name: own.gaps[view] for name, own in numbers.items()}, gap) for view in views}
    with pd.option_context("display.max_colwidth", None):
        page = environment.get_template("report.html").render(numbers=numbers, **content)
    return printable(page.replace(BREAK, "<br>"))


def number(value: float, digits: int = 3, *, signed: bool = False) -> str:
    """Return a number as text; a rounded -0.00004 is 0.000."""
    return UNDEFINED if value != value else f"{value:{'+' if signed else ''}z,.{digits}f}"


def estimate(row: pd.Series[Any], name: str = "", digits: int = 3, *, signed: bool = False) -> str:
    """Return a number with its interval on a second line, if it has one, and a star if that excludes 0."""
    shown = partial(number, digits=digits, signed=signed)
    value, *ends = with_interval(row, name)
    star = " *" if signed and ends and not ends[0] <= 0 <= ends[1] else ""
    return f"{shown(value)}{star}" + (f"{BREAK}{shown(ends[0])} to {shown(ends[1])}" if ends else "")


def _by_model(tables: dict[str, pd.DataFrame], cell: Callable[..., str]) -> pd.DataFrame:
    frame = pd.DataFrame({name: table.apply(cell, axis=1) for name, table in tables.items()}).T
    return frame.rename(columns=NAMES).rename_axis(columns="model")


def _gap(row: pd.Series[Any], level: float) -> str:
    """Return a gap with its interval, the gap expected by chance, and the two groups; a star if it is significant."""
    text = estimate(row)
    if pd.isna(row.get("p_value")):
        return text
    star = " *" if row["p_adjusted"] <= level else ""
    chance = f"by chance {row['chance']:.3f}, p {row['p_adjusted']:.3f}"
    return BREAK.join([text.replace(BREAK, star + BREAK), chance, row["between"]])


def _groups(table: pd.DataFrame) -> pd.DataFrame:
    counts = {name: table[name].map(partial(number, digits=int(name == "weight"))) for name in COUNTS if name in table}
    frame = pd.DataFrame(counts | {NAMES[rate]: table.apply(estimate, axis=1, name=rate) for rate in MEASURES})
    names = [in_words(name) for name in table.index]
    # All rows first, then single features, then intersections.
    margins = [name.count(ALL) if isinstance(name, tuple) else 0 for name in table.index]
    order = np.argsort(np.negative(margins), kind="stable")
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


def picture(plot: Callable[..., Any], caption: str) -> tuple[str, str]:
    """Call ``plot(ax=...)`` in matplotlib's default style; return the source of an ``img`` element and the caption.

    The figure is not registered with pyplot.
    """
    from matplotlib import style
    from matplotlib.figure import Figure

    target = io.BytesIO()
    # Text stays text: a browser has glyphs that matplotlib lacks.
    with style.context(["default", {"svg.fonttype": "none", "svg.hashsalt": "pi_xgb"}]), warnings.catch_warnings():
        warnings.simplefilter("ignore", category=UserWarning)  # of such glyphs; the numbers already gave all others
        figure = Figure(figsize=SIZE, layout="constrained")
        plot(ax=figure.subplots())
        figure.savefig(target, format="svg", metadata={"Date": None})
    return f"data:image/svg+xml;base64,{b64encode(target.getvalue()).decode()}", caption


def draw(models: Sequence[ScoredModel], rows: ReportRows, numbers: Numbers, max_features: int) -> dict[str, Any]:
    """Return the pictures of groups and of features by model."""
    bars = "Fair importance (to the left: splits on the feature add bias) beside gain,"
    features = {
        name: [picture(partial(plot_importance, own.features, max_features=max_features), f"{bars} {name}.")]
        for name, own in numbers.items()
    }
    return {"groups": {model.name: list(_plots_of(model, rows)) for model in models}, "features": features}


def _plots_of(model: ScoredModel, rows: ReportRows) -> Iterator[tuple[str, str]]:
    """Draw ROC curves, calibration and scores for each view of the rows."""
    plots = {
        "ROC curve of each group, with the area between them": partial(plot_roc, rows.labels),
        "Share of positives by predicted probability": partial(plot_calibration, rows.labels),
        "Predicted probabilities, and the share above the threshold": partial(plot_scores, threshold=model.threshold),
    }
    for view, on in rows.views():
        groups: dict[str, Any] = {"sensitive_features": rows.sensitive[on], "sample_weight": rows.weights}
        for caption, plot in plots.items():
            yield picture(partial(plot, model.scores, **groups), f"{caption}. Groups by {view}, {model.name}.")
