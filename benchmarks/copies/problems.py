"""Made data with known truth: a hidden score u decides, x sees it blurred, z nearly plainly."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import xgboost as xgb

Floats = npt.NDArray[np.float64]
SIZE_OF_QUERY = 10


class Rows(NamedTuple):
    """Rows of one problem. ``fields`` are what a DMatrix calls labels, bounds and queries."""

    x: Floats
    z: Floats
    fields: dict[str, Floats]
    truth: Floats
    """What a prediction is judged by."""

    def take(self, rows: npt.NDArray[Any]) -> Rows:
        """Some of them."""
        return Rows(self.x[rows], self.z[rows], {k: v[rows] for k, v in self.fields.items()}, self.truth[rows])

    def matrix(self, *views: Floats) -> xgb.DMatrix:
        """The views side by side, with the labels."""
        return xgb.DMatrix(np.hstack(views), **self.fields)


def hidden(n: int, seed: int, z_noise: float = 0.1) -> tuple[Floats, Floats, Floats, np.random.Generator]:
    """u, x and z, and what draws the labels."""
    rng = np.random.default_rng(seed)
    u = rng.normal(size=n)
    blurred = u[:, None] + 2.0 * rng.normal(size=(n, 8))
    x = np.where(np.arange(8) % 2 == 0, blurred, np.tanh(blurred))
    return u, x, u[:, None] + z_noise * rng.normal(size=(n, 3)), rng


def counts(n: int, seed: int) -> Rows:
    """Poisson counts of mean exp(0.8 u); judged by that mean."""
    u, x, z, rng = hidden(n, seed)
    mean = np.exp(0.8 * u)
    return Rows(x, z, {"label": rng.poisson(mean).astype(float)}, mean)


def times(n: int, seed: int) -> Rows:
    """Times whose logarithm is normal around 1 + 0.8 u, two fifths of them censored; judged by the median time."""
    u, x, z, rng = hidden(n, seed)
    median = np.exp(1 + 0.8 * u)
    time, end = median * np.exp(0.7 * rng.normal(size=n)), np.exp(1.3 + 1.2 * rng.normal(size=n))
    seen = np.minimum(time, end)
    return Rows(x, z, {"label_lower_bound": seen, "label_upper_bound": np.where(time <= end, seen, np.inf)}, median)


def relevances(n: int, seed: int, z_noise: float = 0.1, told_chance: float = 0.0) -> Rows:
    """Queries of ten rows with relevances 0 to 4 of u and chance; judged by the expected relevance.

    ``told_chance`` is the share of the chance in the labels that z knows.
    """
    u, x, z, rng = hidden(n, seed, z_noise)
    chance = rng.normal(size=n)
    cuts = [-0.5, 0.7, 1.7, 2.7]
    y = np.digitize(u + chance, cuts).astype(float)
    draws = np.random.default_rng(0).normal(size=400)
    expected = np.mean([np.digitize(u + item, cuts) for item in draws], axis=0)
    qid = np.arange(n) // SIZE_OF_QUERY
    return Rows(x, z + told_chance * chance[:, None], {"label": y, "qid": qid}, expected)


def deviance(prediction: Floats, rows: Rows) -> float:
    """Mean Poisson deviance of the means that labels were drawn with."""
    return float(np.mean(2 * (rows.truth * np.log(rows.truth / prediction) - rows.truth + prediction)))


def log_error(prediction: Floats, rows: Rows) -> float:
    """Mean absolute error of the logarithm of the time."""
    return float(np.mean(np.abs(np.log(prediction / rows.truth))))


def lost_ndcg(prediction: Floats, rows: Rows) -> float:
    """1 - NDCG@5, the gain of a row being its expected relevance."""
    return 1 - ndcg(prediction, rows.truth, rows.fields["qid"])


def ndcg(prediction: Floats, gain: Floats, qid: npt.NDArray[Any], at: int = 5) -> float:
    """The mean over queries that have a relevant row."""
    found = []
    for item in np.split(np.arange(len(qid)), np.flatnonzero(np.diff(qid)) + 1):
        discount = 1 / np.log2(2 + np.arange(min(at, len(item))))
        best = np.sort(gain[item])[::-1][: len(discount)] @ discount
        if best > 0:
            found.append(gain[item][np.argsort(-prediction[item], kind="stable")][: len(discount)] @ discount / best)
    return float(np.mean(found))


class Problem(NamedTuple):
    """An objective with its data and the loss that is compared; less is better."""

    name: str
    params: dict[str, Any]
    draw: Callable[[int, int], Rows]
    loss: Callable[[Floats, Rows], float]
    measure: str


SHARED = {"max_depth": 3, "eta": 0.1, "nthread": 1}
RANKING = {**SHARED, "objective": "rank:ndcg", "ndcg_exp_gain": False}
ALL = (
    Problem("count", {**SHARED, "objective": "count:poisson"}, counts, deviance, "deviance from the true mean"),
    Problem(
        "survival",
        {**SHARED, "objective": "survival:aft", "aft_loss_distribution_scale": 0.8},
        times,
        log_error,
        "absolute error of the log time",
    ),
    Problem("ranking", RANKING, relevances, lost_ndcg, "1 - NDCG@5"),
)
PROBLEMS = {problem.name: problem for problem in ALL}
