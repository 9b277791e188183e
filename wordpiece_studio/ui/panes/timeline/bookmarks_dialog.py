"""The bookmarks in a modeless dialog: bookmarked steps to go back to, compare, edit and delete."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QPalette
from PySide6.QtWidgets import (
    QAbstractItemView,
    QDialogButtonBox,
    QFrame,
    QHBoxLayout,
    QHeaderView,
    QLineEdit,
    QPushButton,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QVBoxLayout,
    QWidget,
)

from wordpiece_studio.session.step_marks import COMPARE, one_line
from wordpiece_studio.ui.widgets.explained import explain
from wordpiece_studio.ui.widgets.fields import limit, line_field
from wordpiece_studio.ui.widgets.plain import plain_label, set_plain_text
from wordpiece_studio.ui.widgets.quiet_table import QuietTable
from wordpiece_studio.ui.widgets.screen_room import ScreenDialog
from wordpiece_studio.ui.widgets.token_text import number_text

if TYPE_CHECKING:
    from PySide6.QtCore import QModelIndex
    from PySide6.QtGui import QKeyEvent

    from wordpiece_studio.session.step_marks import Bookmark, Bookmarks
    from wordpiece_studio.session.table_model import Index
    from wordpiece_studio.ui.actions import Actions
    from wordpiece_studio.ui.widgets.theme import Theme


_BETWEEN_NOTES = 8  # pixels


class KeepDialog(ScreenDialog):
    """Asks for the note of a bookmark, one line of text."""

    text_chosen = Signal(object)
    """The note (str), when the dialog was accepted."""

    def __init__(self, step: int, text: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle(self.tr("Bookmark this step"))
        explain("bookmark", self)
        self._field = line_field(self, text)
        self._field.setAccessibleName(self.tr("Note for this step"))
        self._field.selectAll()
        standard = QDialogButtonBox.StandardButton
        buttons = QDialogButtonBox(standard.Ok | standard.Cancel, self)
        buttons.button(standard.Ok).setText(self.tr("&Add bookmark"))
        buttons.accepted.connect(self.accept)
        buttons.rejected.connect(self.reject)
        layout = QVBoxLayout(self)
        layout.addWidget(plain_label(self.tr("Note for step {step}").format(step=number_text(step)), self))
        layout.addWidget(self._field)
        layout.addWidget(buttons)
        self.resize(420, self.sizeHint().height())

    def accept(self) -> None:
        """Emit the note and close."""
        self.text_chosen.emit(one_line(self._field.text()))
        super().accept()


class NoteDelegate(QStyledItemDelegate):
    """Draws bookmarks of another run faint."""

    def __init__(self, bookmarks: Bookmarks, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self._bookmarks = bookmarks
        self._theme = theme

    def initStyleOption(self, option: QStyleOptionViewItem, index: Index) -> None:
        super().initStyleOption(option, index)
        if not self._bookmarks.is_of_run(self._bookmarks.notes[index.row()]):
            for role in (QPalette.ColorRole.Text, QPalette.ColorRole.HighlightedText):
                option.palette.setColor(role, self._theme.faint)

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        return super().sizeHint(option, index) + QSize(0, _BETWEEN_NOTES)

    def createEditor(self, parent: QWidget, option: QStyleOptionViewItem, index: Index) -> QWidget:
        editor = super().createEditor(parent, option, index)
        if isinstance(editor, QLineEdit):
            limit(editor, str(index.data()))
        return editor


class BookmarksTable(QuietTable):
    """The bookmarks: a click or Enter goes to the step, the space bar compares it, F2 edits it, Delete deletes it."""

    removal_requested = Signal()
    """Delete was pressed."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        trigger = QAbstractItemView.EditTrigger
        self.setEditTriggers(trigger.EditKeyPressed | trigger.DoubleClicked)

    def edit_current(self) -> None:
        """Edit the note of the current row, unless it is already being edited."""
        index, states = self.currentIndex(), QAbstractItemView.State
        if index.isValid() and self.state() != states.EditingState:
            self.edit(index.siblingAtColumn(1))

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Delete:
            self.removal_requested.emit()
        elif event.key() == Qt.Key.Key_F2:
            self.edit_current()
        elif event.key() == Qt.Key.Key_Space and self.currentIndex().isValid():
            self._switch(self.currentIndex().siblingAtColumn(COMPARE))
        else:
            super().keyPressEvent(event)

    def _switch(self, index: Index) -> None:
        state = index.data(Qt.ItemDataRole.CheckStateRole)
        if state is not None:  # bookmarks of other runs have no box
            is_on = Qt.CheckState(state) is Qt.CheckState.Checked
            wanted = Qt.CheckState.Unchecked if is_on else Qt.CheckState.Checked
            self.model().setData(index, wanted, Qt.ItemDataRole.CheckStateRole)

    def _on_self_clicked(self, index: QModelIndex) -> None:
        if index.column() != COMPARE:
            super()._on_self_clicked(index)


class BookmarksDialog(ScreenDialog):
    """Shows the bookmarks."""

    note_chosen = Signal(object)
    """The user wants to go to this `Bookmark`."""

    def __init__(self, bookmarks: Bookmarks, actions: Actions, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle(self.tr("Bookmarks"))
        explain("bookmark", self)
        self._bookmarks = bookmarks
        self._table = BookmarksTable(self)
        self._table.setItemDelegate(NoteDelegate(bookmarks, theme, self._table))
        self._empty = plain_label("", self, role="caption", wrap=True)
        self._keep = QPushButton(actions.keep_step.text(), self)
        self._edit = QPushButton(self.tr("&Edit"), self)
        self._remove = QPushButton(self.tr("&Delete"), self)
        self._close = QPushButton(self.tr("Close"), self)
        self._set_up_table()
        self._lay_out()
        self._keep.clicked.connect(actions.keep_step.trigger)
        self._edit.clicked.connect(self._table.edit_current)
        self._remove.clicked.connect(self._on_remove_clicked)
        self._close.clicked.connect(self.close)
        self._table.row_chosen.connect(self._on_table_row_chosen)
        self._table.removal_requested.connect(self._on_remove_clicked)
        self._table.selectionModel().selectionChanged.connect(self._enable)
        bookmarks.changed.connect(self._enable)
        self._enable()

    def begin(self) -> None:
        """Show the dialog with the keyboard focus in the list."""
        self.show()
        self.activateWindow()
        (self._table if self._bookmarks.notes else self._keep).setFocus()

    def select_row(self, row: int) -> None:
        self._table.setCurrentIndex(self._bookmarks.index(row, 0))

    def _set_up_table(self) -> None:
        table, metrics = self._table, self.fontMetrics()
        table.setAccessibleName(
            self.tr("Bookmarked steps; Enter goes there, the space bar compares, F2 edits the note")
        )
        table.setFrameShape(QFrame.Shape.StyledPanel)
        table.setModel(self._bookmarks)
        header = table.horizontalHeader()
        header.setSectionResizeMode(0, QHeaderView.ResizeMode.Fixed)
        header.setSectionResizeMode(1, QHeaderView.ResizeMode.Stretch)
        header.setDefaultAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
        header.setSectionResizeMode(COMPARE, QHeaderView.ResizeMode.ResizeToContents)
        table.setColumnWidth(0, metrics.horizontalAdvance("8,888,888") + 20)
        table.setWordWrap(True)  # a note may be some sentences long
        table.verticalHeader().setSectionResizeMode(QHeaderView.ResizeMode.ResizeToContents)
        table.verticalHeader().setMinimumSectionSize(metrics.height() + 10)

    def _lay_out(self) -> None:
        buttons = QHBoxLayout()
        for button in (self._keep, self._edit, self._remove):
            button.setAutoDefault(False)
            buttons.addWidget(button)
        buttons.addStretch(1)
        buttons.addWidget(self._close)
        self._close.setAutoDefault(False)
        layout = QVBoxLayout(self)
        layout.addWidget(self._empty)
        layout.addWidget(self._table, 1)
        layout.addLayout(buttons)
        self.resize(620, 380)

    def _enable(self) -> None:
        notes = self._bookmarks.notes
        text = self.tr("Click a bookmark or press Enter to go to its step; select its checkbox to compare it with the "
                       "current step. Dimmed bookmarks belong to another run.")  # fmt: skip
        if not notes:
            text = self.tr("No bookmarks yet. Go to a step worth coming back to, and bookmark it.")
        set_plain_text(self._empty, text)
        has_row = self._table.selected_row >= 0
        self._edit.setEnabled(has_row)
        self._remove.setEnabled(has_row)

    def _on_table_row_chosen(self, row: int) -> None:
        note: Bookmark = self._bookmarks.notes[row]
        self.note_chosen.emit(note)

    def _on_remove_clicked(self) -> None:
        row = self._table.selected_row
        if row >= 0:
            self._bookmarks.remove(row)
