"""What the advice of ``compare`` is worth: rules that choose among seven models by the user's folds.

    python -m benchmarks.policy
    python -m benchmarks.policy --smoke

Seven models that one could deploy are scored by the loss on five folds of the labelled rows, and on test rows after a
training on all training rows; rounds are those with the best mean over the folds. A rule sees the folds' scores only,
and is worth the test score of the model that it chooses.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import xgboost as xgb
from scipy.special import ndtri

import pi_xgb
from benchmarks.cells import Cell, Line, Table, exists, main, read
from benchmarks.data import load
from benchmarks.text import signed, table
from pi_xgb._core.crossfit import Split
from pi_xgb._core.keywords import TRAINED_KL_WEIGHT, Keywords
from pi_xgb._selection.candidates import PLAIN, Candidate
from pi_xgb._selection.rivals import BASELINE, RIVALS, SELF, STUDENT, rival_means, with_imputed
from pi_xgb._selection.scores import Score
from pi_xgb._selection.students import FoldStudents, Students
from pi_xgb._stats.intervals import corrected_interval

DRAWS = 4
SETS = ("heart", "student_mat", "student_por", "compas", "credit", "dutch")
MADE = ("z without information", "z tells much", "z misleads")
LABELS, ROUNDS, MOST_TRAINING, MOST_TEST = (50, 150), 60, 600, 1000
PARAMS: dict[str, Any] = {"objective": "binary:logistic", "max_depth": 3, "eta": 0.1, "nthread": 1}
MODELS = (BASELINE, STUDENT, SELF, *RIVALS)
FOLDS, TEST = 5, -1
LOSS, AUC = Score("logloss", maximised=False), Score("auc", maximised=True)
KEYS = ["set", "labels", "draw"]
Rows = tuple[Any, list[str], Any, list[str], Any]
Rule = Callable[[pd.DataFrame], str]


def made(case: str, draw: int) -> tuple[Rows, Any]:
    """The rows of a made case, and those whose z misleads where they have no label."""
    tells = case == "z tells much"
    data = pi_xgb.datasets.make_privileged(1600, x_noise=2.0 if tells else 1.0, seed=1000 + draw)
    x, z, y = data.x.to_numpy(), data.z.to_numpy(), data.y.to_numpy()
    rng = np.random.default_rng(draw)
    if case == "z without information":
        z = rng.permutation(z)
    types = ["q"] * x.shape[1], ["q"] * z.shape[1]
    return (x, types[0], z, types[1], y), case == "z misleads"


@lru_cache(1)
def public(name: str) -> Rows:
    data = load(name)
    (x, x_types), (z, z_types) = data.student(), data.teacher()
    return x.to_numpy(np.float32), x_types, z.to_numpy(np.float32), z_types, data.y


def scored(part: FoldStudents, imputed: Any, score: Score) -> dict[str, Any]:
    """The score of each model on held-out rows after each round; rivals have one round for all."""
    student = Candidate("kbpib", TRAINED_KL_WEIGHT, "mixed")
    own = {BASELINE: PLAIN, STUDENT: student, SELF: student.without_privileged()}
    found = {model: np.array(part.scores(candidate, score)[0]) for model, candidate in own.items()}
    for model, mean in rival_means(part, imputed).items():
        found[model] = np.full(ROUNDS, score.of_mean(mean, part.held_out, part.all.spec))
    return found


def measure(name: str, labels: int, draw: int, small: bool = False) -> list[Line]:
    """The scores of every model on every fold and on the test rows."""
    (x, x_types, z, z_types, y), misleads = made(name, draw) if name in MADE else (public(name), False)
    rng = np.random.default_rng([draw, labels])
    order = rng.permutation(len(y))
    n_test = min(MOST_TEST, len(y) // 3)
    test, rest = order[:n_test], order[n_test : n_test + MOST_TRAINING]
    by_label = rest[np.argsort(y[rest], kind="stable")]
    known = by_label[(np.arange(labels) * len(rest)) // labels]
    rows = np.concatenate([rest, test])
    where = {row: place for place, row in enumerate(rows)}
    learn, held_out = (np.array([where[row] for row in part]) for part in (known, test))
    if misleads:
        z = z.copy()
        others = np.setdiff1d(rest, known)
        z[others] = 2 * z.mean(axis=0) - z[others]
    labelled = np.zeros(len(rows), bool)
    labelled[[*learn, *held_out]] = True
    dtrain, privileged = (
        xgb.DMatrix(table[rows], y[rows], feature_types=types, feature_names=names, enable_categorical=True)
        for table, types, names in (
            (x, x_types, [f"x{i}" for i in range(x.shape[1])]),
            (z, z_types, [f"z{i}" for i in range(z.shape[1])]),
        )
    )
    config = Keywords(privileged, labelled=labelled)
    students = Students.read(PARAMS, ROUNDS, dtrain, config, "policy")
    imputed, scores = with_imputed(students), (LOSS, AUC)
    inner = Students.read(PARAMS, ROUNDS, dtrain.slice(learn), Keywords(), "policy")
    splits = [
        split._replace(train=learn[split.train], test=learn[split.test]) for split in inner.splits(FOLDS, 1, None, draw)
    ]
    splits.append(Split(0, TEST, learn, held_out))
    found, auc = (
        [scored(students.take(split.train, split.test), imputed, score) for split in chosen]
        for score, chosen in zip(scores, (splits, splits[-1:]), strict=True)
    )
    lines = []
    for model in MODELS:
        best = int(np.mean([fold[model] for fold in found[:-1]], axis=0).argmin())
        for split, fold in zip(splits, found, strict=True):
            more = {"auc": auc[0][model][best]} if split.fold == TEST else {}
            line = {"model": model, "repeat": split.repeat, "fold": split.fold, "logloss": fold[model][best], **more}
            lines.append(line)
    return lines


def replaced_if_ahead(start: str, bar: float) -> Rule:
    """``start``, unless the best model leads it on the folds by ``bar`` standard errors."""

    def rule(folds: pd.DataFrame) -> str:
        scores = folds.pivot(index=["repeat", "fold"], columns="model", values="logloss")
        leads = {
            model: corrected_interval((scores[start] - scores[model]).to_numpy(), 1 / (FOLDS - 1)) for model in MODELS
        }
        best = max(leads, key=lambda model: leads[model].mean)
        return best if leads[best].mean > bar * leads[best].error else start

    return rule


OTHERS = len(MODELS) - 1
RULES: dict[str, Rule] = {
    "plain XGBoost unless 0.5 standard errors (before)": replaced_if_ahead(BASELINE, 0.5),
    "student unless chance 0.2 (`compare`)": replaced_if_ahead(STUDENT, float(ndtri(1 - 0.2 / OTHERS))),
    "student unless chance 0.05": replaced_if_ahead(STUDENT, float(ndtri(1 - 0.05 / OTHERS))),
}
ABOUT = """\
`python -m benchmarks.policy`: what the instruction of `compare` is worth against always deploying one of its seven
models. Six public sets and three kinds of made data, {draws} draws, 50 or 150 labels among 600 rows. A rule sees five
folds of the labelled rows. "Unless chance 0.2": another model replaces the student if its lead is larger than the
best of six equal models has with that probability. Log loss on test rows less that of always the student; below 0 is
better. Where z means something else in rows without a label ("z misleads") the student is wrong, and the rule finds
out."""


def deployed(scores: pd.DataFrame) -> pd.DataFrame:
    """For each cell and policy, the test loss of the model that it deploys, less that of the student."""
    lines = []
    for (name, labels, _), part in scores.groupby(KEYS):
        is_test = part["fold"] == TEST
        test = part[is_test].set_index("model")["logloss"]
        policies = {f"always {model}": model for model in MODELS}
        policies |= {rule: RULES[rule](part[~is_test]) for rule in RULES}
        lines += [
            {"set": name, "labels": labels, "policy": policy, "loss": test[model] - test[STUDENT]}
            for policy, model in policies.items()
        ]
    return pd.DataFrame(lines)


def section(folder: Path) -> list[str]:
    """Nothing where it was not run."""
    if not exists("policy", folder):
        return []
    scores = read("policy", folder)
    found = deployed(scores)
    found["group"] = found["set"].where(found["set"].isin(MADE), "public sets")
    means = found.groupby(["policy", "group", "labels"], sort=False)["loss"].mean()
    columns = [*(("public sets", labels) for labels in LABELS), *((case, LABELS[0]) for case in MADE)]
    columns = [column for column in columns if column in means.index.droplevel("policy")]
    rows = [[policy, *(signed(means[policy, *column]) for column in columns)] for policy in found["policy"].unique()]
    draws = scores.groupby("set")["draw"].nunique()
    about = ABOUT.format(draws=f"{draws.min()} to {draws.max()}")
    return [about, "", *table(["policy", *(f"{group}, {labels}" for group, labels in columns)], rows)]


def cells() -> list[Cell]:
    return [(name, labels, draw) for draw in range(DRAWS) for name in (*SETS, *MADE) for labels in LABELS]


TABLES = [Table("policy", tuple(KEYS), cells, measure, [(MADE[0], LABELS[0], 0)])]

if __name__ == "__main__":
    main("policy", __doc__, TABLES, lambda folder, figures: "\n".join(section(folder)))
