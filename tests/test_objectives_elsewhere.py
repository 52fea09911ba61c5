"""Counts, costs and several targets through the adapters: estimators, selection, the command line."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import xgboost as xgb
from helpers_cli import refused, works

import pi_xgb
from pi_xgb._core.losses import LOSSES
from pi_xgb._selection.scores import score_of

OF_ONE_VALUE = sorted(name for name, loss in LOSSES.items() if "native" in loss.engines)


def data(n: int = 240, seed: int = 0) -> tuple[pd.DataFrame, pd.DataFrame, pd.Series, np.ndarray]:
    """x, z, claims of each row, and the logarithm of how long it was insured."""
    rng = np.random.default_rng(seed)
    x = pd.DataFrame(rng.normal(size=(n, 3))).add_prefix("x")
    z = pd.DataFrame(x[["x0"]].to_numpy() + rng.normal(scale=0.5, size=(n, 1)), columns=["z0"])
    exposure = np.log(rng.choice([0.5, 1.0, 2.0], n)).astype(np.float32)
    return x, z, pd.Series(rng.poisson(np.exp(z["z0"] + exposure)).astype(float)), exposure


def labels_for(objective: str, claims: pd.Series) -> pd.Series:
    if LOSSES[objective].probabilities:
        return (claims > 0).astype(float)
    return claims + (objective == "reg:gamma")


@pytest.mark.parametrize("objective", OF_ONE_VALUE)
def test_every_objective_has_a_metric_by_which_models_are_compared(objective):
    x, _, claims, _ = data(60)
    dtrain = xgb.DMatrix(x, labels_for(objective, claims))
    loss = LOSSES[objective].with_params({"tweedie_variance_power": 1.3})
    score = score_of(None, None, None, {"objective": objective}, loss, dtrain)
    log: dict = {}
    params = score.applied_to({"objective": objective, "tweedie_variance_power": 1.3})
    params = {key: value for key, value in params.items() if key[:3] != "twe" or objective == "reg:tweedie"}
    xgb.train(params, dtrain, 2, evals=[(dtrain, "rows")], evals_result=log, verbose_eval=False)
    (found,) = log["rows"]
    # XGBoost knows it by that name; and but for margins, whose log loss means nothing, takes it by itself.
    assert found == score.name
    del params["eval_metric"]
    xgb.train(params, dtrain, 2, evals=[(dtrain, "rows")], evals_result=log, verbose_eval=False)
    assert list(log["rows"]) == [score.name] or objective == "binary:logitraw"


@pytest.mark.parametrize("objective", OF_ONE_VALUE)
def test_the_regressor_trains_what_train_trains(objective):
    x, z, claims, exposure = data()
    y = labels_for(objective, claims)
    from pi_xgb.sklearn import PrivilegedXGBRegressor

    settings = {"n_estimators": 4, "max_depth": 2, "n_jobs": 1, "objective": objective}
    model = PrivilegedXGBRegressor(**settings, kl_weight=2.0, crossfit=3).fit(x, y, privileged=z, base_margin=exposure)
    knows = exposure if LOSSES[objective].has_exposure else None
    params = {"objective": objective, "max_depth": 2, "nthread": 1}
    expected = pi_xgb.train(
        params,
        xgb.QuantileDMatrix(x, y, base_margin=exposure),
        4,
        privileged=xgb.DMatrix(z, y, base_margin=knows),
        kl_weight=2.0,
        crossfit=3,
    )
    # The teacher knows of an exposure what the student knows; any other base_margin is the student's own.
    assert model.get_booster().get_dump(with_stats=True) == expected.get_dump(with_stats=True)
    subset = y.where(np.arange(len(y)) % 3 > 0)
    taught = PrivilegedXGBRegressor(**settings, kl_weight=2.0, crossfit=3).fit(x, subset, privileged=z)
    assert np.isfinite(taught.predict(x)).all()


@pytest.mark.parametrize(
    ("objective", "message"),
    [
        ("survival:aft", r"bounds.*pi_xgb\.train.*label_lower_bound.*label_upper_bound"),
        ("rank:ndcg", "requires queries, .*: use PrivilegedXGBRanker"),
    ],
)
def test_the_regressor_says_who_takes_what_has_no_y(objective, message):
    from pi_xgb.sklearn import PrivilegedXGBRegressor

    x, z, claims, _ = data()
    with pytest.raises(ValueError, match=message):
        PrivilegedXGBRegressor(objective=objective, n_estimators=2).fit(x, claims, privileged=z)


@pytest.mark.parametrize("strategy", ["one_output_per_tree", "multi_output_tree"])
def test_the_regressor_takes_several_targets(strategy):
    from pi_xgb.sklearn import PrivilegedXGBRegressor

    x, z, claims, _ = data()
    y = np.column_stack([claims, x["x1"] - z["z0"]])
    settings = {"n_estimators": 4, "max_depth": 2, "n_jobs": 1, "multi_strategy": strategy}
    for sees in ("privileged", "all"):
        model = PrivilegedXGBRegressor(**settings, kl_weight=2.0, crossfit=3, teacher_sees=sees).fit(x, y, privileged=z)
        assert model.predict(x).shape == y.shape
        plain = xgb.XGBRegressor(**settings).fit(x, y)
        assert np.abs(model.predict(x) - plain.predict(x)).max() > 1e-3
    with pytest.raises(ValueError, match=r"labels.*46.*240 rows"):
        PrivilegedXGBRegressor(**settings).fit(x, np.where(y > 3, np.nan, y), privileged=z)


def test_an_estimator_teaches_counts():
    from sklearn.linear_model import PoissonRegressor

    from pi_xgb.sklearn import PrivilegedXGBRegressor

    x, z, claims, _ = data()
    model = PrivilegedXGBRegressor(
        n_estimators=4, n_jobs=1, objective="count:poisson", teacher=PoissonRegressor(), crossfit=3, kl_weight=3.0
    )
    assert (model.fit(x, claims, privileged=z).predict(x) > 0).all()


def test_counts_are_selected_and_compared_by_their_own_loss():
    x, z, claims, exposure = data()
    params = {"objective": "count:poisson", "max_depth": 2, "nthread": 1}
    dtrain, privileged = (xgb.DMatrix(table, claims, base_margin=exposure) for table in (x, z))
    few = {"kl_weight": 5.0, "method": "kbpib", "teacher": "boosted", "crossfit": 2, "nfold": 2}
    selection = pi_xgb.select(params, dtrain, 4, privileged=privileged, **few, teacher_params={"max_depth": 2})
    assert "poisson-nloglik" in str(selection)
    comparison = pi_xgb.compare(
        x, claims, z, params=params, num_boost_round=4, **few, repeats=1, inner_nfold=2, progress=False
    )
    assert comparison.metric == "poisson-nloglik"


def test_the_command_line_trains_and_judges_counts(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    x, z, claims, _ = data()
    x.join(z).assign(claims=claims).to_csv("claims.csv", index=False)
    found = ["--privileged", "z0", "--label", "claims", "--rounds", "5", "--params", "nthread=1"]
    for objective, metric in (("count:poisson", "poisson-nloglik"), ("reg:tweedie", "tweedie-nloglik@1.2")):
        more = ["tweedie_variance_power=1.2"] if objective == "reg:tweedie" else []
        works("train", "claims.csv", *found, *more, "--objective", objective, "--out", f"{objective[4:7]}.ubj")
        capsys.readouterr()
        works("evaluate", "claims.csv", "--model", f"{objective[4:7]}.ubj", "--label", "claims", "--format", "csv")
        table = pd.read_csv(pd.io.common.StringIO(capsys.readouterr().out), index_col=0)
        assert table.index.tolist() == [metric, "rmse", "mae"]
        booster = xgb.Booster(model_file=f"{objective[4:7]}.ubj")
        expected = booster.predict(xgb.DMatrix(x)) - claims
        assert table.loc["mae"].item() == pytest.approx(np.abs(expected).mean(), abs=1e-4)
        assert booster.attr("pi_xgb_method") == "kbpib"


@pytest.mark.parametrize("command", ["train", "tune", "compare"])
def test_the_command_line_has_one_label(tmp_path, monkeypatch, capsys, command):
    monkeypatch.chdir(tmp_path)
    x, z, claims, _ = data()
    x.join(z).assign(claims=claims).to_csv("claims.csv", index=False)
    out = ["--out", "model.ubj"] if command == "train" else []
    found = ["--label", "claims,x1", "--privileged", "z0", *out]
    refused(capsys, "'claims,x1'.*--label", command, "claims.csv", *found)
    assert not (tmp_path / "model.ubj").exists()


def test_the_command_line_trains_medians(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    x, z, claims, _ = data()
    x.join(z).assign(claims=claims).to_csv("claims.csv", index=False)
    found = ["--label", "claims", "--privileged", "z0", "--rounds", "3", "--params", "nthread=1"]
    works("train", "claims.csv", *found, "--objective", "reg:absoluteerror", "--out", "median.ubj")
    assert xgb.Booster(model_file="median.ubj").attr("pi_xgb_engine") == "copies"


def test_the_ranker_says_how_a_teacher_can_guide_it():
    from pi_xgb.sklearn import PrivilegedXGBRanker

    x, z, claims, _ = data()
    query, claims = np.arange(len(x)) // 8, claims.clip(upper=4)
    with pytest.raises(ValueError, match=r"PrivilegedXGBRanker.*ndcg_exp_gain=False.*rank:pairwise"):
        PrivilegedXGBRanker(n_estimators=2).fit(x, claims, qid=query, privileged=z)
    # Where nobody teaches, the defaults are XGBoost's own.
    PrivilegedXGBRanker(n_estimators=2, kl_weight=0.0).fit(x, claims, qid=query, privileged=z)


@pytest.mark.parametrize(
    ("objective", "message"),
    [
        ("survival:aft", r"survival:aft.*bounds.*pi_xgb.train"),
        ("rank:ndcg", "rank:ndcg requires queries.*use PrivilegedXGBRanker"),
    ],
)
@pytest.mark.parametrize("chooses", [False, True])
def test_an_estimator_says_where_its_y_has_no_room(objective, message, chooses):
    from pi_xgb import sklearn

    x, z, claims, _ = data()
    kind = sklearn.PrivilegedXGBRegressorCV if chooses else sklearn.PrivilegedXGBRegressor
    with pytest.raises(ValueError, match=message):
        kind(n_estimators=2, n_jobs=1, objective=objective).fit(x, claims, privileged=z)


def test_the_regressor_of_a_cluster_trains_counts_with_their_exposure():
    dask_array = pytest.importorskip("dask.array")
    distributed = pytest.importorskip("distributed")
    from pi_xgb.dask import DaskPrivilegedXGBRegressor

    x, z, claims, exposure = data()
    settings = {"n_estimators": 3, "max_depth": 2, "objective": "count:poisson", "kl_weight": 2.0}
    spread = [
        dask_array.from_array(np.asarray(v, np.float32), chunks=(120, *v.shape[1:])) for v in (x, z, claims, exposure)
    ]
    cluster = {"n_workers": 1, "threads_per_worker": 1, "processes": False, "dashboard_address": ":0"}
    with distributed.Client(**cluster) as client:
        model = DaskPrivilegedXGBRegressor(**settings)
        model.client = client
        model.fit(spread[0], spread[2], privileged=spread[1], base_margin=spread[3])
    params = {"objective": "count:poisson", "max_depth": 2, "nthread": 1}
    dtrain, privileged = (xgb.DMatrix(v.to_numpy(np.float32), claims, base_margin=exposure) for v in (x, z))
    expected = pi_xgb.train(params, dtrain, 3, privileged=privileged, kl_weight=2.0)
    np.testing.assert_allclose(
        model.get_booster().predict(xgb.DMatrix(x.to_numpy())), expected.predict(xgb.DMatrix(x.to_numpy())), rtol=1e-4
    )
