"""What XGBoost 3.5 changes, by stand-ins: the same models and no error."""

from __future__ import annotations

import inspect
import types
import warnings
from typing import Any

import numpy as np
import pytest
import xgboost as xgb
from helpers_problems import Problem, assert_same_model, mean_of, one_hot

import pi_xgb
from pi_xgb import sklearn as pis

GONE = "feature_weights"
KINDS = ("Classifier", "Regressor", "Ranker")


def without_feature_weights(function: Any) -> Any:
    """XGBoost's function without this keyword."""
    own = inspect.unwrap(function)
    names = {name: "no_keyword" if name == GONE else name for name in own.__code__.co_varnames}
    code = own.__code__.replace(co_varnames=tuple(names.values()))
    copied = types.FunctionType(code, own.__globals__, own.__name__, own.__defaults__, own.__closure__)
    copied.__kwdefaults__ = {"no_keyword": None} | {
        name: value for name, value in (own.__kwdefaults__ or {}).items() if name != GONE
    }
    return copied


def fitted(kind: str, **more: Any) -> xgb.XGBModel:
    rows = Problem("rank:pairwise" if kind == "Ranker" else "binary:logistic")
    model = getattr(pis, f"PrivilegedXGB{kind}")(n_estimators=3, n_jobs=1, teacher="boosted", crossfit=0)
    more |= {"qid": rows.qid} if kind == "Ranker" else {}
    if kind == "Ranker":
        model.set_params(objective="rank:pairwise")
    return model.fit(rows.x, rows.y, privileged=rows.z, **more)


@pytest.mark.parametrize("kind", KINDS)
def test_fit_without_feature_weights_trains_the_same_model(kind, monkeypatch):
    expected = fitted(kind).get_booster()
    base = getattr(xgb, f"XGB{kind}")
    monkeypatch.setattr(base, "fit", without_feature_weights(base.fit))
    assert_same_model(fitted(kind).get_booster(), expected)
    # Weights that this version does not take are never dropped in silence.
    with pytest.raises(TypeError, match=GONE):
        fitted(kind, feature_weights=[1, 0, 0, 0])


@pytest.mark.slow
def test_dask_without_feature_weights_trains_the_same_model(client, monkeypatch):
    from helpers_dask import spread
    from helpers_distributed import rows
    from xgboost import dask as xgbd

    from pi_xgb import dask as pid

    x, z, y, *_ = (spread(array) for array in rows())

    def fitted(**more: Any) -> Any:
        model = pid.DaskPrivilegedXGBRegressor(n_estimators=3, teacher="boosted", objective="binary:logistic")
        model.client = client
        return model.fit(x, y, privileged=z, **more).get_booster()

    expected = fitted()
    monkeypatch.setattr(xgbd.DaskXGBRegressor, "_fit_async", without_feature_weights(xgbd.DaskXGBRegressor._fit_async))
    assert_same_model(fitted(), expected)
    with pytest.raises(TypeError, match=GONE):
        fitted(feature_weights=[1, 0, 0, 0, 0])


@pytest.mark.parametrize("objective", ["multi:softprob", "multi:softmax"])
def test_taught_classes_keep_their_hessian_and_weight_0_is_xgboosts_model(objective, monkeypatch):
    rows, original, calls = Problem(objective), xgb.train, []
    params = rows.params()

    def train_of_next(params: Any, dtrain: xgb.DMatrix, *args: Any, obj: Any = None, **keywords: Any) -> xgb.Booster:
        def own(margin: np.ndarray, dtrain: xgb.DMatrix) -> tuple[np.ndarray, np.ndarray]:
            slope = mean_of(objective, margin) - one_hot(objective, dtrain.get_label())
            return slope, np.maximum(np.abs(slope), 1e-16)

        calls.append(obj)
        return original(params, dtrain, *args, obj=obj or own, **keywords)

    taught = pi_xgb.train(params, rows.dtrain(), 4, teacher=rows.q)
    monkeypatch.setattr(xgb, "train", train_of_next)
    assert_same_model(pi_xgb.train(params, rows.dtrain(), 4, teacher=rows.q), taught)
    plain = pi_xgb.train(params, rows.dtrain(), 4, teacher=rows.q, kl_weight=0)
    assert_same_model(plain, xgb.train(params, rows.dtrain(), 4))
    assert calls[-2:] == [None, None]


def test_a_warning_that_logitraw_is_deprecated_is_passed_on(monkeypatch):
    rows, init = Problem("binary:logitraw"), xgb.Booster.__init__

    def deprecated(booster: xgb.Booster, params: Any = None, *args: Any, **keywords: Any) -> None:
        if "binary:logitraw" in str(params):
            warnings.warn("`binary:logitraw` is deprecated", UserWarning, stacklevel=2)
        init(booster, params, *args, **keywords)

    def trained() -> xgb.Booster:
        return pi_xgb.train(rows.params(), rows.dtrain(), 4, privileged=rows.dprivileged())

    expected = trained()
    monkeypatch.setattr(xgb.Booster, "__init__", deprecated)
    with pytest.warns(UserWarning, match="deprecated"):
        assert_same_model(trained(), expected)
