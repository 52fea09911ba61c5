"""Which features make a model treat groups differently."""
