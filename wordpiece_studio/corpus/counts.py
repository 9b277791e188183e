"""Words and how often they occur: all that the training engine ever sees of a corpus.

Not here: counting them (`counting`).
"""

from __future__ import annotations

import dataclasses
import hashlib
import itertools
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from wordpiece_studio.errors import StudioError
from wordpiece_studio.text.normalizers import resolve_normalizer
from wordpiece_studio.text.pre_tokenizers import resolve_pre_tokenizer

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from wordpiece_studio.text.pipeline import Normalizer, PreTokenizer

LARGEST_COUNT = 2**63 - 1
_SIZES = ("bytes", "lines", "characters", "replaced", "skipped_lines")


class CountingStopped(StudioError):
    """Raised when the caller's `should_stop` returns True; nothing of the count is kept."""

    def __init__(self) -> None:
        super().__init__("Counting was stopped")


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
    """What was read from one file.

    Attributes
    ----------
    name
        The file, as shown to the user.
    bytes, lines
        The size of its text as it was read; for a compressed file, of the decompressed text. A last line without a line
        end is a line too.
    words, distinct_words
        How many words were counted in it, and how many distinct ones; overlong words are left out.
    encoding
        The encoding in which it was read.
    replaced, skipped_lines, characters, most_line_bytes
        As for all files together, see `CorpusStatistics`.
    """

    name: str
    bytes: int = 0
    lines: int = 0
    words: int = 0
    distinct_words: int = 0
    encoding: str = "utf-8"
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
        The size of what was counted, before normalization; a last line without a line end is a line too.
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
    files: tuple[FileStatistics, ...] = ()
    is_partial: bool = False
    most_line_bytes: int = 0
    guessed_tables: tuple[str, ...] = ()
    left_out_files: int = 0
    left_out_example: str = ""
    rare_words: int = 0
    rare_occurrences: int = 0

    @classmethod
    def summed(cls, read: Sequence[FileStatistics], **others: Any) -> Self:
        """Return the statistics of everything read; `others` are the fields that do not follow from it."""
        return cls(
            most_line_bytes=max((file.most_line_bytes for file in read), default=0),
            **{name: sum(getattr(file, name) for file in read) for name in _SIZES},
            **others,
        )

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Self:
        """Return the statistics from the plain data of ``dataclasses.asdict``, which may have passed through JSON."""
        files = tuple(FileStatistics(**file) for file in values["files"])
        names = {name: tuple(values[name]) for name in ("changed_files", "guessed_tables")}
        return cls(**{**values, "files": files, **names})


class WordCounts:
    """The distinct words of a corpus in order of first appearance, each with its count.

    Attributes
    ----------
    words : list[str]
        The distinct words, in order of first appearance.
    counts : numpy.ndarray
        How often each occurs: int64, shape ``(n_words,)``, all at least 1, read-only.
    normalizer, pre_tokenizer
        What turned the corpus into these words.
    statistics : CorpusStatistics
        What was read.
    skipped : tuple[SkippedWord, ...]
        The first thousand words that were left out because they are too long.
    """

    __slots__ = ("counts", "normalizer", "pre_tokenizer", "skipped", "statistics", "words")

    def __init__(
        self,
        words: list[str],
        counts: Sequence[int] | NDArray[np.int64],
        normalizer: Normalizer,
        pre_tokenizer: PreTokenizer,
        statistics: CorpusStatistics | None = None,
        skipped: Sequence[SkippedWord] = (),
    ) -> None:
        self.words = words
        self.counts = np.array(counts, dtype=np.int64)
        self.counts.flags.writeable = False
        self.normalizer = normalizer
        self.pre_tokenizer = pre_tokenizer
        self.statistics = statistics or CorpusStatistics()
        self.skipped = tuple(skipped)

    @classmethod
    def from_pairs(
        cls,
        pairs: Iterable[tuple[str, int]] | Mapping[str, int],
        normalizer: str | Normalizer | None = "bert-cased",
        pre_tokenizer: str | PreTokenizer = "bert",
    ) -> Self:
        """Return counts made from words and their counts; the counts of repeated words add up.

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
                "Give a list of pairs or a dictionary.",
                value=repr(pairs)[:100],
            )
        total: dict[str, int] = {}
        for number, pair in enumerate(pairs.items() if isinstance(pairs, Mapping) else pairs, start=1):
            word, count = _checked_pair(pair, number)
            total[word] = total.get(word, 0) + count
        if sum(total.values()) > LARGEST_COUNT:
            raise StudioError("The words together occur more than 2**63 - 1 times")
        return cls(
            list(total), list(total.values()), resolve_normalizer(normalizer), resolve_pre_tokenizer(pre_tokenizer)
        )

    @property
    def total(self) -> int:
        """How many words the corpus has, including repetitions."""
        return int(self.counts.sum())

    def items(self) -> list[tuple[str, int]]:
        """Return each word with its count, in order of first appearance."""
        return list(zip(self.words, self.counts.tolist(), strict=True))

    def at_least(self, count: int) -> WordCounts:
        """Return the words that occur at least `count` times, in the same order; the statistics say what was left out.

        >>> WordCounts.from_pairs([("hug", 10), ("pug", 5), ("bun", 4)]).at_least(5).words
        ['hug', 'pug']
        """
        is_common = self.counts >= count
        if is_common.all():
            return self
        rare = self.counts[~is_common]
        statistics = dataclasses.replace(
            self.statistics,
            rare_words=self.statistics.rare_words + len(rare),
            rare_occurrences=self.statistics.rare_occurrences + int(rare.sum()),
        )
        words = list(itertools.compress(self.words, is_common.tolist()))
        counts = self.counts[is_common]
        return WordCounts(words, counts, self.normalizer, self.pre_tokenizer, statistics, self.skipped)

    def digest(self) -> str:
        """Return a SHA-256 in hexadecimal of the words, their order and their counts."""
        lengths = np.fromiter(map(len, self.words), dtype="<i8", count=len(self))
        # With the lengths, no two different lists give the same bytes.
        result = hashlib.sha256(lengths.data)
        result.update(self.counts.astype("<i8").data)
        result.update("".join(self.words).encode("utf-8", "surrogatepass"))
        return result.hexdigest()

    def __len__(self) -> int:
        return len(self.counts)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, WordCounts):
            return NotImplemented
        return np.array_equal(self.counts, other.counts) and self.words == other.words

    __hash__ = None  # type: ignore[assignment]  # compared by a content too large to hash

    def __repr__(self) -> str:
        return f"<WordCounts: {len(self)} words, {self.total} occurrences>"


def _checked_pair(pair: object, number: int) -> tuple[str, int]:
    match pair:
        case (str(word), int() as count) if word and not isinstance(count, bool):
            if 1 <= count <= LARGEST_COUNT and _is_encodable(word):
                return word, count
        case (str(word), np.integer() as number_like):
            return _checked_pair((word, int(number_like)), number)
    raise StudioError(
        "Entry {number} of the word counts is {entry}",
        "Each must be a word and its count, a whole number of at least 1.",
        number=number,
        entry=repr(pair)[:100],
    )


def _is_encodable(word: str) -> bool:
    try:
        word.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True
