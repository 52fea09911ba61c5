"""Which rival a user would take: the one that cross-validates best on the labelled rows."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
from sklearn.metrics import log_loss, roc_auc_score
from sklearn.model_selection import StratifiedKFold

if TYPE_CHECKING:
    from benchmarks.unlabelled.cell import Work

Method = Callable[["Work"], npt.NDArray[Any]]
FOLDS = 5


def cross_validated(work: Work, rivals: Mapping[str, Method]) -> dict[str, dict[str, float]]:
    """AUC and log loss of each rival, the means over folds of the labelled rows; held-out rows count as unlabelled."""
    folds = StratifiedKFold(FOLDS, shuffle=True, random_state=work.draw.repeat)
    labelled = np.flatnonzero(work.known)
    parts = [work.without(labelled[held]) for _, held in folds.split(labelled, work.few.y)]
    return {name: mean_scores([(part.draw.test.y, rival(part)) for part in parts]) for name, rival in rivals.items()}


def mean_scores(parts: list[tuple[npt.NDArray[Any], npt.NDArray[Any]]]) -> dict[str, float]:
    """Log loss has its sign turned, so that higher is better in both."""
    auc = [roc_auc_score(y, chance) for y, chance in parts if len(np.unique(y)) == 2]
    loss = [log_loss(y, np.asarray(chance, np.float64), labels=[0, 1]) for y, chance in parts]
    return {"auc": float(np.mean(auc)) if auc else 0.5, "logloss": -float(np.mean(loss))}
