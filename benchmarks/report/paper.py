"""Paper mode beside what the paper printed and what its released boosters score."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import pandas as pd

from benchmarks import FOLDER
from benchmarks.data.registry import DATASETS
from benchmarks.report.results import GROUP_MEASURES, Results
from benchmarks.text import number, signed, table, with_spread

REFERENCE = FOLDER / "reference"
MODE = "paper"
METHODS = ("NF", "KbPIB", "JPIB")
NUMERIC = ("heart", "car", "spam")

ABOUT = """\
The authors' settings to the letter: zeros are missing, margins start at 0.5, 20 rounds at most, the paper's alpha.
Mean (standard deviation) over the folds; the difference is ours less the printed number."""

WARNING = """\
**Read this before the table.** Most of the printed numbers of these twelve sets do not come out of a working XGBoost.
The paper's boosters were made with XGBoost 1.6.2, whose `approx` method is broken for partition-based categorical
splits: leaf values explode in the first round, and the test AUC falls with further trees. So the paper's differences
between NF, KbPIB and JPIB on these sets are differences between broken boosters, and neither agreement nor disagreement
with them says anything about privileged information. communities has a category among its privileged features only, and
its NF comes out as printed; on diabetes and student_mat the printed NF is nearly today's."""

SAME_BOOSTER = """\
NF of communities is the one booster with groups that comes out as released, and with it the groups' numbers: EO and SP
to all digits; ABROCA to the second or third, since the authors' is summed over a grid and ours is exact. A fold in
which a group has no row with such a label has no equalized odds and no ABROCA."""


@cache
def reference(name: str) -> pd.DataFrame:
    return pd.read_csv(REFERENCE / f"{name}.csv")


def printed(name: str, value: str, **where: str) -> float | None:
    """One number of a reference table."""
    rows = reference(name)
    for column, wanted in where.items():
        rows = rows[rows[column] == wanted]
    return None if rows.empty else float(rows[value].iloc[0])


def paper_section(results: Results) -> list[str]:
    sets = results.datasets(MODE)
    numeric = [name for name in sets if name in NUMERIC]
    broken = [name for name in sets if name in DATASETS and name not in NUMERIC]
    lines = ["## The authors' settings", "", ABOUT, "", "### AUC on the three numeric sets", ""]
    lines += auc_table(results, numeric)
    lines += ["### AUC on the twelve sets with categories", "", WARNING, "", gap_in_words(results, broken), ""]
    lines += auc_table(results, broken)
    lines += ["### Precision and recall at the threshold", "", THRESHOLD, "", *precision_recall_table(results, numeric)]
    lines += ["### Fold by fold beside the released boosters (AUC)", ""]
    lines += [RELEASED, "", *fold_table(results, numeric)]
    lines += ["### Group measures beside the released boosters", "", SAME_BOOSTER, ""]
    lines += released_group_table(results, "communities", "NF")
    return lines


RELEASED = """\
On how many of the folds our AUC is that of the released booster to within .0005, of how many compared. The AUCs are in
[paper.csv.gz](results/paper.csv.gz) and [saved_models_folds.csv](reference/saved_models_folds.csv)."""

THRESHOLD = """\
Our threshold is the one of .001 to .999 with the highest F1, averaged over the folds' validation rows; theirs is
the one of the released predictions. The twelve sets with categories, and the group measures beside table 4, are in
[paper.csv.gz](results/paper.csv.gz) beside [table_precision_recall.csv](reference/table_precision_recall.csv) and
[table_fairness.csv](reference/table_fairness.csv)."""


def auc_table(results: Results, sets: Sequence[str]) -> list[str]:
    rows = []
    for dataset, method in present(results, sets, "auc"):
        ours = results.mean(MODE, dataset, method, "auc")
        paper = printed("table_auc", "mean", dataset=dataset, method=method)
        spread = printed("table_auc", "std", dataset=dataset, method=method)
        rows.append(
            [
                *(dataset, method),
                with_spread(ours, results.spread(MODE, dataset, method, "auc")),
                with_spread(paper, spread),
                signed(None if paper is None else ours - paper),
            ]
        )
    return table(["set", "method", "AUC", "printed", "difference"], rows)


def gap_in_words(results: Results, sets: Sequence[str]) -> str:
    """How far NF is above its printed number, measured by how far the printed methods are apart."""
    here = [name for name in sets if len(results.folds(MODE, name, "NF", "auc"))]
    above = 0
    for name in here:
        paper = [value for m in METHODS if (value := printed("table_auc", "mean", dataset=name, method=m)) is not None]
        above += results.mean(MODE, name, "NF", "auc") - paper[0] > max(paper) - min(paper)
    return (
        f"With the same data and settings, the XGBoost of today puts NF above its printed AUC by more than the three\n"
        f"printed methods are apart on {above} of the {len(here)} sets below."
    )


def precision_recall_table(results: Results, sets: Sequence[str]) -> list[str]:
    rows = []
    for dataset, method in present(results, sets, "threshold"):
        row = [dataset, method]
        for metric in ("precision", "recall"):
            where = {"dataset": dataset, "method": method, "metric": metric}
            paper, spread = (printed("table_precision_recall", column, **where) for column in ("mean", "std"))
            ours = results.mean(MODE, dataset, method, metric)
            row += [with_spread(ours, results.spread(MODE, dataset, method, metric)), with_spread(paper, spread)]
            row.append(signed(None if paper is None else ours - paper))
        row.append(number(results.mean(MODE, dataset, method, "threshold")))
        row.append(number(printed("saved_models_folds", "threshold", dataset=dataset, method=method)))
        rows.append(row)
    header = ["set", "method", "precision", "printed", "difference", "recall", "printed", "difference"]
    return table([*header, "our threshold", "theirs"], rows)


def fold_table(results: Results, sets: Sequence[str]) -> list[str]:
    """The folds that agree to the third decimal."""
    released = reference("saved_models_folds").set_index(["dataset", "method", "fold"])["auc"]
    rows = []
    for dataset in sets:
        row = [dataset]
        for method in METHODS:
            ours = results.folds(MODE, dataset, method, "auc")
            theirs = released.reindex([(dataset, method, fold) for fold in ours.index]).to_numpy()
            row.append(f"{int((abs(ours.to_numpy() - theirs) < 0.0005).sum())} of {len(ours)}")
        rows.append(row)
    return table(["set", *METHODS], rows)


def released_group_table(results: Results, dataset: str, method: str) -> list[str]:
    """How far ours are from theirs, for a set with one privileged column."""
    released = reference("saved_models_groups")
    released = released[(released["dataset"] == dataset) & (released["method"] == method)].set_index("fold")
    rows = []
    for column in results.privileged_columns(MODE, dataset):
        for short, name in GROUP_MEASURES.items():
            ours = results.folds(MODE, dataset, method, f"{short}:{column}")
            apart = (ours - released[name.lower().replace(" ", "_")]).abs().dropna()
            rows.append([name, str(len(apart)), number(apart.max(), 4)])
    return table(["measure", "folds", "largest difference"], rows)


def present(results: Results, sets: Sequence[str], measure: str) -> list[tuple[str, str]]:
    pairs = [(dataset, method) for dataset in sets for method in METHODS]
    return [pair for pair in pairs if len(results.folds(MODE, *pair, measure))]
