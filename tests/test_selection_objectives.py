"""``select`` and ``compare`` for objectives that are taught by copies: rankings, times, medians."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pandas as pd
import pytest
import xgboost as xgb
from sklearn.metrics import get_scorer

import pi_xgb
from pi_xgb._core.config import METHODS, SEES, TeacherConfig
from pi_xgb._core.losses import LOSSES
from pi_xgb._selection import compare as compare_module
from pi_xgb._selection import search
from pi_xgb._selection.candidates import candidates_of
from pi_xgb._selection.compared_models import Cell, ComparedModels
from pi_xgb._selection.problem import Recipe
from pi_xgb._selection.scores import Score, ScoredByScikitLearn, score_of, score_of_mean
from pi_xgb._selection.splits import Split
from pi_xgb.constraints import DemographicParity

N_ROWS, N_QUERIES = 240, 40
FEW: dict[str, Any] = {"kl_weight": 2.0, "teacher": "boosted", "crossfit": 2, "nfold": 2, "progress": False}
COMPARED: dict[str, Any] = {**FEW, "num_boost_round": 3, "inner_nfold": 2, "repeats": 1}
RANKED = {"objective": "rank:ndcg", "ndcg_exp_gain": False, "max_depth": 2, "nthread": 1}


@dataclasses.dataclass(frozen=True)
class Made:
    x: pd.DataFrame
    z: pd.DataFrame
    amount: np.ndarray
    query: np.ndarray

    @property
    def relevance(self) -> np.ndarray:
        return np.digitize(self.amount, [0.5, 1.5, 4.0])

    def ranked(self, weight: Any = None) -> tuple[xgb.DMatrix, xgb.DMatrix]:
        first, second = (xgb.DMatrix(table, self.relevance, qid=self.query) for table in (self.x, self.z))
        if weight is not None:
            first.set_weight(weight)
        return first, second

    def for_objective(self, objective: str) -> tuple[xgb.DMatrix, xgb.DMatrix]:
        if objective == "survival:aft":
            upper = np.where(self.query % 3 == 0, np.inf, self.amount)
            bounds = {"label_lower_bound": self.amount, "label_upper_bound": upper}
            return xgb.DMatrix(self.x, **bounds), xgb.DMatrix(self.z, **bounds)
        label = np.floor(self.amount) if objective == "count:poisson" else self.amount
        return xgb.DMatrix(self.x, label), xgb.DMatrix(self.z, label)


@pytest.fixture(scope="module")
def made() -> Made:
    rng = np.random.default_rng(0)
    u = rng.normal(size=N_ROWS)
    x = pd.DataFrame(u[:, None] + 2 * rng.normal(size=(N_ROWS, 3))).add_prefix("x")
    z = pd.DataFrame({"z0": u + 0.2 * rng.normal(size=N_ROWS)})
    sizes = np.bincount(rng.integers(0, N_QUERIES, N_ROWS - 3 * N_QUERIES), minlength=N_QUERIES) + 3
    return Made(x, z, np.exp(u), np.repeat(np.arange(N_QUERIES), sizes))


def by_hand(made: Made, train: np.ndarray, test: np.ndarray, kl_weight: float, labelled: Any = None) -> float:
    """NDCG on the held-out queries of a student trained on the others, by the public functions alone."""

    def rows(table: pd.DataFrame, which: np.ndarray) -> xgb.DMatrix:
        return xgb.DMatrix(table.iloc[which], made.relevance[which], qid=made.query[which])

    dtrain, privileged = rows(made.x, train), rows(made.z, train)
    guided: dict[str, Any] = {"privileged": privileged, "crossfit": 2, "kl_weight": kl_weight}
    if labelled is not None:
        guided["labelled"] = labelled[train]
    if kl_weight == 0:
        guided = {}
        dtrain = rows(made.x, train if labelled is None else train[labelled[train]])
    booster = pi_xgb.train({**RANKED, "eval_metric": "ndcg"}, dtrain, 3, **guided)
    return float(booster.eval(rows(made.x, test)).split(":")[1])


@pytest.mark.parametrize("scored", [1.0, 0.6])
def test_rankings_are_selected_in_whole_queries_by_ndcg(made: Made, scored: float, monkeypatch: Any) -> None:
    dtrain, privileged = made.ranked()
    # Queries that nobody judged, and one that is judged in part.
    labelled = None if scored == 1 else made.query < scored * N_QUERIES
    if labelled is not None:
        labelled[np.flatnonzero(made.query == 3)[1]] = False
    seen: list[Any] = []
    curves = search.fold_curves
    monkeypatch.setattr(search, "fold_curves", lambda *result: seen.append((result[1], curves(*result))) or seen[-1][1])
    settings = {**FEW, "labelled": labelled, "standard_errors": 0}
    selection = pi_xgb.select(RANKED, dtrain, 3, privileged=privileged, **settings)
    assert (selection.metric, selection.maximize) == ("ndcg", True)
    everything = np.arange(N_ROWS)
    for split, found in seen:
        assert not set(made.query[split.train]) & set(made.query[split.test])
        train = split.train
        if labelled is not None:
            others = everything[~labelled & ~np.isin(made.query, made.query[split.test])]
            train = np.sort(np.concatenate([train, others]))
        for kl_weight, scores in zip((0.0, 2.0), found.scores, strict=True):
            assert scores[-1] == pytest.approx(by_hand(made, train, split.test, kl_weight, labelled), abs=1e-5)
        assert 0 < found.teachers[1] <= 1
    final = selection.train(dtrain, privileged=privileged, **({} if labelled is None else {"labelled": labelled}))
    assert final.num_features() == 3


def test_rankings_share_teachers_between_folds(made: Made, monkeypatch: Any) -> None:
    dtrain, privileged = made.ranked()
    seen: list[Any] = []
    curves = search.fold_curves
    monkeypatch.setattr(search, "fold_curves", lambda *result: seen.append((result[1], curves(*result))) or seen[-1][1])
    settings = {**FEW, "nfold": 4, "crossfit": 4}
    pi_xgb.select(RANKED, dtrain, 3, privileged=privileged, **settings)
    fold_of = np.empty(N_ROWS, int)
    for number, (split, _) in enumerate(seen):
        fold_of[split.test] = number

    def rows(table: pd.DataFrame, which: np.ndarray) -> xgb.DMatrix:
        return xgb.DMatrix(table[which], made.relevance[which], qid=made.query[which])

    for out, (_, found) in enumerate(seen):
        train, values = fold_of != out, np.zeros(N_ROWS, np.float32)
        for fold in set(range(4)) - {out}:  # judged by a teacher that has seen neither
            neither = xgb.train(RANKED, rows(made.z, train & (fold_of != fold)), 3)
            values[fold_of == fold] = neither.predict(rows(made.z, fold_of == fold))
        loss = LOSSES["rank:ndcg"].with_params(RANKED)
        q = loss.teacher_values(values[train], made.relevance[train].astype(np.float32), np.ones(train.sum(), bool))
        student = pi_xgb.train({**RANKED, "eval_metric": "ndcg"}, rows(made.x, train), 3, teacher=q, kl_weight=2.0)
        expected = float(student.eval(rows(made.x, ~train)).split(":")[1])
        assert found.scores[1, -1] == pytest.approx(expected, abs=1e-5)


def test_the_folds_of_the_user_and_queries_with_weights_are_kept(made: Made) -> None:
    weight = np.where(np.arange(N_QUERIES) < 20, 1.0, 5.0)
    dtrain, privileged = made.ranked(weight)
    halves = made.query % 2 == 0
    shuffled = np.random.default_rng(0).permutation(N_ROWS)
    folds = [(shuffled[halves[shuffled]], shuffled[~halves[shuffled]])]
    folds.append(folds[0][::-1])
    settings: dict[str, Any] = {**FEW, "folds": folds, "metric": "ndcg@3"}
    del settings["nfold"]
    selection = pi_xgb.select(RANKED, dtrain, 3, privileged=privileged, **settings)
    plain = selection.table[selection.table["candidate"] == "plain"]
    rows = [
        xgb.DMatrix(
            made.x[part], made.relevance[part], qid=made.query[part], weight=weight[np.unique(made.query[part])]
        )
        for part in (halves, ~halves)
    ]
    params = {**RANKED, "eval_metric": "ndcg@3"}
    for (train, test), score in zip((rows, rows[::-1]), plain["score"], strict=True):
        booster = xgb.train(params, train, int(plain["rounds"].iloc[0]))
        assert score == pytest.approx(float(booster.eval(test).split(":")[1]), abs=1e-5)


@pytest.mark.parametrize("objective", ["survival:aft", "reg:absoluteerror", "count:poisson"])
def test_times_medians_and_counts_are_selected_by_their_own_metric(made: Made, objective: str) -> None:
    dtrain, privileged = made.for_objective(objective)
    params = {"objective": objective, "max_depth": 2, "nthread": 1}
    selection = pi_xgb.select(params, dtrain, 3, privileged=privileged, **FEW, repeats=1)
    assert selection.metric == {"s": "aft-nloglik", "r": "mae", "c": "poisson-nloglik"}[objective[0]]
    assert np.isfinite(selection.table["score"]).all()
    assert len(selection.table) == 4
    assert np.isfinite(selection.summary["teacher_score"].iloc[1])


@pytest.mark.parametrize("objective", ["survival:aft", "reg:absoluteerror", "count:poisson", "rank:ndcg"])
def test_what_all_objectives_are_worth_is_compared(made: Made, objective: str, monkeypatch: Any) -> None:
    curves = search.fold_curves

    def of_labelled_rows(problem: Any, split: Any, *keywords: Any) -> Any:
        assert problem.labelled is None or problem.labelled[np.concatenate([split.train, split.test])].all()
        return curves(problem, split, *keywords)

    monkeypatch.setattr(search, "fold_curves", of_labelled_rows)
    params = RANKED if objective == "rank:ndcg" else {"objective": objective, "max_depth": 2, "nthread": 1}
    amount = pd.Series(made.amount)
    y: Any = {"reg:absoluteerror": amount, "count:poisson": np.floor(amount)}.get(objective)
    keywords: dict[str, Any] = {}
    if objective == "survival:aft":
        y = pd.DataFrame({"lower": amount, "upper": np.where(made.query % 3 == 0, np.inf, amount)})
    if objective == "rank:ndcg":
        y, keywords = pd.Series(made.relevance).astype(float), {"groups": made.query}
        keywords["sample_weight"] = 1.0 + made.query % 2
    unknown = made.query % 5 == 0
    for missing in (False, True):
        if missing:
            y = y.where(~(unknown if y.ndim == 1 else np.column_stack([unknown, unknown])))
        keywords["teacher_sees"] = "privileged" if missing else "all"
        comparison = pi_xgb.compare(made.x, y, made.z, params=params, **COMPARED, **keywords)
        table = comparison.table.set_index(["fold", "model"])
        assert np.isfinite(table["score"]).all()
        assert (table["n_train"] + table["n_test"] == N_ROWS - missing * unknown.sum()).all()
        # z is what the labels are made of, and so the ceiling is higher than what x says.
        assert table["gain"].xs("z known at prediction", level="model").mean() > 0.01


def test_plain_xgboost_in_a_comparison_is_that_of_the_bounds(made: Made) -> None:
    upper = np.where(made.query % 3 == 0, np.inf, made.amount)
    folds = [(np.arange(120), np.arange(120, 240)), (np.arange(120, 240), np.arange(120))]
    params = {"objective": "survival:aft", "max_depth": 2, "nthread": 1}
    settings = {**COMPARED, "nfold": 2, "folds": folds, "kl_weight": 1.0}
    comparison = pi_xgb.compare(made.x, np.column_stack([made.amount, upper]), made.z, params=params, **settings)
    table = comparison.table[comparison.table["model"] == "plain XGBoost"]
    for (train, test), (_, row) in zip(folds, table.iterrows(), strict=True):
        dtrain, dtest = (
            xgb.DMatrix(made.x.iloc[part], label_lower_bound=made.amount[part], label_upper_bound=upper[part])
            for part in (train, test)
        )
        booster = xgb.train({**params, "eval_metric": "aft-nloglik"}, dtrain, row["rounds"])
        assert row["score"] == pytest.approx(float(booster.eval(dtest).split(":")[1]), rel=1e-5)


def test_plain_xgboost_in_a_comparison_weighs_queries(made: Made) -> None:
    halves = made.query < N_QUERIES // 2
    folds = [(np.flatnonzero(halves), np.flatnonzero(~halves)), (np.flatnonzero(~halves), np.flatnonzero(halves))]
    weight = np.where(np.arange(N_QUERIES) % 2, 1.0, 30.0)
    keywords = {**COMPARED, "folds": folds, "groups": made.query, "sample_weight": weight[made.query]}
    comparison = pi_xgb.compare(made.x, made.relevance, made.z, params=RANKED, **keywords)
    table = comparison.table[comparison.table["model"] == "plain XGBoost"]
    for (train, test), (_, row) in zip(folds, table.iterrows(), strict=True):
        dtrain, dtest = (
            xgb.DMatrix(
                made.x.iloc[part],
                made.relevance[part],
                qid=made.query[part],
                weight=weight[np.unique(made.query[part])],
            )
            for part in (train, test)
        )
        booster = xgb.train({**RANKED, "eval_metric": "ndcg"}, dtrain, row["rounds"])
        assert row["score"] == pytest.approx(float(booster.eval(dtest).split(":")[1]), abs=1e-5)


@pytest.mark.parametrize("exponential", [False, True])
def test_a_teacher_is_judged_by_the_gain_that_params_name(made: Made, exponential: bool) -> None:
    params = {"objective": "rank:pairwise", "ndcg_exp_gain": exponential, "eval_metric": "ndcg", "nthread": 1}
    dtrain, _ = made.ranked()
    booster = xgb.train(params, dtrain, 3)
    margin = booster.predict(dtrain, output_margin=True)
    score = score_of_mean(Score("ndcg", True), margin, dtrain, params, LOSSES["rank:pairwise"].with_params(params))
    assert score == pytest.approx(float(booster.eval(dtrain).split(":")[1]), abs=1e-6)


REFUSED: dict[str, tuple[dict[str, Any], dict[str, Any], str]] = {
    "jpib": ({}, {"method": ["kbpib", "jpib"]}, "an adaptive teacher.*method='kbpib'"),
    "exponential gain": ({"ndcg_exp_gain": True}, {}, r"params\['ndcg_exp_gain'\] = False"),
    "a constraint": ({}, {"constraints": [(DemographicParity(np.arange(N_ROWS) % 2), 1.0)]}, "an adaptive teacher"),
    "half-taught queries": ({}, {"teacher_weight": 1.0 + np.arange(N_ROWS) % 2}, "teacher_weight differs"),
    "torn queries": ({}, {"groups": np.arange(N_ROWS)}, "groups must be equal within a query"),
    "folds through queries": ({}, {"folds": [(np.arange(121), np.arange(121, 240))] * 2}, "on both sides"),
    "a scorer": ({}, {"metric": "roc_auc"}, r"queries.*bounds.*ndcg"),
}


@pytest.mark.parametrize("why", REFUSED)
def test_what_cannot_be_selected_is_refused_before_any_training(made: Made, why: str, monkeypatch: Any) -> None:
    params, found, message = REFUSED[why]
    dtrain, privileged = made.ranked()
    monkeypatch.setattr(xgb, "train", lambda *_, **__: pytest.fail("it trained"))
    with pytest.raises(ValueError, match=message):
        pi_xgb.select({**RANKED, **params}, dtrain, 3, privileged=privileged, **{**FEW, **found})


def test_queries_of_other_objectives_are_refused(made: Made) -> None:
    dtrain, privileged = made.ranked()
    with pytest.raises(ValueError, match="without qid, and pass groups=qid"):
        pi_xgb.select({"objective": "reg:squarederror"}, dtrain, 3, privileged=privileged, **FEW)


NOT_COMPARED: dict[str, tuple[dict[str, Any], str]] = {
    "no queries": ({}, "pass groups=qid"),
    "scattered": ({"groups": np.arange(N_ROWS) % 40}, "must be adjacent"),
    "sizes": ({"groups": np.arange(N_ROWS) // 6, "sizes": [30]}, r"sizes must be empty.*30"),
    "weights": ({"groups": np.arange(N_ROWS) // 6, "sample_weight": np.arange(1, N_ROWS + 1)}, "within a query"),
    "jpib": ({"groups": np.arange(N_ROWS) // 6, "method": "jpib"}, "an adaptive teacher"),
}


@pytest.mark.parametrize("why", NOT_COMPARED)
def test_what_cannot_be_compared_is_refused_before_any_training(made: Made, why: str, monkeypatch: Any) -> None:
    found, message = NOT_COMPARED[why]
    monkeypatch.setattr(xgb, "train", lambda *_, **__: pytest.fail("it trained"))
    with pytest.raises(ValueError, match=message):
        pi_xgb.compare(made.x, made.relevance, made.z, params=RANKED, **{**COMPARED, **found})


def test_times_are_told_by_their_bounds(made: Made) -> None:
    bounds = np.column_stack([made.amount, np.where(made.query % 3 == 0, np.inf, made.amount + 1)])
    assert compare_module._read_labels(bounds, "survival:aft")[0].labelled is None
    unknown = np.arange(N_ROWS) % 5 == 0
    bounds[unknown, np.arange(N_ROWS)[unknown] % 2] = np.nan
    target, fields = compare_module._read_labels(pd.DataFrame(bounds), "survival:aft")
    np.testing.assert_array_equal(target.labelled, ~unknown)
    # Rows are dealt by the time until which they were seen; one that nobody knows says nothing.
    expected = np.where(unknown[:, None], [0, np.inf], bounds).astype(np.float32)
    np.testing.assert_array_equal(target.values, expected[:, 0])
    for field, values in zip(("label_lower_bound", "label_upper_bound"), expected.T, strict=True):
        np.testing.assert_array_equal(fields[field], values)


@pytest.mark.parametrize("metric", ["ndcg@3", "ndcg-", "map@2-", "pre@1", "auc", "aucpr", "error@0.3", "mphe"])
def test_which_way_is_better_is_known_of_metrics_of_xgboost(metric: str) -> None:
    loss = LOSSES["rank:ndcg"].with_params(RANKED)
    for params, requested in (({}, metric), ({"eval_metric": ("mae", "rmse", metric)}, None)):
        score = score_of(requested, None, None, params, loss, None)
        assert (score.name, score.maximised, score.custom) == (metric, metric[:2] in ("nd", "ma", "pr", "au"), None)


def test_a_training_computes_the_score_and_what_is_asked_besides() -> None:
    params = {"eta": 0.3, "eval_metric": ["auc", "mae"]}
    rmse, own = Score("rmse", False), Score("own", True, lambda *_: ("own", 0.0))
    assert rmse.applied_to(params) == {"eta": 0.3, "eval_metric": ["rmse"]}
    assert rmse.applied_to(params, ("error", "rmse")) == {"eta": 0.3, "eval_metric": ["error", "rmse"]}
    # With a function of the user's the default metric would be computed for nothing.
    assert own.applied_to(params) == {"eta": 0.3, "disable_default_eval_metric": 1}
    assert own.applied_to(params, ("error",))["eval_metric"] == ["error"]


@pytest.mark.parametrize(
    ("objective", "label", "shown"),
    [
        ("binary:logistic", [0, 1, 1, 1], [0.25, 0.75]),
        ("multi:softprob", [0, 2, 2, 1], [0.25, 0.25, 0.5, 0.0]),
        ("reg:squarederror", [0, 1, 1, 4], 1.5),
    ],
)
def test_a_scorer_is_tried_on_the_mean_before_any_training(objective: str, label: list[int], shown: Any) -> None:
    params = {"objective": objective, **({"num_class": 4} if objective.startswith("multi") else {})}
    seen: list[Any] = []

    def scorer(estimator: Any, X: Any, y: Any) -> float:
        classes = hasattr(estimator, "predict_proba")
        seen.append((estimator.predict_proba if classes else estimator.predict)(X))
        assert np.array_equal(getattr(estimator, "classes_", []), np.arange(np.size(shown)) if classes else [])
        return 0.5

    dtrain = xgb.DMatrix(np.zeros((4, 1)), label)
    score = score_of(scorer, None, None, params, LOSSES[objective].with_params(params), dtrain)
    assert (score.name, score.maximised) == (str(scorer), True)
    np.testing.assert_allclose(seen, [np.tile(shown, (4, 1)) if np.size(shown) > 1 else np.full(4, shown)])
    if objective.startswith("multi"):
        with pytest.raises(ValueError, match=r"metric must suit the labels.*roc_auc"):
            score_of("roc_auc", None, None, params, LOSSES[objective].with_params(params), dtrain)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_a_scorer_is_told_of_classes_that_are_no_probabilities(n_classes: int) -> None:
    shown = ScoredByScikitLearn(get_scorer("neg_log_loss"), n_classes, probabilities=True)
    label = np.arange(6) % n_classes
    name, score = shown(label.astype(np.float32), xgb.DMatrix(np.zeros((6, 1)), label))
    assert (name, score) == ("score", pytest.approx(0.0, abs=1e-12))


@pytest.mark.parametrize("n_classes", [0, 1])
def test_a_scorer_is_told_of_probabilities_where_there_is_one_output(n_classes: int) -> None:
    # XGBoost accepts num_class=1 where there is a single output.
    shown = ScoredByScikitLearn(get_scorer("neg_log_loss"), n_classes, probabilities=True)
    predictions, dtrain = np.array([0.25, 0.75, 0.5], np.float32), xgb.DMatrix(np.zeros((3, 1)), [0, 1, 1])
    assert shown(predictions, dtrain)[1] == pytest.approx(np.mean(np.log([0.75, 0.75, 0.5])), abs=1e-6)


def test_a_time_without_bounds_is_no_y(made: Made) -> None:
    with pytest.raises(ValueError, match="y must have two columns"):
        pi_xgb.compare(made.x, made.amount, made.z, params={"objective": "survival:aft"}, **COMPARED)


def test_several_targets_are_refused_with_the_mend(made: Made) -> None:
    both = np.column_stack([made.amount, made.amount])
    dtrain, privileged = xgb.DMatrix(made.x, both), xgb.DMatrix(made.z, both)
    params = {"objective": "reg:squarederror"}
    with pytest.raises(ValueError, match=r"dtrain .* 2 columns of labels: .* pi_xgb\.cv"):
        pi_xgb.select(params, dtrain, 3, privileged=privileged, **FEW)
    with pytest.raises(ValueError, match=r"y .*2.*time"):
        pi_xgb.compare(made.x, both, made.z, params=params, **COMPARED)
    with pytest.raises(ValueError, match=r"q .*2.*pi_xgb\.cv"):
        pi_xgb.attach_teacher(dtrain, both)


def test_shuffled_privileged_rows_have_the_queries_of_the_student(made: Made) -> None:
    dtrain, privileged = made.ranked()
    part = Recipe(RANKED, 2, None).problem(dtrain, TeacherConfig(privileged), "compare", sees_all=True)
    rows = np.arange(N_ROWS)
    cell = Cell(N_ROWS, Split(0, 0, rows, rows), rows)
    shuffled = ComparedModels([], [], [], None, 0.0, 2, 0, None)._others(part, cell)["shuffled"].config.privileged
    assert shuffled.get_uint_info("group_ptr").tolist() == dtrain.get_uint_info("group_ptr").tolist()


def test_the_teachers_of_a_selection_have_the_params_that_are_theirs(made: Made) -> None:
    dtrain, privileged = made.for_objective("count:poisson")
    params = {"objective": "count:poisson", "max_depth": 2, "nthread": 1}
    recipe = Recipe(params, 2, {"objective": "count:poisson", "max_depth": 1})
    config = recipe.problem(dtrain, TeacherConfig(privileged), "select", sees_all=False).config
    assert config.teacher_params["max_depth"] == 1


def test_features_are_joined_for_teachers_that_see_all_of_them_alone():
    def joined(teacher, sees):
        return [candidate.sees_all for candidate in candidates_of({}, METHODS, teacher, sees, 2, 1.0)[1:]]

    # By default boosting sees the privileged features alone, as the teacher of JPIB does.
    assert joined(["boosted", "linear"], None) == [False, True, False]
    assert joined("linear", SEES) == [sees == "all" for sees in SEES] + [False]
    assert not candidates_of({}, METHODS, "linear", None, 2, 1.0)[0].sees_all


@pytest.mark.parametrize("objective", [*sorted(LOSSES), "reg:unknown", None])
def test_the_teacher_of_a_selection_follows_from_the_objective(objective):
    params = {} if objective is None else {"objective": objective}
    has_mean = objective not in LOSSES or LOSSES[objective].has_gradient
    ways = [("mixed", None)] if has_mean else [("boosted", "all")]
    for sees, wanted in ((None, ways), ("privileged", [(ways[0][0], "privileged")])):
        found = candidates_of(params, "kbpib", None, sees, None, 1.0)[1:]
        assert [(candidate.teacher, candidate.sees) for candidate in found] == wanted
