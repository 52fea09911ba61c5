"""Which mistakes would the tests not notice? Each mutant is the package with one small mistake in it."""
