"""Estimators and rows without a label: a missing y is taught, to the bit as pi_xgb.train does it, and judges nobody."""

from __future__ import annotations

import datetime
import decimal
import warnings

import numpy as np
import pandas as pd
import pytest
import sklearn
import xgboost as xgb
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.metrics import get_scorer
from sklearn.model_selection import (
    GridSearchCV,
    GroupKFold,
    KFold,
    PredefinedSplit,
    ShuffleSplit,
    StratifiedGroupKFold,
    StratifiedKFold,
    cross_val_score,
    cross_validate,
)
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_limits

import pi_xgb
from pi_xgb._core.crossfit import deal_labelled
from pi_xgb._core.learners.estimator import EstimatorModel
from pi_xgb._core.spec import Spec
from pi_xgb.constraints import DemographicParity, EqualizedOdds
from pi_xgb.sklearn import (
    LabelledGroupKFold,
    LabelledKFold,
    PrivilegedXGBClassifier,
    PrivilegedXGBRegressor,
)


@pytest.fixture(autouse=True)
def one_thread():
    with threadpool_limits(1, user_api="openmp"):
        yield


@pytest.fixture
def routing():
    with sklearn.config_context(enable_metadata_routing=True):
        yield


N, ROUNDS = 160, 6
SMALL = {"n_estimators": ROUNDS, "max_depth": 3, "n_jobs": 1}
every_target = pytest.mark.parametrize("classes", [2, 3, 0])


class Rows:
    """X, privileged, y as numbers without gaps, y with gaps, which rows have a label, and what else goes by row."""

    def __init__(self, classes=2, seed=0):
        data = pi_xgb.datasets.make_privileged(N, n_features=4, n_privileged=2, seed=seed)
        self.x, self.z, self.classes = data.x, data.z, classes
        self.full = data.q if classes == 0 else pd.Series(data.y if classes == 2 else pd.qcut(data.q, 3, labels=False))
        rng = np.random.default_rng(seed)
        self.labelled = rng.random(N) < 0.4
        self.y = self.full.astype(float).where(self.labelled)
        self.weight = rng.choice([0.5, 1.0, 2.0], N).astype(np.float32)
        self.teacher_weight = rng.choice([0.3, 1.0, 2.5], N)
        self.patient = np.arange(N) // 3

    def estimator(self, **parameters):
        made = PrivilegedXGBRegressor if self.classes == 0 else PrivilegedXGBClassifier
        return made(**{**SMALL, **parameters})

    def params(self, **parameters):
        """What the estimator hands to train."""
        made = self.estimator(**parameters).get_xgb_params()
        params = {key: value for key, value in made.items() if value is not None}
        return params | ({"objective": "multi:softprob", "num_class": 3} if self.classes == 3 else {})

    def by_train(self, label=None, weight=None, **guiding):
        """The booster of pi_xgb.train on these rows."""
        # Of a QuantileDMatrix the labelled rows cannot be taken, which are all that count at a weight of 0.
        made = xgb.DMatrix if guiding.get("kl_weight") == 0 else xgb.QuantileDMatrix
        dtrain = made(self.x, self.full if label is None else label, weight=weight)
        return pi_xgb.train(self.params(), dtrain, ROUNDS, **guiding)


def raw(model):
    return (model if isinstance(model, xgb.Booster) else model.get_booster()).save_raw()


def nameless(model):
    """The bytes of a booster, but for the name of its teacher: what an estimator taught may come from an array."""
    booster = (model if isinstance(model, xgb.Booster) else model.get_booster()).copy()
    booster.set_attr(pi_xgb_teacher=None, pi_xgb_teacher_settings=None)
    return booster.save_raw()


# --- the model of pi_xgb.train -------------------------------------------------------------------------------


@every_target
@pytest.mark.parametrize(
    "guiding",
    [
        {},
        {"kl_weight": 2.0, "crossfit": 3},
        {"method": "jpib", "kl_weight": 1.0},
        {"teacher_sees": "all", "crossfit": 2},
        {"crossfit": 3, "teacher_weight": True, "crossfit_groups": True},
        {"method": "jpib", "teacher_weight": True},
        {"kl_weight": 0},
    ],
)
def test_a_missing_y_is_the_unlabelled_row_of_train(classes, guiding):
    rows = Rows(classes)
    keywords = {k: v for k, v in guiding.items() if k not in ("teacher_weight", "crossfit_groups", "teacher_sees")}
    of_rows = {
        k: v
        for k, v in {"teacher_weight": rows.teacher_weight, "crossfit_groups": rows.patient}.items()
        if guiding.get(k)
    }
    sees_all = guiding.get("teacher_sees") == "all"
    model = rows.estimator(**keywords, **({"teacher_sees": "all"} if sees_all else {}))
    model.fit(rows.x, rows.y, privileged=rows.z, sample_weight=rows.weight, **of_rows)

    models = []
    for label in (rows.full, rows.full.where(rows.labelled, rows.full.to_numpy()[::-1])):
        table = rows.x.join(rows.z) if sees_all else rows.z
        models.append(
            rows.by_train(
                label,
                rows.weight,
                privileged=xgb.DMatrix(table, label),
                labelled=rows.labelled,
                allow_overlap=sees_all,
                **keywords,
                **of_rows,
            )
        )
    # To the last byte, and whatever labels train was given for the rows that have none.
    # With all columns in one table, train does not know that the teacher sees "all".
    bytes_of = nameless if sees_all else raw
    assert bytes_of(model) == bytes_of(models[0]) == bytes_of(models[1])


@every_target
@pytest.mark.parametrize("method", ["hist", "approx", "exact"])
def test_without_weight_it_is_xgboost_on_the_labelled_rows(classes, method):
    rows, known = Rows(classes), Rows(classes).labelled
    y = rows.y
    # Few bins, so that other rows would move the cuts.
    model = rows.estimator(kl_weight=0.0, tree_method=method, max_bin=4)
    keywords = {"sample_weight": list(rows.weight)}
    keywords |= {} if classes == 3 else {"base_margin": rows.weight}
    model.fit(rows.x, y, privileged=rows.z, eval_set=[(rows.x[known], y[known])], verbose=False, **keywords)
    plain = xgb.XGBRegressor if classes == 0 else xgb.XGBClassifier
    plain = plain(**SMALL, tree_method=method, max_bin=4)
    keywords = {name: np.asarray(value)[known] for name, value in keywords.items()}
    plain.fit(rows.x[known], y[known], eval_set=[(rows.x[known], y[known])], verbose=False, **keywords)
    assert raw(model) == raw(plain)
    assert model.evals_result() == plain.evals_result()
    assert model.teacher_ is None


def test_a_constraint_that_counts_keeps_the_rows_without_a_label():
    rows, known = Rows(), Rows().labelled
    plain = raw(xgb.XGBClassifier(**SMALL).fit(rows.x[known], rows.y[known]))
    for weight in (0.0, 5.0):
        model = rows.estimator(kl_weight=0.0, constraints=[(DemographicParity(rows.patient % 2), weight)])
        assert (raw(model.fit(rows.x, rows.y)) == plain) == (weight == 0)


DAY = datetime.date(2020, 1, 1)
NAMED = {
    "NaN": lambda y: np.where(pd.isna(y), np.nan, y),
    "NaN in single precision": lambda y: np.asarray(y, np.float32),
    "None": lambda y: [None if pd.isna(value) else int(value) for value in y],
    "Int64": lambda y: y.astype("Int64"),
    "boolean": lambda y: y.astype("boolean"),
    "truth values": lambda y: y.astype(object).where(y.notna(), None).map({0: False, 1: True, None: None}),
    "text": lambda y: y.map({0: "healthy", 1: "ill"}),
    "text with None": lambda y: np.array([{0: "healthy", 1: "ill"}.get(value) for value in y], dtype=object),
    "pandas' text": lambda y: y.map({0: "healthy", 1: "ill"}).astype("string"),
    "text with NA": lambda y: y.map({0: "healthy", 1: "ill"}).astype(object).where(y.notna(), pd.NA),
    "categories": lambda y: y.map({0: "healthy", 1: "ill"}).astype("category"),
    "dates": lambda y: y.map({0: pd.Timestamp("2020-01-01"), 1: pd.Timestamp("2021-01-01")}),
    "one column": lambda y: y.to_frame().to_numpy(),
    "one column of text": lambda y: y.map({0: "healthy", 1: "ill"}).to_frame().to_numpy(object),
    "polars": lambda y: pytest.importorskip("polars").Series([{0: "a", 1: "b"}.get(value) for value in y]),
    "arrow": lambda y: pytest.importorskip("pyarrow").array([{0: "a", 1: "b"}.get(value) for value in y]),
}


@pytest.mark.parametrize("classes", [0, 2])
@pytest.mark.parametrize("guiding", [{"crossfit": 3}, {"method": "jpib"}, {"kl_weight": 0.0}])
def test_several_targets_are_missing_together(classes, guiding):
    rows = Rows(classes)
    several = pd.DataFrame({"first": rows.full, "second": rows.full.max() - rows.full}).astype(float)
    gaps = several.astype(object)
    gaps[~rows.labelled] = None
    model = rows.estimator(**guiding).fit(rows.x, gaps, privileged=rows.z)

    # What stands in the rows without labels is never looked at.
    several[~rows.labelled] = 1.0
    keywords = {"privileged": xgb.DMatrix(rows.z, several), "labelled": rows.labelled, **guiding}
    same = rows.by_train(several, **keywords)
    shown = same.predict(xgb.DMatrix(rows.x), output_margin=True)
    np.testing.assert_allclose(model.predict(rows.x, output_margin=True), shown, atol=1e-5)


@pytest.mark.filterwarnings("ignore:A column-vector y was passed")
@pytest.mark.parametrize("kind", NAMED)
def test_classes_of_every_kind_may_be_missing(kind):
    rows = Rows()
    y = NAMED[kind](rows.y)
    model = rows.estimator(crossfit=2).fit(rows.x, y, privileged=rows.z)
    assert raw(model) == raw(rows.estimator(crossfit=2).fit(rows.x, rows.y, privileged=rows.z))
    # Classes are those of the labelled rows, by their names, and answers carry these.
    known = [value for value in np.asarray(y).ravel() if not pd.isna(value)]
    assert model.classes_.tolist() == sorted(set(np.asarray(known).tolist()))
    assert set(model.predict(rows.x).tolist()) <= set(model.classes_.tolist())


def test_several_classes_of_text_may_be_missing():
    rows = Rows(3)
    names = rows.y.map({0: "c", 1: "a", 2: "b"})
    coded = rows.y.map({0: 2, 1: 0, 2: 1})
    model = rows.estimator(kl_weight=2.0).fit(rows.x, names, privileged=rows.z)
    assert raw(model) == raw(rows.estimator(kl_weight=2.0).fit(rows.x, coded, privileged=rows.z))
    assert model.classes_.tolist() == ["a", "b", "c"]
    # softmax, too
    soft = rows.estimator(kl_weight=2.0, objective="multi:softmax").fit(rows.x, names, privileged=rows.z)
    assert set(soft.predict(rows.x)) <= {"a", "b", "c"}


@pytest.mark.parametrize(
    "container",
    [
        list,
        lambda y: y.to_numpy(np.float32),
        lambda y: y.astype("Float64"),
        lambda y: y.astype(object).where(y.notna(), None),
        lambda y: y.astype(object).where(y.notna(), pd.NA),
        lambda y: y.astype(object).where(y.notna(), pd.NaT),
        lambda y: [None if pd.isna(value) else decimal.Decimal(value) for value in y],
        lambda y: y.to_frame(),
        lambda y: pytest.importorskip("polars").Series([None if pd.isna(value) else value for value in y]),
    ],
)
def test_amounts_of_every_kind_may_be_missing(container):
    rows = Rows(0)
    expected = raw(rows.estimator(crossfit=2).fit(rows.x, rows.y, privileged=rows.z))
    assert raw(rows.estimator(crossfit=2).fit(rows.x, container(rows.y), privileged=rows.z)) == expected


def test_fit_leaves_y_as_it_is():
    rows = Rows()
    before = rows.y.copy()
    rows.estimator(crossfit=2).fit(rows.x, rows.y, privileged=rows.z)
    pd.testing.assert_series_equal(rows.y, before)


@every_target
@pytest.mark.parametrize("inside", [True, False])
def test_privileged_columns_inside_x_teach_the_same(classes, inside):
    rows = Rows(classes)
    expected = rows.estimator(crossfit=2).fit(rows.x, rows.y, privileged=rows.z)
    model = rows.estimator(crossfit=2, privileged_features=["z0", "z1"]).fit(rows.x.join(rows.z), rows.y)
    assert raw(model) == raw(expected)
    assert np.array_equal(model.predict(rows.x.join(rows.z)), expected.predict(rows.x))


# --- nobody teaches ------------------------------------------------------------------------------------------


@every_target
def test_without_a_teacher_rows_without_a_label_are_an_error(classes):
    rows = Rows(classes)
    missing = int((~rows.labelled).sum())
    for kl_weight in (0.0, 1.0):
        with pytest.raises(ValueError, match=f"{missing} of {N} rows.*privileged="):
            rows.estimator(kl_weight=kl_weight).fit(rows.x, rows.y)
    with pytest.raises(ValueError, match=r"y .*row.*label.*teacher"):
        rows.estimator().fit(rows.x, rows.y * np.nan, privileged=rows.z)
    several = np.column_stack([rows.y, rows.y])
    with pytest.raises(ValueError, match=f"{missing} of {N} rows.*no label"):
        rows.estimator(kl_weight=0).fit(rows.x, several)


@every_target
@pytest.mark.parametrize("guiding", [{}, {"teacher": "estimator"}, {"teacher": "brought"}, {"constraints": True}])
def test_at_kl_weight_0_the_labelled_rows_alone_count(classes, guiding):
    rows = Rows(classes)
    rows.x = rows.x.round(0)  # so few values that all ways of drawing cuts draw the same
    fit = {"privileged": rows.z}
    if guiding.get("teacher") == "estimator":
        guiding = {"teacher": LogisticRegression() if classes else LinearRegression()}
    elif guiding.get("teacher") == "brought":
        q = np.full((N, 3), 1 / 3) if classes == 3 else np.full(N, 0.5)
        guiding, fit = {"teacher": pi_xgb.ModelTeacher(lambda _: q, None, probabilities=classes > 0)}, {}
    elif guiding:
        guiding = {"constraints": [(DemographicParity(np.arange(N) % 2), 0.0)]}
    model = rows.estimator(kl_weight=0, **guiding).fit(rows.x, rows.y, sample_weight=rows.weight, **fit)
    known = rows.labelled
    expected = rows.estimator(kl_weight=0).fit(rows.x[known], rows.y[known], sample_weight=rows.weight[known])
    answer = "predict_proba" if classes else "predict"
    np.testing.assert_allclose(getattr(model, answer)(rows.x), getattr(expected, answer)(rows.x), atol=1e-5)


def test_a_missing_value_is_no_class_and_one_class_is_too_few():
    rows = Rows()
    with pytest.raises(ValueError, match=r"y .*labelled.*'ill'"):
        rows.estimator().fit(rows.x, rows.y.map({0: None, 1: "ill"}), privileged=rows.z)
    with pytest.raises(ValueError, match="Unknown label type: continuous"):
        rows.estimator().fit(rows.x, rows.y + 0.25, privileged=rows.z)


# --- what goes by row ----------------------------------------------------------------------------------------


def test_weights_of_unlabelled_rows_count_for_the_teacher():
    rows = Rows()
    models = []
    for factor in (1.0, 5.0):
        weight = np.where(rows.labelled, 1.0, factor)
        models.append(rows.estimator(crossfit=2).fit(rows.x, rows.y, privileged=rows.z, sample_weight=weight))
    assert raw(models[0]) != raw(models[1])
    with pytest.raises(ValueError, match=r"sample_weight must .* 0 in every row that has a label"):
        models[0].fit(rows.x, rows.y, privileged=rows.z, sample_weight=~rows.labelled * 1.0)
    with pytest.raises(ValueError, match="sample_weight must have one value for each of the 160 rows of X, got 3"):
        models[0].fit(rows.x, rows.y, privileged=rows.z, sample_weight=[1.0] * 3)


@pytest.mark.parametrize("method", ["kbpib", "jpib"])
def test_teacher_weight_counts_for_the_teacher_and_not_for_constraints(method):
    rows = Rows()
    group = np.arange(N) % 2
    parity = [(DemographicParity(group, match="mean"), 3.0)]
    model = rows.estimator(kl_weight=2.0, method=method, constraints=parity)
    model.fit(rows.x, rows.y, privileged=rows.z, teacher_weight=rows.teacher_weight)
    dprivileged, params = xgb.DMatrix(rows.z, rows.full), rows.params()
    if method == "kbpib":
        learned = pi_xgb.fit_teacher(params, dprivileged, ROUNDS, labelled=rows.labelled)
    else:
        learned = pi_xgb.JointTeacher(dprivileged, params)
    pairs = [(learned, 2.0 * rows.teacher_weight), *parity]
    assert nameless(model) == nameless(rows.by_train(teacher=pairs, labelled=rows.labelled))
    with pytest.raises(ValueError, match=r"teacher_weight.*teacher.*none"):
        rows.estimator(constraints=parity).fit(rows.x, rows.full, teacher_weight=rows.teacher_weight)


def test_teacher_weight_of_a_teacher_that_was_brought():
    rows = Rows()
    learned = pi_xgb.fit_teacher(rows.params(), xgb.DMatrix(rows.z, rows.full), 5, labelled=rows.labelled)
    model = rows.estimator(teacher=learned, kl_weight=1.5)
    model.fit(rows.x, rows.y, teacher_weight=rows.teacher_weight)
    guiding = {"teacher": learned, "kl_weight": 1.5, "teacher_weight": rows.teacher_weight}
    assert raw(model) == raw(rows.by_train(labelled=rows.labelled, **guiding))


SPOILT = {
    "weight of wrong length": ({"teacher_weight": [1.0]}, "teacher_weight must have one value for each of the 160"),
    "weight negative": ({"teacher_weight": [-1.0] * N}, "teacher_weight must be .* from 0 .* got -1"),
    "groups of wrong length": ({"crossfit_groups": [1, 2]}, "crossfit_groups must have one value for each of the 160"),
    "groups with gaps": ({"crossfit_groups": [None] * N}, "crossfit_groups must .* 160 missing"),
    "groups too few": ({"crossfit_groups": np.arange(N) % 2}, "crossfit_groups has 2 distinct values for 3 folds"),
}


@pytest.mark.parametrize("name", SPOILT)
@pytest.mark.parametrize("taught", [{}, {"teacher_sees": "all"}, {"teacher": LogisticRegression()}])
def test_bad_words_about_rows(name, taught):
    rows = Rows()
    of_rows, message = SPOILT[name]
    model = rows.estimator(crossfit=3, **taught)
    with pytest.raises(ValueError, match=message):
        model.fit(rows.x, rows.y, privileged=rows.z, **of_rows)
    assert not hasattr(model, "_Booster")


def test_groups_are_not_read_where_nothing_is_cross_fitted():
    rows = Rows()
    # So that one search can go through crossfit, or through the methods.
    for parameters in ({}, {"method": "jpib"}, {"teacher": LogisticRegression(), "crossfit": 0}, {"kl_weight": 0}):
        model = rows.estimator(**parameters).fit(rows.x, rows.y, privileged=rows.z, crossfit_groups=rows.patient)
        assert raw(model) == raw(rows.estimator(**parameters).fit(rows.x, rows.y, privileged=rows.z))
    with pytest.raises(ValueError, match="crossfit_groups requires a trainable teacher"):
        rows.estimator(kl_weight=0).fit(rows.x, rows.full, crossfit_groups=rows.patient)


# --- rows without privileged values --------------------------------------------------------------------------

UNNAMED = {
    "frames": lambda table: table,
    "arrays": lambda table: table.to_numpy(),
    "sparse": lambda table: sparse.csr_matrix(np.nan_to_num(table.to_numpy())),
    "X without names": None,
}


@pytest.mark.parametrize("sees", ["privileged", "all"])
@pytest.mark.parametrize("kind", UNNAMED)
def test_rows_without_privileged_values_are_not_taught(sees, kind):
    rows = Rows()
    rows.z[::4] = np.nan
    known = np.where(np.arange(N) % 4, 1.0, 0.0)
    as_x = UNNAMED[kind] or UNNAMED["arrays"]
    as_z = UNNAMED[kind] or UNNAMED["frames"]
    model = rows.estimator(teacher_sees=sees, crossfit=2, kl_weight=5.0)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", ".*neither a label")
        with pytest.warns(UserWarning, match=r"40.*160.*privileged"):
            found = raw(model.fit(as_x(rows.x), rows.y, privileged=as_z(rows.z)))
    with pytest.warns(UserWarning, match=r"neither.*label.*teacher"):
        model.fit(as_x(rows.x), rows.y, privileged=as_z(rows.z), teacher_weight=known)
    # teacher_weight=0 in these rows says the same, and 1 the opposite.
    assert raw(model) == found
    assert raw(model.fit(as_x(rows.x), rows.y, privileged=as_z(rows.z), teacher_weight=np.ones(N))) != found


@pytest.mark.filterwarnings("ignore:.*no privileged value")
@pytest.mark.parametrize(
    "taught",
    [
        {},
        {"teacher_sees": "all"},
        {"teacher": HistGradientBoostingClassifier(max_iter=5, random_state=0)},
        {"teacher": HistGradientBoostingClassifier(max_iter=5, random_state=0), "teacher_sees": "privileged"},
    ],
)
def test_beside_constraints_they_are_not_taught_either(taught):
    rows = Rows()
    rows.z[::4] = np.nan
    known = np.where(np.arange(N) % 4, 1.0, 0.0)
    constraints = [(DemographicParity(np.arange(N) % 2, match="mean"), 1.0)]
    model = rows.estimator(**taught, kl_weight=5.0, constraints=constraints)
    found = raw(model.fit(rows.x, rows.y, privileged=rows.z))
    assert raw(model.fit(rows.x, rows.y, privileged=rows.z, teacher_weight=known)) == found


def test_an_estimator_does_not_judge_rows_without_privileged_values():
    rows = Rows()
    gaps = rows.z.copy()
    gaps[::4] = np.nan
    known = np.where(np.arange(N) % 4, 1.0, 0.0)
    alone = {"teacher_sees": "privileged", "crossfit": 0, "kl_weight": 2.0}
    model = rows.estimator(teacher=LogisticRegression(), **alone)
    with pytest.warns(UserWarning, match=r"40.*160.*privileged"):
        model.fit(rows.x, rows.full, privileged=gaps)  # LogisticRegression takes no NaN
    whole = known > 0
    q = np.zeros(N)
    q[whole] = LogisticRegression().fit(rows.z[whole], rows.full[whole]).predict_proba(rows.z[whole])[:, 1]
    assert nameless(model) == nameless(rows.by_train(teacher=q, kl_weight=2.0, teacher_weight=known))
    # One that takes gaps judges them where teacher_weight says so.
    model = rows.estimator(teacher=HistGradientBoostingClassifier(max_iter=5, random_state=0), **alone)
    model.fit(rows.x, rows.full, privileged=gaps, teacher_weight=np.ones(N))
    fresh = clone(model.teacher).fit(rows.z[whole], rows.full[whole])
    assert nameless(model) == nameless(rows.by_train(teacher=fresh.predict_proba(gaps)[:, 1], kl_weight=2.0))


# --- teachers of other kinds ---------------------------------------------------------------------------------


@every_target
@pytest.mark.parametrize("grouped", [False, True])
def test_an_estimator_learns_from_labelled_rows_and_judges_all(classes, grouped):
    rows = Rows(classes)
    teacher = LogisticRegression() if classes else LinearRegression()
    of_rows = {"crossfit_groups": rows.patient} if grouped else {}
    alone = {"teacher": teacher, "teacher_sees": "privileged", "kl_weight": 2.0}
    model = rows.estimator(**alone, crossfit=3)
    model.fit(rows.x, rows.y, privileged=rows.z, sample_weight=rows.weight, **of_rows)

    # By hand: what each row is told by the models that know neither it nor its group, on average.
    label = rows.full.to_numpy(np.float32)
    groups = rows.patient if grouped else None
    fold_of = deal_labelled(label, rows.labelled, groups, 3, 0, classes=classes > 0)
    assert (fold_of[rows.labelled] >= 0).all()
    verdicts = []
    for fold in range(3):
        fit = rows.labelled & (fold_of != fold)
        single = clone(teacher).fit(rows.z[fit], label[fit], sample_weight=rows.weight[fit])
        verdicts.append(single.predict_proba(rows.z) if classes else single.predict(rows.z))
    q = np.mean(verdicts, axis=0)
    for fold in range(3):
        q[fold_of == fold] = verdicts[fold][fold_of == fold]
    q = q[:, 1] if classes == 2 else q
    expected = rows.by_train(weight=rows.weight, teacher=q, kl_weight=2.0, labelled=rows.labelled)
    np.testing.assert_allclose(
        model.get_booster().predict(xgb.DMatrix(rows.x)), expected.predict(xgb.DMatrix(rows.x)), atol=1e-6
    )
    # In-sample: one model of all labelled rows.
    model = rows.estimator(**alone, crossfit=0).fit(rows.x, rows.y, privileged=rows.z)
    single = clone(teacher).fit(rows.z[rows.labelled], label[rows.labelled])
    q = single.predict_proba(rows.z) if classes else single.predict(rows.z)
    q = q[:, 1] if classes == 2 else q
    assert nameless(model) == nameless(rows.by_train(teacher=q, kl_weight=2.0, labelled=rows.labelled))


class Shares(ClassifierMixin, BaseEstimator):
    """Says of every row how often each class was among the rows that it learned from."""

    def fit(self, X, y, sample_weight=None):
        weight = np.ones(len(y)) if sample_weight is None else sample_weight
        self.classes_ = np.unique(y)
        self.shares_ = np.array([weight[y == item].sum() for item in self.classes_]) / weight.sum()
        return self

    def predict_proba(self, X):
        return np.tile(self.shares_, (len(X), 1))


@pytest.mark.parametrize(("objective", "n_classes"), [("binary:logistic", 2), *(("multi:softprob", n) for n in (2, 3))])
@pytest.mark.parametrize("crossfit", [0, 3])
@pytest.mark.parametrize("weighted", [True, False])
def test_what_an_estimator_says_written_out(objective, n_classes, crossfit, weighted):
    chance = np.random.default_rng(0)
    y, groups = chance.integers(0, n_classes, 120).astype(float), chance.integers(0, 30, 120)
    z, labelled = chance.random((120, 2)), chance.random(120) < 0.7
    z[::10] = np.nan
    weight = chance.uniform(0.5, 2, 120).astype(np.float32) if weighted else None
    params = {"objective": objective, **({"num_class": n_classes} if "multi" in objective else {})}
    dprivileged = xgb.DMatrix(z, y, weight=weight)
    keywords = {"teacher": Shares(), "crossfit": crossfit, "labelled": labelled}
    keywords |= {"crossfit_groups": groups} if crossfit else {}
    with pytest.warns(UserWarning, match=r"12.*120 rows"):
        learned = pi_xgb.fit_teacher(params, dprivileged, **keywords)
    q, counts = learned.values, learned.teacher_weight
    assert counts.tolist() == (~np.isnan(z[:, 0])).astype(float).tolist()

    def shares(rows):
        own = np.ones(120) if weight is None else weight
        return np.array([own[rows & (y == k)].sum() for k in range(n_classes)]) / own[rows].sum()

    learns = labelled & (counts > 0)
    if crossfit:
        folds = deal_labelled(y, labelled, groups, 3, 0, classes=True)
        of_folds = np.array([shares(learns & (folds != k)) for k in range(3)])
        expected = np.where((folds >= 0)[:, None], of_folds[folds], of_folds.mean(axis=0))
    else:
        expected = np.tile(shares(learns), (120, 1))
    scored = counts > 0
    np.testing.assert_allclose(q[scored], (expected if "multi" in objective else expected[:, 1])[scored], rtol=1e-6)
    # What the user says of rows holds in the place of gaps.
    learned = pi_xgb.fit_teacher(params, dprivileged, **keywords, teacher_weight=np.full(120, 0.5))
    assert learned.teacher_weight.tolist() == [0.5] * 120


@pytest.mark.parametrize("crossfit", [0, 2])
def test_one_estimator_is_fitted_for_each_fold(crossfit):
    fits = []

    class Unweighted(Shares):
        def fit(self, X, y):
            fits.append(len(X))
            return super().fit(X, y)

    z, y = np.ones((20, 1)), np.arange(20) % 2
    params, keywords = {"objective": "binary:logistic"}, {"teacher": Unweighted(), "crossfit": crossfit}
    pi_xgb.fit_teacher(params, xgb.DMatrix(z, y), **keywords)
    assert fits == ([10, 10] if crossfit else [20])
    with pytest.raises(ValueError, match=r"sample_weight.*weights.*Unweighted"):
        pi_xgb.fit_teacher(params, xgb.DMatrix(z, y, weight=np.ones(20)), **keywords)


def test_columns_are_put_in_the_order_of_the_classes():
    teacher, q = Shares(), np.array([[0.1, 0.9]])
    loss = Spec.read({"objective": "multi:softprob", "num_class": 3}).loss

    def in_order(classes, is_frozen):
        return EstimatorModel(teacher, loss, "predict_proba", classes, is_frozen)._in_order(q).tolist()

    assert in_order(["a", "b"], is_frozen=True) == [[0.1, 0.9]]  # knows no classes
    teacher.classes_ = ["b", "a"]
    assert in_order(["a", "b"], is_frozen=True) == [[0.9, 0.1]]
    assert in_order(["a", "c", "b"], is_frozen=False) == [[0.9, 0, 0.1]]
    for classes, exact in ((["a", "c", "b"], True), (["a", "c"], False), (["a"], False)):
        with pytest.raises(ValueError, match=r"Shares.*classes of y.*got \['b', 'a'\]"):
            in_order(classes, exact)


@pytest.mark.filterwarnings("ignore:.*labelled rows of the class")
def test_a_class_that_a_fold_lacks_has_probability_0_there():
    rows = Rows(3)
    # The class 2 is on one row, which one of the two models has not seen.
    y = rows.y.where(rows.y < 2)
    y.iloc[0] = 2.0
    model = rows.estimator(teacher=LogisticRegression(), crossfit=2, kl_weight=2.0)
    with pytest.warns(UserWarning, match="crossfit should be at most the 1 labelled rows of class 2, got 2"):
        model.fit(rows.x, y, privileged=rows.z)
    assert model.predict_proba(rows.x).shape == (N, 3)


def test_a_frozen_teacher_judges_rows_without_a_label_by_the_names_of_classes():
    frozen = pytest.importorskip("sklearn.frozen").FrozenEstimator
    rows = Rows()
    names = rows.y.map({0: "well", 1: "sick"})
    published = LogisticRegression().fit(rows.z, rows.full.map({0: "well", 1: "sick"}))
    model = rows.estimator(teacher=frozen(published), teacher_sees="privileged", kl_weight=2.0).fit(
        rows.x, names, privileged=rows.z
    )
    expected = rows.by_train(
        1 - rows.full, teacher=published.predict_proba(rows.z)[:, 1], kl_weight=2.0, labelled=rows.labelled
    )
    assert nameless(model) == nameless(expected)


def test_constraints_teach_rows_without_a_label():
    rows = Rows()
    group = pd.Series(np.arange(N) % 2, name="group")
    pairs = [(DemographicParity("group", match="mean"), 2.0), (EqualizedOdds("group"), 1.0)]
    model = rows.estimator(privileged_features=["group"], constraints=pairs)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.fit(rows.x.join(group), rows.y)
    given = [(DemographicParity(group, match="mean"), 2.0), (EqualizedOdds(group), 1.0)]
    assert raw(model) == raw(rows.by_train(teacher=given, labelled=rows.labelled))


# --- rows that judge, rows in another order ------------------------------------------------------------------


@every_target
def test_rows_that_judge_have_a_label(classes):
    rows = Rows(classes)
    missing = int((~rows.labelled).sum())
    model = rows.estimator(crossfit=2, early_stopping_rounds=2)
    for y in (rows.y, rows.y.copy(), rows.y.to_numpy()):
        sets = [(rows.x, rows.full), (rows.x, y)]
        with pytest.raises(ValueError, match=rf"eval_set\[1\] must .* {missing} missing"):
            model.fit(rows.x, rows.y, privileged=rows.z, eval_set=sets, verbose=False)
    known = rows.labelled
    model.fit(rows.x, rows.y, privileged=rows.z, eval_set=[(rows.x[known], rows.full[known])], verbose=False)
    assert len(model.evals_result()["validation_0"]) == 1


@pytest.mark.parametrize("name", ["sample_weight", "base_margin", "teacher_weight", "crossfit_groups", "y"])
def test_what_goes_by_row_is_in_the_order_of_x(name):
    rows = Rows()
    values = {"y": rows.y, name: pd.Series(np.ones(N)) if name != "y" else rows.y}
    values[name] = values[name].sample(frac=1, random_state=0)
    with pytest.raises(ValueError, match=f"^{name} .*X .*index.*order"):
        rows.estimator(crossfit=2).fit(rows.x, **values, privileged=rows.z)


def test_columns_beside_an_x_without_an_index_are_in_one_order():
    rows = Rows()
    weight = pd.Series(np.ones(N)).sample(frac=1, random_state=0)
    with pytest.raises(ValueError, match="sample_weight and y have the same index in another order"):
        rows.estimator().fit(rows.x.to_numpy(), rows.y, sample_weight=weight, privileged=rows.z.to_numpy())


@pytest.mark.parametrize("name", ["y of eval_set", "sample_weight_eval_set", "base_margin_eval_set"])
def test_what_goes_by_row_of_an_evaluation_set_is_in_its_order(name):
    rows = Rows()
    shuffled = rows.full.astype(float).sample(frac=1, random_state=0)
    y = shuffled if name == "y of eval_set" else rows.full
    given = {} if name == "y of eval_set" else {name: [None, shuffled]}
    sets = [(rows.x, rows.full), (rows.x, y)]
    with pytest.raises(ValueError, match=rf"{name}\[1\].*eval_set\[1\].*index.*order"):
        rows.estimator(crossfit=2).fit(rows.x, rows.y, privileged=rows.z, eval_set=sets, verbose=False, **given)


# --- folds ---------------------------------------------------------------------------------------------------


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
    # With all labels it is scikit-learn's own splitter.
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


def test_what_is_stratified():
    rows = Rows(0)
    grades = (4 * rows.y).round()
    kinds = ((rows.y, False), ((1000 * rows.y).round(), False), (grades, True), (grades.map("grade {}".format), True))
    for y, stratified in kinds:
        y = y.where(rows.labelled)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # classes of few rows
            folds = [list(LabelledKFold(3, stratify=choice).split(y, y)) for choice in (None, stratified)]
        assert [test.tolist() for _, test in folds[0]] == [test.tolist() for _, test in folds[1]]
    plainly = list(LabelledKFold(3, stratify=False).split(grades, grades))
    # A row of each class for each fold is enough.
    enough = [0, 0, 0, 1, 1, 1]
    for y in (enough, np.reshape(enough, (6, 1))):
        assert [np.take(enough, test).tolist() for _, test in LabelledKFold(3).split(enough, y)] == [[0, 1]] * 3
    # Rows in a row, and not dealt out by class.
    assert max(plainly[0][1]) < min(plainly[1][1])
    assert max(folds[0][0][1]) > min(folds[0][1][1])


def test_splitters_are_scikit_learns_in_every_other_way():
    splitter = LabelledGroupKFold(3, shuffle=True, random_state=4)
    assert repr(splitter) == "LabelledGroupKFold(n_splits=3, random_state=4, shuffle=True, stratify=None)"
    copied = clone(GridSearchCV(Rows().estimator(), {}, cv=splitter)).cv
    assert vars(copied) == vars(splitter)


def search(model, x, y, cv=None):
    return GridSearchCV(model, {"max_depth": [1, 2]}, cv=cv).fit(x, y)


def in_pipeline(model, x, y, cv=None):
    return cross_val_score(Pipeline([("nothing", "passthrough"), ("model", model)]), x, y, cv=cv)


@pytest.mark.parametrize("classes", [2, 0])
@pytest.mark.parametrize("way", [search, in_pipeline, cross_val_score, cross_validate])
def test_folds_of_scikit_learn_are_refused_where_labels_are_missing(classes, way):
    rows = Rows(classes)
    model, x = rows.estimator(privileged_features=["z0", "z1"]), rows.x.join(rows.z)
    n_missing = int((~rows.labelled).sum())
    with pytest.raises(RuntimeError, match=rf"cv.*LabelledKFold.*cv=3.*{n_missing}.*LabelledKFold\(3\)"):
        way(model, x, rows.y, cv=3)
    with pytest.raises(RuntimeError, match=r"cv=None.*LabelledKFold\(5\)"):
        way(model, x, rows.y)
    # Without the error the scores would be NaN.
    for folds, instead in ((KFold(4), r"LabelledKFold\(4"), (ShuffleSplit(2), r"LabelledKFold\(2")):
        with pytest.raises(RuntimeError, match=rf"cv=.*pi_xgb.sklearn.{instead}"):
            way(model, x, rows.y, cv=folds)
    with pytest.raises(RuntimeError, match=r"cv must be a LabelledGroupKFold.*LabelledGroupKFold\(2"):
        way(model, x, rows.y, cv=GroupKFold(2))
    # Labels that are all known, and folds of labelled rows, go on as before.
    way(model, x, rows.full, cv=KFold(2))
    pairs = list(LabelledKFold(2).split(x, rows.y))
    for folds in (LabelledKFold(2), pairs, PredefinedSplit(np.where(rows.labelled, np.arange(N) % 2, -1))):
        way(model, x, rows.y, cv=folds)


def test_folds_that_cannot_be_dealt():
    rows = Rows()
    few = rows.y.where(np.arange(N) < 6)
    few[:] = [0.0, 1.0, 0.0] + [np.nan] * (N - 3)
    assert [test.tolist() for _, test in LabelledKFold(3).split(rows.x, few)] == [[0], [1], [2]]
    for ask, error, message in (
        (lambda: LabelledKFold(5).split(rows.x, few), ValueError, r"y .*n_splits=5.*got 3.*folds"),
        (lambda: LabelledKFold(5).split(rows.x), ValueError, "pass y to split"),
        (lambda: LabelledKFold(3).split(rows.x[:-1], rows.y), ValueError, "inconsistent numbers of samples"),
        (lambda: LabelledKFold(1).split(rows.x, rows.y), ValueError, r"n_splits.*least 2"),
        (lambda: LabelledKFold(2.5).split(rows.x, rows.y), TypeError, r"n_splits.*whole number"),
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


def test_rows_of_several_targets_have_all_labels_or_none():
    rows = Rows(0)
    both = np.column_stack([rows.y, 2 * rows.y])
    known, patient = np.flatnonzero(rows.labelled), rows.patient
    plain_folds = KFold(4).split(known), GroupKFold(4).split(known, groups=patient[known])
    for ours, theirs in zip((LabelledKFold(4), LabelledGroupKFold(4)), plain_folds, strict=True):
        for (train, test), (_, out) in zip(ours.split(rows.x, both, groups=patient), theirs, strict=True):
            assert test.tolist() == known[out].tolist()
            assert not set(train) & set(test)
    model = PrivilegedXGBRegressor(n_estimators=5, n_jobs=1, privileged_features=list(rows.z))
    assert np.isfinite(cross_val_score(model, rows.x.join(rows.z), both, cv=LabelledKFold(3))).all()
    both[rows.labelled.argmax(), 1] = np.nan
    with pytest.raises(ValueError, match="y must have all 2 labels of a row or none"):
        list(LabelledKFold(3).split(rows.x, both))


# --- scikit-learn's tools ------------------------------------------------------------------------------------

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
    [
        (0, "numbers"),
        (2, "numbers"),
        (2, "text with None"),
        (3, "numbers"),
        *(
            pytest.param(classes, kind, marks=pytest.mark.slow)
            for classes in (2, 3)
            for kind in OF_TARGET
            if kind != "numbers" and (classes, kind) != (2, "text with None")
        ),
    ],
)
@pytest.mark.parametrize("way", ["cross_validate", "search", "pipeline", "inside"])
def test_cross_validation_scores_labelled_rows_and_trains_on_all(classes, kind, way):
    rows, folds = Rows(classes), LabelledKFold(3)
    y = OF_TARGET[kind](rows.y)
    model = rows.estimator(crossfit=2, kl_weight=3.0)
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
        single = rows.estimator(crossfit=2, kl_weight=3.0)
        single.fit(rows.x.iloc[fit], pd.Series(y).iloc[fit], privileged=rows.z.iloc[fit])
        for name in scoring:
            assert found[f"test_{name}"][k] == get_scorer(name)(single, rows.x.iloc[out], pd.Series(y).iloc[out])


@pytest.mark.parametrize("routed", [False, True])
def test_what_goes_by_row_is_cut_along(routed):
    rows, folds = Rows(), LabelledGroupKFold(3)
    of_rows = {"privileged": rows.z, "teacher_weight": rows.teacher_weight, "crossfit_groups": rows.patient}
    of_rows["sample_weight"] = rows.weight
    model = rows.estimator(crossfit=2, kl_weight=3.0)
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
            single = rows.estimator(crossfit=2, kl_weight=3.0).fit(rows.x.iloc[fit], rows.y.iloc[fit], **parts)
            expected = get_scorer("neg_log_loss")(single, rows.x.iloc[out], rows.y.iloc[out])
            assert scores[k] == search.cv_results_[f"split{k}_test_score"][0] == expected
        refitted = rows.estimator(crossfit=2, kl_weight=3.0).fit(rows.x, rows.y, **of_rows)
        assert raw(search.best_estimator_[-1]) == raw(refitted)


def test_privileged_values_of_tested_rows_change_no_score():
    rows, folds = Rows(), LabelledKFold(3)
    fit, out = next(iter(folds.split(rows.x, rows.y)))
    other = rows.z.copy()
    other.iloc[out] = 100.0
    scores = [
        cross_val_score(
            rows.estimator(crossfit=2, kl_weight=3.0),
            rows.x,
            rows.y,
            cv=[(fit, out)],
            params={"privileged": z},
            scoring="neg_log_loss",
        )[0]
        for z in (rows.z, other)
    ]
    assert scores[0] == scores[1]


def test_few_labels_and_many_rows_are_where_a_teacher_pays():
    data = pi_xgb.datasets.make_privileged(1500, seed=3)
    y = data.y.astype(float).where(np.arange(1500) < 60)
    model = PrivilegedXGBClassifier(**{**SMALL, "n_estimators": 30}, crossfit=5, kl_weight=10.0)
    test = pi_xgb.datasets.make_privileged(3000, seed=4)
    auc = get_scorer("roc_auc")
    taught = auc(model.fit(data.x, y, privileged=data.z), test.x, test.y)
    alone = auc(clone(model).set_params(kl_weight=0).fit(data.x, y, privileged=data.z), test.x, test.y)
    assert taught > alone + 0.02


@pytest.mark.parametrize("teacher", ["forest", LogisticRegression()])
def test_where_nobody_teaches_the_labelled_rows_alone_count(teacher):
    rows, known = Rows(), Rows().labelled
    model = rows.estimator(teacher=teacher).fit(rows.x, rows.y, privileged=rows.z, teacher_weight=np.zeros(N))
    expected = rows.estimator(kl_weight=0).fit(rows.x[known], rows.y[known])
    assert np.array_equal(model.predict_proba(rows.x), expected.predict_proba(rows.x))
