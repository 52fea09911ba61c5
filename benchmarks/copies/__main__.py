"""What teachers are worth to counts, survival and ranking, and what copies of rows cost.

    python -m benchmarks.copies --jobs 2
    python -m benchmarks.copies --tables copies_public
    python -m benchmarks.copies --smoke

copies_gains: made data with known truth. copies_strength: how well a teacher knows the labels, and how well its student
ranks. copies_public: the public ranking set. copies_cost: time and memory at 100,000 rows.
"""

from __future__ import annotations

from benchmarks.cells import Table, main
from benchmarks.copies import cost, gains, public
from benchmarks.copies.page import text
from benchmarks.copies.problems import PROBLEMS

DRAWS = range(20)
TABLES = [
    Table(
        "copies_gains",
        ("problem", "draw"),
        lambda: [(problem, draw) for problem in PROBLEMS for draw in DRAWS],
        gains.measure,
        [(problem, 0) for problem in PROBLEMS],
    ),
    Table(
        "copies_strength",
        ("z_noise", "told_chance", "draw"),
        lambda: [(*strength, draw) for strength in gains.STRENGTHS for draw in DRAWS],
        gains.measure_strength,
        [(*gains.STRENGTHS[0], 0)],
    ),
    Table(
        "copies_public",
        ("n_labelled", "split"),
        lambda: [(labelled, split) for split in range(10) for labelled in public.LABELLED],
        public.measure,
        [(10, split) for split in (0, 1)],
    ),
    Table("copies_cost", ("objective",), lambda: [(name,) for name in cost.OBJECTIVES], cost.measure, [("rank:ndcg",)]),
]

if __name__ == "__main__":
    main("copies", __doc__, TABLES, text)
