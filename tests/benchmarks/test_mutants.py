"""The mutants: what counts as a mistake, a fair draw, and a score that is counted right."""

from __future__ import annotations

import ast
from collections import Counter

import pandas as pd
import pytest

pytest.importorskip("sklearn", reason="the benchmarks need scikit-learn")

from benchmarks.mutants import page, source
from benchmarks.mutants.reach import Reach, digest, read_reach

CODE = '''
"""What it does: 1 + 1."""
from __future__ import annotations
if TYPE_CHECKING:
    TWICE = 2
class Keywords(TypedDict, total=False): ...
@overload
def f(a: Literal[3]) -> Literal[4]: ...
def f(a, *, b=5):
    check(a)
    if a == 6:
        raise ValueError(f"not {a + 1}" + "x")
    warn_user("7" + a)
    a += 8
    return g(a, b=b) if a else not a
'''
MADE = {
    ("check(a)", "pass"), ("5", "6"), ("a == 6", "a != 6"), ("6", "7"), ("warn_user('7' + a)", "pass"), ("8", "9"),
    ("a += 8", "a -= 8"), ("g(a, b=b)", "g(a)"), ("not a", "a"),
    ("g(a, b=b) if a else not a", "g(a, b=b) if not a else not a"),
}  # fmt: skip


@pytest.fixture
def package(tmp_path, monkeypatch):
    monkeypatch.setattr(source, "PACKAGE", tmp_path)
    (tmp_path / "_core").mkdir()
    (tmp_path / "_core" / "f.py").write_text(CODE)
    return tmp_path


def test_mistakes_are_made_in_code_alone(package):
    found = list(source.mutants_of("_core/f.py"))
    assert {(mutant.before, mutant.after) for mutant in found} == MADE
    for mutant in found:
        text = mutant.source(CODE.encode()).decode()
        assert ast.dump(ast.parse(text)) != ast.dump(ast.parse(CODE))
        assert text.splitlines()[: mutant.line - 1] == CODE.splitlines()[: mutant.line - 1]
        assert mutant.line in mutant.lines


def test_each_package_has_its_share_of_every_beginning_of_a_draw(package):
    (package / "metrics.py").write_text("\n".join(f"x{i} = {i}" for i in range(60)))
    (package / "_rows.py").write_text("\n".join(f"x{i} = {i}" for i in range(30)))
    wanted = source.by_package(source.drawn(0))
    assert wanted == {"_core": 10, "_rows": 30, "metrics": 60}
    first = source.drawn(5)
    assert first == source.drawn(5) != source.drawn(6)
    assert len(set(first)) == 100
    for n in (10, 37, 80):
        packages = Counter(mutant.package for mutant in first[:n])
        assert all(abs(packages[package] - n * count / 100) <= 1 for package, count in wanted.items())


def test_a_mutant_meets_the_tests_that_reach_its_statement(package):
    mutant = next(mutant for mutant in source.mutants_of("_core/f.py") if mutant.before == "a == 6")
    seconds = {"t.py::slow": 2.0, "t.py::quick": 1.0, "u.py::other": 0.1}
    lines = {mutant.line: frozenset({"t.py::slow", "t.py::quick"}), mutant.line - 1: frozenset(seconds)}
    reach = Reach(seconds, {mutant.file: lines}, {mutant.file: digest(mutant.file)})
    assert reach.of(mutant) == ["t.py::quick", "t.py::slow"]
    # What runs as the module is imported, or has changed since, meets whoever comes into the file.
    lines[mutant.line] = frozenset()
    assert reach.of(mutant) == ["u.py::other", "t.py::quick", "t.py::slow"]
    signatures = "tests/test_public_names.py::all"
    assert Reach(seconds | {signatures: 0.5}, {mutant.file: lines}, reach.texts).of(mutant)[1] == signatures
    lines[mutant.line] = frozenset({"t.py::slow"})
    reach.write(package / "reach.json")
    assert read_reach(package / "reach.json") == reach
    (package / mutant.file).write_text(CODE + "\n")
    assert len(reach.of(mutant)) == 3
    # Measured again, a test that no longer comes there is gone.
    again = Reach({"t.py::slow": 3.0}, {mutant.file: {}}, reach.texts)
    assert reach.updated(again).lines[mutant.file][mutant.line] == frozenset()
    assert reach.updated(again).seconds == {"u.py::other": 0.1, "t.py::slow": 3.0}


OUTCOMES = ["killed"] * 90 + ["hung"] * 2 + ["closed"] * 3 + ["lived"] * 5


def test_the_score_counts_what_is_a_mistake(tmp_path):
    found = pd.DataFrame(
        {"file": "_core/f.py", "line": range(100), "before": [f"x{i}" for i in range(100)], "after": "y",
         "outcome": OUTCOMES, "seconds": 1.0, "draw": 1}
    )  # fmt: skip
    # Of an older draw the score is shown, and no line.
    older = found.iloc[:50].assign(draw=0, outcome="lived", file="_old/f.py")
    pd.concat([found, older]).to_csv(tmp_path / "told.csv", index=False)
    scored = found[-4:][["file", "line", "before", "after"]].assign(judgement="no mistake: the same")
    scored.to_csv(tmp_path / "judged.csv", index=False)
    page.write(tmp_path / "told.csv", tmp_path / "judged.csv", tmp_path / "out.md")
    text = (tmp_path / "out.md").read_text()
    # 92 of 96; sqrt(p (1 - p) / 96); and the three that are closed.
    assert "| 1 | 100 | 92 | 4 | 3 | 1 | 95.8 (2.0) | 89.8 to 98.4 | 99.0 |" in text
    assert text.count("no mistake: the same") == 4
    assert text.count("not judged") == 4
    assert "| 0 | 50 | 0 |" in text
    assert "_old" not in text
    assert page.wilson(96, 96) == pytest.approx((0.9615, 1.0), abs=1e-4)
