"""Opening a sample corpus: with its own settings, and trained at once, or not at all."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QMessageBox, QWidget

from wordpiece_studio.model.records import TrainerState
from wordpiece_studio.ui.training.training_dialogs import discard_question

if TYPE_CHECKING:
    from wordpiece_studio.model.trainer_model import TrainerModel
    from wordpiece_studio.ui.corpus.corpus_figures import CorpusFigures
    from wordpiece_studio.ui.corpus.file_flow import FileFlow
    from wordpiece_studio.ui.corpus.samples import Sample
    from wordpiece_studio.ui.training.training_flow import TrainingFlow
    from wordpiece_studio.ui.training.training_settings import TrainingSettings


class SampleFlow(QObject):
    """Never leaves the text of a sample beside the merges of another corpus."""

    def __init__(
        self, window: QWidget, model: TrainerModel, files: FileFlow, training: TrainingFlow,
        figures: CorpusFigures, settings: TrainingSettings,
    ) -> None:  # fmt: skip
        super().__init__(window)
        self._window = window
        self._model = model
        self._files = files
        self._training = training
        self._figures = figures
        self._settings = settings
        self._wanted = ""
        files.sample_loaded.connect(self._on_sample_loaded)

    def open_sample(self, name: str) -> None:
        """Take a sample as the corpus and train it, when text and merges of the user's are safe."""
        self._wanted = name
        self._files.when_safe(self._ask_or_load)

    def _ask_or_load(self) -> None:
        trains = self._model.state is TrainerState.TRAINING
        if not self._training.record.is_wanted or not (trains or self._model.merge_count):
            self._files.load_sample(self._wanted)
            return
        box = discard_question(
            self._model.merge_count, self._training.record.corpus_name, self._window, for_sample=True
        )
        box.finished.connect(self._on_box_finished)
        box.open()

    def _on_box_finished(self, answer: int) -> None:
        if answer == QMessageBox.StandardButton.Yes.value:
            self._files.load_sample(self._wanted)

    def _on_sample_loaded(self, sample: Sample) -> None:
        self._figures.choose(sample.normalizer, sample.pre_tokenizer)
        self._settings.set_config(replace(self._settings.config(), vocab_size=sample.size or None, min_frequency=0))
        self._training.proposal.take_known()
        self._training.train_unasked()
