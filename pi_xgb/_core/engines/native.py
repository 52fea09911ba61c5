"""The native engine: the same model through XGBoost's own objective, trained on the blended target.

The blended gradient is (1 + a) times the gradient of XGBoost's own loss at the label t = (y + a q) / (1 + a). So
the label is replaced by t, and the factor 1 + a, which also multiplies the Hessian, is absorbed by dividing lambda,
alpha, gamma and min_child_weight. A factor that differs between rows becomes the weight of the row, once the cuts are
drawn by the user's weights. There is no Python in a round, so teachers must not change with the student.
"""

from __future__ import annotations

import numpy as np
import xgboost

from ..._xgb.matrix import restored
from ..._xgb.scaled_params import carried_params, give_back_params, native_params
from ..blend import Distillation
from ..losses import NUMBERS
from ..training import Boosting, Training

# The largest total weight of teachers: XGBoost makes no split that gains less than 1e-6, and this engine divides gains
# by 1 + kl_weight.
_HEAVIEST = 1e4


def obstacle(training: Training, boosting: Boosting | None, *, is_uniform: bool) -> str | None:
    """Return why this engine would not train the callback's model; None if it does."""
    spec, guides = training.spec, training.guides
    loss, params, total = spec.loss, spec.params, sum(guide.kl_weight for guide in guides)
    is_noisy = any(guide.teacher.about.is_noisy for guide in guides) and loss.range != NUMBERS
    weighs_rows = spec.scale_pos_weight != 1 or not is_uniform
    refuses_blends = not loss.has_gradient or loss.multiclass or is_noisy
    reasons = {
        f"XGBoost's own {loss.objective} takes no blended labels, only whole classes or values without noise": (
            refuses_blends
        ),
        "a teacher that changes with the student (method='jpib', a constraint, a Teacher whose is_adaptive is True) "
        "needs Python in every round": any(guide.teacher.is_adaptive for guide in guides),
        "booster='gblinear' and sampling_method='gradient_based' do not scale their regularisation as trees do": (
            params.get("booster") == "gblinear" or str(params.get("sampling_method")) == "gradient_based"
        ),
        "tree_method='approx' places its cuts anew in every round, by weights that scale_pos_weight, or labels and "
        "teachers that differ from row to row, change here": params.get("tree_method") == "approx" and weighs_rows,
        f"teachers of a total weight of {total:g} push the gains of splits below XGBoost's threshold": total
        > _HEAVIEST,
        "dtrain is among the evals, and its metrics need the labels that this engine replaces": (
            boosting is not None and any(matrix is boosting.dtrain for matrix, _ in boosting.evals)
        ),
    }
    found = next((reason for reason, holds in reasons.items() if holds), None)
    other = "callback" if loss.has_gradient else "copies"
    return None if found is None else f"{found}. Use engine={other!r} or 'auto'"


def fit(training: Training, boosting: Boosting) -> xgboost.Booster:
    """Train the student on blended labels. dtrain gets its own back, also after an error."""
    distillation, spec, dtrain = Distillation(training), training.spec, boosting.dtrain
    params = distillation.params(continues=boosting.xgb_model is not None)
    carried, uniform = carried_params(boosting.xgb_model), training.is_uniform
    scales = spec.loss.applies_scale_pos_weight
    factor = 1.0 + sum(guide.kl_weight for guide in training.guides) if uniform else 1.0
    with restored(dtrain):
        if not uniform or spec.scale_pos_weight != 1:
            # A label that is valid in every row: unknown labels may not be.
            dtrain.set_label(spec.loss.mean(np.zeros_like(training.like)))
            # hist places its cuts by the user's weights before they change, as the callback engine does.
            xgboost.train({**params, "max_depth": 1, "num_parallel_tree": 1}, dtrain, 1)
            dtrain.set_weight(training.weight if uniform else distillation.row_factor)
        dtrain.set_label(distillation.target(training.like))
        booster = boosting.run(native_params(params, factor, carried, scales_positives=scales))
    give_back_params(booster, spec.params, carried, scales_positives=scales)
    return booster
