"""The paper on the bench: public data sets, methods, measures and reports.

Not part of the installed package. Run from the root of the repository, for example
``python -m benchmarks.run``.
"""
