"""Copies of XGBoost's functions that call replacements for some global names."""

from __future__ import annotations

import inspect
import types
import weakref
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import xgboost


def rebind(function: Callable[..., Any], **replacements: Any) -> Callable[..., Any]:
    """Return a copy of an XGBoost function that calls these replacements for its global names.

    What XGBoost does around such a call (matrices, categories, metrics, classes, partitions) changes from version to
    version. That it calls this name has not changed in any supported version. So the copy runs XGBoost's own code
    with other global names: nothing is patched, and other estimators and threads are not affected.
    """
    original: Any = inspect.unwrap(function)
    if missing := sorted(replacements.keys() - _names(original.__code__)):
        raise RuntimeError(
            f"{original.__qualname__} of XGBoost {xgboost.__version__} does not call {', '.join(missing)}, which "
            "pi_xgb replaces: use a version that pi_xgb was tested with (3.1 to 3.4), or pi_xgb.train"
        )
    code, names = original.__code__, {**original.__globals__, **replacements}
    copied = types.FunctionType(code, names, original.__name__, original.__defaults__, original.__closure__)
    copied.__kwdefaults__ = original.__kwdefaults__
    return copied


def train_in_place_of(dtrain: xgboost.DMatrix) -> Callable[..., Any]:
    """Return ``xgboost.train`` for a matrix that replaces ``dtrain`` and has its cuts.

    XGBoost requires quantised evaluation matrices to have the cuts of the matrix that is trained on. Here they must
    have those of ``dtrain``.
    """
    unchecked_train = rebind(xgboost.train, _RefMixIn=())

    def train(params: Any, stand_in: xgboost.DMatrix, *arguments: Any, evals: Any = (), **keywords: Any) -> Any:
        for matrix, name in evals:
            quantised = isinstance(matrix, (xgboost.QuantileDMatrix, xgboost.ExtMemQuantileDMatrix))
            if quantised and matrix is not dtrain and matrix.ref is not weakref.ref(dtrain):
                raise ValueError(f"the evaluation matrix {name!r} must share the cuts of dtrain: pass ref=dtrain")
        return unchecked_train(params, stand_in, *arguments, evals=evals, **keywords)

    return train


FoldParts = tuple[xgboost.DMatrix, xgboost.DMatrix, xgboost.DMatrix, dict[str, Any]]
"""A fold: the rows to train on, the training rows for metrics, the held-out rows, the params."""


def cv_on(folds: Callable[[dict[str, Any]], Iterable[FoldParts]]) -> Callable[..., Any]:
    """Return ``xgboost.cv`` on the folds that ``folds`` makes from the params."""

    def mknfold(*, param: dict[str, Any], evals: Sequence[Any] = (), **_: Any) -> list[Any]:
        packs = []
        for trained, shown, test, own in folds(param):
            params = [*own.items(), *(("eval_metric", metric) for metric in evals)]
            pack = xgboost.training.CVPack(trained, test, params)
            pack.watchlist = [(shown, "train"), (test, "test")]
            packs.append(pack)
        return packs

    return rebind(xgboost.cv, mknfold=mknfold)


def _names(code: types.CodeType) -> set[str]:
    """Return the global names that a function and its inner functions use."""
    inner = [_names(constant) for constant in code.co_consts if isinstance(constant, types.CodeType)]
    return set(code.co_names).union(*inner)
