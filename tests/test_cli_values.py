"""Values of a CSV file as they are meant: marks of missing values, texts among numbers, names like numbers."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import xgboost as xgb
from helpers_cli import GUIDED, OTHERS, QUICK, files, misused, one_thread, predicted, refused, trained, works
from hypothesis import given, settings
from hypothesis import strategies as st

from pi_xgb._cli.features import check_no_numbers, learned_features
from pi_xgb._cli.source import MARKS, Source
from pi_xgb._rows.words import EMPTY
from pi_xgb._xgb.classes import read_classes

__all__ = ["files", "one_thread", "trained"]

TRAIN = ["train", "strays.csv", *GUIDED, *OTHERS, "--out", "new.ubj"]


def with_text(frame, text, rows=(7,), column="x1"):
    """The frame in a file, with a text in some rows of a column of numbers."""
    strays = frame.astype({column: object})
    strays.loc[list(rows), column] = text
    strays.to_csv("strays.csv", index=False)


# --- texts among numbers ------------------------------------------------------------------------------------


@pytest.mark.parametrize("text", ["5%", "1,5", "n.d.", "<0.1", "--", "1.2.3"])
@pytest.mark.parametrize("column", ["x1", "z0"])
def test_a_text_among_numbers_is_an_error_with_its_line_and_the_options(files, capsys, text, column):
    with_text(files[0], text, column=column)
    err = refused(capsys, f"the column {column!r} of strays.csv has {text!r} in line 9 among ", *TRAIN)
    for advice in (f"--missing {text!r}", f"--categories {column}", "with a point and without %"):
        assert advice in err
    assert not Path("new.ubj").exists()
    # As often as it may stand there, and with marks of missing values besides.
    with_text(files[0], text, rows=range(7, 100), column=column)
    refused(capsys, f"has {text!r} in line 9 among", *TRAIN)
    strays = pd.read_csv("strays.csv", dtype=str, keep_default_na=False)
    strays.loc[:3, column] = "?"
    strays.to_csv("strays.csv", index=False)
    refused(capsys, f"has {text!r} in line 9 among", *TRAIN)


def test_a_column_of_percent_or_of_decimal_commas_is_one_of_numbers_too(files, capsys):
    for change in ("{}%", "{} %"):
        files[0].assign(x1=files[0]["x1"].map(change.format)).to_csv("strays.csv", index=False)
        refused(capsys, "in line 2 among 200 different numbers", *TRAIN)
    files[0].assign(x1=files[0]["x1"].map(lambda number: str(number).replace(".", ","))).to_csv(
        "strays.csv", index=False
    )
    refused(capsys, "in line 2 among 200 different numbers", *TRAIN)


def test_the_ways_out_are_those_that_the_error_names(files, capsys):
    rows, _ = files
    with_text(rows, "n.d.")
    works(*TRAIN, "--missing", "n.d.")
    rows.assign(x1=rows["x1"].where(rows.index != 7)).to_csv("gap.csv", index=False)
    works("train", "gap.csv", *GUIDED, *OTHERS, "--out", "gap.ubj")
    assert Path("new.ubj").read_bytes() == Path("gap.ubj").read_bytes()
    # Several, in every column and in every command; predictions need them, too.
    with_text(rows.assign(z0=rows["z0"].astype(object).where(rows.index != 3, "unknown")), "n.d.")
    works(*TRAIN, "--missing", "n.d.", "--missing", "unknown", "--force")
    predict = ["predict", "strays.csv", "--model", "new.ubj"]
    err = refused(capsys, "the column 'x1' of strays.csv has text, such as 'n.d.' in line 9", *predict)
    assert "add --missing 'n.d.'" in err
    works(*predict, "--missing", "n.d.", "--keep", "x1")
    kept = pd.read_csv(io.StringIO(capsys.readouterr().out), keep_default_na=False)["x1"]
    assert kept[7] == "n.d."
    works("evaluate", *predict[1:], "--label", "y", "--missing", "n.d.")
    # Names it is.
    works(*TRAIN, "--missing", "unknown", "--categories", "x1", "--force")
    assert xgb.Booster(model_file="new.ubj").feature_types[1] == "c"
    refused(capsys, "has no column 'x9', which --categories names", *TRAIN, "--categories", "x9", "--force")


def test_validation_rows_are_read_with_the_same_options(files, capsys):
    with_text(files[0], "n.d.")
    works(*TRAIN, "--missing", "n.d.", "--valid", "strays.csv")
    works(*TRAIN, "--categories", "x1", "--valid", "strays.csv", "--force")
    assert "did not have" not in capsys.readouterr().err


@pytest.mark.parametrize(
    ("texts", "numbers", "is_mixed"),
    [(0, 20, False), (1, 20, False), (1, 21, True), (2, 21, True), (3, 21, False), (60, 540, False), (59, 540, True)],
)
def test_more_than_twenty_different_numbers_and_nine_of_ten_values(texts, numbers, is_mixed):
    values = [f"t{i}" for i in range(texts)] + [str(i) for i in range(numbers)]
    # Each value counts once, and marks do not count.
    column = pd.Series([*values, *["t0"] * texts * 50, *MARKS], name="c")
    frame = pd.DataFrame({"c": column})
    if is_mixed:
        with pytest.raises(ValueError, match=f"'c' of f has 't0' in line 2 among {numbers} different"):
            learned_features(frame, "f", dates="refuse", categories=[])
    else:
        learned_features(frame, "f", dates="refuse", categories=[])
        check_no_numbers(values, column, "f")
    assert learned_features(frame, "f", dates="refuse", categories=["c"])["c"].notna().all()


@pytest.mark.parametrize(
    ("numbers", "strays", "message"),
    [
        (["1", "2"] * 10, ["x"], "'x' in line 22 among 2 different"),
        (["1", "2"] * 50, ["5%"], "'5%' in line 102 among 3 different"),
        (["1", "2"] * 99, ["x", "x"], "'x' in line 200 among 2 different"),
        (["1", "2"] * 99, ["True", "False"], "'True' in line 200 among 2 different"),
        (["1", "2"] * 98, ["x", "y"], None),
        ([*["1", "2"] * 9, "1"], ["x"], None),
        (["1"] * 99, ["x"], None),
        (["1", "2"] * 50, [], None),
        (["5%", "7%"] * 50, [], None),
    ],
)
def test_one_text_or_one_row_of_a_hundred_among_few_numbers_too(numbers, strays, message):
    values = [*numbers, *strays]
    frame = pd.DataFrame({"c": [*values, *MARKS, None]})
    if message:
        with pytest.raises(ValueError, match=f"'c' of f has {message}"):
            learned_features(frame, "f", dates="refuse", categories=[])
    else:
        assert learned_features(frame, "f", dates="refuse", categories=[])["c"].dtype == "category"


def test_a_text_among_amounts_makes_no_classes_of_them(files, capsys):
    drop = ["--drop", "sex,w,y,ill,z0,z1", *QUICK, "--out", "new.ubj"]
    train = ["train", "strays.csv", "--label", "q", *drop, "--force"]
    with_text(files[0], "5%", column="q")
    refused(capsys, "the column 'q' of strays.csv has '5%' in line 9 among", *train)
    works(*train, "--missing", "5%", "--unlabelled", "drop")
    # Names of classes may look like anything.
    names = ["a", *map(str, range(30))]
    files[0].assign(q=[names[i % 31] for i in range(200)]).to_csv("strays.csv", index=False)
    refused(capsys, "has 'a' in line 2 among 30 different numbers", *train)
    works(*train, "--categories", "q")
    assert set(read_classes(xgb.Booster(model_file="new.ubj"))) == set(names)


# --- marks of missing values --------------------------------------------------------------------------------


def read(text, *, missing=(), as_text=()):
    notes = []
    Path("values.csv").write_text(text)
    source = Source("values.csv", missing, notes.append)
    return source.read(source.columns, as_text=as_text), notes


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("mark", [*EMPTY, " ", "  ", " NA", "? "])
def test_marks_are_missing_values_with_a_note(folder, mark):
    frame, notes = read(f"a,b,c,d\n1,True,x,\n{mark},{mark},{mark},2\n3,False,y,3\n")
    assert frame["a"].tolist()[::2] == [1.0, 3.0]
    assert frame["b"].tolist()[::2] == [True, False]
    assert frame[["a", "b"]].loc[1].isna().all()
    # In a column of text it is a text, and an empty field needs no note.
    assert frame["c"].tolist() == ["x", mark, "y"]
    assert frame["d"].isna().tolist() == [True, False, False]
    assert notes == [f"note: values.csv has {mark!r} in 'a', 'b': read as missing values"]


def test_texts_that_are_missing_are_so_in_every_column(folder):
    frame, notes = read("a,b,c\n1,x,7\nn.d.,n.d.,n.d.\n", missing=["n.d."], as_text=["c"])
    assert frame.loc[1].isna().all()
    assert frame["c"][0] == "7"
    assert frame["a"][0] == 1
    assert notes == []


def test_missing_texts_are_for_csv_files(files, capsys):
    pytest.importorskip("pyarrow", reason="Parquet needs the extra parquet")
    files[0].to_parquet("rows.parquet")
    refused(capsys, "--missing is for CSV files", "train", "rows.parquet", *TRAIN[2:], "--missing", "-")


@pytest.mark.parametrize("options", [["--categories", "note"], []])
def test_a_column_without_any_value_is_a_missing_number(files, options):
    frame = files[0].assign(note=pd.array([None] * len(files[0]), dtype="string"))
    features = learned_features(frame[["x0", "note"]], "f", dates="refuse", categories=options[1:])
    assert features["note"].dtype == np.float64
    assert features["note"].isna().all()
    frame.iloc[10:].to_csv("few.csv", index=False)
    works("train", "few.csv", *TRAIN[2:], *options)


def test_names_of_parquet_columns_may_be_numbers(files):
    pytest.importorskip("pyarrow", reason="Parquet needs the extra parquet")
    frame = files[0][["x0", "x1", "y"]]
    frame.set_axis([0, 1, 2], axis=1).to_parquet("numbers.parquet")
    frame.set_axis(["0", "1", "2"], axis=1).to_csv("numbers.csv", index=False)
    for ending in ("parquet", "csv"):
        works("train", f"numbers.{ending}", "--label", "2", *QUICK, "--out", f"{ending}.ubj")
    first, second = (xgb.Booster(model_file=f"{ending}.ubj").get_dump() for ending in ("parquet", "csv"))
    assert first == second


def test_categories_of_booleans_are_those_of_their_texts(files):
    pytest.importorskip("pyarrow", reason="Parquet needs the extra parquet")
    frame = files[0][["x0", "flag", "y"]]
    frame.to_parquet("flags.parquet")
    frame.to_csv("flags.csv", index=False)
    for ending in ("parquet", "csv"):
        works("train", f"flags.{ending}", "--label", "y", "--categories", "flag", *QUICK, "--out", f"{ending}.ubj")
        works("predict", "flags.parquet", "--model", f"{ending}.ubj", "--out", f"of_{ending}.csv")
    pd.testing.assert_frame_equal(pd.read_csv("of_parquet.csv"), pd.read_csv("of_csv.csv"))


@pytest.mark.parametrize("has_gaps", [(False, True), (True, False)])
def test_a_code_with_a_gap_in_its_column_is_the_same_category(files, capsys, has_gaps):
    codes = pd.Series(np.arange(200) % 3 + 1)
    frame = pd.DataFrame({"code": codes, "y": (codes == 2).astype(int)})
    learned, later = (frame.assign(code=codes.where(codes.index > 0)) if gaps else frame for gaps in has_gaps)
    learned.to_csv("learned.csv", index=False)
    later.to_csv("later.csv", index=False)
    works("train", "learned.csv", "--label", "y", "--categories", "code", *QUICK, "--out", "codes.ubj")
    works("predict", "later.csv", "--model", "codes.ubj", "--out", "p.csv")
    assert "did not have" not in capsys.readouterr().err
    found = pd.read_csv("p.csv")["probability_1"][1:]
    assert found[frame["y"][1:] == 1].min() > found[frame["y"][1:] == 0].max()


def test_missing_values_of_a_nullable_column_of_parquet_are_missing(files):
    pytest.importorskip("pyarrow", reason="Parquet needs the extra parquet")
    files[0].astype({"x0": "Float64"}).to_parquet("rows.parquet")
    assert pd.read_parquet("rows.parquet")["x0"].hasnans
    for file, out in (("rows.parquet", "m.ubj"), ("train.csv", "n.ubj")):
        works("train", file, *TRAIN[2:-1], out)
    models = [xgb.Booster(model_file=file) for file in ("m.ubj", "n.ubj")]
    assert models[0].get_dump() == models[1].get_dump()


VALUES = {
    "numbers": st.one_of(st.integers(-(2**40), 2**40), st.floats(allow_nan=False, allow_infinity=False, width=32)).map(
        str
    ),
    "truth values": st.sampled_from(["True", "False"]),
    "text": st.sampled_from(["a", "b c", "x7", "no"]),
}


@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_marks_count_as_empty_fields_would(tmp_path_factory, data):
    # Columns of any kind; the same file with empty fields in the place of the marks is read alike but for texts.
    kinds = data.draw(st.lists(st.sampled_from(sorted(VALUES)), min_size=1, max_size=4))
    n_rows = data.draw(st.integers(2, 30))
    marks = st.sampled_from(["", *EMPTY, " "])
    columns = {"row": list(range(n_rows))}  # a line without anything would be skipped
    for i, kind in enumerate(kinds):
        values = data.draw(st.lists(VALUES[kind], min_size=n_rows, max_size=n_rows))
        gaps = data.draw(st.lists(st.one_of(st.none(), marks), min_size=n_rows, max_size=n_rows))
        gaps[data.draw(st.integers(0, n_rows - 1))] = None  # some value stays
        columns[f"c{i}"] = [value if gap is None else gap for value, gap in zip(values, gaps, strict=True)]
    written = pd.DataFrame(columns, dtype=object)
    folder = tmp_path_factory.mktemp("marks")
    written.to_csv(folder / "marks.csv", index=False)
    written.mask(written.isin([*EMPTY, " "]), "").to_csv(folder / "empty.csv", index=False)
    marked, empty = (
        source.read(source.columns)
        for source in (Source(str(folder / f"{name}.csv"), [], lambda note: None) for name in ("marks", "empty"))
    )
    for i, kind in enumerate(kinds):
        name = f"c{i}"
        if kind == "text":
            assert marked[name].fillna("").tolist() == written[name].tolist()
        else:
            pd.testing.assert_series_equal(marked[name], empty[name])


# --- names of classes ---------------------------------------------------------------------------------------

NAMES = {
    "zeros": ["007", "070"],
    "zeros and not": ["07", "7"],
    "whole and not": ["0.5", "2"],
    "signs": ["+1", "-1"],
    "decimals": ["1.50", "2.50"],
    "small letters": ["false", "true"],
    "exponents": ["1e3", "2e3"],
    "of several": ["007", "070", "700"],
}


@pytest.mark.parametrize("gap", [False, True])
@pytest.mark.parametrize("names", NAMES.values(), ids=NAMES)
def test_names_of_classes_are_those_of_the_file(files, capsys, names, gap):
    rows, others = (
        frame.assign(code=np.array(names)[(frame["y"].to_numpy() + np.arange(len(frame)) // 50) % len(names)])
        for frame in files
    )
    if gap:
        rows["code"] = rows["code"].where(rows.index > 3, "")
    rows.to_csv("train.csv", index=False)
    others.to_csv("test.csv", index=False)
    command = ["train", "train.csv", "--label", "code", "--privileged", "z0,z1", "--drop", "y,sex,w,q,ill", *QUICK]
    objective = ["--objective", "multi:softprob"] if len(names) > 2 else []
    if names == ["07", "7"]:  # one number
        refused(capsys, "the same value in every", *command, "--unlabelled", "drop", "--out", "model.ubj")
        command += ["--categories", "code"]
    works(*command, *objective, "--unlabelled", "teach", "--valid", "test.csv", "--out", "model.ubj")
    works("predict", "test.csv", "--model", "model.ubj", "--out", "answers.csv")
    answers = pd.read_csv("answers.csv", dtype={"prediction": str})
    assert set(answers["prediction"]) <= set(names)
    assert list(answers)[1:] == [f"probability_{name}" for name in (names[1:] if len(names) == 2 else names)]
    # Other rows have the same names.
    works("evaluate", "test.csv", "--model", "model.ubj", "--label", "code", "--format", "csv")
    others.assign(code="0007").to_csv("test.csv", index=False)
    refused(capsys, "code.*test.csv.*'0007'", "evaluate", "test.csv", "--model", "model.ubj", "--label", "code")


@pytest.mark.parametrize("gap", [False, True])
@pytest.mark.parametrize("names", [["0", "1"], ["1", "2"], ["1.0", "2.0"], ["True", "False"], [" 1", "2 "]])
def test_numbers_and_truth_values_stay_what_they_are(files, names, gap):
    rows = files[0].assign(code=np.array(names)[files[0]["y"].astype(int)])
    if gap:
        rows["code"] = rows["code"].where(rows.index > 3, "")
    rows.to_csv("train.csv", index=False)
    command = ["train", "train.csv", "--label", "code", "--drop", "z0,z1,y,sex,w,q,ill", *QUICK, "--out", "model.ubj"]
    works(*command, "--unlabelled", "drop")
    classes = read_classes(xgb.Booster(model_file="model.ubj"))
    assert classes is None or classes.dtype.kind in "bif"


def test_a_misspelt_number_of_folds_names_the_option(trained, capsys):
    err = refused(capsys, "pi-xgb: --crossfit must be 0", "train", "train.csv", *GUIDED, *OTHERS, "--crossfit", "500",
                  "--out", "new.ubj")  # fmt: skip
    assert "crossfit must" not in err.replace("--crossfit must", "")
    few = pd.read_csv("train.csv").groupby("y").head(4)
    few.to_csv("few.csv", index=False)
    err = refused(capsys, "8 rows", "tune", "few.csv", *GUIDED, *OTHERS, "--folds", "6")
    assert "4 rows for 6 folds, and each fold must hold some out: use at most 4 folds" in err
    err = refused(capsys, "pi-xgb: ", "compare", "few.csv", *GUIDED, *OTHERS, "--folds", "2")
    assert "pi-xgb: inner_nfold must be at most the number of rows, 4, got 5: use fewer folds" in err
    misused(capsys, "expected one argument", "train", "train.csv", *GUIDED, "--missing")
    assert predicted(capsys, "test.csv")[1] == ""


@pytest.mark.parametrize("command", ["compare", "train"])
def test_an_option_that_does_not_exist_names_the_nearest_and_the_usage_of_the_command(capsys, command):
    nearest = {"compare": ["--nfold", "--folds"], "train": ["--kl_weight", "--kl-weight"]}[command]
    given = ["train.csv", "--privileged", "z0", "--out", "m.ubj"][: 5 if command == "train" else 3]
    usage = f"usage: pi-xgb {command} .*error: unrecognized arguments: "
    misused(capsys, f"{usage}{nearest[0]} 3; did you mean {nearest[1]}?", command, *given, nearest[0], "3")
    assert "did you mean" not in misused(capsys, f"{usage}--zzzz\n", command, *given, "--zzzz")


def test_a_stray_text_among_truth_values_is_an_error_as_among_numbers(files, capsys):
    truth = pd.Series(["True", "False"] * 50, name="c", dtype=object)
    for strays in (["maybe"], ["maybe", "perhaps"]):
        frame = pd.DataFrame({"c": [*truth, *strays, None]})
        if len(strays) == 1:
            with pytest.raises(
                ValueError, match=r"'c' of f has 'maybe' in line 102 among truth values: .*--missing 'maybe'"
            ):
                learned_features(frame, "f", dates="refuse", categories=[])
        else:  # more than one row of a hundred: names
            assert learned_features(frame, "f", dates="refuse", categories=[])["c"].dtype == "category"
        assert learned_features(frame, "f", dates="refuse", categories=["c"])["c"].dtype == "category"
    with_text(files[0], "maybe", column="flag")
    refused(capsys, "the column 'flag' of strays.csv has 'maybe' in line 9 among truth values", *TRAIN)
    works(*TRAIN, "--missing", "maybe")
