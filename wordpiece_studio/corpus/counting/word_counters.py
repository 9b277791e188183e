"""Counting the words of pieces of text: the plain way, right for every pipeline and immediate for small texts.

Not here: the compiled way for large corpora (`compiled_counter`), which gives the same words in the same order, and
the other notes on a text (`segments`).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from wordpiece_studio.compiled.kernel_cache import kernels_are_cached
from wordpiece_studio.corpus.counting.part_counts import MOST_SKIPPED_WORDS
from wordpiece_studio.corpus.counts import SkippedWord
from wordpiece_studio.text.pipeline import BERT_SPECIAL_TOKENS, PatternOverrunError
from wordpiece_studio.text.word_numbers import PlainWordNumbers

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from numpy.typing import NDArray

    from wordpiece_studio.corpus.counting.segments import RawBlock
    from wordpiece_studio.corpus.decoding import TextPiece
    from wordpiece_studio.text.pipeline import Pipeline
    from wordpiece_studio.text.word_numbers import WordNumbers

# About as much text is counted in the time it takes to load the kernels; and to compile them.
FEW_BYTES, FEW_BYTES_UNCOMPILED = 1 << 19, 16 << 20
_STOP_CHECK_CHUNKS = 500


def are_kernels_worth_it(size: int) -> bool:
    """Return whether `size` bytes of text are counted sooner with kernels, including loading or compiling them."""
    return size >= FEW_BYTES and (size >= FEW_BYTES_UNCOMPILED or kernels_are_cached("text"))


class Tally(NamedTuple):
    """The words of a stretch of text in order of first appearance, by their numbers, and how often each occurs.

    Both have the shape ``(n_words,)``. `skipped` are the first of the words that were left out because they are too
    long; `spelled_out` says how often each of BERT's special tokens is spelled out.
    """

    numbers: NDArray[np.int32]
    counts: NDArray[np.int64]
    skipped: tuple[SkippedWord, ...]
    skipped_words: int
    spelled_out: dict[str, int]


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
        """Return what was counted since the last part, and start a new one."""
        numbers, counts = self._tally()
        tally = Tally(numbers, counts, tuple(self._skipped), self._skipped_words, dict(+self._spelled_out))
        self._forget_notes()
        return tally

    @abstractmethod
    def abandon_part(self) -> None:
        """Forget what was counted since the last part."""

    @abstractmethod
    def _tally(self) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
        """Return the numbers of the words of the part in order of first appearance, and how often each occurs."""

    def _forget_notes(self) -> None:
        self._skipped, self._skipped_words = [], 0
        self._spelled_out.clear()

    @property
    def _is_listing(self) -> bool:
        """Whether the next word left out will be listed."""
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
        self,
        pipeline: Pipeline,
        longest: int,
        check_stop: Callable[[], None],
        *,
        most_characters: int = 8 << 20,
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
        """Count the stretches of a piece."""
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
        """Forget what was counted since the last part."""
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
        """Split the stretches into words."""
        stretches, self._stretches, self._characters = self._stretches, Counter(), 0
        cut = self._cut
        for number, (stretch, count) in enumerate(stretches.items()):
            if number % _STOP_CHECK_CHUNKS == 0:
                self._check_stop()
            numbers = cut.get(stretch)
            if numbers is None:
                try:
                    words = self._pipeline.words(stretch)
                except PatternOverrunError as error:
                    raise self._with_place(error, stretch) from None
                if max(map(len, words), default=0) > self._longest:
                    self._skipped_words += count * sum(len(word) > self._longest for word in words)
                    self._count((word for word in words if len(word) <= self._longest), count)
                    continue
                numbers = list(map(self.numbers.number, words))
                if self._pipeline.is_local:
                    if self._cut_characters > self._most_characters:
                        cut.clear()
                        self._cut_characters = 0
                    cut[stretch] = numbers
                    self._cut_characters += len(stretch)
            for word_number in numbers:
                self._tallied[word_number] = self._tallied.get(word_number, 0) + count
        self._pieces.clear()

    def _with_place(self, error: PatternOverrunError, line: str) -> PatternOverrunError:
        """Return an error with the first place of the line that caused it."""
        for piece in self._pieces:
            start = 0
            for each in piece.text.split("\n"):
                if each == line:
                    return error.in_line(piece.locate(start)[0], piece.source)
                start += len(each) + 1
        return error

    def _count(self, words: Iterable[str], count: int = 1) -> None:
        for word in words:
            number = self.numbers.number(word)
            self._tallied[number] = self._tallied.get(number, 0) + count

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
                            self._count((word,))
                        else:
                            self._skip(len(word), piece, start)
                except PatternOverrunError as error:
                    raise error.in_line(piece.locate(start)[0], piece.source) from None
            start += len(stretch) + 1

    def _note_piece(self, piece: TextPiece) -> None:
        if not self._pipeline.is_local and (not self._pieces or self._pieces[-1] is not piece):
            self._pieces.append(piece)
