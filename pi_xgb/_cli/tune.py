r"""``pi-xgb tune``: choose method, teacher and weight by cross-validation, with plain XGBoost as a candidate.

example:
  pi-xgb tune patients.csv --label ill --privileged lab,score --kl-weight 0.5,1,2,5 --metric auc
  pi-xgb tune shown.csv --label relevance --query search --objective rank:ndcg --params ndcg_exp_gain=false \
      --privileged seconds --metric ndcg@5

It prints a line for each candidate, and with --out trains the choice. Plain XGBoost and the recommended kind of teacher
without privileged columns are candidates, too. The choice is the recommended teacher, by default a mixed one with
--kl-weight 2, unless another candidate is clearly better on the same folds. Standard error gets the verdict: what to
deploy, the gain to expect, and what would change that. Queries stay whole in the folds.
"""

from __future__ import annotations

import argparse
from typing import Any

from .model import new_model_file, write_model
from .options import SINGLE
from .output import print_table
from .rows import constraints_of, read_training
from .table import Log


def run(arguments: argparse.Namespace, log: Log) -> None:
    """Choose, print the table, and with --out train the choice."""
    from ..selection import select

    path = new_model_file(arguments) if arguments.out else None
    training = read_training(arguments, log)
    rows = training.rows
    keywords = {"privileged": rows.privileged(), "constraints": constraints_of(arguments.constraint, rows)}
    keywords |= rows.supervision
    how = {"groups": rows.per_row.get("crossfit_groups"), **choosing_of(arguments)}
    selection = select(training.params, rows.student(), arguments.rounds, **keywords, **how)
    print_table(selection.summary, arguments.format)
    log(str(selection))
    if path is not None:
        write_model(path, selection.train(rows.student(), **keywords), training, arguments)
        log(f"{path}: written")


def choosing_of(arguments: argparse.Namespace) -> dict[str, Any]:
    """Return the keywords of ``pi_xgb.select`` and ``pi_xgb.compare``, without those that keep their default."""
    chosen = {name: getattr(arguments, name) for name in (*SINGLE, "metric", "repeats", "seed", "resume")}
    chosen |= {"nfold": arguments.folds, "n_jobs": arguments.jobs}
    return {name: value for name, value in chosen.items() if value is not None}
