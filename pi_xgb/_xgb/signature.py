"""The calling habits of XGBoost's users: old positional arguments, and keywords that belong in params."""

from __future__ import annotations

import difflib
import functools
import inspect
import warnings
from collections.abc import Callable, Collection, Iterable
from typing import Any, TypeVar, cast

import xgboost

from .._warnings import warn_user

_RENAMED = {"feval": "custom_metric", "fobj": "obj", "learning_rates": "callbacks"}

F = TypeVar("F", bound=Callable[..., Any])

TRAINING_KEYWORDS: set[str] = set()
"""The keywords of our ``train`` that XGBoost's has not; filled where it is defined."""


def keyword_names(function: Callable[..., Any]) -> list[str]:
    """The arguments of a function that are keywords only."""
    return [name for name, p in inspect.signature(function).parameters.items() if p.kind is p.KEYWORD_ONLY]


def called_like(original: Callable[..., Any]) -> Callable[[F], F]:
    """Let a function be called like XGBoost's: its keywords by position, with its own warning.

    XGBoost's ``train``, ``cv`` and estimators take keyword-only arguments by position too, in the order of their own
    signature, for the sake of older scripts. Ours have more keywords in between, so the order is looked up
    there. An unknown keyword gets an error that says where it belongs.
    """
    order = keyword_names(original)

    def decorate(function: F) -> F:
        parameters = inspect.signature(function).parameters
        if original is xgboost.train:
            TRAINING_KEYWORDS.update(keyword_names(function))
            TRAINING_KEYWORDS.difference_update(order)
        takes_any = any(p.kind is p.VAR_KEYWORD for p in parameters.values())
        n_positional = sum(p.kind is p.POSITIONAL_OR_KEYWORD for p in parameters.values())

        @functools.wraps(function)
        def wrapper(*args: Any, **kwargs: Any) -> Any:
            for name in kwargs:
                if name not in parameters and not takes_any:
                    raise TypeError(_unknown_keyword(function.__name__, name, parameters))
            extra = args[n_positional:]
            if extra:
                names = order[: len(extra)]
                if len(extra) > len(order):
                    raise TypeError(
                        f"{function.__name__}() takes at most {n_positional + len(order)} positional arguments, "
                        f"got {len(args)}"
                    )
                twice = [name for name in names if name in kwargs]
                if twice:
                    raise TypeError(f"{function.__name__}() got {', '.join(twice)} by position and by keyword")
                warnings.warn(f"Pass `{', '.join(names)}` as keyword args.", FutureWarning, stacklevel=2)
                kwargs.update(zip(names, extra, strict=True))
            return function(*args[:n_positional], **kwargs)

        return cast(F, wrapper)

    return decorate


def warn_of_misspelt(what: str, keywords: Iterable[str], own: Collection[str]) -> None:
    """Where XGBoost takes any keyword for a parameter: warn of one that is nearly ours and not among its own."""
    named = inspect.signature(xgboost.XGBModel.__init__).parameters
    for name in keywords:
        if name not in named and (close := _meant(name, own)):
            warn_user(f"{what} has no parameter {name!r}, which goes to XGBoost: did you mean {close!r}?")


def _meant(name: str, known: Collection[str]) -> str | None:
    close = difflib.get_close_matches(name, known, cutoff=0.75)
    return close[0] if close else None


def _unknown_keyword(function: str, name: str, known: Any) -> str:
    if name == "alpha":
        return (
            f"{function}() has no keyword 'alpha': the alpha of the paper is kl_weight here; XGBoost's alpha, the "
            "L1 regularisation of leaf weights, belongs in params (as alpha or reg_alpha)"
        )
    if name in _RENAMED:
        return f"{function}() has no keyword {name!r}: XGBoost calls it {_RENAMED[name]!r} now"
    if close := _meant(name, known):
        return f"{function}() has no keyword {name!r}: did you mean {close!r}?"
    if name in TRAINING_KEYWORDS:
        return f"{function}() has no keyword {name!r}: what it trains has no such teacher; pi_xgb.train takes it"
    if "self" in known:
        return (
            f"{function}() has no keyword {name!r}: parameters of the model, such as max_depth or "
            f"early_stopping_rounds, are given where it is made, or by set_params({name}=...)"
        )
    return (
        f"{function}() has no keyword {name!r}: parameters of the booster, such as max_depth or eta, go into params, "
        f"the first argument: {function}({{{name!r}: ..., ...}}, dtrain, ...)"
    )
