"""Behind ``pi_xgb.dask``: rows and teachers on their workers, the training, the estimators."""
