"""A stand-in for the state of the window's project, which a test sets as it likes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from wordpiece_studio.corpus.files import CorpusFile, CorpusReference
from wordpiece_studio.storage.project.container import ProjectStamp
from wordpiece_studio.storage.project.contents import Project, ProjectCorpus, ProjectSettings, Run, RunOrigin
from wordpiece_studio.storage.view import View
from wordpiece_studio.text import normalizers, pre_tokenizers
from wordpiece_studio.training.config import TrainingConfig
from wordpiece_studio.training.trainer import Trainer

if TYPE_CHECKING:
    from pathlib import Path

    from wordpiece_studio.corpus.counts import WordCounts
    from wordpiece_studio.session.document import Document
    from wordpiece_studio.session.project_state import ProjectContent


def settings(vocab_size: int = 100) -> ProjectSettings:
    return ProjectSettings(
        training=TrainingConfig(vocab_size=vocab_size).to_dict(),
        normalizer=normalizers.to_spec(normalizers.resolve_normalizer("bert-cased")),
        pre_tokenizer=pre_tokenizers.to_spec(pre_tokenizers.resolve_pre_tokenizer("bert")),
    )


def trained(counts: WordCounts, merges: int) -> Run:
    config = TrainingConfig(max_merges=merges)
    trainer = Trainer(counts, config)
    trainer.run(merges)
    return Run(counts, config, trainer.history, origin=RunOrigin(is_wanted=True), is_of_corpus=True)


class FakeState(QObject):
    """Captures the text of a document, and values set by a test."""

    changed = Signal()
    saved = Signal()

    def __init__(self, document: Document) -> None:
        super().__init__()
        self._document = document
        self.path: Path | None = None
        self.saved_content: ProjectContent | None = None
        self.is_file_another = False
        self.stamp = ProjectStamp()
        self.settings = settings()
        self.view = View()
        self.run: Run | None = None
        self.others: tuple[Run, ...] = ()
        document.text_changed.connect(self.changed)

    def capture(self) -> Project:
        document = self._document
        if document.is_files:
            files = tuple(CorpusReference(CorpusFile(file.path)) for file in document.files.files)
            corpus = ProjectCorpus(name="files", text=None, files=files)
        else:
            origin = CorpusReference(CorpusFile(str(document.path))) if document.path is not None else None
            corpus = ProjectCorpus(
                name="my corpus", text=document.text, is_edited=document.is_modified, origin=origin
            )  # fmt: skip
        runs = (self.run, *self.others) if self.run else ()
        return Project(settings=self.settings, corpus=corpus, view=self.view, runs=runs)

    def change(self, **values: object) -> None:
        """Set a part of the project and emit the change."""
        for name, value in values.items():
            setattr(self, name, value)
        self.changed.emit()
