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
from .._core.keywords import Keywords
from .._core.train import train
from .._core.training import Guide
from .._plots.by_table import plot_frontier
from .._progress import progress_bar
from .._rows.checks import check_bootstrap, check_jobs, several
from .._rows.groups import Groups, check_few
from .._rows.names import describe
from .._rows.scores import as_cut
from .._selection.candidates import PLAIN, positive_weights
from .._selection.splits import Split
from .._selection.students import Students
from .._warnings import warn_user
from .._xgb.params import objective_name, user_params
from .._xgb.signature import called_like
from .._xgb.threads import in_threads, jobs_side_by_side
from .measured import HeldOut, gap_of

NO_STEP = "none"
"""The step of plain XGBoost in the table."""
LARGEST = {"equalized_odds": 2}
"""The maxima of gaps that are sums of differences; the maximum of others is 1."""
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
    check_bootstrap(n_boot, confidence)
    cut = as_cut(threshold)
    _check(params, constraint)
    students = Students.read(params, num_boost_round, dtrain, Keywords(), "frontier", groups=groups)
    jobs = check_jobs(n_jobs, progress) or jobs_side_by_side(params, dtrain.num_row())
    constraint.check(dtrain.num_row())
    label, weight = dtrain.get_label(), dtrain.get_weight().astype(np.float64)
    weight = weight if weight.size else np.ones(len(label))
    if not np.isin(label, (0, 1)).all():
        raise ValueError(f"dtrain must have labels 0 and 1 for frontier, got labels of {label.min()} to {label.max()}")
    gaps = wanted_gaps(gap, constraint.gap)
    splits = students.splits(nfold, 1, folds, seed)
    # The user's folds may hold out a row several times.
    rows, place = np.unique(np.concatenate([split.test for split in splits]), return_inverse=True)
    _check_weighed(splits, rows, label, weight)
    compared = _compared(constraint, rows)
    how = {"n_boot": n_boot, "confidence": confidence, "random_state": seed}
    held_out = HeldOut(label[rows] == 1, weight[rows], compared, constraint.gap, cut, how)
    constraints = [constraint]
    if isinstance(constraint, EqualizedOdds) and constraint.hessian == "damped":
        constraints.append(copy.copy(constraint))
        constraints[1].hessian = "full"
    steps = (1 + (len(weights) + _HALVINGS * len(gaps)) * len(constraints)) * len(splits)
    with progress_bar(steps, "frontier", progress) as step:

        def scores_of(kl_weight: float, taught_by: BetweenGroups) -> tuple[Array, float]:
            """Return the mean held-out score of each row, and the mean gap on training rows."""
            taught = dataclasses.replace(students, constraints=[Guide(taught_by, kl_weight)] if kl_weight else [])

            def of_fold(split: Split) -> tuple[Array, float]:
                part = taught.take(split.train, split.test)
                booster = part.fit(PLAIN, students.num_boost_round)
                step()
                own, selected = split.train, booster.predict(part.dtrain) > cut
                train_gap = gap_of(constraint.gap, label[own] == 1, selected, weight[own], constraint.compared(own))
                return booster.predict(part.held_out), train_gap

            scores, train_gaps = zip(*in_threads(of_fold, splits, jobs), strict=True)
            mean = np.bincount(place, np.concatenate(scores)) / np.bincount(place)
            return mean.astype(np.float32), float(np.mean(train_gaps))

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
    return Frontier(table, constraint.gap, students.params, students.num_boost_round, gaps)


class Frontier:
    """The result of :func:`frontier`. It holds numbers only, no data.

    Attributes
    ----------
    table
        A row for each ``kl_weight``, 0 being plain XGBoost, and each step: ``accuracy``, the gap by its name, and
        ``cost``, the loss of accuracy against plain XGBoost. Columns ending in ``_low`` and ``_high`` have their
        intervals; the gap's name with ``_train`` has the gap on the training rows, mean over the folds; ``hessian`` has
        the step, "none" for plain XGBoost. ``positive`` is the share of positive decisions. ``degenerate`` marks models
        that decide the same for nearly all rows: their share of positive decisions is below 0.2 or above 5 times that
        of plain XGBoost, or their accuracy is that of one decision for all. No gap chooses them.
    gap
        The name of the gap.
    choices
        For each wanted gap the row of the smallest weight that reaches it on held-out rows, with the more accurate
        step; NaN if it is not reached.

    Examples
    --------
    >>> import pi_xgb, xgboost as xgb
    >>> data = pi_xgb.datasets.make_privileged(600, group_gap=1.0, seed=0)
    >>> dtrain, parity = xgb.DMatrix(data.x, data.y), pi_xgb.constraints.DemographicParity(data.group)
    >>> params = {"objective": "binary:logistic", "max_depth": 2, "nthread": 1}
    >>> found = pi_xgb.frontier(params, dtrain, 10, constraint=parity, kl_weight=[10, 1000], nfold=2, n_boot=0)
    >>> list(found.table.index), found.gap
    ([0.0, 10.0, 1000.0], 'statistical_parity')
    >>> bool(found.at(0.25)["statistical_parity"] <= 0.25)
    True
    """

    def __init__(
        self, table: pd.DataFrame, gap: str, params: dict[str, Any], rounds: int, wanted: Sequence[float]
    ) -> None:
        self.table, self.gap = table, gap
        self._params, self._rounds, self._wanted = params, rounds, list(wanted)

    @property
    def choices(self) -> pd.DataFrame:
        """A row for each wanted gap."""
        rows = self.table.reset_index().reindex([self._reaching(gap) for gap in self._wanted])
        return rows.set_index(pd.Index(self._wanted, name="wanted"))

    def at(self, gap: float) -> pd.Series[Any]:
        """The row of the smallest ``kl_weight`` whose held-out gap is at most this; its name is the weight.

        Where two steps were measured, it is the more accurate of their two rows.
        """
        gaps = wanted_gaps(gap, self.gap)
        if len(gaps) != 1:
            raise ValueError(f"gap must be one number, got {gap!r}: pass a number such as gap=0.05")
        if undefined := self._undefined:
            raise ValueError(undefined)
        place = self._reaching(gaps[0])
        if place < 0:
            least = self._fairest
            raise ValueError(
                f"no kl_weight reached a {self.gap} of {gaps[0]:g} on held-out rows, the smallest is "
                f"{least[self.gap]:.4f} at {least.name:g}: try other weights, more rows, or shallower trees"
            )
        row: pd.Series[Any] = self.table.iloc[place]
        return row

    @property
    def _fairest(self) -> Any:
        """The row with the smallest gap that is not degenerate; plain XGBoost never is."""
        return self.table[~self.table["degenerate"]].sort_values(self.gap).iloc[0]

    def _reaching(self, gap: float) -> int:
        """Return the position of the row of a gap, or -1: of each step's smallest weight the most accurate."""
        table = self.table.reset_index()
        reached = table[(table[self.gap] <= gap) & ~table["degenerate"]].drop_duplicates("hessian")
        if (reached["hessian"] == NO_STEP).any():
            return 0
        return int(reached.index.to_numpy()[reached["accuracy"].argmax()]) if len(reached) else -1

    @property
    def _undefined(self) -> str:
        """Why there is no gap at all; empty where some model has one."""
        if not np.isnan(self._fairest[self.gap]):
            return ""
        return (
            f"{self.gap} is undefined on held-out rows at every kl_weight, since a rate of some group is (no row is "
            "selected, or no row has the label): use more rows, another threshold or fewer groups"
        )

    def train(self, dtrain: xgboost.DMatrix, constraint: Any, *, gap: float, **keywords: Any) -> xgboost.Booster:
        """Train on all rows the student that :meth:`at` names for a gap.

        Its attribute ``pi_xgb_gap`` has the gap on held-out rows and on training rows, as measured over the folds;
        :func:`pi_xgb.report` shows it under its own gaps.

        Parameters
        ----------
        dtrain, constraint : as for :func:`frontier`
        gap : float
            The wanted gap.
        **keywords
            Other keywords of :func:`pi_xgb.train`: evals, callbacks, verbose_eval and so on.
        """
        if getattr(constraint, "gap", None) != self.gap:
            raise ValueError(f"constraint must reduce {self.gap}, the gap of this frontier, got {constraint!r}")
        row = self.at(gap)
        weight, teacher = float(str(row.name)), copy.copy(constraint)
        teacher.hessian = row["hessian"] if weight else constraint.hessian
        booster = train(self._params, dtrain, self._rounds, teacher=teacher, kl_weight=weight, **keywords)
        if weight:
            gaps = f"{row[self.gap]:.3f} on held-out rows, {row[f'{self.gap}_train']:.3f} on training rows"
            booster.set_attr(pi_xgb_gap=f"{self.gap} {gaps}")
        return booster

    def plot(self, ax: Any = None) -> Any:
        """Accuracy against the gap along ``kl_weight``, with intervals; needs matplotlib."""
        table = self.table.reset_index()
        steps = [step for step in table["hessian"].unique() if step != NO_STEP]
        # Every line begins at plain XGBoost.
        lines = [table[table["hessian"].isin([step, NO_STEP])].assign(method=f"{step} steps") for step in steps]
        ax = plot_frontier(pd.concat(lines), fairness=self.gap, ax=ax)
        marked = table[table["degenerate"]]
        if len(marked):
            ax.plot(marked[self.gap], marked["accuracy"], "kx", markersize=12)
            ax.set_title("x: decides the same for nearly all", fontsize="small")
        return ax

    def __str__(self) -> str:
        if undefined := self._undefined:
            return undefined
        plain: Any = self.table.iloc[0]
        lines = [self._sentence(gap) for gap in self._wanted] or [
            f"{self.gap} from {plain[self.gap]:.3f} (plain XGBoost) to {self._fairest[self.gap]:.3f}, "
            f"accuracy from {plain['accuracy']:.3f} to {self._fairest['accuracy']:.3f}"
        ]
        marked = self.table[self.table["degenerate"]]
        if len(marked):
            weights = ", ".join(f"{weight:.4g}" for weight in marked.index.unique())
            shares = f"{marked['positive'].min():.1%} to {marked['positive'].max():.1%} positive decisions"
            lines.append(
                f"degenerate, and never chosen: kl_weight {weights} ({shares}, plain XGBoost {plain['positive']:.1%})"
            )
        return "\n".join(lines)

    def _sentence(self, gap: float) -> str:
        place = self._reaching(gap)
        if place < 0:
            return f"{self.gap} of at most {gap:g}: not reached, the smallest is {self._fairest[self.gap]:.3f}"
        row: Any = self.table.iloc[place]
        step = "" if row["hessian"] == NO_STEP else f' with hessian="{row["hessian"]}"'
        reached, cost = (f"{row[c]:.3f}{_interval(row, c)}" for c in (self.gap, "cost"))
        return (
            f"{self.gap} of at most {gap:g}: kl_weight {row.name:.4g}{step} has {reached}, on training rows "
            f"{row[f'{self.gap}_train']:.3f}, and costs {cost} of the accuracy of plain XGBoost, "
            f"{self.table['accuracy'].iloc[0]:.3f}"
        )

    def __repr__(self) -> str:
        return f"<Frontier: {self}>"


def _interval(row: Any, column: str) -> str:
    """Return the interval of a column in words; nothing without draws."""
    low, high = row[f"{column}_low"], row[f"{column}_high"]
    return "" if np.isnan(low) else f" ({low:.3f} to {high:.3f})"


def wanted_gaps(gap: Any, name: str) -> list[float]:
    """Return the wanted values of this gap: none, one or several."""
    values, largest = [] if gap is None else several(gap), LARGEST.get(name, 1)
    for value in values:
        if isinstance(value, (bool, str)) or not 0 <= value <= largest:
            raise ValueError(f"gap must be numbers between 0 and {largest}, got {value!r}: write 5 % as 0.05")
    return [float(value) for value in values]


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
        f'"{worst["hessian"]}" (overfitted): choose by the held-out gap; more rows, fewer rounds, smaller trees help'
    )


def _check(params: Any, constraint: Any) -> None:
    if not isinstance(constraint, BetweenGroups):
        raise TypeError(f"constraint must compare groups, as DemographicParity, got {type(constraint).__name__}")
    objective = objective_name(user_params(params))
    if objective != "binary:logistic":
        raise ValueError(f"params['objective'] must be 'binary:logistic' for frontier, got {objective!r}")


def _check_weighed(splits: Sequence[Split], rows: Array, label: Array, weight: Array) -> None:
    """Raise unless each fold trains on both labels and some held-out row has a weight above 0."""
    for split in splits:
        labels = np.unique(label[split.train[weight[split.train] > 0]])
        if len(labels) < 2:
            raise ValueError(f"fold {split.fold} must train on labels 0 and 1, got {labels.tolist()}: use other folds")
    if not (weight[rows] > 0).any():
        raise ValueError("the rows that folds hold out must have weights above 0, got 0 in all: use other folds")


def _compared(constraint: BetweenGroups, rows: Array) -> Groups:
    """Return the groups of the held-out rows, or raise if they cannot be compared."""
    groups = constraint.compared(rows)
    present = Groups(groups.codes[groups.codes >= 0], groups.names).by_appearance()
    if present.count < 2:
        raise ValueError(
            f"folds must hold out at least two groups to compare, got {describe(present.names)} alone: use other folds"
        )
    check_few(present, len(rows))
    return groups


def _closer(gaps: Sequence[float], found: dict[float, Any], gap: str) -> Iterator[float]:
    """Yield weights within the grid step in which the gap falls to each wanted one; ``found`` gets their rows."""
    for wanted in [wanted for wanted in gaps for _ in range(_HALVINGS)]:
        weights = sorted(found)
        reached = [weight for weight in weights if found[weight][gap] <= wanted and not found[weight]["degenerate"]]
        if reached and reached[0] > 0:
            before = weights[weights.index(reached[0]) - 1]
            yield math.sqrt(before * reached[0]) if before else reached[0] / 2
