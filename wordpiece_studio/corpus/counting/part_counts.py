"""The words of a part of a corpus: counted the plain way, and merged in the order of the corpus.

Plain counting is right for every pipeline and immediate for small texts; the compiled way for large corpora
(`compiled_counter`) gives the same words in the same order. However a corpus is divided, wherever a part was counted,
and whichever neighbours are merged first, the result is the same: words, order, counts, and the notes on each file.
"""

from __future__ import annotations

import dataclasses
from abc import ABC, abstractmethod
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np

from wordpiece_studio.compiled.kernel_cache import kernels_are_cached
from wordpiece_studio.corpus.counts import CorpusStatistics, FileStatistics, SkippedWord, WordCounts
from wordpiece_studio.system.arrays import with_room
from wordpiece_studio.text.pipeline import BERT_SPECIAL_TOKENS, PatternOverrunError, Pipeline
from wordpiece_studio.text.word_numbers import JoinedWords, PlainWordNumbers, WordNumbers, spelled_out, words_in

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from wordpiece_studio.corpus.counting.segments import RawBlock
    from wordpiece_studio.corpus.decoding import TextPiece

MOST_SKIPPED_WORDS = 1000  # how many overlong words are listed; the others are only counted

# About as much text is counted in the time it takes to load the kernels; and to compile them.
FEW_BYTES, FEW_BYTES_UNCOMPILED = 1 << 19, 16 << 20
_STOP_CHECK_CHUNKS = 500


def are_kernels_worth_it(size: int) -> bool:
    """Return whether `size` bytes of text are counted sooner with kernels, including loading or compiling them."""
    return size >= FEW_BYTES and (size >= FEW_BYTES_UNCOMPILED or kernels_are_cached("text"))


class Tally(NamedTuple):
    """The words of a stretch of text in order of first appearance, by their numbers, and how often each occurs."""

    numbers: NDArray[np.int32]  # shape (n_words,), like `counts`
    counts: NDArray[np.int64]
    skipped: tuple[SkippedWord, ...]  # the first of the words that are too long
    skipped_words: int
    spelled_out: dict[str, int]  # how often each of BERT's special tokens


class WordCounter(ABC):
    """Counts the words of pieces of text, part by part; those of more than `longest` characters are left out.

    `check_stop` is called now and then; it raises if the count should stop. `numbers` are the words met so far.
    """

    numbers: WordNumbers

    def __init__(self, pipeline: Pipeline, longest: int, check_stop: Callable[[], None]) -> None:
        self._pipeline = pipeline
        self._longest = longest
        # A stretch of at most this length contains no overlong word. For longer ones the position must be known.
        self._longest_stretch = max(longest // (pipeline.normalizer.growth * pipeline.pre_tokenizer.growth), 1)
        self._check_stop = check_stop
        self._skipped: list[SkippedWord] = []
        self._skipped_words = 0
        self._spelled_out: Counter[str] = Counter()

    @abstractmethod
    def add(self, piece: TextPiece) -> None:
        """Count a piece, which begins and ends at word boundaries."""

    def end_part(self) -> Tally:
        numbers, counts = self._tally()
        tally = Tally(numbers, counts, tuple(self._skipped), self._skipped_words, dict(+self._spelled_out))
        self._forget_notes()
        return tally

    @abstractmethod
    def abandon_part(self) -> None: ...

    @abstractmethod
    def _tally(self) -> tuple[NDArray[np.int32], NDArray[np.int64]]: ...

    def _forget_notes(self) -> None:
        self._skipped, self._skipped_words = [], 0
        self._spelled_out.clear()

    @property
    def _is_listing(self) -> bool:
        return len(self._skipped) < MOST_SKIPPED_WORDS

    def _skip(self, length: int, piece: TextPiece | RawBlock, start: int) -> None:
        """Leave out a word; the stretch that contains it begins at `start` in the piece."""
        self._skipped_words += 1
        if self._is_listing:
            line, byte = piece.locate(start)
            self._skipped.append(SkippedWord(piece.source, line, byte, length))


class PlainCounter(WordCounter):
    """Counts the stretches between blanks first, or the lines if the pipeline looks across blanks.

    When the distinct stretches have more than `most_characters` they are split and forgotten.
    """

    def __init__(
        self, pipeline: Pipeline, longest: int, check_stop: Callable[[], None], *, most_characters: int = 8 << 20
    ) -> None:
        super().__init__(pipeline, longest, check_stop)
        self._most_characters = most_characters
        self._stretches: Counter[str] = Counter()
        self._characters = 0  # upper bound for the stretches
        self._pieces: list[TextPiece] = []  # that the lines are from, to locate one on which a pattern overruns
        # The word numbers of stretches that were split before; lines hardly ever recur.
        self._cut: dict[str, list[int]] = {}
        self._cut_characters = 0
        self.numbers: PlainWordNumbers = PlainWordNumbers()
        self._tallied: dict[int, int] = {}

    def add(self, piece: TextPiece) -> None:
        text = piece.text
        self._spelled_out.update({token: text.count(token) for token in BERT_SPECIAL_TOKENS})
        stretches = text.replace("\n", " ").split(" ") if self._pipeline.is_local else text.split("\n")
        if max(map(len, stretches)) > self._longest_stretch:
            self._cut_stretches()
            self._add_with_long_ones(stretches, piece)
            return
        self._note_piece(piece)
        self._stretches.update(stretches)
        self._characters += len(text)
        if self._characters > self._most_characters:
            self._cut_stretches()

    def abandon_part(self) -> None:
        self._stretches.clear()
        self._pieces.clear()
        self._tallied.clear()
        self._characters = 0
        self._forget_notes()

    def _tally(self) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
        self._cut_stretches()
        tallied, self._tallied = self._tallied, {}
        numbers = np.fromiter(tallied, dtype=np.int32, count=len(tallied))
        return numbers, np.fromiter(tallied.values(), dtype=np.int64, count=len(tallied))

    def _cut_stretches(self) -> None:
        stretches, self._stretches, self._characters = self._stretches, Counter(), 0
        cut, tallied, number_of = self._cut, self._tallied, self.numbers.number
        for place, (stretch, count) in enumerate(stretches.items()):
            if place % _STOP_CHECK_CHUNKS == 0:
                self._check_stop()
            numbers = cut.get(stretch)
            if numbers is None:
                try:
                    words = self._pipeline.words(stretch)
                except PatternOverrunError as error:
                    raise self._with_place(error, stretch) from None
                short = words
                if max(map(len, words), default=0) > self._longest:
                    short = [word for word in words if len(word) <= self._longest]
                    self._skipped_words += count * (len(words) - len(short))
                numbers = list(map(number_of, short))
                if short is words and self._pipeline.is_local:
                    if self._cut_characters > self._most_characters:
                        cut.clear()
                        self._cut_characters = 0
                    cut[stretch] = numbers
                    self._cut_characters += len(stretch)
            for number in numbers:
                tallied[number] = tallied.get(number, 0) + count
        self._pieces.clear()

    def _with_place(self, error: PatternOverrunError, line: str) -> PatternOverrunError:
        for piece in self._pieces:
            start = 0
            for each in piece.text.split("\n"):
                if each == line:
                    return error.in_line(piece.locate(start)[0], piece.source)
                start += len(each) + 1
        return error

    def _add_with_long_ones(self, stretches: list[str], piece: TextPiece) -> None:
        """Count stretches of which some are long: those are split at once, while their positions are known."""
        start = 0
        for stretch in stretches:
            if len(stretch) <= self._longest_stretch:
                self._stretches[stretch] += 1
                self._note_piece(piece)
            else:
                self._cut_stretches()
                try:
                    for word in self._pipeline.iterate(stretch):
                        if len(word) <= self._longest:
                            number = self.numbers.number(word)
                            self._tallied[number] = self._tallied.get(number, 0) + 1
                        else:
                            self._skip(len(word), piece, start)
                except PatternOverrunError as error:
                    raise error.in_line(piece.locate(start)[0], piece.source) from None
            start += len(stretch) + 1

    def _note_piece(self, piece: TextPiece) -> None:
        if not self._pipeline.is_local and (not self._pieces or self._pieces[-1] is not piece):
            self._pieces.append(piece)


# -- merging

IN_FIRST, IN_LAST = 1, 2  # flags of a word: whether it was in the first of the files, and whether in the last


@dataclass(frozen=True, slots=True)
class PartCounts:
    """What was counted in a part of a corpus; files may be cut at its ends.

    `numbers`, `counts` and `places` (`IN_FIRST`, `IN_LAST`, both or 0) have an entry for each distinct word in order of
    first appearance. `skipped` are the first words that are too long: the number of the file, the line, the byte and
    the length of each, with the lines of the first file numbered from the beginning of the part. `words` are those
    numbered since the previous part from the same counter, in UTF-8, one after the other, and `ends` where each ends;
    empty if the receiver has the same numbers. Counts without their rare words can no longer be merged with others.
    """

    numbers: NDArray[np.int32]
    counts: NDArray[np.int64]
    places: NDArray[np.uint8]
    first_file: int
    files: tuple[FileStatistics, ...]  # without their names
    skipped: tuple[tuple[int, int, int, int], ...] = ()
    skipped_words: int = 0
    spelled_out: dict[str, int] = dataclasses.field(default_factory=dict)
    bytes_read: int = 0  # of the files on disk
    words: bytes = b""
    ends: NDArray[np.int64] = dataclasses.field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    rare_words: int = 0
    rare_occurrences: int = 0

    @classmethod
    def of_file(
        cls, file: int, read: FileStatistics, numbers: NDArray[np.int32], counts: NDArray[np.int64], **others: Any
    ) -> Self:
        read = dataclasses.replace(read, words=int(counts.sum()), distinct_words=len(numbers))
        places = np.full(len(numbers), IN_FIRST | IN_LAST, dtype=np.uint8)
        return cls(numbers, counts, places, file, (read,), **others)

    def __sizeof__(self) -> int:
        arrays = self.numbers, self.counts, self.places, self.ends
        return object.__sizeof__(self) + len(self.words) + sum(array.nbytes for array in arrays)

    def without_words(self) -> PartCounts:
        nothing = np.zeros(0, dtype=np.int64)
        return dataclasses.replace(
            self, numbers=nothing.astype(np.int32), counts=nothing, places=nothing.astype(np.uint8), words=b"",
            ends=nothing, skipped=(),
        )  # fmt: skip

    def at_least(self, count: int) -> PartCounts:
        """Return the frequent words of a whole corpus, with all of them in the statistics of the files."""
        is_common = self.counts >= count
        lengths = np.diff(self.ends, prepend=0)
        kept = np.frombuffer(self.words, dtype=np.uint8)[np.repeat(is_common, lengths)]
        rare = self.counts[~is_common]
        return dataclasses.replace(
            self,
            numbers=np.arange(np.count_nonzero(is_common), dtype=np.int32),
            counts=self.counts[is_common],
            places=self.places[is_common],
            words=kept.tobytes(),
            ends=lengths[is_common].cumsum(),
            rare_words=len(rare),
            rare_occurrences=int(rare.sum()),
        )

    def word_counts(
        self, pipeline: Pipeline, names: Sequence[str], words: list[str] | JoinedWords | None = None, **others: Any
    ) -> WordCounts:
        """Return the counts of a corpus, or of its beginning, whose files have these names, reached or not."""
        read = [dataclasses.replace(file, name=name) for file, name in zip(self.files, names, strict=False)]
        files = (*read, *map(FileStatistics, names[len(read) :]))
        statistics = CorpusStatistics.summed(
            files,
            skipped_words=self.skipped_words,
            spelled_out=dict(sorted(self.spelled_out.items())),  # in one order however the text was divided
            files=files,
            rare_words=self.rare_words,
            rare_occurrences=self.rare_occurrences,
            user_tokens=pipeline.user_tokens,
            **others,
        )
        skipped = [SkippedWord(names[file], *place) for file, *place in self.skipped]
        if words is None:
            words = words_in(self.words, self.ends)
        return WordCounts(words, self.counts, pipeline.normalizer, pipeline.pre_tokenizer, statistics, skipped)


def lines_of(files: Sequence[FileStatistics], number: int) -> int:
    """Return how many lines there are of a file, left out ones included; 0 if it was not reached."""
    return files[number].lines + files[number].skipped_lines if number < len(files) else 0


class Renumbering:
    """Converts the word numbers of parts from one counter to the numbers used here."""

    def __init__(self, numbers: WordNumbers) -> None:
        self._numbers = numbers
        self._ours = np.zeros(0, dtype=np.int32)  # by the number there
        self._known = 0

    def renumbered(self, part: PartCounts) -> PartCounts:
        """Return a part, which must be the next one from its counter, with the numbers used here."""
        new = self._numbers.numbers_of(part.words, part.ends)
        self._ours = with_room(self._ours, self._known + len(new))
        self._ours[self._known : self._known + len(new)] = new
        self._known += len(new)
        return dataclasses.replace(part, numbers=self._ours[part.numbers], words=b"", ends=part.ends[:0])


class Merging:
    """Merges consecutive parts of a corpus; `total` is how many words there are so far, with repetitions."""

    def __init__(self, numbers: WordNumbers, first_file: int = 0) -> None:
        self.total = 0
        self._numbers = numbers
        self._counts = np.zeros(0, dtype=np.int64)  # by the number of the word
        self._is_in_first = np.zeros(0, dtype=np.bool_)
        self._last_files = np.zeros(0, dtype=np.int32)  # the number, from 1, of the last file that contains each
        self._order: list[NDArray[np.int32]] = []  # the numbers in order of first appearance
        self._first_file = first_file
        self.files: list[FileStatistics] = []
        self._skipped: list[tuple[int, int, int, int]] = []
        self._skipped_words = self._bytes_read = 0
        self._spelled_out: Counter[str] = Counter()

    def add(self, part: PartCounts) -> None:
        first, last = part.first_file, part.first_file + len(part.files) - 1
        lines_before = lines_of(self.files, first - self._first_file)
        rows = part.numbers.astype(np.intp)  # once, instead of each time that they index an array
        in_first = rows if first == last else rows[part.places & IN_FIRST != 0]
        distinct = self._add_words(rows, part.counts, in_first, first)
        if first != last:
            self._last_files[rows[part.places & IN_LAST != 0]] = last + 1
        for number, file in enumerate(part.files, start=first):
            read = dataclasses.replace(file, distinct_words=distinct) if number == first else file
            place = number - self._first_file
            if place == len(self.files):
                self.files.append(read)
            else:
                self.files[place] = self.files[place].with_more(read)
        self._skipped_words += part.skipped_words
        self._spelled_out.update(part.spelled_out)
        self._bytes_read += part.bytes_read
        for file_number, line, byte, length in part.skipped[: MOST_SKIPPED_WORDS - len(self._skipped)]:
            self._skipped.append((file_number, line + lines_before * (file_number == first), byte, length))

    def result(self) -> PartCounts:
        order = self._ordered()
        spelled = self._numbers.spelled(0)
        if not self._numbers.are_in_order(order):
            words = self._numbers.words_of(order)
            spelled = spelled_out(words() if callable(words) else words)
        return dataclasses.replace(self._in_order(order), words=spelled[0], ends=spelled[1])

    def word_counts(self, pipeline: Pipeline, names: Sequence[str], **others: Any) -> WordCounts:
        order = self._ordered()
        return self._in_order(order).word_counts(pipeline, names, self._numbers.words_of(order), **others)

    def _ordered(self) -> NDArray[np.int32]:
        return np.concatenate(self._order) if self._order else np.zeros(0, dtype=np.int32)

    def _in_order(self, order: NDArray[np.int32]) -> PartCounts:
        last_file = self._first_file + len(self.files)
        places = IN_FIRST * self._is_in_first[order] + IN_LAST * (self._last_files[order] == last_file)
        return PartCounts(
            np.arange(len(order), dtype=np.int32),
            self._counts[order],
            places.astype(np.uint8),
            self._first_file,
            tuple(self.files),
            tuple(self._skipped),
            self._skipped_words,
            dict(self._spelled_out),
            self._bytes_read,
        )

    def _add_words(
        self, rows: NDArray[np.intp], counts: NDArray[np.int64], in_first: NDArray[np.intp], first: int
    ) -> int:
        """Add words, of which those `in_first` are in the file `first`; return how many of the latter are new in it."""
        size = len(self._numbers)
        self._counts = with_room(self._counts, size)
        self._is_in_first = with_room(self._is_in_first, size)
        self._last_files = with_room(self._last_files, size)
        before = self._counts[rows]
        new = rows[before == 0]
        if len(new):
            self._order.append(new.astype(np.int32))
        self._counts[rows] = before + counts
        distinct = int(np.count_nonzero(self._last_files[in_first] != first + 1))
        if first == self._first_file:
            self._is_in_first[in_first] = True
        self._last_files[in_first] = first + 1
        self.total += int(counts.sum())
        return distinct


def merged(parts: Sequence[PartCounts], *, is_compiled: bool = False) -> PartCounts:
    """Return the merged counts of neighbours, each with all its words; with kernels no word may contain a blank."""
    numbers: WordNumbers = PlainWordNumbers()
    if is_compiled:
        from wordpiece_studio.text.word_table import TableWordNumbers

        numbers = TableWordNumbers(max(len(part.ends) for part in parts) + 1)
    merging = Merging(numbers, parts[0].first_file)
    for part in parts:
        merging.add(Renumbering(numbers).renumbered(part))
    return merging.result()
