"""A count of a corpus in progress: its words, and all else that is noted of a text while it is read.

Not here: where the text comes from (`counting`), and how the words of a piece of it are counted
(`word_counters`, `compiled_counter`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from wordpiece_studio.core.corpus.counts import CorpusStatistics, WordCounts
from wordpiece_studio.core.corpus.word_counters import PlainCounter
from wordpiece_studio.core.kernel_cache import kernels_are_cached
from wordpiece_studio.errors import StudioError

if TYPE_CHECKING:
    from collections.abc import Callable

    from wordpiece_studio.core.corpus.decoding import TextPiece
    from wordpiece_studio.core.corpus.files import TextFile
    from wordpiece_studio.core.corpus.word_counters import WordCounter
    from wordpiece_studio.core.text.pipeline import Pipeline

# So much text is counted before the kernels would be loaded; and before they would be compiled.
_FEW_BYTES, _FEW_BYTES_UNCOMPILED = 2 << 20, 16 << 20


class CountingStopped(StudioError):
    """Raised when the caller's `should_stop` said so; nothing of the count is kept."""

    def __init__(self) -> None:
        super().__init__("Counting was stopped")


class CorpusCount:
    """A count in progress.

    Parameters
    ----------
    pipeline
        What turns the text into words.
    max_word_length
        Words of more characters than this are left out.
    should_stop
        Asked now and then; if it returns True, `CountingStopped` is raised.
    encoding
        The encoding that the caller gave for all the text, if any.

    Attributes
    ----------
    bytes_read
        How many bytes were read so far.
    changed_files
        The files that changed meanwhile; whoever reads them notes them.
    """

    def __init__(
        self,
        pipeline: Pipeline,
        max_word_length: int,
        should_stop: Callable[[], bool] | None,
        encoding: str | None = None,
    ) -> None:
        if max_word_length < 1:
            raise StudioError("The longest word must have at least one character, not {n}", n=max_word_length)
        self._given_encoding = encoding
        self._pipeline = pipeline
        self._should_stop = should_stop
        self._max_word_length = max_word_length
        self._counter: WordCounter | None = None
        # Until it is known whether there is much text, pieces are held.
        self._held: list[TextPiece] = []
        self._held_bytes = 0
        self._few_bytes = _FEW_BYTES if pipeline.is_local else 0
        self._lines = self._characters = self._replaced = self._skipped_lines = 0
        self._is_inside_line = False
        self.bytes_read = 0
        self._bytes = 0  # of the sources that are over
        self.changed_files: list[str] = []
        self._marked_files: dict[str, str] = {}

    def add_file(self, file: TextFile, tell: Callable[[int], None]) -> None:
        """Count a file; `tell` is called with `bytes_read` now and then."""
        end = 0
        for piece in file.pieces():
            self.add(piece)
            end = piece.end_byte
            self.bytes_read = self._bytes + end
            tell(self.bytes_read)
        self.end_source(end)

    def add(self, piece: TextPiece) -> None:
        """Count a piece, which begins and ends where words do."""
        self.check_stop()
        if self._given_encoding is None and piece.encoding != "utf-8":
            self._marked_files[piece.source] = piece.encoding  # nobody said so but its byte order mark
        text = piece.text
        self._lines += text.count("\n")
        self._is_inside_line = not text.endswith("\n") if text else self._is_inside_line
        self._characters += len(text)
        self._replaced += piece.replaced
        self._skipped_lines += piece.skipped_lines
        if self._counter is not None:
            self._counter.add(piece)
            return
        self._held.append(piece)
        self._held_bytes += piece.end_byte - piece.byte
        if self._held_bytes >= self._few_bytes:
            self._choose_counter()

    def end_source(self, size: int) -> None:
        """Note that a file or text of `size` bytes is over; its last line need have no line end."""
        self._lines += self._is_inside_line
        self._is_inside_line = False
        self._bytes += size
        self.bytes_read = self._bytes

    def result(self) -> WordCounts:
        """Return the words of all pieces."""
        counter = self._counter or self._begin_counting(PlainCounter)
        words, counts = counter.result()
        statistics = CorpusStatistics(
            lines=self._lines,
            characters=self._characters,
            bytes=self._bytes,
            skipped_words=counter.skipped_words,
            replaced=self._replaced,
            skipped_lines=self._skipped_lines,
            changed_files=tuple(self.changed_files),
            marked_files=self._marked_files,
            spelled_out=counter.spelled_out(),
        )
        normalizer, pre_tokenizer = self._pipeline.normalizer, self._pipeline.pre_tokenizer
        return WordCounts(words, counts, normalizer, pre_tokenizer, statistics, counter.skipped)

    def _choose_counter(self) -> None:
        """Choose the way to count now that there is more than little text, unless it is better to wait for more."""
        kind: type[WordCounter] = PlainCounter
        if self._pipeline.is_local:
            if self._few_bytes < _FEW_BYTES_UNCOMPILED and not kernels_are_cached("text"):
                self._few_bytes = _FEW_BYTES_UNCOMPILED
                return
            from wordpiece_studio.core.corpus.compiled_counter import CompiledCounter

            kind = CompiledCounter
        self._begin_counting(kind)

    def _begin_counting(self, kind: type[WordCounter]) -> WordCounter:
        """Count what is held."""
        counter = self._counter = kind(self._pipeline, self._max_word_length, self.check_stop)
        held, self._held = self._held, []
        for piece in held:
            self.check_stop()
            counter.add(piece)
        return counter

    def check_stop(self) -> None:
        """Raise `CountingStopped` if that is wanted."""
        if self._should_stop is not None and self._should_stop():
            raise CountingStopped
