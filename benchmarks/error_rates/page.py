"""ERROR_RATES.md and its picture, from the cells."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from benchmarks.cells import read
from benchmarks.data import DATASETS
from benchmarks.error_rates.cells import DIGITS, MOST, PUBLIC
from benchmarks.error_rates.digits import KL_WEIGHTS, TASKS
from benchmarks.error_rates.machines import COMPONENTS, FOLDS
from benchmarks.error_rates.ranks import Ranking, ranking
from benchmarks.text import joined, number, paragraph, signed, table

NAMES, DIGITS_NAMES = tuple(PUBLIC.methods), tuple(DIGITS.methods)
PAIRS = (("GPC+", "GPC"), ("SVM+", "SVM"), ("KbPIB", "NF"), ("JPIB", "NF"), ("KbPIB all features", "NF"))
DIGITS_PAIRS = (*PAIRS[:4], ("mixed", "NF"))
"""With privileged features, and the same without."""

ABOUT = """\
# GPC+ on its paper's own measure

`python -m benchmarks.error_rates`. The paper of GPC+ (Hernandez-Lobato et al., "Mind the Nuisance: Gaussian Process
Classification using Privileged Noise", NIPS 2014) measures the share of wrong decisions with {few} training and {few}
validation rows, and compares methods over its tasks by their average ranks and the critical distance of Nemenyi's test.
Here as there, kernels are squared exponential, features are standardised, at most {components} principal components of
them are used, GPC and GPC+ maximise their evidence (type-II maximum likelihood), and the SVM is tuned by its error in
cross-validation over the training rows ({folds} folds). What differs: its data sets (Attribute Discovery, Animals with
Attributes) are not at hand; each task is drawn {draws} instead of 100 times; the public sets are tasks of two classes
as they are, small ones give at most half of their rows for training and a quarter for validation, and at most {most:,}
rows are tested; components are taken only where columns, categories counted by their values, are more than
{components}, and are not standardised again. SVM+ is tuned by its error on the validation rows over all combinations of
the same five values of each of its four parameters; of equal errors it takes the higher AUC. A decision of GPC, GPC+
and the boosted methods is a probability above a half. The boosted methods see all columns as they are and stop early on
the validation rows. GPC+ has the noise of the paper's Eq. 7, whose probabilities at f = 1 and noise 5 and .5 are .67
and .92; its Figure 1 has .58 and .98 and contradicts it. New rows have the noise of the prior mean, which changes no
decision."""

PUBLIC_TEXT = """\
KbPIB and JPIB have the alpha that the paper of these two prints for the set, "all features" a teacher on x and z,
cross-fitted, its weight chosen by the AUC of the validation rows."""

DIGITS_TEXT = """\
The nearest to the paper's 45 tasks that needs no data from elsewhere: each pair of the 10 classes of scikit-learn's
digits. The means of the 2 x 2 blocks of a picture, 4 x 4 numbers, are known at prediction; the 8 x 8 pixels are
privileged. {few} training and {few} validation rows, the rest is tested. KbPIB has a teacher on the pixels, "mixed" a
cross-fitted mixed teacher on blocks and pixels; they and JPIB choose `kl_weight` among {weights} by the log loss of
the validation rows. The classes hardly overlap: GPC and GPC+ both end at the least noise that they may have, so that
they decide nearly alike."""


def error_table(lines: pd.DataFrame, names: Sequence[str] = NAMES) -> pd.DataFrame:
    """A row per set, a column per method: the mean over the draws."""
    wide = lines.pivot_table(index="set", columns="method", values="error", sort=False)
    return wide[list(names)].dropna()


def rank_words(found: Ranking, sets: int, what: str) -> str:
    best, worst = found.ranks.index[0], found.ranks.index[-1]
    apart = "" if found.p_value < 0.05 else " not"
    chance = "p < 0.0001" if found.p_value < 1e-4 else f"p = {number(found.p_value, 4)}"
    return paragraph(
        f"""Friedman's test over {sets} {what}: chi squared {number(found.statistic, 2)}, {chance}: the methods
        are{apart} significantly different. Two differ significantly where their average ranks are more than
        {number(found.critical, 2)} apart (Nemenyi, 5 %). The best average rank is that of {best}, the worst that of
        {worst}."""
    )


def draws_of(lines: pd.DataFrame) -> str:
    """How often the rows of a set were drawn."""
    draws = lines.groupby("set")["draw"].nunique()
    fewest, most = int(draws.min()), int(draws.max())
    if most == 1:
        return "once"
    return f"{most} times" if fewest == most else f"{fewest} to {most} times"


def not_run(lines: pd.DataFrame, errors: pd.DataFrame, known: Sequence[str]) -> str:
    """What is missing, and the processor time of one."""
    missing = [name for name in known if name not in errors.index]
    seconds = lines.groupby(["set", "draw"])["seconds"].sum().median()
    took = f"A draw took {number(seconds, 0)} seconds of processor time (median)."
    return f"Not run: {joined(missing)}. {took}" if missing else took


def pair_rows(errors: pd.DataFrame, found: Ranking, pairs: Sequence[tuple[str, str]]) -> list[list[str]]:
    rows = []
    for with_z, without in pairs:
        gain = errors[without] - errors[with_z]
        apart = found.ranks[without] - found.ranks[with_z]
        significant = "yes" if abs(apart) > found.critical else "no"
        counts = f"{int((gain > 0).sum())} / {int((gain == 0).sum())} / {int((gain < 0).sum())}"
        rows.append([f"{with_z} for {without}", signed(gain.mean(), 4), counts, signed(apart, 2), significant])
    return rows


def compared(errors: pd.DataFrame, pairs: Sequence[tuple[str, str]], what: str) -> list[str]:
    """Ranks, what differs significantly, and what privileged features bring."""
    found = ranking(errors)
    rows = [[str(name), number(rank, 2), number(errors[name].mean(), 4)] for name, rank in found.ranks.items()]
    out = [rank_words(found, len(errors), what), ""]
    out += table(["method", "average rank", "mean error"], rows)
    groups = [joined(map(str, found.ranks.index[i : j + 1])) for i, j in found.cliques()]
    if groups:
        out += [paragraph("Not significantly different from each other are " + "; ".join(groups) + "."), ""]
    header = ["with and without z", "error lower by, mean", f"{what} better / equal / worse", "rank better by"]
    return out + table([*header, "significant"], pair_rows(errors, found, pairs))


def text(folder: Path, figures: Path) -> str:
    """The section, and its pictures."""
    lines, digits = read("error_rates", folder), read("error_rates_digits", folder)
    draws = f"{draws_of(lines)} (pairs of digits: {draws_of(digits)})"
    errors = error_table(lines)
    about = ABOUT.format(few=PUBLIC.few, components=COMPONENTS, folds=FOLDS, draws=draws, most=MOST)
    title, first = about.split("\n\n")
    out = [title, "", paragraph(first), "", "## Public sets", "", PUBLIC_TEXT, ""]
    out += [paragraph(f"Each set was drawn {draws_of(lines)}. {not_run(lines, errors, list(DATASETS))}"), ""]
    out += table(
        ["set", *NAMES], [[str(name), *(number(value, 4) for value in row)] for name, row in errors.iterrows()]
    )
    out += compared(errors, PAIRS, "sets")
    errors = error_table(digits, DIGITS_NAMES)
    out += [
        "## Pairs of digits",
        "",
        paragraph(DIGITS_TEXT.format(few=DIGITS.few, weights=joined(f"{weight:g}" for weight in KL_WEIGHTS))),
        "",
    ]
    out += [paragraph(f"Each pair was drawn {draws_of(digits)}. {not_run(digits, errors, TASKS)}"), ""]
    out += compared(errors, DIGITS_PAIRS, "pairs")
    return "\n".join(out)
