"""A tokenizer made by another program, for comparison: its own library runs it, in a child process.

The child is started on first use and serves all such tokenizers of this process. A corrupt file may kill it or keep it
busy forever: the caller then gets an error that names the file, and the next request starts a new child. A plain
WordPiece vocabulary, with which the Studio can do more, becomes a `Tokenizer` instead.
"""

from __future__ import annotations

import contextlib
import os
import threading
from functools import cache, cached_property
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import msgspec

from wordpiece_studio.errors import StudioError
from wordpiece_studio.peers.library_child import library_of, no_token, serve
from wordpiece_studio.system.child_process import ChildProcess, read_error
from wordpiece_studio.system.printable import display_name
from wordpiece_studio.tokenizer.encoding import Encoding

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from wordpiece_studio.tokenizer.added_tokens import TextReading

_T = TypeVar("_T")
_Encoded = tuple[list[str], list[int], list[tuple[int, int]], list[int | None]]  # the fields of an `Encoding`

_CHARACTERS_AT_ONCE = 1 << 18
_LARGEST_ID = (1 << 32) - 1
_PATIENCE_SECONDS, _A_SECOND = 60.0, 20_000  # characters, or fifty times as many bytes of a file


class ImportedTokenizer:
    """Tokenizes text with the library that made it, without the special tokens that models expect around a text.

    It is pickled as the path and the hash of its file; unpickling loads the file again.

    Parameters
    ----------
    path
        A ``tokenizer.json``, a ``vocab.json`` of GPT-2's kind with its ``merges.txt`` beside it, or a ``.model`` of
        SentencePiece.
    sha256
        The hash that the file must have; empty: any.
    reading
        How it finds the words of a text, if the Studio can do that alike; then a model is only asked for the words.

    Attributes
    ----------
    path
        The path of the file.
    kind
        The type of its model: ``"WordPiece"``, ``"BPE"``, ``"Unigram"``, ``"WordLevel"`` or ``"SentencePiece"``.
    added_tokens
        How many tokens were added to those of the model.
    largest_id
        The largest id.
    unk_token
        The token for what the model does not know, if it has one.
    reading
        As given.

    Raises
    ------
    StudioError
        If the file cannot be read, its library refuses it or crashes on it, or it has a different hash.
    """

    def __init__(
        self, path: str | os.PathLike[str], sha256: str = "", reading: TextReading | None = None
    ) -> None:  # fmt: skip
        self.path = Path(path).absolute()
        self._name = display_name(path)
        self._sha256 = sha256
        self.reading = reading
        size = 0
        with contextlib.suppress(OSError, ValueError):  # the child will report what is wrong with it
            size = self.path.stat().st_size
        found = self._ask("load", (), size // 50, tuple[str, str, int, int, int, str | None])
        self._sha256, self.kind, self._size, self.added_tokens, self.largest_id, self.unk_token = found

    def __reduce__(self) -> tuple[type[ImportedTokenizer], tuple[str, str, TextReading | None]]:
        return ImportedTokenizer, (str(self.path), self._sha256, self.reading)

    def __repr__(self) -> str:
        return f"<ImportedTokenizer: {self.kind}, {self._size:,} tokens, {self._name}>"

    def __len__(self) -> int:
        """Return the number of tokens, including added ones."""
        return self._size

    @property
    def has_holes(self) -> bool:
        """Whether there are gaps between the ids."""
        return self.largest_id >= len(self)

    @property
    def tokens(self) -> list[str]:
        """All tokens in id order, including added ones."""
        return sorted(self._ids, key=self._ids.__getitem__)

    def id_of(self, token: str) -> int | None:
        """Return the id of `token`, or None if there is no such token."""
        return self._ids.get(token)

    def encode(self, text: str) -> Encoding:
        """Return the tokens of `text`. For many texts, `encode_batch` is much faster.

        Raises
        ------
        StudioError
            If the library cannot tokenize it, or crashes.
        """
        return self.encode_batch([text])[0]

    def encode_batch(self, texts: Iterable[str]) -> list[Encoding]:
        """Return the tokens of each text.

        Raises
        ------
        StudioError
            If the library cannot tokenize one of them, or crashes.
        """
        return list(chain.from_iterable(self._encoded("encode", texts) for texts in _portions(texts)))

    def encode_words(self, words: Iterable[str]) -> list[Encoding]:
        """Return the tokens of each word, which is neither normalized nor split; the offsets are those in the word.

        Raises
        ------
        StudioError
            As `encode_batch`.
        """
        return list(chain.from_iterable(self._encoded("words", some) for some in _portions(words)))

    def count_words(self, texts: Iterable[str]) -> Iterator[tuple[str, tuple[int, ...], int]]:
        """Yield the words of texts as the library finds them, with their ids and counts; some words several times.

        Raises the same as `encode_batch`.
        """
        for portion in _portions(texts):
            yield from self._of_texts("count", portion, list[tuple[str, tuple[int, ...], int]])

    def ids(self, text: str) -> list[int]:
        """Return ``encode(text).ids``."""
        return self.encode(text).ids

    def decode(self, ids: Sequence[int], *, skip_special_tokens: bool = True) -> str:
        """Return the text that `ids` represent, as far as it can be determined.

        Raises
        ------
        StudioError
            If an id does not belong to a token, or the library crashes.
        """
        unknown = next((number for number in ids if not 0 <= number <= _LARGEST_ID), None)
        if unknown is not None:
            raise no_token(unknown)
        return self._ask("decode", (list(ids), skip_special_tokens), len(ids), str)

    @cached_property
    def _ids(self) -> dict[str, int]:
        return self._ask("vocabulary", (), len(self), dict[str, int])

    def _encoded(self, job: str, texts: list[str]) -> list[Encoding]:
        return [Encoding(*each) for each in self._of_texts(job, texts, list[_Encoded])]

    def _of_texts(self, job: str, texts: list[str], type_: type[_T]) -> _T:
        try:
            return self._ask(job, (texts,), sum(map(len, texts)), type_)
        except UnicodeEncodeError as error:
            raise StudioError(
                "{path}: the text contains half a character (U+{code:04X}) at position {position}, which the {library} "
                "library cannot handle",
                "Remove it.",
                path=self._name,
                code=ord(error.object[error.start]),
                position=error.start,
                library=library_of(self.path),
            ) from None

    def _ask(self, job: str, arguments: tuple[object, ...], size: int, type_: type[_T]) -> _T:
        """Return the child's answer to a job, as a type; `size` determines how long it may take.

        Raises
        ------
        StudioError
            If it reports an error, ends, or takes too long.
        UnicodeEncodeError
            If the arguments contain half a character.
        """
        request = msgspec.msgpack.encode((os.fsencode(self.path), self._sha256, job, arguments))
        try:
            answer = _libraries().answer(request, _PATIENCE_SECONDS + size / _A_SECOND)
            return msgspec.msgpack.decode(answer, type=type_)
        except _FileError as error:
            raise StudioError(
                error.what_template, error.advice_template, **{"path": self._name, **error.values}
            ) from None
        except TimeoutError:
            what = "{path}: the {library} library did not finish within {seconds} seconds"
            seconds = round(_PATIENCE_SECONDS + size / _A_SECOND)
            raise self._broken(what, seconds=seconds) from None
        except StudioError as error:
            what = "{path}: the {library} library crashed on it, its process ended {how}"
            raise self._broken(what, how=error.values.get("how", f"({error.what})")) from error

    def _broken(self, what: str, **values: object) -> StudioError:
        advice = "The file may be damaged, or memory too small: get the file again, or use a smaller text."
        return StudioError(what, advice, path=self._name, library=library_of(self.path), **values)


class _FileError(StudioError):
    """An error in a file, reported by the child."""


class _Libraries:
    """The child process in which the libraries run; it exists from the first request until it ends."""

    def __init__(self) -> None:
        self._child: ChildProcess | None = None
        self._turn = threading.Lock()  # one request at a time

    def answer(self, request: bytes, seconds: float) -> memoryview:
        """Return the answer to a request.

        Raises
        ------
        StudioError
            An error reported by the child, as `_FileError`, or that it has died.
        TimeoutError
            If there is no answer within `seconds`.
        """
        with self._turn:
            try:
                return self._answer(self._sent(request), seconds)
            except _FileError:
                raise
            except BaseException:  # also on Ctrl-C: whatever the child still sends belongs to this request
                self._end()
                raise

    def _sent(self, request: bytes) -> ChildProcess:
        """Send a request, to a new child if the last one has died in the meantime."""
        if self._child is not None:
            try:
                self._child.send(request)
            except StudioError:
                self._end()
            else:
                return self._child
        self._child = ChildProcess(serve, name="The library of a tokenizer")
        self._child.send(request)
        return self._child

    def _answer(self, child: ChildProcess, seconds: float) -> memoryview:
        late = threading.Event()
        clock = threading.Timer(seconds, late.set)
        clock.daemon = True
        clock.start()
        try:
            for kind, content in child.messages(late):
                if kind == b"r":
                    return content
                error = read_error(content)
                if kind == b"p":
                    self._end()
                raise _FileError(error.what_template, error.advice_template, **error.values)
        finally:
            clock.cancel()
        raise TimeoutError

    def _end(self) -> None:
        child, self._child = self._child, None
        if child is not None:
            child.end()


@cache
def _libraries() -> _Libraries:
    """Return the one child of this process."""
    return _Libraries()


if hasattr(os, "register_at_fork"):  # the child process belongs to the parent
    os.register_at_fork(after_in_child=_libraries.cache_clear)


def _portions(texts: Iterable[str]) -> Iterator[list[str]]:
    """Yield some texts at a time, together not much longer than what is sent at once."""
    portion: list[str] = []
    size = 0
    for text in texts:
        portion.append(text)
        size += len(text) + 1
        if size >= _CHARACTERS_AT_ONCE:
            yield portion
            portion, size = [], 0
    if portion:
        yield portion
