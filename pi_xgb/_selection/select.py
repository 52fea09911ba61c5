"""``select``: which method, teacher, ``kl_weight`` and number of rounds, by cross-validation."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import pandas as pd
import xgboost

from .._core.checks import check_is_dmatrix
from .._core.config import MethodName, TeacherConfig
from .._core.spec import Spec
from .._core.task import Task
from .._core.teachers import Teacher
from .._core.train import train
from .._plots.selection import plot_selection
from .._progress import progress_bar
from .._rows.resume_cache import ResumeCache
from .._rows.supervision import read_labelled, warn_of_idle_rows
from .._stats.paired import STANDARD_ERRORS, Interval
from .._warnings import warn_user
from .._xgb.signature import called_like
from .._xgb.threads import jobs_side_by_side
from .candidates import KL_WEIGHTS, METHOD, PLAIN, candidates_of
from .problem import Recipe, check_constraints, labelled_part, settled
from .scores import Score, score_of
from .search import LEAST_WRONG, Found, check_crossfit_fits, check_effort, search, summary_of, table_of
from .splits import usual_repeats
from .words import against, better_by, gain_in_words, in_lines, name_of


@called_like(xgboost.cv)
def select(
    params: Any,
    dtrain: xgboost.DMatrix,
    num_boost_round: int = 100,
    *,
    privileged: xgboost.DMatrix | None = None,
    kl_weight: float | Iterable[float] = KL_WEIGHTS,
    method: MethodName | Iterable[MethodName] = METHOD,
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
    standard_errors: float = STANDARD_ERRORS,
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

    Every candidate is trained on the training rows of every fold and scored on its held-out rows; plain XGBoost is
    always a candidate. Plain XGBoost is replaced only if the mean gain of the best candidate exceeds
    ``standard_errors`` standard errors on the same folds. It is also kept where errors are too few to show a gain:
    every row has a label, and plain XGBoost gets fewer than ten held-out rows wrong. A chosen gain may still be
    chance: see its interval. The teachers of a fold see its training rows only.

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
    kl_weight : float or sequence of float, default=(1.0, 10.0)
        The values to try, one or several. Plain XGBoost, which is 0, is always tried.
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
    metric : str or scorer, default=None
        The metric of the choice: a metric of XGBoost's by name, or a scorer of scikit-learn's, by name or made by
        ``make_scorer``. By default the last ``eval_metric`` of the params, and without it the loss of the training:
        logloss, mlogloss or rmse. The loss separates small differences better than auc or error. A scorer is called
        in every round; XGBoost's metrics are much faster.
    custom_metric : callable, default=None
    maximize : bool, default=None
        Instead of ``metric``: a function as for ``xgboost.cv``, and whether more is better, which is known for
        ``metric``.
    standard_errors : float, default=0.5
        The threshold of a gain: plain XGBoost is replaced if the mean gain is larger than this many standard errors,
        corrected for folds that share their rows (Nadeau and Bengio). 1 is more careful and misses gains on small
        data; 0 accepts any gain, however few the errors.
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
        training has one thread and ``n_jobs`` is -1 (1 with a scorer or a function as the metric): more threads would
        wait for each other in every round, which costs more than it saves, above all on a busy machine. Otherwise 1.
    progress : bool, default=None
        Whether to show progress: a bar (with tqdm) on a terminal and in a notebook, elsewhere lines on standard
        error. None: a bar on terminals and in notebooks, elsewhere a line every half minute.
    resume : str or path, default=None
        A file for the finished folds. After an interruption the same call with the same file continues; a file of
        another search is an error.
    resume_key : str, default=None
        A text that represents your own code: scorers, functions, splitters, constraints of your own classes.
        ``resume`` needs it with any of them, and cannot detect changes: pass another text after a change.

    Returns
    -------
    Selection
        The whole table, the choice, a plot, and :meth:`Selection.train` for the final model.

    Notes
    -----
    By default it costs 25 trainings per repeat: in each of five folds plain XGBoost and two students, and a teacher
    for each pair of folds, which is a booster, a forest and a linear model. In general every fold costs a training per
    candidate (two for JPIB), one for an in-sample teacher and ``crossfit`` for any other (half of that where they are
    shared); teachers serve every ``kl_weight``. Students are trained natively where that gives the same model up to
    rounding.

    The score of the choice is the best of several, so it is slightly optimistic. :func:`pi_xgb.compare` also holds
    rows out of the choice, and tries teachers without privileged features, a linear model and a forest: ``print`` of
    a selection recommends none of these.

    Examples
    --------
    >>> import pi_xgb, xgboost as xgb
    >>> data = pi_xgb.datasets.make_privileged(300, seed=0)
    >>> dtrain, privileged = xgb.DMatrix(data.x, data.y), xgb.DMatrix(data.z, data.y)
    >>> params = {"objective": "binary:logistic", "max_depth": 2, "nthread": 1}
    >>> selection = pi_xgb.select(params, dtrain, 20, privileged=privileged, teacher="boosted", nfold=3)
    >>> selection.choice["method"], selection.choice["kl_weight"]
    ('kbpib', 10.0)
    >>> booster = selection.train(dtrain, privileged=privileged)
    """
    jobs = check_effort(num_boost_round, standard_errors, n_jobs, progress)
    candidates = candidates_of(params, method, teacher, teacher_sees, crossfit, kl_weight)
    has_privileged = privileged is not None
    crossfitted = [candidate for candidate in candidates if candidate.crossfits(has_privileged=has_privileged)]
    if crossfit_groups is not None and not crossfitted:
        raise ValueError(
            f"crossfit_groups need crossfit of at least 2, got crossfit={crossfit!r}: leave crossfit_groups out, or "
            "add folds"
        )
    recipe = Recipe(settled(params), int(num_boost_round), teacher_params)
    rows = {"labelled": labelled, "teacher_weight": teacher_weight, "crossfit_groups": crossfit_groups}
    sees_all = any(candidate.sees_all for candidate in candidates)
    problem = recipe.problem(
        dtrain, TeacherConfig(privileged, **rows), "select", groups=groups, constraints=constraints, sees_all=sees_all
    )
    score = score_of(metric, custom_metric, maximize, recipe.params, problem.loss, problem.plain)
    if repeats is None:
        # Few groups have few partitions.
        repeats = 1 if problem.groups is not None else usual_repeats(problem.plain.num_row())
    splits = problem.splits(nfold, repeats, folds, seed)
    check_crossfit_fits(problem, candidates, [split.train for split in splits], "a fold")
    problem.check_candidates(candidates)
    warn_of_idle_rows(problem.idle)
    inputs = {**problem.inputs, "metric": metric, "custom_metric": custom_metric, "maximize": maximize}
    inputs |= {"candidates": candidates, "folds": [getattr(folds, "split", None), splits]}
    cache = ResumeCache(resume, resume_key, "select", inputs)
    n_left = sum(split.name not in cache for split in splits)
    jobs = jobs or jobs_side_by_side(params, dtrain.num_row(), score.custom)
    with progress_bar(n_left * len(candidates), "select", progress, len(candidates)) as step:
        found = search(problem, splits, candidates, score, standard_errors, n_jobs=jobs, step=step, cache=cache)
    if problem.labelled is None:  # unlabelled rows give a gain that is not smoothing
        _warn_of_poor_teacher(found, score)
    crossfits = found.candidate.crossfits(has_privileged=has_privileged)
    together = crossfits and (crossfit_groups is not None or groups is not None)
    given = {
        "privileged": has_privileged,
        "labelled": problem.labelled is not None,
        "crossfit_groups": together,
        "constraints": constraints,
    }
    return Selection(recipe, score, found, [name for name, is_given in given.items() if is_given])


def _warn_of_poor_teacher(found: Found, score: Score) -> None:
    """Warn if the teacher is no better than its student, since the gain may be smoothing."""
    teacher, student = found.teacher_scores[found.chosen], found.scores[found.chosen].mean()
    if score.sign * (teacher - student) <= 0:  # False for plain XGBoost, whose teacher scores NaN
        warn_user(
            f"the teacher of {found.candidate.name} is no better than its student on the same held-out rows "
            f"({name_of(score)} {teacher:.4f} and {student:.4f}), so the gain may be smoothing without privileged "
            "features: measure the gain of a teacher without them by pi_xgb.compare"
        )


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
        ``teacher_weight``, ``crossfit_groups``). With them the teacher has as many rounds as the student;
        :meth:`train` uses the rounds of the cross-validation, and accepts constraints.
    candidate
        The name of the choice, as in the tables.
    n_errors
        The number of labelled rows that plain XGBoost gets wrong where they are held out (all of them for numbers).
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

    def __init__(self, recipe: Recipe, score: Score, found: Found, needed: Sequence[str] = ()) -> None:
        self.metric, self.maximize = score.name, score.maximised
        self.table, self.summary = table_of(found, score), summary_of(found)
        self.curves = pd.DataFrame(
            found.mean_curves.T,
            index=pd.RangeIndex(1, recipe.num_boost_round + 1, name="rounds"),
            columns=[candidate.name for candidate in found.candidates],
        )
        self.n_errors, self._is_decidable = found.wrong, found.is_decidable
        self._score = Score(score.name, score.maximised)  # without the user's function
        self._recipe, self._chosen, self._rounds = recipe, found.candidate, found.best_rounds
        self._needed = tuple(needed)

    @property
    def candidate(self) -> str:
        """The name of the choice."""
        return self._chosen.name

    @property
    def choice(self) -> dict[str, Any]:
        """The keywords of :func:`pi_xgb.train`, a new dict each time."""
        return {**self._chosen.train_keywords, "num_boost_round": self._rounds}

    @property
    def gain(self) -> float:
        """The mean gain of the choice over plain XGBoost; 0 if plain XGBoost was chosen."""
        return float(self.summary["gain"][self.candidate])

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
        if "num_boost_round" in keywords:
            raise ValueError(
                f"num_boost_round must not be passed, since cross-validation chose {self._rounds}: for another number "
                "call pi_xgb.train with the keywords of .choice"
            )
        rows = {"labelled": labelled, "teacher_weight": teacher_weight, "crossfit_groups": crossfit_groups}
        return self.fit_matrices(dtrain, TeacherConfig(privileged, **rows), keywords, constraints=constraints)[0]

    def fit_matrices(
        self,
        dtrain: xgboost.DMatrix,
        config: TeacherConfig,
        keywords: dict[str, Any],
        student: Any = None,
        constraints: Any = (),
    ) -> tuple[xgboost.Booster, Teacher | None]:
        """Train as :meth:`train`, optionally with another matrix of the student's rows; also return the teacher.

        For adapters.
        """
        check_is_dmatrix(dtrain, "dtrain")
        check_constraints(constraints, dtrain.num_row())
        rows = {**vars(config), "constraints": constraints or None}
        needed = [name for name in self._needed if name != "privileged" or self._chosen != PLAIN]
        missing = [name for name in needed if rows[name] is None]
        if missing:
            raise ValueError(
                f"{' and '.join(missing)} must be passed, since select used it: pass the values of these rows"
            )
        params, rounds = self._recipe.params, self._rounds
        student = dtrain if student is None else student
        if self._chosen == PLAIN and constraints:
            teacher = list(constraints)
            return train(params, student, rounds, teacher=teacher, labelled=config.labelled, **keywords), None
        if self._chosen == PLAIN:
            labelled = read_labelled(config.labelled, dtrain.num_row())
            if labelled is not None:
                task = Task.from_matrix(Spec.read(params), dtrain, labelled)
                task.check_evals(student, keywords.get("evals") or ())
                student = labelled_part(dtrain, labelled)
            return xgboost.train(params, student, rounds, **keywords), None
        sees_all = self._chosen.sees_all
        problem = self._recipe.problem(dtrain, config, "Selection.train", constraints=constraints, sees_all=sees_all)
        taught = problem.teacher_of(self._chosen)
        return problem.fit(self._chosen, rounds, taught, params, dtrain=student, **keywords), taught

    def plot(self, ax: Any = None) -> Any:
        """The gain of each way of teaching along ``kl_weight``, with standard errors; needs matplotlib."""
        return plot_selection(self.summary, better_by(self._score), ax)

    def __str__(self) -> str:
        return in_lines(self._sentence())

    def _sentence(self) -> str:
        """The recommendation, its reason, and what was not tried."""
        best = self.summary.iloc[1:].sort_values("gain", ascending=False).iloc[0]
        gain = gain_in_words(Interval(best.gain, best.gain_se, best.low, best.high))
        value = against(self._score, best.score, self.summary["score"].iloc[0])
        reason = f"{value} of plain XGBoost on held-out rows, a gain of {gain}"
        model = f"{'plain XGBoost' if self._chosen == PLAIN else self.candidate} ({self._rounds} rounds)"
        if not self._is_decidable:
            wrong = f"plain XGBoost gets {self.n_errors:.0f} rows wrong, {LEAST_WRONG} are needed to show a gain"
            sentence = f"Undecided, {model} is chosen: {wrong}"
        elif self._chosen == PLAIN:
            reason = f"no gain in {name_of(self._score)} is convincing, the best is {gain} by {best.name}"
            sentence = f"Deploy {model}: {reason}"
        elif not best.low > 0:
            sentence = f"Undecided, {model} is chosen: {reason}, which may be chance"
        else:
            sentence = f"Deploy {model}: {reason}"
        return sentence + self._not_tried()

    def _not_tried(self) -> str:
        """What ``compare`` can recommend and ``select`` cannot."""
        if "privileged" not in self._needed:
            return ""
        has_rivals = Spec.read(self._recipe.params).loss.has_gradient and "constraints" not in self._needed
        others = "teachers without privileged features" + (
            " and rivals (a linear model, a forest)" if has_rivals else ""
        )
        return f". Not tried, to save time: {others}. pi_xgb.compare tries them"

    def __repr__(self) -> str:
        return f"<Selection: {self._sentence()}>"
