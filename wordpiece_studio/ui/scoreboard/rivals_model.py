"""The rivals of a step as a table: a thin adapter over the candidates that the trainer named."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QObject, QPersistentModelIndex, Qt

from wordpiece_studio.ui.look.plain import tooltip_text
from wordpiece_studio.ui.look.token_text import number_text, token_text, value_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from wordpiece_studio.core.training.records import Candidate

RANK, PAIR, TOGETHER, LEFT, RIGHT, VALUE, BAR = range(7)
CANDIDATE_ROLE = int(Qt.ItemDataRole.UserRole)
"""The candidate of the row itself."""

_Index = QModelIndex | QPersistentModelIndex


class RivalsModel(QAbstractTableModel):
    """One row a rival, the best first."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._candidates: Sequence[Candidate] = ()
        self._value_name = ""
        self._formulas: Sequence[str] = ()

    def set_rivals(self, candidates: Sequence[Candidate], formulas: Sequence[str], value_name: str) -> None:
        """Show these rivals.

        Parameters
        ----------
        formulas
            The formula of each rival filled in, for its tooltip.
        value_name
            The heading of the value's column.
        """
        self.beginResetModel()
        self._candidates, self._formulas, self._value_name = tuple(candidates), tuple(formulas), value_name
        self.endResetModel()

    @property
    def candidates(self) -> Sequence[Candidate]:
        """The rivals shown."""
        return self._candidates

    @property
    def tied_rows(self) -> int:
        """How many rows from the first on share the best value; 0 if the best stands alone."""
        return sum(candidate.is_tied for candidate in self._candidates)

    def share(self, row: int) -> float:
        """Return how long the bar of a row is: its value over the best one, between 0 and 1."""
        best = self._candidates[0].value
        return min(max(self._candidates[row].value / best, 0.0), 1.0) if best > 0 else 0.0

    def rowCount(self, parent: _Index = QModelIndex()) -> int:  # noqa: B008 - Qt's own signature
        return 0 if parent.isValid() else len(self._candidates)

    def columnCount(self, parent: _Index = QModelIndex()) -> int:  # noqa: B008 - Qt's own signature
        return 0 if parent.isValid() else 7

    def data(self, index: _Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if not index.isValid():
            return None
        candidate = self._candidates[index.row()]
        if role == Qt.ItemDataRole.DisplayRole:
            return self._text(candidate, index.row(), index.column())
        if role == CANDIDATE_ROLE:
            return candidate
        if role == Qt.ItemDataRole.ToolTipRole:
            return tooltip_text(self._formulas[index.row()])
        if role == Qt.ItemDataRole.TextAlignmentRole:
            side = Qt.AlignmentFlag.AlignLeft if index.column() == PAIR else Qt.AlignmentFlag.AlignRight
            return int(side | Qt.AlignmentFlag.AlignVCenter)
        return None

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if orientation != Qt.Orientation.Horizontal:
            return None
        if role == Qt.ItemDataRole.DisplayRole:
            names = (self.tr("rank"), self.tr("pair"), "n(ab)", "n(a)", "n(b)", self._value_name, "")
            return names[section]
        if role == Qt.ItemDataRole.TextAlignmentRole:
            side = Qt.AlignmentFlag.AlignLeft if section == PAIR else Qt.AlignmentFlag.AlignRight
            return int(side | Qt.AlignmentFlag.AlignVCenter)
        return None

    def _text(self, candidate: Candidate, row: int, column: int) -> str:
        if column == RANK:
            return number_text(row + 1)
        if column == PAIR:
            return f"{token_text(candidate.left)} {token_text(candidate.right)}"
        numbers = {
            TOGETHER: candidate.pair_frequency,
            LEFT: candidate.left_frequency,
            RIGHT: candidate.right_frequency,
        }
        if column in numbers:
            return number_text(numbers[column])
        return value_text(candidate.value) if column == VALUE else ""
