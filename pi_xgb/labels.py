"""Labels that come late: which rows have one, and whether the rows that have one are like the others.

:func:`mature` turns dates into ``labelled`` and y. :func:`shift` measures how the labelled rows differ from the
others in the features, and returns weights against it.
"""

from ._labels.maturity import Maturity, mature
from ._labels.shift import Shift, shift

__all__ = ["Maturity", "Shift", "mature", "shift"]
