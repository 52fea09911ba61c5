"""The modules behind ``pi_xgb.dask``: rows and teachers on workers, the training, the estimators."""
