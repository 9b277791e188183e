"""Where the breakpoints are hit in the run that is shown, kept up as it grows.

It searches what is new in the window's thread, at most some milliseconds at a time.
"""

from __future__ import annotations

import operator
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from PySide6.QtCore import QObject, QTimer, Signal

from wordpiece_studio.session.breakpoint_search import BreakpointSearch

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from wordpiece_studio.session.breakpoints import Breakpoint, Breakpoints
    from wordpiece_studio.session.trainer_model import TrainerModel

_SLICE_SECONDS = 0.006
_PAUSE_MS = 4
_TELL_SECONDS = 0.25
"""A search of many slices says no more often what it has found: whoever shows it has work with it."""
_END = np.iinfo(np.int64).max


@dataclass(frozen=True, slots=True)
class Hit:
    """A step at which breakpoints are hit, and which ones."""

    step: int
    breakpoints: tuple[Breakpoint, ...]


class BreakpointWatch(QObject):
    """Looks for the steps at which any enabled breakpoint is hit.

    Signals
    -------
    changed()
        `known` or `steps` has changed.
    faulted(Breakpoint, StudioError)
        This one was disabled: its expression takes too long.
    """

    changed = Signal()
    faulted = Signal(object, object)

    def __init__(self, model: TrainerModel, breakpoints: Breakpoints, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._model = model
        self._breakpoints = breakpoints
        self._searches: dict[Breakpoint, BreakpointSearch] = {}
        self._steps = np.empty(0, dtype=np.int64)
        self._steps_of: list[NDArray[np.int64]] = []  # what `_steps` was put together from
        self._told = 0.0
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setInterval(_PAUSE_MS)
        self._timer.timeout.connect(self._search)
        model.run_reset.connect(self._on_model_run_reset)
        model.merges_appended.connect(self._on_model_merges_appended)
        model.step_changed.connect(self._on_model_step_changed)
        breakpoints.changed.connect(self._on_breakpoints_changed)

    @property
    def is_set(self) -> bool:
        """Whether there is an enabled breakpoint."""
        return bool(self._breakpoints.enabled)

    @property
    def known(self) -> int:
        """How many merges have been searched for all of them; all there are if there is nothing to search for."""
        return min((search.known for search in self._searches.values()), default=self._model.merge_count)

    @property
    def is_searching(self) -> bool:
        """Whether there are merges that have not been searched yet."""
        return self.known < self._model.merge_count

    @property
    def steps(self) -> NDArray[np.int64]:
        """All steps found so far, ascending; int64, shape (n,)."""
        found = [search.steps for search in self._searches.values()]
        if len(found) != len(self._steps_of) or any(map(operator.is_not, found, self._steps_of)):
            self._steps_of, self._steps = found, _united(found)
        return self._steps

    def next_hit(self, after: int, last: int = _END) -> Hit | None:
        """Return the first hit after the step `after`, up to the step `last`; only merges up to `known` are sure."""
        steps = (_first_after(search.steps, after) for search in self._searches.values())
        step = min(steps, default=_END)
        return self._hit_at(step) if step <= last and step != _END else None

    def previous_hit(self, before: int) -> Hit | None:
        """Return the last hit before the step `before`."""
        step = max((_last_before(search.steps, before) for search in self._searches.values()), default=0)
        return self._hit_at(step) if step else None

    def hit_at(self, step: int) -> Hit | None:
        """Return the hit at this step."""
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
        """Look again, which is how the model tells that words were read that a search has waited for."""
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
        if not self.is_searching or now - self._told > _TELL_SECONDS:
            self._told = now
            self.changed.emit()
        for each, search in list(self._searches.items()):
            if search.fault is not None:
                self._breakpoints.disable(each)
                self.faulted.emit(each, search.fault)


def _united(parts: Sequence[NDArray[np.int64]]) -> NDArray[np.int64]:
    """Return the steps of ascending arrays, ascending and each once; stable sorting is quick where much is sorted."""
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
