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

F = TypeVar("F", bound=Callable[..., Any])

TRAINING_KEYWORDS: set[str] = set()
"""The keywords of ``train`` that ``xgboost.train`` lacks; filled by :func:`called_like`."""

_ELSEWHERE = {
    "alpha": "pass the paper's alpha as kl_weight, and XGBoost's alpha (L1 regularisation) in params, as reg_alpha",
    "feval": "XGBoost renamed it to 'custom_metric'",
    "privileged_features": "pass the privileged columns as privileged=, a DMatrix beside dtrain, or a table in fit",
    "groups": "pass crossfit_groups= for the teacher's folds, and whole groups as folds= of cv",
    "constraint": "pass a constraint as teacher=, and its weight as kl_weight=",
    "resume": "pi_xgb.select takes it, for a list of kl_weight as well",
    "constraints": "pass constraints as teacher=[(constraint, weight), ...]",
}


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
            TRAINING_KEYWORDS.update(set(keyword_names(function)) - set(order))
        takes_any = any(p.kind is p.VAR_KEYWORD for p in parameters.values())
        n_positional = sum(p.kind is p.POSITIONAL_OR_KEYWORD for p in parameters.values())

        @functools.wraps(function)
        def wrapper(*args: Any, **kwargs: Any) -> Any:
            for name in kwargs:
                if name not in parameters and not takes_any:
                    place = _right_place(name, function.__name__, parameters)
                    raise TypeError(f"{function.__name__}() has no keyword {name!r}: {place}")
            by_position = dict(zip(order, args[n_positional:], strict=False))
            if by_position and len(args) <= n_positional + len(order):  # with more, the call raises
                if twice := by_position.keys() & kwargs.keys():
                    raise TypeError(f"{function.__name__}() got {', '.join(twice)} by position and by keyword")
                warnings.warn(f"Pass `{', '.join(by_position)}` as keyword args.", FutureWarning, stacklevel=2)
                args, kwargs = args[:n_positional], {**kwargs, **by_position}
            return function(*args, **kwargs)

        return cast(F, wrapper)

    return decorate


def warn_of_misspelt(what: str, keywords: Iterable[str], own: Collection[str]) -> None:
    """Warn of a keyword that XGBoost accepts as a parameter of the booster, but that resembles one of ours."""
    named = inspect.signature(xgboost.XGBModel.__init__).parameters
    for name in keywords:
        if name not in named and (close := _close_match(name, own)):
            warn_user(f"{what} has no parameter {name!r} and passes it to XGBoost: did you mean {close!r}?")


def _close_match(name: str, known: Collection[str]) -> str | None:
    return next(iter(difflib.get_close_matches(name, known, cutoff=0.75)), None)


def _right_place(name: str, function: str, known: Collection[str]) -> str:
    """Return where an unknown keyword belongs."""
    if name in _ELSEWHERE:
        return _ELSEWHERE[name]
    if close := _close_match(name, known):
        return f"did you mean {close!r}?"
    if name in TRAINING_KEYWORDS:
        return "its models have no such teacher; pass it to pi_xgb.train"
    if "self" in known:
        return f"pass parameters of the model to its constructor, or to set_params({name}=...)"
    return f"pass parameters of the booster in params, the first argument: {function}({{{name!r}: ...}}, dtrain, ...)"
