"""``pi_xgb.spark`` on executors that are processes of their own, one of which is lost."""

import importlib
import os
from pathlib import Path

import pytest
from helpers_spark import BINARY, MARKS, SETTINGS, TABLE, dying, on_one_machine, outcome, started, trees

pytestmark = [
    *MARKS,
    pytest.mark.slow,
    pytest.mark.skipif(not Path("/proc/self").exists(), reason="/proc tells which process is the executor"),
]

pis = importlib.import_module("pi_xgb.spark")


@pytest.fixture
def spark(tmp_path_factory):
    # Two executors of one core and 1024 MiB each.
    session = started("local-cluster[2,1,1024]", tmp_path_factory)
    yield session
    session.stop()


def test_a_killed_executor_ends_the_training_and_another_takes_its_place(spark):
    frame = spark.createDataFrame(TABLE)

    def fit(**callbacks):
        return outcome(
            lambda: pis.PrivilegedSparkXGBClassifier(**SETTINGS, teacher="boosted", **callbacks).fit(frame), 240
        )

    result = fit(callbacks=[dying(executor=True)])
    assert isinstance(result, Exception)
    assert "barrier" in str(result)
    again = fit()
    assert not isinstance(again, Exception), again
    assert trees(again.get_booster()) == trees(on_one_machine(BINARY, "y", teacher="boosted"))
    work = Path(os.environ["SPARK_HOME"], "work", spark.sparkContext.applicationId)
    assert (work / "2").exists()
