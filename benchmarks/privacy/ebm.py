"""DP-EBM as in its paper on adult, and the bridge for those who need y and x protected as well."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import StratifiedKFold

from benchmarks.data import PreparedSet
from benchmarks.privacy.sets import loaded

FOLDS = 5
EPSILONS = (0.5, 1.0, 2.0, 4.0, 8.0)
DELTA = 1e-6
COMPOSITIONS = ("classic", "gdp")
RANGES = {
    "age": (17, 90),
    "education-num": (1, 16),
    "capital-gain": (0, 99999),
    "capital-loss": (0, 4356),
    "hours-per-week": (1, 99),
}
CATEGORIES = {
    "workclass": 8,
    "education": 16,
    "marital-status": 7,
    "occupation": 14,
    "relationship": 6,
    "race": 5,
    "sex": 2,
    "native-country": 41,
}
"""How many categories the publisher's description lists; the set has their codes from 0 on."""
KL_WEIGHT = 1.0
TEACHER_SHARE = 0.3


def measure(fold: int, small: bool = False) -> Iterator[dict[str, Any]]:
    """One fold: all features, x alone, and x with blended targets."""
    adult = loaded("adult")
    splitter = StratifiedKFold(FOLDS, shuffle=True, random_state=0)
    train, test = list(splitter.split(adult.X, adult.y))[fold]
    every = tuple(range(adult.X.shape[1]))

    def line(method: str, composition: str, epsilon: float, result: Any) -> dict[str, Any]:
        auc = roc_auc_score(adult.y[test], result)
        return {"method": method, "composition": composition, "epsilon": epsilon, "auc": auc}

    for epsilon in EPSILONS:
        for composition in COMPOSITIONS:
            yield line("all features", composition, epsilon, learned(adult, every, train, test, epsilon, composition))
        yield line("x alone", "gdp", epsilon, learned(adult, adult.classifier, train, test, epsilon, "gdp"))
        yield line("x, blended targets", "gdp", epsilon, bridged(adult, train, test, epsilon))


def learned(
    adult: PreparedSet, positions: tuple[int, ...], train: Any, test: Any, epsilon: float, composition: str
) -> Any:
    """What a DP-EBM on these columns says of the test rows."""
    model = classifier(adult, positions, epsilon, DELTA, composition)
    model.fit(values(adult, positions, train), adult.y[train])
    return model.predict_proba(values(adult, positions, test))[:, 1]


def bridged(adult: PreparedSet, train: Any, test: Any, epsilon: float) -> Any:
    """A DP-EBM on x, trained on (y + a q) / (1 + a) with q from a DP-EBM on z.

    Given the teacher, a row enters the student's data by its own x and target alone, so the two budgets add up, with no
    noise on q, to a promise for a row that comes or goes with all that it has.
    """
    share = TEACHER_SHARE * epsilon
    teacher = classifier(adult, adult.privileged, share, DELTA / 2, "gdp")
    q = teacher.fit(values(adult, adult.privileged, train), adult.y[train]).predict_proba(
        values(adult, adult.privileged, train)
    )[:, 1]
    target = (adult.y[train] + KL_WEIGHT * q) / (1 + KL_WEIGHT)
    student = regressor(adult, adult.classifier, epsilon - share, DELTA / 2)
    return student.fit(values(adult, adult.classifier, train), target).predict(values(adult, adult.classifier, test))


def values(dataset: PreparedSet, positions: tuple[int, ...], rows: Any) -> Any:
    return dataset.X.to_numpy()[np.ix_(rows, positions)]


def options(
    dataset: PreparedSet, positions: tuple[int, ...], epsilon: float, delta: float, composition: str
) -> dict[str, Any]:
    """interpret's defaults, as in its paper, with declared ranges and codes: it reads nominal names from the rows."""
    names = [dataset.X.columns[position] for position in positions]
    return {
        "feature_types": ["continuous"] * len(names),
        "privacy_bounds": {i: declared(name) for i, name in enumerate(names)},
        "epsilon": epsilon,
        "delta": delta,
        "composition": composition,
        "n_jobs": 1,
    }


def declared(name: str) -> tuple[float, float]:
    """The range of a column; that of codes has each code in the middle of its own interval."""
    return RANGES[name] if name in RANGES else (-0.5, CATEGORIES[name] - 0.5)


def classifier(*given: Any) -> Any:
    from interpret.privacy import DPExplainableBoostingClassifier

    return DPExplainableBoostingClassifier(**options(*given))


def regressor(dataset: PreparedSet, positions: tuple[int, ...], epsilon: float, delta: float) -> Any:
    from interpret.privacy import DPExplainableBoostingRegressor

    return DPExplainableBoostingRegressor(
        **options(dataset, positions, epsilon, delta, "gdp"), privacy_target_min=0.0, privacy_target_max=1.0
    )
