"""``pi_xgb.train`` against ``xgboost.train``: the same without a teacher, and the same in everything else with one."""

from __future__ import annotations

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
from typing import Any

import helpers_tables
import numpy as np
import pandas as pd
import pytest
import xgboost as xgb
from helpers_tables import N_CLASSES, OBJECTIVES, QUIET, Table, matrix, params_of, privileged_of, table
from hypothesis import assume, event, given
from hypothesis import strategies as st

import pi_xgb

PAPER, JOINT = helpers_tables.PAPER, helpers_tables.JOINT
IN_SAMPLE: dict[str, Any] = {"teacher": "boosted", "crossfit": 0}
METHODS = {"kbpib": PAPER, "jpib": JOINT}


def model_text(booster: xgb.Booster) -> str:
    return booster.save_raw("json").decode()


def text_without_sees(booster: xgb.Booster) -> str:
    """The model, but for the columns of its teacher: a teacher trained before records none."""
    recorded = booster.attr("pi_xgb_teacher_settings") or ""
    booster.set_attr(pi_xgb_teacher_settings=re.sub(r"(boosted: |, )teacher_sees='\w+'", "", recorded) or None)
    return model_text(booster)


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


@given(case=CASES, kind=st.sampled_from(sorted(helpers_tables.SILENT)))
def test_without_a_teacher_that_counts_everything_is_that_of_xgboost(case: dict[str, Any], kind: str) -> None:
    assume(possible(case) and not (kind == "jpib" and (case["continued"] or case["booster"] == "dart")))
    event(f"{kind}, {case['booster']}")
    assert run(pi_xgb.train, case, make=helpers_tables.SILENT[kind]) == run(xgb.train, case)


def own_objective(margin: np.ndarray, dtrain: xgb.DMatrix) -> tuple[np.ndarray, np.ndarray]:
    return margin - dtrain.get_label().reshape(margin.shape), np.ones_like(margin)


OTHER_TASKS: dict[str, tuple[Any, Callable[[np.ndarray], np.ndarray], Any]] = {
    "cox": ({"objective": "survival:cox"}, lambda u: np.where(u > 0, 1 + abs(u), -1 - abs(u)), None),
    "quantiles": ({"objective": "reg:quantileerror", "quantile_alpha": [0.2, 0.8]}, lambda u: u, None),
    "hinge": ({"objective": "binary:hinge"}, lambda u: (u > 0) * 1, None),
    "soft labels": ({"objective": "binary:logistic"}, lambda u: 1 / (1 + np.exp(-u)), None),
    "no objective": ({}, lambda u: (u > 0) * 1, None),
    "no params": (None, lambda u: u, None),
    "own objective": ({"objective": "reg:squarederror"}, lambda u: u, own_objective),
}


@pytest.mark.parametrize("task", OTHER_TASKS)
def test_without_a_teacher_every_objective_of_xgboost_works(task: str) -> None:
    own, label, objective = OTHER_TASKS[task]
    rng = np.random.default_rng(3)
    x, u = rng.normal(size=(80, 3)), rng.normal(size=80)

    def outcome(train: Callable[..., xgb.Booster], **nobody: Any) -> tuple[str, str]:
        dtrain = xgb.DMatrix(x, label(x[:, 0] + u), nthread=1)
        booster = train(own if own is None else {**QUIET, **own}, dtrain, 4, obj=objective, **nobody)
        return model_text(booster), booster.save_config()

    assert outcome(pi_xgb.train) == outcome(xgb.train)
    if own:
        assert outcome(pi_xgb.train, teacher=np.full(80, 0.5), kl_weight=0) == outcome(xgb.train)


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
    with pytest.raises(TypeError, match="positional"):
        pi_xgb.train(params_of("binary:logistic"), dtrain, 3, *[None] * 30)
    with pytest.raises(TypeError, match=r"evals.*position.*keyword"):
        pi_xgb.train(params_of("binary:logistic"), dtrain, 3, [], evals=[])


class AfterEachRound(xgb.callback.TrainingCallback):
    """What the booster itself predicts after each round."""

    def __init__(self, *matrices: xgb.DMatrix) -> None:
        super().__init__()
        self.matrices, self.predictions, self.features = matrices, [], set()

    def after_iteration(self, model: Any, epoch: int, evals_log: Any) -> bool:
        self.features.add(tuple(model.feature_names))
        self.predictions.append([model.predict(m) for m in self.matrices])
        return False


ENGINES = [
    (name, engine)
    for name in OBJECTIVES
    for engine in (["callback"] if name.startswith("multi") else ["callback", "native"])
]


@pytest.mark.parametrize(("objective", "engine"), [*ENGINES, ("num_class alone", "callback")])
@pytest.mark.parametrize("base_margin", [False, True])
def test_a_custom_metric_gets_predictions_on_their_own_scale(objective: str, engine: str, base_margin: bool) -> None:
    name = "multi:softmax" if objective == "num_class alone" else objective  # XGBoost's own rule
    data, params = table(name), params_of(name)
    if objective == "num_class alone":
        del params["objective"]
    fields = {"base_margin": np.full(data.q.shape, 0.7)} if base_margin else {}
    dtrain, single, other = matrix(data, **fields), matrix(data, **fields), matrix(table(name, 40, seed=5))
    seen: list[np.ndarray] = []

    def metric(predictions: np.ndarray, evaluated: xgb.DMatrix) -> tuple[str, float]:
        seen.append(predictions.copy())
        return "metric", float(evaluated.num_row())

    watch, history = AfterEachRound(single, other), {}
    evals = {"evals": [(single, "one"), (other, "other")], "evals_result": history, "verbose_eval": False}
    guided = {"teacher": data.q, "kl_weight": 1.5, "engine": engine, "custom_metric": metric, "callbacks": [watch]}
    pi_xgb.train(params, dtrain, 4, **evals, **guided)
    expected = [prediction for each_round in watch.predictions for prediction in each_round]
    assert len(seen) == len(expected) == 8
    for shown, own in zip(seen, expected, strict=True):
        # The booster's own predictions after that round: probabilities, numbers or classes.
        assert (shown.shape, shown.dtype) == (own.shape, own.dtype)
        np.testing.assert_allclose(shown, own, rtol=1e-6, atol=1e-6)
    assert history["other"]["metric"] == [40.0] * 4


LOGLOSS = {"binary:logistic": "logloss", "multi:softprob": "mlogloss", "reg:squarederror": "rmse"}


def metric_by_hand(objective: str, y: np.ndarray, prediction: np.ndarray) -> float:
    if objective == "reg:squarederror":
        return float(np.sqrt(np.mean((prediction - y) ** 2)))
    if objective == "binary:logistic":
        return float(-np.mean(y * np.log(prediction) + (1 - y) * np.log(1 - prediction)))
    return float(-np.mean(np.log(prediction[np.arange(len(y)), y.astype(int)])))


@pytest.mark.parametrize(
    ("objective", "engine", "method"),
    [
        (objective, engine, method)
        for objective, engine in ENGINES
        for method in ("kbpib", "jpib")
        if objective in LOGLOSS and (method, engine) != ("jpib", "native")
    ],
)
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
        **METHODS[method],
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


def test_callbacks_see_the_student_alone_and_once_per_round() -> None:
    data = table("binary:logistic")
    watch = AfterEachRound(matrix(data))
    pi_xgb.train(
        params_of("binary:logistic"),
        matrix(data),
        7,
        privileged=privileged_of(data),
        teacher="boosted",
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


def test_verbose_eval_shows_a_line_of_the_teacher_and_the_rounds(capfd: pytest.CaptureFixture[str]) -> None:
    data, valid = table("binary:logistic"), table("binary:logistic", 50, seed=5)
    stopped = {**PAPER, "privileged_evals": [(privileged_of(valid), "hidden")], "early_stopping_rounds": 6}
    for keywords in (PAPER, stopped, {"teacher": "boosted", "crossfit": 2}, JOINT):
        for verbose, n_lines in ((True, 6), (3, 3), (False, 0), (None, 0)):
            shown = {"evals": [(matrix(valid), "valid")], "verbose_eval": verbose}
            params = params_of("binary:logistic", verbosity=1)
            pi_xgb.train(params, matrix(data), 6, privileged=privileged_of(data), **keywords, **shown)
            out, err = capfd.readouterr()
            assert err == ""
            lines = out.splitlines()
            if verbose and keywords is not JOINT:
                assert lines.pop(0).startswith("kl_weight 0.5 of <LearnedTeacher: boosted 1.00, ")
            assert len(lines) == n_lines
            assert all("valid-logloss" in line and "hidden" not in line for line in lines)


def blended(data: Table, kl_weight: float) -> np.ndarray:
    """t = (y + a q) / (1 + a)."""
    return (data.y + kl_weight * data.q) / (1 + kl_weight)


# What the matrix of stacked rows does not vary: how values are stored, and how trees grow.
SETTINGS: dict[str, dict[str, Any]] = {
    "missing": {"data": {"missing": True}},
    "categories": {"data": {"categories": True}},
    "categories in approx": {"data": {"categories": True, "missing": True}, "params": {"tree_method": "approx"}},
    "quantised categories": {"make": xgb.QuantileDMatrix, "data": {"categories": True}},
    "subsample": {"params": {"subsample": 0.7, "colsample_bytree": 0.7}},
    "lossguide": {"params": {"grow_policy": "lossguide", "max_leaves": 4}},
    "forest": {"params": {"num_parallel_tree": 3, "subsample": 0.7}},
    "dart": {"params": {"booster": "dart", "rate_drop": 0.4}},
    "monotone": {"params": {"monotone_constraints": "(1,0,-1)"}},
    "vector leaves": {"params": {"multi_strategy": "multi_output_tree"}},
}


@pytest.mark.parametrize(("objective", "engine"), ENGINES)
@pytest.mark.parametrize("setting", SETTINGS)
def test_the_student_is_xgboost_on_the_blended_target(objective: str, setting: str, engine: str) -> None:
    chosen, a = SETTINGS[setting], 1.7
    data = table(objective, 120, seed=4, **chosen.get("data", {}))
    params, make = params_of(objective, base_score=0.5, **chosen.get("params", {})), chosen.get("make", xgb.DMatrix)
    classes = objective.startswith("multi")  # whose blended targets no label can hold: the teacher repeats y
    q = np.eye(N_CLASSES)[data.y.astype(int)] if classes else data.q
    student = pi_xgb.train(params, matrix(data, make), 8, teacher=q, kl_weight=a, engine=engine)
    soft = data if classes else data._replace(y=blended(data, a))
    # Labels plus a teacher of weight a are labels t with a loss 1 + a times as large, or penalties divided by that.
    scaled = {**params, "reg_lambda": 1 / (1 + a), "min_child_weight": 1 / (1 + a)}
    plain = xgb.train(scaled, matrix(soft, make), 8)
    dtest = matrix(table(objective, 60, seed=5, **chosen.get("data", {})))
    found, expected = (booster.predict(dtest, output_margin=True) for booster in (student, plain))
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-5)


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


def test_a_parameter_of_none_is_not_given_as_in_xgboost() -> None:
    data = table("binary:logistic")
    params = params_of("binary:logistic")
    empty: dict[str, Any] = dict.fromkeys(["base_score", "scale_pos_weight", "num_class", "alpha", "reg_lambda"])
    with_none = pi_xgb.train({**params, **empty}, matrix(data), 3, teacher=data.q)
    # A None in params is XGBoost's "not given", for the intercept too.
    assert model_text(with_none) == model_text(pi_xgb.train(params, matrix(data), 3, teacher=data.q))


def test_no_objective_is_no_surprise_elsewhere() -> None:
    unnamed: dict[str, Any] = {**QUIET, "max_depth": 3}
    numbers, classes = table("reg:squarederror"), table("multi:softmax")
    # Warnings are errors here: numbers as labels, named classes and plain XGBoost get none.
    assert pi_xgb.train(unnamed, matrix(numbers), 2, teacher=numbers.q).num_boosted_rounds() == 2
    assert pi_xgb.train({**unnamed, "num_class": 3}, matrix(classes), 2, teacher=classes.q).num_boosted_rounds() == 2
    assert pi_xgb.train(unnamed, matrix(table("binary:logistic")), 2).num_boosted_rounds() == 2


class Timid(pi_xgb.Teacher):
    """Adapts to the student."""

    def q(self, mean: np.ndarray, label: np.ndarray, weight: np.ndarray | None) -> np.ndarray:
        assert not np.shares_memory(mean, label)
        return (mean + mean.mean()) / 2


def content(value: Any) -> Any:
    """All that a user's object shows."""
    if isinstance(value, xgb.DMatrix):
        names = ("label", "weight", "base_margin", "label_lower_bound", "label_upper_bound", "feature_weights")
        data = value.get_data()
        arrays = [*(value.get_float_info(name) for name in names), data.indptr, data.indices, data.data]
        return [array.tobytes() for array in arrays], value.feature_names, value.feature_types
    if isinstance(value, dict):
        return {key: content(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [content(item) for item in value]
    return value.tobytes() if isinstance(value, np.ndarray) else value


class Stop(xgb.callback.TrainingCallback):
    def after_iteration(self, model: Any, epoch: int, evals_log: Any) -> bool:
        if epoch == 2:
            raise KeyboardInterrupt
        return False


OWNED: dict[str, tuple[tuple[str, ...], Callable[[Table, Table, Any], dict[str, Any]]]] = {
    "array": (("callback", "native"), lambda data, valid, make: {"teacher": data.q.astype(np.float32)}),
    "list": (("callback", "native"), lambda data, valid, make: {"teacher": [(data.q, 0.5), (data.q.tolist(), 0.25)]}),
    "own": (("callback",), lambda data, valid, make: {"teacher": Timid()}),
    "jpib": (("callback",), lambda data, valid, make: {"privileged": make(data.z, data.y), **JOINT}),
    "crossfit": (
        ("callback", "native"),
        lambda data, valid, make: {"privileged": privileged_of(data), "teacher": "boosted", "crossfit": 3},
    ),
    "mixed": (("callback",), lambda data, valid, make: {"privileged": privileged_of(data), "teacher": "mixed"}),
    "stopped": (
        ("callback", "native"),
        lambda data, valid, make: {
            "privileged": make(data.z, data.y),
            "teacher_params": {**QUIET, "eta": 0.5},
            "privileged_evals": [(privileged_of(valid), "valid")],
            "early_stopping_rounds": 20,
            **PAPER,
        },
    ),
}


@pytest.mark.parametrize("quantised", ["dtrain", "privileged"])
def test_a_teacher_of_rows_without_values_is_boosted_with_a_warning(quantised: str) -> None:
    data, params = table("binary:logistic"), params_of("binary:logistic")
    dtrain = matrix(data, xgb.QuantileDMatrix if quantised == "dtrain" else xgb.DMatrix)
    privileged = (xgb.QuantileDMatrix if quantised == "privileged" else xgb.DMatrix)(data.z, data.y)
    with pytest.warns(UserWarning, match="the teacher is boosted, since a mixed one reads values"):
        found = pi_xgb.train(params, dtrain, 3, privileged=privileged)
    named = pi_xgb.train(params, dtrain, 3, privileged=privileged, teacher="boosted")
    assert model_text(found) == model_text(named)


@pytest.mark.parametrize("make", [xgb.DMatrix, xgb.QuantileDMatrix])
@pytest.mark.parametrize("interrupted", [False, True])
@pytest.mark.parametrize(("kind", "engine"), [(kind, engine) for kind, (many, _) in OWNED.items() for engine in many])
def test_nothing_that_the_user_gave_is_changed(kind: str, engine: str, interrupted: bool, make: Any) -> None:
    data, valid = table("binary:logistic", missing=True), table("binary:logistic", 50, seed=5)
    if kind == "mixed":
        make = xgb.DMatrix
    params = params_of("binary:logistic", eval_metric=["auc", "logloss"], scale_pos_weight=2.0)
    params["monotone_constraints"] = (1, 0, 0)
    dtrain = matrix(data, make, weight=data.weight)
    dtrain.set_info(feature_weights=np.ones(3))
    keywords = {"evals": [(matrix(valid), "valid")], "callbacks": [Stop()] * interrupted}
    keywords |= OWNED[kind][1](data, valid, make)
    before, result = content([params, dtrain, keywords]), {}

    def train() -> str:
        return model_text(
            pi_xgb.train(params, dtrain, 6, evals_result=result, verbose_eval=False, engine=engine, **keywords)
        )

    if interrupted:
        with pytest.raises(KeyboardInterrupt):
            train()
    else:  # and the same objects give the same model again
        assert train() == train()
    assert content([params, dtrain, keywords]) == before


def test_teachers_can_teach_again() -> None:
    data = table("binary:logistic")
    params = params_of("binary:logistic")
    for teacher in (
        pi_xgb.fit_teacher(params, privileged_of(data), 4, **IN_SAMPLE),
        pi_xgb.ModelTeacher(lambda q: q, data.q),
        pi_xgb.JointTeacher(privileged_of(data), params),
    ):
        models = [model_text(pi_xgb.train(params, matrix(data), 4, teacher=teacher)) for _ in range(2)]
        assert models[0] == models[1]


@pytest.mark.parametrize(
    ("guiding", "method", "kind", "kl_weights"),
    [
        (lambda data: {"teacher": data.q, "kl_weight": 0.25}, "kbpib", "array", [0.25]),
        (lambda data: {"privileged": privileged_of(data), **PAPER}, "kbpib", "boosted", [0.5]),
        (lambda data: {"privileged": privileged_of(data), **JOINT, "kl_weight": 2}, "jpib", "boosted", [2]),
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
    plain = pi_xgb.train(params_of("binary:logistic"), matrix(data), 3, kl_weight=0, labelled=labelled)
    assert model_text(plain) == model_text(xgb.train(params_of("binary:logistic"), matrix(data.part(slice(60))), 3))
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
    teacher = pi_xgb.fit_teacher(params_of("binary:logistic"), privileged_of(data), 4, **IN_SAMPLE)
    # The privileged features are used: a teacher's own file does hold their names and thresholds.
    assert all(name in json.loads(model_text(teacher.booster))["learner"]["feature_names"] for name in ODD_NAMES)
    assert max(numbers_in(json.loads(model_text(teacher.booster)))) > 5e6

    booster = pi_xgb.train(params_of("binary:logistic"), matrix(data), 4, **helpers_tables.GUIDING[kind](data))
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


@pytest.mark.slow
def test_a_plain_xgboost_reads_the_model_where_pi_xgb_cannot_be_imported(tmp_path: Path) -> None:
    files: list[str] = []
    expected: list[str] = []
    for kind in ("kbpib", "jpib"):
        data, _ = odd_privileged()
        booster = pi_xgb.train(params_of("binary:logistic"), matrix(data), 4, **helpers_tables.GUIDING[kind](data))
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
    assert done.stdout.split() == expected


def test_groups_of_crossfit_reach_the_teacher() -> None:
    data, group = table("binary:logistic"), np.arange(90) // 4
    params = params_of("binary:logistic")
    keywords: dict[str, Any] = {"teacher": "boosted", "crossfit": 3, "crossfit_groups": group}
    learned = pi_xgb.train(params, matrix(data), 4, privileged=privileged_of(data), **keywords)
    teacher = pi_xgb.fit_teacher(params, privileged_of(data), 4, **keywords)
    brought = pi_xgb.train(params, matrix(data), 4, teacher=teacher)
    assert text_without_sees(brought) == text_without_sees(learned)
    apart = pi_xgb.train(params, matrix(data), 4, privileged=privileged_of(data), teacher="boosted", crossfit=3)
    assert model_text(apart) != model_text(learned)


def test_both_ways_of_teaching_are_recorded_as_the_joint_one() -> None:
    data, params = table("binary:logistic"), params_of("binary:logistic")
    joint = pi_xgb.JointTeacher(privileged_of(data), params)
    for pairs in ([(joint, 0.5), (data.q, 0.25)], [(data.q, 0.25), (joint, 0.5)]):
        booster = pi_xgb.train(params, matrix(data), 2, teacher=pairs)
        assert booster.attr("pi_xgb_method") == "jpib"
        assert booster.attr("pi_xgb_kl_weight") == ",".join(str(weight) for _, weight in pairs)
