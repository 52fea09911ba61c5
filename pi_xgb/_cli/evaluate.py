"""``pi-xgb evaluate``: metrics of a model on rows with labels, and its differences between groups.

example, with two columns of groups, which the model may lack:
  pi-xgb evaluate test.csv --model model.ubj --label ill --groups race,sex --html report.html
a ranking model, and a survival model:
  pi-xgb evaluate test.csv --model model.ubj --label relevance --query search
  pi-xgb evaluate test.csv --model model.ubj --lower-bound hours --upper-bound end

Without --groups it prints metrics of all rows, first the training loss. With --groups, which requires a model of two
classes, it prints counts and rates of every group and the differences between groups, with intervals, and sentences
about the significant differences. Use rows that the model was not trained on.
"""

from __future__ import annotations

import argparse
from typing import Any

import pandas as pd
import xgboost

from .._core.losses import LOSSES
from .._rows.scores import as_cut
from .model import SavedModel, load_model
from .options import check_target
from .output import new_output, print_table
from .rows import PER_ROW, TARGETS, later_rows
from .table import Log, Source

MORE = {"logloss": ["auc", "error"], "mlogloss": ["merror"], "ndcg": ["ndcg@5", "ndcg@10"], "map": ["map@5", "map@10"]}
"""Further metrics beside that of the loss."""
OF_OTHERS = {"binary:hinge": "error", "rank:map": "map", "survival:cox": "cox-nloglik"}
"""The metrics of XGBoost's losses that no teacher can guide."""
CONFIDENCE = 0.95


def metrics_of(model: SavedModel) -> list[str]:
    """Return XGBoost's metrics for a model, its loss first."""
    loss = LOSSES.get(model.objective)
    first = loss.with_params(model.objective_params).default_metric if loss else OF_OTHERS.get(model.objective, "")
    numbers = ["rmse", "mae"] * model.objective.startswith(("reg:", "count:"))
    return [name for name in dict.fromkeys([first, *MORE.get(first, numbers)]) if name]


def run(arguments: argparse.Namespace, log: Log) -> None:
    """Print the tables, then write the page."""
    path = new_output(arguments, "--html") if arguments.html else None
    model = load_model(arguments.model)
    check_target(arguments, model.objective)
    if model.objective != "binary:logistic" and (arguments.groups or arguments.threshold != 0.5):
        option = "--groups" if arguments.groups else "--threshold"
        raise ValueError(f"{option} requires a model of two classes (binary:logistic), got {model.objective}")
    source = Source(arguments.data, arguments.missing, log)
    given = {name: [column] for name in (*TARGETS, *PER_ROW) if (column := getattr(arguments, name, None))}
    columns = {"features": model.features, "groups": arguments.groups, **given}
    rows, frame = later_rows(source, columns, log, model.categories, model.classes, model.objective, model.in_pieces)
    matrix = rows.student()
    if not arguments.groups:
        print_table(_metrics(model, matrix, arguments.threshold), arguments.format)
        return
    common: dict[str, Any] = {
        "sensitive_features": frame[list(dict.fromkeys(arguments.groups))],
        "threshold": arguments.threshold,
        "n_boot": arguments.n_boot,
        "random_state": arguments.seed,
    }
    how = {**common, "sample_weight": rows.per_row.get("weight"), "confidence": CONFIDENCE}
    _print_groups(matrix.get_label(), model.scores(matrix), how, arguments.format)
    if path is not None:
        from .._report.report import report

        models = {arguments.model: model.booster}
        report(path, models, matrix, evaluated_on=source.name, overwrite=arguments.force, **common)
        log(f"{path}: written")


def _metrics(model: SavedModel, rows: xgboost.DMatrix, threshold: float) -> pd.DataFrame:
    """Return XGBoost's metrics of all rows."""
    margin = model.scores(rows, output_margin=True)
    chosen = metrics_of(model)
    if margin.ndim == 2 and model.classes is None:  # other metrics treat several quantiles as several labels
        chosen = chosen[:1]
    if threshold != 0.5:
        chosen[chosen.index("error")] = f"error@{as_cut(threshold)}"
    # A booster without trees predicts the base margin, so the metrics are those of the rounds in use.
    rows.set_base_margin(margin)
    params: dict[str, Any] = {"objective": model.objective, **model.objective_params, "eval_metric": chosen}
    booster = xgboost.Booster(params, [rows])
    printed = booster.eval_set([(rows, "rows")])
    # In the order of the request: XGBoost rounds the threshold in a name.
    values = [float(part.rpartition(":")[2]) for part in printed.split("\t")[1:]]
    return pd.DataFrame({"value": values}, index=pd.Index(chosen, name="metric"))


def _print_groups(y: Any, scores: Any, how: dict[str, Any], style: str) -> None:
    from ..metrics import disparity_report, group_report
    from ..metrics._words import sentence

    # On one line, since Python shows a warning once for each line.
    by_group, gaps = group_report(y, scores, **how), disparity_report(y, scores, **how)
    print_table(by_group, style)
    print()
    print_table(gaps, style)
    if style == "text" and "p_value" in gaps:
        print()
        for name, row in gaps.iterrows():
            print(sentence(str(name).replace("_", " "), row, CONFIDENCE))
