"""The trained teacher: q of every training row, and the models that predicted it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import xgboost

from ..._arrays import Array
from ..._rows.tables import as_table
from ..._xgb.categories import matrix_of
from ..crossfit import SHARED
from ..teachers import FixedTeacher
from ..training import About, Teacher
from .estimator import is_frozen
from .features import Features, Model, TrainedColumns
from .mixture import Mixture


class Member(NamedTuple):
    """One kind of model in a learned teacher."""

    kind: str
    models: Sequence[Model]
    """One, or one per fold."""
    loss: float
    """Its mean loss on the labelled rows, as that of the teacher."""
    weight: float
    """Its share of the teacher's predictions."""
    predicting: Sequence[Model]
    """The models that predict other rows, by their mean: one of all labelled rows, or those of the folds."""


class Fitted(NamedTuple):
    """Fitted members, and what they predict for the rows of the training."""

    members: list[Member]
    mixture: Mixture | None
    """None where one member is all."""
    mean: Array
    loss: float
    """Of this mean, on the labelled rows."""
    loss_of_mean: float
    """Of the mean label there."""
    fold_of: Array
    """The number of the model that was fitted without each row; negative as in ``Folds``."""
    crossfit: int
    """The number of folds; 0 for predictions of the training rows."""
    columns: TrainedColumns


def mean_of(members: Sequence[Member], mixture: Mixture | None, features: Features, fold: int = SHARED) -> Array:
    """The mean of rows of one fold, or of rows that all models may predict."""
    models = [one.predicting if fold == SHARED else [one.models[fold]] for one in members]
    means = [np.mean([model.predict(features) for model in each], axis=0) for each in models]
    return means[0] if mixture is None else mixture.combine(means)


class LearnedTeacher(FixedTeacher):
    """What :func:`fit_teacher` returns: the q of every training row and the models that predicted it.

    Attributes
    ----------
    values : ndarray
        q, one per training row; NaN in a row without privileged values, about which an estimator says nothing.
    members : list of Member
        Each kind of model in it, with ``kind``, ``models`` (one per fold when cross-fitted), ``loss`` and ``weight``.
    boosters : list of xgboost.Booster
        The boosters of all members.
    loss : float
        The loss of q on the labelled rows: log loss of probabilities, rmse of numbers, deviance of counts and costs.
        It is out of fold where the teacher is cross-fitted, else on its training rows, where it is no measure of
        quality. NaN for objectives without a mean.
    loss_of_mean : float
        The same of predicting the mean label for every row.

    Notes
    -----
    It can be pickled, with all of its models.

    Examples
    --------
    >>> import pi_xgb, xgboost as xgb
    >>> data = pi_xgb.datasets.make_privileged(300, seed=0)
    >>> teacher = pi_xgb.fit_teacher({"objective": "binary:logistic"}, xgb.DMatrix(data.z, data.y), crossfit=5)
    >>> teacher.values.shape, len(teacher.boosters)
    ((300,), 5)
    """

    def __init__(
        self, fitted: Fitted, q: Array, settings: Mapping[str, Any], labelled: Array | None, label: Array | None
    ) -> None:
        self._q, self.members, self._mixture, self._columns = q, fitted.members, fitted.mixture, fitted.columns
        self.loss, self.loss_of_mean = fitted.loss, fitted.loss_of_mean
        self.kind = self.members[0].kind if fitted.mixture is None else "mixed"
        self.about = About(kind=self.kind, settings=settings, labelled=labelled, label=label)

    @property
    def boosters(self) -> list[xgboost.Booster]:
        """The boosters of all members."""
        models = [model for member in self.members for model in member.models]
        return [model.booster for model in models if hasattr(model, "booster")]

    @property
    def booster(self) -> xgboost.Booster:
        """The teacher's booster, where there is one (``crossfit=0``)."""
        if len(self.boosters) != 1:
            raise ValueError(f"booster requires a teacher with one booster, got {len(self.boosters)}: use .boosters")
        return self.boosters[0]

    @property
    def learned_here(self) -> bool:
        """Whether its models were fitted on these rows: those of a frozen estimator are unknown."""
        return not is_frozen(getattr(self.members[0].models[0], "estimator", None))

    def predict(self, rows: Any) -> Array:
        """Predict the mean of other rows.

        Where the teacher taught rows without a label, the models that predicted those predict these; else the mean of
        all models of each member.

        Parameters
        ----------
        rows : xgboost.DMatrix or table
            The columns that the teacher was trained on, in the same order. For rankings the result is a score without
            a scale.

        Returns
        -------
        ndarray
            float32, one value per row, or one column per class.
        """
        table = None if isinstance(rows, xgboost.DMatrix) else as_table(rows, "rows")
        features = Features(rows if table is None else matrix_of(table), table)
        features = self._columns.aligned(features)
        try:
            return mean_of(self.members, self._mixture, features)
        except xgboost.core.XGBoostError as error:
            found = re.search(r"for the (\d+)th .*column: `(.*)`", str(error))
            if found is None:
                raise
            raise ValueError(
                f"the column {features.names[int(found[1])]!r} of rows must have categories that the teacher was "
                f"trained on, got {found[2]!r}: make them missing"
            ) from None

    def __repr__(self) -> str:
        n_models = max(len(member.models) for member in self.members)
        shares = ", ".join(f"{one.kind} {one.weight:.2f}" for one in self.members)
        in_sample = "on its own training rows" if self.learned_here else "on the labelled rows"
        where = "out of fold" if n_models > 1 else in_sample
        loss = f", loss {self.loss:.4f} ({self.loss_of_mean:.4f} for the mean label) {where}"
        return f"<LearnedTeacher: {shares}, {n_models} model(s) each{loss if np.isfinite(self.loss) else ''}>"

    def subset(self, rows: Array) -> Teacher:
        raise ValueError("this teacher learned from the labels of held-out rows, too: pass privileged= to cv")
