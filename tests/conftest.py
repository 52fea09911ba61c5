"""What several test files share and what is slow to set up."""

from __future__ import annotations

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
    """The client of the cluster once both workers are there."""
    from helpers_dask import both_workers

    both_workers(cluster_client)
    return cluster_client
