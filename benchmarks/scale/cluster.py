"""What a billion rows would take on a cluster: arithmetic on measured figures, under stated assumptions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from benchmarks.text import table

ROWS, ROUNDS = 1_000_000_000, 100
CORES = 16
MACHINES = (16, 64, 256)
DEPTH, BINS = 6, 256
HEADER = ("machines", "memory on each, GiB", "computing, minutes", "allreduce, minutes", "sent by each, GiB")
GRADIENT_SUM = 2 * 8  # the sums of gradient and Hessian in a bin, in float64
GIGABYTES_PER_SECOND = 1.25  # 10 Gbit/s
SECONDS_PER_MESSAGE = 1e-4

ASSUMPTIONS = """## A billion rows

Not measured: arithmetic on the figures above. {rows:,} rows, {columns} + {columns} columns, {rounds} rounds of {name},
two trees of depth {depth} a round, {cores} cores a machine.

- Work: {work:.0f} core-nanoseconds per row and round for both boosters, as measured at {measured_rows:,} rows with
  {threads} threads. It is assumed that all cores of all machines do as much as those did; memory bandwidth and the
  slowest machine will make it more.
- Memory: {memory:.0f} bytes per row for everything (matrices of one byte per value, their column copy, margins,
  gradients), the growth of the peak between the two largest runs. In external memory the matrices lie on disk.
- Allreduce: a level sends the histograms of its nodes, columns x bins x 2 x 8 bytes x nodes. With {bins} bins that is
  {root:,.0f} KiB at the root and {last:.2f} MiB at the last level of a full tree ({nodes} nodes are built, their
  siblings are differences), {tree:.2f} MiB a tree. It does not depend on the rows.
- Network: {network:.0f} Gbit/s between machines, {message:.1f} ms a message, a ring in which every machine sends and
  receives 2 (W - 1) / W of the bytes, not overlapped with the work.
- What the teacher adds to the network: nothing but the intercept. Rows, gradients and q stay where they are.
"""


def nodes_built(level: int) -> int:
    """Histograms built at a level of a full tree: one of each pair of siblings, the other is a difference."""
    return 1 if level == 0 else 2 ** (level - 1)


def bytes_of_level(columns: int, level: int) -> int:
    """What each worker brings to the allreduce of a level."""
    return columns * BINS * GRADIENT_SUM * nodes_built(level)


def seconds_of_allreduce(n_bytes: int, machines: int) -> float:
    """A ring: 2 (W - 1) messages of a W-th of the bytes each."""
    messages = 2 * (machines - 1)
    return messages * (n_bytes / machines / (GIGABYTES_PER_SECOND * 1e9) + SECONDS_PER_MESSAGE)


def bytes_per_row(lines: Sequence[dict[str, Any]]) -> float:
    """How peak memory grows from the second largest number of rows to the largest."""
    peaks = sorted({(line["rows"], line["peak_mib"]) for line in lines})
    if len(peaks) < 2:
        return (lines[0]["peak_mib"] - lines[0]["libraries_mib"]) * 2**20 / float(lines[0]["rows"])
    (fewer, low), (more, high) = peaks[-2:]
    return float((high - low) * 2**20 / (more - fewer))


def cluster_section(lines: Sequence[dict[str, Any]]) -> list[str]:
    """The page's section, from lines of one kind of training with two boosters."""
    largest = max(lines, key=lambda line: line["rows"])
    columns, name = largest["columns"], f"{largest['method']} {largest['engine']}".strip()
    work = largest["seconds"] * largest["threads"] / (largest["rows"] * largest["rounds"])
    memory = bytes_per_row(lines)
    levels = [bytes_of_level(columns, level) for level in range(DEPTH)]
    body = []
    for machines in MACHINES:
        computing = ROWS * ROUNDS * work / (machines * CORES)
        talking = 2 * ROUNDS * sum(seconds_of_allreduce(n_bytes, machines) for n_bytes in levels)
        sent = 2 * ROUNDS * sum(levels) * 2 * (machines - 1) / machines / 2**30
        held = ROWS * memory / machines / 2**30
        body.append([str(machines), f"{held:.1f}", f"{computing / 60:.1f}", f"{talking / 60:.2f}", f"{sent:.2f}"])
    facts = ASSUMPTIONS.format(
        rows=ROWS,
        columns=columns,
        rounds=ROUNDS,
        name=name,
        depth=DEPTH,
        cores=CORES,
        work=work * 1e9,
        measured_rows=largest["rows"],
        threads=largest["threads"],
        memory=memory,
        bins=BINS,
        root=levels[0] / 2**10,
        last=levels[-1] / 2**20,
        nodes=nodes_built(DEPTH - 1),
        tree=sum(levels) / 2**20,
        network=GIGABYTES_PER_SECOND * 8,
        message=SECONDS_PER_MESSAGE * 1e3,
    )
    return [facts, *table(HEADER, body), "Reading and building the matrices comes on top, once."]
