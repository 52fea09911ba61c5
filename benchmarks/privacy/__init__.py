"""What privacy costs: AUC against epsilon, attacks on private and other teachers, DP-EBM as in its paper."""
