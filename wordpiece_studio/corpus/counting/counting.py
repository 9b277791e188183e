"""Counting the words of texts and files, in order of first appearance.

A corpus is read line by line; a line ends at LF. Where the normalizer and the pre-tokenizer allow it, the stretches
between blanks are counted first, and each distinct stretch is normalized and split once; that gives exactly the same
counts in the same order.

Large files are divided into segments, which workers take in the order of the corpus, and their parts are added in that
order too. So the result is the same for any number of workers, what has been added is always the beginning of the
corpus, and of several faults the first one in the corpus is reported.
"""

from __future__ import annotations

import sys
from functools import partial
from itertools import count
from operator import index
from typing import TYPE_CHECKING, Any

from wordpiece_studio.corpus.count_tables import is_typed_counts, read_tables, read_typed_counts
from wordpiece_studio.corpus.counting.part_counts import Merging, PartCounts, are_kernels_worth_it, lines_of
from wordpiece_studio.corpus.counting.segments import ReadingNotes, Segment, divided
from wordpiece_studio.corpus.counting.workers import (
    LOST,
    CountedFiles,
    SegmentCounter,
    Workers,
    can_be_sent,
    counter_for,
    most_workers,
    with_lines_before,
)
from wordpiece_studio.corpus.counts import (
    CorpusStatistics,
    CountingProgress,
    CountingStopped,
    ProgressMeter,
    WordCounts,
    stop_check,
)
from wordpiece_studio.corpus.decoding import ErrorHandling, TextPiece, checked_texts, size_of_text, text_pieces
from wordpiece_studio.corpus.listing import Listing, listed_files, listing, opened_stream
from wordpiece_studio.errors import StudioError
from wordpiece_studio.text.normalizers import resolve_normalizer
from wordpiece_studio.text.pipeline import Normalizer, Pipeline, PreTokenizer
from wordpiece_studio.text.pre_tokenizers import resolve_pre_tokenizer
from wordpiece_studio.text.word_numbers import PlainWordNumbers

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from io import BufferedIOBase

    from wordpiece_studio.corpus.counting.part_counts import WordCounter
    from wordpiece_studio.corpus.files import CorpusFile
    from wordpiece_studio.text.word_table import TableWordNumbers

    Place = str | bytes | os.PathLike[str]

# This much text is worth another worker. A process takes about 0.4 s to start, but its counting takes longer.
_BYTES_PER_THREAD, _BYTES_PER_CHILD = 16 << 20, 8 << 20
_LEAST_BYTES = 4 << 20  # less is never divided
PART_BYTES = 64 << 20  # with a single worker
# With several: small where counting is slow, so that all can pause soon, and much is kept when they stop.
SEGMENT_BYTES, CHILD_SEGMENT_BYTES = 16 << 20, 2 << 20
_WAIT_SECONDS = 0.02
LARGEST_AT_ONCE = 200_000  # characters of a text


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
    user_tokens: Sequence[str] = (),
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
    user_tokens
        The tokens of one's own that `TrainingConfig.user_tokens` will name: they are taken out of the text, wherever
        they are spelled out, before it is normalized, so that no pairs of their letters are learned.
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
        `CountingStopped`; on a cluster nothing is kept.

    Returns
    -------
    WordCounts
        The distinct words in order of first appearance; empty if the files contain none.

    Raises
    ------
    StudioError
        If a file cannot be read or decoded; the message names the file, the line and the byte. Or if `paths` are none.
    """
    pipeline = _pipeline(normalizer, pre_tokenizer, max_word_length, user_tokens)
    min_count, processes = index(min_count), None if processes is None else index(processes)
    listed = listing(paths, column=column, encoding=encoding, errors=errors)
    files, reporting = listed.files, (progress, should_stop)
    if all(file.kind == "word-counts" for file in files):
        counts = read_tables(files, pipeline.normalizer, pipeline.pre_tokenizer, progress, should_stop)
    elif cluster is None:
        counts = _FileCounting(files, pipeline, max_word_length, *reporting, keeps_when_stopped).result(processes)
    else:
        from wordpiece_studio.corpus.counting.cluster_counting import count_on_cluster

        counts = count_on_cluster(cluster, files, pipeline, max_word_length, min_count, *reporting)
    counts.statistics = listed.noted(counts.statistics)
    return counts.at_least(min_count)


def read_word_counts(
    paths: Place | CorpusFile | Iterable[Place | CorpusFile],
    normalizer: str | Normalizer | None = "bert-cased",
    pre_tokenizer: str | PreTokenizer = "bert",
    *,
    progress: Callable[[CountingProgress], None] | None = None,
    should_stop: Callable[[], bool] | None = None,
) -> WordCounts:
    """Return the words and counts in tables, in order of first appearance; the counts of repeated words add up.

    Parameters
    ----------
    paths
        The tables, as for `listed_files`; they may be compressed. A first line that names the columns is skipped; in a
        table of more than two columns these must be called ``word`` and ``count``.
    normalizer, pre_tokenizer
        Kept for the tokenizer to come; the words are taken unchanged.
    progress, should_stop
        As for :func:`~wordpiece_studio.count_words`.

    Raises
    ------
    CountingStopped
        If `should_stop` returned True.
    StudioError
        If a `CorpusFile` among them is a text, a table cannot be read, a word is empty, or a count is not a whole
        number from 1 to 2**63 - 1; the message names the file and the line or row.
    """
    steps = resolve_normalizer(normalizer), resolve_pre_tokenizer(pre_tokenizer)
    return read_tables(listed_files(paths, kind="word-counts"), *steps, progress, should_stop)


def count_stream(
    stream: BufferedIOBase,
    name: str,
    normalizer: str | Normalizer | None = "bert-cased",
    pre_tokenizer: str | PreTokenizer = "bert",
    *,
    max_word_length: int = 1000,
    user_tokens: Sequence[str] = (),
    should_stop: Callable[[], bool] | None = None,
    **options: Any,
) -> WordCounts:
    """Count the words of a stream of bytes, such as standard input; `name` is its name in messages.

    Takes, returns and raises the same as `count_words`; the other `options` are those of `CorpusFile`.
    """
    pipeline = _pipeline(normalizer, pre_tokenizer, max_word_length, user_tokens)
    pieces = opened_stream(stream, name, splits_at_blanks=pipeline.is_local, **options).pieces()
    given_encoding = options.get("encoding")
    return _counted([pieces], pipeline, max_word_length, stop_check(should_stop), given_encoding=given_encoding)


def count_texts(
    texts: Iterable[str],
    normalizer: str | Normalizer | None = "bert-cased",
    pre_tokenizer: str | PreTokenizer = "bert",
    *,
    max_word_length: int = 1000,
    user_tokens: Sequence[str] = (),
    progress: Callable[[CountingProgress], None] | None = None,
    should_stop: Callable[[], bool] | None = None,
) -> WordCounts:
    """Count the words of texts, in the order given; no word extends from one text into the next.

    Takes and returns the same as `count_words`. `texts` may be a list, an iterator, a column of Arrow or pandas, or a
    NumPy array. `progress` receives the UTF-8 bytes counted so far and their total, as far as the texts are known by
    then; texts take the place of files.

    Raises
    ------
    StudioError
        If `texts` is itself a text or a table, or contains something that is not a text.
    """
    checked = checked_texts(texts)
    pipeline = _pipeline(normalizer, pre_tokenizer, max_word_length, user_tokens)
    known = texts if isinstance(texts, list | tuple) else ()
    bytes_total = sum(len(text.encode("utf-8", "replace")) for text in known if isinstance(text, str))
    meter, bytes_before = ProgressMeter(progress, bytes_total, len(known)), 0

    def noted_pieces(text: str, number: int) -> Iterator[TextPiece]:
        nonlocal bytes_before
        size = size_of_text(text, number)
        for piece in text_pieces(text, f"text {number}"):
            yield piece
            meter.note(bytes_before + piece.end_byte, number if piece.end_byte == size else number - 1, 0)
        bytes_before += size

    return _counted(map(noted_pieces, checked, count(1)), pipeline, max_word_length, stop_check(should_stop))


def count_corpus(
    text: str | None,
    files: Sequence[CorpusFile],
    normalizer: str | Normalizer | None,
    pre_tokenizer: str | PreTokenizer,
    max_word_length: int,
    *,
    progress: Callable[[CountingProgress], None],
    should_stop: Callable[[], bool],
) -> WordCounts:
    """Count the words of a text, or of files if there is none; if these are stopped, of a first part of them.

    A text of words with their counts is read as such. Progress is reported if it `is_much`.
    """
    steps = resolve_normalizer(normalizer), resolve_pre_tokenizer(pre_tokenizer)
    if text is None:
        counts = count_words(
            files, *steps, max_word_length=max_word_length, processes=None, progress=progress, should_stop=should_stop,
            keeps_when_stopped=True,
        )  # fmt: skip
    elif is_typed_counts(text):
        counts = read_typed_counts(text, *steps, should_stop)
    else:
        told = progress if is_much(text) else None
        counts = count_texts([text], *steps, max_word_length=max_word_length, progress=told, should_stop=should_stop)
    _ = counts.alphabet_size, counts.symbols  # worked out here, not when they are shown
    return counts


def is_much(text: str | None, *_others: object) -> bool:
    """Return whether it takes more than a moment to count a corpus."""
    return text is None or (len(text) > LARGEST_AT_ONCE and not is_typed_counts(text))


def _counted(
    texts: Iterable[Iterable[TextPiece]],
    pipeline: Pipeline,
    longest: int,
    check_stop: Callable[[], None],
    *,
    given_encoding: str | None = None,
) -> WordCounts:
    """Count the words of texts of unknown size, in pieces that begin and end at word boundaries."""
    notes, marked_files = ReadingNotes(), {}
    counter: WordCounter | None = None
    held: list[TextPiece] = []  # until it is known whether there is much text
    held_bytes = 0
    for text in texts:
        for piece in text:
            check_stop()
            if given_encoding is None and piece.encoding != "utf-8":
                marked_files[piece.source] = piece.encoding  # known only from its byte order mark
            notes.add(piece)
            held.append(piece)
            held_bytes += piece.end_byte - piece.byte
            if counter is None and (not pipeline.is_local or are_kernels_worth_it(held_bytes)):
                counter = counter_for(pipeline, longest, check_stop, is_compiled=pipeline.is_local)
            if counter is not None:
                _add_all(held, counter, check_stop)
        notes.end_text()
    if counter is None:
        counter = counter_for(pipeline, longest, check_stop, is_compiled=False)
        _add_all(held, counter, check_stop)
    tally = counter.end_part()
    statistics = CorpusStatistics.summed(
        [notes.taken()],
        skipped_words=tally.skipped_words,
        marked_files=marked_files,
        spelled_out=tally.spelled_out,
        user_tokens=pipeline.user_tokens,
    )
    words = counter.numbers.words_of(tally.numbers)
    return WordCounts(words, tally.counts, pipeline.normalizer, pipeline.pre_tokenizer, statistics, tally.skipped)


def _add_all(held: list[TextPiece], counter: WordCounter, check_stop: Callable[[], None]) -> None:
    for piece in held:
        check_stop()
        counter.add(piece)
    held.clear()


def _pipeline(
    normalizer: str | Normalizer | None,
    pre_tokenizer: str | PreTokenizer,
    max_word_length: int,
    user_tokens: Sequence[str],
) -> Pipeline:
    if index(max_word_length) < 1:
        raise StudioError("The longest word must have at least one character, not {n}", n=max_word_length)
    if isinstance(user_tokens, str) or not all(isinstance(token, str) and token for token in user_tokens):
        what = "The user tokens cannot be {value}"
        raise StudioError(what, 'Pass a list of strings, such as ["<url>"].', value=repr(user_tokens)[:100])
    return Pipeline(resolve_normalizer(normalizer), resolve_pre_tokenizer(pre_tokenizer), tuple(user_tokens))


class _FileCounting:
    counts: Merging

    def __init__(
        self,
        files: Sequence[CorpusFile],
        pipeline: Pipeline,
        longest: int,
        progress: Callable[[CountingProgress], None] | None,
        should_stop: Callable[[], bool] | None,
        keeps_when_stopped: bool,
    ) -> None:
        self._corpus = corpus = CountedFiles(files, progress)
        self._pipeline = pipeline
        self._check_stop = stop_check(should_stop)
        self._keeps_when_stopped = keeps_when_stopped
        self._is_divisible = not corpus.has_tables and corpus.text_bytes >= _LEAST_BYTES
        is_compiled = pipeline.is_local and not corpus.has_tables and are_kernels_worth_it(corpus.text_bytes)
        self._in_threads = is_compiled and pipeline.is_by_character
        self._make_counter = partial(SegmentCounter, corpus.files, pipeline, longest, is_compiled=is_compiled)
        self._segments = [Segment(number) for number in range(len(files))]
        self._workers: Workers | None = None
        self._head = 0  # the first segment not completely added
        self._added = 0  # how many of its parts are added
        self._lines_before = 0  # lines of its file before it
        self._waiting: dict[int, list[PartCounts | StudioError | str]] = {}  # what was said of later segments
        self._known: dict[int, int] = {}  # how many parts will come again that were added before the segment was lost
        self._bytes_added = 0

    def result(self, processes: int | None) -> WordCounts:
        if processes is not None and processes < 1:
            raise StudioError("At least one process must count, not {n}", n=processes)
        count, is_partial = self._count_of_workers(processes), False
        try:
            if count == 1:
                self._count_here()
            else:
                self._count_with_workers(count)
            self._report()
        except CountingStopped:
            if not self._keeps_when_stopped:
                raise
            is_partial = True
        return self._corpus.word_counts(self.counts, self._pipeline, is_partial=is_partial)

    def _count_of_workers(self, wanted: int | None) -> int:
        has_interpreter = self._in_threads or bool(sys.executable)
        if not self._is_divisible or not can_be_sent(self._pipeline) or not has_interpreter:
            return 1
        if wanted is not None:
            return wanted
        each = _BYTES_PER_THREAD if self._in_threads else _BYTES_PER_CHILD
        return min(most_workers(), self._corpus.text_bytes // each + 1)

    def _count_here(self) -> None:
        def on_block(bytes_in_hand: int) -> None:
            self._check_stop()
            self._report(bytes_in_hand)

        counter = self._make_counter(
            part_bytes=PART_BYTES,
            bytes_to_come=self._corpus.text_bytes,
            on_block=on_block,
            check_stop=lambda: None if self._keeps_when_stopped else self._check_stop(),  # the current part is lost
        )
        self.counts = Merging(counter.numbers)
        try:
            for segment in self._segments:
                for part in counter.parts(segment):
                    self._add(part)
                self._head += 1
        except CountingStopped:
            if self._keeps_when_stopped:
                self._add(counter.interrupted())
            raise

    def _report(self, bytes_in_hand: int = 0) -> None:
        over = self._head == len(self._segments)
        files = len(self._corpus.files) if over else self._segments[self._head].file
        waiting = sum(
            each.bytes_read for said in self._waiting.values() for each in said if isinstance(each, PartCounts)
        )
        memory = self._workers.memory if self._workers is not None else 0
        self._corpus.meter.note(self._bytes_added + waiting + bytes_in_hand, files, self.counts.total, memory)

    def _add(self, part: PartCounts) -> None:
        self.counts.add(part)
        self._added += 1
        self._bytes_added += part.bytes_read

    def _count_with_workers(self, count: int) -> None:
        largest = SEGMENT_BYTES if self._in_threads else CHILD_SEGMENT_BYTES
        self._segments = divided(self._corpus.files, self._corpus.sizes, count, largest)
        # So that a segment is one part, except for indivisible files.
        for_each = self._corpus.text_bytes // count
        make_counter = partial(self._make_counter, part_bytes=2 * largest, bytes_to_come=for_each)
        numbers: PlainWordNumbers | TableWordNumbers = PlainWordNumbers()
        if self._in_threads:
            from wordpiece_studio.text.word_table import TableWordNumbers, likely_words  # loads the kernels

            numbers = TableWordNumbers(likely_words(self._corpus.text_bytes))
        self.counts = Merging(numbers)
        are_children = not self._in_threads
        self._workers = workers = Workers(make_counter, count, numbers, self._segments, are_children=are_children)
        try:
            while self._head < len(self._segments):
                self._check_stop()
                self._report()
                if (answer := workers.heard(_WAIT_SECONDS)) is not None:
                    self._take_in(*answer)
        finally:
            workers.end()

    def _take_in(self, number: int, said: PartCounts | StudioError | str) -> None:
        """Keep what was said of a segment; add what comes next in the corpus, or raise a fault that does."""
        if said == LOST:
            self._waiting.pop(number, None)
            self._known[number] = self._added if number == self._head else 0
        elif isinstance(said, PartCounts) and self._known.get(number):
            self._known[number] -= 1
        else:
            self._waiting.setdefault(number, []).append(said)
        while ready := self._waiting.pop(self._head, None):
            for each in ready:
                if isinstance(each, PartCounts):
                    self._add(each)
                elif isinstance(each, StudioError):
                    raise with_lines_before(each, self._lines_before)
                else:
                    self._end_segment()

    def _end_segment(self) -> None:
        file = self._segments[self._head].file
        self._head += 1
        self._added = 0
        goes_on = self._head < len(self._segments) and self._segments[self._head].file == file
        self._lines_before = lines_of(self.counts.files, file) if goes_on else 0
