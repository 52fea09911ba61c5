"""bank and credit: marketing calls and credit card defaults."""

from __future__ import annotations

import io
from collections.abc import Mapping

import pandas as pd

from benchmarks.data.records import DataSet, RawFile, Table, names

BANK_NUMERIC = names("balance day duration campaign pdays previous")
BANK_CATEGORICAL = names("age job marital education default housing loan contact month poutcome")
CREDIT_NUMERIC_POSITIONS = (0, 4, *range(11, 23))
CREDIT_CATEGORICAL_POSITIONS = (1, 2, 3, 5, 6, 7, 8, 9, 10)


def bank(contents: Mapping[str, bytes]) -> Table:
    """Bank Marketing, with age and marital status as two groups each."""
    frame = pd.read_csv(io.BytesIO(contents["bank-full.csv"]), sep=";", keep_default_na=False)
    frame["age"] = frame["age"].between(25, 60).map({True: "25-60", False: "<25 or >60"})
    frame["marital"] = (frame["marital"] == "married").map({True: "married", False: "non-married"})
    return Table(frame, BANK_NUMERIC, BANK_CATEGORICAL, frame["y"] == "yes")


def credit(contents: Mapping[str, bytes]) -> Table:
    """Default of credit card clients, with undocumented codes counted as "other"."""
    frame = pd.read_csv(io.BytesIO(contents["default_of_credit_card_clients.csv"]), sep=";").drop(columns="ID")
    label = frame.pop("default payment next month") == 1
    frame["MARRIAGE"] = frame["MARRIAGE"].replace(0, 3)
    frame["EDUCATION"] = frame["EDUCATION"].where(frame["EDUCATION"].between(1, 4), 4)
    order = list(frame.columns)
    return Table(
        frame, [order[i] for i in CREDIT_NUMERIC_POSITIONS], [order[i] for i in CREDIT_CATEGORICAL_POSITIONS], label
    )


DATASETS = (
    DataSet(
        name="bank",
        publisher="UCI Bank Marketing",
        files=(
            RawFile(
                "bank-full.csv",
                "d1513ec63b385506f7cfce9f2c5caa9fe99e7ba4e8c3fa264b3aaf0f849ed32d",
                "https://archive.ics.uci.edu/static/public/222/bank+marketing.zip",
            ),
        ),
        recipe=bank,
        privileged=("age", "marital"),
        rows=45211,
        neg_pos_ratio=7.548,
        protected={"age": lambda age: age == "<25 or >60", "marital": lambda marital: marital == "non-married"},
    ),
    DataSet(
        name="credit",
        publisher="UCI Default of Credit Card Clients",
        files=(
            RawFile(
                "default_of_credit_card_clients.csv",
                "116c62783a92c39d827f663d93fe5a64ad62bd1967df3b7884412518a2365c03",
                "https://archive.ics.uci.edu/static/public/350/default+of+credit+card+clients.zip",
                member="default of credit card clients.xls",
                from_excel=True,
            ),
        ),
        recipe=credit,
        privileged=("SEX", "EDUCATION", "MARRIAGE"),
        rows=30000,
        neg_pos_ratio=3.521,
        protected={
            "SEX": lambda sex: sex == 2,  # female
            "EDUCATION": lambda education: education != 2,  # not university
            "MARRIAGE": lambda marriage: marriage != 2,  # not single
        },
    ),
)
