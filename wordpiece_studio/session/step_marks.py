"""What a user marks on the steps of a training, bookmarks and breakpoints, and what moves the step by itself.

Bookmarks outlive their run: each records the merge it was made at, so that their table, a model for Qt's views, can
show whether the current run has the same merge there. The step of a bookmark can be compared, like a run of its own.

The player plays steps at an adjustable speed, and runs from breakpoint to breakpoint.
"""

from __future__ import annotations

from bisect import bisect_right
from typing import TYPE_CHECKING

import msgspec
from PySide6.QtCore import QObject, QTimer, Signal

from wordpiece_studio.session.breakpoints import Breakpoints, BreakpointWatch, MarksModel
from wordpiece_studio.session.run import TrainerState
from wordpiece_studio.session.table_model import LEFT, TableColumn, each_row
from wordpiece_studio.storage.view import Bookmark

if TYPE_CHECKING:
    from collections.abc import Iterable

    from wordpiece_studio.session.breakpoints import Hit
    from wordpiece_studio.session.run import Run
    from wordpiece_studio.session.trainer_model import TrainerModel

COMPARE = 2
"""The column of check boxes."""


class Bookmarks(MarksModel["Bookmark"]):
    """The notes in order of step; three columns: step, text, which is editable, and a check box that compares the step.

    Signals
    -------
    run_compared(Run)
        The user has a step of this run compared.
    """

    run_compared = Signal(object)

    def __init__(self, model: TrainerModel, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._model = model
        self.columns = (
            TableColumn(self.tr("Step"), each_row(lambda note: note.step), align=LEFT, entry="step",
                        width=lambda measure, _notes: measure.text("8,888,888") + 20),
            TableColumn(self.tr("Note"), each_row(lambda note: note.text), align=LEFT, stretch=1,
                        edit=lambda _notes, row, text: self.set_text(row, text)),
            TableColumn(self.tr("Compare"), lambda _notes, _row: "", align=LEFT, entry="comparison",
                        width=lambda measure, _notes: measure.contents(COMPARE), check=each_row(self._is_compared),
                        switch=lambda _notes, row, is_compared: self.set_compared(row, is_compared)),
        )  # fmt: skip
        model.run_reset.connect(self._on_run_changed)
        model.merges_appended.connect(self._on_model_merges_appended)

    @property
    def notes(self) -> tuple[Bookmark, ...]:
        return tuple(self._marks)

    def set_notes(self, notes: Iterable[Bookmark]) -> None:
        lines = (msgspec.structs.replace(note, text=one_line(note.text)) for note in notes)
        self.set_marks(sorted(lines, key=lambda note: note.step))

    def keep(self, text: str, step: int | None = None) -> int:
        """Bookmark a step (None: the current one) with this line of text; return its row."""
        history = self._model.history
        step = self._model.step if step is None else step
        token = history[step - 1].token if history is not None and step else ""
        row = bisect_right([note.step for note in self._marks], step)
        self.insert(row, Bookmark(step, one_line(text), token))
        return row

    def set_text(self, row: int, text: str) -> None:
        self.replace(row, msgspec.structs.replace(self._marks[row], text=one_line(text)))

    def set_compared(self, row: int, is_compared: bool) -> None:
        """Compare the step of the note in `row`, which belongs to the current run, or do so no longer."""
        run = self._model.run
        number = run.number if is_compared and run is not None else None
        self.replace(row, msgspec.structs.replace(self._marks[row], run=number))
        if number is not None:
            self.run_compared.emit(run)

    def _is_compared(self, note: Bookmark) -> bool | None:
        """Return whether the step of a note is compared; None if it cannot be, as it is another run's."""
        return note.run is not None if note.run is not None or self.is_of_run(note) else None

    def is_of_run(self, note: Bookmark, run: Run | None = None) -> bool:
        """Return whether a run has the note's merge at its step; None is the current one."""
        current, step = self._model.run, note.step
        run = run or current
        if run is None or step > (self._model.merge_count if run is current else len(run.history)):
            return False
        return (run.history[step - 1].token if step else "") == note.token

    def steps(self) -> list[int]:
        """Return the steps of the notes that belong to the current run, ascending."""
        return [note.step for note in self._marks if self.is_of_run(note)]

    # Signals of the trainer.

    def _on_run_changed(self) -> None:
        if self._marks:
            self._emit_changed(0, len(self._marks) - 1)
            self.changed.emit()

    def _on_model_merges_appended(self, first: int, last: int) -> None:
        if any(first < note.step <= last + 1 for note in self._marks):
            self._on_run_changed()


def one_line(text: str) -> str:
    """Return `text` on one line, with runs of white space replaced by single spaces."""
    return " ".join(text.split())


class StepMarks(QObject):
    """The breakpoints, the steps at which they are hit, running to them, and the bookmarked steps."""

    def __init__(self, model: TrainerModel, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.breakpoints = Breakpoints(self)
        self.watch = BreakpointWatch(model, self.breakpoints, self)
        self.run = BreakpointRun(model, self.watch, self)
        self.bookmarks = Bookmarks(model, self)


MIN_SPEED = 0.25
MAX_SPEED = 1000.0
_FRAMES_PER_SECOND = 50.0


class Player(QObject):
    """Advances the step of a `TrainerModel`.

    At the last merge it waits for a running training, makes a paused one learn one merge at a time, and stops if the
    training is finished. Above 50 merges per second it takes several steps at a time, but never skips a breakpoint.

    Parameters
    ----------
    watch
        The breakpoints at which to halt.

    Signals
    -------
    playing_changed(bool), speed_changed(float)
        The new value.
    halted(Hit)
        The player has stopped at a breakpoint.
    """

    playing_changed = Signal(object)
    speed_changed = Signal(object)
    halted = Signal(object)

    def __init__(self, model: TrainerModel, parent: QObject | None = None, *, watch: BreakpointWatch) -> None:
        super().__init__(parent)
        self._model = model
        self._watch = watch
        self.speed = 4.0  # merges per second
        self._owed = 0.0  # the fraction of a step that is due but not taken yet
        self._timer = QTimer(self)
        self._timer.timeout.connect(self._on_timer_timeout)
        model.run_reset.connect(self.stop)
        model.merges_appended.connect(self._on_model_merges_appended)

    @property
    def is_playing(self) -> bool:
        return self._timer.isActive()

    def set_speed(self, speed: float) -> None:
        """Play `speed` merges per second, limited to 0.25 to 1,000."""
        speed = max(MIN_SPEED, min(MAX_SPEED, float(speed)))
        if speed != self.speed:
            self.speed = speed
            self._timer.setInterval(self._interval_ms())
            self.speed_changed.emit(speed)

    def play(self) -> None:
        """Start playing; from the first step if everything has been played."""
        if self.is_playing or self._model.history is None:
            return
        if self._is_over():
            self._model.first()
        self._owed = 0.0
        self._timer.start(self._interval_ms())
        self.playing_changed.emit(True)

    def stop(self) -> None:
        if self.is_playing:
            self._timer.stop()
            self.playing_changed.emit(False)

    def toggle(self) -> None:
        if self.is_playing:
            self.stop()
        else:
            self.play()

    def _on_timer_timeout(self) -> None:
        model = self._model
        if self._is_over():
            self.stop()
        elif not model.is_at_head:
            self._owed += max(1.0, self.speed / _FRAMES_PER_SECOND)
            steps, self._owed = divmod(self._owed, 1.0)
            self._advance_to(model.step + int(steps))
        elif not model.is_busy and not self._watch.is_searching:
            model.next_merge()

    def _advance_to(self, step: int) -> None:
        """Show this step or an earlier breakpoint; go no further than breakpoints have been searched."""
        watch, model = self._watch, self._model
        if not watch.is_set:
            model.seek(step)
            return
        known = min(step, watch.known)
        hit = watch.next_hit(model.step, known)
        if hit is not None:
            self._halt(hit)
        elif known > model.step:
            model.seek(known)

    def _halt(self, hit: Hit) -> None:
        self.stop()
        self._model.seek(hit.step)
        self._model.hold()
        self.halted.emit(hit)

    def _on_model_merges_appended(self, first: int, last: int) -> None:
        watch = self._watch
        if not self.is_playing or not watch.is_set or self._model.step != first:
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
        return round(1000 / min(self.speed, _FRAMES_PER_SECOND))


class BreakpointRun(QObject):
    """Moves the step of a model from breakpoint to breakpoint.

    Signals
    -------
    halted(Hit)
        The current step is at a breakpoint now.
    ended()
        No breakpoint was hit up to the last merge, or the training ended or was paused before it reached one.
    waiting_changed(bool)
        Whether it is waiting for the training or for a long search.
    """

    halted = Signal(object)
    ended = Signal()
    waiting_changed = Signal(object)

    def __init__(self, model: TrainerModel, watch: BreakpointWatch, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._model = model
        self._watch = watch
        self._after: int | None = None  # while waiting: no hit among the merges up to here
        self._is_past_head = False
        watch.changed.connect(self._on_watch_changed)
        model.state_changed.connect(self._on_model_state_changed)
        model.run_reset.connect(self.cancel)

    @property
    def is_waiting(self) -> bool:
        return self._after is not None

    def run(self) -> None:
        """Go to the next breakpoint; if none is left, train further and pause at the first one hit."""
        if self._model.history is None or not self._watch.is_set:
            return
        self._set_after(self._model.step)
        self._is_past_head = False
        self._look()

    def run_back(self) -> None:
        self.cancel()
        hit = self._watch.previous_hit(self._model.step)
        if hit is not None:
            self._model.seek(hit.step)
            self.halted.emit(hit)

    def cancel(self) -> None:
        """Stop waiting; a training continues."""
        self._set_after(None)

    def _look(self) -> None:
        assert self._after is not None
        hit = self._watch.next_hit(self._after)
        # While the search lags behind, an earlier hit of another breakpoint may still be found.
        if hit is not None and hit.step <= self._watch.known:
            self._halt(hit)
        elif not self._watch.is_searching:
            self._after = max(self._after, self._watch.known)
            if not self._is_past_head:
                self._run_past_head()
            elif self._model.state is not TrainerState.TRAINING:
                self._end()

    def _halt(self, hit: Hit) -> None:
        self._set_after(None)
        self._model.pause()
        self._model.seek(hit.step)
        self._model.hold()
        self.halted.emit(hit)

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
        if self.is_waiting and model.state is not TrainerState.TRAINING:
            self._end()

    def _end(self) -> None:
        self._set_after(None)
        self.ended.emit()

    def _set_after(self, after: int | None) -> None:
        was_waiting, self._after = self.is_waiting, after
        if was_waiting != self.is_waiting:
            self.waiting_changed.emit(self.is_waiting)

    # What happens.

    def _on_watch_changed(self) -> None:
        if self.is_waiting:
            if self._watch.is_set:
                self._look()
            else:
                self.cancel()

    def _on_model_state_changed(self, _state: TrainerState) -> None:
        if self.is_waiting and self._is_past_head:
            self._look()
