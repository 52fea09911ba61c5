"""The words of FINDINGS.md. No figure is typed here: each is asked for by name."""

# ruff: noqa: E501  # lines are filled when the page is written

from __future__ import annotations

import re
from collections.abc import Callable

from benchmarks.findings.numbers import Numbers, around, plus, short
from benchmarks.intervals import verdict
from benchmarks.report.rest import missing_seconds
from benchmarks.text import joined, paragraph, signed, table

Z_SAYS_MORE = ("student_por", "spam", "student_mat", "heart", "bank")
Z_SAYS_LITTLE = ("adult", "compas_violent", "oulad", "diabetes")
WITHOUT_Z, LABELLED_ONLY, TUNED = "teacher on x", "KbPIB labelled only", "depth tuned"


def in_ten_lines(n: Numbers) -> str:
    mean = n.mean_of_labels
    public, unseen = n.choice("public")["logloss"], n.choice("unseen")["logloss"]
    smoothing = n.choice("control")["auc"].loc[("strong", 200)]
    strong = n.choice("synthetic")["auc"].loc[("strong", 200)]
    heart = n.difference("paper", "heart", "KbPIB")
    return f"""\
## Where privileged features pay, and where not

1. **They pay where labels are few and rows are many**, and z says more than x. With 50 labels the mean gain over five
   such sets is {plus(mean(Z_SAYS_MORE, 50, "KbPIB"))} AUC, {plus(mean(Z_SAYS_MORE, 50, WITHOUT_Z))} of it without z.
2. The best case: final grades with the earlier ones privileged, {around(n.labels("student_por", 50, "KbPIB"))}.
3. With 100 labels the mean is {plus(mean(Z_SAYS_MORE, 100, "KbPIB"))}, with 800 {plus(mean(Z_SAYS_MORE, 800, "KbPIB"))}.
4. **With all labels known they pay next to nothing** on the paper's fifteen sets. The paper's alpha wins significantly
   on {n.tally("KbPIB")[0]} (KbPIB) and {n.tally("JPIB")[0]} (JPIB), and loses on {n.tally("KbPIB")[2]} and {n.tally("JPIB")[2]}.
5. The largest gain in the paper's three numeric sets, heart's, is {around(heart)}.
6. **Few rows alone are not enough**: on made data with noisy labels and a z that knows, the choice gains
   {plus(strong)} AUC at 200 rows, and {plus(smoothing)} with a teacher that sees x alone. That part is smoothing.
7. Where z says little (age, race or sex), 50 labels gain {plus(mean(Z_SAYS_LITTLE, 50, "KbPIB"))}, and
   {plus(mean(Z_SAYS_LITTLE, 50, WITHOUT_Z))} without z.
8. **To choose costs nothing but time**: `select` is significantly worse nowhere, its mean gain in log loss is
   {plus(public.mean(), 4)} on the paper's sets and {plus(unseen.mean(), 4)} on {len(unseen)} small sets that it was not made on.
9. A teacher should see x as well as z: if nobody chooses, that one gains {plus(n.fixed["kbpib all features 1"], 4)} log loss on the paper's sets
   at `kl_weight` 1 and {plus(n.fixed["kbpib all features 10"], 4)} at 10, those that see z alone {plus(n.fixed["kbpib in-sample 1"], 4)} and {plus(n.fixed["kbpib in-sample 10"], 4)} (in-sample),
   {plus(n.fixed["kbpib cross-fitted 1"], 4)} and {plus(n.fixed["kbpib cross-fitted 10"], 4)} (`crossfit=5`, which keeps it from repeating the labels).
10. Others found the same: with full labels no robust transfer (Provodin et al., "Rethinking Knowledge Transfer in
    Learning Using Privileged Information", 2024); with sparse labels gains, which fall again where the privileged
    feature predicts too well (Yang et al., "Toward Understanding Privileged Features Distillation in Learning-to-Rank",
    NeurIPS 2022).
"""


def papers_numbers(n: Numbers) -> str:
    heart = n.difference("paper", "heart", "KbPIB")
    rows = []
    for (dataset, method), row in n.search.iterrows():
        liked, best = row.test_at_highest_valid - row.plain_test, row.test_highest - row.plain_test
        rank = f"{row.valid_auc_rank:.0f} of {row.alphas:.0f}"
        rows.append([f"{dataset}, {method}", plus(liked, 4), plus(best, 4), short(row.share_above_plain, 2), rank])
    header = ["set, method", "test AUC at the alpha that validation likes best, less NF"]
    header += ["best test AUC of all alphas, less NF", "share of alphas above NF", "rank of the paper's alpha"]
    return f"""\
## The paper's numbers, and where they come from

With the authors' settings our KbPIB and JPIB give the paper's AUC, precision and recall on heart, car and spam to all
printed digits ([RESULTS.md](RESULTS.md)); so does plain boosting on communities. The gain on heart
({n.auc("paper", "heart", "NF")} to {n.auc("paper", "heart", "KbPIB")}) is the largest of the three, and rests on ten folds of some thirty
rows: {around(heart)}.

The paper's own search again, all its values of alpha on ten folds ([summary](results/search/summary.csv); a picture per
set beside it, [heart](results/search/heart.png) for one). The ranks are by mean validation AUC: on heart, car and spam
the printed alpha is the best of all.

{chr(10).join(table(header, rows))}
On heart the best of all alphas is ahead of plain boosting by {plus(_ahead(n, "heart", "KbPIB"), 4)} (KbPIB) and
{plus(_ahead(n, "heart", "JPIB"), 4)} (JPIB) on the very rows that chose it. On student_mat nearly every alpha is worse
than plain boosting on the test rows.
"""


def _ahead(n: Numbers, dataset: str, method: str) -> float:
    row = n.search.loc[(dataset, method)]
    return float(row.valid_auc_at_paper - row.plain_valid)


def categories(n: Numbers) -> str:
    old, new = (n.explosion.loc[("adult", version)] for version in ("1.6.2", _other_version(n)))
    last = old.index.max()
    names = ["adult", "bank", "communities", "compas", "dutch", "student_mat"]
    rows = [[name, *(n.auc("paper", name, method) for method in ("NF", "KbPIB", "JPIB"))] for name in names]
    return f"""\
## The twelve sets with categories

Adult, diabetes, dutch, bank, credit, both compas sets, communities, both student sets, oulad and kdd have categorical
columns. The paper trained them with XGBoost 1.6.2, whose `approx` method is broken for splits on categories: margins
explode. See it with `python -m benchmarks.explosion`, which installs that version in an environment of its own. On the
first fold of adult its largest margin is {old.largest_margin.loc[1]:.0f} after one round, that of today's XGBoost
{new.largest_margin.loc[1]:.1f}; its test AUC falls from {short(old.auc.loc[1])} to {short(old.auc.loc[last])} in {last} rounds, where today's rises from
{short(new.auc.loc[1])} to {short(new.auc.loc[last])}. Where z alone has categories, as in communities, plain boosting is not touched; on diabetes and
student_mat the printed NF is nearly that of today.

The printed differences between methods on the others are differences between broken boosters. With a working XGBoost
and the paper's settings and alpha:

{chr(10).join(table(["", "plain", "KbPIB", "JPIB"], rows))}"""


def _other_version(n: Numbers) -> str:
    versions = n.explosion.index.get_level_values("version").unique()
    return next(str(version) for version in versions if version != "1.6.2")


def sane_settings(n: Numbers) -> str:
    teachers = {
        "on the privileged features, in-sample (KbPIB)": "KbPIB chosen",
        "the same, cross-fitted": "KbPIB cross-fitted",
        "on all features, cross-fitted": "KbPIB all features",
        "boosted in alternation (JPIB)": "JPIB chosen",
        "control: on the classifier features, cross-fitted": "self-distillation",
        'control: the answers of "all features", shuffled': "shuffled q",
    }
    rows = [
        [words, signed(n.median_gain(method), 4), " / ".join(map(str, n.tally(method)))]
        for words, method in teachers.items()
    ]
    won = [name for name in n.sets if verdict(n.difference("current", name, "KbPIB all features")) == "win"]
    wins = [
        f"{name}, {around(n.difference('current', name, 'KbPIB all features'), 4)}, where the control without any "
        f"privileged feature gains {plus(n.difference('current', name, 'self-distillation').mean, 4)}"
        for name in won
    ]
    return f"""\
## With sane settings

Zeros that are zeros, an intercept, a lower learning rate and early stopping raise plain boosting itself by more than
any teacher does: on heart from {n.auc("paper", "heart", "NF")} to {n.auc("current", "heart", "NF")}. On top of that the paper's alphas give nothing: wins,
ties and losses over fifteen sets are {" / ".join(map(str, n.tally("KbPIB")))} for KbPIB (losses on {joined(n.sets_lost("KbPIB"))}) and
{" / ".join(map(str, n.tally("JPIB")))} for JPIB ({joined(n.sets_lost("JPIB"))}). Where a loss is large, the teacher is weak: on dutch and adult the
privileged features are sex, or age, race and sex, and a teacher that knows only those pulls good predictions towards
poor ones.

With `kl_weight` chosen on the validation rows (AUC less that of NF, median over fifteen sets{_of_kdd(n)}):

{chr(10).join(table(["teacher", "median", "wins / ties / losses"], rows))}
The wins of the third line: {joined(wins)}. That is smoothing. Choosing on the AUC of a few validation rows has a price
of its own: {plus(n.difference("current", "communities", "KbPIB chosen").mean)} on communities, whose folds have few positive rows.

The privileged features are not poor. On heart they alone reach {n.auc("current", "heart", "PF")}, on spam {n.auc("current", "spam", "PF")}, more than the
classifier features. But what a student learns from a teacher must be said in the student's features, and there the
labels say it already.
"""


def _of_kdd(n: Numbers) -> str:
    count = n.runs.unfinished("current").get(("kdd", "KbPIB chosen"))
    return f", of kdd {count} folds" if count else ""


def peers(n: Numbers) -> str:
    rows, ahead = [], []
    for name in n.sets:
        (our, ours), (peer, theirs) = n.ours(name), n.best_peer(name)
        if theirs > ours:
            ahead.append(name)
            apart = n.difference("current", name, peer, our)
            plain = n.runs.mean("current", name, "NF", "auc")
            rows.append([name, our, short(ours, 4), peer, short(theirs, 4), around(apart, 4), short(plain, 4)])
    header = ["set", "best of ours", "AUC", "best peer", "AUC", "difference", "NF"]
    front = [
        name
        for name in n.sets
        if name not in ahead and verdict(n.difference("current", name, n.ours(name)[0], n.best_peer(name)[0])) == "win"
    ]
    car = n.difference("current", "car", "EBM")
    plain = [name for name in n.sets if n.runs.mean("current", name, "NF", "auc") > n.best_peer(name)[1]]
    return f"""\
## The paper's questions

Section 6 of [RESULTS.md](RESULTS.md#6-the-papers-questions) answers them from the folds: JPIB against KbPIB head to head,
whether teaching by privileged features makes models fairer (it does not), and the correlations that the paper prints.

## Against the peers

On every set, all that can run: SVM, SVM+, L2-SVM+, GPC, GPC+, MFC, Fairlearn, FairGBM, EBM and DP-EBM, on the same
folds. The best of ours is in front on {len(n.sets) - len(ahead)} of {len(n.sets)} sets, significantly on {joined(front)}; the best of several
on the same test rows is a little too good, on both sides. Plain XGBoost is in front of the same peers on {len(plain)} sets:
{_whose_lead(n, plain, ahead)} Where a peer is in front:

{chr(10).join(table(header, rows))}
On car EBM is ahead of plain boosting too, by {around(car, 4)}. All these peers are stiffer than trees of depth 4.
{depths(n)}
Where a peer is far behind, it is not a fault of its code either. SVM+ and L2-SVM+ give a row not a slack of its own but
a function of its privileged features; where these have few values, no such function can tell which of two equal rows to
give up (`pytest tests/benchmarks/test_peers.py -k svm_plus` shows it on made rows). MFC at covariance 0 has nothing left
to predict with where everything that predicts differs between the groups (compas: {n.auc("current", "compas", "MFC c=0")}). DP-EBM's noise
is made for more rows.
"""


def _whose_lead(n: Numbers, plain: list[str], ahead: list[str]) -> str:
    added = [name for name in n.sets if name not in ahead and name not in plain]
    if not added:
        return "the lead is that of boosting, not of a teacher."
    return f"a teacher adds {joined(added)}."


def depths(n: Numbers) -> str:
    lines = n.depth
    rows = []
    for name in lines["set"].unique():
        own = lines[lines["set"] == name]
        means = own.groupby("depth")["test"].mean()
        cells = [short(means[depth], 4) for depth in (4, 1)]
        rows.append([str(name), *cells, around(n.chosen_depth(str(name)), 4), short(n.best_peer(str(name))[1], 4)])
    header = ["set", "NF, depth 4", "NF, depth 1", "depth chosen on validation, gain over depth 4", "best peer"]
    return f"""\
Part of their lead is that: plain boosting of single splits, additive as an EBM is (`python -m benchmarks.depth`). The
depth that the validation rows of each fold like best is an honest choice; depth 1 looked up on test rows is not.

{chr(10).join(table(header, rows))}"""


def when(n: Numbers) -> str:
    places = [(name, rows) for name in ("car", "compas_violent", "adult", "dutch") for rows in (100,)]
    costs = [f"{plus(n.curve(name, rows, 'KbPIB').mean)} on {name}" for name, rows in places]
    spam = [
        (rows, n.curve("spam", rows, "KbPIB all features", "self-distillation").mean) for rows in (100, 200, 500, 1000)
    ]
    left = [f"{plus(gain)} at {rows}" for rows, gain in spam]
    return f"""\
## When it helps

- **Few labels, many rows.** See below.
- **Noisy labels and a teacher that knows more than x.** If z only repeats what x says, the best it can do is smooth.
- **A teacher that is not a copy of the labels.** In-sample teachers that train for long repeat the labels; the library
  warns of it. Cross-fit them (`crossfit=5`), or stop them early on validation rows.
- **A choice by cross-validation, on log loss**, with plain XGBoost among the candidates ([SELECTION.md](SELECTION.md)).

**Learning curves** ([CURVES.md](CURVES.md)), for the six sets whose privileged features say something: few rows alone
do not make privileged features pay. The paper's own teacher, on these features alone, gains {joined(costs)} at 100
rows. The safest sees all features, cross-fitted. What it has over the control without privileged features, smoothing, is
on spam {joined(left)} rows.
"""


def few_labels(n: Numbers) -> str:
    def gains(*, sure: bool) -> str:
        found = {name: n.labels(name, 50, "KbPIB") for name in Z_SAYS_MORE}
        return joined(f"{around(gain)} on {name}" for name, gain in found.items() if (verdict(gain) == "win") is sure)

    def truth(setting: str) -> tuple[str, str]:
        row = n.breach.loc[(setting, "KbPIB")]
        return short(row["mean"], 2), short(row["truth"], 2)

    early, no = truth("bad ones early"), truth("not yet taken for no")
    mean = n.mean_of_labels
    return f"""\
## Few labels and many rows

Outcomes come late, z is there for up to 2,000 rows, 50 labels or more ([UNLABELLED.md](UNLABELLED.md); gains in AUC
over plain XGBoost on the labelled rows).

- **It pays with up to a few hundred labels, where z says more than x.** With 50 labels significantly so, {gains(sure=True)};
  {gains(sure=False)} are means whose intervals contain 0.
- **It takes both, the unlabelled rows and z.** With 50 labels the same teacher on labelled rows alone gains
  {plus(mean(Z_SAYS_MORE, 50, LABELLED_ONLY))}, a teacher on x with the unlabelled rows {plus(mean(Z_SAYS_MORE, 50, WITHOUT_Z))}.
- **A teacher of several kinds adds more**, boosting with a forest and a linear model: with 50 labels
  {plus(mean(Z_SAYS_MORE, 50, "mixed"))} instead of {plus(mean(Z_SAYS_MORE, 50, "KbPIB"))}, with 100 {plus(mean(Z_SAYS_MORE, 100, "mixed"))} instead of {plus(mean(Z_SAYS_MORE, 100, "KbPIB"))}. Without z it gains {plus(mean(Z_SAYS_MORE, 50, "mixed on x"))} with 50.
- **It does not pay when most labels are known**: with all of them `kl_weight` 10 gains
  {plus(n.labels("spam", 2000, "KbPIB").mean)} on spam.
- **Rivals**: self-training gains {plus(mean(Z_SAYS_MORE, 50, "self-training k best"))}, z regressed on x {plus(mean(Z_SAYS_MORE, 50, "z imputed"))}, label spreading
  {plus(mean(Z_SAYS_MORE, 50, "label spreading"))}, tuned depth {plus(mean(Z_SAYS_MORE, 50, TUNED))}, and with the unlabelled rows {plus(mean(Z_SAYS_MORE, 50, "KbPIB depth tuned"))}.
- **The assumption** is that x and z alone decide which labels are missing. On made data where bad outcomes come early
  and count as labels the mean prediction is {early[0]}, the truth {early[1]}; with "not yet" taken for "no" {no[0]}.
"""


def choosing(n: Numbers) -> str:
    public, unlabelled = n.choice("public"), n.choice("unlabelled")
    worst = public["logloss"].idxmin()
    low = [str(name) for name, interval in public["interval"].items() if interval.low < -0.01]
    evidence = n.compared.groupby("data", sort=False)["evidence"].agg(["sum", "size"])
    found = [f"{row['sum']} of {row['size']}" for _, row in evidence.iterrows()]
    return f"""\
## What it costs to find out

`pi_xgb.select` needs seconds on a thousand rows. On the paper's sets its mean gains in log loss run from
{plus(public["logloss"].min(), 4)} ({worst}) to {plus(public["logloss"].max(), 4)} ({public["logloss"].idxmax()}); it keeps plain XGBoost in {public["plain"].mean():.0%} of the folds. That it is
significantly worse nowhere is not proof that it never is: the intervals of {joined(low) if low else "no set"} reach below a
hundredth. Where few rows have a label it gains {plus(unlabelled["logloss"].mean(), 3)} log loss on average.

`pi_xgb.compare` needs minutes and says one sentence. On data where the gain is real it found evidence for {found[0]}
seeds, on shuffled privileged rows for {found[1]}. On a few hundred rows it mostly cannot tell, and neither can anybody else.

## What these numbers cannot tell

- {lacking(n)}GPs train on 300 rows, SVM+ on 1,000, SVM on 5,000: their code, or ours, ends there in reasonable time.
- One setting of XGBoost for all sets (depth 4), which is not the best for each.
- No privileged feature of these sets was collected for this purpose. The gains that others report with a lab value or
  an image are not refuted by fifteen public tables.
"""


def lacking(n: Numbers) -> str:
    """Which methods have fewer than ten folds, where, and what the rest would take."""
    elsewhere = {method: [name for name in sets if name != "kdd"] for method, sets in n.lacking.items()}
    said = [f"{method} ({_some(sets)})" for method, sets in elsewhere.items() if sets]
    on_kdd = [method for method, sets in n.lacking.items() if "kdd" in sets]
    said += [f"{joined(on_kdd) if len(on_kdd) < 6 else f'{len(on_kdd)} of the methods'} on kdd"] if on_kdd else []
    if not said:
        return ""
    hours = sum(missing_seconds(n.runs).values()) / 3600
    return (
        f"Fewer than ten folds ran of {joined(said)}; RESULTS.md says in brackets how many are behind a number, and in "
        f"its section 4 what each missing fold would take, {hours:.1f} hours of one core in all. "
    )


def _some(names: list[str]) -> str:
    return joined(names) if len(names) < 6 else f"{len(names)} sets"


SECTIONS: tuple[Callable[[Numbers], str], ...] = (
    *(in_ten_lines, papers_numbers, categories, sane_settings, peers, when, few_labels, choosing),
)
INTRODUCTION = """\
# What holds up

For somebody who has features at training time that will not be there at prediction, and wonders whether to use them.
Made by `python -m benchmarks.findings` from the files of `results/`; the tables behind it are in
[RESULTS.md](RESULTS.md) (the paper's sets), [CURVES.md](CURVES.md) (few rows to many), [UNLABELLED.md](UNLABELLED.md)
(few labels, many rows), [SELECTION.md](SELECTION.md) (choosing) and [FRONTIER.md](FRONTIER.md) (fairness). After +- is
half the width of a corrected 95 % interval.
"""


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
