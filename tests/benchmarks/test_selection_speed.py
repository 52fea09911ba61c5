"""What select and compare cost: processes in turn, and a table less what starting costs."""

from __future__ import annotations

import pandas as pd
import pytest

pytest.importorskip("sklearn", reason="the benchmarks need scikit-learn")

from benchmarks.selection import speed


def test_processes_take_turns_and_are_kept(monkeypatch, tmp_path):
    requested = []
    monkeypatch.setattr(speed, "measured", lambda call: requested.append(call) or 1.0)
    out = tmp_path / "speed.csv"
    speed.run(out, rounds=1)
    assert requested == list(speed.CALLS)
    speed.run(out, rounds=2)
    # The first round is there.
    assert len(requested) == 2 * len(speed.CALLS)
    assert pd.read_csv(out).groupby("call")["round"].apply(list).map(tuple).unique().tolist() == [(0, 1)]


def test_a_process_has_its_own_time(monkeypatch):
    monkeypatch.setattr(speed, "START", "")
    monkeypatch.setitem(speed.CALLS, "select", "import benchmarks; sum(i * i for i in range(3_000_000))")
    assert speed.measured("select") > 0.02


def test_the_table_leaves_out_what_starting_costs():
    seconds = {"neither": [1, 2, 9], "select": [10, 12, 8], "compare": [42, 40, 41]}
    lines = [
        {"call": call, "round": i, "processor": s, "load": 2.0}
        for call, own in seconds.items()
        for i, s in enumerate(own)
    ]
    found = speed.cost_section(pd.DataFrame(lines))
    assert found[3] == "| select | 3 | 8.0 | 6.0 to 10.0 | 2 |"
    assert found[4] == "| compare | 3 | 39.0 | 38.0 to 40.0 | 2 |"
