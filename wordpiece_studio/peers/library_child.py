"""The code of the child process: runs foreign tokenizers, each with the library that made it.

A corrupt file may kill this process, take all the memory that it may have, or keep it busy forever; the parent
(`imported_tokenizer`) handles that. The parent uses only the names here and loads no library.

A request is the MessagePack of (path, SHA-256 of the files or "", job, arguments). Every answer is one message: ``r``
the result, as MessagePack; ``x`` an error, see `written_error`; ``p`` the same, after which the library is in no state
to continue.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
from bisect import bisect_left, bisect_right
from collections import Counter, OrderedDict
from itertools import accumulate
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import msgspec

from wordpiece_studio.corpus.files import regular_file_status, unreadable
from wordpiece_studio.errors import StudioError
from wordpiece_studio.system.child_process import written_error
from wordpiece_studio.system.memory import limit_memory
from wordpiece_studio.system.printable import printable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from wordpiece_studio.system.child_process import ParentConnection

    Encoded = tuple[list[str], list[int], list[tuple[int, int]], list[int]]
    """Tokens, ids, offsets and words of a text, as in an `Encoding`."""
    Counted = list[tuple[str, tuple[int, ...], int]]
    """Words with their ids, and how often they occur."""

VOCAB_JSON_FILE = "vocab.json"
MERGES_FILE = "merges.txt"
MODEL_SUFFIX = ".model"
END_OF_TEXT, END_OF_WORD = "<|endoftext|>", "</w>"
UNKNOWN_TOKENS = ("[UNK]", "<unk>", END_OF_TEXT)
"""Tokens for unknown symbols in a ``vocab.json``; the first one present applies."""

_NO_CHARACTER = "\U0010fffe"
_MOST_MEMORY = 4 << 30
_MOST_KEPT = 8  # files; others are loaded again on demand
_LONGEST_REASON = 300
_ADVICE = "Save it again with the program that wrote it."


class _Loaded(Protocol):
    """A file that a library has loaded."""

    kind: str
    added_tokens: int
    unk_token: str | None

    def vocabulary(self) -> dict[str, int]:
        """Return the id of each token."""

    def encode(self, texts: list[str]) -> list[Encoded]:
        """Return the tokens of each text."""

    def encode_words(self, words: list[str]) -> list[Encoded]:
        """Return the tokens of words, which are neither normalized nor split."""

    def decode(self, ids: list[int], skip_special_tokens: bool) -> str:
        """Return the text that ids represent."""


def serve(connection: ParentConnection) -> None:
    """Answer requests until the parent is gone or a library has crashed."""
    _silence()
    limit_memory(_MOST_MEMORY)
    shelf = _Shelf()
    while True:
        answer = _answer(shelf, connection.recv_bytes())
        connection.send_bytes(answer)
        if answer[:1] == b"p":
            return


def library_of(path: str | os.PathLike[str]) -> str:
    """Return the name of the library that runs a file."""
    return "sentencepiece" if Path(path).suffix == MODEL_SUFFIX else "tokenizers"


def no_token(number: int) -> StudioError:
    """Return the error for an id that does not belong to a token."""
    return StudioError("No token has the id {id}", "Remove it.", id=str(number)[:30])


def merges_beside(path: Path) -> Path:
    """Return the path of the merges of a ``vocab.json``."""
    return path.with_name(path.name.removesuffix(VOCAB_JSON_FILE) + MERGES_FILE)


class _Shelf:
    """The most recently used files, by path and hash."""

    def __init__(self) -> None:
        self._kept: OrderedDict[tuple[bytes, str], _Loaded] = OrderedDict()

    def get(self, path: bytes, sha256: str, *, is_new: bool) -> tuple[_Loaded, str]:
        """Return a loaded file and its hash, which must be `sha256` unless empty; `is_new`: read the file again.

        Raises
        ------
        StudioError
            If it cannot be read, or has a different hash.
        """
        loaded = self._kept.get((path, sha256))
        if loaded is None or is_new:
            place = Path(os.fsdecode(path))
            contents = _contents(place)
            digest = hashlib.sha256(b"".join(hashlib.sha256(data).digest() for data in contents)).hexdigest()
            if sha256 not in ("", digest):
                raise StudioError("{path} is not the file that this tokenizer was loaded from", "Load it again.")
            sha256 = digest
            loaded = self._kept[path, sha256] = _load(place, contents)
            if len(self._kept) > _MOST_KEPT:
                self._kept.popitem(last=False)
        self._kept.move_to_end((path, sha256))
        return loaded, sha256


def _silence() -> None:
    """Suppress output: the parent reports what a library says when it crashes."""
    with contextlib.suppress(OSError):
        nothing = os.open(os.devnull, os.O_RDWR)
        os.dup2(nothing, 1)
        os.dup2(nothing, 2)


def _answer(shelf: _Shelf, request: bytes) -> bytes:
    path, sha256, job, arguments = msgspec.msgpack.decode(request, type=tuple[bytes, str, str, list[Any]])
    library = library_of(os.fsdecode(path))
    try:
        loaded, digest = shelf.get(path, sha256, is_new=job == "load")
        return b"r" + msgspec.msgpack.encode(_done(loaded, digest, job, arguments))
    except StudioError as error:
        return b"x" + written_error(error)
    except MemoryError:
        return b"x" + written_error(
            StudioError("{path} needs more memory than there is", "Use a smaller text or file.")
        )
    except ImportError:
        return b"x" + written_error(
            StudioError("{path} needs the library {library}", "Install it: pip install {library}", library=library)
        )
    except Exception as error:
        return b"x" + written_error(_refusal(job, library, error))
    except BaseException as error:  # a Rust panic
        return b"p" + written_error(_refusal(job, library, error))


def _done(loaded: _Loaded, digest: str, job: str, arguments: list[Any]) -> object:
    if job == "encode":
        return loaded.encode(*arguments)
    if job == "words":
        return loaded.encode_words(*arguments)
    if job == "count":
        return _counted(loaded, *arguments)
    if job == "decode":
        return loaded.decode(*arguments)
    vocabulary = loaded.vocabulary()
    if job == "vocabulary":
        return vocabulary
    with contextlib.suppress(Exception):  # a file that fails on a single word fails now
        loaded.encode(["a b"])
    largest_id = max(vocabulary.values(), default=-1)
    return digest, loaded.kind, len(vocabulary), loaded.added_tokens, largest_id, loaded.unk_token


def _counted(loaded: _Loaded, texts: list[str]) -> Counted:
    """Return the words of texts with their ids, each with its count."""
    counts: Counter[tuple[str, tuple[int, ...]]] = Counter()
    for text, (_, ids, offsets, words) in zip(texts, loaded.encode(texts), strict=True):
        start = 0
        for end in range(1, len(ids) + 1):
            if end == len(ids) or words[end] != words[start]:
                counts[text[offsets[start][0] : offsets[end - 1][1]], tuple(ids[start:end])] += 1
                start = end
    return [(word, ids, count) for (word, ids), count in counts.items()]


def _refusal(job: str, library: str, error: BaseException) -> StudioError:
    reason = printable(" ".join(str(error).split())[:_LONGEST_REASON]) or type(error).__name__
    if not isinstance(error, Exception):
        what = "{path}: the {library} library crashed on it: {reason}"
        return StudioError(what, "Use another tokenizer.", library=library, reason=reason)
    if job in ("encode", "words", "count"):
        what = "{path}: the {library} library cannot tokenize the text: {reason}"
        return StudioError(what, "Remove it, or use another tokenizer.", library=library, reason=reason)
    if job == "decode":
        what = "{path}: the {library} library cannot decode these ids: {reason}"
        return StudioError(what, "Use another tokenizer.", library=library, reason=reason)
    what = "{path}: the {library} library cannot read it: {reason}"
    return StudioError(what, _ADVICE, library=library, reason=reason)


def _contents(path: Path) -> list[bytes]:
    """Return the contents of the file, and of the one that belongs to it."""
    contents = []
    for part in [path, merges_beside(path)] if path.name.endswith(VOCAB_JSON_FILE) else [path]:
        regular_file_status(part)
        try:
            contents.append(part.read_bytes())
        except OSError as error:
            raise unreadable(part, error) from error
    return contents


def _load(path: Path, contents: list[bytes]) -> _Loaded:
    if library_of(path) == "sentencepiece":
        return _SentencePiece(contents[0])
    if len(contents) > 1:
        return _Tokenizers(_byte_level(*contents))
    from tokenizers import Tokenizer

    return _Tokenizers(Tokenizer.from_buffer(contents[0].removeprefix(b"\xef\xbb\xbf")))


def _byte_level(vocabulary: bytes, merges: bytes) -> Any:
    """Return a tokenizer from GPT-2's files, which do not say how text becomes words."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers

    ids = msgspec.json.decode(vocabulary.removeprefix(b"\xef\xbb\xbf"), type=dict[str, int])
    lines = (line.removesuffix("\r") for line in merges.decode("utf-8").split("\n"))
    options: dict[str, str] = {}
    unk_token = next((token for token in UNKNOWN_TOKENS if token in ids), None)
    if unk_token is not None:
        options["unk_token"] = unk_token
    if any(token.endswith(END_OF_WORD) for token in ids):
        options["end_of_word_suffix"] = END_OF_WORD
    pairs: Any = [tuple(line.split(" ")) for line in lines if line and not line.startswith("#version")]
    made = Tokenizer(models.BPE(ids, pairs, **options))
    made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    made.decoder = decoders.ByteLevel()
    if END_OF_TEXT in ids:
        made.add_special_tokens([END_OF_TEXT])
    return made


class _Tokenizers:
    """A tokenizer of the `tokenizers` library, without special tokens around a text, truncation and padding."""

    def __init__(self, tokenizer: Any) -> None:
        self.kind: str = type(tokenizer.model).__name__
        if getattr(tokenizer.model, "dropout", None):
            raise StudioError(
                "{path}: with dropout, every text is tokenized randomly, each time differently", "Set it to null."
            )
        tokenizer.no_truncation()
        tokenizer.no_padding()
        self.added_tokens = len(tokenizer.get_added_tokens_decoder())
        self._tokenizer = tokenizer
        self.unk_token: str | None = getattr(tokenizer.model, "unk_token", None)
        if self.kind == "Unigram":  # which does not say
            with contextlib.suppress(Exception):  # it has none
                (unknown,) = tokenizer.model.tokenize(_NO_CHARACTER)
                self.unk_token = tokenizer.id_to_token(unknown.id)

    def vocabulary(self) -> dict[str, int]:
        """Return the id of each token."""
        found: dict[str, int] = self._tokenizer.get_vocab(with_added_tokens=True)
        return found

    def encode(self, texts: list[str]) -> list[Encoded]:
        """Return the tokens of each text."""
        found = self._tokenizer.encode_batch(texts, add_special_tokens=False)  # unlike encode, lets threads run
        return [(each.tokens, each.ids, each.offsets, each.word_ids) for each in found]

    def encode_words(self, words: list[str]) -> list[Encoded]:
        """Return the tokens of words."""
        encoded = []
        for word in words:
            tokens = self._tokenizer.model.tokenize(word)
            offsets = [each.offsets for each in tokens]  # in the bytes of its UTF-8
            if not word.isascii():
                ends = list(accumulate(len(character.encode()) for character in word))
                offsets = [(bisect_right(ends, start), bisect_left(ends, end) + 1) for start, end in offsets]
            ids = [each.id for each in tokens]
            encoded.append(([each.value for each in tokens], ids, offsets, [0] * len(ids)))
        return encoded

    def decode(self, ids: list[int], skip_special_tokens: bool) -> str:
        """Return the text that ids represent."""
        _check_ids(ids, lambda number: self._tokenizer.id_to_token(number) is not None)
        text: str = self._tokenizer.decode(ids, skip_special_tokens=skip_special_tokens)
        return text


class _SentencePiece:
    """A model of the `sentencepiece` library."""

    kind = "SentencePiece"
    added_tokens = 0

    def __init__(self, model: bytes) -> None:
        from sentencepiece import SentencePieceProcessor

        self._processor = SentencePieceProcessor()
        self._processor.load_from_serialized_proto(model)
        self.unk_token: str | None = self._processor.id_to_piece(self._processor.unk_id())

    def vocabulary(self) -> dict[str, int]:
        """Return the id of each piece."""
        return {self._processor.id_to_piece(number): number for number in range(len(self._processor))}

    def encode(self, texts: list[str]) -> list[Encoded]:
        """Return the pieces of each text; a word begins at each mark."""
        encoded = []
        for found in self._processor.encode(texts, return_type="offset_mapping"):
            words, word = [], -1
            for piece in found["pieces"]:
                word += piece.startswith("▁") or word < 0
                words.append(word)
            encoded.append((found["pieces"], found["ids"], found["offsets"], words))
        return encoded

    def encode_words(self, words: list[str]) -> list[Encoded]:
        """Return the pieces of words, each as a text: this library does not split a text before its model does."""
        return self.encode(words)

    def decode(self, ids: list[int], skip_special_tokens: bool) -> str:
        """Return the text that ids represent; special ones represent none."""
        del skip_special_tokens
        _check_ids(ids, lambda number: number < len(self._processor))
        text: str = self._processor.decode(ids)
        return text


def _check_ids(ids: Sequence[int], is_known: Any) -> None:
    """Check that each id belongs to a token: the libraries silently skip some that do not."""
    for number in ids:
        if not is_known(number):
            raise no_token(number)
