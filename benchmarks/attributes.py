"""Each attribute of a set in turn as the privileged one: which would pay, and is it the one that the paper took?

    python -m benchmarks.attributes            three sets, the paper's ten folds; attributes that are there are kept
    python -m benchmarks.attributes --report   only write ATTRIBUTES.md and its picture again
    python -m benchmarks.attributes --smoke    a tiny run on made data, in a folder that is thrown away

Writes results/attributes.csv and ATTRIBUTES.md; a quarter of an hour of one core.
"""

from __future__ import annotations

import dataclasses
import math
import tempfile
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import spearmanr
from sklearn.metrics import roc_auc_score

from benchmarks import FOLDER
from benchmarks.command_line import command
from benchmarks.data import LOAD_ERRORS
from benchmarks.data.prepared import PreparedSet
from benchmarks.intervals import Interval, corrected_interval, verdict, wins_ties_losses, with_bounds
from benchmarks.methods import METHODS
from benchmarks.modes import CURRENT
from benchmarks.modes.fold_work import FoldWork, Scores
from benchmarks.pictures import PALETTE, REFERENCE, finish, panels, save
from benchmarks.run.cells import MADE, prepared
from benchmarks.text import number, paragraph, signed, table

SETS = {"heart": 13, "car": 6, "student_por": 30}
"""How many attributes each has."""
PLAIN, CEILING = "NF", "with it"
TAUGHT = {
    "KbPIB chosen": "taught by it alone",
    "KbPIB all features": "taught by all features",
    "self-distillation": "control: taught without it",
}
ALONE, EVERY, CONTROL = TAUGHT
"""The control has a teacher that sees what the student sees."""
MODELS: dict[str, Callable[[FoldWork], Scores]] = {
    PLAIN: METHODS[PLAIN].run,
    CEILING: lambda work: work.plain("xz"),
    **{name: METHODS[name].run for name in TAUGHT},
}
RESULTS, PAGE, PICTURE = FOLDER / "results" / "attributes.csv", FOLDER / "ATTRIBUTES.md", "attributes.png"

ABOUT = """\
# One attribute as privileged for the others

Made by `python -m benchmarks.attributes` from `results/attributes.csv`, which the same program made. Each attribute
of a set is removed in turn and given to the teacher alone. The ceiling is the gain with the attribute at prediction;
the other columns are gains of students whose teacher has it. This does not repeat the experiments on Attribute
Discovery and Animals with Attributes, where attributes are privileged for images: those sets are not at hand.
Gains in AUC are over plain XGBoost without the attribute, on the
paper's ten folds, with a corrected 95 % interval; `kl_weight` is chosen on the validation rows, 0 among its values.
The teacher of the control sees only what the student sees. A star marks what the paper took for privileged."""


def with_privileged(dataset: PreparedSet, attribute: int) -> PreparedSet:
    """The set with this one attribute for the teacher."""
    return dataclasses.replace(dataset, privileged=(attribute,), protected=())


def lines_of(name: str, attribute: int, folds: Sequence[int] = range(10)) -> list[dict[str, Any]]:
    """The test AUC of every model with this attribute away."""
    whole, parts = prepared(name)
    dataset = with_privileged(whole, attribute)
    lines = []
    for fold in folds:
        work = FoldWork(dataset, parts[fold], CURRENT)
        y = work.labels("test")
        aucs = {model: float(roc_auc_score(y, run(work).test)) for model, run in MODELS.items()}
        where = {"set": name, "attribute": str(whole.X.columns[attribute]), "paper": attribute in whole.privileged}
        lines.append({**where, "fold": fold, **aucs})
    return lines


def run(out: Path, names: Iterable[str], folds: Sequence[int] = range(10)) -> None:
    """The attributes that are not in the file yet."""
    there = set(pd.read_csv(out)[["set", "attribute"]].itertuples(index=False, name=None)) if out.exists() else set()
    for name in names:
        for attribute, column in enumerate(prepared(name)[0].X.columns):
            if (name, str(column)) not in there:
                lines = pd.DataFrame(lines_of(name, attribute, folds))
                lines.to_csv(out, mode="a", header=not out.exists(), index=False, float_format="%.6g")
                print(name, column, flush=True)


def gains_of(lines: pd.DataFrame) -> pd.DataFrame:
    """An interval for each set, attribute and model; the most valuable attribute of a set first."""
    rows = []
    for (name, attribute, paper), own in lines.groupby(["set", "attribute", "paper"], sort=False):
        gains = {model: corrected_interval((own[model] - own[PLAIN]).to_numpy()) for model in (CEILING, *TAUGHT)}
        rows.append({"set": name, "attribute": str(attribute) + " *" * bool(paper), **gains})
    found = pd.DataFrame(rows)
    order = [found["set"].map(list(found["set"].unique()).index), found[CEILING].map(lambda gain: -gain.mean)]
    return found.iloc[np.lexsort(order[::-1])].reset_index(drop=True)


def said(gain: Interval) -> str:
    return with_bounds(gain, 4)


def summary(name: str, gains: pd.DataFrame) -> str:
    """What the attributes of a set say together."""
    means = {model: gains[model].map(lambda gain: gain.mean) for model in (CEILING, *TAUGHT)}
    tallies = {model: wins_ties_losses(map(verdict, gains[model])) for model in means}
    total = SETS.get(name, len(gains))
    which = f"the {total}" if len(gains) == total else f"{len(gains)} of the {total}"
    related = spearmanr(means[CEILING], means[EVERY]).statistic if len(gains) > 3 else math.nan
    return paragraph(
        f"Of {which} attributes of {name}, {tallies[CEILING][0]} are significantly missed at prediction "
        f"(mean {signed(means[CEILING].mean(), 4)}). A student taught by the attribute alone gains significantly with "
        f"{tallies[ALONE][0]} and loses with {tallies[ALONE][2]} (mean {signed(means[ALONE].mean(), 4)}), taught by "
        f"all features with {tallies[EVERY][0]} and {tallies[EVERY][2]} (mean {signed(means[EVERY].mean(), 4)}), the "
        f"control with {tallies[CONTROL][0]} and {tallies[CONTROL][2]} (mean {signed(means[CONTROL].mean(), 4)}). The "
        f"rank correlation of what an attribute is worth and what teaching by all features gains, of more than three "
        f"attributes, is {signed(related, 2)}."
    )


def text_of(lines: pd.DataFrame) -> str:
    """The page."""
    found = [ABOUT, "", f"![Gains of each attribute](figures/{PICTURE})", ""]
    header = ["attribute", "with it at prediction", *TAUGHT.values()]
    for name, gains in gains_of(lines).groupby("set", sort=False):
        plain = lines.loc[lines["set"] == name, PLAIN].groupby(lines["attribute"]).mean()
        found += [f"## {str(name).capitalize()}", "", summary(str(name), gains), ""]
        found += [f"Plain XGBoost without one attribute: {number(plain.min(), 4)} to {number(plain.max(), 4)}.", ""]
        rows = [[row["attribute"], *(said(row[model]) for model in (CEILING, *TAUGHT))] for _, row in gains.iterrows()]
        found += table(header, rows)
    return "\n".join(found).rstrip() + "\n"


def draw(lines: pd.DataFrame, path: Path) -> None:
    """A panel per set, a row per attribute: the ceiling, and what teaching gains."""
    found = gains_of(lines)
    sets = list(found.groupby("set", sort=False))
    figure, axes = panels(len(sets), 2, 5.5, 4.6)
    for ax, (name, gains) in zip(axes, sets, strict=True):
        at = np.arange(len(gains))[::-1]
        ax.axvline(0, color=REFERENCE, linewidth=1)
        words = {CEILING: "with it at prediction", **TAUGHT}
        shown = {CEILING: ("s", PALETTE[1]), EVERY: ("o", PALETTE[0]), CONTROL: ("^", PALETTE[4])}
        for shift, (model, (marker, color)) in zip((0.22, 0, -0.22), shown.items(), strict=True):
            means, halves = [gain.mean for gain in gains[model]], [gain.half for gain in gains[model]]
            ax.errorbar(means, at + shift, xerr=halves, fmt=marker, color=color, ms=4, elinewidth=1, label=words[model])
        ax.set_yticks(at, gains["attribute"])
        ax.set_title(str(name), fontsize="medium")
        finish(ax, "AUC higher by", "")
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside upper center", ncols=3)
    save(figure, path)


def write(results: Path, page: Path) -> None:
    """The page, and its picture in the folder ``figures`` beside it."""
    lines = pd.read_csv(results)
    page.write_text(text_of(lines), encoding="utf-8")
    draw(lines, page.parent / "figures" / PICTURE)


def main(arguments: Sequence[str] | None = None) -> None:
    parser = command("attributes", __doc__)
    parser.add_argument("--report", action="store_true", help="only write the page again")
    parser.add_argument("--smoke", action="store_true", help="a tiny run on made data")
    given = parser.parse_args(arguments)
    if given.smoke:
        with tempfile.TemporaryDirectory() as folder:
            out, page = Path(folder) / "attributes.csv", Path(folder) / "ATTRIBUTES.md"
            run(out, [MADE], folds=(0, 1))
            write(out, page)
            print(page.read_text(encoding="utf-8"))
        return
    if not given.report:
        try:
            run(RESULTS, SETS)
        except LOAD_ERRORS as error:
            raise SystemExit(str(error)) from None
    write(RESULTS, PAGE)


if __name__ == "__main__":
    main()
