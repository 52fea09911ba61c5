"""FINDINGS.md again, from the files of benchmarks/results.

python -m benchmarks.findings             writes benchmarks/FINDINGS.md
python -m benchmarks.findings --print     prints it
"""

from __future__ import annotations

from benchmarks import FOLDER
from benchmarks.command_line import command
from benchmarks.findings.numbers import Numbers
from benchmarks.findings.page import text_of

PAGE = FOLDER / "FINDINGS.md"


def main() -> None:
    parser = command("findings", __doc__)
    parser.add_argument("--print", action="store_true", help="print it, and change no file")
    arguments = parser.parse_args()
    text = text_of(Numbers(FOLDER / "results"))
    if arguments.print:
        print(text)
    else:
        PAGE.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
