"""One draw of one set: who gets a label, and what every method makes of it."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import numpy as np
import numpy.typing as npt
import xgboost as xgb
from sklearn.compose import ColumnTransformer
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss, roc_auc_score
from sklearn.model_selection import GridSearchCV, train_test_split
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.semi_supervised import LabelSpreading, SelfTrainingClassifier

import pi_xgb
from benchmarks.data import PreparedSet

Floats = npt.NDArray[np.float32]
Known = npt.NDArray[np.bool_]

PARAMS: dict[str, Any] = {"objective": "binary:logistic", "max_depth": 3, "eta": 0.1, "nthread": 1}
ROUNDS = 60
KL_WEIGHT, JOINT_KL_WEIGHT = 10.0, 1.0
CROSSFIT = 5
DEPTHS, INNER_FOLDS = (1, 3, 6), 5
MOST_ROUNDS, STOPPED_AFTER = 300, 20
SELF_TRAINING_STEPS, THRESHOLD = 10, 0.75
SPREADING_WIDTH = 0.3
"""gamma times the number of columns; of 10 and 30 neighbours and widths .3, 1, 3 the best on draws outside the run."""
RIDGE_C = (0.001, 0.003, 0.01, 0.03, 0.1)
"""Choosing among these had a lower log loss than each of them, on draws outside the run."""
FOREST: dict[str, Any] = {"n_estimators": 300, "min_samples_leaf": 2, "n_jobs": 1}
"""Of 1, 2 and 5 rows per leaf the best on draws outside the run."""
TEST_SHARE = 0.25
MOST_TRAINING, MOST_TEST = 2000, 5000
BUDGETS = (50, 100, 200, 400, 800)


def training_rows(n_rows: int) -> int:
    """What a set of so many rows has for training, with labels or without."""
    return min(n_rows - int(np.ceil(TEST_SHARE * n_rows)), MOST_TRAINING)


def budgets_of(n_rows: int) -> list[int]:
    """How many labels: doubling from 50, and at the end all training rows."""
    last = training_rows(n_rows)
    # Two steps close to the end would say the same.
    return [*(budget for budget in BUDGETS if 2 * budget <= last), last]


@dataclass(frozen=True)
class Rows:
    """Some rows of a set, the two groups of columns apart."""

    x: Floats
    z: Floats
    y: npt.NDArray[np.int64]

    def take(self, rows: npt.NDArray[Any]) -> Rows:
        return Rows(self.x[rows], self.z[rows], self.y[rows])


class Draw:
    """One repeat: test and training rows, and what does not depend on which of these have a label."""

    def __init__(self, dataset: PreparedSet, repeat: int) -> None:
        (x, self.x_types), (z, self.z_types) = dataset.student(), dataset.teacher()
        rows = Rows(x.to_numpy(np.float32), z.to_numpy(np.float32), dataset.y)
        pool, test = train_test_split(
            np.arange(dataset.y.size), test_size=TEST_SHARE, stratify=dataset.y, random_state=repeat
        )
        random = np.random.default_rng(repeat)
        self.repeat = repeat
        self.train = rows.take(random.permutation(pool)[: training_rows(dataset.y.size)])
        self.test = rows.take(random.permutation(test)[:MOST_TEST])

    def matrix(self, columns: str, rows: Rows, label: npt.NDArray[Any] | None = None) -> xgb.DMatrix:
        """The columns "x", "z" or "xz" of these rows."""
        data = {"x": [rows.x], "z": [rows.z], "xz": [rows.x, rows.z]}[columns]
        types = {"x": self.x_types, "z": self.z_types, "xz": [*self.x_types, *self.z_types]}[columns]
        return xgb.DMatrix(np.hstack(data), label, feature_types=types, enable_categorical=True, nthread=1)

    def labelled_rows(self, budget: int) -> Known:
        """One truth value per training row: ``budget`` of them have a label, each class its share."""
        y = self.train.y
        if budget >= y.size:
            return np.ones(y.size, dtype=bool)
        rows, _ = train_test_split(np.arange(y.size), train_size=budget, stratify=y, random_state=self.repeat)
        return np.isin(np.arange(y.size), rows)

    @cached_property
    def metric_x(self) -> tuple[Floats, Floats]:
        """x of training and test rows for methods that measure distances: categories as 0/1, all standardised."""
        encoder = one_hot(self.train.x, self.x_types)
        scaler = StandardScaler().fit(encoder.fit_transform(self.train.x))
        train, test = (scaler.transform(encoder.transform(rows.x)) for rows in (self.train, self.test))
        return train, test


def one_hot(values: Floats, types: Sequence[str]) -> Any:
    """A transformer that leaves numbers as they are and makes a 0/1 column of each category."""
    categories = [position for position, kind in enumerate(types) if kind == "c"]
    encoder = OneHotEncoder(handle_unknown="ignore", sparse_output=False)
    return ColumnTransformer([("categories", encoder, categories)], remainder="passthrough", sparse_threshold=0)


class Work:
    """A draw with labels for some of its training rows. No method sees any other label, but for the ceiling."""

    def __init__(self, draw: Draw, labelled: int | Known) -> None:
        self.draw = draw
        self.known = draw.labelled_rows(labelled) if isinstance(labelled, int) else labelled
        self.all = draw.train
        # A label that is not known is the same in all rows, so that no method can learn from it.
        self.label = np.where(self.known, self.all.y, 0)
        self.few = self.all.take(self.known)

    @property
    def few_x(self) -> xgb.DMatrix:
        return self.draw.matrix("x", self.few, self.few.y)

    @property
    def all_x(self) -> xgb.DMatrix:
        return self.draw.matrix("x", self.all, self.label)

    def teacher(self, columns: str, kind: str = "boosted") -> Floats:
        """q of all training rows: of the unlabelled ones the mean of the models of the folds."""
        matrix = self.draw.matrix(columns, self.all, self.label)
        return pi_xgb.fit_teacher(PARAMS, matrix, ROUNDS, teacher=kind, crossfit=CROSSFIT, labelled=self.known).values

    @cached_property
    def q(self) -> Floats:
        return self.teacher("xz")

    def said(self, booster: xgb.Booster) -> Floats:
        return booster.predict(self.draw.matrix("x", self.draw.test))


def plain(work: Work) -> Floats:
    return work.said(xgb.train(PARAMS, work.few_x, ROUNDS))


def tuned(work: Work) -> Floats:
    """Plain XGBoost of the depth and the number of rounds that cross-validate best, by log loss."""
    how = {"nfold": INNER_FOLDS, "stratified": True, "metrics": "logloss", "seed": work.draw.repeat}
    stop = {"num_boost_round": MOST_ROUNDS, "early_stopping_rounds": STOPPED_AFTER}
    losses = {}
    for depth in DEPTHS:
        history = xgb.cv({**PARAMS, "max_depth": depth}, work.few_x, **stop, **how)["test-logloss-mean"]
        losses[depth, int(history.argmin()) + 1] = float(history.min())
    depth, rounds = min(losses, key=losses.__getitem__)
    return work.said(xgb.train({**PARAMS, "max_depth": depth}, work.few_x, rounds))


def taught(work: Work, q: Floats) -> Floats:
    """KbPIB on all rows; the native engine gives the callback's model in less time."""
    guided: dict[str, Any] = {"kl_weight": KL_WEIGHT, "labelled": work.known, "engine": "native"}
    return work.said(pi_xgb.train(PARAMS, work.all_x, ROUNDS, teacher=q, **guided))


def taught_by(kind: str, columns: str, work: Work) -> Floats:
    """KbPIB by a teacher of this kind."""
    return taught(work, work.teacher(columns, kind))


def kbpib_labelled(work: Work) -> Floats:
    """The same teacher as with unlabelled rows, for the labelled rows alone."""
    guided: dict[str, Any] = {"kl_weight": KL_WEIGHT, "engine": "native"}
    return work.said(pi_xgb.train(PARAMS, work.few_x, ROUNDS, teacher=work.q[work.known], **guided))


def jpib(work: Work) -> Floats:
    privileged = work.draw.matrix("z", work.all, work.label)
    guided: dict[str, Any] = {"method": "jpib", "kl_weight": JOINT_KL_WEIGHT, "labelled": work.known}
    return work.said(pi_xgb.train(PARAMS, work.all_x, ROUNDS, privileged=privileged, engine="callback", **guided))


def self_training(work: Work) -> Floats:
    """scikit-learn's wrapper around the same booster."""
    own = {"max_depth": PARAMS["max_depth"], "learning_rate": PARAMS["eta"], "n_jobs": 1}
    own |= {"feature_types": list(work.draw.x_types), "enable_categorical": True}
    booster = xgb.XGBClassifier(n_estimators=ROUNDS, **own)
    if work.known.all():
        return booster.fit(work.all.x, work.all.y).predict_proba(work.draw.test.x)[:, 1]
    wrapped = SelfTrainingClassifier(booster, threshold=THRESHOLD, max_iter=SELF_TRAINING_STEPS)
    return wrapped.fit(work.all.x, np.where(work.known, work.label, -1)).predict_proba(work.draw.test.x)[:, 1]


def label_spreading(work: Work) -> Floats:
    train, test = work.draw.metric_x
    spreading = LabelSpreading(kernel="rbf", gamma=SPREADING_WIDTH / train.shape[1], max_iter=100)
    return spreading.fit(train, np.where(work.known, work.label, -1)).predict_proba(test)[:, 1]


def ridge(work: Work) -> Floats:
    """Logistic regression on the labelled rows, its penalty chosen by inner cross-validation on log loss."""
    train, test = work.draw.metric_x
    how = {"scoring": "neg_log_loss", "cv": INNER_FOLDS}
    model = GridSearchCV(LogisticRegression(max_iter=1000), {"C": RIDGE_C}, **how)
    return model.fit(train[work.known], work.few.y).predict_proba(test)[:, 1]


def forest(work: Work) -> Floats:
    """scikit-learn's, on the labelled rows."""
    train, test = work.draw.metric_x
    model = RandomForestClassifier(**FOREST, random_state=work.draw.repeat)
    return model.fit(train[work.known], work.few.y).predict_proba(test)[:, 1]


def all_labels(work: Work) -> Floats:
    return work.said(xgb.train(PARAMS, work.draw.matrix("x", work.all, work.all.y), ROUNDS))


def z_known(work: Work) -> Floats:
    """Trained on the labelled rows with x and z, and z is there at prediction."""
    booster = xgb.train(PARAMS, work.draw.matrix("xz", work.few, work.few.y), ROUNDS)
    return booster.predict(work.draw.matrix("xz", work.draw.test))


PLAIN, KBPIB, JPIB, ON_X, SELF_TRAINING = "plain", "KbPIB", "JPIB", "teacher on x", "self-training .75"
KBPIB_LABELLED, ALL_LABELS, Z_KNOWN = "KbPIB labelled only", "all labels known", "z known at prediction"
MIXED, FOREST_TEACHER, LINEAR_TEACHER, MIXED_ON_X = "mixed", "forest", "linear", "mixed on x"
RIDGE_RIVAL, FOREST_RIVAL = "ridge regression on x", "random forest on x"
TUNED, SPREADING = "depth and rounds tuned", "label spreading"
METHODS: dict[str, Callable[[Work], Floats]] = {
    PLAIN: plain,
    KBPIB_LABELLED: kbpib_labelled,
    KBPIB: lambda work: taught(work, work.q),
    JPIB: jpib,
    MIXED: partial(taught_by, "mixed", "xz"),
    FOREST_TEACHER: partial(taught_by, "forest", "xz"),
    LINEAR_TEACHER: partial(taught_by, "linear", "xz"),
    MIXED_ON_X: partial(taught_by, "mixed", "x"),
    ON_X: partial(taught_by, "boosted", "x"),
    RIDGE_RIVAL: ridge,
    FOREST_RIVAL: forest,
    TUNED: tuned,
    SELF_TRAINING: self_training,
    SPREADING: label_spreading,
    ALL_LABELS: all_labels,
    Z_KNOWN: z_known,
}


def measured(y: npt.NDArray[Any], chance: npt.NDArray[Any]) -> dict[str, float]:
    """AUC and log loss."""
    chance = np.asarray(chance, np.float64)
    return {"auc": float(roc_auc_score(y, chance)), "logloss": float(log_loss(y, chance, labels=[0, 1]))}


def line(work: Work, method: Callable[[Work], Floats]) -> dict[str, Any]:
    """A line of the table. Seconds hold what is shared in the first method that needs it."""
    start = time.perf_counter()
    chance = method(work)
    seconds = time.perf_counter() - start
    return {"training": work.all.y.size, **measured(work.draw.test.y, chance), "seconds": seconds}
