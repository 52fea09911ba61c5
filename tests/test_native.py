"""The native engine builds the callback's models through XGBoost's own objective, and returns what it borrowed."""

import itertools

import numpy as np
import pytest
import xgboost as xgb
from xgboost.callback import TrainingCallback

import pi_xgb
from pi_xgb._core.blend import Blend
from pi_xgb._core.losses import LOSSES

ROUNDS = 12


def continuous(n_rows=800, seed=0):
    """Rows without tied splits, so that rounding does not choose between equally good ones."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n_rows, 4)).astype(np.float32)
    z = (x[:, :2] + rng.normal(size=(n_rows, 2))).astype(np.float32)
    y = (z.sum(axis=1) + rng.normal(size=n_rows) > 0).astype(np.float32)
    q = (1 / (1 + np.exp(-z.sum(axis=1)))).astype(np.float32)
    weight = rng.uniform(0.5, 2, n_rows).astype(np.float32)
    return x, z, y, q, weight


def margins(booster, x):
    return booster.predict(xgb.DMatrix(x), output_margin=True)


def params_of(**more):
    params = {"objective": "binary:logistic", "max_depth": 3, "eta": 0.3, "nthread": 1, "seed": 3, **more}
    if params.get("tree_method") == "approx":
        # approx draws its cuts by the Hessian, which the engines scale differently: rounding could move a cut,
        # as it could tell tied splits apart. A bin for each value leaves nothing to draw.
        params["max_bin"] = 1024
    return params


@pytest.mark.parametrize("tree_method", ["hist", "approx", "exact"])
@pytest.mark.parametrize(
    "more",
    [
        {},
        {"subsample": 0.7, "colsample_bytree": 0.7},
        {"reg_lambda": 3.0, "reg_alpha": 0.2, "gamma": 0.3, "min_child_weight": 4.0, "max_delta_step": 0.7},
        {"lambda": 0.0, "alpha": 0.1, "min_split_loss": 0.1, "grow_policy": "depthwise"},
        {"objective": "reg:squarederror"},
        {"base_score": 0.3},
        {"scale_pos_weight": 3.0},
        {"booster": "dart", "rate_drop": 0.3},
    ],
    ids=lambda more: ",".join(more) or "plain",
)
def test_both_engines_build_the_same_model(tree_method, more):
    if tree_method == "approx" and "scale_pos_weight" in more:
        pytest.skip("refused: see test_native_says_why_it_would_not_be_exact")
    x, _, y, q, weight = continuous()
    for kl_weight, weighted in itertools.product((0.3, 4.0), (False, True)):
        made = {}
        for engine in ("callback", "native"):
            dtrain = xgb.DMatrix(x, y, weight=weight if weighted else None)
            made[engine] = pi_xgb.train(
                params_of(tree_method=tree_method, **more),
                dtrain,
                ROUNDS,
                teacher=q,
                kl_weight=kl_weight,
                engine=engine,
            )
            assert made[engine].attr("pi_xgb_engine") == engine
        # Margins agree to rounding.
        np.testing.assert_allclose(margins(made["native"], x), margins(made["callback"], x), atol=1e-5)


@pytest.mark.parametrize("tree_method", ["hist", "approx", "exact"])
@pytest.mark.parametrize("kl_weight", [0.3, 4.0])
def test_jpib_is_the_same_in_both_engines(tree_method, kl_weight):
    x, z, y, _, weight = continuous(seed=1)
    models = [
        pi_xgb.train(
            params_of(tree_method=tree_method),
            xgb.DMatrix(x, y, weight=weight),
            ROUNDS,
            privileged=xgb.DMatrix(z, y),
            method="jpib",
            kl_weight=kl_weight,
            engine=engine,
        )
        for engine in ("callback", "native")
    ]
    np.testing.assert_allclose(margins(models[1], x), margins(models[0], x), atol=1e-5)


@pytest.mark.parametrize("objective", ["binary:logistic", "reg:squarederror"])
def test_the_gradients_of_the_engines_are_one_factor_apart(objective):
    x, _, y, q, weight = continuous()
    loss = LOSSES[objective]
    margin = np.random.default_rng(2).normal(size=len(y)).astype(np.float32)
    for kl_weight in (0.3, 1.0, 9.0):
        ours = pi_xgb.KLObjective(q, kl_weight, objective=objective)(margin, xgb.DMatrix(x, y, weight=weight))
        blend = Blend(loss, y, [kl_weight])
        target, factor = blend.target([q], margin), blend.factor
        native = loss.gradient(loss.mean(margin), target, weight)
        # Gradient and Hessian of the callback are 1 + a times those on the blended label.
        np.testing.assert_allclose(ours[0], native[0] * factor, rtol=1e-6, atol=1e-6)
        np.testing.assert_allclose(ours[1], native[1] * factor, rtol=1e-6, atol=1e-6)


def test_evaluation_and_early_stopping_are_those_of_the_callback():
    x, _, y, q, _ = continuous()
    results = []
    for engine in ("callback", "native"):
        dtrain, history = xgb.DMatrix(x[:500], y[:500]), {}
        booster = pi_xgb.train(
            params_of(eval_metric=["auc", "logloss"]),
            dtrain,
            60,
            teacher=q[:500],
            kl_weight=1.0,
            engine=engine,
            evals=[(xgb.DMatrix(x[500:], y[500:]), "valid")],
            early_stopping_rounds=5,
            evals_result=history,
            custom_metric=lambda p, d: ("mine", float(((p > 0.5) == d.get_label()).mean())),
            maximize=True,
            verbose_eval=False,
        )
        results.append((booster.best_iteration, history["valid"]))
    assert results[0][0] == results[1][0]
    for metric, values in results[0][1].items():
        np.testing.assert_allclose(results[1][1][metric], values, atol=1e-6)


class Stop(TrainingCallback):
    """Raise in the middle of a training."""

    def __init__(self, error):
        super().__init__()
        self.error = error

    def after_iteration(self, model, epoch, evals_log):
        if epoch == 2:
            raise self.error
        return False


@pytest.mark.parametrize("error", [RuntimeError("stopped"), KeyboardInterrupt()])
@pytest.mark.parametrize("matrix", [xgb.DMatrix, xgb.QuantileDMatrix])
@pytest.mark.parametrize("method", ["kbpib", "jpib"])
@pytest.mark.parametrize("weighted", [False, True])
def test_labels_and_weights_come_back_whatever_happens(error, matrix, method, weighted):
    x, z, y, _, weight = continuous(200)
    dtrain = matrix(x, y, weight=weight if weighted else None)
    privileged = matrix(z, y)
    fields = [(m, m.get_label().tobytes(), m.get_weight().tobytes()) for m in (dtrain, privileged)]
    for callbacks in ([], [Stop(error)]):
        try:
            pi_xgb.train(
                params_of(scale_pos_weight=2.0),
                dtrain,
                5,
                privileged=privileged,
                method=method,
                engine="native",
                callbacks=callbacks,
            )
            assert not callbacks
        except type(error):
            assert callbacks
        # The bytes of labels and weights are those from before.
        for m, label, weights in fields:
            assert m.get_label().tobytes() == label
            assert m.get_weight().tobytes() == weights


@pytest.mark.parametrize(
    ("more", "why"),
    [
        ({"objective": "multi:softprob", "num_class": 2}, "whole classes"),
        ({"booster": "gblinear"}, "gblinear"),
        ({"sampling_method": "gradient_based", "subsample": 0.5}, "gradient_based"),
        ({"tree_method": "approx", "scale_pos_weight": 2.0}, "approx"),
    ],
)
def test_native_says_why_it_would_not_be_exact(more, why):
    x, _, y, q, _ = continuous(100)
    q = np.stack([1 - q, q], axis=1) if "num_class" in more else q
    with pytest.raises(ValueError, match=f"engine='native' would not be exact for .*: .*{why}"):
        pi_xgb.train(params_of(**more), xgb.DMatrix(x, y), 2, teacher=q, engine="native")


def test_native_refuses_what_reads_the_labels_it_replaces():
    x, _z, y, q, _ = continuous(100)
    dtrain = xgb.DMatrix(x, y)
    with pytest.raises(ValueError, match="dtrain is among the evals"):
        pi_xgb.train(params_of(), dtrain, 2, teacher=q, engine="native", evals=[(dtrain, "train")])
    with pytest.raises(ValueError, match="dart"):
        pi_xgb.train(
            params_of(booster="dart"),
            dtrain,
            2,
            teacher=[(type("T", (pi_xgb.Teacher,), {"q": lambda self, mean, label, weight: mean})(), 1.0)],
            engine="native",
        )
    with pytest.raises(ValueError, match="engine must be one of"):
        pi_xgb.train(params_of(), dtrain, 2, teacher=q, engine="gpu")


@pytest.mark.parametrize(("is_adaptive", "heaviest"), [(False, 1e4), (True, 10.0)])
def test_native_takes_a_total_weight_up_to_a_limit(is_adaptive, heaviest):
    class Half(pi_xgb.Teacher):
        def q(self, mean, label, weight):
            return np.full(len(mean), 0.5, np.float32)

    Half.is_adaptive = is_adaptive
    x, _, y, _, _ = continuous(100)
    guided = {"teacher": Half(), "engine": "native"}
    booster = pi_xgb.train(params_of(), xgb.DMatrix(x, y), 1, kl_weight=heaviest, **guided)
    assert booster.attr("pi_xgb_engine") == "native"
    with pytest.raises(ValueError, match=r"engine='native' would not be exact .* total weight of"):
        pi_xgb.train(params_of(), xgb.DMatrix(x, y), 1, kl_weight=np.nextafter(heaviest, np.inf), **guided)


def test_auto_is_the_callback_on_a_cpu():
    x, _, y, q, _ = continuous(100)
    assert pi_xgb.train(params_of(), xgb.DMatrix(x, y), 2, teacher=q).attr("pi_xgb_engine") == "callback"


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("how", ["rows", "positives", "both", "jpib"])
@pytest.mark.parametrize("tree_method", ["hist", "exact"])
def test_cuts_are_drawn_by_the_users_weights_in_both_engines(tree_method, how, weighted):
    x, z, y, q, weight = continuous(300, seed=2)
    rng = np.random.default_rng(3)
    # Fewer bins than values: the weights that this engine lends to the matrix would draw others.
    params = params_of(tree_method=tree_method, max_bin=8)
    if how in ("positives", "both"):
        params["scale_pos_weight"] = 4.0
    keywords = {"teacher": q} if how != "jpib" else {"privileged": xgb.DMatrix(z, y), "method": "jpib"}
    if how != "positives":
        keywords |= {"labelled": rng.random(300) < 0.5, "teacher_weight": rng.choice([0.25, 1.0, 4.0], 300)}
    models = [
        pi_xgb.train(
            params, xgb.DMatrix(x, y, weight=weight if weighted else None), 4, kl_weight=1.5, engine=engine, **keywords
        )
        for engine in ("callback", "native")
    ]
    np.testing.assert_allclose(margins(models[1], x), margins(models[0], x), atol=1e-4)
    assert len(set(margins(models[0], x))) > 10


@pytest.mark.parametrize(
    "pair", [("lambda", "reg_lambda"), ("alpha", "reg_alpha"), ("gamma", "min_split_loss"), ("eta", "learning_rate")]
)
@pytest.mark.parametrize("reverse", [False, True])
def test_of_two_names_of_a_parameter_both_engines_take_the_one_of_xgboost(pair, reverse):
    rng = np.random.default_rng(0)
    x, q = rng.normal(size=(300, 4)), rng.random(300)
    dtrain = xgb.DMatrix(x, rng.random(300) < q)
    given = dict(zip(pair[::-1] if reverse else pair, (0.7, 0.2), strict=True))
    params = {"objective": "binary:logistic", "nthread": 1, "max_depth": 3, "base_score": 0.5, **given}
    soft = xgb.DMatrix(x, (dtrain.get_label() + q) / 2, weight=np.full(300, 2.0))
    expected = xgb.train(params, soft, 5).predict(dtrain)
    for engine in ("callback", "native"):
        found = pi_xgb.train(params, dtrain, 5, teacher=q, kl_weight=1.0, engine=engine).predict(dtrain)
        np.testing.assert_allclose(found, expected, atol=1e-5)
