"""The sets, and which of their columns are privileged: each split argued for before anything was trained on it."""

from __future__ import annotations

import dataclasses
import io
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import pandas as pd

from benchmarks.data import DATASETS, MADE, PreparedSet, load
from benchmarks.data.fetch import fetch
from benchmarks.data.store import raw_content

PASS_WELL = 12


class Split(NamedTuple):
    """The privileged columns and the label, None for the paper's; the reason; whether z should predict y well."""

    privileged: tuple[str, ...] | None
    label: Callable[[str], np.ndarray] | None
    why: str
    telling: bool = True


def final_grades(name: str) -> np.ndarray:
    """G3, which the paper's recipe turns into its label."""
    (raw,) = DATASETS[name].files
    return pd.read_csv(io.BytesIO(raw_content(raw, fetch)), sep=";")["G3"].to_numpy()


def good_final_grade(name: str) -> np.ndarray:
    """Whether G3 is at least 12."""
    return (final_grades(name) >= PASS_WELL).astype(np.int64)


GRADES = "the grades of the first two periods: there months before the final grade, and not yet when a course begins"
SPLITS = {
    "student_mat": Split(
        ("G1", "G2"),
        good_final_grade,
        f"{GRADES}. y: a final grade of at least 12, nearer the middle "
        "of the class than a pass. Sex and age, the paper's z, are known at once and belong to x",
    ),
    "student_por": Split(("G1", "G2"), good_final_grade, "as for student_mat"),
    "heart": Split(
        None,
        None,
        "the paper's: results of tests (ECG at rest and in exercise, fluoroscopy, thallium scan) "
        "that come after the first visit, and before the angiogram that decides y",
    ),
    "spam": Split(
        None, None, "the paper's: 19 of 57 counts of words and signs. An arbitrary split whose z predicts y well"
    ),
    "bank": Split(
        ("duration",),
        None,
        "how long the call lasted: known when it has ended, not when one chooses whom to "
        "call; the publisher too says that no realistic model may use it. Age and marital status, the paper's "
        "z, are known before and belong to x",
    ),
    "adult": Split(
        None,
        None,
        "the paper's: age, race and sex, which must not be used at prediction. They were expected to add little to x",
        telling=False,
    ),
    "compas_violent": Split(None, None, "the paper's: sex and race, as for adult", telling=False),
    "oulad": Split(None, None, "the paper's: gender, as for adult", telling=False),
    "diabetes": Split(None, None, "the paper's: gender, as for adult", telling=False),
}


def split_set(name: str) -> PreparedSet:
    """The set with the privileged columns and the label of its split."""
    if name == MADE:
        return load(name)
    dataset, split = load(name), SPLITS[name]
    if split.privileged is not None:
        columns = list(dataset.X.columns)
        dataset = dataclasses.replace(
            dataset, privileged=tuple(columns.index(column) for column in split.privileged), protected=()
        )
    return dataset if split.label is None else dataclasses.replace(dataset, y=split.label(name))
