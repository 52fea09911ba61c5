"""Statistics that know no models: intervals."""
