"""A teacher whose models do not see the rows that they predict: its folds, and the fits in threads."""

from __future__ import annotations

from functools import partial

import numpy as np
from xgboost import collective

from ..._arrays import Array
from ..._progress import progress_bar
from ..._rows.groups import on_several_workers
from ..._xgb.threads import FEW_ROWS, threads_of
from ..crossfit import LEFT_OUT, FoldModels, Folds, deal_labelled, default_crossfit, out_of_fold
from .features import Model
from .learned_teacher import Fitted
from .recipe import Recipe


def cross_fitted(
    recipe: Recipe, progress: bool | None = False, shared: FoldModels | None = None, *, needs_whole: bool = False
) -> Fitted:
    """Return the members, each of models that predict the rows they were not fitted on.

    ``shared`` folds take the place of those of ``crossfit``, if these are as many. ``needs_whole``: there are rows
    elsewhere that are in no fold.
    """
    folds = _dealt(recipe, shared)
    threads = _threads(recipe, int(folds.learnable.sum()))
    learners = recipe.learners({} if threads is None else {"nthread": 1})
    if recipe.training.n_rows <= FEW_ROWS or collective.is_distributed():
        progress = False
    with progress_bar(len(learners) * len(folds.numbers), "teacher", progress) as step:

        def fit(kind: str, rows: Array) -> Model:
            model = recipe.fit_rows(kind, learners[kind], rows)
            step()
            return model

        fits = {kind: partial(fit, kind) for kind in learners}
        found = out_of_fold(fits, recipe.predict_rows, folds, threads or 1, needs_whole=needs_whole)
    fold_of = np.where(folds.fold_of < 0, folds.fold_of, np.searchsorted(folds.numbers, folds.fold_of))
    return recipe.fitted(found, fold_of, len(folds.numbers))


def _dealt(recipe: Recipe, shared: FoldModels | None) -> Folds:
    """Return the folds. An estimator predicts rows of positive weight."""
    label, counting = recipe.training.label, recipe.counting
    # The user's groups; queries are numbered per worker.
    if recipe.groups is not None and (n_split := on_several_workers(recipe.groups)):
        raise ValueError(f"crossfit_groups must not span workers, got {n_split} that do: move each to one worker")
    groups, classes, crossfit = recipe.whole_groups, recipe.training.spec.loss.probabilities, recipe.crossfit
    if crossfit is None:
        own = None if groups is None else groups[counting]
        crossfit = default_crossfit(label[counting], own, classes=classes)
    if shared is not None and shared.number == crossfit:
        return Folds(shared.fold_of, recipe.learnable, shared)
    fold_of = deal_labelled(label, counting, groups, crossfit, recipe.seed, classes=classes)
    fold_of[recipe.left_out] = LEFT_OUT
    return Folds(fold_of, recipe.learnable)


def _threads(recipe: Recipe, n_learnable: int) -> int | None:
    """How many folds are fitted side by side, each on one thread, within the user's number of threads.

    None: one after the other, with all threads each: many rows, an estimator or evaluation sets to share.
    """
    shared = not isinstance(recipe.teacher, str) or recipe.keywords.get("evals")
    has_many = n_learnable > FEW_ROWS and recipe.teacher != "mixed"  # which learns from a part of many rows
    if collective.is_distributed() or shared or has_many:
        return None
    return threads_of(recipe.training.spec.params)
