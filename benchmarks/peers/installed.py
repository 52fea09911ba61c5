"""Peers that a maintained library provides: thin wrappers with the common interface."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
import xgboost as xgb
from sklearn.impute import SimpleImputer
from sklearn.svm import SVC

from ._base import (
    Array,
    Encoder,
    Option,
    Peer,
    Rows,
    Sigmoid,
    best_on_grid,
    group_numbers,
    median_squared_distance,
    require,
    subsample,
    validation_auc,
)
from .svm_plus import PENALTIES, WIDTHS

BOOSTER = {"n_estimators": 100, "learning_rate": 0.1, "max_depth": 4, "tree_method": "hist"}
"""XGBoost under the reduction of Fairlearn, which fits it dozens of times and knows no early stopping."""


@dataclass
class SVM(Peer):
    """A support vector machine with a Gaussian kernel (scikit-learn), on x alone and the grid of SVM+."""

    max_rows: int | None = 5000
    search_rows: int = 1000

    def _fit(self, train: Rows, valid: Rows) -> None:
        self._encoder = Encoder(self.x_types)
        x = self._encoder.fit_transform(train.x)
        unit = median_squared_distance(x)
        small = subsample(train, self.search_rows, self.seed)
        small_x, valid_x = self._encoder.transform(small.x), self._encoder.transform(valid.x)

        def machine(option: Option) -> SVC:
            return SVC(C=option["C"], gamma=option["width"] / unit, cache_size=500)

        def decide(option: Option) -> Array:
            return machine(option).fit(small_x, small.y).decision_function(valid_x)

        self.chosen_ = best_on_grid({"C": PENALTIES, "width": WIDTHS}, decide, valid)
        self._machine = machine(self.chosen_).fit(x, train.y)
        self._sigmoid = Sigmoid.fit(self._machine.decision_function(valid_x), valid.y)

    def _score(self, X: Array) -> Array:
        return self._sigmoid(self._machine.decision_function(self._encoder.transform(X)))


@dataclass
class FairlearnExponentiatedGradient(Peer):
    """Fairlearn's reduction around XGBoost: a mixture of 0/1 classifiers, the probability the weight of those with 1.

    Several sensitive columns count as their combinations.
    """

    needs_groups: ClassVar[bool] = True
    randomised: ClassVar[bool] = True
    module: ClassVar[str | None] = "fairlearn.reductions"

    max_rows: int | None = 50_000
    constraint: str = "EqualizedOdds"
    """A moment of ``fairlearn.reductions``: "EqualizedOdds", "DemographicParity", ..."""
    booster: dict[str, Any] = field(default_factory=lambda: dict(BOOSTER))
    n_jobs: int = 1
    eps: float = 0.01
    max_iter: int = 50

    def _fit(self, train: Rows, valid: Rows) -> None:
        reductions = require("fairlearn.reductions")
        how = {"feature_types": self.x_types, "enable_categorical": True, "random_state": self.seed}
        classifier = xgb.XGBClassifier(**self.booster, **how, n_jobs=self.n_jobs)
        constraint = getattr(reductions, self.constraint)()
        self._reduction = reductions.ExponentiatedGradient(classifier, constraint, eps=self.eps, max_iter=self.max_iter)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # Fairlearn's own use of pandas
            self._reduction.fit(train.x, train.y.astype(int), sensitive_features=group_numbers(train.groups))

    def _score(self, X: Array) -> Array:
        chosen = self._reduction.weights_[self._reduction.weights_ > 0]
        return sum(weight * self._reduction.predictors_[i].predict(X) for i, weight in chosen.items())


@dataclass
class FairGBM(Peer):
    """LightGBM under constraints on the groups' error rates. Linux only; its last release is of early 2024.

    Trained through its native interface: its scikit-learn classes call what scikit-learn 1.8 removed. The step size of
    its multipliers is chosen on validation, by AUC less half the equalized-odds gap, as no one value serves all sets:
    at its default 0.1 the multipliers diverge on the eight groups of adult, down to an AUC of .38. Without
    ``sensitive_valid`` the AUC alone decides.
    """

    needs_groups: ClassVar[bool] = True
    module: ClassVar[str | None] = "fairgbm"

    constraint_type: str = "FPR,FNR"
    rounds: int = 100
    multiplier_rates: tuple[float, ...] = (0.1, 0.01, 0.001)
    params: dict[str, Any] = field(default_factory=dict)
    n_jobs: int = 1

    def _fit(self, train: Rows, valid: Rows) -> None:
        boosters = {rate: self._train(train, rate) for rate in self.multiplier_rates}
        best = max(boosters, key=lambda rate: fairness_tradeoff(boosters[rate].predict(valid.x), valid, train.y.mean()))
        self._booster = boosters[best]
        self.chosen_ = {"multiplier_learning_rate": best}

    def _train(self, train: Rows, multiplier_rate: float) -> Any:
        fairgbm = require("fairgbm")
        params = {
            "objective": "constrained_cross_entropy",
            "constraint_type": self.constraint_type,
            "learning_rate": 0.1,
            "multiplier_learning_rate": multiplier_rate,
            "num_leaves": 31,
            "verbosity": -1,
            "seed": self.seed,
            "num_threads": self.n_jobs,
            **self.params,
        }
        rows = fairgbm.Dataset(
            train.x,
            label=train.y,
            constraint_group=group_numbers(train.groups),
            categorical_feature=[i for i, kind in enumerate(self.x_types) if kind == "c"],
            params={"verbosity": -1},
            free_raw_data=False,
        )
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "Using categorical_feature in Dataset")  # that is what it is for
            return fairgbm.train(params, rows, self.rounds)

    def _score(self, X: Array) -> Array:
        return self._booster.predict(X)


def fairness_tradeoff(score: Array, valid: Rows, positive_share: float) -> float:
    """AUC less half the mean equalized-odds gap, deciding at the quantile that gives this share of positives."""
    auc = validation_auc(score, valid)
    if valid.groups is None:
        return auc
    decisions = score > np.quantile(score, 1.0 - positive_share)
    return auc - 0.5 * float(np.mean([odds_gap(decisions, valid.y, column) for column in valid.groups.T]))


def odds_gap(decisions: Array, y: Array, group: Array) -> float:
    """The spread of the groups' positive rates, summed over the labels; a group without a label does not count."""
    gap = 0.0
    for label in (0, 1):
        rates = [decisions[(group == g) & (y == label)].mean() for g in np.unique(group[y == label])]
        gap += max(rates) - min(rates)
    return gap


@dataclass
class EBM(Peer):
    """The explainable boosting machine of interpret, at half the cost or less of its defaults.

    Those are 14 bags, 3 pairs per column and a learning rate of 0.015. On one fold of adult the faster rate halved the
    time and left the AUC where it was (.922).
    """

    module: ClassVar[str | None] = "interpret.glassbox"

    max_rows: int | None = 20_000
    outer_bags: int = 2
    interactions: int = 10
    learning_rate: float = 0.05
    n_jobs: int = 1

    def _fit(self, train: Rows, valid: Rows) -> None:
        self._model = require("interpret.glassbox").ExplainableBoostingClassifier(
            feature_types=interpret_types(self.x_types),
            outer_bags=self.outer_bags,
            interactions=self.interactions,
            learning_rate=self.learning_rate,
            n_jobs=self.n_jobs,
            random_state=self.seed,
        )
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "Missing values detected")  # it concerns the plots alone
            self._model.fit(train.x, train.y.astype(int))

    def _score(self, X: Array) -> Array:
        return self._model.predict_proba(X)[:, 1]


@dataclass
class DPEBM(Peer):
    """The differentially private EBM of interpret.

    Its guarantee holds only with ``x_bounds`` known beforehand (one pair per column), ``repeatable=False`` and no
    categories, whose names it reads from the rows. A benchmark has neither bounds from elsewhere nor use for results
    that do not repeat: then the accuracy is that of a private model, the guarantee is void, and ``note_`` says so.
    """

    module: ClassVar[str | None] = "interpret.privacy"

    epsilon: float = 1.0
    delta: float = 1e-5
    composition: str = "gdp"
    x_bounds: Any = None
    repeatable: bool = True

    def _fit(self, train: Rows, valid: Rows) -> None:
        self._fill = Imputer(self.x_types)
        x = self._fill.fit_transform(train.x)
        void = []
        bounds = self.x_bounds
        if bounds is None:
            bounds = np.column_stack([x.min(0), x.max(0)])
            void.append("bounds read off the data")
        elif "c" in self.x_types:
            void.append("categories read off the data")
        if self.repeatable:
            void.append("fixed seed")
        if void:
            self.note_ = f"no privacy guarantee ({', '.join(void)})"
        self._model = dp_ebm_class()(
            feature_types=interpret_types(self.x_types),
            privacy_bounds=numeric_bounds(bounds, self.x_types),
            epsilon=self.epsilon,
            delta=self.delta,
            composition=self.composition,
            bin_budget_frac=0.1,
            max_bins=32,
            max_rounds=300,
            max_leaves=3,
            learning_rate=0.01,
            random_state=self.seed if self.repeatable else None,
            n_jobs=1,
        )
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "Privacy violation")  # note_ says it
            self._model.fit(x, train.y.astype(int))

    def _score(self, X: Array) -> Array:
        return self._model.predict_proba(self._fill.transform(X))[:, 1]


def dp_ebm_class() -> Any:
    """The private EBM under the name that this version of interpret gives it."""
    privacy = require("interpret.privacy")
    for name in ("DPExplainableBoostingClassifier", "DPEBMClassifier"):
        if hasattr(privacy, name):
            return getattr(privacy, name)
    raise ImportError("expected a private EBM in interpret.privacy under one of its two names: install interpret 0.7")


def interpret_types(types: list[str]) -> list[str]:
    """What interpret calls numbers and categories."""
    return ["nominal" if kind == "c" else "continuous" for kind in types]


def numeric_bounds(bounds: Any, types: list[str]) -> dict[int, tuple[float, float]]:
    """The bounds of the numeric columns, by column number; a column with one value gets a width of 1."""
    bounds = np.asarray(bounds, dtype=float)
    if bounds.shape != (len(types), 2) or not np.isfinite(bounds).all():
        raise ValueError(f"expected x_bounds as {len(types)} finite pairs (low, high), got shape {bounds.shape}")
    return {
        i: (float(low), float(high if high > low else low + 1.0))
        for i, ((low, high), kind) in enumerate(zip(bounds, types, strict=True))
        if kind == "q"
    }


class Imputer:
    """Missing numbers become the median, missing categories the most frequent; the columns keep their order."""

    def __init__(self, types: list[str]) -> None:
        kinds = np.asarray(types)
        strategies = {"q": "median", "c": "most_frequent"}
        self._parts = [
            (np.flatnonzero(kinds == kind), SimpleImputer(strategy=strategy, keep_empty_features=True))
            for kind, strategy in strategies.items()
            if (kinds == kind).any()
        ]

    def fit_transform(self, X: Array) -> Array:
        """Learn the fillings of X and apply them."""
        for columns, imputer in self._parts:
            imputer.fit(X[:, columns])
        return self.transform(X)

    def transform(self, X: Array) -> Array:
        """Apply what was learned."""
        filled = np.empty(X.shape)
        for columns, imputer in self._parts:
            filled[:, columns] = imputer.transform(X[:, columns])
        return filled
