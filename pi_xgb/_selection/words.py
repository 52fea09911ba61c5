"""Scores and gains as text."""

from __future__ import annotations

import textwrap

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


def against(score: Score, value: float, other: float) -> str:
    """Return two values of the score.

    Examples
    --------
    >>> against(Score("logloss", maximised=False), 0.41, 0.47)
    'log loss 0.4100 against 0.4700'
    """
    return f"{name_of(score)} {value:.4f} against {other:.4f}"


def gain_in_words(gain: Interval, confidence: float = 0.95) -> str:
    """Return a gain, which is positive for an improvement, with its interval.

    Examples
    --------
    >>> gain_in_words(Interval(0.01, 0.02, -0.037, 0.058))
    '0.0100 (95 % CI -0.0370 to 0.0580)'
    """
    return f"{gain.mean:.4f} ({100 * confidence:g} % CI {gain.low:.4f} to {gain.high:.4f})"


def in_lines(text: str) -> str:
    """Return the text in lines that fit into a terminal or a notebook."""
    return textwrap.fill(text, 100, break_on_hyphens=False)
