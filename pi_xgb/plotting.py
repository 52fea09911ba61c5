"""Plots of a model's groups, its features and the cost of fairness: each takes and returns a matplotlib Axes.

They need matplotlib (extra ``plot``). Without ``ax`` each opens a new pyplot figure. Colours are safe for the colour-
blind, and lines and markers differ too. Up to ten groups or methods have separate
styles; further groups are thin grey lines.

==============================  =====================================================================================
rows, by group                  :func:`plot_roc`, :func:`plot_calibration`, :func:`plot_scores`
fairness against performance    :func:`plot_frontier`
features                        :func:`plot_importance`, of :func:`pi_xgb.importance.fair_importance`
the choice of ``kl_weight``     :func:`plot_kl_weight_path`, of :func:`pi_xgb.cv`
==============================  =====================================================================================
"""

from ._plots.by_group import plot_calibration, plot_roc, plot_scores
from ._plots.by_table import plot_frontier, plot_importance, plot_kl_weight_path

__all__ = ["plot_calibration", "plot_frontier", "plot_importance", "plot_kl_weight_path", "plot_roc", "plot_scores"]
