"""From the results of benchmarks.run to RESULTS.md and its pictures.

    python -m benchmarks.report                    the CSV files of benchmarks/results that benchmarks.run wrote
    python -m benchmarks.report a.csv b.csv        these files; of a cell in several, the last one counts
    python -m benchmarks.report --out PAGE.md      another page; its pictures go to the folder figures beside it
    python -m benchmarks.report --smoke            a tiny page of made numbers, in a folder that is thrown away

A run that is not complete gives a page that says what is missing.
"""

from __future__ import annotations

import argparse
import tempfile
from collections import defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np

from benchmarks import FOLDER
from benchmarks.command_line import command
from benchmarks.report.against_peers import draw_against_peers
from benchmarks.report.current import current_section
from benchmarks.report.figures import Picture, draw_all
from benchmarks.report.paper import paper_section
from benchmarks.report.peers import peers_section
from benchmarks.report.questions import questions_section
from benchmarks.report.rest import troubles_section
from benchmarks.report.results import Results
from benchmarks.run.results_file import Line, write_whole
from benchmarks.text import joined, paragraph

RESULTS = (FOLDER / "results" / "paper.csv", FOLDER / "results" / "current.csv")
PAGE = FOLDER / "RESULTS.md"

INTRODUCTION = """\
Every method on the paper's public sets, on the paper's ten folds: train on eight parts, validate on one, test on one.
The paper has 19 sets; N2b_a, N2b_b, NS and Rare are not public and missing here. NF is plain XGBoost on the classifier
features, KbPIB and JPIB are the paper's methods with the paper's alpha; "chosen" means kl_weight chosen on validation.
A number in square brackets is the number of folds, where it is not ten. [paper.csv](results/paper.csv) and
[current.csv](results/current.csv) have every fold, measure and second."""

PICTURES = """\
The last two have the content of the paper's Figure 2 (JPIB less SVM+) and Figure 3 (JPIB less MFC), drawn from these
results; section 5 answers its questions in words."""


def write_report(results: Results, page: Path) -> None:
    """The page, and its pictures in the folder ``figures`` beside it."""
    folder = page.parent / "figures"
    pictures = [*draw_all(results, folder), *draw_against_peers(results, folder)]
    lines = ["# The paper on the bench", "", f"Made by `python -m benchmarks.report`. {INTRODUCTION}", ""]
    lines += [*provenance(results), "", *gallery(pictures), *paper_section(results), *current_section(results)]
    lines += [*peers_section(results), *troubles_section(results)]
    lines += questions_section(results)
    page.write_text("\n".join(lines).rstrip() + "\n", encoding="utf-8")


def provenance(results: Results) -> list[str]:
    """Where and with what, as the results say."""
    machines, versions = results.said("machine"), versions_of(results.said("versions"))
    if not versions:
        return []
    found = joined(f"{name} {' or '.join(sorted(numbers))}" for name, numbers in sorted(versions.items()))
    return [paragraph(f"Machine: {joined(machines)}. Versions: {found}.")]


def versions_of(texts: Iterable[str]) -> dict[str, set[str]]:
    """The versions of each library, of texts such as "numpy 2.4 python 3.11"; a dash where none was found."""
    found: dict[str, set[str]] = defaultdict(set)
    for text in texts:
        words = text.split()
        for name, version in zip(words[::2], words[1::2], strict=False):
            found[name].add(version)
    return {name: known for name, numbers in found.items() if (known := numbers - {"-"})}


def gallery(pictures: Sequence[Picture]) -> list[str]:
    if not pictures:
        return []
    return [PICTURES, "", *(f"![{picture.caption}](figures/{picture.file})\n" for picture in pictures)]


def made_lines(folds: int = 4) -> list[Line]:
    """A handful of made results that has every kind of line."""
    generator = np.random.default_rng(0)
    lines = []

    def add(dataset: str, method: str, mode: str, fold: int, measure: str, value: float | None, note: str = "") -> None:
        lines.append(Line(dataset, method, mode, fold, measure, value, "made up", "made up", 0, 0.1, note))

    levels = {"NF": 0.8, "KbPIB": 0.81, "JPIB": 0.805, "KbPIB chosen": 0.812, "shuffled q": 0.79, "SVM": 0.78}
    for mode, datasets in (("paper", ("heart", "adult")), ("current", ("heart", "adult"))):
        for dataset in datasets:
            for method, level in levels.items():
                for fold in range(folds):
                    around = level + generator.normal(scale=0.02)
                    if mode == "paper" and method not in ("NF", "KbPIB", "JPIB"):
                        continue
                    groups = ("eo:sex", "sp:sex", "abroca:sex") if dataset == "adult" else ()
                    for measure in (*groups, "precision", "recall", "threshold", "logloss", "auc"):
                        value = 0.5 if measure == "threshold" else around - 0.1 * (measure != "auc")
                        add(dataset, method, mode, fold, measure, value)
    add("heart", "GPC", "current", 0, "error", None, "ValueError: made up")
    add("adult", "SVM+", "current", 0, "refused", None, "takes 5000 rows at most")
    return lines


def parser() -> argparse.ArgumentParser:
    """The command line."""
    made = command("report", __doc__)
    made.add_argument("results", nargs="*", type=Path, help="CSV files (default: those of benchmarks/results)")
    made.add_argument("--out", type=Path, default=PAGE, help="the page (default: benchmarks/RESULTS.md)")
    made.add_argument("--smoke", action="store_true", help="made numbers, in a folder that is thrown away")
    return made


def results_of(named: Sequence[Path]) -> Results:
    """What is in these files, or in those of benchmarks.run. SystemExit if one is not there or not of results."""
    files = named or [path for path in RESULTS if path.exists()]
    missing = [path.name for path in files if not path.exists()]
    if missing or not files:
        found = f"{joined(missing)} is not there" if missing else "there are none"
        raise SystemExit(f"expected files of results, but {found}: python -m benchmarks.run makes them")
    try:
        return Results.from_files(files)
    except ValueError as error:
        raise SystemExit(str(error)) from error
    except OSError as error:
        raise SystemExit(f"expected files of results, but one cannot be read: {error}") from error


def smoke() -> None:
    """The page of made numbers, in a folder that is thrown away."""
    with tempfile.TemporaryDirectory() as folder:
        path, page = Path(folder) / "results.csv", Path(folder) / "RESULTS.md"
        write_whole(path, made_lines())
        write_report(Results.from_files([path]), page)
        print(page.read_text(encoding="utf-8"))


def main(arguments: Sequence[str] | None = None) -> None:
    given = parser().parse_args(arguments)
    if given.smoke:
        smoke()
        return
    if given.out.is_dir():
        raise SystemExit(f"--out expects a file for the page, got the folder {given.out}")
    results = results_of(given.results)
    try:
        write_report(results, given.out)
    except OSError as error:
        raise SystemExit(f"--out expects a file for the page that can be written: {error}") from error


if __name__ == "__main__":
    main()
