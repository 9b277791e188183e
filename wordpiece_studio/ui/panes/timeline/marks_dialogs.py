"""The dialogs about marks on steps: one asks for the note of a bookmark, one lists bookmarks and breakpoints."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace
from PySide6.QtCore import QCoreApplication, QObject, Qt, Signal
from PySide6.QtWidgets import QAbstractItemView, QFrame, QHBoxLayout, QPushButton, QVBoxLayout, QWidget

from wordpiece_studio.errors import StudioError
from wordpiece_studio.session.plural import filled
from wordpiece_studio.session.step_marks import Bookmarks, Breakpoints, StepMarks
from wordpiece_studio.session.table_model import LEFT, RecordTableModel, TableColumn, each_row
from wordpiece_studio.storage.view import KINDS, TEXT_KINDS, Bookmark, Breakpoint, BreakpointKind
from wordpiece_studio.ui.widgets.fields import NUMBERS, ScreenDialog, combo_box, line_field, show_problem
from wordpiece_studio.ui.widgets.pane import fill
from wordpiece_studio.ui.widgets.plain import WholeLabel, plain_label, set_plain_text
from wordpiece_studio.ui.widgets.table import RowLook, TableView

if TYPE_CHECKING:
    from collections.abc import Callable

    from wordpiece_studio.ui.actions import Actions
    from wordpiece_studio.ui.widgets.theme import Theme

_tr = partial(QCoreApplication.translate, "marks")
_LONGEST_TEXT = 10_000  # the maximum length of a pattern, in characters
_EXAMPLES = {"value": "0.01", "tie": "2", "size": "1000"}


def typed_breakpoint(kind: BreakpointKind, text: str) -> Breakpoint:
    """Return the breakpoint of a kind that was typed in; StudioError if it is not valid."""
    if kind in TEXT_KINDS:
        return Breakpoint(kind, text if kind == "pattern" else text.strip())
    number, is_number = NUMBERS.toDouble(text.strip())
    if not is_number:
        raise StudioError("This is not a number", "Type one such as {example}.", example=_EXAMPLES[kind])
    return Breakpoint(kind, number=number)


class MarksTable(RecordTableModel["Bookmark | Breakpoint"]):
    """The bookmarks in order of step, then the breakpoints; a box compares the one and switches on the other.

    `refuse` is told what is wrong with a text that was typed into a row.
    """

    def __init__(self, marks: StepMarks, refuse: Callable[[str], object], parent: QObject | None = None) -> None:
        super().__init__(parent=parent)
        self._marks, self._refuse = marks, refuse
        self.columns = (
            TableColumn(_tr("Step or condition"), each_row(self._where), align=LEFT,
                        width=lambda measure, _marks: max(measure.contents, measure.title + 20)),
            TableColumn(_tr("Note or value"), each_row(self._text), align=LEFT, stretch=1,
                        edit=lambda _marks, row, text: self._set_text(row, text)),
            self._boxes(_tr("Compare"), "comparison",
                        lambda mark: marks.bookmarks.is_compared(mark) if isinstance(mark, Bookmark) else None),
            self._boxes(_tr("Stop"), "breakpoint", lambda mark: getattr(mark, "is_enabled", None)),
        )  # fmt: skip
        for each in (marks.bookmarks, marks.breakpoints):
            each.changed.connect(self._show)
        self._show()

    def place(self, row: int) -> tuple[Bookmarks | Breakpoints, int]:
        """Return what a row is one of, and which one of them."""
        notes, breakpoints = self._marks.bookmarks, self._marks.breakpoints
        return (notes, row) if row < len(notes.records) else (breakpoints, row - len(notes.records))

    def _show(self) -> None:
        self.update_records([*self._marks.bookmarks.records, *self._marks.breakpoints.records])

    def _where(self, mark: Bookmark | Breakpoint) -> str:
        if isinstance(mark, Breakpoint):
            return self._marks.breakpoints.kind_text(mark.kind)
        return filled(_tr("Step {step}"), step=mark.step)

    def _text(self, mark: Bookmark | Breakpoint) -> str:
        return mark.text if isinstance(mark, Bookmark) or mark.kind in TEXT_KINDS else f"{mark.number:,.15g}"

    def _boxes(self, title: str, entry: str, check: Callable[[Any], bool | None]) -> TableColumn[Any]:
        return TableColumn(
            title, lambda _marks, _row: "", align=LEFT, entry=entry, width=lambda measure, _marks: measure.contents,
            check=each_row(check), switch=lambda _marks, row, is_on: self._switch(row, is_on),
        )  # fmt: skip

    def _switch(self, row: int, is_on: bool) -> None:
        marks, at = self.place(row)
        (marks.set_compared if isinstance(marks, Bookmarks) else marks.enable)(at, is_on)

    def _set_text(self, row: int, text: str) -> None:
        marks, at = self.place(row)
        if isinstance(marks, Bookmarks):
            marks.set_text(at, text)
            return
        try:
            typed = typed_breakpoint(marks.records[at].kind, text)
        except StudioError as error:
            self._refuse(str(error))
        else:
            marks.replace(at, replace(typed, is_enabled=marks.records[at].is_enabled))


class MarksDialog(ScreenDialog):
    """Bookmarks to go back to, compare, edit and delete, and breakpoints, which can be added; it is modeless."""

    step_chosen = Signal(object)

    def __init__(self, marks: StepMarks, actions: Actions, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(_tr("Bookmarks and breakpoints"), parent, entry="bookmark")
        self._watch, self._marks = marks.watch, marks
        self.problem = WholeLabel(self, role="error")
        self.rows = MarksTable(marks, self.problem.show_text, self)
        self._table = TableView(
            self.rows, theme, self, row_room=10, padding=3, wraps=True, look=each_row(self._look),
            name=_tr("Bookmarks and breakpoints; Enter goes to a bookmark, the space bar compares it or switches a "
                     "breakpoint on or off, F2 edits"),
            keys={Qt.Key.Key_Delete: self._remove_current, Qt.Key.Key_F2: self._edit_current},
        )  # fmt: skip
        self._table.setFrameShape(QFrame.Shape.StyledPanel)
        trigger = QAbstractItemView.EditTrigger
        self._table.setEditTriggers(trigger.EditKeyPressed | trigger.DoubleClicked)
        self._table.item_chosen.connect(self._on_item_chosen)
        self._table.selectionModel().selectionChanged.connect(self._enable)
        self.intro = plain_label("", self, role="caption", wrap=True)
        self._kind = combo_box(self, self.tr("Stop when"))
        for kind in KINDS:
            self._kind.addItem(marks.breakpoints.kind_text(kind), kind)
        self._field = line_field(self, name=self.tr("Token, word or number"), most=_LONGEST_TEXT)
        self._add = self._button(self.tr("&Add breakpoint"), self._add_typed)
        self._add.setAutoDefault(True)
        self._add.setDefault(True)
        self._found = plain_label("", self, role="caption", wrap=True)
        form = fill(QHBoxLayout(), self._kind, (self._field, 1), self._add, spacing=-1)
        keep = self._button(actions.keep_step.text(), actions.keep_step.trigger)
        self._edit = self._button(self.tr("&Edit"), self._edit_current)
        self._remove = self._button(self.tr("&Delete"), self._remove_current)
        self._close = self._button(self.tr("Close"), self.close)
        foot = fill(QHBoxLayout(), keep, self._edit, self._remove, 1, self._close, spacing=-1)
        parts = self.intro, (self._table, 1), form, self.problem, self._found, foot
        fill(QVBoxLayout(self), *parts, margins=None, spacing=-1)
        self.size_to(88, 23)
        self._kind.currentIndexChanged.connect(self._show_kind)
        self._field.textChanged.connect(self._check)
        for changed in (marks.bookmarks.changed, marks.breakpoints.changed):
            changed.connect(self._check)  # what was wrong with a row may be right now
        for changed in (marks.bookmarks.changed, marks.breakpoints.changed, self._watch.changed):
            changed.connect(self._show)
        self._watch.faulted.connect(lambda error: self.problem.show_text(str(error)))
        self._show_kind()
        self._show()

    def _button(self, text: str, act: Callable[[], object]) -> QPushButton:
        button = QPushButton(text, self, autoDefault=False)
        button.clicked.connect(act)
        return button

    def begin(self) -> None:
        super().begin()
        (self._table if self._marks.bookmarks.records else self._field).setFocus()

    def select_row(self, row: int) -> None:
        self._table.setCurrentIndex(self.rows.index(row, 0))

    def _look(self, mark: Bookmark | Breakpoint) -> RowLook:
        is_faint = isinstance(mark, Bookmark) and not self._marks.bookmarks.is_of_run(mark)
        return RowLook(ink="faint" if is_faint else "")

    def _on_item_chosen(self, row: int) -> None:
        mark = self.rows.records[row]
        if isinstance(mark, Bookmark):
            self.step_chosen.emit(mark.step)

    def _edit_current(self) -> None:
        index = self._table.currentIndex()
        if index.isValid() and self._table.state() != QAbstractItemView.State.EditingState:
            self._table.edit(index.siblingAtColumn(1))

    def _remove_current(self) -> None:
        row = self._table.selected_row
        if row >= 0:
            marks, at = self.rows.place(row)
            marks.remove(at)

    # -- the form

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
        text, problem = self._field.text(), ""
        if text:
            try:
                typed_breakpoint(self._kind.currentData(), text)
            except StudioError as error:
                problem = str(error)
        show_problem(self._field, self.problem, problem)
        self._add.setEnabled(bool(text) and not problem)

    def _add_typed(self) -> None:
        at = self._marks.breakpoints.add(typed_breakpoint(self._kind.currentData(), self._field.text()))
        self._field.clear()
        self._table.scrollTo(self.rows.index(len(self._marks.bookmarks.records) + at, 0))
        self._field.setFocus()

    # -- what can be done, and what is found

    def _enable(self) -> None:
        for button in (self._edit, self._remove):
            button.setEnabled(self._table.selected_row >= 0)

    def _show(self) -> None:
        text = self.tr("Click a bookmark or press Enter to go to its step; select its checkbox to compare it with the "
                       "current step. Dimmed bookmarks belong to another run.")  # fmt: skip
        if not self._marks.bookmarks.records:
            text = self.tr("No bookmarks yet. Go to a step worth coming back to, and bookmark it.")
        set_plain_text(self.intro, text)
        text = self.tr("Playing and running stop at the first step that meets a breakpoint that is on.")
        if self._watch.is_set:
            text = filled(self.tr("Steps hit in this run: {count}"), count=len(self._watch.steps))
        if self._watch.is_set and self._watch.is_searching:
            text = self.tr("Searching…")
        set_plain_text(self._found, text)
        self._table.viewport().update()  # a mark that has not changed may belong to the current run only now
        self._enable()
