"""compare: models on the same held-out rows, trained by hand, and what to deploy."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import xgboost as xgb
from helpers_selection import COMPARED as FEW
from helpers_selection import PARAMS, ROUNDS
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import KFold

import pi_xgb
from pi_xgb._selection.candidates import Candidate
from pi_xgb._selection.compare import Comparison
from pi_xgb._selection.scores import Score
from pi_xgb._selection.verdict import Measurement
from pi_xgb.constraints import DemographicParity
from pi_xgb.selection import compare

MODELS = ["plain XGBoost", "z known at prediction", "student", "self-distillation", "shuffled"]
RIVALS = ["linear", "forest", "linear and forest", "z imputed"]
ROWS = [*MODELS, *RIVALS, "teacher"]


def rows(n=160, seed=0):
    made = pi_xgb.datasets.make_privileged(n, n_features=4, n_privileged=2, seed=seed)
    return made.x, made.z, made.y


RARE = pd.Series(["rare", *["usual"] * 159])
KNOWS_Z = FrozenEstimator(LogisticRegression().fit(*rows()[1:]))


def folds_of(n=160):
    return list(KFold(2, shuffle=True, random_state=0).split(np.zeros(n)))


@pytest.mark.filterwarnings("ignore:.*have no privileged value:UserWarning")
@pytest.mark.slow
def test_rows_with_neither_label_nor_teacher_are_said():
    x, z, y = rows()
    z.iloc[:20], y = np.nan, y.where(np.arange(160) >= 20)
    with pytest.warns(UserWarning, match="20 of 160 rows have neither a label nor a teacher") as caught:
        compare(x, y, z, **FEW)
    assert {warning.filename for warning in caught} == {__file__}


@pytest.mark.slow
def test_the_picture_has_a_line_for_each_model():
    from matplotlib import pyplot

    x, z, y = rows()
    found = compare(x, y, z, **{**FEW, "teacher": "boosted"})
    assert (found.table["size"] == found.table.n_train).all()
    ax = found.plot()
    assert [t.get_text() for t in ax.get_yticklabels()] == ROWS[1:]
    assert ax.get_xlabel() == "log loss lower by, against plain XGBoost"
    pyplot.close("all")
    with pytest.raises(ValueError, match=r"model.*'plain XGBoost'.*'z known at prediction'"):
        found.difference("student", "tutor")


def test_the_table_is_that_of_a_loop_written_by_hand():
    x, z, y = rows()
    label, folds = y.to_numpy(), folds_of()
    compared = compare(x, y, z, folds=folds, standard_errors=1e9, **FEW)
    found = compared.table.set_index(["fold", "model"])
    order = np.random.default_rng(0).permutation(160)
    tables = {"plain XGBoost": x, "z known at prediction": x.join(z)}
    tables |= dict.fromkeys(("student", "self-distillation", "shuffled"), x)
    shown = {"student": z, "self-distillation": None, "shuffled": z.iloc[order]}
    curves = {}
    for fold, (train, test) in enumerate(folds):
        for model, table in tables.items():
            dtrain, held_out = (xgb.DMatrix(table.iloc[part], label[part]) for part in (train, test))
            taught, log = {}, {}
            if model in shown:
                taught = {"teacher": "mixed", "crossfit": 2, "kl_weight": 5.0}
            if shown.get(model) is not None:
                named = shown[model].iloc[train].set_axis(["a", "b"], axis=1)
                taught["privileged"] = xgb.DMatrix(named, label[train])
            evals = {"evals": [(held_out, "test")], "evals_result": log, "verbose_eval": False}
            pi_xgb.train(PARAMS, dtrain, ROUNDS, **taught, **evals)
            curves[fold, model] = log["test"]["logloss"]
    for (fold, model), curve in curves.items():
        row = found.loc[(fold, model)]
        assert row.rounds == 1 + np.argmin(curves[1 - fold, model])
        assert row.score == pytest.approx(curve[int(row.rounds) - 1], abs=2e-6)
        assert row.gain == pytest.approx(found.score[fold, "plain XGBoost"] - row.score, abs=1e-12)
    best = 1 + np.argmin(np.add(curves[0, "student"], curves[1, "student"]))
    assert compared.verdict.startswith(f"Deploy the student of a mixed teacher with {best} round")


@pytest.mark.slow
def test_rivals_and_teacher_are_those_of_fit_teacher():
    x, z, y = rows()
    label, both = y.to_numpy(), x.join(z)
    found = compare(x, y, z, folds=folds_of(), metric="auc", **FEW).table.set_index(["fold", "model"]).score
    for fold, (train, test) in enumerate(folds_of()):
        dtrain, held_out = (xgb.DMatrix(x.iloc[part], label[part]) for part in (train, test))
        models = [pi_xgb.fit_teacher(PARAMS, dtrain, teacher=kind, crossfit=0) for kind in RIVALS[:2]]
        means = [model.predict(held_out) for model in models]
        for model, mean in zip(RIVALS, [*means, np.mean(means, axis=0)], strict=False):
            assert found[fold, model] == pytest.approx(roc_auc_score(label[test], mean), abs=1e-6)
        seen = xgb.DMatrix(both.iloc[train], label[train])
        teacher = pi_xgb.fit_teacher(PARAMS, seen, ROUNDS, teacher="mixed", crossfit=2)
        mean = teacher.predict(xgb.DMatrix(both.iloc[test]))
        assert found[fold, "teacher"] == pytest.approx(roc_auc_score(label[test], mean), abs=1e-6)


@pytest.mark.slow
def test_z_imputed_is_better_than_x_alone_where_x_tells_z_and_uses_no_z_of_held_out_rows():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(500, 3))
    z = np.column_stack([x[:, 0] * x[:, 1], np.where(np.arange(500) % 7, x[:, 2] ** 2, np.nan), np.full(500, np.nan)])
    y = (z[:, 0] + 0.1 * rng.normal(size=500) > 0).astype(float)
    y[100:] = np.nan
    found = compare(x, y, z, metric="auc", **FEW, groups=np.arange(500) % 4)
    scores = found.summary["score"].droplevel("size")
    assert scores["z imputed"] > scores["linear and forest"]
    assert scores["z imputed"] < scores["teacher"]


def test_constraints_hold_for_all_boosted_models_and_exclude_rivals():
    x, z, y = rows()
    group = (x.iloc[:, 0] > 0).to_numpy()
    found = compare(x, y, z, folds=folds_of(), constraints=[(DemographicParity(group), 20.0)], **FEW).table
    assert set(found.model) == {*MODELS, "teacher"}
    label, both = y.to_numpy(), x.join(z)
    for fold, (train, test) in enumerate(folds_of()):
        own = found[found.fold == fold].set_index("model")
        for model, table in (("plain XGBoost", x), ("z known at prediction", both)):
            dtrain = xgb.DMatrix(table.iloc[train], label[train])
            by_hand = pi_xgb.train(PARAMS, dtrain, own.rounds[model], teacher=[(DemographicParity(group[train]), 20.0)])
            loss = float(by_hand.eval(xgb.DMatrix(table.iloc[test], label[test])).split(":")[-1])
            assert own.score[model] == pytest.approx(loss, abs=2e-6)
    with pytest.raises(ValueError, match="got 80 for 160 rows"):
        compare(x, y, z, constraints=[(DemographicParity(group[:80]), 20.0)], **FEW)


def made_table(**gains):
    """A comparison of ten folds, in which each model gains so much over plain XGBoost, give or take 0.01."""
    rng = np.random.default_rng(0)
    lines = [
        {"size": 80, "repeat": 0, "fold": fold, "model": model, "score": 0.5 - gain, "gain": gain}
        for fold in range(10)
        for model in ("plain XGBoost", "student", "self-distillation", "shuffled", "forest")
        for gain in [gains.get(model.replace("-", "_"), 0.0) + (model != "plain XGBoost") * 0.01 * rng.normal()]
    ]
    score, candidate = Score("logloss", maximised=False), Candidate("kbpib", 2.0, "mixed")
    return Comparison(pd.DataFrame(lines), Measurement(score, 0.25, 100), candidate, dict.fromkeys(MODELS, 8))


@pytest.mark.parametrize(
    ("gains", "recommended", "instruction", "evidence"),
    [
        ({"student": 0.1}, "student", "the student of a mixed teacher with 8 rounds", True),
        ({"student": 0.1, "shuffled": 0.1}, "student", "the student of a mixed teacher with 8 rounds", False),
        ({"student": -1, "self_distillation": -1, "forest": -1}, "plain XGBoost", "plain XGBoost with 8 rounds", False),
        ({"forest": 0.1}, "forest", "a forest", False),
        (
            {"self_distillation": 0.1},
            "self-distillation",
            "the student of a mixed teacher without privileged features with 8 rounds",
            False,
        ),
    ],
)
def test_the_verdict_is_the_student_unless_another_model_is_clearly_better(gains, recommended, instruction, evidence):
    found = made_table(**gains)
    assert (found.recommendation, found.evidence) == (recommended, evidence)
    lines = str(found).splitlines()
    assert lines[0] == f"Deploy {instruction}."
    assert lines[1].startswith("Expected gain over ")
    assert "plain XGBoost" in lines[5]
    assert found.verdict.splitlines() == [*lines[:2], lines[-1]]


@pytest.mark.slow
def test_privileged_columns_inside_x_are_the_same():
    x, z, y = rows()
    settings = {**FEW, "teacher": "boosted"}
    inside = compare(x.join(z), y, privileged_features=list(z.columns), **settings)
    assert inside.table.equals(compare(x, y, z, **settings).table)


@pytest.mark.parametrize(
    ("y", "metric"),
    [(lambda q: pd.qcut(q, 3, labels=["low", "mid", "high"]), "mlogloss"), (lambda q: q > 0.5, "logloss")],
)
@pytest.mark.slow
def test_the_objective_follows_from_y(y, metric):
    made = pi_xgb.datasets.make_privileged(160, n_features=4, n_privileged=2)
    settings = {**FEW, "params": {"max_depth": 2, "nthread": 1}, "teacher": "boosted"}
    found = compare(made.x, y(made.q), made.z, **settings)
    assert found.metric == metric
    # A smaller loss is a gain, in every cell.
    scores = found.table.pivot(index="fold", columns="model", values="score")
    gains = found.table.pivot(index="fold", columns="model", values="gain")
    assert np.allclose(gains["z known at prediction"], scores["plain XGBoost"] - scores["z known at prediction"])


@pytest.mark.filterwarnings("ignore:crossfit should be at most:UserWarning")
@pytest.mark.parametrize(
    ("wrong", "error", "message"),
    [
        ({"privileged": None}, ValueError, "needs privileged features"),
        ({"privileged": rows(100)[1]}, ValueError, "privileged must have one value for each of the 160"),
        ({"privileged": rows()[0]}, ValueError, "privileged must have no columns of X"),
        ({"y": rows()[2].where(rows()[2] > 0)}, ValueError, "y has the same value in every labelled row, 1.0"),
        ({"y": np.full(160, np.nan)}, ValueError, "y has no row with a label"),
        ({"y": pd.Series(["ill"] * 160)}, ValueError, "the same value in every labelled row, 'ill'"),
        ({"y": RARE, "params": {}, "nfold": 3}, ValueError, "class 'rare' has 1 rows for 3 folds"),
        ({"y": pd.Series([f"case {i}" for i in range(160)]), "params": {}}, ValueError, "has 1 rows for 2 folds"),
        (
            {"y": np.where(np.arange(160) == 7, np.inf, np.arange(160)), "params": {}},
            ValueError,
            "y must be finite .* got inf in row 7",
        ),
        ({"y": np.arange(320).reshape(160, 2), "params": {}}, ValueError, "y must have one column, got shape"),
        ({"y": rows()[2][:-1]}, ValueError, "y must .* each of the 160 rows of X, got 159"),
        ({"y": rows()[2][::-1]}, ValueError, "y and X have the same index in another order"),
        ({"sample_weight": pd.Series(np.ones(160))[::-1]}, ValueError, "sample_weight and X have the same index"),
        ({"sample_weight": ["heavy"] * 160}, TypeError, "sample_weight must be .* got 'heavy' in row 0"),
        ({"X": rows()[0].assign(town="Rome")}, ValueError, r"X\['town'\]\.astype\('category'\)"),
        ({"privileged": rows()[1].rename(columns={"z0": "z[0]"})}, ValueError, r"privileged must have no.*'z\[0\]'"),
        ({"folds": folds_of()[:1] * 2}, ValueError, "fold 1 holds out the same rows as fold 0"),
        ({"maximize": True}, ValueError, "maximize is read with custom_metric only"),
        ({"y": pd.Series(list("abc") * 53 + ["a"])}, ValueError, r"y needs two classes.* 3"),
        (
            {"params": {"objective": "reg:squarederror"}, "y": pd.Series(["a", "b"] * 80)},
            TypeError,
            "y must be finite numbers .* got 'a' in row 0",
        ),
        ({"params": {"objective": "multi:unknown"}}, ValueError, "objective"),
        ({"confidence": 1.0}, ValueError, "confidence must lie"),
        ({"kl_weight": [1.0, 2.0]}, ValueError, r"one student, got mixed \(2 folds\) 1, .*select"),
        ({"crossfit": 81}, ValueError, "crossfit must be 0 .* between 2 and the 80 rows, got 81"),
        # The control has the same kind of teacher, which cannot predict from X.
        (
            {"teacher": KNOWS_Z, "teacher_sees": "privileged", "crossfit": 0},
            ValueError,
            "the 2 columns of its fit, not 4",
        ),
    ],
)
def test_wrong_input(monkeypatch, wrong, error, message):
    monkeypatch.setattr(xgb, "train", lambda *args, **kwargs: pytest.fail("trained before the error"))
    x, z, y = rows()
    with pytest.raises(error, match=message):
        compare(**{"X": x, "y": y, "privileged": z, **FEW, **wrong})
