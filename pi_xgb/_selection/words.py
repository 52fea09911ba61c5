"""Scores as text."""

from __future__ import annotations

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
