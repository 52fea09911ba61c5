"""Collections in uneven partitions and both workers, for the tests on a Dask cluster."""

from __future__ import annotations

import time

import pytest

da = pytest.importorskip("dask.array", reason="pi_xgb.dask needs Dask")

CHUNKS = (90, 260, 30, 220)


def spread(array, chunks=CHUNKS):
    return da.from_array(array, chunks=(chunks, *array.shape[1:]))


def both_workers(client):
    """Where they are, once both are there: one that XGBoost ended comes back a moment later."""
    deadline = time.monotonic() + 60
    while len(found := sorted(client.scheduler_info(n_workers=-1)["workers"])) < 2:
        assert time.monotonic() < deadline, "a worker of the cluster did not come back"
        time.sleep(0.1)
    return found
