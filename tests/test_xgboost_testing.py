"""The helpers by which XGBoost tests itself, with ``pi_xgb.train`` and ``pi_xgb.cv`` in the place of its own.

XGBoost ships them in ``xgboost.testing``, each version its own. They are found here by name and called with every
combination of the values below, so that what a later version adds is run without anybody remembering. Their calls
reach us through the functions that they import, and through XGBoost's scikit-learn layer.
"""

from __future__ import annotations

import functools
import importlib
import inspect
import itertools
import pkgutil
import sys
import types
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
import xgboost

import pi_xgb
from pi_xgb._core.losses import LOSSES
from pi_xgb._xgb.matrix import labels_of

pytest.importorskip("sklearn", reason="xgboost.testing imports scikit-learn")
testing = pytest.importorskip("xgboost.testing", exc_type=ImportError)

# Modules of which each function trains, or checks, with the public interface on one machine without a GPU.
MODULES = (
    "basic_models",
    "callbacks",
    "continuation",
    "interaction_constraints",
    "intercept",
    "metrics",
    "monotone_constraints",
    "multi_target",
    "ordinal",
    "parse_tree",
    "predict",
    "ranking",
    "updater",
    "with_skl",
)

# What a parameter of a helper may be. A helper with a parameter that is not here is left out.
VALUES: dict[str, tuple[Any, ...]] = {
    "device": ("cpu",),
    "tdevice": ("cpu",),
    "tree_method": ("hist", "approx"),
    "weighted": (False, True),
    "multi_strategy": ("one_output_per_tree", "multi_output_tree"),
    "grow_policy": ("depthwise", "lossguide"),
    "sampling_method": ("uniform",),
    "use_dart": (False, True),
    "multi_target": (False, True),
    "extmem": (False,),
    "is_cat": (False, True),
    "on_host": (False,),
    "use_cupy": (False,),
    "DMatrixT": (xgboost.DMatrix, xgboost.QuantileDMatrix),
    "objective": ("binary:logistic", "reg:absoluteerror"),
    "learning_rate": (None, 1.0),
    "n_samples": (100,),
    "n_samples_per_batch": (64,),
    "n_features": (8,),
    "n_batches": (3,),
    "n_bins": (16,),
    "rows": (80,),
    "cols": (4,),
    "cats": (6,),
    "rounds": (3,),
    "as_frame": (None,),
    "estimator": (xgboost.XGBClassifier,),
    "subsample": (0.5,),
    "rate_drop": (0.0, 0.5),
    "colsample_bylevel": (0.5,),
    "num_class": (1, 3),
    "seed_per_iteration": (False, True),
    "learning_to_rank": (False,),
}

VALUES_OF_ONE: dict[str, dict[str, tuple[Any, ...]]] = {
    "run_score_normalization": {"objective": ("rank:pairwise", "rank:ndcg")},
}

LEFT_OUT = {
    "check_get_quantile_cut_device": "is called by check_get_quantile_cut",
    "check_cut": "takes the cuts of another helper",
    "comp_booster": "takes the matrix of another helper",
    "training_accuracy": "reads a file of XGBoost's repository",
    "run_housing_rf_regression": "downloads data",
    "run_cat_invalid": "compares the messages of C++ builds",
    "run_cat_container": "trains nothing",
    "run_cat_container_iter": "trains nothing",
    "run_cat_container_mixed": "trains nothing",
    "run_recode_dmatrix": "trains nothing",
    "run_deterministic": "large on purpose: tells threads apart",
    "run_with_iter": "large on purpose: batches from disk",
    "check_extmem_qdm": "large on purpose: batches from disk",
    "run_gradient_based_sampling_accuracy": "large on purpose: compares accuracies",
}

# Helpers that take about a second or more.
SLOW = {
    "check_get_quantile_cut",
    "check_quantile_loss_extmem",
    "check_quantile_loss_rf",
    "run_cat_thread_safety",
    "run_feature_importance_strategy_compare",
    "run_mixed_strategy",
    "run_training_continuation_model_output",
}

# With tree_method="approx" XGBoost itself does not pass these.
HIST_ONLY = {
    "check_init_estimation",
    "check_quantile_error",
    "check_quantile_loss",
    "check_quantile_loss_rf",
    "run_init_estimation",
}

# Warnings of XGBoost's own helpers and of what they call; anything else is an error, as everywhere in this suite.
HELPERS_WARN = (
    (r".*Pass `.*` as keyword args", FutureWarning),
    (r".*`feature_weights` in `fit` method is deprecated", UserWarning),
    (r"\[\d\d:\d\d:\d\d\] WARNING: ", UserWarning),  # the log of the C++ library
)


def module_named(name: str) -> types.ModuleType | None:
    """A module of this XGBoost, if it has it and what it imports is here."""
    try:
        return importlib.import_module(f"xgboost.testing.{name}")
    except ImportError:
        return None


def calls_of(helper: Callable[..., Any]) -> Iterator[dict[str, Any]]:
    """Every combination of arguments that can be given, nothing where one cannot."""
    parameters = inspect.signature(helper).parameters
    needed = [name for name, p in parameters.items() if p.default is p.empty or name in ("multi_strategy",)]
    if "dtrain" in needed and "dtest" in needed:
        needed = [name for name in needed if name not in ("dtrain", "dtest")]
    possible = {**VALUES, **VALUES_OF_ONE.get(helper.__name__, {})}
    if not all(name in possible for name in needed):
        return
    for values in itertools.product(*(possible[name] for name in needed)):
        arguments = dict(zip(needed, values, strict=True))
        vector_leaf = arguments.get("multi_strategy") == "multi_output_tree"
        if arguments.get("tree_method") == "approx" and (vector_leaf or helper.__name__ in HIST_ONLY):
            continue
        yield arguments


def found() -> Iterator[Any]:
    for name in MODULES:
        module = module_named(name)
        for function, helper in inspect.getmembers(module, inspect.isfunction) if module else ():
            own = helper.__module__ == f"xgboost.testing.{name}"
            if own and function.startswith(("run_", "check_")) and function not in LEFT_OUT:
                for arguments in calls_of(helper):
                    shown = "-".join(getattr(value, "__name__", str(value)) for value in arguments.values())
                    marks = [pytest.mark.slow] if function in SLOW else []
                    yield pytest.param(helper, arguments, id=f"{name}.{function}[{shown}]", marks=marks)


@pytest.fixture
def in_place(monkeypatch: pytest.MonkeyPatch) -> dict[str, int]:
    """Put our functions in the place of XGBoost's, everywhere but below ourselves; count how often they are called."""
    counted = {"train": 0, "cv": 0}

    def counting(name: str, ours: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(ours)
        def call(*args: Any, **kwargs: Any) -> Any:
            counted[name] += 1
            return ours(*args, **kwargs)

        return call

    # Ours call XGBoost's: they keep the module as it was.
    untouched = types.ModuleType("xgboost")
    untouched.__dict__.update(vars(xgboost))
    for name, module in list(sys.modules.items()):
        if name.split(".")[0] == "pi_xgb" and getattr(module, "xgboost", None) is xgboost:
            monkeypatch.setattr(module, "xgboost", untouched)

    for function, ours in (("train", pi_xgb.train), ("cv", pi_xgb.cv)):
        theirs = getattr(untouched, function)
        replacement = counting(function, ours)
        for name, module in list(sys.modules.items()):
            if name.split(".")[0] == "xgboost" and getattr(module, function, None) is theirs:
                monkeypatch.setattr(module, function, replacement)
        assert getattr(xgboost, function) is replacement
        assert vars(xgboost.training)[function] is replacement
    return counted


# Helpers that train an objective which a teacher can guide by a gradient.
TAUGHT = ("run_count_poisson", "run_exp_family", "run_reg_gamma", "run_reg_squarederror", "run_reg_tweedie")
# What a leaf's sums are compared with, under the names by which these helpers may set it.
COMPARED = {"reg_lambda": 1.0, "reg_alpha": 0.0, "gamma": 0.0, "min_child_weight": 1.0}


def taught_by_the_labels(counted: dict[str, int]) -> Callable[..., Any]:
    """XGBoost's own models, but with a gradient of ours: a teacher that repeats the labels doubles it."""

    @functools.wraps(xgboost.train)
    def train(params: Any, dtrain: Any, *args: Any, **kwargs: Any) -> xgboost.Booster:
        loss, label = LOSSES[params["objective"]], labels_of(dtrain)
        if not loss.has_gradient or (label.ndim == 2 and not loss.takes_targets):
            return pi_xgb.train(params, dtrain, *args, **kwargs)
        counted["taught"] = counted.get("taught", 0) + 1
        own = params | {name: 2 * float(params.get(name, default)) for name, default in COMPARED.items()}
        return pi_xgb.train(own, dtrain, *args, teacher=label, kl_weight=1.0, **kwargs)

    return train


# Helpers that train an objective which a teacher can guide by copies.
COPIED = (
    "check_quantile_loss",
    "check_quantile_loss_rf",
    "run_adaptive",
    "run_normalization",
    "run_pr_auc_ltr",
    "run_score_normalization",
)


def copied() -> list[Any]:
    """Their calls. Rows without weights have another median before XGBoost 3.4 than rows that weigh 1, as copies do."""
    subset = [param for param in ALL_FOUND if param.values[0].__name__ in COPIED]
    interpolates = tuple(int(part) for part in xgboost.__version__.split(".")[:2]) < (3, 4)
    return [param for param in subset if not (interpolates and param.values[1].get("weighted") is False)]


def taught_by_copies_of_the_labels(counted: dict[str, int]) -> Callable[..., Any]:
    """XGBoost's own models of rows that are there twice, which is those of doubled weights."""

    @functools.wraps(xgboost.train)
    def train(params: Any, dtrain: Any, *args: Any, **kwargs: Any) -> xgboost.Booster:
        loss = LOSSES.get(params["objective"])
        if loss is None or loss.has_gradient or loss.with_params(params).obstacle:
            return pi_xgb.train(params, dtrain, *args, **kwargs)
        counted["taught"] = counted.get("taught", 0) + 1
        own = params | {name: 2 * float(params.get(name) or default) for name, default in COMPARED.items()}
        return pi_xgb.train(own, dtrain, *args, teacher=labels_of(dtrain), kl_weight=1.0, **kwargs)

    return train


def run_helper(helper: Callable[..., Any], arguments: dict[str, Any]) -> None:
    with warnings.catch_warnings():
        for message, category in HELPERS_WARN:
            warnings.filterwarnings("ignore", message=message, category=category)
        helper(**arguments)


def classification(n_rows: int = 200) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    x = rng.normal(size=(n_rows, 4))
    return x, (x[:, 0] + x[:, 1] > 0).astype(float)


ALL_FOUND = list(found())


@pytest.mark.parametrize(("helper", "arguments"), ALL_FOUND)
def test_xgboosts_own_test_passes_with_pi_xgb_in_its_place(
    helper: Callable[..., Any],
    arguments: dict[str, Any],
    in_place: dict[str, int],
    tmp_path: Any,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)  # some of them write a cache
    ordinal = module_named("ordinal")
    if ordinal is not None:  # a table of 4096 columns by default
        monkeypatch.setattr(ordinal, "make_recoded", functools.partial(ordinal.make_recoded, n_features=48))
    np.random.seed(1994)  # noqa: NPY002
    if "dtrain" in inspect.signature(helper).parameters:
        x, y = classification()
        arguments = {
            **arguments,
            "dtrain": xgboost.DMatrix(x[:150], y[:150]),
            "dtest": xgboost.DMatrix(x[150:], y[150:]),
        }
    run_helper(helper, arguments)
    assert sum(in_place.values()) > 0


@pytest.mark.parametrize(
    ("ours", "helper", "arguments"),
    [
        pytest.param(ours, *param.values, id=f"{ours.__name__}-{param.id}")
        for ours, own in (
            (taught_by_the_labels, [param for param in ALL_FOUND if param.values[0].__name__ in TAUGHT]),
            (taught_by_copies_of_the_labels, copied()),
        )
        for param in own
    ],
)
def test_xgboosts_own_test_passes_where_a_teacher_repeats_the_labels(
    ours: Any, helper: Any, arguments: dict[str, Any], in_place: dict[str, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    plain = xgboost.train  # by now ours
    for name, module in list(sys.modules.items()):
        if name.split(".")[0] == "xgboost" and getattr(module, "train", None) is plain:
            monkeypatch.setattr(module, "train", ours(in_place))
    np.random.seed(1994)  # noqa: NPY002
    run_helper(helper, arguments)
    # What it expects of XGBoost's intercept, metrics, shapes and rounds, it finds in a model of our gradient.
    assert in_place["taught"] > 0


def test_the_helpers_of_continuation_callbacks_and_basic_models_are_among_them() -> None:
    names = {param.id.split("[")[0] for param in ALL_FOUND}
    # Whatever the version: these have been there since XGBoost 3.1, and must not get lost by a change of name.
    assert names >= {
        "basic_models.run_custom_objective",
        "callbacks.run_eta_decay",
        "callbacks.run_eta_decay_leaf_output",
        "continuation.run_training_continuation_model_output",
        "interaction_constraints.run_interaction_constraints",
        "metrics.run_roc_auc_binary",
        "ordinal.run_training_continuation",
        "ordinal.run_validation",
        "parse_tree.run_tree_to_df_categorical",
        "predict.run_base_margin_vs_base_score",
        "predict.run_predict_leaf",
        "updater.check_categorical_missing",
        "updater.check_quantile_loss",
        "with_skl.run_intercept",
    }
    assert len(ALL_FOUND) >= 60


def test_every_module_of_xgboost_testing_is_known() -> None:
    elsewhere = {
        "collective": "workers of a distributed training",
        "dask": "needs a cluster",
        "data": "makes data",
        "data_iter": "trains nothing",
        "quantile_dmatrix": "trains nothing",
        "federated": "needs a server",
        "params": "strategies",
        "plotting": "draws",
        "shared": "checks of other helpers",
        "utils": "types",
    }
    modules = {module.name for module in pkgutil.iter_modules(testing.__path__)}
    # A module that this XGBoost has is run, or there is a reason why not.
    assert {*MODULES, *elsewhere} >= {name for name in modules if not name.startswith("_")}
