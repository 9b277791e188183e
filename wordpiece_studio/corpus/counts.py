"""Words and how often they occur: all that the training engine ever sees of a corpus.

Not here: counting them (`counting`).
"""

from __future__ import annotations

import contextlib
import dataclasses
import hashlib
import operator
import os
import sys
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Self, TypeGuard

import numpy as np

from wordpiece_studio.errors import StudioError
from wordpiece_studio.system.arrays import code_points_of, lengths_of, slices
from wordpiece_studio.system.memory import memory_of
from wordpiece_studio.text.normalizers import resolve_normalizer
from wordpiece_studio.text.pre_tokenizers import ByteLevel, resolve_pre_tokenizer
from wordpiece_studio.text.word_numbers import JoinedWords

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from wordpiece_studio.text.pipeline import Normalizer, PreTokenizer


LARGEST_COUNT = 2**63 - 1
_SIZES = ("bytes", "lines", "characters", "replaced", "skipped_lines")


class CountingStopped(StudioError):
    """Raised when the caller's `should_stop` returns True; nothing of the count is kept."""

    def __init__(self) -> None:
        super().__init__("Counting was stopped")


def stop_check(should_stop: Callable[[], bool] | None) -> Callable[[], None]:
    """Return a function that raises `CountingStopped` if `should_stop` returns True."""

    def check() -> None:
        if should_stop is not None and should_stop():
            raise CountingStopped

    return check


@dataclass(frozen=True, slots=True)
class SkippedWord:
    """A word that was left out because it is too long to be one.

    Attributes
    ----------
    source
        The file, or ``"text 3"`` for the third of several texts.
    line
        Its line, from 1.
    byte
        Where the blank-free stretch that contains it begins in the file: a byte offset, from 0.
    length
        Its length in characters, after normalization.
    """

    source: str
    line: int
    byte: int
    length: int


@dataclass(frozen=True, slots=True)
class FileStatistics:
    """What was read from one file, if compressed of the decompressed text; for the rest see `CorpusStatistics`."""

    name: str  # as shown to the user
    bytes: int = 0
    lines: int = 0
    words: int = 0  # that were counted in it, without the overlong ones
    distinct_words: int = 0
    encoding: str = "utf-8"  # in which it was read
    replaced: int = 0
    skipped_lines: int = 0
    characters: int = 0
    most_line_bytes: int = 0

    def with_more(self, more: FileStatistics) -> FileStatistics:
        """Return this plus what was read from the same file after it; `more` counts only new distinct words."""
        summed = {name: getattr(self, name) + getattr(more, name) for name in (*_SIZES, "words", "distinct_words")}
        most_line_bytes = max(self.most_line_bytes, more.most_line_bytes)
        return FileStatistics(self.name, encoding=more.encoding, most_line_bytes=most_line_bytes, **summed)


@dataclass(frozen=True, slots=True)
class CorpusStatistics:
    """What was read when the words were counted.

    Attributes
    ----------
    lines, characters, bytes
        The size of what was counted, before normalization; a last line without a line end is a line too. Of words with
        their counts, lines and bytes are those of the table, and the characters are not known: 0.
    skipped_words
        How many occurrences of words were left out because the words are too long.
    replaced
        How many undecodable stretches of bytes, or NUL characters, were replaced by U+FFFD.
    skipped_lines
        How many lines were left out because they contain such bytes.
    changed_files
        The files that changed while they were read.
    marked_files
        The files in UTF-16 or UTF-32, known only from their byte order mark, and the encoding of each.
    spelled_out
        How often each of BERT's special tokens is spelled out in the text; tokens that are not are omitted.
    user_tokens
        What was taken out of the text before it was split into words.
    files
        What was read from each file, in order; empty for texts.
    is_partial
        Whether counting was stopped before the end, and this is what had been counted by then: the beginning of the
        corpus.
    most_line_bytes
        The length of the longest line in UTF-8, including its line end.
    guessed_tables
        The files that were read as words with their counts because they look like that, without being declared so.
    left_out_files, left_out_example
        How many files in the given folders were not read because their suffixes are not those of texts, and the first
        of them. Hidden files are not counted.
    rare_words, rare_occurrences
        How many distinct words were left out because they are too rare, see `WordCounts.at_least`, and how often they
        occur together. The word counts of single files include them.
    """

    lines: int = 0
    characters: int = 0
    bytes: int = 0
    skipped_words: int = 0
    replaced: int = 0
    skipped_lines: int = 0
    changed_files: tuple[str, ...] = ()
    marked_files: dict[str, str] = field(default_factory=dict)
    spelled_out: dict[str, int] = field(default_factory=dict)
    user_tokens: tuple[str, ...] = ()
    files: tuple[FileStatistics, ...] = ()
    is_partial: bool = False
    most_line_bytes: int = 0
    guessed_tables: tuple[str, ...] = ()
    left_out_files: int = 0
    left_out_example: str = ""
    rare_words: int = 0
    rare_occurrences: int = 0

    def __repr__(self) -> str:
        values = ((each.name, getattr(self, each.name)) for each in dataclasses.fields(self))
        shown = (
            f"{name}={len(value) if isinstance(value, tuple | dict) else value!r}" for name, value in values if value
        )
        return f"<CorpusStatistics: {', '.join(shown) or 'nothing was read'}>"

    @classmethod
    def summed(cls, read: Sequence[FileStatistics], **others: Any) -> Self:
        """Return the statistics of everything read; `others` are the fields that do not follow from it."""
        return cls(
            most_line_bytes=max((file.most_line_bytes for file in read), default=0),
            **{name: sum(getattr(file, name) for file in read) for name in _SIZES},
            **others,
        )


class WordCounts:
    """The distinct words of a corpus in order of first appearance, each with its count.

    Parameters
    ----------
    words
        The distinct words, in order of first appearance; or a function that returns them, the same ones each time,
        called when they are first needed, from any thread.
    counts, normalizer, pre_tokenizer, statistics, skipped
        See the attributes.

    Attributes
    ----------
    counts : numpy.ndarray
        How often each word occurs: int64, shape ``(n_words,)``, all at least 1, read-only.
    normalizer, pre_tokenizer
        What turned the corpus into these words.
    statistics : CorpusStatistics
        What was read.
    skipped : tuple[SkippedWord, ...]
        The first thousand words that were left out because they are too long.
    """

    def __init__(
        self,
        words: list[str] | Callable[[], list[str]],
        counts: Sequence[int] | NDArray[np.int64],
        normalizer: Normalizer,
        pre_tokenizer: PreTokenizer,
        statistics: CorpusStatistics | None = None,
        skipped: Sequence[SkippedWord] = (),
    ) -> None:
        self._words = words
        self._digest = ""
        self.counts = np.array(counts, dtype=np.int64)
        self.counts.flags.writeable = False
        self.normalizer = normalizer
        self.pre_tokenizer = pre_tokenizer
        self.statistics = statistics or CorpusStatistics()
        self.skipped = tuple(skipped)

    def __getstate__(self) -> dict[str, Any]:
        """Return what is pickled: words as texts of many, and what depends on all of them worked out.

        Millions of small objects at once, or one very long text, would stall a window that receives them.
        """
        self.figures()
        parts = [self.words[part] for part in slices(len(self))]
        return {**self.__dict__, "_words": [("".join(part), lengths_of(part)) for part in parts]}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self.counts = np.array(self.counts)  # copies of arrays are writeable
        self.counts.flags.writeable = False
        words: list[str] = []
        for text, lengths in state["_words"]:
            start = 0
            for length in lengths.tolist():  # a loop rather than a single call, so that other threads get their turn
                words.append(text[start : start + length])
                start += length
        self._words = words

    @classmethod
    def from_pairs(
        cls,
        pairs: Iterable[tuple[str, int]] | Mapping[str, int],
        normalizer: str | Normalizer | None = "bert-cased",
        pre_tokenizer: str | PreTokenizer = "bert",
    ) -> Self:
        """Return counts made from words and their counts; the counts of repeated words add up.

        `pairs` is a list of pairs, or a mapping or a pandas series from words to counts, such as its `value_counts`.
        `normalizer` and `pre_tokenizer` are kept for the tokenizer to come; the words are taken unchanged.

        Raises
        ------
        StudioError
            If an entry is not a pair, a word is empty or no text, or a count is not a whole number from 1 to 2**63 - 1.

        >>> counts = WordCounts.from_pairs([("hug", 10), ("pug", 5), ("hug", 1)])
        >>> counts.items()
        [('hug', 11), ('pug', 5)]
        """
        if not isinstance(pairs, Iterable):
            raise StudioError(
                "Words with their counts are expected, not {value}",
                "Pass a list of pairs or a dictionary.",
                value=repr(pairs)[:100],
            )
        total: dict[str, int] = {}
        for number, pair in enumerate(pairs.items() if is_mapping(pairs) else pairs, start=1):
            word, count = _checked_pair(pair, number)
            total[word] = total.get(word, 0) + count
        return cls(*checked_totals(total), resolve_normalizer(normalizer), resolve_pre_tokenizer(pre_tokenizer))

    @property
    def words(self) -> list[str]:
        """The distinct words, in order of first appearance.

        Raises
        ------
        StudioError
            If they have still to be read and cannot be.
        """
        if callable(self._words):
            words = self._words()
            if len(words) != len(self.counts):
                what = "There are {words:,} words, but {counts:,} counts"
                raise StudioError(what, "The file is damaged.", words=len(words), counts=len(self.counts))
            self._words = words
        return self._words

    @property
    def joined(self) -> bytes | None:
        """The words in UTF-8, a blank after each, if compiled kernels counted them and no one asked for texts."""
        words = self._words
        return words.joined if isinstance(words, JoinedWords) else None

    def characters(self) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
        """Return the code points of all words, one after the other: int32; and the length of each word: int64."""
        if not isinstance(self._words, JoinedWords):
            lengths = lengths_of(self.words)
            return code_points_of(self.words, lengths), lengths
        parts = [(np.zeros(0, np.int32), np.zeros(0, np.int64)), *self._characters()]
        code_points, lengths = (np.concatenate(column) for column in zip(*parts, strict=True))
        return code_points, lengths

    def _characters(self) -> Iterator[tuple[NDArray[np.int32], NDArray[np.int64]]]:
        """Yield what `characters` returns for some words at a time."""
        if isinstance(self._words, JoinedWords):
            yield from self._words.characters()
        else:
            for words in (self.words[part] for part in slices(len(self))):
                lengths = lengths_of(words)
                yield code_points_of(words, lengths), lengths

    def _lengths(self) -> NDArray[np.int64]:
        if self.joined is None:
            return lengths_of(self.words)
        return np.concatenate([np.zeros(0, np.int64), *(lengths for _, lengths in self._characters())])

    def sample(self, stride: int) -> list[str]:
        """Return every word whose index is a multiple of `stride`."""
        words = self._words
        return words.sample(stride) if isinstance(words, JoinedWords) else self.words[::stride]

    def indices_with(self, texts: Collection[str]) -> dict[str, list[int]]:
        """Return, for each of the texts, the indices of the words that contain it.

        Many words are searched at once, which is far faster than one by one.
        """
        found: dict[str, list[int]] = {text: [] for text in texts}
        words = self._words
        is_sought = not isinstance(words, JoinedWords) or words.may_contain(texts)
        for part in slices(len(self) if is_sought else 0):
            some = self.words[part]
            joined = "\n".join(some)
            for text in texts:
                if text in joined:
                    found[text] += (part.start + index for index, word in enumerate(some) if text in word)
        return found

    @property
    def total(self) -> int:
        """How many words the corpus has, including repetitions."""
        return int(self.counts.sum())

    @cached_property
    def symbols(self) -> int:
        """How many characters all words have, including repetitions: what training starts with."""
        return int((self._lengths() * self.counts).sum())

    @cached_property
    def alphabet_size(self) -> int:
        """How many characters begin a word plus how many continue one: the smallest vocabulary without special tokens.

        After a byte-level pre-tokenizer, all bytes do both.
        """
        if self.pre_tokenizer.is_byte_level:
            return 2 * len(ByteLevel.alphabet())
        return distinct_symbols(self._characters())

    def items(self) -> list[tuple[str, int]]:
        """Return each word with its count, in order of first appearance."""
        return list(zip(self.words, self.counts.tolist(), strict=True))

    def at_least(self, count: int) -> WordCounts:
        """Return the words that occur at least `count` times, in the same order; the statistics say what was left out.

        >>> WordCounts.from_pairs([("hug", 10), ("pug", 5), ("bun", 4)]).at_least(5).words
        ['hug', 'pug']
        """
        is_common = self.counts >= operator.index(count)
        if is_common.all():
            return self
        rare = self.counts[~is_common]
        statistics = dataclasses.replace(
            self.statistics,
            rare_words=self.statistics.rare_words + len(rare),
            rare_occurrences=self.statistics.rare_occurrences + int(rare.sum()),
        )
        return self.chosen(np.flatnonzero(is_common), statistics)

    def chosen(self, indices: NDArray[np.int64], statistics: CorpusStatistics | None = None) -> WordCounts:
        """Return the words with these indices, in this order, with these statistics or the same ones."""
        words = self.words
        chosen = [words[index] for index in indices.tolist()]
        rest = self.normalizer, self.pre_tokenizer, statistics or self.statistics, self.skipped
        return WordCounts(chosen, self.counts[indices], *rest)

    def digest(self) -> str:
        """Return a SHA-256 in hexadecimal of the words, their order and their counts; it is computed once."""
        if not self._digest:
            joined = self.joined
            if joined is not None:
                spelled = joined.replace(b" ", b"")
            else:
                spelled = "".join(self.words).encode("utf-8", "surrogatepass")
            # With the lengths, no two different lists give the same bytes.
            result = hashlib.sha256(self._lengths().astype("<i8").data)
            result.update(self.counts.astype("<i8").data)
            result.update(spelled)
            self._digest = result.hexdigest()
        return self._digest

    def figures(self) -> dict[str, Any]:
        """Return what depends on every word, computed once, for `take_figures` in another process."""
        return {"symbols": self.symbols, "alphabet_size": self.alphabet_size, "digest": self.digest()}

    def take_figures(self, figures: Mapping[str, Any]) -> None:
        """Take the figures of equal counts from another process."""
        self.symbols, self.alphabet_size = figures["symbols"], figures["alphabet_size"]
        self._digest = figures["digest"]

    def __len__(self) -> int:
        return len(self.counts)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, WordCounts):
            return NotImplemented
        if self is other or (self._digest and other._digest):
            return self._digest == other._digest
        return np.array_equal(self.counts, other.counts) and self.words == other.words

    __hash__ = None  # type: ignore[assignment]  # compared by a content too large to hash

    def __repr__(self) -> str:
        return f"<WordCounts: {len(self)} words, {self.total} occurrences>"


def is_mapping(value: object) -> TypeGuard[Mapping[Any, Any]]:
    """Return whether `value` has keys with values, as a dictionary and a pandas series have."""
    return hasattr(type(value), "items")


def checked_totals(total: Mapping[str, int]) -> tuple[list[str], list[int]]:
    """Return words and how often each occurs, if they fit into the counts of `WordCounts`."""
    if sum(total.values()) > LARGEST_COUNT:
        raise StudioError("The words together occur more than 2**63 - 1 times")
    return list(total), list(total.values())


def _checked_pair(pair: object, number: int) -> tuple[str, int]:
    match pair:
        case (str(word), int() as count) if word and not isinstance(count, bool):
            with contextlib.suppress(UnicodeEncodeError):
                word.encode("utf-8")
                if 1 <= count <= LARGEST_COUNT:
                    return word, count
        case (str(word), np.integer() as number_like):
            return _checked_pair((word, int(number_like)), number)
    what = "Entry {number} of the word counts is invalid: {entry}"
    raise StudioError(
        what, "Each must be a word and its count, a whole number of at least 1.", number=number, entry=repr(pair)[:100]
    )


def distinct_symbols(parts: Iterable[tuple[NDArray[np.int32], NDArray[np.int64]]]) -> int:
    """Return how many characters begin a word, plus how many continue one; each part is as from `characters`."""
    occurs = np.zeros(2 * (sys.maxunicode + 1), dtype=np.bool_)
    for characters, lengths in parts:
        keys = characters * 2
        keys[np.cumsum(lengths) - lengths] += 1
        occurs[keys] = True
    return int(np.count_nonzero(occurs))


_INTERVAL_SECONDS = 0.05
# No time is estimated before this much time has passed and this much of the text is read.
_FIRST_SECONDS, _FIRST_PART = 0.5, 0.01


@dataclass(frozen=True, slots=True)
class CountingProgress:
    bytes_done: int  # of the files on disk, compressed ones as they are; never more than the total
    bytes_total: int
    files_done: int = 0  # read to their end
    files_total: int = 0
    words: int = 0  # counted so far, including repetitions; those in the current text may be missing
    seconds_left: float | None = None  # at the speed so far; None while unknown
    memory_bytes: int | None = None  # of this process and its workers; None where the system does not report it


class ProgressMeter:
    """Reports the progress of a count to a caller, if there is one, now and then."""

    def __init__(self, report: Callable[[CountingProgress], None] | None, bytes_total: int, files_total: int) -> None:
        self._report = report
        self._bytes_total = bytes_total
        self._files_total = files_total
        self._started = self._next = time.monotonic()

    def note(self, bytes_done: int, files_done: int, words: int, memory_of_others: int = 0) -> None:
        if self._report is None:
            return
        now = time.monotonic()
        if now < self._next and files_done < self._files_total:
            return
        self._next = now + _INTERVAL_SECONDS
        total = self._bytes_total
        done = min(bytes_done, total)
        seconds, left = now - self._started, None
        if done == total:
            left = 0.0
        elif seconds >= _FIRST_SECONDS and done >= _FIRST_PART * total:
            left = seconds * (total - done) / done
        ours = resident_bytes()
        memory = None if ours is None else ours + memory_of_others
        self._report(CountingProgress(done, total, files_done, self._files_total, words, left, memory))


def resident_bytes() -> int | None:
    """Return how much memory this process holds; None where the system does not report it."""
    if sys.platform != "linux":
        return memory_of(os.getpid())
    with contextlib.suppress(OSError, ValueError, IndexError), open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    return None
