"""The paper's search for alpha."""
