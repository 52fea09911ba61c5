"""``pi-xgb predict``: predictions for the rows of a file.

example:
  pi-xgb predict new.csv --model model.ubj --keep patient > answers.csv

Only the features of the model are read; privileged columns are optional. A model of two classes predicts a class and
the probability of the second one (binary:logitraw: its margin), a model of more classes the probability of each. A
regression predicts a number, a survival model a time. A ranking model predicts a score for each row, to compare within
a query; the query column is not needed. A category that the training did not have is treated as missing.
"""

from __future__ import annotations

import argparse
import sys

import pandas as pd

from .._files import write_file
from .._rows.names import describe
from .._xgb.categories import matrix_of
from .features import known_features
from .model import load_model
from .output import new_output
from .table import PARQUET, Log, Source


def run(arguments: argparse.Namespace, log: Log) -> None:
    """Predict, then write the predictions."""
    path = None if arguments.out == "-" else new_output(arguments, endings=(".csv", ".txt", *PARQUET, ""))
    model = load_model(arguments.model)
    source = Source(arguments.data, arguments.missing, log)
    keep = list(dict.fromkeys(arguments.keep))
    source.check_has(model.features, "the model needs")
    source.check_has(keep, "--keep names")
    frame = source.read(model.features, as_text=model.categories)
    x = known_features(frame[model.features], model.categories, source.name, log, model.in_pieces)
    predictions = model.predictions(matrix_of(x))
    if duplicates := [name for name in keep if name in predictions]:
        raise ValueError(f"--keep names {describe(duplicates)}, also a predicted column: rename it in {source.name}")
    table = pd.concat([source.copy(keep), predictions], axis=1) if keep else predictions
    if path is None:
        table.to_csv(sys.stdout, index=False)
    else:
        content = table.to_parquet() if path.suffix.lower() in PARQUET else table.to_csv(index=False).encode()
        write_file(path, content, overwrite=arguments.force)
        log(f"{path}: {len(table)} rows")
