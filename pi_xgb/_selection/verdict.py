"""The verdict of a search: which model to deploy, what it is expected to gain, and what would change that."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from typing import Any

import pandas as pd
from scipy.special import ndtri

from .._stats.intervals import Interval, corrected_interval
from .candidates import PLAIN, Candidate
from .scores import Score

PUBLIC_GAINS = {
    "logloss": {50: 0.105, 150: 0.052, 400: 0.018, 1000: 0.016},
    "auc": {50: 0.046, 150: 0.028, 400: 0.016, 1000: 0.006},
}
"""By number of labels, the mean gain over plain XGBoost on nine public sets, of a mixed teacher at ``kl_weight`` 2."""
CHANCE = 0.2
"""The chance that folds of equal models replace the recommended one, at most. With 0.05, benchmarks/policy.py keeps a
student that misleading privileged features harm."""
_MOST = 100
"""Larger multiples of the number of labels are not reported, since the estimate is too poor."""


def student_of(candidate: Candidate) -> str:
    """Return what to deploy, in words."""
    if candidate == PLAIN:
        return "plain XGBoost"
    kind = f"a {candidate.kind} teacher" if candidate.learns_first else "a joint teacher (JPIB)"
    return f"the student of {kind}" + ("" if candidate.sees_privileged else " without privileged features")


@dataclasses.dataclass(frozen=True)
class Measurement:
    """How gains on the user's folds are measured and judged."""

    score: Score
    ratio: float
    """n_test / n_train, for the corrected interval."""
    n_labelled: int
    standard_errors: float | None = None
    confidence: float = 0.95

    def gain(self, scores: Any, others: Any) -> Interval:
        """The gain of one model over another, from their scores in each fold."""
        return corrected_interval(self.score.sign * (scores - others), self.ratio, self.confidence)


@dataclasses.dataclass(frozen=True)
class Verdict:
    """Models, plain XGBoost first, with their gains on the user's folds."""

    measurement: Measurement
    models: Sequence[str]
    """What to deploy, in words."""
    gains: Sequence[Interval]
    """Over plain XGBoost."""
    leads: Sequence[Interval]
    """Over the recommended model."""
    recommended: int
    """The model that public data sets recommend."""
    rounds: Sequence[int] = ()
    """Of each model that is boosted, those that were best on the folds; 0 for others."""

    @classmethod
    def of(
        cls, measurement: Measurement, models: Sequence[str], scores: Any, recommended: int, rounds: Sequence[int] = ()
    ) -> Verdict:
        """Return the verdict from the scores of each model in each fold."""
        gains, leads = ([measurement.gain(own, scores[other]) for own in scores] for other in (0, recommended))
        return cls(measurement, models, gains, leads, recommended, rounds)

    @property
    def bar(self) -> float:
        """How many standard errors a model must be ahead of the recommended one.

        By default the best of as many equal models passes it by chance with probability ``CHANCE``.
        """
        if self.measurement.standard_errors is not None:
            return self.measurement.standard_errors
        return float(ndtri(1 - CHANCE / max(len(self.models) - 1, 1)))

    @property
    def chosen(self) -> int:
        """The best of the models whose lead over the recommended one is large enough, or that one.

        A lead that is equal in every fold has an unknown error, and is enough only at a bar of 0.
        """
        bar = self.bar
        enough = [i for i, one in enumerate(self.leads) if one.mean > bar * one.error and (one.error > 0 or bar == 0)]
        return max(enough, key=lambda i: self.leads[i].mean, default=self.recommended)

    @property
    def instruction(self) -> str:
        """One sentence."""
        rounds = self.rounds[self.chosen] if len(self.rounds) else 0
        how = f" with {rounds} round{'s' * (rounds > 1)}" if rounds else ""
        return f"Deploy {self.models[self.chosen]}{how}."

    @property
    def expectation(self) -> str:
        """The gain, and where it comes from."""
        is_plain = self.chosen == 0
        gain = (self.leads if is_plain else self.gains)[self.chosen]
        other = self.models[self.recommended] if is_plain else self.models[0]
        how = self.measurement
        interval = f"{gain.mean:.4f} ({100 * how.confidence:g} % CI {gain.low:.4f} to {gain.high:.4f})"
        text = f"Expected gain over {other} in {how.score.title}: {interval} on your folds"
        if gain.low <= 0:
            against = f", which speak against it{' within chance' * (gain.high >= 0)}"
            text += ", which alone do not show it" if gain.mean > 0 else against
        public = PUBLIC_GAINS.get(how.score.name)
        if public is None or not self.models[self.chosen].startswith("the student of a mixed teacher"):
            return f"{text}."
        nearest = min(public, key=lambda labels: abs(math.log(labels / how.n_labelled)))
        return f"{text}, {public[nearest]:.3f} on public data sets with about {nearest:,} labels."

    @property
    def change(self) -> str:
        """What would change the instruction."""
        if self.chosen != self.recommended:
            standard = f"{self.bar:.2g} standard errors"
            return f"{self._sentence(self.recommended)} stands again if the lead over it falls below {standard}."
        others = [i for i in range(len(self.models)) if i != self.recommended]
        rival = max(others, key=lambda i: self.leads[i].mean)
        lead = self.leads[rival]
        if lead.mean <= 0:
            return f"More labels change this only if {self.models[rival]} takes the lead; now none is ahead."
        most = _MOST * self.measurement.n_labelled
        needed = self.measurement.n_labelled * (self.bar * lead.error / lead.mean) ** 2
        number = f"more than {most:,}"
        if needed <= most:
            unit = 10 ** max(math.floor(math.log10(needed)) - 1, 0)
            number = f"about {math.ceil(needed / unit) * unit:,.0f}"
        return f"{self._sentence(rival)} replaces it if its lead is as large with {number} labels."

    def _sentence(self, model: int) -> str:
        return self.models[model][0].upper() + self.models[model][1:]

    def text(self, table: pd.DataFrame) -> str:
        """All of it, with a table of scores."""
        return f"{self.instruction}\n{self.expectation}\n\n{table.round(4).to_string()}\n\n{self.change}"
