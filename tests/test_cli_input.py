"""Files as people have them: what is refused, what is missing, and what is copied as it stands."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import zipfile
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import xgboost as xgb
from helpers_cli import GUIDED, OTHERS, PARAMS, QUICK, files, misused, one_thread, predicted, refused, trained, works

__all__ = ["files", "one_thread", "trained"]

ON_ROWS = {
    "train": [*GUIDED, *OTHERS, "--out", "new.ubj"],
    "predict": ["--model", "model.ubj"],
    "evaluate": ["--model", "model.ubj", "--label", "y"],
    "tune": [*GUIDED, *OTHERS],
    "compare": [*GUIDED, *OTHERS],
}


def change_line(name, number, change, to="changed.csv"):
    lines = Path(name).read_text().splitlines()
    lines[number - 1] = change(lines[number - 1])
    Path(to).write_text("\n".join(lines) + "\n")


@pytest.mark.parametrize("command", ON_ROWS)
def test_a_column_name_that_comes_twice_is_refused(trained, capsys, command):
    # pandas would call the second copy z0.1, and the student would learn from it.
    frame = trained[0]
    pd.concat([frame, frame[["z0"]]], axis=1).to_csv("twice.csv", index=False)
    refused(capsys, "twice.csv.*'z0'", command, "twice.csv", *ON_ROWS[command])


@pytest.mark.parametrize("command", ON_ROWS)
@pytest.mark.parametrize("line", [2, 3, 90, 101])
def test_a_row_with_too_many_values_is_refused_wherever_it_is(trained, capsys, command, line):
    rows, values = "test.csv" if command in ("predict", "evaluate") else "train.csv", trained[0].shape[1]
    change_line(rows, line, lambda text: f"1,{text}")
    # Every command, whether it reads all columns or some of them.
    refused(capsys, f"line {line} has {values + 1} values for {values} col", command, "changed.csv", *ON_ROWS[command])
    # An empty value is one too many as well.
    change_line(rows, line, lambda text: f"{text},")
    refused(capsys, f"line {line}", command, "changed.csv", *ON_ROWS[command])


def test_a_row_with_too_few_values_ends_with_missing_ones(trained, capsys):
    _, others = trained
    bare = others[["x0", "x1", "x2", "colour", "flag"]]
    bare.to_csv("bare.csv", index=False)
    change_line("bare.csv", 4, lambda text: text.rpartition(",")[0])
    change_line("bare.csv", 4, lambda text: text.rpartition(",")[0] + ",", "explicit.csv")
    pd.testing.assert_frame_equal(predicted(capsys, "changed.csv")[0], predicted(capsys, "explicit.csv")[0])


def test_kept_columns_are_copied_letter_by_letter(trained, capsys):
    others = pd.read_csv("test.csv", dtype=str, keep_default_na=False)
    texts = ["007", "7", "true", "NA", "", " a", "1e5", "None"]
    others["patient"] = [texts[i % len(texts)] for i in range(len(others))]
    others["visit"] = [str(i) if i % 3 else "" for i in range(len(others))]
    others.loc[0, "x1"] = "0.50"
    others.to_csv("kept.csv", index=False)
    works("predict", "kept.csv", "--model", "model.ubj", "--keep", "visit,patient,x1,colour")
    kept = pd.read_csv(io.StringIO(capsys.readouterr().out), dtype=str, keep_default_na=False)
    # In whatever way a program reads it: also a column that is a feature, and one of numbers with gaps.
    for name in ("visit", "patient", "x1", "colour"):
        assert kept[name].tolist() == others[name].tolist()
    # Copying changes no answer.
    alone, _ = predicted(capsys, "kept.csv")
    assert kept["probability_1"].astype(float).tolist() == alone["probability_1"].tolist()


def test_the_words_for_missing_count_in_columns_of_numbers_and_truth_values(trained, capsys):
    empty = pd.read_csv("test.csv", dtype=str, keep_default_na=False)
    gap = np.arange(len(empty)) % 5 == 0
    for name in ("x1", "flag"):
        empty.loc[gap, name] = ""
    empty.to_csv("empty.csv", index=False)
    expected, _ = predicted(capsys, "empty.csv")
    for word in ("NA", "N/A", "NaN", "null", "None", "?", "-", ".", " ", " NA"):
        words = empty.copy()
        for name in ("x1", "flag"):
            words.loc[gap, name] = word
        words.to_csv("words.csv", index=False)
        answers, output = predicted(capsys, "words.csv")
        assert output == f"note: words.csv has {word!r} in 'x1', 'flag': read as missing values\n"
        pd.testing.assert_frame_equal(answers, expected)
    # The training reads them alike.
    train = [*("--label", "y", "--privileged", "z0,z1"), *OTHERS, *QUICK]
    works("train", "empty.csv", *train, "--out", "empty.ubj")
    works("train", "words.csv", *train, "--out", "words.ubj")
    assert Path("empty.ubj").read_bytes() == Path("words.ubj").read_bytes()


@pytest.mark.filterwarnings("always:.*may mean a missing label")
def test_in_a_column_of_text_they_are_text(files, capsys):
    rows, others = files
    names = ["NA", "None", "null", "", "x"]
    for frame, name in ((rows, "train.csv"), (others, "test.csv")):
        frame["colour"] = [names[i % 5] for i in range(len(frame))]
        frame["kind"] = np.where(frame["y"] == 1, "None", "Some")
        frame.to_csv(name, index=False)
    rows.assign(colour=rows["colour"].map({"NA": "p", "None": "q", "null": "r", "": "", "x": "x"})).to_csv(
        "renamed.csv", index=False
    )
    options = ["--label", "kind", "--privileged", "z0,z1", "--drop", "y,sex,w,q,ill", *QUICK]
    works("train", "train.csv", *options, "--out", "model.ubj")
    works("train", "renamed.csv", *options, "--out", "renamed.ubj")
    answers, output = predicted(capsys, "train.csv")
    # Each word is a category of its own, as any other word in its place would be.
    assert output == ""
    works("predict", "renamed.csv", "--model", "renamed.ubj")
    renamed = pd.read_csv(io.StringIO(capsys.readouterr().out))
    np.testing.assert_allclose(answers["probability_Some"], renamed["probability_Some"], atol=1e-6)
    # As a label too, in the training and in the evaluation.
    works("evaluate", "test.csv", "--model", "model.ubj", "--label", "kind", "--groups", "colour", "--n-boot", "0")
    shown = capsys.readouterr().out
    assert all(word in shown for word in ("NA", "None", "null"))


def test_a_column_that_is_text_far_down_is_text_from_its_first_row(tmp_path):
    from pi_xgb._cli.source import Source

    values = ["NA", "7", "", *["1"] * 1500, "x", "null"]
    result = []
    pd.DataFrame({"code": values, "number": "2", "flag": ["NA", *["True"] * 1504]}).to_csv(
        tmp_path / "long.csv", index=False
    )
    frame = Source(str(tmp_path / "long.csv"), [], result.append).read(["code", "number", "flag"])
    # As it is written, with the empty field alone as a missing value.
    assert frame["code"].fillna("gap").tolist() == ["gap" if value == "" else value for value in values]
    assert frame["number"].dtype == np.int64
    assert frame["flag"].isna().sum() == 1
    assert result == [f"note: {tmp_path / 'long.csv'} has 'NA' in 'flag': read as missing values"]


def test_the_threshold_counts_without_groups_too(trained, capsys):
    _, others = trained
    answers, _ = predicted(capsys, "test.csv")
    evaluate = ["evaluate", "test.csv", "--model", "model.ubj", "--label", "y"]
    for threshold in (0.5, 0.2, 0.9, 0.123456789012):
        works(*evaluate, "--threshold", threshold, "--format", "csv")
        metrics = pd.read_csv(io.StringIO(capsys.readouterr().out), index_col="metric")["value"]
        wrong = (answers["probability_1"] > threshold) != (others["y"] == 1)
        assert metrics["error" if threshold == 0.5 else f"error@{threshold}"] == pytest.approx(wrong.mean(), abs=1e-6)
    for wrong_threshold in ("1.5", "-0.1", "nan", "half"):
        misused(capsys, "argument --threshold.*between 0 and 1", *evaluate, "--threshold", wrong_threshold)


def test_a_threshold_that_would_mean_nothing_is_refused(files, capsys):
    drop = ["--drop", "sex,w,y,ill,z0,z1"]
    works("train", "train.csv", "--label", "q", *drop, *QUICK, "--out", "model.ubj")
    evaluate = ["evaluate", "test.csv", "--model", "model.ubj", "--label", "q"]
    refused(capsys, "--threshold.*two classes", *evaluate, "--threshold", "0.3")
    works(*evaluate)


def test_the_text_in_a_column_of_numbers_is_shown_with_its_line(trained, capsys):
    others = pd.read_csv("test.csv", dtype=str, keep_default_na=False)
    others.loc[2, "x1"] = "NA"
    others.loc[7, "x1"] = "3 mg"
    others.loc[9, "x1"] = "other"
    others.to_csv("text.csv", index=False)
    err = refused(capsys, "'3 mg' in line 9", "predict", "text.csv", "--model", "model.ubj")
    assert "the column 'x1' of text.csv has text" in err
    others["x1"] = "1"
    others.loc[4, "flag"] = "perhaps"
    others.to_csv("text.csv", index=False)
    refused(capsys, "'perhaps' in line 6", "predict", "text.csv", "--model", "model.ubj")


@pytest.mark.parametrize("weight", ["-1", "many", "", "inf"])
def test_weights_that_cannot_be_are_refused_by_evaluate_as_by_train(trained, capsys, weight):
    _, others = trained
    others["w"] = others["w"].astype(object)
    others.loc[3, "w"] = weight
    others.to_csv("test.csv", index=False)
    message = "--weight.*'w'.*least 0.*test.csv"
    evaluate = ["evaluate", "test.csv", "--model", "model.ubj", "--label", "y", "--weight", "w"]
    refused(capsys, message, *evaluate)
    refused(capsys, message, *evaluate, "--groups", "sex")
    drop = ["--drop", "sex,q,ill", "--weight", "w"]
    refused(capsys, message, "train", "test.csv", *GUIDED, *drop, "--out", "new.ubj")


def test_files_of_a_spreadsheet_in_another_country(trained, capsys):
    rows, _ = trained
    rows.to_csv("semicolons.csv", index=False, sep=";")
    train = [*GUIDED, *OTHERS, "--out", "new.ubj"]
    refused(capsys, "is it separated by semicolons?", "train", "semicolons.csv", *train)
    # With decimal commas a line has more values than names.
    rows.to_csv("semicolons.csv", index=False, sep=";", decimal=",")
    refused(capsys, "is it separated by semicolons?", "train", "semicolons.csv", *train)
    rows.assign(colour="grün").to_csv("colour.csv", index=False, encoding="latin-1")
    refused(capsys, "save it as UTF-8", "train", "colour.csv", *train)
    rows.rename(columns={"sex": "größe"}).to_csv("header.csv", index=False, encoding="latin-1")
    refused(capsys, "save it as UTF-8", "train", "header.csv", *train)


def test_wide_files_are_read_whole(tmp_path):
    from pi_xgb._cli.source import Source

    names = [f"c{i}" for i in range(5000)]
    name = tmp_path / "wide.csv"
    name.write_text("\n".join(",".join(line) for line in (names, [""] * 4999 + ["x"], ["1"] * 4999 + ["y"])) + "\n")
    source = Source(str(name), [], pytest.fail)
    source.check_has(names, "there are")
    read = source.read(source.columns)
    assert list(read) == names
    assert read.iloc[0, :4999].isna().all()
    assert (read.iloc[1, :4999] == 1).all()
    assert list(read["c4999"]) == ["x", "y"]


@pytest.mark.parametrize("names", [["patient"], ["patient", "visit"], [None]])
def test_the_index_of_a_frame_is_no_feature_and_can_be_named(files, capsys, names):
    pytest.importorskip("pyarrow", reason="Parquet needs the extra parquet")
    rows, _ = files
    levels = [[f"p{i // 2}" for i in range(len(rows))], list(range(len(rows)))][: len(names)]
    rows.set_index(
        pd.MultiIndex.from_arrays(levels, names=names) if names[1:] else pd.Index(levels[0], name=names[0])
    ).to_parquet("rows.parquet")
    works("train", "train.csv", *GUIDED, *OTHERS, "--out", "model.ubj")
    works("train", "rows.parquet", *GUIDED, *OTHERS, "--out", "indexed.ubj")
    assert Path("indexed.ubj").read_bytes() == Path("model.ubj").read_bytes()
    if names == [None]:
        return
    kept, _ = predicted(capsys, "rows.parquet", "--keep", "patient")
    assert kept["patient"].tolist() == levels[0]
    options = ["--crossfit", "2", "--crossfit-groups", "patient"]
    works("train", "rows.parquet", *GUIDED, *OTHERS, *options, "--out", "grouped.ubj")


def test_a_kept_column_of_the_name_of_an_answer_is_refused(trained, capsys):
    trained[1].assign(prediction=1).to_csv("test.csv", index=False)
    arguments = ["predict", "test.csv", "--model", "model.ubj"]
    refused(capsys, "--keep.*'prediction'", *arguments, "--keep", "x1,prediction")
    works(*arguments, "--keep", "x1")


def test_texts_that_xgboost_cannot_keep_are_named(files, capsys):
    rows, _ = files
    rows.assign(colour="a\0b").to_csv("nul.csv", index=False)
    if pd.read_csv("nul.csv")["colour"].iloc[0] != "a\0b":
        pytest.skip("this pandas ends a text at its NUL")
    refused(capsys, "'colour'.*nul.csv.*NUL", "train", "nul.csv", *ON_ROWS["train"])
    rows.assign(y=rows["y"].map({0: "a", 1: "a\0"})).to_csv("nul.csv", index=False)
    refused(capsys, "'y'.*nul.csv.*NUL", "train", "nul.csv", *ON_ROWS["train"])


def test_gzip_on_standard_input(files, capsys, monkeypatch):
    packed = gzip.compress(Path("train.csv").read_bytes())
    works("train", "train.csv", *GUIDED, *OTHERS, "--out", "model.ubj")
    for content in (packed, packed[:100]):
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(content)))
        arguments = ["train", "-", *GUIDED, *OTHERS, "--out", f"piped_{len(content)}.ubj"]
        works(*arguments) if content is packed else refused(capsys, "cannot be unpacked", *arguments)
    assert Path(f"piped_{len(packed)}.ubj").read_bytes() == Path("model.ubj").read_bytes()


def test_a_name_with_a_nul_is_refused(files, capsys):
    # XGBoost would cut the name there, and not find the column again.
    rows, _ = files
    rows.rename(columns={"x1": "\0x1"}).to_csv("train.csv", index=False)
    if "\0x1" not in pd.read_csv("train.csv"):
        pytest.skip("this pandas ends a text at its NUL")
    refused(capsys, "train.csv.*NUL character", "train", "train.csv", *ON_ROWS["train"])


@pytest.mark.parametrize("text", ["12-34", "2024", "1.5.", "v2024-01-05", "192.168.0.1", "2024-01"])
def test_other_texts_with_digits_are_no_dates(files, capsys, text):
    rows, _ = files
    rows.assign(code=np.where(rows["y"] == 1, text, "x")).to_csv("train.csv", index=False)
    works("train", "train.csv", *GUIDED, *OTHERS, "--out", "model.ubj")
    assert "date" not in capsys.readouterr().err


def test_columns_that_number_the_rows_are_named(files, capsys):
    rows, _ = files
    n = len(rows)
    order = np.random.default_rng(0).permutation(n)
    names = {"key": [f"p{i}" for i in order], "number": order + 5000, "twice": order // 2, "far": order * 3}
    rows.assign(**names).to_csv("train.csv", index=False)
    works("train", "train.csv", *GUIDED, *OTHERS, "--out", "model.ubj")
    output = capsys.readouterr().err
    assert "the column 'key' of train.csv has 200 different texts; if they name rows rather than kinds, leave" in output
    assert "the column 'number' of train.csv has each number from 5000 to 5199 once; if they number the rows" in output
    assert "--drop key" in output
    assert "'twice'" not in output
    assert "'far'" not in output


def test_categories_that_are_numbers_are_found_in_a_csv_file(files, capsys):
    # Such as a column of numbers with a gap, which pandas writes as 7.0.
    codes = np.random.default_rng(0).choice([1, 2, 7], 200)
    rows = pd.DataFrame({"code": pd.Categorical(codes), "x": np.arange(200.0)})
    data = xgb.DMatrix(rows, label=codes == 7, enable_categorical=True)
    booster = xgb.train(PARAMS, data, 3)
    booster.save_model("model.ubj")
    others = rows.assign(code=codes.astype(object), ill=codes == 7)
    others.loc[3, "code"] = None
    expected = booster.predict(
        xgb.DMatrix(rows.assign(code=rows["code"].where(rows.index != 3)), enable_categorical=True)
    )
    for spelling in ("{}", "{}.0", "0{}"):
        others.assign(code=others["code"].map(spelling.format, na_action="ignore")).to_csv("later.csv", index=False)
        answers, output = predicted(capsys, "later.csv")
        assert output == ""
        np.testing.assert_allclose(answers["probability_1"], expected, rtol=1e-5)
    others.assign(code=others["code"].replace(2, "two")).to_csv("later.csv", index=False)
    assert "that the training did not have ('two')" in predicted(capsys, "later.csv")[1]
    others.to_csv("later.csv", index=False)
    works("evaluate", "later.csv", "--model", "model.ubj", "--label", "ill")
    assert capsys.readouterr().err == ""


def sites(frame):
    return frame.assign(site=[("07", "7", "8")[i % 3] for i in range(len(frame))])


@pytest.mark.parametrize("gap", [False, True])
def test_groups_are_judged_letter_by_letter(trained, capsys, gap):
    rows = sites(trained[1])
    rows.loc[5, "site"] = "" if gap else "8"
    rows.assign(site="s" + rows["site"]).replace({"site": {"s": ""}}).to_csv("named.csv", index=False)
    rows.to_csv("sites.csv", index=False)
    shown = []
    for name in ("named.csv", "sites.csv"):
        works("evaluate", name, "--model", "model.ubj", "--label", "y", "--groups", "site", "--format", "csv")
        shown.append(capsys.readouterr().out)
    assert shown[0].replace("s0", "0").replace("s7", "7").replace("s8", "8") == shown[1]
    # A group that is a feature as well has that feature's values.
    works("evaluate", "sites.csv", "--model", "model.ubj", "--label", "y", "--groups", "flag,y", "--n-boot", "0")


def test_groups_are_constrained_letter_by_letter(files):
    rows = sites(files[0])
    rows.to_csv("sites.csv", index=False)
    rows.assign(site="s" + rows["site"]).to_csv("named.csv", index=False)
    for name in ("sites", "named"):
        constrained = ["--label", "y", *OTHERS, "--constraint", "parity:site=5", *QUICK]
        works("train", f"{name}.csv", *constrained, "--drop", "z0,z1", "--out", f"{name}.ubj")
    sites_model, named_model = (Path(f"{name}.ubj").read_bytes() for name in ("sites", "named"))
    assert hash(sites_model) == hash(named_model)  # whose bytes would fill pages


def zipped(content):
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("rows.csv", content)
    return packed.getvalue()


@pytest.mark.parametrize(
    ("ending", "pack"), [("gz", gzip.compress), ("bz2", bz2.compress), ("xz", lzma.compress), ("zip", zipped)]
)
def test_packed_files_that_are_broken_are_named(trained, capsys, ending, pack):
    content = Path("test.csv").read_bytes()
    packed = pack(content)
    spoilt = packed[:900] + bytes(byte ^ 255 for byte in packed[900:1100]) + packed[1100:]
    for broken in (packed[:900], packed[:20], packed[:-9], spoilt, content):
        Path(f"broken.csv.{ending}").write_bytes(broken)
        refused(capsys, f"broken.csv.{ending} cannot be", "predict", f"broken.csv.{ending}", "--model", "model.ubj")
    Path(f"whole.csv.{ending}").write_bytes(packed)
    predicted(capsys, f"whole.csv.{ending}")


@pytest.mark.parametrize("value", ["inf", "-inf", "1e39"])  # 1e400 is text to pandas 2.1
@pytest.mark.parametrize("command", ON_ROWS)
def test_a_number_that_is_infinite_is_named_with_its_line(trained, capsys, command, value):
    rows = trained[1].assign(x1=trained[1]["x1"].astype(object))
    rows.loc[7, "x1"] = value
    rows.to_csv("infinite.csv", index=False)
    found = f"'x1'.*infinite.csv.*{float(value)}.*line 9"
    refused(capsys, found, command, "infinite.csv", *ON_ROWS[command])
    if command == "train":
        refused(capsys, found, command, "train.csv", *ON_ROWS[command], "--valid", "infinite.csv")
        rows.loc[:3, "y"] = None
        rows.to_csv("infinite.csv", index=False)
        refused(capsys, found, command, "infinite.csv", *ON_ROWS[command], "--unlabelled", "drop")
