"""Choosing how to teach, and finding out whether it is worth anything.

:func:`select` chooses among methods, teachers and weights by cross-validation, plain XGBoost among them.
:func:`compare` asks first whether privileged features are worth anything, for this model, at this size.
"""

from ._selection.compare import compare
from ._selection.comparison import Comparison
from ._selection.select import Selection, select

__all__ = ["Comparison", "Selection", "compare", "select"]
