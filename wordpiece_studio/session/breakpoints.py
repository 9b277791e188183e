"""The breakpoints that the user has set, as a table for Qt's views, and the steps of a history at which each is hit.

The steps are found with NumPy over the columns of a history, continued as it grows; a regular expression searches a
million tokens a few thousand at a time. `breakpoint_watch` does so for the run shown.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np
from PySide6.QtCore import QModelIndex, QObject, Qt, Signal

from wordpiece_studio.errors import StudioError
from wordpiece_studio.session.table_model import LEFT, RecordTableModel, TableColumn
from wordpiece_studio.text.patterns import SearchPattern

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from numpy.typing import NDArray

    from wordpiece_studio.session.table_model import Index
    from wordpiece_studio.training.history import MergeHistory

    Steps = NDArray[np.int64]

BreakpointKind = Literal["token", "pattern", "word", "value", "tie", "size"]
KINDS: tuple[BreakpointKind, ...] = get_args(BreakpointKind)
TEXT_KINDS = ("token", "pattern", "word")


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
    """

    kind: BreakpointKind
    text: str = ""
    number: float = 0.0
    is_enabled: bool = True

    def __post_init__(self) -> None:
        if self.kind == "pattern":
            SearchPattern(self.text)
        elif self.kind in TEXT_KINDS and not self.text:
            raise StudioError("The condition is empty", "Type the whole token or word.")
        elif not math.isfinite(self.number):
            raise StudioError("The number must be finite", "Type a finite number.")
        elif self.kind == "tie" and self.number < 2:
            raise StudioError("A tie has at least two pairs", "Type 2 or more.")
        elif self.kind == "size" and self.number < 1:
            raise StudioError("A vocabulary cannot have {size:g} tokens", "Type 1 or more.", size=self.number)

    @property
    def as_enabled(self) -> Breakpoint:
        return self if self.is_enabled else replace(self, is_enabled=True)


class Breakpoints(RecordTableModel["Breakpoint"]):
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
        self.set_records(self._all)
        self._columns = (
            TableColumn(self.tr("Stop when"), lambda all_, row: self.kind_text(all_[row].kind), align=LEFT),
            TableColumn(self.tr("Value"), lambda all_, row: _value_text(all_[row]), align=LEFT),
        )

    @property
    def all(self) -> tuple[Breakpoint, ...]:
        return tuple(self._all)

    @property
    def enabled(self) -> tuple[Breakpoint, ...]:
        """The enabled breakpoints, without duplicates."""
        return tuple(dict.fromkeys(each for each in self._all if each.is_enabled))

    def set_all(self, breakpoints: Iterable[Breakpoint]) -> None:
        """Replace all breakpoints."""
        self._all = list(breakpoints)
        self.set_records(self._all)
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
            self._emit_changed(row, row)
            self.changed.emit()

    def remove(self, row: int) -> None:
        """Remove the breakpoint in `row`."""
        self.beginRemoveRows(QModelIndex(), row, row)
        del self._all[row]
        self.endRemoveRows()
        self.changed.emit()

    def disable(self, breakpoint_: Breakpoint) -> None:
        for row, each in enumerate(self._all):
            if each == breakpoint_:
                self.replace(row, replace(each, is_enabled=False))

    # The check boxes.

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """Return the data of a cell for `role`."""
        if role == Qt.ItemDataRole.CheckStateRole and index.isValid() and index.column() == 0:
            return Qt.CheckState.Checked if self._all[index.row()].is_enabled else Qt.CheckState.Unchecked
        return super().data(index, role)

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

    def kind_text(self, kind: BreakpointKind) -> str:
        """Return the condition of this kind of breakpoint, in words."""
        return {
            "token": self.tr("Token is created"),
            "pattern": self.tr("Token is created (regex)"),
            "word": self.tr("Word becomes one token"),
            "value": self.tr("Merge score falls below"),
            "tie": self.tr("Number of tied pairs reaches"),
            "size": self.tr("Vocabulary size reaches"),
        }[kind]


def _value_text(each: Breakpoint) -> str:
    if each.kind in TEXT_KINDS:
        return each.text
    return f"{each.number:,.15g}"


_CHUNK = 512  # tokens searched at once
_NONE: Steps = np.empty(0, dtype=np.int64)


class BreakpointSearch:
    """The hits of one breakpoint in one history.

    Attributes
    ----------
    known
        How many merges have been searched.
    steps
        The steps from 1 to `known` at which the breakpoint is hit, ascending; int64, shape (n,).
    fault
        Why the search was abandoned, or None. From then on nothing is found.
    """

    def __init__(self, breakpoint_: Breakpoint, history: MergeHistory) -> None:
        self.known = 0
        self.steps: Steps = _NONE
        self.fault: StudioError | None = None
        self._breakpoint = breakpoint_
        self._history = history
        finders: dict[str, Callable[[int, int], Steps]] = {
            "token": self._births,
            "pattern": self._matches,
            "word": self._wholes,
            "value": self._falls,
            "tie": self._ties,
            "size": self._sizes,
        }
        self._find = finders[breakpoint_.kind]
        self._is_slow = breakpoint_.kind == "pattern"
        self._deadline, self._end = float("inf"), 0
        self._word: int | None = None  # its index in the corpus, -1 if it is not there, None if not looked up yet
        self._pattern = SearchPattern(breakpoint_.text) if self._is_slow else None

    @property
    def is_waiting(self) -> bool:
        """Whether the words of the history still have to be read, which happens in the background."""
        history = self._history
        return self._breakpoint.kind == "word" and not (history.is_whole or history.is_damaged)

    def advance(self, count: int, deadline: float = float("inf")) -> None:
        """Search the merges up to `count`, or as far as `deadline` allows, but at least one.

        Does nothing while `is_waiting`. `deadline` is a `perf_counter` time.
        """
        if self.is_waiting:
            return
        found: list[Steps] = []
        self._deadline = deadline
        while self.known < count:
            self._end = min(count, self.known + _CHUNK) if self._is_slow else count
            if self.fault is None:
                found.append(self._find(self.known, self._end))
            self.known = self._end
            if time.perf_counter() > deadline:
                break
        if any(map(len, found)):
            self.steps = np.concatenate((self.steps, *found))

    # Each returns the hits among the steps `first` + 1 to `end`.

    def _births(self, first: int, end: int) -> Steps:
        return self._birth_of(self._breakpoint.text, first, end)

    def _birth_of(self, token: str, first: int, end: int) -> Steps:
        token_id = self._history.vocabulary(end).id_of(token)
        return _NONE if token_id is None else _within(self._history.birth_step(token_id), first, end)

    def _matches(self, first: int, end: int) -> Steps:
        """Stop at the deadline: a regular expression may take long even for a single token."""
        history, pattern = self._history, self._pattern
        assert pattern is not None  # set for this kind of breakpoint
        found = []
        for index in (np.flatnonzero(history.column("is_new")[first:end]) + first).tolist():
            try:
                if pattern.is_in(history.token(int(history.column("new_id")[index]))):
                    found.append(index + 1)
            except StudioError as error:
                self.fault = error
                self.steps = _NONE
                return _NONE
            if time.perf_counter() > self._deadline:
                self._end = index + 1
                break
        return np.array(found, dtype=np.int64)

    def _wholes(self, first: int, end: int) -> Steps:
        """A word of the corpus is whole when its last boundary is gone; any other word, when its token is born."""
        history, word = self._history, self._breakpoint.text
        if self._word is None and history.is_damaged:
            self._word = -1
        if self._word is None:
            try:
                self._word = history.input.words.index(word)
            except ValueError:
                self._word = -1
        if self._word < 0:
            return self._birth_of(word + (history.config.end_of_word_suffix or ""), first, end)
        start = int(history.input.word_starts[self._word])
        inside = history.segmentations.boundary_steps[start + 1 : start + int(history.input.word_lengths[self._word])]
        return _within(int(inside.max()), first, end) if len(inside) else _NONE

    def _falls(self, first: int, end: int) -> Steps:
        values = self._history.column("value")
        before = values[first - 1] if first else np.inf
        was_above = np.concatenate(([before], values[first : end - 1])) >= self._breakpoint.number
        return np.flatnonzero(was_above & (values[first:end] < self._breakpoint.number)) + first + 1

    def _ties(self, first: int, end: int) -> Steps:
        return np.flatnonzero(self._history.column("ties")[first:end] >= self._breakpoint.number) + first + 1

    def _sizes(self, first: int, end: int) -> Steps:
        before, wanted = self._history.vocabulary_size(first), self._breakpoint.number
        reached = first + 1 + int(np.searchsorted(self._history.vocabulary_sizes()[first:end], wanted))
        return _within(reached, first, end) if before < wanted else _NONE


def _within(step: int, first: int, end: int) -> Steps:
    return np.array([step], dtype=np.int64) if first < step <= end else _NONE
