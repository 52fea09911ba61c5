"""The ranker: that of XGBoost, whose ``fit`` calls ``pi_xgb.train``."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
import pandas as pd
import xgboost

from .._rows.per_row import FINITE, NOT_NEGATIVE, per_row
from .._rows.row_alignment import check_orders, eval_pairs, row_count
from .._rows.supervision import row_weights
from .._rows.views import divide
from .._xgb.matrix import runs
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

    def fit(
        self,
        X: Any,
        y: Any,
        *,
        group: Any = None,
        qid: Any = None,
        privileged: Any = None,
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
        X, y, privileged, crossfit_groups, eval_set, eval_privileged : as for :class:`PrivilegedXGBClassifier`
            Queries with a missing y learn from the teacher only.
        group, qid, eval_group, eval_qid, sample_weight, base_margin, xgb_model : as for ``xgboost.XGBRanker``
        sample_weight_eval_set, base_margin_eval_set, feature_weights : as for ``xgboost.XGBRanker``
            Weights are per query.
        verbose : bool, default=False
            As for ``xgboost.XGBRanker``.
        teacher_weight : array-like of float, default=None
            One number of at least 0 per row, the same in all rows of a query, or 0.
        """
        eval_set = eval_pairs(eval_set)
        if qid is None and group is None:
            X, qid, eval_set, eval_qid = _without_qid(X, eval_set, eval_qid)
        check_orders(X, "X", {"qid": qid})
        _check_queries(X, {"group": group, "qid": qid, "sample_weight": sample_weight})
        of_eval_set = {"eval_group": eval_group, "eval_qid": eval_qid, "sample_weight_eval_set": sample_weight_eval_set}
        for i, (X_i, _) in enumerate(eval_set or ()):
            given = {f"{k}[{i}]": v[i] if v is not None and i < len(v) else None for k, v in of_eval_set.items()}
            _check_queries(X_i, given, f"X of eval_set[{i}]")
        return self._fit(
            X,
            y,
            divide(X, eval_set, privileged, eval_privileged, self.privileged_features),
            {"teacher_weight": teacher_weight, "crossfit_groups": crossfit_groups},
            {"base_margin": base_margin},
            {"base_margin_eval_set": base_margin_eval_set},
            group=group,
            qid=qid,
            sample_weight=sample_weight,
            sample_weight_eval_set=sample_weight_eval_set,
            eval_group=eval_group,
            eval_qid=eval_qid,
            verbose=verbose,
            xgb_model=xgb_model,
            feature_weights=feature_weights,
        )

    def score(self, X: Any, y: Any) -> float:
        """Return the last evaluation metric, as ``XGBRanker`` does; privileged columns in X are ignored."""
        if not _has_qid(X):
            return float(super().score(self._student_part(X), y))
        return float(super().score(self._student_part(X.drop(columns=_QID)).assign(**{_QID: X[_QID]}), y))


def _has_qid(X: Any) -> bool:
    return isinstance(X, pd.DataFrame) and _QID in X.columns


def _without_qid(X: Any, eval_set: Any, eval_qid: Any) -> tuple[Any, Any, Any, Any]:
    """Return the tables without their query columns, which no teacher should see, and these columns."""
    if not _has_qid(X):
        return X, None, eval_set, eval_qid
    student = X.drop(columns=_QID)
    if eval_set is not None and eval_qid is None:
        eval_qid = [X_i[_QID] if _has_qid(X_i) else None for X_i, _ in eval_set]
        # XGBoost recognises the training rows in eval_set by the identity of X.
        eval_set = [
            (student if X_i is X else X_i.drop(columns=_QID) if _has_qid(X_i) else X_i, y_i) for X_i, y_i in eval_set
        ]
    return student, X[_QID], eval_set, eval_qid


def _check_queries(X: Any, queries: dict[str, Any], X_name: str = "X") -> None:
    """Check sizes or numbers of queries and their weights; the messages of XGBoost come from C++."""
    (group_name, group), (qid_name, qid), (weight_name, weight) = queries.items()
    n_queries = None
    if group is not None:
        n_queries = _number_of_sizes(group, X, group_name, X_name)
    if qid is not None:
        n_queries = _number_of_runs(qid, X, qid_name, X_name)
    if n_queries is not None:
        row_weights(weight, n_queries, name=weight_name, unit="query", table=X_name)


def _number_of_sizes(group: Any, X: Any, name: str, X_name: str) -> int:
    """Return the number of queries from ``group``, the number of rows of each."""
    sizes = per_row(name, group, within=NOT_NEGATIVE, unit="query", hint="give the number of rows of each query")
    n_rows = row_count(X)
    if (sizes % 1).any() or sizes.sum() != n_rows:
        raise ValueError(
            f"{name} must be the number of rows of each query, {n_rows} rows of {X_name} in total, got "
            f"{sizes.sum():g} in {len(sizes)} queries: for a query number per row, use qid"
        )
    return len(sizes)


def _number_of_runs(qid: Any, X: Any, name: str, X_name: str) -> int:
    """Return the number of queries in ``qid``, which XGBoost reads as 32-bit whole numbers."""
    hint = "number the queries in the order of their rows, by pandas.factorize(...)[0]"
    query = per_row(name, qid, row_count(X), within=FINITE, dtype=None, table=X_name, hint=hint)
    query = query if query.dtype.kind == "f" else query.astype(np.int64)
    back = np.flatnonzero(query[1:] < query[:-1])
    if back.size:
        raise ValueError(
            f"{name} must not decrease from row to row, got {query[back[0] + 1]:g} after {query[back[0]]:g} in row "
            f"{back[0] + 1}: sort all rows by it, for example by np.argsort(qid, kind='stable')"
        )
    read = query.astype(np.int64) % 2**32
    if not np.array_equal(np.sign(np.diff(read)), np.sign(np.diff(query))):
        raise ValueError(
            f"{name} must hold whole numbers from 0 to 4294967295, which XGBoost distinguishes, got {query[0]} to "
            f"{query[-1]}: renumber the queries, for example by pandas.factorize(qid)[0]"
        )
    return len(runs(query)[0])
