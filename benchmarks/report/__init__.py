"""RESULTS.md, from the results of the run."""
