"""``pi_xgb.spark`` on a local Spark of two tasks, against one machine with all the rows."""

import importlib
import sys

import numpy as np
import pandas as pd
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
from pi_xgb._core.learners.forest import Forest
from pi_xgb._core.spec import Spec
from pi_xgb._stats.folds import deal_folds, deal_groups

pytestmark = MARKS

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


def test_kbpib_with_weights_gives_the_trees_of_one_machine(weighted):
    alone = on_one_machine(BINARY, "y", weight=TABLE["weight"])
    # Two tasks end with the model of one machine, to the bit, names and attributes included.
    assert trees(weighted.get_booster()) == trees(alone)
    assert weighted.get_booster().save_raw("json") == alone.save_raw("json")


def test_jpib_natively_on_sparse_vectors_in_a_pipeline_gives_the_trees_of_one_machine(vectors):
    from pyspark.ml import Pipeline

    estimator = pis.PrivilegedSparkXGBClassifier(
        **{**SETTINGS, "features_col": "x", "privileged_cols": "z"},
        method="jpib",
        engine="native",
        missing=0.0,
        enable_sparse_data_optim=True,
    )
    fitted = Pipeline(stages=[estimator]).fit(vectors)
    model = fitted.stages[-1]
    alone = on_one_machine(BINARY, "y", missing=0.0, method="jpib", engine="native")
    # Two tasks end with the model of one machine, to the bit, whatever form the rows have.
    assert trees(model.get_booster()) == trees(renamed(alone))
    # The native engine cannot evaluate the rows whose labels it replaces.
    assert model.get_booster().attr("pi_xgb_engine") == "native"
    assert model.training_summary.train_objective_history == {}
    # The fitted pipeline reads features only.
    assert fitted.transform(vectors.drop("z", *Z_NAMES)).count() == N_ROWS


def renamed(booster):
    """The same booster, its features called what XGBoost calls those of a vector."""
    copied = booster.copy()
    copied.feature_names = [f"f{i}" for i in range(len(X_NAMES))]
    return copied


def test_a_regressor_whose_teacher_sees_a_feature_and_has_params_of_its_own(frame):
    names = [*Z_NAMES, "x0"]
    settings = {**SETTINGS, "label_col": "amount", "privileged_cols": names}
    own = {"max_depth": 2, "tree_method": "hist", "max_bin": 64, "monotone_constraints": {"z0": 1}}
    model = pis.PrivilegedSparkXGBRegressor(**settings, allow_overlap=True, teacher_params=own).fit(frame)
    params = {**PARAMS, "objective": "reg:squarederror"}
    alone = on_one_machine(params, "amount", z_names=names, teacher_params=own, allow_overlap=True)
    # The teacher's params are read, and its columns keep their names among themselves.
    assert trees(model.get_booster()) == trees(alone)
    assert trees(alone) != trees(on_one_machine(params, "amount", z_names=names, allow_overlap=True))


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
    settings = {**SETTINGS, "n_estimators": 60, "max_depth": 6, "kl_weight": 0.5}
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
            evals=[(x[True], "training"), (x[False], "validation")],
            early_stopping_rounds=3,
            verbose_eval=False,
            **keywords,
        )

    both_stop = alone(privileged_evals=[(z[False], "validation")])
    # Validation rows train nobody, and stop both as on one machine, to the bit.
    assert trees(model.get_booster()) == trees(both_stop)
    assert model.get_booster().best_iteration == both_stop.best_iteration < 59
    # A teacher that does not stop is another one.
    assert trees(both_stop) != trees(alone())


def test_crossfit_lets_every_worker_deal_its_own_rows(frame):
    model = pis.PrivilegedSparkXGBClassifier(**SETTINGS, crossfit=3).fit(frame)
    y, halves = TABLE["y"].to_numpy(), (0, N_ROWS // 2)
    dealt = [deal_folds(y[start : start + N_ROWS // 2], 3, 0) for start in halves]
    q = np.empty(N_ROWS, np.float32)
    for folds in zip(*dealt, strict=True):
        seen, unseen = (np.concatenate([fold[k] + start for fold, start in zip(folds, halves)]) for k in (0, 1))  # noqa: B905
        teacher = xgb.train(BINARY, xgb.DMatrix(TABLE[Z_NAMES].iloc[seen], y[seen]), ROUNDS)
        q[unseen] = teacher.predict(xgb.DMatrix(TABLE[Z_NAMES].iloc[unseen]))
    student = pi_xgb.train(BINARY, xgb.DMatrix(TABLE[X_NAMES], y), ROUNDS, teacher=q, kl_weight=2.0)
    received, expected = (booster.predict(xgb.DMatrix(TABLE[X_NAMES])) for booster in (model.get_booster(), student))
    # Each q comes from a teacher that saw the other folds of both workers, and not its own row.
    np.testing.assert_allclose(received, expected, atol=1e-6)
    # Rows dealt among all of them would teach something else.
    together = on_one_machine(BINARY, "y", crossfit=3).predict(xgb.DMatrix(TABLE[X_NAMES]))
    assert abs(together - expected).max() > 1e-4


def q_of_forest(frame, names):
    """What a forest of plain XGBoost on Spark predicts for all rows, by the parameters of ours."""
    from xgboost.spark import SparkXGBRegressor

    params = Forest(Spec.read(BINARY))._params(len(names), 1, len(TABLE))
    params = {name: value for name, value in params.items() if name not in ("objective", "nthread", "eta")}
    params |= {"learning_rate": 1.0, "n_estimators": 1, "base_score": float(TABLE["y"].mean())}
    fitted = SparkXGBRegressor(features_col=names, label_col="y", num_workers=2, verbose=False, **params).fit(frame)
    return np.clip(fitted.get_booster().predict(xgb.DMatrix(TABLE[names])), 0.005, 0.995)


@pytest.mark.slow
@pytest.mark.parametrize("privileged", [Z_NAMES, None])
def test_a_forest_is_that_of_plain_xgboost_on_spark(frame, privileged):
    settings = {**SETTINGS, "privileged_cols": privileged, "teacher": "forest", "crossfit": 0}
    model = pis.PrivilegedSparkXGBClassifier(**settings).fit(frame)
    q = q_of_forest(frame, [*X_NAMES, *(privileged or ())])
    student = pi_xgb.train(BINARY, xgb.DMatrix(TABLE[X_NAMES], TABLE["y"]), ROUNDS, teacher=q, kl_weight=2.0)
    # The teacher sees the features as well, or these alone where nothing is privileged.
    found, expected = (booster.predict(xgb.DMatrix(TABLE[X_NAMES])) for booster in (model.get_booster(), student))
    np.testing.assert_allclose(found, expected, atol=1e-5)
    assert model.get_booster().attr("pi_xgb_teacher") == "forest"
    assert len(np.unique(expected)) > 10


KNOWN = (np.random.default_rng(3).random(N_ROWS) < 0.5) | (TABLE.index >= 540)
COUNTS = np.random.default_rng(4).choice([0.0, 0.5, 1.0, 2.0], N_ROWS)
# Groups that lie in one half of the rows each.
PATIENT = np.where(TABLE.index < N_ROWS // 2, "a", "b") + pd.Series(TABLE.index // 3).astype(str)


@pytest.fixture(scope="module")
def unlabelled(spark):
    """The table with labels for some rows alone: null in the first half, NaN in the second."""
    from pyspark.sql import functions as F

    received = TABLE.assign(y=TABLE["y"].where(KNOWN), counts=COUNTS, patient=PATIENT, x_row=np.arange(N_ROWS))
    return spark.createDataFrame(received).withColumn("y", F.expr("if(x_row < 300, nullif(y, double('NaN')), y)"))


def taught(table=TABLE, known=KNOWN, rounds=ROUNDS, **keywords):
    """``pi_xgb.train`` on all rows, some of them without a label."""
    label = table["y"].where(known, 0)
    dtrain, privileged = (xgb.DMatrix(table[names], label) for names in (X_NAMES, Z_NAMES))
    params = keywords.pop("params", BINARY)
    return pi_xgb.train(
        params, dtrain, rounds, privileged=privileged, kl_weight=2.0, labelled=np.asarray(known), **keywords
    )


def assert_close(booster, other):
    margins = [item.predict(xgb.DMatrix(TABLE[X_NAMES]), output_margin=True) for item in (booster, other)]
    np.testing.assert_allclose(*margins, atol=1e-5)


TEACH = {**SETTINGS, "unlabelled": "teach"}


@pytest.mark.filterwarnings("ignore:.*neither a label nor a teacher")
@pytest.mark.parametrize(("method", "engine"), [("kbpib", "callback"), ("jpib", "native")])
def test_rows_without_labels_are_taught_as_on_one_machine(unlabelled, method, engine):
    model = pis.PrivilegedSparkXGBClassifier(**TEACH, method=method, engine=engine, teacher_weight_col="counts").fit(
        unlabelled
    )
    alone = taught(method=method, engine=engine, teacher_weight=COUNTS)
    # Null and NaN are no labels, and each row's teacher counts as its column says.
    assert_close(model.get_booster(), alone)
    assert model.get_booster().attributes() == alone.attributes()
    # Labels that nobody knows are evaluated by nobody.
    assert model.training_summary.train_objective_history == {}


def test_with_all_labels_known_nothing_changes(frame):
    model = pis.PrivilegedSparkXGBClassifier(**TEACH).fit(frame)
    assert trees(model.get_booster()) == trees(on_one_machine(BINARY, "y"))
    assert model.training_summary.train_objective_history


def test_validation_rows_stop_trainings_with_rows_without_labels(unlabelled):
    from pyspark.sql import functions as F

    checked = unlabelled.withColumn("held_out", F.expr("held_out and not (y is null or isnan(y))"))
    model = pis.PrivilegedSparkXGBClassifier(
        **{**TEACH, "n_estimators": 60, "max_depth": 6}, validation_indicator_col="held_out", early_stopping_rounds=3
    ).fit(checked)
    held_out = TABLE["held_out"] & KNOWN
    rest, valid = TABLE[~held_out], TABLE[held_out]
    alone = taught(
        rest,
        KNOWN[~held_out],
        60,
        params={**BINARY, "max_depth": 6, "eval_metric": "logloss"},
        evals=[(xgb.DMatrix(valid[X_NAMES], valid["y"]), "validation")],
        privileged_evals=[(xgb.DMatrix(valid[Z_NAMES], valid["y"]), "validation")],
        early_stopping_rounds=3,
        verbose_eval=False,
    )
    # The marks of the training rows are theirs, though validation rows lie among them.
    assert model.get_booster().best_iteration == alone.best_iteration < 59
    assert_close(model.get_booster(), alone)


def test_groups_stay_in_one_fold_of_crossfit(unlabelled):
    settings = {**TEACH, "n_estimators": 3, "crossfit": 2}
    grouped = pis.PrivilegedSparkXGBClassifier(**settings, crossfit_groups_col="patient").fit(unlabelled)
    y, half, code = TABLE["y"].to_numpy(), N_ROWS // 2, pd.factorize(PATIENT)[0]
    fold = np.full(N_ROWS, -1)
    for rows_there in (np.arange(half), np.arange(half, N_ROWS)):
        mine = rows_there[KNOWN[rows_there]]
        for k, (_, held_out) in enumerate(deal_groups(y[mine], code[mine], 2, 0, classes=True)):
            fold[np.isin(code, code[mine[held_out]])] = k
    predictions = [
        xgb.train(BINARY, xgb.DMatrix(TABLE[Z_NAMES][seen], y[seen]), 3).predict(xgb.DMatrix(TABLE[Z_NAMES]))
        for seen in (KNOWN & (fold != 0), KNOWN & (fold != 1))
    ]
    q = np.where(fold < 0, (predictions[0] + predictions[1]) / 2, np.where(fold == 0, predictions[0], predictions[1]))
    dtrain = xgb.DMatrix(TABLE[X_NAMES], np.where(KNOWN, y, 0))
    # The row is judged by who does not know its group, or by both.
    assert_close(grouped.get_booster(), pi_xgb.train(BINARY, dtrain, 3, teacher=q, kl_weight=2.0, labelled=KNOWN))


def test_faults_of_rows_without_labels_are_found_on_the_driver(unlabelled):
    from pyspark.sql import functions as F

    for columns, changed, message in [
        ({}, {"unlabelled": "refuse"}, "rows have no label in 'y' .*set unlabelled='teach'"),
        ({}, {"unlabelled": "drop"}, "unlabelled must be one of"),
        ({"y": "double('NaN')"}, {}, "label_col 'y' has no row with a label"),
        ({"y": "if(y = 1, 1.0, null)"}, {}, "the classes in 'y' must be"),
        ({}, {"validation_indicator_col": "held_out"}, "validation rows need labels"),
        ({"counts": "-counts"}, {"teacher_weight_col": "counts"}, "rows have a weight in 'counts' that is null"),
        ({"counts": "'a'"}, {"teacher_weight_col": "counts"}, r"teacher_weight_col.*numbers.*'counts'.*string"),
        ({}, {"teacher_weight_col": "count"}, "teacher_weight_col must name.*'count'"),
        ({}, {"crossfit_groups_col": "patient"}, "crossfit_groups require crossfit"),
        (
            {"patient": "nullif(patient, 'a0')"},
            {"crossfit_groups_col": "patient", "crossfit": 2},
            "3 rows have null in 'patient'",
        ),
        ({"y": "if(x_row < 3, 1 - y, null)"}, {"crossfit": 200}, "between 2 and the"),
        ({}, {"engine": "native", "tree_method": "approx"}, "engine='native' would not be exact"),
    ]:
        faulty = unlabelled.withColumns({name: F.expr(value) for name, value in columns.items()})
        with pytest.raises((ValueError, TypeError), match=message):
            pis.PrivilegedSparkXGBClassifier(**{**TEACH, **changed}).fit(faulty)


def test_the_model_is_xgboosts_own_and_knows_no_privileged_column(weighted, frame, tmp_path):
    from xgboost.spark import SparkXGBClassifierModel

    path = str(tmp_path / "model")
    weighted.save(path)
    loaded = SparkXGBClassifierModel.load(path)
    # What is saved and loaded is a model of xgboost.spark, which says the same.
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
    # Every setting comes back, and another weight (a grid's, for example) touches the copy only.
    assert type(loaded) is pis.PrivilegedSparkXGBClassifier
    assert loaded._own_params() == estimator._own_params()
    assert estimator.copy({estimator.kl_weight: 9.0})._own_params()["kl_weight"] == 9.0
    assert estimator._own_params()["kl_weight"] == 2.0
    # So does that nothing was set.
    pis.PrivilegedSparkXGBClassifier().save(str(tmp_path / "default"))
    default = pis.PrivilegedSparkXGBClassifier.load(str(tmp_path / "default"))._own_params()
    assert default == pis.PrivilegedSparkXGBClassifier()._own_params()
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


def worker_of(names=None, **changed):
    from pi_xgb._spark.worker import Worker

    settings = {"stops": False, "reads_privileged": False, "reads_features": False, "exposed": False, "ranks": False}
    return Worker(names, **{**settings, "keywords": {}, **changed})


@pytest.mark.parametrize("reads", [False, True])
@pytest.mark.parametrize("own", [None, {"max_bin": 9}])
@pytest.mark.parametrize("of_quantiles", [False, True])
def test_the_teachers_matrix_is_made_as_the_students_where_it_may_be(reads, own, of_quantiles):
    from pi_xgb._spark.worker import PREFIX

    given = {
        "use_qdm": of_quantiles,
        "feature_cols": X_NAMES,
        "kwargs": {"nthread": 2, "missing": 0.0, "max_bin": 7, "feature_weights": [1], "feature_names": X_NAMES},
        "enable_sparse_data_optim": True,
        "dev_ordinal": None,
    }
    numbers = pd.DataFrame({f"{PREFIX}0": [1.0], f"{PREFIX}1": [2.0], "label": [0]})
    vector = pd.DataFrame({PREFIX: [[1.0, 2.0]], "label": [0]})
    # Neither read by a teacher nor binned by other params: then a matrix of quantiles, of as many bins.
    alike = not reads and own is None
    for names, part in ((Z_NAMES, numbers), (None, vector)):
        worker = worker_of(names, reads_privileged=reads, keywords={"teacher_params": own})
        received = worker._privileged_arguments([part], given)
        (made,) = received.pop("iterator")
        if names is None:
            pd.testing.assert_frame_equal(made, vector.rename(columns={PREFIX: "values"}))
        else:
            # XGBoost asks for this column, whatever is in it.
            pd.testing.assert_frame_equal(made, numbers.assign(values=0))
        assert received == {
            "use_qdm": of_quantiles and alike,
            "feature_cols": [f"{PREFIX}0", f"{PREFIX}1"] if names else None,
            "kwargs": {
                "nthread": 2,
                "missing": 0.0,
                **({"max_bin": 7} if alike else {}),
                **({"feature_names": Z_NAMES} if names else {}),
            },
            "enable_sparse_data_optim": False,
            "dev_ordinal": None,
        }


def test_a_task_trains_with_what_it_is_told(monkeypatch):
    from pi_xgb._spark import worker as module

    received = {}
    monkeypatch.setattr(module, "train", lambda *given, **more: received.update(more, given=given) or "booster")
    dtrain, privileged, validation = (xgb.DMatrix(np.zeros((9, 1)), np.zeros(9)) for _ in range(3))
    evals = [(dtrain, "training"), (validation, "validation")]
    keywords = {"method": "kbpib", "kl_weight": 3.0, "crossfit": 2, "engine": "callback", "allow_overlap": True}
    for stops, engine, own, labelled in (
        (True, "callback", {"max_depth": 2, "nthread": 8}, None),
        (False, "native", None, None),
        (False, "callback", None, np.ones(9, bool)),
    ):
        made = {**keywords, "engine": engine, "teacher_params": own}
        worker = worker_of(stops=stops, keywords=made)
        worker._privileged = privileged, validation
        worker._per_row = {} if labelled is None else {"labelled": labelled}
        received.clear()
        params = {"nthread": 1, "device": "cpu", "eta": 1}
        assert worker.train(params, dtrain, evals=evals, num_boost_round=4) == "booster"
        # Threads and device are the task's; rows that the engine changes, or nobody knows, are not evaluated.
        assert received == {
            **keywords,
            "engine": engine,
            "teacher_params": own and {"max_depth": 2, "nthread": 1, "device": "cpu"},
            **worker._per_row,
            "given": (params, dtrain),
            "privileged": privileged,
            "privileged_evals": [(validation, "validation")] if stops else None,
            "evals": evals if engine == "callback" and labelled is None else evals[1:],
            "num_boost_round": 4,
        }


def test_tasks_are_told_what_the_settings_mean(frame, unlabelled, vectors, monkeypatch):
    from pi_xgb._spark import estimators

    monkeypatch.setattr(estimators, "calling", lambda fit, worker: lambda self, dataset: worker)

    def settings_of(dataset, made=pis.PrivilegedSparkXGBClassifier, **changed):
        estimator = made(**{**SETTINGS, **changed})
        worker = estimator._fit(dataset)
        own = estimator._own_params()
        names = ("method", "kl_weight", "teacher", "teacher_sees", "crossfit", "teacher_params", "allow_overlap")
        assert worker._keywords == {name: own[name] for name in (*names, "engine")}
        return worker._names, worker._stops, worker._reads_privileged, worker._reads_features

    assert settings_of(frame) == (Z_NAMES, False, False, False)
    assert settings_of(frame, privileged_cols="z0", crossfit=2) == (["z0"], False, True, False)
    assert settings_of(vectors, privileged_cols="z", features_col="x") == (None, False, False, False)
    # Values of features are read where the teacher sees them, those of privileged columns by all but plain boosting.
    assert settings_of(frame, teacher_sees="all") == (Z_NAMES, False, True, True)
    assert settings_of(frame, teacher="forest") == (Z_NAMES, False, True, True)
    assert settings_of(frame, teacher="forest", teacher_sees="privileged", crossfit=0) == (Z_NAMES, False, True, False)
    all_columns = {"privileged_cols": [*X_NAMES, *Z_NAMES], "allow_overlap": True}
    assert settings_of(frame, teacher="forest", **all_columns)[3] is False
    assert settings_of(frame, teacher="boosted", privileged_cols=None) == ([], False, True, True)
    stopping = {"validation_indicator_col": "held_out", "early_stopping_rounds": 2}
    assert settings_of(frame, **stopping, kl_weight=0.5) == (Z_NAMES, True, False, False)
    # Only a boosted teacher that learns first, from privileged columns, and counts, stops.
    for unread in (
        {"kl_weight": 0.0},
        {"method": "jpib"},
        {"early_stopping_rounds": None},
        {"validation_indicator_col": None},
        {"teacher": "forest"},
        {"teacher_sees": "all"},
    ):
        assert settings_of(frame, **{**stopping, **unread})[1] is False
    # Where copies stand for the teacher it learns from rows with labels, taken out of its matrix.
    assert settings_of(unlabelled, unlabelled="teach") == (Z_NAMES, False, False, False)
    amounts = {"made": pis.PrivilegedSparkXGBRegressor, "unlabelled": "teach"}
    for objective, reads in (("reg:squarederror", False), ("reg:squaredlogerror", True)):
        assert settings_of(unlabelled, **amounts, objective=objective) == (Z_NAMES, False, reads, False)
    assert settings_of(frame, **amounts, objective="reg:squaredlogerror") == (Z_NAMES, False, False, False)


def test_one_pass_over_the_rows_counts_them_and_edges_are_none(spark):
    from pyspark.ml.functions import array_to_vector
    from pyspark.sql.types import ArrayType, FloatType

    from pi_xgb._spark.checks import Columns, Rows, check_rows, privileged_columns, with_labels_filled

    largest = float(np.finfo(np.float32).max)
    names = ["amount", "held_out", "weight", "z", "list"]
    lines = [
        (largest, False, 0.0, 1.0, [1.0]),
        (-largest, False, largest, 1.0, [1.0]),
        (float("nan"), False, 0.5, 1.0, [1.0]),
        (None, False, 0.5, 1.0, [1.0]),
        (2.0, True, 0.5, 1.0, [1.0]),
        (3.0, True, 0.5, 1.0, [1.0]),
    ]
    received = spark.createDataFrame(
        lines, "amount double, held_out boolean, weight double, z double, list array<double>"
    )
    assert received.columns == names
    columns = Columns("x", "z", "amount", weight="weight", validation="held_out", teacher_weight="weight")
    # The largest numbers of single precision, and a weight of 0, are good.
    rows = check_rows(received, columns, classes=False, teach_unlabelled=True)
    assert rows == Rows(2, 2, 2, (-largest, largest))
    with pytest.raises(ValueError, match="2 rows have no label"):
        check_rows(received, columns, classes=False)
    with pytest.raises(ValueError, match=r"must have training rows.* 2"):
        check_rows(received.where("held_out"), columns, classes=False)
    filled = with_labels_filled(received, columns, "known").select("amount", "known").collect()
    assert [tuple(line) for line in filled][2:] == [(0.0, False), (0.0, False), (2.0, True), (3.0, True)]
    # Single precision is what XGBoost reads, and half of what travels.
    received = received.withColumn("vector", array_to_vector("list"))
    lists = [ArrayType(FloatType(), holds_null) for holds_null in (True, False)]
    for name, alias, kind in (("z", "its0", FloatType()), ("list", "its", lists[0]), ("vector", "its", lists[1])):
        (field,) = received.select(privileged_columns(received, name, "its")).schema
        assert (field.name, field.dataType) == (alias, kind)


def test_a_misspelt_parameter_is_pointed_out_and_left_to_xgboost():
    with pytest.warns(UserWarning, match=r"no parameter 'privileged_col'.*did you mean 'privileged_cols'"):
        pis.PrivilegedSparkXGBRegressor(privileged_col=["z0"])


SETTINGS_AT_FAULT = {
    "kl_weight": ({"kl_weight": -1.0}, "kl_weight must be finite and at least 0"),
    "method": ({"method": "pib"}, "method must be one of"),
    "engine, before the labels are read": ({"engine": "cuda", "label_col": "weight"}, "engine must be one of"),
    "no columns": ({"privileged_cols": None}, "privileged_cols or teacher must be set"),
    "empty list": ({"privileged_cols": []}, "privileged_cols .* empty list"),
    "unknown column": ({"privileged_cols": ["z9"]}, "privileged_cols must name columns.*'z9'"),
    "unknown label": ({"label_col": "yy"}, "label_col must name.*'yy'"),
    "unknown feature": ({"features_col": ["x0", "x8"]}, "features_col must name.*'x8'"),
    "twice": ({"privileged_cols": ["z0", "z0"]}, "privileged_cols must have distinct names"),
    "the label itself": ({"privileged_cols": ["z0", "y"]}, "the label or the validation indicator"),
    "overlap": ({"privileged_cols": ["z0", "x0"]}, r"columns \['x0'\] are in features_col and in privileged_cols"),
    "crossfit of jpib": ({"method": "jpib", "crossfit": 3}, "crossfit is not supported with method='jpib'"),
    "crossfit": ({"crossfit": 1}, "crossfit must be 0"),
    "kind of teacher": ({"teacher": "woods"}, "teacher must be one of .* got 'woods'"),
    "mixed": ({"teacher": "mixed"}, "teacher must be 'boosted' or 'forest' in a distributed training, got 'mixed'"),
    "linear": ({"teacher": "linear"}, "in a distributed training, got 'linear'"),
    "forest of jpib": ({"teacher": "forest", "method": "jpib"}, "method='jpib' requires .*got teacher='forest'"),
    "sees nothing": ({"privileged_cols": None, "teacher_sees": "all", "teacher": "forest"}, "teacher_sees requires"),
    "seen twice": (
        {"privileged_cols": ["z0", "x0"], "allow_overlap": True, "teacher_sees": "all"},
        r"columns \['x0'\] are in features_col and in privileged_cols",
    ),
    "native classes": ({"engine": "native", "label_col": "kind"}, "engine='native' would not be exact"),
    "classes with a gap": ({"label_col": "weight"}, r"the classes in 'weight' must be 0, 1, \.\.\. without a gap"),
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
    "huge label": ({"y": "if(y = 1, 1e19, 0)"}, {}, "the classes in 'y' must be 0, 1"),
    "infinite weight": ({"weight": "double('Infinity')"}, {"weight_col": "weight"}, "infinite or negative"),
    "one class": ({"y": "0"}, {}, "'y' must have at least two classes"),
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
    "null vector": ({"list": "if(y = 1, array(z0), null)"}, {"privileged_cols": "list"}, "rows have no vector"),
}


@pytest.mark.parametrize("case", ROWS_AT_FAULT)
def test_rows_at_fault_are_found_on_the_driver(frame, case):
    from pyspark.sql import functions as F

    columns, changed, message = ROWS_AT_FAULT[case]
    faulty = frame.withColumns({name: F.expr(value) for name, value in columns.items()})
    with pytest.raises(ValueError, match=message):
        pis.PrivilegedSparkXGBClassifier(**{**SETTINGS, **changed}).fit(faulty)


def test_a_regressor_says_what_its_objective_needs(frame):
    settings = {**SETTINGS, "label_col": "amount"}
    for objective, message in [
        ("binary:logistic", r"the labels of 'amount' must lie in \[0, 1\]"),
        ("reg:expectileerror", "a teacher can guide the objectives"),
        ("survival:aft", r"requires two bounds per row.*pi_xgb\.train"),
        ("rank:pairwise", "requires queries.*use PrivilegedSparkXGBRanker, which has them in qid_col"),
    ]:
        with pytest.raises(ValueError, match=message):
            pis.PrivilegedSparkXGBRegressor(**settings, objective=objective).fit(frame)


def test_a_teacher_of_counts_knows_what_rows_were_exposed_to(spark):
    from pyspark.sql import functions as F

    exposure = 1 + np.arange(N_ROWS) % 5
    received = TABLE.assign(amount=TABLE["amount"] * exposure, log_time=np.log(exposure))
    settings = {**SETTINGS, "label_col": "amount", "objective": "count:poisson", "base_margin_col": "log_time"}
    frame = spark.createDataFrame(received)
    booster = pis.PrivilegedSparkXGBRegressor(**settings).fit(frame).get_booster()
    matrices = [
        xgb.DMatrix(received[names], received["amount"], base_margin=received["log_time"])
        for names in (X_NAMES, Z_NAMES)
    ]
    params = {**PARAMS, "objective": "count:poisson"}
    alone = pi_xgb.train(params, matrices[0], ROUNDS, privileged=matrices[1], kl_weight=2.0)
    np.testing.assert_allclose(booster.predict(matrices[0]), alone.predict(matrices[0]), rtol=1e-4)
    # Elsewhere a margin is where the student starts, and not the teacher.
    settings |= {"objective": "reg:squarederror"}
    booster = pis.PrivilegedSparkXGBRegressor(**settings).fit(frame.withColumn("log_time", F.lit(3.0))).get_booster()
    matrices[0].set_base_margin(np.full(N_ROWS, 3.0))
    matrices[1].set_base_margin(np.empty(0))
    alone = pi_xgb.train({**PARAMS}, matrices[0], ROUNDS, privileged=matrices[1], kl_weight=2.0)
    np.testing.assert_allclose(booster.predict(matrices[0]), alone.predict(matrices[0]), rtol=1e-4)


def test_copies_are_those_of_one_machine_and_what_they_cannot_do_is_said_on_the_driver(spark, frame):
    settings = {**SETTINGS, "label_col": "amount", "objective": "reg:squaredlogerror"}
    booster = pis.PrivilegedSparkXGBRegressor(**settings).fit(frame).get_booster()
    assert booster.attr("pi_xgb_engine") == "copies"
    alone = on_one_machine({**PARAMS, "objective": "reg:squaredlogerror"}, "amount")
    x = xgb.DMatrix(TABLE[X_NAMES])
    np.testing.assert_allclose(booster.predict(x), alone.predict(x), rtol=1e-4)
    known = np.arange(N_ROWS) % 3 > 0
    gaps = spark.createDataFrame(TABLE.assign(amount=TABLE["amount"].where(known)))
    booster = pis.PrivilegedSparkXGBRegressor(**settings, unlabelled="teach").fit(gaps).get_booster()
    alone = on_one_machine({**PARAMS, "objective": "reg:squaredlogerror"}, "amount", labelled=known)
    np.testing.assert_allclose(booster.predict(x), alone.predict(x), rtol=1e-4)
    assert len(np.unique(alone.predict(x))) > 10
    for wrong, message in [({"method": "jpib"}, "method='kbpib'"), ({"engine": "native"}, "or 'auto'")]:
        with pytest.raises(ValueError, match=message):
            pis.PrivilegedSparkXGBRegressor(**settings, **wrong).fit(frame)


RANKING = {**SETTINGS, "label_col": "kind", "qid_col": "query", "kl_weight": 1.0}
BY_PAIRS = {"objective": "rank:pairwise", "lambdarank_num_pair_per_sample": 30}  # all, in whatever order they come


def ranked_on_one_machine(params, query, **keywords):
    order = np.argsort(query, kind="stable")
    settings = {"label": TABLE["kind"].iloc[order], "qid": query[order]}
    dtrain, privileged = (xgb.DMatrix(TABLE[names].iloc[order], **settings) for names in (X_NAMES, Z_NAMES))
    by_row = {name: values[order] for name, values in keywords.items()}
    params = {**PARAMS, **params}
    return pi_xgb.train(params, dtrain, ROUNDS, privileged=privileged, kl_weight=1.0, **by_row)


def test_a_ranker_gives_the_model_of_one_machine_also_where_queries_are_not_judged(spark, frame):
    query = np.arange(N_ROWS) // 10
    known = query % 3 > 0
    weight = np.where(known, query % 4 < 2, 1.0)
    received = TABLE.assign(query=query, kind=TABLE["kind"].where(known), taught=weight)
    settings = {**RANKING, "ndcg_exp_gain": False, "unlabelled": "teach", "teacher_weight_col": "taught"}
    fitted = pis.PrivilegedSparkXGBRanker(**settings).fit(spark.createDataFrame(received))
    params = {"objective": "rank:ndcg", "ndcg_exp_gain": False}
    alone = ranked_on_one_machine(params, query, labelled=known, teacher_weight=weight)
    x = xgb.DMatrix(TABLE[X_NAMES])
    np.testing.assert_allclose(fitted.get_booster().predict(x), alone.predict(x), rtol=1e-4, atol=1e-5)
    assert fitted.get_booster().attr("pi_xgb_engine") == "copies"
    assert type(fitted).__name__ == "SparkXGBRankerModel"
    # What the teacher knows is not in it.
    assert fitted.transform(frame.drop(*Z_NAMES)).select("prediction").count() == N_ROWS


def test_queries_are_brought_together_and_torn_ones_are_an_error(spark):
    from py4j.protocol import Py4JJavaError
    from pyspark.errors import PythonException

    query = np.arange(N_ROWS) * 7 % 60
    scattered = spark.createDataFrame(TABLE.assign(query=query))
    with pytest.raises((Py4JJavaError, PythonException), match="60 queries have rows in several partitions"):
        pis.PrivilegedSparkXGBRanker(**RANKING, **BY_PAIRS).fit(scattered)
    fitted = pis.PrivilegedSparkXGBRanker(**RANKING, **BY_PAIRS, force_repartition=True).fit(scattered)
    x = xgb.DMatrix(TABLE[X_NAMES])
    expected = ranked_on_one_machine(BY_PAIRS, query).predict(x)
    np.testing.assert_allclose(fitted.get_booster().predict(x), expected, rtol=1e-4, atol=1e-5)


RANKERS_AT_FAULT = {
    "no column of queries": ({"qid_col": None}, "qid_col must be set"),
    "unknown queries": ({"qid_col": "search"}, "qid_col must name.*'search'"),
    "weights of rows": ({"weight_col": "weight"}, "XGBoost weighs whole queries"),
    "queries for the teacher": ({"privileged_cols": ["query"]}, "privileged_cols must not have qid_col.*'query'"),
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


def test_a_joint_student_is_not_continued(frame):
    booster = on_one_machine(BINARY, "y")
    with pytest.raises(ValueError, match="xgb_model cannot be continued by method='jpib'"):
        pis.PrivilegedSparkXGBClassifier(**SETTINGS, method="jpib", xgb_model=booster).fit(frame)


def test_an_xgboost_that_is_built_differently_is_named():
    from pi_xgb._spark.worker import calling

    # Instead of a training without a teacher.
    with pytest.raises(RuntimeError, match=r"does not call create_dmatrix_from_partitions, worker_train"):
        calling(lambda estimator, dataset: None, worker_of())


def test_without_pyspark_the_extra_is_named(monkeypatch):
    for name in [name for name in sys.modules if name.startswith(("pyspark", "pi_xgb.spark", "pi_xgb._spark"))]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "pyspark", None)
    with pytest.raises(ImportError, match=r'pip install "\.\[spark\]"'):
        importlib.import_module("pi_xgb.spark")


def test_a_killed_task_ends_the_training(frame, weighted):
    received = outcome(lambda: pis.PrivilegedSparkXGBClassifier(**SETTINGS, callbacks=[dying()]).fit(frame), 240)
    assert isinstance(received, Exception)
    assert "barrier" in str(received)
    # The session goes on.
    again = pis.PrivilegedSparkXGBClassifier(**SETTINGS, weight_col="weight").fit(frame)
    assert trees(again.get_booster()) == trees(weighted.get_booster())
