"""Smoothed predictions against the posterior mean of a linear model, written out."""

from __future__ import annotations

import numpy as np
import pytest

from pi_xgb._privacy.smoothing import public_numbers, smoothed


class Silent:
    """A source whose noise is 0, and which remembers how much the sums may move and the epsilon."""

    def laplace(self, sums, moved, epsilon):
        self.asked = moved, epsilon
        return sums


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 10.0])
def test_the_released_shares_are_the_posterior_mean(epsilon):
    rng = np.random.default_rng(0)
    x, share = rng.normal(size=(60, 3)), rng.random(60)
    public, source = public_numbers(x, 60), Silent()
    found, variance = smoothed(share, public, epsilon, source)

    ranks = 2 * (x.argsort(axis=0).argsort(axis=0) + 1) / 60 - 1
    basis = np.rint(128 * np.column_stack([np.ones(60), ranks])) / 128
    most = np.abs(basis).sum(axis=1).max()  # how far the sums move where one share does, by 1
    assert source.asked == (2**20 * 128 * most, epsilon)
    noise = 2 * (most / epsilon) ** 2
    # Shares are spread like uniform numbers (1 / 12): so are the values of the line, on average, and their errors.
    prior = np.eye(4) * 60 / 12 / (basis**2).sum()
    gram = basis.T @ basis
    weights = basis @ prior @ gram @ np.linalg.inv(gram @ prior @ gram + gram / 12 + noise * np.eye(4))
    np.testing.assert_allclose(found, np.clip(0.5 + weights @ basis.T @ (share - 0.5), 0, 1), atol=1e-5)
    np.testing.assert_allclose(variance, noise * (weights**2).sum(axis=1), rtol=1e-6)
