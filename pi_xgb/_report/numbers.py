"""The numbers of a report: performance, differences between groups and between models, importances."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from .._importance.fair_importance import fair_importance
from .._importance.shap_gap import shap_gap
from .._rows.groups import everyone
from .._rows.scores import as_weights
from ..metrics import disparity_report, group_report
from ..metrics._disparities import GAPS, gap
from ..metrics._gaps import holm
from ..metrics._rates import Decisions, Values, share
from ..metrics._scored import MEASURES, ScoredGroups
from .models import ReportRows, ScoredModel

PERFORMANCE = ("auc", "log_loss", "accuracy", "brier")
COMPARED = (*PERFORMANCE, *GAPS)
_BLOCK_ENTRIES = 100_000  # small enough to stay in the cache
FLOOR = 1e-16  # least probability in the log loss, as in XGBoost


class ModelNumbers(NamedTuple):
    """The tables of one model. ``measured`` and ``difference`` have the rows ``COMPARED``, value, low and high.

    ``difference`` is the model less the first one, on the same resamples; it is empty for the first. ``gaps`` has a
    table for each view of the rows; its ``p_adjusted`` corrects for all gaps of the page. ``features`` are sorted by
    the longer of fair importance and gain.
    """

    measured: pd.DataFrame
    difference: pd.DataFrame
    groups: pd.DataFrame
    gaps: dict[str, pd.DataFrame]
    features: pd.DataFrame


Numbers = dict[str, ModelNumbers]


def compute(
    models: Sequence[ScoredModel], rows: ReportRows, how: dict[str, Any], metric: Any, step: Callable[[int], None]
) -> tuple[Numbers, list[tuple[str, type[Warning], bool]]]:
    """Return the numbers of each model, and the warnings: text, category, and whether it is of our metrics.

    ``step`` counts resamples.
    """
    found: Numbers = {}
    noted: list[tuple[str, type[Warning], bool]] = []
    draws: list[Values] = []
    for model in models:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            draws.append(_measured(model, rows, how, step))
            rates: dict[str, Any] = {"y_true": rows.labels, "y_score": model.scores, "threshold": model.threshold}
            rates |= {"sample_weight": rows.weights, **how}
            found[model.name] = ModelNumbers(
                _table(draws[-1], how),
                _table(draws[-1] - draws[0], how) if found else pd.DataFrame(),
                group_report(**rates, sensitive_features=rows.sensitive),
                {view: disparity_report(**rates, sensitive_features=rows.sensitive[on]) for view, on in rows.views()},
                _features(model, rows, how, metric),
            )
        prefix = f"{model.name}: " if len(models) > 1 else ""
        # Warnings of metrics and importances point at their caller.
        noted += [(f"{prefix}{one.message}", one.category, one.filename == __file__) for one in caught]
    gaps = [table for numbers in found.values() for table in numbers.gaps.values()]
    if how["n_boot"]:
        adjusted = holm(np.concatenate([table["p_value"] for table in gaps]))
        for table, part in zip(gaps, np.split(adjusted, len(gaps)), strict=True):
            table["p_adjusted"] = part
    return found, list(dict.fromkeys(noted))


def _measured(model: ScoredModel, rows: ReportRows, how: dict[str, Any], step: Callable[[int], None]) -> Values:
    """Return all of ``COMPARED``, first on the rows and then on each resample, ``(1 + n_boot, m)``."""
    labels, selected = rows.labels, model.scores > model.threshold
    scored = Decisions(labels, selected, as_weights(rows.weights, labels.size), rows.groups, model.scores)
    grouped, every = ScoredGroups(scored), ScoredGroups(replace(scored, groups=everyone(labels.size)))
    weight, scores = scored.weights, model.scores.astype(np.float64)
    log_losses = -np.log(np.maximum(np.where(labels, model.scores, 1 - scores), FLOOR))
    losses = weight[:, None] * np.stack([log_losses, np.square(scores - labels)], axis=1)
    found = []
    for multiplicity in (np.ones((1, labels.size)), *_resamples(labels.size, how["n_boot"], how["random_state"])):
        whole = dict(zip(MEASURES, every.measures(multiplicity)[:, 0].T, strict=True))
        lost = share(multiplicity @ losses, (multiplicity @ weight)[:, None])
        cells = grouped.cells(multiplicity)
        gaps = [gap(cells, name, "nan") for name in GAPS]
        found.append(np.stack([whole["auc"], lost[:, 0], whole["accuracy"], lost[:, 1], *gaps], axis=1))
        step(len(multiplicity))
    return np.concatenate(found)


def _resamples(n_rows: int, n_boot: int, random_state: Any) -> Iterator[Values]:
    """Yield how often each row is drawn with replacement, ``(b, n_rows)``, in blocks of ``n_boot`` resamples in all."""
    generator = np.random.default_rng(random_state)
    per_block = max(1, _BLOCK_ENTRIES // n_rows)
    for first in range(0, n_boot, per_block):
        count = min(per_block, n_boot - first)
        drawn = generator.integers(n_rows, size=(count, n_rows))
        drawn += np.arange(count)[:, None] * n_rows
        yield np.bincount(drawn.ravel(), minlength=count * n_rows).reshape(count, n_rows).astype(np.float64)


def _table(draws: Values, how: dict[str, Any]) -> pd.DataFrame:
    table = pd.DataFrame({"value": draws[0]}, index=pd.Index(COMPARED))
    if how["n_boot"]:
        tail = (1 - how["confidence"]) / 2
        table["low"], table["high"] = pd.DataFrame(draws[1:]).quantile([tail, 1 - tail]).to_numpy()
    return table


def with_interval(row: pd.Series[Any], name: str = "") -> list[float]:
    """Return a number of a table, and the ends of its interval if it has one."""
    value, low, high = (name, f"{name}_low", f"{name}_high") if name else ("value", "low", "high")
    return [row[value]] + ([row[low], row[high]] if low in row and row[low] == row[low] else [])


def _features(model: ScoredModel, rows: ReportRows, how: dict[str, Any], metric: Any) -> pd.DataFrame:
    """Return fair importance and the SHAP gap of each feature."""
    labels: Any = rows.labels.astype(float)
    if model.subject is None:
        # A surrogate takes labels as the classes of a scikit-learn model.
        labels = np.asarray(getattr(model.model, "classes_", (0, 1)))[rows.labels.astype(int)]
    sure = how["confidence"] if how["n_boot"] else None
    groups: dict[str, Any] = {"sensitive_features": rows.sensitive, "sample_weight": rows.weights}
    fair = fair_importance(model.model, model.features, labels, metric=metric, confidence=sure, **groups)
    drivers = shap_gap(model.model, model.features, **groups)
    longest = fair[["fair_importance", "gain"]].abs().max(axis=1).to_numpy()
    table = fair.assign(**drivers).iloc[np.argsort(-longest, kind="stable")]
    table.attrs = {"surrogate": fair.attrs["surrogate"], "between": drivers.attrs["between"]}
    return table
