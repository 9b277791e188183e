"""Running to a breakpoint: on through the merges there are, and training further until one is hit."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from wordpiece_studio.session.records import TrainerState

if TYPE_CHECKING:
    from wordpiece_studio.session.breakpoint_watch import BreakpointWatch, Hit
    from wordpiece_studio.session.trainer_model import TrainerModel


class BreakpointRun(QObject):
    """Moves the step of a model from breakpoint to breakpoint.

    Signals
    -------
    halted(Hit)
        The step is at a breakpoint now.
    ended()
        There was none up to the last merge, or the training ended or was paused before it came to one.
    waiting_changed(bool)
        Whether it waits for a training, or for a search that takes its time.
    """

    halted = Signal(object)
    ended = Signal()
    waiting_changed = Signal(object)

    def __init__(self, model: TrainerModel, watch: BreakpointWatch, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._model = model
        self._watch = watch
        self._after: int | None = None  # where it waits: no hit is known of the merges up to here
        self._has_sent_on = False
        watch.changed.connect(self._on_watch_changed)
        model.state_changed.connect(self._on_model_state_changed)
        model.run_reset.connect(self.cancel)

    @property
    def is_waiting(self) -> bool:
        """Whether it is under way."""
        return self._after is not None

    def run(self) -> None:
        """Go to the next breakpoint; where none is left, train further and pause at the first that is hit."""
        if self._model.history is None or not self._watch.is_set:
            return
        self._set_after(self._model.step)
        self._has_sent_on = False
        self._look()

    def run_back(self) -> None:
        """Go to the breakpoint before."""
        self.cancel()
        hit = self._watch.previous_hit(self._model.step)
        if hit is not None:
            self._model.seek(hit.step)
            self.halted.emit(hit)

    def cancel(self) -> None:
        """Leave off waiting; a training goes on."""
        self._set_after(None)

    def _look(self) -> None:
        assert self._after is not None
        hit = self._watch.next_hit(self._after)
        # While the search lags behind, an earlier hit of another breakpoint may still be found.
        if hit is not None and hit.step <= self._watch.known:
            self._halt(hit)
        elif not self._watch.is_searching:
            self._after = max(self._after, self._watch.known)
            if not self._has_sent_on:
                self._send_on()
            elif self._model.state is not TrainerState.TRAINING:
                self._end()

    def _halt(self, hit: Hit) -> None:
        self._set_after(None)
        self._model.pause()
        self._model.seek(hit.step)
        self._model.hold()
        self.halted.emit(hit)

    def _send_on(self) -> None:
        """Go to the head, and let it learn if it may."""
        model = self._model
        self._has_sent_on = True
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
        if self.is_waiting and self._has_sent_on:
            self._look()
