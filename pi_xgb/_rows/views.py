"""The columns of each role: student, teacher, constraint."""

from __future__ import annotations

import dataclasses
from typing import Any

import pandas as pd

from .names import describe
from .row_alignment import check_same_rows
from .tables import as_frame, as_table, column_names, leave_out, listed, locate, present, side_by_side, take

EvalSet = list[tuple[Any, Any]]


@dataclasses.dataclass(frozen=True)
class Views:
    """One data set by role. ``eval_privileged`` has None where an evaluation set lacks the columns."""

    student: Any
    eval_set: EvalSet | None
    privileged: Any
    eval_privileged: list[Any] | None
    student_labels: list[Any]
    privileged_labels: list[Any]

    def values(self, columns: Any, *, hidden_from_student: bool) -> Any:
        """The values of one column (a name) or of several (a list), classifier or privileged features."""
        frame = pd.DataFrame({c: self._column(c, hidden_from_student) for c in listed(columns)})
        return frame if isinstance(columns, (list, tuple)) else frame.iloc[:, 0]

    def _column(self, column: Any, hidden_from_student: bool) -> Any:
        table, labels = self.privileged, self.privileged_labels
        if column not in labels:
            table, labels = as_table(self.student, "X"), self.student_labels
            if column not in labels:
                raise ValueError(
                    f"a constraint must read a column of X or privileged, got {column!r}: X has {describe(labels)}, "
                    f"privileged has {describe(self.privileged_labels) or 'no columns'}"
                )
            if hidden_from_student:
                raise ValueError(
                    f"the group column {column!r} of a constraint is also a feature: add it to privileged_features, so "
                    "that only the constraint reads it. If the student may use it, pass the constraint its values"
                )
        return as_frame(take(table, [labels.index(column)])).iloc[:, 0].to_numpy()

    def for_teacher(self, hidden: set[Any], *, sees_all: bool) -> tuple[Any, list[Any] | None]:
        """The features of a teacher, and those of its evaluation sets; None without privileged columns."""
        seen = [label for label in self.privileged_labels if label not in hidden]
        if not seen:
            return None, None

        def visible(X: Any, privileged: Any, name: str) -> Any:
            if privileged is None:
                return None
            part = self._part(privileged, seen, name)
            return side_by_side(as_table(X, "X"), part) if sees_all else part

        evals = None
        if self.eval_set is not None and self.eval_privileged is not None:
            evals = [
                visible(X, privileged, f"eval_set[{i}]")
                for i, ((X, _), privileged) in enumerate(zip(self.eval_set, self.eval_privileged, strict=True))
            ]
        return visible(self.student, self.privileged, "X"), evals

    def _part(self, table: Any, labels: list[Any], rows: str) -> Any:
        """Return these privileged columns of a table with the columns of ``privileged``, named or in their order."""
        names = column_names(table) or self.privileged_labels
        missing = [label for label in labels if label not in names]
        if missing or table.shape[1] != len(names):
            raise ValueError(
                f"the privileged columns of {rows} lack {describe(missing) or 'some'}: pass all columns that the "
                f"teacher learns from, {describe(labels)}, or none"
            )
        return take(table, [names.index(label) for label in labels])


def divide(X: Any, eval_set: Any, privileged: Any, eval_privileged: Any, privileged_features: Any) -> Views:
    """Return the views of a data set whose privileged columns are in X or in a separate table."""
    features = listed(privileged_features)
    sets = None if eval_set is None else [(X_i, y_i) for X_i, y_i in eval_set]
    if getattr(X, "shape", ())[1:] == (0,):
        raise ValueError("X must have at least one column for the student, got none: add a feature")
    if features:
        if privileged is not None or eval_privileged is not None:
            given = "eval_privileged" if privileged is None else "privileged"
            raise ValueError(
                f"{given} and privileged_features were both given: privileged columns are either columns of X or a "
                "separate table. Drop one of the two"
            )
        return _divide_within(X, sets, features)
    if eval_privileged is not None:
        if privileged is None:
            raise ValueError("eval_privileged needs privileged, the same columns of the training rows: pass both")
        if sets is None or len(sets) != len(eval_privileged):
            raise ValueError(
                f"eval_privileged must have one table (or None) for each of the {len(sets or ())} evaluation sets of "
                f"eval_set, got {len(eval_privileged)}"
            )
    if privileged is None:
        return Views(X, sets, None, None, _labels(X), [])
    check_same_rows(X, privileged, "X", "privileged")
    if shared := set(map(str, column_names(X) or ())) & set(map(str, column_names(privileged) or ())):
        raise ValueError(
            f"privileged must have no columns of X, got {describe(sorted(shared))}: drop them from one of the two. "
            "teacher_sees='all' gives the teacher the classifier features as well"
        )
    tables = None
    if sets is not None and eval_privileged is not None:
        for i, ((X_i, _), table) in enumerate(zip(sets, eval_privileged, strict=True)):
            if table is not None:
                check_same_rows(X_i, table, f"eval_set[{i}]", f"eval_privileged[{i}]")
        tables = [None if table is None else as_table(table, "eval_privileged") for table in eval_privileged]
    privileged = as_table(privileged, "privileged")
    return Views(X, sets, privileged, tables, _labels(X), _labels(privileged))


def student_part(X: Any, privileged_features: Any, n_features: int) -> Any:
    """Return the student's columns of X, which may have the privileged columns."""
    features = listed(privileged_features)
    if not features:
        return X
    table = as_table(X, "X")
    return leave_out(table, present(table, features, n_features))


def _divide_within(X: Any, sets: EvalSet | None, features: list[Any]) -> Views:
    table = as_table(X, "X")
    labels, positions = _labels(table), locate(table, features, "X", "privileged_features")
    n_others = len(labels) - len(positions)
    if n_others == 0:
        raise ValueError(
            f"privileged_features must leave the student a column of X, got all {len(positions)}: remove a column that "
            "exists at predict"
        )
    student, privileged = leave_out(table, positions), take(table, positions)
    students, teachers = [], []
    for X_i, y_i in sets or ():
        if X_i is X:  # XGBoost recognises the training rows by this object.
            students.append((student, y_i))
            teachers.append(privileged)
            continue
        part = as_table(X_i, "X of eval_set")
        found = present(part, features, n_others)
        students.append((leave_out(part, found), y_i))
        teachers.append(take(part, found) if found else None)
    own = [labels[i] for i in positions]
    others = [label for label in labels if label not in own]
    return Views(
        student, None if sets is None else students, privileged, None if sets is None else teachers, others, own
    )


def _labels(table: Any) -> list[Any]:
    """Return the names of the columns, or their positions in an array."""
    names = column_names(table)
    if names is None:
        shape: tuple[int, ...] = getattr(table, "shape", ())
        return list(range(shape[1])) if len(shape) == 2 else []
    if len(set(names)) < len(names):
        twice = dict.fromkeys(name for name in names if names.count(name) > 1)
        raise ValueError(f"a table must have a distinct name for each column, got several {describe(twice)}: rename")
    return names
