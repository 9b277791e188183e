"""The texts that tokenizers are measured on: files, texts in memory, or words with their counts.

Each gives its words as a tokenizer finds them, counted once for all tokenizers that find the same. Not here: what the
tokenizers make of them (`figures`, `differences`).
"""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from wordpiece_studio.corpus.counts import CountingStopped, WordCounts, is_mapping
from wordpiece_studio.corpus.decoding import checked_texts, text_pieces
from wordpiece_studio.corpus.files import FileOnDisk
from wordpiece_studio.corpus.listing import listing, opened
from wordpiece_studio.corpus.word_counts import read_word_counts
from wordpiece_studio.errors import StudioError
from wordpiece_studio.evaluation.held_out import (
    HOLD_OUT_ADVICE,
    NO_LINES,
    NO_WORDS,
    TOO_FEW_LINES,
    HeldOutText,
    divided_corpus,
    divided_pieces,
    held_out_text,
)
from wordpiece_studio.system.arrays import SLICE, slices
from wordpiece_studio.text.pipeline import Pipeline
from wordpiece_studio.tokenizer.vocabulary import AddedTokenFinder

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from wordpiece_studio.corpus.counts import CountingProgress
    from wordpiece_studio.corpus.decoding import TextPiece
    from wordpiece_studio.corpus.listing import Listing
    from wordpiece_studio.evaluation.held_out import Place, ReadingOptions
    from wordpiece_studio.tokenizer.encoding import Encoder, LibraryEncoder
    from wordpiece_studio.tokenizer.vocabulary import TextReading

    Text = Place | Iterable[Place] | Listing | WordCounts | HeldOutText
    Report = Callable[[str, int, int], None]
    """What is being done, how much of it is done, and how much there is."""
    CountedWord = tuple[str, tuple[int, ...], int]
    """A word with its ids and its count."""

WORD_MARKS = ("▁", "Ġ")
"""What tokens of other libraries have in place of the blank before a word."""
_FEW = 8  # words; takes a fraction of a millisecond
_ANY_LENGTH = 1 << 30  # of words: a tokenizer has limits of its own


class Watch:
    """Reports progress, and raises `CountingStopped` if the caller wants to stop."""

    def __init__(self, report: Report | None, should_stop: Callable[[], bool] | None, part: str = "") -> None:
        self._report = report
        self._should_stop = should_stop
        self._part = f" {part}" if part else ""

    def is_stopped(self) -> bool:
        return self._should_stop is not None and self._should_stop()

    def over(self, words: Iterable[str]) -> Iterator[str]:
        """Yield the words, and ask the caller now and then, which may let other threads have their turn."""
        for number, word in enumerate(words):
            if not number % _FEW:
                self.is_stopped()
            yield word

    def note(self, what: str, done: int, total: int) -> None:
        if self.is_stopped():
            raise CountingStopped
        if self._report is not None:
            self._report(what + self._part, done, total)

    def note_reading(self, progress: CountingProgress) -> None:
        self.note("Reading", progress.bytes_done, progress.bytes_total)


class TextInFiles:
    """A text in files, or texts in place of them; both are read line by line.

    With `is_held_out`, only the part counts that `divided_corpus` holds out. `pipeline` decides what its words are; the
    name, for messages, may be empty.
    """

    def __init__(self, name: str, listed: Listing | None, texts: list[str], *, is_held_out: bool = False) -> None:
        self._name = name
        self._listed = listed
        self._texts = texts
        self._is_held_out = is_held_out
        self._on_disk = [FileOnDisk(file.path) for file in (() if listed is None else listed.files)]

    def begin(self, common: TextReading, watch: Watch) -> HeldOutText:
        """Return the words that tokens are counted per."""
        self.pipeline = common.pipeline
        self._common = common
        self._text = self._read(common, watch)
        return self._text

    def counted(self, reading: TextReading, watch: Watch) -> HeldOutText:
        """Return the words as a tokenizer finds them."""
        if reading == self._common:
            return self._text
        text = self._read(reading, watch)
        self._check_unchanged()
        return text

    def counted_by(self, tokenizer: LibraryEncoder, note: Callable[[int, int], None]) -> Iterator[CountedWord]:
        yield from tokenizer.count_words(self._lines(note))
        self._check_unchanged()

    def _check_unchanged(self) -> None:
        """Check that what was read once more is still the same text, so that all figures are of one."""
        changed = next((file for file in self._on_disk if file.has_changed()), None)
        if changed is not None:
            raise StudioError("{path} changed while it was read", "Measure it again.", path=changed.name)

    def _read(self, reading: TextReading, watch: Watch) -> HeldOutText:
        listed = () if self._listed is None else self._listed
        steps = reading.pipeline.normalizer, reading.pipeline.pre_tokenizer
        options: ReadingOptions = {
            "added_tokens": reading.added_tokens,
            "max_word_length": _ANY_LENGTH,
            "progress": watch.note_reading,
            "should_stop": watch.is_stopped,
        }
        try:
            if self._is_held_out:
                return divided_corpus(listed, *steps, texts=self._texts, **options).held_out
            return held_out_text(listed, *steps, texts=self._texts, **options)
        except StudioError as error:
            if self._name and error.what_template in (NO_WORDS, TOO_FEW_LINES):
                raise _of_text(self._name, error) from None
            raise

    def _lines(self, note: Callable[[int, int], None]) -> Iterator[str]:
        pieces, done = self._pieces(), 0
        if self._is_held_out:
            pieces = (piece for is_held_out, piece in divided_pieces(pieces) if is_held_out)
        for piece in pieces:
            note(done, self._text.characters)
            yield from piece.text.removesuffix("\n").split("\n")
            done += len(piece.text)
        note(self._text.characters, self._text.characters)

    def _pieces(self) -> Iterator[TextPiece]:
        for number, text in enumerate(self._texts, start=1):
            yield from text_pieces(text, f"text {number}")
        for file in () if self._listed is None else self._listed.files:
            yield from opened(file).pieces()


class TextInWords:
    """Words with their counts, whose text is gone; of those in a table it is unknown what found them."""

    def __init__(self, text: HeldOutText, *, is_table: bool = False) -> None:
        self.pipeline = Pipeline(text.counts.normalizer, text.counts.pre_tokenizer)
        self._text = text
        self._is_table = is_table
        if not text.words:
            raise StudioError("There are no words to measure on", "Choose another text.")

    def begin(self, _common: TextReading, _watch: Watch) -> HeldOutText:
        return self._text

    def counted(self, reading: TextReading, watch: Watch) -> HeldOutText:
        """Return the words if a tokenizer finds the same, else what it makes of each of them as a text."""
        if reading.pipeline == self.pipeline and not self._is_table:
            return self._text
        counts, finder = self._text.counts, AddedTokenFinder.of(reading.added_tokens)
        words: Counter[str] = Counter()
        spelled_out: Counter[str] = Counter()
        for number, (word, count) in enumerate(counts.items()):
            if not number % SLICE:
                watch.note("Splitting words", number, len(counts))
            for section in finder.sections(as_text(word)):
                if section.is_added:
                    spelled_out[section.text] += count
                else:
                    for found in reading.pipeline.words(section.text):
                        words[found] += count
        steps = reading.pipeline.normalizer, reading.pipeline.pre_tokenizer
        split = WordCounts([*words], [*words.values()], *steps, counts.statistics)
        special_tokens = self._text.special_tokens + sum(spelled_out.values())
        spelled_out.update(self._text.spelled_out)
        return dataclasses.replace(self._text, counts=split, special_tokens=special_tokens, spelled_out=spelled_out)

    def counted_by(self, tokenizer: LibraryEncoder, note: Callable[[int, int], None]) -> Iterator[CountedWord]:
        """Yield the words, each as a text that the library reads."""
        counts = self._text.counts
        for part in slices(len(counts)):
            note(part.start, len(counts))
            found = tokenizer.encode(as_texts(tokenizer, counts.words[part]))
            for word, encoding, count in zip(counts.words[part], found, counts.counts[part].tolist(), strict=True):
                yield word, tuple(encoding.ids), count
        note(len(counts), len(counts))


def as_text(word: str) -> str:
    """Return a word as it mostly stands in a text: after a blank, unless it is punctuation.

    >>> as_text("hug"), as_text(",")
    (' hug', ',')
    """
    return f" {word}" if word[:1].isalnum() else word


def as_texts(tokenizer: Encoder, words: Sequence[str]) -> list[str]:
    """Return words as they mostly stand in a text; a library that itself marks the beginning of a text needs no blank.

    >>> from wordpiece_studio import BpeTokenizer
    >>> as_texts(BpeTokenizer({"h": 0}, [], "none", "bert"), ["hug", ","])
    [' hug', ',']
    """
    is_marked = tokenizer.reading is None and "".join(tokenizer.encode(words[0]).tokens).startswith(WORD_MARKS)
    return list(words) if is_marked else [as_text(word) for word in words]


def texts_by_name(on: Any, texts: Any, *, is_held_out: bool = False) -> dict[str, TextInFiles | TextInWords]:
    """Return the texts by name; one without a name is called ``""``."""
    of_texts: Mapping[Any, Any] = texts if isinstance(texts, Mapping) else {"": texts}  # not a column of pandas
    in_memory = {str(name): list(checked_texts(each)) for name, each in of_texts.items()}
    is_on_given = not isinstance(on, tuple | list) or bool(on)
    found: dict[str, TextInFiles | TextInWords] = {}
    if is_on_given and any(in_memory.values()):
        raise StudioError("Files or words cannot be combined with texts", "Pass only one of them.")
    if not is_on_given:
        found = {
            name: TextInFiles(name, None, given or [""], is_held_out=is_held_out)
            for name, given in in_memory.items()
            if given or name
        }
    elif not isinstance(on, WordCounts) and is_mapping(on):
        found = {str(name): _source(str(name), each, is_held_out) for name, each in on.items()}
    else:
        found = {"": _source("", on, is_held_out)}
    if not found:
        raise StudioError("There is no text to measure on", "Pass files, texts, or words with counts.")
    return found


def _of_text(name: str, error: StudioError) -> StudioError:
    return StudioError("{text}: " + error.what_template, error.advice_template, text=name, **error.values)


def _source(name: str, on: Any, is_held_out: bool) -> TextInFiles | TextInWords:
    if is_held_out and isinstance(on, WordCounts):
        raise StudioError(NO_LINES, HOLD_OUT_ADVICE)
    if isinstance(on, WordCounts | HeldOutText):
        return TextInWords(HeldOutText(on) if isinstance(on, WordCounts) else on)
    listed = listing(on)
    if not is_held_out and all(file.kind == "word-counts" for file in listed.files):
        return TextInWords(HeldOutText(read_word_counts(listed.files)), is_table=True)
    return TextInFiles(name, listed, [], is_held_out=is_held_out)
