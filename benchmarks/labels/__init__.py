"""Late labels, retraining, retired features and labelling functions: what the workflows are worth."""
