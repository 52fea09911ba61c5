"""What select and compare cost beside an earlier checkout: processes in turn, and a table less what both share."""

from __future__ import annotations

import pandas as pd
import pytest

pytest.importorskip("sklearn", reason="the benchmarks need scikit-learn")

from benchmarks import FOLDER
from benchmarks.selection import speed


def test_processes_of_both_checkouts_take_turns_and_are_kept(monkeypatch, tmp_path):
    asked = []

    def measured(call, checkout):
        asked.append((call, checkout))
        return {"seconds": 2.0, "processor": 1.0}

    monkeypatch.setattr(speed, "measured", measured)
    out = tmp_path / "speed.csv"
    speed.run(tmp_path, out, rounds=1)
    assert asked == [(call, folder) for call in speed.CALLS for folder in (tmp_path, FOLDER.parent)]
    speed.run(tmp_path, out, rounds=2)
    # The first round is there.
    assert len(asked) == 2 * 2 * len(speed.CALLS)
    assert pd.read_csv(out).groupby(["call", "checkout"])["round"].apply(list).map(tuple).unique().tolist() == [(0, 1)]


def test_a_process_has_the_package_of_its_checkout(monkeypatch, tmp_path):
    (tmp_path / "only_here.py").write_text("")
    monkeypatch.setattr(speed, "START", "")
    monkeypatch.setitem(speed.CALLS, "select", "import only_here; sum(i * i for i in range(3_000_000))")
    found = speed.measured("select", tmp_path)
    # Its own time, which no other process adds to.
    assert found["processor"] > 0.02
    assert found["processor"] < found["seconds"] + 0.1


def test_the_table_leaves_out_what_both_spend_on_starting():
    def lines(call, before, now):
        return [
            {"call": call, "round": number, "checkout": checkout, "seconds": 0.0, "processor": seconds}
            for checkout, times in ((speed.BEFORE, before), (speed.NOW, now))
            for number, seconds in enumerate(times)
        ]

    found = pd.DataFrame(lines("neither", [1, 2, 9], [3, 4, 1]) + lines("select", [10, 12, 8], [5, 7, 4]))
    # Less 2 before and 3 now: 8, 10, 6 and 2, 4, 1.
    assert speed.speed_table(found)[2] == "| select | 3 | 8.0 | 2.0 | 4.0 | 2.5 to 6.0 |"
