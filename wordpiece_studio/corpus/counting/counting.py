"""Counting the words of texts and files, in order of first appearance.

A corpus is read line by line; a line ends at LF. Where the normalizer and the pre-tokenizer allow it, the stretches
between blanks are counted first, and each distinct stretch is normalized and split once; that gives exactly the same
counts in the same order.
Texts and streams are counted here. Not here: files, counted by one worker or several (`counting_run`), reading and
decoding (`listing`), and how the words of a piece of text are counted (`word_counters`, `compiled_counter`).
"""

from __future__ import annotations

import functools
from collections.abc import Iterable
from typing import TYPE_CHECKING

from wordpiece_studio.corpus.counting.counting_run import count_files
from wordpiece_studio.corpus.counting.segments import ReadingNotes
from wordpiece_studio.corpus.counting.word_counters import PlainCounter, are_kernels_worth_it
from wordpiece_studio.corpus.counts import (
    CorpusStatistics,
    CountingProgress,
    CountingStopped,
    ProgressMeter,
    WordCounts,
)
from wordpiece_studio.corpus.decoding import TextPiece
from wordpiece_studio.corpus.listing import listing, opened_stream
from wordpiece_studio.errors import StudioError
from wordpiece_studio.text.normalizers import resolve_normalizer
from wordpiece_studio.text.pipeline import Pipeline
from wordpiece_studio.text.pre_tokenizers import resolve_pre_tokenizer

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Iterator
    from io import BufferedIOBase

    from wordpiece_studio.corpus.counting.word_counters import WordCounter
    from wordpiece_studio.corpus.decoding import ErrorHandling
    from wordpiece_studio.corpus.files import CorpusFile, FileKind
    from wordpiece_studio.corpus.listing import Listing
    from wordpiece_studio.text.pipeline import Normalizer, PreTokenizer

    Place = str | bytes | os.PathLike[str]

__all__ = ["CountingProgress", "CountingStopped", "count_stream", "count_texts", "count_words"]

_PIECE_CHARACTERS = 1 << 20


def count_words(
    paths: Place | CorpusFile | Iterable[Place | CorpusFile] | Listing,
    normalizer: str | Normalizer | None = "bert-cased",
    pre_tokenizer: str | PreTokenizer = "bert",
    *,
    column: str | None = None,
    encoding: str | None = None,
    errors: ErrorHandling = "strict",
    max_word_length: int = 1000,
    min_count: int = 1,
    processes: int | None = 1,
    cluster: str | None = None,
    progress: Callable[[CountingProgress], None] | None = None,
    should_stop: Callable[[], bool] | None = None,
    keeps_when_stopped: bool = False,
) -> WordCounts:
    """Count the words of text files, in the order given.

    Parameters
    ----------
    paths
        The files, folders and patterns, as for :func:`~wordpiece_studio.corpus.listing.listing`. What looks like a
        table of words and their counts is read as one, and the statistics say so.
    normalizer, pre_tokenizer
        What turns the text into words: names, or custom objects.
    column
        Where the text is in a file of rows, see `CorpusFile`.
    encoding
        The files' encoding; None means UTF-8, or what a byte order mark says; ``"detect"`` detects it.
    errors
        What to do about bytes that cannot be decoded: ``"strict"`` raises, ``"replace"`` replaces them by U+FFFD,
        ``"skip-line"`` leaves the line out. The statistics say how often that happened.
    max_word_length
        Words of more characters than this are left out; the result lists them.
    min_count
        Words that occur less often than this in all files together are left out; the statistics say how many.
    processes
        How many workers count at the same time: threads of this process where compiled kernels make the words, else
        processes; None for as many as are worthwhile. The result is the same for any number. With a custom pipeline
        this thread counts alone.
    cluster
        The address of the scheduler of a Dask cluster, such as ``"tcp://host:8786"``, to count there and not here; its
        workers must find the files by the same paths or URLs. The result is the same. Tables of words and their counts
        are still read here.
    progress
        Called now and then, at most twenty times a second and at the end, in the caller's thread.
    should_stop
        Called now and then, in the caller's thread; if it returns True, counting stops. Until it returns, all counting
        pauses.
    keeps_when_stopped
        Whether stopping returns what was counted so far, which is the beginning of the corpus, instead of raising
        `CountingStopped`.

    Returns
    -------
    WordCounts
        The distinct words in order of first appearance; empty if the files contain none.

    Raises
    ------
    StudioError
        If a file cannot be read or decoded; the message names the file, the line and the byte. Or if `paths` are none.
    """
    pipeline = _pipeline(normalizer, pre_tokenizer, max_word_length)
    listed = listing(paths, column=column, encoding=encoding, errors=errors)
    files = list(listed.files)
    if all(file.kind == "word-counts" for file in files):
        from wordpiece_studio.corpus.word_counts import read_word_counts

        counts = read_word_counts(files, pipeline.normalizer, pipeline.pre_tokenizer)
        counts.statistics = listed.noted(counts.statistics)
        return counts.at_least(min_count)
    if cluster is None:
        count = functools.partial(count_files, processes=processes)
    else:
        from wordpiece_studio.corpus.cluster.cluster_counting import count_on_cluster

        count = functools.partial(count_on_cluster, cluster, min_count=min_count)
    counts = count(
        files,
        pipeline,
        max_word_length,
        progress=progress,
        should_stop=should_stop,
        keeps_when_stopped=keeps_when_stopped,
    )
    counts.statistics = listed.noted(counts.statistics)
    return counts.at_least(min_count)


def count_stream(
    stream: BufferedIOBase,
    name: str,
    normalizer: str | Normalizer | None = "bert-cased",
    pre_tokenizer: str | PreTokenizer = "bert",
    *,
    kind: FileKind = "text",
    column: str | None = None,
    encoding: str | None = None,
    errors: ErrorHandling = "strict",
    max_word_length: int = 1000,
    should_stop: Callable[[], bool] | None = None,
) -> WordCounts:
    """Count the words of a stream of bytes, such as standard input; `name` is its name in messages.

    Takes, returns and raises the same as `count_words`; `kind` is the kind of content, see `CorpusFile`.
    """
    pipeline = _pipeline(normalizer, pre_tokenizer, max_word_length)
    text = opened_stream(
        stream, name, kind, column=column, encoding=encoding, errors=errors, splits_at_blanks=pipeline.is_local
    )
    count = _TextCounting(pipeline, max_word_length, should_stop, given_encoding=encoding)
    for piece in text.pieces():
        count.add(piece)
    count.end_text()
    return count.result()


def count_texts(
    texts: Iterable[str],
    normalizer: str | Normalizer | None = "bert-cased",
    pre_tokenizer: str | PreTokenizer = "bert",
    *,
    max_word_length: int = 1000,
    progress: Callable[[CountingProgress], None] | None = None,
    should_stop: Callable[[], bool] | None = None,
) -> WordCounts:
    """Count the words of texts, in the order given; no word extends from one text into the next.

    Takes and returns the same as `count_words`. `progress` receives the UTF-8 bytes counted so far and their total, as
    far as the texts are known by then; texts take the place of files.

    Raises
    ------
    StudioError
        If `texts` is itself a text, or contains something that is not a text.
    """
    if isinstance(texts, str):
        raise StudioError("One text was given where several are expected", "Put it into a list.")
    if not isinstance(texts, Iterable):
        raise StudioError("Texts are expected, not {value}", "Give a list of texts.", value=repr(texts)[:100])
    count = _TextCounting(_pipeline(normalizer, pre_tokenizer, max_word_length), max_word_length, should_stop)
    known = texts if isinstance(texts, list | tuple) else ()
    bytes_total = sum(len(text.encode("utf-8", "replace")) for text in known if isinstance(text, str))
    meter, bytes_before = ProgressMeter(progress, bytes_total, len(known)), 0
    for number, text in enumerate(texts, start=1):
        size = _checked_size(text, number)
        for piece in _pieces_of(text, f"text {number}"):
            count.add(piece)
            meter.note(bytes_before + piece.end_byte, number if piece.end_byte == size else number - 1, 0)
        count.end_text()
        bytes_before += size
    return count.result()


class _TextCounting:
    """A count in progress of texts whose total size is unknown.

    Parameters
    ----------
    pipeline, longest
        As for `WordCounter`.
    should_stop
        Called now and then; if it returns True, `CountingStopped` is raised.
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
        # Pieces are held until it is known whether there is much text.
        self._held: list[TextPiece] = []
        self._held_bytes = 0
        self._notes = ReadingNotes()
        self._marked_files: dict[str, str] = {}

    def add(self, piece: TextPiece) -> None:
        """Count a piece, which begins and ends at word boundaries."""
        self._check_stop()
        if self._given_encoding is None and piece.encoding != "utf-8":
            self._marked_files[piece.source] = piece.encoding  # known only from its byte order mark
        self._notes.add(piece)
        if self._counter is not None:
            self._counter.add(piece)
            return
        self._held.append(piece)
        self._held_bytes += piece.end_byte - piece.byte
        if not self._pipeline.is_local:
            self._begin_counting(PlainCounter)
        elif are_kernels_worth_it(self._held_bytes):
            from wordpiece_studio.corpus.counting.compiled_counter import CompiledCounter

            self._begin_counting(CompiledCounter)

    def end_text(self) -> None:
        """Note the end of a text."""
        self._notes.end_text()

    def result(self) -> WordCounts:
        """Return the words of all texts."""
        counter = self._counter or self._begin_counting(PlainCounter)
        tally = counter.end_part()
        statistics = CorpusStatistics.summed(
            [self._notes.taken("")],
            skipped_words=tally.skipped_words,
            marked_files=self._marked_files,
            spelled_out=tally.spelled_out,
        )
        words = counter.numbers.words_of(tally.numbers)
        normalizer, pre_tokenizer = self._pipeline.normalizer, self._pipeline.pre_tokenizer
        return WordCounts(words, tally.counts, normalizer, pre_tokenizer, statistics, tally.skipped)

    def _begin_counting(self, kind: type[WordCounter]) -> WordCounter:
        """Create the counter and count the held pieces."""
        counter = self._counter = kind(self._pipeline, self._longest, self._check_stop)
        held, self._held = self._held, []
        for piece in held:
            self._check_stop()
            counter.add(piece)
        return counter

    def _check_stop(self) -> None:
        if self._should_stop is not None and self._should_stop():
            raise CountingStopped


def _pipeline(normalizer: str | Normalizer | None, pre_tokenizer: str | PreTokenizer, max_word_length: int) -> Pipeline:
    if max_word_length < 1:
        raise StudioError("The longest word must have at least one character, not {n}", n=max_word_length)
    return Pipeline(resolve_normalizer(normalizer), resolve_pre_tokenizer(pre_tokenizer))


def _checked_size(text: object, number: int) -> int:
    """Return the size of a text in UTF-8."""
    try:
        if isinstance(text, str):
            return len(text.encode("utf-8"))
    except UnicodeEncodeError as error:
        raise StudioError(
            "Text {number} contains half a character (U+{code:04X}) at position {position}",
            "Read it again with the right encoding.",
            number=number,
            code=ord(error.object[error.start]),
            position=error.start,
        ) from None
    raise StudioError("Text {number} is not a text but {entry}", number=number, entry=repr(text)[:100])


def _pieces_of(text: str, source: str) -> Iterator[TextPiece]:
    """Yield a text in pieces that end at a line end."""
    start, line, byte = 0, 1, 0
    while start < len(text):
        end = text.find("\n", start + _PIECE_CHARACTERS) + 1 or len(text)
        part = text[start:end]
        end_byte = byte + len(part.encode("utf-8"))
        yield TextPiece(part, source, line, byte, end_byte, "utf-8")
        start, line, byte = end, line + part.count("\n"), end_byte
