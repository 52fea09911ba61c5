"""The two kinds of noise, which OpenDP draws in exact arithmetic.

OpenDP computes the epsilon of each mechanism, rounded up. It must be at most the epsilon here, or nothing is released.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .._arrays import Array
from .._rows.checks import needed_module

STEPS = 2**20
"""The number of steps that a row's value is rounded to before Laplace noise is added."""
_ROUNDING = 1 + 2.0**-40
"""Noise is larger by this factor, since OpenDP computes epsilon with rounding upwards."""


class OpenDPNoise:
    """Noise of OpenDP, from the cryptographic generator of the operating system."""

    def __init__(self) -> None:
        _opendp()  # raises its error before fit
        self.random = np.random.default_rng()

    def laplace(self, values: Array, sensitivity: int, epsilon: float) -> Array:
        """Return whole numbers with discrete Laplace noise, private if they change by ``sensitivity`` in total."""
        dp, scale = _opendp(), _ROUNDING * sensitivity / epsilon
        space = dp.vector_domain(dp.atom_domain(T="i64")), dp.l1_distance(T="i64")
        noise = dp.m.make_laplace(*space, scale=scale)
        _check(noise.map(sensitivity), epsilon)
        return np.array(noise(values.tolist()), np.int64)

    def flip(self, bits: Array, epsilon: float) -> Array:
        """Return bits, each flipped with probability 1 / (1 + exp(epsilon)): private if one of them changes."""
        dp, f = _opendp(), _ROUNDING * 2 / (1 + math.exp(epsilon))
        make, distance = dp.m.make_randomized_response_bitvec, dp.discrete_distance()
        # OpenDP's distance is between two vectors with one bit set each. They differ in two bits.
        _check(make(dp.bitvector_domain(1), distance, f=f).map(1) / 2, epsilon)
        flipped = make(dp.bitvector_domain(max(bits.size, 1)), distance, f=f)(np.packbits(bits).tobytes())
        return np.unpackbits(np.frombuffer(flipped, np.uint8), count=bits.size).astype(bool)


class SeededNoise:
    """The same noise in every run, of the same distribution: not private, since the seed reveals it."""

    def __init__(self, seed: Any) -> None:
        self.random = np.random.default_rng(seed)

    def laplace(self, values: Array, sensitivity: int, epsilon: float) -> Array:
        """Return whole numbers with discrete Laplace noise."""
        up, down = self.random.geometric(-math.expm1(-epsilon / sensitivity), (2, *values.shape))
        return values + up - down

    def flip(self, bits: Array, epsilon: float) -> Array:
        """Return bits, each flipped with probability 1 / (1 + exp(epsilon))."""
        return bits ^ (self.random.random(bits.shape) < 1 / (1 + math.exp(epsilon)))


Source = OpenDPNoise | SeededNoise


def in_steps(shares: Array) -> Array:
    """Return the shares from 0 to 1 as whole numbers of steps."""
    return np.clip(np.rint(shares * STEPS), 0, STEPS).astype(np.int64)


def noisy_shares(shares: Array, kind: str, epsilon: float, source: Source) -> tuple[Array, float]:
    """Return a noisy number for each share from 0 to 1, on average the share, and the largest variance of the noise.

    ``"laplace"``: discrete Laplace noise on the number of steps. ``"randomized_response"``: a bit that is 1 with the
    probability of the share, and is then flipped privately, as one of two numbers. The first draw needs no protection:
    whatever the bit is, the flip keeps epsilon. The variance is the smallest of all unbiased releases of one of two
    numbers, and smaller than that of Laplace noise for epsilon below about 2.3. ``"auto"``: the smaller variance.
    """
    spread = 1 / math.tanh(epsilon / 2)
    laplace, response = 1 / (2 * math.sinh(epsilon / STEPS / 2) ** 2) / STEPS**2, spread**2 / 4
    if kind == "laplace" or (kind == "auto" and laplace <= response):
        return source.laplace(in_steps(shares), STEPS, epsilon) / STEPS, laplace
    bits = source.flip(source.random.random(shares.shape) < shares, epsilon)
    return 0.5 + (bits - 0.5) * spread, response


def _opendp() -> Any:
    prelude = needed_module("opendp.prelude", "PrivateTeacher needs OpenDP", "private")
    prelude.enable_features("contrib")
    return prelude


def _check(certified: float, epsilon: float) -> None:
    if not certified <= epsilon:
        raise RuntimeError(f"OpenDP must certify epsilon {epsilon:.9g}, got {certified:.9g}: install another version")
