"""Stand-ins for the trainer, where a test needs one that is fast, slow or broken at will."""

from __future__ import annotations

import dataclasses
import time
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QThread

from wordpiece_studio.training.engine import Candidate, Merge

if TYPE_CHECKING:
    from collections.abc import Callable

    from wordpiece_studio.corpus.counts import WordCounts
    from wordpiece_studio.session.trainer_model import TrainerModel
    from wordpiece_studio.training.config import TrainingConfig


class FakeHistory:
    """So many merges of x and y, and that is all."""

    is_damaged = False
    has_steps = is_whole = is_read = True
    bytes_of_places = 0

    def __init__(self) -> None:
        self.count = 0

    def __len__(self) -> int:
        return self.count

    def __getitem__(self, index: int) -> Merge:
        return Merge(index + 1, "x", "##y", f"xy{index}", 1, 1, 1, 9, 1.0, 1, True)

    def vocabulary_size(self, step: int) -> int:
        return 10 + step

    def vocabulary(self, step: int) -> list[str]:
        return ["x"] * self.vocabulary_size(step)

    def symbols_after(self, step: int) -> int:
        return 10**6 - step


class FakeTrainer:
    """Learns `max_merges` merges, each after a pause; raises `error` before merge `broken_at`.

    After merge `held_at` it learns nothing until it has been told once to leave off.
    """

    def __init__(
        self,
        counts: WordCounts,
        config: TrainingConfig,
        should_stop: Callable[[], bool] = bool,
        *,
        seconds_per_merge: float = 0.0,
        broken_at: int | None = None,
        held_at: int | None = None,
        error: Exception | None = None,
    ) -> None:
        self.config = config
        self.history = FakeHistory()
        self.current_step = 0
        self.stop_reason: str | None = None
        self.seeks: list[int] = []
        self._seconds_per_merge = seconds_per_merge
        self._broken_at = broken_at
        self._held_at = held_at
        self._error = error

    def run(self, n: int, should_stop: Callable[[], bool] | None = None) -> int:
        start = self.current_step
        while self.current_step < start + n and not (should_stop and should_stop()):
            if self.current_step == self.config.max_merges:
                self.stop_reason = "max_merges"
                break
            if self.current_step == self._broken_at and self._error is not None:
                raise self._error
            if self._seconds_per_merge:
                time.sleep(self._seconds_per_merge)
            self.current_step += 1
            self.history.count = max(self.history.count, self.current_step)
            if self.current_step == self._held_at and should_stop:
                self._hold(should_stop)
        return self.current_step - start

    def _hold(self, should_stop: Callable[[], bool]) -> None:
        self._held_at = None
        while not should_stop():
            time.sleep(0.001)

    def step(self) -> Merge | None:
        return self.history[self.current_step - 1] if self.run(1) else None

    def can_walk_to(self, step: int) -> bool:
        return True

    def seek(self, step: int) -> None:
        self.seeks.append(step)
        self.current_step = step

    def top(self, k: int) -> list[Candidate]:
        return [Candidate("x", "##y", f"xy{self.current_step}", 1, 1, 1, 1.0, False)][:k]

    def change_limits(self, **limits: float | None) -> None:
        self.config = dataclasses.replace(self.config, **limits)
        self.stop_reason = None


class Recorder(QObject):
    """Notes every signal of a model, in order, and that it came in the window's thread."""

    def __init__(self, model: TrainerModel) -> None:
        super().__init__()
        self.log: list[tuple[object, ...]] = []
        self.merges: list[Merge] = []
        self.errors: list[object] = []
        self.candidates: list[object] = []
        self.progress: list[object] = []
        model.merged.connect(self._on_merged)
        model.merges_appended.connect(self._on_merges_appended)
        model.step_changed.connect(self._on_step_changed)
        model.state_changed.connect(self._on_state_changed)
        model.failed.connect(self._on_failed)
        model.run_reset.connect(self._on_run_reset)
        model.candidates_changed.connect(self._on_candidates_changed)
        model.progress_changed.connect(self._on_progress_changed)
        model.selection_changed.connect(self._on_selection_changed)

    def names(self) -> list[object]:
        return [entry[0] for entry in self.log]

    def _note(self, *entry: object) -> None:
        assert QThread.currentThread() is self.thread()
        self.log.append(entry)

    def _on_merged(self, merge: Merge) -> None:
        self._note("merged", merge.step)
        self.merges.append(merge)

    def _on_merges_appended(self, first: int, last: int) -> None:
        self._note("appended", first, last)

    def _on_step_changed(self, step: int) -> None:
        self._note("step", step)

    def _on_state_changed(self, state: object) -> None:
        self._note("state", state)

    def _on_failed(self, error: object) -> None:
        self._note("failed")
        self.errors.append(error)

    def _on_run_reset(self) -> None:
        self._note("reset")

    def _on_candidates_changed(self, candidates: object) -> None:
        self._note("candidates")
        self.candidates.append(candidates)

    def _on_progress_changed(self, progress: object) -> None:
        self.progress.append(progress)

    def _on_selection_changed(self, selection: object) -> None:
        self._note("selection", selection)
