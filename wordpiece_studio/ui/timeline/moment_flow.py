"""What the commands that move in time do: next, previous, first, last, play."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from wordpiece_studio.model.records import TrainerState

if TYPE_CHECKING:
    from wordpiece_studio.model.player import Player
    from wordpiece_studio.model.trainer_model import TrainerModel
    from wordpiece_studio.ui.actions.actions import Actions


class MomentFlow(QObject):
    """Connects the commands with the model and the player, and says when there is nothing to move to."""

    first_run_needed = Signal()
    """Next was asked for and nothing was trained yet."""
    end_reached = Signal()
    """Next was asked for at the last merge, and a stop rule forbids another one."""

    def __init__(self, model: TrainerModel, player: Player, actions: Actions, parent: QObject) -> None:
        super().__init__(parent)
        self._model = model
        self._player = player
        self._actions = actions
        actions.next_merge.triggered.connect(self._on_next_triggered)
        actions.previous_merge.triggered.connect(self._on_previous_triggered)
        actions.first_merge.triggered.connect(self._on_first_triggered)
        actions.last_merge.triggered.connect(self._on_last_triggered)
        actions.play.triggered.connect(self._on_play_triggered)
        model.moment_changed.connect(self._on_something_changed)
        model.state_changed.connect(self._on_something_changed)
        model.merges_appended.connect(self._on_merges_appended)
        model.run_reset.connect(self._enable)
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
        model, actions = self._model, self._actions
        actions.previous_merge.setEnabled(model.moment > 0)
        actions.first_merge.setEnabled(model.moment > 0)
        actions.last_merge.setEnabled(not model.is_at_head)
        actions.next_merge.setEnabled(not (model.is_at_head and model.state is TrainerState.TRAINING))
        actions.play.setEnabled(model.history is not None)
