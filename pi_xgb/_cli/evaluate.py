"""``pi-xgb evaluate``: metrics of a model on rows with labels, and its differences between groups."""

from __future__ import annotations

import argparse
import warnings
from typing import Any

import pandas as pd
import xgboost

from .._core.losses import LOSSES
from .labels import has_text_names, later_labels
from .model import Model, columns_for, load_model
from .options import add_columns, add_decisions, add_predicted, add_rows, check_predicted, new_command
from .output import FORMATS, add_out, new_output, print_table
from .rows import Rows, labels_of, names_of, weights_of
from .source import Log, Source

EXAMPLE = """example, with two columns of groups, which the model may lack:
  pi-xgb evaluate test.csv --model model.ubj --label ill --groups race,sex --html report.html
a ranking model, and a survival model:
  pi-xgb evaluate test.csv --model model.ubj --label relevance --query search
  pi-xgb evaluate test.csv --model model.ubj --lower-bound hours --upper-bound end

Without --groups it prints metrics of all rows, first the training loss. With --groups, which requires a model of two
classes, it prints counts and rates of every group and the differences between groups, with intervals, and sentences
about the significant differences. Use rows that the model was not trained on."""

METRICS = {
    "binary:logistic": ["logloss", "auc", "error"],
    "binary:logitraw": ["auc"],
    "multi:softprob": ["mlogloss", "merror"],
    "multi:softmax": ["mlogloss", "merror"],
    "binary:hinge": ["error"],
    "rank:ndcg": ["ndcg", "ndcg@5", "ndcg@10"],
    "rank:pairwise": ["ndcg", "ndcg@5", "ndcg@10"],
    "rank:map": ["map", "map@5", "map@10"],
    "survival:aft": ["aft-nloglik"],
    "survival:cox": ["cox-nloglik"],
}
CONFIDENCE = 0.95


def metrics_of(model: Model) -> list[str]:
    """Return XGBoost's metrics for a model, its loss first."""
    loss = LOSSES.get(model.objective)
    own = [] if loss is None else [loss.with_params(model.objective_params).default_metric]
    return list(dict.fromkeys(METRICS.get(model.objective, [*own, "rmse", "mae"])))


def add(commands: Any) -> None:
    """Add the command and its options."""
    command = new_command(commands, "evaluate", "measure a model, overall and by group", EXAMPLE)
    add_rows(command, data="rows with labels")
    command.add_argument("--model", required=True, help="a model of train, or any model of XGBoost with feature names")
    add_predicted(command)
    add_columns(command, "--groups", "the group of each row")
    command.add_argument("--weight", metavar="COLUMN", help="how much each row counts")
    add_decisions(command)
    command.add_argument("--seed", type=int, default=0, help="of the draws (default: %(default)s)")
    command.add_argument("--format", choices=FORMATS, default="text", help="of the tables (default: %(default)s)")
    add_out(command, "--html", metavar="FILE", help="also write a page with tables and pictures (needs matplotlib)")
    command.add_argument("--title", default="Model report", help="the heading of the page")
    command.add_argument("--no-pictures", action="store_true", help="a page without pictures (needs no matplotlib)")
    command.set_defaults(run=run)


def run(arguments: argparse.Namespace, log: Log) -> None:
    """Print the tables, then write the page."""
    path = new_output(arguments, "--html") if arguments.html else None
    model = load_model(arguments.model)
    check_predicted(arguments, model.objective)
    if model.objective != "binary:logistic" and (arguments.groups or arguments.threshold != 0.5):
        option = "--groups" if arguments.groups else "--threshold"
        raise ValueError(f"{option} requires a model of two classes (binary:logistic), got {model.objective}")
    rows, groups = _read_rows(arguments, model, log)
    matrix = rows.student()
    if not arguments.groups:
        print_table(_metrics(model, matrix, arguments.threshold), arguments.format)
        return
    _print_groups(arguments, model, matrix, groups, rows.weight, log)
    if path is not None:
        from .._report.report import report

        report(
            path,
            {arguments.model: model.booster},
            matrix,
            sensitive_features=groups,
            threshold=arguments.threshold,
            title=arguments.title,
            evaluated_on="standard input" if arguments.data == "-" else arguments.data,
            pictures=not arguments.no_pictures,
            n_boot=arguments.n_boot,
            random_state=arguments.seed,
            overwrite=arguments.force,
        )
        log(f"{path}: written")


def _read_rows(arguments: argparse.Namespace, model: Model, log: Log) -> tuple[Rows, pd.DataFrame]:
    """Return the test rows and their groups."""
    source = Source(arguments.data, arguments.missing, log)
    needed = columns_for(model, source)
    labels, groups = labels_of(arguments), list(dict.fromkeys(arguments.groups))
    others = [name for name in (*labels, *groups, arguments.weight, arguments.query) if name]
    source.check_has(others, "the evaluation needs")
    if arguments.query in model.features:
        raise ValueError(f"--query names {arguments.query!r}, which is a feature of the model: name another column")
    # Groups are read as text: 7 and 07 differ. Features and labels keep their numbers.
    text_groups = [name for name in groups if name not in (*needed, *labels, arguments.weight)]
    as_text = [*model.categories, *(labels if has_text_names(model.classes) else []), arguments.query, *text_groups]
    frame = source.read([*needed, *others], as_text=as_text)
    y = later_labels(frame[labels], model.classes, model.objective, source.name)
    weight = weights_of(frame, arguments.weight, source.name)
    query = names_of(frame, arguments.query, source.name)
    rows = Rows(model.x_of(frame, source.name, log), None, y, weight, query=query).by_query()
    return rows, frame[groups]


def _metrics(model: Model, rows: xgboost.DMatrix, threshold: float) -> pd.DataFrame:
    """Return XGBoost's metrics of all rows."""
    margin = model.booster.predict(rows, output_margin=True, iteration_range=model.rounds)
    chosen = metrics_of(model)
    if margin.ndim == 2 and model.classes is None:  # other metrics treat several quantiles as several labels
        chosen = chosen[:1]
    if threshold != 0.5:
        chosen[chosen.index("error")] = f"error@{threshold}"
    # A booster without trees predicts the base margin, so the metrics are those of the rounds in use.
    rows.set_base_margin(margin)
    params: dict[str, Any] = {"objective": model.objective, **model.objective_params, "eval_metric": chosen}
    booster = xgboost.Booster(params, [rows])
    printed = booster.eval_set([(rows, "rows")])
    # In the order of the request: XGBoost rounds the threshold in a name.
    values = [float(part.rpartition(":")[2]) for part in printed.split("\t")[1:]]
    return pd.DataFrame({"value": values}, index=pd.Index(chosen, name="metric"))


def _print_groups(
    arguments: argparse.Namespace, model: Model, rows: xgboost.DMatrix, groups: pd.DataFrame, weight: Any, log: Log
) -> None:
    from ..metrics import disparity_report, group_report
    from ..metrics._words import sentence

    common: dict[str, Any] = {
        "sensitive_features": groups,
        "threshold": arguments.threshold,
        "sample_weight": weight,
        "n_boot": arguments.n_boot,
        "random_state": arguments.seed,
        "confidence": CONFIDENCE,
    }
    y, scores = rows.get_label(), model.scores(rows)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        tables = [group_report(y, scores, **common), disparity_report(y, scores, **common)]
    for text in dict.fromkeys(str(warning.message) for warning in caught):
        log(f"note: {text}")
    print_table(tables[0], arguments.format)
    print()
    print_table(tables[1], arguments.format)
    if arguments.format == "text" and "p_value" in tables[1]:
        print()
        for name, row in tables[1].iterrows():
            print(sentence(str(name).replace("_", " "), row, CONFIDENCE))
