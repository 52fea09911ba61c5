"""Files as people have them: what is read, what is missing, what is refused, and the words of the errors."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import xgboost as xgb
from helpers_cli import (
    GUIDED,
    OTHERS,
    QUICK,
    files,
    has_parts,
    main,
    misused,
    model_file,
    one_thread,
    predicted,
    refused,
    trained,
    works,
)

__all__ = ["files", "model_file", "one_thread", "trained"]

TRAIN = ["train", "changed.csv", *GUIDED, *OTHERS, "--out", "new.ubj"]
PREDICT = ["predict", "changed.csv", "--model", "model.ubj"]
DATES = ["03/15/24", "05-Jan-2024", "05.01.24", "Jan 05, 2024", "6 June 24", "06Jan2024", "Sept 5 2024"]


def change(frame, column, text, rows=(7,)):
    """Write the frame with a text in some rows of a column."""
    changed = frame.astype({column: object})
    changed.loc[list(rows), column] = text
    changed.to_csv("changed.csv", index=False)


def change_line(name, number, changed):
    lines = Path(name).read_text().splitlines()
    lines[number - 1] = changed(lines[number - 1])
    Path("changed.csv").write_text("\n".join(lines) + "\n")


# --- ten errors, each in one line ---------------------------------------------------------------------------

WEIGHTED = ["train", "changed.csv", *GUIDED, "--drop", "sex,q,ill", "--weight", "w", "--out", "new.ubj"]
ERRORS = {
    "no file": (lambda rows: None, [*TRAIN[:1], "absent.csv", *TRAIN[2:]], "No such file.*'absent.csv'"),
    "empty file": (lambda rows: Path("changed.csv").touch(), TRAIN, "changed.csv is not a readable CSV file"),
    "no rows": (lambda rows: rows[:0], TRAIN, "a header and no rows"),
    "no column": (lambda rows: rows, [*TRAIN, "--drop", "lab"], "no column 'lab', which --drop names"),
    "column twice": (lambda rows: pd.concat([rows, rows[["z0"]]], axis=1), TRAIN,
                     "changed.csv has the column 'z0' twice"),
    "text among numbers": (lambda rows: change(rows, "x1", "n.d."), TRAIN,
                           "'x1' of changed.csv has 'n.d.' in line 9 among.*--missing 'n.d.'.*--categories x1"),
    "infinite": (lambda rows: change(rows, "x1", "1e39"), TRAIN, "'x1' of changed.csv has 1e+39 in line 9"),
    "weight": (lambda rows: change(rows, "w", -1), WEIGHTED,
               "--weight names 'w', which in changed.csv must be finite and at least 0, got -1 in row 7"),
    "zero weights": (lambda rows: rows.assign(w=0), WEIGHTED, "--weight names 'w'.*must be above 0 somewhere"),
    "label gap": (lambda rows: change(rows, "y", ""), TRAIN, "'y' of changed.csv has 1 missing.*--unlabelled drop"),
    "number for text": (lambda rows: change(rows, "x1", "3 mg"), PREDICT,
                        "'x1' of changed.csv has text, such as '3 mg' in line 9, where the model expects numbers"),
    "ragged": (lambda rows: change_line("train.csv", 3, "1,{}".format), TRAIN,
               "changed.csv is not a readable CSV file.*Expected 12 fields in line 3, saw 13.*a name for every column"),
    "semicolons": (lambda rows: rows.to_csv("changed.csv", index=False, sep=";"), TRAIN, "commas, not semicolons"),
    "latin-1": (lambda rows: rows.assign(sex="männlich").to_csv("changed.csv", index=False, encoding="latin-1"), TRAIN,
                "changed.csv is not a readable CSV file.*can't decode.*UTF-8 text"),
    "dates": (lambda rows: rows.assign(seen=[f"2024-01-{1 + i % 28}" for i in range(200)]), TRAIN,
              "'seen' of changed.csv has '2024-01-1' in line 2 among numbers, dates.*--categories seen.*--drop seen"),
    "other dates": (lambda rows: rows.assign(seen=np.resize(DATES, 200)), TRAIN,
                    "'seen' of changed.csv has '03/15/24' in line 2 among numbers, dates"),
    "spreadsheet": (lambda rows: rows, [*PREDICT, "--out", "p.xlsx"], "--out must end in .csv.*got 'p.xlsx'"),
    "bracket": (lambda rows: rows.assign(**{"a[0]": 1}), TRAIN,
                "the columns of changed.csv must have no [, ] or < in their names, got 'a[0]': rename them"),
    "num_class": (lambda rows: rows, [*TRAIN[:-2], "--params", "num_class=2", *TRAIN[-2:]],
                  "--params num_class must be left out, got 2: the label 'y' of changed.csv makes it 1"),
    "one number twice": (lambda rows: rows.assign(y=np.resize(["1", "1.0", "a"], 200)), TRAIN,
                         "the label 'y' of changed.csv has the number 1 in several spellings, '1', '1.0'"),
}  # fmt: skip


@pytest.mark.parametrize("case", ERRORS)
def test_bad_input_is_one_line_that_names_file_column_and_option(trained, capsys, monkeypatch, case):
    write, arguments, message = ERRORS[case]
    if (changed := write(trained[0])) is not None:
        changed.to_csv("changed.csv", index=False)
    monkeypatch.setattr(xgb, "train", lambda *_, **__: pytest.fail("it trained"))
    err = refused(capsys, message, *arguments)
    lines = [line for line in err.splitlines() if not line.startswith(("note: ", "changed.csv: "))]
    assert len(lines) == 1
    assert lines[0].startswith("pi-xgb: ")
    assert not Path("new.ubj").exists()


def test_row_with_too_many_values_is_refused(trained, capsys):
    for command, rows in ((TRAIN, "train.csv"), (PREDICT, "test.csv")):
        for line in (2, 90):
            change_line(rows, line, lambda text: f"{text},")
            refused(capsys, f"Expected 12 fields in line {line}, saw 13", *command)


def test_row_with_too_few_values_ends_with_missing_ones(trained, capsys):
    trained[1][["x0", "x1", "x2", "colour", "flag"]].to_csv("bare.csv", index=False)
    answers = []
    for end in ("", ","):
        change_line("bare.csv", 4, lambda text, end=end: text.rpartition(",")[0] + end)
        answers.append(predicted(capsys, "changed.csv")[0])
    pd.testing.assert_frame_equal(*answers)


# --- texts among numbers ------------------------------------------------------------------------------------


def minus(number):
    return f"\N{MINUS SIGN}{number}"


@pytest.mark.parametrize(
    "spelling",
    [minus, "${:.2f}".format, "{}%".format, "{} €".format, lambda number: f"{1e6 * number:,.0f}".replace(",", "."),
     lambda number: str(number).replace(".", ",")],
    ids=["Unicode minus", "dollar", "percent", "euro", "thousands", "decimal comma"],
)  # fmt: skip
@pytest.mark.slow
def test_column_of_numbers_in_another_spelling_is_an_error_with_the_first(files, capsys, spelling):
    rows, _ = files
    numbers = rows["x1"].abs().round(3) + 1
    texts = numbers.map(spelling)
    for part in (texts, texts.where(rows.index % 2 == 0, numbers)):
        rows.assign(x1=part).to_csv("changed.csv", index=False)
        refused(capsys, f"the column 'x1' of changed.csv has {texts[0]!r} in line 2 among", *TRAIN)
    works(*TRAIN, "--categories", "x1")


@pytest.mark.parametrize(
    ("numbers", "strays", "line"),
    [
        ([str(i) for i in range(21)], ["x"], 23),
        ([str(i) for i in range(20)], ["x", "y", "z"], None),
        ([str(i) for i in range(540)], [f"t{i}" for i in range(59)], 542),
        ([str(i) for i in range(540)], [f"t{i}" for i in range(60)], None),
        (["1", "2"] * 50, ["x"], 102),
        (["1", "2"] * 10, ["x"], 22),
        (["1", "2"] * 4, ["x"], None),
        (["1", "2"] * 98, ["x", "y", "z"], 198),
        (["True", "False"] * 50, ["maybe", "perhaps"], 102),
        (["v1", "v2"] * 50, ["192.168.0.1"], None),
    ],
)
def test_few_texts_among_numbers_are_an_error_and_many_are_categories(
    tmp_path, monkeypatch, capsys, numbers, strays, line
):
    monkeypatch.chdir(tmp_path)
    frame = pd.DataFrame({"c": [*numbers, *strays, "", "NA", "nan", "?"]})
    frame.assign(y=np.arange(len(frame)) % 2).to_csv("rows.csv", index=False)
    command = ["train", "rows.csv", "--label", "y", *QUICK, "--out", "m.ubj"]
    if line:
        refused(capsys, f"the column 'c' of rows.csv has {strays[0]!r} in line {line} among", *command)
        command += ["--categories", "c"]
    works(*command)
    assert xgb.Booster(model_file="m.ubj").feature_types == ["c"]


@pytest.mark.slow
def test_the_ways_out_are_those_that_the_error_names(files, capsys):
    rows, _ = files
    change(rows, "x1", "n.d.")
    works(*TRAIN, "--missing", "n.d.", "--missing", "unknown", "--valid", "changed.csv")
    assert "did not have" not in capsys.readouterr().err
    rows.assign(x1=rows["x1"].where(rows.index != 7)).to_csv("gap.csv", index=False)
    works("train", "gap.csv", *GUIDED, *OTHERS, "--valid", "gap.csv", "--out", "gap.ubj")
    assert Path("new.ubj").read_bytes() == Path("gap.ubj").read_bytes()
    works("predict", "changed.csv", "--model", "new.ubj", "--missing", "n.d.", "--keep", "x1", "--out", "kept.csv")
    assert pd.read_csv("kept.csv", keep_default_na=False)["x1"][7] == "n.d."
    works("evaluate", "changed.csv", "--model", "new.ubj", "--label", "y", "--missing", "n.d.")
    works(*TRAIN, "--categories", "x1", "--force")
    assert xgb.Booster(model_file="new.ubj").feature_types[1] == "c"
    # The line is that of the file, also where rows without a label are left out.
    spoilt = rows.astype({"x1": object, "y": object})
    spoilt.loc[7, "x1"], spoilt.loc[2, "y"] = "n.d.", None
    spoilt.to_csv("changed.csv", index=False)
    refused(capsys, "'x1' of changed.csv has 'n.d.' in line 9 among", *TRAIN, "--unlabelled", "drop", "--force")
    # A label of numbers is one, too.
    change(rows, "q", "5%")
    label = ["train", "changed.csv", "--label", "q", "--drop", "sex,w,y,ill,z0,z1", *QUICK, "--out", "q.ubj"]
    refused(capsys, "the column 'q' of changed.csv has '5%' in line 9 among", *label)
    works(*label, "--missing", "5%", "--unlabelled", "drop")


# --- missing values -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("mark", ["NA", "nan", "?", " "])
def test_marks_are_missing_in_numbers_and_booleans_with_a_note(files, capsys, mark):
    rows = files[0]
    for name, text in (("marks", mark), ("gaps", "")):
        changed = rows.astype({"x1": object, "flag": object})
        changed.loc[7, ["x1", "flag"]] = text
        changed.to_csv(f"{name}.csv", index=False)
        capsys.readouterr()
        works("train", f"{name}.csv", *GUIDED, *OTHERS, "--out", f"{name}.ubj")
        noted = f"{name}.csv has {text!r} in 'x1', 'flag': read as missing values" in capsys.readouterr().err
        assert noted == (name == "marks")
    assert Path("marks.ubj").read_bytes() == Path("gaps.ubj").read_bytes()


def test_column_without_a_name_is_no_feature_with_a_note(files, capsys):
    files[0].to_csv("changed.csv", index=False)
    works(*TRAIN)
    expected = Path("new.ubj").read_bytes()
    files[0].to_csv("changed.csv")
    works(*TRAIN, "--force")
    assert Path("new.ubj").read_bytes() == expected
    assert "note: changed.csv has a column without a name" in capsys.readouterr().err


def test_column_without_any_value_is_a_missing_number(files):
    files[0].assign(note=None).to_csv("changed.csv", index=False)
    works(*TRAIN, "--categories", "note")
    assert xgb.Booster(model_file="new.ubj").feature_types[-1] == "float"


# --- names of classes ---------------------------------------------------------------------------------------

CLASSES = {"zeros": ["007", "070"], "whole and not": ["0.5", "2"], "signs": ["+1", "-1"], "decimals": ["1.50", "2.50"],
           "small letters": ["false", "true"], "exponents": ["1e3", "2e3"], "of several": ["007", "070", "700"],
           "numbers": ["1", "2"], "truth values": ["True", "False"]}  # fmt: skip
FAST = ("zeros", "whole and not", "of several", "numbers")


@pytest.mark.parametrize("gap", [False, True])
@pytest.mark.parametrize(
    "names", [pytest.param(CLASSES[name], marks=[] if name in FAST else pytest.mark.slow, id=name) for name in CLASSES]
)
@pytest.mark.slow
def test_names_of_classes_are_those_of_the_file(files, capsys, names, gap):
    for frame, name in zip(files, ("train.csv", "test.csv"), strict=True):
        frame["code"] = np.array(names)[(frame["y"].to_numpy() + np.arange(len(frame)) // 50) % len(names)]
        code = frame["code"].where(frame.index > 3, "") if gap and name == "train.csv" else frame["code"]
        frame.assign(code=code).to_csv(name, index=False)
    objective = ["--objective", "multi:softprob"] if len(names) > 2 else []
    command = ["train", "train.csv", "--label", "code", "--privileged", "z0,z1", "--drop", "y,sex,w,q,ill", *QUICK]
    works(*command, *objective, "--unlabelled", "teach", "--valid", "test.csv", "--out", "model.ubj")
    works("predict", "test.csv", "--model", "model.ubj", "--out", "answers.csv")
    answers = pd.read_csv("answers.csv", dtype={"prediction": str})
    assert set(answers["prediction"]) <= set(names)
    shown = sorted(names)[1:] if len(names) == 2 else names
    assert list(answers)[1:] == [f"probability_{name}" for name in shown]
    works("evaluate", "test.csv", "--model", "model.ubj", "--label", "code", "--format", "csv")
    files[1].assign(code="0008").to_csv("test.csv", index=False)
    refused(capsys, "code.*test.csv must have classes of", "evaluate", "test.csv", "--model", "model.ubj",
            "--label", "code")  # fmt: skip


@pytest.mark.parametrize("others", [["0"], ["2"]])
def test_class_written_1_and_1_0_is_one_class(files, others):
    rows, _ = files
    ones = np.where(rows.index % 3 == 0, "1.0", "1")
    rows.assign(y=np.where(rows["y"] == 1, ones, others[0])).to_csv("changed.csv", index=False)
    works(*TRAIN)
    works("predict", "test.csv", "--model", "new.ubj", "--out", "answers.csv")
    assert set(pd.read_csv("answers.csv", dtype=str)["prediction"]) <= {"1", *others}


@pytest.mark.filterwarnings("always:.*may mean a missing label")
def test_marks_are_no_label_among_numbers_and_a_class_with_a_note_among_texts(files, capsys):
    rows = files[0].assign(kind=pd.cut(files[0]["q"], 3, labels=["low", "mid", "top"]).astype(str))
    change(rows, "y", "NA")
    works(*TRAIN[:-2], "--drop", "kind", "--unlabelled", "teach", "--out", "y.ubj")
    assert "(1 without a label)" in capsys.readouterr().err
    change(rows, "kind", "NA")
    works("train", "changed.csv", "--label", "kind", "--drop", "z0,z1,y", *OTHERS, *QUICK, "--out", "kind.ubj")
    assert "note: the label 'kind' of changed.csv has the class 'NA'" in capsys.readouterr().err


# --- files that cannot be read ------------------------------------------------------------------------------


def zipped(content):
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("rows.csv", content)
    return packed.getvalue()


PACKERS = {"gz": gzip.compress, "bz2": bz2.compress, "xz": lzma.compress, "zip": zipped}


@pytest.mark.parametrize("ending", PACKERS)
def test_broken_packed_files_are_named(trained, capsys, ending):
    content = Path("test.csv").read_bytes()
    packed, name = PACKERS[ending](content), f"rows.csv.{ending}"
    for broken in (packed[:900], packed[:20], packed[:-9], content):
        Path(name).write_bytes(broken)
        refused(capsys, f"{name} is not a readable CSV file", "predict", name, "--model", "model.ubj")
    Path(name).write_bytes(packed)
    predicted(capsys, name)


def test_broken_models_and_parquet_files_are_named(trained, capsys):
    whole = Path("model.ubj").read_bytes()
    for length in (0, 100, len(whole) // 2, len(whole) - 1):  # at some XGBoost would read past the end
        Path("cut.ubj").write_bytes(whole[:length])
        refused(capsys, "cut.ubj.*model", "predict", "test.csv", "--model", "cut.ubj")
    refused(capsys, "'train.csv' is not a model", "predict", "test.csv", "--model", "train.csv")
    refused(capsys, "No such file.*'absent.ubj'", "predict", "test.csv", "--model", "absent.ubj")
    rows = trained[0][["x1", "x2"]]
    xgb.train({"nthread": 1}, xgb.DMatrix(rows.to_numpy(), trained[0]["q"]), 2).save_model("nameless.ubj")
    refused(capsys, "feature names", "predict", "test.csv", "--model", "nameless.ubj")
    refused(capsys, "Is a directory: '.'", "predict", ".", "--model", "model.ubj")
    pytest.importorskip("pyarrow", reason="Parquet needs the extra parquet")
    Path("cut.parquet").write_bytes(b"PAR1")
    refused(capsys, "cut.parquet is not a readable Parquet file", "predict", "cut.parquet", "--model", "model.ubj")
    rows.to_parquet("rows.parquet")
    refused(capsys, "--missing is for CSV files", "predict", "rows.parquet", "--model", "model.ubj", "--missing", "-")


def test_parquet_without_pyarrow_names_it(trained, capsys, monkeypatch):
    Path("rows.parquet").touch()
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    # Nothing is wrong with the input: exit code 1.
    assert main(["train", "rows.parquet", *GUIDED, "--out", "new.ubj"]) == 1
    assert "pyarrow" in capsys.readouterr().err


# --- options ------------------------------------------------------------------------------------------------

FRONTIER = ["frontier", "train.csv", "--label", "y", "--drop", "w,q,ill,colour,flag,z0,z1", *QUICK]
LEARN = ["train", "train.csv", *GUIDED, *OTHERS, "--out", "new.ubj"]
ALONE = ["train", "train.csv", "--label", "y", *OTHERS, "--out", "new.ubj"]
EVALUATE = ["evaluate", "test.csv", "--model", "model.ubj", "--label", "y"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([*LEARN, "--drop", "z1"], "'z1' is named by --privileged and by --drop: name it once"),
        ([*LEARN, "--drop", "x0,x1,x2,colour,flag"], "no column left for the student"),
        ([*LEARN, "--weight", "q"], "'q' is named by --weight and by --drop"),
        ([*ALONE, "--crossfit", "3"], "--crossfit requires a teacher.*pass --privileged or --teacher, or"),
        ([*ALONE, "--kl-weight", "2"], "--kl-weight requires a teacher"),
        ([*ALONE, "--teacher", "mixed", "--teacher-sees", "all"], "--teacher-sees requires"),
        ([*LEARN, "--teacher", "builtins:dict"], "teacher must be a name, an estimator.*got dict"),
        ([*LEARN, "--teacher", "forest", "--teacher", "linear"], "--teacher must have one value in train and compare"),
        (["compare", *LEARN[1:-2], "--kl-weight", "1,2"], "--kl-weight must have one value in train and compare"),
        ([*LEARN, "--early-stopping", "5"], "--early-stopping requires --valid"),
        ([*LEARN, "--method", "jpib", "--crossfit", "3"], "--crossfit is not supported with --method='jpib'"),
        ([*LEARN, "--crossfit", "500"], "--crossfit must be 0"),
        ([*LEARN, "--crossfit", "-1"], "--crossfit must be 0"),
        ([*LEARN, "--kl-weight", "-1"], "--kl-weight must be finite, at least 0"),
        ([*ALONE, "--rounds", "0"], "--rounds must be at least 1, got 0"),
        (["demo", "--seeds", "1"], "--seeds must be at least 2, got 1"),
        ([*LEARN, "--valid", "1.5"], "--valid must be a file, or a share of the rows between 0 and 1, got '1.5'"),
        ([*LEARN, "--valid", "absent.csv"], "No such file.*'absent.csv'"),
        ([*LEARN, "--objective", "binary:logistic", "--params", "objective=reg:gamma"], "--objective must be that of"),
        ([*LEARN, "--objective", "binary:hinge"], "teacher.*objectives"),
        ([*LEARN, "--constraint", "parity:sex"], "--constraint must look like parity:sex=5"),
        ([*LEARN[:-4], "--drop", "w,q,ill", "--constraint", "odds:sex=1", "--constraint", "parity:sex=2", *LEARN[-2:]],
         "'sex' is named by --constraint: name it once"),
        ([*LEARN[:-2], "--out", "new.txt"], "--out must end in .ubj or .json"),
        ([*LEARN[:-2], "--out", "nowhere/new.ubj"], "does not exist: create it first"),
        (["tune", *LEARN[1:-2], "--teacher", "boosted", "--crossfit", "1"], "--crossfit .*1"),
        (["compare", *LEARN[1:-2], "--kl-weight", "0"], "--kl-weight "),
        ([*EVALUATE, "--html", "a.html"], "--html would be ignored"),
        ([*EVALUATE, "--threshold", "1.5"], "--threshold must lie between 0 and 1, as probabilities do, got 1.5"),
        ([*EVALUATE[:-2], "--label", "lab"], "no column 'lab', which --label names"),
        (["predict", "test.csv", "--model", "model.ubj", "--keep", "age"], "no column 'age', which --keep names"),
        ([*FRONTIER, "--constraint", "parity:sex", "--out", "new.ubj"], "--gap must be one number.*--out, got none"),
        ([*FRONTIER, "--constraint", "parity:sex", "--gap", "1.5"], "--gap must be numbers between 0 and 1"),
        ([*FRONTIER, "--constraint", "parity:sex", "--objective", "reg:logistic"], "must be 'binary:logistic'"),
        ([*FRONTIER, "--constraint", "parity:sex=2"], "in frontier one, like parity:sex"),
        ([*FRONTIER, "--constraint", "parity:y"], "'y' is named by --label and by --constraint"),
    ],
)  # fmt: skip
def test_options_that_cannot_be_are_named(trained, capsys, arguments, message):
    refused(capsys, message, *arguments)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["tune", "train.csv", "--label", "y"], "required: --privileged"),
        (["train", "train.csv", "--label", "y"], "required: --out"),
        (["frontier", "train.csv", "--label", "y"], "required: --constraint"),
        ([*LEARN, "--kl-weight", "much"], "argument --kl-weight: must be numbers separated by commas, got 'much'"),
        ([*LEARN, "--params", "eta"], "argument --params: must look like max_depth=3, got 'eta'"),
        ([*LEARN, "--rounds", "many"], "argument --rounds: invalid int value: 'many'"),
        ([*LEARN, "--drop", ""], "argument --drop: must be separated by commas, got ''"),
        ([*LEARN, "--constraint", "equal:sex=1"], "with one of parity, odds, tpr, fpr, precision, got 'equal:sex=1'"),
        ([*LEARN, "--constraint", "odds:sex=-1"], "argument --constraint: must have a finite weight of at least 0"),
        ([*LEARN, "--teacher", "own"], "must be boosted.*MODULE:FACTORY.*got 'own'"),
        ([*LEARN, "--teacher", "no_such_module:own"], "a function without arguments (No module named"),
        ([*FRONTIER, "--constraint", "parity:sex", "--unlabelled", "teach"], "--unlabelled: invalid choice: 'teach'"),
        ([*LEARN, "--nfold", "3"], "unrecognized arguments: --nfold 3"),
        ([], "required: COMMAND"),
    ],
)
def test_options_that_cannot_be_parsed_are_named(capsys, arguments, message):
    assert misused(capsys, message, *arguments).startswith("usage: pi-xgb")


def test_teacher_of_ones_own_comes_from_the_folder_of_the_command(files):
    Path("own_teachers.py").write_text("from sklearn.linear_model import LogisticRegression\n")
    drop = ["--drop", "colour,flag"]
    for teacher, out in (("own_teachers", "a.ubj"), ("sklearn.linear_model", "b.ubj")):
        works(*LEARN[:-2], *drop, "--drop", "x0", "--teacher", f"{teacher}:LogisticRegression", "--out", out)
    assert Path("a.ubj").read_bytes() == Path("b.ubj").read_bytes()


# --- outputs ------------------------------------------------------------------------------------------------

OUTPUTS = {
    "predict, its rows": (["predict", "test.csv", "--model", "model.ubj", "--out"], "test.csv"),
    "predict, its model": (["predict", "test.csv", "--model", "model.ubj", "--out"], "model.ubj"),
    "evaluate, its rows": ([*EVALUATE, "--groups", "sex", "--html"], "test.csv"),
    "train, its rows": (LEARN[:-1], "train.csv"),
    "train, validation rows": ([*LEARN[:-2], "--valid", "test.csv", "--out"], "test.csv"),
    "tune, its search": (["tune", *LEARN[1:-2], "--resume", "search.json", "--out"], "search.json"),
}


@pytest.mark.parametrize("case", OUTPUTS)
def test_output_over_an_input_is_refused_also_with_force(trained, capsys, case):
    command, name = OUTPUTS[case]
    Path("search.json").write_text("{}")
    links = [f"{kind}{'.ubj' if command[0] in ('train', 'tune') else Path(name).suffix}" for kind in ("soft", "hard")]
    for make, link in zip((os.symlink, os.link), links, strict=True):
        make(name, link)
    before = {file: Path(file).read_bytes() for file in os.listdir()}
    for out in (name, f"../{Path.cwd().name}/{name}", *links):
        for force in ([], ["--force"]):
            message = "must not be an input.*name another file"
            assert "add --force" not in refused(capsys, message, *command, out, *force)
    assert {file: Path(file).read_bytes() for file in os.listdir()} == before


@pytest.mark.slow
def test_output_over_standard_input_is_refused(trained):
    command = [sys.executable, "-m", "pi_xgb", "predict", "-", "--model", "model.ubj", "--out", "test.csv", "--force"]
    before = Path("test.csv").read_bytes()
    with open("test.csv", "rb") as rows:
        done = subprocess.run(command, stdin=rows, capture_output=True, text=True, timeout=120)
    assert done.returncode == 2
    assert has_parts(done.stderr, "--out must not be an input, got 'test.csv', the file of DATA")
    assert Path("test.csv").read_bytes() == before


def test_existing_output_is_replaced_with_force_only_and_checked_before_reading(files, capsys, monkeypatch):
    Path("new.ubj").write_text("precious")
    with monkeypatch.context() as patched:
        patched.setattr(pd, "read_csv", lambda *_, **__: pytest.fail("the check comes too late"))
        refused(capsys, "exists.*--force", *LEARN)
    assert Path("new.ubj").read_text() == "precious"
    works(*LEARN, "--force")
    assert xgb.Booster(model_file="new.ubj").num_boosted_rounds() == 6
    assert sorted(os.listdir()) == ["new.ubj", "test.csv", "train.csv"]


def test_output_that_appears_during_the_training_is_not_replaced(files, capsys, monkeypatch):
    def slow(*args, original=xgb.train, **kwargs):
        Path("new.ubj").write_text("precious")
        return original(*args, **kwargs)

    monkeypatch.setattr(xgb, "train", slow)
    refused(capsys, "exists.*--force", *LEARN)
    assert Path("new.ubj").read_text() == "precious"
    assert sorted(os.listdir()) == ["new.ubj", "test.csv", "train.csv"]


def test_interrupted_write_is_130_and_leaves_no_draft(files, monkeypatch):
    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "link", interrupted)
    assert main(LEARN) == 130
    assert sorted(os.listdir()) == ["test.csv", "train.csv"]
