"""What commands and bar show of the training: what can be done now, how far it is, what was changed since.

It is told when to look; what the commands do is the affair of `training_controller`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from wordpiece_studio.session.records import TrainerState
from wordpiece_studio.ui.panes.training_bar.training_words import idle_words, why_not_further
from wordpiece_studio.ui.widgets.icons import icon
from wordpiece_studio.ui.widgets.plain import set_plain_tooltip

if TYPE_CHECKING:
    from PySide6.QtGui import QColor

    from wordpiece_studio.corpus.counts import WordCounts
    from wordpiece_studio.ui.actions.actions import Actions
    from wordpiece_studio.ui.controllers.training_controller import TrainingController
    from wordpiece_studio.ui.panes.training_bar.training_bar import TrainingBar
    from wordpiece_studio.ui.widgets.theme import Theme


class TrainingState(QObject):
    """Looks at the model, and at what the controller knows of the run."""

    out_of_date = Signal()
    """The colours have changed, and with them the icons."""

    def __init__(self, controller: TrainingController, bar: TrainingBar, actions: Actions, theme: Theme) -> None:
        super().__init__(controller)
        self._controller = controller
        self._bar = bar
        self._actions = actions
        self._theme = theme
        self._pause_icon: tuple[str, QColor, QColor] | None = None
        theme.changed.connect(self.out_of_date)

    def show(self, *, is_waiting: bool) -> None:
        """Show what is so; `is_waiting`: for counts, to train then."""
        model, actions = self._controller.model, self._actions
        training, paused = model.state is TrainerState.TRAINING, model.state is TrainerState.PAUSED
        has_history = model.history is not None
        had_keyboard = self._bar.has_keyboard
        actions.train.setEnabled(not training and not is_waiting)
        is_users = has_history and not self._controller.record.is_automatic
        actions.train.setText(self.tr("&Train again") if is_users else self.tr("&Train"))
        reason = why_not_further(model)
        actions.train_further.setEnabled(has_history and not training and not is_waiting and not reason)
        set_plain_tooltip(actions.train_further, reason or actions.usual_tip(actions.train_further))
        actions.pause.setEnabled(training or paused)
        actions.pause.setText(self.tr("&Resume") if paused else self.tr("&Pause"))
        self._show_pause_icon("play" if paused else "pause")
        actions.stop.setEnabled(training or paused or is_waiting)
        if had_keyboard:
            self._bar.keep_keyboard()
        self._show_words(training, paused, is_waiting)

    def check_size(self, counts: WordCounts | None) -> None:
        """Mark a size that cannot be reached with these counts, as far as that is known without counting anew."""
        history, settings = self._controller.model.history, self._bar.settings
        is_known = counts is not None and counts is self._controller.model.counts
        size = settings.target_size
        settings.set_size_wrong(is_known and history is not None and 0 < size < history.vocabulary_size(0))

    def _show_pause_icon(self, name: str) -> None:
        wanted = (name, self._theme.text, self._theme.faint)
        if wanted != self._pause_icon:  # drawn anew it would take longer than all the rest
            self._pause_icon = wanted
            self._actions.pause.setIcon(icon(*wanted))

    def _show_words(self, training: bool, paused: bool, is_waiting: bool) -> None:
        controller, bar = self._controller, self._bar
        if is_waiting:
            bar.show_busy(self.tr("Counting the words…"))
        elif training and controller.model.history is None:
            bar.show_busy(controller.engine.waiting_words)
        elif training or paused:
            bar.show_progress(controller.model.progress, paused)
        else:
            words = idle_words(controller.model, controller.record, controller.proposal.words, controller.memory.words)
            bar.show_text(*controller.engine.beside(*words))
