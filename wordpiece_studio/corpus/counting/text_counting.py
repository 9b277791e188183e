"""Counting texts and streams, of which no one knows how much will come. Not here: files (`file_counting`)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from wordpiece_studio.compiled.kernel_cache import kernels_are_cached
from wordpiece_studio.corpus.counting.reading_notes import ReadingNotes
from wordpiece_studio.corpus.counting.word_counters import PlainCounter
from wordpiece_studio.corpus.counts import CorpusStatistics, CountingStopped, WordCounts

if TYPE_CHECKING:
    from collections.abc import Callable

    from wordpiece_studio.corpus.counting.word_counters import WordCounter
    from wordpiece_studio.corpus.decoding import TextPiece
    from wordpiece_studio.text.pipeline import Pipeline

# So much text is counted before the kernels would be loaded; and before they would be compiled.
FEW_BYTES, FEW_BYTES_UNCOMPILED = 2 << 20, 16 << 20


class TextCounting:
    """A count of texts in progress.

    Parameters
    ----------
    pipeline, longest
        As for `WordCounter`.
    should_stop
        Asked now and then; if it returns True, `CountingStopped` is raised.
    given_encoding
        The encoding that the caller gave, if any.
    """

    def __init__(
        self,
        pipeline: Pipeline,
        longest: int,
        should_stop: Callable[[], bool] | None,
        *,
        given_encoding: str | None = None,
    ) -> None:
        self._pipeline = pipeline
        self._longest = longest
        self._should_stop = should_stop
        self._given_encoding = given_encoding
        self._counter: WordCounter | None = None
        # Until it is known whether there is much text, pieces are held.
        self._held: list[TextPiece] = []
        self._held_bytes = 0
        self._few_bytes = FEW_BYTES if pipeline.is_local else 0
        self._notes = ReadingNotes()
        self._marked_files: dict[str, str] = {}

    def add(self, piece: TextPiece) -> None:
        """Count a piece, which begins and ends where words do."""
        self._check_stop()
        if self._given_encoding is None and piece.encoding != "utf-8":
            self._marked_files[piece.source] = piece.encoding  # no one said so but its byte order mark
        self._notes.add(piece)
        if self._counter is not None:
            self._counter.add(piece)
            return
        self._held.append(piece)
        self._held_bytes += piece.end_byte - piece.byte
        if self._held_bytes >= self._few_bytes:
            self._choose_counter()

    def end_text(self) -> None:
        """Note that a text is over."""
        self._notes.end_text()

    def result(self) -> WordCounts:
        """Return the words of all texts."""
        counter = self._counter or self._begin_counting(PlainCounter)
        part = counter.end_part(self._notes.taken(""))
        statistics = CorpusStatistics.summed(
            [part.read],
            skipped_words=part.skipped_words,
            marked_files=self._marked_files,
            spelled_out=part.spelled_out,
        )
        words = counter.numbers.words_of(part.numbers)
        normalizer, pre_tokenizer = self._pipeline.normalizer, self._pipeline.pre_tokenizer
        return WordCounts(words, part.counts, normalizer, pre_tokenizer, statistics, part.skipped)

    def _choose_counter(self) -> None:
        """Choose the way to count now that there is more than little text, unless it is better to wait for more."""
        kind: type[WordCounter] = PlainCounter
        if self._pipeline.is_local:
            if self._few_bytes < FEW_BYTES_UNCOMPILED and not kernels_are_cached("text"):
                self._few_bytes = FEW_BYTES_UNCOMPILED
                return
            from wordpiece_studio.corpus.counting.compiled_counter import CompiledCounter

            kind = CompiledCounter
        self._begin_counting(kind)

    def _begin_counting(self, kind: type[WordCounter]) -> WordCounter:
        """Count what is held."""
        counter = self._counter = kind(self._pipeline, self._longest, self._check_stop)
        held, self._held = self._held, []
        for piece in held:
            self._check_stop()
            counter.add(piece)
        return counter

    def _check_stop(self) -> None:
        if self._should_stop is not None and self._should_stop():
            raise CountingStopped
