"""A booster whose rounds cost little more than XGBoost's own work.

On a few hundred rows `Booster.predict` and `Booster.boost` spend more time in Python, on names, types and settings
as JSON, than in the library: about 0.15 ms for a prediction that takes 0.002 ms. The search makes the same two calls a
million times on matrices that it knows, so it makes them directly. XGBoost's C interface is public and stable,
the place where its Python package keeps the library is not: where it is not found, the slower calls do the same.
"""

from __future__ import annotations

import ctypes
import json
from typing import Any

import numpy as np
import numpy.typing as npt
import xgboost as xgb

Floats = npt.NDArray[np.float32]

PROBABILITIES, MARGINS = 0, 1


def library() -> Any:
    """The loaded library of XGBoost, or None where its Python package has put it elsewhere."""
    found = getattr(xgb.core, "_LIB", None)
    needed = ("XGBoosterTrainOneIter", "XGBoosterPredictFromDMatrix", "XGBGetLastError")
    return found if found is not None and all(hasattr(found, name) for name in needed) else None


class LeanBooster:
    """A Booster of one training matrix that is boosted by gradients.

    Predictions of the training matrix and of ``others`` are kept up to date tree by tree, inside XGBoost.
    """

    def __init__(
        self, params: dict[str, Any], train: xgb.DMatrix, *others: xgb.DMatrix, direct: bool | None = None
    ) -> None:
        self.booster = xgb.Booster(params, [train, *others])
        self.rounds = 0
        self._train = train
        self._library: Any = library() if direct is not False else None
        if direct and self._library is None:
            raise RuntimeError(f"XGBoost {xgb.__version__} does not show its library: leave direct out")
        # One place in memory for all rounds, so that its description is written once.
        self._grad, self._hess = (np.empty(train.num_row(), np.float32) for _ in range(2))
        self._described = [described(array) for array in (self._grad, self._hess)]

    def grow(self, grad: Floats, hess: Floats) -> None:
        """One more tree."""
        if self._library is None:
            self.booster.boost(self._train, self.rounds, grad=grad, hess=hess)
        else:
            self._grad[:], self._hess[:] = grad, hess
            self._call(
                "XGBoosterTrainOneIter",
                self.booster.handle,
                self._train.handle,
                ctypes.c_int(self.rounds),
                *self._described,
            )
        self.rounds += 1

    def margins(self) -> Floats:
        """Margins of the training rows."""
        return self._predict(self._train, MARGINS, training=True, rounds=0)

    def probabilities(self, matrix: xgb.DMatrix, rounds: int = 0) -> Floats:
        """Predictions by the first ``rounds`` rounds (0: by all)."""
        return self._predict(matrix, PROBABILITIES, training=False, rounds=rounds)

    def _predict(self, matrix: xgb.DMatrix, kind: int, *, training: bool, rounds: int) -> Floats:
        if self._library is None:
            predicted: Floats = self.booster.predict(
                matrix, output_margin=kind == MARGINS, training=training, iteration_range=(0, rounds)
            )
            return predicted
        settings = (
            f'{{"type":{kind},"training":{"true" if training else "false"},"iteration_begin":0,'
            f'"iteration_end":{rounds},"strict_shape":false}}'
        )
        shape, values = ctypes.POINTER(ctypes.c_uint64)(), ctypes.POINTER(ctypes.c_float)()
        dimensions = ctypes.c_uint64()
        self._call(
            "XGBoosterPredictFromDMatrix",
            self.booster.handle,
            matrix.handle,
            settings.encode(),
            ctypes.byref(shape),
            ctypes.byref(dimensions),
            ctypes.byref(values),
        )
        memory = (ctypes.c_float * shape[0]).from_address(ctypes.addressof(values.contents))
        # A copy: XGBoost writes its next prediction to the same place.
        return np.frombuffer(memory, np.float32).copy()

    def _call(self, function: str, *arguments: Any) -> None:
        if getattr(self._library, function)(*arguments) != 0:
            raise xgb.core.XGBoostError(ctypes.string_at(self._library.XGBGetLastError()).decode())


def described(array: Floats) -> bytes:
    """NumPy's array interface as XGBoost's C functions read it."""
    interface = {"data": [array.ctypes.data, True], "shape": list(array.shape), "typestr": array.dtype.str}
    return json.dumps({**interface, "version": 3}).encode()
