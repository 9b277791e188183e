"""What a user marks on the steps of a training, bookmarks and breakpoints, and what moves the step by itself.

Bookmarks outlive their run: each records the merge it was made at, so that their table, a model for Qt's views, can
show whether the current run has the same merge there. The step of a bookmark can be compared, like a run of its own.

The player plays steps at an adjustable speed, or runs from breakpoint to breakpoint.
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
    """The notes in order of step; three columns: step, text, which is editable, and a box that compares the step."""

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
    """The breakpoints, the steps at which they are hit, and the bookmarked steps."""

    def __init__(self, model: TrainerModel, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.breakpoints = Breakpoints(self)
        self.watch = BreakpointWatch(model, self.breakpoints, self)
        self.bookmarks = Bookmarks(model, self)


MIN_SPEED = 0.25
MAX_SPEED = 1000.0
_FRAMES_PER_SECOND = 50.0


class Player(QObject):
    """Moves the step of a `TrainerModel` by itself: plays one merge after another, or runs to the next breakpoint.

    At the last merge playing waits for a running training, makes a paused one learn one merge at a time, and stops if
    the training is finished. Above 50 merges per second it takes several steps at a time, but never skips a breakpoint.

    Attributes
    ----------
    speed
        How many merges per second are played.

    Signals
    -------
    changed()
        `is_playing`, `is_running` or `speed` has changed.
    halted(Hit | None)
        The current step is at a breakpoint now. None: running, no breakpoint was hit up to the last merge, or the
        training ended or was paused before it reached one.
    """

    changed = Signal()
    halted = Signal(object)

    def __init__(self, model: TrainerModel, parent: QObject | None = None, *, watch: BreakpointWatch) -> None:
        super().__init__(parent)
        self._model = model
        self._watch = watch
        self.speed = 4.0
        self._owed = 0.0  # the fraction of a step that is due but not taken yet
        self._after: int | None = None  # while running: no hit among the merges up to here
        self._is_past_head = False
        self._timer = QTimer(self)
        self._timer.timeout.connect(self._on_timer_timeout)
        watch.changed.connect(self._look)
        model.state_changed.connect(self._look)
        model.run_reset.connect(self.cancel)
        model.merges_appended.connect(self._on_model_merges_appended)

    @property
    def is_playing(self) -> bool:
        return self._timer.isActive()

    @property
    def is_running(self) -> bool:
        """Whether it waits for the training or for a long search to reach a breakpoint."""
        return self._after is not None

    def set_speed(self, speed: float) -> None:
        """Play `speed` merges per second, limited to 0.25 to 1,000."""
        speed = max(MIN_SPEED, min(MAX_SPEED, float(speed)))
        if speed != self.speed:
            self.speed = speed
            self._timer.setInterval(self._interval_ms())
            self.changed.emit()

    def play(self) -> None:
        """Start playing; from the first step if everything has been played."""
        if self.is_playing or self._model.history is None:
            return
        if self._is_over():
            self._model.first()
        self._owed = 0.0
        self._timer.start(self._interval_ms())
        self.changed.emit()

    def stop(self) -> None:
        """Stop playing."""
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
