"""The kernel machines as the document of GPC+ tunes them: by classification error, on at most 50 components."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.decomposition import PCA
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.svm import SVC

from benchmarks.modes.fold_work import FoldWork
from benchmarks.peers import GPC, SVM, GPCPlus, Peer, SVMPlus
from benchmarks.peers._base import Encoder, Option, Rows, best_on_grid, median_squared_distance, validation_auc
from benchmarks.peers.svm_plus import OPTIONS, PENALTIES, WIDTHS

COMPONENTS = 50
FOLDS = 5
Table = npt.NDArray[Any]


class Components(Encoder):
    """At most 50 principal components of the encoded columns; the columns themselves where they are no more."""

    def fit_transform(self, X: Table) -> Table:
        """Learn encoding and components of X, and apply them."""
        encoded = super().fit_transform(X)
        self._pca = None
        if encoded.shape[1] > COMPONENTS:
            self._pca = PCA(min(COMPONENTS, len(X)), random_state=0).fit(encoded)
        return encoded if self._pca is None else self._pca.transform(encoded)

    def transform(self, X: Table) -> Table:
        """Apply what was learned."""
        encoded = super().transform(X)
        return encoded if self._pca is None else self._pca.transform(encoded)


def few_errors(decision: Table, rows: Rows) -> tuple[float, float]:
    """The share of right decisions, and where that is equal the AUC."""
    return float(np.mean((decision > 0) == rows.y)), validation_auc(decision, rows)


class ReducedGPC(GPC):
    """On components."""

    _encoder_of = Components


class ReducedGPCPlus(GPCPlus):
    """On components."""

    _encoder_of = Components


@dataclass
class CrossValidatedSVM(SVM):
    """C and width by the error in cross-validation over the training rows, on components."""

    def _fit(self, train: Rows, valid: Rows) -> None:
        self._encoder = Components(self.x_types)
        x = self._encoder.fit_transform(train.x)
        grid = {"C": PENALTIES, "gamma": [width / median_squared_distance(x) for width in WIDTHS]}
        folds = StratifiedKFold(FOLDS, shuffle=True, random_state=self.seed)
        self._machine = GridSearchCV(SVC(), grid, cv=folds).fit(x, train.y)

    def _score(self, X: Table) -> Table:
        return np.asarray(self._machine.predict(self._encoder.transform(X)))


@dataclass
class ErrorSVMPlus(SVMPlus):
    """All four parameters by the error on the validation rows, over all combinations."""

    _encoder_of = Components

    def _search(self, decide: Callable[[Option], Table], valid: Rows) -> Option:
        return best_on_grid(OPTIONS, decide, valid, few_errors)

    def _score(self, X: Table) -> Table:
        return np.asarray(self._decide(X) > 0, dtype=float)


MACHINES: dict[str, Callable[[], Peer]] = {
    "GPC": ReducedGPC,
    "GPC+": ReducedGPCPlus,
    "SVM": CrossValidatedSVM,
    "SVM+": ErrorSVMPlus,
}


def tested(make: Callable[[], Peer], work: FoldWork) -> Table:
    """The probabilities of the test rows."""
    peer = make()
    x = {rows: work.features("x", rows)[0].to_numpy(dtype=float) for rows in ("train", "valid", "test")}
    z, z_types = work.features("z", "train")
    types = {"x_types": work.features("x", "train")[1], "z_types": z_types}
    valid = {"X_valid": x["valid"], "y_valid": work.labels("valid")}
    peer.fit(x["train"], work.labels("train"), z.to_numpy(dtype=float), **types, **valid)
    return peer.predict_proba(x["test"])[:, 1]


AS_MACHINES = {name: partial(tested, make) for name, make in MACHINES.items()}
