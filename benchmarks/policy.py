"""What the advice of ``compare`` is worth: rules that choose among seven models by the user's folds.

    python -m benchmarks.policy [--draws 4] [--out benchmarks/results/policy.csv]    trains what is missing
    python -m benchmarks.policy --table                                              prints the table

Protocol, written before the run. Every set is cut at random, by draw, into at most 600 training rows and at most 1,000
test rows; 50 or 150 of the training rows, stratified, keep their label. Seven models that one could deploy are scored
by the loss on five folds of the labelled rows, and on the test rows after a training on all training rows;
rounds are those with the best mean over the folds. A rule sees the folds' scores only, and is worth the test score of
the model that it chooses. Made data of known truth come besides: z without information, z that tells much, and z that
means something else in rows without a label, so that the student loses.

Rules: the old one (plain XGBoost unless the best model is half a standard error ahead); the best mean; the student
unless another model leads it by more standard errors than the best of seven equal models does with probability 0.2 or
0.05; the student unless another model leads it after its lead is shrunk towards its mean lead on the other sets, which
counts as a measurement with the spread of these sets. The rule of a set is chosen by the loss on all other sets. The
best fixed policy is chosen on even draws; all are scored on odd draws against it.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable, Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import xgboost as xgb
from scipy.special import ndtri

import pi_xgb
from benchmarks import FOLDER
from benchmarks.data import load
from pi_xgb._core.crossfit import Split
from pi_xgb._core.keywords import TRAINED_KL_WEIGHT, Keywords
from pi_xgb._selection.candidates import PLAIN, Candidate
from pi_xgb._selection.rivals import BASELINE, RIVALS, SELF, STUDENT, rival_means, with_imputed
from pi_xgb._selection.scores import Score
from pi_xgb._selection.students import FoldStudents, Students
from pi_xgb._stats.paired import Interval, corrected_interval

SETS = ("heart", "student_mat", "student_por", "compas", "credit", "dutch")
MADE = ("z without information", "z tells much", "z misleads")
LABELS, ROUNDS, MOST_TRAINING, MOST_TEST = (50, 150), 60, 600, 1000
PARAMS: dict[str, Any] = {"objective": "binary:logistic", "max_depth": 3, "eta": 0.1, "nthread": 1}
MODELS = (BASELINE, STUDENT, SELF, *RIVALS)
FOLDS, TEST = 5, -1
LOSS, AUC = Score("logloss", maximised=False), Score("auc", maximised=True)
KEYS = ["set", "labels", "draw"]
Rows = tuple[Any, list[str], Any, list[str], Any]
Leads = dict[str, Interval]
Rule = Callable[[pd.DataFrame, Any], str]


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
        found[model] = np.full(ROUNDS, part.score_of(mean, score))
    return found


def cell(name: str, labels: int, draw: int) -> list[dict[str, Any]]:
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
            lines.append({"set": name, "labels": labels, "draw": draw, **line})
    return lines


def leads_over(folds: pd.DataFrame, other: str) -> Leads:
    """How far each model is ahead of another on the same folds."""
    scores = folds.pivot(index=["repeat", "fold"], columns="model", values="logloss")
    return {model: corrected_interval((scores[other] - scores[model]).to_numpy(), 1 / (FOLDS - 1)) for model in MODELS}


def replaced_if_ahead(start: str, bar: float) -> Rule:
    def rule(folds: pd.DataFrame, others: Any) -> str:
        leads = leads_over(folds, start)
        best = max(leads, key=lambda model: leads[model].mean)
        return best if leads[best].mean > bar * leads[best].error else start

    return rule


def shrunk(folds: pd.DataFrame, others: Any) -> str:
    """The best lead over the student after shrinking; ``others`` has mean and variance of leads on other sets."""
    leads = leads_over(folds, STUDENT)

    def posterior(model: str) -> float:
        if model == STUDENT:
            return 0.0
        mean, variance = others[model]
        error = max(leads[model].error, 1e-9)
        return (leads[model].mean / error**2 + mean / variance) / (1 / error**2 + 1 / variance)

    return max(MODELS, key=posterior)


OTHERS = len(MODELS) - 1
RULES: dict[str, Rule] = {
    "plain unless 0.5 s.e. (old)": replaced_if_ahead(BASELINE, 0.5),
    "best mean": replaced_if_ahead(STUDENT, 0.0),
    "student unless chance 0.2": replaced_if_ahead(STUDENT, float(ndtri(1 - 0.2 / OTHERS))),
    "student unless chance 0.05": replaced_if_ahead(STUDENT, float(ndtri(1 - 0.05 / OTHERS))),
    "student unless 1 s.e.": replaced_if_ahead(STUDENT, 1.0),
    "shrunk to other sets": shrunk,
}


def chosen_by_rules(scores: pd.DataFrame) -> pd.DataFrame:
    """For each cell and policy, the test scores of the model that it deploys."""
    test = scores[scores["fold"] == TEST].set_index([*KEYS, "model"])[["logloss", "auc"]]
    lines = []
    for (name, labels, draw), part in scores[scores["fold"] != TEST].groupby(KEYS):
        ahead = test["logloss"].unstack("model")
        ahead = -ahead.sub(ahead[STUDENT], axis=0)
        elsewhere = ahead[
            (ahead.index.get_level_values("set") != name) & (ahead.index.get_level_values("labels") == labels)
        ]
        by_set = elsewhere.groupby("set").mean()
        prior = {model: (by_set[model].mean(), by_set[model].var() + 1e-9) for model in MODELS}
        policies = {f"always {model}": model for model in MODELS}
        policies |= {name_of_rule: rule(part, prior) for name_of_rule, rule in RULES.items()}
        for policy, model in policies.items():
            own = test.loc[(name, labels, draw, model)]
            lines.append({"set": name, "labels": labels, "draw": draw, "policy": policy, "model": model, **own})
    return pd.DataFrame(lines)


def left_out(chosen: pd.DataFrame) -> pd.DataFrame:
    """The rule that is best on all other sets, on each set."""
    rules = chosen[chosen["policy"].isin(RULES)]
    parts = []
    for name in rules["set"].unique():
        best = rules[rules["set"] != name].groupby("policy")["logloss"].mean().idxmin()
        parts.append(rules[(rules["set"] == name) & (rules["policy"] == best)].assign(policy="best rule on other sets"))
    return pd.concat([chosen, *parts])


def table(scores: pd.DataFrame) -> str:
    chosen = left_out(chosen_by_rules(scores))
    even, odd = (chosen[chosen["draw"] % 2 == part] for part in (0, 1))
    fixed = even[even["policy"].str.startswith("always")].groupby("policy")["logloss"].mean().idxmin()
    groups = {"public": list(SETS), **{name: [name] for name in MADE}}
    columns = {}
    for group, names in groups.items():
        for labels in LABELS:
            part = odd[odd["set"].isin(names) & (odd["labels"] == labels)]
            means = part.groupby("policy")[["logloss", "auc"]].mean()
            columns[group, labels, "logloss"] = means["logloss"] - means["logloss"].get(fixed, np.nan)
            columns[group, labels, "auc"] = means["auc"].get(fixed, np.nan) - means["auc"]
    draws = scores.groupby("set")["draw"].nunique().to_dict()
    regrets = pd.DataFrame(columns).reindex([*[f"always {m}" for m in MODELS], *RULES, "best rule on other sets"])
    text = f"Regret against the fixed policy that is best on even draws ({fixed}), on odd draws. Draws: {draws}\n"
    return text + regrets.round(4).to_string()


def missing(path: Path, draws: int) -> Iterator[tuple[str, int, int]]:
    done = set() if not path.exists() else set(map(tuple, pd.read_csv(path)[KEYS].drop_duplicates().to_numpy()))
    for draw in range(draws):
        for name in (*SETS, *MADE):
            for labels in LABELS:
                if (name, labels, draw) not in done:
                    yield name, labels, draw


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--draws", type=int, default=4)
    parser.add_argument("--out", type=Path, default=FOLDER / "results" / "policy.csv")
    parser.add_argument("--table", action="store_true")
    parser.add_argument("--smoke", action="store_true", help="one made cell, which is printed")
    arguments = parser.parse_args()
    if arguments.smoke:
        print(pd.DataFrame(cell(MADE[0], LABELS[0], 0)))
        return
    if not arguments.table:
        warnings.simplefilter("ignore")
        for name, labels, draw in missing(arguments.out, arguments.draws):
            lines = pd.DataFrame(cell(name, labels, draw))
            lines.to_csv(arguments.out, mode="a", header=not arguments.out.exists(), index=False)
            print(name, labels, draw, flush=True)
    print(table(pd.read_csv(arguments.out)))


if __name__ == "__main__":
    main()
