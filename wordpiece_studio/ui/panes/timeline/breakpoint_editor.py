"""The modeless breakpoint editor: a list with check boxes, and a form to enter a breakpoint."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import (
    QComboBox,
    QFrame,
    QHBoxLayout,
    QHeaderView,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from wordpiece_studio.errors import StudioError
from wordpiece_studio.session.breakpoints import KINDS, TEXT_KINDS, Breakpoint
from wordpiece_studio.ui.widgets.explained import explain
from wordpiece_studio.ui.widgets.fields import NUMBERS, line_field
from wordpiece_studio.ui.widgets.plain import plain_label, set_plain_text, whole
from wordpiece_studio.ui.widgets.quiet_table import QuietTable
from wordpiece_studio.ui.widgets.screen_room import ScreenDialog
from wordpiece_studio.ui.widgets.token_text import number_text

if TYPE_CHECKING:
    from PySide6.QtCore import QModelIndex
    from PySide6.QtGui import QKeyEvent

    from wordpiece_studio.session.breakpoints import BreakpointKind, Breakpoints
    from wordpiece_studio.session.step_marks import StepMarks


_LONGEST_TEXT = 10_000
"""The maximum length of a pattern, in characters."""


class BreakpointTable(QuietTable):
    """The list: the space bar switches a row on and off, Delete removes it."""

    removal_requested = Signal()
    """Delete was pressed."""

    def keyPressEvent(self, event: QKeyEvent) -> None:
        index = self.currentIndex().siblingAtColumn(0)
        if event.key() in (Qt.Key.Key_Delete, Qt.Key.Key_Backspace):
            self.removal_requested.emit()
        elif event.key() == Qt.Key.Key_Space and index.isValid():
            is_on = Qt.CheckState(index.data(Qt.ItemDataRole.CheckStateRole)) is Qt.CheckState.Checked
            wanted = Qt.CheckState.Unchecked if is_on else Qt.CheckState.Checked
            self.model().setData(index, wanted, Qt.ItemDataRole.CheckStateRole)
        else:
            super().keyPressEvent(event)


class BreakpointEditor(ScreenDialog):
    """Adds, changes and removes breakpoints; errors appear below the form."""

    def __init__(self, marks: StepMarks, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle(self.tr("Breakpoints"))
        explain("breakpoint", self)
        self._marks = marks
        self._table_model: Breakpoints = marks.breakpoints
        self._table = BreakpointTable(self)
        self._kind = QComboBox(self)
        self._field = line_field(self, most=_LONGEST_TEXT)
        self._add = QPushButton(self.tr("&Add"), self)
        self._change = QPushButton(self.tr("&Change"), self)
        self._remove = QPushButton(self.tr("&Remove"), self)
        self._close = QPushButton(self.tr("Close"), self)
        self._problem = plain_label("", self, role="error", wrap=True)
        self._found = plain_label("", self, role="caption", wrap=True)
        self._set_up_table()
        self._set_up_form()
        self._lay_out()
        self._connect()
        self._on_kind_changed(0)
        self._show_found()

    # -- set-up

    def _set_up_table(self) -> None:
        table = self._table
        table.setAccessibleName(self.tr("Breakpoints; the space bar switches one on and off"))
        table.setFrameShape(QFrame.Shape.StyledPanel)
        table.setModel(self._table_model)
        header = table.horizontalHeader()
        header.setSectionResizeMode(0, QHeaderView.ResizeMode.Fixed)
        header.setSectionResizeMode(1, QHeaderView.ResizeMode.Stretch)
        header.setDefaultAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
        metrics = self.fontMetrics()
        widest = max(metrics.horizontalAdvance(self._table_model.kind_text(kind)) for kind in KINDS)
        table.setColumnWidth(0, widest + 48)
        table.verticalHeader().setDefaultSectionSize(metrics.height() + 10)

    def _set_up_form(self) -> None:
        for kind in KINDS:
            self._kind.addItem(self._table_model.kind_text(kind), kind)
        self._kind.setAccessibleName(self.tr("Stop when"))
        self._field.setAccessibleName(self.tr("Token, word or number"))
        self._add.setDefault(True)
        for button in (self._change, self._remove, self._close):
            button.setAutoDefault(False)

    def _lay_out(self) -> None:
        intro = self.tr("Playing and running stop at the first step that meets one of these conditions.")
        form = QHBoxLayout()
        for widget, stretch in ((self._kind, 0), (self._field, 1), (self._add, 0)):
            form.addWidget(widget, stretch)
        bottom = QHBoxLayout()
        bottom.addWidget(self._change)
        bottom.addWidget(self._remove)
        bottom.addStretch(1)
        bottom.addWidget(self._close)
        layout = QVBoxLayout(self)
        layout.addWidget(plain_label(intro, self, role="caption", wrap=True))
        layout.addWidget(self._table, 1)
        layout.addLayout(form)
        layout.addWidget(self._problem)
        layout.addWidget(self._found)
        layout.addLayout(bottom)
        self.resize(500, 340)
        for first, second in ((self._field, self._add), (self._add, self._change), (self._change, self._remove)):
            self.setTabOrder(first, second)

    def _connect(self) -> None:
        self._kind.currentIndexChanged.connect(self._on_kind_changed)
        self._field.textChanged.connect(self._on_field_changed)
        self._add.clicked.connect(self._on_add_clicked)
        self._change.clicked.connect(self._on_change_clicked)
        self._remove.clicked.connect(self._on_remove_clicked)
        self._close.clicked.connect(self.close)
        self._table.row_chosen.connect(self._on_table_row_chosen)
        self._table.removal_requested.connect(self._on_remove_clicked)
        self._table.selectionModel().currentRowChanged.connect(self._on_table_current_row_changed)
        self._table.selectionModel().selectionChanged.connect(self._enable)
        self._marks.watch.changed.connect(self._show_found)
        self._marks.watch.faulted.connect(self._on_watch_faulted)
        self._table_model.changed.connect(self._enable)

    # -- the form

    def begin(self) -> None:
        """Show the dialog, ready for typing."""
        self.show()
        self.activateWindow()
        self._field.setFocus()

    def _typed(self) -> Breakpoint:
        """Return the breakpoint typed in; StudioError if it is not valid."""
        kind: BreakpointKind = self._kind.currentData()
        text = self._field.text()
        if kind in TEXT_KINDS:
            return Breakpoint(kind, text if kind == "pattern" else text.strip())
        number, is_number = NUMBERS.toDouble(text.strip())
        if not is_number:
            raise StudioError("This is not a number", "Type one such as {example}.", example=self._examples()[kind])
        return Breakpoint(kind, number=number)

    def _examples(self) -> dict[str, str]:
        return {"value": "0.01", "tie": "2", "size": "1000"}

    def _on_kind_changed(self, _index: int) -> None:
        hints = {
            "token": self.tr("The whole token, such as ##ing"),
            "pattern": self.tr("A pattern found in the token, such as ^##.*ing$"),
            "word": self.tr("A word as the trainer reads it"),
        }
        kind = self._kind.currentData()
        self._field.setPlaceholderText(hints.get(kind) or self.tr("A number, such as {example}").format(
            example=self._examples().get(kind, "")
        ))  # fmt: skip
        self._on_field_changed()

    def _on_field_changed(self, _text: str = "") -> None:
        problem = ""
        if self._field.text():
            try:
                self._typed()
            except StudioError as error:
                problem = str(error)
        self._say(problem)
        self._enable()

    def _say(self, problem: str) -> None:
        set_plain_text(self._problem, problem)
        self._problem.setVisible(bool(problem))
        self._field.setProperty("state", "wrong" if problem else "")
        self._field.style().unpolish(self._field)
        self._field.style().polish(self._field)

    # -- the list

    def _enable(self) -> None:
        is_good = bool(self._field.text()) and self._problem.isHidden()
        row = self._table.selected_row
        self._add.setEnabled(is_good)
        self._change.setEnabled(is_good and row >= 0)
        self._remove.setEnabled(row >= 0)

    def _on_add_clicked(self) -> None:
        row = self._table_model.add(self._typed())
        self._field.clear()
        self._table.scrollTo(self._table_model.index(row, 0))
        self._field.setFocus()

    def _on_change_clicked(self) -> None:
        row = self._table.selected_row
        if row >= 0:
            self._table_model.replace(row, self._typed())

    def _on_remove_clicked(self) -> None:
        row = self._table.selected_row
        if row >= 0:
            self._table_model.remove(row)
            self._enable()

    def _on_table_row_chosen(self, _row: int) -> None:
        self._on_table_current_row_changed(self._table.currentIndex())

    def _on_table_current_row_changed(self, current: QModelIndex, _previous: QModelIndex | None = None) -> None:
        if current.isValid():
            each = self._table_model.all[current.row()]
            self._kind.setCurrentIndex(KINDS.index(each.kind))
            self._field.setText(whole(str(self._table_model.index(current.row(), 1).data())))
        self._enable()

    # -- what is found

    def _show_found(self) -> None:
        watch = self._marks.watch
        if not watch.is_set:
            text = (
                self.tr("No breakpoint is set.")
                if not self._table_model.all
                else self.tr("All breakpoints are switched off.")
            )
        elif watch.is_searching:
            text = self.tr("Searching…")
        else:
            text = self.tr("Steps hit in this run: {count}").format(count=number_text(len(watch.steps)))
        set_plain_text(self._found, text)

    def _on_watch_faulted(self, _breakpoint: object, error: StudioError) -> None:
        self._say(str(error))
        self._show_found()
