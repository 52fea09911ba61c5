"""Bad input to the scikit-learn estimators: an error before any training that says what to do."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
import xgboost as xgb
from helpers_sklearn import SMALL, N, Rows, estimator, every_target, plain, rows, same_model
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import Pipeline
from threadpoolctl import threadpool_limits

import pi_xgb
from pi_xgb.constraints import DemographicParity, IndividualFairness
from pi_xgb.sklearn import PrivilegedXGBClassifier, PrivilegedXGBRanker, by_column


@pytest.fixture(autouse=True)
def one_thread():
    """Setting labels ignores n_jobs, and threads that wait for each other make small data slow on a busy machine."""
    with threadpool_limits(1, user_api="openmp"):
        yield


def refused(match, *, X=None, y=None, error=ValueError, classes=2, fit=None, **parameters):
    """Fit on the usual rows, but for what is given, and expect an error; the message must say what to do."""
    x, z, labels = rows(classes=classes)
    model = estimator(classes, **parameters)
    with pytest.raises(error, match=match):
        model.fit(x if X is None else X(x, z), labels if y is None else y(labels), **(fit(x, z, labels) if fit else {}))
    assert not hasattr(model, "_Booster")


def both(x, z):
    return x.join(z)


def apart(x, z, y):
    return {"privileged": z}


def test_what_is_said_of_evaluation_rows_has_their_length():
    x, _, y = rows(40)
    for name, found, words in (
        (
            "sample_weight_eval_set",
            [np.ones(39)],
            r"sample_weight_eval_set\[0\] must have one value for .* of X of eval_s",
        ),
        ("sample_weight_eval_set", [-np.ones(40)], r"sample_weight_eval_set\[0\].*least 0"),
        ("base_margin_eval_set", [np.ones(39)], "(Invalid|Incorrect) size for .?base.margin"),  # XGBoost's own
        ("base_margin", np.ones(39), "(Invalid|Incorrect) size for .?base.margin"),
        ("sample_weight", np.ones(39), r"sample_weight must have one value for each of the 40 rows of X"),
        ("sample_weight", np.zeros(40), r"sample_weight must .* 0 in every row"),
    ):
        with pytest.raises(ValueError, match=words):
            estimator(kl_weight=0).fit(x, y, eval_set=[(x, y)], **{name: found})
    with pytest.raises(ValueError, match=r"requires y .*None"):
        estimator().fit(x, None)
    # A list may be shorter than the evaluation sets: XGBoost's own says so.
    with pytest.raises(ValueError, match="sample_weight_eval_set"):
        estimator(kl_weight=0).fit(x, y, eval_set=[(x, y)] * 2, sample_weight_eval_set=[None])


@pytest.mark.parametrize("made", [PrivilegedXGBClassifier, PrivilegedXGBRanker])
def test_evaluation_sets_are_pairs(made):
    x, z, y = rows(40)
    queries = {"qid": np.arange(40) // 8} if made is PrivilegedXGBRanker else {}
    for given, own in (
        ((x, y), "got an entry DataFrame: give a list"),
        ([(x, y), (x, y, z)], "got an entry tuple"),
        (x, "got an entry str"),
        (3, "got an entry int"),
    ):
        with pytest.raises(TypeError, match=rf"eval_set.*\(X, y\).*{own}"):
            made(**SMALL).fit(x, y, **queries, privileged=z, eval_set=given)
    if not queries:
        read_once = iter([[x, y]])
        fitted = made(**SMALL).fit(x, y, privileged=z, eval_set=read_once, verbose=False)
        assert list(fitted.evals_result()) == ["validation_0"]


def test_labels_that_cannot_be_classes():
    refused(r"y .*row.*'ill'", y=lambda y: np.full(len(y), "ill"), fit=apart)
    refused("Unknown label type: continuous", y=lambda y: y + 0.25, fit=apart)
    refused(r"1.*240 rows", y=lambda y: y.astype(float).where(y.index > 0))
    refused(  # also where XGBoost trains on the labelled rows alone
        "method must be one of", y=lambda y: y.astype(float).where(y.index > 20), fit=apart, kl_weight=0.0, method="pib"
    )
    unseen = lambda x, z, y: {"privileged": z, "eval_set": [(x, y), (x, y + 1)]}  # noqa: E731
    refused(r"eval_set\[1\].*\[2\]", fit=unseen)
    refused(
        "sample_weight must .* 0 in every row", fit=lambda x, z, y: {"privileged": z, "sample_weight": np.zeros(len(y))}
    )


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


@pytest.mark.slow
def test_evaluation_sets_without_the_privileged_columns_that_the_teacher_needs():
    stopping = {"early_stopping_rounds": 3, "n_estimators": 50}
    sets = lambda x, z, y: {"privileged": z, "eval_set": [(x, y)], "verbose": False}  # noqa: E731
    refused(r"early_stopping_rounds.*eval_privileged", fit=sets, teacher="boosted", **stopping)
    refused(r"early_stopping_rounds.*eval_privileged", fit=sets, crossfit=0, **stopping)
    copied = "reg:absoluteerror"  # whose default teacher is boosted
    refused(r"early_stopping_rounds.*eval_privileged", fit=sets, classes=0, objective=copied, **stopping)
    inside = lambda x, z, y: {"eval_set": [(x, y)], "verbose": False}  # noqa: E731
    refused(
        r"early_stopping_rounds.*privileged_features.*X",
        X=both,
        fit=inside,
        privileged_features=["z0", "z1"],
        teacher="boosted",
        **stopping,
    )
    # Who does not stop with it does not need it.
    x, z, y = rows()
    reads = [{}, {"crossfit": 2}, {"teacher": "boosted", "crossfit": 2}]
    others = [{"method": "jpib"}, {"kl_weight": 0}, {"teacher": LogisticRegression()}, {"teacher": "mixed"}]
    for guiding in (*reads, *others):
        model = estimator(**stopping, **guiding).fit(x, y, **sets(x, z, y))
        assert model.best_iteration < 50
        # Who does not read it is not disturbed by it, so that one search can go through all of them.
        again = estimator(**stopping, **guiding).fit(x, y, **sets(x, z, y), eval_privileged=[z])
        assert guiding in reads or same_model(again, model)
    # No table is none, and the teacher is the default one.
    default, without = (
        estimator(**stopping).fit(x, y, **sets(x, z, y), eval_privileged=tables) for tables in (None, [None])
    )
    assert same_model(default, without)
    assert default.teacher_.kind == without.teacher_.kind == "mixed"
    refused(r"table.*1", fit=lambda x, z, y: {**sets(x, z, y), "eval_privileged": [z, z]})
    refused("eval_privileged needs privileged", fit=lambda x, z, y: {"eval_privileged": [z]})


def test_constraints_that_cannot_be():
    parity = by_column(DemographicParity, "group")
    grouped = lambda x, z: x.assign(group=z["z0"] > 0)  # noqa: E731
    refused(r"group.*'group'.*feature", X=grouped, constraints=[(parity, 1.0)])
    refused(r"a column.*'group'", constraints=[(parity, 1.0)])
    refused("list of .constraint, weight.*, as", constraints=[parity], error=TypeError)
    refused(r"constraints .*weight.*got", constraints=parity, error=TypeError)
    refused(r"constraints .*weight.*got", constraints=DemographicParity([0, 1]), error=TypeError)
    refused(r"group.*'x0'.*feature", constraints=[(DemographicParity("x0"), 1.0)])
    refused("list of .constraint, weight.", constraints=(DemographicParity("group"), 1.0), error=TypeError)
    refused(r"constraints must be a list.*got .*<class", constraints=[(DemographicParity, 1.0)], error=TypeError)
    other_order = pd.Series(np.arange(240) % 2).sample(frac=1, random_state=0)
    refused("sensitive_features and X have the same index", constraints=[(DemographicParity(other_order), 1.0)])
    grouped_z = {"X": grouped, "privileged_features": ["group"]}
    refused("weight of a teacher .*finite", constraints=[(parity, -1.0)], **grouped_z)
    # Before XGBoost reads the columns, which may be text.
    text = lambda x, z: x.assign(a="f", b="g")  # noqa: E731
    several = [(DemographicParity(["a", "b"]), 1.0)]
    refused("got 2 for 240 rows.*by_column", X=text, privileged_features=["a", "b"], constraints=several)
    with pytest.raises(ValueError, match="by_column needs a column"):
        by_column(IndividualFairness, k=3)
    with pytest.raises(TypeError, match="unexpected keyword argument"):
        by_column(DemographicParity, "group", sofft=True)


def test_parameters_that_mean_nothing():
    q = pi_xgb.fit_teacher({}, xgb.DMatrix(rows()[1], rows(classes=0)[2]), 2)
    refused("method must be one of", method="both", fit=apart)
    refused("teacher must be one of 'boosted'", teacher="everything", fit=apart)
    refused(
        r"an estimator or a pi_xgb.Teacher, got array\(.{0,54}: pass others",
        teacher=np.zeros(240),
        fit=apart,
        error=TypeError,
    )
    refused("teacher must be an instance", teacher=LogisticRegression, fit=apart, error=TypeError)
    refused("kl_weight must be one number", kl_weight="much", fit=apart, error=TypeError)
    refused(r"teacher_params must be .*got n_estimators", teacher_params={"n_estimators": 3}, fit=apart)
    for wrong in (3, "ab", [1]):
        refused(r"params must be a dict", teacher_params=wrong, fit=apart, error=TypeError)
    refused(
        r"method='jpib' requires .*teacher='boosted', got .*LogisticRegression",
        teacher=LogisticRegression(),
        method="jpib",
        fit=apart,
    )
    refused("crossfit requires a trainable teacher", teacher=q, crossfit=2)
    refused("privileged and teacher were both given", teacher=q, fit=apart)
    without = "teacher must have predict_proba .*got LinearRegression"
    refused(without, teacher=LinearRegression(), fit=apart, error=TypeError)
    piped = Pipeline([("model", KNeighborsClassifier())])
    weighted = lambda x, z, y: {"privileged": z, "sample_weight": np.ones(len(y))}  # noqa: E731
    refused("teacher must take sample_weight .*got Pipeline", teacher=piped, fit=weighted)
    refused(r"teacher.*objectives", classes=0, objective="survival:cox", fit=apart)
    refused(r"obj must be left out.*objective= of an estimator", objective=lambda y, p: (p - y, p * 0 + 1), fit=apart)


SPOILT = {
    "weight of wrong length": ({"teacher_weight": [1.0]}, "teacher_weight must have one value for each of the 160"),
    "weight negative": ({"teacher_weight": [-1.0] * N}, "teacher_weight must be .* from 0 .* got -1"),
    "groups of wrong length": ({"crossfit_groups": [1, 2]}, "crossfit_groups must have one value for each of the 160"),
    "groups with gaps": ({"crossfit_groups": [None] * N}, "crossfit_groups must .* 160 missing"),
    "groups too few": ({"crossfit_groups": np.arange(N) % 2}, "crossfit of 3 needs as many groups .* got 2"),
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


@pytest.mark.parametrize("name", ["Classifier", "Regressor", "Ranker", "ClassifierCV", "RegressorCV"])
def test_a_misspelt_parameter_is_pointed_out_and_left_to_xgboost(name):
    made = getattr(pi_xgb.sklearn, f"PrivilegedXGB{name}")
    for wrong, meant in (
        ("kl_weigth", "kl_weight"),
        ("crosfit", "crossfit"),
        ("privileged_feature", "privileged_features"),
    ):
        with pytest.warns(UserWarning, match=f"no parameter '{wrong}'.*'{meant}'"):
            assert made(**{wrong: 2}).get_xgb_params()[wrong] == 2
    # XGBoost's own, and those that only it may know one day, are left to it.
    assert made(monotone_constraints="(1)", tree_method="hist", unheard_of=3).get_params()["unheard_of"] == 3
    model = made(unheard_of=3).set_params(unheard_of=4, eta=0.5, kl_weight=2.0, other__nested=1)
    assert {"unheard_of": 4, "eta": 0.5, "kl_weight": 2.0, "other__nested": 1}.items() <= model.get_params().items()


def test_text_and_dates_name_their_column():
    text = r"column 'word' of X has dtype .*X\['word'\].astype\('category'\), in an estimator with enable_cat"
    refused(text, X=lambda x, z: x.assign(word="a"), fit=apart)
    refused(text.replace("X", "privileged"), fit=lambda x, z, y: {"privileged": z.assign(word="a")})
    dates = lambda x, z, y: {"privileged": z.assign(seen=pd.Timestamp("2020-01-01"))}  # noqa: E731
    refused("column 'seen' of privileged has dtype datetime.*days since", fit=dates)
    refused("column 'seen' of privileged has dtype datetime.*days since", fit=dates, teacher="linear")


def test_several_teachers_and_a_number_of_folds_are_refused():
    refused("got .*boosted.*others to train", teacher=[("boosted", 1.0)], fit=apart, error=TypeError)
    for some in (apart, None):
        refused("crossfit ", kl_weight=0, crossfit=1, fit=some)
    refused("crossfit must be", kl_weight=0, crossfit=1, fit=apart, y=lambda y: y.astype(float).where(y.index > 20))


@pytest.mark.slow
def test_modules_need_no_other_import():
    script = "import pi_xgb\nassert pi_xgb.sklearn.LabelledKFold is pi_xgb.LabelledKFold\npi_xgb.selection.select"
    assert subprocess.run([sys.executable, "-c", script]).returncode == 0


def test_an_objective_of_the_library_in_xgboosts_own_estimators():
    x, _, y = rows()
    with pytest.raises(TypeError, match=r"objective=pi_xgb.KLObjective\(...\).sklearn"):
        plain(objective=pi_xgb.KLObjective(np.full(len(y), 0.5))).fit(x, y)


@pytest.mark.slow
def test_the_library_is_importable_without_scikit_learn():
    script = (
        "import sys\n"
        "sys.modules['sklearn'] = None\n"
        "import pi_xgb\n"
        "try:\n"
        "    import pi_xgb.sklearn\n"
        "except ImportError as error:\n"
        "    print(error)\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert (
        done.stdout.strip() == 'the estimators need scikit-learn 1.6 or later: pip install ".[sklearn]" in a checkout'
    )
