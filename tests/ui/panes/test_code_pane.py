"""The code beside the history: the line that is lit, its values, going on through phases and merges, and the copy."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication

from wordpiece_studio.session.training_job import TrainerState
from wordpiece_studio.training.config import TrainingConfig
from wordpiece_studio.training.program import code_of, program_of, values_of

if TYPE_CHECKING:
    from tests.ui.conftest import Studio
    from wordpiece_studio.ui.panes.code_pane import CodePane


def shown_values(pane: CodePane) -> list[str]:
    """Return the values in the text, by the order of their phases."""
    code = code_of(pane._model.config.objective, pane._model.config.tie)
    lines = pane.view.text_between(0, pane.view.document().characterCount() - 1).splitlines()
    bare = code.text.splitlines()
    assert [line.split("  # ")[0] if line not in bare else line for line in lines] == bare
    return [lines[at].removeprefix(bare[at]).removeprefix("  # ") for at in code.lines if lines[at] != bare[at]]


def lit_line(pane: CodePane) -> int:
    return pane.view.textCursor().blockNumber()


def test_the_code_goes_with_the_step_and_its_phases(studio: Studio) -> None:
    window = studio.window
    pane, model, keys = window.code_pane, window.model, studio.qtbot.keyClick
    code = code_of("score", "first")
    model.seek(1)
    keys(window, Qt.Key.Key_F4)
    studio.wait(lambda: pane.isVisible() and not pane.is_stale)
    assert model.history is not None
    assert (model.step, pane.phase) == (2, 0)
    assert shown_values(pane) == list(values_of(model.history[1])[:1])
    assert lit_line(pane) == code.lines[0]
    for phase in range(1, 5):
        keys(window, Qt.Key.Key_F4)
        studio.wait(lambda: not pane.is_stale)
        assert (model.step, shown_values(pane)) == (2, list(values_of(model.history[1])[: phase + 1]))
        assert lit_line(pane) == code.lines[phase]
        assert pane.hints[0] == f"{phase + 1} of 5: {pane.hints[1]}"
        assert pane.view.viewport().rect().contains(pane.view.cursorRect())
    model.seek(5)
    studio.wait(lambda: not pane.is_stale)
    assert shown_values(pane) == list(values_of(model.history[4]))
    for wanted in ((5, 3), (5, 2), (5, 1), (5, 0), (4, 4)):
        keys(window, Qt.Key.Key_F4, Qt.KeyboardModifier.ShiftModifier)
        assert (model.step, pane.phase) == wanted
    model.last()
    assert not window.actions_.next_phase.isEnabled()
    model.seek(0)
    studio.wait(lambda: not pane.is_stale)
    assert shown_values(pane) == []
    assert not window.actions_.previous_phase.isEnabled()

    window.actions_.copy_program.trigger()
    assert QApplication.clipboard().text() == program_of(model.history, model.merge_count)
    assert pane.hints[0] == "Program copied"

    for config, note in (
        (TrainingConfig(objective="count", tie="ids", max_merges=5), ""),
        (TrainingConfig(objective="likelihood", max_token_length=4), "a maximum token length"),
    ):
        model.start(model.counts, config)
        studio.wait(lambda: model.state is TrainerState.FINISHED)
        model.last()
        studio.wait(lambda: not pane.is_stale)
        assert shown_values(pane) == list(values_of(model.history[-1]))
        assert note in pane._note.text()
        assert bool(note) == bool(pane._note.text())
        assert window.actions_.copy_program.isEnabled() == (not note)
        assert note in (window.actions_.copy_program.property("reason") or "")


def test_without_a_run_there_is_no_code(empty_studio: Studio) -> None:
    window = empty_studio.window
    with empty_studio.qtbot.waitExposed(window):
        window.show()
    window.docks.bring("code")
    empty_studio.wait(lambda: window.code_pane.isVisible() and not window.code_pane.is_stale)
    assert not window.code_pane.view.isVisible()
    for command in (window.actions_.next_phase, window.actions_.previous_phase, window.actions_.copy_program):
        assert not command.isEnabled()
