"""What bad input gets: one error before any training, and nothing of the user's objects changed.

Each case is a line of one table: what is wrong, who must notice, and which words the message must have: what was
expected, what came, and what to do.
"""

from __future__ import annotations

import copy
import re
import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import pytest
import xgboost as xgb

import pi_xgb

N_ROWS = 40
QUIET = {"nthread": 1, "verbosity": 0}


class Recorder(xgb.callback.TrainingCallback):
    """A user's callback that knows whether a training got under way."""

    def __init__(self) -> None:
        super().__init__()
        self.calls: list[str] = []

    def before_training(self, model: Any) -> Any:
        self.calls.append("before_training")
        return model

    def after_iteration(self, model: Any, epoch: int, evals_log: Any) -> bool:
        self.calls.append("after_iteration")
        return False


class Bench:
    """A correct call of each public function, to be spoilt in one place."""

    def __init__(self, objective: str = "binary:logistic") -> None:
        rng = np.random.default_rng(0)
        hidden = rng.normal(size=N_ROWS)
        self.x = pd.DataFrame({"x0": hidden + rng.normal(size=N_ROWS), "x1": rng.normal(size=N_ROWS)})
        self.z = pd.DataFrame({"z0": hidden, "z1": rng.normal(size=N_ROWS)})
        self.y = (hidden > 0).astype(float)
        self.q: Any = 1 / (1 + np.exp(-hidden))
        self.params: Any = {**QUIET, "objective": objective, "max_depth": 2}
        if objective.startswith("multi"):
            self.params["num_class"] = 3
            self.y = np.digitize(hidden, [-0.5, 0.5]).astype(float)
            self.q = rng.dirichlet(np.ones(3), size=N_ROWS)
        self.dtrain: Any = xgb.DMatrix(self.x, self.y)
        self.privileged: Any = xgb.DMatrix(self.z, self.y)
        self.rounds: Any = 3
        self.teaching: dict[str, Any] = {}
        self.more: dict[str, Any] = {}
        self.recorder = Recorder()
        self.evals: Any = [(xgb.DMatrix(self.x, self.y), "valid")]
        self.evals_result: dict[str, Any] = {}

    def with_teacher(self) -> dict[str, Any]:
        return {"teacher": self.q, **self.teaching}

    def with_privileged(self) -> dict[str, Any]:
        return {"privileged": self.privileged, **self.teaching}

    def train(self, teaching: dict[str, Any]) -> Any:
        return pi_xgb.train(
            self.params,
            self.dtrain,
            self.rounds,
            evals=self.evals,
            evals_result=self.evals_result,
            callbacks=[self.recorder],
            verbose_eval=False,
            **teaching,
            **self.more,
        )

    def cv(self, teaching: dict[str, Any]) -> Any:
        return pi_xgb.cv(self.params, self.dtrain, self.rounds, callbacks=[self.recorder], **teaching, **self.more)

    def kl_objective(self) -> Any:
        objective = pi_xgb.KLObjective(
            self.q, objective=dict(self.params).get("objective"), **{**self.teaching, **self.more}
        )
        return xgb.train(self.params, self.dtrain, self.rounds, obj=objective, callbacks=[AfterOnly(self.recorder)])

    def joint_objective(self) -> Any:
        objective = pi_xgb.JointObjective(self.privileged, params=self.params, **{**self.teaching, **self.more})
        return xgb.train(self.params, self.dtrain, self.rounds, obj=objective, callbacks=[AfterOnly(self.recorder)])

    def fit_teacher(self) -> Any:
        return pi_xgb.fit_teacher(self.params, self.privileged, self.rounds, **self.teaching, **self.more)

    CALLS: dict[str, Callable[[Bench], Any]]


# Ways to ask for a guided training. The first six must notice before anything is trained at all. With
# xgboost.train(obj=...) XGBoost makes its booster first; there no round may pass.
Bench.CALLS = {
    "train": lambda b: b.train(b.with_teacher()),
    "train kbpib": lambda b: b.train(b.with_privileged()),
    "train crossfit": lambda b: b.train({**b.with_privileged(), "crossfit": 2}),
    "train jpib": lambda b: b.train({**b.with_privileged(), "method": "jpib"}),
    "train native": lambda b: b.train({**b.with_teacher(), "engine": "native"}),
    "cv": lambda b: b.cv(b.with_teacher()),
    "cv kbpib": lambda b: b.cv(b.with_privileged()),
    "cv jpib": lambda b: b.cv({**b.with_privileged(), "method": "jpib"}),
    "fit_teacher": Bench.fit_teacher,
    "KLObjective": Bench.kl_objective,
    "JointObjective": Bench.joint_objective,
}
Q = ("train", "cv", "KLObjective")
PRIVILEGED = ("train kbpib", "train crossfit", "train jpib", "cv kbpib", "cv jpib")
TRAIN_AND_CV = ("train", "train kbpib", "train jpib", "cv", "cv kbpib", "cv jpib")
ALL = (*TRAIN_AND_CV, "train crossfit", "KLObjective", "JointObjective")


class AfterOnly(xgb.callback.TrainingCallback):
    """Passes on only that a round has passed."""

    def __init__(self, recorder: Recorder) -> None:
        super().__init__()
        self.recorder = recorder

    def after_iteration(self, model: Any, epoch: int, evals_log: Any) -> bool:
        return self.recorder.after_iteration(model, epoch, evals_log)


class Case(NamedTuple):
    name: str
    where: tuple[str, ...]
    spoil: Callable[[Bench], Any]
    error: type[Exception]
    words: tuple[str, ...]
    objective: str = "binary:logistic"
    at_first_gradient: bool = False
    """Whether nothing can be known before the student asks for its first gradient."""


def set_to(**attributes: Any) -> Callable[[Bench], None]:
    """Replace what the bench would give; a callable is asked for its value."""

    def spoil(bench: Bench) -> None:
        for name, value in attributes.items():
            setattr(bench, name, value(bench) if callable(value) else value)

    return spoil


def guided_by(**keywords: Any) -> Callable[[Bench], None]:
    return set_to(teaching=keywords)


def also(**keywords: Any) -> Callable[[Bench], None]:
    return set_to(more=keywords)


def params(**more: Any) -> Callable[[Bench], None]:
    return lambda b: b.params.update(more)


def spoilt_weights(weights: np.ndarray) -> Callable[[Bench], None]:
    """XGBoost raises on these, and keeps them: a user who goes on after the error trains with them."""

    def spoil(bench: Bench) -> None:
        for name in ("dtrain", "privileged"):
            try:
                getattr(bench, name).set_weight(weights)
            except xgb.core.XGBoostError:
                continue

    return spoil


def with_labels(label: Callable[[np.ndarray], np.ndarray]) -> Callable[[Bench], None]:
    def spoil(bench: Bench) -> None:
        for name in ("dtrain", "privileged"):
            try:
                getattr(bench, name).set_label(label(bench.y))
            except (xgb.core.XGBoostError, ValueError):
                continue

    return spoil


def one_row_changed(value: float) -> Callable[[np.ndarray], np.ndarray]:
    def change(values: np.ndarray) -> np.ndarray:
        changed = np.array(values, dtype=np.float64)
        changed.reshape(-1)[7] = value
        return changed

    return change


def q_changed(value: float) -> Callable[[Bench], None]:
    return set_to(q=lambda b: one_row_changed(value)(b.q))


def empty_matrices(bench: Bench) -> None:
    bench.dtrain, bench.privileged = xgb.DMatrix(bench.x[:0], bench.y[:0]), xgb.DMatrix(bench.z[:0], bench.y[:0])
    bench.q = bench.q[:0]


def unlabelled(bench: Bench) -> None:
    bench.dtrain, bench.privileged = xgb.DMatrix(bench.x), xgb.DMatrix(bench.z)


class OneForAll(pi_xgb.Teacher):
    """A teacher that wants the same mean everywhere."""

    def __init__(self, value: float, is_adaptive: bool) -> None:
        self.value, self.is_adaptive = value, is_adaptive

    def q(self, mean: np.ndarray, label: np.ndarray, weight: np.ndarray | None) -> np.ndarray:
        return np.full_like(mean, self.value)

    def subset(self, rows: np.ndarray) -> OneForAll:
        return self


SAME_TABLE = "same table.*same order"
CASES = [
    # Different row counts.
    Case(
        "fewer privileged rows",
        (*PRIVILEGED, "JointObjective"),
        set_to(privileged=lambda b: xgb.DMatrix(b.z[:-3], b.y[:-3])),
        ValueError,
        ("rows of dtrain", "dtrain has 40 rows", "privileged has 37", SAME_TABLE),
    ),
    # Labels that disagree.
    Case(
        "labels disagree",
        (*PRIVILEGED, "JointObjective"),
        set_to(privileged=lambda b: xgb.DMatrix(b.z, 1 - b.y)),
        ValueError,
        ("labels of dtrain", "disagree in 40 rows", "row 0", SAME_TABLE),
    ),
    Case(
        "one label disagrees",
        (*PRIVILEGED, "JointObjective"),
        set_to(privileged=lambda b: xgb.DMatrix(b.z, one_row_changed(1 - b.y[7])(b.y))),
        ValueError,
        ("disagree in 1 rows", "row 7", SAME_TABLE),
    ),
    # Binary labels outside [0, 1].
    Case(
        "label -1",
        (*ALL, "fit_teacher", "train native"),
        with_labels(lambda y: 2 * y - 1),
        ValueError,
        (r"\[0, 1\]", r"from -1\.0 to 1\.0", "0 and 1"),
    ),
    Case(
        "label 2",
        (*ALL, "fit_teacher"),
        with_labels(lambda y: y + 1),
        ValueError,
        (r"\[0, 1\]", r"from 1\.0 to 2\.0", "multi:softprob"),
    ),
    # Classes outside 0 .. K - 1.
    *(
        Case(
            f"class {value}",
            (*ALL, "fit_teacher"),
            with_labels(one_row_changed(value)),
            ValueError,
            ("whole numbers 0 to 2", r"num_class.* 3", rf"got values from .*{value}|to 2\.0", "encode the classes"),
            objective,
        )
        for objective in ("multi:softprob", "multi:softmax")
        for value in (3.0, -1.0, 1.5)
    ),
    # Labels that are no numbers, which XGBoost refuses and keeps.
    Case(
        "an infinite label",
        (*ALL, "fit_teacher"),
        with_labels(one_row_changed(np.inf)),
        ValueError,
        ("labels of", "finite", "inf"),
        "reg:squarederror",
    ),
    Case(
        "no num_class",
        (*TRAIN_AND_CV, "fit_teacher", "JointObjective"),
        lambda b: b.params.pop("num_class"),
        ValueError,
        ("num_class", "at least 2", "None"),
        "multi:softprob",
    ),
    # q of wrong length.
    *(
        Case(f"q of {rows} rows", Q, set_to(q=lambda b, rows=rows: np.resize(b.q, rows)), ValueError, words)
        for rows, words in (
            (39, (r"39", "40", "order")),
            (41, (r"41", "40", "order")),
            (80, (r"80", "40", "order")),
            (1, (r"\b1\b", "40", "order")),
        )
    ),
    Case("q of no rows", Q, set_to(q=np.empty(0)), ValueError, ("empty", "one value per row")),
    Case(
        "q of wrong length at kl_weight 0",
        ("train", "cv"),
        lambda b: (set_to(q=lambda b: b.q[:-1])(b), guided_by(kl_weight=0)(b)),
        ValueError,
        ("39", "40"),
    ),
    Case(
        "a silent q of wrong length in a list",
        ("train", "cv"),
        set_to(q=lambda b: [(b.q, 1.0), (b.q[:-1], 0.0)]),
        ValueError,
        ("39", "40"),
    ),
    # q of wrong shape.
    Case(
        "q with two columns for binary",
        (*Q, "train native"),
        set_to(q=lambda b: np.stack([1 - b.q, b.q], axis=1)),
        ValueError,
        (r"\(\d+, 2\)", r"\(\d+,\)"),
    ),
    Case(
        "q with one column for classes",
        Q,
        set_to(q=lambda b: b.q[:, 0]),
        ValueError,
        (r"\(\d+,\)", r"\(\d+, 3\)"),
        "multi:softprob",
    ),
    Case(
        "q with too few columns",
        Q,
        set_to(q=lambda b: b.q[:, :2] / b.q[:, :2].sum(axis=1, keepdims=True)),
        ValueError,
        (r"\(\d+, 2\)", r"\(\d+, 3\)"),
        "multi:softmax",
    ),
    Case("q with three axes", Q, set_to(q=lambda b: b.q[:, None, None]), ValueError, ("shape", r"\(40, 1, 1\)", "row")),
    Case("q as a number", Q, set_to(q=0.5), TypeError, ("one value per row", r"0\.5")),
    # q of wrong dtype.
    *(
        Case(
            f"q of {name}", Q, set_to(q=lambda b, cast=cast: cast(b.q)), TypeError, ("numbers", seen, "one probability")
        )
        for name, cast, seen in (
            ("strings", lambda q: q.astype(str), r"'0\."),
            ("objects", lambda q: np.array([{}, *q[1:]], dtype=object), "{}"),
            ("complex numbers", lambda q: q.astype(complex), "complex"),
            ("dates", lambda q: pd.to_datetime(q).to_numpy(), "datetime"),
        )
    ),
    # q with NaN, or outside [0, 1].
    Case("q with NaN", Q, q_changed(np.nan), ValueError, ("1 NaN", "every row")),
    Case("q with NaN, squared error", Q, q_changed(np.nan), ValueError, ("1 NaN", "every row"), "reg:squarederror"),
    Case("q with NaN, classes", Q, q_changed(np.nan), ValueError, ("NaN", "every row"), "multi:softprob"),
    *(
        Case(f"q of {value}", Q, q_changed(value), ValueError, (r"\[0, 1\]", seen, "probabilities"), objective)
        for value, seen in ((1.5, r"1\.5"), (-0.5, r"-0\.5"), (np.inf, "inf"), (-np.inf, "-inf"), (100, r"100"))
        for objective in ("binary:logistic", "multi:softprob", "multi:softmax")
    ),
    *(
        Case(f"q of {value}, squared error", Q, q_changed(value), ValueError, ("finite", "inf"), "reg:squarederror")
        for value in (np.inf, -np.inf, 1e300)
    ),
    Case(
        "q whose classes do not sum to 1",
        Q,
        set_to(q=lambda b: b.q / 2),
        ValueError,
        ("sum to 1", "probability of each class"),
        "multi:softprob",
    ),
    *(
        Case(
            f"own teacher says {value}, is_adaptive={follows}",
            Q,
            set_to(q=OneForAll(value, follows)),
            ValueError,
            words,
            at_first_gradient=follows,
        )
        for value, words in (
            (np.nan, ("NaN", "OneForAll")),
            (np.inf, ("infinite|finite|inf", "OneForAll")),
            (7.0, (r"\[0, 1\]", "7", "OneForAll")),
        )
        for follows in (False, True)
    ),
    # kl_weight.
    *(
        Case(
            f"kl_weight {value}",
            (*ALL, "train native"),
            guided_by(kl_weight=value),
            ValueError,
            ("kl_weight", "finite and at least 0", seen, "0 trains without"),
        )
        for value, seen in ((-0.1, r"-0\.1"), (float("nan"), "nan"), (float("inf"), "inf"), (-np.inf, "-inf"))
    ),
    *(
        Case(f"kl_weight {value!r}", ALL, guided_by(kl_weight=value), TypeError, ("kl_weight", "number", seen))
        for value, seen in (
            ("0.5", "0"),
            (True, "True"),
            (np.True_, "True"),
            (np.complex128(1), "1"),
        )
    ),
    Case("kl_weight None", ALL, guided_by(kl_weight=None), TypeError, ("kl_weight", "number", "None")),
    Case(
        "kl_weight as a list outside cv",
        ("train", "train kbpib", "train jpib", "KLObjective", "JointObjective"),
        guided_by(kl_weight=[0.1, 1.0]),
        TypeError,
        ("kl_weight.*one number.*2", "teacher_weight="),
    ),
    Case("kl_weight empty in cv", ("cv",), guided_by(kl_weight=[]), ValueError, ("kl_weight", "empty", "at least one")),
    Case("kl_weight twice in cv", ("cv",), guided_by(kl_weight=[1, 1.0]), ValueError, ("kl_weight", "twice")),
    Case(
        "kl_weight bad in a grid",
        ("cv",),
        guided_by(kl_weight=[0.1, -1]),
        ValueError,
        ("kl_weight", "at least 0", "-1"),
    ),
    *(
        Case(
            f"kl_weight {value} next to weights in a list",
            where,
            lambda b, value=value: (set_to(q=lambda b: [(b.q, 1.0)])(b), guided_by(kl_weight=value)(b)),
            ValueError,
            words,
        )
        for value, where, words in (
            (0.3, Q, ("has its own weights", r"kl_weight=0\.3", "leave it out")),
            (0, Q, ("has its own weights", r"kl_weight=0", "leave it out")),
            ([0.1, 0.3], ("cv",), ("kl_weight", "list", "own weights")),
            ([0.0, 0.5], ("cv",), ("kl_weight", "list", "own weights")),
        )
    ),
    *(
        Case(
            f"weight {value!r} in a list",
            Q,
            set_to(q=lambda b, value=value: [(b.q, 1.0), (b.q, value)]),
            error,
            ("weight", "list", repr(value)),
        )
        for value, error in ((-1.0, ValueError), (float("nan"), ValueError), ("1", TypeError), (None, TypeError))
    ),
    # A column name in both matrices.
    Case(
        "a column in both",
        PRIVILEGED,
        set_to(privileged=lambda b: xgb.DMatrix(b.z.rename(columns={"z1": "x1"}), b.y)),
        ValueError,
        (r"\['x1'\]", "dtrain and in privileged", "drop", "allow_overlap=True"),
    ),
    # An objective that is not in the list.
    *(
        Case(
            f"objective {objective}",
            (*TRAIN_AND_CV, "fit_teacher", "KLObjective", "JointObjective"),
            params(objective=objective),
            ValueError,
            ("binary:logistic", "reg:squarederror", "multi:softprob", "multi:softmax", objective, "objective"),
        )
        for objective in ("binary:hinge", "survival:cox", "binary:logistics")
    ),
    # obj= given as well.
    Case(
        "obj as well",
        TRAIN_AND_CV,
        also(obj=lambda margin, dtrain: (margin, margin)),
        ValueError,
        ("obj", "teacher", r"params\['objective'\]", "without a teacher"),
    ),
    # Both privileged and teacher.
    Case(
        "privileged and teacher",
        ("train", "cv"),
        lambda b: guided_by(privileged=b.privileged)(b),
        ValueError,
        ("privileged and teacher", "both", "got ndarray", "pairs such as \\["),
    ),
    # An empty DMatrix.
    Case(
        "no rows",
        (*ALL, "fit_teacher"),
        empty_matrices,
        ValueError,
        ("no rows|has 0 rows|empty", "train|value"),
    ),
    *(
        Case(
            f"no columns of {name}",
            where,
            lambda b, name=name: setattr(b, name, xgb.DMatrix(np.empty((N_ROWS, 0)), b.y)),
            ValueError,
            ("has no columns", "nothing to learn from"),
        )
        for name, where in (
            ("dtrain", (*TRAIN_AND_CV, "train crossfit")),
            ("privileged", (*PRIVILEGED, "fit_teacher", "JointObjective")),
        )
    ),
    Case(
        "no labels", (*ALL, "fit_teacher"), unlabelled, ValueError, ("label", "per row|labels", "40", "label=y|label")
    ),
    Case(
        "labels of several targets",
        TRAIN_AND_CV,
        set_to(
            dtrain=lambda b: xgb.DMatrix(b.x, np.stack([b.y, b.y], axis=1)),
            params={"objective": "multi:softprob", "num_class": 2},
        ),
        ValueError,
        ("2 labels per row", "reg:squarederror, .*reg:gamma", "multi:softprob", "one model for each"),
    ),
    # Weights that are negative or of wrong length.
    Case(
        "negative weights",
        (*ALL, "fit_teacher"),
        spoilt_weights(one_row_changed(-1)(np.ones(N_ROWS))),
        ValueError,
        ("weights of", "finite and at least 0", r"-1"),
    ),
    Case(
        "weights with NaN",
        (*ALL, "fit_teacher"),
        spoilt_weights(one_row_changed(np.nan)(np.ones(N_ROWS))),
        ValueError,
        ("weights of", "finite and at least 0", "nan"),
    ),
    Case(
        "too few weights",  # under obj= XGBoost itself refuses them before it asks for a gradient
        (*TRAIN_AND_CV, "train crossfit", "JointObjective", "fit_teacher"),
        spoilt_weights(np.ones(N_ROWS - 1)),
        ValueError,
        ("39 weights", "40 rows", "one weight per row"),
    ),
    Case(
        "weights that are all 0",
        TRAIN_AND_CV,
        spoilt_weights(np.zeros(N_ROWS)),
        ValueError,
        ("weights of dtrain", "all 0", "at least one row"),
    ),
    Case(
        "weights of privileged differ",
        PRIVILEGED,
        lambda b: b.privileged.set_weight(np.full(N_ROWS, 2.0)),
        ValueError,
        ("weights of privileged", "weights of dtrain"),
    ),
    Case(
        "scale_pos_weight negative",
        ALL[:6],
        params(scale_pos_weight=-1),
        ValueError,
        ("scale_pos_weight", "-1", "(?!.*weighs teacher)"),
    ),
    Case(
        "scale_pos_weight as a word",
        ALL[:6],
        params(scale_pos_weight="balanced"),
        TypeError,
        ("scale_pos_weight", "number", "'balanced'"),
    ),
    # A teacher that ends with 0 rounds.
    Case(
        "a teacher of 0 rounds",
        (*PRIVILEGED, "fit_teacher"),
        set_to(rounds=0),
        ValueError,
        ("got 0", "num_boost_round", "at least 1"),
    ),
    # Names of XGBoost's params as keywords, well spelt or not; misspelt keywords of train.
    *(
        Case(f"keyword {name}", ("train", "cv"), also(**{name: 1}), TypeError, (name, "params", r"\{'" + name))
        for name in ("max_depth", "max_dept", "eta", "learning_rat", "tree_method", "subsmaple", "eval_metric")
    ),
    *(
        Case(f"keyword {name}", where, also(**{name: 1}), TypeError, (f"'{name}'", f"did you mean '{meant}'"))
        for name, meant, where in (
            ("early_stopping_round", "early_stopping_rounds", ("train", "cv")),
            ("kl_weigth", "kl_weight", ("train", "cv")),
            ("previleged", "privileged", ("train", "cv")),
            ("num_boost_rounds", "num_boost_round", ("train", "cv")),
            ("callback", "callbacks", ("train", "cv")),
            ("n_fold", "nfold", ("cv",)),
        )
    ),
    Case("keyword feval", ("train", "cv"), also(feval=len), TypeError, ("'feval'", "'custom_metric'")),
    # The names of the paper.
    Case(
        "kl_weight in params",
        (*TRAIN_AND_CV, "fit_teacher", "JointObjective"),
        params(kl_weight=1.0),
        ValueError,
        ("kl_weight", "params", "keyword", r"kl_weight="),
    ),
    Case(
        "alpha as a keyword",
        ("train", "cv"),
        also(alpha=0.5),
        TypeError,
        ("'alpha'", "paper", "kl_weight", "L1", "params"),
    ),
    # What is no matrix, no teacher, no method.
    Case(
        "privileged as a DataFrame",
        (*PRIVILEGED, "fit_teacher", "JointObjective"),
        set_to(privileged=lambda b: b.z),
        TypeError,
        ("privileged", "xgboost.DMatrix", "DataFrame", r"xgboost.DMatrix\(data, label=y\)"),
    ),
    Case(
        "dtrain as an array",
        TRAIN_AND_CV,
        set_to(dtrain=lambda b: b.x.to_numpy()),
        TypeError,
        ("dtrain", "xgboost.DMatrix", "ndarray"),
    ),
    Case(
        "teacher as a DMatrix",
        Q,
        set_to(q=lambda b: b.privileged),
        TypeError,
        ("teacher", "array", "DMatrix", "privileged="),
    ),
    Case(
        "teacher as a model without data",
        Q,
        set_to(q=lambda b: len),
        TypeError,
        ("teacher must come with its data", "builtin_function", "ModelTeacher", "fit_teacher"),
    ),
    Case(
        "teacher as an unknown word",
        ("train", "cv"),
        set_to(q="kbpib"),
        ValueError,
        ("teacher must be one of", "'boosted', 'forest', 'linear', 'mixed'", "kbpib"),
    ),
    Case(
        "teacher as a word outside train and cv",
        ("KLObjective",),
        set_to(q="boosted"),
        TypeError,
        ("teacher must be an array of q", "'boosted'", "fit_teacher"),
    ),
    Case(
        "method unknown",
        TRAIN_AND_CV[1:2] + TRAIN_AND_CV[4:5],
        guided_by(method="jpip"),
        ValueError,
        ("method", "'kbpib', 'jpib'", "'jpip'"),
    ),
    Case(
        "engine unknown",
        ("train",),
        guided_by(engine="cuda"),
        ValueError,
        ("engine", "'auto', 'callback', 'native'", "'cuda'"),
    ),
    # Keywords that nobody would read.
    *(
        Case(
            f"{name} without privileged", ("train", "cv"), guided_by(**{name: value}), ValueError, (name, "privileged=")
        )
        for name, value in (
            ("method", "jpib"),
            ("crossfit", 3),
            ("teacher_params", {}),
            ("allow_overlap", True),
        )
    ),
    Case(
        "privileged_evals without privileged",
        ("train",),
        guided_by(privileged_evals=[]),
        ValueError,
        ("privileged_evals", "privileged="),
    ),
    Case(
        "crossfit with jpib",
        ("train jpib", "cv jpib"),
        guided_by(crossfit=3),
        ValueError,
        ("jpib", "crossfit", "not supported"),
    ),
    Case(
        "privileged_evals with jpib",
        ("train jpib",),
        lambda b: guided_by(privileged_evals=[(b.privileged, "v")])(b),
        ValueError,
        ("jpib", "privileged_evals", "not supported"),
    ),
    # crossfit.
    *(
        Case(
            f"crossfit {value!r}",
            ("train kbpib", "cv kbpib", "fit_teacher"),
            guided_by(crossfit=value),
            error,
            ("crossfit", repr(value)),
        )
        for value, error in (
            (1, ValueError),
            (-1, ValueError),
            (41, ValueError),
            (2.5, TypeError),
            ("3", TypeError),
            (True, TypeError),
        )
    ),
    # teacher_params that contradict the student's.
    Case(
        "another objective for the teacher",
        ("train kbpib", "train jpib", "cv kbpib", "cv jpib"),
        guided_by(teacher_params={**QUIET, "objective": "reg:squarederror"}),
        ValueError,
        ("share", "objective", "teacher_params", "binary:logistic", "reg:squarederror"),
    ),
    Case(
        "another num_class for the teacher",
        ("train kbpib", "train jpib", "cv kbpib", "cv jpib"),
        guided_by(teacher_params={**QUIET, "num_class": 4}),
        ValueError,
        ("num_class", "teacher_params", "3", "4"),
        "multi:softprob",
    ),
    Case(
        "kl_weight in teacher_params",
        ("train kbpib", "train jpib", "cv kbpib"),
        guided_by(teacher_params={**QUIET, "kl_weight": 1.0}),
        ValueError,
        ("kl_weight", "params", "keyword"),
    ),
    Case(
        "dart in jpib",
        ("train jpib", "cv jpib", "JointObjective"),
        params(booster="dart"),
        ValueError,
        ("dart", "gbtree", "kbpib"),
    ),
    # Validation rows of the teacher.
    Case(
        "privileged_evals without labels",
        ("train kbpib",),
        lambda b: guided_by(privileged_evals=[(xgb.DMatrix(b.z), "hidden")], early_stopping_rounds=2)(b),
        ValueError,
        ("privileged_evals", "'hidden'", "label"),
    ),
    Case(
        "privileged_evals without early stopping",
        ("train kbpib",),
        lambda b: guided_by(privileged_evals=[(b.privileged, "hidden")])(b),
        ValueError,
        ("privileged_evals", "early_stopping_rounds"),
    ),
    # The student's own keywords, wrong: before the teacher is trained.
    Case(
        "a metric by name",
        ("train", "train kbpib", "train jpib", "cv", "cv kbpib"),
        also(custom_metric="auc"),
        TypeError,
        ("custom_metric", "function", "'auc'", r"params\['eval_metric'\]"),
    ),
    Case(
        "evals that are a matrix",
        ("train kbpib", "train jpib"),
        set_to(evals=lambda b: b.privileged),
        TypeError,
        ("evals must be a list of pairs", "DMatrix", "evals=\\[\\(dvalid, 'valid'\\)\\]"),
    ),
    Case(
        "privileged_evals that are no matrix",
        ("train kbpib",),
        lambda b: guided_by(privileged_evals=[(b.z, "hidden")], early_stopping_rounds=2)(b),
        TypeError,
        ("privileged_evals 'hidden' must be an xgboost.DMatrix, got DataFrame",),
    ),
    Case(
        "privileged_evals without names",
        ("train kbpib",),
        lambda b: guided_by(privileged_evals=[b.privileged], early_stopping_rounds=2)(b),
        TypeError,
        ("privileged_evals must be a list of pairs", "DMatrix"),
    ),
    # cv.
    Case(
        "QuantileDMatrix in cv",
        ("cv", "cv kbpib", "cv jpib"),
        set_to(dtrain=lambda b: xgb.QuantileDMatrix(b.x, b.y)),
        TypeError,
        ("QuantileDMatrix", "folds", "DMatrix"),
    ),
    Case(
        "privileged QuantileDMatrix in cv",
        ("cv kbpib", "cv jpib"),
        set_to(privileged=lambda b: xgb.QuantileDMatrix(b.z, b.y)),
        TypeError,
        ("QuantileDMatrix", "folds", "DMatrix"),
    ),
    Case(
        "QuantileDMatrix with crossfit",
        ("train crossfit",),
        set_to(privileged=lambda b: xgb.QuantileDMatrix(b.z, b.y)),
        TypeError,
        ("QuantileDMatrix", "folds", "crossfit"),
    ),
    Case(
        "groups in cv",
        ("cv", "cv kbpib", "cv jpib"),
        lambda b: b.dtrain.set_group([10, 10, 20]),
        ValueError,
        ("group", "cv"),
    ),
    *(
        Case(f"n_jobs {value!r}", ("cv",), also(n_jobs=value), error, ("n_jobs", words, repr(value)))
        for value, error, words in (
            (0, ValueError, "at least 1"),
            (-1, ValueError, "at least 1"),
            (1.5, TypeError, "whole number"),
            (True, TypeError, "whole number"),
        )
    ),
]
TABLE = [(case, where) for case in CASES for where in case.where]


def fingerprint(value: Any) -> Any:
    """What a training might change of a user's object."""
    if isinstance(value, xgb.DMatrix):
        fields = ("label", "weight", "base_margin", "label_lower_bound", "label_upper_bound")
        return [value.get_float_info(name).tobytes() for name in fields], value.feature_names, value.num_row()
    if isinstance(value, (list, tuple)):
        return [fingerprint(item) for item in value]
    if isinstance(value, dict):
        return {key: fingerprint(item) for key, item in value.items()}
    if isinstance(value, xgb.Booster):
        return bytes(value.save_raw("json"))
    if isinstance(value, np.ndarray):
        return value.tobytes()
    if isinstance(value, pd.DataFrame):
        return value.to_numpy().tobytes()
    return value if isinstance(value, pi_xgb.Teacher) or callable(value) else copy.deepcopy(value)


def owned_by_user(bench: Bench) -> dict[str, Any]:
    names = ("params", "dtrain", "privileged", "q", "teaching", "more", "evals", "evals_result", "x", "y", "z")
    return {name: fingerprint(getattr(bench, name)) for name in names}


def watch_rounds(monkeypatch: pytest.MonkeyPatch, rounds: list[str], *, completed_only: bool) -> None:
    """Note every round of any booster: when it begins, or only when it is done."""

    def watched(name: str, original: Callable[..., Any]) -> Callable[..., Any]:
        def call(*args: Any, **kwargs: Any) -> Any:
            if not completed_only:
                rounds.append(name)
            result = original(*args, **kwargs)
            if completed_only:
                rounds.append(name)
            return result

        return call

    for name in ("update", "boost"):
        monkeypatch.setattr(xgb.Booster, name, watched(name, getattr(xgb.Booster, name)))


@pytest.mark.parametrize(("case", "where"), TABLE, ids=[f"{case.name} - {where}" for case, where in TABLE])
def test_one_error_before_any_training(case: Case, where: str, monkeypatch: pytest.MonkeyPatch) -> None:
    bench = Bench(case.objective)
    case.spoil(bench)
    before = repr(owned_by_user(bench))
    trained: list[str] = []
    # With obj= the booster's update is what asks for the gradient: there it may begin, but not come to an end.
    late = case.at_first_gradient or where.endswith("Objective")
    watch_rounds(monkeypatch, trained, completed_only=late)

    with warnings.catch_warnings():
        # XGBoost's own warning, on the way to the error, about a matrix without rows or labels.
        warnings.filterwarnings("ignore", category=UserWarning, module="xgboost")
        with pytest.raises(case.error) as caught:
            Bench.CALLS[where](bench)

    message = str(caught.value)
    # The type is exactly the one promised: an error of NumPy or of XGBoost's C++ would be an accident.
    assert type(caught.value) is case.error
    # It says what was expected, what came and what to do.
    for words in case.words:
        assert re.search(words, message, re.DOTALL), f"{words!r} is missing in: {message}"
    # One error, not one that came up while another was handled.
    assert caught.value.__context__ is None or caught.value.__suppress_context__
    # No tree was built, of student or teacher, and no callback of the user's was told of a training.
    assert trained == []
    assert bench.recorder.calls == (["before_training"] if case.at_first_gradient and where in ("train", "cv") else [])
    # Nothing that the user gave has changed.
    assert repr(owned_by_user(bench)) == before


@pytest.mark.parametrize("where", Bench.CALLS)
def test_the_bench_itself_is_in_order(where: str) -> None:
    # Unspoilt, every call of the table trains: the errors above come from what was spoilt and from nothing else.
    for objective in ("binary:logistic", "multi:softprob", "multi:softmax", "reg:squarederror"):
        if not (where == "train native" and objective.startswith("multi")):
            assert Bench.CALLS[where](Bench(objective)) is not None


def test_every_line_of_the_promise_has_its_cases() -> None:
    promised = {
        "different row counts": "fewer privileged rows",
        "labels that disagree": "labels disagree",
        "binary labels outside [0, 1]": "label -1",
        "classes outside 0..K-1": "class 3.0",
        "q of wrong length": "q of 39 rows",
        "q of wrong shape": "q with two columns for binary",
        "q of wrong dtype": "q of strings",
        "q with NaN": "q with NaN",
        "q outside [0, 1]": "q of 1.5",
        "kl_weight negative": "kl_weight -0.1",
        "kl_weight NaN": "kl_weight nan",
        "kl_weight infinite": "kl_weight inf",
        "kl_weight not a number": "kl_weight '0.5'",
        "a column name in both matrices": "a column in both",
        "an objective that is not in the list": "objective binary:hinge",
        "obj= as well": "obj as well",
        "both privileged and teacher": "privileged and teacher",
        "an empty DMatrix": "no rows",
        "negative weights": "negative weights",
        "weights of wrong length": "too few weights",
        "a teacher of 0 rounds": "a teacher of 0 rounds",
        "a mistyped name of params as a keyword": "keyword max_dept",
        "kl_weight in params": "kl_weight in params",
        "alpha as the paper's": "alpha as a keyword",
    }
    names = [case.name for case in CASES]
    # Nothing of the promise about bad input can lose its test unnoticed.
    assert set(promised.values()) <= set(names)


# --- without a teacher ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("keywords", "error", "words"),
    [
        ({"kl_weight": -1.0}, ValueError, r"kl_weight.*least 0"),
        ({"kl_weight": "strong"}, TypeError, "kl_weight must be a number"),
        ({"method": "jpip"}, ValueError, "method must be one of"),
        ({"method": "jpib"}, ValueError, r"method requires a (trainable )?teacher"),
        ({"crossfit": 3}, ValueError, r"crossfit requires a (trainable )?teacher"),
        ({"kl_weight": 5.0}, ValueError, r"kl_weight requires a (trainable )?teacher"),
        ({"kl_weigth": 1.0}, TypeError, "did you mean 'kl_weight'"),
    ],
    ids=str,
)
@pytest.mark.parametrize("name", ["train", "cv"])
def test_teaching_keywords_are_looked_at_without_a_teacher_too(
    name: str, keywords: dict[str, Any], error: type[Exception], words: str
) -> None:
    bench = Bench()
    # A variable that happens to be None must not let a mistake pass.
    with pytest.raises(error, match=words):
        getattr(bench, name)(keywords)
    assert bench.recorder.calls == []


@pytest.mark.parametrize("name", ["train", "cv"])
def test_kl_weight_in_params_is_explained_without_a_teacher_too(name: str) -> None:
    bench = Bench()
    bench.params["kl_weight"] = 0.3
    # XGBoost would only say that the parameter is not used.
    with pytest.raises(ValueError, match=r"params.*keyword"):
        getattr(bench, name)({})
    bench.params = [*bench.params.items()]
    with pytest.raises(ValueError, match=r"params.*keyword"):
        getattr(bench, name)({})


# --- alpha in params -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("call", ["train", "train kbpib", "train jpib", "cv", "cv kbpib"])
def test_alpha_in_params_alone_gets_a_warning_that_tells_the_two_apart(call: str) -> None:
    bench = Bench()
    bench.params["alpha"] = 0.7
    with pytest.warns(UserWarning, match="alpha") as caught:
        Bench.CALLS[call](bench)
    assert len(caught) == 1
    message = str(caught[0].message)
    # It names both meanings, and how to ask for either.
    for words in ("L1", "paper", r"kl_weight=0\.7", "reg_alpha"):
        assert re.search(words, message), f"{words!r} is missing in: {message}"
    # It points at the caller's line and not into the library.
    assert caught[0].filename == __file__


@pytest.mark.parametrize(
    ("params_given", "teaching"),
    [
        ({"alpha": 0.7}, {"kl_weight": 0.25}),
        ({"reg_alpha": 0.7}, {}),
        ({}, {}),
    ],
    ids=str,
)
@pytest.mark.parametrize("call", ["train", "cv"])
def test_no_warning_about_alpha_where_it_is_clear(call: str, params_given: Any, teaching: Any) -> None:
    bench = Bench()
    bench.params.update(params_given)
    bench.teaching = teaching
    # Warnings are errors in this suite: whoever also says kl_weight, or says reg_alpha, knows the difference.
    assert Bench.CALLS[call](bench) is not None


def test_no_warning_about_alpha_without_a_teacher_or_with_weights_in_a_list() -> None:
    bench = Bench()
    bench.params["alpha"] = 0.7
    # Plain XGBoost has only one alpha; and in a list the weights are given.
    assert bench.train({}) is not None
    assert bench.train({"teacher": [(bench.q, 0.5)]}) is not None


# --- what must not be refused --------------------------------------------------------------------------------------


@pytest.mark.parametrize("call", [name for name in Bench.CALLS if name != "JointObjective"])
def test_soft_labels_are_legitimate(call: str) -> None:
    bench = Bench()
    bench.y = np.random.default_rng(1).random(N_ROWS)
    bench.dtrain, bench.privileged = xgb.DMatrix(bench.x, bench.y), xgb.DMatrix(bench.z, bench.y)
    # XGBoost takes labels between 0 and 1 for binary:logistic, and so does a guided training.
    assert Bench.CALLS[call](bench) is not None


@pytest.mark.parametrize("call", ["train kbpib", "train crossfit", "train jpib", "cv kbpib", "cv jpib"])
def test_a_teacher_may_see_classifier_features_if_that_is_said(call: str) -> None:
    bench = Bench()
    bench.privileged = xgb.DMatrix(pd.concat([bench.x, bench.z], axis=1), bench.y)
    bench.teaching = {"allow_overlap": True}
    # Privileged features distillation: the teacher sees all features.
    assert Bench.CALLS[call](bench) is not None


def test_weights_on_both_sides_may_agree() -> None:
    bench = Bench()
    weight = np.random.default_rng(1).uniform(0.5, 2, size=N_ROWS)
    bench.dtrain.set_weight(weight)
    bench.privileged.set_weight(weight)
    # The same weights said twice are no contradiction.
    assert Bench.CALLS["train kbpib"](bench).num_boosted_rounds() == 3


def test_q_may_be_anything_that_holds_numbers() -> None:
    bench = Bench()
    models = {
        name: pi_xgb.train(bench.params, xgb.DMatrix(bench.x, bench.y), 3, teacher=q).save_raw("json")
        for name, q in {
            "float32": bench.q.astype(np.float32),
            "float64": bench.q.astype(np.float32).astype(np.float64),
            "list": bench.q.astype(np.float32).tolist(),
            "Series": pd.Series(bench.q.astype(np.float32), index=range(100, 100 + N_ROWS)),
            "backwards": bench.q.astype(np.float32)[::-1][::-1],
        }.items()
    }
    # Same numbers in the same order, same model.
    assert len(set(map(bytes, models.values()))) == 1
    # Hard verdicts of a teacher are probabilities too.
    assert pi_xgb.train(bench.params, bench.dtrain, 3, teacher=bench.y.astype(bool)).num_boosted_rounds() == 3
    assert pi_xgb.train(bench.params, bench.dtrain, 3, teacher=bench.y.astype(int)).num_boosted_rounds() == 3


@pytest.mark.parametrize("kl_weight", [0, 1, 2.5, np.float32(0.5), np.int64(3), np.float64(1e3)])
def test_every_real_number_from_0_on_is_a_kl_weight(kl_weight: Any) -> None:
    for call in ("train", "train kbpib", "train jpib", "cv", "KLObjective", "JointObjective"):
        bench = Bench()
        bench.teaching = {"kl_weight": kl_weight}
        # Python's and NumPy's numbers alike.
        assert Bench.CALLS[call](bench) is not None


# --- small helpers -------------------------------------------------------------------------------------------------


def test_attach_teacher_names_what_came() -> None:
    with pytest.raises(TypeError, match=r"xgboost.DMatrix.*ndarray.*matrix"):
        pi_xgb.attach_teacher(np.zeros((3, 2)), np.full(3, 0.5))


def test_checkpoints_of_a_folder_that_is_not_there(tmp_path: Any) -> None:
    with pytest.raises(ValueError, match=r"existing.*'.*missing'"):
        pi_xgb.JointCheckPoint.latest(tmp_path / "missing")


def test_a_teacher_cannot_write_to_the_predictions_it_is_shown() -> None:
    bench = Bench()

    class Careless(pi_xgb.Teacher):
        is_adaptive = True

        def q(self, mean: Any, label: Any, weight: Any) -> Any:
            mean[:] = 0.5
            return mean

    # It would have changed the gradient without a word.
    with pytest.raises(ValueError, match="read-only"):
        pi_xgb.train(bench.params, bench.dtrain, 2, teacher=Careless())
