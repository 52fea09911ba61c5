"""Each constraint between groups: gaps on training rows and on held-out rows, by step and rounds, beside its peers."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

import pi_xgb
from benchmarks.frontier.cells import PLAIN, Part, Split, matrix, peer_scores, public_split
from benchmarks.frontier.membership import SoftOdds
from benchmarks.text import joined, number, paragraph, signed, table
from pi_xgb.constraints import (
    DemographicParity,
    EqualizedOdds,
    FalsePositiveRateParity,
    PredictiveParity,
    TruePositiveRateParity,
)

CLOSE = 0.005
"""Accuracies that differ by less are as good as equal."""
KL_WEIGHTS, ROUNDS = (3.0, 10.0, 30.0, 100.0), (25, 50, 100, 200)
MADE_ROWS, MADE_GAP = 12_000, 1.5


class Kind(NamedTuple):
    """A constraint, the rates that it compares, the steps to measure, and the names that the peers have for it."""

    ours: Callable[..., Any]
    rates: tuple[str, ...]
    steps: tuple[str, ...]
    fairlearn: str = ""
    fairgbm: str = ""


BOTH = ("damped", "full")
KINDS = {
    "DemographicParity": Kind(DemographicParity, ("selection",), BOTH, "DemographicParity"),
    "TruePositiveRateParity": Kind(TruePositiveRateParity, ("true positive",), BOTH, "TruePositiveRateParity", "FNR"),
    "FalsePositiveRateParity": Kind(
        FalsePositiveRateParity, ("false positive",), BOTH, "FalsePositiveRateParity", "FPR"
    ),
    "EqualizedOdds": Kind(
        EqualizedOdds,
        ("false positive", "true positive"),
        ("damped", "adaptive", "full"),
        "EqualizedOdds",
        "FPR,FNR",
    ),
    "PredictiveParity": Kind(PredictiveParity, ("precision",), ("adaptive", "full")),
}
STEPS = ("damped", "adaptive", "full")
# What else was tried for equalized odds.
TRIES: dict[str, Callable[..., Any]] = {
    "damped, means": partial(EqualizedOdds, match="mean"),
    "full, means": partial(EqualizedOdds, match="mean", hessian="full"),
    "damped, decisions": partial(EqualizedOdds, soft=False),
    "damped, membership out of fold": SoftOdds,
    "full, membership out of fold": partial(SoftOdds, hessian="full"),
}
PLAIN_NAME = "plain XGBoost"
PEERS = ("ExponentiatedGradient", "FairGBM")
CELLS = [(group, label) for group in (0, 1) for label in (0, 1)]


def counted(chance: np.ndarray, part: Part, name: str, *, randomised: bool = False) -> dict[str, float]:
    """Rows and selected rows of each group and label; expected ones where decisions are drawn."""
    decision = chance if randomised else (chance > 0.5).astype(float)
    found = {}
    for group, label in CELLS:
        rows = (part.group == group) & (part.y == label)
        found |= {f"{name}_rows_{group}{label}": rows.sum(), f"{name}_selected_{group}{label}": decision[rows].sum()}
    return found


def measured_rates(
    name: str,
    fold: int,
    split: Split,
    weights: Sequence[float] = KL_WEIGHTS,
    rounds: Sequence[int] = ROUNDS,
    constraints: Sequence[str] = ("", *KINDS),
) -> pd.DataFrame:
    """Every constraint with every step and weight after each number of rounds, and what else was tried."""
    dtrain = matrix(split.train, split.types)
    lines = []
    for constraint, method, make in trained_methods(split, constraints):
        for a in weights if make else (0.0,):
            teacher = {"teacher": make(), "kl_weight": a} if make else {}
            booster = pi_xgb.train(PLAIN, dtrain, max(rounds), **teacher)
            for n in rounds:
                named = {"dataset": name, "fold": fold, "constraint": constraint, "method": method, "kl_weight": a}
                lines.append({**named, "rounds": n, **counted_parts(booster, split, n)})
    return pd.DataFrame(lines)


def counted_parts(booster: Any, split: Split, rounds: int) -> dict[str, float]:
    """The counts of the training rows and of the held-out rows after so many rounds."""
    found: dict[str, float] = {}
    for where, part in (("train", split.train), ("test", split.test)):
        scores = booster.predict(matrix(part, split.types), iteration_range=(0, rounds))
        found |= counted(scores, part, where)
    return found


def trained_methods(split: Split, constraints: Sequence[str]) -> Iterator[tuple[str, str, Callable[[], Any] | None]]:
    """The methods of these constraints; plain XGBoost has the name ""."""
    group = split.train.group
    for constraint in constraints:
        if not constraint:
            yield "", PLAIN_NAME, None
            continue
        for step in KINDS[constraint].steps:
            yield constraint, step, partial(KINDS[constraint].ours, group, hessian=step)
    if "EqualizedOdds" in constraints:
        member = SoftOdds.membership(split.train)
        for name, make in TRIES.items():
            further = {"member": member} if "membership" in name else {}
            yield "EqualizedOdds", name, partial(make, group, **further)


def measured_peers(name: str, fold: int, split: Split, constraints: Sequence[str] = tuple(KINDS)) -> pd.DataFrame:
    """Fairlearn's reduction and FairGBM under constraints that they know; a peer that is not installed has no line."""
    from benchmarks.peers.installed import FairGBM, FairlearnExponentiatedGradient

    lines = []
    for constraint in filter(None, constraints):
        kind, makes = KINDS[constraint], {}
        if kind.fairlearn:
            reduction = partial(FairlearnExponentiatedGradient, constraint=kind.fairlearn, max_iter=20)
            makes["ExponentiatedGradient"] = reduction
        if kind.fairgbm:
            makes["FairGBM"] = partial(FairGBM, constraint_type=kind.fairgbm)
        for method, make in makes.items():
            peer = make()
            try:
                scores = peer_scores(split, peer)
            except ImportError:
                continue
            taught = np.asarray(peer.predict_proba(split.train.x))[:, 1]
            named = {"dataset": name, "fold": fold, "constraint": constraint, "method": method, "kl_weight": np.nan}
            found = counted(taught, split.train, "train", randomised=peer.randomised)
            found |= counted(scores, split.test, "test", randomised=peer.randomised)
            lines.append({**named, "rounds": 100, **found})
    return pd.DataFrame(lines)


def made_halves() -> list[Split]:
    """Made data whose groups differ in their features."""
    data = pi_xgb.datasets.make_privileged(MADE_ROWS, group_gap=MADE_GAP, seed=0)
    rows = Part(data.x.to_numpy(), data.y.to_numpy(), data.group.to_numpy())
    return halves(rows, ["q"] * data.x.shape[1])


def adult_halves() -> list[Split]:
    fold = public_split("adult", 0)
    parts = (fold.train, fold.valid, fold.test)
    return halves(Part(*(np.concatenate(values) for values in zip(*parts, strict=True))), fold.types)


def halves(rows: Part, types: list[str]) -> list[Split]:
    """Either half trains, and the other is held out, so that each row is held out once."""
    order = np.random.default_rng(0).permutation(len(rows.y))
    split = [Part(*(values[part] for values in rows)) for part in np.array_split(order, 2)]
    # The peer that needs rows for a choice gets a fifth of those that train.
    few = [Part(*(values[: len(values) // 5] for values in half)) for half in split]
    return [Split(split[i], few[i], split[1 - i], types) for i in (0, 1)]


class Point(NamedTuple):
    """A method over all folds: its held-out rows together, and the mean gap of its training rows."""

    method: str
    kl_weight: float
    rounds: int
    accuracy: float
    train_gap: float
    gap: float
    half: float
    """Half the 95 % interval of the differences in the gap."""


def points(found: pd.DataFrame, rates: Sequence[str]) -> list[Point]:
    """A point for each method, weight and number of rounds."""
    by = ["method", "kl_weight", "rounds"]
    return [
        Point(str(method), float(a), int(rounds), *_measured(lines, rates))
        for (method, a, rounds), lines in found.groupby(by, sort=False, dropna=False)
    ]


def _measured(lines: pd.DataFrame, rates: Sequence[str]) -> tuple[float, float, float, float]:
    counts = lines.filter(regex="^test_").sum()
    rows = sum(counts[f"test_rows_{g}{v}"] for g, v in CELLS)
    right = sum(
        counts[f"test_selected_{g}1"] + counts[f"test_rows_{g}0"] - counts[f"test_selected_{g}0"] for g in (0, 1)
    )
    gap, half = _gap(counts, rates, "test")
    train_gap = float(np.mean([_gap(line, rates, "train")[0] for _, line in lines.iterrows()]))
    return right / rows, train_gap, gap, half


def _gap(counts: Any, rates: Sequence[str], name: str) -> tuple[float, float]:
    """The sum over rates of the difference between the groups, and half its interval; NaN where a rate is undefined."""
    gap = variance = 0.0
    for rate in rates:
        parts = np.array([_parts(counts, rate, name, g) for g in (0, 1)], float)
        shares = np.divide(parts[:, 0], parts[:, 1], out=np.full(2, np.nan), where=parts[:, 1] > 0)
        gap += abs(shares[0] - shares[1])
        variance += float((shares * (1 - shares) / parts[:, 1]).sum()) if gap == gap else np.nan
    return float(gap), 1.96 * float(np.sqrt(variance))


def _parts(counts: Any, rate: str, name: str, group: int) -> tuple[float, float]:
    """The numerator and the denominator of a rate in a group."""
    rows = [counts[f"{name}_rows_{group}{label}"] for label in (0, 1)]
    selected = [counts[f"{name}_selected_{group}{label}"] for label in (0, 1)]
    return {
        "selection": (sum(selected), sum(rows)),
        "true positive": (selected[1], rows[1]),
        "false positive": (selected[0], rows[0]),
        "precision": (selected[1], sum(selected)),
    }[rate]


ABOUT = """\
Accuracy and gap at 1/2 after {rounds} rounds (depth {depth}, eta {eta}) on adult (sex) and on {rows:,} made rows whose
groups differ in their features. Each half of a set trains once, and the other half is held out. The gap is in the share
selected (DemographicParity), the true or the false positive rate, the sum of both (EqualizedOdds) or the precision. The
gap on training rows is the mean over both halves; the held-out gap is over all rows, with half its 95 % interval.
"Apart": the two differ by more than that. "-" is undefined: no row of a group is selected. Peers have the same
constraint under their own names; Fairlearn has none of precision, and FairGBM none of the share selected. Decisions of
ExponentiatedGradient are random.
"""
CLOSED = """\
Does the default step close the gap? At the weight of its smallest held-out gap, with the change in accuracy; "yes" is a
held-out gap within half its interval, "on training rows only" such a gap on training rows at one of the weights.
"""
TRIED = """\
### Tries to make equalized odds hold on held-out rows

Accuracy at a held-out gap of three quarters, a half and a quarter of that of plain XGBoost, read off the line between
two weights of the grid (0 to {largest:g}); "-" where the gap is not reached. "Behind": the most by which a try is below
the better of damped and full steps at {rounds} rounds; a default would need at most 0.005 on both sets. "Rounds chosen"
takes the best of {numbers} rounds for each gap, a stop by held-out rows. Membership out of fold
counts each row in every group and label with a probability from boosters that did not see it.
"""
SHARES = (0.75, 0.5, 0.25)
SHOWN_ROUNDS = 100


def rates_section(results: Path) -> list[str]:
    """The tables of gaps by constraint, and the tries; nothing where nothing was measured."""
    if not results.exists():
        return []
    found = pd.read_csv(results, keep_default_na=False, na_values=[""]).fillna({"constraint": ""})
    numbers = sorted(found[found.constraint == ""]["rounds"].unique())
    sets, rounds = list(found.dataset.unique()), min(SHOWN_ROUNDS, int(numbers[-1]))
    about = ABOUT.format(rows=MADE_ROWS, rounds=rounds, depth=PLAIN["max_depth"], eta=PLAIN["eta"])
    lines, by_set = ["## Each constraint on adult and on made data", "", about], {}
    for name in sets:
        for constraint, kind in KINDS.items():
            own = found[(found.dataset == name) & found.constraint.isin(["", constraint])]
            by_set[name, constraint] = [p for p in points(own, kind.rates) if p.rounds == rounds or p.method in PEERS]
            shown = [p for p in by_set[name, constraint] if p.method not in TRIES]
            header = ["method", "kl_weight", "accuracy", "gap on training rows", "held-out gap", "half width", "apart"]
            lines += [f"{constraint}, {name}:", "", *table(header, map(_line, shown))]
    lines += [CLOSED, *closed(by_set)]
    lines += ["At the held-out gap of each peer, with the better of damped and full steps:", "", *at_peers(by_set)]
    for name, words in READINGS.items():
        lines += [paragraph(_reading(by_set, name, words)), ""]
    lines += [paragraph(_reading_of_precision(by_set)), ""]
    return [*lines, *tries(found, sets, rounds, numbers)]


def closed(by_set: dict[tuple[str, str], list[Point]]) -> list[str]:
    """Whether the default step closes the gap, at the weight of its smallest held-out gap."""
    rows = []
    for (name, constraint), of_set in by_set.items():
        plain = next(p for p in of_set if p.method == PLAIN_NAME)
        own = [p for p in of_set if p.method == KINDS[constraint].steps[0]]
        best = min(own, key=lambda p: p.gap)
        if plain.gap <= plain.half:
            answer = "no gap to close"
        elif best.gap <= best.half:
            answer = "yes"
        else:
            answer = "on training rows only" if any(p.train_gap <= p.half for p in own) else "no"
        cost = signed(best.accuracy - plain.accuracy)
        rows.append([name, constraint, number(plain.gap), number(best.gap), f"{best.kl_weight:g}", cost, answer])
    header = ["set", "constraint", "held-out gap without it", "with it", "kl_weight", "accuracy", "closes the gap"]
    return table(header, rows)


def at_peers(by_set: dict[tuple[str, str], list[Point]]) -> list[str]:
    """Our accuracy at the gap of each peer, between two weights of the grid, beside the accuracy of the peer."""
    rows, better = [], []
    for (name, constraint), of_set in by_set.items():
        plain = [p for p in of_set if p.method == PLAIN_NAME]
        paths = [plain + [p for p in of_set if p.method == step] for step in BOTH]
        for peer in (p for p in of_set if p.method in PEERS):
            gap = min(peer.gap, plain[0].gap)
            ours = float(np.fmax.reduce([accuracy_at(path, gap) for path in paths]))
            values = [number(peer.gap), number(peer.accuracy), number(ours), signed(ours - peer.accuracy)]
            rows.append([name, constraint, peer.method, *values])
            if peer.accuracy - ours > CLOSE:
                better.append(f"{peer.method} with {constraint} on {name} ({peer.accuracy - ours:.3f})")
    header = ["set", "constraint", "peer", "held-out gap", "peer's accuracy", "our accuracy", "difference"]
    words = f"Cases where a peer is more accurate by more than {CLOSE:g}: {joined(better)}."
    return [*table(header, rows), paragraph(words), ""]


def _line(point: Point) -> list[str]:
    weight = f"{point.kl_weight:g}" if point.kl_weight > 0 else "-"
    measured = (point.accuracy, point.train_gap, point.gap, point.half)
    values = ["-" if np.isnan(value) else f"{value:.3f}" for value in measured]
    return [point.method, weight, *values, "yes" if is_apart(point) else "-" if np.isnan(point.gap) else "no"]


def is_apart(point: Point) -> bool:
    return point.gap - point.train_gap > point.half


def _reading(by_set: dict[tuple[str, str], list[Point]], name: str, words: str) -> str:
    """Gaps of true positive rates in words: plain XGBoost, the default at its largest weight, the peers."""
    of_set = by_set.get((name, "TruePositiveRateParity"), [])
    by_method = {p.method: p for p in of_set}  # the last of a method has its largest weight
    shown = [by_method[method] for method in (PLAIN_NAME, "damped", *PEERS) if method in by_method]
    found = [f"{p.train_gap:.3f} and {p.gap:.3f} +/- {p.half:.3f} ({p.method})" for p in shown]
    return words.format(gaps=joined(found)) if found else f"No figures of {name}."


def _reading_of_precision(by_set: dict[tuple[str, str], list[Point]]) -> str:
    """What heavy weights of PredictiveParity do to the precision of decisions on held-out rows."""
    found = []
    for (name, constraint), of_set in by_set.items():
        gaps = {p.kl_weight: p.gap for p in of_set if p.method in (PLAIN_NAME, "adaptive")}
        if constraint == "PredictiveParity" and len(gaps) > 1:
            path = joined(f"{gap:.3f} at {a:g}" for a, gap in gaps.items() if a)
            found.append(f"{gaps[0.0]:.3f} without it and {path} on {name}")
    return (
        "PredictiveParity equalizes the precision of predictions, sum(p y) / sum(p). The precision of decisions, in "
        f"these tables, need not follow. By kl_weight, its held-out gap is {'; '.join(found)}. Heavy weights leave few "
        "selected rows, and may widen the gap: where decisions count, take small weights and measure."
    )


READINGS = {
    "adult": "On adult true positive rates differ by {gaps} on training rows and on held-out rows. Few women have "
    "label 1: what is left of the gap is within the noise of the held-out rows, and no larger than under the peers. On "
    "a tenth of the rows, a fold of ten, that noise is three times as large, and a closed gap looks open.",
    "made": "On made data a gap that is closed on training rows stays open on held-out rows, under the peers as well: "
    "true positive rates differ by {gaps}. So it is no fault of the step. The constraint holds among rows whose labels "
    "were fitted, and new rows have the same features without those labels. More weight does not help. Full steps have "
    "smaller held-out gaps because they have learned less: compare at equal accuracy.",
}
VERDICT = (
    "{found} Rounds are the user's choice, so that a step which needs other rounds than plain XGBoost is no default. "
    "`pi_xgb.frontier` measures damped and full steps on held-out rows and names the step of its choice: the better of "
    "the two, up to the optimism of a choice among two."
)


def tries(found: pd.DataFrame, sets: Sequence[str], rounds: int, numbers: Sequence[int]) -> list[str]:
    """What each try reaches at the wanted gaps, and how far it is behind the better of both steps."""
    rows: dict[str, list[str]] = {}
    behind: dict[str, list[float]] = {}
    for name in sets:
        own = found[(found.dataset == name) & found.constraint.isin(["", "EqualizedOdds"])]
        reached = _reached(points(own, KINDS["EqualizedOdds"].rates), rounds)
        best = np.fmax(reached["damped"], reached["full"])
        for method, values in reached.items():
            far = best - values
            lost = np.inf if (np.isnan(values) & ~np.isnan(best)).any() else float(np.nanmax(far))
            behind.setdefault(method, []).append(lost)
            result = ["-" if np.isnan(value) else f"{value:.3f}" for value in values]
            rows.setdefault(method, [method]).extend([*result, "not reached" if np.isinf(lost) else f"{lost:.3f}"])
    header = ["try"] + [f"{name}, {what}" for name in sets for what in ("3/4", "1/2", "1/4", "behind")]
    single = [method for method in rows if "or" not in method.split()]
    good = [method for method in single if max(behind[method]) <= CLOSE]
    verdict = f"Within 0.005 on both sets: {joined(good)}." if good else "No single try is within 0.005 on both sets."
    about = TRIED.format(largest=found.kl_weight.max(), rounds=rounds, numbers=joined(map(str, numbers)))
    return [about, *table(header, rows.values()), paragraph(VERDICT.format(found=verdict)), ""]


def _reached(of_set: Sequence[Point], rounds: int) -> dict[str, np.ndarray]:
    """The accuracy of each try at each wanted gap."""
    plain = next(p for p in of_set if p.method == PLAIN_NAME and p.rounds == rounds)
    wanted = [share * plain.gap for share in SHARES]
    paths: dict[tuple[str, int], list[Point]] = {}
    for point in of_set:
        if point.method in {*STEPS, *TRIES}:
            paths.setdefault((point.method, point.rounds), [plain]).append(point)
    at = {key: np.array([accuracy_at(path, gap) for gap in wanted]) for key, path in paths.items()}
    found = {method: values for (method, n), values in at.items() if n == rounds}
    chosen = {}
    for step in BOTH:
        chosen[f"{step}, rounds chosen"] = np.fmax.reduce([values for (name, _), values in at.items() if name == step])
    both = {"damped or full": np.fmax(found["damped"], found["full"])}
    both["damped or full, rounds chosen"] = np.fmax.reduce(list(chosen.values()))
    return {**found, **chosen, **both}


def accuracy_at(path: Sequence[Point], gap: float) -> float:
    """The accuracy on a path of growing weights where it first falls to a gap; NaN if it does not."""
    for before, after in pairwise(path):
        if after.gap <= gap <= before.gap:
            share = (before.gap - gap) / max(before.gap - after.gap, 1e-12)
            return before.accuracy + share * (after.accuracy - before.accuracy)
    return np.nan
