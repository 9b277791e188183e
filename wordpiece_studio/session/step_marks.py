"""What a user marks on the steps of a training, breakpoints and bookmarks, and what moves the step by itself.

The steps at which breakpoints are hit are found in the window's thread, a few milliseconds at a time, and further as
the history grows. Bookmarks outlive their run: each records that and the merge it was made at.
"""

from __future__ import annotations

import time
from bisect import bisect_right
from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, TypeVar

import msgspec
import numpy as np
from PySide6.QtCore import QObject, QTimer, Signal

from wordpiece_studio.errors import StudioError
from wordpiece_studio.session.task import single_shot
from wordpiece_studio.session.training_job import TrainerState
from wordpiece_studio.storage.view import NOBODY, Bookmark, Breakpoint
from wordpiece_studio.system.arrays import first_after, last_before
from wordpiece_studio.text.patterns import SearchPattern

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from wordpiece_studio.session.trainer_model import TrainerModel
    from wordpiece_studio.storage.project.contents import Run
    from wordpiece_studio.storage.view import BreakpointKind, Selection
    from wordpiece_studio.tokenizer.vocabulary import Vocabulary
    from wordpiece_studio.training.history import MergeHistory

    Steps = NDArray[np.int64]

MarkT = TypeVar("MarkT")


class Marks(QObject, Generic[MarkT]):
    changed = Signal()  # the marks, or what is said of them, have changed

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.records: tuple[MarkT, ...] = ()

    def set_marks(self, marks: Iterable[MarkT]) -> None:
        self.records = tuple(marks)
        self.changed.emit()

    def insert(self, row: int, mark: MarkT) -> None:
        self.set_marks((*self.records[:row], mark, *self.records[row:]))

    def replace(self, row: int, mark: MarkT) -> None:
        if self.records[row] != mark:
            self.set_marks((*self.records[:row], mark, *self.records[row + 1 :]))

    def remove(self, row: int) -> None:
        self.set_marks((*self.records[:row], *self.records[row + 1 :]))


class Breakpoints(Marks["Breakpoint"]):
    @property
    def enabled(self) -> tuple[Breakpoint, ...]:
        return tuple(each for each in self.records if each.is_enabled)

    def add(self, breakpoint_: Breakpoint) -> int:
        for row, each in enumerate(self.records):
            if (each.kind, each.text, each.number) == (breakpoint_.kind, breakpoint_.text, breakpoint_.number):
                self.replace(row, breakpoint_)
                return row
        self.insert(len(self.records), breakpoint_)
        return len(self.records) - 1

    def enable(self, row: int, is_enabled: bool) -> None:
        self.replace(row, msgspec.structs.replace(self.records[row], is_enabled=is_enabled))

    def kind_text(self, kind: BreakpointKind) -> str:
        return {
            "token": self.tr("Token is created"),
            "pattern": self.tr("Token is created (regex)"),
            "word": self.tr("Word becomes one token"),
            "value": self.tr("Merge score falls below"),
            "tie": self.tr("Number of tied pairs reaches"),
            "size": self.tr("Vocabulary size reaches"),
        }[kind]


_NONE: Steps = np.empty(0, dtype=np.int64)


class BreakpointSearch:
    def __init__(self, breakpoint_: Breakpoint, history: MergeHistory) -> None:
        self.known = 0  # so many merges have been searched
        self.steps: Steps = _NONE  # where it is hit among them, ascending
        self.fault: StudioError | None = None  # why the search was abandoned: nothing more is found
        self._breakpoint = breakpoint_
        self._history = history
        self._pattern = SearchPattern(breakpoint_.text) if breakpoint_.kind == "pattern" else None

    @property
    def is_waiting(self) -> bool:
        """Whether the words of the history still have to be read, which happens in the background."""
        history = self._history
        return self._breakpoint.kind == "word" and not (history.is_whole or history.is_damaged)

    def advance(self, count: int, deadline: float = float("inf")) -> None:
        """Search the merges up to `count`; for an expression until `deadline` by `perf_counter`, but at least one."""
        first = self.known
        if first >= count or self.is_waiting:
            return
        self.known = count
        found = self._find(first, count, deadline) if self.fault is None else _NONE
        if len(found):
            self.steps = np.concatenate((self.steps, found))

    def _find(self, first: int, end: int, deadline: float) -> Steps:
        """Return the hits among the steps `first` + 1 to `end`."""
        history, number = self._history, self._breakpoint.number
        if self._pattern is not None:
            return self._matches(self._pattern, first, end, deadline)
        if self._breakpoint.kind == "value":
            values = history.column("value")
            before = values[first - 1] if first else np.inf
            was_above = np.concatenate(([before], values[first : end - 1])) >= number
            return np.flatnonzero(was_above & (values[first:end] < number)) + first + 1
        if self._breakpoint.kind == "tie":
            return np.flatnonzero(history.column("ties")[first:end] >= number) + first + 1
        step = self._only_step(end)
        return np.array([step], dtype=np.int64) if step is not None and first < step <= end else _NONE

    def _only_step(self, end: int) -> int | None:
        """Return the step that makes the token, reaches the size, or makes a word one token, perhaps after `end`.

        A word of the corpus is whole when its last boundary is gone; any other word, when its token is born.
        """
        history, text = self._history, self._breakpoint.text
        if self._breakpoint.kind == "size":
            reached = 1 + int(np.searchsorted(history.vocabulary_sizes(), self._breakpoint.number))
            return reached if history.vocabulary_size(0) < self._breakpoint.number else None
        if self._breakpoint.kind == "word":
            try:
                word = history.places.index_of(text)
                start = int(history.input.word_starts[word])
                inside = history.places.boundary_steps[start + 1 : start + int(history.input.word_lengths[word])]
                return int(inside.max()) if len(inside) else None
            except StudioError:  # it is not there, or the words are damaged
                text += history.config.end_of_word_suffix or ""
        token_id = history.vocabulary(end).id_of(text)
        return None if token_id is None else history.birth_step(token_id)

    def _matches(self, pattern: SearchPattern, first: int, end: int, deadline: float) -> Steps:
        """Stop at the deadline: a regular expression may take long even for a single token."""
        history, found = self._history, []
        is_new, new_ids = history.column("is_new"), history.column("new_id")
        for index in range(first, end):
            try:
                if is_new[index] and pattern.is_in(history.token(int(new_ids[index]))):
                    found.append(index + 1)
            except StudioError as error:
                self.fault, self.steps = error, _NONE
                return _NONE
            if time.perf_counter() > deadline:
                self.known = index + 1
                break
        return np.array(found, dtype=np.int64)


_SLICE_SECONDS = 0.006
_PAUSE_MS = 4
_REPORT_SECONDS = 0.25  # the shortest time between two reports of a long search: every report makes the views redraw
_END = np.iinfo(np.int64).max


@dataclass(frozen=True, slots=True)
class Hit:
    step: int
    breakpoints: tuple[Breakpoint, ...]


class BreakpointWatch(QObject):
    changed = Signal()  # `known` or `steps` has changed
    faulted = Signal(object)  # `StudioError`: a breakpoint was disabled, whose expression takes too long

    def __init__(self, model: TrainerModel, breakpoints: Breakpoints, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._model = model
        self._breakpoints = breakpoints
        self._history: MergeHistory | None = None  # that is searched
        self._searches: dict[Breakpoint, BreakpointSearch] = {}
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
        parts = [search.steps for search in self._searches.values()]
        if len(parts) == 1:
            return parts[0]
        steps = np.sort(np.concatenate((_NONE, *parts)), kind="stable")  # fast on what is partly sorted
        return steps[np.diff(steps, prepend=-1) > 0]

    def next_hit(self, after: int, last: int = _END) -> Hit | None:
        """Return the first hit after step `after` and up to step `last`; only certain up to `known`."""
        steps = (first_after(search.steps, after) for search in self._searches.values())
        step = min(filter(None, steps), default=None)
        return self._hit_at(step) if step is not None and step <= last else None

    def previous_hit(self, before: int) -> Hit | None:
        steps = (last_before(search.steps, before) for search in self._searches.values())
        step = max(filter(None, steps), default=None)
        return None if step is None else self._hit_at(step)

    def hit_at(self, step: int) -> Hit | None:
        return self.next_hit(step - 1, step)

    def _hit_at(self, step: int) -> Hit:
        hit = (each for each, search in self._searches.items() if step in search.steps)
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
                self._breakpoints.enable(self._breakpoints.records.index(each), False)
                self.faulted.emit(search.fault)


class Bookmarks(Marks["Bookmark"]):
    """The notes in order of step; the step of each can be compared."""

    def __init__(self, model: TrainerModel, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._model = model
        model.run_reset.connect(self._on_run_changed)
        model.merges_appended.connect(self._on_model_merges_appended)

    def set_notes(self, notes: Iterable[Bookmark]) -> None:
        lines = (msgspec.structs.replace(note, text=one_line(note.text)) for note in notes)
        self.set_marks(sorted(lines, key=lambda note: note.step))

    def keep(self, text: str, step: int | None = None) -> int:
        """Bookmark a step (None: the current one) with this line of text; return its row."""
        history, run = self._model.history, self._model.run
        step = self._model.step if step is None else step
        token = history[step - 1].token if history is not None and step else ""
        row = bisect_right([note.step for note in self.records], step)
        self.insert(row, Bookmark(step, one_line(text), token, owner=None if run is None else run.number))
        return row

    def set_text(self, row: int, text: str) -> None:
        self.replace(row, msgspec.structs.replace(self.records[row], text=one_line(text)))

    def set_compared(self, row: int, is_compared: bool) -> None:
        """Compare the step of the note in `row`, which belongs to the current run, or do so no longer."""
        run = self._model.run
        number = run.number if is_compared and run is not None else None
        self.replace(row, msgspec.structs.replace(self.records[row], run=number))

    def is_compared(self, note: Bookmark) -> bool | None:
        """Return whether the step of a note is compared; None if it cannot be, as it is another run's."""
        return note.run is not None if note.run is not None or self.is_of_run(note) else None

    def is_of_run(self, note: Bookmark, run: Run | None = None) -> bool:
        """Return whether a note was made at a run that still has its merge at its step; None is the current one."""
        current, step = self._model.run, note.step
        run = run or current
        if run is None or note.owner not in (None, run.number):
            return False
        if step > (self._model.merge_count if run is current else len(run.history)):
            return False
        return (run.history[step - 1].token if step else "") == note.token

    def of_run(self) -> list[Bookmark]:
        return [note for note in self.records if self.is_of_run(note)]

    def texts(self, step: int) -> list[str]:
        """Return the notes of a step; none while what comes next is hidden, which they may tell."""
        return [] if self._model.hides_future else [note.text for note in self.of_run() if note.step == step]

    def disown(self, number: int) -> None:
        """Note that the run of this number, if there was one, is gone, and another one gets it: notes stay of none."""
        if any(note.owner == number for note in self.records):
            self.set_marks(
                msgspec.structs.replace(note, owner=NOBODY, run=None) if note.owner == number else note
                for note in self.records
            )

    # Signals of the trainer.

    def _on_run_changed(self) -> None:
        if self.records:
            self.changed.emit()

    def _on_model_merges_appended(self, first: int, last: int) -> None:
        if any(first < note.step <= last + 1 for note in self.records):
            self._on_run_changed()


def one_line(text: str) -> str:
    return " ".join(text.split())


class StepMarks(QObject):
    def __init__(self, model: TrainerModel, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.breakpoints = Breakpoints(self)
        self.watch = BreakpointWatch(model, self.breakpoints, self)
        self.bookmarks = Bookmarks(model, self)


_MIN_SPEED = 0.25
_MAX_SPEED = 1000.0
WHOLE_RUN = 0.0  # the speed that plays any run in half a minute
_WHOLE_RUN_SECONDS = 30.0
_FRAMES_PER_SECOND = 50.0
_LONGEST_FRAME = 0.2  # seconds that are made up for


class Player(QObject):
    """Moves the step of a `TrainerModel` by itself: plays one merge after another, or runs to the next breakpoint.

    At the last merge playing waits for a running training, makes a paused one learn one merge at a time, and stops if
    the training is finished. Above 50 merges per second it takes several steps at a time, as many as the time that has
    passed makes due, but never skips a breakpoint.
    """

    changed = Signal()  # `is_playing`, `is_running` or `speed` has changed
    # The current step is at this `Hit` now. None: running, no breakpoint was hit up to the last merge, or the training
    # ended or was paused before it reached one.
    halted = Signal(object)

    def __init__(self, model: TrainerModel, parent: QObject | None = None, *, watch: BreakpointWatch) -> None:
        super().__init__(parent)
        self._model = model
        self._watch = watch
        self.speed = 4.0  # merges per second, or `WHOLE_RUN`
        self._owed = 0.0  # the fraction of a step that is due but not taken yet
        self._played_at = 0.0
        self._after: int | None = None  # while running: no hit among the merges up to here
        self._is_past_head = False
        self._timer = QTimer(self)
        self._timer.timeout.connect(self._play_on)
        watch.changed.connect(self._look)
        model.state_changed.connect(self._look)
        model.run_reset.connect(self.cancel)
        model.merges_appended.connect(self._on_model_merges_appended)

    @property
    def is_playing(self) -> bool:
        return self._timer.isActive()

    @property
    def is_running(self) -> bool:
        return self._after is not None

    @property
    def rate(self) -> float:
        """Merges per second."""
        return self.speed or max(_MIN_SPEED, self._model.merge_count / _WHOLE_RUN_SECONDS)

    def set_speed(self, speed: float) -> None:
        """Play `speed` merges per second, limited to 0.25 to 1,000, or the `WHOLE_RUN`."""
        speed = max(_MIN_SPEED, min(_MAX_SPEED, float(speed))) if speed else WHOLE_RUN
        if speed != self.speed:
            self.speed = speed
            self._timer.setInterval(self._interval_ms())
            self.changed.emit()

    def play(self) -> None:
        if self._model.history is None:
            return
        if self._is_over():
            self._model.seek(0)
        self._owed, self._played_at = 0.0, time.perf_counter()
        self._timer.start(self._interval_ms())
        self.changed.emit()

    def stop(self) -> None:
        if self.is_playing:
            self._timer.stop()
            self.changed.emit()

    def toggle(self) -> None:
        if self.is_playing:
            self.stop()
        else:
            self.play()

    def run(self) -> None:
        """Go to the next breakpoint; if none is left, train further and pause at the first one hit."""
        self.stop()
        if self._model.history is not None and self._watch.is_set:
            self._is_past_head = False
            self._set_after(self._model.step)
            self._look()

    def run_back(self) -> None:
        self.cancel()
        hit = self._watch.previous_hit(self._model.step)
        if hit is not None:
            self._model.seek(hit.step)
            self.halted.emit(hit)

    def cancel(self) -> None:
        """Stop playing and running; a training continues."""
        self.stop()
        self._set_after(None)

    def _halt(self, hit: Hit) -> None:
        is_running, model = self.is_running, self._model
        self.cancel()
        if is_running:
            model.pause()
        model.seek(hit.step)
        model.hold()
        self.halted.emit(hit)

    # Playing.

    def _play_on(self) -> None:
        model, now = self._model, time.perf_counter()
        seconds, self._played_at = min(now - self._played_at, _LONGEST_FRAME), now
        if (ms := self._interval_ms()) != self._timer.interval():  # a whole run grows while it is trained
            self._timer.setInterval(ms)
        if self._is_over():
            self.stop()
        elif not model.is_at_head:
            due = seconds * self.rate if self.rate > _FRAMES_PER_SECOND else 1.0
            steps, self._owed = divmod(self._owed + due, 1.0)
            self._advance_to(model.step + int(steps))
        elif not model.is_busy and not self._watch.is_searching:
            model.next_merge()

    def _advance_to(self, step: int) -> None:
        """Show this step or an earlier breakpoint; go no further than breakpoints have been searched."""
        watch, model = self._watch, self._model
        known = min(step, watch.known)
        hit = watch.next_hit(model.step, known)
        if hit is not None:
            self._halt(hit)
        elif known > model.step:
            model.seek(known)

    def _on_model_merges_appended(self, first: int, last: int) -> None:
        watch = self._watch
        if not self.is_playing or self._model.step != first:
            return  # else the step is about to follow the last merge, past any breakpoints in between
        hit = watch.next_hit(first, last + 1)
        if hit is not None and hit.step <= watch.known:
            self._halt(hit)
        elif watch.known <= last:
            self._model.hold()

    def _is_over(self) -> bool:
        ended = self._model.state in (TrainerState.FINISHED, TrainerState.FAILED, TrainerState.IDLE)
        return ended and self._model.is_at_head and not self._model.is_busy

    def _interval_ms(self) -> int:
        return round(1000 / min(self.rate, _FRAMES_PER_SECOND))

    # Running.

    def _look(self) -> None:
        """While running, halt at the next breakpoint as soon as it is known, and train where there is none yet."""
        watch = self._watch
        if self._after is None or not watch.is_set:
            self._set_after(None)
            return
        hit = watch.next_hit(self._after)
        # While the search lags behind, an earlier hit of another breakpoint may still be found.
        if hit is not None and hit.step <= watch.known:
            self._halt(hit)
        elif not watch.is_searching:
            self._after = max(self._after, watch.known)
            if not self._is_past_head:
                self._run_past_head()
            elif self._model.state is not TrainerState.TRAINING:
                self._end()

    def _run_past_head(self) -> None:
        """Go to the last merge, and train further if possible."""
        model = self._model
        self._is_past_head = True
        model.last()
        config = model.config
        if model.state is TrainerState.PAUSED:
            model.resume()
        elif model.state is TrainerState.FINISHED and model.stop_reason == "user" and config is not None:
            model.train_further(config.vocab_size, config.max_merges)
        if self.is_running and model.state is not TrainerState.TRAINING:
            self._end()

    def _end(self) -> None:
        self._set_after(None)
        self.halted.emit(None)

    def _set_after(self, after: int | None) -> None:
        was_running, self._after = self.is_running, after
        if was_running != self.is_running:
            self.changed.emit()


def text_of_token(selection: Selection, vocabulary: Vocabulary) -> str:
    """Return the text of the selected token, or of the one its pair would make; empty for a word."""
    if selection.kind == "word":
        return ""
    return selection.text if selection.kind == "token" else made_by(selection, vocabulary.continuing_subword_prefix)


def made_by(pair: Selection, prefix: str) -> str:
    return pair.left + pair.right.removeprefix(prefix)


def selected_token(model: TrainerModel) -> str:
    """Return the text of the token that is selected, or that the selected pair makes; empty if there is none."""
    selection, vocabulary = model.selection, model.vocabulary_at(model.merge_count)
    return "" if selection is None or vocabulary is None else text_of_token(selection, vocabulary)


def selected_id(model: TrainerModel) -> int | None:
    vocabulary = model.vocabulary_at(model.merge_count)
    return None if vocabulary is None else vocabulary.id_of(selected_token(model))


def step_of_pair(pair: Selection, history: MergeHistory, merges: int) -> int | None:
    left, right = map(history.vocabulary(merges).id_of, (pair.left, pair.right))
    if left is None or right is None:
        return None
    is_merge = (history.column("left_id")[:merges] == left) & (history.column("right_id")[:merges] == right)
    return int(np.argmax(is_merge)) + 1 if is_merge.any() else None


def step_of_selection(selection: Selection | None, history: MergeHistory | None, merges: int) -> int | None:
    """Return the step, up to `merges`, at which the selection came to be (0: the alphabet); None if it did not.

    For a pair that is the first step that merged it; for a word, that from which it is one token.
    """
    if selection is None or history is None:
        return None
    if selection.kind == "pair":
        return step_of_pair(selection, history, merges)
    if selection.kind == "token" or not selection.text:
        token_id = history.vocabulary(merges).id_of(selection.text)
        return None if token_id is None else history.birth_step(token_id)
    search = BreakpointSearch(Breakpoint("word", selection.text), history)
    search.advance(merges)
    return next(iter(search.steps.tolist()), None)
