"""What the README shows works as it stands."""

import re
from pathlib import Path

import pi_xgb

README = Path(__file__).parents[1] / "README.md"
EXAMPLES = re.findall(r"```python\n(.*?)```", README.read_text(), flags=re.DOTALL)


def test_the_examples_run_in_one_session(tmp_path, monkeypatch):
    # With the two files that the first example reads.
    data = pi_xgb.datasets.make_privileged(400, seed=0)
    patients = data.x.assign(lab=data.z["z0"], ill=data.y.where(data.y.index < 100))
    patients.to_csv(tmp_path / "patients.csv", index=False)
    data.x[:5].to_csv(tmp_path / "new.csv", index=False)
    monkeypatch.chdir(tmp_path)
    names = {}
    for example in EXAMPLES:
        exec(compile(example, str(README), "exec"), names)
        assert "lab" not in names["booster"].feature_names
    assert names["probability"].shape == (5,)


def test_the_two_commands_are_there_once_each():
    commands = [line for line in README.read_text().splitlines() if line.startswith("python3 -m venv")]
    # The CI script runs these very lines.
    assert [line.split()[-1] for line in commands] == ["demo", "pytest"]
