"""Training as one types: a small corpus is trained again at every edit, and the new run replaces the old one.

What the user asked for is not lost by it: the same text with the same settings gives the same merges, so undoing the
edit brings them back; and the first time that such merges make room the user is informed. Merges that could not be had
again so, those of another corpus and those of a training that was stopped half-way, stay.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from wordpiece_studio.session.records import TrainerState

if TYPE_CHECKING:
    from wordpiece_studio.corpus.counts import WordCounts
    from wordpiece_studio.session.session import Session
    from wordpiece_studio.text.pipeline import Normalizer, PreTokenizer
    from wordpiece_studio.training.config import TrainingConfig

MOST_BYTES = 120_000
"""A larger corpus is not trained as one types."""


class LiveTraining(QObject):
    """Decides whether an edit trains, and has the model do it beside the run that is shown.

    Attributes
    ----------
    is_on : bool
        Whether edits train, see `set_on`.
    """

    follows = Signal()
    """Merges that the user asked for make room for those of the text as it is typed, the first time since the start."""

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self._session = session
        self.is_on = session.store.values.train_as_you_type
        self._serial_opened = 0
        self._has_followed = False
        session.corpus_taken.connect(self._on_session_corpus_taken)

    def set_on(self, is_on: bool) -> None:
        """Have edits train from now on, or not; for the next start too.

        Raises
        ------
        StudioError
            If the choice cannot be kept for the next start.
        """
        self.is_on = is_on
        if not is_on and self._session.model.origin.is_wanted:
            self._session.model.claim()  # it stands still from now on
        self._session.store.change(train_as_you_type=is_on)

    def can_train(self, counts: WordCounts) -> bool:
        """Return whether these counts, which are of an edited text, are to be trained without a word."""
        model = self._session.model
        is_small = 0 < counts.total and counts.statistics.bytes <= MOST_BYTES
        is_edited = self._session.counting.text_serial != self._serial_opened
        is_idle = not model.is_busy and model.state is not TrainerState.PAUSED
        if not (self.is_on and is_small and is_edited and is_idle):
            return False
        is_lost = model.stop_reason == "user" or self._session.changes_since_run().is_other_corpus
        return not (model.origin.is_wanted and is_lost)

    def train(self, counts: WordCounts, config: TrainingConfig) -> None:
        """Have a run of these counts replace the present one, unless it would be the same."""
        model = self._session.model
        if counts == model.counts and config == model.config and _pipeline(counts) == _pipeline(model.counts):
            return
        is_wanted = model.origin.is_wanted
        if is_wanted and not self._has_followed:
            self._has_followed = True
            self.follows.emit()
        model.replace(counts, config, origin=self._session.origin(is_automatic=True, is_wanted=is_wanted))

    def _on_session_corpus_taken(self) -> None:
        self._serial_opened = self._session.counting.text_serial  # it is not trained before it is edited


def _pipeline(counts: WordCounts) -> tuple[Normalizer, PreTokenizer]:
    return counts.normalizer, counts.pre_tokenizer
