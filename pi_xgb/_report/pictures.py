"""The pictures of a report: matplotlib's SVG, embedded in the page."""

from __future__ import annotations

import io
import warnings
from base64 import b64encode
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

import pandas as pd

from .._plots.by_group import plot_calibration, plot_roc, plot_scores
from .._plots.by_table import plot_importance, plot_kl_weight_path
from .._plots.style import SIZE
from .models import ReportRows, ScoredModel
from .numbers import Numbers


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


def draw(
    models: Sequence[ScoredModel], rows: ReportRows, numbers: Numbers, cv_table: pd.DataFrame | None, max_features: int
) -> dict[str, Any]:
    """Return the pictures of each section; those of groups and features by model."""
    path = "Cross-validated score over kl_weight, each at its best round; 0 is plain XGBoost."
    bars = "Fair importance (to the left: splits on the feature add bias) beside gain,"
    features = {
        name: [picture(partial(plot_importance, own.features, max_features=max_features), f"{bars} {name}.")]
        for name, own in numbers.items()
    }
    return {
        "performance": [] if cv_table is None else [picture(partial(plot_kl_weight_path, cv_table), path)],
        "groups": {model.name: list(_groups(model, rows)) for model in models},
        "features": features,
    }


def _groups(model: ScoredModel, rows: ReportRows) -> Iterator[tuple[str, str]]:
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
