"""Arrays of NumPy or CuPy."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

Array = Any  # numpy.ndarray or cupy.ndarray


def array_module(array: Array) -> Any:
    """Return NumPy or CuPy, the module of the array; CuPy is never imported here."""
    cupy = sys.modules.get("cupy")
    return np if cupy is None else cupy.get_array_module(array)


def module_for(device: str) -> Any:
    """Return CuPy for a training on CUDA if installed; else NumPy, whose arrays XGBoost copies to the device."""
    if device.startswith(("cuda", "gpu")):
        try:
            import cupy
        except ImportError:
            return np
        # CuPy may be installed without a device: XGBoost then warns and trains on the CPU.
        return cupy if cupy.cuda.is_available() else np
    return np


def moved_to(xp: Any, values: Any) -> Any:
    """Return an array as one of ``xp``, NumPy or CuPy; numbers and None as they are."""
    return values if np.ndim(values) == 0 else xp.asarray(values)


def read_only(array: Array) -> Array:
    """Return a read-only view of a NumPy array."""
    view = array.view()
    if hasattr(view, "setflags"):  # CuPy has no read-only arrays
        view.setflags(write=False)
    return view


def to_host(array: Array) -> np.ndarray[Any, Any]:
    """Return the array in host memory."""
    return array if array_module(array) is np else array.get()  # type: ignore[no-any-return]
