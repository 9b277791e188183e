"""Presenting by clicker: a caption of each step, keys wherever the focus is, bookmarks, no dialogs, and motion."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
from PySide6.QtCore import Qt, QVariantAnimation
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QDialog

from wordpiece_studio.errors import StudioError
from wordpiece_studio.session.training_job import TrainerState
from wordpiece_studio.training.config import TrainingConfig

if TYPE_CHECKING:
    from tests.ui.conftest import Studio

NEXT, BACK, BLANK, START = Qt.Key.Key_PageDown, Qt.Key.Key_PageUp, Qt.Key.Key_Period, Qt.Key.Key_F5
CTRL = Qt.KeyboardModifier.ControlModifier


def present(studio: Studio, layout: str = "demo") -> None:
    studio.window.actions_.choice("choose_layout", layout).trigger()
    studio.wait(lambda: studio.rests())


def click(studio: Studio, key: Qt.Key, modifiers: Qt.KeyboardModifier = Qt.KeyboardModifier.NoModifier) -> None:
    """Press a key of a clicker, which goes to what has the focus."""
    window = studio.window
    QTest.keyClick(window.focusWidget() or window, key, modifiers)


def dialogs(studio: Studio) -> list[QDialog]:
    return [each for each in studio.window.findChildren(QDialog) if each.isVisible()]


def test_a_clicker_steps_wherever_the_focus_is(studio: Studio) -> None:
    window, model = studio.window, studio.window.model
    edit, cover = window.tokenization_pane.edit, window.presenting_controller._cover
    step, text = model.step, edit.text
    edit.setFocus()
    click(studio, NEXT)
    assert model.step == step  # in another layout the key is the field's
    keys = [key.toString() for key in window.actions_.train.shortcuts()]
    present(studio)
    for part in (edit, window.scoreboard_pane.candidates_view, window.timeline_pane.plot):
        part.setFocus()
        assert part.hasFocus()
        click(studio, NEXT)
        assert model.step == step + 1
        click(studio, NEXT)
        click(studio, BACK)
        click(studio, BACK)
        assert model.step == step
    click(studio, BLANK)
    assert cover.isVisible()
    assert cover.geometry().contains(window.rect())
    for key in (NEXT, BACK, BLANK):
        click(studio, key)
        assert (cover.isVisible(), model.step) == (False, step)
        click(studio, BLANK)
    QTest.mouseClick(cover, Qt.MouseButton.LeftButton)
    assert not cover.isVisible()
    edit.setFocus()
    click(studio, BLANK)
    assert not cover.isVisible()
    assert len(edit.text) == len(text) + 1

    window.timeline_pane.plot.setFocus()
    runs = len(window.session.runs.all)
    click(studio, START)
    assert window.session.prediction.is_on
    click(studio, START)
    assert not window.session.prediction.is_on
    assert (model.state, len(window.session.runs.all)) == (TrainerState.FINISHED, runs)
    present(studio, "teach")
    assert [key.toString() for key in window.actions_.train.shortcuts()] == keys
    assert not window.actions_.forward.isEnabled()
    assert window.caption.isHidden()


def test_a_clicker_reveals_and_then_merges(studio: Studio) -> None:
    window, model, prediction = studio.window, studio.window.model, studio.window.session.prediction
    present(studio)
    window.timeline_pane.plot.setFocus()
    model.seek(7)
    merge = model.history[7]
    prediction.begin()
    studio.wait(lambda: bool(prediction.candidates))
    for is_revealed in (True, False):
        assert f"become {merge.token}, " not in window.caption.accessibleName()
        click(studio, NEXT)
        assert (prediction.is_revealed, model.step) == (is_revealed, 7 if is_revealed else 8)
    assert f"become {merge.token}, " in window.caption.accessibleName()
    click(studio, BACK)
    assert model.step == 7
    prediction.end()


def test_the_caption_says_what_was_merged_why_and_what_it_changed(studio: Studio) -> None:
    model, caption = studio.window.model, studio.window.caption
    present(studio)
    for config, why in (
        (TrainingConfig(objective="score", vocab_size=70), "because their score, "),
        (TrainingConfig(objective="likelihood", max_merges=20), "because their gain, "),
        (TrainingConfig(objective="count", tie="ids", max_merges=20), "the one with the lowest IDs"),
        (TrainingConfig(chosen_merges=((1, "t", "##h"),), max_merges=3), "because they were chosen for this step"),
    ):
        model.start(model.counts, config)
        studio.wait_finished()
        said = []
        for merge in model.history:
            model.seek(merge.step)
            said.append(caption.accessibleName())
            assert said[-1].startswith(f"{merge.step}: {merge.left} and {merge.right} become {merge.token}, ")
            touched = int(model.history.words_touched_counts(merge.step - 1, merge.step)[0])
            assert int(re.findall(r"; (\d+) words? changes?$", said[-1])[0]) == touched
            is_chosen = merge.step in config.choices
            assert (f"of {merge.ties} pairs" in said[-1]) == (merge.ties > 1 and not is_chosen)
            if config.objective == "score":
                n, left, right = merge.pair_frequency, merge.left_frequency, merge.right_frequency
                above, below = re.findall(r", (\d+)(?:/(\d+))?, ", said[-1])[0]
                assert int(above) * left * right == int(below or 1) * n
        assert any(why in each for each in said)
        assert len(set(said)) == len(said)
    model.seek(0)
    assert caption.accessibleName().startswith("Before the first merge")
    assert caption.text() == caption.accessibleName()
    caption.resize(150, caption.height())
    model.seek(2)
    assert caption.text() != caption.accessibleName()


def test_bookmarked_steps_are_gone_to_and_back(studio: Studio) -> None:
    window, model, actions = studio.window, studio.window.model, studio.window.actions_
    present(studio)
    window.session.marks.bookmarks.set_marks(())  # those of the sample
    for step, note in ((4, "four"), (9, "nine"), (20, "twenty")):
        window.session.marks.bookmarks.keep(note, step)
    model.seek(12)
    window.timeline_pane.plot.setFocus()
    assert not actions.return_from_bookmark.isEnabled()
    way = [(BACK, 9), (BACK, 4), (BACK, 4), (NEXT, 9), (NEXT, 20), (NEXT, 20)]
    for key, wanted in way:
        click(studio, key, CTRL)
        assert model.step == wanted
    assert (window.caption_note.isVisible(), window.caption_note.text()) == (True, "twenty")
    window.session.prediction.begin()
    assert window.caption_note.text() == "Bookmarked"  # a note may tell what comes next
    window.session.prediction.end()
    model.seek(12)
    click(studio, NEXT, CTRL)
    for wanted in (12, 20, 12):
        click(studio, Qt.Key.Key_F8, Qt.KeyboardModifier.ShiftModifier)
        assert model.step == wanted
    notes = len(window.session.marks.bookmarks.records)
    click(studio, Qt.Key.Key_D, CTRL)
    assert not dialogs(studio)
    assert len(window.session.marks.bookmarks.records) == notes + 1
    assert window.caption_note.text() == "Bookmarked"
    model.seek(13)
    assert window.caption_note.isHidden()
    model.start(model.counts, TrainingConfig(max_merges=2))
    studio.wait_finished()
    assert not actions.return_from_bookmark.isEnabled()


@pytest.mark.expects_log
def test_no_message_is_shown_meanwhile(studio: Studio) -> None:
    window = studio.window
    present(studio)
    window.messages.show_error(StudioError("The first", ""))
    window.messages.show_error(StudioError("The latest", ""))
    window.notices.step.show_message("A notice")
    window.messages._on_fault_happened("a traceback")
    assert not dialogs(studio)
    assert not window.notices.isVisible()
    present(studio, "teach")
    assert window.notices.isVisible()
    assert "unexpected error" in studio.box().text()
    assert studio.box().detailedText() == "a traceback"
    QTest.keyClick(studio.box(), Qt.Key.Key_Escape)
    present(studio)
    present(studio, "teach")
    assert not dialogs(studio)


def test_symbols_move_together_unless_motion_is_reduced(studio: Studio, monkeypatch: pytest.MonkeyPatch) -> None:
    window, pane = studio.window, studio.window.scoreboard_pane
    running = QVariantAnimation.State.Running

    def moves(key: Qt.Key = NEXT) -> bool:
        click(studio, key)
        studio.wait(lambda: not pane.is_stale)
        return bool(pane.formula.joining.state() == running)

    present(studio)
    window.timeline_pane.plot.setFocus()
    assert moves()
    before = pane.formula.grab().toImage()
    with studio.qtbot.waitSignal(pane.formula.joining.finished):
        pass
    assert pane.formula.grab().toImage() != before
    assert not moves(BACK)
    window.actions_.animate_merges.trigger()
    assert window.settings.values.animates_merges is False
    assert not moves()
    window.actions_.animate_merges.trigger()
    assert moves()
    present(studio, "teach")
    window.actions_.next_merge.trigger()
    studio.wait(lambda: not pane.is_stale and pane.formula.joining.state() != running)
    window.settings.change(animates_merges=None)
    monkeypatch.setattr("sys.platform", "win32")
    assert not window.presenting_controller._is_animated  # Qt's offscreen platform has no effects
