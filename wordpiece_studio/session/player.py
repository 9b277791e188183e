"""What moves the step by itself: playing, at an adjustable speed, and running from breakpoint to breakpoint."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QTimer, Signal

from wordpiece_studio.session.run import TrainerState

if TYPE_CHECKING:
    from wordpiece_studio.session.breakpoints import BreakpointWatch, Hit
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
