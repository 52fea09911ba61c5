"""Selection of methods and teachers, and the measurement of their gain.

:func:`select` chooses among plain XGBoost, methods, teachers and weights by cross-validation.
:func:`compare` measures whether privileged features improve this model at this number of rows.
"""

from ._selection.compare import Comparison, compare
from ._selection.select import Selection, select

__all__ = ["Comparison", "Selection", "compare", "select"]
