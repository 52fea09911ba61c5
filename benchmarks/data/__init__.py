"""The fifteen public data sets of the paper, from raw file to features.

>>> from benchmarks.data import load
>>> adult = load("adult")  # doctest: +SKIP
"""

from benchmarks.data.prepared import PreparedSet, zero_as_missing
from benchmarks.data.registry import DATASETS, load

__all__ = ["DATASETS", "PreparedSet", "load", "zero_as_missing"]
