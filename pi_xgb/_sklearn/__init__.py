"""Behind ``pi_xgb.sklearn``: the estimators, what trains for them, their choosing forms."""
