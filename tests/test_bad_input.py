"""Bad input by keyword: one error before any training, and nothing of the user's objects changed.

Each case is a line: the calls that must notice, what is changed in a correct call, and what the message must contain:
the keyword, what was expected, what was passed.
"""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import pytest
import xgboost as xgb
from helpers_problems import Problem
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression, Ridge

import pi_xgb
from pi_xgb.constraints import DemographicParity

N = 40
SOME = np.arange(N) % 3 > 0


class Recorder(xgb.callback.TrainingCallback):
    """Notes each round of the student."""

    def __init__(self) -> None:
        self.rounds = 0

    def after_iteration(self, model: Any, epoch: int, evals_log: Any) -> bool:
        self.rounds += 1
        return False


class Call:
    """A correct call, to be changed in one place."""

    def __init__(self, objective: str = "binary:logistic") -> None:
        self.rows = rows = Problem(objective, n_rows=N)
        self.params: Any = rows.params()
        self.dtrain: Any = rows.dtrain(feature_names=list("abcd"))
        self.privileged: Any = rows.dprivileged()
        self.q: Any = rows.q
        self.rounds: Any = 3
        self.keywords: dict[str, Any] = {}
        self.recorder = Recorder()

    def change(self, changes: dict[str, Any]) -> None:
        for name, value in changes.items():
            value = value(self) if callable(value) and name not in ("obj", "custom_metric", "teacher") else value
            if name == "params" and isinstance(value, dict):
                self.params = {key: item for key, item in {**self.params, **value}.items() if item is not None}
            elif name in ("label", "weight"):
                for matrix in (self.dtrain, self.privileged):
                    # XGBoost raises on some of these, and keeps them.
                    with contextlib.suppress(xgb.core.XGBoostError, ValueError):
                        matrix.set_info(**{name: value})
            elif name in ("params", "dtrain", "privileged", "q", "rounds"):
                setattr(self, name, value)
            else:
                self.keywords[name] = value

    def train(self, **guided: Any) -> Any:
        guided = {"verbose_eval": False, "callbacks": [self.recorder], **guided, **self.keywords}
        return pi_xgb.train(self.params, self.dtrain, self.rounds, **guided)

    def cv(self, **guided: Any) -> Any:
        return pi_xgb.cv(
            self.params, self.dtrain, self.rounds, **{"callbacks": [self.recorder], **guided, **self.keywords}
        )

    def by_objective(self, objective: Any) -> Any:
        return xgb.train(self.params, self.dtrain, self.rounds, obj=objective, callbacks=[self.recorder])


BOOSTED = {"teacher": "boosted", "crossfit": 0}
JOINT = {"teacher": "boosted", "method": "jpib"}
CALLS: dict[str, Callable[[Call], Any]] = {
    "train": lambda c: c.train(teacher=c.q),
    "train native": lambda c: c.train(teacher=c.q, engine="native"),
    "train boosted": lambda c: c.train(privileged=c.privileged, **BOOSTED),
    "train crossfit": lambda c: c.train(privileged=c.privileged, teacher="boosted", crossfit=2),
    "train jpib": lambda c: c.train(privileged=c.privileged, **JOINT),
    "train plain": lambda c: c.train(),
    "cv": lambda c: c.cv(teacher=c.q),
    "cv boosted": lambda c: c.cv(privileged=c.privileged, **BOOSTED),
    "cv jpib": lambda c: c.cv(privileged=c.privileged, **JOINT),
    "cv plain": lambda c: c.cv(),
    "fit_teacher": lambda c: pi_xgb.fit_teacher(
        c.params, c.privileged, c.rounds, **{"teacher": "boosted", "crossfit": 0, **c.keywords}
    ),
    "KLObjective": lambda c: c.by_objective(
        pi_xgb.KLObjective(c.q, **{"objective": c.params["objective"], **c.keywords})
    ),
    "JointObjective": lambda c: c.by_objective(pi_xgb.JointObjective(c.privileged, params=c.params, **c.keywords)),
    "JointTeacher": lambda c: pi_xgb.JointTeacher(c.privileged, c.params, **c.keywords),
}
Q = ("train", "cv", "KLObjective")
PRIVILEGED = ("train boosted", "train crossfit", "train jpib", "cv boosted", "cv jpib")
JPIB = ("train jpib", "cv jpib")
GUIDED = ("train", "train boosted", "train jpib", "cv", "cv boosted", "cv jpib")
PLAIN = ("train plain", "cv plain")
ALL = (*GUIDED, "train crossfit", "KLObjective", "JointObjective")


class Fixed(pi_xgb.Teacher):
    """A teacher with one q for every row."""

    def __init__(self, value: float, is_adaptive: bool) -> None:
        self.value, self.is_adaptive = value, is_adaptive

    def q(self, mean: np.ndarray, label: np.ndarray, weight: np.ndarray | None) -> np.ndarray:
        return np.full_like(mean, self.value)

    def subset(self, rows: np.ndarray) -> Fixed:
        return self


class Case(NamedTuple):
    calls: tuple[str, ...]
    changes: dict[str, Any]
    error: type[Exception]
    words: tuple[str, ...]
    objective: str = "binary:logistic"


def row_7(values: Any, value: float) -> np.ndarray:
    changed = np.array(values, np.float64)
    changed.reshape(-1)[7] = value
    return changed


def value_error(calls: tuple[str, ...], *words: str, objective: str = "binary:logistic", **changes: Any) -> Case:
    return Case(calls, changes, ValueError, words, objective)


def type_error(calls: tuple[str, ...], *words: str, objective: str = "binary:logistic", **changes: Any) -> Case:
    return Case(calls, changes, TypeError, words, objective)


def bounds(c: Call, lower: float, upper: float) -> xgb.DMatrix:
    return xgb.DMatrix(c.rows.x, label_lower_bound=np.full(N, lower), label_upper_bound=np.full(N, upper))


NUMBERS, SOFTPROB, POISSON, GAMMA = "reg:squarederror", "multi:softprob", "count:poisson", "reg:gamma"
PAIRWISE, NDCG, AFT, MEDIAN = "rank:pairwise", "rank:ndcg", "survival:aft", "reg:absoluteerror"
CASES: dict[str, list[Case]] = {
    "labels": [
        value_error((*ALL, "fit_teacher", "train native"), "[0, 1]", "-1.0", label=lambda c: 2 * c.rows.y - 1),
        value_error((*ALL, "fit_teacher"), "[0, 1]", "2.0", label=lambda c: c.rows.y + 1),
        *(
            value_error(
                (*ALL, "fit_teacher"), "0 to 2", "num_class", label=lambda c, v=v: row_7(c.rows.y, v), objective=o
            )
            for o in (SOFTPROB, "multi:softmax")
            for v in (3.0, -1.0, 1.5)
        ),
        value_error((*ALL, "fit_teacher"), "finite", "inf", label=lambda c: row_7(c.rows.y, np.inf), objective=NUMBERS),
        value_error(
            ("train", "fit_teacher"), "at least 0", "-1", label=lambda c: row_7(c.rows.y, -1), objective=POISSON
        ),
        value_error(("train",), "reg:tweedie", "-1", label=lambda c: row_7(c.rows.y, -1), objective="reg:tweedie"),
        value_error(("train",), "above 0", label=lambda c: row_7(c.rows.y, 0), objective=GAMMA),
        value_error(
            ("train",), "[0, 1]", "binary:logitraw", label=lambda c: row_7(c.rows.y, 2), objective="binary:logitraw"
        ),
        value_error(("train",), "above -1", label=lambda c: row_7(c.rows.y, -1), objective="reg:squaredlogerror"),
        value_error(("train",), "label_lower_bound", dtrain=lambda c: xgb.DMatrix(c.rows.x, c.rows.y), objective=AFT),
        value_error(("train",), "row 0", "upper", dtrain=lambda c: bounds(c, 2, 1), objective=AFT),
        value_error(("train",), "queries", "qid", dtrain=lambda c: xgb.DMatrix(c.rows.x, c.rows.y), objective=PAIRWISE),
        value_error(
            (*ALL, "fit_teacher", "JointTeacher"),
            "label",
            dtrain=lambda c: xgb.DMatrix(c.rows.x),
            privileged=lambda c: xgb.DMatrix(c.rows.z),
        ),
        value_error(
            GUIDED,
            "2 labels",
            "one model for each",
            dtrain=lambda c: xgb.DMatrix(c.rows.x, np.stack([c.rows.y] * 2, axis=1)),
            objective="multi:softmax",
        ),
        value_error(("train",), "2 labels", objective=f"{MEDIAN}/one_output_per_tree"),
    ],
    "rows of privileged": [
        value_error(
            (*PRIVILEGED, "JointObjective"), "40 rows", "37", privileged=lambda c: c.privileged.slice(range(37))
        ),
        value_error(
            (*PRIVILEGED, "JointObjective"),
            "labels",
            "40 rows",
            "row 0",
            privileged=lambda c: xgb.DMatrix(c.rows.z, 1 - c.rows.y),
        ),
        value_error(
            (*PRIVILEGED, "JointObjective"),
            "1 row",
            "row 7",
            privileged=lambda c: xgb.DMatrix(c.rows.z, row_7(c.rows.y, 1 - c.rows.y[7])),
        ),
        value_error(
            ("train boosted",),
            "queries",
            "differ",
            objective=PAIRWISE,
            privileged=lambda c: xgb.DMatrix(c.rows.z, c.rows.y, qid=np.arange(N) // 20),
        ),
        value_error(
            ("train boosted",),
            "labels",
            objective=AFT,
            privileged=lambda c: xgb.DMatrix(
                c.rows.z, label_lower_bound=c.rows.y, label_upper_bound=c.rows.fields["label_upper_bound"] + 1
            ),
        ),
        value_error(
            PRIVILEGED,
            "weights of privileged",
            privileged=lambda c: xgb.DMatrix(c.rows.z, c.rows.y, weight=np.full(N, 2)),
        ),
        value_error(
            PRIVILEGED,
            "['a']",
            "allow_overlap",
            privileged=lambda c: c.rows.matrix(c.rows.z, feature_names=list("auv")),
        ),
        value_error(
            ("train boosted",),
            "privileged is dtrain itself",
            privileged=lambda c: c.rows.dtrain(),
            dtrain=lambda c: c.privileged,
        ),
        *(
            value_error(
                ("train boosted", "train jpib"),
                "privileged must have the base_margin of dtrain",
                objective=POISSON,
                dtrain=lambda c: c.rows.dtrain(base_margin=c.rows.margin),
                privileged=lambda c, other=other: c.rows.dprivileged(**other),
            )
            for other in ({}, {"base_margin": np.ones(N)})
        ),
        type_error(
            (*PRIVILEGED, "fit_teacher", "JointObjective", "JointTeacher"),
            "privileged",
            "xgboost.DMatrix",
            "DataFrame",
            privileged=lambda c: pd.DataFrame(c.rows.z),
        ),
    ],
    "dtrain": [
        type_error(GUIDED, "dtrain", "xgboost.DMatrix", "ndarray", dtrain=lambda c: c.rows.x),
        value_error(
            (*GUIDED, "train crossfit", "fit_teacher", "JointObjective"),
            "no rows",
            dtrain=lambda c: c.dtrain.slice([]),
            privileged=lambda c: c.privileged.slice([]),
            q=lambda c: c.q[:0],
        ),
        value_error(
            (*GUIDED, "train crossfit"), "no columns", dtrain=lambda c: xgb.DMatrix(np.empty((N, 0)), c.rows.y)
        ),
        value_error(
            (*PRIVILEGED, "fit_teacher"), "no columns", privileged=lambda c: xgb.DMatrix(np.empty((N, 0)), c.rows.y)
        ),
        type_error(
            ("cv", "cv boosted", "cv jpib"),
            "QuantileDMatrix",
            "folds",
            dtrain=lambda c: c.rows.dtrain(kind=xgb.QuantileDMatrix),
        ),
        type_error(
            ("cv boosted", "cv jpib", "train crossfit"),
            "QuantileDMatrix",
            "folds",
            privileged=lambda c: c.rows.dprivileged(kind=xgb.QuantileDMatrix),
        ),
        value_error(
            ("cv", "cv boosted", "cv jpib"),
            "group",
            dtrain=lambda c: xgb.DMatrix(c.rows.x, c.rows.y, qid=np.arange(N) // 10),
        ),
        value_error(
            ("train", "train jpib"),
            "base_margin",
            "1 missing value",
            "row 7",
            dtrain=lambda c: c.rows.dtrain(base_margin=row_7(c.rows.margin, np.nan)),
        ),
    ],
    "weights": [
        value_error((*ALL, "fit_teacher"), "weights of", "-1", weight=row_7(np.ones(N), -1)),
        value_error((*ALL, "fit_teacher"), "weights of", "missing values", weight=row_7(np.ones(N), np.nan)),
        value_error(
            (*GUIDED, "train crossfit", "JointObjective", "fit_teacher"), "weights of", "40 rows", weight=np.ones(N - 1)
        ),
        value_error(("train", "fit_teacher"), "weights of", "4 queries", weight=np.ones(3), objective=PAIRWISE),
        value_error(GUIDED, "weights of dtrain", "got 0 in every row", weight=np.zeros(N)),
        value_error(GUIDED, "scale_pos_weight", "-1", params={"scale_pos_weight": -1}),
        type_error(GUIDED, "scale_pos_weight", "'balanced'", params={"scale_pos_weight": "balanced"}),
        value_error(("KLObjective",), "scale_pos_weight", "-1", scale_pos_weight=-1.0),
        value_error(("KLObjective",), "scale_pos_weight", "3", params={"scale_pos_weight": 3}),
        value_error(
            ("train",),
            "scale_pos_weight",
            "several targets",
            params={"scale_pos_weight": 2},
            objective=f"{NUMBERS}/one_output_per_tree",
        ),
        value_error(
            ("train",),
            "scale_pos_weight",
            "leave it out",
            params={"scale_pos_weight": 3},
            objective="reg:squaredlogerror",
        ),
    ],
    "q": [
        *(value_error(Q, str(n), "40", q=lambda c, n=n: np.resize(c.q, n)) for n in (39, 41, 80, 1)),
        value_error(Q, "empty", q=np.empty(0)),
        value_error(("train", "cv"), "39", "40", q=lambda c: c.q[:-1], kl_weight=0),
        value_error(("train", "cv"), "39", "40", q=lambda c: [(c.q, 1.0), (c.q[:-1], 0.0)]),
        value_error((*Q, "train native"), "2)", "q[:, 1]", q=lambda c: np.stack([1 - c.q, c.q], axis=1)),
        value_error(Q, "3)", q=lambda c: c.q[:, 0], objective=SOFTPROB),
        value_error(Q, "2)", "3)", q=lambda c: c.q[:, :2] / c.q[:, :2].sum(axis=1, keepdims=True), objective=SOFTPROB),
        value_error(("train",), "(40,)", "(40, 2)", q=lambda c: c.q[:, 0], objective=f"{NUMBERS}/one_output_per_tree"),
        value_error(Q, "(40, 1, 1)", q=lambda c: c.q[:, None, None]),
        type_error(Q, "one value per row", "0.5", q=0.5),
        type_error(Q, "numbers", q=lambda c: c.q.astype(str)),
        type_error(Q, "numbers", "complex", q=lambda c: c.q.astype(complex)),
        type_error(Q, "numbers", "datetime", q=lambda c: pd.to_datetime(c.q).to_numpy()),
        type_error(("train",), "masked", q=lambda c: np.ma.masked_less(c.q, 0.5)),
        *(
            value_error(Q, "1 NaN", q=lambda c: row_7(c.q, np.nan), objective=o)
            for o in ("binary:logistic", NUMBERS, SOFTPROB)
        ),
        *(
            value_error(Q, "[0, 1]", str(v), q=lambda c, v=v: row_7(c.q, v), objective=o)
            for v in (1.5, -0.5, np.inf)
            for o in ("binary:logistic", SOFTPROB)
        ),
        *(value_error(Q, "finite", q=lambda c, v=v: row_7(c.q, v), objective=NUMBERS) for v in (np.inf, 1e300)),
        value_error(("train",), "at least 0", "-0.1", q=lambda c: row_7(c.q, -0.1), objective=POISSON),
        value_error(("train",), "above 0", q=lambda c: row_7(c.q, 0), objective=GAMMA),
        value_error(("train",), "above 0", "mean", q=lambda c: row_7(c.q, 0), objective=AFT),
        value_error(Q, "sum to 1", q=lambda c: c.q / 2, objective=SOFTPROB),
        *(value_error(Q, "Fixed", q=Fixed(v, adaptive)) for v in (np.nan, np.inf, 7.0) for adaptive in (False, True)),
    ],
    "kl_weight": [
        *(
            value_error((*ALL, "train native", *PLAIN), "kl_weight", str(v), kl_weight=v)
            for v in (-0.1, np.nan, np.inf, 1e30)
        ),
        *(type_error((*ALL, *PLAIN), "kl_weight", "number", kl_weight=v) for v in ("0.5", True, np.complex128(1))),
        type_error(
            ("train", "train boosted", "KLObjective", "JointObjective"), "kl_weight", "[0.1, 1.0]", kl_weight=[0.1, 1.0]
        ),
        type_error(("train",), "kl_weight", "teacher_weight", kl_weight=np.ones(N)),
        value_error(("cv",), "kl_weight", "empty", kl_weight=[]),
        value_error(("cv",), "kl_weight", "twice", kl_weight=[1, 1.0]),
        value_error(("cv",), "kl_weight", "-1", kl_weight=[0.1, -1]),
        *(value_error(Q, "own weights", "kl_weight", q=lambda c: [(c.q, 1.0)], kl_weight=v) for v in (0.3, 0)),
        value_error(("cv",), "own weights", q=lambda c: [(c.q, 1.0)], kl_weight=[0.1, 0.3]),
        *(value_error(Q, "list", str(v), q=lambda c, v=v: [(c.q, v)]) for v in (-1.0, np.nan)),
        *(type_error(Q, "list", repr(v), q=lambda c, v=v: [(c.q, v)]) for v in ("1", None)),
        value_error(("JointTeacher",), "kl_weight", "-1", kl_weight=-1),
        value_error(("train plain", "cv plain"), "kl_weight", "teacher", kl_weight=5.0),
        value_error(
            (*GUIDED, *PLAIN, "fit_teacher", "JointObjective"), "kl_weight", "params", params={"kl_weight": 1.0}
        ),
    ],
    "params": [
        Case((*PRIVILEGED, "fit_teacher"), {"params": {"eval_metric": "aucc"}}, xgb.core.XGBoostError, ("aucc",)),
        *(
            value_error(
                (*GUIDED, "fit_teacher", "KLObjective", "JointObjective"), "binary:logistic", o, params={"objective": o}
            )
            for o in ("binary:hinge", "survival:cox", "rank:map", "binary:logistics")
        ),
        value_error(
            (*GUIDED, "fit_teacher", "JointObjective"), "num_class", params={"num_class": None}, objective=SOFTPROB
        ),
        value_error((*GUIDED, "fit_teacher", "JointObjective"), "num_class", "left out", params={"num_class": 2}),
        *(
            value_error(("train boosted",), name, "not a parameter", params={name: 1})
            for name in ("method", "teacher_sees", "crossfit", "teacher_params", "engine")
        ),
        type_error(("train",), "max_delta_step", "'wide'", params={"max_delta_step": "wide"}, objective=POISSON),
        value_error((*JPIB, "JointObjective", "JointTeacher"), "dart", params={"booster": "dart"}),
        value_error(("train",), "several values", params={"quantile_alpha": [0.1, 0.9]}, objective="reg:quantileerror"),
        value_error(("train",), "ndcg_exp_gain", params={"ndcg_exp_gain": True}, objective=NDCG),
        value_error(("train",), "lambdarank_unbiased", params={"lambdarank_unbiased": 1}, objective=PAIRWISE),
        value_error(("train",), "gblinear", params={"booster": "gblinear"}, objective=PAIRWISE),
        value_error(("train",), "gradient_based", params={"sampling_method": "gradient_based"}, objective=PAIRWISE),
        *(
            value_error(("train boosted", "train jpib", "cv boosted"), "objective", "teacher_params", teacher_params=p)
            for p in ({"objective": NUMBERS},)
        ),
        value_error(
            ("train boosted", "cv jpib"), "num_class", "4", teacher_params={"num_class": 4}, objective=SOFTPROB
        ),
        value_error(("train boosted", "train jpib"), "kl_weight", teacher_params={"kl_weight": 1.0}),
        value_error(("train jpib",), "dart", teacher_params={"rate_drop": 0.3}),
        value_error(("JointObjective",), "params", "kl_weight", params={"kl_weight": 1}),
    ],
    "teacher": [
        value_error(("fit_teacher",), "require teacher='boosted'", teacher="linear", early_stopping_rounds=3),
        value_error(("train", "cv"), "share an objective", q=lambda c: pi_xgb.JointTeacher(c.privileged, {"eta": 0.1})),
        value_error(("train boosted", "cv boosted"), "privileged and teacher", teacher=np.full(N, 0.5)),
        type_error(Q, "teacher", "DMatrix", "privileged=", q=lambda c: c.privileged),
        type_error(Q, "ModelTeacher", q=lambda c: len),
        value_error(("train", "KLObjective"), "must sum to 1", q=lambda c: np.full((N, 3), 0.6), objective=SOFTPROB),
        type_error(("fit_teacher",), "seed", "'a'", seed="a"),
        value_error(("fit_teacher",), "seed", "-1", seed=-1),
        type_error(("KLObjective",), "ModelTeacher", q=lambda c: LogisticRegression()),
        type_error(("KLObjective",), "'boosted'", "fit_teacher", q="boosted"),
        value_error((*PLAIN, "train boosted"), "teacher must be one of", "'mixed'", "everything", teacher="everything"),
        value_error(("train boosted",), "pairs", "list", teacher=["mixed", "forest"]),
        type_error(("train",), "(teacher, weight)", q=lambda c: [c.q, DemographicParity(SOME)]),
        type_error(("train",), "(teacher, weight)", q=lambda c: [(0.5, c.q)]),
        type_error(("train boosted", "fit_teacher", "train plain"), "LogisticRegression()", teacher=LogisticRegression),
        type_error(("fit_teacher",), "ndarray", "pi_xgb.train", teacher=np.full(N, 0.5)),
        *(
            value_error(
                ("fit_teacher", "train boosted"),
                "'boosted' or an estimator",
                kind,
                teacher=kind,
                objective=o,
                crossfit=2,
            )
            for kind in ("forest", "mixed")
            for o in (PAIRWISE, MEDIAN)
        ),
        value_error(
            ("fit_teacher",),
            "PoissonRegressor",
            label=lambda c: np.arange(N) // 38,
            teacher=Ridge(),
            objective=POISSON,
            crossfit=2,
        ),
        value_error(
            ("train boosted",),
            "teacher_sees",
            "1 columns",
            crossfit=0,
            teacher=FrozenEstimator(LogisticRegression().fit(np.zeros((4, 1)), [0, 1, 0, 1])),
        ),
        *(
            type_error(
                ("train boosted",),
                "QuantileDMatrix",
                "values",
                teacher=t,
                teacher_sees="all",
                crossfit=2,
                privileged=lambda c: c.rows.dprivileged(kind=xgb.QuantileDMatrix),
            )
            for t in ("forest", "linear", "mixed")
        ),
        *(
            type_error(("JointObjective", "JointTeacher"), "extra_teachers", "(teacher, weight)", extra_teachers=e)
            for e in (np.ones(N), [np.ones(N)])
        ),
        type_error(("train",), "no keyword 'constraint'", "teacher=", constraint=0),
        type_error(("train",), "no keyword 'privileged_features'", "privileged=", privileged_features=["z"]),
        value_error(("JointTeacher", "fit_teacher"), "objective", "survival:cox", params={"objective": "survival:cox"}),
    ],
    "method and engine": [
        value_error((*PLAIN, "train boosted", "cv boosted"), "method must be one of", "'jpip'", method="jpip"),
        value_error(("train",), "engine must be one of", "'cuda'", engine="cuda"),
        value_error(("train boosted",), "method='jpib'", "mixed", teacher="mixed", method="jpib", crossfit=None),
        value_error(("train plain",), "method='jpib'", "privileged=", teacher="boosted", method="jpib"),
        *(
            value_error(("train", "cv", *PLAIN), name, name, **{name: v})
            for name, v in (
                ("method", "jpib"),
                ("crossfit", 3),
                ("teacher_params", {"eta": 1}),
                ("allow_overlap", True),
            )
        ),
        value_error(JPIB, "crossfit", "jpib", crossfit=3),
        value_error(("train jpib",), "jpib", objective=MEDIAN),
        value_error(("train jpib",), "without its teacher", xgb_model=lambda c: xgb.train(c.params, c.dtrain, 1)),
        *(
            value_error(("train",), "engine='copies' or 'auto'", engine=e, objective=MEDIAN)
            for e in ("callback", "native")
        ),
        value_error(("train",), "engine='copies'", "blended", engine="copies"),
        *(value_error(("KLObjective",), "copies", "pi_xgb.train", objective=o) for o in (MEDIAN, AFT, PAIRWISE)),
        value_error(("train native",), "whole classes", objective=SOFTPROB),
        value_error(("train native",), "gblinear", params={"booster": "gblinear", "max_depth": None}),
        value_error(
            ("train native",), "gradient_based", params={"sampling_method": "gradient_based", "subsample": 0.5}
        ),
        value_error(("train native",), "approx", params={"tree_method": "approx", "scale_pos_weight": 2.0}),
        value_error(("train native",), "approx", params={"tree_method": "approx"}, labelled=SOME),
        value_error(("train native",), "total weight", kl_weight=10_000.5),
        value_error(("train native",), "among the evals", evals=lambda c: [(c.dtrain, "train")]),
        value_error(("KLObjective",), "reg:squarederror", "binary:logistic", objective_="reg:squarederror"),
    ],
    "crossfit and teacher_sees": [
        *(
            value_error(("train boosted", "cv boosted", "fit_teacher"), "crossfit", str(v), crossfit=v)
            for v in (1, -1, 41)
        ),
        *(
            type_error(("train boosted", "cv boosted", "fit_teacher"), "crossfit", repr(v), crossfit=v)
            for v in (2.5, "3", True)
        ),
        value_error(("train plain",), "crossfit", "'mixed'", teacher="mixed", crossfit=0),
        value_error(("train plain",), "frozen", "3", teacher=FrozenEstimator(LogisticRegression()), crossfit=3),
        value_error(("train boosted",), "teacher_sees", "'x'", teacher_sees="x"),
        value_error(PLAIN, "teacher_sees", "privileged=", teacher_sees="all", teacher="mixed"),
        value_error(
            ("train boosted",),
            "teacher_params",
            "forest",
            teacher_params={"max_depth": 2},
            teacher="forest",
            crossfit=2,
        ),
        value_error(
            ("train boosted", "fit_teacher", "cv boosted"), "crossfit_groups", "crossfit", crossfit_groups=np.arange(N)
        ),
        value_error(("train crossfit",), "crossfit of 3", "got 2", crossfit=3, crossfit_groups=np.arange(N) % 2),
        value_error(("train crossfit",), "crossfit_groups", "40", "2", crossfit_groups=[0, 1]),
        value_error(("train crossfit",), "crossfit_groups", "missing", crossfit_groups=[None, *range(N - 1)]),
        value_error((*PRIVILEGED[:1], "fit_teacher"), "num_boost_round", "0", rounds=0),
        type_error(("train", "fit_teacher"), "num_boost_round", "'a'", rounds="a"),
    ],
    "privileged_evals": [
        value_error(("train",), "privileged_evals", privileged_evals=[]),
        value_error(("train jpib",), "privileged_evals", "jpib", privileged_evals=lambda c: [(c.privileged, "v")]),
        value_error(("train boosted",), "early_stopping_rounds", privileged_evals=lambda c: [(c.privileged, "v")]),
        value_error(
            ("train boosted",),
            "'v'",
            "label",
            privileged_evals=lambda c: [(xgb.DMatrix(c.rows.z), "v")],
            early_stopping_rounds=2,
        ),
        type_error(
            ("train boosted",), "'v'", "DMatrix", privileged_evals=lambda c: [(c.rows.z, "v")], early_stopping_rounds=2
        ),
        type_error(
            ("train boosted",),
            "privileged_evals",
            "pairs",
            privileged_evals=lambda c: [c.privileged],
            early_stopping_rounds=2,
        ),
        value_error(
            ("train boosted",),
            "privileged_evals",
            "linear",
            teacher="linear",
            crossfit=2,
            privileged_evals=lambda c: [(c.privileged, "v")],
            early_stopping_rounds=2,
        ),
        value_error(
            ("train boosted",),
            "privileged_evals",
            "teacher_sees='all'",
            teacher_sees="all",
            privileged_evals=lambda c: [(c.privileged, "v")],
            early_stopping_rounds=2,
        ),
    ],
    "labelled": [
        *(
            value_error((*PLAIN,), name, "teacher", **{name: np.ones(N)})
            for name in ("labelled", "teacher_weight", "crossfit_groups")
        ),
        value_error(("train", "train boosted", "cv", "fit_teacher"), "labelled", "40", "3", labelled=[True] * 3),
        value_error(("KLObjective",), "labelled", "40", "3", labelled=[True, False, True]),
        *(
            Case(("train", "train boosted", "cv", "fit_teacher"), {"labelled": v}, error, ("labelled", words))
            for v, error, words in (
                (["yes"] * N, TypeError, "truth values"),
                ([None] + [True] * 39, ValueError, "1 missing"),
                (np.arange(5), ValueError, "40 rows"),
                (np.full(N, np.nan), ValueError, "40 missing"),
            )
        ),
        value_error(("train boosted", "cv boosted", "fit_teacher"), "no row with a label", labelled=[False] * N),
        *(
            value_error(("train crossfit",), "one row with a label", labelled=np.arange(N) < 1, teacher=t)
            for t in ("boosted", "forest", "linear", "mixed")
        ),
        value_error(
            ("train", "train boosted", "cv boosted", "fit_teacher"), "of the class 1", labelled=lambda c: c.rows.y == 1
        ),
        value_error(("train boosted", "cv boosted"), "of the class 1", labelled=SOME, weight=lambda c: c.rows.y),
        value_error(("train",), "among the evals", labelled=SOME, evals=lambda c: [(c.dtrain, "train")]),
        *(
            value_error(
                ("train", "KLObjective"),
                "labelled must be that of the teacher",
                f"got {given}",
                labelled=mask,
                q=lambda c: pi_xgb.fit_teacher(c.params, c.privileged, 2, teacher="boosted", crossfit=0, labelled=SOME),
            )
            for mask, given in ((None, "none"), (np.arange(N) > 2, "another one"))
        ),
        value_error(
            ("train", "KLObjective"),
            "labels of dtrain and privileged disagree",  # a teacher of rows in another order
            q=lambda c: pi_xgb.fit_teacher(c.params, c.privileged.slice(range(N - 1, -1, -1)), 2, teacher="boosted"),
        ),
        value_error(("cv",), "6 labelled", labelled=np.arange(N) < 6, nfold=9),
    ],
    "teacher_weight": [
        *(
            value_error(
                ("train", "train boosted", "train jpib", "KLObjective"), "teacher_weight", words, teacher_weight=v
            )
            for v, words in (
                ([-1.0] + [1.0] * 39, "row 0"),
                ([np.nan] + [1.0] * 39, "row 0"),
                ([np.inf] + [1.0] * 39, "row 0"),
                (np.full(N, 1e30), "1e+12"),
            )
        ),
        value_error(
            ("train", "train boosted", "train jpib", "JointObjective"),
            "teacher_weight",
            "40",
            "1",
            teacher_weight=[1.0],
        ),
        *(
            type_error(("train", "train boosted", "KLObjective"), words, teacher_weight=v)
            for v, words in ((np.ones(N, "m8[s]"), "timedelta"), (np.ma.masked_array(np.ones(N), SOME), "masked"))
        ),
        value_error(("train",), "own weights", "teacher_weight", q=lambda c: [(c.q, 1.0)], teacher_weight=2.0 * SOME),
        value_error(
            ("train",),
            "teacher_weight",
            "4 queries",
            objective=PAIRWISE,
            teacher_weight=np.where(np.arange(N) % 10 < 3, 2.0, 1.0),
        ),
    ],
    "keywords of xgboost.train": [
        value_error(GUIDED, "obj", "params['objective']", obj=lambda margin, dtrain: (margin, margin)),
        *(
            type_error(("train", "cv"), name, "params", **{name: 1})
            for name in ("max_depth", "max_dept", "eta", "eval_metric")
        ),
        *(
            type_error(calls, f"'{name}'", f"did you mean '{meant}'", **{name: 1})
            for name, meant, calls in (
                ("early_stopping_round", "early_stopping_rounds", ("train", "cv")),
                ("kl_weigth", "kl_weight", ("train", "cv", *PLAIN)),
                ("previleged", "privileged", ("train", "cv")),
                ("n_fold", "nfold", ("cv",)),
            )
        ),
        type_error(("train", "cv"), "'feval'", "'custom_metric'", feval=0),
        type_error(("train", "cv"), "'alpha'", "kl_weight", "L1", alpha=0.5),
        type_error(("train", "train boosted", "train jpib", "cv"), "custom_metric", "'auc'", custom_metric="auc"),
        type_error(("train boosted", "train jpib"), "evals must be a list of pairs", evals=lambda c: c.privileged),
    ],
    "cv": [
        *(value_error(("cv",), "n_jobs", str(v), n_jobs=v) for v in (0, -1)),
        *(type_error(("cv",), "n_jobs", repr(v), n_jobs=v) for v in (1.5, True)),
        value_error(("cv",), "nfold", nfold=1),
        value_error(("cv",), "stratified", "queries", stratified=True, objective=PAIRWISE),
        value_error(("cv",), "both sides", folds=[(np.arange(5, N), np.arange(5))], objective=PAIRWISE),
        value_error(("cv boosted",), "row numbers", folds=[(np.arange(N), np.arange(N, N + 3))]),
        type_error(("cv",), "folds", "pairs", folds=3),
    ],
}
LINES = [
    pytest.param(case, call, id=f"{keyword}-{i}-{call}".replace(" ", "_"))
    for keyword, cases in CASES.items()
    for i, case in enumerate(cases)
    for call in case.calls
]


def contents(value: Any) -> Any:
    """All that a training might change of a user's object."""
    if isinstance(value, xgb.DMatrix):
        fields = ("label", "weight", "base_margin", "label_lower_bound", "label_upper_bound")
        return [value.get_float_info(name).tobytes() for name in fields], value.feature_names, value.num_row()
    if isinstance(value, (list, tuple)):
        return [contents(item) for item in value]
    if isinstance(value, dict):
        return {key: contents(item) for key, item in value.items()}
    if isinstance(value, xgb.Booster):
        return bytes(value.save_raw())
    if isinstance(value, Fixed):
        return vars(value)
    return value.tobytes() if isinstance(value, np.ndarray) else repr(value)


@pytest.mark.parametrize(("case", "call"), LINES)
def test_bad_input_is_one_error_before_any_training(case: Case, call: str, monkeypatch: pytest.MonkeyPatch) -> None:
    made = Call(case.objective)
    changes = {"objective" if name == "objective_" else name: value for name, value in case.changes.items()}
    made.change(changes)
    owned = [made.params, made.dtrain, made.privileged, made.q, made.keywords]
    before = contents(owned)
    by_objective = call.endswith("Objective") or (isinstance(made.q, Fixed) and made.q.is_adaptive)
    trained: list[str] = []
    for name in ("update", "boost"):
        original = getattr(xgb.Booster, name)

        def watched(*args: Any, original: Any = original, name: str = name, **more: Any) -> Any:
            trained.append(name) if not by_objective else None  # an update asks for the gradient, and must not end
            result = original(*args, **more)
            trained.append(name)
            return result

        monkeypatch.setattr(xgb.Booster, name, watched)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # XGBoost's own, about a matrix without rows or labels
        with pytest.raises(case.error) as caught:
            CALLS[call](made)
    # The type is the one promised: an error of NumPy or of XGBoost's C++ would be an accident.
    assert type(caught.value) is case.error
    for word in case.words:
        assert word in str(caught.value), f"{word!r} is missing in: {caught.value}"
    assert trained == []
    assert made.recorder.rounds == 0
    assert contents(owned) == before


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("objective", ["binary:logistic", SOFTPROB, NUMBERS])
def test_the_call_itself_is_in_order(call: str, objective: str) -> None:
    if call != "train native" or objective != SOFTPROB:
        assert CALLS[call](Call(objective)) is not None


# --- what must not be refused --------------------------------------------------------------------------------------


@pytest.mark.parametrize("call", [name for name in CALLS if "Joint" not in name])
def test_soft_labels_are_accepted(call: str) -> None:
    made = Call()
    made.change({"label": np.random.default_rng(1).random(N)})
    assert CALLS[call](made) is not None


@pytest.mark.parametrize("call", PRIVILEGED)
def test_privileged_may_have_columns_of_dtrain_if_that_is_said(call: str) -> None:
    made = Call()
    both = np.hstack([made.rows.x, made.rows.z])
    made.change({"privileged": made.rows.matrix(both, feature_names=list("abcduvw")), "allow_overlap": True})
    assert CALLS[call](made) is not None


@pytest.mark.parametrize("as_q", [np.float64, list, pd.Series, tuple, lambda q: q[::-1].copy()[::-1]])
def test_q_may_be_any_container_of_numbers(as_q: Any) -> None:
    made = Call()
    expected = CALLS["train"](made).save_raw()
    made.q = as_q(made.q)
    assert CALLS["train"](made).save_raw() == expected


@pytest.mark.parametrize("kl_weight", [0, 1, np.float32(0.5), np.int64(3), 1e12])
@pytest.mark.parametrize("call", ["train", "train boosted", "train jpib", "cv", "KLObjective", "JointObjective"])
def test_every_number_from_0_to_1e12_is_a_kl_weight(call: str, kl_weight: Any) -> None:
    made = Call()
    made.keywords["kl_weight"] = kl_weight
    assert CALLS[call](made) is not None


def test_weights_of_both_matrices_may_agree_and_labels_may_differ_where_there_are_none() -> None:
    made = Call()
    made.change({"weight": np.linspace(1, 2, N)})
    assert CALLS["train boosted"](made).num_boosted_rounds() == 3
    made = Call()
    other = xgb.DMatrix(made.rows.z, np.where(SOME, made.rows.y, 1 - made.rows.y))
    made.change({"privileged": other, "labelled": SOME})
    assert CALLS["train boosted"](made).num_boosted_rounds() == 3


def test_neither_the_mean_nor_a_given_q_can_be_written_to() -> None:
    class Careless(pi_xgb.Teacher):
        def q(self, mean: Any, label: Any, weight: Any) -> Any:
            mean[:] = 0.5
            return mean

    made = Call()
    made.q = Careless()
    with pytest.raises(ValueError, match="read-only"):
        CALLS["train"](made)
    given = pi_xgb.ModelTeacher(lambda z: z, np.array([0.2, 0.8]))
    with pytest.raises(ValueError, match="read-only"):
        given.q(None, None, None)[:] = 0.5


def test_a_teacher_without_q_or_subset_says_so() -> None:
    class Empty(pi_xgb.Teacher):
        pass

    class Uncut(pi_xgb.Teacher):
        def q(self, mean: Any, label: Any, weight: Any) -> Any:
            return mean

    class Misspelt(Uncut):
        hessian = "stedy"

    made = Call()
    for teacher, call, error, message in (
        (Empty(), "train", NotImplementedError, "Empty needs a method q"),
        (Uncut(), "cv", TypeError, r"Uncut.*folds.*subset\(rows\)"),
        (Misspelt(), "train", ValueError, r"Misspelt\.hessian.*'adaptive'.*'stedy'"),
    ):
        made.q = teacher
        with pytest.raises(error, match=message):
            CALLS[call](made)


def test_an_error_of_an_estimator_names_the_teacher_and_its_rows() -> None:
    class Broken(LogisticRegression):
        def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
            raise ValueError("no columns for me")

    made = Call()
    made.keywords |= {"teacher": Broken(), "crossfit": 2, "teacher_sees": "privileged"}
    with pytest.raises(ValueError, match="no columns") as caught:
        CALLS["train boosted"](made)
    assert caught.value.__notes__ == ["raised by the teacher Broken on 20 rows"]


# --- warnings ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("call", ["train", "train boosted", "train jpib", "cv"])
def test_alpha_in_params_is_told_from_kl_weight_once(call: str) -> None:
    made = Call()
    made.params["alpha"] = 0.7
    with pytest.warns(UserWarning, match=r"alpha.*L1.*paper.*kl_weight=0\.7.*reg_alpha") as caught:
        CALLS[call](made)
    assert [warning.filename for warning in caught] == [__file__]
    made.keywords["kl_weight"] = 0.25  # who says it knows the difference
    assert CALLS[call](made) is not None
    made.params["reg_alpha"] = made.params.pop("alpha")
    del made.keywords["kl_weight"]
    assert CALLS[call](made) is not None


@pytest.mark.parametrize("call", ["train", "cv"])
def test_no_objective_on_labels_of_0_and_1_is_squared_error_with_a_warning(call: str) -> None:
    made = Call()
    del made.params["objective"]
    with pytest.warns(UserWarning, match=r"reg:squarederror.*binary:logistic") as caught:
        found = CALLS[call](made)
    assert [warning.filename for warning in caught] == [__file__]
    made.params["objective"] = NUMBERS
    named = CALLS[call](made)
    assert found.equals(named) if call == "cv" else found.get_dump() == named.get_dump()


def test_rows_without_label_or_teacher_and_rare_classes_are_warned_of() -> None:
    made = Call()
    made.keywords |= {"labelled": SOME, "teacher_weight": 1.0 * SOME}
    with pytest.warns(UserWarning, match="neither a label nor a teacher"):
        CALLS["train"](made)
    classes = Call(SOFTPROB)
    classes.keywords["labelled"] = classes.rows.y != 2
    with pytest.warns(UserWarning, match="labelled has no row of the class 2"):
        CALLS["train"](classes)
    rare = Call()
    rare.change({"label": np.arange(N) < 3, "crossfit": 4})
    with pytest.warns(UserWarning, match="crossfit should be at most 3, .* got 4"):
        CALLS["train boosted"](rare)
    empty = Call()
    empty.rows.z[::5] = np.nan
    empty.privileged = empty.rows.dprivileged()
    with pytest.warns(UserWarning, match=r"8 of 40 rows"):
        CALLS["train boosted"](empty)
