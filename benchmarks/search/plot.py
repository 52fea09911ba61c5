"""The picture of one set's search: mean validation and test AUC against alpha."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pandas as pd

from benchmarks.modes.paper import paper_alphas
from benchmarks.pictures import panels, save

COLOURS = {"valid_auc": "#e07b00", "test_auc": "#0b5fa5"}
NAMES = {"valid_auc": "validation", "test_auc": "test"}


def plot(dataset: str, paths: Mapping[str, pd.DataFrame], plain: pd.DataFrame, out: Path) -> None:
    """One panel per method; bands are one standard error of the mean over the folds to either side."""
    figure, axes = panels(len(paths), len(paths), 5.5, 4, sharey=True, layout=None)
    for axis, (method, path) in zip(axes, paths.items(), strict=True):
        for measure, colour in COLOURS.items():
            mean, error = path[measure], path[f"{measure}_error"]
            axis.fill_between(path.index, mean - error, mean + error, color=colour, alpha=0.15, linewidth=0)
            axis.plot(path.index, mean, color=colour, linewidth=0.8, label=NAMES[measure])
            axis.axhline(plain[measure].mean(), color=colour, linestyle="--", label=f"{NAMES[measure]}, NF")
        alpha = paper_alphas().get((dataset, method))
        if alpha is not None:
            axis.axvline(alpha, color="0.4", linestyle=":", label=f"the paper's alpha, {alpha:g}")
        axis.set(title=f"{dataset}, {method}", xlabel="alpha (kl_weight)", xlim=(0, 1))
        axis.legend(loc="upper center", bbox_to_anchor=(0.5, -0.15), ncols=3, fontsize="small", frameon=False)
    axes[0].set_ylabel("AUC, mean over folds")
    figure.tight_layout()
    save(figure, out, dpi=120)
