"""``pi_xgb.spark`` on a local Spark of two tasks; test_clusters.py has the models."""

import importlib
import sys

import numpy as np
import pytest
import xgboost as xgb
from helpers_distributed import N_ROWS
from helpers_spark import (
    BINARY,
    MARKS,
    PARAMS,
    ROUNDS,
    SETTINGS,
    TABLE,
    X_NAMES,
    Z_NAMES,
    dying,
    on_one_machine,
    outcome,
    started,
    trees,
)

import pi_xgb

pytestmark = [*MARKS, pytest.mark.slow]

pis = importlib.import_module("pi_xgb.spark")


@pytest.fixture(scope="module")
def spark(tmp_path_factory):
    session = started("local[2]", tmp_path_factory)
    yield session
    session.stop()


@pytest.fixture(scope="module")
def frame(spark):
    """The table in two partitions: its first half and its second, in order."""
    return spark.createDataFrame(TABLE)


@pytest.fixture(scope="module")
def vectors(frame):
    from pyspark.ml import Pipeline
    from pyspark.ml.feature import VectorAssembler

    stages = [VectorAssembler(inputCols=X_NAMES, outputCol="x"), VectorAssembler(inputCols=Z_NAMES, outputCol="z")]
    return Pipeline(stages=stages).fit(frame).transform(frame)


@pytest.fixture(scope="module")
def weighted(frame):
    return pis.PrivilegedSparkXGBClassifier(**SETTINGS, weight_col="weight").fit(frame)


@pytest.mark.parametrize("own", [{"method": "jpib"}, {"teacher": "boosted", "engine": "native"}])
def test_sparse_vectors_in_a_pipeline_give_the_trees_of_one_machine(vectors, own):
    from pyspark.ml import Pipeline

    estimator = pis.PrivilegedSparkXGBClassifier(
        **{**SETTINGS, "features_col": "x", "privileged_cols": "z"}, **own, missing=0.0, enable_sparse_data_optim=True
    )
    fitted = Pipeline(stages=[estimator]).fit(vectors)
    model = fitted.stages[-1]
    alone = on_one_machine(BINARY, "y", missing=0.0, **own)
    assert trees(model.get_booster()) == trees(renamed(alone))
    # The native engine cannot evaluate the rows whose labels it replaces.
    is_native = "engine" in own
    assert model.get_booster().attr("pi_xgb_engine") == ("native" if is_native else "callback")
    assert (model.training_summary.train_objective_history == {}) == is_native
    # The fitted pipeline reads features only.
    assert fitted.transform(vectors.drop("z", *Z_NAMES)).count() == N_ROWS


def renamed(booster):
    """The same booster, its features called what XGBoost calls those of a vector."""
    copied = booster.copy()
    copied.feature_names = [f"f{i}" for i in range(len(X_NAMES))]
    return copied


def test_a_regressor_whose_teacher_sees_a_feature_and_has_params_of_its_own(frame):
    names = [*Z_NAMES, "x0"]
    settings = {**SETTINGS, "label_col": "amount", "privileged_cols": names, "teacher": "boosted"}
    own = {"max_depth": 2, "tree_method": "hist", "max_bin": 64, "monotone_constraints": {"z0": 1}}
    model = pis.PrivilegedSparkXGBRegressor(**settings, allow_overlap=True, teacher_params=own).fit(frame)
    params, how = {**PARAMS, "objective": "reg:squarederror"}, {"teacher": "boosted", "allow_overlap": True}
    alone = on_one_machine(params, "amount", z_names=names, teacher_params=own, **how)
    # The teacher's params are read, and its columns keep their names among themselves.
    assert trees(model.get_booster()) == trees(alone)
    assert trees(alone) != trees(on_one_machine(params, "amount", z_names=names, **how))


def test_several_classes_and_missing_privileged_values(spark):
    gaps = TABLE.copy()
    gaps.loc[::5, "z1"] = np.nan
    columns = [*X_NAMES, *Z_NAMES, "kind"]
    # None is null in Spark, as missing values mostly are there.
    lines = [[None if isinstance(v, float) and np.isnan(v) else v for v in line] for line in gaps[columns].to_numpy()]
    lines = [[None if v is None else float(v) for v in line] for line in lines]
    holed = spark.createDataFrame(lines, ", ".join(f"{name} double" for name in columns))
    model = pis.PrivilegedSparkXGBClassifier(**{**SETTINGS, "label_col": "kind"}, method="jpib").fit(holed)
    params = {**PARAMS, "objective": "multi:softprob", "num_class": 3}
    # Null is a missing value to the teacher.
    assert trees(model.get_booster()) == trees(on_one_machine(params, "kind", gaps, method="jpib"))


def test_validation_rows_stop_student_and_teacher(frame):
    settings = {**SETTINGS, "n_estimators": 60, "max_depth": 6, "teacher": "boosted", "kl_weight": 0.5}
    model = pis.PrivilegedSparkXGBClassifier(
        **settings, validation_indicator_col="held_out", early_stopping_rounds=3, eval_metric="logloss"
    ).fit(frame)
    parts = {kept: TABLE[TABLE["held_out"] != kept] for kept in (True, False)}
    x, z = ({kept: xgb.DMatrix(part[names], part["y"]) for kept, part in parts.items()} for names in (X_NAMES, Z_NAMES))

    def alone(**keywords):
        return pi_xgb.train(
            {**BINARY, "max_depth": 6, "eval_metric": "logloss"},
            x[True],
            60,
            privileged=z[True],
            teacher="boosted",
            kl_weight=0.5,
            evals=[(x[True], "training"), (x[False], "validation")],
            early_stopping_rounds=3,
            verbose_eval=False,
            **keywords,
        )

    both_stop = alone(privileged_evals=[(z[False], "validation")])
    # Validation rows train nobody, and stop both as on one machine, to the bit.
    assert trees(model.get_booster()) == trees(both_stop)
    assert model.get_booster().best_iteration == both_stop.best_iteration < 59
    assert trees(both_stop) != trees(alone())


KNOWN = (np.random.default_rng(3).random(N_ROWS) < 0.5) | (TABLE.index >= 540)


@pytest.fixture(scope="module")
def unlabelled(spark):
    """The table with labels for some rows alone: null in the first half, NaN in the second."""
    from pyspark.sql import functions as F

    received = TABLE.assign(y=TABLE["y"].where(KNOWN), patient="a", x_row=np.arange(N_ROWS))
    return spark.createDataFrame(received).withColumn("y", F.expr("if(x_row < 300, nullif(y, double('NaN')), y)"))


def test_validation_rows_stop_trainings_with_rows_without_labels(unlabelled):
    from pyspark.sql import functions as F

    checked = unlabelled.withColumn("held_out", F.expr("held_out and not (y is null or isnan(y))"))
    model = pis.PrivilegedSparkXGBClassifier(
        **{**SETTINGS, "unlabelled": "teach", "teacher": "boosted", "n_estimators": 60, "max_depth": 6},
        validation_indicator_col="held_out",
        early_stopping_rounds=3,
    ).fit(checked)
    held_out = TABLE["held_out"] & KNOWN
    rest, valid = TABLE[~held_out], TABLE[held_out]
    label = rest["y"].where(KNOWN[~held_out], 0)
    alone = pi_xgb.train(
        {**BINARY, "max_depth": 6, "eval_metric": "logloss"},
        xgb.DMatrix(rest[X_NAMES], label),
        60,
        privileged=xgb.DMatrix(rest[Z_NAMES], label),
        teacher="boosted",
        kl_weight=2.0,
        labelled=KNOWN[~held_out],
        evals=[(xgb.DMatrix(valid[X_NAMES], valid["y"]), "validation")],
        privileged_evals=[(xgb.DMatrix(valid[Z_NAMES], valid["y"]), "validation")],
        early_stopping_rounds=3,
        verbose_eval=False,
    )
    # The marks of the training rows are theirs, though validation rows lie among them.
    assert model.get_booster().best_iteration == alone.best_iteration < 59
    margins = [item.predict(xgb.DMatrix(TABLE[X_NAMES]), output_margin=True) for item in (model.get_booster(), alone)]
    np.testing.assert_allclose(*margins, atol=1e-5)


def test_the_model_is_xgboosts_own_and_knows_no_privileged_column(weighted, frame, tmp_path):
    from xgboost.spark import SparkXGBClassifierModel

    path = str(tmp_path / "model")
    weighted.save(path)
    loaded = SparkXGBClassifierModel.load(path)
    assert type(weighted) is type(loaded) is SparkXGBClassifierModel
    assert trees(loaded.get_booster()) == trees(weighted.get_booster())
    # It reads features only, and predicts what its plain booster predicts.
    received = loaded.transform(frame.select(*X_NAMES)).select("probability").collect()
    expected = weighted.get_booster().predict(xgb.DMatrix(TABLE[X_NAMES]))
    np.testing.assert_allclose([float(row.probability[1]) for row in received], expected, atol=1e-6)
    # Neither the files nor the booster name a privileged column, or need pi_xgb.
    files = [file.read_text() for file in (tmp_path / "model").rglob("part-*")]
    assert any("SparkXGBClassifierModel" in text for text in files)
    for text in [*files, weighted.get_booster().save_raw("json").decode()]:
        assert not any(word in text for word in (*Z_NAMES, "privileged_cols", "pi_xgb.spark"))


def settings_of(estimator):
    return {name: estimator.getOrDefault(name) for name in type(estimator).__init__.__kwdefaults__}


def test_an_estimator_is_saved_with_its_settings(spark, tmp_path):
    from xgboost.spark import SparkXGBClassifier

    estimator = pis.PrivilegedSparkXGBClassifier(
        **SETTINGS,
        method="jpib",
        teacher="forest",
        teacher_sees="privileged",
        crossfit=2,
        teacher_params={"max_depth": 2},
        engine="native",
        allow_overlap=True,
        unlabelled="teach",
        teacher_weight_col="weight",
        crossfit_groups_col="patient",
    )
    estimator.save(str(tmp_path / "estimator"))
    loaded = pis.PrivilegedSparkXGBClassifier.load(str(tmp_path / "estimator"))
    assert type(loaded) is pis.PrivilegedSparkXGBClassifier
    assert settings_of(loaded) == settings_of(estimator)
    assert settings_of(estimator.copy({estimator.kl_weight: 9.0}))["kl_weight"] == 9.0
    assert settings_of(estimator)["kl_weight"] == 2.0
    # So does that nothing was set.
    pis.PrivilegedSparkXGBClassifier().save(str(tmp_path / "default"))
    default = settings_of(pis.PrivilegedSparkXGBClassifier.load(str(tmp_path / "default")))
    assert default == settings_of(pis.PrivilegedSparkXGBClassifier())
    assert (default["privileged_cols"], default["teacher"], default["crossfit"]) == (None, None, None)
    # XGBoost hears of none of them, and of its own what its own estimator would.
    theirs = SparkXGBClassifier(**{name: SETTINGS[name] for name in ("n_estimators", "max_depth", "tree_method")})
    assert estimator._gen_xgb_params_dict() == theirs._gen_xgb_params_dict()


def test_a_partition_with_too_few_rows_is_an_error_that_says_so(spark, frame):
    from py4j.protocol import Py4JJavaError
    from pyspark.errors import PythonException

    first = frame.rdd.mapPartitionsWithIndex(lambda i, lines: lines if i == 0 else iter(()))
    half_empty = spark.createDataFrame(first, frame.schema)
    # All tasks end, and whichever of them Spark shows, it says what is wrong and what to do.
    with pytest.raises((Py4JJavaError, PythonException), match="dtrain has no rows on this worker"):
        pis.PrivilegedSparkXGBClassifier(**SETTINGS).fit(half_empty)


def test_a_misspelt_parameter_is_pointed_out_and_left_to_xgboost():
    with pytest.warns(UserWarning, match=r"no parameter 'privileged_col'.*did you mean 'privileged_cols'"):
        pis.PrivilegedSparkXGBRegressor(privileged_col=["z0"])


SETTINGS_AT_FAULT = {
    "kl_weight": ({"kl_weight": -1.0}, "kl_weight must be finite, at least 0"),
    "method": ({"method": "pib"}, "method must be one of"),
    "engine, before the labels are read": ({"engine": "cuda", "label_col": "weight"}, "engine must be one of"),
    "no columns": ({"privileged_cols": None}, "privileged_cols or teacher must be set"),
    "empty list": ({"privileged_cols": []}, "privileged_cols .* empty list"),
    "unknown column": ({"privileged_cols": ["z9"]}, "privileged_cols must name columns.*'z9'"),
    "unknown label": ({"label_col": "yy"}, "label_col must name.*'yy'"),
    "unknown feature": ({"features_col": ["x0", "x8"]}, "features_col must name.*'x8'"),
    "twice": ({"privileged_cols": ["z0", "z0"]}, "privileged_cols must have distinct names"),
    "the label itself": ({"privileged_cols": ["z0", "y"]}, r"privileged_cols must not .*labels, .*drop \['y'\]"),
    "the weight": ({"privileged_cols": ["weight"], "weight_col": "weight"}, r"privileged_cols .*drop \['weight'\]"),
    "the label as a feature": ({"features_col": ["x0", "y"]}, r"features_col must not .*labels, .*drop \['y'\]"),
    "overlap": ({"privileged_cols": ["z0", "x0"]}, r"columns \['x0'\] are in features_col and in privileged_cols"),
    "crossfit of jpib": ({"method": "jpib", "crossfit": 3}, "crossfit is not supported with method='jpib'"),
    "crossfit": ({"crossfit": 1}, "crossfit must be 0"),
    "kind of teacher": ({"teacher": "woods"}, "teacher must be one of .* got 'woods'"),
    "forest of jpib": ({"teacher": "forest", "method": "jpib"}, "method='jpib' requires .*got teacher='forest'"),
    "sees nothing": ({"privileged_cols": None, "teacher_sees": "all", "teacher": "forest"}, "teacher_sees requires"),
    "native classes": ({"engine": "native", "label_col": "kind", "kl_weight": 1}, "engine='native' would not be exact"),
    "classes with a gap": ({"label_col": "weight"}, r"the classes in 'weight' must be .*0, 1, \.\.\. without a gap"),
    "unlabelled": ({"unlabelled": "drop"}, "unlabelled must be one of"),
    "groups of nothing": ({"crossfit_groups_col": "kind", "teacher": "boosted"}, "crossfit_groups require crossfit"),
    "unknown weight": ({"teacher_weight_col": "count"}, "teacher_weight_col must name.*'count'"),
    "continued jpib": ({"method": "jpib", "xgb_model": on_one_machine(BINARY, "y")}, "xgb_model cannot be continued"),
}


@pytest.mark.parametrize("case", SETTINGS_AT_FAULT)
def test_settings_at_fault_are_found_on_the_driver(frame, case):
    changed, message = SETTINGS_AT_FAULT[case]
    # An error of this process, not of a task.
    with pytest.raises(ValueError, match=message):
        pis.PrivilegedSparkXGBClassifier(**{**SETTINGS, **changed}).fit(frame)


def test_columns_of_other_types_are_refused(frame):
    from pyspark.sql import functions as F

    worded = frame.withColumn("word", F.lit("a"))
    for changed, message in [
        ({"privileged_cols": ["z0", "word"]}, "'word' of type string"),
        ({"privileged_cols": "word"}, "'word' of type string"),
        ({"label_col": "word"}, "label_col must be numbers, got 'word' of type string"),
        ({"validation_indicator_col": "y"}, "must be of type boolean"),
        ({"teacher_weight_col": "word"}, r"teacher_weight_col.*numbers.*'word'.*string"),
    ]:
        with pytest.raises(TypeError, match=message):
            pis.PrivilegedSparkXGBClassifier(**{**SETTINGS, **changed}).fit(worded)
    for value in (3, ["z0", 1]):
        with pytest.raises(TypeError, match="privileged_cols must be a list of names"):
            pis.PrivilegedSparkXGBClassifier(privileged_cols=value)
    with pytest.raises(TypeError, match="teacher_params must be a dict"):
        pis.PrivilegedSparkXGBClassifier(teacher_params="max_depth")


def test_privileged_columns_inside_the_vector_of_features_are_found(frame):
    from pyspark.ml.feature import VectorAssembler

    leaky = VectorAssembler(inputCols=[*X_NAMES, "z1"], outputCol="features").transform(frame)
    settings = {**SETTINGS, "features_col": "features"}
    # The student would have learned from a column that is not there later.
    with pytest.raises(ValueError, match=r"columns \['z1'\] are in features_col and in privileged_cols"):
        pis.PrivilegedSparkXGBClassifier(**settings).fit(leaky)


ROWS_AT_FAULT = {
    "null label": ({"y": "nullif(y, 1)"}, {}, r"rows have no label in 'y'"),
    "infinite label": ({"y": "if(y = 1, double('Infinity'), 0)"}, {}, "rows have a label in 'y' that is not finite"),
    "huge label": ({"y": "if(y = 1, 1e19, 0)"}, {}, "the classes in 'y' must be .*0, 1"),
    "infinite weight": ({"weight": "double('Infinity')"}, {"weight_col": "weight"}, "infinite or negative"),
    "one class": ({"y": "0"}, {}, "the classes in 'y' must be two or more"),
    "negative weight": ({"weight": "weight - 2"}, {"weight_col": "weight"}, "null, NaN, infinite or negative"),
    "null indicator": (
        {"held_out": "nullif(held_out, true)"},
        {"validation_indicator_col": "held_out"},
        "null in 'held_out'",
    ),
    "only validation": ({"held_out": "true"}, {"validation_indicator_col": "held_out"}, "must have training rows"),
    "nothing to stop on": (
        {"held_out": "false"},
        {"validation_indicator_col": "held_out", "early_stopping_rounds": 2},
        "no row that is true in 'held_out'",
    ),
    "null vector": (
        {"list": "if(y = 1, array(z0), null)"},
        {"privileged_cols": "list"},
        "rows have null in .list.: drop or fill",
    ),
    "unlabelled": ({}, {"unlabelled": "refuse"}, "rows have no label in 'y' .*set unlabelled='teach'"),
    "no label": ({"y": "double('NaN')"}, {}, "label_col 'y' has no row with a label"),
    "one class with labels": ({"y": "if(y = 1, 1.0, null)"}, {}, "the classes in 'y' must be"),
    "unlabelled validation": ({}, {"validation_indicator_col": "held_out"}, "validation rows need labels"),
    "negative teacher": ({"weight": "-weight"}, {"teacher_weight_col": "weight"}, "a weight in 'weight' that is null"),
    "null group": (
        {"patient": "if(x_row < 3, null, patient)"},
        {"crossfit_groups_col": "patient", "crossfit": 2},
        "3 rows have null in 'patient'",
    ),
    "few labels": ({"y": "if(x_row < 3, 1 - y, null)"}, {"crossfit": 200}, "between 2 and the"),
    "inexact engine": ({}, {"engine": "native", "tree_method": "approx"}, "engine='native' would not be exact"),
}


@pytest.mark.parametrize("case", ROWS_AT_FAULT)
def test_rows_at_fault_are_found_on_the_driver(frame, unlabelled, case):
    from pyspark.sql import functions as F

    columns, changed, message = ROWS_AT_FAULT[case]
    is_later = list(ROWS_AT_FAULT).index(case) >= list(ROWS_AT_FAULT).index("unlabelled")
    settings = {**SETTINGS, **({"unlabelled": "teach"} if is_later else {}), **changed}
    faulty = (unlabelled if is_later else frame).withColumns({name: F.expr(value) for name, value in columns.items()})
    with pytest.raises(ValueError, match=message):
        pis.PrivilegedSparkXGBClassifier(**settings).fit(faulty)


def test_a_regressor_says_what_its_objective_needs(frame):
    settings = {**SETTINGS, "label_col": "amount"}
    for wrong, message in [({"method": "jpib"}, "method='kbpib'"), ({"engine": "native"}, "or 'auto'")]:
        with pytest.raises(ValueError, match=message):
            pis.PrivilegedSparkXGBRegressor(**settings, objective="reg:squaredlogerror", **wrong).fit(frame)
    for objective, message in [
        ("binary:logistic", r"the labels of 'amount' must lie in \[0, 1\]"),
        ("survival:cox", "a teacher can guide the objectives"),
        ("survival:aft", r"requires two bounds per row.*use train"),
        ("rank:pairwise", "requires queries.*use PrivilegedSparkXGBRanker, which has them in qid_col"),
    ]:
        with pytest.raises(ValueError, match=message):
            pis.PrivilegedSparkXGBRegressor(**settings, objective=objective).fit(frame)


RANKING = {**SETTINGS, "label_col": "kind", "qid_col": "query", "kl_weight": 1.0}


BY_PAIRS = {"objective": "rank:pairwise", "lambdarank_num_pair_per_sample": 30}  # all, in whatever order they come


def test_queries_are_brought_together_and_torn_ones_are_an_error(spark):
    from py4j.protocol import Py4JJavaError
    from pyspark.errors import PythonException

    query = np.arange(N_ROWS) * 7 % 60
    scattered = spark.createDataFrame(TABLE.assign(query=query))
    with pytest.raises((Py4JJavaError, PythonException), match="60 queries have rows in several partitions"):
        pis.PrivilegedSparkXGBRanker(**RANKING, **BY_PAIRS).fit(scattered)
    fitted = pis.PrivilegedSparkXGBRanker(**RANKING, **BY_PAIRS, force_repartition=True).fit(scattered)
    x = xgb.DMatrix(TABLE[X_NAMES])
    order = np.argsort(query, kind="stable")
    fields = {"label": TABLE["kind"].iloc[order], "qid": query[order]}
    dtrain, privileged = (xgb.DMatrix(TABLE[names].iloc[order], **fields) for names in (X_NAMES, Z_NAMES))
    expected = pi_xgb.train({**PARAMS, **BY_PAIRS}, dtrain, ROUNDS, privileged=privileged, kl_weight=1.0).predict(x)
    np.testing.assert_allclose(fitted.get_booster().predict(x), expected, rtol=1e-4, atol=1e-5)


RANKERS_AT_FAULT = {
    "no column of queries": ({"qid_col": None}, "qid_col must be set"),
    "unknown queries": ({"qid_col": "search"}, "qid_col must name.*'search'"),
    "weights of rows": ({"weight_col": "weight"}, "XGBoost weighs whole queries"),
    "queries for the teacher": ({"privileged_cols": ["query"]}, "privileged_cols must not have .*queries.*'query'"),
    "rows of no query": ({"qid_col": "hole"}, "null in 'hole'"),
    "the gain of the default": ({"objective": "rank:ndcg"}, "ndcg_exp_gain"),
    "an objective of no order": ({"objective": "reg:squarederror"}, "objective must be .* got 'reg:squarederror'"),
    "jpib": ({"method": "jpib"}, "method='kbpib'"),
}


@pytest.mark.parametrize("case", RANKERS_AT_FAULT)
def test_what_a_ranker_needs_is_found_on_the_driver(frame, case):
    from pyspark.sql import functions as F

    changed, message = RANKERS_AT_FAULT[case]
    queries = frame.withColumns({"query": F.lit(1), "hole": F.when(F.col("y") == 1, 1)})
    settings = {**RANKING, "objective": "rank:pairwise", **changed}
    with pytest.raises(ValueError, match=message):
        pis.PrivilegedSparkXGBRanker(**settings).fit(queries)


def test_without_pyspark_the_extra_is_named(monkeypatch):
    for name in [name for name in sys.modules if "spark" in name and name.startswith(("pyspark", "pi_xgb"))]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "pyspark", None)
    with pytest.raises(ImportError, match=r'pip install "\.\[spark\]"'):
        importlib.import_module("pi_xgb.spark")


def test_a_killed_task_ends_the_training(frame, weighted):
    received = outcome(lambda: pis.PrivilegedSparkXGBClassifier(**SETTINGS, callbacks=[dying()]).fit(frame), 240)
    assert isinstance(received, Exception)
    assert "barrier" in str(received)
    again = pis.PrivilegedSparkXGBClassifier(**SETTINGS, weight_col="weight").fit(frame)
    assert trees(again.get_booster()) == trees(weighted.get_booster())
