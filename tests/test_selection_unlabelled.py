"""select, compare and the choosing estimators with rows that have no label: taught everywhere, never judges."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import xgboost as xgb
from helpers_selection import COMPARED as SMALLEST
from helpers_selection import METHODS, PARAMS, ROUNDS, SEES, guiding
from sklearn.model_selection import KFold, PredefinedSplit

import pi_xgb
from pi_xgb.selection import compare, select

FEW = {
    **{"method": METHODS, "teacher": "boosted", "teacher_sees": SEES, "crossfit": (0, 2), "kl_weight": [1.0, 5.0]},
    "repeats": 1,
    "progress": False,
}
COMPARED = {**SMALLEST, "standard_errors": 0.0}
N = 150


class Rows:
    """A third of them labelled, in no order; what a teacher counts differs from row to row."""

    def __init__(self, objective: str = "binary:logistic", seed: int = 0) -> None:
        made = pi_xgb.datasets.make_privileged(N, n_features=4, n_privileged=2, seed=seed)
        rng = np.random.default_rng(seed + 1)
        self.x, self.z, self.params = made.x, made.z, {**PARAMS, "objective": objective}
        self.y = made.y.to_numpy(dtype=np.float32)
        if objective.startswith("reg"):
            self.y = made.q.to_numpy(dtype=np.float32)
        self.labelled = np.isin(np.arange(N), rng.permutation(N)[: N // 3])
        self.teacher_weight = rng.choice([0.5, 1.0, 2.0], N)
        self.weight = rng.choice([0.5, 1.0, 2.0], N).astype(np.float32)
        self.groups = rng.integers(0, 25, N)

    def matrix(self, table, rows=slice(None), label=None):
        label = self.y if label is None else label
        return xgb.DMatrix(table.iloc[rows], label[rows], weight=self.weight[rows])

    def matrices(self, rows=slice(None), label=None):
        return [self.matrix(table, rows, label) for table in (self.x, self.z, self.x.join(self.z))]

    def select(self, *, label=None, z=None, **keywords):
        dtrain = self.matrix(self.x, label=label)
        privileged = self.matrix(self.z if z is None else z, label=label)
        settings = {"labelled": self.labelled, "nfold": 3, **FEW, **keywords}
        return select(self.params, dtrain, ROUNDS, privileged=privileged, **settings)

    @property
    def told(self):
        """y as compare and the estimators take it."""
        return pd.Series(np.where(self.labelled, self.y, np.nan))


def test_the_table_is_that_of_a_loop_written_by_hand():
    rows, metric = Rows("reg:squarederror"), "rmse"
    known = np.flatnonzero(rows.labelled)
    folds = [(known[rest], known[out]) for rest, out in KFold(3, shuffle=True, random_state=0).split(known)]
    per_row = {"teacher_weight": rows.teacher_weight, "crossfit_groups": rows.groups}
    with pytest.warns(UserWarning, match=r"in the training part and in the test part of a fold.*groups= as well"):
        found = rows.select(folds=folds, metric=metric, kl_weight=5.0, **per_row)
    assert len(found.summary) == 1 + (3 + 1) + 1
    for name, row in found.summary.iterrows():
        curves = []
        for rest, out in folds:
            log, evals = {}, [(rows.matrix(rows.x, out), "test")]
            logged = {"evals": evals, "evals_result": log, "verbose_eval": False}
            params = {**rows.params, "eval_metric": metric}
            if name == "plain":
                # Plain XGBoost knows labelled rows alone.
                xgb.train(params, rows.matrix(rows.x, rest), ROUNDS, **logged)
            else:
                # The others have all rows without a label besides.
                part = np.concatenate([rest, np.flatnonzero(~rows.labelled)])
                dtrain, *shown = rows.matrices(part)
                keywords = {"labelled": rows.labelled[part], "teacher_weight": rows.teacher_weight[part]}
                if row.crossfit > 0:
                    keywords["crossfit_groups"] = rows.groups[part]
                pi_xgb.train(params, dtrain, ROUNDS, **guiding(row, *shown), **keywords, **logged)
            curves.append(log["test"][metric])
        assert found.curves[name].tolist() == pytest.approx(np.mean(curves, axis=0).tolist(), abs=1e-12)
    # Rows are counted where they have a label.
    assert (found.table.n_train + found.table.n_test == len(known)).all()


def test_labels_that_nobody_knows_are_never_looked_at():
    rows = Rows()
    nonsense = np.where(rows.labelled, rows.y, np.arange(N) % 7 - 3).astype(np.float32)
    settings = {"standard_errors": 0.0, "kl_weight": 5.0, "n_jobs": 2, "teacher_weight": rows.teacher_weight}
    found, other = rows.select(**settings), rows.select(label=nonsense, **settings)
    assert other.table.equals(found.table)
    boosters = []
    for selection, label in ((found, rows.y), (other, nonsense)):
        dtrain, privileged, _ = rows.matrices(label=label)
        keywords = {"labelled": rows.labelled, "teacher_weight": rows.teacher_weight}
        boosters.append(selection.train(dtrain, privileged=privileged, **keywords))
    assert boosters[0].save_raw() == boosters[1].save_raw()


@pytest.mark.slow
def test_privileged_values_of_held_out_rows_have_no_say_and_those_of_unlabelled_rows_do():
    rows = Rows()
    known = np.flatnonzero(rows.labelled)
    folds = [(known[:25], known[25:]), (known[25:], known[:25])]

    def scores(changed):
        z = rows.z.copy()
        z.iloc[changed] = -7.0
        table = rows.select(z=z, folds=folds).table
        return table[(table.fold == 0) & (table.method != "plain")].score.to_numpy()

    before = scores([])
    assert np.array_equal(scores(known[25:]), before)
    # There was something to leak: the teachers on z of that fold have taught rows without a label.
    assert (scores(~rows.labelled)[:-1] != before[:-1]).all()


@pytest.mark.slow
def test_rows_with_neither_label_nor_teacher_are_said_once_and_take_no_part():
    rows = Rows()
    z = rows.z.copy()
    idle = np.flatnonzero(~rows.labelled)[:20]
    z.iloc[idle] = np.nan
    with pytest.warns(UserWarning, match="20 of 150 rows have") as warned:
        found = rows.select(z=z)
    message = [str(warning.message) for warning in warned]
    assert len(message) == 2
    assert "no privileged value" in message[0]
    assert "neither a label nor a teacher" in message[1]
    assert {warning.filename for warning in warned} == {__file__}
    rest = np.delete(np.arange(N), idle)
    dtrain, privileged, _ = rows.matrices(rest)
    without = select(rows.params, dtrain, ROUNDS, privileged=privileged, labelled=rows.labelled[rest], nfold=3, **FEW)
    # As if they were not there.
    assert without.table.equals(found.table)


@pytest.mark.parametrize(
    "way",
    [
        {"method": "jpib"},
        {"method": "kbpib", "teacher": "boosted", "crossfit": 0},
        {"method": "kbpib", "teacher": "boosted", "teacher_sees": "all", "crossfit": 2},
    ],
)
@pytest.mark.slow
def test_the_model_is_the_candidate_that_was_judged(way):
    made = pi_xgb.datasets.make_privileged(150, seed=0)
    x, z, y, labelled = made.x.to_numpy(), made.z.to_numpy(), made.y, np.arange(150) % 3 == 0
    dtrain, privileged, both = xgb.DMatrix(x, y), xgb.DMatrix(z, y), xgb.DMatrix(np.hstack([x, z]), y)
    weight, groups = np.random.default_rng(0).choice([0.5, 1.0], 150), np.arange(150) // 2
    settings = {"labelled": labelled, "teacher_weight": weight, "groups": groups, "nfold": 3, "kl_weight": 10.0}
    settings |= {"standard_errors": 1e9, "progress": False, "crossfit": 2, **way}
    found = select(PARAMS, dtrain, 12, privileged=privileged, **settings)
    assert found.choice["kl_weight"] == 10.0
    keywords = {"labelled": labelled, "teacher_weight": weight}
    booster = found.train(dtrain, privileged=privileged, crossfit_groups=groups, **keywords)
    rounds = found.choice["num_boost_round"]
    if way["method"] == "jpib":
        expected = pi_xgb.train(PARAMS, dtrain, privileged=privileged, **found.choice, **keywords)
    else:
        shown, kept = both if way.get("teacher_sees") == "all" else privileged, groups if way["crossfit"] else None
        # The teacher has the rounds of the search.
        how = {"teacher": "boosted", "crossfit": way["crossfit"], "crossfit_groups": kept}
        teacher = pi_xgb.fit_teacher(PARAMS, shown, 12, labelled=labelled, **how)
        expected = pi_xgb.train(PARAMS, dtrain, rounds, teacher=teacher, kl_weight=10.0, **keywords)
        more = {"crossfit_groups": kept} if kept is not None else {}
        pi_xgb.train(PARAMS, dtrain, privileged=shown, **found.choice, **keywords, **more)
    assert booster.get_dump() == expected.get_dump()


def test_the_model_of_plain_is_xgboosts_on_labelled_rows():
    rows = Rows()
    found, dtrain = rows.select(custom_metric=wide, maximize=True, method="jpib", kl_weight=1.0), rows.matrix(rows.x)
    known = rows.matrix(rows.x, rows.labelled)
    by_hand = xgb.train(rows.params, known, found.choice["num_boost_round"])
    assert found.train(dtrain, labelled=rows.labelled).save_raw() == by_hand.save_raw()
    with pytest.raises(ValueError, match=r"dtrain.*unlabelled.*evals"):
        found.train(dtrain, labelled=rows.labelled, evals=[(dtrain, "train")])


def test_what_the_selection_was_told_of_its_rows_has_to_be_told_again():
    rows = Rows()
    found = rows.select(groups=rows.groups, crossfit=2, method="kbpib", standard_errors=1e9)
    dtrain, privileged, _ = rows.matrices()
    with pytest.raises(ValueError, match=r"^labelled and crossfit_groups must be passed"):
        found.train(dtrain, privileged=privileged)
    with pytest.raises(ValueError, match=r"^crossfit_groups must be passed"):
        found.train(dtrain, privileged=privileged, labelled=rows.labelled)
    found.train(dtrain, privileged=privileged, labelled=rows.labelled, crossfit_groups=rows.groups)


def wide(predictions, matrix):
    """A metric in which plain XGBoost is best: teachers narrow the predictions."""
    return "wide", float(predictions.std())


KNOWN = np.flatnonzero(Rows().labelled)


@pytest.mark.filterwarnings("ignore:crossfit should be at most:UserWarning")
@pytest.mark.filterwarnings("ignore:rows of one group of crossfit_groups")
@pytest.mark.parametrize(
    ("wrong", "error", "message"),
    [
        ({"labelled": np.ones(7, bool)}, ValueError, "labelled must have one value for each of the 150 rows"),
        ({"labelled": np.arange(N)}, ValueError, "labelled must be truth values.* got 2"),
        ({"labelled": np.zeros(N, bool)}, ValueError, "labelled has no row with a label"),
        ({"labelled": Rows().y == 1}, ValueError, "all labelled rows are of the class 1"),
        ({"teacher_weight": np.full(N, -1.0)}, ValueError, "teacher_weight must be .* from 0 .* got -1"),
        ({"crossfit_groups": np.arange(7)}, ValueError, "crossfit_groups must have one value for each of the 150"),
        ({"crossfit_groups": np.arange(N), "crossfit": 0}, ValueError, "crossfit_groups need crossfit of at least 2"),
        (
            {"crossfit_groups": np.arange(N) % 3, "crossfit": 5},
            ValueError,
            "crossfit of 5 needs as many groups .* got 3",
        ),
        ({"groups": np.arange(N) % 3, "crossfit": 3}, ValueError, "crossfit of 3 needs as many groups .* got 2"),
        ({"nfold": 51}, ValueError, "nfold must be at most the number of labelled rows, 50, got 51"),
        ({"nfold": 40}, ValueError, "labelled rows for 40 folds"),
        ({"crossfit": 34}, ValueError, r"crossfit.*33.*34"),
        ({"folds": [(KNOWN[:9], KNOWN)] * 2}, ValueError, r"row.*common"),
        (
            {"folds": [(KNOWN[:25], np.flatnonzero(~Rows().labelled))] * 2},
            ValueError,
            "fold 0 must train on labelled rows and hold out labelled rows only, got 25 and 100",
        ),
        ({"folds": [(np.flatnonzero(~Rows().labelled), KNOWN)] * 2}, ValueError, r"fold 0.*got 0 and 0"),
        ({"folds": PredefinedSplit(np.arange(N) % 3)}, ValueError, r"fold 0.*50"),
    ],
)
def test_wrong_words_about_rows(monkeypatch, wrong, error, message):
    monkeypatch.setattr(xgb, "train", lambda *args, **kwargs: pytest.fail("trained before the error"))
    with pytest.raises(error, match=message):
        Rows().select(**wrong)


@pytest.mark.filterwarnings("ignore:rows of one group of crossfit_groups")
@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"y": Rows().told.where(Rows().told > 0)}, "y has the same value in every labelled row, 1.0"),
        ({"teacher_weight": pd.Series(np.ones(N))[::-1]}, "teacher_weight and X have the same index in another order"),
        ({"crossfit_groups": np.arange(N) % 2, "crossfit": 3}, "crossfit of 3 needs as many groups .* got 2"),
        ({"y": Rows().told.map({0: "ill", 1: "well"}), "nfold": 30}, "class '.*' has .* labelled rows for 30 folds"),
    ],
)
def test_wrong_words_about_rows_of_compare(monkeypatch, wrong, message):
    monkeypatch.setattr(xgb, "train", lambda *args, **kwargs: pytest.fail("trained before the error"))
    rows = Rows()
    with pytest.raises(ValueError, match=message):
        compare(**{"X": rows.x, "y": rows.told, "privileged": rows.z, **COMPARED, **wrong})
