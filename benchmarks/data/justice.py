"""compas, compas_violent and communities: reoffending and crime rates."""

from __future__ import annotations

import io
from collections.abc import Mapping

import pandas as pd

from benchmarks.data.records import DataSet, RawFile, Table, names

COMPAS_NUMERIC = ["juv_crime", "priors_count"]  # the paper leaves age itself out
COMPAS_CATEGORICAL = names("sex age_cat race c_charge_degree score_text v_score_text")
COMPAS_USED = [
    *("sex", "age", "age_cat", "race", "juv_fel_count", "juv_misd_count", "juv_other_count", "priors_count"),
    *("days_b_screening_arrest", "c_charge_degree", "score_text", "v_score_text", "two_year_recid"),
]

# Position in the file (128 columns, no header) of the columns that the paper uses.
COMMUNITIES = {
    7: "racepctblack",
    20: "pctWInvInc",
    22: "pctWPubAsst",
    32: "NumUnderPov",
    33: "PctPopUnderPov",
    37: "PctUnemployed",
    43: "MalePctDivorce",
    45: "FemalePctDiv",
    46: "TotalPctDiv",
    47: "PersPerFam",
    49: "PctKids2Par",
    50: "PctYoungKids2Par",
    51: "PctTeen2Par",
    54: "NumIlleg",
    55: "PctIlleg",
    72: "PctPersOwnOccup",
    76: "HousVacant",
    78: "PctHousOwnOcc",
    79: "PctVacantBoarded",
    94: "NumInShelters",
    95: "NumStreet",
    127: "ViolentCrimesPerPop",
}


def read_compas(content: bytes) -> pd.DataFrame:
    """The people screened within thirty days of their arrest."""
    frame = pd.read_csv(io.BytesIO(content), usecols=COMPAS_USED)
    frame = frame[frame["days_b_screening_arrest"].between(-30, 30)]
    return frame.assign(juv_crime=frame[["juv_fel_count", "juv_misd_count", "juv_other_count"]].sum(axis=1))


def compas(contents: Mapping[str, bytes]) -> Table:
    """ProPublica's two-year recidivism."""
    frame = read_compas(contents["compas-scores-two-years.csv"])
    return Table(frame, COMPAS_NUMERIC, COMPAS_CATEGORICAL, frame["two_year_recid"] == 1)


def compas_violent(contents: Mapping[str, bytes]) -> Table:
    """ProPublica's two-year violent recidivism; rows with a missing value are left out."""
    frame = read_compas(contents["compas-scores-two-years-violent.csv"])
    frame = frame.dropna()
    return Table(frame, COMPAS_NUMERIC, COMPAS_CATEGORICAL, frame["two_year_recid"] == 1)


def communities(contents: Mapping[str, bytes]) -> Table:
    """Communities and Crime; the label is a high rate of violent crime."""
    frame = pd.read_csv(io.BytesIO(contents["communities.data"]), header=None, usecols=list(COMMUNITIES))
    frame = frame.rename(columns=COMMUNITIES)
    label = frame.pop("ViolentCrimesPerPop") >= 0.7
    frame["racepctblack"] = (frame["racepctblack"] >= 0.06).map({True: "black", False: "non-black"})
    numeric = [name for name in frame.columns if name != "racepctblack"]
    return Table(frame, numeric, ["racepctblack"], label)


COMPAS_GROUPS = {"sex": lambda sex: sex == "Female", "race": lambda race: race == "African-American"}

DATASETS = (
    DataSet(
        name="compas",
        publisher="ProPublica compas-analysis",
        files=(
            RawFile(
                "compas-scores-two-years.csv",
                "c451db85908b2f7fef1d83203bedf6b71ecda0d5af468d82ae62178f91d0cc7d",
                "https://raw.githubusercontent.com/propublica/compas-analysis/master/compas-scores-two-years.csv",
            ),
        ),
        recipe=compas,
        privileged=("sex", "race"),
        rows=6172,
        neg_pos_ratio=1.197,
        protected=COMPAS_GROUPS,
    ),
    DataSet(
        name="compas_violent",
        publisher="ProPublica compas-analysis",
        files=(
            RawFile(
                "compas-scores-two-years-violent.csv",
                "918e218ba181d4db8a7266977d23ca7a5ecf1bc7d5defd7b2f27bf3cbd9763e3",
                "https://raw.githubusercontent.com/propublica/compas-analysis/master/"
                "compas-scores-two-years-violent.csv",
            ),
        ),
        recipe=compas_violent,
        privileged=("sex", "race"),
        rows=4015,
        neg_pos_ratio=5.158,
        protected=COMPAS_GROUPS,
    ),
    DataSet(
        name="communities",
        publisher="UCI Communities and Crime",
        files=(
            RawFile(
                "communities.data",
                "09e0b5c07eae24c1efab19b2edee05e160e7f5743b6f31e31eec3d73624da2ea",
                "https://archive.ics.uci.edu/static/public/183/communities+and+crime.zip",
            ),
        ),
        recipe=communities,
        privileged=("racepctblack",),
        rows=1994,
        neg_pos_ratio=15.344,
        protected={"racepctblack": lambda race: race == "black"},
    ),
)
