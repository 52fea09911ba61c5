"""The private teacher: a private model of y on z, and a noisy verdict on each row."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._arrays import Array
from .._core.crossfit import Folds, check_crossfit, deal_labelled, out_of_fold
from .._core.joint import JointTeacher
from .._core.learned import LearnedTeacher, TrainableTeacher
from .._core.losses import NUMBERS
from .._core.teachers import FixedTeacher, Teacher, read_only
from .._rows.checks import check_choice, check_whole
from .._rows.names import plain
from .._rows.per_row import per_row
from .._rows.row_alignment import check_same_order
from .._rows.supervision import read_labelled
from .._rows.tables import as_frame, as_table, take_rows
from .._warnings import warn_user
from .budget import Budget, Spent, check_delta, check_delta_for_rows, check_epsilon, check_share
from .domain import Domain, check_rows
from .dp_ebm import DPEBM
from .histogram import Histogram
from .mechanisms import NOISES, STEPS, noise_named
from .own_model import OwnModel
from .randomness import SeededWords, Words, system_words

MODELS = ("histogram", "dp-ebm")
MOST_FOLDS = 25


class PrivateTeacher(FixedTeacher):
    """A teacher whose answers are differentially private in the privileged values of each row.

    A private model of y on z is trained, and what it says of each row is shown with noise. Everything that is trained
    from these answers keeps the promise: two training sets that differ in the privileged values of one row, with x, y
    and all else the same, give any set of models with chances that differ by a factor of exp(epsilon) at most, and by
    delta. It says nothing of y and x. docs/privacy.md has the proof, and what is not promised.

    Parameters
    ----------
    epsilon, delta
        The budget, all of it. ``delta`` must lie well below 1 / number of rows.
    bounds
        What may be in each column of z, known without looking at the data: a pair (low, high) for numbers, a list for
        categories. The columns of an array are 0, 1, ...
    split
        The model's share of epsilon, by default half; the rest is for the verdict on the row. Less will do where many
        rows are counted in few cells. A row without a label is not seen by the model, and has the whole epsilon for its
        verdict.
    clip
        The model's probabilities are kept within [clip, 1 - clip]: the narrower, the less noise a verdict needs.
    teacher
        ``"histogram"``: a table of noisy counts, for a few columns with few values. ``"dp-ebm"``: interpret's DP-EBM,
        for many (extra ``private``). Or a model of your own with ``fit(z, y)``, ``predict_proba`` and the ``epsilon``
        and ``delta`` that it keeps when a row comes or goes; counted twice, since here a row changes. It
        takes the place of ``bounds``, ``split`` and ``crossfit``; what it says of a row must depend on that row alone.
    noise
        Of a verdict: ``"laplace"``, ``"randomized_response"`` (one of two numbers), or ``"auto"``, the one that varies
        less.
    bins
        Into how many bins of equal width the histogram divides a column of numbers.
    crossfit
        K lets K models judge the rows that they have not seen. Each row is then in K - 1 models, which share the
        model's part of the budget: 2 costs nothing but rows.
    unsafe_seed
        For tests: noise that is the same in every run. Nothing is promised then, and no budget recorded.

    Attributes
    ----------
    values
        What was released: one number per row, outside [0, 1] too, right on average.
    spent
        The budget that was spent, (epsilon, delta); None before ``fit``, and with ``unsafe_seed``.
    budget
        How it is divided: ``total``, ``model`` and ``rows``.
    noise_variance
        Of each row's verdict, at most.

    Notes
    -----
    An object spends its budget once, in ``fit``, and can then teach any number of students: to choose ``kl_weight`` by
    rows that were set apart costs nothing. ``cv`` and ``select`` would train a teacher in every fold and are refused.

    Examples
    --------
    >>> import pi_xgb, xgboost as xgb
    >>> data = pi_xgb.datasets.make_privileged(2000, n_privileged=1, seed=0)
    >>> teacher = pi_xgb.privacy.PrivateTeacher(1.0, 1e-6, bounds={"z0": (-3, 3)}).fit(data.z, data.y)
    >>> params = {"objective": "binary:logistic", "max_depth": 3}
    >>> student = pi_xgb.train(params, xgb.DMatrix(data.x, data.y), 20, teacher=teacher, kl_weight=0.2)
    >>> teacher.spent, student.attr("pi_xgb_epsilon")
    (Spent(epsilon=1.0, delta=1e-06), '1.0')
    """

    is_noisy = True

    def __init__(
        self,
        epsilon: float,
        delta: float,
        *,
        bounds: Any = None,
        split: float | None = None,
        clip: float = 0.05,
        teacher: Any = "histogram",
        noise: str = "auto",
        bins: int = 8,
        crossfit: int = 0,
        unsafe_seed: int | None = None,
    ) -> None:
        epsilon = check_epsilon(epsilon)
        delta = check_delta(delta, epsilon)
        self.clip = check_share(clip, "clip", 0, 0.5, "probabilities are kept within [clip, 1 - clip]")
        check_choice(noise, ("auto", *NOISES), "noise")
        check_whole("bins", bins, 2)
        check_whole("crossfit", crossfit, 0)
        if crossfit == 1 or crossfit > MOST_FOLDS:
            raise ValueError(f"crossfit must be 0 or from 2 to {MOST_FOLDS}, got {crossfit}")
        if unsafe_seed is not None:
            check_whole("unsafe_seed", unsafe_seed, 0)
        self.noise, self.crossfit = noise, crossfit
        self._words: Words = system_words if unsafe_seed is None else SeededWords(unsafe_seed)
        self._seed, self._bins, self._teacher = unsafe_seed, bins, teacher
        if isinstance(teacher, str):
            check_choice(teacher, MODELS, "as a word for its model, teacher")
            share = 0.5 if split is None else split
            self.budget = Budget.divided(
                epsilon, delta, check_share(share, "split", 0, 1, "the model and the rows both need some of epsilon")
            )
            self._domain: Any = Domain(bounds)
            self._model()  # what is wrong with it is said now
        else:
            named = {"split": split is not None, "bounds": bounds is not None, "crossfit": crossfit > 0}
            own = OwnModel(teacher, [name for name, given in named.items() if given], seeded=unsafe_seed is not None)
            self.budget = Budget.beside(epsilon, delta, own.spent)
            self._domain = self._teacher = own
        self.spent: Spent | None = None
        self._has_fitted = False

    def _model(self) -> Any:
        """A model that has seen nothing."""
        if self._teacher == "histogram":
            return Histogram(self._domain, self._bins)
        return DPEBM(self._domain, self._seed) if self._teacher == "dp-ebm" else self._teacher

    def fit(self, z: Any, y: Any, *, labelled: Any = None) -> PrivateTeacher:
        """Spend the budget: train the private model on the labelled rows, release a verdict on every row.

        ``labelled`` is as for :func:`pi_xgb.train`: False where the label is not known; that y is never looked at. Of z
        nothing is kept. The rows must be those of the student, in the same order.
        """
        if self._has_fitted:
            raise ValueError(
                "this teacher has spent its budget: it can teach any number of students. Another fit would release "
                "more: make another PrivateTeacher for it, and add up what the two spend"
            )
        label = per_row("y", y, kind="values", missing="keep")
        known = read_labelled(labelled, len(label))
        label = _binary(label, np.ones(len(label), bool) if known is None else known)
        check_delta_for_rows(self.budget.total.delta, len(label))
        check_rows(as_frame(as_table(z, "z")), len(label))
        check_same_order(z, y, "z", "y")
        values = self._domain.read(z)
        folds = self._folds(label, known)
        self._has_fitted = True  # from here on something may have been spent, also if it goes wrong
        try:
            verdicts, low, high = self._predicted(values, label, folds)
        finally:
            self._teacher = self._domain = None  # a model of the user's may keep z, and this object is pickled
        super().__init__(self._released(verdicts, low, high, known), NUMBERS)
        self.spent = None if self._seed is not None else self.budget.total
        return self

    def _folds(self, label: Array, known: Array | None) -> Folds:
        """The fold of each row, which depends on labels alone."""
        learnable = np.ones(len(label), bool) if known is None else known
        if not self.crossfit:
            return Folds(np.zeros(len(label), int), learnable, in_sample=True)
        check_crossfit(self.crossfit, known, len(label))
        return Folds(deal_labelled(label, known, None, self.crossfit, 0, classes=True), learnable)

    def _predicted(self, values: Array, label: Array, folds: Folds) -> tuple[Any, float, float]:
        """The predictions of private models, and between which numbers they lie for any row there could be."""
        share = Spent(*(part / max(self.crossfit - 1, 1) for part in self.budget.model))

        def fit(rows: Array) -> Any:
            model = self._model()
            model.fit(take_rows(values, rows), label[rows], share, self._words)
            return model

        def predict(model: Any, rows: Array) -> Array:
            return self._clipped(model.predict(take_rows(values, rows)))

        verdicts, models = out_of_fold(fit, predict, folds)
        ends = np.concatenate([self._clipped(model.range) for model in models])
        return verdicts, float(ends.min()), float(ends.max())

    def _clipped(self, mean: Any) -> Array:
        return np.clip(mean, self.clip, 1 - self.clip)

    def _released(self, verdicts: Array, low: float, high: float, known: Array | None) -> Array:
        """The verdicts with noise. From the models on each row stands for itself."""
        width = high - low
        steps = np.zeros(len(verdicts), np.int64)
        if width > 0:
            steps = np.clip(np.rint((verdicts - low) / width * STEPS), 0, STEPS).astype(np.int64)
        seen = np.ones(len(verdicts), bool) if known is None else known
        released, variance = np.empty(len(verdicts)), np.empty(len(verdicts))
        for rows, epsilon in ((seen, self.budget.rows.epsilon), (~seen, self.budget.total.epsilon)):
            noise = noise_named(self.noise, epsilon)
            released[rows] = low + width * noise.release(steps[rows], self._words)
            variance[rows] = width**2 * noise.variance
        self._noise_variance = variance
        return released

    @property
    def values(self) -> np.ndarray[Any, Any]:
        self._check_fitted()
        return super().values

    @property
    def noise_variance(self) -> NDArray[np.float64]:
        """Of each row's verdict, at most."""
        self._check_fitted()
        variance: NDArray[np.float64] = read_only(self._noise_variance)
        return variance

    def answer(self, task: Any, mean: Array, weight: Any) -> Array:
        self._check_fitted()
        return super().answer(task, mean, weight)

    def check(self, n_rows: int) -> None:
        self._check_fitted()
        super().check(n_rows)

    def check_compatible(self, others: Sequence[Teacher]) -> None:
        for other in others:
            if isinstance(other, (JointTeacher, LearnedTeacher, TrainableTeacher)):
                raise ValueError(
                    f"a PrivateTeacher cannot stand beside a {type(other).__name__}, which learned from privileged "
                    "values without noise: what the student learns from that one is not private. Leave one of them out"
                )
        outside = sorted({type(other).__name__ for other in others if other.spent is None} - {type(self).__name__})
        if outside and self.spent is not None:
            warn_user(
                f"{', '.join(outside)} beside a PrivateTeacher states no budget: what it knows of a row is not covered "
                "by the promise, and the model records none"
            )

    def subset(self, rows: Array) -> Teacher:
        raise ValueError(
            "a PrivateTeacher learned from the labels of all rows, those that a fold holds out as well, and another "
            "one for each fold would spend its budget again and again. Set rows apart first, fit it on the others, and "
            "compare students of several kl_weight by evals on the rows apart: that costs no privacy"
        )

    def shard(self, rows: Array) -> Teacher:
        self._check_fitted()
        part = copy.copy(self)
        part._q, part._noise_variance = self._q[rows], self._noise_variance[rows]
        return part

    def _check_fitted(self) -> None:
        if not hasattr(self, "_q"):
            raise ValueError("this PrivateTeacher has not seen its rows yet: call fit(z, y) first")

    def __repr__(self) -> str:
        return f"PrivateTeacher(epsilon={self.budget.total.epsilon:g}, delta={self.budget.total.delta:g})"


def _binary(label: Array, known: Array) -> Array:
    """The labels as 0 and 1, where they are known; 0 elsewhere."""
    found = np.zeros(len(label), np.int64)
    judged = label[known]
    ones = judged == 1
    if not (ones | (judged == 0)).all():
        odd = judged[~(ones | (judged == 0))][0]
        raise ValueError(f"y must be 0 or 1 in every labelled row for a private teacher, got {plain(odd)!r}: recode it")
    if not len(judged) or ones.all() or not ones.any():
        raise ValueError("y needs labelled rows of both classes: there is nothing to tell apart")
    found[known] = ones
    return found
