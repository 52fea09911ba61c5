"""Seeded data with known truth, for tests, examples and the demo."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pandas as pd


class PrivilegedData(NamedTuple):
    """The result of :func:`make_privileged`.

    Attributes
    ----------
    x, z
        Classifier features, known at training and at prediction, and privileged features, known at training only.
    y, group
        Labels, and a sensitive group that is in neither x nor z; both 0 or 1.
    q
        The true P(y = 1 | x, z) before label noise: the predictions of a perfect teacher.

    Examples
    --------
    >>> from pi_xgb.datasets import make_privileged
    >>> data = make_privileged(100, seed=0)
    >>> data.x.shape, data.z.shape, sorted(data.y.unique().tolist())
    ((100, 8), (100, 3), [0, 1])
    """

    x: pd.DataFrame
    z: pd.DataFrame
    y: pd.Series[int]
    group: pd.Series[int]
    q: pd.Series[float]


def make_privileged(
    n_rows: int = 1000,
    *,
    n_features: int = 8,
    n_privileged: int = 3,
    strength: float = 2.0,
    x_noise: float = 1.0,
    label_noise: float = 0.0,
    group_share: float = 0.3,
    group_gap: float = 0.0,
    seed: int = 0,
) -> PrivilegedData:
    """Draw rows whose privileged features predict the label better than the classifier features do.

    A hidden score u decides the label: P(y = 1) = sigmoid(strength * u). The privileged features are
    ``n_privileged`` copies of u with little noise. The classifier features are ``n_features`` copies with more
    noise, every second one transformed. A teacher on z can therefore distinguish a row that is surely positive from
    a row that is positive by chance, which the labels alone do not show the student.

    Parameters
    ----------
    n_rows : int, default=1000
    n_features : int, default=8
    n_privileged : int, default=3
        Numbers of rows, of classifier features and of privileged features.
    strength : float, default=2.0
        How well u predicts y: at 0 not at all, at 2 with an AUC of about 0.87. At 10 labels are almost certain, and a
        teacher has nothing to add to them.
    x_noise : float, default=1.0
    label_noise : float, default=0.0
        Standard deviation of the noise on each classifier feature (that of u is 1), and share of flipped labels.
    group_share : float, default=0.3
    group_gap : float, default=0.0
    seed : int, default=0
        Share of group 1, and how much lower its u is, in standard deviations. The same seed gives the same data.

    Examples
    --------
    >>> data = make_privileged(500, seed=1)
    >>> data.x.shape, data.z.shape, sorted(data.y.unique().tolist())
    ((500, 8), (500, 3), [0, 1])
    """
    for name, share in (("label_noise", label_noise), ("group_share", group_share)):
        if not 0 <= share <= 1:
            raise ValueError(f"{name} must lie between 0 and 1, got {share!r}")

    rng = np.random.default_rng(seed)
    group = (rng.random(n_rows) < group_share).astype(np.int64)
    u = rng.normal(size=n_rows) - group_gap * group
    q = 1 / (1 + np.exp(-strength * u))
    y = (rng.random(n_rows) < q).astype(np.int64)
    y = np.where(rng.random(n_rows) < label_noise, 1 - y, y)

    z = u[:, None] + 0.1 * rng.normal(size=(n_rows, n_privileged))
    blurred = u[:, None] + x_noise * rng.normal(size=(n_rows, n_features))
    x = np.where(np.arange(n_features) % 2 == 0, blurred, np.tanh(blurred))
    return PrivilegedData(
        x=pd.DataFrame(x, columns=[f"x{i}" for i in range(n_features)]),
        z=pd.DataFrame(z, columns=[f"z{i}" for i in range(n_privileged)]),
        y=pd.Series(y, name="y"),
        group=pd.Series(group, name="group"),
        q=pd.Series(q, name="q"),
    )
