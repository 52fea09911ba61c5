"""What the README shows works as it stands."""

import re
from pathlib import Path

import pytest

README = Path(__file__).parents[1] / "README.md"
EXAMPLES = re.findall(r"```python\n(.*?)```", README.read_text(), flags=re.DOTALL)


LONG = ("compare(", "frontier(")


@pytest.mark.parametrize(
    "example",
    [
        pytest.param(code, marks=pytest.mark.slow if any(word in code for word in LONG) else (), id=f"example{i}")
        for i, code in enumerate(EXAMPLES)
    ],
)
def test_example(example, capsys):
    names = {}
    exec(compile(example, str(README), "exec"), names)
    # Every example uses the library, and ends with something to look at.
    assert "pi_xgb" in names
    assert "booster" in names or capsys.readouterr().out


def test_the_two_commands_are_there_once_each():
    commands = [line for line in README.read_text().splitlines() if line.startswith("python3 -m venv")]
    # The CI script runs these very lines.
    assert [line.split()[-1] for line in commands] == ["demo", "pytest"]
