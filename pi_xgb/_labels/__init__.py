"""Which rows have a label: by their dates, and whether those that have one differ from the others."""
