"""One attribute as privileged for the others: the models, the order of the table, the sentence."""

from __future__ import annotations

import dataclasses

import pandas as pd
import pytest
from helpers_benchmark import SMALL
from sklearn.metrics import roc_auc_score

pytest.importorskip("matplotlib", reason="the pictures need matplotlib")

from benchmarks import attributes
from benchmarks.modes.fold_work import FoldWork
from benchmarks.run.cells import MADE, made_set


@pytest.mark.parametrize("attribute", [0, 6])
def test_one_attribute_is_for_the_teacher_alone(monkeypatch, attribute):
    monkeypatch.setattr(attributes, "CURRENT", SMALL["current"])
    (line,) = attributes.lines_of(MADE, attribute, [0])
    made = made_set()
    assert (line["set"], line["attribute"], line["fold"]) == (MADE, made.X.columns[attribute], 0)
    assert line["paper"] == (attribute in made.privileged)
    for model, columns in (("NF", [i for i in range(8) if i != attribute]), ("with it", list(range(8)))):
        table, types = made.X.iloc[:, columns], tuple(made.feature_types[i] for i in columns)
        own = dataclasses.replace(made, X=table, feature_types=types, privileged=(), protected=())
        work = FoldWork(own, made.folds()[0], SMALL["current"])
        assert line[model] == pytest.approx(roc_auc_score(work.labels("test"), work.plain("x").test), abs=1e-12)
    assert len({line[model] for model in attributes.MODELS}) > 1


def made_lines():
    """Attribute b is worth .1 at prediction and .04 to a student, a nothing."""
    worth = {"a": (0.0, 0.0), "b": (0.1, 0.04)}
    rows = []
    for attribute, (ceiling, taught) in worth.items():
        for fold, noise in enumerate((-0.01, 0.0, 0.01)):
            gains = {"NF": 0.0, "with it": ceiling, "KbPIB chosen": -0.2 * (attribute == "a")}
            gains |= {"KbPIB all features": taught, "self-distillation": 0.0}
            noisy = {model: 0.8 + gain + noise * (gain != 0) for model, gain in gains.items()}
            rows.append({"set": "made", "attribute": attribute, "paper": attribute == "b", "fold": fold, **noisy})
    return pd.DataFrame(rows)


def test_the_most_valuable_attribute_comes_first_and_the_papers_has_a_star():
    gains = attributes.gains_of(made_lines())
    assert gains["attribute"].tolist() == ["b *", "a"]
    assert gains["with it"][0].mean == pytest.approx(0.1)
    text = attributes.text_of(made_lines())
    nothing = "0.0000 (0.0000 to 0.0000)"
    assert f"| b * | +0.1000 (0.0709 to 0.1291) | {nothing} | +0.0400 (0.0109 to 0.0691) | {nothing} |" in text
    sentence = " ".join(text.split())
    assert "Of the 2 attributes of made, 1 are significantly missed at prediction (mean +0.0500)." in sentence
    assert "taught by the attribute alone gains significantly with 0 and loses with 1 (mean -0.1000)" in sentence
    assert "taught by all features with 1 and 0 (mean +0.0200), the control with 0 and 0 (mean 0.0000)" in sentence
    assert "of more than three attributes, is -." in sentence


def test_the_summary_says_how_many_attributes_there_are(monkeypatch):
    more = pd.concat([made_lines().assign(attribute=lambda t, i=i: t["attribute"] + str(i)) for i in range(2)])
    assert "attributes, is +1.00." in " ".join(attributes.summary("made", attributes.gains_of(more)).split())
    monkeypatch.setitem(attributes.SETS, "made", 5)
    assert attributes.summary("made", attributes.gains_of(more)).startswith("Of 4 of the 5 attributes of made, 2 are")


def test_the_picture_has_a_row_for_each_attribute(monkeypatch, tmp_path):
    drawn = []
    monkeypatch.setattr(attributes, "save", lambda figure, path: drawn.append(figure))
    attributes.draw(made_lines(), tmp_path / "figure.png")
    (ax,) = [ax for ax in drawn[0].axes if ax.get_visible()]
    assert [text.get_text() for text in ax.get_yticklabels()] == ["b *", "a"]
    assert len(ax.containers) == 3


def test_what_is_there_is_not_done_again(monkeypatch, tmp_path):
    requested = []
    monkeypatch.setattr(
        attributes,
        "lines_of",
        lambda name, attribute, folds: requested.append(attribute) or [{"set": name, "attribute": f"x{attribute}"}],
    )
    for _ in range(2):
        attributes.run(tmp_path / "out.csv", [MADE])
    # Of the set's own names x0 to x4 were there; those of others were not.
    assert requested == [*range(8), 5, 6, 7]
