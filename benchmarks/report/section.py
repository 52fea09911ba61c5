"""The part of PAPER.md about the paper's sets: its tables, today's settings, the peers, and its questions."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path

from benchmarks.data.folds import N_FOLDS
from benchmarks.report.current import current_section
from benchmarks.report.figures import gains, less_mfc, less_svm
from benchmarks.report.paper import paper_section
from benchmarks.report.peers import peers_section
from benchmarks.report.questions import questions_section
from benchmarks.report.results import Results
from benchmarks.search import section as search_section
from benchmarks.text import joined, paragraph

INTRODUCTION = """\
Every method on the paper's public sets, on the paper's ten folds: train on eight parts, validate on one, test on one
(`python -m benchmarks.run`). The paper has 19 sets; N2b_a, N2b_b, NS and Rare are not public and missing here. NF is
plain XGBoost on the classifier features, KbPIB and JPIB are the paper's methods with the paper's alpha; "chosen" means
kl_weight chosen on validation. [paper.csv.gz](results/paper.csv.gz) and [current.csv.gz](results/current.csv.gz) have
every fold, measure and second."""

PICTURES = """\
The last two have the content of the paper's Figure 2 (JPIB less SVM+) and Figure 3 (JPIB less MFC), drawn from these
results; the section on the paper's questions answers them in words."""

NOTED = """\
The tables have a note (measure `note`) for what must be known of a method that ran on a fold, such as the settings that
it chose. Some methods train on fewer rows than a large set has: {most}."""


def text(folder: Path, figures: Path) -> str:
    """The section, and its pictures."""
    results = Results.from_tables(folder)
    drawn = [draw(results, figures) for draw in (gains, less_svm, less_mfc)]
    lines = ["# The paper's sets and folds", "", paragraph(INTRODUCTION), "", provenance(results), "", PICTURES, ""]
    lines += [f"![{picture.caption}](figures/{picture.file})\n" for picture in drawn if picture is not None]
    lines += [*paper_section(results), *search_section(folder), *current_section(results), *peers_section(results)]
    return "\n".join([*lines, *not_run(results), *questions_section(results)])


def provenance(results: Results) -> str:
    """Where and with what, as the results say."""
    found: dict[str, set[str]] = defaultdict(set)
    for words in map(str.split, results.words("versions")):
        for name, version in zip(words[::2], words[1::2], strict=False):
            found[name].add(version)
    versions = joined(f"{name} {' or '.join(sorted(known - {'-'}))}" for name, known in sorted(found.items()))
    return paragraph(f"Machine: {joined(results.words('machine'))}. Versions: {versions}.")


def not_run(results: Results) -> list[str]:
    """The sets that a method does not take, what is not complete, and who learned from fewer rows than there are."""
    refused = results.lines[results.lines["measure"] == "refused"]
    sets: dict[tuple[str, ...], list[str]] = defaultdict(list)
    for (dataset, method, note), _ in refused.groupby(["dataset", "method", "note"], sort=False):
        sets[str(note), str(dataset)].append(str(method))
    reasons: dict[tuple[str, str], list[str]] = defaultdict(list)
    for (note, dataset), methods in sets.items():
        reasons[note, joined(methods)].append(dataset)
    lines = ["## What could not run, and why", ""]
    lines += [paragraph(f"- {methods} on {joined(names)}: {note}.", "  ") for (note, methods), names in reasons.items()]
    lines.append("")
    scored = results.lines[results.lines["measure"] == "auc"].groupby(["mode", "dataset", "method"])["fold"].nunique()
    missing = [f"{', '.join(place)} ({count} of {N_FOLDS})" for place, count in scored.items() if count < N_FOLDS]
    complete = "Every method that runs on a set ran on all of its folds."
    lines += [paragraph(f"Not complete: {joined(missing)}.") if missing else complete, ""]
    notes = results.lines[results.lines["measure"] == "note"]
    trained = notes["note"].astype(str).str.extract(r"trained on (\d+) of")[0].dropna().astype(int)
    most = trained.groupby(notes.loc[trained.index, "method"], sort=False).max()
    return [*lines, paragraph(NOTED.format(most=joined(f"{method} {n:,}" for method, n in most.items()))), ""]
