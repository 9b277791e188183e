"""Sizes in the window: what is measured, the line that is dragged, what rules advise, and what is made of a size."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from PySide6.QtCore import Qt

import wordpiece_studio as wps
from tests.session.test_held_out_judging import text_of
from wordpiece_studio.libraries.sweep import SweepMethod
from wordpiece_studio.session.training_job import TrainerState
from wordpiece_studio.training.config import TrainingConfig
from wordpiece_studio.ui.panes.charts.chart import Band, Label, Line, Rule

if TYPE_CHECKING:
    from tests.ui.conftest import Studio
    from wordpiece_studio.ui.panes.charts.sizes_pane import SizesPane

TEXT = text_of(3000)


def train(studio: Studio, objective: Any, size: int) -> None:
    model = studio.window.model
    before = model.run
    studio.window.session.settings.set_config(TrainingConfig(objective=objective, vocab_size=size))
    studio.window.actions_.train.trigger()
    studio.wait(lambda: model.run is not before and model.state is TrainerState.FINISHED, 20_000)


@pytest.fixture
def pane(studio: Studio) -> SizesPane:
    """The pane in its layout, with two runs of a text, measured."""
    window = studio.window
    window.session.runs.keep_all()
    studio.set_text(TEXT)
    train(studio, "count", 120)
    window.session.runs.keep_all()
    train(studio, "likelihood", 160)
    window.actions_.choice("choose_layout", "sizes").trigger()
    pane = window.sizes_pane
    studio.wait(lambda: pane.found is not None and not pane.is_stale, 60_000)
    return pane


def shapes(pane: SizesPane, kind: type) -> list[Any]:
    return [shape for shape in pane.view.plot.shapes if isinstance(shape, kind)]


def test_the_size_is_dragged_and_all_follows(studio: Any, pane: SizesPane) -> None:
    window, found = studio.window, pane.found
    assert found is not None
    model, runs = window.model, window.session.runs
    letters = [run.letter for run in runs.all if run.origin.corpus and run.origin.corpus.text == TEXT]
    assert list(found.methods) == letters
    steps = model.run.counts.normalizer, model.run.counts.pre_tokenizer
    objectives: tuple[Any, ...] = "count", "likelihood"
    methods = {letter: SweepMethod(TrainingConfig(objective=o)) for letter, o in zip(letters, objectives, strict=True)}
    expected = wps.sweep(methods=methods, texts=[TEXT], sizes="1..160:24", normalizer=steps[0], pre_tokenizer=steps[1])
    assert (found.sizes, found.methods) == (expected.sizes, expected.methods)
    assert len(shapes(pane, Band)) == len(shapes(pane, Line)) == 2

    # Dragged to a measured size, all panes are at its step, and the figures are those of the sweep.
    place, size = 5, found.sizes[5]
    pane.view.plot.pressed.emit(float(np.log10(size)))
    assert model.history.vocabulary_size(model.step) == size == pane.tokens
    assert pane.written(letters[1], "tokens_per_word", size).startswith(
        f"{found.mean(letters[1], 'tokens_per_word')[place]:.3f}"
    )
    assert f"{letters[1]} Likelihood" in pane.view.readout
    assert f"Export at {size:,}…" in pane._export.text()
    assert window.tokenization_pane.isVisible()
    assert any(abs(rule.x - np.log10(size)) < 1e-9 for rule in shapes(pane, Rule))
    middle = (found.sizes[5] + found.sizes[6]) // 2
    one, between, other = (
        pane.sweep.at(letters[1], "tokens_per_word", each)[0] for each in (found.sizes[5], middle, found.sizes[6])
    )
    assert one >= between >= other
    assert pane.written(letters[1], "tokens_per_word", middle).startswith(f"≈ {between:.3f} ± ")
    assert "≈" not in pane.written(letters[1], "tokens_per_word", found.sizes[6])

    # The merges among the next hundred tokens that change the live text.
    window.tokenization_pane.set_text(TEXT.splitlines()[0])
    studio.wait(lambda: window.session.changes.is_known and len(window.session.changes.rows))
    pane.seek(found.sizes[1])
    studio.wait(lambda: not pane.is_stale)
    changing = [row for row in window.session.changes.rows if row.step > model.step]
    ends = [row for row in changing if model.history.vocabulary_size(row.step) <= pane.tokens + 100]

    def chips() -> list[str]:
        return [item.text for item in pane.joined.items if item.kind == "chip"]

    studio.wait(lambda: chips()[:3] == [ends[0].left, ends[0].right, ends[0].token])
    assert len(chips()) == 3 * min(len(ends), 4)
    pane.seek(found.sizes[-1])
    studio.wait(pane.joined.isHidden)
    pane.seek(size)
    assert pane.written(letters[1], "tokens_per_word", found.sizes[-1] + 1) == "–"
    pane.view.plot.pointed.emit(float(np.log10(found.sizes[2])))
    assert f"at {found.sizes[2]:,} tokens" in pane.view.readout

    # By keys, too.
    pane.view.setFocus()
    for key, reached in ((Qt.Key.Key_End, found.sizes[-1]), (Qt.Key.Key_Home, found.sizes[0])):
        studio.qtbot.keyClick(pane.view, key)
        assert abs(pane.tokens - reached) <= 1 + 0.02 * reached
    studio.qtbot.keyClick(pane.view, Qt.Key.Key_Right)
    assert pane.tokens > found.sizes[0]

    # What rules advise stands there, of the current run.
    advised = {each.rule: each.size for each in found.advice if each.method == letters[1]}
    labels = [label.text for label in shapes(pane, Label)]
    assert f"Shortest description: {advised['description']:,}" in labels
    assert pane._advice.text().startswith("Only one rule holds. Shortest description: ")
    assert "95% occur 100 times: none (more text needed)" in pane._advice.text()
    assert pane._advice.text().endswith("Doubling saves under 5%: none (larger sizes or more text needed)")

    # Another metric, another look, other sizes.
    pane.choice.setCurrentIndex(2)
    pane.choice.activated.emit(2)
    assert pane.view.drawing.y.title == "Description length (kB)"
    top = found.mean(letters[1], "description_length").max() / 8000
    assert top <= pane.view.drawing.y.range[1] < 2 * top
    window.theme.set_choice("dark")
    studio.wait(lambda: not pane.is_stale)
    assert len(shapes(pane, Line)) == 2
    pane.field.setText("9..1")
    pane.field.editingFinished.emit()
    assert pane.hints[0].startswith("Invalid sizes: 9..1")
    pane.field.setText("60,90")
    pane.field.editingFinished.emit()
    studio.wait(lambda: pane.found is not None and pane.found.sizes == (60, 90), 60_000)

    # What is made of a size: files, and a run.
    pane.seek(90)
    step, before = model.step, len(runs.all)
    pane._export.click()
    dialog = window.export_controller.vocabulary.dialog
    assert dialog.step == step
    dialog.reject()
    known: list[bool] = []
    pane.sweep.changed.connect(lambda: known.append(pane.found is not None))
    pane._keep.click()
    studio.wait(lambda: len(runs.all) == before + 1 and model.state is TrainerState.FINISHED, 20_000)
    assert len(model.vocabulary_at(model.merge_count)) == 90

    # What is measured of its method stays, also while it is trained, and so does the axis.
    assert len(known) > 1
    assert all(known)
    assert pane.found is not None
    assert pane.found.sizes == (60, 90)
    assert not pane.sweep.task.is_running
    assert pane.sweep.method == letters[1]
    studio.wait(lambda: not pane.is_stale)
    assert pane.names[letters[1]].count(",") == 1
    pane.field.setText("")
    pane.field.editingFinished.emit()
    assert pane.sweep.task.request is not None
    assert pane.sweep.task.request[-2] == "1..160:24"


def test_a_small_corpus_says_what_it_needs(studio: Studio, monkeypatch: pytest.MonkeyPatch) -> None:
    window = studio.window
    window.actions_.choice("choose_layout", "sizes").trigger()
    studio.wait(lambda: window.sizes_pane.view is not None and not window.sizes_pane.is_stale)
    assert "train on a text of 2,000 words" in window.sizes_pane.view.sentence.text()
    assert window.session.sizes.task.request is None
    monkeypatch.setattr(type(window.sizes_pane), "tokens", 0)
    window.sizes_pane.refresh_now()
    assert window.sizes_pane._export.text() == "Export at this size…"
