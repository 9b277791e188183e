"""Plays the steps of a training at an adjustable speed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QTimer, Signal

from wordpiece_studio.session.run import TrainerState

if TYPE_CHECKING:
    from wordpiece_studio.session.breakpoint_watch import BreakpointWatch, Hit
    from wordpiece_studio.session.trainer_model import TrainerModel

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
        The breakpoints at which to halt; None if there are none.

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

    def __init__(
        self, model: TrainerModel, parent: QObject | None = None, *, watch: BreakpointWatch | None = None
    ) -> None:
        super().__init__(parent)
        self._model = model
        self._watch = watch
        self._speed = 4.0
        self._owed = 0.0  # the fraction of a step that is due but not taken yet
        self._timer = QTimer(self)
        self._timer.timeout.connect(self._on_timer_timeout)
        model.run_reset.connect(self.stop)
        model.merges_appended.connect(self._on_model_merges_appended)

    @property
    def is_playing(self) -> bool:
        return self._timer.isActive()

    @property
    def speed(self) -> float:
        """Merges per second."""
        return self._speed

    def set_speed(self, speed: float) -> None:
        """Play `speed` merges per second, limited to 0.25 to 1,000."""
        speed = max(MIN_SPEED, min(MAX_SPEED, float(speed)))
        if speed != self._speed:
            self._speed = speed
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
        """Stop at the current step."""
        if self.is_playing:
            self._timer.stop()
            self.playing_changed.emit(False)

    def toggle(self) -> None:
        """Start or stop playing."""
        if self.is_playing:
            self.stop()
        else:
            self.play()

    def _on_timer_timeout(self) -> None:
        model = self._model
        if self._is_over():
            self.stop()
        elif not model.is_at_head:
            self._owed += max(1.0, self._speed / _FRAMES_PER_SECOND)
            steps, self._owed = divmod(self._owed, 1.0)
            self._advance_to(model.step + int(steps))
        elif not model.is_busy and not (self._watch is not None and self._watch.is_searching):
            model.next_merge()

    def _advance_to(self, step: int) -> None:
        """Show this step or an earlier breakpoint; go no further than breakpoints have been searched."""
        watch, model = self._watch, self._model
        if watch is None or not watch.is_set:
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
        if not self.is_playing or watch is None or not watch.is_set or self._model.step != first:
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
        return round(1000 / min(self._speed, _FRAMES_PER_SECOND))
