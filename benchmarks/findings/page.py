"""The words of FINDINGS.md. No figure is typed here: each is asked for by name."""

# ruff: noqa: E501  # lines are filled when the page is written

from __future__ import annotations

import re
from collections.abc import Callable

import numpy as np

from benchmarks.findings.numbers import Numbers
from benchmarks.intervals import Interval, with_bounds
from benchmarks.modes.paper import paper_alphas
from benchmarks.privacy.few import PLANS
from benchmarks.privacy.page import OPEN
from benchmarks.selection.truth import SMOOTHING, STRONG, USELESS
from benchmarks.selection.truth_page import BARS
from benchmarks.text import NOTHING, joined, number, paragraph, signed, table
from benchmarks.unlabelled.cell import (
    CHOSEN_BY_AUC,
    DEPTH_TUNED,
    JPIB,
    KBPIB,
    KBPIB_LABELLED,
    MIXED,
    MIXED_ON_X,
    ON_X,
    PLAIN,
    SELECT,
    SPREADING,
)

BOOSTED_ON = ("privileged features in-sample", "privileged features (5 folds)", "all features (5 folds)")

INTRODUCTION = """\
# What the measurements show

For readers who have features in training that are missing at prediction, and ask whether to use them. Made by
`python -m benchmarks.findings` from the files of `results/`.

x are the features at prediction, z the privileged features, known in training only. *Plain XGBoost* is trained on x of
the labelled rows. A gain is a difference in AUC on test rows, above 0 for the better. Brackets hold the 95 % interval:
over data sets where the number is a mean over sets, otherwise over repeats that share training rows (Nadeau and Bengio
2003). Intervals are not adjusted for the number of comparisons.
"""


def auc(found: Interval) -> str:
    """A gain in AUC with its unit and interval."""
    return f"{signed(found.mean)} AUC (95 % CI {number(found.low)} to {number(found.high)})"


def counts(found: tuple[int, int, int]) -> str:
    """wins / ties / losses."""
    return " / ".join(map(str, found))


def few_labels(n: Numbers) -> str:
    columns = {
        "over the best rival": (MIXED, CHOSEN_BY_AUC),
        "on x, over the best rival": (MIXED_ON_X, CHOSEN_BY_AUC),
        "over the best rival in hindsight": (MIXED, "best"),
        "over plain XGBoost": (MIXED, PLAIN),
        "on x, over plain XGBoost": (MIXED_ON_X, PLAIN),
        "`select`": (SELECT, PLAIN),
        SPREADING: (SPREADING, PLAIN),
        DEPTH_TUNED: (DEPTH_TUNED, PLAIN),
    }
    rows = [
        [labels, str(len(places)), *(bounds(n.gain(labels, *column)) for column in columns.values())]
        for labels, places in n.places.items()
    ]
    own, on_x = ([gain(n, method, telling=telling) for telling in (True, False)] for method in (MIXED, MIXED_ON_X))
    rival, rival_on_x = (
        [gain(n, method, CHOSEN_BY_AUC, telling=telling) for telling in (True, False)] for method in (MIXED, MIXED_ON_X)
    )
    behind, behind_with_all = n.behind_rival()
    return f"""\
## Few labels and many rows: where teaching pays

Public sets, 50 labels or more, up to 2,000 training rows with x and z. The student of `teacher="mixed"` (boosting, a
forest and a linear model on x and z, cross-fitted, `kl_weight` 10). The *best rival* is chosen on each draw by
cross-validation on the labelled rows, by AUC. It is one of plain XGBoost, XGBoost with depth and rounds tuned, ridge
regression, a random forest, an explainable boosting machine, label spreading and imputed z ({n.draws(CHOSEN_BY_AUC)} draws of each set).
A choice on few labels often misses the best rival. *In hindsight*: the
rival of the best test AUC on each set, which favours the rival. The last
three columns are gains over plain XGBoost; "on x" is the mixed teacher without z. "all" means that every training row has its label.

{lines(table(["labels", "sets", *columns], rows))}
- With 50 labels the mixed teacher gains {auc(gain(n, MIXED, CHOSEN_BY_AUC))} over the best rival and
  {auc(gain(n, MIXED))} over plain XGBoost. Against the best rival in hindsight the gain is {auc(gain(n, MIXED, "best"))}.
- Much of it needs no z: the same teacher on x alone gains {auc(gain(n, MIXED_ON_X, CHOSEN_BY_AUC))} over the best rival and
  {auc(gain(n, MIXED_ON_X))} over plain XGBoost.
- Where z was expected to predict y better than x does ({own[0].folds} sets) 50 labels gain {auc(rival[0])} over the best rival,
  a teacher on x alone {auc(rival_on_x[0])}. Over plain XGBoost the gains are {auc(own[0])} and {auc(on_x[0])}.
- Where z is only a sensitive attribute ({own[1].folds} sets) they gain {auc(rival[1])} over the best rival, a teacher on x alone
  {auc(rival_on_x[1])}: z adds {auc(gain(n, MIXED, MIXED_ON_X, telling=False))}.
- The mean of the mixed teacher is below that of the best rival on {joined(behind) if behind else "no set with few labels"},
  and on {behind_with_all} of {len(n.places["all"])} sets with all labels.
- Best case, final grades with the earlier grades privileged, over plain XGBoost: {auc(n.one_set("student_por", 50, MIXED))}, a
  teacher on x alone {auc(n.one_set("student_por", 50, MIXED_ON_X))}, label spreading without z {auc(n.one_set("student_por", 50, SPREADING))}. With 200
  labels of 486 the gain is {auc(n.one_set("student_por", 200, MIXED))}.
- The paper's boosted teacher gains {auc(gain(n, KBPIB))} over plain XGBoost, {auc(gain(n, ON_X))} with x alone, and
  {auc(gain(n, KBPIB_LABELLED))} when its student sees the labelled rows only. On the sets with a useful z
  it gains {auc(gain(n, KBPIB, telling=True))}, on the labelled rows only {auc(gain(n, KBPIB_LABELLED, telling=True))}; label spreading
  gains {auc(gain(n, SPREADING, telling=True))} there.
- JPIB gains {auc(gain(n, JPIB, telling=True))} over plain XGBoost on the sets with a useful z and loses on the others,
  {auc(gain(n, JPIB, telling=False))}, and on bank, {auc(n.one_set("bank", 50, JPIB))}.

[All methods by number of labels](UNLABELLED.md).
"""


def gain(n: Numbers, method: str, less: str = PLAIN, *, telling: bool | None = None) -> Interval:
    """With 50 labels."""
    found = n.gain("50", method, less, telling=telling)
    if found is None:
        raise ValueError(f"no set has 50 labels and results of both {method} and {less}")
    return found


def bounds(found: Interval | None) -> str:
    return NOTHING if found is None or np.isnan(found.half) else with_bounds(found)


def lines(found: list[str]) -> str:
    return "\n".join(found)


def all_labels(n: Numbers) -> str:
    rows = [
        [
            name,
            signed(n.median_gain(method), 4),
            counts(n.tally("current", method)),
            counts(n.tally("current", method, "logloss")),
        ]
        for name, method in {
            "KbPIB, the paper's alpha": "KbPIB",
            "JPIB, the paper's alpha": "JPIB",
            "teacher on z, weight chosen": "KbPIB chosen",
            "teacher on x and z, weight chosen": "KbPIB all features",
            "control: teacher on x, weight chosen": "self-distillation",
        }.items()
    ]
    alphas, weights, search = paper_alphas().values(), n.by_weight, n.search
    made = joined(f"{signed(n.fixed('synthetic', f'mixed {weight}'))} at {weight}" for weight in (1, 10))
    first = search["valid_auc_rank"].eq(1).sum()
    heart = n.difference("paper", "heart", "KbPIB")
    losing = {name: counts(n.tally("paper", name)) for name in ("KbPIB", "JPIB")}
    in_sample, crossfitted, on_both = (n.candidates[f"boosted on {how} 1"] for how in BOOSTED_ON)
    return f"""\
## All labels known: no gain

The paper's {len(n.sets)} public sets, its ten folds, current XGBoost. Significant wins / ties / losses
over the sets, against plain XGBoost:

{lines(table(["method", "median gain in AUC", "AUC", "log loss"], rows))}
- With the authors' own settings wins, ties and losses in AUC are {losing["KbPIB"]} for KbPIB and {losing["JPIB"]} for JPIB. The largest gain on the
  three numeric sets, on heart, is {auc(heart)}.
- Boosted teachers that see z alone lose: always taken at `kl_weight` 1, they raise log loss by {number(-in_sample.mean())}
  (in-sample) and {number(-crossfitted.mean())} (cross-fitted) on average; the cross-fitted one is worse on {int((crossfitted < 0).sum())} of {len(crossfitted)} sets. A
  boosted teacher on x and z lowers it by {number(on_both.mean(), 4)}.
- The paper's alphas run from {min(alphas):g} to {max(alphas):g}; `select` tries `kl_weight` 1 and 10. Smaller weights gain
  less, and 10 can gain more than 1. On the six sets of [CURVES.md](CURVES.md) a boosted teacher on x and z lowers log loss by {joined(f"{signed(weights[weight], 4)} at {weight:g}" for weight in weights.index)}
  (means over sets and numbers of rows, below 0 for worse). The mixed teacher lowers it by {made} on made data,
  and with 50 labels and many rows by {number(n.lower_logloss(MIXED).mean)} at 10.
  In [the paper's own search](results/search/summary.csv) over {search["alphas"].max():.0f} alphas, the printed alpha ranks first on validation in
  {first} of {len(search)} searches; {int((search["share_above_plain"] < 1 / 2).sum())} of them have more than half of the alphas below plain XGBoost on test rows.
  Not searched: {joined(name for name in n.sets if name not in set(search["dataset"]))}.

[All methods and rivals on these sets](RESULTS.md), [fewer rows](CURVES.md).
"""


def choosing(n: Numbers) -> str:
    public, unseen, loss = n.choice("public")["logloss"], n.choice("unseen"), n.lower_logloss(SELECT)
    intervals = unseen["interval"]
    worse = [str(name) for name, interval in intervals.items() if interval.mean < 0]
    surely = [str(name) for name, interval in intervals.items() if interval.high < 0]
    below = n.losses_of_select()
    wrong = {truth: f"{n.wrong_verdicts(truth):.1%}" for truth in BARS}
    open_ = joined(f"{n.undecided(truth):.0%}" for truth in BARS)
    return f"""\
## What `select` gains and loses

- With 50 labels `select` gains {auc(gain(n, SELECT))} over plain XGBoost, and {auc(gain(n, SELECT, MIXED))} compared with
  the mixed teacher at `kl_weight` 10 without a choice: cross-validation on so few labels costs accuracy. It chooses by
  log loss, which it lowers by {number(loss.mean)} (95 % CI {number(loss.low)} to {number(loss.high)}) over plain XGBoost.
  Its mean AUC is below that of plain XGBoost on {joined(below) if below else "no set and number of labels"}.
- With all labels known it lowers log loss by {number(public.mean(), 4)} on the paper's sets and {number(unseen["logloss"].mean(), 4)} on
  {len(unseen)} small sets that had no part in its design; always taking the mixed teacher at `kl_weight` 1 would have
  given {number(n.fixed("public"), 4)} and {number(n.fixed("unseen"), 4)}. Of the small sets its mean is worse than plain XGBoost on
  {joined(worse)}, significantly on {joined(surely)}; with {int(unseen["cells"].min())} folds that is weak evidence.
- On made data of known truth `compare` says "student" for {wrong[USELESS]} of seeds where z is useless, "plain XGBoost" or "best
  rival" for {wrong[STRONG]} where z is strong and labels are few, and "student" or "best rival" for {wrong[SMOOTHING]} where
  smoothing alone helps. {open_} of the verdicts are "undecided": a few hundred rows mostly do not decide.

[Details](SELECTION.md).
"""


def fairness(n: Numbers) -> str:
    found = n.constraints
    is_mfc = found["peer"].str.startswith("MFC")
    tallies = [
        joined(f"{verdict} ({count})" for verdict, count in own["verdict"].value_counts().items())
        for own in (found[~is_mfc], found[is_mfc])
    ]
    gaps = n.group_gaps
    return f"""\
## Fairness, by the peer's own criterion

- `DemographicParity` and `EqualizedOdds` on distributions, at the gap that the peer reaches and in the criterion that it
  optimises, on {found["set"].nunique()} sets. Against Fairlearn's ExponentiatedGradient and FairGBM ({int((~is_mfc).sum())} comparisons): {tallies[0]}.
  Against MFC ({int(is_mfc.sum())}): {tallies[1]}. Ours is one deterministic booster; ExponentiatedGradient randomises decisions
  ([FRONTIER.md](FRONTIER.md)).
- Teaching alone is no fairness method: with the paper's alpha {gaps["wider"]} of {gaps["all"]} gaps between groups become significantly
  wider and {gaps["narrower"]} narrower. About {gaps["all"] / 40:.0f} of each would occur by chance.
"""


def privacy(n: Numbers) -> str:
    made = ("made", 100)
    gains = [f"{auc(n.private_few.gain(made, next(iter(PLANS)), e))} at epsilon {e:g}" for e in (0.3, 1.0, 3.0)]
    attacks = n.attacks[n.attacks["attack"] == "values"]
    students = attacks[attacks["teacher"].isin(["KbPIB, in-sample", "KbPIB, cross-fitted", "JPIB"])]["accuracy"]
    private = attacks[(attacks["teacher"] == "histogram") & (attacks["sees"] == "the student")]["accuracy"]
    public = [
        f"{name} {auc(n.private.gain((name, 'few'), OPEN))} without privacy, "
        f"{auc(n.private.gain((name, 'few'), 'histogram', 1.0))} at epsilon 1"
        for name in ("adult", "bank", "compas")
    ]
    return f"""\
## Privacy of z

- In a worst-case attack, rows that x identifies, the students of KbPIB and JPIB revealed z in {students.min():.0%} of
  guesses. Students of the private histogram teacher revealed it in {private.min():.0%} to {private.max():.0%}; chance is one half.
- Made data, 100 labels of 4,000 rows: {auc(n.private_few.gain(made, OPEN))} without privacy, {joined(gains)}.
- Public sets, 100 labels of 4,000 rows, half of epsilon for the model: {"; ".join(public)}. No gain on a public set is significant, with or without privacy.

[Details](PRIVACY.md).
"""


def cost(n: Numbers) -> str:
    ratios = n.scale.div(n.scale["plain", ""], axis=0)
    spans = [
        f"{method} {number(own.min(), 1)} to {number(own.max(), 1)} times"
        for method in ("KbPIB", "JPIB")
        for own in [ratios[method].loc[100_000:].to_numpy()]
    ]
    return f"""\
## Cost against one plain training

From 100,000 to {ratios.index.max():,} rows, 30 columns on each side, one in-sample teacher included: {joined(spans)} the time of
one plain training. `crossfit=5` trains five teachers, each on four fifths of the rows, instead of one. Prediction costs
what plain XGBoost costs ([SCALE.md](SCALE.md), [OVERHEAD.md](OVERHEAD.md)).
"""


def breach(n: Numbers) -> str:
    def mean(setting: str) -> str:
        row = n.breach.loc[(setting, KBPIB)]
        return f"{row['mean']:.2f} (truth {row['truth']:.2f})"

    return f"""\
## If the missing labels are not missing by x and z alone

Everything above about few labels assumes that. Made data, mean predicted chance of a bad outcome: {mean("by z")} where the
assumption holds, {mean("bad ones early")} where bad outcomes are reported early, {mean("not yet taken for no")} where "not yet" is recorded
as "no". Plain XGBoost is wrong by as much. Data cannot show the breach; AUC hardly changes
([UNLABELLED.md](UNLABELLED.md#what-a-breach-of-the-assumption-costs)).

## Limits

The sets are public tables whose z was not collected for this purpose: reports of gains with a laboratory value or an
image as z are not refuted. Two studies agree with ours: full labels, no robust gain (Provodin et al., "Rethinking
Knowledge Transfer in Learning Using Privileged Information", 2024); few labels, gains that fall again where z predicts
too well (Yang et al., "Toward Understanding Privileged Features Distillation in Learning-to-Rank", NeurIPS 2022).
"""


SECTIONS: tuple[Callable[[Numbers], str], ...] = (few_labels, all_labels, choosing, fairness, privacy, cost, breach)


def text_of(numbers: Numbers) -> str:
    """The page."""
    return filled("\n".join([INTRODUCTION, *(section(numbers) for section in SECTIONS)])).rstrip() + "\n"


def filled(text: str) -> str:
    """Paragraphs and items in lines of one width; tables and headings as they are."""
    out = []
    for block in text.split("\n\n"):
        for item in re.split(r"\n(?=- |\d+\. )", block.strip("\n")):
            if item.startswith(("|", "#")):
                out.append(item)
                continue
            mark = re.match(r"- |\d+\. ", item)
            out.append(paragraph(item, " " * len(mark.group()) if mark else ""))
        out.append("")
    return "\n".join(out)
