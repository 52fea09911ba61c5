"""Every objective of the registry that blends, in whole trainings: against stacked rows, and against XGBoost itself."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import xgboost as xgb
from helpers_joint import AMOUNTS, OBJECTIVES, assert_same_model, problem

import pi_xgb
from pi_xgb._core.losses import LOSSES, OF_TARGETS

ROUNDS, KL_WEIGHT = 6, 1.7
SEVERAL = {
    f"{name} of several targets, {strategy}": {"objective": name, "multi_strategy": strategy}
    for name in OF_TARGETS
    for strategy in ("one_output_per_tree", "multi_output_tree")
}
CASES = [*OBJECTIVES, *SEVERAL]
every_case = pytest.mark.parametrize("case", CASES)


class Rows:
    """Rows of few distinct values per column, so that every way of drawing cuts draws the same ones, with gaps."""

    def __init__(self, case: str, seed: int = 0, n: int = 160) -> None:
        rng = np.random.default_rng(seed)
        self.n = n
        self.x = rng.integers(0, 12, (n, 4)).astype(np.float32)
        self.z = rng.integers(0, 12, (n, 3)).astype(np.float32)
        signal = self.x[:, 0] / 4 + self.z[:, 0] / 3 + rng.normal(size=n)
        self.x[rng.random((n, 4)) < 0.15] = np.nan
        score = 1 / (1 + np.exp(signal.mean() - signal))
        objective = SEVERAL[case]["objective"] if case in SEVERAL else case
        self.params: dict[str, Any] = {"objective": objective, "max_depth": 3, "nthread": 1, "base_score": 0.5}
        if objective.startswith("multi"):
            self.params |= {"num_class": 3}
            y, q = np.digitize(score, [0.35, 0.65]), rng.dirichlet(np.ones(3), n)
        elif objective in AMOUNTS:
            q = np.exp(signal / 2)
            y = rng.gamma(2.0, q / 2) if objective == "reg:gamma" else rng.poisson(q)
        elif objective == "reg:squarederror":
            y, q = signal, signal + rng.normal(size=n) / 2
        else:
            y, q = rng.random(n) < score, score
        if case in SEVERAL:
            self.params |= SEVERAL[case] | {"base_score": [0.5, 0.5]}
            y, q = (np.stack([values, values[::-1]], axis=1) for values in (y, q))
        self.y, self.q = y.astype(np.float32), q.astype(np.float32)
        self.labelled = rng.random(n) < 0.4
        self.labelled[:6] = True
        self.teacher_weight = rng.choice([0.3, 1.0, 2.5], n)
        self.weight = rng.choice([0.5, 1.0, 2.0], n).astype(np.float32)

    def dtrain(self, rows: Any = slice(None), **more: Any) -> xgb.DMatrix:
        return xgb.DMatrix(self.x[rows], self.y[rows], weight=self.weight[rows], **more)

    def privileged(self, **more: Any) -> xgb.DMatrix:
        return xgb.DMatrix(self.z, self.y, **more)

    def margins(self, booster: xgb.Booster) -> np.ndarray:
        return booster.predict(xgb.DMatrix(self.x), output_margin=True)

    def engines(self) -> tuple[str, ...]:
        return LOSSES[self.params["objective"]].engines


def stacked(rows: Rows) -> xgb.Booster:
    """Plain XGBoost on labelled rows and, below them, all rows as the teacher has it, for classes once per class."""
    y, w, known, a = rows.y, rows.weight, rows.labelled, KL_WEIGHT * rows.teacher_weight
    parts = [(rows.x[known], y[known], w[known])]
    if "num_class" in rows.params:
        parts += [(rows.x, np.full(rows.n, k, np.float32), w * a * rows.q[:, k]) for k in range(3)]
    else:
        parts += [(rows.x, rows.q, w * a)]
    x, label, weight = (np.concatenate(column) for column in zip(*parts, strict=True))
    return xgb.train(rows.params, xgb.DMatrix(x, label, weight=weight), ROUNDS)


@every_case
@pytest.mark.parametrize("seed", range(2))
def test_callback_native_and_stack_are_one_model(case, seed):
    rows = Rows(case, seed)
    expected = rows.margins(stacked(rows))
    for engine in rows.engines():
        booster = pi_xgb.train(
            rows.params,
            rows.dtrain(),
            ROUNDS,
            teacher=rows.q,
            kl_weight=KL_WEIGHT,
            labelled=rows.labelled,
            teacher_weight=rows.teacher_weight,
            engine=engine,
        )
        # Weights, gaps in x and rows without a label: the blend is the sum of its parts.
        np.testing.assert_allclose(rows.margins(booster), expected, atol=1e-5, err_msg=engine)


@pytest.mark.filterwarnings("ignore:.*neither a label nor a teacher")
@pytest.mark.parametrize("objective", AMOUNTS)
def test_rows_with_neither_label_nor_teacher_take_no_part(objective):
    # A label of 0 would do for them, but not for XGBoost's gamma regression.
    rows = Rows(objective)
    rows.teacher_weight[::3] = 0.0
    expected = rows.margins(stacked(rows))
    guided = {"kl_weight": KL_WEIGHT, "labelled": rows.labelled, "teacher_weight": rows.teacher_weight}
    takes_part = rows.labelled | (rows.teacher_weight > 0)
    for engine in rows.engines():
        booster = pi_xgb.train(rows.params, rows.dtrain(), ROUNDS, teacher=rows.q, engine=engine, **guided)
        np.testing.assert_allclose(rows.margins(booster)[takes_part], expected[takes_part], atol=1e-5)


def test_the_label_of_a_row_without_one_may_be_invalid():
    rows, guided = Rows("reg:gamma"), {"kl_weight": KL_WEIGHT}
    expected = [
        pi_xgb.train(rows.params, rows.dtrain(), 2, teacher=rows.q, labelled=rows.labelled, engine=engine, **guided)
        for engine in rows.engines()
    ]
    dtrain = rows.dtrain()
    dtrain.set_label(np.where(rows.labelled, dtrain.get_label(), 0))
    for engine, booster in zip(rows.engines(), expected, strict=True):
        found = pi_xgb.train(rows.params, dtrain, 2, teacher=rows.q, labelled=rows.labelled, engine=engine, **guided)
        assert found.get_dump() == booster.get_dump()


@every_case
def test_both_engines_scale_the_regularisation_and_start_alike(case):
    rows = Rows(case)
    del rows.params["base_score"]
    rows.params |= {"subsample": 0.8, "reg_lambda": 2.0, "gamma": 0.1, "min_child_weight": 2.0}
    models = [
        pi_xgb.train(rows.params, rows.dtrain(), ROUNDS, teacher=rows.q, kl_weight=KL_WEIGHT, engine=engine)
        for engine in rows.engines()
    ]
    for booster in models[1:]:
        np.testing.assert_allclose(rows.margins(booster), rows.margins(models[0]), atol=1e-5)


@every_case
def test_kl_weight_0_is_xgboost_to_the_bit(case):
    rows = Rows(case)
    del rows.params["base_score"]
    plain = xgb.train(rows.params, rows.dtrain(), ROUNDS)
    assert_same_model(pi_xgb.train(rows.params, rows.dtrain(), ROUNDS, teacher=rows.q, kl_weight=0.0), plain)
    known = np.flatnonzero(rows.labelled)
    alone = xgb.train(rows.params, rows.dtrain().slice(known), ROUNDS)
    taught = {"privileged": rows.privileged(), "kl_weight": 0.0, "labelled": rows.labelled}
    assert_same_model(pi_xgb.train(rows.params, rows.dtrain(), ROUNDS, **taught), alone)


@every_case
def test_a_teacher_that_repeats_the_labels_is_xgboost_at_half_the_penalties(case):
    # With its own intercept and its own params: the callback's gradient is XGBoost's, doubled.
    rows = Rows(case)
    del rows.params["base_score"]
    y = rows.y if "num_class" not in rows.params else np.eye(3, dtype=np.float32)[rows.y.astype(int)]
    ours = pi_xgb.train(rows.params, rows.dtrain(), ROUNDS, teacher=y, kl_weight=1.0)
    half = {**rows.params, "reg_lambda": 0.5, "min_child_weight": 0.5}
    theirs = xgb.train(half, rows.dtrain(), ROUNDS)
    np.testing.assert_allclose(rows.margins(ours), rows.margins(theirs), atol=1e-5)


@pytest.mark.parametrize(
    "named",
    [
        {"objective": "count:poisson", "max_delta_step": 0.0},
        {"objective": "count:poisson", "max_delta_step": "1.5"},
        {"objective": "reg:tweedie", "tweedie_variance_power": 1.0},
        {"objective": "reg:tweedie", "tweedie_variance_power": 1.9},
    ],
    ids=str,
)
def test_params_of_the_objective_count_in_every_engine(named):
    rows = Rows(named["objective"])
    rows.params |= named
    guided = {"teacher": rows.q, "kl_weight": KL_WEIGHT, "labelled": rows.labelled}
    rows.teacher_weight = np.ones(rows.n)
    expected = rows.margins(stacked(rows))
    for engine in rows.engines():
        booster = pi_xgb.train(rows.params, rows.dtrain(), ROUNDS, engine=engine, **guided)
        np.testing.assert_allclose(rows.margins(booster), expected, atol=2e-5)
    # A teacher that is learned shares what is modelled.
    teacher = pi_xgb.fit_teacher(rows.params, rows.privileged(), 4)
    taught = pi_xgb.train(rows.params, rows.dtrain(), 4, teacher=teacher)
    learned = pi_xgb.train(
        rows.params, rows.dtrain(), 4, privileged=rows.privileged(weight=rows.weight), teacher_params={"max_depth": 3}
    )
    assert learned.num_boosted_rounds() == taught.num_boosted_rounds()


@pytest.mark.parametrize("scale", [1.0, 3.0])
@pytest.mark.parametrize("objective", ["reg:gamma", "binary:logitraw", "reg:logistic"])
def test_scale_pos_weight_counts_where_xgboost_knows_it(objective, scale):
    rows = Rows(objective)
    del rows.params["base_score"]
    rows.y[:40] = 1.0  # gamma regression scales amounts of exactly 1, too
    rows.params |= {"scale_pos_weight": scale, "reg_lambda": 0.5, "min_child_weight": 0.5}
    theirs = xgb.train(rows.params, rows.dtrain(), ROUNDS)
    rows.params |= {"reg_lambda": 1.0, "min_child_weight": 1.0}
    for engine in rows.engines():
        ours = pi_xgb.train(rows.params, rows.dtrain(), ROUNDS, teacher=rows.y, kl_weight=1.0, engine=engine)
        np.testing.assert_allclose(rows.margins(ours), rows.margins(theirs), atol=1e-5)


# --- teachers ---------------------------------------------------------------------------------------------------


@every_case
def test_a_learned_teacher_is_xgboost_and_guides_as_its_q_does(case):
    rows = Rows(case)
    teacher = pi_xgb.fit_teacher(rows.params, rows.privileged(), 4, labelled=rows.labelled, crossfit=3)
    assert teacher.values.shape == rows.q.shape
    known = np.flatnonzero(rows.labelled)
    if not LOSSES[rows.params["objective"]].multiclass and not case.startswith("binary:logitraw"):
        found = [booster.predict(xgb.DMatrix(rows.z)) for booster in teacher.boosters]
        # An unlabelled row hears the mean of what the boosters show, a labelled one the booster that did not see it.
        np.testing.assert_allclose(teacher.values[~rows.labelled], np.mean(found, axis=0)[~rows.labelled], rtol=1e-5)
        distance = np.abs(np.stack(found)[:, known] - teacher.values[known])
        assert (distance.reshape(3, len(known), -1).max(axis=2).min(axis=0) < 1e-5).all()
    guided = {"labelled": rows.labelled, "kl_weight": KL_WEIGHT}
    brought = pi_xgb.train(rows.params, rows.dtrain(), 4, teacher=teacher.values, **guided)
    assert_same_model(pi_xgb.train(rows.params, rows.dtrain(), 4, teacher=teacher, **guided), brought)


@pytest.mark.parametrize("case", [*(name for name in OBJECTIVES if "native" in LOSSES[name].engines), *SEVERAL])
def test_jpib_is_one_model_in_both_engines_and_as_an_objective(case):
    rows = Rows(case)
    guided = {"kl_weight": 0.8, "labelled": rows.labelled}
    expected = jpib(rows, 0.8)
    for engine in rows.engines():
        booster = pi_xgb.train(
            rows.params, rows.dtrain(), ROUNDS, privileged=rows.privileged(), method="jpib", engine=engine, **guided
        )
        np.testing.assert_allclose(rows.margins(booster), expected, atol=1e-4)
    joint = pi_xgb.JointObjective(rows.privileged(), params=rows.params, **guided)
    by_objective = xgb.train(rows.params, rows.dtrain(), ROUNDS, obj=joint)
    np.testing.assert_allclose(rows.margins(by_objective), expected, atol=1e-4)


def jpib(rows: Rows, a: float) -> np.ndarray:
    """Two Boosters on stacked rows: each learns from the labels and, below them, from what the other one says."""
    loss, objective = LOSSES[rows.params["objective"]], rows.params["objective"]
    dtrain, dpriv = rows.dtrain(), rows.privileged()
    boosters = xgb.Booster(rows.params, [dtrain]), xgb.Booster(rows.params, [dpriv])
    w = rows.weight[:, None] if rows.y.ndim == 2 else rows.weight
    m = rows.labelled[:, None] if rows.y.ndim == 2 else rows.labelled

    def mean(which: int) -> np.ndarray:
        margin = boosters[which].predict((dtrain, dpriv)[which], output_margin=True, training=True)
        return loss.mean(margin)

    def parts(own: np.ndarray, expected: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        if objective == "count:poisson":
            return own - expected, own * np.exp(0.7)
        if objective == "reg:gamma":
            return 1 - expected / own, expected / own
        if objective == "reg:tweedie":
            return own**0.5 - expected * own**-0.5, 0.5 * own**0.5 + 0.5 * expected * own**-0.5
        return own - expected, np.ones_like(own) if objective == "reg:squarederror" else own * (1 - own)

    for i in range(ROUNDS):
        for which in (0, 1):
            if which == 0:
                other = mean(1)
            own, expected = mean(which), other if which == 0 else mean(0)
            of_label, of_other = parts(own, np.where(m, rows.y, 1)), parts(own, expected)
            grad, hess = (w * (m * item + a * two) for item, two in zip(of_label, of_other, strict=True))
            boosters[which].boost((dtrain, dpriv)[which], i, grad=grad, hess=hess)
    return rows.margins(boosters[0])


# --- exposure ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("objective", AMOUNTS)
@pytest.mark.parametrize("method", ["kbpib", "jpib"])
def test_a_base_margin_is_an_exposure_for_both(objective, method):
    rows = Rows(objective)
    exposure = np.log(np.random.default_rng(0).choice([0.5, 1.0, 4.0], rows.n))
    dtrain = rows.dtrain(base_margin=exposure)
    guided: dict[str, Any] = {"method": method, "kl_weight": KL_WEIGHT}
    with pytest.raises(ValueError, match=r"privileged.*build.*base_margin"):
        pi_xgb.train(rows.params, dtrain, 3, privileged=rows.privileged(), **guided)
    knows = rows.privileged(base_margin=exposure, weight=rows.weight)
    models = [
        pi_xgb.train(rows.params, dtrain, ROUNDS, privileged=knows, engine=engine, **guided)
        for engine in ("callback", "native")
    ]
    np.testing.assert_allclose(rows.margins(models[1]), rows.margins(models[0]), atol=1e-5)
    if method == "kbpib":
        teacher = pi_xgb.fit_teacher(rows.params, knows, ROUNDS)
        # What it says is the mean of a row as long as the row was exposed.
        alone = xgb.train(rows.params, knows, ROUNDS)
        np.testing.assert_allclose(teacher.values, alone.predict(knows), rtol=1e-5)
        by_q = pi_xgb.train(rows.params, dtrain, ROUNDS, teacher=teacher, kl_weight=KL_WEIGHT)
        assert_same_model(by_q, models[0])


def test_a_teacher_that_sees_all_knows_the_exposure_too():
    rows = Rows("count:poisson")
    exposure = np.log(np.random.default_rng(0).choice([0.5, 1.0, 4.0], rows.n))
    dtrain, knows = rows.dtrain(base_margin=exposure), rows.privileged(base_margin=exposure)
    seen = pi_xgb.train(rows.params, dtrain, 3, privileged=knows, teacher_sees="all", crossfit=3)
    both = xgb.DMatrix(np.hstack([rows.x, rows.z]), rows.y, base_margin=exposure, weight=rows.weight)
    assert_same_model(seen, pi_xgb.train(rows.params, dtrain, 3, privileged=both, allow_overlap=True, crossfit=3))


# --- what is refused --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("objective", "label", "q", "match"),
    [
        ("count:poisson", -1.0, 1.0, r"labels.*counts.*0.*got.*-1.0"),
        ("reg:tweedie", -1.0, 1.0, r"labels of dtrain.*0 or more.*reg:tweedie"),
        ("reg:gamma", 0.0, 1.0, r"labels.*0.*amounts.*0"),
        ("reg:logistic", 1.5, 0.5, r"labels.*\[0, 1\].*reg:logistic"),
        ("binary:logitraw", 2.0, 0.5, r"\[0, 1\].*binary:logitraw"),
        ("count:poisson", 1.0, -0.1, r"q .*least 0.*-0.1"),
        ("reg:tweedie", 1.0, -0.1, r"q .*least 0"),
        ("reg:gamma", 1.0, 0.0, r"q of teacher.*above 0"),
        ("reg:gamma", 1.0, np.inf, r"q of teacher.*above 0"),
        ("reg:logistic", 1.0, 1.1, r"q .*teacher.*\[0, 1\]"),
    ],
)
def test_labels_and_q_lie_where_the_objective_wants_them(objective, label, q, match):
    rows = Rows(objective)
    y, found = rows.y.copy(), rows.q.copy()
    y[7], found[9] = label, q
    for engine in rows.engines():
        with pytest.raises(ValueError, match=match):
            pi_xgb.train(rows.params, xgb.DMatrix(rows.x, y), 2, teacher=found, engine=engine)


def test_the_error_lists_the_objectives_by_kind():
    rows = Rows("reg:squarederror")
    kinds = r"binary:logistic, .* \(classes\); reg:squarederror.* \(numbers\); count:poisson \(counts\); .* \(costs\)"
    with pytest.raises(ValueError, match=f"objectives {kinds}.*'binary:hinge'"):
        pi_xgb.train({"objective": "binary:hinge"}, rows.dtrain(), 2, teacher=rows.q)


def test_what_several_targets_cannot():
    rows = Rows("reg:squarederror of several targets, multi_output_tree")
    with pytest.raises(ValueError, match=r"2 labels.*reg:absoluteerror"):
        pi_xgb.train({"objective": "reg:absoluteerror"}, rows.dtrain(), 2, teacher=rows.q)
    with pytest.raises(ValueError, match=r"scale_pos_weight.*several targets"):
        pi_xgb.train(rows.params | {"scale_pos_weight": 2.0}, rows.dtrain(), 2, teacher=rows.q)
    with pytest.raises(ValueError, match=r"q .*shape \(160,\).*\(160, 2\)"):
        pi_xgb.train(rows.params, rows.dtrain(), 2, teacher=rows.q[:, 0])
    with pytest.raises(ValueError, match=r"labels.*\(160, 2\).*\(160,\)"):
        pi_xgb.train(rows.params, rows.dtrain(), 2, privileged=xgb.DMatrix(rows.z, rows.y[:, 0]))
    other = rows.y.copy()
    other[3, 1] += 1
    with pytest.raises(ValueError, match=r"disagree.*1 row.*row 3"):
        pi_xgb.train(rows.params, rows.dtrain(), 2, privileged=xgb.DMatrix(rows.z, other))
    attached = pi_xgb.attach_teacher(xgb.DMatrix(rows.x, rows.y[:, 0]), rows.q[:, 0])
    attached.set_label(rows.y)
    with pytest.raises(ValueError, match=r"room.*teacher.*2"):
        xgb.train(rows.params, attached, 2, obj=pi_xgb.KLObjective())


# --- the way to a training --------------------------------------------------------------------------------------


@every_case
def test_the_objective_alone_and_cv_train_it_too(case):
    rows = Rows(case)
    by_objective = xgb.train(rows.params, rows.dtrain(), 4, obj=pi_xgb.KLObjective(rows.q, KL_WEIGHT))
    by_train = pi_xgb.train(rows.params, rows.dtrain(), 4, teacher=rows.q, kl_weight=KL_WEIGHT)
    np.testing.assert_array_equal(rows.margins(by_objective), rows.margins(by_train))
    seen: list[float] = []

    def watched(predictions: np.ndarray, matrix: xgb.DMatrix) -> tuple[str, float]:
        seen.append(float(np.asarray(predictions).mean()))
        return "mean", seen[-1]

    weights = [0.0, KL_WEIGHT]
    table = pi_xgb.cv(rows.params, rows.dtrain(), 2, teacher=rows.q, kl_weight=weights, custom_metric=watched)
    assert len(table) == 4
    plain = xgb.cv(rows.params, rows.dtrain(), 2, custom_metric=watched)
    # At 0 the table is XGBoost's, and a metric is shown what it shows.
    np.testing.assert_array_equal(table.loc[0.0].to_numpy(), plain.to_numpy())


@pytest.mark.parametrize("objective", [*AMOUNTS, "reg:logistic", "reg:squarederror"])
def test_q_and_masks_travel_with_a_matrix(objective):
    rows = Rows(objective)
    rows.q = np.abs(rows.q)
    attached = pi_xgb.attach_teacher(rows.dtrain(), rows.q, labelled=rows.labelled)
    subset = np.arange(10, 150)
    booster = xgb.train(rows.params, attached.slice(subset), 4, obj=pi_xgb.KLObjective(kl_weight=KL_WEIGHT))
    guided = {"teacher": rows.q[subset], "labelled": rows.labelled[subset], "kl_weight": KL_WEIGHT}
    expected = pi_xgb.train(rows.params, rows.dtrain(subset), 4, **guided)
    np.testing.assert_allclose(rows.margins(booster), rows.margins(expected), atol=1e-4)


@pytest.mark.parametrize("objective", [*AMOUNTS, "binary:logitraw"])
def test_a_continued_training_is_one_training(objective):
    case = problem(objective)
    params = case.params(max_delta_step=0.4) if objective == "count:poisson" else case.params()
    for engine in ("callback", "native"):
        guided = {"teacher": case.q, "kl_weight": 2.0, "engine": engine}
        first = pi_xgb.train(params, case.dtrain(), 3, **guided)
        whole = pi_xgb.train(params, case.dtrain(), 6, **guided)
        resumed = pi_xgb.train(params, case.dtrain(), 3, xgb_model=first, **guided)
        np.testing.assert_allclose(resumed.predict(case.dtrain()), whole.predict(case.dtrain()), rtol=1e-5)


@pytest.mark.parametrize(
    "named",
    [
        {"objective": "count:poisson", "max_delta_step": 0.1},
        {"objective": "reg:tweedie", "tweedie_variance_power": 1.9},
    ],
    ids=lambda named: named["objective"],
)
@pytest.mark.parametrize("from_file", [False, True])
def test_a_continued_model_brings_the_params_of_its_objective(named, from_file, tmp_path):
    case = problem(named["objective"])
    first: Any = xgb.train(case.params(**named), case.dtrain(), 3)
    if from_file:
        first.save_model(tmp_path / "first.ubj")
        first = tmp_path / "first.ubj"
    silent = case.params()
    half = case.params(reg_lambda=0.5, min_child_weight=0.5)
    # XGBoost keeps the power of Tweedie, and takes max_delta_step of Poisson for 0.7 unless it is given anew.
    theirs = xgb.train(half, case.dtrain(), 3, xgb_model=first)
    for engine in ("callback", "native"):
        guided = {"teacher": case.y, "kl_weight": 1.0, "engine": engine}
        ours = pi_xgb.train(silent, case.dtrain(), 3, xgb_model=first, **guided)
        np.testing.assert_allclose(ours.predict(case.dtrain()), theirs.predict(case.dtrain()), rtol=1e-4)
