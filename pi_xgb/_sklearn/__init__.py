"""Behind ``pi_xgb.sklearn``: the estimators, their trainers, and the estimators with cross-validation."""
