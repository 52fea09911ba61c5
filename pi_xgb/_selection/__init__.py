"""Implementation of ``pi_xgb.selection``: candidates, folds, scores, the choice and the verdict."""
