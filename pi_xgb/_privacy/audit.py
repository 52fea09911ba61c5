"""``audit``: attacks on a training, and the lower bounds of its epsilon."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from .._rows.checks import check_confidence, check_whole
from .._rows.tables import as_frame, as_table
from .bounds import best_cut, bound_of, from_guesses
from .budget import check_delta

FEWEST_RUNS = 20
N_LABELLED, N_PROBES = 400, 2000
"""The rows of the built-in attack: labelled rows in one cell, unlabelled rows in each of two others."""


@dataclasses.dataclass(frozen=True)
class Audit:
    """The result of :func:`audit`.

    Attributes
    ----------
    attack
        ``"neighbours"``: distinguishes two data sets that differ in one row. ``"values"``: infers values of several.
    epsilon
        A lower bound of the training's epsilon, with ``confidence``. 0 if the attack found nothing.
    accuracy
        Share of right guesses; half of them are right by chance.
    runs, confidence, delta
        The arguments of :func:`audit`.

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
    train: Callable[..., Any],
    z: Any = None,
    other: Any = None,
    observe: Callable[[Any], Any] | None = None,
    *,
    score: Callable[[Any], Any] | None = None,
    runs: int = 400,
    delta: float = 0.0,
    confidence: float = 0.95,
    seed: int = 0,
) -> Audit:
    """Attack a training to measure what its models reveal about the privileged values of the rows.

    In each run, a coin for each row where ``z`` and ``other`` differ selects one of the two values, and a model is
    trained. The attacker, who knows all other values, guesses the coins from observations of the model. The attacker
    learns from one half of the runs; the other half counts. The epsilon of a private training limits the share of right
    guesses, so many right guesses prove a large epsilon. A small result proves nothing: another attack may do better.

    Without ``z``, ``other`` and ``observe`` the built-in attack tests a teacher's table: a labelled row, the canary, is
    alone in one of two cells, and the mean noisy prediction of 2,000 unlabelled rows in each cell reveals its count.

    Parameters
    ----------
    train : callable
        A function of a table of privileged values that trains a model. It must draw new noise in each call: create the
        :class:`PrivateTeacher` inside. For the built-in attack a function of ``z``, ``y`` and ``labelled`` that returns
        a fitted teacher, where z has one column, ``"cell"``, with categories 0, 1 and 2.
    z, other : array-like or DataFrame, default=None
        The privileged values, and the same table with other values in some rows. If one row differs, the attack
        distinguishes two neighbours. If several differ, it infers the values of each.
    observe : callable, default=None
        A function of the model that returns one number, or several, for the attacker. The predictions for the changed
        rows are a good start. For a teacher alone, ``lambda teacher: teacher.values``.
    score : callable, default=None
        A function of the observed numbers of one model, as an array, that returns a score for each changed row: above 0
        if it guesses the value in ``other``. By default a linear discriminant is learned.
    runs : int, default=400
        The number of trainings. With r runs no epsilon above about ln(r / 15) can be proved from one row.
    delta : float, default=0.0
        The stated delta of the training.
    confidence : float, default=0.95
        The confidence of the bound.
    seed : int, default=0
        The seed of the coins. (The noise of private teachers has no seed.)

    Returns
    -------
    Audit

    Notes
    -----
    An audit reads ``z`` many times: its result is not private, and only for people who may see the data.

    Examples
    --------
    A teacher without noise reveals a row, a private teacher does not:

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

    The built-in attack:

    >>> def teacher(z, y, labelled):
    ...     return PrivateTeacher(1.0, 1e-6, bounds={"cell": [0, 1, 2]}, split=0.99).fit(z, y, labelled=labelled)
    >>> audit(teacher, runs=20, delta=1e-6, confidence=0.999).epsilon
    0.0
    """
    if z is None and other is None and observe is None and score is None:
        train, z, other, observe, score = _canary(train)
    if not callable(train) or not callable(observe):
        raise TypeError("train and observe must be functions, of a table of privileged values and of the model")
    check_whole("runs", runs, FEWEST_RUNS)
    check_confidence(confidence)
    check_delta(delta)
    tables = as_table(z, "z"), as_table(other, "other")
    frames = [as_frame(table) for table in tables]
    rows = _differing_rows(*frames)
    # Joined first, since values of the second table may need another type of column.
    both = pd.concat(frames)

    def mixed(changed: NDArray[np.intp]) -> Any:
        places = np.arange(len(frames[0]))
        places[changed] += len(places)
        table = both.iloc[places].set_axis(frames[0].index)
        return table if hasattr(tables[0], "columns") else table.to_numpy()

    # Not the stream of the plain seed: the noise of a training with the same seed would depend on the coins.
    coins = np.random.default_rng([seed, *b"audit"]).random((runs, len(rows))) < 0.5
    values = _stacked((observe(train(mixed(rows[toss]))) for toss in coins), "observe")
    halves = slice(runs // 2), slice(runs // 2, None)
    if score is None:
        scores = np.column_stack([_scores(values[halves[0]], coins[halves[0], i], values) for i in range(len(rows))])
    else:
        scores = _stacked(map(score, values), "score")
        if scores.shape != coins.shape:
            raise ValueError(f"score must return {len(rows)} numbers, one for each changed row, got {scores.shape[1]}")
    right = ((scores > 0) == coins)[halves[1]]
    if len(rows) == 1:
        first, second = ((scores[part, 0], coins[part, 0], delta, 1 - confidence) for part in halves)
        attack, epsilon = "neighbours", bound_of(best_cut(*first), *second)
    else:
        attack, epsilon = "values", from_guesses(int(right.sum()), right.size, delta, 1 - confidence)
    return Audit(attack, epsilon, float(right.mean()), runs, confidence, delta)


def _canary(train: Callable[..., Any]) -> tuple[Any, ...]:
    """Return the built-in attack: the training, both tables, and the functions that observe and score."""
    z = pd.DataFrame({"cell": np.repeat([0, 1, 2, 1], [N_LABELLED, N_PROBES, N_PROBES, 1])})
    other = z.copy()
    other.iloc[-1] = 2
    rows = np.arange(len(z))
    labelled = (rows < N_LABELLED) | (rows == len(z) - 1)
    y = ((rows < N_LABELLED // 20) | (rows == len(z) - 1)).astype(int)
    # A cell predicts more than the share of label 1 only if its noisy count of that label is above 0.
    cut = 1.2 * y[labelled].mean()

    def means(teacher: Any) -> NDArray[np.float64]:
        return np.asarray(teacher.values[N_LABELLED:-1].reshape(2, N_PROBES).mean(axis=1))

    def score(of_cells: NDArray[np.float64]) -> int:
        return int(of_cells[1] > cut) - int(of_cells[0] > cut)

    return lambda table: train(table, y, labelled), z, other, means, score


def _differing_rows(z: pd.DataFrame, other: pd.DataFrame) -> NDArray[np.intp]:
    if z.shape != other.shape or list(z.columns) != list(other.columns):
        raise ValueError(f"z and other must have the same rows and columns, got {z.shape} and {other.shape}")
    same = (z.to_numpy(object) == other.to_numpy(object)) | (z.isna().to_numpy() & other.isna().to_numpy())
    rows = np.flatnonzero(~same.all(axis=1))
    if not rows.size:
        raise ValueError("other must differ from z in at least one row, got the same values: change some rows in other")
    return rows


def _stacked(results: Iterable[Any], name: str) -> NDArray[np.float64]:
    """Return a row of numbers for each model; raise at the first without finite numbers, or with another count."""
    rows: list[Any] = []
    for result in results:
        row = np.atleast_1d(np.asarray(result)).ravel()
        rows.append(row)
        if row.dtype.kind not in "fiub" or not np.isfinite(row).all() or len(row) != len(rows[0]):
            raise ValueError(f"{name} must return finite numbers, as many for every model, got {type(result).__name__}")
    return np.array(rows, np.float64)


def _scores(train: NDArray[np.float64], coins: NDArray[np.bool_], values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return a score per row of ``values``, above 0 for the side of the coin and below 0 for the other.

    A linear discriminant, trained on ``train`` and ``coins``, of the numbers that separate the sides best, as if these
    were independent.
    """
    if coins.all() or not coins.any():
        return np.full(len(values), 1.0 if coins.all() else -1.0)
    sides = train[coins], train[~coins]
    means = [side.mean(axis=0) for side in sides]
    spread = np.sqrt(sum(side.var(axis=0) for side in sides) / 2)
    gap = means[0] - means[1]
    if not gap.any():
        return np.zeros(len(values))
    spread = np.maximum(spread, 1e-9 * np.abs(gap).max())
    effect = np.abs(gap) / spread
    weight = np.where(effect >= effect.max() / 2, np.sign(gap) * effect / effect.max(), 0.0)
    return np.asarray((values - (means[0] + means[1]) / 2) @ (weight / spread))
