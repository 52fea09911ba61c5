"""``pi-xgb predict``: predictions for the rows of a file."""

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

Only the features of the model are read; privileged columns are optional. A model of two classes predicts a class and
the probability of the second one (binary:logitraw: its margin), a model of more classes the probability of each. A
regression predicts a number, a survival model a time. A ranking model predicts a score for each row, to compare within
a query; the query column is not needed. A category that the training did not have is treated as missing."""


def add(commands: Any) -> None:
    """Add the command and its options."""
    command = new_command(commands, "predict", "predict the rows of a file", EXAMPLE)
    add_rows(command, data="the rows")
    command.add_argument("--model", required=True, help="a model of train, or any model of XGBoost with feature names")
    add_columns(command, "--keep", "columns to copy unchanged")
    add_out(command, default="-", metavar="FILE", help="CSV or Parquet (default: CSV on standard output)")
    command.set_defaults(run=run)


def run(arguments: argparse.Namespace, log: Log) -> None:
    """Predict, then write the predictions."""
    path = None if arguments.out == "-" else new_output(arguments)
    model = load_model(arguments.model)
    source = Source(arguments.data, arguments.missing, log)
    needed, keep = columns_for(model, source), list(dict.fromkeys(arguments.keep))
    source.check_has(keep, "--keep names")
    frame = source.read(needed, as_text=model.categories)
    predictions = model.predictions(matrix_of(model.x_of(frame, source.name, log)))
    duplicates = [name for name in keep if name in predictions]
    if duplicates:
        raise ValueError(
            f"--keep names {describe(duplicates)}, also a predicted column: rename it in {source.name}, or do not "
            "keep it"
        )
    copied = source.copy(keep) if keep else pd.DataFrame()
    table = pd.concat([copied, predictions], axis=1)
    if path is None:
        table.to_csv(sys.stdout, index=False)
    else:
        write_output(path, written(table, path), arguments)
        log(f"{path}: {len(table)} rows")
