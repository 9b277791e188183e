"""The breakpoints that the user has set, as a table for Qt's views: a list of records, each enabled or disabled.

`breakpoint_watch.py` finds where they are hit; nothing here depends on a training.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, get_args

from PySide6.QtCore import QAbstractTableModel, QLocale, QModelIndex, QObject, QPersistentModelIndex, Qt, Signal

from wordpiece_studio.errors import StudioError
from wordpiece_studio.text.patterns import SearchPattern

if TYPE_CHECKING:
    from collections.abc import Iterable

    Index = QModelIndex | QPersistentModelIndex

BreakpointKind = Literal["token", "pattern", "word", "value", "tie", "size"]
KINDS: tuple[BreakpointKind, ...] = get_args(BreakpointKind)
TEXT_KINDS = ("token", "pattern", "word")
_NO_INDEX = QModelIndex()


@dataclass(frozen=True, slots=True)
class Breakpoint:
    """A condition that may be met at a step.

    Attributes
    ----------
    kind
        ``"token"``: the token `text` is born. ``"pattern"``: a token is born in which the expression `text` is found.
        ``"word"``: the word `text` becomes one token. ``"value"``: the value falls below `number`. ``"tie"``: at least
        `number` pairs are equally good. ``"size"``: the vocabulary has `number` tokens.
    is_enabled
        Whether playing and training halt there.

    Raises
    ------
    StudioError
        If `text` is missing or is an invalid expression, or `number` makes no sense.
    """

    kind: BreakpointKind
    text: str = ""
    number: float = 0.0
    is_enabled: bool = True

    def __post_init__(self) -> None:
        if self.kind == "pattern":
            SearchPattern(self.text)
        elif self.kind in TEXT_KINDS and not self.text:
            raise StudioError("There is nothing to wait for", "Type the whole token or word.")
        elif not math.isfinite(self.number):
            raise StudioError("The number must be finite", "Type a finite number.")
        elif self.kind == "tie" and self.number < 2:
            raise StudioError("A tie has at least two pairs", "Type 2 or more.")
        elif self.kind == "size" and self.number < 1:
            raise StudioError("A vocabulary cannot have {size:g} tokens", "Type 1 or more.", size=self.number)

    @property
    def as_enabled(self) -> Breakpoint:
        """The same, enabled."""
        return self if self.is_enabled else replace(self, is_enabled=True)


class Breakpoints(QAbstractTableModel):
    """The breakpoints, oldest first; two columns: the condition, with a check box, and its text or number.

    Signals
    -------
    changed()
        `all` has changed.
    """

    changed = Signal()

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._all: list[Breakpoint] = []

    @property
    def all(self) -> tuple[Breakpoint, ...]:
        """All breakpoints."""
        return tuple(self._all)

    @property
    def enabled(self) -> tuple[Breakpoint, ...]:
        """The enabled breakpoints, without duplicates."""
        return tuple(dict.fromkeys(each for each in self._all if each.is_enabled))

    def set_all(self, breakpoints: Iterable[Breakpoint]) -> None:
        """Replace all breakpoints."""
        self.beginResetModel()
        self._all = list(breakpoints)
        self.endResetModel()
        self.changed.emit()

    def add(self, breakpoint_: Breakpoint) -> int:
        """Append a breakpoint, or replace the equal one already there; return its row."""
        for row, each in enumerate(self._all):
            if each.as_enabled == breakpoint_.as_enabled:
                self.replace(row, breakpoint_)
                return row
        row = len(self._all)
        self.beginInsertRows(QModelIndex(), row, row)
        self._all.append(breakpoint_)
        self.endInsertRows()
        self.changed.emit()
        return row

    def replace(self, row: int, breakpoint_: Breakpoint) -> None:
        """Replace the breakpoint in `row`."""
        if self._all[row] != breakpoint_:
            self._all[row] = breakpoint_
            self.dataChanged.emit(self.index(row, 0), self.index(row, 1))
            self.changed.emit()

    def remove(self, row: int) -> None:
        """Remove the breakpoint in `row`."""
        self.beginRemoveRows(QModelIndex(), row, row)
        del self._all[row]
        self.endRemoveRows()
        self.changed.emit()

    def disable(self, breakpoint_: Breakpoint) -> None:
        """Disable a breakpoint."""
        for row, each in enumerate(self._all):
            if each == breakpoint_:
                self.replace(row, replace(each, is_enabled=False))

    # The interface of Qt's item models.

    def rowCount(self, parent: Index = _NO_INDEX) -> int:  # Qt's name
        """Return the number of breakpoints."""
        return 0 if parent.isValid() else len(self._all)

    def columnCount(self, parent: Index = _NO_INDEX) -> int:  # Qt's name
        """Return the number of columns."""
        return 0 if parent.isValid() else 2

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """Return the data of a cell for `role`."""
        if not index.isValid():
            return None
        each = self._all[index.row()]
        if role == Qt.ItemDataRole.DisplayRole:
            return self._value_text(each) if index.column() else self.kind_text(each.kind)
        if role == Qt.ItemDataRole.CheckStateRole and index.column() == 0:
            return Qt.CheckState.Checked if each.is_enabled else Qt.CheckState.Unchecked
        return None

    def setData(self, index: Index, value: Any, role: int = Qt.ItemDataRole.EditRole) -> bool:  # Qt's name
        """Enable or disable a breakpoint."""
        if role != Qt.ItemDataRole.CheckStateRole or not index.isValid() or index.column():
            return False
        is_enabled = Qt.CheckState(value) is Qt.CheckState.Checked
        self.replace(index.row(), replace(self._all[index.row()], is_enabled=is_enabled))
        return True

    def flags(self, index: Index) -> Qt.ItemFlag:
        """Return the item flags of a cell."""
        checkable = index.isValid() and index.column() == 0
        return super().flags(index) | (Qt.ItemFlag.ItemIsUserCheckable if checkable else Qt.ItemFlag.NoItemFlags)

    def headerData(  # Qt's name
        self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole
    ) -> Any:
        """Return the title of a column."""
        if orientation is Qt.Orientation.Horizontal and role == Qt.ItemDataRole.DisplayRole and 0 <= section < 2:
            return (self.tr("halt when"), self.tr("which, or how many"))[section]
        return None

    def kind_text(self, kind: BreakpointKind) -> str:
        """Return the condition of this kind of breakpoint, in words."""
        return {
            "token": self.tr("a token is born"),
            "pattern": self.tr("a token is born (regex)"),
            "word": self.tr("a word becomes whole"),
            "value": self.tr("the value falls below"),
            "tie": self.tr("pairs tie, at least"),
            "size": self.tr("the vocabulary reaches"),
        }[kind]

    def _value_text(self, each: Breakpoint) -> str:
        if each.kind in TEXT_KINDS:
            return each.text
        return QLocale().toString(float(each.number), "g", 15)
