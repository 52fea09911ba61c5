"""Made data whose best model is known, and what compare recommends on it.

Each of the three kinds of data is compared for many seeds, so the settings are quick ones.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.naive_bayes import GaussianNB

from pi_xgb.selection import compare

USELESS, STRONG, SMOOTHING = "z useless", "z strong, few labels", "smoothing alone helps"
TRUTHS = (USELESS, STRONG, SMOOTHING)
ROWS = 200
LABELS = {STRONG: 60, SMOOTHING: 120}
UNLABELLED = {STRONG: 600, SMOOTHING: 480}
ROUNDS = {USELESS: 12, STRONG: 12, SMOOTHING: 25}
PARAMS: dict[str, Any] = {"objective": "binary:logistic", "max_depth": 3, "eta": 0.3, "nthread": 1}
QUICK: dict[str, Any] = {"crossfit": 2, "kl_weight": 10.0, "repeats": 1, "n_jobs": 1}
"""What differs from the defaults of compare, next to the teacher and the rounds."""
BOOSTED: dict[str, Any] = {"teacher": "boosted", "teacher_sees": "all"}


def rows_of(truth: str, seed: int) -> tuple[Any, Any, Any]:
    """x, z and y; y is NaN where a row has no label."""
    rng = np.random.default_rng([seed, TRUTHS.index(truth)])
    n_rows = LABELS.get(truth, ROWS) + UNLABELLED.get(truth, 0)
    noise = rng.normal(size=(n_rows, 3))
    if truth == SMOOTHING:  # the classes differ in spread, which a naive Bayes teacher finds in x
        y = rng.integers(2, size=n_rows).astype(float)
        x, z = rng.normal(size=(n_rows, 5)) * (1 + y)[:, None], noise
    else:  # waves, which few labels hardly show
        x = rng.normal(size=(n_rows, 4))
        score = 1.5 * np.sin(2 * x).sum(axis=1)
        y = (rng.random(n_rows) < 1 / (1 + np.exp(-score))).astype(float)
        z = score[:, None] + 0.1 * noise if truth == STRONG else noise
    y[LABELS.get(truth, n_rows) :] = np.nan
    return x, z, y


def recommended(truth: str, seed: int, **settings: Any) -> list[dict[str, Any]]:
    """What compare recommends, and the mean gains."""
    x, z, y = rows_of(truth, seed)
    teacher = {"teacher": GaussianNB()} if truth == SMOOTHING else BOOSTED
    quick = {**QUICK, **teacher, "num_boost_round": ROUNDS[truth], **settings}
    found = compare(x, y, z, params=PARAMS, seed=seed, progress=False, **quick)
    means = found.summary.droplevel("size")
    gains = {f"gain_{model}": means.loc[model, "gain"] for model in means.index[1:]}
    return [{"recommendation": found.recommendation, **gains}]
