"""Are the intervals and p-values of the audit what they say? Made rows whose rates and gaps are known."""
