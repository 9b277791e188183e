"""A table in which the arrow keys choose, as a click does."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt

from wordpiece_studio.ui.widgets.quiet_table import QuietTable

if TYPE_CHECKING:
    from PySide6.QtGui import QKeyEvent

_MOVES = (Qt.Key.Key_Up, Qt.Key.Key_Down, Qt.Key.Key_PageUp, Qt.Key.Key_PageDown, Qt.Key.Key_Home, Qt.Key.Key_End)


class ChoosingTable(QuietTable):
    """Says `row_chosen` of every row that a key moves to."""

    def keyPressEvent(self, event: QKeyEvent) -> None:
        before = self.currentIndex().row()
        super().keyPressEvent(event)
        row = self.currentIndex().row()
        if event.key() in _MOVES and row not in (before, -1):
            self.row_chosen.emit(row)

    def mark_row(self, row: int) -> None:
        """Mark a row as chosen and bring it into view; a negative one is none."""
        if row < 0:
            self.clearSelection()
            self.setCurrentIndex(self.model().index(-1, 0))
        elif row != self.currentIndex().row() or not self.selectionModel().hasSelection():
            self.setCurrentIndex(self.model().index(row, 0))
