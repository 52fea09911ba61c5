"""The ranker of ``xgboost.dask`` with a teacher: XGBoost's ``fit`` with :func:`pi_xgb.dask.train` inside."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

from xgboost.dask import DaskXGBRanker

from .._core.keywords import Keywords, check_engine
from .._core.training import Spec
from .estimators import Columns, DaskPrivilegedXGBModel
from .queries import with_whole_queries


class DaskPrivilegedXGBRanker(DaskPrivilegedXGBModel, DaskXGBRanker):
    """``DaskXGBRanker`` with a teacher that sees features which exist at training time only: clicks, time spent, sales.

    All parameters, attributes and methods of ``xgboost.dask.DaskXGBRanker`` mean what they mean there. A teacher can
    guide the objectives of :class:`pi_xgb.sklearn.PrivilegedXGBRanker`: ``"rank:ndcg"``, the default, with
    ``ndcg_exp_gain=False``, and ``"rank:pairwise"``.

    Parameters
    ----------
    method, kl_weight, teacher, teacher_sees, crossfit, teacher_params : as for :class:`DaskPrivilegedXGBClassifier`
    allow_overlap, engine, privileged_features : as for :class:`DaskPrivilegedXGBClassifier`
        The teacher is ``"boosted"``, for whose ``crossfit`` each worker assigns its own queries to folds, or an
        estimator, for which one worker gathers the labelled queries.
    allow_group_split : bool, default=False
        False, the default: shuffle all rows so that each query lies on one worker. Everything, privileged columns
        included, must then be Dask DataFrames and Series. True: rows stay on their workers, sorted by ``qid``; each
        worker ranks its own part of a query, and with ``crossfit`` a query on two workers is an error.
    **kwargs
        The parameters of ``xgboost.dask.DaskXGBRanker``.

    Examples
    --------
    >>> from pi_xgb.dask import DaskPrivilegedXGBRanker
    >>> model = DaskPrivilegedXGBRanker(n_estimators=20, ndcg_exp_gain=False, kl_weight=1.0)
    >>> model.get_params()["allow_group_split"], model.get_xgb_params()["objective"]
    (False, 'rank:ndcg')
    """

    def __init__(self, *, allow_group_split: bool = False, **kwargs: Any) -> None:
        super().__init__(allow_group_split=allow_group_split, **kwargs)

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
        eval_set: Sequence[tuple[Any, Any]] | None = None,
        eval_group: Any = None,
        eval_qid: Sequence[Any] | None = None,
        eval_privileged: Sequence[Any] | None = None,
        verbose: int | bool = False,
        xgb_model: Any = None,
        sample_weight_eval_set: Any = None,
        base_margin_eval_set: Sequence[Any] | None = None,
        feature_weights: Any = None,
    ) -> Self:
        """Fit the student on X and y, guided by a teacher that sees the privileged columns.

        Parameters
        ----------
        X, y, privileged, teacher, eval_set, eval_privileged : as for :class:`DaskPrivilegedXGBClassifier`
            Queries whose y is missing learn from the teacher alone.
        qid : Dask collection, default=None
        eval_qid : list of Dask collections, default=None
            The number of the query of each row, in the partitions of X, and for each of ``eval_set``.
        teacher_weight : array-like of float, default=None
            One number of at least 0 per row, the same in all rows of a query, or 0.
        crossfit_groups : as for :func:`pi_xgb.dask.train`
            All rows of a query have the same value.
        base_margin, verbose, xgb_model, base_margin_eval_set, feature_weights : as for ``xgboost.dask.DaskXGBRanker``
        group, eval_group, sample_weight, sample_weight_eval_set : None, default=None
            None: XGBoost takes neither groups nor weights of queries from Dask collections.
        """
        given = {name: value for name, value in locals().items() if name not in ("self", "__class__")}
        unused = ("group", "eval_group", "sample_weight", "sample_weight_eval_set")
        if named := [name for name in unused if given[name] is not None]:
            raise ValueError(
                f"{', '.join(named)} must be None, since XGBoost takes neither groups nor weights of queries from Dask "
                "collections: pass qid and eval_qid for groups, and leave weights out. teacher_weight weighs the "
                "teacher"
            )
        if qid is None:
            raise ValueError("qid must be the number of the query of each row, got None: pass qid=")
        if len(eval_qid or ()) != len(eval_set or ()):
            raise ValueError(
                f"eval_qid must have one column per eval_set pair, got {len(eval_qid or ())} for "
                f"{len(eval_set or ())}: pass all"
            )
        del given["group"], given["eval_group"]
        return self._fit(**given)

    def _arranged(self, columns: Columns, sets: list[Columns]) -> tuple[Columns, list[Columns]]:
        if self.allow_group_split:
            return columns, sets
        whole = with_whole_queries(columns, device=self.device)
        # XGBoost recognises the training rows in eval_set by identity.
        return whole, [
            {**whole, "privileged": None if own["privileged"] is None else whole["privileged"]}
            if own["X"] is columns["X"] and own["y"] is columns["y"]
            else with_whole_queries(own, device=self.device)
            for own in sets
        ]

    def _check_objective(self, config: Keywords) -> None:
        """Raise before the shuffle what workers would raise after it."""
        spec = Spec.read(self.get_xgb_params())
        if not spec.loss.by_query:
            raise ValueError(f"objective must be 'rank:ndcg' or 'rank:pairwise' in a ranker, got {spec.objective!r}")
        check_engine(self.engine, spec, config, is_uniform=True)
