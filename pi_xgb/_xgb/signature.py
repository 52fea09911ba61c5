"""Calls in the style of XGBoost: keywords by position, and errors for keywords that belong in params."""

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
"""The keywords of ``train`` that ``xgboost.train`` lacks; filled by :func:`called_like`."""


def keyword_names(function: Callable[..., Any]) -> list[str]:
    """Return the names of the keyword-only arguments."""
    return [name for name, p in inspect.signature(function).parameters.items() if p.kind is p.KEYWORD_ONLY]


def called_like(original: Callable[..., Any]) -> Callable[[F], F]:
    """Let a function accept XGBoost's keywords by position, with XGBoost's warning.

    XGBoost's ``train``, ``cv`` and estimators accept keyword-only arguments by position, for older scripts. Ours
    have more keywords in between, so positions follow XGBoost's signature. The error for an unknown keyword names
    the right place for it.
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
    """Warn of a keyword that XGBoost accepts as a parameter of the booster, but that resembles one of ours."""
    named = inspect.signature(xgboost.XGBModel.__init__).parameters
    for name in keywords:
        if name not in named and (close := _close_match(name, own)):
            warn_user(f"{what} has no parameter {name!r} and passes it to XGBoost: did you mean {close!r}?")


def _close_match(name: str, known: Collection[str]) -> str | None:
    close = difflib.get_close_matches(name, known, cutoff=0.75)
    return close[0] if close else None


def _unknown_keyword(function: str, name: str, known: Any) -> str:
    if name == "alpha":
        return (
            f"{function}() has no keyword 'alpha': pass the paper's alpha as kl_weight, and XGBoost's alpha, the "
            "L1 regularisation of leaf weights, in params (as alpha or reg_alpha)"
        )
    if name in _RENAMED:
        return f"{function}() has no keyword {name!r}: XGBoost renamed it to {_RENAMED[name]!r}"
    if close := _close_match(name, known):
        return f"{function}() has no keyword {name!r}: did you mean {close!r}?"
    if name.startswith("constraint") and "teacher" in known:
        return (
            f"{function}() has no keyword {name!r}: pass a constraint as teacher=, and its weight as kl_weight=, or "
            "teacher=[(constraint, weight), ...] for several"
        )
    if name in TRAINING_KEYWORDS:
        return f"{function}() has no keyword {name!r}: its models have no such teacher; pass it to pi_xgb.train"
    if "self" in known:
        return (
            f"{function}() has no keyword {name!r}: pass parameters of the model, such as max_depth or "
            f"early_stopping_rounds, to its constructor, or to set_params({name}=...)"
        )
    return (
        f"{function}() has no keyword {name!r}: pass parameters of the booster, such as max_depth or eta, in params, "
        f"the first argument: {function}({{{name!r}: ..., ...}}, dtrain, ...)"
    )
