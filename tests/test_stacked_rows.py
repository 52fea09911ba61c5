"""Every objective in every engine: the model is XGBoost's on labelled rows stacked on rows labelled by the teacher."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
import xgboost as xgb
from helpers_problems import (
    BLENDED,
    CLASSES,
    COPIED,
    OBJECTIVES,
    ONE_VALUE,
    RANKINGS,
    TARGETS,
    Problem,
    assert_same_model,
    engines_of,
    one_hot,
    stacked,
)

import pi_xgb

ROUNDS, A = 6, 1.7
CASES = {
    "plain": {},
    "weights": {"weighted": True},
    "unlabelled": {"unlabelled": True},
    "base_margin": {"margin": True},
    "several teachers": {"several": True},
    "everything": {"weighted": True, "unlabelled": True, "margin": True, "several": True},
    "exact": {"weighted": True, "params": {"tree_method": "exact"}},
    "approx": {"params": {"tree_method": "approx"}},
    "penalties": {"weighted": True, "params": {"reg_alpha": 0.2, "gamma": 0.1, "max_delta_step": 0.7}},
    "intercept": {"weighted": True, "start": False},
    "weight of positives": {"weighted": True, "scale": 3.0},
}
OF_TREES = ("penalties", "intercept")
every_objective = pytest.mark.parametrize("name", [*OBJECTIVES, *TARGETS])


def is_defined(name: str, case: str) -> bool:
    objective = name.partition("/")[0]
    if case == "weight of positives":  # XGBoost knows it for these, and one target
        return name in ONE_VALUE and name not in ("count:poisson", "reg:tweedie")
    if name.endswith("multi_output_tree") and case in ("exact", "approx", "penalties"):  # hist without penalties alone
        return False
    # Queries scale penalties, and copies leave the intercept to XGBoost.
    return not (case in OF_TREES and objective in COPIED)


def train(name: str, engine: str, case: str, kl_weight: float = A) -> tuple[Any, xgb.Booster, xgb.Booster]:
    """The problem, its model, and the model of the stack."""
    rows, how = Problem(name), dict(CASES[case])
    params = rows.params(**how.get("params", {}))
    if how.get("start", True) and rows.objective in BLENDED:
        params["base_score"] = rows.start
    margin = rows.margin if how.get("margin") else None
    labelled = rows.labelled if how.get("unlabelled") else None
    per_row = rows.teacher_weight if how.get("unlabelled") else np.ones(rows.n)
    weighted, scale = how.get("weighted", False), how.get("scale", 1.0)
    teachers = [(rows.q, kl_weight * per_row), *([(rows.other, 0.5)] if how.get("several") else [])]
    keywords: dict[str, Any] = {"teacher": teachers, "labelled": labelled, "engine": engine}
    if len(teachers) == 1:
        keywords |= {"teacher": rows.q, "kl_weight": kl_weight}
        keywords["teacher_weight"] = per_row if how.get("unlabelled") else None
    ours = params if scale == 1 else {**params, "scale_pos_weight": scale}
    booster = pi_xgb.train(ours, rows.dtrain(weighted=weighted, base_margin=margin), ROUNDS, **keywords)
    more = {"labelled": labelled, "weighted": weighted, "margin": margin, "scale": scale}
    return rows, booster, stacked(rows, params, ROUNDS, teachers, **more)


@pytest.mark.parametrize(
    ("name", "engine", "case"),
    [
        (name, engine, case)
        for name, case in itertools.product([*OBJECTIVES, *TARGETS], CASES)
        for engine in engines_of(name.partition("/")[0])
        if is_defined(name, case)
    ],
)
def test_train_gives_the_model_of_stacked_rows(name, engine, case):
    rows, booster, expected = train(name, engine, case)
    assert booster.attr("pi_xgb_engine") == engine
    found, theirs = rows.margins(booster), rows.margins(expected)
    # Copies are these rows; blended labels are their sum, to rounding; queries have rescaled penalties.
    tolerance = 0 if name in COPIED and name not in RANKINGS else 2e-5
    np.testing.assert_allclose(found, theirs, atol=tolerance, rtol=tolerance)
    assert len(np.unique(theirs)) > 5


@pytest.mark.parametrize(
    ("objective", "own"),
    [
        ("count:poisson", {"max_delta_step": 0.0}),
        ("count:poisson", {"max_delta_step": "1.5"}),
        ("reg:tweedie", {"tweedie_variance_power": 1.0}),
        ("reg:tweedie", {"tweedie_variance_power": 1.9}),
        ("survival:aft", {"aft_loss_distribution": "extreme"}),
        ("reg:pseudohubererror", {"huber_slope": 0.3}),
        ("reg:quantileerror", {"quantile_alpha": "0.3"}),
    ],
)
def test_params_of_the_objective_count_in_every_engine(objective, own):
    rows = Problem(objective)
    params = rows.params(**own, base_score=0.6)
    expected = rows.margins(stacked(rows, params, ROUNDS, [(rows.q, A)]))
    for engine in engines_of(objective):
        booster = pi_xgb.train(params, rows.dtrain(), ROUNDS, teacher=rows.q, kl_weight=A, engine=engine)
        np.testing.assert_allclose(rows.margins(booster), expected, atol=2e-5)


@pytest.mark.filterwarnings("ignore:.*neither a label nor a teacher")
@pytest.mark.parametrize("name", [*ONE_VALUE, *CLASSES, "reg:absoluteerror"])
def test_rows_with_neither_label_nor_teacher_take_no_part(name):
    rows = Problem(name)
    idle = ~rows.labelled & (np.arange(rows.n) % 3 == 0)
    counts = np.where(idle, 0, rows.teacher_weight)
    q = rows.q.copy()
    q[idle] = np.nan
    params, known = rows.params(base_score=rows.start), {"labelled": rows.labelled}
    expected = rows.margins(stacked(rows, params, ROUNDS, [(rows.q, A * counts)], **known))
    for engine in engines_of(name):
        guided = {"teacher": q, "kl_weight": A, "teacher_weight": counts, "engine": engine}
        booster = pi_xgb.train(params, rows.dtrain(), ROUNDS, **guided, **known)
        # Where a teacher does not count it may say anything.
        np.testing.assert_allclose(rows.margins(booster)[~idle], expected[~idle], atol=2e-5)


@every_objective
def test_kl_weight_0_is_xgboost_to_the_bit(name):
    rows = Problem(name)
    params, dtrain = rows.params(subsample=0.8), rows.dtrain(weighted=True)
    plain, known = xgb.train(params, dtrain, ROUNDS), np.flatnonzero(rows.labelled)
    for keywords in (
        {},
        {"teacher": rows.q, "kl_weight": 0},
        {"teacher": rows.q, "kl_weight": 0, "crossfit": None, "labelled": None},
        {"privileged": rows.dprivileged(), "teacher": "boosted", "crossfit": 0, "kl_weight": 0},
        {"privileged": rows.dprivileged(), "teacher": "boosted", "crossfit": 3, "kl_weight": 0.0},
        {"teacher": [(rows.q, 0), (rows.other, np.zeros(rows.n))]},
    ):
        assert pi_xgb.train(params, dtrain, ROUNDS, **keywords).save_raw() == plain.save_raw(), keywords
    if rows.qid is None:  # of labelled rows, those of the training alone
        alone = xgb.train(params, dtrain.slice(known), ROUNDS)
        found = pi_xgb.train(params, dtrain, ROUNDS, teacher=rows.q, kl_weight=0, labelled=rows.labelled)
        assert found.save_raw() == alone.save_raw()


@pytest.mark.parametrize("name", [*BLENDED, *TARGETS])
def test_a_teacher_that_repeats_the_labels_is_xgboost_at_half_the_penalties(name):
    # With XGBoost's own gradient and its own intercept.
    rows = Problem(name)
    half = rows.params(reg_lambda=0.5, min_child_weight=0.5)
    theirs = rows.margins(xgb.train(half, rows.dtrain(weighted=True), ROUNDS))
    for engine in engines_of(rows.objective):
        keywords = {"teacher": one_hot(rows.objective, rows.y), "kl_weight": 1.0, "engine": engine}
        ours = pi_xgb.train(rows.params(), rows.dtrain(weighted=True), ROUNDS, **keywords)
        np.testing.assert_allclose(rows.margins(ours), theirs, atol=2e-5)


@pytest.mark.parametrize("name", COPIED)
def test_a_small_kl_weight_is_nearly_xgboost(name):
    rows = Problem(name)
    plain = xgb.train(rows.params(), rows.dtrain(weighted=True), ROUNDS)
    nearly = pi_xgb.train(rows.params(), rows.dtrain(weighted=True), ROUNDS, teacher=rows.q, kl_weight=1e-9)
    np.testing.assert_allclose(rows.margins(nearly), rows.margins(plain), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("name", [*ONE_VALUE, *TARGETS])
@pytest.mark.parametrize("more", [{"subsample": 0.7, "colsample_bytree": 0.7}, {"booster": "dart", "rate_drop": 0.3}])
def test_native_draws_as_the_callback_does(name, more):
    if name.endswith("multi_output_tree") and "booster" in more:
        pytest.skip("XGBoost's dart has no vector leaves")
    rows = Problem(name)
    models = [
        pi_xgb.train(rows.params(**more), rows.dtrain(), ROUNDS, teacher=rows.q, kl_weight=A, engine=engine)
        for engine in ("callback", "native")
    ]
    np.testing.assert_allclose(rows.margins(models[0]), rows.margins(models[1]), atol=2e-5)


@pytest.mark.parametrize("how", ["rows", "positives"])
@pytest.mark.parametrize("tree_method", ["hist", "exact"])
def test_cuts_are_drawn_by_the_weights_of_the_user(tree_method, how):
    # Fewer bins than values: the weights that the native engine lends to the matrix would draw others.
    rows = Problem("binary:logistic", n_rows=300)
    rows.x = np.random.default_rng(1).normal(size=rows.x.shape).astype(np.float32)
    params = rows.params(tree_method=tree_method, max_bin=8)
    keywords: dict[str, Any] = {"teacher": rows.q, "kl_weight": A}
    if how == "rows":
        keywords |= {"labelled": rows.labelled, "teacher_weight": rows.teacher_weight}
    else:
        params["scale_pos_weight"] = 4.0
    models = [
        pi_xgb.train(params, rows.dtrain(weighted=True), ROUNDS, engine=engine, **keywords)
        for engine in ("callback", "native")
    ]
    np.testing.assert_allclose(rows.margins(models[1]), rows.margins(models[0]), atol=1e-4)
    # Copies of rows change no cut either.
    copied = Problem("reg:absoluteerror", n_rows=300)
    copied.x = rows.x
    ref = copied.dtrain(kind=xgb.QuantileDMatrix, max_bin=8)
    dtrain, params = copied.dtrain(), copied.params(tree_method=tree_method, max_bin=8)
    found = pi_xgb.train(params, dtrain, ROUNDS, teacher=copied.q, kl_weight=A).trees_to_dataframe()["Split"].dropna()
    if tree_method == "hist":
        assert np.isin(found.astype(np.float32), ref.get_quantile_cut()[1]).all()


@every_objective
def test_labels_of_unlabelled_rows_are_never_read(name):
    rows = Problem(name)
    keywords = {"labelled": rows.labelled, "kl_weight": A}
    other = Problem(name)
    for field, values in other.fields.items():
        changed = values.copy()
        changed[~rows.labelled] = values[~rows.labelled][::-1]
        other.fields[field] = changed
    if rows.objective == "reg:gamma":
        other.fields["label"][~rows.labelled] = 0  # not even whether they are valid
    ways: list[dict[str, Any]] = [{"teacher": rows.q, "engine": engine} for engine in engines_of(rows.objective)]
    ways.append({"privileged": True, "teacher": "boosted", "crossfit": 3})
    if rows.objective in BLENDED:
        ways.append({"privileged": True, "teacher": "boosted", "method": "jpib"})
    for way in ways:
        models = []
        for case in (rows, other):
            own = way | ({"privileged": case.dprivileged()} if "privileged" in way else {})
            models.append(pi_xgb.train(rows.params(), case.dtrain(), ROUNDS, **own, **keywords).save_raw())
        assert models[0] == models[1], way


@pytest.mark.parametrize("name", [*BLENDED, *TARGETS])
def test_the_objective_in_xgboost_train_gives_the_model_of_train(name):
    rows = Problem(name)
    dtrain, params = rows.dtrain(weighted=True), rows.params(base_score=rows.start)
    guided: dict[str, Any] = {"labelled": rows.labelled, "teacher_weight": rows.teacher_weight}
    expected = pi_xgb.train(params, dtrain, ROUNDS, teacher=rows.q, kl_weight=A, engine="callback", **guided)
    objective = pi_xgb.KLObjective(rows.q, A, objective=rows.objective, **guided)
    assert_same_model(xgb.train(params, dtrain, ROUNDS, obj=objective), expected)


@pytest.mark.parametrize("name", ["binary:logistic", "multi:softprob", "reg:absoluteerror", "rank:ndcg"])
@pytest.mark.parametrize("kind", [xgb.DMatrix, xgb.QuantileDMatrix])
def test_four_and_four_rounds_are_eight(name, kind):
    rows = Problem(name)
    for engine in engines_of(name):
        guided = {"teacher": rows.q, "kl_weight": A, "engine": engine}
        dtrain = rows.dtrain(weighted=True, kind=kind)
        four = pi_xgb.train(rows.params(), dtrain, 4, **guided)
        eight = pi_xgb.train(rows.params(), dtrain, 4, xgb_model=four, **guided)
        whole = pi_xgb.train(rows.params(), dtrain, 8, **guided)
        if engine == "callback":
            assert_same_model(eight, whole)
        np.testing.assert_allclose(rows.margins(eight), rows.margins(whole), atol=2e-5)
