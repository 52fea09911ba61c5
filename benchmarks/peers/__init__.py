"""The peers of pi_xgb, one interface for all: ``PEERS[name]().fit(X, y, Z, sensitive, ...).predict_proba(X)``.

``peer.limit(n_rows, n_groups)`` says before any training whether a peer takes a set, and ``peer.missing()`` whether
its library is here; ``peer.note_`` says after training what a table must mention. PEERS maps the name in a table to a
function that makes the peer; adding one is one line.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from ._base import Limit, Peer
from .gpc_plus import GPC, GPCPlus
from .installed import DPEBM, EBM, SVM, FairGBM, FairlearnExponentiatedGradient
from .mfc import MFC
from .svm_plus import L2SVMPlus, SVMPlus

PEERS: dict[str, Callable[..., Peer]] = {
    "SVM": SVM,
    "SVM+": SVMPlus,
    "L2-SVM+": L2SVMPlus,
    "GPC": GPC,
    "GPC+": GPCPlus,
    "MFC c=0": MFC,
    "MFC c chosen": partial(MFC, c=None),
    "Fairlearn EG": FairlearnExponentiatedGradient,
    "FairGBM": FairGBM,
    "EBM": EBM,
    "DP-EBM": DPEBM,
}

__all__ = [
    "DPEBM",
    "EBM",
    "GPC",
    "MFC",
    "PEERS",
    "SVM",
    "FairGBM",
    "FairlearnExponentiatedGradient",
    "GPCPlus",
    "L2SVMPlus",
    "Limit",
    "Peer",
    "SVMPlus",
]
