"""Checkpoints of a JPIB training: student and teacher together, so that it survives its process."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

import xgboost
from xgboost.callback import TrainingCallback

from .._files import write_file
from .._rows.checks import check_folder, check_whole
from .._warnings import warn_user
from .._xgb.booster import load_booster
from .joint import JointTeacher


class JointCheckPoint(TrainingCallback):
    """Save student and teacher of a JPIB training every few rounds, so that it survives its process.

    Parameters
    ----------
    directory : str or path
        An existing folder, best an empty one, as :meth:`latest` takes the newest pair it finds. Each checkpoint is two
        files, ``student-R.ubj`` and ``teacher-R.ubj``, R being the student's rounds. They are written under another
        name and renamed when complete.
    teacher : JointTeacher
        The :class:`JointTeacher` of the training (``JointObjective(...).teacher`` has it too).
    interval : int, default=100
        Rounds between checkpoints.

    Notes
    -----
    To go on after the process was killed, read the newest complete pair with :meth:`latest` and train the
    remaining rounds with both. The model is that of the uninterrupted run to the bit, as far as XGBoost's own
    continuation is: not with ``subsample`` or ``colsample_*`` below 1, whose random state no model file holds.

    Examples
    --------
    >>> import tempfile, pi_xgb, xgboost as xgb
    >>> data = pi_xgb.datasets.make_privileged(300, seed=0)
    >>> dtrain, dpriv = xgb.DMatrix(data.x, data.y), xgb.DMatrix(data.z, data.y)
    >>> params = {"objective": "binary:logistic", "max_depth": 3}
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     teacher = pi_xgb.JointTeacher(dpriv, params)
    ...     keep = pi_xgb.JointCheckPoint(folder, teacher, interval=2)
    ...     _ = pi_xgb.train(params, dtrain, 5, teacher=teacher, callbacks=[keep])
    ...     rounds, student_file, teacher_file = pi_xgb.JointCheckPoint.latest(folder)
    ...     resumed = pi_xgb.JointTeacher(dpriv, params, xgb_model=teacher_file)
    ...     student = pi_xgb.train(params, dtrain, 5 - rounds, teacher=resumed, xgb_model=student_file)
    >>> rounds, student.num_boosted_rounds()
    (4, 5)
    """

    def __init__(self, directory: os.PathLike[str] | str, teacher: JointTeacher, *, interval: int = 100) -> None:
        self._directory = check_folder(directory)
        if not isinstance(teacher, JointTeacher):
            raise TypeError(f"teacher must be the JointTeacher of the training, got {type(teacher).__name__}")
        check_whole("interval", interval, 1, "the number of rounds between checkpoints")
        self._teacher = teacher
        self._interval = interval

    def after_iteration(self, model: Any, epoch: int, evals_log: Any) -> bool:
        rounds = model.num_boosted_rounds()
        if rounds % self._interval == 0:
            # The teacher first: a student on disk then always has its teacher beside it.
            self._save(self._teacher.booster, f"teacher-{rounds}.ubj")
            self._save(model, f"student-{rounds}.ubj")
        return False

    def _save(self, booster: xgboost.Booster, name: str) -> None:
        # Not save_model, which does not report a full disk.
        write_file(self._directory / name, bytes(booster.save_raw("ubj")), overwrite=True)

    @staticmethod
    def latest(directory: os.PathLike[str] | str) -> tuple[int, Path, Path] | None:
        """The newest complete checkpoint as (rounds, student's file, teacher's file), or None.

        Both files are read. A checkpoint that cannot be loaded is skipped, with a warning that gives the reason.
        """
        folder = check_folder(directory)
        names = [file.name for file in folder.iterdir()]
        rounds = [int(found[1]) for name in names if (found := re.fullmatch(r"student-(0|[1-9][0-9]*)\.ubj", name))]
        for number in sorted(rounds, reverse=True):
            student, teacher = (folder / f"{role}-{number}.ubj" for role in ("student", "teacher"))
            if not teacher.exists():
                continue
            try:
                load_booster(teacher)
                n_rounds = load_booster(student).num_boosted_rounds()
                if n_rounds == number:
                    return number, student, teacher
                fault = f"{str(student)!r} has {n_rounds} rounds"
            except (OSError, ValueError) as error:
                fault = str(error)
            warn_user(f"the checkpoint of {number} rounds in {str(folder)!r} is skipped: {fault}")
        return None
