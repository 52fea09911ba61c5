"""The command line gives what the library gives: the models, predictions and tables of its commands."""

from __future__ import annotations

import io
import json
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
    model_file,
    one_thread,
    predicted,
    refused,
    trained,
    works,
)

import pi_xgb
from pi_xgb.sklearn import PrivilegedXGBClassifier

__all__ = ["files", "model_file", "one_thread", "trained"]

KNOWN = np.arange(200) % 3 == 0
SHORT = ["--folds", "2", "--method", "kbpib", "--teacher", "boosted", "--crossfit", "2", "--kl-weight", "0,5"]
CHOSEN = {"nfold": 2, "method": "kbpib", "teacher": "boosted", "crossfit": 2, "kl_weight": [0, 5]}
PER_ROW = ["--unlabelled", "teach", "--teacher-weight", "w", "--crossfit-groups", "patient"]


def with_gaps(rows):
    """Two thirds of the rows without a label, and the patients whom they are of: 7 and 007 are two."""
    patients = ["7", "007", *(f"p{i}" for i in range(2, 50))]
    return rows.assign(y=rows["y"].where(KNOWN), patient=[patients[i // 4] for i in range(200)])


def matrices(rows, weight=None):
    y = rows["y"].fillna(0)
    x = xgb.DMatrix(in_categories(rows)[FEATURES], y, weight=weight, enable_categorical=True)
    return x, xgb.DMatrix(rows[["z0", "z1"]], y, weight=weight)


def per_row(rows):
    """The keywords of the options PER_ROW."""
    known, weight = rows["y"].notna().to_numpy(), rows["w"].to_numpy()
    return {"labelled": known, "teacher_weight": weight, "crossfit_groups": rows["patient"].to_numpy()}


def is_model(name, expected):
    """To the last byte."""
    return Path(name).read_bytes() == bytes(expected.save_raw("ubj"))


# --- train --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "keywords"),
    [
        ([], {}),
        (["--kl-weight", "2", "--crossfit", "3"], {"kl_weight": 2.0, "crossfit": 3}),
        (["--method", "jpib", "--kl-weight", "1"], {"method": "jpib", "kl_weight": 1.0}),
        (["--teacher", "boosted", "--teacher-sees", "all", "--weight", "w"],
         {"teacher": "boosted", "teacher_sees": "all"}),
        (["--kl-weight", "0"], {"kl_weight": 0.0}),
        (["--teacher", "mixed"], {"teacher": "mixed"}),
    ],
)  # fmt: skip
@pytest.mark.slow
def test_train_gives_the_model_of_the_library(files, capsys, options, keywords):
    drop = "sex,q,ill" if "--weight" in options else "sex,w,q,ill"
    works("train", "train.csv", *GUIDED, "--drop", drop, *options, "--out", "model.ubj")
    out, err = capsys.readouterr()
    assert out == ""
    assert "train.csv: 200 rows, 5 features, 2 privileged columns, binary:logistic for y\nmodel.ubj: 6 rounds;" in err
    x, z = matrices(files[0], files[0]["w"] if "--weight" in options else None)
    assert is_model("model.ubj", pi_xgb.train(PARAMS, x, 6, privileged=z, **keywords))
    assert xgb.Booster(model_file="model.ubj").num_features() == len(FEATURES)


def test_train_with_unlabelled_rows_and_values_per_row_gives_the_model_of_the_library(files, capsys):
    rows = with_gaps(files[0])
    rows.to_csv("rows.csv", index=False)
    drop = ["--drop", "sex,q,ill"]
    works("train", "rows.csv", *GUIDED, *drop, *PER_ROW, "--crossfit", "3", "--out", "model.ubj")
    assert f"200 rows ({(~KNOWN).sum()} without a label)" in capsys.readouterr().err
    x, z = matrices(rows)
    assert is_model("model.ubj", pi_xgb.train(PARAMS, x, 6, privileged=z, crossfit=3, **per_row(rows)))


def test_train_that_drops_unlabelled_rows_equals_a_file_without_them(files, capsys):
    rows = with_gaps(files[0]).drop(columns="patient")
    rows.to_csv("rows.csv", index=False)
    rows[KNOWN].to_csv("known.csv", index=False)
    works("train", "rows.csv", *GUIDED, *OTHERS, "--unlabelled", "drop", "--out", "a.ubj")
    assert f"{(~KNOWN).sum()} of 200 rows of rows.csv have no label and are left out" in capsys.readouterr().err
    works("train", "known.csv", *GUIDED, *OTHERS, "--out", "b.ubj")
    assert Path("a.ubj").read_bytes() == Path("b.ubj").read_bytes()
    err = refused(capsys, "'y' of rows.csv has 133 missing values in 200 rows", "train", "rows.csv", *GUIDED, *OTHERS,
                  "--out", "c.ubj")  # fmt: skip
    assert "--unlabelled drop" in err
    assert "--unlabelled teach" in err
    alone = ["--label", "y", *OTHERS, "--unlabelled", "teach", "--out", "c.ubj"]
    refused(capsys, "--unlabelled requires a teacher.*pass --privileged or --teacher", "train", "rows.csv", *alone)


def test_train_without_privileged_columns_is_xgboost(files):
    works("train", "train.csv", "--label", "y", "--drop", "z0,z1", *OTHERS, *QUICK, "--out", "model.ubj")
    assert is_model("model.ubj", xgb.train(PARAMS, matrices(files[0])[0], 6))


@pytest.mark.parametrize("name", ["train.parquet", "train.csv.gz", "train.csv.bz2", "indexed.parquet"])
@pytest.mark.slow
def test_train_on_another_format_gives_the_same_model(files, name):
    rows, _ = files
    if name.endswith("parquet"):
        pytest.importorskip("pyarrow", reason="Parquet needs the extra parquet")
        # The index is no feature, and a nullable column has gaps.
        index = pd.Index([f"p{i}" for i in range(len(rows))], name="patient")
        rows = rows.set_index(index).astype({"x0": "Float64"}) if name.startswith("indexed") else rows
        rows.to_parquet(name)
    else:
        rows.to_csv(name, index=False)
    for source, out in (("train.csv", "a.ubj"), (name, "b.ubj")):
        works("train", source, *GUIDED, *OTHERS, "--out", out)
    assert Path("a.ubj").read_bytes() == Path("b.ubj").read_bytes()
    if name.startswith("indexed"):
        works("predict", name, "--model", "b.ubj", "--keep", "patient", "--out", "answers.csv")
        assert pd.read_csv("answers.csv")["patient"].tolist() == rows.index.tolist()


def test_model_has_no_name_of_a_privileged_column(files):
    files[0].rename(columns={"z0": "secret", "z1": "hidden"}).to_csv("train.csv", index=False)
    options = ["--label", "ill", "--drop", "sex,w,q,y", "--privileged", "secret,hidden", *QUICK]
    for method in ("kbpib", "jpib"):
        works("train", "train.csv", *options, "--method", method, "--out", f"{method}.json")
        text = Path(f"{method}.json").read_text()
        assert "secret" not in text
        assert "hidden" not in text
        assert '"colour"' in text
        assert json.loads(text)["learner"]["attributes"]["pi_xgb_classes"]


def test_early_stopping_on_a_file_stops_teacher_and_student(files, capsys):
    rows, others = files
    stopping = ["--early-stopping", "2", "--rounds", "60", "--params", "eta=0.8", "nthread=1"]
    common = ["train", "train.csv", "--label", "y", "--privileged", "z0,z1", "--teacher", "boosted", *OTHERS, *stopping]
    works(*common, "--valid", "test.csv", "--out", "model.ubj")
    categories = in_categories(rows)["colour"].cat.categories
    valid, z = matrices(others.assign(colour=pd.Categorical(others["colour"], categories=categories)))
    x, privileged = matrices(rows)
    history = {}
    expected = pi_xgb.train(
        {"objective": "binary:logistic", "eta": 0.8, "nthread": 1, "seed": 0},
        x,
        60,
        privileged=privileged,
        teacher="boosted",
        privileged_evals=[(z, "valid")],
        evals=[(valid, "valid")],
        early_stopping_rounds=2,
        evals_result=history,
        verbose_eval=False,
    )
    assert is_model("model.ubj", expected)
    best = expected.best_iteration
    logloss = history["valid"]["logloss"][best]
    err = capsys.readouterr().err
    assert f"the best is {best + 1}; " in err
    assert "<LearnedTeacher: boosted 1.00, 1 model(s) each, loss 0." in err
    assert f"on --valid: logloss {logloss:.5g}" in err
    # predict and evaluate use the best round.
    answers, _ = predicted(capsys, "test.csv")
    np.testing.assert_allclose(
        answers["probability_1"], expected.predict(valid, iteration_range=(0, best + 1)), atol=1e-6
    )
    works("evaluate", "test.csv", "--model", "model.ubj", "--label", "y", "--format", "csv")
    metrics = pd.read_csv(io.StringIO(capsys.readouterr().out), index_col="metric")["value"]
    assert list(metrics.index) == ["logloss", "auc", "error"]
    assert metrics["logloss"] == pytest.approx(logloss, rel=1e-4)
    # A file without the privileged columns cannot stop the teacher.
    others.drop(columns=["z0", "z1"]).to_csv("bare.csv", index=False)
    refused(capsys, "bare.csv.*add --crossfit 5", *common, "--valid", "bare.csv", "--out", "bare.ubj")
    works(*common, "--valid", "bare.csv", "--crossfit", "2", "--out", "bare.ubj")
    for unstopped in (["--kl-weight", "0"], ["--teacher-sees", "all"], ["--method", "jpib"]):
        works(*common, "--valid", "bare.csv", *unstopped, "--out", f"{unstopped[1]}.ubj")


@pytest.mark.parametrize("grouped", [False, True])
def test_validation_share_has_its_share_of_labels_or_whole_groups(files, monkeypatch, grouped):
    watched = {}
    train = xgb.train

    def noted(params, dtrain, rounds, *, evals=(), **keywords):
        if evals:
            watched.update(train=dtrain, valid=evals[0][0])
        return train(params, dtrain, rounds, evals=evals, **keywords)

    monkeypatch.setattr(xgb, "train", noted)
    rows = with_gaps(files[0]).assign(x1=np.arange(200.0))
    rows.to_csv("rows.csv", index=False)
    options = ["--crossfit", "2", "--crossfit-groups", "patient"] if grouped else ["--drop", "patient"]
    common = ["train", "rows.csv", *GUIDED, *OTHERS, "--unlabelled", "teach", *options]
    works(*common, "--valid", "0.25", "--out", "model.ubj")
    kept, aside = (watched[name].get_data().toarray()[:, 1].astype(int) for name in ("train", "valid"))
    assert not set(kept) & set(aside)
    assert KNOWN[aside].all()
    if grouped:
        assert not set(rows["patient"][kept]) & set(rows["patient"][aside])
        assert 0 < len(aside) <= 0.25 * KNOWN.sum()
    else:  # rows without a label stay with the training
        assert set(kept) >= set(np.flatnonzero(~KNOWN))
        assert len(aside) == KNOWN.sum() // 4
        assert rows["y"][aside].sum() == pytest.approx(rows["y"].sum() / 4, abs=1)


def test_valid_that_names_the_training_file_gets_a_note(files, capsys):
    works("train", "train.csv", *GUIDED, *OTHERS, "--valid", "../" + Path.cwd().name + "/train.csv", "--out", "m.ubj")
    assert "note: --valid names the training file" in capsys.readouterr().err
    works("train", "train.csv", *GUIDED, *OTHERS, "--valid", "test.csv", "--out", "m.ubj", "--force")
    assert "note: --valid" not in capsys.readouterr().err


# --- tune, compare -----------------------------------------------------------------------------------------


def test_tune_prints_the_table_of_select_and_trains_its_choice(files, capsys):
    rows = with_gaps(files[0])
    rows.to_csv("rows.csv", index=False)
    options = [*GUIDED, "--drop", "sex,q,ill", *PER_ROW, *SHORT, "--format", "csv", "--out", "model.ubj"]
    works("tune", "rows.csv", *options)
    out, err = capsys.readouterr()
    x, z = matrices(rows)
    expected = pi_xgb.select(PARAMS, x, 6, privileged=z, seed=0, groups=rows["patient"], **CHOSEN, **per_row(rows))
    found = pd.read_csv(io.StringIO(out), index_col="candidate")
    np.testing.assert_allclose(found["gain"], expected.summary["gain"])
    assert err.endswith(f"\n{expected}\nmodel.ubj: written\n")
    assert is_model("model.ubj", expected.train(x, privileged=z, **per_row(rows)))


@pytest.mark.slow
def test_compare_prints_the_table_and_the_verdict_of_the_library(files, capsys):
    rows = with_gaps(files[0])
    rows.to_csv("rows.csv", index=False)
    options = [*GUIDED, "--drop", "sex,q,ill", *PER_ROW, *SHORT, "--repeats", "1", "--format", "csv"]
    works("compare", "rows.csv", *options, "--kl-weight", "5")
    out, err = capsys.readouterr()
    keywords = {name: values for name, values in per_row(rows).items() if name != "labelled"}
    expected = pi_xgb.compare(
        in_categories(rows)[FEATURES], rows["y"], rows[["z0", "z1"]], params=PARAMS, num_boost_round=6, repeats=1,
        seed=0, groups=rows["patient"], **{**CHOSEN, "kl_weight": 5}, **keywords,
    )  # fmt: skip
    np.testing.assert_allclose(pd.read_csv(io.StringIO(out))["gain"], expected.summary["gain"])
    assert str(expected) in err


# --- labels and predictions ---------------------------------------------------------------------------------


@pytest.mark.slow
def test_labels_decide_the_objective_and_come_back_by_name(files, capsys):
    rows, _ = files
    for frame in files:
        frame["kind"] = pd.cut(frame["q"], 3, labels=["low", "mid", "top"]).astype(str)
        frame["truth"], frame["level"] = frame["y"] == 1, pd.cut(frame["q"], 3, labels=False) + 1
    rows.to_csv("train.csv", index=False)
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
        works("predict", "test.csv", "--model", f"{label}.ubj", "--out", "answers.csv", "--force")
        answers = pd.read_csv("answers.csv")
        probabilities = answers.drop(columns="prediction")
        if classes is None:
            assert list(answers) == ["prediction"]
            continue
        assert set(answers["prediction"]) <= set(classes)
        if objective == "binary:logistic":
            assert list(probabilities) == [f"probability_{classes[1]}"]
            assert ((probabilities.iloc[:, 0] > 0.5) == (answers["prediction"] == classes[1])).all()
        elif objective == "multi:softprob":
            assert list(probabilities) == [f"probability_{name}" for name in classes]
            assert (np.array(classes)[probabilities.to_numpy().argmax(axis=1)] == answers["prediction"]).all()


def test_estimators_and_the_command_line_read_each_others_models(files):
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


def test_predict_reads_the_features_alone_and_keeps_columns(trained, capsys, monkeypatch):
    _, others = trained
    expected, err = predicted(capsys, "test.csv")
    assert err == ""
    others[[*FEATURES[::-1]]].to_csv("bare.csv", index=False)
    others.assign(z0="?", z1=None).to_csv("other.csv", index=False)
    for name in ("bare.csv", "other.csv"):
        pd.testing.assert_frame_equal(predicted(capsys, name)[0], expected)
    # Letter by letter, also a column that is a feature.
    texts = ["007", "7", "true", "NA", "", " a", "1e5", "None"]
    frame = pd.read_csv("test.csv", dtype=str, keep_default_na=False)
    frame = frame.assign(patient=[texts[i % 8] for i in range(len(frame))])
    frame.loc[0, "x1"] = "0.50"
    frame.to_csv("kept.csv", index=False)
    works("predict", "kept.csv", "--model", "model.ubj", "--keep", "patient,x1", "--out", "answers.csv")
    kept = pd.read_csv("answers.csv", dtype=str, keep_default_na=False)
    assert kept[["patient", "x1"]].equals(frame[["patient", "x1"]])
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(Path("test.csv").read_bytes())))
    pd.testing.assert_frame_equal(predicted(capsys, "-")[0], expected)
    pytest.importorskip("pyarrow", reason="Parquet needs the extra parquet")
    works("predict", "test.csv", "--model", "model.ubj", "--out", "answers.parquet")
    assert pd.read_parquet("answers.parquet")["prediction"].tolist() == expected["prediction"].tolist()


def test_predict_keeps_blank_lines_of_a_file_with_one_column(files):
    works("train", "train.csv", "--label", "y", "--drop", "x1,x2,colour,flag,z0,z1", *OTHERS, *QUICK, "--out", "m.ubj")
    for text in ("x0\n1.5\n\n2.5\n", "x0\n1.5\nNA\n2.5\n"):
        Path("later.csv").write_text(text)
        works("predict", "later.csv", "--model", "m.ubj", "--keep", "x0", "--out", "answers.csv", "--force")
        answers = pd.read_csv("answers.csv")
        expected = xgb.Booster(model_file="m.ubj").predict(xgb.DMatrix(pd.DataFrame({"x0": [1.5, np.nan, 2.5]})))
        np.testing.assert_allclose(answers["probability_1"], expected, rtol=1e-5)
        assert answers["x0"].isna().tolist() == [False, True, False]


# --- categories ---------------------------------------------------------------------------------------------


def test_categories_of_later_rows_are_those_of_the_training(trained, capsys):
    others = trained[1].dropna(subset=["colour"])
    others.to_csv("test.csv", index=False)
    expected, _ = predicted(capsys, "test.csv")
    # In a file without some categories pandas would number the others anew.
    for colour in ("red", "blue"):
        part = (others["colour"] == colour).to_numpy()
        others[part].to_csv("part.csv", index=False)
        pd.testing.assert_frame_equal(predicted(capsys, "part.csv")[0], expected[part].reset_index(drop=True))
    others.assign(colour=None).to_csv("none.csv", index=False)
    others.assign(colour="violet").to_csv("new.csv", index=False)
    missing, err = predicted(capsys, "none.csv")
    assert err == ""
    new, err = predicted(capsys, "new.csv")
    pd.testing.assert_frame_equal(new, missing)
    assert "values that the training did not have ('violet'): treated as missing" in err


def test_categories_that_look_like_numbers_are_found_in_every_spelling(files, capsys):
    codes = np.random.default_rng(0).choice([1, 2, 7], 200)
    rows = pd.DataFrame({"code": pd.Categorical(codes), "x": np.arange(200.0)})
    booster = xgb.train(PARAMS, xgb.DMatrix(rows, label=codes == 7, enable_categorical=True), 3)
    booster.save_model("model.ubj")
    gap = rows["code"].where(rows.index != 3)
    expected = booster.predict(xgb.DMatrix(rows.assign(code=gap), enable_categorical=True))
    others = rows.assign(code=gap.astype(object), ill=codes == 7)
    for spelling in ("{}", "{}.0", "0{}"):  # a column of whole numbers with a gap is written as 7.0
        others.assign(code=others["code"].map(spelling.format, na_action="ignore")).to_csv("later.csv", index=False)
        answers, err = predicted(capsys, "later.csv")
        assert err == ""
        np.testing.assert_allclose(answers["probability_1"], expected, rtol=1e-5)
    # A training column with gaps has 1.0 where a later one without has 1.
    rows, others = (frame.assign(colour=np.resize(["1.0", "7.0", ""], len(frame))) for frame in files)
    rows.to_csv("train.csv", index=False)
    others.to_csv("test.csv", index=False)
    works("train", "train.csv", *GUIDED, *OTHERS, "--categories", "colour", "--out", "model.ubj", "--force")
    expected, _ = predicted(capsys, "test.csv")
    others.assign(colour=others["colour"].str.removesuffix(".0")).to_csv("whole.csv", index=False)
    pd.testing.assert_frame_equal(predicted(capsys, "whole.csv")[0], expected)
    # 007 and 1 stay texts, also where a file has no other text.
    rows, others = (frame.assign(colour=np.resize(["007", "1", "x"], len(frame))) for frame in files)
    rows.to_csv("train.csv", index=False)
    others.to_csv("test.csv", index=False)
    works("train", "train.csv", *GUIDED, *OTHERS, "--out", "model.ubj", "--force")
    expected, _ = predicted(capsys, "test.csv")
    part = (others["colour"] != "x").to_numpy()
    others[part].to_csv("part.csv", index=False)
    answers, err = predicted(capsys, "part.csv")
    assert err == ""
    pd.testing.assert_frame_equal(answers, expected[part].reset_index(drop=True))


NAMES = {"german": ["Köln", "Bonn", "Ärzte"], "chinese": ["日本", "中国"], "cut off": ["Bo", "Köln", "Kölx"],
         "emoji": ["😀", "a", "😁😀"], "quotes": ['a"b\\', "c,é", "é"]}  # fmt: skip


@pytest.mark.parametrize(
    "names", [pytest.param(NAMES[kind], marks=[pytest.mark.slow] * (kind != "cut off"), id=kind) for kind in NAMES]
)
def test_categories_may_have_any_letters(files, capsys, names):
    # The same rows with other names for the same categories, in the same order, are the same to a model.
    rows, plain = files[0], sorted(names)
    which = np.random.default_rng(0).integers(0, len(plain), len(rows))
    y = (which % 2 == 0) ^ (np.random.default_rng(1).random(len(rows)) < 0.1)
    found = {}
    for kind, written in (("ascii", [f"c{i}" for i in range(len(plain))]), ("any", plain)):
        table = rows[["x0"]].assign(town=np.array(written, dtype=object)[which], lab=rows["z0"], y=y.astype(int))
        table.to_csv("towns.csv", index=False)
        works("train", "towns.csv", "--label", "y", *QUICK, "--privileged", "lab", "--valid", "0.2",
              "--out", f"{kind}.ubj")  # fmt: skip
        capsys.readouterr()
        works("predict", "towns.csv", "--model", f"{kind}.ubj")
        found[kind], err = capsys.readouterr()
        assert err == ""
    assert found["any"] == found["ascii"]


# --- evaluate -----------------------------------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore:.*undefined")
def test_evaluate_by_group_prints_the_tables_of_the_library(trained, capsys):
    rows = trained[1].assign(site=np.resize(["07", "7", "8"], len(trained[1])))
    rows.to_csv("test.csv", index=False)
    answers, _ = predicted(capsys, "test.csv")
    common = ["evaluate", "test.csv", "--model", "model.ubj", "--label", "y", "--groups", "sex,site"]
    works(*common, "--weight", "w", "--threshold", "0.4", "--n-boot", "20", "--seed", "3", "--format", "csv")
    first, second = capsys.readouterr().out.split("\n\n")
    how = {"sensitive_features": rows[["sex", "site"]], "sample_weight": rows["w"], "threshold": 0.4, "n_boot": 20}
    reports = (pi_xgb.metrics.group_report, pi_xgb.metrics.disparity_report)
    for text, report in zip((first, second), reports, strict=True):
        expected = report(rows["y"], answers["probability_1"].astype(np.float32), random_state=3, **how)
        found = pd.read_csv(io.StringIO(text), dtype={"sex": str, "site": str}).select_dtypes("number")
        names = list(found)
        np.testing.assert_allclose(found, expected[names].astype(float), rtol=1e-6, atol=1e-9)
    # In text an interval stands beside its value, and sentences follow.
    works(*common[:-1], "sex", "--n-boot", "20")
    assert " to " in capsys.readouterr().out


def test_evaluate_error_has_the_threshold(trained, capsys):
    answers, _ = predicted(capsys, "test.csv")
    for threshold in (0.5, 0.2, 0.123456789012):
        works(
            "evaluate", "test.csv", "--model", "model.ubj", "--label", "y", "--threshold", threshold, "--format", "csv"
        )
        metrics = pd.read_csv(io.StringIO(capsys.readouterr().out), index_col="metric")["value"]
        wrong = (answers["probability_1"] > threshold) != (trained[1]["y"] == 1)
        assert metrics["error" if threshold == 0.5 else f"error@{threshold}"] == pytest.approx(wrong.mean(), abs=1e-6)


def test_evaluate_writes_the_page_once(trained, capsys):
    page = ["evaluate", "test.csv", "--model", "model.ubj", "--label", "y", "--groups", "sex", "--n-boot", "5",
            "--html", "report.html"]  # fmt: skip
    works(*page)
    assert "test.csv" in Path("report.html").read_text(encoding="utf-8")
    refused(capsys, "report.html.*exists", *page)
    Path("report.html").write_text("old")
    works(*page, "--force")
    assert "model.ubj" in Path("report.html").read_text(encoding="utf-8")


# --- frontier and constraints -------------------------------------------------------------------------------

NUMBERS = ["x0", "x1", "x2"]
CONSTRAINED = ["--label", "y", *QUICK, "--drop", "w,q,ill,colour,flag"]
KINDS = {"parity": "DemographicParity", "odds": "EqualizedOdds", "tpr": "TruePositiveRateParity",
         "fpr": "FalsePositiveRateParity", "precision": "PredictiveParity"}  # fmt: skip


def same_trees(name, expected):
    return xgb.Booster(model_file=name).get_dump(with_stats=True) == expected.get_dump(with_stats=True)


@pytest.mark.parametrize("kind", KINDS)
def test_train_with_a_constraint_gives_the_model_of_the_library(files, kind):
    rows = files[0].assign(sex=np.where(files[0]["sex"] == "f", "07", "7"))
    rows.to_csv("train.csv", index=False)
    works("train", "train.csv", *CONSTRAINED, "--drop", "z0,z1", "--constraint", f"{kind}:sex=5", "--out", "m.ubj")
    constraint = getattr(pi_xgb.constraints, KINDS[kind])(rows["sex"])
    expected = pi_xgb.train(PARAMS, xgb.DMatrix(rows[NUMBERS], rows["y"]), 6, teacher=[(constraint, 5.0)])
    assert xgb.Booster(model_file="m.ubj").feature_names == NUMBERS
    assert same_trees("m.ubj", expected)


@pytest.mark.parametrize("kind", ["boosted", None])
def test_train_with_a_constraint_beside_a_teacher_gives_the_model_of_the_library(files, kind):
    options = ["--privileged", "z0,z1", "--kl-weight", "2", "--crossfit", "3", "--constraint", "parity:sex=5"]
    options += ["--teacher", kind] if kind else []
    works("train", "train.csv", *CONSTRAINED, *options, "--out", "m.ubj")
    rows = files[0]
    # The default teacher is a mixed one, which sees all columns.
    seen = ["z0", "z1"] if kind else [*NUMBERS, "z0", "z1"]
    dtrain, privileged = xgb.DMatrix(rows[NUMBERS], rows["y"]), xgb.DMatrix(rows[seen], rows["y"])
    teachers = [(pi_xgb.fit_teacher(PARAMS, privileged, 6, teacher=kind or "mixed", crossfit=3), 2.0),
                (pi_xgb.constraints.DemographicParity(rows["sex"]), 5.0)]  # fmt: skip
    assert same_trees("m.ubj", pi_xgb.train(PARAMS, dtrain, 6, teacher=teachers))


@pytest.mark.slow
def test_tune_with_a_constraint_chooses_under_it(files, capsys):
    options = ["--privileged", "z0,z1", *SHORT, "--constraint", "parity:sex=20", "--format", "csv", "--out", "m.ubj"]
    works("tune", "train.csv", *CONSTRAINED, *options)
    found = pd.read_csv(io.StringIO(capsys.readouterr().out), index_col=0)
    rows = files[0]
    dtrain, privileged = xgb.DMatrix(rows[NUMBERS], rows["y"]), xgb.DMatrix(rows[["z0", "z1"]], rows["y"])
    constraints = [(pi_xgb.constraints.DemographicParity(rows["sex"]), 20.0)]
    keywords = {"privileged": privileged, "constraints": constraints}
    expected = pi_xgb.select(PARAMS, dtrain, 6, **keywords, **CHOSEN)
    np.testing.assert_allclose(found["score"], expected.summary["score"], rtol=1e-6)
    assert same_trees("m.ubj", expected.train(dtrain, **keywords))


def test_frontier_prints_the_table_and_trains_the_model_of_the_library(files, capsys):
    options = ["--constraint", "parity:sex", "--kl-weight", "3,30", "--gap", "0.9", "--folds", "3", "--n-boot", "100"]
    works("frontier", "train.csv", *CONSTRAINED, "--drop", "z0,z1", *options, "--format", "csv", "--out", "m.ubj")
    out, err = capsys.readouterr()
    rows = files[0]
    dtrain, parity = xgb.DMatrix(rows[NUMBERS], rows["y"]), pi_xgb.constraints.DemographicParity(rows["sex"])
    expected = pi_xgb.frontier(PARAMS, dtrain, 6, constraint=parity, kl_weight=[3, 30], gap=0.9, nfold=3, n_boot=100)
    pd.testing.assert_frame_equal(pd.read_csv(io.StringIO(out), index_col=0), expected.table)
    assert f"{expected}\nm.ubj: written\n" in err
    assert same_trees("m.ubj", expected.train(dtrain, parity, gap=0.9))
