"""The code: the definition of training as text, with the line of the present phase lit and what it finds beside it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtGui import QTextCursor, QTextFormat
from PySide6.QtWidgets import QHBoxLayout, QTextEdit, QToolButton, QVBoxLayout, QWidget

from wordpiece_studio.session.history_table import value_name
from wordpiece_studio.session.plural import filled
from wordpiece_studio.training.program import PHASES, beyond_definition, code_of, values_of
from wordpiece_studio.ui.widgets.pane import EmptyState, Pane, fill
from wordpiece_studio.ui.widgets.plain import ExactEdit, WholeLabel, whole
from wordpiece_studio.ui.widgets.token_text import token_text

if TYPE_CHECKING:
    from wordpiece_studio.session.trainer_model import TrainerModel
    from wordpiece_studio.ui.actions import Actions
    from wordpiece_studio.ui.widgets.theme import Theme

_GAP = 2  # spaces before the values
_LONGEST = 300  # characters of a value


class CodePane(Pane):
    """Shows the merge of the step, as far as the phase that commands choose: at first to its end."""

    def __init__(self, model: TrainerModel, actions: Actions, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(model, parent)
        self._theme = theme
        self.phase = PHASES - 1
        self.view = ExactEdit(self, readOnly=True, undoRedoEnabled=False, tabChangesFocus=True)
        self.view.setAccessibleName(self.tr("Code"))
        self._note = WholeLabel(self, role="hint")
        self._note.setContentsMargins(14, 0, 14, 0)
        self._empty = EmptyState(self)
        self.header = QWidget(self)
        row = fill(QHBoxLayout(self.header), spacing=4)
        for action in (actions.previous_phase, actions.next_phase, actions.copy_program):
            button = QToolButton(self.header)
            button.setDefaultAction(action)
            row.addWidget(button)
        fill(QVBoxLayout(self), self._note, (self._empty, 1), (self.view, 100), margins=(1, 4, 1, 2), spacing=4)
        self.follow(model.step_changed, model.state_changed, model.merges_appended)
        theme.dress(self._restyle)

    def show_phase(self, phase: int) -> None:
        self.phase = phase
        self.refresh_soon()

    def refresh(self) -> None:
        history, config, step = self._model.history, self._model.config, self._model.step
        text = "" if history is not None else self.tr("Nothing has been trained yet. Train to see the code of a merge.")
        if history is not None and not history.has_steps:
            text = self.tr("This run has no record of merges: it was trained with another library, extended or pruned.")
        self._empty.replace(self.view, text)
        self._note.show_text("")
        if text or history is None or config is None:
            self.set_heading()
            return
        if beyond := beyond_definition(config):
            self._note.show_text(filled(self.tr("The plain definition; this run also has {beyond}."), beyond=beyond))
        code = code_of(config.objective, config.tie)
        values = values_of(history[step - 1], is_chosen=step in config.choices)[: self.phase + 1] if step else ()
        lines = code.text.splitlines()
        places = []  # of the values: their lines, and where they begin
        for at, value in zip(code.lines, values, strict=False):
            places.append((at, len(lines[at]) + _GAP))
            lines[at] += f"{' ' * _GAP}# {token_text(value, _LONGEST)}"
        self.view.setPlainText(whole("\n".join(lines)))
        self._light(places)
        self._show_phase_name(config.objective)

    def _show_phase_name(self, objective: str) -> None:
        names = (
            self.tr("count pairs"), self.tr("count symbols"), value_name(objective).lower(), self.tr("best pair"),
            self.tr("merge"),
        )  # fmt: skip
        if not self._model.step:
            self.set_heading(self.tr("Before the first merge"), "")
            return
        name, number = names[self.phase], self.phase + 1
        self.set_heading(filled(self.tr("{number} of {all}: {name}"), number=number, all=PHASES, name=name), name, "")

    def _light(self, places: list[tuple[int, int]]) -> None:
        """Light the line of the last value, and scroll to it; those before it have only their values colored."""
        marks = []
        lit = [(line, 0) for line, _ in places[-1:]]
        for line, begin in (*lit, *places):
            mark = QTextEdit.ExtraSelection()
            mark.cursor = QTextCursor(self.view.document().findBlockByNumber(line))
            if begin:
                mark.format.setForeground(self._theme.accent_ink)
                mark.cursor.movePosition(QTextCursor.MoveOperation.Right, n=begin)
                mark.cursor.movePosition(QTextCursor.MoveOperation.EndOfBlock, QTextCursor.MoveMode.KeepAnchor)
            else:
                self.view.setTextCursor(mark.cursor)
                mark.format.setBackground(self._theme.accent_soft)
                mark.format.setProperty(QTextFormat.Property.FullWidthSelection, True)
            marks.append(mark)
        self.view.setExtraSelections(marks)
        self.view.centerCursor()

    def _restyle(self) -> None:
        self.view.setFont(self._theme.mono_font(-1))
        self.refresh_later()
