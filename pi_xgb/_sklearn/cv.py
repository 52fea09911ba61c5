"""Estimators that choose method, teacher and weight by cross-validation with ``select``."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import xgboost

from .._core.keywords import DEFAULT_METHOD, Keywords, MethodName
from .._rows.tables import check_no_text
from .._selection.candidates import PLAIN, STUDENT_FEATURES
from .._selection.select import Selection, select
from .._xgb.signature import called_like, keyword_names
from .estimators import PrivilegedXGBClassifier, PrivilegedXGBModel, PrivilegedXGBRegressor
from .trainer import Trainer

_SELECT_PARAMETERS = (
    *("method", "kl_weight", "teacher_sees", "crossfit", "teacher_params"),
    *("metric", "standard_errors", "nfold", "repeats", "folds"),
)


class SelectionTrainer(Trainer):
    """Select by cross-validation, then train the choice."""

    has_teacher, is_plain = True, False

    def _read_parameters(self) -> None:
        """Raise for parameters that the selection would ignore; the others are grids, which ``select`` checks."""
        model = self.model
        for name in ("constraints", "engine", "early_stopping_rounds"):
            value = getattr(model, name)
            if value and value != "auto":
                raise ValueError(
                    f"{name}={value!r:.60} would be ignored in the selection, whose folds choose method and rounds: "
                    "leave it out, or use PrivilegedXGBClassifier"
                )
        check_no_text(self.views.privileged, "privileged")

    def __call__(
        self, params: dict[str, Any], dtrain: xgboost.DMatrix, num_boost_round: int, **keywords: Any
    ) -> xgboost.Booster:
        """Select on matrices that can be sliced, then train on the matrix from XGBoost."""
        self._check_cuttable(dtrain, keywords)
        model, label, weight, seed = self.model, dtrain.get_label(), dtrain.get_weight(), self.model.random_state
        student = self.matrix(
            self.views.student, label, weight=weight if weight.size else None, feature_types=model.feature_types
        )
        privileged = None if self.views.privileged is None else self.matrix(self.views.privileged, label)
        rows = {"labelled": self.labelled, "teacher_weight": self.teacher_weight}
        selection = model.selection_ = select(
            params,
            student,
            num_boost_round,
            privileged=privileged,
            teacher=self.teacher,
            groups=self.crossfit_groups,
            **rows,
            seed=int(seed) if isinstance(seed, (int, np.integer)) else 0,
            n_jobs=model.fold_jobs,
            progress=False,
            **{name: getattr(model, name) for name in _SELECT_PARAMETERS},
        )
        config = Keywords(privileged, crossfit_groups=self.crossfit_groups, **rows)
        booster, teacher = selection.fit_matrices(student, config, keywords, student=dtrain)
        self.teachers.extend([] if teacher is None else [teacher])
        return booster

    def _check_cuttable(self, dtrain: xgboost.DMatrix, keywords: dict[str, Any]) -> None:
        for keyword, name in (("xgb_model", "xgb_model"), ("obj", "a function as objective")):
            if keywords.pop(keyword, None) is not None:
                raise ValueError(f"{name} cannot be cross-validated: leave it out, or use PrivilegedXGBClassifier")
        if dtrain.get_base_margin().size or dtrain.get_float_info("feature_weights").size:
            raise ValueError("base_margin and feature_weights are not supported in cross-validation: leave them out")


class _SelectionModel(PrivilegedXGBModel):
    """Base of the classifier and the regressor; ``fit`` sets ``selection_``."""

    selection_: Selection
    _trainer_class = SelectionTrainer

    @called_like(xgboost.XGBRegressor.__init__)
    def __init__(
        self,
        *,
        method: MethodName | Iterable[MethodName] = DEFAULT_METHOD,
        kl_weight: float | Iterable[float] | None = None,
        teacher: Any = None,
        teacher_sees: Any = None,
        crossfit: int | Iterable[int] | None = None,
        metric: Any = None,
        standard_errors: float | None = None,
        nfold: int = 5,
        repeats: int | None = None,
        folds: Any = None,
        fold_jobs: int = 1,
        **kwargs: Any,
    ) -> None:
        self.metric = metric
        self.standard_errors = standard_errors
        self.nfold = nfold
        self.repeats = repeats
        self.folds = folds
        self.fold_jobs = fold_jobs
        grids: Any = {"method": method, "kl_weight": kl_weight, "teacher": teacher, "teacher_sees": teacher_sees}
        grids["crossfit"] = crossfit
        super().__init__(**grids, **kwargs)

    _own_parameters = PrivilegedXGBModel._own_parameters.union(keyword_names(__init__))

    @property
    def best_params_(self) -> dict[str, Any]:
        """The chosen parameters, for the estimator without CV.

        A choice without privileged features, whose ``selection_.choice["privileged"]`` is None, is fitted without them.
        """
        choice = self.selection_.choice
        choice.pop("privileged", None)  # None for a teacher without privileged features
        return {"n_estimators": choice.pop("num_boost_round"), **choice}

    @property
    def best_score_(self) -> float:
        """The mean score of the choice on held-out rows; higher is better, so a loss is negative."""
        summary = self.selection_.summary
        return self._sign * float(summary.loc[summary["chosen"], "score"].iloc[0])

    @property
    def cv_results_(self) -> dict[str, Any]:
        """The scores of every candidate, with the keys of scikit-learn's searches; higher is better."""
        summary, table = self.selection_.summary, self.selection_.table
        scores = self._sign * table.pivot(index="candidate", columns=["repeat", "fold"], values="score")
        scores = scores.loc[summary.index]
        params = summary[["method", "teacher", "teacher_sees", "crossfit", "kl_weight"]]
        params = params.assign(n_estimators=summary["rounds"]).astype({"crossfit": "Int64"}).astype(object)
        params["method"] = params["method"].replace(PLAIN.method, DEFAULT_METHOD)
        params = params.mask(params.isin(["", STUDENT_FEATURES]))
        return {
            "params": params.where(params.notna(), None).to_dict("records"),
            "candidate": summary.index.to_numpy(),
            **{f"split{i}_test_score": column for i, column in enumerate(scores.to_numpy().T)},
            "mean_test_score": scores.mean(axis=1).to_numpy(),
            "std_test_score": scores.std(axis=1, ddof=0).to_numpy(),
            "rank_test_score": scores.mean(axis=1).rank(ascending=False, method="min").to_numpy(dtype=int),
        }

    @property
    def _sign(self) -> float:
        return 1.0 if self.selection_.maximize else -1.0


class PrivilegedXGBClassifierCV(_SelectionModel, PrivilegedXGBClassifier):
    """:class:`PrivilegedXGBClassifier` that chooses method, teacher, ``kl_weight`` and rounds by :func:`pi_xgb.select`.

    ``fit`` cross-validates every candidate, plain XGBoost included, then trains the choice on all rows. This
    takes 35 trainings by default, and more with few rows (see :func:`pi_xgb.select`). A search or cross-validation
    around it repeats them in every fold. ``predict`` is that of a plain model and needs no privileged columns.

    Rows with a missing y are in the training part of every fold and in no test part. ``crossfit_groups`` of ``fit``
    stay together in the folds of the choice as well.

    Parameters
    ----------
    method, kl_weight, teacher, teacher_sees, crossfit, teacher_params, metric : as for :func:`pi_xgb.select`
    standard_errors, nfold, repeats, folds : as for :func:`pi_xgb.select`
        ``random_state`` shuffles the folds if it is a number.
    fold_jobs : int, default=1
        Number of folds to train in parallel; ``n_jobs`` is XGBoost's, the threads of each training.
    privileged_features : as for :class:`PrivilegedXGBClassifier`
    **kwargs
        The parameters of ``xgboost.XGBClassifier``; ``n_estimators`` is the maximum number of rounds.
        ``early_stopping_rounds`` is not supported, since the folds choose the rounds.

    Attributes
    ----------
    selection_
        The :class:`pi_xgb.Selection`: tables, plot, summary. It holds no value of any column.
    best_params_, best_score_, cv_results_
        The choice as parameters of :class:`PrivilegedXGBClassifier`, its mean score, and the scores of all candidates
        in every fold. Higher is better, so a loss is negative.

    Examples
    --------
    >>> import pi_xgb
    >>> from pi_xgb.sklearn import PrivilegedXGBClassifierCV
    >>> data = pi_xgb.datasets.make_privileged(300, seed=0)
    >>> model = PrivilegedXGBClassifierCV(n_estimators=10, max_depth=2, n_jobs=1, crossfit=2, nfold=2)
    >>> model.fit(data.x, data.y, privileged=data.z).best_params_["kl_weight"]
    2.0
    >>> model.predict_proba(data.x).shape
    (300, 2)
    """


class PrivilegedXGBRegressorCV(_SelectionModel, PrivilegedXGBRegressor):
    """:class:`PrivilegedXGBRegressor` that chooses method, teacher, ``kl_weight`` and rounds by :func:`pi_xgb.select`.

    Parameters
    ----------
    method, kl_weight, teacher, teacher_sees, crossfit, metric, standard_errors : as for :func:`pi_xgb.select`
    nfold, repeats, folds : as for :func:`pi_xgb.select`
    fold_jobs, teacher_params, privileged_features : as for :class:`PrivilegedXGBClassifierCV`
    **kwargs
        The parameters of ``xgboost.XGBRegressor``. Attributes are those of :class:`PrivilegedXGBClassifierCV`.

    Examples
    --------
    >>> import pi_xgb
    >>> from pi_xgb.sklearn import PrivilegedXGBRegressorCV
    >>> data = pi_xgb.datasets.make_privileged(200, seed=0)
    >>> model = PrivilegedXGBRegressorCV(n_estimators=10, max_depth=2, n_jobs=1, method="jpib", nfold=3)
    >>> model.fit(data.x, data.q, privileged=data.z).selection_.metric
    'rmse'
    """
