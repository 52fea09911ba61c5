"""Download and check data sets: ``python -m benchmarks.data [name ...]``."""

from __future__ import annotations

from benchmarks.cells import parser
from benchmarks.data.registry import DATASETS, LOAD_ERRORS, load


def main(arguments: list[str] | None = None) -> None:
    made = parser("data", __doc__)
    made.add_argument("names", nargs="*", metavar="name", help=f"default: all of {', '.join(DATASETS)}")
    for name in made.parse_args(arguments).names or list(DATASETS):
        try:
            prepared = load(name)
        except LOAD_ERRORS as error:
            raise SystemExit(f"{name}: {error}") from error
        privileged = ", ".join(str(prepared.X.columns[i]) for i in prepared.privileged)
        print(f"{name}: {prepared.X.shape[0]} rows, {prepared.X.shape[1]} features, privileged: {privileged}")


if __name__ == "__main__":
    main()
