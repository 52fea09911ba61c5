"""A training as one frozen value: params and loss, labels and weights of the rows, and who teaches them."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple, get_args

import numpy as np
import xgboost

from .._arrays import Array
from .._privacy_record import Privacy
from .._rows.matrix_checks import check_labels_per_row, check_matrix
from .._rows.per_row import check_count
from .._rows.supervision import no_labelled_row, row_weights
from .._warnings import warn_user
from .._xgb.collective import global_max, global_sum, on_any_worker
from .._xgb.matrix import query_of_row
from .._xgb.params import carried_objective_params, check_scale_pos_weight, class_count, objective_name, user_params
from .._xgb.rebind import train_in_place_of
from .losses import Loss, loss_named

Hessian = Literal["adaptive", "full", "damped"]
HESSIANS = get_args(Hessian)
"""The Hessians of an adaptive teacher, see :mod:`pi_xgb._core.blend`."""
# Params about the student's columns do not apply to the teacher's.
ABOUT_COLUMNS = ("monotone_constraints", "interaction_constraints")


@dataclasses.dataclass(frozen=True)
class Spec:
    """The params of a booster, read once. ``n_classes`` is 0 where there is one value per row."""

    params: dict[str, Any]
    """A copy of the user's params."""
    loss: Loss
    n_classes: int
    scale_pos_weight: float
    """The factor on the weight of rows labelled 1; 1 where the objective has none."""
    device: str

    @classmethod
    def read(cls, params: Any, xgb_model: Any = None) -> Spec:
        """Return the spec of params; raise for an objective that no teacher can guide.

        Params of the objective default to those of a continued model, as in XGBoost.
        """
        own = user_params(params)
        loss, n_classes = loss_named(objective_name(own)), class_count(own)
        if loss.parameters and loss.has_gradient:
            carried = carried_objective_params(xgb_model)
            own = {name: carried[name] for name in loss.parameters if name in carried} | own
        loss = loss.with_params(own)
        if loss.multiclass != (n_classes > 1):
            must = "be at least 2" if loss.multiclass else "be left out"
            raise ValueError(f"params['num_class'] must {must} for {loss.objective}, got {own.get('num_class')!r}")
        scale = check_scale_pos_weight(own.get("scale_pos_weight", 1))  # raises also where the objective has none
        scale = scale if loss.applies_scale_pos_weight else 1.0
        return cls(own, loss, n_classes if loss.multiclass else 0, scale, str(own.get("device", "cpu")))

    @property
    def objective(self) -> str:
        """XGBoost's name of the objective."""
        return self.loss.objective

    def with_params(self, **params: Any) -> Spec:
        """Return the same spec with these params."""
        return dataclasses.replace(self, params={**self.params, **params})

    def shape(self, n_rows: int) -> tuple[int, ...]:
        """Return the shape of the means of so many rows."""
        return (n_rows, self.n_classes) if self.n_classes else (n_rows,)

    def of_teacher(self, teacher_params: Any) -> Spec:
        """Return the teacher's spec: its own params on top of those that it shares with the student."""
        if teacher_params is None:
            return dataclasses.replace(
                self, params={name: value for name, value in self.params.items() if name not in ABOUT_COLUMNS}
            )
        shared = ("objective", "num_class", *self.loss.parameters)
        own = Spec.read(
            {**{name: self.params[name] for name in shared if name in self.params}, **user_params(teacher_params)}
        )
        if not own.loss.has_gradient_of(self.loss) or own.n_classes != self.n_classes:
            raise ValueError(
                f"teacher and student must share objective and num_class: the student has {self.objective!r} and "
                f"{self.n_classes}, teacher_params {own.objective!r} and {own.n_classes}. Leave both out of these"
            )
        return own


@dataclasses.dataclass(frozen=True)
class Boosting:
    """The rows that are boosted, and the user's keywords of ``xgboost.train`` other than params."""

    dtrain: xgboost.DMatrix
    num_boost_round: int
    evals: Sequence[tuple[xgboost.DMatrix, str]] = ()
    keywords: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    xgb_model: Any = None
    """The model that the training continues."""

    def run(self, params: Any, matrix: xgboost.DMatrix | None = None, **changed: Any) -> xgboost.Booster:
        """Call ``xgboost.train``. A ``matrix`` in place of dtrain uses the cuts of dtrain."""
        matrix = self.dtrain if matrix is None else matrix
        train = xgboost.train if matrix is self.dtrain else train_in_place_of(self.dtrain)
        keywords = {**self.keywords, "evals": self.evals, **changed}
        booster: xgboost.Booster = train(params, matrix, self.num_boost_round, **keywords)
        return booster


@dataclasses.dataclass(frozen=True, kw_only=True)
class About:
    """What a training has to know of a teacher, besides its q."""

    kind: str = ""
    """The kind that a model records; empty for the name of the class."""
    settings: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    """The keywords that it was trained with, which a model records."""
    weight: Array | None = None
    """Its default weight per row; None is 1 everywhere."""
    labelled: Array | None = None
    """Which rows had a label when it learned from them; None where that is unknown."""
    label: Array | None = None
    """The labels that it learned from, if these must be the student's."""
    matrices: Sequence[xgboost.DMatrix] = ()
    """The matrices of the student's rows on which it trains."""
    on_device: bool = False
    """Whether it computes on the device of the training, from the student's mean there."""
    learns: bool = False
    """Whether it learns from the labels of the training."""
    is_noisy: bool = False
    """Whether q is noisy but unbiased, and may leave the range of means."""
    privacy: Privacy | None = None


class Teacher:
    """The mean that y should have in each training row.

    Derive from it to write a teacher of your own: give the class a method ``q(mean, label, weight)`` and pass
    an instance wherever a teacher is taken (:func:`pi_xgb.train`, :class:`pi_xgb.KLObjective`). ``mean`` is the
    student's current prediction, so that a teacher can follow it; ``mean`` must not be written to.

    Shapes: ``n`` training rows, ``K`` classes or targets where there are several. ``mean`` is float32, ``(n,)`` or
    ``(n, K)``, on the scale of y. ``label`` is ``(n,)``, or ``(n, K)`` for targets, and NaN where no label is known;
    ``weight`` is ``(n,)`` or None. q has the shape of ``mean`` and the range of labels: probabilities in [0, 1], means
    of counts and costs at 0 or above, other numbers anywhere.

    Examples
    --------
    A teacher that pulls every prediction half of the way towards the average one:

    >>> import numpy as np, pi_xgb, xgboost as xgb
    >>> class Timid(pi_xgb.Teacher):
    ...     def q(self, mean, label, weight):
    ...         return (mean + mean.mean()) / 2
    >>> data = pi_xgb.datasets.make_privileged(200, seed=0)
    >>> dtrain = xgb.DMatrix(data.x, data.y)
    >>> params = {"objective": "binary:logistic", "max_depth": 2}
    >>> timid = pi_xgb.train(params, dtrain, 20, teacher=Timid(), kl_weight=9.0)
    >>> bool(timid.predict(dtrain).std() < xgb.train(params, dtrain, 20).predict(dtrain).std())
    True
    """

    is_adaptive = True
    """Whether q depends on the student's current mean. Set it to False for a q that never changes: it then
    counts in the model's intercept."""

    hessian: str = "adaptive"
    """How much of the weight of an adaptive teacher counts in the Hessian. "adaptive": as much as a moving q needs.
    "full": all of it, as for a fixed q, which makes steps as short as 1 / (1 + kl_weight). "damped": nothing at any
    weight, where the target is in part averaged over rounds: for a q that differs from p by a few numbers, as between
    groups, not row by row."""

    about = About()
    """What a training has to know besides q."""

    def q(self, mean: Array, label: Array, weight: Array | None) -> Array:
        """Return the mean that y should have in each row.

        Parameters
        ----------
        mean : array
            The student's current predictions on the training rows, one column per class.
        label : array
            The labels of these rows.
        weight : array or None
            The weights of these rows.
        """
        raise NotImplementedError(f"{type(self).__name__} needs a method q(mean, label, weight)")

    def start(self, training: Training) -> None:
        """Raise if this teacher does not fit the rows; with a ``training.student``, begin its training."""

    def subset(self, rows: Array) -> Teacher:
        """This teacher for the given rows alone, as cross-validation needs it."""
        raise TypeError(f"{type(self).__name__} cannot be cut into folds: give it a method subset(rows)")


class Guide(NamedTuple):
    """A teacher, given or to be trained, and its weight, against 1 for the labels."""

    teacher: Any
    kl_weight: float
    per_row: Array | None = None
    """Its weight per row, relative to ``kl_weight``; None is 1 everywhere."""

    @property
    def weight(self) -> Any:
        """One number, or one number per row."""
        return self.kl_weight if self.per_row is None else self.kl_weight * self.per_row

    def subset(self, rows: Array) -> Guide:
        """The same teacher and weight for some of the rows."""
        return Guide(self.teacher.subset(rows), self.kl_weight, None if self.per_row is None else self.per_row[rows])


class Student(NamedTuple):
    """The booster that a training boosts."""

    booster: xgboost.Booster
    matrix: xgboost.DMatrix | None
    """Its training rows, where the caller passes a matrix."""
    base_score: Any = None
    """Its intercept, where it is known."""


@dataclasses.dataclass(frozen=True, kw_only=True)
class Training:
    """Rows, checked once, and their teachers."""

    spec: Spec
    label: Array
    """XGBoost's label; 0 where it is unknown."""
    weight: Array | None
    """The weight of each row, or of its query, times ``scale_pos_weight``; None where all are 1."""
    labelled: Array | None = None
    """Which rows have a label; None where all have."""
    guides: tuple[Guide, ...] = ()
    student: Student | None = None
    """What a teacher is told at the start of boosting; before, when it is only checked, None."""

    @property
    def n_rows(self) -> int:
        """The number of rows."""
        return len(self.label)

    @functools.cached_property
    def known(self) -> Array:
        """Which rows have a label, as a mask."""
        return np.ones(self.n_rows, bool) if self.labelled is None else self.labelled

    @functools.cached_property
    def teacher_label(self) -> Array:
        """The labels as teachers see them: NaN where unknown."""
        label = self.label
        return label if self.labelled is None else np.where(per_label(self.known, label), label, np.float32(np.nan))

    @functools.cached_property
    def like(self) -> Array:
        """An uninitialised array of the shape of a mean."""
        return np.empty(self.label.shape if self.label.ndim == 2 else self.spec.shape(self.n_rows), np.float32)

    @classmethod
    def from_arrays(
        cls, spec: Spec, label: Array, weight: Array, labelled: Array | None = None, *, n_rows: int, name: str
    ) -> Training:
        """Return the checked training of ``n_rows`` rows; ``name`` is that of their matrix, for messages."""
        if not label.size and labelled is not None and not labelled.any():
            label = np.zeros(n_rows, np.float32)
        check_labels_per_row(label, n_rows, name)
        row_weights(weight if weight.size else None, n_rows, name=f"the weights of {name}")
        spec.loss.check_labels(label if labelled is None else label[labelled], spec.n_classes, name)
        if label.ndim == 2 and spec.scale_pos_weight != 1:
            raise ValueError("scale_pos_weight is not supported with a teacher and several targets: leave it out")
        if labelled is not None:
            label = np.where(per_label(labelled, label), label, np.float32(0))
        effective = weight if weight.size else None
        if spec.scale_pos_weight != 1:
            positive = np.where(label == 1, np.float32(spec.scale_pos_weight), np.float32(1))
            effective = positive if effective is None else positive * effective
        return cls(spec=spec, label=label, weight=effective, labelled=labelled)

    @classmethod
    def from_matrix(
        cls, spec: Spec, matrix: xgboost.DMatrix, labelled: Array | None = None, *, name: str = "dtrain"
    ) -> Training:
        """Return the checked training of the rows of a matrix."""
        check_matrix(matrix, name)
        label, weight = spec.loss.label_of(matrix, name), matrix.get_weight()
        if spec.loss.by_query:
            query = query_of_row(matrix)
            if query is None:
                raise ValueError(f"{name} has no queries, within which rows rank: build it with qid=")
            if weight.size:
                check_count(f"the weights of {name}", weight.size, int(query[-1]) + 1, name, "queries")
                weight = weight[query]
        return cls.from_arrays(spec, label, weight, labelled, n_rows=matrix.num_row(), name=name)

    @property
    def is_uniform(self) -> bool:
        """Whether label and teacher weights are the same in all rows of all workers; read it on every worker.

        All workers must take the same branches, also where only some have rows that differ.
        """
        return not on_any_worker(self.labelled is not None or any(guide.per_row is not None for guide in self.guides))

    def replace(self, **changes: Any) -> Training:
        """Return the same training with other values."""
        return dataclasses.replace(self, **changes)

    def counting(self) -> Training:
        """Return this without teachers of weight 0 in all rows of all workers; call it on every worker."""
        return self.replace(guides=tuple(guide for guide in self.guides if on_any_worker(np.any(guide.weight > 0))))

    def subset(self, rows: Array) -> Training:
        """The training of some of the rows."""
        return self.replace(
            label=self.label[rows],
            weight=None if self.weight is None else self.weight[rows],
            labelled=None if self.labelled is None else self.labelled[rows],
            guides=tuple(guide.subset(rows) for guide in self.guides),
        )

    def check_labelled_rows(self) -> None:
        """Raise if no row counts, or all labels that do are of one class; call it on every worker."""
        if global_sum(np.array([self.n_rows if self.weight is None else self.weight.sum()]))[0] == 0:
            raise ValueError("the weights of dtrain are all 0, on every worker: give a row a positive weight")
        if not on_any_worker(self.labelled is not None):
            return
        rows, loss = self.known, self.spec.loss
        if loss.probabilities:
            positive = rows if self.weight is None else rows & (self.weight > 0)
            # Weights of 0 in all rows are another error.
            rows = positive if on_any_worker(positive.any()) else rows
        known = self.label[rows]
        bounds = [known.max(), -known.min()] if known.size else [-np.inf] * 2
        high, below = global_max(np.array(bounds))
        if high == -np.inf:
            # Soft labels alone: a teacher that is given needs no label.
            if self.guides and not any(guide.teacher.about.learns for guide in self.guides):
                return
            raise no_labelled_row("labelled")
        if high == -below and loss.probabilities:
            raise ValueError(
                f"all labelled rows are of the class {high:g}, rows of weight 0 aside: label rows of another class"
            )
        classes = np.arange(self.spec.n_classes)
        absent = classes[global_max(np.isin(classes, known).astype(float)) == 0] if classes.size else classes
        if absent.size:
            warn_user(f"labelled has no row of the class {absent[0]}, so only a teacher that knows it can teach it")

    def warn_of_other_meanings(self, *, kl_weight_given: bool) -> None:
        """Warn of params that the user may have meant otherwise."""
        params = self.spec.params
        if "alpha" in params and not kl_weight_given:
            warn_user(
                "params['alpha'] is XGBoost's L1 regularisation of leaf weights, not the alpha of the paper: pass that "
                f"as kl_weight={params['alpha']!r}, or write reg_alpha for L1, which silences this",
            )
        unnamed = "objective" not in params and self.spec.objective == "reg:squarederror"
        if unnamed and bool(((self.label == 0) | (self.label == 1)).all()):
            warn_user(
                "no objective is named, which means reg:squarederror as in XGBoost, but every label is 0 or 1: set "
                "params['objective'] = 'binary:logistic' for probabilities, or 'reg:squarederror'",
            )


def per_label(per_row: Array, label: Array) -> Array:
    """Return a value per row in a shape that broadcasts over several targets."""
    return per_row[:, None] if label.ndim == 2 else per_row
