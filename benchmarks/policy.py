"""What the instruction of ``compare`` is worth: a rule that chooses among seven models by the user's folds.

    python -m benchmarks.policy --jobs 2
    python -m benchmarks.policy --smoke

Seven models that one could deploy are scored as ``compare`` scores them, on folds of the labelled rows, and on test
rows after a training on all training rows; rounds are those with the best mean over the folds. A rule sees the folds' scores
only, and is worth the test scores of the model that it chooses. ``PROTOCOL.md`` has the sets, draws and bars.
"""

from __future__ import annotations

from functools import lru_cache, partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import xgboost as xgb
from scipy.special import ndtri

import pi_xgb
from benchmarks.cells import Cell, Line, Table, exists, main, read
from benchmarks.data import load
from benchmarks.intervals import corrected_interval, with_bounds
from benchmarks.text import signed, table
from benchmarks.unlabelled.fresh_sets import FRESH, fresh_set
from pi_xgb._core.crossfit import SharedFolds, Split
from pi_xgb._core.keywords import TRAINED_KL_WEIGHT, Keywords
from pi_xgb._selection.candidates import PLAIN, Candidate
from pi_xgb._selection.compare import table_of
from pi_xgb._selection.rivals import BASELINE, RIVALS, SELF, STUDENT, rival_means, with_imputed
from pi_xgb._selection.scores import Score
from pi_xgb._selection.students import Students, search
from pi_xgb._selection.verdict import Measurement, Verdict

TELLS, LITTLE, NO_GAIN, SMALL, LARGE, MISLEADS = (
    *("z predicts better than x", "z predicts little", "no gain", "small gain", "large gain", "z misleads"),
)
SETS = {
    **dict.fromkeys(("heart", "student_mat", "student_por"), TELLS),
    **dict.fromkeys(("compas", "credit", "dutch"), LITTLE),
}
MADE, NEW = (NO_GAIN, SMALL, LARGE, MISLEADS), "fresh sets"
LABELS, MADE_LABELS, ALL, ROUNDS, MOST_TEST = (50, 100, 200), 100, 600, 60, 1000
DRAWS, DRAWS_WITH_ALL, DRAWS_MADE, DRAWS_FRESH = 40, 10, 100, 5
PARAMS: dict[str, Any] = {"objective": "binary:logistic", "max_depth": 3, "eta": 0.1, "nthread": 1}
GIVEN = {"params": PARAMS, "n_jobs": 1, "progress": False, "seed": 0}
GIVEN |= dict.fromkeys(("standard_errors", "metric", "custom_metric", "maximize", "folds", "resume", "resume_key"))
MODELS = (BASELINE, STUDENT, SELF, *RIVALS)
RECIPE = Candidate("kbpib", TRAINED_KL_WEIGHT, "mixed")
FOLDS, REPEATS, TEST = 5, 2, -1
LOSS, AUC = Score("logloss", maximised=False), Score("auc", maximised=True)
KEYS = ["set", "labels", "draw"]
Rows = tuple[Any, list[str], Any, list[str], Any]


def made(case: str, draw: int) -> Rows:
    noise = 2.0 if case == LARGE else 1.0
    data = pi_xgb.datasets.make_privileged(1600, x_noise=noise, seed=2000 + draw)
    x, z, y = data.x.to_numpy(), data.z.to_numpy(), data.y.to_numpy()
    if case == NO_GAIN:
        z = np.random.default_rng(draw).permutation(z)
    return x, ["q"] * x.shape[1], z, ["q"] * z.shape[1], y


@lru_cache(1)
def public(name: str) -> Rows:
    data = fresh_set(name) if name in FRESH else load(name)
    (x, x_types), (z, z_types) = data.student(), data.teacher()
    return x.to_numpy(np.float32), x_types, z.to_numpy(np.float32), z_types, data.y


def measure(name: str, labels: int, draw: int, small: bool = False) -> list[Line]:
    """The scores of every model on every fold and on the test rows."""
    x, x_types, z, z_types, y = made(name, draw) if name in MADE else public(name)
    rng = np.random.default_rng([1, draw, labels])
    order = rng.permutation(len(y))
    n_test = min(MOST_TEST, len(y) // 3)
    test, rest = order[:n_test], order[n_test : n_test + ALL]
    labels = min(labels, len(rest))
    by_label = rest[np.argsort(y[rest], kind="stable")]
    known = by_label[(np.arange(labels) * len(rest)) // labels]
    rows = np.concatenate([rest, test])
    where = {row: place for place, row in enumerate(rows)}
    learn, held_out = (np.array([where[row] for row in part]) for part in (known, test))
    if name == MISLEADS:  # z means the opposite in rows without a label
        z = z.copy()
        others = np.setdiff1d(rest, known)
        z[others] = 2 * z.mean(axis=0) - z[others]
    labelled = np.zeros(len(rows), bool)
    labelled[[*learn, *held_out]] = True
    dtrain, privileged = (
        xgb.DMatrix(values[rows], y[rows], feature_types=types, feature_names=names, enable_categorical=True)
        for values, types, names in (
            (x, x_types, [f"x{i}" for i in range(x.shape[1])]),
            (z, z_types, [f"z{i}" for i in range(z.shape[1])]),
        )
    )
    students = Students.read(PARAMS, ROUNDS, dtrain, Keywords(privileged, labelled=labelled), "policy")
    candidates = {BASELINE: PLAIN, STUDENT: RECIPE, SELF: RECIPE.without_privileged()}
    models = {model: (students, candidate) for model, candidate in candidates.items()}
    imputed = with_imputed(students)
    inner = Students.read(PARAMS, ROUNDS, dtrain.slice(learn), Keywords(), "policy")
    splits = [
        split._replace(train=learn[split.train], test=learn[split.test])
        for split in inner.splits(FOLDS, 1 if small else REPEATS, None, draw)
    ]
    is_learned = np.zeros(len(rows), bool)
    is_learned[learn] = True
    shared = SharedFolds.of_splits(splits, len(rows), is_learned, None)
    splits = [split._replace(shared=one) for split, one in zip(splits, shared, strict=True)]
    on_test = Split(0, TEST, learn, held_out)
    rivals = partial(rival_means, imputed=imputed)
    *found, loss = search("compare", models, [*splits, on_test], LOSS, GIVEN, lambda _: rivals)
    (auc,) = search("compare", models, [on_test], AUC, GIVEN, lambda _: rivals)
    lines = table_of(splits, found, LOSS)
    lines = lines[lines["model"].isin(MODELS)].rename(columns={"score": "logloss"})
    kept = lines[["model", "repeat", "fold", "logloss"]].to_dict("records")
    for model in MODELS:
        best = int(np.mean([fold[model][0] for fold in found], axis=0).argmin())
        scores = {"logloss": loss[model][0][best], "auc": auc[model][0][best]}
        kept.append({"model": model, "repeat": 0, "fold": TEST, **scores})
    return kept


RULES = {
    "plain XGBoost unless 0.5 standard errors (before)": (BASELINE, 0.5),
    "student unless chance 0.2 (`compare`)": (STUDENT, None),
    "student unless chance 0.05": (STUDENT, float(ndtri(1 - 0.05 / (len(MODELS) - 1)))),
}
"""Where a rule starts, and how many standard errors another model must be ahead; None is the default of `compare`."""


def cells() -> list[Cell]:
    """Draw after draw, so that a run that ends early has some of every set."""
    found = [(name, labels, draw) for name in SETS for labels in LABELS for draw in range(DRAWS)]
    found += [(name, ALL, draw) for name in SETS for draw in range(DRAWS_WITH_ALL)]
    found += [(case, MADE_LABELS, draw) for case in MADE for draw in range(DRAWS_MADE)]
    found += [(name, labels, draw) for name in FRESH for labels in LABELS for draw in range(DRAWS_FRESH)]
    return sorted(found, key=lambda cell: cell[2])


TABLES = [Table("policy", tuple(KEYS), cells, measure, [(NO_GAIN, 50, 0)])]

if __name__ == "__main__":
    main("policy", __doc__, TABLES)
