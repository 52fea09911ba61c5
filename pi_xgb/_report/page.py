"""The page of a report: numbers and pictures as one HTML document."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from .._rows.names import in_words
from ..metrics._disparity_report import DISPARITIES
from ..metrics._report import ALL
from ..metrics._scored import MEASURES
from ..metrics._words import BEYOND, verdict
from .document import document
from .html import UNDEFINED, Html, count, definitions, estimate, joined, number, table, tag
from .models import ScoredModel
from .numbers import COMPARED, PERFORMANCE, Numbers, View
from .pictures import Picture
from .settings import WILSON

MEASURED = {
    "auc": ("AUC", "The chance that a positive row is ranked above a negative one. More is better, 0.5 is guessing."),
    "log_loss": ("log loss", "The mean of −log(probability of the true label). Less is better."),
    "accuracy": ("accuracy", "The share of rows on the right side of the model's threshold. More is better."),
    "brier": ("Brier score", "The mean squared error of the probabilities. Less is better."),
    "statistical_parity": ("statistical parity", "Largest difference between groups in the share of rows selected."),
    "equalized_odds": (
        "equalized odds",
        "Largest sum of the differences in true positive rate and in false positive rate, between two groups.",
    ),
    "equal_opportunity": ("equal opportunity", "Largest difference in true positive rate."),
    "abroca": ("ABROCA", "Largest area between the ROC curves of two groups, over all thresholds."),
}
"""The name and the meaning of each number."""

RATES = {name: name.replace("_", " ") for name in MEASURES} | {"auc": "AUC"}
COUNTS = ("rows", "weight", "positives", "selected")


@dataclass(frozen=True)
class Page:
    """The content of a page."""

    title: str
    models: Sequence[ScoredModel]
    numbers: Numbers
    summary: Sequence[str]
    notes: Sequence[str]
    rows: Mapping[str, str]
    settings: Mapping[str, Mapping[str, str]]
    params: Mapping[str, Mapping[str, str]]
    max_features: int
    confidence: float
    comparison: Picture | None = None
    kl_weights: Picture | None = None
    group_pictures: Mapping[str, Sequence[Picture]] | None = None
    importance_pictures: Mapping[str, Picture] | None = None

    @property
    def is_single(self) -> bool:
        """Whether there is one model only, so that headings need no name."""
        return len(self.models) == 1


def page(content: Page) -> str:
    """Return the whole document."""
    sections = [_performance(content), _fairness(content), _groups(content), _features(content), _settings(content)]
    main = tag("main", _summary(content), *_notes(content), *sections)
    return document(content.title, tag("header", *_header(content)), main)


def _header(content: Page) -> list[Html]:
    names = ", ".join(model.name for model in content.models)
    lead = "" if content.is_single else f"{len(content.models)} models: {names}. "
    lead += f"{content.rows['rows']} rows, groups by {content.rows['sensitive features']}. "
    lead += f"{_thresholds(content)}. Made on {content.rows['made on']} with pi_xgb {content.rows['pi_xgb']}."
    links = ("Summary", "Performance", "Fairness", "Groups", "Features", "Settings")
    items = [tag("li", tag("a", text, href=f"#{text.lower()}")) for text in links]
    return [
        tag("h1", content.title),
        tag("p", lead, class_="lead"),
        tag("nav", tag("ul", *items), aria_label="Contents"),
    ]


def _thresholds(content: Page) -> str:
    thresholds = {model.threshold for model in content.models}
    if len(thresholds) == 1:
        return f"Rows with a probability above {thresholds.pop():g} are selected"
    each = ", ".join(f"{model.name} {model.threshold:g}" for model in content.models)
    return f"Rows with a probability above the model's threshold are selected ({each})"


def _summary(content: Page) -> Html:
    items = tag("ul", *(tag("li", text) for text in content.summary))
    return tag("section", tag("h2", "In short"), items, class_="summary", id="summary")


def _notes(content: Page) -> list[Html]:
    if not content.notes:
        return []
    items = tag("ul", *(tag("li", note) for note in content.notes))
    return [tag("section", tag("h2", "Warnings"), items, class_="note")]


def _section(anchor: str, heading: str, *children: str) -> Html:
    return tag("section", tag("h2", heading), *children, id=anchor)


def _performance(content: Page) -> Html:
    intervals = content.rows["intervals"]
    caption = "Performance on all rows" + ("" if intervals == "none" else f". Small figures: {intervals}")
    performance = content.numbers.performance.iterrows()
    rows = [([str(name)], [estimate(row, column, 4) for column in PERFORMANCE]) for name, row in performance]
    numbers = table(caption, ["model"], [MEASURED[column][0] for column in PERFORMANCE], rows)
    words = definitions(MEASURED[name] for name in PERFORMANCE)
    path = [] if content.kl_weights is None else [tag("h3", "The choice of kl_weight"), _figures([content.kl_weights])]
    return _section("performance", "Performance", numbers, words, *_differences(content), *path)


def _differences(content: Page) -> list[Html]:
    differences = content.numbers.differences
    if differences is None:
        return []
    first = content.models[0].name
    rows = [([str(name)], [_difference(row, column) for column in COMPARED]) for name, row in differences.iterrows()]
    header = [MEASURED[column][0] for column in COMPARED]
    words = (
        "Both models are measured on the same resampled rows, so this is more precise than comparing two intervals. "
        "A difference is bold if its interval excludes 0."
    )
    comparison = table(f"Difference from {first} (the model less {first})", ["model"], header, rows)
    return [tag("h3", f"Compared with {first}"), comparison, tag("p", words)]


def _difference(row: pd.Series[Any], column: str) -> Html:
    text = estimate(row, column, 4, signed=True)
    low, high = (float(row.get(f"{column}{end}", np.nan)) for end in ("_low", "_high"))
    return tag("span", text, class_="sure") if low > 0 or high < 0 else text


def _fairness(content: Page) -> Html:
    words = (
        "Chance alone keeps these differences above 0, more so with many or small groups. Each cell shows the observed "
        "difference, the interval of the true difference, the difference expected by chance, and p. The interval may "
        "lie below the observed difference, because noise increases it. p is the probability of a difference of this "
        "size if groups do not matter, corrected for all gaps of this page. A difference is bold if p is small enough, "
        "even where its interval starts at 0: p answers whether there is a gap, the interval how large it may be."
    )
    meanings = [definitions(MEASURED[name] for name in DISPARITIES), tag("p", words)]
    numbers = [_gaps_table(view, content) for view in content.numbers.views]
    gaps = {model.name: model.booster.attr("pi_xgb_gap") for model in content.models if model.booster is not None}
    if recorded := "; ".join(f"{name}: {gap}" for name, gap in gaps.items() if gap):
        words = "A gap that is larger on held-out rows than on training rows is overfitted."
        numbers.append(tag("p", f"Recorded with the model, {recorded}. {words}"))
    if content.comparison is not None:
        meanings = [_beside(_figure(content.comparison), joined(meanings))]
    return _section("fairness", "Fairness between groups", *numbers, *meanings)


def _gaps_table(view: View, content: Page) -> Html:
    rows = [
        ([model.name], [_gap(view.gap(model.name, name), content.confidence) for name in DISPARITIES])
        for model in content.models
    ]
    intervals = "" if content.rows["intervals"] == "none" else ". Small figures: interval of the true difference"
    caption = f"Differences between groups by {view.name} (0 = treated alike){intervals}"
    return table(caption, ["model"], [MEASURED[name][0] for name in DISPARITIES], rows)


def _gap(row: pd.Series[Any], confidence: float) -> Html:
    """Return a gap with its interval, the gap expected by chance, and the two groups."""
    named = row.rename({"low": "value_low", "high": "value_high"})
    text = estimate(named, "value")
    if "p_value" not in row or np.isnan(row["p_value"]):
        return text
    if verdict(row, confidence) == BEYOND:
        text = tag("span", text, class_="sure")
    p, chance = f"p {row['p_adjusted']:.3f}", f"by chance {row['chance']:.3f}"
    return joined([text, tag("small", f"{chance}, {p}"), tag("small", str(row["between"]), class_="pair-of-groups")])


def _groups(content: Page) -> Html:
    children: list[Html] = []
    for model in content.models:
        report = content.numbers.groups[model.name]
        children += [*_heading(content, model), _group_table(content, model, report)]
        if content.group_pictures is not None:
            children.append(_figures(content.group_pictures[model.name]))
    return _section("groups", "Groups", *children)


def _heading(content: Page, model: ScoredModel) -> list[Html]:
    return [] if content.is_single else [tag("h3", model.name)]


def _group_table(content: Page, model: ScoredModel, report: pd.DataFrame) -> Html:
    counts = [name for name in COUNTS if name in report.columns]
    rows = [
        (
            [str(part) for part in (name if isinstance(name, tuple) else (name,))],
            [*(count(row[column]) for column in counts), *(estimate(row, column) for column in RATES)],
        )
        for name, row in _coarse_first(report).iterrows()
    ]
    made = "" if content.rows["intervals"] == "none" else f". Small figures: {100 * content.confidence:g} % {WILSON}"
    caption = f"Groups under {model.name}, threshold {model.threshold:g}{made}"
    return table(caption, [str(name) for name in report.index.names], [*counts, *RATES.values()], rows)


def _coarse_first(report: pd.DataFrame) -> pd.DataFrame:
    """Sort all rows first, then single features, then intersections; a single feature keeps its order."""
    if report.index.nlevels == 1:
        return report
    unread = [sum(part == ALL for part in name) for name in report.index]
    return report.iloc[np.argsort([-n for n in unread], kind="stable")]


def _features(content: Page) -> Html:
    first = next(iter(content.numbers.importances.values()))
    compared = "all rows" if first.attrs["metric"] == "dp" else "the rows with label 1"
    words = (
        "Fair importance (FairFIS) adds up, over the splits of a model's trees, how they change the difference "
        f"between groups (compared over {compared}). Below 0: splits on the feature add bias. Above 0: they remove "
        "bias. Each column is a share of the sum of its absolute values."
    )
    drivers = (
        "The SHAP gap decomposes the predictions: by how much a feature raises the mean score of one group above that "
        "of another, in the model's margin. All features add up to the gap of the groups. If the interval (of all "
        "features together) contains both signs, the sign is not supported: do not rely on it."
    )
    children = [tag("p", words), tag("p", drivers)]
    for model in content.models:
        importance = content.numbers.importances[model.name]
        children += [*_heading(content, model), *_surrogate(importance)]
        block = _importance_table(content, model, importance)
        if content.importance_pictures is not None:
            block = _beside(_figure(content.importance_pictures[model.name]), block)
        children.append(block)
    return _section("features", "Features", *children)


def _surrogate(importance: pd.DataFrame) -> list[Html]:
    fit = importance.attrs["surrogate"]
    if fit is None:
        return []
    words = (
        f"This model has no trees of XGBoost. A surrogate tree replaces it: it explains {fit['r2']:.1%} of the "
        f"variance of the predictions and agrees with the decisions on {fit['agreement']:.1%} of the rows."
    )
    return [tag("p", words)]


def _importance_table(content: Page, model: ScoredModel, importance: pd.DataFrame) -> Html:
    longest = importance[["fair_importance", "gain"]].abs().max(axis=1)
    order = np.argsort(-longest.to_numpy(), kind="stable")[: content.max_features]
    shown, driver = importance.iloc[order], content.numbers.drivers[model.name].iloc[order]
    plain = ("gain", "total_gain")
    rows = [
        (
            [str(name)],
            [_signed(fair, "fair_importance"), _signed(gap, "shap_gap"), *(number(float(fair[key])) for key in plain)],
        )
        for (name, fair), (_, gap) in zip(shown.iterrows(), driver.iterrows(), strict=True)
    ]
    left = len(importance) - len(shown)
    more = f"; {left} more have shorter bars" if left else ""
    caption = f"Importances under {model.name}, by the longer of fair importance and gain{more}"
    first, second = (in_words(name) for name in driver.attrs["between"])
    header = ["fair importance", f"SHAP gap, {first} over {second}", "gain (mean per split)", "total gain"]
    return table(caption, ["feature"], header, rows)


def _signed(row: pd.Series[Any], column: str) -> Html:
    """Return a number with its interval, and a remark if the interval contains both signs."""
    text = estimate(row, column, signed=True)
    if f"{column}_low" not in row or row[f"{column}_low"] > 0 or row[f"{column}_high"] < 0 or not row[column]:
        return text
    return joined([text, tag("small", "sign not supported")])


def _settings(content: Page) -> Html:
    names = [model.name for model in content.models]
    rows = [([key], [value]) for key, value in content.rows.items()]
    for model in content.models:
        what = "threshold" if content.is_single else f"threshold, {model.name}"
        rows.append(([what], [f"{model.threshold:g}"]))
    loaded = "Parameters that differ from XGBoost's defaults. A model loaded from a file lacks most of them"
    children = [
        _by_model("How each model was trained, as far as recorded", "setting", names, content.settings),
        _by_model(loaded, "parameter", names, content.params),
        table("Rows and settings of the evaluation", ["setting"], ["value"], rows),
    ]
    return _section("settings", "Settings", tag("div", *children, class_="settings"))


def _by_model(caption: str, what: str, names: Sequence[str], values: Mapping[str, Mapping[str, str]]) -> Html:
    keys = list(dict.fromkeys(key for settings in values.values() for key in settings))
    rows = [([key], [values[name].get(key, UNDEFINED) for name in names]) for key in keys]
    return table(caption, [what], names, rows) if rows else Html("")


def _figures(pictures: Sequence[Picture]) -> Html:
    return tag("div", *map(_figure, pictures), class_="figures")


def _figure(picture: Picture) -> Html:
    return tag("figure", picture.svg, tag("figcaption", picture.caption))


def _beside(left: Html, right: Html) -> Html:
    """Put two elements side by side if the page is wide enough."""
    return tag("div", left, tag("div", right), class_="pair")
