"""All data sets by name, those of the paper first and in the order of its tables."""

from __future__ import annotations

from benchmarks.data import banking, census, education, justice, medicine, uci_numeric
from benchmarks.data.fetch import fetch
from benchmarks.data.made import MADE, made_set
from benchmarks.data.prepare import prepare
from benchmarks.data.prepared import PreparedSet
from benchmarks.data.records import DataSet
from benchmarks.data.store import raw_content

PAPER_ORDER = (
    *("heart", "car", "spam", "adult", "diabetes", "dutch", "bank", "credit", "compas", "compas_violent"),
    *("communities", "student_mat", "student_por", "oulad", "kdd"),
)
FAMILIES = (uci_numeric, census, medicine, banking, justice, education)
_BY_NAME = {dataset.name: dataset for family in FAMILIES for dataset in family.DATASETS}
# A further set needs no more than its record in one of the families: it comes after the paper's.
DATASETS: dict[str, DataSet] = {name: _BY_NAME[name] for name in PAPER_ORDER} | _BY_NAME
LOAD_ERRORS = (OSError, ValueError, ImportError)
"""What `load` raises where a set cannot be had: a failed download, a wrong file, no reader of spreadsheets."""


def load(name: str) -> PreparedSet:
    """The prepared data set ``name``; its raw files are downloaded on first use.

    Set the variable ``PI_XGB_DATA`` to a folder that has the raw files (plain or gzip) to download nothing. "made" is
    generated, for smoke runs.
    """
    if name == MADE:
        return made_set()
    if name not in DATASETS:
        raise ValueError(f"no data set is called {name!r}; there are {', '.join(DATASETS)}")
    dataset = DATASETS[name]
    return prepare(dataset, {raw.name: raw_content(raw, fetch) for raw in dataset.files})
