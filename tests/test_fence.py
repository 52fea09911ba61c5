"""The fence around XGBoost, piece by piece: params, boosters, matrices, trees, model files, signatures."""

from __future__ import annotations

import inspect
import threading
import types

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
import xgboost as xgb

from pi_xgb._warnings import warn_user
from pi_xgb._xgb import (
    booster,
    categories,
    classes,
    joined,
    matrix,
    params,
    rebind,
    scaled_params,
    signature,
    threads,
    trees,
)

ROWS = np.random.default_rng(0).random((40, 3)).round(1)
LABEL = (ROWS[:, 0] > 0.5).astype(np.float32)
PARAMS = {"objective": "binary:logistic", "max_depth": 2, "nthread": 1}


@pytest.fixture(scope="module")
def trained():
    return xgb.train({**PARAMS, "eta": 0.25}, xgb.DMatrix(ROWS, LABEL), 4)


# ---- params


def test_params_are_copied_as_xgboost_reads_them():
    assert params.user_params(None) == {}
    given = {"eta": 0.1, "max_depth": None}
    assert params.user_params(given) == {"eta": 0.1}
    assert given == {"eta": 0.1, "max_depth": None}
    pairs = [("eval_metric", "auc"), ("eta", 1)]
    assert params.user_params(pairs) == {"eval_metric": "auc", "eta": 1}
    assert params.user_params([*pairs, ("eval_metric", "error")])["eval_metric"] == ["auc", "error"]
    with pytest.raises(TypeError, match=r"params.*dict.*pairs"):
        params.user_params(3)
    for name in ("kl_weight", "privileged", "method", "teacher", "crossfit", "teacher_params", "privileged_evals"):
        with pytest.raises(ValueError, match=rf"{name}.*\(params, dtrain, {name}=\.\.\.\)"):
            params.user_params({name: 1})
    assert params.user_params({"evals_result": 1}) == {"evals_result": 1}  # a keyword of XGBoost, which warns of it


def test_few_rows_are_trained_on_one_thread(monkeypatch):
    monkeypatch.setattr(threads, "usable_cores", lambda: 3)
    given = {"eta": 1}
    assert threads.on_one_thread(given, 10_000) == {"eta": 1, "nthread": 1}
    assert threads.on_one_thread([("eta", 1)], 5) == [("eta", 1), ("nthread", 1)]
    assert threads.on_one_thread(None, 5) == [("nthread", 1)]
    assert threads.on_one_thread(given, 10_001) is given
    for found in ({"nthread": 2}, {"n_jobs": 2}):
        assert threads.on_one_thread(found, 5) is found
        assert threads.jobs_side_by_side(found, 5) == 1
    assert threads.jobs_side_by_side(given, 5) == 3
    assert threads.jobs_side_by_side(given, 5, print) == threads.jobs_side_by_side(given, 10**6) == 1


def test_params_for_a_gradient_that_is_a_multiple():
    given = {"lambda": 2, "alpha": 0.4, "min_split_loss": 1, "eta": 0.1, "max_delta_step": 0.7, "max_depth": 3}
    same = scaled_params.native_params(given, 4.0, {}, scales_positives=False)
    assert same == {
        **{"lambda": 0.5, "alpha": 0.1, "gamma": 0.25, "min_child_weight": 0.25},
        **{"eta": 0.1, "max_delta_step": 0.7, "max_depth": 3},
    }
    # XGBoost would apply it to labels of exactly 1; the weights of the rows contain it.
    assert scaled_params.native_params({**given, "scale_pos_weight": 5}, 4.0, {}, scales_positives=True) == {
        **same,
        "scale_pos_weight": 1,
    }
    kept = scaled_params.native_params({**given, "scale_pos_weight": 5}, 4.0, {}, scales_positives=False)
    assert kept == {**same, "scale_pos_weight": 5}
    assert given["lambda"] == 2
    # What a continued booster brings along holds where params are silent, and of two names the last in the alphabet.
    silent = scaled_params.native_params(
        {"alpha": 1, "reg_alpha": 2}, 2.0, {"gamma": "3", "reg_alpha": "9"}, scales_positives=False
    )
    assert silent == {"lambda": 0.5, "alpha": 1.0, "gamma": 1.5, "min_child_weight": 0.5}
    assert scaled_params.steps_of({}) == (0.3, 1)
    assert scaled_params.steps_of({"eta": "0.5", "reg_lambda": 0}) == (0.5, 1)
    assert scaled_params.steps_of({"eta": "0.5", "learning_rate": 0.7, "lambda": "3"}) == (0.7, 3)
    assert scaled_params.steps_of({"min_child_weight": "4", "lambda": 2}) == (0.3, 4)
    defaults = scaled_params.native_params({}, 2.0, {}, scales_positives=False)
    assert defaults == {"lambda": 0.5, "alpha": 0, "gamma": 0, "min_child_weight": 0.5}
    # Afterwards the booster has what was asked for.
    found = {}
    scaled_params.give_back_params(types.SimpleNamespace(set_param=found.update), given, {}, scales_positives=False)
    assert found == {"lambda": 2, "alpha": 0.4, "gamma": 1, "min_child_weight": 1}
    found.clear()
    keeps = types.SimpleNamespace(set_param=found.update)
    scaled_params.give_back_params(keeps, {"scale_pos_weight": 5, **given}, {}, scales_positives=True)
    assert found == {"lambda": 2, "alpha": 0.4, "gamma": 1, "min_child_weight": 1, "scale_pos_weight": 5}


# ---- boosters


def test_the_rounds_that_predict(trained):
    own = trained.copy()
    assert (booster.best_round(own), booster.rounds_in_use(own)) == (None, (0, 0))
    own.set_attr(best_iteration="1")
    assert (booster.best_round(own), booster.rounds_in_use(own)) == (1, (0, 2))
    own.set_attr(best_iteration="9")
    assert booster.rounds_in_use(own) == (0, 4)


def test_classes_that_need_no_names_or_have_none_that_can_be_kept(trained):
    own = trained.copy()
    for plain in (None, np.array([0, 1]), np.array([0.0, 1.0])):
        classes.write_classes(own, np.array(["a", "b"]))
        classes.write_classes(own, plain)
        assert classes.read_classes(own) is None
    with pytest.raises(TypeError, match="strings or numbers"):
        classes.write_classes(own, np.array([(1, 2), "a"], object))


# ---- matrices


def test_queries_travel_with_their_rows():
    whole = xgb.DMatrix(ROWS[:6], LABEL[:6])
    assert matrix.query_of_row(whole) is None
    matrix.set_queries(whole, np.array(list("bbaacc")), np.array([1.0, 1, 2, 2, 3, 3]))
    assert matrix.query_of_row(whole).tolist() == [0, 0, 1, 1, 2, 2]
    assert matrix.can_be_cut(whole)
    assert joined.stacked(whole, np.array([5, 5, 0]), {"tree_method": "exact"}).num_row() == 3
    cut = matrix.slice_rows(whole, np.array([2, 3, 5]))
    assert matrix.query_of_row(cut).tolist() == [0, 0, 1]
    assert cut.get_weight().tolist() == [2, 3]
    assert matrix.slice_rows(whole, np.array([0, 4]), np.array([7.0, 8, 9])).get_weight().tolist() == [7, 9]
    assert matrix.slice_rows(whole, np.array([0]), np.empty(0)).get_weight().size == 0
    other = xgb.DMatrix(ROWS[:6])
    matrix.copy_rows_info(whole, other)
    for item, own in zip(matrix.row_fields(whole).values(), matrix.row_fields(other).values(), strict=True):
        np.testing.assert_array_equal(item, own)
    with pytest.raises(ValueError, match="sample_weight must be equal within a query"):
        matrix.set_queries(whole, np.array([0, 0, 0, 1, 1, 1]), np.arange(6.0))
    alone = xgb.DMatrix(ROWS[:6])
    matrix.set_queries(alone, np.array([0, 0, 1, 1, 1, 1]))
    matrix.copy_queries(xgb.DMatrix(ROWS[:6]), alone)  # has none to give
    emptied = xgb.DMatrix(ROWS[:6])
    emptied.set_group([])
    assert matrix.query_of_row(emptied) is None
    matrix.copy_queries(emptied, alone)
    assert matrix.query_of_row(alone).tolist() == [0, 0, 1, 1, 1, 1]
    assert alone.get_weight().size == 0
    # One query is one.
    item = xgb.DMatrix(ROWS[:6])
    matrix.set_queries(item, np.zeros(6))
    matrix.copy_queries(item, alone)
    assert matrix.query_of_row(alone).tolist() == [0] * 6


def test_a_matrix_can_be_taken_apart_and_put_together():
    names, kinds = ["a", "b", "c"], ["float", "int", "c"]
    table = np.array([[0, 1, 2], [np.nan, 0, 1]], np.float32)
    whole = xgb.DMatrix(
        table,
        [1, 0],
        weight=[2, 3],
        base_margin=[4, 5],
        feature_names=names,
        feature_types=kinds,
        enable_categorical=True,
    )
    frozen = joined.freeze(whole)
    assert set(frozen) == {"data", "feature_names", "feature_types", "label", "weight", "base_margin"}
    again = xgb.DMatrix(**{**frozen, "enable_categorical": True})
    assert (again.feature_names, again.feature_types) == (names, kinds)
    for item, own in zip(matrix.row_fields(whole).values(), matrix.row_fields(again).values(), strict=True):
        np.testing.assert_array_equal(item, own)
    assert again.num_nonmissing() == 5
    assert "weight" not in joined.freeze(xgb.DMatrix(table))


def test_rows_without_values():
    whole = xgb.DMatrix(np.array([[1, np.nan, np.nan], [np.nan] * 3, [1, 0, np.nan]]), feature_names=["a", "b", "c"])
    assert matrix.rows_without_values(whole).tolist() == [False, True, False]
    assert matrix.rows_without_values(whole, ["a"]).tolist() == [True, True, False]
    assert matrix.rows_without_values(whole, ["a", "b", "c"]).tolist() == [False] * 3
    assert matrix.rows_without_values(xgb.DMatrix(np.array([[np.nan], [1.0]]))).tolist() == [True, False]
    assert matrix.rows_without_values(xgb.DMatrix(np.ones((2, 2)))).tolist() == [False, False]


def test_a_table_becomes_a_matrix_whose_categories_are_told_apart():
    table = pd.DataFrame({"n": [1.0, 2, 3], "k": pd.Categorical(["ä", "ö", None]), "t": pd.Categorical(list("aba"))})
    made = categories.matrix_of(table, [0, 1, 0], weight=[1, 2, 3])
    assert made.feature_types == ["float", "c", "c"]
    assert made.get_data().toarray()[:, 1].tolist() == [0, 1, 0]
    assert made.num_nonmissing() == 8
    assert made.get_weight().tolist() == [1, 2, 3]
    assert table["k"].dtype == "category"
    in_pieces = [
        categories.kept_in_pieces(xgb.train({"max_depth": 1, "nthread": 1}, item, 1))
        for item in (made, xgb.DMatrix(table, [0, 1, 0], enable_categorical=True))
    ]
    assert in_pieces == [[], [] if categories.SPELLS_ALL else ["k"]]
    # The first of the ASCII characters, which XGBoost takes from Arrow only.
    arrow = pa.table({"n": [1.0, 2, 3], "k": pa.array(["\0a", "b", "\0a"]).dictionary_encode()})
    model = xgb.train({"max_depth": 1, "nthread": 1}, xgb.DMatrix(arrow, [0, 1, 0], enable_categorical=True), 1)
    assert categories.kept_in_pieces(model) == []


@pytest.mark.parametrize("names", [["n", "k"], ["n", "k", "t"], ["n", "t"]])
def test_categories_that_xgboost_cannot_spell_are_kept_beside_it(names):
    odd = pd.Series(["ä", "\ud800", "ä"], dtype=object)  # half a character, which pandas' own text does not hold
    table = pd.DataFrame({"n": [1.0, 2, 3], "k": pd.Categorical(odd), "t": pd.Categorical(list("aba"))})
    model = xgb.train({"max_depth": 1, "nthread": 1}, categories.matrix_of(table[names], [0, 1, 0]), 1)
    own = {name: table[name].cat.categories for name in names[1:]}
    categories.write_categories(model, own)
    found = categories.categories_of_model(model)
    assert {name: kept.tolist() for name, kept in found.items()} == {name: list(kept) for name, kept in own.items()}
    assert model.attr("pi_xgb_categories") == (None if names == ["n", "t"] else '{"k": ["\\u00e4", "\\ud800"]}')


# ---- rows several times, with the cuts of all


@pytest.mark.parametrize("kind", ["numbers", "numbers of categories", "categories"])
def test_a_stack_of_every_row_once_is_the_matrix(kind):
    codes = np.arange(40) * 7 % 5
    label = (codes % 2 == 0) ^ (ROWS[:, 0] > 0.7)
    shown = np.where(codes < 4, codes, np.nan)
    table = pd.DataFrame({"a": ROWS[:, 0], "kind": shown})
    types = {"feature_types": ["float", "c"]} if kind == "numbers of categories" else {}
    if kind == "categories":
        table["kind"] = pd.Categorical.from_codes(np.where(codes < 4, codes, -1), list("dbca"))
    whole = xgb.DMatrix(table, label, enable_categorical=True, **types)
    params = {**PARAMS, "max_depth": 3, "max_bin": 3, "max_cat_to_onehot": 1}
    again = joined.stacked(whole, np.arange(40), params)
    again.set_label(label)
    models = [xgb.train(params, item, 3) for item in (again, whole)]
    assert models[0].get_dump() == models[1].get_dump()
    assert "kind" in models[0].get_dump()[0]


def test_a_column_whose_categories_came_in_pieces_is_named():
    whole = xgb.DMatrix(pd.DataFrame({"town": pd.Categorical(["日本", "中国"])}), [0, 1], enable_categorical=True)
    if categories.SPELLS_ALL:
        assert joined.stacked(whole, np.array([1, 0, 1]), PARAMS).num_row() == 3
        return
    with pytest.raises(ValueError, match=r"categories.*'town'.*ASCII"):
        joined.stacked(whole, np.array([1, 0, 1]), PARAMS)


# ---- trees


def test_leaves_are_those_of_prediction(trained):
    dtest = xgb.DMatrix(ROWS)
    model = trees.read_trees(trained)
    assert (model.n_rounds, model.n_outputs, model.is_multiclass, model.objective) == (4, 1, False, "binary:logistic")
    forest, leaves = trees.forest_with_leaves(trained, model, dtest, 1, 4)
    expected = trained.predict(dtest, pred_leaf=True)[:, 1:]
    np.testing.assert_array_equal(leaves, expected)
    value = np.random.default_rng(0).random(40)
    weight, total = trees.sum_rows(forest, leaves, lambda _: (np.arange(40) % 2, value, value), 2)
    assert forest.n_nodes == len(weight) == len(total)
    for tree, first in enumerate(forest.first[:-1]):
        assert weight[first].tolist() == pytest.approx([value[::2].sum(), value[1::2].sum()])
        assert total[first] == pytest.approx(value.sum())
        leaf = first + int(leaves[0, tree])
        assert total[leaf] == pytest.approx(value[leaves[:, tree] == leaves[0, tree]].sum())


# ---- model files


def test_models_are_read_or_named(trained, tmp_path):
    file = tmp_path / "model.ubj"
    trained.save_model(file)
    content = file.read_bytes()
    assert booster.load_booster(file).save_raw() == trained.save_raw()
    file.write_bytes(content[:-1])
    with pytest.raises(ValueError, match=r"damaged.*XGBoost.*changed"):
        booster.load_booster(file)
    file.with_suffix(".JSON").write_bytes(content)
    file.write_bytes(b"nothing")
    for name in (file, file.with_suffix(".JSON")):
        with pytest.raises(ValueError, match=r"not a model.*XGBoost"):
            booster.load_booster(name)
    with pytest.raises(IsADirectoryError, match="Is a directory"):
        booster.load_booster(tmp_path)


# ---- functions and their keywords


def like(a, b, *, c=1, d=2):
    """In the place of XGBoost's."""


@signature.called_like(like)
def ours(a, b, *, teacher=None, d=0, c=0):
    return a, b, teacher, c, d


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("alpha", r"alpha.*paper.*kl_weight"),
        ("feval", "feval.*custom_metric"),
        ("resume", r"resume.*pi_xgb\.select"),
        ("teachr", "did you mean 'teacher'"),
        ("labelled", r"labelled.*pi_xgb\.train"),
        ("max_depth", "pass .* in params"),
        ("teaching", "pass .* in params"),  # not near enough to be meant
    ],
)
def test_an_unknown_keyword_is_told_where_it_belongs(name, words):
    with pytest.raises(TypeError, match=words):
        ours(1, 2, **{name: 3})


def test_evaluation_matrices_have_the_cuts_of_the_training(trained):
    dtrain = xgb.QuantileDMatrix(ROWS, LABEL)
    stand_in = xgb.QuantileDMatrix(ROWS, LABEL, ref=dtrain)
    train = rebind.train_in_place_of(dtrain)
    fine = [(dtrain, "a"), (xgb.QuantileDMatrix(ROWS, LABEL, ref=dtrain), "b"), (xgb.DMatrix(ROWS, LABEL), "c")]
    log = {}
    train(PARAMS, stand_in, 2, evals=fine, evals_result=log, verbose_eval=False)
    assert list(log) == ["a", "b", "c"]
    with pytest.raises(ValueError, match=r"evaluation.*'d'.*cuts"):
        train(PARAMS, stand_in, 2, evals=[*fine, (xgb.QuantileDMatrix(ROWS, LABEL), "d")])


def test_a_warning_points_at_the_very_line_that_called():
    above = inspect.currentframe().f_lineno
    with pytest.warns(UserWarning, match="look here") as found:
        warn_user("look here")
    assert (found[0].filename, found[0].lineno) == (__file__, above + 2)


# ---- one training at a time


def test_a_matrix_that_is_held_is_waited_for_and_others_are_not():
    held, other = xgb.DMatrix(ROWS, LABEL), xgb.DMatrix(ROWS, LABEL)
    entered = {"held": threading.Event(), "other": threading.Event()}

    def enter(name, *matrices):
        with matrix.exclusive(*matrices):
            entered[name].set()

    with matrix.exclusive(held, None), matrix.exclusive(held):  # its own training may hold it again
        waiting = [threading.Thread(target=enter, args=("held", other, held))]
        waiting += [threading.Thread(target=enter, args=("other", xgb.DMatrix(ROWS, LABEL)))]
        for thread in waiting:
            thread.start()
        assert entered["other"].wait(5)
        assert not entered["held"].wait(0.05)
    assert entered["held"].wait(5)
    for thread in waiting:
        thread.join()
