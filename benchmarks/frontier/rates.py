"""Each constraint between groups: gaps on training rows and on held-out rows, by step and rounds, beside its peers."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache, partial
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

import pi_xgb
from benchmarks.cells import Line
from benchmarks.data import MADE
from benchmarks.frontier.cells import PLAIN, Part, Split, made_split, matrix, peer_scores, public_split
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
        EqualizedOdds, ("false positive", "true positive"), ("damped", "adaptive", "full"), "EqualizedOdds", "FPR,FNR"
    ),
    "PredictiveParity": Kind(PredictiveParity, ("precision",), ("adaptive", "full")),
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


def measure(dataset: str, fold: int, constraint: str, small: bool = False) -> Iterator[Line]:
    """Every step and weight of a constraint after each number of rounds, and its peers; "" is plain XGBoost."""
    split, rounds = split_of(dataset, fold, small), (3, 5) if small else ROUNDS
    dtrain, group = matrix(split.train, split.types), split.train.group
    for method in KINDS[constraint].steps if constraint else (PLAIN_NAME,):
        for a in (KL_WEIGHTS[:1] if small else KL_WEIGHTS) if constraint else (0.0,):
            guided = {"teacher": KINDS[constraint].ours(group, hessian=method), "kl_weight": a} if constraint else {}
            booster = pi_xgb.train(PLAIN, dtrain, max(rounds), **guided)
            for n in rounds:
                yield {"method": method, "kl_weight": a, "rounds": n, **counted_parts(booster, split, n)}
    if constraint:
        yield from measured_peers(split, KINDS[constraint], small)


def counted_parts(booster: Any, split: Split, rounds: int) -> dict[str, float]:
    """The counts of the training rows and of the held-out rows after so many rounds."""
    found: dict[str, float] = {}
    for where, part in (("train", split.train), ("test", split.test)):
        scores = booster.predict(matrix(part, split.types), iteration_range=(0, rounds))
        found |= counted(scores, part, where)
    return found


def measured_peers(split: Split, kind: Kind, small: bool) -> Iterator[Line]:
    """Fairlearn's reduction and FairGBM where they know the constraint; one that is not installed has no line."""
    from benchmarks.peers.installed import FairGBM, FairlearnExponentiatedGradient

    makes: dict[str, Callable[[], Any]] = {}
    if kind.fairlearn:
        makes["ExponentiatedGradient"] = partial(
            FairlearnExponentiatedGradient, constraint=kind.fairlearn, max_iter=2 if small else 20
        )
    if kind.fairgbm:
        makes["FairGBM"] = partial(FairGBM, constraint_type=kind.fairgbm)
    for method, make in makes.items():
        peer = make()
        try:
            scores = peer_scores(split, peer)
        except ImportError:
            continue
        taught = np.asarray(peer.predict_proba(split.train.x))[:, 1]
        found = counted(taught, split.train, "train", randomised=peer.randomised)
        found |= counted(scores, split.test, "test", randomised=peer.randomised)
        yield {"method": method, "kl_weight": np.nan, "rounds": 100, **found}


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


SETS = {MADE: made_halves, "adult": adult_halves}


@lru_cache(maxsize=1)
def split_of(dataset: str, fold: int, small: bool) -> Split:
    return made_split(dataset, fold) if small else SETS[dataset]()[fold]


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
gap on training rows is the mean over both halves; the held-out gap is over all rows. Peers have the same
constraint under their own names; Fairlearn has none of precision, and FairGBM none of the share selected. Decisions of
ExponentiatedGradient are random. [frontier_rates.csv.gz](results/frontier_rates.csv.gz) has the counts of every step,
weight and number of rounds, and of other tries.
"""
CLOSED = """\
Does the default step close the gap? At the weight of its smallest held-out gap, with the change in accuracy; "yes" is a
held-out gap within half its interval, "on training rows only" such a gap on training rows at one of the weights.
"""
READING = """\
On made data a gap of error rates that is closed on training rows stays open on held-out rows, under the peers as well.
The constraint holds among rows whose labels were fitted, and new rows have the same features without those labels; more
weight does not help. PredictiveParity equalizes the precision of predictions, sum(p y) / sum(p); the precision of
decisions need not follow, and heavy weights may widen its gap: take small weights and measure."""
SHOWN_ROUNDS = 100


def rates_section(found: pd.DataFrame) -> list[str]:
    """Whether each constraint closes its gap, and the accuracy beside its peers."""
    found = found.fillna({"constraint": ""})
    rounds = min(SHOWN_ROUNDS, int(found.loc[~found.method.isin(PEERS), "rounds"].max()))
    by_set = {}
    for name in found.dataset.unique():
        for constraint, kind in KINDS.items():
            own = found[(found.dataset == name) & found.constraint.isin(["", constraint])]
            own = own[own.method.isin([PLAIN_NAME, *kind.steps, *PEERS])]
            by_set[str(name), constraint] = [
                point for point in points(own, kind.rates) if point.rounds == rounds or point.method in PEERS
            ]
    about = ABOUT.format(rows=MADE_ROWS, rounds=rounds, depth=PLAIN["max_depth"], eta=PLAIN["eta"])
    lines = ["## Each constraint on adult and on made data", "", paragraph(about), "", CLOSED, *closed(by_set)]
    lines += ["At the held-out gap of each peer, with the better of damped and full steps:", "", *at_peers(by_set)]
    return [*lines, paragraph(READING), ""]


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
            rows.append([name, constraint, peer.method, number(peer.gap), signed(ours - peer.accuracy)])
            if peer.accuracy - ours > CLOSE:
                better.append(f"{peer.method} with {constraint} on {name} ({peer.accuracy - ours:.3f})")
    header = ["set", "constraint", "peer", "held-out gap", "our accuracy less the peer's"]
    words = f"Cases where a peer is more accurate by more than {CLOSE:g}: {joined(better)}."
    return [*table(header, rows), paragraph(words), ""]


def accuracy_at(path: Sequence[Point], gap: float) -> float:
    """The accuracy on a path of growing weights where it first falls to a gap; NaN if it does not."""
    for before, after in pairwise(path):
        if after.gap <= gap <= before.gap:
            share = (before.gap - gap) / max(before.gap - after.gap, 1e-12)
            return before.accuracy + share * (after.accuracy - before.accuracy)
    return np.nan
