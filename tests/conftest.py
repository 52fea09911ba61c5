"""What several test files share and what is slow to set up."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

import pytest

# Two processes of two threads share two cores: threads that spin while they wait would take the time of the others.
# OpenMP reads this as XGBoost is loaded.
os.environ.setdefault("OMP_WAIT_POLICY", "passive")

from hypothesis import HealthCheck, settings

import pi_xgb

# A few examples in every run, the same ones; HYPOTHESIS_PROFILE=long draws a thousand new ones.
_ANY = {"deadline": None, "suppress_health_check": list(HealthCheck)}
settings.register_profile("short", max_examples=8, derandomize=True, database=None, **_ANY)
settings.register_profile("long", max_examples=1000, print_blob=True, **_ANY)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "short"))

# Names are loaded when they are asked for, and these look at XGBoost then: before a test puts something in its place.
assert all((pi_xgb.train, pi_xgb.cv, pi_xgb.select))


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers(config: pytest.Config) -> int | None:
    """Files that are named run in one process, where a single test starts sooner; the whole suite on every core."""
    return 0 if config.args_source is pytest.Config.ArgsSource.ARGS else None


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
