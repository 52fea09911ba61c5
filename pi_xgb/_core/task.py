"""A user's params, read once, and turned into the student's and the teacher's."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np
import xgboost

from .._arrays import Array
from .._xgb.collective import global_sum
from .._xgb.params import number_of_classes, objective_name, scale_pos_weight
from .checks import check_objective
from .losses import Loss
from .teachers import Teacher

# XGBoost 3.1 starts each class at its share, taken as a margin; later versions at the logarithm of its share.
_SHARES_ARE_MARGINS = tuple(int(part) for part in xgboost.__version__.split(".")[:2]) < (3, 2)


# What names or counts the student's columns means nothing for the teacher's.
_ABOUT_COLUMNS = ("monotone_constraints", "interaction_constraints")


def loss_of(params: Mapping[str, Any]) -> Loss:
    """The loss of the objective in params, or an error that lists those that can be guided."""
    loss = check_objective(objective_name(params))
    if loss.multiclass and number_of_classes(params) < 2:
        raise ValueError(
            f"{objective_name(params)} needs params['num_class'] of at least 2, got {params.get('num_class')!r}"
        )
    return loss


def teacher_params_from(params: Mapping[str, Any]) -> dict[str, Any]:
    """The student's params without what speaks of the student's columns."""
    return {key: value for key, value in params.items() if key not in _ABOUT_COLUMNS}


def warn_about_alpha(params: Mapping[str, Any], *, kl_weight_given: bool) -> None:
    """The paper's alpha and XGBoost's are different things under one name."""
    if "alpha" in params and not kl_weight_given:
        warnings.warn(
            "params['alpha'] is XGBoost's L1 regularisation of leaf weights, not the alpha of the paper, which "
            f"is kl_weight here (now at its default). For the paper's alpha pass kl_weight={params['alpha']!r}; "
            "for L1 write reg_alpha, which means the same to XGBoost and silences this",
            UserWarning,
            stacklevel=4,
        )


def warn_about_missing_objective(params: Mapping[str, Any], label: Array) -> None:
    """0/1 labels without an objective are mostly a classification that forgot its name."""
    unnamed = "objective" not in params and objective_name(params) == "reg:squarederror"
    if unnamed and bool(((label == 0) | (label == 1)).all()):
        warnings.warn(
            "no objective is named, which means reg:squarederror as in XGBoost, but every label is 0 or 1: "
            "for probabilities set params['objective'] = 'binary:logistic'; to keep squared error and "
            "silence this set it to 'reg:squarederror'",
            UserWarning,
            stacklevel=4,
        )


def positive_weight(loss: Loss, label: Array, weight: Array, scale: float) -> Array | None:
    """The row weights with ``scale_pos_weight`` folded in; None where every row weighs 1."""
    if loss.applies_scale_pos_weight and scale != 1:
        positive = np.where(label == 1, np.float32(scale), np.float32(1))
        return positive * weight if weight.size else positive
    return weight if weight.size else None


def intercept(
    params: Mapping[str, Any], loss: Loss, label: Array, weight: Array | None, teachers: list[tuple[Teacher, float]]
) -> Any:
    """The ``base_score`` that XGBoost would estimate for the blended target: its weighted mean.

    Teachers that follow the student are left out: they begin where the student does, so that what they add to
    both sides cancels.
    """
    shape = (len(label), number_of_classes(params)) if loss.multiclass else (len(label),)
    like = np.empty(shape, np.float32)
    fixed = [(t.q(like, label, weight), a) for t, a in teachers if not t.follows_student]
    target, _ = loss.blend(label, fixed, like)
    if weight is None:
        total, rows = target.sum(axis=0, dtype=np.float64), float(len(label))
    else:
        total, rows = weight.astype(np.float64) @ target, float(weight.sum(dtype=np.float64))
    sums = global_sum(np.append(np.atleast_1d(total), rows))
    if sums[-1] <= 0:
        raise ValueError("the weights of dtrain sum to 0: at least one row must weigh something")
    mean = sums[:-1] / sums[-1]
    if scale_pos_weight(params) != 1:
        mean = loss.newton_step(mean)
    if loss.multiclass and _SHARES_ARE_MARGINS:
        return [float(share) for share in mean]
    return loss.base_score(mean if loss.multiclass else mean[0])
