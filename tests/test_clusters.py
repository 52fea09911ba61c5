"""One matrix of trainings on XGBoost's communicator, Dask and Spark: the model is that of one machine."""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import importlib
import os
import pickle
import warnings
from typing import Any
from unittest import mock

import numpy as np
import pandas as pd
import pytest
import xgboost as xgb
from helpers_distributed import CUTS, N_ROWS, on_workers, results_of_workers, rows, started
from sklearn.ensemble import RandomForestClassifier
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.pipeline import make_pipeline

import pi_xgb
from pi_xgb._core.learners import forest, gathered
from pi_xgb._rows.folds import deal_folds
from pi_xgb.constraints import DemographicParity

ROUNDS = 6
PARAMS = {"objective": "binary:logistic", "max_depth": 3, "tree_method": "hist", "nthread": 1}
X_NAMES, Z_NAMES = [f"x{i}" for i in range(5)], ["z0", "z1"]
CLUSTERS = ("workers", "dask", "spark")


@functools.cache
def columns() -> dict[str, np.ndarray]:
    """The rows of all cases. Of two workers the first has no ``labelled`` row; all have some of ``labels_of_first``."""
    x, z, y, weight, q = rows()
    row, amount = np.arange(N_ROWS), z.sum(axis=1)
    some = np.random.default_rng(3).random(N_ROWS) < 0.4
    return {
        **{"x": x, "z": z, "y": y, "weight": weight, "q": q, "group": (x[:, 0] > 5).astype(int), "qid": row // 10},
        "kinds": (amount // 9).clip(0, 2),
        "amount": amount / 8,
        "two": np.column_stack([amount, x[:, 0] - z[:, 1]]),
        "lower": amount,
        "upper": np.where(row % 3, amount, np.inf).astype(np.float32),
        "labelled": some & (row >= 180),
        "labels_of_first": some | (row < 180),
        "labels_by_query": row // 10 % 3 > 0,
        "teacher_weight": np.random.default_rng(4).choice([0.5, 1.0, 2.0], N_ROWS),
        "base_margin": np.log(1 + x[:, 4] % 3),
    }


@dataclasses.dataclass
class Case:
    """A training: its label, params and keywords, what it is told of each row, and where it is possible."""

    label: str = "y"
    params: dict[str, Any] = dataclasses.field(default_factory=dict)
    keywords: dict[str, Any] = dataclasses.field(default_factory=dict)
    by_row: tuple[str, ...] = ()
    labelled: str | None = None
    given: str | None = None
    """A teacher with values per row, in place of privileged columns."""
    is_exact: bool = False
    """Whether the model is equal to the bit; else sums of fractions depend on the order of workers."""
    clusters: tuple[str, ...] = CLUSTERS


# Spark has each kind of column and estimator, but not each kind of teacher: its tasks run what the workers run.
NOT_SPARK = CLUSTERS[:2]
UNLABELLED = {"by_row": ("teacher_weight",), "labelled": "labelled"}
COUNTS, EXPOSED = {"objective": "count:poisson"}, ("base_margin",)
RANKS = {"params": {"objective": "rank:ndcg", "ndcg_exp_gain": False}, "keywords": {"kl_weight": 1.0}}
JPIB, NATIVE = {"method": "jpib"}, {"engine": "native"}
CASES = {
    "kbpib weighted": Case(by_row=("weight",), is_exact=True),
    "kbpib native": Case(keywords=NATIVE, is_exact=True, clusters=NOT_SPARK),
    "jpib weighted": Case(keywords=JPIB, by_row=("weight",), is_exact=True, clusters=NOT_SPARK),
    "jpib of three classes": Case("kinds", {"objective": "multi:softprob", "num_class": 3}, JPIB),
    "teacher that sees all": Case(keywords={"teacher_sees": "all", "crossfit": 0}, clusters=NOT_SPARK),
    "teacher with params": Case(keywords={"teacher_params": {"max_depth": 2, "max_bin": 64}}, clusters=NOT_SPARK),
    "unlabelled kbpib": Case(**UNLABELLED),
    "unlabelled kbpib native": Case(keywords=NATIVE, **UNLABELLED),
    "unlabelled on other workers": Case(by_row=("teacher_weight",), labelled="labels_of_first", clusters=NOT_SPARK),
    "unlabelled, without weight": Case(keywords={"kl_weight": 0.0}, labelled="labelled", clusters=("workers",)),
    "weighted teacher": Case(by_row=("teacher_weight",)),
    "q native": Case(keywords=NATIVE, given="q", is_exact=True, clusters=NOT_SPARK),
    "q unlabelled": Case(given="q", clusters=NOT_SPARK, **UNLABELLED),
    "list": Case(given="list", labelled="labelled", clusters=NOT_SPARK),
    "constraint": Case(given="constraint", clusters=NOT_SPARK, **UNLABELLED),
    "boosted beside a constraint": Case(given="beside", is_exact=True, clusters=NOT_SPARK),
    "forest": Case(keywords={"teacher": "forest", "crossfit": 0}, clusters=NOT_SPARK),
    "forest unlabelled": Case(keywords={"teacher": "forest", "crossfit": 0}, labelled="labelled", clusters=NOT_SPARK),
    "forest of counts": Case("amount", COUNTS, {"teacher": "forest", "crossfit": 0}, EXPOSED, clusters=NOT_SPARK),
    "counts with exposures": Case("amount", COUNTS, by_row=EXPOSED),
    "numbers": Case("amount", {"objective": "reg:squarederror"}, clusters=NOT_SPARK),
    "two targets": Case("two", {"objective": "reg:squarederror"}, clusters=NOT_SPARK),
    "copies": Case("amount", {"objective": "reg:squaredlogerror"}, clusters=NOT_SPARK),
    "copies unlabelled": Case("amount", {"objective": "reg:squaredlogerror"}, **UNLABELLED),
    "ranking": Case("kinds", by_row=("qid",), **RANKS),
    "ranking unlabelled": Case("kinds", by_row=("qid",), labelled="labels_by_query", **RANKS),
    "survival": Case("bounds", {"objective": "survival:aft"}, clusters=NOT_SPARK),
}  # fmt: skip


def fields_of(case: Case) -> dict[str, np.ndarray]:
    """The arguments of the matrices, for all rows; labels that nobody may read are 0."""
    every = columns()
    fields = {name: every[name] for name in ("weight", "base_margin", "qid") if name in case.by_row}
    if case.label == "bounds":
        return fields | {"label_lower_bound": every["lower"], "label_upper_bound": every["upper"]}
    label = every[case.label]
    return fields | {"label": label if case.labelled is None else np.where(every[case.labelled], label, 0)}


def keywords_of(case: Case, of_rows: Any, by_column: Any = DemographicParity) -> dict[str, Any]:
    """The teaching keywords; ``of_rows`` makes what a training takes of a column."""
    own = {"kl_weight": 2.0, **case.keywords}
    own |= {name: of_rows(columns()[name]) for name in ("teacher_weight",) if name in case.by_row}
    own |= {} if case.labelled is None else {"labelled": of_rows(columns()[case.labelled])}
    if case.given in ("list", "beside"):
        del own["kl_weight"]
    q, group, counts = (functools.partial(of_rows, columns()[n]) for n in ("q", "group", "teacher_weight"))
    given = {
        None: lambda: {"teacher": case.keywords.get("teacher", "boosted")},
        "q": lambda: {"teacher": q()},
        "list": lambda: {"teacher": [(q(), 1.5), (q(), counts())]},
        "constraint": lambda: {"teacher": by_column(group())},
        "beside": lambda: {"teacher": [("boosted", 1.5), (by_column(group()), 3.0)]},
    }
    return own | given[case.given]()


def sees_privileged(case: Case) -> bool:
    return case.given in (None, "beside")


def training(name: str, start: int = 0, end: int = N_ROWS) -> xgb.Booster:
    """``pi_xgb.train`` on some of the rows, or on all."""
    case = CASES[name]
    part = {key: values[start:end] for key, values in fields_of(case).items()}
    dtrain = xgb.DMatrix(columns()["x"][start:end], **part)
    keywords = keywords_of(case, lambda values: values[start:end])
    if sees_privileged(case):
        keywords["privileged"] = xgb.DMatrix(columns()["z"][start:end], **part)
    with mock.patch.dict(forest._PARAMS, subsample=1.0):  # else each worker draws rows of its own
        return pi_xgb.train({**PARAMS, **case.params}, dtrain, ROUNDS, verbose_eval=False, **keywords)


on_one_machine = functools.cache(training)


def assert_same_model(booster: xgb.Booster, name: str) -> None:
    expected, test = on_one_machine(name), xgb.DMatrix(columns()["x"], feature_names=X_NAMES)
    found = booster.copy()
    for model in (found, expected):
        model.feature_names = X_NAMES
    margins = [model.predict(test, output_margin=True) for model in (found, expected)]
    if CASES[name].is_exact:
        dumps = [model.get_dump(with_stats=True, dump_format="json") for model in (found, expected)]
        assert dumps[0] == dumps[1]
        np.testing.assert_array_equal(*margins)
    np.testing.assert_allclose(*margins, rtol=1e-4, atol=1e-4)
    assert found.attributes() == expected.attributes()
    assert len(np.unique(margins[1])) > 3


def of(cluster: str, fast: tuple[str, ...] = ()) -> Any:
    """The cases of a cluster; all but the ``fast`` ones are slow."""
    names = [name for name, case in CASES.items() if cluster in case.clusters]
    return pytest.mark.parametrize(
        "name", [pytest.param(n, marks=[] if n in fast else pytest.mark.slow) for n in names]
    )


def test_the_cases_differ() -> None:
    # A keyword that nobody reads would give one model for several cases.
    models = [
        on_one_machine(name).predict(xgb.DMatrix(columns()["x"])).tobytes() for name in CASES if "native" not in name
    ]
    assert len(set(models)) == len(models)


def student_of_folds(parts: list[np.ndarray], rounds: int, known: Any, groups: Any, crossfit: int) -> np.ndarray:
    """Predictions of the student where each of ``parts``, the rows of a worker, is dealt to folds by itself."""
    x, z, y = (columns()[name] for name in ("x", "z", "y"))
    fold = np.full(N_ROWS, -1)
    for part in parts:
        own = part[known[part]]
        dealt = deal_folds(y[own], crossfit, 0, groups[own], classes=True)
        for k in range(crossfit):
            fold[np.isin(groups, groups[own[dealt == k]])] = k
    predictions = []
    for k in range(crossfit):
        seen = known & (fold != k)
        teacher = xgb.train(PARAMS, xgb.DMatrix(z[seen], y[seen]), rounds)
        predictions.append(teacher.predict(xgb.DMatrix(z)))
    # A row of no labelled group is predicted by all models.
    q = np.mean(predictions, axis=0)
    for k in range(crossfit):
        q[fold == k] = predictions[k][fold == k]
    dtrain = xgb.DMatrix(x, np.where(known, y, 0))
    student = pi_xgb.train(PARAMS, dtrain, rounds, teacher=q, kl_weight=2.0, labelled=known)
    return student.predict(xgb.DMatrix(x))


KNOWN = np.arange(N_ROWS) % 5 < 2
CROSSFIT = {"teacher": "boosted", "crossfit": 2, "kl_weight": 2.0}


# --- Teachers that XGBoost does not train: one worker gathers the labelled rows -------------------------------------

N_MANY = 8_000
FOREST = RandomForestClassifier(20, min_samples_leaf=3, random_state=0)


@functools.cache
def many() -> dict[str, np.ndarray]:
    """Many rows, 200 of them with a label. Of two workers the first has half of the labels, all, or none."""
    rng = np.random.default_rng(1)
    x = rng.integers(0, 12, (N_MANY, 5)).astype(np.float32)
    z = x[:, :2] + rng.normal(0, 3, (N_MANY, 2)).astype(np.float32)
    row, total = np.arange(N_MANY), z.sum(axis=1)
    some = np.zeros(N_MANY, bool)
    some[rng.choice(N_MANY, 200, replace=False)] = True
    z[rng.random(N_MANY) < 0.1, 1] = np.nan
    return {
        **{"x": x, "z": z, "y": (total + rng.normal(0, 3, N_MANY) > 11).astype(np.float32)},
        "kinds": np.where(row < 2_000, 2, total > 11).astype(np.float32),
        "amount": np.maximum(np.round(total / 4), 0),
        "sex": row % 2,
        "weight": rng.integers(1, 4, N_MANY).astype(np.float32),
        "base_margin": np.log(1 + x[:, 4] % 3),
        "teacher_weight": rng.choice([0.5, 1.0], N_MANY),
        "crossfit_groups": row % 50,
        "labelled": some,
        "first": np.isin(row, np.flatnonzero(row < 3_000)[:200]),
        "last": np.isin(row, np.flatnonzero(row >= 3_000)[:200]),
    }


THREE = {"objective": "multi:softprob", "num_class": 3}
GATHERED = {
    "mixed": Case(keywords={"teacher": "mixed"}),
    "linear": Case(keywords={"teacher": "linear"}, clusters=NOT_SPARK),
    "estimator": Case(keywords={"teacher": FOREST}, clusters=NOT_SPARK),
    "labels of one worker": Case(keywords={"teacher": "mixed"}, labelled="first"),
    "labels of the other": Case(keywords={"teacher": FOREST, "crossfit": 0}, labelled="last", clusters=NOT_SPARK),
    "groups on all workers": Case(keywords={"teacher": "linear", "crossfit": 4}, by_row=("crossfit_groups",)),
    "weights": Case(keywords={"teacher": "linear"}, by_row=("weight", "teacher_weight")),
    "privileged columns alone": Case(keywords={"teacher": "linear", "teacher_sees": "privileged"}, clusters=NOT_SPARK),
    "a class of one worker": Case("kinds", THREE, {"teacher": "mixed"}),
    "counts": Case("amount", COUNTS, {"teacher": "mixed"}, EXPOSED),
    "numbers": Case(
        "amount",
        {"objective": "reg:squarederror"},
        {"teacher": make_pipeline(SimpleImputer(), LinearRegression())},
        clusters=NOT_SPARK,
    ),
    "several": Case(keywords={"teacher": [("linear", 1.0), (FOREST, 0.5)]}),
    "beside a constraint": Case(keywords={"teacher": [("linear", 1.0), ("constraint", 2.0)]}, clusters=NOT_SPARK),
}


def gathered_fields(case: Case) -> dict[str, np.ndarray]:
    every, known = many(), many()[case.labelled or "labelled"]
    fields = {name: every[name] for name in ("weight", "base_margin") if name in case.by_row}
    return fields | {"label": np.where(known, every[case.label], 0)}


def gathered_keywords(case: Case, of_rows: Any, by_column: Any = DemographicParity) -> dict[str, Any]:
    names = [name for name in ("teacher_weight", "crossfit_groups") if name in case.by_row]
    own = case.keywords | {"labelled": of_rows(many()[case.labelled or "labelled"])}
    if "constraint" in str(own["teacher"]):
        own["teacher"] = [("linear", 1.0), (by_column(of_rows(many()["sex"])), 2.0)]
    weight = {} if isinstance(own["teacher"], list) else {"kl_weight": 2.0}
    return own | weight | {name: of_rows(many()[name]) for name in names}


def gathered_training(name: str, rows: np.ndarray) -> xgb.Booster:
    case = GATHERED[name]
    part = {key: values[rows] for key, values in gathered_fields(case).items()}
    dtrain, privileged = (xgb.DMatrix(many()[columns][rows], **part) for columns in ("x", "z"))
    keywords = gathered_keywords(case, lambda values: values[rows])
    return pi_xgb.train({**PARAMS, **case.params}, dtrain, ROUNDS, privileged=privileged, **keywords)


def teacher_values(name: str, rows: np.ndarray) -> np.ndarray:
    """q of these rows from a teacher that sees all columns."""
    case, every = GATHERED[name], many()
    matrix = xgb.DMatrix(np.hstack([every["x"], every["z"]])[rows], gathered_fields(case)["label"][rows])
    own = {"teacher": case.keywords["teacher"], "labelled": every["labelled"][rows]}
    return pi_xgb.fit_teacher(PARAMS, matrix, ROUNDS, **own).values


def in_order_of_values(name: str) -> np.ndarray:
    """All rows; those with a label sorted by their values, then shuffled, as the worker that gathers them has them."""
    case, every = GATHERED[name], many()
    known = np.flatnonzero(every[case.labelled or "labelled"])
    columns = ["z"] if case.keywords.get("teacher_sees") else ["x", "z"]
    values = np.column_stack([*(every[column][known] for column in columns), every[case.label][known]])
    known = known[np.lexsort(values.T[::-1])][np.random.default_rng(0).permutation(len(known))]
    return np.append(known, np.setdiff1d(np.arange(N_MANY), known))


@functools.cache
def gathered_on_one_machine(name: str) -> xgb.Booster:
    return gathered_training(name, in_order_of_values(name))


def assert_taught_alike(booster: xgb.Booster, name: str) -> None:
    expected, test = gathered_on_one_machine(name), xgb.DMatrix(many()["x"], feature_names=X_NAMES)
    found = booster.copy()
    for model in (found, expected):
        model.feature_names = X_NAMES
    predicted = [model.predict(test) for model in (found, expected)]
    np.testing.assert_allclose(*predicted, rtol=1e-4, atol=1e-5)
    if name in ("mixed", "linear", "estimator"):
        scores = [roc_auc_score(many()["y"], p) for p in predicted]
        assert abs(scores[0] - scores[1]) < 0.002
        assert scores[1] > 0.8
    assert found.attributes() == expected.attributes()


def gathered_on(cluster: str) -> Any:
    return pytest.mark.parametrize("name", [name for name, case in GATHERED.items() if cluster in case.clusters])


def gathered_here(n_workers: int, start: int, end: int) -> bytes:
    rows = np.arange(start, end)
    models = {name: bytes(gathered_training(name, rows).save_raw("json")) for name in GATHERED}
    return pickle.dumps((models, {name: teacher_values(name, rows) for name in ("mixed", "linear", "estimator")}))


@pytest.fixture(scope="module")
def gathered_answers() -> Any:
    outcomes = on_workers(gathered_here, 2, [0, 3_000, N_MANY])
    assert [kind for kind, _ in outcomes] == ["done"] * 2, outcomes
    return [pickle.loads(answer) for _, answer in outcomes]


@pytest.mark.slow
@gathered_on("workers")
def test_a_gathered_teacher_teaches_on_workers_as_on_one_machine(gathered_answers: Any, name: str) -> None:
    models = [models[name] for models, _ in gathered_answers]
    assert models[0] == models[1]
    assert_taught_alike(xgb.Booster(model_file=bytearray(models[0])), name)


def ranked(rows: np.ndarray) -> np.ndarray:
    """q of the rows of queries from an estimator."""
    matrix = xgb.DMatrix(many()["x"][rows], many()["amount"][rows] % 4, qid=np.arange(len(rows)) // 10)
    params = {"objective": "rank:ndcg", "ndcg_exp_gain": False, "nthread": 1}
    return pi_xgb.fit_teacher(params, matrix, teacher=LinearRegression(), crossfit=3).values


def ranked_here(n_workers: int, start: int, end: int) -> bytes:
    return pickle.dumps(ranked(np.arange(start, end)))


def test_an_estimator_ranks_the_queries_of_all_workers_as_on_one_machine() -> None:
    found = np.concatenate([pickle.loads(answer) for _, answer in on_workers(ranked_here, 2, [0, 150, 600])])
    # In the order of the workers' ranks, which may be either.
    orders = [np.roll(np.arange(600), -first) for first in (0, 150)]
    assert any(np.allclose(found, ranked(order)[np.argsort(order)], atol=1e-6) for order in orders)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["mixed", "linear", "estimator"])
def test_a_gathered_teacher_predicts_every_row_as_on_one_machine(gathered_answers: Any, name: str) -> None:
    found, order = np.concatenate([values[name] for _, values in gathered_answers]), in_order_of_values(name)
    np.testing.assert_allclose(found[order], teacher_values(name, order), atol=1e-6)


@pytest.mark.slow
@gathered_on("dask")
def test_a_gathered_teacher_teaches_on_dask_as_on_one_machine(client: Any, name: str) -> None:
    pid, spread = importlib.import_module("pi_xgb.dask"), importlib.import_module("helpers_dask").spread
    case, spread = GATHERED[name], functools.partial(spread, chunks=(1_000, 3_500, 500, 3_000))
    fields = {key: spread(values) for key, values in gathered_fields(case).items()}
    dtrain, privileged = (pid.DaskDMatrix(client, spread(many()[columns]), **fields) for columns in ("x", "z"))
    keywords = gathered_keywords(case, spread, functools.partial(pid.by_column, DemographicParity))
    params = {**PARAMS, **case.params}
    booster = pid.train(client, params, dtrain, ROUNDS, privileged=privileged, verbose_eval=False, **keywords)
    assert_taught_alike(booster["booster"], name)


# --- XGBoost's communicator: real processes, two of them and three -----------------------------------------------


def groups_of(parts: list[np.ndarray]) -> np.ndarray:
    """Groups of four rows, each on one worker."""
    home = np.empty(N_ROWS, int)
    for number, part in enumerate(parts):
        home[part] = number
    return home * 1000 + np.arange(N_ROWS) // 4


def rows_of_workers(n_workers: int) -> list[np.ndarray]:
    return np.split(np.arange(N_ROWS), CUTS[n_workers][1:-1])


def crossfitted(n_workers: int, start: int, end: int) -> np.ndarray:
    x, z, y = (columns()[name][start:end] for name in ("x", "z", "y"))
    groups, label = groups_of(rows_of_workers(n_workers))[start:end], np.where(KNOWN[start:end], y, 0)
    rowwise = {"labelled": KNOWN[start:end], "crossfit_groups": groups}
    privileged = xgb.DMatrix(z, label)
    booster = pi_xgb.train(PARAMS, xgb.DMatrix(x, label), 3, privileged=privileged, **rowwise, **CROSSFIT)
    return booster.predict(xgb.DMatrix(columns()["x"]))


ON_ALL = {
    "no label anywhere": "no row with a label",
    "one class everywhere": "of the class 1",
    "no weights": "all 0, on every worker",
    "inexact engine": "teachers that differ from row to row",
    "torn groups": "got 7 that do",
    "too many labels": "at most 50 labelled rows in a distributed training, got",
    "too many labels in a list": "use teacher='boosted'",
    "too many folds": "crossfit must be 0 (the teacher sees every row) or between 2 and the",
    "a failing estimator": "of this estimator",
}
ON_LAST = {
    "short q": "q of the teacher has",
    "no rows": "no rows on this worker",
    "short mask": "one value for each",
    "negative weight": "from 0 to",
    "few labels": "from which a teacher learns. Each worker deals its own rows",
    "few groups": "crossfit of 3 needs as many groups",
}


class Failing(LogisticRegression):
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
        raise RuntimeError("of this estimator")


def error_of(fault: str, start: int, end: int) -> str | None:
    """The error of a training where something is wrong on the last worker alone, or on all together."""
    x, z, y, weight, q, known = (columns()[n][start:end] for n in ("x", "z", "y", "weight", "q", "labels_of_first"))
    last, row = end == N_ROWS, np.arange(start, end)
    if fault == "no rows" and last:
        x, z, y, q, known = x[:0], z[:0], y[:0], q[:0], known[:0]
    keywords = {
        "no rows": {},
        "no weights": {},
        "short q": {"teacher": q[: len(q) - last], "privileged": None},
        "no label anywhere": {"labelled": np.zeros(len(row), bool)},
        "one class everywhere": {"labelled": known & (y == 1) if fault == "one class everywhere" else None},
        "an own class each": {"labelled": (y == last) if fault == "an own class each" else None},
        "short mask": {"labelled": known[: len(row) - last]},
        "negative weight": {"teacher_weight": np.where(last & (row % 2 == 0), -1.0, 1.0)},
        "few labels": {"labelled": known[: len(row)] & ~last, "crossfit": 3},
        "few groups": {"crossfit": 3, "crossfit_groups": row // N_ROWS if last else row},
        "torn groups": {"crossfit": 3, "crossfit_groups": row % 7},
        "inexact engine": {"labelled": known, "engine": "native"},
        "too many labels": {"teacher": "linear", "labelled": known},
        "too many labels in a list": {"teacher": [("linear", 1.0), (LogisticRegression(), 2.0)], "labelled": known},
        "too many folds": {"teacher": "linear", "labelled": known & (row[: len(known)] % 30 == 0), "crossfit": 30},
        "a failing estimator": {"teacher": Failing(), "labelled": known & (row[: len(known)] % 30 == 0)},
    }[fault]
    params = {**PARAMS, "tree_method": "approx"} if fault == "inexact engine" else PARAMS
    dtrain = xgb.DMatrix(x, y, weight=np.zeros_like(weight) if fault == "no weights" else None)
    keywords = {"privileged": xgb.DMatrix(z, y), "teacher": "boosted", **keywords}
    try:
        with mock.patch.object(gathered, "MOST_LABELLED", 50):
            pi_xgb.train({**params, "base_score": 0.5}, dtrain, 2, **keywords)
    except (ValueError, TypeError, RuntimeError) as error:
        return str(error)
    return None


def everything(n_workers: int, start: int, end: int) -> bytes:
    """All of it in one group of workers, since starting them takes the time."""
    boosters = {name: training(name, start, end) for name, case in CASES.items() if "workers" in case.clusters}
    return pickle.dumps(
        {
            "models": {name: bytes(booster.save_raw("json")) for name, booster in boosters.items()},
            "crossfitted": crossfitted(n_workers, start, end),
            "faults": {fault: error_of(fault, start, end) for fault in (*ON_ALL, *ON_LAST, "an own class each")},
        }
    )


@pytest.fixture(scope="module")
def answers() -> Any:
    return results_of_workers(everything)


@of("workers")
@pytest.mark.parametrize("n_workers", CUTS)
def test_workers_train_the_model_of_one_machine(answers: Any, n_workers: int, name: str) -> None:
    models = [answer["models"][name] for answer in answers[n_workers]]
    assert len(set(models)) == 1
    assert_same_model(xgb.Booster(model_file=bytearray(models[0])), name)


@pytest.mark.slow
@pytest.mark.parametrize("n_workers", CUTS)
def test_workers_deal_their_own_rows_to_folds(answers: Any, n_workers: int) -> None:
    parts = rows_of_workers(n_workers)
    expected = student_of_folds(parts, 3, KNOWN, groups_of(parts), 2)
    for answer in answers[n_workers]:
        np.testing.assert_allclose(answer["crossfitted"], expected, atol=1e-5)


@pytest.mark.slow
@pytest.mark.parametrize("fault", [*ON_ALL, *ON_LAST])
@pytest.mark.parametrize("n_workers", CUTS)
def test_a_fault_is_an_error_on_every_worker(answers: Any, n_workers: int, fault: str) -> None:
    *others, last = (answer["faults"][fault] for answer in answers[n_workers])
    # Nobody is left waiting; of a fault on one worker the others hear.
    assert {**ON_ALL, **ON_LAST}[fault] in last
    assert all(ON_ALL.get(fault, "other worker") in other for other in others)


@pytest.mark.slow
def test_a_worker_may_know_one_class_alone(answers: Any) -> None:
    assert {answer["faults"]["an own class each"] for found in answers.values() for answer in found} == {None}


class Dying(LogisticRegression):
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
        os._exit(9)


class Dies(xgb.callback.TrainingCallback):
    def after_iteration(self, model: Any, epoch: int, evals_log: Any) -> bool:
        if epoch == 1 and xgb.collective.get_rank() == 1:
            os._exit(9)
        return False


def lost(how: dict[str, Any], _n_workers: int, start: int, end: int) -> None:
    x, z, y = (columns()[name][start:end] for name in ("x", "z", "y"))
    pi_xgb.train(PARAMS, xgb.DMatrix(x, y), 4, privileged=xgb.DMatrix(z, y), **how)


@pytest.mark.slow
@pytest.mark.filterwarnings(
    "ignore:Exception ignored in. <function RabitTracker:pytest.PytestUnraisableExceptionWarning"
)
@pytest.mark.parametrize(
    "how",
    [{"teacher": Dying()}, {"teacher": "linear", "callbacks": [Dies()]}, {"method": "jpib", "callbacks": [Dies()]}],
    ids=["as it fits the teacher", "in a round", "in a round of jpib"],
)
def test_nobody_waits_for_a_lost_worker(how: dict[str, Any]) -> None:
    _tracker, workers, answers = started(functools.partial(lost, how), 2)
    for worker in workers:
        worker.join(120)
    try:
        # One process died; the other one has an error, or XGBoost ended it.
        assert 9 in [worker.exitcode for worker in workers]
        assert all(worker.exitcode is not None for worker in workers)
        assert answers.empty() or answers.get()[1] == "XGBoostError"
    finally:
        for worker in workers:
            worker.kill()


# --- Dask ----------------------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("teacher", ["boosted", "linear"])
def test_an_empty_partition_of_dask_changes_nothing(client: Any, teacher: str) -> None:
    pid, helpers = importlib.import_module("pi_xgb.dask"), importlib.import_module("helpers_dask")
    x, z, y, known = (columns()[name] for name in ("x", "z", "y", "labelled"))

    def trained(chunks: tuple[int, ...]) -> np.ndarray:
        spread = functools.partial(helpers.spread, chunks=chunks)
        label = spread(np.where(known, y, 0))
        dtrain, privileged = (pid.DaskDMatrix(client, spread(values), label) for values in (x, z))
        how = {"privileged": privileged, "teacher": teacher, "kl_weight": 2.0, "labelled": spread(known)}
        return pid.train(client, PARAMS, dtrain, ROUNDS, **how)["booster"].predict(xgb.DMatrix(x))

    np.testing.assert_allclose(trained((180, 0, 420)), trained((180, 420)), rtol=1e-4, atol=1e-5)


@contextlib.contextmanager
def every_row_drawn(client: Any) -> Any:
    """Grow the trees of forests on all rows: which ones a worker draws depends on the rows that Dask gives it."""

    def draw(share: float) -> None:
        forest._PARAMS["subsample"] = share

    share = forest._PARAMS["subsample"]
    client.run(draw, 1.0)
    try:
        yield
    finally:
        client.run(draw, share)


@of("dask", fast=("kbpib weighted", "unlabelled kbpib native"))
def test_dask_trains_the_model_of_one_machine(client: Any, name: str) -> None:
    pid, spread = importlib.import_module("pi_xgb.dask"), importlib.import_module("helpers_dask").spread
    case = CASES[name]
    fields = {key: spread(values) for key, values in fields_of(case).items()}
    keywords = keywords_of(case, spread, functools.partial(pid.by_column, DemographicParity))
    dtrain = pid.DaskDMatrix(client, spread(columns()["x"]), **fields)
    if sees_privileged(case):
        keywords["privileged"] = pid.DaskDMatrix(client, spread(columns()["z"]), **fields)
    params = {**PARAMS, **case.params}
    with every_row_drawn(client) if "forest" in name else contextlib.nullcontext():
        result = pid.train(client, params, dtrain, ROUNDS, verbose_eval=False, **keywords)
    assert_same_model(result["booster"], name)


@pytest.mark.slow
def test_dask_workers_deal_their_own_rows_to_folds(client: Any) -> None:
    pid, helpers = importlib.import_module("pi_xgb.dask"), importlib.import_module("helpers_dask")
    spread, label = helpers.spread, np.where(KNOWN, columns()["y"], 0)
    dtrain, privileged = (pid.DaskDMatrix(client, spread(columns()[n]), spread(label)) for n in ("x", "z"))
    first = np.concatenate([[0], np.cumsum(helpers.CHUNKS)])
    parts = [
        np.concatenate(
            [np.arange(first[i], first[i + 1]) for i in sorted(dtrain.partition_order[f.key] for f in futures)]
        )
        for futures in dtrain.worker_map.values()
    ]
    groups = groups_of(parts)
    keywords = {"privileged": privileged, "labelled": KNOWN, **CROSSFIT}
    booster = pid.train(client, PARAMS, dtrain, 3, crossfit_groups=spread(groups), **keywords)["booster"]
    expected = student_of_folds(parts, 3, KNOWN, groups, 2)
    np.testing.assert_allclose(booster.predict(xgb.DMatrix(columns()["x"])), expected, atol=1e-5)
    with pytest.raises(ValueError, match=r"must not span workers"):
        pid.train(client, PARAMS, dtrain, 3, crossfit_groups=np.arange(N_ROWS) % 300, **keywords)


# --- Spark ---------------------------------------------------------------------------------------------------------


def spark_estimator(case: Case, **settings: Any) -> Any:
    """The estimator of the case, for a DataFrame with its columns under their names."""
    pis, objective = importlib.import_module("pi_xgb.spark"), {**PARAMS, **case.params}["objective"]
    kind = {"binary": "Classifier", "multi": "Classifier", "rank": "Ranker"}.get(
        objective.partition(":")[0], "Regressor"
    )
    params = {**PARAMS, **case.params}
    for name in ("nthread", "num_class", *(["objective"] if kind == "Classifier" else [])):
        params.pop(name, None)
    params |= {name: f"{name[:-4]}" for name in ("weight_col", "base_margin_col") if name[:-4] in case.by_row}
    params |= {"teacher_weight_col": "teacher_weight"} if "teacher_weight" in case.by_row else {}
    params |= {"qid_col": "qid"} if "qid" in case.by_row else {}
    params |= {"unlabelled": "teach"} if case.labelled else {}
    own = {"features_col": X_NAMES, "privileged_cols": Z_NAMES, "label_col": "label", "n_estimators": ROUNDS}
    own |= {"num_workers": 2, "verbose": False}
    own |= {"teacher": "boosted"} if not isinstance(case.keywords.get("teacher"), list) else {}
    own |= {"kl_weight": 2.0} if "teacher" in own else {}
    return getattr(pis, f"PrivilegedSparkXGB{kind}")(**own | params | case.keywords | settings)


def spark_frame(spark: Any, case: Case, **more: np.ndarray) -> Any:
    every = columns()
    label = every[case.label].astype(float)
    label = label if case.labelled is None else np.where(every[case.labelled], label, np.nan)
    table = pd.DataFrame(np.hstack([every["x"], every["z"]]).astype(float), columns=[*X_NAMES, *Z_NAMES])
    by_row = {name: every[name].astype(int if name == "qid" else float) for name in case.by_row}
    return spark.createDataFrame(table.assign(label=label, **by_row, **more))


@pytest.fixture(scope="module")
def spark(tmp_path_factory: Any) -> Any:
    session = importlib.import_module("helpers_spark").started("local[2]", tmp_path_factory)
    yield session
    session.stop()


SPARK_WARNS = [
    pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas:FutureWarning"),
    pytest.mark.filterwarnings("ignore:Exception ignored in. <socket:pytest.PytestUnraisableExceptionWarning"),
]


@SPARK_WARNS[0]
@SPARK_WARNS[1]
@of("spark")
def test_spark_trains_the_model_of_one_machine(spark: Any, name: str) -> None:
    case = CASES[name]
    with warnings.catch_warnings():
        model = spark_estimator(case).fit(spark_frame(spark, case))
    assert_same_model(model.get_booster(), name)
    # XGBoost's own model, which evaluates training rows unless labels are replaced or unknown.
    assert type(model).__module__ == "xgboost.spark.estimator"
    is_evaluated = case.keywords.get("engine") != "native" and case.labelled is None
    assert bool(model.training_summary.train_objective_history) == is_evaluated


@SPARK_WARNS[0]
@SPARK_WARNS[1]
@pytest.mark.slow
def test_spark_tasks_deal_their_own_rows_to_folds(spark: Any) -> None:
    parts = np.split(np.arange(N_ROWS), 2)
    groups, case = groups_of(parts), Case(labelled="by_five")
    columns()["by_five"] = KNOWN
    frame = spark_frame(spark, case, patient=groups.astype(str))
    booster = spark_estimator(case, n_estimators=3, crossfit=2, crossfit_groups_col="patient").fit(frame).get_booster()
    found = booster.predict(xgb.DMatrix(columns()["x"], feature_names=X_NAMES))
    np.testing.assert_allclose(found, student_of_folds(parts, 3, KNOWN, groups, 2), atol=1e-5)


@SPARK_WARNS[0]
@SPARK_WARNS[1]
@pytest.mark.slow
@gathered_on("spark")
def test_a_gathered_teacher_teaches_on_spark_as_on_one_machine(spark: Any, name: str) -> None:
    case, every = GATHERED[name], many()
    known = every[case.labelled or "labelled"]
    table = pd.DataFrame(np.hstack([every["x"], every["z"]]).astype(float), columns=[*X_NAMES, *Z_NAMES])
    table = table.assign(
        **{name: every[name] for name in case.by_row}, label=np.where(known, every[case.label], np.nan)
    )
    groups = {"crossfit_groups_col": "crossfit_groups"} if "crossfit_groups" in case.by_row else {}
    estimator = spark_estimator(dataclasses.replace(case, labelled="labelled"), **groups)
    assert_taught_alike(estimator.fit(spark.createDataFrame(table)).get_booster(), name)
