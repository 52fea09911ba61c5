"""Sessions of Spark on this machine, rows for two tasks, and callbacks that end processes."""

import json
import os
import re
import shutil
import signal
import sys
import threading
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import xgboost as xgb
from helpers_distributed import N_ROWS, rows

import pi_xgb

pyspark = pytest.importorskip("pyspark", reason="pi_xgb.spark needs PySpark")
pytest.importorskip("pyarrow", reason="PySpark needs PyArrow to hand rows to Python")

MARKS = [
    # PySpark says of itself that it was not tested with this pandas; the tests here are about what it does with it.
    pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas:FutureWarning"),
    # PySpark 4.0 leaves sockets to its Java process for the garbage collector to close.
    pytest.mark.filterwarnings("ignore:Exception ignored in. <socket:pytest.PytestUnraisableExceptionWarning"),
]

ROUNDS = 6
PARAMS = {"max_depth": 3, "tree_method": "hist", "nthread": 1}
BINARY = {**PARAMS, "objective": "binary:logistic"}
X_NAMES, Z_NAMES = [f"x{i}" for i in range(5)], ["z0", "z1"]
SETTINGS = {
    "features_col": X_NAMES,
    "privileged_cols": Z_NAMES,
    "label_col": "y",
    "num_workers": 2,
    "n_estimators": ROUNDS,
    "max_depth": 3,
    "tree_method": "hist",
    "kl_weight": 2.0,
    "verbose": False,
}


def table():
    """Rows whose quantiles are the same in every part, with all kinds of labels."""
    x, z, y, weight, _q = rows()
    wide = pd.DataFrame(np.hstack([x, z]), columns=[*X_NAMES, *Z_NAMES]).astype(np.float64)
    # Some batches have none of them.
    held_out = (np.random.default_rng(2).random(N_ROWS) < 0.6) & (np.arange(N_ROWS) % 300 < 150)
    kinds = np.digitize(z.sum(axis=1), [10, 17]).astype(np.float64)
    return wide.assign(y=y.astype(np.float64), weight=weight, kind=kinds, amount=z.sum(axis=1) / 8, held_out=held_out)


TABLE = table()


def started(master, folders):
    """A session; what Spark writes goes to folders that pytest makes."""
    if shutil.which("java") is None and not os.environ.get("JAVA_HOME"):
        pytest.skip("Spark needs Java, and there is no java on the PATH and no JAVA_HOME")
    os.environ["PYSPARK_PYTHON"] = sys.executable
    if "SPARK_HOME" not in os.environ:
        # Executors in processes of their own would write to the folder in which PySpark is installed.
        home = folders.mktemp("home")
        for part in ("bin", "jars"):
            (home / part).symlink_to(Path(pyspark.__file__).parent / part)
        os.environ["SPARK_HOME"] = str(home)
    # Little data, so that starting and compiling is what takes the time.
    java = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC -XX:+UnlockDiagnosticVMOptions -XX:-BytecodeVerificationRemote"
    settings = {
        "spark.ui.enabled": "false",
        "spark.sql.shuffle.partitions": "1",
        "spark.task.cpus": "1",
        "spark.sql.execution.arrow.maxRecordsPerBatch": "70",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.memory": "1g",
        "spark.driver.extraJavaOptions": java,
        "spark.executor.extraJavaOptions": java,
        "spark.executorEnv.PYTHONPATH": str(Path(pi_xgb.__file__).parents[1]),
        "spark.sql.codegen.wholeStage": "false",
        "spark.sql.adaptive.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.sql.warehouse.dir": str(folders.mktemp("warehouse")),
    }
    builder = pyspark.sql.SparkSession.builder.master(master)
    for name, value in settings.items():
        builder = builder.config(name, value)
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("OFF")
    return session


def trees(booster):
    """All that a booster would predict with, to the last digit."""
    config = json.loads(booster.save_config())["learner"]["learner_model_param"]["base_score"]
    return config, booster.get_dump(with_stats=True, dump_format="json")


def on_one_machine(params, label, table=TABLE, z_names=Z_NAMES, weight=None, missing=np.nan, **keywords):
    """``pi_xgb.train`` on all rows, with every keyword said aloud."""
    dtrain = xgb.DMatrix(table[X_NAMES], table[label], weight=weight, missing=missing)
    privileged = xgb.DMatrix(table[z_names], table[label], weight=weight, missing=missing)
    return pi_xgb.train(params, dtrain, ROUNDS, privileged=privileged, kl_weight=2.0, **keywords)


def dying(executor=False):
    """A callback that ends the second task's process of Python in the third round, or the executor that it belongs to.

    Made here, it travels whole.
    """

    class Dies(xgb.callback.TrainingCallback):
        def after_iteration(self, model, epoch, evals_log):
            if epoch == 2 and xgb.collective.get_rank() == 1:
                victim = os.getpid()
                if executor:
                    # It starts a daemon, which forks the processes of Python.
                    daemon = Path(f"/proc/{os.getppid()}/status").read_text()
                    victim = int(re.search(r"PPid:\s(\d+)", daemon)[1])
                os.kill(victim, signal.SIGKILL)
            return False

    return Dies()


def outcome(fit, limit):
    """What is fitted, or the error; what waits for longer than so many seconds is taken to wait for ever."""
    results = []

    def run():
        try:
            results.append(fit())
        except Exception as error:
            results.append(error)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    thread.join(limit)
    assert results, f"nothing after {limit} seconds"
    return results[0]
