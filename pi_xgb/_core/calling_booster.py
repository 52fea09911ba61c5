"""The Booster that asks for a gradient: which loss it trains, and whether its training is a new one."""

from __future__ import annotations

import sys
import weakref
from typing import Any

import xgboost

from .._arrays import Array
from .._xgb.booster import configuration_of, settings_of
from .._xgb.params import regularisation_of, step_of
from .distillation import DistillationLoss
from .loss import Loss
from .losses import loss_with_gradient


class _Asked:
    """What is known of Boosters that ask: they stay behind, a copy or another process begins anew."""

    def __reduce__(self) -> Any:
        return type(self), ()


class AskedLoss(_Asked):
    """Which loss a Booster asks for: that of its own objective, with its own params."""

    def __init__(self) -> None:
        self._known: tuple[weakref.ref[xgboost.Booster], tuple[str, Loss]] | None = None

    def of(self, booster: xgboost.Booster | None, named: str | None, scale_pos_weight: float) -> tuple[str, Loss]:
        """Its objective and loss; without a Booster those that are ``named``."""
        if booster is None:
            if named is None:
                raise ValueError(
                    "no Booster asks for this gradient, so nothing says which loss it is of: name it, "
                    "KLObjective(q, objective='binary:logistic')"
                )
            return named, loss_with_gradient(named)
        known = self._known
        if known is None or known[0]() is not booster:
            its = configuration_of(booster)
            loss = loss_with_gradient(its.objective).of(its.objective_params)
            _check_agree(named, its.objective)
            if loss.applies_scale_pos_weight:
                _check_scale(float(its.objective_params["scale_pos_weight"]), scale_pos_weight)
            known = self._known = weakref.ref(booster), (its.objective, loss)
        return known[1]


def _check_agree(named: str | None, objective: str) -> None:
    if named is not None and not loss_with_gradient(named).has_gradient_of(loss_with_gradient(objective)):
        raise ValueError(
            f"KLObjective was made for objective={named!r}, and the Booster that asks trains {objective!r}: set "
            f"params['objective'] = {named!r} (without a name XGBoost takes reg:squarederror), or name no objective "
            "in KLObjective, which then takes the Booster's"
        )


def _check_scale(asked: float, given: float) -> None:
    if asked not in (1, given):
        raise ValueError(
            f"params['scale_pos_weight'] is {asked:g}, which XGBoost ignores under a custom objective, and KLObjective "
            f"has {given:g}: say KLObjective(..., scale_pos_weight={asked:g}), or leave it out of params"
        )


class NewTraining(_Asked):
    """Tells the first round of a training, in which teachers must start, from the rounds after it."""

    def __init__(self) -> None:
        self._booster: weakref.ref[xgboost.Booster] | None = None
        self._averages: weakref.WeakKeyDictionary[xgboost.Booster, dict[int, Array]] = weakref.WeakKeyDictionary()
        self._settings: dict[str, str] = {}

    @property
    def eta(self) -> float:
        """The step of the booster that asks, as it was when the training began."""
        return step_of(self._settings)

    def start(self, distillation: DistillationLoss, dtrain: xgboost.DMatrix | None, base_score: Any = None) -> None:
        """Start teachers that follow, unless this is a later round of the training in which they were started."""
        if not distillation.is_adaptive:
            return
        booster = calling_booster()
        if booster is None or self._booster is None or self._booster() is not booster:
            distillation.start(booster, dtrain, base_score)
            self._settings = {} if booster is None else settings_of(booster)
            # Remembered only now: a teacher that refused to start must refuse again.
            self._booster = None if booster is None else weakref.ref(booster)
        distillation.regularisation = regularisation_of(self._settings)
        # Each training has its own, also where the rounds of several alternate; without a Booster nobody knows which.
        distillation.averages = None if booster is None else self._averages.setdefault(booster, {})


def calling_booster() -> xgboost.Booster | None:
    """The Booster whose update asks for this gradient.

    XGBoost passes an objective neither its booster nor the round, so a teacher that grows with the student has
    no other way to tell the next round from the first round of another training. Margins do not tell: a tree
    may leave them as they were, and a second training may start from any of them.
    """
    frame = sys._getframe(1)  # its own one, looked into, would hold itself, and the Booster with it
    while frame is not None:
        caller = frame.f_locals.get("self")
        if isinstance(caller, xgboost.Booster):
            return caller
        frame = frame.f_back  # type: ignore[assignment]
    return None
