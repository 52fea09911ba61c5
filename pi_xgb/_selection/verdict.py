"""The verdict of a comparison: which model to deploy, and why."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping, Sequence

from .._stats.paired import STANDARD_ERRORS, Interval
from .compared_models import BASELINE, RIVAL, SELF, SHUFFLED, STUDENT, TEACHER
from .scores import Score
from .words import against, gain_in_words

UNDECIDED = "undecided"
_WORTH_HAVING = 0.1
"""A gain of the student below this share of its teacher's is not worth another model."""
_MOST = 100
"""Larger multiples of the number of rows are not reported, since the estimate is too poor."""


def _is_ahead(gain: Interval) -> bool:
    """Whether the gain is more than half a standard error, as ``select`` demands."""
    return gain.mean > STANDARD_ERRORS * gain.error


@dataclasses.dataclass(frozen=True)
class Evidence:
    """The results on held-out rows, from which the verdict follows."""

    score: Score
    confidence: float
    means: Mapping[str, float]
    """The mean score of each model."""
    gains: Mapping[str, Interval]
    """The gain of each model over plain XGBoost."""
    over: Mapping[str, Interval]
    """The student's gain over each model that it must beat: plain XGBoost, the controls and the best rival."""
    critical: Mapping[str, float]
    """By the same models, the multiple of its standard error that a gain must exceed."""
    better: Mapping[str, str]
    """By model, the number of folds in which it is better than plain XGBoost."""
    rival: str
    """The kind of the best rival."""
    n_labelled: int

    def is_shown(self, other: str) -> bool:
        """Whether the student is significantly better. A gain that is equal in all folds has an unknown error."""
        gain = self.over[other]
        return gain.error > 0 and gain.mean > self.critical[other] * gain.error

    @property
    def is_earned(self) -> bool:
        """Whether privileged features improve the model, whatever its rivals."""
        return all(map(self.is_shown, (BASELINE, SELF, SHUFFLED)))

    @property
    def others(self) -> list[str]:
        """The models that need no privileged features."""
        return [model for model in (SELF, RIVAL) if model in self.gains]

    @property
    def fallback(self) -> str:
        """The best model without privileged features that is significantly better than plain XGBoost, or that."""
        better = [model for model in self.others if self.gains[model].low > 0 and self.gains[model].error > 0]
        return max(better, key=lambda model: self.gains[model].mean, default=BASELINE)

    @property
    def recommendation(self) -> str:
        """The model to deploy, or ``UNDECIDED``.

        The fallback is recommended where the student gains less than a tenth of what its teacher gains, or where
        neither the student is ahead of it by half a standard error nor the teacher better on average. The teacher is no
        evidence against self-distillation, whose teacher is better than its student as well.
        """
        if all(map(self.is_shown, self.over)):
            return STUDENT
        fallback, teacher = self.fallback, self.gains[TEACHER]
        lead = self.over[fallback]
        if teacher.low > 0 and lead.high < _WORTH_HAVING * teacher.mean:
            return fallback
        leads = [lead, *(self.gains[model] for model in self.others if fallback == BASELINE)]
        is_taught_better = fallback != SELF and teacher.mean > self.gains[fallback].mean
        return UNDECIDED if is_taught_better or any(map(_is_ahead, leads)) else fallback

    @property
    def sentence(self) -> str:
        """The recommendation and its reason."""
        model = self.recommendation
        if model == UNDECIDED:
            return self._undecided()
        versus = f"{against(self.score, self.means[model], self.means[BASELINE])} of plain XGBoost"
        if model == BASELINE:
            gains = self._gains(self.gains, [STUDENT, *self.others, TEACHER])
            return f"Deploy plain XGBoost: no other model is shown to be better. Gains over it: {gains}."
        gain = f"a gain of {self._gain(self.gains[model])}, in {self.better[model]} folds"
        reason = f"Deploy {self._name(model)}: {versus}, {gain}."
        if model == STUDENT:
            others = self._gains(self.over, [other for other in self.over if other != BASELINE])
            return f"{reason} It is also significantly better than others. Its gains over them: {others}."
        lead = self._gain(self.over[model])
        return f"{reason} A student taught with privileged features is not shown to be better: it gains {lead} over it."

    def _undecided(self) -> str:
        doubts = [other for other in self.over if not self.is_shown(other)]
        surely = "" if self.gains[TEACHER].low > 0 else "not "
        values = against(self.score, self.means[TEACHER], self.means[BASELINE])
        until = f"Until then deploy {self._name(self.fallback)}"
        if self.fallback == BASELINE:
            until += ", since no model without privileged features is significantly better"
        return (
            f"Undecided: the teacher is {surely}significantly better than plain XGBoost ({values}), and "
            f"{self.n_labelled:,} labelled rows do not show that the student is better than others. It is better than "
            f"plain XGBoost in {self.better[STUDENT]} folds. Its gains that are not significant: "
            f"{self._gains(self.over, doubts)}. {self._needed(doubts)}. {until}."
        )

    def _needed(self, doubts: Sequence[str]) -> str:
        """Return how many labelled rows would show the gains, as far as the measured spread allows to say."""
        gains = [(self.over[other], self.critical[other]) for other in doubts]
        if any(gain.error == 0 or gain.mean <= 0 for gain, _ in gains):
            return "As long as it is behind one of them, more rows cannot show it"
        needed = self.n_labelled * max((critical * gain.error / gain.mean) ** 2 for gain, critical in gains)
        number = f"more than {_MOST * self.n_labelled:,}"
        if needed <= _MOST * self.n_labelled:
            unit = 10 ** (math.floor(math.log10(needed)) - 1)
            number = f"about {math.ceil(needed / unit) * unit:,.0f}"
        assumed = "If the gains stay as large and their standard errors fall with the root of the rows"
        return f"{assumed}, {number} labelled rows would show them"

    def _gains(self, gains: Mapping[str, Interval], models: Sequence[str]) -> str:
        return ", ".join(f"{self._name(model)} {self._gain(gains[model])}" for model in models)

    def _gain(self, gain: Interval) -> str:
        return gain_in_words(gain, self.confidence)

    def _name(self, model: str) -> str:
        return {
            STUDENT: "the student taught with privileged features",
            SELF: "the student taught without privileged features (self-distillation)",
            SHUFFLED: "the student taught with shuffled privileged features (shuffled)",
            RIVAL: f"the best rival ({self.rival})",
            TEACHER: "the teacher",
        }.get(model, model)
