"""Where the breakpoints are hit in the current run, kept up to date as it grows; and running to the next one.

New merges are searched in the window's thread, a few milliseconds at a time. A run to a breakpoint goes through the
existing merges and then trains further until one is hit.
"""

from __future__ import annotations

import operator
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from PySide6.QtCore import QObject, Signal

from wordpiece_studio.session.breakpoints import BreakpointSearch
from wordpiece_studio.session.run import TrainerState
from wordpiece_studio.session.timers import single_shot

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from wordpiece_studio.session.breakpoints import Breakpoint, Breakpoints
    from wordpiece_studio.session.trainer_model import TrainerModel


_SLICE_SECONDS = 0.006
_PAUSE_MS = 4
_REPORT_SECONDS = 0.25
"""The shortest time between two reports of a long search: every report makes the views redraw."""
_END = np.iinfo(np.int64).max


@dataclass(frozen=True, slots=True)
class Hit:
    """A step, and the breakpoints hit there."""

    step: int
    breakpoints: tuple[Breakpoint, ...]


class BreakpointWatch(QObject):
    """Finds the steps at which any enabled breakpoint is hit.

    Signals
    -------
    changed()
        `known` or `steps` has changed.
    faulted(Breakpoint, StudioError)
        The breakpoint was disabled because its expression takes too long.
    """

    changed = Signal()
    faulted = Signal(object, object)

    def __init__(self, model: TrainerModel, breakpoints: Breakpoints, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._model = model
        self._breakpoints = breakpoints
        self._searches: dict[Breakpoint, BreakpointSearch] = {}
        self._steps = np.empty(0, dtype=np.int64)
        self._steps_of: list[NDArray[np.int64]] = []  # the parts that `_steps` was built from
        self._reported_at = 0.0
        self._timer = single_shot(self, self._search, _PAUSE_MS)
        model.run_reset.connect(self._on_model_run_reset)
        model.merges_appended.connect(self._on_model_merges_appended)
        model.step_changed.connect(self._on_model_step_changed)
        breakpoints.changed.connect(self._on_breakpoints_changed)

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
    def steps(self) -> NDArray[np.int64]:
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
        """Return the last hit before step `before`."""
        step = max((_last_before(search.steps, before) for search in self._searches.values()), default=0)
        return self._hit_at(step) if step else None

    def hit_at(self, step: int) -> Hit | None:
        return self.next_hit(step - 1, step)

    def _hit_at(self, step: int) -> Hit:
        hit = (each for each, search in self._searches.items() if _first_after(search.steps, step - 1) == step)
        return Hit(step, tuple(hit))

    # What happens.

    def _on_model_run_reset(self) -> None:
        self._searches.clear()
        self._search()

    def _on_model_merges_appended(self, _first: int, _last: int) -> None:
        if self._searches or self.is_set:
            self._search()

    def _on_model_step_changed(self, _step: object) -> None:
        """Search again: this signal also means that the words a search waited for have been read."""
        if self.is_searching and not self._timer.isActive():
            self._search()

    def _on_breakpoints_changed(self) -> None:
        enabled = self._breakpoints.enabled
        self._searches = {each: search for each, search in self._searches.items() if each in enabled}
        self._search()

    def _search(self) -> None:
        history, count = self._model.history, self._model.merge_count
        deadline = time.perf_counter() + _SLICE_SECONDS
        for each in self._breakpoints.enabled if history is not None else ():
            if each not in self._searches:
                assert history is not None
                self._searches[each] = BreakpointSearch(each, history)
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
            if search.fault is not None:
                self._breakpoints.disable(each)
                self.faulted.emit(each, search.fault)


def _united(parts: Sequence[NDArray[np.int64]]) -> NDArray[np.int64]:
    """Return the union of ascending arrays, ascending; a stable sort is fast on partly sorted input."""
    if not parts:
        return np.empty(0, dtype=np.int64)
    if len(parts) == 1:
        return parts[0]
    steps = np.sort(np.concatenate(parts), kind="stable")
    return steps[np.diff(steps, prepend=-1) > 0]


def _first_after(steps: NDArray[np.int64], step: int) -> int:
    index = int(np.searchsorted(steps, step, side="right"))
    return int(steps[index]) if index < len(steps) else _END


def _last_before(steps: NDArray[np.int64], step: int) -> int:
    index = int(np.searchsorted(steps, step, side="left")) - 1
    return int(steps[index]) if index >= 0 else 0


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
        """Whether a run is under way."""
        return self._after is not None

    def run(self) -> None:
        """Go to the next breakpoint; if none is left, train further and pause at the first one hit."""
        if self._model.history is None or not self._watch.is_set:
            return
        self._set_after(self._model.step)
        self._is_past_head = False
        self._look()

    def run_back(self) -> None:
        """Go to the previous breakpoint."""
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
