"""The word counts of the corpus, kept up to date while it is edited, with the normalizer and pre-tokenizer chosen.

The counting itself is a `CountingJob`, beside the window.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from wordpiece_studio.corpus.count_tables import HEADER, counts_as_text, is_typed_counts, with_count
from wordpiece_studio.corpus.counts import CountingProgress
from wordpiece_studio.errors import StudioError
from wordpiece_studio.session.counting_job import LONGEST_WORD, CountingJob
from wordpiece_studio.session.timers import single_shot
from wordpiece_studio.text.normalizers import resolve_normalizer
from wordpiece_studio.text.pipeline import Normalizer, Pipeline, PreTokenizer
from wordpiece_studio.text.pre_tokenizers import resolve_pre_tokenizer

if TYPE_CHECKING:
    from wordpiece_studio.corpus.counts import WordCounts
    from wordpiece_studio.session.document import Document

_DELAY_MS = 120
_LONG_DELAY_MS = 800
_LONG_TEXT = 1_000_000
_LIVE_TEXT = 150_000
"""Characters; a text up to this length is counted after every key press, in a hundredth of a second."""
_PATIENCE_MS = 250
"""How long outdated counts may stay visible after a key press: no one notices so short a time."""


class CorpusCounting(QObject):
    """Counts a little after the last edit; the counts of an older text are never handed out.

    Attributes
    ----------
    max_word_length : int
        How many characters a word may have to be counted, from the next counting on.

    Signals
    -------
    counts_changed(WordCounts | None)
        There are counts of the present text, or None: it is being counted or could not be.
    pipeline_changed()
        Text becomes words in another way, or words of another length are left out.
    failed(StudioError)
        Text or files could not be counted.
    partial_changed(bool)
        Whether only a first part of the corpus was counted; comes before the counts.
    progress_changed(CountingProgress)
        How far a long counting is.
    state_changed()
        A counting runs now, is held, was stopped, failed or is over.
    """

    counts_changed = Signal(object)
    pipeline_changed = Signal()
    failed = Signal(object)
    partial_changed = Signal(object)
    progress_changed = Signal(object)
    state_changed = Signal()

    def __init__(self, document: Document, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._document = document
        self.max_word_length = LONGEST_WORD
        self._pipeline = Pipeline(resolve_normalizer("bert-cased"), resolve_pre_tokenizer("bert"))
        self._counts: WordCounts | None = None
        self._must_report_unknown = False  # whether the loss of the counts still has to be reported
        self._text_serial = 0
        self._expected_for = -1  # the text serial for which counts are on their way
        self._is_partial = False
        self._is_ending = False
        self._was_stopped = False  # by the user: no counts arrive unless asked for
        self._error: StudioError | None = None
        self._timer = single_shot(self, self.count_now)
        self._patience = single_shot(self, self._report_unknown, _PATIENCE_MS)
        document.text_changed.connect(self._on_document_text_changed)
        self._job = CountingJob(self)
        self._job.finished.connect(self._on_job_finished)
        self._job.failed.connect(self._on_job_failed)
        self._job.reported.connect(self._on_job_reported)
        self._job.running_changed.connect(self._on_job_state_changed)
        self._job.paused_changed.connect(self._on_job_state_changed)

    @property
    def counts(self) -> WordCounts | None:
        """The counts of the present text; None while they are not known."""
        return self._counts

    @property
    def text_serial(self) -> int:
        """A number that differs after every change of the text."""
        return self._text_serial

    @property
    def pipeline(self) -> Pipeline:
        """How a text becomes words now."""
        return self._pipeline

    @property
    def is_under_way(self) -> bool:
        """Whether counts will arrive without being asked for."""
        return self.is_expecting or self._timer.isActive() or self._job.is_running or self._document.files.is_listing

    @property
    def is_expecting(self) -> bool:
        """Whether the counts of the present corpus are known, and will arrive through `take_counts`."""
        return self._expected_for == self._text_serial

    @property
    def is_running(self) -> bool:
        """Whether counting is running or paused."""
        return self._job.is_running

    @property
    def is_paused(self) -> bool:
        return self._job.is_paused

    @property
    def is_ending(self) -> bool:
        """Whether counting was ended early and its counts are on their way."""
        return self._is_ending and self.is_running

    @property
    def is_partial(self) -> bool:
        """Whether the counts cover only a first part of the corpus."""
        return self._is_partial

    @property
    def was_stopped(self) -> bool:
        """Whether the user cancelled the counting and there are no counts."""
        return self._was_stopped

    @property
    def error(self) -> StudioError | None:
        """Why the present corpus could not be counted; None if it was, or was not tried."""
        return self._error

    def set_pipeline(self, normalizer: Normalizer, pre_tokenizer: PreTokenizer) -> None:
        pipeline = Pipeline(normalizer, pre_tokenizer)
        if pipeline != self._pipeline:
            self._pipeline = pipeline
            self._forget()
            self.pipeline_changed.emit()
            if self._is_live:
                self._report_unknown_soon()
            else:
                self._report_unknown()
            self.count_now()

    def take_pipeline(self, normalizer: Normalizer, pre_tokenizer: PreTokenizer, max_word_length: int) -> None:
        """Use these from the next count on; the corpus is about to be replaced."""
        self._pipeline = Pipeline(normalizer, pre_tokenizer)
        self.max_word_length = max_word_length
        self._forget()
        self.pipeline_changed.emit()

    def expect_counts(self) -> None:
        """Do not count: the counts of the present corpus are known, and will arrive through `take_counts`."""
        self._timer.stop()
        self._patience.stop()
        self._stop_job()
        self._expected_for = self._text_serial

    def take_counts(self, counts: WordCounts | None) -> None:
        """Take the expected counts, unless the corpus has changed since or is being counted; with None, count it."""
        is_expected, self._expected_for = self.is_expecting, -1
        if not is_expected or self.is_under_way or self._counts is not None:
            return
        if counts is None:
            self.count_now()
            return
        self._on_job_finished(counts)
        self.state_changed.emit()

    def take_known(self, counts: WordCounts) -> None:
        """Take counts of the present corpus that are known already, with the pipeline that made them."""
        pipeline = Pipeline(counts.normalizer, counts.pre_tokenizer)
        if pipeline == self._pipeline and counts is self._counts:
            return
        self._timer.stop()
        self._stop_job()
        self._forget()
        if pipeline != self._pipeline:
            self._pipeline = pipeline
            self.pipeline_changed.emit()
        self._on_job_finished(counts)
        self.state_changed.emit()

    def count_now(self) -> None:
        """Count without further delay; while files are still being listed, wait until all are."""
        self._timer.stop()
        self._is_ending = False
        self._expected_for = -1
        self._was_stopped, self._error = False, None
        if self._document.files.is_listing:
            return
        document, pipeline = self._document, (self._pipeline.normalizer, self._pipeline.pre_tokenizer)
        if document.is_files and document.files.rows:
            document.files.table.begin_counting()
            self._job.count_files(document.files.files, *pipeline, self.max_word_length)
        else:
            self._job.count_text(document.text, *pipeline, self.max_word_length)

    def count_again(self) -> None:
        """Count anew and completely, whatever is known."""
        self._forget()
        self._report_unknown()
        self.count_now()

    def set_count(self, word: str, count: int) -> None:
        """Let a word occur `count` times: an edit of the text, which becomes words with their counts."""
        document = self._document
        if document.is_files:
            raise StudioError(
                "Words that come from files cannot be changed here",
                "Type or paste words with their counts as text, one word and its count per line.",
            )
        text = document.text or HEADER
        if not is_typed_counts(text):
            if self._counts is None:
                raise StudioError("The words of the text are not counted yet", "Try again in a moment.")
            text = counts_as_text(self._counts)
        document.set_text(with_count(text, word, count))

    def stop(self) -> None:
        """Stop counting until the next edit."""
        self._timer.stop()
        self._was_stopped = self._counts is None and not self.is_expecting
        self._stop_job()
        self._report_unknown()
        self.state_changed.emit()

    def pause(self) -> None:
        """Pause a running count."""
        self._job.pause()

    def resume(self) -> None:
        """Resume a paused count."""
        self._job.resume()

    def keep(self) -> None:
        """Stop counting files early; the counts of what was read so far arrive as if that were all."""
        self._is_ending = True
        self._job.stop_and_keep()
        self.state_changed.emit()

    def close(self) -> None:
        """Cancel what runs and wait for it to end."""
        self._timer.stop()
        self._patience.stop()
        self._job.close()

    def _stop_job(self) -> None:
        """Cancel a count; it reports nothing more."""
        self._job.stop()
        self._document.files.table.take_end()

    def _forget(self) -> None:
        if self._counts is not None:
            self._counts = None
            self._must_report_unknown = True
        self._set_partial(False)

    def _report_unknown(self) -> None:
        self._patience.stop()
        if self._must_report_unknown:
            self._must_report_unknown = False
            self.counts_changed.emit(None)

    def _report_unknown_soon(self) -> None:
        if self._must_report_unknown and not self._patience.isActive():
            self._patience.start()

    @property
    def _is_live(self) -> bool:
        """Whether the text is counted before anyone can notice that the counts are gone."""
        return not self._document.is_files and len(self._document.text) <= _LIVE_TEXT

    def _set_partial(self, is_partial: bool) -> None:
        if is_partial != self._is_partial:
            self._is_partial = is_partial
            self.partial_changed.emit(is_partial)

    def _on_document_text_changed(self) -> None:
        self._text_serial += 1
        self._was_stopped, self._error = False, None
        self._stop_job()
        self._forget()
        if self._document.files.is_listing:
            self._timer.stop()
            self._report_unknown()
            return
        if self._is_live:
            self._timer.start(0)  # after everything else that the key press does
            self._report_unknown_soon()
            return
        is_long = not self._document.is_files and len(self._document.text) > _LONG_TEXT
        self._timer.start(_LONG_DELAY_MS if is_long else _DELAY_MS)
        self._report_unknown()

    def _on_job_finished(self, counts: WordCounts) -> None:
        if self._document.is_files:
            self._document.files.table.take_statistics(counts.statistics)
        if not self._timer.isActive():  # else the text has already changed again
            self._patience.stop()
            self._must_report_unknown = False
            self._counts = counts
            self._set_partial(counts.statistics.is_partial)
            self.counts_changed.emit(counts)

    def _on_job_failed(self, error: StudioError) -> None:
        self._document.files.table.take_error(error)
        if not self._timer.isActive():
            self._report_unknown()
            self._error = error
            self.failed.emit(error)
            self.state_changed.emit()

    def _on_job_reported(self, progress: object) -> None:
        if self._document.is_files and isinstance(progress, CountingProgress):
            self._document.files.table.take_progress(progress)
        self.progress_changed.emit(progress)

    def _on_job_state_changed(self, _state: object) -> None:
        self.state_changed.emit()
