"""The fifteen public data sets of the paper, from raw file to features.

>>> from benchmarks.data import load
>>> adult = load("adult")  # doctest: +SKIP
"""

from benchmarks.data.made import MADE, made_set
from benchmarks.data.prepared import PreparedSet, zero_as_missing
from benchmarks.data.registry import DATASETS, LOAD_ERRORS, load

__all__ = ["DATASETS", "LOAD_ERRORS", "MADE", "PreparedSet", "load", "made_set", "zero_as_missing"]
