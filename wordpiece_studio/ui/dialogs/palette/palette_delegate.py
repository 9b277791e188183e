"""How a line of the palette is drawn: the command at the left, its menus after it, its key at the right."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QRect, QSize, Qt
from PySide6.QtGui import QFontMetrics, QPainter
from PySide6.QtWidgets import QStyle, QStyledItemDelegate, QStyleOptionViewItem, QWidget

from wordpiece_studio.ui.widgets.painting import saved

if TYPE_CHECKING:
    from wordpiece_studio.ui.dialogs.palette.palette_model import PaletteModel
    from wordpiece_studio.ui.widgets.theme import Theme

_Index = QModelIndex | QPersistentModelIndex
_PADDING, _GAP, _ROUND = 12, 14, 5
_LINE = Qt.AlignmentFlag.AlignVCenter | Qt.TextFlag.TextSingleLine


class PaletteDelegate(QStyledItemDelegate):
    """Draws an entry; one that cannot be done now is pale, with the reason in place of its menus."""

    def __init__(self, model: PaletteModel, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._model = model
        self._theme = theme

    def sizeHint(self, option: QStyleOptionViewItem, _index: _Index) -> QSize:
        return QSize(200, QFontMetrics(option.font).height() + 12)

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: _Index) -> None:
        entry, theme = self._model.entry(index.row()), self._theme
        with saved(painter):
            painter.setFont(option.font)
            metrics = painter.fontMetrics()
            if option.state & QStyle.StateFlag.State_Selected:
                painter.setRenderHint(QPainter.RenderHint.Antialiasing)
                painter.setPen(Qt.PenStyle.NoPen)
                painter.setBrush(theme.accent_soft)
                painter.drawRoundedRect(option.rect, _ROUND, _ROUND)
            room = option.rect.adjusted(_PADDING, 0, -_PADDING, 0)
            keys = entry.keys.partition("   ")[0]  # the first is enough
            painter.setPen(theme.faint if entry.reason else theme.muted)
            painter.drawText(room, int(Qt.AlignmentFlag.AlignRight | _LINE), keys)
            room.setRight(room.right() - (metrics.horizontalAdvance(keys) + _GAP if keys else 0))
            painter.setPen(theme.faint if entry.reason else theme.text)
            self._draw(painter, room, entry.title)
            room.setLeft(room.left() + metrics.horizontalAdvance(entry.title) + _GAP)
            painter.setPen(theme.faint if entry.reason else theme.muted)
            self._draw(painter, room, entry.reason or entry.where)

    @staticmethod
    def _draw(painter: QPainter, room: QRect, text: str) -> None:
        if room.width() > 0:
            shown = painter.fontMetrics().elidedText(text, Qt.TextElideMode.ElideRight, room.width())
            painter.drawText(room, int(Qt.AlignmentFlag.AlignLeft | _LINE), shown)
