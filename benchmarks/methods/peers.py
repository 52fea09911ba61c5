"""The peers as methods: the same folds, the same features, their own choices on the validation rows.

Their settings do not depend on the mode, and they see zeros as zeros in either.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from benchmarks.methods._method import Method, Refused
from benchmarks.modes.fold_work import FoldWork, Scores
from benchmarks.peers import PEERS, Peer

# From the cheapest to the dearest, as measured on a fold of compas and of adult; a peer that is not here comes last.
ORDER = (
    *("MFC c=0", "DP-EBM", "FairGBM", "GPC", "MFC c chosen", "GPC+"),
    *("SVM", "EBM", "L2-SVM+", "SVM+", "Fairlearn EG"),
)
FIRST_COST = 10


def scores_of(make: Callable[[], Peer], work: FoldWork) -> Scores:
    """Fit the peer on the training rows, let it choose on the validation rows."""
    peer = make()
    if hasattr(peer, "n_jobs"):
        peer.n_jobs = work.nthread
    y = work.labels("train")
    groups = {rows: sensitive(work, rows) for rows in ("train", "valid")}
    limit = peer.limit(len(y), [len(np.unique(column)) for column in groups["train"].T])
    if limit is not None and not limit.runs:
        raise Refused(limit.reason)
    tables = {rows: work.features("x", rows)[0].to_numpy(dtype=float) for rows in ("train", "valid", "test")}
    z, z_types = work.features("z", "train")
    peer.fit(
        tables["train"],
        y,
        z.to_numpy(dtype=float),
        groups["train"],
        X_valid=tables["valid"],
        y_valid=work.labels("valid"),
        sensitive_valid=groups["valid"],
        x_types=work.features("x", "train")[1],
        z_types=z_types,
    )
    valid, test = (peer.predict_proba(tables[rows])[:, 1] for rows in ("valid", "test"))
    drawn = "the score is the chance of a drawn decision" if peer.randomised else ""
    note = "; ".join(part for part in (drawn, peer.note_) if part)
    return Scores(valid, test, note=note, probabilities=not peer.randomised)


def sensitive(work: FoldWork, rows: str) -> np.ndarray:
    """One column of 0 and 1 per protected attribute; no column where the set has none."""
    numbers = work.part(rows)
    columns = [group[numbers] for group in work.dataset.protected]
    return np.column_stack(columns) if columns else np.empty((len(numbers), 0), dtype=np.int64)


def method(name: str, make: Callable[[], Peer]) -> Method:
    """The record of one peer."""
    peer = make()
    module = (peer.module or "scikit-learn").split(".")[0]
    return Method(
        name=name,
        run=partial(scores_of, make),
        cost=FIRST_COST + (ORDER.index(name) if name in ORDER else len(ORDER)),
        modes=("paper", "current"),
        boosted=False,
        missing=peer.missing,
        library={"interpret": "interpret-core"}.get(module, module),
    )


AS_METHODS = tuple(method(name, make) for name, make in PEERS.items())
