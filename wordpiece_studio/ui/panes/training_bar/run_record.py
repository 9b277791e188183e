"""What is known about the current run besides its merges: who started it, its corpus, and whether it is saved."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject

from wordpiece_studio.errors import StudioError
from wordpiece_studio.session.records import TrainerState

if TYPE_CHECKING:
    from wordpiece_studio.session.trainer_model import TrainerModel
    from wordpiece_studio.training.config import TrainingConfig
    from wordpiece_studio.ui.controllers.counting_controller import CountingController
    from wordpiece_studio.ui.panes.training_bar.training_settings import TrainingSettings


@dataclass(frozen=True, slots=True)
class RunBeginning:
    """Where a run comes from: the Studio itself or the user, and the name and state of the corpus.

    `is_wanted`: the user asked for it, or for one that it replaced during typing.
    """

    is_automatic: bool = True
    is_wanted: bool = False
    corpus_name: str = ""
    text_serial: int = 0


@dataclass(frozen=True, slots=True)
class Changes:
    """What has changed since the run began.

    `is_other_corpus`: another text has been opened. `rules`: settings other than the vocabulary size have changed.
    """

    is_other_corpus: bool = False
    corpus: bool = False
    pipeline: bool = False
    settings: bool = False
    rules: bool = False


class RunRecord(QObject):
    """Follows the model; a run that cannot start leaves the record of the old one unchanged."""

    def __init__(
        self, model: TrainerModel, counting: CountingController, settings: TrainingSettings, parent: QObject
    ) -> None:
        super().__init__(parent)
        self._model = model
        self._counting = counting
        self._settings = settings
        self._present = self._next = RunBeginning()
        self._corpus_name = ""
        self._saved_merges = 0
        model.run_reset.connect(self._on_model_run_reset)

    @property
    def is_automatic(self) -> bool:
        """Whether the Studio started the run by itself; if a run is just starting, that one."""
        is_new = self._model.state is TrainerState.TRAINING
        return (self._next if is_new else self._present).is_automatic

    @property
    def is_wanted(self) -> bool:
        """Whether the user asked for this run, or for one that it replaced during typing."""
        is_new = self._model.state is TrainerState.TRAINING
        return (self._next if is_new else self._present).is_wanted

    @property
    def is_unsaved(self) -> bool:
        """Whether there are merges that the user asked for and has not saved."""
        return self.is_wanted and self._model.merge_count > self._saved_merges

    @property
    def corpus_name(self) -> str:
        """The name of the corpus that the run was learned from."""
        return self._present.corpus_name

    def set_corpus_name(self, name: str) -> None:
        """Set the name of the corpus in the editor."""
        self._corpus_name = name

    def rename_corpus(self, name: str) -> None:
        """Set the new name of the corpus after it was saved."""
        if self._present.corpus_name == self._corpus_name:
            self._present = replace(self._present, corpus_name=name)
        self._corpus_name = name

    def note_start(self, *, automatic: bool, wanted: bool = False) -> None:
        """Record where the run starting now comes from; a run that the user started is always wanted."""
        self._next = RunBeginning(automatic, wanted or not automatic, self._corpus_name, self._counting.text_serial)

    def note_restored(self, corpus_name: str, *, is_of_corpus: bool, is_wanted: bool) -> None:
        """Record where the run being restored comes from; `is_of_corpus`: from the current corpus, unchanged."""
        serial = self._counting.text_serial if is_of_corpus else -1
        name = self._corpus_name if is_of_corpus else corpus_name
        self._present = self._next = RunBeginning(not is_wanted, is_wanted, name, serial)

    def note_saved(self) -> None:
        """Record that all merges have been saved."""
        self._saved_merges = self._model.merge_count

    def claim(self) -> None:
        """Mark the current run as one that the user asked for."""
        self._present = self._next = replace(self._present, is_automatic=False, is_wanted=True)

    def changes(self) -> Changes:
        """Return what has changed since the run began."""
        model = self._model
        if model.history is None or model.counts is None or model.config is None:
            return Changes()
        pipeline = (model.counts.normalizer, model.counts.pre_tokenizer)
        present = (self._counting.pipeline.normalizer, self._counting.pipeline.pre_tokenizer)
        try:
            config: TrainingConfig | None = self._settings.config()
        except StudioError:
            config = None
        same_size = None if config is None else replace(config, vocab_size=model.config.vocab_size)
        return Changes(
            is_other_corpus=self._present.corpus_name != self._corpus_name,
            corpus=self._is_corpus_changed(pipeline == present),
            pipeline=pipeline != present,
            settings=config != model.config,
            rules=same_size != model.config,
        )

    def _is_corpus_changed(self, comparable: bool) -> bool:
        if self._counting.text_serial == self._present.text_serial:
            return False
        counts = self._counting.counts
        if counts is None or not comparable:
            return True  # as far as is known
        history = self._model.history
        if history is not None and not history.is_whole:  # its words are being read, or cannot be read
            return history.is_damaged
        return counts is not self._model.counts and counts != self._model.counts

    def _on_model_run_reset(self) -> None:
        self._present, self._saved_merges = self._next, 0
