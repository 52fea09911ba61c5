"""The command line in this process: what its commands read, train, write and print."""

from __future__ import annotations

import argparse
import io
import json
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import xgboost as xgb
from helpers_cli import (
    FEATURES,
    GUIDED,
    OTHERS,
    PARAMS,
    QUICK,
    files,
    in_categories,
    one_thread,
    refused,
    trained,
    works,
)

import pi_xgb
from pi_xgb.__main__ import main
from pi_xgb._cli.options import teacher_kind
from pi_xgb._xgb.classes import write_classes
from pi_xgb.sklearn import PrivilegedXGBClassifier

__all__ = ["files", "one_thread", "trained"]


# --- train --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "teaching", "given"),
    [
        ([], {}, "kbpib, boosted with kl_weight 0.5"),
        (["--kl-weight", "2", "--crossfit", "3"], {"kl_weight": 2.0, "crossfit": 3}, "kbpib, boosted with kl_weight 2"),
        (
            ["--method", "jpib", "--kl-weight", "1"],
            {"method": "jpib", "kl_weight": 1.0},
            "jpib, boosted with kl_weight 1",
        ),
        (
            ["--teacher", "boosted", "--teacher-sees", "all", "--weight", "w"],
            {"teacher_sees": "all"},
            "kbpib, boosted with kl_weight 0.5",
        ),
        (["--kl-weight", "0"], {"kl_weight": 0.0}, "no teacher"),
    ],
)
def test_the_model_is_that_of_train(files, capsys, options, teaching, given):
    rows, _ = files
    weighted = "--weight" in options
    drop = "sex,q,ill" if weighted else "sex,w,q,ill"
    works("train", "train.csv", *GUIDED, "--drop", drop, *options, "--out", "model.ubj")
    assert capsys.readouterr() == (
        "",
        f"train.csv: 200 rows, 5 features, 2 privileged columns, binary:logistic for y\nmodel.ubj: 6 rounds; {given}\n",
    )

    x, z = in_categories(rows)[FEATURES], rows[["z0", "z1"]]
    weight = rows["w"] if weighted else None
    seen = z
    expected = pi_xgb.train(
        PARAMS,
        xgb.DMatrix(x, rows["y"], weight=weight, enable_categorical=True),
        6,
        privileged=xgb.DMatrix(seen, rows["y"], weight=weight, enable_categorical=True),
        **teaching,
    )
    # The file is the booster of pi_xgb.train on the same data to the last byte, written by XGBoost's own means.
    assert Path("model.ubj").read_bytes() == bytes(expected.save_raw("ubj"))
    # XGBoost alone reads it.
    assert xgb.Booster(model_file="model.ubj").num_features() == len(FEATURES)


def test_the_summary_counts_columns_and_names_every_teacher(files, capsys):
    guided = [*GUIDED[:2], "--privileged", "z0", *QUICK, "--drop", "z1,x1,x2,colour,flag,w,q,ill"]
    guided += ["--constraint", "parity:sex=3"]
    works("train", "train.csv", *guided, "--teacher", "forest", "--crossfit", "2", "--out", "model.ubj")
    output = capsys.readouterr().err
    assert "200 rows, 1 feature, 1 privileged column, binary:logistic for y" in output
    assert "6 rounds; kbpib, forest with kl_weight 0.5, DemographicParity with kl_weight 3\n" in output


def test_the_model_says_nothing_about_the_privileged_columns(files):
    rows, _ = files
    rows.rename(columns={"z0": "secret", "z1": "hidden"}).to_csv("train.csv", index=False)
    options = ["--label", "ill", "--drop", "sex,w,q,y", "--privileged", "secret,hidden", *QUICK]
    for method in ("kbpib", "jpib"):
        works("train", "train.csv", *options, "--method", method, "--out", f"{method}.json")
        text = Path(f"{method}.json").read_text()
        assert "secret" not in text
        assert "hidden" not in text
        # What is kept: the features and the names of the classes.
        assert '"colour"' in text
        assert json.loads(text)["learner"]["attributes"]["pi_xgb_classes"]


def test_without_privileged_columns_it_is_xgboost(files):
    rows, _ = files
    works("train", "train.csv", "--label", "y", "--drop", "z0,z1", *OTHERS, *QUICK, "--out", "model.ubj")
    matrix = xgb.DMatrix(in_categories(rows)[FEATURES], rows["y"], enable_categorical=True)
    expected = xgb.train(PARAMS, matrix, 6)
    assert Path("model.ubj").read_bytes() == bytes(expected.save_raw("ubj"))


@pytest.mark.parametrize("name", ["train.parquet", "train.csv.gz", "train.csv.bz2"])
def test_other_formats_hold_the_same_rows(files, name):
    rows, _ = files
    if name.endswith("parquet"):
        pytest.importorskip("pyarrow", reason="Parquet needs the extra parquet")
        rows.to_parquet(name)
    else:
        rows.to_csv(name, index=False)
    for source, out in (("train.csv", "a.ubj"), (name, "b.ubj")):
        works("train", source, *GUIDED, *OTHERS, "--out", out)
    assert Path("a.ubj").read_bytes() == Path("b.ubj").read_bytes()


def test_parquet_without_pyarrow_names_the_extra(files, capsys, monkeypatch):
    Path("rows.parquet").touch()
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    # Nothing is wrong with the input: exit code 1.
    assert main(["train", "rows.parquet", *GUIDED, "--out", "model.ubj"]) == 1
    assert 'pip install ".[parquet]" in a checkout' in capsys.readouterr().err


def test_early_stopping_on_a_file_and_on_a_share(files, capsys):
    rows, others = files
    stopping = ["--early-stopping", "2", "--rounds", "60", "--params", "eta=0.8", "nthread=1"]
    common = ["--label", "y", "--privileged", "z0,z1", *OTHERS, *stopping]
    works("train", "train.csv", *common, "--valid", "test.csv", "--out", "model.ubj")
    out, output = capsys.readouterr()
    assert out == ""

    categories = in_categories(rows)["colour"].cat.categories
    valid = others.assign(colour=pd.Categorical(others["colour"], categories=categories))

    def matrix(frame, columns):
        return xgb.DMatrix(frame[columns], frame["y"], enable_categorical=True)

    history = {}
    expected = pi_xgb.train(
        {"objective": "binary:logistic", "eta": 0.8, "nthread": 1, "seed": 0},
        matrix(in_categories(rows), FEATURES),
        60,
        privileged=matrix(rows, ["z0", "z1"]),
        privileged_evals=[(matrix(others, ["z0", "z1"]), "valid")],
        evals=[(matrix(valid, FEATURES), "valid")],
        early_stopping_rounds=2,
        evals_result=history,
        verbose_eval=False,
    )
    assert Path("model.ubj").read_bytes() == bytes(expected.save_raw("ubj"))
    best = expected.best_iteration
    assert f"the best is {best + 1}" in output
    assert f"logloss {history['valid']['logloss'][best]:.5g}" in output

    # Predictions are those of the best round.
    works("predict", "test.csv", "--model", "model.ubj", "--out", "answers.csv")
    answers = pd.read_csv("answers.csv")["probability_1"]
    expected_answers = expected.predict(matrix(valid, FEATURES), iteration_range=(0, best + 1))
    np.testing.assert_allclose(answers, expected_answers, atol=1e-6)

    # Where nothing stops, the last round is told.
    bare = ["train", "train.csv", "--label", "y", "--privileged", "z0,z1", *OTHERS, *QUICK]
    works(*bare, "--valid", "test.csv", "--out", "watched.ubj")
    last = xgb.Booster({"eval_metric": "logloss"}, model_file="watched.ubj").eval(matrix(valid, FEATURES))
    assert f"; on --valid: logloss {float(last.rpartition(':')[2]):.5g}" in capsys.readouterr().err

    works("train", "train.csv", *common, "--valid", "0.25", "--out", "share.ubj")
    assert xgb.Booster(model_file="share.ubj").best_iteration < 59
    # A file without the privileged columns cannot stop the teacher.
    others.drop(columns=["z0", "z1"]).to_csv("bare.csv", index=False)
    arguments = ["train", "train.csv", *common, "--valid", "bare.csv", "--out", "bare.ubj"]
    refused(capsys, "add --crossfit 5", *arguments)
    works(*arguments, "--crossfit", "2")
    # Where there is none, or nothing stops, they are not missed.
    works(*arguments, "--kl-weight", "0", "--force")
    works(*bare, "--valid", "bare.csv", "--out", "bare.ubj", "--force")
    for unstopped in (["--teacher", "linear"], ["--teacher-sees", "all"]):
        works(*arguments, *unstopped, "--force")
    # A loss that no teacher can guide is watched by XGBoost's own metric.
    alone = ["train", "train.csv", "--label", "y", "--objective", "binary:hinge", *OTHERS, *QUICK]
    capsys.readouterr()
    works(*alone, "--valid", "test.csv", "--out", "hinge.ubj")
    assert "; on --valid: error 0." in capsys.readouterr().err
    others.drop(columns="y").to_csv("bare.csv", index=False)
    refused(capsys, "bare.csv.*'y'.*training", *arguments, "--force")


def test_rows_set_aside_have_every_label_in_its_share():
    from pi_xgb._cli.rows import Rows, set_aside

    y = np.repeat([0.0, 1.0], [150, 50])
    rows = Rows(pd.DataFrame({"number": np.arange(200)}), None, y, None)
    kept, aside = set_aside(rows, 0.2, seed=3)
    assert aside.y.sum() == 10
    assert len(aside.y) == 40
    # Every row is on one side, and another seed draws others.
    assert sorted([*kept.x["number"], *aside.x["number"]]) == list(range(200))
    assert list(set_aside(rows, 0.2, seed=4)[1].x["number"]) != list(aside.x["number"])
    with pytest.raises(ValueError, match="no row on one side"):
        set_aside(rows, 0.001, seed=0)


# --- labels -------------------------------------------------------------------------------------------------


def test_labels_decide_the_objective_and_come_back_by_name(files, capsys):
    rows, others = files
    rows["kind"], others["kind"] = (pd.cut(t["q"], 3, labels=["low", "mid", "top"]).astype(str) for t in (rows, others))
    rows.assign(level=pd.cut(rows["q"], 3, labels=False) + 1, truth=rows["y"] == 1).to_csv("train.csv", index=False)
    cases = {
        "y": ("binary:logistic", [0, 1], []),
        "ill": ("binary:logistic", ["ill", "well"], []),
        "truth": ("binary:logistic", [False, True], []),
        "kind": ("multi:softprob", ["low", "mid", "top"], []),
        "level": ("multi:softmax", [1, 2, 3], ["--objective", "multi:softmax"]),
        "q": ("reg:squarederror", None, []),
    }
    for label, (objective, classes, options) in cases.items():
        drop = ",".join({"y", "ill", "truth", "kind", "level", "q", "w", "sex"} - {label})
        arguments = ["--label", label, "--drop", drop, "--privileged", "z0,z1", *QUICK, *options]
        works("train", "train.csv", *arguments, "--out", f"{label}.ubj")
        config = json.loads(xgb.Booster(model_file=f"{label}.ubj").save_config())
        assert config["learner"]["objective"]["name"] == objective
        capsys.readouterr()
        works("evaluate", "train.csv", "--model", f"{label}.ubj", "--label", label, "--format", "csv")
        metrics = {"binary": ["logloss", "auc", "error"], "multi": ["mlogloss", "merror"], "reg": ["rmse", "mae"]}
        shown = pd.read_csv(io.StringIO(capsys.readouterr().out))["metric"]
        assert shown.tolist() == metrics[objective.partition(":")[0]]
        works("predict", "test.csv", "--model", f"{label}.ubj")
        answers = pd.read_csv(io.StringIO(capsys.readouterr().out))
        if classes is None:
            assert list(answers) == ["prediction"]
            continue
        # The answers carry the names that the labels had, and the likelier class is the answer.
        assert set(answers["prediction"]) <= set(classes)
        probabilities = answers.drop(columns="prediction")
        if objective == "binary:logistic":
            assert list(probabilities) == [f"probability_{classes[1]}"]
            assert ((probabilities.iloc[:, 0] > 0.5) == (answers["prediction"] == classes[1])).all()
        elif objective == "multi:softprob":
            assert list(probabilities) == [f"probability_{name}" for name in classes]
            assert (np.array(classes)[probabilities.to_numpy().argmax(axis=1)] == answers["prediction"]).all()


def test_labels_that_do_not_decide_or_do_not_fit(files, capsys):
    rows, others = files
    rows["level"] = pd.cut(rows["q"], 3, labels=False)
    rows["same"] = 1
    rows["gap"] = rows["ill"].where(rows.index > 3)
    rows.to_csv("train.csv", index=False)

    def train(label, *options):
        drop = ",".join({"y", "ill", "level", "same", "gap", "q", "w", "sex"} - {label})
        return ["train", "train.csv", "--label", label, "--drop", drop, *QUICK, *options, "--out", "model.ubj"]

    refused(capsys, "can be classes or amounts", *train("level"))
    refused(capsys, "label 'same'.*row", *train("same"))
    refused(capsys, "4 missing.*200 rows", *train("gap"))
    refused(capsys, "label 'level'.*must have two classes", *train("level", "--objective", "binary:logistic"))
    refused(capsys, "numbers.*got 'ill'", *train("ill", "--objective", "reg:squarederror"))
    refused(
        capsys,
        "--objective must be that of --params",
        *train("y", "--objective", "binary:logistic", "--params", "objective=multi:softprob"),
    )
    # Numbers that are no labels of this model, which XGBoost would take.
    works("train", "train.csv", "--label", "y", "--drop", "ill,level,same,gap,q,w,sex", *QUICK, "--out", "numbers.ubj")
    others.assign(y=100 * others["y"]).to_csv("other.csv", index=False)
    refused(capsys, "lie in [0, 1]", "evaluate", "other.csv", "--model", "numbers.ubj", "--label", "y")
    others.assign(y=1 + others["y"]).to_csv("other.csv", index=False)
    refused(capsys, "classes.*[2]", *train("y", "--valid", "other.csv"))
    others.drop(columns="x1").to_csv("other.csv", index=False)
    refused(capsys, "'x1'.*student", *train("y", "--valid", "other.csv"))
    # A class that only the rows to watch have.
    others.assign(ill="unknown").to_csv("other.csv", index=False)
    works(*train("ill"))
    refused(capsys, "label 'ill'.*'unknown'", "evaluate", "other.csv", "--model", "model.ubj", "--label", "ill")


def test_the_estimators_and_the_command_line_read_each_others_models(files):
    rows, _ = files
    plain = ["x0", "x1", "x2"]
    model = PrivilegedXGBClassifier(n_estimators=5, n_jobs=1).fit(rows[plain], rows["ill"], privileged=rows[["z0"]])
    model.save_model("estimator.ubj")
    works("predict", "test.csv", "--model", "estimator.ubj", "--out", "answers.csv")
    expected = model.predict(pd.read_csv("test.csv")[plain])
    assert pd.read_csv("answers.csv")["prediction"].tolist() == expected.tolist()

    drop = "colour,flag,sex,w,q,y,z1"
    works("train", "train.csv", "--label", "ill", "--privileged", "z0", "--drop", drop, *QUICK, "--out", "model.ubj")
    loaded = PrivilegedXGBClassifier()
    loaded.load_model("model.ubj")
    assert loaded.classes_.tolist() == ["ill", "well"]


def test_a_teacher_of_ones_own_comes_from_the_folder_of_the_command(tmp_path, monkeypatch):
    for folder, factor in (("here", 0.5), ("elsewhere", 2.0)):
        (tmp_path / folder).mkdir()
        lines = ["from sklearn.linear_model import LogisticRegression as made", f"def own(): return made(C={factor})"]
        (tmp_path / folder / "own_teachers.py").write_text("\n".join([*lines, "nothing = dict"]))
    monkeypatch.chdir(tmp_path / "here")
    monkeypatch.syspath_prepend(tmp_path / "elsewhere")
    searched = list(sys.path)
    assert teacher_kind("forest") == "forest"
    assert repr(teacher_kind("own_teachers:own")) == "LogisticRegression(C=0.5)"
    for wrong in ("own", "own_teachers", "own_teachers:", ":own"):
        with pytest.raises(argparse.ArgumentTypeError, match=rf"must be boosted.*MODULE:FACTORY, got '{wrong}'"):
            teacher_kind(wrong)
    for wrong in ("no_such_module:own", "own_teachers:absent"):
        with pytest.raises(argparse.ArgumentTypeError, match=rf"without arguments, got '{wrong}'"):
            teacher_kind(wrong)
    with pytest.raises(argparse.ArgumentTypeError, match="with fit, got dict from 'own_teachers:nothing'"):
        teacher_kind("own_teachers:nothing")
    assert sys.path == searched


@pytest.mark.parametrize(
    ("damaged", "message"),
    [
        ("no JSON", "cannot be read"),
        ("{}", "cannot be read"),
        ("[1]", "cannot be read"),
        ('{"dtype": "no type", "values": ["a", "b"]}', "cannot be read"),
        ('{"dtype": "<U1", "values": ["a"]}', "has 2 classes"),
        ('{"dtype": "<U1", "values": ["aa", "ab"]}', "got ['a', 'a']"),
        ('{"dtype": "<U1", "values": "ab"}', "has 2 classes"),
    ],
)
def test_damaged_names_of_classes_are_refused(files, capsys, damaged, message):
    booster = xgb.train({"objective": "binary:logistic"}, xgb.DMatrix(files[0][["x0"]], files[0]["y"]), 1)
    booster.set_attr(pi_xgb_classes=damaged)
    booster.save_model("model.ubj")
    refused(capsys, message, "predict", "test.csv", "--model", "model.ubj")
    with pytest.raises(ValueError, match="its attribute pi_xgb_classes"):
        PrivilegedXGBClassifier().load_model("model.ubj")


def test_truth_values_stay_truth_values_in_a_file(files):
    rows, _ = files
    booster = xgb.train(PARAMS, xgb.DMatrix(rows[["x1"]], rows["y"]), 1)
    write_classes(booster, np.array([False, True]))
    from pi_xgb._xgb.classes import read_classes

    assert read_classes(booster).dtype == bool
