"""Training on a Spark cluster, in the manner of ``xgboost.spark``.

The estimators are ``xgboost.spark``'s with a teacher. Rows, columns, partitions, barrier tasks and the communication
between them are XGBoost's own affair; each task calls :func:`pi_xgb.train` on its rows among the others, so the model
is that of one machine with all the rows, as far as XGBoost's own quantiles are: to the bit where the columns have fewer
distinct values than bins.

What ``fit`` returns is ``xgboost.spark``'s own model. It holds no privileged column, needs none in ``transform``, and
is saved, loaded and used where pi_xgb is not installed. ``fit`` needs pi_xgb on the executors.
Warnings of a training appear in the logs of the executors, not where ``fit`` was called.
"""

try:
    from ._spark.estimators import (
        PrivilegedSparkXGBClassifier,
        PrivilegedSparkXGBRanker,
        PrivilegedSparkXGBRegressor,
    )
except ImportError as error:
    raise ImportError(
        f'pi_xgb.spark needs PySpark with pandas and PyArrow ({error}): pip install "pi-xgb[spark]"'
    ) from error

__all__ = ["PrivilegedSparkXGBClassifier", "PrivilegedSparkXGBRanker", "PrivilegedSparkXGBRegressor"]
