"""Learning curves: what privileged features are worth from 100 rows to all."""
