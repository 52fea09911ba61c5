"""Statistics of paired differences, resamples and folds."""
