"""NumPy or CuPy: whichever an array belongs to."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

Array = Any  # numpy.ndarray or cupy.ndarray


def array_module(array: Array) -> Any:
    """NumPy or CuPy, whichever the array belongs to; CuPy is never imported here."""
    cupy = sys.modules.get("cupy")
    return np if cupy is None else cupy.get_array_module(array)


def module_for(device: str) -> Any:
    """CuPy for a training on CUDA, where it is installed; else NumPy, from which XGBoost copies to the device."""
    if device.startswith(("cuda", "gpu")):
        try:
            import cupy
        except ImportError:
            return np
        # CuPy may be installed where there is no device: XGBoost then warns and trains on the CPU.
        return cupy if cupy.cuda.is_available() else np
    return np


def read_only(array: Array) -> Array:
    """The same values for somebody who must not write to them."""
    view = array.view()
    if hasattr(view, "setflags"):  # of NumPy; CuPy knows no such arrays
        view.setflags(write=False)
    return view


def to_host(array: Array) -> np.ndarray[Any, Any]:
    """The array in host memory."""
    return array if array_module(array) is np else array.get()  # type: ignore[no-any-return]
