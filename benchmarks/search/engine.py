"""One fold of one set for many values of alpha: what does not depend on alpha is made once.

The numbers are those of `pi_xgb.train` in paper mode: the same gradients, from the same functions, the same early
stopping. Shared are the matrices with their sorted or quantised columns, KbPIB's teacher, and the ranks' labels.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

import pi_xgb
from benchmarks.data.prepared import PreparedSet
from benchmarks.modes.paper import EARLY_STOPPING_ROUNDS, NUM_BOOST_ROUND, paper_fold, paper_params
from benchmarks.search.booster import Floats, LeanBooster
from pi_xgb._core.losses import LOSSES

LOSS = LOSSES["binary:logistic"]
DEFAULT_BINS = 256


class Point(NamedTuple):
    """What the search writes down of one training; ``best_round`` counts from 1, and is the number of trees kept."""

    valid_auc: float
    test_auc: float
    best_round: int


def has_a_bin_for_every_value(dataset: PreparedSet, max_bin: int) -> bool:
    """Whether quantising the numeric columns loses nothing."""
    numeric = [i for i, kind in enumerate(dataset.feature_types) if kind == "q"]
    return all(dataset.X.iloc[:, i].nunique() <= max_bin for i in numeric)


def search_params(dataset: PreparedSet, *, as_paper: bool = False) -> dict[str, Any]:
    """The paper's settings on one thread, with "hist" for "approx" where both have a cut between any two values.

    "approx" chooses its cuts anew in each round, at three times the price of "hist". Where columns have no more
    values than bins there is nothing to choose, and the candidate splits are the same. Of two splits
    that are equally good but for the last bit, the two may take different ones: ``as_paper`` keeps "approx".
    """
    params = {**paper_params(dataset), "nthread": 1}
    if (
        not as_paper
        and params["tree_method"] == "approx"
        and has_a_bin_for_every_value(dataset, params.get("max_bin", DEFAULT_BINS))
    ):
        params["tree_method"] = "hist"
    return params


class RankedRows:
    """The AUC of any scores of the same rows: XGBoost's to the last bit, without a model or a text to parse."""

    def __init__(self, labels: npt.ArrayLike) -> None:
        positive = np.asarray(labels) == 1
        self._positive, self._negative = np.flatnonzero(positive), np.flatnonzero(~positive)
        self._pairs = self._positive.size * self._negative.size
        if not self._pairs:
            raise ValueError("an AUC needs rows of both labels")

    def auc(self, scores: Floats) -> float:
        """The share of pairs that are in order; a tie counts half."""
        negative = np.sort(scores[self._negative])
        positive = np.sort(scores[self._positive])
        won = negative.searchsorted(positive, "left").sum() + negative.searchsorted(positive, "right").sum()
        return float(0.5 * won / self._pairs)


class FoldSearch:
    """Trains on one fold, once per value of alpha."""

    def __init__(self, dataset: PreparedSet, fold: int, *, as_paper: bool = False) -> None:
        self.params = search_params(dataset, as_paper=as_paper)
        self._data = paper_fold(dataset, fold)
        self._labels: Floats = self._data.train.get_label()
        self._valid, self._test = (RankedRows(rows.get_label()) for rows in (self._data.valid, self._data.test))

    def train(self, method: str, alpha: float) -> Point:
        """One training by the method's name in `METHODS`."""
        return METHODS[method](self, alpha)

    def plain(self, alpha: float = 0.0) -> Point:
        """NF: without a teacher, whatever alpha is."""
        return self._fixed_target(self._labels, np.float32(1))

    def kbpib(self, alpha: float) -> Point:
        """A student of the teacher that was trained on the privileged features first."""
        return self._fixed_target(*self._blended(self._q, alpha))

    def jpib(self, alpha: float) -> Point:
        """Student and teacher get a tree each in turn; the teacher's last one, of no use to anybody, is not built."""
        student = self._student()
        teacher = LeanBooster(self.params, self._data.train_privileged)
        q = LOSS.mean(teacher.margins())

        def grow() -> None:
            nonlocal q
            mean = LOSS.mean(student.margins())
            if student.rounds:
                teacher.grow(*self._towards(q, mean, alpha))
                q = LOSS.mean(teacher.margins())
            student.grow(*self._towards(mean, q, alpha))

        return self._stopped_early(student, grow)

    @cached_property
    def _q(self) -> Floats:
        data = self._data
        teacher = pi_xgb.fit_teacher(
            self.params,
            data.train_privileged,
            NUM_BOOST_ROUND,
            evals=[(data.valid_privileged, "valid")],
            early_stopping_rounds=EARLY_STOPPING_ROUNDS,
            teacher_weight=np.ones(data.train_privileged.num_row()),  # the paper teaches rows without values as well
        )
        return teacher.values

    def _student(self) -> LeanBooster:
        return LeanBooster(self.params, self._data.train, self._data.valid)

    def _towards(self, mean: Floats, taught: Floats, alpha: float) -> tuple[Floats, Floats]:
        """Gradient and Hessian of a booster that says ``mean`` and is pulled to ``taught``."""
        return LOSS.gradient(mean, *self._blended(taught, alpha))

    def _blended(self, taught: Floats, alpha: float) -> tuple[Floats, np.float32]:
        """The target between labels and teacher, and how much it counts."""
        factor = np.float32(1 + alpha)
        return (self._labels + np.float32(alpha) * taught) / factor, factor

    def _fixed_target(self, target: Floats, factor: np.float32) -> Point:
        student = self._student()
        return self._stopped_early(
            student, lambda: student.grow(*LOSS.gradient(LOSS.mean(student.margins()), target, factor))
        )

    def _stopped_early(self, student: LeanBooster, grow: Callable[[], None]) -> Point:
        best_auc, best_round = -np.inf, 0
        while student.rounds < NUM_BOOST_ROUND and student.rounds - best_round < EARLY_STOPPING_ROUNDS:
            grow()
            auc = self._valid.auc(student.probabilities(self._data.valid))
            if auc > best_auc:
                best_auc, best_round = auc, student.rounds
        test_auc = self._test.auc(student.probabilities(self._data.test, best_round))
        return Point(best_auc, test_auc, best_round)


METHODS: dict[str, Callable[[FoldSearch, float], Point]] = {
    "NF": FoldSearch.plain,
    "KbPIB": FoldSearch.kbpib,
    "JPIB": FoldSearch.jpib,
}
