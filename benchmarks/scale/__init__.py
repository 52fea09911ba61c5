"""Time and memory against rows, columns, rounds and workers."""
