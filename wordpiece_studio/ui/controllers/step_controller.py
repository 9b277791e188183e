"""Commands that move between steps: next, previous, ten at a time, first, last, play, and from change to change."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from wordpiece_studio.session.records import TrainerState
from wordpiece_studio.ui.actions import ActionReasons

if TYPE_CHECKING:
    from wordpiece_studio.session.live_changes import LiveChanges
    from wordpiece_studio.session.player import Player
    from wordpiece_studio.session.trainer_model import TrainerModel
    from wordpiece_studio.ui.actions import Actions

_MANY = 10


class StepController(QObject):
    """Connects the commands to the model and the player, and says when there is nothing to move to."""

    first_run_needed = Signal()
    """The next merge was asked for, and nothing has been trained yet."""
    end_reached = Signal()
    """The next merge was asked for at the last one, and a stop rule forbids another."""

    def __init__(
        self, model: TrainerModel, player: Player, changes: LiveChanges, actions: Actions, parent: QObject
    ) -> None:
        super().__init__(parent)
        self._model = model
        self._player = player
        self._changes = changes
        self._actions = actions
        self._reasons = ActionReasons(actions)
        actions.next_merge.triggered.connect(self._on_next_triggered)
        actions.previous_merge.triggered.connect(self._on_previous_triggered)
        actions.first_merge.triggered.connect(self._on_first_triggered)
        actions.last_merge.triggered.connect(self._on_last_triggered)
        actions.ten_on.triggered.connect(self._on_ten_on_triggered)
        actions.ten_back.triggered.connect(self._on_ten_back_triggered)
        actions.next_change.triggered.connect(self._on_next_change_triggered)
        actions.previous_change.triggered.connect(self._on_previous_change_triggered)
        actions.play.triggered.connect(self._on_play_triggered)
        model.step_changed.connect(self._on_something_changed)
        model.state_changed.connect(self._on_something_changed)
        model.merges_appended.connect(self._on_merges_appended)
        model.run_reset.connect(self._enable)
        changes.changed.connect(self._enable)
        player.playing_changed.connect(self._on_player_playing_changed)
        self._enable()

    def _on_next_triggered(self) -> None:
        self._player.stop()
        model = self._model
        if model.history is None:
            if model.state is not TrainerState.TRAINING:
                self.first_run_needed.emit()
        elif model.is_at_head and model.state is TrainerState.FINISHED and model.stop_reason != "user":
            self.end_reached.emit()
        else:
            model.next_merge()

    def _on_previous_triggered(self) -> None:
        self._player.stop()
        self._model.previous_merge()

    def _on_first_triggered(self) -> None:
        self._player.stop()
        self._model.first()

    def _on_last_triggered(self) -> None:
        self._player.stop()
        self._model.last()

    def _on_ten_on_triggered(self) -> None:
        self._seek(self._model.step + _MANY)

    def _on_ten_back_triggered(self) -> None:
        self._seek(self._model.step - _MANY)

    def _on_next_change_triggered(self) -> None:
        self._seek(self._changes.next_after(self._model.step))

    def _on_previous_change_triggered(self) -> None:
        self._seek(self._changes.previous_before(self._model.step))

    def _seek(self, step: int | None) -> None:
        self._player.stop()
        if step is not None:
            self._model.seek(step)

    def _on_play_triggered(self) -> None:
        self._player.toggle()
        self._actions.play.setChecked(self._player.is_playing)

    def _on_player_playing_changed(self, playing: bool) -> None:
        self._actions.play.setChecked(playing)

    def _on_something_changed(self, _value: object) -> None:
        self._enable()

    def _on_merges_appended(self, _first: int, _last: int) -> None:
        self._enable()

    def _enable(self) -> None:
        model, actions, set_reason = self._model, self._actions, self._reasons.set_reason
        at_start = "" if model.step > 0 else self.tr("The current step is before the first merge")
        at_end = "" if not model.is_at_head else self.tr("The current step is the last merge")
        for action in (actions.previous_merge, actions.first_merge, actions.ten_back):
            set_reason(action, at_start)
        for action in (actions.last_merge, actions.ten_on):
            set_reason(action, at_end)
        follows = model.is_at_head and model.state is TrainerState.TRAINING
        set_reason(actions.next_merge, self.tr("The step follows the training") if follows else "")
        set_reason(actions.play, "" if model.merge_count else self.tr("Nothing has been trained yet"))
        set_reason(actions.next_change, self._why_no_change(self._changes.next_after(model.step), at_end))
        set_reason(actions.previous_change, self._why_no_change(self._changes.previous_before(model.step), at_start))

    def _why_no_change(self, step: int | None, at_edge: str) -> str:
        if step is not None and step <= self._model.merge_count:
            return ""
        if at_edge:
            return at_edge
        if not self._changes.is_known:
            return self.tr("The steps that change the live text are not known yet")
        return self.tr("No step in this direction changes the live text")
