"""Constraints as teachers: q is what the constraint would have the student's current predictions be.

Use one wherever a teacher is taken, alone, with others, or beside a privileged teacher::

    pi_xgb.train(params, dtrain, 200, teacher=GroupParity(sex), kl_weight=5.0)
    pi_xgb.train(params, dtrain, 200, teacher=[(GroupParity(sex), 5.0), (q, 0.5)])

The sensitive column is needed for the training rows only: the model never sees it.

What ``kl_weight`` does here. q is made anew from the predictions of every round, so the pull is towards
*satisfying* the constraint, not towards fixed values, and ``kl_weight`` is its price against the labels. Labels
that break the constraint keep pulling the other way, so a violation shrinks with growing ``kl_weight`` and does
not vanish at a finite one. Predictions that satisfy the constraint are left alone: there q = p to the bit. A
large ``kl_weight`` slows learning as a whole, since it stays in the Hessian where the pull is 0: with
``kl_weight`` = a, a step is about 1 / (1 + a) of what it was. Give more rounds along with a larger ``kl_weight``,
or part of what looks like fairness is a model that has learned little yet. (One 70/30 split of
adult, depth 6, eta 0.3, GroupParity on sex at ``kl_weight`` = 20: from 100 to 500 rounds the test AUC rose from .864 to
.883 and the accuracy from .829 to .845, with the gap in positive rate going from .020 to .012.)

``soft=True``, the default, works on the predictions themselves and pulls every row. ``soft=False`` works by counting
decisions, p > 1/2: it finds the rows whose decision the constraint would change and pulls those alone; all other
rows have q = p. It therefore acts on the decisions at 1/2 where the soft form acts on scores at every threshold, it
needs probabilities of one class, and for the same effect it wants a larger ``kl_weight``. Why the counts themselves
are not q: a share of decisions as q would have every row repeat its present decision. Training mostly starts with
all rows decided alike, say 0; the share is then 0, and from ``kl_weight`` = 1 on the blended target of a positive
row, 1 / (1 + a), no longer exceeds 1/2.

Row weights count: means, ranks and shares are weighted. Predictions are computed on the host; those of a GPU are
copied there and back in every round. With classes (``multi:softprob``), parity is made for each class and the row
brought back to sum to 1; averages over similar rows sum to 1 by themselves.

Where rows are split over workers (:func:`pi_xgb.train` inside a communicator, :mod:`pi_xgb.dask`), each worker makes
the constraint of its own rows, inside the communicator; means, ranks and shares are those of the rows of all workers,
and the model is that of one machine. A group may be absent on a worker; what workers call by equal names is one group.
The price is communication in every round: 16 bytes for each distinct prediction in each group, gathered on every
worker, which sends and receives about twice that. A million rows with a million distinct predictions are 16 MB.
``MetricFairness(key=)`` sends 16 bytes for each key. Neighbours by ``radius`` or ``k`` are an error there, since no
worker has the rows to find them in. Row weights that are whole numbers have the sums of one machine to the bit; sums of
others differ from them in the last digits of a float64.

Examples
--------
>>> import pi_xgb, xgboost as xgb
>>> from pi_xgb.constraints import GroupParity
>>> data = pi_xgb.datasets.make_privileged(500, seed=0, group_gap=2.0)
>>> dtrain = xgb.DMatrix(data.x, data.y)
>>> def gap(**teaching):
...     params = {"objective": "binary:logistic", "max_depth": 2, "nthread": 1}
...     p = pi_xgb.train(params, dtrain, 30, **teaching).predict(dtrain)
...     return abs(p[data.group == 0].mean() - p[data.group == 1].mean())
>>> bool(gap(teacher=GroupParity(data.group), kl_weight=10.0) < gap() / 3)
True
"""

from __future__ import annotations

from ._constraints.groups import EqualizedOdds, GroupParity
from ._constraints.merit import Meritocracy
from ._constraints.similarity import MetricFairness

__all__ = ["EqualizedOdds", "GroupParity", "Meritocracy", "MetricFairness"]
