"""Gains as text: the score, its direction, the difference and its interval."""

from __future__ import annotations

from .._stats.paired import Interval
from .scores import Score

_NAMES = {
    **dict.fromkeys(("logloss", "mlogloss"), "log loss"),
    **dict.fromkeys(("error", "merror"), "error rate"),
    **{name: name.upper() for name in ("auc", "rmse", "mae")},
}


def name_of(score: Score) -> str:
    """Return the name of the score for sentences."""
    return _NAMES.get(score.name, score.name)


def better_by(score: Score) -> str:
    """Return the unit of a gain.

    Examples
    --------
    >>> better_by(Score("logloss", maximised=False))
    'log loss lower by'
    """
    return f"{name_of(score)} {'higher' if score.maximised else 'lower'} by"


def in_words(score: Score, gain: Interval) -> str:
    """Return a gain as a change of its score; in the interval more is better, for every score.

    Examples
    --------
    >>> in_words(Score("logloss", maximised=False), Interval(0.01, 0.02, -0.037, 0.058))
    'log loss lower by 0.0100 [-0.0370, +0.0580]'
    >>> in_words(Score("auc", maximised=True), Interval(-0.01, 0.02, -0.058, 0.037))
    'AUC lower by 0.0100, not higher [-0.0580, +0.0370]'
    """
    better, worse = ("higher", "lower") if score.maximised else ("lower", "higher")
    change = f"{better_by(score)} {gain.mean:.4f}"
    if gain.mean < 0:
        change = f"{name_of(score)} {worse} by {-gain.mean:.4f}, not {better}"
    return f"{change} [{gain.low:+.4f}, {gain.high:+.4f}]"
