"""The section on what compare recommends on data whose best model is known."""

from __future__ import annotations

from typing import NamedTuple

import pandas as pd

from benchmarks.selection.truth import LABELS, ROWS, SMOOTHING, STRONG, UNLABELLED, USELESS
from benchmarks.text import paragraph, table

RECOMMENDATIONS = ("student", "self-distillation", "best rival", "plain XGBoost", "undecided")


class Bar(NamedTuple):
    """Recommendations that would be wrong, and the largest share of them."""

    wrong: tuple[str, ...]
    most: float = 0.05


BARS = {
    USELESS: Bar(("student",)),
    STRONG: Bar(("plain XGBoost", "best rival")),
    SMOOTHING: Bar(("student", "best rival")),
}
ABOUT = f"""\
## Is the verdict of compare right?

`compare` on made data whose best model is known. x are waves or classes of unequal spread:

- {USELESS}: {ROWS} labelled rows, z is noise.
- {STRONG}: {LABELS[STRONG]} labelled and {UNLABELLED[STRONG]} unlabelled rows; z shows the chance of y, x shows it by
  waves that few labels hardly show.
- {SMOOTHING}: {LABELS[SMOOTHING]} labelled and {UNLABELLED[SMOOTHING]} unlabelled rows; z is noise, and a naive Bayes
  teacher on x alone improves the student.

To compare so often, settings are quick: depth 3, eta 0.3, 12 rounds (25 in the last), `repeats=1`, `inner_nfold=2`,
`kl_weight=10`, `crossfit=2`, and a boosted teacher on all features in the first two. Everything else is default. The
rule was settled on other seeds. The last column is the share of verdicts that name a wrong model; at most 5 % was the
goal.
"""


def truth_section(lines: pd.DataFrame) -> list[str]:
    """The share of each recommendation, the wrong ones, and the mean gains."""
    rows, gains = [], []
    missed = []
    for truth, bar in BARS.items():
        own = lines[lines["truth"] == truth]
        shares = own["recommendation"].value_counts(normalize=True).reindex(RECOMMENDATIONS, fill_value=0.0)
        wrong = float(shares[list(bar.wrong)].sum())
        rows.append([truth, str(len(own)), *(f"{share:.1%}" for share in shares), f"{wrong:.1%}"])
        missed += [truth] * (wrong > bar.most)
        mean = own[[name for name in own if name.startswith("gain_")]].mean()
        gains.append([truth, *(f"{gain:+.3f}" for gain in mean)])
    models = [name.removeprefix("gain_") for name in lines if name.startswith("gain_")]
    goal = f"The goal is missed where {' and '.join(missed)}." if missed else "The goal is met in all three."
    words = f"{goal} Mean gains in log loss over plain XGBoost:"
    shares_table = table(["data", "seeds", *RECOMMENDATIONS, "wrong"], rows)
    return [ABOUT, *shares_table, paragraph(words), "", *table(["data", *models], gains)]
