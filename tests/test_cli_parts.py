"""The parts of the command line by themselves: options, tables of a file, rows, answers, what is printed."""

from __future__ import annotations

import argparse
import datetime
import errno
import io
import os
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import xgboost as xgb

import pi_xgb
from pi_xgb.__main__ import EPILOG, _open_streams, _parser, main
from pi_xgb._cli import compare, demo, evaluate, frontier, predict, train, tune
from pi_xgb._cli.dates import with_parts
from pi_xgb._cli.features import known_features, learned_features
from pi_xgb._cli.labels import later_labels, training_labels
from pi_xgb._cli.model import Model, load_model
from pi_xgb._cli.options import (
    at_least,
    check_read,
    names,
    parameter,
    probability,
    several,
    unknown_arguments,
    weight,
    weight_or_auto,
)
from pi_xgb._cli.output import print_table
from pi_xgb._cli.rows import Rows, _note_identifiers, set_aside
from pi_xgb._cli.source import Source, written

# --- options ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("read", "taken", "refused"),
    [
        (at_least(2), {"2": 2, "7": 7}, ["1", "many", "2.5", ""]),
        (probability, {"0": 0.0, "1": 1.0, "0.5": 0.5}, ["-0.1", "1.001", "nan", "half"]),
        (weight, {"0": 0.0, "1.7976931348623157e308": 1.7976931348623157e308}, ["-1", "inf", "nan", "much"]),
        (weight_or_auto, {"auto": "auto", "0": 0.0}, ["-1", "car"]),
        (several(at_least(0)), {"0,2": [0, 2]}, ["", "-1", "0,-1"]),
        (several(weight), {"0,5": [0.0, 5.0]}, ["", "0,-1"]),
        (several(at_least(2)), {"2,60": [2, 60]}, ["", "1", "60,some"]),
        (names, {'a,"b,c"': ["a", "b,c"]}, ["", " ", "a,,b"]),
        (parameter, {"a=1": ("a", 1), "a=b": ("a", "b"), "a=b=": ("a", "b=")}, ["a", "a=", "=1", ""]),
    ],
)
def test_numbers_of_options(read, taken, refused):
    assert {text: read(text) for text in taken} == taken
    for text in refused:
        with pytest.raises(argparse.ArgumentTypeError):
            read(text)


def parsed(*arguments):
    parser, commands = _parser()
    chosen = parser.parse_args(arguments)
    check_read(chosen, commands[chosen.command].get_default)
    return chosen


TRAIN = ["train", "rows.csv", "--label", "y", "--out", "m.ubj"]


def test_plain_xgboost_may_be_asked_for_without_privileged_columns():
    assert parsed(*TRAIN, "--kl-weight", "0").kl_weight == 0
    with pytest.raises(ValueError, match="--kl-weight would be ignored"):
        parsed(*TRAIN, "--kl-weight", "2")


def test_a_comparison_has_two_repeats_and_tune_goes_by_the_rows():
    assert parsed("compare", "rows.csv", "--privileged", "z").repeats == 2
    assert parsed("tune", "rows.csv", "--privileged", "z").repeats is None
    shown = {name: " ".join(command.format_help().split()) for name, command in _parser()[1].items()}
    assert "with other folds (default: 2)" in shown["compare"]
    assert "with other folds (default: more with few rows)" in shown["tune"]


def test_one_option_is_suggested_where_two_are_near():
    known = argparse.Namespace(teacher_sees=None, teacher_sees_x=None)
    assert unknown_arguments(["--teacher-see"], known).count("did you mean") == 1


def test_help_is_printed_as_it_was_written(capsys):
    parser, commands = _parser()
    assert parser.format_help().startswith("usage: pi-xgb [")
    assert parser.format_help().endswith(f"\n\n{EPILOG}\n")
    for command in (compare, demo, evaluate, frontier, predict, train, tune):
        name = command.__name__.rpartition(".")[2]
        assert commands[name].format_help().endswith(f"\n\n{command.EXAMPLE}\n")
    for arguments, code, found in (
        (["--version"], 0, "pi-xgb "),
        (TRAIN[:-2], 2, "are required: --out"),
        ([], 2, "are required: COMMAND"),
    ):
        with pytest.raises(SystemExit) as stopped:
            main(arguments)
        assert stopped.value.code == code
        assert found in "".join(capsys.readouterr())


def test_what_an_interruption_keeps_is_said(monkeypatch, capsys):
    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("pi_xgb._cli.tune.read_training", interrupted)
    for options, found in (
        ([], "nothing was written"),
        (["--resume", "kept"], "finished parts are in kept; run the same command to continue"),
    ):
        assert main(["tune", "rows.csv", "--privileged", "z", *options]) == 130
        assert capsys.readouterr().err == f"\nstopped; {found}\n"


@pytest.mark.parametrize("command", ["tune", "compare"])
def test_there_is_nothing_to_choose_without_privileged_columns(command, capsys):
    with pytest.raises(SystemExit) as stopped:
        main([command, "rows.csv", "--label", "y"])
    assert stopped.value.code == 2
    assert "the following arguments are required: --privileged" in capsys.readouterr().err


# --- the entry ----------------------------------------------------------------------------------------------


@pytest.fixture
def answer(tmp_path, monkeypatch):
    """A command that prints a few rows."""
    monkeypatch.chdir(tmp_path)
    rows = pd.DataFrame({"x": np.arange(6.0)})
    rows.to_csv("rows.csv", index=False)
    xgb.train({"nthread": 1}, xgb.DMatrix(rows, np.arange(6.0)), 1).save_model("m.ubj")
    return ["predict", "rows.csv", "--model", "m.ubj"]


def test_streams_that_the_shell_closed_take_everything_and_have_nothing(monkeypatch, capsys):
    for name in ("stdin", "stdout", "stderr"):
        monkeypatch.setattr(sys, name, None)
    assert main(["predict", "absent.csv", "--model", "m.ubj"]) == 2
    assert (sys.stdin.read(), sys.stdout.write("ü"), sys.stderr.write("ü")) == ("", 1, 1)
    assert {stream.encoding for stream in (sys.stdin, sys.stdout, sys.stderr)} == {"utf-8"}
    for stream in (sys.stdin, sys.stdout, sys.stderr):
        stream.close()
    assert capsys.readouterr() == ("", "")


def test_no_file_takes_the_number_of_a_closed_stream(monkeypatch):
    opened, closed = iter(range(4)), []
    with monkeypatch.context() as patched:
        patched.setattr(os, "open", lambda *_: next(opened))
        patched.setattr(os, "close", closed.append)
        _open_streams()
    # Nothing of 0, 1 and 2 is free any more, and the one too many is given back.
    assert closed == [3]


def test_answers_that_nobody_takes_are_no_success(answer, monkeypatch, capsys):
    class Full(io.StringIO):
        def flush(self):
            raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(sys, "stdout", Full())
    assert main(answer) == 1
    assert "pi-xgb: [Errno 28] No space left on device" in capsys.readouterr().err
    reader, writer = os.pipe()
    with open(writer, "w") as pipe:
        os.close(reader)
        monkeypatch.setattr(sys, "stdout", pipe)
        assert main(answer) == 141
        # Nor does Python complain when it closes it.
    assert capsys.readouterr().err == ""


def test_a_program_ends_with_its_exit_code(monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["pi-xgb", "predict", "rows.csv", "--model", "m.ubj"])
    entry = Path(pi_xgb.__file__).with_name("__main__.py")
    with pytest.raises(SystemExit) as stopped:
        exec(compile(entry.read_text(), str(entry), "exec"), {"__name__": "__main__", "__package__": "pi_xgb"})
    assert stopped.value.code == 2
    assert capsys.readouterr() == ("", "pi-xgb: there is no model file 'm.ubj'\n")


# --- what is printed ----------------------------------------------------------------------------------------


def test_tables_for_eyes_have_intervals_beside_their_values(capsys):
    index = pd.Index(["a", "b"], name="group")
    table = pd.DataFrame({"rows": [3, 12], "rate": [0.5, 0.25], "rate_low": [0.4, 0.2], "rate_high": [0.6125, 0.3],
                          "odd": [0.123456, 2.0], "odd_low": [0.1, 1.0]}, index=index)  # fmt: skip
    print_table(table, "text")
    shown = [line.rstrip() for line in capsys.readouterr().out.split("\n")]
    assert shown == [
        "       rows                    rate    odd  odd_low",
        "group",
        "a         3  0.500 (0.400 to 0.613) 0.1235   0.1000",
        "b        12  0.250 (0.200 to 0.300) 2.0000   1.0000",
        "",
    ]
    print_table(table, "csv")
    assert capsys.readouterr().out == table.to_csv()
    # Ends without a name of their own are those of the corrected value, where there is one.
    gaps = pd.DataFrame({"value": [0.5], "corrected": [0.4], "low": [0.1], "high": [0.7]}, index=["gap"])
    for part, columns in ((gaps, "value corrected"), (gaps.drop(columns="corrected"), "value low high")):
        print_table(part, "text")
        out = capsys.readouterr().out
        assert out.split("\n")[0].split() == columns.split()
        assert ("0.400 (0.100 to 0.700)" in out) is ("corrected" in part)


class Told(Model):
    """A model whose booster says what it is asked about."""

    def scores(self, matrix):
        return np.asarray(matrix)


TWO = [0.25, 0.5, 0.75]
THREE = [[0.2, 0.5, 0.3], [0.6, 0.2, 0.2]]
ABC = np.array(["a", "b", "c"])


@pytest.mark.parametrize(
    ("objective", "classes", "scores", "answers"),
    [
        # As in XGBoost's estimators, a class needs more than half.
        ("binary:logistic", None, TWO, {"prediction": [0, 0, 1], "probability_1": TWO}),
        ("binary:logistic", ABC[:2], TWO, {"prediction": ["a", "a", "b"], "probability_b": TWO}),
        ("binary:logitraw", None, [-1.0, 0.0, 0.5], {"prediction": [0, 0, 1], "margin_1": [-1.0, 0.0, 0.5]}),
        ("reg:logistic", ABC[:2], TWO, {"prediction": ["a", "a", "b"], "probability_b": TWO}),
        ("reg:logistic", None, TWO, {"prediction": TWO}),
        ("reg:squarederror", None, [[1.0], [2.0]], {"prediction": [1.0, 2.0]}),
        ("reg:quantileerror", None, [[1.0, 3.0], [2.0, 5.0]], {"prediction_0": [1.0, 2.0], "prediction_1": [3.0, 5.0]}),
        ("multi:softmax", ABC, [2.0, 0.0], {"prediction": ["c", "a"]}),
        ("multi:softprob", ABC, THREE, {"prediction": ["b", "a"], "probability_a": [0.2, 0.6],
                                        "probability_b": [0.5, 0.2], "probability_c": [0.3, 0.2]}),
    ],
)  # fmt: skip
def test_what_scores_mean(objective, classes, scores, answers):
    model = Told(xgb.Booster(), objective, {}, ["x"], {}, [], classes)
    pd.testing.assert_frame_equal(model.predictions(scores), pd.DataFrame(answers))


@pytest.mark.parametrize("n_classes", [0, 1, 2, 3])
def test_classes_without_names_are_numbers(n_classes, tmp_path):
    kind = "multi:softprob" if n_classes > 1 else "binary:logistic"
    params = {"objective": kind, "nthread": 1} | ({"num_class": n_classes} if n_classes else {})
    rows = xgb.DMatrix(pd.DataFrame({"x": np.arange(12.0)}), np.arange(12) % max(n_classes, 2))
    xgb.train(params, rows, 1).save_model(tmp_path / "m.ubj")
    model = load_model(str(tmp_path / "m.ubj"))
    probabilities = [f"probability_{k}" for k in range(n_classes)] if n_classes > 1 else ["probability_1"]
    assert list(model.predictions(rows)) == ["prediction", *probabilities]


# --- files --------------------------------------------------------------------------------------------------


def test_columns_are_known_before_rows_are_read(tmp_path, monkeypatch):
    read, requested = pd.read_csv, []
    monkeypatch.setattr(
        "pandas.read_csv", lambda *subject, **how: requested.append(how.get("nrows")) or read(*subject, **how)
    )
    pd.DataFrame({"a": [1, 2], "b": 3}).to_csv(tmp_path / "rows.csv", index=False)
    source = Source(str(tmp_path / "rows.csv"), [], pytest.fail)
    assert requested == [2]
    assert source.read(["a"]).columns.tolist() == ["a"]
    assert requested == [2, None]


@pytest.mark.skipif(not Path("/dev/fd").exists(), reason="pipes have no names here")
def test_a_pipe_is_read_once():
    out, into = os.pipe()
    os.write(into, b"a,b\n1,2\n")
    os.close(into)
    try:
        source = Source(f"/dev/fd/{out}", [], pytest.fail)
        assert source.read(["b", "a"]).to_dict("list") == {"a": [1], "b": [2]}
    finally:
        os.close(out)


def test_every_round_moves_the_bar():
    rounds = []
    rows = xgb.DMatrix(np.arange(8.0)[:, None], np.arange(8.0))
    xgb.train({"nthread": 1}, rows, 3, callbacks=[train._Steps(lambda: rounds.append(1))])
    assert len(rounds) == 3


def test_of_parquet_only_what_is_asked_for_is_read(tmp_path, monkeypatch):
    pytest.importorskip("pyarrow", reason="Parquet needs the extra parquet")
    frame = pd.DataFrame({"a": [1, 2, 3], "b": list("xyz"), "index": 0}, index=pd.Index([5, 7, 9], name="key"))
    frame.to_parquet(tmp_path / "rows.parquet")
    source = Source(str(tmp_path / "rows.parquet"), [], pytest.fail)
    read, requested = pd.read_parquet, []
    monkeypatch.setattr(
        "pandas.read_parquet", lambda *subject, **how: requested.append(how["columns"]) or read(*subject, **how)
    )
    for wanted in (["b"], ["key", "a"]):
        expected = frame.reset_index()[sorted(wanted)]
        pd.testing.assert_frame_equal(source.read(wanted)[sorted(wanted)], expected)
        assert set(source.read(wanted)) == set(wanted)
    assert requested[0] == ["b"]


def test_answers_in_parquet_need_pyarrow(tmp_path, monkeypatch):
    frame = pd.DataFrame({"prediction": [1, 0]})
    assert written(frame, tmp_path / "a.csv") == b"prediction\n1\n0\n"
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(ImportError, match=r"\.\[parquet\]"):
        written(frame, tmp_path / "a.parquet")


@pytest.mark.parametrize("name", ["0", "NA", "1.0"])
def test_names_of_columns_are_texts(tmp_path, name):
    (tmp_path / "rows.csv").write_text(f"{name},{name},,\n1,2,3,4\n")
    with pytest.raises(ValueError, match=f"has the column '{name}' twice"):
        Source(str(tmp_path / "rows.csv"), [], pytest.fail)


def test_only_a_column_with_semicolons_is_asked_about_them(tmp_path):
    for header, asks in (("a", False), ("a;b", True), ("a;b,c", False)):
        (tmp_path / "rows.csv").write_text(f"{header}\n{'1,2' if ',' in header else 1}\n")
        with pytest.raises(ValueError, match="no column 'y'") as found:
            Source(str(tmp_path / "rows.csv"), [], pytest.fail).check_has(["y"], "is wanted")
        assert ("separated by semicolons" in str(found.value)) is asks


def test_a_long_column_is_text_everywhere_or_nowhere(tmp_path):
    # pandas would read it in parts, of wide files in those of two thousand rows, each as what it looks like.
    rest = "," + ",".join(map(str, range(255))) + "\n"
    (tmp_path / "long.csv").write_text(f"code{rest}" + f"1{rest}" * 2100 + f"a{rest}")
    code = Source(str(tmp_path / "long.csv"), [], pytest.fail).read(["code"])["code"]
    assert (code.iloc[:-1] == "1").all()


# --- columns ------------------------------------------------------------------------------------------------


def learned(frame, dates="refuse", categories=()):
    return learned_features(pd.DataFrame(frame), "a file", dates=dates, categories=categories)


def test_a_few_texts_among_dates_leave_a_column_one_of_dates():
    days = [f"2024-01-{i:02}" for i in range(1, 31)]
    with pytest.raises(ValueError, match="has dates, such as 2024-01-01"):
        learned({"seen": ["soon", *days]})
    with pytest.raises(ValueError, match="has 'soon' among dates"):
        learned({"seen": [*days, "soon"]}, dates="parts")
    # Wherever it stands, and however often.
    assert not learned({"seen": [*days[:4], *"abcd"]}).empty
    assert not learned({"seen": days}, categories=["seen"]).empty


def test_one_date_is_one_and_none_is_none():
    frame = {"one": ["2024-02-29", None], "none": ["-", None], "x": [1, 2]}
    assert list(learned(frame, "parts")) == [*(f"one.{part}" for part in ("year", "month", "day", "weekday")),
                                             "none", "x"]  # fmt: skip
    # An hour counts from the first one on.
    assert learned({"at": ["2024-02-29 01:30", "2024-02-29"]}, "parts")["at.hour"].tolist() == [1.0, 0.0]


@pytest.mark.parametrize("days", [["31.12.2024", "31.02.2024"], ["2024-01-31", "2024-04-31"]])
def test_a_day_that_is_none_is_named(days):
    frame = pd.DataFrame({"seen": days})
    with pytest.raises(ValueError, match=f"'{days[1]}'.*not a date"):
        with_parts(frame, ["seen.day"], "a file")


@pytest.mark.parametrize("kind", ["date", "datetime"])
def test_dates_with_gaps_become_categories_without_one_for_the_gap(kind):
    days = pd.Series(pd.to_datetime(["2024-03-01", None, "2024-01-31"]))
    frame = pd.DataFrame({"seen": days.dt.date if kind == "date" else days})
    seen = learned(frame, categories=["seen"])["seen"]
    assert [str(name)[:10] for name in seen.cat.categories] == ["2024-01-31", "2024-03-01"]
    assert seen.cat.codes.tolist() == [1, -1, 0]
    known = known_features(frame, {"seen": seen.cat.categories}, "a file", pytest.fail)
    assert known["seen"].cat.codes.tolist() == [1, -1, 0]


def test_categories_that_are_numbers_are_found():
    result = []
    found = known_features(pd.DataFrame({"code": [3, 1, 9]}), {"code": pd.Index([1, 3])}, "a file", result.append)
    assert found["code"].cat.codes.tolist() == [1, 0, -1]
    assert result == ["note: the column 'code' of a file has values in 1 rows that the training did not have (9): "
                    "treated as missing"]  # fmt: skip


def test_categories_of_bytes_are_no_text():
    # XGBoost would take them, and find none of them again in the model.
    frame = pd.DataFrame({"code": pd.Categorical([b"a", b"b", None])})
    with pytest.raises(ValueError, match=r"the column 'code' of a file has values such as b'a' \(bytes\), which are"):
        learned(frame)


@pytest.mark.filterwarnings("ignore:.*labelled rows of the class")
def test_whole_numbers_are_named_so_where_a_number_can_hold_them():
    for large, kind in ((2.0**53 - 1, "i"), (2.0**53, "f")):
        column = pd.DataFrame({"y": [large, 1.0, np.nan]})
        assert training_labels(column, "binary:logistic", "a file").classes.dtype.kind == kind
    complete = training_labels(pd.DataFrame({"y": [2.0, 3.0]}), "binary:logistic", "a file")
    assert complete.classes.dtype.kind == "f"
    with pytest.raises(ValueError, match="pass --objective multi:softprob or --objective reg:squarederror"):
        training_labels(pd.DataFrame({"y": [1, 2, 3]}), None, "a file")


@pytest.mark.parametrize(
    "column",
    [["b", "a", "b"], [datetime.date(2024, 1, 31), datetime.date(2023, 5, 1), datetime.date(2024, 1, 31)],
     pd.to_datetime(["2024-01-31", "2023-05-01", "2024-01-31"]), pd.Categorical(["b", "a", "b"])],
    ids=["text", "dates", "times", "categories"],
)  # fmt: skip
def test_classes_that_are_no_numbers_are_texts_and_found_again_in_another_file(column):
    found = training_labels(pd.DataFrame({"y": column}), None, "a file")
    assert found.classes.dtype.kind == "U"
    assert found.values.tolist() == [1, 0, 1]
    later = pd.DataFrame({"y": list(map(str, pd.Series(column)))})
    for columns in (pd.DataFrame({"y": column}), later):
        assert later_labels(columns, found.classes, found.objective, "another").tolist() == [1, 0, 1]


def test_a_time_that_nobody_knows_is_any():
    bounds = pd.DataFrame({"from": [2.0, None], "to": [3.0, None]})
    found = training_labels(bounds, "survival:aft", "a file")
    assert (found.values.tolist(), found.labelled.tolist()) == ([[2, 3], [0, np.inf]], [True, False])


def test_bounds_may_be_large_and_of_any_kind_of_number():
    bounds = pd.DataFrame({"from": [1, 2], "to": [1e300, None]}).astype({"from": "Int64", "to": "Float64"})
    np.testing.assert_array_equal(later_labels(bounds, None, "survival:aft", "a file"), [[1, np.inf], [2, np.inf]])
    with pytest.raises(ValueError, match=r"the lower bound 'from' of a file must .* 1 missing"):
        later_labels(bounds.assign(**{"from": [1, None], "to": None}), None, "survival:aft", "a file")


def test_rows_of_a_file_without_lines_are_counted_from_1():
    bounds = pd.DataFrame({"from": [1.0, 3.0], "to": [2.0, 2.0]})
    for file, place in (("a.parquet", "row 2"), ("a.csv", "line 3")):
        with pytest.raises(ValueError, match=f"{place} has 3 and 2$"):
            later_labels(bounds, None, "survival:aft", file)


def test_labels_of_other_rows_are_in_the_range_of_the_training():
    with pytest.raises(
        ValueError, match=r"a file must lie in \[0, 1\] for binary:logistic, got values from 0.0 to 100.0"
    ):
        later_labels(pd.DataFrame({"y": [0, 100]}), None, "binary:logistic", "a file")
    assert later_labels(pd.DataFrame({"y": [0, 100]}), None, "count:poisson", "a file").tolist() == [0, 100]


def test_a_missing_class_is_missing():
    with pytest.raises(ValueError, match=r"the label 'y' of a file must .* 1 missing"):
        later_labels(pd.DataFrame({"y": ["a", None]}, dtype=object), ABC[:2], "binary:logistic", "a file")


# --- rows ---------------------------------------------------------------------------------------------------


def test_what_looks_like_a_name_of_rows():
    def told(values, like=None):
        result = []
        _note_identifiers(pd.DataFrame({"c": pd.Series(values, dtype=like)}), "a file", result.append)
        return bool(result)

    texts = [f"t{i}" for i in range(1001)]
    # All different, from twenty rows on; numbers without a gap likewise; or more than a thousand.
    assert [told(texts[:n], "category") for n in (19, 20)] == [False, True]
    assert [told(range(3, 3 + n)) for n in (19, 20)] == [False, True]
    assert [told(2 * texts[:n], "category") for n in (30, 1000, 1001)] == [False, False, True]


@pytest.mark.parametrize("bounds", [False, True])
def test_a_share_is_one_of_every_label(bounds):
    rng = np.random.default_rng(0)
    label, known = rng.permutation(np.repeat([3.0, 1.0, 2.0], [60, 40, 25])), rng.random(125) < 0.8
    y = np.c_[label, rng.random(125)] if bounds else label
    kept, aside = set_aside(Rows(pd.DataFrame({"i": np.arange(125)}), None, y, labelled=known), 0.3, seed=2)
    # In a loop: shuffled, in the order of labels, and of those each time that the share is full once more.
    order = sorted(np.random.default_rng(2).permutation(np.flatnonzero(known)), key=lambda i: label[i])
    chosen = [i for j, i in enumerate(order) if int((j + 1) * 0.3) > int(j * 0.3)]
    assert aside.x["i"].tolist() == sorted(chosen)
    assert kept.x["i"].tolist() == sorted(set(range(125)) - set(chosen))


def test_a_share_may_be_filled_by_whole_groups():
    # Nobody knows a label of the last group.
    group = np.repeat(list("abcdef"), 10)
    rows = Rows(pd.DataFrame({"i": np.arange(60)}), None, np.zeros(60), labelled=group != "f", crossfit_groups=group)
    found = [set_aside(rows, 0.2, seed)[1] for seed in range(20)]
    # A fifth of fifty is one group, to the last row.
    assert {tuple(set(aside.crossfit_groups)) for aside in found} == {(name,) for name in "abcde"}
    assert {len(aside.y) for aside in found} == {10}


@pytest.mark.parametrize("share", ["0", "1", "1.5", "-0.2", "nan"])
def test_a_share_lies_between_nothing_and_all(share, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    Path("rows.csv").write_text("x,y\n1,0\n2,1\n")
    assert main([*TRAIN, f"--valid={share}"]) == 2
    assert f"a share of the rows between 0 and 1, got '{share}'" in capsys.readouterr().err


def test_an_option_with_one_value_is_given_once(capsys):
    with pytest.raises(SystemExit, match="2"):
        main(["train", "rows.csv", "--label", "y", "--out", "m.ubj", "--teacher", "forest", "--teacher", "linear"])
    assert "argument --teacher: must be given once, got 'linear' after 'forest'" in capsys.readouterr().err
