"""Behind ``pi_xgb.sklearn``: tables and their privileged columns, what guides a fit, the choosing estimators."""
