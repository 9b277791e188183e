"""The film strip: one row for each step that changed the watched text, with the token it made."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QPointF, QRectF, Signal
from PySide6.QtGui import QPainter
from PySide6.QtWidgets import (
    QHeaderView,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QVBoxLayout,
    QWidget,
)

from wordpiece_studio.ui.look.chip_style import ChipLook, ChipStyle
from wordpiece_studio.ui.look.plain import plain_label, set_plain_text
from wordpiece_studio.ui.look.quiet_table import QuietTable, needed_height
from wordpiece_studio.ui.look.row_table import ROW_ROLE, RowTable, TableRow
from wordpiece_studio.ui.look.token_text import number_text, token_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from wordpiece_studio.model.film_strip import StripRow
    from wordpiece_studio.ui.look.theme import Theme

_STEP, _TOKEN, _COUNT = range(3)
_Index = QModelIndex | QPersistentModelIndex


class FilmStripView(QWidget):
    """The rows with their title; a click asks for the step."""

    step_chosen = Signal(object)
    """The step (int) of the row that was clicked."""
    rows_changed = Signal()
    """There are other rows: the strip may need another height."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._rows: Sequence[StripRow] = ()
        self._moment = 0
        self._title = plain_label("", self, role="heading", wrap=True)
        self._table = StripTable(theme, self)
        self._table.setAccessibleName(self.tr("Steps that changed the text"))
        layout = QVBoxLayout(self)
        layout.setContentsMargins(14, 6, 6, 4)
        layout.setSpacing(4)
        layout.addWidget(self._title)
        layout.addWidget(self._table, 1)
        self._table.row_chosen.connect(self._on_table_row_chosen)
        theme.changed.connect(self._on_theme_changed)

    @property
    def rows(self) -> Sequence[StripRow]:
        """The rows shown."""
        return self._rows

    def needed_height(self, most_rows: int | None = None) -> int:
        """Height in pixels of the title and of all rows, or of the first `most_rows`."""
        rows = len(self._rows)
        return needed_height(self, self._title, self._table, rows if most_rows is None else min(rows, most_rows))

    def show_rows(self, rows: Sequence[StripRow], moment: int) -> None:
        """Show these rows; those after `moment` are pale."""
        self._rows = rows
        self._moment = moment
        if rows:
            set_plain_text(self._title, self.tr("Film strip: the steps that changed this text"))
        else:
            set_plain_text(self._title, self.tr("Film strip: no step changes this text"))
        self._table.strip.set_rows([self._table_row(row) for row in rows])
        self._mark_moment()
        self.rows_changed.emit()

    def show_too_long(self) -> None:
        """Say that the text is too long for a film strip."""
        self._rows = ()
        set_plain_text(self._title, self.tr("Film strip: this text is too long for one"))
        self._table.strip.set_rows(())
        self.rows_changed.emit()

    def set_moment(self, moment: int) -> None:
        """Show where this moment lies among the rows."""
        if moment != self._moment:
            self._moment = moment
            self._table.strip.set_rows([self._table_row(row) for row in self._rows])
            self._mark_moment()

    def _table_row(self, row: StripRow) -> TableRow:
        step, tokens = number_text(row.step), number_text(row.tokens)
        count = self.tr("{count} tokens").format(count=tokens)
        spoken = self.tr("step {step}: {token}, {count}").format(step=step, token=token_text(row.token), count=count)
        is_future = row.step > self._moment
        color = self._theme.faint if is_future else self._theme.muted
        return TableRow((step, row.token, count), spoken, (color,) * 3, (row, is_future))

    def _mark_moment(self) -> None:
        """Keep the last row that has happened in view, and mark it if it is the moment itself."""
        past = [index for index, row in enumerate(self._rows) if row.step <= self._moment]
        here = past[-1] if past else -1
        if here >= 0 and self._rows[here].step == self._moment:
            self._table.setCurrentIndex(self._table.strip.index(here, 0))
        else:
            self._table.setCurrentIndex(QModelIndex())
        if self._rows:
            self._table.scrollTo(self._table.strip.index(max(here, 0), 0))

    def _on_table_row_chosen(self, row: int) -> None:
        self.step_chosen.emit(self._rows[row].step)

    def _on_theme_changed(self) -> None:
        self._table.strip.set_rows([self._table_row(row) for row in self._rows])
        self._mark_moment()


class StripTable(QuietTable):
    """Step, chip, number of tokens."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        headings = (self.tr("step"), self.tr("token"), self.tr("tokens"))
        self.strip = RowTable(headings, frozenset({_STEP, _COUNT}), self)
        self._delegate = StripDelegate(theme, self)
        self.setModel(self.strip)
        self.setItemDelegate(self._delegate)
        self.horizontalHeader().hide()
        self.horizontalHeader().setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        self.horizontalHeader().setSectionResizeMode(_TOKEN, QHeaderView.ResizeMode.Stretch)
        self.restyle()
        theme.changed.connect(self.on_theme_changed)

    def restyle(self) -> None:
        metrics = self.fontMetrics()
        self._delegate.restyle()
        self.verticalHeader().setDefaultSectionSize(self._delegate.chip_height + 4)
        self.setColumnWidth(_STEP, metrics.horizontalAdvance("300,000") + 10)
        self.setColumnWidth(_COUNT, metrics.horizontalAdvance("10,000 tokens") + 14)


class StripDelegate(QStyledItemDelegate):
    """Draws the token of a row as a chip."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._style = ChipStyle(theme, -1)

    @property
    def chip_height(self) -> int:
        """Height of a chip in pixels."""
        return self._style.height

    def restyle(self) -> None:
        """Take the theme's fonts and colours as they are now."""
        self._style = ChipStyle(self._theme, -1)

    def initStyleOption(self, option: QStyleOptionViewItem, index: _Index) -> None:
        super().initStyleOption(option, index)
        option.state &= ~QStyle.StateFlag.State_HasFocus
        if index.column() == _TOKEN:
            option.text = ""

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: _Index) -> None:
        super().paint(painter, option, index)
        if index.column() != _TOKEN:
            return
        row, is_future = index.data(ROW_ROLE).item
        cell = QRectF(option.rect)
        at = QPointF(cell.left() + 8, cell.center().y() - self._style.height / 2)
        width = min(self._style.width(row.token), cell.width() - 12)
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        chip = QRectF(at.x(), at.y(), width, self._style.height)
        self._style.paint(painter, chip, row.token, ChipLook(faded=is_future))
        painter.restore()
