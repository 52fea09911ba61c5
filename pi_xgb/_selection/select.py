"""``select``: which method, teacher, ``kl_weight`` and number of rounds, by cross-validation."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import pandas as pd
import xgboost

from .._core.keywords import DEFAULT_METHOD, Keywords, MethodName
from .._core.training import Teacher
from .._plots.by_table import plot_selection
from .._xgb.signature import called_like
from .candidates import PLAIN, Candidate, candidates_of, recommended
from .scores import score_of
from .splits import Split, held_out_ratio, usual_repeats
from .students import FoldStudents, Students, search
from .verdict import Measurement, Verdict, student_of


@called_like(xgboost.cv)
def select(
    params: Any,
    dtrain: xgboost.DMatrix,
    num_boost_round: int = 100,
    *,
    privileged: xgboost.DMatrix | None = None,
    kl_weight: float | Iterable[float] | None = None,
    method: MethodName | Iterable[MethodName] = DEFAULT_METHOD,
    teacher: Any = None,
    teacher_sees: Any = None,
    crossfit: int | Iterable[int] | None = None,
    teacher_params: Any = None,
    labelled: Any = None,
    teacher_weight: Any = None,
    crossfit_groups: Any = None,
    constraints: Any = (),
    metric: Any = None,
    custom_metric: Any = None,
    maximize: bool | None = None,
    standard_errors: float | None = None,
    nfold: int = 5,
    repeats: int | None = None,
    folds: Any = None,
    groups: Any = None,
    seed: int = 0,
    n_jobs: int | None = None,
    progress: bool | None = None,
    resume: Any = None,
    resume_key: str | None = None,
) -> Selection:
    """Choose method, teacher, ``kl_weight`` and number of rounds by cross-validation.

    Every candidate is trained on the training rows of every fold and scored on its held-out rows. Plain XGBoost and,
    where there are privileged features, a teacher without them are always candidates. The choice is the candidate that
    public data sets recommend, by default a mixed teacher with ``kl_weight`` 2, unless the lead of another one on the
    same folds exceeds a number of standard errors that grows with the number of candidates. The teachers of a fold see
    its training rows only.

    Parameters
    ----------
    params, dtrain : as for :func:`pi_xgb.train`
        Row weights count in training and in the score. Folds of rankings have whole queries.
    num_boost_round : int, default=100
        The maximum number of rounds of a student, and the rounds of KbPIB teachers. As in ``xgboost.cv``, each
        candidate gets the number of rounds at which the mean of its scores over all folds is best. Raise it if
        the best candidates use all of it.
    privileged : xgboost.DMatrix, default=None
        A DMatrix of the features that exist at training time only, as for :func:`pi_xgb.train`. It must not have
        columns of ``dtrain``: a teacher on all features gets both. None: teachers learn from the columns of
        ``dtrain``.
    kl_weight : float or sequence of float, default=None
        The values to try, one or several. None is 2, and 0.5 for boosted teachers. Plain XGBoost, which is 0, is always
        tried.
    method : {"kbpib", "jpib"}, or both, default="kbpib"
        ``"kbpib"``, ``"jpib"`` or both.
    teacher : kind, estimator, or sequence of them, default=None
        The kinds of teachers to try, one or several: "boosted", "forest", "linear", "mixed", or estimators. None is
        "mixed", or "boosted" on all features where the objective has no mean (rankings, survival, medians).
    teacher_sees : {"privileged", "all"}, or both, default=None
        The features of the teachers: ``"privileged"`` (as in the paper), ``"all"``, which adds the features of
        ``dtrain``, or both. None: the default of each kind. A teacher without the classifier features moves good
        predictions towards poor ones where the privileged features are weak.
    crossfit : int or sequence of int, default=None
        The number of folds by which teachers predict their own training rows, one or several; 0 is in-sample (as in
        the paper). None: the default of each kind. Where it equals ``nfold``, teachers share the folds of the
        selection: a teacher trained without two folds predicts each while the other is held out, which halves the
        trainings. In-sample teachers on all features repeat the labels, and are tried for ``crossfit=0`` alone.
    teacher_params, teacher_weight : as for :func:`pi_xgb.train`
    labelled : array-like of bool, default=None
        One truth value per row, False for an unknown label, as for :func:`pi_xgb.train`. Rows without a label are in
        every training part and in no test part: only labelled rows are in folds. Teachers teach all rows; plain
        XGBoost learns from labelled rows alone. Teachers of labelled rows alone are not candidates: they gain almost
        nothing where the others do, and would double the cost.
    crossfit_groups : array-like, default=None
        One value per row; rows of one value are predicted by the same cross-fitted teacher, which has seen none of
        them. By default the ``groups``.
    constraints : list of (constraint, weight), default=()
        A list of (constraint, weight), as in ``[(DemographicParity(sex), 5.0)]``, which hold for every candidate: plain
        XGBoost is then plain XGBoost under the constraints. :func:`pi_xgb.frontier` measures their cost and helps to
        choose their weight.
    metric : str, default=None
        The metric of the choice, one of XGBoost's by name. By default the last ``eval_metric`` of the params, and
        without it the loss of the training: logloss, mlogloss or rmse. The loss separates small differences better than
        auc or error.
    custom_metric : callable, default=None
    maximize : bool, default=None
        Instead of ``metric``: a function as for ``xgboost.cv``, and whether more is better, which is known for
        ``metric``.
    standard_errors : float, default=None
        How many standard errors, corrected for folds that share their rows (Nadeau and Bengio), a candidate must lead
        the recommended one by. None: as many as the best of that many equal candidates exceeds by chance with
        probability 0.2, 1.3 for three candidates and 1.8 for seven. 0 chooses the best mean.
    nfold : int, default=5
    repeats : int, default=None
    folds : splitter or list of (rows, rows), default=None
    seed : int, default=0
        ``repeats`` times ``nfold`` folds, each with its share of every class (or of small and large y). By default one
        repeat; below 501 labelled rows as many as score 1,000 rows, at most five (one with groups). Or pairs of row
        numbers, or a splitter of scikit-learn's, as for ``xgboost.cv``. A splitter gets labelled rows alone, and
        pairs must hold out labelled rows only.
    groups : array-like, default=None
        For rows that belong together (one patient, one day): one value per row. The folds keep each group together,
        and so do the folds of cross-fitted teachers, unless ``crossfit_groups`` are given. A splitter gets the groups,
        and pairs of row numbers are checked against them. Rows without a label train where no row of their group is
        held out.
    n_jobs : int, default=None
        The number of folds to train at the same time, in threads. -1: one per core. The result does not depend on it.
        Each training has ``params["nthread"]`` threads. Up to 10,000 rows, if params have no ``nthread``, each
        training has one thread and ``n_jobs`` is -1 (1 with a function as the metric): more threads would
        wait for each other in every round, which costs more than it saves, above all on a busy machine. Otherwise 1.
    progress : bool, default=None
        Whether to show progress: a bar (with tqdm) on a terminal and in a notebook, elsewhere lines on standard
        error. None: a bar on terminals and in notebooks, elsewhere a line every half minute.
    resume : str or path, default=None
        A file for the finished folds. After an interruption the same call with the same file continues; a file of
        another search is an error.
    resume_key : str, default=None
        A text that represents your own code: functions, splitters, constraints of your own classes.
        ``resume`` needs it with any of them, and cannot detect changes: pass another text after a change.

    Returns
    -------
    Selection
        The whole table, the choice, a plot, and :meth:`Selection.train` for the final model.

    Notes
    -----
    By default it costs 35 trainings per repeat: in each of five folds plain XGBoost and two students, and two teachers
    for each pair of folds, with privileged features and without; each is a forest and a linear model, for numbers and
    counts a booster too. In general every fold costs a training per candidate (two for JPIB), one for an in-sample
    teacher and ``crossfit`` for any other (half of that where they are shared); teachers serve every ``kl_weight``.
    Students are trained natively where that gives the same model up to rounding.

    The score of the choice is the best of several, so it is slightly optimistic. :func:`pi_xgb.compare` also scores a
    linear model, a forest and imputed privileged features.

    Examples
    --------
    >>> import pi_xgb, xgboost as xgb
    >>> data = pi_xgb.datasets.make_privileged(300, seed=0)
    >>> dtrain, privileged = xgb.DMatrix(data.x, data.y), xgb.DMatrix(data.z, data.y)
    >>> params = {"objective": "binary:logistic", "max_depth": 2, "nthread": 1}
    >>> selection = pi_xgb.select(params, dtrain, 20, privileged=privileged, teacher="boosted", nfold=3)
    >>> selection.choice["teacher"], selection.choice["kl_weight"]
    ('boosted', 0.5)
    >>> booster = selection.train(dtrain, privileged=privileged)
    """
    given = locals()
    candidates = candidates_of(params, method, teacher, teacher_sees, crossfit, kl_weight)
    rows = {"labelled": labelled, "teacher_weight": teacher_weight, "crossfit_groups": crossfit_groups}
    config, best = Keywords(privileged, teacher_params=teacher_params, **rows), recommended(candidates)
    if crossfit_groups is not None and not any(one.keywords(config).is_crossfitted for one in candidates[1:]):
        raise ValueError(f"crossfit_groups need crossfit of at least 2, got crossfit={crossfit!r}: add folds")
    if privileged is not None and isinstance(candidates[best].teacher, str):
        candidates.append(candidates[best].without_privileged())
    students = Students.read(params, num_boost_round, dtrain, config, "select", groups=groups, constraints=constraints)
    score = score_of(metric, custom_metric, maximize, students.spec)
    if repeats is None:
        # Few groups have few partitions.
        repeats = 1 if students.groups is not None else usual_repeats(students.n_labelled)
    splits = students.splits(nfold, repeats, folds, seed)
    students.check(candidates, splits)
    models = {candidate.name: (students, candidate) for candidate in candidates}
    found = search("select", models, splits, score, given)
    measurement = Measurement(score, held_out_ratio(splits), students.n_labelled, standard_errors)
    has_groups = crossfit_groups is not None or groups is not None
    return Selection(students, candidates, best, splits, measurement, found, has_groups=has_groups)


class Selection:
    """The result of :func:`select`. It holds scores only, no data.

    Attributes
    ----------
    table
        A row for each candidate, repeat and fold: its rounds, its score and its gain over plain XGBoost there.
        Positive gains are improvements for every metric. ``n_train``, ``n_test`` count labelled rows.
    summary
        A row for each candidate: mean score, the score of its teacher on the same rows, mean gain, the corrected
        standard error of the gain (``gain_se``), its 95 % interval (``low``, ``high``), and whether it was chosen.
    curves
        The mean score on held-out rows: a row per round, a column per candidate.
    choice
        The keywords of :func:`pi_xgb.train`, next to ``privileged`` and the values of each row (``labelled``,
        ``teacher_weight``, ``crossfit_groups``; of these ``labelled`` alone if it is plain XGBoost). ``privileged`` is
        None in it for a teacher without such features.
        With them the teacher has as many rounds as the student;
        :meth:`train` uses the rounds of the cross-validation, and accepts constraints.
    candidate
        The name of the choice, as in the tables.
    metric, maximize
        The metric of the choice, and whether more is better.

    Examples
    --------
    >>> import pi_xgb, xgboost as xgb
    >>> data = pi_xgb.datasets.make_privileged(200, seed=0)
    >>> dtrain, privileged = xgb.DMatrix(data.x, data.y), xgb.DMatrix(data.z, data.y)
    >>> params = {"objective": "binary:logistic", "max_depth": 2, "nthread": 1}
    >>> selection = pi_xgb.select(params, dtrain, 3, privileged=privileged, nfold=2, repeats=1, crossfit=2)
    >>> selection.summary.index[0], selection.candidate in selection.curves
    ('plain', True)
    >>> selection.train(dtrain, privileged=privileged).num_features()
    8
    """

    def __init__(
        self,
        students: Students,
        candidates: Sequence[Candidate],
        recommended: int,
        splits: Sequence[Split],
        measurement: Measurement,
        found: Sequence[dict[str, tuple[list[float], float]]],
        *,
        has_groups: bool,
    ) -> None:
        score = measurement.score
        self.metric, self.maximize = score.name, score.maximised
        self._params, self._search_rounds = students.params, students.num_boost_round
        self._teacher_params = students.config.teacher_params
        names = [candidate.name for candidate in candidates]
        curves = np.array([[fold[name][0] for name in names] for fold in found])
        mean = curves.mean(axis=0)
        rounds = [score.best(curves[:, i]) + 1 for i in range(len(names))]
        scores = np.array([curves[:, i, own - 1] for i, own in enumerate(rounds)])
        self._verdict = Verdict.of(measurement, list(map(student_of, candidates)), scores, recommended, rounds)
        self._chosen, self._rounds = candidates[self._verdict.chosen], rounds[self._verdict.chosen]
        self.curves = pd.DataFrame(mean.T, pd.RangeIndex(1, len(mean.T) + 1, name="rounds"), names)
        teacher_scores = [np.mean([fold[name][1] for fold in found]) for name in names]
        of_candidates = _described(candidates).assign(rounds=rounds)
        self.summary = of_candidates.assign(score=scores.mean(axis=1), teacher_score=teacher_scores)
        self.summary[["gain", "gain_se", "low", "high"]] = self._verdict.gains
        self.summary["chosen"] = np.arange(len(candidates)) == self._verdict.chosen
        self.table = _by_fold(of_candidates, splits, scores, score.sign * (scores - scores[0]))
        is_taught = self._chosen != PLAIN
        given = {
            "privileged": is_taught and self._chosen.keywords(students.config).privileged is not None,
            "labelled": students.labelled is not None,
            "crossfit_groups": has_groups and is_taught and self._chosen.keywords(students.config).is_crossfitted,
            "constraints": students.constraints,
        }
        self._needed = tuple(name for name, is_given in given.items() if is_given)

    @property
    def candidate(self) -> str:
        """The name of the choice."""
        return self._chosen.name

    @property
    def choice(self) -> dict[str, Any]:
        """The keywords of :func:`pi_xgb.train`, a new dict each time."""
        return {**self._chosen.train_keywords, "num_boost_round": self._rounds}

    def train(
        self,
        dtrain: xgboost.DMatrix,
        *,
        privileged: xgboost.DMatrix | None = None,
        labelled: Any = None,
        teacher_weight: Any = None,
        crossfit_groups: Any = None,
        constraints: Any = (),
        **keywords: Any,
    ) -> xgboost.Booster:
        """Train the choice with the params and rounds of the cross-validation.

        Parameters
        ----------
        dtrain : xgboost.DMatrix
        privileged : xgboost.DMatrix, default=None
            The training rows, as for :func:`select`. ``privileged`` may be left out if plain XGBoost was chosen.
        labelled, teacher_weight, crossfit_groups : as for :func:`select`
            Keywords that were passed there are needed here too: ``labelled``, and for a cross-fitted teacher
            ``crossfit_groups``, by default the ``groups`` of :func:`select`.
        constraints : as for :func:`select`
            Made of the groups of these rows.
        **keywords
            Keywords of ``xgboost.train``: evals, callbacks, verbose_eval and so on.
        """
        rows = {"labelled": labelled, "teacher_weight": teacher_weight, "crossfit_groups": crossfit_groups}
        return self.fit_matrices(dtrain, Keywords(privileged, **rows), keywords, constraints=constraints)[0]

    def fit_matrices(
        self,
        dtrain: xgboost.DMatrix,
        config: Keywords,
        keywords: dict[str, Any],
        student: Any = None,
        constraints: Any = (),
    ) -> tuple[xgboost.Booster, Teacher | None]:
        """Train as :meth:`train`, optionally with another matrix of the student's rows; also return the teacher.

        For adapters.
        """
        rows = {**vars(config), "constraints": constraints or None}
        if missing := [name for name in self._needed if rows[name] is None]:
            raise ValueError(f"{' and '.join(missing)} must be passed, since select used it: pass it for these rows")
        config = dataclasses.replace(config, teacher_params=self._teacher_params)
        if not self._chosen.sees_privileged:
            config = dataclasses.replace(config, privileged=None)
        how: dict[str, Any] = {"constraints": constraints}
        students = Students.read(self._params, self._search_rounds, dtrain, config, "Selection.train", **how)
        matrix = dtrain if student is None else student
        part = FoldStudents(students, np.arange(dtrain.num_row()), matrix, np.arange(0), None)
        booster = part.fit(self._chosen, self._rounds, params=self._params, **keywords)
        return booster, part.guides[self._chosen.way].teacher if part.guides else None

    def plot(self, ax: Any = None) -> Any:
        """The gain of each way of teaching along ``kl_weight``, with standard errors; needs matplotlib."""
        return plot_selection(self.summary, self._verdict.measurement.score.unit, ax)

    def __str__(self) -> str:
        return self._verdict.text(self.summary[["rounds", "score", "gain", "low", "high"]])

    def __repr__(self) -> str:
        return f"<Selection: {self._verdict.instruction} {self._verdict.expectation}>"


def _described(candidates: Sequence[Candidate]) -> pd.DataFrame:
    """Return what each candidate is, by its name."""
    names = ["method", "teacher", "teacher_sees", "crossfit", "kl_weight"]
    rows = [(one.method, one.kind, one.sees, one.crossfit, one.kl_weight) for one in candidates]
    return pd.DataFrame(rows, pd.Index([one.name for one in candidates], name="candidate"), names)


def _by_fold(of_candidates: pd.DataFrame, splits: Sequence[Split], scores: Any, gains: Any) -> pd.DataFrame:
    """Return a row for each candidate and fold, from arrays of this shape."""
    of_folds = [(split.repeat, split.fold, len(split.train), len(split.test)) for split in splits]
    cells = pd.DataFrame(of_folds, columns=["repeat", "fold", "n_train", "n_test"])
    table = of_candidates.reset_index().merge(cells, how="cross").assign(score=scores.ravel(), gain=gains.ravel())
    last = ["repeat", "fold", "rounds", "score", "gain", "n_train", "n_test"]
    return table[[*table.columns.difference(last, sort=False), *last]]
