"""Objectives, params and labels for the tests of learners."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from pi_xgb._core.losses import LOSSES
from pi_xgb._core.spec import Spec

N_CLASSES = 3
WITH_MEAN = sorted(name for name, loss in LOSSES.items() if "callback" in loss.engines)
OF_TARGETS = [name for name in WITH_MEAN if LOSSES[name].takes_targets]
# Labels of several columns, too: the number of targets, or 0.
every_shape = pytest.mark.parametrize(
    ("name", "n_targets"), [(name, 0) for name in WITH_MEAN] + [(name, 2) for name in OF_TARGETS]
)


def spec_of(name: str, **params: Any) -> Spec:
    classes = {"num_class": N_CLASSES} if LOSSES[name].multiclass else {}
    return Spec.read({"objective": name, "nthread": 1, **classes, **params})


def labels(name: str, signal: np.ndarray, seed: int = 0, n_targets: int = 0) -> np.ndarray:
    """Labels of the kind that the objective has, which grow with the signal."""
    rng, loss = np.random.default_rng(seed), LOSSES[name]
    if n_targets:
        return np.stack([labels(name, signal, seed + k) for k in range(n_targets)], axis=1)
    noisy = signal + rng.normal(size=len(signal))
    if loss.multiclass:
        label = np.clip(np.floor(noisy + 1.5), 0, N_CLASSES - 1)
        label[:N_CLASSES] = np.arange(N_CLASSES)
        return label.astype(np.float32)
    if loss.probabilities:
        return (noisy > 0).astype(np.float32)
    if name == "reg:gamma":
        return rng.gamma(3, np.exp(signal / 2) / 3).astype(np.float32)
    if loss.has_exposure:
        return rng.poisson(np.exp(signal / 2)).astype(np.float32)
    return noisy.astype(np.float32)
