"""Teachers that XGBoost cannot train over workers: fitted in one place, on the labelled rows of all workers."""

from __future__ import annotations

import dataclasses
import pickle
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from xgboost import collective

from ..._arrays import Array
from ..._xgb.categories import encoded_categories
from ..._xgb.collective import global_sum, on_any_worker
from ..._xgb.joined import freeze, thawed
from ..._xgb.matrix import query_of_row, set_queries
from ..._xgb.one_worker import apart, sent_to_first
from ..._xgb.threads import threads_of
from ..crossfit import LEFT_OUT, SHARED
from ..training import Training
from .cross_fitted import cross_fitted
from .features import Features
from .learned_teacher import Fitted, mean_of
from .recipe import Recipe

MOST_LABELLED = 200_000
"""The most labelled rows that are gathered."""
_BLOCK = 50_000
"""Rows that a worker predicts at once, which bounds the memory of their copies."""


def n_labelled_rows(training: Training) -> int:
    """Return the number of labelled rows of all workers; call it on every worker."""
    return int(global_sum(np.array([training.known.sum()]))[0])


def fit_gathered(recipe: Recipe) -> Fitted:
    """Return the teacher of all workers, and what it predicts for the rows of this one; call it on every worker.

    The first worker receives the labelled rows of all, one worker's after the other's, and fits the teacher with its
    folds. All workers receive the models, and each predicts its own rows without a label, in blocks. Labelled rows get
    their predictions out of fold.

    The first worker needs memory for the labelled rows, two copies of 8 bytes per value that is present and two of 4
    bytes per value of all columns: 0.5 GB for 200,000 rows of 100 columns, and what the learners need. Other workers
    hold the rows of one worker for a moment. Nothing grows with the number of unlabelled rows.

    The rows are sorted by their values, then shuffled by the seed: which worker has them changes neither folds nor
    models. Rows of queries stay in the order of the workers.
    """
    known, n_labelled = recipe.training.known, n_labelled_rows(recipe.training)
    if n_labelled > MOST_LABELLED:
        raise ValueError(
            f"teacher={recipe.teacher!r} learns from at most {MOST_LABELLED} labelled rows in a distributed training, "
            f"got {n_labelled}: use teacher='boosted', or label fewer rows"
        )
    parts = sent_to_first(apart("sending labelled rows", partial(_part, recipe)))
    rank, needs_whole = collective.get_rank(), on_any_worker(not known.all())
    work = partial(_fit, recipe, parts, needs_whole) if rank == 0 else bytes
    whole = collective.broadcast(apart("the training of the teacher", work), 0)
    return apart("the predictions of the teacher", partial(_shared_out, recipe, whole, rank))


_COLUMNS = ("own_weight", "groups", "teacher_weight")
_Part = dict[str, Any]
"""The labelled rows of a worker, by the names of their fields."""


def _part(recipe: Recipe) -> _Part | None:
    rows = np.flatnonzero(recipe.training.known)
    if not rows.size:
        return None
    part = recipe.subset(rows)
    matrix = part.features.matrix
    return {
        "matrix": freeze(matrix),
        "categories": encoded_categories(recipe.features.matrix),
        "query": query_of_row(matrix),
        "label": part.training.label,
        "weight": part.training.weight,
        **{name: getattr(part, name) for name in _COLUMNS},
    }


def _fit(recipe: Recipe, sent: list[_Part | None], needs_whole: bool) -> bytes:
    """Return the fitted teacher, its values in the order of the workers and of their rows, how many labelled rows the
    workers up to each have, and their groups. What cannot be pickled is an error here, where no worker waits.
    """
    parts = [part for part in sent if part is not None]
    first = parts[0]
    for name in ("feature_names", "feature_types"):
        if any(part["matrix"][name] != first["matrix"][name] for part in parts):
            raise ValueError(f"the columns of all workers must have the same {name}: build them from one table")
    if any(part["categories"] != first["categories"] for part in parts):
        raise ValueError("categories must be the same on all workers, in one order: set them before the rows are split")

    def column(name: str) -> Array | None:
        """The values of all rows, 1 on workers without them."""
        if all(part[name] is None for part in parts):
            return None
        return np.concatenate(
            [np.ones(len(part["label"]), np.float32) if part[name] is None else part[name] for part in parts]
        )

    label, has_queries = np.concatenate([part["label"] for part in parts]), first["query"] is not None
    matrix = thawed([part["matrix"] for part in parts], label, weighted=not has_queries)
    if has_queries:
        n_queries = np.cumsum([0, *(part["query"].max() + 1 for part in parts)])
        numbers = [part["query"] + n_before for part, n_before in zip(parts, n_queries, strict=False)]
        set_queries(matrix, np.concatenate(numbers))
        order = np.arange(len(label))
    else:
        weight = column("weight")
        keys = [*Features(matrix).dense.T, *label.reshape(len(label), -1).T, *([] if weight is None else [weight])]
        order = np.lexsort(keys[::-1])[np.random.default_rng(recipe.seed).permutation(len(label))]
    training = recipe.training.replace(guides=(), label=label, weight=column("weight"), labelled=None)
    columns: dict[str, Any] = {name: column(name) for name in _COLUMNS}
    whole = dataclasses.replace(recipe, training=training, features=Features(matrix), **columns).subset(order)
    whole.check()
    fitted = whole.fit_in_sample() if whole.crossfit == 0 else cross_fitted(whole, needs_whole=needs_whole)
    back = np.argsort(order)
    fitted = fitted._replace(mean=fitted.mean[back], fold_of=fitted.fold_of[back])
    ends = np.cumsum([0 if part is None else len(part["label"]) for part in sent])
    return pickle.dumps((fitted, ends, columns["groups"]))


def _shared_out(recipe: Recipe, pickled: bytes, rank: int) -> Fitted:
    """Return the teacher with the predictions of this worker's rows."""
    fitted: Fitted
    fitted, ends, groups_of_all = pickle.loads(pickled)
    known = recipe.training.known
    own = slice(ends[rank] - int(known.sum()), ends[rank])
    fold_of = np.full(len(known), SHARED if fitted.crossfit else 0)
    fold_of[known] = fitted.fold_of[own]
    groups = recipe.whole_groups
    if groups is not None and fitted.crossfit:
        with_labels = (groups[known], fold_of[known]) if groups_of_all is None else (groups_of_all, fitted.fold_of)
        fold_of_group = dict(zip(*with_labels, strict=True))
        fold_of[~known] = pd.Series(groups[~known]).map(fold_of_group).fillna(SHARED)
    fold_of[~known & recipe.left_out] = LEFT_OUT
    mean = np.zeros((len(known), *fitted.mean.shape[1:]), fitted.mean.dtype)
    mean[known] = fitted.mean[own]
    for member in fitted.members:
        for model in [*member.models, *member.predicting]:
            if hasattr(model, "booster"):
                model.booster.set_param({"nthread": threads_of(recipe.training.spec.params)})
    for fold in np.unique(fold_of[~known & (fold_of != LEFT_OUT)]):
        rows = np.flatnonzero(~known & (fold_of == fold))
        for block in np.array_split(rows, -(-len(rows) // _BLOCK)):
            features = Features(thawed([freeze(recipe.features.subset(block).matrix)]))
            mean[block] = mean_of(fitted.members, fitted.mixture, features, fold)
    return fitted._replace(mean=mean, fold_of=fold_of, columns=recipe.columns)
