"""The numbers of a report as JSON: a CycloneDX bill of materials with a model card for each model."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pandas as pd

from .._rows.names import in_words
from ..metrics._words import sentence
from .numbers import Numbers


def model_cards(numbers: Numbers, settings: Mapping[str, Mapping[str, str]], confidence: float) -> str:
    """Return the document; ``settings`` has the properties of each model."""
    components = []
    for name, own in numbers.items():
        by = in_words(tuple(own.groups.index.names))
        metrics = _metrics(own.measured, "all rows")
        if own.difference is not None:
            metrics += _metrics(own.difference, f"all rows, less {next(iter(numbers))}")
        for view, table in own.gaps.items():
            metrics += _metrics(table, f"between groups by {view}")
        for group, row in own.groups.iterrows():
            metrics += _entries(row, f"{by} = {in_words(group)}")
        for feature, row in own.features.iterrows():
            metrics += _entries(row, f"feature {feature}")
        fairness = [
            {"groupAtRisk": row["between"], "harms": sentence(f"{gap} by {view}", row, confidence)}
            for view, table in own.gaps.items()
            for gap, row in table.iterrows()
            if "p_value" in row
        ]
        card = {
            "quantitativeAnalysis": {"performanceMetrics": metrics},
            "considerations": {"fairnessAssessments": fairness},
            "properties": [{"name": f"pi_xgb:{key}", "value": value} for key, value in settings[name].items()],
        }
        components.append({"type": "machine-learning-model", "name": name, "modelCard": card})
    return json.dumps({"bomFormat": "CycloneDX", "specVersion": "1.6", "components": components}, indent=1)


def _metrics(table: pd.DataFrame, rows: str) -> list[dict[str, Any]]:
    return [_metric(name, rows, row["value"], row.get("low"), row.get("high")) for name, row in table.iterrows()]


def _entries(row: pd.Series[Any], rows: str) -> list[dict[str, Any]]:
    """Return the numbers of a row whose columns come as ``name``, ``name_low`` and ``name_high``."""
    kinds = [kind for kind in row.index if not kind.endswith(("_low", "_high")) and kind != "sign"]
    return [_metric(kind, rows, row[kind], row.get(f"{kind}_low"), row.get(f"{kind}_high")) for kind in kinds]


def _metric(kind: Any, rows: str, value: float, low: Any, high: Any) -> dict[str, Any]:
    found = {"type": kind, "value": str(float(value)), "slice": rows}
    interval = {} if low is None or low != low else {"lowerBound": str(float(low)), "upperBound": str(high)}
    return found | ({"confidenceInterval": interval} if interval else {})
