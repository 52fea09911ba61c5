"""The demonstration: the gain from a teacher on generated data with known probabilities."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pandas as pd
import xgboost

from .._core.learned import fit_teacher
from .._core.train import train
from .._stats.auc import area_under_curve
from .._xgb.threads import usable_cores
from ..datasets import PrivilegedData, make_privileged
from .experiment import Experiment, Outcome
from .options import at_least, new_command
from .output import add_out, new_output, write_output
from .source import Log

ROWS, LABELLED, ALL_ROWS, TEST_ROWS, ROUNDS, KL_WEIGHT = 300, 60, 1000, 4000, 100, 5.0
# One thread per training and several seeds in parallel: on so few rows threads of one training mostly wait for each
# other, and on a busy machine this took minutes instead of seconds.
PARAMS = {"objective": "binary:logistic", "max_depth": 3, "eta": 0.1, "nthread": 1}
PLAIN, CONTROL = "plain XGBoost", "control: teacher on x"

EXAMPLE = """example:
  pi-xgb demo --seeds 5 --html demo.html

All data are random numbers. Nothing is downloaded, and only --html writes a file."""


def add(commands: Any) -> None:
    """Add the command and its options."""
    command = new_command(commands, "demo", "train the methods on seeded data and explain the numbers", EXAMPLE)
    command.add_argument("--seeds", type=at_least(2), default=10, help="repetitions (default: %(default)s)")
    add_out(command, "--html", metavar="FILE", help="also write a page with pictures (needs matplotlib and jinja2)")
    command.set_defaults(run=run)


def run(arguments: argparse.Namespace, log: Log) -> None:
    """Run the experiments, then write the page."""
    path = new_output(arguments, "--html") if arguments.html else None
    if path is None:
        run_demo(arguments.seeds)
        return
    from .._plots.style import pyplot
    from .._report.page import jinja
    from .demo_page import demo_page

    pyplot(), jinja()  # errors without them, before the trainings
    page = demo_page(run_demo(arguments.seeds))
    write_output(path, page.encode(), arguments)
    log(f"{path}: written")


def run_demo(n_seeds: int) -> list[Outcome]:
    """Run both experiments.

    Examples
    --------
    >>> first, second = run_demo(2)  # doctest: +ELLIPSIS
    300 training rows, ...
    >>> list(first.table.columns)
    ['AUC', 'AUC s.e.', 'gain', 'gain s.e.']
    """
    first = run_experiment(ALL_LABELS, n_seeds)
    _show("")
    return [first, run_experiment(FEW_LABELS, n_seeds)]


def run_experiment(experiment: Experiment, n_seeds: int) -> Outcome:
    """Train the methods; print the scores of each seed, then the table.

    Examples
    --------
    >>> outcome = run_experiment(FEW_LABELS, 2)  # doctest: +ELLIPSIS
    Second experiment, ...
    >>> outcome.table.index.tolist()[1:]
    ['logistic regression', 'random forest', 'boosted teacher on z', 'mixed teacher', 'control: teacher on x',
    'plain XGBoost, all labels known']
    """
    _show(experiment.opening.format(n_seeds=n_seeds))
    rows = []
    with ThreadPoolExecutor(usable_cores()) as pool:  # starts no further seed after an error
        for seed, scores in enumerate(pool.map(experiment.scores, range(n_seeds)), 1):
            rows.append(scores)
            shown = ", ".join(f"{name} {scores[name]:.4f}" for name in experiment.shown)
            _show(f"seed {seed:>2} of {n_seeds}: AUC of {shown}")
    _show("\nThe means over the seeds:")
    outcome = Outcome(experiment, pd.DataFrame(rows))
    for name, explanation in experiment.explanations.items():
        row: Any = outcome.table.loc[name]
        gain = "" if name == experiment.baseline else f"   gain {row['gain']:+.4f} (s.e. {row['gain s.e.']:.4f})"
        _show(f"{name:<32} AUC {row['AUC']:.4f} (s.e. {row['AUC s.e.']:.4f}){gain}")
        _show(f"    {explanation}")
    _show(outcome.beyond_control)
    _show(experiment.closing)
    return outcome


def _show(line: str) -> None:
    """Print a line and flush it, for pipes."""
    print(line, flush=True)


def _with_all_labels(seed: int) -> dict[str, float]:
    data = make_privileged(ROWS + TEST_ROWS, seed=seed)
    rows = slice(0, ROWS)
    dtrain = xgboost.DMatrix(data.x[rows], data.y[rows])
    privileged = xgboost.DMatrix(data.z[rows], data.y[rows])
    shuffled = xgboost.DMatrix(data.z[rows].sample(frac=1, random_state=seed), data.y[rows])
    auc_of = _auc_on_test_rows(data)
    return {
        PLAIN: auc_of(dtrain),
        "KbPIB": auc_of(dtrain, privileged=privileged),
        "KbPIB, cross-fitted": auc_of(dtrain, privileged=privileged, crossfit=5),
        "JPIB": auc_of(dtrain, privileged=privileged, method="jpib"),
        CONTROL: auc_of(dtrain, privileged=dtrain, crossfit=5, allow_overlap=True),
        "control: z shuffled": auc_of(dtrain, privileged=shuffled, crossfit=5),
        "ceiling: the true P(y|x, z)": _auc(data, data.q[-TEST_ROWS:]),
    }


def _with_few_labels(seed: int) -> dict[str, float]:
    data = make_privileged(ALL_ROWS + TEST_ROWS, seed=seed)
    labelled, rows = slice(0, LABELLED), slice(0, ALL_ROWS)
    known = np.arange(ALL_ROWS) < LABELLED
    # A DMatrix needs a label in every row; these zeros are never read.
    label = data.y[rows].where(known, 0)
    few, many = xgboost.DMatrix(data.x[labelled], label[labelled]), xgboost.DMatrix(data.x[rows], label)
    many_z = xgboost.DMatrix(data.z[rows], label)
    auc_of = _auc_on_test_rows(data)
    return {
        PLAIN: auc_of(few),
        "logistic regression": _auc_of_rival(data, few, "linear"),
        "random forest": _auc_of_rival(data, few, "forest"),
        "boosted teacher on z": auc_of(many, privileged=many_z, crossfit=5, labelled=known),
        "mixed teacher": auc_of(many, privileged=many_z, teacher="mixed", labelled=known),
        CONTROL: auc_of(many, teacher="mixed", labelled=known),
        "plain XGBoost, all labels known": auc_of(xgboost.DMatrix(data.x[rows], data.y[rows])),
    }


def _auc_of_rival(data: PrivilegedData, dtrain: xgboost.DMatrix, kind: str) -> float:
    """Return the AUC of a linear model or a forest by itself, which are kinds of teachers too."""
    rival = fit_teacher(PARAMS, dtrain, ROUNDS, teacher=kind, crossfit=0)
    return _auc(data, rival.predict(xgboost.DMatrix(data.x[-TEST_ROWS:])))


def _auc_on_test_rows(data: PrivilegedData) -> Callable[..., float]:
    """Return a function that trains a model and returns its AUC on the last rows."""
    dtest = xgboost.DMatrix(data.x[-TEST_ROWS:])

    def auc_of(dtrain: xgboost.DMatrix, **keywords: Any) -> float:
        weight: dict[str, Any] = {"kl_weight": KL_WEIGHT} if keywords else {}
        return _auc(data, train(PARAMS, dtrain, ROUNDS, **weight, **keywords).predict(dtest))

    return auc_of


def _auc(data: PrivilegedData, scores: Any) -> float:
    """Return the area under the ROC curve on the last rows."""
    return area_under_curve(data.y[-TEST_ROWS:].to_numpy() == 1, scores)


ALL_LABELS = Experiment(
    opening=f"{ROWS} training rows, {TEST_ROWS} test rows, {{n_seeds}} seeds, {ROUNDS} rounds, kl_weight {KL_WEIGHT:g}."
    "\nA hidden score decides the label; x measures it with noise, z with little, at training only.\n",
    explanations={
        PLAIN: "plain XGBoost on the classifier features x",
        "KbPIB": "a teacher trained on the privileged features z guides the student",
        "KbPIB, cross-fitted": "the same; the teacher predicts each row without training on it",
        "JPIB": "teacher and student are boosted in turn, each guided by the other",
        CONTROL: "KbPIB, cross-fitted, with x in place of z: the gain from smoothing alone",
        "control: z shuffled": "KbPIB, cross-fitted, on z of other rows: guidance without information",
        "ceiling: the true P(y|x, z)": "the best possible score; it needs z, which is unknown at prediction",
    },
    shown=(PLAIN, "KbPIB", "KbPIB, cross-fitted", "JPIB"),
    best="KbPIB, cross-fitted",
    control=CONTROL,
    scores=_with_all_labels,
    closing="""
AUC: the chance that a positive row ranks above a negative one, on test rows. gain: the AUC less that of
plain XGBoost on the same data. s.e.: the standard error of the mean over seeds; a gain below two standard
errors is no evidence. z helps in these data by construction. On your own data it helps most with few rows and
noisy labels, and often not at all. Measure it: pi_xgb.cv(..., kl_weight=[0, 1, 5]).""",
)

FEW_LABELS = Experiment(
    opening=f"Second experiment, few labels and many rows: {ALL_ROWS} training rows, x and z known for all of them, "
    f"the label for {LABELLED}.\nOutcomes that come late (readmission, default, a final grade) are like this where "
    "early results exist.\n",
    explanations={
        PLAIN: f"plain XGBoost on the {LABELLED} labelled rows",
        "logistic regression": "a rival: ridge regression on x of the labelled rows",
        "random forest": "a rival: a forest on x of the labelled rows",
        "boosted teacher on z": f"KbPIB: a booster on z guides the student on the other {ALL_ROWS - LABELLED} rows too",
        "mixed teacher": "the recommended recipe: boosting, a forest and a linear model on x and z, on all rows",
        CONTROL: "the same without z: the gain from the rows and the mixture alone",
        "plain XGBoost, all labels known": f"plain XGBoost, with the other {ALL_ROWS - LABELLED} labels",
    },
    shown=(PLAIN, "logistic regression", "random forest", "mixed teacher"),
    best="mixed teacher",
    control=CONTROL,
    scores=_with_few_labels,
    closing="""
Compare with the best rival, not with plain XGBoost alone. These data are easy for two methods: the score is
linear in x, which favours logistic regression, and z nearly determines the label, which favours a teacher on
z alone. On your own data you do not know this beforehand; a mixed teacher is close to the best in both cases.
Where z adds little to x, the control gains as much, and no privileged features are needed. The assumption:
which labels are missing depends on x and z alone. If labels come early only for bad outcomes, the teacher is
biased. On your data: pi_xgb.train(..., teacher="mixed", labelled=...), or
pi-xgb train --teacher mixed --unlabelled teach.""",
)
