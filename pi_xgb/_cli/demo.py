"""``pi-xgb demo``: the gain from a teacher on generated data with known probabilities.

example:
  pi-xgb demo --seeds 5

All data are random numbers. Nothing is downloaded, and no file is written.
"""

from __future__ import annotations

import argparse
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pandas as pd
import xgboost

from .._core.fit_teacher import fit_teacher
from .._core.train import train
from .._xgb.threads import usable_cores
from ..datasets import make_privileged
from .table import Log

LABELLED, ALL_ROWS, TEST_ROWS, ROUNDS, KL_WEIGHT = 60, 1000, 4000, 100, 5.0
# One thread per training and several seeds in parallel: on so few rows threads of one training mostly wait for each
# other, and on a busy machine this took minutes instead of seconds.
PARAMS = {"objective": "binary:logistic", "max_depth": 3, "eta": 0.1, "nthread": 1}
PLAIN, BEST, CONTROL = "plain XGBoost", "mixed teacher", "control: teacher on x"
METHODS = {
    PLAIN: f"plain XGBoost on the {LABELLED} labelled rows",
    "logistic regression": "a rival: ridge regression on x of the labelled rows",
    "random forest": "a rival: a forest on x of the labelled rows",
    "KbPIB": "a boosted teacher on z, trained first, guides the student on all rows",
    "JPIB": "teacher and student are boosted in turn, each guided by the other",
    BEST: "the recommended recipe: a forest and a linear model on x and z, on all rows",
    CONTROL: "the same without z: the gain from the rows and the mixture alone",
    "ceiling: the true P(y|x, z)": "the best possible score; it needs z, which is unknown at prediction",
}

OPENING = f"""{ALL_ROWS} training rows, x and z known for all of them, the label for {LABELLED}; {TEST_ROWS} test rows.
A hidden score decides the label; x measures it with noise, z with little, at training only. Outcomes that come
late (readmission, default, a final grade) are like this where early results exist.
"""
CLOSING = """
AUC: the chance that a positive row ranks above a negative one, on test rows. gain: the AUC less that of plain
XGBoost. s.e.: the standard error of the mean over seeds; a gain below two standard errors is no evidence.
Compare with logistic regression and the forest, too. z helps in these data by construction; where z adds little
to x, the control gains as much. The assumption: which labels are missing depends on x and z alone.
On your data: pi_xgb.compare, or pi-xgb compare."""


def run(arguments: argparse.Namespace, _: Log) -> None:
    """Train the methods; print the scores of each seed, then their means."""
    print(OPENING)
    rows = []
    with ThreadPoolExecutor(usable_cores()) as pool:  # starts no further seed after an error
        for seed, of_seed in enumerate(pool.map(scores_of, range(arguments.seeds)), 1):
            rows.append(of_seed)
            shown = ", ".join(f"{name} {of_seed[name]:.4f}" for name in (PLAIN, "logistic regression", BEST))
            print(f"seed {seed:>2} of {arguments.seeds}: AUC of {shown}", flush=True)  # for pipes
    scores: Any = pd.DataFrame(rows)
    gains = scores.sub(scores[PLAIN], axis=0)
    print("\nThe means over the seeds:")
    for name, explanation in METHODS.items():
        gain = "" if name == PLAIN else f"   gain {gains[name].mean():+.4f} (s.e. {gains[name].sem():.4f})"
        print(f"{name:<28} AUC {scores[name].mean():.4f} (s.e. {scores[name].sem():.4f}){gain}\n    {explanation}")
    beyond = scores[BEST] - scores[CONTROL]
    print(f"What z adds: {BEST} less {CONTROL}, {beyond.mean():+.4f} (s.e. {beyond.sem():.4f})")
    print(CLOSING)


def scores_of(seed: int) -> dict[str, float]:
    """Return the AUC of each method on the test rows."""
    data = make_privileged(ALL_ROWS + TEST_ROWS, seed=seed)
    labelled, rows, dtest = slice(0, LABELLED), slice(0, ALL_ROWS), xgboost.DMatrix(data.x[-TEST_ROWS:])
    known = np.arange(ALL_ROWS) < LABELLED
    # A DMatrix needs a label in every row; these zeros are never read.
    label = data.y[rows].where(known, 0)
    few, many = xgboost.DMatrix(data.x[labelled], label[labelled]), xgboost.DMatrix(data.x[rows], label)
    many_z = xgboost.DMatrix(data.z[rows], label)

    def guided(**keywords: Any) -> Any:
        booster = train(PARAMS, many, ROUNDS, kl_weight=KL_WEIGHT, labelled=known, **keywords)
        return booster.predict(dtest)

    predictions = {
        PLAIN: train(PARAMS, few, ROUNDS).predict(dtest),
        # A linear model and a forest are kinds of teachers, too.
        "logistic regression": fit_teacher(PARAMS, few, ROUNDS, teacher="linear", crossfit=0).predict(dtest),
        "random forest": fit_teacher(PARAMS, few, ROUNDS, teacher="forest", crossfit=0).predict(dtest),
        "KbPIB": guided(privileged=many_z, teacher="boosted", crossfit=5),
        "JPIB": guided(privileged=many_z, method="jpib"),
        BEST: guided(privileged=many_z, teacher="mixed"),
        CONTROL: guided(teacher="mixed"),
        "ceiling: the true P(y|x, z)": data.q[-TEST_ROWS:],
    }
    from scipy.stats import mannwhitneyu

    positive = data.y[-TEST_ROWS:].to_numpy() == 1
    n_pairs = positive.sum() * (~positive).sum()
    return {name: mannwhitneyu(p[positive], p[~positive]).statistic / n_pairs for name, p in predictions.items()}
