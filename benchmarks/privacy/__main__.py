"""What privacy costs, what it protects, and how DP-EBM does.

    python -m benchmarks.privacy --jobs 2
    python -m benchmarks.privacy --tables privacy_cost,privacy_sizes
    python -m benchmarks.privacy --smoke

privacy_cost: AUC against epsilon on public and made sets. privacy_sizes: the same on made data of many sizes.
privacy_few: budget plans and rivals where few rows have a label. privacy_central: noise in sums over rows, against
noise in each prediction. privacy_attacks: the package's audit on private and other teachers. privacy_printed: the
sets of DP-EBM's paper, and private logistic regression, which needs diffprivlib and scikit-learn 1.6 (--tables
privacy_printed --only family=...). Needs the extras bench and private.
"""

from __future__ import annotations

from benchmarks.cells import Table, main
from benchmarks.data import MADE
from benchmarks.privacy import attacks, central, cost, few, printed
from benchmarks.privacy.page import text
from benchmarks.privacy.sets import SPLITS

REPEATS, SIZE_REPEATS = range(10), range(5)
ATTACKS = [(*attacks.name_of(setting), attack) for setting in attacks.settings() for attack in attacks.ATTACKS]
TABLES = [
    Table(
        "privacy_cost",
        ("dataset", "labels", "repeat"),
        lambda: [(name, labels, repeat) for repeat in REPEATS for name in SPLITS for labels in cost.LABELS],
        cost.measure,
        [(MADE, labels, repeat) for labels in cost.LABELS for repeat in (0, 1)],
    ),
    Table(
        "privacy_sizes",
        ("dataset", "labels", "repeat", "rows"),
        lambda: [(MADE, how, r, size) for r in SIZE_REPEATS for size in cost.SIZES for how in cost.SIZE_LABELS],
        cost.measure_size,
        [(MADE, "all", repeat, 300) for repeat in (0, 1)],
    ),
    Table(
        "privacy_few",
        ("labelled", "repeat"),
        lambda: [(labels, repeat) for repeat in REPEATS for labels in few.LABELS],
        few.measure,
    ),
    Table(
        "privacy_central",
        ("dataset", "labelled", "repeat"),
        lambda: [(name, labels, repeat) for repeat in REPEATS for name in central.SETS for labels in central.LABELS],
        central.measure,
    ),
    Table(
        "privacy_attacks",
        ("teacher", "sees", "stated", "attack"),
        lambda: ATTACKS,
        attacks.measure,
        [cell for cell in ATTACKS if cell[0] in ("histogram", "JPIB")][-4:],
    ),
    Table("privacy_printed", ("set", "split", "family"), lambda: printed.CELLS, printed.measure, asked=False),
]

if __name__ == "__main__":
    main("privacy", __doc__, TABLES, text)
