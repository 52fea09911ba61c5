"""``predict`` and ``evaluate``: from a model file to answers."""

from __future__ import annotations

import io
import sys
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import xgboost as xgb
from helpers_cli import FEATURES, GUIDED, OTHERS, QUICK, files, one_thread, predicted, refused, trained, works

import pi_xgb
from pi_xgb._cli.output import print_table
from pi_xgb._xgb.categories import SPELLS_ALL, categories_of_model
from pi_xgb.metrics._words import sentence

__all__ = ["files", "one_thread", "trained"]


def test_other_columns_do_not_matter_and_missing_ones_are_named(trained, capsys):
    _, others = trained
    expected, output = predicted(capsys, "test.csv")
    assert output == ""
    # Without the privileged columns, with nonsense in them, or in another order: the same answers.
    others[[*FEATURES[::-1]]].to_csv("bare.csv", index=False)
    others.assign(z0="?", z1=None).to_csv("other.csv", index=False)
    for name in ("bare.csv", "other.csv"):
        pd.testing.assert_frame_equal(predicted(capsys, name)[0], expected)
    others.drop(columns=["x1", "flag"]).to_csv("short.csv", index=False)
    refused(
        capsys,
        "short.csv.*'x1'.*'flag'",
        "predict",
        "short.csv",
        "--model",
        "model.ubj",
    )
    predict = ["predict", "test.csv", "--model", "model.ubj"]
    refused(capsys, "test.csv.*'age'.*--keep", *predict, "--keep", "age")
    kept, _ = predicted(capsys, "test.csv", "--keep", "sex,x1")
    assert kept["sex"].tolist() == others["sex"].tolist()
    pd.testing.assert_frame_equal(kept[list(expected)], expected)


def test_categories_are_those_of_the_training(trained, capsys):
    _, others = trained
    others = others.dropna(subset=["colour"])
    others.to_csv("test.csv", index=False)
    expected, _ = predicted(capsys, "test.csv")
    # A file in which some categories do not occur, so that pandas numbers the others anew.
    for colour in ("red", "blue"):
        part = (others["colour"] == colour).to_numpy()
        others[part].to_csv("part.csv", index=False)
        pd.testing.assert_frame_equal(predicted(capsys, "part.csv")[0], expected[part].reset_index(drop=True))
    # A category of which the training knew nothing is a missing value, and is reported.
    others.assign(colour=None).to_csv("none.csv", index=False)
    others.assign(colour="violet").to_csv("new.csv", index=False)
    missing, output = predicted(capsys, "none.csv")
    assert output == ""
    new, output = predicted(capsys, "new.csv")
    pd.testing.assert_frame_equal(new, missing)
    assert f"in {len(others)} rows that the training did not have ('violet')" in output


def test_categories_that_look_like_numbers_stay_text(files, capsys):
    rows, others = files
    code = np.random.default_rng(0).choice(["007", "1", "x"], 300)
    rows["colour"], others["colour"] = code[:200], code[200:]
    rows.to_csv("train.csv", index=False)
    works("train", "train.csv", *GUIDED, *OTHERS, "--out", "model.ubj")
    others.to_csv("test.csv", index=False)
    expected, _ = predicted(capsys, "test.csv")
    # Alone in a file these would be numbers to pandas.
    part = others["colour"].isin(["007", "1"]).to_numpy()
    others[part].to_csv("part.csv", index=False)
    answers, output = predicted(capsys, "part.csv")
    assert output == ""
    pd.testing.assert_frame_equal(answers, expected[part].reset_index(drop=True))
    works("evaluate", "part.csv", "--model", "model.ubj", "--label", "y")
    assert capsys.readouterr().err == ""


def test_a_missing_value_is_no_category_of_that_name():
    from pi_xgb._cli.features import known_features

    frame = pd.DataFrame({"colour": ["nan", None, "a"]}, dtype=object)
    known = known_features(frame, {"colour": pd.Index(["a", "nan"])}, "rows.csv", pytest.fail)
    assert known["colour"].cat.codes.tolist() == [1, -1, 0]


def test_columns_that_changed_their_kind(trained, capsys):
    _, others = trained
    others.assign(x1=others["x1"].astype(str) + " mg").to_csv("text.csv", index=False)
    refused(capsys, "'x1'.*text.csv", "predict", "text.csv", "--model", "model.ubj")
    # Truth values with gaps are no text.
    others.assign(flag=others["flag"].astype(object).where(others.index % 7 > 0)).to_csv("gaps.csv", index=False)
    expected, _ = predicted(capsys, "test.csv")
    answers, _ = predicted(capsys, "gaps.csv")
    kept = (others.index % 7 > 0).tolist()
    pd.testing.assert_frame_equal(answers[kept], expected[kept])


def test_standard_input_and_other_outputs(trained, capsys, monkeypatch):
    expected, _ = predicted(capsys, "test.csv")
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(Path("test.csv").read_bytes())))
    pd.testing.assert_frame_equal(predicted(capsys, "-")[0], expected)
    works("predict", "test.csv", "--model", "model.ubj", "--out", "answers.csv")
    assert capsys.readouterr() == ("", "answers.csv: 100 rows\n")
    pd.testing.assert_frame_equal(pd.read_csv("answers.csv"), expected)
    pytest.importorskip("pyarrow", reason="Parquet needs the extra parquet")
    works("predict", "test.csv", "--model", "model.ubj", "--out", "answers.parquet")
    assert pd.read_parquet("answers.parquet")["prediction"].tolist() == expected["prediction"].tolist()


# --- evaluate -----------------------------------------------------------------------------------------------


def test_metrics_are_those_of_xgboost_at_the_best_round(files, capsys):
    stopping = ["--early-stopping", "1", "--rounds", "30", "--params", "eta=0.9", "nthread=1", "--valid", "test.csv"]
    works("train", "train.csv", "--label", "y", "--drop", "z0,z1", *OTHERS, *stopping, "--out", "model.ubj")
    output = capsys.readouterr().err
    works("evaluate", "test.csv", "--model", "model.ubj", "--label", "y", "--format", "csv")
    metrics = pd.read_csv(io.StringIO(capsys.readouterr().out), index_col="metric")["value"]
    assert list(metrics.index) == ["logloss", "auc", "error"]
    # The score that stopped the training is that of the evaluation on the same rows.
    assert float(output.rpartition("logloss ")[2]) == pytest.approx(metrics["logloss"], rel=1e-4)


def test_groups_are_reported_as_the_library_does(trained, capsys):
    _, others = trained
    answers, _ = predicted(capsys, "test.csv")
    arguments = ["evaluate", "test.csv", "--model", "model.ubj", "--label", "y", "--groups", "sex", "--n-boot", "0"]
    works(*arguments, "--format", "csv")
    first, second = capsys.readouterr().out.split("\n\n")
    expected = pi_xgb.metrics.group_report(
        others["y"], answers["probability_1"], sensitive_features=others[["sex"]], n_boot=0
    )
    found = pd.read_csv(io.StringIO(first), index_col="sex")
    pd.testing.assert_frame_equal(
        found[["rows", "selected", "auc"]], expected[["rows", "selected", "auc"]], check_dtype=False
    )
    assert "abroca" in second
    works(*arguments[:-2], "--n-boot", "20", "--weight", "w", "--threshold", "0.4")
    # To a person's eyes an interval stands beside its value.
    assert " to " in capsys.readouterr().out


@pytest.mark.parametrize("how", ["text", "csv"])
@pytest.mark.parametrize("draws", [0, 20])
def test_tables_of_groups_then_what_they_mean_then_notes(trained, capsys, how, draws):
    _, others = trained
    others.loc[[0, 1], "sex"] = "x"
    others.loc[[0, 1], "y"] = 1
    others.to_csv("test.csv", index=False)
    answers, _ = predicted(capsys, "test.csv")
    works("evaluate", "test.csv", "--model", "model.ubj", "--label", "y", "--groups", "sex", "--weight", "w",
          "--n-boot", draws, "--threshold", "0.4", "--seed", "3", "--format", how)  # fmt: skip
    out, err = capsys.readouterr()
    settings = {"sensitive_features": others[["sex"]], "sample_weight": others["w"], "threshold": 0.4, "n_boot": draws}
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        tables = [source(others["y"], answers["probability_1"].astype(np.float32), random_state=3, **settings)
                  for source in (pi_xgb.metrics.group_report, pi_xgb.metrics.disparity_report)]  # fmt: skip
    for i, table in enumerate(tables):
        if i:
            print()
        print_table(table, how)
    if how == "text" and draws:
        print()
        for name, row in tables[1].iterrows():
            print(sentence(name.replace("_", " "), row, 0.95))
    assert out == capsys.readouterr().out
    # Each note once, though both tables say it.
    notes = list(dict.fromkeys(str(warning.message) for warning in warned))
    assert err == "".join(f"note: {note}\n" for note in notes)
    assert notes


def test_the_page_is_told_everything(trained, capsys, monkeypatch):
    found = {}
    monkeypatch.setattr("pi_xgb._report.report.report", lambda path, models, rows, **how: found.update(how, path=path))
    options = ["--n-boot", "5", "--seed", "3", "--threshold", "0.4", "--title", "A", "--html", "a.html"]
    for more in ([], ["--no-pictures"], ["--force"]):
        works("evaluate", "test.csv", "--model", "model.ubj", "--label", "y", "--groups", "sex", *options, *more)
        groups = found.pop("sensitive_features")
        assert groups["sex"].tolist() == trained[1]["sex"].tolist()
        assert found == {"path": Path("a.html"), "threshold": 0.4, "title": "A", "n_boot": 5, "random_state": 3,
                        "evaluated_on": "test.csv", "pictures": "--no-pictures" not in more,
                        "overwrite": "--force" in more}  # fmt: skip
        assert capsys.readouterr().err.endswith("a.html: written\n")


def test_the_page_is_written_once(trained, capsys):
    arguments = ["evaluate", "test.csv", "--model", "model.ubj", "--label", "y", "--groups", "sex", "--n-boot", "5"]
    page = [*arguments, "--html", "report.html", "--no-pictures"]
    works(*page, "--title", "Two groups")
    assert "Two groups" in Path("report.html").read_text(encoding="utf-8")
    before = Path("report.html").read_bytes()
    refused(capsys, "report.html.*exists", *page)
    assert Path("report.html").read_bytes() == before
    works(*page, "--title", "Another", "--force")
    assert "Another" in Path("report.html").read_text(encoding="utf-8")
    refused(
        capsys,
        "--html would be ignored",
        "evaluate",
        "test.csv",
        "--model",
        "model.ubj",
        "--label",
        "y",
        "--html",
        "b.html",
    )


NAMES = {
    "german": ["Köln", "Bonn", "Ärzte"],
    "chinese": ["日本", "中国"],
    "cut off where letters are": ["Bo", "Köln", "Kölx"],
    "one letter each": ["一", "丁", "七", "万", "三"],
    "emoji": ["😀", "a", "😁😀"],
    "quotes": ['a"b\\', "c,é", "é"],
}


@pytest.mark.parametrize("names", NAMES.values(), ids=NAMES)
def test_categories_may_have_any_letters(files, capsys, names):
    # The same rows with other names for the same categories, in the same order, are the same to a model.
    rows, plain = files[0], sorted(names)
    which = np.random.default_rng(0).integers(0, len(plain), len(rows))
    y = (which % 2 == 0) ^ (np.random.default_rng(1).random(len(rows)) < 0.1)
    output = {}
    for kind, written in (("ascii", [f"c{i}" for i in range(len(plain))]), ("any", plain)):
        table = rows[["x0"]].assign(town=np.array(written, dtype=object)[which], lab=rows["z0"], y=y.astype(int))
        table.assign(other=table["town"]).to_csv("towns.csv", index=False)
        works("train", "towns.csv", "--label", "y", *QUICK, "--privileged", "lab,other", "--valid", "0.2",
              "--out", f"{kind}.ubj")  # fmt: skip
        printed = capsys.readouterr().err
        works("evaluate", "towns.csv", "--model", f"{kind}.ubj", "--label", "y", "--format", "csv")
        out, err = capsys.readouterr()
        assert "did not have" not in err
        works("predict", "towns.csv", "--model", f"{kind}.ubj")
        output[kind] = out, capsys.readouterr().out, printed.replace(kind, "")
    assert output["any"] == output["ascii"]
    # What the training did not have is still missing, and said.
    table.assign(town="Z" + table["town"]).to_csv("towns.csv", index=False)
    works("predict", "towns.csv", "--model", "any.ubj")
    assert f"the column 'town' of towns.csv has values in {len(rows)} rows that" in capsys.readouterr().err


def test_pieces_of_names_are_not_taken_for_names(files, capsys):
    # Put together, these pieces are letters again: bon, köl, nzüri, chł.
    towns = np.array(["bon", "köln", "zürich", "łódź"], dtype=object)[np.arange(120) % 4]
    table = pd.DataFrame({"x": np.arange(120) % 7, "town": towns, "y": (towns == "köln").astype(int)})
    x = table[["x", "town"]].astype({"town": "category"})
    dtrain = xgb.DMatrix(x, table["y"], enable_categorical=True)
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        booster = pi_xgb.train({"nthread": 1, "objective": "binary:logistic"}, dtrain, 3, teacher=table["y"])
    booster.save_model("model.ubj")
    table.to_csv("towns.csv", index=False)
    if SPELLS_ALL:
        assert warned == []
        works("predict", "towns.csv", "--model", "model.ubj")
        assert "did not have" not in capsys.readouterr().err
    else:
        assert "categories of 'town' have non-ASCII characters" in str(warned[0].message)
        refused(capsys, "'town'.*towns.csv.*90 rows",
                "predict", "towns.csv", "--model", "model.ubj")  # fmt: skip
    # Of names in ASCII there is nothing to say.
    x["town"] = x["town"].cat.rename_categories(list("abcd"))
    plain = xgb.DMatrix(x, table["y"], enable_categorical=True)
    pi_xgb.train({"nthread": 1, "objective": "binary:logistic"}, plain, 3, teacher=table["y"])


def test_categories_of_models_from_elsewhere():
    # pandas' text reaches XGBoost before 3.4 in pieces, which are refused where they can be told from names.
    x = pd.DataFrame({"town": pd.Categorical(["日本", "中国"] * 20)})
    booster = xgb.train({"nthread": 1}, xgb.DMatrix(x, np.arange(40) % 2, enable_categorical=True), 1)
    try:
        message = str(sorted(categories_of_model(booster)["town"]))
    except ValueError as error:
        message = str(error)
    assert message == "['中国', '日本']" or "categories of 'town' with non-ASCII characters" in message
    # Those of Arrow come whole, an empty name among them.
    arrow = pytest.importorskip("pyarrow")
    for names in ([*NAMES["german"], ""], NAMES["emoji"]):
        codes = np.arange(40) % len(names)
        column = arrow.DictionaryArray.from_arrays(arrow.array(codes, arrow.int32()), arrow.array(names))
        data = xgb.DMatrix(arrow.table({"town": column}), codes % 2, enable_categorical=True)
        booster = xgb.train({"nthread": 1}, data, 1)
        assert categories_of_model(booster)["town"].tolist() == names
