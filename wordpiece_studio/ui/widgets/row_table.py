"""A table model over ready-made rows of text, for the small tables of a pane: a ladder, changes, a list of tokens.

It holds strings and says how each is aligned and coloured; what they mean is the business of whoever made them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QObject, QPersistentModelIndex, Qt

from wordpiece_studio.ui.widgets.plain import tooltip_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from wordpiece_studio.ui.widgets.theme import Theme

ROW_ROLE = int(Qt.ItemDataRole.UserRole)
"""The :class:`TableRow` itself."""

_Index = QModelIndex | QPersistentModelIndex


@dataclass(frozen=True, slots=True)
class TableRow:
    """The texts of a row, what a screen reader says of it, the names of their colours, and what it stands for.

    The names are those of `Colors`: the colours themselves are another look's after a change of theme.
    """

    texts: tuple[str, ...]
    spoken: str = ""
    colors: tuple[str, ...] = ()
    item: object = None


class RowTable(QAbstractTableModel):
    """Rows of text.

    Parameters
    ----------
    theme
        Where the colours are from.
    headings
        One a column.
    right_aligned
        The columns whose texts stand at the right.
    """

    def __init__(
        self,
        theme: Theme,
        headings: Sequence[str],
        right_aligned: frozenset[int] = frozenset(),
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._theme = theme
        self._headings = tuple(headings)
        self._right_aligned = right_aligned
        self._rows: Sequence[TableRow] = ()

    @property
    def rows(self) -> Sequence[TableRow]:
        """The rows shown."""
        return self._rows

    def set_rows(self, rows: Sequence[TableRow]) -> None:
        """Show these rows."""
        self.beginResetModel()
        self._rows = rows
        self.endResetModel()

    def rowCount(self, parent: _Index = QModelIndex()) -> int:  # noqa: B008 - Qt's own signature
        return 0 if parent.isValid() else len(self._rows)

    def columnCount(self, parent: _Index = QModelIndex()) -> int:  # noqa: B008 - Qt's own signature
        return 0 if parent.isValid() else len(self._headings)

    def data(self, index: _Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if not index.isValid():
            return None
        row, column = self._rows[index.row()], index.column()
        if role == Qt.ItemDataRole.DisplayRole:
            return row.texts[column]
        if role == ROW_ROLE:
            return row
        if role == Qt.ItemDataRole.ForegroundRole:
            return getattr(self._theme.colors, row.colors[column]) if row.colors else None
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return _alignment(column in self._right_aligned)
        if role == Qt.ItemDataRole.AccessibleTextRole and column == 0 and row.spoken:
            return row.spoken
        if role == Qt.ItemDataRole.ToolTipRole and row.spoken:
            return tooltip_text(row.spoken)
        return None

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if orientation != Qt.Orientation.Horizontal:
            return None
        if role == Qt.ItemDataRole.DisplayRole:
            return self._headings[section]
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return _alignment(section in self._right_aligned)
        return None


def _alignment(right: bool) -> int:
    side = Qt.AlignmentFlag.AlignRight if right else Qt.AlignmentFlag.AlignLeft
    return int(side | Qt.AlignmentFlag.AlignVCenter)
