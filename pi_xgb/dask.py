"""Training on a Dask cluster, as with ``xgboost.dask``.

``train`` is ``xgboost.dask.train`` with a teacher, the estimators are ``xgboost.dask``'s with a teacher. Matrices
(``DaskDMatrix``), prediction (``predict``, ``inplace_predict``) and all communication between workers are XGBoost's
own. Its matrices and prediction functions are also exported here, so that one import is enough.

Privileged rows must be the training rows, in the same partitions and the same order. Make both from one table, or
repartition one like the other. Partitions may lie on different workers: those of ``privileged`` and of teachers are
sent to the worker that has the training rows. Each worker builds its own matrices and calls :func:`pi_xgb.train`, so
the model is that of one machine with all the rows, as far as XGBoost's own quantiles are: with a boosted teacher to the
bit where the columns have fewer distinct values than bins. Other teachers learn on one worker, in folds of their own.

Workers without training rows take no part. If a worker is lost during the training, the others end with an error, as
in ``xgboost.dask``, at the latest after the timeout of ``coll_cfg`` (``xgboost.collective.Config(timeout=...)``).
Warnings of a training appear in the logs of the workers, not where ``train`` was called.
"""

from ._constraints.by_column import by_column

try:
    from xgboost.dask import DaskDMatrix, DaskQuantileDMatrix, inplace_predict, predict
except ImportError as error:
    raise ImportError('pi_xgb.dask needs Dask with its scheduler: pip install ".[dask]" in a checkout') from error

from ._dask.estimators import DaskPrivilegedXGBClassifier, DaskPrivilegedXGBRegressor
from ._dask.ranker import DaskPrivilegedXGBRanker
from ._dask.train import train

__all__ = [
    "DaskDMatrix",
    "DaskPrivilegedXGBClassifier",
    "DaskPrivilegedXGBRanker",
    "DaskPrivilegedXGBRegressor",
    "DaskQuantileDMatrix",
    "by_column",
    "inplace_predict",
    "predict",
    "train",
]
