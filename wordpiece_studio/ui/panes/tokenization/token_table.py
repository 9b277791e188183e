"""All tokens of the live text in order: as an ordinary table, for those who cannot see chips, and on the clipboard."""

from __future__ import annotations

import time
from bisect import bisect_right
from typing import TYPE_CHECKING, Any, Literal

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QObject, QPersistentModelIndex, Qt, QTimer, Signal

from wordpiece_studio.ui.panes.tokenization.chip_blocks import ChipPlace
from wordpiece_studio.ui.widgets.plain import copy_text
from wordpiece_studio.ui.widgets.quiet_table import QuietTable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from PySide6.QtWidgets import QWidget

    from wordpiece_studio.session.live_text import LiveLine
    from wordpiece_studio.ui.panes.tokenization.token_options import PieceTexts
    from wordpiece_studio.ui.widgets.theme import Theme

_SLICE_SECONDS, _PAUSE_MS = 0.008, 4
_Index = QModelIndex | QPersistentModelIndex
_TOKEN, _ID, _OFFSETS, _BORN, _WORD = range(5)
_AT_ONCE = 200
"""Rows made at a time; the next ones follow when the table is scrolled to its end."""


class TokenCopy(QObject):
    """Copies tokens or ids to the clipboard in the background; the latest request wins."""

    finished = Signal(object)
    """This many tokens (int) are now on the clipboard."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._lines: Sequence[LiveLine] = ()
        self._what: Literal["tokens", "ids"] = "tokens"
        self._next = 0
        self._gathered: list[str] = []
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setInterval(_PAUSE_MS)
        self._timer.timeout.connect(self._gather)

    def start(self, lines: Sequence[LiveLine], what: Literal["tokens", "ids"]) -> None:
        """Copy the tokens or ids of these lines, unchanged and separated by spaces."""
        self._lines, self._what, self._next, self._gathered = lines, what, 0, []
        self._gather()

    def _gather(self) -> None:
        end = time.perf_counter() + _SLICE_SECONDS
        while self._next < len(self._lines):
            for word in self._lines[self._next].words:
                self._gathered += [piece.token if self._what == "tokens" else str(piece.id) for piece in word.pieces]
            self._next += 1
            if time.perf_counter() > end:
                self._timer.start()
                return
        count = len(self._gathered)
        copy_text(" ".join(self._gathered))
        self._lines, self._gathered = (), []
        self.finished.emit(count)


class TokenModel(QAbstractTableModel):
    """One row per token: token, id, offsets, birth step, word; rows of later lines are made on request."""

    def __init__(self, texts: PieceTexts, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._texts = texts
        self._lines: Sequence[LiveLine] = ()
        self._ends: list[int] = []  # the number of tokens up to the end of each line read so far
        self._is_growing = False

    def set_lines(self, lines: Sequence[LiveLine]) -> None:
        """Show the tokens of these lines."""
        self.beginResetModel()
        self._lines = lines
        self._ends = self._further_ends([])
        self.endResetModel()

    def place_of(self, row: int) -> ChipPlace:
        """Return the chip that a row stands for."""
        line = bisect_right(self._ends, row)
        chip = row - (self._ends[line - 1] if line else 0)
        for index, word in enumerate(self._lines[line].words):
            if chip < len(word.pieces):
                return ChipPlace(line, index, chip)
            chip -= len(word.pieces)
        raise IndexError(row)

    def rowCount(self, parent: _Index = QModelIndex()) -> int:  # noqa: B008 - Qt's own signature
        return self._ends[-1] if self._ends and not parent.isValid() else 0

    def columnCount(self, parent: _Index = QModelIndex()) -> int:  # noqa: B008 - Qt's own signature
        return 0 if parent.isValid() else _WORD + 1

    def canFetchMore(self, parent: _Index) -> bool:
        has_more = len(self._ends) < len(self._lines)
        return has_more and not parent.isValid() and not self._is_growing

    def fetchMore(self, _parent: _Index) -> None:
        ends = self._further_ends(self._ends)
        before, after = self.rowCount(), ends[-1] if ends else 0
        if self._is_growing or after == before:
            self._ends = self._ends if self._is_growing else ends  # blank lines only
            return
        self._is_growing = True  # a slot notified of the new rows may ask for more at once
        self.beginInsertRows(QModelIndex(), before, after - 1)
        self._ends = ends
        self.endInsertRows()
        self._is_growing = False

    def data(self, index: _Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if not index.isValid():
            return None
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return _alignment(index.column())
        if role == Qt.ItemDataRole.DisplayRole:
            place = self.place_of(index.row())
            line = self._lines[place.line]
            return self._texts.row(line, line.words[place.word], place.chip)[index.column()]
        if role == Qt.ItemDataRole.AccessibleTextRole and index.column() == _TOKEN:
            place = self.place_of(index.row())
            line = self._lines[place.line]
            return self._texts.spoken(line, line.words[place.word], place.chip)
        return None

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if orientation != Qt.Orientation.Horizontal:
            return None
        if role == Qt.ItemDataRole.DisplayRole:
            return (self.tr("token"), self.tr("id"), self._texts.unit_name, self.tr("born"), self.tr("word"))[section]
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return _alignment(section)
        return None

    def _further_ends(self, ends: list[int]) -> list[int]:
        further = list(ends)
        total = wanted = further[-1] if further else 0
        wanted += _AT_ONCE
        while len(further) < len(self._lines) and total < wanted:
            total += sum(len(word.pieces) for word in self._lines[len(further)].words)
            further.append(total)
        return further


class LiveTokenTable(QuietTable):
    """The table of tokens, one row per token."""

    def __init__(self, texts: PieceTexts, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.tokens = TokenModel(texts, self)
        self.setModel(self.tokens)
        self.setAccessibleName(self.tr("Tokens as a table"))
        self.horizontalHeader().setStretchLastSection(True)
        self.restyle()
        theme.changed.connect(self.on_theme_changed)

    def restyle(self) -> None:
        metrics = self.fontMetrics()
        self.verticalHeader().setDefaultSectionSize(metrics.height() + 8)
        for column, width in enumerate((12, 6, 14, 7)):
            self.setColumnWidth(column, metrics.horizontalAdvance("n") * width)


def _alignment(column: int) -> int:
    side = Qt.AlignmentFlag.AlignLeft if column in (_TOKEN, _WORD) else Qt.AlignmentFlag.AlignRight
    return int(side | Qt.AlignmentFlag.AlignVCenter)
