"""Which features drive the gap between groups: FairFIS and SHAP, for linear models, trees, forests and boosting.

    python -m benchmarks.fair_importance
    python -m benchmarks.fair_importance --smoke

The simulation: 1,000 rows, a group of a fifth, twelve features of four kinds. Three features differ between the groups
and count for the label (biased, used), three differ and do not count, three count and do not differ, three do neither.
A linear model is read through a surrogate tree, trees and forests of scikit-learn as they are, boosting is XGBoost's.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import xgboost
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from benchmarks.cells import Line, Table, exists, main, read
from benchmarks.data import load
from benchmarks.text import number, paragraph, signed, table
from pi_xgb.importance import fair_importance, shap_gap

DRAWS, MOST_ROWS = 50, 5000
KINDS = ("biased, used", "biased, unused", "fair, used", "neither")
PUBLIC = {"adult": "sex", "dutch": "sex"}
SHOWN, SHOWN_MODELS = 3, ("linear", "boosting")
OF_PUBLIC = """\
Trained on 5,000 rows without the group, judged on 5,000 others. SHAP gap: of the paper's protected group over all
others, in probabilities, for boosting in log odds; the three features with the largest."""


def models(seed: int) -> dict[str, Any]:
    """One of each kind, as their users would have them."""
    return {
        "linear": make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000)),
        "tree": DecisionTreeClassifier(max_depth=6, random_state=seed),
        "forest": RandomForestClassifier(50, max_depth=6, random_state=seed),
        "boosting": xgboost.XGBClassifier(n_estimators=30, max_depth=4, colsample_bynode=0.7, seed=seed, n_jobs=1),
    }


def simulated(seed: int, n: int = 1000) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The authors' simulation: features, labels, groups."""
    rng = np.random.default_rng(seed)
    group = rng.binomial(1, 0.2, n)
    X = group[:, None] * np.repeat([2.0, 0.0], 6) + rng.normal(0, 0.1, (n, 12))
    margin = X @ np.tile(np.repeat([1.0, 0.0], 3), 2) + rng.normal(0, 0.01, n)
    return X, (margin >= 0).astype(int), group


def told(model: Any, X: Any, y: Any, group: Any) -> pd.DataFrame:
    """Both measures with their intervals, side by side."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fair = fair_importance(model, X, y, sensitive_features=group, confidence=0.95)
        shap = shap_gap(model, X, sensitive_features=group, between=(1, 0))
    found = fair[["fair_importance", "fair_importance_low", "fair_importance_high"]].reset_index(drop=True)
    return found.join(shap.reset_index(drop=True)).assign(feature=list(fair.index))


def measure(draw: int, small: bool = False) -> Iterator[Line]:
    """A line per model and feature."""
    X, y, group = simulated(draw)
    for name, model in models(draw).items():
        found = told(model.fit(X, y), X, y, group).assign(model=name, kind=np.repeat(KINDS, 3))
        yield from found.to_dict("records")


def measure_public(name: str, small: bool = False) -> Iterator[Line]:
    """A paper's set with its protected group: trained on one half, judged on the other."""
    dataset = load(name)
    group = dataset.protected[[dataset.X.columns[i] for i in dataset.privileged].index(PUBLIC[name])]
    rows = np.random.default_rng(0).permutation(len(dataset.y))[: 2 * MOST_ROWS]
    train, test = np.array_split(rows, 2)
    X = dataset.X.drop(columns=PUBLIC[name])
    for kind, model in models(0).items():
        model.fit(X.iloc[train], dataset.y[train])
        found = told(model, X.iloc[test], dataset.y[test], group[test])
        yield from found.assign(model=kind).to_dict("records")


def judged(lines: pd.DataFrame) -> list[list[str]]:
    """By model and kind of feature: the means, and how often a sign is right, wrong or open."""
    found = []
    for (model, kind), part in lines.groupby(["model", "kind"], sort=False):
        fair = [(part["fair_importance_high"] < 0).mean(), (part["fair_importance_low"] > 0).mean()]
        shap = [(part["sign"] == "+").mean(), (part["sign"] == "-").mean()]
        cells = [signed(part["fair_importance"].mean()), *map(number, fair)]
        cells += [signed(part["shap_gap"].mean()), *map(number, shap)]
        found.append([str(model), str(kind), *cells])
    return found


def text(folder: Path, figures: Path) -> str:
    """The section."""
    lines = read("fair_importance", folder)
    unused = lines[lines["kind"] == "biased, unused"]
    wrong = unused["sign"].eq("-").groupby(unused["model"]).mean()
    out = ["# Which features drive the gap", "", "`python -m benchmarks.fair_importance`.", ""]
    out += [
        f"## The simulation of FairFIS's authors, {lines['draw'].nunique()} draws",
        "",
        "A fifth of the rows has a group that three used and three unused features favour. Of each measure: its mean,",
        "the share of features and draws in which the feature adds bias (FairFIS) or favours that group (SHAP), and",
        "the share with the opposite sign; in the rest no sign is supported. A single tree (also the surrogate of a",
        "linear model) supports no sign of FairFIS.",
        "",
        paragraph(
            f"For unused features that favour the group, SHAP gives a supported sign that is wrong in "
            f"{wrong.min():.0%} to {wrong.max():.0%} of cases, by model. "
            "Do not conclude from the sign of such a feature."
        ),
        "",
    ]
    header = ["model", "features", "FairFIS", "adds", "takes out", "SHAP gap", "favours", "opposite"]
    out += table(header, judged(lines))
    if exists("fair_importance_public", folder):
        rows = []
        for (name, model), part in read("fair_importance_public", folder).groupby(["set", "model"], sort=False):
            if model in SHOWN_MODELS:
                order = part["shap_gap"].abs().sort_values(ascending=False).index[:SHOWN]
                rows += [[f"{name}, {model}", *_line(row)] for row in part.loc[order].iloc]
        out += ["## Public sets, by sex", "", paragraph(OF_PUBLIC), ""]
        out += table(["set, model", "feature", "FairFIS (95 %)", "SHAP gap (95 %)", "sign"], rows)
    return "\n".join(out)


def _line(row: pd.Series[Any]) -> list[str]:
    return [
        str(row["feature"]),
        *(
            f"{signed(row[name])} [{signed(row[f'{name}_low'])}, {signed(row[f'{name}_high'])}]"
            for name in ("fair_importance", "shap_gap")
        ),
        str(row["sign"]),
    ]


TABLES = [
    Table("fair_importance", ("draw",), lambda: [(draw,) for draw in range(DRAWS)], measure, [(0,)]),
    Table("fair_importance_public", ("set",), lambda: [(name,) for name in PUBLIC], measure_public),
]

if __name__ == "__main__":
    main("fair_importance", __doc__, TABLES, text)
