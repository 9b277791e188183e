"""Opens a sample corpus with its own settings and trains it at once, or does not open it at all."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject

from wordpiece_studio.ui.dialogs.project.unsaved_work import Loss

if TYPE_CHECKING:
    from PySide6.QtWidgets import QWidget

    from wordpiece_studio.ui.controllers.file_controller import FileController
    from wordpiece_studio.ui.controllers.training_controller import TrainingController
    from wordpiece_studio.ui.panes.corpus.corpus_figures import CorpusFiguresView
    from wordpiece_studio.ui.panes.corpus.samples import SampleCorpus
    from wordpiece_studio.ui.panes.training_bar.training_settings import TrainingSettings


class SampleController(QObject):
    """Never leaves the text of a sample beside the merges of another corpus."""

    def __init__(
        self, window: QWidget, files: FileController, training: TrainingController, figures: CorpusFiguresView,
        settings: TrainingSettings,
    ) -> None:  # fmt: skip
        super().__init__(window)
        self._files = files
        self._training = training
        self._figures = figures
        self._settings = settings
        files.sample_loaded.connect(self._on_sample_loaded)

    def open_sample(self, name: str) -> None:
        """Open a sample as the corpus and train it, once the user's text and merges are safe."""
        self._files.when_safe(partial(self._files.load_sample, name), Loss.RUN)

    def _on_sample_loaded(self, sample: SampleCorpus) -> None:
        self._figures.choose(sample.normalizer, sample.pre_tokenizer)
        self._settings.set_config(replace(self._settings.config(), vocab_size=sample.size or None, min_frequency=0))
        self._training.suggested_settings.take_known()
        self._training.train_unasked()
