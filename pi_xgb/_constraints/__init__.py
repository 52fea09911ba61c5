"""The classes behind ``pi_xgb.constraints`` and the arithmetic of each constraint."""
