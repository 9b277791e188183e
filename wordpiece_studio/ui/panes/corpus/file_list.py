"""The table of corpus files: its appearance, and the keys and drops it accepts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QEvent, QItemSelection, QItemSelectionModel, Qt, Signal
from PySide6.QtGui import QHelpEvent
from PySide6.QtWidgets import QAbstractItemView, QHeaderView, QStyledItemDelegate, QStyleOptionViewItem, QToolTip

from wordpiece_studio.session.file_rows import FileRow, FileState
from wordpiece_studio.session.file_table import FileColumn, FileTable
from wordpiece_studio.ui.panes.corpus.file_drops import FileDrops
from wordpiece_studio.ui.widgets.plain import tooltip_text
from wordpiece_studio.ui.widgets.quiet_table import QuietTable

if TYPE_CHECKING:
    from collections.abc import Iterable

    from PySide6.QtCore import QModelIndex, QPersistentModelIndex
    from PySide6.QtGui import QKeyEvent
    from PySide6.QtWidgets import QWidget

    from wordpiece_studio.ui.widgets.theme import Theme

    Index = QModelIndex | QPersistentModelIndex

_WIDTHS = {
    FileColumn.STATE: 2, FileColumn.SIZE: 7, FileColumn.WORDS: 12, FileColumn.DISTINCT: 10, FileColumn.ENCODING: 8,
    FileColumn.LINES: 10, FileColumn.KIND: 9,
}  # fmt: skip
"""In characters of average width; the name takes the rest."""
_LEAST_NAME = 14
_WIDE_ENCODING = 21
"""The width for a guessed encoding, where there is room."""


class FileList(QuietTable):
    """Shows a :class:`FileTable`; several files can be selected."""

    removal_wanted = Signal()
    """The user asks to remove the selected files from the list."""
    move_wanted = Signal(object)
    """The user asks to move the selected files up (-1) or down (1), an int."""
    selection_changed = Signal()
    """The selected files have changed."""

    def __init__(self, table: FileTable, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._table = table
        self._theme = theme
        self.setModel(table)
        self.setSelectionMode(QAbstractItemView.SelectionMode.ExtendedSelection)
        self.setAccessibleName(self.tr("Files of the corpus"))
        self.setItemDelegate(_FileDelegate(table, theme, self))
        self.drops = FileDrops(self)
        header = self.horizontalHeader()
        header.setSectionResizeMode(QHeaderView.ResizeMode.Interactive)
        header.setDefaultAlignment(Qt.AlignmentFlag.AlignLeft)
        self.selectionModel().selectionChanged.connect(self._on_selection_changed)
        theme.changed.connect(self.on_theme_changed)
        self.restyle()

    @property
    def selected(self) -> list[int]:
        """The selected rows, in order."""
        return sorted(index.row() for index in self.selectionModel().selectedRows())

    @property
    def current(self) -> FileRow | None:
        """The file with keyboard focus, or else the first one selected; None if there is none."""
        number = self.currentIndex().row()
        if not 0 <= number < self._table.rowCount():
            number = next(iter(self.selected), -1)
        return self._table.row(number) if number >= 0 else None

    def select(self, numbers: Iterable[int]) -> None:
        """Select these rows, and scroll to the first."""
        chosen = [number for number in numbers if 0 <= number < self._table.rowCount()]
        selection = QItemSelection()
        last = len(FileColumn) - 1
        for number in chosen:
            selection.select(self._table.index(number, 0), self._table.index(number, last))
        flags = QItemSelectionModel.SelectionFlag
        if chosen:
            self.selectionModel().setCurrentIndex(self._table.index(chosen[0], FileColumn.NAME), flags.NoUpdate)
            self.scrollTo(self.currentIndex())
        self.selectionModel().select(selection, flags.ClearAndSelect)

    def restyle(self) -> None:
        """Set row heights and column widths for the current font."""
        metrics = self.fontMetrics()
        self.verticalHeader().setDefaultSectionSize(metrics.height() + 7)
        for column, characters in _WIDTHS.items():
            self.setColumnWidth(column, characters * metrics.averageCharWidth() + 8)
        self._fit_name()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        keys = Qt.Key
        if event.key() in (keys.Key_Delete, keys.Key_Backspace):
            self.removal_wanted.emit()
        elif event.key() in (keys.Key_Up, keys.Key_Down) and event.modifiers() & Qt.KeyboardModifier.AltModifier:
            self.move_wanted.emit(-1 if event.key() == keys.Key_Up else 1)
        else:
            super().keyPressEvent(event)

    def resizeEvent(self, event: Any) -> None:
        super().resizeEvent(event)
        self._fit_name()

    def viewportEvent(self, event: QEvent) -> bool:
        """Show a file's full name, and what is wrong with it, in a plain-text tooltip."""
        if isinstance(event, QHelpEvent) and event.type() == QEvent.Type.ToolTip:
            index = self.indexAt(event.pos())
            text = self._described(self._table.row(index.row())) if index.isValid() else ""
            QToolTip.showText(event.globalPos(), tooltip_text(text))
            return True
        return super().viewportEvent(event)

    def _described(self, row: FileRow) -> str:
        encoding = self._table.encoding_words(row) if row.encoding else ""
        return "\n".join(filter(None, (row.name, encoding, self._table.state_words(row.state), str(row.error or ""))))

    def _fit_name(self) -> None:
        """Give the name the width left by the numbers and the encoding; the other columns may need scrolling."""
        column = FileColumn
        character = self.fontMetrics().averageCharWidth()
        self.setColumnWidth(column.ENCODING, _WIDTHS[column.ENCODING] * character + 8)
        numbers = (column.STATE, column.SIZE, column.WORDS, column.DISTINCT)
        beside = sum(self.columnWidth(each) for each in (*numbers, column.ENCODING))
        beyond = sum(self.columnWidth(each) for each in (column.LINES, column.KIND))
        room = self.viewport().width() - beside
        least = _LEAST_NAME * character
        extra = max(0, min((_WIDE_ENCODING - _WIDTHS[column.ENCODING]) * character, room - 2 * least))
        self.setColumnWidth(column.ENCODING, self.columnWidth(column.ENCODING) + extra)
        self.setColumnWidth(column.NAME, max(least, min(2 * least, room - extra), room - extra - beyond))

    def _on_selection_changed(self) -> None:
        self.selection_changed.emit()


class _FileDelegate(QStyledItemDelegate):
    """Draws errors and guesses in their colors."""

    def __init__(self, table: FileTable, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self._table = table
        self._theme = theme

    def initStyleOption(self, option: QStyleOptionViewItem, index: Index) -> None:
        super().initStyleOption(option, index)
        row = self._table.row(index.row())
        if index.column() == FileColumn.NAME:
            option.textElideMode = Qt.TextElideMode.ElideMiddle  # both ends of a file name matter
        color = None
        if row.state is FileState.FAULT and index.column() in (FileColumn.STATE, FileColumn.NAME):
            color = self._theme.error
        elif row.known == "guess" and index.column() == FileColumn.ENCODING:
            color = self._theme.tie_text
        elif row.state is FileState.WAITING and index.column() == FileColumn.STATE:
            color = self._theme.faint
        if color is not None:
            option.palette.setColor(option.palette.ColorRole.Text, color)
            option.palette.setColor(option.palette.ColorRole.HighlightedText, color)
