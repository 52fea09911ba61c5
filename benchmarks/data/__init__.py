"""The fifteen public data sets of the paper, from raw file to features.

>>> from benchmarks.data import load
>>> adult = load("adult")  # doctest: +SKIP
"""

from benchmarks.data.prepared import PreparedSet, zero_as_missing
from benchmarks.data.registry import DATASETS, LOAD_ERRORS, load

__all__ = ["DATASETS", "LOAD_ERRORS", "PreparedSet", "load", "zero_as_missing"]
