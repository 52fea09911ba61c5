"""Write the pages of this folder, with their pictures, from the committed tables.

python -m benchmarks.pages            all of them
python -m benchmarks.pages PRIVACY COST
"""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from pathlib import Path

from benchmarks import FOLDER
from benchmarks.cells import RESULTS, parser

PAGES = {
    "FEW_LABELS": ("Few labels, many rows", ("unlabelled.page", "labels.page")),
    "PAPER": ("The paper and its peers", ("report.section", "curves", "error_rates.page")),
    "FAIRNESS": ("Fairness", ("frontier.page", "fair_importance")),
    "PRIVACY": ("Privacy", ("privacy.page",)),
    "COST": ("Time, memory and GPUs", ("overhead", "scale.page", "gpu")),
    "OBJECTIVES": ("Numbers, counts, classes, survival and rankings", ("objectives", "copies.page")),
}
"""A title, and the modules with a function ``text(tables, figures)``."""


def page(name: str, folder: Path = RESULTS, figures: Path = FOLDER / "figures") -> str:
    """The text of a page; its pictures go to ``figures``."""
    title, modules = PAGES[name]
    lines = [f"# {title}", "", f"Written by `python -m benchmarks.pages {name}`; no number here is typed.", ""]
    inside = False
    for module in modules:
        for line in importlib.import_module(f"benchmarks.{module}").text(folder, figures).strip().split("\n"):
            inside ^= line.startswith("```")
            lines.append(f"#{line}" if line.startswith("#") and not inside else line)
        lines.append("")
    return "\n".join(lines).rstrip() + "\n"


def main(arguments: Sequence[str] | None = None) -> None:
    made = parser("pages", __doc__)
    made.add_argument("names", nargs="*", help="default: all")
    for name in made.parse_args(arguments).names or PAGES:
        (FOLDER / f"{name}.md").write_text(page(name), encoding="utf-8")


if __name__ == "__main__":
    main()
