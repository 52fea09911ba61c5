"""Objectives that are taught by copies: the model is plain XGBoost's on the stacked rows, to the bit."""

from __future__ import annotations

import contextlib
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import pytest
import xgboost as xgb
from hypothesis import given
from hypothesis import strategies as st
from xgboost.collective import CommunicatorContext
from xgboost.tracker import RabitTracker

import pi_xgb
from pi_xgb._core.engines.copies import stack_with_params
from pi_xgb._core.losses import LOSSES
from pi_xgb._core.losses import NUMBERS as ANY_NUMBER
from pi_xgb._core.spec import Spec
from pi_xgb._core.task import Task
from pi_xgb._core.teachers import as_weighted_teachers
from pi_xgb._stats.folds import deal_folds, deal_groups

NUMBERS = [name for name, loss in LOSSES.items() if loss.engines == ("copies",) and not loss.by_query]
RANKINGS = [name for name, loss in LOSSES.items() if loss.by_query]
OWN = {
    "reg:quantileerror": {"quantile_alpha": 0.7},
    "survival:aft": {"aft_loss_distribution_scale": 0.8},
    "rank:ndcg": {"ndcg_exp_gain": False},
}


class Rows(NamedTuple):
    """Rows with gaps in x, two kinds of label, weights of rows or queries, and what a teacher says."""

    x: np.ndarray
    z: np.ndarray
    fields: dict[str, np.ndarray]
    weight: np.ndarray
    q: np.ndarray
    labelled: np.ndarray
    teacher_weight: np.ndarray
    qid: np.ndarray | None

    def matrix(self, values: Any = None, **more: Any) -> xgb.DMatrix:
        kind = more.pop("kind", xgb.DMatrix)
        return kind(self.x if values is None else values, **self.fields, weight=self.weight, qid=self.qid, **more)


def make(objective: str, n: int = 300, seed: int = 0) -> Rows:
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, 4)).astype(np.float32)
    x[rng.random(x.shape) < 0.1] = np.nan
    z = rng.normal(size=(n, 2)).astype(np.float32)
    signal = np.nan_to_num(x[:, 0]) + z[:, 0]
    noisy = signal + 0.5 * rng.normal(size=n)
    if objective in RANKINGS:
        qid = np.repeat(np.arange(n // 10), 10)
        fields = {"label": np.clip(np.round(noisy + 1), 0, 4)}
        of_query = [rng.uniform(0.5, 2, n // 10), rng.random(n // 10) < 0.6, rng.uniform(0.5, 2, n // 10)]
        weight, labelled, teacher_weight = of_query[0].astype(np.float32), of_query[1][qid], of_query[2][qid]
        labelled[::17] = True  # some queries are known in part
        teacher_weight[labelled & (np.arange(n) % 7 == 0)] = 0
        return Rows(x, z, fields, weight, np.clip(signal + 1, 0, 4), labelled, teacher_weight, qid)
    y = np.exp(noisy / 2)
    fields = {"label": y}
    if objective == "survival:aft":
        fields = {"label_lower_bound": y, "label_upper_bound": np.where(rng.random(n) < 0.3, np.inf, y)}
    weight, teacher_weight = rng.uniform(0.2, 3, n).astype(np.float32), rng.uniform(0.5, 2, n)
    labelled = rng.random(n) < 0.6
    teacher_weight[labelled & (np.arange(n) % 7 == 0)] = 0
    return Rows(x, z, fields, weight, np.exp(signal / 2), labelled, teacher_weight, None)


def params_of(objective: str, **more: Any) -> dict[str, Any]:
    return {"objective": objective, "max_depth": 3, "nthread": 1, **OWN.get(objective, {}), **more}


def stack_by_hand(
    rows: Rows, parts: list[tuple[np.ndarray, np.ndarray | None, np.ndarray]], values: Any, ref: xgb.DMatrix | None
) -> tuple[xgb.DMatrix, float]:
    """Rows, what is said of them and what they weigh, one part under another; how the mean weight has changed."""
    chosen = np.concatenate([np.flatnonzero(known) for known, _, _ in parts])
    fields = {
        name: np.concatenate([(own if result is None else result)[known] for known, result, _ in parts])
        for name, own in rows.fields.items()
    }
    table = values.iloc[chosen] if isinstance(values, pd.DataFrame) else values[chosen]
    cut = {}
    kind = xgb.DMatrix
    if ref is not None:
        kind, cut = xgb.QuantileDMatrix, {"ref": ref, "max_bin": ref.max_bin}
    if rows.qid is None:
        weight = np.concatenate([(rows.weight * counts)[known] for known, _, counts in parts])
        return kind(table, **fields, weight=weight, enable_categorical=True, **cut), 1.0
    qid, weight, n_labelled = [], [], 0
    for part, (known, _, counts) in enumerate(parts):
        its = rows.qid[known]
        qid.append(its + 1000 * part)
        weight.append([rows.weight[item] * counts[known][its == item][0] for item in np.unique(its)])
        n_labelled = n_labelled or len(weight[0])
    weights = np.concatenate(weight)
    matrix = kind(table, **fields, qid=np.concatenate(qid), weight=weights, enable_categorical=True, **cut)
    return matrix, weights[:n_labelled].mean() / weights.mean()


def parts_of(rows: Rows, kl_weight: float) -> list[tuple[np.ndarray, np.ndarray | None, np.ndarray]]:
    counts = kl_weight * rows.teacher_weight
    return [(rows.labelled, None, np.ones(len(rows.x))), (counts > 0, rows.q, counts)]


def with_penalties(params: dict[str, Any], scale: float) -> dict[str, Any]:
    """Penalties for gradients that are ``scale`` times as large."""
    return params if scale == 1 else {**params, "reg_lambda": scale, "min_child_weight": scale}


@pytest.mark.parametrize("objective", NUMBERS + RANKINGS)
@pytest.mark.parametrize(
    "more", [{}, {"tree_method": "exact"}, {"tree_method": "approx"}, {"subsample": 0.7, "max_bin": 16}], ids=str
)
def test_copies_are_the_stack_that_plain_xgboost_trains_on(objective: str, more: dict[str, Any]) -> None:
    rows, params = make(objective), params_of(objective, **more)
    dtrain = rows.matrix()
    keywords = {"kl_weight": 2.0, "labelled": rows.labelled, "teacher_weight": rows.teacher_weight}
    student = pi_xgb.train(params, dtrain, 6, teacher=rows.q, **keywords)
    ref = None if "tree_method" in more else rows.matrix(kind=xgb.QuantileDMatrix, max_bin=more.get("max_bin", 256))
    stack, scale = stack_by_hand(rows, parts_of(rows, 2.0), rows.x, ref)
    theirs = xgb.train(with_penalties(params, scale), stack, 6)
    test = xgb.DMatrix(rows.x)
    close = {"rtol": 0} if scale == 1 else {"rtol": 1e-5, "atol": 1e-6}
    np.testing.assert_allclose(student.predict(test), theirs.predict(test), **close)
    assert student.attr("pi_xgb_engine") == "copies"
    assert len(set(student.predict(test))) > 10


@pytest.mark.parametrize("objective", NUMBERS + RANKINGS)
def test_at_kl_weight_0_the_model_is_xgboosts(objective: str) -> None:
    rows = make(objective)
    # With the default gain too, which no teacher could speak of.
    params = {"objective": objective, "nthread": 1}
    if objective == "reg:quantileerror":
        params["quantile_alpha"] = [0.2, 0.8]
    dtrain, privileged = rows.matrix(), rows.matrix(rows.z)
    for keywords in ({}, {"privileged": privileged, "kl_weight": 0.0}, {"teacher": rows.q, "kl_weight": 0.0}):
        ours = pi_xgb.train(params, dtrain, 4, **keywords)
        assert ours.save_raw() == xgb.train(params, dtrain, 4).save_raw()


@pytest.mark.parametrize("objective", NUMBERS + RANKINGS)
def test_a_small_kl_weight_is_nearly_the_plain_model(objective: str) -> None:
    # XGBoost divides the weights of queries by their mean: copies that weigh nothing would halve the penalties.
    rows, params = make(objective), params_of(objective)
    dtrain = rows.matrix()
    nearly = pi_xgb.train(params, dtrain, 5, teacher=rows.q, kl_weight=1e-9)
    test = xgb.DMatrix(rows.x)
    np.testing.assert_allclose(nearly.predict(test), xgb.train(params, dtrain, 5).predict(test), rtol=1e-4, atol=1e-5)
    if objective in RANKINGS:
        return
    # Rows without weights are rows that weigh 1, whose median is another one to XGBoost before 3.4.
    of_one = rows._replace(weight=np.ones(len(rows.x)))
    expected, dtrain = xgb.train(params, of_one.matrix(), 5), of_one.matrix()
    dtrain.set_weight(np.empty(0))
    nearly = pi_xgb.train(params, dtrain, 5, teacher=rows.q, kl_weight=1e-9)
    np.testing.assert_allclose(nearly.predict(test), expected.predict(test), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("objective", ["reg:absoluteerror", "rank:ndcg"])
def test_categories_and_quantiles_and_gaps_are_copied(objective: str) -> None:
    rows, params = make(objective), params_of(objective)
    kinds = pd.Categorical(np.array(["red", "green", "blue"])[np.digitize(rows.z[:, 0], [-0.5, 0.5])])
    table = pd.DataFrame(rows.x, columns=list("abcd")).assign(kind=kinds)
    table.loc[::7, "kind"] = None
    shown = table.copy()
    shown["kind"] = shown["kind"].cat.reorder_categories(["green", "red", "blue"])  # other numbers, the same rows
    params["max_cat_to_onehot"] = 2
    keywords = {"teacher": rows.q, "kl_weight": 2.0, "labelled": rows.labelled, "teacher_weight": rows.teacher_weight}
    for kind in (xgb.DMatrix, xgb.QuantileDMatrix):
        dtrain = rows.matrix(table, kind=kind, enable_categorical=True)
        student = pi_xgb.train(params, dtrain, 6, **keywords)
        ref = rows.matrix(table, kind=xgb.QuantileDMatrix, enable_categorical=True)
        stack, scale = stack_by_hand(rows, parts_of(rows, 2.0), table, ref)
        theirs = xgb.train(with_penalties(params, scale), stack, 6)
        for requested in (table, shown):
            test = xgb.DMatrix(requested, enable_categorical=True)
            np.testing.assert_allclose(student.predict(test), theirs.predict(test), rtol=1e-5)
        assert student.feature_types == theirs.feature_types == ["float"] * 4 + ["c"]
        assert any("kind" in dump for dump in student.get_dump())


def test_columns_and_margins_come_along() -> None:
    rows, params = make("survival:aft"), params_of("survival:aft", colsample_bytree=0.5)
    more = {"base_margin": rows.x[:, 1].copy(), "feature_weights": [0.0, 1.0, 1.0, 5.0]}
    more["base_margin"][np.isnan(more["base_margin"])] = 0
    dtrain = rows.matrix(**more)
    student = pi_xgb.train(params, dtrain, 6, teacher=rows.q, kl_weight=1.0)
    stack, _ = stack_by_hand(
        rows,
        [(rows.q > 0, None, np.ones(300)), (rows.q > 0, rows.q, np.ones(300))],
        rows.x,
        rows.matrix(kind=xgb.QuantileDMatrix),
    )
    stack.set_base_margin(np.tile(more["base_margin"], 2))
    stack.set_info(feature_weights=more["feature_weights"])
    test = xgb.DMatrix(rows.x)
    np.testing.assert_array_equal(student.predict(test), xgb.train(params, stack, 6).predict(test))
    assert "f0" not in student.get_score()


def test_queries_of_labelled_rows_and_of_copies_have_the_weights_of_their_rows() -> None:
    matrix = xgb.DMatrix(np.zeros((6, 1)), np.arange(6.0), qid=[0, 1, 1, 2, 2, 2], weight=[1, 2, 4])
    labelled, counts = np.array([1, 0, 1, 1, 0, 1], bool), np.array([2, 0.5, 0.5, 0, 0, 0])
    task = Task.from_matrix(Spec.read({"objective": "rank:pairwise"}), matrix, labelled)
    taught = as_weighted_teachers(10 + np.arange(6.0), 1.0, ANY_NUMBER, counts)
    stack, params = stack_with_params(task, taught, matrix, {})
    assert np.diff(stack.get_uint_info("group_ptr")).tolist() == [1, 1, 2, 1, 2]
    assert stack.get_weight().tolist() == [1, 2, 4, 2, 1]
    assert stack.get_label().tolist() == [0, 2, 3, 5, 10, 11, 12]
    # XGBoost divides by the mean weight, which was 7 / 3 and is 2.
    scale = pytest.approx(7 / 6)
    penalties = {"lambda": scale, "min_child_weight": scale, "alpha": 0.0, "gamma": 0.0}
    assert params == {"objective": "rank:pairwise", **penalties}
    # Rows without queries are weighed as they are, with the params as they are.
    numbers, plain = Spec.read({"objective": "reg:absoluteerror"}), xgb.DMatrix(np.zeros((6, 1)), np.ones(6))
    stack, params = stack_with_params(Task.from_matrix(numbers, plain), taught, plain, {})
    assert params is numbers.params
    assert stack.get_weight().tolist() == [1] * 6 + [2, 0.5, 0.5]


def snapshot(matrix: xgb.DMatrix) -> list[Any]:
    names = ("label", "weight", "base_margin", "label_lower_bound", "label_upper_bound")
    return [*(matrix.get_float_info(name).tolist() for name in names), matrix.get_uint_info("group_ptr").tolist()]


@pytest.mark.parametrize("objective", ["reg:pseudohubererror", "survival:aft", "rank:pairwise"])
@pytest.mark.parametrize("kind", [xgb.DMatrix, xgb.QuantileDMatrix])
def test_early_stopping_metrics_and_continuation_are_xgboosts(objective: str, kind: Any) -> None:
    rows, valid, params = make(objective), make(objective, seed=1), params_of(objective)
    dtrain = rows.matrix(kind=kind)
    dvalid = valid.matrix(kind=kind, **({"ref": dtrain} if kind is xgb.QuantileDMatrix else {}))
    before, log, shown = [snapshot(item) for item in (dtrain, dvalid)], {}, []

    def metric(predictions: np.ndarray, matrix: xgb.DMatrix) -> tuple[str, float]:
        shown.append((matrix is dtrain or matrix is dvalid, predictions))
        return "own", float(predictions.mean())

    watched = {"evals": [(dtrain, "train"), (dvalid, "valid")], "verbose_eval": False}
    keywords = {"teacher": rows.q, "kl_weight": 2.0}
    student = pi_xgb.train(
        params,
        dtrain,
        30,
        early_stopping_rounds=2,
        maximize=True,
        evals_result=log,
        custom_metric=metric,
        **keywords,
        **watched,
    )
    assert all(own for own, _ in shown)
    last = student.num_boosted_rounds()
    np.testing.assert_allclose(shown[-2][1], student.predict(dtrain, iteration_range=(0, last)), rtol=1e-6)
    name = LOSSES[objective].default_metric
    (key,) = [key for key in log["valid"] if key.startswith(name)]
    told_by_xgboost = dict(part.split(":") for part in student.eval(dvalid).split()[1:])
    best = student.best_iteration
    assert float(told_by_xgboost[f"eval-{key}"]) == pytest.approx(log["valid"][key][-1], rel=1e-4)
    assert best == int(np.argmax(log["valid"]["own"]))
    assert [snapshot(item) for item in (dtrain, dvalid)] == before

    three = pi_xgb.train(params, dtrain, 3, **keywords)
    six = pi_xgb.train(params, dtrain, 3, **keywords, xgb_model=three)
    whole = pi_xgb.train(params, dtrain, 6, **keywords)
    np.testing.assert_allclose(six.predict(dvalid), whole.predict(dvalid), rtol=1e-6)


@pytest.mark.parametrize("objective", NUMBERS + RANKINGS)
@pytest.mark.parametrize("crossfit", [0, 3])
def test_a_teacher_that_learned_is_a_teacher_that_was_brought(objective: str, crossfit: int) -> None:
    rows, params = make(objective), params_of(objective)
    dtrain, privileged = rows.matrix(), rows.matrix(rows.z, feature_names=["u", "v"])
    keywords = {"labelled": rows.labelled, "crossfit": crossfit}
    student = pi_xgb.train(params, dtrain, 6, privileged=privileged, kl_weight=2.0, **keywords)
    teacher = pi_xgb.fit_teacher(params, privileged, 6, **keywords)
    brought = pi_xgb.train(params, dtrain, 6, teacher=teacher, kl_weight=2.0, labelled=rows.labelled)
    assert student.get_dump() == brought.get_dump()
    # It knows the signal that it sees a part of.
    known = np.corrcoef(teacher.values, rows.q)[0, 1]
    assert known > 0.4
    low, high = teacher.values.min(), teacher.values.max()
    if objective in RANKINGS:
        label = rows.fields["label"][rows.labelled]
        assert label.min() <= low < high <= label.max()
    # Weights that dtrain alone has count for the teacher as well.
    bare = rows._replace(weight=np.ones_like(rows.weight)).matrix(rows.z, feature_names=["u", "v"])
    bare.set_weight(np.empty(0))
    same = pi_xgb.train(params, dtrain, 6, privileged=bare, kl_weight=2.0, **keywords)
    assert same.get_dump() == student.get_dump()
    both = pi_xgb.train(params, dtrain, 6, privileged=bare, kl_weight=2.0, teacher_sees="all", **keywords)
    assert both.get_dump() != student.get_dump()


def oracle_of_fold(
    rows: Rows, params: dict[str, Any], kl_weight: float, fold: tuple[np.ndarray, np.ndarray], n_rounds: int
) -> list[float]:
    """What plain XGBoost on a stack of these rows scores on those held out."""

    def part(chosen: np.ndarray) -> Rows:
        weight = rows.weight if rows.qid is not None else rows.weight[chosen]
        if rows.qid is not None:
            weight = rows.weight[np.unique(rows.qid[chosen])]
        renamed = None if rows.qid is None else np.unique(rows.qid[chosen], return_inverse=True)[1]
        own = {name: values[chosen] for name, values in rows.fields.items()}
        per_row = (rows.q[chosen], rows.labelled[chosen], rows.teacher_weight[chosen])
        return Rows(rows.x[chosen], rows.z[chosen], own, weight, *per_row, renamed)

    trained, test, log = part(fold[0]), part(fold[1]).matrix(), {}
    ref = trained.matrix(kind=xgb.QuantileDMatrix)
    stack, scale = stack_by_hand(trained, parts_of(trained, kl_weight), trained.x, ref)
    watched = {"evals": [(stack, "stack")], "evals_result": log, "verbose_eval": False}
    booster = xgb.train(with_penalties(params, scale), stack, n_rounds, **watched)
    (name,) = log["stack"]
    return [float(booster[: i + 1].eval(test, "t").split(f"t-{name}:")[1]) for i in range(n_rounds)]


@pytest.mark.parametrize("objective", ["reg:absoluteerror", "survival:aft", "rank:ndcg"])
def test_cv_trains_each_fold_on_the_stack_of_its_own_rows(objective: str) -> None:
    rows, params = make(objective), params_of(objective)
    dtrain = rows.matrix()
    source = rows.qid if rows.qid is not None else np.arange(len(rows.x))
    folds = []
    for k in range(3):
        out = np.flatnonzero(rows.labelled & (source % 3 == k))
        folds.append((np.flatnonzero((source % 3 != k) | ~rows.labelled), out))
    keywords = {"teacher": rows.q, "labelled": rows.labelled, "teacher_weight": rows.teacher_weight, "folds": folds}
    if objective == "rank:ndcg":  # in whole queries
        known = [(np.intersect1d(rest, np.flatnonzero(rows.labelled)), out) for rest, out in folds]
        keywords["folds"] = [(rest[~np.isin(source[rest], source[out])], out) for rest, out in known]
    table = pi_xgb.cv(params, dtrain, 3, kl_weight=[0.0, 2.0], **keywords)
    column = next(name for name in table.columns if name.startswith("test-") and name.endswith("-mean"))
    expected = np.mean([oracle_of_fold(rows, params, 2.0, fold, 3) for fold in folds], axis=0)
    np.testing.assert_allclose(table.loc[2.0, column], expected, rtol=1e-5)
    assert not np.allclose(table.loc[0.0, column], expected, rtol=1e-5)


@pytest.mark.parametrize("objective", NUMBERS + RANKINGS)
def test_cv_at_kl_weight_0_is_xgboosts_and_metrics_of_training_rows_see_no_copies(objective: str) -> None:
    rows, params = make(objective), params_of(objective)
    rows = rows._replace(weight=np.ones_like(rows.weight))  # xgboost.cv drops the weights of queries
    dtrain, seen = rows.matrix(), []

    def count(predictions: np.ndarray, matrix: xgb.DMatrix) -> tuple[str, float]:
        seen.append(matrix.num_row())
        return "rows", 0.0

    table = pi_xgb.cv(params, dtrain, 3, teacher=rows.q, kl_weight=[0.0, 2.0], custom_metric=count, seed=5)
    theirs = xgb.cv(params, dtrain, 3, custom_metric=lambda p, m: ("rows", 0.0), seed=5)
    pd.testing.assert_frame_equal(table.loc[0.0].rename_axis(None), theirs, check_exact=True)
    assert set(seen) == {100, 200}


def test_cv_with_privileged_features_is_the_training_of_each_fold() -> None:
    rows, params = make("reg:absoluteerror"), params_of("reg:absoluteerror")
    dtrain, privileged = rows.matrix(), rows.matrix(rows.z, feature_names=["u", "v"])
    folds, losses = [(np.flatnonzero(np.arange(300) % 2 != k), np.arange(k, 300, 2)) for k in range(2)], []
    table = pi_xgb.cv(params, dtrain, 3, privileged=privileged, kl_weight=[0.0, 2.0], crossfit=2, folds=folds)
    for rest, out in folds:
        log: dict[str, Any] = {}
        watched = {"evals": [(dtrain.slice(out), "test")], "evals_result": log, "verbose_eval": False}
        keywords = {"privileged": privileged.slice(rest), "kl_weight": 2.0, "crossfit": 2}
        pi_xgb.train(params, dtrain.slice(rest), 3, **keywords, **watched)
        losses.append(log["test"]["mae"])
    np.testing.assert_array_equal(table.loc[2.0, "test-mae-mean"], np.mean(losses, axis=0))
    assert (table.loc[2.0, "test-mae-mean"] != table.loc[0.0, "test-mae-mean"]).all()


def test_cv_deals_queries_and_refuses_to_tear_them() -> None:
    rows, params = make("rank:ndcg"), params_of("rank:ndcg")
    dtrain = rows.matrix()
    with pytest.raises(ValueError, match=r"stratified.*queries"):
        pi_xgb.cv(params, dtrain, 2, teacher=rows.q, stratified=True)
    torn = [(np.arange(5, 300), np.arange(5))]
    with pytest.raises(ValueError, match="both sides"):
        pi_xgb.cv(params, dtrain, 2, teacher=rows.q, folds=torn)
    from sklearn.model_selection import GroupKFold

    assert len(pi_xgb.cv(params, dtrain, 2, teacher=rows.q, folds=GroupKFold(3))) == 2
    other = xgb.DMatrix(rows.x, rows.q, qid=rows.qid)
    with pytest.raises(ValueError, match="cannot keep query groups together"):
        pi_xgb.cv({"objective": "reg:squarederror"}, other, 2, teacher=rows.q)


@given(
    st.lists(st.tuples(st.integers(-3, 3), st.integers(0, 4), st.booleans()), min_size=2, max_size=30).filter(
        lambda rows: any(known for _, _, known in rows)
    )
)
def test_a_score_says_the_relevance_that_judged_rows_of_it_have(rows: list[tuple[int, int, bool]]) -> None:
    score, label = (np.array(column, np.float32) for column in list(zip(*rows, strict=True))[:2])
    known = np.array([own for _, _, own in rows])
    result = LOSSES["rank:pairwise"].teacher_values(score, label, known)
    order = np.argsort(score)
    assert (np.diff(result[order]) >= 0).all()
    assert label[known].min() <= result.min()
    assert result.max() <= label[known].max()
    # The least squares of all rising functions, by their definition: the max over what ends at a score or after it of
    # the min over what starts there or before it of the mean label between.
    levels = np.unique(score[known])

    def mean(low: float, high: float) -> float:
        return float(label[known & (score >= low) & (score <= high)].mean())

    for item in levels:
        best = max(min(mean(low, high) for high in levels[levels >= item]) for low in levels[levels <= item])
        np.testing.assert_allclose(result[score == item], best, rtol=1e-5, atol=1e-6)


class Batches(xgb.DataIter):
    """Rows that lie on disk."""

    def __init__(self, rows: Rows, folder: Any) -> None:
        super().__init__(cache_prefix=str(folder / "cache"))
        self.rows, self.at = rows, 0

    def reset(self) -> None:
        self.at = 0

    def next(self, input_data: Any) -> bool:
        if self.at == 3:
            return False
        part = slice(100 * self.at, 100 * self.at + 100)
        input_data(data=self.rows.x[part], label=self.rows.fields["label"][part])
        self.at += 1
        return True


@pytest.mark.parametrize("kind", [xgb.DMatrix, xgb.ExtMemQuantileDMatrix])
def test_external_memory_is_refused_before_any_training(kind: Any, tmp_path: Any) -> None:
    rows = make("reg:absoluteerror")
    dtrain = kind(Batches(rows, tmp_path))
    with pytest.raises(ValueError, match="external memory and cannot be copied"):
        pi_xgb.train(params_of("reg:absoluteerror"), dtrain, 2, teacher=rows.q)
    # Where nobody teaches nothing has to be read.
    assert pi_xgb.train(params_of("reg:absoluteerror"), dtrain, 2, teacher=rows.q, kl_weight=0.0)


REFUSED: dict[str, tuple[str, dict[str, Any], dict[str, Any], str]] = {
    "several quantiles": ("reg:quantileerror", {"quantile_alpha": [0.1, 0.9]}, {}, "several quantiles.*model for each"),
    "written quantiles": ("reg:quantileerror", {"quantile_alpha": "[0.1, 0.9]"}, {}, "several quantiles"),
    "exponential gain": ("rank:ndcg", {"ndcg_exp_gain": True}, {}, r"params\['ndcg_exp_gain'\] = False"),
    "positions": ("rank:pairwise", {"lambdarank_unbiased": 1}, {}, "lambdarank_unbiased.*copies"),
    "linear ranking": ("rank:pairwise", {"booster": "gblinear"}, {}, "gblinear.*use trees"),
    "sampled by gradient": ("rank:pairwise", {"sampling_method": "gradient_based"}, {}, "gradient_based"),
    "weights of ones": ("reg:squaredlogerror", {"scale_pos_weight": 3.0}, {}, "scale_pos_weight.*leave it out"),
    "jpib": ("reg:absoluteerror", {}, {"method": "jpib"}, "an adaptive teacher.*method='kbpib'"),
    "callback": ("reg:absoluteerror", {}, {"engine": "callback"}, "engine='copies' or 'auto'"),
    "native": ("survival:aft", {}, {"engine": "native"}, "engine='copies' or 'auto'"),
    "cox": ("survival:cox", {}, {}, "can guide the objectives"),
    "map": ("rank:map", {}, {}, "can guide the objectives"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_copies_cannot_do_is_said_before_any_training(case: str) -> None:
    objective, more, keywords, match = REFUSED[case]
    rows = make({"survival:cox": "reg:absoluteerror", "rank:map": "rank:pairwise"}.get(objective, objective))
    dtrain, privileged = rows.matrix(), rows.matrix(rows.z, feature_names=["u", "v"])
    params = {**params_of(objective), **more}
    with pytest.raises(ValueError, match=match):
        pi_xgb.train(params, dtrain, 2, privileged=privileged, **keywords)


def test_bad_rows_and_answers_are_errors_that_say_what_to_do() -> None:
    rows, params = make("survival:aft"), params_of("survival:aft")
    with pytest.raises(ValueError, match="label_lower_bound="):
        pi_xgb.train(params, xgb.DMatrix(rows.x, rows.q), 2, teacher=rows.q)
    turned = {"label_lower_bound": rows.q + 1, "label_upper_bound": rows.q}
    with pytest.raises(ValueError, match=r"upper.*row 0"):
        pi_xgb.train(params, xgb.DMatrix(rows.x, **turned), 2, teacher=rows.q)
    with pytest.raises(ValueError, match=r"lie above 0.*give times"):
        pi_xgb.train(params, rows.matrix(), 2, teacher=np.zeros(300))
    ranking = make("rank:pairwise")
    with pytest.raises(ValueError, match=r"dtrain has no queries.*qid="):
        pi_xgb.train({"objective": "rank:pairwise"}, xgb.DMatrix(rows.x, rows.q), 2, teacher=rows.q)
    others = xgb.DMatrix(rows.z, ranking.fields["label"], qid=np.arange(300) // 15, feature_names=["u", "v"])
    with pytest.raises(ValueError, match=r"queries.*dtrain.*differ"):
        pi_xgb.train({"objective": "rank:pairwise"}, ranking.matrix(), 2, privileged=others)
    for weights in ((2.0, 1.0), (0.5, 0.25)):
        torn = np.where(np.arange(300) % 10 < 3, *weights) * (np.arange(300) % 4 > 0)
        with pytest.raises(ValueError, match=r"teacher_weight.*30 queries.*row 3"):
            pi_xgb.train(params_of("rank:pairwise"), ranking.matrix(), 2, teacher=ranking.q, teacher_weight=torn)
    with pytest.raises(ValueError, match=r"engine=.copies. would not be exact.*blended"):
        pi_xgb.train({"objective": "reg:squarederror"}, xgb.DMatrix(rows.x, rows.q), 2, teacher=rows.q, engine="copies")
    with pytest.raises(ValueError, match=r"copies.*pi_xgb\.train"):
        pi_xgb.KLObjective(rows.q, objective="reg:absoluteerror")
    objective = pi_xgb.KLObjective(rows.q)
    with pytest.raises(ValueError, match=r"copies.*pi_xgb\.train"):
        xgb.train({"objective": "reg:absoluteerror"}, xgb.DMatrix(rows.x, rows.q), 2, obj=objective)


@pytest.mark.parametrize("objective", ["reg:pseudohubererror", "rank:ndcg"])
def test_workers_that_copy_their_own_rows_train_the_model_of_one(objective: str) -> None:
    rows, params = make(objective), params_of(objective)
    few = np.random.default_rng(0).integers(0, 9, size=(300, 4)).astype(np.float32)  # every worker has all cuts
    rows = rows._replace(x=few)
    keywords = {"kl_weight": 2.0, "labelled": rows.labelled, "teacher_weight": rows.teacher_weight}
    if objective == "rank:ndcg":  # XGBoost divides the weights of queries by their mean on each worker
        rows, keywords = rows._replace(weight=np.ones_like(rows.weight)), {"kl_weight": 1.0}

    def share(part: slice, address: dict[str, Any]) -> list[str]:
        with CommunicatorContext(**address):
            settings = {name: values[part] for name, values in rows.fields.items()}
            qid = None if rows.qid is None else rows.qid[part]
            weight = rows.weight[part] if qid is None else rows.weight[np.unique(qid)]
            dtrain = xgb.DMatrix(few[part], **settings, weight=weight, qid=qid)
            mine = {name: value if np.ndim(value) == 0 else value[part] for name, value in keywords.items()}
            return pi_xgb.train(params, dtrain, 3, teacher=rows.q[part], **mine).predict(xgb.DMatrix(few))

    tracker = RabitTracker(host_ip="127.0.0.1", n_workers=2)
    tracker.start()
    with ThreadPoolExecutor(2) as pool:
        single, other = pool.map(share, [slice(0, 120), slice(120, 300)], [tracker.worker_args()] * 2)
    tracker.wait_for(timeout=30)
    alone = pi_xgb.train(params, rows.matrix(), 3, teacher=rows.q, **keywords).predict(xgb.DMatrix(few))
    np.testing.assert_array_equal(single, other)
    np.testing.assert_allclose(single, alone, rtol=1e-4, atol=1e-5)


def test_queries_are_cross_fitted_as_a_whole_with_their_weights() -> None:
    rows, params = make("rank:pairwise"), params_of("rank:pairwise")
    teacher = pi_xgb.fit_teacher(params, rows.matrix(rows.z), 5, crossfit=3)
    score, label = np.empty(300, np.float32), rows.fields["label"].astype(np.float32)
    for rest, out in deal_groups(label, rows.qid, 3, 0, classes=False):
        assert not np.isin(rows.qid[rest], rows.qid[out]).any()
        trained = xgb.DMatrix(
            rows.z[rest], label[rest], qid=rows.qid[rest], weight=rows.weight[np.unique(rows.qid[rest])]
        )
        score[out] = xgb.train(params, trained, 5).predict(xgb.DMatrix(rows.z[out]))
    expected = LOSSES["rank:pairwise"].teacher_values(score, label, np.ones(300, bool))
    np.testing.assert_allclose(teacher.values, expected, rtol=1e-5)


@pytest.mark.parametrize("subset", [False, True])
def test_a_cross_fitted_teacher_has_seen_the_labelled_rows_of_other_folds(subset: bool) -> None:
    rows, params = make("reg:absoluteerror"), params_of("reg:absoluteerror")
    known = rows.labelled if subset else np.ones(300, bool)
    teacher = pi_xgb.fit_teacher(params, rows.matrix(rows.z), 5, crossfit=3, labelled=known)
    at, label, expected = np.flatnonzero(known), rows.fields["label"], np.zeros(300, np.float32)
    for rest, out in deal_folds(label[at].astype(np.float32), 3, 0):
        trained = xgb.DMatrix(rows.z[at[rest]], label[at[rest]], weight=rows.weight[at[rest]])
        result = xgb.train(params, trained, 5).predict(xgb.DMatrix(rows.z))
        expected[at[out]] = result[at[out]]
        expected[~known] += result[~known] / 3
    np.testing.assert_allclose(teacher.values, expected, rtol=1e-5)


@pytest.mark.parametrize("objective", NUMBERS)
def test_select_judges_candidates_by_the_metric_of_the_objective(objective: str) -> None:
    rows, params = make(objective, n=150), params_of(objective)
    matrices = rows.matrix(), rows.matrix(rows.z, feature_names=["u", "v"])
    keywords = {"crossfit": 2, "teacher": "boosted", "kl_weight": 1.0, "nfold": 2, "repeats": 1, "progress": False}
    chosen = pi_xgb.select(params, matrices[0], 4, privileged=matrices[1], **keywords)
    assert chosen.metric == LOSSES[objective].default_metric
    assert np.isfinite(chosen.summary["score"]).all()
    assert chosen.summary["score"].nunique() == 2
    margin = np.linspace(-0.9, 2, 50).astype(np.float32)
    np.testing.assert_allclose(LOSSES[objective].margin_of(LOSSES[objective].mean(margin)), margin, atol=1e-6)


def test_the_logarithm_of_a_label_needs_it_above_minus_one():
    x, q = np.random.default_rng(0).normal(size=(40, 1)), np.zeros(40, np.float32)
    for least in (-1.0, -0.999):
        label = np.linspace(0.0, 1.0, 40)
        label[3] = least
        with pytest.raises(ValueError, match="must lie above -1") if least == -1 else contextlib.nullcontext():
            pi_xgb.train({"objective": "reg:squaredlogerror", "nthread": 1}, xgb.DMatrix(x, label), 1, teacher=q)
