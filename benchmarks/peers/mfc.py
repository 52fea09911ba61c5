"""MFC: logistic regression whose scores may not covary with a sensitive attribute.

Zafar, Valera, Gomez Rodriguez and Gummadi, "Fairness constraints: mechanisms for fair classification" (2017):

    min_w sum_i log(1 + exp(-y_i w.x_i))   s.t.   | mean_i (s_i - mean(s)) w.x_i | <= c   for each binary s

with y in {-1, +1}; x has an intercept and no s. The settings that the authors of PIB used for MFC are not published.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy.optimize import LinearConstraint, minimize
from scipy.special import expit
from sklearn.metrics import roc_auc_score

from ._base import Array, Encoder, Peer, Rows

FACTORS = (1.0, 0.5, 0.2, 0.1, 0.05, 0.0)
"""What c may be, as shares of the covariance of the model without constraints, loosest first."""

P_RULE = 0.8
"""The legal rule that the authors quote: no group's positive rate below 80 % of the other's."""

_ITERATIONS = 300
_TOLERANCES = (1e-10, 1e-8, 1e-6)
"""Of the mean loss, the looser ones where the iterations run out: rare categories of one label alone pull their weights
to infinity, and the loss is flat all the way."""

_RIDGE = 1e-8
_RANK = 1e-10
"""The ridge keeps separable data bounded; directions of x with less than this share of the largest variance go."""


def covariance_rows(x: Array, groups: Array) -> Array:
    """One row per sensitive attribute: the covariance of s and w.x is this row times w."""
    return (groups - groups.mean(0)).T @ x / len(x)


def basis(x: Array) -> Array:
    """Columns B that make the second moments of x B the identity.

    The curvature at w = 0 is then the same in all directions, which is where SLSQP's own guess starts; with one-hot
    columns the raw problem takes many times the iterations, or has no unique solution.
    """
    size = np.sqrt((x**2).mean(0))
    size[size == 0] = 1.0
    values, vectors = np.linalg.eigh((x / size).T @ (x / size) / len(x))
    kept = values > _RANK * values[-1]
    return vectors[:, kept] / np.sqrt(values[kept]) / size[:, None]


def solve_mfc(x: Array, y: Array, groups: Array, c: float, start: Array | None = None) -> Array:
    """The weights w for columns x (intercept included), y in {-1, +1}, and one binary column per attribute."""
    scaling = basis(x)
    signed = y[:, None] * (x @ scaling)
    n = len(y)

    def loss(v: Array) -> tuple[float, Array]:
        margin = signed @ v
        gradient = -signed.T @ expit(-margin) / n + _RIDGE * v
        return float(np.logaddexp(0.0, -margin).mean() + 0.5 * _RIDGE * v @ v), gradient

    rows = covariance_rows(x, groups) @ scaling
    v = np.zeros(scaling.shape[1]) if start is None else np.linalg.lstsq(scaling, start, rcond=None)[0]
    for tolerance in _TOLERANCES:
        answer = minimize(
            loss,
            v,
            jac=True,
            method="SLSQP",
            constraints=[LinearConstraint(rows, -c, c)] if np.isfinite(c) else [],
            options={"maxiter": _ITERATIONS, "ftol": tolerance},
        )
        v = answer.x
        if answer.success:
            return scaling @ v
    raise RuntimeError(f"SLSQP did not solve MFC at c = {c:g}: {answer.message}")


def p_rule(decisions: Array, groups: Array) -> float:
    """The smaller of the two groups' positive rates over the larger, at the worst attribute; 1 without positives."""
    worst = 1.0
    for column in groups.T:
        rates = [decisions[column == value].mean() for value in np.unique(column)]
        if max(rates) > 0:
            worst = min(worst, min(rates) / max(rates))
    return worst


@dataclass
class MFC(Peer):
    """MFC with a fixed covariance ``c``, or (``c=None``) one chosen on the validation rows.

    Chosen is the highest validation AUC among the values of c that keep the 80 % rule there, deciding at the quantile
    that gives the training share of positives; if none does, c = 0. Without ``sensitive_valid`` the 80 % rule is read
    off the training rows.
    """

    needs_groups: ClassVar[bool] = True
    binary_groups_only: ClassVar[bool] = True

    max_rows: int | None = 20_000
    c: float | None = 0.0

    def _fit(self, train: Rows, valid: Rows) -> None:
        self._encoder = Encoder(self.x_types)
        x = self._with_intercept(self._encoder.fit_transform(train.x))
        groups = np.column_stack([column == column.max() for column in train.groups.T]).astype(float)
        c = self.c
        if c is None:
            c = self._choose(x, train, groups, valid)
        self.coef_ = solve_mfc(x, train.signed, groups, c)
        self.chosen_ = {"c": c}

    def _choose(self, x: Array, train: Rows, groups: Array, valid: Rows) -> float:
        free = solve_mfc(x, train.signed, groups, np.inf)
        largest = float(np.abs(covariance_rows(x, groups) @ free).max())
        valid_x = self._with_intercept(self._encoder.transform(valid.x))
        judged_x, scored = (x, train) if valid.groups is None else (valid_x, valid)
        best, best_auc, start = 0.0, -np.inf, free
        for factor in FACTORS:
            start = solve_mfc(x, train.signed, groups, factor * largest, start)
            scores = judged_x @ start
            decisions = scores > np.quantile(scores, 1.0 - train.y.mean())
            auc = roc_auc_score(valid.y, valid_x @ start)
            if p_rule(decisions, scored.groups) >= P_RULE and auc > best_auc:
                best, best_auc = factor * largest, auc
        return best

    @staticmethod
    def _with_intercept(x: Array) -> Array:
        return np.column_stack([np.ones(len(x)), x])

    def _score(self, X: Array) -> Array:
        return expit(self._with_intercept(self._encoder.transform(X)) @ self.coef_)
