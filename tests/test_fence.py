"""The fence around XGBoost, piece by piece: params, boosters, matrices, trees, model files, signatures."""

from __future__ import annotations

import contextlib
import inspect
import itertools
import json
import os
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
    matrix,
    params,
    rebind,
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


def test_cores_that_this_process_may_use(monkeypatch):
    requested = []
    monkeypatch.setattr(os, "sched_getaffinity", lambda process: requested.append(process) or {1, 5, 6}, raising=False)
    assert threads.usable_cores() == 3
    assert requested == [0]  # itself
    monkeypatch.delattr(os, "sched_getaffinity")
    for count, expected in ((4, 4), (None, 1)):
        monkeypatch.setattr(os, "cpu_count", lambda count=count: count)
        assert threads.usable_cores() == expected


def test_what_params_say_of_objectives_and_classes():
    assert params.objective_name({}) == params.objective_name({"num_class": 1}) == "reg:squarederror"
    assert params.objective_name({"num_class": "2"}) == "multi:softmax"
    assert params.objective_name({"num_class": 3, "objective": "x"}) == "x"
    assert [params.number_of_classes(item) for item in ({}, {"num_class": None}, {"num_class": "4"})] == [0, 0, 4]
    assert [params.check_scale_pos_weight(item) for item in (1, "0", 2.5)] == [1, 0, 2.5]
    for wrong in (-1.0, np.inf, np.nan, "a", None):
        with pytest.raises(ValueError if isinstance(wrong, float) else TypeError, match="scale_pos_weight must be"):
            params.check_scale_pos_weight(wrong)


def test_params_for_a_gradient_that_is_a_multiple():
    given = {"lambda": 2, "alpha": 0.4, "min_split_loss": 1, "eta": 0.1, "max_delta_step": 0.7, "max_depth": 3}
    same = params.native_params(given, 4.0, {}, scales_positives=False)
    assert same == {
        **{"lambda": 0.5, "alpha": 0.1, "gamma": 0.25, "min_child_weight": 0.25},
        **{"eta": 0.1, "max_delta_step": 0.7, "max_depth": 3},
    }
    # XGBoost would apply it to labels of exactly 1; the weights of the rows contain it.
    assert params.native_params({**given, "scale_pos_weight": 5}, 4.0, {}, scales_positives=True) == {
        **same,
        "scale_pos_weight": 1,
    }
    kept = params.native_params({**given, "scale_pos_weight": 5}, 4.0, {}, scales_positives=False)
    assert kept == {**same, "scale_pos_weight": 5}
    assert given["lambda"] == 2
    # What a continued booster brings along holds where params are silent, and of two names the last in the alphabet.
    silent = params.native_params(
        {"alpha": 1, "reg_alpha": 2}, 2.0, {"gamma": "3", "reg_alpha": "9"}, scales_positives=False
    )
    assert silent == {"lambda": 0.5, "alpha": 1.0, "gamma": 1.5, "min_child_weight": 0.5}
    assert params.steps_of({}) == (0.3, 1)
    assert params.steps_of({"eta": "0.5", "reg_lambda": 0}) == (0.5, 1)
    assert params.steps_of({"eta": "0.5", "learning_rate": 0.7, "lambda": "3"}) == (0.7, 3)
    assert params.steps_of({"min_child_weight": "4", "lambda": 2}) == (0.3, 4)
    defaults = params.native_params({}, 2.0, {}, scales_positives=False)
    assert defaults == {"lambda": 0.5, "alpha": 0, "gamma": 0, "min_child_weight": 0.5}
    # Afterwards the booster has what was asked for.
    found = {}
    params.give_back_params(types.SimpleNamespace(set_param=found.update), given, {}, scales_positives=False)
    assert found == {"lambda": 2, "alpha": 0.4, "gamma": 1, "min_child_weight": 1}
    found.clear()
    keeps = types.SimpleNamespace(set_param=found.update)
    params.give_back_params(keeps, {"scale_pos_weight": 5, **given}, {}, scales_positives=True)
    assert found == {"lambda": 2, "alpha": 0.4, "gamma": 1, "min_child_weight": 1, "scale_pos_weight": 5}


def test_what_a_continued_model_brings_along(trained, tmp_path):
    file = tmp_path / "model.ubj"
    trained.save_model(file)
    assert params.carried_objective_params(None) == {}
    assert params.carried_objective_params(trained) == params.carried_objective_params(file) != {}
    assert float(params.carried_params(trained)["eta"]) == 0.25
    assert params.carried_params(file) == params.carried_params(None) == {}
    dart = xgb.train({"booster": "dart", "eta": 0.125, "nthread": 1}, xgb.DMatrix(ROWS, LABEL), 1)
    assert float(params.carried_params(dart)["eta"]) == 0.125


# ---- boosters


def test_the_rounds_that_predict(trained):
    own = trained.copy()
    assert (booster.best_round(own), booster.rounds_in_use(own)) == (None, (0, 0))
    own.set_attr(best_iteration="1")
    assert (booster.best_round(own), booster.rounds_in_use(own)) == (1, (0, 2))
    own.set_attr(best_iteration="9")
    assert booster.rounds_in_use(own) == (0, 4)
    own.set_attr(best_iteration="-1")
    with pytest.raises(ValueError, match=r"best_iteration.*'-1'"):
        booster.best_round(own)


def test_the_configuration_of_a_booster(trained):
    found = booster.configuration_of(trained)
    assert (found.objective, found.kind, found.n_classes) == ("binary:logistic", "gbtree", 0)
    assert found.settings["max_depth"] == "2"
    assert found.objective_params == {"scale_pos_weight": "1"}
    assert {"seed", "device", "scale_pos_weight"} <= set(found.settings)
    assert not {"learning_rate", "name", "nthread", "num_feature", "updater_seq"} & set(found.settings)
    assert float(found.settings["eta"]) == 0.25
    dtrain = xgb.DMatrix(ROWS, LABEL)
    linear = xgb.Booster({"booster": "gblinear", "eta": 0.125, "nthread": 1}, [dtrain])
    linear.update(dtrain, 0)
    assert float(booster.configuration_of(linear).settings["eta"]) == 0.125


@pytest.mark.parametrize("names", [["b", "a"], [0, 2], [False, True], [0.5, 1.0], [1, 0]])
def test_classes_are_kept_in_a_booster(trained, names):
    own = trained.copy()
    with classes.with_classes(own, np.array(names)):
        kept = classes.read_classes(own)
        assert kept.tolist() == names
        assert kept.dtype == np.array(names).dtype
    assert classes.read_classes(own) is None
    assert own.attributes() == trained.attributes()


def test_classes_that_need_no_names_or_have_none_that_can_be_kept(trained):
    own = trained.copy()
    for plain in (None, np.array([0, 1]), np.array([0.0, 1.0])):
        classes.write_classes(own, np.array(["a", "b"]))
        classes.write_classes(own, plain)
        assert classes.read_classes(own) is None
    with pytest.raises(TypeError, match="strings, numbers or truth values"):
        classes.write_classes(own, np.array([(1, 2), "a"], object))
    with pytest.raises(KeyError), classes.with_classes(own, np.array(["a", "b"])):
        raise KeyError
    assert classes.read_classes(own) is None
    for written in (
        "{",
        json.dumps({"values": ["a", "b"]}),
        json.dumps(["a"]),
        json.dumps({"values": 1, "dtype": "?x"}),
    ):
        own.set_attr(pi_xgb_classes=written)
        with pytest.raises(ValueError, match=r"damaged"):
            classes.read_classes(own)
    for names in (["a", "b", "c"], ["a", "a"], ["a"]):
        own.set_attr(pi_xgb_classes=json.dumps({"values": names, "dtype": "<U1"}))
        with pytest.raises(ValueError, match=r"model.*2 classes"):
            classes.read_classes(own)


# ---- matrices


def test_runs_of_equal_values():
    lengths, first = matrix.runs(np.array([4, 4, 1, 4, 4, 4]))
    assert (lengths.tolist(), first.tolist()) == ([2, 1, 3], [0, 2, 3])


def test_queries_travel_with_their_rows():
    whole = xgb.DMatrix(ROWS[:6], LABEL[:6])
    assert matrix.query_of_row(whole) is None
    matrix.set_queries(whole, np.array(list("bbaacc")), np.array([1.0, 1, 2, 2, 3, 3]))
    assert matrix.query_of_row(whole).tolist() == [0, 0, 1, 1, 2, 2]
    assert matrix.can_be_cut(whole)
    assert matrix.stacked(whole, np.array([5, 5, 0]), {"tree_method": "exact"}).num_row() == 3
    cut = matrix.slice_rows(whole, np.array([2, 3, 5]))
    assert matrix.query_of_row(cut).tolist() == [0, 0, 1]
    assert cut.get_weight().tolist() == [2, 3]
    assert matrix.slice_rows(whole, np.array([0, 4]), np.array([7.0, 8, 9])).get_weight().tolist() == [7, 9]
    assert matrix.slice_rows(whole, np.array([0]), np.empty(0)).get_weight().size == 0
    other = xgb.DMatrix(ROWS[:6])
    matrix.copy_rows_info(whole, other)
    for item, own in zip(matrix.row_fields(whole), matrix.row_fields(other), strict=True):
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


def test_rows_of_a_matrix_without_queries():
    whole = xgb.DMatrix(ROWS, LABEL, weight=np.arange(40.0))
    rows = np.array([3, 1])
    assert matrix.slice_rows(whole, rows).get_weight().tolist() == [3, 1]
    assert matrix.slice_rows(whole, rows, 10 - np.arange(40.0).clip(0, 9)).get_weight().tolist() == [7, 9]
    assert matrix.can_be_cut(whole)
    quantised = xgb.QuantileDMatrix(ROWS, LABEL)
    assert not matrix.can_be_cut(quantised)
    for use in (lambda: matrix.slice_rows(quantised, rows), lambda: matrix.freeze(quantised)):
        with pytest.raises(TypeError, match="a QuantileDMatrix"):
            use()


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
    frozen = matrix.freeze(whole)
    assert set(frozen) == {"data", "feature_names", "feature_types", "label", "weight", "base_margin"}
    again = xgb.DMatrix(**{**frozen, "enable_categorical": True})
    assert (again.feature_names, again.feature_types) == (names, kinds)
    for item, own in zip(matrix.row_fields(whole), matrix.row_fields(again), strict=True):
        np.testing.assert_array_equal(item, own)
    assert again.num_nonmissing() == 5
    assert "weight" not in matrix.freeze(xgb.DMatrix(table))


def test_features_of_two_matrices_side_by_side():
    kinds = {"feature_types": ["c", "float"], "enable_categorical": True}
    left = xgb.DMatrix(np.array([[0, np.nan], [1, 2]]), [1, 0], weight=[3, 4], **kinds)
    right = xgb.DMatrix(np.array([[0.0], [5.0]]), base_margin=[0.5, 1.5], feature_names=["u"], feature_types=["int"])
    both = matrix.side_by_side(left, right)
    assert both.feature_names == ["0", "1", "u"]
    assert matrix.side_by_side(right, right).feature_names == ["x:u", "z:u"]
    assert both.feature_types == ["c", "float", "int"]
    assert matrix.side_by_side(xgb.DMatrix(ROWS), right.slice([0] * 40)).feature_types == ["float"] * 3 + ["int"]
    assert both.num_nonmissing() == 5
    assert both.get_data().toarray().tolist() == [[0, 0, 0], [1, 2, 5]]
    assert [part.tolist() for part in (both.get_label(), both.get_weight(), both.get_base_margin())] == [
        [1, 0],
        [3, 4],
        [0.5, 1.5],
    ]


def test_rows_without_values():
    whole = xgb.DMatrix(np.array([[1, np.nan, np.nan], [np.nan] * 3, [1, 0, np.nan]]), feature_names=["a", "b", "c"])
    assert matrix.rows_without_values(whole).tolist() == [False, True, False]
    assert matrix.rows_without_values(whole, ["a"]).tolist() == [True, True, False]
    assert matrix.rows_without_values(whole, ["a", "b", "c"]).tolist() == [False] * 3
    assert matrix.rows_without_values(xgb.DMatrix(np.array([[np.nan], [1.0]]))).tolist() == [True, False]
    assert matrix.rows_without_values(xgb.DMatrix(np.ones((2, 2)))).tolist() == [False, False]


def test_labels_and_weights_are_restored():
    whole = xgb.DMatrix(ROWS, LABEL, weight=np.arange(40.0))
    with contextlib.suppress(KeyError), matrix.restored(whole):
        whole.set_label(1 - LABEL)
        whole.set_weight(np.ones(40))
        raise KeyError
    np.testing.assert_array_equal(whole.get_label(), LABEL)
    assert whole.get_weight().tolist() == list(range(40))


def test_a_table_becomes_a_matrix_whose_categories_are_told_apart():
    table = pd.DataFrame({"n": [1.0, 2, 3], "k": pd.Categorical(["ä", "ö", None]), "t": pd.Categorical(list("aba"))})
    made = matrix.matrix_of(table, [0, 1, 0], weight=[1, 2, 3])
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


def test_a_table_is_not_copied_for_its_matrix(monkeypatch):
    table = pd.DataFrame({"a": np.ones(3), "b": np.ones(3, np.float32)})
    monkeypatch.setattr(xgb, "DMatrix", lambda data, *_, **__: data)
    read = matrix.matrix_of(table)
    assert all(np.shares_memory(read[name].to_numpy(), table[name].to_numpy()) for name in table)


@pytest.mark.parametrize("names", [["n", "k"], ["n", "k", "t"], ["n", "t"]])
def test_categories_that_xgboost_cannot_spell_are_kept_beside_it(names):
    odd = pd.Series(["ä", "\ud800", "ä"], dtype=object)  # half a character, which pandas' own text does not hold
    table = pd.DataFrame({"n": [1.0, 2, 3], "k": pd.Categorical(odd), "t": pd.Categorical(list("aba"))})
    model = xgb.train({"max_depth": 1, "nthread": 1}, matrix.matrix_of(table[names], [0, 1, 0]), 1)
    own = {name: table[name].cat.categories for name in names[1:]}
    categories.write_categories(model, own)
    found = categories.categories_of_model(model)
    assert {name: kept.tolist() for name, kept in found.items()} == {name: list(kept) for name, kept in own.items()}
    assert model.attr("pi_xgb_categories") == (None if names == ["n", "t"] else '{"k": ["\\u00e4", "\\ud800"]}')
    for damaged in ("{", "[]", '{"k": "ab"}'):
        model.set_attr(pi_xgb_categories=damaged)
        with pytest.raises(ValueError, match=r"categories.*model.*damaged"):
            categories.categories_of_model(model)


def test_a_matrix_without_rows_has_no_categories():
    empty = xgb.DMatrix(np.empty((0, 2)), feature_types=["c", "q"], enable_categorical=True)
    assert categories.encoded_categories(empty) == []


def test_neither_labels_nor_margins_are_needed_to_read_categories():
    table = pd.DataFrame({"n": [1.0, 2], "k": pd.Categorical(["b", "a"])})
    for more in ({}, {"base_margin": np.ones((2, 3))}, {"label": [[1, 2], [3, 4]]}):
        _, encoded = categories.encoded_categories(xgb.DMatrix(table, enable_categorical=True, **more))
        assert categories.decoded_categories(encoded, "k").tolist() == ["a", "b"]


def test_labels_have_a_column_for_each_target():
    assert matrix.labels_of(xgb.DMatrix(ROWS, LABEL)).shape == (40,)
    assert matrix.labels_of(xgb.DMatrix(ROWS, np.stack([LABEL, LABEL], axis=1))).shape == (40, 2)
    bounded = xgb.DMatrix(ROWS)
    bounded.set_info(label_lower_bound=LABEL, label_upper_bound=LABEL + 1)
    other = xgb.DMatrix(ROWS)
    matrix.copy_rows_info(bounded, other)
    for whole in (bounded, other):
        found = matrix.row_fields(whole)
        assert [part.size for part in found] == [0, 40, 40, 0, 0, 0]
        np.testing.assert_array_equal(found[2] - found[1], np.ones(40))


# ---- rows several times, with the cuts of all


def test_stacked_rows_have_margins_column_weights_and_cuts(monkeypatch):
    monkeypatch.setattr(matrix, "_BATCH", 7)
    whole = xgb.DMatrix(ROWS, LABEL, base_margin=np.arange(40.0), feature_names=["a", "b", "c"])
    whole.set_info(feature_weights=[1, 2, 3])
    rows = np.array([*range(40), 5, 5, 7])
    for tree_method, kind in (("hist", xgb.QuantileDMatrix), ("exact", xgb.DMatrix)):
        made = matrix.stacked(whole, rows, {**PARAMS, "tree_method": tree_method})
        assert type(made) is kind
        assert made.feature_names == whole.feature_names
        assert made.get_base_margin().tolist() == rows.tolist()
        assert made.get_float_info("feature_weights").tolist() == [1, 2, 3]
        assert made.num_row() == 43
    plain = matrix.stacked(xgb.DMatrix(ROWS, LABEL), rows, PARAMS)
    assert plain.get_base_margin().size == plain.get_float_info("feature_weights").size == 0
    quantised = xgb.QuantileDMatrix(ROWS, LABEL)
    for item, found, expected in (
        (whole, {}, True),
        (whole, {"tree_method": "hist"}, True),
        (whole, {"tree_method": "approx"}, False),
        (whole, {"tree_method": "exact"}, False),
        (whole, {"booster": "gblinear"}, False),
        (whole, {"booster": "dart"}, True),
        (quantised, {"tree_method": "approx"}, True),
    ):
        assert matrix.grows_by_cuts(item, found) is expected
    assert matrix.can_be_stacked(whole)
    assert matrix.can_be_stacked(quantised)


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
    again = matrix.stacked(whole, np.arange(40), params)
    again.set_label(label)
    models = [xgb.train(params, item, 3) for item in (again, whole)]
    assert models[0].get_dump() == models[1].get_dump()
    assert "kind" in models[0].get_dump()[0]


def test_a_column_whose_categories_came_in_pieces_is_named():
    whole = xgb.DMatrix(pd.DataFrame({"town": pd.Categorical(["日本", "中国"])}), [0, 1], enable_categorical=True)
    if categories.SPELLS_ALL:
        assert matrix.stacked(whole, np.array([1, 0, 1]), PARAMS).num_row() == 3
        return
    with pytest.raises(ValueError, match=r"categories.*'town'.*ASCII"):
        matrix.stacked(whole, np.array([1, 0, 1]), PARAMS)


# ---- trees


def test_passes_over_many_trees_take_no_more_than_they_may():
    rounds = [0, 2, 4, 9, 10, 12]
    for most in range(1, 14):
        for begin, end in ((0, 5), (1, 4), (2, 3)):
            cuts = trees._cuts(rounds, begin, end, most)
            assert (cuts[0], cuts[-1]) == (begin, end)
            for start, stop in itertools.pairwise(cuts):
                assert rounds[stop] - rounds[start] <= most or stop - start == 1
                assert stop == end or rounds[stop + 1] - rounds[start] > most  # as many as it may
    assert trees._cuts(rounds, 2, 2, 5) == []


@pytest.mark.parametrize("most", [1, 80, 10**6])
def test_leaves_are_those_of_prediction_in_however_many_passes(monkeypatch, trained, most):
    monkeypatch.setattr(trees, "MAX_LEAF_IDS", most)
    dtest = xgb.DMatrix(ROWS)
    model = trees.read_trees(trained)
    assert (model.n_rounds, model.n_outputs, model.is_multiclass, model.objective) == (4, 1, False, "binary:logistic")
    assert model.categories is None
    passes = list(trees.forests_with_leaves(trained, model, dtest, 1, 4))
    assert len(passes) == {1: 3, 80: 2, 10**6: 1}[most]
    expected = trained.predict(dtest, pred_leaf=True)[:, 1:]
    np.testing.assert_array_equal(np.hstack([leaves for _, leaves in passes]), expected)
    value = np.random.default_rng(0).random(40)
    for forest, leaves in passes:
        weight, total = trees.sum_rows(forest, leaves, lambda _: trees.RowSums(np.arange(40) % 2, value, value), 2)
        assert forest.n_nodes == len(weight) == len(total)
        for tree, first in enumerate(forest.first[:-1]):
            assert weight[first].tolist() == pytest.approx([value[::2].sum(), value[1::2].sum()])
            assert total[first] == pytest.approx(value.sum())
            leaf = first + int(leaves[0, tree])
            assert total[leaf] == pytest.approx(value[leaves[:, tree] == leaves[0, tree]].sum())


@pytest.mark.parametrize("row", range(0, 40, 8))
def test_nodes_that_no_row_passes_have_sums_of_0(trained, row):
    alone, model = xgb.DMatrix(ROWS[row : row + 1]), trees.read_trees(trained)
    ((forest, leaves),) = trees.forests_with_leaves(trained, model, alone, 0, 4)
    own = trees.RowSums(np.zeros(1, int), np.array([2.0]), np.array([3.0]))
    weight, total = trees.sum_rows(forest, leaves, lambda _: own, 1)
    passed = np.flatnonzero(weight[:, 0])
    np.testing.assert_array_equal(total, 1.5 * weight[:, 0])
    assert set(weight[passed, 0]) == {2.0}
    assert np.isin(forest.first[:-1], passed).all()
    assert (forest.left[passed] < 0).sum() == 4  # a leaf of each tree


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
    with pytest.raises(IsADirectoryError, match="is a folder"):
        booster.load_booster(tmp_path)


# ---- functions and their keywords


def like(a, b, *, c=1, d=2):
    """In the place of XGBoost's."""


@signature.called_like(like)
def ours(a, b, *, teacher=None, d=0, c=0):
    return a, b, teacher, c, d


def test_keywords_by_position_are_those_of_the_original():
    assert ours(1, 2, c=3) == (1, 2, None, 3, 0)
    with pytest.warns(FutureWarning, match=r"`c, d`.*keyword") as found:
        assert ours(1, 2, 3, 4) == (1, 2, None, 3, 4)
    assert found[0].filename == __file__
    with pytest.raises(TypeError, match="takes 2 positional"):
        ours(1, 2, 3, 4, 5)
    with pytest.raises(TypeError, match=r"got c .*position.*keyword"):
        ours(1, 2, 3, c=3)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("alpha", r"alpha.*paper.*kl_weight"),
        ("feval", "feval.*custom_metric"),
        ("teachr", "did you mean 'teacher'"),
        ("labelled", r"labelled.*pi_xgb\.train"),
        ("max_depth", "pass .* in params"),
        ("teaching", "pass .* in params"),  # not near enough to be meant
    ],
)
def test_an_unknown_keyword_is_told_where_it_belongs(name, words):
    with pytest.raises(TypeError, match=words):
        ours(1, 2, **{name: 3})


def test_a_misspelt_parameter_of_an_estimator():
    class Model:
        @signature.called_like(like)
        def fit(self, a, *, c=0):
            return c

        @signature.called_like(like)
        def any(self, **more):
            return more

    assert Model().any(max_depth=3) == {"max_depth": 3}
    with pytest.raises(TypeError, match=r"constructor.*set_params\(max_depth=\.\.\.\)"):
        Model().fit(1, max_depth=3)
    # What XGBoost's estimators name is theirs, however near it is to one of ours.
    assert signature.warn_of_misspelt("Model", ["max_depth", "unheard_of"], ["kl_weight", "max_depths"]) is None
    with pytest.warns(UserWarning, match=r"Model.*'kl_wieght'.*'kl_weight'"):
        signature.warn_of_misspelt("Model", ["max_depth", "kl_wieght"], ["kl_weight"])


def calls(value, *, more=1):
    return (lambda: float(value) + more)()


def test_a_borrowed_function_calls_something_else_by_the_same_name():
    assert rebind.rebind(calls, float=lambda value: 10)("x") == 11
    assert rebind.rebind(calls, float=lambda value: 10)("x", more=2) == 12
    assert calls("3") == 4
    with pytest.raises(RuntimeError, match=r"calls.*XGBoost.*int, nothing"):
        rebind.rebind(calls, float=float, nothing=1, int=1)


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
