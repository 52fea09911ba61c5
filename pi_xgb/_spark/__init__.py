"""The modules behind ``pi_xgb.spark``: checks on the driver, and the work of a task."""
