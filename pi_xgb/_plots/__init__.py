"""Behind ``pi_xgb.plotting``: what is drawn, and how it looks."""
