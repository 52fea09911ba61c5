"""What the pictures share: no screen, panels, small files, and the look of the package's own pictures."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks.intervals import Interval, corrected_interval
from pi_xgb._plots.style import PALETTE, REFERENCE, finish

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["PALETTE", "REFERENCE", "both_intervals", "finish", "log_steps", "panels", "pyplot", "save"]

COLOURS = 48


def pyplot() -> Any:
    """matplotlib.pyplot, drawing into files only."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    return pyplot


def panels(count: int, across: int, width: float, height: float, **options: Any) -> tuple[Any, list[Axes]]:
    """A figure with ``count`` Axes of this size; the rest of the last row stays empty."""
    across = min(across, count)
    down = math.ceil(count / across)
    size = (width * across, height * down)
    figure, axes = pyplot().subplots(down, across, figsize=size, squeeze=False, **{"layout": "constrained", **options})
    for ax in axes.flat[count:]:
        ax.set_visible(False)
    return figure, list(axes.flat[:count])


def save(figure: Any, path: Path, dpi: int = 100) -> None:
    """Write the picture, its folder as well, and forget it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=dpi)
    pyplot().close(figure)
    _shrink(path)


def _shrink(path: Path) -> None:
    """The same picture in few colours, a third of the bytes."""
    from PIL import Image

    with Image.open(path) as image:
        small = image.convert("RGB").quantize(COLOURS, dither=Image.Dither.NONE)
    small.save(path, optimize=True)


def both_intervals(values: np.ndarray, over_train: float) -> tuple[Interval, Interval]:
    """For repeats that share rows as much as they can, and for repeats that share none."""
    return corrected_interval(values, over_train), corrected_interval(values, 0.0)


def log_steps(ax: Any, steps: Sequence[int]) -> None:
    ax.set_xscale("log")
    ax.set_xticks(list(steps), [str(step) for step in steps], fontsize=8)
    ax.minorticks_off()
