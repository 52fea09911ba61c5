"""The numbers of a report: performance, differences between groups and between models, importances."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from .._importance.fair_importance import fair_importance
from .._importance.shap_gap import shap_gap
from .._rows.groups import everyone
from .._stats.bootstrap import interval, resamples
from .._stats.gaps import holm
from ..metrics import disparity_report, group_report
from ..metrics._disparities import GAPS, gap
from ..metrics._rates import ScoredRows, Values
from ..metrics._scored import MEASURES, ScoredGroups
from .models import ReportRows, ScoredModel

PERFORMANCE = ("auc", "log_loss", "accuracy", "brier")
COMPARED = (*PERFORMANCE, *GAPS)
T = TypeVar("T")
FLOOR = 1e-16  # least probability in the log loss, as in XGBoost


@dataclass(frozen=True)
class Resampling:
    """The settings of intervals."""

    n_boot: int
    confidence: float
    random_state: Any


@dataclass(frozen=True)
class View:
    """A grouping of the rows: by one sensitive feature, or by the intersections of all.

    ``gaps`` has a row per model and gap, with the columns of :func:`pi_xgb.metrics.disparity_report`; ``p_adjusted``
    corrects for all gaps of all views and models.
    """

    name: str
    n_groups: int
    gaps: pd.DataFrame

    def gap(self, model: str, name: str) -> pd.Series[Any]:
        """Return the row of one gap of one model."""
        row: Any = self.gaps.loc[(model, name)]
        return row  # type: ignore[no-any-return]


@dataclass(frozen=True)
class Numbers:
    """All tables. Columns of the first two come as ``name``, ``name_low`` and ``name_high``; rows are models.

    ``differences`` compares every model but the first with the first, on the same resamples.
    """

    performance: pd.DataFrame
    differences: pd.DataFrame | None
    views: list[View]
    groups: dict[str, pd.DataFrame]
    importances: dict[str, pd.DataFrame]
    drivers: dict[str, pd.DataFrame]


def compute(models: Sequence[ScoredModel], rows: ReportRows, how: Resampling, importance_metric: Any) -> Numbers:
    """Compute all numbers of the page."""
    measured = list(_each(models, lambda model: _measured(model, rows, how)).values())
    names = pd.Index([model.name for model in models])
    further = [values - measured[0] for values in measured[1:]]
    return Numbers(
        performance=_table(measured, names, how, PERFORMANCE),
        differences=_table(further, names[1:], how, COMPARED) if further else None,
        views=_views(models, rows, how),
        groups=_each(models, lambda model: group_report(**_arguments(model, rows, how))),
        importances=_each(models, lambda model: _importance(model, rows, how, importance_metric)),
        drivers=_each(models, lambda model: shap_gap(model.model, model.features, **_groups(rows))),
    )


def _each(models: Sequence[ScoredModel], work: Callable[[ScoredModel], T]) -> dict[str, T]:
    """Return the result for each model by its name; a warning names its models, unless it is about all of them."""
    found, warned = {}, dict[str, list[tuple[str, warnings.WarningMessage]]]()
    for model in models:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            found[model.name] = work(model)
        for text, warning in {str(warning.message): warning for warning in caught}.items():
            warned.setdefault(text, []).append((model.name, warning))
    for text, places in warned.items():
        warning = places[0][1]
        prefix = "" if len(places) == len(models) else f"{', '.join(name for name, _ in places)}: "
        warnings.warn_explicit(prefix + text, warning.category, warning.filename, warning.lineno)
    return found


def _measured(model: ScoredModel, rows: ReportRows, how: Resampling) -> Values:
    """Return all of ``COMPARED``, first on the rows and then on each resample, ``(1 + n_boot, m)``."""
    labels, selected = rows.labels, model.scores > model.threshold
    scored = ScoredRows(labels, selected, rows.weights, rows.groups, model.scores)
    grouped, every = ScoredGroups(scored), ScoredGroups(replace(scored, groups=everyone(labels.size)))
    weight = scored.weight
    scores = model.scores.astype(np.float64)
    log_losses = -np.log(np.maximum(np.where(labels, model.scores, 1 - scores), FLOOR))
    losses = weight[:, None] * np.stack([log_losses, np.square(scores - labels)], axis=1)

    def values(multiplicity: Values) -> Values:
        whole = dict(zip(MEASURES, every.measures(multiplicity)[:, 0].T, strict=True))
        total = (multiplicity @ weight)[:, None]
        lost = np.divide(multiplicity @ losses, total, out=np.full((len(total), 2), np.nan), where=total > 0)
        found = {"auc": whole["auc"], "accuracy": whole["accuracy"], "log_loss": lost[:, 0], "brier": lost[:, 1]}
        cells = grouped.cells(multiplicity)
        gaps = {name: gap(cells, name, "nan") for name in GAPS}
        return np.stack([(found | gaps)[name] for name in COMPARED], axis=1)

    once = np.ones((1, labels.size))
    again = [values(multiplicity) for multiplicity in resamples(labels.size, how.n_boot, how.random_state)]
    return np.concatenate([values(once), *again])


def _table(measured: list[Values], names: pd.Index, how: Resampling, columns: Sequence[str]) -> pd.DataFrame:
    parts = {"": np.stack([values[0] for values in measured])}
    if how.n_boot:
        ends = np.stack([interval(values[1:], how.confidence) for values in measured])
        parts |= {"_low": ends[:, 0], "_high": ends[:, 1]}
    return pd.DataFrame(
        {name + end: part[:, COMPARED.index(name)] for name in columns for end, part in parts.items()}, index=names
    )


def _arguments(model: ScoredModel, rows: ReportRows, how: Resampling) -> dict[str, Any]:
    """Return the arguments of the reports in :mod:`pi_xgb.metrics`."""
    return {
        "y_true": rows.labels,
        "y_score": model.scores,
        "sensitive_features": rows.sensitive,
        "threshold": model.threshold,
        "sample_weight": rows.weights,
        **vars(how),
    }


def _views(models: Sequence[ScoredModel], rows: ReportRows, how: Resampling) -> list[View]:
    """Return a view per sensitive feature with two or more groups, then one of their intersections."""
    columns = list(rows.sensitive.columns)
    alone = [(column, rows.sensitive[[column]]) for column in columns if rows.sensitive[column].nunique() > 1]
    together = [(" × ".join(columns), rows.sensitive)] if len(columns) > 1 else []
    views = [
        View(str(name), len(features.drop_duplicates()), _gaps(models, rows, how, features))
        for name, features in [*alone, *together]
    ]
    if how.n_boot:
        adjusted = holm(np.concatenate([view.gaps["p_value"] for view in views]))
        for view, part in zip(views, np.split(adjusted, len(views)), strict=True):
            view.gaps["p_adjusted"] = part
    return views


def _gaps(models: Sequence[ScoredModel], rows: ReportRows, how: Resampling, features: pd.DataFrame) -> pd.DataFrame:
    alone = {"sensitive_features": features}
    tables = _each(models, lambda model: disparity_report(**_arguments(model, rows, how) | alone))
    return pd.concat(tables, names=["model", "gap"])


def _groups(rows: ReportRows) -> dict[str, Any]:
    return {"sensitive_features": rows.sensitive, "sample_weight": rows.weights}


def _importance(model: ScoredModel, rows: ReportRows, how: Resampling, metric: Any) -> pd.DataFrame:
    labels: NDArray[Any] = rows.labels.astype(float)
    if model.booster is None:
        # A surrogate takes labels as the classes of a scikit-learn model.
        classes, codes = getattr(model.model, "classes_", None), rows.labels.astype(int)
        labels = codes if classes is None else np.asarray(classes)[codes]
    sure = how.confidence if how.n_boot else None
    return fair_importance(model.model, model.features, labels, metric=metric, confidence=sure, **_groups(rows))
