"""The texts that vocabularies are judged and tokenizers measured on, and what is held out of a corpus for that.

A vocabulary fits its own corpus too well to be judged by it. So a part of the corpus is held out, vocabularies are
trained on the rest, and the part is tokenized with them. Of a corpus of under a megabyte that part is the last tenth,
of a larger one every tenth stretch of 64 kB: the lines that begin there, by their byte offset in the text of all files
in UTF-8. Both parts are counted in one pass, as two columns of weights for the same words. That part is the last of ten
blocks; any other may be held out instead, see `Fold`.

Tokenizers are measured on files, texts in memory, or words with their counts. Each gives its words as a tokenizer finds
them, counted once for all tokenizers that find the same. Not here: what they make of them (`figures`, `differences`).
"""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import chain
from typing import TYPE_CHECKING, Any, TypedDict, get_args

from wordpiece_studio.corpus.counting.counting import read_word_counts
from wordpiece_studio.corpus.counting.part_counts import Merging, PartCounts, PlainCounter, are_kernels_worth_it
from wordpiece_studio.corpus.counts import (
    CountingStopped,
    FileStatistics,
    ProgressMeter,
    WordCounts,
    is_mapping,
    stop_check,
)
from wordpiece_studio.corpus.decoding import TextPiece, checked_texts, size_of_text, text_pieces
from wordpiece_studio.corpus.files import FileOnDisk
from wordpiece_studio.corpus.listing import listing, opened
from wordpiece_studio.errors import StudioError
from wordpiece_studio.evaluation.usage import count_usage
from wordpiece_studio.system.arrays import SLICE, slices
from wordpiece_studio.system.printable import display_name
from wordpiece_studio.text.normalizers import resolve_normalizer
from wordpiece_studio.text.pipeline import BERT_SPECIAL_TOKENS, Pipeline
from wordpiece_studio.text.pre_tokenizers import resolve_pre_tokenizer
from wordpiece_studio.tokenizer.vocabulary import AddedToken, AddedTokenFinder
from wordpiece_studio.training.config import Objective
from wordpiece_studio.training.trainer import TrainingRun, train_elsewhere

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from typing import TypeAlias, Unpack

    from wordpiece_studio.corpus.counting.part_counts import WordCounter
    from wordpiece_studio.corpus.counts import CountingProgress
    from wordpiece_studio.corpus.files import CorpusFile
    from wordpiece_studio.corpus.listing import Listing
    from wordpiece_studio.text.pipeline import Normalizer, PreTokenizer
    from wordpiece_studio.tokenizer.encoding import Encoder, LibraryEncoder
    from wordpiece_studio.tokenizer.vocabulary import TextReading
    from wordpiece_studio.training.config import TrainingConfig

    Place = str | bytes | os.PathLike[str] | CorpusFile
    Text: TypeAlias = "Place | Iterable[Place] | Listing | WordCounts | HeldOutText"
    Report = Callable[[str, int, int], None]
    """What is being done, how much of it is done, and how much there is."""
    CountedWord = tuple[str, tuple[int, ...], int]
    """A word with its ids and its count."""

HOLD_OUT_ADVICE = "Use another file as held-out text."
NO_WORDS = "There are no words in the held-out text"
TOO_FEW_LINES = "The corpus has too few lines for a part of it to be held out"
NO_LINES = "Words with their counts have no lines and cannot be held out"
SMALL_BYTES = 1_000_000
STRETCH_BYTES = 64 << 10
_LINE_END = ord("\n")
_NAMES = ("the rest of the corpus", "the part of the corpus held out")
WORD_MARKS = ("▁", "Ġ")  # what tokens of other libraries have in place of the blank before a word
_FEW = 8  # words; takes a fraction of a millisecond
_ANY_LENGTH = 1 << 30  # of words: a tokenizer has limits of its own


@dataclass(frozen=True, slots=True)
class Fold:
    """One of the blocks of a corpus, which is held out while the others are trained on.

    There are `of` blocks, which contain every line once; `number` counts from 0.
    """

    number: int = 9
    of: int = 10


LAST_TENTH = Fold()


@dataclass(frozen=True, slots=True)
class HeldOutText:
    """A text to judge vocabularies by.

    Attributes
    ----------
    counts
        Its words.
    special_tokens
        How many special tokens and user tokens it spells out; a tokenizer takes them out before it splits the rest
        into words.
    spelled_out
        How often it spells out each of them, if known.
    characters, bytes
        The size of the text in code points and in UTF-8, white space included; 0 if unknown.
    lines
        How many lines or rows it has; 0 if unknown.
    """

    counts: WordCounts
    special_tokens: int = 0
    spelled_out: Mapping[str, int] = field(default_factory=dict)
    characters: int = 0
    bytes: int = 0
    lines: int = 0

    @property
    def words(self) -> int:
        """How many words it has, including those that are too long to be counted, and special tokens."""
        return self.counts.total + self.counts.statistics.skipped_words + self.special_tokens


@dataclass(frozen=True, slots=True)
class DividedCorpus:
    """A corpus in two parts, with the words of each in order of first appearance in it.

    Attributes
    ----------
    rest
        What to train on.
    held_out
        What to judge by.
    characters
        How many code points the corpus has, white space included.
    spelled_out
        How often the rest spells out each added token, if these are found there too.
    """

    rest: WordCounts
    held_out: HeldOutText
    characters: int = 0
    spelled_out: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class HeldOutFigures:
    """How a vocabulary splits text that it was not trained on, and how those of the other objectives would.

    Attributes
    ----------
    run
        The training whose vocabulary was judged.
    words
        How many words of text it was judged by, including repetitions.
    tokens_per_word
        By objective, that of `run` first; an unknown word is one token.
    unknown
        The share of these tokens that are unknown words, by objective.
    """

    run: TrainingRun
    words: int
    tokens_per_word: dict[Objective, float]
    unknown: dict[Objective, float] = field(default_factory=dict)


class ReadingOptions(TypedDict, total=False):
    """How a text is counted in two parts; what is not given is as for :func:`~wordpiece_studio.count_words`.

    Attributes
    ----------
    special_tokens
        What a tokenizer takes out of text that is held out: BERT's five, if not given.
    user_tokens
        What is taken out of all text, as for :func:`~wordpiece_studio.count_words`.
    added_tokens
        What is taken out of text that is held out instead of both, where a tokenizer finds it.
    finds_in_rest
        Whether it is taken out of the rest too: to measure tokens there, not to train on it.
    max_word_length, progress, should_stop
        As for :func:`~wordpiece_studio.count_words`.
    """

    special_tokens: Sequence[str]
    user_tokens: Sequence[str]
    added_tokens: Sequence[AddedToken]
    finds_in_rest: bool
    max_word_length: int
    progress: Callable[[CountingProgress], None]
    should_stop: Callable[[], bool]


def divided_corpus(
    paths: Place | Iterable[Place] | Listing = (),
    normalizer: str | Normalizer | None = "bert-cased",
    pre_tokenizer: str | PreTokenizer = "bert",
    *,
    texts: Iterable[str] = (),
    fold: Fold = LAST_TENTH,
    **reading: Unpack[ReadingOptions],
) -> DividedCorpus:
    """Count the words of files, or of `texts` in place of them, in two parts, of which the block `fold` is held out.

    Raises
    ------
    StudioError
        If a file cannot be read, something in `texts` is not a text, or one part would be empty. `CountingStopped` if
        `should_stop` returned true.
    """
    count = _PartsCount(paths, texts, normalizer, pre_tokenizer, **reading)
    for is_held_out, piece in divided_pieces(count.pieces, fold):
        count.add(piece, is_held_out=is_held_out)
    rest, held_out = count.result()
    if not rest or not held_out.counts:
        raise StudioError(TOO_FEW_LINES, HOLD_OUT_ADVICE)
    return DividedCorpus(rest, held_out, count.characters, dict(count.spelled_out[0]))


def held_out_text(
    paths: Place | Iterable[Place] | Listing = (),
    normalizer: str | Normalizer | None = "bert-cased",
    pre_tokenizer: str | PreTokenizer = "bert",
    *,
    texts: Iterable[str] = (),
    **reading: Unpack[ReadingOptions],
) -> HeldOutText:
    """Count the words of files or texts that are not in the corpus; as `divided_corpus`.

    Steps of the normalizer that are for the corpus only are left out.
    """
    count = _PartsCount(paths, texts, resolve_normalizer(normalizer).kept, pre_tokenizer, **reading)
    for piece in count.pieces:
        count.add(piece, is_held_out=True)
    _, held_out = count.result()
    if not held_out.words:
        raise StudioError(NO_WORDS, "Choose another text.")
    return held_out


def held_out_figures(
    rest: WordCounts,
    held_out: HeldOutText,
    config: TrainingConfig,
    *,
    run: TrainingRun | None = None,
    progress: Callable[[Objective, int], None] | None = None,
    should_stop: Callable[[], bool] | None = None,
) -> HeldOutFigures:
    """Return how vocabularies trained on one text split another, for each objective, all else being equal.

    Parameters
    ----------
    rest, held_out
        What to train on, and what to judge by.
    config
        The settings. A least value means something else for each objective, and holds for its own alone.
    run
        The training on `rest` with these settings, if it has been made.
    progress
        Called regularly with the objective of the present training and the number of tokens it has learned.
    should_stop
        Called regularly; `CountingStopped` is raised if it returns true.

    Raises
    ------
    StudioError
        As :func:`~wordpiece_studio.train`.
    """

    def trained(settings: TrainingConfig) -> TrainingRun:
        def report(tokens: int, _most: int | None) -> None:
            if progress is not None:
                progress(settings.objective, tokens)

        return train_elsewhere(rest, settings, progress=report, should_stop=should_stop)

    runs = {config.objective: run or trained(config)}
    for objective in get_args(Objective):
        if objective != config.objective:
            runs[objective] = trained(dataclasses.replace(config, objective=objective, min_value=None))
    usages = {name: count_usage(each.tokenizer(), held_out.counts, should_stop) for name, each in runs.items()}
    skipped = held_out.counts.statistics.skipped_words  # each an unknown word
    tokens = {objective: each.tokens + skipped + held_out.special_tokens for objective, each in usages.items()}
    return HeldOutFigures(
        runs[config.objective],
        held_out.words,
        {objective: number / held_out.words for objective, number in tokens.items()},
        {objective: (usages[objective].unknown_occurrences + skipped) / number for objective, number in tokens.items()},
    )


class _PartsCount:
    """A count of the words of two parts of a text, in which each word has one number."""

    def __init__(
        self,
        paths: Place | Iterable[Place] | Listing,
        texts: Iterable[str],
        normalizer: str | Normalizer | None,
        pre_tokenizer: str | PreTokenizer,
        *,
        special_tokens: Sequence[str] = BERT_SPECIAL_TOKENS,
        user_tokens: Sequence[str] = (),
        added_tokens: Sequence[AddedToken] | None = None,
        finds_in_rest: bool = False,
        max_word_length: int = 1000,
        progress: Callable[[CountingProgress], None] | None = None,
        should_stop: Callable[[], bool] | None = None,
    ) -> None:
        given = list(checked_texts(texts))
        files = () if given else listing(paths).files
        if any(file.kind == "word-counts" for file in files):
            raise StudioError(NO_LINES, HOLD_OUT_ADVICE)
        size = sum(size_of_text(text, number) for number, text in enumerate(given, start=1))
        size += sum(FileOnDisk(file.path).size for file in files)
        steps = resolve_normalizer(normalizer), resolve_pre_tokenizer(pre_tokenizer)
        self._pipeline = pipeline = Pipeline(*steps, tuple(user_tokens))
        self._meter = ProgressMeter(progress, size, files_total=1)
        self._check_stop = stop_check(should_stop)
        if added_tokens is None:
            added_tokens = [AddedToken(token) for token in (*special_tokens, *user_tokens)]
        self._finder = AddedTokenFinder.of(added_tokens)
        splits_at_blanks = pipeline.is_local and self._finder.is_local
        self.pieces = pieces_of(given, files, splits_at_blanks=splits_at_blanks, report=self._report)
        self._size = size
        self._finds_in_rest = finds_in_rest
        self.spelled_out = Counter[str](), Counter[str]()  # in the rest, and in what is held out
        self.characters = self._characters = self._bytes = self._lines = 0  # of all of it, and of what is held out
        self._ends_line = True
        self._is_held_out = False
        self._counter: WordCounter
        if pipeline.is_local and are_kernels_worth_it(size):
            from wordpiece_studio.corpus.counting.compiled_counter import CompiledCounter

            self._counter = CompiledCounter(pipeline, max_word_length, self._check_stop)
        else:
            self._counter = PlainCounter(pipeline, max_word_length, self._check_stop)
        self._parts = Merging(self._counter.numbers), Merging(self._counter.numbers)

    def add(self, piece: TextPiece, *, is_held_out: bool) -> None:
        self._check_stop()
        self.characters += len(piece.text)
        if is_held_out != self._is_held_out:
            self._end_stretch()
            self._is_held_out = is_held_out
        if is_held_out:
            self._measure(piece)
        self._counter.add(self._without_added(piece) if is_held_out or self._finds_in_rest else piece)

    def _measure(self, piece: TextPiece) -> None:
        if piece.byte == 0 and not self._ends_line:
            self._lines += 1
        self._lines += piece.text.count("\n") if piece.rows is None else len(piece.rows.lines)
        self._ends_line = piece.text.endswith("\n") or not piece.text
        self._characters += len(piece.text)
        self._bytes += len(piece.utf8)

    def _without_added(self, piece: TextPiece) -> TextPiece:
        """Return a piece with line ends in place of the added tokens, and count these."""
        sections = list(self._finder.sections(piece.text))
        found = [section.text for section in sections if section.is_added]
        if not found:
            return piece
        self.spelled_out[self._is_held_out].update(found)
        text = "".join("\n" if section.is_added else section.text for section in sections)
        return dataclasses.replace(piece, text=text, raw=b"", rows=None)

    def result(self) -> tuple[WordCounts, HeldOutText]:
        self._report(self._size, is_all=True)
        self._end_stretch()
        parts = zip(self._parts, _NAMES, strict=True)
        rest, held_out = (part.word_counts(self._pipeline, [name]) for part, name in parts)
        found = dict(self.spelled_out[1])
        size = self._characters, self._bytes, self._lines + (not self._ends_line)
        return rest, HeldOutText(held_out, sum(found.values()), found, *size)

    def _end_stretch(self) -> None:
        tally, read = self._counter.end_part(), FileStatistics("")
        part = PartCounts.of_file(0, read, tally.numbers, tally.counts, skipped_words=tally.skipped_words)
        self._parts[self._is_held_out].add(part)

    def _report(self, bytes_done: int, *, is_all: bool = False) -> None:
        self._meter.note(bytes_done, int(is_all), sum(part.total for part in self._parts))


def pieces_of(
    texts: Iterable[str],
    files: Iterable[CorpusFile],
    *,
    splits_at_blanks: bool = False,
    report: Callable[[int], None] = lambda _bytes: None,
) -> Iterator[TextPiece]:
    done = 0
    for number, text in enumerate(texts, start=1):
        for piece in text_pieces(text, f"text {number}"):
            report(done)
            yield piece
            done += piece.end_byte - piece.byte
    for file in files:
        source = opened(file, splits_at_blanks=splits_at_blanks)
        for piece in source.pieces():
            report(done + source.bytes_read)
            yield piece
        done += source.size


def divided_pieces(pieces: Iterator[TextPiece], fold: Fold = LAST_TENTH) -> Iterator[tuple[bool, TextPiece]]:
    """Yield the pieces of a corpus, cut where what is held out begins or ends, and whether each is held out."""
    first: list[TextPiece] = []
    size = 0
    while size < SMALL_BYTES and (piece := next(pieces, None)) is not None:
        first.append(piece)
        size += len(piece.utf8)
    period = size if size < SMALL_BYTES else fold.of * STRETCH_BYTES
    held_from, held_to = (period * number // fold.of for number in (fold.number, fold.number + 1))
    offset, is_held_out, begins_line = 0, False, True
    for piece in chain(first, pieces):
        data, start = piece.utf8, 0
        begins_line |= piece.byte == 0
        while start < len(data):
            place = (offset + start) % period
            is_in_stretch = held_from <= place < held_to
            if begins_line:
                is_held_out = is_in_stretch
            next_change = held_to if is_in_stretch else held_from + period * (place >= held_to)
            change = start + next_change - place
            # A line that extends over a change ends before the next line, and so do those before a change.
            end = data.find(b"\n", change - 1 if is_held_out == is_in_stretch else start) + 1 or len(data)
            yield is_held_out, _cut(piece, data, start, end)
            begins_line, start = data[end - 1] == _LINE_END, end
        offset += len(data)


def _cut(piece: TextPiece, data: bytes, start: int, end: int) -> TextPiece:
    if (start, end) == (0, len(data)):
        return piece
    line, byte = piece.line + data.count(b"\n", 0, start), piece.byte + start
    text = data[start:end].decode("utf-8", "surrogatepass")
    return TextPiece(text, piece.source, line, byte, byte + end - start, "utf-8")


# -- what tokenizers are measured on


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


class TextInFiles:
    """A text in files, or texts in place of them; both are read line by line.

    With a `fold`, only the block counts that `divided_corpus` holds out; the others are what was trained on. `pipeline`
    decides what its words are; the name, for messages, may be empty.
    """

    def __init__(self, name: str, listed: Listing | None, texts: list[str], fold: Fold | None = None) -> None:
        self._name = name
        self._listed = listed or ()
        self._files = () if listed is None else listed.files
        self._texts = texts
        self._fold = fold
        self._on_disk = [FileOnDisk(file.path) for file in self._files]

    def begin(self, common: TextReading, watch: Watch) -> HeldOutText:
        """Return the words that tokens are counted per."""
        self.pipeline = common.pipeline
        self._common = common
        self._text, self.rest = self._read(common, watch)
        return self._text

    def counted(self, reading: TextReading, watch: Watch) -> tuple[HeldOutText, HeldOutText | None]:
        """Return the words that a tokenizer finds, and those of the other blocks if there are any."""
        if reading == self._common:
            return self._text, self.rest
        found = self._read(reading, watch)
        self._check_unchanged()
        return found

    def counted_by(
        self, tokenizer: LibraryEncoder, note: Callable[[int, int], None], *, is_rest: bool = False
    ) -> Iterator[CountedWord]:
        """Yield the words that a library finds, or those of the other blocks."""
        yield from tokenizer.count_words(self.lines(note, is_rest=is_rest))
        self._check_unchanged()

    def _check_unchanged(self) -> None:
        """Check that what was read once more is still the same text, so that all figures are of one."""
        changed = next((file for file in self._on_disk if file.has_changed()), None)
        if changed is not None:
            raise StudioError("{path} changed while it was read", "Measure it again.", path=changed.name)

    def _read(self, reading: TextReading, watch: Watch) -> tuple[HeldOutText, HeldOutText | None]:
        steps = reading.pipeline.normalizer, reading.pipeline.pre_tokenizer
        options: ReadingOptions = {
            "added_tokens": reading.added_tokens,
            "finds_in_rest": True,
            "max_word_length": _ANY_LENGTH,
            "progress": lambda done: watch.note("Reading", done.bytes_done, done.bytes_total),
            "should_stop": watch.is_stopped,
        }
        try:
            if self._fold is not None:
                found = divided_corpus(self._listed, *steps, texts=self._texts, fold=self._fold, **options)
                special, size = found.spelled_out, found.characters - found.held_out.characters
                return found.held_out, HeldOutText(found.rest, sum(special.values()), special, size)
            return held_out_text(self._listed, *steps, texts=self._texts, **options), None
        except StudioError as error:
            name = self._name
            if error.what_template == NO_WORDS:  # which need not be held out
                name = name or ", ".join(display_name(file.path) for file in self._files[:3])
            if name and error.what_template in (NO_WORDS, TOO_FEW_LINES):
                what = "There are no words in {text}" if error.what_template == NO_WORDS else "{text}: " + TOO_FEW_LINES
                raise StudioError(what, error.advice_template, text=name) from None
            raise

    def lines(self, note: Callable[[int, int], None], *, is_rest: bool = False) -> Iterator[str]:
        pieces, done = pieces_of(self._texts, self._files), 0
        if self._fold is not None:
            pieces = (piece for is_held_out, piece in divided_pieces(pieces, self._fold) if is_held_out is not is_rest)
        for piece in pieces:
            note(min(done, self._text.characters), self._text.characters)
            yield from piece.text.removesuffix("\n").split("\n")
            done += len(piece.text)
        note(self._text.characters, self._text.characters)


class TextInWords:
    """Words with their counts, whose text is gone; of those in a table it is unknown what found them."""

    rest = None

    def __init__(self, text: HeldOutText, *, is_table: bool = False) -> None:
        self.pipeline = Pipeline(text.counts.normalizer, text.counts.pre_tokenizer)
        self._text = text
        self._is_table = is_table
        if not text.words:
            raise StudioError("There are no words to measure on", "Choose another text.")

    def begin(self, _common: TextReading, _watch: Watch) -> HeldOutText:
        return self._text

    def counted(self, reading: TextReading, watch: Watch) -> tuple[HeldOutText, None]:
        """Return the words if a tokenizer finds the same, else what it makes of each of them as a text."""
        if reading.pipeline == self.pipeline and not self._is_table:
            return self._text, None
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
        text = dataclasses.replace(self._text, counts=split, special_tokens=special_tokens, spelled_out=spelled_out)
        return text, None

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


def is_given(on: Any) -> bool:
    """Return whether there are files or words with their counts: not the empty tuple in place of them."""
    return not isinstance(on, tuple | list) or bool(on)


def texts_by_name(on: Any, texts: Any, fold: Fold | None = None) -> dict[str, TextInFiles | TextInWords]:
    """Return the texts by name; one without a name is called ``""``."""
    of_texts: Mapping[Any, Any] = texts if isinstance(texts, Mapping) else {"": texts}  # not a column of pandas
    in_memory = {str(name): list(checked_texts(each)) for name, each in of_texts.items()}
    found: dict[str, TextInFiles | TextInWords] = {}
    if is_given(on) and any(in_memory.values()):
        raise StudioError("Files or words cannot be combined with texts", "Pass only one of them.")
    if not is_given(on):
        found = {
            name: TextInFiles(name, None, given or [""], fold) for name, given in in_memory.items() if given or name
        }
    elif not isinstance(on, WordCounts) and is_mapping(on):
        found = {str(name): _source(str(name), each, fold) for name, each in on.items()}
    else:
        found = {"": _source("", on, fold)}
    if not found:
        raise StudioError("There is no text to measure on", "Pass files, texts, or words with counts.")
    return found


def _source(name: str, on: Any, fold: Fold | None) -> TextInFiles | TextInWords:
    if fold is not None and isinstance(on, WordCounts):
        raise StudioError(NO_LINES, HOLD_OUT_ADVICE)
    if isinstance(on, WordCounts | HeldOutText):
        return TextInWords(HeldOutText(on) if isinstance(on, WordCounts) else on)
    listed = listing(on)
    if fold is None and all(file.kind == "word-counts" for file in listed.files):
        return TextInWords(HeldOutText(read_word_counts(listed.files)), is_table=True)
    return TextInFiles(name, listed, [], fold)
