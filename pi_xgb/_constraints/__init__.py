"""Behind ``pi_xgb.constraints``: what a constraint is, and the arithmetic of each."""
