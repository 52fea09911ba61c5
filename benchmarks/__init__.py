"""The paper on the bench: public data sets, methods, measures and reports.

Not part of the installed package. Run from the root of the repository, for example
``python -m benchmarks.run``. What a person calls is a file or a folder of that name here; of the others, ``data``,
``modes``, ``methods`` and ``peers`` are what is run, and the small files are what several commands share.
"""

from pathlib import Path

FOLDER = Path(__file__).parent
