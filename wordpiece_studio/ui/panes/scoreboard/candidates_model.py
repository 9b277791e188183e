"""The candidates of a step as a table: a thin adapter over the candidates that the trainer named.

However many there are, only the rows that are looked at are written out.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QObject, QPersistentModelIndex, Qt

from wordpiece_studio.ui.widgets.formula import RULES, Formula, formula_of
from wordpiece_studio.ui.widgets.plain import tooltip_text
from wordpiece_studio.ui.widgets.token_text import number_text, token_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from wordpiece_studio.training.engine import Candidate

RANK, PAIR, NUMBERS, REDUCED, VALUE, BAR = range(6)
CANDIDATE_ROLE = int(Qt.ItemDataRole.UserRole)
"""The candidate of the row itself."""

_LEFT_ALIGNED = (PAIR, BAR)
_Index = QModelIndex | QPersistentModelIndex


class CandidatesModel(QAbstractTableModel):
    """One row a candidate, the best first.

    Columns: rank, pair, the formula with the candidate's numbers, the same reduced, value, bar (which is painted).
    """

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._candidates: Sequence[Candidate] = ()
        self._objective, self._symbols = "score", 0
        self._headings = [""] * (BAR + 1)
        self._tied = 0
        self._tie_rule = ""
        self._is_rule_named = False

    def set_candidates(self, candidates: Sequence[Candidate], objective: str, symbols: int, value_name: str) -> None:
        """Show these candidates.

        Parameters
        ----------
        objective, symbols
            What their formulas are filled in with, see `formula_of`.
        value_name
            The heading of the value's column.
        """
        self.beginResetModel()
        self._candidates, self._objective, self._symbols = tuple(candidates), objective, symbols
        self._tied = sum(candidate.is_tied for candidate in candidates)
        rule = "" if objective == "count" else RULES[objective]
        self._headings = [self.tr("rank"), self.tr("pair"), rule, "", value_name, ""]
        self.endResetModel()

    def add_candidates(self, candidates: Sequence[Candidate], objective: str, symbols: int) -> bool:
        """Append what follows the candidates shown, if `candidates` begins with them; else change nothing."""
        count, is_same = len(self._candidates), (objective, symbols) == (self._objective, self._symbols)
        if not count or not is_same or tuple(candidates[:count]) != self._candidates:
            return False
        if len(candidates) > count:
            self.beginInsertRows(QModelIndex(), count, len(candidates) - 1)
            self._candidates = tuple(candidates)
            self._tied = sum(candidate.is_tied for candidate in candidates)
            self.endInsertRows()
        return True

    def set_rule_named(self, is_named: bool) -> None:
        """Head the formulas with a word, where there is no room for the rule itself."""
        if is_named != self._is_rule_named:
            self._is_rule_named = is_named
            self.headerDataChanged.emit(Qt.Orientation.Horizontal, NUMBERS, NUMBERS)

    def set_tie_rule(self, rule: str) -> None:
        """Say this in the tooltips of the candidates that tie."""
        self._tie_rule = rule

    @property
    def pairs(self) -> Sequence[Candidate]:
        """The candidates shown."""
        return self._candidates

    @property
    def rule(self) -> str:
        """The rule that the formulas follow, empty if it says no more than the value's heading."""
        return self._headings[NUMBERS]

    @property
    def tied_rows(self) -> int:
        """How many rows from the first on share the best value; 0 if the best stands alone."""
        return self._tied

    def row_of(self, left: str, right: str) -> int:
        """Return the row of a pair; -1 if it is not shown."""
        for row, candidate in enumerate(self._candidates):
            if candidate.left == left and candidate.right == right:
                return row
        return -1

    def share(self, row: int) -> float:
        """Return how long the bar of a row is: its value over the best one, between 0 and 1."""
        best = self._candidates[0].value
        return min(max(self._candidates[row].value / best, 0.0), 1.0) if best > 0 else 0.0

    def formula(self, row: int) -> Formula:
        """Return the formula of a row with its own numbers."""
        return formula_of(self._objective, self._candidates[row], self._symbols)

    def rowCount(self, parent: _Index = QModelIndex()) -> int:  # noqa: B008 - Qt's own signature
        return 0 if parent.isValid() else len(self._candidates)

    def columnCount(self, parent: _Index = QModelIndex()) -> int:  # noqa: B008 - Qt's own signature
        return 0 if parent.isValid() else len(self._headings)

    def data(self, index: _Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if not index.isValid():
            return None
        row, column = index.row(), index.column()
        if role == Qt.ItemDataRole.DisplayRole:
            return self._text(row, column)
        if role == CANDIDATE_ROLE:
            return self._candidates[row]
        if role == Qt.ItemDataRole.ToolTipRole:
            return tooltip_text(self._explanation(row))
        if role == Qt.ItemDataRole.AccessibleTextRole and column == PAIR:
            return f"{number_text(row + 1)}: {self._text(row, PAIR)}, {self.formula(row).text}"
        if role == Qt.ItemDataRole.TextAlignmentRole:
            side = Qt.AlignmentFlag.AlignLeft if column in _LEFT_ALIGNED else Qt.AlignmentFlag.AlignRight
            return int(side | Qt.AlignmentFlag.AlignVCenter)
        return None

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if orientation != Qt.Orientation.Horizontal:
            return None
        if role == Qt.ItemDataRole.DisplayRole:
            is_named = section == NUMBERS and self._is_rule_named
            return self.tr("formula") if is_named else self._headings[section]
        if role == Qt.ItemDataRole.TextAlignmentRole:
            side = Qt.AlignmentFlag.AlignLeft if section in _LEFT_ALIGNED else Qt.AlignmentFlag.AlignRight
            return int(side | Qt.AlignmentFlag.AlignVCenter)
        return None

    def _text(self, row: int, column: int) -> str:
        candidate = self._candidates[row]
        if column == RANK:
            return number_text(row + 1)
        if column == PAIR:
            return f"{token_text(candidate.left)} {token_text(candidate.right)}"
        formula = self.formula(row)
        if column == NUMBERS:
            return formula.numbers
        if column == REDUCED:
            return formula.reduced[-1] if formula.reduced else ""
        return formula.value if column == VALUE else ""

    def _explanation(self, row: int) -> str:
        candidate = self._candidates[row]
        pair = f"{candidate.left} + {candidate.right} → {candidate.token}"
        counts = "n(ab) = {}, n(a) = {}, n(b) = {}".format(
            *map(number_text, (candidate.pair_frequency, candidate.left_frequency, candidate.right_frequency))
        )
        rule = self._tie_rule if row < self._tied else ""
        return "\n".join(filter(None, (pair, self.formula(row).text, counts, rule)))
