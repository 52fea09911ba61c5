"""SVM+: a support vector machine whose slack is a function of the privileged features.

The primal (Vapnik and Vashist, 2009), with y in {-1, +1}:

    min  |w|^2 / 2 + gamma |w*|^2 / 2 + C sum_i (w*.z_i + b*)
    s.t. y_i (w.x_i + b) >= 1 - (w*.z_i + b*)   and   w*.z_i + b* >= 0

:class:`SVMPlus` solves its dual as a quadratic program. :class:`L2SVMPlus` is the form of Li, Dai, Tan, Xu and
Van Gool (2016): squared slack, no sign condition on it, the intercepts inside the kernels; its dual has the shape
of a one-class SVM, so scikit-learn solves it.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import OneClassSVM

from ._base import (
    Array,
    Option,
    Peer,
    Rows,
    Sigmoid,
    best_by_coordinate,
    best_on_grid,
    median_squared_distance,
    squared_distances,
    subsample,
)
from ._quadratic import minimum

PENALTIES = tuple(map(float, np.exp(np.linspace(-3, 7, 5))))
WIDTHS = tuple(map(float, np.exp(np.linspace(-3, 3, 5))))
"""The grids of the GPC+ authors: C and gamma; the inverse widths of both kernels over the median distance."""

OPTIONS = {"gamma": PENALTIES, "width_z": WIDTHS, "C": PENALTIES, "width": WIDTHS}

_DIAGONALS = (1e-8, 1e-6, 1e-4)
"""Added to both kernels so that the quadratic program is strictly convex; the larger ones where the solver fails."""

_TOLERANCE = 1e-7
"""Of the one-class SVM, whose optimum can be as small as 1e-5: at its default 1e-3 the decisions may be unrelated to
those of the solution. Less than 1e-7 means nothing, since libsvm holds its kernel in single precision."""

_ITERATIONS = 1_000_000


@dataclass(frozen=True)
class Machine:
    """What a solver finds: decision(x) = sum_i coef_i k(x_i, x) + intercept."""

    coef: Array
    intercept: float
    complete: bool = True
    """Whether the solver reached its tolerance."""


def solve_svm_plus(kernel: Array, kernel_z: Array, y: Array, C: float, gamma: float) -> Machine:
    """SVM+ by its dual, over alpha and beta, with u = alpha + beta - C:

        min  a'(K o yy')a / 2 + u'K*u / (2 gamma) - 1'a   s.t.  1'u = 0, y'a = 0, a >= 0, beta >= 0

    The intercept is a multiplier of y'a = 0, which needs no support vector to be free.
    """
    n = len(y)
    equalities = np.array([np.ones(2 * n), np.concatenate([y, np.zeros(n)])])
    for diagonal in _DIAGONALS:
        ridge = diagonal * np.eye(n)
        own, slack = kernel * np.outer(y, y) + ridge, (kernel_z + ridge) / gamma
        pull = C * slack.sum(axis=0)
        linear = -np.concatenate([1.0 + pull, pull])
        hessian = np.block([[own + slack, slack], [slack, slack]])
        try:
            x, multipliers = minimum(hessian, linear, equalities, np.array([n * C, 0.0]), np.full(2 * n, C / 2))
        except LinAlgError as error:
            trouble = error
        else:
            return Machine(x[:n] * y, -float(multipliers[1]))
    raise RuntimeError(f"the quadratic program of SVM+ was not solved: {trouble}")


def slack_term(kernel_z: Array, C: float, gamma: float) -> Array:
    """(I - (I + (C / gamma) (K* + 1))^-1) / C: what the slack adds to the program of L2-SVM+."""
    identity = np.eye(len(kernel_z))
    shrunk = cho_solve(cho_factor(identity + (C / gamma) * (kernel_z + 1.0)), identity)
    return (identity - shrunk) / C


def solve_l2_svm_plus(kernel: Array, slack: Array, y: Array) -> Machine:
    """L2-SVM+: min a'Qa / 2 with Q = (K + 1) o yy' + slack, over a >= 0 that sum to 1."""
    n = len(y)
    quadratic = (kernel + 1.0) * np.outer(y, y) + slack
    solver = OneClassSVM(kernel="precomputed", nu=1.0 / n, tol=_TOLERANCE, max_iter=_ITERATIONS)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # Machine.complete says it
        solver.fit(quadratic)
    coef = np.zeros(n)
    coef[solver.support_] = solver.dual_coef_[0]
    coef *= y
    return Machine(coef, float(coef.sum()), solver.fit_status_ == 0)


@dataclass
class _KernelPeer(Peer):
    """Both kernels, the search over their widths, and the decision; a subclass solves."""

    needs_privileged: ClassVar[bool] = True

    search_rows: int = 300

    def _fit(self, train: Rows, valid: Rows) -> None:
        self._encoder, z_encoder = self._encoder_of(self.x_types), self._encoder_of(self.z_types)
        x, z = self._encoder.fit_transform(train.x), z_encoder.fit_transform(train.z)
        self._x_unit, z_unit = median_squared_distance(x), median_squared_distance(z)

        small = subsample(train, self.search_rows, self.seed)
        small_x, small_z = self._encoder.transform(small.x), z_encoder.transform(small.z)
        valid_x = self._encoder.transform(valid.x)
        within = squared_distances(small_x, small_x) / self._x_unit
        within_z = squared_distances(small_z, small_z) / z_unit
        across = squared_distances(valid_x, small_x) / self._x_unit

        def decide(option: Option) -> Array:
            machine = self._solve(within, within_z, small.signed, option)
            return np.exp(-option["width"] * across) @ machine.coef + machine.intercept

        self.chosen_ = self._search(decide, valid)
        self._x = x
        self._machine = self._solve(
            squared_distances(x, x) / self._x_unit, squared_distances(z, z) / z_unit, train.signed, self.chosen_
        )
        if not self._machine.complete:
            self.note_ = f"stopped after {_ITERATIONS} iterations"
        self._sigmoid = Sigmoid.fit(self._decide(valid.x), valid.y)

    def _search(self, decide: Callable[[Option], Array], valid: Rows) -> Option:
        """The parameters of a high AUC on the validation rows.

        The narrowest z kernel with the cheapest w* lets every row have a slack of its own, as in the plain SVM: the
        search begins at the best of those, so that SVM+ departs from SVM only where that helps.
        """
        plain = {"C": PENALTIES, "width": WIDTHS, "gamma": PENALTIES[:1], "width_z": WIDTHS[-1:]}
        start = best_on_grid(plain, decide, valid)
        return best_by_coordinate(OPTIONS, start, decide, valid)

    def _solve(self, within: Array, within_z: Array, y: Array, option: Option) -> Machine:
        raise NotImplementedError

    def _decide(self, X: Array) -> Array:
        encoded = self._encoder.transform(X)
        width = self.chosen_["width"] / self._x_unit
        blocks = np.array_split(encoded, len(encoded) // 2000 + 1)
        return np.concatenate(
            [
                np.exp(-width * squared_distances(block, self._x)) @ self._machine.coef + self._machine.intercept
                for block in blocks
            ]
        )

    def _score(self, X: Array) -> Array:
        return self._sigmoid(self._decide(X))


@dataclass
class SVMPlus(_KernelPeer):
    """SVM+ by its quadratic program. Memory grows with the square of the rows: 5,000 is about the end."""

    max_rows: int | None = 1000
    search_rows: int = 200

    def _solve(self, within: Array, within_z: Array, y: Array, option: Option) -> Machine:
        kernel, kernel_z = np.exp(-option["width"] * within), np.exp(-option["width_z"] * within_z)
        return solve_svm_plus(kernel, kernel_z, y, option["C"], option["gamma"])


@dataclass
class L2SVMPlus(_KernelPeer):
    """L2-SVM+, which needs nothing but scikit-learn."""

    max_rows: int | None = 1000

    def _solve(self, within: Array, within_z: Array, y: Array, option: Option) -> Machine:
        slack = slack_term(np.exp(-option["width_z"] * within_z), option["C"], option["gamma"])
        return solve_l2_svm_plus(np.exp(-option["width"] * within), slack, y)
