"""scikit-learn estimators: XGBoost's own, with a teacher.

They accept everything that ``XGBClassifier`` and ``XGBRegressor`` accept, and privileged columns at ``fit``, either as
a separate table (``fit(X, y, privileged=Z)``) or inside X (``privileged_features=[...]``). ``predict`` never needs
them.
"""

from ._constraints.by_column import ByColumn, by_column

try:
    from ._sklearn.cv import PrivilegedXGBClassifierCV, PrivilegedXGBRegressorCV
    from ._sklearn.estimators import PrivilegedXGBClassifier, PrivilegedXGBRegressor
    from ._sklearn.ranker import PrivilegedXGBRanker
    from ._sklearn.splitters import LabelledGroupKFold, LabelledKFold
except ImportError as error:
    raise ImportError(
        'the estimators need scikit-learn 1.6 or later: pip install ".[sklearn]" in a checkout'
    ) from error

__all__ = [
    "ByColumn",
    "LabelledGroupKFold",
    "LabelledKFold",
    "PrivilegedXGBClassifier",
    "PrivilegedXGBClassifierCV",
    "PrivilegedXGBRanker",
    "PrivilegedXGBRegressor",
    "PrivilegedXGBRegressorCV",
    "by_column",
]
