"""The fence around XGBoost: its params, boosters, trees, matrices, workers and signatures."""
