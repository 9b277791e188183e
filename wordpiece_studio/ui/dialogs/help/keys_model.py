"""The table of keys: what happens, and the keys, with a row for the name of each group."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QPersistentModelIndex, Qt

from wordpiece_studio.ui.widgets.plain import tooltip_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from PySide6.QtCore import QObject

    from wordpiece_studio.ui.dialogs.help.key_lines import KeyLine
    from wordpiece_studio.ui.widgets.theme import Theme

_Index = QModelIndex | QPersistentModelIndex
_NOWHERE = QModelIndex()


class KeysModel(QAbstractTableModel):
    """One row a line, two columns."""

    def __init__(self, theme: Theme, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._lines: Sequence[KeyLine] = ()

    def set_lines(self, lines: Sequence[KeyLine]) -> None:
        """Show these lines; one without keys is the name of a group."""
        self.beginResetModel()
        self._lines = lines
        self.endResetModel()

    def rowCount(self, parent: _Index = _NOWHERE) -> int:
        return 0 if parent.isValid() else len(self._lines)

    def columnCount(self, parent: _Index = _NOWHERE) -> int:
        return 0 if parent.isValid() else 2

    def data(self, index: _Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        if not index.isValid() or not 0 <= index.row() < len(self._lines):
            return None
        line = self._lines[index.row()]
        if role == Qt.ItemDataRole.DisplayRole:
            return line.title if index.column() == 0 else line.keys
        if role == Qt.ItemDataRole.FontRole and not line.keys:
            return self._theme.font(0, bold=True)
        if role == Qt.ItemDataRole.ForegroundRole and line.keys and index.column():
            return self._theme.muted
        if role == Qt.ItemDataRole.ToolTipRole and line.tip:
            return tooltip_text(line.tip)
        return None

    def flags(self, index: _Index) -> Qt.ItemFlag:
        if not index.isValid():
            return Qt.ItemFlag.NoItemFlags
        is_line = bool(self._lines[index.row()].keys)
        selectable = Qt.ItemFlag.ItemIsSelectable if is_line else Qt.ItemFlag.NoItemFlags
        return Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemNeverHasChildren | selectable

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        if role == Qt.ItemDataRole.DisplayRole and orientation == Qt.Orientation.Horizontal:
            return self.tr("What happens") if section == 0 else self.tr("Keys")
        return None
