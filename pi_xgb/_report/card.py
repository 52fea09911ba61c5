"""The numbers of a report as JSON: a CycloneDX bill of materials with a model card for each model."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pandas as pd

from .._rows.names import in_words
from ..metrics._words import sentence
from .numbers import Numbers, with_interval


def model_cards(numbers: Numbers, settings: Mapping[str, Mapping[str, str]], confidence: float) -> str:
    """Return the document; ``settings`` has the properties of each model."""
    components = []
    for name, own in numbers.items():
        by = in_words(tuple(own.groups.index.names))
        tables = {"all rows": own.measured, f"all rows, less {next(iter(numbers))}": own.difference}
        tables |= {f"between groups by {view}": table for view, table in own.gaps.items()}
        metrics = [_metric(kind, rows, row) for rows, table in tables.items() for kind, row in table.iterrows()]
        metrics += _by_row(own.groups, f"{by} = ")
        metrics += _by_row(own.features, "feature ")
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


def _by_row(table: pd.DataFrame, what: str) -> list[dict[str, Any]]:
    """Return the numbers of a table whose columns come as ``name``, ``name_low`` and ``name_high``."""
    kinds = [kind for kind in map(str, table) if not kind.endswith(("_low", "_high")) and kind != "sign"]
    return [_metric(kind, what + in_words(name), row, kind) for name, row in table.iterrows() for kind in kinds]


def _metric(kind: Any, rows: str, row: pd.Series[Any], name: str = "") -> dict[str, Any]:
    value, *ends = with_interval(row, name)
    found = {"type": kind, "value": str(float(value)), "slice": rows}
    interval = dict(zip(("lowerBound", "upperBound"), map(str, map(float, ends)), strict=False))
    return found | ({"confidenceInterval": interval} if ends else {})
