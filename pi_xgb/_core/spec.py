"""The settings of a training in params, read once."""

from __future__ import annotations

import dataclasses
from typing import Any

from .._arrays import Array
from .._warnings import warn_user
from .._xgb.params import carried_objective_params, number_of_classes, objective_name, scale_pos_weight, user_params
from .losses import Loss, loss_named

# Params about the student's columns do not apply to the teacher's.
ABOUT_COLUMNS = ("monotone_constraints", "interaction_constraints")


@dataclasses.dataclass(frozen=True)
class Spec:
    """How a booster is to be trained, whatever its rows. ``n_classes`` is 0 where there is one value per row."""

    params: dict[str, Any]
    """A copy of the user's params."""
    objective: str
    loss: Loss
    n_classes: int
    scale_pos_weight: float
    device: str

    @classmethod
    def read(cls, params: Any, xgb_model: Any = None) -> Spec:
        """Return the spec of params; raise for an objective that no teacher can guide.

        Params of the objective default to those of a continued model, as in XGBoost.
        """
        own = user_params(params)
        objective, n_classes = objective_name(own), number_of_classes(own)
        loss = loss_named(objective)
        if loss.parameters and loss.has_gradient:
            carried = carried_objective_params(xgb_model)
            own = {name: carried[name] for name in loss.parameters if name in carried} | own
        loss = loss.with_params(own)
        if loss.multiclass and n_classes < 2:
            raise ValueError(f"params['num_class'] must be at least 2 for {objective}, got {own.get('num_class')!r}")
        scale = scale_pos_weight(own)
        return cls(own, objective, loss, n_classes if loss.multiclass else 0, scale, str(own.get("device", "cpu")))

    def on_one_thread(self) -> Spec:
        """Return the same spec, for one of several trainings side by side."""
        return dataclasses.replace(self, params={**self.params, "nthread": 1})

    def with_default(self, **params: Any) -> Spec:
        """Return the same spec with these params of trees, where the user set no others."""
        if self.params.get("booster") == "gblinear":
            return self
        return dataclasses.replace(self, params={**params, **self.params})

    def shape(self, n_rows: int) -> tuple[int, ...]:
        """Return the shape of the means of so many rows."""
        return (n_rows, self.n_classes) if self.n_classes else (n_rows,)

    def of_teacher(self, teacher_params: Any) -> Spec:
        """Return the teacher's spec: its own params on top of those that it shares with the student."""
        if teacher_params is None:
            return Spec.read({key: value for key, value in self.params.items() if key not in ABOUT_COLUMNS})
        shared = {
            key: self.params[key] for key in ("objective", "num_class", *self.loss.parameters) if key in self.params
        }
        own = Spec.read({**shared, **user_params(teacher_params)})
        if type(own.loss) is not type(self.loss) or own.n_classes != self.n_classes:
            raise ValueError(
                "teacher and student must share objective and num_class: the student has "
                f"{self.objective!r} and {self.n_classes}, teacher_params have {own.objective!r} and {own.n_classes}. "
                "Leave both out of teacher_params"
            )
        return own

    @property
    def drops_trees(self) -> bool:
        """Whether rounds drop earlier trees, by dart or its params."""
        named = any(float(self.params.get(name, 0)) > 0 for name in ("rate_drop", "one_drop"))
        return named or self.params.get("booster") == "dart"

    def check_margins_stay(self) -> None:
        """Raise if rounds drop trees, which JPIB does not support."""
        if self.drops_trees:
            raise ValueError(
                "booster='dart' (rate_drop, one_drop) is not supported by JPIB, since it drops trees in every round: "
                "use gbtree or gblinear without these, or method='kbpib'"
            )

    def warn_of_other_meanings(self, label: Array, *, kl_weight_given: bool) -> None:
        """Warn of params that the user may have meant otherwise."""
        if "alpha" in self.params and not kl_weight_given:
            warn_user(
                "params['alpha'] is XGBoost's L1 regularisation of leaf weights, not the alpha of the paper, which "
                f"is kl_weight here (now at its default). For the paper's alpha pass kl_weight={self.params['alpha']!r}"
                "; for L1 write reg_alpha, which means the same to XGBoost and silences this",
            )
        unnamed = "objective" not in self.params and self.objective == "reg:squarederror"
        if unnamed and bool(((label == 0) | (label == 1)).all()):
            warn_user(
                "no objective is named, which means reg:squarederror as in XGBoost, but every label is 0 or 1: "
                "for probabilities set params['objective'] = 'binary:logistic'; to keep squared error and "
                "silence this set it to 'reg:squarederror'",
            )
