"""Counting the words of texts and files, in order of first appearance.

A corpus is read line by line, a line ends at LF. Where the normalizer and the pre-tokenizer allow it, the stretches
between blanks are counted first, and each distinct stretch is normalized and cut once; that gives the very same
counts in the same order.
Not here: reading and decoding (`files`, `streams`, `decoding`).
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable
from typing import TYPE_CHECKING

from wordpiece_studio.core.corpus.counts import CorpusStatistics, SkippedWord, WordCounts
from wordpiece_studio.core.corpus.decoding import TextPiece
from wordpiece_studio.core.corpus.files import TextFile
from wordpiece_studio.core.corpus.streams import TextStream
from wordpiece_studio.core.text.normalizers import resolve_normalizer
from wordpiece_studio.core.text.pipeline import Pipeline
from wordpiece_studio.core.text.pre_tokenizers import resolve_pre_tokenizer
from wordpiece_studio.core.training.config import BERT_SPECIAL_TOKENS
from wordpiece_studio.errors import StudioError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from io import BufferedIOBase

    from wordpiece_studio.core.corpus.decoding import ErrorHandling
    from wordpiece_studio.core.text.normalizers import Normalizer
    from wordpiece_studio.core.text.pre_tokenizers import PreTokenizer

    Path = str | os.PathLike[str]

_MOST_SKIPPED_WORDS = 1000
_PIECE_CHARACTERS = 1 << 20
_STOP_CHECK_CHUNKS = 20_000


class CountingStopped(StudioError):
    """Raised when the caller's `should_stop` said so; nothing of the count is kept."""

    def __init__(self) -> None:
        super().__init__("Counting was stopped")


def count_words(
    paths: Path | Iterable[Path],
    normalizer: str | Normalizer | None = "bert-cased",
    pre_tokenizer: str | PreTokenizer = "bert",
    *,
    encoding: str | None = None,
    errors: ErrorHandling = "strict",
    max_word_length: int = 1000,
    progress: Callable[[int, int], None] | None = None,
    should_stop: Callable[[], bool] | None = None,
) -> WordCounts:
    """Count the words of text files, in the order given.

    Parameters
    ----------
    paths
        The files.
    normalizer, pre_tokenizer
        What turns the text into words: names, or objects of one's own.
    encoding
        The files' encoding; None means UTF-8, or what a byte order mark says.
    errors
        What to do about bytes that cannot be decoded: ``"strict"`` raises, ``"replace"`` puts U+FFFD in their place,
        ``"skip-line"`` leaves the line out. The statistics tell how often that happened.
    max_word_length
        Words of more characters than this are left out; the result lists them.
    progress
        Called now and then with the bytes read so far and the bytes there are.
    should_stop
        Called now and then; if it returns True, `CountingStopped` is raised.

    Returns
    -------
    WordCounts
        The distinct words in order of first appearance; none, if the files hold none.

    Raises
    ------
    StudioError
        If a file cannot be read or decoded; the message names the file, the line and the byte. Or if `paths` are none.
    """
    pipeline = Pipeline(resolve_normalizer(normalizer), resolve_pre_tokenizer(pre_tokenizer))
    files = [
        TextFile(path, encoding=encoding, errors=errors, splits_at_blanks=pipeline.is_local)
        for path in _listed_paths(paths)
    ]
    count = _Count(pipeline, max_word_length, should_stop)
    bytes_total = sum(file.size for file in files)
    bytes_before = 0
    for file in files:
        bytes_read = 0
        for piece in file.pieces():
            count.add(piece)
            count.note_encoding(piece, encoding)
            bytes_read = piece.end_byte
            if progress is not None:
                # A file may grow while it is read; the progress never passes the end.
                progress(min(bytes_before + bytes_read, bytes_total), bytes_total)
        count.end_source(bytes_read)
        bytes_before += bytes_read
        if file.has_changed():
            count.changed_files.append(file.name)
    return count.result()


def count_stream(
    stream: BufferedIOBase,
    name: str,
    normalizer: str | Normalizer | None = "bert-cased",
    pre_tokenizer: str | PreTokenizer = "bert",
    *,
    encoding: str | None = None,
    errors: ErrorHandling = "strict",
    max_word_length: int = 1000,
    should_stop: Callable[[], bool] | None = None,
) -> WordCounts:
    """Count the words of a stream of bytes, such as standard input; `name` is what messages call it.

    Takes, returns and raises what `count_words` does.
    """
    pipeline = Pipeline(resolve_normalizer(normalizer), resolve_pre_tokenizer(pre_tokenizer))
    text = TextStream(stream, name, encoding=encoding, errors=errors, splits_at_blanks=pipeline.is_local)
    count = _Count(pipeline, max_word_length, should_stop)
    bytes_read = 0
    for piece in text.pieces():
        count.add(piece)
        count.note_encoding(piece, encoding)
        bytes_read = piece.end_byte
    count.end_source(bytes_read)
    return count.result()


def count_texts(
    texts: Iterable[str],
    normalizer: str | Normalizer | None = "bert-cased",
    pre_tokenizer: str | PreTokenizer = "bert",
    *,
    max_word_length: int = 1000,
    progress: Callable[[int, int], None] | None = None,
    should_stop: Callable[[], bool] | None = None,
) -> WordCounts:
    """Count the words of texts, in the order given; no word reaches from one text into the next.

    Takes and returns what `count_words` does. `progress` is called with the UTF-8 bytes counted so far and those there
    are, as far as the texts are known by then.

    Raises
    ------
    StudioError
        If `texts` is itself a text, or holds something that is none.
    """
    if isinstance(texts, str):
        raise StudioError("One text was given where several are expected", "Put it into a list.")
    if not isinstance(texts, Iterable):
        raise StudioError("Texts are expected, not {value}", "Give a list of texts.", value=repr(texts)[:100])
    count = _Count(
        Pipeline(resolve_normalizer(normalizer), resolve_pre_tokenizer(pre_tokenizer)), max_word_length, should_stop
    )
    known = texts if isinstance(texts, list | tuple) else ()
    bytes_total = sum(len(text.encode("utf-8", "replace")) for text in known if isinstance(text, str))
    for number, text in enumerate(texts, start=1):
        size = _checked_size(text, number)
        for piece in _pieces_of(text, f"text {number}"):
            count.add(piece)
            if progress is not None:
                done = count.bytes + piece.end_byte
                progress(done, max(bytes_total, done))
        count.end_source(size)
    return count.result()


class _Count:
    """A count in progress."""

    def __init__(self, pipeline: Pipeline, max_word_length: int, should_stop: Callable[[], bool] | None) -> None:
        if max_word_length < 1:
            raise StudioError("The longest word must have at least one character, not {n}", n=max_word_length)
        self._pipeline = pipeline
        self._max_word_length = max_word_length
        # A stretch of at most this length yields no word that is too long: one character becomes at most four when
        # it is decomposed. Longer ones are cut at once, while it is known where they are, and not kept.
        self._longest_kept = max(max_word_length // 4, 1)
        self._should_stop = should_stop
        # Distinct stretches; a word that was cut from a long one stands in a tuple of its own.
        self._stretches: Counter[str | tuple[str]] = Counter()
        self._skipped: list[SkippedWord] = []
        self._skipped_words = 0
        self._spelled_out: Counter[str] = Counter()
        self._lines = self._characters = self._replaced = self._skipped_lines = 0
        self._is_inside_line = False
        self.bytes = 0
        self.changed_files: list[str] = []
        self._marked_files: dict[str, str] = {}

    def add(self, piece: TextPiece) -> None:
        """Count a piece, which begins and ends where words do."""
        self._check_stop()
        text = piece.text
        self._lines += text.count("\n")
        self._is_inside_line = not text.endswith("\n") if text else self._is_inside_line
        self._characters += len(text)
        self._replaced += piece.replaced
        self._skipped_lines += piece.skipped_lines
        self._spelled_out.update({token: text.count(token) for token in BERT_SPECIAL_TOKENS})
        stretches = text.replace("\n", " ").split(" ") if self._pipeline.is_local else text.split("\n")
        if max(map(len, stretches)) > self._longest_kept:
            self._stretches.update(self._long_ones_cut(stretches, piece))
        else:
            self._stretches.update(stretches)

    def note_encoding(self, piece: TextPiece, given: str | None) -> None:
        """Note that a file is in UTF-16 or UTF-32 where nobody said so but its byte order mark."""
        if given is None and piece.encoding != "utf-8":
            self._marked_files[piece.source] = piece.encoding

    def end_source(self, size: int) -> None:
        """Note that a file or text of `size` bytes is over; its last line need have no line end."""
        self._lines += self._is_inside_line
        self._is_inside_line = False
        self.bytes += size

    def result(self) -> WordCounts:
        """Return the words of all pieces."""
        words: dict[str, int] = {}
        cut, longest = self._pipeline.words, self._max_word_length
        for number, (stretch, count) in enumerate(self._stretches.items()):
            if number % _STOP_CHECK_CHUNKS == 0:
                self._check_stop()
            for word in stretch if isinstance(stretch, tuple) else cut(stretch):
                if len(word) <= longest:
                    words[word] = words.get(word, 0) + count
                else:
                    self._skipped_words += count
        return WordCounts(
            list(words),
            list(words.values()),
            self._pipeline.normalizer,
            self._pipeline.pre_tokenizer,
            self._statistics(),
            self._skipped,
        )

    def _long_ones_cut(self, stretches: list[str], piece: TextPiece) -> Iterator[str | tuple[str]]:
        start = 0
        for stretch in stretches:
            if len(stretch) <= self._longest_kept:
                yield stretch
            else:
                for word in self._pipeline.iterate(stretch):
                    if len(word) <= self._max_word_length:
                        yield (word,)
                    else:
                        self._skip(word, piece, start)
            start += len(stretch) + 1

    def _skip(self, word: str, piece: TextPiece, start: int) -> None:
        self._skipped_words += 1
        if len(self._skipped) < _MOST_SKIPPED_WORDS:
            line, byte = piece.locate(start)
            self._skipped.append(SkippedWord(piece.source, line, byte, len(word)))

    def _statistics(self) -> CorpusStatistics:
        return CorpusStatistics(
            lines=self._lines,
            characters=self._characters,
            bytes=self.bytes,
            skipped_words=self._skipped_words,
            replaced=self._replaced,
            skipped_lines=self._skipped_lines,
            changed_files=tuple(self.changed_files),
            marked_files=self._marked_files,
            spelled_out=dict(+self._spelled_out),
        )

    def _check_stop(self) -> None:
        if self._should_stop is not None and self._should_stop():
            raise CountingStopped


def _listed_paths(paths: object) -> list[str]:
    one_or_many = [paths] if isinstance(paths, str | bytes | os.PathLike) or not isinstance(paths, Iterable) else paths
    listed: list[str] = []
    for path in one_or_many:
        if not isinstance(path, str | bytes | os.PathLike):
            raise StudioError("Files are expected, not {value}", "Give their paths.", value=repr(path)[:100])
        listed.append(os.fsdecode(path))
    if not listed:
        raise StudioError("There is no file to count the words of", "Name at least one.")
    return listed


def _checked_size(text: object, number: int) -> int:
    """Return the size of a text in UTF-8."""
    try:
        if isinstance(text, str):
            return len(text.encode("utf-8"))
    except UnicodeEncodeError as error:
        raise StudioError(
            "Text {number} holds half a character (U+{code:04X}) at position {position}",
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
