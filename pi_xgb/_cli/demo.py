"""The demonstration: what a teacher is worth where the truth is known."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import xgboost

from .._core.train import train
from ..datasets import PrivilegedData, make_privileged
from .options import at_least, new_command

TRAIN_ROWS, TEST_ROWS, ROUNDS, KL_WEIGHT = 300, 4000, 100, 5.0
PARAMS = {"objective": "binary:logistic", "max_depth": 3, "eta": 0.1}

EXPLANATIONS = {
    "NF": "plain XGBoost on the classifier features x: what you have today",
    "KbPIB": "a teacher trained on the privileged features z guides the student",
    "KbPIB, cross-fitted": "the same; every row judged by a teacher that did not train on it",
    "JPIB": "teacher and student are boosted in turn and pull each other",
    "control: teacher on x": "KbPIB, cross-fitted, with x in the place of z: what smoothing alone does",
    "control: z shuffled": "KbPIB, cross-fitted, on z of other rows: guidance without information",
    "ceiling: the true P(y|x, z)": "no model can know more; it needs z, which is not there at prediction",
}


EXAMPLE = """example:
  pi-xgb demo --seeds 5

Everything is made here from random numbers; nothing is downloaded, and no file is written."""


def add(commands: Any) -> None:
    """The command and its options."""
    command = new_command(commands, "demo", "train the methods on seeded data and explain the numbers", EXAMPLE)
    command.add_argument(
        "--seeds", type=at_least(2), default=10, help="repetitions, two at least (default: %(default)s)"
    )
    command.set_defaults(run=lambda arguments, say: run_demo(arguments.seeds))


def show_now(line: str) -> None:
    """Print a line at once, to a pipe as well."""
    print(line, flush=True)


def run_demo(n_seeds: int = 10, show: Callable[[str], Any] = show_now) -> pd.DataFrame:
    """Train the methods on seeded data, print what comes out as it comes, then the table, and return it.

    Examples
    --------
    >>> table = run_demo(2, show=lambda line: None)
    >>> list(table.columns)
    ['AUC', 'AUC s.e.', 'gain', 'gain s.e.']
    """
    show(
        f"{TRAIN_ROWS} training rows, {TEST_ROWS} test rows, {n_seeds} seeds, {ROUNDS} rounds, kl_weight {KL_WEIGHT:g}."
        "\nA hidden score decides the label; x are blurred views of it, z are plain ones, there at training only.\n"
    )
    told = []
    for seed in range(n_seeds):
        told.append(_scores(seed))
        shown = ", ".join(f"{name} {told[-1][name]:.4f}" for name in ("NF", "KbPIB", "KbPIB, cross-fitted", "JPIB"))
        show(f"seed {seed + 1:>2} of {n_seeds}: AUC of {shown}")
    show("\nThe means over the seeds:")
    scores = pd.DataFrame(told)
    gains = scores.sub(scores["NF"], axis=0)
    table = pd.DataFrame(
        {
            "AUC": scores.mean(),
            "AUC s.e.": scores.sem(),
            "gain": gains.mean(),
            "gain s.e.": gains.sem(),
        }
    )
    for name, row in table.iterrows():
        gain = "" if name == "NF" else f"   gain {row['gain']:+.4f} +- {row['gain s.e.']:.4f}"
        show(f"{name:<28} AUC {row['AUC']:.4f} +- {row['AUC s.e.']:.4f}{gain}")
        show(f"    {EXPLANATIONS[str(name)]}")
    show(
        "\nAUC: the chance that a positive row is ranked above a negative one, on rows never trained on. gain: the\n"
        "AUC less that of NF on the same data. +-: one standard error of the mean over seeds; a gain of less than\n"
        "two of them is no evidence. These data were made so that z helps; on your own data it mostly helps where\n"
        "rows are few and labels noisy, and often not at all. Measure it: pi_xgb.cv(..., kl_weight=[0, 1, 5])."
    )
    return table


def _scores(seed: int) -> dict[str, float]:
    data = make_privileged(TRAIN_ROWS + TEST_ROWS, seed=seed)
    rows, held_out = slice(0, TRAIN_ROWS), slice(TRAIN_ROWS, None)
    dtrain = xgboost.DMatrix(data.x[rows], data.y[rows])
    dtest = xgboost.DMatrix(data.x[held_out])
    privileged = xgboost.DMatrix(data.z[rows], data.y[rows])
    shuffled = xgboost.DMatrix(data.z[rows].sample(frac=1, random_state=seed), data.y[rows])

    def auc_of(**guidance: Any) -> float:
        booster = train(PARAMS, dtrain, ROUNDS, **guidance)
        return _auc(data, held_out, booster.predict(dtest))

    weight: dict[str, Any] = {"kl_weight": KL_WEIGHT}
    return {
        "NF": auc_of(),
        "KbPIB": auc_of(privileged=privileged, **weight),
        "KbPIB, cross-fitted": auc_of(privileged=privileged, crossfit=5, **weight),
        "JPIB": auc_of(privileged=privileged, method="jpib", **weight),
        "control: teacher on x": auc_of(privileged=dtrain, crossfit=5, allow_overlap=True, **weight),
        "control: z shuffled": auc_of(privileged=shuffled, crossfit=5, **weight),
        "ceiling: the true P(y|x, z)": _auc(data, held_out, data.q[held_out]),
    }


def _auc(data: PrivilegedData, rows: slice, scores: Any) -> float:
    """The area under the ROC curve from ranks, ties counting half."""
    positive = data.y[rows].to_numpy() == 1
    ranks = pd.Series(np.asarray(scores)).rank().to_numpy()
    n_positive, n_negative = positive.sum(), (~positive).sum()
    return float((ranks[positive].sum() - n_positive * (n_positive + 1) / 2) / (n_positive * n_negative))
