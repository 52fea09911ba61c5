"""The page of the learning curves: gains over NF with intervals, and what of them is smoothing."""

from __future__ import annotations

import io
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from benchmarks.intervals import Interval, corrected_interval, verdict, wins_ties_losses
from benchmarks.pictures import PALETTE, REFERENCE, finish, panels, save
from benchmarks.text import paragraph, signed, table

NF, ALL_FEATURES, SELF = "NF", "KbPIB all features", "self-distillation"
METHODS = ("KbPIB", "KbPIB cross-fitted", ALL_FEATURES, "JPIB", SELF, "shuffled q")
MEASURES = {"auc": ("AUC", True), "logloss": ("log loss", False)}
PARTS = ((ALL_FEATURES, None), (SELF, None), (ALL_FEATURES, SELF))
"""The gain and its two parts, which add up to it: a method, and what is taken off it."""
PLACE = ["dataset", "rows"]
CELL = [*PLACE, "repeat"]
SCORES = ("valid_auc", "valid_logloss", "test_auc", "test_logloss")
COLUMNS = (*CELL, "method", "kl_weight", *SCORES, "trees", "seconds")
HEADER = ",".join(COLUMNS)
FORMATS = {
    "KbPIB": (PALETTE[4], "v", "-"),
    "KbPIB cross-fitted": (PALETTE[5], "^", "-"),
    ALL_FEATURES: (PALETTE[0], "o", "-"),
    "JPIB": (PALETTE[2], "s", "-"),
    SELF: (PALETTE[1], "D", (0, (5, 1.5))),
    "shuffled q": (REFERENCE, "X", (0, (1.2, 1.2))),
}

ABOUT = """\
Made by `python -m benchmarks.curves`. A repeat draws a quarter of the set for testing and, of the rest, n rows: a fifth
of these stops the training and chooses kl_weight ({weights}), four fifths train. n counts all labelled rows. Settings
are those of current mode. Every method is compared with plain XGBoost (NF in [the CSV](results/curves.csv)) on the same
rows, repeat by repeat. All rows have a label here; for few labels among many rows see
[UNLABELLED.md](UNLABELLED.md).

Sets: those where a booster on the privileged features alone reaches a test AUC of .6 and, with the privileged features
known at the test as well, x and z together are better than x by .005 (`python -m benchmarks.curves --worth`).
adult misses the second by a thousandth and is drawn as well. On the other sets z adds little to x. Large
sets stop at 5000 rows unless the run was told to go on (`python -m benchmarks.curves --cap 0`), which takes hours.

Wins and losses are counted over the sets, where the corrected resampled t interval at 95 % (Nadeau and Bengio 2003)
excludes 0: the variance of a mean over J repeats is (1/J + r) s^2 and r the test part over all other rows, here 1/3.
It is right where n is all of these and wide where n is a small part of a large set. Thin bars of the pictures are this
interval, thick bars the interval for independent repeats (r = 0)."""

SUMMARY = """\
Mean gain over the sets with so many rows, and in brackets on how many the interval shows a win / a tie / a loss."""

RIVALS = """\
Ridge regression and a random forest on x, as in [UNLABELLED.md](UNLABELLED.md), learn from all n rows of the same
draws; {repeats} repeats of each set, [every repeat](results/curves_rivals.csv). Gain over plain XGBoost, above 0 for
the better, and wins / ties / losses as above. Other rivals are not compared on this page. With {rows} rows and on the
same draws {best}, the best of the taught boosters above, gains {gain} AUC, {rival} {lead}."""

SPLIT = """\
The gain of the cross-fitted teacher on all features has two parts. A cross-fitted teacher on x (self-distillation)
holds no privileged information: its gain is smoothing. The rest of the gain is information."""


class Gains(NamedTuple):
    """One value per repeat, by (dataset, rows, method)."""

    by_cell: pd.DataFrame

    def at(self, dataset: str, rows: int, method: str, less: str | None = None) -> np.ndarray:
        here = self.by_cell.loc[(dataset, rows)]
        values = here[method] if less is None else here[method] - here[less]
        return np.asarray(values.dropna(), dtype=np.float64)


def text_of(results: Path) -> str:
    """What is in the CSV. SystemExit if it is none of the curves: its columns would not be understood."""
    try:
        text = results.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise SystemExit(
            f"expected a CSV that python -m benchmarks.curves made, but {results} cannot be read: {error}"
        ) from error
    header = text.split("\n", 1)[0]
    # A run that was stopped at once has left less than a header.
    if not HEADER.startswith(text) and header != HEADER:
        raise SystemExit(
            f"{results} is not a CSV of python -m benchmarks.curves: expected the columns {HEADER}, "
            f"got {header[:200]!r}; name another file with --out"
        )
    return text


def whole_lines(text: str, **how: Any) -> pd.DataFrame:
    """The lines of the CSV without an unfinished last one."""
    whole = text[: text.rfind("\n") + 1] or HEADER
    return pd.read_csv(io.StringIO(whole), **how)


def complete_lines(results: Path) -> pd.DataFrame:
    """The lines to make a page of. SystemExit if there is no repeat yet that has all methods."""
    lines = whole_lines(text_of(results))
    if not (lines.groupby(CELL)["method"].nunique() > len(METHODS)).any():
        raise SystemExit(f"{results} has no complete repeat of any set yet: python -m benchmarks.curves adds them")
    return lines


def write_page(results: Path, page: Path, test_share: float) -> None:
    """The page, and its pictures in the folder ``figures`` beside it."""
    lines = complete_lines(results)
    over_train = test_share / (1 - test_share)
    auc = gains_of(lines, "auc", "auc")
    folder = page.parent / "figures"
    draw_gains(auc, over_train, folder / "curves_gain.png")
    draw_split(auc, over_train, folder / "curves_split.png")
    weights = ", ".join(f"{weight:g}" for weight in sorted(lines["kl_weight"].unique()))
    out = ["# Learning curves", "", ABOUT.format(weights=weights), ""]
    out += ["![Gain over plain XGBoost against rows](figures/curves_gain.png)", ""]
    for measure, (name, _) in MEASURES.items():
        gains = gains_of(lines, measure, measure)
        out += [f"## Gain in {name}, kl_weight chosen by it", "", SUMMARY, "", *summary(gains, measure, over_train)]
    out += rivals_section(lines, results.with_name(f"{results.stem}_rivals.csv"), over_train)
    out += ["## Smoothing and information", "", SPLIT, "", "![The split](figures/curves_split.png)"]
    page.write_text("\n".join(out).rstrip() + "\n", encoding="utf-8")


def rivals_section(lines: pd.DataFrame, results: Path, over_train: float) -> list[str]:
    """Nothing where the rivals were not run."""
    if not results.exists():
        return []
    rivals = pd.read_csv(results)
    plain = lines[lines["method"] == NF].set_index(CELL)
    gains = {}
    for measure, (name, higher_is_better) in MEASURES.items():
        wide = rivals.pivot(index=CELL, columns="method", values=measure)
        own = wide.sub(plain[f"test_{measure}"], axis=0).dropna() * (1 if higher_is_better else -1)
        gains |= {f"{method}: {name}": Gains(own[[method]].set_axis(["gain"], axis=1)) for method in wide}
    at = places(next(iter(gains.values())))
    rows = []
    for step in sorted({step for _, step in at}):
        here = [place for place in at if place[1] == step]
        found = [[corrected_interval(own.at(*place, "gain"), over_train) for place in here] for own in gains.values()]
        rows.append([str(step), str(len(here)), *map(mean_and_tally, found)])
    words = {"repeats": rivals["repeat"].nunique(), **ahead(lines, rivals)}
    about = paragraph(RIVALS.format(**words))
    return ["## Simple rivals", "", about, "", *table(["rows", "sets", *gains], rows)]


def ahead(lines: pd.DataFrame, rivals: pd.DataFrame) -> dict[str, Any]:
    """Who gains most AUC with the fewest rows, of the taught boosters and of the rivals: means over the sets."""
    fewest = rivals["rows"].min()
    taught = gains_of(lines, "auc", "auc").by_cell[list(METHODS)]
    plain = lines[lines["method"] == NF].set_index(CELL)["test_auc"]
    own = rivals.pivot(index=CELL, columns="method", values="auc").sub(plain, axis=0)
    both = taught.join(own, how="inner").xs(fewest, level="rows").groupby("dataset").mean().mean()
    best, rival = both[list(METHODS)].idxmax(), both[list(own)].idxmax()
    return {"rows": fewest, "best": best, "gain": signed(both[best]), "rival": rival, "lead": signed(both[rival])}


def chosen(lines: pd.DataFrame, measure: str) -> pd.DataFrame:
    """Per cell and method the line that is best on the validation rows, kl_weight 0 (NF) among them.

    Of equally good weights it is the smallest.
    """
    plain = lines[lines["method"] == NF]
    with_nf = [lines] + [plain.assign(method=method) for method in lines["method"].unique() if method != NF]
    ordered = pd.concat(with_nf).sort_values(
        [*CELL, "method", f"valid_{measure}", "kl_weight"], ascending=[True] * 4 + [not MEASURES[measure][1], True]
    )
    return ordered.drop_duplicates([*CELL, "method"])


def gains_of(lines: pd.DataFrame, chosen_by: str, measure: str) -> Gains:
    """The chosen students less NF, on the repeats where all of them are there."""
    wide = chosen(lines, chosen_by).pivot(index=CELL, columns="method", values=f"test_{measure}")
    return Gains(wide.sub(wide[NF], axis=0).dropna().reindex(lines["dataset"].unique(), level="dataset"))


def places(gains: Gains) -> list[tuple[str, int]]:
    names = list(dict.fromkeys(gains.by_cell.index.get_level_values("dataset")))
    steps = gains.by_cell.index.droplevel("repeat").unique()
    return sorted(((str(name), int(rows)) for name, rows in steps), key=lambda at: (names.index(at[0]), at[1]))


def summary(gains: Gains, measure: str, over_train: float) -> list[str]:
    """By number of rows, the largest of each set as "all"; the gain is above 0 for the better."""
    at, sign = places(gains), 1 if MEASURES[measure][1] else -1
    most = {dataset: max(rows for name, rows in at if name == dataset) for dataset, _ in at}
    steps: dict[str, list[tuple[str, int]]] = {}
    for dataset, rows in sorted(at, key=lambda place: place[1]):
        steps.setdefault("all or the cap" if rows == most[dataset] else str(rows), []).append((dataset, rows))
    steps["all or the cap"] = steps.pop("all or the cap")
    rows = []
    for step, here in steps.items():
        found = [
            [corrected_interval(sign * gains.at(*place, method), over_train) for place in here] for method in METHODS
        ]
        rows.append([step, str(len(here)), *map(mean_and_tally, found)])
    return table(["rows", "sets", *METHODS], rows)


def mean_and_tally(found: Sequence[Interval]) -> str:
    """The mean over sets, and wins / ties / losses."""
    mean = signed(float(np.mean([item.mean for item in found])), 4)
    return f"{mean} ({' / '.join(map(str, wins_ties_losses(map(verdict, found))))})"


def both_intervals(values: np.ndarray, over_train: float) -> tuple[Interval, Interval]:
    """For repeats that share rows as much as they can, and for repeats that share none."""
    return corrected_interval(values, over_train), corrected_interval(values, 0.0)


def draw_gains(gains: Gains, over_train: float, path: Path) -> None:
    curves = {method: [(method, None), FORMATS[method]] for method in METHODS}
    draw(gains, over_train, path, curves, "gain in AUC over plain XGBoost")


def draw_split(gains: Gains, over_train: float, path: Path) -> None:
    curves = {
        "all features: gain": [(ALL_FEATURES, None), (PALETTE[0], "o", "-")],
        "smoothing (self-distillation)": [(SELF, None), (PALETTE[1], "D", (0, (5, 1.5)))],
        "information (the rest)": [(ALL_FEATURES, SELF), (PALETTE[2], "s", (0, (6, 1.5, 1.2, 1.5)))],
    }
    draw(gains, over_train, path, curves, "AUC")


def draw(gains: Gains, over_train: float, path: Path, curves: dict[str, list[Any]], ylabel: str) -> None:
    """A panel per set: one line per curve with the interval at each step, set apart a little to be seen."""
    names = list(dict.fromkeys(name for name, _ in places(gains)))
    figure, axes = panels(len(names), 3, 4.4, 3.5)
    for ax, name in zip(axes, names, strict=True):
        steps = [rows for at, rows in places(gains) if at == name]
        ax.axhline(0, color="black", linewidth=0.8)
        for shift, ((method, less), (color, marker, line)) in zip(
            np.linspace(0.94, 1.06, len(curves)), curves.values(), strict=True
        ):
            found = [both_intervals(gains.at(name, rows, method, less), over_train) for rows in steps]
            at, means = np.asarray(steps) * shift, [corrected.mean for corrected, _ in found]
            ax.plot(at, means, color=color, marker=marker, linestyle=line, ms=4, lw=1.4)
            for width, halves in zip((0.6, 2.2), zip(*found, strict=True), strict=True):
                ax.errorbar(at, means, [half.half for half in halves], fmt="none", ecolor=color, elinewidth=width)
        log_steps(ax, steps)
        ax.set_title(name, fontsize="medium")
        finish(ax, "rows with a label", ylabel)
    figure.legend(
        axes[0].get_lines()[1 : len(curves) + 1], list(curves), loc="outside lower center", ncols=3, fontsize="small"
    )
    save(figure, path)


def log_steps(ax: Any, steps: Sequence[int]) -> None:
    ax.set_xscale("log")
    ax.set_xticks(list(steps), [str(step) for step in steps], fontsize=8)
    ax.minorticks_off()
