"""Rows without labels on the command line, and what options say of single rows."""

from __future__ import annotations

import argparse
import io
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import xgboost as xgb
from helpers_cli import FEATURES, PARAMS, QUICK, files, in_categories, one_thread, refused, works

import pi_xgb
from pi_xgb._cli.options import with_option
from pi_xgb._xgb.classes import read_classes

__all__ = ["files", "one_thread"]

KNOWN = np.arange(200) % 3 == 0
LABELS = {"y": "binary:logistic", "ill": "binary:logistic", "truth": "binary:logistic", "q": "reg:squarederror",
          "kind": "multi:softprob"}  # fmt: skip
TEACH = ["--unlabelled", "teach"]


def write(frame, name):
    if name.endswith("parquet"):
        pytest.importorskip("pyarrow", reason="Parquet needs the extra parquet")
        frame.to_parquet(name, index=False)
    else:
        frame.to_csv(name, index=False)


@pytest.fixture
def rows(files):
    """Training rows with labels of five kinds and the patients whom the rows are of, two thirds without a label."""
    frame = files[0].assign(truth=lambda t: t["y"] == 1, patient=[f"{i // 4:03}" for i in range(200)])
    frame["kind"] = pd.cut(frame["q"], 3, labels=["low", "mid", "top"]).astype(str)
    return frame


def gapped(frame):
    """The same with no label in two thirds of the rows."""
    return frame.assign(**{label: frame[label].astype(object).where(KNOWN, None) for label in LABELS})


def command(name, file, label="y", *options, guided=True):
    drop = {*LABELS, "w", "sex", "patient"} - {label, *options}
    privileged = ["--privileged", "z0,z1"] if guided else ["--drop", "z0,z1"]
    return [name, file, "--label", label, *privileged, "--drop", ",".join(sorted(drop)), *QUICK, *options]


def train(*arguments, out="model.ubj", **how):
    return [*command("train", *arguments, **how), "--out", out]


def expected(frame, label, *, crossfit_groups=None, **keywords):
    """``pi_xgb.train`` on the same rows, called directly."""
    known = frame[label].notna().to_numpy()
    codes = np.zeros(len(frame))
    values = frame.loc[known, label]
    codes[known] = values.astype(float) if LABELS[label].startswith("reg") else pd.factorize(values, sort=True)[0]
    x = xgb.DMatrix(in_categories(frame)[FEATURES], codes, enable_categorical=True)
    several = {"num_class": 3} if label == "kind" else {}
    return pi_xgb.train(
        {**PARAMS, "objective": LABELS[label], **several},
        x,
        6,
        privileged=xgb.DMatrix(frame[["z0", "z1"]], codes),
        labelled=known,
        crossfit_groups=crossfit_groups,
        **keywords,
    )


def same_model(file, booster):
    """To the last byte, but for the names of the classes."""
    found = xgb.Booster(model_file=file)
    found.set_attr(pi_xgb_classes=None)
    return bytes(found.save_raw("ubj")) == bytes(booster.save_raw("ubj"))


@pytest.mark.parametrize("name", ["rows.csv", "rows.parquet"])
@pytest.mark.parametrize("label", LABELS)
def test_the_teacher_alone_teaches_rows_without_a_label(rows, capsys, name, label):
    frame = gapped(rows)
    write(frame, name)
    works(*train(name, label, *TEACH, "--crossfit", "3"))
    # Unlabelled rows are taught, and the model is that of train called with the mask.
    assert same_model("model.ubj", expected(frame, label, crossfit=3))
    assert f"200 rows ({(~KNOWN).sum()} without a label)" in capsys.readouterr().err
    # The names of the classes are those of a file without gaps.
    write(rows, name)
    works(*train(name, label, out="full.ubj"))
    taught, full = (read_classes(xgb.Booster(model_file=file)) for file in ("model.ubj", "full.ubj"))
    assert np.array_equal(taught, full)
    assert getattr(taught, "dtype", None) == getattr(full, "dtype", None)


@pytest.mark.parametrize("name", ["rows.csv", "rows.parquet"])
@pytest.mark.parametrize("label", LABELS)
def test_rows_without_a_label_are_left_out(rows, capsys, name, label):
    write(gapped(rows), name)
    write(rows[KNOWN], f"known_{name}")
    works(*train(name, label, "--unlabelled", "drop"))
    assert f"{(~KNOWN).sum()} of 200 rows of {name} have no label and are left out" in capsys.readouterr().err
    works(*train(f"known_{name}", label, out="known.ubj"))
    # It is as if they had not been in the file.
    assert Path("model.ubj").read_bytes() == Path("known.ubj").read_bytes()
    # Without privileged columns too.
    works(*train(name, label, "--unlabelled", "drop", guided=False, out="plain.ubj"))


@pytest.mark.parametrize("name", ["rows.csv", "rows.parquet"])
@pytest.mark.parametrize("label", LABELS)
@pytest.mark.parametrize("source", ["train", "tune", "compare"])
def test_they_are_refused_by_default(rows, capsys, source, name, label):
    write(gapped(rows), name)
    arguments = train(name, label) if source == "train" else command(source, name, label)
    err = refused(capsys, f"'{label}'.*{name}.*{(~KNOWN).sum()} missing.*200 rows", *arguments)
    # The words are those that the option takes.
    assert all(f"--unlabelled {word}" in err for word in ("teach", "drop"))
    refused(capsys, "missing values in 200 rows", *arguments, "--unlabelled", "refuse")


def test_where_every_row_has_a_label_the_option_changes_nothing(rows, capsys):
    write(rows, "rows.csv")
    models = []
    for word in ("refuse", "teach", "drop"):
        works(*train("rows.csv", "y", "--unlabelled", word, out=f"{word}.ubj"))
        models.append(Path(f"{word}.ubj").read_bytes())
    assert models[0] == models[1] == models[2]
    assert "label and are" not in capsys.readouterr().err


@pytest.mark.filterwarnings("always:.*may mean a missing label")
@pytest.mark.parametrize("word", ["NA", "NaN", "null", "None"])
def test_words_for_missing_are_no_label_among_numbers_and_a_class_among_texts(rows, capsys, word):
    write(gapped(rows).fillna(dict.fromkeys(LABELS, word)), "rows.csv")
    for label in ("y", "q", "truth"):
        works(*train("rows.csv", label, *TEACH, "--force"))
        assert f"({(~KNOWN).sum()} without a label)" in capsys.readouterr().err
    # As everywhere in a file: among texts the words are texts, and it is said.
    works(*train("rows.csv", "kind", *TEACH, "--force"))
    assert f"the class {word!r}" in capsys.readouterr().err
    assert word in read_classes(xgb.Booster(model_file="model.ubj"))


@pytest.mark.filterwarnings("always:.*may mean a missing label")
@pytest.mark.parametrize("word", ["?", "  ", "-", "<NA>"])
def test_forms_that_were_left_blank_are_pointed_out(rows, capsys, word):
    frame = gapped(rows)
    write(frame.assign(kind=frame["kind"].fillna(word)), "rows.csv")
    works(*train("rows.csv", "kind", "--force"))
    output = capsys.readouterr().err
    assert f"note: the label 'kind' of rows.csv has the class {word!r}, which may mean a missing label" in output


@pytest.mark.filterwarnings("always::UserWarning")
def test_notes_and_errors_name_options(rows, capsys):
    frame = rows.assign(y=rows["y"].astype(int))
    frame.loc[frame.index[:50], ["z0", "z1"]] = np.nan
    write(frame, "rows.csv")
    works(*train("rows.csv", "y", "--force"))
    printed = capsys.readouterr().err
    assert "50 of 200 rows have no privileged value" in printed
    write(rows.assign(y=rows["y"].astype(int)), "rows.csv")
    output = refused(capsys, "--crossfit must be 0", *train("rows.csv", "y", "--crossfit", "500", "--force"))
    assert "crossfit must" not in output.replace("--crossfit must", "")


ARGUMENTS = {"teacher_weight", "kl_weight", "crossfit", "teacher", "privileged", "metric", "rounds", "weight", "seed"}


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        ("teacher_weight must be numbers, got text", "--teacher-weight must be numbers, got text"),
        ("kl_weight has no value above 0: give kl_weight=[1]", "--kl-weight has no value above 0: give kl_weight=[1]"),
        ("crossfit must be 0 or at least 2, got 1", "--crossfit must be 0 or at least 2, got 1"),
        ("crossfit should be at most the 3 labelled", "--crossfit should be at most the 3 labelled"),
        ("metric must be one of logloss", "--metric must be one of logloss"),
        ("num_boost_round must be at least 1", "--rounds must be at least 1"),
        ("sample_weight must be equal", "--weight must be equal"),
        # Nothing inside a sentence, no word of English, no keyword without an option, no name of a file.
        ("privileged and teacher were both given: privileged= learns a teacher", None),
        ("the column 'kl_weight' of crossfit 5: pass kl_weight=1", None),
        ("metric 'r2d2' is none of XGBoost's", None),
        ("teacher_params must be a dict", None),
        ("nfold must be at most 3", None),
        ("kl_weight.csv has a header and no rows", None),
    ],
)
def test_the_keyword_that_a_message_begins_with_becomes_an_option(message, expected):
    arguments = argparse.Namespace(**dict.fromkeys(ARGUMENTS))
    assert with_option(message, arguments) == (expected or message)


@pytest.mark.parametrize("first", [0.5, 1])
def test_numbers_keep_their_names(rows, first):
    write(rows.assign(y=(rows["y"] + first).where(KNOWN)), "rows.csv")
    works(*train("rows.csv", "y", *TEACH))
    # A gap makes 1 and 2 a column of 1.0 and 2.0 to pandas.
    assert repr(read_classes(xgb.Booster(model_file="model.ubj")).tolist()) == repr([first, first + 1])


def test_unlabelled_rows_need_a_teacher(rows, capsys):
    write(gapped(rows), "rows.csv")
    refused(capsys, "--unlabelled teach needs a teacher", *train("rows.csv", "y", *TEACH, guided=False))
    for option, column in (("--teacher-weight", "w"), ("--crossfit-groups", "patient")):
        arguments = train("rows.csv", "y", "--unlabelled", "drop", option, column, guided=False)
        refused(capsys, f"{option}.*ignored.*privileged", *arguments)


def test_labels_that_teach_nothing(rows, capsys):
    frame = gapped(rows)
    write(frame.assign(y=None), "rows.csv")
    refused(capsys, "label 'y'.*no row", *train("rows.csv", "y", *TEACH))
    write(frame.assign(y=frame["y"].where(frame["y"] == 1)), "rows.csv")
    refused(capsys, "value.*labelled row", *train("rows.csv", "y", *TEACH))


# --- columns about single rows ------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["rows.csv", "rows.parquet"])
def test_columns_say_how_the_teacher_counts_and_which_rows_belong_together(rows, name):
    frame = gapped(rows)
    write(frame, name)
    works(*train(name, "y", *TEACH, "--teacher-weight", "w", "--crossfit-groups", "patient", "--crossfit", "3"))
    model = expected(frame, "y", crossfit=3, teacher_weight=frame["w"], crossfit_groups=frame["patient"])
    # Neither column is a feature, and both are heard.
    assert same_model("model.ubj", model)
    assert not same_model("model.ubj", expected(frame, "y", crossfit=3, teacher_weight=frame["w"]))
    assert not same_model("model.ubj", expected(frame, "y", crossfit=3, crossfit_groups=frame["patient"]))


def test_groups_are_read_letter_by_letter(rows):
    # To a reader of numbers 7 and 007 are one patient, and 1e1 is 10.
    frame = gapped(rows).assign(patient=["7", "007", "10", "1e1"] * 50)
    write(frame, "rows.csv")
    works(*train("rows.csv", "y", *TEACH, "--crossfit-groups", "patient", "--crossfit", "4"))
    assert same_model("model.ubj", expected(frame, "y", crossfit=4, crossfit_groups=frame["patient"]))


def test_columns_about_single_rows_that_cannot_be(rows, capsys):
    frame = gapped(rows)
    write(frame.assign(sex=-1.0, patient=frame["patient"].where(frame.index > 4)), "rows.csv")
    refused(capsys, "--teacher-weight.*'sex'.*least 0",
            *train("rows.csv", "y", *TEACH, "--teacher-weight", "sex"))  # fmt: skip
    grouped = train("rows.csv", "y", *TEACH, "--crossfit-groups", "patient")
    refused(capsys, "5 missing values", *grouped, "--crossfit", "3")
    write(frame, "rows.csv")
    refused(capsys, "--crossfit-groups ", *grouped)
    refused(capsys, "--crossfit-groups.*--method jpib", *grouped, "--method", "jpib")
    refused(capsys, "--crossfit-groups ",
            *command("tune", "rows.csv", "y", *TEACH, "--crossfit-groups", "patient", "--teacher", "boosted",
                     "--crossfit", "0"))  # fmt: skip
    refused(capsys, "column 'nobody'.*--crossfit-groups",
            *train("rows.csv", "y", *TEACH, "--crossfit-groups", "nobody", "--crossfit", "3"))  # fmt: skip
    twice = [*train("rows.csv", "y", *TEACH, "--teacher-weight", "w"), "--weight", "w"]
    refused(capsys, "--weight.*--teacher-weight", *twice)


# --- rows to watch and to judge by --------------------------------------------------------------------------


def test_rows_to_watch_need_labels(rows, files, capsys):
    write(gapped(rows), "rows.csv")
    others = files[1].assign(truth=True, kind="low", patient="a")
    others.to_csv("test.csv", index=False)
    watching = ["--early-stopping", "2", "--rounds", "30"]
    works(*train("rows.csv", "y", *TEACH, *watching, "--valid", "test.csv"))
    others.assign(y=others["y"].where(others.index > 6)).to_csv("test.csv", index=False)
    refused(capsys, "7 missing values",
            *train("rows.csv", "y", *TEACH, *watching, "--valid", "test.csv", out="other.ubj"))  # fmt: skip
    refused(capsys, "7 missing values",
            "evaluate", "test.csv", "--model", "model.ubj", "--label", "y")  # fmt: skip


def test_a_share_to_watch_is_one_of_labelled_rows(rows):
    from pi_xgb._cli.rows import Rows, set_aside

    number = np.arange(200)
    kept, aside = set_aside(
        Rows(pd.DataFrame({"number": number}), None, rows["y"].to_numpy(), labelled=KNOWN, teacher_weight=number),
        0.25,
        seed=3,
    )
    assert aside.labelled.all()
    assert len(aside.y) == KNOWN.sum() // 4
    # Those without a label stay with the training, and what is said of a row goes with it.
    assert (~kept.labelled).sum() == (~KNOWN).sum()
    for part in (kept, aside):
        assert part.teacher_weight.tolist() == part.x["number"].tolist()
    write(gapped(rows), "rows.csv")
    works(*train("rows.csv", "y", *TEACH, "--early-stopping", "2", "--valid", "0.25", "--rounds", "30"))


# --- choosing -----------------------------------------------------------------------------------------------


SHORT = ["--folds", "2", "--method", "kbpib", "--teacher", "boosted", "--crossfit", "2", "--kl-weight", "5"]


def matrices(frame):
    known = frame["y"].notna().to_numpy()
    y = frame["y"].astype(float).fillna(0)
    x = xgb.DMatrix(in_categories(frame)[FEATURES], y, enable_categorical=True)
    return x, {
        "privileged": xgb.DMatrix(frame[["z0", "z1"]], y),
        "labelled": known,
        "teacher_weight": frame["w"].to_numpy(),
        "crossfit_groups": frame["patient"].to_numpy(),
    }


OF_ROWS = [*TEACH, "--teacher-weight", "w", "--crossfit-groups", "patient"]


def test_tune_chooses_with_rows_without_a_label(rows, capsys):
    frame = gapped(rows)
    write(frame, "rows.csv")
    works(*command("tune", "rows.csv", "y", *OF_ROWS, *SHORT), "--format", "csv", "--out", "model.ubj")
    out, err = capsys.readouterr()
    x, guided = matrices(frame)
    chosen = pi_xgb.select(PARAMS, x, 6, method="kbpib", teacher="boosted", crossfit=2, kl_weight=5.0, nfold=2,
                           groups=frame["patient"], seed=0, **guided)  # fmt: skip
    found = pd.read_csv(io.StringIO(out), index_col="candidate")
    np.testing.assert_allclose(found["gain"], chosen.summary["gain"])
    assert str(chosen) in err
    assert same_model("model.ubj", chosen.train(x, **guided))


def test_auto_chooses_with_rows_without_a_label(rows, capsys):
    frame = gapped(rows)
    write(frame, "rows.csv")
    options = [*OF_ROWS, "--kl-weight", "auto", "--crossfit", "2"]
    works(*train("rows.csv", "y", *options))
    x, guided = matrices(frame)
    chosen = pi_xgb.select(PARAMS, x, 6, method="kbpib", crossfit=2, seed=0,
                           groups=frame["patient"], **guided)  # fmt: skip
    assert str(chosen) in capsys.readouterr().err
    assert same_model("model.ubj", chosen.train(x, **guided))


@pytest.mark.slow
def test_compare_judges_by_labelled_rows_alone(rows, capsys, monkeypatch):
    given, original = {}, pi_xgb.compare
    monkeypatch.setattr("pi_xgb.selection.compare", lambda *rows, **more: given.update(more) or original(*rows, **more))
    frame = gapped(rows)
    write(frame, "rows.csv")
    works(*command("compare", "rows.csv", "y", *OF_ROWS, *SHORT), "--repeats", "1", "--format", "csv")
    out, err = capsys.readouterr()
    _, guided = matrices(frame)
    keywords = {name: guided[name] for name in ("teacher_weight", "crossfit_groups")}
    assert all(np.array_equal(given[name], values) for name, values in keywords.items())
    expected = pi_xgb.compare(
        in_categories(frame)[FEATURES], frame["y"].astype(float), frame[["z0", "z1"]],
        params=PARAMS, num_boost_round=6, method="kbpib", teacher="boosted", crossfit=2, kl_weight=5.0, nfold=2,
        repeats=1, seed=0, groups=frame["patient"], **keywords,
    )  # fmt: skip
    found = pd.read_csv(io.StringIO(out))
    np.testing.assert_allclose(found["gain"], expected.summary["gain"])
    assert str(expected) in err
    # In each fold about half of the labelled rows, in whole groups.
    assert set(found["size"]) <= {31, 32, 33, 34}


def test_drop_leaves_the_choosing_to_labelled_rows(rows, capsys):
    write(gapped(rows), "rows.csv")
    write(rows[KNOWN], "known.csv")
    tables = []
    for name in ("rows.csv", "known.csv"):
        works(*command("tune", name, "y", "--unlabelled", "drop", *SHORT), "--format", "csv")
        tables.append(capsys.readouterr().out)
    assert tables[0] == tables[1]


@pytest.mark.slow
def test_groups_are_kept_together_by_folds_and_by_a_share(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    patient = np.repeat(np.arange(60), 5)
    marks = rng.normal(size=(60, 3))[patient] + rng.normal(scale=0.01, size=(300, 3))
    frame = pd.DataFrame(marks, columns=["a", "b", "z"])
    frame["ill"], frame["patient"] = rng.integers(0, 2, 60)[patient], patient
    frame.to_csv("visits.csv", index=False)
    common = [
        "visits.csv",
        "--label",
        "ill",
        "--privileged",
        "z",
        "--crossfit-groups",
        "patient",
        "--params",
        "nthread=1",
    ]
    works("compare", *common, "--crossfit", "3", "--rounds", "30", "--folds", "3", "--repeats", "1", "--metric", "auc",
          "--kl-weight", "1", "--method", "kbpib", "--teacher", "boosted", "--format", "csv")  # fmt: skip
    table = pd.read_csv(io.StringIO(capsys.readouterr().out)).set_index("model")
    # The outcome belongs to the patient and marks say nothing of it: only other visits would tell.
    assert 0.3 < table.loc["plain XGBoost", "score"] < 0.7
    works("train", *common, "--crossfit", "3", "--rounds", "30", "--valid", "0.3", "--out", "model.ubj")
    watched = float(re.search(r"logloss ([\d.]+)", capsys.readouterr().err)[1])
    assert watched > 0.6
