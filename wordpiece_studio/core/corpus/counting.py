"""Counting the words of texts and files, in order of first appearance.

A corpus is read line by line, a line ends at LF. Where the normalizer and the pre-tokenizer allow it, the stretches
between blanks are counted first, and each distinct stretch is normalized and cut once; that gives the very same
counts in the same order.
Not here: reading and decoding (`files`, `streams`, `decoding`), and how the words of a piece of text are counted
(`word_counters`, `compiled_counter`).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from wordpiece_studio.core.corpus.corpus_count import CorpusCount, CountingStopped
from wordpiece_studio.core.corpus.decoding import TextPiece
from wordpiece_studio.core.corpus.files import TextFile, listed_paths
from wordpiece_studio.core.corpus.streams import TextStream
from wordpiece_studio.core.text.normalizers import resolve_normalizer
from wordpiece_studio.core.text.pipeline import Pipeline
from wordpiece_studio.core.text.pre_tokenizers import resolve_pre_tokenizer
from wordpiece_studio.errors import StudioError

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Iterator
    from io import BufferedIOBase

    from wordpiece_studio.core.corpus.counts import WordCounts
    from wordpiece_studio.core.corpus.decoding import ErrorHandling
    from wordpiece_studio.core.text.normalizers import Normalizer
    from wordpiece_studio.core.text.pre_tokenizers import PreTokenizer

    Path = str | os.PathLike[str]

__all__ = ["CountingStopped", "count_stream", "count_texts", "count_words"]

_PIECE_CHARACTERS = 1 << 20


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
        for path in listed_paths(paths)
    ]
    bytes_total = sum(file.size for file in files)

    def tell(bytes_read: int) -> None:
        if progress is not None:
            # A file may grow while it is read; the progress never passes the end.
            progress(min(bytes_read, bytes_total), bytes_total)

    count = CorpusCount(pipeline, max_word_length, should_stop, encoding)
    for file in files:
        count.add_file(file, tell)
    count.changed_files += [file.name for file in files if file.has_changed()]
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
    count = CorpusCount(pipeline, max_word_length, should_stop, encoding)
    bytes_read = 0
    for piece in text.pieces():
        count.add(piece)
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
    count = CorpusCount(
        Pipeline(resolve_normalizer(normalizer), resolve_pre_tokenizer(pre_tokenizer)), max_word_length, should_stop
    )
    known = texts if isinstance(texts, list | tuple) else ()
    bytes_total = sum(len(text.encode("utf-8", "replace")) for text in known if isinstance(text, str))
    for number, text in enumerate(texts, start=1):
        size = _checked_size(text, number)
        for piece in _pieces_of(text, f"text {number}"):
            count.add(piece)
            if progress is not None:
                done = count.bytes_read + piece.end_byte
                progress(done, max(bytes_total, done))
        count.end_source(size)
    return count.result()


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
