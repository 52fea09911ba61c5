"""Two matrices of the same rows, side by side, as a teacher on all features needs them."""

from __future__ import annotations

import xgboost


def side_by_side(dtrain: xgboost.DMatrix, privileged: xgboost.DMatrix) -> xgboost.DMatrix:
    """The features of both, with the labels and weights of ``dtrain``."""
    from scipy import sparse  # XGBoost needs SciPy itself

    # What is missing is not stored, so that zeros and gaps stay apart.
    data = sparse.hstack([dtrain.get_data(), privileged.get_data()], format="csr")
    weight = dtrain.get_weight()
    return xgboost.DMatrix(
        data,
        dtrain.get_label(),
        weight=weight if weight.size else None,
        feature_names=_names(dtrain, "x") + _names(privileged, "z"),
        feature_types=_types(dtrain) + _types(privileged),
        enable_categorical=True,
    )


def _names(matrix: xgboost.DMatrix, prefix: str) -> list[str]:
    # Names of their own: columns may be called alike where neither has names.
    names = matrix.feature_names or [str(i) for i in range(matrix.num_col())]
    return [f"{prefix}:{name}" for name in names]


def _types(matrix: xgboost.DMatrix) -> list[str]:
    return list(matrix.feature_types or ["float"] * matrix.num_col())
