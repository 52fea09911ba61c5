"""XGBoost 1.6.2, which made the paper's numbers, against today's: splits on categories in tree_method "approx".

    python -m benchmarks.explosion              both versions on made rows, and on adult if its file can be had
    python -m benchmarks.explosion --quick      made rows only, a few rounds
    python -m benchmarks.explosion --python /path/to/python    of an environment that has XGBoost 1.6.2 already

It makes an environment of its own (``--folder``, kept for the next time), installs XGBoost 1.6.2 there, trains the same
rows with the same settings in both, and writes the largest margin and the test AUC after each round to
``results/explosion.csv``. It needs pip and a package index once; half a minute, 300 MB.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import venv
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.metrics import roc_auc_score

from benchmarks import FOLDER
from benchmarks.command_line import command
from benchmarks.data import load
from benchmarks.data.folds import parts

OLD = "1.6.2"
ROUNDS = 20
# Those of the paper, and as there a zero, the first category too, is missing.
PARAMS = {"objective": "binary:logistic", "tree_method": "approx", "max_depth": 6, "max_cat_to_onehot": 5, "seed": 1994}

# Run by either version: it needs XGBoost and NumPy alone.
CHILD = """
import json, sys
import numpy as np, xgboost as xgb
rows, params, rounds = np.load(sys.argv[1]), json.loads(sys.argv[2]), int(sys.argv[3])
types = [str(kind) for kind in rows["types"]]
def matrix(part):
    return xgb.DMatrix(rows["x_" + part], rows["y_" + part], missing=0.0, feature_types=types, enable_categorical=True)
train, test = matrix("train"), matrix("test")
booster, margins = xgb.Booster({**params, "nthread": 1}, [train]), []
for i in range(rounds):
    booster.update(train, i)
    margins.append(booster.predict(test, output_margin=True).tolist())
print(json.dumps({"version": xgb.__version__, "margins": margins}))
"""


def made(n_rows: int = 4000, n_categories: int = 40) -> dict[str, Any]:
    """A category with an effect of its own each, and a number that says little."""
    rng = np.random.default_rng(0)
    category, number = rng.integers(0, n_categories, n_rows), rng.normal(size=n_rows)
    effect = rng.normal(scale=1.5, size=n_categories)
    y = rng.random(n_rows) < 1 / (1 + np.exp(-effect[category] - 0.3 * number))
    x = np.column_stack([category, number]).astype(np.float32)
    half = n_rows // 2
    return {"x_train": x[:half], "y_train": y[:half], "x_test": x[half:], "y_test": y[half:], "types": ["c", "float"]}


def adult() -> dict[str, Any]:
    """The classifier features of the first of the ten folds."""
    data = load("adult")
    x, types = data.student()
    values, test = x.to_numpy(np.float32), parts(data.y)[0]
    rest = np.setdiff1d(np.arange(len(data.y)), test)
    train = {"x_train": values[rest], "y_train": data.y[rest]}
    return {**train, "x_test": values[test], "y_test": data.y[test], "types": types}


def interpreter(folder: Path) -> Path:
    """The Python of an environment that has the old XGBoost, made if it is not there."""
    python = folder / ("Scripts" if sys.platform == "win32" else "bin") / "python"
    if not python.exists():
        venv.create(folder, with_pip=True)
    has_it = subprocess.run(
        [python, "-c", f"import xgboost; assert xgboost.__version__ == '{OLD}'"], capture_output=True
    )
    if has_it.returncode:
        wanted = [f"xgboost=={OLD}", "numpy<2", "scipy"]
        subprocess.run([python, "-m", "pip", "install", "--quiet", *wanted], check=True)
    return python


def trained(python: Path | str, rows: dict[str, Any], rounds: int) -> pd.DataFrame:
    """A line for each round: the largest margin on test rows, and their AUC."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "rows.npz"
        np.savez(path, **rows)
        call = [str(python), "-c", CHILD, str(path), json.dumps(PARAMS), str(rounds)]
        output = json.loads(subprocess.run(call, check=True, capture_output=True, text=True, cwd=folder).stdout)
    margins = np.array(output["margins"])
    return pd.DataFrame(
        {
            "version": output["version"],
            "round": np.arange(1, rounds + 1),
            "largest_margin": np.abs(margins).max(axis=1),
            "auc": [roc_auc_score(rows["y_test"], margin) for margin in margins],
        }
    )


def main() -> None:
    parser = command("explosion", __doc__)
    parser.add_argument("--quick", action="store_true", help="made rows only, five rounds")
    parser.add_argument("--python", help=f"the Python of an environment with XGBoost {OLD}")
    parser.add_argument("--folder", type=Path, default=Path(tempfile.gettempdir()) / f"xgboost-{OLD}")
    parser.add_argument("--out", type=Path, default=FOLDER / "results" / "explosion.csv")
    arguments = parser.parse_args()
    old = arguments.python or interpreter(arguments.folder)
    sets = {"made": made()} if arguments.quick else {"made": made(), "adult": adult()}
    tables = [
        trained(python, rows, 5 if arguments.quick else ROUNDS).assign(set=name)
        for name, rows in sets.items()
        for python in (old, sys.executable)
    ]
    table = pd.concat(tables)[["set", "version", "round", "largest_margin", "auc"]]
    print(table.pivot(index=["set", "round"], columns="version", values=["largest_margin", "auc"]).round(3).to_string())
    if not arguments.quick:
        table.to_csv(arguments.out, index=False, float_format="%.6g")


if __name__ == "__main__":
    main()
