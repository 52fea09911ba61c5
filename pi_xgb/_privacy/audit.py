"""``audit``: attacks on a way of training, and what they say about its epsilon."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from .._rows.checks import check_confidence, check_whole
from .._rows.tables import as_frame, as_table
from .bounds import best_cut, from_guesses, from_rates
from .budget import check_real

FEWEST_RUNS = 20


@dataclasses.dataclass(frozen=True)
class Audit:
    """What :func:`audit` found.

    Attributes
    ----------
    attack
        ``"neighbours"``: told two data sets apart that differ in one row. ``"values"``: inferred values of several.
    epsilon
        With ``confidence``, the training has at least this epsilon. 0 says that the attack found nothing.
    accuracy
        Share of right guesses; half of them are right by chance.
    runs, confidence, delta
        As they were asked for.

    Examples
    --------
    >>> from pi_xgb.privacy import Audit
    >>> found = Audit("neighbours", epsilon=0.0, accuracy=0.52, runs=100, confidence=0.95, delta=0.0)
    >>> found.epsilon <= 1.0  # no proof against a promise of 1, nor for it
    True
    """

    attack: str
    epsilon: float
    accuracy: float
    runs: int
    confidence: float
    delta: float


def audit(
    train: Callable[[Any], Any],
    z: Any,
    other: Any,
    observe: Callable[[Any], Any],
    *,
    runs: int = 400,
    delta: float = 0.0,
    confidence: float = 0.95,
    seed: int = 0,
) -> Audit:
    """Attack a way of training: what does a model give away about the privileged values of its rows?

    In each run a coin for each row where ``z`` and ``other`` differ decides which of the two it gets, a model is
    trained, and the attacker, who knows all else, guesses the coins from what can be observed of the model. One half of
    the runs teaches the attacker how, the other half counts. A private training lets nobody be right more often than
    its epsilon says, so that being right often proves an epsilon that is at least so large. A small result proves
    nothing: another attack may do better.

    Parameters
    ----------
    train
        A function of a table of privileged values that trains a model. It must draw new noise in each call: make the
        :class:`PrivateTeacher` inside.
    z, other
        The privileged values, and the same with others in some rows. If one row differs, the attack tells two
        neighbours apart. If several do, it infers the values of each.
    observe
        A function of the model: one number, or several, that the attacker looks at. What it predicts for the rows in
        question is a good start. Of a teacher alone, ``lambda teacher: teacher.values``.
    runs
        How many trainings. With r runs no epsilon above about ln(r / 15) can be proved from one row.
    delta
        The delta that is stated for the training.
    confidence
        Of the bound.
    seed
        Of the coins. (The noise of private teachers has no seed.)

    Returns
    -------
    Audit

    Notes
    -----
    An audit looks at ``z`` many times: what it finds is not private, and is for those who may see the data.

    Examples
    --------
    A teacher without noise gives a row away, a private one does not:

    >>> import numpy as np, pi_xgb
    >>> from pi_xgb.privacy import PrivateTeacher, audit
    >>> z, y = np.zeros((200, 1)), np.arange(200) % 2
    >>> other = z.copy()
    >>> other[0] = 1
    >>> plain = audit(lambda z: z[:, 0], z, other, lambda q: q[:1], runs=100)
    >>> def private(z):
    ...     return PrivateTeacher(1.0, 1e-6, bounds={0: [0, 1]}).fit(z, y)
    >>> kept = audit(private, z, other, lambda teacher: teacher.values[:1], runs=100, delta=1e-6, confidence=0.999)
    >>> plain.epsilon > 1.5, kept.epsilon <= 1
    (True, True)
    """
    if not callable(train) or not callable(observe):
        raise TypeError("train and observe must be functions: of a table of privileged values, and of what it trains")
    check_whole("runs", runs, FEWEST_RUNS)
    check_whole("seed", seed, 0)
    check_real(confidence, "confidence")
    check_real(delta, "delta")
    check_confidence(confidence)
    if not 0 <= delta < 1:
        raise ValueError(f"delta must be at least 0 and below 1, got {delta!r}")
    tables = as_table(z, "z"), as_table(other, "other")
    rows = _differing_rows(*map(as_frame, tables))
    # Not the stream of the plain seed: a training that draws its noise from that one would follow the coins.
    coins = np.random.default_rng([seed, *b"audit"]).random((runs, len(rows))) < 0.5
    seen = [_observed(observe(train(_mixed(*tables, rows[toss])))) for toss in coins]
    looks = np.array(seen) if len({len(look) for look in seen}) == 1 else None
    if looks is None or not np.isfinite(looks).all():
        raise ValueError("observe must return finite numbers, as many for every model")
    half = runs // 2
    scores = np.column_stack([_scores(looks[:half], coins[:half, i], looks) for i in range(len(rows))])
    right = (scores[half:] > 0) == coins[half:]
    if len(rows) == 1:
        attack, epsilon = "neighbours", _from_one_row(scores[:, 0], coins[:, 0], half, delta, 1 - confidence)
    else:
        attack, epsilon = "values", from_guesses(int(right.sum()), right.size, delta, 1 - confidence)
    return Audit(attack, epsilon, float(right.mean()), runs, confidence, delta)


def _differing_rows(z: pd.DataFrame, other: pd.DataFrame) -> NDArray[np.intp]:
    if z.shape != other.shape or list(z.columns) != list(other.columns):
        raise ValueError(f"z and other must have the same rows and columns, got {z.shape} and {other.shape}")
    same = (z.to_numpy(object) == other.to_numpy(object)) | (z.isna().to_numpy() & other.isna().to_numpy())
    rows = np.flatnonzero(~same.all(axis=1))
    if not rows.size:
        raise ValueError("z and other are the same: change the privileged values of one row, or of several, in other")
    return rows


def _mixed(z: Any, other: Any, rows: NDArray[np.intp]) -> Any:
    """z with these rows of the other table: a DataFrame where it has columns, else an array."""
    if not hasattr(z, "columns"):
        mixed = np.array(z)
        mixed[rows] = np.asarray(other)[rows]
        return mixed
    frame = as_frame(z).copy()
    frame.iloc[rows] = as_frame(other).iloc[rows]
    return frame


def _observed(look: Any) -> NDArray[np.float64]:
    seen = np.asarray(look)
    if seen.dtype.kind not in "fiub":
        raise TypeError(f"observe must return finite numbers, got {type(look).__name__} of {seen.dtype}")
    return np.atleast_1d(seen).astype(np.float64).ravel()


def _scores(looks: NDArray[np.float64], coins: NDArray[np.bool_], judged: NDArray[np.float64]) -> NDArray[np.float64]:
    """Where each look lies between the means of the two sides, above 0 for the side of the coin.

    A linear discriminant of the numbers that tell the sides apart best, as if they were independent.
    """
    if coins.all() or not coins.any():
        return np.full(len(judged), 1.0 if coins.all() else -1.0)
    sides = looks[coins], looks[~coins]
    means = [side.mean(axis=0) for side in sides]
    spread = np.sqrt(sum(side.var(axis=0) for side in sides) / 2)
    gap = means[0] - means[1]
    if not gap.any():
        return np.zeros(len(judged))
    spread = np.maximum(spread, 1e-9 * np.abs(gap).max())
    clarity = np.abs(gap) / spread
    weight = np.where(clarity >= clarity.max() / 2, np.sign(gap) * clarity / clarity.max(), 0.0)
    return np.asarray((judged - (means[0] + means[1]) / 2) @ (weight / spread))


def _from_one_row(
    scores: NDArray[np.float64], coins: NDArray[np.bool_], half: int, delta: float, alpha: float
) -> float:
    """Choose an event by the first half of the runs, count it in the second."""
    cut, is_above, under_one = best_cut(scores[:half], coins[:half], delta, alpha)
    event = (scores[half:] >= cut) == is_above
    side = coins[half:] == under_one
    counts = int(event[side].sum()), int(side.sum()), int(event[~side].sum()), int((~side).sum())
    return from_rates(*counts, delta, alpha)
