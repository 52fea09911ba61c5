"""Cross-fitting: folds of labelled rows, such that no model predicts a row that it was fitted on."""

from __future__ import annotations

import contextlib
import dataclasses
import functools
from collections.abc import Callable, Mapping
from typing import Any, Protocol, TypeVar

import numpy as np
import pandas as pd
import xgboost
from xgboost import collective

from .._arrays import Array
from .._rows.checks import check_whole
from .._rows.folds import deal_folds
from .._xgb.collective import global_max
from .._xgb.matrix import query_of_row
from .._xgb.threads import in_threads
from .losses import Loss

M = TypeVar("M")
_MOST_FOLDS = 5
"""The largest default of ``crossfit``."""
SHARED, LEFT_OUT, WHOLE = -1, -2, -3
AVERAGED = ("boosted",)
"""The members whose models of the folds predict rows of no fold together."""


def check_crossfit(crossfit: Any, n_labelled: int, groups: Array | None = None, rows: str = "rows") -> None:
    """Raise unless crossfit is 0 or a number of folds that labelled rows can fill, in whole groups if any.

    ``rows`` are "labelled rows" where others have no label.
    """
    check_whole("crossfit", crossfit)
    hint = ". Each worker deals its own rows: spread them over all workers" if collective.is_distributed() else ""
    if rows != "rows" and crossfit and n_labelled < 2:
        few = "one row" if n_labelled else "no row"
        raise ValueError(f"labelled has {few} with a label: add labelled rows, from which a teacher learns{hint}")
    if crossfit < 0 or crossfit == 1 or crossfit > n_labelled:
        raise ValueError(
            f"crossfit must be 0 (the teacher sees every row) or between 2 and the {n_labelled} {rows}, got {crossfit}"
            f"{hint}"
        )
    if groups is not None and (n_groups := len(pd.unique(groups))) < crossfit:
        raise ValueError(
            f"crossfit of {crossfit} needs as many groups (of crossfit_groups, or queries), got {n_groups}: use fewer "
            "folds or finer groups"
        )


def default_crossfit(label: Array, groups: Array | None, *, classes: bool) -> int:
    """Return as many folds as every class and every worker can fill with rows of these labels, from 2 to 5."""
    rarest = rarest_class(label) if classes else len(label)
    if groups is not None:
        rarest = min(rarest, len(pd.unique(groups)))
    return int(-global_max(np.array([-max(2, min(_MOST_FOLDS, rarest))]))[0])


def rarest_class(label: Array) -> int:
    """Return the number of rows of the rarest class (of the first target); that of all rows for other labels."""
    of_class = label if label.ndim == 1 else label[:, 0]
    counts = np.unique(of_class, return_counts=True)[1]
    return len(label) if (of_class % 1).any() else int(counts.min(initial=len(label)))


def whole_queries(
    loss: Loss, matrix: xgboost.DMatrix, groups: Array | None, name: str = "crossfit_groups"
) -> Array | None:
    """Return the groups that stay together in folds: at least queries, where rows are ranked within them."""
    query = query_of_row(matrix) if loss.by_query else None
    if query is None or groups is None:
        return groups if query is None else query
    torn = (groups[1:] != groups[:-1]) & (query[1:] == query[:-1])
    if torn.any():
        raise ValueError(f"{name} must be equal within a query, got {len(np.unique(query[1:][torn]))} that differ")
    return groups


class FoldModels(Protocol):
    """Folds that were dealt beforehand, whose models several teachers share."""

    fold_of: Array
    number: int

    def model(self, member: str, fold: int, fit: Callable[[], M]) -> contextlib.AbstractContextManager[M]:
        """The model of a member without a fold, locked against other threads; the first one to ask fits it."""
        ...


@dataclasses.dataclass(frozen=True)
class Folds:
    """Folds of rows: the model of fold k is fitted on the other folds and predicts the rows of fold k."""

    fold_of: Array
    """The fold of each row; ``SHARED`` where no model is fitted on the row, ``LEFT_OUT`` where it is not predicted."""
    learnable: Array
    """Which rows models are fitted on."""

    shared: FoldModels | None = None
    """Where the candidates of a search share the models."""

    @property
    def numbers(self) -> list[int]:
        """The folds, in order."""
        return list(np.unique(self.fold_of[self.fold_of >= 0]).tolist())


def out_of_fold(
    fits: Mapping[str, Callable[[Array], M]],
    predict: Callable[[M, Array], Array],
    folds: Folds,
    threads: int,
    *,
    needs_whole: bool,
) -> dict[str, tuple[Array, list[M], list[M]]]:
    """Of each member, the prediction of each row by models not fitted on it, these models, those for rows of no fold.

    ``fits[member](rows)`` and ``predict(model, rows)`` take row numbers. A row of no fold gets the prediction of a
    model of all learnable rows. Of a booster, which repeats the labels more closely than the others, it gets the mean
    of the models of the folds. ``needs_whole``: whether other rows than these are of no fold.
    """
    shared = np.flatnonzero(folds.fold_of == SHARED)
    of_members = [(member, fold) for member in reversed(list(fits)) for fold in folds.numbers]
    if shared.size or needs_whole:
        of_members += [(member, WHOLE) for member in fits if member not in AVERAGED]

    def of_fold(member_and_fold: tuple[str, int]) -> tuple[M, list[tuple[Array, Array]]]:
        member, fold = member_and_fold
        fitted_on = folds.learnable & (folds.fold_of != fold)
        held_out = [(shared if fold == WHOLE else np.flatnonzero(folds.fold_of == fold), 1)]
        if member in AVERAGED:
            held_out.append((shared, len(folds.numbers)))
        fit = functools.partial(fits[member], np.flatnonzero(fitted_on))
        with folds.shared.model(member, fold, fit) if folds.shared else contextlib.nullcontext(fit()) as model:
            return model, [(rows, predict(model, rows) / share) for rows, share in held_out if rows.size]

    # All members share the threads, which else would wait for the last fold of each.
    found = dict(zip(of_members, in_threads(of_fold, of_members, threads), strict=True))
    results = {}
    for member in fits:
        own = {fold: found[name, fold] for name, fold in found if name == member}
        pieces = [piece for _, parts in own.values() for piece in parts]
        first = pieces[0][1]
        predicted = np.zeros((len(folds.fold_of), *first.shape[1:]), first.dtype)
        for rows, part in pieces:
            predicted[rows] += part
        models = {fold: model for fold, (model, _) in own.items()}
        whole = [models.pop(WHOLE)] if WHOLE in models else []
        results[member] = predicted, list(models.values()), whole or list(models.values())
    return results


def deal_labelled(
    label: Array, labelled: Array, groups: Array | None, n_folds: int, seed: int, *, classes: bool
) -> Array:
    """Return the fold of each row, -1 for rows that all models may predict: those in no group with a label.

    Several targets are stratified by the first.
    """
    label = label[:, 0] if label.ndim == 2 else label
    own, fold_of = None if groups is None else groups[labelled], np.full(len(label), -1)
    fold_of[labelled] = deal_folds(label[labelled], n_folds, seed, own, classes=classes)
    return fold_of if groups is None else folds_of_groups(fold_of, groups)


def folds_of_groups(fold_of: Array, groups: Array) -> Array:
    """Return the folds with the rows without a label in that of their group, if it has labelled rows."""
    return np.array(pd.Series(fold_of).groupby(pd.factorize(groups)[0]).transform("max"))
