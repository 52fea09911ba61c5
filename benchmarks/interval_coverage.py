"""How often the intervals of ``pi_xgb.metrics`` cover the truth, and how often a test finds a gap that is not there.

    python -m benchmarks.interval_coverage [DRAWS]    prints one line per setting; 400 draws take half an hour

Groups of equal size have normal scores; in "apart" the first one is shifted. Weights are log-normal (half of the rows
count, in effect) and independent of all else, so that the true values stay the same.
"""

from __future__ import annotations

import sys
import warnings
from itertools import product

import numpy as np
import pandas as pd
from scipy.stats import norm

from pi_xgb import metrics

GAPS = ("statistical_parity", "equalized_odds", "abroca")
SHIFT = 0.8


def sample(shift: np.ndarray, n_rows: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Labels, probabilities and groups; the shift moves positives by all of it and negatives by half."""
    group, y = rng.integers(0, len(shift), n_rows), rng.random(n_rows) < 0.4
    mean = np.where(y, 0.2 + shift[group], -0.6 + shift[group] / 2)
    return y, norm.cdf(rng.normal(mean)), group


def truths(shift: np.ndarray) -> dict[str, float]:
    """The gaps of the population, and the AUC of its first group."""
    fpr, tpr = norm.cdf(-0.6 + shift / 2), norm.cdf(0.2 + shift)
    grid = norm.ppf((np.arange(2000) + 0.5) / 2000)
    curves = norm.cdf(0.8 + shift[:, None] / 2 + grid)
    return {
        "statistical_parity": np.ptp(0.4 * tpr + 0.6 * fpr),
        "equalized_odds": np.ptp(tpr) + np.ptp(fpr),
        "abroca": max(np.abs(curve - curves[0]).mean() for curve in curves),
        "auc of a group": norm.cdf((0.8 + shift[0] / 2) / np.sqrt(2)),
    }


def intervals(shift: np.ndarray, n_rows: int, weighted: bool, seed: int) -> pd.DataFrame:
    """The table of the gaps of one sample, and the interval of one AUC."""
    rng = np.random.default_rng([seed, n_rows, len(shift)])
    y, score, group = sample(shift, n_rows, rng)
    weight = np.exp(rng.normal(0, np.sqrt(np.log(2)), n_rows)) if weighted else None
    rows = {"y_true": y, "y_score": score, "sensitive_features": group, "sample_weight": weight}
    table = metrics.disparity_report(**rows, metrics=GAPS, n_boot=200, n_null=199, random_state=seed)
    area = metrics.group_report(**rows).loc[0, ["auc_low", "auc_high"]].to_numpy(float)
    table.loc["auc of a group", ["low", "high"]] = area
    return table


def main(draws: int = 400) -> None:
    for n_groups, n_rows, design, weighted in product((2, 4), (300, 1000), ("alike", "apart"), (False, True)):
        shift = np.where(np.arange(n_groups) == 0, SHIFT * (design == "apart"), 0.0)
        found = []
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", metrics.UndefinedRateWarning)
            for seed in range(draws):
                table = intervals(shift, n_rows, weighted, seed).assign(truth=pd.Series(truths(shift)))
                table["covered"] = (table["low"] <= table["truth"]) & (table["truth"] <= table["high"])
                table["width"], table["rejected"] = table["high"] - table["low"], table["p_value"] <= 0.05
                found.append(table)
        means = pd.concat(found).groupby(level=0)[["truth", "covered", "width", "rejected"]].mean()
        for name, row in means.iterrows():
            setting = (
                f"{n_groups} groups, {n_rows:4d} rows, {design}, {'weighted' if weighted else 'equal':8s} {name:18s}"
            )
            print(f"{setting} {' '.join(f'{key} {value:.3f}' for key, value in row.items())}", flush=True)


if __name__ == "__main__":
    main(*(1 if argument == "--smoke" else int(argument) for argument in sys.argv[1:]))
