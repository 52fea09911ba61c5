"""Continued trainings equal uninterrupted ones to the bit, after a kill -9 too."""

from __future__ import annotations

import re
import subprocess
import sys
import textwrap
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import xgboost as xgb
from helpers_problems import BLENDED, Problem, assert_same_model, by_objective, trees

import pi_xgb
from pi_xgb import JointCheckPoint, JointObjective, JointTeacher

JPIB: dict[str, Any] = {"teacher": "boosted", "method": "jpib", "kl_weight": 0.7}
every_objective = pytest.mark.parametrize("objective", BLENDED)
as_booster_or_file = pytest.mark.parametrize("carried", ["booster", "ubj", "json", "bytes"])


def carry(booster: xgb.Booster, how: str, folder: Path, name: str) -> Any:
    """A booster as a later training may be given it."""
    if how == "booster":
        return booster
    if how == "bytes":
        return booster.save_raw("ubj")
    booster.save_model(folder / f"{name}.{how}")
    return folder / f"{name}.{how}"


@every_objective
@as_booster_or_file
def test_kbpib_of_five_and_five_rounds_is_ten(objective, carried, tmp_path):
    case = Problem(objective)
    params, dtrain = case.params(), case.dtrain(weighted=True)
    whole = pi_xgb.train(params, dtrain, 10, teacher=case.q, kl_weight=1.5)
    half = pi_xgb.train(params, dtrain, 5, teacher=case.q, kl_weight=1.5)
    model = carry(half, carried, tmp_path, "half")
    # A teacher that is given does not change, so nothing is lost between two trainings.
    assert_same_model(pi_xgb.train(params, dtrain, 5, teacher=case.q, kl_weight=1.5, xgb_model=model), whole)


@pytest.mark.parametrize("second", ["callback", "native", "plain"])
@pytest.mark.parametrize("first", ["callback", "native"])
@pytest.mark.parametrize("carried", ["booster", "ubj"])
@pytest.mark.parametrize("scale", [None, 3.0])
def test_engines_may_change_between_two_parts(first, second, carried, scale, tmp_path):
    case = Problem("binary:logistic")
    params, dtrain, q = case.params(), case.dtrain(), case.q.copy()
    q[:50] = 1  # so that a blended target is exactly 1, where XGBoost's own scale_pos_weight would bite
    if scale is not None:
        params["scale_pos_weight"] = scale

    def part(engine: str, **more: Any) -> xgb.Booster:
        if engine == "plain":
            return xgb.train(params, dtrain, 5, **more)
        return pi_xgb.train(params, dtrain, 5, teacher=q, kl_weight=2.0, engine=engine, **more)

    ours = part(second, xgb_model=carry(part(first), carried, tmp_path, "first"))
    expected_second = "plain" if second == "plain" else "callback"
    expected = part(expected_second, xgb_model=carry(part("callback"), carried, tmp_path, "expected"))
    # Whichever engine built the first rounds, the model says nothing of it to the rounds that follow.
    np.testing.assert_allclose(ours.predict(dtrain), expected.predict(dtrain), atol=1e-6)


def test_the_loaded_intercept_stays():
    case = Problem("binary:logistic")
    plain = xgb.train(case.params(base_score=0.1), case.dtrain(), 3)
    continued = pi_xgb.train(case.params(), case.dtrain(), 2, teacher=case.q, xgb_model=plain)
    assert trees(continued)[:3] == trees(plain)
    assert_same_model(continued[:3], plain[:3])


def test_the_rounds_before_are_left_alone():
    case = Problem("binary:logistic")
    half = pi_xgb.train(case.params(), case.dtrain(), 5, teacher=case.q)
    before = half.save_raw("json")
    pi_xgb.train(case.params(), case.dtrain(), 5, teacher=case.q, xgb_model=half)
    assert half.save_raw("json") == before


def test_copies_continue_a_model_of_other_rows():
    case = Problem("reg:pseudohubererror")
    params, dtrain = case.params(), case.dtrain()
    earlier = xgb.train(params, dtrain.slice(range(30)), 5)  # its splits are not among the cuts of all rows
    found = pi_xgb.train(params, dtrain, 5, teacher=case.q, kl_weight=1e-9, xgb_model=earlier)
    expected = xgb.train(params, dtrain, 5, xgb_model=earlier)
    np.testing.assert_allclose(case.margins(found), case.margins(expected), atol=1e-4)


@every_objective
@pytest.mark.parametrize(("carried", "first"), [("booster", 1), ("ubj", 5), ("json", 1), ("bytes", 5)])
def test_jpib_continues_when_the_teacher_comes_along(objective, carried, first, tmp_path):
    case = Problem(objective)
    params, dtrain, dprivileged = case.params(), case.dtrain(weighted=True), case.dprivileged()
    whole = pi_xgb.train(params, dtrain, 10, privileged=dprivileged, **JPIB)
    teacher = JointTeacher(dprivileged, params)
    student = pi_xgb.train(params, dtrain, first, teacher=teacher, kl_weight=0.7)
    resumed = JointTeacher(dprivileged, params, xgb_model=carry(teacher.booster, carried, tmp_path, "teacher"))
    model = carry(student, carried, tmp_path, "student")
    ours = pi_xgb.train(params, dtrain, 10 - first, teacher=resumed, kl_weight=0.7, xgb_model=model)
    assert_same_model(ours, whole)
    # The teacher of the first part was copied, not grown.
    assert teacher.booster.num_boosted_rounds() == first - 1
    assert resumed.booster.num_boosted_rounds() == 9


def test_jpib_as_an_objective_continues_its_own_student():
    case = Problem("binary:logistic")
    params, dtrain = case.params(base_score=0.4), case.dtrain()
    whole = by_objective(params, dtrain, 10, JointObjective(case.dprivileged(), 0.7, params))
    obj = JointObjective(case.dprivileged(), 0.7, params)
    half = by_objective(params, dtrain, 5, obj)
    assert_same_model(by_objective(params, dtrain, 5, obj, xgb_model=half), whole)
    # Having gone on, it cannot go on from the same student a second time.
    with pytest.raises(ValueError, match=r"5 rounds.*9"):
        by_objective(params, dtrain, 5, obj, xgb_model=half)


def test_a_teacher_at_the_wrong_round_is_refused():
    case = Problem("binary:logistic")
    params, dtrain, dprivileged = case.params(), case.dtrain(), case.dprivileged()
    teacher = JointTeacher(dprivileged, params)
    student = pi_xgb.train(params, dtrain, 4, teacher=teacher)
    too_old = JointTeacher(dprivileged, params, xgb_model=teacher.booster[:2])
    with pytest.raises(ValueError, match=r"student.*4 rounds.*2"):
        pi_xgb.train(params, dtrain, 2, teacher=too_old, xgb_model=student)
    # A loaded teacher without its student is refused too: it would be ahead of a student that has nothing.
    loaded = JointTeacher(dprivileged, params, xgb_model=teacher.booster)
    with pytest.raises(ValueError, match=r"0 rounds.*3"):
        pi_xgb.train(params, dtrain, 2, teacher=loaded)


def resume(folder: Path, case: Any, params: dict[str, Any], total: int, **more: Any) -> xgb.Booster:
    latest = JointCheckPoint.latest(folder)
    assert latest is not None
    rounds, student, teacher_file = latest
    teacher = JointTeacher(case.dprivileged(), params, xgb_model=teacher_file)
    callbacks = [JointCheckPoint(folder, teacher, interval=more["interval"])] if more else None
    return pi_xgb.train(
        params,
        case.dtrain(weighted=True),
        total - rounds,
        teacher=teacher,
        kl_weight=0.7,
        xgb_model=student,
        callbacks=callbacks,
    )


@every_objective
@pytest.mark.parametrize("interval", [1, 3])
def test_every_checkpoint_leads_to_the_same_model(objective, interval, tmp_path):
    case = Problem(objective)
    params = case.params()
    teacher = JointTeacher(case.dprivileged(), params)
    whole = pi_xgb.train(
        params,
        case.dtrain(weighted=True),
        7,
        teacher=teacher,
        kl_weight=0.7,
        callbacks=[JointCheckPoint(tmp_path, teacher, interval=interval)],
    )
    checkpoints = sorted(range(interval, 8, interval), reverse=True)
    names = {f"{role}-{r}.ubj" for r in checkpoints for role in ("student", "teacher")}
    # A pair of files every few rounds, and nothing unfinished.
    assert {file.name for file in tmp_path.iterdir()} == names
    for rounds in checkpoints:
        latest = JointCheckPoint.latest(tmp_path)
        assert latest == (rounds, tmp_path / f"student-{rounds}.ubj", tmp_path / f"teacher-{rounds}.ubj")
        assert_same_model(resume(tmp_path, case, params, 7), whole)
        latest[1].unlink()
    assert JointCheckPoint.latest(tmp_path) is None


def test_latest_passes_over_what_is_not_complete(tmp_path):
    assert JointCheckPoint.latest(tmp_path) is None
    case = Problem("binary:logistic")
    teacher = JointTeacher(case.dprivileged(), case.params())
    keep = JointCheckPoint(tmp_path, teacher, interval=2)
    pi_xgb.train(case.params(), case.dtrain(), 10, teacher=teacher, callbacks=[keep])
    (tmp_path / "teacher-10.ubj").unlink()  # a student without its teacher
    (tmp_path / "student-8.ubj").rename(tmp_path / "unfinished-student-8.ubj")  # killed between the two files
    (tmp_path / "unfinished-student-12.ubj").write_bytes(b"half a mod")  # killed while writing
    (tmp_path / "unfinished-teacher-12.ubj").write_bytes(b"")
    (tmp_path / "student-best.ubj").write_bytes(b"not ours")
    (tmp_path / "student-99.ubj.bak").write_bytes(b"not ours")
    # The newest pair of which both files are complete is 6, and 6 is newer than 4 although "10" < "6" as text.
    assert JointCheckPoint.latest(tmp_path) == (6, tmp_path / "student-6.ubj", tmp_path / "teacher-6.ubj")
    # What was left unfinished does not stand in the way of the next training.
    keep = JointCheckPoint(tmp_path, teacher, interval=2)
    pi_xgb.train(case.params(), case.dtrain(), 12, teacher=teacher, callbacks=[keep])
    assert JointCheckPoint.latest(str(tmp_path)) == (12, tmp_path / "student-12.ubj", tmp_path / "teacher-12.ubj")


# The same training as in the parent, but slow, so that there is a middle in which it can be killed.
SLOW_TRAINING = """
import sys, time
sys.path.insert(0, sys.argv[2])
import xgboost as xgb
import pi_xgb
from helpers_problems import Problem

class Slow(xgb.callback.TrainingCallback):
    def after_iteration(self, model, epoch, evals_log):
        time.sleep(0.05)
        return False

case = Problem(sys.argv[3])
teacher = pi_xgb.JointTeacher(case.dprivileged(), case.params())
keep = pi_xgb.JointCheckPoint(sys.argv[1], teacher, interval=2)
pi_xgb.train(
    case.params(), case.dtrain(weighted=True), 1000, teacher=teacher, kl_weight=0.7, callbacks=[keep, Slow()]
)
"""


@pytest.mark.slow
@pytest.mark.parametrize("objective", ["binary:logistic", "multi:softprob"])
def test_a_killed_training_resumes_to_the_same_model(objective, tmp_path):
    here = str(Path(__file__).parent)
    process = subprocess.Popen([sys.executable, "-c", SLOW_TRAINING, str(tmp_path), here, objective])
    try:
        deadline = time.monotonic() + 60
        while not (tmp_path / "student-6.ubj").exists():
            assert process.poll() is None, "the training ended before it could be killed"
            assert time.monotonic() < deadline, "the training did not get to its third checkpoint"
            time.sleep(0.02)
    finally:
        process.kill()  # SIGKILL: nothing is flushed, no handler runs
        process.wait()
    assert process.returncode != 0
    latest = JointCheckPoint.latest(tmp_path)
    assert latest is not None
    rounds, total = latest[0], latest[0] + 5
    assert 6 <= rounds < 1000

    case = Problem(objective)
    resumed = resume(tmp_path, case, case.params(), total)
    whole = pi_xgb.train(case.params(), case.dtrain(weighted=True), total, privileged=case.dprivileged(), **JPIB)
    assert_same_model(resumed, whole)


@pytest.fixture
def checkpoints(tmp_path):
    """A folder with checkpoints of 1 to 4 rounds."""
    data = pi_xgb.datasets.make_privileged(120, seed=0)
    params = {"objective": "binary:logistic", "max_depth": 2, "nthread": 1}
    teacher = JointTeacher(xgb.DMatrix(data.z, data.y), params)
    keep = JointCheckPoint(tmp_path, teacher, interval=1)
    pi_xgb.train(params, xgb.DMatrix(data.x, data.y), 4, teacher=teacher, callbacks=[keep])
    return tmp_path


def test_the_latest_checkpoint_is_one_that_can_be_loaded(checkpoints):
    whole = {number: (checkpoints / f"student-{number}.ubj").read_bytes() for number in (2, 3, 4)}
    # Cut off where XGBoost would read past the end; at the last byte; nothing; zeros.
    for damaged in (whole[4][:1000], whole[4][:-1], b"", bytes(6000)):
        for role in ("student", "teacher"):
            file = checkpoints / f"{role}-4.ubj"
            kept = file.read_bytes()
            file.write_bytes(damaged)
            with pytest.warns(UserWarning, match=f"4 rounds.*{role}-4.ubj"):
                assert JointCheckPoint.latest(checkpoints)[0] == 3
            file.write_bytes(kept)
    # A student under the name of another, a folder, and nothing left at last.
    (checkpoints / "student-3.ubj").write_bytes(whole[2])
    (checkpoints / "student-4.ubj").unlink()
    (checkpoints / "student-4.ubj").mkdir()
    with pytest.warns(UserWarning, match="is skipped") as found:
        assert JointCheckPoint.latest(checkpoints)[0] == 2
    assert [str(warning.message).rpartition("is skipped: ")[2] for warning in found] == [
        f"[Errno 21] Is a directory: {str(checkpoints / 'student-4.ubj')!r}",
        f"{str(checkpoints / 'student-3.ubj')!r} has 2 rounds",
    ]
    for number in (1, 2):
        (checkpoints / f"teacher-{number}.ubj").write_bytes(b"{")
    with pytest.warns(UserWarning, match="is skipped"):
        assert JointCheckPoint.latest(checkpoints) is None


@pytest.mark.slow
def test_a_teacher_of_a_file_that_cannot_be_read(checkpoints):
    # A process of its own: of such a file XGBoost may hang, or die.
    code = """
        import sys
        import pi_xgb, xgboost as xgb

        data = pi_xgb.datasets.make_privileged(120, seed=0)
        matrix = xgb.DMatrix(data.z, data.y)
        for file in sys.argv[1:]:
            try:
                pi_xgb.JointTeacher(matrix, {"objective": "binary:logistic"}, xgb_model=file)
            except (OSError, ValueError) as error:
                print(type(error).__name__, str(error).replace("\\n", " "))
    """
    cut, absent = checkpoints / "cut.ubj", checkpoints / "absent.ubj"
    cut.write_bytes((checkpoints / "teacher-4.ubj").read_bytes()[:1000])
    command = [sys.executable, "-c", textwrap.dedent(code), str(cut), str(absent)]
    found = subprocess.run(command, capture_output=True, text=True, timeout=60)
    expected = r"ValueError.* is a damaged model of XGBoost.*\nFileNotFoundError.*absent.ubj"
    assert re.match(expected, found.stdout), found.stderr
