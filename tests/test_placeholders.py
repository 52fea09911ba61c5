"""Rows without a label: whatever number stands in its place, nothing that comes back depends on it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
import xgboost as xgb
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import pi_xgb

N, ROUNDS = 72, 2
N_CLASSES = {"binary:logistic": 2, "multi:softprob": 3}
OBJECTIVES = [*N_CLASSES, "reg:squarederror", "count:poisson", "reg:absoluteerror"]
NEEDS_MEANS = ("forest", "jpib")
"""What a median cannot have: a teacher of means, and one that learns beside its student."""
GENERATED = settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
CASES = st.fixed_dictionaries(
    {
        "objective": st.sampled_from(OBJECTIVES),
        "tree_method": st.sampled_from(["hist", "approx", "exact"]),
        "engine": st.sampled_from(["auto", "callback", "native"]),
        "how": st.sampled_from(["q", "boosted", "crossfit", "forest", "jpib"]),
        "kl_weight": st.sampled_from([0.0, 0.7]),
        "weighted": st.booleans(),
        "counted": st.booleans(),
        "share": st.sampled_from([0.3, 0.6, 0.9]),
        "seed": st.integers(0, 10**6),
    }
).filter(lambda case: not (case["objective"] == "reg:absoluteerror" and case["how"] in NEEDS_MEANS))


class Rows:
    """Two tables, labels of which some are unknown, and the keywords of a guided training."""

    def __init__(self, case: dict[str, Any]) -> None:
        self.case, self.objective = case, case["objective"]
        self.rng = rng = np.random.default_rng(case["seed"])
        self.x, self.z = rng.normal(size=(N, 3)), rng.normal(size=(N, 2))
        self.n_classes = N_CLASSES.get(self.objective, 0)
        self.y = self.labels()
        self.labelled = rng.random(N) < case["share"]
        self.labelled[:12] = True
        self.y[:12] = np.arange(12) % (self.n_classes or 3)
        self.weight = rng.uniform(0.2, 3, N) if case["weighted"] else None
        self.counts = rng.choice([0.25, 1.0, 2.0], N)
        self.q = rng.dirichlet(np.ones(3), N) if self.n_classes == 3 else rng.random(N)
        # Fewer bins than values, so that another row or weight would move the cuts.
        self.params = {"objective": self.objective, "tree_method": case["tree_method"], "max_bin": 4, "max_depth": 2}
        self.params |= {"nthread": 1} | ({"num_class": 3} if self.n_classes == 3 else {})

    def labels(self) -> np.ndarray:
        if self.n_classes:
            return self.rng.integers(0, self.n_classes, N).astype(float)
        return self.rng.integers(0, 9, N).astype(float)

    def matrix(self, table: np.ndarray, label: np.ndarray, rows: Any = slice(None)) -> xgb.DMatrix:
        return xgb.DMatrix(table[rows], label[rows], weight=None if self.weight is None else self.weight[rows])

    def told(self, label: np.ndarray, rows: Any = slice(None)) -> dict[str, Any]:
        """Return all that is said of these rows."""
        how = self.case["how"]
        told = {"kl_weight": self.case["kl_weight"], "labelled": self.labelled[rows]}
        told |= {"teacher_weight": self.counts[rows]} if self.case["counted"] else {}
        if how == "q":
            return told | {"teacher": self.q[rows]}
        told |= {"privileged": self.matrix(self.z, label, rows), "method": "jpib" if how == "jpib" else "kbpib"}
        return told | {"crossfit": {"crossfit": 2}, "forest": {"crossfit": 2, "teacher": "forest"}}.get(how, {})


def own_metric(prediction: np.ndarray, matrix: xgb.DMatrix) -> tuple[str, float]:
    label = matrix.get_label()
    return "own", float(np.sum(prediction.reshape(len(label), -1)[:, 0] * (label + 1)))


def what_comes_back(rows: Rows, label: np.ndarray) -> Iterator[Any]:
    """Yield histories, teachers and the model as bytes."""
    dtrain, keywords, log = rows.matrix(rows.x, label), rows.told(label), {}
    table = pi_xgb.cv(rows.params, dtrain, ROUNDS, custom_metric=own_metric, seed=1, **keywords)
    yield [*table.columns], table.to_numpy().tobytes()
    if rows.case["how"] in ("boosted", "crossfit"):
        guided = {"labelled": rows.labelled, "crossfit": keywords.get("crossfit", 0)}
        yield pi_xgb.fit_teacher(rows.params, keywords["privileged"], ROUNDS, **guided).values.tobytes()
    watched = {"evals": [(rows.matrix(rows.x, label, np.flatnonzero(rows.labelled)), "known")], "evals_result": log}
    watched |= {"verbose_eval": False, "custom_metric": own_metric, "engine": rows.case["engine"]}
    try:
        yield bytes(pi_xgb.train(rows.params, dtrain, ROUNDS, **watched, **keywords).save_raw())
    except ValueError as error:
        if "not be exact" not in str(error):
            raise
        yield str(error)
    yield repr(log)


@pytest.mark.slow
@GENERATED
@given(CASES)
def test_nothing_depends_on_a_label_that_is_not_known(case):
    rows = Rows(case)
    other = np.where(rows.labelled, rows.y, rows.labels())
    for item, another in zip(what_comes_back(rows, rows.y), what_comes_back(rows, other), strict=True):
        assert item == another


@pytest.mark.slow
@GENERATED
@given(CASES)
def test_every_fold_is_a_training_of_its_own_rows(case):
    rows, known = Rows(case), Rows(case).labelled
    fold_of = np.where(known, (np.cumsum(known) - 1) // 6 % 2, -1)  # every class twice in each, or more often
    folds = [(np.flatnonzero(fold_of == 1 - k), np.flatnonzero(fold_of == k)) for k in range(2)]
    table = pi_xgb.cv(rows.params, rows.matrix(rows.x, rows.y), ROUNDS, folds=folds, **rows.told(rows.y))
    logs = []
    for rest, out in folds:
        # With a teacher the rows without a label take part; without one XGBoost never meets them.
        own, log = np.concatenate([rest, np.flatnonzero(~known)]), {}
        evals = [(rows.matrix(rows.x, rows.y, part), name) for part, name in ((rest, "train"), (out, "test"))]
        watched = {"evals": evals, "evals_result": log, "verbose_eval": False}
        if case["kl_weight"]:
            pi_xgb.train(rows.params, rows.matrix(rows.x, rows.y, own), ROUNDS, **watched, **rows.told(rows.y, own))
        else:
            xgb.train(rows.params, rows.matrix(rows.x, rows.y, rest), ROUNDS, **watched)
        logs.append([next(iter(log[name].values())) for name in ("train", "test")])
    expected = np.mean(logs, axis=0)
    for i, name in enumerate(("train", "test")):
        column = next(column for column in table if column.startswith(name) and column.endswith("mean"))
        np.testing.assert_allclose(table[column], expected[i], rtol=1e-5)
