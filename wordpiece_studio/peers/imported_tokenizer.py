"""A tokenizer that another program made, to compare with: its own library runs it, in a child process.

The child is begun when it is first needed and serves all such tokenizers of this process. A spoiled file may end it, or
keep it busy for ever: whoever asked gets an error that names the file, and the next request has a new child.
What the Studio can do more with, a WordPiece vocabulary without peculiarities, becomes a `Tokenizer` instead.
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
from wordpiece_studio.system.child_process import ChildProcess
from wordpiece_studio.system.printable import display_name
from wordpiece_studio.tokenizer.tokenizer import Encoding

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

_T = TypeVar("_T")
_Encoded = tuple[list[str], list[int], list[tuple[int, int]], list[int]]  # what an `Encoding` is made of

_CHARACTERS_AT_ONCE = 1 << 18
_LARGEST_ID = (1 << 32) - 1
_PATIENCE_SECONDS, _A_SECOND = 60.0, 20_000  # characters, or fifty times as many bytes of a file


class ImportedTokenizer:
    """Tokenizes text as the library does that made it, without the special tokens that models want around it.

    It is pickled as the place of its file and the hash of that; where it is unpickled, the file is loaded again.

    Parameters
    ----------
    path
        A ``tokenizer.json``, a ``vocab.json`` of GPT-2's kind with its ``merges.txt`` beside it, or a ``.model`` of
        SentencePiece.
    sha256
        The hash of what was loaded before; empty: the file may be any.

    Attributes
    ----------
    path
        Where the file is.
    kind
        What its model is: ``"WordPiece"``, ``"BPE"``, ``"Unigram"``, ``"WordLevel"`` or ``"SentencePiece"``.
    added_tokens
        How many of its tokens were added to those of the model.
    has_holes
        Whether there are numbers between the ids that are no token's.

    Raises
    ------
    StudioError
        If the file cannot be read, its library refuses it or breaks down over it, or it has another hash.
    """

    def __init__(self, path: str | os.PathLike[str], sha256: str = "") -> None:
        self.path = Path(path).absolute()
        self._name = display_name(path)
        self._sha256 = sha256
        size = 0
        with contextlib.suppress(OSError, ValueError):  # the child says what is wrong with it
            size = self.path.stat().st_size
        found = self._ask("load", (), size // 50, tuple[str, str, int, int, bool])
        self._sha256, self.kind, self._size, self.added_tokens, self.has_holes = found

    def __reduce__(self) -> tuple[type[ImportedTokenizer], tuple[str, str]]:
        return ImportedTokenizer, (str(self.path), self._sha256)

    def __len__(self) -> int:
        """Return how many tokens it has, added ones included."""
        return self._size

    def id_of(self, token: str) -> int | None:
        """Return the id of `token`, or None if there is no such token."""
        return self._ids.get(token)

    def encode(self, text: str) -> Encoding:
        """Return the tokens of `text`. For many texts `encode_batch` is faster by far.

        Raises
        ------
        StudioError
            If the library cannot tokenize it, or breaks down.
        """
        return self.encode_batch([text])[0]

    def encode_batch(self, texts: Iterable[str]) -> list[Encoding]:
        """Return the tokens of each text.

        Raises
        ------
        StudioError
            If the library cannot tokenize one of them, or breaks down.
        """
        return list(chain.from_iterable(map(self._encoded, _portions(texts))))

    def ids(self, text: str) -> list[int]:
        """Return ``encode(text).ids``."""
        return self.encode(text).ids

    def decode(self, ids: Sequence[int], *, skip_special_tokens: bool = True) -> str:
        """Return the text that `ids` stand for, as far as it can be determined.

        Raises
        ------
        StudioError
            If an id is no token's, or the library breaks down.
        """
        unknown = next((number for number in ids if not 0 <= number <= _LARGEST_ID), None)
        if unknown is not None:
            raise no_token(unknown)
        return self._ask("decode", (list(ids), skip_special_tokens), len(ids), str)

    @cached_property
    def _ids(self) -> dict[str, int]:
        return self._ask("vocabulary", (), len(self), dict[str, int])

    def _encoded(self, texts: list[str]) -> list[Encoding]:
        try:
            found = self._ask("encode", (texts,), sum(map(len, texts)), list[_Encoded])
        except UnicodeEncodeError as error:
            raise StudioError(
                "{path}: the text holds half a character (U+{code:04X}) at position {position}, which the {library} "
                "library cannot take",
                "Leave it out.",
                path=self._name,
                code=ord(error.object[error.start]),
                position=error.start,
                library=library_of(self.path),
            ) from None
        return [Encoding(*each) for each in found]

    def _ask(self, job: str, arguments: tuple[object, ...], size: int, type_: type[_T]) -> _T:
        """Return what the child has for a job, of a type; `size` says how long that may take.

        Raises
        ------
        StudioError
            If it has nothing, or ends, or takes too long.
        UnicodeEncodeError
            If there is half a character in the arguments.
        """
        request = msgspec.msgpack.encode((os.fsencode(self.path), self._sha256, job, arguments))
        try:
            answer = _libraries().answer(request, _PATIENCE_SECONDS + size / _A_SECOND)
            return msgspec.msgpack.decode(answer, type=type_)
        except _Told as error:
            raise StudioError(
                error.what_template, error.advice_template, **{"path": self._name, **error.values}
            ) from None
        except TimeoutError:
            what = "{path}: the {library} library has not done with it in {seconds} seconds"
            seconds = round(_PATIENCE_SECONDS + size / _A_SECOND)
            raise self._broken(what, seconds=seconds) from None
        except StudioError as error:
            what = "{path}: the {library} library broke down over it, its process ended {how}"
            raise self._broken(what, how=error.values.get("how", f"({error.what})")) from error

    def _broken(self, what: str, **values: object) -> StudioError:
        advice = "The file may be damaged, or there is too little memory: get it once more, or take a smaller text."
        return StudioError(what, advice, path=self._name, library=library_of(self.path), **values)


class _Told(StudioError):
    """What the child reports about a file."""


class _Libraries:
    """The child process in which the libraries run; there is none until the first request, and after it has ended."""

    def __init__(self) -> None:
        self._child: ChildProcess | None = None
        self._turn = threading.Lock()  # one request at a time

    def answer(self, request: bytes, seconds: float) -> memoryview:
        """Return the answer to a request.

        Raises
        ------
        StudioError
            What the child reports, as `_Told`; or that it has died.
        TimeoutError
            If there is no answer after so many seconds.
        """
        with self._turn:
            try:
                return self._answer(self._sent(request), seconds)
            except _Told:
                raise
            except BaseException:  # Ctrl-C too: whatever the child still says belongs to this request
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
                what, advice, values = msgspec.msgpack.decode(content)
                if kind == b"p":
                    self._end()
                raise _Told(what, advice, **values)
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


if hasattr(os, "register_at_fork"):  # the child is the parent's
    os.register_at_fork(after_in_child=_libraries.cache_clear)


def _portions(texts: Iterable[str]) -> Iterator[list[str]]:
    """Yield some texts at a time, together not much longer than can be sent at once."""
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
