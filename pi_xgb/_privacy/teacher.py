"""The private teacher: a private model of y on z, and a noisy prediction for each row."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._arrays import Array, read_only
from .._core.joint import JointTeacher
from .._core.learners.learned_teacher import LearnedTeacher
from .._core.learners.recipe import Recipe
from .._core.losses import NUMBERS
from .._core.teachers import FixedTeacher
from .._core.training import About, Teacher, Training
from .._privacy_record import PROVED, STATED, HiddenNames, Privacy
from .._rows.checks import check_choice, check_whole
from .._rows.per_row import per_row
from .._rows.supervision import read_labelled
from .._rows.tables import as_frame, as_table, check_orders, column_names, take_rows
from .._warnings import warn_user
from .budget import Budget, Spent, check_budget, check_delta, check_real
from .domain import Domain
from .dp_ebm import DPEBM
from .histogram import Histogram
from .mechanisms import OpenDPNoise, SeededNoise, noisy_shares
from .own_model import OwnModel
from .smoothing import public_numbers, smoothed

FEW_LABELS = 0.25
"""The largest share of labelled rows at which these are given no noisy prediction."""
BINS, BINS_OF_FEW = 8, 4


class PrivateTeacher(FixedTeacher):
    """A teacher whose predictions are differentially private in the privileged values of each row.

    A private model of y on z is trained, and noise is added to its prediction for each row. All models trained from
    these predictions have the guarantee: for two training sets that differ in the privileged values of one row only,
    the probabilities of any set of models differ by a factor of at most exp(epsilon), plus delta. x and y are not
    protected. docs/privacy.md has the proof, and the limits of the guarantee.

    Parameters
    ----------
    epsilon : float
    delta : float, default=0.0
        The total budget. The histogram needs no ``delta``, DP-EBM does: well below 1 / number of rows.
    bounds : dict, default=None
        The domain of each column of z, known without the data: a pair (low, high) for numbers, a list for categories.
        The columns of an array are 0, 1, ...
    split : float, default=None
        The model's share of epsilon; the rest is for the prediction of each labelled row. Rows without a label are not
        in the model, and their predictions have the whole epsilon. By default half, or, if at most a quarter of the
        rows has a label, all of it: labelled rows then learn from their label alone. Less is enough where few cells
        hold many rows.
    clip : float, default=None
        The model's probabilities are clipped to [clip, 1 - clip]: a narrower range needs less noise. By default a
        tenth of the share of the rarer label, which is public: 0.05 where both are equally frequent.
    teacher : {"histogram", "dp-ebm"} or model, default="histogram"
        ``"histogram"``: a table of noisy counts, for a few columns with few values. ``"dp-ebm"``: interpret's DP-EBM,
        for many columns (extra ``private``). Or a model of your own with ``fit(z, y)``, ``predict_proba``, and its
        ``epsilon`` and ``delta`` for a row that is added or removed; they count twice, since here a row changes. It
        replaces ``bounds`` and ``split``. Its prediction for a row must depend on that row alone.
    noise : {"auto", "laplace", "randomized_response"}, default="auto"
        The noise of the predictions: ``"laplace"``, ``"randomized_response"`` (one of two numbers), or ``"auto"``, the
        kind with the smaller variance. Sums (``x`` in ``fit``) have Laplace noise.
    bins : int, default=None
        The number of bins of equal width in a numeric column of the histogram. By default 8, or 4 if at most a quarter
        of the rows has a label.
    unsafe_seed : int, default=None
        For tests: the same noise in every run. The result is not private, and no budget is recorded.

    Attributes
    ----------
    values
        The released predictions: one unbiased number per row, possibly outside [0, 1]; with ``x`` in ``fit``, those of
        a linear model. Labelled rows without a prediction have the share of label 1, and no weight.
    spent
        The spent budget, (epsilon, delta); None before ``fit``, and with ``unsafe_seed``.
    budget
        Its parts: ``total``, ``model`` and ``rows``.
    noise_variance
        The largest variance of the noise of each row.
    epsilon_source
        ``"proved"`` (docs/privacy.md), or ``"stated by the user"``: the epsilon of a model of your own is not checked.

    Notes
    -----
    An object spends its budget once, in ``fit``, and can then teach any number of students: choosing ``kl_weight`` on
    held-out rows costs no privacy. ``cv`` and ``select`` would train a teacher in every fold, and raise an error.

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

    epsilon_source = PROVED
    spent: Spent | None = None

    def __init__(
        self,
        epsilon: float,
        delta: float = 0.0,
        *,
        bounds: Any = None,
        split: float | None = None,
        clip: float | None = None,
        teacher: Any = "histogram",
        noise: str = "auto",
        bins: int | None = None,
        unsafe_seed: int | None = None,
    ) -> None:
        total = check_budget(epsilon, delta)
        check_real(0.0 if clip is None else clip, "clip")
        if clip is not None and not 0 <= clip < 0.5:
            raise ValueError(f"clip must be at least 0 and below 0.5, got {clip!r}: q is in [clip, 1 - clip]")
        check_choice(noise, ("auto", "laplace", "randomized_response"), "noise")
        check_whole("bins", BINS if bins is None else bins, 2)
        check_whole("unsafe_seed", 0 if unsafe_seed is None else unsafe_seed, 0)
        self.clip, self.noise = clip, noise
        self._source: Any = OpenDPNoise() if unsafe_seed is None else SeededNoise(unsafe_seed)
        self._seed, self._bins, self._split, self._teacher = unsafe_seed, bins, split, teacher
        if isinstance(teacher, str):
            check_choice(teacher, ("histogram", "dp-ebm"), "teacher as a string")
            share = 0.5 if split is None else split
            check_real(share, "split")
            model, advice = Spent(share * total.epsilon, total.delta), "pass a split between 0 and 1, or more epsilon"
            self._domain: Any = Domain(bounds)
            self._model()  # raises its errors before fit
        else:
            if split is not None or bounds is not None:
                raise ValueError("split and bounds must be left out with a model as teacher: configure the model")
            self._domain = self._teacher = OwnModel(teacher, seeded=unsafe_seed is not None)
            model, advice = self._teacher.spent, "a changed row costs a model of your own twice its epsilon"
            self.epsilon_source = STATED
        self.budget = Budget(total, model)
        self.budget.check(advice)

    def _model(self) -> Any:
        """Return an untrained model."""
        if self._teacher == "histogram":
            return Histogram(self._domain, self._bins or BINS)
        return DPEBM(self._domain, self._seed) if self._teacher == "dp-ebm" else self._teacher

    def fit(self, z: Any, y: Any, *, labelled: Any = None, x: Any = None) -> PrivateTeacher:
        """Spend the budget: train the private model on the labelled rows, release noisy predictions.

        ``labelled`` is as for :func:`pi_xgb.train`: False where the label is unknown, so that y is not read. z is not
        stored. The rows must be those of the student, in the same order. ``x`` is a table of numbers without z, such as
        the classifier features. With it, noise is added to sums over all rows, not to each prediction: the predictions
        are those of a linear model of the ranks of x. That is less noise, at the cost of what is not linear.
        """
        if self._source is None:
            raise ValueError("fit has spent the budget of this teacher: another PrivateTeacher adds its own")
        table = as_table(z, "z")
        frame = as_frame(table)
        known, label = _binary(y, labelled, len(frame))
        check_delta(self.budget.total.delta, len(label))
        check_orders({"z": z, "y": y, "x": x, "labelled": labelled})
        gaps = frame.isna().any()
        if gaps.any():  # no mechanism here hides which rows lack a value
            hint = "fill them by a rule that reads no other row, or declare 'missing' as a category"
            raise ValueError(
                f"the column {gaps.index[gaps][0]!r} of z has missing values, which are privileged: {hint}"
            )
        values = self._domain.read(frame if hasattr(table, "columns") else frame.to_numpy())
        columns = HiddenNames(column_names(table) or ())
        public = None
        if x is not None:
            if self.noise == "randomized_response":
                raise ValueError("noise must be 'auto' or 'laplace' with x, got 'randomized_response': leave one out")
            if columns.has_any(column_names(as_table(x, "x"))):
                raise ValueError("x must have no privileged column, got one of z: it would be read without noise")
            public = public_numbers(x, len(label))
        share = float(label[known].mean())
        if self.clip is None:
            self.clip = min(share, 1 - share) / 10
        weight = None
        if isinstance(self._teacher, str) and self._split is None and known.mean() <= FEW_LABELS:
            self.budget = Budget(self.budget.total, self.budget.total)  # each row is in the model or has a prediction
            self._bins = self._bins or BINS_OF_FEW
            weight = (~known).astype(np.float32)
        model = self._model()
        try:
            model.fit(take_rows(values, np.flatnonzero(known)), label[known], self.budget.model, self._source)
            released = self._released(model.predict(values), model.range, known, share, public)
        finally:  # the budget is spent, also after an error
            # This object is pickled: a user's model may store z, and the source of noise has a state.
            self._teacher = self._domain = self._source = None
        super().__init__(released, NUMBERS)
        privacy = None
        if self._seed is None:
            self.spent = self.budget.total
            privacy = Privacy(*self.spent, self.epsilon_source, columns)
        self.about = About(weight=weight, labelled=known, is_noisy=True, privacy=privacy)
        return self

    def _released(self, mean: Array, ends: tuple[float, float], known: Array, share: float, public: Any) -> Array:
        """Return the predictions with noise, for each row or with ``public`` in sums; ``ends`` are those of any row."""
        clip = self.clip or 0.0
        low, high = np.clip(ends, clip, 1 - clip)
        width = float(high - low)
        rarer = min(share, 1 - share)
        if clip > rarer or 2 * width < ends[1] - ends[0]:
            warn_user(
                f"clip={clip:g} flattens the noisy predictions: the rarer label has a share of {rarer:.2g}, and the "
                f"private model predicts from {ends[0]:.2g} to {ends[1]:.2g}. Pass a smaller clip, or leave it out"
            )
        shares = (np.clip(mean, low, high) - low) / width if width > 0 else np.zeros(len(mean))
        released, variance = np.full(len(mean), share), np.zeros(len(mean))
        for rows, epsilon in ((known, self.budget.rows.epsilon), (~known, self.budget.total.epsilon)):
            if epsilon and rows.any():
                if public is None:
                    noisy, of_noise = noisy_shares(shares[rows], self.noise, epsilon, self._source)
                else:
                    noisy, of_noise = smoothed(shares[rows], public[rows], epsilon, self._source)
                released[rows], variance[rows] = low + width * noisy, width**2 * of_noise
        self.noise_variance = read_only(variance)
        return released

    def start(self, training: Training) -> None:
        super().start(training)
        for other in (guide.teacher for guide in training.guides):
            if isinstance(other, (JointTeacher, LearnedTeacher, Recipe)):
                raise ValueError(
                    f"a PrivateTeacher must be the only teacher trained on privileged values, got a "
                    f"{type(other).__name__} without noise beside it: leave one of them out"
                )

    def subset(self, rows: Array) -> Teacher:
        raise ValueError("a PrivateTeacher cannot be cross-validated, which spends its budget again: hold rows out")

    def __getattr__(self, name: str) -> Any:
        """Raise for a missing attribute; the message names ``fit`` if that sets it."""
        if name in ("_q", "noise_variance"):
            raise ValueError("PrivateTeacher must be fitted, got an unfitted teacher: call fit(z, y) first")
        raise AttributeError(f"PrivateTeacher has no attribute {name!r}")

    def __repr__(self) -> str:
        spent, seed = self.budget.total, "" if self._seed is None else f", unsafe_seed={self._seed}: not private"
        given = f"epsilon={spent.epsilon:g}, delta={spent.delta:g}, epsilon_source={self.epsilon_source!r}"
        return f"PrivateTeacher({given}{seed})"


def _binary(y: Any, labelled: Any, n_rows: int) -> tuple[Array, Array]:
    """Return which labels are known, and the labels as 0 and 1 where they are known, 0 elsewhere."""
    label = per_row("y", y, n_rows, "values", missing="keep", table="z")
    known = read_labelled(labelled, n_rows, "z")
    known = np.ones(n_rows, bool) if known is None else known
    hint = "recode it, or pass labelled=y.notna()"
    codes = per_row("y", np.where(known, label, 0), kind="truth values", hint=hint).astype(np.int64)
    if len(np.unique(codes[known])) < 2:
        raise ValueError("y must have labelled rows of both classes, got at most one: add rows of the other")
    return known, codes
