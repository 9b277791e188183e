"""Keeps the word counts of the corpus up to date while it is edited, with the normalizer and pre-tokenizer chosen."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QTimer, Signal

from wordpiece_studio.core.text.normalizers import Normalizer, resolve_normalizer
from wordpiece_studio.core.text.pipeline import Pipeline
from wordpiece_studio.core.text.pre_tokenizers import PreTokenizer, resolve_pre_tokenizer

if TYPE_CHECKING:
    from wordpiece_studio.core.corpus.counts import WordCounts
    from wordpiece_studio.errors import StudioError
    from wordpiece_studio.model.document import Document

_DELAY_MS = 120
_LONG_DELAY_MS = 800
_LONG_TEXT = 1_000_000


class CountingFlow(QObject):
    """Counts a little after the last edit; the counts of an older text are never handed out."""

    counts_changed = Signal(object)
    """There are counts of the present text, or None: it is being counted or could not be."""
    failed = Signal(object)
    """The text could not be counted, a StudioError."""

    def __init__(self, document: Document, parent: QObject) -> None:
        super().__init__(parent)
        self._document = document
        self._pipeline = Pipeline(resolve_normalizer("bert-cased"), resolve_pre_tokenizer("bert"))
        self._counts: WordCounts | None = None
        self._text_serial = 0
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.timeout.connect(self.count_now)
        document.text_changed.connect(self._on_document_text_changed)
        document.counting_finished.connect(self._on_document_counting_finished)
        document.counting_failed.connect(self._on_document_counting_failed)

    @property
    def counts(self) -> WordCounts | None:
        """The counts of the present text; None while they are not known."""
        return self._counts

    @property
    def text_serial(self) -> int:
        """A number that is another one after every change of the text."""
        return self._text_serial

    @property
    def pipeline(self) -> Pipeline:
        """How a text becomes words now."""
        return self._pipeline

    @property
    def is_under_way(self) -> bool:
        """Whether counts will come without anybody asking."""
        return self._timer.isActive() or self._document.is_counting

    def set_pipeline(self, normalizer: Normalizer, pre_tokenizer: PreTokenizer) -> None:
        """Count with these from now on."""
        pipeline = Pipeline(normalizer, pre_tokenizer)
        if pipeline != self._pipeline:
            self._pipeline = pipeline
            self._forget()
            self.count_now()

    def count_now(self) -> None:
        """Count without further delay."""
        self._timer.stop()
        self._document.count_words(self._pipeline.normalizer, self._pipeline.pre_tokenizer)

    def stop(self) -> None:
        """Give up counting until the next edit."""
        self._timer.stop()
        self._document.stop_counting()

    def _forget(self) -> None:
        if self._counts is not None:
            self._counts = None
            self.counts_changed.emit(None)

    def _on_document_text_changed(self) -> None:
        self._text_serial += 1
        self._document.stop_counting()
        self._forget()
        self._timer.start(_LONG_DELAY_MS if len(self._document.text) > _LONG_TEXT else _DELAY_MS)

    def _on_document_counting_finished(self, counts: WordCounts) -> None:
        if not self._timer.isActive():  # else the text is a newer one already
            self._counts = counts
            self.counts_changed.emit(counts)

    def _on_document_counting_failed(self, error: StudioError) -> None:
        if not self._timer.isActive():
            self.failed.emit(error)
