"""``pi_xgb.train`` against ``xgboost.train``: the same without a teacher, and the same in everything else with one."""

from __future__ import annotations

import copy
import json
import os
import pickle
import re
import struct
import subprocess
import sys
import textwrap
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import pytest
import xgboost as xgb
from hypothesis import HealthCheck, assume, event, given, settings
from hypothesis import strategies as st

import pi_xgb
from pi_xgb._core.spec import Spec
from pi_xgb._core.task import Task
from pi_xgb._core.teachers import FixedTeacher, WeightedTeacher
from pi_xgb._core.train import _record

OBJECTIVES = ("binary:logistic", "multi:softprob", "multi:softmax", "reg:squarederror")
N_CLASSES = 3
QUIET = {"nthread": 1, "verbosity": 0}

# Drawn anew in every run of the suite the same examples come up: a failure can be repeated.
GENERATED = settings(
    max_examples=70, deadline=None, derandomize=True, database=None, suppress_health_check=list(HealthCheck)
)


# --- data ---------------------------------------------------------------------------------------------------------


class Table(NamedTuple):
    """Arrays from which fresh matrices are built: a training must never profit from the cache of another."""

    x: pd.DataFrame
    z: pd.DataFrame
    y: np.ndarray
    q: np.ndarray
    weight: np.ndarray

    def part(self, rows: slice) -> Table:
        return Table(self.x[rows], self.z[rows], self.y[rows], self.q[rows], self.weight[rows])


def table(objective: str, n: int = 90, *, seed: int = 0, missing: bool = False, categories: bool = False) -> Table:
    rng = np.random.default_rng(seed)
    hidden = rng.normal(size=n)
    x = pd.DataFrame({f"x{i}": hidden + rng.normal(size=n) for i in range(3)})
    if missing:
        x = x.mask(rng.random(x.shape) < 0.2)
    if categories:
        x["colour"] = pd.Categorical.from_codes(np.digitize(hidden + rng.normal(size=n), [-1, 0, 1]), list("rgbw"))
    z = pd.DataFrame({f"z{i}": hidden + 0.2 * rng.normal(size=n) for i in range(2)})
    if objective.startswith("multi"):
        y = np.digitize(hidden + 0.5 * rng.normal(size=n), [-0.5, 0.5]).astype(float)
        q = rng.dirichlet(np.ones(N_CLASSES), size=n)
    elif objective == "binary:logistic":
        y = (hidden + rng.normal(size=n) > 0.3).astype(float)
        q = 1 / (1 + np.exp(-2 * hidden))
    else:
        y = 3 * hidden + rng.normal(size=n) + 1
        q = 3 * hidden
    return Table(x, z, y, q, rng.uniform(0.5, 2.0, size=n))


def params_of(objective: str, **more: Any) -> dict[str, Any]:
    classes = {"num_class": N_CLASSES} if objective.startswith("multi") else {}
    return {**QUIET, "objective": objective, "max_depth": 3, **classes, **more}


def matrix(data: Table, make: Callable[..., xgb.DMatrix] = xgb.DMatrix, **fields: Any) -> xgb.DMatrix:
    return make(data.x, data.y, enable_categorical=True, **fields)


def privileged_of(data: Table, **fields: Any) -> xgb.DMatrix:
    return xgb.DMatrix(data.z, data.y, **fields)


def model_text(booster: xgb.Booster) -> str:
    return booster.save_raw("json").decode()


def text_without_sees(booster: xgb.Booster) -> str:
    """The model, but for the columns of its teacher: a teacher trained before records none."""
    recorded = booster.attr("pi_xgb_teacher_settings") or ""
    booster.set_attr(pi_xgb_teacher_settings=re.sub(r"(boosted: |, )teacher_sees='\w+'", "", recorded) or None)
    return model_text(booster)


# --- without a teacher it is xgboost.train, to the bit --------------------------------------------------------------


CASES = st.fixed_dictionaries(
    {
        "objective": st.sampled_from(OBJECTIVES),
        "booster": st.sampled_from(["gbtree", "gbtree", "gbtree", "gblinear", "dart"]),
        "tree_method": st.sampled_from(["hist", "approx", "exact"]),
        "matrix": st.sampled_from([xgb.DMatrix, xgb.DMatrix, xgb.QuantileDMatrix]),
        "weights": st.booleans(),
        "missing": st.booleans(),
        "categories": st.booleans(),
        "base_margin": st.booleans(),
        "subsample": st.sampled_from([1.0, 0.6]),
        "colsample_bytree": st.sampled_from([1.0, 0.5]),
        "scale_pos_weight": st.sampled_from([1.0, 3.0]),
        "early_stopping": st.booleans(),
        "continued": st.booleans(),
        "custom_metric": st.booleans(),
        "maximize": st.booleans(),
        "metrics": st.booleans(),
        "params_as_list": st.booleans(),
        "seed": st.integers(0, 5),
    }
)


def possible(case: dict[str, Any]) -> bool:
    """Whether XGBoost can do it at all."""
    trees = case["booster"] != "gblinear"
    in_memory = case["matrix"] is xgb.DMatrix
    if not trees:
        return in_memory and not case["categories"] and case["subsample"] == case["colsample_bytree"] == 1
    if case["tree_method"] == "exact":
        return in_memory and not case["categories"]
    return in_memory or case["tree_method"] == "hist"


def case_params(case: dict[str, Any]) -> Any:
    params = params_of(case["objective"], seed=case["seed"], booster=case["booster"])
    if case["booster"] == "gblinear":
        del params["max_depth"]
    else:
        params |= {key: case[key] for key in ("tree_method", "subsample", "colsample_bytree")}
    if case["booster"] == "dart":
        params["rate_drop"] = 0.3
    if not case["objective"].startswith("multi"):
        params["scale_pos_weight"] = case["scale_pos_weight"]
    metrics = ["merror", "mlogloss"] if case["objective"].startswith("multi") else ["rmse", "mae"]
    if case["params_as_list"]:
        return [*params.items(), *(("eval_metric", m) for m in metrics if case["metrics"])]
    return {**params, "eval_metric": metrics} if case["metrics"] else params


def sum_of_predictions(predictions: np.ndarray, _: xgb.DMatrix) -> tuple[str, float]:
    """A metric that a change of scale, shape or round would change."""
    return "weird", float(
        (predictions.astype(np.float64) * np.arange(1, predictions.size + 1).reshape(predictions.shape)).sum()
    )


def run(train: Callable[..., xgb.Booster], case: dict[str, Any], **guiding: Any) -> dict[str, Any]:
    """One training on fresh objects, and everything that xgboost.train lets a user see of it."""
    data = table(case["objective"], seed=case["seed"], missing=case["missing"], categories=case["categories"])
    fields: dict[str, Any] = {"weight": data.weight} if case["weights"] else {}
    if case["base_margin"]:
        width = (N_CLASSES,) if case["objective"].startswith("multi") else ()
        fields["base_margin"] = np.random.default_rng(9).normal(size=(len(data.y), *width))
    dtrain = matrix(data, case["matrix"], **fields)
    dvalid = matrix(table(case["objective"], 60, seed=77, missing=True, categories=case["categories"]))
    if callable(guiding.get("make")):
        guiding = guiding["make"](data)
    keywords: dict[str, Any] = {}
    if case["continued"]:
        keywords["xgb_model"] = xgb.train(case_params(case), matrix(data, **fields), 2)
    if case["early_stopping"]:
        keywords["early_stopping_rounds"] = 2
    if case["custom_metric"]:
        keywords |= {"custom_metric": sum_of_predictions, "maximize": case["maximize"]}
    result: dict[str, Any] = {}
    booster = train(
        case_params(case),
        dtrain,
        6,
        evals=[(dtrain, "train"), (dvalid, "valid")],
        evals_result=result,
        verbose_eval=False,
        **keywords,
        **guiding,
    )
    best = (booster.best_iteration, booster.best_score) if case["early_stopping"] else None
    return {
        "model": model_text(booster),
        "config": booster.save_config(),
        "history": result,
        "attributes": booster.attributes(),
        "best": best,
        "predictions": booster.predict(dvalid).tobytes(),
    }


@GENERATED
@given(case=CASES)
def test_without_a_teacher_everything_is_that_of_xgboost(case: dict[str, Any]) -> None:
    assume(possible(case))
    event(case["booster"])
    # No teacher: model file, configuration, history, attributes and predictions are xgboost.train's, to the bit.
    assert run(pi_xgb.train, case) == run(xgb.train, case)


# Everything that could be said about a teacher that counts for nothing.
SILENT_TEACHERS: dict[str, Callable[[Table], dict[str, Any]]] = {
    "array": lambda data: {"teacher": np.clip(data.q, 0, 1)},
    "list": lambda data: {"teacher": [(np.clip(data.q, 0, 1), 0), (np.clip(data.q[::-1], 0, 1), 0.0)]},
    "kbpib": lambda data: {"privileged": privileged_of(data)},
    "crossfit": lambda data: {"privileged": privileged_of(data), "crossfit": 3},
    "jpib": lambda data: {"privileged": privileged_of(data), "method": "jpib"},
}


@GENERATED
@given(case=CASES, kind=st.sampled_from(sorted(SILENT_TEACHERS)))
def test_at_kl_weight_0_everything_is_that_of_xgboost(case: dict[str, Any], kind: str) -> None:
    assume(possible(case) and not (kind == "jpib" and (case["continued"] or case["booster"] == "dart")))
    event(kind)

    def guiding(data: Table) -> dict[str, Any]:
        weight = {} if kind == "list" else {"kl_weight": 0}
        return {**SILENT_TEACHERS[kind](data), **weight}

    # A teacher of weight 0: model file, configuration, history, attributes and predictions are xgboost.train's.
    assert run(pi_xgb.train, case, make=guiding) == run(xgb.train, case)


def own_objective(margin: np.ndarray, dtrain: xgb.DMatrix) -> tuple[np.ndarray, np.ndarray]:
    return margin - dtrain.get_label().reshape(margin.shape), np.ones_like(margin)


OTHER_TASKS: dict[str, tuple[dict[str, Any], Callable[[np.ndarray], dict[str, Any]], Any]] = {
    "ranking": ({"objective": "rank:ndcg"}, lambda u: {"label": (u > 0) * 1, "qid": np.arange(80) // 8}, None),
    "pairwise": ({"objective": "rank:pairwise"}, lambda u: {"label": (u > 0) * 1, "qid": np.arange(80) // 8}, None),
    "survival": (
        {"objective": "survival:aft"},
        lambda u: {"label_lower_bound": np.exp(u), "label_upper_bound": np.exp(u) + 1},
        None,
    ),
    "cox": ({"objective": "survival:cox"}, lambda u: {"label": np.where(u > 0, 1 + abs(u), -1 - abs(u))}, None),
    "counts": ({"objective": "count:poisson"}, lambda u: {"label": np.floor(np.exp(u))}, None),
    "gamma": ({"objective": "reg:gamma"}, lambda u: {"label": np.exp(u)}, None),
    "tweedie": ({"objective": "reg:tweedie", "tweedie_variance_power": 1.3}, lambda u: {"label": np.exp(u)}, None),
    "quantiles": (
        {"objective": "reg:quantileerror", "quantile_alpha": [0.2, 0.8]},
        lambda u: {"label": u},
        None,
    ),
    "median": ({"objective": "reg:absoluteerror"}, lambda u: {"label": u}, None),
    "hinge": ({"objective": "binary:hinge"}, lambda u: {"label": (u > 0) * 1}, None),
    "raw": ({"objective": "binary:logitraw"}, lambda u: {"label": (u > 0) * 1}, None),
    "several targets": (
        {"objective": "reg:squarederror", "multi_strategy": "multi_output_tree"},
        lambda u: {"label": np.stack([u, -u], axis=1)},
        None,
    ),
    "soft labels": ({"objective": "binary:logistic"}, lambda u: {"label": 1 / (1 + np.exp(-u))}, None),
    "no objective": ({}, lambda u: {"label": (u > 0) * 1}, None),
    "no params": (None, lambda u: {"label": u}, None),
    "own objective": ({"objective": "reg:squarederror"}, lambda u: {"label": u}, own_objective),
}


@pytest.mark.parametrize("task", OTHER_TASKS)
def test_without_a_teacher_every_objective_of_xgboost_works(task: str) -> None:
    own, labels, objective = OTHER_TASKS[task]
    rng = np.random.default_rng(3)
    x, u = rng.normal(size=(80, 3)), rng.normal(size=80)

    def outcome(train: Callable[..., xgb.Booster]) -> tuple[str, str, Any]:
        dtrain = xgb.DMatrix(x, nthread=1, **labels(x[:, 0] + u))
        params = own if own is None else {**QUIET, **own}
        evals: dict[str, Any] = {}
        booster = train(params, dtrain, 4, evals=[(dtrain, "t")], evals_result=evals, verbose_eval=False, obj=objective)
        return model_text(booster), booster.save_config(), evals

    # Whatever XGBoost can learn, pi_xgb.train learns in the same way when nobody teaches.
    assert outcome(pi_xgb.train) == outcome(xgb.train)


def test_evals_may_be_any_iterable_as_in_xgboost() -> None:
    data = table("binary:logistic")

    def history(train: Callable[..., xgb.Booster], **guiding: Any) -> dict[str, Any]:
        result: dict[str, Any] = {}
        dtrain = matrix(data)
        evals = ((m, name) for m, name in [(dtrain, "train"), (matrix(data), "again")])
        train(params_of("binary:logistic"), dtrain, 2, evals=evals, evals_result=result, verbose_eval=False, **guiding)
        return result

    # An iterator is evaluated like a list, with and without a teacher.
    assert history(pi_xgb.train) == history(xgb.train)
    assert list(history(pi_xgb.train, teacher=data.q)) == ["train", "again"]


@pytest.mark.parametrize("guided", [False, True])
def test_what_xgboost_refuses_is_refused(guided: bool) -> None:
    data = table("binary:logistic")
    params, guiding = params_of("binary:logistic"), {"teacher": data.q} if guided else {}

    def complaint(train: Callable[..., xgb.Booster], **keywords: Any) -> tuple[type[BaseException], str]:
        rounds: list[int] = []

        class Count(xgb.callback.TrainingCallback):
            def after_iteration(self, model: Any, epoch: int, evals_log: Any) -> bool:
                rounds.append(epoch)
                return False

        keywords = {"callbacks": [Count()], "verbose_eval": False, **keywords}
        with pytest.raises(Exception) as caught:
            train(params, matrix(data), 3, **keywords)
        # The error comes before the first round has passed.
        assert rounds == []
        return caught.type, str(caught.value)

    dvalid = matrix(data)
    for wrong in (
        {"evals": [(data.x.to_numpy(), "valid")]},
        {"evals": [(dvalid, "valid")], "custom_metric": "auc"},
        {"callbacks": ["no callback"]},
    ):
        ours, theirs = complaint(pi_xgb.train, **wrong, **guiding), complaint(xgb.train, **wrong)
        # An error of XGBoost's type, before the first round; without a teacher, and mostly with one, in its words.
        assert ours[0] is theirs[0]
        assert ours[1] == theirs[1] or (guided and "custom_metric" in ours[1])


# --- the signature -------------------------------------------------------------------------------------------------


def test_evals_may_come_as_the_fourth_positional_argument() -> None:
    data = table("binary:logistic")
    params = params_of("binary:logistic")

    files: list[str] = []

    def outcome(train: Callable[..., xgb.Booster], *further: Any, **guiding: Any) -> tuple[str, Any, list[Any]]:
        dtrain = matrix(data)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            booster = train(params, dtrain, 3, [(dtrain, "train")], *further, verbose_eval=False, **guiding)
        files[:] = [w.filename for w in caught]
        return model_text(booster), booster.attributes(), [(w.category, str(w.message)) for w in caught]

    # Taken as XGBoost takes it: with its FutureWarning, in its words.
    assert outcome(pi_xgb.train) == outcome(xgb.train)
    assert outcome(pi_xgb.train)[2] == [(FutureWarning, "Pass `evals` as keyword args.")]
    # It stands at the caller's line, once.
    assert files == [__file__]
    assert outcome(pi_xgb.train, None) == outcome(xgb.train, None)
    assert outcome(pi_xgb.train, None, False) == outcome(xgb.train, None, False)
    # With a teacher too, and the model is that of the call by keyword.
    guided = outcome(pi_xgb.train, teacher=data.q)
    named = pi_xgb.train(params, matrix(data), 3, evals=[(matrix(data), "t")], verbose_eval=False, teacher=data.q)
    assert guided[0] == model_text(named)
    assert [category for category, _ in guided[2]] == [FutureWarning]


def test_too_many_or_doubled_positional_arguments_are_refused() -> None:
    data = table("binary:logistic")
    dtrain = matrix(data)
    with pytest.raises(TypeError, match="at most"):
        pi_xgb.train(params_of("binary:logistic"), dtrain, 3, *[None] * 30)
    with pytest.raises(TypeError, match=r"evals.*position.*keyword"):
        pi_xgb.train(params_of("binary:logistic"), dtrain, 3, [], evals=[])


# --- what a user sees of a guided training -------------------------------------------------------------------------


class AfterEachRound(xgb.callback.TrainingCallback):
    """What the booster itself predicts after each round."""

    def __init__(self, *matrices: xgb.DMatrix) -> None:
        super().__init__()
        self.matrices, self.predictions, self.features = matrices, [], set()

    def after_iteration(self, model: Any, epoch: int, evals_log: Any) -> bool:
        self.features.add(tuple(model.feature_names))
        self.predictions.append([model.predict(m) for m in self.matrices])
        return False


def engines_for(objective: str) -> list[str]:
    return ["callback"] if objective.startswith("multi") else ["callback", "native"]


ENGINES = [(objective, engine) for objective in OBJECTIVES for engine in engines_for(objective)]


@pytest.mark.parametrize(("objective", "engine"), ENGINES)
@pytest.mark.parametrize("base_margin", [False, True])
def test_a_custom_metric_sees_predictions_on_their_own_scale(objective: str, engine: str, base_margin: bool) -> None:
    data = table(objective)
    fields = {}
    if base_margin:
        fields["base_margin"] = np.full(data.q.shape, 0.7)
    dtrain, single, other = matrix(data, **fields), matrix(data, **fields), matrix(table(objective, 40, seed=5))
    seen: list[np.ndarray] = []

    def metric(predictions: np.ndarray, evaluated: xgb.DMatrix) -> tuple[str, float]:
        assert isinstance(evaluated, xgb.DMatrix)
        seen.append(predictions.copy())
        return "metric", float(evaluated.num_row())

    watch = AfterEachRound(single, other)
    history: dict[str, Any] = {}
    pi_xgb.train(
        params_of(objective),
        dtrain,
        4,
        teacher=data.q,
        kl_weight=1.5,
        engine=engine,
        evals=[(single, "one"), (other, "other")],
        evals_result=history,
        custom_metric=metric,
        callbacks=[watch],
        verbose_eval=False,
    )
    expected = [prediction for each_round in watch.predictions for prediction in each_round]
    assert len(seen) == len(expected) == 8
    for shown, own in zip(seen, expected, strict=True):
        # The metric sees what the booster itself predicts after that round: probabilities, numbers or classes.
        assert shown.shape == own.shape
        assert shown.dtype == own.dtype
        np.testing.assert_allclose(shown, own, rtol=1e-6, atol=1e-6)
    if objective == "multi:softmax":
        assert set(np.concatenate(seen)) <= {0.0, 1.0, 2.0}
    assert history["other"]["metric"] == [40.0] * 4


LOGLOSS = {"binary:logistic": "logloss", "multi:softprob": "mlogloss", "reg:squarederror": "rmse"}


def metric_by_hand(objective: str, y: np.ndarray, prediction: np.ndarray) -> float:
    if objective == "reg:squarederror":
        return float(np.sqrt(np.mean((prediction - y) ** 2)))
    if objective == "binary:logistic":
        return float(-np.mean(y * np.log(prediction) + (1 - y) * np.log(1 - prediction)))
    return float(-np.mean(np.log(prediction[np.arange(len(y)), y.astype(int)])))


@pytest.mark.parametrize(("objective", "engine"), [(o, e) for o, e in ENGINES if o in LOGLOSS])
@pytest.mark.parametrize("method", ["kbpib", "jpib"])
def test_evals_result_is_of_the_students_predictions_and_labels(objective: str, engine: str, method: str) -> None:
    data, valid = table(objective), table(objective, 50, seed=5)
    dtrain, dvalid = matrix(data), matrix(valid)
    history: dict[str, Any] = {}
    evals = [(dtrain, "train"), (dvalid, "valid")] if engine == "callback" else [(dvalid, "valid")]
    booster = pi_xgb.train(
        params_of(objective),
        dtrain,
        5,
        privileged=privileged_of(data),
        method=method,
        engine=engine,
        evals=evals,
        evals_result=history,
        verbose_eval=False,
    )
    # Every built-in metric is that of the labels and the student's predictions after that round, for every matrix.
    assert set(history) == {name for _, name in evals}
    for evaluated, name in evals:
        y = data.y if name == "train" else valid.y
        by_hand = [
            metric_by_hand(objective, y, booster.predict(evaluated, iteration_range=(0, i + 1)).astype(np.float64))
            for i in range(5)
        ]
        np.testing.assert_allclose(history[name][LOGLOSS[objective]], by_hand, rtol=1e-5)


@pytest.mark.parametrize("maximize", [False, True])
@pytest.mark.parametrize("objective", OBJECTIVES)
def test_early_stopping_follows_the_custom_metric(objective: str, maximize: bool) -> None:
    data, dvalid = table(objective), matrix(table(objective, 50, seed=5))
    calls: list[int] = []

    def metric(predictions: np.ndarray, evaluated: xgb.DMatrix) -> tuple[str, float]:
        calls.append(1)
        wanted = len(calls) if len(calls) <= 4 else 8 - len(calls)
        return "hill", float(wanted if maximize else -wanted)

    booster = pi_xgb.train(
        params_of(objective),
        matrix(data),
        20,
        teacher=data.q,
        evals=[(dvalid, "valid")],
        custom_metric=metric,
        maximize=maximize,
        early_stopping_rounds=3,
        verbose_eval=False,
    )
    # The hill is highest in round 4 (number 3); three rounds without a better one end the training.
    assert booster.best_iteration == 3
    assert booster.best_score == (4.0 if maximize else -4.0)
    assert booster.num_boosted_rounds() == 7


@pytest.mark.parametrize("method", ["kbpib", "jpib"])
@pytest.mark.filterwarnings("ignore:the teacher repeats:UserWarning")
def test_best_iteration_is_the_best_of_evals_result(method: str) -> None:
    data, dvalid = table("binary:logistic", 60), matrix(table("binary:logistic", 50, seed=5))
    history: dict[str, Any] = {}
    booster = pi_xgb.train(
        params_of("binary:logistic", eta=1.0),
        matrix(data),
        60,
        privileged=privileged_of(data),
        method=method,
        evals=[(dvalid, "valid")],
        early_stopping_rounds=5,
        evals_result=history,
        verbose_eval=False,
    )
    losses = history["valid"]["logloss"]
    # It stopped early, at the smallest loss on the last of the evals, five rounds after it.
    assert booster.best_iteration == int(np.argmin(losses))
    assert booster.best_score == min(losses)
    assert len(losses) == booster.best_iteration + 6 < 60


def test_maximize_speaks_of_the_students_metric_and_not_of_the_teachers() -> None:
    data, valid = table("binary:logistic"), table("binary:logistic", 50, seed=5)
    params = params_of("binary:logistic", eta=0.5)

    def accuracy(predictions: np.ndarray, evaluated: xgb.DMatrix) -> tuple[str, float]:
        return "accuracy", float(((predictions > 0.5) == evaluated.get_label()).mean())

    student: dict[str, Any] = {
        "evals": [(matrix(valid), "valid")],
        "custom_metric": accuracy,
        "maximize": True,
        "early_stopping_rounds": 4,
        "verbose_eval": False,
    }
    teacher = pi_xgb.fit_teacher(
        params, privileged_of(data), 30, evals=[(privileged_of(valid), "valid")], early_stopping_rounds=4
    )
    assert 0 < teacher.booster.best_iteration < 25
    brought = pi_xgb.train(params, matrix(data), 30, teacher=teacher, **student)
    learned = pi_xgb.train(
        params,
        matrix(data),
        30,
        privileged=privileged_of(data),
        privileged_evals=[(privileged_of(valid), "valid")],
        **student,
    )
    # The teacher has a logloss, which is to be small, however large the student's accuracy is to be.
    assert text_without_sees(learned) == text_without_sees(brought)


def test_callbacks_see_the_student_alone_and_once_per_round() -> None:
    data = table("binary:logistic")
    watch = AfterEachRound(matrix(data))
    pi_xgb.train(
        params_of("binary:logistic"),
        matrix(data),
        7,
        privileged=privileged_of(data),
        crossfit=3,
        callbacks=[watch],
        verbose_eval=False,
    )
    # Three teachers of seven rounds each, and yet the callback was called for the student's seven rounds only.
    assert len(watch.predictions) == 7
    assert watch.features == {("x0", "x1", "x2")}


@pytest.mark.parametrize(("objective", "engine"), ENGINES)
def test_a_learning_rate_scheduler_sets_the_students_rate(objective: str, engine: str) -> None:
    data = table(objective)

    def trained(rate: float, rounds: int = 3, **keywords: Any) -> xgb.Booster:
        params = params_of(objective, eta=rate)
        return pi_xgb.train(params, matrix(data), rounds, teacher=data.q, engine=engine, verbose_eval=False, **keywords)

    # The scheduler speaks after each round about the next: the first tree has the rate of params, later trees 0.
    scheduled = trained(0.4, callbacks=[xgb.callback.LearningRateScheduler(lambda _: 0.0)])
    assert scheduled.num_boosted_rounds() == 3
    dtest = matrix(table(objective, 50, seed=5))
    first = trained(0.4, 1).predict(dtest, output_margin=True)
    np.testing.assert_allclose(scheduled.predict(dtest, output_margin=True), first, rtol=0, atol=1e-6)
    # And a schedule that says the same rate each time changes nothing.
    steady = trained(0.4, callbacks=[xgb.callback.LearningRateScheduler([0.4] * 3)])
    assert steady.get_dump() == trained(0.4).get_dump()


@pytest.mark.parametrize("method", ["kbpib", "jpib"])
@pytest.mark.filterwarnings("ignore:the teacher repeats:UserWarning")
def test_early_stopping_with_save_best_returns_the_best_rounds(method: str) -> None:
    data, dvalid = table("binary:logistic", 60), matrix(table("binary:logistic", 50, seed=5))

    def trained(**keywords: Any) -> xgb.Booster:
        return pi_xgb.train(
            params_of("binary:logistic", eta=1.0),
            matrix(data),
            40,
            privileged=privileged_of(data),
            method=method,
            evals=[(dvalid, "valid")],
            verbose_eval=False,
            **keywords,
        )

    whole = trained(early_stopping_rounds=4)
    best = trained(callbacks=[xgb.callback.EarlyStopping(rounds=4, save_best=True)])
    # The same rounds as with early_stopping_rounds, and those after the best are cut off.
    assert best.best_iteration == whole.best_iteration
    assert best.num_boosted_rounds() == whole.best_iteration + 1 < whole.num_boosted_rounds()
    assert best.get_dump() == whole[: whole.best_iteration + 1].get_dump()
    # A model cut short remembers how it was made all the same.
    assert best.attr("pi_xgb_method") == method


def test_a_checkpoint_holds_the_student_of_its_round(tmp_path: Path) -> None:
    data = table("binary:logistic")
    params = params_of("binary:logistic")
    booster = pi_xgb.train(
        params,
        matrix(data),
        4,
        teacher=data.q,
        callbacks=[xgb.callback.TrainingCheckPoint(tmp_path, name="student", interval=1)],
        verbose_eval=False,
    )
    saved = sorted(tmp_path.iterdir())
    assert len(saved) >= 3
    for file in saved:
        loaded = xgb.Booster(model_file=file)
        rounds = loaded.num_boosted_rounds()
        # What is on disk is the trained model up to that round, and can be trained on to the same end.
        assert loaded.get_dump() == booster[:rounds].get_dump()
        if rounds < 4:
            resumed = pi_xgb.train(params, matrix(data), 4 - rounds, teacher=data.q, xgb_model=file)
            assert resumed.get_dump() == booster.get_dump()


@pytest.mark.parametrize("kind", ["booster", "path", "bytes"])
def test_every_kind_of_xgb_model_can_be_continued(kind: str, tmp_path: Path) -> None:
    data = table("multi:softprob")
    params = params_of("multi:softprob")
    begun = pi_xgb.train(params, matrix(data), 3, teacher=data.q)
    begun.save_model(tmp_path / "begun.ubj")
    given_as: dict[str, Any] = {"booster": begun, "path": str(tmp_path / "begun.ubj"), "bytes": begun.save_raw("ubj")}
    before = model_text(begun)
    whole = pi_xgb.train(params, matrix(data), 5, teacher=data.q)
    resumed = pi_xgb.train(params, matrix(data), 2, teacher=data.q, xgb_model=given_as[kind])
    # Three rounds and two more are five, and the model that was continued stays as it was.
    assert model_text(resumed) == model_text(whole)
    assert model_text(begun) == before


@pytest.mark.parametrize(("objective", "engine"), ENGINES)
def test_a_continued_model_keeps_its_intercept_on_other_rows(objective: str, engine: str) -> None:
    first, second = table(objective), table(objective, 60, seed=8)
    params = params_of(objective)
    begun = xgb.train(params, matrix(first), 3)
    resumed = pi_xgb.train(params, matrix(second), 2, teacher=second.q, xgb_model=begun, engine=engine)
    dtest = matrix(table(objective, 50, seed=5))
    # The rows to come have another mean; what was learned before, the intercept included, stays.
    np.testing.assert_array_equal(
        resumed.predict(dtest, iteration_range=(0, 3), output_margin=True), begun.predict(dtest, output_margin=True)
    )


def test_verbose_eval_speaks_of_the_student_only(capfd: pytest.CaptureFixture[str]) -> None:
    data, valid = table("binary:logistic"), table("binary:logistic", 50, seed=5)

    def lines(verbose: Any, method: str = "kbpib", **keywords: Any) -> list[str]:
        capfd.readouterr()
        pi_xgb.train(
            params_of("binary:logistic", verbosity=1),
            matrix(data),
            6,
            privileged=privileged_of(data),
            method=method,
            evals=[(matrix(valid), "valid")],
            verbose_eval=verbose,
            **keywords,
        )
        out, err = capfd.readouterr()
        assert err == ""
        return out.splitlines()

    teacher_stops = {"privileged_evals": [(privileged_of(valid), "hidden")], "early_stopping_rounds": 3}
    for method, keywords in (("kbpib", {}), ("kbpib", teacher_stops), ("kbpib", {"crossfit": 2}), ("jpib", {})):
        printed = lines(True, method, **keywords)
        # A line per round of the student, about the student's evals, and none of the teacher's.
        assert [line.split("]")[0] for line in printed] == [f"[{i}" for i in range(len(printed))]
        assert len(printed) >= 4 or keywords is teacher_stops
        assert all("valid-logloss" in line and "hidden" not in line for line in printed)
    assert len(lines(3)) == 3  # rounds 0, 3 and the last
    # Silence means silence.
    assert lines(False) == []
    assert lines(None) == []


# --- the loss that is minimised: the blended target, in every setting ----------------------------------------------


def blended(data: Table, kl_weight: float) -> np.ndarray:
    """t = (y + a q) / (1 + a)."""
    return (data.y + kl_weight * data.q) / (1 + kl_weight)


def absorbing(params: dict[str, Any], kl_weight: float) -> dict[str, Any]:
    """The params with which XGBoost's own loss on t has the trees of 1 + a times that loss."""
    scaled = {"reg_lambda": 1.0, "min_child_weight": 1.0, "gamma": 0.0, "reg_alpha": 0.0} | params
    for name in ("reg_lambda", "min_child_weight", "gamma", "reg_alpha"):
        scaled[name] /= 1 + kl_weight
    return scaled


def margin_for_test(fields: dict[str, Any]) -> dict[str, Any]:
    """A model trained with a base_margin is asked with one."""
    return {"base_margin": fields["base_margin"][:60]} if "base_margin" in fields else {}


SETTINGS: dict[str, dict[str, Any]] = {
    "hist": {},
    "approx": {"params": {"tree_method": "approx"}},
    "exact": {"params": {"tree_method": "exact"}},
    "missing": {"data": {"missing": True}},
    "categories": {"data": {"categories": True}},
    "categories in approx": {"data": {"categories": True, "missing": True}, "params": {"tree_method": "approx"}},
    "quantised": {"make": xgb.QuantileDMatrix},
    "quantised categories": {"make": xgb.QuantileDMatrix, "data": {"categories": True}},
    "weights": {"weights": True},
    "base_margin": {"base_margin": True},
    "regularised": {"params": {"reg_lambda": 3.0, "gamma": 0.1, "reg_alpha": 0.2, "min_child_weight": 0.5}},
    "base_score": {"params": {"base_score": 0.3}},
    "subsample": {"params": {"subsample": 0.7, "colsample_bytree": 0.7}},
    "max_delta_step": {"params": {"max_delta_step": 0.2}},
    "lossguide": {"params": {"grow_policy": "lossguide", "max_leaves": 4}},
    "forest": {"params": {"num_parallel_tree": 3, "subsample": 0.7}},
    "dart": {"params": {"booster": "dart", "rate_drop": 0.4}},
    "monotone": {"params": {"monotone_constraints": "(1,0,-1)"}},
}


@pytest.mark.parametrize("engine", ["callback", "native"])
@pytest.mark.parametrize("setting", SETTINGS)
@pytest.mark.parametrize("objective", ["binary:logistic", "reg:squarederror"])
def test_the_student_is_xgboost_on_the_blended_target(objective: str, setting: str, engine: str) -> None:
    chosen, kl_weight = SETTINGS[setting], 1.7
    data = table(objective, 120, seed=4, **chosen.get("data", {}))
    fields: dict[str, Any] = {"weight": data.weight} if chosen.get("weights") else {}
    if chosen.get("base_margin"):
        fields["base_margin"] = np.linspace(-1, 1, len(data.y))
    params = params_of(objective, **chosen.get("params", {}))
    student = pi_xgb.train(
        params,
        matrix(data, chosen.get("make", xgb.DMatrix), **fields),
        8,
        teacher=data.q,
        kl_weight=kl_weight,
        engine=engine,
    )
    soft = data._replace(y=blended(data, kl_weight))
    plain = xgb.train(absorbing(params, kl_weight), matrix(soft, chosen.get("make", xgb.DMatrix), **fields), 8)
    dtest = matrix(table(objective, 60, seed=5, **chosen.get("data", {})), **margin_for_test(fields))
    # MATH: labels plus a teacher of weight a are labels t, with a loss 1 + a times as large.
    np.testing.assert_allclose(
        student.predict(dtest, output_margin=True), plain.predict(dtest, output_margin=True), rtol=1e-5, atol=1e-5
    )


SETTINGS_OF_CLASSES = {
    **{name: setting for name, setting in SETTINGS.items() if name != "base_score"},
    "vector leaves": {"params": {"multi_strategy": "multi_output_tree"}},
}


@pytest.mark.parametrize("setting", SETTINGS_OF_CLASSES)
@pytest.mark.parametrize("objective", ["multi:softprob", "multi:softmax"])
def test_a_teacher_that_repeats_the_classes_only_scales_the_loss(objective: str, setting: str) -> None:
    chosen, kl_weight = SETTINGS_OF_CLASSES[setting], 1.7
    data = table(objective, 120, seed=4, **chosen.get("data", {}))
    fields: dict[str, Any] = {"weight": data.weight} if chosen.get("weights") else {}
    if chosen.get("base_margin"):
        fields["base_margin"] = np.random.default_rng(0).normal(size=data.q.shape)
    # The intercept has a test of its own.
    params = params_of(objective, base_score=0.5, **chosen.get("params", {}))
    q = np.eye(N_CLASSES)[data.y.astype(int)]
    make = chosen.get("make", xgb.DMatrix)
    student = pi_xgb.train(params, matrix(data, make, **fields), 8, teacher=q, kl_weight=kl_weight)
    plain = xgb.train(absorbing(params, kl_weight), matrix(data, make, **fields), 8)
    dtest = matrix(table(objective, 60, seed=5, **chosen.get("data", {})), **margin_for_test(fields))
    # q = y: the blended target is y, and 1 + a times the loss is what regularisation divided by 1 + a gives.
    np.testing.assert_allclose(
        student.predict(dtest, output_margin=True), plain.predict(dtest, output_margin=True), rtol=1e-5, atol=1e-5
    )


@pytest.mark.parametrize("objective", ["binary:logistic", "reg:squarederror"])
def test_a_linear_student_follows_the_same_gradient(objective: str) -> None:
    data, kl_weight = table(objective, 100, seed=4), 1.7
    target = blended(data, kl_weight).astype(np.float32)

    def by_hand(margin: np.ndarray, dtrain: xgb.DMatrix) -> tuple[np.ndarray, np.ndarray]:
        if objective == "reg:squarederror":
            return (1 + kl_weight) * (margin - target), np.full_like(margin, 1 + kl_weight)
        p = 1 / (1 + np.exp(-margin))
        return (1 + kl_weight) * (p - target), (1 + kl_weight) * p * (1 - p)

    params = {**QUIET, "objective": objective, "booster": "gblinear", "updater": "coord_descent", "base_score": 0.4}
    student = pi_xgb.train(params, matrix(data), 6, teacher=data.q, kl_weight=kl_weight)
    plain = xgb.train(params, matrix(data), 6, obj=by_hand)
    # gblinear takes any gradient; this is the paper's.
    np.testing.assert_allclose(
        student.predict(matrix(data), output_margin=True), plain.predict(matrix(data), output_margin=True), rtol=1e-4
    )


def test_a_soft_class_is_a_row_of_each_class_weighted_by_its_share() -> None:
    data, kl_weight = table("multi:softprob", 80, seed=4), 2.0
    params = params_of("multi:softprob", tree_method="exact", min_child_weight=0, base_score=0.5)
    student = pi_xgb.train(params, matrix(data), 6, teacher=data.q, kl_weight=kl_weight)
    share = np.eye(N_CLASSES)[data.y.astype(int)] + kl_weight * data.q
    copies = xgb.DMatrix(
        pd.concat([data.x] * N_CLASSES), np.repeat(np.arange(N_CLASSES), len(data.y)), weight=share.T.ravel()
    )
    plain = xgb.train(params, copies, 6)
    dtest = matrix(table("multi:softprob", 60, seed=5))
    # Each row once per class k with weight 1[y = k] + a q_k has the same gradients and Hessians in every leaf.
    np.testing.assert_allclose(
        student.predict(dtest, output_margin=True), plain.predict(dtest, output_margin=True), rtol=1e-4, atol=1e-5
    )


@pytest.mark.parametrize("given_fields", [(), ("weight",), ("base_margin",), ("weight", "base_margin")])
@pytest.mark.parametrize(
    ("objective", "scale_pos_weight"),
    [*((objective, 1.0) for objective in OBJECTIVES), ("binary:logistic", 3.0), ("reg:squarederror", 3.0)],
)
def test_a_feather_light_teacher_leaves_xgboosts_intercept(
    objective: str, scale_pos_weight: float, given_fields: tuple[str, ...]
) -> None:
    data = table(objective, 120, seed=4)
    params = params_of(objective)
    if scale_pos_weight != 1:
        params["scale_pos_weight"] = scale_pos_weight
    all_fields = {"weight": data.weight, "base_margin": np.random.default_rng(0).normal(size=data.q.shape)}
    fields = {name: all_fields[name] for name in given_fields}

    def base_score(booster: xgb.Booster) -> Any:
        return json.loads(json.loads(booster.save_config())["learner"]["learner_model_param"]["base_score"])

    guided = pi_xgb.train(params, matrix(data, **fields), 1, teacher=data.q, kl_weight=1e-9)
    plain = xgb.train(params, matrix(data, **fields), 1)
    # As kl_weight goes to 0 the model goes to XGBoost's, beginning with where it starts.
    np.testing.assert_allclose(base_score(guided), base_score(plain), rtol=1e-5, atol=1e-6)
    dtest = matrix(table(objective, 60, seed=5))
    np.testing.assert_allclose(
        guided.predict(dtest, output_margin=True), plain.predict(dtest, output_margin=True), rtol=1e-4, atol=1e-5
    )


def test_a_parameter_of_none_is_not_given_as_in_xgboost() -> None:
    data = table("binary:logistic")
    params = params_of("binary:logistic")
    empty: dict[str, Any] = dict.fromkeys(["base_score", "scale_pos_weight", "num_class", "alpha", "reg_lambda"])
    with_none = pi_xgb.train({**params, **empty}, matrix(data), 3, teacher=data.q)
    # A None in params is XGBoost's "not given", for the intercept too.
    assert model_text(with_none) == model_text(pi_xgb.train(params, matrix(data), 3, teacher=data.q))


# --- weights -------------------------------------------------------------------------------------------------------


GUIDING: dict[str, Callable[[Table], dict[str, Any]]] = {
    "array": lambda data: {"teacher": data.q},
    "kbpib": lambda data: {"privileged": privileged_of(data)},
    "crossfit": lambda data: {"privileged": privileged_of(data), "crossfit": 3},
    "jpib": lambda data: {"privileged": privileged_of(data), "method": "jpib"},
}


@pytest.mark.parametrize("kind", GUIDING)
def test_scale_pos_weight_is_a_weight_on_the_positives(kind: str) -> None:
    data = table("binary:logistic", 120, seed=4)
    # exact has no quantile sketch that weights could move; the intercept is set since XGBoost estimates it in
    # another way where scale_pos_weight is given.
    params = params_of("binary:logistic", tree_method="exact", base_score=0.5)
    scaled = pi_xgb.train({**params, "scale_pos_weight": 3}, matrix(data), 6, **GUIDING[kind](data))
    weight = np.where(data.y == 1, 3.0, 1.0)
    weighted = pi_xgb.train(params, matrix(data, weight=weight), 6, **GUIDING[kind](data))
    plain = pi_xgb.train(params, matrix(data), 6, **GUIDING[kind](data))
    # scale_pos_weight = 3 is weight 3 on the rows labelled 1, for the student and for the teacher.
    np.testing.assert_allclose(scaled.predict(matrix(data)), weighted.predict(matrix(data)), rtol=1e-5, atol=1e-6)
    assert not np.allclose(scaled.predict(matrix(data)), plain.predict(matrix(data)), atol=1e-2)


@pytest.mark.parametrize("kind", ["array", "kbpib", "jpib"])
@pytest.mark.parametrize("objective", OBJECTIVES)
def test_a_weight_of_k_is_the_row_k_times(objective: str, kind: str) -> None:
    data = table(objective, 100, seed=4)
    times = np.random.default_rng(1).integers(1, 4, size=len(data.y))
    rows = np.repeat(np.arange(len(data.y)), times)
    repeated = Table(data.x.iloc[rows], data.z.iloc[rows], data.y[rows], data.q[rows], data.weight[rows])
    params = params_of(objective, tree_method="exact")
    weighted = pi_xgb.train(params, matrix(data, weight=times), 6, kl_weight=0.8, **GUIDING[kind](data))
    long = pi_xgb.train(params, matrix(repeated), 6, kl_weight=0.8, **GUIDING[kind](repeated))
    dtest = matrix(table(objective, 60, seed=5))
    # Row weights count like repetitions: in the gradient, in the intercept and in the teacher's training.
    np.testing.assert_allclose(
        weighted.predict(dtest, output_margin=True), long.predict(dtest, output_margin=True), rtol=1e-4, atol=1e-5
    )
    unweighted = pi_xgb.train(params, matrix(data), 6, kl_weight=0.8, **GUIDING[kind](data))
    assert not np.allclose(
        weighted.predict(dtest, output_margin=True), unweighted.predict(dtest, output_margin=True), atol=1e-2
    )


@pytest.mark.parametrize("kind", ["kbpib", "crossfit", "jpib"])
def test_the_weights_of_dtrain_count_for_the_teacher_too(kind: str) -> None:
    data = table("binary:logistic", 100, seed=4)
    params = params_of("binary:logistic", tree_method="exact")

    def student(privileged: xgb.DMatrix) -> np.ndarray:
        guiding = {**GUIDING[kind](data), "privileged": privileged}
        dtrain = matrix(data, weight=data.weight)
        return pi_xgb.train(params, dtrain, 6, kl_weight=3.0, **guiding).predict(matrix(data), output_margin=True)

    # Whether privileged carries the weights as well makes no difference.
    np.testing.assert_allclose(
        student(privileged_of(data)), student(privileged_of(data, weight=data.weight)), rtol=1e-4, atol=1e-5
    )


def test_a_constant_base_margin_is_a_base_score() -> None:
    data = table("binary:logistic", 100, seed=4)
    base_score = 0.2
    margin = np.full(len(data.y), np.log(base_score / (1 - base_score)))
    by_score = pi_xgb.train(params_of("binary:logistic", base_score=base_score), matrix(data), 6, teacher=data.q)
    with_margin = matrix(data, base_margin=margin)
    by_margin = pi_xgb.train(params_of("binary:logistic"), with_margin, 6, teacher=data.q)
    # The student starts from the user's margin and not from an intercept of its own on top of it.
    np.testing.assert_allclose(by_margin.predict(with_margin), by_score.predict(matrix(data)), rtol=1e-6, atol=1e-6)


# --- how the teacher's keywords hang together ----------------------------------------------------------------------


@pytest.mark.parametrize("crossfit", [0, 4])
@pytest.mark.parametrize("objective", OBJECTIVES)
def test_privileged_is_fit_teacher_and_then_teacher(objective: str, crossfit: int) -> None:
    data = table(objective)
    params, teaching = params_of(objective), params_of(objective, max_depth=2, eta=0.7)
    learned = pi_xgb.train(
        params,
        matrix(data),
        5,
        privileged=privileged_of(data),
        crossfit=crossfit,
        teacher_params=teaching,
        kl_weight=2.0,
    )
    teacher = pi_xgb.fit_teacher(teaching, privileged_of(data), 5, crossfit=crossfit)
    brought = pi_xgb.train(params, matrix(data), 5, teacher=teacher, kl_weight=2.0)
    # KbPIB in one call is KbPIB in two, to the bit; and it is what the same numbers say as a plain array.
    assert text_without_sees(learned) == text_without_sees(brought)
    by_array = pi_xgb.train(params, matrix(data), 5, teacher=teacher.values, kl_weight=2.0)
    by_array.set_attr(pi_xgb_teacher="boosted", pi_xgb_teacher_settings=brought.attr("pi_xgb_teacher_settings"))
    assert model_text(by_array) == model_text(brought)


def test_teacher_params_are_by_default_the_students_without_its_columns() -> None:
    data = table("binary:logistic")
    about_columns = {"monotone_constraints": "(1,0,0)", "interaction_constraints": "[[0, 1], [2]]"}
    shared = params_of("binary:logistic", max_depth=4, eta=0.2)
    by_default = pi_xgb.train({**shared, **about_columns}, matrix(data), 5, privileged=privileged_of(data))
    teacher = pi_xgb.fit_teacher(shared, privileged_of(data), 5)
    explicit = pi_xgb.train({**shared, **about_columns}, matrix(data), 5, teacher=teacher)
    # The teacher learns with the student's params, but constraints on x say nothing about z.
    assert text_without_sees(by_default) == text_without_sees(explicit)


def test_teacher_params_need_not_repeat_objective_and_classes() -> None:
    data = table("multi:softprob")
    params = params_of("multi:softprob")
    short = pi_xgb.train(
        params, matrix(data), 4, privileged=privileged_of(data), teacher_params={**QUIET, "max_depth": 2}
    )
    full = pi_xgb.train(
        params,
        matrix(data),
        4,
        privileged=privileged_of(data),
        teacher_params={**QUIET, "max_depth": 2, "objective": "multi:softprob", "num_class": N_CLASSES},
    )
    # What teacher and student share by definition is filled in.
    assert model_text(short) == model_text(full)


def test_two_teachers_are_one_teacher_of_their_weighted_mean() -> None:
    data = table("binary:logistic")
    params, other = params_of("binary:logistic"), 1 - data.q**2
    both = pi_xgb.train(params, matrix(data), 5, teacher=[(data.q, 0.5), (other, 1.5)])
    single = pi_xgb.train(params, matrix(data), 5, teacher=(0.5 * data.q + 1.5 * other) / 2, kl_weight=2.0)
    alone = pi_xgb.train(params, matrix(data), 5, teacher=[(data.q, 0.5)])
    # Teachers add up: weights and verdicts.
    np.testing.assert_allclose(both.predict(matrix(data)), single.predict(matrix(data)), rtol=1e-5)
    assert alone.get_dump() == pi_xgb.train(params, matrix(data), 5, teacher=data.q, kl_weight=0.5).get_dump()


# --- the objective's name ------------------------------------------------------------------------------------------


def test_num_class_without_an_objective_means_multi_softmax() -> None:
    data = table("multi:softmax")
    named = params_of("multi:softmax")
    unnamed = {key: value for key, value in named.items() if key != "objective"}
    seen: list[np.ndarray] = []

    def metric(predictions: np.ndarray, evaluated: xgb.DMatrix) -> tuple[str, float]:
        seen.append(predictions.copy())
        return "classes", 0.0

    booster = pi_xgb.train(
        unnamed,
        matrix(data),
        4,
        teacher=data.q,
        evals=[(matrix(data), "again")],
        custom_metric=metric,
        verbose_eval=False,
    )
    np.testing.assert_array_equal(seen[-1], booster.predict(matrix(data)))
    # XGBoost's own rule: predictions are classes, and the model is that of the name.
    assert set(booster.predict(matrix(data))) <= {0.0, 1.0, 2.0}
    assert booster.get_dump() == pi_xgb.train(named, matrix(data), 4, teacher=data.q).get_dump()
    np.testing.assert_array_equal(
        booster.predict(matrix(data)), pi_xgb.train(named, matrix(data), 4, teacher=data.q).predict(matrix(data))
    )


def test_no_objective_on_0_1_labels_is_squared_error_with_a_warning() -> None:
    data = table("binary:logistic")
    unnamed: dict[str, Any] = {**QUIET, "max_depth": 3}
    with pytest.warns(UserWarning, match=r"reg:squarederror.*binary:logistic") as caught:
        booster = pi_xgb.train(unnamed, matrix(data), 4, teacher=data.q)
    # The warning stands once, at the caller's own line.
    assert [w.filename for w in caught] == [__file__]
    # The meaning is XGBoost's.
    named = pi_xgb.train(params_of("reg:squarederror"), matrix(data), 4, teacher=data.q)
    assert booster.get_dump() == named.get_dump()
    np.testing.assert_array_equal(booster.predict(matrix(data)), named.predict(matrix(data)))


def test_no_objective_is_no_surprise_elsewhere() -> None:
    unnamed: dict[str, Any] = {**QUIET, "max_depth": 3}
    numbers, classes = table("reg:squarederror"), table("multi:softmax")
    # Warnings are errors here: numbers as labels, named classes and plain XGBoost get none.
    assert pi_xgb.train(unnamed, matrix(numbers), 2, teacher=numbers.q).num_boosted_rounds() == 2
    assert pi_xgb.train({**unnamed, "num_class": 3}, matrix(classes), 2, teacher=classes.q).num_boosted_rounds() == 2
    assert pi_xgb.train(unnamed, matrix(table("binary:logistic")), 2).num_boosted_rounds() == 2


# --- the user's own objects ----------------------------------------------------------------------------------------


FLOAT_FIELDS = ("label", "weight", "base_margin", "label_lower_bound", "label_upper_bound")


def content(matrix: xgb.DMatrix) -> dict[str, Any]:
    """Everything that a DMatrix lets itself be asked for."""
    data = matrix.get_data()
    fields = {name: matrix.get_float_info(name).tobytes() for name in FLOAT_FIELDS}
    return {
        **fields,
        "data": (data.shape, data.indptr.tobytes(), data.indices.tobytes(), data.data.tobytes()),
        "names": matrix.feature_names,
        "types": matrix.feature_types,
        "groups": matrix.get_uint_info("group_ptr").tobytes(),
    }


def snapshot(value: Any) -> Any:
    if isinstance(value, xgb.DMatrix):
        return content(value)
    if isinstance(value, dict):
        return {key: snapshot(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [snapshot(item) for item in value]
    if isinstance(value, np.ndarray):
        return (value.dtype, value.shape, value.tobytes())
    return copy.deepcopy(value)


class Stop(Exception):
    """What a user's callback raises."""


class Interrupting(xgb.callback.TrainingCallback):
    def after_iteration(self, model: Any, epoch: int, evals_log: Any) -> bool:
        if epoch == 2:
            raise Stop
        return False


def all_that_can_be_given(kind: str, make: Callable[..., xgb.DMatrix]) -> dict[str, Any]:
    data, valid = table("binary:logistic", missing=True), table("binary:logistic", 50, seed=5)
    given_objects: dict[str, Any] = {
        "params": params_of(
            "binary:logistic", eval_metric=["auc", "logloss"], monotone_constraints=(1, 0, 0), scale_pos_weight=2.0
        ),
        "dtrain": matrix(data, make, weight=data.weight),
        "evals": [(matrix(valid), "valid")],
    }
    if kind == "array":
        return {**given_objects, "teacher": data.q.astype(np.float32)}
    if kind == "list":
        return {**given_objects, "teacher": [(data.q, 0.5), (data.q.tolist(), 0.25)]}
    if kind == "follower":
        return {**given_objects, "teacher": Timid()}
    privileged = make(data.z, data.y)
    if kind == "jpib":
        return {**given_objects, "privileged": privileged, "method": "jpib"}
    if kind == "crossfit":
        return {**given_objects, "privileged": xgb.DMatrix(data.z, data.y), "crossfit": 3}
    return {
        **given_objects,
        "privileged": privileged,
        "teacher_params": {**QUIET, "eta": 0.5},
        "privileged_evals": [(privileged_of(valid), "valid")],
        "early_stopping_rounds": 20,
    }


class Timid(pi_xgb.Teacher):
    """Follows the student, so that the native engine has to set the labels anew in every round."""

    def q(self, mean: np.ndarray, label: np.ndarray, weight: np.ndarray | None) -> np.ndarray:
        assert not np.shares_memory(mean, label)
        return (mean + mean.mean()) / 2

    def __deepcopy__(self, memo: Any) -> Timid:
        return self


@pytest.mark.parametrize("make", [xgb.DMatrix, xgb.QuantileDMatrix])
@pytest.mark.parametrize("engine", ["callback", "native"])
@pytest.mark.parametrize("interrupted", [False, True])
@pytest.mark.parametrize("kind", ["array", "list", "follower", "kbpib", "crossfit", "jpib"])
def test_nothing_that_the_user_gave_is_changed(kind: str, interrupted: bool, engine: str, make: Any) -> None:
    objects = all_that_can_be_given(kind, make)
    callbacks = [Interrupting()] if interrupted else []
    before, result = snapshot(objects), {}
    positional = [objects.pop("params"), objects.pop("dtrain")]

    def train() -> xgb.Booster:
        return pi_xgb.train(
            *positional,
            6,
            callbacks=callbacks,
            evals_result=result,
            verbose_eval=False,
            engine=engine,
            **objects,
        )

    if interrupted:
        with pytest.raises(Stop):
            train()
        assert result == {}
    else:
        assert train().num_boosted_rounds() == 6
        assert list(result) == ["valid"]
    # Params, lists, arrays and every byte of every matrix are as they were, also when a callback raised half-way.
    assert snapshot({"params": positional[0], "dtrain": positional[1], **objects}) == before
    assert [type(callback) for callback in callbacks] == [Interrupting] * interrupted


@pytest.mark.parametrize("make", [xgb.DMatrix, xgb.QuantileDMatrix])
@pytest.mark.parametrize("engine", ["callback", "native"])
@pytest.mark.parametrize("kind", ["array", "list", "follower", "kbpib", "crossfit", "jpib"])
def test_the_same_objects_give_the_same_model_again(kind: str, engine: str, make: Any) -> None:
    objects = all_that_can_be_given(kind, make)
    first, second = (pi_xgb.train(num_boost_round=6, verbose_eval=False, engine=engine, **objects) for _ in range(2))
    # Training twice with the very same objects gives one model.
    assert model_text(first) == model_text(second)
    assert first.attr("pi_xgb_engine") == engine


def test_teachers_can_teach_again() -> None:
    data = table("binary:logistic")
    params = params_of("binary:logistic")
    for teacher in (
        pi_xgb.fit_teacher(params, privileged_of(data), 4),
        pi_xgb.ModelTeacher(lambda q: q, data.q),
        pi_xgb.JointTeacher(privileged_of(data), params),
    ):
        models = [model_text(pi_xgb.train(params, matrix(data), 4, teacher=teacher)) for _ in range(2)]
        # One teacher object, two trainings, one model.
        assert models[0] == models[1]


# --- what the model says about its making --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("guiding", "method", "kind", "kl_weights"),
    [
        (lambda data: {"teacher": data.q, "kl_weight": 0.25}, "kbpib", "array", [0.25]),
        (lambda data: {"privileged": privileged_of(data)}, "kbpib", "boosted", [0.5]),
        (lambda data: {"privileged": privileged_of(data), "method": "jpib", "kl_weight": 2}, "jpib", "boosted", [2]),
        (lambda data: {"teacher": Timid(), "kl_weight": 2}, "kbpib", "Timid", [2]),
        (lambda data: {"teacher": [(data.q, 1.0), (data.q / 2, 0.5)]}, "kbpib", "array,array", [1.0, 0.5]),
        # Of weights per row the largest.
        (
            lambda data: {"teacher": [(data.q, np.where(data.y > 0, 0.3, 0)), (data.q, 2)]},
            "kbpib",
            "array,array",
            [0.3, 2],
        ),
    ],
    ids=["array", "kbpib", "jpib", "own", "list", "list per row"],
)
def test_the_model_says_how_it_was_made(
    guiding: Any, method: str, kind: str, kl_weights: list[float], tmp_path: Path
) -> None:
    data = table("binary:logistic")
    booster = pi_xgb.train(params_of("binary:logistic"), matrix(data), 3, **guiding(data))
    booster.save_model(tmp_path / "model.ubj")
    made = {
        "pi_xgb_method": method,
        "pi_xgb_teacher": kind,
        "pi_xgb_kl_weight": booster.attr("pi_xgb_kl_weight"),
        "pi_xgb_rows": "90",
        "pi_xgb_labelled": "90",
        "pi_xgb_engine": "callback",
        "pi_xgb_version": pi_xgb.__version__,
    }
    if kind == "boosted":
        crossfit = "" if method == "jpib" else "crossfit=0, "
        made["pi_xgb_teacher_settings"] = f"boosted: {crossfit}teacher_sees='privileged'"
    # These and nothing else; they survive the file.
    assert booster.attributes() == made
    assert [float(weight) for weight in made["pi_xgb_kl_weight"].split(",")] == kl_weights
    assert xgb.Booster(model_file=tmp_path / "model.ubj").attributes() == made


def test_the_model_records_how_its_teachers_were_trained() -> None:
    data, labelled = table("binary:logistic"), np.arange(90) < 60
    params, own = params_of("binary:logistic"), {"max_depth": 2, "eta": 0.5}
    teachers = [("boosted", 1.0), (data.q, 0.5), ("forest", 0.5)]
    keywords: dict[str, Any] = {"privileged": privileged_of(data), "labelled": labelled, "teacher_params": own}
    booster = pi_xgb.train(params, matrix(data), 3, teacher=teachers, crossfit=3, **keywords)
    assert (booster.attr("pi_xgb_rows"), booster.attr("pi_xgb_labelled")) == ("90", "60")
    first, second = str(booster.attr("pi_xgb_teacher_settings")).split("; ")
    assert second == "forest: crossfit=3, teacher_sees='all'"
    found = eval(f"dict({first.removeprefix('boosted: ')})")
    assert (found["crossfit"], found.pop("teacher_sees")) == (3, "privileged")
    # The record is enough to train again.
    again = pi_xgb.train(params, matrix(data), 3, teacher=teachers, **keywords | found)
    assert model_text(again) == model_text(booster)
    # The names of privileged columns stay out of the model.
    named = keywords | {"teacher_params": own | {"monotone_constraints": {data.z.columns[0]: 1}}}
    constrained = pi_xgb.train(params, matrix(data), 3, teacher="boosted", crossfit=3, **named)
    assert "'eta': '0.5'" in str(constrained.attr("pi_xgb_teacher_settings"))
    assert str(data.z.columns[0]) not in str(constrained.attributes())
    # A continued model has the settings of its last training.
    continued = pi_xgb.train(params, matrix(data), 2, teacher=data.q, xgb_model=booster)
    assert continued.attr("pi_xgb_teacher_settings") is None
    assert continued.attr("pi_xgb_labelled") == "90"


ODD_NAMES = ["ζ_secret_ssn_7391", "privately-known dose", "<hidden>"[1:-1] + "_assay_0x5f"]


def odd_privileged(n: int = 90) -> tuple[Table, pd.DataFrame]:
    """Privileged columns whose names and values could not come from anywhere else."""
    data = table("binary:logistic", n)
    odd = pd.DataFrame(
        {
            name: 1e7 + 9.7e5 * data.z["z0"] + 1e5 * np.random.default_rng(i).normal(size=n)
            for i, name in enumerate(ODD_NAMES)
        }
    )
    return data._replace(z=odd.astype(np.float32)), odd.astype(np.float32)


def numbers_in(value: Any) -> Iterator[float]:
    if isinstance(value, dict):
        for item in value.values():
            yield from numbers_in(item)
    elif isinstance(value, list):
        for item in value:
            yield from numbers_in(item)
    elif isinstance(value, float):  # thresholds and leaves; whole numbers are XGBoost's own node numbers
        yield value


@pytest.mark.parametrize("kind", ["kbpib", "crossfit", "jpib"])
def test_a_model_file_holds_nothing_of_the_privileged_features(kind: str, tmp_path: Path) -> None:
    data, odd = odd_privileged()
    teacher = pi_xgb.fit_teacher(params_of("binary:logistic"), privileged_of(data), 4)
    # The privileged features are used: a teacher's own file does hold their names and thresholds.
    assert all(name in json.loads(model_text(teacher.booster))["learner"]["feature_names"] for name in ODD_NAMES)
    assert max(numbers_in(json.loads(model_text(teacher.booster)))) > 5e6

    booster = pi_xgb.train(params_of("binary:logistic"), matrix(data), 4, **GUIDING[kind](data))
    for name in ("model.json", "model.ubj"):
        booster.save_model(tmp_path / name)
    everything = {
        "json": (tmp_path / "model.json").read_bytes(),
        "ubj": (tmp_path / "model.ubj").read_bytes(),
        "pickle": pickle.dumps(booster),
        "config": booster.save_config().encode(),
    }
    for content_of_file in everything.values():
        # No name of a privileged column, in whatever way it may be written down.
        for name in ODD_NAMES:
            assert name.encode() not in content_of_file
            assert json.dumps(name).strip('"').encode() not in content_of_file
    # No value: every number of the model is smaller than any of theirs, and none of their bytes are in the binary.
    assert max(abs(number) for number in numbers_in(json.loads(everything["json"]))) < 1e6 < odd.to_numpy().min()
    for value in odd.to_numpy().ravel():
        for code in (">f", "<f"):
            assert struct.pack(code, value) not in everything["ubj"]
    # It predicts from the classifier features alone.
    assert booster.feature_names == ["x0", "x1", "x2"]
    assert booster.predict(xgb.DMatrix(data.x)).shape == (90,)


PLAIN_READER = """
    import sys

    class Block:
        def find_spec(self, name, path=None, target=None):
            if name.split(".")[0] == "pi_xgb":
                raise ImportError("pi_xgb is not here")

    sys.meta_path.insert(0, Block())
    try:
        import pi_xgb
    except ImportError:
        pass
    else:
        sys.exit("pi_xgb could be imported, which makes this test worthless")
    import numpy, xgboost
    rows = numpy.load(sys.argv[1])
    for file in sys.argv[2:]:
        booster = xgboost.Booster(model_file=file)
        matrix = xgboost.DMatrix(rows, feature_names=booster.feature_names)
        print(booster.predict(matrix).astype("<f4").tobytes().hex())
    assert not any(name.split(".")[0] == "pi_xgb" for name in sys.modules)
"""


def test_a_plain_xgboost_reads_the_model_where_pi_xgb_cannot_be_imported(tmp_path: Path) -> None:
    files: list[str] = []
    expected: list[str] = []
    for kind in ("kbpib", "jpib"):
        data, _ = odd_privileged()
        booster = pi_xgb.train(params_of("binary:logistic"), matrix(data), 4, **GUIDING[kind](data))
        for suffix in ("json", "ubj"):
            files.append(str(tmp_path / f"{kind}.{suffix}"))
            booster.save_model(files[-1])
            expected.append(booster.predict(matrix(data)).astype("<f4").tobytes().hex())
    np.save(tmp_path / "rows.npy", data.x.to_numpy())
    command = [sys.executable, "-I", "-c", textwrap.dedent(PLAIN_READER), str(tmp_path / "rows.npy"), *files]
    done = subprocess.run(
        command, capture_output=True, text=True, cwd=tmp_path, timeout=120, check=False, env={**os.environ}
    )
    assert done.returncode == 0, done.stderr
    # Another process, without this library, predicts the same to the bit from the file alone.
    assert done.stdout.split() == expected


def test_rounds_are_whole_numbers() -> None:
    data = table("binary:logistic")
    for rounds in (2.5, "3", True):
        with pytest.raises(TypeError, match=r"num_boost_round.*whole number"):
            pi_xgb.train(params_of("binary:logistic"), matrix(data), rounds, teacher=data.q)


def test_privileged_evals_may_be_any_iterable_and_maximize_is_about_them_too() -> None:
    data, valid = table("binary:logistic"), table("binary:logistic", 50, seed=5)
    params = params_of("binary:logistic", eta=0.5, eval_metric="logloss")

    def student(evals: Any, maximize: bool | None) -> str:
        stopping: dict[str, Any] = {"early_stopping_rounds": 3, "maximize": maximize, "verbose_eval": False}
        watched = {"evals": [(matrix(valid), "valid")], **stopping}
        return text_without_sees(
            pi_xgb.train(params, matrix(data), 30, privileged=privileged_of(data), privileged_evals=evals, **watched)
        )

    def brought(maximize: bool | None) -> str:
        stopping: dict[str, Any] = {"early_stopping_rounds": 3, "maximize": maximize}
        evals = [(privileged_of(valid), "hidden")]
        teacher = pi_xgb.fit_teacher(params, privileged_of(data), 30, evals=evals, **stopping)
        watched = {"evals": [(matrix(valid), "valid")], "verbose_eval": False, **stopping}
        return text_without_sees(pi_xgb.train(params, matrix(data), 30, teacher=teacher, **watched))

    for maximize in (None, True):
        expected = brought(maximize)
        assert student([(privileged_of(valid), "hidden")], maximize) == expected
        assert student(((m, "hidden") for m in [privileged_of(valid)]), maximize) == expected
    assert brought(None) != brought(True)


def test_groups_of_crossfit_reach_the_teacher() -> None:
    data, group = table("binary:logistic"), np.arange(90) // 4
    params = params_of("binary:logistic")
    keywords: dict[str, Any] = {"crossfit": 3, "crossfit_groups": group}
    learned = pi_xgb.train(params, matrix(data), 4, privileged=privileged_of(data), **keywords)
    teacher = pi_xgb.fit_teacher(params, privileged_of(data), 4, **keywords)
    brought = pi_xgb.train(params, matrix(data), 4, teacher=teacher)
    assert text_without_sees(brought) == text_without_sees(learned)
    apart = pi_xgb.train(params, matrix(data), 4, privileged=privileged_of(data), crossfit=3)
    assert model_text(apart) != model_text(learned)


def test_both_ways_of_teaching_are_recorded_as_the_joint_one() -> None:
    data, params = table("binary:logistic"), params_of("binary:logistic")
    joint = pi_xgb.JointTeacher(privileged_of(data), params)
    for pairs in ([(joint, 0.5), (data.q, 0.25)], [(data.q, 0.25), (joint, 0.5)]):
        booster = pi_xgb.train(params, matrix(data), 2, teacher=pairs)
        assert booster.attr("pi_xgb_method") == "jpib"
        assert booster.attr("pi_xgb_kl_weight") == ",".join(str(weight) for _, weight in pairs)


def test_a_teacher_that_counts_on_other_workers_alone_is_recorded_there() -> None:
    data, booster = table("binary:logistic"), xgb.Booster()
    nowhere, tiny = np.zeros(90), np.full(90, 1e-3)
    weighted_teachers = [WeightedTeacher(FixedTeacher(data.q), 0.5, per_row) for per_row in (None, nowhere, tiny)]
    task = Task.from_matrix(Spec.read(params_of("binary:logistic")), matrix(data))
    _record(booster, weighted_teachers, "callback", task)
    assert booster.attr("pi_xgb_kl_weight") == "0.5,0.0,0.5"
    plain = xgb.Booster()
    _record(plain, [], "callback", task)
    assert plain.attributes() == {}


def test_the_users_callbacks_may_be_a_tuple_beside_those_of_the_native_engine() -> None:
    data = table("binary:logistic")
    for engine in ("callback", "native"):
        watch = AfterEachRound(matrix(data))
        pi_xgb.train(params_of("binary:logistic"), matrix(data), 3, teacher=Timid(), engine=engine, callbacks=(watch,))
        assert len(watch.predictions) == 3
