"""The rows of the list of changes as an item model: texts made when they are asked for, however many rows there are."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from PySide6.QtCore import QAbstractTableModel, QModelIndex, QObject, QPersistentModelIndex, Qt

from wordpiece_studio.ui.widgets.plain import tooltip_text
from wordpiece_studio.ui.widgets.token_text import number_text, token_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from wordpiece_studio.session.text_changes import TextChange
    from wordpiece_studio.ui.widgets.theme import Theme

STEP, TOKEN, CHANGE, COUNT = range(4)
CHANGE_ROLE = int(Qt.ItemDataRole.UserRole)
"""The :class:`TextChange` of a row and whether it lies after the step."""

_ROLES = frozenset(
    map(int, (
        Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.ForegroundRole, Qt.ItemDataRole.ToolTipRole,
        Qt.ItemDataRole.AccessibleTextRole, CHANGE_ROLE,
    ))
)  # fmt: skip
_Index = QModelIndex | QPersistentModelIndex
_RIGHT = int(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
_LEFT = int(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)


class ChangesModel(QAbstractTableModel):
    """Step, token, change of the number of tokens, number of tokens."""

    def __init__(self, theme: Theme, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._rows: Sequence[TextChange] = ()
        self._steps: NDArray[np.int64] = np.empty(0, dtype=np.int64)
        self._shown = 0  # rows that the views know
        self._step = 0

    @property
    def rows(self) -> Sequence[TextChange]:
        """The rows shown."""
        return self._rows

    def set_rows(self, rows: Sequence[TextChange], steps: NDArray[np.int64]) -> None:
        """Show these rows; `steps`: their steps, int64, shape (n,). Those that only come at the end move nothing."""
        old = self._steps
        if len(steps) < len(old) or not np.array_equal(steps[: len(old)], old):
            self.beginResetModel()
            self._rows, self._steps, self._shown = rows, steps, len(steps)
            self.endResetModel()
            return
        self._rows, self._steps = rows, steps
        if len(steps) > len(old):
            self.beginInsertRows(QModelIndex(), len(old), len(steps) - 1)
            self._shown = len(steps)
            self.endInsertRows()
        self.redraw()

    def set_step(self, step: int) -> None:
        """Let the rows after `step` be pale."""
        if step != self._step:
            self._step = step
            self.redraw()

    def last_past(self) -> int:
        """Return the last row that is not after the step, or -1."""
        return int(np.searchsorted(self._steps, self._step, side="right")) - 1

    def redraw(self) -> None:
        """Say that all rows may look other now."""
        if self._shown:
            self.dataChanged.emit(self.index(0, 0), self.index(self._shown - 1, COUNT))

    def rowCount(self, parent: _Index = QModelIndex()) -> int:  # noqa: B008 - Qt's own signature
        return 0 if parent.isValid() else self._shown

    def columnCount(self, parent: _Index = QModelIndex()) -> int:  # noqa: B008 - Qt's own signature
        return 0 if parent.isValid() else COUNT + 1

    def data(self, index: _Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if not index.isValid():
            return None
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return _LEFT if index.column() == TOKEN else _RIGHT
        if role not in _ROLES:
            return None
        row = self._rows[index.row()]
        is_future = row.step > self._step
        if role == Qt.ItemDataRole.DisplayRole:
            return self._texts(row)[index.column()]
        if role == CHANGE_ROLE:
            return row, is_future
        if role == Qt.ItemDataRole.ForegroundRole:
            return self._theme.faint if is_future else self._theme.muted
        if role == Qt.ItemDataRole.ToolTipRole:
            return tooltip_text(self._spoken(row))
        return self._spoken(row) if index.column() == STEP else None

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if orientation != Qt.Orientation.Horizontal:
            return None
        if role == Qt.ItemDataRole.DisplayRole:
            return (self.tr("step"), self.tr("token"), self.tr("change"), self.tr("tokens"))[section]
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return _LEFT if section == TOKEN else _RIGHT
        return None

    def _texts(self, row: TextChange) -> tuple[str, str, str, str]:
        count = self.tr("{count} tokens").format(count=number_text(row.tokens))
        return number_text(row.step), token_text(row.token), _signed(row.change), count

    def _spoken(self, row: TextChange) -> str:
        step, token, change, count = self._texts(row)
        text = self.tr("step {step}: {left} + {right} → {token}, {change} tokens, then {count}")
        parts = {"left": token_text(row.left), "right": token_text(row.right)}
        return text.format(step=step, token=token, change=change, count=count, **parts)


def _signed(change: int) -> str:
    return f"−{number_text(-change)}" if change < 0 else f"+{number_text(change)}" if change else "±0"
