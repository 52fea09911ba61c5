"""Constraints on the command line: the models of Python, the frontier's table and model, and words for bad input."""

from __future__ import annotations

import io
import struct
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import xgboost as xgb
from helpers_cli import PARAMS, QUICK, files, one_thread, refused, works  # noqa: F401

import pi_xgb
from pi_xgb.__main__ import main
from pi_xgb._cli.frontier import drawn
from pi_xgb.constraints import (
    DemographicParity,
    EqualizedOdds,
    FalsePositiveRateParity,
    PredictiveParity,
    TruePositiveRateParity,
)

LABEL = ["--label", "y", *QUICK, "--drop", "w,q,ill,colour,flag"]
NAMES = ["x0", "x1", "x2"]


def model(name):
    return xgb.Booster(model_file=name)


def dumps(booster):
    return booster.get_dump(with_stats=True)


@pytest.mark.parametrize(
    ("kind", "constraint"),
    [
        ("parity", DemographicParity),
        ("odds", EqualizedOdds),
        ("tpr", TruePositiveRateParity),
        ("fpr", FalsePositiveRateParity),
        ("precision", PredictiveParity),
    ],
)
def test_train_with_a_constraint_is_train_with_a_constraint(files, kind, constraint):  # noqa: F811
    works("train", "train.csv", *LABEL, "--drop", "z0,z1", "--constraint", f"{kind}:sex=5", "--out", "m.ubj")
    rows = files[0]
    dtrain = xgb.DMatrix(rows[NAMES], rows.y)
    by_hand = pi_xgb.train(PARAMS, dtrain, 6, teacher=[(constraint(rows.sex), 5.0)])
    # The column of the groups is no feature, and the model is that of Python.
    assert model("m.ubj").feature_names == NAMES
    assert dumps(model("m.ubj")) == dumps(by_hand)


def test_a_constraint_beside_privileged_columns(files):  # noqa: F811
    guided = ["--privileged", "z0,z1", "--kl-weight", "2", "--crossfit", "3"]
    works("train", "train.csv", *LABEL, *guided, "--constraint", "parity:sex=5", "--out", "m.ubj")
    rows = files[0]
    dtrain, privileged = xgb.DMatrix(rows[NAMES], rows.y), xgb.DMatrix(rows[["z0", "z1"]], rows.y)
    teacher = pi_xgb.fit_teacher(PARAMS, privileged, 6, crossfit=3)
    by_hand = pi_xgb.train(PARAMS, dtrain, 6, teacher=[(teacher, 2.0), (DemographicParity(rows.sex), 5.0)])
    assert dumps(model("m.ubj")) == dumps(by_hand)
    # Without a weight privileged columns teach nothing, and the constraint is alone.
    weightless = ["--privileged", "z0,z1", "--kl-weight", "0", "--constraint", "parity:sex=5", "--out", "alone.ubj"]
    works("train", "train.csv", *LABEL, *weightless)
    alone = pi_xgb.train(PARAMS, dtrain, 6, teacher=[(DemographicParity(rows.sex), 5.0)])
    assert model("alone.ubj").attributes() == alone.attributes()
    # The column may be privileged as well: then the teacher sees it, and the student does not.
    both = ["--privileged", "z0,z1,sex", "--constraint", "parity:sex=5", "--out", "both.ubj"]
    works("train", "train.csv", *LABEL, *both)
    assert model("both.ubj").feature_names == NAMES


def test_tune_chooses_under_the_constraint(files, capsys):  # noqa: F811
    chosen = [
        "--method",
        "kbpib",
        "--teacher",
        "boosted",
        "--crossfit",
        "3",
        "--kl-weight",
        "1",
        "--folds",
        "3",
        "--repeats",
        "1",
    ]
    constrained = ["--constraint", "parity:sex=20", "--format", "csv", "--out", "m.ubj"]
    works("tune", "train.csv", *LABEL, "--privileged", "z0,z1", *chosen, *constrained)
    shown = pd.read_csv(io.StringIO(capsys.readouterr().out), index_col=0)
    rows = files[0]
    dtrain, privileged = xgb.DMatrix(rows[NAMES], rows.y), xgb.DMatrix(rows[["z0", "z1"]], rows.y)
    keywords = {"privileged": privileged, "constraints": [(DemographicParity(rows.sex), 20.0)]}
    selection = pi_xgb.select(
        PARAMS, dtrain, 6, **keywords, method="kbpib", teacher="boosted", crossfit=3, kl_weight=1, nfold=3, repeats=1
    )
    np.testing.assert_allclose(shown["score"], selection.summary["score"], rtol=1e-6)
    assert dumps(model("m.ubj")) == dumps(selection.train(dtrain, **keywords))
    # Plain XGBoost is constrained, too: its score is not that of a selection without constraints.
    free = pi_xgb.select(
        PARAMS, dtrain, 6, privileged=privileged, method="kbpib", teacher="boosted", kl_weight=1, nfold=3, repeats=1
    )
    assert free.summary.loc["plain", "score"] != selection.summary.loc["plain", "score"]
    with pytest.raises(ValueError, match="constraints must be passed"):
        selection.train(dtrain, privileged=privileged)
    if selection.candidate == "plain":
        by_hand = pi_xgb.train(
            PARAMS, dtrain, selection.choice["num_boost_round"], teacher=[(DemographicParity(rows.sex), 20.0)]
        )
        assert dumps(by_hand) == dumps(selection.train(dtrain, **keywords))


@pytest.mark.slow
def test_compare_is_under_the_constraint(files, capsys):  # noqa: F811
    few = ["--teacher", "boosted", "--crossfit", "2", "--kl-weight", "1", "--folds", "2", "--repeats", "1"]
    constrained = ["--constraint", "parity:sex=20", "--format", "csv"]
    works("compare", "train.csv", *LABEL, "--privileged", "z0,z1", *few, *constrained)
    shown = pd.read_csv(io.StringIO(capsys.readouterr().out))
    rows = files[0]
    keywords = {"teacher": "boosted", "crossfit": 2, "kl_weight": 1, "nfold": 2, "repeats": 1}
    by_hand = pi_xgb.compare(
        rows[NAMES],
        rows.y,
        rows[["z0", "z1"]],
        params=PARAMS,
        num_boost_round=6,
        constraints=[(DemographicParity(rows.sex), 20.0)],
        **keywords,
    )
    np.testing.assert_allclose(shown["score"], by_hand.summary["score"], rtol=1e-6)


def test_the_frontier_is_that_of_python(files, capsys):  # noqa: F811
    requested = ["--constraint", "parity:sex", "--kl-weight", "3,30", "--gap", "0.9", "--folds", "3", "--n-boot", "100"]
    works("frontier", "train.csv", *LABEL, "--drop", "z0,z1", *requested, "--format", "csv", "--out", "m.ubj")
    out, err = capsys.readouterr()
    rows = files[0]
    dtrain, parity = xgb.DMatrix(rows[NAMES], rows.y), DemographicParity(rows.sex)
    found = pi_xgb.frontier(PARAMS, dtrain, 6, constraint=parity, kl_weight=[3, 30], gap=0.9, nfold=3, n_boot=100)
    pd.testing.assert_frame_equal(pd.read_csv(io.StringIO(out), index_col=0), found.table)
    assert f"{found}\nm.ubj: written\n" in err
    assert dumps(model("m.ubj")) == dumps(found.train(dtrain, parity, gap=0.9))
    works("frontier", "train.csv", *LABEL, "--drop", "z0,z1", *requested)
    assert "statistical_parity" in capsys.readouterr().out


def test_the_frontier_leaves_rows_without_a_label_out_or_refuses_them(files, capsys):  # noqa: F811
    files[0].assign(y=files[0].y.where(files[0].index >= 20)).to_csv("gaps.csv", index=False)
    requested = ["--constraint", "parity:sex", "--kl-weight", "3", "--folds", "2", "--n-boot", "0"]
    frontier = ["frontier", "gaps.csv", *LABEL, "--drop", "z0,z1", *requested]
    # Nothing of a teacher, which this command does not have.
    for given in ([], ["--unlabelled", "refuse"]):
        err = refused(capsys, "the label 'y' of gaps.csv has 20 missing values in 200 rows", *frontier, *given)
        assert "add --unlabelled drop" in err
        assert "teach" not in err
    works(*frontier, "--unlabelled", "drop")
    with pytest.raises(SystemExit):
        main(["frontier", "--help"])
    output = capsys.readouterr().out
    assert "--unlabelled {refuse,drop}" in output
    assert "privileged columns, or nothing" not in " ".join(output.split())


def test_a_gap_of_odds_may_be_above_one(files, capsys):  # noqa: F811
    requested = ["--constraint", "odds:sex", "--kl-weight", "3", "--folds", "2", "--n-boot", "0", "--gap", "1.5"]
    works("frontier", "train.csv", *LABEL, "--drop", "z0,z1", *requested)
    assert "equalized_odds of at most 1.5: kl_weight 0 has" in capsys.readouterr().err


def test_a_gap_that_does_not_exist_is_told_in_words(files, capsys):  # noqa: F811
    requested = [
        "--constraint",
        "precision:sex",
        "--kl-weight",
        "3",
        "--folds",
        "2",
        "--n-boot",
        "0",
        "--threshold",
        "1",
    ]
    frontier = ["frontier", "train.csv", *LABEL, "--drop", "z0,z1", *requested]
    words = "predictive_parity is undefined on held-out rows at every kl_weight, since a rate of some group is"
    works(*frontier)
    out, err = capsys.readouterr()
    assert "nan (nan to nan)" in out
    assert words in err
    assert main([str(part) for part in [*frontier, "--gap", "0.1", "--out", "m.ubj"]]) == 2
    assert f"pi-xgb: {words}" in " ".join(capsys.readouterr().err.split())
    assert not Path("m.ubj").exists()


def test_the_frontier_draws(files):  # noqa: F811
    pytest.importorskip("matplotlib")
    requested = ["--constraint", "parity:sex", "--kl-weight", "3", "--folds", "2", "--n-boot", "0", "--plot", "f.svg"]
    works("frontier", "train.csv", *LABEL, "--drop", "z0,z1", *requested)
    assert "<!-- accuracy -->" in Path("f.svg").read_text()


def test_a_picture_is_that_of_the_frontier_in_the_format_of_its_name():
    matplotlib = pytest.importorskip("matplotlib")
    engines = []

    class Drawn:
        def plot(self, ax):
            engines.append(ax.figure.get_layout_engine())
            ax.set_title("what it found")

    png, svg, pdf = (drawn(Drawn(), kind) for kind in ("png", "svg", "pdf"))
    assert b"<!-- what it found -->" in svg
    assert (png[:4], pdf[:4]) == (b"\x89PNG", b"%PDF")
    # As large as figures are, and fine enough for print; nothing is cut off.
    size = [150 * inches for inches in matplotlib.rcParams["figure.figsize"]]
    assert list(struct.unpack(">II", png[16:24])) == size
    assert None not in engines


@pytest.mark.parametrize("command", ["tune", "compare", "frontier", "train"])
def test_every_option_of_a_search_arrives(files, monkeypatch, capsys, command):  # noqa: F811
    found = {}

    def asked(*arguments, **keywords):
        found.update(keywords)
        raise ValueError("enough is known")

    for name in ("selection.select", "selection.compare", "_frontier.frontier.frontier"):
        monkeypatch.setattr(f"pi_xgb.{name}", asked)
    if command == "train":
        auto = ["train", "train.csv", *LABEL, "--privileged", "z0,z1", "--kl-weight", "auto", "--out", "m.ubj"]
        for given, crossfit in (
            ([], None),
            (["--teacher", "boosted", "--teacher-sees", "all"], None),
            (["--teacher", "boosted", "--teacher-sees", "all", "--crossfit", "3"], 3),
        ):
            refused(capsys, "enough is known", *auto, "--seed", "7", *given)
            assert (found["method"], found["constraints"]) == ("kbpib", [])
            teacher, sees = (given[1], given[3]) if given else (None, None)
            assert [found.get(name) for name in ("crossfit", "teacher", "teacher_sees", "seed")] == [
                crossfit,
                teacher,
                sees,
                7,
            ]
            found.clear()
        refused(capsys, "enough is known", *auto, "--method", "jpib", "--constraint", "parity:sex=2")
        assert (found["method"], [weight for _, weight in found["constraints"]]) == ("jpib", [2.0])
        return
    options = ["--folds", "4", "--seed", "7", "--jobs", "2", "--kl-weight", "3,4"]
    wanted = {"nfold": 4, "seed": 7, "n_jobs": 2, "kl_weight": [3.0, 4.0]}
    if command == "frontier":
        options += [
            "--drop",
            "z0,z1",
            "--constraint",
            "parity:sex",
            "--threshold",
            "0.4",
            "--n-boot",
            "50",
            "--gap",
            "0.1",
        ]
        wanted |= {"threshold": 0.4, "n_boot": 50, "gap": [0.1]}
    else:
        options += [
            "--privileged",
            "z0,z1",
            "--method",
            "kbpib",
            "--teacher",
            "boosted",
            "--teacher-sees",
            "all",
            "--crossfit",
            "3",
        ]
        options += ["--metric", "auc", "--repeats", "3", "--resume", "state"]
        wanted |= {"method": ["kbpib"], "teacher": ["boosted"], "teacher_sees": ["all"], "crossfit": [3]}
        wanted |= {"metric": "auc", "repeats": 3, "resume": "state"}
    refused(capsys, "enough is known", command, "train.csv", *LABEL, *options)
    assert {name: found[name] for name in wanted} == wanted


FRONTIER = ["frontier", "train.csv", *LABEL, "--drop", "z0,z1"]
COMPARE = ["compare", "train.csv", *LABEL, "--privileged", "z0,z1"]
TRAIN = ["train", "train.csv", *LABEL, "--drop", "z0,z1", "--out", "m.ubj"]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([*FRONTIER, "--constraint", "parity:sex", "--out", "m.ubj"], "--gap.*--out, got 0"),
        ([*FRONTIER, "--constraint", "parity:sex", "--gap", "0.1,1.5"], "--gap must be numbers between 0 and 1"),
        ([*FRONTIER, "--constraint", "precision:sex", "--gap", "1.5"], "--gap must be numbers between 0 and 1"),
        ([*FRONTIER, "--constraint", "odds:sex", "--gap", "2.5"], "--gap must be numbers between 0 and 2"),
        ([*FRONTIER, "--constraint", "parity:sex", "--kl-weight", "0"], "--kl-weight must have a value above 0"),
        (
            [*FRONTIER, "--constraint", "parity:sex", "--params", "objective=reg:logistic"],
            "--objective must be binary:logistic, got reg:logistic",
        ),
        ([*COMPARE, "--kl-weight", "0"], "--kl-weight "),
        ([*FRONTIER, "--constraint", "parity:nobody"], "no column 'nobody', which --constraint names"),
        ([*FRONTIER, "--constraint", "parity:sex", "--plot", "f.txt"], "must end in .png or .svg or .pdf"),
        ([*COMPARE, "--constraint", "parity:nobody=1"], "no column 'nobody', which --constraint names"),
        ([*COMPARE, "--constraint", "parity:sex=1", "--constraint", "odds:sex=2"], "each column once, got sex, sex"),
        ([*FRONTIER, "--constraint", "parity:y"], "'y' is named by --label and by --constraint"),
        ([*TRAIN, "--constraint", "parity:sex=1", "--constraint", "parity:sex=2"], "each column once, got sex, sex"),
    ],
)
def test_what_cannot_be_is_refused(files, capsys, arguments, words):  # noqa: F811
    refused(capsys, words, *arguments)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([*FRONTIER, "--constraint", "odds:sex", "--gap", "-0.1"], "must be a number of at least 0, got '-0.1'"),
        ([*FRONTIER, "--constraint", "parity:sex", "--unlabelled", "teach"], "invalid choice: 'teach'"),
        ([*FRONTIER, "--constraint", "parity:sex", "--privileged", "x0"], "unrecognized arguments: --privileged x0"),
        ([*FRONTIER, "--constraint", "equal:sex"], "one of parity, odds, tpr, fpr, precision, got 'equal:sex'"),
        (
            [*FRONTIER, "--constraint", "parity:"],
            "must look like parity:sex, with one of parity, odds, tpr, fpr, precision",
        ),
        ([*TRAIN, "--constraint", "parity:sex"], "must look like parity:sex=5"),
        ([*COMPARE, "--constraint", "parity:sex"], "must look like parity:sex=5"),
        ([*TRAIN, "--constraint", "parity:sex=-1"], "at least 0, got '-1'"),
    ],
)
def test_what_cannot_be_read_is_refused(files, capsys, arguments, words):  # noqa: F811
    with pytest.raises(SystemExit):
        works(*arguments)
    assert words in capsys.readouterr().err
