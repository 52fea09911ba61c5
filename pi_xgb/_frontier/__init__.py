"""Implementation of ``pi_xgb.frontier``: the cost of a constraint on held-out rows."""
