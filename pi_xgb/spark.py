"""Training on a Spark cluster, as with ``xgboost.spark``.

The estimators are ``xgboost.spark``'s with a teacher. XGBoost handles rows, columns, partitions, barrier tasks and
their communication. Each task calls :func:`pi_xgb.train` on its rows, so the model is that of one machine with all the
rows, as far as XGBoost's own quantiles are: to the bit where the columns have fewer distinct values than bins. Only the
folds are others: those of mixed and linear teachers are dealt in an order of the values of all rows.

``fit`` returns ``xgboost.spark``'s own model. It holds no privileged column, needs none in ``transform``, and can be
saved, loaded and used without pi_xgb. ``fit`` needs pi_xgb on the executors.
Warnings of a training appear in the logs of the executors, not where ``fit`` was called.
"""

try:
    from ._spark.estimators import PrivilegedSparkXGBClassifier, PrivilegedSparkXGBRanker, PrivilegedSparkXGBRegressor
except ImportError as error:
    raise ImportError(
        f'pi_xgb.spark needs PySpark with pandas and PyArrow ({error}): pip install ".[spark]" in a checkout'
    ) from error

__all__ = ["PrivilegedSparkXGBClassifier", "PrivilegedSparkXGBRanker", "PrivilegedSparkXGBRegressor"]
