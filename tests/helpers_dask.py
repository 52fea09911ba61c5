"""Collections in uneven partitions, for the tests on a Dask cluster."""

from __future__ import annotations

import pytest

da = pytest.importorskip("dask.array", reason="pi_xgb.dask needs Dask")

CHUNKS = (90, 260, 30, 220)


def spread(array, chunks=CHUNKS):
    return da.from_array(array, chunks=(chunks, *array.shape[1:]))
