"""A tokenizer made by another program, for comparison: its own library runs it, in a child process.

The child is started on first use and serves all such tokenizers of this process. A corrupt file may kill it or keep it
busy forever: the caller then gets an error that names the file, and the next request starts a new child. A plain
WordPiece vocabulary, with which the Studio can do more, becomes a `Tokenizer` instead.
"""

from __future__ import annotations

import contextlib
import os
import threading
import time
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import chain
from operator import attrgetter, index
from pathlib import Path
from typing import TYPE_CHECKING, Any, SupportsIndex, cast

import msgspec

from wordpiece_studio.errors import StudioError
from wordpiece_studio.libraries.library_child import ContentMissing, Panicked, ask, library_of
from wordpiece_studio.system.child import POLL_SECONDS, Child, ChildDied, Stopped
from wordpiece_studio.system.memory import memory_of, memory_text
from wordpiece_studio.system.printable import decodable, display_name
from wordpiece_studio.text.huggingface_steps import read_line_pre_tokenizer, read_normalizer
from wordpiece_studio.text.normalizers import Unchanged
from wordpiece_studio.text.pipeline import Pipeline
from wordpiece_studio.text.pre_tokenizers import WhitespaceSplit
from wordpiece_studio.tokenizer.encoding import Encoding, LibraryEncoder, checked_ids, checked_text
from wordpiece_studio.tokenizer.shaping import Columns, Form, Template, portions, restored, written
from wordpiece_studio.tokenizer.vocabulary import AddedToken, TextReading, roles_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from wordpiece_studio.tokenizer.encoding import WordCut
    from wordpiece_studio.tokenizer.shaping import Texts

_ANSWERS: dict[str, Any] = {
    "encode": list[Columns],
    "count": list[tuple[str, tuple[int, ...], int]],
    "shape": list[bytes],
    "cut": list[tuple[list[int], list[tuple[int, int]]]],
}
_OTHER_FILE = "Use another tokenizer, or a shorter text: this one may be damaged, or made to do harm."
_CHARACTERS_AT_ONCE = 1 << 18
_MOST_SEGMENTATIONS = 512  # of which SentencePiece is capable
_PATIENCE_SECONDS, _A_SECOND = 60.0, 20_000  # characters, or fifty times as many bytes of a file
# Bytes of memory that a request may take, and more per character and per byte of the file, which any request may load
# again. A Unigram model takes 45 per byte; a character of which the model makes a token for each byte, 1,500.
_MOST_GROWTH, _A_CHARACTER, _A_BYTE = 128 << 20, 4000, 100


@dataclass(frozen=True, slots=True)
class Segmentation:
    """One way to cut a text into tokens.

    Attributes
    ----------
    tokens
        The tokens; unknown text stands as it is.
    score
        The sum of their scores, the logarithm of the probability of this way.
    """

    tokens: tuple[str, ...]
    score: float


class LibraryTokenizer(LibraryEncoder):
    """Tokenizes text with the library that made it, in a child process.

    Special tokens around texts are those of the file's post-processor; a model of SentencePiece has none. It is pickled
    as the path and the hash of its file; unpickling loads the file again. One that is in no file is pickled as its
    content.

    Parameters
    ----------
    path
        A ``tokenizer.json``, a ``vocab.json`` of GPT-2's kind with its ``merges.txt`` beside it, or a ``.model`` of
        SentencePiece.
    sha256
        The hash that the file must have; empty: any.
    content
        What the file would hold, for a tokenizer that is in no file; `path` then only names it.
    reading
        How it finds the words of a text, if the Studio can do that alike; then a model is only asked for the words. If
        not given, what `content` says.

    Attributes
    ----------
    added_tokens
        How many tokens were added to those of the model.
    largest_id
        The largest id.
    words_of
        For a model of SentencePiece, which begins words at blanks, what white space separates, unless it is known that
        it was trained on words, and what found them.

    Raises
    ------
    StudioError
        If the file cannot be read, its library refuses it or crashes on it, or it has a different hash.
    """

    _size: int
    added_tokens: int
    largest_id: int

    def __init__(
        self,
        path: str | os.PathLike[str],
        sha256: str = "",
        content: bytes | None = None,
        reading: TextReading | None = None,
    ) -> None:
        self.path = Path(path).absolute() if content is None else Path(path)
        self._name = display_name(path)
        self._sha256 = sha256
        self._content = content
        self.words_of = TextReading(Pipeline(Unchanged(), WhitespaceSplit())) if self._is_model else None
        self.reading = _reading_in(content) if reading is None and content and not self._is_model else reading
        self._bytes = 0 if content is None else len(content)
        with contextlib.suppress(OSError, ValueError):  # the child will report what is wrong with it
            self._bytes = self.path.stat().st_size
        found = self._ask("load", size=0, content=content)
        self._sha256, self.kind, self._size, self.added_tokens, self.largest_id, special, given, processor = found
        self.unk_token: str | None = given.get("unk_token")
        self.roles = roles_of(special, given)
        template = Template.of(processor)
        self._stated, self._changes_types = (processor,), template is None or template.changes_types

    @property
    def _is_model(self) -> bool:
        """Whether it is SentencePiece's, whose library alone knows how it finds words."""
        return library_of(self.path) == "sentencepiece"

    def __reduce__(self) -> tuple[type[LibraryTokenizer], tuple[object, ...], dict[str, Any]]:
        settings = {
            name: getattr(self, name)
            for name in ("roles", "words_of", "model_max_length", "padding_side", "truncation_side")
        }
        return LibraryTokenizer, (str(self.path), self._sha256, self._content, self.reading), settings

    def _definition(self) -> tuple[Any, ...]:
        return self.path, self._sha256, self.reading, self.words_of

    def __repr__(self) -> str:
        return f"<LibraryTokenizer: {self.kind}, {self._size:,} tokens, {self._name}>"

    def __len__(self) -> int:
        return self._size

    def _columns_of(self, texts: Sequence[str]) -> Iterator[Columns]:
        for portion in portions(texts, _CHARACTERS_AT_ONCE):
            yield from self._of_texts("encode", portion)

    def _shaped(self, both: Sequence[Texts], form: Form, is_pretokenized: bool) -> list[Encoding]:
        if not (is_pretokenized or self._is_shaped(both, form)):
            return [Encoding(*columns) for columns in self._columns_of([cast("str", text) for (text,) in both])]
        if self._is_model:
            return super()._shaped(both, form, is_pretokenized)
        sent = portions(both, _CHARACTERS_AT_ONCE)
        raws = (raw for portion in sent for raw in self._of_texts("shape", portion, form, is_pretokenized))
        return [Encoding.of_library(restored(raw), attrgetter("tokens")) for raw in raws]

    def _cuts(self, words: Iterable[str]) -> Iterator[WordCut]:
        for ids, spans in self.cut(words):
            yield [self._tokens_by_id[number] for number in ids], ids, spans

    def count_words(self, texts: Iterable[str]) -> Iterator[tuple[str, tuple[int, ...], int]]:
        for portion in portions(texts, _CHARACTERS_AT_ONCE):
            yield from self._of_texts("count", portion)

    def decode(self, ids: Sequence[int], *, skip_special_tokens: bool = True) -> str:
        """Return the text that `ids` represent, as far as it can be determined.

        Raises
        ------
        StudioError
            If an id does not belong to a token, or the library crashes.
        """
        ids = checked_ids(ids)
        text: str = self._ask("decode", ids, skip_special_tokens, size=len(ids))
        return text

    def cut(self, words: Iterable[str]) -> list[tuple[list[int], list[tuple[int, int]]]]:
        """Return the ids of the tokens of each word, which is neither normalized nor split, and where each is in it.

        Raises
        ------
        StudioError
            If the library cannot tokenize a word, or crashes.
        """
        return list(chain.from_iterable(self._of_texts("cut", part) for part in portions(words, _CHARACTERS_AT_ONCE)))

    @cached_property
    def scores(self) -> tuple[float, ...] | None:
        """The score of each token of the model by id, which is a logarithm of a probability if the kind is Unigram.

        SentencePiece also numbers the merges of its byte pair encoding so: 0, -1, -2 and so on; special pieces have 0.
        None for models without scores.
        """
        return tuple(self._ask("scores", size=len(self))) or None

    def best_segmentations(self, text: str, count: int = 3) -> list[Segmentation]:
        """Return the most probable segmentations of a text, normally one word, with their scores, best first.

        Raises
        ------
        StudioError
            If the model is not a Unigram model, so that each text has one segmentation; `count` is not from 1 to 512,
            or the library cannot tokenize the text, or crashes.
        """
        checked_text(text)
        is_number = isinstance(count, SupportsIndex) and not isinstance(count, bool)
        if not is_number or not 1 <= index(count) <= _MOST_SEGMENTATIONS:
            advice = f"Use a whole number from 1 to {_MOST_SEGMENTATIONS}."
            raise StudioError("Invalid number of segmentations: {value}", advice, value=repr(count)[:30])
        self._check_whole(text)
        found = self._ask("best", text, index(count), size=len(text) * count)
        return [Segmentation(tuple(tokens), score) for tokens, score in found]

    @cached_property
    def _id_by_token(self) -> dict[str, int]:  # type: ignore[override]  # asked for when it is needed
        ids: dict[str, int] = self._ask("vocabulary", size=len(self))
        return ids

    @cached_property
    def _tokens_by_id(self) -> dict[int, str]:
        return {number: token for token, number in self._id_by_token.items()}

    def _of_texts(self, job: str, texts: Sequence[Any], *options: object) -> list[Any]:
        for text in map(written, texts):
            if not text.isascii():
                self._check_whole(text)
        found: list[Any] = self._ask(job, texts, *options, size=sum(map(len, map(written, texts))))
        return found

    def _check_whole(self, text: str) -> None:
        try:
            text.encode()
        except UnicodeEncodeError as error:
            code, position = ord(text[error.start]), error.start
            raise self._failure(
                "{path}: the text contains an unpaired surrogate (U+{code:04X}) at position {position}, which the "
                "{library} library cannot handle", "Remove it.", code=code, position=position,
            ) from None  # fmt: skip

    def _ask(self, job: str, *arguments: object, size: int, content: bytes | None = None) -> Any:
        """Return the child's answer to a job; `size`, in characters, bounds the time and memory it may take.

        The content of a tokenizer that is in no file is only sent where the child does not have it.
        """
        sent = False if self._content is not None and content is None else content
        seconds = _PATIENCE_SECONDS + (size + self._bytes / 50) / _A_SECOND
        growth = _MOST_GROWTH + _A_CHARACTER * size + _A_BYTE * self._bytes
        try:
            request = (str(self.path), self._sha256, sent, job, *arguments)
            return msgspec.msgpack.decode(_libraries().answer(request, seconds, growth), type=_ANSWERS.get(job, Any))
        except ContentMissing:
            return self._ask(job, *arguments, size=size, content=self._content)
        except TimeoutError:
            what = "{path}: the {library} library did not finish within {seconds} seconds"
            raise self._failure(what, _OTHER_FILE, seconds=round(seconds)) from None
        except MemoryError:
            what = "{path}: the {library} library was ended, because it took more than {memory} of memory"
            raise self._failure(what, _OTHER_FILE, memory=memory_text(growth)) from None
        except ChildDied as error:
            what = "{path}: the {library} library crashed on it: {reason}"
            if "signal" in error.values:
                what = "{path}: the {library} library crashed on it: its process ended by signal {signal}"
            elif "code" in error.values:
                what = "{path}: the {library} library crashed on it: its process ended with exit code {code}"
            advice = "The file may be damaged, or take too much memory: get the file again, or use a smaller text."
            raise self._failure(what, advice, **{"reason": error.what, **error.values}) from error
        except StudioError as error:
            values = {"path": self._name, **error.values}
            raise StudioError(error.what_template, error.advice_template, **values) from None

    def _failure(self, what: str, advice: str, **values: object) -> StudioError:
        return StudioError(what, advice, **{**values, "path": self._name, "library": library_of(self.path)})


class _Libraries:
    """The child process in which the libraries run; it exists from the first request until it ends."""

    def __init__(self) -> None:
        self.child: Child | None = None
        self._turn = threading.RLock()  # one request at a time

    def answer(self, request: tuple[object, ...], seconds: float, growth: int) -> bytes:
        with self._turn:
            if self.child is not None and self.child.is_dead:
                self.end()
            child = self.child = self.child or Child("The library of the tokenizer cannot be used")
            began, most = time.monotonic(), (memory_of(child.pid) or 0) + growth
            is_too_big = False

            def is_over() -> bool:
                nonlocal is_too_big
                passed = time.monotonic() - began
                is_too_big = passed > POLL_SECONDS and (memory_of(child.pid) or 0) > most
                return is_too_big or passed >= seconds

            try:
                answer: bytes = child.call(ask, *request, should_stop=is_over)
                return answer
            except Stopped:
                raise MemoryError if is_too_big else TimeoutError from None
            except Panicked:
                self.end()
                raise

    def end(self) -> None:
        with self._turn:
            child, self.child = self.child, None
            if child is not None:
                child.end()


@decodable
class _Parts(msgspec.Struct):
    normalizer: Any = None
    pre_tokenizer: Any = None
    added_tokens: list[dict[str, Any]] | None = None


def _reading_in(content: bytes) -> TextReading | None:
    try:
        parts = msgspec.json.decode(content, type=_Parts)
        added = [msgspec.convert(each, AddedToken) for each in parts.added_tokens or () if each.get("content") != ""]
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):  # the library will say what is wrong with it
        return None
    return reading_of(parts.normalizer, parts.pre_tokenizer, added)


def reading_of(normalizer: Any, pre_tokenizer: Any, added_tokens: Sequence[AddedToken]) -> TextReading | None:
    """Return how the library finds words in a line by parts of a ``tokenizer.json``; None if only it can do so."""
    try:
        before, splits = read_normalizer(normalizer), read_line_pre_tokenizer(pre_tokenizer)
    except StudioError:  # the library may well read it
        return None
    if before is None or splits is None or any(token.normalized for token in added_tokens):
        return None
    pipeline = Pipeline(before, splits)
    return TextReading(pipeline, tuple(added_tokens)) if can_be_found(added_tokens, pipeline) else None


def can_be_found(tokens: Sequence[AddedToken], pipeline: Pipeline) -> bool:
    """Return whether the Studio finds added tokens exactly where the library does."""
    strips = [token for token in tokens if token.lstrip or token.rstrip]
    if strips and any(token.content != token.content.strip() for token in tokens):
        return False  # several may take the same white space
    if any(token.normalized for token in strips) and not pipeline.is_local:
        return False  # it may reach over line ends, at which the Studio divides the text
    return not any(
        "\n" in token.content or (token.normalized and not pipeline.normalizer.normalize(token.content))
        for token in tokens
    )


def end_libraries() -> None:
    """End the child process; the next request starts another one."""
    _libraries().end()


@cache
def _libraries() -> _Libraries:
    return _Libraries()


if hasattr(os, "register_at_fork"):  # the child process belongs to the parent
    os.register_at_fork(after_in_child=_libraries.cache_clear)
