"""docs/objectives.md has every objective of the installed XGBoost, as the registry has it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import xgboost as xgb

import pi_xgb
from pi_xgb._core.losses import KINDS, LOSSES, NOT_GUIDED

PAGE = Path(__file__).parents[1] / "docs" / "objectives.md"


def engines_of(loss) -> str:
    if not loss.has_gradient:
        return "copies"
    return "callback" if loss.multiclass else "callback, native"


def guided_rows() -> list[str]:
    """The table of the page, from the registry."""
    return [
        f"| `{name}` | {KINDS[loss.kind]} | {engines_of(loss)} | {loss.range.must} | {loss.default_metric} |"
        for name, loss in LOSSES.items()
    ]


def other_rows() -> list[str]:
    return [f"| `{name}` | {why} |" for name, why in NOT_GUIDED.items()]


def of_xgboost() -> set[str]:
    """What this XGBoost has: it lists them where it does not know a name."""
    with pytest.raises(xgb.core.XGBoostError) as caught:
        xgb.train({"objective": "nonsense"}, xgb.DMatrix([[1.0]], [1.0]), 1)
    return set(re.findall(r"Objective candidate: (\S+)", str(caught.value)))


def test_every_objective_of_xgboost_is_guided_or_there_is_a_reason_why_not():
    assert len(of_xgboost()) >= 20
    assert of_xgboost() <= {*LOSSES, *NOT_GUIDED}
    assert not LOSSES.keys() & NOT_GUIDED.keys()
    assert of_xgboost() >= LOSSES.keys() - {"reg:expectileerror"}  # from XGBoost 3.3 on


def test_the_page_has_them_as_the_registry_has_them():
    rows = [line for line in PAGE.read_text().splitlines() if re.match(r"\| `\w+:", line)]
    assert rows == [*guided_rows(), *other_rows()]


@pytest.mark.parametrize("name", sorted(NOT_GUIDED))
def test_the_error_says_why_not(name):
    with pytest.raises(ValueError, match=re.escape(f"got {name!r}, which {NOT_GUIDED[name]}. Change")):
        pi_xgb.train({"objective": name}, xgb.DMatrix([[1.0]], [1.0]), 1, teacher=[0.5])
