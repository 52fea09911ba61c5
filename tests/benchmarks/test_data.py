"""Raw files, recipes and folds of the benchmarks. Nothing here reaches a network."""

from __future__ import annotations

import csv
import dataclasses
import gzip
import hashlib
import io
import os
import tarfile
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import xgboost as xgb
from sklearn.metrics import roc_auc_score
from sklearn.preprocessing import OrdinalEncoder

from benchmarks.data import DATASETS, PreparedSet, archives, fetch, load, store
from benchmarks.data.__main__ import main as check_data_sets
from benchmarks.data.prepare import encode
from benchmarks.data.records import RawFile, Table
from benchmarks.modes.paper import EARLY_STOPPING_ROUNDS, NUM_BOOST_ROUND, paper_fold, paper_params

RAW_FOLDER = Path(os.environ.get("PI_XGB_DATA") or Path(__file__).parents[3] / "shared" / "data")
needs_raw_files = pytest.mark.skipif(
    not RAW_FOLDER.is_dir(), reason="no folder with the raw data files; name one in PI_XGB_DATA"
)

# Rows, negatives per positive, privileged columns of the paper's sets, written down apart from the records.
EXPECTED = {
    "heart": (297, 1.168, ["restecg", "thalach", "exang", "oldpeak", "slope", "ca", "thal"]),
    "car": (1728, 2.336, ["safety"]),
    "spam": (4601, 1.538, None),
    "adult": (30162, 3.017, ["age", "race", "sex"]),
    "diabetes": (46176, 3.134, ["gender"]),
    "dutch": (60420, 1.101, ["sex"]),
    "bank": (45211, 7.548, ["age", "marital"]),
    "credit": (30000, 3.521, ["SEX", "EDUCATION", "MARRIAGE"]),
    "compas": (6172, 1.197, ["sex", "race"]),
    "compas_violent": (4015, 5.158, ["sex", "race"]),
    "communities": (1994, 15.344, ["racepctblack"]),
    "student_mat": (395, 0.491, ["sex", "age"]),
    "student_por": (649, 0.182, ["sex", "age"]),
    "oulad": (21562, 0.471, ["gender"]),
    "kdd": (284556, 15.352, ["race", "sex"]),
}

# Test AUC per fold of the boosters without privileged features that the paper's authors released.
RELEASED_AUC = {
    "heart": [
        *(0.854911, 0.810268, 0.890625, 0.640625, 0.808036, 0.819196, 0.703125, 0.783654, 0.757212, 0.855769),
    ],
    "car": [
        *(0.840591, 0.852352, 0.901303, 0.825572, 0.852114, 0.821917, 0.808487, 0.883185, 0.830822, 0.835926),
    ],
    "spam": [
        *(0.954498, 0.964414, 0.960807, 0.952722, 0.962009, 0.951563, 0.963465, 0.971138, 0.973861, 0.954831),
    ],
    "communities": [
        *(0.892952, 0.934397, 0.867956, 0.967297, 0.909314, 0.777852, 0.959893, 0.914661, 0.876337, 0.826649),
    ],
}

# The same boosters on fold 0: set, privileged column (by position), recall, precision, statistical parity.
RELEASED_GROUPS = [
    ("adult", 0, 0.613848, 0.496767, 0.193442),
    ("adult", 1, 0.613848, 0.496767, 0.037592),
    ("adult", 2, 0.613848, 0.496767, 0.183527),
    ("diabetes", 0, 0.999105, 0.242293, 0.000287),
    ("dutch", 0, 0.545707, 0.776075, 0.07754),
    ("bank", 0, 0.589792, 0.29686, 0.268803),
    ("bank", 1, 0.589792, 0.29686, 0.023136),
    ("credit", 0, 0.665663, 0.411929, 0.011277),
    ("credit", 1, 0.665663, 0.411929, 0.002042),
    ("credit", 2, 0.665663, 0.411929, 0.040162),
    ("compas", 0, 0.967972, 0.504638, 0.036863),
    ("compas", 1, 0.967972, 0.504638, 0.160182),
    ("compas_violent", 0, 0.230769, 0.234375, 0.084476),
    ("compas_violent", 1, 0.230769, 0.234375, 0.041386),
    ("communities", 0, 0.25, 0.375, 0.072727),
    ("student_mat", 0, 0.962963, 0.896552, 0.077694),
    ("student_mat", 1, 0.962963, 0.896552, 0.125),
    ("student_por", 0, 0.854545, 0.94, 0.066667),
    ("student_por", 1, 0.854545, 0.94, 0.227987),
    ("oulad", 0, 0.731241, 0.693851, 0.009704),
    ("kdd", 0, 0.584483, 0.402613, 0.054944),
    ("kdd", 1, 0.584483, 0.402613, 0.069004),
]


@pytest.fixture(scope="module")
def real(request: pytest.FixtureRequest) -> Iterator[dict[str, PreparedSet]]:
    """Every data set from the raw files, each read once for all tests."""

    class Loaded(dict[str, PreparedSet]):
        def __missing__(self, name: str) -> PreparedSet:
            self[name] = load(name)
            return self[name]

    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PI_XGB_DATA", str(RAW_FOLDER))
        yield Loaded()


def test_the_fifteen_sets_are_registered() -> None:
    # Set names and their order are those of the paper's tables.
    assert list(DATASETS) == list(EXPECTED)


@needs_raw_files
@pytest.mark.parametrize("name", DATASETS)
def test_prepared_set_is_the_papers(real: dict[str, PreparedSet], name: str) -> None:
    prepared = real[name]
    rows, ratio, privileged = EXPECTED[name]
    # Rows and class ratio are the paper's.
    assert prepared.X.shape[0] == prepared.y.size == rows
    assert round(float((prepared.y == 0).sum() / (prepared.y == 1).sum()), 3) == pytest.approx(ratio, abs=5e-4)
    # The privileged columns are the paper's, and student and teacher share no column and leave none out.
    student, student_types = prepared.student()
    teacher, teacher_types = prepared.teacher()
    if privileged is not None:
        assert list(teacher.columns) == privileged
    assert sorted([*student.columns, *teacher.columns]) == sorted(prepared.X.columns)
    assert len(student_types) == student.shape[1]
    assert len(teacher_types) == teacher.shape[1]
    # Numeric columns come first.
    assert list(prepared.feature_types) == sorted(prepared.feature_types, reverse=True)
    # No value is missing, and the codes of a category with K values are 0..K-1.
    assert not prepared.X.isna().any(axis=None)
    for column, kind in zip(prepared.X.columns, prepared.feature_types, strict=True):
        if kind == "c":
            codes = np.unique(prepared.X[column])
            assert codes.tolist() == list(range(codes.size))
    # Protected groups exist for every privileged column or for none, and never hold all rows.
    assert len(prepared.protected) in (0, len(prepared.privileged))
    for group in prepared.protected:
        assert set(np.unique(group)) == {0, 1}
    # Only the three sets without categories use the exact method.
    assert prepared.tree_method == ("exact" if name in ("heart", "car", "spam") else "approx")


@needs_raw_files
@pytest.mark.parametrize(("name", "position", "recall", "precision", "parity"), RELEASED_GROUPS)
def test_rows_folds_and_groups_explain_the_released_decisions(
    real: dict[str, PreparedSet], name: str, position: int, recall: float, precision: float, parity: float
) -> None:
    prepared = real[name]
    test = prepared.folds()[0].test
    y, group = prepared.y[test], prepared.protected[position][test]
    # The published recall is a whole number of hits over the positives of our test part.
    hits = round(recall * y.sum())
    assert hits / y.sum() == pytest.approx(recall, abs=1e-6)
    # The published parity is |a/n1 - (D-a)/n0| for a whole number a of the D decisions and our group
    # sizes; with other sizes or another part there is no such a at six digits.
    decisions = round(hits / precision)
    n1, n0 = group.sum(), (1 - group).sum()
    a = np.arange(min(decisions, n1) + 1)
    assert np.abs(np.abs(a / n1 - (decisions - a) / n0) - parity).min() < 1.1e-6


@needs_raw_files
def test_every_fold_of_adult(real: dict[str, PreparedSet]) -> None:
    folds = real["adult"].folds()
    y = real["adult"].y
    # 30162 rows leave ten parts of 3016 or 3017.
    assert [fold.test.size for fold in folds] == [3017, 3017, *[3016] * 8]
    for fold in folds:
        # Fold i validates on the test part of fold i + 1, and trains on all the rest.
        following = folds[(fold.number + 1) % 10]
        assert np.array_equal(fold.valid, following.test)
        everything = np.concatenate([fold.train, fold.valid, fold.test])
        assert np.array_equal(np.sort(everything), np.arange(30162))
        # Every part has the classes in proportion.
        for part in (fold.train, fold.valid, fold.test):
            assert y[part].mean() == pytest.approx(y.mean(), abs=4e-4)


@needs_raw_files
@pytest.mark.parametrize(("name", "folds"), [("heart", range(10)), ("car", range(10)), ("communities", range(10))])
def test_paper_mode_without_privileged_features_is_the_released_booster(
    real: dict[str, PreparedSet], name: str, folds: range
) -> None:
    # To all six published digits: heart and car are numeric, and so is what the student sees of communities.
    assert [_auc(real[name], fold) for fold in folds] == pytest.approx(
        [RELEASED_AUC[name][fold] for fold in folds], abs=6e-7
    )


def _auc(prepared: PreparedSet, number: int) -> float:
    fold = paper_fold(prepared, number)
    booster = xgb.train(
        {**paper_params(prepared), "nthread": 1},
        fold.train,
        NUM_BOOST_ROUND,
        evals=[(fold.valid, "valid")],
        early_stopping_rounds=EARLY_STOPPING_ROUNDS,
        verbose_eval=False,
    )
    scores = booster.predict(fold.test, iteration_range=(0, booster.best_iteration + 1))
    return float(roc_auc_score(fold.test.get_label(), scores))


@needs_raw_files
def test_records_agree_with_the_manifest() -> None:
    manifest = RAW_FOLDER / "MANIFEST.csv"
    if not manifest.is_file():
        pytest.skip("the raw files came without a MANIFEST.csv")
    listed = list(csv.DictReader(manifest.read_text().splitlines()))
    recorded = {
        (name, f"{raw.name}.gz", raw.sha256, record.rows, record.neg_pos_ratio)
        for name, record in DATASETS.items()
        for raw in record.files
    }
    # The manifest has every file of the records, with its checksum, rows and ratio; the folder may hold more sets.
    assert recorded <= {
        (r["dataset"], r["file"], r["sha256_uncompressed"], int(r["rows_used"]), float(r["neg_pos_ratio"]))
        for r in listed
        if r["neg_pos_ratio"]  # sets for ranking have no two classes
    }


def test_codes_are_those_of_ordinal_encoder() -> None:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "number": rng.normal(size=60),
            "text": rng.choice(["b", "a", " c", "B", "<18", ">=18"], size=60),
            "code": rng.choice([9, 10, 1, 100], size=60),
        }
    )
    frame["category"] = frame["text"].astype("category")
    kept = frame[frame["text"] != "B"]
    encoded = encode(Table(kept, ["number"], ["text", "code", "category"], kept["code"] > 1))
    # Categories are numbered by sorted value among the kept rows, and numbers sort as numbers.
    oracle = OrdinalEncoder().fit_transform(kept[["text", "code", "text"]].to_numpy(dtype=object))
    assert np.array_equal(encoded[["text", "code", "category"]].to_numpy(), oracle)
    # Numeric columns stay what they are.
    assert np.array_equal(encoded["number"], kept["number"])


def test_a_missing_category_raises() -> None:
    frame = pd.DataFrame({"race": ["a", None, "b"]})
    with pytest.raises(ValueError, match=r"category.*row.*'race'"):
        encode(Table(frame, [], ["race"], frame["race"] == "a"))


def _zip(files: dict[str, bytes]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return buffer.getvalue()


def _tar_gz(files: dict[str, bytes]) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as archive:
        for name, content in files.items():
            info = tarfile.TarInfo(name)
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
    return buffer.getvalue()


@pytest.mark.parametrize(
    "archive",
    [
        _zip({"wanted.csv": b"1,2\n", "other.csv": b""}),
        _zip({"folder/": b"", "folder/wanted.csv": b"1,2\n"}),
        _zip({"inner.zip": _zip({"wanted.csv": b"1,2\n"}), "notes.zip_old": b"no archive"}),
        _zip({"inner.tar.gz": _tar_gz({"deep/wanted.csv": b"1,2\n"})}),
        _zip({"broken.zip": b"not a zip", "wanted.csv.gz": gzip.compress(b"1,2\n")}),
        _tar_gz({"wanted.csv": b"1,2\n"}),
    ],
)
def test_member_is_found_wherever_it_lies(archive: bytes) -> None:
    assert archives.is_archive(archive)
    assert archives.find_member(archive, "wanted.csv") == b"1,2\n"
    # A name that only ends in the same way is another file.
    assert archives.find_member(archive, "nted.csv") is None


Publish = Callable[..., Path]
CONTENT = b"".join(b"%d,low\n" % i for i in range(40_000))


def _raw(url: str = "http://127.0.0.1:9/raw.csv", content: bytes = CONTENT, **extra: str) -> RawFile:
    return RawFile("raw.csv", hashlib.sha256(content).hexdigest(), url, **extra)


@pytest.fixture
def empty_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """No user's folder, and an empty cache."""
    monkeypatch.delenv("PI_XGB_DATA", raising=False)
    monkeypatch.setenv("PI_XGB_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


def _refuse(raw: RawFile) -> bytes:
    raise AssertionError(f"{raw.name} was there, and was fetched all the same")


@pytest.mark.parametrize(
    ("name", "content"), [("raw.csv", b"0,high\n"), ("raw.csv.gz", gzip.compress(b"0,high\n", mtime=0))]
)
def test_wrong_content_in_the_users_folder_raises(
    empty_cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, content: bytes
) -> None:
    (tmp_path / name).write_bytes(content)
    monkeypatch.setenv("PI_XGB_DATA", str(tmp_path))
    # A wrong file is an error that names it; it is neither used nor replaced by a download.
    with pytest.raises(store.ChecksumError, match=rf"raw\.csv from .*{name}.*sha256"):
        store.raw_content(_raw(), _refuse)
    assert (tmp_path / name).read_bytes() == content


@pytest.fixture
def publish(tmp_path: Path) -> Publish:
    """Put a file where an address leads; the tests need no server."""

    def put(body: bytes, name: str = "raw.csv") -> Path:
        path = tmp_path / "publisher" / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(body)
        return path

    return put


def test_download_with_another_checksum_raises_and_is_removed(empty_cache: Path, publish: Publish) -> None:
    raw = _raw(publish(CONTENT).as_uri(), content=b"what the recipe was written for")
    with pytest.raises(store.ChecksumError, match="expected sha256"):
        store.raw_content(raw, fetch.fetch)
    # Nothing wrong stays behind.
    assert [path for path in empty_cache.rglob("*") if path.is_file()] == []


def test_download_that_fails_says_what_to_do(empty_cache: Path, tmp_path: Path) -> None:
    with pytest.raises(fetch.DownloadError, match=r"could not download file:.*place raw\.csv"):
        fetch.fetch(_raw((tmp_path / "nowhere.csv").as_uri()))


def test_load_downloads_prepares_and_caches(
    empty_cache: Path, publish: Publish, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = b"low,low,2,2,small,low,unacc\nhigh,med,5more,more,big,high,acc\n"
    published = publish(_zip({"car.data": rows}), "car+evaluation.zip")
    raw = RawFile("car.data", hashlib.sha256(rows).hexdigest(), published.as_uri())
    record = dataclasses.replace(DATASETS["car"], files=(raw,), rows=2, neg_pos_ratio=1.0)
    monkeypatch.setitem(DATASETS, "car", record)
    prepared = load("car")
    assert prepared.X.to_numpy().tolist() == [[1, 1, 2, 2, 1, 1], [3, 2, 5, 5, 3, 3]]
    assert prepared.y.tolist() == [0, 1]
    # The second time, here through the command line, nothing is asked of the publisher.
    published.unlink()
    check_data_sets(["car"])
    assert capsys.readouterr().out == "car: 2 rows, 6 features, privileged: safety\n"
