"""What the pictures share: no screen, panels, and the look of the package's own pictures."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pi_xgb._plots.style import PALETTE, REFERENCE, finish

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["PALETTE", "REFERENCE", "finish", "panels", "pyplot", "save"]


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
