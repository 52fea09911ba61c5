"""adult, dutch and kdd: three censuses, income or occupation as the label."""

from __future__ import annotations

import io
from collections.abc import Mapping

import pandas as pd

from benchmarks.data.records import DataSet, RawFile, Table, names

ADULT = names(
    "age workclass fnlwgt education education-num marital-status occupation relationship race sex "
    "capital-gain capital-loss hours-per-week native-country income"
)
ADULT_NUMERIC = names("age education-num capital-gain capital-loss hours-per-week")
ADULT_CATEGORICAL = names(
    "workclass education marital-status occupation relationship race sex native-country"
)  # fnlwgt is unused

KDD = names(
    "age workclass industry occupation education wage-per-hour enrolled-in-education marital-status "
    "major-industry major-occupation race hispanic-origin sex union-member reason-for-unemployment "
    "employment-status capital-gain capital-loss dividends-from-stocks tax-filter-stat previous-region "
    "previous-state detailed-household-and-family-stat detailed-household-summary instance-weight "
    "migration-msa migration-reg migration-within-reg lived-here-a-year-ago migration-sunbelt "
    "num-persons-worked-for-employer family-members-under-18 country-father country-mother country-self "
    "citizenship own-business veterans-questionnaire veterans-benefits weeks-worked year income"
)
KDD_DROPPED = ["instance-weight", "migration-msa", "migration-reg", "migration-within-reg", "migration-sunbelt"]
KDD_NUMERIC = names(
    "age wage-per-hour capital-gain capital-loss dividends-from-stocks num-persons-worked-for-employer weeks-worked"
)
KDD_CATEGORICAL = names(
    "workclass industry occupation education marital-status race sex employment-status tax-filter-stat "
    "detailed-household-and-family-stat detailed-household-summary family-members-under-18 citizenship "
    "own-business veterans-benefits year"
)
# Categories whose codes are numbers; they are sorted as numbers.
KDD_NUMBER_CODES = ["industry", "occupation", "own-business", "veterans-benefits", "year"]


def adult(contents: Mapping[str, bytes]) -> Table:
    """The training part of Adult; rows with an unknown value are left out."""
    frame = pd.read_csv(io.BytesIO(contents["adult.data"]), names=ADULT, skipinitialspace=True, na_values="?")
    frame = frame.dropna()
    return Table(frame, ADULT_NUMERIC, ADULT_CATEGORICAL, frame["income"] == ">50K")


def dutch(contents: Mapping[str, bytes]) -> Table:
    """The Dutch census of 2001: every attribute is a category whose code is a number."""
    header, body = contents["dutch_census_2001.arff"].split(b"@data", maxsplit=1)
    lines = header.splitlines()
    order = [line.split()[1].decode() for line in lines if line.startswith(b"@attribute")]
    frame = pd.read_csv(io.BytesIO(body), names=order, skip_blank_lines=True)
    return Table(frame, [], order[:-1], frame["occupation"] == "2_1")


def kdd(contents: Mapping[str, bytes]) -> Table:
    """Census-Income (KDD), training then test file, without the rows with an unknown value."""
    # Text is read as categories: a few dozen values instead of millions of strings.
    numbers = {*KDD_NUMERIC, *KDD_NUMBER_CODES}
    kept = [name for name in KDD if name not in KDD_DROPPED]
    frame = pd.read_csv(
        io.BytesIO(contents["census-income.data"] + contents["census-income.test"]),
        names=KDD,
        usecols=kept,
        dtype={name: "int64" if name in numbers else "category" for name in kept},
        skipinitialspace=True,
        na_values=["?", "NA"],
        keep_default_na=False,
    )
    frame = frame.dropna()
    race = (frame["race"] == "White").map({True: "White", False: "Non-white"})
    frame = frame.assign(race=race)
    return Table(frame, KDD_NUMERIC, KDD_CATEGORICAL, frame["income"].str.startswith("50000+"))


DATASETS = (
    DataSet(
        name="adult",
        publisher="UCI Adult",
        files=(
            RawFile(
                "adult.data",
                "5b00264637dbfec36bdeaab5676b0b309ff9eb788d63554ca0a249491c86603d",
                "https://archive.ics.uci.edu/static/public/2/adult.zip",
            ),
        ),
        recipe=adult,
        privileged=("age", "race", "sex"),
        rows=30162,
        neg_pos_ratio=3.017,
        protected={
            "age": lambda age: (age < 25) | (age > 60),
            "race": lambda race: race != "White",
            "sex": lambda sex: sex == "Female",
        },
    ),
    DataSet(
        name="dutch",
        publisher="Dutch Virtual Census 2001, in the repository of Le Quy et al., fairness_dataset",
        files=(
            RawFile(
                "dutch_census_2001.arff",
                "0e7e3f32668919c239db820f625815e1ea834c71402cdea595e03ef08c8616ef",
                "https://raw.githubusercontent.com/tailequy/fairness_dataset/main/Dutch_census/dutch_census_2001.arff",
            ),
        ),
        recipe=dutch,
        privileged=("sex",),
        rows=60420,
        neg_pos_ratio=1.101,
        protected={"sex": lambda sex: sex == 2},  # code 1 of the sorted values 1 and 2
    ),
    DataSet(
        name="kdd",
        publisher="UCI Census-Income (KDD)",
        files=(
            RawFile(
                "census-income.data",
                "3676a81db7d3528f3f8b9f3c699d0f0aa28db45e6e994fa0b8ed38327539ee86",
                "https://archive.ics.uci.edu/static/public/117/census+income+kdd.zip",
            ),
            RawFile(
                "census-income.test",
                "98402b1ab879573d0a7f38a699a40258080e25e33d3401e7bf9c96d3fa0fab8c",
                "https://archive.ics.uci.edu/static/public/117/census+income+kdd.zip",
            ),
        ),
        recipe=kdd,
        privileged=("race", "sex"),
        rows=284556,
        neg_pos_ratio=15.352,
        protected={"race": lambda race: race == "Non-white", "sex": lambda sex: sex == "Female"},
    ),
)
