"""The code of the child process: runs tokenizers of other libraries, each with the library that made it.

A corrupt file may kill this process, take all the memory that it may have, or keep it busy forever; the parent
(`library_tokenizer`) handles that. The parent uses only the names here and loads no library.
"""

from __future__ import annotations

import contextlib
import hashlib
import heapq
import os
import re
from abc import ABC, abstractmethod
from bisect import bisect_left, bisect_right
from collections import Counter, OrderedDict
from functools import cache, cached_property
from itertools import accumulate, groupby
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from wordpiece_studio.corpus.files import regular_file_status, unreadable
from wordpiece_studio.errors import StudioError
from wordpiece_studio.system.memory import limit_memory
from wordpiece_studio.system.printable import printable
from wordpiece_studio.tokenizer.shaping import Columns, Library

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from wordpiece_studio.tokenizer.shaping import Form, Texts

    Cut = tuple[list[int], list[tuple[int, int]]]
    """The ids of the tokens of a word, and where each is in it."""
    Scored = tuple[list[str], float]
    """The tokens of a segmentation, and its score."""
    Counted = list[tuple[str, tuple[int, ...], int]]
    """Words with their ids, and how often they occur."""

VOCAB_JSON_FILE = "vocab.json"
MERGES_FILE = "merges.txt"
MODEL_SUFFIX = ".model"
MODEL_FILE = "sentencepiece" + MODEL_SUFFIX
END_OF_TEXT, END_OF_WORD = "<|endoftext|>", "</w>"
WORD_MARK = "▁"  # before a word, in the pieces of SentencePiece
# Tokens for unknown symbols in a ``vocab.json``; the first one present applies.
UNKNOWN_TOKENS = ("[UNK]", "<unk>", END_OF_TEXT)

_NO_CHARACTER = "\U0010fffe"
_MOST_MEMORY = 4 << 30
_UNKNOWN_PENALTY = 10.0  # of both libraries: so far below the least score is a character that is no piece
_MOST_KEPT = 8  # files; others are loaded again on demand
_LONGEST_REASON = 300
_PLACE_IN_CODE = re.compile(r"^[A-Z_]+: \S+\(\d+\) ")
_ADVICE = "Save it again with the program that wrote it."


class Panicked(StudioError):
    """The library is in no state to continue, and neither is the process."""


class ContentMissing(Exception):
    """The content of a tokenizer that is in no file has to be sent."""


class _Loaded(ABC):
    """A file that a library has loaded; what the parent asks for are its methods.

    `decode` ids to a text; `cut` words that are neither normalized nor split before; the `scores` of the model's tokens
    by id, if any; and the `best` segmentations of a text.
    """

    sha256 = ""
    kind: str
    added_tokens: int
    special_tokens: list[str]
    roles: dict[str, str]  # those that the library itself knows
    post_processor: Any  # as in a ``tokenizer.json``

    @abstractmethod
    def vocabulary(self) -> dict[str, int]: ...

    @abstractmethod
    def encode(self, texts: list[str]) -> list[Columns]: ...

    def count(self, texts: list[str]) -> Counted:
        counts: Counter[tuple[str, tuple[int, ...]]] = Counter()
        for text, (_, ids, offsets, words) in zip(texts, self.encode(texts), strict=True):
            start = 0
            for end in range(1, len(ids) + 1):
                if end == len(ids) or words[end] != words[start]:
                    counts[text[offsets[start][0] : offsets[end - 1][1]], tuple(ids[start:end])] += 1
                    start = end
        return [(word, ids, count) for (word, ids), count in counts.items()]

    def load(self) -> tuple[str, str, int, int, int, list[str], dict[str, str], Any]:
        with contextlib.suppress(Exception):  # a file that fails on a single word fails now
            self.encode(["a b"])
        ids = self.vocabulary()
        figures = len(ids), self.added_tokens, max(ids.values(), default=-1)
        return self.sha256, self.kind, *figures, self.special_tokens, self.roles, self.post_processor


def ask(path: str, sha256: str, content: bytes | bool | None, job: str, *arguments: object) -> bytes:
    """Return the answer of the library that runs a file, as MessagePack, which is made faster than a pickle.

    `content` is None for a file; or what it would hold; or False for a tokenizer in no file that may be loaded already.
    `job` is the method of `_Loaded` to call; ``"load"`` reads the file again.
    """
    shelf, library = _shelf(), library_of(path)
    try:
        loaded = None if job == "load" else shelf.get((path, sha256))
        if loaded is None:
            loaded = _loaded(path, sha256, content)
            shelf[path, loaded.sha256] = loaded
            if len(shelf) > _MOST_KEPT:
                shelf.popitem(last=False)
        shelf.move_to_end((path, loaded.sha256))
        return msgspec.msgpack.encode(getattr(loaded, job)(*arguments))
    except (StudioError, ContentMissing):
        raise
    except MemoryError:
        raise StudioError("{path} needs more memory than is available", "Use a smaller text or file.") from None
    except ImportError:
        what, advice = "{path} needs the library {library}", "Install it: pip install {library}"
        raise StudioError(what, advice, library=library) from None
    except BaseException as error:
        raise _refusal(job, library, error) from None


def library_of(path: str | os.PathLike[str]) -> str:
    return "sentencepiece" if Path(path).suffix == MODEL_SUFFIX else "tokenizers"


def merges_beside(path: Path) -> Path:
    return path.with_name(path.name.removesuffix(VOCAB_JSON_FILE) + MERGES_FILE)


@cache
def _shelf() -> OrderedDict[tuple[str, str], _Loaded]:
    """Return the most recently used files, by path and hash; prepare the process when it is first asked for."""
    # No output: the parent reports what a library says when it crashes.
    with contextlib.suppress(OSError):
        nothing = os.open(os.devnull, os.O_RDWR)
        os.dup2(nothing, 1)
        os.dup2(nothing, 2)
    limit_memory(_MOST_MEMORY)
    return OrderedDict()


def reason_of(error: BaseException) -> str:
    said = _PLACE_IN_CODE.sub("", " ".join(str(error).split()))
    return printable(said[:_LONGEST_REASON].rstrip(".")) or type(error).__name__


def _refusal(job: str, library: str, error: BaseException) -> StudioError:
    reason = reason_of(error)
    if not isinstance(error, Exception):
        what = "{path}: the {library} library crashed on it: {reason}"  # a Rust panic
        return Panicked(what, "Use another tokenizer.", library=library, reason=reason)
    if job in ("encode", "shape", "cut", "count", "best"):
        what = "{path}: the {library} library cannot tokenize the text: {reason}"
        return StudioError(what, "Remove it, or use another tokenizer.", library=library, reason=reason)
    if job == "decode":
        what = "{path}: the {library} library cannot decode these IDs: {reason}"
        return StudioError(what, "Use another tokenizer.", library=library, reason=reason)
    what = "{path}: the {library} library cannot read it: {reason}"
    return StudioError(what, _ADVICE, library=library, reason=reason)


def _contents(path: Path) -> list[bytes]:
    contents = []
    for part in [path, merges_beside(path)] if path.name.endswith(VOCAB_JSON_FILE) else [path]:
        regular_file_status(part)
        try:
            contents.append(part.read_bytes())
        except OSError as error:
            raise unreadable(part, error) from error
    return contents


def _loaded(path: str, sha256: str, content: bytes | bool | None) -> _Loaded:
    """Return a file, which must have a hash unless that is empty, as its library loads it."""
    if isinstance(content, bool):
        raise ContentMissing
    contents = _contents(Path(path)) if content is None else [content]
    digest = hashlib.sha256(b"".join(hashlib.sha256(data).digest() for data in contents)).hexdigest()
    if sha256 not in ("", digest):
        raise StudioError("{path} is not the file that this tokenizer was loaded from", "Load it again.")
    loaded: _Loaded
    if library_of(path) == "sentencepiece":
        loaded = _SentencePiece(contents[0])
    elif len(contents) > 1:
        loaded = _Tokenizers(_byte_level(*contents))
    else:
        from tokenizers import Tokenizer

        loaded = _Tokenizers(Tokenizer.from_buffer(contents[0].removeprefix(b"\xef\xbb\xbf")))
    loaded.sha256 = digest
    return loaded


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


class _Tokenizers(_Loaded):
    """A tokenizer of the `tokenizers` library, without special tokens around a text, truncation and padding."""

    def __init__(self, tokenizer: Any) -> None:
        self.kind: str = type(tokenizer.model).__name__
        if getattr(tokenizer.model, "dropout", None):
            raise StudioError(
                "{path}: with dropout, tokenization is random and differs each time", "Set dropout to null."
            )
        processor = tokenizer.post_processor
        self.post_processor = None if processor is None else msgspec.json.decode(processor.__getstate__())
        added = tokenizer.get_added_tokens_decoder()
        self.added_tokens = len(added)
        self.special_tokens = [token.content for token in added.values() if token.special]
        unknown = getattr(tokenizer.model, "unk_token", None)
        if self.kind == "Unigram":  # which does not say
            with contextlib.suppress(Exception):  # it has none
                (symbol,) = tokenizer.model.tokenize(_NO_CHARACTER)
                unknown = tokenizer.id_to_token(symbol.id)
        self.roles = {"unk_token": unknown} if isinstance(unknown, str) else {}
        if tokenizer.padding is not None:
            self.roles["pad_token"] = tokenizer.padding["pad_token"]
        self._library = Library(tokenizer)
        self._tokenizer = tokenizer

    def vocabulary(self) -> dict[str, int]:
        found: dict[str, int] = self._tokenizer.get_vocab(with_added_tokens=True)
        return found

    def encode(self, texts: list[str]) -> list[Columns]:
        found = self._tokenizer.encode_batch(texts, add_special_tokens=False)  # unlike encode, lets threads run
        return [Columns(each.tokens, each.ids, each.offsets, each.word_ids) for each in found]

    def shape(self, both: list[Texts], form: Form, is_pretokenized: bool) -> list[bytes]:
        return [raw.__getstate__() for raw in self._library.encoded(both, form, is_pretokenized=is_pretokenized)]

    def decode(self, ids: list[int], skip_special_tokens: bool) -> str:
        _check_ids(ids, lambda number: self._tokenizer.id_to_token(number) is not None)
        text: str = self._tokenizer.decode(ids, skip_special_tokens=skip_special_tokens)
        return text

    def cut(self, words: list[str]) -> list[Cut]:
        return [_cut(word, self._tokenizer.model.tokenize(word)) for word in words]

    def scores(self) -> list[float]:
        return [score for _, score in self._pieces] if self.kind == "Unigram" else []

    def best(self, text: str, count: int) -> list[Scored]:
        """Return the most probable segmentations, which the library itself does not: it has only the best one."""
        if self.kind != "Unigram":
            raise _has_one_segmentation(self.kind)
        pipeline = self._tokenizer
        text = pipeline.normalizer.normalize_str(text) if pipeline.normalizer else text
        words = [(text, ())] if pipeline.pre_tokenizer is None else pipeline.pre_tokenizer.pre_tokenize_str(text)
        scores = dict(reversed(self._pieces))  # of equal pieces the first counts
        unknown = min(scores.values()) - _UNKNOWN_PENALTY
        found: list[Scored] = [([], 0.0)]
        for word, _ in words:
            ways = [(_fused(tokens, scores), score) for tokens, score in best_ways(word, scores, unknown, count)]
            both = [(left + right, one + other) for left, one in found for right, other in ways]
            found = heapq.nlargest(count, both, key=itemgetter(1))
        return found

    @cached_property
    def _pieces(self) -> list[tuple[str, float]]:
        value = msgspec.json.decode(self._tokenizer.to_str())
        return [(piece, score) for piece, score in value["model"]["vocab"]]


class _SentencePiece(_Loaded):
    kind = "SentencePiece"
    added_tokens = 0
    post_processor = None

    def __init__(self, model: bytes) -> None:
        from sentencepiece import SentencePieceProcessor

        self._processor = SentencePieceProcessor()
        self._processor.load_from_serialized_proto(model)
        self.special_tokens: list[str] = []
        numbers = {name: getattr(self._processor, f"{name}_id")() for name in ("unk", "bos", "eos", "pad")}
        self.roles = {
            f"{name}_token": self._processor.id_to_piece(number) for name, number in numbers.items() if number >= 0
        }

    def vocabulary(self) -> dict[str, int]:
        return {self._processor.id_to_piece(number): number for number in range(len(self._processor))}

    def encode(self, texts: list[str]) -> list[Columns]:
        """Return the pieces of each text; a word begins at each mark."""
        encoded = []
        for found in self._processor.encode(texts, return_type="offset_mapping"):
            words, word = [], -1
            for piece in found["pieces"]:
                word += piece.startswith(WORD_MARK) or word < 0
                words.append(word)
            encoded.append(Columns(found["pieces"], found["ids"], found["offsets"], words))
        return encoded

    def decode(self, ids: list[int], skip_special_tokens: bool) -> str:
        del skip_special_tokens
        _check_ids(ids, lambda number: number < len(self._processor))
        text: str = self._processor.decode(ids)
        return text

    def cut(self, words: list[str]) -> list[Cut]:
        encoded = self._processor.encode(words, return_type="offset_mapping")
        return [(found["ids"], found["offsets"]) for found in encoded]

    def scores(self) -> list[float]:
        return [self._processor.get_score(number) for number in range(len(self._processor))]

    def best(self, text: str, count: int) -> list[Scored]:
        library, scores = self._processor, self.scores()
        try:
            found = library.nbest_encode(text, nbest_size=count, out_type=str)
        except RuntimeError as error:
            if "not available" in str(error):
                raise _has_one_segmentation("byte pair encoding") from None
            raise
        unknown = min(scores) - _UNKNOWN_PENALTY
        ways = []
        for pieces in found:
            ids = [(piece, library.piece_to_id(piece)) for piece in pieces]
            each = (len(piece) * unknown if library.is_unknown(number) else scores[number] for piece, number in ids)
            ways.append((pieces, sum(each)))
        return ways


def _cut(word: str, tokens: Sequence[Any]) -> Cut:
    """Return the tokens of a word, which the model places by bytes."""
    places = [token.offsets for token in tokens]
    if not word.isascii():
        ends = list(accumulate(len(character.encode()) for character in word))
        places = [(bisect_right(ends, start), bisect_left(ends, end) + 1) for start, end in places]
    return [token.id for token in tokens], places


def best_ways(word: str, scores: Mapping[str, float], unknown: float, count: int) -> list[Scored]:
    """Return the most probable ways to cut a word into pieces with these scores, best first.

    A character that is no piece itself is a token of the score `unknown`.

    >>> best_ways("abx", {"a": -2.0, "b": -2.5, "ab": -3.0}, -9.0, 3)
    [(['ab', 'x'], -12.0), (['a', 'b', 'x'], -13.5)]
    """
    longest = max(map(len, scores), default=1)
    by_end: list[list[Scored]] = [[([], 0.0)]]
    for end in range(1, len(word) + 1):
        ways: list[Scored] = []
        for start in range(max(0, end - longest), end):
            piece = word[start:end]
            score = scores.get(piece, unknown if len(piece) == 1 else None)
            if score is not None:
                ways += [([*tokens, piece], before + score) for tokens, before in by_end[start]]
        by_end.append(heapq.nlargest(count, ways, key=itemgetter(1)))
    return by_end[-1]


def _fused(tokens: list[str], known: Mapping[str, float]) -> list[str]:
    """Return tokens with adjacent unknown ones as one, which is how the library encodes them."""
    fused: list[str] = []
    for is_known, group in groupby(tokens, known.__contains__):
        same = list(group)
        fused += same if is_known else ["".join(same)]
    return fused


def _has_one_segmentation(kind: str) -> StudioError:
    return StudioError(
        "{path}: with {kind}, a text has one segmentation only", "Open a Unigram model for several.", kind=kind
    )


def _check_ids(ids: Sequence[int], is_known: Any) -> None:
    """Check that each id belongs to a token: the libraries silently skip some that do not."""
    for number in ids:
        if not 0 <= number < 1 << 32 or not is_known(number):
            raise StudioError("No token has the ID {id}", "Remove it.", id=str(number)[:30])
