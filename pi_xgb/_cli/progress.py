"""A bar of rounds on standard error, where that is a terminal."""

from __future__ import annotations

import sys
from typing import Any

from xgboost.callback import TrainingCallback

_WIDTH = 30


def on_terminal() -> bool:
    """Whether a person is looking at the messages."""
    return sys.stderr.isatty()


class Bar(TrainingCallback):
    """Draws how many rounds are done; it changes nothing."""

    def __init__(self, rounds: int) -> None:
        self._rounds = rounds
        self._drawn = -1

    def after_iteration(self, model: Any, epoch: int, evals_log: Any) -> bool:
        """Draw what has changed."""
        done = min(_WIDTH, _WIDTH * (epoch + 1) // self._rounds)
        if done != self._drawn:
            self._drawn = done
            sys.stderr.write(f"\r[{'#' * done}{' ' * (_WIDTH - done)}] round {epoch + 1} of {self._rounds}")
            sys.stderr.flush()
        return False

    def after_training(self, model: Any) -> Any:
        """Take the bar away."""
        sys.stderr.write("\r\x1b[K")
        sys.stderr.flush()
        return model
