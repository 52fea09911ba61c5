"""Every objective on the command line: rankings, times, and the metric and the answers of each."""

from __future__ import annotations

import io
import itertools
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import xgboost as xgb
from helpers_cli import one_thread, refused, works

import pi_xgb
import pi_xgb.selection
from pi_xgb.__main__ import main
from pi_xgb._core.losses import LOSSES

__all__ = ["one_thread"]

N_ROWS, N_QUERIES = 240, 40
FEATURES = ["x0", "x1", "x2"]
FEW = ["--rounds", "4", "--params", "nthread=1", "max_depth=2"]
TAUGHT = ["--privileged", "z0", "--crossfit", "2", "--kl-weight", "2"]
RANKED = ["--label", "relevance", "--query", "search", "--objective", "rank:ndcg"]
TIMED = ["--lower-bound", "since", "--upper-bound", "until", "--objective", "survival:aft"]
NLOGLIK = "aft-nloglik"
PARAMS: dict[str, Any] = {"max_depth": 2, "nthread": 1, "seed": 0}
RANKED_PARAMS = {**PARAMS, "objective": "rank:ndcg", "ndcg_exp_gain": False}
TIMED_PARAMS = {**PARAMS, "objective": "survival:aft", "aft_loss_distribution_scale": 0.7}


@pytest.fixture(scope="module")
def table() -> pd.DataFrame:
    """Rows in any order, of searches that are called 7 and 007 and others; six of each, and a weight for each."""
    rng = np.random.default_rng(0)
    u, query = rng.normal(size=N_ROWS), rng.permutation(np.arange(N_ROWS) % N_QUERIES)
    amount = np.exp(u).round(4)
    return pd.DataFrame(u[:, None] + 2 * rng.normal(size=(N_ROWS, 3)), columns=FEATURES).assign(
        z0=u + 0.2 * rng.normal(size=N_ROWS),
        amount=amount,
        relevance=np.digitize(amount, [0.5, 1.5, 4.0]),
        search=np.array(["7", "007", *map(str, range(100, 138))])[query],
        until=np.where(query % 3 == 0, np.nan, amount),
        weight=1.0 + query % 2,
        judged=query % 4 > 0,
    )


def written(frame: pd.DataFrame, *columns: str, name: str = "rows.csv") -> str:
    frame[[*FEATURES, "z0", *columns]].to_csv(name, index=False)
    return name


def side_by_side(rows: pd.DataFrame) -> pd.DataFrame:
    """Queries in the order in which the file has them."""
    return rows.iloc[np.argsort(pd.factorize(rows["search"])[0], kind="stable")]


@pytest.fixture
def ranked(table: pd.DataFrame, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> pd.DataFrame:
    """The file of rankings, and its rows as XGBoost wants them."""
    monkeypatch.chdir(tmp_path)
    written(table, "relevance", "search", "weight")
    return side_by_side(table)


@pytest.fixture
def timed(table: pd.DataFrame, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> pd.DataFrame:
    monkeypatch.chdir(tmp_path)
    rows = table.assign(since=table["amount"])
    written(rows, "since", "until", "weight")
    return rows


def query_matrix(rows: pd.DataFrame, columns: list[str] | None = None, *, weighted: bool = True) -> xgb.DMatrix:
    query, first = pd.factorize(rows["search"])[0], ~rows["search"].duplicated()
    weight = rows["weight"][first] if weighted else None
    return xgb.DMatrix(rows[columns or FEATURES], rows["relevance"], qid=query, weight=weight)


def time_matrix(rows: pd.DataFrame, columns: list[str] | None = None) -> xgb.DMatrix:
    bounds = {"label_lower_bound": rows["since"], "label_upper_bound": rows["until"].fillna(np.inf)}
    return xgb.DMatrix(rows[columns or FEATURES], **bounds, weight=rows["weight"])


def is_model(name: str, expected: xgb.Booster) -> bool:
    """To the last byte."""
    return Path(name).read_bytes() == bytes(expected.save_raw("ubj"))


def table_of(capsys: Any, *command: Any) -> pd.DataFrame:
    capsys.readouterr()
    works(*command, "--format", "csv")
    return pd.read_csv(io.StringIO(capsys.readouterr().out), index_col=0)


# --- training -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("sees", ["privileged", "all"])
def test_rankings_are_trained_in_whole_queries_whatever_the_order_of_rows(ranked: pd.DataFrame, sees: str) -> None:
    gain = ["--params", "ndcg_exp_gain=false"]
    works("train", "rows.csv", *RANKED, *FEW, *gain, *TAUGHT, "--weight", "weight",
          "--teacher-sees", sees, "--out", "m.ubj")  # fmt: skip
    expected = pi_xgb.train(
        RANKED_PARAMS,
        query_matrix(ranked),
        4,
        privileged=query_matrix(ranked, ["z0"]),
        teacher_sees=sees,
        crossfit=2,
        kl_weight=2.0,
    )
    assert is_model("m.ubj", expected)
    assert expected.attr("pi_xgb_engine") == "copies"


@pytest.mark.parametrize("objective", ["rank:ndcg", "rank:pairwise", "rank:map"])
def test_rankings_without_a_teacher_are_xgboosts(ranked: pd.DataFrame, table: pd.DataFrame, objective: str) -> None:
    ranked = ranked.assign(relevance=(ranked["relevance"] > 1).astype(int))
    written(table.assign(relevance=(table["relevance"] > 1).astype(int)), "relevance", "search")
    works("train", "rows.csv", *RANKED[:-1], objective, *FEW, "--drop", "z0", "--out", "m.ubj")
    expected = xgb.train({**PARAMS, "objective": objective}, query_matrix(ranked, weighted=False), 4)
    assert is_model("m.ubj", expected)


@pytest.mark.parametrize("unknown", [False, True])
def test_times_are_trained_on_their_bounds(timed: pd.DataFrame, unknown: bool) -> None:
    keywords: dict[str, Any] = {}
    if unknown:
        keywords = {"labelled": timed["judged"]}
        both = timed[["since", "until"]].where(timed["judged"])
        written(timed.assign(since=both["since"], until=both["until"]), "since", "until", "weight")
    scale = ["aft_loss_distribution_scale=0.7", *TAUGHT, "--weight", "weight", "--out", "m.ubj"]
    works("train", "rows.csv", *TIMED, *FEW, *scale, *(["--unlabelled", "teach"] if unknown else []))
    guided: dict[str, Any] = {"crossfit": 2, "kl_weight": 2.0}
    expected = pi_xgb.train(
        TIMED_PARAMS, time_matrix(timed), 4, privileged=time_matrix(timed, ["z0"]), **guided, **keywords
    )
    assert is_model("m.ubj", expected)
    if unknown:
        works("train", "rows.csv", *TIMED, *FEW, *scale, "--unlabelled", "drop", "--force")
        left = timed[timed["judged"]]
        expected = pi_xgb.train(TIMED_PARAMS, time_matrix(left), 4, privileged=time_matrix(left, ["z0"]), **guided)
        assert is_model("m.ubj", expected)


def test_one_column_is_both_bounds_where_every_end_was_seen(timed: pd.DataFrame) -> None:
    both = ["--lower-bound", "since", "--upper-bound", "since", "--objective", "survival:aft"]
    works("train", "rows.csv", *both, *FEW, "--drop", "z0,until", "--weight", "weight", "--out", "m.ubj")
    rows = time_matrix(timed.assign(until=timed["since"]))
    expected = xgb.train({**PARAMS, "objective": "survival:aft"}, rows, 4)
    assert is_model("m.ubj", expected)


# --- rows to watch ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["ranked", "timed"])
def test_stopping_early_watches_the_metric_of_the_objective(kind: str, request: Any, capsys: Any) -> None:
    rows = request.getfixturevalue(kind)
    named, matrix = (RANKED, query_matrix) if kind == "ranked" else (TIMED, time_matrix)
    params = {**RANKED_PARAMS, "eval_metric": "ndcg"} if kind == "ranked" else {**TIMED_PARAMS, "eval_metric": NLOGLIK}
    given = [
        f"{key}={str(value).lower()}"
        for key, value in params.items()
        if key not in ("objective", "seed", "eval_metric")
    ]
    columns = ["relevance", "search", "weight"] if kind == "ranked" else ["since", "until", "weight"]
    # Whole queries on each side.
    is_late = rows["search"].isin(pd.unique(rows["search"])[:12])
    first, late = rows[~is_late], rows[is_late]
    written(first, *columns, name="first.csv")
    written(late, *columns, name="late.csv")
    command = ["train", "first.csv", *named, "--weight", "weight", "--rounds", "30", "--params", *given, *TAUGHT]
    command += ["--teacher", "boosted"]  # which the rows stop as well
    works(*command, "--valid", "late.csv", "--early-stopping", "2", "--out", "m.ubj")
    output = capsys.readouterr().err
    log: dict[str, Any] = {}
    expected = pi_xgb.train(
        params,
        matrix(first),
        30,
        privileged=matrix(first, ["z0"]),
        teacher="boosted",
        privileged_evals=[(matrix(late, ["z0"]), "valid")],
        crossfit=2,
        kl_weight=2.0,
        evals=[(matrix(late), "valid")],
        early_stopping_rounds=2,
        evals_result=log,
        verbose_eval=False,
    )
    (name, values), best = *log["valid"].items(), expected.best_iteration
    assert f"the best is {best + 1}" in output
    assert f"on --valid: {name} {values[best]:.5g}" in output
    assert xgb.Booster(model_file="m.ubj").get_dump() == expected.get_dump()
    if kind == "timed":
        return
    written(late.assign(search=first["search"].iloc[0]), *columns, name="late.csv")
    shared = f"late.csv.*queries.*got 1, such as '{first['search'].iloc[0]}'"
    refused(capsys, shared, *command, "--valid", "late.csv", "--out", "new.ubj")


# --- judging ------------------------------------------------------------------------------------------------


def test_rankings_are_judged_by_ndcg_with_the_gain_of_the_model(ranked: pd.DataFrame, capsys: Any) -> None:
    evaluate = ["evaluate", "rows.csv", "--label", "relevance", "--query", "search", "--weight", "weight"]
    plain = ["train", "rows.csv", *RANKED, *FEW, "--drop", "z0", "--weight", "weight"]
    found = []
    for gain in (False, True):
        name = f"{gain}.ubj"
        works(*plain, "--params", f"ndcg_exp_gain={str(gain).lower()}", "--out", name)
        shown = table_of(capsys, *evaluate, "--model", name)["value"]
        metrics = {"ndcg_exp_gain": gain, "eval_metric": ["ndcg", "ndcg@5", "ndcg@10"]}
        booster = xgb.train({**RANKED_PARAMS, **metrics}, query_matrix(ranked), 4)
        expected = [float(part.split(":")[1]) for part in booster.eval(query_matrix(ranked)).split("\t")[1:]]
        assert shown.index.tolist() == metrics["eval_metric"]
        np.testing.assert_allclose(shown, expected, atol=1e-5)
        found.append(shown["ndcg@5"])
        # Answers need no query, and come in the order of the file.
        works("predict", "rows.csv", "--model", name, "--keep", "search", "--out", f"{gain}.csv")
        answers, rows = (
            pd.read_csv(f"{gain}.csv", dtype={"search": str}),
            pd.read_csv("rows.csv", dtype={"search": str}),
        )
        assert answers["search"].tolist() == rows["search"].tolist()
        np.testing.assert_allclose(answers["prediction"], booster.predict(xgb.DMatrix(rows[FEATURES])), rtol=1e-5)
    assert abs(found[0] - found[1]) > 0.001


OF_PARAMS: dict[str, tuple[list[str], dict[str, Any], list[str]]] = {
    "reg:quantileerror": (["quantile_alpha=0.8"], {"quantile_alpha": 0.8}, ["quantile", "rmse", "mae"]),
    "several quantiles": (["quantile_alpha=[0.2,0.8]"], {"quantile_alpha": [0.2, 0.8]}, ["quantile"]),
    "reg:pseudohubererror": (["huber_slope=0.3"], {"huber_slope": 0.3}, ["mphe", "rmse", "mae"]),
    "reg:tweedie": (
        ["tweedie_variance_power=1.2"],
        {"tweedie_variance_power": 1.2},
        ["tweedie-nloglik@1.2", "rmse", "mae"],
    ),
    "survival:aft": (
        ["aft_loss_distribution=logistic", "aft_loss_distribution_scale=0.4"],
        {"aft_loss_distribution": "logistic", "aft_loss_distribution_scale": 0.4},
        ["aft-nloglik"],
    ),
}


@pytest.mark.parametrize("case", OF_PARAMS)
def test_a_metric_has_the_params_of_the_model(timed: pd.DataFrame, capsys: Any, case: str) -> None:
    given, params, metrics = OF_PARAMS[case]
    objective = "reg:quantileerror" if case == "several quantiles" else case
    named, matrix = ["--label", "amount"], xgb.DMatrix(timed[FEATURES], timed["amount"])
    if objective == "survival:aft":
        named, matrix = TIMED[:4], time_matrix(timed)
        matrix.set_weight(np.ones(N_ROWS))
    written(timed, *named[1::2])
    works("train", "rows.csv", *named, "--objective", objective, *FEW, *given, "--drop", "z0", "--out", "m.ubj")
    shown = table_of(capsys, "evaluate", "rows.csv", *named, "--model", "m.ubj")["value"]
    assert shown.index.tolist() == metrics
    log: dict[str, Any] = {}
    xgb.train(
        {**PARAMS, **params, "objective": objective, "eval_metric": metrics},
        matrix,
        4,
        evals=[(matrix, "rows")],
        evals_result=log,
        verbose_eval=False,
    )
    for name in metrics:
        assert shown[name] == pytest.approx(log["rows"][name][-1], rel=1e-4)


@pytest.mark.parametrize("objective", ["binary:logistic", "binary:logitraw", "reg:logistic"])
def test_two_classes_are_answered_by_name(timed: pd.DataFrame, capsys: Any, objective: str) -> None:
    written(timed.assign(ill=np.where(timed["amount"] > 1, "ill", "well")), "ill")
    works("train", "rows.csv", "--label", "ill", "--objective", objective, *FEW, "--drop", "z0", "--out", "m.ubj")
    works("predict", "rows.csv", "--model", "m.ubj", "--out", "answers.csv")
    answers, is_raw = pd.read_csv("answers.csv"), objective == "binary:logitraw"
    assert list(answers) == ["prediction", "margin_well" if is_raw else "probability_well"]
    raw = xgb.Booster(model_file="m.ubj").predict(xgb.DMatrix(timed[FEATURES]), output_margin=True)
    scores = answers.iloc[:, 1]
    np.testing.assert_allclose(scores, raw if is_raw else 1 / (1 + np.exp(-raw)), atol=1e-5)
    assert ((answers["prediction"] == "well") == (raw > 0)).all()
    assert answers["prediction"].nunique() == 2


HAS_EXPECTILES = tuple(int(part) for part in xgb.__version__.split(".")[:2]) >= (3, 3)
FAST = ("binary:logistic", "multi:softprob", "reg:expectileerror", "survival:aft", "rank:ndcg", "count:poisson")
OF_XGBOOST = [pytest.param(name, marks=[] if name in FAST else pytest.mark.slow) for name in LOSSES
              if HAS_EXPECTILES or name != "reg:expectileerror"]  # fmt: skip


# --- every objective, every command -------------------------------------------------------------------------


@pytest.mark.parametrize("objective", OF_XGBOOST)
@pytest.mark.slow
def test_every_objective_is_trained_judged_and_chosen_by_its_own_metric(
    timed: pd.DataFrame, capsys: Any, objective: str
) -> None:
    loss = LOSSES[objective]
    amount = timed["amount"]
    label = {"count:poisson": np.floor(amount), "rank:ndcg": timed["relevance"], "rank:pairwise": timed["relevance"]}
    y = (amount > 1).astype(int) if loss.probabilities else label.get(objective, amount)
    y = timed["relevance"].map(dict(enumerate("abcd"))) if loss.multiclass else y
    alpha = {"reg:quantileerror": "quantile_alpha=0.6", "reg:expectileerror": "expectile_alpha=0.6"}
    named, more = ["--label", "y"], [alpha[objective]] if objective in alpha else []
    if loss.by_query:
        named, more = [*named, "--query", "search"], ["ndcg_exp_gain=false"] * (objective == "rank:ndcg")
    if len(loss.label_fields) > 1:
        named = TIMED[:4]
    written(timed.assign(y=y), *named[1::2])
    command = ["rows.csv", *named, "--objective", objective, *FEW, *more, *TAUGHT]
    works("train", *command, "--valid", "0.3", "--out", "m.ubj")
    metric = loss.default_metric
    assert f"on --valid: {metric} " in capsys.readouterr().err
    assert xgb.Booster(model_file="m.ubj").attr("pi_xgb_kl_weight") == "2.0"
    assert table_of(capsys, "evaluate", "rows.csv", *named, "--model", "m.ubj").index[0] == metric
    works("predict", "rows.csv", "--model", "m.ubj", "--out", "answers.csv")
    assert pd.read_csv("answers.csv").notna().all(axis=None)
    shown = table_of(capsys, "tune", *command, "--folds", "2", "--repeats", "1")
    # Plain XGBoost, the default teacher of this objective, and the same without privileged columns.
    kind = "mixed" if loss.has_gradient else "boosted"
    assert shown["teacher"].fillna("").tolist() == ["", kind, kind]
    assert shown["teacher_sees"].tolist()[2] == "student"
    assert np.isfinite(shown["score"]).all()


# --- what cannot be -----------------------------------------------------------------------------------------


def test_unlabelled_queries_are_taught(ranked: pd.DataFrame, table: pd.DataFrame) -> None:
    scored = table["judged"].copy()
    scored[np.flatnonzero(scored)[0]] = False  # one query is judged in part
    written(table.assign(relevance=table["relevance"].where(scored)), "relevance", "search", "weight")
    command = [*RANKED, *FEW, "ndcg_exp_gain=false", *TAUGHT, "--weight", "weight", "--out", "m.ubj"]
    works("train", "rows.csv", *command, "--unlabelled", "teach")
    keywords: dict[str, Any] = {"crossfit": 2, "kl_weight": 2.0, "labelled": scored[ranked.index]}
    z = query_matrix(ranked, ["z0"])
    assert is_model("m.ubj", pi_xgb.train(RANKED_PARAMS, query_matrix(ranked), 4, privileged=z, **keywords))


def test_validation_share_has_whole_queries(ranked: pd.DataFrame, monkeypatch: Any) -> None:
    found: dict[str, Any] = {}

    def noted(keywords: Any, params: Any, boosting: Any, engine: str) -> None:
        found.update(train=boosting.dtrain, valid=boosting.evals[0][0])
        raise ValueError("enough is known")

    monkeypatch.setattr("pi_xgb._cli.train.train_by", noted)
    assert (
        main(["train", "rows.csv", *RANKED, *FEW, *TAUGHT, "--drop", "weight", "--valid", "0.25", "--out", "m.ubj"])
        == 2
    )
    queries = ranked.set_index(ranked["x0"].astype(np.float32))["search"]
    kept, aside = (queries[found[name].get_data().toarray()[:, 0]].tolist() for name in ("train", "valid"))
    assert not set(kept) & set(aside)
    assert len(kept) + len(aside) == N_ROWS
    assert len(aside) == N_ROWS // 4
    for part in (kept, aside):  # the rows of a query stand side by side
        assert sum(a != b for a, b in itertools.pairwise(part)) == len(set(part)) - 1


@pytest.mark.parametrize("kind", ["ranked", "timed"])
def test_compare_gets_queries_and_bounds(kind: str, request: Any, monkeypatch: Any) -> None:
    rows, found = request.getfixturevalue(kind), {}

    def compare(x: Any, y: Any, z: Any, **keywords: Any) -> None:
        found.update(keywords, x=x, y=y, z=z)
        raise ValueError("enough is known")

    monkeypatch.setattr(pi_xgb.selection, "compare", compare)
    named, more = RANKED, ["--weight", "weight"]
    if kind == "timed":
        both = rows[["since", "until"]].where(rows["judged"])
        written(rows.assign(since=both["since"], until=both["until"]), "since", "until")
        named, more = TIMED, ["--unlabelled", "teach"]
    assert main(["compare", "rows.csv", *named, *FEW, *TAUGHT, *more]) == 2
    pd.testing.assert_frame_equal(found["x"], rows[FEATURES])
    pd.testing.assert_frame_equal(found["z"], rows[["z0"]])
    if kind == "ranked":
        np.testing.assert_array_equal(found["y"], rows["relevance"])
        np.testing.assert_array_equal(found["groups"], rows["search"])
        np.testing.assert_array_equal(found["sample_weight"], rows["weight"])
    else:
        until = both["until"].fillna(np.inf).where(rows["judged"])
        np.testing.assert_array_equal(found["y"], both.assign(until=until).to_numpy(np.float32))


# --- bad rankings and times ---------------------------------------------------------------------------------

BAD: dict[str, tuple[dict[str, Any], list[str], str]] = {
    "no query": ({}, [*RANKED[:2], *RANKED[4:]], "needs --label and --query, got --label"),
    "no ranking": ({}, RANKED[:4], "needs --label, got --label and --query"),
    "no label": ({}, RANKED[2:], "rank:ndcg needs --label and --query, got --query"),
    "missing query": ({"search": None}, RANKED, "--query names 'search', which in rows.csv.*1 missing"),
    "missing relevance": ({"relevance": None}, RANKED, "1 missing values.*--unlabelled teach"),
    "weights": ({"weight": 1.25}, [*RANKED, "--weight", "weight"], "--weight must be equal within a query"),
    "groups": ({"weight": 9}, [*RANKED, "--crossfit-groups", "weight"], "--crossfit-groups must be equal within"),
    "jpib": ({}, [*RANKED, "--method", "jpib"], "an adaptive teacher"),
    "a constraint": ({}, [*RANKED, "--constraint", "parity:weight=1"], "an adaptive teacher"),
    "a label": ({}, ["--label", "since", *TIMED[4:]], "needs --lower-bound and --upper-bound, got --label"),
    "one bound": ({}, [*TIMED[:2], *TIMED[4:]], "needs --lower-bound and --upper-bound, got --lower-bound"),
    "no survival": ({}, [*TIMED[:4], "--objective", "reg:gamma"], "reg:gamma needs --label, got --lower-bound"),
    "privileged bound": ({}, [*TIMED, "--privileged", "until"], "named by --upper-bound and by --privileged"),
    "crossed": ({"until": 1e-9}, TIMED, "not below it and above 0, line 6 has"),
    "below 0": ({"since": -1.0}, TIMED, "the bounds of rows.csv must be times, the lower one at least 0"),
    "both at 0": ({"since": 0.0, "until": 0.0}, TIMED, "line 6 has 0 and 0"),
    "no lower bound": ({"since": None, "until": 2.0}, TIMED, "line 6 of rows.csv has an upper bound only"),
    "no bound": ({"since": None, "until": None}, TIMED, "the lower bound 'since' of rows.csv has 1 missing"),
    "text": ({"until": "late"}, TIMED, "the bound 'until' of rows.csv must be numbers, got 'late' in line 6"),
}  # fmt: skip


@pytest.mark.parametrize("why", BAD)
def test_bad_rankings_and_times_are_refused_before_any_training(
    table: pd.DataFrame, tmp_path: Path, capsys: Any, monkeypatch: Any, why: str
) -> None:
    monkeypatch.chdir(tmp_path)
    spoilt, options, message = BAD[why]
    rows = table.assign(since=table["amount"])
    if why == "groups":
        rows["weight"] = pd.factorize(rows["search"])[0]
    for name, value in spoilt.items():
        rows[name] = rows[name].astype(object)
        rows.loc[4, name] = value
    is_time = any(word in options for word in ("since", "until"))
    written(rows, *(["since", "until"] if is_time else ["relevance", "search", "weight"]))
    monkeypatch.setattr(xgb, "train", lambda *_, **__: pytest.fail("it trained"))
    taught = ["--privileged", "z0", "--kl-weight", "1", *([] if why == "jpib" else ["--crossfit", "2"])]
    gain = [] if is_time else ["ndcg_exp_gain=false"]
    refused(capsys, message, "train", "rows.csv", *FEW, *gain, *taught, *options, "--out", "m.ubj")


def test_evaluate_needs_the_query_and_other_rows(ranked: pd.DataFrame, capsys: Any) -> None:
    works("train", "rows.csv", *RANKED, *FEW, "--drop", "z0,weight", "--out", "m.ubj")
    evaluate = ["evaluate", "rows.csv", "--model", "m.ubj", "--label", "relevance"]
    refused(capsys, "rank:ndcg needs --label and --query, got --label", *evaluate)
    refused(capsys, "--groups requires a model of two classes", *evaluate, "--query", "search", "--groups", "x0")
    refused(capsys, "--threshold requires a model of two", *evaluate, "--query", "search", "--threshold", "0.3")
    shared = ["train", "rows.csv", *RANKED, *FEW, "--drop", "z0,weight", "--valid", "rows.csv", "--out", "n.ubj"]
    refused(capsys, "rows.csv must not have queries of the training, got 40", *shared)
