"""Calls that nobody thought of: each must end in a result or in an error of ours that says what is wrong.

    python -m benchmarks.fuzz --minutes 10           every target in turn, until the time is over
    python -m benchmarks.fuzz --target files --seed 7   one target from one case on; a fault names its case
    python -m benchmarks.fuzz --minutes 8 --out benchmarks/results/fuzz.csv   the counts, for docs/testing.md
    python -m benchmarks.fuzz --smoke                three cases of each

The targets of `benchmarks.faults` (kills, full disks, folders that go away) take seconds a case and are tried on every
twentieth seed.

A fault is any other end (KeyError, AssertionError, a C++ stack trace, a traceback of the command line), and an object
of the user's that was changed.
"""

from __future__ import annotations

import contextlib
import copy
import io
import itertools
import os
import random
import sys
import tempfile
import time
import warnings
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import xgboost

import pi_xgb
from benchmarks import faults
from benchmarks.command_line import asked, command
from pi_xgb.__main__ import main as command_line
from pi_xgb.sklearn import PrivilegedXGBClassifier, PrivilegedXGBRegressor

OURS = (ValueError, TypeError)
SMALL = {"n_estimators": 2, "max_depth": 2, "n_jobs": 1}
ODD = [np.nan, np.inf, -np.inf, 0.0, -0.0, 1e308, 1e-320, 2.0**53, -1.0]
WORDS = [
    "",
    " ",
    "?",
    "NA",
    "nan",
    "None",
    "ja",
    "nein",
    "Köln",
    "日本",
    "a,b",
    'say "x"',
    "1e5",
    "0x1",
    "true",
    "False",
]
WORDS += ["2024-01-05", "١٢", "-", "NULL", "a\tb", "\ufeff", "💥", "1.5", "1,5", "007", "\\", "'", "=1+1", "#N/A"]


class Fault(AssertionError):
    """Something that the library must not do."""


# --- tables and labels in containers of any kind ----------------------------------------------------------------


def _numbers(rng: random.Random, n: int) -> np.ndarray:
    values = np.array([rng.uniform(-3, 3) for _ in range(n)])
    for _ in range(rng.choice([0] * 8 + [1, 3])):
        values[rng.randrange(n)] = rng.choice(ODD)
    kind = rng.choice(["f8", "f8", "f4", "f2", "i8", "i1", "u2", "?"])
    with np.errstate(all="ignore"):
        return values.astype(kind)


def _table(rng: random.Random, n: int, prefix: str) -> Any:
    frame = pd.DataFrame(
        {f"{prefix}{i}": _numbers(rng, n) for i in range(rng.randint(0 if rng.random() < 0.05 else 1, 3))}
    )
    kinds = ["frame", "array", "list", "sparse", "polars", "arrow", "nullable", "fortran"]
    kind = rng.choice([*kinds, *kinds, "object"])
    if kind == "frame" and rng.random() < 0.3:
        frame.index = rng.sample(range(n), n)
    if kind in ("frame", "nullable") and rng.random() < 0.3 and n:
        frame["c"] = pd.Categorical([rng.choice(["a", "b", "ü"]) for _ in range(n)])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return _contained(frame, kind)


def _contained(frame: pd.DataFrame, kind: str) -> Any:
    if kind == "array":
        return frame.to_numpy()
    if kind == "list":
        return frame.to_numpy().tolist()
    if kind == "fortran":
        return np.asfortranarray(frame.to_numpy())
    if kind == "object":
        return frame.astype(object)
    if kind == "nullable":
        return frame.convert_dtypes()
    if kind == "sparse":
        from scipy import sparse

        return sparse.csr_matrix(np.nan_to_num(frame.to_numpy(dtype=float)))
    if kind == "polars":
        import polars

        return polars.from_dict({name: frame[name].to_numpy() for name in frame})
    if kind == "arrow":
        import pyarrow

        return pyarrow.table({name: pyarrow.array(frame[name].to_numpy()) for name in frame})
    return frame


def _label(rng: random.Random, n: int) -> Any:
    kind = rng.choice(["01", "01", "classes", "text", "numbers", "bool", "gaps", "odd", "wide"])
    y: Any = np.array([rng.randint(0, 1) for _ in range(n)])
    if kind == "classes":
        y = np.array([rng.randint(-1, 3) for _ in range(n)])
    elif kind == "text":
        y = np.array([rng.choice(WORDS[4:10]) for _ in range(n)], dtype=rng.choice([object, str]))
    elif kind == "numbers":
        y = _numbers(rng, n)
    elif kind == "bool":
        y = y == 1
    elif kind == "gaps":
        y = np.where([rng.random() < 0.3 for _ in range(n)], np.nan, y)
    elif kind == "odd":
        y = np.array([rng.choice([*ODD, "x", None, 3]) for _ in range(n)], dtype=object)
    elif kind == "wide":
        y = np.stack([y, y], axis=1)
    return rng.choice(
        [lambda v: v, lambda v: v.tolist(), lambda v: pd.Series(list(v)), *[lambda v: v[:-1]] * (rng.random() < 0.1)]
    )(y)


def _per_row(rng: random.Random, n: int) -> Any:
    return rng.choice(
        [
            lambda: np.array([rng.random() for _ in range(n)]),
            lambda: [rng.choice([0, 1]) for _ in range(n)],
            lambda: pd.Series([rng.choice(["a", "b", None]) for _ in range(n)]),
            lambda: np.array([rng.choice(ODD) for _ in range(n)]),
            lambda: np.ones(n + 1),
            lambda: rng.choice(WORDS),
            lambda: np.ones((n, 2), bool),
            lambda: None,
        ]
    )()


def estimators(rng: random.Random) -> str:
    """``fit`` and ``predict`` of the estimators."""
    n = rng.choice([1, 2, 5, 30, 30, 30, 60])
    x, z, y = _table(rng, n, "x"), _table(rng, rng.choice([n] * 19 + [n + 1]), "z"), _label(rng, n)
    odd = rng.random() < 0.3
    made = rng.choice([PrivilegedXGBClassifier, PrivilegedXGBRegressor])
    chosen: dict[str, Any] = {
        "method": rng.choice(["kbpib", "jpib"]),
        "kl_weight": rng.choice([0, 0.5, 3, 3, 3, 1e13 if odd else 1.0, "1" if odd else 2]),
    }
    if rng.random() < 0.4:
        chosen["crossfit"] = rng.choice([0, 2, 5, -1, 1.5] if odd else [2, 3])
    if rng.random() < 0.3:
        chosen["teacher"] = rng.choice(["forest", "mixed", "nobody", None] if odd else ["boosted", "mixed"])
    given = {
        name: _per_row(rng, n)
        for name in ("teacher_weight", "crossfit_groups", "sample_weight")
        if rng.random() < 0.3 * odd
    }
    kept = copy.deepcopy((x, z, y, given))

    def call() -> None:
        made(**SMALL, enable_categorical=True, **chosen).fit(x, y, privileged=z, **given).predict(x)

    found = _ended(call)
    _check_unchanged((x, z, y, given), kept)
    return found


def functions(rng: random.Random) -> str:
    """``train``, ``cv`` and ``fit_teacher`` on matrices, with what is said of each row."""
    n = rng.choice([3, 12, 40])
    label = np.array([rng.randint(0, 1) for _ in range(n)], float)
    dtrain = xgboost.DMatrix(np.array([[rng.uniform(-3, 3)] * 2 for _ in range(n)]), label)
    privileged = xgboost.DMatrix(np.array([[rng.choice([rng.uniform(-3, 3), np.nan])] for _ in range(n)]), label)
    rows = {name: _per_row(rng, n) for name in ("labelled", "teacher_weight", "crossfit_groups") if rng.random() < 0.5}
    params = {"objective": rng.choice(["binary:logistic", "reg:squarederror", "count:poisson"]), "nthread": 1}
    guided = {"privileged": privileged, "crossfit": rng.choice([0, 2, 3]), "kl_weight": rng.choice([0, 1.0, 1e12])}
    call = rng.choice(
        [
            lambda: pi_xgb.train(params, dtrain, 2, **guided, **rows),
            lambda: pi_xgb.cv(params, dtrain, 2, nfold=rng.choice([2, 3, 50]), **guided, **rows),
            lambda: pi_xgb.fit_teacher(params, privileged, 2, crossfit=guided["crossfit"], **rows),
            lambda: pi_xgb.train(params, dtrain, 2, teacher=_per_row(rng, n), kl_weight=1.0),
        ]
    )
    found = _ended(call)
    if not np.array_equal(dtrain.get_label(), label) or dtrain.get_weight().size:
        raise Fault("the labels or weights of dtrain were changed")
    return found


def _ended(call: Callable[[], Any]) -> str:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            call()
    except OURS as error:
        # What it says of infinite features is XGBoost's own affair.
        if isinstance(error, xgboost.core.XGBoostError) and "`inf`" not in str(error):
            raise Fault(f"a C++ stack trace: {str(error)[:200]}") from error
        return "refused"
    except Exception as error:
        raise Fault(f"{type(error).__name__}: {str(error)[:300]}") from error
    return "worked"


def _check_unchanged(now: Any, before: Any) -> None:
    for item, other in zip(now, before, strict=True):
        if isinstance(item, pd.DataFrame | pd.Series) and not item.equals(other):
            raise Fault("a table of the user's was changed")
        if isinstance(item, np.ndarray) and item.dtype != object and item.tobytes() != other.tobytes():
            raise Fault("an array of the user's was changed")


# --- files --------------------------------------------------------------------------------------------------------


def _cell(rng: random.Random, column: int) -> str:
    if column < 3 or rng.random() < 0.5:
        return rng.choice([f"{rng.uniform(-3, 3):.3f}", str(rng.randint(0, 3))])
    return rng.choice(WORDS)


def _csv(rng: random.Random) -> bytes:
    n, width = rng.choice([0, 1, 5, *[40] * 7]), rng.choice([2, *[4] * 8, 30])
    names = ["y", "z", *(rng.choice([f"x{i}", *WORDS]) if rng.random() < 0.1 else f"x{i}" for i in range(width - 2))]
    dates = rng.choice([None] * 4 + [["2024-01-05", "1999-12-31 23:59", ""], ["5.1.2024", "2024/2/29"], ["2024-02-30"]])
    pool = rng.choice([["0", "1"], ["0", "1"], ["ja", "nein"], ["0", "1", ""], ["0", "1", "2"], WORDS])
    lines = [names]
    for _ in range(n):
        row = [rng.choice(pool), *(_cell(rng, i) for i in range(width - 1))]
        row[-1] = row[-1] if dates is None else rng.choice(dates)
        if rng.random() < 0.004:
            row = row[:-1] if rng.random() < 0.5 else [*row, "9"]
        lines.append(row)
    found, between, end = rng.random(), rng.choice([*"," * 9, ";", "\t"]), rng.choice(["\n", "\n", "\r\n", "\r"])
    quoted = [['"' + cell.replace('"', '""') + '"' if found < 0.9 else cell for cell in line] for line in lines]
    text = end.join(between.join(line) for line in quoted) + rng.choice([end, ""])
    content = text.encode(rng.choice([*["utf-8"] * 9, "utf-8-sig", "utf-16", "latin-1"]), "replace")
    if rng.random() < 0.05:
        at = rng.randrange(len(content) + 1)
        content = content[:at] + rng.choice([b"\0", b"\xff", b'"', b"\n\n", b"\x1f\x8b"]) + content[at:]
    return content


def files(rng: random.Random) -> str:
    """``pi-xgb train`` and ``predict`` on CSV files."""
    with tempfile.TemporaryDirectory() as folder:
        data, model = Path(folder) / "rows.csv", Path(folder) / "model.ubj"
        data.write_bytes(_csv(rng))
        options = rng.choice([[], ["--unlabelled", "teach"], ["--unlabelled", "drop"], ["--crossfit", "2"]])
        quick = ["--rounds", "2", "--params", "nthread=1", "max_depth=2"]
        read = rng.choice([[], ["--categories", "x1"], ["--missing", rng.choice(WORDS) or "-"]])
        wanted, later = ["--label", "y", "--privileged", "z", *read], read if "--missing" in read else []
        found = _shell(["train", str(data), *wanted, *options, *quick, "--out", str(model)])
        if found == 0 and _shell(["predict", str(data), "--model", str(model), *later]) != 0:
            raise Fault(f"a model does not predict the rows that it was trained on: {data.read_bytes()[:500]!r}")
        return "worked" if found == 0 else "refused"


def _shell(arguments: list[str]) -> int:
    out, err = io.StringIO(), io.StringIO()
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err), warnings.catch_warnings():
            warnings.simplefilter("always")
            code = command_line(arguments)
    except SystemExit as stopped:
        code = int(stopped.code or 0)
    except Exception as error:
        raise Fault(f"{arguments[0]}: {type(error).__name__}: {str(error)[:300]}") from error
    if code not in (0, 2):
        raise Fault(f"{arguments[0]} ended with {code}: {err.getvalue()[-300:]}")
    if code == 2 and "pi-xgb" not in err.getvalue():
        raise Fault(f"{arguments[0]} refused without a word")
    return code


# --- model files ----------------------------------------------------------------------------------------------------


def _model() -> xgboost.Booster:
    dtrain = xgboost.DMatrix(_rows(), np.arange(40) % 2, enable_categorical=True)
    return xgboost.train({"objective": "binary:logistic", "nthread": 1}, dtrain, 2)


def _rows() -> pd.DataFrame:
    data = pi_xgb.datasets.make_privileged(40, seed=0)
    return data.x.assign(town=pd.Categorical(["a", "b"] * 20))


def models(rng: random.Random) -> str:
    """``pi-xgb predict`` and ``load_model`` with attributes of any text, and with files that were cut off."""
    booster = _model()
    junk = [*WORDS, "[]", "{}", "null", "1", "[1, 2]", '{"dtype": "<U1", "values": ["a", "b"]}', '{"values": 3}', "NaN"]
    junk += [
        '{"dtype": "O", "values": [1, 2]}',
        '{"dtype": "<i8", "values": [1, 1]}',
        '{"x0": 3}',
        '{"town": ["a", "b"]}',
        '{"town": [1]}',
        '{"dtype": "V", "values": []}',
    ]
    for name in ("pi_xgb_classes", "pi_xgb_categories", "pi_xgb_kl_weight", "best_iteration"):
        if rng.random() < 0.2:
            booster.set_attr(**{name: rng.choice(junk).replace("\0", "")})
    raw = bytes(booster.save_raw("ubj"))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.ubj"
        path.write_bytes(raw[: rng.randrange(len(raw))] if rng.random() < 0.3 else raw)
        _rows().to_csv(Path(folder) / "rows.csv")
        found = _shell(["predict", str(Path(folder) / "rows.csv"), "--model", str(path)])
        if len(path.read_bytes()) == len(raw) and rng.random() < 0.5:
            _ended(lambda: PrivilegedXGBClassifier().load_model(path))
        return "worked" if found == 0 else "refused"


QUICK = {"estimators": estimators, "functions": functions, "files": files, "models": models}
TARGETS = {**QUICK, **faults.TARGETS}
_SELDOM = 20


def main() -> None:
    parser = command("fuzz", __doc__)
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--target", default=",".join(TARGETS))
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, help="a CSV for the counts")
    parser.add_argument("--smoke", action="store_true")
    options = parser.parse_args()
    chosen = asked(options.target, TARGETS, "target")
    until = time.monotonic() + 60 * options.minutes
    ends: Counter[tuple[str, str]] = Counter()
    for seed in itertools.count(options.seed):
        if (options.smoke and seed == options.seed + 3) or time.monotonic() > until:
            break
        for name in chosen:
            if name in faults.TARGETS and (seed - options.seed) % _SELDOM:
                continue
            try:
                ends[name, TARGETS[name](random.Random(seed))] += 1
            except (Fault, faults.Unsound) as fault:
                ends[name, "fault"] += 1
                print(f"--target {name} --seed {seed}: {fault}", flush=True)
    for name in chosen:
        found = ", ".join(f"{count} {end}" for (target, end), count in sorted(ends.items()) if target == name)
        print(f"{name}: {found}")
    if options.out:
        lines = [(*which, count, options.seed, options.minutes) for which, count in sorted(ends.items())]
        pd.DataFrame(lines, columns=["target", "end", "cases", "seed", "minutes"]).to_csv(options.out, index=False)
    sys.exit(any(end == "fault" for _, end in ends))


if __name__ == "__main__":
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    main()
