"""``pi_xgb.cv`` against ``xgboost.cv``, and against a loop over folds written out by hand."""

from __future__ import annotations

import contextlib
import copy
import itertools
import subprocess
import sys
import textwrap
import time
import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

import helpers_tables
import numpy as np
import pandas as pd
import pytest
import xgboost as xgb
from helpers_problems import OBJECTIVES as OBJECTIVES_OF_A_TEACHER
from helpers_problems import Problem
from helpers_tables import N_ROWS, OBJECTIVES, QUIET, Table, matrix, params_of, privileged_of, table
from hypothesis import assume, event, given
from hypothesis import strategies as st

import pi_xgb

PAPER, JOINT = helpers_tables.PAPER, helpers_tables.JOINT
METRIC = {
    "binary:logistic": "logloss",
    "multi:softprob": "mlogloss",
    "multi:softmax": "merror",
    "reg:squarederror": "rmse",
}


def folds_by_hand(n_folds: int = 3, seed: int = 5) -> list[tuple[np.ndarray, np.ndarray]]:
    parts = np.array_split(np.random.default_rng(seed).permutation(N_ROWS), n_folds)
    return [(np.sort(np.concatenate(parts[:k] + parts[k + 1 :])), np.sort(parts[k])) for k in range(n_folds)]


class EveryFifth:
    """A splitter in scikit-learn's manner."""

    def split(self, X: Any, y: Any) -> Any:
        rows = np.arange(len(X))
        for k in range(5):
            yield rows[rows % 5 != k], rows[rows % 5 == k]


def weigh_by_fold(dtrain: xgb.DMatrix, dtest: xgb.DMatrix, params: Any) -> Any:
    """A preprocessor that changes all three things it is given."""
    dtrain.set_weight(np.linspace(1, 2, dtrain.num_row()))
    return dtrain, dtest, {**params, "max_depth": 2, "scale_pos_weight": 2.0}


def weird_metric(predictions: np.ndarray, evaluated: xgb.DMatrix) -> tuple[str, float]:
    return "weird", float(predictions.astype(np.float64).ravel() @ np.arange(1, predictions.size + 1))


CASES = st.fixed_dictionaries(
    {
        "objective": st.sampled_from(OBJECTIVES),
        "tree_method": st.sampled_from(["hist", "approx", "exact"]),
        "split": st.sampled_from(["default", "default", "stratified", "unshuffled", "list", "splitter", "generator"]),
        "nfold": st.sampled_from([2, 3, 4]),
        "seed": st.integers(0, 3),
        "weights": st.booleans(),
        "missing": st.booleans(),
        "categories": st.booleans(),
        "base_margin": st.booleans(),
        "subsample": st.sampled_from([1.0, 0.6]),
        "early_stopping": st.booleans(),
        "as_pandas": st.booleans(),
        "metrics": st.sampled_from(["none", "one", "list", "in params", "several in params"]),
        "custom_metric": st.booleans(),
        "scheduler": st.booleans(),
        "fpreproc": st.booleans(),
        "params_as_list": st.booleans(),
    }
)


def case_params(case: dict[str, Any]) -> Any:
    params = params_of(
        case["objective"], tree_method=case["tree_method"], subsample=case["subsample"], seed=case["seed"]
    )
    metric = METRIC[case["objective"]]
    more = {"in params": [metric], "several in params": ["error" if metric == "logloss" else "mae", metric]}
    in_params = more.get(case["metrics"], [])
    if case["objective"].startswith("multi") and len(in_params) > 1:
        in_params = ["mlogloss", "merror"]
    if case["params_as_list"]:
        return [*params.items(), *(("eval_metric", m) for m in in_params)]
    return {**params, "eval_metric": in_params[0] if len(in_params) == 1 else in_params} if in_params else params


def run(cv: Callable[..., Any], case: dict[str, Any], guiding: Callable[[Table], dict[str, Any]] | None = None) -> Any:
    data = table(case["objective"], missing=case["missing"], categories=case["categories"], seed=case["seed"])
    fields: dict[str, Any] = {"weight": data.weight} if case["weights"] else {}
    if case["base_margin"]:
        fields["base_margin"] = np.random.default_rng(9).normal(size=data.q.shape)
    keywords: dict[str, Any] = {"nfold": case["nfold"], "seed": case["seed"], "as_pandas": case["as_pandas"]}
    split = case["split"]
    if split == "stratified":
        keywords["stratified"] = True
    elif split == "unshuffled":
        keywords["shuffle"] = False
    elif split == "list":
        keywords["folds"] = folds_by_hand()
    elif split == "splitter":
        keywords["folds"] = EveryFifth()
    elif split == "generator":
        keywords["folds"] = [*EveryFifth().split(data.y, data.y)][:3]
    if case["metrics"] in ("one", "list"):
        metric = METRIC[case["objective"]]
        keywords["metrics"] = metric if case["metrics"] == "one" else (metric,)
    if case["early_stopping"]:
        keywords["early_stopping_rounds"] = 2
    if case["custom_metric"]:
        keywords |= {"custom_metric": weird_metric, "maximize": True}
    if case["scheduler"]:
        keywords["callbacks"] = [xgb.callback.LearningRateScheduler(lambda i: 0.5 / (i + 1))]
    if case["fpreproc"]:
        keywords["fpreproc"] = weigh_by_fold
    history = cv(case_params(case), matrix(data, **fields), 6, **keywords, **(guiding(data) if guiding else {}))
    if not case["as_pandas"]:
        assert isinstance(history, dict)
        return history
    return {"columns": list(history.columns), "index": list(history.index), "bytes": history.to_numpy().tobytes()}


def possible(case: dict[str, Any]) -> bool:
    if case["split"] == "stratified" and case["objective"] == "reg:squarederror":
        return False
    return not (case["categories"] and case["tree_method"] == "exact")


@given(case=CASES, kind=st.sampled_from(sorted(helpers_tables.SILENT)))
def test_without_a_teacher_that_counts_the_history_is_that_of_xgboost(case: dict[str, Any], kind: str) -> None:
    assume(possible(case))
    event(f"{kind}, {case['split']}")
    # Same columns, same folds, same numbers to the bit.
    assert run(pi_xgb.cv, case, helpers_tables.SILENT[kind]) == run(xgb.cv, case)


@pytest.mark.parametrize("name", [*OBJECTIVES_OF_A_TEACHER, "survival:cox"])
def test_every_objective_has_the_folds_and_metrics_of_xgboost(name: str) -> None:
    rows = Problem("count:poisson" if name == "survival:cox" else name)
    params = rows.params(objective=name.partition("/")[0])
    keywords: dict[str, Any] = {} if name == "survival:cox" else {"teacher": rows.q, "kl_weight": [0.0, 2.0]}
    seen = set()

    def count(predictions: np.ndarray, evaluated: xgb.DMatrix) -> tuple[str, float]:
        seen.add(evaluated.num_row())
        return "rows", 0.0

    theirs = xgb.cv(params, rows.dtrain(), 2, nfold=2, custom_metric=count, seed=5)
    expected, seen = seen, set()
    ours = pi_xgb.cv(params, rows.dtrain(), 2, nfold=2, custom_metric=count, seed=5, **keywords)
    ours = ours.loc[0.0].rename_axis(None) if keywords else ours
    pd.testing.assert_frame_equal(ours, theirs, check_exact=True)
    assert seen == expected  # a metric is of rows, not of their copies


def test_arguments_may_come_by_position_as_in_xgboost() -> None:
    data = table("binary:logistic")

    def outcome(cv: Callable[..., Any], *further: Any, **guiding: Any) -> tuple[bytes, list[Any]]:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            history = cv(params_of("binary:logistic"), matrix(data), 3, *further, **guiding)
        return history.to_numpy().tobytes(), [(w.category, str(w.message)) for w in caught]

    # nfold, stratified, folds, metrics: in XGBoost's order, with XGBoost's warning.
    assert outcome(pi_xgb.cv, 4) == outcome(xgb.cv, 4)
    assert outcome(pi_xgb.cv, 4, True, None, ("auc",)) == outcome(xgb.cv, 4, True, None, ("auc",))
    assert outcome(pi_xgb.cv, 4)[1] == [(FutureWarning, "Pass `nfold` as keyword args.")]
    guided = outcome(pi_xgb.cv, 4, teacher=data.q)
    assert guided[1] == [(FutureWarning, "Pass `nfold` as keyword args.")]
    assert guided[0] == outcome(pi_xgb.cv, nfold=4, teacher=data.q)[0]


GUIDING = {
    **helpers_tables.GUIDING,
    "list": lambda data: {"teacher": [(data.q, 0.4), (data.q[::-1], 0.1)]},
    "joint teacher": lambda data: {"teacher": pi_xgb.JointTeacher(privileged_of(data), params_for(data))},
    "other params": lambda data: {**helpers_tables.GUIDING["kbpib"](data), "teacher_params": {**QUIET, "max_depth": 1}},
}


def is_probability(q: np.ndarray) -> bool:
    return bool(q.min() >= 0 and q.max() <= 1)


def params_for(data: Table) -> dict[str, Any]:
    if data.q.ndim == 2:
        return params_of("multi:softprob")
    return params_of("binary:logistic" if is_probability(data.q) else "reg:squarederror")


def student_of_fold(
    kind: str, data: Table, params: dict[str, Any], rows: np.ndarray, rounds: int, **fields: Any
) -> Callable[..., xgb.Booster]:
    """How to train the student of these rows, from nothing but what belongs to these rows."""
    privileged = privileged_of(data).slice(rows)

    def train(**keywords: Any) -> xgb.Booster:
        dtrain = matrix(data, **fields).slice(rows)
        if kind == "list":
            guiding: dict[str, Any] = {"teacher": [(data.q[rows], 0.4), (data.q[::-1][rows], 0.1)]}
        elif kind in ("jpib", "joint teacher"):
            guiding = {"privileged": privileged, **JOINT}
        elif kind == "kbpib by hand":
            guiding = {"teacher": xgb.train(params, privileged, rounds).predict(privileged)}
        elif kind in ("kbpib", "crossfit", "other params"):
            guiding = {"privileged": privileged, **PAPER, "crossfit": 3 if kind == "crossfit" else 0}
            if kind == "other params":
                guiding["teacher_params"] = {**QUIET, "max_depth": 1}
        else:
            guiding = {"teacher": data.q[rows]}
        return pi_xgb.train(
            params,
            dtrain,
            rounds,
            evals=[(dtrain, "train"), *keywords.pop("evals")],
            **guiding | ({} if kind == "list" else {"kl_weight": 0.5}),
            verbose_eval=False,
            **keywords,
        )

    return train


@pytest.mark.parametrize("kind", GUIDING)
@pytest.mark.parametrize("objective", [o for o in OBJECTIVES if o != "multi:softmax"])
@pytest.mark.parametrize("with_fields", [False, True])
def test_cv_is_the_loop_over_folds_written_out(objective: str, kind: str, with_fields: bool) -> None:
    data, rounds, metric = table(objective, missing=True), 4, METRIC[objective]
    params = params_of(objective)
    fields: dict[str, Any] = {}
    if with_fields:
        fields = {"weight": data.weight, "base_margin": np.random.default_rng(3).normal(size=data.q.shape)}
    # XGBoost's own folds, in its own words.
    np.random.seed(7)  # noqa: NPY002
    parts = np.array_split(np.random.permutation(N_ROWS), 3)  # noqa: NPY002
    histories = []
    for k in range(3):
        rows = np.concatenate([part for j, part in enumerate(parts) if j != k])
        dtest = matrix(data, **fields).slice(parts[k])
        history: dict[str, Any] = {}
        train = student_of_fold(kind, data, params, rows, rounds, **fields)
        train(evals=[(dtest, "test")], evals_result=history)
        histories.append(history)

    found = pi_xgb.cv(
        params,
        matrix(data, **fields),
        rounds,
        nfold=3,
        seed=7,
        metrics=metric,
        **({} if kind == "list" else {"kl_weight": 0.5}),
        **GUIDING[kind](data),
    )
    for name in ("train", "test"):
        by_fold = np.array([history[name][metric] for history in histories])
        # Every number of the table is that of three trainings, each of which sees its own rows alone, to the bit.
        np.testing.assert_array_equal(found[f"{name}-{metric}-mean"], by_fold.mean(axis=0))
        np.testing.assert_array_equal(found[f"{name}-{metric}-std"], by_fold.std(axis=0))


@pytest.mark.parametrize("split", ["stratified", "unshuffled", "list", "splitter"])
def test_the_teachers_folds_are_the_students(split: str) -> None:
    from sklearn.model_selection import StratifiedKFold

    data, rounds = table("binary:logistic"), 4
    params = params_of("binary:logistic")
    keywords: dict[str, dict[str, Any]] = {
        "stratified": {"stratified": True, "nfold": 4, "seed": 2},
        "unshuffled": {"shuffle": False, "nfold": 3},
        "list": {"folds": folds_by_hand(4)},
        "splitter": {"folds": EveryFifth()},
    }
    ordered = np.array_split(np.arange(N_ROWS), 3)
    folds = {
        "stratified": list(StratifiedKFold(4, shuffle=True, random_state=2).split(data.y, data.y)),
        "unshuffled": [(np.concatenate(ordered[:k] + ordered[k + 1 :]), ordered[k]) for k in range(3)],
        "list": folds_by_hand(4),
        "splitter": list(EveryFifth().split(data.y, data.y)),
    }[split]
    histories = []
    for rows, held_out in folds:
        history: dict[str, Any] = {}
        train = student_of_fold("kbpib by hand", data, params, rows, rounds)
        train(evals=[(matrix(data).slice(held_out), "test")], evals_result=history)
        histories.append(history["test"]["logloss"])
    found = pi_xgb.cv(
        params,
        matrix(data),
        rounds,
        metrics="logloss",
        privileged=privileged_of(data),
        **PAPER,
        kl_weight=0.5,
        **keywords[split],
    )
    # However the folds are asked for, teacher and student agree on them: the student of a fold is guided by a
    # booster of xgboost.train on that fold's privileged rows (whose sigmoid differs in the last bit).
    np.testing.assert_allclose(found["test-logloss-mean"], np.mean(histories, axis=0), rtol=1e-6)


class Held(NamedTuple):
    """Predictions of every fold's student after the last round: on its training rows and on its held-out rows."""

    training: list[np.ndarray]
    held_out: list[np.ndarray]


def predictions_of_folds(data: Table, folds: Any, guiding: dict[str, Any], objective: str) -> Held:
    seen: list[np.ndarray] = []

    def metric(predictions: np.ndarray, evaluated: xgb.DMatrix) -> tuple[str, float]:
        seen.append(predictions.copy())
        return "seen", 0.0

    pi_xgb.cv(params_of(objective), matrix(data), 4, folds=folds, custom_metric=metric, kl_weight=2.0, **guiding)
    last = seen[-2 * len(folds) :]
    return Held(last[0::2], last[1::2])


@pytest.mark.parametrize("kind", ["array", "kbpib", "crossfit", "jpib", "joint teacher"])
@pytest.mark.parametrize("objective", ["binary:logistic", "multi:softprob", "reg:squarederror"])
def test_nothing_leaks_from_the_held_out_rows(objective: str, kind: str) -> None:
    data, folds, k = table(objective), folds_by_hand(3), 1
    out = folds[k][1]
    # Other labels, other privileged values and other verdicts for the rows that fold 1 holds out.
    y, z, q = data.y.copy(), data.z.copy(), data.q.copy()
    y[out] = (y[out] + 1) % 3 if objective == "multi:softprob" else 1 - y[out]
    z.iloc[out] = -3 * z.iloc[out] + 1
    q[out] = np.roll(q[out], 1, axis=-1) if q.ndim == 2 else 1 - q[out]
    changed = data._replace(y=y, z=z, q=q)

    before = predictions_of_folds(data, folds, GUIDING[kind](data), objective)
    after = predictions_of_folds(changed, folds, GUIDING[kind](changed), objective)
    # The student of that fold is the same to the bit, where it trained and where it is judged.
    np.testing.assert_array_equal(after.held_out[k], before.held_out[k])
    np.testing.assert_array_equal(after.training[k], before.training[k])
    # And the change was one that matters: the students of the other folds, which train on these rows, have changed.
    for other in (0, 2):
        assert np.abs(after.held_out[other] - before.held_out[other]).max() > 1e-3


def test_a_teacher_that_knows_all_labels_is_refused() -> None:
    data = table("binary:logistic")
    params = params_of("binary:logistic")
    learned = pi_xgb.fit_teacher(params, privileged_of(data), 3, teacher="boosted", crossfit=0)
    crossfitted = pi_xgb.fit_teacher(params, privileged_of(data), 3, teacher="boosted", crossfit=3)
    for teacher in (learned, crossfitted, [(learned, 0.5)], [(data.q, 0.5), (crossfitted, 0.5)]):
        for kl_weight in (0.5, [0.5, 1.0]) if not isinstance(teacher, list) else (None,):
            # It learned from the rows that a fold holds out; the message names the honest way.
            with pytest.raises(ValueError, match=r"held-out.*privileged="):
                pi_xgb.cv(params, matrix(data), 3, teacher=teacher, kl_weight=kl_weight)


@pytest.mark.parametrize("objective", OBJECTIVES)
@pytest.mark.parametrize("kind", ["array", "jpib"])
def test_a_custom_metric_sees_predictions_on_their_own_scale(objective: str, kind: str) -> None:
    data = table(objective)
    shown: list[np.ndarray] = []
    own: list[np.ndarray] = []

    def metric(predictions: np.ndarray, evaluated: xgb.DMatrix) -> tuple[str, float]:
        shown.append(predictions.copy())
        return "metric", 1.0

    class Ask(xgb.callback.TrainingCallback):
        def after_iteration(self, model: Any, epoch: int, evals_log: Any) -> bool:
            own.extend(fold.bst.predict(m) for fold in model.cvfolds for m in (fold.dtrain, fold.dtest))
            return False

    pi_xgb.cv(
        params_of(objective),
        matrix(data),
        3,
        custom_metric=metric,
        callbacks=[Ask()],
        kl_weight=2.0,
        **GUIDING[kind](data),
    )
    assert len(shown) == len(own) == 18
    for seen, predicted in zip(shown, own, strict=True):
        # What the booster of that fold predicts after that round.
        assert seen.shape == predicted.shape
        np.testing.assert_allclose(seen, predicted, rtol=1e-6, atol=1e-6)


def test_early_stopping_cuts_the_history_at_the_best_round() -> None:
    data = table("binary:logistic")

    def history(**keywords: Any) -> pd.DataFrame:
        return pi_xgb.cv(
            params_of("binary:logistic", eta=1.0),
            matrix(data),
            40,
            metrics="logloss",
            privileged=privileged_of(data),
            teacher_params=params_of("binary:logistic"),
            **PAPER,
            **keywords,
        )

    whole, stopped = history(), history(early_stopping_rounds=5)
    best = int(whole["test-logloss-mean"].to_numpy().argmin())
    # As in xgboost.cv: the last row is the best one, and the rows before are those of the whole history.
    assert len(stopped) == best + 1 < 40
    pd.testing.assert_frame_equal(stopped, whole[: best + 1], check_exact=True)


def test_fpreproc_decides_about_the_folds_params_and_weights() -> None:
    data, folds = table("binary:logistic"), folds_by_hand(3)
    params = params_of("binary:logistic", tree_method="exact")

    def by_ratio(dtrain: xgb.DMatrix, dtest: xgb.DMatrix, fold_params: Any) -> Any:
        label = dtrain.get_label()
        dtrain.set_weight(np.linspace(1, 3, len(label)))
        return dtrain, dtest, {**fold_params, "scale_pos_weight": float((label == 0).sum() / label.sum())}

    found = pi_xgb.cv(params, matrix(data), 4, folds=folds, metrics="logloss", teacher=data.q, fpreproc=by_ratio)
    losses = []
    for rows, held_out in folds:
        dtrain, dtest, fold_params = by_ratio(matrix(data).slice(rows), matrix(data).slice(held_out), params)
        history: dict[str, Any] = {}
        pi_xgb.train(
            fold_params,
            dtrain,
            4,
            teacher=data.q[rows],
            evals=[(dtest, "test")],
            evals_result=history,
            verbose_eval=False,
        )
        losses.append(history["test"]["logloss"])
    # The use that XGBoost's own guide makes of it, a scale_pos_weight per fold, reaches gradient and intercept.
    np.testing.assert_array_equal(found["test-logloss-mean"], np.mean(losses, axis=0))


@pytest.mark.parametrize("kind", [k for k in GUIDING if k != "list"])
@pytest.mark.slow
def test_a_grid_is_its_single_weights_one_under_another(kind: str) -> None:
    data, grid = table("binary:logistic"), [0.0, 0.25, 2.0]
    keywords: dict[str, Any] = {"metrics": ["auc", "logloss"], "seed": 3, "nfold": 4}
    params = params_of("binary:logistic")

    def fresh(kl_weight: Any, **more: Any) -> Any:
        return pi_xgb.cv(params, matrix(data), 4, kl_weight=kl_weight, **keywords, **GUIDING[kind](data), **more)

    whole = fresh(grid)
    # kl_weight is the first index level, in the order in which the weights were given, and then come the rounds.
    assert list(whole.index.names) == ["kl_weight", "round"]
    assert list(whole.index) == [(weight, i) for weight in grid for i in range(4)]
    assert list(whole.columns) == list(xgb.cv(params, matrix(data), 1, **keywords).columns)
    for weight in grid:
        # Each part is the history of that weight alone, to the bit; and 0 is xgboost.cv.
        pd.testing.assert_frame_equal(whole.loc[weight], fresh(weight), check_exact=True, check_names=False)
    plain = xgb.cv(params, matrix(data), 4, **keywords)
    pd.testing.assert_frame_equal(whole.loc[0.0], plain, check_exact=True, check_names=False)
    # The weights do make a difference.
    assert not np.array_equal(whole.loc[0.25].to_numpy(), whole.loc[2.0].to_numpy())
    # Side by side is one after the other.
    pd.testing.assert_frame_equal(fresh(grid, n_jobs=2), whole, check_exact=True)
    # Without pandas: one dict per weight.
    as_dicts = fresh(grid, as_pandas=False)
    assert list(as_dicts) == grid
    assert all(as_dicts[weight] == fresh(weight, as_pandas=False) for weight in grid)


@pytest.mark.parametrize("how", ["early_stopping_rounds", "callbacks"])
def test_every_weight_of_a_grid_stops_by_itself(how: str) -> None:
    data = table("binary:logistic")

    def fresh(kl_weight: Any, n_jobs: int = 1) -> pd.DataFrame:
        # One EarlyStopping used twice would stop the second training at once.
        stop = {"callbacks": [xgb.callback.EarlyStopping(rounds=3)]} if how == "callbacks" else {how: 3}
        guided = {"teacher": data.q, "kl_weight": kl_weight, "metrics": "logloss", "n_jobs": n_jobs}
        return pi_xgb.cv(params_of("binary:logistic", eta=0.8), matrix(data), 40, **guided, **stop)

    whole, grid = fresh(np.array([0.0, 1.0, 8.0])), (0.0, 1.0, 8.0)
    lengths = [len(whole.loc[weight]) for weight in grid]
    assert len(set(lengths)) > 1
    assert not whole.isna().any().any()
    for weight in grid:
        pd.testing.assert_frame_equal(whole.loc[weight], fresh(weight), check_exact=True, check_names=False)
    pd.testing.assert_frame_equal(fresh(iter(grid), n_jobs=2), whole, check_exact=True)


class Counting(pi_xgb.Teacher):
    """A teacher with a state: its verdict depends on how often it was asked since the training began."""

    def __init__(self) -> None:
        self.asked = 0

    def start(self, training: Any) -> None:
        self.asked = 0

    def q(self, mean: np.ndarray, label: np.ndarray, weight: np.ndarray | None) -> np.ndarray:
        self.asked += 1
        time.sleep(0.003)  # let the other threads in
        return np.full_like(mean, 1 / (1 + self.asked))

    def subset(self, rows: np.ndarray) -> Counting:
        return Counting()


def test_a_teacher_with_a_state_is_not_shared_between_weights() -> None:
    data, grid = table("binary:logistic"), [0.1, 1.0, 3.0, 9.0]

    def fresh(n_jobs: int) -> pd.DataFrame:
        return pi_xgb.cv(
            params_of("binary:logistic"), matrix(data), 5, teacher=Counting(), kl_weight=grid, n_jobs=n_jobs
        )

    # Two trainings at a time on one teacher would mix up their rounds.
    pd.testing.assert_frame_equal(fresh(2), fresh(1), check_exact=True)


METRIC_THAT_TRAINS = """
    import numpy as np, pi_xgb, xgboost as xgb
    data = pi_xgb.datasets.make_privileged(60, seed=0)
    params = {"objective": "binary:logistic", "nthread": 1, "max_depth": 2}
    dtrain = xgb.DMatrix(data.x, data.y)
    privileged = xgb.DMatrix(data.z, data.y)
    guided = {"privileged": privileged, "teacher": "boosted", "crossfit": 0}

    def metric(predictions, evaluated):
        booster = pi_xgb.train(params, dtrain, 1, **guided)
        return "other", float(booster.num_boosted_rounds())

    for n_jobs in (1, 2):
        for kl_weight in (0.5, [0.5, 1.0]):
            table = pi_xgb.cv(params, dtrain, 1, kl_weight=kl_weight, n_jobs=n_jobs, custom_metric=metric, **guided)
            assert (table["test-other-mean"] == 1).all()
    print("done")
"""


@pytest.mark.slow
def test_a_metric_may_train_on_the_same_matrices() -> None:
    command = [sys.executable, "-c", textwrap.dedent(METRIC_THAT_TRAINS)]
    # In a process of its own: where trainings wait for each other, this test must fail and not hang.
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert done.stdout.strip() == "done", done.stderr


class Stop(xgb.callback.TrainingCallback):
    def after_iteration(self, model: Any, epoch: int, evals_log: Any) -> bool:
        raise KeyboardInterrupt


@pytest.mark.parametrize("interrupted", [False, True])
@pytest.mark.parametrize("kind", GUIDING)
def test_nothing_that_the_user_gave_is_changed(kind: str, interrupted: bool) -> None:
    data = table("binary:logistic", missing=True)
    params = params_of("binary:logistic", eval_metric=["auc", "logloss"], monotone_constraints=(1, 0, 0))
    dtrain, folds, grid = matrix(data, weight=data.weight), folds_by_hand(), [0.0, 0.5]
    guiding = GUIDING[kind](data) | ({} if kind == "list" else {"kl_weight": grid})
    callbacks = [Stop()] * interrupted
    matrices = [dtrain, *(item for item in guiding.values() if isinstance(item, xgb.DMatrix))]

    def content() -> Any:
        fields = [m.get_float_info(name).tobytes() for m in matrices for name in ("label", "weight", "base_margin")]
        arrays = [array.tobytes() for array in (data.q, data.y, data.weight, *itertools.chain(*folds))]
        return copy.deepcopy(params), list(grid), sorted(guiding), fields, arrays, len(callbacks)

    before = content()
    for _ in range(2):
        with pytest.raises(KeyboardInterrupt) if interrupted else contextlib.nullcontext():
            found = pi_xgb.cv(params, dtrain, 3, folds=folds, callbacks=callbacks, **guiding)
        assert content() == before
    if not interrupted:  # used again, the same objects give the same table
        again = pi_xgb.cv(params, dtrain, 3, folds=folds, **guiding)
        pd.testing.assert_frame_equal(again, found, check_exact=True)


@pytest.mark.parametrize("name", ["binary:logistic", "multi:softprob", "count:poisson"])
def test_an_objective_of_the_user_keeps_its_rows_in_folds(name: str) -> None:
    rows = Problem(name)
    guided: dict[str, Any] = {"labelled": rows.labelled, "teacher_weight": rows.teacher_weight}
    params, dtrain = rows.params(base_score=rows.start), rows.dtrain(weighted=True)
    found = pi_xgb.cv(params, dtrain, 3, seed=5, obj=pi_xgb.KLObjective(rows.q, 2.0, **guided))
    expected = pi_xgb.cv(params, dtrain, 3, seed=5, teacher=rows.q, kl_weight=2.0, **guided)
    pd.testing.assert_frame_equal(found, expected)


def test_crossfit_groups_with_one_group_in_a_fold_raise() -> None:
    rows = Problem("binary:logistic")
    group = np.repeat([0, 1], rows.n // 2)
    folds = [(np.flatnonzero(group == k), np.flatnonzero(group != k)) for k in (0, 1)]
    learned = {"privileged": rows.dprivileged(), "teacher": "boosted", "crossfit": 2, "crossfit_groups": group}
    with pytest.raises(ValueError, match=r"crossfit of 2 needs as many groups .* got 1"):
        pi_xgb.cv(rows.params(), rows.dtrain(), 2, folds=folds, **learned)


def test_folds_that_split_groups_warn() -> None:
    rows = Problem("binary:logistic")
    learned = {"privileged": rows.dprivileged(), "crossfit_groups": np.arange(rows.n) // 2}
    with pytest.warns(UserWarning, match=r"crossfit_groups.*LabelledGroupKFold"):
        pi_xgb.cv(rows.params(), rows.dtrain(), 1, **learned)
