"""Group metrics: how a model treats groups, in Fairlearn's calling convention.

Shapes, once for all: ``n`` rows; ``y_true`` holds labels 0 or 1, ``y_pred`` decisions 0 or 1 and ``y_score``
scores, each ``(n,)`` and matched by position, never by a pandas index; ``sensitive_features`` is ``(n,)``, or
several columns, whose groups are then their intersections. Nothing that is passed in is changed.

A rate that does not exist (a group without positives has no true positive rate) is NaN, never 0, with an
:class:`UndefinedRateWarning` that names the group. Rows with a missing sensitive feature form a group of their own,
called "missing", so that no row disappears from view.

==============================================  ======================================================================
differences between groups, one number          :func:`statistical_parity`, :func:`equalized_odds`,
                                                :func:`equal_opportunity`, :func:`abroca`
the same for each group against the rest        :func:`one_vs_rest`
rates, overall or per group                     :func:`selection_rate`, :func:`true_positive_rate`
                                                (:func:`recall`), :func:`false_positive_rate`, :func:`precision`
tables with intervals                           :func:`group_report`, :func:`disparity_report`
the cut between 0 and 1                         :func:`choose_threshold`
decisions that a new model changes              :func:`churn`
during training                                 :func:`watch`
==============================================  ======================================================================
"""

from ._abroca import abroca
from ._churn import churn
from ._disparities import equal_opportunity, equalized_odds, one_vs_rest, statistical_parity
from ._disparity_report import disparity_report
from ._rates import UndefinedRateWarning, false_positive_rate, precision, recall, selection_rate, true_positive_rate
from ._report import group_report
from ._threshold import choose_threshold
from ._watch import watch

__all__ = [
    "UndefinedRateWarning",
    "abroca",
    "choose_threshold",
    "churn",
    "disparity_report",
    "equal_opportunity",
    "equalized_odds",
    "false_positive_rate",
    "group_report",
    "one_vs_rest",
    "precision",
    "recall",
    "selection_rate",
    "statistical_parity",
    "true_positive_rate",
    "watch",
]
