"""Teachers: what the mean of y should be for each training row.

Shapes, once for every teacher: ``n`` training rows, ``K`` classes (multi-class only). ``mean`` is the
student's current prediction on the scale of y, float32, ``(n,)`` or ``(n, K)``; it is read, never written.
``label`` is ``(n,)``, ``weight`` is ``(n,)`` or None. The answer q has the shape of ``mean``. For probabilities
q lies in [0, 1]; for ``reg:squarederror`` any finite value will do.
"""

from __future__ import annotations

from typing import Any

Array = Any  # numpy.ndarray, or cupy.ndarray when training runs on a GPU


class Teacher:
    """Base class: derive from it, give it :meth:`q`, and pass it wherever a teacher is taken."""

    follows_student = True
    """Whether q depends on the student's current mean; a teacher that does not is asked once."""

    def q(self, mean: Array, label: Array, weight: Array | None) -> Array:
        """Where this teacher wants the mean of each row to be."""
        raise NotImplementedError

    def check(self, n_rows: int) -> None:
        """Raise, before any training, if this teacher cannot teach ``n_rows`` rows."""

    def start(self, rounds: int) -> None:
        """Begin a training whose student already has ``rounds`` rounds."""

    def take(self, rows: Array) -> Teacher:
        """This teacher for the given rows alone, as cross-validation needs it."""
        raise TypeError(
            f"{type(self).__name__} cannot be cut into folds: give it a method take(rows) that returns the "
            "teacher of those rows"
        )
