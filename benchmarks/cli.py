"""What the command line costs, next to reading the same file and training in Python directly.

    python -m benchmarks.cli                 1 million rows x 30 columns; some minutes
    python -m benchmarks.cli --rows 200000   fewer rows
    python -m benchmarks.cli --smoke         a tiny run that shows that it works

Two processes alternate (A B A B ...): ``pi-xgb train``, and a script that does the same with pandas.read_csv,
xgboost.DMatrix and pi_xgb.train. Both pay for their imports; the ratio is of whole processes. Both write their model,
and the models must be the same to the byte.
"""

from __future__ import annotations

import os
import platform
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd

import pi_xgb
from benchmarks.command_line import command
from benchmarks.measuring import seconds, versions

COLUMNS, PRIVILEGED, ROUNDS, LIMIT = 30, 5, 20, 1.3

DIRECTLY = """
import sys
import pandas as pd
import pi_xgb
import xgboost as xgb

rows = pd.read_csv(sys.argv[1])
z = [name for name in rows if name.startswith("z")]
dtrain = xgb.DMatrix(rows.drop(columns=[*z, "y"]), rows["y"])
privileged = xgb.DMatrix(rows[z], rows["y"])
params = {"objective": "binary:logistic", "max_depth": 6, "nthread": 2, "seed": 0}
booster = pi_xgb.train(params, dtrain, int(sys.argv[2]), privileged=privileged)
booster.save_model(sys.argv[3])
"""


def write_rows(path: Path, n_rows: int) -> None:
    """A CSV file of 30 columns: a label, privileged ones, and the student's."""
    rng = np.random.default_rng(0)
    names = [f"z{i}" for i in range(PRIVILEGED)] + [f"x{i}" for i in range(COLUMNS - PRIVILEGED - 1)]
    values = rng.standard_normal((n_rows, len(names)))
    frame = pd.DataFrame(values, columns=names)
    chance = 1 / (1 + np.exp(-values[:, :10].sum(axis=1)))
    frame.assign(y=(rng.random(n_rows) < chance).astype(int)).to_csv(path, index=False, float_format="%.6f")


def seconds_of(process: list[str]) -> float:
    """How long a process takes."""
    environment = {**os.environ, "PYTHONPATH": str(Path(pi_xgb.__file__).parents[1])}
    return seconds(lambda: subprocess.run(process, check=True, capture_output=True, env=environment))


def measure(n_rows: int, pairs: int, rounds: int) -> list[tuple[float, float]]:
    """Seconds of the command line and of the script, in turn."""
    with tempfile.TemporaryDirectory() as folder:
        data, ours, theirs = (Path(folder) / name for name in ("rows.csv", "ours.ubj", "theirs.ubj"))
        write_rows(data, n_rows)
        ours_by = [sys.executable, "-m", "pi_xgb", "train", str(data), "--label", "y", "--out", str(ours), "--force"]
        ours_by += ["--privileged", ",".join(f"z{i}" for i in range(PRIVILEGED)), "--rounds", str(rounds)]
        ours_by += ["--params", "max_depth=6", "nthread=2"]
        script = [sys.executable, "-c", DIRECTLY, str(data), str(rounds), str(theirs)]
        found = [(seconds_of(ours_by), seconds_of(script)) for _ in range(pairs)]
        if ours.read_bytes() != theirs.read_bytes():
            raise RuntimeError("the command line and the script trained different models")
    return found


def main() -> None:
    parser = command("cli", __doc__)
    parser.add_argument("--smoke", action="store_true", help="tiny sizes")
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--pairs", type=int, default=5)
    arguments = parser.parse_args()
    n_rows, pairs, rounds = (2000, 1, 2) if arguments.smoke else (arguments.rows, arguments.pairs, ROUNDS)
    found = measure(n_rows, pairs, rounds)
    ratios = [ours / theirs for ours, theirs in found]
    print(
        f"{n_rows:,} rows x {COLUMNS} columns of CSV, KbPIB, {rounds} rounds, 2 threads; "
        f"{versions()}, pandas {pd.__version__}, {platform.machine()}"
    )
    ours, theirs = (statistics.median(times) for times in zip(*found, strict=True))
    print(
        f"pi-xgb train {ours:.2f} s, a script {theirs:.2f} s; "
        f"ratio {statistics.median(ratios):.3f} (from {min(ratios):.3f} to {max(ratios):.3f}), promised {LIMIT}"
    )


if __name__ == "__main__":
    main()
