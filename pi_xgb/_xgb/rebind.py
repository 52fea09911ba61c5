"""XGBoost's own functions, in which a name that they call means something else."""

from __future__ import annotations

import inspect
import types
import weakref
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import xgboost


def rebind(function: Callable[..., Any], **meaning: Any) -> Callable[..., Any]:
    """A copy of one of XGBoost's functions that calls these in place of its global names.

    What XGBoost does around such a call (matrices, categories, metrics, classes, partitions) is its own affair and
    changes from version to version; that it calls this name has not changed in any of those supported. So the function
    is taken as it is and only the names mean something else: nothing is patched, and other estimators and threads see
    nothing.
    """
    original: Any = inspect.unwrap(function)
    missing = sorted(meaning.keys() - _names(original.__code__))
    if missing:
        raise RuntimeError(
            f"{original.__qualname__} of XGBoost {xgboost.__version__} does not call {', '.join(missing)}, through "
            "which pi_xgb teaches: use a version that pi_xgb was tested with (3.1 to 3.4), or pi_xgb.train"
        )
    copied = types.FunctionType(
        original.__code__,
        {**original.__globals__, **meaning},
        original.__name__,
        original.__defaults__,
        original.__closure__,
    )
    copied.__kwdefaults__ = original.__kwdefaults__
    return copied


def train_in_place_of(dtrain: xgboost.DMatrix) -> Callable[..., Any]:
    """``xgboost.train`` for a matrix that stands for ``dtrain`` and has its cuts.

    XGBoost asks whether quantised evaluation matrices have the cuts of the very matrix that is trained on. Here they
    are right if they have those of ``dtrain``.
    """
    its_train = rebind(xgboost.train, _RefMixIn=())

    def train(params: Any, stand_in: xgboost.DMatrix, *arguments: Any, evals: Any = (), **keywords: Any) -> Any:
        for matrix, name in evals:
            quantised = isinstance(matrix, (xgboost.QuantileDMatrix, xgboost.ExtMemQuantileDMatrix))
            if quantised and matrix is not dtrain and matrix.ref is not weakref.ref(dtrain):
                raise ValueError(
                    f"the evaluation matrix {name!r} has cuts of its own: build it as QuantileDMatrix(..., ref=dtrain)"
                )
        return its_train(params, stand_in, *arguments, evals=evals, **keywords)

    return train


class FoldParts(NamedTuple):
    """A fold: what is trained on, what is shown to metrics as the training rows, the rows held out, the params."""

    trained: xgboost.DMatrix
    shown: xgboost.DMatrix
    test: xgboost.DMatrix
    params: dict[str, Any]


def cv_on(folds: Callable[[dict[str, Any]], Sequence[FoldParts]]) -> Callable[..., Any]:
    """``xgboost.cv`` on these folds, made once it has read its params."""

    def mknfold(*, param: dict[str, Any], evals: Sequence[Any] = (), **_: Any) -> list[Any]:
        packs = []
        for fold in folds(param):
            params = [*fold.params.items(), *(("eval_metric", metric) for metric in evals)]
            pack = xgboost.training.CVPack(fold.trained, fold.test, params)
            pack.watchlist = [(fold.shown, "train"), (fold.test, "test")]
            packs.append(pack)
        return packs

    return rebind(xgboost.cv, mknfold=mknfold)


def _names(code: types.CodeType) -> set[str]:
    """The global names that a function uses, and those that it defines."""
    inner = [_names(constant) for constant in code.co_consts if isinstance(constant, types.CodeType)]
    return set(code.co_names).union(*inner)
