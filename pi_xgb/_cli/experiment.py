"""Experiments of the demonstration: methods trained on the same data for several seeds, and their scores."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from typing import Any

import pandas as pd


@dataclasses.dataclass(frozen=True)
class Experiment:
    """Methods to train on the same data, once per seed."""

    opening: str
    explanations: Mapping[str, str]
    """The description of each method, the baseline first."""
    shown: tuple[str, ...]
    """The methods whose AUC is printed seed by seed."""
    best: str
    """The method that is compared with the control."""
    control: str
    scores: Callable[[int], dict[str, float]]
    """A function from a seed to the AUC of each method."""
    closing: str

    @property
    def baseline(self) -> str:
        """The method that the gains refer to."""
        return next(iter(self.explanations))

    @property
    def guided(self) -> list[str]:
        """The methods besides the baseline."""
        return list(self.explanations)[1:]


@dataclasses.dataclass(frozen=True)
class Outcome:
    """The AUC of each method of an experiment, a row per seed."""

    experiment: Experiment
    scores: pd.DataFrame

    @property
    def gains(self) -> pd.DataFrame:
        """The gain over the baseline of each seed."""
        return self.scores.sub(self.scores[self.experiment.baseline], axis=0)

    @property
    def table(self) -> pd.DataFrame:
        """The means over the seeds, with their standard errors (s.e.)."""
        scores, gains = self.scores, self.gains
        columns = {"AUC": scores.mean(), "AUC s.e.": scores.sem(), "gain": gains.mean(), "gain s.e.": gains.sem()}
        return pd.DataFrame(columns)

    @property
    def beyond_control(self) -> str:
        """The gain of z over the gain of the control, which has no z."""
        best, control = self.experiment.best, self.experiment.control
        beyond: Any = self.scores[best] - self.scores[control]
        return f"What z adds: {best} less {control}, {beyond.mean():+.4f} (s.e. {beyond.sem():.4f})"
