"""The plots behind ``pi_xgb.plotting``."""
