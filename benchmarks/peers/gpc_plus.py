"""GPC and GPC+: Gaussian process classification, and the same with noise that privileged features explain.

Hernandez-Lobato, Sharmanska, Kersting, Lampert and Quadrianto, "Mind the nuisance" (2014):

    f ~ GP(0, k_f(x, x')),   g ~ GP(m0, k_g(z, z')),   P(y_i | f_i, g_i) = Phi(y_i f_i / exp(g_i / 2))

so g is the log variance of the noise of a label; plain GPC has g = m0 everywhere. This is the paper's Eq. 7, by which
f = 1 has the probability .67 at exp(g) = 5 and .92 at exp(g) = .5; the .58 and .98 of its Figure 1 divide by exp(g)
instead of its root, and contradict that equation. A new row has no z, so it is predicted with homoscedastic noise, that
of g = m0. The posterior is approximated by
q(f) q(g) with expectation propagation (EP): every likelihood factor becomes a *site*, a product of a Gaussian in f_i
and one in g_i, held as precision ("eta2") and precision times mean ("eta1"). Below, h = g - m0, so that both priors
have mean zero. Site precisions may be negative; nothing here divides by one or takes its root.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy.linalg import cholesky, solve_triangular
from scipy.optimize import minimize
from scipy.special import log_ndtr, logsumexp, ndtr

from ._base import Array, Peer, Rows, median_squared_distance, squared_distances

NODES, _WEIGHTS = np.polynomial.hermite_e.hermegauss(20)
LOG_WEIGHTS = np.log(_WEIGHTS / _WEIGHTS.sum())

DIAGONAL = 1e-2
"""The small diagonal of both kernels (the amplitude is 1). It also keeps the kernel of repeated z positive definite."""

_HALF_LOG_2PI = 0.5 * np.log(2.0 * np.pi)


@dataclass(frozen=True)
class Sites:
    """Gaussians over n variables that factorise."""

    eta1: Array
    eta2: Array

    @classmethod
    def flat(cls, n: int) -> Sites:
        """Sites that say nothing, where EP starts."""
        return cls(np.zeros(n), np.zeros(n))

    def towards(self, other: Sites, step: float) -> Sites:
        """The damped update."""
        return Sites(self.eta1 + step * (other.eta1 - self.eta1), self.eta2 + step * (other.eta2 - self.eta2))

    def distance(self, other: Sites) -> float:
        """The largest difference in any parameter."""
        return float(max(np.abs(self.eta1 - other.eta1).max(), np.abs(self.eta2 - other.eta2).max()))


@dataclass(frozen=True)
class Marginals:
    """Means and variances of n one-dimensional Gaussians."""

    mean: Array
    var: Array

    @property
    def log_partition(self) -> Array:
        """Up to a constant, the log integral of exp(eta1 x - eta2 x^2 / 2)."""
        return 0.5 * self.mean**2 / self.var + 0.5 * np.log(self.var)

    def without(self, sites: Sites) -> Marginals | None:
        """The cavity, or None where it has no positive variance."""
        precision = 1.0 / self.var - sites.eta2
        if not (precision > 0).all():
            return None
        return Marginals((self.mean / self.var - sites.eta1) / precision, 1.0 / precision)


class Latent:
    """A zero-mean Gaussian prior N(0, K), and what it becomes under sites."""

    def __init__(self, kernel: Array) -> None:
        self.kernel = kernel
        self._root = cholesky(kernel, lower=True)

    def posterior(self, sites: Sites) -> Posterior | None:
        """The posterior, or None if these sites leave none.

        With K = L L' and T = diag(eta2), K^-1 + T is positive definite exactly if I + L'TL is; so one Cholesky
        factor allows negative precisions and finds out when there are too many.
        """
        inner = self._root.T @ (sites.eta2[:, None] * self._root)
        inner[np.diag_indices_from(inner)] += 1.0
        try:
            factor = cholesky(inner, lower=True, overwrite_a=True)
        except np.linalg.LinAlgError:
            return None
        half = solve_triangular(factor, self._root.T, lower=True)  # covariance = half' half
        mean = half.T @ (half @ sites.eta1)
        log_ratio = 0.5 * sites.eta1 @ mean - np.log(np.diag(factor)).sum()
        return Posterior(sites, Marginals(mean, (half**2).sum(0)), half, float(log_ratio))


@dataclass(frozen=True)
class Posterior:
    """q over one latent function at the training rows."""

    sites: Sites
    marginals: Marginals
    half: Array
    log_ratio: float
    """The log partition function of the posterior less that of the prior."""

    @property
    def weights(self) -> Array:
        """b = K^-1 times the posterior mean: the predictive mean at new rows is k b."""
        return self.sites.eta1 - self.sites.eta2 * self.marginals.mean

    @property
    def shrinkage(self) -> Array:
        """(K + T^-1)^-1 = T - T Sigma T, which exists for zero and negative precisions too."""
        scaled = self.half * self.sites.eta2
        return np.diag(self.sites.eta2) - scaled.T @ scaled

    def evidence_gradient(self, kernel_gradient: Array) -> float:
        """How the log evidence changes along a derivative of the kernel, with the sites held."""
        return 0.5 * float(((np.outer(self.weights, self.weights) - self.shrinkage) * kernel_gradient).sum())


@dataclass(frozen=True)
class Tilted:
    """Cavity times likelihood: its log integral, that integral's derivatives, and the sites that match its moments."""

    log_z: Array
    log_z_m0: Array
    sites_f: Sites
    sites_h: Sites | None


def _matching(cavity: Marginals, first: Array, second: Array) -> Sites:
    """The sites that give cavity x site the moments behind Z'/Z and Z''/Z."""
    beta = second - first**2
    # The tilted variance over the cavity's; 0 by rounding where all the mass sits on one node.
    scale = np.maximum(1.0 + beta * cavity.var, 1e-8)
    return Sites((first - cavity.mean * beta) / scale, -beta / scale)


def tilt(y: Array, f: Marginals, h: Marginals | None, m0: float) -> Tilted:
    """The tilted distributions of all rows, by Gauss-Hermite over h (a single node at 0 where h is constant)."""
    nodes = np.zeros((len(y), 1)) if h is None else h.mean[:, None] + np.sqrt(h.var)[:, None] * NODES
    log_weights = np.zeros(1) if h is None else LOG_WEIGHTS
    noise = np.exp(nodes + m0)
    variance = f.var[:, None] + noise
    t = (y * f.mean)[:, None] / np.sqrt(variance)
    log_phi = log_ndtr(t)
    log_terms = log_weights + log_phi
    log_z = logsumexp(log_terms, axis=1)
    share = np.exp(log_terms - log_z[:, None])
    ratio = np.exp(-0.5 * t**2 - _HALF_LOG_2PI - log_phi)  # the density over the distribution function

    first_f = (share * ratio / np.sqrt(variance)).sum(1) * y
    second_f = -(share * ratio * t / variance).sum(1)
    log_z_m0 = -0.5 * (share * ratio * t * noise / variance).sum(1)
    sites_h = None
    if h is not None:
        first_h = (share @ NODES) / np.sqrt(h.var)
        second_h = (share @ (NODES**2 - 1.0)) / h.var
        sites_h = _matching(h, first_h, second_h)
    return Tilted(log_z, log_z_m0, _matching(f, first_f, second_f), sites_h)


@dataclass(frozen=True)
class _State:
    """A consistent stage of EP: sites, posteriors, cavities and what the likelihood makes of them."""

    f: Posterior
    h: Posterior | None
    cavity_f: Marginals
    cavity_h: Marginals | None
    tilted: Tilted

    def gap(self) -> float:
        """How far the sites are from matching the tilted moments."""
        gap = self.f.sites.distance(self.tilted.sites_f)
        if self.h is not None and self.tilted.sites_h is not None:
            gap = max(gap, self.h.sites.distance(self.tilted.sites_h))
        return gap

    def log_evidence(self) -> float:
        """EP's estimate of log P(y | x, z)."""
        total = self.f.log_ratio + (self.tilted.log_z + self.cavity_f.log_partition).sum()
        total -= self.f.marginals.log_partition.sum()
        if self.h is not None and self.cavity_h is not None:
            total += self.h.log_ratio
            total += (self.cavity_h.log_partition - self.h.marginals.log_partition).sum()
        return float(total)


@dataclass(frozen=True)
class Fit:
    """What EP ends with."""

    f: Posterior
    h: Posterior | None
    log_evidence: float
    m0_gradient: float
    sweeps: int
    converged: bool


def _stage(
    y: Array, m0: float, prior_f: Latent, prior_h: Latent | None, sites_f: Sites, sites_h: Sites | None
) -> _State | None:
    """The stage with these sites, or None if a posterior or a cavity is improper."""
    f = prior_f.posterior(sites_f)
    cavity_f = None if f is None else f.marginals.without(sites_f)
    if f is None or cavity_f is None:
        return None
    h = cavity_h = None
    if prior_h is not None and sites_h is not None:
        h = prior_h.posterior(sites_h)
        cavity_h = None if h is None else h.marginals.without(sites_h)
        if h is None or cavity_h is None:
            return None
    return _State(f, h, cavity_f, cavity_h, tilt(y, cavity_f, cavity_h, m0))


def expectation_propagation(
    y: Array,
    kernel_f: Array,
    kernel_h: Array | None,
    m0: float,
    *,
    start: Fit | None = None,
    tolerance: float = 1e-3,
    max_sweeps: int = 200,
) -> Fit:
    """EP with all sites in parallel; ``kernel_h`` None is plain GPC; ``start`` continues from earlier sites.

    The step starts at 0.5 and shrinks by 1 % each sweep. A step after which a posterior or a cavity would be improper
    is halved; if 20 halvings do not help, EP ends there and says that it has not converged.
    """
    prior_f, prior_h = Latent(kernel_f), None if kernel_h is None else Latent(kernel_h)
    n = len(y)
    flat_h = None if prior_h is None else Sites.flat(n)
    state = None
    if start is not None:
        state = _stage(y, m0, prior_f, prior_h, start.f.sites, None if start.h is None else start.h.sites)
    state = state or _stage(y, m0, prior_f, prior_h, Sites.flat(n), flat_h)
    if state is None:
        raise ValueError("EP cannot start: expected positive definite kernels")

    step, sweep, gap = 0.5, 0, state.gap()
    while gap >= tolerance and sweep < max_sweeps:
        following = None
        for halving in range(20):
            size = step / 2.0**halving
            sites_f = state.f.sites.towards(state.tilted.sites_f, size)
            sites_h = None
            if state.h is not None and state.tilted.sites_h is not None:
                sites_h = state.h.sites.towards(state.tilted.sites_h, size)
            following = _stage(y, m0, prior_f, prior_h, sites_f, sites_h)
            if following is not None:
                break
        if following is None:
            break
        state, gap = following, following.gap()
        step *= 0.99
        sweep += 1
    m0_gradient = float(state.tilted.log_z_m0.sum())
    return Fit(state.f, state.h, state.log_evidence(), m0_gradient, sweep, gap < tolerance)


@dataclass(frozen=True)
class Kernel:
    """Squared exponential of amplitude 1 with one length scale; distances are squared."""

    distances: Array

    def __call__(self, log_scale: float) -> Array:
        """The covariance of the rows, with the small diagonal."""
        return self.smooth(log_scale) + DIAGONAL * np.eye(len(self.distances))

    def smooth(self, log_scale: float) -> Array:
        """The covariance without the diagonal."""
        return np.exp(-0.5 * self.distances * np.exp(-2.0 * log_scale))

    def gradient(self, log_scale: float) -> Array:
        """Its derivative in the log length scale."""
        return self.smooth(log_scale) * self.distances * np.exp(-2.0 * log_scale)


@dataclass(frozen=True)
class Evidence:
    """The EP evidence as a function of (log scale of f, m0) or (log scale of f, m0, log scale of g)."""

    y: Array
    kernel_f: Kernel
    kernel_h: Kernel | None
    tolerance: float = 1e-3

    def __call__(self, theta: Array, start: Fit | None = None) -> tuple[Fit, Array]:
        """The fit at theta and the gradient of its log evidence."""
        covariance_h = None if self.kernel_h is None else self.kernel_h(theta[2])
        fit = expectation_propagation(
            self.y, self.kernel_f(theta[0]), covariance_h, theta[1], start=start, tolerance=self.tolerance
        )
        gradient = [fit.f.evidence_gradient(self.kernel_f.gradient(theta[0])), fit.m0_gradient]
        if self.kernel_h is not None and fit.h is not None:
            gradient.append(fit.h.evidence_gradient(self.kernel_h.gradient(theta[2])))
        return fit, np.array(gradient)


def maximise_evidence(
    evidence: Evidence, theta: Array, bounds: list[tuple[float, float]], max_steps: int
) -> tuple[Array, Fit]:
    """Hyper-parameters by L-BFGS, every EP starting at the sites of the best one so far."""
    best_theta, (best, _) = theta, evidence(theta)

    def loss(trial: Array) -> tuple[float, Array]:
        nonlocal best_theta, best
        fit, gradient = evidence(trial, best)
        if fit.log_evidence > best.log_evidence:
            best_theta, best = trial.copy(), fit
        return -fit.log_evidence, -gradient

    minimize(loss, theta, jac=True, method="L-BFGS-B", bounds=bounds, options={"maxiter": max_steps})
    return best_theta, best


@dataclass
class GPC(Peer):
    """Gaussian process classification, the same noise for all rows. A sweep costs the cube of the rows."""

    max_rows: int | None = 300
    max_steps: int = 20

    def _fit(self, train: Rows, valid: Rows) -> None:
        self._encoder = self._encoder_of(self.x_types)
        self._x = self._encoder.fit_transform(train.x)
        unit_x = median_squared_distance(self._x)
        kernel_f, kernel_h = Kernel(squared_distances(self._x, self._x)), None
        theta, bounds = [0.5 * np.log(unit_x), np.log(0.1)], [self._scale_bounds(unit_x), (-8.0, 4.0)]
        if self.needs_privileged:
            z = self._encoder_of(self.z_types).fit_transform(train.z)
            unit_z = median_squared_distance(z)
            kernel_h = Kernel(squared_distances(z, z))
            theta.append(0.5 * np.log(unit_z))
            bounds.append(self._scale_bounds(unit_z))
        evidence = Evidence(train.signed, kernel_f, kernel_h)
        self.theta_, self.fit_ = maximise_evidence(evidence, np.array(theta), bounds, self.max_steps)
        names = ("log_scale_x", "log_noise", "log_scale_z")
        self.chosen_ = dict(zip(names, map(float, self.theta_), strict=False))
        if not self.fit_.converged:
            self.note_ = f"EP had not converged after {self.fit_.sweeps} sweeps"
        self._weights, self._shrinkage = self.fit_.f.weights, self.fit_.f.shrinkage

    @staticmethod
    def _scale_bounds(unit: float) -> tuple[float, float]:
        """From a tenth to ten times the typical distance."""
        return 0.5 * np.log(unit) - np.log(10.0), 0.5 * np.log(unit) + np.log(10.0)

    def _latent(self, X: Array) -> Marginals:
        """Mean and variance of f at new rows, the small diagonal included."""
        x = self._encoder.transform(X)
        mean, var = np.empty(len(x)), np.empty(len(x))
        for rows in np.array_split(np.arange(len(x)), len(x) // 2000 + 1):
            across = Kernel(squared_distances(x[rows], self._x)).smooth(self.theta_[0])
            mean[rows] = across @ self._weights
            var[rows] = 1.0 + DIAGONAL - ((across @ self._shrinkage) * across).sum(1)
        return Marginals(mean, np.maximum(var, DIAGONAL))

    def _score(self, X: Array) -> Array:
        latent = self._latent(X)
        return ndtr(latent.mean / np.sqrt(latent.var + np.exp(self.theta_[1])))


@dataclass
class GPCPlus(GPC):
    """GPC+. A new row has no z: its label has the noise of the prior mean of g, the same for all rows."""

    needs_privileged: ClassVar[bool] = True
