"""How a cell of the table of merges is drawn."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QRectF, Qt
from PySide6.QtGui import QFont, QHelpEvent, QPainter
from PySide6.QtWidgets import (
    QAbstractItemView,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QToolTip,
    QWidget,
)

from wordpiece_studio.session.history_rows import TOKEN_COLUMNS, HistoryColumn
from wordpiece_studio.session.history_table import RAW_ROLE, HistoryTableModel
from wordpiece_studio.ui.widgets.plain import tooltip_text
from wordpiece_studio.ui.widgets.token_text import token_text, value_text

if TYPE_CHECKING:
    from wordpiece_studio.ui.widgets.theme import Theme

_Index = QModelIndex | QPersistentModelIndex
_LONGEST_TOKEN = 1000
CELL_PADDING = 6
"""Pixels between the edge of a cell and its text."""


class HistoryDelegate(QStyledItemDelegate):
    """Draws a cell: bold at the step, pale after it; a dot where there was no tie.

    It paints by itself: Qt's own way asks the model seven times for each cell, and a table that follows a training
    is painted sixty times a second.
    """

    def __init__(self, model: HistoryTableModel, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._model = model
        self._theme = theme
        self.step = 0
        """The step shown."""
        self.first_column = int(HistoryColumn.STEP)
        """The leftmost column that is seen: it has the mark of the step."""

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: _Index) -> None:
        step = self._model.step_of_row(index.row())
        cell = option.rect
        is_selected = bool(option.state & QStyle.StateFlag.State_Selected)
        if step == self.step or is_selected:
            painter.fillRect(cell, self._theme.accent_soft)
        if step == self.step and index.column() == self.first_column:
            painter.fillRect(QRectF(cell.left(), cell.top(), 3.5, cell.height()), self._theme.accent)
        font = QFont(option.font)
        font.setBold(step == self.step)
        painter.setFont(font)
        painter.setPen(self._theme.faint if step > self.step else self._theme.text)
        text = self._text(index)
        side = Qt.AlignmentFlag.AlignRight
        if index.column() in TOKEN_COLUMNS:  # a number is never cut: its column is wide enough
            side = Qt.AlignmentFlag.AlignLeft
            text = painter.fontMetrics().elidedText(text, Qt.TextElideMode.ElideRight, cell.width() - 2 * CELL_PADDING)
        inner = cell.adjusted(CELL_PADDING, 0, -CELL_PADDING, 0)
        painter.drawText(inner, int(side | Qt.AlignmentFlag.AlignVCenter | Qt.TextFlag.TextSingleLine), text)

    def helpEvent(
        self, event: QHelpEvent, view: QAbstractItemView, option: QStyleOptionViewItem, index: _Index
    ) -> bool:
        """Show a token whole, which may be cut in its cell."""
        if index.column() not in TOKEN_COLUMNS:
            return False
        text = token_text(str(self._model.data(index)), _LONGEST_TOKEN)
        QToolTip.showText(event.globalPos(), tooltip_text(text))
        return True

    def _text(self, index: _Index) -> str:
        column = index.column()
        if column == HistoryColumn.VALUE:
            return value_text(self._model.data(index, RAW_ROLE))
        text = str(self._model.data(index))
        if column in TOKEN_COLUMNS:
            return token_text(text)
        return "·" if column == HistoryColumn.TIES and text == "1" else text
