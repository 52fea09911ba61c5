"""The columns of each role: student, teacher, constraint."""

from __future__ import annotations

from typing import Any, NamedTuple

import pandas as pd

from .names import describe
from .tables import as_frame, as_table, beside, column_names, listed, names_of, side_by_side, take

EvalSet = list[tuple[Any, Any]]


class Views(NamedTuple):
    """One data set by role. ``eval_privileged`` has None where an evaluation set lacks the columns."""

    student: Any
    eval_set: EvalSet | None
    privileged: Any
    eval_privileged: list[Any]
    student_labels: list[Any]
    privileged_labels: list[Any]

    def values(self, columns: Any, *, hidden_from_student: bool) -> Any:
        """The values of one column (a name) or of several (a list), classifier or privileged features."""
        found = {}
        for column in listed(columns):
            table, labels = self.privileged, self.privileged_labels
            if column not in labels:
                table, labels = as_table(self.student, "X"), self.student_labels
            if column not in labels:
                raise ValueError(
                    f"a constraint must read a column of X or privileged, got {column!r}: X has {describe(labels)}, "
                    f"privileged has {describe(self.privileged_labels) or 'no columns'}"
                )
            if hidden_from_student and column not in self.privileged_labels:
                raise ValueError(
                    f"the group column {column!r} of a constraint is also a feature: add it to privileged_features or, "
                    "if the student may use it, pass the constraint its values"
                )
            found[column] = as_frame(take(table, [labels.index(column)])).iloc[:, 0].to_numpy()
        frame = pd.DataFrame(found)
        return frame if isinstance(columns, (list, tuple)) else frame.iloc[:, 0]

    def for_teacher(self, hidden: set[Any], *, sees_all: bool) -> tuple[Any, list[Any] | None]:
        """The features of a teacher, and those of its evaluation sets; None without privileged columns."""
        seen = [label for label in self.privileged_labels if label not in hidden]
        if not seen:
            return None, None

        def visible(X: Any, table: Any, rows: str) -> Any:
            names = column_names(table) or self.privileged_labels
            missing = [label for label in seen if label not in names]
            if missing or table.shape[1] != len(names):
                raise ValueError(f"the privileged columns of {rows} lack {describe(missing) or 'some'}: pass them")
            part = take(table, [names.index(label) for label in seen])
            return side_by_side(as_table(X, "X"), part) if sees_all else part

        pairs = enumerate(zip(self.eval_set or (), self.eval_privileged, strict=False))
        evals = [None if z is None else visible(X, z, f"eval_set[{i}]") for i, ((X, _), z) in pairs]
        return visible(self.student, self.privileged, "X"), evals or None


def divide(X: Any, eval_set: Any, privileged: Any, eval_privileged: Any, privileged_features: Any) -> Views:
    """Return the views of a data set whose privileged columns are in X or in a separate table."""
    if features := listed(privileged_features):
        if privileged is not None or eval_privileged is not None:
            given = "eval_privileged" if privileged is None else "privileged"
            raise ValueError(f"{given} and privileged_features were both given: drop one of the two")
        return _divide_within(X, eval_set, features)
    if eval_privileged is not None and (privileged is None or len(eval_set or ()) != len(eval_privileged)):
        raise ValueError(
            f"eval_privileged needs privileged, and a table (or None) for each of the {len(eval_set or ())} pairs of "
            f"eval_set, got {len(eval_privileged)}: pass both"
        )
    labels = names_of(X, "X")
    if privileged is None:
        return Views(X, eval_set, None, [], labels, [])
    z = beside(X, privileged, "X", "privileged")
    if shared := set(map(str, column_names(X) or ())) & set(map(str, column_names(z) or ())):
        raise ValueError(f"privileged must have no columns of X, got {describe(sorted(shared))}: drop them")
    pairs = enumerate(zip(eval_set or (), eval_privileged or (), strict=False))
    tables = [beside(X_i, z_i, f"eval_set[{i}]", f"eval_privileged[{i}]") for i, ((X_i, _), z_i) in pairs]
    return Views(X, eval_set, z, tables, labels, names_of(z, "privileged"))


def _divide_within(X: Any, eval_set: EvalSet | None, features: list[Any]) -> Views:
    table = as_table(X, "X")
    labels = names_of(table, "X")
    if missing := [column for column in features if column not in labels]:
        raise ValueError(f"privileged_features must be columns of X, got {describe(missing)}: X has {describe(labels)}")
    others = [label for label in labels if label not in features]
    if not others:
        raise ValueError(f"privileged_features must leave the student a column of X, got all {len(labels)}: name fewer")
    student, privileged = _split(table, features, len(others))
    # XGBoost recognises the training rows by this object.
    parts = [(student, privileged) if X_i is X else _split(X_i, features, len(others)) for X_i, _ in eval_set or ()]
    own = [(part, y_i) for (part, _), (_, y_i) in zip(parts, eval_set or (), strict=True)]
    return Views(student, own if eval_set else eval_set, privileged, [z_i for _, z_i in parts], others, features)


def student_part(X: Any, privileged_features: Any, n_features: int) -> Any:
    """Return the student's columns of X, which may have the privileged columns."""
    features = listed(privileged_features)
    return _split(X, features, n_features)[0] if features else X


def _split(X: Any, features: list[Any], n_others: int) -> tuple[Any, Any]:
    """Return the table without these columns, and the table of those that it has; None if it has none.

    An array has no names: by its width it has all of them, or none.
    """
    table = as_table(X, "X")
    is_whole = column_names(table) is not None or table.shape[1] == n_others + len(features)
    names = names_of(table, "X")
    found = [names.index(column) for column in features if is_whole and column in names]
    if not found:
        return table, None
    return take(table, [i for i in range(table.shape[1]) if i not in found]), take(table, found)
