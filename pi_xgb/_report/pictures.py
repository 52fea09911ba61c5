"""The pictures of a report, with alternative texts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from .._plots.by_group import plot_calibration, plot_roc, plot_scores
from .._plots.by_table import plot_frontier, plot_importance, plot_kl_weight_path
from .._plots.style import MOST, with_room
from .._rows.groups import as_groups
from .._rows.names import in_words
from ..metrics._report import ALL
from .html import Html
from .models import ReportRows, ScoredModel
from .numbers import Numbers
from .svg import as_svg, page_colors

if TYPE_CHECKING:
    from matplotlib.axes import Axes

SQUARE = (4.2, 3.4)  # inches; about 400 pixels, so that three fit in a row


@dataclass(frozen=True)
class Picture:
    """A drawing and its caption."""

    svg: Html
    caption: str


def picture(draw: Callable[[Axes], Any], caption: str, alt: str, prefix: str, size: tuple[float, float]) -> Picture:
    """Draw on an Axes of a figure that is not registered with pyplot."""
    from matplotlib.figure import Figure

    with page_colors():
        figure = Figure(figsize=size, layout="constrained")
        draw(figure.subplots())
        return Picture(as_svg(figure, alt, prefix), caption)


def draw_views(model: ScoredModel, rows: ReportRows, table: pd.DataFrame, prefix: str) -> list[Picture]:
    """Draw each sensitive feature alone, then their intersections."""
    found = []
    columns = list(rows.sensitive.columns)
    for i, column in enumerate(columns if len(columns) > 1 else []):
        alone = replace(rows, sensitive=rows.sensitive[[column]], groups=as_groups(rows.sensitive[[column]]))
        # The margin rows of this feature: all others are ALL.
        margin = table[[name[i] != ALL and name.count(ALL) == len(columns) - 1 for name in table.index]]
        found += draw_groups(model, alone, margin, f"{prefix}-{i}")
    return [*found, *draw_groups(model, rows, table, prefix)]


def draw_groups(model: ScoredModel, rows: ReportRows, table: pd.DataFrame, prefix: str) -> list[Picture]:
    """Draw ROC curves, calibration and scores of one model."""
    by = f" Groups by {' × '.join(rows.sensitive.columns)}."
    groups: dict[str, Any] = {"sensitive_features": rows.sensitive, "sample_weight": rows.weights}
    names = [in_words(name) for name in rows.groups.names]
    size = with_room(SQUARE, rows.groups.count)
    report = table.iloc[: len(names)]

    def each(column: str) -> str:
        pairs = zip(names, report[column], strict=True)
        return "; ".join(f"{name} {'undefined' if np.isnan(value) else f'{value:.3f}'}" for name, value in pairs)

    return [
        picture(
            lambda ax: plot_roc(rows.labels, model.scores, ax=ax, **groups),
            f"ROC curve of each group, with the area between them.{by}",
            f"ROC curves of {model.name} by group. Area under the curve: {each('auc')}.",
            f"{prefix}-roc",
            size,
        ),
        picture(
            lambda ax: plot_calibration(rows.labels, model.scores, ax=ax, **groups),
            f"Calibration: the share of positives by predicted probability; on the dotted line they are equal.{by}",
            f"Calibration curves of {model.name} by group. Overall share of positives: {each('base_rate')}.",
            f"{prefix}-calibration",
            size,
        ),
        picture(
            lambda ax: plot_scores(model.scores, threshold=model.threshold, ax=ax, **groups),
            f"Predicted probabilities of each group, and the share above the threshold.{by}",
            f"Distribution of the probabilities of {model.name} by group. Share above the threshold "
            f"{model.threshold:g}: {each('selection_rate')}.",
            f"{prefix}-scores",
            size,
        ),
    ]


def draw_importance(model: ScoredModel, table: pd.DataFrame, max_features: int, prefix: str) -> Picture:
    """Draw fair importance beside gain for one model."""
    fair = table["fair_importance"]
    text = "No feature adds bias." if fair.notna().any() else "It is undefined on these rows."
    if fair.min() < 0:
        text = f"Most bias is added by {fair.idxmin()} ({fair.min():.3f})."
    height = 1.2 + 0.3 * min(len(table), max_features)
    return picture(
        lambda ax: plot_importance(table, max_features=max_features, ax=ax),
        "Fair importance (to the left: splits on the feature add bias) beside XGBoost's gain.",
        f"Bars of fair importance and gain by feature for {model.name}. {text}",
        f"{prefix}-importance",
        (SQUARE[0], max(height, 2.2)),
    )


def draw_comparison(numbers: Numbers) -> Picture | None:
    """Draw models by accuracy and difference in selection rate; None if no model has both, or with too many models."""
    gaps = numbers.views[0].gaps.xs("statistical_parity", level="gap")
    named = {"value": "", "low": "_low", "high": "_high"}
    parity = pd.DataFrame({f"statistical_parity{end}": gaps[column] for column, end in named.items() if column in gaps})
    both = pd.concat([numbers.performance, parity], axis=1).rename_axis("method").reset_index()
    placed = both[np.isfinite(both["statistical_parity"])]
    if placed.empty or len(both) > MOST:
        return None
    columns = zip(placed["method"], placed["accuracy"], placed["statistical_parity"], strict=True)
    places = "; ".join(f"{name} accuracy {right:.3f}, difference {gap:.3f}" for name, right, gap in columns)
    return picture(
        lambda ax: plot_frontier(placed, ax=ax),
        f"Accuracy against the difference in selection rate by {numbers.views[0].name}, with intervals: up and to the "
        "left is better.",
        f"Models by accuracy and difference in selection rate: {places}.",
        "comparison",
        SQUARE,
    )


def draw_kl_weights(table: pd.DataFrame) -> Picture:
    """Draw the cross-validated score over kl_weight."""
    return picture(
        lambda ax: plot_kl_weight_path(table, ax=ax),
        "Cross-validated score over kl_weight, each at its best round; 0 is plain XGBoost.",
        "Cross-validated score over kl_weight, with the spread over the folds.",
        "kl-weight",
        SQUARE,
    )
