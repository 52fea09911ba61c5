"""Teachers whose predictions are differentially private, and attacks that test them.

:class:`PrivateTeacher` guarantees that the privileged values of any single row hardly change the probability of any
trained model; docs/privacy.md has the exact guarantee, its proof and its limits. :func:`audit` attacks a training,
private or not, and reports a lower bound of its epsilon.

Examples
--------
>>> import pi_xgb, xgboost as xgb
>>> from pi_xgb.privacy import PrivateTeacher
>>> data = pi_xgb.datasets.make_privileged(1000, n_privileged=2, seed=0)
>>> teacher = PrivateTeacher(2.0, 1e-6, bounds={"z0": (-3, 3), "z1": (-3, 3)}, bins=4).fit(data.z, data.y)
>>> teacher.values.shape, teacher.budget.model.epsilon, teacher.budget.rows.epsilon
((1000,), 1.0, 1.0)
"""

from __future__ import annotations

from ._privacy.audit import Audit, audit
from ._privacy.teacher import PrivateTeacher

__all__ = ["Audit", "PrivateTeacher", "audit"]
