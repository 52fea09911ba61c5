"""Few labels of other kinds: the teachers on numbers, counts and several classes.

    python -m benchmarks.objectives --jobs 2
    python -m benchmarks.objectives --smoke

A draw takes a quarter of the set for testing and at most 2,000 of the other rows for training, of which some have a
label. Params, rounds and weight of the teacher are those of benchmarks.unlabelled.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd
import xgboost as xgb
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.linear_model import LogisticRegression, PoissonRegressor, RidgeCV
from sklearn.metrics import log_loss, mean_poisson_deviance, root_mean_squared_error
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import pi_xgb
from benchmarks.cells import Line, Table, main, read
from benchmarks.data import load
from benchmarks.intervals import corrected_interval
from benchmarks.text import signed, table
from benchmarks.unlabelled.cell import CROSSFIT, FOREST, KL_WEIGHT, PARAMS, ROUNDS, TEST_SHARE, one_hot, training_rows
from benchmarks.unlabelled.splits import final_grades

BUDGETS, DRAWS = (50, 100, 200, 400), 20
ALPHAS = np.logspace(-3, 3, 7)
PLAIN, RIVALS = "plain", ("linear model on x", "random forest on x")
KINDS = {"boosted": "xz", "forest": "xz", "linear": "xz", "mixed": "xz", "mixed on x": "x"}
SHOWN = ("mixed", "mixed on x")
Loss = Callable[[npt.NDArray[Any], npt.NDArray[Any]], float]


class Problem(NamedTuple):
    """A set, its label, and the columns that exist at training only."""

    data: Callable[[], tuple[pd.DataFrame, tuple[str, ...], npt.NDArray[Any]]]
    """The columns, their types, and the label."""
    privileged: tuple[str, ...]
    params: dict[str, Any]
    loss: Loss
    linear: Any
    forest: Any
    text: str


def grades(label: Callable[[npt.NDArray[Any]], npt.NDArray[Any]]) -> Any:
    found = load("student_por")
    return found.X, found.feature_types, label(final_grades("student_por"))


def days_in_hospital() -> Any:
    found = load("diabetes")
    days = found.X["time_in_hospital"].to_numpy()
    keep = [position for position, name in enumerate(found.X.columns) if name != "time_in_hospital"]
    return found.X.iloc[:, keep], tuple(found.feature_types[position] for position in keep), days


CLASSES = [11, 14]
ABOUT = """\
How much lower the loss is than that of plain XGBoost, in percent, with a 95 % interval over {draws} draws of each set.
Few rows have a label, and all in the last line of a set. Params are those of [FEW_LABELS.md](FEW_LABELS.md). Teachers
see x and z, or x alone where the name says so; those of one kind are in [the table](results/objectives.csv.gz). The
two rivals learn from the labelled rows."""
GRADES = "z: the grades of the first two periods"
PROBLEMS = {
    "numbers": Problem(
        partial(grades, lambda grade: grade),
        ("G1", "G2"),
        {"objective": "reg:squarederror"},
        root_mean_squared_error,
        RidgeCV(ALPHAS),
        RandomForestRegressor(**FOREST, random_state=0),
        f"student_por, the final grade from 0 to 20; {GRADES}; root mean squared error",
    ),
    "classes": Problem(
        partial(grades, partial(np.digitize, bins=CLASSES)),
        ("G1", "G2"),
        {"objective": "multi:softprob", "num_class": 3},
        partial(log_loss, labels=[0, 1, 2]),
        GridSearchCV(LogisticRegression(max_iter=1000), {"C": 1 / ALPHAS}, scoring="neg_log_loss"),
        RandomForestClassifier(**FOREST, random_state=0),
        f"student_por, a final grade below 11, from 11 to 13, or above; {GRADES}; log loss",
    ),
    "counts": Problem(
        days_in_hospital,
        ("num_procedures", "num_medications", "A1Cresult"),
        {"objective": "count:poisson"},
        mean_poisson_deviance,
        GridSearchCV(PoissonRegressor(max_iter=1000), {"alpha": ALPHAS}, scoring="neg_mean_poisson_deviance"),
        RandomForestRegressor(**FOREST, random_state=0),
        "diabetes, the days in hospital; z: procedures, medications and a laboratory result of the stay; Poisson "
        "deviance",
    ),
}


class Draw:
    """Test rows, training rows, and which of these have a label."""

    def __init__(self, problem: Problem, repeat: int, smoke: bool = False) -> None:
        table_, types, label = made(problem) if smoke else problem.data()
        is_z = np.isin(table_.columns, problem.privileged)
        order = np.random.default_rng(repeat).permutation(len(label))
        n_test = min(int(np.ceil(TEST_SHARE * len(label))), 5000)
        self.test, self.train = order[:n_test], order[n_test:][: training_rows(len(label))]
        self.problem, self.repeat, self.label, self.is_z = problem, repeat, label, is_z
        self.values, self.types = table_.to_numpy(np.float32), np.array(types)

    def matrix(self, columns: str, rows: npt.NDArray[Any], label: Any = None) -> xgb.DMatrix:
        chosen = np.ones_like(self.is_z) if columns == "xz" else ~self.is_z
        data, types = self.values[rows][:, chosen], list(self.types[chosen])
        return xgb.DMatrix(data, label, feature_types=types, enable_categorical=True, nthread=1)

    def rival(self, model: Any, few: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """What a model of scikit-learn predicts, with categories one-hot and all columns standardised."""
        values, types = self.values[:, ~self.is_z], list(self.types[~self.is_z])
        encoder = one_hot(values, types).fit(values[self.train])
        fitted = make_pipeline(StandardScaler(), model).fit(encoder.transform(values[few]), self.label[few])
        predict = fitted.predict_proba if hasattr(fitted, "predict_proba") else fitted.predict
        return predict(encoder.transform(values[self.test]))

    def losses(self, budget: int) -> dict[str, float]:
        """The loss of every method on the test rows."""
        problem, few = self.problem, self.train[:budget]
        params, dtest = {**PARAMS, **problem.params}, self.matrix("x", self.test)
        known = np.arange(self.train.size) < budget
        label = np.where(known, self.label[self.train], 0)
        found = {PLAIN: xgb.train(params, self.matrix("x", few, self.label[few]), ROUNDS).predict(dtest)}
        for name, columns in KINDS.items():
            dteacher, dtrain = self.matrix(columns, self.train, label), self.matrix("x", self.train, label)
            how = {"teacher": name.split()[0], "crossfit": CROSSFIT, "labelled": known, "seed": self.repeat}
            q = pi_xgb.fit_teacher(params, dteacher, ROUNDS, **how).values
            student = pi_xgb.train(params, dtrain, ROUNDS, teacher=q, kl_weight=KL_WEIGHT, labelled=known)
            found[name] = student.predict(dtest)
        for name, model in zip(RIVALS, (problem.linear, problem.forest), strict=True):
            found[name] = self.rival(model, few)
        return {name: float(problem.loss(self.label[self.test], predicted)) for name, predicted in found.items()}


def made(problem: Problem) -> Any:
    """Few made rows, for the smoke run."""
    data = pi_xgb.datasets.make_privileged(300, n_privileged=len(problem.privileged), seed=0)
    columns = pd.concat([data.x, data.z.set_axis(list(problem.privileged), axis=1)], axis=1)
    return columns, ("q",) * columns.shape[1], (data.q * 3).to_numpy().astype(int)


def measure(problem: str, repeat: int, small: bool = False) -> Iterator[Line]:
    draw = Draw(PROBLEMS[problem], repeat, small)
    for budget in [50] if small else [*(b for b in BUDGETS if 2 * b <= draw.train.size), draw.train.size]:
        for method, loss in draw.losses(budget).items():
            yield {"labels": budget, "method": method, "loss": loss}


def text(folder: Path, figures: Path) -> str:
    """The lower loss of each method, in percent of that of plain XGBoost."""
    lines = read("objectives", folder)
    wide = lines.pivot(index=["problem", "labels", "repeat"], columns="method", values="loss")
    methods = [*SHOWN, *RIVALS]
    ratio = TEST_SHARE / (1 - TEST_SHARE)

    def cell(lower: pd.Series[float]) -> str:
        interval = corrected_interval(lower.to_numpy(), ratio)
        return f"{signed(interval.mean, 1)} ({signed(interval.low, 1)} to {signed(interval.high, 1)})"

    rows = [
        [problem, str(labels), *(cell(100 * (1 - draws[method] / draws[PLAIN])) for method in methods)]
        for (problem, labels), draws in wide.groupby(level=["problem", "labels"], sort=False)
    ]
    out = ["# Few labels", "", ABOUT.format(draws=lines["repeat"].nunique()), ""]
    out += [*(f"- {name}: {problem.text}." for name, problem in PROBLEMS.items()), ""]
    return "\n".join([*out, *table(["problem", "labels", *methods], rows)])


TABLES = [
    Table(
        "objectives",
        ("problem", "repeat"),
        lambda: [(name, repeat) for name in PROBLEMS for repeat in range(DRAWS)],
        measure,
        [(next(iter(PROBLEMS)), repeat) for repeat in (0, 1)],
    )
]

if __name__ == "__main__":
    main("objectives", __doc__, TABLES, text)
