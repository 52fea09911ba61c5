"""Statistics that know no models: intervals, and inference on gaps between groups."""
