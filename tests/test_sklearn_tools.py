"""The estimators in scikit-learn's pipelines, searches and cross-validation, and the folds of labelled rows."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest
import sklearn
from helpers_sklearn import N, Rows, estimator, every_target, plain, raw, rows, same_model
from scipy import sparse
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import ColumnTransformer
from sklearn.ensemble import StackingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import get_scorer, log_loss
from sklearn.model_selection import (
    GridSearchCV,
    GroupKFold,
    KFold,
    StratifiedGroupKFold,
    StratifiedKFold,
    cross_val_score,
    cross_validate,
)
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.utils.estimator_checks import check_estimator
from threadpoolctl import threadpool_limits

from pi_xgb.sklearn import LabelledGroupKFold, LabelledKFold, PrivilegedXGBClassifier, PrivilegedXGBRegressor

# Tools see any teacher alike, and this one is quick.
GUIDED = {"teacher": "boosted", "kl_weight": 2.0}
CROSSFITTED = {"teacher": "boosted", "crossfit": 2, "kl_weight": 3.0}


@pytest.fixture(autouse=True)
def one_thread():
    """Setting labels ignores n_jobs, and threads that wait for each other make small data slow on a busy machine."""
    with threadpool_limits(1, user_api="openmp"):
        yield


@pytest.fixture
def routing():
    with sklearn.config_context(enable_metadata_routing=True):
        yield


@pytest.mark.usefixtures("routing")
@pytest.mark.slow
def test_routing_through_pipeline_calibration_stacking_and_cross_validation():
    x, z, y = rows()
    names = np.where(y == 1, "yes", "no")
    model = estimator(**GUIDED).set_fit_request(privileged=True)
    scaled = Pipeline([("scale", StandardScaler().set_output(transform="pandas")), ("model", model)])
    by_hand = estimator(**GUIDED).fit(
        StandardScaler().set_output(transform="pandas").fit_transform(x), names, privileged=z
    )
    assert same_model(scaled.fit(x, names, privileged=z)[-1], by_hand)

    folds = StratifiedKFold(3)
    scores = cross_validate(model, x, names, cv=folds, params={"privileged": z}, scoring="neg_log_loss")["test_score"]
    for (fit, out), score in zip(folds.split(x, names), scores, strict=True):
        item = estimator(**GUIDED).fit(x.iloc[fit], names[fit], privileged=z.iloc[fit])
        assert score == -log_loss(names[out], item.predict_proba(x.iloc[out]), labels=item.classes_)

    calibrated = CalibratedClassifierCV(model, cv=folds).fit(x, names, privileged=z)
    for (fit, _), item in zip(folds.split(x, names), calibrated.calibrated_classifiers_, strict=True):
        assert same_model(item.estimator, estimator(**GUIDED).fit(x.iloc[fit], names[fit], privileged=z.iloc[fit]))
    # scikit-learn hands the metadata of a stack to its last estimator as well, routed or not, so that must take it.
    stack = StackingClassifier([("guided", model), ("plain", LogisticRegression())], final_estimator=model, cv=folds)
    stack.fit(x, names, privileged=z)
    assert same_model(stack.estimators_[0], estimator(**GUIDED).fit(x, names, privileged=z))
    assert set(stack.predict(x)) <= {"yes", "no"}


@pytest.mark.slow
def test_without_routing_privileged_features_serve_every_tool():
    x, z, y = rows()
    both = x.join(z)
    folds = StratifiedKFold(3)
    model = estimator(privileged_features=["z0", "z1"], **GUIDED)

    search = GridSearchCV(model, {"kl_weight": [0.0, 2.0]}, cv=folds, scoring="neg_log_loss").fit(both, y)
    for k, (fit, out) in enumerate(folds.split(x, y)):
        single = estimator(**GUIDED).fit(x.iloc[fit], y.iloc[fit], privileged=z.iloc[fit])
        score = -log_loss(y.iloc[out], single.predict_proba(x.iloc[out]))
        assert search.cv_results_[f"split{k}_test_score"][1] == score
    # A search, a calibration and a stack that were fitted with the columns predict without them.
    for tool in (
        search,
        CalibratedClassifierCV(model, cv=folds).fit(both, y),
        StackingClassifier([("a", model), ("b", clone(model).set_params(method="jpib"))], cv=folds).fit(both, y),
    ):
        assert np.array_equal(tool.predict_proba(x), tool.predict_proba(both))


@pytest.mark.parametrize("routed", [False, True])
@pytest.mark.slow
def test_a_pipeline_passes_privileged_columns_by_its_transformers(routed):
    x, z, y = rows()
    x = x.assign(ward=np.where(x["x0"] > 0, "north", "south"))
    encode = ColumnTransformer([("ward", OneHotEncoder(), ["ward"])], remainder="passthrough", sparse_threshold=1.0)
    with sklearn.config_context(enable_metadata_routing=routed):
        model = estimator().set_fit_request(privileged=True) if routed else estimator()
        pipe, by_row = Pipeline([("encode", encode), ("model", model)]), {f"{'model__' * (not routed)}privileged": z}
        folds, grid = StratifiedKFold(2), {"model__kl_weight": [0.5, 4.0]}
        search = GridSearchCV(pipe, grid, cv=folds, scoring="neg_log_loss").fit(x, y, **by_row)
        pipe.fit(x, y, **by_row)
    encoded = clone(encode).fit_transform(x)
    assert sparse.issparse(encoded)
    assert same_model(pipe[-1], estimator().fit(encoded, y, privileged=z))
    for k, (fit, out) in enumerate(folds.split(x, y)):
        one = estimator(kl_weight=4.0).fit(encoded[fit], y.iloc[fit], privileged=z.iloc[fit])
        score = -log_loss(y.iloc[out], one.predict_proba(encoded[out]))
        assert search.cv_results_[f"split{k}_test_score"][1] == pytest.approx(score)


@pytest.mark.parametrize("routed", [False, True])
@pytest.mark.slow
def test_what_goes_by_row_is_cut_along(routed):
    rows, folds = Rows(), LabelledGroupKFold(3)
    of_rows = {"privileged": rows.z, "teacher_weight": rows.teacher_weight, "crossfit_groups": rows.patient}
    of_rows["sample_weight"] = rows.weight
    model = rows.estimator(**CROSSFITTED)
    grid, scaler = {"model__kl_weight": [3.0]}, StandardScaler(with_mean=False, with_std=False)
    with sklearn.config_context(enable_metadata_routing=routed):
        if routed:
            model = model.set_fit_request(**dict.fromkeys(of_rows, True))
            loss = get_scorer("neg_log_loss").set_score_request(sample_weight=False)
            scaler = scaler.set_fit_request(sample_weight=False)
            params = {**of_rows, "groups": rows.patient}
            scores = cross_val_score(model, rows.x, rows.y, cv=folds, params=params, scoring=loss)
            pipe = Pipeline([("scale", scaler), ("model", model)])
            pipe.set_output(transform="pandas")
            search = GridSearchCV(pipe, grid, cv=folds, scoring=loss).fit(rows.x, rows.y, **params)
        else:
            scores = cross_val_score(
                model, rows.x, rows.y, cv=folds, params=of_rows, groups=rows.patient, scoring="neg_log_loss"
            )
            pipe = Pipeline([("scale", scaler), ("model", model)]).set_output(transform="pandas")
            named = {f"model__{name}": values for name, values in of_rows.items()}
            search = GridSearchCV(pipe, grid, cv=folds, scoring="neg_log_loss")
            search.fit(rows.x, rows.y, groups=rows.patient, **named)
        for k, (fit, out) in enumerate(folds.split(rows.x, rows.y, rows.patient)):
            parts = {
                name: values.iloc[fit] if name == "privileged" else values[fit] for name, values in of_rows.items()
            }
            single = rows.estimator(**CROSSFITTED).fit(rows.x.iloc[fit], rows.y.iloc[fit], **parts)
            expected = get_scorer("neg_log_loss")(single, rows.x.iloc[out], rows.y.iloc[out])
            assert scores[k] == search.cv_results_[f"split{k}_test_score"][0] == expected
        refitted = rows.estimator(**CROSSFITTED).fit(rows.x, rows.y, **of_rows)
        assert raw(search.best_estimator_[-1]) == raw(refitted)


@pytest.mark.usefixtures("routing")
def test_weights_reach_a_cross_fitted_estimator_with_routing_switched_on():
    x, z, y = rows()
    weight = np.linspace(0.1, 3, len(y))
    weighted = estimator(teacher=LogisticRegression(), crossfit=2, kl_weight=5.0)
    weighted.fit(x, y, privileged=z, sample_weight=weight)
    unweighted = estimator(teacher=LogisticRegression(), crossfit=2, kl_weight=5.0).fit(x, y, privileged=z)
    assert not np.array_equal(weighted.predict_proba(x), unweighted.predict_proba(x))


# --- folds ------------------------------------------------------------------------------------------


@every_target
@pytest.mark.parametrize("shuffle", [False, True])
def test_labelled_folds(classes, shuffle):
    rows = Rows(classes)
    options = {"shuffle": shuffle, "random_state": 1 if shuffle else None}
    splitter = LabelledKFold(4, **options)
    assert splitter.get_n_splits() == 4
    folds = list(splitter.split(rows.x, rows.y))
    known = np.flatnonzero(rows.labelled)
    theirs = (StratifiedKFold if classes else KFold)(4, **options).split(known, rows.y[known])
    for (train, test), (_, out) in zip(folds, theirs, strict=True):
        # Labelled rows are dealt as scikit-learn deals them, the others train in every fold and are tested in none.
        assert test.tolist() == known[out].tolist()
        assert sorted([*train, *test]) == list(range(N))
    own = (StratifiedKFold if classes else KFold)(4, **options).split(rows.x, rows.full)
    for ours, expected in zip(splitter.split(rows.x, rows.full), own, strict=True):
        assert [part.tolist() for part in ours] == [part.tolist() for part in expected]


@pytest.mark.parametrize("classes", [2, 0])
def test_labelled_folds_keep_groups_on_one_side(classes):
    rows = Rows(classes)
    # Some patients have no label at all.
    known = np.flatnonzero(rows.labelled)
    splitter = LabelledGroupKFold(4)
    folds = list(splitter.split(rows.x, rows.y, groups=rows.patient))
    theirs = (StratifiedGroupKFold if classes else GroupKFold)(4).split(known, rows.y[known], rows.patient[known])
    for (train, test), (_, out) in zip(folds, theirs, strict=True):
        assert test.tolist() == known[out].tolist()
        assert not set(rows.patient[train]) & set(rows.patient[test])
        # Every row of every other patient trains, labelled or not.
        assert len(train) == (~np.isin(rows.patient, rows.patient[test])).sum()
    assert sum(len(test) for _, test in folds) == len(known)


def test_folds_that_cannot_be_dealt():
    rows = Rows()
    few = rows.y.where(np.arange(N) < 6)
    few[:] = [0.0, 1.0, 0.0] + [np.nan] * (N - 3)
    assert [test.tolist() for _, test in LabelledKFold(3).split(rows.x, few)] == [[0], [1], [2]]
    for ask, error, message in (
        (
            lambda: LabelledKFold(5).split(rows.x, few),
            ValueError,
            "n_splits=5 greater than the number of samples: n_samples=3",
        ),
        (lambda: LabelledKFold(5).split(rows.x), TypeError, "y must have one value per row, got None"),
        (lambda: LabelledKFold(3).split(rows.x[:-1], rows.y), ValueError, "inconsistent numbers of samples"),
        (lambda: LabelledKFold(1).split(rows.x, rows.y), ValueError, "n_splits=2 or more"),
        (lambda: LabelledKFold(2.5).split(rows.x, rows.y), ValueError, "number of folds must be of Integral type"),
        (lambda: LabelledKFold(5).split(rows.x, rows.y * np.nan), ValueError, r"y .*row.*label"),
        (lambda: LabelledGroupKFold(2).split(rows.x, rows.y), ValueError, r"groups.*per row"),
        (lambda: LabelledGroupKFold(2).split(rows.x, rows.y, [1]), ValueError, r"groups.*160 rows.*1"),
        (
            lambda: LabelledGroupKFold(5).split(rows.x, rows.y, np.arange(N) % 3),
            ValueError,
            r"groups.*3 distinct.*5 folds",
        ),
    ):
        with pytest.raises(error, match=message):
            list(ask())


SCORED = {2: ["roc_auc", "neg_log_loss", "accuracy"], 3: ["roc_auc_ovr", "neg_log_loss"], 0: ["r2"]}


OF_TARGET = {
    "numbers": lambda y: y,
    "text with None": lambda y: y.map({0: "b", 1: "a", 2: "c"}).astype(object).where(y.notna(), None),
    "text in an array": lambda y: np.array([{0: "b", 1: "a", 2: "c"}.get(value) for value in y], dtype=object),
    "Int64": lambda y: y.astype("Int64"),
    "categories": lambda y: y.map({0: "b", 1: "a", 2: "c"}).astype("category"),
}


@pytest.mark.parametrize(
    ("classes", "kind"),
    [(0, "numbers"), (2, "numbers"), (2, "text with None"), (2, "categories"), (3, "text in an array"), (3, "Int64")],
)
@pytest.mark.parametrize("way", ["cross_validate", "search", "pipeline", "inside"])
@pytest.mark.slow
def test_cross_validation_scores_labelled_rows_and_trains_on_all(classes, kind, way):
    rows, folds = Rows(classes), LabelledKFold(3)
    y = OF_TARGET[kind](rows.y)
    model = rows.estimator(**CROSSFITTED)
    scoring = SCORED[classes]
    if way == "cross_validate":
        found = cross_validate(model, rows.x, y, cv=folds, params={"privileged": rows.z}, scoring=scoring)
    elif way == "search":
        grid = {"kl_weight": [3.0, 0.0]}
        search = GridSearchCV(model, grid, cv=folds, scoring=scoring, refit=False).fit(rows.x, y, privileged=rows.z)
        found = {f"test_{name}": [search.cv_results_[f"split{k}_test_{name}"][0] for k in range(3)] for name in scoring}
    elif way == "pipeline":
        pipe = Pipeline([("scale", StandardScaler(with_mean=False, with_std=False)), ("model", model)])
        pipe.set_output(transform="pandas")
        found = cross_validate(pipe, rows.x, y, cv=folds, params={"model__privileged": rows.z}, scoring=scoring)
    else:
        inside = clone(model).set_params(privileged_features=["z0", "z1"])
        found = cross_validate(inside, rows.x.join(rows.z), y, cv=folds, scoring=scoring)
    for k, (fit, out) in enumerate(folds.split(rows.x, rows.y)):
        single = rows.estimator(**CROSSFITTED)
        single.fit(rows.x.iloc[fit], pd.Series(y).iloc[fit], privileged=rows.z.iloc[fit])
        for name in scoring:
            assert found[f"test_{name}"][k] == get_scorer(name)(single, rows.x.iloc[out], pd.Series(y).iloc[out])


# --- scikit-learn's own checks --------------------------------------------------------------------------------


def first_column(X):
    """The first column of whatever a check passes as X, as the privileged one; it is the student's, too."""
    table = np.asarray(X.toarray() if hasattr(X, "toarray") else X)
    return table[:, :1] if table.ndim == 2 and table.shape[1] else None


class GuidedClassifier(PrivilegedXGBClassifier):
    def fit(self, X, y, *, sample_weight=None):
        return super().fit(X, y, sample_weight=sample_weight, privileged=first_column(X))


class GuidedRegressor(PrivilegedXGBRegressor):
    def fit(self, X, y, *, sample_weight=None):
        return super().fit(X, y, sample_weight=sample_weight, privileged=first_column(X))


# What scikit-learn's checks find, and why it stays.
INHERITED = {
    "check_estimators_overwrite_params": "XGBClassifier.fit sets objective to multi:softprob for several classes",
    "check_dont_overwrite_parameters": "the same",
    "check_dont_overwrite_attributes": "the same, by its name in older versions",
    "check_classifiers_multilabel_output_format_predict": "XGBClassifier predicts several labels per row as floats",
    "check_regressor_multioutput": "XGBRegressor predicts in single precision",
    "check_classifiers_one_label_sample_weights": "XGBoost 3.1 refuses rows whose weights leave one class only",
}


ONE_TARGET = {
    "check_classifiers_multilabel_representation_invariance": "a teacher of several targets",
    "check_classifiers_multilabel_output_format_predict": "a teacher of several targets",
    "check_classifiers_multilabel_output_format_predict_proba": "a teacher of several targets",
    "check_classifiers_multilabel_output_format_decision_function": "a teacher of several targets",
}


# A weight of 2 and a row given twice differ in the last bit of a sum, which can tip a tie between two splits.
ROUNDING = {"check_sample_weight_equivalence_on_dense_data", "check_sample_weight_equivalence_on_sparse_data"}


def failures(model):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        checks = check_estimator(model, on_fail=None, on_skip=None)
    return {check["check_name"] for check in checks if check["status"] == "failed"}


@pytest.mark.parametrize("classes", [2, 0])
@pytest.mark.slow
def test_check_estimator_finds_nothing_that_xgboosts_estimator_does_not_have(classes):
    quick = {"n_estimators": 2, "n_jobs": 1}
    found = failures(estimator(classes, **quick, kl_weight=0))
    assert found <= failures(plain(classes, **quick))
    assert found <= set(INHERITED) | ROUNDING


@pytest.mark.slow
@pytest.mark.parametrize(("guided", "teacher"), [(GuidedClassifier, None), (GuidedRegressor, "boosted")])
def test_check_estimator_finds_nothing_more_when_somebody_teaches(guided, teacher):
    assert failures(guided(n_estimators=5, n_jobs=1, teacher=teacher)) <= set(INHERITED) | set(ONE_TARGET) | ROUNDING
