"""student_mat, student_por and oulad: who passes."""

from __future__ import annotations

import io
from collections.abc import Mapping

import pandas as pd

from benchmarks.data.records import DataSet, RawFile, Table, names

STUDENT_NUMERIC_POSITIONS = (6, 7, 12, 13, 14, *range(23, 32))
STUDENT_CATEGORICAL_POSITIONS = (0, 1, 2, 3, 4, 5, 8, 9, 10, 11, *range(15, 23))
STUDENT_GROUPS = {"sex": lambda sex: sex == "F", "age": lambda age: age == "<18"}
OULAD_NUMERIC = ["num_of_prev_attempts", "studied_credits"]
OULAD_CATEGORICAL = names("code_module code_presentation gender region highest_education imd_band age_band disability")


def student(content: bytes) -> Table:
    """Student Performance; the first two grades stay among the features."""
    frame = pd.read_csv(io.BytesIO(content), sep=";", keep_default_na=False)
    label = frame.pop("G3") >= 10
    frame["age"] = (frame["age"] >= 18).map({True: ">=18", False: "<18"})
    order = list(frame.columns)
    return Table(
        frame, [order[i] for i in STUDENT_NUMERIC_POSITIONS], [order[i] for i in STUDENT_CATEGORICAL_POSITIONS], label
    )


def student_mat(contents: Mapping[str, bytes]) -> Table:
    """The course in mathematics."""
    return student(contents["student-mat.csv"])


def student_por(contents: Mapping[str, bytes]) -> Table:
    """The course in Portuguese."""
    return student(contents["student-por.csv"])


def oulad(contents: Mapping[str, bytes]) -> Table:
    """The Open University's students who did not withdraw and whose deprivation band is known."""
    frame = pd.read_csv(io.BytesIO(contents["studentInfo.csv"]), keep_default_na=False)
    known = ~frame["imd_band"].isin(["?", ""])
    frame = frame[known & (frame["final_result"] != "Withdrawn")]
    return Table(frame, OULAD_NUMERIC, OULAD_CATEGORICAL, frame["final_result"].isin(["Pass", "Distinction"]))


DATASETS = (
    DataSet(
        name="student_mat",
        publisher="UCI Student Performance",
        files=(
            RawFile(
                "student-mat.csv",
                "e47f9ee225e1ee6e69b7564e6dac7123e80b8486677fe111f351964cef5dec80",
                "https://archive.ics.uci.edu/static/public/320/student+performance.zip",
            ),
        ),
        recipe=student_mat,
        privileged=("sex", "age"),
        rows=395,
        neg_pos_ratio=0.491,
        protected=STUDENT_GROUPS,
    ),
    DataSet(
        name="student_por",
        publisher="UCI Student Performance",
        files=(
            RawFile(
                "student-por.csv",
                "a7594a11d7771c0efe1a740824e0e833da9c4cad07c39a9766a874575563fb3f",
                "https://archive.ics.uci.edu/static/public/320/student+performance.zip",
            ),
        ),
        recipe=student_por,
        privileged=("sex", "age"),
        rows=649,
        neg_pos_ratio=0.182,
        protected=STUDENT_GROUPS,
    ),
    DataSet(
        name="oulad",
        publisher="Open University Learning Analytics Dataset (OULAD)",
        files=(
            RawFile(
                "studentInfo.csv",
                "815fbc3e2de29f79900bc63f0345a35db62c9146afaa1d86e7107b8b3beffc60",
                "https://analyse.kmi.open.ac.uk/open-dataset/download",
            ),
        ),
        recipe=oulad,
        privileged=("gender",),
        rows=21562,
        neg_pos_ratio=0.471,
        protected={"gender": lambda gender: gender == "F"},
    ),
)
