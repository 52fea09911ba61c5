"""Few labels and many rows: what privileged features are worth where outcomes come late."""
