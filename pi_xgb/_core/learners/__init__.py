"""Learners, the kinds of teacher, one per file. A new kind is a file, its name here, and a line in the recipe."""

DEFAULT_TEACHER = "mixed"
"""The kind where the user names none; the paper's is "boosted"."""
TEACHERS = ("boosted", "forest", "linear", "mixed")
"""The kinds by name; :class:`~pi_xgb._core.learners.recipe.Recipe` has the learner of each."""
