"""What a model records of differential privacy; the core calls it for every model, and is not imported here."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import xgboost

from ._warnings import warn_user
from ._xgb.collective import on_any_worker

PROVED, STATED = "proved", "stated by the user"
ATTRIBUTES = ("pi_xgb_epsilon", "pi_xgb_delta", "pi_xgb_epsilon_source", "pi_xgb_epsilon_scope")
_SCOPE = "a change of the privileged values of one row; not for x, y"


class HiddenNames:
    """Names as salted digests: a pickled teacher holds no name of a privileged column."""

    def __init__(self, names: Iterable[Any]) -> None:
        self._salt = os.urandom(hashlib.blake2b.SALT_SIZE)
        self._digests = {self._digest(name) for name in names}

    def _digest(self, name: Any) -> bytes:
        # XGBoost joins the levels of a column of several levels by spaces.
        text = " ".join(map(str, name)) if isinstance(name, tuple) else str(name)
        return hashlib.blake2b(text.encode(), salt=self._salt).digest()

    def has_any(self, names: Iterable[Any] | None) -> bool:
        """Whether any of these is among them."""
        return any(self._digest(name) in self._digests for name in names or ())


class Privacy(NamedTuple):
    """The guarantee of a teacher's q, ``about.privacy``: differential privacy in the privileged values."""

    epsilon: float
    delta: float
    source: str = STATED
    columns: HiddenNames = HiddenNames(())
    """The privileged columns, which the student must not have."""


def record_privacy(
    booster: xgboost.Booster, teachers: Sequence[Any], dtrain: xgboost.DMatrix, xgb_model: Any, obj: Any
) -> None:
    """Record the sum of the privacy budgets, or none, with a warning, where privileged values may have another path."""
    earlier = [booster.attr(name) for name in ATTRIBUTES[:3]]
    parts = [one.about.privacy for one in teachers if one.about.privacy is not None]
    if not parts and None in earlier:
        return
    others = ", ".join(sorted({type(one).__name__ for one in teachers if one.about.privacy is None}))
    paths = {
        f"{others} has no budget, and its information may come from privileged values": others,
        "obj may read privileged values": obj is not None,
        "dtrain has privileged columns: train without them": on_any_worker(
            any(part.columns.has_any(dtrain.feature_names) for part in parts)
        ),
        "xgb_model records none, and may have used privileged values": xgb_model is not None and None in earlier,
        "the base_margin of dtrain may come from privileged values": on_any_worker(dtrain.get_base_margin().size),
    }
    if opened := [path for path, is_open in paths.items() if is_open]:
        warn_user(f"the model records no epsilon, since {opened[0]}")
        booster.set_attr(**dict.fromkeys(ATTRIBUTES))
    elif parts:
        if None not in earlier:
            parts.append(Privacy(float(str(earlier[0])), float(str(earlier[1])), str(earlier[2])))
        epsilon, delta = (str(sum(part[i] for part in parts)) for i in (0, 1))
        source = STATED if any(part.source == STATED for part in parts) else parts[0].source
        booster.set_attr(**dict(zip(ATTRIBUTES, (epsilon, delta, source, _SCOPE), strict=True)))
