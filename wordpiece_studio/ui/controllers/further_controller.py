"""What “Train further” does: asks for a larger size, says what it leaves out, and goes on with the run there is."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject

from wordpiece_studio.ui.panes.training_bar.training_dialogs import FurtherDialog
from wordpiece_studio.ui.panes.training_bar.training_words import further_note

if TYPE_CHECKING:
    from PySide6.QtWidgets import QWidget

    from wordpiece_studio.ui.actions.actions import Actions
    from wordpiece_studio.ui.controllers.training_controller import TrainingController
    from wordpiece_studio.ui.panes.training_bar.training_bar import TrainingBar
    from wordpiece_studio.ui.widgets.banner import Banner


class FurtherController(QObject):
    """Connects the command with the model."""

    def __init__(
        self, window: QWidget, controller: TrainingController, bar: TrainingBar, banner: Banner, actions: Actions
    ) -> None:
        super().__init__(controller)
        self._window = window
        self._controller = controller
        self._bar = bar
        self._banner = banner
        self._actions = actions
        actions.train_further.triggered.connect(self._on_further_triggered)

    def _on_further_triggered(self) -> None:
        record = self._controller.record
        note = further_note(record.changes(), record.corpus_name)
        dialog = FurtherDialog(self._controller.model.progress.vocabulary_size, self._window, note=note)
        dialog.again_chosen.connect(self._actions.train.trigger)
        dialog.size_chosen.connect(self._on_dialog_size_chosen)
        dialog.open()

    def _on_dialog_size_chosen(self, size: int) -> None:
        model = self._controller.model
        counts, config = model.counts, model.config
        if counts is not None and config is not None:
            longer = replace(config, vocab_size=size, max_merges=None)
            self._controller.memory.confirm(counts, longer, partial(self._train, size), merges=model.merge_count)

    def _train(self, size: int) -> None:
        self._banner.clear()
        self._controller.record.claim()
        self._bar.settings.set_target_size(size)
        self._controller.model.last()
        self._controller.model.train_further(vocab_size=size)
