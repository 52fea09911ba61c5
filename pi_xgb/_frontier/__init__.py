"""Behind ``pi_xgb.frontier``: what a constraint costs, on rows held out."""
