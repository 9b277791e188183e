"""The dialogs about marks on steps: the bookmarks, to go back to, compare, edit and delete; and the breakpoints."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QCoreApplication, QSize, Qt
from PySide6.QtWidgets import (
    QAbstractItemView,
    QFrame,
    QHBoxLayout,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from wordpiece_studio.errors import StudioError
from wordpiece_studio.session.table_model import each_row
from wordpiece_studio.storage.view import KINDS, TEXT_KINDS, Breakpoint, BreakpointKind
from wordpiece_studio.ui.widgets.fields import (
    NUMBERS,
    LineDialog,
    ScreenDialog,
    combo_box,
    line_field,
    offer,
    show_problem,
)
from wordpiece_studio.ui.widgets.pane import fill
from wordpiece_studio.ui.widgets.plain import WholeLabel, plain_label, set_plain_text, whole
from wordpiece_studio.ui.widgets.table import RowLook, TableView
from wordpiece_studio.ui.widgets.token_text import number_text

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from wordpiece_studio.session.step_marks import Bookmarks, MarksModel, StepMarks
    from wordpiece_studio.storage.view import Bookmark
    from wordpiece_studio.ui.actions import Actions
    from wordpiece_studio.ui.widgets.theme import Theme

_tr = partial(QCoreApplication.translate, "marks")
_LONGEST_TEXT = 10_000
"""The maximum length of a pattern, in characters."""


class KeepDialog(LineDialog):
    def __init__(self, step: int, text: str, parent: QWidget | None = None) -> None:
        label = self.tr("Note for step {step}").format(step=number_text(step))
        super().__init__(
            self.tr("Bookmark this step"), label, text, parent, name=self.tr("Note for this step"),
            accept=self.tr("&Add bookmark"), entry="bookmark", width=420,
        )  # fmt: skip


class MarksDialog(ScreenDialog):
    """A table of marks above buttons, of which one removes the selected mark."""

    def __init__(
        self, title: str, entry: str, marks: MarksModel[Any], theme: Theme, parent: QWidget | None, **table: Any
    ) -> None:
        super().__init__(title, parent, entry=entry)
        self._marks = marks
        self._table = TableView(marks, theme, self, row_room=10, padding=3, **table)
        self._table.setFrameShape(QFrame.Shape.StyledPanel)
        self._table.selectionModel().selectionChanged.connect(self._enable)
        marks.changed.connect(self._enable)

    def _button(self, text: str, act: Callable[[], object]) -> QPushButton:
        button = QPushButton(text, self, autoDefault=False)
        button.clicked.connect(act)
        return button

    def _lay_out(self, *parts: Any, buttons: Sequence[QPushButton], remove_text: str, size: QSize) -> None:
        self._remove = self._button(remove_text, self._remove_current)
        self._close = self._button(self.tr("Close"), self.close)
        row = fill(QHBoxLayout(), *buttons, self._remove, 1, self._close, spacing=-1)
        fill(QVBoxLayout(self), *parts, row, margins=None, spacing=-1)
        self.resize(size)
        self._enable()

    def begin(self) -> None:
        super().begin()
        self._first_part().setFocus()

    def _first_part(self) -> QWidget:
        raise NotImplementedError

    def _enable(self) -> None:
        raise NotImplementedError

    def _remove_current(self) -> None:
        row = self._table.selected_row
        if row >= 0:
            self._marks.remove(row)


class BookmarksDialog(MarksDialog):
    def __init__(self, bookmarks: Bookmarks, actions: Actions, theme: Theme, parent: QWidget | None = None) -> None:
        self.bookmarks = bookmarks
        super().__init__(
            _tr("Bookmarks"), "bookmark", bookmarks, theme, parent,
            name=_tr("Bookmarked steps; Enter goes there, the space bar compares, F2 edits the note"), wraps=True,
            look=each_row(self._look),
            keys={Qt.Key.Key_Delete: self._remove_current, Qt.Key.Key_F2: self._edit_current},
        )  # fmt: skip
        trigger = QAbstractItemView.EditTrigger
        self._table.setEditTriggers(trigger.EditKeyPressed | trigger.DoubleClicked)
        self.row_chosen = self._table.item_chosen
        self.empty = plain_label("", self, role="caption", wrap=True)
        self._keep = self._button(actions.keep_step.text(), actions.keep_step.trigger)
        self._edit = self._button(self.tr("&Edit"), self._edit_current)
        buttons = self._keep, self._edit
        self._lay_out(
            self.empty, (self._table, 1), buttons=buttons, remove_text=self.tr("&Delete"), size=QSize(620, 380)
        )

    def _first_part(self) -> QWidget:
        return self._table if self.bookmarks.notes else self._keep

    def select_row(self, row: int) -> None:
        self._table.setCurrentIndex(self.bookmarks.index(row, 0))

    def _edit_current(self) -> None:
        index = self._table.currentIndex()
        if index.isValid() and self._table.state() != QAbstractItemView.State.EditingState:
            self._table.edit(index.siblingAtColumn(1))

    def _look(self, note: Bookmark) -> RowLook:
        return RowLook(ink="" if self.bookmarks.is_of_run(note) else "faint")

    def _enable(self) -> None:
        text = self.tr("No bookmarks yet. Go to a step worth coming back to, and bookmark it.")
        if self.bookmarks.notes:
            text = self.tr("Click a bookmark or press Enter to go to its step; select its checkbox to compare it with "
                           "the current step. Dimmed bookmarks belong to another run.")  # fmt: skip
        set_plain_text(self.empty, text)
        for button in (self._edit, self._remove):
            button.setEnabled(self._table.selected_row >= 0)


_EXAMPLES = {"value": "0.01", "tie": "2", "size": "1000"}


class BreakpointEditor(MarksDialog):
    """Adds, changes and removes breakpoints, in a modeless dialog; errors appear below the form."""

    def __init__(self, marks: StepMarks, theme: Theme, parent: QWidget | None = None) -> None:
        self._watch = marks.watch
        self._breakpoints = marks.breakpoints
        super().__init__(
            _tr("Breakpoints"), "breakpoint", marks.breakpoints, theme, parent,
            name=_tr("Breakpoints; the space bar switches one on and off"),
            keys=dict.fromkeys((Qt.Key.Key_Delete, Qt.Key.Key_Backspace), self._remove_current),
        )  # fmt: skip
        self._kind = combo_box(self, self.tr("Stop when"))
        offer(self._kind, [(marks.breakpoints.kind_text(kind), kind) for kind in KINDS], KINDS[0])
        self._field = line_field(self, name=self.tr("Token, word or number"), most=_LONGEST_TEXT)
        self._add = self._button(self.tr("&Add"), self._add_typed)
        self._add.setAutoDefault(True)
        self._add.setDefault(True)
        self._change = self._button(self.tr("&Change"), self._change_current)
        self.problem = WholeLabel(self, role="error")
        self._found = plain_label("", self, role="caption", wrap=True)
        text = self.tr("Playing and running stop at the first step that meets one of these conditions.")
        intro = plain_label(text, self, role="caption", wrap=True)
        form = fill(QHBoxLayout(), self._kind, (self._field, 1), self._add, spacing=-1)
        parts = intro, (self._table, 1), form, self.problem, self._found
        self._lay_out(*parts, buttons=[self._change], remove_text=self.tr("&Remove"), size=QSize(500, 340))
        self._kind.currentIndexChanged.connect(self._show_kind)
        self._field.textChanged.connect(self._check)
        self._table.item_chosen.connect(self._show_row)
        self._table.selectionModel().currentRowChanged.connect(lambda current: self._show_row(current.row()))
        self._watch.changed.connect(self._show_found)
        self._watch.faulted.connect(self._on_watch_faulted)
        self._show_kind()
        self._show_found()

    # -- the form

    def _first_part(self) -> QWidget:
        return self._field

    def _typed(self) -> Breakpoint:
        """Return the breakpoint typed in; StudioError if it is not valid."""
        kind: BreakpointKind = self._kind.currentData()
        text = self._field.text()
        if kind in TEXT_KINDS:
            return Breakpoint(kind, text if kind == "pattern" else text.strip())
        number, is_number = NUMBERS.toDouble(text.strip())
        if not is_number:
            raise StudioError("This is not a number", "Type one such as {example}.", example=_EXAMPLES[kind])
        return Breakpoint(kind, number=number)

    def _show_kind(self) -> None:
        hints = {
            "token": self.tr("The whole token, such as ##ing"),
            "pattern": self.tr("A pattern found in the token, such as ^##.*ing$"),
            "word": self.tr("A word as the trainer reads it"),
        }
        kind = self._kind.currentData()
        number = self.tr("A number, such as {example}").format(example=_EXAMPLES.get(kind, ""))
        self._field.setPlaceholderText(hints.get(kind, number))
        self._check()

    def _check(self) -> None:
        problem = ""
        if self._field.text():
            try:
                self._typed()
            except StudioError as error:
                problem = str(error)
        self._say(problem)
        self._enable()

    def _say(self, problem: str) -> None:
        show_problem(self._field, self.problem, problem)

    # -- the list

    def _enable(self) -> None:
        is_good = bool(self._field.text()) and self.problem.isHidden()
        row = self._table.selected_row
        self._add.setEnabled(is_good)
        self._change.setEnabled(is_good and row >= 0)
        self._remove.setEnabled(row >= 0)

    def _add_typed(self) -> None:
        row = self._breakpoints.add(self._typed())
        self._field.clear()
        self._table.scrollTo(self._breakpoints.index(row, 0))
        self._field.setFocus()

    def _change_current(self) -> None:
        row = self._table.selected_row
        if row >= 0:
            self._breakpoints.replace(row, self._typed())

    def _show_row(self, row: int) -> None:
        if row >= 0:
            self._kind.setCurrentIndex(KINDS.index(self._breakpoints.all[row].kind))
            self._field.setText(whole(str(self._breakpoints.index(row, 1).data())))
        self._enable()

    # -- what is found

    def _show_found(self) -> None:
        if not self._breakpoints.all:
            text = self.tr("No breakpoint is set.")
        elif not self._watch.is_set:
            text = self.tr("All breakpoints are switched off.")
        elif self._watch.is_searching:
            text = self.tr("Searching…")
        else:
            text = self.tr("Steps hit in this run: {count}").format(count=number_text(len(self._watch.steps)))
        set_plain_text(self._found, text)

    def _on_watch_faulted(self, error: StudioError) -> None:
        self._say(str(error))
        self._show_found()
