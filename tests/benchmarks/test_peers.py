"""The peers that are written by hand against second formulations; all peers against their common interface."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import integrate
from scipy.special import ndtr
from sklearn.metrics import roc_auc_score
from sklearn.svm import SVC

from benchmarks.peers import PEERS, FairlearnExponentiatedGradient, Peer, _base, _quadratic, mfc, svm_plus
from benchmarks.peers.gpc_plus import Evidence, Kernel, Marginals, expectation_propagation, tilt


def random_kernel(rng, n, columns=2):
    points = rng.normal(size=(n, columns))
    return np.exp(-0.5 * _base.squared_distances(points, points)) + 0.01 * np.eye(n)


def svm_plus_problem(seed, n=40):
    rng = np.random.default_rng(seed)
    y = np.where(rng.random(n) < 0.5, 1.0, -1.0)
    y[:2] = 1.0, -1.0
    return random_kernel(rng, n), random_kernel(rng, n), y


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(("C", "gamma"), [(0.1, 1.0), (1.0, 0.1), (10.0, 10.0)])
def test_the_dual_of_svm_plus_finds_what_its_primal_finds(seed, C, gamma):
    cp = pytest.importorskip("cvxpy")
    kernel, kernel_z, y = svm_plus_problem(seed)
    # Rows of a Cholesky factor are features whose inner products are the kernel.
    x, z = np.linalg.cholesky(kernel), np.linalg.cholesky(kernel_z)
    w, v, b, b_z = cp.Variable(len(y)), cp.Variable(len(y)), cp.Variable(), cp.Variable()
    slack = z @ v + b_z
    objective = 0.5 * cp.sum_squares(w) + 0.5 * gamma * cp.sum_squares(v) + C * cp.sum(slack)
    primal = cp.Problem(cp.Minimize(objective), [cp.multiply(y, x @ w + b) >= 1 - slack, slack >= 0])
    primal.solve(solver="CLARABEL")

    machine = svm_plus.solve_svm_plus(kernel, kernel_z, y, C, gamma)

    # Both give every training row the same decision value.
    expected = x @ w.value + b.value
    np.testing.assert_allclose(kernel @ machine.coef + machine.intercept, expected, atol=2e-4)


def l2_problem(seed, C, gamma, n=40):
    kernel, kernel_z, y = svm_plus_problem(seed, n)
    slack = svm_plus.slack_term(kernel_z, C, gamma)
    return kernel, kernel_z, y, slack


@pytest.mark.parametrize(("C", "gamma"), [(0.1, 1.0), (0.5, 1.0), (20.0, 0.2), (100.0, 10.0)])
def test_l2_svm_plus_finds_what_its_primal_finds(C, gamma):
    cp = pytest.importorskip("cvxpy")
    kernel, kernel_z, y, slack = l2_problem(1, C, gamma)
    x, z = np.linalg.cholesky(kernel + 1.0), np.linalg.cholesky(kernel_z + 1.0)
    w, v, rho = cp.Variable(len(y)), cp.Variable(len(y)), cp.Variable()
    objective = cp.sum_squares(w) + gamma * cp.sum_squares(v) + C * cp.sum_squares(z @ v) - 2 * rho
    cp.Problem(cp.Minimize(objective), [cp.multiply(y, x @ w) >= rho - z @ v]).solve(solver="CLARABEL")

    machine = svm_plus.solve_l2_svm_plus(kernel, slack, y)

    # Squared slack, intercepts inside the kernels: the decisions of both formulations agree.
    expected = x @ w.value
    decision = kernel @ machine.coef + machine.intercept
    np.testing.assert_allclose(decision, expected, atol=1e-3 * np.abs(expected).max())


@pytest.mark.parametrize("C", [0.1, 1.0, 10.0])
def test_svm_plus_with_a_free_slack_for_every_row_is_the_svm(C):
    kernel, _, y = svm_plus_problem(4)
    # Rows that share nothing in z have slacks of their own, nearly for nothing: what is left to pay is C times each.
    machine = svm_plus.solve_svm_plus(kernel, np.eye(len(y)), y, C, 1e-7)
    svm = SVC(C=C, kernel="precomputed", tol=1e-9).fit(kernel, y)
    np.testing.assert_allclose(kernel @ machine.coef + machine.intercept, svm.decision_function(kernel), atol=1e-3)


@pytest.mark.parametrize("rank", [1, 8, 30])
@pytest.mark.parametrize("scale", [1e-2, 1.0, 1e3])
def test_a_quadratic_program_ends_where_its_optimality_conditions_hold(rank, scale):
    rng = np.random.default_rng(rank)
    factor, normal = rng.normal(size=(30, rank)), rng.normal(size=30)
    hessian, linear = factor @ factor.T + 1e-8 * np.eye(30), scale * rng.normal(size=30)
    equalities, right = np.array([np.ones(30), normal]), scale * np.array([30.0, normal.sum()])
    x, multipliers = _quadratic.minimum(hessian, linear, equalities, right, np.full(30, 0.5))
    gradient = hessian @ x + linear - equalities.T @ multipliers
    # Feasible, no way down, and no gradient where x can move both ways: of a convex program that is the minimum.
    assert x.min() > 0.0
    np.testing.assert_allclose(equalities @ x, right, atol=1e-9 * scale)
    assert gradient.min() > -1e-9 * max(1.0, scale)
    np.testing.assert_allclose(x * gradient, 0.0, atol=1e-8 * max(1.0, scale**2))
    assert 0 < (x > 1e-6 * scale).sum() < 30


def orthant(covariance, y):
    """P(all y_i f_i > 0) for f ~ N(0, covariance) in two or three dimensions, in closed form; covariances stacked."""
    n = len(y)
    scale = np.sqrt(np.einsum("kii->ki", covariance))
    correlation = covariance / scale[:, :, None] / scale[:, None, :] * np.outer(y, y)
    angles = sum(np.arcsin(correlation[:, i, j]) for i in range(n) for j in range(i))
    return 0.5**n + angles / (2.0 * np.pi if n == 2 else 4.0 * np.pi)


def brute_force(y, kernel_f, kernel_h, m0, nodes=40):
    """Exact evidence and posterior mean of h: f integrated in closed form, h on a grid in all dimensions."""
    n = len(y)
    node, weight = np.polynomial.hermite_e.hermegauss(nodes)
    h = np.stack(np.meshgrid(*[node] * n, indexing="ij"), -1).reshape(-1, n) @ np.linalg.cholesky(kernel_h).T
    weights = np.prod(np.stack(np.meshgrid(*[weight / weight.sum()] * n, indexing="ij"), -1).reshape(-1, n), 1)
    joint = weights * orthant(kernel_f + np.exp(h + m0)[:, :, None] * np.eye(n), y)
    return np.log(joint.sum()), joint @ h / joint.sum()


@pytest.mark.parametrize("n", [2, 3])
@pytest.mark.parametrize("seed", range(4))
def test_ep_comes_near_the_exact_evidence_and_posterior(n, seed):
    rng = np.random.default_rng(seed)
    y = np.where(rng.random(n) < 0.5, 1.0, -1.0)
    kernel_f, kernel_h, m0 = random_kernel(rng, n), random_kernel(rng, n), rng.normal()
    evidence, mean = brute_force(y, kernel_f, kernel_h, m0)
    fit = expectation_propagation(y, kernel_f, kernel_h, m0, tolerance=1e-8)

    assert fit.converged
    # EP drops the dependence of f and g in the posterior: near, not equal.
    assert fit.log_evidence == pytest.approx(evidence, abs=0.03)
    np.testing.assert_allclose(fit.h.marginals.mean, mean, atol=0.01)


@pytest.mark.parametrize(("variance_f", "variance_h", "m0", "y"), [(1.0, 1.0, 0.0, 1.0), (2.0, 0.5, -2.0, -1.0)])
def test_for_a_single_row_ep_is_exact(variance_f, variance_h, m0, y):
    fit = expectation_propagation(
        np.array([y]), np.array([[variance_f]]), np.array([[variance_h]]), m0, tolerance=1e-10
    )

    def density(f, h):
        prior = np.exp(-0.5 * (f**2 / variance_f + h**2 / variance_h)) / (2 * np.pi * np.sqrt(variance_f * variance_h))
        return prior * ndtr(y * f * np.exp(-0.5 * (h + m0)))

    def integral(power_f, power_h):
        return integrate.dblquad(lambda f, h: f**power_f * h**power_h * density(f, h), -9, 9, -12, 12, epsabs=1e-11)[0]

    z = integral(0, 0)
    # Evidence, means and variances equal those of adaptive quadrature over (f, h).
    assert fit.log_evidence == pytest.approx(np.log(z), abs=1e-7)
    for posterior, powers in ((fit.f, (1, 0)), (fit.h, (0, 1))):
        mean = integral(*powers) / z
        variance = integral(*(2 * p for p in powers)) / z - mean**2
        assert posterior.marginals.mean[0] == pytest.approx(mean, abs=1e-6)
        assert posterior.marginals.var[0] == pytest.approx(variance, abs=1e-6)


def test_converged_sites_match_the_moments_of_the_tilted_distributions():
    rng = np.random.default_rng(3)
    y = np.array([1.0, 1.0, -1.0, 1.0, -1.0])
    m0 = -0.7
    fit = expectation_propagation(y, random_kernel(rng, 5), random_kernel(rng, 5), m0, tolerance=1e-9)
    cavity_f, cavity_h = fit.f.marginals.without(fit.f.sites), fit.h.marginals.without(fit.h.sites)
    for i in range(5):

        def tilted(h, i=i):
            noise = np.exp(h + m0)
            gauss = np.exp(-0.5 * (h - cavity_h.mean[i]) ** 2 / cavity_h.var[i])
            return gauss * ndtr(y[i] * cavity_f.mean[i] / np.sqrt(cavity_f.var[i] + noise))

        moments = [integrate.quad(lambda h, k=k: h**k * tilted(h), -12, 12, epsabs=1e-12)[0] for k in range(3)]
        mean = moments[1] / moments[0]
        # The marginal of h under q has mean and variance of cavity times likelihood.
        assert fit.h.marginals.mean[i] == pytest.approx(mean, abs=1e-6)
        assert fit.h.marginals.var[i] == pytest.approx(moments[2] / moments[0] - mean**2, abs=1e-6)


@pytest.mark.parametrize("privileged", [True, False])
def test_the_evidence_gradient_is_the_difference_quotient(privileged):
    rng = np.random.default_rng(1)
    n = 20
    x, z = rng.normal(size=(n, 2)), rng.normal(size=(n, 1))
    y = np.where(x[:, 0] + rng.normal(size=n) > 0, 1.0, -1.0)
    kernel_h = Kernel(_base.squared_distances(z, z)) if privileged else None
    evidence = Evidence(y, Kernel(_base.squared_distances(x, x)), kernel_h, tolerance=1e-10)
    theta = np.array([0.3, -0.5, 0.1])[: 3 if privileged else 2]
    _, gradient = evidence(theta)
    quotient = [
        (evidence(theta + e)[0].log_evidence - evidence(theta - e)[0].log_evidence) / 2e-4
        for e in 1e-4 * np.eye(len(theta))
    ]
    np.testing.assert_allclose(gradient, quotient, atol=1e-6)


def test_gpc_plus_with_a_noise_that_hardly_varies_is_gpc():
    rng = np.random.default_rng(2)
    y, kernel = np.where(rng.random(12) < 0.5, 1.0, -1.0), random_kernel(rng, 12)
    plain = expectation_propagation(y, kernel, None, -1.0, tolerance=1e-9)
    plus = expectation_propagation(y, kernel, 1e-9 * np.eye(12), -1.0, tolerance=1e-7)
    assert plus.log_evidence == pytest.approx(plain.log_evidence, abs=1e-7)
    np.testing.assert_allclose(plus.f.marginals.mean, plain.f.marginals.mean, atol=1e-6)


@pytest.mark.parametrize(("noise", "probability"), [(5.0, 0.67), (0.5, 0.92)])
def test_the_likelihood_is_that_of_equation_7(noise, probability):
    """The noise is a variance; as a standard deviation it would give the .58 and .98 of the paper's Figure 1."""
    certain = Marginals(np.ones(1), np.full(1, 1e-12))
    assert np.exp(tilt(np.ones(1), certain, None, np.log(noise)).log_z[0]) == pytest.approx(probability, abs=0.005)


def mfc_problem(seed, n=300):
    rng = np.random.default_rng(seed)
    groups = (rng.random((n, 2)) < [0.4, 0.6]).astype(float)
    dummies = np.eye(3)[rng.integers(0, 3, n)]
    x = np.column_stack([np.ones(n), rng.normal(size=(n, 2)) + groups, 3.0 * rng.normal(size=n), dummies])
    y = np.where(x[:, 1] - x[:, 2] + rng.logistic(size=n) > 0, 1.0, -1.0)
    return x, y, groups


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("c", [0.0, 0.02, 0.1, np.inf])
def test_mfc_finds_what_a_conic_solver_finds(seed, c):
    cp = pytest.importorskip("cvxpy")
    x, y, groups = mfc_problem(seed)
    w = cp.Variable(x.shape[1])
    loss = cp.sum(cp.logistic(-cp.multiply(y, x @ w))) / len(y)
    constraints = [cp.abs(mfc.covariance_rows(x, groups) @ w) <= c] if np.isfinite(c) else []
    cp.Problem(cp.Minimize(loss), constraints).solve(solver="CLARABEL")
    # The scores agree; with redundant dummies the weights themselves need not.
    np.testing.assert_allclose(x @ mfc.solve_mfc(x, y, groups, c), x @ w.value, atol=1e-4)


def test_the_p_rule_is_the_ratio_of_the_positive_rates():
    groups = np.array([0, 0, 0, 0, 1, 1, 1, 1])[:, None]
    # One of four against two of four.
    assert mfc.p_rule(np.array([1, 0, 0, 0, 1, 1, 0, 0]), groups) == pytest.approx(0.5)
    # Nobody is positive: nobody is wronged.
    assert mfc.p_rule(np.zeros(8), groups) == 1.0


SMALL = {
    "Fairlearn EG": {"max_iter": 3, "booster": {"n_estimators": 5, "max_depth": 2}},
    "FairGBM": {"rounds": 20, "multiplier_rates": (0.1, 0.01)},
    "EBM": {"outer_bags": 1, "interactions": 0},
    "SVM+": {"search_rows": 40, "max_rows": 80},
    "L2-SVM+": {"search_rows": 60},
    "GPC": {"max_rows": 60, "max_steps": 5},
    "GPC+": {"max_rows": 60, "max_steps": 5},
}
X_TYPES, Z_TYPES = "qqc", "qc"


def small_set(seed, n):
    rng = np.random.default_rng(seed)
    groups = (rng.random(n) < 0.4).astype(int)
    x = np.column_stack([rng.normal(size=n) + 0.7 * groups, rng.normal(size=n), rng.integers(0, 3, n)])
    z = np.column_stack([rng.normal(size=n), rng.integers(0, 2, n)])
    y = (1.5 * x[:, 0] + x[:, 1] + (x[:, 2] == 1) + 0.5 * z[:, 0] + rng.logistic(size=n) > 0.5).astype(int)
    return x, y, z, groups


def make(name):
    peer = PEERS[name](**SMALL.get(name, {}))
    reason = peer.missing()
    if reason is not None:
        pytest.skip(reason)
    return peer


@pytest.mark.parametrize("name", PEERS)
def test_every_peer_learns_from_categories_and_missing_values_and_repeats_itself(name):
    x, y, z, groups = small_set(1, 300)
    x[::17, 0] = np.nan
    x[5::31, 2] = np.nan
    before = [part.copy() for part in (x, y, z, groups)]
    train, valid, test = slice(0, 120), slice(120, 180), slice(180, 300)
    x[test][0, 2] = 7.0  # a category that no training row has

    def probabilities():
        peer = make(name).fit(
            x[train],
            y[train],
            z[train],
            groups[train],
            X_valid=x[valid],
            y_valid=y[valid],
            sensitive_valid=groups[valid],
            x_types=X_TYPES,
            z_types=Z_TYPES,
        )
        return peer, peer.predict_proba(x[test])

    peer, p = probabilities()
    # Two columns of probabilities that sum to 1 and say something about y,
    assert p.shape == (120, 2)
    assert (p >= 0).all()
    np.testing.assert_allclose(p.sum(1), 1.0)
    assert roc_auc_score(y[test], p[:, 1]) > (0.5 if name == "DP-EBM" else 0.6)
    # decisions of 0 and 1, the same when asked again,
    np.testing.assert_array_equal(peer.predict(x[test]), peer.predict(x[test]))
    assert set(peer.predict(x[test])) <= {0, 1}
    # the same model again from the same seed, and arguments as they were.
    np.testing.assert_array_equal(probabilities()[1], p)
    x[test][0, 2] = before[0][test][0, 2]
    for part, old in zip((x, y, z, groups), before, strict=True):
        np.testing.assert_array_equal(part, old)


@pytest.mark.parametrize("name", PEERS)
def test_every_peer_says_what_it_cannot_take_before_any_training(name):
    peer = make(name)
    x, y, z, _ = small_set(2, 60)
    few = None if peer.max_rows is None else peer.max_rows
    # A set with two groups and few rows suits all of them.
    assert peer.limit(50, 2) is None
    if few is not None:
        limit = peer.limit(few + 1, 2)
        assert limit.runs
        assert f"{few} of {few + 1} rows" in limit.reason
    # What the flags promise is what fit does.
    refused = peer.limit(60, 0)
    assert (refused is not None) == peer.needs_groups
    if peer.needs_groups:
        assert not refused.runs
        with pytest.raises(ValueError, match="needs a sensitive attribute"):
            peer.fit(x, y, z)
        with pytest.raises(ValueError, match="at least two groups"):
            peer.fit(x, y, z, np.zeros(60))


def test_rows_beyond_the_cap_are_drawn_in_proportion_and_said():
    seen = []

    class Recorder(Peer):
        def _fit(self, train, valid):
            seen.append((train, valid))

    x, _, _, _ = small_set(4, 500)
    y = (np.arange(500) % 20 == 0).astype(int)
    peer = Recorder(max_rows=100)
    peer.fit(x, y)
    train, valid = seen[0]
    # A fifth went to validation, 100 of the other 400 are trained on, both with one positive in 20 as the whole.
    assert peer.note_ == "trained on 100 of 400 rows"
    assert (len(train), len(valid)) == (100, 100)
    assert (train.y.sum(), valid.y.sum()) == (5, 5)
    # No row is in both.
    assert not {tuple(row) for row in train.x} & {tuple(row) for row in valid.x}


def fit_reduction(**arguments):
    pytest.importorskip("fairlearn")
    x, y, _, groups = small_set(0, 1500)
    booster = {"n_estimators": 20, "max_depth": 2}
    peer = FairlearnExponentiatedGradient(max_iter=15, booster=booster, **arguments)
    return peer.fit(x, y, sensitive=groups, x_types=X_TYPES), x, y, groups


def test_the_probability_of_exponentiated_gradient_is_that_of_its_draw():
    peer, x, _, _ = fit_reduction()
    p = peer.predict_proba(x)[:, 1]
    # It is what Fairlearn draws from,
    np.testing.assert_allclose(p, peer._reduction._pmf_predict(x)[:, 1], atol=1e-12)
    # and the decisions are draws: 1 where it is 1, sometimes 1 where it is between.
    decisions = peer.predict(x)
    assert (decisions[p == 1] == 1).all()
    assert (decisions[p == 0] == 0).all()
    between = (p > 0) & (p < 1)
    assert decisions[between].mean() == pytest.approx(p[between].mean(), abs=0.1)


def test_fairgbm_under_constraints_that_never_bind_is_its_unconstrained_booster():
    x, y, _, groups = small_set(0, 400)
    x[::9, 0] = np.nan
    shuffled = np.random.default_rng(0).permutation(groups)

    def probabilities(sensitive, **params):
        peer = make("FairGBM")
        peer.multiplier_rates, peer.params = (0.1,), params
        return peer.fit(x, y, sensitive=sensitive, x_types=X_TYPES).predict_proba(x)[:, 1]

    loose = {"constraint_fpr_tolerance": 0.999, "constraint_fnr_tolerance": 0.999}
    free = probabilities(groups, objective="cross_entropy")
    # With tolerances of almost 1 the groups do not matter and the booster is the library's without constraints,
    np.testing.assert_allclose(probabilities(groups, **loose), free, atol=1e-9)
    np.testing.assert_allclose(probabilities(shuffled, **loose), free, atol=1e-9)
    # while at the default tolerances they do.
    assert np.abs(probabilities(groups) - free).max() > 0.01
    assert np.abs(probabilities(groups) - probabilities(shuffled)).max() > 0.01
