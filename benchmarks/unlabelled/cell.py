"""One draw of one set: who gets a label, and what every method makes of it."""

from __future__ import annotations

import copy
import time
import warnings
from collections.abc import Callable, Mapping, Sequence
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
from sklearn.model_selection import GridSearchCV, KFold, StratifiedKFold, train_test_split
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.semi_supervised import LabelSpreading, SelfTrainingClassifier

import pi_xgb
from benchmarks.data import PreparedSet
from benchmarks.peers.installed import interpret_types
from pi_xgb.selection import select

Floats = npt.NDArray[np.float32]
Known = npt.NDArray[np.bool_]

PARAMS: dict[str, Any] = {"objective": "binary:logistic", "max_depth": 3, "eta": 0.1, "nthread": 1}
ROUNDS = 60
KL_WEIGHT, JOINT_KL_WEIGHT = 10.0, 1.0
CROSSFIT = 5
DEPTHS, INNER_FOLDS, FOLDS = (1, 3, 6), 5, 5
MOST_ROUNDS, STOPPED_AFTER = 300, 20
IMPUTER: dict[str, Any] = {"objective": "reg:squarederror", "max_depth": 3, "eta": 0.3, "nthread": 1}
IMPUTER_ROUNDS, IMPUTER_FOLDS = 20, 3
SELF_TRAINING_STEPS, THRESHOLD = 10, 0.75
SPREADING_WIDTH = 0.3
"""gamma times the number of columns; of 10 and 30 neighbours and widths .3, 1, 3 the best on draws outside the run."""
RIDGE_C = (0.001, 0.003, 0.01, 0.03, 0.1)
"""Choosing among these had a lower log loss than each of them, on draws outside the run."""
FOREST: dict[str, Any] = {"n_estimators": 300, "min_samples_leaf": 2, "n_jobs": 1}
"""Of 1, 2 and 5 rows per leaf the best on draws outside the run."""
EBM: dict[str, Any] = {"outer_bags": 4, "interactions": 0, "learning_rate": 0.1, "max_rounds": 500, "n_jobs": 1}
"""Fewer bags and a higher rate than its defaults, and no pairs of columns, for the time. Where its inner validation
rows are separated perfectly it does not stop by itself."""
CV_TREES, CV_BAGS = 100, 2
"""Fewer where the forest and the EBM are cross-validated to choose a rival, for the time."""
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
        self.shuffled = Rows(self.train.x, random.permutation(self.train.z), self.train.y)

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
    def all_labels(self) -> Floats:
        """What plain XGBoost says that has the labels of all training rows."""
        booster = xgb.train(PARAMS, self.matrix("x", self.train, self.train.y), ROUNDS)
        return booster.predict(self.matrix("x", self.test))

    @cached_property
    def imputed(self) -> tuple[Floats, Floats]:
        """z as x tells it: of training rows by regressions that have not seen the row, and of test rows."""
        targets = one_hot(self.train.z, self.z_types).fit_transform(self.train.z)

        def told(known: npt.NDArray[Any], requested: Rows) -> Floats:
            matrix = self.matrix("x", self.train.take(known), targets[known])
            result = xgb.train(IMPUTER, matrix, IMPUTER_ROUNDS).predict(self.matrix("x", requested))
            return result.reshape(len(requested.y), -1)

        train = np.empty(targets.shape, np.float32)
        for others, held_out in KFold(IMPUTER_FOLDS, shuffle=True, random_state=self.repeat).split(train):
            train[held_out] = told(others, self.train.take(held_out))
        return train, told(np.arange(len(train)), self.test)

    @cached_property
    def metric_x(self) -> tuple[Floats, Floats]:
        """x of training and test rows for methods that measure distances: categories as 0/1, all standardised."""
        encoder = one_hot(self.train.x, self.x_types)
        scaler = StandardScaler().fit(encoder.fit_transform(self.train.x))
        train, test = (scaler.transform(encoder.transform(rows.x)) for rows in (self.train, self.test))
        return train, test

    def asking(self, rows: npt.NDArray[Any]) -> Draw:
        """The same training rows, some of which take the place of the test rows."""
        other = copy.copy(self)
        other.test = self.train.take(rows)
        other.imputed = (self.imputed[0], self.imputed[0][rows])
        other.metric_x = (self.metric_x[0], self.metric_x[0][rows])
        return other


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

    def without(self, held_out: npt.NDArray[Any]) -> Work:
        """The same settings and fewer labels, to be judged on the rows that lost theirs."""
        known = self.known.copy()
        known[held_out] = False
        other = Work(self.draw.asking(held_out), known)
        other.tuned_rounds, other.penalty = self.tuned_rounds, self.penalty
        return other

    @property
    def few_x(self) -> xgb.DMatrix:
        return self.draw.matrix("x", self.few, self.few.y)

    @property
    def all_x(self) -> xgb.DMatrix:
        return self.draw.matrix("x", self.all, self.label)

    @cached_property
    def tuned(self) -> dict[str, Any]:
        """The depth at which plain XGBoost cross-validates best on the labelled rows, by log loss."""
        how = {"nfold": INNER_FOLDS, "stratified": True, "metrics": "logloss", "seed": self.draw.repeat}

        def loss(depth: int) -> float:
            history = xgb.cv({**PARAMS, "max_depth": depth}, self.few_x, ROUNDS, **how)
            return float(history["test-logloss-mean"].iloc[-1])

        return {**PARAMS, "max_depth": min(DEPTHS, key=loss)}

    @cached_property
    def tuned_rounds(self) -> tuple[dict[str, Any], int]:
        """The depth and the number of rounds, likewise."""
        return tuned(PARAMS, self.few_x, self.draw.repeat)

    @cached_property
    def penalty(self) -> float:
        """The C at which ridge regression cross-validates best on the labelled rows, by log loss."""
        how = {"scoring": "neg_log_loss", "cv": INNER_FOLDS, "refit": False}
        search = GridSearchCV(LogisticRegression(max_iter=1000), {"C": RIDGE_C}, **how)
        return float(search.fit(self.draw.metric_x[0][self.known], self.few.y).best_params_["C"])

    @cached_property
    def rival_scores(self) -> dict[str, dict[str, float]]:
        """How the rivals cross-validate on the labelled rows."""
        return cross_validated(self, CHOSEN_AMONG)

    def teacher(self, columns: str, rows: Rows, params: dict[str, Any] = PARAMS, kind: str = "boosted") -> Floats:
        """q of all training rows: of the unlabelled ones the mean of the models of the folds."""
        matrix = self.draw.matrix(columns, rows, self.label)
        return pi_xgb.fit_teacher(params, matrix, ROUNDS, teacher=kind, crossfit=CROSSFIT, labelled=self.known).values

    @cached_property
    def q(self) -> Floats:
        return self.teacher("xz", self.all)

    def taught(self, q: Floats, params: dict[str, Any] = PARAMS) -> Floats:
        """KbPIB on all rows."""
        return self.student(self.all_x, params, teacher=q, kl_weight=KL_WEIGHT, labelled=self.known)

    def student(self, dtrain: xgb.DMatrix, params: dict[str, Any] = PARAMS, **guidance: Any) -> Floats:
        """What the student says of the test rows; the native engine gives the callback's model in less time."""
        engine: Any = "callback" if guidance.get("method") == "jpib" else "native"
        return self.said(pi_xgb.train(params, dtrain, ROUNDS, engine=engine, **guidance))

    def said(self, booster: xgb.Booster) -> Floats:
        return booster.predict(self.draw.matrix("x", self.draw.test))


def tuned(params: dict[str, Any], dtrain: xgb.DMatrix, seed: int) -> tuple[dict[str, Any], int]:
    """The depth and the number of rounds at which plain XGBoost cross-validates best, by log loss."""
    how = {"nfold": INNER_FOLDS, "stratified": True, "metrics": "logloss", "seed": seed}
    stop = {"num_boost_round": MOST_ROUNDS, "early_stopping_rounds": STOPPED_AFTER}
    losses = {}
    for depth in DEPTHS:
        history = xgb.cv({**params, "max_depth": depth}, dtrain, **stop, **how)["test-logloss-mean"]
        losses[depth, int(history.argmin()) + 1] = float(history.min())
    depth, rounds = min(losses, key=losses.__getitem__)
    return {**params, "max_depth": depth}, rounds


def cross_validated(work: Work, rivals: Mapping[str, Callable[[Work], Floats]]) -> dict[str, dict[str, float]]:
    """AUC and log loss of each rival, the means over folds of the labelled rows; held-out rows count as unlabelled."""
    folds = StratifiedKFold(FOLDS, shuffle=True, random_state=work.draw.repeat)
    labelled = np.flatnonzero(work.known)
    parts = [work.without(labelled[held]) for _, held in folds.split(labelled, work.few.y)]
    return {name: mean_scores([(part.draw.test.y, rival(part)) for part in parts]) for name, rival in rivals.items()}


def mean_scores(parts: list[tuple[npt.NDArray[Any], npt.NDArray[Any]]]) -> dict[str, float]:
    """Log loss has its sign turned, so that higher is better in both."""
    auc = [roc_auc_score(y, chance) for y, chance in parts if len(np.unique(y)) == 2]
    loss = [log_loss(y, np.asarray(chance, np.float64), labels=[0, 1]) for y, chance in parts]
    return {"auc": float(np.mean(auc)) if auc else 0.5, "logloss": -float(np.mean(loss))}


def plain(work: Work) -> Floats:
    return work.said(xgb.train(PARAMS, work.few_x, ROUNDS))


def tuned_depth(work: Work) -> Floats:
    return work.said(xgb.train(work.tuned, work.few_x, ROUNDS))


def tuned_depth_and_rounds(work: Work) -> Floats:
    params, rounds = work.tuned_rounds
    return work.said(xgb.train(params, work.few_x, rounds))


def kbpib_labelled(work: Work) -> Floats:
    """The same teacher as with unlabelled rows, for the labelled rows alone."""
    return work.student(work.few_x, teacher=work.q[work.known], kl_weight=KL_WEIGHT)


def kbpib(work: Work) -> Floats:
    return work.taught(work.q)


def kbpib_tuned(work: Work) -> Floats:
    """Teacher and student of the depth that was tuned for plain XGBoost."""
    return work.taught(work.teacher("xz", work.all, work.tuned), work.tuned)


def jpib(work: Work) -> Floats:
    privileged = work.draw.matrix("z", work.all, work.label)
    return work.student(
        work.all_x, privileged=privileged, method="jpib", kl_weight=JOINT_KL_WEIGHT, labelled=work.known
    )


def selected(work: Work, **candidates: Any) -> Floats:
    """The setting that `select` finds on the same rows and labels."""
    keywords = {"privileged": work.draw.matrix("z", work.all, work.label), "labelled": work.known}
    dtrain = work.all_x
    selection = select(PARAMS, dtrain, ROUNDS, progress=False, seed=work.draw.repeat, **candidates, **keywords)
    return work.said(selection.train(dtrain, **keywords))


def taught_by(kind: str, columns: str, work: Work) -> Floats:
    """KbPIB by a teacher of this kind."""
    return work.taught(work.teacher(columns, work.all, kind=kind))


def shuffled_z(work: Work) -> Floats:
    return work.taught(work.teacher("xz", work.draw.shuffled))


def self_training(work: Work, **criterion: Any) -> Floats:
    """scikit-learn's wrapper around the same booster."""
    booster = xgb.XGBClassifier(
        n_estimators=ROUNDS,
        max_depth=PARAMS["max_depth"],
        learning_rate=PARAMS["eta"],
        n_jobs=1,
        feature_types=list(work.draw.x_types),
        enable_categorical=True,
    )
    if work.known.all():
        return booster.fit(work.all.x, work.all.y).predict_proba(work.draw.test.x)[:, 1]
    wrapped = SelfTrainingClassifier(booster, max_iter=SELF_TRAINING_STEPS, **criterion)
    return wrapped.fit(work.all.x, np.where(work.known, work.label, -1)).predict_proba(work.draw.test.x)[:, 1]


def self_training_threshold(work: Work) -> Floats:
    return self_training(work, threshold=THRESHOLD)


def self_training_k_best(work: Work) -> Floats:
    """A tenth of the unlabelled rows in each of the ten steps."""
    k_best = max(1, int((~work.known).sum()) // SELF_TRAINING_STEPS)
    return self_training(work, criterion="k_best", k_best=k_best)


def label_spreading(work: Work) -> Floats:
    train, test = work.draw.metric_x
    spreading = LabelSpreading(kernel="rbf", gamma=SPREADING_WIDTH / train.shape[1], max_iter=100)
    return spreading.fit(train, np.where(work.known, work.label, -1)).predict_proba(test)[:, 1]


def ridge(work: Work) -> Floats:
    """Logistic regression on the labelled rows, its penalty chosen by inner cross-validation on log loss."""
    train, test = work.draw.metric_x
    model = LogisticRegression(C=work.penalty, max_iter=1000)
    return model.fit(train[work.known], work.few.y).predict_proba(test)[:, 1]


def forest(work: Work, **settings: Any) -> Floats:
    """scikit-learn's, on the labelled rows."""
    train, test = work.draw.metric_x
    model = RandomForestClassifier(**{**FOREST, "random_state": work.draw.repeat, **settings})
    return model.fit(train[work.known], work.few.y).predict_proba(test)[:, 1]


def ebm(work: Work, **settings: Any) -> Floats:
    """The explainable boosting machine of interpret, on the labelled rows."""
    from interpret.glassbox import ExplainableBoostingClassifier

    types = interpret_types(list(work.draw.x_types))
    model = ExplainableBoostingClassifier(feature_types=types, **{**EBM, "random_state": work.draw.repeat, **settings})
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Missing values detected")  # it concerns the plots alone
        return model.fit(work.few.x, work.few.y).predict_proba(work.draw.test.x)[:, 1]


def chosen_rival(measure: str, work: Work) -> Floats:
    """The rival that cross-validates best on the labelled rows, trained on all of them."""
    scores = work.rival_scores
    return METHODS[max(scores, key=lambda name: scores[name][measure])](work)


def imputed_z(work: Work) -> Floats:
    """Plain XGBoost on x and what x says of z."""
    draw, (train, test) = work.draw, work.draw.imputed
    types = [*draw.x_types, *"q" * train.shape[1]]

    def matrix(rows: Rows, z: Floats, label: npt.NDArray[Any] | None = None) -> xgb.DMatrix:
        return xgb.DMatrix(np.hstack([rows.x, z]), label, feature_types=types, enable_categorical=True, nthread=1)

    booster = xgb.train(PARAMS, matrix(work.few, train[work.known], work.few.y), ROUNDS)
    return booster.predict(matrix(draw.test, test))


def all_labels(work: Work) -> Floats:
    return work.draw.all_labels


def z_known(work: Work) -> Floats:
    """Trained on the labelled rows with x and z, and z is there at prediction."""
    booster = xgb.train(PARAMS, work.draw.matrix("xz", work.few, work.few.y), ROUNDS)
    return booster.predict(work.draw.matrix("xz", work.draw.test))


PLAIN, KBPIB, JPIB, ON_X, SELF_TRAINING = "plain", "KbPIB", "JPIB", "teacher on x", "self-training .75"
KBPIB_LABELLED, ALL_LABELS, SELECT = "KbPIB labelled only", "all labels known", "select"
DEPTH_TUNED, KBPIB_TUNED = "depth tuned", "KbPIB depth tuned"
SELECT_BOOSTED = "select boosted"
MIXED, FOREST_TEACHER, LINEAR_TEACHER, MIXED_ON_X = "mixed", "forest", "linear", "mixed on x"
RIDGE_RIVAL, FOREST_RIVAL = "ridge regression on x", "random forest on x"
TUNED, EBM_RIVAL, SPREADING, IMPUTED = "depth and rounds tuned", "EBM on x", "label spreading", "z imputed"
CHOSEN_BY_AUC, CHOSEN_BY_LOSS = "best rival by AUC", "best rival by log loss"
CHOSEN_AMONG: dict[str, Callable[[Work], Floats]] = {
    PLAIN: plain,
    TUNED: tuned_depth_and_rounds,
    RIDGE_RIVAL: ridge,
    FOREST_RIVAL: partial(forest, n_estimators=CV_TREES),
    EBM_RIVAL: partial(ebm, outer_bags=CV_BAGS),
    SPREADING: label_spreading,
    IMPUTED: imputed_z,
}
"""How the rivals are cross-validated that one is chosen from. Both self-trainings are behind plain XGBoost."""
METHODS: dict[str, Callable[[Work], Floats]] = {
    PLAIN: plain,
    KBPIB_LABELLED: kbpib_labelled,
    KBPIB: kbpib,
    JPIB: jpib,
    MIXED: partial(taught_by, "mixed", "xz"),
    FOREST_TEACHER: partial(taught_by, "forest", "xz"),
    LINEAR_TEACHER: partial(taught_by, "linear", "xz"),
    MIXED_ON_X: partial(taught_by, "mixed", "x"),
    SELECT: selected,
    SELECT_BOOSTED: partial(selected, teacher="boosted", teacher_sees="all", crossfit=CROSSFIT),
    ON_X: partial(taught_by, "boosted", "x"),
    "z shuffled": shuffled_z,
    DEPTH_TUNED: tuned_depth,
    RIDGE_RIVAL: ridge,
    FOREST_RIVAL: forest,
    TUNED: tuned_depth_and_rounds,
    EBM_RIVAL: ebm,
    CHOSEN_BY_AUC: partial(chosen_rival, "auc"),
    CHOSEN_BY_LOSS: partial(chosen_rival, "logloss"),
    KBPIB_TUNED: kbpib_tuned,
    SELF_TRAINING: self_training_threshold,
    "self-training k best": self_training_k_best,
    SPREADING: label_spreading,
    IMPUTED: imputed_z,
    ALL_LABELS: all_labels,
    "z known at prediction": z_known,
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
