"""diabetes: early readmission to 130 hospitals in the United States."""

from __future__ import annotations

import io
from collections.abc import Mapping

import pandas as pd

from benchmarks.data.records import DataSet, RawFile, Table, names

NUMERIC = names(
    "age time_in_hospital num_procedures num_medications number_outpatient number_emergency number_inpatient"
)
CATEGORICAL = names(
    "race gender A1Cresult metformin chlorpropamide glipizide rosiglitazone acarbose miglitol diabetesMed"
)


def diabetes(contents: Mapping[str, bytes]) -> Table:
    """Readmitted patients of known race: within thirty days, or later."""
    # The text None is a value of A1Cresult (no test), not a missing one.
    frame = pd.read_csv(
        io.BytesIO(contents["diabetic_data.csv"]), usecols=[*NUMERIC, *CATEGORICAL, "readmitted"], keep_default_na=False
    )
    frame = frame[(frame["race"] != "?") & (frame["readmitted"] != "NO")]
    frame = frame.assign(age=frame["age"].str.extract(r"^\[(\d+)-", expand=False).astype(int) // 10)
    return Table(frame, NUMERIC, CATEGORICAL, frame["readmitted"] == "<30")


DATASETS = (
    DataSet(
        name="diabetes",
        publisher="UCI Diabetes 130-US hospitals for years 1999-2008",
        files=(
            RawFile(
                "diabetic_data.csv",
                "0689e7ec031237dc63031b938805c48377748761a3b26acab621567afa24df97",
                "https://archive.ics.uci.edu/static/public/296/diabetes+130-us+hospitals+for+years+1999-2008.zip",
            ),
        ),
        recipe=diabetes,
        privileged=("gender",),
        rows=46176,
        neg_pos_ratio=3.134,
        protected={"gender": lambda gender: gender == "Female"},
    ),
)
