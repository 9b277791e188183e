"""The table of rivals: pairs as chips, values as bars, those that share the best value in one box.

It shows a :class:`~wordpiece_studio.ui.scoreboard.rivals_model.RivalsModel` and says which rival was chosen.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QPointF, QRectF, Qt, Signal
from PySide6.QtGui import QFontMetrics, QPainter, QPaintEvent, QPalette, QPen, QResizeEvent
from PySide6.QtWidgets import QHeaderView, QStyle, QStyledItemDelegate, QStyleOptionViewItem, QWidget

from wordpiece_studio.ui.look.chip_style import ChipStyle
from wordpiece_studio.ui.look.quiet_table import QuietTable
from wordpiece_studio.ui.scoreboard.rivals_model import (
    BAR,
    CANDIDATE_ROLE,
    LEFT,
    PAIR,
    RANK,
    RIGHT,
    TOGETHER,
    VALUE,
    RivalsModel,
)

if TYPE_CHECKING:
    from wordpiece_studio.ui.look.theme import Theme

_SHORTEST_BAR = 20
_CELL_ROOM = 14
_TIE_ROOM = 16
_MOST_AIR = 24
_LEAST_PAIR = 8  # digits
_LONGEST_PAIR = 320
"""Pixels; of a longer pair the end is cut."""


class RivalsDelegate(QStyledItemDelegate):
    """Draws the pair of a rival as chips and its value as a bar."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self.style_of_chips = ChipStyle(theme)
        self._tie_width = 0

    def leave_room_for(self, tie_width: int) -> None:
        """Keep so many pixels free at the right of the bars, for the text of the box of ties."""
        self._tie_width = tie_width

    def restyle(self) -> None:
        """Take the theme's fonts and colours as they are now."""
        self.style_of_chips = ChipStyle(self._theme)

    def initStyleOption(self, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex) -> None:
        super().initStyleOption(option, index)
        option.state &= ~QStyle.StateFlag.State_HasFocus
        if index.row() == 0 and index.column() in (RANK, VALUE):
            option.font.setBold(True)
        if index.column() in (PAIR, BAR):
            option.text = ""
        elif index.column() == RANK:
            option.palette.setColor(QPalette.ColorRole.Text, self._theme.muted)

    def paint(
        self, painter: QPainter, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> None:
        super().paint(painter, option, index)
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        cell = QRectF(option.rect)
        if index.column() == PAIR:
            candidate = index.data(CANDIDATE_ROLE)
            top = cell.center().y() - self.style_of_chips.height / 2
            at = QPointF(cell.left() + 6, top)
            self.style_of_chips.paint_row(painter, at, (candidate.left, candidate.right), cell.right())
        elif index.column() == BAR:
            self._paint_bar(painter, cell, index)
        painter.restore()

    def _paint_bar(self, painter: QPainter, cell: QRectF, index: QModelIndex | QPersistentModelIndex) -> None:
        model = index.model()
        if not isinstance(model, RivalsModel):
            return
        is_best = index.row() == 0 or index.row() < model.tied_rows
        room = min(cell.width() - self._tie_width - 30, 150.0)
        if room < _SHORTEST_BAR:
            return
        bar = QRectF(cell.left() + 12, cell.center().y() - 5, max(room * model.share(index.row()), 2.0), 10)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(self._theme.accent if is_best else self._theme.bar)
        painter.drawRoundedRect(bar, 1.5, 1.5)


class RivalsView(QuietTable):
    """The rivals in rows. Ties stand in one box that names how many there are."""

    rival_chosen = Signal(object)
    """The :class:`Candidate` that was clicked, or on which Enter was pressed."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._tie_text = ""
        self._rivals = RivalsModel(self)
        self._delegate = RivalsDelegate(theme, self)
        self.setModel(self._rivals)
        self.setItemDelegate(self._delegate)
        self.setAccessibleName(self.tr("Rivals"))
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        header = self.horizontalHeader()
        header.setSectionsClickable(False)
        header.setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        header.setSectionResizeMode(BAR, QHeaderView.ResizeMode.Stretch)
        self.restyle()
        theme.changed.connect(self.on_theme_changed)
        self.row_chosen.connect(self._on_self_row_chosen)

    @property
    def rivals(self) -> RivalsModel:
        """The model shown."""
        return self._rivals

    def restyle(self) -> None:
        self._delegate.restyle()
        self.verticalHeader().setDefaultSectionSize(self._delegate.style_of_chips.height + 6)
        self._spread_columns()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._spread_columns()

    def _spread_columns(self) -> None:
        """Numbers are never cut; chips have what they need if there is room; the bar has what is left over."""
        width = self.viewport().width()
        numbers = {column: self._needed_width(column) for column in (RANK, TOGETHER, LEFT, RIGHT, VALUE)}
        least = sum(numbers.values()) + self.fontMetrics().horizontalAdvance("0") * _LEAST_PAIR
        for column in (LEFT, RIGHT):  # the formula names them, and tooltips do
            self.setColumnHidden(column, least > width)
            if least > width:
                del numbers[column]
        tie = self._tie_width() + _TIE_ROOM if self._rivals.tied_rows > 1 else 0
        pair = self._needed_pair_width()
        spare = width - sum(numbers.values()) - pair - tie
        if spare < 0:
            pair = max(pair + spare, self.fontMetrics().horizontalAdvance("0") * _LEAST_PAIR)
        airy = min(max(spare, 0) // 10, _MOST_AIR)
        self.setColumnWidth(PAIR, pair + 2 * airy)
        for column, needed in numbers.items():
            self.setColumnWidth(column, needed + (airy if column != RANK else 0))

    def _needed_width(self, column: int) -> int:
        metrics = QFontMetrics(self._theme.font(0, bold=True))
        title = str(self._rivals.headerData(column, Qt.Orientation.Horizontal))
        texts = (str(self._rivals.index(row, column).data()) for row in range(self._rivals.rowCount()))
        return max(map(metrics.horizontalAdvance, (title, *texts)), default=0) + _CELL_ROOM

    def _needed_pair_width(self) -> int:
        width = self._delegate.style_of_chips.width
        longest = max((width(rival.left) + width(rival.right) for rival in self._rivals.candidates), default=80.0)
        return min(int(longest), _LONGEST_PAIR) + _CELL_ROOM

    def _tie_width(self) -> int:
        return QFontMetrics(self._theme.font(-1, bold=True)).horizontalAdvance(self._tie_text or "tie of 00")

    def set_tie_text(self, text: str) -> None:
        """Write this at the right of the box of ties, for example ``tie of 2``."""
        self._tie_text = text
        self._delegate.leave_room_for(self._tie_width() if self._rivals.tied_rows > 1 else 0)
        self._spread_columns()
        self.viewport().update()

    def show_pair(self, left: str, right: str) -> None:
        """Mark the row of this pair as chosen, or none if it is not among the rivals."""
        for row, candidate in enumerate(self._rivals.candidates):
            if (candidate.left, candidate.right) == (left, right):
                self.setCurrentIndex(self._rivals.index(row, RANK))
                return
        self.clearSelection()
        self.setCurrentIndex(QModelIndex())

    def paintEvent(self, event: QPaintEvent) -> None:
        box = self._tie_box()
        painter = QPainter(self.viewport())
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        if box is not None:
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(self._theme.tie_soft)
            painter.drawRoundedRect(box, 4, 4)
        painter.end()
        super().paintEvent(event)
        if box is not None:
            self._paint_tie_frame(box)

    def _paint_tie_frame(self, box: QRectF) -> None:
        painter = QPainter(self.viewport())
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(QPen(self._theme.tie, 1.4))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawRoundedRect(box, 4, 4)
        painter.setPen(self._theme.tie_text)
        painter.setFont(self._theme.font(-1, bold=True))
        left = self.columnViewportPosition(BAR)
        first = QRectF(left, box.top(), box.right() - 10 - left, self.verticalHeader().defaultSectionSize())
        if first.width() >= self._tie_width():  # it never lies on a number
            painter.drawText(first, int(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter), self._tie_text)
        painter.end()

    def _tie_box(self) -> QRectF | None:
        tied = self._rivals.tied_rows
        if tied < 2:
            return None
        top = self.rowViewportPosition(0)
        height = tied * self.verticalHeader().defaultSectionSize()
        return QRectF(1, top + 1, self.viewport().width() - 2, height - 2)

    def _on_self_row_chosen(self, row: int) -> None:
        self.rival_chosen.emit(self._rivals.candidates[row])
