"""Every objective on the command line: rankings, times, and the metric and the answers of each."""

from __future__ import annotations

import io
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


def test_queries_that_nobody_judged_are_taught(ranked: pd.DataFrame, table: pd.DataFrame) -> None:
    # One query is judged in part.
    scored = table["judged"].copy()
    scored[np.flatnonzero(scored)[0]] = False
    found = table["relevance"].where(scored)
    written(table.assign(relevance=found), "relevance", "search", "weight")
    command = [*RANKED, *FEW, "ndcg_exp_gain=false", *TAUGHT, "--weight", "weight", "--out", "m.ubj"]
    works("train", "rows.csv", *command, "--unlabelled", "teach")
    expected = pi_xgb.train(
        RANKED_PARAMS,
        query_matrix(ranked),
        4,
        privileged=query_matrix(ranked, ["z0"]),
        crossfit=2,
        kl_weight=2.0,
        labelled=scored[ranked.index],
    )
    assert is_model("m.ubj", expected)
    works("train", "rows.csv", *command, "--unlabelled", "drop", "--force")
    left = side_by_side(table[scored])
    expected = pi_xgb.train(
        RANKED_PARAMS, query_matrix(left), 4, privileged=query_matrix(left, ["z0"]), crossfit=2, kl_weight=2.0
    )
    assert is_model("m.ubj", expected)


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


def test_a_share_to_watch_is_one_of_whole_queries(ranked: pd.DataFrame, table: pd.DataFrame) -> None:
    from pi_xgb._cli.rows import Rows, set_aside

    known, query = table["judged"].to_numpy(), table["search"].to_numpy()
    rows = Rows(table[FEATURES], None, np.asarray(table["relevance"], np.float32), labelled=known, query=query)
    kept, aside = set_aside(rows.by_query(), 0.25, seed=1)
    assert kept.query is not None
    assert aside.query is not None
    assert not set(kept.query) & set(aside.query)
    assert 0 < len(aside.y) <= 0.25 * known.sum()
    # Those to watch are judged, and in both parts the rows of a query stand side by side.
    assert set(aside.query) <= set(query[known])
    for part in (kept, aside):
        assert (part.query[1:] != part.query[:-1]).sum() == len(set(part.query)) - 1
    # Larger groups count where there are some.
    groups = np.array([name[-1] for name in query])
    by_group = Rows(table[FEATURES], None, rows.y, crossfit_groups=groups, query=query).by_query()
    kept, aside = set_aside(by_group, 0.25, seed=1)
    assert not {name[-1] for name in kept.query} & {name[-1] for name in aside.query}


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
    works(*command, "--valid", "late.csv", "--early-stopping", "2", "--out", "m.ubj")
    output = capsys.readouterr().err
    log: dict[str, Any] = {}
    expected = pi_xgb.train(
        params,
        matrix(first),
        30,
        privileged=matrix(first, ["z0"]),
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


def test_margins_are_watched_by_a_metric_that_takes_margins(timed: pd.DataFrame, capsys: Any) -> None:
    written(timed.assign(high=(timed["amount"] > 1).astype(int)), "high")
    command = [
        "train",
        "rows.csv",
        "--label",
        "high",
        "--objective",
        "binary:logitraw",
        *FEW,
        *TAUGHT,
        "--valid",
        "0.3",
    ]
    works(*command, "--out", "m.ubj")
    assert "on --valid: auc " in capsys.readouterr().err
    works(*command, "--params", "eval_metric=error@0", "--out", "m.ubj", "--force")
    assert "on --valid: error@0 " in capsys.readouterr().err


# --- every objective, every command -------------------------------------------------------------------------


@pytest.mark.parametrize("objective", LOSSES)
def test_every_objective_is_trained_judged_and_chosen_by_its_own_metric(
    timed: pd.DataFrame, capsys: Any, objective: str
) -> None:
    loss = LOSSES[objective]
    amount = timed["amount"]
    label = {"classes": (amount > 1).astype(int), "count": np.floor(amount), "ranking": timed["relevance"]}
    kind = "classes" if loss.probabilities else loss.kind
    y = timed["relevance"].map(dict(enumerate("abcd"))) if loss.multiclass else label.get(kind, amount)
    named, more = ["--label", "y"], ["quantile_alpha=0.6"] * (objective == "reg:quantileerror")
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
    assert len(shown) == 2
    assert np.isfinite(shown["score"]).all()


def test_tune_finds_what_select_finds(ranked: pd.DataFrame, capsys: Any) -> None:
    command = [*RANKED, *FEW, "ndcg_exp_gain=false", *TAUGHT, "--folds", "2", "--repeats", "1", "--weight", "weight"]
    settings: dict[str, Any] = {"kl_weight": 2.0, "crossfit": 2, "nfold": 2, "repeats": 1, "progress": False}
    shown = table_of(capsys, "tune", "rows.csv", *command, "--out", "m.ubj")
    dtrain, privileged = query_matrix(ranked), query_matrix(ranked, ["z0"])
    selection = pi_xgb.select(RANKED_PARAMS, dtrain, 4, privileged=privileged, **settings)
    np.testing.assert_allclose(shown["score"], selection.summary["score"], rtol=1e-6)
    expected = selection.train(dtrain, privileged=privileged, verbose_eval=False)
    assert is_model("m.ubj", expected)


def compared(monkeypatch: Any, *command: str) -> dict[str, Any]:
    """What ``compare`` is told, which does nothing then."""
    found: dict[str, Any] = {}

    def compare(x: Any, y: Any, z: Any, **keywords: Any) -> None:
        found.update(keywords, x=x, y=y, z=z)
        raise ValueError("no more")

    monkeypatch.setattr(pi_xgb.selection, "compare", compare)
    assert main(["compare", "rows.csv", *command]) == 2
    return found


def test_compare_is_told_of_queries(ranked: pd.DataFrame, monkeypatch: Any) -> None:
    found = compared(monkeypatch, *RANKED, *FEW, "ndcg_exp_gain=false", *TAUGHT, "--weight", "weight")
    pd.testing.assert_frame_equal(found["x"], ranked[FEATURES])
    pd.testing.assert_frame_equal(found["z"], ranked[["z0"]])
    np.testing.assert_array_equal(found["y"], ranked["relevance"])
    np.testing.assert_array_equal(found["groups"], ranked["search"])
    np.testing.assert_array_equal(found["sample_weight"], ranked["weight"])
    assert found["params"] == RANKED_PARAMS


def test_compare_runs(timed: pd.DataFrame, capsys: Any) -> None:
    written(timed.iloc[:120], "since", "until")
    own = ["--kl-weight", "2", "--crossfit", "2", "--folds", "2", "--repeats", "1", "--rounds", "2"]
    shown = table_of(capsys, "compare", "rows.csv", *TIMED, *FEW, "--privileged", "z0", *own)
    assert np.isfinite(shown["score"]).all()


def test_compare_is_told_of_bounds(timed: pd.DataFrame, monkeypatch: Any) -> None:
    both = timed[["since", "until"]].where(timed["judged"])
    written(timed.assign(since=both["since"], until=both["until"]), "since", "until")
    command = [*TIMED, *FEW, "--privileged", "z0", "--kl-weight", "2", "--crossfit", "2", "--unlabelled", "teach"]
    found = compared(monkeypatch, *command)
    y = both.assign(until=both["until"].fillna(np.inf).where(timed["judged"]))
    np.testing.assert_array_equal(found["y"], y.to_numpy(np.float32))


# --- what cannot be -----------------------------------------------------------------------------------------

BAD_RANKINGS: dict[str, tuple[dict[str, Any], list[str], str]] = {
    "no query": ({}, ["--label", "relevance", "--objective", "rank:ndcg"], "needs --label and --query, got --label"),
    "no query for rank:map": (
        {},
        ["--label", "relevance", "--params", "objective=rank:map"],
        "needs --label and --query",
    ),
    "no ranking": (
        {},
        ["--label", "relevance", "--query", "search"],
        "needs --label, got --label and --query",
    ),
    "not this ranking": (
        {},
        [*RANKED[:4], "--objective", "count:poisson"],
        "needs --label, got --label and --query",
    ),
    "a gap": ({"search": "7"}, RANKED, "--query names 'search'.*rows.csv.*1 missing"),
    "no column": ({}, [*RANKED, "--query", "page"], "has no column 'page', which --query names"),
    "a privileged query": ({}, [*RANKED, "--query", "z0"], "named by --privileged and by --query"),
    "a gap in y": ({"relevance": 1}, RANKED, "--unlabelled teach"),
    "no label": ({}, RANKED[2:], "rank:ndcg needs --label and --query, got --query"),
    "weights": ({"weight": 1.5}, [*RANKED, "--weight", "weight"], "--weight must be equal within a query"),
    "groups": (
        {},
        [*RANKED, "--crossfit-groups", "weight"],
        "--crossfit-groups must keep queries whole, got 1 queries",
    ),
    "jpib": ({}, [*RANKED, "--method", "jpib"], "an adaptive teacher"),
    "a constraint": ({}, [*RANKED, "--constraint", "parity:weight=1"], "an adaptive teacher"),
    "exponential gain": (
        {},
        [*RANKED, "--params", "ndcg_exp_gain=true"],
        "ndcg_exp_gain",
    ),
}


@pytest.mark.parametrize("command", ["train", "tune"])
@pytest.mark.parametrize("why", BAD_RANKINGS)
def test_bad_rankings_are_refused_before_any_training(
    table: pd.DataFrame, ranked: pd.DataFrame, capsys: Any, monkeypatch: Any, why: str, command: str
) -> None:
    spoilt, found, message = BAD_RANKINGS[why]
    rows = table.copy()
    for name, value in spoilt.items():
        rows[name] = rows[name].astype(object)
        rows.loc[3, name] = 1.25 if name == "weight" else None
        assert value is not None
    if why == "groups":
        rows["weight"] = rows["search"].where(rows.index != 5, "another")
    written(rows, "relevance", "search", "weight")
    monkeypatch.setattr(xgb, "train", lambda *_, **__: pytest.fail("it trained"))
    gain = [] if why == "exponential gain" else ["ndcg_exp_gain=false"]
    out = ["--crossfit", "2", "--kl-weight", "1", "--out", "m.ubj"]
    if why == "jpib":
        out = ["--kl-weight", "1", "--out", "m.ubj"]
    named = {found[i] for i in range(0, len(found), 2)}
    dropped = [
        name for name in ("search", "weight") if name not in found and not (name == "search" and why == "no column")
    ]
    assert named
    drop = ["--drop", ",".join(dropped)] if dropped and "parity:weight=1" not in found else []
    refused(capsys, message, command, "rows.csv", *FEW, *gain, "--privileged", "z0", *out, *drop, *found)


BAD_TIMES: dict[str, tuple[dict[str, Any], list[str], str]] = {
    "a label": (
        {},
        ["--label", "since", "--objective", "survival:aft"],
        "needs --lower-bound and --upper-bound, got --label",
    ),
    "one bound": (
        {},
        [*TIMED[:2], "--objective", "survival:aft"],
        "needs --lower-bound and --upper-bound, got --lower-bound",
    ),
    "both": ({}, [*TIMED, "--label", "weight"], "needs --lower-bound and --upper-bound, got --label and --lower-bound"),
    "no time": ({}, TIMED[:4], "without --objective needs --label, got --lower-bound and --upper-bound"),
    "another": ({}, [*TIMED[:4], "--objective", "reg:gamma"], "reg:gamma needs --label, got --lower-bound"),
    "a feature": ({}, [*TIMED, "--privileged", "until"], "named by --upper-bound and by --privileged"),
    "crossed": ({"until": 1e-9}, TIMED, "not above the upper one, line 6 has"),
    "below 0": ({"since": -1.0}, TIMED, "the bounds of rows.csv must be times, the lower one at least 0"),
    "both at 0": ({"since": 0.0, "until": 0.0}, TIMED, "line 6 has 0 and 0"),
    "infinite": ({"since": np.inf, "until": np.inf}, TIMED, "line 6 has inf and inf"),
    "no lower one": ({"since": None, "until": 2.0}, TIMED, "line 6 of rows.csv has an upper bound only"),
    "unknown": (
        {"since": None, "until": None},
        TIMED,
        "1 missing values",
    ),
    "text": ({"until": "late"}, TIMED, "the bound 'until' of rows.csv must be numbers, got 'late' in line 6"),
    "a query": ({}, [*TIMED, "--query", "weight"], "needs --lower-bound and --upper-bound, got --lower-bound and"),
}


@pytest.mark.parametrize("command", ["train", "compare"])
@pytest.mark.parametrize("why", BAD_TIMES)
def test_bad_times_are_refused_before_any_training(
    timed: pd.DataFrame, capsys: Any, monkeypatch: Any, why: str, command: str
) -> None:
    spoilt, found, message = BAD_TIMES[why]
    rows = timed.copy()
    for name, value in spoilt.items():
        rows[name] = rows[name].astype(object)
        rows.loc[4, name] = value
    written(rows, "since", "until", "weight")
    monkeypatch.setattr(xgb, "train", lambda *_, **__: pytest.fail("it trained"))
    out = ["--out", "m.ubj"] if command == "train" else []
    refused(capsys, message, command, "rows.csv", *FEW, "--privileged", "z0", *out, *found)


def test_no_row_with_a_lower_bound(timed: pd.DataFrame, capsys: Any) -> None:
    written(timed.assign(since=np.nan, until=np.nan), "since", "until")
    command = ["train", "rows.csv", *TIMED, "--privileged", "z0", "--unlabelled", "teach", "--out", "m.ubj"]
    refused(capsys, "lower bound 'since'.*no row", *command)


def test_judging_needs_what_the_model_was_trained_with(ranked: pd.DataFrame, capsys: Any) -> None:
    works("train", "rows.csv", *RANKED, *FEW, "--drop", "z0,weight", "--out", "m.ubj")
    evaluate = ["evaluate", "rows.csv", "--model", "m.ubj"]
    refused(capsys, "rank:ndcg needs --label and --query", *evaluate, "--label", "relevance")
    refused(capsys, "which is a feature of the model", *evaluate, "--label", "relevance", "--query", "x0")
    written(ranked.assign(search=ranked["search"].where(ranked["x0"] > 0)), "relevance", "search")
    refused(capsys, "missing values", *evaluate, "--label", "relevance", "--query", "search")
    refused(
        capsys,
        "needs --label, got --label and --query",
        *evaluate[:2],
        "--model",
        str(other_model(ranked)),
        *RANKED[:4],
    )


def other_model(rows: pd.DataFrame) -> Path:
    booster = xgb.train(PARAMS, xgb.DMatrix(rows[FEATURES], rows["relevance"]), 1)
    booster.save_model("other.ubj")
    return Path("other.ubj")


def test_frontier_knows_no_rankings(ranked: pd.DataFrame, capsys: Any) -> None:
    command = ["frontier", "rows.csv", "--label", "relevance", "--drop", "search,z0", "--constraint", "parity:weight"]
    for objective in ("rank:ndcg", "survival:aft"):
        refused(capsys, "--objective must be binary:logistic", *command, "--objective", objective, *FEW)
