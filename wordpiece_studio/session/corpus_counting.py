"""The word counts of the corpus, kept up to date while it is edited, with the normalizer and pre-tokenizer chosen."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from wordpiece_studio.corpus.count_tables import HEADER, counts_as_text, is_typed_counts, with_count
from wordpiece_studio.corpus.counting.counting import count_corpus, is_much
from wordpiece_studio.corpus.counts import FileStatistics
from wordpiece_studio.errors import StudioError
from wordpiece_studio.session.task import Task, free_words_slowly, single_shot
from wordpiece_studio.text.normalizers import resolve_normalizer
from wordpiece_studio.text.pipeline import Normalizer, Pipeline, PreTokenizer
from wordpiece_studio.text.pre_tokenizers import resolve_pre_tokenizer

if TYPE_CHECKING:
    from collections.abc import Callable

    from wordpiece_studio.corpus.counts import WordCounts
    from wordpiece_studio.session.document import Document

LONGEST_WORD = 1000  # in characters; longer words are skipped unless the user sets another limit

_DELAY_MS = 120
_LONG_DELAY_MS = 800
_LONG_TEXT = 1_000_000
_LIVE_TEXT = 150_000  # characters; a text up to this length is counted after every key press, in 10 ms
_PATIENCE_MS = 250  # how long outdated counts may stay visible after a key press: no one notices so short a time


class CorpusCounting(QObject):
    """Counts a little after the last edit; the counts of an older text are never handed out."""

    counts_changed = Signal(object)  # of the present text, or None: it is being counted or could not be
    pipeline_changed = Signal()  # also when words of another length are left out
    failed = Signal(object)
    state_changed = Signal()  # a counting runs now, is held, was stopped, failed or is over

    def __init__(self, document: Document, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._document = document
        self.counts: WordCounts | None = None
        self.text_serial = 0  # differs after every change of the text
        self.is_paused = False
        self.is_ending = False  # early, and its counts are on their way
        self.was_stopped = False  # and there are no counts: they do not come unless asked for
        self.error: StudioError | None = None  # why the present corpus could not be counted
        self._reported = False, False, False  # running, paused, ending
        self._must_report_unknown = False  # whether the loss of the counts still has to be reported
        self._expected_for = -1  # the text serial for which counts are on their way
        self._timer = single_shot(self, self.count_now)
        self._patience = single_shot(self, self._report_unknown, _PATIENCE_MS)
        document.text_changed.connect(self._on_document_text_changed)
        # Pure Python in a thread stalls the window, and a child can be killed at any time.
        self.task = Task(
            count_corpus, "The words cannot be counted", self, in_child=is_much,
            on_answer=self._take_new, on_error=self._take_error,
        )  # fmt: skip
        self.task.progressed.connect(document.files.take_progress)
        self.task.changed.connect(self._report_state)
        self.begin_anew()

    @property
    def is_partial(self) -> bool:
        return self.counts is not None and self.counts.statistics.is_partial

    @property
    def is_under_way(self) -> bool:
        """Whether counts will arrive without being asked for."""
        return self.is_expecting or self._timer.isActive() or self.is_running or self._document.files.is_listing

    @property
    def is_expecting(self) -> bool:
        """Whether the counts of the present corpus are known, and will arrive through `take_counts`."""
        return self._expected_for == self.text_serial

    @property
    def is_running(self) -> bool:
        return self.task.is_running

    def set_pipeline(
        self, normalizer: Normalizer, pre_tokenizer: PreTokenizer, max_word_length: int | None = None
    ) -> None:
        pipeline, length = Pipeline(normalizer, pre_tokenizer), max_word_length or self.max_word_length
        if (pipeline, length) != (self.pipeline, self.max_word_length):
            self.take_pipeline(normalizer, pre_tokenizer, length)
            self._report_unknown_soon()
            self.count_now()

    def take_pipeline(self, normalizer: Normalizer, pre_tokenizer: PreTokenizer, max_word_length: int) -> None:
        """Use these from the next count on; the corpus is about to be replaced."""
        self.pipeline = Pipeline(normalizer, pre_tokenizer)
        self.max_word_length = max_word_length
        self._forget()
        self.pipeline_changed.emit()

    def begin_anew(self) -> None:
        self.take_pipeline(resolve_normalizer("bert-cased"), resolve_pre_tokenizer("bert"), LONGEST_WORD)

    def set_longest_word(self, length: int) -> None:
        self.set_pipeline(self.pipeline.normalizer, self.pipeline.pre_tokenizer, length)

    def expect_counts(self) -> None:
        """Do not count: the counts of the present corpus are known, and will arrive through `take_counts`."""
        self._timer.stop()
        self._patience.stop()
        self._stop_task()
        self._expected_for = self.text_serial

    def take_counts(self, counts: WordCounts | None) -> None:
        """Take the expected counts, unless the corpus has changed since or is being counted; with None, count it."""
        is_expected, self._expected_for = self.is_expecting, -1
        if not is_expected or self.is_under_way or self.counts is not None:
            return
        if counts is None:
            self.count_now()
            return
        self._take(counts)
        self.state_changed.emit()

    def take_known(self, counts: WordCounts, max_word_length: int) -> None:
        """Take counts of the present corpus that are known already, with the pipeline that made them."""
        made_by = Pipeline(counts.normalizer, counts.pre_tokenizer), max_word_length
        is_same = made_by == (self.pipeline, self.max_word_length)
        if is_same and counts is self.counts:
            return
        self._timer.stop()
        self._stop_task()
        self._forget()
        if not is_same:
            self.pipeline, self.max_word_length = made_by
            self.pipeline_changed.emit()
        self._take(counts)
        self.state_changed.emit()

    def count_now(self) -> None:
        """Count without further delay; while files are still being listed, wait until all are."""
        self._timer.stop()
        self._expected_for = -1
        self.was_stopped, self.error = False, None
        if self._document.files.is_listing:
            return
        document = self._document
        is_of_files = document.is_files and bool(document.files.rows)
        document.files.begin_counting()
        self.is_paused = self.is_ending = False
        self.task.run(
            None if is_of_files else document.text, document.files.files if is_of_files else (),
            self.pipeline.normalizer, self.pipeline.pre_tokenizer, self.max_word_length,
        )  # fmt: skip

    def count_again(self) -> None:
        self._forget()
        self._report_unknown()
        self.count_now()

    def set_count(self, word: str, count: int) -> None:
        document = self._document
        if document.is_files:
            what = "Words that come from files cannot be changed here"
            raise StudioError(what, "Type or paste words with their counts as text, one word and its count per line.")
        text = document.text or HEADER
        if not is_typed_counts(text):
            if self.counts is None:
                raise StudioError("The words of the text are not counted yet", "Try again in a moment.")
            text = counts_as_text(self.counts)
        document.set_text(with_count(text, word, count))

    def stop(self) -> None:
        self._timer.stop()
        self.was_stopped = self.counts is None and not self.is_expecting
        self._stop_task()
        self._report_unknown()
        self.state_changed.emit()

    def pause_or_resume(self) -> None:
        """Pause a running count, all of whose processes halt a moment later; or resume a paused one."""
        self.is_paused = not self.is_paused
        (self.task.pause if self.is_paused else self.task.resume)()
        self._report_state()

    def keep(self) -> None:
        """Stop counting files early; the counts of what was read so far arrive as if that were all."""
        self.is_ending, self.is_paused = True, False
        self.task.finish()
        self._report_state()

    def _stop_task(self) -> None:
        self.task.stop()
        self._document.files.take_end()

    def _forget(self) -> None:
        if self.counts is not None:
            self.counts = self.task.answer = None  # which may be large
            self._must_report_unknown = True

    def _report_unknown(self) -> None:
        self._patience.stop()
        if self._must_report_unknown:
            self._must_report_unknown = False
            self.counts_changed.emit(None)

    def _report_unknown_soon(self) -> None:
        """Report it at once, unless the text is counted before anyone can notice that the counts are gone."""
        if not self._is_live:
            self._report_unknown()
        elif self._must_report_unknown and not self._patience.isActive():
            self._patience.start()

    @property
    def _is_live(self) -> bool:
        return not self._document.is_files and len(self._document.text) <= _LIVE_TEXT

    def _on_document_text_changed(self) -> None:
        self.text_serial += 1
        self.was_stopped, self.error = False, None
        self._stop_task()
        self._forget()
        if self._document.files.is_listing:
            self._timer.stop()
            self._report_unknown()
            return
        is_long = not self._document.is_files and len(self._document.text) > _LONG_TEXT
        # At once means after everything else that the key press does.
        self._timer.start(0 if self._is_live else _LONG_DELAY_MS if is_long else _DELAY_MS)
        self._report_unknown_soon()

    def _take_new(self, counts: WordCounts) -> None:
        free_words_slowly(counts)
        self._take(counts)

    def _take(self, counts: WordCounts) -> None:
        found = counts.statistics
        if self._document.is_files:
            self._document.files.take_statistics(found)
        elif self._document.is_kept:
            whole = FileStatistics("", found.bytes, found.lines, counts.total, len(counts))
            self._document.files.take_statistics(replace(found, files=(whole,)))
        if not self._timer.isActive():  # else the text has already changed again
            self._patience.stop()
            self._must_report_unknown = False
            self.counts = counts
            self.counts_changed.emit(counts)

    def _take_error(self, error: StudioError) -> None:
        self._document.files.take_error(error)
        if not self._timer.isActive():
            self._report_unknown()
            self.error = error
            self.failed.emit(error)

    def _report_state(self) -> None:
        if not self.is_running:
            self.is_paused = self.is_ending = False
        state = self.is_running, self.is_paused, self.is_ending
        if state != self._reported:  # the task reports its progress too
            self._reported = state
            self.state_changed.emit()


class CountsRequest(QObject):
    """Waits for the counts of the corpus, which are begun if need be.

    `take` gets them, once for each time that they are asked for; or `give_up` is told that none will come, with the
    error, or with None if the user stopped the counting.
    """

    def __init__(
        self, counting: CorpusCounting, take: Callable[[WordCounts], None],
        give_up: Callable[[StudioError | None], None], parent: QObject | None = None,
    ) -> None:  # fmt: skip
        super().__init__(parent)
        self._counting = counting
        self._take, self._give_up = take, give_up
        self.is_waiting = False
        counting.counts_changed.connect(self._on_counts_changed)
        counting.failed.connect(self._end)
        counting.state_changed.connect(self._on_state_changed)

    def ask(self) -> None:
        counting = self._counting
        self.is_waiting = True
        if counting.counts is not None:
            self._on_counts_changed(counting.counts)
        elif counting.is_paused:
            counting.pause_or_resume()
        elif not (counting.is_running or counting.is_expecting):  # else they arrive without being asked for
            counting.count_now()

    def cancel(self) -> None:
        self.is_waiting = False

    def _on_counts_changed(self, counts: WordCounts | None) -> None:
        if self.is_waiting and counts is not None:
            self.is_waiting = False
            self._take(counts)

    def _on_state_changed(self) -> None:
        if self._counting.was_stopped:
            self._end(None)

    def _end(self, error: StudioError | None) -> None:
        if self.is_waiting:
            self.is_waiting = False
            self._give_up(error)
