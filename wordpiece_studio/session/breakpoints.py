"""The breakpoints that the user has set, as a table for Qt's views, and the steps of the run shown where they are hit.

The steps are found with NumPy over the columns of a history, continued as it grows; a regular expression searches a
million tokens a few thousand at a time. All in the window's thread, a few milliseconds at a time.

`MarksModel` is what the tables of breakpoints and of bookmarks have in common. At the end is what is selected, looked
up in a run: its token, and the steps that made it.
"""

from __future__ import annotations

import operator
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec
import numpy as np
from PySide6.QtCore import QModelIndex, QObject, Signal

from wordpiece_studio.errors import StudioError
from wordpiece_studio.session.table_model import LEFT, RecordTableModel, TableColumn, each_row
from wordpiece_studio.session.task import single_shot
from wordpiece_studio.storage.view import KINDS, TEXT_KINDS, Breakpoint
from wordpiece_studio.text.patterns import SearchPattern

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from wordpiece_studio.session.trainer_model import TrainerModel
    from wordpiece_studio.storage.view import BreakpointKind, Selection
    from wordpiece_studio.tokenizer.vocabulary import Vocabulary
    from wordpiece_studio.training.history import MergeHistory

    Steps = NDArray[np.int64]

MarkT = TypeVar("MarkT")


class MarksModel(RecordTableModel[MarkT]):
    """Marks that the user sets, in a table with check boxes in one column.

    Signals
    -------
    changed()
        `marks`, or what is said of them, has changed.
    """

    changed = Signal()

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent=parent)
        self._marks: list[MarkT] = []
        self.set_records(self._marks)

    def set_marks(self, marks: Iterable[MarkT]) -> None:
        self._marks = list(marks)
        self.set_records(self._marks)
        self.changed.emit()

    def insert(self, row: int, mark: MarkT) -> None:
        self.beginInsertRows(QModelIndex(), row, row)
        self._marks.insert(row, mark)
        self.endInsertRows()
        self.changed.emit()

    def replace(self, row: int, mark: MarkT) -> None:
        if self._marks[row] != mark:
            self._marks[row] = mark
            self._emit_changed(row, row)
            self.changed.emit()

    def remove(self, row: int) -> None:
        self.beginRemoveRows(QModelIndex(), row, row)
        del self._marks[row]
        self.endRemoveRows()
        self.changed.emit()


class Breakpoints(MarksModel["Breakpoint"]):
    """The breakpoints, oldest first; two columns: the condition, with a check box, and its text or number."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)

        def width(measure: Any, _all: Sequence[Breakpoint]) -> int:
            return int(measure.text(*map(self.kind_text, KINDS))) + 48

        condition = TableColumn(
            self.tr("Stop when"), each_row(lambda one: self.kind_text(one.kind)), align=LEFT, width=width,
            check=each_row(lambda one: one.is_enabled), switch=lambda _all, row, is_on: self.enable(row, is_on),
        )  # fmt: skip
        self.columns = condition, TableColumn(self.tr("Value"), each_row(_value_text), align=LEFT, stretch=1)

    @property
    def all(self) -> tuple[Breakpoint, ...]:
        return tuple(self._marks)

    @property
    def enabled(self) -> tuple[Breakpoint, ...]:
        """The enabled breakpoints, without duplicates."""
        return tuple(dict.fromkeys(each for each in self._marks if each.is_enabled))

    def add(self, breakpoint_: Breakpoint) -> int:
        """Append a breakpoint, or replace the equal one already there; return its row."""
        for row, each in enumerate(self._marks):
            if (each.kind, each.text, each.number) == (breakpoint_.kind, breakpoint_.text, breakpoint_.number):
                self.replace(row, breakpoint_)
                return row
        row = len(self._marks)
        self.insert(row, breakpoint_)
        return row

    def disable(self, breakpoint_: Breakpoint) -> None:
        for row, each in enumerate(self._marks):
            if each == breakpoint_:
                self.enable(row, False)

    def enable(self, row: int, is_enabled: bool) -> None:
        self.replace(row, msgspec.structs.replace(self._marks[row], is_enabled=is_enabled))

    def kind_text(self, kind: BreakpointKind) -> str:
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
        self._deadline, self._end = float("inf"), 0
        self._word: int | None = None  # its index in the corpus, -1 if it is not there, None if not looked up yet
        self._pattern = SearchPattern(breakpoint_.text) if breakpoint_.kind == "pattern" else None

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
            self._end = min(count, self.known + _CHUNK) if self._pattern is not None else count
            if self.fault is None:
                found.append(self._find(self.known, self._end))
            self.known = self._end
            if time.perf_counter() > deadline:
                break
        if any(map(len, found)):
            self.steps = np.concatenate((self.steps, *found))

    def _find(self, first: int, end: int) -> Steps:
        """Return the hits among the steps `first` + 1 to `end`."""
        history, number = self._history, self._breakpoint.number
        if self._pattern is not None:
            return self._matches(self._pattern, first, end)
        match self._breakpoint.kind:
            case "word":
                return self._wholes(first, end)
            case "value":
                values = history.column("value")
                before = values[first - 1] if first else np.inf
                was_above = np.concatenate(([before], values[first : end - 1])) >= number
                return np.flatnonzero(was_above & (values[first:end] < number)) + first + 1
            case "tie":
                return np.flatnonzero(history.column("ties")[first:end] >= number) + first + 1
            case "size":
                reached = first + 1 + int(np.searchsorted(history.vocabulary_sizes()[first:end], number))
                return _within(reached, first, end) if history.vocabulary_size(first) < number else _NONE
        return self._birth_of(self._breakpoint.text, first, end)

    def _birth_of(self, token: str, first: int, end: int) -> Steps:
        token_id = self._history.vocabulary(end).id_of(token)
        return _NONE if token_id is None else _within(self._history.birth_step(token_id), first, end)

    def _matches(self, pattern: SearchPattern, first: int, end: int) -> Steps:
        """Stop at the deadline: a regular expression may take long even for a single token."""
        history, found = self._history, []
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
        if self._word is None:
            try:
                self._word = -1 if history.is_damaged else history.input.words.index(word)
            except ValueError:
                self._word = -1
        if self._word < 0:
            return self._birth_of(word + (history.config.end_of_word_suffix or ""), first, end)
        start = int(history.input.word_starts[self._word])
        inside = history.segmentations.boundary_steps[start + 1 : start + int(history.input.word_lengths[self._word])]
        return _within(int(inside.max()), first, end) if len(inside) else _NONE


def _within(step: int, first: int, end: int) -> Steps:
    return np.array([step], dtype=np.int64) if first < step <= end else _NONE


_SLICE_SECONDS = 0.006
_PAUSE_MS = 4
_REPORT_SECONDS = 0.25
"""The shortest time between two reports of a long search: every report makes the views redraw."""
_END = np.iinfo(np.int64).max


@dataclass(frozen=True, slots=True)
class Hit:
    step: int
    breakpoints: tuple[Breakpoint, ...]


class BreakpointWatch(QObject):
    """Finds the steps at which any enabled breakpoint is hit.

    Signals
    -------
    changed()
        `known` or `steps` has changed.
    faulted(StudioError)
        A breakpoint was disabled because its expression takes too long.
    """

    changed = Signal()
    faulted = Signal(object)

    def __init__(self, model: TrainerModel, breakpoints: Breakpoints, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._model = model
        self._breakpoints = breakpoints
        self._history: MergeHistory | None = None  # that is searched
        self._searches: dict[Breakpoint, BreakpointSearch] = {}
        self._steps = _NONE
        self._steps_of: list[Steps] = []  # the parts that `_steps` was built from
        self._reported_at = 0.0
        self._timer = single_shot(self, self._search, _PAUSE_MS)
        model.run_reset.connect(self._search)
        model.merges_appended.connect(self._on_model_merges_appended)
        model.step_changed.connect(self._on_model_step_changed)
        breakpoints.changed.connect(self._search)

    @property
    def is_set(self) -> bool:
        return bool(self._breakpoints.enabled)

    @property
    def known(self) -> int:
        """How many merges have been searched for every breakpoint; all merges if there is nothing to search for."""
        return min((search.known for search in self._searches.values()), default=self._model.merge_count)

    @property
    def is_searching(self) -> bool:
        return self.known < self._model.merge_count

    @property
    def steps(self) -> Steps:
        """All steps found so far, ascending; int64, shape (n,)."""
        found = [search.steps for search in self._searches.values()]
        if len(found) != len(self._steps_of) or any(map(operator.is_not, found, self._steps_of)):
            self._steps_of, self._steps = found, _united(found)
        return self._steps

    def next_hit(self, after: int, last: int = _END) -> Hit | None:
        """Return the first hit after step `after` and up to step `last`; only certain up to `known`."""
        steps = (_first_after(search.steps, after) for search in self._searches.values())
        step = min(steps, default=_END)
        return self._hit_at(step) if step <= last and step != _END else None

    def previous_hit(self, before: int) -> Hit | None:
        step = max((_last_before(search.steps, before) for search in self._searches.values()), default=0)
        return self._hit_at(step) if step else None

    def hit_at(self, step: int) -> Hit | None:
        return self.next_hit(step - 1, step)

    def _hit_at(self, step: int) -> Hit:
        hit = (each for each, search in self._searches.items() if _first_after(search.steps, step - 1) == step)
        return Hit(step, tuple(hit))

    # What happens.

    def _on_model_merges_appended(self, _first: int, _last: int) -> None:
        if self._searches or self.is_set:
            self._search()

    def _on_model_step_changed(self, _step: object) -> None:
        """Search again: this signal also means that the words a search waited for have been read."""
        if self.is_searching and not self._timer.isActive():
            self._search()

    def _search(self) -> None:
        history, count = self._model.history, self._model.merge_count
        deadline = time.perf_counter() + _SLICE_SECONDS
        known = self._searches if history is self._history else {}
        self._history, self._searches = history, {}
        if history is not None:
            for each in self._breakpoints.enabled:
                self._searches[each] = known.get(each) or BreakpointSearch(each, history)
        for search in self._searches.values():
            if search.known < count:
                search.advance(count, deadline)
                if time.perf_counter() > deadline:
                    break
        now = time.perf_counter()
        if any(search.known < count and not search.is_waiting for search in self._searches.values()):
            self._timer.start()
        if not self.is_searching or now - self._reported_at > _REPORT_SECONDS:
            self._reported_at = now
            self.changed.emit()
        for each, search in list(self._searches.items()):
            if search.fault is not None and each in self._searches:  # to disable one looks at the others, too
                self._breakpoints.disable(each)
                self.faulted.emit(search.fault)


def _united(parts: Sequence[Steps]) -> Steps:
    """Return the union of ascending arrays, ascending; a stable sort is fast on partly sorted input."""
    if not parts:
        return _NONE
    if len(parts) == 1:
        return parts[0]
    steps = np.sort(np.concatenate(parts), kind="stable")
    return steps[np.diff(steps, prepend=-1) > 0]


def _first_after(steps: Steps, step: int) -> int:
    index = int(np.searchsorted(steps, step, side="right"))
    return int(steps[index]) if index < len(steps) else _END


def _last_before(steps: Steps, step: int) -> int:
    index = int(np.searchsorted(steps, step, side="left")) - 1
    return int(steps[index]) if index >= 0 else 0


def text_of_token(selection: Selection, vocabulary: Vocabulary) -> str:
    """Return the text of the selected token, or of the one its pair would make; empty for a word."""
    if selection.kind == "word":
        return ""
    return selection.text if selection.kind == "token" else made_by(selection, vocabulary.continuing_subword_prefix)


def made_by(pair: Selection, prefix: str) -> str:
    return pair.left + pair.right.removeprefix(prefix)


def id_of_token(selection: Selection, vocabulary: Vocabulary) -> int | None:
    return None if selection.kind == "word" else vocabulary.id_of(text_of_token(selection, vocabulary))


def step_of_pair(pair: Selection, history: MergeHistory, merges: int) -> int | None:
    """Return the first of so many steps that merged a pair; None if none did."""
    left, right = map(history.vocabulary(merges).id_of, (pair.left, pair.right))
    if left is None or right is None:
        return None
    is_merge = (history.column("left_id")[:merges] == left) & (history.column("right_id")[:merges] == right)
    return int(np.argmax(is_merge)) + 1 if is_merge.any() else None


class SelectionStep:
    """Finds the step; for the same selection during training, it searches only the new merges."""

    def __init__(self) -> None:
        self._request: tuple[Selection | None, MergeHistory | None] = (None, None)
        self._found: int | None = None
        self._word: BreakpointSearch | None = None

    def find(self, selection: Selection | None, history: MergeHistory | None, merges: int) -> int | None:
        """Return the step, up to `merges`, at which the selection came to be; None if it did not.

        For a token, the step of its birth, 0 for the alphabet; for a pair, the first step that merged it; for a
        word, the step from which it is one token.
        """
        if selection is None or history is None:
            return None
        if selection != self._request[0] or history is not self._request[1]:
            self._request, self._found, self._word = (selection, history), None, None
        if self._found is None:
            self._found = self._look(selection, history, merges)
        return self._found if self._found is not None and self._found <= merges else None

    def _look(self, selection: Selection, history: MergeHistory, merges: int) -> int | None:
        if selection.kind == "word":
            return self._whole(selection.text, history, merges)
        vocabulary = history.vocabulary(merges)
        if selection.kind == "token":
            token_id = vocabulary.id_of(selection.text)
            return None if token_id is None else history.birth_step(token_id)
        return step_of_pair(selection, history, merges)

    def _whole(self, word: str, history: MergeHistory, merges: int) -> int | None:
        if self._word is None:
            if not word:
                return None
            self._word = BreakpointSearch(Breakpoint("word", word), history)
        self._word.advance(merges)
        return int(self._word.steps[0]) if len(self._word.steps) else None
