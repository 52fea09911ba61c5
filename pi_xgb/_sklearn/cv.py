"""Estimators that choose their teacher by cross-validation: ``select`` in scikit-learn's clothes."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import xgboost

from .._core.methods import METHODS
from .._rows.checks import check_whole
from .._rows.views import Views
from .._selection.candidates import CROSSFIT, KL_WEIGHTS, TEACHERS
from .._selection.select import Selection, select
from .._selection.splits import check_classes
from .._stats.paired import STANDARD_ERRORS
from .estimators import PrivilegedXGBClassifier, PrivilegedXGBRegressor

_OF_SELECT = ("method", "kl_weight", "teacher", "crossfit", "teacher_params", "metric", "standard_errors")
_FOLDS = ("nfold", "repeats", "folds")
_OWN = frozenset({"metric", "standard_errors", *_FOLDS, "fold_jobs"})


@dataclasses.dataclass(frozen=True)
class _Chooser:
    """A guide that selects and then trains the choice, called as XGBoost's estimators call ``xgboost.train``."""

    model: Any
    views: Views
    teaches: bool = True
    classes: Any = None
    """What the user calls the classes, for errors."""

    def check_early_stopping(self, early_stopping_rounds: int | None, eval_set: Any) -> None:
        """Rounds are chosen by the folds."""
        if early_stopping_rounds:
            raise ValueError(
                "early_stopping_rounds and the folds would both choose the number of rounds: leave it out, "
                "n_estimators is the most that may be chosen"
            )

    def __call__(
        self, params: dict[str, Any], dtrain: xgboost.DMatrix, num_boost_round: int, **keywords: Any
    ) -> xgboost.Booster:
        """Select on matrices that can be cut, then train on the one that XGBoost made."""
        for name in ("xgb_model", "obj"):
            if keywords.pop(name, None) is not None:
                raise ValueError(f"{name} cannot be cross-validated: leave it out, or fit PrivilegedXGBClassifier")
        if dtrain.get_base_margin().size or dtrain.get_float_info("feature_weights").size:
            raise ValueError("base_margin and feature_weights are not cut into folds: leave them out")
        keywords.pop("early_stopping_rounds", None)
        model = self.model
        if self.classes is not None and model.folds is None:
            check_whole("nfold", model.nfold, 2)
            check_classes(dtrain.get_label(), model.nfold, self.classes)
        weight = dtrain.get_weight()
        student = self._matrix(
            self.views.student,
            dtrain,
            weight=weight if weight.size else None,
            feature_types=getattr(model, "feature_types", None),
        )
        privileged = self._matrix(self.views.privileged, dtrain)
        settings = {name: getattr(model, name) for name in (*_OF_SELECT, *_FOLDS)}
        found = select(
            params,
            student,
            num_boost_round,
            privileged=privileged,
            seed=_seed(model.random_state),
            n_jobs=model.fold_jobs,
            progress=False,
            **settings,
        )
        model.selection_ = found
        return found.fit_matrices(student, privileged, keywords, student=dtrain)

    def _matrix(self, table: Any, dtrain: xgboost.DMatrix, **more: Any) -> xgboost.DMatrix:
        model = self.model
        return xgboost.DMatrix(
            table,
            dtrain.get_label(),
            missing=model.missing,
            nthread=model.n_jobs,
            enable_categorical=model.enable_categorical,
            **more,
        )


def _seed(random_state: Any) -> int:
    return int(random_state) if isinstance(random_state, (int, np.integer)) else 0


def _chooser(model: Any, views: Views) -> Any:
    if views.privileged is None:
        raise ValueError(
            "there are no privileged columns, so there is nothing to choose: pass privileged= to fit (a search or a "
            "pipeline must pass it on), or name columns of X in privileged_features"
        )
    ignored = {"constraints": bool(model.constraints), f"engine={model.engine!r}": model.engine != "auto"}
    named = [name for name, is_set in ignored.items() if is_set]
    if named:
        raise ValueError(f"{', '.join(named)} would be ignored in the selection: use PrivilegedXGBClassifier for it")
    return _Chooser(model, views)


def _best_params(selection: Selection) -> dict[str, Any]:
    choice = selection.choice
    best = {"n_estimators": choice["num_boost_round"], "kl_weight": choice["kl_weight"]}
    if best["kl_weight"] == 0:
        return best
    best["method"] = choice["method"]
    if "crossfit" in choice:
        best |= {"crossfit": choice["crossfit"], "teacher": "all" if choice["allow_overlap"] else "privileged"}
    return best


def _cv_results(selection: Selection) -> dict[str, Any]:
    """As scikit-learn's searches have it: more is better."""
    sign = 1.0 if selection.maximize else -1.0
    scores = sign * selection.table.pivot(index="candidate", columns=["repeat", "fold"], values="score")
    scores = scores.loc[selection.summary.index]
    own = selection.summary
    params = own[["method", "teacher", "kl_weight"]].assign(n_estimators=own["rounds"])
    return {
        "params": params.to_dict("records"),
        "candidate": own.index.to_numpy(),
        **{f"split{i}_test_score": column for i, column in enumerate(scores.to_numpy().T)},
        "mean_test_score": scores.mean(axis=1).to_numpy(),
        "std_test_score": scores.std(axis=1, ddof=0).to_numpy(),
        "rank_test_score": scores.mean(axis=1).rank(ascending=False, method="min").to_numpy(dtype=int),
    }


class _Chosen:
    """What the two estimators share; ``selection_`` is there after ``fit``."""

    selection_: Selection

    @property
    def best_params_(self) -> dict[str, Any]:
        """Parameters of the estimator without CV that were chosen."""
        return _best_params(self.selection_)

    @property
    def best_score_(self) -> float:
        """The mean score of the choice on held-out rows; more is better, so a loss is negative."""
        sign = 1.0 if self.selection_.maximize else -1.0
        return sign * float(self.selection_.summary["score"].to_numpy()[self.selection_.summary["chosen"]][0])

    @property
    def cv_results_(self) -> dict[str, Any]:
        """The scores of every candidate, as scikit-learn's searches name them."""
        return _cv_results(self.selection_)


class PrivilegedXGBClassifierCV(PrivilegedXGBClassifier, _Chosen):
    """:class:`PrivilegedXGBClassifier` that chooses method, teacher, ``kl_weight`` and rounds by :func:`pi_xgb.select`.

    ``fit`` cross-validates every candidate, plain XGBoost among them, then trains the choice on all rows. It
    costs about 110 trainings by default (see :func:`pi_xgb.select`), in every fold of a search or cross-validation
    around it too. ``predict`` is that of a plain model, and never needs privileged columns.

    Parameters
    ----------
    method, kl_weight, teacher, crossfit, teacher_params, metric, standard_errors, nfold, repeats, folds
        As for :func:`pi_xgb.select`. The folds are shuffled by ``random_state``, if it is a number.
    fold_jobs
        How many folds to work on side by side; ``n_jobs`` is XGBoost's own, the threads of each training.
    privileged_features
        As for :class:`PrivilegedXGBClassifier`.
    **kwargs
        The parameters of ``xgboost.XGBClassifier``; ``n_estimators`` is the most rounds that may be chosen. Without
        ``early_stopping_rounds``, for the folds choose the rounds.

    Attributes
    ----------
    selection_
        The :class:`pi_xgb.Selection`: tables, plot, verdict. It holds no value of any column.
    best_params_, best_score_, cv_results_
        The choice as parameters of :class:`PrivilegedXGBClassifier`, its mean score, and those of all candidates in
        every fold. More is better here, so a loss is negative.

    Examples
    --------
    >>> import pi_xgb
    >>> from pi_xgb.sklearn import PrivilegedXGBClassifierCV
    >>> data = pi_xgb.datasets.make_privileged(300, seed=0)
    >>> model = PrivilegedXGBClassifierCV(n_estimators=20, max_depth=2, n_jobs=1, teacher="cross-fitted", nfold=3)
    >>> model.fit(data.x, data.y, privileged=data.z).best_params_["kl_weight"]
    10.0
    >>> model.predict_proba(data.x).shape
    (300, 2)
    """

    def __init__(
        self,
        *,
        method: Any = METHODS,
        kl_weight: Any = KL_WEIGHTS,
        teacher: Any = TEACHERS,
        crossfit: int = CROSSFIT,
        metric: Any = None,
        standard_errors: float = STANDARD_ERRORS,
        nfold: int = 5,
        repeats: int = 1,
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
        super().__init__(method=method, kl_weight=kl_weight, teacher=teacher, crossfit=crossfit, **kwargs)

    def get_xgb_params(self) -> dict[str, Any]:
        """The parameters of the booster: those of XGBoost's estimator."""
        return {key: value for key, value in super().get_xgb_params().items() if key not in _OWN}

    def _guide(self, views: Any) -> Any:
        return _chooser(self, views)


class PrivilegedXGBRegressorCV(PrivilegedXGBRegressor, _Chosen):
    """:class:`PrivilegedXGBRegressor` that chooses method, teacher, ``kl_weight`` and rounds by :func:`pi_xgb.select`.

    Parameters and attributes are those of :class:`PrivilegedXGBClassifierCV`.

    Examples
    --------
    >>> import pi_xgb
    >>> from pi_xgb.sklearn import PrivilegedXGBRegressorCV
    >>> data = pi_xgb.datasets.make_privileged(200, seed=0)
    >>> model = PrivilegedXGBRegressorCV(n_estimators=10, max_depth=2, n_jobs=1, method="jpib", nfold=3)
    >>> model.fit(data.x, data.q, privileged=data.z).selection_.metric
    'rmse'
    """

    def __init__(
        self,
        *,
        method: Any = METHODS,
        kl_weight: Any = KL_WEIGHTS,
        teacher: Any = TEACHERS,
        crossfit: int = CROSSFIT,
        metric: Any = None,
        standard_errors: float = STANDARD_ERRORS,
        nfold: int = 5,
        repeats: int = 1,
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
        super().__init__(method=method, kl_weight=kl_weight, teacher=teacher, crossfit=crossfit, **kwargs)

    def get_xgb_params(self) -> dict[str, Any]:
        """The parameters of the booster: those of XGBoost's estimator."""
        return {key: value for key, value in super().get_xgb_params().items() if key not in _OWN}

    def _guide(self, views: Any) -> Any:
        return _chooser(self, views)
