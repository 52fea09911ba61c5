"""``pi-xgb frontier``: the cost of equal treatment of groups, on held-out rows.

example, the cost of a difference of at most 0.05 between the sexes in the share selected:
  pi-xgb frontier loans.csv --label repaid --constraint parity:sex --gap 0.05 --out fair.ubj

--constraint names the rate to equalise: parity (the share selected), odds (that among rows of each label), tpr or fpr
(among rows of label 1 or 0) or precision (the share of correct selections); the model does not see the column. It
prints a line for each weight of the constraint, 0 being plain XGBoost: accuracy, the gap, and the cost of the
constraint in accuracy, on held-out rows, with intervals; for odds, tpr and fpr a line for each step (hessian). With
--out it trains the model of the wanted gap on all rows. Every column but the label is a feature: leave privileged
columns out with --drop, since the constraint is the only teacher here. (pi-xgb train takes both --privileged and
--constraint, and evaluate measures the model.)
"""

from __future__ import annotations

import argparse

from .model import new_model_file, write_model
from .output import print_table
from .rows import constraints_of, read_training
from .table import Log


def run(arguments: argparse.Namespace, log: Log) -> None:
    """Measure and print the table, then train as the options request."""
    from .._frontier.frontier import frontier

    path = new_model_file(arguments) if arguments.out else None
    gaps = arguments.gap or []
    if path is not None and len(gaps) != 1:
        raise ValueError(f"--gap must be one number with --out, got {gaps or 'none'}: name the wanted gap")
    training = read_training(arguments, log)
    rows = training.rows
    ((equality, _),) = constraints_of(arguments.constraint, rows)
    result = frontier(
        training.params,
        rows.student(),
        arguments.rounds,
        constraint=equality,
        gap=gaps or None,
        threshold=arguments.threshold,
        nfold=arguments.folds,
        seed=arguments.seed,
        n_boot=arguments.n_boot,
        n_jobs=arguments.jobs,
        **({"kl_weight": arguments.kl_weight} if arguments.kl_weight else {}),
    )
    print_table(result.table, arguments.format)
    log(str(result))
    if path is not None:
        write_model(path, result.train(rows.student(), equality, gap=gaps[0]), training, arguments)
        log(f"{path}: written")
