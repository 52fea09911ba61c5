"""The methods that are compared on the fresh sets: each one recipe for all sets, as ``PROTOCOL.md`` describes them."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np
import pandas as pd
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.linear_model import LogisticRegressionCV
from sklearn.preprocessing import StandardScaler

import pi_xgb
from benchmarks.unlabelled.cell import (
    FOREST_RIVAL,
    INNER_FOLDS,
    PARAMS,
    PLAIN,
    RIDGE_C,
    RIDGE_RIVAL,
    ROUNDS,
    SELF_TRAINING,
    SPREADING,
    TUNED,
    Draw,
    Floats,
    Work,
    label_spreading,
    one_hot,
    plain,
    self_training,
    tuned,
)
from pi_xgb.selection import select

FEW = (50, 100, 200)
CATBOOST_ITERATIONS = 200
FOREST: dict[str, Any] = {"n_estimators": 100, "min_samples_leaf": 2, "n_jobs": 1}
IMPUTER: dict[str, Any] = {"n_estimators": 100, "min_samples_leaf": 5, "oob_score": True, "n_jobs": 1}


def recipe(work: Work) -> Floats:
    """``pi_xgb.train`` by its defaults."""
    privileged = work.draw.matrix("z", work.all, work.label)
    return work.said(pi_xgb.train(PARAMS, work.all_x, ROUNDS, privileged=privileged, labelled=work.known))


def recipe_without_z(work: Work) -> Floats:
    return work.said(pi_xgb.train(PARAMS, work.all_x, ROUNDS, teacher="mixed", labelled=work.known))


def catboost(work: Work) -> Floats:
    from catboost import CatBoostClassifier

    categories = [place for place, kind in enumerate(work.draw.x_types) if kind == "c"]
    few, test = (pd.DataFrame(rows.x).astype(dict.fromkeys(categories, int)) for rows in (work.few, work.draw.test))
    settings = {"thread_count": 1, "verbose": False, "allow_writing_files": False, "random_seed": work.draw.repeat}
    model = CatBoostClassifier(iterations=CATBOOST_ITERATIONS, cat_features=categories, **settings)
    return model.fit(few, work.few.y).predict_proba(test)[:, 1]


def selected(work: Work) -> Floats:
    """The setting that ``pi_xgb.select`` finds on the same rows and labels."""
    keywords = {"privileged": work.draw.matrix("z", work.all, work.label), "labelled": work.known}
    selection = select(PARAMS, work.all_x, ROUNDS, progress=False, seed=work.draw.repeat, **keywords)
    return work.said(selection.train(work.all_x, **keywords))


def linear_and_forest(work: Work, train: Floats, test: Floats) -> tuple[Floats, Floats]:
    """Both on the labelled rows of these features; inner folds choose the penalty of the linear one."""
    linear = LogisticRegressionCV(Cs=RIDGE_C, cv=INNER_FOLDS, scoring="neg_log_loss", max_iter=1000)
    forest = RandomForestClassifier(**FOREST, random_state=work.draw.repeat)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)  # of scikit-learn, about defaults of the penalty
        for model in (linear, forest):
            model.fit(train[work.known], work.few.y)
    return linear.predict_proba(test)[:, 1], forest.predict_proba(test)[:, 1]


@lru_cache(maxsize=1)
def on_x(work: Work) -> tuple[Floats, Floats]:
    return linear_and_forest(work, *work.draw.metric_x)


def with_more(work: Work, train: Floats, test: Floats) -> Floats:
    """The mean of the two models on x and further features."""
    scaler = StandardScaler().fit(train)
    more = (scaler.transform(values) for values in (train, test))
    wide = [np.hstack([x, values]) for x, values in zip(work.draw.metric_x, more, strict=True)]
    return np.mean(linear_and_forest(work, *wide), axis=0)


@lru_cache(maxsize=1)
def imputed(draw: Draw) -> tuple[Floats, Floats]:
    """z as a forest tells it from x: of training rows out of bag."""
    targets = one_hot(draw.train.z, draw.z_types).fit_transform(draw.train.z)
    x, x_test = draw.metric_x
    forest = RandomForestRegressor(**IMPUTER, random_state=draw.repeat).fit(x, targets.squeeze())
    return forest.oob_prediction_.reshape(targets.shape), forest.predict(x_test).reshape(-1, targets.shape[1])


def z_known(work: Work) -> Floats:
    encoder = one_hot(work.all.z, work.draw.z_types).fit(work.all.z)
    return with_more(work, encoder.transform(work.all.z), encoder.transform(work.draw.test.z))


RECIPE, WITHOUT_Z, CATBOOST, SELECT = "recipe", "recipe without z", "CatBoost", "select"
MEAN, IMPUTED_MEAN, Z_KNOWN = "mean of linear and forest", "the same mean, z imputed", "the same mean, z known"
METHODS: dict[str, Callable[[Work], Floats]] = {
    RECIPE: recipe,
    WITHOUT_Z: recipe_without_z,
    PLAIN: plain,
    TUNED: tuned,
    RIDGE_RIVAL: lambda work: on_x(work)[0],
    FOREST_RIVAL: lambda work: on_x(work)[1],
    MEAN: lambda work: np.mean(on_x(work), axis=0),
    IMPUTED_MEAN: lambda work: with_more(work, *imputed(work.draw)),
    Z_KNOWN: z_known,
    SPREADING: label_spreading,
    SELF_TRAINING: self_training,
    CATBOOST: catboost,
    SELECT: selected,
}
DRAWS = 20
