"""The steps that change how the live text is tokenized, for all panes.

They are searched for in time slices, even while training runs, and whether or not a pane is visible.
`live_text.py` finds them.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, overload

import numpy as np
from PySide6.QtCore import QObject, Qt, Signal

from wordpiece_studio.session.live_text import TextChange, TextChanges, TextSummary, TextTimeline
from wordpiece_studio.session.task import single_shot

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from wordpiece_studio.session.live_text import LiveText
    from wordpiece_studio.session.run import Run
    from wordpiece_studio.session.trainer_model import TrainerModel


_NOTHING = TextSummary(0, 0, 0)


class LiveChanges(QObject):
    """The rows of the list of changes, shared by all panes; `ChangesFinder` finds them.

    Attributes
    ----------
    rows
        The steps that changed the text, each with its token and the number of tokens after it.
    steps
        Those steps, from 1, ascending; int64, shape (n,).
    is_known
        Whether they are complete; False during the search.

    Signals
    -------
    changed()
        `rows`, `steps` or `is_known` has changed.
    """

    changed = Signal()

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.rows: Sequence[TextChange] = ()
        self.steps: NDArray[np.int64] = np.empty(0, dtype=np.int64)
        self.is_known = False
        self._start = _NOTHING

    def set_rows(
        self,
        rows: Sequence[TextChange],
        *,
        is_known: bool = True,
        steps: NDArray[np.int64] | None = None,
        start: TextSummary = _NOTHING,
    ) -> None:
        """Set the result; `steps`: those of the rows, if available; `start`: the text at step 0."""
        self.rows, self.is_known, self._start = rows, is_known, start
        self.steps = np.array([row.step for row in rows], dtype=np.int64) if steps is None else steps
        self.changed.emit()

    def set_unknown(self) -> None:
        """Mark the rows as possibly incomplete."""
        if self.is_known:
            self.is_known = False
            self.changed.emit()

    def summary_at(self, step: int) -> TextSummary:
        """Return how many words, tokens and unknown words the text has at a step; reliable if `is_known`."""
        past = int(np.searchsorted(self.steps, step, side="right"))
        tokens = self.rows[past - 1].tokens if past else self._start.tokens
        return TextSummary(self._start.words, tokens, self._start.unknown)

    def next_after(self, step: int) -> int | None:
        index = int(np.searchsorted(self.steps, step, side="right"))
        return int(self.steps[index]) if index < len(self.steps) else None

    def previous_before(self, step: int) -> int | None:
        index = int(np.searchsorted(self.steps, step, side="left")) - 1
        return int(self.steps[index]) if index >= 0 else None


_FIRST_SLICE, _SLICE = 0.002, 0.004
"""Seconds of work done at once, so that a short text never waits, and in each slice afterwards."""
_PAUSE_MS = 4
_GROWTH_MS = 50
_LONGEST_WAIT = 0.25
"""Seconds after which an incomplete result is published."""


class ChangesFinder(QObject):
    """Finds the changes for a text and the run of `model`, and puts them in `changes`.

    What was found is handed to `compared` when another run is shown, and taken from it, rather than found again.
    """

    def __init__(
        self, model: TrainerModel, changes: LiveChanges, compared: ComparedChanges, parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self._model = model
        self._changes = changes
        self._compared = compared
        self._run: Run | None = None
        self._library: object = None  # that runs the tokenizer
        self._lines: Sequence[str] = ()
        self.timeline: TextTimeline | None = None
        self._waits_since: float | None = None
        self._published: object = None
        self.is_late = False
        self._timer = single_shot(self, self._work, _PAUSE_MS)
        self._growth_timer = single_shot(self, self._catch_up, _GROWTH_MS)
        for timer in (self._timer, self._growth_timer):
            timer.setTimerType(Qt.TimerType.PreciseTimer)
        model.run_reset.connect(self._begin)
        model.merges_appended.connect(self._on_model_merges_appended)
        self._begin()

    @property
    def unknown_words(self) -> list[str]:
        """A few of the distinct unknown words of the text, as far as it has been searched."""
        return self.timeline.unknown_words(3) if self.timeline is not None else []

    def set_lines(self, lines: Sequence[str]) -> None:
        """Set the text, given as lines or segments of lines that may be tokenized separately."""
        if self._model.run is not None and self._model.run.library is not self._library:  # it has been loaded meanwhile
            self._begin()
        if lines != self._lines:
            self._lines = lines
            if self.timeline is not None:
                self.timeline.set_lines(lines)
        self._catch_up()

    def _begin(self) -> None:
        model = self._model
        tokenizer = model.tokenizer_at(0)
        self._library = None if model.run is None else model.run.library
        self._timer.stop()
        self._growth_timer.stop()
        self._published = self._waits_since = None
        found = self._swap()
        if found is not None or model.history is None or tokenizer is None:
            self.timeline = found  # whose rows are published once the merges of the run are
            self._changes.set_rows((), is_known=False)
            return
        self.timeline = TextTimeline(model.history, model.merge_count, tokenizer)
        self.timeline.set_lines(self._lines)
        self._work(_FIRST_SLICE)

    def _swap(self) -> TextTimeline | None:
        """Hand over what was found for the run that was shown, and take what is there for the one that is."""
        run, self._run = self._run, self._model.run
        if run is self._run:
            return None
        if run is not None and self.timeline is not None:
            self._compared.give(run, self.timeline, self._lines)
        return self._compared.take(self._run)

    def _work(self, seconds: float = _SLICE) -> None:
        timeline = self.timeline
        if timeline is None:
            return
        is_done = timeline.advance(seconds)
        now = time.monotonic()
        since = self._waits_since if self._waits_since is not None else now
        self._waits_since = None if is_done else since
        if is_done or now - since > _LONGEST_WAIT:
            self._waits_since = None if is_done else now
            self.is_late = not is_done
            self._publish(timeline.rows(), is_done, timeline.start)
        elif self._changes.is_known:  # the old result stays until there is a better one
            self._published = None
            self._changes.set_unknown()
        if is_done:
            self._timer.stop()
        elif not self._timer.isActive():
            self._timer.start()

    def _publish(self, rows: TextChanges, is_known: bool, start: TextSummary) -> None:
        """Publish the result if it differs from the last one."""
        result = (rows.steps.tobytes(), rows.tokens.tobytes(), is_known, start)
        if result != self._published:
            self._published = result
            self._changes.set_rows(rows, is_known=is_known, steps=rows.steps, start=start)

    def _catch_up(self) -> None:
        """Process new lines and merges, at least for one slice."""
        timeline, merges = self.timeline, self._model.merge_count
        if timeline is None:
            return
        if merges > timeline.merges:
            timeline.grow(merges)
        if not (timeline.is_done and self._changes.is_known):
            self._work(_FIRST_SLICE)

    def _on_model_merges_appended(self) -> None:
        if not self._growth_timer.isActive():
            self._growth_timer.start()


class ComparedChanges(QObject):
    """The steps at which compared runs change the live text, those of the run that is shown excepted.

    Signals
    -------
    changed()
        `rows` has changed; they are complete.
    """

    changed = Signal()

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._timelines: dict[Run, TextTimeline] = {}
        self._lines: dict[Run, Sequence[str]] = {}
        self.rows: dict[Run, TextChanges] = {}
        self._timer = single_shot(self, self._work, _PAUSE_MS)

    def set_texts(self, texts: Mapping[Run, LiveText]) -> None:
        """Set the text as each of the runs reads it; the changes of other runs are dropped."""
        is_other = self.rows.keys() != texts.keys()
        self._timelines = {run: timeline for run, timeline in self._timelines.items() if run in texts}
        for run, text in texts.items():
            timeline = self._timelines.get(run)
            if timeline is None or timeline.merges != len(run.history):
                assert text.tokenizer is not None
                timeline = self._timelines[run] = TextTimeline(run.history, len(run.history), text.tokenizer)
                self._lines.pop(run, None)
            lines = text.line_texts
            if self._lines.get(run) != lines:
                self._lines[run] = lines
                timeline.set_lines(lines)
                is_other = True
        self._lines = {run: self._lines[run] for run in texts}
        if is_other:
            self._work(_FIRST_SLICE)

    def give(self, run: Run, timeline: TextTimeline, lines: Sequence[str]) -> None:
        """Take over what was found for these lines with a run that was shown, if it is compared."""
        if run.is_compared:
            self._timelines[run], self._lines[run] = timeline, lines

    def take(self, run: Run | None) -> TextTimeline | None:
        """Hand over what was found with a run that is shown now; None if nothing was."""
        self.rows = {each: rows for each, rows in self.rows.items() if each is not run}
        return None if run is None else self._timelines.pop(run, None)

    def _work(self, seconds: float = _SLICE) -> None:
        waiting = [timeline for timeline in self._timelines.values() if not timeline.is_done]
        for timeline in waiting:
            timeline.advance(seconds / len(waiting))
        if all(timeline.is_done for timeline in waiting):
            self.rows = {run: timeline.rows() for run, timeline in self._timelines.items()}
            self.changed.emit()
        else:
            self._timer.start()


class ChangesOfRuns(Sequence[TextChange]):
    """The changes of several runs in the order of their vocabulary sizes, each created on demand.

    Attributes
    ----------
    runs
        The runs.
    places
        To which of them each row belongs: int64, shape (n_rows,).
    steps
        The step of each row, of its run: int64, shape (n_rows,).
    """

    def __init__(self, changes: Mapping[Run, TextChanges]) -> None:
        self.runs = tuple(changes)
        self._changes = tuple(changes.values())
        numbers = [np.arange(len(rows)) for rows in self._changes]
        sizes = [run.history.vocabulary_sizes()[rows.steps - 1] for run, rows in changes.items()]
        places = np.repeat(np.arange(len(numbers)), [len(each) for each in numbers])
        order = np.lexsort((places, np.concatenate(sizes)))
        self.places = places[order]
        self._numbers = np.concatenate(numbers)[order]
        self.steps = np.concatenate([rows.steps for rows in self._changes])[order]

    def __len__(self) -> int:
        return len(self.steps)

    @overload
    def __getitem__(self, index: int) -> TextChange: ...
    @overload
    def __getitem__(self, index: slice) -> list[TextChange]: ...
    def __getitem__(self, index: int | slice) -> TextChange | list[TextChange]:
        if isinstance(index, slice):
            return [self[each] for each in range(*index.indices(len(self)))]
        return self._changes[int(self.places[index])][int(self._numbers[index])]

    def run_of(self, row: int) -> Run:
        return self.runs[int(self.places[row])]
