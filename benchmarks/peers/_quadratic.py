"""Dense convex quadratic programs over nonnegative variables, by Mehrotra's predictor and corrector (1992).

    min  x'Hx / 2 + c'x   s.t.  Ax = b, x >= 0

What is large near the solution is added to the diagonal of H alone, which a Cholesky factorisation does not mind.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from ._base import Array

_TOLERANCE = 1e-11
"""Of the mean product of a variable and its gradient, and relative of the other conditions."""

_STEPS = 100


def minimum(hessian: Array, linear: Array, A: Array, b: Array, x: Array) -> tuple[Array, Array]:
    """The minimum and the multipliers of Ax = b, from positive ``x``. LinAlgError where it is not found.

    At the minimum Hx + c - A'multipliers is 0 where x is positive, and nothing below 0 elsewhere.
    """
    bound, multipliers = np.ones_like(x), np.zeros(len(b))
    largest, far = max(1.0, np.abs(linear).max()), max(1.0, np.abs(b).max())
    for _ in range(_STEPS):
        gradient = hessian @ x + linear - A.T @ multipliers - bound
        missed = A @ x - b
        mean = x @ bound / len(x)
        if max(np.abs(gradient).max() / largest, np.abs(missed).max() / far, mean) < _TOLERANCE:
            return x, multipliers
        step = _Newton(hessian, A, x, bound, gradient, missed)
        dx, d_bound, _ = step.towards(np.zeros_like(x))
        length = min(1.0, _room(x, dx), _room(bound, d_bound))
        predicted = (x + length * dx) @ (bound + length * d_bound) / len(x)
        # A corrector of full size after a predictor that was cut short can go round in circles.
        dx, d_bound, d_multipliers = step.towards((predicted / mean) ** 3 * mean - length * dx * d_bound)
        length = min(1.0, 0.995 * _room(x, dx), 0.995 * _room(bound, d_bound))
        x, bound, multipliers = x + length * dx, bound + length * d_bound, multipliers + length * d_multipliers
    raise LinAlgError(f"no minimum in {_STEPS} steps")


class _Newton:
    """The linear equations of one step, factorised once for both of its right sides."""

    def __init__(self, hessian: Array, A: Array, x: Array, bound: Array, gradient: Array, missed: Array) -> None:
        self.A, self.x, self.bound, self.gradient, self.missed = A, x, bound, gradient, missed
        matrix = hessian.T.copy(order="F")  # the order of LAPACK, which else transposes it at twice the price
        matrix[np.diag_indices_from(matrix)] += bound / x
        self.factor = cho_factor(matrix, lower=True, overwrite_a=True, check_finite=False)
        self.of_A = cho_solve(self.factor, A.T, check_finite=False)

    def towards(self, products: Array) -> tuple[Array, Array, Array]:
        """The step after which the conditions hold and the products of x and bound are these, to first order."""
        wanted = (products - self.x * self.bound) / self.x
        own = cho_solve(self.factor, wanted - self.gradient, check_finite=False)
        d_multipliers = np.linalg.solve(self.A @ self.of_A, -self.missed - self.A @ own)
        dx = own + self.of_A @ d_multipliers
        return dx, wanted - self.bound * dx / self.x, d_multipliers


def _room(values: Array, change: Array) -> float:
    """How often the change can be made before a value reaches 0."""
    falls = change < 0
    return float(np.min(-values[falls] / change[falls], initial=np.inf))
