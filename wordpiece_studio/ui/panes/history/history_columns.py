"""Which columns of the table of merges are shown, in which order, and how wide they are.

A number is never cut: where the columns do not fit, the table leaves out those that matter least, unless the user has
chosen which to see; then it scrolls.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtGui import QFont, QFontMetrics
from PySide6.QtWidgets import QHeaderView

from wordpiece_studio.session.history_rows import HistoryColumn
from wordpiece_studio.ui.panes.history.history_delegate import CELL_PADDING
from wordpiece_studio.ui.widgets.token_text import value_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from PySide6.QtWidgets import QTableView

    from wordpiece_studio.session.history_table import HistoryTableModel

_LETTERS = {HistoryColumn.LEFT: 7, HistoryColumn.RIGHT: 7, HistoryColumn.TOKEN: 10}
"""Least widths of the columns of tokens in digits; columns of numbers are as wide as their longest number."""
_LEFT_OUT_FIRST = (
    HistoryColumn.IS_NEW,
    HistoryColumn.WORDS,
    HistoryColumn.SYMBOLS,
    HistoryColumn.VOCABULARY,
    HistoryColumn.RIGHT_FREQUENCY,
    HistoryColumn.LEFT_FREQUENCY,
    HistoryColumn.TIES,
)
"""What a narrow table leaves out, so that the other columns stand there whole."""
_AUTOMATIC, _HIDDEN = "automatic", "-"


class HistoryColumns(QObject):
    """The columns of one table.

    Signals
    -------
    changed()
        Other columns are shown, or in another order.
    chosen()
        The user has chosen other columns, or another order.
    """

    changed = Signal()
    chosen = Signal()

    def __init__(self, table: QTableView, model: HistoryTableModel) -> None:
        super().__init__(table)
        self._table = table
        self._model = model
        self._chosen: frozenset[HistoryColumn] | None = None  # None: as many as fit
        self._wanted_widths: dict[int, int] = {}
        self._number_widths: dict[int, int] = {}  # below these a number would be cut
        self._is_spreading = False
        header = table.horizontalHeader()
        header.setSectionResizeMode(QHeaderView.ResizeMode.Interactive)
        header.setSectionsMovable(True)
        header.sectionResized.connect(self._on_header_section_resized)
        header.sectionMoved.connect(self._on_header_section_moved)

    # -- what is shown

    @property
    def is_automatic(self) -> bool:
        """Whether those are shown for which there is room."""
        return self._chosen is None

    @property
    def first(self) -> int:
        """The leftmost column that is shown."""
        return next((column for column in self._in_order() if not self._table.isColumnHidden(column)), 0)

    def shown(self) -> frozenset[HistoryColumn]:
        """Return the columns that are shown."""
        return frozenset(column for column in HistoryColumn if not self._table.isColumnHidden(column))

    def choose(self, columns: frozenset[HistoryColumn] | None) -> None:
        """Show these columns from now on, or, with None, as many as fit, in their usual order."""
        self._chosen = columns
        if columns is None:
            self._move(tuple(HistoryColumn))
        self.spread()
        self.chosen.emit()

    def names(self) -> tuple[str, ...]:
        """Return what was chosen, to be remembered: names left to right, hidden ones with a hyphen."""
        named = [(column.name.lower(), column) for column in map(HistoryColumn, self._in_order())]
        if self._chosen is None:
            return (_AUTOMATIC, *(name for name, _ in named))
        return tuple(name if column in self._chosen else _HIDDEN + name for name, column in named)

    def take_names(self, names: Sequence[str]) -> None:
        """Show what was chosen earlier; what names no column is passed over."""
        by_name = {column.name.lower(): column for column in HistoryColumn}
        found = {by_name[bare]: bare == name for name in names if (bare := name.removeprefix(_HIDDEN)) in by_name}
        shown = frozenset(column for column, is_shown in found.items() if is_shown)
        if shown:
            self._chosen = None if _AUTOMATIC in names else shown
            self._move((*found, *(column for column in HistoryColumn if column not in found)))
            self.spread()

    # -- how wide it is

    def restyle(self) -> None:
        """Take the widths from the present font."""
        self._wanted_widths = {column: self._least_width(column) for column in HistoryColumn}
        self.fit_numbers()
        self.spread()

    def fit_numbers(self) -> None:
        """Make columns wider whose numbers have grown too long for them."""
        font = QFont(self._table.font())
        font.setBold(True)  # as at the step
        metrics, has_grown = QFontMetrics(font), False
        for column, (least, most) in self._model.extremes().items():
            texts = _longest_texts(column, least, most)
            needed = max(map(metrics.horizontalAdvance, texts)) + 2 * CELL_PADDING + 2
            self._number_widths[column] = needed
            if needed > self._wanted_widths[column]:
                self._wanted_widths[column], has_grown = needed, True
        if has_grown:
            self.spread()

    def spread(self) -> None:
        """Give each column its width, and all of them their share of what is left over; leave out what has no room."""
        before = self.shown()
        self._is_spreading = True
        left_out = self._left_out()
        for column in HistoryColumn:
            self._table.setColumnHidden(column, column in left_out)
        share = self._share()
        for place, width in self._wanted_widths.items():
            column = HistoryColumn(place)
            if column not in left_out:
                self._table.setColumnWidth(column, max(int(width * share), self._number_widths.get(column, 0)))
        self._is_spreading = False
        self._table.updateGeometry()
        self._table.updateGeometries()  # Qt would leave the table scrolled sideways for a while, with numbers cut
        if self.shown() != before:
            self.changed.emit()

    def _least_width(self, column: HistoryColumn) -> int:
        digit = self._table.fontMetrics().horizontalAdvance("0")
        title = str(self._model.headerData(column, Qt.Orientation.Horizontal))
        least = self._table.horizontalHeader().fontMetrics().horizontalAdvance(title) + 18
        return max(digit * _LETTERS.get(column, 0), least)

    def _left_out(self) -> frozenset[HistoryColumn]:
        if self._chosen is not None:
            return frozenset(HistoryColumn) - self._chosen
        over = sum(self._wanted_widths.values()) - self._table.viewport().width()
        left_out: set[HistoryColumn] = set()
        for column in _LEFT_OUT_FIRST:
            if over > 0:
                left_out.add(column)
                over -= self._wanted_widths[column]
        return frozenset(left_out)

    def _share(self) -> float:
        shown = sum(self._wanted_widths[column] for column in self.shown())
        return max(self._table.viewport().width() / max(shown, 1), 1.0)

    # -- in which order they stand

    def _in_order(self) -> list[int]:
        header = self._table.horizontalHeader()
        return [header.logicalIndex(place) for place in range(len(HistoryColumn))]

    def _move(self, columns: Sequence[HistoryColumn]) -> None:
        header = self._table.horizontalHeader()
        self._is_spreading = True
        for place, column in enumerate(columns):
            header.moveSection(header.visualIndex(column), place)
        self._is_spreading = False
        self.changed.emit()

    # -- what happens

    def _on_header_section_moved(self, _column: int, _before: int, _now: int) -> None:
        if not self._is_spreading:
            self.changed.emit()
            self.chosen.emit()

    def _on_header_section_resized(self, column: int, _before: int, width: int) -> None:
        """Remember a width that was drawn by hand; a number keeps the room it needs."""
        if self._is_spreading or column not in self._wanted_widths or self._table.isColumnHidden(column):
            return
        is_number = column in self._number_widths
        least = max(self._number_widths[column], self._least_width(HistoryColumn(column))) if is_number else 1
        self._wanted_widths[column] = max(int(width / self._share()), least)
        if width < least:
            self._is_spreading = True
            self._table.setColumnWidth(column, least)
            self._is_spreading = False


def _longest_texts(column: HistoryColumn, least: float, most: float) -> list[str]:
    """Return texts at least as long as any number between these two in this column."""
    if column is not HistoryColumn.VALUE:
        return [f"{int(most):,}"]
    texts = [value_text(least), value_text(most)]
    if not (float(most).is_integer() and float(least).is_integer()):
        texts += ["0.0000000"] if least < 0.01 else ["0.00000"]
        texts += [value_text(int(most) + 0.5)] if most >= 1000 else []
    return texts
