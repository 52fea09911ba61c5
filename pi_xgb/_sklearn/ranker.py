"""The ranker: that of XGBoost, whose ``fit`` calls ``pi_xgb.train``."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
import pandas as pd
import xgboost

from .._rows.matrix_checks import check_evals
from .._rows.per_row import Span, per_row
from .._rows.tables import check_orders, row_count
from .estimators import PrivilegedXGBModel

_QID = "qid"


class PrivilegedXGBRanker(PrivilegedXGBModel, xgboost.XGBRanker):
    """``XGBRanker`` with a teacher that sees features which exist at training time only: clicks, time spent, sales.

    Parameters, attributes and methods of ``xgboost.XGBRanker`` keep their meaning. Without a teacher, or with
    ``kl_weight=0`` and no missing y, the model equals XGBoost's to the bit. A teacher supports
    ``objective="rank:ndcg"``, the default, and ``"rank:pairwise"``. ``"rank:ndcg"`` requires ``ndcg_exp_gain=False``,
    since XGBoost's default is not supported. ``qid`` may be a column of X of this name, also at ``predict`` and
    ``score``.

    Parameters
    ----------
    method, kl_weight, teacher, teacher_sees, crossfit, teacher_params, engine : as for :class:`PrivilegedXGBClassifier`
    privileged_features, constraints : as for :class:`PrivilegedXGBClassifier`
        Queries are cross-fitted as a whole. ``"jpib"`` and constraints do not support rankings. An estimator as teacher
        needs ``predict``; only the order of its answers matters.
    **kwargs
        The parameters of ``xgboost.XGBRanker``.

    Examples
    --------
    >>> import numpy as np, pi_xgb
    >>> from pi_xgb.sklearn import PrivilegedXGBRanker
    >>> data = pi_xgb.datasets.make_privileged(400, seed=0)
    >>> qid = np.arange(400) // 10
    >>> model = PrivilegedXGBRanker(n_estimators=20, ndcg_exp_gain=False, crossfit=5, n_jobs=1)
    >>> model.fit(data.x, data.y, qid=qid, privileged=data.z).predict(data.x).shape
    (400,)
    >>> bool(model.score(data.x.assign(qid=qid), data.y) > 0.7)
    True
    """

    _by_row = ("base_margin",)

    def fit(
        self,
        X: Any,
        y: Any,
        *,
        group: Any = None,
        qid: Any = None,
        privileged: Any = None,
        teacher: Any = None,
        teacher_weight: Any = None,
        crossfit_groups: Any = None,
        sample_weight: Any = None,
        base_margin: Any = None,
        eval_set: Any = None,
        eval_group: Any = None,
        eval_qid: Any = None,
        eval_privileged: Any = None,
        verbose: bool | int | None = False,
        xgb_model: Any = None,
        sample_weight_eval_set: Any = None,
        base_margin_eval_set: Any = None,
        feature_weights: Any = None,
    ) -> Self:
        """Fit the student on X and y, guided by a teacher that sees the privileged columns.

        Parameters
        ----------
        X, y, privileged, teacher, crossfit_groups, eval_set, eval_privileged : as for :class:`PrivilegedXGBClassifier`
            Queries with a missing y learn from the teacher only.
        group, qid, eval_group, eval_qid, sample_weight, base_margin, xgb_model : as for ``xgboost.XGBRanker``
        sample_weight_eval_set, base_margin_eval_set, feature_weights : as for ``xgboost.XGBRanker``
            Weights are per query.
        verbose : bool, default=False
            As for ``xgboost.XGBRanker``.
        teacher_weight : array-like of float, default=None
            One number of at least 0 per row, the same in all rows of a query, or 0.
        """
        given = {name: value for name, value in locals().items() if name not in ("self", "__class__")}
        if eval_set is not None:
            eval_set = given["eval_set"] = check_evals(eval_set, "eval_set", "(X, y)")
        if qid is None and group is None:
            given |= _without_qid(X, eval_set, eval_qid)
        if group is not None and (n_rows := np.sum(group)) != row_count(X):  # XGBoost checks other matrices only
            raise ValueError(f"group must sum to the {row_count(X)} rows of X, got {n_rows}: or pass qid")
        _check_qid(given["X"], given["qid"], "qid", "X")
        for i, ((X_i, _), qid_i) in enumerate(zip(given["eval_set"] or (), given["eval_qid"] or (), strict=False)):
            _check_qid(X_i, qid_i, f"eval_qid[{i}]", f"X of eval_set[{i}]")
        return self._fit(**given)

    def score(self, X: Any, y: Any) -> float:
        """Return the last evaluation metric, as ``XGBRanker`` does; privileged columns in X are ignored."""
        return float(super().score(self._student_part(X), y))


def _has_qid(X: Any) -> bool:
    return isinstance(X, pd.DataFrame) and _QID in X.columns


def _without_qid(X: Any, eval_set: Any, eval_qid: Any) -> dict[str, Any]:
    """Return the tables without the column of queries, and the queries."""
    if not _has_qid(X):
        return {}
    student = X.drop(columns=_QID)
    if eval_set is not None and eval_qid is None:
        eval_qid = [X_i[_QID] if _has_qid(X_i) else None for X_i, _ in eval_set]
        # XGBoost recognises the training rows in eval_set by the identity of X.
        eval_set = [
            (student if X_i is X else X_i.drop(columns=_QID) if _has_qid(X_i) else X_i, y_i) for X_i, y_i in eval_set
        ]
    return {"X": student, "qid": X[_QID], "eval_set": eval_set, "eval_qid": eval_qid}


def _check_qid(X: Any, qid: Any, name: str, X_name: str) -> None:
    """Raise for queries that XGBoost would read otherwise: of rows in another order, or not 32-bit whole numbers."""
    if qid is None:
        return
    check_orders({X_name: X, name: qid})
    hint = "sort all rows by it (numpy.argsort(qid, kind='stable')), or renumber the queries (pandas.factorize(qid)[0])"
    query = per_row(name, qid, row_count(X), within=Span(0, 2**32 - 1), table=X_name, hint=hint)
    if (query % 1).any() or (np.diff(query) < 0).any():
        raise ValueError(f"{name} must hold whole numbers that never decrease from row to row: {hint}")
