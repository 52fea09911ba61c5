"""The commands that choose and compare, and everything that a user can get wrong on the command line."""

from __future__ import annotations

import io
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import xgboost as xgb
from helpers_cli import FEATURES, GUIDED, OTHERS, files, in_categories, misused, one_thread, refused, trained, works

import pi_xgb
from pi_xgb.__main__ import main
from pi_xgb._cli.demo import ALL_LABELS, FEW_LABELS, run_demo, run_experiment
from pi_xgb.selection import select

__all__ = ["files", "one_thread", "trained"]


SHORT = ["--folds", "3", "--method", "kbpib", "--teacher", "boosted", "--crossfit", "5", "--kl-weight", "0,5"]


def matrices(rows):
    x = xgb.DMatrix(in_categories(rows)[FEATURES], rows["y"], enable_categorical=True)
    return x, xgb.DMatrix(rows[["z0", "z1"]], rows["y"])


def selected(rows, **keywords):
    x, z = matrices(rows)
    params = {"objective": "binary:logistic", "max_depth": 3, "nthread": 1, "seed": 0}
    return select(params, x, 6, privileged=z, method="kbpib", seed=0, **keywords)


# --- tune, compare, auto ------------------------------------------------------------------------------------


def test_tune_prints_what_select_finds_and_trains_it(files, capsys):
    rows, _ = files
    works("tune", "train.csv", *GUIDED, *OTHERS, *SHORT, "--format", "csv", "--out", "model.ubj")
    out, err = capsys.readouterr()
    expected = selected(rows, teacher="boosted", crossfit=5, kl_weight=[0, 5], nfold=3)
    found = pd.read_csv(io.StringIO(out), index_col="candidate")
    np.testing.assert_allclose(found["gain"], expected.summary["gain"])
    assert err.endswith(f"\n{expected}\nmodel.ubj: written\n")
    x, z = matrices(rows)
    # The file is the model of the choice.
    assert Path("model.ubj").read_bytes() == bytes(expected.train(x, privileged=z).save_raw("ubj"))


def candidates(capsys, *options):
    capsys.readouterr()
    works("tune", "train.csv", *GUIDED, *OTHERS, "--folds", "2", "--method", "kbpib", "--kl-weight", "5", *options,
          "--format", "csv")  # fmt: skip
    out, err = capsys.readouterr()
    return pd.read_csv(io.StringIO(out)), err


def test_what_a_teacher_sees_and_how_it_judges(files, capsys):
    usual, err = candidates(capsys)
    assert err.endswith("to train it on all rows, add --out MODEL\n")
    assert usual["teacher"].dropna().unique().tolist() == ["mixed"]
    both, _ = candidates(
        capsys, "--teacher", "boosted", "--teacher-sees", "privileged", "--teacher-sees", "all", "--crossfit", "0,2"
    )
    assert len(both) == 4  # plain, in-sample, cross-fitted, all
    alone, _ = candidates(capsys, "--teacher", "boosted", "--crossfit", "0,2")
    assert len(alone) == 3
    seen, _ = candidates(capsys, "--teacher", "boosted", "--teacher-sees", "all", "--crossfit", "2")
    assert len(seen) == 2
    tune = ["tune", "train.csv", *GUIDED, *OTHERS]
    refused(capsys, "--crossfit.*2.*1", *tune, "--crossfit", "1")


@pytest.mark.slow
def test_auto_is_the_choice_of_select(files, capsys):
    rows, _ = files
    works("train", "train.csv", *GUIDED, *OTHERS, "--kl-weight", "auto", "--crossfit", "2", "--out", "model.ubj")
    expected = selected(rows, crossfit=2)
    assert str(expected) in capsys.readouterr().err
    x, z = matrices(rows)
    assert Path("model.ubj").read_bytes() == bytes(expected.train(x, privileged=z).save_raw("ubj"))


def test_compare_prints_the_table_and_the_verdict(files, capsys):
    works("compare", "train.csv", *GUIDED, *OTHERS, *SHORT, "--repeats", "1", "--sizes", "60", "--format", "csv")
    out, err = capsys.readouterr()
    found = pd.read_csv(io.StringIO(out))
    assert found["size"].unique().tolist() == [60, 133]
    assert found["model"].unique().tolist() == [
        "plain XGBoost",
        "z known at prediction",
        "student",
        "self-distillation",
        "shuffled",
        "best rival",
        "teacher",
    ]
    assert "gain" in err


# --- the demonstration --------------------------------------------------------------------------------------


def test_the_demonstration_prints_as_it_goes(capsys):
    table = run_demo(2)[0].table
    lines = "\n".join(capsys.readouterr().out.splitlines())
    # A line when a seed is done, before the means.
    assert "\n\nseed  1 of 2: AUC of plain XGBoost 0." in lines
    assert lines.index("seed  2 of 2") < lines.index("The means over the seeds:")
    assert table.loc["plain XGBoost", "gain"] == 0
    # Both experiments.
    assert lines.count("\nseed  2 of 2") == 2
    assert lines.count("\nSecond experiment") == 1


def test_the_second_experiment_shows_what_unlabelled_rows_are_worth(capsys):
    gain = run_experiment(FEW_LABELS, 3).table["gain"]
    # The recommended recipe gains more than every rival on the labelled rows, and more than without z.
    rivals = gain[["plain XGBoost", "logistic regression", "random forest", "control: teacher on x"]]
    assert gain["mixed teacher"] > rivals.max()
    line = next(line for line in capsys.readouterr().out.splitlines() if line.startswith("What z adds"))
    assert f"{gain['mixed teacher'] - gain['control: teacher on x']:+.4f}" in line


@pytest.mark.slow
def test_the_demonstration_draws_a_page_of_what_it_printed(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    folds = Counter()
    monkeypatch.setattr(
        "pi_xgb._cli.demo.train",
        lambda *source, **keywords: folds.update([keywords.get("crossfit")]) or pi_xgb.train(*source, **keywords),
    )
    assert main(["demo", "--seeds", "2", "--html", "demo.html"]) == 0
    keywords = capsys.readouterr()
    assert "demo.html: written" in keywords.err
    # What is cross-fitted is so with five folds.
    assert set(folds) == {None, 5}
    page = (tmp_path / "demo.html").read_text(encoding="utf-8")
    # Both experiments with a picture each, and the numbers that were printed.
    assert page.count("<svg") == page.count("<h2") == 2
    beyond = [line for line in keywords.out.splitlines() if line.startswith("What z adds")]
    assert len(beyond) == 2
    assert all(line in page for line in beyond)
    assert "http" not in page.replace("http-equiv", "")
    # Every method but plain XGBoost has a faint point for each seed.
    methods = [*ALL_LABELS.guided, *FEW_LABELS.guided]
    assert page.count("fill-opacity: 0.35") == 2 * len(methods)
    # Nothing is overwritten without --force, and that is said before the trainings.
    assert main(["demo", "--seeds", "2", "--html", "demo.html"]) == 2
    assert capsys.readouterr().out == ""


# --- bad input ----------------------------------------------------------------------------------------------


def train(*options, data="train.csv", out="model.ubj"):
    return ["train", data, *GUIDED, *OTHERS, *options, "--out", out]


def test_nothing_is_overwritten_unasked_and_nothing_is_trained_first(files, capsys, monkeypatch):
    Path("model.ubj").write_text("precious")
    monkeypatch.setattr("pi_xgb._cli.source.pd.read_csv", lambda *_, **__: pytest.fail("the check comes too late"))
    refused(capsys, "exists.*--force", *train())
    refused(capsys, "end.*.ubj.*.json", *train(out="model.txt"))
    refused(capsys, "does not exist: create it first", *train(out="nowhere/model.ubj"))
    os.mkdir("folder.ubj")
    refused(capsys, "--out.*folder.ubj", *train(out="folder.ubj"))
    assert Path("model.ubj").read_text() == "precious"


def test_force_replaces(files):
    Path("model.ubj").write_text("old")
    works(*train("--force"))
    assert xgb.Booster(model_file="model.ubj").num_boosted_rounds() == 6
    # No draft is left behind.
    assert sorted(os.listdir()) == ["model.ubj", "test.csv", "train.csv"]


def test_a_name_taken_during_the_training_is_not_overwritten(files, capsys, monkeypatch):
    from pi_xgb._cli import train as command

    original = command.train

    def slow(*args, **kwargs):
        Path("model.ubj").write_text("precious")
        return original(*args, **kwargs)

    monkeypatch.setattr(command, "train", slow)
    refused(capsys, "exists.*--force", *train())
    assert Path("model.ubj").read_text() == "precious"
    assert sorted(os.listdir()) == ["model.ubj", "test.csv", "train.csv"]


def test_files_that_are_no_tables(files, capsys):
    refused(capsys, "there is no file 'absent.csv'", *train(data="absent.csv"))
    Path("empty.csv").touch()
    refused(capsys, "empty.csv is empty", *train(data="empty.csv"))
    Path("header.csv").write_text("x,sex,w,q,ill,y,z0,z1\n")
    refused(capsys, "a header and no rows", *train(data="header.csv"))
    Path("ragged.csv").write_text("a,y,z0,z1\n1,0,3,4\n1,1,3,4,5,6\n")
    bare = ["--label", "y", "--privileged", "z0,z1", "--out", "model.ubj"]
    refused(capsys, "ragged.csv.*CSV table", "train", "ragged.csv", *bare)
    Path("quote.csv").write_text('a,y,z0,z1\n1,0,3,"4\n')
    refused(capsys, "quote.csv.*CSV.*tokenizing", "train", "quote.csv", *bare)
    # As R writes row names: pandas would take the first column for them and every other one for its neighbour.
    Path("shifted.csv").write_text("a,y,z0,z1\n1,5,0,3,4\n2,5,1,3,4\n")
    refused(capsys, "line 2 has 5 values for 4 columns; give every column a name", "train", "shifted.csv", *bare)
    Path("image.csv").write_bytes(b"\x89PNG\r\n\x1a\n\xff\xfe")
    refused(capsys, "image.csv", *train(data="image.csv"))
    refused(capsys, "is a folder", *train(data="."))
    refused(capsys, "'train.csv' is not a model", "predict", "test.csv", "--model", "train.csv")
    refused(capsys, "model file 'absent.ubj'", "predict", "test.csv", "--model", "absent.ubj")


def test_a_model_that_was_cut_off_is_refused(trained, capsys):
    whole = Path("model.ubj").read_bytes()
    for length in (0, 1, 2, 100, len(whole) // 2, len(whole) - 1):
        # At some lengths XGBoost would read past the end, and the process would be gone.
        Path("cut.ubj").write_bytes(whole[:length])
        refused(capsys, "cut.ubj.*model", "predict", "test.csv", "--model", "cut.ubj")


def test_columns_that_cannot_be(files, capsys):
    refused(capsys, "train.csv.*'lab'.*--privileged", *train("--privileged", "lab"))
    refused(capsys, "'z1'.*--privileged.*--drop", *train("--drop", "z1"))
    refused(capsys, "'y'.*--label.*--privileged", *train("--privileged", "y"))
    refused(capsys, "column.*student", *train("--drop", "x0,x1,x2,colour,flag"))
    rows = files[0].assign(sex=-1.0)
    rows.to_csv("train.csv", index=False)
    arguments = ["train", "train.csv", *GUIDED, "--drop", "w,q,ill", "--weight", "sex", "--out", "model.ubj"]
    refused(capsys, "--weight.*'sex'.*least 0", *arguments)
    rows.assign(**{"a[0]": 1.0}).to_csv("train.csv", index=False)
    err = refused(capsys, "feature_names", *train())
    assert ".cc" not in err


def test_options_that_mean_nothing(files, capsys):
    alone = ["train", "train.csv", "--label", "y", *OTHERS, "--out", "model.ubj"]
    refused(capsys, "--method, --crossfit would be ignored", *alone, "--method", "jpib", "--crossfit", "3")
    refused(capsys, "--kl-weight would be ignored", *alone, "--kl-weight", "auto")
    evaluate = ["evaluate", "test.csv", "--model", "model.ubj", "--label", "y"]
    refused(capsys, "--title, --no-pictures would be ignored", *evaluate, "--title", "A page", "--no-pictures")
    refused(capsys, "--early-stopping requires --valid", *train("--early-stopping", "5"))
    refused(capsys, "--crossfit is not supported with --method jpib", *train("--method", "jpib", "--crossfit", "3"))
    refused(capsys, "between 0.*1.*'1.5'", *train("--valid", "1.5"))
    refused(capsys, "there is no file 'absent.csv'", *train("--valid", "absent.csv"))
    refused(
        capsys, "chooses the number of rounds", *train("--kl-weight", "auto", "--valid", "0.2", "--early-stopping", "3")
    )
    refused(capsys, "teacher.*objectives", *train("--objective", "binary:hinge"))
    refused(capsys, "Invalid", *train("--params", "max_depth=deep"))
    misused(capsys, "required: --privileged", "tune", "train.csv", "--label", "y")
    misused(capsys, "must be a number of at least 0, or auto", *train("--kl-weight", "much"))
    misused(capsys, "must look like max_depth=3", *train("--params", "eta"))
    misused(capsys, "argument --rounds.*at least 1", *train("--rounds", "0"))
    misused(capsys, "argument --seeds.*at least 2", "demo", "--seeds", "1")
    for text in ("a,,b", ""):
        misused(capsys, "argument --drop.*commas", *train("--drop", text))
    misused(capsys, "following.*required.*COMMAND")


def test_names_with_commas_can_be_quoted():
    from pi_xgb._cli.options import names

    assert names('a, "b,c"') == ["a", "b,c"]


def test_models_that_do_not_suit(trained, capsys):
    rows, _ = trained
    x, y = rows[["x1", "x2"]], rows["q"]
    xgb.train({"nthread": 1}, xgb.DMatrix(x, y), 2).save_model("numbers.ubj")
    arguments = ["evaluate", "test.csv", "--model", "numbers.ubj", "--label", "q"]
    refused(capsys, "model.*two classes", *arguments, "--groups", "sex")
    works(*arguments)
    assert "rmse" in capsys.readouterr().out
    xgb.train({"nthread": 1}, xgb.DMatrix(x.to_numpy(), y), 2).save_model("nameless.ubj")
    refused(capsys, "feature names", "predict", "test.csv", "--model", "nameless.ubj")
    refused(
        capsys, "'lab', which the evaluation needs", "evaluate", "test.csv", "--model", "numbers.ubj", "--label", "lab"
    )


@pytest.mark.parametrize("command", ["demo", "train", "predict", "evaluate", "tune", "compare"])
def test_every_command_has_help_with_an_example(command, capsys):
    with pytest.raises(SystemExit) as stopped:
        main([command, "--help"])
    assert stopped.value.code == 0
    assert f"  pi-xgb {command}" in capsys.readouterr().out


# --- outputs that are inputs --------------------------------------------------------------------------------

PREDICT = ["predict", "test.csv", "--model", "model.ubj", "--out"]
EVALUATE = ["evaluate", "test.csv", "--model", "model.ubj", "--label", "y", "--groups", "sex", "--html"]
TRAIN = ["train", "train.csv", *GUIDED, *OTHERS]
OUTPUTS = {
    "predict, its rows": (PREDICT, "test.csv"),
    "predict, its model": (PREDICT, "model.ubj"),
    "evaluate, its rows": (EVALUATE, "test.csv"),
    "evaluate, its model": (EVALUATE, "model.ubj"),
    "train, its rows": ([*TRAIN, "--out"], "train.csv"),
    "train, the rows to watch": ([*TRAIN, "--valid", "test.csv", "--out"], "test.csv"),
    "tune, its search": (["tune", *TRAIN[1:], "--resume", "search.json", "--out"], "search.json"),
    "frontier, its rows": (["frontier", *TRAIN[1:4], "--constraint", "parity:sex", "--plot"], "train.csv"),
}


@pytest.mark.parametrize("how", ["itself", "relative", "symbolic link", "hard link"])
@pytest.mark.parametrize("case", OUTPUTS)
def test_no_output_is_an_input(trained, capsys, case, how):
    command, name = OUTPUTS[case]
    Path("search.json").write_text("{}")
    ending = {"train": ".ubj", "tune": ".ubj", "frontier": ".svg"}.get(command[0], Path(name).suffix)
    out = name if how == "itself" else f"../{Path.cwd().name}/{name}"
    if how.endswith("link"):
        out = f"link{ending}"
        (os.symlink if how == "symbolic link" else os.link)(name, out)
    before = {file: Path(file).read_bytes() for file in os.listdir()}
    # With --force or without it, and the advice is not to add it.
    for force in ([], ["--force"]):
        output = refused(capsys, "must not be an input", *command, out, *force)
        assert "name another file" in output
        assert "add --force" not in output
    assert {file: Path(file).read_bytes() for file in os.listdir()} == before


def test_a_new_file_is_not_both_output_and_file_to_resume(trained, capsys):
    command = ["tune", *TRAIN[1:], "--resume", "new.json", "--out"]
    refused(capsys, "must not be an input.*the file of --resume", *command, f"../{Path.cwd().name}/new.json")
    assert not Path("new.json").exists()


def test_no_output_is_the_file_behind_standard_input(trained, tmp_path):
    command = [sys.executable, "-m", "pi_xgb", "predict", "-", "--model", "model.ubj", "--out", "test.csv", "--force"]
    before = Path("test.csv").read_bytes()
    with open("test.csv", "rb") as rows:
        done = subprocess.run(command, stdin=rows, capture_output=True, text=True, timeout=120)
    assert done.returncode == 2
    assert "--out must not be an input, got 'test.csv', the file of DATA" in done.stderr
    assert Path("test.csv").read_bytes() == before
