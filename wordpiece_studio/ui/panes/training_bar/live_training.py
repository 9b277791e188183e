"""Train as you type: a small corpus is retrained after every edit, and the new run replaces the old one.

Runs that the user asked for are not lost: the same text with the same settings gives the same merges, so undoing the
edit brings them back; and the first time such merges are replaced, the user is informed. Merges that could not be
restored in this way (those of another corpus, or of training that was stopped half-way) stay.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from wordpiece_studio.errors import StudioError
from wordpiece_studio.session.records import TrainerState

if TYPE_CHECKING:
    from wordpiece_studio.corpus.counts import WordCounts
    from wordpiece_studio.session.settings import SettingsStore
    from wordpiece_studio.session.trainer_model import TrainerModel
    from wordpiece_studio.text.pipeline import Normalizer, PreTokenizer
    from wordpiece_studio.training.config import TrainingConfig
    from wordpiece_studio.ui.actions import Actions
    from wordpiece_studio.ui.controllers.counting_controller import CountingController
    from wordpiece_studio.ui.panes.training_bar.run_record import RunRecord

MOST_BYTES = 120_000
"""A larger corpus is not trained while typing."""


class LiveTraining(QObject):
    """Decides whether an edit starts training, and has the model train while the current run stays visible."""

    follows = Signal()
    """For the first time since the program started, merges that the user asked for give way to live training."""
    forgets = Signal(object)
    """The setting could not be saved for the next start, a StudioError."""

    def __init__(
        self, model: TrainerModel, counting: CountingController, record: RunRecord, actions: Actions,
        settings: SettingsStore, parent: QObject,
    ) -> None:  # fmt: skip
        super().__init__(parent)
        self._model = model
        self._counting = counting
        self._record = record
        self._settings = settings
        self._action = actions.train_as_you_type
        self._action.setChecked(settings.values.train_as_you_type)
        self._serial_opened = 0
        self._is_user_informed = False
        self._action.toggled.connect(self._on_action_toggled)

    def take_opened(self) -> None:
        """Note that another corpus was opened: it is not trained until it is edited."""
        self._serial_opened = self._counting.text_serial

    def can_train(self, counts: WordCounts) -> bool:
        """Return whether to train these counts of an edited text without asking."""
        model, record = self._model, self._record
        is_small = 0 < counts.total and counts.statistics.bytes <= MOST_BYTES
        is_edited = self._counting.text_serial != self._serial_opened
        is_idle = not model.is_busy and model.state is not TrainerState.PAUSED
        if not (self._action.isChecked() and is_small and is_edited and is_idle):
            return False
        is_lost = model.stop_reason == "user" or record.changes().is_other_corpus
        return not (record.is_wanted and is_lost)

    def train(self, counts: WordCounts, config: TrainingConfig) -> None:
        """Replace the current run with one of these counts, unless it would be the same."""
        model, record = self._model, self._record
        if counts == model.counts and config == model.config and _pipeline(counts) == _pipeline(model.counts):
            return
        if record.is_wanted and not self._is_user_informed:
            self._is_user_informed = True
            self.follows.emit()
        record.note_start(automatic=True, wanted=record.is_wanted)
        model.replace(counts, config)

    def _on_action_toggled(self, is_on: bool) -> None:
        if not is_on and self._record.is_wanted:
            self._record.claim()  # from now on it is not replaced
        try:
            self._settings.change(train_as_you_type=is_on)
        except StudioError as error:
            self.forgets.emit(error)


def _pipeline(counts: WordCounts) -> tuple[Normalizer, PreTokenizer]:
    return counts.normalizer, counts.pre_tokenizer
