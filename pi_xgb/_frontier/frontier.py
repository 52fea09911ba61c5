"""``frontier``: the cost of a constraint between groups on held-out rows, by weight or for a wanted gap."""

from __future__ import annotations

import copy
import dataclasses
import itertools
import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pandas as pd
import xgboost

from .._arrays import Array
from .._constraints.groups import BetweenGroups, EqualizedOdds
from .._core.crossfit import Split
from .._core.keywords import Keywords
from .._core.training import Guide
from .._progress import progress_bar
from .._rows.checks import check_bootstrap, check_jobs, check_whole
from .._rows.groups import MAX_GROUPS, Groups, check_few
from .._rows.names import describe
from .._rows.vectors import as_cut
from .._selection.candidates import PLAIN, positive_weights
from .._selection.students import Students, settled
from .._warnings import warn_user
from .._xgb.params import objective_name
from .._xgb.signature import called_like
from .._xgb.threads import in_threads, jobs_side_by_side
from .measured import HeldOut, gap_of
from .result import NO_STEP, Frontier, wanted_gaps

KL_WEIGHTS = (1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0)
_HALVINGS = 2
"""The number of halvings of the grid step in which a wanted gap is reached."""
_APART = 0.01
"""A gap parts from that of the training rows if the lower end of its interval is this much above it."""


@called_like(xgboost.cv)
def frontier(
    params: Any,
    dtrain: xgboost.DMatrix,
    num_boost_round: int = 100,
    *,
    constraint: Any,
    kl_weight: Any = KL_WEIGHTS,
    gap: Any = None,
    threshold: float = 0.5,
    nfold: int = 5,
    folds: Any = None,
    groups: Any = None,
    seed: int = 0,
    n_boot: int = 1000,
    confidence: float = 0.95,
    n_jobs: int | None = None,
    progress: bool | None = None,
) -> Frontier:
    """Measure the cost of a constraint between groups on held-out rows.

    Plain XGBoost and a student for each ``kl_weight`` of the constraint are trained on the same folds. Every row is
    scored by models that did not see it. Accuracy, the gap of the constraint and the cost in accuracy are computed over
    all rows together. Beside the gap stands that of the training rows; unless held-out rows reach a wanted gap, a
    warning says where the two part. Neither step of ``EqualizedOdds`` and its two halves is better on all data: both
    are measured, hessian="damped" and "full", unless the constraint has another ``hessian`` than the default.

    Parameters
    ----------
    params, dtrain : as for :func:`pi_xgb.train`
    num_boost_round : int, default=100
        The objective must be binary:logistic. For ``DemographicParity`` and ``EqualizedOdds`` the best number of rounds
        of plain XGBoost suits every weight, if it is forty or more. ``PredictiveParity``, and the others with
        hessian="adaptive", take shorter steps beyond a weight of 1 / eta and need more rounds there: with too few, the
        cost in the table includes that of missing rounds. Row weights count in training and in the table.
    constraint : Constraint
        A constraint of :mod:`pi_xgb.constraints` that compares groups, such as ``DemographicParity``, made of the
        groups of the rows of ``dtrain``. Its gap is ``statistical_parity``, ``equalized_odds``,
        ``equal_opportunity``, or the largest difference between two groups in precision or false positive rate.
        ``equalized_odds`` is the sum of the differences in true and in false positive rate, and goes up to 2;
        Fairlearn's is the larger of the two.
    kl_weight : float or sequence of float, default=(1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0)
        The weights to try, one or several. Plain XGBoost, which is 0, is always included.
    gap : float or sequence of float, default=None
        Wanted gaps, one or several numbers between 0 and 1, for ``EqualizedOdds`` between 0 and 2: the step of the
        weights in which the held-out gap falls to that size is halved twice more, and ``choices`` has the smallest
        weight that reaches it; of two steps the more accurate.
    threshold : float, default=0.5
        Rows with a probability above it are decided 1.
    nfold : int, default=5
    folds : splitter or list of (rows, rows), default=None
    groups : array-like, default=None
    seed : int, default=0
        The folds, as for :func:`pi_xgb.select`; ``groups`` are rows that belong together, not the compared groups.
    n_boot : int, default=1000
    confidence : float, default=0.95
        Draws for the intervals of the gap (0 for none), and the confidence of all intervals. Those of accuracy and
        cost are normal, that of the cost paired by row. They hold for these models and ignore that other training
        rows would give other models.
    n_jobs : int, default=None
        The number of folds to train at the same time, in threads; -1: one per core. The result does not depend on it.
        By default as for :func:`pi_xgb.select`: up to 10,000 rows, if params have no ``nthread``, each training has
        one thread and ``n_jobs`` is -1; otherwise 1.
    progress : as for :func:`pi_xgb.select`

    Returns
    -------
    Frontier
        The table, the choices, a plot, and :meth:`Frontier.train` for the model of a wanted gap.

    Notes
    -----
    It costs ``nfold`` trainings for each weight and for plain XGBoost, and twice ``nfold`` for each wanted gap; with
    two steps twice as many for weights and gaps. A weight that is chosen by its held-out gap often has a slightly
    larger gap on new rows, as the best of several is optimistic.

    Examples
    --------
    >>> import pi_xgb, xgboost as xgb
    >>> from pi_xgb.constraints import DemographicParity
    >>> data = pi_xgb.datasets.make_privileged(600, group_gap=2.0, seed=0)
    >>> dtrain, parity = xgb.DMatrix(data.x, data.y), DemographicParity(data.group)
    >>> params = {"objective": "binary:logistic", "max_depth": 2, "eta": 0.3, "nthread": 1}
    >>> found = pi_xgb.frontier(params, dtrain, 20, constraint=parity, kl_weight=[2, 20], gap=0.25, nfold=3, n_boot=200)
    >>> bool(found.table.loc[20.0, "statistical_parity"] < found.table.loc[0.0, "statistical_parity"] - 0.1)
    True
    >>> booster = found.train(dtrain, parity, gap=0.25)
    """
    weights = positive_weights(kl_weight, KL_WEIGHTS)
    check_whole("num_boost_round", num_boost_round, 1)
    check_bootstrap(n_boot, confidence)
    jobs, cut = check_jobs(n_jobs, progress), as_cut(threshold)
    final_params, rounds = settled(params), int(num_boost_round)
    _check(final_params, constraint)
    students = Students.read(final_params, rounds, dtrain, Keywords(), "frontier", groups=groups)
    constraint.check(dtrain.num_row())
    label, weight = dtrain.get_label(), dtrain.get_weight()
    if not np.isin(label, (0, 1)).all():
        raise ValueError(
            "dtrain must have labels 0 and 1 for frontier, which counts correct decisions, got labels from "
            f"{label.min()} to {label.max()}"
        )
    gaps = wanted_gaps(gap, constraint.gap)
    splits = students.splits(nfold, 1, folds, seed)
    rows = np.unique(np.concatenate([split.test for split in splits]))
    _check_weighed(splits, rows, label, weight)
    weight = weight[rows] if weight.size else None
    groups_of_rows = _compared(constraint, rows)
    held_out = HeldOut(label[rows], weight, groups_of_rows, constraint.gap, cut, n_boot, confidence, seed)
    jobs = jobs or jobs_side_by_side(final_params, dtrain.num_row())
    constraints = _by_step(constraint)
    steps = (1 + (len(weights) + _HALVINGS * len(gaps)) * len(constraints)) * len(splits)
    with progress_bar(steps, "frontier", progress) as step:

        def scores_of(kl_weight: float, taught_by: BetweenGroups) -> tuple[Array, float]:
            """Return the mean held-out score of each row, and the mean gap on training rows."""
            taught = dataclasses.replace(students, constraints=[Guide(taught_by, kl_weight)] if kl_weight else [])
            total, count = np.zeros((2, dtrain.num_row()))

            def of_fold(split: Split) -> tuple[Array, float]:
                part = taught.take(split.train, split.test)
                booster = part.fit(PLAIN, rounds)
                step()
                groups, scores = constraint.compared(split.train), booster.predict(part.dtrain)
                return booster.predict(part.held_out), gap_of(constraint.gap, part.dtrain, scores, groups, cut)

            held_out_scores, train_gaps = zip(*in_threads(of_fold, splits, jobs), strict=True)
            for split, scores in zip(splits, held_out_scores, strict=True):
                total[split.test] += scores
                count[split.test] += 1
            return (total[rows] / count[rows]).astype(np.float32), float(np.mean(train_gaps))

        plain, train_gap = scores_of(0.0, constraint)
        baseline = held_out.measure(plain, plain, train_gap)
        lines = [{"kl_weight": 0.0, **baseline, "hessian": NO_STEP}]
        for with_step in constraints:
            found = {0.0: baseline}
            for kl_weight in itertools.chain(weights, _closer(gaps, found, constraint.gap)):
                scores, train_gap = scores_of(kl_weight, with_step)
                found[kl_weight] = held_out.measure(scores, plain, train_gap)
            lines += [{"kl_weight": a, **found[a], "hessian": with_step.hessian} for a in found if a]
    table = pd.DataFrame(lines).set_index("kl_weight").sort_index(kind="stable")
    _warn_apart(table, constraint.gap, gaps)
    return Frontier(table, constraint.gap, final_params, rounds, gaps)


def _by_step(constraint: BetweenGroups) -> list[BetweenGroups]:
    """Return the constraint with each step to measure: a constraint within labels, if damped, with full steps too."""
    if not isinstance(constraint, EqualizedOdds) or constraint.hessian != "damped":
        return [constraint]
    full = copy.copy(constraint)
    full.hessian = "full"
    return [constraint, full]


def _warn_apart(table: pd.DataFrame, gap: str, wanted: Sequence[float]) -> None:
    """Warn where the gap on held-out rows is larger than on training rows, beyond chance.

    A wanted gap that held-out rows reach needs no warning: they made the choice.
    """
    if wanted and table[gap].min() <= min(wanted):
        return
    fitted = table[table["hessian"] != NO_STEP]
    apart = fitted[fitted[f"{gap}_low"] > fitted[f"{gap}_train"] + _APART]
    if not len(apart):
        return
    worst: Any = apart.iloc[int((apart[gap] - apart[f"{gap}_train"]).to_numpy().argmax())]
    warn_user(
        f"{gap} is larger on held-out rows than on training rows for {len(apart)} of {len(fitted)} models, such as "
        f"{worst[gap]:.3f} against {worst[f'{gap}_train']:.3f} at kl_weight {worst.name:g} with hessian="
        f'"{worst["hessian"]}": the constraint is overfitted. Choose by the held-out gap; more rows, fewer rounds or '
        "shallower trees help"
    )


def _check(params: dict[str, Any], constraint: Any) -> None:
    if not isinstance(constraint, BetweenGroups):
        raise TypeError(
            "constraint must compare groups of the rows of dtrain, as DemographicParity, EqualizedOdds, "
            "TruePositiveRateParity, FalsePositiveRateParity and PredictiveParity of one value per row do, got "
            f"{type(constraint).__name__}"
        )
    objective = objective_name(params)
    if objective != "binary:logistic":
        raise ValueError(
            f"params['objective'] must be 'binary:logistic' for frontier, which needs decisions, got {objective!r}"
        )


def _check_weighed(splits: Sequence[Split], rows: Array, label: Array, weight: Array) -> None:
    """Raise unless each fold trains on both labels and some held-out row has a weight above 0."""
    counts = weight > 0 if weight.size else np.ones(len(label), bool)
    for split in splits:
        labels = np.unique(label[split.train[counts[split.train]]])
        if len(labels) < 2:
            raise ValueError(
                "each fold must train on rows of labels 0 and 1 with weights above 0, got labels "
                f"{labels.tolist()} in fold {split.fold}: use other folds, or give such rows a weight above 0"
            )
    if not counts[rows].any():
        raise ValueError(
            "the rows that folds hold out must have weights above 0, got 0 in all of them: hold out other rows, or "
            "give them a weight above 0"
        )


def _compared(constraint: BetweenGroups, rows: Array) -> Groups:
    """Return the groups of the held-out rows, or raise if they cannot be compared."""
    groups = constraint.compared(rows)
    present = Groups(groups.codes[groups.codes >= 0], groups.names).by_appearance()
    if present.count < 2:
        raise ValueError(
            f"the rows that folds hold out must have at least two groups to compare, got {describe(present.names)} "
            "alone: hold out rows of others too"
        )
    check_few(present, len(rows), MAX_GROUPS)
    return groups


def _closer(gaps: Sequence[float], found: dict[float, Any], gap: str) -> Iterator[float]:
    """Yield weights within the grid step in which the gap falls to each wanted one; ``found`` gets their rows."""
    for wanted in [wanted for wanted in gaps for _ in range(_HALVINGS)]:
        weights = sorted(found)
        reached = [weight for weight in weights if found[weight][gap] <= wanted and not found[weight]["degenerate"]]
        if reached and reached[0] > 0:
            before = weights[weights.index(reached[0]) - 1]
            yield math.sqrt(before * reached[0]) if before else reached[0] / 2
