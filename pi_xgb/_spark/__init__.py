"""Behind ``pi_xgb.spark``: checks on the driver, and what a task does."""
