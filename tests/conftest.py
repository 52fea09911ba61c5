"""What several test files share and what is slow to set up."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import pytest

import pi_xgb

# Names are loaded when they are asked for, and these look at XGBoost then: before a test puts something in its place.
assert all((pi_xgb.train, pi_xgb.cv, pi_xgb.select))


@pytest.fixture(scope="session")
def cluster_client() -> Iterator[Any]:
    """A Dask cluster of two workers, started once; nothing that a test does to it may stay."""
    distributed = pytest.importorskip("distributed", reason="pi_xgb.dask needs Dask's scheduler")
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0", silence_logs=50
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


@pytest.fixture
def client(cluster_client: Any) -> Any:
    """The client of the cluster once both workers are there: one that XGBoost ended comes back a moment later."""
    deadline = time.monotonic() + 60
    while len(cluster_client.scheduler_info(n_workers=-1)["workers"]) < 2:
        assert time.monotonic() < deadline, "a worker of the cluster did not come back"
        time.sleep(0.1)
    return cluster_client
