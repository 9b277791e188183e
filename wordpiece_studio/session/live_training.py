"""Training as one types: a small corpus is trained again at every edit and every change of a setting, as a preview.

A preview takes the place of the one before. Runs that are kept stay as they are; undoing the edit shows them again.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject

from wordpiece_studio.session.run import TrainerState

if TYPE_CHECKING:
    from wordpiece_studio.corpus.counts import WordCounts
    from wordpiece_studio.session.session import Session
    from wordpiece_studio.training.config import TrainingConfig

MOST_BYTES = 120_000
"""A larger corpus is not trained as one types."""
_HALF_WAY = (None, "user")


class LiveTraining(QObject):
    """Decides whether a change trains, and has the model do it beside the run that is shown.

    Attributes
    ----------
    is_on : bool
        Whether changes train, see `set_on`.
    """

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self._session = session
        self.is_on = session.store.values.train_as_you_type
        self._is_touched = False  # there is a change that was not trained
        session.corpus_taken.connect(self.forget_change)  # it is not trained before it is edited
        session.document.text_changed.connect(self._on_text_changed)
        session.settings.changed.connect(self._on_settings_changed)
        session.counting.pipeline_changed.connect(self._on_pipeline_changed)

    def set_on(self, is_on: bool) -> None:
        """Have changes train from now on, or not; for the next start too."""
        self.is_on = is_on
        self.forget_change()
        self._session.store.change(train_as_you_type=is_on)

    def can_train(self, counts: WordCounts) -> bool:
        """Return whether there is a change, and these counts are to be trained without a word."""
        model = self._session.model
        is_small = 0 < counts.total and counts.statistics.bytes <= MOST_BYTES
        is_idle = not model.is_busy and model.state is not TrainerState.PAUSED
        return self.is_on and self._is_touched and is_small and is_idle

    def forget_change(self) -> None:
        """Note that everything is trained, or is not to be."""
        self._is_touched = False

    def train(self, counts: WordCounts, config: TrainingConfig) -> None:
        """Show a run of these counts: one that is there, or a preview trained beside the run that is shown."""
        self.forget_change()
        runs, model = self._session.runs, self._session.model
        same = (run for run in runs.all if run.is_trained_on(counts, config) and run.stop_reason not in _HALF_WAY)
        found = next(same, None)
        if found is None:
            model.replace(counts, config, origin=self._session.origin(is_automatic=True))
            return
        model.give_up_replacement()
        runs.show(found)
        if found.is_kept:
            runs.drop_preview()

    def _on_text_changed(self) -> None:
        self._is_touched = True

    def _on_settings_changed(self) -> None:
        """A setting beside a corpus that was not trained yet does not train it."""
        session = self._session
        if session.model.run is not None and not session.changes_since_run().is_other_corpus:
            self._is_touched = True

    def _on_pipeline_changed(self) -> None:
        if self._session.changes_since_run().pipeline:  # else that of the run shown was chosen
            self._on_settings_changed()
