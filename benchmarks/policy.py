"""What the instruction of ``compare`` is worth: a rule that chooses among seven models by the user's folds.

    python -m benchmarks.policy --jobs 2
    python -m benchmarks.policy --smoke

Seven models that one could deploy are scored as ``compare`` scores them, on folds of the labelled rows, and on test
rows after a training on all training rows; rounds are those with the best mean over the folds. A rule sees the scores
of the folds only, and is worth the test scores of the model that it chooses. ``PROTOCOL.md`` has sets, draws and bars.
"""

from __future__ import annotations

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
from benchmarks.intervals import Interval, with_bounds
from benchmarks.text import paragraph, signed, table
from benchmarks.unlabelled.fresh_sets import FRESH, fresh_set
from pi_xgb._core.keywords import Keywords
from pi_xgb._core.teachers import TRAINED_KL_WEIGHT
from pi_xgb._selection.candidates import PLAIN, Candidate
from pi_xgb._selection.compare import table_of
from pi_xgb._selection.rivals import BASELINE, RIVALS, SELF, STUDENT, rivals_of
from pi_xgb._selection.scores import Score
from pi_xgb._selection.splits import SharedFolds, Split
from pi_xgb._selection.students import Students, search
from pi_xgb._selection.verdict import Measurement, Verdict

TELLS, LITTLE, NEW = "z predicts better than x", "z predicts little", "fresh sets"
MADE = NO_GAIN, _, LARGE, MISLEADS = "no gain", "small gain", "large gain", "z misleads"
SETS = dict.fromkeys(("heart", "student_mat", "student_por"), TELLS)
SETS |= dict.fromkeys(("compas", "credit", "dutch"), LITTLE)
LABELS, MADE_LABELS, ALL, ROUNDS, MOST_TEST = (50, 100, 200), 100, 600, 60, 1000
DRAWS, DRAWS_WITH_ALL, DRAWS_MADE, DRAWS_FRESH = 40, 10, 100, 5
PARAMS: dict[str, Any] = {"objective": "binary:logistic", "max_depth": 3, "eta": 0.1, "nthread": 1}
GIVEN = {"params": PARAMS, "n_jobs": 1, "progress": False, "seed": 0}
GIVEN |= dict.fromkeys(("standard_errors", "metric", "custom_metric", "maximize", "folds", "resume", "resume_key"))
MODELS = (BASELINE, STUDENT, SELF, *RIVALS)
RECIPE = Candidate("kbpib", TRAINED_KL_WEIGHT, "mixed")
FOLDS, REPEATS, TEST = 5, 2, -1
LOSS, AUC = Score("logloss", maximised=False), Score("auc", maximised=True)
CELL, MEASURES = ["set", "labels"], ["logloss", "auc"]
Rows = tuple[Any, list[str], Any, list[str], Any]


def made(case: str, draw: int) -> Rows:
    noise = 2.0 if case == LARGE else 1.0
    data = pi_xgb.datasets.make_privileged(1600, x_noise=noise, seed=2000 + draw)
    x, z, y = data.x.to_numpy(), data.z.to_numpy(), data.y.to_numpy()
    if case == NO_GAIN:
        z = np.random.default_rng(draw).permutation(z)
    return x, ["q"] * x.shape[1], z, ["q"] * z.shape[1], y


@lru_cache
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
    labelled = np.isin(np.arange(len(rows)), [*learn, *held_out])
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
    inner = Students.read(PARAMS, ROUNDS, dtrain.slice(learn), Keywords(), "policy")
    splits = [
        split._replace(train=learn[split.train], test=learn[split.test])
        for split in inner.splits(FOLDS, 1 if small else REPEATS, None, draw)
    ]
    shared = SharedFolds.of_splits(splits, len(rows), np.isin(np.arange(len(rows)), learn), None)
    splits = [split._replace(shared=one) for split, one in zip(splits, shared, strict=True)]
    on_test = Split(0, TEST, learn, held_out)
    rivals = rivals_of(students)
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
    "student unless chance 0.2 (`compare`)": (STUDENT, None),
    "student unless chance 0.05": (STUDENT, float(ndtri(1 - 0.05 / (len(MODELS) - 1)))),
    "plain XGBoost unless 0.5 standard errors (before)": (BASELINE, 0.5),
}
"""Where a rule starts, and how many standard errors another model must be ahead; None is the default of `compare`."""
COMPARE, HEADER = next(iter(RULES)), ["sets", "log loss", "AUC", "log loss, best policy there", "which is"]
GROUPS = (TELLS, LITTLE, *MADE, NEW)
ABOUT = """\
`python -m benchmarks.policy`: what the instruction of `compare` is worth against always deploying one of its seven
models; sets, draws and bars were [written down before the run](PROTOCOL.md#the-instruction-of-compare). "Unless chance
0.2": another model replaces the student if its lead on the folds is larger than the best of six equal models has with
that probability. Log loss on test rows less that of always the student; below 0 is better."""
REGRET = """\
Of the rules "{rule}" has the lowest log loss on the other sets {times} times of {sets} when a set is left out. On the
even draws of all sets but the fresh ones the best policy for all was "{best}". The instruction of `compare` less this
policy on odd draws, with 95 % intervals over draws, and less the best policy of the group there, which nobody can know
in advance:"""


def deployed(scores: pd.DataFrame) -> pd.DataFrame:
    """The test scores of what each policy deploys in each cell."""
    lines = []
    for (name, labels, draw), part in scores.groupby([*CELL, "draw"]):
        is_test = part["fold"] == TEST
        test = part[is_test].set_index("model")
        folds = part[~is_test].pivot(index=["repeat", "fold"], columns="model", values="logloss")
        policies = {f"always {model}": model for model in MODELS}
        for rule, (start, bar) in RULES.items():
            how = Measurement(LOSS, 1 / (FOLDS - 1), labels, bar)
            verdict = Verdict.of(how, MODELS, folds[list(MODELS)].to_numpy().T, MODELS.index(start))
            policies[rule] = MODELS[verdict.chosen]
        cell = {"group": name if name in MADE else SETS.get(name, NEW), "set": name, "labels": labels, "draw": draw}
        lines += [{**cell, "policy": policy, **test.loc[model, MEASURES]} for policy, model in policies.items()]
    return pd.DataFrame(lines)


def difference(found: pd.DataFrame, policy: str, other: str, measure: str) -> str:
    """Of two policies, the mean over sets and numbers of labels, which are strata of the interval over draws."""
    by = found.pivot(index=["draw", *CELL], columns="policy", values=measure)
    strata = (by[policy] - by[other]).groupby(CELL)
    error = np.sqrt((strata.var() / strata.count()).sum()) / len(strata)
    return with_bounds(Interval(strata.mean().mean(), 1.96 * error, len(by)))


def means_of(found: pd.DataFrame) -> pd.DataFrame:
    """The log loss of each policy by set; every number of labels counts alike."""
    by_cell = found.groupby(["policy", *CELL], sort=False)["logloss"].mean()
    return by_cell.groupby(["policy", "set"], sort=False).mean().unstack("set")


def best_policy(found: pd.DataFrame) -> str:
    """The fixed policy with the lowest log loss."""
    return str(means_of(found).drop(index=list(RULES)).mean(axis=1).idxmin())


def section(folder: Path) -> list[str]:
    """Nothing where it was not run."""
    if not exists("policy", folder):
        return []
    found = deployed(read("policy", folder))
    groups = [group for group in GROUPS if group in set(found["group"])]
    means = pd.DataFrame({group: means_of(found[found["group"] == group]).mean(axis=1) for group in groups})
    rows = [[policy, *map(signed, line)] for policy, line in (means - means.loc[f"always {STUDENT}"]).iterrows()]
    known, odd = found[found["group"] != NEW], found[found["draw"] % 2 == 1]
    best, by_set = best_policy(known[known["draw"] % 2 == 0]), means_of(known).loc[list(RULES)]
    chosen = [by_set.drop(columns=name).mean(axis=1).idxmin() for name in by_set]
    parts = {"all but the fresh": odd[odd["group"] != NEW]} | {group: odd[odd["group"] == group] for group in groups}
    parts |= {NEW: found[found["group"] == NEW]} if NEW in groups else {}
    regrets = []
    for name, part in parts.items():
        there = best_policy(part)
        compared = [difference(part, COMPARE, other, measure) for other in (best, there) for measure in MEASURES]
        regrets.append([name, *compared[:3], there.removeprefix("always ")])
    text = REGRET.format(best=best, rule=COMPARE, times=chosen.count(COMPARE), sets=len(chosen))
    return [paragraph(ABOUT), "", *table(["policy", *groups], rows), paragraph(text), "", *table(HEADER, regrets)]


def cells() -> list[Cell]:
    """Draw after draw, so that a run that ends early has some of every set."""
    found = [(name, labels, draw) for name in SETS for labels in LABELS for draw in range(DRAWS)]
    found += [(name, ALL, draw) for name in SETS for draw in range(DRAWS_WITH_ALL)]
    found += [(case, MADE_LABELS, draw) for case in MADE for draw in range(DRAWS_MADE)]
    found += [(name, labels, draw) for name in FRESH for labels in LABELS for draw in range(DRAWS_FRESH)]
    return sorted(found, key=lambda cell: cell[2])


SMOKE = [(case, 50, draw) for case in (NO_GAIN, LARGE) for draw in (0, 1)]
TABLES = [Table("policy", (*CELL, "draw"), cells, measure, SMOKE)]

if __name__ == "__main__":
    main("policy", __doc__, TABLES, lambda folder, figures: "\n".join(section(folder)))
