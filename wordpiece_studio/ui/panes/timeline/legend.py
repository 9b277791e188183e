"""What the marks of the timeline mean: the mark and a word for it, one after the other."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QPointF, QRect, QSize, Qt
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from wordpiece_studio.ui.panes.timeline.plot_marks import mark_color, paint_mark
from wordpiece_studio.ui.widgets.plain import set_plain_tooltip

if TYPE_CHECKING:
    from collections.abc import Sequence

    from wordpiece_studio.ui.panes.timeline.plot_marks import MarkKind
    from wordpiece_studio.ui.widgets.theme import Theme

_MARK, _GAP = 13, 16


class Legend(QWidget):
    """Entries from left to right; what does not fit is left out, and the tooltip has it all."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._entries: tuple[tuple[MarkKind | None, str], ...] = ()
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
        theme.changed.connect(self.update)

    def set_entries(self, entries: Sequence[tuple[MarkKind | None, str]]) -> None:
        """Show these marks, each with its word; None is a word without a mark."""
        if tuple(entries) != self._entries:
            self._entries = tuple(entries)
            words = ", ".join(text for _, text in entries)
            self.setAccessibleName(words)
            set_plain_tooltip(self, words)
            self.updateGeometry()
            self.update()

    def sizeHint(self) -> QSize:
        widths = (self._width(kind, text) + _GAP for kind, text in self._entries)
        return QSize(max(sum(widths) - _GAP, 0), self.fontMetrics().height() + 2)

    def minimumSizeHint(self) -> QSize:
        return QSize(0, self.fontMetrics().height() + 2)

    def _width(self, kind: MarkKind | None, text: str) -> int:
        return self.fontMetrics().horizontalAdvance(text) + (_MARK if kind else 0)

    def paintEvent(self, _event: QPaintEvent) -> None:
        with QPainter(self) as painter:
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            left, height = 0, self.height()
            for kind, text in self._entries:
                width = self._width(kind, text)
                if left + width > self.width():
                    continue
                if kind is not None:
                    painter.setPen(Qt.PenStyle.NoPen)
                    painter.setBrush(mark_color(kind, self._theme))
                    paint_mark(painter, kind, QPointF(left + 5, height / 2))
                painter.setPen(self._theme.tie_text if kind == "tie" else self._theme.muted)
                place = QRect(left + (_MARK if kind else 0), 0, width, height)
                painter.drawText(place, int(Qt.AlignmentFlag.AlignVCenter), text)
                left += width + _GAP
