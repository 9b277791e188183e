"""What a project needs from the fields of the window: bar, corpus pane and tokenization pane."""

from __future__ import annotations

from typing import TYPE_CHECKING

from wordpiece_studio.session.project_fields import ProjectFields, RunOrigin
from wordpiece_studio.storage.project.contents import ProjectSettings
from wordpiece_studio.text import normalizers, pre_tokenizers
from wordpiece_studio.training.config import TrainingConfig

if TYPE_CHECKING:
    from PySide6.QtCore import QObject

    from wordpiece_studio.corpus.counts import WordCounts
    from wordpiece_studio.session.document import Document
    from wordpiece_studio.ui.controllers.counting_controller import CountingController
    from wordpiece_studio.ui.controllers.file_controller import FileController
    from wordpiece_studio.ui.controllers.training_controller import TrainingController
    from wordpiece_studio.ui.panes.corpus.corpus_figures import CorpusFiguresView
    from wordpiece_studio.ui.panes.tokenization.tokenization_pane import TokenizationPane
    from wordpiece_studio.ui.panes.training_bar.training_settings import TrainingSettings


class WindowFields(ProjectFields):
    """Reads and writes them."""

    def __init__(
        self, document: Document, counting: CountingController, figures: CorpusFiguresView, settings: TrainingSettings,
        files: FileController, training: TrainingController, tokenization: TokenizationPane, parent: QObject,
    ) -> None:  # fmt: skip
        super().__init__(parent)
        self._document = document
        self._counting = counting
        self._figures = figures
        self._settings = settings
        self._files = files
        self._training = training
        self._tokenization = tokenization
        settings.changed.connect(self.changed)
        figures.pipeline_changed.connect(self.changed)
        files.renamed.connect(self.changed)
        figures.longest_word_chosen.connect(self._on_something_changed)
        tokenization.text_changed.connect(self._on_something_changed)

    @property
    def live_text(self) -> str:
        """The text that is tokenized live."""
        return self._tokenization.text

    @property
    def given_name(self) -> str:
        """The name of the corpus if it has no file."""
        return self._files.given_name

    def settings(self) -> ProjectSettings:
        """Return the settings of the next training."""
        pipeline = self._counting.pipeline
        return ProjectSettings(
            training=self._settings.shown_config().to_dict(),
            normalizer=normalizers.to_spec(pipeline.normalizer),
            pre_tokenizer=pre_tokenizers.to_spec(pipeline.pre_tokenizer),
            max_word_length=self._document.max_word_length,
        )

    def origin(self) -> RunOrigin:
        """Return where the run that is shown comes from."""
        record = self._training.record
        changes = record.changes()
        is_of_corpus = not (changes.is_other_corpus or changes.corpus or changes.pipeline)
        return RunOrigin(record.corpus_name, is_of_corpus, record.is_wanted)

    def show_settings(self, settings: ProjectSettings) -> None:
        """Show these settings; nothing is counted for them yet.

        Raises
        ------
        StudioError
            If they describe something that does not exist.
        """
        config = TrainingConfig.from_dict(settings.training)
        normalizer = normalizers.from_spec(settings.normalizer)
        pre_tokenizer = pre_tokenizers.from_spec(settings.pre_tokenizer)
        self._settings.set_config(config)
        self._figures.set_names(normalizer.name, pre_tokenizer.name)
        self._counting.take_pipeline(normalizer, pre_tokenizer)
        self._document.max_word_length = settings.max_word_length
        self._figures.show_longest_word(settings.max_word_length)

    def take_corpus(self, name: str) -> None:
        """Note that the document holds another corpus, called `name` if it has no file."""
        config = self._settings.shown_config()
        self._files.take_restored(name)
        self._settings.set_config(config)
        self._training.suggested_settings.take_known()

    def counts(self) -> WordCounts | None:
        """Return the word counts of the corpus as it is; None while they are not known."""
        return self._counting.counts

    @property
    def expects_counts(self) -> bool:
        """Whether the counts of the corpus as it is are on their way, see `expect_counts`."""
        return self._counting.is_expecting

    def expect_counts(self) -> None:
        """Count nothing: the counts of the corpus are on their way."""
        self._counting.expect_counts()

    def take_counts(self, counts: WordCounts | None) -> None:
        """Take the expected counts; None if there are none and the corpus has to be counted."""
        self._counting.take_counts(counts)

    def begin_run(self, origin: RunOrigin) -> None:
        """Record where the run that the model is about to show comes from."""
        self._training.record.note_restored(
            origin.corpus_name, is_of_corpus=origin.is_of_corpus, is_wanted=origin.is_wanted
        )

    def watch(self, text: str) -> None:
        """Tokenize `text` live."""
        if text != self._tokenization.text:
            self._tokenization.set_text(text)

    def _on_something_changed(self, _what: object) -> None:
        self.changed.emit()
