"""The settings of all boosted methods: the paper's, and today's."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from benchmarks.data.prepared import PreparedSet
from benchmarks.modes import current, paper


@dataclass(frozen=True)
class Mode:
    """The settings of all boosted methods."""

    name: str
    params: Callable[[PreparedSet], dict[str, Any]]
    rounds: int
    early_stopping_rounds: int
    zeros_missing: bool
    seed: int


PAPER = Mode("paper", paper.paper_params, paper.NUM_BOOST_ROUND, paper.EARLY_STOPPING_ROUNDS, True, paper.SEED)
CURRENT = Mode(
    "current", current.current_params, current.NUM_BOOST_ROUND, current.EARLY_STOPPING_ROUNDS, False, current.SEED
)
MODES = {mode.name: mode for mode in (PAPER, CURRENT)}
