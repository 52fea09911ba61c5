"""Every method on every set, on the paper's ten folds."""
