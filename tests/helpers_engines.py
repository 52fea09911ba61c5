"""Plans of trainings for tests of the engines, without rows and teachers of their own."""

from __future__ import annotations

import types
from typing import Any

from pi_xgb._core.engines import native
from pi_xgb._core.job import Boosting, Plan
from pi_xgb._core.spec import Spec


def plan_of(
    spec: Spec,
    *,
    is_adaptive: bool = False,
    moves_freely: bool = False,
    total_weight: float = 1.0,
    is_uniform: bool = True,
    is_noisy: bool = False,
    dtrain: Any = None,
    evals: Any = (),
    callbacks: Any = None,
) -> Plan:
    """A plan whose teachers are such ones."""
    supervision: Any = types.SimpleNamespace(
        is_adaptive=is_adaptive,
        moves_freely=moves_freely,
        total_weight=total_weight,
        is_noisy=is_noisy,
        teachers=[object()],
    )
    boosting = Boosting(evals=evals, callbacks=callbacks)
    return Plan(spec=spec, supervision=supervision, is_uniform=is_uniform, dtrain=dtrain, boosting=boosting)


def native_obstacle(spec: Spec, **more: Any) -> str | None:
    """Why the native engine is not exact for such a plan."""
    return native.obstacle(plan_of(spec, **more))
