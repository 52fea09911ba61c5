"""``pi-xgb predict``: a table of answers for the rows of a file."""

from __future__ import annotations

import argparse
import sys
from typing import Any

import pandas as pd

from .._rows.names import describe
from .._xgb.matrix import matrix_of
from .model import columns_for, load_model
from .options import add_columns, add_rows, new_command
from .output import add_out, new_output, write_output
from .source import Log, Source, written

EXAMPLE = """example:
  pi-xgb predict new.csv --model model.ubj --keep patient > answers.csv

Of the rows only the features of the model are read; privileged columns may be there or not. A model of two classes
answers with a class and the probability of the second one (binary:logitraw: its margin), a model of several with one
probability for each, a model of numbers with a number, one of times with a time. A model that ranks answers with a
score for each row, to be compared within its query, whose column it does not need. A category that the training did not
have counts as missing."""


def add(commands: Any) -> None:
    """The command and its options."""
    command = new_command(commands, "predict", "the answers of a model for the rows of a file", EXAMPLE)
    add_rows(command, data="the rows")
    command.add_argument("--model", required=True, help="a model of train, or any model of XGBoost with feature names")
    add_columns(command, "--keep", "columns to copy unchanged")
    add_out(command, default="-", metavar="FILE", help="CSV or Parquet (default: CSV on standard output)")
    command.set_defaults(run=run)


def run(arguments: argparse.Namespace, log: Log) -> None:
    """Predict, then write the answers."""
    path = None if arguments.out == "-" else new_output(arguments)
    model = load_model(arguments.model)
    source = Source(arguments.data, arguments.missing, log)
    needed, keep = columns_for(model, source), list(dict.fromkeys(arguments.keep))
    source.check_has(keep, "--keep names")
    frame = source.read(needed, as_text=model.categories)
    answers = model.answers(matrix_of(model.x_of(frame, source.name, log)))
    twice = [name for name in keep if name in answers]
    if twice:
        raise ValueError(
            f"--keep names {describe(twice)}, and so are the answers called: rename the column of {source.name}, or "
            "do not keep it"
        )
    kept = source.copy(keep) if keep else pd.DataFrame(index=answers.index)
    table = pd.concat([kept, answers], axis=1)
    if path is None:
        table.to_csv(sys.stdout, index=False)
    else:
        write_output(path, written(table, path), arguments)
        log(f"{path}: {len(table)} rows")
