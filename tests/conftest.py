"""What several test files share and what is slow to set up."""

from __future__ import annotations

import os
import zlib
from collections import defaultdict
from collections.abc import Iterator
from typing import Any

import pytest

# Two processes share two cores: each has one thread, and threads of a test's own do not spin while they wait.
# OpenMP reads this as XGBoost is loaded.
os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OMP_WAIT_POLICY", "passive")

MANY_CASES, QUICK_SHARE = 4, 3
# With --dist loadgroup the tests of one of these clusters run in one process, and so do those of a file.
CLUSTERS = ("spark", "cluster_client")


def pytest_configure(config: pytest.Config) -> None:
    """Load what tests need, but not in the process that only hands them out."""
    if not hasattr(config, "workerinput") and config.getoption("dist", "no") != "no":
        return
    from hypothesis import HealthCheck, settings

    import pi_xgb

    # A few examples in every run, the same ones; HYPOTHESIS_PROFILE=long draws a thousand new ones.
    of_any: dict[str, Any] = {"deadline": None, "suppress_health_check": list(HealthCheck)}
    settings.register_profile("short", max_examples=8, derandomize=True, database=None, **of_any)
    settings.register_profile("long", max_examples=1000, print_blob=True, **of_any)
    settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "short"))
    # Names are loaded as they are asked for, and these look at XGBoost then: before a test puts something in its place.
    assert all((pi_xgb.train, pi_xgb.cv, pi_xgb.select))


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Mark as slow, unless files are named, the benchmarks, examples in docstrings and two in three of many cases."""
    if any(".py" in argument for argument in config.args):
        return
    cases: dict[str, list[pytest.Item]] = defaultdict(list)
    for item in items:
        cluster = next((name for name in CLUSTERS if name in getattr(item, "fixturenames", ())), item.path.stem)
        item.add_marker(pytest.mark.xdist_group(cluster))
        if item.path.parent.name == "benchmarks" or isinstance(item, pytest.DoctestItem):
            item.add_marker(pytest.mark.slow)
        elif not item.get_closest_marker("slow"):
            cases[item.nodeid.partition("[")[0]].append(item)
    for own in cases.values():
        if len(own) >= MANY_CASES:
            # The same ones in every run, and not every third: that could be one value of a parameter alone.
            for item in sorted(own, key=lambda item: zlib.crc32(item.nodeid.encode()))[len(own) // QUICK_SHARE :]:
                item.add_marker(pytest.mark.slow)


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
