"""XGBoost's internals: its params, boosters, trees, matrices, workers and signatures."""
